//! Variants of materials: `KHR_materials_variants`.

use super::accessor::Accessors;
use super::choice::Named;
use super::json::{Document, Node};

const VARIANTS: &str = "KHR_materials_variants";

/// The index of the variant that is wanted, if one is; else a note says which there are.
pub(super) fn choose(document: Document<'_>, wanted: Option<&str>) -> Option<Option<usize>> {
    let variants = match document.node().extension(VARIANTS) {
        Some(extension) => extension.object(&["variants"])?.list("variants")?,
        None => Vec::new(),
    };
    let named = Named::new("variant", &variants);
    match wanted {
        Some(wanted) => named.find(wanted, document.log).map(Some),
        None => {
            if !variants.is_empty() {
                let count = named.count();
                document.log.note(format!("has {count}: none is shown, unless --variant says otherwise"));
            }
            Some(None)
        }
    }
}

/// The index of the material of a primitive: the variant's, or that of the primitive if the variant has none for it.
pub(super) fn material<'a>(
    accessors: &Accessors<'_, 'a>,
    primitive: &Node<'a>,
    variant: Option<usize>,
) -> Option<Option<usize>> {
    if let (Some(variant), Some(extension)) = (variant, primitive.extension(VARIANTS)) {
        let mappings = extension.object(&["mappings"])?.require("mappings")?;
        // Many nodes may pose the same mesh.
        accessors.spend(&mappings, mappings.len())?;
        for mapping in mappings.elements()? {
            let mapping = mapping.object(&["variants", "material"])?;
            let variants = mapping.require("variants")?;
            accessors.spend(&variants, variants.len())?;
            for index in variants.elements()? {
                if index.whole()? == variant as u64 {
                    return mapping.require("material")?.index("materials").map(Some);
                }
            }
        }
    }
    primitive.optional("material", |node| node.index("materials"))
}
