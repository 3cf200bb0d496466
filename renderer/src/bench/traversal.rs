//! Measures how fast rays are traced: camera rays, rays of the first and second bounce, and shadow rays.
//!
//! Rays are made by stages that are not timed, and only those that are rays are traced: what has left the scene is
//! compacted away. They are made and traced in batches, whatever their number, so that memory is bounded.

use device::bsdf::Basic;
use device::features::Compiled;
use device::path::SampleArgs;
use device::path::stage::{Stage, stages};
use device::path::trace::{ClosestArgs, CoherentArgs, OcclusionArgs};

use super::{MeasureError, TimedBackend};
use crate::assemble::SceneData;
use crate::render::{Uploaded, no_samples};

mod batch;
mod timing;

use batch::Batch;
pub use timing::{RayKind, RayTiming};

/// Rays of a batch at most: all buffers together then have less than a GiB.
const MOST_RAYS: u32 = 1 << 23;
/// Rays of a batch for each of the machine's threads, so that a slow machine, too, is soon told to end.
const RAYS_PER_THREAD: usize = 1 << 15;

/// Receives the progress of a benchmark, and can stop it.
pub trait Observer {
    /// Rays of a kind are about to be traced, when a part of all is done.
    fn begin(&mut self, kind: RayKind, done: f64);
    /// Whether to stop early.
    fn is_stopping(&self) -> bool;
}

/// [`crate::Machine::trace`].
pub(crate) fn trace<B: TimedBackend>(
    backend: &mut B,
    scene: &SceneData,
    samples: u32,
    observer: &mut dyn Observer,
) -> Result<(Vec<RayTiming>, bool), MeasureError> {
    if Basic::FEATURES.contains(scene.features) {
        trace_by::<B, Simple>(backend, scene, samples, observer)
    } else {
        trace_by::<B, Any>(backend, scene, samples, observer)
    }
}

/// The stages that trace.
trait Tracers {
    /// Traces coherent rays.
    type Coherent: Stage<Args = CoherentArgs>;
    /// Traces other rays.
    type Closest: Stage<Args = ClosestArgs>;
    /// Traces shadow rays.
    type Shadow: Stage<Args = OcclusionArgs>;
}

/// Stages for scenes of few features.
struct Simple;

impl Tracers for Simple {
    type Coherent = stages::trace_coherent_basic;
    type Closest = stages::trace_closest_basic;
    type Shadow = stages::trace_shadow_basic;
}

/// Stages for all scenes.
struct Any;

impl Tracers for Any {
    type Coherent = stages::trace_coherent;
    type Closest = stages::trace_closest;
    type Shadow = stages::trace_shadow;
}

/// [`trace`], by stages that know the features of the scene.
fn trace_by<B: TimedBackend, T: Tracers>(
    backend: &mut B,
    scene: &SceneData,
    samples: u32,
    observer: &mut dyn Observer,
) -> Result<(Vec<RayTiming>, bool), MeasureError> {
    let invocations = invocations(scene, samples)?;
    backend.specialize(scene.features);
    let uploaded = Uploaded::new(backend, scene)?;
    let rest = no_samples(scene, uploaded.view(scene), std::ptr::null_mut());
    let take = SampleArgs { layers: samples, samples, invocations, ..rest };
    let most = (backend.parallelism() * RAYS_PER_THREAD).min(MOST_RAYS as usize) as u32;
    let batches = invocations.div_ceil(most);
    let mut rays = Batch::new(backend, take, invocations.div_ceil(batches))?;
    let mut all = RayKind::ALL.map(RayTiming::none);
    for batch in 0..batches {
        let part = |i: u32| (u64::from(invocations) * u64::from(i) / u64::from(batches)) as u32;
        let mut watch =
            Watch { observer, done: f64::from(batch) / f64::from(batches), of_all: f64::from(batches) };
        match rays.trace::<T>(backend, part(batch)..part(batch + 1), &mut watch) {
            Ok(traced) => all.iter_mut().zip(&traced).for_each(|(all, part)| all.add(part)),
            Err(MeasureError::Stopped) => return Ok((all.into(), false)),
            Err(failure) => return Err(failure),
        }
    }
    Ok((all.into(), true))
}

/// Number of camera rays and of gaps between them, where tiles reach beyond the image.
fn invocations(scene: &SceneData, samples: u32) -> Result<u32, MeasureError> {
    const MOST: u64 = i32::MAX as u64;
    let per_layer = SampleArgs::<()>::invocations_per_layer(scene.width, scene.height);
    match u64::from(per_layer) * u64::from(samples) {
        n @ ..=MOST => Ok(n as u32),
        n => Err(MeasureError::TooLarge(format!("{n} rays are more than {MOST}, which indices can name"))),
    }
}

/// Reports a batch's progress to the observer.
struct Watch<'a> {
    observer: &'a mut dyn Observer,
    /// The part of all that is done when the batch begins.
    done: f64,
    /// Number of batches.
    of_all: f64,
}

impl Watch<'_> {
    /// Rays of a kind are about to be traced.
    fn begin(&mut self, kind: RayKind) -> Result<(), MeasureError> {
        self.go_on()?;
        let part = kind as u32 as f64 / RayKind::ALL.len() as f64;
        self.observer.begin(kind, self.done + part / self.of_all);
        Ok(())
    }

    fn go_on(&self) -> Result<(), MeasureError> {
        if self.observer.is_stopping() { Err(MeasureError::Stopped) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::batch::{FEWEST_ROUNDS, ROUNDS};
    use super::*;
    use crate::assemble::Flattened;
    use torrance_gpu::backend::cpu::{Cpu, InstructionSet};
    use torrance_scene::{Overrides, load};

    /// A scene of the gallery, `width` by `height` pixels.
    fn scene(name: &str, width: u32, height: u32) -> SceneData {
        let path = format!("{}/../scenes/{name}.toml", env!("CARGO_MANIFEST_DIR"));
        let overrides = Overrides { size: Some((width, height)), ..Overrides::default() };
        let description = load(path.as_ref(), &overrides).expect("it is a scene").description;
        Flattened::new(&description).and_then(Flattened::build).expect("it can be built")
    }

    /// Stops when it has been asked so often.
    struct Patience {
        left: Cell<u32>,
        begun: Vec<(RayKind, f64)>,
    }

    impl Observer for Patience {
        fn begin(&mut self, kind: RayKind, done: f64) {
            self.begun.push((kind, done));
        }

        fn is_stopping(&self) -> bool {
            self.left.replace(self.left.get().saturating_sub(1)) == 0
        }
    }

    fn patience(left: u32) -> Patience {
        Patience { left: Cell::new(left), begun: Vec::new() }
    }

    /// All but the times.
    fn counts(traced: &[RayTiming]) -> Vec<(RayKind, u64, u64, u64)> {
        traced.iter().map(|t| (t.kind, t.camera_rays, t.rays, t.hits)).collect()
    }

    #[test]
    fn all_instruction_sets_trace_the_same_rays_in_any_batches() {
        for (name, [width, height], samples) in [("cornell", [61, 37], 17), ("meadow", [40, 21], 2)] {
            let scene = scene(name, width, height);
            let on = |isa, threads| {
                let mut cpu = Cpu::with_instruction_set(Some(threads), isa).unwrap();
                let mut observer = patience(u32::MAX);
                let (traced, complete) = trace(&mut cpu, &scene, samples, &mut observer).unwrap();
                assert!(complete);
                (counts(&traced), observer.begun)
            };
            let (portable, begun) = on(InstructionSet::Portable, 1);
            let of_all: Vec<_> = portable.iter().map(|c| c.1).collect();
            assert_eq!(
                of_all,
                [u64::from(width * height * samples); 4],
                "{name}: every sample of every pixel"
            );
            let invocations = SampleArgs::<()>::invocations_per_layer(width, height) * samples;
            let batches = invocations.div_ceil(RAYS_PER_THREAD as u32) as usize;
            assert_eq!(begun.len(), 4 * batches, "{name}");
            assert!(
                begun.is_sorted_by(|a, b| a.1 < b.1) && begun[0].1 == 0.0 && begun[begun.len() - 1].1 < 1.0
            );
            for (isa, threads) in
                [(InstructionSet::Portable, 5), (InstructionSet::Avx2, 1), (InstructionSet::Avx512, 2)]
            {
                assert_eq!(on(isa, threads).0, portable, "{name}, {isa:?}, {threads} threads");
            }
        }
    }

    #[test]
    fn what_is_complete_when_it_has_to_end_counts() {
        let scene = scene("cornell", 64, 32);
        let mut cpu = Cpu::new(Some(1)).unwrap();
        let mut observer = patience(u32::MAX);
        let (all, _) = trace(&mut cpu, &scene, 32, &mut observer).unwrap();
        assert_eq!((all[0].camera_rays, observer.begun.len()), (1 << 16, 8), "two batches");
        // A batch asks at least as often as it has rounds, and before each kind.
        let fewest = 4 * (1 + FEWEST_ROUNDS as u32);
        let (none, complete) = trace(&mut cpu, &scene, 32, &mut patience(fewest - 1)).unwrap();
        assert!(!complete && none.iter().all(|t| (t.camera_rays, t.rays, t.hits) == (0, 0, 0)));
        assert!(none.iter().all(|t| t.rays_per_second() == 0.0 && t.hit_share() == 0.0));
        let most = 4 * (1 + ROUNDS as u32);
        let (some, complete) = trace(&mut cpu, &scene, 32, &mut patience(most)).unwrap();
        assert!(!complete && some.iter().all(|t| t.camera_rays == 1 << 15), "{some:?}");
    }

    #[test]
    fn more_rays_than_indices_are_refused() {
        let mut scene = scene("cornell", 64, 32);
        (scene.width, scene.height) = (1 << 15, 1 << 15);
        let refused = trace(&mut Cpu::new(Some(1)).unwrap(), &scene, 2, &mut patience(u32::MAX));
        let Err(MeasureError::TooLarge(reason)) = refused else { panic!("{refused:?}") };
        assert_eq!(reason, "2147483648 rays are more than 2147483647, which indices can name");
    }
}
