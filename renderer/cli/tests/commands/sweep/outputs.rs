//! Which files a sweep writes, spares, and keeps when others cannot be written.

use super::*;

#[test]
fn animations_and_pages_are_written() {
    let folder = Folder::new();
    let pages =
        ["--param", "render.max_depth=1,2", "--param", "render.seed=0,1,2", "--param", "camera.fov=30,40"];
    let outcome = sweep(&folder, &[&pages[..], &["--animate", "moving.png"]].concat());
    assert!(outcome.stderr.contains("12 variants in "), "{outcome:?}");
    assert_eq!(folder.names(), ["moving.png", "sheet-1.png", "sheet-2.png"]);
    let bytes = fs::read(folder.at("moving.png")).unwrap();
    assert!(bytes.windows(4).any(|chunk| chunk == b"acTL"), "it is not animated");
}

#[test]
fn plots_and_pages_are_written() {
    let folder = Folder::new();
    let params = ["--param", "materials.grey.reflectance=0.1:0.9:3", "--param", "render.max_depth=2,4"];
    sweep(
        &folder,
        &[&params[..], &["--plot", "mean.svg", "--plot", "p95=high.png", "--html", "page.html"]].concat(),
    );
    assert_eq!(folder.names(), ["high.png", "mean.svg", "page.html", "sheet.png"]);
    let svg = fs::read_to_string(folder.at("mean.svg")).unwrap();
    assert!(
        ["mean", "reflectance", "max_depth", "scene.toml"].iter().all(|word| svg.contains(word)),
        "{svg}"
    );
    assert!(image::image_dimensions(folder.at("high.png")).unwrap().0 > 300);
    let page = fs::read_to_string(folder.at("page.html")).unwrap();
    let names = ["reflectance = 0.1, max_depth = 2", "reflectance = 0.9, max_depth = 4", "relative_stderr"];
    assert!(
        names.iter().all(|name| page.contains(name)) && !page.contains("src=\"http"),
        "{} bytes",
        page.len()
    );
}

/// Outputs that cannot be written are reported, and rendered images are not lost.
#[test]
fn images_are_kept_where_others_cannot_be_written() {
    let folder = Folder::new();
    fs::create_dir(folder.at("all")).unwrap();
    // A folder where a file is to be.
    fs::create_dir_all(folder.at("all/1_reflectance=0.3.exr/x")).unwrap();
    let options = [
        "sweep",
        "scene.toml",
        "-o",
        "sheet.png",
        "--param",
        "materials.grey.reflectance=0.3,0.6",
        "--variants",
        "all",
    ];
    let outcome = folder.run(&options);
    assert_eq!(outcome.code, Some(3), "{outcome:?}");
    assert!(outcome.stderr.contains("1_reflectance=0.3.exr\": cannot be written"), "{outcome:?}");
    assert_eq!(folder.names(), ["all", "sheet.png", "sheet.png.parts"]);
    fs::remove_dir_all(folder.at("all")).unwrap();
    let summary = json(&folder.run(&[&options[..], &["--json"]].concat()));
    assert_eq!((&summary["rendered"], &summary["found"]), (&0.into(), &2.into()));
    assert_eq!(folder.names(), ["all", "sheet.png"]);
}

/// Also those that only some of them are read from.
#[test]
fn files_that_variants_are_read_from_are_spared() {
    let folder = Folder::new();
    let sky = image::RgbImage::from_pixel(4, 2, image::Rgb([90; 3]));
    sky.save(folder.at("sky.png")).unwrap();
    let before = fs::read(folder.at("sky.png")).unwrap();
    let params = ["--param", "environment={ radiance = 1 },{ file = \"sky.png\" }"];
    for (output, more, message) in [
        ("sky.png", &[][..], "output \"sky.png\": is a file that the sweep reads"),
        ("sheet.png", &["--csv", "sky.png"], "output \"sky.png\": is a file that the sweep reads"),
        ("sheet.png", &["--variants", "."], "--variants \".\": the scene reads"),
    ] {
        let outcome = folder.run(&[&["sweep", "scene.toml", "-o", output], &params[..], more].concat());
        assert!(outcome.code == Some(2) && outcome.stderr.contains(message), "{outcome:?}");
        assert_eq!(folder.names(), ["sky.png"]);
        assert!(fs::read(folder.at("sky.png")).unwrap() == before, "another image");
    }
    sweep(&folder, &params);
}

/// A second one would take away what the first one keeps.
#[cfg(unix)]
#[test]
fn two_sweeps_do_not_write_one_sheet() {
    let folder = Folder::new();
    let arguments = ["sweep", "scene.toml", "-o", "sheet.png", "--param", "render.seed=0:99:100"];
    let long = ["--size", "96x64", "--spp", "512", "--threads", "1"];
    let mut child = folder.program(&[&arguments[..], &long].concat());
    let mut child = child.stderr(Stdio::null()).spawn().expect("the program starts");
    let parts = || folder.files_in("sheet.png.parts");
    let start = Instant::now();
    while parts() == 0 && start.elapsed() < Duration::from_secs(60) {
        sleep(Duration::from_millis(2));
    }
    let outcome = folder.run(&arguments);
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(
        outcome.code == Some(2) && outcome.stderr.contains("another sweep to the same file"),
        "{outcome:?}"
    );
    assert!(!folder.at("sheet.png").exists());
    assert_eq!(folder.run(&[&arguments[..], &["--spp", "1"]].concat()).code, Some(0));
}
