//! Shared code of all targets: loads bytes as a scene. Loading may fail, but neither panic nor take long or much memory.

use std::path::PathBuf;
use std::sync::OnceLock;

use torrance_scene::{Files, load_bytes};

/// Loads `data` as a scene file called `name`, alone in its folder.
pub fn scene(name: &str, data: &[u8]) {
    let _ = load_bytes(name, data, &Files::new("/nonexistent", false));
}

/// Loads the scene `text`, called `name`, beside which the file `other` holds `data`.
pub fn scene_with(name: &str, text: &str, other: &str, data: &[u8]) {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    let folder = FOLDER.get_or_init(|| tempfile::tempdir().expect("there is room for a folder").keep());
    std::fs::write(folder.join(other), data).expect("there is room for the file");
    let _ = load_bytes(name, text.as_bytes(), &Files::new(folder, false));
}
