//! The parameters of a scene by path: `materials.gold.roughness`, `shapes."tall box".emission`, `camera.position.1`.
//!
//! A path is that of a value in the scene file that says everything, `torrance convert` without leaving out defaults.
//! What has a name is found by it, other members of arrays by their number.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

use serde::Serialize;
use toml::{Table, Value};

use super::load::{files_of, finish, read_file};
use super::read::lookup::{self, Place, Takes, child, name_of, position};
use super::read::otherwise::converted;
use super::read::{self, Key, Type, toml_key};
use super::write::{inline, number, text_of, write_kept};
use super::{Error, Extent, Files, Loaded, Options, Overrides, Problem};
use crate::input::{parse_hex, quoted};

/// A scene of any format that is read, whose parameters can be looked at and set, and which is read again with them.
///
/// Meshes and images are read once: all scenes that come of it, and of its clones, share them. A clone copies what a scene
/// file says, and no more.
#[derive(Debug, Clone)]
pub struct SceneValues {
    /// A table.
    document: Value,
    base: Arc<Base>,
}

/// What the values are of.
#[derive(Debug)]
struct Base {
    path: PathBuf,
    files: Files,
    overrides: Overrides,
    /// What the scene file said.
    warnings: Vec<Problem>,
    /// What the values say when none is set.
    usual: BTreeSet<String>,
    /// What the scene was read from.
    read: BTreeSet<PathBuf>,
}

/// A parameter of a scene.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Parameter {
    /// Where it is.
    pub path: String,
    /// What it is, in TOML. Arrays of numbers and words are one value.
    pub value: String,
    /// What it may be, in a few words.
    pub takes: String,
}

impl SceneValues {
    /// Reads a scene file and everything it refers to. What is overridden counts more than what will be set.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn open(path: &Path, options: &Options) -> Result<Self, Error> {
        let files = files_of(path, options).keeping();
        let Loaded { description, warnings, files: read } = read_file(path, options, &files)?;
        let written = write_kept(&description, path, Extent::Full, files.kept.as_deref());
        let base = Base {
            path: path.to_owned(),
            files: files.with(written.assets),
            overrides: options.overrides,
            warnings,
            usual: BTreeSet::new(),
            read,
        };
        let document = written.document.into();
        let usual = base.read(&document)?.warnings.into_iter().map(|warning| warning.message).collect();
        Ok(Self { document, base: Arc::new(Base { usual, ..base }) })
    }

    /// What is suspicious in the scene file.
    pub fn warnings(&self) -> &[Problem] {
        &self.base.warnings
    }

    /// All parameters that have a value, in the order of the file. Keys that are not among them can be set as well.
    pub fn list(&self) -> Vec<Parameter> {
        let mut found = Vec::new();
        leaves(&mut found, "", &self.document, lookup::top());
        found
    }

    /// The value at a path, in TOML: what is there, or what another key says in other words, or the default.
    ///
    /// # Errors
    /// There is none, and what there is instead.
    pub fn get(&self, path: &str) -> Result<String, String> {
        let value = self.find(path)?.map(|value| inline(&value));
        value.ok_or_else(|| format!("\"{path}\" has no value"))
    }

    /// The value at a path, if there is one, as [`SceneValues::get`] says it.
    ///
    /// # Errors
    /// The path leads nowhere.
    pub fn find(&self, path: &str) -> Result<Option<Value>, String> {
        let (keys, place) = self.place(path)?;
        Ok(self.value(&keys, &place))
    }

    /// Sets the value at a path. `value` is TOML, where words, names, files and colours may go without quotes. A key that
    /// is not there is added; those that say the same in other words go, and with `type`, those that it does not have.
    ///
    /// # Errors
    /// The path leads nowhere, or nothing like the value may stand there. Whether the scene is one with it,
    /// [`SceneValues::load`] tells.
    pub fn set(&mut self, path: &str, value: &str) -> Result<(), String> {
        let (keys, place) = self.place(path)?;
        let value = place.takes.parse(&name(&keys, &place), value, &self.document)?;
        self.put(&keys, &place, value)
    }

    /// As [`SceneValues::set`], with a value that is no text.
    ///
    /// # Errors
    /// As [`SceneValues::set`].
    pub fn set_value(&mut self, path: &str, value: &Value) -> Result<(), String> {
        let (keys, place) = self.place(path)?;
        let value = place.takes.check(&name(&keys, &place), value, &self.document)?;
        self.put(&keys, &place, value)
    }

    /// What may stand at a path, in a few words, as in `0, or from 0.01 to 1`.
    ///
    /// # Errors
    /// It leads nowhere, and what there is instead.
    pub fn takes(&self, path: &str) -> Result<String, String> {
        self.place(path).map(|(_, place)| place.takes.words())
    }

    /// The names of the tables in one of the scene's tables of them, such as `materials`.
    pub fn names(&self, table: &str) -> Vec<&str> {
        let tables = self.document.get(table).and_then(Value::as_table);
        tables.into_iter().flat_map(Table::keys).map(String::as_str).collect()
    }

    /// The words that may stand at a path; none if it is not words that may.
    ///
    /// # Errors
    /// It leads nowhere, and what there is instead.
    pub fn words(&self, path: &str) -> Result<Vec<String>, String> {
        let (_, place) = self.place(path)?;
        Ok(place.takes.all_words().into_iter().map(str::to_owned).collect())
    }

    /// The scene with these values. Its warnings are those that it would not have if nothing were set. Reads no file that
    /// was read before, and takes time for what the scene file says, not for meshes and images.
    ///
    /// # Errors
    /// What the values make wrong: problems of the scene file have no place in it.
    pub fn load(&self) -> Result<Loaded, Error> {
        let mut loaded = self.base.read(&self.document)?;
        loaded.warnings.retain(|warning| !self.base.usual.contains(&warning.message));
        let known = &self.base.warnings;
        let mut loaded = finish(&self.base.path, loaded, &self.base.overrides)?;
        loaded.warnings.retain(|warning| known.iter().all(|known| known.message != warning.message));
        loaded.files.extend(self.base.read.iter().cloned());
        Ok(loaded)
    }

    /// Where a path leads.
    fn place(&self, path: &str) -> Result<(Vec<String>, Place), String> {
        let keys = split(path)?;
        let place = lookup::find(&self.document, &keys)?;
        Ok((keys, place))
    }

    /// The value of a place.
    fn value(&self, keys: &[String], place: &Place) -> Option<Value> {
        let (way, rest) = keys.split_at(place.depth);
        let table = way.iter().try_fold(&self.document, |value, key| child(value, key));
        let (first, parts) = rest.split_first()?;
        let whole = match (table.and_then(|table| child(table, first)), place.key) {
            (Some(value), _) => Some(value.clone()),
            (None, Some(key)) => said(key, table.and_then(Value::as_table)),
            (None, None) => None,
        };
        parts.iter().try_fold(whole?, |value, part| child(&widened(value, place.parts), part).cloned())
    }

    fn put(&mut self, keys: &[String], place: &Place, value: Value) -> Result<(), String> {
        let (way, rest) = keys.split_at(place.depth);
        let Some((first, parts)) = rest.split_first() else { return Ok(()) };
        let mut table = &mut self.document;
        for key in way {
            table = entry(table, key).ok_or_else(|| format!("no {}", quoted(key)))?;
        }
        match (table, place.takes, place.key) {
            (Value::Table(table), Takes::Type(section), _) => {
                let kind = value.as_str().and_then(|name| section.type_named(name));
                retype(table, place, kind);
                table.insert("type".to_owned(), value);
            }
            (Value::Table(table), _, Some(key)) => {
                let whole = match parts {
                    [] => value,
                    parts => {
                        let nothing = format!("\"{}\" has no value that this could be a part of", key.name);
                        with_part(said(key, Some(table)).ok_or(nothing)?, parts, place.parts, value)
                    }
                };
                replace(table, place, key, whole)?;
            }
            (table, ..) => {
                let slot = entry(table, first).ok_or_else(|| format!("no {}", quoted(first)))?;
                // What has a name keeps it.
                let name = name_of(slot).map(Value::from);
                *slot = value;
                if let (Some(name), Value::Table(table)) = (name, slot) {
                    table.entry("name").or_insert(name);
                }
            }
        }
        Ok(())
    }
}

impl Base {
    /// Reads what a document says.
    fn read(&self, document: &Value) -> Result<Loaded, Error> {
        let file = self.path.display().to_string();
        let text = document.as_table().map_or_else(String::new, text_of);
        // Nobody has seen that text.
        let placeless = |mut problem: Problem| {
            problem.help = None;
            if problem.file == file { Problem::of_file(problem.file, problem.message) } else { problem }
        };
        match read::read(&file, &text, &self.files) {
            Ok((description, warnings)) => {
                let warnings = warnings.into_iter().map(placeless).collect();
                Ok(Loaded { description, warnings, files: self.files.named() })
            }
            Err(error) => Err(Error { problems: error.problems.into_iter().map(placeless).collect() }),
        }
    }
}

/// What messages call a place: the key and what follows it.
fn name(keys: &[String], place: &Place) -> String {
    keys[place.depth.min(keys.len() - 1)..].join(".")
}

/// What a key of a table says: what is there, what another says in other words, or the default.
fn said(key: &Key, table: Option<&Table>) -> Option<Value> {
    let there = table.and_then(|table| table.get(key.name).cloned().or_else(|| converted(key, table)));
    there.or_else(|| Value::from_str(key.default).ok())
}

/// Sets a key of a table. What says the same goes; what else that said stays said.
fn replace(table: &mut Table, place: &Place, key: &Key, value: Value) -> Result<(), String> {
    for other in key.instead.iter().filter(|other| table.contains_key(**other)).collect::<Vec<_>>() {
        let rest = place.section.keys_of(place.kind).filter(|rest| {
            rest.name != key.name && rest.instead.contains(other) && !key.instead.contains(&rest.name)
        });
        for rest in rest.collect::<Vec<_>>() {
            let value = converted(rest, table).ok_or_else(|| {
                format!("\"{other}\" says \"{}\" and \"{}\" here, inseparably; set that", key.name, rest.name)
            })?;
            table.insert(rest.name.to_owned(), value);
        }
        table.remove(*other);
    }
    table.insert(key.name.to_owned(), value);
    Ok(())
}

/// Leaves what another type has, too. What it says by other keys is said by them.
fn retype(table: &mut Table, place: &Place, kind: Option<&'static Type>) {
    let knows = |name: &str| place.section.keys_of(kind).any(|key| key.name == name);
    let is_lost = |key: &&Key| {
        knows(key.name) && !table.contains_key(key.name) && !key.instead.iter().any(|other| knows(other))
    };
    let lost = place.section.keys_of(place.kind).filter(is_lost);
    let lost: Vec<_> = lost.filter_map(|key| Some((key.name.to_owned(), converted(key, table)?))).collect();
    table.retain(|name, _| knows(name));
    table.extend(lost);
}

/// A value with another in the place of a part of it, one of `n`.
fn with_part(whole: Value, parts: &[String], n: usize, value: Value) -> Value {
    let Some((part, parts)) = parts.split_first() else { return value };
    let mut whole = widened(whole, n);
    if let Some(slot) = entry(&mut whole, part) {
        *slot = with_part(slot.clone(), parts, n, value);
    }
    whole
}

/// A value as `n` parts, if it stands for all of them.
fn widened(value: Value, n: usize) -> Value {
    match value {
        Value::Array(_) | Value::Table(_) => value,
        Value::String(text) if parse_hex(&text).is_some() => {
            let channels = parse_hex(&text).map_or([0.0; 3], |color| color.to_array());
            Value::Array(channels.map(number).to_vec())
        }
        value => Value::Array(vec![value; n]),
    }
}

/// Adds what there is below a path, where there may be what `takes` says.
fn leaves(found: &mut Vec<Parameter>, path: &str, value: &Value, takes: Takes) {
    let below = |key: &str| if path.is_empty() { toml_key(key) } else { format!("{path}.{}", toml_key(key)) };
    match value {
        Value::Table(table) => {
            // A name is in the path.
            for (key, part) in table.iter().filter(|(key, part)| *key != "name" || !part.is_str()) {
                leaves(found, &below(key), part, takes.of_key(value, key));
            }
        }
        Value::Array(items) if items.iter().any(Value::is_table) => {
            for (i, item) in items.iter().enumerate() {
                let key = name_of(item).map_or_else(|| i.to_string(), str::to_owned);
                leaves(found, &below(&key), item, takes.of_items());
            }
        }
        value => found.push(Parameter { path: path.to_owned(), value: inline(value), takes: takes.words() }),
    }
}

/// Whether a value says all that another one does, and perhaps more: tables may have more keys.
pub(crate) fn says_all_of(value: &Value, other: &Value) -> bool {
    match (value, other) {
        (Value::Table(value), Value::Table(other)) => {
            other.iter().all(|(key, other)| value.get(key).is_some_and(|value| says_all_of(value, other)))
        }
        (Value::Array(value), Value::Array(other)) => {
            value.len() == other.len()
                && value.iter().zip(other).all(|(value, other)| says_all_of(value, other))
        }
        (value, other) => value == other,
    }
}

/// The keys of a path; those that are no plain words are in quotes.
///
/// # Errors
/// It is none.
pub(crate) fn split(path: &str) -> Result<Vec<String>, String> {
    let wrong =
        || format!("{} is no path, as camera.fov or shapes.\"tall box\".emission is one", quoted(path));
    let mut keys = Vec::new();
    let mut rest = path;
    loop {
        let (key, after) = match rest.strip_prefix('"') {
            Some(quoted) => {
                let end = end_of_string(quoted).ok_or_else(wrong)?;
                let key =
                    toml::from_str::<Table>(&format!("k = \"{}\"", &quoted[..end])).map_err(|_| wrong())?;
                let key = key.get("k").and_then(Value::as_str).map(str::to_owned).ok_or_else(wrong)?;
                (key, &quoted[end + 1..])
            }
            None => {
                let end = rest.find('.').unwrap_or(rest.len());
                (rest[..end].to_owned(), &rest[end..])
            }
        };
        if key.is_empty() {
            return Err(wrong());
        }
        keys.push(key);
        match after.strip_prefix('.') {
            Some(after) => rest = after,
            None if after.is_empty() => return Ok(keys),
            None => return Err(wrong()),
        }
    }
}

/// The path and the value that a text like `shapes."a = b".emission=2` sets: the first `=` outside quotes is between them.
pub(crate) fn path_and_value(text: &str) -> Option<(&str, &str)> {
    let mut read = 0;
    loop {
        let at = read + text[read..].find(['"', '='])?;
        if text[at..].starts_with('=') {
            return Some((text[..at].trim(), text[at + 1..].trim()));
        }
        read = at + 1;
        read += end_of_string(&text[read..])? + 1;
    }
}

/// Where the quote is that ends a string.
fn end_of_string(text: &str) -> Option<usize> {
    let mut escaped = false;
    text.char_indices().find_map(|(i, c)| {
        let ends = c == '"' && !escaped;
        escaped = c == '\\' && !escaped;
        ends.then_some(i)
    })
}

/// What a value has under a key; tables get what they lack.
fn entry<'a>(value: &'a mut Value, key: &str) -> Option<&'a mut Value> {
    match value {
        Value::Table(table) => Some(table.entry(key).or_insert_with(|| Table::new().into())),
        Value::Array(items) => position(items, key).map(|i| &mut items[i]),
        _ => None,
    }
}
