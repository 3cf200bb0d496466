//! Writing scenes as TOML.

mod assets;
mod canonical;
mod document;
mod entries;
mod materials;
#[cfg(test)]
mod tests;

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
    /// Files that it names, and what is in them.
    pub assets: Vec<Asset>,
}

impl SceneDocument {
    /// The text of the scene file.
    pub fn text(&self) -> String {
        text::document(&self.document)
    }
}

/// How much to write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// Values that differ from their defaults.
    Short,
    /// Everything.
    Full,
}

/// The scene file that says `description`, to be written to `file`. Reading it gives [`canonical`] of the description.
///
/// Meshes and images that are files in its folder or below are named; others are put into a folder beside it.
pub fn write(description: &Description, file: &Path, extent: Extent) -> SceneDocument {
    write_kept(description, file, extent, None)
}

/// As [`write`], where some of the files that the description was made of may be known.
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
