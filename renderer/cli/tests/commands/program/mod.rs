//! Runs the program on a small scene in a folder of its own.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;
use torrance_image::film::write::is_temporary;

/// A grey sphere under a grey sky, small enough to render at once.
const SCENE: &str = r#"
[render]
size = [24, 16]
spp = 8
max_depth = 4

[camera]
position = [0, 0, 4]
target = [0, 0, 0]
fov = 40

[environment]
radiance = [0.3, 0.2, 0.1]

[materials.grey]
type = "diffuse"
reflectance = [0.5, 0.5, 0.5]

[[shapes]]
type = "sphere"
material = "grey"
"#;

/// A folder with a scene, removed when dropped.
pub(crate) struct Folder(TempDir);

impl Folder {
    /// A folder with `scene.toml` and nothing else.
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        std::fs::write(folder.path().join("scene.toml"), SCENE).expect("a scene file");
        Self(folder)
    }

    /// The folder.
    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    /// A file in it.
    pub(crate) fn at(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }

    /// The names in it but for the scene's, sorted.
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.path()).expect("the folder");
        let mut names: Vec<_> =
            entries.map(|e| e.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
        names.retain(|n| n != "scene.toml");
        names.sort();
        names
    }

    /// Number of finished files in a folder in it.
    pub(crate) fn files_in(&self, folder: &str) -> usize {
        let is_finished = |e: std::io::Result<std::fs::DirEntry>| {
            e.is_ok_and(|e| !is_temporary(&e.file_name().to_string_lossy()))
        };
        let count = |entries: std::fs::ReadDir| entries.map(is_finished).filter(|finished| *finished).count();
        std::fs::read_dir(self.at(folder)).map_or(0, count)
    }

    /// The program, about to be run in the folder on a machine without a GPU.
    pub(crate) fn program(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_torrance"));
        command.current_dir(self.path()).env("TORRANCE_LIBCUDA", "").env("TORRANCE_CACHE", "off");
        command.args(arguments);
        command
    }

    /// [`Folder::program`] within limits of the shell's `ulimit`.
    pub(crate) fn limited(&self, limits: &str, arguments: &[&str]) -> Command {
        let program = self.program(arguments);
        let mut limited = Command::new("sh");
        limited.args(["-c", &format!("ulimit {limits} && exec \"$0\" \"$@\"")]);
        limited.arg(program.get_program()).args(program.get_args());
        limited.current_dir(self.path()).env("TORRANCE_LIBCUDA", "");
        limited
    }

    /// Runs the program to its end.
    pub(crate) fn run(&self, arguments: &[&str]) -> Outcome {
        self.program(arguments).output().expect("the program starts").into()
    }
}

/// Outcome of running the program.
#[derive(Debug)]
pub(crate) struct Outcome {
    /// The exit code; `None` if a signal ended it.
    pub(crate) code: Option<i32>,
    /// Standard output.
    pub(crate) stdout: String,
    /// Standard error.
    pub(crate) stderr: String,
}

impl From<Output> for Outcome {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).expect("UTF-8 on stdout"),
            stderr: String::from_utf8(output.stderr).expect("UTF-8 on stderr"),
        }
    }
}
