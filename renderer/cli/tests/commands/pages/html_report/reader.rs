//! Everything a reader does with a page.

use super::*;

/// Everything a reader does with a page.
#[test]
fn a_page_is_opened_and_used() {
    let Some(browser) = Browser::start() else { return };
    let (_folder, path) = written(&page());
    browser.resize(1280, 900);
    browser.prefer("light");
    browser.open(&path);

    rows_are_in_order(&browser);
    let failing = open_case(&browser, "failing");
    divider_is_dragged(&browser, &failing);
    exposure_brightens(&browser, &failing);
    not_finite_is_magenta(&browser, &failing);
    zoom_magnifies(&browser, &failing);
    assert_eq!(wrong_pixel(&browser, &failing, &images()), None);
    keys_move(&browser, &failing);
    themes_change(&browser);
    filters_hide(&browser);
    browser.screenshot("hostile");
    it_fits_a_telephone(&browser);
    browser.screenshot("hostile-narrow");

    assert_eq!(browser.run("return window.broken ?? 'inert';"), json!("inert"));
    assert_eq!(browser.run("return document.querySelectorAll('svg, b > *, .name img').length;"), json!(0));
    let requests = "return performance.getEntriesByType('resource').map((e) => e.name.slice(0, 40));";
    let requests: Vec<String> = serde_json::from_value(browser.run(requests)).expect("names");
    assert!(requests.iter().all(|r| r.starts_with("data:")), "requests: {requests:?}");
    assert_eq!(browser.errors(), Vec::<String>::new());
}

/// Failed cases come first, and are open; names are unchanged, character for character but for those that do harm.
fn rows_are_in_order(browser: &Browser) {
    let statuses = browser.run("return cases.map((row) => row.dataset.status);");
    let expected = ["failed", "failed", "error", "unresolved", "passed", "passed", "skipped", "not-run"]
        .map(Value::from);
    assert_eq!(statuses.as_array().expect("a list"), &expected);
    assert_eq!(browser.run("return cases.map((row) => row.open).indexOf(true);"), json!(0));
    let names = browser.run("return cases.map((row) => row.querySelector('.name').textContent);");
    let names: Vec<String> = serde_json::from_value(names).expect("names");
    for hostile in HOSTILE {
        let harmless = hostile.replace(['\0', '\u{1b}', '\u{202e}'], "\u{fffd}");
        assert!(names.contains(&harmless), "{harmless:?} is not in {names:?}");
    }
}

/// Where the divider passes, the result becomes the reference.
fn divider_is_dragged(browser: &Browser, row: &str) {
    let look = || color(browser, row, "wipe", [0.72, 0.3]);
    let of = |view: &str| color(browser, row, view, [0.72, 0.3]);
    assert_ne!(of("reference"), of("result"));
    assert_eq!(look(), of("result"), "the divider begins in the middle");
    let [x, y, width, height] = browser.place(&format!("{row} .handle"));
    let from = [x + width / 2.0, y + height / 2.0];
    let [_, _, canvas, _] = browser.place(&format!("{row} canvas[data-view=wipe]"));
    let to = [from[0] + 0.4 * canvas, from[1]];
    browser.pointer(&[Pointer::Move(from), Pointer::Down, Pointer::Move(to), Pointer::Up]);
    assert_eq!(look(), of("reference"), "the divider was dragged past");
    let part = browser
        .run(&format!("return document.querySelector('{row} .handle').getAttribute('aria-valuenow');"));
    assert_eq!(part, json!("90"));
    // Home.
    browser.run(&format!("document.querySelector('{row} .handle').focus();"));
    browser.keys("\u{e011}");
    assert_eq!(look(), of("result"), "a key moved the divider to the left end");
}

/// A stop doubles linear values before they are encoded for a display.
fn exposure_brightens(browser: &Browser, row: &str) {
    let i = (16 * WIDTH + 12) as usize;
    let encode = |x: f32, stops: i32| {
        (torrance_image::film::develop::srgb_encode(f64::from(x) * 2_f64.powi(stops)) * 255.0).round()
    };
    let at = [12.5 / f64::from(WIDTH), 16.5 / f64::from(HEIGHT)];
    for stops in [-1, 0] {
        browser.run(&format!(
            "const e = document.querySelector('{row} [data-set=exposure]'); e.value = {stops}; e.dispatchEvent(new Event('input'));"
        ));
        browser.settle();
        let shown = color(browser, row, "reference", at);
        let expected = reference().pixels[i].map(|x| encode(x, stops));
        for c in 0..3 {
            assert!(
                (shown[c] as f64 - expected[c]).abs() <= 1.0,
                "{stops} stops: {shown:?}, not {expected:?}"
            );
        }
    }
}

/// NaN and infinity are seen in the result and in the difference, and counted.
fn not_finite_is_magenta(browser: &Browser, row: &str) {
    for x in [0.5, 1.5] {
        let at = [x / f64::from(WIDTH), 0.5 / f64::from(HEIGHT)];
        assert_ne!(color(browser, row, "reference", at), [255, 0, 255]);
        assert_eq!(color(browser, row, "result", at), [255, 0, 255]);
        assert_eq!(color(browser, row, "difference", at), [255, 0, 255]);
    }
    let facts = browser.run(&format!("return document.querySelector('{row} .facts').textContent;"));
    assert_eq!(facts, json!("48 × 32 · 2 pixels of the result not finite"));
}

/// The wheel zooms about the pointer, in all views.
fn zoom_magnifies(browser: &Browser, row: &str) {
    let zoom =
        || browser.run(&format!("return viewers.get(document.querySelector('{row}')).view.zoom;")).as_f64();
    let before = zoom().expect("a zoom");
    let at = point(browser, row, "difference", [7.0, 23.0]);
    browser.pointer(&[Pointer::Move(at)]);
    // Else the wheel would scroll the page, which just did.
    std::thread::sleep(std::time::Duration::from_millis(300));
    browser.wheel(at, -500);
    let after = zoom().expect("a zoom");
    assert!(after > 4.0 * before, "{before} became {after}");
    let same = point(browser, row, "difference", [7.0, 23.0]);
    assert!((at[0] - same[0]).hypot(at[1] - same[1]) < 1.5 * after, "{at:?} became {same:?}");
    for pixel in [[6.0, 22.0], [7.0, 23.0], [8.0, 24.0]] {
        let [x, y] = point(browser, row, "result", pixel);
        let [left, top, width, height] = browser.place(&format!("{row} canvas[data-view=result]"));
        let [red, green, blue] = color(browser, row, "result", [(x - left) / width, (y - top) / height]);
        assert!(red > 200 && green < 60 && blue == 0, "{pixel:?}: {red} {green} {blue}");
    }
    browser.click(&format!("{row} [data-do=fit]"));
    assert_eq!(zoom(), Some(before));
}

/// Arrow keys walk over the pixels.
fn keys_move(browser: &Browser, row: &str) {
    let at = point(browser, row, "z", [10.0, 10.0]);
    browser.pointer(&[Pointer::Move(at)]);
    browser.run(&format!("document.querySelector('{row} canvas[data-view=z]').focus();"));
    let (right, down) = ("\u{e014}", "\u{e015}");
    browser.keys(&format!("{right}{right}{down}"));
    let place =
        browser.run(&format!("return document.querySelector('{row} [data-read=place]').textContent;"));
    assert_eq!(place, json!("12, 11"));
    browser.keys("w");
    let shown = point(browser, row, "z", [7.0, 23.0]);
    let [x, y, width, height] = browser.place(&format!("{row} canvas[data-view=z]"));
    let off = (shown[0] - x - width / 2.0).abs() / width + (shown[1] - y - height / 2.0).abs() / height;
    assert!(off < 0.2, "the worst region is in the middle: {shown:?} in {width} by {height} at {x}, {y}");
    browser.keys("0");
}

/// Light and dark, as the system has it and as the button says.
fn themes_change(browser: &Browser) {
    let background = || browser.run("return getComputedStyle(document.body).backgroundColor;");
    let light = background();
    browser.prefer("dark");
    let dark = background();
    assert_ne!(light, dark);
    browser.click("#theme");
    assert_eq!(background(), light);
    browser.click("#theme");
    assert_eq!(background(), dark);
    browser.prefer("light");
    assert_eq!(background(), dark, "what was chosen stays");
}

/// The page is filtered by status and by name.
fn filters_hide(browser: &Browser) {
    let shown = || browser.run("return cases.filter((row) => row.checkVisibility()).length;");
    assert_eq!(shown(), json!(8));
    browser.click(".filter.failed");
    assert_eq!(shown(), json!(6));
    browser.click(".filter.failed");
    browser.run("document.getElementById('search').focus();");
    browser.keys("FAIL");
    assert_eq!(shown(), json!(1));
    browser.keys("x");
    assert_eq!(shown(), json!(0));
    browser.keys(&"\u{e003}".repeat(5));
    assert_eq!(shown(), json!(8));
}

/// Nothing is wider than a narrow window.
fn it_fits_a_telephone(browser: &Browser) {
    browser.resize(360, 740);
    browser.settle();
    let outside = browser.run(
        "return [...document.querySelectorAll('body *')].filter((e) => e.checkVisibility() && !e.closest('.label'))
             .filter((e) => e.getBoundingClientRect().right > 360).map((e) => e.outerHTML.slice(0, 80));",
    );
    assert_eq!(outside, json!([]));
    let seen = "return cases.every((row) => row.querySelector('.name').getBoundingClientRect().width > 20);";
    assert_eq!(browser.run(seen), json!(true));
    browser.run("document.querySelectorAll('.case').forEach((row, i) => { row.open = i < 3; }); window.scrollTo(0, 0);");
}
