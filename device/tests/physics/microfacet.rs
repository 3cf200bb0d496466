//! The isotropic GGX distribution against Heitz 2014 in f64, from almost a mirror to the roughest.

use std::f64::consts::{FRAC_PI_2, PI};

use device::bsdf::microfacet::{Distribution, Masking, Microfacet};
use glam::{Vec2, Vec3};

use crate::common::ggx::{self, Cells};
use crate::common::statistics::{Grid, Verdicts, chi2_test};
use crate::common::vector::{DVec3, wide};
use crate::common::{Random, adversarial_u, in_plane, integrate, polar};

const ALPHAS: [f32; 6] = [1e-4, 1e-3, 0.02, 0.1, 0.5, 1.0];
/// Cosines of wo, from normal to grazing.
const COSINES: [f64; 5] = [1.0, 0.7, 0.2, 0.03, 1e-3];

const fn isotropic(alpha: f32, masking: Masking) -> Microfacet {
    Microfacet { alpha: Vec2::splat(alpha), distribution: Distribution::Ggx, masking }
}

const fn correlated(alpha: f32) -> Microfacet {
    isotropic(alpha, Masking::Correlated)
}

fn wo(z: f64) -> Vec3 {
    polar(z, 0.9).to_f32()
}

/// ∫ f(θ) dθ over [0, π/2] for f that vary around θ ≈ α, by θ = e^x and a split at `kink`.
fn over_polar_angle(alpha: f64, kink: f64, f: impl Fn(f64) -> f64) -> f64 {
    let part =
        |a: f64, b: f64| if a < b { integrate(a.ln(), b.ln(), 60, |x| f(x.exp()) * x.exp()) } else { 0.0 };
    let start = alpha * 1e-6;
    part(start, kink) + part(kink.max(start), FRAC_PI_2)
}

#[test]
fn projected_area_of_the_facets_is_that_of_the_surface() {
    for alpha in ALPHAS {
        let ggx = correlated(alpha);
        // D does not depend on the azimuth, which the next test varies.
        let total = over_polar_angle(alpha.into(), 0.0, |theta| {
            let wm = DVec3::new(theta.sin(), 0.0, theta.cos()).to_f32();
            2.0 * PI * f64::from(ggx.d(wm)) * theta.cos() * theta.sin()
        });
        assert!((total - 1.0).abs() < 1e-6, "alpha {alpha}: {total}");
    }
}

/// ∫ G1(wo) max(0, wo·wm) D(wm) dωm: the visible projected area, which must be cos θo (Heitz 2014, eq. 2).
fn visible_area(ggx: &Microfacet, wo: Vec3, g1: f64) -> f64 {
    let wide_wo = wide(wo);
    let sin_o = wide_wo.x.hypot(wide_wo.y);
    // In a frame where wo lies in the xz plane, wo·wm > 0 for |φ| < φmax, cos φmax = −cot θm cot θo.
    let kink = if sin_o > 0.0 { (sin_o / wide_wo.z).recip().atan() } else { FRAC_PI_2 };
    g1 * over_polar_angle(ggx.alpha.x.into(), kink, |theta| {
        let (s, c) = theta.sin_cos();
        let phi_max =
            if theta <= kink { PI } else { (-(c / s) * (wide_wo.z / sin_o)).clamp(-1.0, 1.0).acos() };
        let d = |phi: f64| f64::from(ggx.d(DVec3::new(s * phi.cos(), s * phi.sin(), c).to_f32()));
        let over_azimuth =
            integrate(0.0, phi_max, 2, |phi| (s * phi.cos() * sin_o + c * wide_wo.z).max(0.0) * d(phi));
        2.0 * over_azimuth * s
    })
}

#[test]
fn visible_area_of_the_facets_is_the_cosine() {
    for alpha in ALPHAS {
        for z in COSINES {
            let (ggx, wo) = (correlated(alpha), wo(z));
            let area = visible_area(&ggx, wo, ggx.g1(wo).into()) / f64::from(wo.z);
            assert!((area - 1.0).abs() < 2e-5, "alpha {alpha}, cos {z}: {area}");
        }
    }
}

#[test]
fn control_another_masking_function_changes_the_visible_area() {
    // Smith's Λ with the α of Schlick's approximation, k = α/2.
    for (alpha, z) in [(0.1, 0.2), (0.5, 0.7), (0.8, 0.03)] {
        let schlick = z / (z * (1.0 - 0.5 * alpha) + 0.5 * alpha);
        let area = visible_area(&correlated(alpha as f32), wo(z), schlick) / z;
        assert!((area - 1.0).abs() > 1e-3, "{alpha} {z}: {area}");
    }
}

#[test]
fn lambda_is_the_integral_it_is_defined_by() {
    for alpha in ALPHAS {
        for z in [0.999, 0.7, 0.2, 0.03, 1e-3] {
            let wo = wo(z);
            let cot = f64::from(wo.z) / f64::from(wo.x).hypot(wo.y.into());
            let expected = ggx::lambda_by_quadrature(cot, alpha.into());
            let computed = f64::from(correlated(alpha).lambda(wo));
            // √(1 + x) − 1 cancels for small x: what is left of it is compared with the 1 it is added to.
            assert!(
                (computed - expected).abs() < 3e-7 * (1.0 + expected),
                "{alpha} {z}: {computed} {expected}"
            );
        }
    }
}

#[test]
fn masking_combines_as_named() {
    let mut random = Random::new(1);
    for _ in 0..20_000 {
        let alpha = random.power_of_ten(-4.0, 0.0) as f32;
        let mut direction =
            || polar(random.power_of_ten(-3.0, 0.0), random.within(0.0, std::f64::consts::TAU)).to_f32();
        let (wo, wi) = (direction(), direction());
        for (masking, kind) in
            [(Masking::Correlated, ggx::G2::Correlated), (Masking::Separable, ggx::G2::Separable)]
        {
            let ggx = isotropic(alpha, masking);
            let expected = ggx::g2(wide(wo), wide(wi), alpha.into(), kind);
            let (g2, ratio) = (f64::from(ggx.g2(wo, wi)), f64::from(ggx.g2_over_g1(wo, wi) * ggx.g1(wo)));
            assert!(
                (g2 / expected - 1.0).abs() < 2e-6 && (ratio / expected - 1.0).abs() < 2e-6,
                "{masking:?}"
            );
            assert!((ggx.g2(wi, wo) / ggx.g2(wo, wi) - 1.0).abs() < 3e-7, "it is symmetric");
        }
        let separable = isotropic(alpha, Masking::Separable);
        assert!(
            correlated(alpha).g2(wo, wi) >= separable.g2(wo, wi) * 0.999_999,
            "correlation cannot darken"
        );
    }
}

/// Normals drawn from `wo`, all of them unit vectors, in cells.
fn histogram(cells: &Cells, n: usize, mut draw: impl FnMut(Vec2) -> Vec3) -> Vec<u64> {
    let (mut random, mut grid) = (Random::new(2), Grid::new(cells.size));
    for _ in 0..n {
        let [v, turn] = cells.place(wide(draw(random.vec2())));
        grid.add(v, turn);
    }
    grid.counts
}

fn is_visible_normals(ggx: &Microfacet, wo: Vec3, draw: impl FnMut(Vec2) -> Vec3) -> f64 {
    const N: usize = 200_000;
    let cells = Cells { alpha: ggx.alpha.x.into(), size: [16, 32] };
    let expected: Vec<f64> = cells.visible(wide(wo), 16, |_| 1.0).iter().map(|p| p * N as f64).collect();
    chi2_test(&histogram(&cells, N, draw), &expected)
}

#[test]
fn normals_are_drawn_with_the_density_of_the_visible_ones() {
    let mut verdicts = Verdicts::default();
    for alpha in ALPHAS {
        for z in COSINES {
            let (ggx, wo) = (correlated(alpha), wo(z));
            verdicts.add(
                is_visible_normals(&ggx, wo, |u| ggx.sample_wm(wo, u)),
                format!("alpha {alpha}, cos {z}"),
            );
        }
    }
    verdicts.assert_none_rejected();
}

#[test]
fn control_other_normals_are_rejected() {
    let mut verdicts = Verdicts::default();
    for (alpha, z) in [(1e-3, 0.7), (0.1, 0.2), (0.5, 0.03), (1.0, 1.0)] {
        let (ggx, wo) = (correlated(alpha), wo(z));
        let rougher = correlated(alpha * 1.04);
        verdicts.add(is_visible_normals(&ggx, wo, |u| rougher.sample_wm(wo, u)), "alpha off by 4 %");
        // Walter et al. 2007, eq. 35: by D cos θ, whatever is visible; nearly the same from above and for small α.
        let all = |u: Vec2| {
            let r = alpha * (u.x / (1.0 - u.x)).sqrt();
            let (s, c) = (std::f32::consts::TAU * u.y).sin_cos();
            Vec3::new(r * c, r * s, 1.0).normalize()
        };
        if z < 0.5 {
            verdicts.add(is_visible_normals(&ggx, wo, all), "all normals");
        }
    }
    verdicts.assert_all_rejected();
}

/// Around the normals that are drawn, the density must be right in every place, not only its integral over cells.
#[test]
fn density_of_normals_is_that_of_the_visible_ones() {
    let mut random = Random::new(3);
    for alpha in ALPHAS {
        for z in COSINES {
            let (ggx, wo) = (correlated(alpha), wo(z));
            for _ in 0..2000 {
                let wm = ggx.sample_wm(wo, random.vec2());
                let cos = wide(wo).dot(wide(wm));
                if cos < 1e-4 {
                    continue; // wo·wm cancels in f32
                }
                let expected = ggx::visible_normals(wide(wo), wide(wm), alpha.into());
                let relative = f64::from(ggx.pdf_wm(wo, wm)) / expected - 1.0;
                assert!(relative.abs() < 1e-5 + 2e-7 / cos, "alpha {alpha}, cos {z}: {relative} at {wm}");
            }
        }
    }
}

#[test]
fn normals_are_unit_and_visible_for_all_uniforms() {
    let mut random = Random::new(4);
    let us: Vec<Vec2> = adversarial_u().into_iter().chain((0..5000).map(|_| random.vec2())).collect();
    let mut wos: Vec<Vec3> =
        COSINES.iter().chain(&[1e-6, 1e-12]).flat_map(|&z| [in_plane(z, 1.0), wo(z)]).collect();
    wos.extend([Vec3::Z, in_plane(1e-3, -1.0), Vec3::new(0.0, -1.0, 1e-7)]);
    for alpha in ALPHAS {
        let ggx = correlated(alpha);
        for &wo in &wos {
            for &u in &us {
                let wm = ggx.sample_wm(wo, u);
                assert!(wm.is_finite() && (wide(wm).length() - 1.0).abs() < 3e-7, "{alpha} {wo} {u}: {wm}");
                // Towards the rim of the cap, where it meets −wo, the half vector cancels.
                let visible = wm.z >= 0.0 && wo.dot(wm) >= -1e-6;
                assert!(visible || u.y > 0.999, "{alpha} {wo} {u}: {wm} is not visible");
                assert!(ggx.pdf_wm(wo, wm).is_finite() && ggx.d(wm).is_finite(), "{alpha} {wo} {u}");
            }
        }
    }
}

#[test]
fn nothing_lies_below_the_surface() {
    let ggx = correlated(0.5);
    assert_eq!(ggx.d(Vec3::new(0.6, 0.0, -0.8)), 0.0);
    assert_eq!(ggx.d(Vec3::X), 0.0);
    assert_eq!(ggx.pdf_wm(in_plane(0.1, 1.0), in_plane(0.1, -1.0)), 0.0, "seen from behind");
}
