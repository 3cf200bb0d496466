//! The crates of the workspace depend on those below them only, and only the program knows of command lines.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use toml::Table;

/// The crates of the product, in layers: each may depend on those of the layers above it in this list.
const LAYERS: &[&[&str]] = &[
    &[
        "cuda_std_macros",
        "find_cuda_helper",
        "libm",
        "ptx-text",
        "torrance-oidn",
        "torrance-system",
        "torrance-text",
    ],
    &["cuda_std", "ptx", "torrance-image"],
    &["primitives", "torrance-plot"],
    &["device"],
    &["cpu"],
    &["torrance-gpu", "torrance-scene"],
    &["renderer"],
    &["torrance-view"],
    &["torrance"],
    &["torrance-python"],
];

/// Crates that build or test the product, and may depend on all of it.
const TOOLS: &[&str] = &["ptx-builder", "tier", "torrance-tests"];

/// Crates from elsewhere, with the only ones that may depend on them.
const RESERVED: &[(&str, &[&str])] = &[("clap", &["torrance", "ptx-builder"])];

/// Each crate of the workspace, with what it depends on, but for its tests.
fn workspace() -> BTreeMap<String, Vec<String>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let manifest = |folder: PathBuf| -> Table {
        let text = std::fs::read_to_string(folder.join("Cargo.toml")).expect("there is a manifest");
        text.parse().expect("it is TOML")
    };
    let members = manifest(root.clone())["workspace"]["members"].clone();
    let members = members.as_array().expect("a list").iter();
    let folders = members.map(|member| root.join(member.as_str().expect("a path")));
    folders
        .map(manifest)
        .map(|m| (m["package"]["name"].as_str().expect("a name").to_owned(), depends(&m)))
        .collect()
}

/// Dependencies of a crate according to its manifest, on any machine.
fn depends(manifest: &Table) -> Vec<String> {
    let targets = manifest.get("target").and_then(|t| t.as_table());
    let targets = targets.into_iter().flat_map(|t| t.values()).filter_map(|t| t.as_table());
    let tables = std::iter::once(manifest).chain(targets);
    let kinds = tables.flat_map(|t| [t.get("dependencies"), t.get("build-dependencies")]).flatten();
    let package = |(name, of): (&String, &toml::Value)| {
        of.get("package").and_then(|package| package.as_str()).unwrap_or(name).to_owned()
    };
    kinds.filter_map(|t| t.as_table()).flat_map(|t| t.iter().map(package)).collect()
}

/// Violations of the layering of crates, a sentence each.
fn violations(crates: &BTreeMap<String, Vec<String>>) -> Vec<String> {
    let layer = |name: &str| LAYERS.iter().position(|layer| layer.contains(&name));
    let mut violations = Vec::new();
    for (name, depends) in crates {
        let is_tool = TOOLS.contains(&name.as_str());
        if layer(name).is_none() && !is_tool {
            violations.push(format!("{name} is in no layer"));
        }
        for other in depends {
            let is_down = layer(other).zip(layer(name)).is_none_or(|(below, above)| below < above);
            if !is_down || (!is_tool && TOOLS.contains(&other.as_str())) {
                violations.push(format!("{name} depends on {other}, which is not below it"));
            }
            if RESERVED.iter().any(|(of, who)| of == other && !who.contains(&name.as_str())) {
                violations.push(format!("{name} depends on {other}"));
            }
        }
    }
    violations
}

#[test]
fn arrows_lead_down() {
    let crates = workspace();
    for name in ["torrance-text", "torrance-gpu", "renderer", "torrance"] {
        assert!(crates.contains_key(name), "{name} is in {crates:?}");
    }
    let found = violations(&crates);
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn control_arrows_that_lead_up_are_found() {
    let with = |name: &str, other: &str| {
        let mut crates = workspace();
        crates.entry(name.to_owned()).or_default().push(other.to_owned());
        violations(&crates)
    };
    let up = |name: &str, other: &str| format!("{name} depends on {other}, which is not below it");
    for (name, other) in [
        ("torrance-text", "torrance-image"),
        ("torrance-image", "torrance-scene"),
        ("torrance-plot", "torrance-gpu"),
        ("device", "renderer"),
        ("torrance-gpu", "torrance-scene"),
        ("renderer", "torrance"),
        ("renderer", "torrance-tests"),
        ("torrance-scene", "torrance-scene"),
    ] {
        assert_eq!(with(name, other), [up(name, other)]);
    }
    assert_eq!(with("renderer", "clap"), ["renderer depends on clap"]);
    assert_eq!(with("newcomer", "glam"), ["newcomer is in no layer"]);
    let manifest = "[target.'cfg(unix)'.dependencies]\nclap = \"4\"\n[dev-dependencies]\nexr = \"1\"";
    assert_eq!(depends(&manifest.parse().expect("it is TOML")), ["clap"]);
    let renamed = "[dependencies]\nargs = { package = \"clap\", version = \"4\" }";
    assert_eq!(depends(&renamed.parse().expect("it is TOML")), ["clap"]);
}
