//! Links of the documents lead somewhere, and the paths that they name exist.

use std::fs;
use std::path::{Path, PathBuf};

/// Folders at the top. What begins with one of them, in backquotes, is a path.
const TOP: [&str; 6] = ["assets/", "device/", "docs/", "renderer/", "scenes/", "tests/"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// All documents, by their paths from the root.
fn documents() -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> =
        ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "scenes/README.md"]
            .map(PathBuf::from)
            .into();
    for folder in ["docs", "docs/cluster", "docs/mitsuba", "renderer/gpu/examples"] {
        let entries = fs::read_dir(root().join(folder)).expect("the folder is there");
        let paths = entries.map(|entry| Path::new(folder).join(entry.expect("it can be read").file_name()));
        found.extend(paths.filter(|path| path.extension().is_some_and(|e| e == "md")));
    }
    found
}

/// The text without its blocks of code.
fn prose(text: &str) -> String {
    text.split("```").step_by(2).collect()
}

/// The name by which a link finds a heading.
fn anchor(heading: &str) -> String {
    let kept = heading.trim_start_matches('#').trim().chars();
    let kept = kept.filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c }).flat_map(char::to_lowercase).collect()
}

/// Links and paths of a document that lead nowhere.
fn dead(document: &Path, text: &str) -> Vec<String> {
    let text = prose(text);
    let links = text.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(link, _)| link);
    let links = links.filter(|link| !link.contains("://") && !leads_somewhere(document, link));
    let quoted = text.split('`').skip(1).step_by(2);
    let paths = quoted.filter(|path| TOP.iter().any(|top| path.starts_with(top)) && !path.contains(' '));
    let paths = paths.filter(|path| !exists(path));
    links.chain(paths).map(|dead| format!("{}: {dead}", document.display())).collect()
}

/// Whether a link from a document is to a file, and to a heading of it if it says so.
fn leads_somewhere(document: &Path, link: &str) -> bool {
    let (file, heading) = link.split_once('#').map_or((link, None), |(file, heading)| (file, Some(heading)));
    let path = match file {
        "" => root().join(document),
        file => root().join(document).parent().expect("it is in a folder").join(file),
    };
    let has = |heading: &str| {
        let text = fs::read_to_string(&path).unwrap_or_default();
        prose(&text).lines().any(|line| line.starts_with('#') && anchor(line) == heading)
    };
    path.exists() && heading.is_none_or(has)
}

/// Whether there is a path from the root, or at least the folder of one with `NAME` or `*` in it.
fn exists(path: &str) -> bool {
    let pattern = ["NAME", "*"].into_iter().find_map(|pattern| path.find(pattern));
    let known = pattern.map_or(path, |at| path[..at].rsplit_once('/').map_or("", |(folder, _)| folder));
    root().join(known).exists()
}

#[test]
fn links_and_paths_exist() {
    let documents = documents();
    assert!(documents.len() > 20, "only {documents:?}");
    let text = |document: &PathBuf| fs::read_to_string(root().join(document)).expect("it is text");
    let dead: Vec<_> = documents.iter().flat_map(|document| dead(document, &text(document))).collect();
    assert!(dead.is_empty(), "{}", dead.join("\n"));
}

#[test]
fn control_dead_links_and_paths_are_found() {
    let dead = |text: &str| dead(Path::new("docs/README.md"), text).len();
    for (text, expected) in [
        ("[a](render.md), [b](../README.md), [c](https://example.org), [d](#for-rust-programs)", 0),
        ("[a](rendre.md), [b](README.md#no-such-heading), [c](#no-such-heading)", 3),
        ("`renderer/cli/src/main.rs`, `device/src/bsdf/NAME.rs`, `tests that run`, `a/b.rs`", 0),
        ("`renderer/cli/src/mian.rs`, `device/src/bsfd/NAME.rs`", 2),
        ("```sh\ncat `docs/none`\n```", 0),
    ] {
        assert_eq!(dead(text), expected, "{text}");
    }
}
