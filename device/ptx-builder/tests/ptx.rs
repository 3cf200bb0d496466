//! Checks of the committed PTX. Needs no toolchain.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use ptx_builder::artifact::{ARTIFACTS, find_root};
use ptx_builder::audit::Audit;
use ptx_builder::budget::Budgets;

fn root() -> PathBuf {
    find_root(Path::new(env!("CARGO_MANIFEST_DIR"))).unwrap()
}

#[test]
fn it_can_load_and_carries_no_formatting() {
    for artifact in ARTIFACTS {
        let ptx = artifact.read(&root()).unwrap();
        Audit::new(&ptx).verdict(artifact.path, artifact.product).unwrap_or_else(|error| panic!("{error}"));
        assert!(ptx.contains("\n.version 7.0\n.target sm_75\n"), "{}", artifact.path);
    }
}

#[test]
fn no_kernel_is_in_two_files() {
    let mut all = BTreeSet::new();
    for artifact in ARTIFACTS {
        let audit = Audit::new(&artifact.read(&root()).unwrap());
        assert!(audit.kernels().count() > 0, "{}", artifact.path);
        for kernel in audit.kernels() {
            assert!(all.insert(kernel.to_owned()), "{kernel} is in {} and in another", artifact.path);
        }
    }
}

#[test]
fn every_kernel_has_a_budget() {
    let products = ARTIFACTS.into_iter().filter(|artifact| artifact.product);
    let audits: Vec<_> = products.map(|artifact| Audit::new(&artifact.read(&root()).unwrap())).collect();
    let budgets = Budgets::read(&root()).unwrap();
    let recorded: BTreeSet<_> = budgets.kernels.keys().map(String::as_str).collect();
    let kernels: BTreeSet<_> = audits.iter().flat_map(Audit::kernels).collect();
    assert_eq!(kernels, recorded, "run `cargo ptx --check`, and `--bless` if the change is meant");
    for (audit, kernel) in audits.iter().flat_map(|audit| audit.kernels().map(move |kernel| (audit, kernel)))
    {
        let (now, budget) = (audit.panic_count(kernel), budgets.kernels[kernel].panics);
        assert!(now <= budget, "{kernel} can panic from {now} places, and the budget is {budget}");
    }
}

#[test]
fn files_are_as_they_are_written_and_small() {
    const LARGEST: usize = 2 << 20;
    let folder = tempfile::tempdir().unwrap();
    for artifact in ARTIFACTS {
        let committed = root().join(artifact.path);
        let again = folder.path().join(committed.file_name().unwrap());
        ptx_text::write(&again, &ptx_text::read(&committed).unwrap()).unwrap();
        let files = |head: &Path| {
            let kernels = fs::read_dir(head.with_extension("")).unwrap();
            let paths = kernels.map(|entry| entry.unwrap().path()).chain([head.to_owned()]);
            paths
                .map(|path| (path.file_name().unwrap().to_owned(), fs::read_to_string(path).unwrap()))
                .collect()
        };
        let [committed, again]: [BTreeMap<_, _>; 2] = [files(&committed), files(&again)];
        assert!(committed == again, "{}", artifact.path);
        for (name, text) in committed {
            assert!(text.len() <= LARGEST, "{} has {} bytes", name.display(), text.len());
        }
    }
}
