//! Where a path leads in a document, by the table of keys: what may stand there, and what a text for it means.

use std::collections::HashSet;
use std::str::FromStr;

use serde::Serialize;
use toml::{Table, Value as Toml};
use torrance_text::{hint, list, nearest, quoted};

use super::error::PathError;
use super::{ENVIRONMENT, PARAMETER, TOP, suggestion};
use crate::description::key::{Key, Section, Type, Value};
use crate::formats::toml::text::toml_key;
use crate::input::parse_hex;

/// The place that a path leads to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Target {
    pub(crate) takes: Value,
    /// The key that it is the value of, or a part of; nothing for tables with names and those of arrays.
    pub(crate) key: Option<&'static Key>,
    /// The section of that key, and its type there.
    pub(crate) section: &'static Section,
    pub(crate) kind: Option<&'static Type>,
    /// How many keys of the path lead to the table or array that it is in.
    pub(crate) depth: usize,
    /// Of how many parts it is one; a value that is not as many stands for each.
    pub(crate) parts: usize,
}

/// The target of a path.
///
/// # Errors
/// The path leads nowhere.
pub(crate) fn find(document: &Toml, path: &[String]) -> Result<Target, PathError> {
    PathWalker { path }.walk(DOCUMENT, Some(document), 0, member(&TOP, 0))
}

/// The whole document.
pub(crate) const DOCUMENT: Value = Value::Table(&TOP);

/// A path that is being followed.
struct PathWalker<'a> {
    path: &'a [String],
}

impl PathWalker<'_> {
    /// Follows the path from key `i` on, from what takes `value` and has `here` in it; `place` is what that is.
    fn walk(&self, value: Value, here: Option<&Toml>, i: usize, place: Target) -> Result<Target, PathError> {
        let Some(key) = self.path.get(i) else { return Ok(Target { takes: value, ..place }) };
        let part = |of: Value, parts: usize| {
            self.walk(of, here.and_then(|v| child(v, key)), i + 1, Target { parts, ..place })
        };
        let is_one_of = |n: usize| key.parse().is_ok_and(|part: usize| part < n);
        match value {
            Value::Table(section) => self.walk_table(section, here, i),
            Value::Named(section) => {
                let found = here.and_then(|v| v.get(key));
                let found = found.ok_or_else(|| self.nothing(i, names(here)))?;
                self.walk(Value::Table(section), Some(found), i + 1, member(section, i))
            }
            Value::Tables(section) => {
                let items = here.and_then(Toml::as_array).map_or(&[][..], Vec::as_slice);
                let found = position(items, key).ok_or_else(|| self.nothing(i, names(here)))?;
                self.walk(Value::Table(section), Some(&items[found]), i + 1, member(section, i))
            }
            Value::Textured(_) if here.is_some_and(Toml::is_table) => self.walk_table(&PARAMETER, here, i),
            Value::Textured(of) => match here.and_then(Toml::as_str).filter(|text| !is_color(text)) {
                Some(name) => Err(self.elsewhere(i, "textures", name)),
                None => self.walk(*of, here, i, place),
            },
            Value::Either(choices) => {
                if let (Some(Toml::String(name)), [Value::Name(_), ..]) = (here, choices) {
                    return Err(self.elsewhere(i, "materials", name));
                }
                let mut ways = choices.iter().map(|choice| self.walk(*choice, here, i, place));
                let found = ways.find_map(Result::ok);
                found.ok_or_else(|| self.no_part(i, &value))
            }
            Value::Color(most) if is_one_of(3) => part(Value::Number(0.0, most), 3),
            Value::Vector(most) if is_one_of(3) => part(Value::Number(-most, most), 3),
            Value::Several(n, of) if is_one_of(n) => part(*of, n),
            Value::OneOrTwo(of) if is_one_of(2) => part(*of, 2),
            _ => Err(self.no_part(i, &value)),
        }
    }

    fn walk_table(
        &self,
        section: &'static Section,
        here: Option<&Toml>,
        i: usize,
    ) -> Result<Target, PathError> {
        let name = self.path[i].as_str();
        let table = here.and_then(Toml::as_table);
        let kind = kind_of(section, table, name);
        let place = Target { takes: Value::Type(section), key: None, section, kind, depth: i, parts: 1 };
        if name == "type" && !section.types.is_empty() && i + 1 == self.path.len() {
            return Ok(place);
        }
        let Some(key) = section.keys_of(kind).find(|key| key.name == name) else {
            return Err(self.no_key(i, section, kind));
        };
        self.walk(key.value, table.and_then(|t| t.get(name)), i + 1, Target { key: Some(key), ..place })
    }

    /// A section has no key `i`.
    fn no_key(&self, i: usize, section: &'static Section, kind: Option<&'static Type>) -> PathError {
        let (name, known) = (self.path[i].as_str(), section.known(kind));
        let others = section.types.iter().filter(|kind| kind.keys().any(|key| key.name == name));
        let meaning = match (list(others.map(|kind| kind.name()), "or"), kind) {
            (Some(others), Some(kind)) => {
                Some(format!("it is for type {others}, and this is \"{}\"", kind.name()))
            }
            _ => suggestion(name, &known),
        };
        match meaning {
            Some(meaning) => PathError::Nowhere(format!("no {}; {meaning}", self.shown(i, None))),
            None => self.nothing(i, known.iter().map(|name| (*name).to_owned()).collect()),
        }
    }

    /// The path up to key `i`, or with another in its place, in quotes.
    fn shown(&self, i: usize, other: Option<&str>) -> String {
        let last = other.unwrap_or(self.path[i].as_str());
        let keys: Vec<_> = self.path[..i].iter().map(String::as_str).chain([last]).map(toml_key).collect();
        format!("\"{}\"", keys.join("."))
    }

    /// There is no key `i`, but these.
    fn nothing(&self, i: usize, known: Vec<String>) -> PathError {
        let known = || known.iter().map(String::as_str);
        let instead = match nearest(&self.path[i], known()) {
            Some(near) => format!("; did you mean {}?", self.shown(i, Some(near))),
            None => match (list(known(), "and"), i) {
                (Some(list), 0) => format!("; a scene has {list}"),
                (Some(list), _) => format!("; {} has {list}", self.shown(i.saturating_sub(1), None)),
                (None, _) => format!("; {} has nothing", self.shown(i.saturating_sub(1), None)),
            },
        };
        PathError::Nowhere(format!("no {}{instead}", self.shown(i, None)))
    }

    /// A value has no part `i`.
    fn no_part(&self, i: usize, value: &Value) -> PathError {
        let parts = match parts(value) {
            0 => "no parts".to_owned(),
            n => format!("parts 0 to {}", n - 1),
        };
        let (path, whole) = (self.shown(i, None), self.shown(i.saturating_sub(1), None));
        PathError::Nowhere(format!("no {path}; {whole} has {parts}"))
    }

    /// Before key `i` is a name, whose table is elsewhere.
    fn elsewhere(&self, i: usize, of: &str, name: &str) -> PathError {
        let (path, place) = (self.shown(i, None), self.shown(i.saturating_sub(1), None));
        PathError::Nowhere(format!(
            "no {path}; {place} is {}, which \"{of}.{}\" is for",
            quoted(name),
            toml_key(name)
        ))
    }
}

/// How many parts a value has that are numbered.
fn parts(value: &Value) -> usize {
    match value {
        Value::Color(_) | Value::Vector(_) => 3,
        Value::Several(n, _) => *n,
        Value::OneOrTwo(_) => 2,
        Value::Textured(of) => parts(of),
        Value::Either(choices) => choices.iter().map(parts).max().unwrap_or(0),
        _ => 0,
    }
}

/// A table with a name, or of an array.
fn member(section: &'static Section, depth: usize) -> Target {
    Target { takes: Value::Table(section), key: None, section, kind: None, depth, parts: 1 }
}

/// The type of a table that has, or is to have, a key.
fn kind_of(section: &'static Section, table: Option<&Table>, key: &str) -> Option<&'static Type> {
    let said = table.and_then(|table| table.get("type")).and_then(Toml::as_str);
    let has = |other: &str| table.is_some_and(|table| table.contains_key(other));
    let is_image = has("file") || (key == "file" && !has("radiance"));
    let unsaid = match section.id == ENVIRONMENT.id {
        true if is_image => "image",
        true => "constant",
        false => section.default_type,
    };
    section.type_named(said.unwrap_or(unsaid))
}

/// The member of an array that a key means: by name, or by number.
pub(crate) fn position(items: &[Toml], key: &str) -> Option<usize> {
    let named = items.iter().position(|item| name_of(item) == Some(key));
    named.or_else(|| key.parse().ok().filter(|i| *i < items.len()))
}

/// The value under a key.
pub(crate) fn child<'a>(value: &'a Toml, key: &str) -> Option<&'a Toml> {
    match value {
        Toml::Array(items) => position(items, key).map(|i| &items[i]),
        value => value.get(key),
    }
}

/// The name of a member of an array.
pub(crate) fn name_of(item: &Toml) -> Option<&str> {
    item.as_table()?.get("name")?.as_str()
}

/// The keys of the members of an array: their names, or their numbers, with zeros before those that are names of others.
pub(crate) fn member_keys(items: &[Toml]) -> Vec<String> {
    let names: HashSet<_> = items.iter().filter_map(name_of).collect();
    let number = |i: usize| {
        let mut key = i.to_string();
        while names.contains(key.as_str()) {
            key.insert(0, '0');
        }
        key
    };
    let key = |(i, item)| name_of(item).map_or_else(|| number(i), str::to_owned);
    items.iter().enumerate().map(key).collect()
}

/// The names of what a value has.
fn names(value: Option<&Toml>) -> Vec<String> {
    match value {
        Some(Toml::Table(table)) => table.keys().cloned().collect(),
        Some(Toml::Array(items)) => member_keys(items),
        _ => Vec::new(),
    }
}

impl Value {
    /// The words that may stand there.
    pub(crate) fn all_choices(&self) -> Vec<&'static str> {
        match self {
            Self::Boolean => vec!["false", "true"],
            Self::Type(section) => section.types.iter().map(Type::name).collect(),
            value => choices_in(value).into_iter().flatten().map(|(word, _)| *word).collect(),
        }
    }

    /// The values under a key of a table that stands there, and what the key is.
    pub(crate) fn of_key(self, table: &Toml, key: &str) -> (Self, Option<&'static Key>) {
        let path = [key.to_owned()];
        let place = PathWalker { path: &path }.walk(self, Some(table), 0, member(&TOP, 0));
        place.map_or((Self::Text, None), |place| (place.takes, place.key))
    }

    /// The values of the members of an array that stands there, if it takes one.
    pub(crate) fn of_items(&self) -> Option<Self> {
        match self {
            Self::Tables(section) => Some(Self::Table(section)),
            Self::Several(_, of) | Self::OneOrTwo(of) => Some(**of),
            Self::Either(choices) => choices.iter().find_map(Self::of_items),
            _ => None,
        }
    }

    /// The values that it takes, in a few words, to follow "is".
    pub(crate) fn describe(&self) -> String {
        match self {
            Self::Boolean => "true or false".to_owned(),
            Self::Integer(low, high) => format!("a whole number from {low} to {high}"),
            Self::Number(low, high) if low == high => low.to_string(),
            Self::Number(low, high) => format!("from {} to {}", plain(*low), plain(*high)),
            Self::Color(most) => format!("from 0 to {}, [r, g, b] or #rrggbb", plain(*most)),
            Self::Vector(_) => "[x, y, z]".to_owned(),
            Self::Matrix(rows, columns, _) => format!("{rows} rows of {columns} numbers"),
            Self::Several(n, of) => format!("[…] of {n}: {}", of.describe()),
            Self::OneOrTwo(of) => format!("{}, or [u, v]", of.describe()),
            Self::Textured(of) => of.describe(),
            Self::Word(words) => one_of(words.iter().map(|(word, _)| *word)),
            Self::Type(section) => one_of(section.types.iter().map(Type::name)),
            Self::Text => "text".to_owned(),
            Self::Name(what) => format!("the name of a {what}"),
            Self::File(what) => format!("the name of a file: {what}"),
            Self::Table(section) => format!("a table ({})", section.title),
            Self::Tables(section) => format!("tables ({})", section.title),
            Self::Named(section) => format!("tables by name ({})", section.title),
            // What stands alone comes first.
            Self::Either([range @ Self::Number(..), alone @ Self::Number(low, high)]) if low == high => {
                format!("{}, or {}", alone.describe(), range.describe())
            }
            Self::Either(choices) => choices.iter().map(Self::describe).collect::<Vec<_>>().join(", or "),
        }
    }

    /// The value that a text means there: TOML, or a word, the name of something, a file or a colour without quotes. Messages call
    /// the place `name`.
    ///
    /// # Errors
    /// It is nothing that may stand there.
    pub(crate) fn parse(&self, name: &str, text: &str, document: &Toml) -> Result<Toml, PathError> {
        let text = text.trim();
        let number = || text.parse().ok().filter(|x: &f64| x.is_finite()).map(Toml::Float);
        let value = Toml::from_str(text).ok().or_else(number);
        let word = Toml::String(text.to_owned());
        let found = value.iter().chain([&word]).find_map(|v| fit(self, v, document));
        // What begins like a text, an array or a table is meant to be one, and no word.
        let is_broken = value.is_none() && text.starts_with(['"', '\'', '[', '{']);
        found.ok_or_else(|| match is_broken || text.is_empty() {
            true => PathError::Value(format!("{} is no value", quoted(text))),
            false => PathError::Value(self.complaint(name, value.as_ref().unwrap_or(&word), document)),
        })
    }

    /// A value as it may stand there.
    ///
    /// # Errors
    /// It may not.
    pub(crate) fn check(&self, name: &str, value: &Toml, document: &Toml) -> Result<Toml, PathError> {
        fit(self, value, document).ok_or_else(|| PathError::Value(self.complaint(name, value, document)))
    }

    /// Why a value may not stand there.
    fn complaint(&self, name: &str, v: &Toml, document: &Toml) -> String {
        let unknown = |what: &str, hint: String| {
            format!("unknown {what} {}{hint}", quoted(v.as_str().unwrap_or_default()))
        };
        if let Self::Type(section) = self {
            let names = section.types.iter().flat_map(|kind| kind.names);
            return unknown("type", hint(v.as_str().unwrap_or_default(), "it is", names.copied()));
        }
        if let Some(word) = v.as_str() {
            if let Some(words) = choices_in(self) {
                return unknown(name, hint(word, "it is", words.iter().map(|(word, _)| *word)));
            }
            if let Some(what) = names_in(self)
                && document.get(section_of(what)).is_some_and(Toml::is_table)
                && !is_color(word)
            {
                let named = names_of(document, what);
                return unknown(what, hint(word, "the scene has", named.iter().copied()));
            }
        }
        let is_range = matches!(self, Self::Number(..) | Self::Textured(Self::Number(..)));
        let verb = if is_range && is_number(v) { "goes" } else { "is" };
        let number = if is_range && !is_number(v) { "a number " } else { "" };
        format!("{} {verb} {number}{}", quoted(name), self.describe())
    }
}

/// What a person can change a value with.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Control {
    /// A number.
    Number {
        /// The least.
        min: f64,
        /// The greatest.
        max: f64,
        /// Whether it is whole.
        integer: bool,
    },
    /// A colour, as scene files have them.
    Color {
        /// The greatest channel.
        max: f64,
    },
    /// Three numbers.
    Vector {
        /// The greatest of them, and the least with a minus.
        max: f64,
    },
    /// One of these words.
    Choice {
        /// The words.
        choices: Vec<String>,
    },
    /// `true` or `false`.
    Switch,
    /// The name of a file.
    File,
    /// Anything else, in TOML.
    Text,
}

impl Control {
    /// That of values in a document.
    pub(crate) fn of(value: &Value, document: &Toml) -> Self {
        let words =
            |words: Vec<&str>| Self::Choice { choices: words.into_iter().map(str::to_owned).collect() };
        match value {
            Value::Boolean => Self::Switch,
            Value::Integer(low, high) => {
                Self::Number { min: f64::from(*low), max: f64::from(*high), integer: true }
            }
            Value::Number(min, max) => {
                Self::Number { min: written(*min), max: written(*max), integer: false }
            }
            Value::Color(max) => Self::Color { max: written(*max) },
            Value::Vector(max) => Self::Vector { max: written(*max) },
            Value::Textured(of) | Value::OneOrTwo(of) => Self::of(of, document),
            Value::Word(_) | Value::Type(_) => words(value.all_choices()),
            Value::Name(what) => words(names_of(document, what)),
            Value::File(_) => Self::File,
            // A number that stands alone may be below the range.
            Value::Either([Value::Number(min, max), Value::Number(alone, _)]) => {
                let [min, max] = [min.min(*alone), max.max(*alone)].map(written);
                Self::Number { min, max, integer: false }
            }
            Value::Either([first, ..]) => Self::of(first, document),
            _ => Self::Text,
        }
    }
}

/// The number that people mean who write one.
fn written(x: f32) -> f64 {
    x.to_string().parse().unwrap_or_else(|_| x.into())
}

/// The names of those things that a scene has.
fn names_of<'a>(document: &'a Toml, what: &str) -> Vec<&'a str> {
    let named = document.get(section_of(what)).and_then(Toml::as_table);
    named.into_iter().flat_map(Table::keys).map(String::as_str).collect()
}

/// The words that a value may be.
fn choices_in(value: &Value) -> Option<&'static [(&'static str, &'static str)]> {
    match value {
        Value::Word(words) => Some(words),
        Value::OneOrTwo(of) => choices_in(of),
        Value::Either(choices) => choices.iter().find_map(choices_in),
        _ => None,
    }
}

/// Of what a value may be the name.
fn names_in(value: &Value) -> Option<&'static str> {
    match value {
        Value::Name(what) => Some(what),
        Value::Textured(_) => Some("texture"),
        Value::OneOrTwo(of) => names_in(of),
        Value::Either(choices) => choices.iter().find_map(names_in),
        _ => None,
    }
}

/// The key of the document that has what may be named.
fn section_of(what: &str) -> &'static str {
    match what {
        "material" => "materials",
        "texture" => "textures",
        _ => "groups",
    }
}

fn is_color(text: &str) -> bool {
    parse_hex(text).is_some()
}

fn is_number(v: &Toml) -> bool {
    v.is_integer() || v.is_float()
}

pub(super) fn as_number(v: &Toml) -> Option<f64> {
    v.as_float().or_else(|| v.as_integer().map(|i| i as f64))
}

/// The value as it is written where `value` is taken: whole numbers are so without a point. What
/// tables say is left to the reader.
fn fit(value: &Value, v: &Toml, document: &Toml) -> Option<Toml> {
    let same = |fits: bool| fits.then(|| v.clone());
    let each = |n: usize, of: &Value| {
        let items = v.as_array().filter(|items| items.len() == n)?;
        items.iter().map(|item| fit(of, item, document)).collect::<Option<Vec<_>>>().map(Toml::Array)
    };
    let is_named = |what| {
        let named = document.get(section_of(what)).and_then(Toml::as_table);
        v.as_str().zip(named).is_some_and(|(name, named)| named.contains_key(name))
    };
    match value {
        Value::Boolean => same(v.is_bool()),
        Value::Integer(low, high) => {
            let x = as_number(v).filter(|x| x.fract() == 0.0)?;
            (f64::from(*low)..=f64::from(*high)).contains(&x).then(|| Toml::Integer(x as i64))
        }
        // Rounded before it is compared, as the reader does.
        Value::Number(low, high) => same(as_number(v).is_some_and(|x| (*low..=*high).contains(&(x as f32)))),
        Value::Color(most) => {
            let channel = Value::Number(0.0, *most);
            let grey = || fit(&channel, v, document);
            same(v.as_str().is_some_and(is_color)).or_else(grey).or_else(|| each(3, &channel))
        }
        Value::Vector(most) => each(3, &Value::Number(-most, *most)),
        Value::Matrix(rows, columns, most) => {
            let number = Value::Number(-most, *most);
            let is_row = |row: &Toml| {
                let row = row.as_array().filter(|row| row.len() == *columns);
                row.is_some_and(|row| row.iter().all(|x| fit(&number, x, document).is_some()))
            };
            same(v.as_array().is_some_and(|m| m.len() == *rows && m.iter().all(is_row)))
        }
        Value::Several(n, of) => each(*n, of),
        Value::OneOrTwo(of) => fit(of, v, document).or_else(|| each(2, of)),
        Value::Textured(of) => {
            let texture = || same(v.is_table() || is_named("texture"));
            fit(of, v, document).or_else(texture)
        }
        Value::Word(words) => same(v.as_str().is_some_and(|v| words.iter().any(|(word, _)| *word == v))),
        Value::Type(section) => same(v.as_str().is_some_and(|name| section.type_named(name).is_some())),
        Value::Text | Value::File(_) => same(v.is_str()),
        Value::Name(what) => same(is_named(what)),
        Value::Table(_) | Value::Named(_) => same(v.is_table()),
        Value::Tables(_) => same(v.as_array().is_some_and(|items| items.iter().all(Toml::is_table))),
        Value::Either(choices) => choices.iter().find_map(|choice| fit(choice, v, document)),
    }
}

fn one_of<'a>(names: impl Iterator<Item = &'a str>) -> String {
    list(names, "or").unwrap_or_default()
}

/// A limit as people write it.
pub(super) fn plain(x: f32) -> String {
    if x.abs() >= 1e6 || (x != 0.0 && x.abs() < 1e-3) { format!("{x:e}") } else { x.to_string() }
}
