//! Little memory and few threads: every command ends with a sentence and an exit code of its own.
#![cfg(target_os = "linux")]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::program::{Folder, Outcome};

/// Two images, and one with depths, to be read by others.
fn folder() -> Folder {
    let folder = Folder::new();
    for (name, seed, aov) in [("a.exr", "1", "none"), ("b.exr", "2", "none"), ("d.exr", "1", "all")] {
        let size = ["--size", "256x256", "--spp", "2", "--seed", seed];
        let outcome = folder.run(&[&["render", "scene.toml", "-o", name, "--aov", aov], &size[..]].concat());
        assert_eq!(outcome.code, Some(0), "{outcome:?}");
    }
    folder
}

const COMMANDS: [&[&str]; 9] = [
    &["merge", "a.exr", "b.exr", "-o", "m.exr"],
    &["compare", "a.exr", "b.exr"],
    &["bsdf", "type = \"diffuse\", reflectance = 0.5", "-o", "charts"],
    &["defocus", "a.exr", "--radius", "5", "-o", "f.png"],
    &["render", "scene.toml", "-o", "r.exr", "--aov", "all", "--size", "512x512", "--spp", "1"],
    &["inspect", "scene.toml"],
    &["convert", "scene.toml", "c.toml", "--force"],
    &[
        "sweep",
        "scene.toml",
        "--param",
        "camera.fov=30:50:3",
        "-o",
        "s.png",
        "--spp",
        "1",
        "--html",
        "s.html",
    ],
    &["bench", "primitives", "--size", "4096"],
];

/// What the program itself takes: with less address space, the kernel ends it before it begins.
fn program_kib() -> u64 {
    fs::metadata(env!("CARGO_BIN_EXE_torrance")).unwrap().len() / 1024
}

/// Whether a command ended well, or with a sentence.
#[track_caller]
fn check(what: &str, outcome: &Outcome) {
    assert!(matches!(outcome.code, Some(0..=3)), "{what}: {outcome:?}");
    let tells = outcome.stderr.lines().any(|line| line.starts_with("error: "));
    assert!(outcome.code < Some(2) || tells, "{what}: {outcome:?}");
}

#[test]
fn little_address_space_ends_in_a_sentence() {
    let folder = folder();
    let mut failed = 0;
    for arguments in COMMANDS {
        for mib in tier::choose(&[4, 60][..], &[0, 2, 4, 8, 15, 25, 35, 60, 90, 130, 230]) {
            let limit = program_kib() + (mib << 10);
            let mut limited = folder.limited(&format!("-v {limit}"), arguments);
            let outcome = Outcome::from(limited.env_remove("RUST_BACKTRACE").output().unwrap());
            // What the loader cannot map does not begin.
            if outcome.code != Some(127) {
                failed += u32::from(outcome.code == Some(3));
                check(&format!("{arguments:?} in {mib} MiB beside the program"), &outcome);
            }
        }
    }
    assert!(failed > 0, "no limit was tight enough to test anything");
}

/// Who looks for faults gets the same exit codes.
#[test]
fn a_backtrace_changes_no_exit_code() {
    let folder = folder();
    let limit = program_kib() + 4000;
    for value in ["0", "1", "full"] {
        let mut limited = folder.limited(&format!("-v {limit}"), &["merge", "d.exr", "d.exr", "-o", "m.exr"]);
        let outcome = Outcome::from(limited.env("RUST_BACKTRACE", value).output().unwrap());
        assert!(matches!(outcome.code, Some(2 | 3)), "{outcome:?}");
        assert!(outcome.stderr.contains("error: "), "{outcome:?}");
    }
}

/// As many files are written as there are meshes, but few are open at once.
#[test]
fn few_open_files_are_enough_for_many_meshes() {
    let folder = Folder::new();
    let faces: String = (0..300).map(|i| format!("usemtl m{i}\nf 1 2 3\n")).collect();
    fs::write(folder.at("many.obj"), format!("v 0 0 0\nv 1 0 0\nv 0 1 0\n{faces}")).unwrap();
    for _ in 0..2 {
        let mut limited = folder.limited("-n 64", &["convert", "many.obj", "many.toml", "--force"]);
        let outcome = Outcome::from(limited.output().unwrap());
        assert_eq!(outcome.code, Some(0), "{outcome:?}");
    }
    assert_eq!(folder.names(), ["many-files", "many.obj", "many.toml"]);
    assert_eq!(fs::read_dir(folder.at("many-files")).unwrap().count(), 300);
}

/// The program, where a user without rights may run it.
fn program_for_all(folder: &Folder) -> PathBuf {
    let copy = folder.at("torrance");
    fs::copy(folder.program(&[]).get_program(), &copy).unwrap();
    for path in [folder.path(), &copy] {
        fs::set_permissions(path, fs::Permissions::from_mode(0o777)).unwrap();
    }
    copy
}

/// Only of users without rights is the number of threads limited.
#[test]
fn few_threads_end_in_a_sentence() {
    let folder = folder();
    let program = program_for_all(&folder);
    let run = |processes: u32, arguments: &[&str]| {
        let mut limited = Command::new("setpriv");
        limited.args(["--reuid=54321", "--regid=54321", "--clear-groups", "--inh-caps=-all", "sh", "-c"]);
        limited.arg(format!("ulimit -u {processes} && exec \"$0\" \"$@\"")).arg(&program).args(arguments);
        limited.current_dir(folder.path()).env("TORRANCE_LIBCUDA", "").env_remove("RUST_BACKTRACE");
        limited.output().ok().map(Outcome::from)
    };
    if run(100, &["--version"]).is_none_or(|outcome| outcome.code != Some(0)) {
        println!("skipped: only root can become a user without rights");
        return;
    }
    let mut failed = 0;
    for arguments in COMMANDS {
        for processes in 1..tier::choose(3, 12) {
            let outcome = run(processes, arguments).unwrap();
            failed += u32::from(outcome.code == Some(3));
            check(&format!("{arguments:?} with {processes} threads"), &outcome);
        }
    }
    assert!(failed > 0, "no limit was tight enough to test anything");
}

/// A control group of so many bytes, removed when dropped.
struct Group(PathBuf);

impl Group {
    /// One of version 1 or 2, if we may make one.
    fn new(bytes: u64) -> Option<Self> {
        let name = format!("torrance-test-{}", std::process::id());
        [("/sys/fs/cgroup/memory", "memory.limit_in_bytes"), ("/sys/fs/cgroup", "memory.max")]
            .into_iter()
            .find_map(|(root, limit)| {
                let group = Self(Path::new(root).join(&name));
                fs::create_dir(&group.0).ok()?;
                fs::write(group.0.join(limit), bytes.to_string()).ok()?;
                Some(group)
            })
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let _ = fs::remove_dir(&self.0);
    }
}

#[test]
fn the_limit_of_a_control_group_is_known() {
    let Some(group) = Group::new(64 << 20) else {
        println!("skipped: no control group can be made");
        return;
    };
    let folder = Folder::new();
    let limited = |arguments: &[&str]| {
        let program = folder.program(arguments);
        let mut limited = Command::new("sh");
        limited.args(["-c", "echo $$ > \"$0\" && exec \"$@\""]).arg(group.0.join("cgroup.procs"));
        limited.arg(program.get_program()).args(program.get_args());
        limited.current_dir(folder.path()).env("TORRANCE_LIBCUDA", "");
        Outcome::from(limited.output().unwrap())
    };
    // Between what fits and what does not, nothing is killed.
    let (mut refused, mut done) = (0, 0);
    for side in (100..700).step_by(tier::choose(150, 25)) {
        let size = format!("--size={side}x{side}");
        for (name, seed) in [("a.exr", "1"), ("b.exr", "2")] {
            let made = folder.run(&["render", "scene.toml", "-o", name, "--spp=2", "--seed", seed, &size]);
            assert_eq!(made.code, Some(0), "{made:?}");
        }
        for arguments in [
            &["render", "scene.toml", "-o", "c.png", "--spp=1", &size][..],
            &["merge", "a.exr", "b.exr", "-o", "m.exr"],
            &["compare", "a.exr", "b.exr"],
            &["defocus", "a.exr", "--radius=5", "-o", "d.exr"],
        ] {
            let outcome = limited(arguments);
            check(&format!("{arguments:?} with {side} x {side} pixels"), &outcome);
            refused += u32::from(outcome.code >= Some(2));
            done += u32::from(outcome.code < Some(2));
        }
    }
    assert!(refused > 0 && done > 0, "{refused} refused, {done} done");
    for (size, fits) in [("1400x1400", false), ("128x128", true)] {
        // Made without the limit.
        for (name, seed) in [("a.exr", "1"), ("b.exr", "2")] {
            let made =
                folder.run(&["render", "scene.toml", "-o", name, "--spp=2", "--seed", seed, "--size", size]);
            assert_eq!(made.code, Some(0), "{made:?}");
        }
        for (arguments, says) in [
            (
                &["render", "scene.toml", "-o", "c.png", "--spp=1", "--size", size][..],
                "would need 373.8 MiB of memory",
            ),
            (&["merge", "a.exr", "b.exr", "-o", "m.exr"], "merging needs 355"),
            (&["compare", "a.exr", "b.exr"], "comparing it needs 486"),
            (&["defocus", "a.exr", "--radius=5", "-o", "d.png"], "blurring it needs 388"),
        ] {
            let outcome = limited(arguments);
            match fits {
                true => assert!(matches!(outcome.code, Some(0 | 1)), "control: {outcome:?}"),
                false => assert!(outcome.code == Some(2) && outcome.stderr.contains(says), "{outcome:?}"),
            }
        }
    }
}
