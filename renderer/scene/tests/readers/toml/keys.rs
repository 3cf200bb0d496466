//! The table says what the reader does.

use std::path::Path;

use torrance_scene::key::{Key, Section, Type, Value};
use torrance_scene::{Description, Error, Files, SECTIONS, load_bytes, reference_page};

/// Keys whose limits depend on others, or on where they stand, so that the largest alone is refused.
const DEPENDENT: [&str; 11] = [
    "size",
    "width",
    "height",
    "inner",
    "factor",
    "colors",
    "factors",
    "anisotropy_rotation",
    "radius of shape",
    "range of parameter",
    "range of normal_map",
];

/// Files that examples name.
fn files() -> (tempfile::TempDir, Files) {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let image = image::RgbaImage::from_fn(4, 2, |x, y| image::Rgba([9 * x as u8, 7 * y as u8, 3, 200]));
    for name in ["wood.png", "bumps.png"] {
        image.save(at(name)).unwrap();
    }
    image::DynamicImage::from(image).to_rgb32f().save(at("sky.exr")).unwrap();
    std::fs::write(at("tile.obj"), "v 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\nvt 1 0\nvt 0 1\nf 1/1 2/2 3/3\n")
        .unwrap();
    std::fs::write(at("trees.csv"), "1,0,0,0,0,1,0,0,0,0,1,0\n").unwrap();
    let files = Files::new(folder.path(), false);
    (folder, files)
}

/// A scene around a table of a section that says `keys`.
fn scene(section: &Section, keys: &str) -> String {
    let mut parts = vec![
        ("camera", "{ position = [0, 1, 5], target = [0, 0, 0], fov = 40 }".to_owned()),
        ("textures.wood", "{ type = \"vertex_color\" }".to_owned()),
        ("materials.white", "{ type = \"diffuse\", reflectance = 0.5 }".to_owned()),
        ("materials.other", "{ type = \"diffuse\", reflectance = 0.25 }".to_owned()),
        ("materials.rust", "{ type = \"diffuse\", reflectance = 0.25 }".to_owned()),
        ("materials.steel", "{ type = \"diffuse\", reflectance = 0.25 }".to_owned()),
        ("groups.tree", "{ shapes = [{ type = \"box\", material = \"white\" }] }".to_owned()),
        ("shapes", "[{ type = \"sphere\", emission = 1 }]".to_owned()),
    ];
    let diffuse = "type = \"diffuse\", reflectance";
    let step = |step: &str| format!("[{{ type = \"sphere\", emission = 1, transform = [{step}] }}]");
    let (place, text) = match section.id {
        "render" | "camera" | "environment" => (section.id, format!("{{ {keys} }}")),
        "filter" => ("render", format!("{{ filter = {{ {keys} }} }}")),
        "lens" => {
            let camera =
                format!("{{ position = [0, 1, 5], target = [0, 0, 0], fov = 40, lens = {{ {keys} }} }}");
            ("camera", camera)
        }
        "light" => ("lights", format!("[{{ {keys} }}]")),
        "portal" => ("portals", format!("[{{ {keys} }}]")),
        "texture" => ("textures.test", format!("{{ {keys} }}")),
        "material" => ("materials.test", format!("{{ {keys} }}")),
        "parameter" => ("materials.test", format!("{{ {diffuse} = {{ {keys} }} }}")),
        "normal_map" | "bump_map" => {
            ("materials.test", format!("{{ {diffuse} = 0.5, {} = {{ {keys} }} }}", section.id))
        }
        "shape" => ("shapes", format!("[{{ type = \"sphere\", emission = 1 }}, {{ {keys} }}]")),
        "transform" => ("shapes", step(&format!("{{ {keys} }}"))),
        "rotate" | "look_at" => ("shapes", step(&format!("{{ {} = {{ {keys} }} }}", section.id))),
        "group" => ("groups.test", format!("{{ {keys} }}")),
        "instance" => ("instances", format!("[{{ {keys} }}]")),
        other => panic!("no place for {other}"),
    };
    parts.retain(|(name, _)| *name != place);
    parts.push((place, text));
    parts.iter().map(|(name, text)| format!("{name} = {text}\n")).collect()
}

/// A key with a value that goes with the others.
fn example(key: &Key) -> String {
    let default = key.default.to_string();
    let value = if key.example.is_empty() { default.as_str() } else { key.example };
    format!("{} = {value}", key.name)
}

/// The keys that have to be there, but for those that `key` stands in for, and those that it needs.
fn least(section: &Section, kind: Option<&'static Type>, key: Option<&Key>) -> Vec<String> {
    let mut keys = Vec::new();
    if let Some(kind) = kind
        && key.is_none_or(|key| !key.instead.contains(&"type"))
    {
        keys.push(format!("type = \"{}\"", kind.name()));
    }
    for other in section.keys_of(kind) {
        let replaced = key.is_some_and(|key| key.name == other.name || key.instead.contains(&other.name));
        let needed = other.required || key.is_some_and(|key| key.with.contains(&other.name));
        if needed && !replaced {
            keys.push(example(other));
        }
    }
    keys
}

fn read(files: &Files, text: &str) -> Result<Description, Error> {
    load_bytes("scene.toml", text.as_bytes(), files).map(|loaded| loaded.description)
}

/// Whether a text is a value of TOML, rather than words.
fn is_toml(text: &str) -> bool {
    toml::from_str::<toml::Table>(&format!("x = {text}")).is_ok()
}

/// Values that a key may have, its example and default apart, and some that it may not.
fn samples(value: &Value) -> (Vec<String>, Vec<String>) {
    let owned = |values: &[&str]| values.iter().map(|v| (*v).to_owned()).collect::<Vec<_>>();
    let outside = |low: f32, high: f32| {
        let (below, above) = (low - low.abs().max(1e-6), high + high.abs().max(1e-6));
        vec![format!("{below:e}"), format!("{above:e}"), "nan".to_owned(), "inf".to_owned()]
    };
    match value {
        Value::Boolean => (owned(&["true", "false"]), owned(&["1", "\"yes\""])),
        Value::Integer(low, high) => {
            let below = i64::from(*low) - 1;
            let above = i64::from(*high) + 1;
            let good = vec![low.to_string(), high.to_string()];
            (good, vec![below.to_string(), above.to_string(), "1.5".to_owned(), "\"1\"".to_owned()])
        }
        Value::Number(low, high) => (vec![format!("{low:e}"), format!("{high:e}")], outside(*low, *high)),
        Value::Color(high) => {
            let good = vec![
                "0".to_owned(),
                format!("{high:e}"),
                format!("[0, {high:e}, 0]"),
                "\"#12abEF\"".to_owned(),
            ];
            let bad = owned(&["-1", "[1, 1]", "\"#12\"", "[0, 0, -1]", "true"]);
            (good, [bad, outside(0.0, *high)].concat())
        }
        Value::Vector(most) => {
            (Vec::new(), vec![format!("[0, 0, {:e}]", 2.0 * most), "[0, 1]".to_owned(), "1".to_owned()])
        }
        Value::Matrix(..) => (Vec::new(), owned(&["[[1, 2], [3, 4]]", "[1, 2]", "1"])),
        Value::Several(n, of) => {
            let (good, bad) = samples(of);
            let repeated = |v: &String, n: usize| format!("[{}]", vec![v.as_str(); n].join(", "));
            let wrong = bad.iter().map(|v| repeated(v, *n));
            let long = good.first().map(|v| repeated(v, n + 1));
            (good.iter().map(|v| repeated(v, *n)).collect(), wrong.chain(long).collect())
        }
        Value::OneOrTwo(of) => {
            let (good, bad) = samples(of);
            let two = |v: &String| format!("[{v}, {v}]");
            (
                [good.clone(), good.iter().map(two).collect()].concat(),
                [bad.clone(), bad.iter().map(two).collect()].concat(),
            )
        }
        Value::Textured(of) => {
            let (good, bad) = samples(of);
            let textures = owned(&["\"wood\"", "{ texture = \"wood\" }", "{ file = \"wood.png\" }"]);
            (
                [good, textures].concat(),
                [bad, owned(&["\"absent\"", "{ texture = \"absent\" }", "{ fiel = 1 }"])].concat(),
            )
        }
        Value::Word(words) => {
            (words.iter().map(|(word, _)| format!("\"{word}\"")).collect(), owned(&["\"frobnicate\"", "1"]))
        }
        Value::Text | Value::Type(_) => (owned(&["\"any\""]), owned(&["1"])),
        Value::Name(_) => (Vec::new(), owned(&["\"absent\"", "1"])),
        Value::File(_) => (Vec::new(), owned(&["\"absent.png\"", "\"../x.png\"", "1"])),
        Value::Table(_) => (Vec::new(), owned(&["1", "{ frobnicate = 1 }"])),
        Value::Tables(_) | Value::Named(_) => (Vec::new(), owned(&["1", "[1]", "[{ frobnicate = 1 }]"])),
        Value::Either(choices) => {
            let good = choices.iter().flat_map(|choice| samples(choice).0).collect();
            let above = choices.iter().filter_map(|choice| match choice {
                Value::Number(_, high) if *high > 0.0 => Some(format!("{:e}", 2.0 * high)),
                _ => None,
            });
            (good, owned(&["\"frobnicate\"", "[1]"]).into_iter().chain(above).collect())
        }
    }
}

/// Calls `check` with each section, type and key.
fn for_each_key(mut check: impl FnMut(&'static Section, Option<&'static Type>, &'static Key)) {
    for section in SECTIONS {
        let kinds: Vec<_> = match section.types {
            [] => vec![None],
            types => types.iter().map(Some).collect(),
        };
        for kind in kinds {
            let says = |key: &&Key| kind.is_none_or(|kind| !key.not_for.contains(&kind.name()));
            section.keys_of(kind).filter(says).for_each(|key| check(section, kind, key));
        }
    }
}

#[test]
fn every_key_is_read_as_the_table_says() {
    let (_folder, files) = files();
    let (mut faults, mut accepted, mut refused) = (Vec::new(), 0, 0);
    for_each_key(|section, kind, key| {
        let others = least(section, kind, Some(key));
        let with = |value: &str| {
            let said = [others.as_slice(), &[format!("{} = {value}", key.name)]].concat();
            scene(section, &said.join(", "))
        };
        let (mut good, mut bad) = samples(&key.value);
        let full = format!("{} of {}", key.name, section.id);
        if DEPENDENT.contains(&key.name) || DEPENDENT.contains(&full.as_str()) {
            good.clear();
        }
        good.extend((!key.example.is_empty()).then(|| key.example.to_owned()));
        good.extend(Some(key.default.to_string()).filter(|text| is_toml(text)));
        bad.push("1979-05-27".to_owned());
        for value in good {
            accepted += 1;
            if let Err(error) = read(&files, &with(&value)) {
                faults.push(format!(
                    "{} {:?}: {} = {value}: {error}",
                    section.id,
                    kind.map(Type::name),
                    key.name
                ));
            }
        }
        for value in bad {
            refused += 1;
            if read(&files, &with(&value)).is_ok() {
                faults.push(format!(
                    "{} {:?}: {} = {value}: accepted",
                    section.id,
                    kind.map(Type::name),
                    key.name
                ));
            }
        }
    });
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
    assert!(accepted > 500 && refused > 1000, "{accepted} {refused}");
}

#[test]
fn defaults_are_those_of_the_table() {
    let (_folder, files) = files();
    let (mut faults, mut checked) = (Vec::new(), 0);
    for_each_key(|section, kind, key| {
        let default = key.default.to_string();
        if !is_toml(&default) || key.required {
            return;
        }
        let others = least(section, kind, Some(key));
        let without = read(&files, &scene(section, &others.join(", ")));
        let said = [others.as_slice(), &[format!("{} = {default}", key.name)]].concat();
        let with = read(&files, &scene(section, &said.join(", ")));
        // That the comparison can fail: another value gives another scene.
        let other = samples(&key.value).0.into_iter().chain([key.example.to_owned()]).find(|v| *v != default);
        let changed = other.map(|value| {
            let said = [others.as_slice(), &[format!("{} = {value}", key.name)]].concat();
            read(&files, &scene(section, &said.join(", ")))
        });
        checked += usize::from(changed.as_ref().is_some_and(|changed| *changed != without));
        if with.is_err() || with != without {
            faults.push(format!("{} {:?}: {}", section.id, kind.map(Type::name), key.name));
        }
    });
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
    assert!(checked > 80, "{checked}");
}

#[test]
fn every_section_can_be_said_in_few_words() {
    let (_folder, files) = files();
    for section in SECTIONS {
        let kinds: Vec<_> = match section.types {
            [] => vec![None],
            types => types.iter().map(Some).collect(),
        };
        for kind in kinds {
            let step = (section.id == "transform").then(|| "scale = 2".to_owned());
            let said: Vec<_> = least(section, kind, None).into_iter().chain(step).collect();
            let text = scene(section, &said.join(", "));
            read(&files, &text).unwrap_or_else(|e| panic!("{e}\n{text}"));
            let unknown = format!("{}, frobnicate = 1", said.join(", "));
            let unknown = scene(section, unknown.trim_start_matches(", "));
            assert!(read(&files, &unknown).unwrap_err().to_string().contains("frobnicate"), "{unknown}");
        }
    }
}

#[test]
fn keys_have_meanings_and_names_of_their_own() {
    for_each_key(|section, kind, key| {
        assert!(key.about.ends_with('.') || key.about.ends_with(';'), "{}: {}", key.name, key.about);
        assert_eq!(section.keys_of(kind).filter(|other| other.name == key.name).count(), 1, "{}", key.name);
        let others = key.instead.iter().chain(key.with).filter(|other| **other != "type");
        for other in others {
            assert!(section.key(other).is_some(), "{} of {}", other, key.name);
        }
    });
}

#[test]
fn the_page_is_up_to_date() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/scene.md");
    let stored = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        stored == reference_page(),
        "docs/scene.md is stale: cargo run --release -- schema --markdown > docs/scene.md"
    );
}
