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

impl Integrator {
    /// What is probably faster on a GPU, where there is no time to try: stages, unless both materials and geometry are so
    /// simple that moving paths between stages costs more than it gains.
    pub fn probably_faster(scene: &SceneData, paths: Paths) -> Self {
        const LARGE: usize = 10_000;
        match Kernel::of(scene) {
            Kernel::Basic | Kernel::Glass if scene.stats.nodes < LARGE => Self::Megakernel,
            _ => Self::Wavefront(paths),
        }
    }
}

/// One of the integrators.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Contestant {
    /// All of a path in one kernel.
    Megakernel,
    /// Many paths together in stages.
    Wavefront,
}

/// What traced an image, at least its last samples.
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
    /// Paths per second, as far as they are known.
    rates: [Option<f64>; 2],
    /// Whether the other one is still to be tried.
    is_open: bool,
}

impl<B: Primitives> Tracer<B> {
    pub(super) fn new(backend: &mut B, scene: &SceneData, options: Options<'_>) -> Result<Self, Error> {
        let integrator = options.integrator;
        let mut wavefront = match integrator {
            Integrator::Megakernel => None,
            Integrator::Wavefront(paths) => Some(Wavefront::new(backend, scene, paths)?),
            // Where there is no memory for it, the megakernel needs none.
            Integrator::Fastest(paths) => Wavefront::new(backend, scene, paths).ok(),
        };
        let turn = match integrator {
            Integrator::Wavefront(_) => Contestant::Wavefront,
            _ => Contestant::Megakernel,
        };
        if let (true, Some(wavefront)) = (options.stage_times, &mut wavefront) {
            wavefront.take_times(backend)?;
        }
        let is_open = matches!(integrator, Integrator::Fastest(_)) && wavefront.is_some();
        Ok(Self { wavefront: wavefront.map(Box::new), turn, rates: [None; 2], is_open })
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
        Traced { by: self.turn, rates }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::cpu::Cpu;

    fn tracer(megakernel_turn: bool, is_open: bool) -> Tracer<Cpu> {
        let turn = if megakernel_turn { Contestant::Megakernel } else { Contestant::Wavefront };
        Tracer { wavefront: None, turn, rates: [None; 2], is_open }
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
