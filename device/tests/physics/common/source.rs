//! The sources of the crate.

use std::fs;
use std::path::Path;

/// All of them, each with the part of the crate that it is of: the file or folder at the root.
pub(crate) fn sources() -> Vec<(String, String)> {
    let mut found = Vec::new();
    collect(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), None, &mut found);
    found
}

fn collect(folder: &Path, part: Option<&str>, found: &mut Vec<(String, String)>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap();
        let part = part.unwrap_or(name);
        if path.is_dir() {
            collect(&path, Some(part), found);
        } else {
            found.push((part.to_owned(), fs::read_to_string(&path).unwrap()));
        }
    }
}

/// A source without its comments, and with single spaces.
pub(crate) fn code(source: &str) -> String {
    let code = |line: &'_ str| line.split("//").next().unwrap_or_default().to_owned();
    let lines: Vec<_> = source.lines().map(code).collect();
    lines.join(" ").split_whitespace().collect::<Vec<_>>().join(" ")
}
