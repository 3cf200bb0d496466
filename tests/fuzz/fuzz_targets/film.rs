//! The readers of images that are compared and merged.
#![no_main]

use std::path::PathBuf;
use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;
use torrance_image::film::{read, read_layers, size};

// The first byte chooses the extension.
fuzz_target!(|data: &[u8]| {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    let folder = FOLDER.get_or_init(|| tempfile::tempdir().expect("there is room for a folder").keep());
    let Some((kind, data)) = data.split_first() else { return };
    const FILES: [&str; 4] = ["image.png", "image.exr", "image.hdr", "image.pfm"];
    let path = folder.join(FILES[usize::from(*kind) % FILES.len()]);
    std::fs::write(&path, data).expect("there is room for the file");
    if let (Ok(size), Ok(image)) = (size(&path), read(&path)) {
        assert_eq!(size, (image.width, image.height));
        assert_eq!(image.pixels.len(), image.width as usize * image.height as usize);
    }
    let _ = read_layers(&path);
});
