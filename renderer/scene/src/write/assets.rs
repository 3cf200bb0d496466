//! The files that a scene file names.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use device::material::texture::Format;
use glam::Affine3A;

use crate::description::{Image, MeshSource, Normals, TriangleMesh};
use crate::files::asset::{Asset, Contents, is_bytes, own_meaning, range};
use crate::files::cache::FileCache;
use crate::files::image as image_file;
use crate::files::image::Meaning;

/// Longest name of a file without its extension, and longest extension, bytes: with a number, file systems take both.
const LONGEST_STEM: usize = 200;
const LONGEST_EXTENSION: usize = 32;

/// How a file is to be read to give an image again.
#[derive(Debug, Clone)]
pub(super) struct ImageName {
    pub(super) name: String,
    pub(super) meaning: Meaning,
}

/// The files that a scene file names, and those to be written.
pub(super) struct Assets<'a> {
    folder: PathBuf,
    /// The files that the scene was read from, if they were kept.
    kept: Option<&'a FileCache>,
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
    pub(super) fn new(file: &Path, kept: Option<&'a FileCache>) -> Self {
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

    /// The name of a mesh in the scene file, and how it is to be read.
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

    /// The name of an image in the scene file, and how it is to be read.
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
            && let Some(names) = below.iter().map(|name| name.to_str()).collect::<Option<Vec<_>>>()
        {
            return names.join("/");
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
        let extension = start(extension.chars().map(plain).collect(), LONGEST_EXTENSION);
        let stem = start(stem.chars().map(plain).take(60).collect(), LONGEST_STEM);
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

/// A text up to so many bytes.
fn start(mut text: String, longest: usize) -> String {
    text.truncate((0..=longest).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0));
    text
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
