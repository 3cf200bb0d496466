//! Sweeps as their users meet them: images side by side, each of which is that of the scene alone.

use std::fs;
use std::process::Stdio;
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::Value;
use torrance_image::film::ImageEstimate;

use crate::program::{Folder, Outcome};

mod comparison;
mod outputs;

/// Three roughnesses of a metal.
const METAL: [&str; 4] = [
    "--set",
    "materials.grey={ type = \"conductor\", metal = \"gold\", roughness = 0.5 }",
    "--param",
    "materials.grey.roughness=0,0.3,1",
];

fn sweep(folder: &Folder, options: &[&str]) -> Outcome {
    let outcome = folder.run(&[&["sweep", "scene.toml", "-o", "sheet.png"], options].concat());
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    outcome
}

fn json(outcome: &Outcome) -> Value {
    serde_json::from_str(&outcome.stdout).unwrap_or_else(|e| panic!("{e}: {outcome:?}"))
}

#[test]
fn a_variant_is_the_scene_alone() {
    let folder = Folder::new();
    let outcome =
        sweep(&folder, &[&METAL[..], &["--variants", "all", "--csv", "table.csv", "--json"]].concat());
    assert!(outcome.stderr.contains("3 variants in "), "{outcome:?}");
    assert_eq!(folder.names(), ["all", "sheet.png", "table.csv"]);
    let mut means = Vec::new();
    for (i, roughness) in ["0", "0.3", "1"].into_iter().enumerate() {
        let set = format!("materials.grey.roughness={roughness}");
        let alone = ["render", "scene.toml", "-o", "alone.exr", "--quiet", METAL[0], METAL[1], "--set", &set];
        assert_eq!(folder.run(&alone).code, Some(0));
        let [alone, variant] =
            [folder.at("alone.exr"), folder.at(&format!("all/{}_roughness={roughness}.exr", i + 1))]
                .map(|path| ImageEstimate::read(&path).expect("an image"));
        assert_eq!(alone, variant, "{roughness}");
        means.push(alone.image.pixels.iter().map(|p| f64::from(p[1])).sum::<f64>());
    }
    assert!(means[0] != means[1] && means[1] != means[2], "roughness changes nothing");

    let table = fs::read_to_string(folder.at("table.csv")).unwrap();
    let lines: Vec<_> = table.lines().collect();
    assert_eq!(lines.len(), 4);
    assert!(lines[0].starts_with("materials.grey.roughness,mean,min,max,p1,"), "{}", lines[0]);
    let summary = json(&outcome);
    assert_eq!((&summary["rendered"], &summary["found"]), (&3.into(), &0.into()));
    for (line, variant) in lines[1..].iter().zip(summary["variants"].as_array().unwrap()) {
        let cells: Vec<_> = line.split(',').collect();
        assert_eq!(variant["parameters"]["materials.grey.roughness"], cells[0]);
        let mean: f64 = cells[1].parse().unwrap();
        assert!((variant["statistics"]["mean"].as_f64().unwrap() / mean - 1.0).abs() < 1e-12);
        assert_eq!((&variant["spp"], &variant["seed"]), (&8.into(), &0.into()));
    }
}

/// Seeds, samples per pixel, and words vary as numbers do.
#[test]
fn what_varies_is_rendered() {
    let folder = Folder::new();
    let spp = ["--param", "render.spp=1,4", "--param", "render.sampler=*", "--independent", "--json"];
    let summary = json(&sweep(&folder, &spp));
    let variants = summary["variants"].as_array().unwrap();
    assert!(variants.len() >= 4 && variants.len().is_multiple_of(2), "{summary}");
    for (i, variant) in variants.iter().enumerate() {
        assert_eq!((&variant["spp"], &variant["seed"]), (&[1, 4][i % 2].into(), &i.into()));
    }
}

/// Killed when some variants are there, and begun again: these are not rendered again, and nothing tells from the sheet.
#[test]
fn a_killed_sweep_goes_on() {
    let folder = Folder::new();
    let params = ["--param", "materials.grey.reflectance=0.1:0.9:8", "--size", "96x64", "--spp", "384"];
    let arguments = [&["sweep", "scene.toml", "-o", "sheet.png", "--threads", "1"], &params[..]].concat();
    let mut child = folder.program(&arguments).stderr(Stdio::null()).spawn().expect("the program starts");
    let parts = || folder.files_in("sheet.png.parts");
    let start = Instant::now();
    while parts() < 3 && start.elapsed() < Duration::from_secs(60) {
        sleep(Duration::from_millis(2));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert!((3..8).contains(&parts()), "{} parts", parts());
    assert!(!folder.at("sheet.png").exists());
    let summary = json(&sweep(&folder, &[&params[..], &["--json"]].concat()));
    let (rendered, found) = (summary["rendered"].as_u64().unwrap(), summary["found"].as_u64().unwrap());
    assert!(rendered + found == 8 && found >= 2, "{rendered} rendered, {found} found");
    assert_eq!(folder.names(), ["sheet.png"], "parts are removed at the end");
    let resumed = fs::read(folder.at("sheet.png")).unwrap();
    let summary = json(&sweep(&folder, &[&params[..], &["--json"]].concat()));
    assert_eq!((&summary["rendered"], &summary["found"]), (&8.into(), &0.into()));
    assert!(fs::read(folder.at("sheet.png")).unwrap() == resumed, "another sheet");
}

#[test]
fn presets_find_their_material() {
    let folder = Folder::new();
    for (preset, variants) in [
        ("roughness", 9),
        ("metallic-roughness", 25),
        ("ior", 5),
        ("anisotropy", 5),
        ("multiscatter", 27),
        ("masking", 18),
    ] {
        let summary = json(&sweep(&folder, &["--preset", preset, "--spp", "1", "--json"]));
        assert_eq!(summary["variants"].as_array().unwrap().len(), variants, "{preset}");
    }
}

/// The summary's entry for each variant.
fn variants(folder: &Folder, options: &[&str]) -> Vec<Value> {
    let summary = json(&sweep(folder, &[options, &["--json", "--quiet"]].concat()));
    summary["variants"].as_array().expect("variants").clone()
}

/// Dark variants take more samples for the same relative error than bright ones, and none many more than it takes.
#[test]
fn variants_stop_at_the_same_noise() {
    let folder = Folder::new();
    let variants =
        variants(&folder, &["--param", "render.max_depth=1,4", "--noise", "2%", "--noise-of", "image"]);
    let spp = |variant: &Value| variant["spp"].as_u64().unwrap();
    for variant in &variants {
        let noise = variant["statistics"]["relative_stderr"].as_f64().unwrap();
        assert!(noise <= 0.02 && (noise > 0.018 || spp(variant) == 16), "{variant}");
    }
    assert_ne!(spp(&variants[0]), spp(&variants[1]), "they differ in noise");
    let capped = json(&sweep(
        &folder,
        &[
            "--param",
            "render.max_depth=4,5",
            "--noise",
            "0.01%",
            "--noise-of",
            "image",
            "--spp",
            "40",
            "--json",
        ],
    ));
    assert!(capped["variants"].as_array().unwrap().iter().all(|variant| spp(variant) == 40), "{capped}");
    let pixels = ["--param", "render.max_depth=1,4", "--noise=0.5%", "--spp=32"];
    let outcome = sweep(&folder, &pixels);
    assert!(outcome.stderr.contains("warning: max_depth = 4 ended with "), "{outcome:?}");
}

#[test]
fn a_part_of_the_images_is_shown_and_measured() {
    let folder = Folder::new();
    let measured = |crop: &[&str]| {
        let table = ["--param", "materials.grey.reflectance=0.3,0.6", "--variants", "all"];
        let of_all = variants(&folder, &[&table[..], crop].concat());
        let size = image::image_dimensions(folder.at("sheet.png")).unwrap();
        (of_all[0]["statistics"]["max"].as_f64().unwrap(), size)
    };
    let (whole, size) = measured(&[]);
    let image = ImageEstimate::read(&folder.at("all/1_reflectance=0.3.exr")).unwrap().image;
    let (width, height) = (image.width, image.height);
    let (cropped, smaller) = measured(&["--crop", "10,6,4,5"]);
    let of_pixels = |x: u32, y: u32| {
        let [r, g, b] = image.pixels[(y * width + x) as usize].map(f64::from);
        0.2126 * r + 0.7152 * g + 0.0722 * b
    };
    let pixels = |xs: std::ops::Range<u32>, ys: std::ops::Range<u32>| {
        ys.flat_map(|y| xs.clone().map(move |x| (x, y))).map(|(x, y)| of_pixels(x, y)).fold(0.0, f64::max)
    };
    assert!((whole - pixels(0..width, 0..height)).abs() < 1e-6);
    assert!((cropped - pixels(10..14, 6..11)).abs() < 1e-6 && cropped != whole);
    assert!(smaller.1 < size.1, "{smaller:?} and {size:?}");
    let again = ImageEstimate::read(&folder.at("all/1_reflectance=0.3.exr")).unwrap().image;
    assert_eq!(again, image, "images of variants are whole");
}

/// Keys that the scene needs can be set, and vary.
#[test]
fn what_is_set_may_vary() {
    let folder = Folder::new();
    for (set, param) in [
        (&["camera.type=orthographic", "camera.size=3"][..], "camera.size=1,2"),
        (&["camera.position=[0, 0.2, 4]"], "camera.position.1=0.1,1"),
        (
            &["materials.grey={ type = \"conductor\", metal = \"gold\", roughness = 0.2 }"],
            "materials.grey.metal=silver,copper",
        ),
    ] {
        let set: Vec<_> = set.iter().flat_map(|set| ["--set", set]).collect();
        let variants = variants(&folder, &[&set[..], &["--param", param]].concat());
        let mean = |i: usize| variants[i]["statistics"]["mean"].as_f64();
        assert!(mean(0) != mean(1), "{param}: {variants:?}");
    }
    let undone = ["--set", METAL[1], "--set", "materials.grey.scattering=compensated", "--preset", "masking"];
    let outcome = sweep(&folder, &undone);
    let message = "warning: --set materials.grey.scattering: the preset says something else of it";
    assert!(outcome.stderr.contains(message), "{outcome:?}");
}

/// Nothing is rendered or written, and the message says what is wrong.
#[test]
fn bad_sweeps_are_refused() {
    let folder = Folder::new();
    let rough = "materials.grey.roughness=0,1";
    let of = |param: &'static str| vec!["--param", param];
    let with = |options: &[&'static str]| [&["--param", "materials.grey.roughness=0,1"], options].concat();
    for (options, message) in [
        (vec![], "nothing varies; --param PATH=VALUES or --preset NAME says what"),
        (of("materials.gray.roughness=0:1:3"), "no \"materials.gray\"; did you mean \"materials.grey\"?"),
        (of("materials.grey.roughnes=0:1:3"), "did you mean \"materials.grey.roughness\"?"),
        (
            of("materials.grey.roughness=0:2:3"),
            "--param materials.grey.roughness: \"roughness\" goes from 0 to 1; this is 2",
        ),
        (
            of("materials.grey.roughness=0:1"),
            "\"0:1\" is not a range: a:b:n has the first value, the last and how many",
        ),
        (
            of("materials.grey.roughness=0:1:1"),
            "\"1\" in \"0:1:1\" is not how many: a whole number from 2 to 10000",
        ),
        (of("materials.grey.roughness=0:1:20000"), "\"20000\" in \"0:1:20000\" is not how many"),
        (of("materials.grey.roughness=a:b:3"), "\"a\" in \"a:b:3\" is not a number"),
        (of("materials.grey.roughness"), "expected PATH=VALUES, as in materials.ball.roughness=0:1:9"),
        (of("=1,2"), "there is no path before the ="),
        (of("materials.grey.roughness="), "there are no values after the ="),
        (
            of("materials.grey.roughness=log(0:1:3)"),
            "goes by equal factors, so both ends must be above 0, not 0",
        ),
        (of("materials.grey.roughness=0.5,0.5"), "the value 0.5 is there twice"),
        (of("materials.grey.roughness=@none.txt"), "cannot read \"none.txt\": no such file"),
        (of("materials.grey.roughness=*"), "takes from 0 to 1, not one of some words"),
        (
            of("materials.grey.type=metal,diffuse"),
            "unknown type \"metal\"; it is \"diffuse\", \"conductor\",",
        ),
        (of("materials.grey.reflectance=[1,2"), "\"[1,2\" lacks the closing ]"),
        (
            of("materials.grey.reflectance=[0.1,0.2],[0.3,0.4]"),
            "\"reflectance\" is from 0 to 1, [r, g, b] or #rrggbb",
        ),
        (of("render.max_depth=1.5,2"), "\"max_depth\" is a whole number from 1 to 1000"),
        (of("render.size=[8,8],[16,16]"), "images of a sweep are of one size, not 8x8 and 16x16"),
        (of("camera.fov=0,40"), "--param camera.fov: \"fov\" goes from 0.001 to 179.999"),
        (of("camera.position.7=0,1"), "\"camera.position\" has parts 0 to 2"),
        (of("shapes.ball.radius=1,2"), "no \"shapes.ball\""),
        (vec!["--param", "render.spp=1,2", "--spp", "4"], "--param render.spp: --spp says what it is"),
        (
            with(&["--param", rough]),
            "\"materials.grey.roughness\" has its values already, from another --param",
        ),
        (
            vec!["--param", "materials.grey.roughness=0:1:5000"],
            "pixels is too large: a side has at most 32767; --cols N wraps a row",
        ),
        (with(&["--cols", "0"]), "'--cols <N>'"),
        (with(&["--animate", "a.gif"]), "--animate \"a.gif\": expected a file .png"),
        (with(&["--csv", "sheet.png"]), "output \"sheet.png\": given twice"),
        (with(&["--plot", "a.png", "--html", "a.png"]), "output \"a.png\": given twice"),
        (
            with(&["--plot", "median=a.png"]),
            "--plot median=a.png: there is no column \"median\"; did you mean \"mean\"?",
        ),
        (with(&["--plot", "mean=a.pdf"]), "--plot \"a.pdf\": expected a file .png or .svg"),
        (with(&["--plot", "p=a.svg"]), "--plot p=a.svg: there is no column \"p\""),
        (with(&["--crop", "0,0,400,1"]), "--crop: "),
        (
            vec!["--param", "render.size=[9,9]", "--param", "render.seed=0,1", "--crop", "0,0,10,1"],
            "not all within the image of 9 x 9 pixels",
        ),
        (
            vec!["--param", "render.seed=0,1", "--independent"],
            "--param render.seed: --independent says what it is",
        ),
        (
            with(&["--param", "render.spp=1,2", "--param", "render.max_depth=1,2", "--plot", "sheet-2.png"]),
            "output \"sheet-2.png\": given twice",
        ),
        (with(&["--baseline", "0.5"]), "--baseline 0.5: roughness is never \"0.5\"; it is \"0\" or \"1\""),
        (with(&["--baseline", "roughnes=1"]), "\"roughnes\" does not vary; did you mean \"roughness\"?"),
        (
            with(&["--baseline", "0", "--baseline", "roughness=1"]),
            "--baseline roughness=1: roughness has a baseline already",
        ),
        (
            with(&["--param", "render.seed=0,1", "--baseline", "0"]),
            "--baseline 0: of which parameter? PARAMETER=VALUE with one of roughness, seed",
        ),
        (with(&["--against", "none.toml"]), "none.toml"),
        (with(&["--against", "scene.toml", "--baseline", "0"]), "'--against <SCENE>' cannot be used with"),
        (with(&["--map", "z"]), "the following required arguments were not provided"),
        (with(&["--noise", "0"]), "expected a relative error"),
        (vec!["--param", "render.spp=4,8", "--noise", "1%"], "--param render.spp: --noise says what it is"),
        (with(&["--variants", "scene.toml"]), "--variants \"scene.toml\": it is a file, not a folder"),
        (with(&["--csv", "scene.toml"]), "scene.toml"),
        (
            with(&["--variants", "scene.toml/all"]),
            "--variants \"scene.toml/all\": \"scene.toml\" is a file, not a folder",
        ),
        (with(&["--variants", "all", "--csv", "./all"]), "output \"./all\": a folder is to be there"),
        (with(&["--variants", "all/of/them", "--csv", "all"]), "output \"all\": a folder is to be there"),
        (with(&["--csv", "sheet.png.parts"]), "output \"sheet.png.parts\": a folder is to be there"),
        (of("camera.position=[0,0,1e308]:[0,0,1.7e308]:4"), "--param camera.position: \"position\""),
        (of("render.masking=correlated,\"correlated\""), "the value \"correlated\" is there twice"),
        (
            vec!["--param", "camera.position.0=0,1", "--param", "camera.position=[0,0,5],[0,0,6]"],
            "--param camera.position.0: what varies after it, camera.position, says something else of it",
        ),
        (
            with(&[
                "--param",
                "materials.grey={ type = \"conductor\", metal = \"gold\" },{ type = \"diffuse\", reflectance = 1 }",
            ]),
            "--param materials.grey.roughness: what varies after it, materials.grey, says something else of it",
        ),
        (
            vec![
                "--param",
                "materials.grey={ type = \"diffuse\", reflectance = 0.5 },{ type = \"diffuse\", reflectance = 0.6 }",
                "--param",
                "materials.grey.reflectance=0.1,0.2",
            ],
            "--param materials.grey: what varies after it, materials.grey.reflectance, says something else of it",
        ),
        (
            with(&["--param", "materials.\"grey\".roughness=0.2,0.3"]),
            "--param materials.grey.roughness: what varies after it, materials.\"grey\".roughness, says something",
        ),
        (
            vec!["--param", "render.rr=1,5", "--rr-depth", "3"],
            "--param render.rr: --rr-depth says what it is",
        ),
        (vec!["--param", "\"render\".seed=1,2", "--seed", "3"], "--seed says what it is"),
        (
            vec!["--param", "render={ max_depth = 2 },{ max_depth = 3 }", "--spp", "3"],
            "--param render: --spp says what a part of it is",
        ),
        (
            with(&["--variants", "sheet.png.parts"]),
            "--variants \"sheet.png.parts\": what is needed to go on is kept there",
        ),
        (
            with(&["--variants", ".", "--animate", "1_roughness=0.png"]),
            "output \"1_roughness=0.png\": a variant has this name, too",
        ),
        (
            vec!["--preset", "rough"],
            "there is no preset \"rough\"; there are \"roughness\", \"metallic-roughness\"",
        ),
        (
            vec!["--preset", "roughness", "--material", "gray"],
            "there is no material \"gray\"; there are grey",
        ),
    ] {
        let outcome = folder.run(&[&["sweep", "scene.toml", "-o", "sheet.png"], &options[..]].concat());
        assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(2), ""), "{options:?}: {outcome:?}");
        let first = outcome.stderr.lines().next().unwrap_or_default();
        assert!(first.starts_with("error: ") && first.contains(message), "{options:?}: {first}");
        assert_eq!(folder.names(), Vec::<String>::new(), "{options:?}");
    }
}
