//! Tables that others refer to: lists of them, and their names.

use std::collections::HashMap;

use torrance_text::quoted;

use super::text::short_key;
use crate::input::{Field, Section};

/// The tables of an array, which messages call `place`; nothing for what is none.
pub(super) fn tables<'a>(
    field: &Field<'a>,
    place: &str,
) -> impl ExactSizeIterator<Item = Option<Section<'a>>> {
    let items = field.array(&format!("an array of tables: write [[{place}]], with two brackets"));
    let items = items.unwrap_or_default().into_iter().enumerate();
    items.map(move |(i, item)| item.table(format!("{place}[{i}]")))
}

/// Reads tables of which no two may have the same name. Those with errors are left out.
pub(super) fn read_each<'a, T>(
    sections: impl Iterator<Item = Option<Section<'a>>>,
    mut read: impl FnMut(&Section<'a>) -> Option<T>,
) -> Vec<T> {
    let mut names = HashMap::new();
    let read = sections.flatten().map(|section| {
        let found = read(&section);
        if let Some(field) = section.get("name")
            && let Some(name) = field.as_str()
            && let Some(first) = names.insert(name, section.name)
        {
            field.src.error(field.span(), format!("{first} is named {} already", quoted(name)));
        }
        found
    });
    read.flatten().collect()
}

/// Names in their order. Where one is takes no longer to find however many there are.
#[derive(Debug, Default)]
pub(super) struct Names {
    all: Vec<String>,
    indices: HashMap<String, usize>,
}

impl Names {
    pub(super) fn new<'a>(names: impl Iterator<Item = &'a str>) -> Self {
        let all: Vec<String> = names.map(str::to_owned).collect();
        let indices = all.iter().enumerate().map(|(index, name)| (name.clone(), index)).collect();
        Self { all, indices }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &str> + Clone {
        self.all.iter().map(String::as_str)
    }

    /// The index of the `kind` that has the name in `field`. `without` is the hint where the scene has none.
    pub(super) fn find(
        &self,
        field: &Field<'_>,
        kind: &str,
        without: impl FnOnce(String) -> String,
    ) -> Option<usize> {
        let name = field.string()?;
        let found = self.indices.get(name).copied();
        if found.is_none() {
            let hint = match self.all.is_empty() {
                true => without(short_key(name)),
                false => field.src.suggestions.hint(name, "the scene has", || self.iter()),
            };
            field.src.error(field.span(), format!("unknown {kind} {}{hint}", quoted(name)));
        }
        found
    }
}
