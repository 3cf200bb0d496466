//! Machine code that has been compiled before: a file for each kernel, named after all that it follows from. What the driver compiles is
//! kept in the user's folder of caches; what was compiled elsewhere may be in a folder beside the program.

use std::fs::{self, File, FileTimes};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::SystemTime;

use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use sha2::{Digest, Sha256};

/// Most bytes of a cache.
const MOST: u64 = 256 << 20;

/// What files begin with.
const MAGIC: &[u8] = b"torrance machine code 1\n";

/// The variable of the environment that names the folder, or is `off`.
pub const CACHE_VARIABLE: &str = "TORRANCE_CACHE";

/// Where to look, as far as anybody has said.
static FOLDER: Mutex<Option<Option<PathBuf>>> = Mutex::new(None);

/// From here on, machine code of GPUs is kept in `folder`, or nowhere. Back ends that are there already go on as before.
pub fn keep_kernels_in(folder: Option<PathBuf>) {
    *FOLDER.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = Some(folder);
}

/// The folder of the machine code: what was said, or the environment says, or else the user's folder of caches.
pub fn kernel_folder() -> Option<PathBuf> {
    let said = FOLDER.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).clone();
    said.unwrap_or_else(|| match std::env::var_os(CACHE_VARIABLE) {
        Some(off) if off == "off" || off.is_empty() => None,
        Some(folder) => Some(folder.into()),
        None => Some(dirs::cache_dir()?.join("torrance")),
    })
}

/// Bytes of the machine code that is kept.
pub fn kept_bytes() -> u64 {
    let files = kernel_folder().and_then(|folder| Cache::new(folder).files().ok());
    files.map_or(0, |files| files.iter().map(|(_, bytes, _)| bytes).sum())
}

/// Puts machine code for a compute capability, which some compiler made of `text`, into a folder that becomes
/// [`SHIPPED`]. Returns the bytes of the file.
///
/// # Errors
/// The file cannot be written.
pub fn ship(folder: &Path, capability: (u32, u32), text: &str, code: &[u8]) -> io::Result<u64> {
    let (cache, key) = (Cache::new(folder.to_owned()), Key::of_capability(capability, text));
    cache.write(&key, code)?;
    Ok(fs::metadata(folder.join(key.0))?.len())
}

/// The folder beside the program where it looks for machine code that was compiled elsewhere.
pub const SHIPPED: &str = "kernels";

/// A folder of machine code.
#[derive(Debug, Clone)]
pub(super) struct Cache {
    folder: PathBuf,
    most: u64,
}

/// The name of what follows from some texts.
pub(super) struct Key(String);

impl Key {
    pub(super) fn of<const N: usize>(texts: [&str; N]) -> Self {
        let mut hash = Sha256::new();
        for text in texts {
            hash.update((text.len() as u64).to_le_bytes());
            hash.update(text);
        }
        Self(format!("{:x}.cubin", hash.finalize()))
    }

    /// What runs on GPUs of a compute capability, and on later ones of the same major number.
    fn of_capability((major, minor): (u32, u32), text: &str) -> Self {
        Self::of([&format!("sm_{major}{minor}"), text])
    }
}

impl Cache {
    pub(super) fn new(folder: PathBuf) -> Self {
        Self { folder, most: MOST }
    }

    /// The folder beside the program, if there is one.
    pub(super) fn shipped() -> Option<Self> {
        let folder = std::env::current_exe().ok()?.parent()?.join(SHIPPED);
        folder.is_dir().then(|| Self::new(folder))
    }

    /// What was shipped of `text` that runs on GPUs of a compute capability.
    pub(super) fn get_for(&self, (major, minor): (u32, u32), text: &str) -> Option<Vec<u8>> {
        (0..=minor).rev().find_map(|minor| self.get(&Key::of_capability((major, minor), text)))
    }

    /// What was kept; `None` if there is nothing, or the file is not as it was written.
    pub(super) fn get(&self, key: &Key) -> Option<Vec<u8>> {
        let path = self.folder.join(&key.0);
        let bytes = fs::read(&path).ok()?;
        let at = bytes.len().checked_sub(Sha256::output_size())?;
        let packed = bytes[..at].strip_prefix(MAGIC)?;
        if Sha256::digest(packed)[..] != bytes[at..] {
            return None;
        }
        // What is used is kept longest.
        let _ = File::options().append(true).open(&path).and_then(|file| touch(&file));
        let mut code = Vec::new();
        ZlibDecoder::new(packed).read_to_end(&mut code).ok()?;
        Some(code)
    }

    /// Keeps `code`, and removes what has not been used for the longest time, if that is too much. It is no loss if that fails.
    pub(super) fn put(&self, key: &Key, code: &[u8]) {
        let _ = self.write(key, code).and_then(|()| self.make_room());
    }

    /// Writes a file beside the others, and renames it, so that other processes see it whole.
    fn write(&self, key: &Key, code: &[u8]) -> io::Result<()> {
        create_private(&self.folder)?;
        let mut packed = ZlibEncoder::new(Vec::new(), Compression::fast());
        packed.write_all(code)?;
        let packed = packed.finish()?;
        let mut file = tempfile::Builder::new().prefix(".new").tempfile_in(&self.folder)?;
        for part in [MAGIC, &packed, &Sha256::digest(&packed)] {
            file.write_all(part)?;
        }
        file.persist(self.folder.join(&key.0))?;
        Ok(())
    }

    /// When each file was last used, its length in bytes, and its place.
    fn files(&self) -> io::Result<Vec<(SystemTime, u64, PathBuf)>> {
        let about = |file: fs::DirEntry| {
            let (about, path) = (file.metadata().ok()?, file.path());
            let is_code = path.extension().is_some_and(|extension| extension == "cubin");
            is_code.then_some((about.modified().ok()?, about.len(), path))
        };
        Ok(fs::read_dir(&self.folder)?.flatten().filter_map(about).collect())
    }

    fn make_room(&self) -> io::Result<()> {
        let mut all = self.files()?;
        let mut bytes: u64 = all.iter().map(|(_, bytes, _)| bytes).sum();
        if bytes <= self.most {
            return Ok(());
        }
        all.sort();
        for (_, of_file, path) in all {
            if bytes <= self.most / 4 * 3 {
                break;
            }
            fs::remove_file(path)?;
            bytes -= of_file;
        }
        Ok(())
    }
}

fn touch(file: &File) -> io::Result<()> {
    file.set_times(FileTimes::new().set_modified(SystemTime::now()))
}

/// Makes a folder that nobody else can write to: what is in it runs.
fn create_private(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(text: &str) -> Key {
        Key::of([text, "8.6"])
    }

    #[test]
    fn code_is_found_again() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::new(folder.path().join("new").join("folder"));
        assert_eq!(cache.get(&key("a")), None, "no folder");
        cache.put(&key("a"), b"code of a");
        cache.put(&key("b"), b"");
        assert_eq!(cache.get(&key("a")).as_deref(), Some(&b"code of a"[..]));
        assert_eq!(cache.get(&key("b")).as_deref(), Some(&b""[..]));
        assert_eq!(cache.get(&Key::of(["a8", ".6"])), None, "the texts are apart");
        cache.put(&key("a"), b"anew");
        assert_eq!(cache.get(&key("a")).as_deref(), Some(&b"anew"[..]));
    }

    #[test]
    fn files_of_others_are_ignored() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::new(folder.path().to_owned());
        cache.put(&key("a"), b"some code");
        let path = folder.path().join(&key("a").0);
        let whole = fs::read(&path).unwrap();
        for at in 0..whole.len() {
            let mut wrong = whole.clone();
            wrong[at] ^= 1;
            fs::write(&path, &wrong).unwrap();
            assert_eq!(cache.get(&key("a")), None, "byte {at}");
            fs::write(&path, &whole[..at]).unwrap();
            assert_eq!(cache.get(&key("a")), None, "{at} bytes");
        }
        fs::write(&path, whole).unwrap();
        assert_eq!(cache.get(&key("a")).as_deref(), Some(&b"some code"[..]));
    }

    #[test]
    fn what_is_used_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let of_file = ship(folder.path(), (1, 0), "", &[7; 900]).unwrap();
        fs::remove_file(folder.path().join(Key::of_capability((1, 0), "").0)).unwrap();
        let cache = Cache { folder: folder.path().to_owned(), most: 4 * of_file };
        fs::write(folder.path().join("note.txt"), vec![0; 9000]).unwrap();
        let put = |name: &str, seconds: u64| {
            cache.put(&key(name), &[7; 900]);
            let file = File::options().append(true).open(folder.path().join(&key(name).0)).unwrap();
            file.set_modified(SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(seconds)).unwrap();
        };
        for (name, seconds) in [("a", 1), ("b", 2), ("c", 3), ("d", 4)] {
            put(name, seconds);
        }
        assert!(cache.get(&key("a")).is_some());
        put("e", 5);
        let kept = ["a", "b", "c", "d", "e"].map(|name| cache.get(&key(name)).is_some());
        assert_eq!(kept, [true, false, false, true, true], "down to three quarters");
        assert!(folder.path().join("note.txt").exists());
    }

    #[test]
    fn what_is_shipped_runs_on_later_minor_versions() {
        let folder = tempfile::tempdir().unwrap();
        let bytes = ship(folder.path(), (8, 6), "text", b"code").unwrap();
        assert!(bytes > 40, "{bytes}");
        let cache = Cache::new(folder.path().to_owned());
        let found = |capability| cache.get_for(capability, "text").as_deref() == Some(b"code");
        assert_eq!([(8, 6), (8, 9), (8, 0), (9, 0), (7, 6)].map(found), [true, true, false, false, false]);
        assert_eq!(cache.get_for((8, 6), "other"), None);
    }

    #[test]
    fn a_folder_that_cannot_be_written_is_no_loss() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, "").unwrap();
        let cache = Cache::new(file);
        cache.put(&key("a"), b"code");
        assert_eq!(cache.get(&key("a")), None);
    }
}
