//! Chooses the integrator of an image: times megakernel and wavefront, and keeps the faster one.

use std::time::Duration;

use device::path::MegakernelArgs;
use device::path::stage::Stage;
use torrance_gpu::backend::Error;
use torrance_gpu::primitives::Primitives;

use super::placement::Demand;
use super::wavefront::{Paths, Wavefront, fit};
use super::{Kernel, Lesson, Options, StageTimes};
use crate::assemble::SceneData;

/// How paths are traced. What they see is the same, to the last bit on a CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Integrator {
    /// A whole path in one kernel.
    #[default]
    Megakernel,
    /// Many paths together in stages.
    Wavefront(Paths),
    /// Both at first, each for passes over the image, then the one that was faster on this scene and machine. Short renders
    /// do not try both, but take the one that probably is.
    Fastest(Paths),
}

/// Renders of fewer paths are over before it is known what is faster.
const WORTH_A_RACE: u64 = 1 << 26;

/// Paths of a round from which rates can be told. The next round is of much the same pixels.
const WORTH_COMPARING: f64 = 4e6;

/// So are those of fewer samples per pixel: each takes a pass over the image, and more until its launches have their size.
const SAMPLES_OF_A_RACE: u32 = 8;

/// Whether stages are probably faster on a GPU, where there is no time to try: unless both materials and geometry are so
/// simple that moving paths between stages costs more than it gains.
fn probably_stages(scene: &SceneData) -> bool {
    const LARGE: usize = 10_000;
    Kernel::for_scene(scene).is_specialized() || scene.stats.nodes >= LARGE
}

/// Paths of a render.
fn paths_of(scene: &SceneData, spp: u32) -> u64 {
    u64::from(scene.width) * u64::from(scene.height) * u64::from(spp)
}

/// Whether a render is long enough for a race.
fn is_long(scene: &SceneData, spp: u32) -> bool {
    paths_of(scene, spp) >= WORTH_A_RACE && spp >= SAMPLES_OF_A_RACE
}

impl Integrator {
    /// The wavefront that a render of so many samples per pixel wants, if it wants one. Where paths make walks, they wait for each
    /// other in its stages, but take turns in the megakernel.
    pub(super) fn wavefront(self, scene: &SceneData, spp: u32) -> Option<Paths> {
        match self {
            Self::Wavefront(paths) => Some(paths),
            Self::Fastest(_) if scene.settings.walks != 0 => None,
            Self::Fastest(paths) if is_long(scene, spp) || probably_stages(scene) => Some(paths),
            _ => None,
        }
    }

    /// Whether a render of so many samples per pixel measures which integrator is faster, if there is memory for both.
    pub(super) fn races(self, scene: &SceneData, spp: u32) -> bool {
        matches!(self, Self::Fastest(_)) && is_long(scene, spp) && self.wavefront(scene, spp).is_some()
    }

    /// Bytes of memory that paths under way take of a machine with as much as they want.
    pub(super) fn bytes_wanted(self, scene: &SceneData, spp: u32) -> u64 {
        self.wavefront(scene, spp).map_or(0, |paths| fit::all(scene, paths, paths_of(scene, spp)))
    }

    /// Bytes of memory that a render takes, beside its scene and `films` bytes of films.
    pub(super) fn demand(self, scene: &SceneData, spp: u32, films: u64) -> Demand {
        let stages = self.wavefront(scene, spp);
        let enough = stages.map_or(0, |paths| fit::enough(scene, paths, paths_of(scene, spp)));
        // Where there is no room for a pool, the megakernel needs none.
        let least = if matches!(self, Self::Fastest(_)) { 0 } else { enough };
        Demand { films, least, enough }
    }
}

/// One of the integrators.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Contestant {
    /// A whole path in one kernel.
    Megakernel,
    /// Many paths together in stages.
    Wavefront,
}

impl Contestant {
    const fn other(self) -> Self {
        match self {
            Self::Megakernel => Self::Wavefront,
            Self::Wavefront => Self::Megakernel,
        }
    }
}

/// The integrator that traced the last samples of an image.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct IntegratorChoice {
    /// The integrator.
    pub integrator: Contestant,
    /// Paths per second of megakernel and wavefront, if it was chosen by measuring them.
    pub rates: Option<[f64; 2]>,
    /// What was learnt of guiding, if anything was.
    pub guiding: Option<Lesson>,
}

/// A launch that has ended.
#[derive(Debug, Clone, Copy)]
pub(super) struct Launch {
    /// Paths that it traced.
    pub(super) paths: f64,
    /// How long it took.
    pub(super) took: Duration,
    /// Whether it was of a round, of which launches are rarely as large as they could be.
    pub(super) is_of_round: bool,
    /// Whether it was the first of a pass over the image, or over all of a round.
    pub(super) begins_pass: bool,
    /// Whether it was the last.
    pub(super) ends_pass: bool,
}

/// The launches of a pass so far. Parts of an image differ in cost, so only whole passes are compared.
#[derive(Debug, Clone, Copy, Default)]
struct Lap {
    paths: f64,
    took: Duration,
}

/// How long launches of paths that make walks should take: some may take twice as long, and watchdogs wait for two seconds.
const WALKING: [Duration; 2] = [Duration::from_secs(1), Duration::from_millis(250)];

/// Traces paths with the megakernel, the wavefront, or the faster of both.
pub(super) struct Tracer<B: Primitives> {
    wavefront: Option<Box<Wavefront<B>>>,
    turn: Contestant,
    /// The integrator of the last launch.
    last: Contestant,
    /// Paths per second, as far as they are known.
    rates: [Option<f64>; 2],
    /// Whether the other one is still to be tried.
    is_open: bool,
    /// Whether the megakernel has been compiled.
    has_megakernel: bool,
    /// Whether launches have become as large as they get. Where parts of an image differ much in cost, the first of a pass
    /// never is.
    is_warm: bool,
    /// The pass that is being timed, if it is.
    lap: Option<Lap>,
    /// Whether the megakernel may stand in for a wavefront that there is no memory for.
    may_fall_back: bool,
    /// Slots of the wavefront that there was room for, and of the one that was wanted; 0 for none.
    slots: u32,
    wanted: u32,
    /// How long a launch may take.
    limit: Duration,
    /// How long a launch should take because its paths make walks.
    walking: Option<Duration>,
    /// What paths are guided by.
    pub(super) guiding: Option<Lesson>,
}

impl<B: Primitives> Tracer<B> {
    /// A tracer for a render of at most `spp` samples per pixel, which leaves room for `films` bytes of films.
    pub(super) fn new(
        backend: &mut B,
        scene: &SceneData,
        options: Options<'_>,
        spp: u32,
        films: u64,
    ) -> Result<Self, Error> {
        let most = paths_of(scene, spp);
        let may_fall_back = matches!(options.integrator, Integrator::Fastest(_));
        let wanted = options.integrator.wavefront(scene, spp);
        let built = wanted.map(|paths| fit::largest(backend, scene, (paths, most), films, may_fall_back));
        let mut wavefront = match built.transpose() {
            Err(_) if may_fall_back => None,
            built => built?,
        };
        let is_open = options.integrator.races(scene, spp) && wavefront.is_some();
        // Its kernels are small, and the driver has compiled them first.
        let turn = if wavefront.is_some() { Contestant::Wavefront } else { Contestant::Megakernel };
        if let (true, Some(wavefront)) = (options.stage_times, &mut wavefront) {
            wavefront.take_times(backend)?;
        }
        let wavefront = wavefront.map(Box::new);
        Ok(Self {
            slots: wavefront.as_ref().map_or(0, |wavefront| wavefront.slots() as u32),
            wavefront,
            turn,
            last: turn,
            rates: [None; 2],
            is_open,
            has_megakernel: false,
            is_warm: false,
            lap: None,
            may_fall_back,
            wanted: wanted.map_or(0, |paths| fit::slots(paths, most)),
            limit: options.launches.at(Duration::ZERO),
            walking: (scene.settings.walks != 0).then_some(WALKING[usize::from(backend.is_watched())]),
            guiding: None,
        })
    }

    /// Gives the memory of the wavefront back: nothing more is traced.
    pub(super) fn give_pool_up(&mut self) {
        self.wavefront = None;
    }

    /// Takes the samples of `args`; `S` is the megakernel.
    ///
    /// # Safety
    /// As [`torrance_gpu::backend::Backend::launch`].
    pub(super) unsafe fn trace<S: Stage<Args = MegakernelArgs>>(
        &mut self,
        backend: &mut B,
        args: MegakernelArgs,
    ) -> Result<(), Error> {
        if self.is_open && !self.has_megakernel && backend.is_ready::<S>() {
            backend.prepare::<S>()?;
            self.has_megakernel = true;
        }
        let mut rest = args;
        while let (Contestant::Wavefront, Some(wavefront), 1..) =
            (self.turn, &mut self.wavefront, rest.invocations)
        {
            match wavefront.hold_part(backend, &rest) {
                Err(_) if self.may_fall_back => {
                    (self.wavefront, self.turn, self.is_open) = (None, Contestant::Megakernel, false);
                    self.slots = 0;
                }
                held => {
                    let invocations = held?;
                    // SAFETY: as the caller promised, of these invocations, too.
                    unsafe { wavefront.run(backend, MegakernelArgs { invocations, ..rest })? };
                    rest.first_invocation += invocations;
                    rest.invocations -= invocations;
                }
            }
        }
        self.last = self.turn;
        match rest.invocations {
            0 => Ok(()),
            // SAFETY: as the caller promised.
            _ => unsafe { backend.launch::<S>(rest) },
        }
    }

    /// Slots of the wavefront, and slots that were wanted, if these were more.
    pub(super) const fn shrunk(&self) -> Option<[u32; 2]> {
        match self.slots < self.wanted {
            true => Some([self.slots, self.wanted]),
            false => None,
        }
    }

    /// How long a launch should take. At the end of each, the wavefront has ever fewer paths under way, and of paths that make walks,
    /// the last ones may take a second.
    pub(super) fn target(&self) -> Duration {
        let efficient = self.walking.unwrap_or(match self.turn {
            Contestant::Megakernel => Duration::from_millis(100),
            Contestant::Wavefront => Duration::from_millis(200),
        });
        efficient.min(self.limit)
    }

    /// From here on, launches may take no longer.
    pub(super) const fn limit(&mut self, limit: Duration) {
        self.limit = limit;
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
            (Contestant::Wavefront, Some(wavefront)) => {
                f64::from(fit::FIRST_PATHS) * wavefront.slots() as f64
            }
            _ => f64::INFINITY,
        }
    }

    /// Learns how long a launch took. Says whether the next one is another's, which it never is within a pass.
    pub(super) fn learn(&mut self, launch: Launch) -> bool {
        if !self.is_open {
            return false;
        }
        let is_full_size = self.is_full_size(launch);
        if launch.begins_pass {
            self.lap = (is_full_size || self.is_warm).then(Lap::default);
        }
        self.is_warm |= is_full_size;
        let Some(lap) = &mut self.lap else { return false };
        lap.paths += launch.paths;
        lap.took += launch.took;
        if !launch.ends_pass {
            return false;
        }
        let before = self.turn;
        self.rates[before as usize] = Some(lap.paths / lap.took.as_secs_f64().max(1e-9));
        (self.lap, self.is_warm) = (None, false);
        match self.rates {
            [Some(megakernel), Some(wavefront)] => {
                self.is_open = false;
                self.turn =
                    if wavefront > megakernel { Contestant::Wavefront } else { Contestant::Megakernel };
                if self.turn == Contestant::Megakernel {
                    self.wavefront = None;
                }
            }
            _ if self.has_megakernel => self.turn = before.other(),
            _ => {}
        }
        self.turn != before
    }

    /// Whether a launch is as large as launches become. A pass takes whole samples of all pixels where it can, so it may
    /// be up to a half smaller than wanted.
    fn is_full_size(&self, launch: Launch) -> bool {
        launch.took * 2 >= self.target()
            || launch.paths * 2.0 >= self.most_paths()
            || launch.is_of_round && launch.paths >= WORTH_COMPARING
    }

    /// Stage times of the wavefront, if they were asked for.
    pub(super) fn times(self) -> Option<StageTimes> {
        self.wavefront.and_then(|wavefront| wavefront.times())
    }

    pub(super) const fn choice(&self) -> IntegratorChoice {
        let rates = match self.rates {
            [Some(megakernel), Some(wavefront)] => Some([megakernel, wavefront]),
            _ => None,
        };
        IntegratorChoice { integrator: self.last, rates, guiding: self.guiding }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::assemble::assemble;
    use crate::described;
    use torrance_gpu::backend::cpu::Cpu;

    fn tracer(is_open: bool) -> Tracer<Cpu> {
        let turn = Contestant::Megakernel;
        let rates = [None; 2];
        Tracer {
            wavefront: None,
            turn,
            last: turn,
            rates,
            is_open,
            has_megakernel: true,
            is_warm: false,
            lap: None,
            may_fall_back: true,
            slots: 0,
            wanted: 0,
            limit: Duration::MAX,
            walking: None,
            guiding: None,
        }
    }

    /// A pass of launches, of so many paths and milliseconds. Whether the next pass is another's.
    fn pass(tracer: &mut Tracer<Cpu>, launches: &[(f64, u64)]) -> bool {
        let last = launches.len() - 1;
        let mut turns = launches.iter().enumerate().map(|(i, &(paths, ms))| {
            let (begins_pass, ends_pass) = (i == 0, i == last);
            tracer.learn(Launch {
                paths,
                took: Duration::from_millis(ms),
                is_of_round: false,
                begins_pass,
                ends_pass,
            })
        });
        let within = turns.by_ref().take(last).any(|turns| turns);
        assert!(!within, "a turn within a pass: {launches:?}");
        turns.next().unwrap()
    }

    #[test]
    fn the_faster_one_goes_on() {
        for (wavefront_ms, winner) in [(190, Contestant::Wavefront), (210, Contestant::Megakernel)] {
            let mut tracer = tracer(true);
            assert!(!pass(&mut tracer, &[(1e3, 1)]), "too short to tell");
            assert!(pass(&mut tracer, &[(1e6, 100)]));
            assert_eq!((tracer.turn, tracer.choice().rates), (Contestant::Wavefront, None));
            let turns = pass(&mut tracer, &[(2e6, wavefront_ms)]);
            assert_eq!((turns, tracer.turn), (winner == Contestant::Megakernel, winner));
            assert!(!pass(&mut tracer, &[(1e6, 500)]), "decided");
            let [megakernel, wavefront] = tracer.choice().rates.unwrap();
            assert!((megakernel - 1e7).abs() < 1.0, "{megakernel}");
            assert!((wavefront - 2e9 / wavefront_ms as f64).abs() < 1.0, "{wavefront}");
        }
    }

    /// The upper half of the image costs a tenth of the lower one, and the wavefront is faster in both. By the first
    /// launches of their passes, the megakernel would be.
    #[test]
    fn rates_are_of_the_same_pixels() {
        let mut tracer = tracer(true);
        // Until launches have their size, they are of any part.
        assert!(!pass(&mut tracer, &[(1e5, 1), (4e5, 4), (5e5, 50), (1e6, 100)]));
        assert!(pass(&mut tracer, &[(1e7, 100), (1e6, 100), (9e6, 900)]));
        assert!(!pass(&mut tracer, &[(2e6, 16), (8e6, 64), (1e7, 800)]), "too small at first");
        assert!(!pass(&mut tracer, &[(1.2e7, 240), (7e6, 560), (1e6, 80)]), "the winner goes on");
        let [megakernel, wavefront] = tracer.choice().rates.unwrap();
        assert_eq!(tracer.turn, Contestant::Wavefront);
        assert!((megakernel - 2e7 / 1.1).abs() < 1.0 && (wavefront - 2e7 / 0.88).abs() < 1.0);
    }

    /// A pass that begins with what is cheap never begins with a launch of full size.
    #[test]
    fn uneven_images_are_raced_for() {
        let mut tracer = tracer(true);
        let uneven = [(1e6, 20), (4e6, 300), (5e5, 110)];
        assert!(!pass(&mut tracer, &uneven), "too small at first");
        assert!(pass(&mut tracer, &uneven));
        assert!(!pass(&mut tracer, &uneven), "too small at first, as the other one");
        assert!(!pass(&mut tracer, &uneven[..1]) && !tracer.is_open, "decided");
        assert!(tracer.choice().rates.is_some());
    }

    #[test]
    fn what_is_not_compiled_is_waited_for() {
        let mut tracer = Tracer { turn: Contestant::Wavefront, has_megakernel: false, ..tracer(true) };
        for _ in 0..3 {
            assert!(!pass(&mut tracer, &[(1e6, 200), (1e6, 200)]));
            assert_eq!((tracer.turn, tracer.is_open), (Contestant::Wavefront, true));
        }
        tracer.has_megakernel = true;
        assert!(pass(&mut tracer, &[(1e6, 200), (1e6, 200)]));
        assert_eq!(tracer.turn, Contestant::Megakernel);
    }

    #[test]
    fn one_alone_is_never_left() {
        let mut tracer = tracer(false);
        assert!(!pass(&mut tracer, &[(1e6, 100)]));
        assert_eq!(
            tracer.choice(),
            IntegratorChoice { integrator: Contestant::Megakernel, rates: None, guiding: None }
        );
    }

    #[test]
    fn renders_that_are_over_soon_have_no_race() {
        const SCENE: &str = r#"
            [render]
            size = [8, 8]
            spp = 4
            [camera]
            position = [0, 0, 4]
            target = [0, 0, 0]
            fov = 40
            [environment]
            radiance = 1
            [materials.grey]
            type = "diffuse"
            reflectance = 0.5
            [[shapes]]
            type = "box"
            material = "grey"
        "#;
        let mut scene = assemble(&described(SCENE)).unwrap();
        let mut cpu = Cpu::new(Some(1)).unwrap();
        for (side, spp, expected) in [
            (8, 1 << 20, true),
            (8, (1 << 20) - 1, false),
            (1 << 13, 1, false),
            (1 << 13, 7, false),
            (1 << 13, 8, true),
        ] {
            (scene.width, scene.height) = (side, side);
            for (integrator, is_race) in [
                (Integrator::Fastest(Paths::new(16)), expected),
                (Integrator::Wavefront(Paths::new(16)), false),
            ] {
                let options = Options { integrator, ..Options::default() };
                let tracer = Tracer::new(&mut cpu, &scene, options, spp, 0).unwrap();
                assert_eq!(tracer.is_open, is_race, "{integrator:?} of {side} x {side} pixels, {spp} spp");
            }
        }
    }
}
