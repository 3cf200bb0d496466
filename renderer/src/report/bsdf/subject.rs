//! What is looked at: a material of a scene, or one like it.

use std::sync::Arc;

use device::bsdf::Tinted;
use device::bsdf::microfacet::{Distribution, Masking, Microfacet};
use glam::{Vec2, Vec3};

use crate::assemble::Swatches;
use crate::scene::{
    Color, ConductorMaterial, DielectricMaterial, Facets, Features, Material, MaterialKind, Scalar,
    Scattering,
};

/// A material, and how its facets mask each other.
#[derive(Debug, Clone, PartialEq)]
pub struct Subject {
    material: Material,
    masking: Masking,
    swatches: Arc<Swatches>,
}

impl Subject {
    /// The material, among the textures of its scene.
    pub(crate) fn new(material: Material, masking: Masking, swatches: Swatches) -> Self {
        Self { material, masking, swatches: Arc::new(swatches) }
    }

    /// How it scatters, seen from the front. Everything that is charted goes through here.
    pub fn bsdf(&self) -> Tinted {
        self.swatches.lobe(&self.material, self.masking)
    }

    fn facets(&self) -> Option<Facets> {
        let mut kind = self.material.kind;
        kind.facets_mut().copied()
    }

    /// Roughness parameters of its facets, 0 if smooth; `None` for what has no facets, or whose facets have parameters of
    /// another name.
    pub fn alpha(&self) -> Option<Vec2> {
        match self.material.kind {
            MaterialKind::Principled(p) => Some(Vec2::splat(self.swatches.scalar(&p.roughness).powi(2))),
            MaterialKind::Gltf(p) => Some(Vec2::splat(self.swatches.scalar(&p.roughness).powi(2))),
            _ => self.facets().map(|facets| self.alpha_of(&facets)),
        }
    }

    fn alpha_of(&self, facets: &Facets) -> Vec2 {
        if facets.is_smooth() { Vec2::ZERO } else { self.swatches.microfacet(facets).alpha }
    }

    /// Its facets, if it is rough.
    pub fn microfacet(&self) -> Option<Microfacet> {
        let facets = self.facets().filter(|facets| !facets.is_smooth())?;
        Some(Microfacet {
            alpha: self.alpha_of(&facets),
            distribution: facets.distribution(),
            masking: self.masking,
        })
    }

    /// The same of another roughness, if it has one.
    pub fn with_alpha(&self, alpha: Vec2) -> Self {
        let mut other = self.clone();
        match &mut other.material.kind {
            MaterialKind::Principled(p) => p.roughness = Scalar::new(alpha.x.sqrt()),
            MaterialKind::Gltf(p) => p.roughness = Scalar::new(alpha.x.sqrt()),
            kind => {
                if let Some(facets) = kind.facets_mut() {
                    facets.alpha = alpha.to_array().map(Scalar::new);
                    facets.is_roughness = 0;
                }
            }
        }
        other
    }

    /// The same with other masking.
    pub fn with_masking(&self, masking: Masking) -> Self {
        Self { masking, ..self.clone() }
    }

    /// The same with another account of light between facets.
    pub fn with_scattering(&self, scattering: Scattering) -> Self {
        let mut other = self.clone();
        if let Some(facets) = other.material.kind.facets_mut() {
            facets.scattering = scattering as u32;
        }
        other
    }

    /// The same facets, absorbing nothing: what does not come back is lost by the model. `None` without facets.
    pub fn white(&self) -> Option<Self> {
        let mut other = self.clone();
        match &mut other.material.kind {
            // At η = 0 Fresnel's equations reflect everything, whatever k.
            MaterialKind::Conductor(p) => *p = ConductorMaterial::new(Vec3::ZERO, Vec3::ONE, p.facets),
            // It absorbs nothing but by its tints.
            MaterialKind::Dielectric(p) => *p = DielectricMaterial::new(p.ior, p.facets),
            _ => return None,
        }
        Some(other)
    }

    /// Whether the direction along the surface matters.
    pub fn is_anisotropic(&self) -> bool {
        match self.material.kind {
            MaterialKind::Principled(p) => !p.anisotropic.is(0.0),
            MaterialKind::Gltf(p) => !p.anisotropy.is(0.0),
            _ => self.facets().is_some_and(|facets| facets.is_anisotropic()),
        }
    }

    /// What kind of material it is.
    pub fn kind(&self) -> &'static str {
        match self.material.kind {
            MaterialKind::Diffuse(_) => "diffuse",
            MaterialKind::Conductor(_) => "conductor",
            MaterialKind::Dielectric(_) => "dielectric",
            MaterialKind::ThinDielectric(_) => "thin dielectric",
            MaterialKind::Plastic(_) => "plastic",
            MaterialKind::Sheen(_) => "sheen",
            MaterialKind::Principled(_) => "principled",
            MaterialKind::Gltf(_) => "glTF",
            MaterialKind::Blend(_) => "blend",
        }
    }

    /// Its parameters, in a line.
    pub fn describe(&self) -> String {
        let number = |x: Scalar| short(self.swatches.scalar(&x));
        let colour = |c: Color| colour(self.swatches.color(&c));
        let parameters = match self.material.kind {
            MaterialKind::Diffuse(p) if p.roughness.is(0.0) => format!("ρ = {}", colour(p.reflectance)),
            MaterialKind::Diffuse(p) => {
                format!("ρ = {}, roughness {}", colour(p.reflectance), number(p.roughness))
            }
            MaterialKind::Conductor(p) => {
                let (eta, k) = p.index();
                format!("η = {}, k = {}", colour(Color::new(eta)), colour(Color::new(k)))
            }
            MaterialKind::Dielectric(p) => format!("η = {}", p.ior),
            MaterialKind::ThinDielectric(p) => format!("η = {}", p.ior),
            MaterialKind::Plastic(p) => format!("ρ = {}, η = {}", colour(p.reflectance), p.ior),
            MaterialKind::Sheen(p) => {
                format!("colour {}, roughness {}", colour(p.color), number(p.roughness))
            }
            MaterialKind::Principled(p) => {
                let (metallic, roughness) = (number(p.metallic), number(p.roughness));
                let rest = [
                    ("anisotropic", p.anisotropic),
                    ("spec_tint", p.spec_tint),
                    ("spec_trans", p.spec_trans),
                    ("flatness", p.flatness),
                    ("sheen", p.sheen),
                    ("clearcoat", p.clearcoat),
                ];
                let base = colour(p.base_color);
                format!("base {base}, metallic {metallic}, roughness {roughness}{}", self.present(&rest))
            }
            MaterialKind::Gltf(p) => {
                let (metallic, roughness) = (number(p.metallic), number(p.roughness));
                let rest = [
                    ("transmission", p.transmission),
                    ("anisotropy", p.anisotropy),
                    ("clearcoat", p.clearcoat),
                    ("iridescence", p.iridescence),
                ];
                let (base, rest) = (colour(p.base_color), self.present(&rest));
                let bare = p.sheen_color == Color::new(Vec3::ZERO);
                let sheen = if bare { String::new() } else { format!(", sheen {}", colour(p.sheen_color)) };
                format!("base {base}, metallic {metallic}, roughness {roughness}{rest}{sheen}")
            }
            MaterialKind::Blend(_) => "of two others".to_owned(),
        };
        let facets =
            self.facets().map_or_else(String::new, |facets| ", ".to_owned() + &self.describe_facets(&facets));
        let textured = self.material.kind.features().contains(Features::TEXTURES);
        let place = if textured { ", textures at (½, ½)" } else { "" };
        format!("{}, {parameters}{facets}{place}", self.kind())
    }

    /// Those of the parameters that are not 0, as the end of a line.
    fn present(&self, parameters: &[(&str, Scalar)]) -> String {
        let present = parameters.iter().filter(|(_, x)| !x.is(0.0));
        present.map(|(name, x)| format!(", {name} {}", short(self.swatches.scalar(x)))).collect()
    }

    fn describe_facets(&self, facets: &Facets) -> String {
        if facets.is_smooth() {
            return "smooth".to_owned();
        }
        let masking = match self.masking {
            Masking::Correlated => "height-correlated masking",
            Masking::Separable => "separable masking",
        };
        let distribution = match facets.distribution() {
            Distribution::Ggx => "GGX",
            Distribution::Beckmann => "Beckmann",
        };
        let alpha = alphas(self.alpha_of(facets));
        match facets.scattering() {
            Scattering::None => format!("{distribution}, {alpha}, {masking}"),
            Scattering::Compensated => format!("{distribution}, {alpha}, compensated"),
            Scattering::RandomWalk => format!("{distribution}, {alpha}, random walks"),
        }
    }
}

/// α in words.
pub(super) fn alphas(alpha: Vec2) -> String {
    if alpha.x == alpha.y {
        format!("α = {}", short(alpha.x))
    } else {
        format!("α = ({}, {})", short(alpha.x), short(alpha.y))
    }
}

fn colour(c: Vec3) -> String {
    if c.x == c.y && c.y == c.z {
        short(c.x)
    } else {
        format!("({}, {}, {})", short(c.x), short(c.y), short(c.z))
    }
}

/// A number to four digits, without zeros at its end.
pub(super) fn short(x: f32) -> String {
    let x = f64::from(x);
    if x == 0.0 {
        return "0".to_owned();
    }
    let digits = (3 - x.abs().log10().floor() as i32).clamp(0, 9) as usize;
    let text = format!("{x:.digits$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}
