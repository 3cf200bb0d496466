//! The program as its users meet it: exit codes, streams, messages, and the files it leaves.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use torrance_image::film::layers::Samples;
use torrance_image::film::{Image, read};

use crate::program::{Folder, Outcome};

mod info;
mod refusals;

/// So many samples that a render would not end before the test does.
const ENDLESS: &str = "1000000000";

fn json(outcome: &Outcome) -> Value {
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    serde_json::from_str(&outcome.stdout).unwrap_or_else(|e| panic!("{e}: {outcome:?}"))
}

fn image(folder: &Folder, name: &str) -> Image {
    read(&folder.at(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
}

/// Renders with `options`, and gives what was written to `output`.
fn rendered(output: &str, options: &[&str]) -> Image {
    let folder = Folder::new();
    let outcome = folder.run(&[&["render", "scene.toml", "-o", output], options].concat());
    assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(0), ""), "{outcome:?}");
    image(&folder, output)
}

/// Bad usage: exit code 2 at once, nothing on stdout, nothing written, and a first line that helps.
#[track_caller]
fn refused(folder: &Folder, arguments: &[&str], message: &str) {
    let before = folder.names();
    let outcome = folder.run(arguments);
    let first = outcome.stderr.lines().next().unwrap_or_default();
    assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(2), ""), "{arguments:?}: {outcome:?}");
    assert!(first.starts_with("error: "), "{arguments:?}: {first}");
    assert!(first.contains(message), "{arguments:?}: {first}");
    assert_eq!(folder.names(), before, "{arguments:?}");
}

#[test]
fn all_formats_hold_the_same_image() {
    let folder = Folder::new();
    let outputs = ["-o", "a.exr", "-o", "a.pfm", "-o", "a.hdr", "-o", "a.png"];
    let outcome = folder.run(&[&["render", "scene.toml", "--bit-depth", "16"], &outputs[..]].concat());
    assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(0), ""), "{outcome:?}");
    assert_eq!(folder.names(), ["a.exr", "a.hdr", "a.pfm", "a.png"]);
    assert!(outcome.stderr.contains("wrote a.exr, a.pfm, a.hdr, a.png"), "{outcome:?}");

    let exact = image(&folder, "a.exr");
    assert_eq!((exact.width, exact.height), (24, 16));
    // The corner sees the sky alone, so its colour is known; the sphere is darker.
    assert_eq!(exact.pixels[0].map(|x| (x * 1000.0).round()), [300.0, 200.0, 100.0]);
    assert!(exact.pixels[8 * 24 + 12][0] < 0.29);
    assert_eq!(image(&folder, "a.pfm"), exact);
    for (name, relative, absolute) in [("a.hdr", 1.0 / 256.0, 0.0), ("a.png", 0.0, 2e-5)] {
        for (got, expected) in image(&folder, name).pixels.iter().zip(&exact.pixels) {
            let largest = expected.iter().fold(0.0_f32, |a, b| a.max(*b));
            for c in 0..3 {
                let error = (got[c] - expected[c]).abs();
                assert!(error <= largest * relative + absolute, "{name}: {got:?} instead of {expected:?}");
            }
        }
    }
}

#[test]
fn half_exr_rounds_and_float_does_not() {
    let (float, half) = (rendered("a.exr", &[]), rendered("a.exr", &["--exr", "half"]));
    assert_ne!(float, half);
    for (f, h) in float.pixels.iter().flatten().zip(half.pixels.iter().flatten()) {
        assert_eq!(half::f16::from_f32(*f).to_f32(), *h);
    }
}

#[test]
fn exr_files_hold_what_they_are_asked_to() {
    let channels = |options: &[&str]| {
        let folder = Folder::new();
        let outcome =
            folder.run(&[&["render", "scene.toml", "-o", "a.exr", "-o", "a.png"], options].concat());
        assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(0), ""), "{outcome:?}");
        let layers = torrance_image::film::read_layers(&folder.at("a.exr")).unwrap();
        let names: Vec<_> = layers.channels.iter().map(|c| c.name.as_str()).collect();
        (names.join(" "), layers)
    };
    assert_eq!(channels(&[]).0, "B G R samples stderr.B stderr.G stderr.R");
    assert_eq!(channels(&["--aov", "none"]).0, "B G R");
    assert_eq!(channels(&["--aov", "none,Z", "--aov", "uv"]).0, "B G R Z uv.U uv.V");
    let (all, layers) = channels(&["--aov", "all", "--exr", "half", "--seed", "3", "--rr-depth", "off"]);
    assert_eq!(
        all,
        "B CryptoAsset00.A CryptoAsset00.B CryptoAsset00.G CryptoAsset00.R CryptoAsset01.A CryptoAsset01.B \
         CryptoAsset01.G CryptoAsset01.R CryptoAsset02.A CryptoAsset02.B CryptoAsset02.G CryptoAsset02.R \
         CryptoMaterial00.A CryptoMaterial00.B CryptoMaterial00.G CryptoMaterial00.R CryptoMaterial01.A \
         CryptoMaterial01.B CryptoMaterial01.G CryptoMaterial01.R CryptoMaterial02.A CryptoMaterial02.B \
         CryptoMaterial02.G CryptoMaterial02.R CryptoObject00.A CryptoObject00.B CryptoObject00.G CryptoObject00.R \
         CryptoObject01.A CryptoObject01.B CryptoObject01.G CryptoObject01.R CryptoObject02.A CryptoObject02.B \
         CryptoObject02.G CryptoObject02.R G N.X N.Y N.Z Ng.X Ng.Y Ng.Z P.X P.Y P.Z R Z albedo.B albedo.G albedo.R direct.B direct.G direct.R \
         emission.B emission.G emission.R id.material id.shape indirect.B indirect.G indirect.R samples stderr.B \
         stderr.G stderr.R uv.U uv.V"
    );
    for channel in &layers.channels {
        let (layer, _) = channel.name.rsplit_once('.').unwrap_or_default();
        let is_expected = match layer {
            "id" => matches!(channel.samples, Samples::Uint(_)),
            "" if channel.name == "samples" => matches!(channel.samples, Samples::Uint(_)),
            "N" | "Ng" | "P" | "uv" | "stderr" => matches!(channel.samples, Samples::Float(_)),
            crypto if crypto.starts_with("Crypto") => matches!(channel.samples, Samples::Float(_)),
            "" if channel.name == "Z" => matches!(channel.samples, Samples::Float(_)),
            _ => matches!(channel.samples, Samples::Half(_)),
        };
        assert!(is_expected, "{}", channel.name);
    }
    for (key, value) in [
        ("scene", "scene.toml"),
        ("spp", "8"),
        ("seed", "3"),
        ("sampler", "sobol"),
        ("direct", "mis"),
        ("masking", "correlated"),
        ("maxDepth", "4"),
        ("rrDepth", "off"),
        ("materialNames", "[\"grey\"]"),
    ] {
        assert_eq!(layers.attributes[key], value, "{key}");
    }
    assert!(layers.attributes["software"].starts_with("torrance "));
    assert!(layers.attributes["device"].starts_with("CPU"));
    assert_eq!(layers.attributes["sceneHash"].len(), 16);
    // The image is the same with and without.
    assert_eq!(channels(&["--aov", "all"]).1.image(), channels(&["--aov", "none"]).1.image());
}

#[test]
fn a_stop_of_exposure_doubles_png_and_leaves_exr() {
    let plain = rendered("a.png", &["--bit-depth", "16"]);
    let brighter = rendered("a.png", &["--bit-depth", "16", "--exposure", "1"]);
    let darker = rendered("a.png", &["--bit-depth", "16", "--exposure", "-1"]);
    for i in 0..plain.pixels.len() {
        for c in 0..3 {
            let x = plain.pixels[i][c];
            assert!((brighter.pixels[i][c] - 2.0 * x).abs() < 1e-4);
            assert!((darker.pixels[i][c] - 0.5 * x).abs() < 1e-4);
        }
    }
    let folder = Folder::new();
    let outcome = folder.run(&["render", "scene.toml", "-o", "a.exr", "--exposure", "1"]);
    assert!(
        outcome
            .stderr
            .contains("warning: --exposure, --white-balance and --tonemap change images for displays"),
        "{outcome:?}"
    );
    assert_eq!(image(&folder, "a.exr"), rendered("a.exr", &[]));
}

/// The log-average of what is neither black nor among the darkest or brightest tenth becomes a middle grey, in a scene that is
/// 2⁻⁸ as bright as the usual one as well.
#[test]
fn images_are_exposed_by_themselves() {
    let folder = Folder::new();
    let scene = fs::read_to_string(folder.at("scene.toml")).unwrap();
    let dim = scene.replace("radiance = [0.3, 0.2, 0.1]", "radiance = 0.001");
    assert_ne!(scene, dim);
    fs::write(folder.at("dim.toml"), dim).unwrap();
    let dark = folder.run(&["render", "dim.toml", "-o", "dark.png", "--spp", "4"]);
    let warning = "too dark for a display; --exposure auto corrects that";
    assert!(dark.stderr.contains(warning), "{dark:?}");
    for name in ["scene", "dim"] {
        let [scene, png, exr] = ["toml", "png", "exr"].map(|extension| format!("{name}.{extension}"));
        let args = [
            "render",
            &scene,
            "-o",
            &png,
            "-o",
            &exr,
            "--spp",
            "4",
            "--exposure",
            "auto",
            "--bit-depth",
            "16",
        ];
        let outcome = folder.run(&args);
        assert!(outcome.stderr.contains("exposed by ") && !outcome.stderr.contains(warning), "{outcome:?}");
        let mean = |file: &str| {
            let luminance = |p: &[f32; 3]| 0.2126 * p[0] + 0.7152 * p[1] + 0.0722 * p[2];
            let mut all: Vec<f32> =
                image(&folder, file).pixels.iter().map(luminance).filter(|y| *y > 0.0).collect();
            all.sort_by(f32::total_cmp);
            let kept = &all[all.len() / 10..all.len() - all.len() / 10];
            (kept.iter().map(|y| y.ln()).sum::<f32>() / kept.len() as f32).exp()
        };
        assert!((mean(&png) / 0.18 - 1.0).abs() < 0.02, "{} of {}", mean(&png), mean(&exr));
    }
}

/// A model that is not to be seen otherwise is exposed by itself, unless that was decided; what is black is said to be.
#[test]
fn models_are_exposed_to_be_seen() {
    let folder = Folder::new();
    fs::write(folder.at("m.obj"), "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n").unwrap();
    let render = |radiance: &str, options: &[&str]| {
        let args =
            ["render", "m.obj", "-o", "a.png", "--size", "16x16", "--spp", "4", "--environment", radiance];
        let outcome = folder.run(&[&args, options].concat());
        let image = image(&folder, "a.png");
        (outcome.stderr, image.pixels.iter().map(|p| p[1]).sum::<f32>() / image.pixels.len() as f32)
    };
    let (told, mean) = render("1e-5", &[]);
    assert!(
        told.contains("exposed by +") && told.contains("it is too dark to be seen otherwise (--exposure 0)"),
        "{told}"
    );
    assert!((0.1..0.3).contains(&mean), "{mean}");
    let (told, mean) = render("1e5", &[]);
    assert!(told.contains("exposed by -") && (0.1..0.3).contains(&mean), "{told}{mean}");
    let (told, mean) = render("1e-5", &["--exposure", "0"]);
    assert!(!told.contains("exposed") && mean == 0.0, "{told}{mean}");
    let (told, _) = render("0.5", &[]);
    assert!(!told.contains("exposed"), "{told}");
    let (told, mean) = render("0", &[]);
    assert!(told.contains("warning: the image is black") && mean == 0.0, "{told}{mean}");
}

#[test]
fn tone_mapping_changes_what_is_shown() {
    let clip = rendered("a.png", &["--exposure", "3"]);
    for name in ["reinhard", "aces", "agx", "neutral"] {
        assert_ne!(rendered("a.png", &["--exposure", "3", "--tonemap", name]), clip, "{name}");
    }
}

#[test]
fn options_override_the_scene() {
    let folder = Folder::new();
    let options = ["--size", "10x6", "--spp", "3", "--seed", "7", "--max-depth", "2", "--json", "--quiet"];
    let outcome = folder.run(&[&["render", "scene.toml", "-o", "a.exr"], &options[..]].concat());
    assert_eq!(outcome.stderr, "");
    let summary = json(&outcome);
    for (key, value) in
        [("width", 10), ("height", 6), ("spp", 3), ("seed", 7), ("max_depth", 2), ("paths", 180)]
    {
        assert_eq!(summary[key], value, "{key}: {summary}");
    }
    let read = image(&folder, "a.exr");
    assert_eq!((read.width, read.height), (10, 6));
}

#[test]
fn transport_options_take_effect() {
    let emission_only = rendered("a.exr", &["--max-depth", "1"]);
    let one_bounce = rendered("a.exr", &["--max-depth", "2"]);
    let middle = 8 * 24 + 12;
    assert_eq!(emission_only.pixels[middle], [0.0; 3]);
    assert!(one_bounce.pixels[middle][0] > 0.1);
    assert_ne!(rendered("a.exr", &["--seed", "1"]), rendered("a.exr", &["--seed", "2"]));
    assert_eq!(rendered("a.exr", &["--seed", "1"]), rendered("a.exr", &["--seed", "1", "--threads", "1"]));
    assert_ne!(rendered("a.exr", &["--sampler", "sobol"]), rendered("a.exr", &["--sampler", "independent"]));
    assert_ne!(rendered("a.exr", &["--direct", "nee"]), rendered("a.exr", &["--direct", "bsdf"]));
    for options in [["--rr-depth", "off"], ["--rr-depth", "2"], ["--masking", "separable"]] {
        rendered("a.exr", &options);
    }
}

#[test]
fn the_summary_for_programs_is_complete() {
    let folder = Folder::new();
    let summary = json(&folder.run(&["render", "scene.toml", "-o", "a.png", "--json", "--device", "cpu"]));
    let keys = "version scene device width height spp seed max_depth seconds paths mpaths_per_s \
                rejected_samples interrupted outputs warnings contents";
    for key in keys.split_whitespace() {
        assert!(!summary[key].is_null(), "{key} is missing: {summary}");
    }
    for key in ["load", "build", "bvh", "start", "jit", "upload", "render", "write", "total"] {
        assert!(summary["seconds"][key].as_f64().is_some_and(|s| s >= 0.0), "{key}: {summary}");
    }
    assert_eq!(summary["interrupted"], false);
    assert_eq!(summary["rejected_samples"], 0);
    assert_eq!(summary["outputs"][0]["path"], "a.png");
    assert_eq!(summary["outputs"][0]["bytes"], fs::metadata(folder.at("a.png")).unwrap().len());
    assert_eq!(summary["contents"]["spheres"], 1);
    assert!(summary["device"].as_str().unwrap().starts_with("CPU"), "{summary}");
}

#[test]
fn the_wavefront_tells_where_its_time_went() {
    let folder = Folder::new();
    let render = ["render", "scene.toml", "-o", "a.pfm", "--integrator", "wavefront", "--pool", "100"];
    let outcome = folder.run(&[&render[..], &["--stage-times", "--stage-plot", "stages.png"]].concat());
    assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(0), ""), "{outcome:?}");
    assert!(outcome.stderr.contains("wrote a.pfm, stages.png\n"), "{outcome:?}");
    for line in
        ["stage ", "generate ", "extend ", "shade ", "connect ", "accumulate ", "bookkeeping ", "live paths "]
    {
        assert!(outcome.stderr.lines().any(|l| l.starts_with(line)), "{line}: {outcome:?}");
    }
    assert_eq!(&fs::read(folder.at("stages.png")).unwrap()[1..4], b"PNG");
    assert_eq!(folder.names(), ["a.pfm", "stages.png"]);

    let plain = image(&folder, "a.pfm");
    let others = [&["--no-compact"][..], &["--no-sort"], &["--no-regenerate"], &["--order-rays", "always"]];
    for options in others {
        let with = ["--stage-plot", "stages.svg", "--json", "--quiet"];
        let outcome = folder.run(&[&render[..], options, &with].concat());
        assert_eq!(outcome.stderr, "", "{options:?}");
        let summary = json(&outcome);
        let stages = summary["stage_times"].as_array().expect("an array");
        let find = |name| stages.iter().find(|stage| stage["stage"] == name);
        let stage = |name| find(name).expect(name);
        assert_eq!(find("order-rays").is_some(), options.contains(&"always"), "{summary}");
        assert_eq!(stage("generate")["items"], 24 * 16 * 8, "{summary}");
        assert!(stage("extend")["seconds"].as_f64().is_some_and(|s| s > 0.0), "{summary}");
        assert_eq!(summary["live_paths"][0], 100, "{summary}");
        assert!(fs::read_to_string(folder.at("stages.svg")).unwrap().starts_with("<svg"));
        assert_eq!(image(&folder, "a.pfm"), plain, "{options:?}");
    }
    assert!(json(&folder.run(&[&render[..], &["--json"]].concat())).get("stage_times").is_none());

    let outcome = folder.run(&["render", "scene.toml", "-o", "a.pfm", "--stage-times"]);
    assert!(outcome.stderr.contains(", wavefront (the one that has stages)\n"), "{outcome:?}");
    assert_eq!(image(&folder, "a.pfm"), plain);
    let outcome = folder.run(&["render", "scene.toml", "-o", "a.pfm", "--pool", "1000"]);
    assert!(outcome.stderr.contains(", wavefront (the one that has a pool)\n"), "{outcome:?}");
    assert_eq!(image(&folder, "a.pfm"), plain);
}

#[test]
fn what_has_no_stages_has_no_options_of_stages() {
    let folder = Folder::new();
    let render = ["render", "scene.toml", "-o", "a.pfm"];
    let with = |options: &[&'static str]| [&render[..], options].concat();
    for (options, named) in [
        (&["--pool", "1000"][..], "--pool"),
        (&["--no-compact"], "--no-compact"),
        (&["--no-sort"], "--no-sort"),
        (&["--no-regenerate"], "--no-regenerate"),
        (&["--order-rays", "never"], "--order-rays"),
        (&["--stage-plot", "a.svg"], "--stage-plot"),
        (&["--no-sort", "--stage-times", "--pool", "4Ki"], "--pool, --stage-times, --no-sort"),
    ] {
        let message =
            format!("{named}: the megakernel has neither stages nor a pool; --integrator wavefront has");
        refused(&folder, &[&with(&["--integrator", "megakernel"]), options].concat(), &message);
    }
    let message = "--stage-plot \"a.gif\": expected a file .png or .svg";
    refused(&folder, &with(&["--integrator", "wavefront", "--stage-plot", "a.gif"]), message);
    let message = "output \"./a.png\": given twice";
    let options = ["-o", "a.png", "--integrator", "wavefront", "--stage-plot", "./a.png"];
    refused(&folder, &with(&options), message);
    let message = "output \"none/a.png\": directory \"none\" does not exist";
    refused(&folder, &with(&["--stage-plot", "none/a.png"]), message);
}

#[test]
fn a_time_budget_ends_a_render() {
    let folder = Folder::new();
    let arguments = ["render", "scene.toml", "-o", "a.png", "--time", "300ms", "--json"];
    let summary = json(&folder.run(&arguments));
    assert_eq!(summary["interrupted"], false);
    // The scene's own 8 spp take no time: the budget replaces them.
    assert!(summary["spp"].as_u64().unwrap() > 8, "{summary}");
    let seconds = summary["seconds"]["render"].as_f64().unwrap();
    assert!((0.3..5.0).contains(&seconds), "{seconds} s");
    let both = json(&folder.run(&[&arguments[..], &["--spp", "2"]].concat()));
    assert_eq!(both["spp"], 2);
}

#[test]
fn help_goes_to_stdout_and_tells_the_exit_codes() {
    let folder = Folder::new();
    for arguments in
        [&["--help"][..], &["render", "--help"], &["render", "-h"], &["info", "--help"], &["bsdf", "--help"]]
    {
        let help = folder.run(arguments);
        assert_eq!((help.code, help.stderr.as_str()), (Some(0), ""), "{arguments:?}");
        for line in ["Exit codes:", "  0    done", "  2    bad usage", "  3    failed", "  130  interrupted"]
        {
            assert!(help.stdout.contains(line), "{arguments:?}: {help:?}");
        }
    }
    let help = folder.run(&["render", "--help"]).stdout;
    assert!(help.contains("torrance render scene.toml -o image.png"), "{help}");
    let version = folder.run(&["--version"]);
    assert_eq!(version.stdout, concat!("torrance ", env!("CARGO_PKG_VERSION"), "\n"));
    let nothing = folder.run(&[]);
    assert_eq!((nothing.code, nothing.stdout.as_str()), (Some(2), ""));
}
