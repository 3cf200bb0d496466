//! The page in a browser.

use std::fs;

use serde_json::json;

use super::client::{Page, Served};
use crate::pages::browser::{Browser, Pointer};
use crate::program::Folder;

/// A red ball before a green wall.
const SCENE: &str = r#"
[render]
size = [320, 180]
max_depth = 4

[camera]
position = [0, 0.3, 4]
target = [0, 0, 0]
fov = 40

[environment]
radiance = 0.6

[materials.ball]
type = "conductor"
metal = "copper"
roughness = 0.3

[materials.wall]
type = "diffuse"
reflectance = [0.1, 0.6, 0.2]

[[shapes]]
name = "ball"
type = "sphere"
material = "ball"

[[shapes]]
name = "wall"
type = "quad"
material = "wall"
transform = [{ scale = 6 }, { translate = [0, 0, -3] }]
"#;

/// Where the picture is in the window.
fn picture(browser: &Browser) -> impl Fn(f64, f64) -> [f64; 2] {
    let [x, y, width, height] = browser.place("#picture");
    move |u, v| [x + u * width, y + v * height]
}

/// The value of a parameter in the page's panel.
fn shown(browser: &Browser, path: &str) -> f64 {
    let selector = format!("[data-path=\"{path}\"] input[type=number]");
    let value = browser.run(&format!("return Number(document.querySelector({})?.value);", json!(selector)));
    value.as_f64().unwrap_or(f64::NAN)
}

const FRAMES: &str = "Number(document.documentElement.dataset.frames) > 0";

#[test]
fn a_scene_is_tuned_in_a_browser() {
    let Some(browser) = Browser::start() else { return };
    let folder = Folder::new();
    fs::write(folder.at("scene.toml"), SCENE).unwrap();
    let view = Served::start(&folder, &["scene.toml", "--spp=256", "--watch"]);
    browser.resize(1280, 800);
    browser.visit(&view.url);
    browser.wait(FRAMES);
    browser.wait("document.documentElement.dataset.size === '320x180'");
    browser.screenshot("view");

    // Another page sees what this one does.
    let mut other = Page::open(&view);
    let camera = other.value("camera.position");

    // A drag turns the camera about its target.
    let at = picture(&browser);
    let steps = [
        Pointer::Move(at(0.2, 0.2)),
        Pointer::Down,
        Pointer::Move(at(0.3, 0.25)),
        Pointer::Move(at(0.35, 0.2)),
        Pointer::Up,
    ];
    browser.pointer(&steps);
    other.wait_for(|page| page.value("camera.position") != camera);
    browser.wait("!document.querySelector('#undo').disabled");
    browser.click("#undo");
    other.wait_for(|page| page.value("camera.position") == camera);

    // A click selects the material, and shows its chart.
    browser.pointer(&[Pointer::Move(at(0.5, 0.5)), Pointer::Down, Pointer::Up]);
    browser.wait("document.querySelector('#material').textContent.includes('ball')");
    browser.wait("document.querySelector('#material img')?.naturalWidth > 0");
    browser.wait("document.querySelector('[data-path=\"materials.ball.roughness\"] input[type=range]')");

    // A slider is dragged.
    let [x, y, width, height] = browser.place("[data-path=\"materials.ball.roughness\"] input[type=range]");
    let on = |part: f64| [x + part * width, y + height / 2.0];
    let steps =
        [Pointer::Move(on(0.3)), Pointer::Down, Pointer::Move(on(0.5)), Pointer::Move(on(0.8)), Pointer::Up];
    browser.pointer(&steps);
    other.wait_for(|page| page.value("materials.ball.roughness").as_f64().is_some_and(|x| x > 0.7));
    let dragged = other.value("materials.ball.roughness").as_f64().unwrap();
    assert!((shown(&browser, "materials.ball.roughness") - dragged).abs() < 0.01);
    browser.screenshot("view-dragged");

    // The picture is kept, and wiped against another.
    browser.click("#keep");
    browser.wait("!document.querySelector('#wipe').hidden && !document.querySelector('#compare').disabled");
    browser.click("#undo");
    other.wait_for(|page| page.value("materials.ball.roughness") == json!(0.3));
    browser.wait("Number(document.documentElement.dataset.spp) >= 256");
    browser.screenshot("view-wipe");
    browser.click("#compare");
    browser.wait("document.querySelector('#verdict').textContent.length > 20");

    // Another page changes the scene.
    other.set(&[("materials.ball.roughness", json!(0.55))]);
    browser.wait("document.querySelector('#changes').textContent.includes('1')");
    assert!((shown(&browser, "materials.ball.roughness") - 0.55).abs() < 1e-6);

    // The file changes, is wrong, and is right again.
    let write = |from: &str, to: &str| {
        let text = fs::read_to_string(folder.at("scene.toml")).unwrap();
        assert!(text.contains(from), "{from}");
        fs::write(folder.at("scene.toml"), text.replace(from, to)).unwrap();
    };
    write("[0.1, 0.6, 0.2]", "[0.1, 0.2, 0.6]");
    other.wait_for(|page| page.value("materials.wall.reflectance") == json!([0.1, 0.2, 0.6]));
    assert_eq!(other.value("materials.ball.roughness"), json!(0.55), "edits stay");
    write("[0.1, 0.2, 0.6]", "[0.1, 0.2, 6]");
    browser.wait("document.querySelector('#problem').textContent.includes('scene.toml:')");
    browser.screenshot("view-problem");
    write("[0.1, 0.2, 6]", "[0.6, 0.2, 0.1]");
    browser.wait("!document.querySelector('#problem').checkVisibility()");

    browser.prefer("dark");
    browser.screenshot("view-dark");
    browser.resize(360, 780);
    browser.settle();
    let is_within = browser.run("return document.documentElement.scrollWidth <= window.innerWidth;");
    assert_eq!(is_within, json!(true), "nothing is wider than the window");
    browser.screenshot("view-narrow");
    assert_eq!(browser.errors(), Vec::<String>::new());
    browser.notices_mistakes();
}
