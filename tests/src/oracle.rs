//! Closed forms and quadrature in f64, written apart from the code under test.

use std::f64::consts::PI;

use glam::DVec3;

/// Irradiance at `p` with normal `n` from a polygon of radiance 1 that lies above the horizon: Lambert's formula,
/// ½ Σ γᵢ (Γᵢ · n) over the edges, γ the angle an edge is seen under and Γ the normal of its plane through `p`
/// (Lambert 1760; Baum, Rushmeier & Winget 1989, eq. 8).
pub fn irradiance_from_polygon(p: DVec3, n: DVec3, polygon: &[DVec3]) -> f64 {
    let edges = polygon.iter().zip(polygon.iter().cycle().skip(1));
    let sum: f64 = edges
        .map(|(a, b)| {
            let (a, b) = ((*a - p).normalize(), (*b - p).normalize());
            a.dot(b).clamp(-1.0, 1.0).acos() * a.cross(b).normalize().dot(n)
        })
        .sum();
    (0.5 * sum).abs()
}

/// Irradiance at `p` with normal `n` from a sphere of radiance 1 that lies wholly above the horizon:
/// π·(r/d)²·cos θ.
pub fn irradiance_from_sphere(p: DVec3, n: DVec3, center: DVec3, radius: f64) -> f64 {
    let to_center = center - p;
    PI * radius * radius / to_center.length_squared() * n.dot(to_center.normalize())
}

/// How masking and shadowing combine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum G2 {
    /// 1/(1 + Λo + Λi).
    Correlated,
    /// 1/((1 + Λo)(1 + Λi)).
    Separable,
}

/// Directional albedo of a GGX conductor that reflects everything (F = 1) at cosine `mu`, by quadrature of
/// ∫ D·G2/(4 cos θo cos θi) cos θi dωi, rewritten over microfacet slopes: with dωi = 4 (wo·wm) dωm and
/// D(wm) cos θm dωm = P22 dslope, it is the mean over slopes of G2·(wo·wm)/(cos θo cos θm). Slopes are integrated in
/// polar coordinates, r by the square root of the part that is steeper.
pub fn ggx_albedo(mu: f64, alpha: f64, g2: G2) -> f64 {
    let wo = DVec3::new((1.0 - mu * mu).sqrt(), 0.0, mu);
    let lambda = |w: DVec3| {
        let tan2 = (w.x * w.x + w.y * w.y) / (w.z * w.z);
        0.5 * ((1.0 + alpha * alpha * tan2).sqrt() - 1.0)
    };
    const N: usize = 1000;
    let mut sum = 0.0;
    for i in 0..N {
        // P(slope > r) = α²/(r² + α²) = q²: of what is nearly smooth, the few steep facets lose all that is lost.
        let q = (i as f64 + 0.5) / N as f64;
        let r = alpha * (1.0 - q * q).sqrt() / q;
        for j in 0..N {
            let phi = PI * (j as f64 + 0.5) / N as f64;
            let wm = DVec3::new(-r * phi.cos(), -r * phi.sin(), 1.0).normalize();
            let cos_om = wo.dot(wm);
            let wi = 2.0 * cos_om * wm - wo;
            if cos_om <= 0.0 || wi.z <= 0.0 {
                continue;
            }
            let g = match g2 {
                G2::Correlated => 1.0 / (1.0 + lambda(wo) + lambda(wi)),
                G2::Separable => 1.0 / ((1.0 + lambda(wo)) * (1.0 + lambda(wi))),
            };
            sum += 2.0 * q * g * cos_om / (wo.z * wm.z);
        }
    }
    sum / (N * N) as f64
}

/// Part of uniform radiance from below that a rough dielectric, of GGX and with separable masking, lets through to
/// cosine `mu`: ∫ f |cos θi| dωi over the lower side by quadrature, as in [`ggx_albedo`], over the slopes of facets that
/// refract, each of which transmits (1 − F)/η² (Walter et al. 2007, eq. 21; the scale is that of radiance).
pub fn ggx_transmission(mu: f64, alpha: f64, eta: f64) -> f64 {
    let wo = DVec3::new((1.0 - mu * mu).sqrt(), 0.0, mu);
    let g1 = |w: DVec3| {
        let tan2 = (w.x * w.x + w.y * w.y) / (w.z * w.z);
        2.0 / (1.0 + (1.0 + alpha * alpha * tan2).sqrt())
    };
    const N: usize = 1000;
    let mut sum = 0.0;
    for i in 0..N {
        // P(slope > r) = q²: steep facets count, since light passes below them.
        let q = (i as f64 + 0.5) / N as f64;
        let r = alpha * (1.0 - q * q).sqrt() / q;
        for j in 0..N {
            let phi = PI * (j as f64 + 0.5) / N as f64;
            let wm = DVec3::new(-r * phi.cos(), -r * phi.sin(), 1.0).normalize();
            let cos = wo.dot(wm);
            let cos2_t = 1.0 - (1.0 - cos * cos) / (eta * eta);
            if cos <= 0.0 || cos2_t <= 0.0 {
                continue;
            }
            let cos_t = cos2_t.sqrt();
            let wi = (cos / eta - cos_t) * wm - wo / eta;
            if wi.z >= 0.0 {
                continue;
            }
            let (s, p) =
                ((cos - eta * cos_t) / (cos + eta * cos_t), (eta * cos - cos_t) / (eta * cos + cos_t));
            let transmitted = 1.0 - 0.5 * (s * s + p * p);
            sum += 2.0 * q * transmitted * g1(wo) * g1(wi) * cos / (wo.z * wm.z);
        }
    }
    sum / (N * N) as f64 / (eta * eta)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn polygon_agrees_with_the_textbook_form_factor() {
        // Parallel rectangle, one corner above the point (Howell, catalog of configuration factors, B-3).
        let (a, b, c) = (0.7_f64, 1.3_f64, 0.9_f64);
        let (x, y) = (a / c, b / c);
        let (sx, sy) = ((1.0 + x * x).sqrt(), (1.0 + y * y).sqrt());
        let factor = (x / sx * (y / sx).atan() + y / sy * (x / sy).atan()) / (2.0 * PI);
        let polygon =
            [DVec3::new(0.0, c, 0.0), DVec3::new(a, c, 0.0), DVec3::new(a, c, b), DVec3::new(0.0, c, b)];
        let e = irradiance_from_polygon(DVec3::ZERO, DVec3::Y, &polygon);
        assert!((e / PI - factor).abs() < 1e-12, "{} {factor}", e / PI);
    }

    #[test]
    fn small_polygon_agrees_with_small_sphere() {
        let (center, s) = (DVec3::new(1.0, 2.0, 0.5), 1e-3);
        let frame = center.normalize();
        let t = frame.any_orthonormal_vector();
        let b = frame.cross(t);
        let square = [center + s * (t + b), center + s * (t - b), center - s * (t + b), center - s * (t - b)];
        let r = (4.0 * s * s / PI).sqrt();
        let (square, disk) = (
            irradiance_from_polygon(DVec3::ZERO, DVec3::Y, &square),
            irradiance_from_sphere(DVec3::ZERO, DVec3::Y, center, r),
        );
        assert!((square / disk - 1.0).abs() < 1e-5, "{square} {disk}");
    }

    #[test]
    fn smooth_conductor_loses_nothing() {
        assert!((ggx_albedo(0.8, 1e-3, G2::Correlated) - 1.0).abs() < 1e-5);
    }

    #[test]
    fn smooth_glass_transmits_what_it_does_not_reflect() {
        // At normal incidence, F = ((η − 1)/(η + 1))².
        for eta in [1.5, 1.0 / 1.5] {
            let expected = (1.0 - 0.04) / (eta * eta);
            assert!((ggx_transmission(1.0, 1e-3, eta) - expected).abs() < 1e-4);
        }
    }
}
