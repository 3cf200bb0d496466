//! Words for people: names in quotes, the nearest valid name, sizes in binary units, durations.
//!
//! In: what a user typed or a number. Out: a piece of a message, always on one line. Every crate of torrance forms its
//! messages with this one, so that they read alike.
//!
//! ```
//! use torrance_text::{hint, human_bytes, quoted};
//!
//! let known = ["sphere", "disk", "cylinder"];
//! let message = format!("unknown shape {}{}", quoted("spere"), hint("spere", "there are", known));
//! assert_eq!(message, r#"unknown shape "spere"; did you mean "sphere"?"#);
//! assert_eq!(human_bytes(3 << 29), "1.5 GiB");
//! ```

mod bytes;
mod duration;
mod suggest;

pub use bytes::human_bytes;
pub use duration::{DurationError, duration};
pub use suggest::{Suggestions, hint, list, nearest, quoted, quoted_path, shell_word};
