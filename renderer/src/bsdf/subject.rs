//! The material of a study: one of a scene, or one given by its keys.

use std::sync::Arc;

use device::bsdf::Tinted;
use device::bsdf::microfacet::{Distribution, Masking, Microfacet};
use device::bsdf::plastic::Coat;
use device::material::Material as Record;
use glam::{Vec2, Vec3};
use torrance_scene::{
    Color, ConductorMaterial, DielectricMaterial, Facets, Features, GltfMaterial, Material, MaterialKind,
    PrincipledMaterial, Scalar, Scattering,
};

use super::rounded;
use crate::assemble::Swatches;

/// A material, and how its facets mask each other.
#[derive(Debug, Clone, PartialEq)]
pub struct Subject {
    material: Material,
    masking: Masking,
    swatches: Arc<Swatches>,
}

impl Subject {
    /// The material, among the textures of its scene.
    pub fn new(material: Material, masking: Masking, swatches: Swatches) -> Self {
        Self { material, masking, swatches: Arc::new(swatches) }
    }

    /// How it scatters, seen from the front. Everything that is charted goes through here.
    pub fn bsdf(&self) -> Tinted {
        self.swatches.lobe(&self.material, self.masking)
    }

    /// Its record, and its coats.
    pub(super) fn record(&self) -> (Record, Vec<Coat>) {
        Swatches::record(&self.material, self.masking)
    }

    /// Its textures.
    pub(super) fn swatches(&self) -> &Swatches {
        &self.swatches
    }

    /// The features that kernels need to know for it.
    pub(super) fn features(&self) -> Features {
        self.material.kind.features()
    }

    fn facets(&self) -> Option<Facets> {
        let mut kind = self.material.kind;
        kind.facets_mut().copied()
    }

    /// Roughness parameters of its facets, 0 if smooth; `None` for what has no facets, or whose facets have parameters of
    /// another name.
    pub fn alpha(&self) -> Option<Vec2> {
        let mut kind = self.material.kind;
        match kind.roughness_mut() {
            Some(roughness) => Some(Vec2::splat(self.swatches.scalar(roughness).powi(2))),
            None => self.facets().map(|facets| self.alpha_of(&facets)),
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

    /// This material with another roughness, if it has one.
    pub fn with_alpha(&self, alpha: Vec2) -> Self {
        let mut other = self.clone();
        let kind = &mut other.material.kind;
        if let Some(roughness) = kind.roughness_mut() {
            *roughness = Scalar::new(alpha.x.sqrt());
        } else if let Some(facets) = kind.facets_mut() {
            facets.alpha = alpha.to_array().map(Scalar::new);
            facets.is_roughness = 0;
        }
        other
    }

    /// Whether it is the same with every masking function: it has no facets, or a model of light between them that has its own.
    pub fn has_own_masking(&self) -> bool {
        let is_open = |facets: Facets| !facets.is_smooth() && matches!(facets.scattering(), Scattering::None);
        !self.facets().is_some_and(is_open)
    }

    /// Its masking function.
    pub const fn masking(&self) -> Masking {
        self.masking
    }

    /// This material with other masking.
    pub fn with_masking(&self, masking: Masking) -> Self {
        Self { masking, ..self.clone() }
    }

    /// This material with another model of light between facets.
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
        self.material.kind.is_anisotropic()
    }

    /// Its kind, for people.
    pub fn kind(&self) -> &'static str {
        match self.material.kind.name() {
            "thin_dielectric" => "thin dielectric",
            "gltf" => "glTF",
            name => name,
        }
    }

    /// Its parameters, in a line.
    pub fn describe(&self) -> String {
        let number = |x: Scalar| short(self.swatches.scalar(&x));
        let colour = |c: Color| colour(self.swatches.color(&c));
        let parameters = match self.material.kind {
            MaterialKind::Diffuse(p) => format!("ρ = {}", colour(p.reflectance)),
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
            MaterialKind::Principled(PrincipledMaterial { base_color, metallic, roughness, .. })
            | MaterialKind::Gltf(GltfMaterial { base_color, metallic, roughness, .. }) => {
                let (base, metallic, roughness) = (colour(base_color), number(metallic), number(roughness));
                format!("base {base}, metallic {metallic}, roughness {roughness}")
            }
            MaterialKind::Blend(_) => "of two others".to_owned(),
        };
        let sheen = match self.material.kind {
            MaterialKind::Gltf(p) if p.sheen_color != Color::new(Vec3::ZERO) => {
                format!(", sheen {}", colour(p.sheen_color))
            }
            _ => String::new(),
        };
        let facets =
            self.facets().map_or_else(String::new, |facets| ", ".to_owned() + &self.describe_facets(&facets));
        let textured = self.material.kind.features().contains(Features::TEXTURES);
        let place = if textured { ", textures at (½, ½)" } else { "" };
        format!("{}, {parameters}{}{sheen}{facets}{place}", self.kind(), self.strengths())
    }

    /// The strengths that are not 0, as the end of a line.
    fn strengths(&self) -> String {
        let strengths = self.material.kind.strengths().into_iter();
        let present = strengths.filter(|(name, x)| *name != "metallic" && !x.is(0.0));
        present.map(|(name, x)| format!(", {name} {}", short(self.swatches.scalar(&x)))).collect()
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
    rounded(x.into(), 4, 9)
}
