//! `torrance compare`: exit codes, what it prints and writes, and images that cannot be compared.

use std::fs;

use exr::prelude::{
    AnyChannel, AnyChannels, Encoding, FlatSamples, Image, Layer, LayerAttributes, WritableImage,
};
use serde_json::Value;

use crate::damaged::png_that_claims;
use crate::program::{Folder, Outcome};

const WIDTH: usize = 64;
const HEIGHT: usize = 48;

/// A channel's name, and its samples as a function of column and row.
type Channel<'a> = (&'a str, &'a dyn Fn(usize, usize) -> f32);

/// Writes an EXR file with such channels.
fn exr(folder: &Folder, name: &str, channels: &[Channel<'_>]) {
    let channel = |(name, at): &Channel<'_>| {
        let samples = (0..WIDTH * HEIGHT).map(|i| at(i % WIDTH, i / WIDTH)).collect();
        AnyChannel::new(*name, FlatSamples::F32(samples))
    };
    let channels = AnyChannels::sort(channels.iter().map(channel).collect());
    let layer = Layer::new((WIDTH, HEIGHT), LayerAttributes::default(), Encoding::FAST_LOSSLESS, channels);
    Image::from_layer(layer).write().to_file(folder.at(name)).unwrap();
}

/// An EXR file of one grey, with more channels.
fn grey(folder: &Folder, name: &str, value: f32, more: &[Channel<'_>]) {
    let value = |_, _| value;
    let rgb: [Channel<'_>; 3] = [("R", &value), ("G", &value), ("B", &value)];
    exr(folder, name, &[&rgb, more].concat());
}

#[test]
fn clamped_images_are_told_from_others() {
    let folder = Folder::new();
    let renders: [(&str, &[&str]); 5] = [
        ("a.exr", &[]),
        ("b.exr", &["--seed=2"]),
        ("never.exr", &["--seed=3", "--clamp-indirect=1e6"]),
        ("as-seldom.exr", &["--seed=5", "--clamp-indirect=1e6"]),
        ("often.exr", &["--seed=4", "--clamp-indirect=0.001"]),
    ];
    for (name, more) in renders {
        let outcome =
            folder.run(&[&["render", "scene.toml", "-o", name, "--spp=64", "--size=48x32"], more].concat());
        assert_eq!(outcome.code, Some(0), "{outcome:?}");
    }
    let compared = |a: &str, b: &str| folder.run(&["compare", a, b]);
    for (a, b) in [("a.exr", "b.exr"), ("never.exr", "as-seldom.exr")] {
        let outcome = compared(a, b);
        assert!(outcome.code == Some(0) && !outcome.stdout.contains("Biased"), "{outcome:?}");
    }
    let outcome = compared("a.exr", "never.exr");
    let told = "Biased: in B indirect light is clamped to 1000000, A tells of no clamping;";
    assert!(outcome.code == Some(0) && outcome.stdout.contains(told), "{outcome:?}");
    let outcome = compared("often.exr", "a.exr");
    let told = "Biased: in A indirect light is clamped to 0.001, B tells of no clamping;";
    assert!(outcome.code <= Some(1) && outcome.stdout.contains(told), "{outcome:?}");
    let outcome = folder.run(&["merge", "a.exr", "never.exr", "-o", "m.exr"]);
    assert!(outcome.code == Some(2) && outcome.stderr.contains("clamp"), "{outcome:?}");
}

/// Random numbers of an exponential distribution with mean 1.
struct Noise(u64);

impl Noise {
    fn next(&mut self) -> f32 {
        // SplitMix64.
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        -(((z >> 40) as f32 + 0.5) / (1 << 24) as f32).ln()
    }
}

/// A noisy image of 64 samples a pixel, with its standard errors: a ramp, and `factor` times as red in the 16 × 16
/// pixels from (32, 16).
fn noisy(folder: &Folder, name: &str, seed: u64, factor: f32) {
    const SAMPLES: usize = 64;
    let mut noise = Noise(seed);
    let mut pixel = |i: usize| {
        let (x, y) = (i % WIDTH, i / WIDTH);
        let odd = (32..48).contains(&x) && (16..32).contains(&y);
        let expected = (0.2 + x as f32 / WIDTH as f32) * if odd { factor } else { 1.0 };
        let samples: Vec<f32> = (0..SAMPLES).map(|_| expected * noise.next()).collect();
        let mean = samples.iter().sum::<f32>() / SAMPLES as f32;
        let squares: f32 = samples.iter().map(|s| (s - mean) * (s - mean)).sum();
        (mean, (squares / ((SAMPLES - 1) * SAMPLES) as f32).sqrt())
    };
    let red: Vec<_> = (0..WIDTH * HEIGHT).map(&mut pixel).collect();
    let mean = |x: usize, y: usize| red[y * WIDTH + x].0;
    let stderr = |x: usize, y: usize| red[y * WIDTH + x].1;
    let (one, none, samples) = (|_, _| 1.0, |_, _| 0.0, |_, _| SAMPLES as f32);
    exr(
        folder,
        name,
        &[
            ("R", &mean),
            ("G", &one),
            ("B", &one),
            ("stderr.R", &stderr),
            ("stderr.G", &none),
            ("stderr.B", &none),
            ("samples", &samples),
        ],
    );
}

fn compare(folder: &Folder, arguments: &[&str]) -> Outcome {
    folder.run(&[&["compare"], arguments].concat())
}

/// Compares, and expects an exit code; the object that is printed.
#[track_caller]
fn json(folder: &Folder, arguments: &[&str], code: i32) -> Value {
    let outcome = compare(folder, &[arguments, &["--json"]].concat());
    assert_eq!(outcome.code, Some(code), "{arguments:?}: {outcome:?}");
    let summary: Value = serde_json::from_str(&outcome.stdout).unwrap_or_else(|e| panic!("{e}: {outcome:?}"));
    assert_eq!(summary["different"], code == 1, "{summary}");
    summary
}

/// Exit code 2, nothing on stdout, nothing written, and a first line that helps.
#[track_caller]
fn refused(folder: &Folder, arguments: &[&str], message: &str) {
    let before = folder.names();
    let outcome = compare(folder, arguments);
    let first = outcome.stderr.lines().next().unwrap_or_default();
    assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(2), ""), "{arguments:?}: {outcome:?}");
    assert!(first.starts_with("error: ") && first.contains(message), "{arguments:?}: {first}");
    assert_eq!(folder.names(), before, "{arguments:?}");
}

#[test]
fn noise_is_no_difference_and_a_difference_is_found_where_it_is() {
    let folder = Folder::new();
    noisy(&folder, "a.exr", 1, 1.0);
    noisy(&folder, "b.exr", 2, 1.0);
    noisy(&folder, "c.exr", 3, 1.2);
    let same = json(&folder, &["a.exr", "b.exr"], 0);
    assert_eq!(same["verdict"]["different"], false);
    assert!(same["verdict"]["p"].as_f64().unwrap() > 0.01);
    assert_eq!(same["bias"]["origin"], "pixels");
    let detectable = same["verdict"]["detectable"].as_array().unwrap();
    assert!(detectable.iter().any(|d| d["block"].is_null() && d["most"].as_f64().unwrap() < 0.05), "{same}");

    let outcome = compare(&folder, &["c.exr", "b.exr", "--heatmap", "z.png"]);
    assert_eq!(outcome.code, Some(1), "{outcome:?}");
    assert!(outcome.stdout.contains("\nDifferent: in the "), "{outcome:?}");
    assert!(outcome.stdout.contains("brighter in A than in B"), "{outcome:?}");
    assert!(outcome.stderr.starts_with("wrote z.png: z: "), "{outcome:?}");
    let different = json(&folder, &["c.exr", "b.exr"], 1);
    let worst = &different["verdict"]["worst"];
    let [x, y, w, h] = ["x", "y", "width", "height"].map(|k| worst["region"][k].as_u64().unwrap());
    assert!(x < 48 && x + w > 32 && y < 32 && y + h > 16, "{worst} does not touch what was changed");
    assert_eq!(worst["channel"], "red");
    assert!(worst["z"].as_f64().unwrap() > 4.0);

    // The verdict is that of what was compared: elsewhere nothing differs, and here it does.
    let elsewhere = json(&folder, &["c.exr", "b.exr", "--crop", "0,0,32,48"], 0);
    assert_eq!((&elsewhere["region"]["width"], &elsewhere["pixels"]["measured"]), (&32.into(), &1536.into()));
    let here = json(&folder, &["c.exr", "b.exr", "--crop", "32,16,16,16"], 1);
    let found = &here["verdict"]["worst"]["region"];
    assert!(found["x"].as_u64().unwrap() >= 32 && found["y"].as_u64().unwrap() >= 16, "{found}");
}

/// Nobody would know 20 % of red from noise by what an image says of itself, if it says nothing.
#[test]
fn without_standard_errors_there_is_no_verdict() {
    let folder = Folder::new();
    noisy(&folder, "a.exr", 1, 1.0);
    noisy(&folder, "c.exr", 3, 1.2);
    grey(&folder, "grey.exr", 1.0, &[]);
    let outcome = compare(&folder, &["a.exr", "grey.exr"]);
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    assert!(outcome.stdout.contains("\nNo verdict: the noise of B is not known. "), "{outcome:?}");
    assert!(outcome.stdout.contains("--stderr-b; --exact-b"), "{outcome:?}");
    assert_eq!(json(&folder, &["a.exr", "grey.exr"], 0)["verdict"], Value::Null);
    assert_eq!(json(&folder, &["a.exr", "grey.exr"], 0)["bias"]["origin"], "blocks");
    // Said to be exact, or given standard errors, it differs; so it does with the noise of another file.
    assert_eq!(json(&folder, &["a.exr", "grey.exr", "--exact-b"], 1)["bias"]["origin"], "pixels");
    let given = ["c.exr", "a.exr", "--stderr-a", "a.exr", "--samples-a", "64"];
    assert_eq!(json(&folder, &given, 1)["verdict"]["different"], true);
    grey(&folder, "large.exr", 10.0, &[]);
    json(&folder, &["c.exr", "a.exr", "--stderr-a", "large.exr", "--samples-a", "64"], 0);
}

#[test]
fn thresholds_decide_where_there_is_no_verdict() {
    let folder = Folder::new();
    grey(&folder, "a.exr", 0.5, &[]);
    grey(&folder, "b.exr", 0.4, &[]);
    let bounds = |arguments: &[&str], code| json(&folder, &[&["a.exr", "b.exr"], arguments].concat(), code);
    let metrics = bounds(&[], 0);
    let value = |name: &str| metrics["metrics"][name].as_f64().unwrap_or_else(|| panic!("{name}: {metrics}"));
    assert!((value("rmse") - 0.1).abs() < 1e-7 && (value("mae") - 0.1).abs() < 1e-7);
    assert!((value("relmse") - 0.01 / 0.17).abs() < 1e-7);
    assert!((value("psnr") - 20.0 * 4.0_f64.log10()).abs() < 1e-5);
    assert!((value("bias") - 0.25).abs() < 1e-6);
    let holds = bounds(&["--threshold", "rmse=0.11", "--threshold", "psnr=12"], 0);
    assert_eq!(holds["thresholds"][1]["holds"], true);
    for broken in
        ["rmse=0.09", "mae=0.09", "relmse=0.05", "psnr=13", "bias=0.2", "flip=0.01", "flip-max=0.01"]
    {
        let summary = bounds(&["--threshold", "ssim=0", "--threshold", broken], 1);
        assert_eq!(summary["thresholds"][0]["holds"], true, "{broken}");
        assert_eq!(summary["thresholds"][1]["holds"], false, "{broken}");
    }
    let outcome = compare(&folder, &["a.exr", "b.exr", "--threshold", "rmse=0.05"]);
    assert!(outcome.stdout.contains("\nrmse 0.1, at most 0.05: does not hold\n"), "{outcome:?}");
    for name in ["flip-median", "flip-p95", "ssim"] {
        assert!(metrics["metrics"][name].is_number(), "{name}: {metrics}");
    }
}

/// Faults of the image are reported, and pixels that cannot be compared are left out.
#[test]
fn pixels_that_are_no_numbers() {
    let folder = Folder::new();
    let hole = |x: usize, y: usize| if (x, y) == (3, 4) { f32::NAN } else { 0.5 };
    let void = |_, _| f32::NAN;
    exr(&folder, "hole.exr", &[("R", &hole), ("G", &hole), ("B", &hole)]);
    exr(&folder, "void.exr", &[("R", &void), ("G", &void), ("B", &void)]);
    grey(&folder, "grey.exr", 0.5, &[]);
    let both = json(&folder, &["hole.exr", "hole.exr"], 0);
    assert_eq!((&both["pixels"]["left_out"], &both["pixels"]["only_a_not_finite"]), (&1.into(), &0.into()));
    let one = json(&folder, &["hole.exr", "grey.exr"], 1);
    assert_eq!(one["pixels"]["only_a_not_finite"], 1);
    assert_eq!(one["words"][1], "Different: 1 pixel is NaN or infinite in A and not in B.");
    let outcome = compare(&folder, &["hole.exr", "grey.exr"]);
    assert!(outcome.stdout.lines().next().unwrap().ends_with(", 1 of them left out as NaN or infinite"));
    refused(
        &folder,
        &["void.exr", "grey.exr"],
        "no pixel can be compared: in one of the images or the other",
    );
}

#[test]
fn layers_by_name() {
    let folder = Folder::new();
    let (low, high) = (|_, _| 0.25, |_, _| 0.75);
    grey(&folder, "a.exr", 0.5, &[("albedo.R", &low), ("albedo.G", &low), ("albedo.B", &low), ("Z", &low)]);
    grey(
        &folder,
        "b.exr",
        0.5,
        &[
            ("base.R", &high),
            ("base.G", &high),
            ("base.B", &high),
            ("N.X", &low),
            ("N.Y", &low),
            ("N.Z", &high),
        ],
    );
    let mae = |arguments: &[&str]| {
        json(&folder, &[&["a.exr", "b.exr"], arguments].concat(), 0)["metrics"]["mae"].as_f64().unwrap()
    };
    assert_eq!(mae(&[]), 0.0);
    assert_eq!(mae(&["--layer-a", "albedo", "--layer-b", "base"]), 0.5);
    assert_eq!(mae(&["--layer-a", "Z"]), 0.25);
    assert!((mae(&["--layer-a", "albedo", "--layer-b", "N"]) - 0.5 / 3.0).abs() < 1e-9);
    refused(
        &folder,
        &["a.exr", "b.exr", "--layer", "albdo"],
        "a.exr: it has no layer \"albdo\"; did you mean \"albedo\"?",
    );
    refused(
        &folder,
        &["a.exr", "b.exr", "--layer", "albedo"],
        "b.exr: it has no layer \"albedo\"; it has \"N\" or \"base\"",
    );
}

#[test]
fn heatmaps_have_the_size_of_the_crop_and_colours_that_differ() {
    let folder = Folder::new();
    let spot = |x: usize, y: usize| if (20..28).contains(&x) && (12..20).contains(&y) { 0.9 } else { 0.3 };
    exr(&folder, "a.exr", &[("R", &spot), ("G", &spot), ("B", &spot)]);
    grey(&folder, "b.exr", 0.3, &[]);
    for map in ["flip", "difference", "relative"] {
        let arguments = ["a.exr", "b.exr", "--crop", "16,8,40,32", "--heatmap", "map.png", "--map", map];
        let outcome = compare(&folder, &arguments);
        assert_eq!(outcome.code, Some(0), "{map}: {outcome:?}");
        assert!(outcome.stderr.starts_with("wrote map.png: "), "{outcome:?}");
        let image = image::open(folder.at("map.png")).unwrap().to_rgb8();
        assert_eq!(image.dimensions(), (40, 32), "{map}");
        let (inside, outside) = (image.get_pixel(8, 8), image.get_pixel(36, 28));
        let apart: i32 = (0..3).map(|c| (i32::from(inside[c]) - i32::from(outside[c])).abs()).sum();
        assert!(apart > 150, "{map}: {inside:?} {outside:?}");
    }
    grey(&folder, "darker.exr", 0.1, &[]);
    compare(&folder, &["darker.exr", "b.exr", "--heatmap", "map.png", "--map", "difference"]);
    let image = image::open(folder.at("map.png")).unwrap().to_rgb8();
    assert!(image.get_pixel(0, 0)[2] > image.get_pixel(0, 0)[0], "darker is blue");
}

#[test]
fn formats_that_hold_the_same_are_the_same() {
    let folder = Folder::new();
    let outputs = ["-o", "a.exr", "-o", "a.pfm", "-o", "a.hdr", "-o", "a.png"];
    let outcome = folder.run(&[&["render", "scene.toml"], &outputs[..]].concat());
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    assert_eq!(json(&folder, &["a.exr", "a.pfm"], 0)["metrics"]["rmse"], 0.0);
    assert!(json(&folder, &["a.hdr", "a.pfm"], 0)["metrics"]["bias"].as_f64().unwrap() < 1.0 / 256.0);
    let png = json(&folder, &["a.png", "a.png"], 0);
    assert_eq!((&png["kind"], &png["metrics"]["psnr"]), (&"display".into(), &Value::Null));
    let outcome = compare(&folder, &["a.png", "a.png"]);
    assert!(
        outcome.stdout.contains("No verdict: values of a display have no standard errors"),
        "{outcome:?}"
    );
    refused(
        &folder,
        &["a.png", "a.exr"],
        "a.png holds values of a display, a.exr radiance: compare PNG with PNG",
    );
    refused(
        &folder,
        &["a.exr", "a.pfm", "--stderr-a", "a.png"],
        "a.png: holds values of a display, not standard errors",
    );
}

/// An EXR file that claims to have so many columns and rows.
fn exr_that_claims(folder: &Folder, columns: i32, rows: i32) -> Vec<u8> {
    grey(folder, "small.exr", 0.5, &[]);
    let mut file = fs::read(folder.at("small.exr")).unwrap();
    for name in [&b"dataWindow\0box2i\0"[..], b"displayWindow\0box2i\0"] {
        // After the name, the number of bytes, and the first two of four coordinates.
        let at = file.windows(name.len()).position(|w| w == name).unwrap() + name.len() + 4 + 8;
        file[at..at + 8].copy_from_slice(&[(columns - 1).to_le_bytes(), (rows - 1).to_le_bytes()].concat());
    }
    file
}

/// Images of 16384 × 16384 pixels are refused by their headers, in little memory.
#[cfg(target_os = "linux")]
#[test]
fn enormous_images_take_no_memory() {
    let folder = Folder::new();
    let claims: [(&str, Vec<u8>); 4] = [
        ("huge.png", png_that_claims(16384, 16384)),
        ("huge.exr", exr_that_claims(&folder, 16384, 16384)),
        ("huge.pfm", b"PF\n16384 16384\n-1\n".to_vec()),
        ("huge.hdr", b"#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y 16384 +X 16384\n".to_vec()),
    ];
    for (name, bytes) in claims {
        fs::write(folder.at(name), bytes).unwrap();
        let script = format!("ulimit -v 500000; exec \"$0\" compare {name} {name}");
        let mut shell = std::process::Command::new("sh");
        let command = shell.current_dir(folder.path()).args(["-c", &script, env!("CARGO_BIN_EXE_torrance")]);
        let outcome: Outcome = command.output().unwrap().into();
        let expected = format!("error: {name}: 16384 x 16384 pixels are too many; images of up to 33554432");
        assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(2), ""), "{outcome:?}");
        assert!(outcome.stderr.starts_with(&expected), "{outcome:?}");
    }
}

#[test]
fn damaged_images_are_refused() {
    let folder = Folder::new();
    let outputs = ["-o", "a.exr", "-o", "a.pfm", "-o", "a.hdr", "-o", "a.png"];
    assert_eq!(folder.run(&[&["render", "scene.toml"], &outputs[..]].concat()).code, Some(0));
    for extension in ["exr", "pfm", "hdr", "png"] {
        let right = format!("a.{extension}");
        let whole = fs::read(folder.at(&right)).unwrap();
        let wrong = |name: &str, bytes: &[u8]| {
            let name = format!("{name}.{extension}");
            fs::write(folder.at(&name), bytes).unwrap();
            let message = format!("{name}: not a valid .{extension} file: ");
            refused(&folder, &[&name, &right], &message);
            refused(&folder, &[&right, &name], &message);
        };
        wrong("empty", b"");
        wrong("cut", &whole[..whole.len() * 3 / 4]);
        wrong("stub", &whole[..10]);
        wrong("other", b"GIF89a\x01\0\x01\0\0\0\0;");
    }
    fs::write(folder.at("none.exr"), exr_that_claims(&folder, 0, 48)).unwrap();
    refused(&folder, &["none.exr", "none.exr"], "none.exr: not a valid .exr file: ");
    fs::write(folder.at("wide.exr"), exr_that_claims(&folder, 6400, 48)).unwrap();
    refused(&folder, &["wide.exr", "wide.exr"], "wide.exr: not a valid .exr file: ");
}

#[test]
fn what_cannot_be_compared_is_refused_with_a_reason() {
    let folder = Folder::new();
    grey(&folder, "a.exr", 0.5, &[]);
    let (negative, depth) = (|x: usize, _| if x == 5 { -1.0 } else { 0.1 }, |_, _| 3.0);
    grey(
        &folder,
        "negative.exr",
        0.5,
        &[("stderr.R", &negative), ("stderr.G", &negative), ("stderr.B", &negative)],
    );
    exr(&folder, "depth.exr", &[("Z", &depth)]);
    fs::write(folder.at("small.pfm"), b"Pf\n2 1\n-1\n\0\0\0\0\0\0\0\0").unwrap();
    fs::create_dir(folder.at("folder.exr")).unwrap();
    let a = |arguments: &[&'static str], message: &str| {
        refused(&folder, &[&["a.exr"], arguments].concat(), message)
    };
    a(&["small.pfm"], "sizes differ: a.exr has 64 x 48 pixels, small.pfm 2 x 1");
    a(&["a.exr", "--stderr-b", "small.pfm"], "sizes differ: a.exr has 64 x 48 pixels, small.pfm 2 x 1");
    a(&["missing.exr"], "missing.exr: ");
    a(&["folder.exr"], "folder.exr: ");
    a(&["b.tga"], "b.tga: unknown file extension .tga; did you mean .png?");
    a(&["negative.exr"], "negative.exr: standard errors are negative: -1 in pixel 5");
    a(&["depth.exr"], "depth.exr: it has neither channels R, G and B nor Y, but \"Z\"");
    a(&["a.exr", "--stderr-a", "depth.exr"], "depth.exr: it has neither");
    a(
        &["a.exr", "--crop", "60,0,8,8"],
        "the 8 x 8 pixels from (60, 0) are not all within the image of 64 x 48",
    );
    a(&["a.exr", "--crop", "0,0,0,8"], "--crop");
    a(&["a.exr", "--threshold", "flipp=1"], "unknown metric \"flipp\"; did you mean \"flip\"?");
    a(&["a.exr", "--threshold", "flip"], "expected METRIC=VALUE");
    a(&["a.exr", "--level", "2"], "expected a probability above 0");
    a(&["a.exr", "--ppd", "0"], "expected a number from 5 to 1000");
    a(&["a.exr", "--samples-a", "1"], "expected a number from 2");
    a(&["a.exr", "--exact-a", "--stderr-a", "a.exr"], "cannot be used with");
    a(&["a.exr", "--map", "z"], "required");
    a(
        &["a.exr", "--map", "z", "--heatmap", "z.png"],
        "--map z needs a verdict. No verdict: the noise of A and of B",
    );
    a(&["a.exr", "--heatmap", "z.exr"], "output \"z.exr\": a heatmap is a .png file");
    a(&["a.exr", "--heatmap", "none/z.png"], "does not exist");
}
