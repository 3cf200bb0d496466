//! glTF 2.0, `.gltf` and `.glb`.
//!
//! Lengths are metres and +y is up, there as here. Surfaces are seen from both sides, whatever `doubleSided` says: it is
//! for those who draw only what faces the viewer. It decides whether the back emits. Occlusion, which a path tracer finds
//! itself, and clipping planes count for nothing. What moves is at rest: animations are not played, and skins and morph
//! targets are as the nodes and weights of the file have them.
//!
//! The JSON is read by [`json`] key by key, so that every message names the place, and every index and extent is checked
//! before it is used. Crates that know the format leave most extensions of materials to their users.

mod accessor;
mod buffers;
mod container;
mod draco;
mod extensions;
mod json;
mod layers;
mod material;
mod mesh;
mod meshopt;
mod nodes;
mod scene;
mod tangents;
mod textures;
mod view;

use self::accessor::Accessors;
use self::buffers::Buffers;
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

/// Reads the contents of a `.gltf` or `.glb` file, `file` in messages, and what it refers to, seen by the camera of a name or
/// number, or by the first.
///
/// # Errors
/// All problems of the file, as far as it can be read.
pub(crate) fn read(
    file: &str,
    bytes: &[u8],
    files: &Files,
    camera: Option<&str>,
) -> Result<(Description, Vec<Problem>), Error> {
    let (root, binary) = container::open(file, bytes)?;
    let log = Log { file: file.to_owned(), ..Log::default() };
    let document = Document { root: &root, log: &log };
    let description = describe(document, binary, files, camera);
    let errors = log.errors.take();
    match description {
        Some(description) if errors.is_empty() => Ok((description, log.take_warnings())),
        _ => Err(Error { problems: errors }),
    }
}

fn describe(
    document: Document<'_>,
    binary: Option<&[u8]>,
    files: &Files,
    camera: Option<&str>,
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
    if document.count("animations") > 0 {
        document.log.warn("has animations, which are not supported: it is at rest");
    }
    let buffers = Buffers::new(document, binary, files);
    let accessors = Accessors::new(&buffers);
    let meshes = Meshes::new(&accessors, Materials::new(Textures::new(&buffers)));
    scene::Builder::new(meshes).build(&nodes::placed(&accessors)?, camera)
}
