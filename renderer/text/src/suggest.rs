//! The valid name a misspelt one most likely stands for.

use std::cell::Cell;
use std::path::Path;

/// Longest name of the user's that a message repeats in full, characters.
const LONGEST_QUOTE: usize = 60;
/// Most names that a misspelt one is compared with.
const MOST_CANDIDATES: usize = 256;
/// Most misspelt names of a file that are compared with others; a report shows fewer.
const MOST_SUGGESTIONS: u32 = 64;
/// `PATH_MAX` of Linux.
const LONGEST_PATH: usize = 4096;

/// The suggestions that a file may still get. Only the first so many wrong names of a file are looked up, since thousands of
/// them, each compared with thousands of others, would take minutes.
#[derive(Debug)]
pub struct Suggestions {
    left: Cell<u32>,
}

impl Default for Suggestions {
    fn default() -> Self {
        Self { left: Cell::new(MOST_SUGGESTIONS) }
    }
}

impl Suggestions {
    /// Counts a suggestion, unless there have been enough: whether it is to be made.
    pub fn allow(&self) -> bool {
        let left = self.left.get();
        self.left.set(left.saturating_sub(1));
        left > 0
    }

    /// As [`hint`], or nothing if there have been enough; the candidates are collected only if they are wanted.
    pub fn hint<'a, I>(&self, name: &str, lead: &str, candidates: impl FnOnce() -> I) -> String
    where
        I: IntoIterator<Item = &'a str> + Clone,
    {
        if self.allow() { hint(name, lead, candidates()) } else { String::new() }
    }

    /// As [`nearest`], or nothing if there have been enough.
    pub fn nearest<'a>(&self, name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
        if self.allow() { nearest(name, candidates) } else { None }
    }
}

/// The candidate nearest to `name`, if one is near enough to be what was meant: a third of the letters
/// may differ, and at least one, where swapped neighbours count once and case does not count.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let lower = name.to_lowercase();
    let length = lower.chars().count();
    // A name far longer than any candidate is not a misspelling, and comparing it takes quadratic time.
    if length == 0 || length > LONGEST_QUOTE {
        return None;
    }
    let allowed = (length / 3).max(1);
    // A file of thousands of wrong names among thousands would take minutes.
    candidates
        .into_iter()
        .take(MOST_CANDIDATES)
        .map(|c| (strsim::damerau_levenshtein(&lower, &c.to_lowercase()), c))
        .filter(|(distance, c)| *distance <= allowed && *distance < c.chars().count())
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, c)| c)
}

/// `; did you mean "x"?` if something is near, else `; LEAD "x", "y" or "z"` if there are candidates.
pub fn hint<'a>(name: &str, lead: &str, candidates: impl IntoIterator<Item = &'a str> + Clone) -> String {
    if let Some(near) = nearest(name, candidates.clone()) {
        return format!("; did you mean {}?", quoted(near));
    }
    match list(candidates, "or") {
        Some(list) => format!("; {lead} {list}"),
        None => String::new(),
    }
}

/// `"x", "y" or "z"`, shortened if long; `None` if there is nothing to list.
pub fn list<'a>(names: impl IntoIterator<Item = &'a str>, conjunction: &str) -> Option<String> {
    const MOST: usize = 14;
    let mut all = names.into_iter();
    let mut names: Vec<_> = all.by_ref().take(MOST).map(quoted).collect();
    let more = all.count();
    if more > 0 {
        return Some(format!("{} and {more} more", names.join(", ")));
    }
    let last = names.pop()?;
    if names.is_empty() {
        return Some(last);
    }
    Some(format!("{} {conjunction} {last}", names.join(", ")))
}

/// A text in quotes, on one line, and not too long.
pub fn quoted(text: &str) -> String {
    quoted_up_to(LONGEST_QUOTE, text)
}

/// A path in quotes, whole if a system could open it: half a path finds no file.
pub fn quoted_path(path: impl AsRef<Path>) -> String {
    quoted_up_to(LONGEST_PATH, &path.as_ref().display().to_string())
}

fn quoted_up_to(longest: usize, text: &str) -> String {
    if text.chars().count() <= longest {
        return format!("{text:?}");
    }
    let start: String = text.chars().take(longest - 1).collect();
    format!("{:?}", start + "…")
}

/// A word as shells read it, in quotes if it needs them.
pub fn shell_word(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./=:,%+@".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_slips_and_not_strangers() {
        let names = ["white", "red", "green", "max_depth"];
        for (typed, meant) in [
            ("whit", Some("white")),
            ("wihte", Some("white")),
            ("White", Some("white")),
            ("rde", Some("red")),
            ("maxdepth", Some("max_depth")),
            ("purple", None),
            ("", None),
            ("x", None),
        ] {
            assert_eq!(nearest(typed, names), meant, "{typed:?}");
        }
    }

    #[test]
    fn a_file_gets_so_many_suggestions_and_no_more() {
        let (suggestions, collected) = (Suggestions::default(), Cell::new(0));
        let candidates = || {
            collected.set(collected.get() + 1);
            ["white", "red"]
        };
        let given = (0..100_000).filter(|_| !suggestions.hint("whit", "it is", candidates).is_empty());
        assert_eq!(given.count(), MOST_SUGGESTIONS as usize);
        assert_eq!(collected.get(), MOST_SUGGESTIONS, "candidates that nobody sees are not collected");
        assert_eq!(suggestions.nearest("whit", ["white"]), None);
        assert_eq!(Suggestions::default().nearest("whit", ["white"]), Some("white"));
    }

    #[test]
    fn quotes_on_one_line() {
        assert_eq!(quoted("a\n\u{1b}[31m\"b"), r#""a\n\u{1b}[31m\"b""#);
        assert_eq!(quoted(&"x".repeat(1000)).chars().count(), LONGEST_QUOTE + 2);
        assert_eq!(quoted_path("x".repeat(1000)).chars().count(), 1002);
        assert_eq!(quoted_path("x".repeat(1_000_000)).chars().count(), LONGEST_PATH + 2);
    }
}
