//! The primitives, on the host and on a GPU if there is one, against the standard library.

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

use primitives::KERNELS;
use torrance_tests::arrays::{LAUNCHED, MOST};
use torrance_tests::{Machine, machines};

#[path = "primitives/calls.rs"]
mod calls;
#[path = "primitives/histogram.rs"]
mod histogram;
#[path = "primitives/images.rs"]
mod images;
#[path = "primitives/merge_sort.rs"]
mod merge_sort;
#[path = "primitives/moves.rs"]
mod moves;
#[path = "primitives/radix_sort.rs"]
mod radix_sort;
#[path = "primitives/reduce.rs"]
mod reduce;
#[path = "primitives/run_length.rs"]
mod run_length;
#[path = "primitives/sat.rs"]
mod sat;
#[path = "primitives/sat_error.rs"]
mod sat_error;
#[path = "primitives/scan.rs"]
mod scan;
#[path = "primitives/select.rs"]
mod select;
#[path = "primitives/split_sort.rs"]
mod split_sort;

/// Other tests, of few elements, launch every kernel of the list: none is without a test. The tests of those that blur are
/// in `defocus.rs`.
#[test]
fn every_kernel_is_launched() {
    if !machines().contains(&Machine::Cuda) || std::env::var_os(MOST).is_some() {
        return;
    }
    let path = std::env::temp_dir().join(format!("torrance-launched-{}", std::process::id()));
    let tests = Command::new(std::env::current_exe().unwrap())
        .env(MOST, "20000")
        .env(LAUNCHED, &path)
        .output()
        .unwrap();
    let launched = fs::read_to_string(&path).unwrap();
    fs::remove_file(&path).unwrap();
    let launched: BTreeSet<_> = launched.lines().collect();
    let kernels = KERNELS.iter().map(|kernel| kernel.stage).filter(|k| !k.starts_with("defocus_"));
    let never: Vec<_> = kernels.filter(|k| !launched.contains(k)).collect();
    assert!(never.is_empty(), "{never:?}");
    assert!(tests.status.success(), "{}", String::from_utf8_lossy(&tests.stdout));
}
