//! Scenes of Mitsuba 3, as XML.
//!
//! [`tree`] turns files into objects with properties, [`view`] is how those are asked, and the other modules make parts
//! of a [`Description`] of them. Names, defaults and conventions are those of Mitsuba 3.9.1 in a variant of three channels:
//! its images are what scenes for it are meant to look like, down to its masking–shadowing
//! ([`crate::description::Masking::Separable`]) and to what it does where interpolated normals face away
//! ([`crate::description::HiddenNormals::Keep`]).
//!
//! Whatever is not read is named: in an error where the image would be another without it, in a warning where not.

mod bsdf;
mod cie;
mod clip;
mod cycles;
mod direct;
mod emitter;
mod extent;
mod ior;
mod mesh;
mod parameters;
mod plastic;
mod plugins;
mod serialized;
mod settings;
mod shape;
mod source;
mod spectrum;
mod texture;
mod transform;
mod tree;
mod unread;
mod view;

use bsdf::Materials;
use mesh::Meshes;
use settings::Settings;
use shape::Shapes;
use source::Sources;
use texture::Textures;
use tree::Class;
use view::{Queries, View};

use crate::description::Description;
use crate::files::Files;
use crate::formats::model::model_scene;
use crate::input::{Error, Problem};

/// Reads a scene from the text of a file. `file` is what messages call it, `files` are those that it may read, and
/// `defines` sets its parameters by name. Gives the description and what looks suspicious, or everything that is wrong.
pub(crate) fn read(
    file: &str,
    text: &str,
    files: &Files,
    defines: &[(String, String)],
) -> Result<(Description, Vec<Problem>), Error> {
    let mut sources = Sources::default();
    let tree = tree::read(&mut sources, file, text, files, defines);
    let made = tree.and_then(|tree| {
        cycles::check(&tree, &sources)?;
        let asked = Queries::default();
        description(&View::new(&tree, &sources, &asked, 0)?, files)
    });
    sources.finish(made)
}

fn description(scene: &View<'_>, files: &Files) -> Option<Description> {
    let settings = settings::read(scene);
    let mut description = model_scene();
    let mut textures = Textures::new(files);
    for given in scene.children(Class::Emitter) {
        emitter::add(&mut description, &given, &mut textures);
    }
    let mut shapes = Shapes::new(description, Materials::new(&mut textures), Meshes::new(files));
    for given in scene.children(Class::Shape) {
        shapes.add(&given);
    }
    let Shapes { mut description, materials, .. } = shapes;
    description.materials = materials.list;
    (description.images, description.textures) = (textures.images, textures.textures);
    // What is defined here is for others to refer to.
    scene.finish(
        Some(()),
        &[
            Class::Integrator,
            Class::Sensor,
            Class::Shape,
            Class::Emitter,
            Class::Bsdf,
            Class::Texture,
            Class::Film,
            Class::Sampler,
        ],
    );
    unread::warn(scene);
    let Settings { render, camera, clip, samples } = settings?;
    (description.render, description.camera) = (render, camera);
    samples.apply(&mut description);
    if scene.sources.is_fine() && description.shapes.is_empty() && description.instances.is_empty() {
        return scene.error("the scene has no shapes");
    }
    clip.apply(&mut description);
    Some(description)
}
