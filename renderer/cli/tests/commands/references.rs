//! The suite of all scenes against images of another renderer, and against earlier ones of ours.

use std::process::Command;

/// Prints the table, so that `-- --nocapture` shows it.
#[test]
fn the_suite_passes() {
    let suite = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/references/suite.toml");
    let run = Command::new(env!("CARGO_BIN_EXE_torrance")).args(["regress", suite, "--strict"]).output();
    let run = run.expect("the program starts");
    let (table, messages) = (String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr));
    println!("{table}");
    assert_eq!(run.status.code(), Some(0), "{table}{messages}");
    assert!(table.contains("45 passed"), "cases are missing:\n{table}");
}
