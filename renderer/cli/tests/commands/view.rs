//! `torrance view`: what pages ask for and see, who is refused, and what happens when files change.

mod browser;
mod client;
mod random;
mod security;

use std::fs;
use std::time::Duration;

use serde_json::{Value, json};
use torrance_image::film::read;

use crate::program::Folder;
use client::{Page, Served};

/// What `--set` arguments make of a scene, as pages see it, of so many samples.
fn rendered(folder: &Folder, spp: u32, set: &Value) -> Vec<[f32; 3]> {
    let spp = format!("--spp={spp}");
    let set: Vec<_> =
        set.as_array().expect("a list").iter().map(|word| word.as_str().expect("text")).collect();
    let outcome =
        folder.run(&[&["render", "scene.toml", "-o", "expected.pfm", "--quiet", &spp], &set[..]].concat());
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    read(&folder.at("expected.pfm")).expect("an image").pixels
}

/// The picture is that of `render --set`, to the last bit that is sent, whatever has been edited, taken back and done again.
#[test]
fn the_picture_is_that_of_its_edits() {
    let folder = Folder::new();
    let view = Served::start(&folder, &["scene.toml", "--spp=8"]);
    let mut page = Page::open(&view);
    assert_eq!(page.scene["parameters"][0]["path"], "render.size");
    let color = |page: &Page| page.value("materials.grey.reflectance");
    page.set(&[("materials.grey.reflectance", json!([0.9, 0.1, 0.1]))]);
    page.set(&[("materials.grey.reflectance", json!([0.1, 0.1, 0.9]))]);
    page.set(&[("camera.position", json!([0, 1, 4])), ("camera.fov", json!(50))]);
    page.set(&[("materials.grey.type", json!("conductor"))]);
    page.set(&[("materials.grey.roughness", json!(0.4))]);
    page.ask(json!({ "type": "undo" }), "values");
    page.ask(json!({ "type": "undo" }), "scene");
    assert_eq!(color(&page), json!([0.1, 0.1, 0.9]), "a type that is taken back brings its keys back");
    page.ask(json!({ "type": "undo" }), "values");
    page.ask(json!({ "type": "undo" }), "values");
    assert_eq!(color(&page), json!([0.9, 0.1, 0.1]));
    page.ask(json!({ "type": "redo" }), "values");
    page.ask(json!({ "type": "redo" }), "values");

    let export = page.ask(json!({ "type": "export" }), "export");
    let expected = rendered(&folder, 8, &export["set"]);
    let picture = page.picture(8);
    assert_eq!(picture.size, [24, 16]);
    assert_eq!(picture.decoded(), client::rounded(&expected));

    // Control: another state is another picture.
    page.ask(json!({ "type": "reset" }), "values");
    assert_ne!(page.picture(8).decoded(), client::rounded(&expected));
    let export = page.ask(json!({ "type": "export" }), "export");
    assert_eq!(export["set"], json!([]));
    assert_eq!(page.picture(8).decoded(), client::rounded(&rendered(&folder, 8, &json!([]))));
}

/// What is dragged is one step, and a page that sends what cannot be changes nothing.
#[test]
fn gestures_are_steps() {
    let folder = Folder::new();
    let view = Served::start(&folder, &["scene.toml", "--spp=4"]);
    let mut page = Page::open(&view);
    for i in 1..=5 {
        let value = json!([["camera.fov", 40 + i]]);
        page.ask(json!({ "type": "set", "values": value, "gesture": 1, "done": i == 5 }), "values");
    }
    assert_eq!(page.value("camera.fov"), json!(45));
    page.ask(json!({ "type": "undo" }), "values");
    assert_eq!(page.value("camera.fov").as_f64(), Some(40.0));
    for (path, value, why) in [
        ("camera.fov", json!(500), "from 0.001 to 179.999"),
        ("camera.fvo", json!(50), "did you mean \"camera.fov\"?"),
        ("camera.position", json!([1, 2]), "[x, y, z]"),
        ("materials.grey.reflectance", json!(null), "materials.grey.reflectance"),
    ] {
        let values = json!([["camera.up", [0, 1, 0.5]], [path, value]]);
        let refused = page.ask(json!({ "type": "set", "values": values, "gesture": 2 }), "refused");
        let text = refused["text"].as_str().unwrap();
        assert!(text.contains(why), "{text}");
        assert_eq!(page.value("camera.up"), json!([0.0, 1.0, 0.0]), "all or none");
    }
    page.ask(json!({ "type": "undo" }), "refused");
    page.ask(json!({ "type": "redo" }), "values");
    assert_eq!(page.value("camera.fov"), json!(45));
    let export = page.ask(json!({ "type": "export" }), "export");
    assert_eq!(export["set"], json!(["--set", "camera.fov=45"]));
    assert_eq!(export["render"], "torrance render scene.toml --set camera.fov=45 -o scene-edited.png");
    assert_eq!(export["sweep"], "torrance sweep scene.toml --param camera.fov=40:45:8 -o scene-sweep.png");
    fs::write(folder.at("saved.toml"), export["toml"].as_str().unwrap()).unwrap();
    let saved = folder.run(&["render", "saved.toml", "--spp=4", "-o", "saved.pfm", "--quiet"]);
    assert_eq!(saved.code, Some(0), "{}", saved.stderr);
    let expected = rendered(&folder, 4, &export["set"]);
    assert_eq!(read(&folder.at("saved.pfm")).unwrap().pixels, expected, "what is saved is the same scene");
}

/// Two pages that drag at once make one step together, and a page that has gone leaves no gesture behind.
#[test]
fn gestures_of_two_pages_are_one_step() {
    let folder = Folder::new();
    let view = Served::start(&folder, &["scene.toml", "--spp=4"]);
    let [mut one, mut other] = [(), ()].map(|()| Page::open(&view));
    let drag = |page: &mut Page, path: &str, value: f64, (gesture, is_done): (u64, bool)| {
        let values = json!([[path, value]]);
        page.send(json!({ "type": "set", "values": values, "gesture": gesture, "done": is_done }));
        page.wait_for(|page| page.value(path) == json!(value));
    };
    for i in 1..=3 {
        drag(&mut one, "camera.fov", f64::from(40 + i), (1, i == 3));
        drag(&mut other, "materials.grey.reflectance", 0.5 + 0.1 * f64::from(i), (1, i == 3));
    }
    drag(&mut one, "camera.fov", 50.0, (2, true));
    one.send(json!({ "type": "undo" }));
    one.wait_for(|page| page.value("camera.fov") == json!(43.0));
    one.change(json!({ "type": "undo" }));
    let export = one.ask(json!({ "type": "export" }), "export");
    assert_eq!(export["set"], json!([]));

    drag(&mut other, "camera.fov", 60.0, (2, false));
    drop(other);
    one.wait_for(|page| page.value("camera.fov") == json!(60.0));
    std::thread::sleep(Duration::from_millis(200));
    drag(&mut one, "camera.fov", 61.0, (3, true));
    one.send(json!({ "type": "undo" }));
    one.wait_for(|page| page.value("camera.fov") == json!(60.0));
}

/// A sweep is of what was changed last, though it was changed before, too, and by whole numbers if it takes no others.
#[test]
fn sweeps_are_of_what_was_changed_last() {
    let folder = Folder::new();
    let view = Served::start(&folder, &["scene.toml", "--spp=4"]);
    let mut page = Page::open(&view);
    for (path, value) in [("render.max_depth", 14), ("camera.fov", 50), ("render.max_depth", 9)] {
        page.set(&[(path, json!(value))]);
    }
    let export = page.ask(json!({ "type": "export" }), "export");
    let sweep = export["sweep"].as_str().unwrap();
    assert!(sweep.contains("--set camera.fov=50 --param render.max_depth=4,5,6,7,8,9 "), "{sweep}");
    page.set(&[("camera.fov", json!(60))]);
    let export = page.ask(json!({ "type": "export" }), "export");
    let sweep = export["sweep"].as_str().unwrap();
    assert!(sweep.contains("--set render.max_depth=9 --param camera.fov=40:60:8 "), "{sweep}");
}

/// Pages learn of pixels, surfaces, layers and materials.
#[test]
fn what_is_asked_is_answered() {
    let folder = Folder::new();
    let view = Served::start(&folder, &["scene.toml", "--spp=64"]);
    let mut page = Page::open(&view);
    page.picture(64);
    let picked = page.ask(json!({ "type": "pick", "x": 12, "y": 8 }), "pick");
    assert_eq!(picked["material_path"], "materials.grey");
    assert!((picked["depth"].as_f64().unwrap() - 3.0).abs() < 0.02, "{picked}");
    let missed = page.ask(json!({ "type": "pick", "x": 0, "y": 0 }), "pick");
    assert_eq!((&missed["material_path"], &missed["depth"]), (&json!(null), &json!(null)));
    let runs: Vec<[u32; 3]> = serde_json::from_value::<Vec<u32>>(picked["cover"].clone())
        .expect("numbers")
        .chunks_exact(3)
        .map(|run| [run[0], run[1], run[2]])
        .collect();
    let covers = |x, y| runs.iter().any(|run| run[0] == y && run[1] <= x && x < run[2]);
    assert!(covers(12, 8) && !covers(0, 0), "{runs:?}");
    let probe = page.ask(json!({ "type": "probe", "x": 0, "y": 0 }), "probe");
    assert_eq!(probe["samples"], 64);
    for (c, expected) in [0.3, 0.2, 0.1].into_iter().enumerate() {
        assert!((probe["radiance"][c].as_f64().unwrap() - expected).abs() < 1e-6, "the sky: {probe}");
        assert!(probe["stderr"][c].as_f64().unwrap() < 1e-6, "{probe}");
    }
    let probe = page.ask(json!({ "type": "probe", "x": 12, "y": 8 }), "probe");
    assert_eq!(probe["material"], "grey");
    assert!((probe["normal"][2].as_f64().unwrap() - 1.0).abs() < 0.02, "{probe}");
    page.ask(json!({ "type": "probe", "x": 24, "y": 8 }), "refused");

    let chart = page.ask(json!({ "type": "chart", "path": "materials.grey" }), "chart");
    assert!(chart["svg"].as_str().unwrap().starts_with("<svg"), "{chart}");
    let chart = page.ask(json!({ "type": "chart", "path": "materials.gray" }), "chart");
    assert!(chart["error"].as_str().unwrap().contains("no material"), "{chart}");

    page.ask(json!({ "type": "compare" }), "refused");
    for layer in ["albedo", "N", "Z", "shape", "material", "uv", "noise", "emission", "direct", "indirect"] {
        page.send(json!({ "type": "show", "layer": layer }));
        let picture = page.picture_of(layer);
        let [sky, ball] = [0, 8 * 24 + 12].map(|i| picture.decoded()[i]);
        match layer {
            "albedo" => assert!((ball[0] - 0.5).abs() < 0.01 && sky == [0.0; 3], "{ball:?}"),
            "N" => assert!((ball[2] - 1.0).abs() < 0.02, "{ball:?}"),
            "emission" => assert!((sky[0] - 0.3).abs() < 0.01 && ball == [0.0; 3], "{sky:?} {ball:?}"),
            "direct" => assert!(sky == [0.0; 3] && ball[0] > 0.05, "{sky:?} {ball:?}"),
            _ => {}
        }
    }
    page.ask(json!({ "type": "show", "layer": "beauty" }), "refused");
}

/// What is kept is the picture as it was, whatever comes at once after that.
#[test]
fn edits_do_not_overtake_what_is_kept() {
    let folder = Folder::new();
    let view = Served::start(&folder, &["scene.toml", "--spp=256"]);
    let mut page = Page::open(&view);
    for i in 1..=4 {
        let before = page.picture(1).revision;
        page.send(json!({ "type": "snapshot" }));
        let values = json!([["camera.fov", 40 + i]]);
        page.send(json!({ "type": "set", "values": values, "gesture": i, "done": true }));
        assert_eq!(page.snapshot().revision, before);
        page.wait_for(|page| page.value("camera.fov") == json!(40 + i));
        page.picture(256);
    }
    // A layer of light begins the render anew, but what is known of the picture stays.
    page.send(json!({ "type": "show", "layer": "direct" }));
    page.picture_of("direct");
    page.send(json!({ "type": "snapshot" }));
    assert_eq!(page.snapshot().spp, 256);
}

/// Nor do they while something moves, and pictures have fewer pixels.
#[test]
fn what_moves_can_be_kept() {
    let folder = Folder::new();
    let view = Served::start(&folder, &["scene.toml", "--spp=100000000", "--size=1280x720"]);
    let mut page = Page::open(&view);
    page.picture(1);
    for i in 0..8 {
        let set = |fov: u32| json!({ "type": "set", "values": [["camera.fov", fov]], "gesture": 1 });
        let before = page.ask(set(41 + 2 * i), "values")["revision"].as_u64().unwrap();
        std::thread::sleep(Duration::from_millis(u64::from(i) * 30));
        page.send(json!({ "type": "snapshot" }));
        page.send(set(42 + 2 * i));
        let kept = page.snapshot();
        assert_eq!((kept.revision, kept.size), (before, [1280, 720]));
        page.wait_for(|page| page.value("camera.fov") == json!(42 + 2 * i));
    }
}

/// A picture differs from the one that was kept where the scene does, and not where it does not.
#[test]
fn pictures_are_compared() {
    let folder = Folder::new();
    let view = Served::start(&folder, &["scene.toml", "--spp=256"]);
    let mut page = Page::open(&view);
    page.picture(256);
    page.send(json!({ "type": "snapshot" }));
    page.snapshot();
    let verdict = page.ask(json!({ "type": "compare" }), "verdict");
    assert_eq!((&verdict["different"], &verdict["region"]), (&json!(false), &json!(null)), "{verdict}");
    page.set(&[("environment.radiance", json!([0.32, 0.2, 0.1]))]);
    page.picture(256);
    let verdict = page.ask(json!({ "type": "compare" }), "verdict");
    assert_eq!((&verdict["different"], &verdict["spp"]), (&json!(true), &json!([256, 256])), "{verdict}");
    assert!(verdict["region"]["width"].as_u64().is_some_and(|width| width > 0), "{verdict}");
    assert!(verdict["revision"].as_u64() > Some(0), "{verdict}");
}

/// Nobody looks, nothing is rendered; whoever comes finds the picture as it was left.
#[test]
fn renders_rest_while_nobody_looks() {
    let folder = Folder::new();
    let view = Served::start(&folder, &["scene.toml", "--spp=100000000"]);
    let [mut page, mut other] = [(), ()].map(|()| Page::open(&view));
    page.picture(1);
    other.picture(1);
    page.set(&[("camera.fov", json!(30))]);
    other.wait_for(|page| page.value("camera.fov") == json!(30));
    drop(other);
    let first = page.ask_progress(0);
    let second = page.ask_progress(first);
    drop(page);
    std::thread::sleep(Duration::from_millis(300));
    let busy = |view: &Served| view.cpu_time();
    let before = busy(&view);
    std::thread::sleep(Duration::from_secs(1));
    assert!(busy(&view) - before < Duration::from_millis(300), "it rests");
    let mut page = Page::open(&view);
    page.ask_progress(second);
    assert_eq!(page.value("camera.fov"), json!(30));
}

/// Files that change are read again, and edits and camera stay; while they are wrong, so does the picture.
#[test]
fn files_that_change_are_read_again() {
    let folder = Folder::new();
    let view = Served::start(&folder, &["scene.toml", "--spp=8", "--watch"]);
    let mut page = Page::open(&view);
    page.set(&[("camera.fov", json!(50))]);
    let write = |from: &str, to: &str| {
        let text = fs::read_to_string(folder.at("scene.toml")).unwrap();
        assert!(text.contains(from), "{from}");
        fs::write(folder.at("scene.toml"), text.replace(from, to)).unwrap();
    };
    write("[0.5, 0.5, 0.5]", "[0.1, 0.5, 0.5]");
    page.wait_for(|page| page.value("materials.grey.reflectance") == json!([0.1, 0.5, 0.5]));
    assert_eq!(page.value("camera.fov"), json!(50), "edits stay");
    let export = page.ask(json!({ "type": "export" }), "export");
    let expected = client::rounded(&rendered(&folder, 8, &export["set"]));
    assert_eq!(page.picture(8).decoded(), expected);

    write("[0.1, 0.5, 0.5]", "[0.1, 0.5, 7.5]");
    page.wait_for(|page| page.problem.as_deref().is_some_and(|text| text.contains("scene.toml:")));
    let again = Page::open(&view).picture(8);
    assert_eq!(again.decoded(), expected, "the last good picture stays");
    write("[0.1, 0.5, 7.5]", "[0.9, 0.5, 0.5]");
    page.wait_for(|page| page.problem.is_none());
    page.wait_for(|page| page.value("materials.grey.reflectance") == json!([0.9, 0.5, 0.5]));
    page.ask(json!({ "type": "undo" }), "values");
    assert_eq!(page.value("camera.fov").as_f64(), Some(40.0), "what was kept can be taken back");

    // A file that was missing, and one that an edit names.
    let points = "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\n\
                  element face 1\nproperty list uchar int vertex_indices\nend_header\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n";
    let mesh = "[[shapes]]\ntype = \"mesh\"\nfile = \"models/mesh.ply\"\nmaterial = \"grey\"\n\n[[shapes]]";
    fs::create_dir(folder.at("models")).unwrap();
    write("[[shapes]]", mesh);
    page.wait_for(|page| page.problem.as_deref().is_some_and(|text| text.contains("mesh.ply")));
    fs::write(folder.at("models/mesh.ply"), points).unwrap();
    page.wait_for(|page| page.problem.is_none() && page.value("shapes.0.file") == json!("models/mesh.ply"));
    page.set(&[("shapes.0.file", json!("models/other.ply"))]);
    page.wait_for(|page| page.problem.as_deref().is_some_and(|text| text.contains("other.ply")));
    page.wait_for(|page| page.progress["state"] == "failed");
    fs::write(folder.at("models/other.ply"), points).unwrap();
    page.wait_for(|page| page.problem.is_none());
    let before = page.picture(8).revision;
    fs::write(folder.at("models/other.ply"), points.replace("0 1 0", "0 2 0")).unwrap();
    page.wait_for(|page| page.frame.revision > before && page.problem.is_none());
}

/// A type that is chosen brings what it has to have, and one that is chosen again brings back what it had.
#[test]
fn types_come_with_their_keys() {
    let folder = Folder::new();
    let text = fs::read_to_string(folder.at("scene.toml")).unwrap();
    let text = text.replace("spp = 8", "spp = 8\nfilter = { type = \"gaussian\", sigma = 0.9 }");
    fs::write(folder.at("scene.toml"), text).unwrap();
    let view = Served::start(&folder, &["scene.toml", "--spp=8"]);
    let mut page = Page::open(&view);
    for (path, types) in [
        ("materials.grey.type", &["conductor", "dielectric", "principled", "diffuse"][..]),
        ("camera.type", &["orthographic", "equirectangular", "perspective"]),
        ("render.filter.type", &["box", "mitchell", "gaussian"]),
    ] {
        for kind in types {
            page.set(&[(path, json!(kind))]);
            let picture = page.picture(8);
            assert_eq!(page.problem, None, "{path} = {kind}");
            let export = page.ask(json!({ "type": "export" }), "export");
            let expected = client::rounded(&rendered(&folder, 8, &export["set"]));
            assert_eq!(picture.decoded(), expected, "{path} = {kind}: {}", export["set"]);
        }
        let export = page.ask(json!({ "type": "export" }), "export");
        assert_eq!(export["set"], json!([]), "{path} is as it was");
    }
    for _ in 0..10 {
        page.change(json!({ "type": "undo" }));
    }
    page.ask(json!({ "type": "undo" }), "refused");
}

/// What a refused value has touched is as it was, and what is dragged back is no step.
#[test]
fn nothing_is_left_of_what_is_not_done() {
    let folder = Folder::new();
    let view = Served::start(&folder, &["scene.toml", "--spp=4"]);
    let mut page = Page::open(&view);
    let value = json!([["camera.lens.focus.0", 1]]);
    page.ask(json!({ "type": "set", "values": value, "gesture": 1, "done": true }), "refused");
    page.set(&[("camera.fov", json!(41))]);
    page.picture(4);
    assert_eq!(page.problem, None);
    page.ask(json!({ "type": "undo" }), "values");
    for (fov, done) in [(45, false), (50, false), (40, true)] {
        let value = json!([["camera.fov", fov]]);
        page.ask(json!({ "type": "set", "values": value, "gesture": 2, "done": done }), "values");
    }
    page.ask(json!({ "type": "undo" }), "refused");
    // A table and one in it, in one gesture.
    page.set(&[("camera.lens", json!({ "radius": 0.01, "focus_distance": 3 }))]);
    for (path, value) in [("camera.lens.radius", 0.02), ("camera.fov", 30.0), ("camera.lens.radius", 0.03)] {
        let values = json!([[path, value]]);
        page.ask(json!({ "type": "set", "values": values, "gesture": 3 }), "values");
    }
    page.ask(json!({ "type": "undo" }), "values");
    assert_eq!(page.value("camera.lens.radius"), json!(0.01));
    page.ask(json!({ "type": "redo" }), "values");
    assert_eq!((page.value("camera.lens.radius"), page.value("camera.fov")), (json!(0.03), json!(30.0)));
}

/// A scene that is wrong answers, and does not keep the processor busy; whoever comes while something is dragged knows its value.
#[test]
fn wrong_scenes_wait() {
    let folder = Folder::new();
    let view = Served::start(&folder, &["scene.toml", "--spp=100000000"]);
    let mut page = Page::open(&view);
    page.ask(json!({ "type": "probe", "x": 1, "y": 1 }), "probe");
    page.set(&[("camera.target", json!([0, 0, 4]))]);
    page.wait_for(|page| page.problem.is_some());
    page.send(json!({ "type": "show", "layer": "emission" }));
    page.ask(json!({ "type": "probe", "x": 1, "y": 1 }), "probe");
    let before = view.cpu_time();
    std::thread::sleep(Duration::from_secs(1));
    assert!(view.cpu_time() - before < Duration::from_millis(300), "it waits");
    page.ask(json!({ "type": "undo" }), "values");
    page.wait_for(|page| page.problem.is_none());
    page.send(json!({ "type": "show", "layer": "radiance" }));
    page.picture(1);
    page.ask(json!({ "type": "set", "values": [["camera.fov", 33]], "gesture": 9 }), "values");
    let mut other = Page::open(&view);
    other.wait_for(|page| page.value("camera.fov") == json!(33));
    assert!(view.interrupt());
}
