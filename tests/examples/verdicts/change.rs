//! Deliberate mistakes in a render.

use device::material::ConductorMaterial;
use glam::Vec3;
use renderer::Machine;
use renderer::assemble::SceneData;
use torrance_image::compare::Region;
use torrance_image::compare::comparison::crop;
use torrance_image::film::{Film, ImageEstimate};
use torrance_scene::{Description, Environment, MaterialKind};
use torrance_tests::tampered::{self, Mistake};

/// Sizes of the changes that are tried.
pub(crate) const LADDER: [f64; 9] = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5];

/// A change of a scene or an image.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Change {
    /// All microfacets rougher.
    Roughness,
    /// All diffuse surfaces darker.
    Albedo,
    /// All lights brighter.
    Light,
    /// No cosine in the direct light of 1 % of the surfaces.
    Cosine,
    /// The image moved by a pixel.
    Shift,
    /// Reflectance at normal incidence off by 2 %: of glass more, of metals less.
    Fresnel,
}

impl Change {
    pub(crate) const ALL: [Self; 6] =
        [Self::Roughness, Self::Albedo, Self::Light, Self::Cosine, Self::Shift, Self::Fresnel];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Roughness => "roughness",
            Self::Albedo => "albedo",
            Self::Light => "light power",
            Self::Cosine => "no cosine on 1 %",
            Self::Shift => "shift of a pixel",
            Self::Fresnel => "Fresnel off by 2 %",
        }
    }

    /// Whether there is more and less of it.
    pub(crate) fn has_size(self) -> bool {
        matches!(self, Self::Roughness | Self::Albedo | Self::Light)
    }

    /// The scene with the change; `None` if it has nothing to change.
    pub(crate) fn applied(self, scene: &Description, size: f64) -> Option<Description> {
        let mut scene = scene.clone();
        let factor = 1.0 + size as f32;
        let mut changed = 0;
        match self {
            Self::Cosine | Self::Shift => return Some(scene),
            Self::Light => {
                if let Some(Environment::Constant(radiance)) = &mut scene.environment {
                    *radiance *= factor;
                }
                scene.shapes.iter_mut().for_each(|shape| shape.emission.value *= factor);
                return Some(scene);
            }
            Self::Roughness => {
                for facets in scene.materials.iter_mut().filter_map(|m| m.kind.facets_mut()) {
                    facets.alpha.iter_mut().for_each(|a| a.value = (a.value * factor).min(1.0));
                    changed += usize::from(facets.alpha[0].value > 0.0);
                }
            }
            Self::Albedo => {
                for material in &mut scene.materials {
                    if let MaterialKind::Diffuse(diffuse) = &mut material.kind {
                        diffuse.reflectance.value /= factor;
                        changed += 1;
                    }
                }
            }
            Self::Fresnel => {
                for material in &mut scene.materials {
                    changed += usize::from(change_fresnel(&mut material.kind));
                }
            }
        }
        (changed > 0).then_some(scene)
    }

    /// Renders the scene that was changed; `patch` is the side of the patches that have no cosine.
    pub(crate) fn film(
        self,
        machine: &mut Machine,
        scene: &SceneData,
        spp: u32,
        seed: u32,
        patch: f32,
    ) -> Film {
        if self != Self::Cosine {
            return crate::film(machine, scene, spp, seed);
        }
        let mut scene = scene.clone();
        scene.settings.seed = seed;
        tampered::render(&scene, spp, Mistake::NoCosineOn { share: 0.01, patch })
    }

    /// The part of the images that is compared.
    pub(crate) fn seen(
        self,
        image: &ImageEstimate,
        reference: &ImageEstimate,
    ) -> (ImageEstimate, ImageEstimate) {
        match self {
            Self::Shift => (columns(image, 1), columns(reference, 0)),
            _ => (image.clone(), reference.clone()),
        }
    }
}

/// All columns but one, from `first`.
fn columns(of: &ImageEstimate, first: u32) -> ImageEstimate {
    crop(of, Region { x: first, y: 0, width: of.image.width - 1, height: of.image.height })
}

/// Changes the reflectance at normal incidence by 2 %, of glass up, of metals down. Whether there is any.
fn change_fresnel(kind: &mut MaterialKind) -> bool {
    match kind {
        MaterialKind::Dielectric(glass) => {
            // F0 = ((η − 1) / (η + 1))².
            let r = ((glass.ior - 1.0) / (glass.ior + 1.0)).abs() * 1.02_f32.sqrt();
            glass.ior = (1.0 + r) / (1.0 - r);
            true
        }
        MaterialKind::Conductor(metal) => {
            let (eta, k) = metal.index();
            *metal = ConductorMaterial::new(eta, less_extinction(eta, k, 0.98), metal.facets);
            true
        }
        _ => false,
    }
}

/// The k with which F0 = ((η − 1)² + k²) / ((η + 1)² + k²) is `factor` of what it was.
fn less_extinction(eta: Vec3, k: Vec3, factor: f32) -> Vec3 {
    let (below, above) = (eta - 1.0, eta + 1.0);
    let f0 = factor * (below * below + k * k) / (above * above + k * k);
    let k2 = (f0 * above * above - below * below) / (Vec3::ONE - f0);
    k2.max(Vec3::ZERO).map(f32::sqrt)
}
