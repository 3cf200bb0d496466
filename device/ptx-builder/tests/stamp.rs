//! The committed PTX is what the sources make. Needs no toolchain.

use std::fs;
use std::path::{Path, PathBuf};

use ptx_builder::artifact::{ARTIFACTS, find_root};
use ptx_builder::stamp::{self, State};

fn root() -> PathBuf {
    find_root(Path::new(env!("CARGO_MANIFEST_DIR"))).unwrap()
}

#[test]
fn committed_ptx_is_fresh() {
    if let Err(error) = stamp::verify(&root(), &ARTIFACTS) {
        panic!("{error}");
    }
}

/// A copy of everything below `device/` but build outputs.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let from = entry.unwrap().path();
        let to = to.join(from.file_name().unwrap());
        if from.is_dir() && !from.ends_with("target") {
            copy(&from, &to);
        } else if from.is_file() {
            fs::copy(&from, &to).unwrap();
        }
    }
}

/// A copy with stamps that fit, whether or not the committed ones do.
fn fresh_copy() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    copy(&root().join("device"), &folder.path().join("device"));
    let sources = stamp::Sources::read(folder.path()).unwrap();
    for artifact in ARTIFACTS {
        let code = ".version 7.0\n";
        let stamp = stamp::Stamp::new(&sources, "rustc 1, LLVM 2".into(), code);
        artifact.write(folder.path(), &format!("{stamp}{code}")).unwrap();
    }
    stamp::verify(folder.path(), &ARTIFACTS).unwrap();
    folder
}

fn complaint(root: &Path) -> String {
    stamp::verify(root, &ARTIFACTS).unwrap_err().to_string()
}

#[test]
fn one_changed_byte_in_any_source_makes_it_stale() {
    let folder = fresh_copy();
    for source in [
        "device/src/lib.rs",
        "device/Cargo.toml",
        "device/cuda_std/src/lib.rs",
        "device/cuda_std/macros/src/lib.rs",
        "device/libm/src/lib.rs",
        "device/kernels/Cargo.toml",
        "device/ptx-builder/src/codegen/llvm.rs",
    ] {
        let path = folder.path().join(source);
        let original = fs::read(&path).unwrap();
        let mut changed = original.clone();
        *changed.last_mut().unwrap() ^= 1;
        fs::write(&path, changed).unwrap();
        let message = complaint(folder.path());
        assert!(
            message.contains("kernels.ptx.gz is older") && message.contains("run `cargo ptx`"),
            "{message}"
        );
        fs::write(&path, original).unwrap();
        stamp::verify(folder.path(), &ARTIFACTS).unwrap();
    }
}

#[test]
fn new_renamed_and_missing_files_count() {
    let folder = fresh_copy();
    let (lib, other) = (folder.path().join("device/src/lib.rs"), folder.path().join("device/src/lib2.rs"));
    fs::write(&other, "").unwrap();
    assert!(complaint(folder.path()).contains("older"));
    fs::remove_file(&other).unwrap();
    stamp::verify(folder.path(), &ARTIFACTS).unwrap();
    fs::rename(&lib, &other).unwrap();
    assert!(complaint(folder.path()).contains("older"));
}

#[test]
fn line_endings_and_what_cannot_change_the_ptx_do_not_count() {
    let folder = fresh_copy();
    let path = folder.path().join("device/src/lib.rs");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace('\n', "\r\n")).unwrap();
    fs::write(folder.path().join("device/ptx-builder/src/main.rs"), "").unwrap();
    fs::write(folder.path().join("device/src/.lib.rs.swp"), "").unwrap();
    stamp::verify(folder.path(), &ARTIFACTS).unwrap();
}

#[test]
fn edited_and_missing_ptx_is_stale() {
    let folder = fresh_copy();
    let artifact = &ARTIFACTS[0];
    let path = folder.path().join(artifact.path);
    let text = artifact.read(folder.path()).unwrap();
    artifact.write(folder.path(), &text.replace("7.0", "7.1")).unwrap();
    assert!(complaint(folder.path()).contains("changed after"));
    fs::remove_file(&path).unwrap();
    let state = stamp::state(folder.path(), artifact).unwrap();
    assert!(matches!(state, State::Stale(why) if why.contains("does not exist")));
}
