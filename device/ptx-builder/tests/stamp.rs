//! The committed PTX is what the sources make, and each file is stale for its own sources alone. Needs no toolchain.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use ptx_builder::artifact::{ARTIFACTS, Artifact, find_root};
use ptx_builder::stamp::{self, Sources, Stale, Stamp};

fn root() -> PathBuf {
    find_root(Path::new(env!("CARGO_MANIFEST_DIR"))).unwrap()
}

#[test]
fn committed_ptx_is_fresh() {
    if let Err(error) = stamp::verify(&root(), &ARTIFACTS) {
        panic!("{error}");
    }
}

/// Sources that a committed file says it was built from.
fn committed(artifact: &Artifact) -> Sources {
    Sources::parse(&fs::read_to_string(artifact.sources(&root())).unwrap()).unwrap()
}

/// A repository of short files with the names of all sources, and PTX whose stamps fit.
fn fresh() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for artifact in ARTIFACTS {
        let sources = committed(&artifact);
        for name in sources.names() {
            let file = folder.path().join(name);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, format!("{name}\n")).unwrap();
        }
        let sources = Sources::read(folder.path(), sources.names());
        let code = ".version 7.0\n";
        let stamp = Stamp::new(&sources, "rustc 1, LLVM 2".into(), code);
        fs::create_dir_all(folder.path().join(artifact.path).parent().unwrap()).unwrap();
        artifact.write(folder.path(), &format!("{stamp}{code}"), &sources).unwrap();
    }
    stamp::verify(folder.path(), &ARTIFACTS).unwrap();
    folder
}

/// Which files are stale.
fn stale(root: &Path) -> Vec<&'static str> {
    ARTIFACTS.into_iter().filter(|a| stamp::check(root, a).is_err()).map(|a| a.feature).collect()
}

/// Which files are stale while one byte of a source is another.
fn stale_by(root: &Path, source: &str) -> Vec<&'static str> {
    let path = root.join(source);
    let original = fs::read(&path).unwrap();
    let mut changed = original.clone();
    *changed.last_mut().unwrap() ^= 1;
    fs::write(&path, changed).unwrap();
    let stale = stale(root);
    fs::write(&path, original).unwrap();
    stale
}

#[test]
fn a_changed_source_makes_stale_what_was_built_from_it_and_nothing_else() {
    let folder = fresh();
    let all = ["product", "primitives", "examples", "selftest"];
    let cases: [(&str, &[&str]); 9] = [
        // A lobe, what shapes share, the megakernel: only what knows the physics.
        ("device/src/bsdf/coat.rs", &["product", "selftest"]),
        ("device/src/shape/mod.rs", &["product", "selftest"]),
        ("device/src/path/megakernel.rs", &["product", "selftest"]),
        // Entry points: each its own.
        ("device/kernels/src/stages.rs", &["product"]),
        ("device/kernels/src/primitives.rs", &["primitives"]),
        ("device/kernels/src/examples/saxpy.rs", &["examples"]),
        // What everything stands on, and what builds it. The physics uses the crate of the primitives.
        ("device/primitives/src/scan/blelloch.rs", &all),
        ("device/cuda_std/src/warp.rs", &all),
        ("device/ptx-builder/src/codegen/llvm.rs", &all),
    ];
    for (source, expected) in cases {
        assert_eq!(stale_by(folder.path(), source), expected, "{source}");
    }
}

#[test]
fn every_source_counts() {
    let folder = fresh();
    let lists = ARTIFACTS.map(|artifact| (artifact.feature, committed(&artifact)));
    let all: BTreeSet<_> = lists.iter().flat_map(|(_, list)| list.names()).collect();
    for source in all {
        let made_of_it = lists.iter().filter(|(_, list)| list.names().any(|name| name == source));
        let made_of_it: Vec<_> = made_of_it.map(|(feature, _)| *feature).collect();
        assert_eq!(stale_by(folder.path(), source), made_of_it, "{source}");
    }
    stamp::verify(folder.path(), &ARTIFACTS).unwrap();
}

#[test]
fn what_a_gpu_does_not_run_makes_nothing_stale() {
    for source in ["device/src/bvh/avx2.rs", "device/src/bvh/avx512.rs", "device/ptx-builder/src/main.rs"] {
        assert!(root().join(source).is_file(), "{source}");
        for artifact in ARTIFACTS {
            assert!(committed(&artifact).names().all(|name| name != source), "{source} in {}", artifact.path);
        }
    }
}

#[test]
fn manifests_and_versions_count() {
    for artifact in ARTIFACTS {
        let sources = committed(&artifact);
        for wanted in ["device/kernels/Cargo.toml", "device/kernels/Cargo.lock", "device/cuda_std/Cargo.toml"]
        {
            assert!(sources.names().any(|name| name == wanted), "{wanted} in {}", artifact.path);
        }
    }
    // Reached through a crate that is not in the repository.
    assert!(committed(&ARTIFACTS[0]).names().any(|name| name == "device/libm/src/lib.rs"));
}

#[test]
fn a_missing_source_is_named() {
    let folder = fresh();
    let lib = folder.path().join("device/src/lib.rs");
    fs::rename(&lib, lib.with_file_name("lib2.rs")).unwrap();
    let message = stamp::verify(folder.path(), &ARTIFACTS).unwrap_err().to_string();
    assert!(message.contains("kernels.rptx is older than its sources: device/src/lib.rs\n"), "{message}");
    assert!(message.contains("run `cargo ptx`"), "{message}");
    fs::remove_file(folder.path().join("device/src/bsdf/coat.rs")).unwrap();
    let message = stamp::verify(folder.path(), &ARTIFACTS).unwrap_err().to_string();
    assert!(message.contains("device/src/bsdf/coat.rs and 1 more"), "{message}");
}

#[test]
fn line_endings_do_not_count() {
    let folder = fresh();
    let path = folder.path().join("device/src/lib.rs");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace('\n', "\r\n")).unwrap();
    stamp::verify(folder.path(), &ARTIFACTS).unwrap();
}

#[test]
fn edited_damaged_and_missing_ptx_is_stale() {
    let folder = fresh();
    let (root, artifact) = (folder.path(), &ARTIFACTS[0]);
    let (ptx, list) = (artifact.read(root).unwrap(), artifact.sources(root));
    let sources = Sources::parse(&fs::read_to_string(&list).unwrap()).unwrap();
    artifact.write(root, &ptx.replace("7.0", "7.1"), &sources).unwrap();
    assert!(matches!(stamp::check(root, artifact), Err(Stale::Edited)));
    artifact.write(root, &ptx, &sources).unwrap();
    stamp::verify(root, &ARTIFACTS).unwrap();

    // A list of fewer sources would be stale less often.
    let text = sources.to_string();
    fs::write(&list, text.split_once('\n').unwrap().1).unwrap();
    assert!(matches!(stamp::check(root, artifact), Err(Stale::Edited)));
    fs::write(&list, text).unwrap();

    let head = root.join(artifact.path);
    let format = format!("format: {}", ptx_builder::codegen::FORMAT);
    artifact.write(root, &ptx.replace(&format, "format: 0"), &sources).unwrap();
    assert!(matches!(stamp::check(root, artifact), Err(Stale::Format(0))));
    fs::write(&head, "<<<<<<< ours\n").unwrap();
    assert!(matches!(stamp::check(root, artifact), Err(Stale::Unstamped)));
    fs::write(&head, "#include \"kernels/absent.rptx\"\n").unwrap();
    assert!(matches!(stamp::check(root, artifact), Err(Stale::Unreadable(_))));
    fs::remove_file(&head).unwrap();
    assert!(matches!(stamp::check(root, artifact), Err(Stale::Absent)));
}
