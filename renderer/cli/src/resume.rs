//! `--checkpoint` and `--resume`: renders that go on where they were.

use std::collections::BTreeSet;
use std::fmt::Display;
use std::io::ErrorKind;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::Duration;

use renderer::denoise::LAYER as DENOISED;
use renderer::render::aov::{AovPlan, layers_of};
use renderer::render::{Checkpoints, ErrorGoal, Identity, Kept, NoiseGoal, ResumeError, Resumed};
use torrance_image::film::encode::ExrDepth;
use torrance_image::film::layers::{CLAMP_INDIRECT, SAMPLES, STDERR, Samples};
use torrance_image::film::ranges::SampleRanges;
use torrance_image::film::write::{Destination, Target};
use torrance_image::film::{Film, Format, ImageEstimate, Layers, Pixel, Shard, Statistics, read_layers};
use torrance_text::quoted_path;

use super::shard::Share;
use super::{Failure, Notes, values};

/// Keeping what is rendered, and going on with it.
#[derive(Debug, clap::Args)]
pub(super) struct ResumeArgs {
    /// How often to keep what is rendered so far, beside the first output as NAME.checkpoint; or off. It is removed when the image
    /// is complete
    #[arg(long, value_name = "TIME|off", default_value = "10s", value_parser = values::checkpoint, allow_negative_numbers = true)]
    checkpoint: CheckpointTime,

    /// Go on with the checkpoint of an earlier run, or take the samples that a finished EXR file lacks; anew if there is neither
    #[arg(long)]
    pub(super) resume: bool,
}

/// Time between checkpoints, if there are any.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CheckpointTime(pub(super) Option<Duration>);

/// What there was of a render.
pub(super) enum Found {
    /// Nothing, or nothing to go on with.
    Nothing,
    /// Films to go on with.
    Part(Box<Resumed>),
    /// The image is complete.
    All(Box<CompleteImage>),
}

/// The render that is asked for, and how its images are to be.
pub(super) struct Wanted<'a> {
    pub(super) targets: &'a [Target],
    pub(super) identity: &'a Identity,
    pub(super) share: &'a Share,
    /// The layers of EXR files.
    pub(super) plan: &'a AovPlan,
    pub(super) exr: ExrDepth,
    /// The noise to reach.
    pub(super) goal: Option<&'a NoiseGoal>,
    /// What files say of it, which is that of the whole render.
    pub(super) goal_of_whole: Option<String>,
    /// Whether it is to be denoised.
    pub(super) is_denoised: bool,
    pub(super) is_forced: bool,
}

/// An image that is complete.
pub(super) struct CompleteImage {
    pub(super) layers: Layers,
    pub(super) shard: Shard,
    /// The outputs that are to be made of it.
    pub(super) others: Vec<Target>,
    /// Samples of a pixel.
    pub(super) spp: u32,
    /// Samples of all pixels that were left out.
    pub(super) rejected: u64,
}

impl ResumeArgs {
    /// Where checkpoints of a render go, if they are wanted and can be there.
    pub(super) fn checkpoints(
        &self,
        targets: &[Target],
        identity: Identity,
        notes: &mut Notes,
    ) -> Option<Checkpoints> {
        let (every, path) = (self.checkpoint.0?, path_of(targets)?);
        if let Err(e) = Destination::check(&path) {
            notes.warn(format!("{}: there will be no checkpoint: {}", quoted_path(&path), e.reason));
            return None;
        }
        let checkpoints = Checkpoints::new(path, every, identity);
        // Whoever stops a render that is to be resumed, stops it to be resumed.
        Some(if self.resume { checkpoints.of_short_renders() } else { checkpoints })
    }

    /// Finds what there is of a render.
    pub(super) fn find(&self, wanted: &Wanted<'_>, notes: &mut Notes) -> Result<Found, Failure> {
        let Wanted { targets, identity, share, is_forced, .. } = *wanted;
        let Some(path) = path_of(targets) else { return Ok(Found::Nothing) };
        let shown = quoted_path(&path);
        let refused = |reason: &dyn Display| Err(Failure::input(format_args!("{shown}: {reason}")));
        if !self.resume {
            return match Checkpoints::of(&path, identity) {
                _ if is_forced => Ok(Found::Nothing),
                Kept::Ours(spp) => refused(&format_args!(
                    "it has {spp:.0} samples of each pixel of this render: --resume goes on with them, and --force begins \
                     anew"
                )),
                Kept::Others(differing) => refused(&format_args!(
                    "it is the checkpoint of another render: {}; --force begins anew, and replaces it",
                    differing.join("; ")
                )),
                Kept::Nothing => Ok(Found::Nothing),
            };
        }
        match Resumed::read(&path, identity) {
            Ok(resumed) if resumed.end() > share.samples.end => {
                let [has, wanted] = [resumed.end(), share.samples.end];
                return refused(&format_args!("it has samples up to {has}, and {wanted} are asked for"));
            }
            Ok(resumed) => {
                notes.say(&[format!(
                    "going on with {shown}: {:.1} samples of each pixel",
                    resumed.mean_spp()
                )]);
                return Ok(Found::Part(Box::new(resumed)));
            }
            Err(ResumeError::Io(e)) if e.kind() == ErrorKind::NotFound => {}
            Err(ResumeError::Other(_)) if is_forced => return Ok(Found::Nothing),
            Err(ResumeError::Damaged(reason)) => {
                notes.warn(format!("{shown}: it is no whole checkpoint, and is left aside: {reason}"));
            }
            Err(e) => return refused(&format_args!("{e}; --force begins anew, and replaces it")),
        }
        finished(wanted, notes)
    }
}

/// Where the checkpoint of a render to some outputs is, in whatever order they were given when it was written; beside the first if
/// there is none.
pub(super) fn path_of(targets: &[Target]) -> Option<PathBuf> {
    let mut paths = targets.iter().map(|target| Checkpoints::path_beside(&target.destination.path));
    let first = paths.clone().next();
    paths.find(|path| path.exists()).or(first)
}

/// An output that is there already, of the render that is asked for.
struct Earlier {
    path: PathBuf,
    layers: Layers,
    shard: Shard,
    /// Its samples, or why they cannot be gone on with.
    samples: Result<Range<u32>, String>,
}

/// Finds what there is of a render in its outputs: one is all of it, or the one with most samples is gone on with.
fn finished(wanted: &Wanted<'_>, notes: &mut Notes) -> Result<Found, Failure> {
    let paths = wanted.targets.iter().filter(|target| target.format == Format::Exr);
    let paths = paths.map(|target| &target.destination.path).filter(|path| path.exists());
    let images = match paths.map(|path| Earlier::read(path, wanted)).collect::<Result<Vec<_>, _>>() {
        Err(_) if wanted.is_forced => return Ok(Found::Nothing),
        images => images?,
    };
    let Some(first) = images.first() else {
        notes.say(&["there is nothing to resume: beginning anew".to_owned()]);
        return Ok(Found::Nothing);
    };
    let done = images.iter().position(|image| image.is_done(wanted));
    if let Some(complete) = done.or_else(|| images.iter().position(|image| image.is_complete(wanted))) {
        return complete_image(images, complete, wanted, notes).map(|image| Found::All(Box::new(image)));
    }
    let anew = |image: &Earlier, reason: &str| match wanted.is_forced {
        true => Ok(Found::Nothing),
        false => Err(image.refused(&reason)),
    };
    let fitting = images.iter().filter_map(|image| Some((image, image.samples.as_ref().ok()?)));
    let Some((best, samples)) = fitting.max_by_key(|(_, samples)| samples.end) else {
        let reason = first.samples.as_ref().err().cloned().unwrap_or_default();
        let denoise = if wanted.is_denoised { "; torrance denoise takes the image as it is" } else { "" };
        return anew(first, &format!("{reason}{denoise}; --force begins anew"));
    };
    let resumed = match resumed(&best.layers, samples.clone(), wanted) {
        Ok(resumed) => resumed,
        Err(reason) => return anew(best, &reason),
    };
    if !wanted.is_forced {
        images.iter().try_for_each(|image| image.check_in(best, &wanted.plan.names()))?;
    }
    let shown = quoted_path(&best.path);
    if is_rounded(&best.layers) {
        notes.warn(format!("{shown} is rounded to half floats, and so is what its samples add to the image"));
    }
    let verb = if samples.end == wanted.share.samples.end { "rewriting" } else { "extending" };
    notes.say(&[format!("{verb} {shown}: {} samples of each pixel are there", samples.len())]);
    Ok(Found::Part(Box::new(resumed)))
}

/// The image that is complete, and the outputs that are to be made of it.
fn complete_image(
    mut images: Vec<Earlier>,
    complete: usize,
    wanted: &Wanted<'_>,
    notes: &mut Notes,
) -> Result<CompleteImage, Failure> {
    let (done, outdated): (Vec<_>, Vec<_>) = images.iter().partition(|image| image.is_done(wanted));
    let is_done = |target: &&Target| done.iter().any(|image| image.path == target.destination.path);
    let others: Vec<_> = wanted.targets.iter().filter(|target| !is_done(target)).cloned().collect();
    let image = &images[complete];
    let samples = image.samples.clone().unwrap_or_else(|_| 0..fewest(&image.layers));
    if !others.is_empty() {
        check_end(&samples, wanted).map_err(|e| image.refused(&e))?;
    }
    if !wanted.is_forced {
        let mut others = outdated.iter().filter(|other| other.path != image.path);
        others.try_for_each(|other| other.check_in(image, &layers_of(&image.layers)))?;
    }
    let has = if image.has_reached_noise(wanted) { "reached its noise" } else { "all of its samples" };
    notes.say(&[format!("{} has {has} already", quoted_path(&image.path))]);
    let Earlier { layers, shard, .. } = images.swap_remove(complete);
    Ok(CompleteImage {
        rejected: lacking(&layers, samples.len()),
        spp: samples.len() as u32,
        layers,
        shard,
        others,
    })
}

impl Earlier {
    /// Reads an image, which has to be of the render that is asked for.
    fn read(path: &Path, wanted: &Wanted<'_>) -> Result<Self, Failure> {
        let wrong = |reason: &dyn Display| refused(path, reason);
        let layers = read_layers(path).map_err(|e| wrong(&e))?;
        check_same(&layers, wanted.identity).map_err(|e| wrong(&e))?;
        let shard = Shard::read(&layers.attributes).map_err(|e| wrong(&e))?;
        let shard = shard.ok_or_else(|| wrong(&"it does not say which samples it has"))?;
        let samples = first_samples(&shard, wanted.identity, wanted.share);
        Ok(Self { path: path.to_owned(), layers, shard, samples })
    }

    fn refused(&self, reason: &dyn Display) -> Failure {
        refused(&self.path, reason)
    }

    /// Whether it was rendered to the noise that is asked for, and its pixels, each with as many samples as that took, have reached it.
    fn has_reached_noise(&self, wanted: &Wanted<'_>) -> bool {
        let Some(goal) = wanted.goal else { return false };
        let Shard { ranges, partial, noise_goal, noise_parts, .. } = &self.shard;
        let seed = wanted.identity.get("seed");
        let is_of_seed = ranges.0.keys().all(|own| Some(&own.to_string()) == seed);
        let is_even = partial.0.is_empty() && noise_parts.0.is_empty();
        let is_of_it = match is_even {
            // Whatever its samples were taken for, all pixels have the first ones.
            true => self.samples.is_ok(),
            false => is_of_seed && noise_goal.is_some() && *noise_goal == wanted.goal_of_whole,
        };
        let has_parts = match wanted.share.parts {
            _ if is_even => true,
            1 => self.shard.missing_noise_parts().is_empty(),
            parts => {
                let part = wanted.share.part..wanted.share.part + 1;
                let seeds: Vec<_> = noise_parts.0.values().collect();
                self.shard.whole_noise_parts == Some(parts) && seeds == [&SampleRanges::from_iter([part])]
            }
        };
        let estimate = || ImageEstimate::from_layer(&self.layers, "", Format::Exr).ok();
        // Parts that have each reached what is asked of them may together miss the bound by a little.
        let slack = if noise_parts.0.is_empty() || wanted.share.parts > 1 { 1.0 } else { 1.05 };
        let has_reached = |measured: &ImageEstimate| match goal {
            NoiseGoal::Pixels(goal) => {
                ErrorGoal { bound: slack * goal.bound, ..*goal }.shortfall(measured).is_none()
            }
            NoiseGoal::Image(bound) => Statistics::relative_stderr_of(measured) <= slack * bound,
        };
        is_of_it && has_parts && estimate().is_some_and(|measured| has_reached(&measured))
    }

    /// Whether it has all samples, and is as it would be written.
    fn is_complete(&self, wanted @ Wanted { share, plan, exr, .. }: &Wanted<'_>) -> bool {
        let has_all = self.samples.as_ref().is_ok_and(|samples| samples.end >= share.samples.end);
        (has_all || self.has_reached_noise(wanted))
            && is_half(&self.layers) == (*exr == ExrDepth::Half)
            && plan.is_in(&self.layers)
    }

    /// Whether it is also denoised, if that is wanted.
    fn is_done(&self, wanted: &Wanted<'_>) -> bool {
        let is_denoised = || self.layers.rgb_channels(DENOISED).is_some();
        self.is_complete(wanted) && (!wanted.is_denoised || is_denoised())
    }

    /// Checks that nothing is lost where it is replaced by what goes on with another image, and has these layers.
    fn check_in(&self, other: &Self, layers: &BTreeSet<&str>) -> Result<(), Failure> {
        if !other.shard.includes(&self.shard) {
            let (other, samples) = (quoted_path(&other.path), &self.shard.ranges);
            return Err(self.refused(&format_args!(
                "it has other samples than {other}, which would be lost: {samples}; --force drops them"
            )));
        }
        let own = layers_of(&self.layers);
        let lost: Vec<_> = own.difference(layers).copied().collect();
        if lost.is_empty() {
            return Ok(());
        }
        let lost = lost.join(", ");
        Err(self.refused(&format_args!("it has layers that would be lost: {lost}; --force drops them")))
    }
}

fn refused(path: &Path, reason: &dyn Display) -> Failure {
    Failure::input(format_args!("{}: {reason}", quoted_path(path)))
}

/// A render that goes on with an image of these samples.
fn resumed(
    layers: &Layers,
    samples: Range<u32>,
    wanted @ Wanted { plan, exr, share, .. }: &Wanted<'_>,
) -> Result<Resumed, String> {
    check_end(&samples, wanted)?;
    if plan.has_other_films() {
        let reason = "layers but stderr, samples and sums cannot be extended";
        let denoise = if wanted.is_denoised { "torrance denoise takes the image as it is; " } else { "" };
        return Err(format!(
            "{reason}; {denoise}leave --aov and --denoise out, or begin anew without --resume"
        ));
    }
    if is_rounded(layers) && samples.end == share.samples.end && *exr == ExrDepth::Float {
        let reason = "it is rounded to half floats, of which --exr float cannot be made";
        return Err(format!("{reason}; add --exr half, or leave --resume out to begin anew"));
    }
    let film = layers.film().or_else(|| film_of_moments(layers));
    let film = film.ok_or("it has no layers \"stderr\" and \"samples\"; --force begins anew")?;
    let seconds = layers.attributes.get("renderTime").and_then(|time| time.parse().ok()).unwrap_or(0.0);
    Ok(Resumed::of_film(film, samples, seconds))
}

/// Checks that an image of these samples has no more than are asked for.
fn check_end(samples: &Range<u32>, Wanted { share, .. }: &Wanted<'_>) -> Result<(), String> {
    let [has, wanted] = [samples.end, share.samples.end];
    match has > wanted {
        true => Err(format!("it has samples up to {has}, and {wanted} are asked for")),
        false => Ok(()),
    }
}

/// Whether the samples of an image are known only as rounded to half floats.
fn is_rounded(layers: &Layers) -> bool {
    is_half(layers) && !layers.has_sums()
}

/// Whether the colours of an image are rounded to half floats.
fn is_half(layers: &Layers) -> bool {
    layers.channel("R").is_some_and(|red| matches!(red.samples, Samples::Half(_)))
}

/// Samples that pixels lack which would have so many each: those that were left out.
fn lacking(layers: &Layers, spp: usize) -> u64 {
    let lacking = |counts: &Samples| {
        (0..counts.len()).map(|i| (spp as u64).saturating_sub(counts.get_f64(i) as u64)).sum()
    };
    layers.channel(SAMPLES).map_or(0, |channel| lacking(&channel.samples))
}

/// Samples of the pixel that has fewest.
fn fewest(layers: &Layers) -> u32 {
    let fewest = |counts: &Samples| (0..counts.len()).map(|i| counts.get_f64(i) as u32).min();
    layers.channel(SAMPLES).and_then(|channel| fewest(&channel.samples)).unwrap_or(0)
}

/// Checks that an image is of the render that is asked for.
fn check_same(layers: &Layers, identity: &Identity) -> Result<(), String> {
    let size = format!("{}x{}", layers.width, layers.height);
    if identity.get("size").is_some_and(|wanted| *wanted != size) {
        return Err(format!("it has {size} pixels, not {}", identity["size"]));
    }
    let differing = identity.iter().filter_map(|(name, wanted)| {
        let found = layers.attributes.get(attribute_of(name)?).map(String::as_str);
        // Images that are not clamped say nothing of it.
        let found = found.or((name == "clamping").then_some("off"))?;
        (found != wanted).then(|| format!("its {name} is {found}, not {wanted}"))
    });
    let differing: Vec<_> = differing.collect();
    match differing.is_empty() {
        true => Ok(()),
        false => Err(format!("it is of another render: {}", differing.join("; "))),
    }
}

/// The samples of an image, which have to be the first ones of those that are asked for.
fn first_samples(shard: &Shard, identity: &Identity, share: &Share) -> Result<Range<u32>, String> {
    if shard.is_interrupted() {
        return Err("some of its pixels lack samples, and there is no checkpoint".to_owned());
    }
    if let (Some(goal), false) = (&shard.noise_goal, shard.partial.0.is_empty()) {
        return Err(format!("its samples went where the noise was, to {goal}, and cannot be gone on with"));
    }
    let ranges = shard.ranges.0.iter().flat_map(|(seed, r)| r.iter().map(move |range| (*seed, range)));
    let [(seed, samples)] = &ranges.collect::<Vec<_>>()[..] else {
        return Err("it is merged of several ranges of samples".to_owned());
    };
    let wanted = identity.get("seed").cloned().unwrap_or_default();
    if seed.to_string() == wanted && samples.start == share.samples.start {
        return Ok(samples.clone());
    }
    let [Range { start, end }, Range { start: from, end: to }] = [samples, &share.samples];
    Err(format!(
        "it has samples {start}..{end} of seed {seed}, which are not the first of {from}..{to} of seed {wanted}"
    ))
}

/// The attribute of EXR files for a value that tells renders apart.
fn attribute_of(name: &str) -> Option<&'static str> {
    match name {
        "scene" => Some("sceneHash"),
        "sampler" => Some("sampler"),
        "direct" => Some("direct"),
        "masking" => Some("masking"),
        "clamping" => Some(CLAMP_INDIRECT),
        "longest path" => Some("maxDepth"),
        "Russian roulette" => Some("rrDepth"),
        _ => None,
    }
}

/// A film with the means, standard errors and sample counts of an image: to the precision of its file.
fn film_of_moments(layers: &Layers) -> Option<Film> {
    let (means, stderr) = (layers.rgb("")?, layers.rgb(STDERR)?);
    let counts = &layers.channel(SAMPLES)?.samples;
    let mut film = Film::new(layers.width, layers.height);
    for (i, pixel) in film.pixels.iter_mut().enumerate() {
        *pixel = Pixel::of_moments(counts.get_f64(i) as u64, means[i], stderr[i]);
    }
    Some(film)
}
