//! `torrance precompile`: machine code for GPUs that are not here.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use rayon::prelude::*;
use renderer::render::stages_on_gpus;
use torrance_gpu::backend::cuda::{SHIPPED, kernel_text, primitive_names, ship};
use torrance_scene::Overrides;
use torrance_text::human_bytes;

use super::{EXIT_CODES, ExitCode, Failure, INTERRUPTED, Notes, count, print, signals, source};

const EXAMPLES: &str = "\
Examples:
  torrance precompile scenes/*.toml -o target/release/kernels
  torrance precompile scene.toml --arch sm_86,sm_89 --ptxas /usr/local/cuda/bin/ptxas";

const MEANING: &str = "\
Where a folder `kernels` with such files is beside the program, renders of these scenes, and of all others with the same features, \
start at once on a GPU that has never seen them. Other scenes are compiled by the driver, as ever. Code for an architecture also \
runs on later ones of the same major number, as that for sm_86 on sm_89.";

/// Compile the kernels of scenes for GPUs that are not here, by NVIDIA's ptxas
#[derive(Debug, clap::Args)]
#[command(after_help = EXIT_CODES, after_long_help = format!("{EXAMPLES}\n\n{MEANING}\n\n{EXIT_CODES}"))]
pub(super) struct Args {
    /// Scene files
    #[arg(value_name = "SCENE", required = true)]
    scenes: Vec<PathBuf>,

    /// Architectures of GPUs
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = architecture,
          default_value = "sm_75,sm_80,sm_86,sm_89,sm_90,sm_100,sm_120")]
    arch: Vec<(u32, u32)>,

    /// The assembler of the CUDA toolkit
    #[arg(long, value_name = "PATH", default_value = "ptxas")]
    ptxas: PathBuf,

    /// Where the machine code goes
    #[arg(short, long, value_name = "FOLDER", default_value = SHIPPED)]
    output: PathBuf,

    /// Show no progress
    #[arg(short, long)]
    quiet: bool,
}

/// An architecture, as in `sm_86`.
fn architecture(text: &str) -> Result<(u32, u32), String> {
    let number: Option<u32> = text.strip_prefix("sm_").and_then(|digits| digits.parse().ok());
    let number = number.filter(|number| (75..1000).contains(number));
    number
        .map(|number| (number / 10, number % 10))
        .ok_or_else(|| "expected sm_75 or newer, as in sm_86".to_owned())
}

/// Compiles what `args` say.
pub(super) fn run(args: &Args) -> Result<ExitCode, Failure> {
    signals::catch(args.quiet);
    let mut notes = Notes::new(args.quiet);
    // By their texts, which are the same for many scenes.
    let mut kernels = BTreeMap::new();
    for path in &args.scenes {
        notes.display.phase(format!("reading {}", path.display()));
        let scene = source::build(path, Overrides::default(), &mut notes)?;
        let stages = stages_on_gpus(&scene).map_err(Failure::running)?;
        kernels.extend(
            stages.into_iter().filter_map(|(name, features)| Some((kernel_text(name, features)?, name))),
        );
    }
    let none = device::features::Features::NONE;
    kernels.extend(primitive_names().filter_map(|name| Some((kernel_text(name, none)?, name))));
    let jobs: Vec<_> =
        kernels.iter().flat_map(|kernel| args.arch.iter().map(move |arch| (kernel, *arch))).collect();
    signals::begin_render();
    notes.display.begin_steps();
    let (done, bytes) = (AtomicUsize::new(0), AtomicU64::new(0));
    let folder =
        tempfile::tempdir().map_err(|e| Failure::running(format_args!("a temporary folder: {e}")))?;
    let compiled = jobs.par_iter().enumerate().try_for_each(|(number, ((text, name), arch))| {
        if signals::is_stopping() {
            return Ok(());
        }
        let code = assemble(&args.ptxas, text, *arch, &folder.path().join(number.to_string()));
        let code = code.map_err(|e| format!("{name} for sm_{}{}: {e}", arch.0, arch.1))?;
        let shipped = ship(&args.output, *arch, text, &code);
        bytes.fetch_add(shipped.map_err(|e| format!("{}: {e}", args.output.display()))?, Ordering::Relaxed);
        done.fetch_add(1, Ordering::Relaxed);
        Ok::<_, String>(())
    });
    compiled.map_err(Failure::running)?;
    notes.end();
    let done = done.into_inner();
    print(format_args!(
        "{} for {}: {} in {}\n",
        count(kernels.len() as u64, "kernel"),
        count(args.arch.len() as u64, "architecture"),
        human_bytes(bytes.into_inner().into()),
        args.output.display()
    ))?;
    Ok(if done < jobs.len() { ExitCode::from(INTERRUPTED) } else { ExitCode::SUCCESS })
}

/// Machine code of a text, by way of two files beside `path`.
fn assemble(ptxas: &Path, text: &str, (major, minor): (u32, u32), path: &Path) -> Result<Vec<u8>, String> {
    let [from, to] = ["ptx", "cubin"].map(|extension| path.with_extension(extension));
    std::fs::write(&from, text).map_err(|e| e.to_string())?;
    let mut command = Command::new(ptxas);
    command.arg(format!("-arch=sm_{major}{minor}")).arg(&from).arg("-o").arg(&to);
    let output = command.output().map_err(|e| {
        format!(
            "{} cannot be run: {e}; it is part of the CUDA toolkit, and --ptxas says where",
            ptxas.display()
        )
    })?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).trim().to_owned());
    }
    std::fs::read(&to).map_err(|e| format!("{} has written nothing: {e}", ptxas.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn architectures_have_numbers() {
        assert_eq!([architecture("sm_86"), architecture("sm_120")], [Ok((8, 6)), Ok((12, 0))]);
        assert!(["86", "sm_", "sm_8x", "sm_61", "compute_80"].iter().all(|text| architecture(text).is_err()));
    }
}
