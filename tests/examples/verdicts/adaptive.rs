//! Images whose samples went where the noise was: false alarms among pairs of them and against even ones, and the bias of their means.

use rayon::prelude::*;
use renderer::Machine;
use renderer::assemble::SceneData;
use renderer::render::{Budget, Control, ErrorGoal, NoiseGoal, Options};
use torrance_image::compare::judge;
use torrance_image::film::error::ErrorMeasure;
use torrance_image::film::{Film, ImageEstimate};
use torrance_tests::assembled;

use super::{LEVEL, REFERENCE_SPP, REFERENCES, film, flush, scenes};

/// Within which error how many percent of the pixels are to be.
const fn goal(scene: &str) -> (f64, f64) {
    match scene.as_bytes() {
        // By the other, all of its pixels are done at once.
        b"sun" => (0.05, 95.0),
        _ => (0.1, 90.0),
    }
}

/// Most samples per pixel.
const MOST_SPP: u32 = 1024;

/// Prints a row for each scene, or for one of them.
pub(super) fn study(machine: &mut Machine, pairs: u32, only: Option<&str>) {
    println!(
        "| scene | spp: fewest, mean, most | two of them | one and an even one | bias of the mean | bias of pixels |"
    );
    println!("|---|---|---|---|---|---|");
    for (name, _, description) in
        scenes().into_iter().filter(|(name, ..)| only.is_none_or(|only| only == *name))
    {
        let mut scene = assembled(&description);
        let films: Vec<Film> = (0..2 * pairs).map(|k| adaptive(machine, &mut scene, goal(name), k)).collect();
        let [fewest, most] = [u64::min as fn(u64, u64) -> u64, u64::max]
            .map(|of| films.iter().flat_map(|film| &film.pixels).map(|p| p.count).reduce(of).unwrap_or(0));
        let mean_spp = films.iter().map(Film::mean_spp).sum::<f64>() / films.len() as f64;
        let even: Vec<_> = (0..pairs)
            .map(|k| ImageEstimate::from(&film(machine, &scene, mean_spp as u32, 3_000_000 + k)))
            .collect();
        let estimates: Vec<_> = films.iter().map(ImageEstimate::from).collect();
        let alarms =
            estimates.par_chunks_exact(2).filter(|p| judge(&p[0], &p[1], LEVEL).is_different()).count();
        let unequal =
            estimates.par_iter().zip(&even).filter(|(a, b)| judge(a, b, LEVEL).is_different()).count();
        let references: Vec<_> =
            (0..2 * REFERENCES).map(|k| film(machine, &scene, REFERENCE_SPP, 1_000_000 + k)).collect();
        let [bias, error] = bias_of_mean(&films, &references);
        let [pixels, expected] = bias_of_pixels(&films, &references);
        println!(
            "| {name} | {fewest}, {mean_spp:.0}, {most} | {alarms} of {pairs} | {unequal} of {pairs} | {:+.4} ± {:.4} % | {pixels:.3}, {expected:.3} by chance |",
            100.0 * bias,
            100.0 * error
        );
        flush();
    }
}

fn adaptive(
    machine: &mut Machine,
    scene: &mut SceneData,
    (bound, percentile): (f64, f64),
    seed: u32,
) -> Film {
    scene.settings.seed = seed;
    let goal = ErrorGoal { bound, measure: ErrorMeasure::Relative, percentile, is_uniform: false };
    let budget = Budget { noise: Some(NoiseGoal::Pixels(goal)), ..Budget::of_samples(MOST_SPP) };
    let rendered = machine.render(scene, budget, Options::default(), &mut |_: &_| Control::Continue);
    rendered.expect("the scene renders").film
}

/// The relative difference of the mean of all images, and its standard error, which the spread of the images tells.
fn bias_of_mean(films: &[Film], references: &[Film]) -> [f64; 2] {
    let mean_of = |film: &Film| {
        film.pixels.iter().map(|p| p.mean().iter().sum::<f64>() / 3.0).sum::<f64>() / film.pixels.len() as f64
    };
    let [(a, a_error), (b, b_error)] = [films, references].map(|films| {
        let means: Vec<f64> = films.iter().map(mean_of).collect();
        mean_and_error(&means)
    });
    [a / b - 1.0, a_error.hypot(b_error) / b]
}

/// The mean square of the pixels' biases in standard errors, which the spread of the images tells, and what it would be by chance.
fn bias_of_pixels(films: &[Film], references: &[Film]) -> [f64; 2] {
    let of_pixel = |films: &[Film], i: usize| {
        let means: Vec<f64> = films.iter().map(|film| film.pixels[i].mean()[1]).collect();
        mean_and_error(&means)
    };
    let squares: Vec<f64> = (0..films[0].pixels.len())
        .into_par_iter()
        .map(|i| [films, references].map(|films| of_pixel(films, i)))
        .filter(|[(_, a), (_, b)]| a.hypot(*b) > 0.0)
        .map(|[(a, a_error), (b, b_error)]| (a - b).powi(2) / (a_error.powi(2) + b_error.powi(2)))
        .collect();
    // Few references: their spread is uncertain, and the mean of squares of Student's t is above 1.
    let degrees = references.len() as f64 - 1.0;
    [squares.iter().sum::<f64>() / squares.len() as f64, degrees / (degrees - 2.0)]
}

fn mean_and_error(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0);
    (mean, (variance / n).sqrt())
}
