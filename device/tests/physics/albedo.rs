//! Tables of what single scattering loses, against quadrature in f64.
//!
//! `cargo test --release -p device --test physics albedo:: -- --ignored write` writes them anew.

use std::fmt::Write;
use std::thread;

use device::bsdf::albedo::{
    DIELECTRIC_SIZE, DIELECTRIC_UNIT, SIZE, UNIT, cosine, dielectric_loss, dielectric_loss_average, loss,
    loss_average, losses, place,
};
use device::bsdf::fresnel::conductor_average;
use device::bsdf::microfacet::Distribution;
use glam::Vec3;

use crate::common::{Random, albedo, ggx, integrate};

const DISTRIBUTIONS: [Distribution; 2] = [Distribution::Ggx, Distribution::Beckmann];
/// Smallest α of the quadrature, in place of 0, for which only directions along the surface lose light.
const SMOOTHEST: f64 = 1e-3;

fn directional(d: Distribution, alpha: f64, mu: f64) -> f64 {
    if mu <= 0.0 { 0.0 } else { 1.0 - albedo::conductor(d, alpha, mu.min(1.0 - 1e-9)) }
}

fn average(d: Distribution, alpha: f64) -> f64 {
    // μ = t² for what is steep along the surface.
    integrate(0.0, 1.0, 1, |t| 4.0 * t.powi(3) * directional(d, alpha, t * t))
}

fn at(i: usize) -> f64 {
    i as f64 / (SIZE - 1) as f64
}

fn row(d: Distribution, alpha: f64) -> Vec<f64> {
    let mu = |j| f64::from(cosine(d, alpha as f32, at(j) as f32));
    (0..SIZE).map(|j| directional(d, alpha, mu(j))).collect()
}

/// ∫ 2μ m(μ) dμ of losses interpolated between rows at even steps of α, each at even steps of the place t with
/// μ = t² k / (1 − t² + t² k), k = `spread`·α.
fn interpolated_average(rows: &[Vec<u16>], spread: f64, alpha: f64) -> f64 {
    let (steps, k) = (rows[0].len() - 1, spread * alpha);
    let row = (alpha * (rows.len() - 1) as f64).min(rows.len() as f64 - 1.000_001);
    let (i, a) = (row as usize, row.fract());
    integrate(0.0, 1.0, steps, |t| {
        let (x, place) = (t * t, t * steps as f64);
        let (j, b) = (place as usize, place.fract());
        let along = |row: &[u16]| f64::from(row[j]) * (1.0 - b) + f64::from(row[j + 1]) * b;
        let loss = along(&rows[i]) * (1.0 - a) + along(&rows[i + 1]) * a;
        let denominator = 1.0 - x + x * k;
        loss * f64::from(UNIT) * 2.0 * (x * k / denominator) * 2.0 * t * k / (denominator * denominator)
    })
}

fn spread(d: Distribution) -> f64 {
    if d == Distribution::Ggx { 1.0 } else { 2.0 }
}

/// Largest differences from quadrature, of the directional and the average losses.
fn worst(of: impl Fn(Distribution, usize) -> ([f64; SIZE], f64)) -> [f64; 2] {
    let mut worst = [0.0_f64; 2];
    for d in DISTRIBUTIONS {
        for i in (0..SIZE).step_by(3).chain([SIZE - 1]) {
            let alpha = at(i).max(SMOOTHEST);
            let (stored, mean) = of(d, i);
            for (a, b) in row(d, alpha).into_iter().zip(stored) {
                worst[0] = worst[0].max((a - b).abs());
            }
            let rows = losses(d).directional.map(|row| row.to_vec());
            worst[1] = worst[1].max((interpolated_average(&rows, spread(d), at(i).powi(2)) - mean).abs());
        }
    }
    worst
}

fn stored(d: Distribution, i: usize) -> ([f64; SIZE], f64) {
    let number = |x: u16| f64::from(x) * f64::from(UNIT);
    (losses(d).directional[i].map(number), losses(d).average[i].into())
}

#[test]
fn tables_are_those_of_quadrature() {
    let worst = worst(stored);
    println!("losses are off by {:e}, on average by {:e}", worst[0], worst[1]);
    assert!(worst[0] < 1e-4 && worst[1] < 1e-4, "{worst:?}");
}

#[test]
fn control_tables_of_the_other_distribution_are_rejected() {
    let other = [Distribution::Beckmann, Distribution::Ggx];
    let worst = worst(|d, i| stored(other[d as usize], i));
    assert!(worst[0] > 0.1 && worst[1] > 0.1, "{worst:?}");
}

/// Between the points, on a grid that shares none with the table.
#[test]
fn interpolated_losses_are_right_within_a_fifth_of_a_percent() {
    for d in DISTRIBUTIONS {
        let mut worst = [0.0_f64; 2];
        for i in 0..16 {
            let alpha = (f64::from(i) + 0.6) / 16.0;
            for j in 0..16 {
                let mu = (f64::from(j) + 0.4) / 16.0;
                let error = f64::from(loss(d, alpha as f32, mu as f32)) - directional(d, alpha, mu);
                worst[0] = worst[0].max(error.abs());
            }
            let error = f64::from(loss_average(d, alpha as f32)) - average(d, alpha);
            worst[1] = worst[1].max(error.abs());
        }
        println!("{d:?}: losses are interpolated within {:.2e}, averages within {:.2e}", worst[0], worst[1]);
        assert!(worst[0] < 2e-3 && worst[1] < 2e-3, "{d:?}: {worst:?}");
    }
}

#[test]
fn places_and_cosines_are_inverse_and_any_parameters_do() {
    for d in DISTRIBUTIONS {
        for alpha in [1e-3_f32, 0.1, 0.5, 1.0] {
            for x in [0.0_f32, 0.1, 0.5, 0.9, 1.0] {
                assert!((place(d, alpha, cosine(d, alpha, x)) - x).abs() < 1e-5, "{alpha} {x}");
            }
        }
        for alpha in [0.0, 1e-20, 0.3, 1.0, 7.0, f32::INFINITY, f32::NAN] {
            for mu in [0.0, 1e-30, 1e-7, 0.5, 1.0, 1.000_001, f32::NAN] {
                assert!((0.0..=1.0).contains(&loss(d, alpha, mu)), "{alpha} {mu}");
            }
            assert!((0.0..=1.0).contains(&loss_average(d, alpha)), "{alpha}");
        }
    }
}

// Dielectrics.

/// Where quadratic B-splines are fitted to quadrature: at the ends of their `n` − 2 intervals and in the middle of each.
fn site(k: usize, n: usize) -> f64 {
    ((k as f64 - 0.5) / (n - 2) as f64).clamp(0.0, 1.0)
}

/// Coefficients of the B-splines that are `values` there: Gauss's elimination of ½ ½ | ⅛ ¾ ⅛ | … | ½ ½.
fn coefficients(values: &[f64]) -> Vec<f64> {
    let n = values.len();
    let (mut upper, mut c) = (vec![1.0; n], values.to_vec());
    c[0] /= 0.5;
    for k in 1..n {
        let (before, own, after) = if k + 1 < n { (0.125, 0.75, 0.125) } else { (0.5, 0.5, 0.0) };
        let pivot = own - before * upper[k - 1];
        upper[k] = after / pivot;
        c[k] = (c[k] - before * c[k - 1]) / pivot;
    }
    for k in (0..n - 1).rev() {
        c[k] -= upper[k] * c[k + 1];
    }
    c
}

/// The sum of B-splines.
fn spline(coefficients: &[f64], x: f64) -> f64 {
    let intervals = coefficients.len() - 2;
    let i = ((x * intervals as f64) as usize).min(intervals - 1);
    let t = x * intervals as f64 - i as f64;
    let c = &coefficients[i..i + 3];
    0.5 * (1.0 - t).powi(2) * c[0] + (0.5 + t * (1.0 - t)) * c[1] + 0.5 * t * t * c[2]
}

/// `device::bsdf::albedo::dielectric_place` in f64.
fn wide_place(alpha: f64, eta: f64, mu: f64) -> f64 {
    let grazing = (mu / (mu + 1.5 * alpha * (1.0 - mu))).sqrt();
    let critical = (1.0 - eta * eta).max(0.0).sqrt();
    let step = |mu: f64| (mu - critical) / (mu - critical).hypot(alpha);
    let part = (step(mu) - step(0.0)) / (step(1.0) - step(0.0));
    if eta > 1.0 { grazing } else { (grazing + 0.6 * part) / 1.6 }
}

/// The cosine at a place.
fn cosine_at(alpha: f64, eta: f64, place: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if wide_place(alpha, eta, middle) < place { low = middle } else { high = middle }
    }
    high
}

/// (relative η, α) where the splines are fitted.
fn dielectric_surface(from_lower: bool, [e, i]: [usize; 2]) -> [f64; 2] {
    let least = (0.02_f64 / 2.01).sqrt();
    let s = 0.5 * (least + (1.0 - least) * site(e, DIELECTRIC_SIZE[0])).powi(2);
    let eta = (1.0 + s) / (1.0 - s);
    [if from_lower { eta } else { 1.0 / eta }, (0.1 + 0.9 * site(i, DIELECTRIC_SIZE[1])).powi(2)]
}

fn dielectric_directional([eta, alpha, mu]: [f64; 3]) -> f64 {
    (1.0 - albedo::dielectric(Distribution::Ggx, alpha, eta, mu.min(1.0 - 1e-9))).max(0.0)
}

/// The losses at the places where splines along μ are fitted.
fn dielectric_row([eta, alpha]: [f64; 2]) -> Vec<f64> {
    // Along the surface losses tend to a limit, slowly.
    let place = |j| site(j, DIELECTRIC_SIZE[2]).max(0.01);
    let at = |j| dielectric_directional([eta, alpha, cosine_at(alpha, eta, place(j))]);
    (0..DIELECTRIC_SIZE[2]).map(at).collect()
}

/// ∫ 2μ m(μ) dμ / α of losses interpolated in a row.
fn dielectric_average(row: &[f64], [eta, alpha]: [f64; 2]) -> f64 {
    let (c, n) = (coefficients(row), row.len() - 2);
    let end = |k: usize| if k == n { 1.0 } else { cosine_at(alpha, eta, k as f64 / n as f64) };
    let loss = |mu| 2.0 * mu * spline(&c, wide_place(alpha, eta, mu)).clamp(0.0, 1.0);
    (0..n).map(|k| integrate(end(k), end(k + 1), 1, loss)).sum::<f64>() / alpha
}

/// On a grid of angles and roughnesses that shares nothing with the tables: what is interpolated, and the largest
/// difference from it of quadrature with light from the same side or, as a control, from the other.
#[test]
fn losses_of_dielectrics_are_interpolated_within_a_fifth_of_a_percent() {
    let etas = [1.05, 1.33, 1.5, 2.5, 3.0].into_iter().flat_map(|eta| [eta, 1.0 / eta]);
    thread::scope(|scope| {
        let all: Vec<_> = etas
            .map(|eta| {
                let worst = scope.spawn(move || {
                    let (mut worst, mut other) = (0.0_f64, 0.0_f64);
                    for k in (0..256).step_by(tier::choose(7, 1)) {
                        let (alpha, mu) =
                            (0.02 + 0.98 * f64::from(k / 16) / 15.0, (f64::from(k % 16) + 0.5) / 16.0);
                        let exact = dielectric_directional([eta, alpha, mu]);
                        let computed =
                            |eta: f64| f64::from(dielectric_loss(alpha as f32, eta as f32, mu as f32));
                        worst = worst.max((computed(eta) - exact).abs());
                        other = other.max((computed(1.0 / eta) - exact).abs());
                    }
                    (worst, other)
                });
                (eta, worst)
            })
            .collect();
        for (eta, worst) in all {
            let (worst, other) = worst.join().expect("no panic");
            println!("eta {eta:.3}: losses are interpolated within {worst:.5}");
            assert!(worst < 2e-3, "{eta}: {worst}");
            assert!(other > 2e-2, "control, {eta}, the other side: {other}");
        }
    });
}

/// Averages are of the losses as they are interpolated, within a relative error: the compensation is divided by them.
#[test]
fn averages_of_dielectrics_are_those_of_what_is_interpolated() {
    let (mut worst, mut other, mut random) = (0.0_f64, f64::INFINITY, Random::new(1));
    for k in 0..200 {
        let eta = [1.05, 1.2, 1.33, 1.5, 2.5][k / 2 % 5];
        let eta = if k % 2 == 0 { eta } else { 1.0 / eta };
        let alpha = random.within(0.02, 1.0);
        let ends: Vec<f64> = (0..=22).map(|k| cosine_at(alpha, eta, f64::from(k) / 22.0)).collect();
        let loss = |mu: f64| 2.0 * mu * f64::from(dielectric_loss(alpha as f32, eta as f32, mu as f32));
        let exact = ends.windows(2).map(|ends| integrate(ends[0], ends[1], 1, loss)).sum::<f64>();
        let error =
            |eta: f64| (f64::from(dielectric_loss_average(alpha as f32, eta as f32)) / exact - 1.0).abs();
        worst = worst.max(error(eta));
        other = other.min(error(1.0 / eta));
    }
    println!("averages are right within {worst:.5} of themselves; of the other side, off by {other:.3}");
    assert!(worst < 0.015, "{worst}");
    assert!(other > 0.05, "control, the other side: {other}");
}

#[test]
fn any_parameters_of_dielectrics_do() {
    for alpha in [0.0, 1e-20, 1e-3, 0.3, 1.0, 7.0, f32::INFINITY, f32::NAN] {
        for eta in [1e-6, 0.2, 0.999, 1.0, 1.001, 1.5, 5.0, 1e6] {
            for mu in [0.0, 1e-30, 1e-7, 0.5, 0.745_356, 1.0, 1.000_001, f32::NAN] {
                assert!((0.0..=1.0).contains(&dielectric_loss(alpha, eta, mu)), "{alpha} {eta} {mu}");
            }
            assert!((0.0..=1.0).contains(&dielectric_loss_average(alpha, eta)), "{alpha} {eta}");
        }
    }
}

/// Everything that a table holds as Rust text.
fn dielectric_text(from_lower: bool, name: &str) -> String {
    let [ne, na, nm] = DIELECTRIC_SIZE;
    let surface = |e, i| dielectric_surface(from_lower, [e, i]);
    let mut table: Vec<Vec<Vec<f64>>> =
        (0..ne).map(|e| (0..na).map(|i| dielectric_row(surface(e, i))).collect()).collect();
    let mut averages: Vec<Vec<f64>> =
        (0..ne).map(|e| (0..na).map(|i| dielectric_average(&table[e][i], surface(e, i))).collect()).collect();
    // From values to coefficients, along one axis after the other.
    for plane in &mut table {
        plane.iter_mut().for_each(|row| *row = coefficients(row));
        for j in 0..nm {
            let column = coefficients(&plane.iter().map(|row| row[j]).collect::<Vec<_>>());
            plane.iter_mut().zip(column).for_each(|(row, c)| row[j] = c);
        }
    }
    for (i, j) in (0..na).flat_map(|i| (0..nm).map(move |j| (i, j))) {
        let column = coefficients(&table.iter().map(|plane| plane[i][j]).collect::<Vec<_>>());
        table.iter_mut().zip(column).for_each(|(plane, c)| plane[i][j] = c);
    }
    averages.iter_mut().for_each(|row| *row = coefficients(row));
    for i in 0..na {
        let column = coefficients(&averages.iter().map(|row| row[i]).collect::<Vec<_>>());
        averages.iter_mut().zip(column).for_each(|(row, c)| row[i] = c);
    }
    let mut text =
        format!("\n#[rustfmt::skip]\npub(super) static {name}: DielectricLosses = DielectricLosses {{\n");
    text += "    directional: [\n";
    for plane in &table {
        text += "        [\n";
        for row in plane {
            let row: Vec<i16> = row.iter().map(|c| (c / f64::from(DIELECTRIC_UNIT)).round() as i16).collect();
            text += &format!("            {row:?},\n");
        }
        text += "        ],\n";
    }
    text += "    ],\n    average: [\n";
    for row in &averages {
        let row: Vec<f32> = row.iter().map(|c| *c as f32).collect();
        text += &format!("        {row:?},\n");
    }
    text + "    ],\n};\n"
}

#[test]
#[ignore = "writes a source file"]
fn write() {
    let mut text =
        "//! Tables of numbers, written by `cargo test --release -p device --test physics albedo:: -- --ignored write`.\n\n".to_owned();
    text += "use super::{DielectricLosses, Losses};\n";
    let unit = |x: f64| (x / f64::from(UNIT)).round() as u16;
    for (d, name) in DISTRIBUTIONS.into_iter().zip(["GGX", "BECKMANN"]) {
        let alphas = (0..SIZE).map(|i| at(i).max(SMOOTHEST));
        let directional: Vec<Vec<u16>> = alphas.map(|a| row(d, a).into_iter().map(unit).collect()).collect();
        let mean = |i| interpolated_average(&directional, spread(d), at(i).powi(2)) as f32;
        let average: Vec<f32> = (0..SIZE).map(mean).collect();
        writeln!(
            text,
            "\n#[rustfmt::skip]\npub(super) static {name}: Losses = Losses {{\n    directional: ["
        )
        .expect("it is written to memory");
        for row in directional {
            writeln!(text, "        {row:?},").expect("it is written to memory");
        }
        writeln!(text, "    ],\n    average: {average:?},\n}};").expect("it is written to memory");
    }
    thread::scope(|scope| {
        let other = scope.spawn(|| dielectric_text(false, "FROM_HIGHER"));
        text += &dielectric_text(true, "FROM_LOWER");
        text += &other.join().expect("no panic");
    });
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/src/bsdf/albedo/tables.rs");
    std::fs::write(path, text).expect("the source tree can be written to");
}

/// ∫ 2μ F(μ) dμ of conductors, to what is promised.
#[test]
fn average_reflectances_are_those_of_quadrature() {
    let (mut worst, mut other) = (0.0_f64, 0.0_f64);
    for n in [0.05_f32, 0.15, 0.3, 0.6, 1.0, 1.5, 2.5, 4.0, 6.0] {
        for k in [0.5_f32, 1.0, 2.0, 3.0, 4.0, 6.0, 9.0] {
            let average = |weight: fn(f64) -> f64| {
                integrate(0.0, 1.0, 8, |mu| weight(mu) * ggx::fresnel(mu, n.into(), k.into()))
            };
            let computed = f64::from(conductor_average(Vec3::splat(n), Vec3::splat(k)).x);
            worst = worst.max((computed - average(|mu| 2.0 * mu)).abs());
            other = other.max((computed - average(|_| 1.0)).abs());
        }
    }
    assert!(worst < 3e-4, "{worst:e}");
    assert!(other > 1e-2, "control, without the cosine: {other:e}");
}
