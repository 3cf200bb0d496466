//! `torrance merge`: several images of one scene into one.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fmt::Display;
use std::ops::Range;
use std::path::{Path, PathBuf};

use serde::Serialize;
use torrance_image::film::encode::{SOFTWARE, encode_layers};
use torrance_image::film::interrupted::RELATIVE_STDERR;
use torrance_image::film::layers::SAMPLES;
use torrance_image::film::merge::{Merge, MergedImage, Weight};
use torrance_image::film::write::Target;
use torrance_image::film::{Extent, Format, ImageEstimate, Layers, Shard, Statistics, read_layers};

use super::exr::ExrArgs;
use super::{EXIT_CODES, Failure, Notes, count, print_json, say};
use crate::ExitCode;
use torrance_text::shell_word;

const EXAMPLES: &str = "\
Examples:
  torrance merge a.exr b.exr c.exr -o abc.exr
  torrance merge part-*.exr -o image.exr
  torrance merge --passes pass-*.exr -o reference.exr

Renders of one scene with different seeds, or with different samples of one seed (render --shard, --samples), become \
the render that took all their samples, with its mean, its standard errors and its numbers of samples. Samples that are \
missing are listed, with the commands that render them. With --passes the files may come from any renderer: each counts as one pass \
that is as good as the others, the standard errors are those of the passes' mean, and the number of samples is that of \
the passes.
";

/// Merge renders of one scene into one, with its standard errors
#[derive(Debug, clap::Args)]
#[command(after_help = EXIT_CODES, after_long_help = format!("{EXAMPLES}\n{EXIT_CODES}"))]
pub(super) struct Args {
    /// Images: .exr with layers stderr and samples; with --passes .exr, .hdr or .pfm
    #[arg(value_name = "IMAGE", required = true)]
    images: Vec<PathBuf>,

    /// Image to write, .exr
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,

    /// Take each image as one pass, and the standard errors from how they differ
    #[arg(long)]
    passes: bool,

    #[command(flatten)]
    exr: ExrArgs,

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
    /// The samples of each seed, as in `seed 0: 0..64`, if they are known.
    ranges: Option<String>,
    /// Samples of the whole render that are missing, likewise, one range an element.
    gaps: Vec<String>,
    /// Parts of a render to a noise that are missing, likewise, counted from 1.
    missing_parts: Vec<String>,
    /// Relative standard error of the image, if it is known.
    relative_stderr: Option<f64>,
    warnings: Vec<String>,
}

/// Merges as `args` say.
pub(super) fn run(args: &Args) -> Result<ExitCode, Failure> {
    let mut notes = Notes::new(args.quiet);
    let target = Target::check(&args.output).map_err(Failure::input)?;
    let output = args.output.display().to_string();
    if args.passes && args.images.len() == 1 {
        return Err(Failure::input("--passes: a single pass tells nothing of its error; give two or more"));
    }
    if target.format != Format::Exr {
        return Err(Failure::output(&args.output, "only EXR files hold standard errors; use .exr"));
    }
    let MergedImage { layers, shard, warnings } = merge(args, &notes)?;
    for warning in warnings {
        notes.warn(warning);
    }
    if let Some(shard) = &shard {
        warn_of_missing(args, shard, &layers, &mut notes);
    }
    let relative_stderr = if args.passes { None } else { relative_stderr(&layers) };
    let noise = relative_stderr.map(|noise| (RELATIVE_STDERR.to_owned(), format!("{noise:.3e}")));
    let software = ("software".to_owned(), SOFTWARE.to_owned());
    let layers = layers.saying([software].into_iter().chain(noise));
    let (width, height, samples) = (layers.width, layers.height, extent(&layers));
    args.exr.check_ids_of(&layers)?;
    notes.display.phase("writing");
    let encoded = encode_layers(layers, args.exr.into()).map(|encoded| encoded.bytes);
    target.destination.write_encoded(encoded).map_err(Failure::running)?;
    let images = args.images.len();
    let warnings = notes.end();
    if !args.quiet {
        let [least, most] = samples;
        let unit = if args.passes { "passes" } else { "samples a pixel" };
        let range = if least == most { least.to_string() } else { format!("{least} to {most}") };
        say(format_args!("{width}x{height}, {}, {range} {unit}", count(images as u64, "image")));
        say(format_args!("wrote {output}"));
    }
    if args.json {
        let shard = shard.unwrap_or_default();
        let ranges = (!shard.ranges.0.is_empty()).then(|| shard.ranges.to_string());
        let of_seed =
            |(seed, range): (u32, Range<u32>)| format!("seed {seed}: {}..{}", range.start, range.end);
        let gaps = shard.gaps().into_iter().map(of_seed).collect();
        let missing_parts = shard.missing_noise_parts().into_iter().map(of_seed).collect();
        print_json(&Summary {
            output,
            images,
            width,
            height,
            samples,
            ranges,
            gaps,
            missing_parts,
            relative_stderr,
            warnings,
        })?;
    }
    Ok(ExitCode::SUCCESS)
}

/// What is missing of a render.
struct Missing {
    /// As sentences begin with it.
    subject: String,
    /// The options that render it.
    options: String,
    /// A name for its file, without extension.
    stem: String,
    /// What to render with it, if that takes several commands.
    each: String,
}

/// Samples that are missing of a render, and parts.
fn missing(shard: &Shard) -> Vec<Missing> {
    let samples = |(seed, Range { start, end })| Missing {
        subject: format!("samples {start}..{end} are"),
        options: format!("--seed {seed} --samples {start}..{end}"),
        stem: format!("samples-{seed}-{start}-{end}"),
        each: String::new(),
    };
    let whole = shard.whole_noise_parts.unwrap_or_default();
    let parts = |(seed, parts): (u32, Range<u32>)| {
        let last = parts.end - 1;
        let (one, subject, each) = match parts.len() {
            1 => (last.to_string(), format!("part {last} of {whole} is"), String::new()),
            _ => (
                "I".to_owned(),
                format!("parts {} to {last} of {whole} are", parts.start),
                format!(", for each I from {} to {last}", parts.start),
            ),
        };
        let options = format!("--seed {seed} --shard {one}/{whole}");
        Missing { subject, options, stem: format!("part-{seed}-{one}-{whole}"), each }
    };
    shard.gaps().into_iter().map(samples).chain(shard.missing_noise_parts().into_iter().map(parts)).collect()
}

/// Tells what of the whole render is missing, and how to render it.
fn warn_of_missing(args: &Args, shard: &Shard, layers: &Layers, notes: &mut Notes) {
    if shard.is_interrupted() {
        notes.warn(format!(
            "some pixels lack some of the samples {}: the renders of these were interrupted; with --resume they go on, as long as their checkpoints are there",
            shard.partial
        ));
    }
    let scene = || layers.attributes.get("scene").map_or("SCENE".to_owned(), |scene| shell_word(scene));
    let arguments = shard.arguments.clone().unwrap_or_else(scene);
    let taken: HashSet<_> =
        args.images.iter().chain([&args.output]).filter_map(|path| path.file_name()).collect();
    for Missing { subject, options, stem, each } in missing(shard) {
        let file = free_name(&stem, &taken);
        notes.warn(format!("{subject} missing: torrance render {arguments} {options} -o {file}{each}"));
    }
}

/// A name for an EXR file that is neither taken nor in the current folder.
fn free_name(stem: &str, taken: &HashSet<&OsStr>) -> String {
    let is_taken =
        |name: &str| taken.contains(OsStr::new(name)) || Path::new(name).symlink_metadata().is_ok();
    let (mut name, mut number) = (format!("{stem}.exr"), 1);
    while is_taken(&name) {
        number += 1;
        name = format!("{stem}-{number}.exr");
    }
    name
}

/// The relative standard error of an image, if it is known.
fn relative_stderr(layers: &Layers) -> Option<f64> {
    let estimate = ImageEstimate::from_layer(layers, "", Format::Exr).ok()?;
    Some(Statistics::relative_stderr_of(&estimate)).filter(|noise| noise.is_finite())
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
