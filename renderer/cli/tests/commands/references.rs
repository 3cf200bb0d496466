//! The suite of all scenes against images of another renderer, and against earlier ones of ours.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// Links to all that is in `from`, but for `except`.
fn link_all(from: &Path, to: &Path, except: &str) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("a folder") {
        let entry = entry.expect("an entry");
        if entry.file_name() != except {
            symlink(entry.path(), to.join(entry.file_name())).expect("a link");
        }
    }
}

/// The suite of the fast tier, in a folder of links to the scenes and the references: it resolves differences twice as large
/// as the deep tier's, with as many samples as that takes.
fn fast_suite(folder: &Path) -> PathBuf {
    let root = Path::new(ROOT).canonicalize().expect("the repository");
    let references = root.join("tests/references");
    link_all(&root, folder, "tests");
    link_all(&root.join("tests"), &folder.join("tests"), "references");
    link_all(&references, &folder.join("tests/references"), "suite.toml");
    let suite = fs::read_to_string(references.join("suite.toml")).expect("the suite");
    let deep = "\nspp = 64\nmax_spp = 1024\nresolve = \"0.5%\"\n";
    assert_eq!(suite.matches(deep).count(), 1, "the defaults of the suite are not those that this replaces");
    let fast = "\nspp = 32\nmax_spp = 1024\nresolve = \"1%\"\n";
    let path = folder.join("tests/references/suite.toml");
    fs::write(&path, suite.replace(deep, fast)).expect("a suite");
    path
}

/// Prints the table, so that `-- --nocapture` shows it.
#[test]
fn the_suite_passes() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let deep = Path::new(ROOT).join("tests/references/suite.toml");
    let suite = if tier::is_deep() { deep } else { fast_suite(folder.path()) };
    let run = Command::new(env!("CARGO_BIN_EXE_torrance")).args(["regress", "--strict"]).arg(suite).output();
    let run = run.expect("the program starts");
    let (table, messages) = (String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr));
    println!("{table}");
    assert_eq!(run.status.code(), Some(0), "{table}{messages}");
    assert!(table.contains("47 passed"), "cases are missing:\n{table}");
}
