//! Warnings of named things that nothing uses.

use std::collections::HashSet;

use crate::description::Description;
use crate::input::{Field, Section};

/// Warns of textures and materials that nothing uses.
pub(super) fn warn(top: &Section<'_>, d: &Description) {
    let of_materials = d.materials.iter().flat_map(|material| material.textures());
    let of_shapes = d.all_shapes().map(|shape| shape.emission.texture);
    let of_lights = d.lights.iter().map(|light| light.kind.color().texture);
    let of_textures = d.textures.iter().flat_map(|texture| texture.references());
    let used: HashSet<_> =
        of_materials.chain(of_shapes).chain(of_lights).map(|i| i as usize).chain(of_textures).collect();
    let names = d.texture_names.iter().filter(|(index, _)| used.contains(index));
    warn_of_others(top, "textures", &names.map(|(_, name)| name.as_str()).collect());

    let of_shapes = d.all_shapes().map(|shape| shape.material);
    let used = of_shapes.chain(d.materials.iter().flat_map(|material| material.references()));
    warn_of_others(top, "materials", &used.map(|i| d.materials[i].name.as_str()).collect());
}

/// Warns of what the table of a key has beside `used`.
pub(super) fn warn_of_others(top: &Section<'_>, key: &str, used: &HashSet<&str>) {
    const MOST: usize = 3;
    let Some(section) = top.get(key).filter(Field::is_table).and_then(|f| f.table(key)) else { return };
    let others: Vec<_> = section.entries().into_iter().filter(|(name, _)| !used.contains(name)).collect();
    let Some((_, first)) = others.first() else { return };
    let names: Vec<_> = others.iter().take(MOST).map(|(_, field)| field.name.as_str()).collect();
    let more = match others.len() - names.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    first.warn(&format!("{key}: nothing uses {}{more}", names.join(", ")));
}
