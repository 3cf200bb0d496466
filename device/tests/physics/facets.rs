//! Anisotropic GGX and Beckmann surfaces: every function and every way of drawing normals against quadrature of the
//! definitions in f64.

use device::bsdf::microfacet::{Distribution, Masking, Microfacet};
use glam::{Vec2, Vec3};

use crate::common::facets::{Cells, Facets};
use crate::common::statistics::{Grid, Verdicts, chi2_test};
use crate::common::vector::{DVec3, wide};
use crate::common::{Random, adversarial_u, integrate, polar};

const ALPHAS: [f32; 7] = [0.002, 0.01, 0.05, 0.1, 0.3, 0.7, 1.0];
/// α along x over that along y.
const ANISOTROPIES: [f32; 3] = [1.0, 4.0, 16.0];
/// Angles of wo in degrees, and azimuths off all axes.
const ANGLES: [(f64, f64); 6] = [(0.0, 0.0), (30.0, 0.4), (60.0, 2.0), (80.0, 4.0), (87.0, 5.9), (89.5, 1.2)];
const DISTRIBUTIONS: [Distribution; 2] = [Distribution::Ggx, Distribution::Beckmann];

fn surface(alpha: f32, anisotropy: f32, distribution: Distribution) -> Microfacet {
    let masking = Masking::Correlated;
    Microfacet { alpha: Vec2::new(alpha, alpha / anisotropy), distribution, masking }
}

fn surfaces(distribution: Distribution) -> impl Iterator<Item = Microfacet> {
    ALPHAS.into_iter().flat_map(move |alpha| ANISOTROPIES.map(|a| surface(alpha, a, distribution)))
}

fn all_surfaces() -> impl Iterator<Item = Microfacet> {
    DISTRIBUTIONS.into_iter().flat_map(surfaces)
}

/// All surfaces from all angles; in the fast tier, each from some.
fn views() -> impl Iterator<Item = (Microfacet, (f64, f64))> {
    all_surfaces().enumerate().flat_map(|(i, surface)| {
        let angles = ANGLES.into_iter().enumerate().filter(move |(j, _)| tier::takes(i + j, 3));
        angles.map(move |(_, angle)| (surface, angle))
    })
}

fn oracle(surface: &Microfacet) -> Facets {
    let alpha = surface.alpha.to_array().map(f64::from);
    Facets { alpha, distribution: surface.distribution }
}

fn wo((degrees, azimuth): (f64, f64)) -> Vec3 {
    polar(degrees.to_radians().cos(), azimuth).to_f32()
}

fn name(surface: &Microfacet, angle: (f64, f64)) -> String {
    format!("{:?} {:?} at {}°", surface.distribution, surface.alpha, angle.0)
}

fn reflected(wo: DVec3, wm: DVec3) -> DVec3 {
    2.0 * wo.dot(wm) * wm - wo
}

#[test]
fn facets_add_up_to_the_surface() {
    for surface in all_surfaces() {
        let d = |wm: DVec3| f64::from(surface.d(wm.to_f32())) * wm.z;
        let all = |wm: DVec3| f64::from(surface.pdf_wm_all(wm.to_f32()));
        for total in [oracle(&surface).integral(None, d), oracle(&surface).integral(None, all)] {
            assert!((total - 1.0).abs() < 1e-5, "{surface:?}: {total}");
        }
    }
}

/// ∫ G1(wo) max(0, wo·wm) D(wm) dωm = cos θo (Heitz 2014, eq. 2), which is the visible normals adding up to one.
#[test]
fn visible_facets_add_up_to_one() {
    let mut worst: f64 = 0.0;
    for surface in all_surfaces() {
        for angle in ANGLES {
            let wo = wo(angle);
            let pdf = |wm: DVec3| f64::from(surface.pdf_wm(wo, wm.to_f32()));
            let total = oracle(&surface).integral(Some(wide(wo)), pdf);
            worst = worst.max((total - 1.0).abs());
            assert!((total - 1.0).abs() < 1e-4, "{}: {total}", name(&surface, angle));
        }
    }
    println!("visible normals add up to one within {worst:e}");
}

/// The weak white furnace (Heitz 2014): a surface that reflects all light it does not shadow.
#[test]
fn weak_white_furnace() {
    for surface in all_surfaces() {
        for angle in ANGLES {
            let wo = wo(angle);
            let scale = f64::from(surface.g1(wo)) / (4.0 * f64::from(wo.z));
            // G1·D / (4 cos θo) over all wi, below the surface too; dωi = 4 wo·wm dωm.
            let f = |wm: DVec3| scale * f64::from(surface.d(wm.to_f32())) * 4.0 * wide(wo).dot(wm);
            let total = oracle(&surface).integral(Some(wide(wo)), f);
            assert!((total - 1.0).abs() < 1e-4, "{}: {total}", name(&surface, angle));
        }
    }
}

#[test]
fn control_other_masking_breaks_the_furnace() {
    for distribution in DISTRIBUTIONS {
        let (surface, wo) = (surface(0.7, 4.0, distribution), wo((80.0, 0.4)));
        let other = Microfacet { alpha: Vec2::new(surface.alpha.y, surface.alpha.x), ..surface };
        let another =
            if distribution == Distribution::Ggx { Distribution::Beckmann } else { Distribution::Ggx };
        for wrong in [other.g1(wo), Microfacet { distribution: another, ..surface }.g1(wo), 1.0] {
            let f = |wm: DVec3| f64::from(surface.d(wm.to_f32())) * wide(wo).dot(wm) / f64::from(wo.z);
            let total = f64::from(wrong) * oracle(&surface).integral(Some(wide(wo)), f);
            assert!((total - 1.0).abs() > 1e-2, "{distribution:?} {wrong}: {total}");
        }
    }
}

#[test]
fn lambda_is_the_integral_it_is_defined_by() {
    for surface in all_surfaces() {
        for angle in ANGLES {
            for wo in [wo(angle), -wo(angle)] {
                let (computed, expected) = (f64::from(surface.lambda(wo)), oracle(&surface).lambda(wide(wo)));
                let error = (computed - expected).abs() / (1.0 + expected);
                assert!(error < 1e-6, "{}: {computed} {expected}", name(&surface, angle));
            }
        }
    }
}

/// Directions on opposite sides: ∫ c^Λo (1 − c)^Λi dc over the heights of facets, here by c = t²(3 − 2t).
#[test]
fn masking_from_both_sides_is_the_integral_over_heights() {
    for surface in all_surfaces() {
        for (a, b) in [(0, 1), (1, 2), (2, 3), (3, 2), (2, 2), (4, 1)] {
            let (wo, wi) = (wo(ANGLES[a]), -wo(ANGLES[b]));
            let (o, i) = (oracle(&surface).lambda(wide(wo)), oracle(&surface).lambda(wide(wi)));
            let expected = integrate(0.0, 1.0, 64, |t| {
                let c = t * t * (3.0 - 2.0 * t);
                6.0 * t * (1.0 - t) * c.powf(o) * (1.0 - c).powf(i)
            });
            let g2 = f64::from(surface.g2_transmitted(wo, wi));
            assert!((g2 - expected).abs() < 1e-5 * expected, "{surface:?} {wo} {wi}: {g2} {expected}");
            let separable = Microfacet { masking: Masking::Separable, ..surface };
            let product = f64::from(separable.g2_transmitted(wo, wi));
            assert!((product * (1.0 + o) * (1.0 + i) - 1.0).abs() < 5e-6, "{surface:?}");
            assert!(g2 <= product * 1.00001, "what is high is hidden from below");
            for surface in [surface, separable] {
                let ratio = surface.g2_transmitted_over_g1(wo, wi) * surface.g1(wo);
                let relative = ratio / surface.g2_transmitted(wo, wi) - 1.0;
                assert!(relative.abs() < 1e-6, "{surface:?} {wo} {wi}: {relative}");
            }
        }
    }
}

/// Counts in cells of `n` draws, some of which may come to nothing; other random numbers for every surface and `seed`.
fn histogram(cells: &Cells, n: usize, seed: u64, mut draw: impl FnMut(Vec2) -> Option<Vec3>) -> Vec<u64> {
    let [x, y] = cells.facets.alpha.map(f64::to_bits);
    let (mut random, mut grid) = (Random::new(seed ^ x ^ y.rotate_left(21)), Grid::new(cells.size));
    for wm in (0..n).filter_map(|_| draw(random.vec2())) {
        let [v, turn] = cells.place(wide(wm));
        grid.add(v, turn);
    }
    grid.counts
}

/// P-value of draws under the density D(wm) cos θm `f`(wm / cos θm); 0 if as many come to nothing as should not.
fn p_value(
    facets: Facets,
    sub: [usize; 2],
    f: impl Fn(DVec3) -> f64,
    draw: impl FnMut(Vec2) -> Option<Vec3>,
) -> f64 {
    const N: usize = 60_000;
    let cells = Cells { facets, size: [12, 24] };
    let mut expected = cells.integrals(sub, f);
    let total = expected.iter().sum::<f64>();
    let seed = total.to_bits() ^ expected[5].to_bits().rotate_left(42);
    let counts = histogram(&cells, N, seed, draw);
    let drawn = counts.iter().sum::<u64>() as f64;
    // What is drawn in vain is a coin toss: five standard deviations, and the error of quadrature where an edge runs
    // along the cells, as it does from above.
    let sigma = (total * (1.0 - total).max(0.0) / N as f64).sqrt();
    if (drawn / N as f64 - total).abs() > 5.0 * sigma + 2e-3 {
        return 0.0;
    }
    expected.iter_mut().for_each(|p| *p *= drawn / total);
    chi2_test(&counts, &expected)
}

/// Points a cell, for densities without an edge.
const SMOOTH: [usize; 2] = [12, 12];

fn p_of_all(surface: &Microfacet, draw: impl Fn(Vec2) -> Vec3) -> f64 {
    p_value(oracle(surface), SMOOTH, |_| 1.0, |u| Some(draw(u)))
}

fn visible_over_all(surface: &Microfacet, wo: Vec3) -> impl Fn(DVec3) -> f64 {
    let (wo, g1) = (wide(wo), 1.0 / (1.0 + oracle(surface).lambda(wide(wo))));
    move |wm| g1 * wo.dot(wm).max(0.0) / wo.z
}

fn p_of_visible(surface: &Microfacet, wo: Vec3, draw: impl Fn(Vec2) -> Vec3) -> f64 {
    p_value(oracle(surface), SMOOTH, visible_over_all(surface, wo), |u| Some(draw(u)))
}

/// Reflections above the surface against the density over solid angle that is `claimed` for them; those below may only
/// be as many as it leaves.
fn p_of_reflecting(
    surface: &Microfacet,
    wo: Vec3,
    claimed: impl Fn(Vec3) -> f32,
    draw: impl Fn(Vec2) -> Vec3,
) -> f64 {
    let (o, facets) = (wide(wo), oracle(surface));
    let above = |wm: DVec3| reflected(o, wm.normalize()).z > 0.0;
    // In units of D cos θm, with dωi = 4 wo·wm dωm.
    let f = |wm: DVec3| {
        let (unit, cos) = (wm.normalize(), o.dot(wm));
        if cos > 0.0 && above(wm) {
            f64::from(claimed(unit.to_f32())) / facets.d(unit) * 4.0 * cos
        } else {
            0.0
        }
    };
    p_value(facets, [32, 24], f, |u| Some(draw(u)).filter(|wm| above(wide(*wm))))
}

#[test]
fn normals_of_all_kinds_are_drawn_by_projected_area() {
    let mut verdicts = Verdicts::default();
    for surface in all_surfaces() {
        verdicts.add(p_of_all(&surface, |u| surface.sample_wm_all(u)), format!("{surface:?}"));
    }
    verdicts.report("all normals");
    verdicts.assert_none_rejected();
}

fn visible_normals_are_drawn(distribution: Distribution) {
    let mut verdicts = Verdicts::default();
    for surface in surfaces(distribution) {
        for angle in ANGLES {
            let wo = wo(angle);
            verdicts.add(p_of_visible(&surface, wo, |u| surface.sample_wm(wo, u)), name(&surface, angle));
        }
    }
    verdicts.report(&format!("visible normals of {distribution:?}"));
    verdicts.assert_none_rejected();
}

#[test]
fn visible_normals_of_ggx_are_drawn_with_their_density() {
    visible_normals_are_drawn(Distribution::Ggx);
}

#[test]
fn visible_normals_of_beckmann_are_drawn_with_their_density() {
    visible_normals_are_drawn(Distribution::Beckmann);
}

#[test]
fn reflections_are_drawn_with_their_density() {
    let mut verdicts = Verdicts::default();
    for (surface, angle) in views() {
        let wo = wo(angle);
        let p = p_of_reflecting(
            &surface,
            wo,
            |wm| surface.pdf_reflected(wo, wm),
            |u| surface.sample_wm_reflecting(wo, u),
        );
        verdicts.add(p, name(&surface, angle));
    }
    verdicts.report("reflections");
    verdicts.assert_none_rejected();
}

/// The likeliest mistakes in a density or in a sampling routine, each where it shows.
#[test]
fn control_mistakes_are_rejected() {
    let mut verdicts = Verdicts::default();
    for distribution in DISTRIBUTIONS {
        for alpha in ALPHAS {
            let surface = surface(alpha, 4.0, distribution);
            let swapped = Microfacet { alpha: Vec2::new(surface.alpha.y, surface.alpha.x), ..surface };
            let wo = wo((60.0, 0.4));
            let name = |what: &str| format!("{what}, {distribution:?}, alpha {alpha}");
            verdicts.add(p_of_all(&surface, |u| swapped.sample_wm_all(u)), name("all, swapped"));
            verdicts.add(p_of_visible(&surface, wo, |u| swapped.sample_wm(wo, u)), name("visible, swapped"));
            let other = Microfacet { alpha: surface.alpha * 1.05, ..surface };
            verdicts
                .add(p_of_visible(&surface, wo, |u| other.sample_wm(wo, u)), name("visible, 5 % rougher"));
        }
        for alpha in [0.3, 0.7, 1.0] {
            let (surface, wo) = (surface(alpha, 1.0, distribution), wo((80.0, 2.0)));
            let name = |what: &str| format!("{what}, {distribution:?}, alpha {alpha}");
            let draw = |u: Vec2| Some(surface.sample_wm(wo, u));
            let visible = visible_over_all(&surface, wo);
            // wm / cos θm has the length 1 / cos θm; slopes have a density of D cos³ θm · cos θm.
            let slopes = |wm: DVec3| visible(wm) / wm.length().powi(3);
            verdicts.add(p_value(oracle(&surface), SMOOTH, slopes, draw), name("Jacobian of slopes missing"));
            let projected = |wm: DVec3| wide(wo).dot(wm).max(0.0) / f64::from(wo.z);
            verdicts.add(p_value(oracle(&surface), SMOOTH, projected, draw), name("not renormalised"));
            verdicts
                .add(p_of_visible(&surface, wo, |u| surface.sample_wm_all(u)), name("not only the visible"));
            let unreflected = |wm| surface.pdf_reflected(wo, wm) * 4.0 * wo.dot(wm);
            let draw = |u| surface.sample_wm_reflecting(wo, u);
            verdicts.add(
                p_of_reflecting(&surface, wo, unreflected, draw),
                name("Jacobian of reflection missing"),
            );
        }
    }
    for (alpha, degrees) in [(0.3, 60.0), (0.7, 60.0), (0.7, 80.0), (1.0, 30.0)] {
        let (surface, wo) = (surface(alpha, 1.0, Distribution::Ggx), wo((degrees, 0.4)));
        let p =
            p_of_reflecting(&surface, wo, |wm| surface.pdf_reflected(wo, wm), |u| surface.sample_wm(wo, u));
        verdicts.add(p, format!("not bounded, alpha {alpha} at {degrees}°"));
    }
    verdicts.report_largest("controls");
    verdicts.assert_all_rejected();
}

/// Around the normals that are drawn, the density must be right in every place, not only its integral over cells.
#[test]
fn densities_are_right_in_every_place() {
    let mut random = Random::new(3);
    for surface in all_surfaces() {
        for angle in ANGLES {
            let (wo, facets) = (wo(angle), oracle(&surface));
            let visible = 1.0 / (f64::from(wo.z) * (1.0 + facets.lambda(wide(wo))));
            for _ in 0..200 {
                let wm = surface.sample_wm(wo, random.vec2());
                let cos = wide(wo).dot(wide(wm));
                if cos < 1e-4 {
                    continue; // wo·wm cancels in f32
                }
                let d = facets.d(wide(wm));
                let tolerance = 2e-5 + 2e-7 / cos;
                let relative = f64::from(surface.pdf_wm(wo, wm)) / (d * cos * visible) - 1.0;
                assert!(relative.abs() < tolerance, "{}: {relative:e} at {wm}", name(&surface, angle));
                let relative = f64::from(surface.pdf_wm_all(wm)) / (d * f64::from(wm.z)) - 1.0;
                assert!(relative.abs() < tolerance, "{}: {relative:e} at {wm}", name(&surface, angle));
            }
        }
    }
}

/// The bound loses no reflection above the surface, and no density: it is never less than that of visible normals.
#[test]
fn bounded_caps_waste_less() {
    for surface in surfaces(Distribution::Ggx) {
        for angle in ANGLES {
            let (wo, mut random, mut wasted) = (wo(angle), Random::new(4), [0, 0]);
            for _ in 0..2000 {
                let u = random.vec2();
                let wm = [surface.sample_wm(wo, u), surface.sample_wm_reflecting(wo, u)];
                for k in 0..2 {
                    wasted[k] += u32::from(reflected(wide(wo), wide(wm[k])).z <= 0.0);
                }
                let visible = surface.d(wm[1]) * surface.g1(wo) / (4.0 * wo.z);
                assert!(surface.pdf_reflected(wo, wm[1]) >= visible * 0.99999, "{}", name(&surface, angle));
            }
            assert!(wasted[1] <= wasted[0], "{}: {wasted:?}", name(&surface, angle));
        }
    }
}

#[test]
fn normals_are_unit_and_visible_for_all_uniforms() {
    let mut random = Random::new(5);
    let us: Vec<Vec2> = adversarial_u().into_iter().chain((0..300).map(|_| random.vec2())).collect();
    let grazing = [1e-3, 1e-6, 1e-12].map(|z| polar(z, 0.9).to_f32());
    let wos: Vec<Vec3> = ANGLES.map(wo).into_iter().chain(grazing).chain([Vec3::X, -Vec3::Y]).collect();
    let smooth = DISTRIBUTIONS.map(|d| surface(1e-4, 1.0, d));
    for surface in all_surfaces().chain(smooth) {
        for &wo in wos.iter().filter(|wo| wo.z > 0.0) {
            for &u in &us {
                let normals =
                    [surface.sample_wm(wo, u), surface.sample_wm_reflecting(wo, u), surface.sample_wm_all(u)];
                for (k, wm) in normals.into_iter().enumerate() {
                    let unit = wm.is_finite() && (wide(wm).length() - 1.0).abs() < 3e-7;
                    assert!(unit && wm.z >= 0.0, "{surface:?} {wo} {u}: {wm} of {k}");
                    // Towards the rim of the cap, where it meets −wo, the half vector cancels.
                    let visible = wide(wo).dot(wide(wm)) >= -1e-6;
                    assert!(visible || u.y > 0.999 || k == 2, "{surface:?} {wo} {u}: {wm} of {k}");
                    let pdfs =
                        [surface.pdf_wm(wo, wm), surface.pdf_reflected(wo, wm), surface.pdf_wm_all(wm)];
                    assert!(
                        pdfs.into_iter().all(|p| p.is_finite() && p >= 0.0),
                        "{surface:?} {wo} {u}: {pdfs:?}"
                    );
                }
            }
        }
    }
}
