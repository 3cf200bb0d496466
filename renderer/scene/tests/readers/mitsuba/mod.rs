//! Descriptions of valid scenes, and messages for broken ones.

mod broken;
mod files;
mod materials;
mod mutation;
mod references;
mod settings;
mod shapes;
mod spectra;

use std::path::Path;

use torrance_scene::{Description, Error, Files, Material, Problem, load_bytes};

/// A scene around `inner`, with a sensor and a light.
fn around(inner: &str) -> String {
    format!(
        "<scene version=\"3.0.0\"><sensor type=\"perspective\"><float name=\"fov\" value=\"40\"/></sensor>\
         <emitter type=\"constant\"/>{inner}</scene>"
    )
}

/// The folder of the reference scenes.
fn references() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/references")
}

fn load_in(folder: &Path, text: &str) -> Result<(Description, Vec<Problem>), Error> {
    let loaded = load_bytes("s.xml", text.as_bytes(), &Files::new(folder, false))?;
    Ok((loaded.description, loaded.warnings))
}

fn load_text(text: &str) -> Result<(Description, Vec<Problem>), Error> {
    load_in(&references(), text)
}

/// The description of a scene around `inner`, which must have no warnings.
fn scene(inner: &str) -> Description {
    let (description, warnings) = load_text(&around(inner)).unwrap_or_else(|e| panic!("{inner}: {e}"));
    assert_eq!(warnings, [], "{inner}");
    description
}

/// The material of a sphere with a BSDF.
fn material(bsdf: &str) -> (Description, Material) {
    let description = scene(&format!("<shape type=\"sphere\">{bsdf}</shape>"));
    let material = description.materials[description.shapes[0].material].clone();
    (description, material)
}
