//! Short names of parameters and of their values, no two the same.

use std::collections::{HashMap, HashSet};

use super::range::{Numbers, number, rounded};
use super::scan::find;

/// Longest name of a value that is no number, characters.
const LONGEST: usize = 32;
/// Significant digits, if they tell the values apart.
const DIGITS: usize = 4;

/// The last keys of a path, as many as no other path ends with; a number is no name.
pub(super) fn label_of_path(path: &str, all: &[String]) -> String {
    let mut starts = vec![0];
    while let Some(dot) = find(&path[starts[starts.len() - 1]..], |c| c == '.') {
        starts.push(starts[starts.len() - 1] + dot + 1);
    }
    let suffixes = starts.iter().rev().map(|start| &path[*start..]);
    let is_ours = |suffix: &&str| {
        let ending = format!(".{suffix}");
        let is_number = suffix.starts_with(|c: char| c.is_ascii_digit());
        !is_number && !all.iter().any(|other| other != path && (other == suffix || other.ends_with(&ending)))
    };
    suffixes.clone().find(is_ours).unwrap_or(path).to_owned()
}

/// Names of values: numbers with [`DIGITS`] digits, or more where these do not tell them apart; words without quotes.
pub(super) fn labels(values: &[String]) -> Vec<String> {
    let numbers: Vec<_> = values.iter().map(|value| Numbers::parse(value)).collect();
    let words = word_labels(values);
    let with_digits = |digits: usize| -> Vec<String> {
        let short = |x: &f64| short(*x, digits);
        let label = |(numbers, word): (&Option<Numbers>, &String)| match numbers {
            // Colours are read as they were written.
            Some(numbers) if !word.starts_with('#') => {
                numbers.items.iter().map(short).collect::<Vec<_>>().join(", ")
            }
            _ => word.clone(),
        };
        numbers.iter().zip(&words).map(label).collect()
    };
    let labels = (DIGITS..=17).map(with_digits).find(|labels| are_distinct(labels));
    labels.unwrap_or_else(|| numbered(&words))
}

fn are_distinct(labels: &[String]) -> bool {
    let mut seen = HashSet::new();
    labels.iter().all(|label| seen.insert(label))
}

fn short(x: f64, digits: usize) -> String {
    let x = rounded(x, digits);
    if x.abs() >= 1e6 { format!("{x:e}") } else { number(x) }
}

/// The values without quotes; of long ones what is common at their beginnings is left out, and the rest is cut.
fn word_labels(values: &[String]) -> Vec<String> {
    let words: Vec<_> = values.iter().map(|value| unquoted(value)).collect();
    if words.iter().all(|word| word.chars().count() <= LONGEST) {
        return words.into_iter().map(str::to_owned).collect();
    }
    let common = common_start(&words);
    let lead = if common > 0 { "…" } else { "" };
    let cut = |word: &&str| {
        let word = format!("{lead}{}", &word[common..]);
        match word.char_indices().nth(LONGEST) {
            Some(_) => word.chars().take(LONGEST - 1).chain(['…']).collect(),
            None => word,
        }
    };
    words.iter().map(cut).collect()
}

fn unquoted(text: &str) -> &str {
    let inside = |quote| text.strip_prefix(quote)?.strip_suffix(quote);
    inside('"').or_else(|| inside('\'')).filter(|text| !text.is_empty()).unwrap_or(text)
}

/// Length of the common prefix of all, up to the end of a word, bytes.
fn common_start(words: &[&str]) -> usize {
    let Some((first, others)) = words.split_first().filter(|(_, others)| !others.is_empty()) else {
        return 0;
    };
    let same = |other: &&str| first.bytes().zip(other.bytes()).take_while(|(a, b)| a == b).count();
    let common = others.iter().map(same).min().unwrap_or(0);
    let ends = |(i, c): (usize, char)| " /,={[".contains(c).then_some(i + 1).filter(|end| *end <= common);
    first.char_indices().filter_map(ends).next_back().unwrap_or(0)
}

/// The words, each that occurs more than once with its position appended.
fn numbered(words: &[String]) -> Vec<String> {
    let mut counts = HashMap::new();
    words.iter().for_each(|word| *counts.entry(word).or_insert(0) += 1);
    let name = |(word, i): (&String, i32)| {
        let mut name = word.clone();
        // Another word may look as if it had a position.
        while counts.get(&name).is_some_and(|n| *n > 1 || name != *word) {
            name = format!("{name} ({i})");
        }
        name
    };
    words.iter().zip(1..).map(name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(texts: &[&str]) -> Vec<String> {
        super::labels(&texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn numbers_are_short_and_distinct() {
        for (texts, expected) in [
            (&["0", "0.33333333333333", "1"][..], &["0", "0.3333", "1"][..]),
            (&["0.123456", "0.123457"], &["0.123456", "0.123457"]),
            (&["123456", "4294967295", "0.00001234567"], &["123500", "4.295e9", "1.235e-5"]),
            (&["[0.1, 0.123456]", "[1, 1]"], &["0.1, 0.1235", "1, 1"]),
            (&["none", "\"random_walk\"", "'a b'", "0.50"], &["none", "random_walk", "a b", "0.5"]),
            (&["\"#ff8000\"", "#00ff00"], &["#ff8000", "#00ff00"]),
            (&["", "\"\""], &["", "\"\""]),
        ] {
            assert_eq!(labels(texts), expected);
        }
        // The same numbers, written as text and not.
        assert_eq!(labels(&["0.5", "[0.5]"]), ["0.5", "[0.5]"]);
    }

    #[test]
    fn long_words_lose_what_they_share() {
        let long = "{ type = \"conductor\", distribution = \"ggx\", roughness = ";
        let texts = [format!("{long}0.1 }}"), format!("{long}0.15 }}")];
        assert_eq!(labels(&[&texts[0], &texts[1]]), ["…0.1 }", "…0.15 }"]);
        let (a, b) = (format!("{}1", "x".repeat(40)), format!("{}2", "x".repeat(40)));
        let cut = format!("{}…", "x".repeat(31));
        assert_eq!(labels(&[&a, &b, "y"]), [format!("{cut} (1)"), format!("{cut} (2)"), "y".into()]);
        let third = format!("{cut} (1)");
        let texts = [&a, &b, &third].map(|text| text.as_str());
        assert_eq!(labels(&texts), [format!("{cut} (1)"), format!("{cut} (2)"), format!("{cut} (3)")]);
        assert_eq!(numbered(&["a", "a", "a (1)"].map(str::to_owned)), ["a (1) (1)", "a (2)", "a (1)"]);
        assert_eq!(labels(&[&"é ".repeat(40)]), [format!("{}é…", "é ".repeat(15))]);
    }

    #[test]
    fn labels_of_paths_are_their_ends() {
        let paths = [
            "materials.a.roughness",
            "materials.b.roughness",
            "camera.position.1",
            "shapes.\"x.y\"",
            "fov",
            "camera.fov",
        ];
        let all: Vec<_> = paths.iter().map(|path| (*path).to_owned()).collect();
        let labels: Vec<_> = paths.iter().map(|path| label_of_path(path, &all)).collect();
        assert_eq!(labels, ["a.roughness", "b.roughness", "position.1", "\"x.y\"", "fov", "camera.fov"]);
    }
}
