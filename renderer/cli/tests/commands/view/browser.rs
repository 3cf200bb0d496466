//! The page in a browser.

use std::fs;

use serde_json::json;
use torrance_image::film::develop::Develop;
use torrance_image::film::tone::Tonemap;

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

/// Keys, as WebDriver names them.
const ESCAPE: &str = "\u{e00c}";
const TAB: &str = "\u{e004}";
const ENTER: &str = "\u{e007}";

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

    // A click is marked, and selects the material, whose outline, chart and parameters are shown.
    browser.run(
        "window.marks = [];
         const note = (record) => record.addedNodes.forEach((mark) => window.marks.push(mark.getAttribute('class')));
         const observer = new MutationObserver((records) => records.forEach(note));
         observer.observe(document.querySelector('#marks g'), { childList: true });",
    );
    browser.pointer(&[Pointer::Move(at(0.5, 0.5)), Pointer::Down, Pointer::Up]);
    browser.wait("window.marks.join() === 'ring,flash'");
    browser.wait("!document.querySelector('#marks g').hasChildNodes()");
    browser.wait("document.querySelector('#material').textContent.includes('ball')");
    browser.wait("document.querySelector('#material img')?.naturalWidth > 0");
    browser.wait("document.querySelector('#material-rows [data-path=\"materials.ball.roughness\"]')");
    browser.click("#chart");
    browser.wait("document.querySelector('#large-chart[open] img').naturalWidth > 0");
    browser.screenshot("view-chart");
    browser.keys(ESCAPE);
    browser.wait("!document.querySelector('#large-chart').open");

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

    // The picture is kept, which does not cover it, and wiped against another from the pointer on.
    browser.click("#keep");
    browser.wait("document.querySelector('#toasts').textContent.includes('W')");
    assert_eq!(browser.run("return document.querySelector('#wipe').hidden;"), json!(true));
    browser.pointer(&[Pointer::Move(at(0.25, 0.5))]);
    browser.keys("w");
    browser.wait("Math.abs(document.querySelector('#wipe').ariaValueNow - 25) <= 1");
    assert_eq!(browser.run("return document.querySelector('#wipe').hidden;"), json!(false));
    browser.click("#undo");
    other.wait_for(|page| page.value("materials.ball.roughness") == json!(0.3));
    browser.wait("Number(document.documentElement.dataset.spp) >= 256");
    browser.screenshot("view-wipe");
    browser.click("#compare");
    browser.wait("document.querySelector('#verdict[data-different=true] h2')?.textContent === 'Different'");
    let region = || browser.place("#marks .region .over")[2];
    let before = region();
    browser.screenshot("view-verdict");
    browser.keys("1");
    assert!(region() < before, "it is shown smaller, as the picture is");
    browser.keys("0");

    // Another page changes the scene, and the verdict goes.
    other.set(&[("materials.ball.roughness", json!(0.55))]);
    browser.wait("document.querySelector('#verdict').hidden && !document.querySelector('#marks .region')");
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

/// Types into a field as one who tabs through them does.
fn retype(browser: &Browser, text: &str) {
    browser.run("document.activeElement.select();");
    browser.keys(text);
}

#[test]
fn a_color_that_is_typed_is_one_step() {
    let Some(browser) = Browser::start() else { return };
    let folder = Folder::new();
    fs::write(folder.at("scene.toml"), SCENE).unwrap();
    let view = Served::start(&folder, &["scene.toml", "--spp=16"]);
    browser.resize(1100, 800);
    browser.visit(&view.url);
    browser.wait(FRAMES);
    let is_one_line = browser.run("return document.querySelector('.bar').clientHeight < 50;");
    assert_eq!(is_one_line, json!(true), "the bar fits");
    let mut other = Page::open(&view);
    let color = |page: &Page| page.value("materials.wall.reflectance");
    let before = color(&other);
    let at = picture(&browser);
    browser.pointer(&[Pointer::Move(at(0.9, 0.5)), Pointer::Down, Pointer::Up]);
    browser.wait("document.querySelector('#material-rows [data-path=\"materials.wall.reflectance\"]')");

    let row = "#material-rows [data-path=\"materials.wall.reflectance\"]";
    browser.click(&format!("{row} input[type=number]"));
    for (channel, expected) in
        [json!([0.3, 0.6, 0.2]), json!([0.3, 0.4, 0.2]), json!([0.3, 0.4, 0.5])].iter().enumerate()
    {
        retype(&browser, &format!("{}{TAB}", expected[channel]));
        other.wait_for(|page| color(page) == *expected);
    }
    browser.click("#undo");
    other.wait_for(|page| color(page) == before);
    browser.wait("document.querySelector('#undo').disabled");

    // Middle grey of sRGB, decoded by IEC 61966-2-1.
    browser.click(&format!("{row} input[type=text]"));
    retype(&browser, &format!("808080{ENTER}"));
    let grey = ((128.0_f64 / 255.0 + 0.055) / 1.055).powf(2.4);
    other.wait_for(|page| {
        let is_grey = |c: usize| (color(page)[c].as_f64().unwrap_or_default() - grey).abs() < 1e-4;
        (0..3).all(is_grey)
    });
    browser.screenshot("view-color");

    // Keys belong to the picture again after a choice by pointer, and to a menu after one by key.
    for (event, focused) in [("pointerdown", "picture"), ("keydown", "tone")] {
        browser.run(&format!(
            "const menu = document.querySelector('#tone');
             menu.dispatchEvent(new Event('{event}', {{ bubbles: true }}));
             menu.focus();
             menu.dispatchEvent(new Event('change', {{ bubbles: true }}));"
        ));
        assert_eq!(browser.run("return document.activeElement.id;"), json!(focused));
    }
    assert_eq!(browser.errors(), Vec::<String>::new());
}

/// A page that comes when the picture is done can expose it.
#[test]
fn a_finished_picture_is_radiance() {
    let Some(browser) = Browser::start() else { return };
    let folder = Folder::new();
    fs::write(folder.at("scene.toml"), SCENE).unwrap();
    let view = Served::start(&folder, &["scene.toml", "--spp=4"]);
    Page::open(&view).picture(4);
    browser.resize(1280, 800);
    for _ in 0..3 {
        browser.visit(&view.url);
        browser.wait(FRAMES);
        let is_enabled = browser.run("return !document.querySelector('#exposure').disabled;");
        assert_eq!(is_enabled, json!(true));
    }
}

/// Every tone curve shows the sky as the program's images do.
#[test]
fn tones_are_those_of_images() {
    // Sent as they are: 128ths.
    const SKY: [f32; 3] = [3.0, 0.5, 0.0625];
    let Some(browser) = Browser::start() else { return };
    let folder = Folder::new();
    fs::write(folder.at("scene.toml"), SCENE.replace("radiance = 0.6", "radiance = [3.0, 0.5, 0.0625]"))
        .unwrap();
    let view = Served::start(
        &folder,
        &[
            "scene.toml",
            "--spp=4",
            "--set",
            "camera.position=[0, 40, 0.1]",
            "--set",
            "camera.target=[0, 80, 0]",
        ],
    );
    browser.resize(1280, 800);
    browser.visit(&view.url);
    browser.wait(FRAMES);
    browser.wait("(({ exact, spp }) => exact === 'true' && spp === '4')(document.documentElement.dataset)");
    browser.wait("document.documentElement.dataset.size === '320x180'");
    for (name, tonemap) in Tonemap::NAMES.iter().copied() {
        for exposure in [-2.0, 0.0, 2.0] {
            let expected = Develop { exposure, tonemap, ..Develop::default() }.to_bytes(SKY);
            // What is drawn can be read before the browser takes it away: in the same frame.
            let seen = browser.run(&format!(
                "const set = (id, value) => {{
                   const field = document.querySelector(id);
                   field.value = value;
                   for (const type of ['input', 'change']) field.dispatchEvent(new Event(type, {{ bubbles: true }}));
                 }};
                 set('#tone', '{name}');
                 set('#exposure', '{exposure}');
                 return new Promise((done) => requestAnimationFrame(() => {{
                   const canvas = document.querySelector('#picture');
                   const context = new OffscreenCanvas(1, 1).getContext('2d');
                   context.drawImage(canvas, canvas.width / 2, canvas.height / 2, 1, 1, 0, 0, 1, 1);
                   done([...context.getImageData(0, 0, 1, 1).data.slice(0, 3)]);
                 }}));"
            ));
            let is_near =
                |c: usize| (seen[c].as_f64().unwrap_or(f64::NAN) - f64::from(expected[c])).abs() <= 1.0;
            assert!((0..3).all(is_near), "{name} {exposure}: {seen}, not {expected:?}");
        }
    }
    assert_eq!(browser.errors(), Vec::<String>::new());
}
