//! glTF 2.0, `.gltf` and `.glb`.
//!
//! Lengths are metres and +y is up, there as here. Surfaces are seen from both sides, whatever `doubleSided` says,
//! unless backs are to be culled. It decides whether the back emits. Occlusion, which a path tracer finds
//! itself, and clipping planes count for nothing. What moves is as one animation has it at one time, if one is
//! chosen ([`GltfChoice`]), and else as the nodes and weights of the file say.
//!
//! The JSON is read by [`json`] key by key, so that every message names the place, and every index and extent is checked
//! before it is used. Crates that know the format leave most extensions of materials to their users.

mod accessor;
mod animation;
mod buffers;
mod choice;
mod container;
mod draco;
mod extensions;
mod json;
mod layers;
mod material;
mod mesh;
mod meshopt;
mod morph;
mod nodes;
mod sampler;
mod scene;
mod skin;
mod tangents;
mod textures;
mod variants;
mod view;

use self::accessor::Accessors;
use self::buffers::Buffers;
pub use self::choice::GltfChoice;
use self::json::{Document, Log};
use self::material::Materials;
use self::mesh::Meshes;
use self::textures::Textures;
use crate::description::Description;
use crate::files::Files;
use crate::input::{Error, Problem};

const TOP: &[&str] = &[
    "accessors",
    "animations",
    "asset",
    "buffers",
    "bufferViews",
    "cameras",
    "extensionsRequired",
    "extensionsUsed",
    "images",
    "materials",
    "meshes",
    "nodes",
    "samplers",
    "scene",
    "scenes",
    "skins",
    "textures",
];

/// Reads the contents of a `.gltf` or `.glb` file, `file` in messages, and what it refers to; with warnings, and with notes for
/// the user.
///
/// # Errors
/// All problems of the file, as far as it can be read.
pub(crate) fn read(
    file: &str,
    bytes: &[u8],
    files: &Files,
    choice: &GltfChoice,
    point_radius: Option<f32>,
) -> Result<(Description, Vec<Problem>, Vec<String>), Error> {
    let (root, binary) = container::open(file, bytes)?;
    let log = Log { file: file.to_owned(), ..Log::default() };
    let document = Document { root: &root, log: &log };
    let description = describe(document, binary, files, choice, point_radius);
    let (errors, mistakes) = (log.errors.take(), log.mistakes.take().into_warnings());
    match description {
        Some(description) if errors.is_empty() => {
            let warnings = log.take_warnings().into_iter().chain(mistakes).collect();
            Ok((description, warnings, log.notes.take()))
        }
        // What was forgiven may be why nothing is left.
        _ => Err(Error { problems: mistakes.map(Problem::held_against).chain(errors).collect() }),
    }
}

fn describe(
    document: Document<'_>,
    binary: Option<&[u8]>,
    files: &Files,
    choice: &GltfChoice,
    point_radius: Option<f32>,
) -> Option<Description> {
    let node = document.node();
    if node.value.as_object().is_none() {
        document.log.error("is no glTF: it is JSON of something else than an object");
        return None;
    }
    let node = node.object(TOP)?;
    let asset = node.require("asset")?.object(&["copyright", "generator", "minVersion", "version"])?;
    for key in ["version", "minVersion"] {
        if let Some(version) = asset.get(key)
            && !version.string()?.starts_with("2.")
        {
            return version
                .fail(format!("is {}; only 2.0 is read", torrance_text::quoted(version.string()?)));
        }
    }
    asset.require("version")?;
    extensions::check(document)?;
    let buffers = Buffers::new(document, binary, files);
    let accessors = Accessors::new(&buffers);
    let mut motion = animation::choose(&accessors, choice)?;
    let nodes = nodes::placed(&accessors, choice.scene.as_deref(), &mut motion)?;
    let variant = variants::choose(document, choice.variant.as_deref())?;
    let meshes = Meshes::new(&accessors, Materials::new(Textures::new(&buffers)), variant, point_radius);
    scene::Builder::new(meshes).build(&nodes, choice.camera.as_deref())
}
