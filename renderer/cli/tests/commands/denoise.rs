//! `torrance denoise`.

use torrance_image::film::{read, read_layers};

use crate::program::Folder;

#[test]
fn without_the_library_the_error_says_where_to_put_it() {
    let folder = Folder::new();
    for library in ["nowhere.so", "."] {
        let outcome = folder.run(&["denoise", "scene.pfm", "-o", "a.png", "--library", library]);
        assert_eq!(outcome.code, Some(2), "{outcome:?}");
        assert!(outcome.stderr.starts_with("error: Open Image Denoise is not found: "), "{outcome:?}");
        assert!(outcome.stderr.contains("set TORRANCE_OIDN to its library or folder"), "{outcome:?}");
    }
    assert!(folder.names().is_empty());
}

/// The denoised image is nearer to what the scene looks like; EXR files keep the noisy one, which is what is compared.
#[test]
#[ignore = "takes the library, where TORRANCE_OIDN says"]
fn noise_goes_and_the_noisy_image_stays() {
    let folder = Folder::new();
    let render = |output, spp| {
        let outcome = folder.run(&[
            "render",
            "scene.toml",
            "-o",
            output,
            "--spp",
            spp,
            "--size=96x64",
            "--aov=stderr,samples,albedo,N",
        ]);
        assert_eq!(outcome.code, Some(0), "{outcome:?}");
    };
    render("noisy.exr", "1");
    render("truth.exr", "1024");
    let outcome = folder.run(&["denoise", "noisy.exr", "-o", "a.exr", "-o", "a.pfm", "--device=cpu"]);
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    assert!(outcome.stderr.contains("by albedo and normals"), "{outcome:?}");

    let [noisy, truth, clean] =
        ["noisy.exr", "truth.exr", "a.pfm"].map(|name| read(&folder.at(name)).unwrap());
    let error = |pixels: &[[f32; 3]]| -> f32 {
        let pairs = pixels.iter().flatten().zip(truth.pixels.iter().flatten());
        pairs.map(|(a, b)| (a - b) * (a - b)).sum()
    };
    assert!(
        error(&clean.pixels) * 4.0 < error(&noisy.pixels),
        "{} {}",
        error(&clean.pixels),
        error(&noisy.pixels)
    );

    let layers = read_layers(&folder.at("a.exr")).unwrap();
    assert_eq!(layers.image(), Some(noisy));
    assert_eq!(layers.rgb("denoised"), Some(clean.pixels));
    assert!(layers.channel("stderr.R").is_some() && layers.channel("N.X").is_some());
    assert!(layers.attributes["denoiser"].starts_with("Open Image Denoise "), "{:?}", layers.attributes);
    let verdict = folder.run(&["compare", "a.exr", "truth.exr"]);
    assert_eq!(verdict.code, Some(0), "{verdict:?}");
    let again = folder.run(&["denoise", "a.exr", "-o", "b.exr", "--device=cpu"]);
    assert!(again.stderr.contains("has a denoised image already, which is replaced"), "{again:?}");
    assert_eq!(read_layers(&folder.at("b.exr")).unwrap(), layers);
}
