//! TOML as people write it: short numbers, sections for what is large, and one line for what is small.

use std::fmt::Write;

use glam::Vec3;
use toml::{Table, Value};
use torrance_text::quoted;

use crate::description::limits::MIN_ALPHA;

/// Longest line that an array is kept on, characters.
const WIDTH: usize = 100;

/// A number, as short as it can be read back exactly.
pub(crate) fn number(x: f32) -> Value {
    // The shortest digits for `f32` mean this number after rounding to `f64` first, too, but for rare ties.
    let short = x.to_string().parse::<f64>().unwrap_or(f64::from(x));
    Value::Float(if short as f32 == x { short } else { f64::from(x) })
}

pub(crate) fn vector(v: Vec3) -> Value {
    Value::Array(v.to_array().map(number).to_vec())
}

/// A colour: one number if it is grey.
pub(crate) fn rgb(c: Vec3) -> Value {
    let [r, g, b] = c.to_array().map(f32::to_bits);
    if r == g && g == b { number(c.x) } else { vector(c) }
}

/// The roughness that the reader makes exactly this alpha of, if one of few digits does.
pub(crate) fn roughness(alpha: f32) -> Option<f32> {
    let exact = f64::from(alpha).sqrt();
    let rounded = (1..=6).map(|digits| {
        let ten = 10f64.powi(digits);
        ((exact * ten).round() / ten) as f32
    });
    let read = |r: f32| if r == 0.0 { 0.0 } else { (r * r).clamp(MIN_ALPHA, 1.0) };
    let is_allowed = |r: f32| r == 0.0 || (MIN_ALPHA.sqrt()..=1.0).contains(&r);
    rounded.into_iter().find(|r| is_allowed(*r) && read(*r).to_bits() == alpha.to_bits())
}

/// A key as TOML wants it written.
pub fn toml_key(name: &str) -> String {
    let bare = !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
    if bare { name.to_owned() } else { quoted(name) }
}

/// The text of a document. Tables of the keys `textures` and `materials` are sections each, and so are the shapes of
/// groups.
pub(crate) fn document(document: &Table) -> String {
    let mut text = String::new();
    for (key, value) in document {
        match value {
            Value::Table(tables) if matches!(key.as_str(), "textures" | "materials") => {
                for (name, table) in tables {
                    section(&mut text, &format!("[{key}.{}]", toml_key(name)), table);
                }
            }
            Value::Table(groups) if key == "groups" => {
                for (name, group) in groups {
                    let shapes = group.get("shapes").and_then(Value::as_array).into_iter().flatten();
                    for shape in shapes {
                        section(&mut text, &format!("[[{key}.{}.shapes]]", toml_key(name)), shape);
                    }
                }
            }
            Value::Array(tables) => {
                tables.iter().for_each(|table| section(&mut text, &format!("[[{key}]]"), table));
            }
            table => section(&mut text, &format!("[{key}]"), table),
        }
    }
    text
}

fn section(text: &mut String, header: &str, table: &Value) {
    if !text.is_empty() {
        text.push('\n');
    }
    let _ = writeln!(text, "{header}");
    for (key, value) in table.as_table().into_iter().flatten() {
        let line = format!("{} = {}", toml_key(key), inline(value));
        match value {
            // One step, or one row, a line.
            Value::Array(items) if line.chars().count() > WIDTH => {
                let _ = writeln!(text, "{} = [", toml_key(key));
                items.iter().for_each(|item| {
                    let _ = writeln!(text, "    {},", inline(item));
                });
                text.push_str("]\n");
            }
            _ => {
                let _ = writeln!(text, "{line}");
            }
        }
    }
}

/// A value on one line.
pub(crate) fn inline(value: &Value) -> String {
    match value {
        Value::Float(x) => float(*x),
        Value::String(s) => string(s),
        Value::Array(items) => {
            let items: Vec<_> = items.iter().map(inline).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Table(table) if table.is_empty() => "{}".to_owned(),
        Value::Table(table) => {
            let entries: Vec<_> =
                table.iter().map(|(k, v)| format!("{} = {}", toml_key(k), inline(v))).collect();
            format!("{{ {} }}", entries.join(", "))
        }
        other => other.to_string(),
    }
}

/// Whole numbers without a point, others with as few digits as there are, and with an exponent where zeros would be many.
fn float(x: f64) -> String {
    let plain = x.to_string();
    match x.abs() {
        _ if x == 0.0 => if x.is_sign_negative() { "-0.0" } else { "0" }.to_owned(),
        1e-3..1e9 => plain,
        _ => format!("{x:e}"),
    }
}

/// A string as TOML has it on one line.
fn string(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c.is_control() => {
                let _ = write!(out, "\\u{:04X}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_exact() {
        let mut state = 1_u32;
        let mut tricky =
            vec![0.3, 1.0 / 3.0, 1e-9, 1e9, 16_777_216.0, f32::MIN_POSITIVE, 123_456.79, -0.0, 0.1 + 0.2];
        for _ in 0..200_000 {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            tricky.push(f32::from_bits(state));
        }
        for x in tricky.into_iter().filter(|x| x.is_finite()) {
            let text = inline(&number(x));
            let table: Table = toml::from_str(&format!("x = {text}")).unwrap();
            let back = match &table["x"] {
                Value::Integer(i) => *i as f32,
                Value::Float(f) => *f as f32,
                other => panic!("{other}"),
            };
            assert_eq!(back.to_bits(), x.to_bits(), "{x:e} as {text}");
        }
        assert_eq!(inline(&number(0.3)), "0.3");
        assert_eq!(inline(&number(2.0)), "2");
        assert_eq!(inline(&number(1e-5)), "1e-5");
    }

    #[test]
    fn strings_survive() {
        for text in ["", "a b", "\"\\", "é\u{1}\n\t", "#fff"] {
            let table: Table = toml::from_str(&format!("x = {}", inline(&Value::from(text)))).unwrap();
            assert_eq!(table["x"].as_str(), Some(text));
        }
    }
}
