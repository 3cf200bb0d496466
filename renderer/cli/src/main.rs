//! The program `torrance`.

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: torrance::Allocator = torrance::Allocator;

fn main() -> ExitCode {
    ExitCode::from(torrance::run(std::env::args_os().collect()).0)
}
