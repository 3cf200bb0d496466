//! The page of a sweep, opened and used in a browser.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;
use torrance_image::film::Image;
use torrance_image::film::develop::Develop;
use torrance_image::film::tone::Tonemap;
use torrance_plot::chart::ColorMap;
use torrance_plot::sheet::Side;
use torrance_plot::sweep_page::{BUDGET, Page, Variant, write};

use super::browser::{Browser, Pointer};

mod reader;
mod sizes;

const WIDTH: u32 = 48;
const HEIGHT: u32 = 32;

/// The value of the first axis at which the second model was not rendered.
const MISSING: [usize; 2] = [3, 1];

/// Keys, as WebDriver names them.
const HOME: &str = "\u{e011}";
const END: &str = "\u{e010}";
const LEFT: &str = "\u{e012}";
const UP: &str = "\u{e013}";
const RIGHT: &str = "\u{e014}";

/// Names on the pages of these tests: attempts to become markup, script, or an attribute.
const HOSTILE: [&str; 5] = [
    "</script><script>window.broken = 1</script>",
    "\"><img src=x onerror=\"window.broken = 1\">",
    "' onmouseover='window.broken = 1' <!-- {{scripts}} ${1} \\",
    "Größe 10⁶ — 玻璃 🫧 \u{202e}gnp.exe",
    "a\0b\u{1b}[31mred & <b>bold</b>",
];

/// The page of a sweep of two parameters, and what it is made of.
struct Sweep {
    axes: Vec<Side>,
    variants: Vec<Variant>,
    baseline: Vec<Option<usize>>,
    facts: Vec<(String, String)>,
    develop: Develop,
    title: String,
}

fn side(name: &str, labels: &[&str]) -> Side {
    Side { name: name.into(), labels: labels.iter().map(|l| (*l).into()).collect() }
}

/// Which value each axis has.
fn place(axes: &[Side], mut variant: usize) -> Vec<usize> {
    let mut index = |axis: &Side| {
        let i = variant % axis.labels.len();
        variant /= axis.labels.len();
        i
    };
    axes.iter().map(&mut index).collect()
}

/// Radiance of a pixel: red grows by 0.05 from roughness to roughness, blue with the model.
fn radiance(at: &[usize], x: u32, y: u32) -> [f32; 3] {
    let [a, b] = [0, 1].map(|i| at.get(i).map_or(0.0, |i| *i as f32));
    [0.1 + x as f32 / 200.0 + 0.05 * a, 0.02 + y as f32 / 40.0, 0.3 + 0.1 * b + (x * y) as f32 * 1e-5]
}

fn image(value: impl Fn(u32, u32) -> [f32; 3]) -> Image {
    let pixels =
        (0..HEIGHT).flat_map(|y| (0..WIDTH).map(move |x| (x, y))).map(|(x, y)| value(x, y)).collect();
    Image { width: WIDTH, height: HEIGHT, pixels }
}

impl Sweep {
    /// Variants of any axes, with numbers of which the first grows with the place on the first axis.
    fn new(axes: Vec<Side>) -> Self {
        let n = axes.iter().map(|a| a.labels.len()).product();
        let variant = |i: usize| {
            let at = place(&axes, i);
            let named = axes.iter().zip(&at).map(|(axis, i)| format!("{} = {}", axis.name, axis.labels[*i]));
            let mean = 0.25 + 0.05 * at.first().map_or(0.0, |a| *a as f64);
            Variant { name: named.collect::<Vec<_>>().join(", "), statistics: vec![mean, f64::NAN, -1.5] }
        };
        Self {
            variants: (0..n).map(variant).collect(),
            baseline: vec![Some(0), None],
            facts: vec![("scene".into(), "preview.toml".into()), ("samples".into(), "64 per pixel".into())],
            develop: Develop::default(),
            title: "Roughness".into(),
            axes,
        }
    }

    /// Roughness by model, of which one variant is missing.
    fn of_two() -> Self {
        let mut sweep = Self::new(vec![
            side("roughness", &["0", "0.25", "0.5", "0.75", "1"]),
            side("multiscatter", &["none", "compensated", "random_walk"]),
        ]);
        let missing = MISSING[0] + 5 * MISSING[1];
        sweep.variants[missing].statistics.clear();
        sweep
    }

    fn image(&self, i: usize) -> Option<Image> {
        let at = place(&self.axes, i);
        (at != MISSING).then(|| image(|x, y| radiance(&at, x, y)))
    }

    /// The page in a file, and the folder that it is in.
    fn written(&self, budget: usize, image: &mut dyn FnMut(usize) -> Option<Image>) -> (TempDir, PathBuf) {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("sweep.html");
        let mut file = BufWriter::new(File::create(&path).expect("a file"));
        let page = Page {
            title: &self.title,
            facts: &self.facts,
            axes: &self.axes,
            columns: &["mean", "p5", "stderr"],
            variants: &self.variants,
            baseline: &self.baseline[..self.baseline.len().min(self.axes.len())],
            develop: self.develop,
        };
        write(&page, budget, image, &mut file).and_then(|()| file.flush()).expect("it is written");
        (folder, path)
    }

    /// As it is meant.
    fn page(&self) -> (TempDir, PathBuf) {
        self.written(BUDGET, &mut |i| self.image(i))
    }
}

/// Waits until what is chosen is seen.
fn settle(browser: &Browser) {
    browser.wait("viewer.now.result === chosen() && viewer.now.reference === baselineOf(state.at)");
    browser.settle();
}

fn text(browser: &Browser, selector: &str) -> String {
    let found = browser.run(&format!("return document.querySelector({}).textContent;", json!(selector)));
    found.as_str().expect("text").to_owned()
}

/// Focuses something and presses keys.
fn press(browser: &Browser, selector: &str, keys: &str) {
    browser.run(&format!("document.querySelector({}).focus();", json!(selector)));
    browser.keys(keys);
    settle(browser);
}

/// Sets what is chosen from a list, or a slider that is no parameter.
fn set(browser: &Browser, selector: &str, value: &str) {
    browser.run(&format!(
        "const e = document.querySelector({}); e.value = {}; e.dispatchEvent(new Event('input'));
         e.dispatchEvent(new Event('change', {{ bubbles: true }}));",
        json!(selector),
        json!(value)
    ));
    settle(browser);
}

fn view(browser: &Browser, name: &str) {
    browser.click(&format!(".modes [value={name}] + span"));
    settle(browser);
}

/// The point of the window where a view shows the middle of a pixel of the image.
fn point(browser: &Browser, view: &str, [x, y]: [u32; 2]) -> [f64; 2] {
    let [left, top, width, height] = browser.place(&format!("canvas[data-view={view}]"));
    let shown = browser.run("const { view } = viewer; return [view.x, view.y, view.zoom];");
    let [cx, cy, zoom]: [f64; 3] = serde_json::from_value(shown).expect("three numbers");
    let at = |x: u32, middle: f64, length: f64| length / 2.0 + (f64::from(x) + 0.5 - middle) * zoom;
    [left + at(x, cx, width), top + at(y, cy, height)]
}

/// The colour with which a view shows a pixel of the image; none where the view is empty.
fn color(browser: &Browser, view: &str, pixel: [u32; 2]) -> Option<[f64; 3]> {
    let [x, y] = point(browser, view, pixel);
    let [left, top, ..] = browser.place(&format!("canvas[data-view={view}]"));
    let [x, y] = [(x - left).floor(), (y - top).floor()];
    let found = browser.run(&format!(
        "const c = document.querySelector('canvas[data-view={view}]');
         return [...c.getContext('2d').getImageData({x}, {y}, 1, 1).data];"
    ));
    let [r, g, b, alpha]: [f64; 4] = serde_json::from_value(found).expect("four numbers");
    (alpha > 0.0).then_some([r, g, b])
}

/// Whether a colour is as it should be, but for rounding.
fn is_near(seen: Option<[f64; 3]>, expected: [f64; 3]) -> bool {
    distance(seen, expected) <= 1.0
}

/// How far two colours are apart, of 255.
fn distance(seen: Option<[f64; 3]>, expected: [f64; 3]) -> f64 {
    seen.map_or(f64::INFINITY, |s| s.iter().zip(expected).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max))
}

/// Displayed value of radiance.
fn developed(pixel: [f32; 3], develop: Develop) -> [f64; 3] {
    develop.apply(pixel).map(|x| x * 255.0)
}

/// The first of some pixels of the variant that is not shown as it should be, or whose values are not.
fn wrong_pixel(browser: &Browser, at: &[usize]) -> Option<String> {
    for pixel in [[5, 21], [30, 7], [46, 30], [12, 16]] {
        let [x, y] = pixel;
        let expected = radiance(at, x, y);
        let shown = color(browser, "result", pixel);
        if !is_near(shown, developed(expected, Develop::default())) {
            return Some(format!("pixel {x}, {y} is {shown:?}"));
        }
        browser.pointer(&[Pointer::Move(point(browser, "result", pixel))]);
        for (c, expected) in expected.iter().enumerate() {
            let read = text(browser, &format!("[data-read=result-{c}]"));
            let value: f32 = read.parse().expect("a number");
            if (value - expected).abs() > 6e-4 * expected {
                return Some(format!("pixel {x}, {y}: {read} instead of {expected}"));
            }
        }
    }
    None
}

/// The page made no network request, and none of its scripts failed.
fn nothing_was_asked_for(browser: &Browser) {
    let requests = "return performance.getEntriesByType('resource').map((e) => e.name.slice(0, 40));";
    let requests: Vec<String> = serde_json::from_value(browser.run(requests)).expect("names");
    assert!(requests.iter().all(|r| r.starts_with("data:")), "requests: {requests:?}");
    assert_eq!(browser.errors(), Vec::<String>::new());
}

/// Names are what they were, character for character but for those that do harm, and fit on a telephone.
#[test]
fn hostile_names_stay_names() {
    let Some(browser) = Browser::start() else { return };
    let long = "a_material_with_a_very_long_name.and_a_very_long_parameter_name_without_any_space";
    let mut sweep = Sweep::new(vec![side(&HOSTILE.concat(), &HOSTILE), side(long, &[long, "b"])]);
    sweep.title = HOSTILE.concat();
    sweep.facts = HOSTILE.map(|h| (h.to_owned(), h.to_owned())).into();
    let (_folder, path) = sweep.page();
    browser.resize(1280, 900);
    browser.prefer("light");
    browser.open(&path);
    settle(&browser);
    screenshot(&browser, "sweep-hostile");
    let options = browser
        .run("return [...document.querySelector('.baseline select').options].map((o) => o.textContent);");
    let options: Vec<String> = serde_json::from_value(options).expect("texts");
    for hostile in HOSTILE {
        let harmless = hostile.replace(['\0', '\u{1b}', '\u{202e}'], "\u{fffd}");
        assert!(options.contains(&harmless), "{harmless:?} is not in {options:?}");
    }
    press(&browser, "#axis-0", HOME);
    assert_eq!(text(&browser, "output[for=axis-0]"), HOSTILE[0]);
    for view_name in ["side", "all", "wipe"] {
        view(&browser, view_name);
        it_fits_a_telephone(&browser);
        screenshot(&browser, &format!("sweep-hostile-{view_name}-narrow"));
        browser.resize(1280, 900);
        browser.settle();
    }
    assert_eq!(browser.run("return window.broken ?? 'inert';"), json!("inert"));
    assert_eq!(browser.run("return document.querySelectorAll('b, output > *, dd > *').length;"), json!(0));
    nothing_was_asked_for(&browser);
}

/// Nothing is wider than a narrow window, but for what is scrolled by itself.
fn it_fits_a_telephone(browser: &Browser) {
    browser.resize(360, 740);
    browser.settle();
    assert_eq!(wide_elements(browser), json!([]));
    let overflow =
        "const { scrollWidth, clientWidth } = document.documentElement; return scrollWidth - clientWidth;";
    assert_eq!(browser.run(overflow), json!(0));
}

fn wide_elements(browser: &Browser) -> Value {
    browser.run(
        "return [...document.querySelectorAll('body *')]
             .filter((e) => e.checkVisibility({ visibilityProperty: true }) && !e.parentElement.closest('#contact, .unseen, svg'))
             .filter((e) => e.getBoundingClientRect().right > 360.5).map((e) => e.outerHTML.slice(0, 80));",
    )
}

/// Negative control of what is read from the page: one value of one pixel is off by 1 %, or another variant is shown.
#[test]
fn a_wrong_pixel_is_noticed() {
    let Some(browser) = Browser::start() else { return };
    browser.resize(1280, 900);
    let sweep = Sweep::of_two();
    let (_folder, path) = sweep.written(BUDGET, &mut |i| {
        let mut image = sweep.image(i)?;
        image.pixels[(7 * WIDTH + 30) as usize][1] *= 1.01;
        Some(image)
    });
    browser.open(&path);
    settle(&browser);
    let wrong = wrong_pixel(&browser, &[2, 1]);
    assert!(wrong.as_ref().is_some_and(|w| w.starts_with("pixel 30, 7")), "{wrong:?}");
    let wrong = wrong_pixel(&browser, &[1, 1]);
    assert!(wrong.as_ref().is_some_and(|w| w.starts_with("pixel 5, 21")), "{wrong:?}");
}

/// Negative control of what is asked last: scripts that fail and requests are noticed and refused, and so is an element
/// that is wider than the window.
#[test]
fn mistakes_are_noticed() {
    let Some(browser) = Browser::start() else { return };
    let (_folder, path) = Sweep::of_two().page();
    browser.open(&path);
    settle(&browser);
    nothing_was_asked_for(&browser);
    browser.notices_mistakes();
    it_fits_a_telephone(&browser);
    browser.run("document.querySelector('h1').style.minWidth = '361px';");
    assert_ne!(wide_elements(&browser), json!([]));
}

/// A picture of the page from its top, for people to look at.
fn screenshot(browser: &Browser, name: &str) {
    browser.run("window.scrollTo(0, 0);");
    browser.screenshot(name);
}
