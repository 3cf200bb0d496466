use super::*;

/// Folders in which a program is a text file with what it prints.
struct Machine {
    root: tempfile::TempDir,
}

impl Machine {
    fn new() -> Self {
        Self { root: tempfile::tempdir().unwrap() }
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.root.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn rustc(&self, folder: &str, release: &str, llvm: &str) {
        let about =
            format!("rustc {release} (abc 2026-01-01)\nhost: h\nrelease: {release}\nLLVM version: {llvm}\n");
        self.write(&executable(Path::new(&format!("{folder}/bin")), "rustc").to_string_lossy(), &about);
        self.write(&executable(Path::new(&format!("{folder}/bin")), "cargo").to_string_lossy(), "");
    }

    fn sources(&self, folder: &str) {
        self.write(&format!("{folder}/lib/rustlib/src/rust/library/core/src/lib.rs"), "");
    }

    fn llvm(&self, bin: &str, version: &str) {
        for tool in Llvm::TOOLS {
            let path = executable(Path::new(bin), tool);
            self.write(&path.to_string_lossy(), &format!("Some LLVM version {version}\n"));
        }
    }

    fn search(&self) -> Search {
        let root = self.root.path();
        Search {
            rustup_home: Some(root.join("rustup")),
            systems: vec![root.join("usr")],
            llvm_folders: vec![root.join("usr/lib/llvm-{}/bin").to_string_lossy().into_owned()],
            toolchain: None,
            llvm: None,
            run: |program, _| fs::read_to_string(program).map_err(Error::io("run", program)),
        }
    }

    fn refusal(&self) -> String {
        match self.search().find(None) {
            Err(error @ Error::Missing(_)) => error.to_string(),
            other => panic!("{other:?}"),
        }
    }
}

fn debian(machine: &Machine) {
    machine.rustc("usr", "1.96.0", "22.1.8");
    machine.sources("usr");
    machine.llvm("usr/lib/llvm-22/bin", "22.1.8");
}

const NIGHTLY: &str = "rustup/toolchains/nightly";

#[test]
fn an_empty_machine_is_told_both_ways() {
    let text = Machine::new().refusal();
    for expected in ["rustup toolchain install nightly", "rust-src,llvm-tools", "apt-get install rustc-web"] {
        assert!(text.contains(expected), "{text}");
    }
}

#[test]
fn debian_with_its_llvm() {
    let machine = Machine::new();
    debian(&machine);
    machine.llvm("usr/lib/llvm-14/bin", "14.0.6");
    let found = machine.search().find(None).unwrap();
    assert_eq!(found.describe(), "rustc 1.96.0 (abc 2026-01-01), LLVM 22.1.8");
    assert_eq!(found.rustc, executable(&machine.root.path().join("usr/bin"), "rustc"));
}

#[test]
fn each_missing_part_is_named_with_its_package() {
    let machine = Machine::new();
    machine.rustc("usr", "1.96.0", "22.1.8");
    machine.rustc(NIGHTLY, "1.97.0-nightly", "22.1.4");
    machine.llvm("usr/lib/llvm-14/bin", "14.0.6");
    let text = machine.refusal();
    for expected in [
        "rustup component add rust-src --toolchain nightly",
        "rustup component add llvm-tools --toolchain nightly",
        "apt-get install rust-web-src",
        "apt-get install llvm-22",
    ] {
        assert!(text.contains(expected), "{expected} in:\n{text}");
    }
}

#[test]
fn rustup_comes_first_with_its_own_tools() {
    let machine = Machine::new();
    debian(&machine);
    machine.rustc(NIGHTLY, "1.97.0-nightly", "22.1.4");
    machine.sources(NIGHTLY);
    machine.llvm(&format!("{NIGHTLY}/lib/rustlib/h/bin"), "22.1.4-rust-1.97.0-nightly");
    let found = machine.search().find(None).unwrap();
    assert_eq!(found.name, "rustup toolchain nightly");
    assert_eq!(found.llvm.version, "22.1.4-rust-1.97.0-nightly");
}

#[test]
fn the_toolchain_of_the_present_ptx_is_kept() {
    let machine = Machine::new();
    debian(&machine);
    machine.rustc(NIGHTLY, "1.97.0-nightly", "22.1.4");
    machine.sources(NIGHTLY);
    let present = "rustc 1.96.0 (abc 2026-01-01), LLVM 22.1.8";
    assert_eq!(machine.search().find(Some(present)).unwrap().describe(), present);
    let other = machine.search().find(Some("rustc 1.90.0, LLVM 20")).unwrap();
    assert_eq!(other.name, "rustup toolchain nightly");
}

#[test]
fn rustup_without_tools_takes_the_systems_of_its_major() {
    let machine = Machine::new();
    machine.rustc(NIGHTLY, "1.97.0-nightly", "22.1.4");
    machine.sources(NIGHTLY);
    machine.llvm("usr/lib/llvm-22/bin", "22.1.8");
    assert_eq!(machine.search().find(None).unwrap().llvm.version, "22.1.8");
}

#[test]
fn tools_of_another_major_or_incomplete_ones_are_refused() {
    let machine = Machine::new();
    debian(&machine);
    machine.llvm("usr/lib/llvm-22/bin", "21.1.0");
    assert!(machine.refusal().contains("is LLVM 21.1.0"), "{}", machine.refusal());
    machine.llvm("usr/lib/llvm-22/bin", "22.1.8");
    fs::remove_file(executable(&machine.root.path().join("usr/lib/llvm-22/bin"), "llc")).unwrap();
    assert!(machine.refusal().contains("has no llc"), "{}", machine.refusal());
}

#[test]
fn an_old_compiler_is_refused() {
    let machine = Machine::new();
    debian(&machine);
    machine.rustc("usr", "1.75.0", "22.1.8");
    assert!(machine.refusal().contains("rustc 1.75.0 (abc 2026-01-01) is older than 1.89"));
}

#[test]
fn a_named_toolchain_is_the_only_candidate() {
    let machine = Machine::new();
    debian(&machine);
    let mut search = machine.search();
    search.toolchain = Some(machine.root.path().join("usr").to_string_lossy().into_owned());
    assert!(search.find(None).is_ok());
    search.toolchain = Some("nightly".into());
    let text = search.find(None).unwrap_err().to_string();
    assert!(text.contains("nightly") && !text.contains("/usr/bin/rustc\n"), "{text}");
}

#[test]
fn rustup_names_need_no_host() {
    let kind = Kind::Rustup("nightly-2026-05-20-x86_64-unknown-linux-gnu".into());
    assert!(kind.is_called("nightly-2026-05-20") && !kind.is_called("nightly"));
    let kind = Kind::Rustup("nightly-x86_64-unknown-linux-gnu".into());
    assert!(kind.is_called("nightly") && kind.is_called("nightly-x86_64-unknown-linux-gnu"));
    assert!(!kind.is_called("night") && !Kind::System.is_called("nightly"));
}

#[test]
fn what_rustc_says_of_itself() {
    let text = "rustc 1.96.0 (ac68faa20 2026-05-25) (built from a source tarball)\nbinary: rustc\n\
        host: x86_64-unknown-linux-gnu\nrelease: 1.96.0\nLLVM version: 22.1.8\n";
    let about = About::parse(text).unwrap();
    assert_eq!(about.version, "1.96.0 (ac68faa20 2026-05-25)");
    assert_eq!((about.release, about.llvm), ((1, 96), 22));
    assert_eq!(About::parse("error: something"), None);
}
