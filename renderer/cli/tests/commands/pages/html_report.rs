//! The page of image comparisons, opened and used in a browser.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use serde_json::{Value, json};
use tempfile::TempDir;
use torrance_image::compare::Region;
use torrance_image::film::Image;
use torrance_plot::html::{BUDGET, Entry, Images, Page, Status, write};

use super::browser::{Browser, Pointer};

mod reader;

const WIDTH: u32 = 48;
const HEIGHT: u32 = 32;

/// Names on the pages of these tests: attempts to become markup, script, or an attribute.
const HOSTILE: [&str; 6] = [
    "</script><script>window.broken = 1</script>",
    "\"><img src=x onerror=\"window.broken = 1\">",
    "' onmouseover='window.broken = 1' <!-- {{scripts}} ${1} \\",
    "glas · Größe 10⁶ — 玻璃 🫧 \u{202e}gnp.exe",
    "</title></style><svg onload=window.broken=1>",
    "a\0b\u{1b}[31mred & <b>bold</b>",
];

/// An image whose every pixel is different.
fn image(value: impl Fn(u32, u32) -> [f32; 3]) -> Image {
    let pixels =
        (0..HEIGHT).flat_map(|y| (0..WIDTH).map(move |x| (x, y))).map(|(x, y)| value(x, y)).collect();
    Image { width: WIDTH, height: HEIGHT, pixels }
}

fn reference() -> Image {
    image(|x, y| [0.01 + x as f32 / 60.0, 0.02 + y as f32 / 40.0, 0.3 + (x * y) as f32 * 1e-5])
}

/// The reference, but darker on the right, red in a box, and with pixels that are no numbers.
fn result() -> Image {
    let base = reference();
    let mut changed = image(|x, y| {
        let [r, g, b] = base.pixels[(y * WIDTH + x) as usize];
        if x < 24 { [r, g, b] } else { [0.5 * r, 0.5 * g, 0.5 * b] }
    });
    let mut set = |x: u32, y: u32, value| changed.pixels[(y * WIDTH + x) as usize] = value;
    (4..10).for_each(|x| (20..26).for_each(|y| set(x, y, [0.9, 0.01, -0.25])));
    set(0, 0, [f32::NAN, 0.5, 0.5]);
    set(1, 0, [0.5, f32::INFINITY, 0.5]);
    changed
}

fn entry(name: &str, status: Status, images: Option<Images>) -> Entry {
    Entry {
        name: name.into(),
        status,
        verdict: vec![format!("It {}.", status.label()), "More is known of it.".into()],
        numbers: vec![("p".into(), "0.25".into()), ("relMSE".into(), "1.5e-4".into())],
        seconds: 1.25,
        log: String::new(),
        images,
    }
}

/// The images of the case that fails.
fn images() -> Images {
    let ramp = |i: usize| i as f32 / 100.0 - 7.0;
    let n = (WIDTH * HEIGHT) as usize;
    Images {
        reference: reference(),
        result: result(),
        z: Some((0..n).map(ramp).collect()),
        flip: Some((0..n).map(|i| i as f32 / n as f32).collect()),
        worst: Some(Region { x: 4, y: 20, width: 6, height: 6 }),
    }
}

/// A page with every status and hostile words wherever there are words.
fn page() -> Page {
    let same = Images { result: reference(), ..images() };
    let mut entries = vec![entry("plain", Status::Passed, Some(same))];
    for (name, status) in HOSTILE.iter().zip(Status::ALL.into_iter().rev()) {
        let mut hostile = entry(name, status, None);
        hostile.verdict.extend(HOSTILE.map(String::from));
        hostile.numbers.extend(HOSTILE.map(|h| (h.to_owned(), h.to_owned())));
        hostile.log = HOSTILE.join("\n");
        entries.push(hostile);
    }
    entries.push(entry("failing", Status::Failed, Some(images())));
    let hostile = HOSTILE.concat();
    Page { title: format!("Suite {hostile}"), subtitle: hostile, entries }
}

/// A page in a file, and the folder that it is in.
fn written(page: &Page) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("report.html");
    let mut file = BufWriter::new(File::create(&path).expect("a file"));
    write(page, BUDGET, &mut file).and_then(|()| file.flush()).expect("it is written");
    (folder, path)
}

/// The row of a case of this name, as a CSS selector.
fn row(browser: &Browser, name: &str) -> String {
    let find =
        format!("return cases.find((row) => row.querySelector('.name').textContent === {}).id;", json!(name));
    format!("#{}", browser.run(&find).as_str().expect("such a case"))
}

/// Opens a case, and waits for its pixels.
fn open_case(browser: &Browser, name: &str) -> String {
    let row = row(browser, name);
    if browser.run(&format!("return document.querySelector('{row}').open;")) == json!(false) {
        browser.click(&format!("{row} > summary"));
    }
    browser.wait(&format!("viewers.get(document.querySelector('{row}'))?.paintings.result"));
    browser.settle();
    row
}

/// The colour of a view at a part of its width and height.
fn color(browser: &Browser, row: &str, view: &str, [x, y]: [f64; 2]) -> [i64; 3] {
    let found = browser.run(&format!(
        "const c = document.querySelector('{row} canvas[data-view={view}]');
         return [...c.getContext('2d').getImageData({x} * c.width, {y} * c.height, 1, 1).data].slice(0, 3);"
    ));
    serde_json::from_value(found).expect("three numbers")
}

/// The point of the window where a view shows the middle of a pixel of the image.
fn point(browser: &Browser, row: &str, view: &str, [x, y]: [f64; 2]) -> [f64; 2] {
    let [left, top, width, height] = browser.place(&format!("{row} canvas[data-view={view}]"));
    let shown = browser.run(&format!(
        "const v = viewers.get(document.querySelector('{row}')).view; return [v.x, v.y, v.zoom];"
    ));
    let [cx, cy, zoom]: [f64; 3] = serde_json::from_value(shown).expect("three numbers");
    [left + width / 2.0 + (x + 0.5 - cx) * zoom, top + height / 2.0 + (y + 0.5 - cy) * zoom]
}

/// Values that the page shows of a pixel: of reference, result and difference, then z and ꟻLIP.
fn readout(browser: &Browser, row: &str) -> Vec<f64> {
    let found = browser.run(&format!(
        "const names = ['reference', 'result', 'difference'].flatMap((n) => [0, 1, 2].map((c) => `${{n}}-${{c}}`));
         return [...names, 'z', 'flip'].map((n) => document.querySelector(`{row} [data-read=${{n}}]`).textContent);"
    ));
    let texts: Vec<String> = serde_json::from_value(found).expect("texts");
    texts.iter().map(|t| t.replace('−', "-").parse().unwrap_or_else(|_| panic!("number {t:?}"))).collect()
}

/// Values that it should show.
fn expected(images: &Images, x: u32, y: u32) -> Vec<f64> {
    let i = (y * WIDTH + x) as usize;
    let [a, b] = [images.reference.pixels[i], images.result.pixels[i]].map(|p| p.map(f64::from));
    let mut values = [a, b, [b[0] - a[0], b[1] - a[1], b[2] - a[2]]].concat();
    values.extend([&images.z, &images.flip].map(|m| f64::from(m.as_ref().expect("a map")[i])));
    values
}

/// Points at pixels, and says of the first whose values are not those of the images.
fn wrong_pixel(browser: &Browser, row: &str, images: &Images) -> Option<String> {
    for (x, y) in [(5, 21), (30, 7), (47, 31), (12, 16)] {
        let at = point(browser, row, "result", [f64::from(x), f64::from(y)]);
        browser.pointer(&[Pointer::Move(at)]);
        let (shown, expected) = (readout(browser, row), expected(images, x, y));
        for (k, (shown, expected)) in shown.iter().zip(&expected).enumerate() {
            // Rounded to 11 bits; differences by that of what they are between; maps to 6, and two digits.
            let tolerance = match k {
                0..6 => 5e-4 * expected.abs() + 1e-6,
                6..9 => 1e-3 + 5e-3 * expected.abs(),
                _ => 0.07 * expected.abs(),
            };
            if (shown - expected).abs() > tolerance {
                return Some(format!("pixel {x}, {y}: {shown} instead of {expected}"));
            }
        }
    }
    None
}

/// Negative control of the values that are read from the page: one value of one pixel is off by 1 %.
#[test]
fn a_wrong_pixel_is_noticed() {
    let Some(browser) = Browser::start() else { return };
    browser.resize(1280, 900);
    let mut tampered = images();
    tampered.result.pixels[(7 * WIDTH + 30) as usize][1] *= 1.01;
    let (_folder, path) = written(&Page {
        entries: vec![entry("tampered", Status::Failed, Some(tampered))],
        ..Page::default()
    });
    browser.open(&path);
    let row = open_case(&browser, "tampered");
    let wrong = wrong_pixel(&browser, &row, &images());
    assert!(wrong.as_ref().is_some_and(|w| w.starts_with("pixel 30, 7: ")), "{wrong:?}");
}

/// Negative control of what is asked last: scripts that fail and requests are noticed, and requests are refused.
#[test]
fn errors_and_requests_are_noticed() {
    let Some(browser) = Browser::start() else { return };
    let (_folder, path) = written(&page());
    browser.open(&path);
    assert_eq!(browser.errors(), Vec::<String>::new());
    browser.notices_mistakes();
}

/// Pixels of cases that pass make room for those that fail, and the page says so.
#[test]
fn what_passes_makes_room() {
    let Some(browser) = Browser::start() else { return };
    browser.resize(1280, 900);
    let passing = entry("passing", Status::Passed, Some(images()));
    let failing = entry("failing", Status::Failed, Some(images()));
    let page = Page { entries: vec![passing, failing], ..Page::default() };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("report.html");
    write(&page, 9 << 10, &mut File::create(&path).expect("a file")).expect("it is written");
    browser.open(&path);
    let failing = open_case(&browser, "failing");
    assert_eq!(wrong_pixel(&browser, &failing, &images()), None);
    let passing = open_case(&browser, "passing");
    let note = browser.run(&format!("return document.querySelector('{passing} .note').textContent;"));
    assert!(note.as_str().is_some_and(|n| n.starts_with("Reduced 2×, from 48 × 32 pixels")), "{note}");
    // The mean of pixels from (4, 6) to (5, 7), rounded to 7 bits.
    browser.pointer(&[Pointer::Move(point(&browser, &passing, "reference", [2.0, 3.0]))]);
    let mean = readout(&browser, &passing)[0];
    assert!((mean / (0.01 + 4.5 / 60.0) - 1.0).abs() < 0.008, "{mean}");
}

/// Prints how large a page of a hundred cases at 512² is, how long it takes to write, and how long to open.
#[test]
#[ignore = "renders for some seconds to print figures"]
fn a_hundred_cases() {
    let pairs: Vec<Images> = ["cornell", "glass", "knot", "materials"].map(noisy).into();
    let case = |i: usize| {
        let status = if i.is_multiple_of(10) { Status::Failed } else { Status::Passed };
        entry(&format!("case-{i}"), status, Some(pairs[i % pairs.len()].clone()))
    };
    let page =
        Page { title: "A hundred cases".into(), entries: (0..100).map(case).collect(), ..Page::default() };
    let start = Instant::now();
    let (_folder, path) = written(&page);
    let mebibytes = std::fs::metadata(&path).expect("the file").len() as f64 / f64::from(1 << 20);
    println!("{mebibytes:.1} MiB, written in {:.1} s", start.elapsed().as_secs_f64());
    let Some(browser) = Browser::start() else { return };
    let start = Instant::now();
    browser.open(&path);
    let paint = "return performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0;";
    browser.wait("performance.getEntriesByName('first-contentful-paint').length");
    let paint = browser.run(paint).as_f64().expect("a time") / 1e3;
    println!("first paint after {paint:.2} s, loaded after {:.2} s", start.elapsed().as_secs_f64());
    for name in ["case-10", "case-1"] {
        let start = Instant::now();
        open_case(&browser, name);
        println!("{name} opened in {:.2} s", start.elapsed().as_secs_f64());
    }
    let heap = browser.run("return performance.memory.usedJSHeapSize;").as_f64().expect("bytes");
    println!("{:.0} MiB of JavaScript's memory", heap / f64::from(1 << 20));
    take_screenshots(&browser);
    assert!(mebibytes < 80.0);
}

/// A scene of `scenes`, at 16 and at 64 samples a pixel, and what is known of their difference.
fn noisy(scene: &str) -> Images {
    use renderer::{Machine, assemble, render};
    use torrance_image::film::ImageEstimate;
    use torrance_scene as scene;
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes").join(scene).with_extension("toml");
    let measured = |spp: u32| {
        let overrides = scene::Overrides { size: Some((512, 512)), seed: Some(spp), ..Default::default() };
        let description = scene::load(&path, &overrides).expect("the scene loads").description;
        let data = assemble::assemble(&description).expect("it is assembled");
        let budget = render::Budget::of_samples(spp);
        let go_on = &mut |_: &_| render::Control::Continue;
        let rendered =
            Machine::cpu(None).expect("threads start").render(&data, budget, Default::default(), go_on);
        ImageEstimate::from(&rendered.expect("it renders").film)
    };
    let [a, b] = [64, 16].map(measured);
    let stderr = |m: &ImageEstimate| m.noise.as_ref().expect("films know their noise").stderr.clone();
    let (a_stderr, b_stderr) = (stderr(&a), stderr(&b));
    let difference = |i: usize| b.image.pixels[i][1] - a.image.pixels[i][1];
    let z = |i: usize| difference(i) / a_stderr[i][1].hypot(b_stderr[i][1]).max(1e-6);
    let n = a.image.pixels.len();
    Images {
        z: Some((0..n).map(z).collect()),
        flip: Some((0..n).map(|i| (difference(i).abs() / (0.1 + a.image.pixels[i][1])).min(1.0)).collect()),
        worst: Some(Region { x: 256, y: 320, width: 64, height: 32 }),
        reference: a.image,
        result: b.image,
    }
}

/// Pictures of what there is to see.
fn take_screenshots(browser: &Browser) {
    for (name, width, height) in [("wide", 1440, 1000), ("narrow", 360, 1600)] {
        browser.resize(width, height);
        for theme in ["light", "dark"] {
            browser.prefer(theme);
            browser.run("window.scrollTo(0, 0);");
            browser.screenshot(&format!("{name}-{theme}"));
        }
    }
    browser.resize(1440, 1000);
    browser.prefer("light");
    let row = row(browser, "case-10");
    browser.click(&format!("{row} [data-do=worst]"));
    browser.screenshot("worst");
    browser.pointer(&[Pointer::Move(point(browser, &row, "result", [290.0, 340.0]))]);
    browser.run(&format!("document.querySelector('{row} canvas[data-view=result]').focus();"));
    browser.keys("++++");
    browser.screenshot("values");
}
