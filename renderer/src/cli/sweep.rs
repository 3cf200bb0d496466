//! `torrance sweep`: a scene with parameters that vary, side by side.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use image::RgbImage;
use serde::Serialize;

use super::device::{self, Machine};
use super::failure::{Failure, INTERRUPTED};
use super::notes::Notes;
use super::progress::Display;
use super::render::{ImageArgs, SettingArgs, limit_threads};
use super::source::SceneArgs;
use super::summary::{Output, print_json};
use super::terminal::{clock, count, say};
use super::values::{self, DeviceChoice};
use super::{EXIT_CODES, integrator, signals};
use crate::assemble::{Original, SceneData, share_kernels};
use crate::backend::cpu::Cpu;
use crate::backend::{self, Backend};
use crate::film::encode::{Provenance, SOFTWARE, encode, encode_layers, png_rgb8};
use crate::film::write::Destination;
use crate::film::{Format, Image, Layers, Measured, Statistics};
use crate::primitives::Primitives;
use crate::render::{Budget, Control, Integrator, Options, Progress, Rendered};
use crate::report::animation;
use crate::report::plot::ThemeName;
use crate::report::sheet::{Headings, Picture, Sheet};
use crate::scene::{SceneValues, quoted};
use crate::sweep::preset::{PRESETS, Preset};
use crate::sweep::{Grid, Part, Parts, Told, render_all, spec};

const EXAMPLES: &str = "\
Examples:
  torrance sweep scenes/preview.toml --preset roughness -o roughness.png
  torrance sweep scene.toml --param materials.ball.roughness=0:1:9 -o sweep.png
  torrance sweep scene.toml --param materials.ball.roughness=0:1:5 --param materials.ball.metallic=0,0.5,1 -o grid.png
  torrance sweep scene.toml --param 'materials.ball.ior=log(1.1:2.4:8)' -o ior.png --csv ior.csv --variants ior/

VALUES are a:b:n, n numbers from a to b; log(a:b:n), the same by equal factors; a list a,b,c; @FILE, one a line; or *, \
all words that there are. Paths are those that `torrance inspect --paths` lists. One parameter makes a row, two a grid, \
more make pages. All variants have the same random numbers unless --independent says otherwise. Ctrl-C writes the sheet \
as far as it is; the same command then goes on where it was.
";

/// Render a scene again and again with other parameters, and show the images side by side
#[derive(Debug, clap::Args)]
#[command(after_help = EXIT_CODES, after_long_help = format!("{EXAMPLES}\n{EXIT_CODES}"))]
pub(super) struct Args {
    #[command(flatten)]
    scene: SceneArgs,

    /// A parameter and its values; repeat it for rows, then pages
    #[arg(long, value_name = "PATH=VALUES")]
    param: Vec<String>,

    /// A sweep of a material that has a name
    #[arg(long, value_name = "NAME", value_parser = preset)]
    preset: Option<&'static Preset>,

    /// The material that a preset is about [default: ball, or the only one]
    #[arg(long, value_name = "NAME", requires = "preset")]
    material: Option<String>,

    /// Contact sheet to write: .png
    #[arg(short, long, value_name = "FILE", required = true)]
    output: PathBuf,

    /// Columns of the sheet of one parameter [default: all values in a row]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    cols: Option<u16>,

    /// Pixels between images
    #[arg(long, value_name = "PIXELS", default_value = "6", value_parser = clap::value_parser!(u32).range(..=1024))]
    gap: u32,

    /// Colours of the sheet around the images
    #[arg(long, value_name = "NAME", default_value = "light", value_parser = values::named(values::THEMES))]
    theme: ThemeName,

    /// Title of the sheet [default: the scene's name]; nothing for none
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,

    /// Folder for the image of every variant, as .exr with its standard errors, and as .png
    #[arg(long, value_name = "FOLDER")]
    variants: Option<PathBuf>,

    /// Table of every variant's mean, percentiles, noise, time and paths a second
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,

    /// Animated PNG of all variants, one after the other
    #[arg(long, value_name = "FILE")]
    animate: Option<PathBuf>,

    /// Give every variant random numbers of its own: a seed after that of the one before
    #[arg(long)]
    independent: bool,

    #[command(flatten)]
    settings: SettingArgs,

    /// Where to render: auto, cpu, cuda or cuda:N; auto takes the first GPU, or else the CPU
    #[arg(long, value_name = "DEVICE", default_value = "auto", value_parser = values::device, hide_default_value = true)]
    device: DeviceChoice,

    /// CPU threads to use [default: all]
    #[arg(long, value_name = "N", value_parser = values::threads, allow_negative_numbers = true)]
    threads: Option<usize>,

    #[command(flatten)]
    image: ImageArgs,

    /// Print warnings and errors only
    #[arg(short, long)]
    quiet: bool,

    /// Print a summary for programs to stdout, as one JSON object
    #[arg(long)]
    json: bool,
}

fn preset(name: &str) -> Result<&'static Preset, String> {
    PRESETS.iter().find(|preset| preset.name == name).ok_or_else(|| {
        let names = PRESETS.iter().map(|preset| preset.name);
        format!("there is no preset {}{}", quoted(name), crate::scene::hint(name, "there are", names))
    })
}

/// A scene of the sweep.
struct Variant {
    scene: SceneData,
    /// Samples per pixel.
    spp: u32,
    /// Of its render.
    key: u64,
}

/// Sweeps as `args` say.
pub(super) fn run(args: &Args) -> Result<ExitCode, Failure> {
    let begin = Instant::now();
    let outputs = Outputs::check(args)?;
    let mut found = device::find(args.device)?;
    signals::catch(args.quiet);
    limit_threads(args.threads);
    let mut notes = Notes::new(args.quiet);
    notes.display.phase(format!("reading {}", args.scene.path.display()));
    let (mut values, loaded) = args.scene.open(args.settings.overrides(), &mut notes)?;
    outputs.spare(&loaded.files)?;
    let grid = grid(args, &mut values, &mut notes)?;
    let size = [loaded.description.render.width, loaded.description.render.height];
    let sheet = |page| sheet(args, &grid, page, size);
    let fits =
        |page| sheet(page).size().map_err(|e| Failure::input(format_args!("{e}; --cols N wraps a row")));
    (0..grid.pages()).try_for_each(|page| fits(page).map(drop))?;
    notes.display.phase(format!("building {}", count(grid.variants() as u64, "variant")));
    let device = found.name();
    let kind = if found.is_gpu() { "gpu" } else { "cpu" };
    let variants = variants(args, &grid, &values, kind)?;
    let mut name = device.clone();
    let parts = Parts::of(&args.output);
    let sweep =
        Sweep { args, grid: &grid, variants: &variants, parts: &parts, folder: outputs.variants.as_deref() };
    let mut done: Vec<Option<Shown>> = Vec::new();
    for (i, variant) in variants.iter().enumerate() {
        done.push(parts.find(variant.key).map(|part| sweep.show(i, &part, &name)));
    }
    let missing: Vec<usize> = (0..variants.len()).filter(|i| done[*i].is_none()).collect();
    let found_before = variants.len() - missing.len();

    let mut outcome = Ok(());
    if !missing.is_empty() {
        notes.display.phase(format!("starting {device}"));
        let machine = found.start(args.threads)?;
        if let Some(surprise) = &found.surprise {
            notes.warn(format!("rendering on the CPU: {surprise}"));
        }
        let mut scenes: Vec<SceneData> = missing.iter().map(|i| variants[*i].scene.clone()).collect();
        if machine.is_gpu() {
            share_kernels(&mut scenes);
        }
        let integrator = integrator::automatic(machine.is_gpu());
        let work = Work { sweep: &sweep, missing: &missing, scenes: &scenes, integrator };
        let display = &mut notes.display;
        let rendered = match machine {
            Machine::Cpu(cpu) => {
                name = cpu.name();
                work.render(cpus(cpu, &scenes).map_err(|e| device::failed(&e, &device))?, &name, display)
            }
            Machine::Cuda(cuda) => {
                name = cuda.name();
                let mut machines = vec![*cuda];
                // While one waits for its film, the other has work.
                if scenes.len() > 1
                    && let Ok(Machine::Cuda(second)) = found.start(args.threads)
                {
                    machines.push(*second);
                }
                work.render(machines, &name, display)
            }
        };
        for (i, shown) in missing.iter().zip(rendered.shown) {
            done[*i] = shown;
        }
        outcome = rendered.outcome;
    }
    notes.display.phase("writing");
    let mut failures: Vec<String> = done.iter().flatten().flat_map(|shown| shown.failures.clone()).collect();
    failures.dedup();
    failures.into_iter().for_each(|failure| notes.warn(failure));
    let interrupted = outcome.is_ok() && done.iter().any(Option::is_none);
    let results = Results { args, grid: &grid, variants: &variants, done: &done };
    let written = outputs.write(&results, &sheet)?;
    if !interrupted && outcome.is_ok() {
        parts.remove(&variants.iter().map(|variant| variant.key).collect::<Vec<_>>());
    }
    let rendered = done.iter().flatten().count() - found_before;
    let seconds = begin.elapsed().as_secs_f64();
    if !args.quiet {
        let of = if interrupted { format!(" of {}", done.len()) } else { String::new() };
        let again =
            if found_before > 0 { format!(", {found_before} more were there") } else { String::new() };
        say(format_args!(
            "{}{of} in {}{again}, on {name}",
            count(rendered as u64, "variant"),
            clock(seconds)
        ));
        if interrupted {
            say("interrupted: the same command goes on where this one was");
        }
        for output in &written {
            say(format_args!("wrote {}", output.path));
        }
    }
    let warnings = notes.end();
    outcome.map_err(|e: backend::Error| device::failed(&e, &device))?;
    if args.json {
        let summary = Summary {
            version: env!("CARGO_PKG_VERSION"),
            scene: args.scene.path.to_string_lossy().into_owned(),
            device: name.clone(),
            rendered,
            found: found_before,
            interrupted,
            seconds,
            variants: results.rows(),
            outputs: written,
            warnings,
        };
        print_json(&summary)?;
    }
    Ok(if interrupted { ExitCode::from(INTERRUPTED) } else { ExitCode::SUCCESS })
}

/// What varies. A preset changes the scene, too.
fn grid(args: &Args, values: &mut SceneValues, notes: &mut Notes) -> Result<Grid, Failure> {
    let mut params = Vec::new();
    if let Some(preset) = args.preset {
        let named = |e| Failure::input(format_args!("--preset {}: {e}", preset.name));
        let applied = preset.apply(values, args.material.as_deref()).map_err(named)?;
        if let Some(replaced) = applied.replaced {
            notes.warn(format!("--preset {}: the material has not its parameters; {replaced}", preset.name));
        }
        params = applied.params;
    }
    params.extend(args.param.iter().cloned());
    if params.is_empty() {
        return Err(Failure::input("nothing varies; --param PATH=VALUES or --preset NAME says what"));
    }
    let all_values = |path: &str| all_values(values, path);
    let axes = spec::parse(&params, &all_values).map_err(Failure::input)?;
    for axis in &axes {
        if let Some(flag) = args.settings.overriding(&axis.path) {
            return Err(Failure::input(format_args!("--param {}: {flag} says what it is", axis.path)));
        }
    }
    Grid::new(axes, args.cols.map(usize::from)).map_err(Failure::input)
}

/// The words that may stand at a path.
fn all_values(values: &SceneValues, path: &str) -> Result<Vec<String>, String> {
    let words = values.words(path)?;
    if words.is_empty() {
        return Err(format!("\"{path}\" takes {}, not one of some words", values.takes(path)?));
    }
    Ok(words)
}

/// Builds the scenes of all variants, which share what they have in common with the first. What is wrong with any of them is told before any is rendered.
fn variants(args: &Args, grid: &Grid, values: &SceneValues, kind: &str) -> Result<Vec<Variant>, Failure> {
    const MOST_PROBLEMS: usize = 10;
    let mut original = None;
    let (mut variants, mut problems) = (Vec::new(), Vec::new());
    for i in 0..grid.variants() {
        let mut values = values.clone();
        let built = grid
            .settings(i)
            .try_for_each(|(path, value)| values.set(path, value).map_err(|e| format!("--param {path}: {e}")))
            .and_then(|()| {
                let named = |e: String| format!("{}: {e}", grid.name(i));
                let loaded = values.load().map_err(|e| {
                    named(e.problems.iter().map(|p| p.message.as_str()).collect::<Vec<_>>().join("; "))
                })?;
                let spp = loaded.description.render.spp;
                let scene = match &original {
                    Some(original) => Original::variant(original, &loaded.description),
                    None => {
                        Original::new(loaded.description).map(|first| original.insert(first).scene().clone())
                    }
                };
                let mut scene = scene.map_err(|e| named(e.to_string()))?;
                if args.independent {
                    scene.settings.seed = scene.settings.seed.wrapping_add(i as u32);
                }
                let said = format!("{kind} {} {:?}", env!("CARGO_PKG_VERSION"), args.settings.time);
                Ok(Variant { key: scene.key_of_render(spp, &said), spp, scene })
            });
        match built {
            Ok(variant) => variants.push(variant),
            Err(problem) if !problems.contains(&problem) => problems.push(problem),
            Err(_) => {}
        }
    }
    let size = |variant: &Variant| (variant.scene.width, variant.scene.height);
    if let Some(other) = variants.iter().find(|variant| size(variant) != size(&variants[0])) {
        let ((a, b), (c, d)) = (size(&variants[0]), size(other));
        problems.push(format!("images of a sweep are of one size, not {a}x{b} and {c}x{d}"));
    }
    if problems.is_empty() {
        return Ok(variants);
    }
    let more = problems.len().saturating_sub(MOST_PROBLEMS);
    problems.truncate(MOST_PROBLEMS);
    if more > 0 {
        problems.push(format!("and {more} more"));
    }
    Err(Failure::input(problems.join("\nerror: ")))
}

/// As many CPUs as fill the machine: where images are small, one for each thread.
fn cpus(whole: Cpu, scenes: &[SceneData]) -> Result<Vec<Cpu>, backend::Error> {
    const LARGE: usize = 1 << 12;
    let threads = whole.parallelism();
    let pixels = scenes.first().map_or(0, |scene| scene.width as usize * scene.height as usize);
    if threads < 2 || scenes.len() < 2 || pixels >= LARGE * threads {
        return Ok(vec![whole]);
    }
    (0..threads.min(scenes.len())).map(|_| Cpu::new(Some(1))).collect()
}

/// What of a variant is kept in memory until all are there.
struct Shown {
    cell: RgbImage,
    statistics: Statistics,
    told: Told,
    /// What could not be written of it.
    failures: Vec<String>,
}

/// What is done with each variant.
struct Sweep<'a> {
    args: &'a Args,
    grid: &'a Grid,
    variants: &'a [Variant],
    parts: &'a Parts,
    /// Where images of variants go.
    folder: Option<&'a Path>,
}

impl Sweep<'_> {
    /// Writes a variant's own images, if they are wanted, and keeps what the others take.
    fn show(&self, i: usize, part: &Part, device: &str) -> Shown {
        let Part { measured, told } = part;
        let Image { width, height, pixels } = &measured.image;
        let develop = self.args.image.settings().develop;
        let rgb = pixels.iter().flat_map(|p| develop.apply(*p).map(|x| (x * 255.0).round() as u8)).collect();
        let formats = if self.folder.is_some() { &[Format::Exr, Format::Png][..] } else { &[] };
        let failures = formats.iter().filter_map(|format| self.write(i, part, device, *format).err());
        Shown {
            cell: RgbImage::from_raw(*width, *height, rgb).unwrap_or_default(),
            statistics: Statistics::of(measured),
            told: *told,
            failures: failures.collect(),
        }
    }

    /// Writes the image of a variant.
    fn write(&self, i: usize, part: &Part, device: &str, format: Format) -> Result<(), String> {
        let folder = self.folder.unwrap_or(Path::new(""));
        let path = folder.join(self.file_name(i, format));
        let Variant { scene, .. } = &self.variants[i];
        let about = Provenance {
            software: SOFTWARE.into(),
            scene: self.args.scene.path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
            device: device.to_owned(),
            scene_hash: scene.fingerprint(),
            spp: part.told.spp,
            seed: scene.settings.seed,
            settings: vec![("variant", self.grid.name(i))],
            seconds: part.told.seconds,
        };
        let settings = self.args.image.settings();
        let encoded = match format {
            Format::Exr => {
                encode_layers(Layers::from(&part.measured).saying(about.attributes()), settings.exr)
            }
            format => encode(&part.measured.image, format, &settings, &about),
        };
        let failed = |e: String| format!("output \"{}\": cannot be written: {e}", path.display());
        let bytes = encoded.map_err(failed)?.bytes;
        self.parts.write(&path, &bytes).map_err(|e| failed(e.to_string()))
    }

    /// The name of the file of a variant's image.
    fn file_name(&self, i: usize, format: Format) -> String {
        let digits = self.variants.len().to_string().len();
        let name = self.grid.name(i).replace(" = ", "=").replace(", ", "_");
        let is_kept = |c: char| c.is_alphanumeric() || "=.-+".contains(c);
        let name: String = name.chars().map(|c| if is_kept(c) { c } else { '_' }).take(120).collect();
        format!("{:0digits$}_{name}.{}", i + 1, format.extension())
    }
}

/// What is to be rendered.
struct Work<'a> {
    sweep: &'a Sweep<'a>,
    /// Which variants.
    missing: &'a [usize],
    scenes: &'a [SceneData],
    integrator: Integrator,
}

/// What came of it.
struct Done {
    shown: Vec<Option<Shown>>,
    outcome: Result<(), backend::Error>,
}

impl Work<'_> {
    fn render<B: Primitives + Send>(&self, machines: Vec<B>, name: &str, display: &mut Display) -> Done {
        let Self { sweep, missing, scenes, integrator } = self;
        signals::begin_render();
        display.begin_steps();
        let begin = Instant::now();
        let progress = Mutex::new((display, vec![0.0; scenes.len()]));
        let observe = |i: usize, of_one: &Progress| {
            let mut progress = progress.lock().unwrap_or_else(PoisonError::into_inner);
            let (display, shares) = &mut *progress;
            shares[i] = (of_one.mean_spp() / f64::from(of_one.spp_target.max(1))).min(1.0);
            let done = shares.iter().sum::<f64>() / shares.len() as f64;
            display.step(done, begin.elapsed(), &sweep.grid.name(missing[i]));
            if signals::is_stopping() { Control::Stop } else { Control::Continue }
        };
        let shown = Mutex::new(Vec::from_iter(scenes.iter().map(|_| None)));
        let take = |i: usize, Rendered { film, progress, .. }: Rendered| {
            let told = Told {
                seconds: progress.elapsed.as_secs_f64(),
                paths: progress.paths,
                spp: progress.spp,
                rejected: film.rejected(),
            };
            let kept = sweep.parts.keep(sweep.variants[missing[i]].key, &film, told);
            let part = Part { measured: Measured::from(&film), told };
            let mut of_one = sweep.show(missing[i], &part, name);
            if let Err(e) = kept {
                let folder = sweep.parts.folder().display();
                of_one.failures.push(format!("\"{folder}\": variants cannot be kept to go on with: {e}"));
            }
            shown.lock().unwrap_or_else(PoisonError::into_inner)[i] = Some(of_one);
        };
        let options = Options { integrator: *integrator, ..Options::default() };
        let time = sweep.args.settings.time;
        let budget = |i: &usize| Budget { spp: sweep.variants[*i].spp, time };
        let scenes: Vec<_> = scenes.iter().zip(missing.iter().map(budget)).collect();
        let outcome = render_all(machines, &scenes, options, &observe, &take);
        Done { shown: shown.into_inner().unwrap_or_else(PoisonError::into_inner), outcome }
    }
}

/// Where everything goes, checked beforehand.
struct Outputs {
    sheet: PathBuf,
    csv: Option<Destination>,
    animate: Option<Destination>,
    variants: Option<PathBuf>,
}

impl Outputs {
    fn check(args: &Args) -> Result<Self, Failure> {
        let png = |option: &str, path: &Path| match Format::of(path) {
            Ok(Format::Png) => Destination::check(path).map_err(Failure::input),
            _ => Err(Failure::input(format_args!(
                "{option} {}: expected a file .png",
                quoted(&path.to_string_lossy())
            ))),
        };
        let sheet = png("--output", &args.output)?;
        let animate = args.animate.as_deref().map(|path| png("--animate", path)).transpose()?;
        let csv = args.csv.as_deref().map(Destination::check).transpose().map_err(Failure::input)?;
        let others: Vec<&Destination> = [&animate, &csv].into_iter().flatten().collect();
        let is_twice = others.iter().any(|other| other.is_same_file(&sheet))
            || matches!(&others[..], [a, b] if a.is_same_file(b));
        if is_twice {
            return Err(Failure::input("two outputs are one file"));
        }
        if let Some(folder) = &args.variants
            && folder.exists()
            && !folder.is_dir()
        {
            let shown = quoted(&folder.to_string_lossy());
            return Err(Failure::input(format_args!("--variants {shown}: it is a file, not a folder")));
        }
        Ok(Self { sheet: args.output.clone(), csv, animate, variants: args.variants.clone() })
    }

    /// Refuses to overwrite what the scene is read from.
    fn spare(&self, files: &std::collections::BTreeSet<PathBuf>) -> Result<(), Failure> {
        let sheet = Destination::check(&self.sheet).map_err(Failure::input)?;
        let all = [Some(&sheet), self.csv.as_ref(), self.animate.as_ref()];
        all.into_iter().flatten().try_for_each(|to| to.spare(files, "the scene")).map_err(Failure::input)
    }

    /// Writes everything that there is to show.
    fn write(&self, results: &Results<'_>, sheet: &dyn Fn(usize) -> Sheet) -> Result<Vec<Output>, Failure> {
        let failed = |path: &Path, e: String| {
            Failure::running(format_args!("output \"{}\": cannot be written: {e}", path.display()))
        };
        let mut written = Vec::new();
        let mut put = |to: &Destination, bytes: &[u8]| {
            to.replace(bytes).map_err(|e| failed(&to.path, e.to_string()))?;
            written.push(Output {
                path: to.path.display().to_string(),
                bytes: bytes.len(),
                clamped_pixels: 0,
            });
            Ok(())
        };
        for page in 0..results.grid.pages() {
            let path = self.page(page, results.grid.pages());
            let pictures: Vec<_> = results.grid.page(page).map(|i| results.picture(i)).collect();
            let drawn = sheet(page).draw(&pictures).and_then(|s| png_rgb8(s.width(), s.height(), &s));
            let bytes = drawn.map_err(|e| failed(&path, e))?;
            put(&Destination::check(&path).map_err(Failure::running)?, &bytes)?;
        }
        if let Some(csv) = &self.csv {
            put(csv, results.table().as_bytes())?;
        }
        if let Some(animate) = &self.animate
            && let Some(frames) = results.frames()
        {
            let bytes =
                frames.and_then(|f| animation::png(&f, FRAME)).map_err(|e| failed(&animate.path, e))?;
            put(animate, &bytes)?;
        }
        Ok(written)
    }

    /// The file of a page.
    fn page(&self, page: usize, pages: usize) -> PathBuf {
        if pages == 1 {
            return self.sheet.clone();
        }
        let stem = self.sheet.file_stem().unwrap_or_default().to_string_lossy();
        self.sheet.with_file_name(format!("{stem}-{}.png", page + 1))
    }
}

/// How long an image of an animation is shown.
const FRAME: std::time::Duration = std::time::Duration::from_millis(250);

/// The sheet of a page, without its images.
fn sheet(args: &Args, grid: &Grid, page: usize, cell: [u32; 2]) -> Sheet {
    let scene = || args.scene.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    Sheet {
        title: args.title.clone().unwrap_or_else(scene),
        headings: grid.headings(page),
        cell,
        gap: args.gap,
        theme: args.theme,
    }
}

/// What a sweep has found.
struct Results<'a> {
    args: &'a Args,
    grid: &'a Grid,
    variants: &'a [Variant],
    done: &'a [Option<Shown>],
}

/// What `--json` prints. Fields are added, never renamed.
#[derive(Serialize)]
struct Summary {
    version: &'static str,
    scene: String,
    device: String,
    /// Rendered by this run, and found.
    rendered: usize,
    found: usize,
    interrupted: bool,
    seconds: f64,
    variants: Vec<Row>,
    outputs: Vec<Output>,
    warnings: Vec<String>,
}

/// A variant, for programs.
#[derive(Serialize)]
struct Row {
    parameters: std::collections::BTreeMap<String, String>,
    seed: u32,
    scene_hash: String,
    #[serde(flatten)]
    result: Option<RowResult>,
}

#[derive(Serialize)]
struct RowResult {
    statistics: Statistics,
    spp: u32,
    paths: u64,
    seconds: f64,
    mpaths_per_s: f64,
    rejected_samples: u64,
}

impl Results<'_> {
    /// What is seen of a variant.
    fn picture(&self, i: usize) -> Picture<'_> {
        self.done[i].as_ref().map_or(Picture::Missing("not rendered"), |shown| Picture::Image(&shown.cell))
    }

    /// The frames of an animation, if any variant is there.
    fn frames(&self) -> Option<Result<Vec<RgbImage>, String>> {
        let (width, height) = self.done.iter().flatten().next()?.cell.dimensions();
        let sheet = Sheet {
            headings: Headings {
                size: [1, 1],
                captions: (0..self.done.len()).map(|i| self.grid.name(i)).collect(),
                ..Headings::default()
            },
            ..sheet(self.args, self.grid, 0, [width, height])
        };
        let there = (0..self.done.len()).filter(|i| self.done[*i].is_some());
        Some(there.map(|i| sheet.frame(i, self.picture(i))).collect())
    }

    /// A row for each variant that is there.
    fn table(&self) -> String {
        let mut text: Vec<String> = self.grid.axes().iter().map(|axis| cell_of_csv(&axis.path)).collect();
        text.extend(Statistics::COLUMNS.map(str::to_owned));
        text.extend(["spp", "paths", "seconds", "mpaths_per_s", "rejected_samples"].map(str::to_owned));
        let mut table = text.join(",") + "\n";
        for (i, shown) in self.done.iter().enumerate() {
            let Some(Shown { statistics, told, .. }) = shown else { continue };
            let mut row: Vec<String> = self.grid.settings(i).map(|(_, value)| cell_of_csv(value)).collect();
            row.extend(statistics.values().map(|x| x.to_string()));
            row.extend([told.spp.to_string(), told.paths.to_string(), told.seconds.to_string()]);
            row.extend([rate(told).to_string(), told.rejected.to_string()]);
            table += &(row.join(",") + "\n");
        }
        table
    }

    /// What `--json` says of each variant.
    fn rows(&self) -> Vec<Row> {
        let row = |(i, shown): (usize, &Option<Shown>)| {
            let result = shown.as_ref().map(|Shown { statistics, told, .. }| RowResult {
                statistics: *statistics,
                spp: told.spp,
                paths: told.paths,
                seconds: told.seconds,
                mpaths_per_s: rate(told),
                rejected_samples: told.rejected,
            });
            let scene = &self.variants[i].scene;
            let parameters = self.grid.settings(i).map(|(path, value)| (path.to_owned(), value.to_owned()));
            Row {
                parameters: parameters.collect(),
                seed: scene.settings.seed,
                scene_hash: format!("{:016x}", scene.fingerprint()),
                result,
            }
        };
        self.done.iter().enumerate().map(row).collect()
    }
}

/// Millions of paths a second.
fn rate(told: &Told) -> f64 {
    told.paths as f64 / told.seconds.max(1e-9) / 1e6
}

/// A cell of a table, in quotes if it has to be (RFC 4180).
fn cell_of_csv(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}
