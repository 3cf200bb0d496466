//! JSON values that know their place, as in `materials[0].pbrMetallicRoughness`.

use std::cell::RefCell;
use std::collections::HashMap;

use serde_json::Value;
use torrance_text::{Suggestions, quoted};

use crate::input::{MOST_PROBLEMS, Mistakes, Problem, and_others};

/// Errors and warnings of a file.
#[derive(Default)]
pub(super) struct Log {
    pub(super) file: String,
    pub(super) errors: RefCell<Vec<Problem>>,
    pub(super) warnings: RefCell<Kinds>,
    /// What the user may want to know, though nothing is wrong.
    pub(super) notes: RefCell<Vec<String>>,
    pub(super) mistakes: RefCell<Mistakes>,
    pub(super) suggestions: Suggestions,
}

impl Log {
    pub(super) fn error(&self, message: impl Into<String>) {
        let (mut errors, message) = (self.errors.borrow_mut(), message.into());
        if errors.len() < MOST_PROBLEMS && !errors.iter().rev().take(64).any(|p| p.message == message) {
            errors.push(Problem::of_file(self.file.as_str(), message));
        }
    }

    /// Warns, once of a kind.
    pub(super) fn warn(&self, message: impl Into<String>) {
        self.warnings.borrow_mut().push(message.into());
    }

    pub(super) fn note(&self, message: String) {
        self.notes.borrow_mut().push(message);
    }

    /// Counts a mistake that a sensible picture survives, and says what is done about all that are alike.
    pub(super) fn forgive(&self, message: impl Into<String>, remedy: &str) {
        let problem = || Problem::of_file(self.file.as_str(), message);
        self.mistakes.borrow_mut().add("", remedy, problem);
    }

    /// What `read` yields. If that is nothing, its errors are mistakes about which something can be done.
    pub(super) fn forgiving<T>(&self, remedy: &str, read: impl FnOnce() -> Option<T>) -> Option<T> {
        let before = self.errors.borrow().len();
        let found = read();
        if found.is_none() {
            let errors = self.errors.borrow_mut().split_off(before);
            errors.into_iter().for_each(|error| self.forgive(error.message, remedy));
        }
        found
    }

    /// The warnings, with how many there are of each kind.
    pub(super) fn take_warnings(&self) -> Vec<Problem> {
        let warnings = self.warnings.take().first.into_iter();
        let warning = |(message, others): (String, u64)| {
            Problem::of_file(self.file.as_str(), message + &and_others(others))
        };
        warnings.map(warning).collect()
    }
}

/// Messages that differ in nothing but numbers, such as places in lists, are of a kind.
#[derive(Default)]
pub(super) struct Kinds {
    /// The first of each kind, and how many others there are.
    first: Vec<(String, u64)>,
    /// By a message without its numbers: its place in that list, and the one said last.
    places: HashMap<String, (usize, String)>,
}

impl Kinds {
    fn push(&mut self, message: String) {
        let kind = message
            .split(|c: char| c.is_ascii_digit())
            .filter(|part| !part.is_empty())
            .collect::<Vec<_>>()
            .join("#");
        match self.places.get_mut(&kind) {
            // The same may be found again.
            Some((_, last)) if *last == message => {}
            Some((place, last)) => {
                self.first[*place].1 += 1;
                *last = message;
            }
            None if self.first.len() < MOST_PROBLEMS => {
                self.places.insert(kind, (self.first.len(), message.clone()));
                self.first.push((message, 0));
            }
            None => {}
        }
    }
}

/// A value of the document. Queries for missing values or values of another type return `None` and are reported.
#[derive(Clone)]
pub(super) struct Node<'a> {
    pub(super) value: &'a Value,
    pub(super) path: String,
    pub(super) document: Document<'a>,
}

impl<'a> Node<'a> {
    /// Reports that the value `rule`, as in "must be above 0".
    pub(super) fn fail<T>(&self, rule: impl AsRef<str>) -> Option<T> {
        self.document.log.error(format!("{} {}", self.path, rule.as_ref()));
        None
    }

    /// Warns that the value `what`.
    pub(super) fn warn(&self, what: impl AsRef<str>) {
        self.document.log.warn(format!("{} {}", self.path, what.as_ref()));
    }

    fn wrong_type<T>(&self, expected: &str) -> Option<T> {
        let found = match self.value {
            Value::Null => "null".to_owned(),
            Value::Bool(b) => b.to_string(),
            Value::Number(n) => n.to_string(),
            Value::String(s) => quoted(s),
            Value::Array(a) => format!("an array of {}", a.len()),
            Value::Object(_) => "an object".to_owned(),
        };
        self.fail(format!("must be {expected}, not {found}"))
    }

    /// The value under a key, if there is one.
    pub(super) fn get(&self, key: &str) -> Option<Self> {
        let value = self.value.as_object()?.get(key)?;
        let path = if self.path.is_empty() { key.to_owned() } else { format!("{}.{key}", self.path) };
        Some(self.document.at(path, value))
    }

    /// The value under a key as `read` understands it, or `default` if there is none.
    pub(super) fn get_or<T>(&self, key: &str, default: T, read: impl FnOnce(Self) -> Option<T>) -> Option<T> {
        self.get(key).map_or(Some(default), read)
    }

    /// The value under a key as `read` understands it, if there is one.
    pub(super) fn optional<T>(&self, key: &str, read: impl FnOnce(Self) -> Option<T>) -> Option<Option<T>> {
        self.get_or(key, None, |node| read(node).map(Some))
    }

    /// The value under a key, which must be there.
    pub(super) fn require(&self, key: &str) -> Option<Self> {
        self.get(key).or_else(|| self.fail(format!("has no {key:?}")))
    }

    /// The value of an extension.
    pub(super) fn extension(&self, name: &str) -> Option<Self> {
        self.get("extensions")?.get(name)
    }

    /// The value, which has to be an object, of which only `keys` are known.
    pub(super) fn object(self, keys: &[&str]) -> Option<Self> {
        let Some(object) = self.value.as_object() else { return self.wrong_type("an object") };
        for key in object.keys() {
            let common = ["name", "extras", "extensions"];
            if keys.contains(&key.as_str()) || common.contains(&key.as_str()) {
                continue;
            }
            let near = self.document.log.suggestions.nearest(key, keys.iter().copied());
            let hint = near.map_or_else(String::new, |near| format!("; did you mean {near:?}?"));
            self.warn(format!("has a key {}, which glTF does not know{hint}", quoted(key)));
        }
        Some(self)
    }

    /// The elements of the value, which has to be an array.
    pub(super) fn elements(&self) -> Option<Vec<Self>> {
        let Some(array) = self.value.as_array() else { return self.wrong_type("an array") };
        let element = |(i, value)| self.document.at(format!("{}[{i}]", self.path), value);
        Some(array.iter().enumerate().map(element).collect())
    }

    /// How many elements the value has, if it is an array.
    pub(super) fn len(&self) -> u64 {
        self.value.as_array().map_or(0, |array| array.len() as u64)
    }

    /// The elements of the array under a key; none if there is no such key.
    pub(super) fn list(&self, key: &str) -> Option<Vec<Self>> {
        self.get_or(key, Vec::new(), |node| node.elements())
    }

    pub(super) fn string(&self) -> Option<&'a str> {
        self.value.as_str().or_else(|| self.wrong_type("a string"))
    }

    pub(super) fn boolean(&self) -> Option<bool> {
        self.value.as_bool().or_else(|| self.wrong_type("true or false"))
    }

    /// A whole number, 0 or above.
    pub(super) fn whole(&self) -> Option<u64> {
        // Some writers put a point into whole numbers.
        let of_float = || {
            let x = self.value.as_f64()?;
            (x.fract() == 0.0 && (0.0..9e15).contains(&x)).then_some(x as u64)
        };
        self.value.as_u64().or_else(of_float).or_else(|| self.wrong_type("a whole number, 0 or above"))
    }

    /// A number that `f32` can hold.
    pub(super) fn number(&self) -> Option<f32> {
        let Some(number) = self.value.as_f64() else { return self.wrong_type("a number") };
        if (number as f32).is_finite() { Some(number as f32) } else { self.fail("is too large") }
    }

    /// The number under a key, brought into a range with a warning if it is outside.
    pub(super) fn number_in(&self, key: &str, default: f32, low: f32, high: f32) -> Option<f32> {
        self.get_or(key, default, |node| Some(node.clamped(node.number()?, low, high)))
    }

    fn clamped(&self, number: f32, low: f32, high: f32) -> f32 {
        if !(low..=high).contains(&number) {
            let nearest = number.clamp(low, high);
            self.warn(format!("is {number}, outside {low} to {high}; it is taken as {nearest}"));
        }
        number.clamp(low, high)
    }

    /// An array of `N` numbers.
    pub(super) fn numbers<const N: usize>(&self) -> Option<[f32; N]> {
        if self.value.as_array().is_none_or(|a| a.len() != N) {
            return self.wrong_type(&format!("an array of {N} numbers"));
        }
        let numbers: Vec<f32> = self.elements()?.iter().map(Self::number).collect::<Option<_>>()?;
        numbers.try_into().ok()
    }

    /// `N` numbers, each brought to between 0 and `high` with a warning if it is outside.
    pub(super) fn numbers_in<const N: usize>(
        &self,
        key: &str,
        default: [f32; N],
        high: f32,
    ) -> Option<[f32; N]> {
        self.get_or(key, default, |node| {
            let mut numbers = node.numbers::<N>()?;
            for (number, element) in numbers.iter_mut().zip(node.elements()?) {
                *number = element.clamped(*number, 0.0, high);
            }
            Some(numbers)
        })
    }

    /// Of which element of a list of the document the value is the index.
    pub(super) fn index(&self, list: &str) -> Option<usize> {
        let index = self.whole()?;
        let count = self.document.count(list);
        if index < count as u64 {
            return Some(index as usize);
        }
        let there = match count {
            0 => format!("there are no {list:?}"),
            1 => format!("there is only one of {list:?}, 0"),
            _ => format!("{list:?} go from 0 to {}", count - 1),
        };
        self.fail(format!("is {index}, and {there}"))
    }

    /// The element of a list of the document that the value is the index of.
    pub(super) fn indexed(&self, list: &str, keys: &[&str]) -> Option<Self> {
        self.document.element(list, self.index(list)?, keys)
    }
}

/// The lists of a document: what indices in it refer to.
#[derive(Clone, Copy)]
pub(super) struct Document<'a> {
    pub(super) root: &'a Value,
    pub(super) log: &'a Log,
}

impl<'a> Document<'a> {
    /// All of it.
    pub(super) fn node(self) -> Node<'a> {
        self.at(String::new(), self.root)
    }

    /// A value of it at a place.
    pub(super) const fn at(self, path: String, value: &'a Value) -> Node<'a> {
        Node { value, path, document: self }
    }

    fn list(&self, list: &str) -> &'a [Value] {
        self.root.get(list).and_then(Value::as_array).map_or(&[], Vec::as_slice)
    }

    /// How many elements a list has.
    pub(super) fn count(&self, list: &str) -> usize {
        self.list(list).len()
    }

    /// The elements of a list.
    pub(super) fn elements(self, list: &str) -> Vec<Node<'a>> {
        let element = |(i, value)| self.at(format!("{list}[{i}]"), value);
        self.list(list).iter().enumerate().map(element).collect()
    }

    /// An element of a list by its index, which exists.
    pub(super) fn element(&self, list: &str, index: usize, keys: &[&str]) -> Option<Node<'a>> {
        let value = self.list(list).get(index)?;
        self.at(format!("{list}[{index}]"), value).object(keys)
    }
}
