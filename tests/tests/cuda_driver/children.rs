//! Runs cases in child processes, on the fake driver and on the real one.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use torrance_gpu::backend::cuda::CACHE_VARIABLE;
use torrance_gpu::backend::cuda::driver::LIBRARY_VARIABLE;

use super::{CASE_VARIABLE, MARK};

pub(super) struct Child {
    pub(super) answer: String,
    /// Resources that the fake driver found open at its end.
    pub(super) left: String,
}

pub(super) fn run(case: &str, variables: &[(&str, &str)]) -> Child {
    run_by(Command::new(std::env::current_exe().unwrap()), case, variables)
}

/// By a command that begins with this program, or with another that runs it.
pub(super) fn run_by(mut program: Command, case: &str, variables: &[(&str, &str)]) -> Child {
    let log = scratch(&format!("{}.log", case.replace(' ', "-")));
    let output = program
        .args(["--exact", "child", "--ignored", "--nocapture"])
        .env_remove(LIBRARY_VARIABLE)
        .env_remove("CUDA_VISIBLE_DEVICES")
        .env(CASE_VARIABLE, case)
        .env("FAKE_LOG", &log)
        .env(CACHE_VARIABLE, "off")
        .envs(variables.iter().copied())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "case {case:?} with {variables:?}: {}\n{text}\n{errors}", output.status);
    let answer = text.lines().find_map(|line| line.strip_prefix(MARK));
    let answer = answer.unwrap_or_else(|| panic!("case {case:?} gave no answer:\n{text}\n{errors}"));
    Child { answer: answer.to_owned(), left: std::fs::read_to_string(&log).unwrap_or_default() }
}

/// A path for this process's files, different at each call.
pub(super) fn scratch(name: &str) -> PathBuf {
    use std::sync::atomic::{AtomicU32, Ordering};
    static COUNT: AtomicU32 = AtomicU32::new(0);
    // Cargo's folder for this, unless the tests were carried to another machine.
    let built = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let base = if built.exists() { built.to_owned() } else { std::env::temp_dir() };
    let folder = base.join(format!("cuda-driver-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    folder.join(format!("{}-{name}", COUNT.fetch_add(1, Ordering::Relaxed)))
}

pub(super) fn compile(source: &str, name: &str) -> Option<PathBuf> {
    let (c, library) = (scratch(&format!("{name}.c")), scratch(&format!("{name}.so")));
    std::fs::write(&c, source).unwrap();
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".to_owned());
    let mut command = Command::new(compiler);
    command.args(["-shared", "-fPIC", "-O1", "-Wall", "-Wextra", "-Werror", "-o"]).arg(&library).arg(&c);
    let output = command.output().ok()?;
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(library)
}

/// The driver made for the test, or `None`, said, where there is no C compiler.
pub(super) fn fake() -> Option<&'static str> {
    static LIBRARY: OnceLock<Option<String>> = OnceLock::new();
    let path = LIBRARY.get_or_init(|| {
        let library = compile(include_str!("fake_driver.c"), "fake")?;
        Some(library.to_str().unwrap().to_owned())
    });
    if path.is_none() {
        println!("skipped: no C compiler for the fake driver");
    }
    path.as_deref()
}

/// Runs a case on the fake driver and on a GPU, as far as there are such, and gives each answer to `check`.
pub(super) fn on_every_driver(case: &str, check: impl Fn(&str)) {
    if let Some(fake) = fake() {
        let child = run(case, &[(LIBRARY_VARIABLE, fake)]);
        println!("fake: {}", child.answer);
        check(&child.answer);
        let closed = "inits=1 contexts=0 modules=0 streams=0 events=0 allocations=0 pinned=0 ";
        assert!(child.left.starts_with(closed), "{case}: {}", child.left);
    }
    match run("load", &[]).answer.as_str() {
        "loaded" => {
            let child = run(case, &[]);
            println!("GPU: {}", child.answer);
            check(&child.answer);
        }
        reason => println!("skipped: no CUDA device ({reason})"),
    }
}

#[track_caller]
pub(super) fn contains(text: &str, all: &[&str]) {
    for part in all {
        assert!(text.contains(part), "{part:?} is not in {text:?}");
    }
}
