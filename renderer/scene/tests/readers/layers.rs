//! The layers of the crate: a module names its own and those below, never one above.

use std::fs;
use std::path::{Path, PathBuf};

/// Top-level modules from the bottom upwards. Those on one line know nothing of each other.
const LAYERS: [&[&str]; 6] =
    [&["description", "input"], &["files"], &["formats"], &["light", "write"], &["load"], &["paths"]];

#[test]
fn arrows_lead_down() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut count = 0;
    let mut wrong = Vec::new();
    for file in sources(&root) {
        let module = module_of(file.strip_prefix(&root).unwrap());
        let text = fs::read_to_string(&file).unwrap();
        wrong.extend(violations(&module, &text).into_iter().map(|to| format!("{} → {to}", file.display())));
        count += 1;
    }
    assert!(count > 90, "only {count} files were found");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The check sees each way to write an upward path, and lets downward ones pass.
#[test]
fn arrows_that_lead_up_are_found() {
    let up = [
        ("description::shape", "use crate::input::Problem;"),
        ("files", "fn f() { crate::load::load_bytes(); }"),
        ("files::mesh", "use super::super::formats::obj;"),
        ("formats::toml::keys", "use crate::{\n    description::Shape,\n    write::{number, rgb},\n};"),
        ("write::text", "use super::super::load;"),
        ("load", "use crate::Description;"),
        ("formats", "mod m {\n    use crate::paths::split;\n}"),
        ("input", "use super::Files;"),
    ];
    for (module, text) in up {
        assert_eq!(violations(module, text).len(), 1, "{module}: {text}");
    }
    let down = [
        ("files::mesh::obj", "use super::super::image;\nuse crate::input::Problem;"),
        ("load", "//! Not crate::paths.\nuse crate::{formats::gltf, files::Files};"),
        ("formats::toml::shape", "use super::keys;\nuse crate::description::{self, Shape};"),
        ("description::shape", "#[cfg(test)]\nmod tests {\n    use crate::load::load_bytes;\n}"),
    ];
    for (module, text) in down {
        assert_eq!(violations(module, text), [""; 0], "{module}: {text}");
    }
}

/// The source files below a folder, but for the root of the crate and for tests.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if path.is_dir() && name != "tests" {
            found.extend(sources(&path));
        } else if name.ends_with(".rs") && !matches!(name, "lib.rs" | "tests.rs") {
            found.push(path);
        }
    }
    found
}

/// `a::b` for `a/b.rs` and `a/b/mod.rs`.
fn module_of(file: &Path) -> String {
    let path = file.with_extension("");
    let path = if path.ends_with("mod") { path.parent().unwrap() } else { &path };
    path.iter().map(|part| part.to_str().unwrap()).collect::<Vec<_>>().join("::")
}

/// The modules above its own that the text of `module` names, the root of the crate included.
fn violations(module: &str, text: &str) -> Vec<String> {
    let own: Vec<&str> = module.split("::").collect();
    let layer = |name: &str| LAYERS.iter().position(|names| names.contains(&name));
    let from = layer(own[0]).unwrap_or_else(|| panic!("{module} is in no layer"));
    let is_wrong = |target: &String| target != own[0] && layer(target).is_none_or(|to| to >= from);
    targets(&own, &code_of(text)).into_iter().filter(is_wrong).collect()
}

/// A text without comments, and without the tests at its end.
fn code_of(text: &str) -> String {
    let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    text.lines().map(|line| line.split("//").next().unwrap_or_default()).collect::<Vec<_>>().join("\n")
}

/// The top-level modules, or items of the root, that the paths in `code` lead to from the module `own`.
fn targets(own: &[&str], code: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (at, _) in code.match_indices("crate::") {
        found.extend(heads(&code[at + "crate::".len()..]));
    }
    // A chain of as many `super` as the module is deep leads to the root.
    let to_root = "super::".repeat(own.len());
    for (at, _) in code.match_indices(&to_root).filter(|(at, _)| !code[..*at].ends_with("::")) {
        found.extend(heads(&code[at + to_root.len()..]));
    }
    found
}

/// The first names of a path, or of each in braces.
fn heads(path: &str) -> Vec<String> {
    let name = |path: &str| {
        let end = path.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(path.len());
        path[..end].to_owned()
    };
    let Some(list) = path.strip_prefix('{') else { return vec![name(path)] };
    let mut depth = 0;
    let mut found = vec![name(list.trim_start())];
    for (i, c) in list.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            ',' if depth == 0 => found.push(name(list[i + 1..].trim_start())),
            _ => {}
        }
    }
    found.retain(|name| !name.is_empty());
    found
}
