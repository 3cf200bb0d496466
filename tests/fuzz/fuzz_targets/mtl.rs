//! The parser of `.mtl` files.
#![no_main]

use libfuzzer_sys::fuzz_target;

const SCENE: &str = "mtllib scene.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\nusemtl a\nf 1/1 2/1 3/1\n";

fuzz_target!(|data: &[u8]| torrance_fuzz::scene_with("scene.obj", SCENE, "scene.mtl", data));
