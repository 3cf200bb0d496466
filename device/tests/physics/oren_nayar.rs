//! Energy-preserving Oren–Nayar reflection against its definition in f64, in which albedos are integrals and not
//! formulas: Portsmouth, Kutz & Hill 2025.

use std::f64::consts::{FRAC_1_PI, FRAC_PI_2, PI, TAU};

use device::bsdf::{BsdfSample, Diffuse, Lobe, OrenNayar};
use glam::Vec3;

use crate::common::lobes::{
    assert_reciprocal_and_zero_below, assert_samples_are_finite, extreme_wos, samples,
};
use crate::common::statistics::{Grid, Verdicts, chi2_test};
use crate::common::vector::{DVec3, wide};
use crate::common::{Random, integrate, polar, turn};

const ROUGHNESS: [f32; 6] = [0.0, 0.05, 0.1, 0.3, 0.7, 1.0];
/// Angles of wo to the normal in degrees.
const ANGLES: [f64; 8] = [0.0, 20.0, 45.0, 60.0, 75.0, 85.0, 89.0, 89.5];
const PAINT: Vec3 = Vec3::new(0.9, 0.5, 0.1);

fn wo(degrees: f64) -> Vec3 {
    polar(degrees.to_radians().cos(), 0.9).to_f32()
}

fn lobe(reflectance: Vec3, roughness: f32) -> OrenNayar {
    OrenNayar { reflectance, roughness }
}

/// Deliberate mistakes in an oracle.
#[derive(Clone, Copy, PartialEq)]
enum Mistake {
    None,
    /// The qualitative model of Oren & Nayar, without Fujii's change for s < 0.
    Unchanged,
    /// Without the compensation of lost energy.
    Once,
    /// All that is scattered more than once has the colour ρ.
    Colour,
}

/// 1/(1 + (½ − 2/3π) r)
fn a(r: f64) -> f64 {
    1.0 / (1.0 + (0.5 - 2.0 / (3.0 * PI)) * r)
}

/// s/t of FON.
fn s_over_t(wo: DVec3, wi: DVec3, mistake: Mistake) -> f64 {
    let s = wo.dot(wi) - wo.z * wi.z;
    if s > 0.0 {
        s / wo.z.max(wi.z)
    } else if mistake == Mistake::Unchanged {
        0.0
    } else {
        s
    }
}

/// ∫ f(wi) cos θi dωi over the hemisphere for a `wo` in the xz plane, split where s/t has its kinks.
fn projected(wo: DVec3, mut f: impl FnMut(DVec3) -> f64) -> f64 {
    let mut ring = |theta: f64| {
        let mut at = |phi: f64| f(DVec3::new(theta.sin() * phi.cos(), theta.sin() * phi.sin(), theta.cos()));
        let half = integrate(0.0, FRAC_PI_2, 1, &mut at) + integrate(FRAC_PI_2, PI, 1, &mut at);
        2.0 * half * theta.sin() * theta.cos()
    };
    let split = wo.z.acos();
    integrate(0.0, split, 2, &mut ring) + integrate(split, FRAC_PI_2, 2, &mut ring)
}

fn in_xz(cos: f64) -> DVec3 {
    polar(cos, 0.0)
}

/// Directional albedo of FON at ρ = 1.
fn fon_albedo(cos: f64, r: f64, mistake: Mistake) -> f64 {
    let wo = in_xz(cos);
    projected(wo, |wi| FRAC_1_PI * a(r) * (1.0 + r * s_over_t(wo, wi, mistake)))
}

/// ⟨E⟩ = 2 ∫ E cos θ d(cos θ)
fn fon_mean(r: f64, mistake: Mistake) -> f64 {
    integrate(0.0, FRAC_PI_2, 1, |t| 2.0 * t.sin() * t.cos() * fon_albedo(t.cos(), r, mistake))
}

/// f for a ρ, given ⟨E⟩.
fn eon(wo: DVec3, wi: DVec3, rho: f64, r: f64, mean: f64, mistake: Mistake) -> f64 {
    let once = rho * FRAC_1_PI * a(r) * (1.0 + r * s_over_t(wo, wi, mistake));
    let multiple = match mistake {
        Mistake::Once => 0.0,
        Mistake::Colour => rho,
        _ => rho * rho * mean / (1.0 - rho * (1.0 - mean)),
    };
    let lost = |w: DVec3| 1.0 - fon_albedo(w.z, r, mistake);
    let more = if r == 0.0 { 0.0 } else { lost(wo) * lost(wi) / (1.0 - mean) };
    once + multiple * FRAC_1_PI * more
}

/// Largest error of f relative to the definition, or to a hundredth of ρ/π where that is more.
fn worst_value(mistake: Mistake) -> f64 {
    let mut random = Random::new(22);
    let mut worst: f64 = 0.0;
    for r in ROUGHNESS {
        let mean = fon_mean(r.into(), mistake);
        for _ in 0..40 {
            let mut direction = || polar(random.power_of_ten(-2.5, 0.0), random.within(0.0, TAU)).to_f32();
            let (o, i) = (direction(), direction());
            let f = lobe(PAINT, r).eval(o, i);
            for channel in 0..3 {
                let rho = f64::from(PAINT[channel]);
                let expected = eon(wide(o), wide(i), rho, r.into(), mean, mistake);
                let of = expected.max(0.01 * rho * FRAC_1_PI);
                worst = worst.max((f64::from(f[channel]) - expected).abs() / of);
            }
        }
    }
    worst
}

#[test]
fn values_are_those_of_the_definition() {
    let worst = worst_value(Mistake::None);
    println!("f: largest relative error {worst:.1e}");
    assert!(worst < 2e-5, "{worst:e}");
}

#[test]
fn control_mistakes_are_rejected() {
    for mistake in [Mistake::Unchanged, Mistake::Once, Mistake::Colour] {
        assert!(worst_value(mistake) > 0.01);
    }
}

/// 16 cosines from 0.005 to 1 and as many roughnesses from 0 to 1.
fn grid() -> impl Iterator<Item = (f64, f32)> {
    (0..256).map(|k| (0.005 + 0.995 * f64::from(k / 16) / 15.0, (k % 16) as f32 / 15.0))
}

/// Directional albedo of a lobe's f by quadrature.
fn albedo(lobe: &impl Lobe, cos: f64, channel: usize) -> f64 {
    let wo = in_xz(cos);
    projected(wo, |wi| f64::from(lobe.eval(wo.to_f32(), wi.to_f32())[channel]))
}

#[test]
fn white_surfaces_reflect_all_light() {
    let mut worst: f64 = 0.0;
    for (cos, r) in grid() {
        let white = lobe(Vec3::ONE, r);
        let (reflected, stated) = (albedo(&white, cos, 0), f64::from(white.albedo(cos as f32).x));
        worst = worst.max((reflected - 1.0).abs()).max((stated - 1.0).abs());
    }
    println!("white albedo: largest error {worst:.1e}");
    assert!(worst < 2e-6, "{worst:e}");
}

#[test]
fn control_other_models_lose_light() {
    let wo = in_xz(0.5);
    let mean = fon_mean(1.0, Mistake::Once);
    let of = |mistake| projected(wo, |wi| eon(wo, wi, 1.0, 1.0, mean, mistake));
    assert!(of(Mistake::Once) < 0.95 && (of(Mistake::None) - 1.0).abs() < 1e-6);
}

#[test]
fn albedos_are_those_of_quadrature() {
    let mut worst: f64 = 0.0;
    for (cos, r) in grid() {
        let paint = lobe(PAINT, r);
        for channel in 0..3 {
            let (reflected, stated) =
                (albedo(&paint, cos, channel), f64::from(paint.albedo(cos as f32)[channel]));
            worst = worst.max((reflected - stated).abs());
            // No colour gains from roughness.
            assert!(reflected <= f64::from(PAINT[channel]) + 1e-6, "{cos} {r}: {reflected}");
        }
    }
    println!("albedo: largest error {worst:.1e}");
    assert!(worst < 2e-6, "{worst:e}");
    let other = f64::from(lobe(PAINT, 0.9).albedo(0.5).x);
    assert!((albedo(&lobe(PAINT, 1.0), 0.5, 0) - other).abs() > 1e-4, "control: another roughness");
}

#[test]
fn without_roughness_it_is_lambertian() {
    let (smooth, lambert) = (lobe(PAINT, 0.0), Diffuse { reflectance: PAINT });
    for angle in ANGLES {
        for s in samples(&smooth, wo(angle), 1000, 21).flatten() {
            let ((f, pdf), (expected, cosine)) =
                (smooth.eval_pdf(wo(angle), s.wi), lambert.eval_pdf(wo(angle), s.wi));
            assert!((f - expected).abs().max_element() == 0.0, "{f} {expected}");
            assert!((pdf - cosine).abs() < 1e-6 * cosine && (s.weight - PAINT).abs().max_element() < 1e-6);
        }
    }
}

/// The paper's density: cosines transformed by M, clipped and normalised, with uniform directions.
struct Density {
    matrix: [DVec3; 3],
    inverse: [DVec3; 3],
    determinant: f64,
    kept: f64,
    uniform: f64,
    wo: DVec3,
}

impl Density {
    fn new(wo: DVec3, r: f64) -> Self {
        let z = wo.z.min(1.0);
        let a = 1.0 + r * (0.303392 - 0.518982 * z + 0.111709 * z * z + (0.335918 * z - 0.276266) * r);
        let b = r * (1.15859 * z - 1.16407 + (0.150815 - 0.150105 * z) * r) / (z.powi(3) - 1.43545);
        let c = 1.0 + r * (0.20013 - 0.506373 * z + 0.261777 * z * z);
        let d = (r * (0.540852 - 1.01625 * z + 0.475392 * z * z) / (z * z + 0.0725628 * z - 1.0743)).min(0.0);
        let matrix = [DVec3::new(a, 0.0, b), DVec3::new(0.0, c, 0.0), DVec3::new(d, 0.0, 1.0)];
        let determinant = matrix[0].dot(matrix[1].cross(matrix[2]));
        // Columns of the inverse are cross products of the rows.
        let [p, q, s] = [(1, 2), (2, 0), (0, 1)].map(|(j, k)| matrix[j].cross(matrix[k]) / determinant);
        let inverse = [DVec3::new(p.x, q.x, s.x), DVec3::new(p.y, q.y, s.y), DVec3::new(p.z, q.z, s.z)];
        // Part of the cosine-distributed directions that stay above: all with x < 0, and those up to tan θ cos φ = −1/d.
        let kept =
            0.5 + integrate(-FRAC_PI_2, FRAC_PI_2, 4, |phi| 1.0 / (1.0 + (d * phi.cos()).powi(2))) / TAU;
        let uniform = r.powf(0.1) * (0.162925 + z * (-0.372058 + z * (0.538233 - 0.290822 * z)));
        Self { matrix, inverse, determinant, kept, uniform, wo }
    }

    fn pdf(&self, wi: DVec3) -> f64 {
        let length = self.wo.x.hypot(self.wo.y);
        let (c, s) = if length > 0.0 { (self.wo.x / length, self.wo.y / length) } else { (1.0, 0.0) };
        let turned = DVec3::new(c * wi.x + s * wi.y, c * wi.y - s * wi.x, wi.z);
        let before =
            DVec3::new(self.inverse[0].dot(turned), self.inverse[1].dot(turned), self.inverse[2].dot(turned));
        let length = before.length();
        let back = self.matrix[0].dot(before);
        assert!((back - turned.x).abs() < 1e-9, "the inverse is one");
        let cosine = (before.z / length).max(0.0) * FRAC_1_PI;
        let transformed = cosine / (self.determinant * length.powi(3) * self.kept);
        self.uniform / TAU + (1.0 - self.uniform) * transformed
    }
}

#[test]
fn densities_are_those_of_the_paper() {
    let mut worst: f64 = 0.0;
    for r in ROUGHNESS {
        for angle in ANGLES {
            let (lobe, o) = (lobe(PAINT, r), wo(angle));
            let density = Density::new(wide(o), r.into());
            for s in samples(&lobe, o, 500, 21).flatten() {
                let expected = density.pdf(wide(s.wi));
                worst = worst.max((f64::from(lobe.pdf(o, s.wi)) / expected - 1.0).abs());
            }
        }
    }
    println!("pdf: largest relative error {worst:.1e}");
    assert!(worst < 1e-4, "{worst:e}");
}

/// P-value of the directions drawn by a lobe from `from`, in cells of equal area.
fn directions(r: f32, drawn_by: &OrenNayar, of: Vec3, from: Vec3) -> f64 {
    const N: usize = 100_000;
    const SUB: usize = 6;
    let size = [16, 32];
    let mut cells = Grid::new(size);
    for s in samples(drawn_by, from, N, 21).flatten() {
        cells.add(s.wi.z.into(), turn(s.wi.x.into(), s.wi.y.into()));
    }
    let density = Density::new(wide(of), r.into());
    let at = |i: usize, s: usize, n: usize| (i as f64 + (s as f64 + 0.5) / SUB as f64) / n as f64;
    let area = TAU / (size[0] * size[1] * SUB * SUB) as f64;
    let cell = |k: usize| {
        let points = (0..SUB * SUB).map(|s| {
            density.pdf(polar(at(k / size[1], s / SUB, size[0]), TAU * at(k % size[1], s % SUB, size[1])))
        });
        N as f64 * area * points.sum::<f64>()
    };
    let expected: Vec<f64> = (0..size[0] * size[1]).map(cell).collect();
    let (sum, drawn) = (expected.iter().sum::<f64>(), cells.counts.iter().sum::<u64>());
    assert!((sum / N as f64 - 1.0).abs() < 1e-3, "{r}: the density adds up to {sum}");
    assert!(N as u64 - drawn < 5, "{drawn}");
    chi2_test(&cells.counts, &expected)
}

#[test]
fn directions_are_drawn_with_their_density() {
    let mut verdicts = Verdicts::default();
    for r in ROUGHNESS {
        for angle in ANGLES {
            let p = directions(r, &lobe(PAINT, r), wo(angle), wo(angle));
            verdicts.add(p, format!("roughness {r}, {angle}°"));
        }
    }
    verdicts.report("directions");
    verdicts.assert_none_rejected();
}

#[test]
fn control_other_densities_are_rejected() {
    let mut verdicts = Verdicts::default();
    for (r, angle) in [(0.3, 60.0), (0.7, 75.0), (1.0, 89.5)] {
        let turned = |w: Vec3| Vec3::new(-w.x, -w.y, w.z);
        verdicts.add(directions(r, &lobe(PAINT, 0.7 * r), wo(angle), wo(angle)), format!("{r}: smoother"));
        verdicts
            .add(directions(r, &lobe(PAINT, r), turned(wo(angle)), wo(angle)), format!("{r}: other side"));
    }
    verdicts.report_largest("controls");
    verdicts.assert_all_rejected();
}

/// Largest relative error of `weight` against f·cos/pdf.
fn worst_weight(weight: impl Fn(&BsdfSample) -> Vec3) -> f64 {
    let mut worst: f64 = 0.0;
    for r in ROUGHNESS {
        for angle in ANGLES {
            let lobe = lobe(PAINT, r);
            for s in samples(&lobe, wo(angle), 500, 21).flatten() {
                let (f, pdf) = lobe.eval_pdf(wo(angle), s.wi);
                let error = (weight(&s) * pdf / (f * s.wi.z) - 1.0).abs().max_element();
                worst = worst.max(f64::from(error)).max(f64::from((s.pdf / pdf - 1.0).abs()));
            }
        }
    }
    worst
}

#[test]
fn weights_are_f_cos_over_pdf() {
    let worst = worst_weight(|s| s.weight);
    assert!(worst < 1e-5, "{worst:e}");
    assert!(worst_weight(|s| s.weight * 1.001) > 5e-4, "control");
}

/// Mean weights are the albedo, and vary less than those of cosine-distributed directions where that matters.
#[test]
fn weights_have_the_albedo_as_their_mean_and_vary_little() {
    const N: usize = 40_000;
    for r in ROUGHNESS {
        for angle in ANGLES {
            let (white, o) = (lobe(Vec3::ONE, r), wo(angle));
            let moments = |weights: &mut dyn Iterator<Item = f64>| {
                let (sum, squares) = weights.fold((0.0, 0.0), |(a, b), w| (a + w, b + w * w));
                let mean = sum / N as f64;
                (mean, (squares / N as f64 - mean * mean).max(0.0))
            };
            let own = samples(&white, o, N, 21).map(|s| s.map_or(0.0, |s| s.weight.x.into()));
            let (mean, variance) = moments(&mut { own });
            let noise = 4.5 * (variance / N as f64).sqrt() + 1e-5;
            assert!((mean - 1.0).abs() < noise, "{r} {angle}: {mean}, noise {noise}");
            let lambert = samples(&Diffuse { reflectance: Vec3::ONE }, o, N, 21);
            let cosine = lambert.map(|s| s.map_or(0.0, |s| f64::from(white.eval(o, s.wi).x) * PI));
            let (_, by_cosine) = moments(&mut { cosine });
            if angle % 30.0 == 0.0 || angle == 89.5 {
                println!("roughness {r}, {angle}°: variance {variance:.4}, by cosine {by_cosine:.4}");
            }
            assert!(
                variance < 0.15 && (angle < 80.0 || r < 0.2 || variance < 0.5 * by_cosine),
                "{r} {angle}: {variance}"
            );
        }
    }
}

#[test]
fn f_is_reciprocal_and_zero_below() {
    let mut random = Random::new(23);
    for r in ROUGHNESS {
        assert_reciprocal_and_zero_below(&lobe(PAINT, r), &mut random);
    }
}

#[test]
fn samples_are_finite_for_all_parameters_uniforms_and_directions() {
    let wos = [ANGLES.map(wo).to_vec(), extreme_wos()].concat();
    for r in ROUGHNESS.into_iter().chain([1e-30, 1e-6, 0.999_999_9]) {
        for rho in [0.0, 1e-30, 0.5, 0.999_999_9, 1.0] {
            for &wo in &wos {
                assert_samples_are_finite(&lobe(Vec3::splat(rho), r), wo, 10.0);
            }
        }
    }
}
