//! The files that a scene may read.

pub(crate) mod asset;
pub(crate) mod cache;
pub(crate) mod image;
pub(crate) mod mesh;

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::input::file::{MOST_ENTRIES, ReadError};
pub use image::ImageError;

use crate::files::asset::Asset;
use crate::files::cache::{FileCache, MemoryFiles};

/// Why a file that a scene names cannot be used, to follow "cannot read …:".
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FileError {
    /// The scene may not read it.
    #[error("it is not in the folder of the scene; --allow-external lets scenes read other files")]
    External,
    /// It cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// It is not a supported image.
    #[error(transparent)]
    Image(#[from] ImageError),
}

/// The files that a scene may read: those in its folder and below, in folders that the user names and below, or all. A scene
/// from an untrusted source cannot read other files.
#[derive(Debug, Clone)]
pub struct Files {
    folder: PathBuf,
    /// Other folders in which files are looked for, in this order.
    search: Vec<PathBuf>,
    external: bool,
    /// Paths that were resolved and may be read.
    resolved: Arc<Mutex<BTreeSet<PathBuf>>>,
    /// Their contents, if they are to be cached.
    pub(crate) kept: Option<Arc<FileCache>>,
    pub(crate) elsewhere: Arc<MemoryFiles>,
    /// How many files were not where they should be.
    missing: Arc<AtomicUsize>,
}

/// Number of missing files up to which others of similar names are looked for.
const MOST_SEARCHES: usize = 256;

impl Files {
    /// Files named relative to `folder`; `external` allows files outside it.
    pub fn new(folder: impl Into<PathBuf>, external: bool) -> Self {
        let (resolved, kept, elsewhere) = (Arc::default(), None, Arc::default());
        let (folder, search, missing) = (folder.into(), Vec::new(), Arc::default());
        Self { folder, search, external, resolved, kept, elsewhere, missing }
    }

    /// These files, and those in other folders, which formats with a search path look into.
    #[must_use]
    pub fn searching(self, folders: Vec<PathBuf>) -> Self {
        Self { search: folders, ..self }
    }

    /// These files, with their contents cached.
    pub(crate) fn keeping(self) -> Self {
        Self { kept: Some(Arc::default()), ..self }
    }

    /// These files, and the assets of a scene document that has not been written.
    pub(crate) fn with(self, assets: Vec<Asset>) -> Self {
        let elsewhere = MemoryFiles::new(assets, self.kept.as_deref());
        Self { elsewhere: Arc::new(elsewhere), ..self }
    }

    /// These files and more such assets, which take the place of others of the same paths.
    pub(crate) fn and(self, assets: Vec<Asset>) -> Self {
        let elsewhere = self.elsewhere.and(MemoryFiles::new(assets, self.kept.as_deref()));
        Self { elsewhere: Arc::new(elsewhere), ..self }
    }

    /// Forgets files that are in memory only but for those that are `wanted`.
    pub(crate) fn retain_in_memory(&mut self, wanted: impl Fn(&Path) -> bool) {
        self.elsewhere = Arc::new(self.elsewhere.retaining(wanted, self.kept.as_deref()));
    }

    /// Whether there are files that are in memory only.
    pub(crate) fn has_some_in_memory(&self) -> bool {
        !self.elsewhere.is_empty()
    }

    /// The existing files among those that the scene has named so far, free of symbolic links.
    pub fn named(&self) -> BTreeSet<PathBuf> {
        let resolved = self.resolved.lock().unwrap_or_else(PoisonError::into_inner);
        resolved.iter().filter_map(|path| path.canonicalize().ok()).collect()
    }

    /// Notes a file that is read on behalf of the scene, though the scene does not name it.
    pub(crate) fn note(&self, path: &Path) {
        self.resolved.lock().unwrap_or_else(PoisonError::into_inner).insert(path.to_owned());
    }

    /// The folder that names are relative to.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The folders of [`Self::searching`].
    pub(crate) fn search(&self) -> &[PathBuf] {
        &self.search
    }

    /// The path of the file that a scene calls `name`, whether or not it exists.
    ///
    /// # Errors
    /// The scene may not read it.
    pub fn resolve(&self, name: impl AsRef<Path>) -> Result<PathBuf, FileError> {
        let path = self.folder.join(name);
        match self.elsewhere.find(&path) {
            // The scene was allowed to read it before.
            Some(path) => Ok(path.to_owned()),
            None => self.allowed(path),
        }
    }

    /// As [`Self::resolve`], for a name relative to another folder: that of a file that the scene refers to.
    ///
    /// # Errors
    /// As [`Self::resolve`].
    pub fn resolve_in(&self, folder: impl AsRef<Path>, name: impl AsRef<Path>) -> Result<PathBuf, FileError> {
        self.allowed(folder.as_ref().join(name))
    }

    /// The file that a file of others calls `name`, relative to `folder`, and whether it is another than that says: one whose
    /// name differs in capital letters, as systems have it that do not tell them apart, or that is in the folder itself, as
    /// where a file has been moved together with what it names.
    ///
    /// # Errors
    /// The scene may not read it.
    pub(crate) fn look_for(&self, folder: &Path, name: &str) -> Result<(PathBuf, bool), FileError> {
        let exact = self.resolve_in(folder, name);
        if let Ok(path) = &exact
            && path.is_file()
        {
            return exact.map(|path| (path, false));
        }
        // Folders are not searched for each of very many.
        if self.missing.fetch_add(1, Ordering::Relaxed) >= MOST_SEARCHES {
            return match exact {
                Ok(path) if !path.exists() => Err(ReadError::System("no such file".to_owned()).into()),
                exact => exact.map(|path| (path, false)),
            };
        }
        let parts: Vec<_> = name.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
        let last = parts.len().saturating_sub(1);
        let starts = if last == 0 { vec![0] } else { vec![0, last] };
        let found = starts.into_iter().find_map(|start| {
            let parts = parts.get(start..)?;
            self.resolve_in(folder, parts.iter().collect::<PathBuf>()).ok()?;
            let path = in_any_case(folder, parts)?;
            self.allowed(path).ok().filter(|path| path.is_file())
        });
        found.map_or_else(|| exact.map(|path| (path, false)), |path| Ok((path, true)))
    }

    fn allowed(&self, path: PathBuf) -> Result<PathBuf, FileError> {
        let mut roots = self.search.iter().chain([&self.folder]);
        if self.external || roots.any(|root| is_below_by_name(root, &path) && is_below_by_links(root, &path))
        {
            self.resolved.lock().unwrap_or_else(PoisonError::into_inner).insert(path.clone());
            return Ok(path);
        }
        Err(FileError::External)
    }
}

/// Whether `path` as written is in a folder.
fn is_below_by_name(folder: &Path, path: &Path) -> bool {
    let Ok(rest) = path.strip_prefix(folder) else { return false };
    let mut depth = 0_i64;
    rest.components().all(|part| {
        match part {
            Component::ParentDir => depth -= 1,
            Component::Normal(_) => depth += 1,
            Component::CurDir => {}
            Component::RootDir | Component::Prefix(_) => return false,
        }
        depth >= 0
    })
}

/// Whether `path` is in a folder once symbolic links are resolved; true if it does not exist.
fn is_below_by_links(folder: &Path, path: &Path) -> bool {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    match (folder.canonicalize(), path.canonicalize()) {
        (Ok(folder), Ok(path)) => path.starts_with(folder),
        _ => true,
    }
}

/// The file of these names, one within another, whose capital letters may differ.
fn in_any_case(folder: &Path, names: &[&str]) -> Option<PathBuf> {
    let mut path = folder.to_owned();
    for name in names {
        let exact = path.join(name);
        path = if exact.exists() {
            exact
        } else {
            let entries = std::fs::read_dir(if path.as_os_str().is_empty() { Path::new(".") } else { &path });
            let names = entries.ok()?.take(MOST_ENTRIES).flatten().map(|entry| entry.file_name());
            let wanted = name.to_lowercase();
            path.join(names.filter(|other| other.to_string_lossy().to_lowercase() == wanted).min()?)
        };
    }
    Some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scenes_stay_in_their_folders() {
        for folder in ["", ".", "scenes", "/scenes/one"] {
            let (inside, anywhere) = (Files::new(folder, false), Files::new(folder, true));
            for name in ["a.obj", "./a.obj", "models/a.obj", "models/../a.obj", "..a.obj"] {
                assert_eq!(inside.resolve(name), Ok(Path::new(folder).join(name)), "{folder}, {name}");
            }
            for name in ["../a.obj", "models/../../a.obj", "/etc/passwd", "models/../../scenes/a.obj"] {
                assert_eq!(inside.resolve(name), Err(FileError::External), "{folder}, {name}");
                assert_eq!(anywhere.resolve(name), Ok(Path::new(folder).join(name)));
            }
        }
    }

    #[test]
    fn what_the_user_names_may_be_read_as_well() {
        let files = Files::new("scenes", false).searching(vec!["library".into(), "/more".into()]);
        let found = |folder: &str, name: &str| files.resolve_in(folder, name).is_ok();
        assert!(found("library", "a.obj") && found("/more", "b/../a.obj") && found("scenes", "a.obj"));
        assert!(!found("library", "../a.obj") && !found("/more", "../a.obj") && !found("other", "a.obj"));
        assert!(Files::new("scenes", false).resolve_in("library", "a.obj").is_err(), "control");
    }

    #[test]
    fn what_a_scene_names_is_remembered() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("models")).unwrap();
        for name in ["a.png", "b.png", "models/c.obj"] {
            std::fs::write(folder.path().join(name), "x").unwrap();
        }
        let files = Files::new(folder.path(), false);
        assert!(files.named().is_empty());
        for name in ["models/../a.png", "models/c.obj", "a.png", "absent.png", "../b.png"] {
            let _ = files.resolve(name);
        }
        let real = folder.path().canonicalize().unwrap();
        assert_eq!(files.named(), BTreeSet::from(["a.png", "models/c.obj"].map(|name| real.join(name))));
        assert!(files.resolve_in(folder.path().join("models"), "../b.png").is_ok());
        assert!(files.named().contains(&real.join("b.png")));
    }

    #[test]
    fn files_of_other_files_stay_in_the_folder_of_the_scene() {
        let files = Files::new("scenes", false);
        let resolve = |name| files.resolve_in("scenes/models", name);
        assert_eq!(resolve("../a.png"), Ok(PathBuf::from("scenes/models/../a.png")));
        assert!(resolve("../../a.png").is_err());
    }

    #[cfg(unix)]
    #[test]
    fn links_lead_out_of_no_folder() {
        let folder = tempfile::tempdir().unwrap();
        let scene = folder.path().join("scene");
        std::fs::create_dir(&scene).unwrap();
        std::fs::write(folder.path().join("secret"), "x").unwrap();
        std::fs::write(scene.join("mesh"), "x").unwrap();
        std::os::unix::fs::symlink("../secret", scene.join("out")).unwrap();
        std::os::unix::fs::symlink("mesh", scene.join("in")).unwrap();
        let files = Files::new(&scene, false);
        assert!(files.resolve("in").is_ok() && files.resolve("absent").is_ok());
        assert!(files.resolve("out").is_err());
        assert!(Files::new(&scene, true).resolve("out").is_ok());
    }
}
