//! Files that belong to a scene, by what is to be in them.

use std::io::{self, Cursor};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use device::material::texture::Format;
use glam::Affine3A;
use image::{ImageFormat, Rgb32FImage, Rgba32FImage, RgbaImage};

use super::image::{Meaning, Range};
use super::mesh::ply;
use crate::description::{Image, TriangleMesh};

/// A file that belongs to a scene file.
#[derive(Debug, Clone)]
pub struct Asset {
    /// Where it goes.
    pub path: PathBuf,
    pub(crate) contents: Contents,
}

/// Contents of a file.
#[derive(Debug, Clone)]
pub(crate) enum Contents {
    /// A copy of this file.
    Copy(Arc<Path>),
    Mesh(Arc<TriangleMesh>),
    Image(Image),
    Transforms(Vec<Affine3A>),
    /// For now in this file, beside its place.
    Unfinished(PathBuf),
}

impl Asset {
    /// A mesh that is in no file. `path` has to end in `.ply`.
    pub fn mesh(path: PathBuf, mesh: Arc<TriangleMesh>) -> Self {
        Self { path, contents: Contents::Mesh(mesh) }
    }

    /// An image that is in no file. `path` has to end in `.png` if it is of bytes, and in `.exr` if it is of floats.
    pub fn image(path: PathBuf, image: Image) -> Self {
        Self { path, contents: Contents::Image(image) }
    }

    /// This file when its bytes are written, but to another file for now.
    pub fn unfinished(&self, at: &Path) -> Self {
        let contents = match &self.contents {
            // The original says by its name how it is read.
            original @ Contents::Copy(_) => original.clone(),
            _ => Contents::Unfinished(at.to_owned()),
        };
        Self { path: self.path.clone(), contents }
    }

    /// The bytes to be written.
    ///
    /// # Errors
    /// The file cannot be copied.
    pub fn bytes(&self) -> io::Result<Vec<u8>> {
        self.contents.bytes()
    }
}

impl Contents {
    /// As they are in the file.
    pub(crate) fn bytes(&self) -> io::Result<Vec<u8>> {
        match self {
            Self::Copy(from) => std::fs::read(from),
            Self::Mesh(mesh) => {
                let mut bytes = Vec::new();
                ply::write(mesh, &mut bytes)?;
                Ok(bytes)
            }
            Self::Image(image) => encode(image),
            Self::Unfinished(at) => std::fs::read(at),
            Self::Transforms(transforms) => Ok(transforms.iter().flat_map(rows).collect()),
        }
    }
}

/// How the file of an image is to be read that is written for it.
pub(crate) fn own_meaning(image: &Image) -> Meaning {
    Meaning { is_srgb: image.format == Format::Srgb8, is_alpha: false, range: range(image) }
}

/// The least that an image has to be allowed.
pub(crate) fn range(image: &Image) -> Range {
    let numbers = floats(image);
    match numbers.iter().flatten().fold((0.0_f32, 1.0_f32), |(low, high), x| (low.min(*x), high.max(*x))) {
        (low, _) if low < 0.0 => Range::Height,
        (_, high) if high > 1.0 => Range::Radiance,
        _ => Range::Unit,
    }
}

pub(crate) fn is_bytes(image: &Image) -> bool {
    matches!(image.format, Format::Srgb8 | Format::Rgba8)
}

/// The numbers of an image of floats, four of a texel; nothing of others.
fn floats(image: &Image) -> Vec<[f32; 4]> {
    let count = if is_bytes(image) { 0 } else { image.width as usize * image.height as usize };
    (0..count).map(|i| image.texel(i)).collect()
}

/// As PNG if it is of bytes, as OpenEXR otherwise.
fn encode(image: &Image) -> io::Result<Vec<u8>> {
    let mut bytes = Cursor::new(Vec::new());
    let (width, height) = (image.width, image.height);
    let size = || io::Error::other("the image has another size than it says");
    let encoded = if is_bytes(image) {
        let texels = image.texels.iter().flat_map(|texel| texel.to_le_bytes()).collect();
        let image = RgbaImage::from_raw(width, height, texels).ok_or_else(size)?;
        image.write_to(&mut bytes, ImageFormat::Png)
    } else if image.format == Format::RgbF32 {
        let texels = image.texels.iter().map(|x| f32::from_bits(*x)).collect();
        let image = Rgb32FImage::from_raw(width, height, texels).ok_or_else(size)?;
        image.write_to(&mut bytes, ImageFormat::OpenExr)
    } else {
        let texels = floats(image).into_iter().flatten().collect();
        let image = Rgba32FImage::from_raw(width, height, texels).ok_or_else(size)?;
        image.write_to(&mut bytes, ImageFormat::OpenExr)
    };
    encoded.map_err(io::Error::other)?;
    Ok(bytes.into_inner())
}

/// The first three rows of a transform, as files of transforms have them.
fn rows(t: &Affine3A) -> Vec<u8> {
    let [x, y, z, w] =
        [t.matrix3.x_axis, t.matrix3.y_axis, t.matrix3.z_axis, t.translation].map(|c| c.to_array());
    (0..3).flat_map(|row| [x[row], y[row], z[row], w[row]]).flat_map(f32::to_le_bytes).collect()
}
