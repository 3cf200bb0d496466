//! Errors, and the exit codes they become.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Everything that can go wrong; each message says what to do about it.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A program that must be installed is not: exit code 2.
    #[error("{0}")]
    Missing(String),
    /// A file or folder could not be read or written.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// The attempted action, as a verb.
        action: &'static str,
        /// On which path.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// A program ran and failed.
    #[error("{program} failed ({status}){output}")]
    Command {
        /// Its name.
        program: String,
        /// How it ended.
        status: String,
        /// Its output, after a line break; may be empty.
        output: String,
    },
    /// PTX in the repository cannot be read or written.
    #[error(transparent)]
    Text(#[from] ptx_text::Error),
    /// The work was done and the result is not acceptable.
    #[error("{0}")]
    Rejected(String),
}

/// A result with this crate's error.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// For `map_err`: names what was attempted on which path.
    pub fn io<'a>(action: &'static str, path: &'a Path) -> impl FnOnce(std::io::Error) -> Self + 'a {
        move |source| Self::Io { action, path: path.to_owned(), source }
    }

    /// Exit code of the process.
    pub fn exit_code(&self) -> u8 {
        if matches!(self, Self::Missing(_)) { 2 } else { 1 }
    }
}

/// Runs a command to its end and returns what it printed (standard output, then standard error).
pub(crate) fn capture(command: &mut Command) -> Result<String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command.output().map_err(Error::io("run", Path::new(&program)))?;
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&text).into_owned();
    if output.status.success() {
        return Ok(text);
    }
    Err(Error::Command {
        program,
        status: output.status.to_string(),
        output: format!("\n{}", text.trim_end()),
    })
}

/// Runs a command whose errors go straight to the terminal, and returns what it printed else.
pub(crate) fn run(command: &mut Command) -> Result<String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command.stderr(Stdio::inherit()).output().map_err(Error::io("run", Path::new(&program)))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    Err(Error::Command { program, status: output.status.to_string(), output: String::new() })
}
