//! The primitives, on the host and on a GPU if there is one, against the standard library.

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
