//! TOML scene files.

mod camera;
mod group;
pub(crate) mod keys;
mod light;
mod material;
mod mesh;
mod names;
mod settings;
mod shape;
pub(crate) mod text;
mod texture;
mod transform;
mod unused;
mod values;

use crate::description::{Description, Environment, StandaloneMaterial};
use crate::files::Files;
use crate::input::{self, Error, Problem, Section, parse};
use group::Instancing;
use material::Materials;
use mesh::Meshes;
use shape::Resources;
use texture::Textures;

pub(crate) use camera::{visit_clip, visit_frame, visit_lens, visit_projection};
pub(crate) use keys::{Key, Type, lookup, otherwise};
pub(crate) use light::visit_sky;
pub use material::BLACK;
pub(crate) use material::visit_map;
pub use settings::overrides;
pub(crate) use settings::{visit_filter, visit_sampling, visit_visibility};
pub(crate) use shape::visit_dimensions;
pub use values::{ByName, Named};
pub(crate) use values::{KeyValue, Visitor};

/// Reads a scene from the text of a file. `file` is what messages call it, `files` are those that it may read.
/// Gives the description and what looks suspicious, or everything that is wrong.
pub(crate) fn read(file: &str, text: &str, files: &Files) -> Result<(Description, Vec<Problem>), Error> {
    parse(file, text, "the scene", keys::suggestion, |top| document_to_description(top, files))
}

/// As [`read`], of a document that is no text. `None` if there is anything to say of it.
pub(crate) fn read_plain(file: &str, document: &toml::Table, files: &Files) -> Option<Description> {
    let read = |top: &Section<'_>| document_to_description(top, files);
    input::read_plain(file, document, keys::suggestion, read)
}

/// Reads one material from the text of a TOML document that has it under the key [`MATERIAL_KEY`].
pub(crate) fn read_material(file: &str, text: &str) -> Result<StandaloneMaterial, Error> {
    // Whoever writes a material alone may name any file.
    let files = Files::new(".", true);
    let read = |top: &Section<'_>| {
        top.reject_unknown_keys(&[MATERIAL_KEY]);
        let section = top.get(MATERIAL_KEY)?.table("the material")?;
        let mut textures = Textures::new(&files);
        let material = material::material(MATERIAL_KEY, &section, &mut textures)?;
        Some(StandaloneMaterial { material, images: textures.images, textures: textures.textures })
    };
    parse(file, text, "the text", keys::suggestion, read).map(|(material, _)| material)
}

/// The key of a material on its own.
pub(crate) const MATERIAL_KEY: &str = "material";

fn document_to_description(top: &Section<'_>, files: &Files) -> Option<Description> {
    let src = top.src;
    top.reject_unknown_keys(&keys::TOP.known(None));
    let render = settings::render(top.get("render").and_then(|f| f.table("[render]")));
    let camera_field = top.get("camera");
    if camera_field.is_none() {
        src.error(0..0, "the scene has no [camera]; it needs one with \"position\", \"target\" and \"fov\"");
    }
    let camera = camera_field.and_then(|f| f.table("[camera]")).and_then(|s| camera::camera(&s));
    let mut textures = Textures::new(files);
    textures.read_named(top);
    let materials = material::materials(top, &mut textures);
    let mut resources = Resources { materials, textures, meshes: Meshes::new(files) };
    let mut shapes = shape::shapes(top, &mut resources);
    let instanced = group::instanced(top, &mut resources, files);
    let (lights, portals) = (light::lights(top, &mut resources.textures), light::portals(top));
    let environment = top.get("environment").map(|f| f.table("[environment]"));
    let found = match &environment {
        Some(section) => section.as_ref().and_then(|s| light::environment(s, &mut resources.textures)),
        None => Some(None),
    };

    let Instancing { groups, instances, lights: copies } = instanced.unwrap_or_default();
    shapes.extend(copies);
    let description = Description {
        render: render?,
        camera: camera?,
        environment: found?,
        portals,
        lights,
        texture_names: resources.textures.names(),
        images: resources.textures.images,
        textures: resources.textures.textures,
        materials: resources.materials.done(),
        shapes,
        groups,
        instances,
    };
    if src.errors.borrow().is_empty() {
        unused::warn(top, &description);
        let has_openings = !matches!(description.environment, None | Some(Environment::Constant(_)));
        if let Some(field) = top.get("portals").filter(|_| !has_openings) {
            field.warn(
                "\"portals\" have no effect: they are for an [environment] of type \"image\", \"sun_sky\" or \"studio\"",
            );
        }
    }
    Some(description)
}
