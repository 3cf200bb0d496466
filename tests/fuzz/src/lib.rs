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

/// Loads a scene with a textured sphere, whose texture is the file `name` of `data`.
pub fn texture(name: &str, data: &[u8]) {
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
    scene_with("scene.toml", &SCENE.replace("FILE", name), name, data);
}

/// Loads a `.glb` file of the document `json` and the bytes `data`.
pub fn glb(json: &str, data: &[u8]) {
    let size = |bytes: usize| (bytes as u32).to_le_bytes();
    let mut file = b"glTF\x02\0\0\0".to_vec();
    file.extend(size(28 + json.len() + data.len()));
    for (kind, chunk) in [(b"JSON", json.as_bytes()), (b"BIN\0", data)] {
        file.extend(size(chunk.len()));
        file.extend(kind);
        file.extend(chunk);
    }
    scene("scene.glb", &file);
}
