//! The files of a scene, places in them, and what is wrong there.

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::fmt::Display;
use std::ops::Range;
use std::path::PathBuf;

use torrance_text::Suggestions;

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
    pub(super) text: String,
    /// Where it is.
    pub(super) folder: PathBuf,
    index: OnceCell<Index>,
}

/// Kinds of warnings that a scene may give rise to over and over, of which the first is told with how many there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Repeated {
    /// Rotations around axes that are no unit vectors.
    Axis,
    /// Parameters that are used before their defaults.
    Early,
    /// Spheres that would be ellipsoids.
    Stretched,
}

/// The files read so far, and what was found wrong in them.
#[derive(Default)]
pub(super) struct Sources {
    pub(super) texts: Vec<Text>,
    pub(super) suggestions: Suggestions,
    errors: Problems,
    warnings: Problems,
    /// The first of each kind, and how many there are.
    repeated: RefCell<BTreeMap<Repeated, (Problem, usize)>>,
}

/// At most [`MOST_PROBLEMS`].
#[derive(Default)]
struct Problems(RefCell<Vec<Problem>>);

impl Problems {
    /// Adds a problem, which is not even made if there are too many.
    fn add(&self, make: impl FnOnce() -> Problem) {
        if self.0.borrow().len() < MOST_PROBLEMS {
            self.0.borrow_mut().push(make());
        }
    }
}

impl Sources {
    /// Adds a file in a folder, and yields its index.
    pub(super) fn add(&mut self, name: &str, text: &str, folder: PathBuf) -> usize {
        let index = OnceCell::new();
        self.texts.push(Text { name: name.to_owned(), text: text.to_owned(), folder, index });
        self.texts.len() - 1
    }

    /// A problem at a place, not yet collected.
    pub(super) fn problem(&self, place: &Position, message: impl Into<String>) -> Problem {
        let Text { name, text, index, .. } = &self.texts[place.file];
        Problem::at_indexed(name, text, index.get_or_init(|| Index::new(text)), place.span.clone(), message)
    }

    /// The line of a place, from 1.
    pub(super) fn line(&self, place: &Position) -> usize {
        self.problem(place, "").place.map_or(0, |(line, _)| line)
    }

    /// `line 7 of scene.xml`.
    pub(super) fn describe(&self, place: &Position) -> String {
        format!("line {} of {}", self.line(place), self.texts[place.file].name)
    }

    /// The value made, or nothing once its error is reported.
    pub(super) fn value<T>(&self, place: &Position, made: Result<T, impl Display>) -> Option<T> {
        made.map_err(|error| self.error::<()>(place, error.to_string())).ok()
    }

    /// Contents read from a file, or nothing once it is reported why it cannot be read.
    pub(super) fn read<T>(&self, place: &Position, file: &str, read: Result<T, impl Display>) -> Option<T> {
        self.value(place, read.map_err(|reason| format!("cannot read {file}: {reason}")))
    }

    /// Reports an error; `None`, so that it can be what comes of what is wrong.
    pub(super) fn error<T>(&self, place: &Position, message: impl Into<String>) -> Option<T> {
        self.errors.add(|| self.problem(place, message));
        None
    }

    /// Reports an error of another file.
    pub(super) fn push(&self, problem: Problem) {
        self.errors.add(|| problem);
    }

    /// Reports what does no harm.
    pub(super) fn warn(&self, place: &Position, message: impl Into<String>) {
        self.warnings.add(|| self.problem(place, message));
    }

    /// Reports what does no harm, as one of a kind.
    pub(super) fn warn_each(&self, kind: Repeated, place: &Position, message: impl Into<String>) {
        let mut repeated = self.repeated.borrow_mut();
        repeated.entry(kind).or_insert_with(|| (self.problem(place, message), 0)).1 += 1;
    }

    /// Reports what does no harm in another file.
    pub(super) fn push_warning(&self, problem: Problem) {
        self.warnings.add(|| problem);
    }

    /// Whether nothing is wrong so far.
    pub(super) fn is_fine(&self) -> bool {
        self.errors.0.borrow().is_empty()
    }

    /// The result with the warnings, or the errors.
    pub(super) fn finish<T>(self, made: Option<T>) -> Result<(T, Vec<Problem>), Error> {
        let first = self.texts.first().map_or(String::new(), |t| t.name.clone());
        let errors = self.errors.0.into_inner();
        for (mut problem, count) in self.repeated.into_inner().into_values() {
            if count > 1 {
                problem.message += &format!("; there are {} more like it", count - 1);
            }
            self.warnings.add(|| problem);
        }
        match made {
            Some(made) if errors.is_empty() => Ok((made, sorted(&first, self.warnings.0.into_inner()))),
            _ => Err(Error { problems: sorted(&first, errors) }),
        }
    }
}
