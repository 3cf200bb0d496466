//! Meshes and images from arrays.

use std::path::Path;
use std::sync::Arc;

use device::material::texture::Format;
use glam::{Vec2, Vec3};
use numpy::{PyReadonlyArray2, PyReadonlyArray3, PyUntypedArrayMethods};
use pyo3::prelude::*;
use torrance_scene::{Asset as SceneAsset, Image, TriangleMesh};

use crate::errors;

/// What a scene file would have in another file, copied once from arrays.
#[pyclass(frozen, module = "torrance._torrance")]
pub(crate) struct Asset(Contents);

enum Contents {
    Mesh(Arc<TriangleMesh>),
    Image(Image),
}

#[pymethods]
impl Asset {
    /// A triangle mesh.
    ///
    /// `vertices` and `normals` are (N, 3), `uvs` (N, 2), `colors` (N, 3), all f32; `faces` (M, 3), u32. Python has checked
    /// types and shapes.
    #[staticmethod]
    #[pyo3(signature = (vertices, faces, normals, uvs, colors))]
    fn mesh(
        vertices: PyReadonlyArray2<'_, f32>,
        faces: PyReadonlyArray2<'_, u32>,
        normals: Option<PyReadonlyArray2<'_, f32>>,
        uvs: Option<PyReadonlyArray2<'_, f32>>,
        colors: Option<PyReadonlyArray2<'_, f32>>,
    ) -> PyResult<Self> {
        let vectors =
            |array: PyReadonlyArray2<'_, f32>| Ok::<_, PyErr>(rows(&array)?.map(Vec3::from_array).collect());
        let all = |array: Option<_>| array.map_or(Ok(Vec::new()), vectors);
        let positions: Vec<_> = vectors(vertices)?;
        let uvs = uvs.map(|uvs| Ok::<_, PyErr>(rows(&uvs)?.map(Vec2::from_array).collect()));
        let uvs = uvs.unwrap_or_else(|| Ok(Vec::new()))?;
        let faces = faces.as_slice().map_err(errors::of_value)?;
        let (triangles, _) = faces.as_chunks::<3>();
        let normals = all(normals)?.into_iter().map(Vec3::normalize_or_zero).collect();
        let mesh = TriangleMesh {
            positions,
            normals,
            uvs,
            colors: all(colors)?,
            triangles: triangles.to_vec(),
            source: None,
        };
        check(&mesh).map_err(errors::of_value)?;
        Ok(Self(Contents::Mesh(Arc::new(mesh))))
    }

    /// An image of bytes, (H, W, 4).
    #[staticmethod]
    fn of_bytes(texels: PyReadonlyArray3<'_, u8>) -> PyResult<Self> {
        let (height, width) = size(texels.shape(), 4)?;
        let (texels, _) = texels.as_slice().map_err(errors::of_value)?.as_chunks::<4>();
        let texels = texels.iter().map(|texel| u32::from_le_bytes(*texel)).collect();
        Ok(Self(Contents::Image(Image::new(width, height, Format::Srgb8, texels))))
    }

    /// An image of linear floats, (H, W, 3).
    #[staticmethod]
    fn of_floats(texels: PyReadonlyArray3<'_, f32>) -> PyResult<Self> {
        let (height, width) = size(texels.shape(), 3)?;
        let texels = texels.as_slice().map_err(errors::of_value)?;
        if let Some(i) = texels.iter().position(|x| !x.is_finite()) {
            let (row, column) = (i / 3 / width as usize, i / 3 % width as usize);
            return Err(errors::of_value(format_args!("texel [{row}, {column}] is {}", texels[i])));
        }
        let texels = texels.iter().map(|x| x.to_bits()).collect();
        Ok(Self(Contents::Image(Image::new(width, height, Format::RgbF32, texels))))
    }

    /// The name of asset `index` of a scene, by which its values can call it.
    #[pyo3(name = "name")]
    fn name_of(&self, index: usize) -> String {
        self.name(index)
    }

    /// The end of its file's name.
    fn extension(&self) -> &'static str {
        match &self.0 {
            Contents::Mesh(_) => "ply",
            Contents::Image(image) if image.format == Format::RgbF32 => "exr",
            Contents::Image(_) => "png",
        }
    }
}

impl Asset {
    /// The name of asset `index`, by which scenes call it.
    pub(crate) fn name(&self, index: usize) -> String {
        format!("memory/{index}.{}", self.extension())
    }

    /// It as the file of that name in a folder.
    pub(crate) fn in_folder(&self, folder: &Path, index: usize) -> SceneAsset {
        let path = folder.join(self.name(index));
        match &self.0 {
            Contents::Mesh(mesh) => SceneAsset::mesh(path, Arc::clone(mesh)),
            Contents::Image(image) => SceneAsset::image(path, image.clone()),
        }
    }
}

/// Height and width of an image of so many channels.
fn size(shape: &[usize], channels: usize) -> PyResult<(u32, u32)> {
    let &[height, width, depth] = shape else { return Err(errors::of_value("expected three dimensions")) };
    match (u32::try_from(height), u32::try_from(width)) {
        (Ok(height @ 1..), Ok(width @ 1..)) if depth == channels => Ok((height, width)),
        _ => Err(errors::of_value(format_args!("expected (H, W, {channels}), not {shape:?}"))),
    }
}

/// The rows of an array in C order.
fn rows<'a, const N: usize>(
    array: &'a PyReadonlyArray2<'_, f32>,
) -> PyResult<impl Iterator<Item = [f32; N]> + use<'a, N>> {
    if array.shape().get(1) != Some(&N) {
        return Err(errors::of_value(format_args!("expected {N} columns, not {:?}", array.shape())));
    }
    let (rows, _) = array.as_slice().map_err(errors::of_value)?.as_chunks::<N>();
    Ok(rows.iter().copied())
}

/// What a mesh has to be.
fn check(mesh: &TriangleMesh) -> Result<(), String> {
    let n = mesh.positions.len();
    let lengths = [("normals", mesh.normals.len()), ("uvs", mesh.uvs.len()), ("colors", mesh.colors.len())];
    if let Some((name, len)) = lengths.into_iter().find(|(_, len)| *len != 0 && *len != n) {
        return Err(format!("{name}: {len} rows for {n} vertices"));
    }
    if let Some(i) = mesh.positions.iter().position(|p| !p.is_finite()) {
        return Err(format!("vertices: row {i} is not finite: {}", mesh.positions[i]));
    }
    if let Some(i) = mesh.uvs.iter().position(|p| !p.is_finite()) {
        return Err(format!("uvs: row {i} is not finite: {}", mesh.uvs[i]));
    }
    if let Some(i) = mesh.normals.iter().position(|normal| *normal == Vec3::ZERO) {
        return Err(format!("normals: row {i} has no direction"));
    }
    let is_wrong = |face: &[u32; 3]| face.iter().any(|i| *i as usize >= n);
    if let Some(i) = mesh.triangles.iter().position(is_wrong) {
        return Err(format!("faces: row {i} is {:?}, and there are {n} vertices", mesh.triangles[i]));
    }
    if mesh.triangles.is_empty() {
        return Err("faces: there are none".to_owned());
    }
    Ok(())
}
