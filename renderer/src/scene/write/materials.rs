//! Materials as TOML.

use device::bsdf::principled;
use glam::Vec3;
use toml::{Table, Value};

use super::Extent;
use super::document::{Entries, Names, rgb};
use super::text::number;
use crate::scene::limits::MIN_ALPHA;
use crate::scene::metals::METALS;
use crate::scene::read::{GREEN, INVALID_NORMALS};
use crate::scene::{
    Color, ConductorMaterial, Distribution, Facets, GltfMaterial, InvalidNormals, Material, MaterialKind,
    NormalMap, NormalMapKind, PlasticMaterial, PrincipledMaterial, Scalar, Scattering, Tints,
};

pub(super) fn material(material: &Material, names: &Names, extent: Extent) -> Table {
    let mut w = Writer { t: Entries::new(extent), names };
    w.kind(&material.kind);
    let is_blend = matches!(material.kind, MaterialKind::Blend(_));
    let passes = match &material.kind {
        MaterialKind::Dielectric(_) | MaterialKind::ThinDielectric(_) => true,
        MaterialKind::Principled(p) => !p.spec_trans.is(0.0),
        MaterialKind::Gltf(p) => !p.transmission.is(0.0),
        _ => is_blend || material.back.is_some(),
    };
    if !passes {
        w.t.flag("two_sided", material.two_sided, true);
    }
    if let Some(back) = material.back {
        w.t.put("back", names.materials[back].as_str());
    }
    w.scalar("opacity", &material.opacity, 1.0);
    w.t.flag("holes_emit", material.holes_emit, false);
    if let Some(map) = &material.normal_map {
        w.normal_map(map, extent);
    }
    w.t.table
}

struct Writer<'a> {
    t: Entries,
    names: &'a Names,
}

impl Writer<'_> {
    fn scalar(&mut self, key: &str, value: &Scalar, default: f32) {
        self.t.put_unless(value.is(default), key, self.names.scalar(value));
    }

    fn color(&mut self, key: &str, value: &Color, default: Vec3) {
        self.t.put_unless(*value == Color::new(default), key, self.names.color(value));
    }

    fn kind(&mut self, kind: &MaterialKind) {
        let names = self.names;
        let t = &mut self.t;
        match kind {
            MaterialKind::Diffuse(p) => {
                t.put("type", "diffuse");
                t.put("reflectance", names.color(&p.reflectance));
                self.scalar("roughness", &p.roughness, 0.0);
            }
            MaterialKind::Conductor(p) => self.conductor(p),
            MaterialKind::Dielectric(p) => {
                t.put("type", "dielectric");
                t.number("ior", p.ior, 1.5);
                self.facets(&p.facets, false);
                self.scattering(&p.facets);
                self.tints(&p.tints);
            }
            MaterialKind::ThinDielectric(p) => {
                t.put("type", "thin_dielectric");
                t.number("ior", p.ior, 1.5);
                self.tints(&p.tints);
            }
            MaterialKind::Plastic(p) => self.plastic(p),
            MaterialKind::Sheen(p) => {
                t.put("type", "sheen");
                self.color("color", &p.color, Vec3::ONE);
                self.scalar("roughness", &p.roughness, 0.3);
            }
            MaterialKind::Principled(p) => self.principled(p),
            MaterialKind::Gltf(p) => self.gltf(p),
            MaterialKind::Blend(p) => {
                t.put("type", "blend");
                let parts = p.materials.map(|i| Value::from(names.materials[i as usize].as_str()));
                t.put("materials", parts.to_vec());
                t.put("weight", names.scalar(&p.weight));
            }
        }
    }

    fn conductor(&mut self, p: &ConductorMaterial) {
        let (eta, k) = p.index();
        self.t.put("type", "conductor");
        match METALS.iter().find(|metal| (metal.eta, metal.k) == (eta, k)) {
            Some(metal) => self.t.put("metal", metal.names[0]),
            None => {
                self.t.put("eta", rgb(eta));
                self.t.put("k", rgb(k));
            }
        }
        self.facets(&p.facets, true);
        self.scattering(&p.facets);
        self.color("reflection_tint", &p.tints.reflection, Vec3::ONE);
    }

    fn tints(&mut self, tints: &Tints) {
        self.color("reflection_tint", &tints.reflection, Vec3::ONE);
        self.color("transmission_tint", &tints.transmission, Vec3::ONE);
    }

    /// `roughness` or `alpha`, whichever is shorter and exact, and `distribution`.
    fn facets(&mut self, facets: &Facets, required: bool) {
        let is_smooth = facets.is_smooth();
        let write = |values: [Value; 2]| {
            let [u, v] = values;
            if u == v { u } else { vec![u, v].into() }
        };
        if facets.is_textured() {
            let key = if facets.is_roughness != 0 { "roughness" } else { "alpha" };
            self.t.put(key, write(facets.alpha.map(|a| self.names.scalar(&a))));
        } else if !is_smooth || required {
            let alpha = facets.alpha.map(|a| a.value);
            let (key, values) = match alpha.map(roughness) {
                [Some(u), Some(v)] if length(&[u, v]) < length(&alpha) => ("roughness", [u, v]),
                _ => ("alpha", alpha),
            };
            self.t.put(key, write(values.map(number)));
        } else {
            self.t.number("roughness", 0.0, 0.0);
        }
        let words = [("ggx", Distribution::Ggx), ("beckmann", Distribution::Beckmann)];
        self.t.word("distribution", &facets.distribution(), &Distribution::Ggx, &words);
    }

    fn scattering(&mut self, facets: &Facets) {
        let words = [
            ("none", Scattering::None),
            ("compensated", Scattering::Compensated),
            ("random_walk", Scattering::RandomWalk),
        ];
        self.t.word("scattering", &facets.scattering(), &Scattering::None, &words);
    }

    fn plastic(&mut self, p: &PlasticMaterial) {
        self.t.put("type", "plastic");
        self.t.put("reflectance", self.names.color(&p.reflectance));
        self.color("specular", &p.specular, Vec3::ONE);
        self.t.number("ior", p.ior, 1.5);
        self.facets(&p.facets, false);
        self.t.flag("nonlinear", p.nonlinear != 0, false);
        if p.internal_reflectance >= 0.0 {
            self.t.put("internal_reflectance", number(p.internal_reflectance));
        }
    }

    fn principled(&mut self, p: &PrincipledMaterial) {
        let default = principled::Parameters::DEFAULT;
        self.t.put("type", "principled");
        self.color("base_color", &p.base_color, default.base_color);
        self.scalar("roughness", &p.roughness, default.roughness);
        self.scalar("anisotropic", &p.anisotropic, default.anisotropic);
        self.scalar("metallic", &p.metallic, default.metallic);
        self.t.number("ior", p.eta, default.eta);
        self.scalar("spec_tint", &p.spec_tint, default.spec_tint);
        self.scalar("spec_trans", &p.spec_trans, default.spec_trans);
        self.scalar("flatness", &p.flatness, default.flatness);
        self.scalar("sheen", &p.sheen, default.sheen);
        self.scalar("sheen_tint", &p.sheen_tint, default.sheen_tint);
        self.scalar("clearcoat", &p.clearcoat, default.clearcoat);
        self.scalar("clearcoat_gloss", &p.clearcoat_gloss, default.clearcoat_gloss);
    }

    fn gltf(&mut self, p: &GltfMaterial) {
        let default = GltfMaterial::DEFAULT;
        self.t.put("type", "gltf");
        self.color("base_color", &p.base_color, default.base_color.value);
        self.scalar("metallic", &p.metallic, default.metallic.value);
        self.scalar("roughness", &p.roughness, default.roughness.value);
        self.t.number("ior", p.ior, default.ior);
        self.scalar("specular", &p.specular, default.specular.value);
        self.color("specular_color", &p.specular_color, default.specular_color.value);
        self.scalar("transmission", &p.transmission, default.transmission.value);
        self.scalar("anisotropy", &p.anisotropy, default.anisotropy.value);
        self.t.put_unless(p.rotation == default.rotation, "anisotropy_rotation", rotation(p.rotation));
        self.scalar("clearcoat", &p.clearcoat, default.clearcoat.value);
        self.scalar("clearcoat_roughness", &p.clearcoat_roughness, default.clearcoat_roughness.value);
        self.color("sheen_color", &p.sheen_color, default.sheen_color.value);
        self.scalar("sheen_roughness", &p.sheen_roughness, default.sheen_roughness.value);
        self.scalar("iridescence", &p.iridescence, default.iridescence.value);
        self.t.number("iridescence_ior", p.iridescence_ior, default.iridescence_ior);
        self.scalar("iridescence_thickness", &p.iridescence_thickness, default.iridescence_thickness.value);
    }

    fn normal_map(&mut self, map: &NormalMap, extent: Extent) {
        let mut t = Entries::new(extent);
        t.put("texture", self.names.textures[map.texture].as_str());
        let is_bump = map.kind == NormalMapKind::Bump;
        if !is_bump {
            t.word("green", &map.kind, &NormalMapKind::Up, GREEN);
        }
        t.number("strength", map.scale, 1.0);
        t.word("invalid_normals", &map.invalid, &InvalidNormals::Bend, INVALID_NORMALS);
        t.word("terminator", &map.hard_terminator, &false, &[("soft", false), ("hard", true)]);
        self.t.put(if is_bump { "bump_map" } else { "normal_map" }, t.table);
    }
}

/// The roughness that the reader makes exactly this alpha of, if one of few digits does.
pub(in crate::scene) fn roughness(alpha: f32) -> Option<f32> {
    let exact = f64::from(alpha).sqrt();
    let rounded = (1..=6).map(|digits| {
        let ten = 10f64.powi(digits);
        ((exact * ten).round() / ten) as f32
    });
    let read = |r: f32| if r == 0.0 { 0.0 } else { (r * r).clamp(MIN_ALPHA, 1.0) };
    let is_allowed = |r: f32| r == 0.0 || (MIN_ALPHA.sqrt()..=1.0).contains(&r);
    rounded.into_iter().find(|r| is_allowed(*r) && read(*r).to_bits() == alpha.to_bits())
}

/// How many characters numbers take.
fn length(numbers: &[f32]) -> usize {
    numbers.iter().map(|x| x.to_string().len()).sum()
}

/// Degrees, if they give exactly this cosine and sine, or these themselves.
fn rotation([cos, sin]: [f32; 2]) -> Value {
    let near = f64::from(sin).atan2(cos.into()).to_degrees() as f32;
    let rounded = ((f64::from(near) * 1e3).round() / 1e3) as f32;
    let ways = [rounded, near, near.next_up(), near.next_down()];
    let exact = |degrees: &f32| {
        let (s, c) = degrees.to_radians().sin_cos();
        (c.to_bits(), s.to_bits()) == (cos.to_bits(), sin.to_bits())
    };
    match ways.iter().find(|degrees| exact(degrees)) {
        Some(degrees) => number(*degrees),
        None => vec![number(cos), number(sin)].into(),
    }
}
