//! Walks between microfacets in f64, from the definitions: heights are uniform in [−1, 1], rays and facets meet as
//! Smith says (Heitz, Hanika, d'Eon & Dachsbacher 2016), normals are drawn by rejection.

use std::f64::consts::TAU;

use device::bsdf::microfacet::Distribution;

use super::Random;
use super::facets::Facets;
use super::vector::DVec3;

/// Walks that have not left by then may be forgotten.
pub(crate) const LONGEST: usize = 1000;

pub(crate) struct Walk<'a> {
    pub(crate) facets: Facets,
    /// Index of refraction below relative to above; conductors have none.
    pub(crate) eta: Option<f64>,
    /// Facets that a walk may meet before it ends in nothing.
    pub(crate) longest: usize,
    pub(crate) random: &'a mut Random,
}

/// Where a walk left, and the cosines with which it met facets.
pub(crate) struct End {
    pub(crate) wi: DVec3,
    pub(crate) cosines: Vec<f64>,
}

impl Walk<'_> {
    /// Λ for all directions of the sphere: facets are passed on the way up, and met on the way down.
    fn lambda(&self, w: DVec3) -> f64 {
        let stretched = (self.facets.alpha[0] * w.x).hypot(self.facets.alpha[1] * w.y);
        let a = w.z / stretched;
        match self.facets.distribution {
            Distribution::Ggx => 0.5 * (a.signum() * (1.0 + 1.0 / (a * a)).sqrt() - 1.0),
            Distribution::Beckmann => {
                let up = self.facets.lambda(w);
                if w.z > 0.0 { up } else { -1.0 - up }
            }
        }
    }

    /// The height at which a ray meets a facet, −∞ below all; `None` when it leaves.
    fn height(&mut self, w: DVec3, h: f64) -> Option<f64> {
        // Part of the surface below a height.
        let c1 = |h: f64| (0.5 * (h + 1.0)).clamp(0.0, 1.0);
        let lambda = self.lambda(w);
        let u = self.random.f64();
        let escapes = if w.z > 0.0 { c1(h).powf(lambda) } else { 0.0 };
        (u < 1.0 - escapes).then(|| 2.0 * c1(h) / (1.0 - u).powf(1.0 / lambda) - 1.0)
    }

    /// A normal visible from `w`, from wherever.
    fn normal(&mut self, w: DVec3) -> DVec3 {
        let [ax, ay] = self.facets.alpha;
        let stretched = DVec3::new(ax * w.x, ay * w.y, w.z).normalize();
        loop {
            let r = &mut *self.random;
            let n = match self.facets.distribution {
                // A point of the disk that a sphere is seen as; only its upper half belongs to the surface.
                Distribution::Ggx => {
                    let (d, phi) = (r.f64().sqrt(), r.within(0.0, TAU));
                    let x = stretched.any_orthonormal();
                    let y = stretched.cross(x);
                    d * phi.cos() * x + d * phi.sin() * y + (1.0 - d * d).sqrt() * stretched
                }
                // Slopes are normally distributed, and seen by their cosine, which 6 of them bound.
                Distribution::Beckmann => {
                    let (x, y) = (r.normal() / 2.0_f64.sqrt(), r.normal() / 2.0_f64.sqrt());
                    let seen = stretched.x * x + stretched.y * y + stretched.z;
                    let most = stretched.z + 6.0 * stretched.x.hypot(stretched.y);
                    DVec3::new(x, y, if seen > r.f64() * most { 1.0 } else { -1.0 })
                }
            };
            if n.z > 0.0 {
                return DVec3::new(ax * n.x, ay * n.y, n.z).normalize();
            }
        }
    }

    /// A walk from `wo`; below the surface of a dielectric everything is upside down.
    pub(crate) fn run(&mut self, wo: DVec3) -> Option<End> {
        let (mut w, mut h, mut above, mut cosines) = (-wo, 1.0, true, vec![]);
        for _ in 0..=self.longest {
            let side = if above { 1.0 } else { -1.0 };
            let Some(met) = self.height(side * w, side * h) else { return Some(End { wi: w, cosines }) };
            if cosines.len() == self.longest {
                break;
            }
            h = side * met;
            let wm = side * self.normal(-side * w);
            let cos = -w.dot(wm);
            cosines.push(cos);
            let eta = self.eta.map(|eta| if above { eta } else { 1.0 / eta });
            let refracted = eta.filter(|&eta| self.random.f64() >= reflectance(cos, eta));
            w = match refracted {
                Some(eta) => {
                    above = !above;
                    let tangential = (w + cos * wm) / eta;
                    tangential - (1.0 - tangential.dot(tangential)).sqrt() * wm
                }
                None => w + 2.0 * cos * wm,
            };
        }
        None
    }
}

/// Reflectance of a dielectric by Fresnel's amplitudes, from Snell's law.
pub(crate) fn reflectance(cos_i: f64, eta: f64) -> f64 {
    let sin_t = (1.0 - cos_i * cos_i).max(0.0).sqrt() / eta;
    if sin_t >= 1.0 {
        return 1.0;
    }
    let cos_t = (1.0 - sin_t * sin_t).sqrt();
    let s = (cos_i - eta * cos_t) / (cos_i + eta * cos_t);
    let p = (eta * cos_i - cos_t) / (eta * cos_i + cos_t);
    0.5 * (s * s + p * p)
}
