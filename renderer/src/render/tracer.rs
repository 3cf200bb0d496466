//! What traces the paths of an image, and which of two is faster.

use std::time::Duration;

use device::path::MegakernelArgs;
use device::path::stage::Stage;

use super::Kernel;
use super::wavefront::{Paths, Wavefront};
use super::{Options, StageTimes};
use crate::assemble::SceneData;
use crate::backend::Error;
use crate::primitives::Primitives;

/// How paths are traced. What they see is the same, to the last bit on a CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Integrator {
    /// All of a path in one kernel.
    #[default]
    Megakernel,
    /// Many paths together in stages.
    Wavefront(Paths),
    /// Both at first, then the one that was faster on this scene and machine.
    Fastest(Paths),
}

/// Renders of fewer paths are over before it is known what is faster.
const WORTH_A_RACE: u64 = 1 << 26;

/// Whether stages are probably faster on a GPU, where there is no time to try: unless both materials and geometry are so
/// simple that moving paths between stages costs more than it gains.
fn probably_stages(scene: &SceneData) -> bool {
    const LARGE: usize = 10_000;
    Kernel::of(scene) == Kernel::Full || scene.stats.nodes >= LARGE
}

/// One of the integrators.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Contestant {
    /// All of a path in one kernel.
    Megakernel,
    /// Many paths together in stages.
    Wavefront,
}

/// What traced the last samples of an image.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Traced {
    /// By what.
    pub by: Contestant,
    /// What was measured if it was chosen for that: paths per second of megakernel and wavefront.
    pub rates: Option<[f64; 2]>,
}

/// What traces, of one or two that can.
pub(super) struct Tracer<B: Primitives> {
    wavefront: Option<Box<Wavefront<B>>>,
    turn: Contestant,
    /// What traced last.
    last: Contestant,
    /// Paths per second, as far as they are known.
    rates: [Option<f64>; 2],
    /// Whether the other one is still to be tried.
    is_open: bool,
    /// Whether the megakernel may stand in for a wavefront that there is no memory for.
    may_fall_back: bool,
}

impl<B: Primitives> Tracer<B> {
    /// For a render of `most` paths.
    pub(super) fn new(
        backend: &mut B,
        scene: &SceneData,
        options: Options<'_>,
        most: u64,
    ) -> Result<Self, Error> {
        let (is_long, stages) = (most >= WORTH_A_RACE, probably_stages(scene));
        let mut wavefront = match options.integrator {
            Integrator::Wavefront(paths) => Some(Wavefront::new(backend, scene, paths, most)?),
            // Where there is no memory for a large pool, a smaller one is nearly as fast; the megakernel needs none.
            Integrator::Fastest(paths) if is_long || stages => (0..4).find_map(|halvings| {
                let pool = (paths.pool >> halvings).max(1);
                Wavefront::new(backend, scene, Paths { pool, ..paths }, most).ok()
            }),
            _ => None,
        };
        let is_open = matches!(options.integrator, Integrator::Fastest(_)) && is_long && wavefront.is_some();
        let turn = match wavefront {
            Some(_) if !is_open => Contestant::Wavefront,
            _ => Contestant::Megakernel,
        };
        let may_fall_back = matches!(options.integrator, Integrator::Fastest(_));
        if let (true, Some(wavefront)) = (options.stage_times, &mut wavefront) {
            wavefront.take_times(backend)?;
        }
        let wavefront = wavefront.map(Box::new);
        Ok(Self { wavefront, turn, last: turn, rates: [None; 2], is_open, may_fall_back })
    }

    /// Takes the samples of `args`; `S` is the megakernel.
    ///
    /// # Safety
    /// As [`crate::backend::Backend::launch`].
    pub(super) unsafe fn trace<S: Stage<Args = MegakernelArgs>>(
        &mut self,
        backend: &mut B,
        args: MegakernelArgs,
    ) -> Result<(), Error> {
        if let (Contestant::Wavefront, Some(wavefront)) = (self.turn, &mut self.wavefront) {
            match wavefront.hold(backend, &args) {
                Err(_) if self.may_fall_back => {
                    (self.wavefront, self.turn, self.is_open) = (None, Contestant::Megakernel, false);
                }
                held => held?,
            }
        }
        self.last = self.turn;
        // SAFETY: as the caller promised.
        unsafe {
            match (self.turn, &mut self.wavefront) {
                (Contestant::Wavefront, Some(wavefront)) => wavefront.run(backend, args),
                _ => backend.launch::<S>(args),
            }
        }
    }

    /// How long a launch should take. At the end of each, the wavefront has ever fewer paths under way.
    pub(super) const fn target(&self) -> Duration {
        match self.turn {
            Contestant::Megakernel => Duration::from_millis(100),
            Contestant::Wavefront => Duration::from_millis(200),
        }
    }

    /// Most paths that a launch may trace.
    pub(super) fn most_paths(&self) -> f64 {
        match (self.turn, &self.wavefront) {
            (Contestant::Wavefront, Some(wavefront)) => wavefront.most_paths().into(),
            _ => f64::INFINITY,
        }
    }

    /// Most paths of a first launch: a small pool takes many rounds for them.
    pub(super) fn first_paths(&self) -> f64 {
        match (self.turn, &self.wavefront) {
            (Contestant::Wavefront, Some(wavefront)) => 8.0 * wavefront.slots() as f64,
            _ => f64::INFINITY,
        }
    }

    /// Learns how long a launch took. Says whether the next one is another's.
    pub(super) fn learn(&mut self, paths: f64, took: Duration) -> bool {
        let is_large = took * 4 >= self.target() || paths >= 0.9 * self.most_paths();
        if !self.is_open || !is_large {
            return false;
        }
        let before = self.turn;
        self.rates[before as usize] = Some(paths / took.as_secs_f64().max(1e-9));
        match self.rates {
            [Some(megakernel), Some(wavefront)] => {
                self.is_open = false;
                self.turn =
                    if wavefront > megakernel { Contestant::Wavefront } else { Contestant::Megakernel };
                if self.turn == Contestant::Megakernel {
                    self.wavefront = None;
                }
            }
            _ => self.turn = Contestant::Wavefront,
        }
        self.turn != before
    }

    /// Where the time of the wavefront went, if it was to be taken.
    pub(super) fn times(self) -> Option<StageTimes> {
        self.wavefront.and_then(|wavefront| wavefront.times())
    }

    pub(super) const fn traced(&self) -> Traced {
        let rates = match self.rates {
            [Some(megakernel), Some(wavefront)] => Some([megakernel, wavefront]),
            _ => None,
        };
        Traced { by: self.last, rates }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::cpu::Cpu;

    fn tracer(megakernel_turn: bool, is_open: bool) -> Tracer<Cpu> {
        let turn = if megakernel_turn { Contestant::Megakernel } else { Contestant::Wavefront };
        Tracer { wavefront: None, turn, last: turn, rates: [None; 2], is_open, may_fall_back: true }
    }

    #[test]
    fn the_faster_one_goes_on() {
        for (wavefront_ms, winner) in [(90, Contestant::Wavefront), (110, Contestant::Megakernel)] {
            let mut tracer = tracer(true, true);
            assert!(!tracer.learn(1e3, Duration::from_millis(1)), "too short to tell");
            assert!(tracer.learn(1e6, Duration::from_millis(100)));
            assert_eq!(tracer.turn, Contestant::Wavefront);
            let turns = tracer.learn(1e6, Duration::from_millis(wavefront_ms));
            assert_eq!((turns, tracer.turn), (winner == Contestant::Megakernel, winner));
            assert!(!tracer.learn(1e6, Duration::from_millis(500)), "decided");
            let [megakernel, wavefront] = tracer.traced().rates.unwrap();
            assert!((megakernel - 1e7).abs() < 1.0 && wavefront > 9e6, "{megakernel} {wavefront}");
        }
    }

    #[test]
    fn one_alone_is_never_left() {
        let mut tracer = tracer(true, false);
        assert!(!tracer.learn(1e6, Duration::from_millis(100)));
        assert_eq!(tracer.traced(), Traced { by: Contestant::Megakernel, rates: None });
    }
}
