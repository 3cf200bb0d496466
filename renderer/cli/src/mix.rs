//! `torrance mix`: an image with other powers of its lights.

use std::path::PathBuf;

use crate::ExitCode;
use serde::Serialize;
use torrance_image::film::mix::{Gains, Mixed, groups, mix};
use torrance_image::film::write::WrittenFile;
use torrance_image::film::{Extent, read_layers};

use super::render::{ImageArgs, check_outputs_of, check_sizes};
use super::summary::{Outcome, report, wrote};
use super::{EXIT_CODES, Failure, Notes, say, values};

const EXAMPLES: &str = "\
Examples:
  torrance render scene.toml -o image.exr --aov \"light:*\"
  torrance mix image.exr -o evening.png --gain sun=0.2,0.1,0.05 --gain lamp=3
  torrance mix image.exr -o darker.exr --stops sky=-1.5

A gain is a factor of the light of a group, or three, of red, green and blue; stops are powers of 2. Groups that are not named stay as \
they are. The image is the one that a render has with lights of those powers, but for noise.

EXR files hold the groups as they are mixed, and what remains true of the image that was there. Its noise does if all groups have the \
same gain.
";

/// Memory that mixing takes besides the channels of the file, bytes a pixel: sums of the groups.
const BYTES: u64 = 72;

/// How far groups may miss their image, relatively, before that is worth a warning: rounding to half floats leaves less.
const MOST_MISSING: f64 = 2e-3;

/// Give lights other powers, after rendering
#[derive(Debug, clap::Args)]
#[command(after_help = EXIT_CODES, after_long_help = format!("{EXAMPLES}\n{EXIT_CODES}"))]
pub(super) struct Args {
    /// Image: .exr with light groups
    #[arg(value_name = "IMAGE")]
    image: PathBuf,

    /// Image to write: .png, .exr, .hdr, .pfm, .jpg, .webp or .jxl; repeat it for several
    #[arg(short, long, value_name = "FILE", required = true)]
    output: Vec<PathBuf>,

    /// Factor of a group's light, or three of red, green and blue; repeat it for several groups
    #[arg(long, value_name = "GROUP=FACTOR", value_parser = values::gain, required_unless_present = "stops")]
    gain: Vec<values::Gain>,

    /// As --gain, in stops: +1 is twice the light
    #[arg(long, value_name = "GROUP=STOPS", value_parser = values::stops)]
    stops: Vec<values::Gain>,

    #[command(flatten)]
    written: ImageArgs,

    /// Print warnings and errors only
    #[arg(short, long)]
    quiet: bool,

    /// Print a summary for programs to stdout, as one JSON object
    #[arg(long)]
    json: bool,
}

/// The object that `--json` prints. Fields are added, never renamed.
#[derive(Debug, Serialize)]
struct Summary {
    image: String,
    width: u32,
    height: u32,
    /// Factors of all groups.
    gains: Gains,
    /// Layers that are not true of the mixed image, and were left out.
    dropped_layers: Vec<String>,
    outputs: Vec<WrittenFile>,
    warnings: Vec<String>,
}

/// Mixes as `args` say.
pub(super) fn run(args: &Args) -> Result<ExitCode, Failure> {
    let mut notes = Notes::new(args.quiet);
    let targets = check_outputs_of(&args.image, &args.output)?;
    let gains = args.gains()?;
    args.written.warn_of_ignored(&targets, &mut notes);
    let name = args.image.display().to_string();
    let wrong = |reason: String| Failure::input(format_args!("\"{name}\": {reason}"));
    notes.display.phase(format!("reading {name}"));
    let extent = Extent::of(&args.image).map_err(|e| wrong(e.to_string()))?;
    extent.check_memory("mixing it", BYTES + 2 * extent.bytes_per_pixel).map_err(|e| wrong(e.to_string()))?;
    check_sizes(&targets, [extent.width, extent.height])?;
    let file = read_layers(&args.image).map_err(|e| wrong(e.to_string()))?;
    args.written.exr.check_ids_of(&file)?;
    let Mixed { layers, dropped, missing } = mix(&file, &gains).map_err(|e| wrong(e.to_string()))?;
    if missing > MOST_MISSING {
        let percent = 100.0 * missing;
        notes.warn(format!(
            "\"{name}\": its light groups do not add up to it: {percent:.2} % of it is missing or too much"
        ));
    }
    let image = layers.image().ok_or_else(|| wrong(layers.no_image()))?;
    let named = |group: String| (gains.get(&group).copied().unwrap_or([1.0; 3]), group);
    let all = groups(&file).into_iter().map(named).map(|(gain, group)| (group, gain)).collect();
    drop(file);

    notes.display.phase("writing");
    let outputs = args.written.write_made(&targets, &image, &|| layers.clone(), &mut notes)?;
    let (width, height) = (image.width, image.height);
    let summary = Summary {
        image: name,
        width,
        height,
        gains: all,
        dropped_layers: dropped,
        outputs,
        warnings: notes.end(),
    };
    report(&summary, args.quiet, args.json)
}

impl Args {
    /// All gains; each group has at most one.
    fn gains(&self) -> Result<Gains, Failure> {
        let mut gains = Gains::new();
        for values::Gain { group, factors } in self.gain.iter().chain(&self.stops) {
            if gains.insert(group.clone(), *factors).is_some() {
                return Err(Failure::input(format_args!("the light group {group:?} has two gains")));
            }
        }
        Ok(gains)
    }
}

impl Outcome for Summary {
    fn tell(&self) {
        if !self.dropped_layers.is_empty() {
            say(format_args!("left out, as not true of the mixed image: {}", self.dropped_layers.join(", ")));
        }
        say(wrote(&self.outputs));
    }
}
