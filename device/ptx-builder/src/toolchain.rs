//! Finding a compiler that can make PTX: a rustc with the sources of its own `core`, its cargo, and LLVM's
//! `llvm-link`, `opt` and `llc` of the major version that rustc was built with.

use std::env;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::error::{Error, Result, capture};

/// The oldest compiler that knows everything the device code uses; also `rust-version` in Cargo.toml.
const OLDEST: (u32, u32) = (1, 89);

/// Names a toolchain: a rustup toolchain's name, or a folder with `bin/rustc`.
pub const TOOLCHAIN_VARIABLE: &str = "TORRANCE_PTX_TOOLCHAIN";

/// Names the folder of the LLVM tools.
pub const LLVM_VARIABLE: &str = "TORRANCE_PTX_LLVM";

/// LLVM's tools.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Llvm {
    bin: PathBuf,
    /// As the tools say it, such as `22.1.8`.
    pub version: String,
}

impl Llvm {
    const TOOLS: [&str; 3] = ["llvm-link", "opt", "llc"];

    fn tool(&self, name: &str) -> PathBuf {
        executable(&self.bin, name)
    }

    /// The linker of bitcode.
    pub fn llvm_link(&self) -> Command {
        Command::new(self.tool("llvm-link"))
    }

    /// The optimiser.
    pub fn opt(&self) -> Command {
        Command::new(self.tool("opt"))
    }

    /// The code generator.
    pub fn llc(&self) -> Command {
        Command::new(self.tool("llc"))
    }
}

/// A usable toolchain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Toolchain {
    /// Where it was found, for people.
    pub name: String,
    /// Its compiler.
    pub rustc: PathBuf,
    /// Its cargo.
    pub cargo: PathBuf,
    /// Such as `1.96.0 (ac68faa20 2026-05-25)`.
    pub version: String,
    /// The tools that follow it.
    pub llvm: Llvm,
}

impl Toolchain {
    /// Versions that the stamp records, without paths.
    pub fn describe(&self) -> String {
        format!("rustc {}, LLVM {}", self.version, self.llvm.version)
    }
}

/// A place that may hold a toolchain.
#[derive(Clone, Debug)]
struct Candidate {
    name: String,
    /// The folder with `bin/rustc`.
    folder: PathBuf,
    /// How its missing parts are installed.
    kind: Kind,
}

#[derive(Clone, Debug)]
enum Kind {
    /// By `rustup component add --toolchain NAME`.
    Rustup(String),
    /// By Debian's package manager.
    System,
    /// By whoever named it.
    Named,
}

/// Why a candidate was refused: one line a reason.
type Refusal = Vec<String>;

/// Where to look. Tests point it at made-up folders.
#[derive(Clone, Debug)]
pub struct Search {
    /// rustup's home, with `toolchains/` in it.
    pub rustup_home: Option<PathBuf>,
    /// Folders with `bin/rustc` from the system's packages.
    pub systems: Vec<PathBuf>,
    /// Folders that may hold LLVM tools; `{}` stands for the major version.
    pub llvm_folders: Vec<String>,
    /// A toolchain that was asked for: then only this one counts.
    pub toolchain: Option<String>,
    /// A folder of LLVM tools that was asked for.
    pub llvm: Option<PathBuf>,
    /// Runs a program and returns what it prints.
    pub run: fn(&Path, &[&str]) -> Result<String>,
}

impl Search {
    /// The search on this machine. Arguments go before environment variables.
    pub fn here(toolchain: Option<String>, llvm: Option<PathBuf>) -> Self {
        let home = || Some(env::home_dir()?.join(".rustup"));
        let mut llvm_folders: Vec<String> =
            ["/usr/lib/llvm-{}/bin", "/usr/lib64/llvm{}/bin", "/opt/homebrew/opt/llvm@{}/bin"]
                .map(str::to_owned)
                .into();
        let path = env::var_os("PATH").unwrap_or_default();
        llvm_folders.extend(env::split_paths(&path).map(|folder| folder.to_string_lossy().into_owned()));
        Self {
            rustup_home: env::var_os("RUSTUP_HOME").map(PathBuf::from).or_else(home),
            systems: vec!["/usr".into()],
            llvm_folders,
            toolchain: toolchain.or_else(|| env::var(TOOLCHAIN_VARIABLE).ok()),
            llvm: llvm.or_else(|| env::var_os(LLVM_VARIABLE).map(PathBuf::from)),
            run: |program, arguments| capture(Command::new(program).args(arguments)),
        }
    }

    /// The toolchain to build with: the one that made the present PTX, so that it changes only with its
    /// sources, or else the first usable one. The error explains every refusal and what to install.
    pub fn find(&self, present: Option<&str>) -> Result<Toolchain> {
        let mut usable = Vec::new();
        let mut refused = Vec::new();
        for candidate in self.candidates() {
            match self.examine(&candidate) {
                Ok(toolchain) => usable.push(toolchain),
                Err(reasons) => refused.push((candidate, reasons)),
            }
        }
        let same = usable.iter().position(|toolchain| Some(toolchain.describe().as_str()) == present);
        let first = (!usable.is_empty()).then_some(0);
        match same.or(first) {
            Some(index) => Ok(usable.swap_remove(index)),
            None => Err(Error::Missing(self.explain(&refused))),
        }
    }

    fn candidates(&self) -> Vec<Candidate> {
        let toolchains = self.rustup_home.as_ref().map(|home| home.join("toolchains"));
        let rustup = |folder: PathBuf| {
            let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
            Candidate { name: format!("rustup toolchain {name}"), folder, kind: Kind::Rustup(name) }
        };
        let mut installed: Vec<_> = toolchains
            .and_then(|all| fs::read_dir(all).ok())
            .map(|entries| entries.flatten().map(|entry| entry.path()).filter(|path| path.is_dir()).collect())
            .unwrap_or_default();
        installed.sort();
        let mut installed = installed.into_iter().map(rustup);
        if let Some(named) = &self.toolchain {
            let folder = || Candidate { name: named.clone(), folder: named.into(), kind: Kind::Named };
            return vec![installed.find(|candidate| candidate.kind.is_called(named)).unwrap_or_else(folder)];
        }
        let system = |folder: &PathBuf| {
            let name = executable(&folder.join("bin"), "rustc").display().to_string();
            Candidate { name, folder: folder.clone(), kind: Kind::System }
        };
        installed.chain(self.systems.iter().map(system)).collect()
    }

    fn examine(&self, candidate: &Candidate) -> Result<Toolchain, Refusal> {
        let bin = candidate.folder.join("bin");
        let (rustc, cargo) = (executable(&bin, "rustc"), executable(&bin, "cargo"));
        if !rustc.is_file() {
            return Err(vec![format!("there is no {}", rustc.display())]);
        }
        let about = (self.run)(&rustc, &["-vV"]).map_err(|error| vec![error.to_string()])?;
        let Some(about) = About::parse(&about) else {
            return Err(vec![format!("`{} -vV` names no release, host and LLVM version", rustc.display())]);
        };
        let mut reasons = Vec::new();
        if about.release < OLDEST {
            let (major, minor) = OLDEST;
            reasons.push(format!("rustc {} is older than {major}.{minor}", about.version));
        }
        if !cargo.is_file() {
            reasons.push(format!("there is no {}{}", cargo.display(), candidate.kind.hint(Component::Cargo)));
        }
        let sources = candidate.folder.join("lib/rustlib/src/rust/library/core/src/lib.rs");
        if !sources.is_file() {
            reasons
                .push(format!("the sources of core are missing{}", candidate.kind.hint(Component::Sources)));
        }
        let own = candidate.folder.join("lib/rustlib").join(&about.host).join("bin");
        let llvm = self.find_llvm(&own, about.llvm).map_err(|reason| {
            let hint = || candidate.kind.hint(Component::Llvm(about.llvm));
            reasons.push(if self.llvm.is_some() { reason } else { reason + &hint() });
        });
        match llvm {
            Ok(llvm) if reasons.is_empty() => {
                Ok(Toolchain { name: candidate.name.clone(), rustc, cargo, version: about.version, llvm })
            }
            _ => Err(reasons),
        }
    }

    /// The toolchain's own tools, or the system's of the same major version.
    fn find_llvm(&self, own: &Path, major: u32) -> Result<Llvm, String> {
        let folders = match &self.llvm {
            Some(named) => vec![named.clone()],
            None => {
                let system =
                    self.llvm_folders.iter().map(|name| name.replace("{}", &major.to_string()).into());
                std::iter::once(own.to_owned()).chain(system).collect()
            }
        };
        let mut problems = Vec::new();
        for bin in folders {
            let absent = Llvm::TOOLS.into_iter().filter(|name| !executable(&bin, name).is_file());
            let absent: Vec<_> = absent.collect();
            if absent.len() == Llvm::TOOLS.len() {
                continue;
            }
            if !absent.is_empty() {
                problems.push(format!("{} has no {}", bin.display(), absent.join(", ")));
                continue;
            }
            match self.llvm_version(&bin) {
                Some(version) if version.split('.').next() == Some(major.to_string().as_str()) => {
                    return Ok(Llvm { bin, version });
                }
                Some(version) => problems.push(format!("{} is LLVM {version}", bin.display())),
                None => problems.push(format!("{} does not say its version", bin.display())),
            }
        }
        let seen = if problems.is_empty() { String::new() } else { format!(" ({})", problems.join("; ")) };
        Err(format!("no {} of LLVM {major}{seen}", Llvm::TOOLS.join(", ")))
    }

    fn llvm_version(&self, bin: &Path) -> Option<String> {
        let text = (self.run)(&executable(bin, "opt"), &["--version"]).ok()?;
        let (_, version) = text.split_once("LLVM version ")?;
        version.split_whitespace().next().map(str::to_owned)
    }

    fn explain(&self, refused: &[(Candidate, Refusal)]) -> String {
        let mut text = String::from("no toolchain can build the device code\n");
        for (Candidate { name, .. }, reasons) in refused {
            let _ = writeln!(text, "  {name}");
            for reason in reasons {
                let _ = writeln!(text, "    - {reason}");
            }
        }
        let variables = format!("{TOOLCHAIN_VARIABLE} and {LLVM_VARIABLE}");
        let _ = write!(
            text,
            "install one of\n  \
             rustup: rustup toolchain install nightly --profile minimal --component rust-src,llvm-tools\n  \
             Debian: apt-get install rustc-web rust-web-src cargo-web && \
             apt-get install llvm-$(/usr/bin/rustc -vV | sed -n 's/^LLVM version: \\([0-9]*\\).*/\\1/p')\n\
             or name one with --toolchain and --llvm, or {variables}.\n\
             Rendering needs none of this: the PTX is part of the repository."
        );
        text
    }
}

/// A part of a toolchain that can be missing.
enum Component {
    Cargo,
    Sources,
    Llvm(u32),
}

impl Kind {
    /// rustup leaves the host out where that is clear: `nightly` is `nightly-x86_64-unknown-linux-gnu`, but not
    /// `nightly-2026-05-20-…`.
    fn is_called(&self, named: &str) -> bool {
        let Self::Rustup(name) = self else { return false };
        let host = name.strip_prefix(named).and_then(|rest| rest.strip_prefix('-'));
        name == named || host.is_some_and(|host| host.starts_with(|c: char| c.is_ascii_alphabetic()))
    }

    fn hint(&self, component: Component) -> String {
        match (self, component) {
            (Self::Rustup(name), Component::Cargo) => {
                format!(": rustup component add cargo --toolchain {name}")
            }
            (Self::Rustup(name), Component::Sources) => {
                format!(": rustup component add rust-src --toolchain {name}")
            }
            (Self::Rustup(name), Component::Llvm(_)) => {
                format!(": rustup component add llvm-tools --toolchain {name}")
            }
            (Self::System, Component::Cargo) => ": apt-get install cargo-web (or cargo)".into(),
            (Self::System, Component::Sources) => ": apt-get install rust-web-src (or rust-src)".into(),
            (Self::System, Component::Llvm(major)) => format!(": apt-get install llvm-{major}"),
            (Self::Named, _) => String::new(),
        }
    }
}

/// Output of `rustc -vV`.
#[derive(Debug, PartialEq, Eq)]
struct About {
    version: String,
    release: (u32, u32),
    host: String,
    llvm: u32,
}

impl About {
    fn parse(text: &str) -> Option<Self> {
        let field = |key: &str| text.lines().find_map(|line| line.strip_prefix(key)).map(str::trim);
        let mut release = field("release:")?.split('.').map_while(|part| part.parse().ok());
        let llvm = field("LLVM version:")?;
        // `1.96.0 (ac68faa20 2026-05-25) (built from a source tarball)`
        let version = field("rustc ")?;
        let version = version.split_once(") (").map_or(version.to_owned(), |(first, _)| format!("{first})"));
        Some(Self {
            version,
            release: (release.next()?, release.next()?),
            host: field("host:")?.to_owned(),
            llvm: llvm.split('.').next()?.parse().ok()?,
        })
    }
}

fn executable(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("{name}{}", env::consts::EXE_SUFFIX))
}

#[cfg(test)]
mod tests;
