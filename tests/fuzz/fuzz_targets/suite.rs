//! The reader of suites of regression tests.
#![no_main]

use std::path::PathBuf;
use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;
use renderer::regress;

fuzz_target!(|data: &[u8]| {
    static FILE: OnceLock<PathBuf> = OnceLock::new();
    let folder = || tempfile::tempdir().expect("there is room for a folder").keep();
    let file = FILE.get_or_init(|| folder().join("suite.toml"));
    std::fs::write(file, data).expect("there is room for the file");
    let _ = regress::read(file, true);
});
