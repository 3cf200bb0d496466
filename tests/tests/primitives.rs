//! The primitives, on the host and on a GPU if there is one, against the standard library.

#[path = "primitives/reduce.rs"]
mod reduce;
#[path = "primitives/run_length.rs"]
mod run_length;
#[path = "primitives/scan.rs"]
mod scan;
#[path = "primitives/select.rs"]
mod select;
