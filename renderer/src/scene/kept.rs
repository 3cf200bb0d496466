//! What the files of a scene hold, kept so that the same scene can be read again with other values: in no time, and with
//! the same meshes and images.

use std::collections::HashMap;
use std::hash::Hash;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use glam::Affine3A;

use super::image::{self, Found, Meaning};
use super::mesh::{self, MeshFile, Place, Placed, Unread};
use super::write::{Asset, Contents, own_meaning};
use super::{Files, Image, Normals, TriangleMesh, ply};
use crate::input::file::read_regular;
use crate::input::io_reason;

/// What was read of files, by their paths free of symbolic links, and how it was read.
#[derive(Debug, Default)]
pub(super) struct Kept {
    meshes: Map<(PathBuf, Normals, bool), Arc<MeshFile>>,
    images: Map<(PathBuf, Meaning), Found>,
    /// Meshes where shapes put them, by their addresses and the columns of transforms.
    placed: Map<(usize, [u32; 12]), (Arc<TriangleMesh>, Placed)>,
}

impl Kept {
    /// As [`mesh::place`].
    pub(super) fn place(&self, mesh: &Arc<TriangleMesh>, t: &Affine3A) -> Placed {
        let key = (Arc::as_ptr(mesh).addr(), t.to_cols_array().map(f32::to_bits));
        // With the mesh, so that no other comes to have its address.
        let placed = self.placed.get_or::<()>(key, || Ok((Arc::clone(mesh), mesh::place(mesh, t))));
        placed.map_or(Placed::Empty, |(_, placed)| placed)
    }

    /// How a file was read to give `image`, but for what its numbers may be: they may be what they are.
    pub(super) fn meaning(&self, file: &Path, image: &Image, range: image::Range) -> Option<Meaning> {
        let file = real(file);
        let is_it = |(path, _): &(PathBuf, Meaning), found: &Found| {
            *path == file && Arc::ptr_eq(&found.image.texels, &image.texels)
        };
        let ((_, meaning), found) = self.images.find(is_it)?;
        let meaning = Meaning { range, ..meaning };
        self.images.put((file, meaning), found);
        Some(meaning)
    }
}

impl Files {
    /// The mesh in a file, as [`mesh::read`] has it.
    pub(super) fn mesh(&self, path: &Path, normals: Normals, flip_v: bool) -> Result<Arc<MeshFile>, Unread> {
        let read = || match self.elsewhere.bytes(path) {
            Some(bytes) => {
                let bytes = bytes.map_err(Unread::Unreadable)?;
                let (name, len) = (path.display().to_string(), bytes.len() as u64);
                let file = ply::read(&name, bytes.as_slice(), len, normals, flip_v);
                file.map(Arc::new).map_err(|problem| Unread::Wrong(vec![problem]))
            }
            None => mesh::read(path, normals, flip_v).map(Arc::new),
        };
        match &self.kept {
            Some(kept) => kept.meshes.get_or((self.key(path), normals, flip_v), read),
            None => read(),
        }
    }

    /// The image in a file, as [`image::read`] has it.
    pub(super) fn image(&self, path: &Path, meaning: Meaning) -> Result<Found, String> {
        let read = || match self.elsewhere.bytes(path) {
            Some(bytes) => image::parse(&bytes?, false, meaning),
            None => image::read(path, meaning),
        };
        match &self.kept {
            Some(kept) => kept.images.get_or((self.key(path), meaning), read),
            None => read(),
        }
    }

    /// The bytes of a file, as [`read_regular`] has them.
    pub(super) fn bytes(&self, path: &Path, limit: u64) -> Result<Vec<u8>, String> {
        self.elsewhere.bytes(path).unwrap_or_else(|| read_regular(path, limit))
    }

    /// As [`mesh::place`].
    pub(super) fn place(&self, mesh: &Arc<TriangleMesh>, t: &Affine3A) -> Placed {
        match &self.kept {
            Some(kept) => kept.place(mesh, t),
            None => mesh::place(mesh, t),
        }
    }

    /// What a file is known by.
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
pub(super) struct Elsewhere(HashMap<PathBuf, Contents>);

impl Elsewhere {
    /// The files that come with a scene as it would be written; what is in memory already is kept.
    pub(super) fn new(assets: Vec<Asset>, kept: Option<&Kept>) -> Self {
        for (kept, asset) in kept.iter().flat_map(|kept| assets.iter().map(move |asset| (kept, asset))) {
            match &asset.contents {
                Contents::Mesh(mesh) => {
                    let (mesh, place, warnings) = (Arc::clone(mesh), Place::Face, Vec::new());
                    let file = Arc::new(MeshFile { mesh, place, warnings });
                    kept.meshes.put((asset.path.clone(), Normals::File, false), file);
                }
                Contents::Image(image) => {
                    let found = Found { image: image.clone(), warning: None };
                    kept.images.put((asset.path.clone(), own_meaning(image)), found);
                }
                Contents::Copy(_) | Contents::Transforms(_) => {}
            }
        }
        Self(assets.into_iter().map(|asset| (asset.path, asset.contents)).collect())
    }

    /// Where a file is instead, if it is here: the original of a copy, or just where the scene has it.
    pub(super) fn find(&self, path: &Path) -> Option<&Path> {
        let (path, contents) = self.0.get_key_value(path)?;
        match contents {
            Contents::Copy(from) => Some(from),
            _ => Some(path),
        }
    }

    /// The bytes of a file that is in memory only.
    fn bytes(&self, path: &Path) -> Option<Result<Vec<u8>, String>> {
        Some(self.0.get(path)?.bytes().map_err(|e| io_reason(&e)))
    }
}

/// A map that threads share.
#[derive(Debug)]
struct Map<K, V>(Mutex<HashMap<K, V>>);

impl<K, V> Default for Map<K, V> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K: Eq + Hash + Clone, V: Clone> Map<K, V> {
    /// What is there, or else what `make` makes, if it does.
    fn get_or<E>(&self, key: K, make: impl FnOnce() -> Result<V, E>) -> Result<V, E> {
        if let Some(value) = self.lock().get(&key) {
            return Ok(value.clone());
        }
        // Nobody waits for others' files; the first to be done counts.
        let value = make()?;
        Ok(self.lock().entry(key).or_insert(value).clone())
    }

    fn put(&self, key: K, value: V) {
        self.lock().insert(key, value);
    }

    fn find(&self, is_it: impl Fn(&K, &V) -> bool) -> Option<(K, V)> {
        self.lock().iter().find(|(key, value)| is_it(key, value)).map(|(k, v)| (k.clone(), v.clone()))
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<K, V>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
