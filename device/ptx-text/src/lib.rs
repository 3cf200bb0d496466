//! PTX as files that git stores well.
//!
//! **In** goes a module of PTX with canonical numbers (see [`numbers`]), **out** come a head, `NAME.rptx`, and below
//! `NAME/` a file for each kernel with the functions that follow it; and the other way round, byte for byte. In the files,
//! the numbers of registers and labels are relative: one more instruction changes its own line and a few behind it, not all
//! numbers to the end of its function. Git then stores a change as a small difference, and the same code in two kernels
//! once.
//!
//! ```
//! # fn main() -> Result<(), ptx_text::Error> {
//! let ptx = ".version 7.0\n.visible .entry one()\n{\n.reg .b32 %r<3>;\nmov.b32 %r0, 1;\nadd.s32 %r1, %r0, %r0;\nret;\n}\n";
//! let head = std::env::temp_dir().join("ptx-text-example.rptx");
//! ptx_text::write(&head, ptx)?;
//! assert_eq!(ptx_text::read(&head)?, ptx);
//! # Ok(())
//! # }
//! ```

pub mod numbers;

use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The extension of heads and of the files of kernels.
pub const EXTENSION: &str = "rptx";

/// In a head, the line that stands for a file. PTX has no lines that begin so.
const INCLUDE: &str = "#include \"";

/// A module that cannot be read or written.
#[derive(Debug)]
pub enum Error {
    /// The system refused.
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// The content is not a module in this form.
    Malformed {
        /// The head.
        path: PathBuf,
        /// The reason.
        problem: String,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io { path, source } => write!(f, "{}: {source}", path.display()),
            Self::Malformed { path, problem } => write!(f, "{}: {problem}", path.display()),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io { source, .. } => Some(source),
            Self::Malformed { .. } => None,
        }
    }
}

impl Error {
    fn io(path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { path: path.to_owned(), source }
    }

    fn malformed(path: &Path, problem: impl Into<String>) -> Self {
        Self::Malformed { path: path.to_owned(), problem: problem.into() }
    }
}

/// The heads in a folder, in the order of their names.
///
/// # Errors
/// The folder cannot be read.
pub fn heads(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let entries = fs::read_dir(folder).and_then(Iterator::collect::<io::Result<Vec<_>>>);
    let paths = entries.map_err(Error::io(folder))?.into_iter().map(|entry| entry.path());
    let mut heads: Vec<_> =
        paths.filter(|path| path.is_file() && path.extension().is_some_and(|e| e == EXTENSION)).collect();
    heads.sort();
    Ok(heads)
}

/// The module whose head this is.
///
/// # Errors
/// A file is absent, or is not as [`write()`] leaves it.
pub fn read(head: &Path) -> Result<String, Error> {
    let folder = head.parent().unwrap_or(Path::new(""));
    let mut text = String::new();
    for line in read_file(head)?.split_inclusive('\n') {
        match line.strip_prefix(INCLUDE).and_then(|rest| rest.split('"').next()) {
            Some(name) => text += &read_file(&folder.join(name))?,
            None => text += line,
        }
    }
    numbers::absolute(&text).map_err(|problem| Error::malformed(head, problem.to_string()))
}

/// Replaces the module whose head this is. The head is written last.
///
/// # Errors
/// The system refuses; or the PTX does not have canonical numbers, or a kernel's name is none.
pub fn write(head: &Path, ptx: &str) -> Result<(), Error> {
    let malformed = |problem: &dyn fmt::Display| Error::malformed(head, problem.to_string());
    let text = numbers::relative(ptx).map_err(|problem| malformed(&problem))?;
    if numbers::absolute(&text).as_deref() != Ok(ptx) {
        return Err(Error::malformed(head, "the PTX does not have canonical numbers"));
    }
    let Parts { above, kernels } =
        split(&text).map_err(|name| malformed(&format!("a kernel called {name:?}")))?;
    let folder = head.with_extension("");
    if folder.exists() {
        fs::remove_dir_all(&folder).map_err(Error::io(&folder))?;
    }
    fs::create_dir_all(&folder).map_err(Error::io(&folder))?;
    let directory = folder.file_name().unwrap_or_default().to_string_lossy();
    let mut top = above.to_owned();
    let ends = kernels.iter().skip(1).map(|(_, at)| *at).chain([text.len()]);
    for ((name, begin), end) in kernels.iter().zip(ends) {
        let file = format!("{name}.{EXTENSION}");
        write_file(&folder.join(&file), &text[*begin..end])?;
        top += &format!("{INCLUDE}{directory}/{file}\"\n");
    }
    write_file(head, &top)
}

/// A module in parts.
struct Parts<'a> {
    /// Text above the first kernel.
    above: &'a str,
    /// The kernels' names, and where each begins.
    kernels: Vec<(&'a str, usize)>,
}

/// Finds the kernels. The error is a name that a file cannot have.
fn split(text: &str) -> Result<Parts<'_>, &str> {
    let mut kernels = Vec::new();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        if let Some((_, rest)) = line.split_once(".entry ") {
            let name = rest.split('(').next().unwrap_or_default().trim();
            if name.is_empty() || !name.bytes().all(numbers::is_of_name) {
                return Err(name);
            }
            kernels.push((name, at));
        }
        at += line.len();
    }
    let above = kernels.first().map_or(text, |(_, at)| &text[..*at]);
    Ok(Parts { above, kernels })
}

fn read_file(path: &Path) -> Result<String, Error> {
    fs::read_to_string(path).map_err(Error::io(path))
}

fn write_file(path: &Path, text: &str) -> Result<(), Error> {
    fs::write(path, text).map_err(Error::io(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PTX: &str = "// above\n.version 7.0\n.func f\n()\n;\n\
        .visible .entry b()\n{\n.reg .b32 %r<3>;\nmov.b32 %r0, 1;\nadd.s32 %r1, %r0, %r0;\nret;\n}\n\
        .func f()\n{\nret;\n}\n\
        .visible .entry a()\n{\nret;\n}\n";

    fn folder_with(ptx: &str) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let head = folder.path().join("some.rptx");
        write(&head, ptx).unwrap();
        (folder, head)
    }

    #[test]
    fn a_module_survives_with_its_order() {
        let (folder, head) = folder_with(PTX);
        assert_eq!(read(&head).unwrap(), PTX);
        let text = fs::read_to_string(&head).unwrap();
        assert!(text.ends_with("#include \"some/b.rptx\"\n#include \"some/a.rptx\"\n"), "{text}");
        assert!(fs::read_to_string(folder.path().join("some/b.rptx")).unwrap().contains(".func f()"));
        assert_eq!(heads(folder.path()).unwrap(), [head]);
    }

    #[test]
    fn kernels_that_are_gone_leave_no_files() {
        let (folder, head) = folder_with(PTX);
        write(&head, &PTX.replace(".entry a", ".entry c")).unwrap();
        let mut names: Vec<_> =
            fs::read_dir(folder.path().join("some")).unwrap().map(|e| e.unwrap().file_name()).collect();
        names.sort();
        assert_eq!(names, ["b.rptx", "c.rptx"]);
    }

    #[test]
    fn an_absent_file_is_named() {
        let (folder, head) = folder_with(PTX);
        fs::remove_file(folder.path().join("some/a.rptx")).unwrap();
        assert!(read(&head).unwrap_err().to_string().contains("a.rptx"));
    }

    #[test]
    fn numbers_that_are_not_canonical_and_names_that_are_no_files_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let head = folder.path().join("some.rptx");
        let refused = |ptx: &str| write(&head, ptx).unwrap_err().to_string();
        assert!(refused(&PTX.replace("%r1", "%r2")).contains("canonical"));
        assert!(refused(&PTX.replace(".entry a", ".entry ../a")).contains("../a"));
        assert!(!head.exists());
    }
}
