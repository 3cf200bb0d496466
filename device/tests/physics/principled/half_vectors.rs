//! Integration over half vectors.

use std::f64::consts::{FRAC_PI_2, TAU};

use device::bsdf::principled::Parameters;

use crate::common::vector::DVec3;
use crate::common::{polar, turn};

/// Cells around the normal over half vectors, as wide as the narrowest peak at its top and by equal ratios further out:
/// uniform in asinh(θ/α) and azimuth.
pub(super) struct HalfVectors {
    pub(super) alpha: f64,
    pub(super) size: [usize; 2],
    /// Points of the midpoint rule in every cell.
    pub(super) sub: [usize; 2],
}

impl HalfVectors {
    pub(super) fn new(p: &Parameters) -> Self {
        let alpha = p.alpha().min_element();
        let coat = if p.clearcoat > 0.0 { 0.1 - 0.099 * p.clearcoat_gloss } else { 1.0 };
        Self { alpha: alpha.min(coat).into(), size: [14, 16], sub: [24, 12] }
    }

    fn end(&self) -> f64 {
        (FRAC_PI_2 / self.alpha).asinh()
    }

    pub(super) fn cell(&self, wm: DVec3) -> usize {
        let theta = wm.x.hypot(wm.y).atan2(wm.z);
        let x = (theta / self.alpha).asinh() / self.end();
        let [nx, nt] = self.size;
        let turn = turn(wm.x, wm.y);
        ((x * nx as f64) as usize).min(nx - 1) * nt + ((turn * nt as f64) as usize).min(nt - 1)
    }

    /// Calls `f` for the points of the midpoint rule: the cell, the normal, and its solid angle.
    pub(super) fn for_each_point(&self, mut f: impl FnMut(usize, DVec3, f64)) {
        let sub = self.sub;
        let [nx, nt] = self.size;
        let (dx, dt) = (self.end() / (nx * sub[0]) as f64, TAU / (nt * sub[1]) as f64);
        for i in 0..nx * sub[0] {
            let x = (i as f64 + 0.5) * dx;
            let theta = self.alpha * x.sinh();
            // dωm = sin θ dθ dφ with dθ = α cosh x dx.
            let area = theta.sin() * self.alpha * x.cosh() * dx * dt;
            for t in 0..nt * sub[1] {
                // Points of neighbouring rings are turned, so that no edge along the cells passes between all of them.
                let turn = (t as f64 + [0.125, 0.625, 0.375, 0.875][i % 4]) * dt;
                f(i / sub[0] * nt + t / sub[1], polar(theta.cos(), turn), area);
            }
        }
    }
}

/// The direction into which `wo` is reflected by a facet, if that is above the surface, and |∂ωi/∂ωm|.
pub(super) fn reflected(wo: DVec3, wm: DVec3) -> Option<(DVec3, f64)> {
    let cos = wo.dot(wm);
    let wi = 2.0 * cos * wm - wo;
    (cos > 0.0 && wi.z > 0.0).then_some((wi, 4.0 * cos))
}

/// The direction into which `wo` is refracted by a facet, if that is below the surface, and |∂ωi/∂ωm|.
pub(super) fn refracted(wo: DVec3, wm: DVec3, eta: f64) -> Option<(DVec3, f64)> {
    let cos = wo.dot(wm);
    let tangential = (cos * wm - wo) / eta;
    let sin2 = tangential.dot(tangential);
    let wi = tangential - (1.0 - sin2).max(0.0).sqrt() * wm;
    let i = wi.dot(wm);
    (cos > 0.0 && sin2 < 1.0 && wi.z < 0.0).then(|| (wi, (cos + eta * i).powi(2) / (eta * eta * i.abs())))
}
