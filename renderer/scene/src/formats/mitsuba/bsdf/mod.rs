//! BSDFs.
//!
//! Mitsuba nests BSDFs where our materials have parameters: the adapters `mask`, `twosided`, `normalmap` and `bumpmap`
//! become parts of the material that they contain. The models themselves are read by [`scattering`].

mod scattering;

use std::collections::{BTreeSet, HashMap};

use device::material::texture::NO_TEXTURE;
use glam::Vec3;

use scattering::relative_ior;

use super::texture::{Quantity, Textures};
use super::tree::Class;
use super::view::{PropertyView, View};
use crate::description::{
    Blend, DiffuseMaterial, InvalidNormals, Material, MaterialKind, NormalMap, NormalMapKind, Scalar,
    Texture, ThinDielectricMaterial, texture,
};

/// Most levels of BSDFs within one another.
const MAX_LEVELS: usize = device::material::MAX_BLENDS as usize;

/// Adapters around a BSDF that become parts of its material.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Adapters {
    /// Whether its back scatters as its front does.
    two_sided: bool,
    map: Option<NormalMap>,
    /// Whether the map is within what makes it two-sided, so that it stands out on both sides.
    map_is_within: bool,
    /// How many levels are around it.
    level: usize,
}

/// The materials of a scene, each read once however many shapes refer to it.
pub(super) struct Materials<'t, 'f> {
    pub(super) textures: &'t mut Textures<'f>,
    /// By object; nothing for those with errors, which are reported once.
    known: HashMap<usize, Vec<(Adapters, Option<usize>)>>,
    /// Of shapes that have none, by reflectance: of lights, and of others.
    defaults: [Option<usize>; 2],
    pub(super) list: Vec<Material>,
}

impl<'t, 'f> Materials<'t, 'f> {
    pub(super) fn new(textures: &'t mut Textures<'f>) -> Self {
        Self { textures, known: HashMap::new(), defaults: [None; 2], list: Vec::new() }
    }

    /// The material of a shape without a BSDF: black if it emits, and grey otherwise.
    pub(super) fn default(&mut self, emits: bool) -> usize {
        if let Some(known) = self.defaults[usize::from(emits)] {
            return known;
        }
        let (name, reflectance) = if emits { ("light", 0.0) } else { ("default", 0.5) };
        let material = MaterialKind::diffuse(Vec3::splat(reflectance));
        let index = self.add(Material { two_sided: false, ..Material::new(name, material) });
        self.defaults[usize::from(emits)] = Some(index);
        index
    }

    /// Whether textures of some kind are looked up where a material is.
    pub(super) fn has(&self, index: usize, is: fn(&Texture) -> bool) -> bool {
        let material = &self.list[index];
        material.textures().into_iter().any(|texture| texture::has(texture, &self.textures.textures, is))
            || material.references().any(|i| self.has(i, is))
    }

    /// Adds the attributes of meshes that are looked up where a material is to `names`.
    pub(super) fn add_attributes(&self, index: usize, names: &mut BTreeSet<String>) {
        let material = &self.list[index];
        material.textures().into_iter().for_each(|texture| self.textures.add_attributes(texture, names));
        material.references().for_each(|i| self.add_attributes(i, names));
    }

    fn add(&mut self, material: Material) -> usize {
        self.list.push(material);
        self.list.len() - 1
    }

    /// The material that a BSDF with what is around it is.
    pub(super) fn read(&mut self, given: &PropertyView<'_>, around: Adapters) -> Option<usize> {
        let view = given.object()?;
        if view.object.class != Class::Bsdf {
            return given.error(format!("{} is no bsdf", view.describe()));
        }
        if around.level > MAX_LEVELS {
            return given.error(format!("bsdfs are nested more than {MAX_LEVELS} levels deep"));
        }
        let known = self.known.get(&view.index).and_then(|list| list.iter().find(|(a, _)| *a == around));
        if let Some((_, known)) = known {
            return *known;
        }
        let found = self.bsdf(&view, around);
        self.known.entry(view.index).or_default().push((around, found));
        found
    }

    fn bsdf(&mut self, view: &View<'_>, around: Adapters) -> Option<usize> {
        let within = Adapters { level: around.level + 1, ..around };
        let (found, children): (_, &[_]) = match view.plugin()? {
            "twosided" => (self.twosided(view, within), &[Class::Bsdf]),
            "mask" => (self.mask(view, within), &[Class::Bsdf]),
            "blendbsdf" => (self.blend(view, within), &[Class::Bsdf]),
            "normalmap" => (self.mapped(view, within), &[Class::Bsdf]),
            "bumpmap" => (self.mapped(view, within), &[Class::Bsdf, Class::Texture]),
            plugin => (self.leaf(view, plugin, around), &[]),
        };
        view.finish(found, children)
    }

    /// A material of one kind.
    fn leaf(&mut self, view: &View<'_>, plugin: &str, around: Adapters) -> Option<usize> {
        let kind = match plugin {
            "diffuse" => {
                let reflectance = self.textures.color(view, "reflectance", 0.5, Quantity::Fraction)?;
                MaterialKind::Diffuse(DiffuseMaterial::new(reflectance))
            }
            "conductor" | "roughconductor" => self.conductor(view)?,
            "dielectric" | "roughdielectric" => self.dielectric(view)?,
            "thindielectric" => {
                let (ior, tints) = (relative_ior(view, "bk7", (0.1, 10.0)), self.tints(view));
                MaterialKind::ThinDielectric(ThinDielectricMaterial::new(ior?).tinted(tints?))
            }
            "plastic" | "roughplastic" => self.plastic(view)?,
            "principled" => self.principled(view)?,
            _ => {
                // What is not there.
                let nothing = Material::new(view.name(), MaterialKind::diffuse(Vec3::ZERO));
                return Some(self.add(Material { opacity: Scalar::new(0.0), ..nothing }));
            }
        };
        let passes = matches!(kind, MaterialKind::Dielectric(_) | MaterialKind::ThinDielectric(_))
            || matches!(kind, MaterialKind::Principled(p) if !p.spec_trans.is(0.0));
        if around.two_sided && passes {
            return view.fail("lets light pass, and cannot be in a twosided");
        }
        let material = Material {
            two_sided: around.two_sided || passes,
            normal_map: around.map,
            ..Material::new(view.name(), kind)
        };
        let back = match around.map {
            Some(map) if around.two_sided && around.map_is_within => {
                // Seen from behind, green still points where it does in front.
                let kind = if map.kind == NormalMapKind::Across { NormalMapKind::Against } else { map.kind };
                let map = Some(NormalMap { kind, ..map });
                Some(self.add(Material { normal_map: map, ..material.clone() }))
            }
            _ => None,
        };
        Some(self.add(Material { back, ..material }))
    }

    /// The materials of both sides.
    fn twosided(&mut self, view: &View<'_>, within: Adapters) -> Option<usize> {
        let sides = view.children(Class::Bsdf);
        let (first, second) = match sides.as_slice() {
            [] => return view.error("a twosided has no bsdf in it"),
            [first] => (first, None),
            [first, second] => (first, Some(second)),
            [_, _, third, ..] => return third.error("a twosided has two bsdfs at most"),
        };
        let within = Adapters { two_sided: true, map_is_within: false, ..within };
        let front = self.read(first, within);
        let back = second.map_or(Some(None), |second| self.read(second, within).map(Some))?;
        let front = front?;
        for index in [Some(front), back].into_iter().flatten() {
            if !self.list[index].opacity.is(1.0) {
                return view.error("a twosided has a mask or null in it, which light passes; put it around");
            }
        }
        // Others may have the same front and another back.
        Some(back.map_or(front, |_| self.add(Material { back, ..self.list[front].clone() })))
    }

    /// A material with holes.
    fn mask(&mut self, view: &View<'_>, within: Adapters) -> Option<usize> {
        let opacity = self.textures.scalar(view, "opacity", 0.5);
        let index = self.read(&only(view)?, within)?;
        let opacity = opacity?;
        let inner = self.list[index].opacity;
        let opacity = match (inner.is(1.0), inner.texture == NO_TEXTURE) {
            (true, _) => opacity,
            (false, true) => Scalar { value: opacity.value * inner.value, ..opacity },
            (false, false) => return view.error("a mask is within another, and both have textures"),
        };
        Some(self.add(Material { opacity, ..self.list[index].clone() }))
    }

    /// A mixture of two materials.
    fn blend(&mut self, view: &View<'_>, within: Adapters) -> Option<usize> {
        let weight = view.require("weight").and_then(|_| self.textures.scalar(view, "weight", 0.5));
        let parts = view.children(Class::Bsdf);
        let [first, second] = parts.as_slice() else {
            return view.error(format!("a blendbsdf has two bsdfs in it; this has {}", parts.len()));
        };
        let (first, second) = (self.read(first, within), self.read(second, within));
        let (first, second, weight) = (first?, second?, weight?);
        let opacity = [first, second].map(|i| self.list[i].opacity);
        // A mixture with nothing is a mask.
        let holes = match (opacity[0].is(1.0), opacity[1].is(1.0)) {
            (true, true) => None,
            (false, true) if opacity[0].is(0.0) => Some((second, weight)),
            (true, false) if opacity[1].is(0.0) && weight.texture == NO_TEXTURE => {
                Some((first, Scalar::new(1.0 - weight.value)))
            }
            _ => return view.error("a blendbsdf has a mask in it; put the mask around, which is supported"),
        };
        if let Some((index, opacity)) = holes {
            return Some(self.add(Material { opacity, ..self.list[index].clone() }));
        }
        let blend = Blend { materials: [first as u32, second as u32], weight };
        Some(self.add(Material::new(view.name(), MaterialKind::Blend(blend))))
    }

    /// A material with a normal or bump map.
    fn mapped(&mut self, view: &View<'_>, within: Adapters) -> Option<usize> {
        let is_bump = view.object.plugin == "bumpmap";
        let map = match is_bump {
            true => match view.children(Class::Texture).as_slice() {
                // Whatever its name.
                [one] => self.textures.map(one, true),
                _ => view.error("a bumpmap has one texture in it"),
            },
            false => view.require("normalmap").and_then(|given| self.textures.map(&given, false)),
        };
        let scale = if is_bump { view.number_in("scale", 1.0, (-1e6, 1e6)) } else { Some(1.0) };
        let flips = view.boolean("flip_invalid_normals", true);
        let shadows = view.boolean("use_shadowing_function", true);
        if within.map.is_some() {
            return view.fail("is within another map; one is supported");
        }
        let map = NormalMap {
            texture: map?,
            kind: if is_bump { NormalMapKind::Bump } else { NormalMapKind::Across },
            scale: scale?,
            invalid: if flips? { InvalidNormals::Flip } else { InvalidNormals::Keep },
            hard_terminator: !shadows?,
        };
        self.read(&only(view)?, Adapters { map: Some(map), map_is_within: within.two_sided, ..within })
    }
}

/// The only BSDF in another.
fn only<'a>(view: &View<'a>) -> Option<PropertyView<'a>> {
    view.child(Class::Bsdf)?.or_else(|| view.fail("has no bsdf in it"))
}
