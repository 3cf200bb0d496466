//! Images of a case, with more and more samples.

use std::path::Path;
use std::time::{Duration, Instant};

use torrance_image::film::{Film, ImageEstimate};
use torrance_scene::limits::MAX_SPP;
use torrance_scene::{self as scene, Options};

use super::command::Command;
use super::kept::Kept;
use super::machine::SceneRenderer;
use super::seeds::UsedSeeds;
use super::sequential::totals;
use super::suite::{Case, Effort, Source};
use crate::assemble::{self, SceneData};
use crate::render::{Budget, Checkpoints, Control, Progress, Request};

/// Reason why a case came to no verdict, or to no new reference.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Stop {
    /// It failed: a sentence, and the printed output or details.
    #[error("{0}")]
    Error(String, String),
    /// We were asked to stop.
    #[error("interrupted")]
    Interrupted,
}

impl Stop {
    pub(super) fn error(message: impl ToString) -> Self {
        Self::Error(message.to_string(), String::new())
    }
}

/// Limits and callbacks that a case runs under.
pub(super) struct Conditions<'a> {
    /// When it has failed.
    pub(super) deadline: Instant,
    /// How long it may take, for messages.
    pub(super) timeout: Duration,
    /// Whether we were asked to stop.
    pub(super) is_stopping: &'a dyn Fn() -> bool,
    /// Called with the number of samples so far.
    pub(super) observe: &'a dyn Fn(f64),
    /// Seeds of the reference, if they are known.
    pub(super) taken: Option<UsedSeeds>,
    /// Width and height that the image has to have, if they are known.
    pub(super) size: Option<(u32, u32)>,
}

impl Conditions<'_> {
    pub(super) fn timed_out(&self) -> String {
        format!("it was still running after {} s, its timeout", self.timeout.as_secs_f64())
    }

    /// The seed of a round or pass: counted from `first`, past those that the reference took.
    pub(super) fn seed(&self, first: u32, index: u32) -> u32 {
        self.taken.map_or(first.wrapping_add(index), |taken| taken.past(first, index))
    }
}

/// A source of images with more and more samples.
pub(super) trait Images {
    /// Samples in total after each round: spp, or passes.
    fn totals(&self) -> &[u32];

    /// Index of the first of these that is to be looked at: of those before it, an earlier run has seen that they are not enough.
    fn first_round(&self) -> usize {
        0
    }

    /// Width and height of the images, if they are known before there is one.
    fn size(&self) -> Option<(u32, u32)> {
        None
    }

    /// The image of so many samples in total: more than at the last call.
    fn until(&mut self, total: u32, conditions: &Conditions<'_>) -> Result<ImageEstimate, Stop>;

    /// Output printed so far, and a note of samples that were left out.
    fn log(&self) -> &str;
}

/// Opens the source of a case's images, which are to share no seed with those that are `taken`.
pub(super) fn source<'a>(
    case: &'a Case,
    taken: Option<UsedSeeds>,
    machine: Option<&'a mut (dyn SceneRenderer + 'static)>,
    kept: Option<&'a Kept>,
) -> Result<Box<dyn Images + 'a>, Stop> {
    match &case.source {
        Source::Scene { path, options } => {
            let machine = machine.ok_or_else(|| Stop::error("there is no machine to render it"))?;
            let (scene, spp) = load(path, options)?;
            let first = case.effort.first.unwrap_or(spp);
            let most = case.effort.most.unwrap_or(first.saturating_mul(Effort::GROWTH).min(MAX_SPP));
            let totals = totals(first, most);
            let said = format!("{} {} {totals:?} {taken:?}", env!("CARGO_PKG_VERSION"), case.name);
            let key = scene.key_of_render(scene.fingerprint(), case.effort.seed, &said);
            let film = kept.and_then(|kept| kept.find(key)).filter(|(_, spp)| totals.contains(spp));
            let rounds = film.iter().filter_map(|(_, spp)| totals.iter().position(|total| total == spp));
            let rounds = rounds.map(|round| round as u32 + 1).sum();
            let (seed, log) = (case.effort.seed, String::new());
            Ok(Box::new(Scene { scene, machine, totals, seed, rounds, film, key, kept, log }))
        }
        Source::Command { .. } => Ok(Box::new(Command::new(case))),
    }
}

/// A scene that is rendered round by round, each with its own seed.
struct Scene<'a> {
    scene: SceneData,
    machine: &'a mut (dyn SceneRenderer + 'static),
    totals: Vec<u32>,
    seed: u32,
    rounds: u32,
    film: Option<(Film, u32)>,
    /// What tells its renders apart from those of other cases.
    key: u64,
    kept: Option<&'a Kept>,
    log: String,
}

impl Scene<'_> {
    /// The samples from `before` to `total`, with a seed of their own.
    fn round(&mut self, before: u32, total: u32, conditions: &Conditions<'_>) -> Result<Film, Stop> {
        self.log.clear();
        self.scene.settings.seed = conditions.seed(self.seed, self.rounds);
        self.rounds += 1;
        let mut observe = |progress: &Progress| {
            (conditions.observe)(f64::from(before) + progress.mean_spp());
            let stop = (conditions.is_stopping)() || Instant::now() >= conditions.deadline;
            if stop { Control::Stop } else { Control::Continue }
        };
        let key = self.key.wrapping_add(u64::from(self.rounds));
        let (checkpoints, resumed) = self.kept.map(|kept| kept.checkpoint(key)).unzip();
        let request = Request::new(Budget::of_samples(total - before), Default::default());
        let request = Request { checkpoints: checkpoints.as_ref(), resumed: resumed.flatten(), ..request };
        let rendered = self.machine.render(&self.scene, request, &mut observe).map_err(Stop::error)?;
        // Without them, the suite is only not to be gone on with.
        if let Some(reason) = checkpoints.as_ref().and_then(Checkpoints::end) {
            self.log += &format!("it cannot be kept while it is rendered: {reason}\n");
        }
        if rendered.interrupted {
            return Err(match (conditions.is_stopping)() {
                true => Stop::Interrupted,
                false => Stop::error(conditions.timed_out()),
            });
        }
        if let Some(checkpoints) = checkpoints {
            checkpoints.remove();
        }
        Ok(rendered.film)
    }
}

/// A scene, and the samples per pixel that it asks for.
fn load(path: &Path, options: &Options) -> Result<(SceneData, u32), Stop> {
    let loaded = scene::load_with(path, options).map_err(|e| {
        let count = e.problems.len();
        let errors = if count == 1 { "an error".to_owned() } else { format!("{count} errors") };
        Stop::Error(format!("the scene {} has {errors}", path.display()), e.report(false))
    })?;
    let spp = loaded.description.render.spp;
    let data = assemble::assemble(&loaded.description)
        .map_err(|e| Stop::error(format!("{}: {e}", path.display())))?;
    Ok((data, spp))
}

impl Images for Scene<'_> {
    fn totals(&self) -> &[u32] {
        &self.totals
    }

    fn size(&self) -> Option<(u32, u32)> {
        Some((self.scene.width, self.scene.height))
    }

    fn first_round(&self) -> usize {
        (self.rounds as usize).saturating_sub(1)
    }

    fn until(&mut self, total: u32, conditions: &Conditions<'_>) -> Result<ImageEstimate, Stop> {
        let before = self.film.as_ref().map_or(0, |(_, spp)| *spp);
        if before < total {
            let more = self.round(before, total, conditions)?;
            let film = match self.film.take() {
                None => more,
                Some((mut film, _)) => {
                    film.merge(&more);
                    film
                }
            };
            if let Some(Err(e)) = self.kept.map(|kept| kept.keep(self.key, &film, total)) {
                self.log += &format!("it cannot be kept to go on with: {e}\n");
            }
            self.film = Some((film, total));
        }
        let Some((film, _)) = &self.film else { return Err(Stop::error("there are no samples")) };
        if film.rejected() > 0 {
            let all = film.samples() + film.rejected();
            let rejected = film.rejected();
            self.log += &format!("{rejected} of {all} samples were NaN or infinite and were left out\n");
        }
        let most = self.scene.settings.clamp_indirect;
        Ok(ImageEstimate { clamped: most.is_finite().then_some(most), ..ImageEstimate::from(film) })
    }

    fn log(&self) -> &str {
        &self.log
    }
}
