//! Bad input: each gives its exact message, with file and line, exit code 2, no panic, and no file.
//!
//! Everything runs the built program in a folder of its own, with relative paths, so that messages do not
//! depend on where that is.

use std::ffi::OsString;
use std::io::Cursor;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::LazyLock;

use image::{DynamicImage, ImageFormat, Rgb, Rgb32FImage, RgbImage};

mod rows;

use crate::damaged::png_that_claims;

use rows::Wrong::{self, Arguments, Mesh, Scene, WholeScene};
use rows::{COMMAND_LINE, DAYS, KEYS, MESHES, Row, SECTIONS, SETTINGS, SHAPES, SYNTAX, TEXTURES, VALUES};

/// A scene that is right. Line numbers in the table count in it.
const SCENE: &str = r#"[render]
size = [16, 12]
spp = 2

[camera]
position = [0, 1, 5]
target = [0, 0, 0]
fov = 40

[environment]
radiance = 0.5

[materials.white]
type = "diffuse"
reflectance = [0.8, 0.7, 0.6]

[materials.gold]
type = "conductor"
eta = [0.143, 0.375, 1.442]
k = [3.983, 2.386, 1.603]
roughness = 0.3

[[shapes]]
name = "ball"
type = "sphere"
material = "gold"
center = [0, 0.5, 0]
radius = 0.5

[[shapes]]
name = "floor"
type = "quad"
material = "white"
transform = [{ scale = 4 }, { rotate = { axis = "x", degrees = -90 } }]

[[shapes]]
name = "tile"
type = "mesh"
file = "tile.obj"
material = "white"
"#;

/// Its mesh, which is right as well.
const MESH: &str = "v 0 0 -1\nv 1 0 -1\nv 1 1 -1\nv 0 1 -1\nf 1 2 3 4\n";

/// Image files: wood.png is right, and the others are wrong in their own ways.
fn images() -> &'static [(&'static str, Vec<u8>)] {
    static IMAGES: LazyLock<Vec<(&str, Vec<u8>)>> = LazyLock::new(|| {
        let encoded = |image: DynamicImage, format| {
            let mut bytes = Cursor::new(Vec::new());
            image.write_to(&mut bytes, format).unwrap();
            bytes.into_inner()
        };
        let wood = encoded(RgbImage::from_pixel(4, 4, Rgb([90, 60, 30])).into(), ImageFormat::Png);
        let exr = |x: f32| {
            let image = Rgb32FImage::from_fn(3, 1, |i, _| Rgb([if i == 1 { x } else { 0.5 }; 3]));
            encoded(image.into(), ImageFormat::OpenExr)
        };
        vec![
            ("cut.png", wood[..wood.len() - 20].to_vec()),
            ("hollow.png", png_that_claims(0, 3)),
            ("long.png", png_that_claims(100_000, 1)),
            ("huge.png", png_that_claims(30_000, 30_000)),
            ("empty.png", Vec::new()),
            ("moving.gif", b"GIF89a\x01\0\x01\0\0\0\0;".to_vec()),
            ("nan.exr", exr(f32::NAN)),
            ("high.exr", exr(1e30)),
            ("wood.png", wood),
        ]
    });
    &IMAGES
}

/// The folder in which a row runs.
fn folder(wrong: &Wrong<'_>) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: &[u8]| std::fs::write(folder.path().join(name), bytes).unwrap();
    let mut scene = SCENE.as_bytes().to_vec();
    let mut mesh = MESH.as_bytes();
    match wrong {
        Scene(right, wrong) => {
            assert_eq!(SCENE.matches(right).count(), 1, "{right:?} is not in the scene once");
            scene = SCENE.replace(right, wrong).into_bytes();
        }
        WholeScene(bytes) => scene = bytes.to_vec(),
        Mesh(bytes) => mesh = bytes,
        Arguments(_) => {}
    }
    write("scene.toml", &scene);
    write("tile.obj", mesh);
    for (name, bytes) in images() {
        write(name, bytes);
    }
    for name in ["folder", "folder.obj", "folder.png"] {
        std::fs::create_dir(folder.path().join(name)).unwrap();
    }
    folder
}

/// Renders in `folder`.
fn render(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_torrance"));
    command.arg("render").args(arguments).current_dir(folder).output().unwrap()
}

/// All files in a folder and the folders in it.
fn contents(folder: &Path) -> Vec<OsString> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        found.push(entry.path().into_os_string());
        if entry.file_type().unwrap().is_dir() {
            found.extend(contents(&entry.path()));
        }
    }
    found.sort();
    found
}

/// Deviations of a row from its expectation.
fn faults((name, wrong, expected): &Row<'_>) -> Option<String> {
    let folder = folder(wrong);
    let before = contents(folder.path());
    let arguments = match wrong {
        Arguments(arguments) => arguments,
        _ => ["scene.toml", "-o", "out.png", "--device", "cpu"].as_slice(),
    };
    let output = render(folder.path(), arguments);
    let stderr = String::from_utf8_lossy(&output.stderr);
    let mut faults = Vec::new();
    let first = stderr.lines().next().unwrap_or_default();
    if first.strip_prefix("error: ") != Some(expected) {
        faults.push(format!("expected error: {expected}\n     got      {first}"));
    }
    if output.status.code() != Some(2) {
        faults.push(format!("ended with {:?}", output.status));
    }
    if stderr.contains("panicked") {
        faults.push(format!("panicked: {stderr}"));
    }
    if !output.stdout.is_empty() {
        faults.push("wrote to standard output".to_owned());
    }
    if contents(folder.path()) != before {
        faults.push(format!("left files behind: {:?}", contents(folder.path())));
    }
    (!faults.is_empty()).then(|| format!("{name}:\n     {}\n", faults.join("\n     ")))
}

fn check(rows: &[Row<'_>]) {
    let faults: Vec<_> = rows.iter().filter_map(faults).collect();
    assert!(faults.is_empty(), "{} of {} rows:\n{}", faults.len(), rows.len(), faults.concat());
}

/// Nothing is rendered with parameters that cannot be set.
#[test]
fn settings() {
    for (setting, expected) in SETTINGS {
        let arguments = ["scene.toml", "-o", "out.png", "--device", "cpu", "--set", setting];
        check(&[(*setting, Arguments(&arguments), &format!("--set {setting}: {expected}"))]);
    }
}

/// Without this, the rows might fail for another reason than the one they are about.
#[test]
fn the_scene_as_it_is_renders() {
    let folder = folder(&Arguments(&[]));
    let output = render(folder.path(), &["scene.toml", "-o", "out.png", "--device", "cpu"]);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    assert!(!stderr.contains("warning"), "{stderr}");
    let image = std::fs::read(folder.path().join("out.png")).unwrap();
    assert!(image.starts_with(b"\x89PNG"));
}

/// Suspicious input that is no error is warned of and rendered.
#[test]
fn a_few_flat_triangles_are_a_warning() {
    let folder = folder(&Mesh(b"v 0 0 -1\nv 1 0 -1\nv 1 1 -1\nf 1 1 2\nf 1 2 3\n"));
    let output = render(folder.path(), &["scene.toml", "-o", "out.png", "--device", "cpu"]);
    let stderr = String::from_utf8_lossy(&output.stderr);
    let expected = "warning: scene.toml:39:8: 1 of 2 triangles of \"tile.obj\" has no area and is left out; the first is \
                    on line 4 there";
    assert_eq!(stderr.lines().next(), Some(expected), "{stderr}");
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    assert!(folder.path().join("out.png").exists());
}

/// Options that change nothing are said to.
/// A model with a mistake is rendered with a warning, and refused if that is asked for.
#[test]
fn mistakes_in_models_are_warnings_unless_strict() {
    let folder = folder(&Arguments(&[]));
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("m.mtl", "newmtl a\nKd 0.5 0.5 0.5\nmap_Kd absent.png\nNi 0\n");
    write("m.obj", "mtllib m.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nusemtl a\nf 1/1 2/1 3/1\nf 1 2\n");
    let arguments = ["m.obj", "-o", "out.png", "--size", "8x8", "--spp", "1", "--device", "cpu", "--quiet"];
    let output = render(folder.path(), &arguments);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    let mistakes = [
        (
            "m.obj:6:3: the texture coordinate index 1 is out of range; the file has 0 (and 2 more of the kind)",
            "the corner has none",
        ),
        ("m.obj:7:1: a face has at least three vertices, and this one has 2", "the face is left out"),
        ("m.mtl:4:4: 0 is not from 0.001 to 1000", "the statement is left out"),
        ("m.mtl:3:1: cannot read image \"absent.png\": no such file", "the material is without it"),
    ];
    let lines = |kind: &str| stderr.lines().filter(|line| line.starts_with(kind)).count();
    for (message, remedy) in mistakes {
        assert!(stderr.contains(&format!("warning: {message}; {remedy}\n")), "{message}: {stderr}");
    }
    assert_eq!(lines("warning: "), mistakes.len(), "{stderr}");
    std::fs::remove_file(folder.path().join("out.png")).unwrap();
    let output = render(folder.path(), &[&arguments[..], &["--strict"]].concat());
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    for (message, _) in mistakes {
        assert!(stderr.contains(&format!("error: {message}\n")), "{message}: {stderr}");
    }
    assert!(!folder.path().join("out.png").exists());
}

#[test]
fn options_of_formats_that_are_not_written_are_a_warning() {
    let folder = folder(&Arguments(&[]));
    let warnings = |arguments: &[&str]| {
        let all = [&["scene.toml", "--device", "cpu", "--quiet"], arguments].concat();
        let output = render(folder.path(), &all);
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    let bit_depth = "warning: --bit-depth changes PNG and JPEG XL only, and none is written\n";
    let exr = "warning: --exr changes EXR only, and none is written\n";
    assert_eq!(warnings(&["-o", "a.exr", "--bit-depth", "16"]), bit_depth);
    assert_eq!(warnings(&["-o", "a.png", "--exr", "half"]), exr);
    assert_eq!(warnings(&["-o", "a.pfm", "--exr", "half", "--bit-depth", "16"]), [bit_depth, exr].concat());
    assert_eq!(warnings(&["-o", "a.png", "-o", "a.exr", "--exr", "half", "--bit-depth", "16"]), "");
}

/// A row that expects the wrong thing must be caught.
#[test]
fn the_check_can_fail() {
    let right = "scene.toml:8:7: \"fov\" must be above 0 and below 180 degrees, not 0";
    assert_eq!(faults(&("right", Scene("fov = 40", "fov = 0"), right)), None);
    assert!(faults(&("another message", Scene("fov = 40", "fov = 0"), &right[1..])).is_some());
    let renders = faults(&("nothing wrong", Scene("fov = 40", "fov = 41"), right)).unwrap();
    assert!(renders.contains("ended with") && renders.contains("left files behind"), "{renders}");
}

#[test]
fn there_are_rows_enough() {
    let rows: Vec<_> = [SYNTAX, KEYS, SECTIONS, VALUES, SHAPES, MESHES, TEXTURES, COMMAND_LINE].concat();
    assert!(rows.len() >= 40, "{}", rows.len());
}

#[test]
fn not_toml() {
    check(SYNTAX);
}

#[test]
fn wrong_keys_and_names() {
    check(KEYS);
}

#[test]
fn wrong_sections() {
    check(SECTIONS);
}

#[test]
fn wrong_values() {
    check(VALUES);
}

#[test]
fn wrong_shapes() {
    check(SHAPES);
}

#[test]
fn wrong_meshes() {
    check(MESHES);
}

#[test]
fn wrong_textures() {
    check(TEXTURES);
}

#[test]
fn wrong_arguments() {
    check(COMMAND_LINE);
}

/// Not even root can create files there.
#[cfg(target_os = "linux")]
#[test]
fn unwritable_folder() {
    let message =
        r#"output "/proc/out.png": cannot create files in "/proc": No such file or directory (os error 2)"#;
    check(&[("unwritable", Arguments(&["scene.toml", "-o", "/proc/out.png", DAYS]), message)]);
}

/// Faults after the first are reported too, one first line each.
#[test]
fn all_faults_are_reported() {
    let scene = SCENE.replace("fov = 40", "fov = 0").replace("roughness = 0.3", "rouhgness = 0.3");
    let scene = scene.replace("\"white\"\n", "\"wihte\"\n");
    let folder = folder(&WholeScene(scene.as_bytes()));
    let output = render(folder.path(), &["scene.toml", "-o", "out.png"]);
    let stderr = String::from_utf8_lossy(&output.stderr);
    let places: Vec<_> = stderr.lines().filter_map(|l| l.strip_prefix("error: scene.toml:")).collect();
    assert_eq!(places.len(), 5, "{stderr}");
    assert!(stderr.ends_with("\n5 errors\n"), "{stderr}");
}
