//! Names of any characters: they survive writing, and paths with them lead where they say.

use std::collections::HashSet;
use std::path::Path;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};
use torrance_scene::{
    Description, Options, Parameter, PathError, SceneValues, canonical, keys_of_path, load_with,
    path_and_value, toml_key,
};
use torrance_text::quoted;

use crate::write::check;

/// What names are made of: all that is invisible, that ends something, or that looks like something else.
const PIECES: [&str; 70] = [
    "\u{301}",
    "\u{20dd}",
    "\u{a0}",
    "\u{2003}",
    "\u{3000}",
    "\u{200b}",
    "\u{200c}",
    "\u{200d}",
    "\u{2060}",
    "\u{ad}",
    "\u{34f}",
    "\u{61c}",
    "\u{202e}",
    "\u{2066}",
    "\u{feff}",
    "\0",
    "\u{1}",
    "\u{8}",
    "\u{b}",
    "\u{c}",
    "\n",
    "\r",
    "\t",
    "\u{1b}[31m",
    "\u{7f}",
    "\u{80}",
    "\u{85}",
    "\u{9f}",
    "\u{2028}",
    "\u{2029}",
    "\u{3164}",
    "\u{fe0f}",
    "\u{e000}",
    "\u{fffe}",
    "\u{fffd}",
    "\u{e0001}",
    "\u{10ffff}",
    "\"",
    "\"\"\"",
    "'",
    "\\",
    "\\u0301",
    "\\\"",
    ".",
    "..",
    "/",
    "=",
    " = ",
    ",",
    "[",
    "]",
    "{",
    "}",
    "(",
    "#",
    "#ff8000",
    "@",
    "*",
    "%41",
    "é",
    "e\u{301}",
    "漢",
    "👩\u{200d}👧",
    "❤\u{fe0f}",
    "<&>",
    "log(1:2:3)",
    "a",
    "0",
    " ",
    "-_",
];

/// Longest name, characters.
const LONGEST: usize = 300;

/// Random names that differ.
struct Names {
    state: u64,
    taken: HashSet<String>,
    /// What a format does not have in its names.
    without: fn(char) -> bool,
}

impl Names {
    fn new(seed: u64, without: fn(char) -> bool) -> Self {
        Self { state: seed, taken: HashSet::new(), without }
    }

    fn below(&mut self, n: usize) -> usize {
        self.state =
            self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.state >> 33) as usize % n
    }

    /// A text of so many characters.
    fn text(&mut self, length: usize) -> String {
        let mut text = Vec::new();
        while text.len() < length {
            let piece = PIECES[self.below(PIECES.len())];
            text.extend(piece.chars().filter(|c| !(self.without)(*c)));
        }
        text.truncate(length);
        text.into_iter().collect()
    }

    /// A new name, after `start`.
    fn after(&mut self, start: &str) -> String {
        const LENGTHS: [usize; 8] = [1, 2, 3, 8, 59, 61, 100, LONGEST];
        loop {
            let most = LONGEST - start.chars().count();
            let length = LENGTHS[self.below(LENGTHS.len())].min(most);
            let name = format!("{start}{}", self.text(length));
            // Spaces around names are none of theirs in some formats.
            if name.trim_ascii() == name && self.taken.insert(name.clone()) {
                return name;
            }
        }
    }

    /// New names, of which the last two have a long beginning in common.
    fn several(&mut self) -> Vec<String> {
        let mut names: Vec<_> = (0..3).map(|_| self.after("")).collect();
        let start = self.text(200);
        let start = format!("s{}", start.trim_ascii());
        names.extend((0..2).map(|_| self.after(&start)));
        names
    }
}

/// A scene file, and the names in it: each with the first key of the paths that have it.
struct Named {
    file: &'static str,
    bytes: Vec<u8>,
    /// Another file, and what is in it.
    other: Option<(&'static str, Vec<u8>)>,
    names: Vec<(&'static str, String)>,
}

impl Named {
    fn new(file: &'static str, bytes: impl Into<Vec<u8>>, names: &[(&'static str, &[String])]) -> Self {
        let all = names.iter().flat_map(|(of, names)| names.iter().map(|name| (*of, name.clone())));
        Self { file, bytes: bytes.into(), other: None, names: all.collect() }
    }
}

/// A string of TOML, every character by its number.
fn numbered(name: &str) -> String {
    format!("\"{}\"", name.chars().map(|c| format!("\\U{:08X}", u32::from(c))).collect::<String>())
}

fn toml(seed: u64) -> Named {
    // Textures whose names begin so would be colours; what is in the middle is less likely than at the beginning.
    let mut names = Names::new(seed, |c| c == '#');
    let textures = [names.several(), vec![String::new()]].concat();
    let mut names = Names::new(seed ^ 1, |_| false);
    let [materials, shapes, lights, groups] = std::array::from_fn(|_| names.several());
    let mut text = "[render]\nsize = [8, 6]\n[camera]\nposition = [0, 0, 4]\ntarget = [0, 0, 0]\nfov = 40\n\
                    [environment]\nradiance = 1\n"
        .to_owned();
    for texture in &textures {
        text += &format!("[textures.{}]\ntype = \"checker\"\ncolors = [0.25, 0.5]\n", numbered(texture));
    }
    for (material, texture) in materials.iter().zip(&textures) {
        let texture = numbered(texture);
        text += &format!("[materials.{}]\ntype = \"diffuse\"\nreflectance = {texture}\n", numbered(material));
    }
    for (shape, material) in shapes.iter().zip(&materials) {
        let (shape, material) = (numbered(shape), numbered(material));
        text += &format!("[[shapes]]\nname = {shape}\ntype = \"sphere\"\nmaterial = {material}\n");
    }
    for light in &lights {
        text += &format!(
            "[[lights]]\nname = {}\ntype = \"point\"\nposition = [0, 2, 0]\nintensity = 1\n",
            numbered(light)
        );
    }
    for (group, material) in groups.iter().zip(&materials) {
        let (group, material) = (numbered(group), numbered(material));
        // One whose name is the number of another, which has no name.
        for name in ["name = \"1\"\n", "", "name = \"01\"\n"] {
            text += &format!("[[groups.{group}.shapes]]\n{name}type = \"quad\"\nmaterial = {material}\n");
        }
        text += &format!("[[instances]]\ngroup = {group}\ntransform = [{{ translate = [1, 0, 0] }}]\n");
    }
    let all = [
        ("textures", &textures[..]),
        ("materials", &materials),
        ("shapes", &shapes),
        ("lights", &lights),
        ("groups", &groups),
    ];
    Named::new("names.toml", text, &all)
}

/// What no XML has: controls, and `$`, behind which parameters are.
fn not_xml(c: char) -> bool {
    matches!(c, '\0'..='\u{8}' | '\u{b}' | '\u{c}' | '\u{e}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' | '$')
}

fn mitsuba(seed: u64) -> Named {
    let mut names = Names::new(seed, not_xml);
    let [materials, shapes, lights, groups] = std::array::from_fn(|_| names.several());
    let id = |name: &str| name.chars().map(|c| format!("&#x{:x};", u32::from(c))).collect::<String>();
    let mut text =
        "<scene version=\"3.0.0\"><sensor type=\"perspective\"><float name=\"fov\" value=\"40\"/></sensor>\
                    <emitter type=\"constant\"/>"
            .to_owned();
    for material in &materials {
        text += &format!("<bsdf type=\"diffuse\" id=\"{}\"/>", id(material));
    }
    for (shape, material) in shapes.iter().zip(&materials) {
        text +=
            &format!("<shape type=\"sphere\" id=\"{}\"><ref id=\"{}\"/></shape>", id(shape), id(material));
    }
    for light in &lights {
        text += &format!("<emitter type=\"point\" id=\"{}\"/>", id(light));
    }
    for (group, material) in groups.iter().zip(&materials) {
        let (group, material) = (id(group), id(material));
        text += &format!(
            "<shape type=\"shapegroup\" id=\"{group}\"><shape type=\"cube\"><ref id=\"{material}\"/></shape></shape>\
             <shape type=\"instance\"><ref id=\"{group}\"/></shape>"
        );
    }
    text += "</scene>";
    let all = [("materials", &materials[..]), ("shapes", &shapes), ("lights", &lights), ("groups", &groups)];
    Named::new("names.xml", text, &all)
}

/// A document of glTF, and its names.
fn model(seed: u64) -> (Value, [Vec<String>; 3]) {
    let mut names = Names::new(seed, |_| false);
    let [materials, shapes, lights] = std::array::from_fn(|_| names.several());
    let corners = [0_f32, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0];
    let bytes: Vec<u8> = corners.iter().flat_map(|x| x.to_le_bytes()).collect();
    let mesh = |i| json!({ "primitives": [{ "attributes": { "POSITION": 0 }, "material": i }] });
    let of_meshes = shapes.iter().enumerate().map(|(i, name)| json!({ "name": name, "mesh": i }));
    let light = |name| json!({ "name": name, "extensions": { "KHR_lights_punctual": { "light": 0 } } });
    let nodes: Vec<Value> = of_meshes.chain(lights.iter().map(light)).collect();
    let document = json!({
        "asset": { "version": "2.0" },
        "extensionsUsed": ["KHR_lights_punctual"],
        "extensions": { "KHR_lights_punctual": { "lights": [{ "type": "point" }] } },
        "scene": 0,
        "scenes": [{ "nodes": (0..nodes.len()).collect::<Vec<_>>() }],
        "nodes": nodes,
        "meshes": (0..shapes.len()).map(mesh).collect::<Vec<_>>(),
        "materials": materials.iter().map(|name| json!({ "name": name })).collect::<Vec<_>>(),
        "accessors": [{
            "bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3", "min": [0, 0, 0], "max": [1, 1, 0]
        }],
        "bufferViews": [{ "buffer": 0, "byteLength": 36 }],
        "buffers": [{
            "byteLength": 36,
            "uri": format!("data:application/octet-stream;base64,{}", BASE64_STANDARD.encode(bytes)),
        }],
    });
    (document, [materials, shapes, lights])
}

fn gltf(seed: u64) -> Named {
    let (document, [materials, shapes, lights]) = model(seed);
    let all = [("materials", &materials[..]), ("shapes", &shapes), ("lights", &lights)];
    Named::new("names.gltf", document.to_string(), &all)
}

fn glb(seed: u64) -> Named {
    let (document, [materials, shapes, lights]) = model(seed);
    let mut text = document.to_string().into_bytes();
    text.resize(text.len().next_multiple_of(4), b' ');
    let sizes = [2, 20 + text.len() as u32, text.len() as u32].map(u32::to_le_bytes);
    let bytes = [b"glTF", &sizes[0], &sizes[1], &sizes[2], b"JSON", &text[..]].concat();
    Named::new("names.glb", bytes, &[("materials", &materials), ("shapes", &shapes), ("lights", &lights)])
}

/// Names are lines there, up to a comment.
fn obj(seed: u64) -> Named {
    let mut names = Names::new(seed, |c| matches!(c, '\n' | '\r' | '#' | '\\'));
    let materials = names.several();
    let mut text = "mtllib names.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\n".to_owned();
    text.extend(materials.iter().map(|name| format!("usemtl {name}\nf 1 2 3\n")));
    let library: String = materials.iter().map(|name| format!("newmtl {name}\nKd 0.5 0.25 0.5\n")).collect();
    // Shapes are called as their materials are.
    let named = Named::new("names.obj", text, &[("materials", &materials), ("shapes", &materials)]);
    Named { other: Some(("names.mtl", library.into_bytes())), ..named }
}

/// Whether a text is on one line in any program, and can be copied from a terminal.
fn can_be_copied(text: &str) -> bool {
    let is_hidden = |c: char| {
        let code = u32::from(c);
        c.is_control()
            || (c.is_whitespace() && c != ' ')
            || matches!(code, 0xad | 0x34f | 0x61c | 0x200b..=0x200f | 0x2028..=0x202e | 0x2060..=0x206f)
            || matches!(code, 0x3164 | 0xfe00..=0xfe0f | 0xfeff | 0xe000..=0xf8ff | 0xfffe | 0xe0000..)
    };
    !text.contains(is_hidden) && !text.contains("\"\u{301}")
}

/// The names of a description under the first key of paths.
fn names_of<'a>(d: &'a Description, of: &str) -> HashSet<&'a str> {
    match of {
        "textures" => d.texture_names.values().map(String::as_str).collect(),
        "materials" => d.materials.iter().map(|m| m.name.as_str()).collect(),
        "shapes" => d.shapes.iter().map(|s| s.name.as_str()).collect(),
        "lights" => d.lights.iter().map(|l| l.name.as_str()).collect(),
        _ => d.groups.iter().map(|g| g.name.as_str()).collect(),
    }
}

fn check_names(case: &str, named: &Named) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(named.file);
    std::fs::write(&path, &named.bytes).unwrap();
    if let Some((name, bytes)) = &named.other {
        std::fs::write(folder.path().join(name), bytes).unwrap();
    }
    let loaded =
        load_with(&path, &Options::default()).unwrap_or_else(|e| panic!("{case}: {}", e.report(false)));
    let expected = canonical(&loaded.description);
    for (of, name) in &named.names {
        assert!(names_of(&expected, of).contains(name.as_str()), "{case}: {of} has no {name:?}");
    }
    check(case, &loaded.description);
    check_paths(case, &path, named, &expected);
}

/// Every path that is listed leads to its value, in the library and as an argument.
fn check_paths(case: &str, path: &Path, named: &Named, expected: &Description) {
    let mut values = SceneValues::open(path, &Options::default())
        .unwrap_or_else(|e| panic!("{case}: {}", e.report(false)));
    let list = values.list();
    let paths: HashSet<_> = list.iter().map(|parameter| parameter.path.as_str()).collect();
    assert_eq!(paths.len(), list.len(), "{case}: two are the same");
    let keys: HashSet<_> = paths.iter().map(|path| keys_of_path(path).unwrap()[..2].to_vec()).collect();
    for (of, name) in &named.names {
        assert!(keys.contains(&vec![(*of).to_owned(), name.clone()]), "{case}: {of} lists no {name:?}");
    }
    for Parameter { path, value, takes } in &list {
        let line = format!("{path} = {value}");
        assert!(can_be_copied(&line), "{case}: {line:?}");
        assert_eq!(path_and_value(&line), Some((path.as_str(), value.as_str())), "{case}: {line:?}");
        assert_eq!(values.get(path).as_ref(), Ok(value), "{case}: {path}");
        assert_eq!(values.takes(path).as_ref(), Ok(takes), "{case}: {path}");
        values.set(path, value).unwrap_or_else(|e| panic!("{case}: {line}: {e}"));
    }
    let same = values.load().unwrap_or_else(|e| panic!("{case}: {}", e.report(false)));
    assert!(same.description.is_same_scene(expected), "{case}: setting what is there changes the scene");
}

#[test]
fn any_name_survives_in_every_format() {
    type Make = fn(u64) -> Named;
    let formats: [(&str, Make); 5] =
        [("toml", toml), ("xml", mitsuba), ("gltf", gltf), ("glb", glb), ("obj", obj)];
    for seed in 0..tier::choose(12, 200) {
        for (format, named) in formats {
            check_names(&format!("{format}, seed {seed}"), &named(seed));
        }
    }
}

/// Whether names that are written as keys are read as what they were.
fn survive(names: &[String], written: impl Fn(&str) -> String) -> bool {
    let document: String =
        names.iter().enumerate().map(|(i, name)| format!("{} = {i}\n", written(name))).collect();
    let Ok(read) = document.parse::<::toml::Table>() else { return false };
    read.len() == names.len()
        && names
            .iter()
            .enumerate()
            .all(|(i, name)| read.get(name).and_then(::toml::Value::as_integer) == Some(i as i64))
}

/// The words of messages are no TOML: each of these is lost by them.
#[test]
fn words_of_messages_are_no_keys() {
    let start = "long name ".repeat(20);
    let lost = [
        vec!["\u{301}".to_owned()],
        vec!["a\u{a0}b".to_owned()],
        vec!["\u{3000}".to_owned()],
        vec!["\u{200d}".to_owned()],
        vec!["\u{ad}".to_owned()],
        vec!["\0".to_owned()],
        vec!["\u{1b}".to_owned()],
        vec![format!("{start}1")],
        vec![format!("{start}1"), format!("{start}2")],
    ];
    for names in lost {
        assert!(survive(&names, toml_key), "{names:?}");
        assert!(!survive(&names, quoted), "{names:?}");
    }
    let mut rejected = 0;
    for seed in 0..100 {
        let names = Names::new(seed, |_| false).several();
        assert!(survive(&names, toml_key), "{names:?}");
        rejected += usize::from(!survive(&names, quoted));
    }
    assert_eq!(rejected, 100);
}

#[test]
fn paths_end_where_their_quotes_do() {
    for (text, split) in [
        ("a.b=1", Some(("a.b", "1"))),
        (" a.\"b = c\".d = e = f ", Some(("a.\"b = c\".d", "e = f"))),
        (r#"a."\"=".b=1"#, Some((r#"a."\"=".b"#, "1"))),
        (r#"a."\\"=1"#, Some((r#"a."\\""#, "1"))),
        // A quote that begins no key is a character.
        (r#"a.5" disk=1"#, Some((r#"a.5" disk"#, "1"))),
        (r#"a.b="=""#, Some(("a.b", r#""=""#))),
        (r#"a."b=1"#, None),
        (r#""a=1""#, None),
        ("a", None),
    ] {
        assert_eq!(path_and_value(text), split, "{text}");
    }
    for (path, keys) in [
        (r#"a."".b"#, vec!["a", "", "b"]),
        (r#""\u0301\U0001F600\t".b"#, vec!["\u{301}😀\t", "b"]),
        (r#"a.b=c"#, vec!["a", "b=c"]),
    ] {
        assert_eq!(keys_of_path(path), Ok(keys.into_iter().map(str::to_owned).collect()), "{path}");
    }
    for path in ["", "a.", ".a", "a..b", r#""a"#, r#""a"b"#, r#""\u{301}""#, "\"\n\""] {
        assert_eq!(keys_of_path(path), Err(PathError::Syntax(path.to_owned())), "{path}");
    }
    // Of a long one, all is said.
    let path = format!("\"{}", "x ".repeat(100));
    let message = keys_of_path(&path).unwrap_err().to_string();
    assert!(message.starts_with(&format!("{path:?} is no path, as ")), "{message}");
}
