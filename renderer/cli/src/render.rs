//! `torrance render`: a scene to images.

use crate::ExitCode;
use std::collections::{HashMap, HashSet};
use std::io;
use std::iter::once;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use renderer::assemble::{Flattened, SceneData};
use renderer::denoise::{DENOISER, DenoiseError, Denoised, DenoiserChoice, Denoising, Noisy};
use renderer::render::aov::AovPlan;
use renderer::render::{
    Budget, Checkpoints, Control, Identity, IntegratorSummary, Kept, NoiseGoal, Observer, Options, Progress,
    RenderRecord, Rendered, Request, Seconds, Shortage, StageSummary, Summary, identity, provenance,
    stage_chart,
};
use renderer::{Device, Fleet, Integrators, MachineError};
use torrance_image::film::develop::Develop;
use torrance_image::film::encode::{DisplayDepth, Exr, Provenance, SOFTWARE, Settings, encode_layers};
use torrance_image::film::error::ErrorMeasure;
use torrance_image::film::exposure::{Exposure, metered};
use torrance_image::film::interrupted::{InterruptedImage, RELATIVE_STDERR};
use torrance_image::film::layers::STDERR;
use torrance_image::film::ranges::SeedRanges;
use torrance_image::film::rescue::rescue;
use torrance_image::film::tone::Tonemap;
use torrance_image::film::white_balance::WhiteBalance;
use torrance_image::film::write::{Destination, Target, WriteError, WrittenFile};
use torrance_image::film::{Film, Format, Image, ImageEstimate, Layers, Shard, Statistics, write_images};
use torrance_plot::chart::ThemeName;
use torrance_scene::limits::MAX_SPP;
use torrance_scene::{
    Caustics, Direct, Guiding, LightSelection, Masking, Named, Overrides, RenderSettings, Sampler,
};
use torrance_text::quoted_path;

use super::denoise::{DENOISERS, check_noise_is_known, denoised, find_denoising};
use super::device::{self, MachineArgs};
use super::exr::ExrArgs;
use super::heatmap::{self, HeatmapArgs};
use super::integrator::{IntegratorArgs, StageArgs};
use super::live::{LiveArgs, Screens};
use super::noise::NoiseArgs;
use super::resume::{CompleteImage, Found, ResumeArgs, Wanted, path_of};
use super::shard::{ShardArgs, Share};
use super::summary::{tell, wrote};
use super::values::{self, Clamp, RrDepth};
use super::{
    ChartFile, EXIT_CODES, Failure, INTERRUPTED, Laps, Notes, SceneArgs, aov, count, print_json, say,
    say_text, signals, stage_times,
};

const EXAMPLES: &str = "\
Examples:
  torrance render scene.toml -o image.png
  torrance render scene.toml -o image.png -o image.exr --size 1920x1080 --spp 1024
  torrance render scene.toml -o image.exr --time 2m --device cuda:1
  torrance render scene.toml -o image.png --exposure 1.5 --tonemap agx --white-balance 3200
  torrance render scene.toml -o image.exr --aov albedo,N,Z
  torrance render scene.toml -o image.exr --spp 65536 --device cuda:all --resume
  torrance render scene.toml -o part-2.exr --spp 4096 --shard 2/7
  torrance render scene.toml -o image.exr --live now.png --tev
  torrance render scene.toml -o image.exr --json --quiet > summary.json

What an option does not say, the scene file says. EXR, HDR and PFM hold radiance; \
--exposure, --white-balance and --tonemap change the other formats only. A file that is there is replaced when the image is complete, \
and not before. Ctrl-C ends a render early and writes what it has. A file that is there is replaced if it says that it is \
noisier, or that all of its samples are in the new image, too; otherwise the image goes beside it, as NAME.interrupted.png. A render that takes longer than --checkpoint says keeps \
NAME.checkpoint beside its first output, with which --resume goes on, whatever ended it. An image that cannot be written at the end is \
kept in the folder for temporary files, with all that is known of it.
";

/// Render a scene to images
#[derive(Debug, clap::Args)]
#[command(after_help = EXIT_CODES, after_long_help = format!("{EXAMPLES}\n{EXIT_CODES}"))]
pub(super) struct Args {
    #[command(flatten)]
    scene: SceneArgs,

    /// Image to write: .png, .exr, .hdr, .pfm, .jpg, .webp or .jxl; repeat it for several of the same render
    #[arg(short, long, value_name = "FILE", required = true)]
    output: Vec<PathBuf>,

    #[command(flatten)]
    settings: SettingArgs,

    #[command(flatten)]
    shard: ShardArgs,

    #[command(flatten)]
    resume: ResumeArgs,

    #[command(flatten)]
    machine: MachineArgs,

    /// Layers of EXR files: emission, direct, indirect, albedo, N, Ng, Z, P, uv, shape, material, cryptomatte, or all of these,
    /// and what a light brings alone, light:NAME, or light:* for each, separated by commas; halves, by which torrance denoise knows noise;
    /// stderr and samples, what comparing images takes, are always there, but for none; sums, from which merge makes
    /// images without loss, are there in parts of a render
    #[arg(long, value_name = "LAYERS", value_parser = aov::choices)]
    aov: Vec<aov::Choices>,

    /// Names that a pixel of a Cryptomatte can show: an even number up to 16 [default: 6]
    #[arg(long, value_name = "N", value_parser = values::crypto_ranks)]
    crypto_ranks: Option<usize>,

    #[command(flatten)]
    integrator: IntegratorArgs,

    #[command(flatten)]
    stages: StageArgs,

    #[command(flatten)]
    image: ImageArgs,

    /// Remove noise, by Open Image Denoise where its library is found, or else by torrance itself, or as NAME says: see torrance
    /// denoise --help
    #[arg(long, value_name = "NAME", num_args = 0..=1, require_equals = true, default_missing_value = "auto",
          value_parser = values::choice(DENOISERS))]
    denoise: Option<DenoiserChoice>,

    #[command(flatten)]
    heatmap: HeatmapArgs,

    #[command(flatten)]
    live: LiveArgs,

    /// Replace a file that is there even if the render is interrupted and noisier, once every pixel has a sample; a checkpoint, of
    /// whatever render; and an image with which --resume would not go on
    #[arg(long)]
    force: bool,

    /// Print warnings and errors only
    #[arg(short, long)]
    quiet: bool,

    /// Print a summary for programs to stdout, as one JSON object
    #[arg(long)]
    json: bool,
}

/// How to render.
#[derive(Debug, clap::Args)]
pub(super) struct SettingArgs {
    /// Samples per pixel, at most
    #[arg(long, value_name = "N", value_parser = values::spp, allow_negative_numbers = true)]
    spp: Option<u32>,

    /// Time to render, at most: 30s, 2m, 1.5h, or seconds; without --spp, as many samples as it allows
    #[arg(long, value_name = "TIME", value_parser = values::time, allow_negative_numbers = true)]
    pub(super) time: Option<Duration>,

    #[command(flatten)]
    pub(super) noise: NoiseArgs,

    /// Image size, pixels
    #[arg(long, value_name = "WxH", value_parser = values::size)]
    size: Option<(u32, u32)>,

    /// Seed of the random numbers; the same seed gives the same image
    #[arg(long, value_name = "N", value_parser = values::seed, allow_negative_numbers = true)]
    seed: Option<u32>,

    /// Longest path: 1 shows emission only, 2 adds one bounce, and so on
    #[arg(long, value_name = "N", value_parser = values::max_depth, allow_negative_numbers = true)]
    max_depth: Option<u32>,

    /// Bounces before Russian roulette may end a path, or off
    #[arg(long, alias = "rr", value_name = "N", value_parser = values::rr_depth, allow_negative_numbers = true)]
    rr_depth: Option<RrDepth>,

    /// Which random numbers
    #[arg(long, value_name = "NAME", value_parser = values::named(Sampler::NAMES))]
    sampler: Option<Sampler>,

    /// How direct light is estimated
    #[arg(long, value_name = "NAME", value_parser = values::named(Direct::NAMES))]
    direct: Option<Direct>,

    /// By what the light of a sample is chosen
    #[arg(long, value_name = "NAME", value_parser = values::named(LightSelection::NAMES))]
    lights: Option<LightSelection>,

    /// Whether paths are guided by what earlier ones have learnt: for light that is hard to find
    #[arg(long, value_name = "NAME", value_parser = values::named(Guiding::NAMES))]
    guiding: Option<Guiding>,

    /// Most memory that learning that takes, MiB [default: 256]
    #[arg(long, value_name = "MIB", value_parser = values::guiding_memory, allow_negative_numbers = true)]
    guiding_memory: Option<u32>,

    /// How light from suns and directional lights is found that comes by way of smooth surfaces
    #[arg(long, value_name = "NAME", value_parser = values::named(Caustics::NAMES))]
    caustics: Option<Caustics>,

    /// Most radiance that indirect light brings to a sample at once, or off, the default: less noise, and less light
    #[arg(long, value_name = "X", value_parser = values::clamp_indirect, allow_negative_numbers = true)]
    clamp_indirect: Option<Clamp>,

    /// Masking and shadowing of microfacets
    #[arg(long, value_name = "NAME", value_parser = values::named(Masking::NAMES))]
    masking: Option<Masking>,
}

/// How images are written.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct ImageArgs {
    /// Exposure of images for displays: stops (1 doubles the brightness); auto, by which the image's mean is a middle grey; or a
    /// camera's, as in ev100=12 or f/8,1/125,iso=100, for radiance in cd/m² [default: 0, and auto where a model (glTF, OBJ, PLY) is
    /// rendered that would be too dark or bright to be seen]
    #[arg(long, value_name = "STOPS|auto|CAMERA", value_parser = values::exposure, allow_negative_numbers = true)]
    exposure: Option<Exposure>,

    /// Which light looks white: the temperature of a lamp or of daylight, or a colour (linear Rec. 709) [default: 6504 K, D65]
    #[arg(long, value_name = "KELVIN|R,G,B", value_parser = values::white_balance)]
    white_balance: Option<WhiteBalance>,

    /// How images for displays show what is brighter than white
    #[arg(long, value_name = "NAME", default_value = "clip", value_parser = values::choice(values::TONEMAPS))]
    tonemap: Tonemap,

    /// Bits of a channel of PNG and JPEG XL
    #[arg(long, value_name = "BITS", default_value = "8", value_parser = values::choice(values::DISPLAY_DEPTHS))]
    bit_depth: DisplayDepth,

    #[command(flatten)]
    pub(super) exr: ExrArgs,
}

/// Renders as `args` say, which include `common_arguments`, those of all parts of the render.
pub(super) fn run(args: &Args, common_arguments: String) -> Result<ExitCode, Failure> {
    let mut laps = Laps::new();
    let targets = check_outputs(&args.output)?;
    let plot = args.stages.chart(&targets)?;
    let live = args.live.check(&targets, plot.as_ref())?;
    let images = targets.iter().chain(&live).map(|target| &target.destination);
    let heatmap = args.heatmap.check(images.chain(plot.iter().map(|plot| &plot.destination)))?;
    args.integrator.check(&args.stages)?;
    args.shard.check(&targets)?;
    args.settings.noise.check()?;
    let mut plan = aov::plan(&args.aov, &targets)?;
    if plan.has_mattes() {
        args.image.exr.check_ids()?;
        plan = args.crypto_ranks.into_iter().fold(plan, AovPlan::with_ranks);
    } else if args.crypto_ranks.is_some() {
        return Err(Failure::input("--crypto-ranks: there is no Cryptomatte; add --aov cryptomatte"));
    }
    if args.shard.is_part() {
        plan.add_sums();
    }
    let denoising = args.denoising()?;
    if let Some(denoising) = &denoising {
        plan.add_for_denoiser(denoising.takes_halves());
    }
    let mut devices = device::find_all(&args.machine)?;
    let finding = laps.lap();
    signals::catch(args.quiet);
    renderer::limit_threads(args.machine.threads);
    let mut notes = Notes::new(args.quiet);
    if !args.settings.noise.is_of_display() {
        args.image.warn_of_ignored(&[&targets[..], live.as_slice()].concat(), &mut notes);
    }

    let arguments = args.shard.is_part().then_some(common_arguments);
    let seconds = Seconds::default();
    let is_resumed = false;
    let screens = Screens::default();
    let mut render = Render {
        args,
        arguments,
        targets,
        plot,
        heatmap,
        plan,
        denoising,
        is_resumed,
        screens,
        seconds,
        laps,
        notes,
    };
    let warm: Vec<_> = devices.iter().map(Device::warm_up).collect();
    let (settings, mut scene) = render.prepare(live.as_ref())?;
    check_sizes(&render.targets, [scene.width, scene.height])?;
    render.open_screens(live, [scene.width, scene.height]);
    let mut share = args.shard.share(settings.spp, args.settings.spp.is_some())?;
    let goal = args.settings.noise.goal(&args.image, share.parts);
    if let Some(denoising) = &render.denoising {
        check_noise_is_known(denoising, settings.spp)?;
    }
    if let Some(goal) = &goal {
        goal.check(&scene).map_err(Failure::input)?;
        // It depends on the noise what the whole render has.
        share.whole = None;
    }
    let fingerprint = scene.fingerprint();
    let options = Options { stage_times: args.stages.takes_times(), ..render.plan.options() };
    let identity = identity((&scene, fingerprint), &settings, share.samples.start, (&options, goal.as_ref()));
    let wanted = Wanted {
        targets: &render.targets,
        identity: &identity,
        share: &share,
        plan: &render.plan,
        exr: args.image.exr.depth,
        goal: goal.as_ref(),
        goal_of_whole: args.goal_of_whole(),
        is_denoised: render.denoising.is_some(),
        is_forced: args.force,
    };
    let found = args.resume.find(&wanted, &mut render.notes)?;
    let checkpoint = path_of(&render.targets).map(|path| (path, identity.clone()));
    let resumed = match found {
        Found::All(image) => {
            render.seconds.start = finding;
            return render.finish_complete(&settings, (&scene, fingerprint), *image, checkpoint);
        }
        Found::Part(resumed) => Some(*resumed),
        Found::Nothing => None,
    };
    match &checkpoint {
        Some((path, _)) if resumed.is_none() && args.force => Checkpoints::remove_any(path),
        Some((path, identity)) if resumed.is_some() => {
            render.is_resumed = matches!(Checkpoints::of(path, identity), Kept::Ours(_));
        }
        _ => {}
    }
    let checkpoints = args.resume.checkpoints(&render.targets, identity, &mut render.notes);

    let names: Vec<_> = devices.iter().map(Device::name).collect();
    render.notes.display.phase(format!("starting {}", names.join(", ")));
    let (gpu, why) = args.integrator.chosen(&args.stages, true);
    let (cpu, why_of_cpu) = args.integrator.chosen(&args.stages, false);
    let (failing, left_out) = channel();
    let mut fleet = Fleet::start(&mut devices, args.machine.threads, Integrators { gpu, cpu }, failing)?;
    drop(warm);
    let why = if fleet.has_gpu() { why } else { why_of_cpu };
    fleet.prepare(&scene, options, share.samples.len() as u32)?;
    if let Some(surprise) = device::surprise(&devices) {
        render.notes.warn(surprise);
    }
    render.seconds.start = finding + render.laps.lap();
    render.seconds.jit = fleet.jit_time().as_secs_f64();

    let budget = Budget { spp: share.samples.len() as u32, time: args.settings.time, noise: goal };
    let request = Request {
        first_sample: share.samples.start,
        checkpoints: checkpoints.as_ref(),
        resumed,
        ..Request::new(budget, options)
    };
    let rendered =
        trace((&mut fleet, &left_out), &mut scene, request, (&mut render.notes, &mut render.screens));
    if let Some(reason) = checkpoints.as_ref().and_then(Checkpoints::end) {
        let path = checkpoints.as_ref().map(|kept| quoted_path(kept.path())).unwrap_or_default();
        render.notes.warn(format!("{path}: the checkpoint cannot be written: {reason}"));
    }
    render.seconds.render = render.laps.lap();
    render.finish(
        settings,
        (&scene, fingerprint),
        (share, goal),
        (rendered?, fleet.names().join(" + ")),
        why,
        checkpoint,
    )
}

/// Renders until done or interrupted.
fn trace(
    (fleet, left_out): (&mut Fleet, &Receiver<MachineError>),
    scene: &mut SceneData,
    request: Request<'_>,
    (notes, screens): (&mut Notes, &mut Screens),
) -> Result<Rendered, Failure> {
    signals::begin_render();
    notes.display.begin_render(u64::from(scene.width) * u64::from(scene.height));
    screens.begin();
    let (budget, names, shortages) = (request.budget, fleet.names(), HashMap::new());
    let mut watch = Watch { budget, names, shortages, left_out, notes, screens };
    let rendered = fleet.render_last(scene, request, &mut watch);
    warn_of_left_out(left_out, notes);
    Ok(rendered?)
}

/// Shows a render under way, and warns of what happens to it.
struct Watch<'a> {
    budget: Budget,
    /// Those of machines, and what each is short of.
    names: Vec<String>,
    shortages: HashMap<usize, Shortage>,
    left_out: &'a Receiver<MachineError>,
    notes: &'a mut Notes,
    screens: &'a mut Screens,
}

impl Observer for Watch<'_> {
    fn observe(&mut self, progress: &Progress) -> Control {
        let Self { budget, names, shortages, left_out, notes, screens } = self;
        // As soon as it is known: the render may take long for it.
        warn_of_left_out(left_out, notes);
        let Progress { machine, shortage, .. } = *progress;
        if shortages.insert(machine, shortage).unwrap_or_default() != shortage
            && let Some(note) = names.get(machine).and_then(|name| shortage.note(name))
        {
            notes.warn(note);
        }
        screens.warn_of_failures(notes);
        notes.display.update(progress, budget);
        match signals::is_stopping() {
            true => Control::Stop,
            false if screens.want_image() => Control::Show,
            false => Control::Continue,
        }
    }

    fn show(&mut self, _: &Progress, radiance: Vec<[f32; 3]>) {
        self.screens.show(radiance);
    }
}

fn warn_of_left_out(left_out: &Receiver<MachineError>, notes: &mut Notes) {
    for error in left_out.try_iter() {
        notes.warn(format!("{error}; it is left out"));
    }
}

/// Stops from where on next to nothing is seen: a middle grey becomes less than 1/255, or as bright as 6 whites.
const FAR: f32 = 5.0;

/// A render under way: where it goes, how long it took so far, and what was noted.
struct Render<'a> {
    args: &'a Args,
    /// What other parts of it have in common with this one, if it is a part.
    arguments: Option<String>,
    targets: Vec<Target>,
    /// Where the times of stages go.
    plot: Option<ChartFile>,
    heatmap: Option<Destination>,
    plan: AovPlan,
    denoising: Option<Denoising>,
    /// Whether it goes on with a checkpoint.
    is_resumed: bool,
    /// Where the image is shown on the way.
    screens: Screens,
    seconds: Seconds,
    laps: Laps,
    notes: Notes,
}

/// What was made of an image that was complete.
#[derive(Default)]
struct OfComplete {
    outputs: Vec<WrittenFile>,
    failures: Vec<WriteError>,
    /// What has removed its noise.
    denoiser: Option<String>,
}

impl Render<'_> {
    /// Reads the scene and builds what machines take. The scene may read none of the files that are written, the `live` image among them.
    fn prepare(&mut self, live: Option<&Target>) -> Result<(RenderSettings, SceneData), Failure> {
        let args = self.args;
        let shown = args.scene.path.display();
        self.notes.display.phase(format!("reading {shown}"));
        let loaded = args.scene.load(args.settings.overrides(), &mut self.notes)?;
        let places = self.plot.iter().map(|plot| &plot.destination).chain(&self.heatmap);
        let targets = self.targets.iter().chain(live);
        let places = places.chain(targets.map(|target| &target.destination));
        for place in places {
            place.spare(&loaded.files, "the scene").map_err(Failure::input)?;
        }
        self.seconds.load = self.laps.lap();
        self.notes.display.phase("building the scene");
        let wrong = |e| Failure::input(format_args!("{shown}: {e}"));
        let flattened = Flattened::new(&loaded.description).map_err(wrong)?;
        let described = self.plan.describe(&loaded.description);
        described.map_err(|e| Failure::input(format_args!("{shown}: --aov: {e}")))?;
        let settings = loaded.description.render.clone();
        // A large mesh, the hierarchy and what is needed to build it should not be there at once.
        drop(loaded);
        let scene = flattened.build().map_err(wrong)?;
        self.seconds.bvh = scene.stats.bvh_time.as_secs_f64();
        self.seconds.build = self.laps.lap();
        Ok((settings, scene))
    }

    /// Opens what shows the image of a size on the way.
    fn open_screens(&mut self, live: Option<Target>, size: [u32; 2]) {
        let Args { live: wanted, image, output, .. } = self.args;
        let (image, is_model) = (image.clone(), self.is_model());
        let settings = move |shown: &Image| image.settings_on_the_way(shown, is_model);
        let live = live.map(|target| (target.destination, settings));
        self.screens = wanted.open(live, (&output[0], size), &mut self.notes);
    }

    /// Whether the scene is a model, which nobody has exposed.
    fn is_model(&self) -> bool {
        torrance_scene::is_model(&self.args.scene.path)
    }

    /// Tells of an image that is there already, and of which nothing was traced; the other outputs are made of it.
    fn finish_complete(
        mut self,
        settings: &RenderSettings,
        (scene, fingerprint): (&SceneData, u64),
        image: CompleteImage,
        checkpoint: Option<(PathBuf, Identity)>,
    ) -> Result<ExitCode, Failure> {
        let args = self.args;
        if args.stages.takes_times() {
            self.notes.warn("nothing was traced, so that there are no times of stages".into());
        }
        let (spp, rejected_samples) = (image.spp, image.rejected);
        let about = provenance_of(&image, args.scene.file_name(), (scene, fingerprint), settings);
        let OfComplete { outputs, failures, denoiser } = self.write_others(image, about.clone())?;
        self.seconds.write = self.laps.lap();
        self.seconds.total = self.laps.total();
        let (seconds, warnings) = (self.seconds, self.notes.end());
        if !args.quiet && !outputs.is_empty() {
            say(wrote(&outputs));
        }
        unwritten(&failures, None)?;
        if let Some((path, identity)) = checkpoint {
            Checkpoints::remove_of(&path, &identity);
        }
        let summary = untraced(args, settings, scene);
        let summary = Summary {
            device: about.device,
            spp,
            mean_spp: f64::from(spp),
            most_spp: spp.into(),
            rejected_samples,
            denoiser,
            seconds,
            outputs,
            warnings,
            ..summary
        };
        if args.json {
            print_json(&summary)?;
        }
        Ok(ExitCode::SUCCESS)
    }

    /// Writes the outputs that are to be made of a complete image.
    fn write_others(
        &mut self,
        CompleteImage { layers, others, .. }: CompleteImage,
        mut about: Provenance,
    ) -> Result<OfComplete, Failure> {
        if others.is_empty() && self.screens.is_empty() {
            return Ok(Default::default());
        }
        self.notes.display.phase("writing");
        // Sums are what the image was rounded from.
        let image = layers.film().map(|film| Image::from(&film)).or_else(|| layers.image());
        let image = image.ok_or_else(|| Failure::input(layers.no_image()))?;
        let clean = self.denoising.as_ref().map(|denoising| {
            let noisy = Noisy::new(layers.clone());
            let begin = Instant::now();
            let clean = denoised(denoising, &noisy, &mut self.notes, &signals::is_stopping);
            self.seconds.denoise = begin.elapsed().as_secs_f64();
            clean.map_err(Failure::running)
        });
        let (image, layers, denoiser) = match clean.transpose()? {
            Some((clean, _)) => {
                let layers = clean.added_to(layers);
                about = of_denoised(about, &clean);
                (clean.image, layers, Some(clean.by))
            }
            None => (image, layers, None),
        };
        self.screens.show(image.pixels.clone());
        let written = self.args.image.settings_of(&image, self.is_model(), &others, &mut self.notes);
        let (outputs, failures) =
            write(&others, &image, &|| layers.clone(), &written, &about, &mut self.notes);
        self.screens.end(&mut self.notes);
        Ok(OfComplete { outputs, failures, denoiser })
    }

    /// Writes the images of a scene, which has no geometry any more, and tells what happened. `why` the integrator was
    /// chosen is not known if it was measured.
    fn finish(
        self,
        settings: RenderSettings,
        (scene, fingerprint): (&SceneData, u64),
        (share, goal): (Share, Option<NoiseGoal>),
        (rendered, device): (Rendered, String),
        why: Option<&'static str>,
        checkpoint: Option<(PathBuf, Identity)>,
    ) -> Result<ExitCode, Failure> {
        let is_model = self.is_model();
        let Self {
            args, arguments, targets, plot, heatmap, plan, denoising, is_resumed, mut screens, ..
        } = self;
        let Self { mut seconds, mut laps, mut notes, .. } = self;
        let Rendered { film, progress, interrupted, .. } = &rendered;
        seconds.upload = progress.upload.as_secs_f64();
        seconds.longest_launch = progress.longest_launch.as_secs_f64();
        notes.display.phase("writing");
        let (name, record) = (args.scene.file_name(), RenderRecord::from(&rendered));
        let estimate = ImageEstimate::from(film);
        let noise = Statistics::relative_stderr_of(&estimate);
        let about = provenance(name, device, (scene, fingerprint), &settings, &record);
        let noise_goal = args.goal_of_whole().filter(|_| !*interrupted);
        let seed = scene.settings.seed;
        let mut samples = rendered.taken.shard(seed);
        if goal.is_some() && share.parts > 1 {
            samples.noise_parts = SeedRanges::of(seed, once(share.part..share.part + 1));
            samples.whole_noise_parts = Some(share.parts);
        }
        let samples = Some(Shard { whole: share.whole, arguments, noise_goal, ..samples });
        let about = Provenance { relative_stderr: Some(noise), samples, ..about };
        let noisy_layers = || plan.layers(&rendered, scene).saying(about.attributes());
        let noisy = &estimate.image;
        let denoising = denoising.filter(|_| !rendered.is_empty());
        // Ctrl-C has ended the render, or ends this.
        let wants_end = || !*interrupted && signals::is_stopping();
        let (mut clean, mut unclean) = (None, None);
        if let Some(denoising) = denoising {
            match denoised(&denoising, &Noisy::new(noisy_layers()), &mut notes, &wants_end) {
                Ok((image, _)) => clean = Some(image),
                Err(error) => unclean = Some(error),
            }
            seconds.denoise = laps.lap();
        }
        let is_stopped = matches!(unclean, Some(DenoiseError::Interrupted));
        if is_stopped {
            notes.warn("denoising was interrupted: the image is written with its noise".to_owned());
        }
        let clean = clean.as_ref();
        notes.display.phase("writing");
        let image = clean.map_or(noisy, |clean| &clean.image);
        let layers = || match clean {
            Some(clean) => clean.added_to(noisy_layers()),
            None => noisy_layers(),
        };
        let (targets, unplaced) = match *interrupted {
            true if rendered.is_empty() => Default::default(),
            true => {
                let (is_complete, is_forced) = (film.is_complete(), args.force);
                place_interrupted(
                    targets,
                    InterruptedImage { is_complete, is_forced, is_resumed, about: &about },
                    &mut notes,
                )
            }
            false => (targets, Vec::new()),
        };
        if !rendered.is_empty() {
            notes.warn_of_samples(film, noisy);
        }
        if let (Some(goal), false) = (goal, *interrupted) {
            notes.warn_of_noise("the image", (&estimate, noise), &goal);
        }
        let written = match rendered.is_empty() {
            true => args.image.settings(0.0),
            false => {
                screens.show(image.pixels.clone());
                args.image.settings_of(image, is_model, &targets, &mut notes)
            }
        };
        let shown = match clean {
            Some(clean) => of_denoised(about.clone(), clean),
            None => about.clone(),
        };
        let (mut outputs, failed) = write(&targets, image, &layers, &written, &shown, &mut notes);
        screens.end(&mut notes);
        let mut failures = [unplaced, failed].concat();
        let has_samples = |file: &WrittenFile| Format::from_path(file.path.as_ref()) == Ok(Format::Exr);
        let kept = (!failures.is_empty() && !outputs.iter().any(has_samples))
            .then(|| keep_elsewhere(&args.output[0], with_noise(layers(), film)));
        if let (Some(plot), Some(times)) = (&plot, &rendered.stage_times) {
            let Film { width, height, .. } = film;
            let scene = args.scene.path.display();
            let title = format!("{scene}, {width}×{height}, {} spp on {}", about.spp, about.device);
            match plot.draw(&stage_chart::chart(times, &title, ThemeName::Light.theme())) {
                Ok(written) => outputs.push(written),
                Err(error) => failures.push(error),
            }
        }
        if let (Some(place), false) = (&heatmap, rendered.is_empty()) {
            match heatmap::write(place, film, args.quiet) {
                Ok(written) => outputs.push(written),
                Err(error) => failures.push(error),
            }
        }
        seconds.write = laps.lap();
        seconds.total = laps.total();
        let summary = Summary {
            device: about.device,
            spp: record.spp,
            mean_spp: record.mean_spp,
            most_spp: film.most_spp(),
            integrator: IntegratorSummary::new(rendered.integrator, why),
            seconds,
            paths: progress.paths,
            mpaths_per_s: progress.mpaths_per_s(),
            rejected_samples: film.rejected(),
            denoiser: clean.map(|clean| clean.by.clone()),
            interrupted: *interrupted || is_stopped,
            outputs,
            warnings: notes.end(),
            stages: rendered.stage_times.as_ref().map(StageSummary::from),
            ..untraced(args, &settings, scene)
        };
        if !args.quiet {
            tell(&summary, progress);
            if let (true, Some(times)) = (args.stages.stage_times, &rendered.stage_times) {
                say_text(&stage_times::Table(times).to_string());
            }
        }
        unwritten(&failures, kept.as_deref())?;
        if let (Some(error), false) = (&unclean, is_stopped) {
            return Err(Failure::running(format_args!(
                "the image is written as it is, with its noise: {error}"
            )));
        }
        if let Some((path, identity)) = checkpoint {
            match *interrupted {
                true if matches!(Checkpoints::of(&path, &identity), Kept::Ours(_)) && !args.quiet => {
                    say(format_args!("{} is kept: --resume goes on with it", quoted_path(&path)));
                }
                true => {}
                false => Checkpoints::remove_of(&path, &identity),
            }
        }
        if args.json {
            print_json(&summary)?;
        }
        Ok(if *interrupted || is_stopped { ExitCode::from(INTERRUPTED) } else { ExitCode::SUCCESS })
    }
}

/// What the file of a denoised image says of it, of what it says of the noisy one.
fn of_denoised(about: Provenance, clean: &Denoised) -> Provenance {
    // The error is that of the noisy image.
    let mut about = Provenance { relative_stderr: None, ..about };
    about.settings.push((DENOISER, clean.by.clone()));
    about
}

/// What the file of a complete image of a scene says of it.
fn provenance_of(
    CompleteImage { layers, shard, spp, .. }: &CompleteImage,
    name: String,
    scene: (&SceneData, u64),
    settings: &RenderSettings,
) -> Provenance {
    let said = |attribute: &str| layers.attributes.get(attribute);
    let device = said("device").cloned().unwrap_or_default();
    let record = RenderRecord { spp: *spp, ..RenderRecord::default() };
    let relative_stderr = said(RELATIVE_STDERR).and_then(|noise| noise.parse().ok());
    let about = provenance(name, device, scene, settings, &record);
    Provenance { relative_stderr, samples: Some(shard.clone()), ..about }
}

/// What there is to tell of a scene before its first path is traced.
fn untraced(args: &Args, settings: &RenderSettings, scene: &SceneData) -> Summary {
    Summary {
        version: env!("CARGO_PKG_VERSION"),
        scene: args.scene.path.to_string_lossy().into_owned(),
        device: String::new(),
        width: scene.width,
        height: scene.height,
        spp: 0,
        mean_spp: 0.0,
        most_spp: 0,
        seed: settings.seed,
        max_depth: settings.max_depth,
        integrator: IntegratorSummary::NONE,
        seconds: Seconds::default(),
        paths: 0,
        mpaths_per_s: 0.0,
        rejected_samples: 0,
        denoiser: None,
        interrupted: false,
        outputs: Vec::new(),
        warnings: Vec::new(),
        contents: scene.stats,
        stages: None,
    }
}

/// Writes every image that can be written, and warns of data that its format cannot hold.
fn write(
    targets: &[Target],
    image: &Image,
    layers: &dyn Fn() -> Layers,
    settings: &Settings,
    about: &Provenance,
    notes: &mut Notes,
) -> (Vec<WrittenFile>, Vec<WriteError>) {
    let (written, failed) = write_images(targets, image, layers, settings, about);
    for WrittenFile { path, clamped_pixels, .. } in written.iter().filter(|file| file.clamped_pixels > 0) {
        let pixels = count(*clamped_pixels as u64, "pixel");
        notes.warn(format!("output \"{path}\": {pixels} outside what the format holds, clamped"));
    }
    (written, failed)
}

/// Where the images of an interrupted render go, with those that can go nowhere.
fn place_interrupted(
    targets: Vec<Target>,
    image: InterruptedImage<'_>,
    notes: &mut Notes,
) -> (Vec<Target>, Vec<WriteError>) {
    let force = match image.is_complete {
        true => "--force would replace it",
        false => "it lacks samples of some pixels",
    };
    let (mut placed, mut failed) = (Vec::new(), Vec::new());
    for target in targets {
        let path = target.destination.path.clone();
        match image.target(target) {
            Ok(target) => {
                let beside = &target.destination.path;
                if *beside != path {
                    notes.warn(format!(
                        "{} is there and stays, since the render was interrupted; this image goes to {}; {force}",
                        quoted_path(&path),
                        quoted_path(beside)
                    ));
                }
                placed.push(target);
            }
            Err(error) => failed.push(WriteError::new(&path, &error.reason)),
        }
    }
    (placed, failed)
}

/// Layers that hold standard errors and numbers of samples, whether they were asked for or not.
fn with_noise(mut layers: Layers, film: &Film) -> Layers {
    if layers.channel(&format!("{STDERR}.R")).is_none() {
        layers.push_stderr(film);
        layers.push_samples(film);
    }
    layers
}

/// Writes an image whose place cannot be written, with all its layers, to another: says where that is, or why there is none.
fn keep_elsewhere(output: &Path, layers: Layers) -> String {
    let encoded = encode_layers(layers, Exr::default()).map_err(io::Error::other);
    kept_elsewhere(encoded.and_then(|encoded| rescue(&output.with_extension("exr"), &encoded.bytes)))
}

/// Says where an image is that could not be written where it should.
pub(super) fn kept_elsewhere(rescued: io::Result<PathBuf>) -> String {
    match rescued {
        Ok(path) => format!("the image, with all its layers, is kept in {}", quoted_path(path)),
        Err(reason) => format!("nor can the image be kept elsewhere: {reason}"),
    }
}

/// The failure of files that were not written, with where their image is `kept`.
fn unwritten(failed: &[WriteError], kept: Option<&str>) -> Result<(), Failure> {
    if failed.is_empty() {
        return Ok(());
    }
    let reasons: Vec<_> = failed.iter().map(WriteError::to_string).collect();
    let kept = kept.map(|kept| format!("\n{kept}")).unwrap_or_default();
    Err(Failure::running(reasons.join("\nerror: ") + &kept))
}

/// Checks where images are to go, before anything else is done.
pub(super) fn check_outputs(paths: &[PathBuf]) -> Result<Vec<Target>, Failure> {
    let mut files = HashSet::new();
    let check = |path: &PathBuf| {
        let target = Target::check(path).map_err(Failure::input)?;
        match files.insert(target.destination.file().to_owned()) {
            true => Ok(target),
            false => Err(Failure::output(path, "given twice")),
        }
    };
    paths.iter().map(check).collect()
}

/// Checks that the formats of the files have room for an image of this width and height, before it is computed.
pub(super) fn check_sizes(targets: &[Target], size: [u32; 2]) -> Result<(), Failure> {
    targets.iter().try_for_each(|target| target.check_size(size)).map_err(Failure::input)
}

/// As [`check_outputs`], for what is made of an image, which is to stay as it is.
pub(super) fn check_outputs_of(image: &Path, paths: &[PathBuf]) -> Result<Vec<Target>, Failure> {
    let targets = check_outputs(paths)?;
    if targets.iter().any(|target| target.destination.is_file(image)) {
        return Err(Failure::input(format_args!(
            "\"{}\": would be replaced; write to another file",
            image.display()
        )));
    }
    Ok(targets)
}

impl Args {
    /// The noise that the whole render is to reach, as files say it.
    fn goal_of_whole(&self) -> Option<String> {
        self.settings.noise.goal(&self.image, 1).map(|goal| goal.to_string())
    }

    /// What denoises the image, if that is wanted.
    fn denoising(&self) -> Result<Option<Denoising>, Failure> {
        let Some(choice) = self.denoise else { return Ok(None) };
        if self.shard.is_part() {
            return Err(Failure::input(
                "--denoise: this is a part of a render; merge the parts, then denoise the image with torrance denoise",
            ));
        }
        find_denoising(choice, &self.machine).map(Some)
    }
}

impl SettingArgs {
    /// The option that counts more than the parameter at a path of such keys, or than a part of it, if one was given.
    pub(super) fn overriding(&self, keys: &[String]) -> Option<&'static str> {
        let spp = || self.spp.map(|_| "--spp");
        let given = [
            (&["size", "width", "height"][..], self.size.map(|_| "--size")),
            (&["spp"], spp().or(self.time.map(|_| "--time")).or(self.noise.is_given().then_some("--noise"))),
            (&["seed"], self.seed.map(|_| "--seed")),
            (&["max_depth"], self.max_depth.map(|_| "--max-depth")),
            (&["rr"], self.rr_depth.map(|_| "--rr-depth")),
            (&["sampler"], self.sampler.map(|_| "--sampler")),
            (&["direct"], self.direct.map(|_| "--direct")),
            (&["lights"], self.lights.map(|_| "--lights")),
            (&["guiding"], self.guiding.map(|_| "--guiding")),
            (&["guiding_memory"], self.guiding_memory.map(|_| "--guiding-memory")),
            (&["caustics"], self.caustics.map(|_| "--caustics")),
            (&["clamp_indirect"], self.clamp_indirect.map(|_| "--clamp-indirect")),
            (&["masking"], self.masking.map(|_| "--masking")),
        ];
        let (_, rest) = keys.split_first().filter(|(first, _)| *first == "render")?;
        let is_about = |names: &[&str]| rest.first().is_none_or(|name| names.contains(&name.as_str()));
        given.into_iter().filter(|(names, _)| is_about(names)).find_map(|(_, option)| option)
    }

    /// Settings that take precedence over the scene's.
    pub(super) fn overrides(&self) -> Overrides {
        Overrides {
            size: self.size,
            // A time or an error alone leaves the samples open.
            spp: self.spp.or((self.time.is_some() || self.noise.is_given()).then_some(MAX_SPP)),
            seed: self.seed,
            max_depth: self.max_depth,
            rr_depth: self.rr_depth.map(|r| r.0),
            sampler: self.sampler,
            direct: self.direct,
            lights: self.lights,
            guiding: self.guiding,
            guiding_memory: self.guiding_memory,
            caustics: self.caustics,
            clamp_indirect: self.clamp_indirect.map(|clamp| clamp.0),
            masking: self.masking,
        }
    }
}

impl ImageArgs {
    /// Writes an image that was made of another, and says which files there are.
    pub(super) fn write_made(
        &self,
        targets: &[Target],
        image: &Image,
        layers: &dyn Fn() -> Layers,
        notes: &mut Notes,
    ) -> Result<Vec<WrittenFile>, Failure> {
        let about = Provenance { software: SOFTWARE.into(), ..Provenance::default() };
        let settings = self.settings_of(image, false, targets, notes);
        let (written, failures) = write(targets, image, layers, &settings, &about, notes);
        unwritten(&failures, None)?;
        Ok(written)
    }

    /// For one image, which is metered if that is wanted, or if it is of a model and is not to be seen otherwise.
    pub(super) fn settings_of(
        &self,
        image: &Image,
        is_model: bool,
        targets: &[Target],
        notes: &mut Notes,
    ) -> Settings {
        if !targets.iter().any(|target| target.format.is_display_referred()) {
            return self.settings(0.0);
        }
        if let Some(Exposure::Stops(stops)) = self.exposure {
            return self.settings(stops);
        }
        let Some(stops) = metered(image) else {
            notes.warn("the image is black".into());
            return self.settings(0.0);
        };
        let (is_far, what) = (stops.abs() > FAR, if stops > 0.0 { "dark" } else { "bright" });
        if self.exposure == Some(Exposure::Auto) {
            notes.say(&[format!("exposed by {stops:+.1} stops")]);
        } else if is_far && is_model {
            notes.say(&[format!(
                "exposed by {stops:+.1} stops: it is too {what} to be seen otherwise (--exposure 0)"
            )]);
        } else if is_far {
            let stops = stops.abs();
            notes.warn(format!(
                "the image is {stops:.1} stops too {what} for a display; --exposure auto corrects that"
            ));
        }
        self.settings(self.stops(is_model, || Some(stops)))
    }

    /// As [`ImageArgs::settings_of`], for an image under way, of which nothing is said.
    pub(super) fn settings_on_the_way(&self, image: &Image, is_model: bool) -> Settings {
        self.settings(self.stops(is_model, || metered(image)))
    }

    /// Stops by which an image is exposed that is metered so.
    fn stops(&self, is_model: bool, metered: impl FnOnce() -> Option<f32>) -> f32 {
        match self.exposure {
            Some(Exposure::Stops(stops)) => stops,
            Some(Exposure::Auto) => metered().unwrap_or(0.0),
            None if is_model => metered().filter(|stops| stops.abs() > FAR).unwrap_or(0.0),
            None => 0.0,
        }
    }

    /// How displays show errors.
    pub(super) fn displayed(&self) -> ErrorMeasure {
        let exposure = self.exposure.unwrap_or(Exposure::Stops(0.0));
        let (white_balance, tonemap) = (self.white_balance.unwrap_or_default(), self.tonemap);
        ErrorMeasure::Displayed { exposure, white_balance, tonemap }
    }

    /// For many images, which are to be compared.
    pub(super) fn settings_of_all(&self) -> Result<Settings, Failure> {
        match self.exposure {
            Some(Exposure::Stops(stops)) => Ok(self.settings(stops)),
            None => Ok(self.settings(0.0)),
            Some(Exposure::Auto) => Err(Failure::input(
                "--exposure auto exposes each image by itself, and these are to be compared: give stops",
            )),
        }
    }

    fn settings(&self, exposure: f32) -> Settings {
        let white_balance = self.white_balance.unwrap_or_default();
        let develop = Develop { exposure, white_balance, tonemap: self.tonemap };
        Settings { develop, bits: self.bit_depth, exr: self.exr.into() }
    }

    /// Warns of options that have no effect on the outputs.
    pub(super) fn warn_of_ignored(&self, targets: &[Target], notes: &mut Notes) {
        let is_developed =
            self.exposure.is_some() || self.white_balance.is_some() || self.tonemap != Tonemap::default();
        if is_developed && !targets.iter().any(|t| t.format.is_display_referred()) {
            notes.warn(
                "--exposure, --white-balance and --tonemap change images for displays; these outputs hold radiance"
                    .into(),
            );
        }
        if self.bit_depth != DisplayDepth::default() && !targets.iter().any(|t| t.format.has_16_bits()) {
            notes.warn("--bit-depth changes PNG and JPEG XL only, and none is written".into());
        }
        self.exr.warn_of_ignored(targets, notes);
    }
}
