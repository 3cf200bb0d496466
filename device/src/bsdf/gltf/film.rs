//! Thin films on facets, and their transmittance.

use glam::Vec3;

use super::super::fresnel;
use crate::arch::{max, min, sqrt};

/// An iridescent film (KHR_materials_iridescence).
#[derive(Clone, Copy, Debug)]
pub struct Film {
    /// How much of the reflectance is that with the film, in [0, 1].
    pub factor: f32,
    /// Index of refraction, ≥ 1.
    pub eta: f32,
    /// In nanometres.
    pub thickness: f32,
}

impl Film {
    /// Reflectance with the film of what reflects `bare` without it, and `f0` at normal incidence.
    #[inline(always)]
    pub(super) fn over(&self, cos: f32, bare: Vec3, f0: Vec3) -> Vec3 {
        let base = Vec3::new(index(f0.x), index(f0.y), index(f0.z));
        let film = fresnel::thin_film_conductor(cos, self.eta, self.thickness, base, Vec3::ZERO);
        bare.lerp(film, self.factor)
    }

    /// The parts of the light at the cosine `cos` that pass on a base that reflects `f0` at normal incidence, where
    /// what both sides of the film reflect is in phase and where it is opposite.
    #[inline(always)]
    pub(super) fn transmittances(&self, cos: f32, f0: Vec3) -> [f32; 2] {
        let sin2 = 1.0 - cos * cos;
        let film2 = self.eta * self.eta;
        // Admittances, for light polarised across the plane of incidence; along it they are those over index squared.
        let film = sqrt(max(film2 - sin2, 0.0));
        let outer = [amplitude(cos, film), amplitude(film2 * cos, film)];
        // What is least or most like the film among the channels reflects the most.
        let mut inner = [0.0, 0.0];
        for base in [index(f0.min_element()), index(f0.max_element())] {
            let base2 = base * base;
            let base = sqrt(max(base2 - sin2, 0.0));
            inner[0] = max(inner[0], amplitude(film, base));
            inner[1] = max(inner[1], amplitude(base2 * film, film2 * base));
        }
        let (s, p) = (extremes(outer[0], inner[0]), extremes(outer[1], inner[1]));
        [0.5 * (s[0] + p[0]), 0.5 * (s[1] + p[1])]
    }
}

/// Index of refraction that reflects `f0` at normal incidence; a large one for 1.
#[inline(always)]
fn index(f0: f32) -> f32 {
    let r = sqrt(min(f0, 0.9999));
    (1.0 + r) / (1.0 - r)
}

/// Size of the reflected amplitude between two admittances.
#[inline(always)]
fn amplitude(a: f32, b: f32) -> f32 {
    (a - b).abs() / max(a + b, f32::MIN_POSITIVE)
}

/// Transmittances of two boundaries with these reflected amplitudes, in phase and opposite.
#[inline(always)]
fn extremes(outer: f32, inner: f32) -> [f32; 2] {
    let both = (1.0 - outer * outer) * (1.0 - inner * inner);
    let (sum, difference) = (1.0 + outer * inner, 1.0 - outer * inner);
    [both / (sum * sum), min(both / max(difference * difference, f32::MIN_POSITIVE), 1.0)]
}
