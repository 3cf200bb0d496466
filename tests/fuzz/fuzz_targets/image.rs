//! The parsers of images.
#![no_main]

use libfuzzer_sys::fuzz_target;

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
    torrance_fuzz::texture(file, data);
});
