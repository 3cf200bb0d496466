//! The files of a scene, places in them, and what is wrong there.

use std::cell::{OnceCell, RefCell};
use std::ops::Range;
use std::path::PathBuf;

use crate::input::{Error, Index, MOST_PROBLEMS, Problem, sorted};

/// A part of one of the files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Position {
    /// Index into [`Sources::texts`].
    pub(super) file: usize,
    /// Bytes of its text.
    pub(super) span: Range<usize>,
}

/// A file that was read.
pub(super) struct Text {
    /// Its name in messages.
    name: String,
    /// Its contents.
    text: String,
    /// Where it is.
    folder: PathBuf,
    index: OnceCell<Index>,
}

/// The files read so far, and what was found wrong in them.
#[derive(Default)]
pub(super) struct Sources {
    texts: Vec<Text>,
    /// At most [`MOST_PROBLEMS`].
    errors: RefCell<Vec<Problem>>,
    warnings: RefCell<Vec<Problem>>,
}

impl Sources {
    /// Adds a file in a folder, and yields its index.
    pub(super) fn add(&mut self, name: &str, text: &str, folder: PathBuf) -> usize {
        let index = OnceCell::new();
        self.texts.push(Text { name: name.to_owned(), text: text.to_owned(), folder, index });
        self.texts.len() - 1
    }

    /// Where the file is.
    pub(super) fn folder(&self, file: usize) -> &PathBuf {
        &self.texts[file].folder
    }

    /// Bytes of all files.
    pub(super) fn bytes(&self) -> usize {
        self.texts.iter().map(|t| t.text.len()).sum()
    }

    /// Number of files.
    pub(super) fn len(&self) -> usize {
        self.texts.len()
    }

    /// A problem at a place, not yet collected.
    pub(super) fn problem(&self, place: &Position, message: impl Into<String>) -> Problem {
        let Text { name, text, index, .. } = &self.texts[place.file];
        Problem::at_indexed(name, text, index.get_or_init(|| Index::new(text)), place.span.clone(), message)
    }

    /// `line 7 of scene.xml`.
    pub(super) fn describe(&self, place: &Position) -> String {
        let problem = self.problem(place, "");
        format!("line {} of {}", problem.place.map_or(0, |(line, _)| line), problem.file)
    }

    /// Reports an error; `None`, so that it can be what comes of what is wrong.
    pub(super) fn error<T>(&self, place: &Position, message: impl Into<String>) -> Option<T> {
        // Nothing is made of what nobody reads.
        if self.errors.borrow().len() < MOST_PROBLEMS {
            self.push(self.problem(place, message));
        }
        None
    }

    /// Reports an error of another file.
    pub(super) fn push(&self, problem: Problem) {
        let mut errors = self.errors.borrow_mut();
        if errors.len() < MOST_PROBLEMS {
            errors.push(problem);
        }
    }

    /// Reports what does no harm.
    pub(super) fn warn(&self, place: &Position, message: impl Into<String>) {
        if self.warnings.borrow().len() < MOST_PROBLEMS {
            self.push_warning(self.problem(place, message));
        }
    }

    /// Reports what does no harm in another file.
    pub(super) fn push_warning(&self, problem: Problem) {
        let mut warnings = self.warnings.borrow_mut();
        if warnings.len() < MOST_PROBLEMS {
            warnings.push(problem);
        }
    }

    /// Whether nothing is wrong so far.
    pub(super) fn is_fine(&self) -> bool {
        self.errors.borrow().is_empty()
    }

    /// The result with the warnings, or the errors.
    pub(super) fn finish<T>(self, made: Option<T>) -> Result<(T, Vec<Problem>), Error> {
        let first = self.texts.first().map_or(String::new(), |t| t.name.clone());
        let errors = self.errors.into_inner();
        match made {
            Some(made) if errors.is_empty() => Ok((made, sorted(&first, self.warnings.into_inner()))),
            _ => Err(Error { problems: sorted(&first, errors) }),
        }
    }
}
