//! `torrance denoise`.

use torrance_image::film::encode::encode_layers;
use torrance_image::film::layers::Samples;
use torrance_image::film::{Layers, read, read_layers};

use crate::program::Folder;

/// Whether images are the same but for the order in which the library's threads add numbers up.
fn is_close(a: &[[f32; 3]], b: &[[f32; 3]]) -> bool {
    let pairs = || a.iter().flatten().zip(b.iter().flatten());
    a.len() == b.len() && pairs().all(|(a, b)| (a - b).abs() <= 1e-4 * a.abs().max(1e-3))
}

#[test]
fn without_the_library_the_error_says_where_to_put_it() {
    let folder = Folder::new();
    for library in ["nowhere.so", "."] {
        let outcome = folder.run(&["denoise", "scene.pfm", "-o", "a.png", "--library", library]);
        assert_eq!(outcome.code, Some(2), "{outcome:?}");
        assert!(outcome.stderr.starts_with("error: Open Image Denoise is not found: "), "{outcome:?}");
        assert!(outcome.stderr.contains("set TORRANCE_OIDN to its library or folder"), "{outcome:?}");
    }
    assert!(folder.names().is_empty());
    for (arguments, why) in [
        (&["--denoise=oidn"][..], "error: --denoise: Open Image Denoise is not found: "),
        (&["--denoise", "--shard=1/2"], "error: --denoise: this is a part of a render; merge the parts"),
    ] {
        let render = [&["render", "scene.toml", "-o", "a.exr"], arguments].concat();
        let mut program = folder.program(&render);
        let output = program.env("TORRANCE_OIDN", "nowhere.so").output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{stderr}");
        assert!(stderr.starts_with(why), "{stderr}");
    }
    assert!(folder.names().is_empty(), "it is known before anything is rendered");
}

/// Sizes that a format has no room for are told before anything is made of an image.
#[test]
fn what_a_format_cannot_hold_is_refused_first() {
    let folder = Folder::new();
    let mut wide = Layers::new(16_385, 1);
    for name in ["R", "G", "B", "lamp.R", "lamp.G", "lamp.B"] {
        wide.push(name, Samples::Float(vec![1.0; 16_385]));
    }
    let bytes = encode_layers(wide, Default::default()).unwrap().bytes;
    std::fs::write(folder.at("wide.exr"), bytes).unwrap();
    for arguments in
        [&["denoise"][..], &["mix", "--gain", "lamp=2"], &["defocus", "--radius", "3", "--device=cpu"]]
    {
        let outcome = folder.run(&[arguments, &["wide.exr", "-o", "out.webp"]].concat());
        assert_eq!(outcome.code, Some(2), "{outcome:?}");
        let why = "output \"out.webp\": the image has 16385×1 pixels, and .webp files at most 16384×16384";
        assert!(outcome.stderr.contains(why), "{arguments:?}: {outcome:?}");
    }
    assert_eq!(folder.names(), ["wide.exr"]);
}

/// The mean square of the relative difference of images.
fn relative_error(image: &[[f32; 3]], reference: &[[f32; 3]]) -> f64 {
    let pairs = image.iter().flatten().zip(reference.iter().flatten());
    let errors = pairs.map(|(a, b)| f64::from(a - b).powi(2) / (f64::from(*b).powi(2) + 0.01));
    errors.sum::<f64>() / (3 * image.len()) as f64
}

/// Runs the program to a good end where it finds no Open Image Denoise. Returns what it prints to stdout.
fn run_alone(folder: &Folder, arguments: &[&str]) -> String {
    let output = folder.program(arguments).env("TORRANCE_OIDN", "nowhere.so").output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// By halves of the samples as part of a render, without them afterwards, and better by the former.
#[test]
fn torrance_denoises_by_itself() {
    let folder = Folder::new();
    let run = |arguments: &[&str]| run_alone(&folder, arguments);
    let size = ["render", "scene.toml", "--size=96x64", "--device=cpu"];
    run(&[&size[..], &["--spp=1024", "--seed=5", "-o", "reference.pfm"]].concat());
    let told = run(&[&size[..], &["--spp=8", "--denoise", "--json", "-o", "a.exr", "-o", "a.pfm"]].concat());
    assert!(told.contains("TORRANCE_OIDN: denoising by NFOR: Open Image Denoise is not found"), "{told}");
    assert!(told.contains("\"denoiser\": \"NFOR on CPU"), "{told}");
    assert!(told.contains(", by halves of the samples, by albedo and normals\""), "{told}");
    let layers = read_layers(&folder.at("a.exr")).unwrap();
    let (noisy, clean) = (layers.rgb("").unwrap(), layers.rgb("denoised").unwrap());
    assert_eq!(read(&folder.at("a.pfm")).unwrap().pixels, clean);
    let reference = read(&folder.at("reference.pfm")).unwrap().pixels;
    let [before, after] = [&noisy, &clean].map(|image| relative_error(image, &reference));
    assert!(after < 0.25 * before, "{after} of {before}");

    // The command finds the same in the file.
    run(&["denoise", "a.exr", "-o", "b.pfm", "--device=cpu"]);
    assert!(is_close(&read(&folder.at("b.pfm")).unwrap().pixels, &clean));
    run(&[&size[..], &["--spp=8", "--aov=albedo,N", "-o", "c.exr"]].concat());
    let told = run(&["denoise", "c.exr", "-o", "c.pfm", "--device=cpu", "--denoiser=nfor", "--json"]);
    assert!(told.contains(", by standard errors, by albedo and normals\""), "{told}");
    let by_errors = relative_error(&read(&folder.at("c.pfm")).unwrap().pixels, &reference);
    assert!(by_errors < 0.6 * before, "{by_errors} of {before}");

    // A file that does not tell its noise.
    let outcome = folder.run(&["denoise", "reference.pfm", "-o", "d.png", "--denoiser=nfor"]);
    assert_eq!(outcome.code, Some(2), "{outcome:?}");
    assert!(outcome.stderr.contains("\"reference.pfm\": its noise is not known: NFOR takes"), "{outcome:?}");
    let outcome = folder.run(&["denoise", "a.exr", "-o", "d.png", "--denoiser=nfor", "--library=x"]);
    assert_eq!(outcome.code, Some(2), "{outcome:?}");
    assert!(outcome.stderr.starts_with("error: --library: NFOR takes no library"), "{outcome:?}");
}

/// An image that has all of its samples, and the layers that the denoiser takes, needs no other render to be denoised.
#[test]
fn what_is_rendered_is_denoised_later() {
    let folder = Folder::new();
    let render = ["render", "scene.toml", "--size=48x32", "--spp=8", "--device=cpu", "--json", "-o", "a.exr"];
    let resumed = |more: &[&str]| folder.run(&[&render[..], &["--resume"], more].concat());
    assert_eq!(folder.run(&[&render[..], &["--aov=albedo,N,halves"]].concat()).code, Some(0));
    let noisy = read_layers(&folder.at("a.exr")).unwrap();
    assert!(noisy.rgb("denoised").is_none());
    let outcome = resumed(&["--denoise=nfor", "-o", "a.pfm"]);
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    assert!(
        outcome.stdout.contains("\"denoiser\": \"NFOR on CPU") && outcome.stdout.contains("\"paths\": 0,"),
        "{outcome:?}"
    );
    let both = read_layers(&folder.at("a.exr")).unwrap();
    let clean = both.rgb("denoised").expect("a layer");
    assert_eq!((both.rgb(""), both.channel("samples")), (noisy.rgb(""), noisy.channel("samples")));
    assert_eq!(read(&folder.at("a.pfm")).unwrap().pixels, clean);
    // Once.
    let bytes = || std::fs::read(folder.at("a.exr")).unwrap();
    let before = bytes();
    assert_eq!(resumed(&["--denoise=nfor"]).code, Some(0));
    assert!(bytes() == before);
    // One whose samples went where the noise was.
    let adaptive =
        ["render", "scene.toml", "--size=48x32", "--noise=9%", "--device=cpu", "--json", "-o", "n.exr"];
    assert_eq!(folder.run(&[&adaptive[..], &["--aov=albedo,N,halves"]].concat()).code, Some(0));
    let noisy = read_layers(&folder.at("n.exr")).unwrap();
    let outcome = folder.run(&[&adaptive[..], &["--resume", "--denoise=nfor"]].concat());
    assert!(outcome.code == Some(0) && outcome.stdout.contains("\"paths\": 0,"), "{outcome:?}");
    let both = read_layers(&folder.at("n.exr")).unwrap();
    assert!(both.rgb("denoised").is_some() && both.channel("samples") == noisy.channel("samples"));
    // One without what the denoiser takes stays as it is, too.
    assert_eq!(folder.run(&render).code, Some(0));
    let outcome = resumed(&["--denoise=nfor"]);
    assert_eq!(outcome.code, Some(2), "{outcome:?}");
    assert!(outcome.stderr.contains("torrance denoise takes the image as it is"), "{outcome:?}");
}

#[test]
fn the_noise_of_one_sample_is_not_known() {
    let folder = Folder::new();
    for arguments in [&["render", "scene.toml"][..], &["sweep", "scene.toml", "--param=camera.fov=30,40"]] {
        let outcome =
            folder.run(&[arguments, &["--spp=1", "--denoise=nfor", "--device=cpu", "-o", "a.png"]].concat());
        assert_eq!(outcome.code, Some(2), "{outcome:?}");
        assert!(outcome.stderr.contains("take at least two (--spp 2)"), "{outcome:?}");
    }
    assert!(folder.names().is_empty(), "{:?}", folder.names());
}

/// Each variant of a sweep is what a render of it is, and its numbers are those of the noisy image.
#[test]
fn variants_of_sweeps_are_denoised() {
    let folder = Folder::new();
    let run = |arguments: &[&str]| run_alone(&folder, arguments);
    let common = ["--size=48x32", "--spp=8", "--device=cpu"];
    let sweep = ["sweep", "scene.toml", "--param=camera.fov=30,40", "--variants=v", "-o"];
    run(&[&sweep[..], &["noisy.png", "--csv=noisy.csv"], &common].concat());
    run(&[&sweep[..], &["clean.png", "--csv=clean.csv", "--denoise=nfor", "--animate=a.png"], &common]
        .concat());
    run(&[&["render", "scene.toml", "--set=camera.fov=40", "--denoise=nfor", "-o=b.exr"], &common[..]]
        .concat());
    let [variant, alone] = ["v/2_fov=40.exr", "b.exr"].map(|name| read_layers(&folder.at(name)).unwrap());
    assert_eq!(variant.rgb(""), alone.rgb(""));
    assert!(is_close(&variant.rgb("denoised").unwrap(), &alone.rgb("denoised").unwrap()));
    assert_eq!(variant.attributes["denoiser"], alone.attributes["denoiser"]);
    let bytes = |name: &str| std::fs::read(folder.at(name)).unwrap();
    assert_ne!(bytes("noisy.png"), bytes("clean.png"));
    let means = |name: &str| -> Vec<String> {
        let table = String::from_utf8(bytes(name)).unwrap();
        table.lines().map(|row| row.split(',').take(6).collect()).collect()
    };
    assert_eq!(means("noisy.csv"), means("clean.csv"), "numbers are of the image with its noise");
}

/// A render denoises as the command does that takes its image, and its other files hold the denoised image.
#[test]
#[ignore = "takes the library, where TORRANCE_OIDN says"]
fn renders_are_denoised() {
    let folder = Folder::new();
    let run = |arguments: &[&str]| {
        let outcome = folder.run(arguments);
        assert_eq!(outcome.code, Some(0), "{outcome:?}");
        outcome
    };
    let outcome = run(&[
        "render",
        "scene.toml",
        "--spp=2",
        "--size=96x64",
        "--device=cpu",
        "--denoise",
        "--json",
        "-o",
        "a.exr",
        "-o",
        "a.pfm",
    ]);
    assert!(outcome.stderr.contains("by albedo and normals"), "{outcome:?}");
    assert!(outcome.stdout.contains("\"denoiser\": \"Open Image Denoise "), "{outcome:?}");
    let layers = read_layers(&folder.at("a.exr")).unwrap();
    let clean = layers.rgb("denoised").expect("a layer");
    assert_eq!(read(&folder.at("a.pfm")).unwrap().pixels, clean);
    assert_ne!(layers.rgb(""), Some(clean.clone()), "the noisy image stays");
    run(&["denoise", "a.exr", "-o", "b.pfm", "--device=cpu"]);
    assert!(is_close(&read(&folder.at("b.pfm")).unwrap().pixels, &clean));
    // Other files of an image that is complete.
    let again = ["render", "scene.toml", "--spp=2", "--size=96x64", "--device=cpu", "--denoise"];
    run(&[&again[..], &["--resume", "-o", "a.exr", "-o", "c.pfm"]].concat());
    assert!(is_close(&read(&folder.at("c.pfm")).unwrap().pixels, &clean));
}

/// The denoised image is nearer to what the scene looks like; EXR files keep the noisy one, which is what is compared.
#[test]
#[ignore = "takes the library, where TORRANCE_OIDN says"]
fn noise_goes_and_the_noisy_image_stays() {
    let folder = Folder::new();
    let render = |output, spp| {
        let outcome = folder.run(&[
            "render",
            "scene.toml",
            "-o",
            output,
            "--spp",
            spp,
            "--size=96x64",
            "--aov=stderr,samples,albedo,N",
        ]);
        assert_eq!(outcome.code, Some(0), "{outcome:?}");
    };
    render("noisy.exr", "1");
    render("truth.exr", "1024");
    let outcome = folder.run(&["denoise", "noisy.exr", "-o", "a.exr", "-o", "a.pfm", "--device=cpu"]);
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    assert!(outcome.stderr.contains("by albedo and normals"), "{outcome:?}");

    let [noisy, truth, clean] =
        ["noisy.exr", "truth.exr", "a.pfm"].map(|name| read(&folder.at(name)).unwrap());
    let error = |pixels: &[[f32; 3]]| -> f32 {
        let pairs = pixels.iter().flatten().zip(truth.pixels.iter().flatten());
        pairs.map(|(a, b)| (a - b) * (a - b)).sum()
    };
    assert!(
        error(&clean.pixels) * 4.0 < error(&noisy.pixels),
        "{} {}",
        error(&clean.pixels),
        error(&noisy.pixels)
    );

    let layers = read_layers(&folder.at("a.exr")).unwrap();
    assert_eq!(layers.image(), Some(noisy));
    assert_eq!(layers.rgb("denoised"), Some(clean.pixels));
    assert!(layers.channel("stderr.R").is_some() && layers.channel("N.X").is_some());
    assert!(layers.attributes["denoiser"].starts_with("Open Image Denoise "), "{:?}", layers.attributes);
    let verdict = folder.run(&["compare", "a.exr", "truth.exr"]);
    assert_eq!(verdict.code, Some(0), "{verdict:?}");
    let again = folder.run(&["denoise", "a.exr", "-o", "b.exr", "--device=cpu"]);
    assert!(again.stderr.contains("has a denoised image already, which is replaced"), "{again:?}");
    let again = read_layers(&folder.at("b.exr")).unwrap();
    assert!(is_close(&again.rgb("denoised").unwrap(), &layers.rgb("denoised").unwrap()));
    let names = |layers: &Layers| layers.channels.iter().map(|it| it.name.clone()).collect::<Vec<_>>();
    assert_eq!(names(&again), names(&layers), "one layer each");
    let noisy = |mut layers: Layers| {
        layers.channels.retain(|channel| !channel.name.starts_with("denoised."));
        layers
    };
    assert_eq!(noisy(again), noisy(layers));
}
