//! Meshes and images from arrays.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use device::material::texture::Format;
use glam::{Vec2, Vec3};
use numpy::{PyArray1, PyArrayMethods, PyReadonlyArray2, PyReadonlyArray3, PyUntypedArrayMethods};
use pyo3::prelude::*;
use torrance_scene::{Asset as SceneAsset, Image, TriangleMesh};

use crate::errors;

/// What a scene file would have in another file, copied once from arrays.
#[pyclass(frozen, module = "torrance._torrance")]
pub(crate) struct Asset {
    contents: Contents,
    /// A number that no other of this process has.
    id: u64,
}

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
        let normals = all(normals)?.into_iter().map(normalized).collect();
        let mesh = TriangleMesh {
            positions,
            normals,
            uvs,
            colors: all(colors)?,
            triangles: triangles.to_vec(),
            source: None,
        };
        check(&mesh).map_err(errors::of_value)?;
        Ok(Self::of(Contents::Mesh(Arc::new(mesh))))
    }

    /// An image of bytes, (H, W, 4).
    #[staticmethod]
    fn of_bytes(texels: PyReadonlyArray3<'_, u8>) -> PyResult<Self> {
        let (height, width) = size(texels.shape(), 4)?;
        let (texels, _) = texels.as_slice().map_err(errors::of_value)?.as_chunks::<4>();
        let texels = texels.iter().map(|texel| u32::from_le_bytes(*texel)).collect();
        Ok(Self::of(Contents::Image(Image::new(width, height, Format::Srgb8, texels))))
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
        Ok(Self::of(Contents::Image(Image::new(width, height, Format::RgbF32, texels))))
    }

    /// The arrays that [`Asset::mesh`] makes it of again, or one that [`Asset::of_bytes`] or [`Asset::of_floats`] does.
    fn arrays(&self, py: Python<'_>) -> PyResult<Vec<Option<Py<PyAny>>>> {
        match &self.contents {
            Contents::Mesh(mesh) => {
                let vectors =
                    |all: &[Vec3]| array(py, all.iter().flat_map(|v| v.to_array()).collect(), [all.len(), 3]);
                let optional = |all: &[Vec3]| (!all.is_empty()).then(|| vectors(all)).transpose();
                let uvs: Vec<f32> = mesh.uvs.iter().flat_map(|uv| uv.to_array()).collect();
                let uvs = (!uvs.is_empty()).then(|| array(py, uvs, [mesh.uvs.len(), 2]));
                let faces = array(py, mesh.triangles.as_flattened().to_vec(), [mesh.triangles.len(), 3])?;
                let positions = vectors(&mesh.positions)?;
                let (normals, colors) = (optional(&mesh.normals)?, optional(&mesh.colors)?);
                Ok(vec![Some(positions), Some(faces), normals, uvs.transpose()?, colors])
            }
            Contents::Image(image) => {
                let [height, width] = [image.height as usize, image.width as usize];
                Ok(vec![Some(match image.format {
                    Format::RgbF32 => {
                        let texels = image.texels.iter().map(|bits| f32::from_bits(*bits)).collect();
                        array(py, texels, [height, width, 3])?
                    }
                    _ => array(
                        py,
                        image.texels.iter().flat_map(|t| t.to_le_bytes()).collect(),
                        [height, width, 4],
                    )?,
                })])
            }
        }
    }

    /// The name by which the values of scenes can call it.
    #[pyo3(name = "name")]
    fn name_of(&self) -> String {
        self.name()
    }

    /// The end of its file's name.
    fn extension(&self) -> &'static str {
        match &self.contents {
            Contents::Mesh(_) => "ply",
            Contents::Image(image) if image.format == Format::RgbF32 => "exr",
            Contents::Image(_) => "png",
        }
    }
}

impl Asset {
    /// The folder of such names.
    pub(crate) const FOLDER: &str = "memory";

    fn of(contents: Contents) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Self { contents, id: NEXT.fetch_add(1, Ordering::Relaxed) }
    }

    /// The name by which scenes call it.
    pub(crate) fn name(&self) -> String {
        format!("{}/{}.{}", Self::FOLDER, self.id, self.extension())
    }

    /// It as the file of that name in a folder.
    pub(crate) fn in_folder(&self, folder: &Path) -> SceneAsset {
        let path = folder.join(self.name());
        match &self.contents {
            Contents::Mesh(mesh) => SceneAsset::mesh(path, Arc::clone(mesh)),
            Contents::Image(image) => SceneAsset::image(path, image.clone()),
        }
    }
}

/// A vector of length 1; one that has it already stays as it is.
fn normalized(v: Vec3) -> Vec3 {
    if (v.length_squared() - 1.0).abs() <= 4.0 * f32::EPSILON {
        v
    } else {
        // In f64, so that squares of what is long or short are numbers.
        v.as_dvec3().normalize_or_zero().as_vec3()
    }
}

/// An array of a shape.
fn array<T: numpy::Element, const N: usize>(
    py: Python<'_>,
    values: Vec<T>,
    shape: [usize; N],
) -> PyResult<Py<PyAny>>
where
    [usize; N]: numpy::ndarray::IntoDimension,
{
    Ok(PyArray1::from_vec(py, values).reshape(shape)?.into_any().unbind())
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
