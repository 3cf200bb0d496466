//! `torrance denoise`: an image with less noise.

use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::ExitCode;
use serde::Serialize;
use torrance_image::film::encode::{Provenance, SOFTWARE};
use torrance_image::film::image::is_finite;
use torrance_image::film::write::WrittenFile;
use torrance_image::film::{Extent, Image, Layers, read_layers};
use torrance_oidn::{Denoiser, Error, Features, Kind, Library};

use super::render::{ImageArgs, check_outputs_of, unwritten, write};
use super::summary::wrote;
use super::{EXIT_CODES, Failure, INTERRUPTED, Laps, Notes, clock, count, print_json, say, signals, values};

const EXAMPLES: &str = "\
Examples:
  torrance render scene.toml -o noisy.exr --spp 32 --aov stderr,samples,albedo,N
  torrance denoise noisy.exr -o clean.png
  torrance denoise noisy.exr -o both.exr

Open Image Denoise does it, version 1.4 or 2, whose library must be where the system looks for libraries, or where --library or the \
environment variable TORRANCE_OIDN says. Layers albedo and N help a lot; they are denoised first.

An EXR file keeps the noisy image, which torrance compare and regress take, with all its layers, and gets the layer \"denoised\"; the \
attribute \"denoiser\" says by what. Files of other formats hold the denoised image.
";

/// The layer of EXR files that holds the denoised image, and the attribute that says what has denoised it.
const LAYER: &str = "denoised";
const DENOISER: &str = "denoiser";

/// Memory that denoising takes besides the channels of the file, bytes a pixel: images in and out, and the network's.
const BYTES: u64 = 600;

/// Remove noise from an image, by Open Image Denoise
#[derive(Debug, clap::Args)]
#[command(after_help = EXIT_CODES, after_long_help = format!("{EXAMPLES}\n{EXIT_CODES}"))]
pub(super) struct Args {
    /// Image of radiance: .exr, best with layers albedo and N; .hdr or .pfm
    #[arg(value_name = "IMAGE")]
    image: PathBuf,

    /// Image to write: .png, .exr, .hdr, .pfm, .jpg, .webp or .jxl; repeat it for several
    #[arg(short, long, value_name = "FILE", required = true)]
    output: Vec<PathBuf>,

    /// Where to denoise: auto, cpu or cuda; auto takes a GPU if the library can
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
    ("auto", "A GPU if the library can, or else the CPU", Wanted(None)),
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
    let denoising = Denoising::find(args.library.as_deref(), args.device.0, args.threads);
    let denoising = denoising.map_err(Failure::input)?;
    args.written.warn_of_ignored(&targets, &mut notes);
    signals::catch(args.quiet);
    renderer::limit_threads(args.threads);
    notes.display.phase(format!("reading {name}"));
    let noisy = Noisy::read(args).map_err(|reason| Failure::input(format_args!("\"{name}\": {reason}")))?;
    noisy.warn(&name, &mut notes);
    let read = laps.lap();

    let mut denoiser = denoising.denoiser().map_err(Failure::input)?;
    let start = laps.lap();
    signals::begin_render();
    let clean = match noisy.denoised(&mut denoiser, &mut notes, &signals::is_stopping) {
        Err(Error::Interrupted) => return Ok(ExitCode::from(INTERRUPTED)),
        other => other.map_err(Failure::running)?,
    };
    let denoise = laps.lap();
    notes.display.phase("writing");
    let all_layers = || clean.added_to(noisy.file.clone());
    let Denoised { image: clean, by: denoiser } = &clean;
    let about = Provenance { software: SOFTWARE.into(), ..Provenance::default() };
    let settings = args.written.settings_of(clean, false, &targets, &mut notes);
    let (outputs, failures) = write(&targets, clean, &all_layers, &settings, &about, &mut notes);
    unwritten(&failures, None)?;
    let summary = Summary {
        image: name,
        denoiser: denoiser.clone(),
        width: clean.width,
        height: clean.height,
        missing_pixels: noisy.missing,
        seconds: Seconds { read, start, denoise, write: laps.lap(), total: laps.total() },
        outputs,
        warnings: notes.end(),
    };
    if !args.quiet {
        summary.tell();
    }
    if args.json {
        print_json(&summary)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// What denoises images, and where.
pub(super) struct Denoising {
    library: Library,
    /// The device that is wanted; `None` for the best.
    device: Option<Kind>,
    threads: Option<usize>,
}

impl Denoising {
    /// The library at a path, or else where the system looks for it.
    pub(super) fn find(
        library: Option<&Path>,
        device: Option<Kind>,
        threads: Option<usize>,
    ) -> Result<Self, Error> {
        Ok(Self { library: Library::find(library)?, device, threads })
    }

    /// On the device that is wanted, or the best that there is.
    fn denoiser(&self) -> Result<Denoiser<'_>, Error> {
        let of = |kind| self.library.denoiser(kind, self.threads);
        match self.device {
            Some(kind) => of(kind),
            None => of(Kind::Cuda).or_else(|_| of(Kind::Cpu)),
        }
    }

    /// The image of these layers without its noise, unless somebody `wants_end` on the way.
    pub(super) fn denoised(
        &self,
        file: Layers,
        notes: &mut Notes,
        wants_end: &dyn Fn() -> bool,
    ) -> Result<Denoised, Error> {
        notes.display.phase("preparing to denoise");
        Noisy::new(file).denoised(&mut self.denoiser()?, notes, wants_end)
    }
}

/// An image without its noise.
pub(super) struct Denoised {
    pub(super) image: Image,
    /// What has denoised it, in words.
    pub(super) by: String,
}

impl Denoised {
    /// Adds it to the layers of the noisy image.
    pub(super) fn added_to(&self, mut layers: Layers) -> Layers {
        layers.channels.retain(|channel| channel.name.split('.').next() != Some(LAYER));
        layers.push_floats(LAYER, ["R", "G", "B"], &self.image.pixels);
        layers.attributes.insert(DENOISER.into(), self.by.clone());
        layers
    }
}

/// An image to be denoised.
struct Noisy {
    file: Layers,
    /// Without the pixels that are missing.
    color: Vec<[f32; 3]>,
    /// Pixels that are NaN or infinite, which are black here.
    missing: usize,
    albedo: Option<Vec<[f32; 3]>>,
    normal: Option<Vec<[f32; 3]>>,
}

impl Noisy {
    /// Reads an image. The error is the end of a sentence about the file.
    fn read(args: &Args) -> Result<Self, String> {
        let path = &args.image;
        let extent = Extent::of(path).map_err(|e| e.to_string())?;
        extent.check_memory("denoising it", BYTES + extent.bytes_per_pixel).map_err(|e| e.to_string())?;
        let file = read_layers(path).map_err(|e| e.to_string())?;
        match file.rgb("") {
            Some(_) => Ok(Self::new(file)),
            None => Err(file.no_image()),
        }
    }

    /// Of layers that have an image.
    fn new(file: Layers) -> Self {
        let mut color = file.rgb("").unwrap_or_default();
        let missing = color.iter().filter(|pixel| !is_finite(pixel)).count();
        color.iter_mut().filter(|pixel| !is_finite(pixel)).for_each(|pixel| *pixel = [0.0; 3]);
        let feature = |layer| {
            let values: Vec<_> = file.rgb(layer)?;
            Some(values.into_iter().map(|v| if is_finite(&v) { v } else { [0.0; 3] }).collect())
        };
        let (albedo, normal) = (feature("albedo"), feature("N"));
        Self { color, missing, albedo, normal, file }
    }

    fn warn(&self, name: &str, notes: &mut Notes) {
        if self.missing > 0 {
            let pixels = count(self.missing as u64, "pixel");
            notes.warn(format!("\"{name}\": {pixels} NaN or infinite, taken as black"));
        }
        if self.file.attributes.contains_key(DENOISER) {
            notes.warn(format!("\"{name}\": has a denoised image already, which is replaced"));
        }
        if self.albedo.is_none() {
            notes.warn(format!(
                "\"{name}\": without a layer of albedo, detail is lost; torrance render --aov albedo,N writes one"
            ));
        }
    }

    fn denoised(
        &self,
        denoiser: &mut Denoiser<'_>,
        notes: &mut Notes,
        wants_end: &dyn Fn() -> bool,
    ) -> Result<Denoised, Error> {
        let begin = Instant::now();
        notes.display.begin_steps();
        let mut go_on = |part: f64| {
            notes.display.step(part, begin.elapsed(), "denoising");
            !wants_end()
        };
        let [width, height] = [self.file.width, self.file.height];
        let features = Features { albedo: self.albedo.as_deref(), normal: self.normal.as_deref() };
        let size = [width, height].map(|n| n as usize);
        let pixels = denoiser.denoise(size, &self.color, &features, &mut go_on)?;
        Ok(Denoised { image: Image { width, height, pixels }, by: self.denoiser(denoiser) })
    }

    /// What has denoised it, in words.
    fn denoiser(&self, denoiser: &Denoiser<'_>) -> String {
        let features = match (&self.albedo, &self.normal) {
            (None, _) => "",
            (Some(_), None) => ", by albedo",
            (Some(_), Some(_)) => ", by albedo and normals",
        };
        format!("Open Image Denoise {} on {}{features}", denoiser.version(), denoiser.kind())
    }
}

impl Summary {
    /// Reports the outcome to people.
    fn tell(&self) {
        let Self { width, height, denoiser, .. } = self;
        say(format_args!("{width}x{height} denoised in {} by {denoiser}", clock(self.seconds.denoise)));
        say(wrote(&self.outputs));
    }
}
