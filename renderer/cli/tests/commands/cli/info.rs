//! `torrance info`, and machines without a GPU.

use super::*;

#[test]
fn without_a_driver_the_cpu_renders() {
    let folder = Folder::new();
    let quiet = folder.run(&["render", "scene.toml", "-o", "a.png", "--quiet"]);
    assert_eq!((quiet.code, quiet.stdout.as_str(), quiet.stderr.as_str()), (Some(0), "", ""));
    let told = folder.run(&["render", "scene.toml", "-o", "a.png"]);
    assert!(told.stderr.contains(" on CPU, "), "{told:?}");
    for device in ["cuda", "cuda:1", "CUDA:all+cpu", "cuda:0,2"] {
        let arguments = ["render", "scene.toml", "-o", "b.png", "--device", device];
        refused(&folder, &arguments, &format!("--device {device}: "));
        refused(&folder, &arguments, "; use --device cpu, or leave it out to let torrance choose");
    }
}

#[test]
fn a_driver_that_should_be_there_is_missed() {
    let folder = Folder::new();
    let mut program = folder.program(&["render", "scene.toml", "-o", "a.png", "--quiet"]);
    let outcome = Outcome::from(program.env("TORRANCE_LIBCUDA", "/nonexistent.so").output().unwrap());
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    assert!(outcome.stderr.starts_with("warning: rendering on the CPU: "), "{outcome:?}");
}

#[test]
fn info_tells_what_there_is() {
    let folder = Folder::new();
    let text = folder.run(&["info"]);
    assert_eq!((text.code, text.stderr.as_str()), (Some(0), ""));
    assert!(text.stdout.starts_with(concat!("torrance ", env!("CARGO_PKG_VERSION"), "\n")), "{text:?}");
    assert!(text.stdout.contains("\nCUDA     none: "), "{text:?}");
    let info = json(&folder.run(&["info", "--json"]));
    assert_eq!(info["cuda"]["available"], false);
    assert!(info["cuda"]["reason"].as_str().is_some_and(|r| !r.is_empty()), "{info}");
    assert!(info["cpu"]["threads"].as_u64().is_some_and(|n| n > 0), "{info}");
    assert!(info["kernels"]["ptx"].is_string(), "{info}");
}

/// The CUDA driver of `tests/tests/cuda_driver`, which needs no GPU; `None`, said, where there is no C compiler.
fn fake_driver(folder: &Folder) -> Option<PathBuf> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/tests/cuda_driver/fake_driver.c");
    let library = folder.at("fake.so");
    let mut compiler = Command::new(std::env::var_os("CC").unwrap_or_else(|| "cc".into()));
    match compiler.args(["-shared", "-fPIC", "-o"]).args([&library, &source]).status() {
        Ok(status) => {
            assert!(status.success());
            Some(library)
        }
        Err(_) => {
            println!("skipped: no C compiler for the fake driver");
            None
        }
    }
}

#[test]
fn info_compiles_kernels_only_if_asked_to() {
    let folder = Folder::new();
    let Some(driver) = fake_driver(&folder) else { return };
    let log = folder.at("driver.log");
    let run = |arguments: &[&str], capability: &str| {
        let mut program = folder.program(arguments);
        program.env("TORRANCE_LIBCUDA", &driver).env("FAKE_LOG", &log).env("FAKE_CAPABILITY", capability);
        (Outcome::from(program.output().unwrap()), fs::read_to_string(&log).unwrap())
    };
    let (text, log) = run(&["info"], "90");
    assert_eq!((text.code, text.stderr.as_str()), (Some(0), ""), "{text:?}");
    assert!(text.stdout.contains("\ncuda:1   Fake 1, compute capability 9.0, PCI "), "{text:?}");
    assert!(text.stdout.contains("\n         1 GiB of memory, 1 GiB of it free\n"), "{text:?}");
    assert!(log.starts_with("inits=1 contexts=0 ") && log.contains(" loads=0 "), "{log}");
    let (info, log) = run(&["info", "--json"], "61");
    assert!(log.contains(" loads=0 "), "{log}");
    let device = &json(&info)["cuda"]["devices"][0];
    assert_eq!((&device["name"], &device["memory_bytes"]), (&"Fake 0".into(), &(1_u64 << 30).into()));
    assert!(device["error"].as_str().is_some_and(|e| e.contains("compute capability 6.1")), "{device}");
    // The driver does not know these kernels: that it was asked for one shows that the count can be another.
    let (kernels, log) = run(&["info", "--kernels"], "90");
    assert_eq!(kernels.code, Some(3), "{kernels:?}");
    assert!(log.contains(" loads=1 "), "{log}");
}

#[test]
fn info_shows_kernels_from_the_record_where_there_is_no_gpu() {
    let folder = Folder::new();
    let text = folder.run(&["info", "--kernels"]);
    assert_eq!((text.code, text.stderr.as_str()), (Some(0), ""), "{text:?}");
    let reason =
        "no GPU: TORRANCE_LIBCUDA is set to nothing, which hides the NVIDIA driver; this is on record:";
    assert!(text.stdout.starts_with(&format!("{reason}\n\nsm_90; compiled by ptxas ")), "{text:?}");
    let usual = json(&folder.run(&["info", "--kernels", "--json"]));
    assert!(usual["reason"].as_str().is_some_and(|r| r.contains("hides the NVIDIA driver")), "{usual}");
    let info = json(&folder.run(&["info", "--kernels=sm_75", "--json"]));
    let table = &info["tables"][0];
    assert_eq!((&table["device"], &table["threads_per_multiprocessor"]), (&"sm_75".into(), &1024.into()));
    let kernels = table["kernels"].as_array().unwrap();
    let megakernel = kernels.iter().find(|k| k["name"] == "megakernel").unwrap();
    assert_eq!(megakernel["limited_by"], serde_json::json!(["registers"]), "{megakernel}");
    assert_eq!(info["reason"], Value::Null);
    refused(&folder, &["info", "--kernels=sm_7"], "unknown generation \"sm_7\"; did you mean \"sm_75\"?");
}

/// By a stand-in for the assembler, whose code is the name of the architecture.
#[test]
#[cfg(unix)]
fn kernels_are_compiled_for_other_machines() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new();
    let stand_in = "#!/bin/sh\ngrep -q '^.visible .entry' \"$2\" && ! grep -q 'entry megakernel_glass' \"$2\" || { echo refused >&2; exit 1; }\n\
                    echo \"$1\" > \"$4\"\n";
    fs::write(folder.at("as.sh"), stand_in).unwrap();
    fs::set_permissions(folder.at("as.sh"), fs::Permissions::from_mode(0o755)).unwrap();
    let arguments = ["precompile", "scene.toml", "--arch", "sm_86,sm_90", "--ptxas", "./as.sh", "-o", "made"];
    let outcome = folder.run(&[&arguments[..], &["--quiet"]].concat());
    assert_eq!((outcome.code, outcome.stderr.as_str()), (Some(0), ""), "{outcome:?}");
    let kernels: usize = outcome.stdout.split(' ').next().unwrap().parse().unwrap();
    assert!(kernels > 20 && outcome.stdout.contains(" kernels for 2 architectures: "), "{outcome:?}");
    assert_eq!(folder.files_in("made"), 2 * kernels);

    fs::write(folder.at("no.sh"), "#!/bin/sh\necho no >&2; exit 1\n").unwrap();
    fs::set_permissions(folder.at("no.sh"), fs::Permissions::from_mode(0o755)).unwrap();
    for (ptxas, message) in [("./no.sh", ": no\n"), ("./none.sh", "--ptxas says where\n")] {
        let outcome =
            folder.run(&["precompile", "scene.toml", "--arch", "sm_86", "--ptxas", ptxas, "--quiet"]);
        assert!(outcome.code == Some(3) && outcome.stderr.ends_with(message), "{outcome:?}");
        assert_eq!(folder.files_in("kernels"), 0);
    }
    let outcome = folder.run(&["precompile", "scene.toml", "--arch", "sm_61"]);
    assert!(outcome.code == Some(2) && outcome.stderr.contains("expected sm_75 or newer"), "{outcome:?}");
}
