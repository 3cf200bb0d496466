//! The suite of all scenes against images of another renderer, and against earlier ones of ours.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

const REFERENCES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/references");

/// The suite of the fast tier, in a folder of links to the references: it resolves differences twice as large as the deep
/// tier's, with as many samples as that takes.
fn fast_suite(folder: &Path) {
    for entry in fs::read_dir(REFERENCES).expect("the references") {
        let entry = entry.expect("an entry");
        if entry.file_name() != "suite.toml" {
            symlink(entry.path(), folder.join(entry.file_name())).expect("a link");
        }
    }
    let suite = fs::read_to_string(Path::new(REFERENCES).join("suite.toml")).expect("the suite");
    let deep = "\nspp = 64\nmax_spp = 1024\nresolve = \"0.5%\"\n";
    assert_eq!(suite.matches(deep).count(), 1, "the defaults of the suite are not what this replaces");
    let fast = "\nspp = 32\nmax_spp = 256\nresolve = \"1%\"\n";
    fs::write(folder.join("suite.toml"), suite.replace(deep, fast)).expect("a suite");
}

/// Prints the table, so that `-- --nocapture` shows it.
#[test]
fn the_suite_passes() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let suite = if tier::is_deep() { Path::new(REFERENCES) } else { folder.path() }.join("suite.toml");
    if !tier::is_deep() {
        fast_suite(folder.path());
    }
    let run = Command::new(env!("CARGO_BIN_EXE_torrance")).args(["regress", "--strict"]).arg(suite).output();
    let run = run.expect("the program starts");
    let (table, messages) = (String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr));
    println!("{table}");
    assert_eq!(run.status.code(), Some(0), "{table}{messages}");
    assert!(table.contains("45 passed"), "cases are missing:\n{table}");
}
