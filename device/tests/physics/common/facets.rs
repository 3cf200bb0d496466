//! Anisotropic surfaces of microfacets in f64, from the definitions: slopes with the density P22(x, y), which is
//! P(|(x/αx, y/αy)|) / (αx·αy) with P(r) = 1 / (π (1 + r²)²) for GGX and e^(−r²)/π for Beckmann (Heitz 2014).

use std::f64::consts::{FRAC_PI_2, PI, TAU};

use device::bsdf::microfacet::Distribution;

use super::integrate;
use super::vector::DVec3;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Facets {
    pub(crate) alpha: [f64; 2],
    pub(crate) distribution: Distribution,
}

impl Facets {
    fn p(&self, r: f64) -> f64 {
        match self.distribution {
            Distribution::Ggx => 1.0 / (PI * (1.0 + r * r).powi(2)),
            Distribution::Beckmann => (-r * r).exp() / PI,
        }
    }

    /// Slopes of a normal in units of α.
    fn slopes(&self, wm: DVec3) -> [f64; 2] {
        [wm.x / wm.z / self.alpha[0], wm.y / wm.z / self.alpha[1]]
    }

    /// The normal, with z = 1, of slopes in units of α by length and azimuth.
    fn normal(&self, r: f64, phi: f64) -> DVec3 {
        DVec3::new(self.alpha[0] * r * phi.cos(), self.alpha[1] * r * phi.sin(), 1.0)
    }

    /// D(wm) = P22(slopes) / cos⁴ θm.
    pub(crate) fn d(&self, wm: DVec3) -> f64 {
        let [x, y] = self.slopes(wm);
        self.p(x.hypot(y)) / (self.alpha[0] * self.alpha[1] * (wm.z / wm.length()).powi(4))
    }

    /// Λ(w) as the integral it is defined by, ∫ (s − μ) P2(s) ds / μ over s > μ = cot θ, in units of the α across the
    /// azimuth of w, with the marginal P2 of slopes.
    pub(crate) fn lambda(&self, w: DVec3) -> f64 {
        let across = (self.alpha[0] * w.x).hypot(self.alpha[1] * w.y);
        if across == 0.0 {
            return 0.0;
        }
        let cot = w.z.abs() / across;
        match self.distribution {
            // P2(s) = ½ (1 + s²)^(−3/2), s = tan ψ.
            Distribution::Ggx => {
                integrate(cot.atan(), FRAC_PI_2, 8, |psi| 0.5 * (psi.sin() - cot * psi.cos())) / cot
            }
            Distribution::Beckmann => {
                integrate(cot, cot + 8.0, 8, |s| (s - cot) * (-s * s).exp() / PI.sqrt()) / cot
            }
        }
    }

    /// ∫ f(wm) dωm over the normals with wo·wm > 0, or all if there is no `wo`: in polar coordinates (ln r, φ) of slopes
    /// in units of α, in which D cos θm dωm = P(r) r² d(ln r) dφ, split where normals cease to be visible.
    pub(crate) fn integral(&self, wo: Option<DVec3>, f: impl Fn(DVec3) -> f64) -> f64 {
        let (cot, azimuth) = wo.map_or((f64::INFINITY, 0.0), |wo| {
            let (x, y) = (self.alpha[0] * wo.x, self.alpha[1] * wo.y);
            (wo.z / x.hypot(y), y.atan2(x))
        });
        let ring = |x: f64| {
            let r = x.exp();
            let seen = if r <= cot { PI } else { (-cot / r).acos() };
            let over_azimuth = integrate(-seen, seen, 4, |phi| {
                let wm = self.normal(r, azimuth + phi);
                let wm = wm.normalize();
                f(wm) / (self.d(wm) * wm.z)
            });
            self.p(r) * r * r * over_azimuth
        };
        let (start, end) = (1e-5_f64.ln(), self.steepest().ln());
        let split = cot.ln().clamp(start, end);
        let part = |a: f64, b: f64| if a < b { integrate(a, b, 16, ring) } else { 0.0 };
        part(start, split) + part(split, end)
    }

    fn steepest(&self) -> f64 {
        if self.distribution == Distribution::Ggx { 1e5 } else { 6.0 }
    }

    /// Length of the slopes, in units of α, that a part `q` of the projected area is steeper than; and back.
    fn steeper(&self, q: f64) -> f64 {
        match self.distribution {
            Distribution::Ggx => ((1.0 - q) / q).sqrt(),
            Distribution::Beckmann => (-q.ln()).sqrt(),
        }
    }

    fn part_steeper(&self, r2: f64) -> f64 {
        match self.distribution {
            Distribution::Ggx => 1.0 / (1.0 + r2),
            Distribution::Beckmann => (-r2).exp(),
        }
    }
}

/// Cells in which D(wm) cos θm is spread over all azimuths and, by v, over all slopes: a part (1 − v)² of the projected
/// area is steeper. So they are as narrow as the peak, and finer where it is steep.
pub(crate) struct Cells {
    pub(crate) facets: Facets,
    pub(crate) size: [usize; 2],
}

impl Cells {
    /// (v, azimuth) of a normal, both in [0, 1].
    pub(crate) fn place(&self, wm: DVec3) -> [f64; 2] {
        let [x, y] = self.facets.slopes(wm);
        [1.0 - self.facets.part_steeper(x * x + y * y).sqrt(), super::turn(x, y)]
    }

    /// ∫ D(wm) cos θm f(wm / cos θm) dωm over every cell, by the midpoint rule on `sub` points each.
    /// Those next to each other in azimuth are a quarter of their distance in v apart, so that no edge along the cells
    /// passes between all of them: `sub[1]` is a multiple of 4.
    pub(crate) fn integrals(&self, sub: [usize; 2], f: impl Fn(DVec3) -> f64) -> Vec<f64> {
        let [nv, nt] = self.size;
        let (alpha, area) = (self.facets.alpha, 1.0 / (nv * nt * sub[0] * sub[1]) as f64);
        let turn = |t: usize| (t as f64 + 0.5) / (nt * sub[1]) as f64;
        let unit: Vec<(f64, f64)> = (0..nt * sub[1]).map(|t| (TAU * turn(t)).sin_cos()).collect();
        let mut cells = vec![0.0; nv * nt];
        for i in 0..nv * sub[0] {
            let radii = [0.125, 0.625, 0.375, 0.875].map(|part| {
                let q = 1.0 - (i as f64 + part) / (nv * sub[0]) as f64;
                (q, self.facets.steeper(q * q))
            });
            for (t, (s, c)) in unit.iter().enumerate() {
                let (q, r) = radii[t % 4];
                let wm = DVec3::new(alpha[0] * r * c, alpha[1] * r * s, 1.0);
                cells[i / sub[0] * nt + t / sub[1]] += area * 2.0 * q * f(wm);
            }
        }
        cells
    }
}
