//! What the committed PTX may contain. Needs no toolchain.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use ptx_builder::artifact::{ARTIFACTS, PRODUCT, SELFTEST, find_root};
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
fn selftests_are_not_in_the_product() {
    let [product, selftest] =
        [PRODUCT, SELFTEST].map(|artifact| Audit::new(&artifact.read(&root()).unwrap()));
    let product: BTreeSet<_> = product.kernels().collect();
    let selftest: BTreeSet<_> = selftest.kernels().collect();
    assert!(!product.is_empty() && !selftest.is_empty());
    assert_eq!(product.intersection(&selftest).collect::<Vec<_>>(), Vec::<&&str>::new());
}

#[test]
fn every_kernel_has_a_budget() {
    let audit = Audit::new(&PRODUCT.read(&root()).unwrap());
    let budgets = Budgets::read(&root()).unwrap();
    let recorded: Vec<_> = budgets.kernels.keys().map(String::as_str).collect();
    let kernels: Vec<_> = audit.kernels().collect();
    assert_eq!(kernels, recorded, "run `cargo ptx --check`, and `--bless` if the change is meant");
    for kernel in kernels {
        let (now, budget) = (audit.panic_count(kernel), budgets.kernels[kernel].panics);
        assert!(now <= budget, "{kernel} can panic from {now} places, and the budget is {budget}");
    }
}
