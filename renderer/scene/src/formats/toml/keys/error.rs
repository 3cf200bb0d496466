//! Invalid paths and values.

use torrance_text::quoted_path;

/// Why a path leads to no parameter, or a parameter does not take a value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PathError {
    /// The text is not a path.
    #[error("{} is no path, as camera.fov or shapes.\"tall box\".emission is one", quoted_path(.0))]
    Syntax(String),
    /// The path leads nowhere: a sentence that lists what exists.
    #[error("{0}")]
    Nowhere(String),
    /// The path has no value.
    #[error("\"{0}\" has no value")]
    NoValue(String),
    /// The value is not allowed there: a sentence that describes the allowed ones.
    #[error("{0}")]
    Value(String),
    /// The value is inseparable from another, given by the same key.
    #[error("\"{whole}\" says \"{key}\" and \"{other}\" here, inseparably; set that")]
    Inseparable {
        /// The key that gives both.
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
