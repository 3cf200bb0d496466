//! The schema as a language server of TOML sees it: scenes that are right pass, and those that are broken do not.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Scenes of the repository.
fn scenes() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let gallery = std::fs::read_dir(root.join("scenes")).unwrap().map(|e| e.unwrap().path());
    let references = std::fs::read_dir(root.join("tests/references")).unwrap();
    let references = references.map(|e| e.unwrap().path().join("scene.toml"));
    let is_scene = |path: &PathBuf| path.is_file() && path.extension().is_some_and(|e| e == "toml");
    gallery.chain(references).filter(is_scene).collect()
}

/// Ways to break a scene that a schema can see.
const BROKEN: [(&str, &str); 8] = [
    ("spp = 128", "ssp = 128"),
    ("spp = 128", "spp = 0"),
    ("spp = 128", "sampler = \"sobl\""),
    ("fov = 39.3077", "fov = 200"),
    ("type = \"diffuse\"", "type = \"difuse\""),
    ("type = \"diffuse\"", "type = \"diffuse\"\nior = 1.5"),
    ("position = [0, 0, 3.9]", "position = [0, 0]"),
    ("{ scale = [0.23, 0.19, 1] }", "{ scale = [0.23, 0.19, 1], translate = [0, 0, 0] }"),
];

#[test]
fn taplo_accepts_what_is_right_and_finds_what_is_not() {
    if Command::new("taplo").arg("--version").output().is_err() {
        return println!("skipped: no taplo");
    }
    let folder = tempfile::tempdir().unwrap();
    let schema = folder.path().join("schema.json");
    let output = Command::new(env!("CARGO_BIN_EXE_torrance")).arg("schema").output().unwrap();
    std::fs::write(&schema, output.stdout).unwrap();
    let lint = |text: &str| {
        let file = folder.path().join("scene.toml");
        std::fs::write(&file, text).unwrap();
        let schema = format!("file://{}", schema.display());
        let mut taplo = Command::new("taplo");
        taplo.args(["lint", "--no-auto-config", "--schema", &schema]).arg(&file);
        let output = taplo.current_dir(folder.path()).output().unwrap();
        (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    for scene in scenes() {
        let (accepted, said) = lint(&std::fs::read_to_string(&scene).unwrap());
        assert!(accepted, "{}: {said}", scene.display());
    }
    let cornell = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes/cornell.toml");
    let cornell = std::fs::read_to_string(cornell).unwrap();
    for (right, wrong) in BROKEN {
        assert!(cornell.contains(right), "{right}");
        let (accepted, said) = lint(&cornell.replacen(right, wrong, 1));
        assert!(!accepted, "{wrong} passes: {said}");
    }
}
