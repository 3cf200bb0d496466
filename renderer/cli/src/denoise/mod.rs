//! `torrance denoise`: an image with less noise.

mod denoising;
mod noisy;

use std::path::PathBuf;

use crate::ExitCode;
use renderer::denoise::{DenoiseError, Denoised, DenoiserChoice, Denoising, Kind};
use serde::Serialize;
use torrance_image::film::write::WrittenFile;

use super::render::{ImageArgs, check_outputs_of, check_sizes};
use super::summary::{Outcome, report, wrote};
use super::{EXIT_CODES, Failure, Laps, Notes, clock, say, signals, values};
pub(super) use denoising::{DENOISERS, check_noise_is_known, denoised, find_denoising};

const EXAMPLES: &str = "\
Examples:
  torrance render scene.toml -o noisy.exr --spp 32 --aov albedo,N,halves
  torrance denoise noisy.exr -o clean.png
  torrance denoise noisy.exr -o both.exr --denoiser nfor

Open Image Denoise does it, version 1.4 or 2, where its library is found: where the system looks for libraries, or where --library or \
the environment variable TORRANCE_OIDN says. Elsewhere, torrance does it itself (NFOR), by the noise of the image: best with the layers \
halves, or else with stderr. Layers albedo and N help both a lot; they are denoised first.

An EXR file keeps the noisy image, which torrance compare and regress take, with all its layers, and gets the layer \"denoised\"; the \
attribute \"denoiser\" says by what. Files of other formats hold the denoised image.
";

/// Memory that denoising takes besides the channels of the file, bytes a pixel: images in and out, and the network's.
const BYTES: u64 = 600;

/// Remove noise from an image
#[derive(Debug, clap::Args)]
#[command(after_help = EXIT_CODES, after_long_help = format!("{EXAMPLES}\n{EXIT_CODES}"))]
pub(super) struct Args {
    /// Image of radiance: .exr, best with layers albedo and N; or .hdr or .pfm, of which NFOR does not know the noise
    #[arg(value_name = "IMAGE")]
    image: PathBuf,

    /// Image to write: .png, .exr, .hdr, .pfm, .jpg, .webp or .jxl; repeat it for several
    #[arg(short, long, value_name = "FILE", required = true)]
    output: Vec<PathBuf>,

    /// What denoises
    #[arg(long, value_name = "NAME", default_value = "auto", value_parser = values::choice(DENOISERS))]
    denoiser: DenoiserChoice,

    /// Where to denoise: auto, cpu or cuda; auto takes a GPU if there is one that the denoiser can use
    #[arg(long, value_name = "DEVICE", default_value = "auto", value_parser = values::choice(DEVICES), hide_default_value = true)]
    device: Wanted,

    /// Library of Open Image Denoise, or its folder
    #[arg(long, value_name = "PATH")]
    library: Option<PathBuf>,

    /// CPU threads to use [default: all]
    #[arg(long, value_name = "N", value_parser = values::threads, allow_negative_numbers = true)]
    threads: Option<usize>,

    #[command(flatten)]
    written: ImageArgs,

    /// Print warnings and errors only
    #[arg(short, long)]
    quiet: bool,

    /// Print a summary for programs to stdout, as one JSON object
    #[arg(long)]
    json: bool,
}

/// The device to take; `None` for the best. A type of its own, because clap takes `Option` for a missing option.
#[derive(Debug, Clone, Copy)]
struct Wanted(Option<Kind>);

const DEVICES: &[(&str, &str, Wanted)] = &[
    ("auto", "A GPU if there is one that the denoiser can use, or else the CPU", Wanted(None)),
    ("cpu", "The CPU", Wanted(Some(Kind::Cpu))),
    ("cuda", "The first NVIDIA GPU", Wanted(Some(Kind::Cuda))),
];

/// The object that `--json` prints. Fields are added, never renamed.
#[derive(Debug, Serialize)]
struct Summary {
    image: String,
    denoiser: String,
    width: u32,
    height: u32,
    missing_pixels: usize,
    seconds: Seconds,
    outputs: Vec<WrittenFile>,
    warnings: Vec<String>,
}

/// Where the time went.
#[derive(Debug, Serialize)]
struct Seconds {
    read: f64,
    start: f64,
    denoise: f64,
    write: f64,
    total: f64,
}

/// Denoises as `args` say.
pub(super) fn run(args: &Args) -> Result<ExitCode, Failure> {
    let mut laps = Laps::new();
    let mut notes = Notes::new(args.quiet);
    let targets = check_outputs_of(&args.image, &args.output)?;
    let name = args.image.display().to_string();
    let denoising = args.denoising()?;
    args.written.warn_of_ignored(&targets, &mut notes);
    signals::catch(args.quiet);
    renderer::limit_threads(args.threads);
    notes.display.phase(format!("reading {name}"));
    let noisy =
        noisy::read(&args.image).map_err(|reason| Failure::input(format_args!("\"{name}\": {reason}")))?;
    check_sizes(&targets, [noisy.file.width, noisy.file.height])?;
    args.written.exr.check_ids_of(&noisy.file)?;
    noisy::warn(&noisy, &name, &mut notes);
    let read = laps.lap();

    // A signal ends the program: there is nothing yet to be kept.
    let (clean, start) = match denoised(&denoising, &noisy, &mut notes, &|| false) {
        Err(error @ DenoiseError::UnknownNoise(_)) => {
            return Err(Failure::input(format_args!("\"{name}\": {error}")));
        }
        other => other.map_err(Failure::running)?,
    };
    let denoise = laps.lap();
    notes.display.phase("writing");
    let all_layers = || clean.added_to(noisy.file.clone());
    let Denoised { image: clean, by: denoiser } = &clean;
    let outputs = args.written.write_made(&targets, clean, &all_layers, &mut notes)?;
    let summary = Summary {
        image: name,
        denoiser: denoiser.clone(),
        width: clean.width,
        height: clean.height,
        missing_pixels: noisy.missing,
        seconds: Seconds { read, start, denoise: denoise - start, write: laps.lap(), total: laps.total() },
        outputs,
        warnings: notes.end(),
    };
    report(&summary, args.quiet, args.json)
}

impl Args {
    /// What denoises the image.
    fn denoising(&self) -> Result<Denoising, Failure> {
        let library = self.library.as_deref();
        if library.is_some() && self.denoiser == DenoiserChoice::Nfor {
            return Err(Failure::input("--library: NFOR takes no library; leave it out, or --denoiser nfor"));
        }
        let found = Denoising::find(self.denoiser, library, self.device.0, self.threads);
        found.map_err(Failure::input)
    }
}

impl Outcome for Summary {
    fn tell(&self) {
        let Self { width, height, denoiser, .. } = self;
        say(format_args!("{width}x{height} denoised in {} by {denoiser}", clock(self.seconds.denoise)));
        say(wrote(&self.outputs));
    }
}
