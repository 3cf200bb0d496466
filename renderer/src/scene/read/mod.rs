//! TOML scene files.

mod keys;
mod material;
mod mesh;
mod settings;
mod shape;
mod texture;
mod transform;

use super::limits::MAX_RADIANCE;
use super::{Description, Environment, Files, MaterialAlone, Shape};
use crate::input::{Error, Problem, Section, parse};
use glam::Vec3;
use material::{BLACK, Materials};
use texture::Textures;

pub(crate) use settings::overrides;
pub use settings::{DIRECT, MASKINGS, SAMPLERS};

/// Reads a scene from the text of a file. `file` is what messages call it, `files` are those that it may read.
/// Gives the description and what looks suspicious, or everything that is wrong.
pub(super) fn read(file: &str, text: &str, files: &Files) -> Result<(Description, Vec<Problem>), Error> {
    parse(file, text, "the scene", keys::meant, |top| document_to_description(top, files))
}

/// Reads one material from the text of a TOML document that has it under the key [`MATERIAL_KEY`].
pub(super) fn read_material(file: &str, text: &str) -> Result<MaterialAlone, Error> {
    // Whoever writes a material alone may name any file.
    let files = Files::new(".", true);
    let read = |top: &Section<'_>| {
        top.reject_unknown_keys(&[MATERIAL_KEY]);
        let section = top.get(MATERIAL_KEY)?.table("the material")?;
        let mut textures = Textures::new(&files);
        let material = material::material(MATERIAL_KEY, &section, &mut textures)?;
        Some(MaterialAlone { material, images: textures.images, textures: textures.textures })
    };
    parse(file, text, "the text", keys::meant, read).map(|(material, _)| material)
}

/// What a material on its own is called.
pub(super) const MATERIAL_KEY: &str = "material";

fn document_to_description(top: &Section<'_>, files: &Files) -> Option<Description> {
    let src = top.src;
    top.reject_unknown_keys(keys::TOP);
    let render = settings::render(src, top.get("render").and_then(|f| f.table("[render]")));
    let camera_field = top.get("camera");
    if camera_field.is_none() {
        src.error(0..0, "the scene has no [camera]; it needs one with \"position\", \"target\" and \"fov\"");
    }
    let camera = camera_field.and_then(|f| f.table("[camera]")).and_then(|s| settings::camera(&s));
    let environment = top.get("environment").and_then(|f| f.table("[environment]"));
    let radiance = match &environment {
        Some(section) => environment_radiance(section),
        None => Some(Vec3::ZERO),
    };
    let mut textures = Textures::new(files);
    let mut materials = material::materials(top, &mut textures);
    let shapes = shape::shapes(top, &mut materials, files);

    if src.errors.borrow().is_empty() && radiance == Some(Vec3::ZERO) && !shapes.iter().any(Shape::emits) {
        let place = environment.map_or(0..0, |e| e.span);
        src.error(
            place,
            "the scene has no light, so the image would be black: \
             give a shape an \"emission\", or [environment] a \"radiance\" above 0",
        );
    }
    Some(Description {
        render: render?,
        camera: camera?,
        environment: radiance.map(|r| (r != Vec3::ZERO).then_some(Environment::Constant(r)))?,
        lights: Vec::new(),
        images: textures.images,
        textures: textures.textures,
        materials: materials.done(),
        shapes,
        groups: Vec::new(),
        instances: Vec::new(),
    })
}

fn environment_radiance(section: &Section<'_>) -> Option<Vec3> {
    section.reject_unknown_keys(keys::ENVIRONMENT);
    section.require("radiance", "radiance = 0.2")?.color(MAX_RADIANCE)
}
