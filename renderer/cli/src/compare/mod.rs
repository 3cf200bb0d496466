//! `torrance compare`: how far an image is from a reference, and whether noise explains it.

use crate::ExitCode;
use std::path::{Path, PathBuf};

use torrance_image::compare::Region;
use torrance_image::compare::comparison::{Comparison, Settings, compare};
use torrance_image::compare::maps::Map;
use torrance_image::compare::source::{self, Knowledge, Source};
use torrance_image::film::write::Destination;
use torrance_image::metrics::Threshold;
use torrance_image::metrics::flip::PIXELS_PER_DEGREE;

use super::{DIFFERENT, Display, Failure, heatmap, print, print_json, say, signals, values};

mod json;
mod text;

const EXIT_CODES: &str = "\
Exit codes:
  0    the same: no evidence of a difference, and all thresholds hold; without both, compared
  1    different: evidence of a difference, or a threshold that does not hold
  2    bad usage, or images that cannot be compared
  3    failed while writing the heatmap";

const EXAMPLES: &str = "\
Examples:
  torrance compare render.exr reference.exr
  torrance compare render.exr reference.exr --heatmap z.png --crop 100,80,64,64
  torrance compare new.png old.png --threshold flip=0.02 --threshold ssim=0.98
  torrance compare a.exr b.exr --stderr-a a-stderr.exr --stderr-b b-stderr.exr --samples-a 64 --samples-b 64
  torrance compare render.exr exact.pfm --exact-b --json

A is the image under test, B the reference. There is a verdict where the noise of both is known: an EXR file of \
torrance says what its noise is, in the layer stderr; of other files, --stderr-a and --stderr-b tell. Without it, and of \
PNG, there are the metrics alone. Names of metrics for --threshold: rmse, mae, relmse, flip, flip-median, \
flip-p95, flip-max and bias, with the most that they may be, psnr and ssim with the least. \
RMSE, MAE and relMSE, (a-b)²/(b²+0.01), are means over pixels and channels; the peak of PSNR is 1, or of radiance the \
largest value of B; bias is the largest of the channels, relative to B's mean. PNG is compared as it is encoded, in \
[0, 1]. SSIM and ꟻLIP show radiance to a display first: SSIM by the photographic operator, ꟻLIP at a range of exposures.
";

/// Compare two images, and say whether noise explains the difference
#[derive(Debug, clap::Args)]
#[command(after_help = EXIT_CODES, after_long_help = format!("{EXAMPLES}\n{EXIT_CODES}"))]
pub(super) struct Args {
    /// Image under test: .png, .exr, .hdr, .pfm, .jpg, .webp or .jxl
    #[arg(value_name = "A")]
    a: PathBuf,

    /// Reference
    #[arg(value_name = "B")]
    b: PathBuf,

    #[command(flatten)]
    noise: NoiseArgs,

    /// Layer to compare, as in albedo for channels albedo.R, albedo.G and albedo.B [default: the image itself]
    #[arg(long, value_name = "NAME")]
    layer: Option<String>,

    /// Layer of A, where it is called otherwise than in B
    #[arg(long, value_name = "NAME", conflicts_with = "layer")]
    layer_a: Option<String>,

    /// Layer of B
    #[arg(long, value_name = "NAME", conflicts_with = "layer")]
    layer_b: Option<String>,

    /// Part to compare: column and row of its top left pixel, width and height
    #[arg(long, value_name = "X,Y,W,H", value_parser = values::region, allow_hyphen_values = true)]
    crop: Option<Region>,

    /// How often, at most, the verdict on images that do not differ is that they do
    #[arg(long, value_name = "P", default_value = "0.01", value_parser = values::level, allow_hyphen_values = true)]
    level: f64,

    /// Bound on a metric, as in flip=0.05; repeat it for several
    #[arg(long, value_name = "METRIC=VALUE", value_parser = values::threshold)]
    threshold: Vec<Threshold>,

    /// Pixels per degree of the visual field, for ꟻLIP
    #[arg(long, value_name = "N", default_value_t = PIXELS_PER_DEGREE, value_parser = values::pixels_per_degree, allow_hyphen_values = true)]
    ppd: f32,

    /// PNG file to write a map of the differences to
    #[arg(long, value_name = "FILE")]
    heatmap: Option<PathBuf>,

    /// Map that the heatmap shows [default: z where there is a verdict, or else flip]
    #[arg(long, value_name = "NAME", value_parser = values::named(Map::ALL), requires = "heatmap")]
    map: Option<Map>,

    /// Print warnings and errors to stderr only, and the result
    #[arg(short, long)]
    quiet: bool,

    /// Print the result for programs, as one JSON object
    #[arg(long)]
    json: bool,
}

/// Options that give the noise of the images.
#[derive(Debug, clap::Args)]
struct NoiseArgs {
    /// Image of A's standard errors, one a channel and pixel: its layer stderr, or else the image itself
    #[arg(long, value_name = "FILE")]
    stderr_a: Option<PathBuf>,

    /// Image of B's standard errors
    #[arg(long, value_name = "FILE")]
    stderr_b: Option<PathBuf>,

    /// Samples per pixel, or renders, that A's standard errors come from, where its file does not say
    #[arg(long, value_name = "N", value_parser = values::samples, allow_hyphen_values = true)]
    samples_a: Option<f32>,

    /// Samples per pixel, or renders, that B's standard errors come from
    #[arg(long, value_name = "N", value_parser = values::samples, allow_hyphen_values = true)]
    samples_b: Option<f32>,

    /// A has no noise
    #[arg(long, conflicts_with_all = ["stderr_a", "samples_a"])]
    exact_a: bool,

    /// B has no noise
    #[arg(long, conflicts_with_all = ["stderr_b", "samples_b"])]
    exact_b: bool,
}

/// A comparison, ready to be reported.
struct ComparisonReport<'a> {
    args: &'a Args,
    comparison: &'a Comparison,
    /// The thresholds with what is held against them, and whether they hold.
    thresholds: Vec<(Threshold, Option<f64>, bool)>,
}

/// Compares what `args` say.
pub(super) fn run(args: &Args) -> Result<ExitCode, Failure> {
    let heatmap = args.heatmap.as_ref().map(|path| heatmap_place(args, path)).transpose()?;
    signals::catch(args.quiet);
    let display = Display::new(args.quiet);
    display.phase("comparing");
    let (a, b) = args.sources();
    let images = source::read(&a, &b).map_err(Failure::input)?;
    let settings = Settings { crop: args.crop, level: args.level, pixels_per_degree: args.ppd };
    let comparison = compare(images, &settings).map_err(Failure::input)?;
    display.end();
    if let Some(place) = heatmap {
        let needs_verdict =
            |why| Failure::input(format_args!("--map z needs a verdict. {}", text::no_verdict(why)));
        let picture = comparison.picture(args.map).map_err(needs_verdict)?;
        place.write_encoded(picture.png()).map_err(Failure::running)?;
        if !args.quiet {
            say(format_args!("wrote {}: {}", place.path.display(), picture.scale));
        }
    }
    let told = ComparisonReport::new(args, &comparison);
    if args.json {
        print_json(&json::Summary::new(&told))?
    } else {
        print(told.text())?
    }
    Ok(if told.is_different() { ExitCode::from(DIFFERENT) } else { ExitCode::SUCCESS })
}

fn heatmap_place(args: &Args, path: &Path) -> Result<Destination, Failure> {
    let destination = heatmap::place(path)?;
    let inputs = [Some(&args.a), Some(&args.b), args.noise.stderr_a.as_ref(), args.noise.stderr_b.as_ref()];
    if inputs.into_iter().flatten().any(|input| destination.is_file(input)) {
        return Err(Failure::output(path, "is one of the images to compare"));
    }
    Ok(destination)
}

impl Args {
    fn sources(&self) -> (Source, Source) {
        let NoiseArgs { stderr_a, stderr_b, samples_a, samples_b, exact_a, exact_b } = &self.noise;
        let source =
            |path: &PathBuf, layer: &Option<String>, exact, stderr: &Option<PathBuf>, samples| Source {
                path: path.clone(),
                layer: layer.clone().or_else(|| self.layer.clone()).unwrap_or_default(),
                noise: match (exact, samples) {
                    (true, _) => Knowledge::Exact,
                    (false, None) if stderr.is_none() => Knowledge::File,
                    (false, samples) => Knowledge::Estimate { stderr: stderr.clone(), samples },
                },
            };
        let a = source(&self.a, &self.layer_a, *exact_a, stderr_a, *samples_a);
        let b = source(&self.b, &self.layer_b, *exact_b, stderr_b, *samples_b);
        (a, b)
    }
}

impl<'a> ComparisonReport<'a> {
    fn new(args: &'a Args, comparison: &'a Comparison) -> Self {
        let held = |threshold: &Threshold| {
            let value = threshold.metric.value(&comparison.metrics, &comparison.bias);
            (*threshold, value, threshold.holds(value))
        };
        Self { args, comparison, thresholds: args.threshold.iter().map(held).collect() }
    }

    fn is_different(&self) -> bool {
        self.comparison.is_different() || self.thresholds.iter().any(|(_, _, holds)| !holds)
    }
}
