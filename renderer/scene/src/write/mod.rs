//! Writing scenes as TOML.

mod assets;
mod canonical;
mod document;
mod entries;
mod materials;

use std::path::Path;

use toml::Table;

use crate::description::Description;
use crate::files::asset::Asset;
use crate::files::cache::FileCache;
use crate::formats::toml::text;
pub use canonical::canonical;

/// A scene as text, and the files that belong to it.
#[derive(Debug, Clone)]
pub struct SceneDocument {
    /// The document of the scene file.
    pub document: Table,
    /// Files that it names, with their contents.
    pub assets: Vec<Asset>,
}

impl SceneDocument {
    /// The text of the scene file.
    pub fn text(&self) -> String {
        text::document(&self.document)
    }
}

/// Completeness of a written scene.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// Only values that differ from their defaults.
    Short,
    /// All values.
    Full,
}

/// The scene file of `description`, to be written to `file`. Reading it gives the [`canonical`] description.
///
/// Meshes and images from files in its folder or below are referred to; others are written to a folder beside it.
pub fn write(description: &Description, file: &Path, extent: Extent) -> SceneDocument {
    write_kept(description, file, extent, None)
}

/// As [`write`], with some of the files from which the description was made.
pub(super) fn write_kept(
    description: &Description,
    file: &Path,
    extent: Extent,
    kept: Option<&FileCache>,
) -> SceneDocument {
    let description = canonical(description);
    let mut assets = assets::Assets::new(file, kept);
    let document = document::document(&description, &mut assets, extent);
    SceneDocument { document, assets: assets.files }
}
