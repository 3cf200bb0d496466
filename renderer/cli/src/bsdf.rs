//! `torrance bsdf`: a material in charts.

use crate::ExitCode;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

use renderer::assemble::Swatches;
use renderer::bsdf::{Channel, Chart, KINDS, Kind, Study, Subject};
use serde::Serialize;
use torrance_image::film::write::Destination;
use torrance_plot::chart::ThemeName;
use torrance_scene::{
    self as scene, Description, Masking, MaterialKind, NO_MATERIAL, Named, Overrides, Severity,
    StandaloneMaterial,
};
use torrance_text::{hint, quoted};

use super::{Display, EXIT_CODES, Failure, Laps, clock, color, print_json, say, signals, values, warn};

const EXAMPLES: &str = "\
Examples:
  torrance bsdf scenes/knot.toml#gold
  torrance bsdf scenes/knot.toml#gold -o gold --chart cross-section --angles 0,45,70,85
  torrance bsdf 'type = \"dielectric\", ior = 1.5, roughness = 0.4' --format png --theme dark
  torrance bsdf 'type = \"diffuse\", reflectance = 0.5' --format csv --json

A material is the name of one in a scene file, SCENE.toml#NAME, or its keys as a scene file has them. \
It is seen from the front, whole and flat: without its back, its holes and its normal map, and where it has textures, \
at their coordinates (½, ½). Charts:
  cross-section  f and f·|cos θ| in the plane of incidence, linear and logarithmic
  polar          the same as polar plots, with what is transmitted below the surface
  albedo         directional albedo against angle and roughness, by quadrature and by samples
  furnace        energy that facets lose in a white furnace, against angle and roughness
  masking        height-correlated against separable masking and shadowing
  samples        samples against their density: maps, residuals, χ² (at the middle one of --angles)
";

/// Chart how a material scatters light
#[derive(Debug, clap::Args)]
#[command(after_help = EXIT_CODES, after_long_help = format!("{EXAMPLES}\n{EXIT_CODES}"))]
pub(super) struct Args {
    /// Material to study: SCENE.toml#NAME, or the keys of a material, as in 'type = "diffuse", reflectance = 0.5'
    #[arg(value_name = "MATERIAL")]
    material: String,

    /// Folder to write to, made if it is not there [default: NAME-bsdf]
    #[arg(short, long, value_name = "FOLDER")]
    output: Option<PathBuf>,

    /// Chart to make; repeat it for several [default: all that the material has]
    #[arg(long, value_name = "NAME", value_parser = values::named(KINDS))]
    chart: Vec<Kind>,

    /// Formats of each chart: png, svg, csv, separated by commas
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "png,svg,csv", value_parser = values::named(FORMATS))]
    format: Vec<Format>,

    /// Angles of incidence, degrees, separated by commas; 6 at most
    #[arg(long, value_name = "LIST", default_value = "0,30,60,80", value_parser = values::angles, allow_hyphen_values = true)]
    angles: values::Angles,

    /// Azimuth of the plane of incidence, degrees from the direction in which u grows
    #[arg(long, value_name = "DEGREES", default_value = "0", value_parser = values::azimuth, allow_hyphen_values = true)]
    azimuth: f64,

    /// Number that curves show for a colour where there is room for only one
    #[arg(long, value_name = "NAME", default_value = "luminance", value_parser = values::named(CHANNELS))]
    channel: Channel,

    /// Masking and shadowing of microfacets [default: the scene's, or correlated]
    #[arg(long, value_name = "NAME", value_parser = values::named(Masking::NAMES))]
    masking: Option<Masking>,

    /// Colours
    #[arg(long, value_name = "NAME", default_value = "light", value_parser = values::named(values::THEMES))]
    theme: ThemeName,

    /// Size of a chart, pixels [default: each its own]
    #[arg(long, value_name = "WxH", value_parser = values::chart_size)]
    size: Option<(u32, u32)>,

    /// Print warnings and errors only
    #[arg(short, long)]
    quiet: bool,

    /// Print a summary for programs to stdout, as one JSON object
    #[arg(long)]
    json: bool,
}

/// Format of a chart's file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    Png,
    Svg,
    Csv,
}

const FORMATS: &[(&str, Format)] = &[("png", Format::Png), ("svg", Format::Svg), ("csv", Format::Csv)];
const CHANNELS: &[(&str, Channel)] =
    &[("r", Channel::R), ("g", Channel::G), ("b", Channel::B), ("luminance", Channel::Luminance)];
/// The object that `--json` prints. Fields are added, never renamed.
#[derive(Debug, Serialize)]
struct Summary {
    version: &'static str,
    material: String,
    description: String,
    angles: Vec<f64>,
    charts: Vec<ChartSummary>,
    /// Charts that were left out, and why.
    left_out: Vec<LeftOut>,
    seconds: f64,
}

#[derive(Debug, Serialize)]
struct ChartSummary {
    name: &'static str,
    outputs: Vec<Output>,
    facts: serde_json::Map<String, serde_json::Value>,
}

#[derive(Debug, Serialize)]
struct Output {
    path: String,
    bytes: usize,
}

#[derive(Debug, Serialize)]
struct LeftOut {
    name: &'static str,
    reason: String,
}

/// The charts that were asked for, as far as the material has them.
struct Charts {
    charts: Vec<(Kind, Chart)>,
    left_out: Vec<LeftOut>,
}

/// A file that only has to be written.
struct File {
    chart: &'static str,
    path: PathBuf,
    bytes: Vec<u8>,
}

/// Charts what `args` say.
pub(super) fn run(args: &Args) -> Result<ExitCode, Failure> {
    let laps = Laps::new();
    let (name, subject) = find(&args.material, args.masking)?;
    let folder = args.output.clone().unwrap_or_else(|| PathBuf::from(format!("{}-bsdf", file_name(&name))));
    if fs::metadata(&folder).is_ok_and(|m| !m.is_dir()) {
        return Err(Failure::output(&folder, "is a file, not a folder"));
    }
    signals::catch(args.quiet);
    let display = Display::new(args.quiet);
    let study = Study {
        name,
        subject,
        angles: args.angles.0.clone(),
        azimuth: args.azimuth,
        channel: args.channel,
        theme: args.theme,
        size: args.size,
    };
    let made = make(args, &study, &display)?;
    display.phase("drawing");
    let mut files = Vec::new();
    for (kind, chart) in &made.charts {
        for format in unique(&args.format) {
            files.push(file(&folder, *kind, chart, format)?);
        }
    }
    display.end();
    write(&folder, &files)?;
    if !args.quiet {
        tell(&study, &made, &files, laps.total());
    }
    if args.json {
        print_json(&summary(&study, made, &files, laps.total()))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The material that `text` names or describes, and its name.
fn find(text: &str, masking: Option<Masking>) -> Result<(String, Subject), Failure> {
    // A scene may have "=" in its path, but no material is described without one.
    if text.contains('=') && !text.contains(".toml") {
        let StandaloneMaterial { material, images, textures } =
            scene::material_from_text("MATERIAL", text)
                .map_err(|e| Failure::input_report(e.report(color())))?;
        let masking = masking.unwrap_or(Masking::Correlated);
        let swatches = Swatches::new(&images, &textures).map_err(|e| Failure::input(e.to_string()))?;
        let subject = Subject::new(material, masking, swatches);
        return Ok((subject.kind().into(), subject));
    }
    let (path, name) = path_and_name(text);
    let overrides = Overrides { masking, ..Overrides::default() };
    let loaded =
        scene::load(Path::new(path), &overrides).map_err(|e| Failure::input_report(e.report(color())))?;
    // Names that differ, as `inspect` and `convert` have them.
    let description = scene::canonical(&loaded.description);
    let materials: Vec<_> = description.materials.iter().filter(|m| m.name != NO_MATERIAL).collect();
    let names = || materials.iter().map(|m| m.name.as_str());
    let found = match name {
        Some(name) => materials.iter().find(|m| m.name == name).ok_or_else(|| {
            let hint = hint(name, "the scene has", names().collect::<Vec<_>>().iter().copied());
            format!("{path}: unknown material {}{hint}", quoted(name))
        }),
        None => match materials[..] {
            [ref only] => Ok(only),
            _ => {
                let list: Vec<_> = names().map(quoted).collect();
                let example = names().next().unwrap_or("NAME");
                let list = if list.is_empty() { "none".into() } else { list.join(", ") };
                Err(format!("which material of {path}? Write {path}#{example}; the scene has {list}"))
            }
        },
    };
    let material = (*found.map_err(Failure::input)?).clone();
    for problem in &loaded.warnings {
        super::terminal::say_text(&problem.report(Severity::Warning, color()));
    }
    if matches!(material.kind, MaterialKind::Blend(_)) {
        let message = format!(
            "{path}: material {} is a blend; chart the materials that it is made of",
            quoted(&material.name)
        );
        return Err(Failure::input(message));
    }
    let Description { images, textures, render, .. } = &description;
    let swatches = Swatches::new(images, textures).map_err(|e| Failure::input(format!("{path}: {e}")))?;
    Ok((material.name.clone(), Subject::new(material, render.masking, swatches)))
}

/// The file and the name after a `#`. Both may have others: the first before which there is a file counts, else the last.
fn path_and_name(text: &str) -> (&str, Option<&str>) {
    if Path::new(text).exists() {
        return (text, None);
    }
    let mut splits = text.match_indices('#').map(|(at, _)| (&text[..at], Some(&text[at + 1..])));
    let there = splits.clone().find(|(path, _)| Path::new(path).is_file());
    there.or_else(|| splits.next_back()).unwrap_or((text, None))
}

/// A name without what file systems and shells take for something else. Of long ones it is the beginning, and a number that
/// tells them apart.
fn file_name(name: &str) -> String {
    const LONGEST: usize = 200;
    let plain = |c: char| if c.is_alphanumeric() || matches!(c, '.' | '_' | '-') { c } else { '-' };
    let mut plain: String = name.chars().map(plain).collect();
    if plain.len() <= LONGEST {
        return plain;
    }
    plain.truncate((0..=LONGEST).rev().find(|end| plain.is_char_boundary(*end)).unwrap_or(0));
    let mut hash = DefaultHasher::new();
    name.hash(&mut hash);
    format!("{plain}-{:016x}", hash.finish())
}

/// The first of equal elements alone.
fn unique<T: Copy + PartialEq>(list: &[T]) -> impl Iterator<Item = T> {
    list.iter().enumerate().filter(|(i, x)| !list[..*i].contains(x)).map(|(_, x)| *x)
}

/// Makes the charts that were asked for. One that the material does not have is an error if it was asked for by name.
fn make(args: &Args, study: &Study, display: &Display) -> Result<Charts, Failure> {
    let mut made = Charts { charts: Vec::new(), left_out: Vec::new() };
    let all: Vec<_> = KINDS.iter().map(|(_, kind)| *kind).collect();
    for kind in unique(if args.chart.is_empty() { &all } else { &args.chart }) {
        display.phase(format!("measuring: {}", kind.name()));
        match study.chart(kind) {
            Ok(chart) => made.charts.push((kind, chart)),
            Err(reason) if args.chart.is_empty() => {
                made.left_out.push(LeftOut { name: kind.name(), reason: reason.to_string() })
            }
            Err(reason) => {
                return Err(Failure::input(format_args!("there is no chart {}: {reason}", kind.name())));
            }
        }
    }
    Ok(made)
}

fn file(folder: &Path, kind: Kind, chart: &Chart, format: Format) -> Result<File, Failure> {
    let (width, height) = chart.size;
    let drawn = match format {
        Format::Png => chart.drawing.png(width, height),
        Format::Svg => chart.drawing.svg(width, height).map(String::into_bytes),
        Format::Csv => Ok(chart.table.csv().as_bytes().to_vec()),
    };
    let extension = FORMATS.iter().find(|(_, f)| *f == format).map_or("", |(name, _)| name);
    let path = folder.join(format!("{}.{extension}", kind.name()));
    let bytes = drawn.map_err(|e| Failure::running(format_args!("drawing {}: {e}", path.display())))?;
    Ok(File { chart: kind.name(), path, bytes })
}

fn write(folder: &Path, files: &[File]) -> Result<(), Failure> {
    fs::create_dir_all(folder).map_err(|e| Failure::output(folder, format_args!("cannot be made: {e}")))?;
    let places: Result<Vec<_>, _> = files.iter().map(|f| Destination::check(&f.path)).collect();
    for (file, place) in files.iter().zip(places.map_err(Failure::input)?) {
        place.write(&file.bytes).map_err(Failure::running)?;
    }
    Ok(())
}

/// Reports the written charts to people.
fn tell(study: &Study, made: &Charts, files: &[File], seconds: f64) {
    for LeftOut { name, reason } in &made.left_out {
        say(format_args!("no chart {name}: {reason}"));
    }
    for (kind, chart) in &made.charts {
        let facts: Vec<_> =
            chart.facts.iter().map(|(name, x)| format!("{} {x:.4}", name.replace('_', " "))).collect();
        if !facts.is_empty() {
            say(format_args!("{}: {}", kind.name(), facts.join(", ")));
        }
    }
    let names: Vec<_> = files.iter().map(|f| f.path.display().to_string()).collect();
    say(format_args!("{} in {}: {}", study.name, clock(seconds), study.subject.describe()));
    if names.is_empty() {
        warn("nothing was written");
    } else {
        say(format_args!("wrote {}", names.join(", ")));
    }
}

fn summary(study: &Study, made: Charts, files: &[File], seconds: f64) -> Summary {
    let chart = |(kind, chart): &(Kind, Chart)| {
        let outputs = files
            .iter()
            .filter(|f| f.chart == kind.name())
            .map(|f| Output { path: f.path.display().to_string(), bytes: f.bytes.len() });
        let facts = chart.facts.iter().map(|(name, x)| ((*name).to_owned(), (*x).into()));
        ChartSummary { name: kind.name(), outputs: outputs.collect(), facts: facts.collect() }
    };
    Summary {
        version: env!("CARGO_PKG_VERSION"),
        material: study.name.clone(),
        description: study.subject.describe(),
        angles: study.angles.clone(),
        charts: made.charts.iter().map(chart).collect(),
        left_out: made.left_out,
        seconds,
    }
}
