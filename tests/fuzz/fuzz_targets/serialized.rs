//! The parser of `.serialized` files.
#![no_main]

use libfuzzer_sys::fuzz_target;

const SCENE: &str = "<scene version=\"3.0.0\"><shape type=\"serialized\"><string name=\"filename\" value=\"mesh.serialized\"/><integer name=\"shape_index\" value=\"0\"/></shape></scene>";

fuzz_target!(|data: &[u8]| torrance_fuzz::scene_with("scene.xml", SCENE, "mesh.serialized", data));
