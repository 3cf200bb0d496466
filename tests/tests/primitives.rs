//! The primitives, on the host and on a GPU if there is one, against the standard library.

#[path = "primitives/reduce.rs"]
mod reduce;
#[path = "primitives/scan.rs"]
mod scan;
