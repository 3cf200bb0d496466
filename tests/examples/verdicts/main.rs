//! How often the verdict on two images is wrong: false alarms among pairs of renders of the same scene, and the smallest change
//! that is found, beside what image metrics find at their best threshold. Prints the tables of `docs/statistics.md`.
//!
//! `cargo run --release -p torrance-tests --example verdicts -- [cpu|cuda] [PAIRS] [TRIALS]`, and with `adaptive` for `TRIALS`, of images
//! whose samples went where the noise was.

mod adaptive;
mod change;
mod metric;

use std::io::Write;

use rayon::prelude::*;
use renderer::Machine;
use renderer::assemble::SceneData;
use renderer::render::{Budget, Control, Options};
use torrance_image::compare::{Judgement, judge};
use torrance_image::film::{Film, ImageEstimate};
use torrance_scene::{Description, Sampler};
use torrance_tests::{assembled, gallery_scene, reference_scene};

use change::{Change, LADDER};
use metric::{METRICS, Thresholds};

/// The level of all tests.
const LEVEL: f64 = 0.01;
/// Samples a pixel of the images that are judged.
const SPP: [u32; 4] = [4, 16, 64, 256];
/// Samples a pixel of the references.
const REFERENCE_SPP: u32 = 4096;
/// Number of references, which the images take turns with.
const REFERENCES: u32 = 16;
/// Width of the images, pixels.
const WIDTH: u32 = 96;

fn main() {
    let mut args = std::env::args().skip(1);
    let mut machine = match args.next().as_deref() {
        Some("cuda") => torrance_tests::Machine::Cuda.start(),
        _ => torrance_tests::Machine::Cpu.start(),
    };
    if std::env::args().nth(3).as_deref() == Some("adaptive") {
        let pairs = args.next().map_or(500, |n| n.parse().expect("a number"));
        return adaptive::study(&mut machine, pairs, std::env::args().nth(4).as_deref());
    }
    let mut number = |default| args.next().map_or(default, |n| n.parse().expect("a number"));
    let (pairs, trials): (u32, u32) = (number(500), number(40));
    let only = std::env::args().nth(4);
    for (name, what, description) in scenes() {
        if only.as_ref().is_some_and(|only| only != name) {
            continue;
        }
        println!("\n## {name}: {what}\n");
        study(&mut machine, &description, pairs, trials);
    }
}

/// Scenes, with what is difficult about them.
fn scenes() -> [(&'static str, &'static str, Description); 4] {
    let small = |mut scene: Description| {
        let render = &mut scene.render;
        render.height = WIDTH * render.height / render.width;
        render.width = WIDTH;
        // Whose samples are independent, as standard errors suppose; those of the other are better than they say.
        render.sampler = Sampler::Independent;
        scene
    };
    [
        ("cornell-diffuse", "diffuse surfaces", small(reference_scene("cornell-diffuse"))),
        ("roughness-row", "glossy metals", small(reference_scene("roughness-row"))),
        ("glass-smooth", "caustics found by chance", small(reference_scene("glass-smooth"))),
        ("sun", "sky and a small sun, caustics of it", small(gallery_scene("sun"))),
    ]
}

/// False alarms and power in one scene.
fn study(machine: &mut Machine, description: &Description, pairs: u32, trials: u32) {
    let scene = assembled(description);
    let references: Vec<ImageEstimate> =
        (0..REFERENCES).map(|k| halves(&film(machine, &scene, REFERENCE_SPP, 1_000_000 + k))).collect();
    println!(
        "| spp | two renders | one of 4 times the samples | half-float references | resolution, whole image |"
    );
    println!("|---|---|---|---|---|");
    let mut thresholds = Vec::new();
    for spp in SPP {
        let films: Vec<_> =
            (0..2 * pairs).map(|k| ImageEstimate::from(&film(machine, &scene, spp, k))).collect();
        let alarms = films.par_chunks_exact(2).filter(|p| judge(&p[0], &p[1], LEVEL).is_different()).count();
        let more: Vec<_> =
            (0..pairs).map(|k| ImageEstimate::from(&film(machine, &scene, 4 * spp, 3_000_000 + k))).collect();
        let unequal = films.par_iter().zip(&more).filter(|(a, b)| judge(a, b, LEVEL).is_different()).count();
        let against: Vec<Judgement> = films[..pairs as usize]
            .par_iter()
            .enumerate()
            .map(|(k, film)| judge(film, &references[k % references.len()], LEVEL))
            .collect();
        let false_alarms = against.iter().filter(|j| j.is_different()).count();
        let mut resolutions: Vec<f64> = against.iter().map(Judgement::resolution).collect();
        resolutions.sort_by(f64::total_cmp);
        let resolution = resolutions[resolutions.len() / 2];
        let resolution = 100.0 * resolution;
        println!("| {spp} | {alarms} | {unequal} | {false_alarms} | {resolution:.2} % |");
        flush();
        thresholds.push(Thresholds::from_images(&films[..pairs as usize], &references));
    }
    println!("\n| change | spp | verdict | {} |", METRICS.join(" | "));
    println!("|---|---|---|{}", "---|".repeat(METRICS.len()));
    for change in Change::ALL {
        for (spp, thresholds) in SPP.into_iter().zip(&thresholds) {
            if let Some(row) = power(machine, description, &references, change, spp, thresholds, trials) {
                println!("| {} | {spp} | {} |", change.name(), row.join(" | "));
                flush();
            }
        }
    }
}

/// The smallest change of a kind that each judge finds in 95 % of the trials; where a change has no size, how often it
/// is found. `None` if the scene has nothing to change.
fn power(
    machine: &mut Machine,
    description: &Description,
    references: &[ImageEstimate],
    change: Change,
    spp: u32,
    thresholds: &Thresholds,
    trials: u32,
) -> Option<Vec<String>> {
    // Of which hundreds cover what the camera sees.
    let patch = 0.02 * description.camera.position.distance(description.camera.target);
    let judges = 1 + METRICS.len();
    let mut smallest = vec![None::<String>; judges];
    let sizes: &[f64] = if change.has_size() { &LADDER } else { &[0.0] };
    for size in sizes {
        let changed = change.applied(description, *size)?;
        let scene = assembled(&changed);
        let seed = |k| 5_000_000 + 1000 * spp + k;
        let films: Vec<Film> =
            (0..trials).map(|k| change.film(machine, &scene, spp, seed(k), patch)).collect();
        let found = films
            .par_iter()
            .enumerate()
            .map(|(k, film)| {
                let (image, reference) =
                    change.seen(&ImageEstimate::from(film), &references[k % references.len()]);
                let mut found = vec![judge(&image, &reference, LEVEL).is_different()];
                found.extend(thresholds.exceeded(&image.image, &reference.image));
                found
            })
            .collect::<Vec<_>>();
        for (judge, smallest) in smallest.iter_mut().enumerate() {
            let times = found.iter().filter(|f| f[judge]).count() as u32;
            if !change.has_size() {
                *smallest = Some(format!("{} %", 100 * times / trials));
            } else if smallest.is_none() && 20 * times >= 19 * trials {
                *smallest = Some(format!("{} %", 100.0 * size));
            }
        }
        if smallest.iter().all(Option::is_some) {
            break;
        }
    }
    let largest = 100.0 * LADDER[LADDER.len() - 1];
    Some(smallest.into_iter().map(|s| s.unwrap_or(format!("> {largest} %"))).collect())
}

/// The film as a file of half floats keeps it.
fn halves(film: &Film) -> ImageEstimate {
    let mut measured = ImageEstimate::from(film);
    let half = |p: &mut [f32; 3]| *p = p.map(|x| half::f16::from_f32(x).to_f32());
    measured.image.pixels.iter_mut().for_each(half);
    if let Some(noise) = &mut measured.noise {
        noise.stderr.iter_mut().for_each(half);
    }
    measured.rounding = torrance_image::film::estimate::Rounding::Half;
    measured
}

fn film(machine: &mut Machine, scene: &SceneData, spp: u32, seed: u32) -> Film {
    let mut scene = scene.clone();
    scene.settings.seed = seed;
    let (budget, go_on) = (Budget::of_samples(spp), &mut |_: &_| Control::Continue);
    machine.render(&scene, budget, Options::default(), go_on).expect("rendering succeeds").film
}

/// Tables appear as they grow.
fn flush() {
    std::io::stdout().flush().expect("somebody reads");
}
