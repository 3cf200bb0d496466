//! Renders the variants that are missing, and keeps of each what the sweep shows.

use std::iter::once;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use image::RgbImage;
use rayon::prelude::*;
use torrance_image::film::encode::{encode, encode_layers};
use torrance_image::film::ranges::SeedRanges;
use torrance_image::film::write::WriteError;
use torrance_image::film::{Format, Image, ImageEstimate, Shard, Statistics};

use super::plan::FORMATS;
use super::run::{Failures, Scene, render_all};
use super::store::write;
use super::{Plan, StoredVariant, Variant};
use crate::Machine;
use crate::assemble::{SceneData, share_kernels};
use crate::denoise::{DENOISER, DenoiseError, Denoised, Denoiser, Noisy};
use crate::render::aov::AovPlan;
use crate::render::{
    Budget, Control, Integrator, NoiseGoal, Options, Progress as Rendering, RenderRecord, Rendered, Shortage,
    Shortfall, identity_of_key, provenance,
};

/// Receives the progress of a sweep, and can stop it.
pub struct Progress<'a> {
    /// Called with the finished part of the sweep, the time so far, and the current task.
    pub step: &'a mut (dyn FnMut(f64, Duration, &str) + Send),
    /// Whether to stop.
    pub is_stopping: &'a (dyn Fn() -> bool + Sync),
}

/// Per-variant result, held in memory until the sheets are written.
pub struct VariantResult {
    /// The image as sheets show it.
    pub(super) cell: RgbImage,
    /// Statistics of the part that sheets show.
    pub statistics: Statistics,
    /// Time and samples of its render.
    pub record: RenderRecord,
    /// What did not fit into the machine's memory.
    pub shortage: Shortage,
    /// What it lacks to a goal of its pixels' noise.
    pub shortfall: Option<Shortfall>,
    /// Outputs of the variant that could not be written.
    pub failures: Vec<Failure>,
}

/// A failure that the rest of the sweep survived: a sentence.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Failure(String);

impl Failure {
    /// A failure that an error says all about, or a sentence.
    pub fn new(error: impl ToString) -> Self {
        Self(error.to_string())
    }
}

impl From<WriteError> for Failure {
    fn from(error: WriteError) -> Self {
        Self::new(error)
    }
}

/// A plan that is carried out on a machine.
pub struct Sweep<'a> {
    /// Variants to render, and outputs to make from them.
    pub plan: &'a Plan,
    /// [`Plan::keys`].
    pub keys: &'a [u64],
    /// The machine's name.
    pub device: &'a str,
    /// Folder for images of variants.
    pub folder: Option<&'a Path>,
    /// What makes the images that are shown.
    pub cleaner: Option<Cleaner>,
}

/// A denoiser, which variants take in turns.
pub struct Cleaner {
    denoiser: Mutex<Denoiser>,
    /// What it takes of a render.
    aovs: AovPlan,
}

impl Cleaner {
    /// By a denoiser that takes halves of the samples, or does not.
    pub fn new(denoiser: Denoiser, takes_halves: bool) -> Self {
        let mut aovs = AovPlan::default();
        aovs.add_for_denoiser(takes_halves);
        Self { denoiser: Mutex::new(denoiser), aovs }
    }

    /// The image of a render without its noise.
    fn cleaned(&self, rendered: &Rendered, scene: &SceneData) -> Result<Denoised, DenoiseError> {
        let noisy = Noisy::new(self.aovs.layers(rendered, scene));
        let mut denoiser = self.denoiser.lock().unwrap_or_else(PoisonError::into_inner);
        denoiser.denoise(&noisy, &mut |_| true)
    }
}

impl Sweep<'_> {
    /// Variants that an earlier sweep has rendered.
    pub fn find(&self, is_stopping: &(dyn Fn() -> bool + Sync)) -> Vec<Option<VariantResult>> {
        let find = |(i, key): (usize, &u64)| {
            let is_clean = |stored: &StoredVariant| stored.clean.is_some() || self.plan.denoiser.is_none();
            let stored = self.plan.store.find(*key).filter(|stored| is_clean(stored) && !is_stopping());
            stored.map(|stored| self.result(i, &stored))
        };
        self.keys.par_iter().enumerate().map(find).collect()
    }

    /// Renders the variants that are missing among `results`, and puts them there. Missing is afterwards what was not rendered
    /// because the sweep was to stop, or all machines failed.
    pub fn render(
        &self,
        results: &mut [Option<VariantResult>],
        machines: &mut [Machine],
        integrator: Integrator,
        Progress { step, is_stopping }: Progress<'_>,
    ) -> Failures {
        let plan = self.plan;
        let missing: Vec<usize> = (0..results.len()).filter(|i| results[*i].is_none()).collect();
        let mut scenes: Vec<SceneData> = plan.variants.iter().map(|variant| variant.scene.clone()).collect();
        if machines.iter().any(Machine::is_gpu) {
            // Of all, so that those that are missing are rendered by the same kernels as those that are there.
            share_kernels(&mut scenes);
        }
        let begin = Instant::now();
        let progress = Mutex::new((step, vec![0.0; missing.len()]));
        let observe = |i: usize, of_one: &Rendering| {
            let mut progress = progress.lock().unwrap_or_else(PoisonError::into_inner);
            let (step, shares) = &mut *progress;
            shares[i] = (of_one.mean_spp() / f64::from(of_one.spp_target.max(1))).min(1.0);
            let done = shares.iter().sum::<f64>() / shares.len() as f64;
            step(done, begin.elapsed(), &plan.name(missing[i]));
            if is_stopping() { Control::Stop } else { Control::Continue }
        };
        let rendered = Mutex::new(results);
        let take = |i: usize, one: Rendered| {
            let result = self.keep(missing[i], &one);
            rendered.lock().unwrap_or_else(PoisonError::into_inner)[missing[i]] = Some(result);
        };
        let options = self.cleaner.as_ref().map_or_else(Options::default, |cleaner| cleaner.aovs.options());
        let options = Options { integrator, ..options };
        let budget =
            |i: usize| Budget { spp: plan.variants[i].settings.spp, time: plan.time, noise: plan.noise };
        let scene = |i: &usize| Scene {
            data: &scenes[*i],
            budget: budget(*i),
            checkpoint: plan.checkpoint.map(|every| {
                let key = self.keys[*i];
                (plan.store.checkpoint(key), identity_of_key(key), every)
            }),
        };
        let scenes: Vec<_> = missing.iter().map(scene).collect();
        render_all(machines, &scenes, options, &observe, &take)
    }

    /// Renders on the CPU what is still missing among `results` as all GPUs have failed.
    pub fn stand_in(
        &self,
        results: &mut [Option<VariantResult>],
        threads: Option<usize>,
        failures: Failures,
        integrator: Integrator,
        progress: Progress<'_>,
    ) -> Failures {
        let (Some(_), Ok(cpu)) = (&failures.fatal, Machine::cpu(threads)) else { return failures };
        let ended = self.render(results, &mut [cpu], integrator, progress);
        let survived = failures.survived.into_iter().chain(failures.fatal).chain(ended.survived).collect();
        Failures { survived, fatal: ended.fatal, checkpoint: ended.checkpoint.or(failures.checkpoint) }
    }

    /// Keeps what a render made.
    fn keep(&self, i: usize, rendered: &Rendered) -> VariantResult {
        let cleaner = self.cleaner.as_ref();
        let clean =
            cleaner.map(|cleaner| cleaner.cleaned(rendered, &self.plan.variants[i].scene)).transpose();
        let uncleaned = clean.as_ref().err().map(|e| format!("{}: not denoised: {e}", self.plan.name(i)));
        let stored = StoredVariant {
            measured: ImageEstimate {
                clamped: self.plan.variants[i].settings.clamp_indirect,
                ..ImageEstimate::from(&rendered.film)
            },
            clean: clean.unwrap_or_default(),
            record: RenderRecord::from(rendered),
        };
        let kept = self.plan.store.keep(self.keys[i], &stored);
        let mut result = self.result(i, &stored);
        result.shortage = rendered.progress.shortage;
        result.failures.extend(kept.err().map(Failure::new));
        result.failures.extend(uncleaned.map(Failure::new));
        result
    }

    /// Writes a variant's own images, if they are wanted, and keeps what the others take.
    fn result(&self, i: usize, stored: &StoredVariant) -> VariantResult {
        let (measured, shown) = (self.plan.cropped(&stored.measured), self.plan.shown(stored));
        let Image { width, height, pixels } = &*shown;
        let develop = self.plan.images.develop;
        let rgb = pixels.iter().flat_map(|p| develop.to_bytes(*p)).collect();
        let written = self.folder.map(|folder| FORMATS.map(|format| self.write(i, stored, folder, format)));
        VariantResult {
            cell: RgbImage::from_raw(*width, *height, rgb).unwrap_or_default(),
            statistics: Statistics::new(&measured),
            record: stored.record,
            shortage: Shortage::default(),
            shortfall: match &self.plan.noise {
                Some(NoiseGoal::Pixels(goal)) => goal.shortfall(&stored.measured),
                _ => None,
            },
            failures: written.into_iter().flatten().filter_map(Result::err).map(Failure::from).collect(),
        }
    }

    /// Writes the image of a variant.
    fn write(
        &self,
        i: usize,
        stored: &StoredVariant,
        folder: &Path,
        format: Format,
    ) -> Result<(), WriteError> {
        let plan = self.plan;
        let path = folder.join(plan.file_name(i, format));
        let Variant { scene, fingerprint, settings } = &plan.variants[i];
        let (name, device) = (plan.scene.clone(), self.device.to_owned());
        let mut about = provenance(name, device, (scene, *fingerprint), settings, &stored.record);
        about.settings.insert(0, ("variant", plan.name(i)));
        about.samples = plan.noise.as_ref().and_then(|goal| adaptive_samples(goal, stored, about.seed));
        let encoded = match format {
            Format::Exr => encode_layers(stored.layers().saying(about.attributes()), plan.images.exr),
            format => {
                if let Some(clean) = &stored.clean {
                    about.relative_stderr = None;
                    about.settings.push((DENOISER, clean.by.clone()));
                }
                let clean = stored.clean.as_ref().map(|clean| &clean.image);
                encode(clean.unwrap_or(&stored.measured.image), format, &plan.images, &about)
            }
        };
        let bytes = encoded.map_err(|e| WriteError::new(&path, &e))?.bytes;
        write(&path, &bytes).map_err(|e| WriteError::new(&path, &e))
    }
}

/// The samples of an image whose samples went where the noise was: so many of each pixel, and more that some lack. `None` if all have as many.
fn adaptive_samples(goal: &NoiseGoal, stored: &StoredVariant, seed: u32) -> Option<Shard> {
    let fewest = stored.record.spp;
    let counts = stored.measured.noise.as_ref()?.samples.as_deref()?;
    let counted = counts.iter().fold(0.0_f32, |most, count| most.max(*count)) as u32;
    // Samples that were left out do not count.
    let most = counted.saturating_add(u32::try_from(stored.record.rejected).unwrap_or(u32::MAX));
    let of = |samples| SeedRanges::of(seed, once(samples));
    let shard = Shard {
        ranges: of(0..most),
        partial: of(fewest..most),
        noise_goal: goal.of_pixels(),
        ..Shard::default()
    };
    (counted > fewest).then_some(shard)
}
