//! The files that a scene file names.

use std::collections::{HashMap, HashSet};
use std::io::{self, Cursor};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use device::material::texture::Format;
use glam::Affine3A;
use image::{ImageFormat, Rgb32FImage, Rgba32FImage, RgbaImage};

use crate::scene::image::{self as image_file, Meaning, Range};
use crate::scene::kept::Kept;
use crate::scene::{Image, MeshSource, Normals, TriangleMesh, ply};

/// A file that belongs to a scene file.
#[derive(Debug, Clone)]
pub struct Asset {
    /// Where it goes.
    pub path: PathBuf,
    pub(in crate::scene) contents: Contents,
}

/// What is in a file.
#[derive(Debug, Clone)]
pub(in crate::scene) enum Contents {
    /// A copy of this file.
    Copy(Arc<Path>),
    Mesh(Arc<TriangleMesh>),
    Image(Image),
    Transforms(Vec<Affine3A>),
}

impl Asset {
    /// What is to be written.
    ///
    /// # Errors
    /// The file cannot be copied.
    pub fn bytes(&self) -> io::Result<Vec<u8>> {
        self.contents.bytes()
    }
}

impl Contents {
    /// As they are in the file.
    pub(in crate::scene) fn bytes(&self) -> io::Result<Vec<u8>> {
        match self {
            Self::Copy(from) => std::fs::read(from),
            Self::Mesh(mesh) => {
                let mut bytes = Vec::new();
                ply::write(mesh, &mut bytes)?;
                Ok(bytes)
            }
            Self::Image(image) => encode(image).map_err(io::Error::other),
            Self::Transforms(transforms) => Ok(transforms.iter().flat_map(rows).collect()),
        }
    }
}

/// How a file is to be read to give an image again.
#[derive(Debug, Clone)]
pub(super) struct ImageName {
    pub(super) name: String,
    pub(super) meaning: Meaning,
}

/// The files that a scene file names, and those to be written.
pub(super) struct Assets<'a> {
    folder: PathBuf,
    /// What was read to make the scene, if that was kept.
    kept: Option<&'a Kept>,
    /// Name of the folder for files.
    beside: String,
    pub(super) files: Vec<Asset>,
    taken: HashSet<String>,
    copies: HashMap<PathBuf, String>,
    meshes: HashMap<*const TriangleMesh, String>,
    images: HashMap<usize, ImageName>,
}

impl<'a> Assets<'a> {
    /// For a scene file.
    pub(super) fn new(file: &Path, kept: Option<&'a Kept>) -> Self {
        let stem = file.file_stem().map_or_else(|| "scene".into(), |stem| stem.to_string_lossy());
        Self {
            folder: file.parent().unwrap_or(Path::new("")).to_path_buf(),
            kept,
            beside: format!("{stem}-files"),
            files: Vec::new(),
            taken: HashSet::new(),
            copies: HashMap::new(),
            meshes: HashMap::new(),
            images: HashMap::new(),
        }
    }

    /// What the scene file calls a mesh, and how it is to be read.
    pub(super) fn mesh(&mut self, mesh: &Arc<TriangleMesh>, shape: &str) -> (String, Normals, bool) {
        if let Some(MeshSource { file, normals, flip_v }) = &mesh.source {
            return (self.existing(file), *normals, *flip_v);
        }
        let key = Arc::as_ptr(mesh);
        let name = match self.meshes.get(&key) {
            Some(name) => name.clone(),
            None => {
                let name = self.add(shape, "ply", Contents::Mesh(Arc::clone(mesh)));
                self.meshes.insert(key, name.clone());
                name
            }
        };
        (name, Normals::File, false)
    }

    /// What the scene file calls an image, and how that is to be read.
    pub(super) fn image(&mut self, index: usize, image: &Image) -> ImageName {
        if let Some(known) = self.images.get(&index) {
            return known.clone();
        }
        let found = match image.file.as_ref().and_then(|file| Some((file, self.meaning(file, image)?))) {
            Some((file, meaning)) => ImageName { name: self.existing(file), meaning },
            None => {
                let extension = if is_bytes(image) { "png" } else { "exr" };
                let stem = image.file.as_ref().and_then(|file| file.file_stem());
                let stem = stem.map_or("image".into(), |stem| stem.to_string_lossy()).into_owned();
                let name = self.add(&stem, extension, Contents::Image(image.clone()));
                ImageName { name, meaning: own_meaning(image) }
            }
        };
        self.images.insert(index, found.clone());
        found
    }

    /// How a file has to be read to give `image`, if there is a way.
    fn meaning(&self, file: &Path, image: &Image) -> Option<Meaning> {
        let kept = self.kept.and_then(|kept| kept.meaning(file, image, range(image)));
        kept.or_else(|| meaning(file, image))
    }

    /// A file of transforms.
    pub(super) fn transforms(&mut self, group: &str, transforms: Vec<Affine3A>) -> String {
        self.add(group, "bin", Contents::Transforms(transforms))
    }

    /// The name of a file that is there: relative to the scene file if it is in its folder or below, of a copy otherwise.
    fn existing(&mut self, file: &Arc<Path>) -> String {
        let folder = if self.folder.as_os_str().is_empty() { Path::new(".") } else { &self.folder };
        let real = file.canonicalize().unwrap_or_else(|_| file.to_path_buf());
        if let Ok(folder) = folder.canonicalize()
            && let Ok(below) = real.strip_prefix(&folder)
            && let Some(name) = below.to_str()
        {
            return name.replace('\\', "/");
        }
        if let Some(name) = self.copies.get(&real) {
            return name.clone();
        }
        let stem = file.file_stem().unwrap_or_default().to_string_lossy();
        let extension = file.extension().unwrap_or_default().to_string_lossy();
        let name = self.add(&stem, &extension, Contents::Copy(Arc::clone(file)));
        self.copies.insert(real, name.clone());
        name
    }

    /// Adds a file called much like `stem`.
    fn add(&mut self, stem: &str, extension: &str, contents: Contents) -> String {
        let plain = |c: char| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '-' };
        let stem: String = stem.chars().map(plain).take(60).collect();
        let stem = match stem.trim_matches(['.', '-']) {
            "" => "file",
            stem => stem,
        };
        let mut name = format!("{}/{stem}.{extension}", self.beside);
        let mut n = 2;
        // Some file systems do not tell capitals.
        while !self.taken.insert(name.to_lowercase()) {
            name = format!("{}/{stem}-{n}.{extension}", self.beside);
            n += 1;
        }
        self.files.push(Asset { path: self.folder.join(&name), contents });
        name
    }
}

/// How a file has to be read to give `image`, if there is a way.
fn meaning(file: &Path, image: &Image) -> Option<Meaning> {
    let is_srgb = [image.format != Format::Rgba8, image.format == Format::Rgba8];
    let ways = is_srgb
        .into_iter()
        .flat_map(|is_srgb| [false, true].map(|is_alpha| Meaning { is_srgb, is_alpha, range: range(image) }));
    ways.into_iter().find(|way| {
        image_file::read(file, *way).is_ok_and(|found| {
            let Image { width, height, format, texels, .. } = found.image;
            (width, height, format) == (image.width, image.height, image.format) && texels == image.texels
        })
    })
}

/// How the file of an image is to be read that is written for it.
pub(in crate::scene) fn own_meaning(image: &Image) -> Meaning {
    Meaning { is_srgb: image.format == Format::Srgb8, is_alpha: false, range: range(image) }
}

/// The least that an image has to be allowed.
pub(super) fn range(image: &Image) -> Range {
    let numbers = floats(image);
    match numbers.iter().flatten().fold((0.0_f32, 1.0_f32), |(low, high), x| (low.min(*x), high.max(*x))) {
        (low, _) if low < 0.0 => Range::Height,
        (_, high) if high > 1.0 => Range::Radiance,
        _ => Range::Unit,
    }
}

fn is_bytes(image: &Image) -> bool {
    matches!(image.format, Format::Srgb8 | Format::Rgba8)
}

/// The numbers of an image of floats, four of a texel; nothing of others.
fn floats(image: &Image) -> Vec<[f32; 4]> {
    let count = if is_bytes(image) { 0 } else { image.width as usize * image.height as usize };
    (0..count).map(|i| image.texel(i)).collect()
}

/// As PNG if it is of bytes, as OpenEXR otherwise.
fn encode(image: &Image) -> Result<Vec<u8>, String> {
    let mut bytes = Cursor::new(Vec::new());
    let (width, height) = (image.width, image.height);
    let size = || "the image has another size than it says".to_owned();
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
    encoded.map_err(|e| e.to_string())?;
    Ok(bytes.into_inner())
}

/// The first three rows of a transform, as files of transforms have them.
fn rows(t: &Affine3A) -> Vec<u8> {
    let [x, y, z, w] =
        [t.matrix3.x_axis, t.matrix3.y_axis, t.matrix3.z_axis, t.translation].map(|c| c.to_array());
    (0..3).flat_map(|row| [x[row], y[row], z[row], w[row]]).flat_map(f32::to_le_bytes).collect()
}
