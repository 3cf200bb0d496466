//! The parameters of a scene by path: `materials.gold.roughness`, `shapes."tall box".emission`, `camera.position.1`.
//!
//! A path is that of a value in the complete scene file, as `torrance convert` writes it with all defaults. Members of
//! arrays are addressed by name, or by index if they have none.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

use serde::Serialize;
use toml::{Table, Value};
use torrance_text::quoted;

use super::load::{files_of, finish, load_bytes, read_file};
use super::write::write_kept;
use crate::description::Overrides;
use crate::description::key::Value as Takes;
use crate::files::Files;
use crate::files::asset::Asset;
use crate::formats::toml::keys::PathError;
use crate::formats::toml::lookup::{self, Control, Target, child, member_keys, name_of, position};
use crate::formats::toml::otherwise::converted;
use crate::formats::toml::text::{self, inline, toml_key, vector};
use crate::formats::toml::{Key, Type, read, read_plain};
use crate::input::{Error, NOT_TOML, Problem, parse_hex};
use crate::load::{LoadedScene, Options};
use crate::write::Extent;

/// A scene of any supported format whose parameters can be inspected and set, and which can be reloaded with them.
///
/// Meshes and images are read once: all scenes loaded from it and from its clones share them. A clone copies only the
/// contents of the scene file.
#[derive(Debug, Clone)]
pub struct SceneValues {
    /// A table.
    document: Value,
    base: Arc<Base>,
}

/// The scene that the values belong to.
#[derive(Debug, Clone)]
struct Base {
    path: PathBuf,
    files: Files,
    overrides: Overrides,
    /// Warnings of the scene file.
    warnings: Vec<Problem>,
    /// Warnings of the values before any is set.
    usual: BTreeSet<String>,
    /// The files that the scene was read from.
    read: BTreeSet<PathBuf>,
    /// [`LoadedScene::notes`] of the scene file.
    notes: Vec<String>,
}

/// A parameter of a scene.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Parameter {
    /// Its path.
    pub path: String,
    /// Its value, in TOML. Arrays of numbers and words are one value.
    pub value: String,
    /// The allowed values, in a few words.
    pub takes: String,
}

/// A parameter of a scene, for programs in which people change it.
#[derive(Debug, Clone, PartialEq)]
pub struct EditableParameter {
    /// Its path.
    pub path: String,
    /// Its value.
    pub value: Value,
    /// The allowed values, in a few words.
    pub takes: String,
    /// What it can be changed with.
    pub control: Control,
    /// Its meaning, a sentence or nothing.
    pub about: &'static str,
    /// Its unit, if it has one.
    pub unit: &'static str,
}

impl SceneValues {
    /// Reads a scene file and everything it refers to. Overrides take precedence over values set later.
    ///
    /// # Errors
    /// All problems of the scene.
    pub fn open(path: &Path, options: &Options) -> Result<Self, Error> {
        let files = files_of(path, options).keeping();
        let loaded = read_file(path, options, &files)?;
        Self::of_loaded(path, loaded, files, options)
    }

    /// As [`SceneValues::open`], of the text of a TOML scene that is no file. It may name files as one in `folder` may, and these
    /// assets, by their paths from there.
    ///
    /// # Errors
    /// All problems of the scene; its lines are those of the text.
    pub fn parse(text: &str, folder: &Path, assets: Vec<Asset>, options: &Options) -> Result<Self, Error> {
        let path = folder.join("scene.toml");
        let files = files_of(&path, options).keeping().with(assets);
        let loaded = load_bytes(&path.display().to_string(), text.as_bytes(), &files)?;
        Self::of_loaded(&path, loaded, files, options)
    }

    /// Adds files that are nowhere but in memory, for values to name by their paths from the scene's folder; or puts others in
    /// their places.
    pub fn add(&mut self, assets: Vec<Asset>) {
        let base = Arc::make_mut(&mut self.base);
        base.files = base.files.clone().and(assets);
    }

    /// Forgets those of the files in memory that would be in `folder` and are not named by the values any more. Clones keep theirs.
    pub fn forget_unnamed(&mut self, folder: &Path) {
        let mut named = BTreeSet::new();
        strings(&self.document, &mut |text| {
            named.insert(self.folder().join(text));
        });
        let base = Arc::make_mut(&mut self.base);
        base.files.retain_in_memory(|path| !path.starts_with(folder) || named.contains(path));
    }

    fn of_loaded(path: &Path, loaded: LoadedScene, files: Files, options: &Options) -> Result<Self, Error> {
        let LoadedScene { description, warnings, files: read, notes } = loaded;
        let written = write_kept(&description, path, Extent::Full, files.kept.as_deref());
        let base = Base {
            path: path.to_owned(),
            files: files.and(written.assets),
            overrides: options.overrides,
            warnings,
            usual: BTreeSet::new(),
            read,
            notes,
        };
        let document = written.document.into();
        let usual = base.read(&document)?.warnings.into_iter().map(|warning| warning.message).collect();
        Ok(Self { document, base: Arc::new(Base { usual, ..base }) })
    }

    /// Warnings of the scene file.
    pub fn warnings(&self) -> &[Problem] {
        &self.base.warnings
    }

    /// What the user may want to know of the scene file, though nothing is wrong.
    pub fn notes(&self) -> &[String] {
        &self.base.notes
    }

    /// All parameters that have a value, in the order of the file. Keys that are not among them can be set as well.
    pub fn list(&self) -> Vec<Parameter> {
        let mut found = Vec::new();
        leaves("", &self.document, (lookup::DOCUMENT, None), &mut |Leaf { path, value, takes, .. }| {
            found.push(Parameter { path, value: inline(value), takes: takes.describe() });
        });
        found
    }

    /// As [`SceneValues::list`], for programs in which people change them.
    pub fn editable(&self) -> Vec<EditableParameter> {
        let mut found = Vec::new();
        leaves("", &self.document, (lookup::DOCUMENT, None), &mut |Leaf { path, value, takes, key }| {
            let control = Control::of(&takes, &self.document);
            let (about, unit) = key.map_or(("", ""), |key| (key.about, key.unit));
            let (value, takes) = (value.clone(), takes.describe());
            found.push(EditableParameter { path, value, takes, control, about, unit });
        });
        found
    }

    /// The value at a path, in TOML: the value itself, or the equivalent of an alternative key, or the default.
    ///
    /// # Errors
    /// The path leads nowhere, or has no value.
    pub fn get(&self, path: &str) -> Result<String, PathError> {
        let value = self.find(path)?.map(|value| inline(&value));
        value.ok_or_else(|| PathError::NoValue(path.to_owned()))
    }

    /// The value at a path, if there is one, as [`SceneValues::get`] finds it.
    ///
    /// # Errors
    /// The path leads nowhere.
    pub fn find(&self, path: &str) -> Result<Option<Value>, PathError> {
        let (keys, place) = self.place(path)?;
        Ok(self.value(&keys, &place))
    }

    /// Sets the value at a path. `value` is TOML, in which words, names, files and colours need no quotes. A missing key is
    /// added and alternative keys are removed; setting `type` removes the keys that the new type does not have.
    ///
    /// # Errors
    /// The path leads nowhere, or does not accept such a value. [`SceneValues::load`] validates the scene as a whole.
    pub fn set(&mut self, path: &str, value: &str) -> Result<(), PathError> {
        let (keys, place) = self.place(path)?;
        let value = place.takes.parse(&name(&keys, &place), value, &self.document)?;
        self.put(&keys, &place, value)
    }

    /// As [`SceneValues::set`], with a TOML value instead of text.
    ///
    /// # Errors
    /// As [`SceneValues::set`].
    pub fn set_value(&mut self, path: &str, value: &Value) -> Result<(), PathError> {
        let (keys, place) = self.place(path)?;
        let value = place.takes.check(&name(&keys, &place), value, &self.document)?;
        self.put(&keys, &place, value)
    }

    /// The allowed values at a path, in a few words, as in `0, or from 0.01 to 1`.
    ///
    /// # Errors
    /// The path leads nowhere.
    pub fn takes(&self, path: &str) -> Result<String, PathError> {
        self.place(path).map(|(_, place)| place.takes.describe())
    }

    /// The names of the entries of a table of tables, such as `materials`.
    pub fn names(&self, table: &str) -> Vec<&str> {
        let tables = self.document.get(table).and_then(Value::as_table);
        tables.into_iter().flat_map(Table::keys).map(String::as_str).collect()
    }

    /// The words allowed at a path; empty if it does not take words.
    ///
    /// # Errors
    /// The path leads nowhere.
    pub fn choices(&self, path: &str) -> Result<Vec<String>, PathError> {
        let (_, place) = self.place(path)?;
        Ok(place.takes.all_choices().into_iter().map(str::to_owned).collect())
    }

    /// Loads the scene with these values. Its warnings are only those caused by the values set. Files are not read again, so
    /// the time depends on the size of the scene file, not on meshes and images.
    ///
    /// # Errors
    /// The values are invalid; the problems have no position in the scene file.
    pub fn load(&self) -> Result<LoadedScene, Error> {
        self.load_with(&Overrides::default())
    }

    /// As [`SceneValues::load`], with settings that take precedence.
    ///
    /// # Errors
    /// As [`SceneValues::load`].
    pub fn load_with(&self, overrides: &Overrides) -> Result<LoadedScene, Error> {
        let mut loaded = self.base.read(&self.document)?;
        loaded.warnings.retain(|warning| !self.base.usual.contains(&warning.message));
        let known = &self.base.warnings;
        self.base.overrides.apply(&mut loaded.description.render);
        let mut loaded = finish(&self.base.path, loaded, overrides)?;
        loaded.warnings.retain(|warning| known.iter().all(|known| known.message != warning.message));
        loaded.files.extend(self.base.read.iter().cloned());
        Ok(loaded)
    }

    /// The table or value at a path as it stands in the document, if it does.
    pub fn entry(&self, path: &str) -> Option<Value> {
        let keys = split(path).ok()?;
        keys.iter().try_fold(&self.document, |value, key| child(value, key)).cloned()
    }

    /// Puts back a table or value that [`SceneValues::entry`] has found, or its absence.
    pub fn put_entry(&mut self, path: &str, value: Option<Value>) {
        let Ok(keys) = split(path) else { return };
        let Some((last, way)) = keys.split_last() else { return };
        let Some(table) = way.iter().try_fold(&mut self.document, |value, key| entry(value, key)) else {
            return;
        };
        match (value, table) {
            (Some(value), table) => {
                if let Some(slot) = entry(table, last) {
                    *slot = value;
                }
            }
            (None, Value::Table(table)) => {
                table.remove(last);
            }
            (None, _) => {}
        }
    }

    /// Adds to a table what its type has to have and it lacks: as another scene has it there, if it is of that type, or an example. The paths
    /// of what is added.
    pub fn complete(&mut self, table: &str, like: &Self) -> Vec<String> {
        let Ok((_, Target { section, kind, .. })) = self.place(&format!("{table}.type")) else {
            return Vec::new();
        };
        let Some(Value::Table(own)) = self.entry(table) else { return Vec::new() };
        let other = like.entry(table).filter(|other| other.get("type") == own.get("type"));
        let lacks = |key: &&Key| {
            let has = |name: &str| own.contains_key(name);
            !has(key.name) && !key.instead.iter().any(|name| has(name))
        };
        let mut added = Vec::new();
        for key in section.keys_of(kind).filter(lacks) {
            let others = other.as_ref().and_then(|other| other.get(key.name)).cloned();
            let example = || key.required.then(|| Value::from_str(key.example).ok()).flatten();
            if let Some(value) = others.or_else(example) {
                let path = format!("{table}.{}", toml_key(key.name));
                self.put_entry(&path, Some(value));
                added.push(path);
            }
        }
        added
    }

    /// Whether values name files that are nowhere but in memory, as meshes of glTF are.
    pub fn has_files_in_memory(&self) -> bool {
        self.base.files.has_some_in_memory()
    }

    /// The complete scene as a TOML file, which refers to files from its folder.
    pub fn to_toml(&self) -> String {
        self.document.as_table().map_or_else(String::new, text::document)
    }

    /// The files that the scene was read from.
    pub fn files(&self) -> &BTreeSet<PathBuf> {
        &self.base.read
    }

    /// The folder of the scene.
    pub fn folder(&self) -> &Path {
        self.base.files.folder()
    }

    /// The target of a path.
    fn place(&self, path: &str) -> Result<(Vec<String>, Target), PathError> {
        let keys = split(path)?;
        let place = lookup::find(&self.document, &keys)?;
        Ok((keys, place))
    }

    /// The value of a target.
    fn value(&self, keys: &[String], place: &Target) -> Option<Value> {
        let (way, rest) = keys.split_at(place.depth);
        let table = way.iter().try_fold(&self.document, |value, key| child(value, key));
        let (first, parts) = rest.split_first()?;
        let whole = match (table.and_then(|table| child(table, first)), place.key) {
            (Some(value), _) => Some(value.clone()),
            (None, Some(key)) => value_or_default(key, table.and_then(Value::as_table)),
            (None, None) => None,
        };
        parts.iter().try_fold(whole?, |value, part| child(&widened(value, place.parts), part).cloned())
    }

    fn put(&mut self, keys: &[String], place: &Target, value: Value) -> Result<(), PathError> {
        let (way, rest) = keys.split_at(place.depth);
        let Some((first, parts)) = rest.split_first() else { return Ok(()) };
        let mut table = &mut self.document;
        for key in way {
            table = entry(table, key).ok_or_else(|| PathError::Nowhere(format!("no {}", quoted(key))))?;
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
                        let nothing = PathError::Nowhere(format!(
                            "\"{}\" has no value that this could be a part of",
                            key.name
                        ));
                        with_part(
                            value_or_default(key, Some(table)).ok_or(nothing)?,
                            parts,
                            place.parts,
                            value,
                        )
                    }
                };
                replace(table, place, key, whole)?;
            }
            (table, ..) => {
                let slot =
                    entry(table, first).ok_or_else(|| PathError::Nowhere(format!("no {}", quoted(first))))?;
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
    /// Reads a document as a scene.
    fn read(&self, document: &Value) -> Result<LoadedScene, Error> {
        let file = self.path.display().to_string();
        if let Some(description) = document.as_table().and_then(|table| read_plain(&file, table, &self.files))
        {
            let (warnings, notes) = (Vec::new(), Vec::new());
            return Ok(LoadedScene { description, warnings, files: self.files.named(), notes });
        }
        let text = document.as_table().map_or_else(String::new, text::document);
        // Nobody has seen that text.
        let placeless = |mut problem: Problem| {
            problem.help = None;
            if let Some(reason) = problem.message.strip_prefix(NOT_TOML) {
                problem.message = format!("the parameters of the scene cannot be said in TOML: {reason}");
            }
            if problem.file == file { Problem::of_file(problem.file, problem.message) } else { problem }
        };
        match read(&file, &text, &self.files) {
            Ok((description, warnings)) => {
                let warnings = warnings.into_iter().map(placeless).collect();
                Ok(LoadedScene { description, warnings, files: self.files.named(), notes: Vec::new() })
            }
            Err(error) => Err(Error { problems: error.problems.into_iter().map(placeless).collect() }),
        }
    }
}

/// Visits all strings of a value.
fn strings(value: &Value, visit: &mut dyn FnMut(&str)) {
    match value {
        Value::String(text) => visit(text),
        Value::Array(values) => values.iter().for_each(|value| strings(value, visit)),
        Value::Table(table) => table.iter().for_each(|(_, value)| strings(value, visit)),
        _ => {}
    }
}

/// The name of a target in messages: the key and what follows it.
fn name(keys: &[String], place: &Target) -> String {
    keys[place.depth.min(keys.len() - 1)..].join(".")
}

/// The value of a key of a table: its own, the equivalent of another key, or the default.
fn value_or_default(key: &Key, table: Option<&Table>) -> Option<Value> {
    let there = table.and_then(|table| table.get(key.name).cloned().or_else(|| converted(key, table)));
    there.or_else(|| Value::from_str(&key.default.to_string()).ok())
}

/// Sets a key of a table and removes its alternatives; whatever else these define is kept under its own key.
fn replace(table: &mut Table, place: &Target, key: &Key, value: Value) -> Result<(), PathError> {
    for other in key.instead.iter().filter(|other| table.contains_key(**other)).collect::<Vec<_>>() {
        let rest = place.section.keys_of(place.kind).filter(|rest| {
            rest.name != key.name && rest.instead.contains(other) && !key.instead.contains(&rest.name)
        });
        for rest in rest.collect::<Vec<_>>() {
            let value = converted(rest, table).ok_or_else(|| {
                let [whole, key, other] = [*other, key.name, rest.name].map(str::to_owned);
                PathError::Inseparable { whole, key, other }
            })?;
            table.insert(rest.name.to_owned(), value);
        }
        table.remove(*other);
    }
    table.insert(key.name.to_owned(), value);
    Ok(())
}

/// Keeps only the keys that the new type has as well, converted to its alternatives where it uses others.
fn retype(table: &mut Table, place: &Target, kind: Option<&'static Type>) {
    let knows = |name: &str| place.section.keys_of(kind).any(|key| key.name == name);
    let is_lost = |key: &&Key| {
        knows(key.name) && !table.contains_key(key.name) && !key.instead.iter().any(|other| knows(other))
    };
    let lost = place.section.keys_of(place.kind).filter(is_lost);
    let lost: Vec<_> = lost.filter_map(|key| Some((key.name.to_owned(), converted(key, table)?))).collect();
    table.retain(|name, _| knows(name));
    table.extend(lost);
}

/// A value of `n` parts with one of them replaced.
fn with_part(whole: Value, parts: &[String], n: usize, value: Value) -> Value {
    let Some((part, parts)) = parts.split_first() else { return value };
    let mut whole = widened(whole, n);
    if let Some(slot) = entry(&mut whole, part) {
        *slot = with_part(slot.clone(), parts, n, value);
    }
    whole
}

/// Expands a value that stands for all of `n` parts.
fn widened(value: Value, n: usize) -> Value {
    match value {
        Value::Array(_) | Value::Table(_) => value,
        value => match value.as_str().and_then(parse_hex) {
            Some(color) => vector(color),
            None => Value::Array(vec![value; n]),
        },
    }
}

/// A value that is no table.
struct Leaf<'a> {
    path: String,
    value: &'a Value,
    takes: Takes,
    key: Option<&'static Key>,
}

/// Visits all parameters below a path, whose allowed values are `takes`.
fn leaves(
    path: &str,
    value: &Value,
    (takes, key): (Takes, Option<&'static Key>),
    visit: &mut dyn FnMut(Leaf<'_>),
) {
    let below = |key: &str| if path.is_empty() { toml_key(key) } else { format!("{path}.{}", toml_key(key)) };
    match value {
        Value::Table(table) => {
            // A name is in the path.
            for (key, part) in table.iter().filter(|(key, part)| *key != "name" || !part.is_str()) {
                leaves(&below(key), part, takes.of_key(value, key), visit);
            }
        }
        Value::Array(items) if items.iter().any(Value::is_table) => {
            for (name, item) in member_keys(items).iter().zip(items) {
                leaves(&below(name), item, (takes.of_items().unwrap_or(takes), key), visit);
            }
        }
        value => visit(Leaf { path: path.to_owned(), value, takes, key }),
    }
}

/// Whether a value contains another: tables may have additional keys.
pub fn says_all_of(value: &Value, other: &Value) -> bool {
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

/// Splits a path into keys; those that are not plain words are in quotes.
///
/// # Errors
/// The text is not a path.
pub fn split(path: &str) -> Result<Vec<String>, PathError> {
    let wrong = || PathError::Syntax(path.to_owned());
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
                if end == 0 {
                    return Err(wrong());
                }
                (rest[..end].to_owned(), &rest[end..])
            }
        };
        keys.push(key);
        match after.strip_prefix('.') {
            Some(after) => rest = after,
            None if after.is_empty() => return Ok(keys),
            None => return Err(wrong()),
        }
    }
}

/// Splits an assignment such as `shapes."a = b".emission=2` into path and value, at the first `=` outside of keys in
/// quotes.
pub fn path_and_value(text: &str) -> Option<(&str, &str)> {
    let mut read = text.len() - text.trim_start().len();
    loop {
        if let Some(quoted) = text[read..].strip_prefix('"') {
            read += end_of_string(quoted)? + 2;
        }
        read += text[read..].find(['.', '='])?;
        if text[read..].starts_with('=') {
            return Some((text[..read].trim(), text[read + 1..].trim()));
        }
        read += 1;
    }
}

/// Position of the quote that ends a string.
fn end_of_string(text: &str) -> Option<usize> {
    let mut escaped = false;
    text.char_indices().find_map(|(i, c)| {
        let ends = c == '"' && !escaped;
        escaped = c == '\\' && !escaped;
        ends.then_some(i)
    })
}

/// The value under a key, which is added to tables that lack it.
fn entry<'a>(value: &'a mut Value, key: &str) -> Option<&'a mut Value> {
    match value {
        Value::Table(table) => Some(table.entry(key).or_insert_with(|| Table::new().into())),
        Value::Array(items) => position(items, key).map(|i| &mut items[i]),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Scenes are read from values as they would be from their text, and what is wrong is left to that.
    #[test]
    fn values_are_read_as_their_text_is() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes");
        let mut count = 0;
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_none_or(|extension| extension != "toml") {
                continue;
            }
            let SceneValues { document, base } = SceneValues::open(&path, &Options::default()).unwrap();
            let table = document.as_table().unwrap();
            let (expected, warnings) = read("scene", &text::document(table), &base.files).unwrap();
            let expected = warnings.is_empty().then_some(expected);
            count += usize::from(expected.is_some());
            assert_eq!(read_plain("scene", table, &base.files), expected, "{}", path.display());

            let mut wrong = table.clone();
            wrong.insert("camera".to_owned(), Value::Integer(1));
            assert_eq!(read_plain("scene", &wrong, &base.files), None);
        }
        assert!(count > 5, "{count}");
    }
}
