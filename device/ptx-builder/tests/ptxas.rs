//! `cargo ptx --check` believes no assembler that says nothing. Needs no toolchain.
#![cfg(unix)]

use std::path::Path;
use std::process::Command;

use ptx_builder::Result;
use ptx_builder::audit::Audit;
use ptx_builder::budget::Budgets;
use ptx_builder::ptxas::Ptxas;

const PTX: &str = ".version 7.0\n.target sm_75\n
.visible .entry one()\n{\n\tret;\n}\n
.visible .entry two()\n{\n\tret;\n}\n";

const VERSION: &str = "[ \"$1\" = --version ] && { echo 'release 1.2, V1.2.3'; exit; }";

/// A real assembler's output for each kernel that is named; `$4` is the architecture.
const KERNELS: &str = r#"kernels() {
    for k; do
        echo "ptxas info    : Compiling entry function '$k' for 'sm'"
        echo "ptxas info    : Function properties for $k"
        echo "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads"
        echo "ptxas info    : Used 12 registers, used 0 barriers"
    done
}"#;

/// Checks [`PTX`] with a shell script in place of ptxas.
fn check(script: &str) -> Result<Budgets> {
    let folder = tempfile::tempdir().unwrap();
    let (program, ptx) = (folder.path().join("ptxas"), folder.path().join("k.ptx"));
    write_program(&program, &format!("#!/bin/sh\n{script}\n"));
    std::fs::write(&ptx, PTX).unwrap();
    let ptxas = Ptxas::find(Some(&program))?;
    let architectures = ["sm_75", "sm_90"];
    let all = ptxas.assemble_all(&ptx, &architectures)?;
    let usage: Vec<_> = architectures.into_iter().zip(all).filter_map(|(name, k)| Some((name, k?))).collect();
    Budgets::measured(&ptxas.version, &Audit::new(PTX), &usage)
}

/// Another process writes it: one that this process has open for writing cannot be run, and a fork in another thread
/// may keep it open.
fn write_program(path: &Path, text: &str) {
    let write = "printf %s \"$1\" >\"$0\" && chmod +x \"$0\"";
    assert!(Command::new("sh").arg("-c").arg(write).arg(path).arg(text).status().unwrap().success());
}

fn complaint(script: &str) -> String {
    check(script).unwrap_err().to_string()
}

#[test]
fn what_it_says_of_every_kernel_is_measured() {
    let measured = check(&format!("{VERSION}\n{KERNELS}\nkernels two one")).unwrap();
    assert_eq!(measured.ptxas, "1.2.3");
    assert_eq!(measured.kernels.keys().collect::<Vec<_>>(), ["one", "two"]);
    assert!(measured.kernels.values().all(|k| k.usage.len() == 2 && k.usage["sm_75"].registers == 12));
}

#[test]
fn an_architecture_it_does_not_know_is_left_out() {
    let unknown = "[ \"$4\" = sm_75 ] && { echo \"'sm_75' is not defined for option\"; exit 1; }";
    let measured = check(&format!("{VERSION}\n{unknown}\n{KERNELS}\nkernels one two")).unwrap();
    assert!(measured.kernels.values().all(|k| k.usage.keys().collect::<Vec<_>>() == ["sm_90"]));
}

#[test]
fn silence_is_an_error() {
    let message = complaint(&format!("{VERSION}\nexit 0"));
    assert!(message.contains("does not say what kernels use on sm_75: one, two"), "{message}");
}

#[test]
fn silence_about_one_kernel_on_one_architecture_is_an_error() {
    let one_less = "if [ \"$4\" = sm_90 ]; then kernels one; else kernels one two; fi";
    let message = complaint(&format!("{VERSION}\n{KERNELS}\n{one_less}"));
    assert!(message.contains("does not say what kernels use on sm_90: two"), "{message}");
}

#[test]
fn a_program_without_a_version_is_no_assembler() {
    for script in ["exit 0", "echo 'some tool, Version two'"] {
        let message = complaint(script);
        assert!(message.contains("is not NVIDIA's assembler"), "{message}");
    }
}
