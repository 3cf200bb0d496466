//! Shared code of all targets: loads bytes as a scene. Loading may fail, but neither panic nor take long or much memory.

use std::path::PathBuf;
use std::sync::OnceLock;

use torrance_scene::{Files, GltfChoice, Options, load_bytes, load_bytes_with};

/// Loads `data` as a scene file called `name`, alone in its folder.
pub fn scene(name: &str, data: &[u8]) {
    let _ = load_bytes(name, data, &Files::new("/nonexistent", false));
}

/// As [`scene`], and once more in the first variant and the first animation of what has any.
pub fn scene_in_motion(name: &str, data: &[u8]) {
    scene(name, data);
    let first = |key: &[u8]| data.windows(key.len()).any(|part| part == key).then(|| "0".to_owned());
    let (variant, animation) = (first(b"\"variants\""), first(b"\"animations\""));
    if variant.is_some() || animation.is_some() {
        let at = animation.is_some().then_some(0.5);
        let gltf = GltfChoice { variant, animation, at, ..GltfChoice::default() };
        let options = Options { gltf, ..Options::default() };
        let _ = load_bytes_with(name, data, &Files::new("/nonexistent", false), &options);
    }
}

/// Loads the scene `text`, called `name`, beside which the file `other` holds `data`.
pub fn scene_with(name: &str, text: &str, other: &str, data: &[u8]) {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    let folder = FOLDER.get_or_init(|| tempfile::tempdir().expect("there is room for a folder").keep());
    std::fs::write(folder.join(other), data).expect("there is room for the file");
    let _ = load_bytes(name, text.as_bytes(), &Files::new(folder, false));
}
