//! Everything a reader does with a page.

use super::*;

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

/// Tones are mapped as in the images of the program.
fn tones_are_mapped(browser: &Browser) {
    view(browser, "all");
    // In the end as it was.
    for (name, tonemap) in Tonemap::NAMES.iter().rev().copied() {
        for exposure in [4.0, 1.5, -4.0, 0.0] {
            set(browser, "[data-set=tonemap]", name);
            set(browser, "[data-set=exposure]", &exposure.to_string());
            for (view, at) in [("result", [0, 1]), ("reference", [2, 1])] {
                let develop = Develop { exposure, tonemap, ..Develop::default() };
                let expected = developed(radiance(&at, 20, 10), develop);
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
