//! `torrance convert`, `inspect` and `schema`, run as a user runs them.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

fn torrance(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_torrance")).args(arguments).current_dir(folder).output().unwrap()
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn succeeded(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The bytes of a small image of a scene.
fn image(folder: &Path, scene: &str, seed: &str) -> Vec<u8> {
    image_with(folder, scene, &["--seed", seed])
}

/// The same, with other options.
fn image_with(folder: &Path, scene: &str, options: &[&str]) -> Vec<u8> {
    let out = folder.join("image.pfm");
    let fixed = ["--size", "16x12", "--spp", "2", "--device", "cpu", "--quiet", "--allow-external"];
    let arguments = [&["render", scene, "-o", out.to_str().unwrap()], &fixed[..], options].concat();
    succeeded(&torrance(folder, &arguments));
    std::fs::read(out).unwrap()
}

/// The scenes of the repository, of every format.
fn scenes() -> Vec<PathBuf> {
    let files_in = |folder: PathBuf| {
        let entries = std::fs::read_dir(folder).unwrap();
        let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        paths
    };
    let is_toml = |path: &PathBuf| path.extension().is_some_and(|e| e == "toml");
    let is_scene = |path: &PathBuf| {
        path.file_stem().is_some_and(|stem| stem == "scene")
            && path
                .extension()
                .is_some_and(|e| ["toml", "xml", "gltf", "glb"].iter().any(|known| e == *known))
    };
    let shown = files_in(repository().join("scenes")).into_iter().filter(is_toml);
    let folders = files_in(repository().join("tests/references")).into_iter().filter(|path| path.is_dir());
    shown.chain(folders.flat_map(files_in).filter(is_scene)).collect()
}

/// Every scene of the repository, converted and rendered again.
#[test]
fn converted_scenes_render_the_same_image() {
    let scenes = scenes();
    for format in ["toml", "xml", "glb"] {
        let count = scenes.iter().filter(|path| path.extension().is_some_and(|e| e == format)).count();
        assert!(count >= 6, "{count} scenes of .{format}");
    }
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(scene) = scenes.get(next.fetch_add(1, Relaxed)) {
                    check_conversion(scene);
                }
            });
        }
    });
}

fn check_conversion(scene: &Path) {
    let folder = tempfile::tempdir().unwrap();
    let name = scene.to_str().unwrap();
    succeeded(&torrance(folder.path(), &["convert", name, "out.toml", "--allow-external", "--quiet"]));
    let expected = image(folder.path(), name, "1");
    // What was converted stands alone.
    let moved = tempfile::tempdir().unwrap();
    let elsewhere = moved.path().join("here");
    std::fs::rename(folder.path(), &elsewhere).unwrap();
    assert!(image(&elsewhere, "out.toml", "1") == expected, "{name}");
    for scene in [name, "out.toml"] {
        let json = succeeded(&torrance(&elsewhere, &["inspect", scene, "--json", "--allow-external"]));
        let json: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert!(json["shapes"].as_object().is_some_and(|shapes| !shapes.is_empty()), "{name}: {json}");
        // What is written has nothing suspicious of its own.
        let warnings = json["warnings"].as_array().map_or(0, Vec::len);
        assert!(scene == name || warnings == 0, "{name}: {}", json["warnings"]);
    }
    let paths = succeeded(&torrance(&elsewhere, &["inspect", "out.toml", "--paths"]));
    assert!(paths.lines().count() > 10 && paths.lines().all(|line| line.contains(" = ")), "{name}: {paths}");
    check_setting(&elsewhere, name, &expected);
    // Images differ by their seed.
    assert!(image(&elsewhere, "out.toml", "2") != expected, "{name}");
    std::fs::rename(&elsewhere, folder.path()).unwrap();
}

/// Parameters set to what they are change nothing, and a scene that is written with others renders as with those set.
fn check_setting(folder: &Path, name: &str, expected: &[u8]) {
    let listed = succeeded(&torrance(folder, &["inspect", name, "--paths", "--allow-external"]));
    let settings: Vec<_> = listed.lines().map(|line| line.replacen(" = ", "=", 1)).collect();
    let some = settings.iter().step_by(1 + settings.len() / 60);
    let options: Vec<_> = ["--seed", "1"].into_iter().chain(some.flat_map(|set| ["--set", set])).collect();
    assert!(image_with(folder, name, &options) == expected, "{name}");

    let moved = ["--set", "camera.position.1=1.25", "--set", "render.masking=separable"];
    let convert = ["convert", name, "moved.toml", "--allow-external", "--quiet"];
    succeeded(&torrance(folder, &[&convert[..], &moved].concat()));
    let image = image_with(folder, name, &[&["--seed", "1"], &moved[..]].concat());
    assert!(image == self::image(folder, "moved.toml", "1"), "{name}");
    assert!(image != expected, "{name}");
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
    assert_eq!(
        refused(&["inspect", "scene.toml", "--define", "n=1"]),
        "error: scene.toml: there is no parameter \"n\" to define: only Mitsuba scenes have any\n"
    );
    assert_eq!(
        refused(&["inspect", "scene.toml", "-a", "here;there"]),
        "error: scene.toml: there is no search path to append \"here\" to: only Mitsuba scenes have one\n"
    );
    std::fs::write(at("scene.xml"), "<scene version=\"3.0.0\"/>").unwrap();
    assert_eq!(
        refused(&["inspect", "scene.xml", "--append", "there"]),
        "error: scene.xml: there is no folder \"there\" to look for files in\n"
    );
    std::fs::remove_file(at("scene.xml")).unwrap();
    succeeded(&torrance(folder.path(), &["convert", "scene.toml", "there.toml", "--force"]));
    assert!(std::fs::read_to_string(at("there.toml")).unwrap().starts_with("[render]\n"));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
}

/// Neither by force: the mesh of the material "red" would go where the material comes from.
#[test]
fn what_the_scene_reads_is_not_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    std::fs::create_dir(folder.join("out-files")).unwrap();
    let library = folder.join("out-files/red.ply");
    std::fs::write(&library, "newmtl red\nKd 1 0 0\n").unwrap();
    let model = "mtllib out-files/red.ply\nv 0 0 0\nv 1 0 0\nv 0 1 0\nusemtl red\nf 1 2 3\n";
    std::fs::write(folder.join("m.obj"), model).unwrap();
    let output = torrance(folder, &["convert", "m.obj", "out.toml", "--force"]);
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert!(message.contains("output \"out-files/red.ply\": is a file that the scene reads"), "{message}");
    assert!(std::fs::read_to_string(&library).unwrap().starts_with("newmtl"));
    assert!(!folder.join("out.toml").exists());
    succeeded(&torrance(folder, &["convert", "m.obj", "other.toml", "--force"]));
}

/// What could not be read again, as the folder of its files leads elsewhere, replaces nothing and leaves nothing.
#[cfg(unix)]
#[test]
fn a_scene_that_cannot_be_read_again_is_not_written() {
    let above = tempfile::tempdir().unwrap();
    let [folder, elsewhere] = ["here", "elsewhere"].map(|name| above.path().join(name));
    for folder in [&folder, &elsewhere] {
        std::fs::create_dir(folder).unwrap();
    }
    std::fs::write(folder.join("m.obj"), "v 0 0 0\nv 1 0 0\nv 0 1 0\nusemtl red\nf 1 2 3\n").unwrap();
    std::fs::write(folder.join("out.toml"), "mine").unwrap();
    std::os::unix::fs::symlink(&elsewhere, folder.join("out-files")).unwrap();
    let convert = || torrance(&folder, &["convert", "m.obj", "out.toml", "--force"]);
    let count = |folder: &Path| std::fs::read_dir(folder).unwrap().count();
    let output = convert();
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(3), "{message}");
    assert!(message.contains("\"out-files\": it is not in the folder of the scene"), "{message}");
    assert_eq!(std::fs::read(folder.join("out.toml")).unwrap(), b"mine");
    assert_eq!((count(&folder), count(&elsewhere)), (3, 0));

    std::fs::remove_file(folder.join("out-files")).unwrap();
    succeeded(&convert());
    assert_eq!((count(&folder), count(&folder.join("out-files"))), (3, 1));
}

/// A folder that was made for files goes where these cannot be written, and a file that is there stays.
#[test]
fn a_conversion_that_fails_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    std::fs::write(at("m.obj"), "v 0 0 0\nv 1 0 0\nv 0 1 0\nusemtl red\nf 1 2 3\n").unwrap();
    std::fs::create_dir_all(at("out-files/red.ply")).unwrap();
    std::fs::write(at("out.toml"), "mine").unwrap();
    let output = torrance(folder.path(), &["convert", "m.obj", "out.toml", "--force"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("out-files/red.ply\": is a directory"));
    assert_eq!(std::fs::read(at("out.toml")).unwrap(), b"mine");
    assert_eq!(std::fs::read_dir(at("out-files")).unwrap().count(), 1);
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
    let fov = listed.as_array().unwrap().iter().find(|parameter| parameter["path"] == "camera.fov").unwrap();
    assert_eq!((&fov["value"], &fov["takes"]), (&"39.3077".into(), &"from 0.001 to 179.999".into()));
    // What is set is listed.
    let paths = inspect(&["--paths", "--set", "camera.fov=30", "--set", "shapes.\"tall box\".material=red"]);
    assert!(paths.contains("\ncamera.fov = 30\n"), "{paths}");
    assert!(paths.contains("\nshapes.\"tall box\".material = \"red\"\n"), "{paths}");
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
