//! A cache of the files of a scene, so that the scene can be reloaded quickly with other values, sharing meshes and
//! images.

use std::collections::HashMap;
use std::convert::Infallible;
use std::hash::Hash;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use glam::Affine3A;

use super::image::{self, DecodedImage, Meaning};
use super::mesh::{self, MeshError, MeshFile, Placement, TriangleOrigin};
use super::{FileError, Files};
use crate::description::{Image, Normals, TriangleMesh};
use crate::files::asset::{Asset, Contents, own_meaning};
use crate::files::mesh::ply;
use crate::input::file::{ReadError, read_regular};
use crate::input::{Error, io_reason};

/// Most meshes that are kept where shapes put them: of a shape that moves again and again, there is no end to them.
const MOST_PLACED: usize = 4096;

/// Contents of files, by their paths free of symbolic links and the way in which they were read.
#[derive(Debug, Default)]
pub(crate) struct FileCache {
    meshes: Map<(PathBuf, Normals, bool), Arc<MeshFile>>,
    images: Map<(PathBuf, Meaning), DecodedImage>,
    /// Meshes where shapes put them, by their addresses and the columns of transforms.
    placed: Map<(usize, [u32; 12]), (Arc<TriangleMesh>, Placement)>,
}

impl FileCache {
    /// How a file was read to give `image`, but for what its numbers may be: they may be what they are.
    pub(crate) fn meaning(&self, file: &Path, image: &Image, range: image::Range) -> Option<Meaning> {
        let file = real(file);
        let mut images = lock(&self.images);
        let ((_, meaning), found) = images
            .iter()
            .find(|((path, _), found)| *path == file && Arc::ptr_eq(&found.image.texels, &image.texels))?;
        let (meaning, found) = (Meaning { range, ..*meaning }, found.clone());
        images.insert((file, meaning), found);
        Some(meaning)
    }
}

impl Files {
    /// The mesh in a file, as [`mesh::read`] has it.
    pub(crate) fn mesh(
        &self,
        path: &Path,
        normals: Normals,
        flip_v: bool,
    ) -> Result<Arc<MeshFile>, MeshError> {
        let read = || match self.elsewhere.bytes(path) {
            Some(bytes) => {
                let bytes = bytes.map_err(MeshError::Unreadable)?;
                let (name, len) = (path.display().to_string(), bytes.len() as u64);
                let file = ply::read(&name, bytes.as_slice(), len, normals, flip_v);
                Ok(Arc::new(file.map_err(Error::from)?))
            }
            None => mesh::read(path, normals, flip_v).map(Arc::new),
        };
        match &self.kept {
            Some(kept) => get_or(&kept.meshes, (self.key(path), normals, flip_v), read),
            None => read(),
        }
    }

    /// The image in a file, as [`image::read`] has it.
    pub(crate) fn image(&self, path: &Path, meaning: Meaning) -> Result<DecodedImage, FileError> {
        let read = || match self.elsewhere.bytes(path) {
            Some(bytes) => Ok(image::parse(&bytes?, false, meaning)?),
            None => image::read(path, meaning),
        };
        match &self.kept {
            Some(kept) => get_or(&kept.images, (self.key(path), meaning), read),
            None => read(),
        }
    }

    /// The bytes of a file, as [`read_regular`] has them.
    pub(crate) fn bytes(&self, path: &Path, limit: u64) -> Result<Vec<u8>, FileError> {
        self.elsewhere.bytes(path).unwrap_or_else(|| Ok(read_regular(path, limit)?))
    }

    /// As [`mesh::place`].
    pub(crate) fn place(&self, mesh: &Arc<TriangleMesh>, t: &Affine3A) -> Placement {
        let Some(kept) = &self.kept else { return mesh::place(mesh, t) };
        let key = (Arc::as_ptr(mesh).addr(), t.to_cols_array().map(f32::to_bits));
        let mut known = lock(&kept.placed);
        if known.len() >= MOST_PLACED && !known.contains_key(&key) {
            known.clear();
        }
        drop(known);
        // With the mesh, so that no other comes to have its address.
        let placed = get_or(&kept.placed, key, || Ok((Arc::clone(mesh), mesh::place(mesh, t))));
        let Ok::<_, Infallible>((_, placed)) = placed;
        placed
    }

    /// The key of a file.
    fn key(&self, path: &Path) -> PathBuf {
        if self.elsewhere.0.contains_key(path) { path.to_owned() } else { real(path) }
    }
}

/// A path free of symbolic links.
fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

/// Files that are not where the scene has them, by the paths there.
#[derive(Debug, Default)]
pub(crate) struct MemoryFiles(HashMap<PathBuf, Contents>);

impl MemoryFiles {
    /// The files that come with a scene as it would be written; what is in memory already is kept.
    pub(crate) fn new(assets: Vec<Asset>, kept: Option<&FileCache>) -> Self {
        for (kept, asset) in kept.iter().flat_map(|kept| assets.iter().map(move |asset| (kept, asset))) {
            match &asset.contents {
                Contents::Mesh(mesh) => {
                    let (mesh, place, warnings) = (Arc::clone(mesh), TriangleOrigin::Face, Vec::new());
                    let file = Arc::new(MeshFile { mesh, place, warnings });
                    lock(&kept.meshes).insert((asset.path.clone(), Normals::File, false), file);
                }
                Contents::Image(image) => {
                    let found = DecodedImage { image: image.clone(), warning: None };
                    lock(&kept.images).insert((asset.path.clone(), own_meaning(image)), found);
                }
                Contents::Copy(_) | Contents::Transforms(_) | Contents::Unfinished(_) => {}
            }
        }
        Self(assets.into_iter().map(|asset| (asset.path, asset.contents)).collect())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// These files, and others, which take the place of those of the same paths.
    pub(crate) fn and(&self, others: Self) -> Self {
        Self(self.0.iter().map(|(path, contents)| (path.clone(), contents.clone())).chain(others.0).collect())
    }

    /// Those that are `wanted`. What has been read of the others is not kept, either: who still has them can read them again.
    pub(crate) fn retaining(&self, wanted: impl Fn(&Path) -> bool, kept: Option<&FileCache>) -> Self {
        let is_unwanted = |path: &PathBuf| self.0.contains_key(path) && !wanted(path);
        if let Some(kept) = kept {
            lock(&kept.meshes).retain(|(path, ..), _| !is_unwanted(path));
            lock(&kept.images).retain(|(path, _), _| !is_unwanted(path));
        }
        let wanted = self.0.iter().filter(|(path, _)| wanted(path));
        Self(wanted.map(|(path, contents)| (path.clone(), contents.clone())).collect())
    }

    /// Where a file is instead, if it is here: the original of a copy, or just where the scene has it.
    pub(crate) fn find(&self, path: &Path) -> Option<&Path> {
        let (path, contents) = self.0.get_key_value(path)?;
        match contents {
            Contents::Copy(from) => Some(from),
            _ => Some(path),
        }
    }

    /// The bytes of a file that is in memory only.
    fn bytes(&self, path: &Path) -> Option<Result<Vec<u8>, FileError>> {
        Some(self.0.get(path)?.bytes().map_err(|e| ReadError::System(io_reason(&e)).into()))
    }
}

/// A map that threads share.
type Map<K, V> = Mutex<HashMap<K, V>>;

fn lock<K, V>(map: &Map<K, V>) -> MutexGuard<'_, HashMap<K, V>> {
    map.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The value of a key, made by `make` if it is missing.
fn get_or<K: Eq + Hash, V: Clone, E>(
    map: &Map<K, V>,
    key: K,
    make: impl FnOnce() -> Result<V, E>,
) -> Result<V, E> {
    if let Some(value) = lock(map).get(&key) {
        return Ok(value.clone());
    }
    // Nobody waits for others' files; the first to be done counts.
    let value = make()?;
    Ok(lock(map).entry(key).or_insert(value).clone())
}
