//! Mistakes in the files of others that a sensible picture survives.

use super::Problem;

/// Mistakes that are put up with, by kind and by what is done about them: the first of each, and how many there are.
#[derive(Debug, Default)]
pub(crate) struct Mistakes {
    kinds: Vec<Kind>,
}

#[derive(Debug)]
struct Kind {
    name: String,
    first: Problem,
    count: u64,
}

/// What follows the first message of a kind of which there are others.
pub(crate) fn and_others(others: u64) -> String {
    if others == 0 { String::new() } else { format!(" (and {others} more of the kind)") }
}

impl Mistakes {
    /// Counts a mistake. Only the first of its kind is described: what is wrong, and where.
    pub(crate) fn add(&mut self, name: &str, remedy: &str, describe: impl FnOnce() -> Problem) {
        let is_same = |kind: &&mut Kind| kind.name == name && kind.first.remedy.as_deref() == Some(remedy);
        match self.kinds.iter_mut().find(is_same) {
            Some(kind) => kind.count += 1,
            None => {
                self.kinds.push(Kind { name: name.to_owned(), first: describe().forgiven(remedy), count: 1 })
            }
        }
    }

    /// Adds others.
    pub(crate) fn extend(&mut self, others: Self) {
        self.kinds.extend(others.kinds);
    }

    /// A warning for each kind, in the order of the first ones.
    pub(crate) fn into_warnings(self) -> impl Iterator<Item = Problem> {
        self.kinds.into_iter().map(|Kind { mut first, count, .. }| {
            first.message.push_str(&and_others(count - 1));
            first
        })
    }
}
