//! `--noise` with samples where the noise is.

use serde_json::Value;
use torrance_image::film::error::{ErrorMeasure, part_within};
use torrance_image::film::layers::{Layers, Samples};
use torrance_image::film::{Format, ImageEstimate, read, read_layers};

use crate::program::{Folder, Outcome};

fn render(folder: &Folder, output: &str, options: &[&str]) -> Outcome {
    let arguments = ["render", "scene.toml", "--size=192x128", "--device=cpu", "-o", output];
    let outcome = folder.run(&[&arguments, options].concat());
    assert_eq!(outcome.code, Some(0), "{options:?}: {outcome:?}");
    outcome
}

fn layers(folder: &Folder, name: &str) -> Layers {
    read_layers(&folder.at(name)).expect("an image")
}

/// Samples of each pixel.
fn counts(layers: &Layers) -> Vec<u32> {
    let channel = layers.channels.iter().find(|channel| channel.name == "samples").expect("a layer");
    match &channel.samples {
        Samples::Uint(counts) => counts.clone(),
        other => panic!("{other:?}"),
    }
}

/// The part of the pixels whose errors are at most `bound`.
fn within(layers: &Layers, bound: f64) -> f64 {
    let measured = ImageEstimate::from_layer(layers, "", Format::Exr).expect("an image with noise");
    part_within(&ErrorMeasure::Relative.errors(&measured), bound)
}

/// Errors are within the bound, with fewer samples than where all pixels get as many; the picture of samples shows which got more.
#[test]
fn samples_go_where_noise_is() {
    let folder = Folder::new();
    let goal = ["--noise=1.5%", "--percentile=95"];
    let outcome = render(&folder, "a.exr", &[&goal[..], &["--heatmap=map.png", "--json"]].concat());
    let summary: Value = serde_json::from_str(&outcome.stdout).expect("JSON");
    let a = layers(&folder, "a.exr");
    let of_a = counts(&a);
    let mean = of_a.iter().map(|n| f64::from(*n)).sum::<f64>() / of_a.len() as f64;
    let (fewest, most) = (of_a.iter().min().unwrap(), of_a.iter().max().unwrap());
    assert_eq!(
        (summary["spp"].as_u64(), summary["most_spp"].as_u64()),
        (Some((*fewest).into()), Some((*most).into()))
    );
    assert!((summary["mean_spp"].as_f64().unwrap() - mean).abs() < 1e-9 && most > &(2 * fewest), "{summary}");
    assert!(within(&a, 0.015) >= 0.95, "{}", within(&a, 0.015));
    let said = format!("samples: {fewest} of black pixels, {most} of bright yellow ones");
    assert!(outcome.stderr.contains(&said), "{outcome:?}");
    // What is bright on the map has more samples than what is dark.
    let map = read(&folder.at("map.png")).expect("a picture");
    let mean_of = |is_bright: bool| {
        let of = map.pixels.iter().zip(&of_a).filter(|(p, _)| (p.iter().sum::<f32>() > 0.6) == is_bright);
        let all: Vec<f64> = of.map(|(_, n)| f64::from(*n)).collect();
        all.iter().sum::<f64>() / all.len() as f64
    };
    assert!((map.width, map.height) == (192, 128) && mean_of(true) > 2.0 * mean_of(false));

    render(&folder, "even.exr", &[&goal[..], &["--uniform"]].concat());
    let even = layers(&folder, "even.exr");
    let of_even = counts(&even);
    assert!(
        of_even.iter().all(|n| *n == of_even[0])
            && f64::from(of_even[0]) > mean
            && within(&even, 0.015) >= 0.95
    );
    // The same samples on one thread, and of the two images no difference but noise.
    render(&folder, "again.exr", &[&goal[..], &["--threads=1"]].concat());
    assert!(layers(&folder, "again.exr").channels == a.channels, "every bit");
    render(&folder, "other.exr", &[&goal[..], &["--uniform", "--seed=1"]].concat());
    assert_eq!(folder.run(&["compare", "a.exr", "other.exr"]).code, Some(0));
}

/// What a display clips needs no more samples.
#[test]
fn errors_count_as_displays_show_them() {
    let folder = Folder::new();
    let spp = |options: &[&str]| {
        let outcome = render(
            &folder,
            "a.exr",
            &[&["--noise=0.5%", "--noise-of=display", "--json", "--force"], options].concat(),
        );
        let summary: Value = serde_json::from_str(&outcome.stdout).expect("JSON");
        summary["mean_spp"].as_f64().unwrap()
    };
    let [usual, bright] = [&["--exposure=0"][..], &["--exposure=12"]].map(spp);
    assert!(bright < 0.8 * usual, "{bright} and {usual}");
}

/// Parts of a render reach the noise together.
#[test]
fn parts_reach_the_noise_together() {
    let folder = Folder::new();
    let options = ["--noise=1.5%", "--percentile=95", "--spp=65536", "--aov=stderr,samples,sums"];
    for part in ["1", "2"] {
        render(&folder, &format!("{part}.exr"), &[&options[..], &[&format!("--shard={part}/2")]].concat());
    }
    let outcome = folder.run(&["merge", "1.exr", "2.exr", "-o", "all.exr"]);
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    assert!(!outcome.stderr.contains("warning"), "{outcome:?}");
    let [one, two, all] = ["1.exr", "2.exr", "all.exr"].map(|name| layers(&folder, name));
    let sums: Vec<_> = counts(&one).iter().zip(counts(&two)).map(|(a, b)| a + b).collect();
    assert_eq!(counts(&all), sums);
    assert!(
        within(&all, 0.015) >= 0.94 && within(&one, 0.015) < 0.9,
        "{} {}",
        within(&all, 0.015),
        within(&one, 0.015)
    );
    // Together they are done, and alone only as parts.
    let resumed = |image: &str, percentile: &str, more: &[&str]| {
        let command = ["render", "scene.toml", "--size=192x128", "--device=cpu", "--resume", "-o", image];
        folder.run(&[&command[..], &["--noise=1.5%", percentile, "--spp=65536"], more].concat())
    };
    for (image, options) in [("all.exr", &[][..]), ("1.exr", &["--shard=1/2"])] {
        let outcome = resumed(image, "--percentile=95", options);
        assert!(outcome.stderr.contains("has reached its noise already"), "{image}: {outcome:?}");
    }
    for (image, percentile, options) in [
        ("1.exr", "--percentile=95", &[][..]),
        ("1.exr", "--percentile=95", &["--shard=2/2"]),
        ("all.exr", "--percentile=96", &[]),
        ("all.exr", "--percentile=95", &["--seed=7"]),
    ] {
        let outcome = resumed(image, percentile, options);
        assert_eq!(outcome.code, Some(2), "{image} {options:?}: {outcome:?}");
        assert!(
            outcome.stderr.contains("its samples went where the noise was, to 1.5% of 95%"),
            "{outcome:?}"
        );
    }
    // Where all pixels have as many samples, too.
    for of in [&["--noise=50%"][..], &["--noise=5%", "--noise-of=image"], &["--noise=9%", "--uniform"]] {
        for part in ["1", "2"] {
            render(
                &folder,
                &format!("{part}.exr"),
                &[of, &["--force", &format!("--shard={part}/2")]].concat(),
            );
        }
        assert_eq!(folder.run(&["merge", "1.exr", "2.exr", "-o", "even.exr"]).code, Some(0));
        let command = ["render", "scene.toml", "--size=192x128", "--device=cpu", "--resume", "-o=even.exr"];
        let outcome = folder.run(&[&command[..], of].concat());
        assert!(outcome.stderr.contains("has reached its noise already"), "{of:?}: {outcome:?}");
    }
    render(&folder, "1.exr", &[&options[..], &["--force", "--shard=1/2"]].concat());
    // Parts that went to different noises.
    render(&folder, "other.exr", &["--noise=3%", "--percentile=95", "--spp=65536", "--shard=2/2"]);
    let outcome = folder.run(&["merge", "1.exr", "other.exr", "-o", "mixed.exr"]);
    let why = "parts went to different noises, and together reach neither: \
               1.5% of 95% of the pixels; 3% of 95% of the pixels";
    assert!(outcome.stderr.contains(why), "{outcome:?}");
}

/// A render that has reached its noise is done, and not interrupted.
#[test]
fn what_is_reached_is_done() {
    let folder = Folder::new();
    let goal = ["--noise=1.5%", "--percentile=95"];
    let resumed = |goal: &[&str]| {
        let command = ["render", "scene.toml", "--size=192x128", "--device=cpu", "-o=a.exr", "--resume"];
        folder.run(&[&command[..], goal].concat())
    };
    render(&folder, "a.exr", &goal);
    let bytes = std::fs::read(folder.at("a.exr")).unwrap();
    let outcome = resumed(&goal);
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    assert!(outcome.stderr.contains("\"a.exr\" has reached its noise already"), "{outcome:?}");
    assert_eq!(std::fs::read(folder.at("a.exr")).unwrap(), bytes);
    let outcome = resumed(&["--noise=1%", "--percentile=95"]);
    assert_eq!(outcome.code, Some(2), "{outcome:?}");
    assert!(outcome.stderr.contains("its samples went where the noise was, to 1.5% of 95% of the pixels"));
    // One that ended before, by the samples that there might be, has not reached it.
    render(&folder, "capped.exr", &[&goal[..], &["--spp=80"]].concat());
    let command = ["render", "scene.toml", "--size=192x128", "--device=cpu", "-o=capped.exr", "--resume"];
    let outcome = folder.run(&[&command[..], &goal].concat());
    assert_eq!(outcome.code, Some(2), "{outcome:?}");
    assert!(outcome.stderr.contains("its samples went where the noise was"), "{outcome:?}");
    // With one whose pixels all have as many samples, too.
    render(&folder, "b.exr", &["--seed=1", "--spp=64"]);
    for other in ["b.exr", "c.exr"] {
        render(&folder, "c.exr", &[&goal[..], &["--seed=2"]].concat());
        let outcome = folder.run(&["merge", "a.exr", other, "-o", "all.exr"]);
        assert!(outcome.code == Some(0) && !outcome.stderr.contains("warning"), "{outcome:?}");
    }
}

#[test]
fn what_is_not_reached_is_told() {
    let folder = Folder::new();
    let outcome = render(&folder, "a.exr", &["--noise=0.1%", "--spp=64"]);
    assert!(outcome.stderr.contains("warning: the image ended with "), "{outcome:?}");
    assert!(outcome.stderr.contains(" % of its pixels within 0.100 %, and 99 % within "), "{outcome:?}");
    for (options, message) in [
        (&["--uniform"][..], "--noise <ERROR>"),
        (&["--noise=1%", "--percentile=0"], "expected a percentage above 1 and up to 100, as in 99"),
        (&["--noise=1%", "--percentile=90", "--noise-of=image"], "bounds one number, not pixels"),
        (&["--noise=1%", "--noise-of=pixel"], "similar value exists: 'pixels'"),
        (&["--noise=1%", "--heatmap=map.jpg"], "a heatmap is a .png file"),
        (&["--noise=1%", "--heatmap=b.png", "-o=b.png"], "given twice"),
        (&["--noise=1%", "--sampler=blue_noise"], "the errors of neighbouring pixels depend on each other"),
    ] {
        let outcome = folder.run(&[&["render", "scene.toml", "-o", "b.exr"], options].concat());
        assert_eq!(outcome.code, Some(2), "{options:?}: {outcome:?}");
        assert!(outcome.stderr.contains(message), "{options:?}: {outcome:?}");
    }
    assert_eq!(folder.names(), ["a.exr"]);
    for of in [&["--uniform"][..], &["--noise-of=image"]] {
        render(&folder, "b.exr", &[&["--noise=5%", "--sampler=blue_noise"], of].concat());
    }
}

/// Images of variants say which samples they have, so that none counts twice.
#[test]
fn variants_of_sweeps_tell_their_samples() {
    let folder = Folder::new();
    let sweep = ["sweep", "scene.toml", "--param=camera.fov=40", "--variants=v", "-o", "sheet.png"];
    let goal = ["--size=192x128", "--device=cpu", "--noise=1.5%", "--percentile=95"];
    let outcome = folder.run(&[&sweep[..], &goal].concat());
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    let variant = std::fs::read_dir(folder.at("v")).unwrap().map(|entry| entry.unwrap().path());
    let variant = variant.into_iter().find(|path| path.extension().is_some_and(|e| e == "exr")).unwrap();
    std::fs::copy(variant, folder.at("v.exr")).unwrap();
    let of_v = counts(&layers(&folder, "v.exr"));
    let (fewest, most) = (of_v.iter().min().unwrap(), of_v.iter().max().unwrap());
    assert!(most > fewest);
    let attributes = layers(&folder, "v.exr").attributes;
    assert_eq!(attributes["sampleRanges"], format!("seed 0: 0..{most}"));
    assert_eq!(attributes["partialSamples"], format!("seed 0: {fewest}..{most}"));
    let rest = format!("--samples={fewest}..{most}");
    render(&folder, "rest.exr", &[&rest, "--set=camera.fov=40"]);
    let merged = folder.run(&["merge", "v.exr", "rest.exr", "-o", "m.exr"]);
    assert_eq!(merged.code, Some(2), "{merged:?}");
    assert!(merged.stderr.contains("would count twice"), "{merged:?}");
}
