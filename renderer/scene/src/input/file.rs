//! Files that users name.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::Duration;

use torrance_text::{human_bytes, nearest, quoted_path};

use super::problem::{Error, Problem, io_reason};

/// Why a file cannot be read, to follow "cannot read …:".
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// It has more bytes than this.
    #[error("it is larger than {}", human_bytes((*.0).into()))]
    TooLarge(u64),
    /// It is a device, a pipe, or the like.
    #[error("it is not a regular file")]
    NotRegular,
    /// It is a pipe that nothing writes into.
    #[error("it is a pipe, and nothing has begun to write into it in {} s", .0.as_secs_f64())]
    Silent(Duration),
    /// The system's message, with the name of a similar file if the file does not exist.
    #[error("{0}")]
    System(String),
}

/// Most files of a folder among which a similar name is looked for.
pub(crate) const MOST_ENTRIES: usize = 1000;
/// How long a pipe with a name may wait for someone to write into it.
const PATIENCE: Duration = Duration::from_secs(5);

/// Reads a file. Devices and pipes are allowed, as long as they end, and someone begins to write into the pipe.
///
/// # Errors
/// [`ReadError`].
pub fn read_bounded(path: &Path, limit: u64) -> Result<Vec<u8>, ReadError> {
    read_patiently(path, limit, PATIENCE)
}

fn read_patiently(path: &Path, limit: u64, patience: Duration) -> Result<Vec<u8>, ReadError> {
    let mut bytes = Vec::new();
    let file = open_patiently(path, patience)?;
    match file.and_then(|f| f.take(limit + 1).read_to_end(&mut bytes)) {
        Ok(n) if n as u64 > limit => Err(ReadError::TooLarge(limit)),
        Ok(_) => Ok(bytes),
        Err(e) => Err(ReadError::System(unreadable(path, &e))),
    }
}

/// Opens a file. The system opens a pipe once someone has opened it for writing, and waits for ever for that.
fn open_patiently(path: &Path, patience: Duration) -> Result<std::io::Result<File>, ReadError> {
    if !std::fs::metadata(path).is_ok_and(|m| is_pipe(&m)) {
        return Ok(File::open(path));
    }
    let (opened, file) = sync_channel(1);
    let owned = path.to_owned();
    // If nobody comes it waits until the program ends.
    std::thread::spawn(move || opened.send(File::open(owned)));
    match file.recv_timeout(patience) {
        Ok(file) => Ok(file),
        Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => Err(ReadError::Silent(patience)),
    }
}

#[cfg(unix)]
fn is_pipe(metadata: &std::fs::Metadata) -> bool {
    std::os::unix::fs::FileTypeExt::is_fifo(&metadata.file_type())
}

#[cfg(not(unix))]
fn is_pipe(_: &std::fs::Metadata) -> bool {
    false
}

/// As [`read_bounded`], for files that other files name: only regular ones.
///
/// # Errors
/// [`ReadError`].
pub fn read_regular(path: &Path, limit: u64) -> Result<Vec<u8>, ReadError> {
    open_regular(path, limit)?;
    read_bounded(path, limit)
}

/// Opens a file and returns its length. Devices and pipes are rejected before they are opened, since they may block.
///
/// # Errors
/// [`ReadError`].
pub fn open_regular(path: &Path, limit: u64) -> Result<(File, u64), ReadError> {
    let unreadable = |e| ReadError::System(unreadable(path, &e));
    let metadata = std::fs::metadata(path).map_err(unreadable)?;
    if metadata.is_dir() {
        return Err(unreadable(std::io::ErrorKind::IsADirectory.into()));
    }
    if !metadata.is_file() {
        return Err(ReadError::NotRegular);
    }
    if metadata.len() > limit {
        return Err(ReadError::TooLarge(limit));
    }
    Ok((File::open(path).map_err(unreadable)?, metadata.len()))
}

/// Decodes the contents of `file` as text.
pub fn text_of<'a>(file: &str, bytes: &'a [u8]) -> Result<&'a str, Error> {
    // Editors on Windows like to begin files with a byte order mark.
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    std::str::from_utf8(bytes).map_err(|e| not_utf8(file, bytes, e.valid_up_to()).into())
}

fn not_utf8(file: &str, bytes: &[u8], at: usize) -> Problem {
    let text = String::from_utf8_lossy(bytes);
    let byte = bytes.get(at).copied().unwrap_or_default();
    // Everything before the first bad byte is unchanged, and the replacement character is three bytes.
    Problem::at(file, &text, at..at + 3, format!("not UTF-8: the byte 0x{byte:02x} begins no character"))
        .with_help("save the file with the encoding UTF-8")
}

/// The reason why a file cannot be read, with the name of a similar one if it does not exist.
pub fn unreadable(path: &Path, error: &std::io::Error) -> String {
    let reason = io_reason(error);
    if error.kind() != std::io::ErrorKind::NotFound {
        return reason;
    }
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let Ok(entries) = std::fs::read_dir(folder) else {
        return format!("there is no folder {}", quoted_path(folder));
    };
    // Only the stem is compared: the extension is alike anyway, and would make short names look near.
    let same_kind = |p: &Path| p.extension() == path.extension();
    // A scene may name many files that do not exist, in a folder of many.
    let entries = entries.take(MOST_ENTRIES).flatten();
    let mut names: Vec<_> = entries.map(|e| PathBuf::from(e.file_name())).filter(|p| same_kind(p)).collect();
    names.sort();
    let stem = |p: &'_ Path| p.file_stem().and_then(|s| s.to_str()).map(str::to_owned);
    let stems: Vec<_> = names.iter().filter_map(|p| stem(p)).collect();
    let near = stem(path).and_then(|wanted| nearest(&wanted, stems.iter().map(String::as_str)));
    match near.and_then(|near| names.iter().find(|p| stem(p).as_deref() == Some(near))) {
        Some(near) => format!("{reason}; did you mean {}?", quoted_path(near)),
        None => reason,
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::process::Command;
    use std::time::Instant;

    use super::*;

    fn pipe() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pipe");
        assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
        (folder, path)
    }

    #[test]
    fn pipes_that_nothing_writes_into_do_not_hang() {
        let (_folder, path) = pipe();
        let patience = Duration::from_millis(50);
        let start = Instant::now();
        let error = read_patiently(&path, 1000, patience).unwrap_err();
        assert!(start.elapsed() < Duration::from_secs(4));
        assert_eq!(error.to_string(), "it is a pipe, and nothing has begun to write into it in 0.05 s");
    }

    #[test]
    fn pipes_are_read_to_their_end_however_long_that_takes() {
        let (_folder, path) = pipe();
        let writer = path.clone();
        let writer = std::thread::spawn(move || {
            use std::io::Write;
            std::thread::sleep(Duration::from_millis(20));
            let mut pipe = File::options().write(true).open(writer).unwrap();
            for _ in 0..3 {
                std::thread::sleep(Duration::from_millis(400));
                pipe.write_all(b"abc").unwrap();
            }
        });
        let read = read_patiently(&path, 1000, Duration::from_secs(1));
        writer.join().unwrap();
        assert_eq!(read, Ok(b"abc".repeat(3)));
    }
}
