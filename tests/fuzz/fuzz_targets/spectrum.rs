//! The parser of the files of spectra.
#![no_main]

use libfuzzer_sys::fuzz_target;

const SCENE: &str = "<scene version=\"3.0.0\"><emitter type=\"constant\"><spectrum name=\"radiance\" filename=\"x.spd\"/></emitter></scene>";

fuzz_target!(|data: &[u8]| torrance_fuzz::scene_with("scene.xml", SCENE, "x.spd", data));
