//! Errors of samplers against the number of samples: a table, and a chart with a panel for each scene.
//!
//! `cargo run --release -p torrance-tests --example samplers -- [cpu|cuda] CHART.svg [SCENE.toml]…`

use std::io::Write;
use std::path::Path;

use renderer::Machine;
use renderer::assemble::SceneData;
use renderer::render::{Budget, Control, Options};
use torrance_plot::chart::{Axis, Drawing, Entry, Panel, Rect, Sign, Stroke, ThemeName};
use torrance_scene::{Description, Overrides, Sampler, load};
use torrance_tests::{assembled, gallery_scene};

/// Of the gallery, where no files are named.
const SCENES: [&str; 10] = [
    "cornell",
    "roughness-row",
    "knot",
    "glass",
    "marbles",
    "materials",
    "preview",
    "still-life",
    "room",
    "temple",
];
const SAMPLERS: [(&str, Sampler); 3] =
    [("independent", Sampler::Independent), ("sobol", Sampler::Sobol), ("blue_noise", Sampler::BlueNoise)];
/// Samples of a pixel.
const SPP: [u32; 6] = [1, 4, 16, 64, 256, 1024];
const REFERENCE_SPP: u32 = 32_768;
/// Pixels of an image.
const PIXELS: f64 = 40_000.0;
/// Standard deviation of the blur, pixels: about what an eye does that sees 60 of them in a degree.
const BLUR: f64 = 1.5;
/// Errors beyond this count as this, or a few of the brightest samples would be all that is measured.
const LARGEST: f64 = 10.0;

/// Root mean squares of errors relative to the reference's luminance, or to a tenth of its mean where that is more.
#[derive(Clone, Copy)]
struct Errors {
    /// Of the pixels.
    pixels: f64,
    /// Of the blurred image, times what makes it equal to that of the pixels if those are independent.
    blurred: f64,
}

fn main() {
    let mut args = std::env::args().skip(1);
    let mut machine = match args.next().as_deref() {
        Some("cuda") => torrance_tests::Machine::Cuda.start(),
        _ => torrance_tests::Machine::Cpu.start(),
    };
    let chart = args.next().unwrap_or_else(|| "samplers.svg".into());
    let files: Vec<_> = args.collect();
    let read = |file: &String| {
        let name = Path::new(file).file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let loaded = load(Path::new(file), &Overrides::default()).unwrap_or_else(|e| panic!("{e}"));
        (name, loaded.description)
    };
    let scenes: Vec<(String, Description)> = match files.is_empty() {
        true => SCENES.map(|name| (name.to_owned(), gallery_scene(name))).into(),
        false => files.iter().map(read).collect(),
    };
    println!("| scene | sampler | {} |", SPP.map(|spp| format!("{spp} spp")).join(" | "));
    println!("|---|---|{}", "---|".repeat(SPP.len()));
    let mut measured = Vec::new();
    for (name, description) in &scenes {
        let errors = study(&mut machine, description);
        for ((sampler, _), errors) in SAMPLERS.iter().zip(&errors) {
            let cells = errors.map(|Errors { pixels, blurred }| format!("{pixels:.4}, {blurred:.4}"));
            println!("| {name} | {sampler} | {} |", cells.join(" | "));
        }
        std::io::stdout().flush().expect("somebody reads");
        measured.push(errors);
    }
    for (k, (sampler, _)) in SAMPLERS.iter().enumerate() {
        let cells = std::array::from_fn::<_, { SPP.len() }, _>(|i| {
            let mean = |of: fn(&Errors) -> f64| {
                let logarithms = measured.iter().map(|errors| (of(&errors[k][i]) / of(&errors[1][i])).ln());
                (logarithms.sum::<f64>() / measured.len() as f64).exp()
            };
            format!("{:.3}, {:.3}", mean(|e| e.pixels), mean(|e| e.blurred))
        });
        println!("| geometric mean, of sobol's | {sampler} | {} |", cells.join(" | "));
    }
    let names: Vec<_> = scenes.iter().map(|(name, _)| name.as_str()).collect();
    let drawing = draw(&names, &measured);
    let svg = drawing.svg(drawing.width as u32, drawing.height as u32).expect("it can be drawn");
    std::fs::write(&chart, svg).unwrap_or_else(|e| panic!("{chart}: {e}"));
}

/// The errors of every sampler, by the number of samples.
fn study(machine: &mut Machine, description: &Description) -> [[Errors; SPP.len()]; SAMPLERS.len()] {
    let mut description = description.clone();
    let render = &mut description.render;
    let scale = (PIXELS / (f64::from(render.width) * f64::from(render.height))).sqrt();
    for size in [&mut render.width, &mut render.height] {
        *size = (f64::from(*size) * scale).round().max(1.0) as u32;
    }
    let mut scene = assembled(&description);
    let mut render = |sampler: Sampler, spp, seed| {
        scene.set_sampler(sampler);
        scene.settings.seed = seed;
        luminance(machine, &scene, spp)
    };
    let reference = render(Sampler::Sobol, REFERENCE_SPP, u32::MAX);
    let dark = 0.1 * reference.iter().sum::<f64>() / reference.len() as f64;
    SAMPLERS.map(|(_, sampler)| {
        SPP.map(|spp| {
            // As many pixels in all, up to a limit.
            let images = (256 / spp).clamp(2, 8);
            let errors = (0..images).map(|seed| {
                let image = render(sampler, spp, seed);
                let relative = |(x, r): (&f64, &f64)| ((x - r) / (r + dark)).clamp(-LARGEST, LARGEST);
                let errors: Vec<f64> = image.iter().zip(&reference).map(relative).collect();
                [mean_square(&errors), mean_square(&blurred(&errors, description.render.width as usize))]
            });
            let sums = errors.fold([0.0; 2], |a, b| [a[0] + b[0], a[1] + b[1]]);
            let [pixels, blurred] = sums.map(|sum| (sum / f64::from(images)).sqrt());
            // The mean square of the blur's weights is 1/(4πσ²).
            Errors { pixels, blurred: blurred * (4.0 * std::f64::consts::PI).sqrt() * BLUR }
        })
    })
}

fn luminance(machine: &mut Machine, scene: &SceneData, spp: u32) -> Vec<f64> {
    let (budget, go_on) = (Budget::of_samples(spp), &mut |_: &_| Control::Continue);
    let film = machine.render(scene, budget, Options::default(), go_on).expect("rendering succeeds").film;
    film.pixels
        .iter()
        .map(|p| {
            let [r, g, b] = p.mean();
            0.2126 * r + 0.7152 * g + 0.0722 * b
        })
        .collect()
}

fn mean_square(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum::<f64>() / x.len() as f64
}

/// An image blurred by a Gaussian, mirrored at its borders.
fn blurred(image: &[f64], width: usize) -> Vec<f64> {
    let height = image.len() / width;
    let weights: Vec<f64> = (-6..=6).map(|i| (-0.5 * (f64::from(i) / BLUR).powi(2)).exp()).collect();
    let total: f64 = weights.iter().sum();
    let mirrored = |i: isize, n: usize| match i {
        i if i < 0 => (-1 - i) as usize,
        i if i as usize >= n => 2 * n - 1 - i as usize,
        i => i as usize,
    };
    let along = |get: &dyn Fn(usize) -> f64, at: usize, n: usize| {
        let sum = weights.iter().enumerate().map(|(k, w)| w * get(mirrored((at + k) as isize - 6, n)));
        sum.sum::<f64>() / total
    };
    let rows: Vec<f64> =
        (0..image.len()).map(|i| along(&|x| image[i / width * width + x], i % width, width)).collect();
    (0..image.len()).map(|i| along(&|y| rows[y * width + i % width], i / width, height)).collect()
}

/// A chart of errors against samples, two panels in a column.
fn draw(names: &[&str], measured: &[[[Errors; SPP.len()]; SAMPLERS.len()]]) -> Drawing {
    let theme = ThemeName::Light.theme();
    let rows = names.len().div_ceil(2);
    let mut drawing = Drawing::new(900.0, 250.0 * rows as f64, theme.background);
    let frames = drawing.frame().grid(2, rows, (0.0, 0.0));
    for ((name, errors), frame) in names.iter().zip(measured).zip(frames) {
        let all = errors.iter().flatten().flat_map(|e| [e.pixels, e.blurred]);
        let (low, high) = all.fold((f64::MAX, 0.0_f64), |(low, high), e| (low.min(e), high.max(e)));
        let x = Axis::log("samples per pixel", f64::from(SPP[0]), f64::from(SPP[SPP.len() - 1]));
        let y = Axis::log("relative RMSE", low / 1.2, high * 1.2);
        let mut panel = Panel::new(&mut drawing, theme, Rect::inset(&frame, [64.0, 44.0, 16.0, 44.0]), x, y);
        let mut entries = Vec::new();
        for (k, ((sampler, _), errors)) in SAMPLERS.iter().zip(errors).enumerate() {
            let stroke = Stroke::solid(theme.series(k), 1.6);
            let of = |of: fn(&Errors) -> f64| SPP.into_iter().map(f64::from).zip(errors.iter().map(of));
            panel.curve(of(|e| e.pixels), stroke);
            panel.curve(of(|e| e.blurred), stroke.dashed());
            entries.push(Entry::new(Sign::Line(stroke), *sampler));
        }
        entries.push(Entry::new(Sign::Line(Stroke::solid(theme.muted, 1.6).dashed()), "blurred"));
        panel.heading(name, &entries);
    }
    drawing
}
