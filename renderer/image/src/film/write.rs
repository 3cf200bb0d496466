//! Atomic file writing: a reader sees either the complete old file or the complete new one.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::TryLockError;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;
use std::{fmt, fs};

use tempfile::{NamedTempFile, TempPath};

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

/// Age at which a temporary file is abandoned if its sign is not locked: longer than there is between creating and locking.
const YOUNG: Duration = Duration::from_secs(10);
/// Age at which one is abandoned that cannot be locked.
const OLD: Duration = Duration::from_secs(24 * 60 * 60);

/// Folders that [`remove_abandoned`] has been through.
static CLEANED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// Removes temporary files from a folder whose programs were killed; once, however many files are written there.
fn remove_abandoned(folder: &Path) {
    if !CLEANED.lock().unwrap_or_else(PoisonError::into_inner).insert(folder.to_owned()) {
        return;
    }
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if is_temporary(&entry.file_name().to_string_lossy()) && is_abandoned(&entry.path()).unwrap_or(false)
        {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Whether nobody writes a temporary file any more.
fn is_abandoned(path: &Path) -> io::Result<bool> {
    let metadata = fs::symlink_metadata(path)?;
    let age = metadata.modified()?.elapsed().unwrap_or_default();
    if !metadata.is_file() || age < YOUNG {
        return Ok(false);
    }
    let sign = match fs::File::open(sign_of(path)) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(true),
        opened => opened?,
    };
    Ok(match sign.try_lock() {
        Ok(()) => true,
        Err(TryLockError::WouldBlock) => false,
        Err(TryLockError::Error(_)) => age > OLD,
    })
}

/// The sign of a temporary file: itself, or of .torrance-SIGN-NAME.tmp, .torrance-SIGN.tmp.
fn sign_of(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let sign = name.strip_prefix(PREFIX).and_then(|rest| rest.split_once('-'));
    sign.map_or_else(|| path.to_owned(), |(sign, _)| path.with_file_name(format!("{PREFIX}{sign}{SUFFIX}")))
}

/// The sign that this program writes into a folder: a file that stays locked as long as something is unfinished there,
/// however many files that are. Their names begin with its.
#[derive(Debug)]
struct Sign {
    // Removed before the lock goes.
    file: TempPath,
    _locked: fs::File,
    _registered: Registered,
}

/// The signs in folders.
static SIGNS: Mutex<BTreeMap<PathBuf, Weak<Sign>>> = Mutex::new(BTreeMap::new());

impl Sign {
    /// The sign in a folder.
    fn of(folder: &Path) -> io::Result<Arc<Self>> {
        let mut signs = SIGNS.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(sign) = signs.get(folder).and_then(Weak::upgrade) {
            return Ok(sign);
        }
        // None that nobody would remove is made in between.
        let mut unfinished = unfinished();
        let (locked, file) = temporary_in(folder, PREFIX)?.into_parts();
        // Where files cannot be locked, its age protects it.
        let _ = locked.try_lock();
        let registered = registered(&mut unfinished, &file);
        let sign = Arc::new(Self { file, _locked: locked, _registered: registered });
        signs.insert(folder.to_owned(), Arc::downgrade(&sign));
        Ok(sign)
    }

    /// What the names of its files begin with.
    fn prefix(&self) -> String {
        let name = self.file.file_name().unwrap_or_default().to_string_lossy();
        format!("{}-", name.strip_suffix(SUFFIX).unwrap_or(&name))
    }
}

/// An empty file in a folder, removed when dropped, with the permissions that a new file has.
fn temporary_in(folder: &Path, prefix: &str) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(prefix).suffix(SUFFIX);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    builder.tempfile_in(folder)
}

/// Whether a file name is that of a temporary file, which remains if the program is killed.
pub fn is_temporary(name: &str) -> bool {
    name.starts_with(PREFIX) && name.ends_with(SUFFIX)
}

/// The temporary files and the new folders of what is being written, which [`discard_unfinished`] removes.
static UNFINISHED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// Something that [`discard_unfinished`] removes as long as this lives.
#[derive(Debug)]
struct Registered(PathBuf);

impl Drop for Registered {
    fn drop(&mut self) {
        unfinished().remove(&self.0);
    }
}

/// A file that is written beside its place, and removed when dropped.
#[derive(Debug)]
pub struct UnfinishedFile {
    destination: Destination,
    temporary: TempPath,
    bytes: usize,
    // Dropped after the file.
    registered: Registered,
    /// Says that somebody is about to finish it.
    sign: Arc<Sign>,
}

/// The file that was at a place before.
#[derive(Debug)]
struct Previous {
    temporary: TempPath,
    registered: Registered,
}

/// A folder that was made for files, and is removed when dropped if it is empty.
#[derive(Debug)]
pub struct NewFolder(Registered);

impl NewFolder {
    /// Makes a folder; nothing if it is there.
    ///
    /// # Errors
    /// It cannot be made.
    pub fn make(path: &Path) -> io::Result<Option<Self>> {
        let mut unfinished = unfinished();
        match fs::create_dir(path) {
            Ok(()) => Ok(Some(Self(registered(&mut unfinished, path)))),
            Err(_) if path.is_dir() => Ok(None),
            Err(e) => Err(e),
        }
    }
}

impl Drop for NewFolder {
    fn drop(&mut self) {
        let _ = fs::remove_dir(&self.0.0);
    }
}

impl Target {
    /// Checks that an image can be written to `path`: that its format is known, and that files can be created in its
    /// directory.
    pub fn check(path: &Path) -> Result<Self, TargetError> {
        let format = Format::from_path(path).map_err(|e| TargetError::new(path, e))?;
        Ok(Self { destination: Destination::check(path)?, format })
    }

    /// Checks that a file of this format can have an image of this width and height, pixels.
    pub fn check_size(&self, [width, height]: [u32; 2]) -> Result<(), TargetError> {
        match self.format.largest() {
            Some(most) if width.max(height) > most => Err(TargetError::new(
                &self.destination.path,
                format_args!(
                    "the image has {width}×{height} pixels, and .{} files at most {most}×{most}; use .png or .jxl",
                    self.format.extension()
                ),
            )),
            _ => Ok(()),
        }
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
        remove_abandoned(&place.directory);
        temporary_in(&place.directory, PREFIX).map_err(|e| {
            // `tempfile` adds the name that it tried, which says nothing to a user.
            let text = e.to_string();
            let text = text.split(" at path ").next().unwrap_or(&text);
            refused(&format_args!("cannot create files in {shown}: {text}"))
        })?;
        Ok(place)
    }

    /// The file that would be replaced, in a directory free of symbolic links.
    pub fn file(&self) -> &Path {
        &self.file
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

    /// A place in the same folder for an image that must not replace the file: NAME.interrupted.EXTENSION, or with the first
    /// number that `is_free` or may be replaced by its account.
    ///
    /// # Errors
    /// No file can be written there.
    pub fn beside(&self, is_free: impl Fn(&Path) -> bool) -> Result<Self, TargetError> {
        let [stem, extension] = [self.path.file_stem(), self.path.extension()]
            .map(|part| part.unwrap_or_default().to_string_lossy().into_owned());
        let numbers = std::iter::once(String::new()).chain((2..).map(|n: u32| format!("-{n}")));
        let mut names =
            numbers.map(|n| self.path.with_file_name(format!("{stem}.interrupted{n}.{extension}")));
        Self::check(&names.find(|path| is_free(path)).unwrap_or_default())
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

    /// Writes `bytes` to a temporary file beside the file and syncs it to disk, for [`UnfinishedFile::commit`] or
    /// [`commit_all`] to put it into its place.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn prepare(&self, bytes: &[u8]) -> io::Result<UnfinishedFile> {
        self.prepare_with(|file| file.write_all(bytes))
    }

    /// As [`Destination::prepare`], of what `write` writes.
    ///
    /// # Errors
    /// Those of `write`, or it cannot be written.
    fn prepare_with(
        &self,
        write: impl FnOnce(&mut fs::File) -> io::Result<()>,
    ) -> io::Result<UnfinishedFile> {
        let sign = Sign::of(&self.directory)?;
        let (registered, mut temporary) = {
            // None that nobody would remove is made in between.
            let mut unfinished = unfinished();
            let temporary = temporary_in(&self.directory, &sign.prefix())?;
            (registered(&mut unfinished, temporary.path()), temporary)
        };
        if let Ok(previous) = fs::metadata(&self.file) {
            temporary.as_file().set_permissions(previous.permissions())?;
        }
        write(temporary.as_file_mut())?;
        temporary.as_file().sync_all()?;
        let bytes = temporary.as_file().metadata()?.len() as usize;
        let (destination, temporary) = (self.clone(), temporary.into_temp_path());
        Ok(UnfinishedFile { destination, temporary, bytes, registered, sign })
    }

    /// [`Destination::prepare`], with the path in errors, for what an encoder has made.
    ///
    /// # Errors
    /// There is nothing to write, or it cannot be written.
    pub fn prepare_encoded(
        &self,
        encoded: Result<impl AsRef<[u8]>, impl fmt::Display>,
    ) -> Result<UnfinishedFile, WriteError> {
        let bytes = encoded.map_err(|e| WriteError::new(&self.path, &e))?;
        self.prepare(bytes.as_ref()).map_err(|e| WriteError::new(&self.path, &e))
    }

    /// Replaces the file: writes `bytes` to a temporary file beside it, syncs it to disk, and renames it. On failure a
    /// previous file stays as it was.
    pub fn replace(&self, bytes: &[u8]) -> io::Result<()> {
        self.prepare(bytes)?.commit()
    }

    /// As [`Destination::replace`], with what `write` writes.
    ///
    /// # Errors
    /// Those of `write`, or it cannot be written.
    pub fn replace_with(&self, write: impl FnOnce(&mut fs::File) -> io::Result<()>) -> io::Result<()> {
        self.prepare_with(write)?.commit()
    }

    /// The file that is there, once more beside its place; nothing if there is none.
    fn previous(&self, sign: &Sign) -> io::Result<Option<Previous>> {
        let mut unfinished = unfinished();
        let again = |path: &Path| match fs::hard_link(&self.file, path) {
            // Not all file systems have links.
            Err(_) => fs::copy(&self.file, path).map(drop),
            linked => linked,
        };
        let prefix = sign.prefix();
        let made = tempfile::Builder::new().prefix(&prefix).suffix(SUFFIX).make_in(&self.directory, again);
        match made {
            Ok(made) => {
                let temporary = made.into_temp_path();
                let registered = registered(&mut unfinished, &temporary);
                Ok(Some(Previous { temporary, registered }))
            }
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(e) => Err(e),
        }
    }

    /// Undoes that a file was put here where `previous` was.
    fn restore(&self, previous: Option<TempPath>) -> io::Result<()> {
        match previous {
            Some(previous) => previous.persist(&self.file).map_err(|e| e.error),
            None => fs::remove_file(&self.file),
        }
    }

    /// Syncs the directory: renames must survive a crash too. Not every file system can be asked.
    fn sync_directory(&self) {
        if let Ok(directory) = fs::File::open(&self.directory) {
            let _ = directory.sync_all();
        }
    }
}

impl UnfinishedFile {
    /// Where it is until it is in its place.
    pub fn path(&self) -> &Path {
        &self.temporary
    }

    /// Its size.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Puts the file into its place.
    ///
    /// # Errors
    /// It cannot be; a previous file stays as it was.
    pub fn commit(self) -> io::Result<()> {
        let Self { destination, temporary, registered: _registered, sign: _sign, .. } = self;
        temporary.persist(&destination.file).map_err(|e| e.error)?;
        destination.sync_directory();
        Ok(())
    }
}

/// Puts files into their places, in this order and all or none: if one cannot be, those before it are again what they were.
///
/// # Errors
/// One of them cannot be.
pub fn commit_all(files: Vec<UnfinishedFile>) -> Result<(), WriteError> {
    let failed = |place: &Destination, e: &io::Error| WriteError::new(&place.path, e);
    // Dropped last: names, and the signs of their folders.
    let (mut signs, mut names, mut waiting) = (Vec::new(), Vec::new(), Vec::new());
    let count = files.len();
    for (UnfinishedFile { destination, temporary, registered, sign, .. }, i) in files.into_iter().zip(1..) {
        names.push(registered);
        // Nothing after the last one could fail.
        let previous = if i < count { destination.previous(&sign) } else { Ok(None) };
        signs.push(sign);
        let previous =
            previous.map_err(|e| failed(&destination, &e))?.map(|Previous { temporary, registered }| {
                names.push(registered);
                temporary
            });
        waiting.push((destination, temporary, previous));
    }
    // A program that is about to exit does so before or after all of them.
    let unfinished = unfinished();
    let mut done = Vec::new();
    let mut outcome = Ok(());
    for (destination, temporary, previous) in waiting {
        if let Err(e) = temporary.persist(&destination.file) {
            outcome = Err(failed(&destination, &e.error));
            break;
        }
        done.push((destination, previous));
    }
    if outcome.is_err() {
        for (destination, previous) in done.into_iter().rev() {
            let _ = destination.restore(previous);
        }
    } else {
        done.iter().for_each(|(destination, _)| destination.sync_directory());
    }
    drop(unfinished);
    outcome
}

/// Has [`discard_unfinished`] remove what is at a path.
fn registered(unfinished: &mut BTreeSet<PathBuf>, path: &Path) -> Registered {
    unfinished.insert(path.to_owned());
    Registered(path.to_owned())
}

fn unfinished() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes the temporary files that are being written, if any, and new folders that have nothing else, for a program that is
/// about to exit. Threads that begin another one afterwards block until then.
pub fn discard_unfinished() {
    let unfinished = unfinished();
    // What is in a folder comes after it.
    for path in unfinished.iter().rev() {
        let _ = fs::remove_file(path).or_else(|_| fs::remove_dir(path));
    }
    std::mem::forget(unfinished);
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

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
        assert!(reason(&at("x.bmp")).contains("did you mean .png?"));
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
    fn what_a_killed_program_left_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let age = |name: &str, seconds| {
            let file = fs::File::create(at(name)).unwrap();
            file.set_modified(SystemTime::now() - Duration::from_secs(seconds)).unwrap();
            file
        };
        age(".torrance-young.tmp", 1);
        age(".torrance-left.tmp", 60);
        age("torrance-other.tmp", 60);
        let held = age(".torrance-held.tmp", 60);
        held.lock().unwrap();
        age(".torrance-held-a.tmp", 60);
        age(".torrance-gone-a.tmp", 60);
        Destination::check(&at("x.png")).unwrap();
        let mut there = names(folder.path());
        there.sort();
        let expected =
            [".torrance-held-a.tmp", ".torrance-held.tmp", ".torrance-young.tmp", "torrance-other.tmp"];
        assert_eq!(there, expected);
    }

    #[test]
    fn files_are_replaced_together_or_not_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let contents = || {
            let read = |name: String| (fs::read(at(&name)).unwrap_or_default(), name);
            let mut all: Vec<_> = names(folder.path()).into_iter().map(read).collect();
            all.sort();
            all
        };
        let prepare = |name: &str| {
            let prepared = Destination::check(&at(name)).unwrap().prepare(b"new").unwrap();
            assert_eq!(fs::read(prepared.path()).unwrap(), b"new");
            prepared
        };
        fs::write(at("a"), "old").unwrap();
        let before = contents();
        // Dropped, they leave nothing.
        drop([prepare("a"), prepare("b")]);
        assert_eq!(contents(), before);
        // The last cannot be put where a folder has come to be.
        let files = vec![prepare("a"), prepare("b"), prepare("c")];
        fs::create_dir(at("c")).unwrap();
        let error = commit_all(files).unwrap_err().to_string();
        assert!(error.contains("/c\": cannot be written: "), "{error}");
        fs::remove_dir(at("c")).unwrap();
        assert_eq!(contents(), before);

        commit_all(vec![prepare("a"), prepare("b")]).unwrap();
        assert_eq!(contents(), ["a", "b"].map(|name| (b"new".to_vec(), name.to_owned())));
        assert!(unfinished().iter().all(|path| !path.starts_with(folder.path())));
    }

    #[test]
    fn folders_go_if_nothing_comes_to_be_in_them() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("files");
        for is_kept in [false, true] {
            let made = NewFolder::make(&path).unwrap();
            assert!(made.is_some() && NewFolder::make(&path).unwrap().is_none());
            if is_kept {
                fs::write(path.join("x"), "").unwrap();
            }
            drop(made);
            assert_eq!(path.exists(), is_kept);
        }
        assert!(NewFolder::make(&path.join("x")).is_err());
        assert!(NewFolder::make(&path.join("none/x")).is_err());
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
