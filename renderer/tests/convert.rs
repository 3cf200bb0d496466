//! `torrance convert`, `inspect` and `schema`, run as a user runs them.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn torrance(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_torrance")).args(arguments).current_dir(folder).output().unwrap()
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().unwrap()
}

fn succeeded(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The bytes of a small image of a scene.
fn image(folder: &Path, scene: &str, seed: &str) -> Vec<u8> {
    let out = folder.join("image.pfm");
    let fixed =
        ["--size", "24x16", "--spp", "4", "--device", "cpu", "--quiet", "--allow-external", "--seed", seed];
    succeeded(&torrance(folder, &[&["render", scene, "-o", out.to_str().unwrap()], &fixed[..]].concat()));
    std::fs::read(out).unwrap()
}

/// Scenes with meshes, textures, normal maps, blends and holes among them.
#[test]
fn converted_scenes_render_the_same_image() {
    let names = [
        "scenes/materials",
        "scenes/glass",
        "tests/references/textured/scene",
        "tests/references/normalmap/scene",
    ];
    for name in names {
        let folder = tempfile::tempdir().unwrap();
        let original = repository().join(name).with_extension("toml");
        let original = original.to_str().unwrap();
        succeeded(&torrance(
            folder.path(),
            &["convert", original, "out.toml", "--allow-external", "--quiet"],
        ));
        let expected = image(folder.path(), original, "1");
        assert!(image(folder.path(), "out.toml", "1") == expected, "{name}");
        assert!(image(folder.path(), "out.toml", "2") != expected, "{name}: images differ by their seed");
        // What was converted stands alone.
        let moved = tempfile::tempdir().unwrap();
        let elsewhere = moved.path().join("here");
        std::fs::rename(folder.path(), &elsewhere).unwrap();
        succeeded(&torrance(&elsewhere, &["inspect", "out.toml"]));
        std::fs::rename(&elsewhere, folder.path()).unwrap();
    }
}

#[test]
fn nothing_is_replaced_by_chance() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    std::fs::copy(repository().join("scenes/cornell.toml"), at("scene.toml")).unwrap();
    std::fs::write(at("there.toml"), "mine").unwrap();
    let refused = |arguments: &[&str]| {
        let output = torrance(folder.path(), arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    let message = refused(&["convert", "scene.toml", "there.toml"]);
    assert_eq!(message, "error: output \"there.toml\": exists already; --force replaces it\n");
    assert_eq!(std::fs::read(at("there.toml")).unwrap(), b"mine");
    assert!(
        refused(&["convert", "scene.toml", "scene.toml", "--force"]).contains("the scene to be converted")
    );
    assert!(refused(&["convert", "scene.toml", "out.xml"]).contains("written as .toml"));
    assert!(refused(&["convert", "absent.toml", "out.toml"]).contains("no such file"));
    succeeded(&torrance(folder.path(), &["convert", "scene.toml", "there.toml", "--force"]));
    assert!(std::fs::read_to_string(at("there.toml")).unwrap().starts_with("[render]\n"));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
}

#[test]
fn scenes_are_inspected() {
    let scene = repository().join("scenes/cornell.toml");
    let inspect = |more: &[&str]| {
        succeeded(&torrance(&repository(), &[&["inspect", scene.to_str().unwrap()], more].concat()))
    };
    let json: serde_json::Value = serde_json::from_str(&inspect(&["--json"])).unwrap();
    assert_eq!(json["shapes"]["quad"], 6);
    assert_eq!(json["shapes"]["box"], 2);
    assert_eq!(json["materials"]["diffuse"], 4);
    assert_eq!(json["lights"][0]["name"], "light");
    // π L A.
    let power = std::f64::consts::PI * (18.387 + 13.9873 + 6.75357) / 3.0 * 4.0 * 0.23 * 0.19;
    let found = json["lights"][0]["power"].as_f64().unwrap();
    assert!((found - power).abs() < 1e-4 * power, "{found}, not {power}");
    assert!(inspect(&[]).contains("bounds     (-1, -1.01, -1) to (1, 1, 1)"), "{}", inspect(&[]));
    let paths = inspect(&["--paths"]);
    assert!(
        paths.contains("\ncamera.fov = 39.3077\n")
            && paths.contains("\nshapes.\"tall box\".type = \"box\"\n")
    );
    let listed: serde_json::Value = serde_json::from_str(&inspect(&["--paths", "--json"])).unwrap();
    assert_eq!(listed.as_array().unwrap().len(), paths.lines().count());
}

#[test]
fn the_schema_is_one() {
    let json: serde_json::Value =
        serde_json::from_str(&succeeded(&torrance(Path::new("."), &["schema"]))).unwrap();
    assert_eq!(json["$schema"], "http://json-schema.org/draft-07/schema#");
    for key in ["camera", "materials", "shapes"] {
        assert!(json["properties"][key].is_object(), "{key}");
    }
    assert!(succeeded(&torrance(Path::new("."), &["schema", "--markdown"])).contains("# Scene files"));
}
