//! `cargo ptx`: builds, stamps and checks the GPU kernels. Users do not need it: the PTX is committed.

use std::env;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Parser;
use ptx_builder::artifact::{ARTIFACTS, Artifact, PRODUCT, find_root};
use ptx_builder::audit::Audit;
use ptx_builder::budget::{self, Budgets};
use ptx_builder::codegen::{self, linker, rustc};
use ptx_builder::dep_info;
use ptx_builder::ptxas::{ARCHITECTURES, Ptxas};
use ptx_builder::sass::sass;
use ptx_builder::stamp::{self, Sources, Stamp};
use ptx_builder::toolchain::{Search, Toolchain};
use ptx_builder::{Error, Result};

#[derive(Parser)]
#[command(name = "cargo ptx", version, about = about())]
struct Options {
    /// Build even if the PTX is up to date
    #[arg(long)]
    force: bool,
    #[arg(long, value_name = "NAME", help = format!("Build one alone: {}", names()))]
    #[arg(conflicts_with_all = ["check", "verify_stamp", "reproduce", "sass"])]
    only: Option<String>,
    /// Only say whether the PTX is up to date
    #[arg(long, conflicts_with_all = ["force", "check"])]
    verify_stamp: bool,
    /// Build again, and compare with the committed PTX instead of replacing it
    #[arg(long, conflicts_with_all = ["force", "check", "verify_stamp"])]
    reproduce: bool,
    /// Assemble the committed PTX for every supported GPU generation, and compare with the budgets
    #[arg(long, conflicts_with = "force")]
    check: bool,
    /// With --check: record what the kernels use as their budgets
    #[arg(long, requires = "check")]
    bless: bool,
    /// Print the machine code of a kernel
    #[arg(long, value_name = "KERNEL", conflicts_with_all = ["check", "force", "verify_stamp", "reproduce"])]
    sass: Option<String>,
    /// Print a whole PTX file
    #[arg(long, value_name = "NAME", conflicts_with_all = ["check", "force", "verify_stamp", "reproduce", "sass", "only"])]
    print: Option<String>,
    /// With --sass: the GPU generation
    #[arg(long, default_value = "sm_90", requires = "sass")]
    arch: String,
    /// The assembler
    #[arg(long, value_name = "PATH")]
    ptxas: Option<PathBuf>,
    /// A rustup toolchain, or a folder with bin/rustc, to build with
    #[arg(long, value_name = "NAME|PATH")]
    toolchain: Option<String>,
    /// The folder of llvm-link, opt and llc
    #[arg(long, value_name = "PATH")]
    llvm: Option<PathBuf>,
}

fn about() -> String {
    let files = ARTIFACTS.map(|artifact| artifact.path).join(", ");
    format!("Builds from the device code, where it has changed: {files}")
}

/// The files by their short names.
fn names() -> String {
    ARTIFACTS.map(|artifact| artifact.feature).join(", ")
}

fn main() -> ExitCode {
    let mut arguments = env::args_os();
    let name = arguments.next().map(PathBuf::from).unwrap_or_default();
    let result = match name.file_stem().and_then(|stem| stem.to_str()) {
        Some(linker::NAME) => linker::link(arguments).map(|()| 0),
        Some(rustc::WRAPPER) => rustc::wrap(arguments),
        _ => act(&Options::parse()).map(|()| 0),
    };
    match result {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(error.exit_code())
        }
    }
}

fn act(options: &Options) -> Result<()> {
    let root = repository()?;
    if options.verify_stamp {
        stamp::verify(&root, &ARTIFACTS)?;
        println!("the PTX is up to date");
        Ok(())
    } else if options.check {
        check(&root, options)
    } else if let Some(kernel) = &options.sass {
        print_sass(&root, kernel, options)
    } else if let Some(name) = &options.print {
        print!("{}", named("--print", name)?.read(&root)?);
        Ok(())
    } else if options.reproduce {
        reproduce(&root, options)
    } else {
        build(&root, options)
    }
}

/// `cargo run` says where this package is; otherwise it is looked for from the current folder.
fn repository() -> Result<PathBuf> {
    let start = match env::var_os("CARGO_MANIFEST_DIR") {
        Some(package) => package.into(),
        None => env::current_dir().map_err(|error| Error::Rejected(error.to_string()))?,
    };
    find_root(&start)
}

fn build(root: &Path, options: &Options) -> Result<()> {
    let wanted = match &options.only {
        Some(name) => vec![named("--only", name)?],
        None => ARTIFACTS.to_vec(),
    };
    let mut stale = Vec::new();
    for artifact in wanted {
        match stamp::check(root, &artifact) {
            Err(why) => println!("{} {why}", artifact.path),
            Ok(()) if options.force => {}
            Ok(()) => {
                println!("{} is up to date", artifact.path);
                continue;
            }
        }
        stale.push(artifact);
    }
    if stale.is_empty() {
        return Ok(());
    }
    let toolchain = toolchain(root, options)?;
    stale.iter().try_for_each(|artifact| build_one(root, artifact, &toolchain))
}

fn named(option: &str, name: &str) -> Result<Artifact> {
    let found = ARTIFACTS.into_iter().find(|artifact| artifact.feature == name);
    found.ok_or_else(|| Error::Rejected(format!("{option} takes one of {}", names())))
}

/// Prefers the toolchain that made the committed PTX.
fn toolchain(root: &Path, options: &Options) -> Result<Toolchain> {
    let present = PRODUCT.read(root).ok().and_then(|ptx| Some(Stamp::split(&ptx)?.0.toolchain));
    let search = Search::here(options.toolchain.clone(), options.llvm.clone());
    let toolchain = search.find(present.as_deref())?;
    println!("building with {}: {}", toolchain.name, toolchain.describe());
    Ok(toolchain)
}

fn build_one(root: &Path, artifact: &Artifact, toolchain: &Toolchain) -> Result<()> {
    let (ptx, sources) = stamped(root, artifact, toolchain)?;
    artifact.write(root, &ptx, &sources)?;
    let audit = Audit::new(&ptx);
    let (kernels, size) = (audit.kernels().count(), ptx.len().div_ceil(1000));
    println!("{}: {kernels} kernels, {size} kB, of {} sources", artifact.path, sources.names().count());
    print!("{}", audit.panic_report());
    Ok(())
}

/// Builds one file and audits it.
fn stamped(root: &Path, artifact: &Artifact, toolchain: &Toolchain) -> Result<(String, Sources)> {
    let before = dep_info::snapshot(root)?;
    let built = codegen::build(root, artifact, toolchain)?;
    let sources = Sources::read(root, &built.sources);
    // cargo may have written the lock file; anything else means that somebody was editing.
    let mut changed = before.differences(&sources).into_iter();
    let edited = |name: &String| built.sources.contains(name) && !name.ends_with("Cargo.lock");
    if let Some(name) = changed.find(edited) {
        return Err(Error::Rejected(format!("{name} changed during the build: run `cargo ptx` again")));
    }
    Audit::new(&built.ptx).verdict(artifact.path, artifact.product)?;
    let stamp = Stamp::new(&sources, toolchain.describe(), &built.ptx);
    Ok((format!("{stamp}{}", built.ptx), sources))
}

/// The same sources and toolchain give the same bytes; another toolchain must at least build.
fn reproduce(root: &Path, options: &Options) -> Result<()> {
    let toolchain = toolchain(root, options)?;
    for artifact in ARTIFACTS {
        let committed = artifact.read(root)?;
        let (built, _) = stamped(root, &artifact, &toolchain)?;
        let by = Stamp::split(&committed).map(|(stamp, _)| stamp.toolchain).unwrap_or_default();
        if by != toolchain.describe() {
            println!("{} builds; not compared, as it was made with {by}", artifact.path);
        } else if built == committed {
            println!("{} is reproduced", artifact.path);
        } else {
            return Err(Error::Rejected(format!("{} differs from what its sources make", artifact.path)));
        }
    }
    Ok(())
}

fn check(root: &Path, options: &Options) -> Result<()> {
    stamp::verify(root, &ARTIFACTS)?;
    let ptxas = Ptxas::find(options.ptxas.as_deref())?;
    println!("ptxas {}", ptxas.version);
    let mut measured = Budgets::default();
    for artifact in ARTIFACTS {
        let audit = Audit::new(&artifact.read(root)?);
        audit.verdict(artifact.path, artifact.product)?;
        let usage = assemble(root, &ptxas, &artifact)?;
        let names: Vec<_> = usage.iter().map(|(name, _)| *name).collect();
        let found = Budgets::measured(&ptxas.version, &audit, &usage)?;
        println!("{}: {} kernels for {}", artifact.path, found.kernels.len(), names.join(", "));
        if artifact.product {
            print!("{}{}", found.to_table(&names), audit.panic_report());
            measured.ptxas.clone_from(&found.ptxas);
            measured.kernels.extend(found.kernels);
        }
    }
    compare(root, measured, options.bless)
}

/// Resource usage of each kernel, for every architecture that this assembler knows.
fn assemble(
    root: &Path,
    ptxas: &Ptxas,
    artifact: &Artifact,
) -> Result<Vec<(&'static str, ptx_builder::ptxas::Kernels)>> {
    let folder = temporary()?;
    let all = ptxas.assemble_all(&artifact.unpack(root, folder.path())?, &ARCHITECTURES)?;
    let mut usage = Vec::new();
    for (architecture, kernels) in ARCHITECTURES.into_iter().zip(all) {
        match kernels {
            Some(kernels) => usage.push((architecture, kernels)),
            None => println!("NOT CHECKED: ptxas {} does not know {architecture}", ptxas.version),
        }
    }
    if usage.is_empty() {
        return Err(Error::Rejected(format!("ptxas {} knows no supported architecture", ptxas.version)));
    }
    Ok(usage)
}

fn compare(root: &Path, mut measured: Budgets, bless: bool) -> Result<()> {
    let recorded = Budgets::read(root)?;
    if bless {
        measured.keep_unmeasured(&recorded);
        measured.write(root)?;
        println!("recorded in {}", budget::FILE);
        return Ok(());
    }
    let violations = recorded.violations(&measured);
    if violations.is_empty() {
        let slack = if recorded.has_slack(&measured) { " (some use less: --bless records it)" } else { "" };
        println!("all kernels are within their budgets{slack}");
        return Ok(());
    }
    let other = (recorded.ptxas != measured.ptxas && !recorded.ptxas.is_empty()).then(|| {
        format!("\n  budgets were recorded with ptxas {}, this is {}", recorded.ptxas, measured.ptxas)
    });
    Err(Error::Rejected(format!(
        "over budget:\n  {}{}\n  if that is meant, record it: cargo ptx --check --bless",
        violations.join("\n  "),
        other.unwrap_or_default()
    )))
}

fn temporary() -> Result<tempfile::TempDir> {
    tempfile::tempdir().map_err(Error::io("create", &env::temp_dir()))
}

fn print_sass(root: &Path, kernel: &str, options: &Options) -> Result<()> {
    let ptxas = Ptxas::find(options.ptxas.as_deref())?;
    let has = |artifact: &&Artifact| {
        artifact.read(root).is_ok_and(|ptx| Audit::new(&ptx).kernels().any(|name| name == kernel))
    };
    let artifact = ARTIFACTS.iter().find(has).unwrap_or(&PRODUCT);
    let folder = temporary()?;
    print!("{}", sass(&ptxas, &artifact.unpack(root, folder.path())?, kernel, &options.arch)?);
    Ok(())
}
