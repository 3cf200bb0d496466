//! The sources of the crate.

use std::fs;
use std::path::Path;

/// All of them, each with its module: `a::b` for `a/b.rs` and `a/b/mod.rs`.
pub(crate) fn sources() -> Vec<(String, String)> {
    let mut found = Vec::new();
    collect(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), "", &mut found);
    found
}

fn collect(folder: &Path, parent: &str, found: &mut Vec<(String, String)>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let module = match path.file_stem().unwrap().to_str().unwrap() {
            "mod" => parent.to_owned(),
            name if parent.is_empty() => name.to_owned(),
            name => format!("{parent}::{name}"),
        };
        if path.is_dir() {
            collect(&path, &module, found);
        } else {
            found.push((module, fs::read_to_string(&path).unwrap()));
        }
    }
}

/// A source without its comments, and with single spaces.
pub(crate) fn code(source: &str) -> String {
    let code = |line: &'_ str| line.split("//").next().unwrap_or_default().to_owned();
    let lines: Vec<_> = source.lines().map(code).collect();
    lines.join(" ").split_whitespace().collect::<Vec<_>>().join(" ")
}
