//! Atomic file writing: a reader sees either the complete old file or the complete new one.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::{fmt, fs};

use super::format::Format;

/// A path to which a file can be written, checked before there is anything to write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Destination {
    /// The path as the user wrote it.
    pub path: PathBuf,
    /// The directory, free of symbolic links.
    directory: PathBuf,
    /// The file to replace: `path`, or what it points to if it is a symbolic link.
    file: PathBuf,
}

/// A path to which an image can be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// The path.
    pub destination: Destination,
    /// The format implied by its extension.
    pub format: Format,
}

/// Why no file can be written to a path. Its message is a whole sentence that names the path.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("output \"{}\": {reason}", path.display())]
pub struct TargetError {
    path: PathBuf,
    /// The reason, to follow the path.
    pub reason: String,
}

impl TargetError {
    fn new(path: &Path, reason: impl fmt::Display) -> Self {
        Self { path: path.to_owned(), reason: reason.to_string() }
    }
}

/// A file that could not be written. Its message is a whole sentence that names the path.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("output \"{}\": cannot be written: {reason}", path.display())]
pub struct WriteError {
    path: PathBuf,
    reason: String,
}

impl WriteError {
    /// The error of writing to `path`, with its reason.
    pub fn new(path: &Path, reason: &impl fmt::Display) -> Self {
        Self { path: path.to_owned(), reason: reason.to_string() }
    }
}

/// A file that was written.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct WrittenFile {
    /// Its path, as the user wrote it.
    pub path: String,
    /// Its size.
    pub bytes: usize,
    /// Number of pixels clamped to the range of the format.
    pub clamped_pixels: usize,
}

/// Prefix and suffix of temporary file names.
const PREFIX: &str = ".torrance-";
const SUFFIX: &str = ".tmp";

/// Whether a file name is that of a temporary file, which remains if the program is killed.
pub fn is_temporary(name: &str) -> bool {
    name.starts_with(PREFIX) && name.ends_with(SUFFIX)
}

/// The temporary files being written, which [`discard_unfinished`] removes.
static UNFINISHED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

impl Target {
    /// Checks that an image can be written to `path`: that its format is known, and that files can be created in its
    /// directory.
    pub fn check(path: &Path) -> Result<Self, TargetError> {
        let format = Format::from_path(path).map_err(|e| TargetError::new(path, e))?;
        Ok(Self { destination: Destination::check(path)?, format })
    }
}

impl Destination {
    /// Checks that a file can be written to `path`.
    pub fn check(path: &Path) -> Result<Self, TargetError> {
        let refused = |reason: &dyn fmt::Display| TargetError::new(path, reason);
        let name = path.as_os_str().as_encoded_bytes();
        if (name.ends_with(b"/") || name.ends_with(b"/.")) && !path.is_dir() {
            return Err(refused(&"names a folder, since it ends in a slash; a file is expected"));
        }
        match fs::metadata(path) {
            Ok(m) if m.is_dir() => return Err(refused(&"is a directory")),
            Ok(m) if !m.is_file() => return Err(refused(&"exists and is not a regular file")),
            Ok(m) if m.permissions().readonly() => return Err(refused(&"exists and is write-protected")),
            Ok(_) => {}
            Err(e) if matches!(e.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {}
            Err(e) => return Err(refused(&e)),
        }
        let file = match fs::read_link(path) {
            Ok(_) => fs::canonicalize(path)
                .map_err(|e| refused(&format_args!("is a symbolic link that leads nowhere: {e}")))?,
            Err(_) => path.to_path_buf(),
        };
        let parent = match file.parent() {
            Some(p) if !p.as_os_str().is_empty() => p,
            _ => Path::new("."),
        };
        let shown = format!("\"{}\"", parent.display());
        let directory = fs::canonicalize(parent).map_err(|e| match e.kind() {
            io::ErrorKind::NotFound if parent.is_relative() && std::env::current_dir().is_err() => {
                refused(&"the current folder has been deleted; change to another")
            }
            io::ErrorKind::NotFound => {
                refused(&format_args!("directory {shown} does not exist; create it first"))
            }
            _ => refused(&format_args!("directory {shown}: {e}")),
        })?;
        if !directory.is_dir() {
            return Err(refused(&format_args!("{shown} is not a directory")));
        }
        let name = file.file_name().ok_or_else(|| refused(&"has no file name"))?;
        let place = Self { path: path.into(), file: directory.join(name), directory };
        place.temporary().map_err(|e| {
            // `tempfile` adds the name that it tried, which says nothing to a user.
            let text = e.to_string();
            let text = text.split(" at path ").next().unwrap_or(&text);
            refused(&format_args!("cannot create files in {shown}: {text}"))
        })?;
        Ok(place)
    }

    /// Whether both refer to the same file.
    pub fn is_same_file(&self, other: &Self) -> bool {
        self.file == other.file
    }

    /// Whether `path` refers to that file.
    pub fn is_file(&self, path: &Path) -> bool {
        fs::canonicalize(path).is_ok_and(|path| path == self.file)
    }

    /// Whether `path`, free of symbolic links, is that file or would lie below it if it were a folder.
    pub fn is_above(&self, path: &Path) -> bool {
        path.starts_with(&self.file)
    }

    /// The name of the file, if it is directly in `folder`.
    pub fn name_in(&self, folder: &Path) -> Option<&str> {
        let is_there = fs::canonicalize(folder).is_ok_and(|folder| folder == self.directory);
        self.file.file_name()?.to_str().filter(|_| is_there)
    }

    /// Fails if the file is one of `files`, which are free of symbolic links and read by `reader`, such as "the scene".
    pub fn spare(&self, files: &BTreeSet<PathBuf>, reader: &str) -> Result<(), TargetError> {
        if files.contains(&self.file) {
            return Err(TargetError::new(&self.path, format_args!("is a file that {reader} reads")));
        }
        Ok(())
    }

    /// [`Destination::replace`], with the path in errors.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn write(&self, bytes: &[u8]) -> Result<WrittenFile, WriteError> {
        self.replace(bytes).map_err(|e| WriteError::new(&self.path, &e))?;
        Ok(WrittenFile { path: self.path.display().to_string(), bytes: bytes.len(), clamped_pixels: 0 })
    }

    /// Writes what an encoder has made, or says why it has made nothing.
    ///
    /// # Errors
    /// There is nothing to write, or it cannot be written.
    pub fn write_encoded(
        &self,
        encoded: Result<impl AsRef<[u8]>, impl fmt::Display>,
    ) -> Result<WrittenFile, WriteError> {
        self.write(encoded.map_err(|e| WriteError::new(&self.path, &e))?.as_ref())
    }

    /// An empty file in the directory, removed when dropped, with the permissions that a new file has.
    fn temporary(&self) -> io::Result<tempfile::NamedTempFile> {
        let mut builder = tempfile::Builder::new();
        builder.prefix(PREFIX).suffix(SUFFIX);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            builder.permissions(fs::Permissions::from_mode(0o666));
        }
        builder.tempfile_in(&self.directory)
    }

    /// Replaces the file: writes `bytes` to a temporary file beside it, syncs it to disk, and renames it. On failure a
    /// previous file stays as it was.
    pub fn replace(&self, bytes: &[u8]) -> io::Result<()> {
        let (mut temporary, name) = {
            // None that nobody would remove is made in between.
            let mut unfinished = unfinished();
            let temporary = self.temporary()?;
            let name = temporary.path().to_owned();
            unfinished.insert(name.clone());
            (temporary, name)
        };
        let written = (|| {
            if let Ok(previous) = fs::metadata(&self.file) {
                temporary.as_file().set_permissions(previous.permissions())?;
            }
            temporary.write_all(bytes)?;
            temporary.as_file().sync_all()?;
            temporary.persist(&self.file).map_err(|e| e.error)
        })();
        unfinished().remove(&name);
        written?;
        // The rename itself must survive a crash too; not every file system can be asked.
        if let Ok(directory) = fs::File::open(&self.directory) {
            let _ = directory.sync_all();
        }
        Ok(())
    }
}

fn unfinished() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes the temporary files that are being written, if any, for a program that is about to exit. Threads that begin
/// another one afterwards block until then.
pub fn discard_unfinished() {
    let unfinished = unfinished();
    for path in &*unfinished {
        let _ = fs::remove_file(path);
    }
    std::mem::forget(unfinished);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reason(path: &Path) -> String {
        Target::check(path).unwrap_err().to_string()
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect()
    }

    #[test]
    fn places_where_nothing_can_be_written() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("file"), "").unwrap();
        fs::create_dir(at("folder.png")).unwrap();
        assert!(reason(&at("none/x.png")).ends_with("none\" does not exist; create it first"));
        assert!(reason(&at("file/x.png")).ends_with("file\" is not a directory"));
        assert!(reason(&at("folder.png")).ends_with("folder.png\": is a directory"));
        assert!(reason(&at("x.jpg")).contains("did you mean .png?"));
        for name in ["x.png/", "file/", "none/x.png//", "x.png/."] {
            assert!(Destination::check(&at(name)).unwrap_err().reason.contains("ends in a slash"), "{name}");
        }
        assert!(reason(Path::new("")).contains("needs an extension"));
        assert!(reason(&at(&format!("{}.png", "x".repeat(300)))).contains("too long"));
        assert!(Target::check(&at("x.png")).is_ok());
        assert_eq!(names(folder.path()).len(), 2, "a check leaves nothing behind");
    }

    #[test]
    fn a_file_is_replaced_as_a_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.png");
        let target = Target::check(&path).unwrap();
        for contents in [&b"first"[..], b"second, and longer", b""] {
            target.destination.replace(contents).unwrap();
            assert_eq!(fs::read(&path).unwrap(), contents);
            assert_eq!(names(folder.path()), ["x.png"]);
        }
    }

    #[test]
    fn the_same_file_is_recognised_whatever_its_path() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("a")).unwrap();
        let check = |name: &str| Destination::check(&folder.path().join(name)).unwrap();
        assert!(check("x.png").is_same_file(&check("a/../x.png")));
        assert!(!check("x.png").is_same_file(&check("a/x.png")));
    }

    #[cfg(unix)]
    #[test]
    fn links_and_permissions_stay() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("real.png"), "old").unwrap();
        fs::set_permissions(at("real.png"), fs::Permissions::from_mode(0o640)).unwrap();
        symlink("real.png", at("link.png")).unwrap();
        symlink("nowhere/x.png", at("lost.png")).unwrap();
        Destination::check(&at("link.png")).unwrap().replace(b"new").unwrap();
        assert!(fs::symlink_metadata(at("link.png")).unwrap().is_symlink());
        assert_eq!(fs::read(at("real.png")).unwrap(), b"new");
        assert_eq!(fs::metadata(at("real.png")).unwrap().permissions().mode() & 0o777, 0o640);
        assert!(reason(&at("lost.png")).contains("symbolic link"));

        fs::File::create(at("plain")).unwrap();
        Destination::check(&at("new.png")).unwrap().replace(b"new").unwrap();
        let mode = |name| fs::metadata(at(name)).unwrap().permissions().mode();
        assert_eq!(mode("new.png"), mode("plain"), "as any other new file");
        fs::set_permissions(at("new.png"), fs::Permissions::from_mode(0o444)).unwrap();
        assert!(reason(&at("new.png")).contains("write-protected"));
    }
}
