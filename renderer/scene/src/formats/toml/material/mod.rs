//! `[materials]`.

mod reader;

use std::collections::HashSet;
use std::rc::Rc;

use glam::Vec3;
use torrance_text::quoted;

use super::names::Names;
use super::texture::Textures;
use crate::description::{Material, MaterialKind, Texture, texture};
use crate::input::{Field, Section};

use reader::Reader;
pub(crate) use reader::visit_map;

/// The materials read so far, by name.
pub(super) struct Materials {
    /// `None` where a definition was wrong, so that shapes that name it are not blamed.
    list: Vec<(String, Option<Material>)>,
    /// The names of those that have one, which come first.
    pub(super) names: Rc<Names>,
    /// All names.
    taken: HashSet<String>,
}

/// Name of the material of shapes that have none; no TOML scene can define it, since it is reserved.
pub const BLACK: &str = "(none)";

impl Materials {
    pub(super) fn get(&self, index: usize) -> Option<&Material> {
        self.list[index].1.as_ref()
    }

    /// Whether textures of some kind are looked up where the material is, or others that it is made of.
    pub(super) fn has(&self, material: &Material, textures: &[Texture], is: fn(&Texture) -> bool) -> bool {
        self.has_within(material, textures, is, device::material::MAX_BLENDS)
    }

    /// As [`Materials::has`], `levels` deep: a material that is made of itself has been reported.
    fn has_within(&self, m: &Material, textures: &[Texture], is: fn(&Texture) -> bool, levels: u32) -> bool {
        let mut others = m.references().filter_map(|i| self.get(i));
        m.textures().into_iter().any(|i| texture::has(i, textures, is))
            || (levels > 0 && others.any(|m| self.has_within(m, textures, is, levels - 1)))
    }

    /// Index of a material that reflects nothing, for light sources without a material.
    pub(super) fn black(&mut self) -> usize {
        self.list.iter().position(|(name, _)| name == BLACK).unwrap_or_else(|| {
            let black = Material::new(BLACK, MaterialKind::diffuse(Vec3::ZERO));
            self.list.push((BLACK.to_owned(), Some(black)));
            self.list.len() - 1
        })
    }

    /// Adds one that a shape, called `owner`, has for itself, and gives its index.
    pub(super) fn inline(
        &mut self,
        field: &Field<'_>,
        owner: &str,
        textures: &mut Textures<'_>,
    ) -> Option<usize> {
        let mut name = format!("{owner}.material");
        while !self.taken.insert(name.clone()) {
            name.push('\'');
        }
        let section = field.table(format!("the material of {owner}"))?;
        let material = Reader { section, names: &self.names, textures }.material(&name);
        self.list.push((name, material));
        let index = self.list.len() - 1;
        check_references(&self.list, index, field);
        check_holes(&self.list, index, field);
        Some(index)
    }

    /// The materials; complete if no error was reported.
    pub(super) fn done(self) -> Vec<Material> {
        self.list.into_iter().filter_map(|(_, m)| m).collect()
    }
}

pub(super) fn materials(top: &Section<'_>, textures: &mut Textures<'_>) -> Materials {
    let Some(section) = top.get("materials").and_then(|f| f.table("[materials]")) else {
        return Materials { list: Vec::new(), names: Rc::default(), taken: HashSet::new() };
    };
    let entries = section.entries();
    let names = Rc::new(Names::new(entries.iter().map(|(name, _)| *name)));
    let mut list = Vec::new();
    for (name, field) in &entries {
        let section = field.table(format!("material {}", field.name));
        let material = section.and_then(|section| Reader { section, names: &names, textures }.material(name));
        if *name == BLACK {
            field.src.error(field.key_span.clone(), format!("the name {BLACK:?} is reserved"));
        }
        list.push(((*name).to_owned(), material));
    }
    for (i, (_, field)) in entries.iter().enumerate() {
        check_references(&list, i, field);
        check_holes(&list, i, field);
    }
    let taken = names.iter().map(str::to_owned).collect();
    Materials { list, names, taken }
}

/// Reads a material on its own.
pub(super) fn material(name: &str, section: &Section<'_>, textures: &mut Textures<'_>) -> Option<Material> {
    Reader { section: section.clone(), names: &Names::default(), textures }.material(name)
}

/// Reports a material that refers to itself, by way of others or too many of them.
fn check_references(list: &[(String, Option<Material>)], start: usize, field: &Field<'_>) {
    let mut level = vec![start];
    for depth in 0.. {
        level = level.iter().filter_map(|i| list[*i].1.as_ref()).flat_map(Material::references).collect();
        level.sort_unstable();
        level.dedup();
        if level.is_empty() {
            return;
        }
        let name = &field.name;
        if level.contains(&start) {
            return field.src.error(field.key_span.clone(), format!("material {name} is made of itself"));
        }
        if depth >= list.len() {
            return; // Others are made of themselves, and are reported.
        }
        if depth + 1 >= device::material::MAX_BLENDS as usize {
            let most = device::material::MAX_BLENDS - 1;
            let message = format!("material {name} nests others more than {most} levels deep");
            return field.src.error(field.key_span.clone(), message);
        }
    }
}

/// Reports materials within another that have holes, or are holes from behind: those of the material that a shape has are the ones
/// there are.
fn check_holes(list: &[(String, Option<Material>)], index: usize, field: &Field<'_>) {
    let Some(material) = &list[index].1 else { return };
    for part in material.references().filter_map(|i| list[i].1.as_ref()) {
        let holes = [(!part.opacity.is(1.0), "an \"opacity\""), (part.cull_backfaces, "\"cull_backfaces\"")];
        for (_, what) in holes.iter().filter(|(has, _)| *has) {
            let (part, name) = (quoted(&part.name), &field.name);
            let message = format!(
                "material {part} has {what}, which counts for nothing within material {name}; give that one instead"
            );
            field.src.error(field.key_span.clone(), message);
        }
    }
}
