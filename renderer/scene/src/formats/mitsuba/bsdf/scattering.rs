//! Scattering models: the plugins that do not contain others, and their shared parameters.

use glam::Vec3;
use torrance_text::quoted;

use super::super::ior;
use super::super::plastic::{rough_internal, smooth_internal};
use super::super::texture::Quantity;
use super::super::tree::Value;
use super::super::view::View;
use super::Materials;
use crate::description::limits::{MAX_IOR, MIN_ALPHA};
use crate::description::{
    ConductorMaterial, DielectricMaterial, Distribution, Facets, Masking, MaterialKind, PlasticMaterial,
    PrincipledMaterial, Scalar, Tints,
};

/// Largest `specular` of a principled material, for which its index of refraction is 9.98: just within the limit of 10.
const MAX_SPECULAR: f64 = 8.36;

impl Materials<'_, '_> {
    /// Factors of what is reflected and transmitted.
    pub(super) fn tints(&mut self, view: &View<'_>) -> Option<Tints> {
        let [reflection, transmission] = ["specular_reflectance", "specular_transmittance"]
            .map(|name| self.textures.color(view, name, 1.0, Quantity::Fraction));
        Some(Tints { reflection: reflection?, transmission: transmission? })
    }

    pub(super) fn conductor(&mut self, view: &View<'_>) -> Option<MaterialKind> {
        let facets = self.facets(view);
        let index = self.conductor_index(view);
        let reflection = self.textures.color(view, "specular_reflectance", 1.0, Quantity::Fraction);
        let tints = Tints { reflection: reflection?, ..Tints::NONE };
        let (eta, k) = index?;
        Some(MaterialKind::Conductor(ConductorMaterial::new(eta, k, facets?).tinted(tints)))
    }

    /// Index of refraction and extinction: those of a `material`, or `eta` and `k`; a mirror by default.
    fn conductor_index(&mut self, view: &View<'_>) -> Option<(Vec3, Vec3)> {
        let name = match view.get("material") {
            Some(given) => Some((given, given.text()?)).filter(|(_, name)| *name != "none"),
            None => None,
        };
        let (eta, k) = (view.get("eta"), view.get("k"));
        let said = eta.or(k);
        match (name, said) {
            (Some((given, name)), None) => ior::conductor(name).or_else(|| {
                let names = || ior::CONDUCTORS.iter().map(|(names, ..)| names[0]);
                let hint = view.sources.suggestions.hint(name, "it is", names);
                given.error(format!("unknown conductor {}{hint}", quoted(name)))
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
        view.untextured(name, self.textures.color(view, name, default, Quantity::Index)?)
    }

    pub(super) fn dielectric(&mut self, view: &View<'_>) -> Option<MaterialKind> {
        let facets = self.facets(view);
        let (ior, tints) = (relative_ior(view, "bk7", (0.1, 10.0)), self.tints(view));
        Some(MaterialKind::Dielectric(DielectricMaterial::new(ior?, facets?).tinted(tints?)))
    }

    pub(super) fn plastic(&mut self, view: &View<'_>) -> Option<MaterialKind> {
        let is_rough = view.object.plugin == "roughplastic";
        let reflectance = self.textures.color(view, "diffuse_reflectance", 0.5, Quantity::Fraction);
        let specular = self.textures.color(view, "specular_reflectance", 1.0, Quantity::Fraction);
        let nonlinear = view.boolean("nonlinear", false);
        let ior = relative_ior(view, "polypropylene", (1.01, 10.0));
        let facets = self.facets(view)?;
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

    pub(super) fn principled(&mut self, view: &View<'_>) -> Option<MaterialKind> {
        view.ignore(&[
            "diffuse_reflectance_sampling_rate",
            "main_specular_sampling_rate",
            "clearcoat_sampling_rate",
        ]);
        let base_color = self.textures.color(view, "base_color", 0.5, Quantity::Fraction);
        let mut scalar = |name, default| self.textures.scalar(view, name, default);
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

    /// Microfacets, from `alpha`, or `alpha_u` and `alpha_v`, and `distribution`; those of a plugin that is not rough are
    /// smooth.
    fn facets(&mut self, view: &View<'_>) -> Option<Facets> {
        const DISTRIBUTIONS: [(&str, Distribution); 2] =
            [("beckmann", Distribution::Beckmann), ("ggx", Distribution::Ggx)];
        if !view.object.plugin.starts_with("rough") {
            return Some(Facets::SMOOTH);
        }
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
        let alpha = self.textures.scalar(view, name, 0.1)?;
        let is_textured = alpha.texture != device::material::texture::NO_TEXTURE;
        Some(if is_textured { alpha } else { Scalar::new(alpha.value.max(MIN_ALPHA)) })
    }
}

/// Index of refraction within over that outside, each a number or a name; air outside by default.
pub(super) fn relative_ior(view: &View<'_>, default: &str, (low, high): (f32, f32)) -> Option<f32> {
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
        let names = || ior::DIELECTRICS.iter().map(|(name, _)| *name);
        let hint = view.sources.suggestions.hint(text, "it is", names);
        given.error(format!("unknown dielectric {}{hint}", quoted(text)))
    })
}
