//! Writing scenes as TOML.

mod assets;
mod canonical;
mod document;
mod materials;
#[cfg(test)]
mod tests;
mod text;

use std::path::Path;

use toml::Table;

use super::Description;
use super::kept::Kept;
pub use assets::Asset;
pub(super) use assets::{Contents, own_meaning};
pub use canonical::canonical;
pub(super) use document::{rgb, vector};
pub(super) use materials::roughness;
pub(super) use text::{document as text_of, inline, number};

/// A scene as text, and the files that belong to it.
#[derive(Debug, Clone)]
pub struct Written {
    /// What the scene file says.
    pub document: Table,
    /// Files that it names, and what is in them.
    pub assets: Vec<Asset>,
}

impl Written {
    /// The text of the scene file.
    pub fn text(&self) -> String {
        text_of(&self.document)
    }
}

/// What to write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// What is not the default.
    Short,
    /// Everything.
    Full,
}

/// The scene file that says `description`, to be written to `file`. Reading it gives [`canonical`] of the description.
///
/// Meshes and images that are files in its folder or below are named; others are put into a folder beside it.
pub fn write(description: &Description, file: &Path, extent: Extent) -> Written {
    write_kept(description, file, extent, None)
}

/// As [`write`], where some of the files that the description was made of may be known.
pub(super) fn write_kept(
    description: &Description,
    file: &Path,
    extent: Extent,
    kept: Option<&Kept>,
) -> Written {
    let description = canonical(description);
    let mut assets = assets::Assets::new(file, kept);
    let document = document::document(&description, &mut assets, extent);
    Written { document, assets: assets.files }
}
