//! The parser of `.glb` files.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| torrance_fuzz::scene_in_motion("scene.glb", data));
