//! Sources of a build: the files that rustc names for each of our crates that cargo has compiled, or found compiled.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::error::{Error, Result};
use crate::stamp::Sources;

/// The folder of all sources that can be compiled, relative to the repository root.
const SOURCES: &str = "device";

/// The builder's own sources.
const BUILDER: [&str; 2] = ["device/ptx-builder/src/codegen", "device/ptx-text/src/numbers.rs"];

/// The lock file decides which versions of others' crates are compiled.
const LOCK: &str = "device/kernels/Cargo.lock";

/// The fields that matter of a line of `cargo build --message-format=json`.
#[derive(Debug, Deserialize)]
struct Message {
    reason: String,
    manifest_path: Option<PathBuf>,
    #[serde(default)]
    filenames: Vec<PathBuf>,
}

/// The sources, relative to the repository root, of what cargo's messages say was built, and of the builder.
pub(crate) fn sources(root: &Path, messages: &str) -> Result<BTreeSet<String>> {
    let root = &root.canonicalize().map_err(Error::io("find", root))?;
    let mut names = BTreeSet::from([LOCK.to_owned()]);
    for line in messages.lines() {
        let rejected = |error| Error::Rejected(format!("cargo wrote a message that is none: {error}"));
        let Message { reason, manifest_path, filenames } = serde_json::from_str(line).map_err(rejected)?;
        let manifest = manifest_path.filter(|_| reason == "compiler-artifact");
        // The others' are in the lock file, and core is the compiler's.
        let is_ours = |manifest: &PathBuf| manifest.canonicalize().is_ok_and(|path| path.starts_with(root));
        let Some(manifest) = manifest.filter(is_ours) else { continue };
        for file in dependencies(&filenames)? {
            // rustc is run in the workspace, and names its files from there.
            names.insert(name(root, &root.join("device/kernels").join(file))?);
        }
        names.insert(name(root, &manifest)?);
    }
    BUILDER.into_iter().try_for_each(|name| collect(root, name, &mut names))?;
    Ok(names)
}

/// Everything that a build could read, to see whether it changes meanwhile.
pub fn snapshot(root: &Path) -> Result<Sources> {
    let mut names = BTreeSet::new();
    collect(root, SOURCES, &mut names)?;
    Ok(Sources::read(root, &names))
}

/// A file; or those below a folder, without what is built and hidden files, which are editors'.
fn collect(root: &Path, name: &str, names: &mut BTreeSet<String>) -> Result<()> {
    let path = root.join(name);
    if !path.is_dir() {
        names.insert(name.to_owned());
        return Ok(());
    }
    for entry in fs::read_dir(&path).map_err(Error::io("read", &path))? {
        let entry = entry.map_err(Error::io("read", &path))?.file_name();
        let entry = entry.to_string_lossy();
        if !entry.starts_with('.')
            && !entry.ends_with('~')
            && !["target", "modules"].contains(&entry.as_ref())
        {
            collect(root, &format!("{name}/{entry}"), names)?;
        }
    }
    Ok(())
}

/// Files listed by rustc in the dependency files beside its outputs: `libNAME.rlib` has `NAME.d`.
fn dependencies(made: &[PathBuf]) -> Result<Vec<String>> {
    let beside = |path: &PathBuf| {
        let stem = path.file_stem()?.to_str()?;
        let names = [stem, stem.strip_prefix("lib").unwrap_or(stem)];
        names.into_iter().map(|name| path.with_file_name(format!("{name}.d"))).find(|path| path.is_file())
    };
    let path = made.iter().find_map(beside);
    let path = path.ok_or_else(|| Error::Rejected(format!("no dep-info is beside {made:?}")))?;
    Ok(parse(&fs::read_to_string(&path).map_err(Error::io("read", &path))?))
}

/// Reads rules of a makefile, `target: file file`, where blanks in names are written `\ `.
fn parse(rules: &str) -> Vec<String> {
    let rules = rules.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once(": "));
    let mut files = Vec::new();
    for (_, list) in rules {
        let mut continued = false;
        for word in list.split(' ') {
            let (word, continues) = word.strip_suffix('\\').map_or((word, false), |word| (word, true));
            match files.last_mut() {
                Some(last) if continued => *last = format!("{last} {word}"),
                _ => files.push(word.to_owned()),
            }
            continued = continues;
        }
    }
    files.retain(|file| !file.is_empty());
    files
}

/// A source's name relative to the repository root, the same on every system.
fn name(root: &Path, file: &Path) -> Result<String> {
    let path = file.canonicalize().map_err(Error::io("find", file))?;
    let parts = path.strip_prefix(root).map(|inside| inside.iter().map(|part| part.to_string_lossy()));
    let name = parts.map(|parts| parts.collect::<Vec<_>>().join("/")).unwrap_or_default();
    if name.starts_with(&format!("{SOURCES}/")) {
        return Ok(name);
    }
    Err(Error::Rejected(format!("{} is compiled, and is not below {SOURCES}/", file.display())))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A repository in which crates `a` and `b` are compiled, and `c` is not.
    fn repository() -> (tempfile::TempDir, String) {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let mut messages = String::new();
        for name in ["a", "b", "c"] {
            let package = root.join("device").join(name);
            fs::create_dir_all(package.join("src")).unwrap();
            fs::write(package.join("Cargo.toml"), "").unwrap();
            fs::write(package.join("src/lib.rs"), "").unwrap();
            fs::write(package.join("src/with blank.rs"), "").unwrap();
            let made = root.join(format!("lib{name}-0.rlib"));
            let source = package.join("src").display().to_string();
            let rules = format!(
                "x.rlib: {source}/lib.rs {source}/with\\ blank.rs\n\n{source}/lib.rs:\n\n# env-dep:A=b: c\n"
            );
            fs::write(root.join(format!("{name}-0.d")), rules).unwrap();
            let message = serde_json::json!({
                "reason": "compiler-artifact", "manifest_path": package.join("Cargo.toml"), "filenames": [made]
            });
            messages += &format!("{message}\n");
        }
        for file in [LOCK, "device/ptx-builder/src/codegen/mod.rs", BUILDER[1]] {
            let file = root.join(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, "").unwrap();
        }
        let last = messages.trim_end().rfind('\n').unwrap() + 1;
        messages.truncate(last);
        messages += "{\"reason\": \"build-finished\", \"success\": true}\n";
        messages += "{\"reason\": \"compiler-artifact\", \"manifest_path\": \"/nowhere/core/Cargo.toml\", \"filenames\": []}\n";
        (folder, messages)
    }

    #[test]
    fn compiled_crates_count_and_no_others() {
        let (folder, messages) = repository();
        let names: Vec<_> = sources(folder.path(), &messages).unwrap().into_iter().collect();
        let expected = [
            "device/a/Cargo.toml",
            "device/a/src/lib.rs",
            "device/a/src/with blank.rs",
            "device/b/Cargo.toml",
            "device/b/src/lib.rs",
            "device/b/src/with blank.rs",
            "device/kernels/Cargo.lock",
            "device/ptx-builder/src/codegen/mod.rs",
            "device/ptx-text/src/numbers.rs",
        ];
        assert_eq!(names, expected);
    }

    #[test]
    fn a_crate_that_does_not_say_its_files_is_an_error() {
        let (folder, messages) = repository();
        fs::remove_file(folder.path().join("b-0.d")).unwrap();
        let message = sources(folder.path(), &messages).unwrap_err().to_string();
        assert!(message.contains("no dep-info") && message.contains("libb-0.rlib"), "{message}");
        assert!(sources(folder.path(), "no message\n").is_err());
    }

    #[test]
    fn a_source_from_elsewhere_is_an_error() {
        let (folder, messages) = repository();
        let elsewhere = folder.path().join("table.bin");
        fs::write(&elsewhere, "").unwrap();
        fs::write(folder.path().join("a-0.d"), format!("x: {}\n", elsewhere.display())).unwrap();
        assert!(sources(folder.path(), &messages).unwrap_err().to_string().contains("not below device/"));
    }
}
