//! BSDFs.
//!
//! Mitsuba nests what we keep side by side in a material: `mask`, `twosided`, `normalmap` and `bumpmap` become parts of
//! the material that they are around.
//!
//! One file for all plugins: most are a few lines, which share how tints, roughness and opacity are read.

use std::collections::HashMap;

use glam::Vec3;
use torrance_text::{hint, quoted};

use super::ior;
use super::plastic::{rough_internal, smooth_internal};
use super::texture::{Quantity, Textures};
use super::tree::{Class, Value};
use super::view::{PropertyView, View};
use crate::description::limits::{MAX_IOR, MIN_ALPHA};
use crate::description::{
    Blend, ConductorMaterial, DielectricMaterial, DiffuseMaterial, Distribution, Facets, InvalidNormals,
    Masking, Material, MaterialKind, NormalMap, NormalMapKind, PlasticMaterial, PrincipledMaterial, Scalar,
    Texture, ThinDielectricMaterial, Tints, texture,
};

/// BSDF plugins that are read.
pub(super) const KNOWN: [&str; 15] = [
    "diffuse",
    "roughconductor",
    "conductor",
    "roughdielectric",
    "dielectric",
    "thindielectric",
    "plastic",
    "roughplastic",
    "principled",
    "twosided",
    "mask",
    "blendbsdf",
    "bumpmap",
    "normalmap",
    "null",
];
/// Those that are not.
pub(super) const UNSUPPORTED: [&str; 9] = [
    "hair",
    "measured",
    "measured_polarized",
    "circular",
    "polarizer",
    "retarder",
    "pplastic",
    "principledthin",
    "sggx",
];
/// Most levels of BSDFs within one another.
const MAX_LEVELS: usize = device::material::MAX_BLENDS as usize;
/// Largest `specular` of a principled material, for which its index of refraction is 9.98: just within the limit of 10.
const MAX_SPECULAR: f64 = 8.36;

/// Adapters around a BSDF that become parts of its material.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
struct Adapters {
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

    /// The material of a shape whose BSDF is given.
    pub(super) fn material(&mut self, given: &PropertyView<'_>) -> Option<usize> {
        self.read(given, Adapters::default())
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

    fn add(&mut self, material: Material) -> usize {
        self.list.push(material);
        self.list.len() - 1
    }

    fn read(&mut self, given: &PropertyView<'_>, around: Adapters) -> Option<usize> {
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
        let plugin = view.object.plugin.as_str();
        if !KNOWN.contains(&plugin) {
            return view.unknown_plugin(&KNOWN, &UNSUPPORTED);
        }
        let nests = matches!(plugin, "twosided" | "mask" | "blendbsdf" | "bumpmap" | "normalmap");
        let found = match plugin {
            "twosided" => self.twosided(view, within),
            "mask" => self.mask(view, within),
            "blendbsdf" => self.blend(view, within),
            "bumpmap" | "normalmap" => self.mapped(view, within),
            _ => self.leaf(view, around),
        };
        let children: &[_] = match plugin {
            "bumpmap" => &[Class::Bsdf, Class::Texture],
            _ if nests => &[Class::Bsdf],
            _ => &[],
        };
        view.finish(found, children)
    }

    /// A material of one kind.
    fn leaf(&mut self, view: &View<'_>, around: Adapters) -> Option<usize> {
        let kind = match view.object.plugin.as_str() {
            "diffuse" => {
                let reflectance = self.textures.color(view, "reflectance", 0.5, Quantity::Fraction)?;
                MaterialKind::Diffuse(DiffuseMaterial::new(reflectance))
            }
            "conductor" => self.conductor(view, Some(Facets::SMOOTH))?,
            "roughconductor" => {
                let facets = self.facets(view);
                self.conductor(view, facets)?
            }
            "dielectric" => self.dielectric(view, Some(Facets::SMOOTH))?,
            "roughdielectric" => {
                let facets = self.facets(view);
                self.dielectric(view, facets)?
            }
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
            return view.error(format!("{} lets light pass, and cannot be in a twosided", view.describe()));
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

    /// Factors of what is reflected and transmitted.
    fn tints(&mut self, view: &View<'_>) -> Option<Tints> {
        let [reflection, transmission] = ["specular_reflectance", "specular_transmittance"]
            .map(|name| self.textures.color(view, name, 1.0, Quantity::Fraction));
        Some(Tints { reflection: reflection?, transmission: transmission? })
    }

    fn conductor(&mut self, view: &View<'_>, facets: Option<Facets>) -> Option<MaterialKind> {
        let index = self.conductor_index(view);
        let reflection = self.textures.color(view, "specular_reflectance", 1.0, Quantity::Fraction);
        let tints = Tints { reflection: reflection?, ..Tints::NONE };
        let (eta, k) = index?;
        Some(MaterialKind::Conductor(ConductorMaterial::new(eta, k, facets?).tinted(tints)))
    }

    /// Index of refraction and extinction: those of a `material`, or `eta` and `k`; a mirror if nothing is said.
    fn conductor_index(&mut self, view: &View<'_>) -> Option<(Vec3, Vec3)> {
        let name = match view.get("material") {
            Some(given) => Some((given, given.text()?)).filter(|(_, name)| *name != "none"),
            None => None,
        };
        let (eta, k) = (view.get("eta"), view.get("k"));
        let said = eta.or(k);
        match (name, said) {
            (Some((given, name)), None) => ior::conductor(name).or_else(|| {
                let names = ior::CONDUCTORS.iter().map(|(names, ..)| names[0]);
                given.error(format!("unknown conductor {}{}", quoted(name), hint(name, "it is", names)))
            }),
            (Some(_), Some(said)) => said.fail("is given by \"material\" already; keep one of them"),
            (None, _) => {
                let (eta, k) = (self.index_color(view, "eta", 0.0), self.index_color(view, "k", 1.0));
                let (eta, k) = (eta?, k?);
                if (eta.cmpeq(Vec3::ZERO) & k.cmpeq(Vec3::ZERO)).any() {
                    return view
                        .error("\"eta\" and \"k\" are both 0 in the same channel; no material is like that");
                }
                Some((eta, k))
            }
        }
    }

    /// Real or imaginary part of an index of refraction.
    fn index_color(&mut self, view: &View<'_>, name: &'static str, default: f32) -> Option<Vec3> {
        let color = self.textures.color(view, name, default, Quantity::Index)?;
        if color.texture != device::material::texture::NO_TEXTURE {
            return view.get(name)?.fail("has a texture; that is not supported here");
        }
        Some(color.value)
    }

    fn dielectric(&mut self, view: &View<'_>, facets: Option<Facets>) -> Option<MaterialKind> {
        let (ior, tints) = (relative_ior(view, "bk7", (0.1, 10.0)), self.tints(view));
        Some(MaterialKind::Dielectric(DielectricMaterial::new(ior?, facets?).tinted(tints?)))
    }

    fn plastic(&mut self, view: &View<'_>) -> Option<MaterialKind> {
        let is_rough = view.object.plugin == "roughplastic";
        let reflectance = self.textures.color(view, "diffuse_reflectance", 0.5, Quantity::Fraction);
        let specular = self.textures.color(view, "specular_reflectance", 1.0, Quantity::Fraction);
        let nonlinear = view.boolean("nonlinear", false);
        let ior = relative_ior(view, "polypropylene", (1.01, 10.0));
        let facets = match is_rough {
            true => self.facets(view)?,
            false => Facets::SMOOTH,
        };
        if facets.is_anisotropic() || facets.is_textured() {
            return view.error("the coat of a plastic is as rough everywhere and along u and v");
        }
        let ior = ior?;
        let internal = match is_rough {
            true => rough_internal(facets.alpha[0].value, facets.distribution(), ior),
            false => smooth_internal(ior),
        };
        Some(MaterialKind::Plastic(PlasticMaterial {
            reflectance: reflectance?,
            specular: specular?,
            facets,
            ior,
            nonlinear: nonlinear?.into(),
            coat: 0,
            internal_reflectance: internal,
        }))
    }

    fn principled(&mut self, view: &View<'_>) -> Option<MaterialKind> {
        view.ignore(&[
            "diffuse_reflectance_sampling_rate",
            "main_specular_sampling_rate",
            "clearcoat_sampling_rate",
        ]);
        let base_color = self.textures.color(view, "base_color", 0.5, Quantity::Fraction);
        let mut scalar = |name, default| self.textures.scalar(view, name, default, (0.0, 1.0));
        let roughness = scalar("roughness", 0.5);
        let spec_trans = scalar("spec_trans", 0.0)?;
        let eta = match (view.get("eta"), view.get("specular")) {
            (Some(_), Some(specular)) => specular.fail("is given by \"eta\" already; keep one of them"),
            (Some(eta), None) => eta.number_in(0.1, 10.0),
            (None, specular) => {
                let specular = specular.map_or(Some(0.5), |given| given.number_in(0.0, MAX_SPECULAR));
                // What refracts needs an interface.
                let least = if spec_trans.is(0.0) { 0.0 } else { 1e-3 };
                specular.map(|s| device::bsdf::principled::eta_from_specular(s.max(least)))
            }
        };
        Some(MaterialKind::Principled(PrincipledMaterial {
            base_color: base_color?,
            roughness: roughness?,
            anisotropic: scalar("anisotropic", 0.0)?,
            metallic: scalar("metallic", 0.0)?,
            spec_tint: scalar("spec_tint", 0.0)?,
            spec_trans,
            flatness: scalar("flatness", 0.0)?,
            sheen: scalar("sheen", 0.0)?,
            sheen_tint: scalar("sheen_tint", 0.0)?,
            clearcoat: scalar("clearcoat", 0.0)?,
            clearcoat_gloss: scalar("clearcoat_gloss", 0.0)?,
            eta: eta?,
            masking: Masking::Separable as u32,
            reserved: [0; 2],
        }))
    }

    /// Microfacets, from `alpha`, or `alpha_u` and `alpha_v`, and `distribution`.
    fn facets(&mut self, view: &View<'_>) -> Option<Facets> {
        const DISTRIBUTIONS: [(&str, Distribution); 2] =
            [("beckmann", Distribution::Beckmann), ("ggx", Distribution::Ggx)];
        let distribution = view.choice("distribution", Distribution::Beckmann, &DISTRIBUTIONS);
        // Which samples are drawn says nothing about their mean.
        view.ignore(&["sample_visible"]);
        let (u, v) = (view.get("alpha_u"), view.get("alpha_v"));
        let alpha = match (u, v) {
            (None, None) => [self.alpha(view, "alpha")?; 2],
            (Some(u), Some(_)) => {
                if view.get("alpha").is_some() {
                    return u.fail("is given by \"alpha\" already; keep one of them");
                }
                [self.alpha(view, "alpha_u")?, self.alpha(view, "alpha_v")?]
            }
            (Some(one), None) | (None, Some(one)) => {
                return one.fail("is given alone; \"alpha_u\" and \"alpha_v\" belong together");
            }
        };
        let masking = Masking::Separable as u32;
        Some(Facets { alpha, distribution: distribution? as u32, masking, ..Facets::SMOOTH })
    }

    /// A roughness parameter. Mitsuba, too, takes those below 10⁻⁴ for that.
    fn alpha(&mut self, view: &View<'_>, name: &'static str) -> Option<Scalar> {
        let alpha = self.textures.scalar(view, name, 0.1, (0.0, 1.0))?;
        let is_textured = alpha.texture != device::material::texture::NO_TEXTURE;
        Some(if is_textured { alpha } else { Scalar::new(alpha.value.max(MIN_ALPHA)) })
    }

    /// The materials of both sides.
    fn twosided(&mut self, view: &View<'_>, within: Adapters) -> Option<usize> {
        let sides = view.children(Class::Bsdf);
        let [first, ..] = sides.as_slice() else { return view.error("a twosided has no bsdf in it") };
        if let Some(third) = sides.get(2) {
            return third.error("a twosided has two bsdfs at most");
        }
        let within = Adapters { two_sided: true, map_is_within: false, ..within };
        let front = self.read(first, within);
        let back = match sides.get(1) {
            Some(second) => Some(self.read(second, within)?),
            None => None,
        };
        let front = front?;
        for index in [Some(front), back].into_iter().flatten() {
            if !self.list[index].opacity.is(1.0) {
                return view.error("a twosided has a mask or null in it, which light passes; put it around");
            }
        }
        match back {
            None => Some(front),
            // Others may have the same front and another back.
            Some(back) => Some(self.add(Material { back: Some(back), ..self.list[front].clone() })),
        }
    }

    /// A material with holes.
    fn mask(&mut self, view: &View<'_>, within: Adapters) -> Option<usize> {
        let opacity = self.textures.scalar(view, "opacity", 0.5, (0.0, 1.0));
        let index = self.read(&only(view)?, within)?;
        let opacity = opacity?;
        let inner = self.list[index].opacity;
        let opacity = match (inner.is(1.0), inner.texture == device::material::texture::NO_TEXTURE) {
            (true, _) => opacity,
            (false, true) => Scalar { value: opacity.value * inner.value, ..opacity },
            (false, false) => return view.error("a mask is within another, and both have textures"),
        };
        Some(self.add(Material { opacity, ..self.list[index].clone() }))
    }

    /// A mixture of two materials.
    fn blend(&mut self, view: &View<'_>, within: Adapters) -> Option<usize> {
        let weight = match view.require("weight") {
            Some(_) => self.textures.scalar(view, "weight", 0.5, (0.0, 1.0)),
            None => None,
        };
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
            (true, false)
                if opacity[1].is(0.0) && weight.texture == device::material::texture::NO_TEXTURE =>
            {
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
                [one] => {
                    // Whatever its name.
                    self.textures.map(one, true)
                }
                _ => view.error("a bumpmap has one texture in it"),
            },
            false => view.require("normalmap").and_then(|given| self.textures.map(&given, false)),
        };
        let scale = if is_bump { view.number_in("scale", 1.0, (-1e6, 1e6)) } else { Some(1.0) };
        let flips = view.boolean("flip_invalid_normals", true);
        let shadows = view.boolean("use_shadowing_function", true);
        if within.map.is_some() {
            return view.error(format!("{} is within another map; one is supported", view.describe()));
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
    match view.child(Class::Bsdf)? {
        Some(one) => Some(one),
        None => view.error(format!("{} has no bsdf in it", view.describe())),
    }
}

/// Index of refraction within over that outside, each a number or a name; air outside, if nothing is said.
fn relative_ior(view: &View<'_>, default: &str, (low, high): (f32, f32)) -> Option<f32> {
    let (int, ext) = (one_ior(view, "int_ior", default), one_ior(view, "ext_ior", "air"));
    let ior = int? / ext?;
    if (low..=high).contains(&ior) {
        return Some(ior);
    }
    view.error(format!("\"int_ior\" over \"ext_ior\" is {ior}; it must be between {low} and {high}"))
}

fn one_ior(view: &View<'_>, name: &'static str, default: &str) -> Option<f32> {
    let named =
        |name: &str| ior::DIELECTRICS.iter().find(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, x)| *x);
    let Some(given) = view.get(name) else { return named(default) };
    let Value::Text(text) = &given.property.value else { return given.number_in(1e-3, MAX_IOR.into()) };
    named(text).or_else(|| {
        let hint = hint(text, "it is", ior::DIELECTRICS.iter().map(|(name, _)| *name));
        given.error(format!("unknown dielectric {}{hint}", quoted(text)))
    })
}
