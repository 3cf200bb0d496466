//! Whether what loads is assembled whole.

use device::shape::Kind;
use torrance_scene::{Error, Files, LoadedScene, load_bytes};

use super::assemble;

const BASE: &str = r#"
[camera]
position = [0, 0, 4]
target = [0, 0, 0]
fov = 40
[materials.white]
type = "diffuse"
reflectance = 0.8
[[shapes]]
type = "sphere"
material = "white"
emission = 1
"#;

fn loaded(text: &str) -> Result<LoadedScene, Error> {
    load_bytes("scene.toml", text.as_bytes(), &Files::new(".", false))
}

/// Nothing that loads is so small that building the scene would drop it.
#[test]
fn shapes_are_as_small_as_they_may_be_where_they_stand() {
    let shape = |kind: &str, scale: f64, x: f64| {
        let steps = format!("[{{ scale = {scale} }}, {{ translate = [{x}, 0, {x}] }}]");
        loaded(&format!("{BASE}[[shapes]]\ntype = \"{kind}\"\nemission = 1\ntransform = {steps}"))
    };
    let mut refused = 0;
    for kind in ["quad", "box", "sphere"] {
        for x in [0.0, 1.0, 1e3, 1e6, 9e8] {
            for exponent in -30..=8 {
                let Ok(loaded) = shape(kind, 2f64.powi(exponent), x) else {
                    refused += 1;
                    continue;
                };
                let scene = assemble(&loaded.description).unwrap();
                let expected = [("quad", [2, 1]), ("box", [12, 1]), ("sphere", [0, 2])];
                let found = (kind, [Kind::Triangle, Kind::Sphere].map(|shape| scene.stats.primitives[shape]));
                assert!(expected.contains(&found), "scale 2^{exponent} at {x}: {found:?}");
            }
        }
    }
    assert!(refused > 50, "{refused}");
}

/// A triangle that vanishes where single precision is coarse, or where squares underflow, is left out once: by the reader,
/// which says so.
#[test]
fn triangles_that_the_reader_keeps_are_assembled() {
    let folder = tempfile::tempdir().unwrap();
    let large_and_small = "v 0 0 0\nv 0.01 0 0\nv 0 0.01 0\nv 5e4 0 0\nv 0 5e4 0\nf 1 2 3\nf 1 4 5";
    std::fs::write(folder.path().join("m.obj"), large_and_small).unwrap();
    for steps in ["translate = [9e8, 9e8, 9e8]", "scale = 1e-8"] {
        let mesh =
            format!("type = \"mesh\"\nfile = \"m.obj\"\nmaterial = \"white\"\ntransform = {{ {steps} }}");
        let text = format!("{BASE}[[shapes]]\n{mesh}");
        let loaded = load_bytes("s.toml", text.as_bytes(), &Files::new(folder.path(), false)).unwrap();
        assert_eq!(loaded.warnings.len(), 1, "{steps}");
        assert_eq!(assemble(&loaded.description).unwrap().stats.primitives[Kind::Triangle], 1, "{steps}");
    }
}
