//! Paths of parameters and their values, as `--set` takes them.
#![no_main]

use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;
use torrance_scene::{Options, SceneValues, path_and_value};

const SCENE: &str = r#"
[camera]
position = [0, 0, 4]
target = [0, 0, 0]
fov = 40
[environment]
radiance = [0.3, 0.2, 0.1]
[materials."a.b c"]
type = "principled"
base_color = [0.5, 0.4, 0.3]
[[shapes]]
name = "ball"
type = "sphere"
material = "a.b c"
"#;

fuzz_target!(|data: &[u8]| {
    static VALUES: OnceLock<SceneValues> = OnceLock::new();
    let values = VALUES.get_or_init(|| {
        let folder = tempfile::tempdir().expect("there is room for a folder");
        let path = folder.path().join("scene.toml");
        std::fs::write(&path, SCENE).expect("there is room for the file");
        SceneValues::open(&path, &Options::default()).expect("the scene is right")
    });
    let Some((path, value)) = std::str::from_utf8(data).ok().and_then(path_and_value) else { return };
    let mut values = values.clone();
    let _ = values.takes(path);
    if values.set(path, value).is_ok() {
        assert!(values.find(path).is_ok(), "{path:?} was set, and is not there");
        // Of a scene that is right, every path that is listed leads somewhere.
        if values.load().is_ok() {
            for parameter in values.list() {
                assert!(values.get(&parameter.path).is_ok(), "{:?} is listed, and is not there", parameter.path);
            }
        }
    }
});
