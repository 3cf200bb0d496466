//! Tables of what single scattering loses, against quadrature in f64.
//!
//! `cargo test --release -p device --test albedo -- --ignored write` writes them anew.

mod common;

use std::fmt::Write;
use std::thread;

use common::{Random, albedo, ggx, integrate};
use device::bsdf::albedo::{
    DIELECTRIC_SIZE, SIZE, UNIT, cosine, dielectric_loss, dielectric_losses, loss, loss_average, losses,
    place,
};
use device::bsdf::fresnel::conductor_average;
use device::bsdf::microfacet::Distribution;
use glam::Vec3;

const DISTRIBUTIONS: [Distribution; 2] = [Distribution::Ggx, Distribution::Beckmann];
/// What stands for 0, where all directions but those along the surface leave it whole.
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

/// (η of the lower index's side, α, μ) of a point of the table.
fn dielectric_point([e, i, j]: [usize; 3]) -> [f64; 3] {
    let part = |k: usize, axis: usize| k as f64 / (DIELECTRIC_SIZE[axis] - 1) as f64;
    let s = 0.5 * part(e, 0).powi(2);
    let alpha = part(i, 1).max(SMOOTHEST);
    // Along the surface losses tend to a limit, slowly.
    let t = part(j, 2).max(0.02).powi(2);
    // The inverse of `dielectric_place`.
    let mu = t * 1.5 * alpha / (1.0 - t + t * 1.5 * alpha);
    [(1.0 + s) / (1.0 - s), alpha, mu.min(1.0 - 1e-9)]
}

fn dielectric_directional(from_lower: bool, [eta, alpha, mu]: [f64; 3]) -> f64 {
    let eta = if from_lower { eta } else { 1.0 / eta };
    (1.0 - albedo::dielectric(Distribution::Ggx, alpha, eta, mu)).max(0.0)
}

fn dielectric_average(plane: &[Vec<u16>], i: usize) -> f64 {
    interpolated_average(plane, 1.5, (i as f64 / (DIELECTRIC_SIZE[1] - 1) as f64).powi(2))
}

/// Every so many points of the tables.
fn some_points(step: usize) -> impl Iterator<Item = (bool, [usize; 3])> {
    let [ne, na, nm] = DIELECTRIC_SIZE;
    let all = (0..2 * ne * na * nm).step_by(step);
    all.map(move |k| (k % 2 == 0, [k / (2 * na * nm), k / (2 * nm) % na, k / 2 % nm]))
}

fn worst_of_dielectrics(mistaken: bool) -> [f64; 2] {
    let (mut worst, unit) = ([0.0_f64; 2], f64::from(UNIT));
    for (k, (from_lower, [e, i, j])) in some_points(37).enumerate() {
        let table = dielectric_losses(from_lower != mistaken);
        let point = dielectric_point([e, i, j]);
        let stored = f64::from(table.directional[e][i][j]) * unit;
        worst[0] = worst[0].max((dielectric_directional(from_lower, point) - stored).abs());
        if k % 8 == 0 {
            let plane = dielectric_losses(from_lower).directional[e].map(|row| row.to_vec());
            let error = dielectric_average(&plane, i) - f64::from(table.average[e][i]);
            worst[1] = worst[1].max(error.abs());
        }
    }
    worst
}

#[test]
fn tables_of_dielectrics_are_those_of_quadrature() {
    let worst = worst_of_dielectrics(false);
    println!("losses of dielectrics are off by {:e}, on average by {:e}", worst[0], worst[1]);
    assert!(worst[0] < 1e-4 && worst[1] < 1e-4, "{worst:?}");
    let mistaken = worst_of_dielectrics(true);
    assert!(mistaken[0] > 0.1 && mistaken[1] > 0.1, "control, the other side: {mistaken:?}");
}

#[test]
fn losses_of_dielectrics_are_interpolated_within_a_percent() {
    let (mut worst, mut squares) = (0.0_f64, 0.0);
    let mut random = Random::new(1);
    for k in 0..400 {
        let eta = [1.1, 1.33, 1.5, 1.8, 2.4][k % 5];
        let (alpha, mu) = (random.within(0.05, 1.0), random.within(0.03, 1.0));
        let from_lower = k % 2 == 0;
        let relative = if from_lower { eta } else { 1.0 / eta };
        let computed = f64::from(dielectric_loss(alpha as f32, relative as f32, mu as f32));
        let error = computed - dielectric_directional(from_lower, [eta, alpha, mu]);
        worst = worst.max(error.abs());
        squares += error * error / 400.0;
    }
    println!("losses of dielectrics are interpolated within {worst:.4}, {:.4} rms", squares.sqrt());
    assert!(worst < 1e-2 && squares.sqrt() < 2e-3, "{worst} {}", squares.sqrt());
}

/// Everything that a table holds as Rust text.
fn dielectric_text(from_lower: bool, name: &str) -> String {
    let [ne, na, nm] = DIELECTRIC_SIZE;
    let unit = |x: f64| (x / f64::from(UNIT)).round() as u16;
    let at = |k| unit(dielectric_directional(from_lower, dielectric_point(k)));
    let row = |e, i| (0..nm).map(|j| at([e, i, j])).collect::<Vec<u16>>();
    let planes: Vec<Vec<Vec<u16>>> = (0..ne).map(|e| (0..na).map(|i| row(e, i)).collect()).collect();
    let mut text =
        format!("\n#[rustfmt::skip]\npub(super) static {name}: DielectricLosses = DielectricLosses {{\n");
    text += "    directional: [\n";
    for plane in &planes {
        text += "        [\n";
        plane.iter().for_each(|row| text += &format!("            {row:?},\n"));
        text += "        ],\n";
    }
    text += "    ],\n    average: [\n";
    for plane in &planes {
        let means: Vec<f32> = (0..na).map(|i| dielectric_average(plane, i) as f32).collect();
        text += &format!("        {means:?},\n");
    }
    text + "    ],\n};\n"
}

#[test]
#[ignore = "writes a source file"]
fn write() {
    let mut text =
        "//! Written by `cargo test --release -p device --test albedo -- --ignored write`.\n\n".to_owned();
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
