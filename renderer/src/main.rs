//! The `torrance` program.

use std::process::ExitCode;

fn main() -> ExitCode {
    renderer::cli::main()
}
