//! Directional albedos of single scattering in f64, by quadrature over slopes.

use std::f64::consts::{FRAC_PI_2, PI};
use std::sync::LazyLock;

use device::bsdf::microfacet::Distribution;
use statrs::function::beta::beta;
use statrs::function::erf::erfc;

use super::vector::DVec3;
use super::walk::reflectance;
use super::{integrate, polar};

/// a·Λ(a) of Beckmann, a = cot θ / α (Walter et al. 2007, eq. 26), looked up: erfc takes its time.
fn beckmann(a: f64) -> f64 {
    const N: usize = 20_000;
    const END: f64 = 8.0;
    static TABLE: LazyLock<Vec<f64>> = LazyLock::new(|| {
        let exact = |a: f64| 0.5 * ((-a * a).exp() / PI.sqrt() - a * erfc(a));
        (0..=N + 1).map(|i| exact(END * i as f64 / N as f64)).collect()
    });
    let x = a / END * N as f64;
    if a >= END { 0.0 } else { TABLE[x as usize] * (1.0 - x.fract()) + TABLE[x as usize + 1] * x.fract() }
}

/// Λ(w) of an isotropic surface.
pub(crate) fn lambda(distribution: Distribution, alpha: f64, w: DVec3) -> f64 {
    let a = w.z.abs() / (alpha * w.x.hypot(w.y));
    match distribution {
        Distribution::Ggx => 0.5 * ((1.0 + 1.0 / (a * a)).sqrt() - 1.0),
        Distribution::Beckmann => beckmann(a) / a,
    }
}

/// Mean of `f`(wo, wm) over the normals visible from the direction with cosine `mu`. Where `wo·wm` is `kink`, f has one;
/// 1 is for none.
fn over_visible_normals(
    d: Distribution,
    alpha: f64,
    mu: f64,
    kink: f64,
    f: impl Fn(DVec3, DVec3) -> f64,
) -> f64 {
    let wo = polar(mu, 0.0);
    let area = mu * (1.0 + lambda(d, alpha, wo));
    // Slopes in units of α are tan ψ long.
    let ring = |psi: f64| {
        let (r, dr) = (psi.tan(), 1.0 / psi.cos().powi(2));
        let p = match d {
            Distribution::Ggx => 1.0 / (PI * (1.0 + r * r).powi(2)),
            Distribution::Beckmann => (-r * r).exp() / PI,
        };
        let least = -mu / (wo.x * alpha * r);
        let seen = if least <= -1.0 { PI } else { least.acos() };
        let kink = (kink * (1.0 + (alpha * r).powi(2)).sqrt() - mu) / (wo.x * alpha * r);
        let split = if kink.abs() < 1.0 { kink.acos().min(seen) } else { 0.5 * seen };
        let along = |phi: f64| {
            let wm = DVec3::new(alpha * r * phi.cos(), alpha * r * phi.sin(), 1.0);
            wo.dot(wm).max(0.0) * f(wo, wm.normalize())
        };
        2.0 * p * r * dr * (integrate(0.0, split, 1, along) + integrate(split, seen, 1, along))
    };
    // From ring to ring through the horizon, or that touches the cone of the kink.
    let to_ring = |angle: f64| if angle < FRAC_PI_2 { (angle.tan() / alpha).atan() } else { FRAC_PI_2 };
    let (theta, cone) = (mu.acos(), kink.acos());
    let mut ends = vec![0.0, (mu / (wo.x * alpha)).atan(), FRAC_PI_2];
    if kink < 1.0 {
        ends.extend([to_ring((theta - cone).abs()), to_ring(theta + cone)]);
        ends.sort_by(f64::total_cmp);
    }
    let panels = if kink < 1.0 { 4 } else { 6 };
    ends.windows(2).map(|ends| integrate(ends[0], ends[1], panels, ring)).sum::<f64>() / area
}

/// E(μ): albedo of single scattering by facets that reflect everything.
pub(crate) fn conductor(d: Distribution, alpha: f64, mu: f64) -> f64 {
    over_visible_normals(d, alpha, mu, 1.0, |wo, wm| {
        let visible = 1.0 + lambda(d, alpha, wo);
        let wi = 2.0 * wo.dot(wm) * wm - wo;
        if wi.z > 0.0 { visible / (visible + lambda(d, alpha, wi)) } else { 0.0 }
    })
}

/// E(μ) of a dielectric: reflected and, before the scaling of radiance, transmitted by single scattering.
pub(crate) fn dielectric(d: Distribution, alpha: f64, eta: f64, mu: f64) -> f64 {
    // Where total reflection begins.
    let critical = if eta < 1.0 { (1.0 - eta * eta).sqrt() } else { 1.0 };
    over_visible_normals(d, alpha, mu, critical, |wo, wm| {
        let visible = 1.0 + lambda(d, alpha, wo);
        let cos = wo.dot(wm);
        let r = reflectance(cos, eta);
        let up = 2.0 * cos * wm - wo;
        let reflected = if up.z > 0.0 { r * visible / (visible + lambda(d, alpha, up)) } else { 0.0 };
        let tangential = (cos * wm - wo) / eta;
        let sin2 = tangential.dot(tangential);
        if sin2 >= 1.0 {
            return reflected;
        }
        let down = tangential - (1.0 - sin2).sqrt() * wm;
        if down.z >= 0.0 {
            return reflected;
        }
        let seen = 1.0 + lambda(d, alpha, down);
        reflected + (1.0 - r) * visible * beta(visible, seen)
    })
}
