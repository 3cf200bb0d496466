//! `torrance defocus`: blur after rendering.

use crate::ExitCode;
use std::path::PathBuf;
use std::time::Instant;

use renderer::DeviceChoice;
use renderer::defocus::{BYTES_PER_PIXEL, Blur, Defocused, Shape};
use serde::Serialize;
use torrance_image::film::write::WrittenFile;
use torrance_scene::limits::{available_memory, check_memory};

use super::render::{ImageArgs, check_outputs_of, check_sizes};
use super::sharp::Sharp;
use super::summary::{Outcome, report, wrote};
use super::{EXIT_CODES, Failure, Laps, Notes, clock, count, device, say, values};

const EXAMPLES: &str = "\
Examples:
  torrance render scene.toml -o sharp.exr --aov Z
  torrance defocus sharp.exr -o image.png --lens-radius 0.05 --focus-distance 3.5
  torrance defocus sharp.exr -o image.exr --lens-radius 0.05 --focus-at 320,180
  torrance defocus other.exr -o image.png --lens-radius 0.05 --focus-distance 3.5 --fov 40 --depth Depth
  torrance defocus sharp.exr -o image.png --radius 12 --shape box

The first blurs as the thin lens of a scene does: lens.radius and lens.focus_distance there are --lens-radius and \
--focus-distance here. Depths are distances along the camera's axis, in metres; what is 1e10 or infinitely far is nothing. \
The field of view comes from the file if torrance wrote it, or else from --fov. What the image does not show, behind \
what is near and out of focus, is guessed from what is beside it.

EXR files keep their other layers as they are, of the sharp image, but for stderr, samples, emission, direct, indirect, \
light groups and Cryptomattes, which would not be true of the blurred one. Pixels that are NaN or infinite, or have no depth, are left out.
";

/// The options of [`LensArgs`], which blur by a lens.
const OF_LENS: [&str; 5] = ["lens_radius", "focus_distance", "focus_at", "fov", "depth"];

/// Blur an image as a lens would have, by its depths, or evenly
#[derive(Debug, clap::Args)]
#[command(after_help = EXIT_CODES, after_long_help = format!("{EXAMPLES}\n{EXIT_CODES}"))]
pub(super) struct Args {
    /// Image: .exr with a layer of depths; with --radius .exr, .hdr, .pfm or .png
    #[arg(value_name = "IMAGE")]
    image: PathBuf,

    /// Image to write: .png, .exr, .hdr, .pfm, .jpg, .webp or .jxl; repeat it for several
    #[arg(short, long, value_name = "FILE", required = true)]
    output: Vec<PathBuf>,

    #[command(flatten)]
    pub(super) lens: LensArgs,

    /// Blur everything evenly, by a shape that reaches so many pixels
    #[arg(long, value_name = "PIXELS", value_parser = values::blur_radius, allow_negative_numbers = true,
          conflicts_with_all = OF_LENS)]
    radius: Option<f32>,

    /// The shape for --radius [default: disc]
    #[arg(long, value_name = "NAME", requires = "radius", value_parser = values::named(values::SHAPES),
          conflicts_with_all = OF_LENS)]
    shape: Option<Shape>,

    /// Where to blur: auto, cpu, cuda or cuda:N; auto takes the first GPU, or else the CPU
    #[arg(long, value_name = "DEVICE", default_value = "auto", value_parser = values::written(values::device), hide_default_value = true)]
    device: values::Written<DeviceChoice>,

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

/// The lens.
#[derive(Debug, clap::Args)]
pub(super) struct LensArgs {
    /// Radius of the lens's aperture, metres
    #[arg(long, value_name = "METRES", value_parser = values::metres, allow_negative_numbers = true)]
    pub(super) lens_radius: Option<f32>,

    /// Distance along the camera's axis of what is in focus, metres
    #[arg(long, value_name = "METRES", value_parser = values::metres, allow_negative_numbers = true,
          conflicts_with = "focus_at")]
    pub(super) focus_distance: Option<f32>,

    /// Focus on what is in this pixel: its column and row, from 0 at the top left
    #[arg(long, value_name = "X,Y", value_parser = values::pixel)]
    pub(super) focus_at: Option<(u32, u32)>,

    /// Vertical field of view, degrees [default: what the file says]
    #[arg(long, value_name = "DEGREES", value_parser = values::fov, allow_negative_numbers = true)]
    pub(super) fov: Option<f32>,

    /// Channel of depths [default: Z]
    #[arg(long, value_name = "NAME")]
    pub(super) depth: Option<String>,
}

/// The object that `--json` prints. Fields are added, never renamed.
#[derive(Debug, Serialize)]
struct Summary {
    image: String,
    device: String,
    width: u32,
    height: u32,
    /// Metres; not of even blur.
    focus_distance: Option<f32>,
    /// Largest radii of circles of confusion before what is in focus, and behind it, pixels.
    radii: [f32; 2],
    layers: usize,
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
    blur: f64,
    write: f64,
    total: f64,
}

/// Blurs as `args` say.
pub(super) fn run(args: &Args) -> Result<ExitCode, Failure> {
    let mut laps = Laps::new();
    let mut notes = Notes::new(args.quiet);
    let targets = check_outputs_of(&args.image, &args.output)?;
    let name = args.image.display().to_string();
    let is_even = args.radius.is_some();
    let mut found = device::find(&args.device)?;
    args.written.warn_of_ignored(&targets, &mut notes);
    renderer::limit_threads(args.threads);
    notes.display.phase(format!("reading {name}"));
    let sharp = Sharp::read(&args.image, (!is_even).then_some(&args.lens), &mut notes)?;
    let (width, height) = (sharp.image.width, sharp.image.height);
    check_memory(width, height, BYTES_PER_PIXEL, available_memory())
        .map_err(|e| Failure::input(format_args!("\"{name}\": {e}")))?;
    check_sizes(&targets, [width, height])?;
    let read = laps.lap();

    notes.display.phase(format!("starting {}", found.name()));
    let mut machine = found.start(args.threads)?;
    if let Some(surprise) = found.surprise {
        notes.warn(format!("blurring on the CPU: {surprise}"));
    }
    let start = laps.lap();
    let blur = match &sharp.focus {
        Some((lens, depths)) => Blur::Lens { lens: *lens, depths },
        None => Blur::Even { radius: args.radius.unwrap_or_default(), shape: args.shape.unwrap_or_default() },
    };
    let begin = Instant::now();
    notes.display.begin_steps();
    let mut observe = |done| notes.display.step(done, begin.elapsed(), "blurring");
    let blurred = machine.defocus(&sharp.image, blur, &mut observe).map_err(|e| machine.failed(e))?;
    if blurred.missing > 0 {
        let pixels = count(blurred.missing as u64, "pixel");
        let why = if is_even { "NaN or infinite" } else { "NaN or infinite, or without a depth" };
        notes.warn(format!("\"{name}\": {pixels} {why}, left out"));
    }
    let blur = laps.lap();
    notes.display.phase("writing");
    let Defocused { image, missing, layers, radii } = blurred;
    let all_layers = || sharp.layers_of(&image);
    let outputs = args.written.write_made(&targets, &image, &all_layers, &mut notes)?;
    let summary = Summary {
        image: name,
        device: machine.name(),
        width,
        height,
        focus_distance: sharp.focus.as_ref().map(|(lens, _)| lens.focus_distance),
        radii,
        layers,
        missing_pixels: missing,
        seconds: Seconds { read, start, blur, write: laps.lap(), total: laps.total() },
        outputs,
        warnings: notes.end(),
    };
    report(&summary, args.quiet, args.json)
}

impl Outcome for Summary {
    fn tell(&self) {
        let Self { width, height, radii: [near, far], device, .. } = self;
        let layers = count(self.layers as u64, "layer");
        let time = clock(self.seconds.blur);
        let of_what = match self.focus_distance {
            Some(distance) => {
                format!(
                    "in focus at {distance} m, circles up to {near:.1} pixels before it and {far:.1} behind"
                )
            }
            None => format!("radius {far} pixels"),
        };
        say(format_args!("{width}x{height}, {of_what}, {layers} in {time} on {device}"));
        say(wrote(&self.outputs));
    }
}
