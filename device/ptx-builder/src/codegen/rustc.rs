//! Running cargo and rustc so that the same sources give the same PTX wherever they lie.
//!
//! - rustc's own LLVM passes are off (`no-prepopulate-passes`). They would run before shared memory is in its
//!   address space, on what they must take for a private global: a value that every thread stores and then
//!   loads would be kept in a register, past the barrier that was to make it another thread's.
//! - cargo derives `-C metadata` from absolute paths, and rustc derives symbol names, and the order of
//!   functions, from it. So this program is also the rustc wrapper, and puts the package's name in its place.
//! - Panics carry no source locations, and any other path is remapped.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{TARGET_CPU, linker};
use crate::error::{Error, Result, run};
use crate::toolchain::Toolchain;

/// The name under which this program wraps rustc.
pub const WRAPPER: &str = "torrance-ptx-rustc";

const TRIPLE: &str = "nvptx64-nvidia-cuda";

/// Set for the wrapper: the repository root.
const ROOT: &str = "TORRANCE_PTX_ROOT";

/// Compiles the kernels crate with one feature, and has [`linker::link`] write the module. Returns what cargo says it built,
/// a message a line.
pub(super) fn build(root: &Path, feature: &str, toolchain: &Toolchain, module: &Path) -> Result<String> {
    let target = root.join("device/kernels/target");
    let bin = target.join("ptx-builder");
    let linker = install(&bin, linker::NAME)?;
    let wrapper = install(&bin, WRAPPER)?;
    let release = target.join(TRIPLE).join("release");
    // Both features link to the same file: without it there, cargo has to link again.
    for stale in [release.join("kernels.ptx"), release.join("deps/kernels.ptx")] {
        if stale.exists() {
            fs::remove_file(&stale).map_err(Error::io("remove", &stale))?;
        }
    }
    let mut cargo = clean(Command::new(&toolchain.cargo));
    cargo
        .args(["build", "--release", "-Zbuild-std=core", "--target", TRIPLE])
        .args(["--no-default-features", "--features", feature])
        .args(["--message-format", "json-render-diagnostics"])
        .arg("--target-dir")
        .arg(&target)
        .current_dir(root.join("device/kernels"))
        .env("RUSTC", &toolchain.rustc)
        .env("RUSTC_WRAPPER", wrapper)
        // -Zbuild-std and the GPU features are unstable, also where the compiler is a stable one.
        .env("RUSTC_BOOTSTRAP", "1")
        .env("CARGO_ENCODED_RUSTFLAGS", flags(&linker).join("\x1f"))
        .env(linker::LLVM_LINK, toolchain.llvm.llvm_link().get_program())
        .env(linker::MODULE, module)
        .env(ROOT, root);
    let messages = run(&mut cargo)?;
    if module.is_file() {
        return Ok(messages);
    }
    Err(Error::Rejected("another `cargo ptx` was building at the same time: run it again".into()))
}

fn flags(linker: &Path) -> Vec<String> {
    vec![
        format!("-Ctarget-cpu={TARGET_CPU}"),
        format!("-Clinker={}", linker.display()),
        "-Cno-prepopulate-passes".into(),
        "-Zlocation-detail=none".into(),
        // Where a path is known to take the same side of two branches, it copies what is between them: calls of large
        // functions too, which are inlined later.
        "-Zmir-enable-passes=-JumpThreading".into(),
    ]
}

/// Puts a copy of this program where cargo and rustc find it by name. A copy with the same content stays
/// untouched, so that nothing is rebuilt for it.
fn install(folder: &Path, name: &str) -> Result<PathBuf> {
    let this = env::current_exe().map_err(Error::io("find", Path::new("this program")))?;
    let path = folder.join(name).with_extension(env::consts::EXE_EXTENSION);
    let program = fs::read(&this).map_err(Error::io("read", &this))?;
    if fs::read(&path).is_ok_and(|present| present == program) {
        return Ok(path);
    }
    fs::create_dir_all(folder).map_err(Error::io("create", folder))?;
    // Another `cargo ptx` may be running the old copy: remove the name, not the content.
    if path.exists() {
        fs::remove_file(&path).map_err(Error::io("remove", &path))?;
    }
    fs::copy(&this, &path).map_err(Error::io("write", &path))?;
    Ok(path)
}

/// Removes from the environment the variables of an outer `cargo run` and of the user's settings.
fn clean(mut command: Command) -> Command {
    let kept = ["CARGO_HOME", "CARGO_NET_OFFLINE", "CARGO_TERM_COLOR", "CARGO_TERM_PROGRESS_WHEN"];
    for (name, _) in env::vars_os() {
        let text = name.to_string_lossy();
        let cargo = text == "CARGO" || text.starts_with("CARGO_");
        let network = ["CARGO_HTTP_", "CARGO_NET_", "CARGO_REGISTRIES_", "CARGO_REGISTRY", "CARGO_SOURCE_"];
        let keep = kept.contains(&text.as_ref()) || network.iter().any(|prefix| text.starts_with(prefix));
        let rustc = text.starts_with("RUSTC") || text.starts_with("RUSTFLAGS") || text == "RUSTUP_TOOLCHAIN";
        if (cargo && !keep) || rustc || text == "LD_LIBRARY_PATH" {
            command.env_remove(&name);
        }
    }
    command
}

/// Runs as the rustc wrapper: the real rustc's path, then its arguments. Returns rustc's exit code.
pub fn wrap(arguments: impl IntoIterator<Item = OsString>) -> Result<u8> {
    let mut arguments = arguments.into_iter();
    let rustc = arguments.next().ok_or_else(|| Error::Rejected(format!("{WRAPPER} is for cargo to call")))?;
    let package = |name| env::var(name).unwrap_or_default();
    let identity = format!("{} {}", package("CARGO_PKG_NAME"), package("CARGO_PKG_VERSION"));
    let mut command = Command::new(rustc);
    command.args(with_identity(arguments, &identity));
    for (variable, name) in [(ROOT, "torrance"), ("CARGO_MANIFEST_DIR", &identity)] {
        if let Some(path) = env::var_os(variable) {
            command.arg(format!("--remap-path-prefix={}=/{name}", path.to_string_lossy()));
        }
    }
    let status = command.status().map_err(Error::io("run", Path::new(command.get_program())))?;
    Ok(status.code().map_or(1, |code| u8::try_from(code).unwrap_or(1)))
}

/// Replaces the hash in `-C metadata=HASH`.
fn with_identity(arguments: impl Iterator<Item = OsString>, identity: &str) -> Vec<OsString> {
    let replace = |argument: OsString| match argument.to_string_lossy() {
        text if text.starts_with("metadata=") => format!("metadata={identity}").into(),
        text if text.starts_with("-Cmetadata=") => format!("-Cmetadata={identity}").into(),
        _ => argument,
    };
    arguments.map(replace).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metadata_is_replaced_in_either_spelling() {
        let line = ["--crate-name", "glam", "-C", "metadata=0123", "-Cmetadata=4567", "-C", "opt-level=3"];
        let changed = with_identity(line.into_iter().map(OsString::from), "glam 1");
        let expected =
            ["--crate-name", "glam", "-C", "metadata=glam 1", "-Cmetadata=glam 1", "-C", "opt-level=3"];
        assert_eq!(changed, expected);
    }

    #[test]
    fn rustc_leaves_optimisation_to_us() {
        let flags = flags(Path::new("/x/llvm-bitcode-linker"));
        assert!(flags.contains(&"-Cno-prepopulate-passes".to_owned()));
        assert!(flags.contains(&"-Clinker=/x/llvm-bitcode-linker".to_owned()));
    }
}
