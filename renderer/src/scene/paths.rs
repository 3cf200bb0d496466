//! The parameters of a scene by path: `materials.gold.roughness`, `shapes."tall box".emission`, `camera.position.1`.
//!
//! A path is that of a value in the scene file that says everything, `torrance convert` without leaving out defaults.
//! What has a name is found by it, other members of arrays by their number.

use toml::{Table, Value};

use super::read::{keys_instead, toml_key};
use super::write::{inline, text_of};
use super::{Error, Files, Loaded, Written, load_bytes};
use crate::input::{hint, quoted};

/// A scene file, whose values can be looked at and set.
#[derive(Debug, Clone, PartialEq)]
pub struct SceneValues {
    /// A table.
    document: Value,
}

impl From<Written> for SceneValues {
    fn from(written: Written) -> Self {
        Self { document: written.document.into() }
    }
}

impl SceneValues {
    /// All paths with their values in TOML, in the order of the file. Arrays of numbers and words are one value.
    pub fn list(&self) -> Vec<(String, String)> {
        let mut found = Vec::new();
        for (key, value) in self.document.as_table().into_iter().flatten() {
            leaves(&mut found, &toml_key(key), value);
        }
        found
    }

    /// The value at a path, in TOML.
    ///
    /// # Errors
    /// There is none, and what there is instead.
    pub fn get(&self, path: &str) -> Result<String, String> {
        let keys = split(path)?;
        let mut value = &self.document;
        for key in &keys {
            value = child(value, key).map_err(|names| unknown(key, &names))?;
        }
        Ok(inline(value))
    }

    /// Sets the value at a path; `value` is TOML. The last key of the path may be new, since what is not said is the
    /// default; keys that say the same in another way go.
    ///
    /// # Errors
    /// The path leads nowhere, or the value is no TOML. Whether the scene is one with it, [`SceneValues::load`] tells.
    pub fn set(&mut self, path: &str, value: &str) -> Result<(), String> {
        let parsed: Table = toml::from_str(&format!("value = {value}"))
            .map_err(|_| format!("{} is no value; words need quotes", quoted(value)))?;
        let value = parsed.into_iter().next().map_or(Value::Boolean(false), |(_, value)| value);
        let keys = split(path)?;
        let Some((last, way)) = keys.split_last().filter(|(_, way)| !way.is_empty()) else {
            return Err(format!("{} is a section; the path goes on", quoted(path)));
        };
        let mut place = &mut self.document;
        for key in way {
            place = child_mut(place, key).map_err(|names| unknown(key, &names))?;
        }
        match place {
            Value::Table(table) => {
                keys_instead(last).for_each(|other| {
                    table.remove(other);
                });
                table.insert(last.clone(), value);
            }
            place => *child_mut(place, last).map_err(|names| unknown(last, &names))? = value,
        }
        Ok(())
    }

    /// The scene with these values. `file` is what messages call it, `files` are those that it may read.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn load(&self, file: &str, files: &Files) -> Result<Loaded, Error> {
        let text = self.document.as_table().map_or_else(String::new, text_of);
        load_bytes(file, text.as_bytes(), files)
    }
}

/// Adds what there is below a path.
fn leaves(found: &mut Vec<(String, String)>, path: &str, value: &Value) {
    match value {
        Value::Table(table) => {
            table.iter().for_each(|(key, value)| leaves(found, &format!("{path}.{}", toml_key(key)), value));
        }
        Value::Array(items) if items.iter().any(Value::is_table) => {
            for (i, item) in items.iter().enumerate() {
                let key = name_of(item).map_or_else(|| i.to_string(), toml_key);
                leaves(found, &format!("{path}.{key}"), item);
            }
        }
        // It is in the path.
        _ if path.ends_with(".name") => {}
        value => found.push((path.to_owned(), inline(value))),
    }
}

fn name_of(item: &Value) -> Option<&str> {
    item.as_table()?.get("name")?.as_str()
}

/// The keys of a path; those that are no plain words are in quotes.
fn split(path: &str) -> Result<Vec<String>, String> {
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

/// Where the quote is that ends a string.
fn end_of_string(text: &str) -> Option<usize> {
    let mut escaped = false;
    text.char_indices().find_map(|(i, c)| {
        let ends = c == '"' && !escaped;
        escaped = c == '\\' && !escaped;
        ends.then_some(i)
    })
}

/// The member of an array that a key means: by name, or by number.
fn position(items: &[Value], key: &str) -> Option<usize> {
    let named = items.iter().position(|item| name_of(item) == Some(key));
    named.or_else(|| key.parse().ok().filter(|i| *i < items.len()))
}

/// The names of what a value has.
fn names(value: &Value) -> Vec<String> {
    match value {
        Value::Table(table) => table.keys().cloned().collect(),
        Value::Array(items) => items
            .iter()
            .enumerate()
            .map(|(i, item)| name_of(item).map_or(i.to_string(), str::to_owned))
            .collect(),
        _ => Vec::new(),
    }
}

fn child<'a>(value: &'a Value, key: &str) -> Result<&'a Value, Vec<String>> {
    let found = match value {
        Value::Table(table) => table.get(key),
        Value::Array(items) => position(items, key).map(|i| &items[i]),
        _ => None,
    };
    found.ok_or_else(|| names(value))
}

fn child_mut<'a>(value: &'a mut Value, key: &str) -> Result<&'a mut Value, Vec<String>> {
    let names = names(value);
    let found = match value {
        Value::Table(table) => table.get_mut(key),
        Value::Array(items) => position(items, key).map(|i| &mut items[i]),
        _ => None,
    };
    found.ok_or(names)
}

fn unknown(key: &str, names: &[String]) -> String {
    format!("there is no {}{}", quoted(key), hint(key, "there are", names.iter().map(String::as_str)))
}
