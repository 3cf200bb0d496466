//! GGX in f64, from the definitions: a surface whose slopes have the density
//! P22(s) = α² / (π (α² + |s|²)²) (Heitz 2014, JCGT 3(2), eq. 11 and 86).

use std::f64::consts::{FRAC_PI_2, PI, TAU};

use glam::Vec3;

use super::integrate;
use super::vector::DVec3;

/// D(wm) = P22(slope) / cos⁴ θm (eq. 12).
pub(crate) fn d(wm: DVec3, alpha: f64) -> f64 {
    if wm.z <= 0.0 {
        return 0.0;
    }
    let s2 = (wm.x * wm.x + wm.y * wm.y) / (wm.z * wm.z);
    let cos4 = (wm.z * wm.z / wm.dot(wm)).powi(2);
    alpha * alpha / (PI * (alpha * alpha + s2).powi(2)) / cos4
}

/// Λ for the slope a = cot θ / α of a direction, in closed form (eq. 72 and 86).
pub(crate) fn lambda(w: DVec3, alpha: f64) -> f64 {
    let a2 = w.z * w.z / (alpha * alpha * (w.x * w.x + w.y * w.y));
    0.5 * ((1.0 + 1.0 / a2).sqrt() - 1.0)
}

/// Λ as the integral it is defined by (eq. 73): with P2 the marginal of the slopes and μ = cot θ,
/// Λ = ∫_μ^∞ (s − μ) P2(s) ds / μ. The marginal of GGX is P2(s) = α² / (2 (α² + s²)^(3/2)).
pub(crate) fn lambda_by_quadrature(cot: f64, alpha: f64) -> f64 {
    let from = (cot / alpha).atan();
    // s = α tan ψ, ds = α / cos² ψ dψ: the integrand becomes ½ (α tan ψ − μ) cos ψ.
    integrate(from, FRAC_PI_2, 8, |psi| 0.5 * (alpha * psi.sin() - cot * psi.cos())) / cot
}

/// How masking and shadowing combine.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum G2 {
    Correlated,
    Separable,
}

/// Masking and shadowing.
pub(crate) fn g2(wo: DVec3, wi: DVec3, alpha: f64, kind: G2) -> f64 {
    let (o, i) = (lambda(wo, alpha), lambda(wi, alpha));
    match kind {
        G2::Correlated => 1.0 / (1.0 + o + i),
        G2::Separable => 1.0 / ((1.0 + o) * (1.0 + i)),
    }
}

/// Density of visible normals, D_wo(wm) = max(0, wo·wm) D(wm) / (cos θo (1 + Λ(wo))).
pub(crate) fn visible_normals(wo: DVec3, wm: DVec3, alpha: f64) -> f64 {
    d(wm, alpha) * wo.dot(wm).max(0.0) / (wo.z * (1.0 + lambda(wo, alpha)))
}

/// How much more often reflections above the surface are drawn when those below are cut off by a bounded cap (Eto &
/// Tokuyoshi 2023): the cap of all reflections over what is left of it, in heights of the stretched frame.
pub(crate) fn bounded(wo: DVec3, alpha: f64) -> f64 {
    let (x, y) = (alpha * wo.x, alpha * wo.y);
    let length = (x * x + y * y + wo.z * wo.z).sqrt();
    let (a2, s2) = (alpha * alpha, (1.0 + wo.x.hypot(wo.y)).powi(2));
    let k = (1.0 - a2) * s2 / (s2 + a2 * wo.z * wo.z);
    (length + wo.z) / (length + k * wo.z)
}

/// Cells in which D(wm) cos θm is spread over all azimuths and, by v, over all slopes r: the part of the slopes
/// below r is r²/(α² + r²) = 1 − (1 − v)².
pub(crate) struct Cells {
    pub(crate) alpha: f64,
    pub(crate) size: [usize; 2],
}

impl Cells {
    /// (v, azimuth) of a normal, both in [0, 1].
    pub(crate) fn place(&self, wm: DVec3) -> [f64; 2] {
        // 1 − v = √(1 − r²/(α² + r²)) = α/√(α² + r²)
        let r2 = (wm.x * wm.x + wm.y * wm.y) / (wm.z * wm.z);
        [1.0 - self.alpha / (self.alpha * self.alpha + r2).sqrt(), super::turn(wm.x, wm.y)]
    }

    /// The normal at (v, azimuth), not normalised: z = 1.
    fn normal(&self, v: f64, turn: f64) -> DVec3 {
        let r = self.alpha * (v * (2.0 - v)).sqrt() / (1.0 - v);
        DVec3::new(r * (TAU * turn).cos(), r * (TAU * turn).sin(), 1.0)
    }

    /// ∫ D_wo f(wm) dωm over every cell, by the midpoint rule on `sub` × `sub` points each.
    ///
    /// D cos θm dωm = 2 (1 − v) dv dφ/2π, so D_wo dωm is that times max(0, wo·wm) / (cos θo cos θm (1 + Λ)).
    pub(crate) fn visible(&self, wo: DVec3, sub: usize, f: impl Fn(DVec3) -> f64) -> Vec<f64> {
        let [nv, nt] = self.size;
        let g1 = 1.0 / (1.0 + lambda(wo, self.alpha));
        let at = |i: usize, s: usize, n: usize| (i as f64 + (s as f64 + 0.5) / sub as f64) / n as f64;
        let area = 1.0 / (nv * nt * sub * sub) as f64;
        let cell = |k: usize| {
            let points = (0..sub * sub).map(|s| {
                let v = at(k / nt, s / sub, nv);
                let wm = self.normal(v, at(k % nt, s % sub, nt));
                let cos = wo.dot(wm).max(0.0);
                if cos == 0.0 { 0.0 } else { 2.0 * (1.0 - v) * g1 * cos / wo.z * f(wm.normalize()) }
            });
            area * points.sum::<f64>()
        };
        (0..nv * nt).map(cell).collect()
    }
}

/// Reflectance of a conductor with index eta + i k, from the Fresnel coefficients in complex arithmetic.
pub(crate) fn fresnel(cos_i: f64, eta: f64, k: f64) -> f64 {
    let sin2 = 1.0 - cos_i * cos_i;
    // n² and q = √(n² − sin²), by the principal square root.
    let n2 = [eta * eta - k * k, 2.0 * eta * k];
    let q = complex_sqrt([n2[0] - sin2, n2[1]]);
    let r_s = norm2([cos_i - q[0], -q[1]]) / norm2([cos_i + q[0], q[1]]);
    let p = [n2[0] * cos_i, n2[1] * cos_i];
    let r_p = norm2([p[0] - q[0], p[1] - q[1]]) / norm2([p[0] + q[0], p[1] + q[1]]);
    0.5 * (r_s + r_p)
}

fn complex_sqrt([re, im]: [f64; 2]) -> [f64; 2] {
    let (radius, angle) = (re.hypot(im).sqrt(), 0.5 * im.atan2(re));
    [radius * angle.cos(), radius * angle.sin()]
}

fn norm2([re, im]: [f64; 2]) -> f64 {
    re * re + im * im
}

/// The reflection model f(wo, wi) of a conductor per channel.
pub(crate) fn conductor(wo: DVec3, wi: DVec3, alpha: f64, kind: G2, eta: Vec3, k: Vec3) -> DVec3 {
    let wm = (wo + wi).normalize();
    let cos = wo.dot(wm).min(1.0);
    let channel = |i: usize| fresnel(cos, f64::from(eta[i]), f64::from(k[i]));
    let facets = d(wm, alpha) * g2(wo, wi, alpha, kind) / (4.0 * wo.z * wi.z);
    facets * DVec3::new(channel(0), channel(1), channel(2))
}

/// Metals of very different colour: (name, eta, k) in red, green and blue.
pub(crate) const METALS: [(&str, Vec3, Vec3); 6] = [
    ("silver", Vec3::new(0.155, 0.117, 0.138), Vec3::new(4.828, 3.122, 2.147)),
    ("gold", Vec3::new(0.143, 0.375, 1.442), Vec3::new(3.983, 2.386, 1.603)),
    ("copper", Vec3::new(0.200, 0.924, 1.102), Vec3::new(3.912, 2.452, 2.142)),
    ("aluminium", Vec3::new(1.657, 0.880, 0.521), Vec3::new(9.224, 6.270, 4.837)),
    ("tungsten", Vec3::new(4.370, 3.306, 2.996), Vec3::new(3.490, 2.664, 2.606)),
    ("chromium", Vec3::new(4.360, 2.914, 1.650), Vec3::new(5.203, 4.227, 3.747)),
];
