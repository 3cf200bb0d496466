//! The table as JSON Schema, for editors: draft 7, which the language servers of TOML know.

use serde_json::{Map, Value as Json, json};

use super::{
    BUMP_MAP, CAMERA, ENVIRONMENT, FILTER, GROUP, INSTANCE, LENS, LIGHT, LOOK_AT, MATERIAL, NORMAL_MAP,
    PARAMETER, PORTAL, RENDER, ROTATE, SHAPE, STEPS, TEXTURE, TOP,
};
use crate::description::key::{Key, Section, Type, Value};

/// All sections of a scene file but the file itself, with everything that they may say.
pub static SECTIONS: [&Section; 18] = [
    &RENDER,
    &FILTER,
    &CAMERA,
    &LENS,
    &ENVIRONMENT,
    &LIGHT,
    &PORTAL,
    &MATERIAL,
    &TEXTURE,
    &PARAMETER,
    &NORMAL_MAP,
    &BUMP_MAP,
    &SHAPE,
    &STEPS,
    &ROTATE,
    &LOOK_AT,
    &GROUP,
    &INSTANCE,
];

/// The schema of scene files.
pub fn schema() -> Json {
    let mut schema = object(&TOP, None);
    let definitions: Map<_, _> = SECTIONS.iter().map(|s| (s.id.to_owned(), section(s))).collect();
    schema["$schema"] = json!("http://json-schema.org/draft-07/schema#");
    schema["title"] = json!("torrance scene");
    schema["definitions"] = definitions.into();
    schema
}

/// A section: one object, or one of several by `type`.
fn section(section: &'static Section) -> Json {
    let by_name = || section.key("texture").map(|name| by_name(section, name));
    let mut schema = match section.types {
        [] => object(section, None),
        types => any(types.iter().map(|kind| object(section, Some(kind))).chain(by_name())),
    };
    if section.id == "transform" {
        // A step does one thing.
        schema["minProperties"] = json!(1);
        schema["maxProperties"] = json!(1);
    }
    schema["title"] = json!(section.title);
    if !section.about.is_empty() {
        schema["description"] = json!(section.about);
    }
    schema
}

/// A table that has the keys of a section and of a type of it, and no others.
fn object(section: &'static Section, kind: Option<&'static Type>) -> Json {
    let mut properties = Map::new();
    let mut required = Vec::new();
    if let Some(kind) = kind {
        let said = json!({ "type": "string", "enum": kind.names, "description": kind.about });
        properties.insert("type".into(), said);
        if needs_type(section, kind) {
            required.push("type");
        }
    }
    let says = |key: &&Key| kind.is_none_or(|k| key.name != "texture" && !key.not_for.contains(&k.name()));
    for key in section.keys_of(kind).filter(says) {
        properties.insert(key.name.into(), property(key));
        // Where another key may stand in for it, its absence is no mistake yet. What emits needs no material.
        let needed = key.required && key.instead.is_empty() && key.name != "material";
        if needed {
            required.push(key.name);
        }
    }
    let mut schema = json!({});
    if let Some(kind) = kind {
        schema["title"] = json!(kind.name());
        schema["description"] = json!(kind.about);
    }
    schema["type"] = json!("object");
    schema["properties"] = properties.into();
    schema["required"] = json!(required);
    let together = section.keys_of(kind).filter(|key| !key.with.is_empty() && !key.instead.is_empty());
    let together: Map<_, _> = together.map(|key| (key.name.to_owned(), json!(key.with))).collect();
    if !together.is_empty() {
        schema["dependencies"] = together.into();
    }
    schema["additionalProperties"] = json!(false);
    schema
}

/// Whether `type` has to be said.
fn needs_type(section: &Section, kind: &Type) -> bool {
    match section.id {
        // Told by their keys.
        "environment" => kind.name() == "sun_sky",
        _ => section.default_type != kind.name(),
    }
}

/// A table that has the name of a texture, and what is not of the texture itself.
fn by_name(section: &'static Section, name: &'static Key) -> Json {
    let others = section.keys.iter().filter(|key| key.name != "range");
    let properties: Map<_, _> = others.map(|key| (key.name.to_owned(), property(key))).collect();
    json!({
        "title": "by name",
        "type": "object",
        "properties": properties,
        "required": [name.name],
        "additionalProperties": false,
    })
}

/// The values that a key takes, and its meaning.
fn property(key: &Key) -> Json {
    let mut schema = value(&key.value);
    // What stands beside a reference is ignored in this draft.
    if schema.get("$ref").is_some() {
        schema = json!({ "allOf": [schema] });
    }
    let unit = if key.unit.is_empty() { String::new() } else { format!(" [{}]", key.unit) };
    schema["description"] = json!(format!("{}{unit}", key.about));
    if let Some(default) = toml_value(&key.default.to_string()) {
        schema["default"] = default;
    } else if let Some(example) = toml_value(key.example) {
        schema["examples"] = json!([example]);
    }
    schema
}

/// The value of TOML, if it is one rather than words.
pub(super) fn toml_value(text: &str) -> Option<Json> {
    let document: toml::Table = toml::from_str(&format!("x = {text}")).ok()?;
    serde_json::to_value(document.get("x")?).ok()
}

fn value(value: &Value) -> Json {
    match value {
        Value::Boolean => json!({ "type": "boolean" }),
        Value::Integer(low, high) => json!({ "type": "integer", "minimum": low, "maximum": high }),
        Value::Number(low, high) => number(*low, *high),
        Value::Color(high) => json!({ "anyOf": [
            { "type": "array", "items": number(0.0, *high), "minItems": 3, "maxItems": 3, "title": "[r, g, b], linear" },
            { "type": "number", "minimum": 0, "maximum": exact(*high), "title": "grey" },
            { "type": "string", "pattern": "^#[0-9a-fA-F]{6}$", "title": "\"#rrggbb\", sRGB" },
        ] }),
        Value::Vector(most) => array(&number(-most, *most), 3),
        Value::Matrix(rows, columns, most) => array(&array(&number(-most, *most), *columns), *rows),
        Value::Several(n, of) => array(&self::value(of), *n),
        Value::OneOrTwo(of) => any([self::value(of), array(&self::value(of), 2)]),
        Value::Textured(of) => {
            let name = json!({ "type": "string", "pattern": "^[^#]", "title": "the name of a texture" });
            any([self::value(of), name, reference(&PARAMETER)])
        }
        Value::Word(words) => word(words),
        Value::Text | Value::File(_) | Value::Name(_) | Value::Type(_) => json!({ "type": "string" }),
        Value::Table(section) => reference(section),
        Value::Tables(section) => json!({ "type": "array", "items": reference(section) }),
        Value::Named(section) => json!({ "type": "object", "additionalProperties": reference(section) }),
        Value::Either(choices) => any(choices.iter().map(self::value)),
    }
}

/// A number as JSON has it: without what rounding to `f32` adds.
fn exact(x: f32) -> Json {
    x.to_string().parse::<f64>().map_or(Json::Null, |x| json!(x))
}

fn number(low: f32, high: f32) -> Json {
    json!({ "type": "number", "minimum": exact(low), "maximum": exact(high) })
}

fn array(items: &Json, n: usize) -> Json {
    json!({ "type": "array", "items": items, "minItems": n, "maxItems": n })
}

fn any(choices: impl IntoIterator<Item = Json>) -> Json {
    let choices: Vec<_> = choices.into_iter().collect();
    json!({ "anyOf": choices })
}

/// Words, and what each means where the editor shows it.
fn word(words: &[(&str, &str)]) -> Json {
    let names: Vec<_> = words.iter().map(|(name, _)| *name).collect();
    let meanings: Vec<_> = words.iter().map(|(_, about)| *about).collect();
    json!({ "type": "string", "enum": names, "x-taplo": { "docs": { "enumValues": meanings } } })
}

fn reference(section: &Section) -> Json {
    json!({ "$ref": format!("#/definitions/{}", section.id) })
}
