//! The page of a sweep, opened and used in a browser.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;
use torrance_image::film::Image;
use torrance_image::film::develop::{Develop, Tonemap};
use torrance_plot::chart::ColorMap;
use torrance_plot::sheet::Side;
use torrance_plot::sweep_page::{BUDGET, Page, Variant, write_within};

use crate::browser::{Browser, Pointer};

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
        write_within(&page, budget, image, &mut file).and_then(|()| file.flush()).expect("it is written");
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

/// Everything a reader does with a page.
#[test]
fn a_page_is_opened_and_used() {
    let Some(browser) = Browser::start() else { return };
    let (_folder, path) = Sweep::of_two().page();
    browser.resize(1280, 900);
    browser.prefer("light");
    browser.open(&path);
    settle(&browser);
    screenshot(&browser, "sweep-light");

    sliders_move(&browser);
    baselines_are_chosen(&browser);
    differences_are_painted(&browser);
    divider_is_dragged(&browser);
    tones_are_mapped(&browser);
    pixels_are_whole(&browser);
    what_is_missing_says_so(&browser);
    thumbnails_choose(&browser);
    chart_chooses(&browser);
    it_plays(&browser);
    address_keeps_the_state(&browser);
    themes_change(&browser);
    nothing_was_asked_for(&browser);
}

/// Of the network, and nothing went wrong.
fn nothing_was_asked_for(browser: &Browser) {
    let requests = "return performance.getEntriesByType('resource').map((e) => e.name.slice(0, 40));";
    let requests: Vec<String> = serde_json::from_value(browser.run(requests)).expect("names");
    assert!(requests.iter().all(|r| r.starts_with("data:")), "requests: {requests:?}");
    assert_eq!(browser.errors(), Vec::<String>::new());
}

/// With keys, from the middle to the ends, one value at a time.
fn sliders_move(browser: &Browser) {
    assert_eq!(text(browser, "output[for=axis-0]"), "0.5", "it begins in the middle");
    for (keys, value, at) in [(HOME, "0", [0, 1]), (RIGHT, "0.25", [1, 1]), (END, "1", [4, 1])] {
        press(browser, "#axis-0", keys);
        assert_eq!(text(browser, "output[for=axis-0]"), value);
        let spoken = browser.run("return document.querySelector('#axis-0').ariaValueText;");
        assert_eq!(spoken, json!(value));
        assert_eq!(wrong_pixel(browser, &at), None);
    }
    press(browser, "#axis-1", RIGHT);
    assert_eq!(text(browser, "output[for=axis-1]"), "random_walk");
    assert_eq!(wrong_pixel(browser, &[4, 2]), None);
    assert_eq!(
        text(browser, ".frame:has([data-view=result]) + figcaption span"),
        "roughness = 1, multiscatter = random_walk"
    );
}

/// Of each axis a value or the same as the variant has, and by a button.
fn baselines_are_chosen(browser: &Browser) {
    let red = |at: &[usize]| developed(radiance(at, 20, 10), Develop::default());
    let seen = || color(browser, "reference", [20, 10]);
    assert!(is_near(seen(), red(&[0, 2])), "the first roughness of the same model");
    press(browser, "#axis-1", LEFT);
    assert!(is_near(seen(), red(&[0, 1])), "it follows the model");
    set(browser, "[aria-label='Baseline of multiscatter']", "0");
    assert!(is_near(seen(), red(&[0, 0])), "the first model");
    set(browser, "[aria-label='Baseline of roughness']", "*");
    assert!(is_near(seen(), red(&[4, 0])), "the roughness of the variant");
    press(browser, "#axis-0", LEFT.repeat(2).as_str());
    assert!(is_near(seen(), red(&[2, 0])));
    browser.click("#use-baseline");
    settle(browser);
    assert!(is_near(seen(), red(&[2, 1])), "the variant itself");
    assert_eq!(text(browser, "[data-show=means]"), "The baseline itself.");
    press(browser, "#axis-0", END);
    assert!(is_near(seen(), red(&[2, 1])), "it stays");
    browser.click("#show-baseline");
    settle(browser);
    assert_eq!(text(browser, "output[for=axis-0]"), "0.5");
}

/// In the colours of the map, by the scale, and as numbers.
fn differences_are_painted(browser: &Browser) {
    view(browser, "difference");
    let seen = || color(browser, "difference", [20, 10]);
    // There are 256 colours of the map.
    let is_at = |part: f64| {
        let expected = ColorMap::BlueRed.at(0.5 + 0.5 * part).0.map(f64::from);
        assert!(distance(seen(), expected) <= 2.0, "{:?}, not {expected:?}", seen());
    };
    is_at(0.0);
    // The variant is 0.1 brighter in red than the baseline; 0.125 is the half step above it.
    press(browser, "#axis-0", END);
    browser.click("[data-do=fit-range]");
    settle(browser);
    assert_eq!(text(browser, "[data-show=range]"), "±0.13");
    is_at(0.8);
    let means = text(browser, "[data-show=means]");
    // 0.2126 · 0.1.
    assert!(means.starts_with("Mean difference +0.0213 (+"), "{means}");
    assert!(means.ends_with("mean magnitude 0.0213, RMS 0.0213"), "{means}");
    press(browser, "#axis-0", HOME);
    is_at(-0.8);
    assert!(text(browser, "[data-show=means]").starts_with("Mean difference −0.0213 (−"));
    set(browser, "[data-set=range]", "-2");
    assert_eq!(text(browser, "[data-show=range]"), "±0.25");
    is_at(-0.4);
}

/// Where the divider passes, the variant becomes the baseline.
fn divider_is_dragged(browser: &Browser) {
    view(browser, "wipe");
    let expected = |at: &[usize]| developed(radiance(at, 30, 10), Develop::default());
    let seen = || color(browser, "wipe", [30, 10]);
    assert!(is_near(seen(), expected(&[0, 1])), "the divider begins in the middle");
    let [x, y, width, height] = browser.place(".handle");
    let from = [x + width / 2.0, y + height / 2.0];
    let [_, _, canvas, _] = browser.place("canvas[data-view=wipe]");
    let to = [from[0] + 0.3 * canvas, from[1]];
    browser.pointer(&[Pointer::Move(from), Pointer::Down, Pointer::Move(to), Pointer::Up]);
    assert!(is_near(seen(), expected(&[2, 1])), "the divider was dragged past");
}

/// As the images of the program are.
fn tones_are_mapped(browser: &Browser) {
    view(browser, "all");
    for (name, tonemap) in [("reinhard", Tonemap::Reinhard), ("aces", Tonemap::Aces), ("clip", Tonemap::Clip)]
    {
        for exposure in [4.0, 1.5, -4.0, 0.0] {
            set(browser, "[data-set=tonemap]", name);
            set(browser, "[data-set=exposure]", &exposure.to_string());
            for (view, at) in [("result", [0, 1]), ("reference", [2, 1])] {
                let expected = developed(radiance(&at, 20, 10), Develop { exposure, tonemap });
                let seen = color(browser, view, [20, 10]);
                assert!(is_near(seen, expected), "{name} {exposure} {view}: {seen:?}, not {expected:?}");
            }
        }
    }
}

/// The zoom that shows all is a whole number; the views move together.
fn pixels_are_whole(browser: &Browser) {
    let zoom = || browser.run("return viewer.view.zoom;").as_f64().expect("a zoom");
    let fit = zoom();
    assert!(fit >= 2.0 && fit.fract() == 0.0, "{fit}");
    browser.click("[data-do=in]");
    browser.settle();
    assert_eq!(zoom(), 2.0 * fit);
    assert_eq!(text(browser, "[data-show=zoom]"), format!("{}×", 2.0 * fit));
    // Else the wheel would scroll the page, which just did.
    let middle = point(browser, "reference", [20, 10]);
    std::thread::sleep(Duration::from_millis(300));
    browser.wheel(middle, -200);
    assert_eq!(zoom(), 4.0 * fit);
    browser.click("[data-do=fit]");
    browser.settle();
    assert_eq!(zoom(), fit);
    browser.pointer(&[Pointer::Move(point(browser, "reference", [20, 10]))]);
    assert_eq!(text(browser, "[data-read=place]"), "20, 10");
    for (name, value) in [("result", 0.2), ("reference", 0.3), ("difference", -0.1)] {
        let shown = text(browser, &format!("[data-read={name}-0]")).replace('−', "-");
        let shown: f64 = shown.parse().expect("a number");
        assert!((shown - value).abs() < 2e-4, "{name}: {shown}");
    }
}

/// In the views, the thumbnails and the table.
fn what_is_missing_says_so(browser: &Browser) {
    press(browser, "#axis-0", &RIGHT.repeat(3));
    let notice = "roughness = 0.75, multiscatter = compensated is missing: it was not rendered.";
    let shown = |view: &str| text(browser, &format!(".frame:has([data-view={view}]) .notice"));
    assert_eq!([shown("result"), shown("difference")], [notice, notice]);
    assert_eq!(shown("reference"), "");
    assert_eq!(color(browser, "result", [20, 10]), None);
    assert_eq!(color(browser, "difference", [20, 10]), None);
    assert!(color(browser, "reference", [20, 10]).is_some());
    assert_eq!(text(browser, "#status"), notice);
    assert_eq!(text(browser, ".thumbnail[aria-current=true]"), "missing");
    assert_eq!(text(browser, "#table tbody td"), "–");
    assert_eq!(text(browser, "[data-show=means]"), "");
    press(browser, "#axis-0", RIGHT);
    assert_eq!([shown("result"), shown("difference")], ["", ""]);
    assert_eq!(wrong_pixel(browser, &[4, 1]), None);
    assert_eq!(text(browser, "#status"), "");
}

/// With the mouse and with keys; the baseline is marked.
fn thumbnails_choose(browser: &Browser) {
    let n = browser.run("return document.querySelectorAll('.thumbnail img').length;");
    assert_eq!(n, json!(14), "all but the missing one");
    browser.click(".thumbnail[aria-label='roughness = 0.25, multiscatter = random_walk']");
    settle(browser);
    assert_eq!(wrong_pixel(browser, &[1, 2]), None);
    press(browser, ".thumbnail[aria-current=true]", &[RIGHT, RIGHT, UP, UP].concat());
    assert_eq!(wrong_pixel(browser, &[3, 0]), None);
    let focused = browser.run("return document.activeElement.getAttribute('aria-label');");
    assert_eq!(focused, json!("roughness = 0.75, multiscatter = none"));
    let baseline =
        browser.run("return document.querySelector('.thumbnail.baseline').getAttribute('aria-label');");
    assert_eq!(baseline, json!("roughness = 0.5, multiscatter = compensated"));
}

/// A point of the chart is a variant.
fn chart_chooses(browser: &Browser) {
    let lines = browser.run("return document.querySelectorAll('#chart .line').length;");
    assert_eq!(lines, json!(3));
    // A line is broken where a variant is missing.
    let pieces = browser.run(
        "return [...document.querySelectorAll('#chart .line')].map((l) => l.getAttribute('d').split('M').length - 1);",
    );
    let mut pieces: Vec<u32> = serde_json::from_value(pieces).expect("counts");
    pieces.sort_unstable();
    assert_eq!(pieces, [1, 1, 2]);
    let place = browser.run(
        "const c = [...document.querySelectorAll('#chart circle')].find((c) => c.textContent.startsWith('roughness = 0.25'));
         c.scrollIntoView({ block: 'center' });
         const box = c.getBoundingClientRect(); return [box.x + box.width / 2, box.y + box.height / 2];",
    );
    let place: [f64; 2] = serde_json::from_value(place).expect("a point");
    browser.pointer(&[Pointer::Move(place), Pointer::Down, Pointer::Up]);
    settle(browser);
    assert_eq!(text(browser, "output[for=axis-0]"), "0.25");
    let row = "return [...document.querySelector('#table tbody tr').cells].map((c) => c.textContent);";
    // 0.30 of the variant and 0.35 of the baseline.
    assert_eq!(browser.run(row), json!(["mean", "0.3", "0.35", "−14.3 %"]));
    // All are NaN.
    set(browser, "#statistic", "1");
    assert_eq!(browser.run("return document.querySelectorAll('#chart .point').length;"), json!(0));
    set(browser, "#statistic", "0");
}

/// Round and round, past what is missing.
fn it_plays(browser: &Browser) {
    browser.run("change({ at: [2, 1] });");
    browser.run("document.querySelector('#speed select').value = 15;");
    browser.run("window.seen = new Set(); watchers.push(() => window.seen.add(state.at.join()));");
    browser.click(".play");
    browser.wait("window.seen.size === 4");
    let pressed = || browser.run("return document.querySelector('.play').getAttribute('aria-pressed');");
    assert_eq!(pressed(), json!("true"));
    browser.click(".play");
    assert_eq!(pressed(), json!("false"));
    let seen = browser.run("return [...window.seen].sort();");
    assert_eq!(seen, json!(["0,1", "1,1", "2,1", "4,1"]));
    let at = browser.run("return state.at;");
    std::thread::sleep(Duration::from_millis(200));
    assert_eq!(browser.run("return state.at;"), at, "it stopped");
    settle(browser);
}

/// The address encodes the state of the page and restores it; nonsense in it does no harm.
fn address_keeps_the_state(browser: &Browser) {
    browser.run(
        "change({ at: [4, 2], baseline: [1, null], view: 'difference', exposure: -1.5, tonemap: 'aces' });",
    );
    browser.wait("location.hash.includes('at=4,2')");
    let state = "return [state.at, state.baseline, state.view, state.exposure, state.tonemap, state.range];";
    let (before, hash) = (browser.run(state), browser.run("return location.hash;"));
    let hash = hash.as_str().expect("text").to_owned();
    browser.run(
        "change({ at: [0, 0], baseline: [0, 0], view: 'wipe', exposure: 0, tonemap: 'clip', range: 1 });",
    );
    browser.wait("location.hash.includes('view=wipe')");
    browser.run(&format!("location.hash = '{hash}';"));
    browser.wait("state.at[0] === 4");
    assert_eq!(browser.run(state), before);
    settle(browser);
    assert_eq!(text(browser, "output[for=axis-1]"), "random_walk");
    // Opened anew.
    browser.run("change({ view: 'side' });");
    browser.wait("location.hash.includes('view=side')");
    browser.run("window.isOld = true; location.reload();");
    browser.wait("!window.isOld && document.readyState === 'complete'");
    settle(browser);
    assert_eq!(browser.run("return [state.at, state.view];"), json!([[4, 2], "side"]));
    for nonsense in
        ["#", "#at=9,9&view=__proto__&baseline=1&exposure=NaN&range=1e9&statistic=-1&tonemap=toString", "#at"]
    {
        browser
            .run(&format!("location.hash = '{nonsense}'; dispatchEvent(new HashChangeEvent('hashchange'));"));
        browser.settle();
        assert_eq!(browser.run("return [state.at, state.view];"), json!([[4, 2], "side"]), "{nonsense}");
    }
    set(browser, "[data-set=tonemap]", "clip");
    set(browser, "[data-set=exposure]", "0");
}

/// Light and dark, as the system has it and as the button says.
fn themes_change(browser: &Browser) {
    let background = || browser.run("return getComputedStyle(document.body).backgroundColor;");
    let light = background();
    browser.prefer("dark");
    let dark = background();
    assert_ne!(light, dark);
    screenshot(browser, "sweep-dark");
    browser.click("#theme");
    assert_eq!(background(), light);
    browser.click("#theme");
    assert_eq!(background(), dark);
    browser.prefer("light");
    assert_eq!(background(), dark, "what was chosen stays");
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

/// No parameter, one, one with one value, and five; nothing rendered at all; three pixels.
#[test]
fn every_number_of_parameters_is_shown() {
    let Some(browser) = Browser::start() else { return };
    let three = || side("p", &["1", "2", "4"]);
    for axes in [
        vec![],
        vec![side("ior", &["1.5"])],
        vec![side("ior", &["1.1", "1.2", "1.5", "2.4"])],
        vec![three(), side("model", &["none"]), three()],
        vec![three(), three(), three(), side("", &["none", "all"]), side("model", &["none", "all"])],
    ] {
        let mut sweep = Sweep::new(axes);
        sweep.baseline = vec![];
        let (_folder, path) =
            sweep.written(BUDGET, &mut |i| Some(image(|x, y| radiance(&place(&sweep.axes, i), x, y))));
        browser.resize(1280, 900);
        browser.open(&path);
        settle(&browser);
        let sliders = browser.run("return document.querySelectorAll('.axis input').length;");
        let varied = sweep.axes.iter().filter(|a| a.labels.len() > 1).count();
        assert_eq!(sliders, json!(varied));
        for (axis, side) in sweep.axes.iter().enumerate().filter(|(_, a)| a.labels.len() > 1) {
            press(&browser, &format!("#axis-{axis}"), END);
            assert_eq!(
                &text(&browser, &format!("output[for=axis-{axis}]")),
                side.labels.last().expect("one")
            );
        }
        let last: Vec<usize> = sweep.axes.iter().map(|a| a.labels.len() - 1).collect();
        assert_eq!(browser.run("return state.at;"), json!(last));
        assert_eq!(wrong_pixel(&browser, &last), None);
        screenshot(&browser, &format!("sweep-axes-{}", sweep.axes.len()));
        it_fits_a_telephone(&browser);
        let (_folder, path) = sweep.written(BUDGET, &mut |_| None);
        browser.open(&path);
        assert_eq!(text(&browser, "#views"), "No variant was rendered.");
        nothing_was_asked_for(&browser);
    }
    let tiny = Sweep::new(vec![three()]);
    let (_folder, path) =
        tiny.written(BUDGET, &mut |_| Some(Image { width: 3, height: 1, pixels: vec![[f32::NAN; 3]; 3] }));
    browser.resize(1280, 900);
    browser.open(&path);
    settle(&browser);
    assert_eq!(color(&browser, "result", [1, 0]), Some([255.0, 0.0, 255.0]));
    nothing_was_asked_for(&browser);
}

/// Images are decoded when they are wanted, ahead of time, and a bounded number of them is kept.
#[test]
fn few_images_are_kept() {
    let Some(browser) = Browser::start() else { return };
    let labels: Vec<String> = (0..20).map(|i| i.to_string()).collect();
    let axis = Side { name: "p".into(), labels };
    let sweep = Sweep::new(vec![axis]);
    let (_folder, path) = sweep.page();
    browser.resize(1280, 900);
    browser.open(&path);
    settle(&browser);
    // Three to either side, and the baseline.
    browser.wait("!viewer.cache.isFilling");
    let kept = || browser.run("return [...viewer.cache.images.keys()].sort((a, b) => a - b);");
    assert_eq!(kept(), json!([0, 7, 8, 9, 10, 11, 12, 13]));
    browser.run("viewer.cache.most = 6;");
    press(&browser, "#axis-0", END);
    browser.wait("!viewer.cache.isFilling");
    let kept: Vec<usize> = serde_json::from_value(kept()).expect("numbers");
    assert!(kept.len() == 6 && kept.contains(&0) && kept.contains(&19) && kept.contains(&18), "{kept:?}");
    press(&browser, "#axis-0", HOME);
    press(&browser, "#axis-0", &RIGHT.repeat(9));
    assert_eq!(wrong_pixel(&browser, &[9]), None);
    nothing_was_asked_for(&browser);
}

/// Where pixels would take more than the budget, there are fewer, and the page says so.
#[test]
fn what_is_too_large_is_reduced() {
    let Some(browser) = Browser::start() else { return };
    browser.resize(1280, 900);
    let sweep = Sweep::of_two();
    let note = |budget| {
        let (folder, path) = sweep.written(budget, &mut |i| sweep.image(i));
        browser.open(&path);
        settle(&browser);
        drop(folder);
        text(&browser, "[data-show=note]")
    };
    assert_eq!(note(BUDGET), "");
    let fewer = note(10_000);
    assert!(fewer.starts_with("To keep this page small, values have two digits"), "{fewer}");
    let reduced = note(5_000);
    assert!(reduced.starts_with("Reduced 2×, from 48 × 32 pixels, to keep this page small"), "{reduced}");
    press(&browser, "#axis-0", HOME);
    // The mean of pixels from (4, 6) to (5, 7), rounded to 7 bits.
    browser.pointer(&[Pointer::Move(point(&browser, "result", [2, 3]))]);
    assert_eq!(text(&browser, "[data-read=place]"), "4, 6");
    let mean: f32 = text(&browser, "[data-read=result-0]").parse().expect("a number");
    assert!((mean / (0.1 + 4.5 / 200.0) - 1.0).abs() < 0.008, "{mean}");
    nothing_was_asked_for(&browser);
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

/// Prints how large a page of 64 variants at 512² is, how long it takes to write, to open, and to go through.
#[test]
#[ignore = "renders for some seconds to print figures"]
fn sixty_four_variants() {
    let rendered = noisy();
    let values: Vec<String> = (0..8).map(|i| i.to_string()).collect();
    let axes = ["roughness", "metallic"].map(|name| Side { name: name.into(), labels: values.clone() });
    let sweep = Sweep::new(axes.into());
    let of = |i: usize| {
        let gain = 1.0 - i as f32 * 0.007;
        let pixels = rendered.pixels.iter().map(|p| p.map(|x| x * gain)).collect();
        Some(Image { pixels, ..rendered })
    };
    let start = Instant::now();
    let (_folder, path) = sweep.written(BUDGET, &mut { of });
    let bytes = std::fs::metadata(&path).expect("the file").len() as f64;
    println!(
        "{:.1} MiB, {:.2} bytes a pixel, written in {:.1} s",
        bytes / f64::from(1 << 20),
        bytes / (64.0 * 512.0 * 512.0),
        start.elapsed().as_secs_f64()
    );
    let Some(browser) = Browser::start() else { return };
    browser.resize(1440, 1000);
    let start = Instant::now();
    browser.open(&path);
    println!("loaded after {:.2} s", start.elapsed().as_secs_f64());
    settle(&browser);
    println!("shown after {:.2} s: {}", start.elapsed().as_secs_f64(), text(&browser, "[data-show=note]"));
    for what in ["decoded on the way", "decoded before"] {
        let start = Instant::now();
        press(&browser, "#axis-0", HOME);
        (0..7).for_each(|_| press(&browser, "#axis-0", RIGHT));
        println!("{:.0} ms a step, {what}", start.elapsed().as_secs_f64() * 1e3 / 8.0);
    }
    // How long frames take while the slider is dragged.
    let frames = "const done = arguments[0]; const times = []; let i = 0; let last = performance.now();
         function step(now) { times.push(now - last); last = now; moveTo(0, i++ % 8);
           if (i < 60) requestAnimationFrame(step); else done(times.sort((a, b) => a - b)); }
         requestAnimationFrame(step);";
    let times = browser.run_async(frames);
    println!("frames while sliding: median {:.0} ms, longest {:.0} ms", times[30], times[59]);
    assert!(bytes < 80e6);
}

/// A scene at few samples a pixel.
fn noisy() -> Image {
    use renderer::{Machine, assemble, render};
    use torrance_image::film::Measured;
    use torrance_scene as scene;
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes/materials.toml");
    let overrides = scene::Overrides { size: Some((512, 512)), ..Default::default() };
    let description = scene::load(&path, &overrides).expect("the scene loads").description;
    let data = assemble::assemble(&description).expect("it is assembled");
    let go_on = &mut |_: &_| render::Control::Continue;
    let budget = render::Budget::of_samples(64);
    let rendered =
        Machine::cpu(None).expect("threads start").render(&data, budget, Default::default(), go_on);
    Measured::from(&rendered.expect("it renders").film).image
}

/// A picture of the page from its top, for people to look at.
fn screenshot(browser: &Browser, name: &str) {
    browser.run("window.scrollTo(0, 0);");
    browser.screenshot(name);
}
