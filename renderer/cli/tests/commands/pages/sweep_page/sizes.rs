//! Pages of few and of many variants, axes and pixels.

use super::*;

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
    use torrance_image::film::ImageEstimate;
    use torrance_scene as scene;
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes/materials.toml");
    let overrides = scene::Overrides { size: Some((512, 512)), ..Default::default() };
    let description = scene::load(&path, &overrides).expect("the scene loads").description;
    let data = assemble::assemble(&description).expect("it is assembled");
    let go_on = &mut |_: &_| render::Control::Continue;
    let budget = render::Budget::of_samples(64);
    let rendered =
        Machine::cpu(None).expect("threads start").render(&data, budget, Default::default(), go_on);
    ImageEstimate::from(&rendered.expect("it renders").film).image
}
