//! Images that could not be written where they should: kept elsewhere rather than lost.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::{env, io};

/// Beginning of the names of what is kept.
const PREFIX: &str = "torrance-rescued-";

/// Writes what was to be the file `path` to the first folder that takes it: the one for temporary files, the one for
/// temporary files that survive a restart, home, the working folder. Its name there ends in that of `path`.
///
/// # Errors
/// No folder takes it: the reason of the first.
pub fn rescue(path: &Path, bytes: &[u8]) -> io::Result<PathBuf> {
    in_first(|folder| write(folder, path, bytes))
}

/// A new folder that stands in for the folder `path`, where [`rescue`] would put a file.
///
/// # Errors
/// As [`rescue`].
pub fn rescue_folder(path: &Path) -> io::Result<PathBuf> {
    let suffix = suffix(path.file_name().unwrap_or_default());
    let folder = |parent: &Path| tempfile::Builder::new().prefix(PREFIX).suffix(&suffix).tempdir_in(parent);
    in_first(|parent| folder(parent).map(tempfile::TempDir::keep))
}

/// What `make` makes in the first folder where it can.
fn in_first(make: impl Fn(&Path) -> io::Result<PathBuf>) -> io::Result<PathBuf> {
    let folders = [Some(env::temp_dir()), Some("/var/tmp".into()), env::home_dir(), env::current_dir().ok()];
    let mut first = None;
    for folder in folders.into_iter().flatten() {
        match make(&folder) {
            Ok(kept) => return Ok(kept),
            Err(error) => drop(first.get_or_insert(error)),
        }
    }
    Err(first.unwrap_or_else(|| io::ErrorKind::NotFound.into()))
}

fn write(folder: &Path, path: &Path, bytes: &[u8]) -> io::Result<PathBuf> {
    let name = path.file_name().unwrap_or_default();
    let mut file = tempfile::Builder::new().prefix(PREFIX).suffix(&suffix(name)).tempfile_in(folder)?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    let (_, kept) = file.keep().map_err(|error| error.error)?;
    Ok(kept)
}

/// `-NAME`, or the end of a name that is long.
fn suffix(name: &std::ffi::OsStr) -> String {
    const LONGEST: usize = 100;
    let name = name.to_string_lossy();
    let start = name.char_indices().rev().take(LONGEST).last().map_or(0, |(at, _)| at);
    format!("-{}", &name[start..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_short_and_keep_their_extension() {
        assert_eq!(suffix("a.png".as_ref()), "-a.png");
        let long = suffix(format!("{}.png", "ü".repeat(300)).as_ref());
        assert!(long.ends_with("ü.png") && long.chars().count() == 101, "{long}");
    }

    #[test]
    fn it_is_written_whole_and_stays() {
        let kept = rescue(Path::new("no/such/folder/a.pfm"), b"image").unwrap();
        assert!(kept.to_string_lossy().ends_with("-a.pfm"), "{kept:?}");
        assert_eq!(std::fs::read(&kept).unwrap(), b"image");
        std::fs::remove_file(kept).unwrap();
    }

    #[test]
    fn a_folder_stands_in_for_one() {
        let kept = rescue_folder(Path::new("no/such/sheet.png.parts")).unwrap();
        assert!(kept.is_dir() && kept.to_string_lossy().ends_with("-sheet.png.parts"), "{kept:?}");
        std::fs::remove_dir(kept).unwrap();
    }

    #[test]
    fn a_folder_that_takes_nothing_is_told() {
        assert!(write(Path::new("/no/such/folder"), Path::new("a.pfm"), b"image").is_err());
    }
}
