//! The table as a page to read.

use std::fmt::Write;

use super::lookup::plain;
use super::schema::SECTIONS;
use crate::description::TEXTURE_COORDINATES;
use crate::description::key::{Key, Section, Value};

/// The beginning of the page, before the sections.
const HEAD: &str = include_str!("head.md");
/// The end of the page, in which the texture coordinates of shapes stand for `{{shapes}}`.
const TAIL: &str = include_str!("tail.md");

/// The reference of scene files, Markdown.
pub fn page() -> String {
    let mut page = HEAD.to_owned();
    // What a parameter has instead of a texture is said with textures.
    for section in SECTIONS.iter().filter(|section| section.id != "parameter") {
        write_section(&mut page, section);
    }
    let rows: Vec<_> = TEXTURE_COORDINATES.iter().map(|(shape, uv)| format!("| {shape} | {uv} |")).collect();
    page + &TAIL.replace("{{shapes}}", &rows.join("\n"))
}

/// Sections that are part of another one.
const PARTS: [&str; 6] = ["filter", "lens", "normal_map", "bump_map", "rotate", "look_at"];

fn write_section(page: &mut String, section: &Section) {
    let code = section.title.starts_with('[');
    let title = if code { format!("`{}`", section.title) } else { section.title.to_owned() };
    let level = if PARTS.contains(&section.id) { "###" } else { "##" };
    paragraph(page, &format!("{level} {title}"));
    paragraph(page, section.about);
    let is_map = matches!(section.id, "normal_map" | "bump_map");
    if section.types.is_empty() || is_map {
        write_keys(page, section.keys.iter().filter(|key| !(is_map && key.name == "range")));
        paragraph(page, section.notes);
        return;
    }
    let mut rows = String::from("| `type` | is |\n|---|---|\n");
    for kind in section.types {
        let names: Vec<_> = kind.names.iter().map(|name| format!("`\"{name}\"`")).collect();
        let default = if section.default_type == kind.name() { " (default)" } else { "" };
        let _ = writeln!(rows, "| {}{default} | {} |", names.join(" or "), kind.about);
    }
    paragraph(page, rows.trim_end());
    if !section.keys.is_empty() {
        paragraph(page, "All have");
        write_keys(page, section.keys.iter());
    }
    for kind in section.types.iter().filter(|kind| kind.keys().next().is_some()) {
        paragraph(page, &format!("`\"{}\"` adds", kind.name()));
        write_keys(page, kind.keys());
    }
    paragraph(page, section.notes);
}

fn paragraph(page: &mut String, text: &str) {
    if !text.is_empty() {
        page.push_str(text);
        page.push_str("\n\n");
    }
}

fn write_keys<'a>(page: &mut String, keys: impl Iterator<Item = &'a Key>) {
    page.push_str("| key | value | meaning | default |\n|---|---|---|---|\n");
    for key in keys {
        let mark = if is_textured(&key.value) { " ▪" } else { "" };
        let unit = if key.unit.is_empty() { String::new() } else { format!(", {}", key.unit) };
        let default = match key.default.to_string().as_str() {
            "" if key.required => "required".to_owned(),
            "" => String::new(),
            words if super::schema::toml_value(words).is_none() => {
                words.replace('"', "`\"").replace("`\"`", "`")
            }
            value => format!("`{value}`"),
        };
        let about = format!("{}{}", key.about, describe_words(&key.value));
        let _ =
            writeln!(page, "| `{}`{mark} | {}{unit} | {about} | {default} |", key.name, describe(&key.value));
    }
    page.push('\n');
}

fn is_textured(value: &Value) -> bool {
    match value {
        Value::Textured(_) => true,
        Value::OneOrTwo(of) | Value::Several(_, of) => is_textured(of),
        _ => false,
    }
}

/// Meanings of the words of a choice.
fn describe_words(value: &Value) -> String {
    match value {
        // A table of its own says what filters are.
        Value::Either([Value::Word(_), Value::Table(_)]) => String::new(),
        Value::Either(choices) => choices.iter().map(describe_words).collect(),
        Value::OneOrTwo(of) => describe_words(of),
        // Long lists are given in short.
        Value::Word(words) if words.len() > 10 => {
            let own = words.iter().filter(|(_, about)| !words.iter().any(|(name, _)| name == about));
            let names: Vec<_> = own.map(|(name, about)| format!("`\"{name}\"` ({about})")).collect();
            format!(" {}.", names.join(", "))
        }
        Value::Word(words) => {
            let each = words.iter().map(|(word, about)| format!("<br>`\"{word}\"`: {about}"));
            each.collect()
        }
        _ => String::new(),
    }
}

/// The values that a key takes, in a few words.
fn describe(value: &Value) -> String {
    match value {
        Value::Boolean => "`true` or `false`".to_owned(),
        Value::Integer(low, high) => format!("{low} to {high}"),
        Value::Number(low, high) if low == high => format!("{low}"),
        Value::Number(low, high) => format!("{} to {}", plain(*low), plain(*high)),
        Value::Color(1.0) => "colour".to_owned(),
        Value::Color(high) => format!("colour, to {}", plain(*high)),
        Value::Vector(_) => "`[x, y, z]`".to_owned(),
        Value::Matrix(rows, columns, _) => format!("{rows} rows of {columns}"),
        Value::Several(n, of) => format!("`[…]` of {n}: {}", describe(of)),
        Value::OneOrTwo(of) => format!("{}, or `[u, v]`", describe(of)),
        Value::Textured(of) => describe(of),
        Value::Word(_) | Value::Type(_) => "a word".to_owned(),
        Value::Text => "text".to_owned(),
        Value::Name(what) => format!("name of a {what}"),
        Value::File(what) => format!("{what} file"),
        Value::Table(section) => format!("[table](#{})", anchor(section)),
        Value::Tables(section) => format!("[tables](#{})", anchor(section)),
        Value::Named(section) => format!("[tables by name](#{})", anchor(section)),
        Value::Either(choices) => choices.iter().map(describe).collect::<Vec<_>>().join(" or "),
    }
}

/// The link that a heading has.
fn anchor(section: &Section) -> String {
    let kept = section.title.to_lowercase();
    kept.chars()
        .filter(|c| c.is_alphanumeric() || *c == ' ' || *c == '_')
        .collect::<String>()
        .replace(' ', "-")
}
