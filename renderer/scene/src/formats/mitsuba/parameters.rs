//! Parameters of a scene: `$name` in attributes.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ops::Bound;

use torrance_text::Suggestions;

/// Longest attribute after its parameters are replaced, bytes.
const LONGEST: usize = 1 << 20;
/// Most bytes of all attributes with parameters: parameters that are made of others grow fast.
const MOST: usize = 64 << 20;

/// Why parameters cannot be put into a text.
#[derive(Debug, PartialEq, thiserror::Error)]
pub(super) enum SubstitutionError {
    /// There is no such parameter; the end of the sentence.
    #[error("there is no parameter {}{hint}; -D NAME=VALUE sets one", torrance_text::quoted(name))]
    Unknown { name: String, hint: String },
    /// There is no name after the `$`.
    #[error("there is no name after the $; \\$ stands for the sign itself")]
    Nameless,
    #[error("parameters make this too long")]
    TooLong,
}

/// The parameters known so far.
pub(super) struct Parameters {
    by_name: BTreeMap<String, Parameter>,
    /// Values of defaults that follow further down in the file, if they are made of no others.
    later: BTreeMap<String, String>,
    /// Those that were used before their defaults, once each.
    early: Vec<String>,
    /// Bytes written so far.
    written: usize,
}

struct Parameter {
    value: String,
    /// How many were known before it.
    index: usize,
    /// Whether it is set from outside and nothing has asked for it yet.
    is_unused: bool,
}

impl Parameters {
    /// Those set from outside.
    pub(super) fn new(defines: &[(String, String)]) -> Self {
        // The last of several counts, as on any command line.
        let parameter = |(index, (name, value)): (usize, &(String, String))| {
            (name.clone(), Parameter { value: value.clone(), index, is_unused: true })
        };
        let by_name = defines.iter().enumerate().map(parameter).collect();
        Self { by_name, later: BTreeMap::new(), early: Vec::new(), written: 0 }
    }

    /// Takes note of a default that follows further down in the file, for what is used before it.
    pub(super) fn announce(&mut self, name: &str, value: &str) {
        if !name.is_empty() && !value.contains('$') {
            self.later.entry(name.to_owned()).or_insert_with(|| value.to_owned());
        }
    }

    /// Names of those that were used before their defaults since this was asked last.
    pub(super) fn take_early(&mut self) -> Vec<String> {
        std::mem::take(&mut self.early)
    }

    /// Sets a parameter that has no value yet.
    pub(super) fn set_default(&mut self, name: String, value: String) {
        let new = Parameter { value, index: self.by_name.len(), is_unused: false };
        self.by_name.entry(name).or_insert(new).is_unused = false;
    }

    /// Names of those set from outside that nothing asked for.
    pub(super) fn unused(&self) -> impl Iterator<Item = &str> {
        self.sorted().into_iter().filter(|(_, p)| p.is_unused).map(|(name, _)| name)
    }

    /// Names of those that the scene has.
    pub(super) fn names(&self) -> Vec<String> {
        self.sorted().into_iter().filter(|(_, p)| !p.is_unused).map(|(name, _)| name.to_owned()).collect()
    }

    /// All, the longest names first.
    fn sorted(&self) -> Vec<(&str, &Parameter)> {
        let mut all: Vec<_> = self.by_name.iter().map(|(name, p)| (name.as_str(), p)).collect();
        all.sort_by_key(|(name, p)| (Reverse(name.len()), p.index));
        all
    }

    /// The parameter of the longest name that a text begins with, and the length of that name. If there is none, one that is
    /// given further down and has all of the name.
    fn at_start_of(&mut self, text: &str) -> Option<(usize, &mut Parameter)> {
        let known = self.known_at_start_of(text);
        let name = match known {
            Some(length) => &text[..length],
            None => {
                let name = name_at_start_of(text);
                let value = self.later.remove(name)?;
                self.early.push(name.to_owned());
                self.set_default(name.to_owned(), value);
                name
            }
        };
        Some((name.len(), self.by_name.get_mut(name)?))
    }

    /// The length of the longest name of a parameter that a text begins with.
    fn known_at_start_of(&self, text: &str) -> Option<usize> {
        let mut longest = text;
        loop {
            // The names that the text begins with are among those before it, and share most with it.
            let up_to = (Bound::Unbounded, Bound::Included(longest));
            let (before, _) = self.by_name.range::<str, _>(up_to).next_back()?;
            if longest.starts_with(before.as_str()) {
                return Some(before.len());
            }
            longest = common_start(longest, before);
        }
    }

    /// A text with the values of parameters in their place.
    ///
    /// # Errors
    /// There is no such parameter, or the text becomes too long.
    pub(super) fn replaced(
        &mut self,
        text: &str,
        suggestions: &Suggestions,
    ) -> Result<String, SubstitutionError> {
        let mut out = String::new();
        let mut rest = text;
        while let Some(at) = rest.find('$') {
            let after = &rest[at + 1..];
            if let Some(before) = rest[..at].strip_suffix('\\') {
                out.push_str(before);
                out.push('$');
                rest = after;
                continue;
            }
            out.push_str(&rest[..at]);
            let Some((length, parameter)) = self.at_start_of(after) else {
                let name = name_at_start_of(after).to_owned();
                if name.is_empty() {
                    return Err(SubstitutionError::Nameless);
                }
                let known = if suggestions.allow() { self.names() } else { Vec::new() };
                let hint = torrance_text::hint(&name, "the scene has", known.iter().map(String::as_str));
                return Err(SubstitutionError::Unknown { name, hint });
            };
            parameter.is_unused = false;
            out.push_str(&parameter.value);
            let added = parameter.value.len();
            rest = &after[length..];
            self.written += added;
            if out.len() > LONGEST || self.written > MOST {
                return Err(SubstitutionError::TooLong);
            }
        }
        out.push_str(rest);
        Ok(out)
    }
}

/// The name that a text begins with, if nothing is known of it.
fn name_at_start_of(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
    &text[..end]
}

/// What both texts begin with.
fn common_start<'a>(text: &'a str, other: &str) -> &'a str {
    let same = text.chars().zip(other.chars()).take_while(|(a, b)| a == b);
    &text[..same.map(|(c, _)| c.len_utf8()).sum()]
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Parameters {
        fn fill(&mut self, text: &str) -> Result<String, SubstitutionError> {
            self.replaced(text, &Suggestions::default())
        }
    }

    fn defined(list: &[(&str, &str)]) -> Parameters {
        let list: Vec<_> = list.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect();
        Parameters::new(&list)
    }

    #[test]
    fn longest_names_win_and_defaults_give_way() {
        let mut parameters = defined(&[("a", "1"), ("ab", "2")]);
        parameters.set_default("a".to_owned(), "9".to_owned());
        parameters.set_default("c".to_owned(), "3".to_owned());
        assert_eq!(parameters.fill("$a/$ab/$abc/x$c$c").as_deref(), Ok("1/2/2c/x33"));
        assert_eq!(parameters.fill("none").as_deref(), Ok("none"));
        assert_eq!(parameters.unused().count(), 0);
        let message = parameters.fill("$bad").unwrap_err().to_string();
        assert_eq!(
            message,
            "there is no parameter \"bad\"; the scene has \"ab\", \"a\" or \"c\"; -D NAME=VALUE sets one"
        );
    }

    #[test]
    fn the_longest_name_is_found_among_many_like_it() {
        let mut parameters = defined(&[("a", "1"), ("abc", "2"), ("abd", "3"), ("é", "4"), ("b", "5")]);
        for (text, expected) in [
            ("$abb", Some("1bb")),
            ("$abcd", Some("2d")),
            ("$abdé", Some("3é")),
            ("$éa", Some("4a")),
            ("$ê", None),
            ("$", None),
            ("$Z", None),
            ("$ba$b$", None),
            ("$bb$a", Some("5b1")),
        ] {
            assert_eq!(parameters.fill(text).ok().as_deref(), expected, "{text}");
        }
    }

    /// As Mitsuba 3.9.1 has it, but for what is used before its default, which it refuses.
    #[test]
    fn defaults_may_follow_and_signs_be_escaped() {
        let mut parameters = defined(&[("a", "1")]);
        parameters.announce("spp", "256");
        parameters.announce("spp", "16");
        parameters.announce("made", "$a");
        assert_eq!(parameters.fill("$spp/$a$spp").as_deref(), Ok("256/1256"));
        assert_eq!(parameters.take_early(), ["spp"]);
        parameters.set_default("spp".to_owned(), "256".to_owned());
        assert_eq!(parameters.fill("$spp").as_deref(), Ok("256"));
        assert!(parameters.take_early().is_empty() && parameters.fill("$made").is_err());
        assert_eq!(parameters.fill("\\$3 \\$a $a\\").as_deref(), Ok("$3 $a 1\\"));
        assert_eq!(parameters.fill("cost: $").unwrap_err(), SubstitutionError::Nameless);
    }

    #[test]
    fn what_nothing_asks_for_is_known() {
        let mut parameters = defined(&[("a", "1"), ("b", "2"), ("b", "3")]);
        assert_eq!(parameters.fill("$b").as_deref(), Ok("3"));
        assert_eq!(parameters.unused().collect::<Vec<_>>(), ["a"]);
    }

    #[test]
    fn values_cannot_grow_without_end() {
        let mut parameters = defined(&[]);
        let mut value = "x".repeat(1000);
        for i in 0..10 {
            parameters.set_default(format!("p{i}"), value);
            value = match parameters.fill(&format!("$p{i}$p{i}$p{i}$p{i}")) {
                Ok(value) => value,
                Err(error) => return assert_eq!(error, SubstitutionError::TooLong),
            };
        }
        panic!("{} bytes", value.len());
    }
}
