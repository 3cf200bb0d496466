//! Sheen against its definition in f64: Estevez & Kulla 2017, as glTF's `KHR_materials_sheen` has it, with what this
//! crate does about its albedo.

use std::f64::consts::{PI, TAU};

use device::bsdf::sheen::MIN_ALPHA;
use device::bsdf::{BsdfSample, Lobe, Sheen, sheen_albedo};
use glam::Vec3;

use crate::common::lobes::{
    assert_reciprocal_and_zero_below, assert_samples_are_finite, extreme_wos, samples,
};
use crate::common::statistics::{Grid, Verdicts, chi2_test};
use crate::common::vector::{DVec3, wide};
use crate::common::{Random, integrate, polar, turn};

const ALPHAS: [f32; 7] = [MIN_ALPHA, 0.01, 0.03, 0.08, 0.2, 0.5, 1.0];
/// Angles of wo to the normal in degrees.
const ANGLES: [f64; 8] = [0.0, 20.0, 45.0, 60.0, 75.0, 85.0, 89.0, 89.5];
const VELVET: Vec3 = Vec3::new(0.9, 0.5, 0.1);

fn wo(degrees: f64) -> Vec3 {
    polar(degrees.to_radians().cos(), 0.9).to_f32()
}

fn lobe(color: Vec3, alpha: f32) -> Sheen {
    Sheen { color, alpha }
}

fn white(alpha: f32) -> Sheen {
    lobe(Vec3::ONE, alpha)
}

/// Deliberate mistakes in an oracle.
#[derive(Clone, Copy, PartialEq)]
enum Mistake {
    None,
    /// The paper's Λ as it is.
    Uncorrected,
    /// D for roughness in the place of its square.
    Roughness,
    /// G1(wo)·G1(wi).
    Separable,
    /// The parameters of Λ go with 1 − α.
    Linear,
}

/// D of the paper.
fn d(sin2: f64, alpha: f64) -> f64 {
    (2.0 + 1.0 / alpha) * sin2.sqrt().powf(1.0 / alpha) / TAU
}

/// Λ of the paper: parameters for α = 0 and 1.
fn fitted_lambda(x: f64, alpha: f64, mistake: Mistake) -> f64 {
    const ROUGH: [f64; 5] = [21.5473, 3.82987, 0.19823, -1.97760, -4.32054];
    const SMOOTH: [f64; 5] = [25.3245, 3.32435, 0.16801, -1.27393, -4.85967];
    let t = if mistake == Mistake::Linear { 1.0 - alpha } else { (1.0 - alpha).powi(2) };
    let [a, b, c, d, e] = std::array::from_fn(|i| t * SMOOTH[i] + (1.0 - t) * ROUGH[i]);
    let l = |x: f64| a / (1.0 + b * x.powf(c)) + d * x + e;
    if x < 0.5 { l(x).exp() } else { (2.0 * l(0.5) - l(1.0 - x)).exp() }
}

/// Λ with its growth at the horizon, and corrected where its albedo would be more than 1.
fn lambda(cos: f64, alpha: f64, mistake: Mistake) -> f64 {
    if mistake == Mistake::Uncorrected {
        return fitted_lambda(cos, alpha, mistake);
    }
    let x = cos.hypot(1e-3).min(1.0);
    let excess = 0.23 + 0.198 / alpha.sqrt() - 1.0;
    let size = if excess > 0.1 { excess } else { (excess + 0.1).max(0.0).powi(2) / 0.4 };
    fitted_lambda(x, alpha, mistake) * x / cos * (1.0 + size * (-(cos / 0.031).powi(2)).exp())
}

/// D·G / (4 cos θo cos θi).
fn definition(wo: DVec3, wi: DVec3, alpha: f64, mistake: Mistake) -> f64 {
    let wm = (wo + wi).normalize();
    let (o, i) = (lambda(wo.z, alpha, mistake), lambda(wi.z, alpha, mistake));
    let g = if mistake == Mistake::Separable { 1.0 / ((1.0 + o) * (1.0 + i)) } else { 1.0 / (1.0 + o + i) };
    let alpha = if mistake == Mistake::Roughness { alpha.sqrt() } else { alpha };
    d(wm.x * wm.x + wm.y * wm.y, alpha) * g / (4.0 * wo.z * wi.z)
}

/// ∫ f(wi) cos θi dωi over the hemisphere for a `wo` in the xz plane, with more points where wi is at the horizon, and
/// where it is opposite to wo.
fn projected(mut f: impl FnMut(DVec3) -> f64) -> f64 {
    integrate(0.0, 1.0, 4, |v| {
        let z = v.powi(4);
        let ring = integrate(0.0, 1.0, 3, |y| 3.0 * y * y * f(polar(z, PI * (1.0 - y.powi(3)))));
        4.0 * v.powi(3) * z * TAU * ring
    })
}

/// The definition's directional albedo.
fn albedo(cos: f64, alpha: f64, mistake: Mistake) -> f64 {
    let wo = polar(cos, 0.0);
    projected(|wi| definition(wo, wi, alpha, mistake))
}

/// The directional albedo of what the lobe says.
fn albedo_of_lobe(lobe: &Sheen, cos: f64) -> f64 {
    let wo = polar(cos, 0.0).to_f32();
    projected(|wi| lobe.eval(wo, wi.to_f32()).x.into())
}

/// Largest error of f relative to the definition, or to a thousandth of what is uniform where that is more.
fn worst_value(mistake: Mistake) -> f64 {
    let mut random = Random::new(32);
    let mut worst: f64 = 0.0;
    for alpha in ALPHAS {
        for _ in 0..2000 {
            let mut direction = || polar(random.power_of_ten(-3.0, 0.0), random.within(0.0, TAU)).to_f32();
            let (o, i) = (direction(), direction());
            let f = wide(lobe(VELVET, alpha).eval(o, i));
            let expected = definition(wide(o), wide(i), alpha.into(), mistake);
            let error = (f - expected * wide(VELVET)).length() / wide(VELVET).length();
            // At grazing angles on opposite sides the half vector cancels.
            let half = 0.5 * (wide(o) + wide(i)).length();
            worst = worst.max(error / expected.max(1e-3) * (half / 0.1).min(1.0));
        }
    }
    worst
}

#[test]
fn values_are_those_of_the_definition() {
    let worst = worst_value(Mistake::None);
    println!("f: largest relative error {worst:.1e}");
    assert!(worst < 5e-5, "{worst:e}");
}

#[test]
fn control_mistakes_are_rejected() {
    for mistake in [Mistake::Uncorrected, Mistake::Roughness, Mistake::Separable, Mistake::Linear] {
        assert!(worst_value(mistake) > 0.05);
    }
}

/// ∫ D cos θm dωm = 1
#[test]
fn the_distribution_is_normalised() {
    for alpha in ALPHAS.map(f64::from) {
        let sum = integrate(0.0, 1.0, 32, |sin| TAU * sin * d(sin * sin, alpha));
        assert!((sum - 1.0).abs() < 1e-9, "{alpha}: {sum}");
    }
}

/// Beyond the angles and alphas that are named in the lobe, f is glTF's.
#[test]
fn what_is_not_corrected_is_as_gltf_has_it() {
    let mut random = Random::new(33);
    let mut worst = |alpha: f64, least: f64| {
        let mut direction = || polar(random.within(least, 1.0), random.within(0.0, TAU));
        let (o, i) = (direction(), direction());
        let gltf = definition(o, i, alpha, Mistake::Uncorrected);
        (definition(o, i, alpha, Mistake::None) / gltf - 1.0).abs()
    };
    for _ in 0..10_000 {
        let rough = worst(0.09, 0.02).max(worst(0.3, 0.02)).max(worst(1.0, 0.02));
        let steep = worst(0.0049, 0.1).max(worst(0.03, 0.1));
        assert!(rough < 3e-4 && steep < 2e-4, "{rough:e} {steep:e}");
    }
}

/// 16 cosines and as many alphas, between the knots of the table and on them, closer where the albedo is steep.
fn grid() -> impl Iterator<Item = (f64, f64)> {
    let least = f64::from(MIN_ALPHA).sqrt();
    let at = |k: i32| f64::from(k) / 15.0;
    (0..256).map(move |k| ((0.02 + 0.98 * at(k / 16)).powi(3), (least + (1.0 - least) * at(k % 16)).powi(2)))
}

#[test]
fn the_table_holds_the_albedo() {
    let mut worst: [f64; 3] = [0.0; 3];
    for (cos, alpha) in grid() {
        let expected = albedo(cos, alpha, Mistake::None);
        let (stated, evaluated) =
            (f64::from(sheen_albedo(cos as f32, alpha as f32)), albedo_of_lobe(&white(alpha as f32), cos));
        worst[0] = worst[0].max((stated - expected).abs());
        worst[1] = worst[1].max((evaluated - expected).abs());
        let other = f64::from(sheen_albedo(cos as f32, 0.9 * alpha as f32));
        worst[2] = worst[2].max((other - expected).abs());
    }
    println!(
        "albedo: table {:.1e}, lobe {:.1e}, table of another alpha {:.1e}",
        worst[0], worst[1], worst[2]
    );
    assert!(worst[0] < 2e-3 && worst[1] < 1e-4, "{worst:?}");
    assert!(worst[2] > 0.02, "control: {worst:?}");
}

/// The same on points that are unrelated to the table's knots.
#[test]
fn the_table_holds_the_albedo_anywhere() {
    let mut random = Random::new(34);
    let mut worst: f64 = 0.0;
    for _ in 0..800 {
        let cos = if random.f64() < 0.5 { random.f64() } else { random.power_of_ten(-5.0, 0.0) };
        let alpha = random.power_of_ten(f64::from(MIN_ALPHA).log10(), 0.0);
        let error = f64::from(sheen_albedo(cos as f32, alpha as f32)) - albedo(cos, alpha, Mistake::None);
        worst = worst.max(error.abs());
    }
    println!("albedo anywhere: {worst:.1e}");
    assert!(worst < 2e-3, "{worst:e}");
    let (low, high) = (sheen_albedo(-1.0, 0.0), sheen_albedo(2.0, 7.0));
    assert_eq!((low, high), (sheen_albedo(0.0, MIN_ALPHA), sheen_albedo(1.0, 1.0)));
}

#[test]
fn no_more_is_reflected_than_arrives() {
    let mut most: (f64, f64, f64) = (0.0, 0.0, 0.0);
    for k in 0..60 * 24 {
        let (at, of) = (f64::from(k / 24) / 59.0, f64::from(k % 24) / 23.0);
        let (cos, alpha) = (1e-7_f64.max(at.powi(4)), f64::from(MIN_ALPHA).powf(1.0 - of));
        let energy = albedo(cos, alpha, Mistake::None);
        if energy > most.0 {
            most = (energy, cos, alpha);
        }
    }
    println!("energy: at most {:.4} at cos {:.4}, alpha {:.4}", most.0, most.1, most.2);
    assert!(most.0 <= 1.0, "{most:?}");
    let uncorrected = albedo(0.01, MIN_ALPHA.into(), Mistake::Uncorrected);
    assert!(uncorrected > 2.0, "control: {uncorrected}");
}

/// The quadrature, against one that knows nothing of the integrand.
#[test]
fn quadrature_has_converged() {
    for alpha in ALPHAS.map(f64::from) {
        for cos in [1.0, 0.5, 0.1, 0.02, 0.004] {
            let wo = polar(cos, 0.0);
            let f = |wi| definition(wo, wi, alpha, Mistake::None);
            let fine = integrate(0.0, 1.0, 24, |v| {
                let z = v.powi(3);
                3.0 * v * v * z * 2.0 * integrate(0.0, PI, 24, |phi| f(polar(z, phi)))
            });
            let coarse = albedo(cos, alpha, Mistake::None);
            assert!((fine - coarse).abs() < 3e-5, "{alpha} {cos}: {fine} {coarse}");
        }
    }
}

/// The density that is drawn from, by its definition.
fn density(wo: DVec3, wi: DVec3, alpha: f64) -> f64 {
    let b = 0.5 + 0.55 / alpha.sqrt() + 0.1 * wo.z * wo.z / alpha;
    let sines = (wo.x.hypot(wo.y), wi.x.hypot(wi.y));
    let cos_phi = (wo.x * wi.x + wo.y * wi.y) / (sines.0 * sines.1).max(1e-300);
    let tilt = (1.0 - 0.6 * alpha.sqrt()) * sines.0;
    (0.1 + 0.9 * b * (1.0 - wi.z).max(0.0).powf(b - 1.0) * (1.0 + tilt * cos_phi)) / TAU
}

#[test]
fn densities_are_those_that_are_stated() {
    let mut worst: f64 = 0.0;
    for (alpha, angle) in ALPHAS.into_iter().flat_map(|alpha| ANGLES.map(|angle| (alpha, angle))) {
        for s in samples(&white(alpha), wo(angle), 1000, 31).flatten() {
            let expected = density(wide(wo(angle)), wide(s.wi), alpha.into());
            worst = worst.max((f64::from(white(alpha).pdf(wo(angle), s.wi)) / expected - 1.0).abs());
        }
    }
    println!("pdf: largest relative error {worst:.1e}");
    assert!(worst < 2e-5, "{worst:e}");
}

/// P-value of the directions drawn by a lobe from `from`, in cells that are flatter towards the horizon.
fn directions(alpha: f32, drawn_by: &Sheen, of: Vec3, from: Vec3) -> f64 {
    const N: usize = 100_000;
    const SUB: usize = 6;
    let size = [16, 32];
    let mut cells = Grid::new(size);
    let mut missed = 0;
    for s in samples(drawn_by, from, N, 31) {
        match s {
            Some(s) => cells.add(f64::from(s.wi.z).cbrt(), turn(s.wi.x.into(), s.wi.y.into())),
            None => missed += 1,
        }
    }
    let at = |i: usize, s: usize, n: usize| (i as f64 + (s as f64 + 0.5) / SUB as f64) / n as f64;
    let area = TAU / (size[0] * size[1] * SUB * SUB) as f64;
    let cell = |k: usize| {
        let points = (0..SUB * SUB).map(|s| {
            let (v, turn) = (at(k / size[1], s / SUB, size[0]), at(k % size[1], s % SUB, size[1]));
            3.0 * v * v * density(wide(of), polar(v.powi(3), TAU * turn), alpha.into())
        });
        N as f64 * area * points.sum::<f64>()
    };
    let expected: Vec<f64> = (0..size[0] * size[1]).map(cell).collect();
    let sum: f64 = expected.iter().sum();
    assert!((sum / N as f64 - 1.0).abs() < 1e-3, "{alpha}: the density adds up to {sum}");
    assert!(missed < 10, "{alpha}: {missed} lost");
    chi2_test(&cells.counts, &expected)
}

#[test]
fn directions_are_drawn_with_their_density() {
    let mut verdicts = Verdicts::default();
    for (alpha, angle) in ALPHAS.into_iter().flat_map(|alpha| ANGLES.map(|angle| (alpha, angle))) {
        let p = directions(alpha, &white(alpha), wo(angle), wo(angle));
        verdicts.add(p, format!("alpha {alpha}, {angle}°"));
    }
    verdicts.report("directions");
    verdicts.assert_none_rejected();
}

#[test]
fn control_other_densities_are_rejected() {
    let mut verdicts = Verdicts::default();
    for (alpha, angle) in [(0.01, 45.0), (0.2, 75.0), (1.0, 89.5)] {
        let turned = |w: Vec3| Vec3::new(-w.x, -w.y, w.z);
        verdicts
            .add(directions(alpha, &white(0.85 * alpha), wo(angle), wo(angle)), format!("{alpha}: smoother"));
        verdicts.add(
            directions(alpha, &white(alpha), turned(wo(angle)), wo(angle)),
            format!("{alpha}: other side"),
        );
    }
    verdicts.report_largest("controls");
    verdicts.assert_all_rejected();
}

/// Largest relative error of `weight` against f·cos/pdf.
fn worst_weight(weight: impl Fn(&BsdfSample) -> Vec3) -> f64 {
    let mut worst: f64 = 0.0;
    for (alpha, angle) in ALPHAS.into_iter().flat_map(|alpha| ANGLES.map(|angle| (alpha, angle))) {
        let lobe = lobe(VELVET, alpha);
        for s in samples(&lobe, wo(angle), 500, 31).flatten() {
            let (f, pdf) = lobe.eval_pdf(wo(angle), s.wi);
            let expected = f * (s.wi.z / pdf);
            let error = (weight(&s) - expected).abs() / expected.max(Vec3::splat(1e-20));
            worst = worst.max(error.max_element().into()).max(f64::from((s.pdf / pdf - 1.0).abs()));
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

/// Mean weights are the albedo; their variance, against that of uniform directions.
#[test]
fn weights_have_the_albedo_as_their_mean_and_vary_little() {
    const N: usize = 40_000;
    let mut random = Random::new(35);
    for (alpha, angle) in ALPHAS.into_iter().flat_map(|alpha| ANGLES.map(|angle| (alpha, angle))) {
        let (lobe, o) = (white(alpha), wo(angle));
        let moments = |mut weight: Box<dyn FnMut() -> f64>| {
            let (sum, squares) = (0..N).map(|_| weight()).fold((0.0, 0.0), |(a, b), w| (a + w, b + w * w));
            let mean = sum / N as f64;
            (mean, (squares / N as f64 - mean * mean).max(0.0))
        };
        let seed = random.bits();
        let (mut a, mut b) = (Random::new(seed), Random::new(seed));
        let (mean, variance) =
            moments(Box::new(move || lobe.sample(o, a.f32(), a.vec2()).map_or(0.0, |s| s.weight.x.into())));
        let (_, uniform) = moments(Box::new(move || {
            let wi = polar(b.f64(), TAU * b.f64()).to_f32();
            TAU * f64::from(lobe.eval(o, wi).x * wi.z)
        }));
        let expected = albedo(wide(o).z, alpha.into(), Mistake::None);
        let noise = 4.5 * (variance / N as f64).sqrt() + 1e-5;
        assert!((mean - expected).abs() < noise, "{alpha} {angle}: {mean} {expected}, noise {noise}");
        let relative = |v: f64| v / (mean * mean);
        if mean > 1e-3 {
            println!(
                "alpha {alpha}, {angle}°: albedo {mean:.3}, relative variance {:.3}, uniform {:.3}",
                relative(variance),
                relative(uniform)
            );
            assert!(relative(variance) < 2.5 && (alpha > 0.3 || variance < 0.8 * uniform), "{alpha} {angle}");
        }
    }
}

#[test]
fn f_is_reciprocal_and_zero_below() {
    let mut random = Random::new(36);
    for alpha in ALPHAS {
        assert_reciprocal_and_zero_below(&lobe(VELVET, alpha), &mut random);
    }
}

#[test]
fn samples_are_finite_for_all_parameters_uniforms_and_directions() {
    let wos = [ANGLES.map(wo).to_vec(), extreme_wos()].concat();
    for alpha in ALPHAS.into_iter().chain([0.0, 1e-30, 1e-3, 0.0872, 0.999_999_9]) {
        for &wo in &wos {
            assert_samples_are_finite(&white(alpha), wo, 12.0);
        }
    }
}

/// Values of the cubic B-splines on `n` − 3 uniform intervals of [0, 1] at `x`.
fn splines(x: f64, n: usize) -> Vec<f64> {
    let x = x * (n - 3) as f64;
    let i = (x as usize).min(n - 4);
    let (t, s) = (x - i as f64, 1.0 - (x - i as f64));
    let mut row = vec![0.0; n];
    let inner = |t: f64| (3.0 * t.powi(3) - 6.0 * t * t + 4.0) / 6.0;
    row[i..i + 4].copy_from_slice(&[s.powi(3) / 6.0, inner(t), inner(s), t.powi(3) / 6.0]);
    row
}

/// Coefficients of splines whose values at the places `x` are closest to the rows of `values`, for each of their columns,
/// by the normal equations.
fn fitted(x: &[f64], n: usize, values: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let mut equations = vec![vec![0.0; n + values[0].len()]; n];
    for (&x, value) in x.iter().zip(values) {
        let row = splines(x, n);
        let right: Vec<f64> = row.iter().chain(value).copied().collect();
        for (equation, b) in equations.iter_mut().zip(&row) {
            equation.iter_mut().zip(&right).for_each(|(e, r)| *e += b * r);
        }
    }
    for p in 0..n {
        let pivot = equations[p].clone();
        for (q, equation) in equations.iter_mut().enumerate() {
            let factor = if q == p { 1.0 - 1.0 / pivot[p] } else { equation[p] / pivot[p] };
            equation.iter_mut().zip(&pivot).for_each(|(e, p)| *e -= factor * p);
        }
    }
    equations.into_iter().map(|equation| equation[n..].to_vec()).collect()
}

fn transposed(m: &[Vec<f64>]) -> Vec<Vec<f64>> {
    (0..m[0].len()).map(|j| m.iter().map(|row| row[j]).collect()).collect()
}

/// Makes `COEFFICIENTS` of `device/src/bsdf/sheen/albedo.rs`.
#[test]
#[ignore = "prints a table"]
fn print_the_table() {
    const SIZE: [usize; 2] = [24, 32];
    let least = f64::from(MIN_ALPHA).powf(0.25);
    let places = |n: usize| (0..n).map(|i| i as f64 / (n - 1) as f64).collect::<Vec<_>>();
    let (rows, columns) = (places(5 * SIZE[0]), places(5 * SIZE[1]));
    let row = |v: &f64| {
        let alpha = (least + (1.0 - least) * v).powi(4);
        columns.iter().map(|u| albedo(u.powi(4).max(1e-7), alpha, Mistake::None)).collect::<Vec<_>>()
    };
    let values: Vec<Vec<f64>> = rows.iter().map(row).collect();
    let by_cosine = fitted(&columns, SIZE[1], &transposed(&fitted(&rows, SIZE[0], &values)));
    for row in transposed(&by_cosine) {
        let row: Vec<String> = row.iter().map(|c| format!("{c:.5}")).collect();
        println!("    [{}],", row.join(", "));
    }
}
