//! Merged images against the moments of all their samples, computed at once.

use tier::Random;
use torrance_image::film::layers::{Layers, Samples};
use torrance_image::film::merge::{Merge, MergeError, MergedImage, Weight};
use torrance_image::film::{Film, Pixel, read_layers};

use crate::program::Folder;

/// Skewed, as radiance is: a third is zero, and the rest spans decades; above an offset.
fn radiance(random: &mut Random, offset: f64) -> f64 {
    let x = random.uniform();
    offset + if x < 0.3 { 0.0 } else { (4.0 * random.uniform() - 3.0).exp() }
}

/// Mean and its standard error, by Welford's method.
fn welford(samples: &[f64]) -> (f64, f64) {
    let (mut mean, mut m2) = (0.0, 0.0);
    for (i, x) in samples.iter().enumerate() {
        let delta = x - mean;
        mean += delta / (i + 1) as f64;
        m2 += delta * (x - mean);
    }
    let n = samples.len() as f64;
    (mean, (m2 / (n * (n - 1.0))).sqrt())
}

/// An image of one pixel with these samples, as a file would have it.
fn render(samples: &[f64], seed: u32) -> Layers {
    let sum = samples.iter().sum::<f64>().into();
    let sum_sq = samples.iter().map(|x| x * x).sum::<f64>().into();
    let pixel = Pixel { sum: [sum; 3], sum_sq: [sum_sq; 3], count: samples.len() as u64, rejected: 0 };
    said(Layers::from(&Film { width: 1, height: 1, pixels: vec![pixel] }), seed, "scene")
}

fn said(layers: Layers, seed: u32, scene: &str) -> Layers {
    layers.saying([("seed".into(), seed.to_string()), ("sceneHash".into(), scene.into())])
}

fn merged(weight: Weight, images: &[Layers]) -> Result<MergedImage, MergeError> {
    let mut merge = Merge::new(weight, "0", &images[0])?;
    for (i, image) in images.iter().enumerate().skip(1) {
        merge.add(&i.to_string(), image)?;
    }
    merge.finish()
}

/// Mean, standard error and number of samples of the first pixel.
fn first(layers: &Layers) -> (f64, f64, f64) {
    let at = |name| layers.channel(name).unwrap().samples.get_f64(0);
    (at("R"), at("stderr.R"), at("samples"))
}

/// Renders of different lengths, and the whole of which they are parts.
fn parts(offset: f64, lengths: &[usize]) -> (Vec<f64>, Vec<Layers>) {
    let mut random = Random(5);
    let all: Vec<_> = (0..lengths.iter().sum()).map(|_| radiance(&mut random, offset)).collect();
    let mut rest = all.as_slice();
    let images = lengths.iter().enumerate().map(|(seed, n)| {
        let (part, others) = rest.split_at(*n);
        rest = others;
        render(part, seed as u32)
    });
    let images = images.collect();
    (all, images)
}

#[test]
fn a_merged_render_is_the_render_of_all_samples() {
    for lengths in [&[16, 16][..], &[1, 1], &[3, 1, 1000], &[5, 40, 9, 2, 2, 300], &[0, 7, 8]] {
        let (all, images) = parts(0.0, lengths);
        let (mean, stderr) = welford(&all);
        let found = first(&merged(Weight::Samples, &images).unwrap().layers);
        let near = |a: f64, b: f64| (a / b - 1.0).abs() < 1e-6;
        assert!(
            near(found.0, mean) && near(found.1, stderr),
            "{lengths:?}: {found:?}, not {mean} ± {stderr}"
        );
        assert_eq!(found.2, all.len() as f64);

        // Controls: without the spread between the parts, and with all parts weighed alike.
        if lengths.len() == 3 {
            let parts: Vec<_> = images.iter().map(first).collect();
            let within: f64 =
                parts.iter().map(|(_, se, n)| if *n < 2.0 { 0.0 } else { (se * n).powi(2) }).sum();
            assert!(!near(within.sqrt() / all.len() as f64, stderr), "{lengths:?}");
            assert!(!near(parts.iter().map(|p| p.0).sum::<f64>() / 3.0, mean), "{lengths:?}");
        }
    }
}

/// The means are stored as floats, and standard errors are their spread far below an ulp of these.
#[test]
fn millions_of_samples_on_a_large_offset_keep_their_standard_error() {
    let (all, images) = parts(1000.0, &[1 << 15; 40]);
    let (mean, stderr) = welford(&all);
    let found = first(&merged(Weight::Samples, &images).unwrap().layers);
    assert!(
        (found.0 / mean - 1.0).abs() < 1e-7 && (found.1 / stderr - 1.0).abs() < 1e-3,
        "{found:?} {stderr}"
    );
    assert_eq!(found.2, f64::from(40 << 15));
    let plain = all.iter().fold([0.0_f32; 2], |[s, q], x| [s + *x as f32, q + (*x as f32) * (*x as f32)]);
    let n = all.len() as f64;
    let variance = f64::from(plain[1]) / n - (f64::from(plain[0]) / n).powi(2);
    assert!(((variance / n).abs().sqrt() / stderr - 1.0).abs() > 1.0, "control: plain sums");
}

/// Of the numbers 1 to k, the mean is (k + 1)/2 and its standard error √((k + 1)/12).
#[test]
fn passes_get_their_standard_error_from_their_spread() {
    let images: Vec<_> = (1..=9)
        .map(|k| {
            let mut layers = Layers::new(1, 1);
            layers.push_floats("", ["R", "G", "B"], &[[k as f32; 3]]);
            layers
        })
        .collect();
    let result = merged(Weight::Pass, &images).unwrap();
    let (mean, stderr, samples) = first(&result.layers);
    assert_eq!((mean, samples), (5.0, 9.0));
    assert!((stderr - (10.0_f64 / 12.0).sqrt()).abs() < 1e-7, "{stderr}");
    assert_eq!(result.warnings, Vec::<String>::new());
    let mut halves = images;
    for image in &mut halves {
        image.round_colors_to_half();
    }
    let warnings = merged(Weight::Pass, &halves).unwrap().warnings;
    assert!(warnings.len() == 1 && warnings[0].starts_with("9 of 9 images are rounded"), "{warnings:?}");
    let alone = first(&merged(Weight::Pass, &halves[..1]).unwrap().layers);
    assert_eq!(alone, (1.0, f64::INFINITY, 1.0));
}

#[test]
fn layers_are_merged_where_their_means_can_be() {
    let image = |seed: u32, n: u64, albedo: f32| {
        let samples: Vec<_> = (0..n).map(|i| i as f64).collect();
        let mut layers = render(&samples, seed);
        layers.push_floats("albedo", ["R", "G", "B"], &[[albedo; 3]]);
        layers.push("Z", Samples::Float(vec![1.0]));
        layers.push("id.shape", Samples::Uint(vec![7]));
        layers.push("id.material", Samples::Uint(vec![seed]));
        layers.saying([
            ("spp".into(), n.to_string()),
            ("device".into(), "CPU".into()),
            ("only".into(), seed.to_string()),
        ])
    };
    let MergedImage { layers, warnings, .. } =
        merged(Weight::Samples, &[image(1, 30, 0.2), image(2, 10, 0.6)]).unwrap();
    let albedo = layers.channel("albedo.G").unwrap().samples.get(0);
    assert!((albedo - 0.3).abs() < 1e-6, "{albedo}");
    assert_eq!(layers.channel("id.shape").unwrap().samples, Samples::Uint(vec![7]));
    assert!(layers.channel("Z").is_none() && layers.channel("id.material").is_none());
    assert!(
        warnings.len() == 1 && warnings[0].ends_with("not all images have them: Z, id.material"),
        "{warnings:?}"
    );
    let says = |key: &str| layers.attributes.get(key).map(String::as_str);
    assert_eq!(
        (says("seed"), says("spp"), says("device"), says("only")),
        (Some("1, 2"), Some("40"), Some("CPU"), None)
    );
}

#[test]
fn what_cannot_be_merged_is_refused() {
    let good = render(&[1.0, 2.0, 4.0], 1);
    let refused = |other: Layers, message: &str| {
        let found = merged(Weight::Samples, &[good.clone(), other]).unwrap_err().to_string();
        assert!(found.contains(message), "{found}");
    };
    let other = render(&[3.0, 5.0], 2);
    refused(said(Layers { width: 2, ..Layers::new(0, 1) }, 2, "scene"), "1 has 2×1 pixels, 0 1×1");
    refused(said(other.clone(), 1, "scene"), "1 and 0 have the same seed, 1");
    refused(said(other.clone(), 2, "another"), "1 is of another scene");
    refused(said(other.clone(), 3, "scene").saying([("seed".into(), "3, 1".into())]), "the same seed, 1");
    let without = |name: &str| {
        let mut layers = other.clone();
        layers.channels.retain(|c| c.name != name);
        layers
    };
    refused(without("stderr.G"), "it has no layer \"stderr\"; --passes");
    refused(without("samples"), "it has no channel \"samples\"; --passes");
    refused(without("B"), "it has neither channels R, G and B nor Y, but \"R\", \"G\", \"stderr.R\"");
    for (name, value, message) in [
        ("G", f32::NAN, "the image is NaN or infinite at pixel (0, 0)"),
        ("G", f32::INFINITY, "the image is NaN or infinite at pixel (0, 0)"),
        ("stderr.B", f32::NAN, "layer \"stderr\" is NaN or negative at pixel (0, 0)"),
        ("stderr.B", -1.0, "layer \"stderr\" is NaN or negative at pixel (0, 0)"),
        ("samples", -1.0, "channel \"samples\" is -1 at pixel (0, 0)"),
        ("samples", f32::NAN, "channel \"samples\" is NaN at pixel (0, 0)"),
    ] {
        let mut layers = without(name);
        layers.push(name, Samples::Float(vec![value]));
        refused(layers, message);
    }
    assert!(merged(Weight::Samples, &[good.clone(), other.clone()]).is_ok());

    // A seed that is said of one scene says nothing of others, and what says nothing may be merged; but not unseen.
    let mut silent = good.clone();
    silent.attributes.clear();
    let warnings = merged(Weight::Samples, &[silent.clone(), silent]).unwrap().warnings;
    assert!(warnings.len() == 1 && warnings[0].contains("is it one render twice?"), "{warnings:?}");
}

#[test]
fn the_program_merges_renders() {
    let folder = Folder::new();
    for seed in ["1", "2", "3"] {
        let name = format!("{seed}.exr");
        let outcome = folder.run(&["render", "scene.toml", "-o", &name, "--seed", seed, "--aov", "N", "-q"]);
        assert_eq!(outcome.code, Some(0), "{outcome:?}");
    }
    let outcome = folder.run(&["merge", "1.exr", "2.exr", "3.exr", "-o", "m.exr", "--json", "--quiet"]);
    assert_eq!((outcome.code, outcome.stderr.as_str()), (Some(0), ""), "{outcome:?}");
    let summary: serde_json::Value = serde_json::from_str(&outcome.stdout).unwrap();
    assert_eq!((&summary["images"], &summary["samples"][0]), (&3.into(), &24.0.into()));
    let layers = |name: &str| read_layers(&folder.at(name)).unwrap();
    let (m, parts) = (layers("m.exr"), ["1.exr", "2.exr", "3.exr"].map(layers));
    let i = 8 * 24 + 12;
    for name in ["R", "G", "B", "N.X", "N.Y", "N.Z"] {
        let at = |l: &Layers| l.channel(name).unwrap().samples.get_f64(i);
        let mean = parts.iter().map(at).sum::<f64>() / 3.0;
        assert!((at(&m) - mean).abs() < 1e-6, "{name}: {} {mean}", at(&m));
    }
    assert_eq!(m.attributes["seed"], "1, 2, 3");
    assert_eq!(m.attributes["sceneHash"], parts[0].attributes["sceneHash"]);

    let again = folder.run(&["merge", "m.exr", "2.exr", "-o", "again.exr"]);
    assert_eq!(again.code, Some(2), "{again:?}");
    assert!(again.stderr.contains("\"2.exr\" and \"m.exr\" both have samples 0..8 of seed 2"), "{again:?}");
    let passes = folder.run(&["merge", "--passes", "1.exr", "2.exr", "3.exr", "-o", "p.exr"]);
    assert!(passes.code == Some(0) && passes.stderr.contains("3 passes"), "{passes:?}");
    assert_eq!(layers("p.exr").channel("samples").unwrap().samples.get(0), 3.0);
}

#[test]
fn the_program_refuses_what_it_cannot_merge() {
    let folder = Folder::new();
    folder.run(&["render", "scene.toml", "-o", "a.exr", "-o", "a.png", "-o", "a.pfm", "-q"]);
    std::fs::write(folder.at("broken.exr"), b"v/1\x01 and no more").unwrap();
    std::fs::copy(folder.at("a.exr"), folder.at("copy.exr")).unwrap();
    let before = folder.names();
    for (arguments, message) in [
        (&["a.exr", "b.exr", "-o", "m.exr"][..], "\"b.exr\": No such file"),
        (&["a.exr", "broken.exr", "-o", "m.exr"], "\"broken.exr\": not a valid .exr file"),
        (&["a.exr", "a.png", "-o", "m.exr"], "\"a.png\": PNG holds what a display shows"),
        (&["a.exr", "a.pfm", "-o", "m.exr"], "\"a.pfm\": it has no layer \"stderr\"; --passes"),
        (&["a.exr", "./a.exr", "-o", "m.exr"], "\"./a.exr\": given twice"),
        (&["--passes", "a.pfm", "a.pfm", "-o", "m.exr"], "\"a.pfm\": given twice"),
        (&["a.exr", "copy.exr", "-o", "m.exr"], "both have samples 0..8 of seed 0"),
        (&["a.exr", "a.tif", "-o", "m.exr"], "did you mean .exr?"),
        (&["a.exr", "a.exr", "-o", "m.png"], "only EXR files hold standard errors"),
        (&["--passes", "a.pfm", "-o", "m.exr"], "give two or more"),
    ] {
        let outcome = folder.run(&[&["merge"], arguments].concat());
        assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(2), ""), "{outcome:?}");
        assert!(outcome.stderr.starts_with("error: ") && outcome.stderr.contains(message), "{outcome:?}");
        assert_eq!(folder.names(), before);
    }
}
