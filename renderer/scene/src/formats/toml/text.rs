//! TOML as people write it: short numbers, sections for what is large, and one line for what is small.

use std::fmt::Write;

use glam::Vec3;
use toml::{Table, Value};

use crate::description::limits::MIN_ALPHA;

/// Longest line that an array is kept on, characters.
const WIDTH: usize = 100;
/// Longest key that is a string and stands in messages in full, characters.
const LONGEST_SHORT_KEY: usize = 60;

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

/// A key as TOML wants it written, whole: what is no plain word is a string.
pub fn toml_key(name: &str) -> String {
    if is_bare(name) { name.to_owned() } else { string(name) }
}

/// A key in messages and in what shapes without a name are called, where long strings are cut: a group has one for each of
/// its shapes.
pub(crate) fn short_key(name: &str) -> String {
    match is_bare(name) || name.chars().count() <= LONGEST_SHORT_KEY {
        true => toml_key(name),
        false => string(&name.chars().take(LONGEST_SHORT_KEY - 1).chain(['…']).collect::<String>()),
    }
}

fn is_bare(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
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

/// A string as TOML has it on one line. What cannot be seen is escaped, so that the text can be copied from a terminal.
fn string(text: &str) -> String {
    let mut out = String::from("\"");
    let mut follows = false;
    for c in text.chars() {
        let hidden = is_hidden(c, follows);
        follows = false;
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if hidden => {
                let code = u32::from(c);
                let _ =
                    if code <= 0xffff { write!(out, "\\u{code:04X}") } else { write!(out, "\\U{code:08X}") };
            }
            c => {
                out.push(c);
                follows = true;
            }
        }
    }
    out.push('"');
    out
}

/// Whether a character shows nothing of itself: it controls, formats or is blank, and is no plain space. So does a mark
/// that combines with what is before it, unless it `follows` a character that is written as it is.
fn is_hidden(c: char, follows: bool) -> bool {
    match c {
        ' '..='~' => false,
        // Blank, although they are letters, marks and symbols.
        '\u{34f}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}' => true,
        '\u{2800}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{ffa0}' | '\u{e0100}'..='\u{e01ef}' => true,
        // By the tables of the standard library, which escapes marks at the beginning alone.
        c => {
            let before = follows.then_some('a');
            let text: String = before.into_iter().chain([c]).collect();
            text.escape_debug().ne(text.chars())
        }
    }
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
        for text in ["", "a b", "\"\\", "é\u{1}\n\t", "#fff", "\u{301}a", "\u{e0001}", "\0", "\u{7f}\u{85}"]
        {
            let table: Table = toml::from_str(&format!("x = {}", inline(&Value::from(text)))).unwrap();
            assert_eq!(table["x"].as_str(), Some(text));
        }
    }

    #[test]
    fn what_cannot_be_seen_is_escaped() {
        for (text, written) in [
            ("é ü漢字🫧", r#""é ü漢字🫧""#),
            ("it's", r#""it's""#),
            ("a\u{a0}b\u{3000}", r#""a\u00A0b\u3000""#),
            ("\u{301}a\u{301}", "\"\\u0301a\u{301}\""),
            ("\"\u{301}", r#""\"\u0301""#),
            ("\u{200c}\u{200d}\u{ad}\u{202e}", r#""\u200C\u200D\u00AD\u202E""#),
            ("\0\n\r\t\u{1b}\u{9f}", r#""\u0000\n\r\t\u001B\u009F""#),
            ("\u{e0001}\u{3164}", r#""\U000E0001\u3164""#),
        ] {
            assert_eq!(toml_key(text), written);
        }
        let long = "x y".repeat(100);
        assert_eq!(toml_key(&long), format!("\"{long}\""));
        assert_eq!(short_key(&long).chars().count(), LONGEST_SHORT_KEY + 2);
        assert_eq!(short_key("a.b"), toml_key("a.b"));
    }
}
