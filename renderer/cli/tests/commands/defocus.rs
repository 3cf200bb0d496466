//! `torrance defocus` as users run it: what it reads and writes, and what it says when it cannot.

use renderer::render::aov::FOV;
use torrance_image::film::layers::{Layers, Samples};
use torrance_image::film::read_layers;

use crate::program::{Folder, Outcome};

/// A folder with a render that has depths.
fn rendered() -> Folder {
    let folder = Folder::new();
    let Outcome { code, stderr, .. } =
        folder.run(&["render", "scene.toml", "-o", "sharp.exr", "--aov", "Z,shape,direct"]);
    assert_eq!(code, Some(0), "{stderr}");
    folder
}

fn layers(folder: &Folder, name: &str) -> Layers {
    read_layers(&folder.at(name)).expect("an image")
}

const LENS: [&str; 4] = ["--lens-radius", "0.5", "--focus-distance", "2"];

fn defocus(folder: &Folder, image: &str, options: &[&str]) -> Outcome {
    folder.run(&[&["defocus", image, "-o", "out.exr"], options].concat())
}

/// A pixel of the sphere's middle, which is 3 m away, is spread over its circle, and layers that are still true are kept.
#[test]
fn a_render_is_blurred_and_keeps_its_layers() {
    let folder = rendered();
    let Outcome { code, stdout, stderr } = defocus(&folder, "sharp.exr", &[&LENS[..], &["--json"]].concat());
    assert_eq!(code, Some(0), "{stderr}");
    let said: serde_json::Value = serde_json::from_str(&stdout).expect("JSON");
    // The image is 16 pixels and 40° high; the nearest point is 3 m away, and what is far is infinitely far.
    let pixels = 16.0 / (2.0 * 20_f64.to_radians().tan());
    let radius = |i: usize| said["radii"][i].as_f64().unwrap();
    assert!((radius(1) - 0.5 * pixels / 2.0).abs() < 1e-4, "{said}");
    assert_eq!(radius(0), 0.0);
    assert_eq!(said["missing_pixels"], 0);

    let (sharp, blurred) = (layers(&folder, "sharp.exr"), layers(&folder, "out.exr"));
    let mut names: Vec<_> = blurred.channels.iter().map(|c| &*c.name).collect();
    names.sort_unstable();
    assert_eq!(names, ["B", "G", "R", "Z", "id.shape"]);
    for name in ["Z", "id.shape"] {
        assert_eq!(blurred.channel(name), sharp.channel(name));
    }
    assert_ne!(blurred.image(), sharp.image());
    let said = |name: &str| blurred.attributes.get(name).map(String::as_str);
    assert_eq!((said("lensRadius"), said("focusDistance")), (Some("0.5"), Some("2")));
    assert_eq!(said("pixelFilter"), None, "pixels are no longer independent");

    let again = defocus(&folder, "out.exr", &[&LENS[..], &["-o", "again.png"]].concat());
    assert!(again.stderr.contains("would be replaced"), "{}", again.stderr);
    let again = folder.run(&[&["defocus", "out.exr", "-o", "again.png"], &LENS[..]].concat());
    assert!(again.stderr.contains("warning: \"out.exr\": a lens has blurred it already"), "{}", again.stderr);
    assert_eq!(folder.names(), ["again.png", "out.exr", "sharp.exr"]);
}

/// Focus on a pixel is focus at its depth, and the field of view may be given.
#[test]
fn focus_is_at_a_distance_or_at_a_pixel() {
    let folder = rendered();
    let sharp = layers(&folder, "sharp.exr");
    let depth = sharp.channel("Z").unwrap().samples.get(8 * 24 + 12);
    let image = |options: &[&str]| {
        let Outcome { code, stderr, .. } =
            defocus(&folder, "sharp.exr", &[&["--lens-radius", "0.5"], options].concat());
        assert_eq!(code, Some(0), "{stderr}");
        layers(&folder, "out.exr").image().unwrap()
    };
    let at_pixel = image(&["--focus-at", "12,8"]);
    assert_eq!(at_pixel, image(&["--focus-distance", &depth.to_string()]));
    assert_eq!(at_pixel, image(&["--focus-at", "12,8", "--fov", "40.000004"]), "as the scene says, rounded");
    assert_ne!(at_pixel, image(&["--focus-at", "12,8", "--fov", "20"]));
    assert_ne!(at_pixel, image(&["--focus-at", "1,1"]));
    let even = |options: &[&str]| {
        assert_eq!(defocus(&folder, "sharp.exr", options).code, Some(0));
        layers(&folder, "out.exr").image().unwrap()
    };
    assert_eq!(even(&["--radius", "0"]), sharp.image().unwrap());
    assert_ne!(even(&["--radius", "3"]), even(&["--radius", "3", "--shape", "box"]));
}

#[test]
fn what_lacks_is_named() {
    let folder = rendered();
    folder.run(&["render", "scene.toml", "-o", "flat.exr", "-o", "flat.png"]);
    let mut bare = Layers::new(24, 16);
    for name in ["R", "G", "B", "Depth"] {
        bare.push(name, Samples::Float(vec![1.0; 24 * 16]));
    }
    let mut narrow = layers(&folder, "sharp.exr");
    narrow.attributes.insert(FOV.into(), "0".into());
    for (name, layers) in [("bare.exr", bare), ("narrow.exr", narrow)] {
        let bytes = torrance_image::film::encode::encode_layers(layers, Default::default()).unwrap().bytes;
        std::fs::write(folder.at(name), bytes).unwrap();
    }
    for (image, options, message) in [
        (
            "sharp.exr",
            &[][..],
            "error: say how large the lens is, --lens-radius 0.05 (metres), or --radius 8",
        ),
        ("sharp.exr", &LENS[..2], "error: say what is in focus, --focus-distance 3.5 (metres) or --focus-at"),
        ("flat.exr", &LENS, "error: \"flat.exr\": it has no channel \"Z\" of depths; it has "),
        ("flat.exr", &LENS, "torrance render --aov Z writes one"),
        ("flat.png", &LENS, "error: \"flat.png\": only EXR files hold depths"),
        ("bare.exr", &[&LENS[..], &["--depth", "Dept"]].concat(), "did you mean \"Depth\"?"),
        (
            "bare.exr",
            &[&LENS[..], &["--depth", "Depth"]].concat(),
            "does not say its field of view; add --fov",
        ),
        ("narrow.exr", &LENS, "does not say its field of view; add --fov"),
        ("sharp.exr", &["--lens-radius", "1", "--focus-at", "24,3"], "it has 24x16 pixels, and none at 24,3"),
        ("sharp.exr", &["--lens-radius", "0", "--focus-at", "2,3"], "expected metres from 1e-9 to 1e9"),
        ("sharp.exr", &["--radius", "3", "--lens-radius", "1"], "cannot be used with"),
        ("sharp.exr", &[&LENS[..], &["--shape", "box"]].concat(), "cannot be used with"),
        ("sharp.exr", &["--radius", "-3"], "expected pixels from 0 to 4096"),
        ("none.exr", &["--radius", "3"], "error: \"none.exr\": No such file"),
        ("sharp.exr", &["--radius", "3", "-o", "sharp.exr"], "\"sharp.exr\": would be replaced"),
    ] {
        let Outcome { code, stderr, .. } = defocus(&folder, image, options);
        assert_eq!(code, Some(2), "{image} {options:?}: {stderr}");
        assert!(stderr.contains(message), "{image} {options:?}: {stderr}");
    }
    assert_eq!(folder.names(), ["bare.exr", "flat.exr", "flat.png", "narrow.exr", "sharp.exr"]);
    let fine = defocus(&folder, "bare.exr", &[&LENS[..], &["--depth", "Depth", "--fov", "40"]].concat());
    assert_eq!(fine.code, Some(0), "{}", fine.stderr);
}

/// A panorama has no lens; even blur works for any image.
#[test]
fn only_perspective_images_have_a_lens() {
    let folder = Folder::new();
    let scene = std::fs::read_to_string(folder.at("scene.toml")).unwrap();
    let scene = scene.replace("fov = 40", "type = \"equirectangular\"");
    std::fs::write(folder.at("scene.toml"), scene).unwrap();
    let Outcome { code, stderr, .. } = folder.run(&["render", "scene.toml", "-o", "all.exr", "--aov", "Z"]);
    assert_eq!(code, Some(0), "{stderr}");
    let Outcome { code, stderr, .. } = defocus(&folder, "all.exr", &LENS);
    assert_eq!(code, Some(2));
    assert!(stderr.contains("its camera is equirectangular, and has no lens"), "{stderr}");
    assert_eq!(defocus(&folder, "all.exr", &["--radius", "2.5"]).code, Some(0));
}
