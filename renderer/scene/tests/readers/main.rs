//! Readers and writers of whole scenes: what they make of good files and say of broken ones.
//!
//! One program, which links the library: to have these tests beside the code, the library would be compiled twice.

mod files;
mod fuzz;
mod gltf;
mod layers;
mod light;
mod meshes;
mod mitsuba;
mod models;
mod names;
mod ply;
mod toml;
mod write;

use torrance_scene::{Description, Error, Files, LoadedScene, load_bytes};

/// A scene that is right, to be made wrong.
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

/// Loads the text of a scene; panics with the report if that fails.
fn scene(text: &str) -> Description {
    loaded(text).unwrap_or_else(|e| panic!("{}", e.report(false))).description
}

fn loaded(text: &str) -> Result<LoadedScene, Error> {
    load_bytes("scene.toml", text.as_bytes(), &Files::new(".", false))
}
