//! Paths and values that are not there.

use torrance_text::quoted;

/// Why a path leads to no parameter, or a parameter does not take a value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PathError {
    /// The text is no path.
    #[error("{} is no path, as camera.fov or shapes.\"tall box\".emission is one", quoted(.0))]
    Syntax(String),
    /// There is nothing there: a sentence that says what there is instead.
    #[error("{0}")]
    Nowhere(String),
    /// There is no value there.
    #[error("\"{0}\" has no value")]
    NoValue(String),
    /// The value may not stand there: a sentence that says what may.
    #[error("{0}")]
    Value(String),
    /// It is part of what another key says.
    #[error("\"{whole}\" says \"{key}\" and \"{other}\" here, inseparably; set that")]
    Inseparable {
        /// The key that says both.
        whole: String,
        /// The key that was to be set.
        key: String,
        /// The other.
        other: String,
    },
}

impl From<PathError> for String {
    fn from(error: PathError) -> Self {
        error.to_string()
    }
}
