//! `torrance merge`: several images of one scene into one.

use std::collections::HashSet;
use std::fmt::Display;
use std::path::PathBuf;
use std::process::ExitCode;

use serde::Serialize;
use torrance_image::film::encode::{ExrDepth, SOFTWARE, encode_layers};
use torrance_image::film::layers::SAMPLES;
use torrance_image::film::merge::{Merge, MergedImage, Weight};
use torrance_image::film::write::Target;
use torrance_image::film::{Extent, Format, Layers, read_layers};

use super::{EXIT_CODES, Failure, Notes, print_json, say, values};

const EXAMPLES: &str = "\
Examples:
  torrance merge a.exr b.exr c.exr -o abc.exr
  torrance merge --passes pass-*.exr -o reference.exr

Renders of one scene with different seeds become the render that took all their samples, with its mean, its \
standard errors and its numbers of samples. With --passes the files may come from any renderer: each counts as one pass \
that is as good as the others, the standard errors are those of the passes' mean, and the number of samples is that of \
the passes.
";

/// Merge renders of one scene into one, with its standard errors
#[derive(Debug, clap::Args)]
#[command(after_help = EXIT_CODES, after_long_help = format!("{EXAMPLES}\n{EXIT_CODES}"))]
pub(super) struct Args {
    /// Images: .exr with layers stderr and samples; with --passes .exr, .hdr or .pfm
    #[arg(value_name = "IMAGE", required = true, num_args = 2..)]
    images: Vec<PathBuf>,

    /// Image to write, .exr
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,

    /// Take each image as one pass, and the standard errors from how they differ
    #[arg(long)]
    passes: bool,

    /// Type of colours. Half rounds to 11 bits, which may exceed the noise
    #[arg(long, value_name = "TYPE", default_value = "float", value_parser = values::choice(values::EXR_DEPTHS))]
    exr: ExrDepth,

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
    output: String,
    images: usize,
    width: u32,
    height: u32,
    /// Fewest and most samples in a pixel, or passes.
    samples: [f64; 2],
    warnings: Vec<String>,
}

/// Merges as `args` say.
pub(super) fn run(args: &Args) -> Result<ExitCode, Failure> {
    let mut notes = Notes::new(args.quiet);
    let target = Target::check(&args.output).map_err(Failure::input)?;
    let output = args.output.display().to_string();
    if target.format != Format::Exr {
        return Err(Failure::output(&args.output, "only EXR files hold standard errors; use .exr"));
    }
    let MergedImage { layers, warnings } = merge(args, &notes)?;
    for warning in warnings {
        notes.warn(warning);
    }
    let software = ("software".to_owned(), SOFTWARE.to_owned());
    let layers = layers.saying([software]);
    let (width, height, samples) = (layers.width, layers.height, extent(&layers));
    notes.display.phase("writing");
    let encoded = encode_layers(layers, args.exr).map(|encoded| encoded.bytes);
    target.destination.write_encoded(encoded).map_err(Failure::running)?;
    let images = args.images.len();
    let warnings = notes.end();
    if !args.quiet {
        let [least, most] = samples;
        let unit = if args.passes { "passes" } else { "samples a pixel" };
        let range = if least == most { least.to_string() } else { format!("{least} to {most}") };
        say(format_args!("{width}x{height}, {images} images, {range} {unit}"));
        say(format_args!("wrote {output}"));
    }
    if args.json {
        print_json(&Summary { output, images, width, height, samples, warnings })?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Reads and merges the images, one at a time.
fn merge(args: &Args, notes: &Notes) -> Result<MergedImage, Failure> {
    let weight = if args.passes { Weight::Pass } else { Weight::Samples };
    let mut merge: Option<Merge> = None;
    let mut files = HashSet::new();
    for path in &args.images {
        let name = format!("\"{}\"", path.display());
        let file = std::fs::canonicalize(path).unwrap_or_else(|_| path.clone());
        if !files.insert(file) {
            return Err(Failure::input(format_args!("{name}: given twice")));
        }
        notes.display.phase(format!("reading {name}"));
        if Format::from_path(path) == Ok(Format::Png) {
            return Err(Failure::input(format_args!("{name}: PNG holds what a display shows, not radiance")));
        }
        let wrong = |why: &dyn Display| Failure::input(format_args!("{name}: {why}"));
        if merge.is_none() {
            let extent = Extent::of(path).map_err(|e| wrong(&e))?;
            Merge::check_memory(&extent).map_err(|e| wrong(&e))?;
        }
        let layers = read_layers(path).map_err(|e| wrong(&e))?;
        merge = Some(match merge {
            None => Merge::new(weight, &name, &layers).map_err(Failure::input)?,
            Some(mut merge) => merge.add(&name, &layers).map(|()| merge).map_err(Failure::input)?,
        });
    }
    let merge = merge.ok_or_else(|| Failure::input("no images"))?;
    merge.finish().map_err(Failure::input)
}

/// Fewest and most samples in a pixel.
fn extent(layers: &Layers) -> [f64; 2] {
    let Some(channel) = layers.channel(SAMPLES) else {
        return [0.0; 2];
    };
    let samples = (0..channel.samples.len()).map(|i| channel.samples.get_f64(i));
    samples.fold([f64::INFINITY, 0.0], |[least, most], n| [least.min(n), most.max(n)])
}
