//! NVIDIA's assembler and disassembler. They need no GPU.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::error::{Error, Result, capture};

/// Finds one of CUDA's programs: as given, from its environment variable (`PTXAS` for `ptxas`), on `PATH`, in
/// a CUDA installation, or in what pip installed.
pub fn find(name: &str, given: Option<&Path>) -> Result<PathBuf> {
    let variable = env::var_os(name.to_uppercase()).map(PathBuf::from);
    if let Some(named) = given.map(Path::to_owned).or(variable) {
        return if named.is_file() {
            Ok(named)
        } else {
            Err(missing(name, &format!("{} is no file", named.display())))
        };
    }
    let file = format!("{name}{}", env::consts::EXE_SUFFIX);
    let on_path = env::var_os("PATH").unwrap_or_default();
    let cuda = ["CUDA_HOME", "CUDA_PATH"].into_iter().filter_map(env::var_os).map(PathBuf::from);
    let cuda = cuda.chain(["/usr/local/cuda".into()]).map(|home| home.join("bin"));
    let folders = env::split_paths(&on_path).chain(cuda);
    let installed = folders.map(|folder| folder.join(&file)).find(|path| path.is_file());
    installed.or_else(|| in_python(&file)).ok_or_else(|| missing(name, "not found"))
}

fn missing(name: &str, why: &str) -> Error {
    let package =
        if name == "ptxas" { "nvidia-cuda-nvcc" } else { "nvidia-cuda-cuobjdump nvidia-cuda-nvdisasm" };
    let variable = name.to_uppercase();
    Error::Missing(format!(
        "{name}: {why}\n  pip install {package}    (any recent Python; no GPU or driver needed)\n  \
         or install the CUDA toolkit, or set {variable} to the program"
    ))
}

/// pip puts CUDA's programs into `site-packages/nvidia/*/bin`.
fn in_python(file: &str) -> Option<PathBuf> {
    let script = "import site, sys; print('\\n'.join([*sys.path, site.getusersitepackages()]))";
    let python = ["python3", "python"];
    let folders = python.iter().find_map(|python| capture(Command::new(python).args(["-c", script])).ok())?;
    folders.lines().filter(|line| !line.is_empty()).find_map(|folder| in_site(Path::new(folder), file))
}

fn in_site(folder: &Path, file: &str) -> Option<PathBuf> {
    let packages = std::fs::read_dir(folder.join("nvidia")).ok()?;
    let mut found: Vec<_> = packages
        .flatten()
        .map(|package| package.path().join("bin").join(file))
        .filter(|path| path.is_file())
        .collect();
    found.sort();
    found.pop()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pip_packages_are_searched_and_the_newest_wins() {
        let site = tempfile::tempdir().unwrap();
        assert_eq!(in_site(site.path(), "ptxas"), None);
        for package in ["cu12", "cu13", "other"] {
            std::fs::create_dir_all(site.path().join("nvidia").join(package).join("bin")).unwrap();
        }
        for package in ["cu12", "cu13"] {
            std::fs::write(site.path().join("nvidia").join(package).join("bin/ptxas"), "").unwrap();
        }
        assert_eq!(in_site(site.path(), "ptxas"), Some(site.path().join("nvidia/cu13/bin/ptxas")));
    }

    #[test]
    fn a_missing_assembler_says_how_to_get_it() {
        let error = find("ptxas", Some(Path::new("/nonexistent/ptxas"))).unwrap_err();
        assert_eq!(error.exit_code(), 2);
        assert!(error.to_string().contains("pip install nvidia-cuda-nvcc"), "{error}");
    }
}
