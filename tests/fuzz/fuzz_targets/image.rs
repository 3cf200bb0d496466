//! The parsers of images.
#![no_main]

use libfuzzer_sys::fuzz_target;

const SCENE: &str = r#"
[camera]
position = [0, 0, 4]
target = [0, 0, 0]
fov = 40
[materials.a]
type = "diffuse"
reflectance = { file = "FILE" }
[[shapes]]
type = "sphere"
material = "a"
emission = 1
"#;

// The first byte chooses the extension: some formats have no mark that tells them.
fuzz_target!(|data: &[u8]| {
    let Some((kind, data)) = data.split_first() else { return };
    const FILES: [&str; 8] = [
        "image.png",
        "image.jpg",
        "image.exr",
        "image.hdr",
        "image.tga",
        "image.bmp",
        "image.ppm",
        "image.pfm",
    ];
    let file = FILES[usize::from(*kind) % FILES.len()];
    torrance_fuzz::scene_with("scene.toml", &SCENE.replace("FILE", file), file, data);
});
