//! A render in numbers, for programs.

use std::fmt;

use serde::Serialize;
use torrance_image::film::write::WrittenFile;

use super::{Contestant, IntegratorChoice, Lesson, StageTimes, StepTime};
use crate::assemble::Stats;

/// Summary of a render. Fields are added, never renamed.
#[derive(Debug, Serialize)]
pub struct Summary {
    /// Version of the program.
    pub version: &'static str,
    /// The scene's file.
    pub scene: String,
    /// The machine.
    pub device: String,
    /// Image width, pixels.
    pub width: u32,
    /// Image height, pixels.
    pub height: u32,
    /// Samples per pixel taken: those of the pixel that has fewest.
    pub spp: u32,
    /// Samples per pixel, on average.
    pub mean_spp: f64,
    /// Samples of the pixel that has most.
    pub most_spp: u64,
    /// Seed of the sampler.
    pub seed: u32,
    /// Segments of the longest path.
    pub max_depth: u32,
    /// The integrator.
    pub integrator: IntegratorSummary,
    /// Times of the phases.
    pub seconds: Seconds,
    /// Paths traced.
    pub paths: u64,
    /// Millions of them per second.
    pub mpaths_per_s: f64,
    /// Samples left out because they were NaN or infinite.
    pub rejected_samples: u64,
    /// What has removed its noise, if that was wanted.
    pub denoiser: Option<String>,
    /// Whether it ended early.
    pub interrupted: bool,
    /// Files that were written.
    pub outputs: Vec<WrittenFile>,
    /// Warnings, as printed.
    pub warnings: Vec<String>,
    /// Numbers of the scene's parts.
    pub contents: Stats,
    /// Times of stages, if they were asked for.
    #[serde(flatten)]
    pub stages: Option<StageSummary>,
}

/// Times of a render's phases, seconds.
#[derive(Debug, Default, Serialize)]
pub struct Seconds {
    /// Reading and checking the scene.
    pub load: f64,
    /// Building what is uploaded, the BVH above all.
    pub build: f64,
    /// The part of `build` that is the BVH.
    pub bvh: f64,
    /// Finding and starting the machine.
    pub start: f64,
    /// The part of `start` that is compiling the kernels for a GPU.
    pub jit: f64,
    /// Rendering, the upload of the scene included.
    pub render: f64,
    /// The part of `render` that is that upload.
    pub upload: f64,
    /// The longest launch of `render`: no interruption, and no display, waited longer.
    pub longest_launch: f64,
    /// Removing noise.
    pub denoise: f64,
    /// Encoding and writing images.
    pub write: f64,
    /// The whole run.
    pub total: f64,
}

/// The integrator that traced the paths, and why.
#[derive(Debug, Serialize)]
pub struct IntegratorSummary {
    name: &'static str,
    /// Reason for it, if it was not the user's choice.
    why: Option<String>,
    /// Millions of paths per second of the megakernel, if both were tried.
    megakernel_mpaths_per_s: Option<f64>,
    /// Millions of paths per second of the wavefront, if both were tried.
    wavefront_mpaths_per_s: Option<f64>,
    /// What was learnt of guiding, if anything was.
    guiding: Option<Lesson>,
}

impl IntegratorSummary {
    /// None, since there were no paths to trace.
    pub const NONE: Self = Self {
        name: "none",
        why: None,
        megakernel_mpaths_per_s: None,
        wavefront_mpaths_per_s: None,
        guiding: None,
    };

    /// `why` is the reason for the choice, if it was known beforehand.
    pub fn new(choice: IntegratorChoice, why: Option<&str>) -> Self {
        let name = match choice.integrator {
            Contestant::Megakernel => "megakernel",
            Contestant::Wavefront => "wavefront",
        };
        let [megakernel, wavefront] = match choice.rates {
            Some(rates) => rates.map(|rate| Some(rate / 1e6)),
            None => [None; 2],
        };
        let measured = megakernel.zip(wavefront).map(|(megakernel, wavefront)| {
            format!("{megakernel:.0} Mpaths/s by the megakernel, {wavefront:.0} by the wavefront")
        });
        Self {
            name,
            why: measured.or(why.map(str::to_owned)),
            megakernel_mpaths_per_s: megakernel,
            wavefront_mpaths_per_s: wavefront,
            guiding: choice.guiding,
        }
    }
}

impl fmt::Display for IntegratorSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.why {
            Some(why) => write!(f, "{} ({why})", self.name)?,
            None => f.write_str(self.name)?,
        }
        match &self.guiding {
            Some(Lesson { paths, time, is_used: true, .. }) => {
                write!(f, ", guided by what {paths} paths learnt in {:.2} s", time.as_secs_f64())
            }
            Some(Lesson { paths, time, gain, .. }) => {
                let (seconds, gain) = (time.as_secs_f64(), gain.max(1.0));
                write!(
                    f,
                    ", not guided: variance would be {gain:.1} times less, as {paths} paths told in {seconds:.2} s"
                )
            }
            None => Ok(()),
        }
    }
}

/// Times of a wavefront's stages. Fields are added, never renamed.
#[derive(Debug, Serialize)]
pub struct StageSummary {
    stage_times: Vec<StageRow>,
    /// Fraction of the time spent on keeping paths together, 0 to 1.
    bookkeeping_share: f64,
    /// Slots of the pool.
    pool: u32,
    passes: u64,
    /// Rounds of all passes that had paths.
    rounds: u64,
    /// Paths of the pass that the next field is about.
    paths_of_pass: u32,
    /// Paths under way in each of its rounds.
    live_paths: Vec<u32>,
}

#[derive(Debug, Serialize)]
struct StageRow {
    stage: &'static str,
    runs: u64,
    seconds: f64,
    /// Fraction of the time of all stages, 0 to 1.
    share: f64,
    items: Option<u64>,
    /// The kind of the items.
    unit: &'static str,
    items_per_s: Option<f64>,
    /// The least and the most of its kernels, 0 to 1.
    occupancy: Option<[f32; 2]>,
}

impl From<&StageTimes> for StageSummary {
    fn from(times: &StageTimes) -> Self {
        let row = |step: &StepTime| StageRow {
            stage: step.step.name(),
            runs: step.runs,
            seconds: step.time.as_secs_f64(),
            share: times.share(step),
            items: step.items,
            unit: step.step.items().name(),
            items_per_s: step.throughput(),
            occupancy: step.occupancy,
        };
        Self {
            stage_times: times.steps.iter().map(row).collect(),
            bookkeeping_share: times.bookkeeping(),
            pool: times.pool,
            passes: times.passes,
            rounds: times.rounds,
            paths_of_pass: times.paths,
            live_paths: times.curve.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::render::Step;

    fn times() -> StageTimes {
        let step = |step, milliseconds, items, occupancy| StepTime {
            step,
            runs: 20,
            time: Duration::from_millis(milliseconds),
            items,
            occupancy,
        };
        let steps = vec![
            step(Step::Cull, 10, Some(2_000), None),
            step(Step::Extend, 600, Some(1_200_000_000), Some([0.25; 2])),
            step(Step::Shade, 380, Some(1_200_000_000), Some([0.125, 0.25])),
            step(Step::Connect, 10, None, Some([0.5; 2])),
        ];
        StageTimes { steps, pool: 100, passes: 2, rounds: 18, paths: 250, curve: vec![100, 100, 50, 1] }
    }

    #[test]
    fn programs_get_the_same_numbers() {
        let json = serde_json::to_value(StageSummary::from(&times())).unwrap();
        let extend = &json["stage_times"][1];
        assert_eq!(extend["stage"], "extend");
        assert_eq!((&extend["seconds"], &extend["share"]), (&0.6.into(), &0.6.into()));
        assert_eq!((&extend["items"], &extend["items_per_s"]), (&1_200_000_000_u64.into(), &2e9.into()));
        assert_eq!(extend["occupancy"], serde_json::json!([0.25, 0.25]));
        assert_eq!(json["stage_times"][3]["items"], serde_json::Value::Null);
        assert_eq!(json["bookkeeping_share"], 0.01);
        assert_eq!(json["live_paths"], serde_json::json!([100, 100, 50, 1]));
    }
}
