//! The parser of KTX 2 images.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| torrance_fuzz::texture("image.ktx2", data));
