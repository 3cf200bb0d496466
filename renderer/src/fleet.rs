//! Machines that share a render, so that all of them are busy to its end and none is needed for it.

use std::collections::BTreeSet;
use std::panic::resume_unwind;
use std::str::FromStr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::Sender;
use std::thread;
use std::time::Duration;

use torrance_gpu::backend::Error;
use torrance_gpu::backend::cuda::devices;
use torrance_gpu::backend::cuda::driver;
use torrance_system::available_memory;

use crate::assemble::SceneData;
use crate::machine::{gpu_index, on};
use crate::render::{
    self, Contestant, Integrator, IntegratorChoice, Observer, Part, Paths, Rendered, Request, StageTimes,
    Work,
};
use crate::{Device, DeviceChoice, DeviceError, Machine, MachineError};

/// The user's choice of devices.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FleetChoice {
    /// One device.
    One(DeviceChoice),
    /// GPUs of these indices, or all of them, and with them perhaps the CPU.
    Gpus {
        /// Indices; all if `None`.
        which: Option<BTreeSet<u32>>,
        /// Whether the CPU renders too.
        cpu: bool,
    },
}

impl Default for FleetChoice {
    fn default() -> Self {
        Self::One(DeviceChoice::Auto)
    }
}

impl FromStr for FleetChoice {
    type Err = String;

    /// Reads `auto`, `cpu`, `cuda`, `cuda:N`, or several GPUs: `cuda:all`, `cuda:0,2`, either with `+cpu` behind.
    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || {
            "expected auto, cpu, cuda, cuda:N, or several devices, as in cuda:all, cuda:0,2 or cuda:all+cpu (`torrance \
             info` lists the devices)"
                .to_owned()
        };
        let lower = text.to_ascii_lowercase();
        let (gpus, cpu) = lower.strip_suffix("+cpu").map_or((lower.as_str(), false), |gpus| (gpus, true));
        let which = match gpus.strip_prefix("cuda:") {
            Some("all") => None,
            Some(list) if cpu || list.contains(',') => {
                let indices = list.split(',').map(|index| gpu_index(index).ok_or_else(wrong));
                Some(indices.collect::<Result<_, _>>()?)
            }
            None if cpu && gpus == "cuda" => Some([0].into()),
            _ if cpu => return Err(wrong()),
            _ => return text.parse().map(Self::One).map_err(|_: String| wrong()),
        };
        Ok(Self::Gpus { which, cpu })
    }
}

impl FleetChoice {
    /// Finds the devices, which takes no time: to be done before all that does.
    ///
    /// # Errors
    /// One of them is not there.
    pub fn find(&self) -> Result<Vec<Device>, DeviceError> {
        let (which, cpu) = match self {
            Self::One(choice) => return choice.find().map(|device| vec![device]),
            Self::Gpus { which, cpu } => (which, *cpu),
        };
        driver::load()?;
        let all = || Ok::<_, DeviceError>(devices()?.iter().map(|device| device.index).collect());
        let which = match which {
            Some(which) => which.clone(),
            None => all()?,
        };
        let gpus = which.into_iter().map(|index| DeviceChoice::Cuda(index).find());
        let cpu = cpu.then(|| DeviceChoice::Cpu.find());
        gpus.chain(cpu).collect()
    }
}

/// How each machine traces paths.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Integrators {
    /// GPUs.
    pub gpu: Integrator,
    /// The CPU.
    pub cpu: Integrator,
}

impl Default for Integrators {
    /// On GPUs, the one that is faster; on CPUs, the megakernel always is.
    fn default() -> Self {
        Self { gpu: Integrator::Fastest(Paths::new(Paths::ON_GPU)), cpu: Integrator::Megakernel }
    }
}

impl Integrators {
    /// That of a kind of machine.
    pub const fn of(&self, is_gpu: bool) -> Integrator {
        if is_gpu { self.gpu } else { self.cpu }
    }

    /// Those of a machine.
    fn options<'a>(&self, machine: &Machine, options: render::Options<'a>) -> render::Options<'a> {
        render::Options { integrator: self.of(machine.is_gpu()), ..options }
    }
}

/// Machines that render together.
pub struct Fleet {
    machines: Vec<Machine>,
    integrators: Integrators,
    /// CPU threads to use, all if `None`.
    threads: Option<usize>,
    /// Who is told of machines that are left out.
    left_out: Sender<MachineError>,
}

impl Fleet {
    /// Starts devices, all at once; the CPU with so many threads, or with one for each core that no GPU keeps busy. Those that do not
    /// start are left out, as long as there is another. Whatever is left out, now or later, is sent to `left_out` at once.
    ///
    /// # Errors
    /// None starts: the failure of the first.
    pub fn start(
        devices: &mut [Device],
        threads: Option<usize>,
        integrators: Integrators,
        left_out: Sender<MachineError>,
    ) -> Result<Self, MachineError> {
        let gpus = devices.iter().filter(|device| device.is_gpu()).count();
        let beside = (gpus > 0).then(|| cores().saturating_sub(gpus).max(1));
        let (mut machines, mut failed) = (Vec::new(), Vec::new());
        let start = |device: &mut Device| {
            let beside = if device.is_gpu() { None } else { beside };
            device.start(threads.or(beside))
        };
        for one in all_at_once(devices, start) {
            match one {
                Ok(machine) => machines.push(machine),
                Err(error) => failed.push(error),
            }
        }
        if machines.is_empty() && !failed.is_empty() {
            return Err(failed.swap_remove(0));
        }
        let fleet = Self { machines, integrators, threads, left_out };
        failed.into_iter().for_each(|error| fleet.leave_out(error));
        Ok(fleet)
    }

    /// The machines' names, as a person would say them.
    pub fn names(&self) -> Vec<String> {
        self.machines.iter().map(Machine::name).collect()
    }

    /// Whether one of them is a GPU.
    pub fn has_gpu(&self) -> bool {
        self.machines.iter().any(Machine::is_gpu)
    }

    /// How long compiling kernels has taken, on the machine where it took longest.
    pub fn jit_time(&self) -> Duration {
        self.machines.iter().map(Machine::jit_time).max().unwrap_or_default()
    }

    fn leave_out(&self, error: MachineError) {
        // Perhaps nobody wants to know.
        let _ = self.left_out.send(error);
    }

    /// Compiles the kernels that [`Fleet::render_last`] takes for at most `spp` samples per pixel, which would otherwise take its time
    /// then. Machines that fail are left out, as long as there is another; the CPU takes the place of the last one.
    ///
    /// # Errors
    /// There is no other: the failure.
    pub fn prepare(
        &mut self,
        scene: &SceneData,
        options: render::Options<'_>,
        spp: u32,
    ) -> Result<(), MachineError> {
        let mut machines = std::mem::take(&mut self.machines);
        let outcomes = all_at_once(&mut machines, |machine| {
            let options = self.integrators.options(machine, options);
            machine.prepare(scene, options, spp).map_err(|e| machine.failed(e))
        });
        for (machine, outcome) in machines.into_iter().zip(outcomes) {
            match outcome {
                Ok(()) => self.machines.push(machine),
                Err(error) => self.leave_out(error),
            }
        }
        if self.machines.is_empty() { self.stand_in() } else { Ok(()) }
    }

    /// Starts the CPU, as all other machines have failed.
    fn stand_in(&mut self) -> Result<(), MachineError> {
        let cpu = Machine::cpu(self.threads);
        let started = cpu.map_err(|error| MachineError { machine: "CPU".to_owned(), error });
        self.machines.push(started?);
        Ok(())
    }

    /// Renders until the budget is spent or the observer, told after launches, says to stop, a scene that is not rendered again:
    /// its geometry is dropped as soon as no machine needs it. Samples of a machine that fails are taken by the others, or by the CPU if
    /// there are none.
    ///
    /// # Errors
    /// All machines fail, and the CPU cannot take their place: the last failure. What a checkpoint has of the render stays.
    pub fn render_last(
        &mut self,
        scene: &mut SceneData,
        request: Request<'_>,
        observer: &mut dyn Observer,
    ) -> Result<Rendered, MachineError> {
        let options = request.options;
        if let [machine] = &mut self.machines[..] {
            // Geometry is kept for a CPU to take over, where there is the memory.
            let is_scarce = available_memory().is_some_and(|free| free < scene.stats.bytes as u128);
            if !machine.is_gpu() || is_scarce {
                let request = Request { options: self.integrators.options(machine, options), ..request };
                let rendered =
                    on!(machine, backend => render::render_last(backend, scene, request, observer));
                return rendered.map_err(|error| machine.failed(error));
            }
        }
        let budget = request.budget;
        let work = request.work(scene, self.machines.len());
        let mut numbers: Vec<usize> = (0..self.machines.len()).collect();
        let (mut choice, mut stage_times, mut failure, mut has_cpu_failed) = (None, None, None, false);
        loop {
            let parts: Vec<_> = (self.machines.iter().zip(&numbers))
                .map(|(machine, me)| Part::new(scene, self.integrators.options(machine, options), &work, *me))
                .collect();
            let outcomes = self.take_parts(&parts, &work, budget.spp, observer);
            for (machine, outcome) in std::mem::take(&mut self.machines).into_iter().zip(outcomes) {
                match outcome {
                    Ok((chosen, times)) => {
                        choice = choice.or(Some(chosen));
                        stage_times = stage_times.or(times);
                        self.machines.push(machine);
                    }
                    Err(error) => {
                        has_cpu_failed |= !machine.is_gpu();
                        failure = Some(error);
                    }
                }
            }
            if !work.is_unfinished() {
                break;
            }
            if self.machines.is_empty() {
                // A CPU that has failed would do so again.
                let again = failure.take().filter(|_| has_cpu_failed).map_or(Ok(()), Err);
                if let Err(error) = again.and_then(|()| self.stand_in()) {
                    work.keep();
                    return Err(error);
                }
            }
            numbers = self.machines.iter().map(|_| work.hire()).collect();
        }
        let choice = choice.unwrap_or(IntegratorChoice {
            integrator: Contestant::Megakernel,
            rates: None,
            guiding: None,
        });
        Ok(Rendered { stage_times, ..render::finish(work, choice) })
    }

    /// Has machines take their parts, each in a thread of its own if there are several, while this one tells the observer.
    fn take_parts(
        &mut self,
        parts: &[Part<'_>],
        work: &Work<'_>,
        spp: u32,
        observer: &mut dyn Observer,
    ) -> Vec<Outcome> {
        // A lone CPU that fails is not left out: the render ends.
        let left_out = (parts.len() > 1 || self.has_gpu()).then_some(&self.left_out);
        let told = |error: MachineError| {
            if let Some(left_out) = left_out {
                let _ = left_out.send(error.clone());
            }
            error
        };
        let take = |machine: &mut Machine, part, observer| {
            let taken = on!(machine, backend => render::take_part(backend, part, spp, observer));
            taken.map_err(|error| told(machine.failed(error)))
        };
        if let ([machine], [part]) = (&mut self.machines[..], parts) {
            return vec![take(machine, part, Some(observer))];
        }
        let (busy, take) = (&AtomicUsize::new(parts.len()), &take);
        thread::scope(|scope| {
            let mut threads = Vec::new();
            for (machine, part) in self.machines.iter_mut().zip(parts) {
                let name = machine.name();
                let thread = scope.spawn(move || {
                    let _ending = Ending { busy, work };
                    take(machine, part, None)
                });
                threads.push((name, thread));
            }
            while busy.load(Ordering::Relaxed) > 0 {
                work.wait_while(&|| busy.load(Ordering::Relaxed) > 0);
                work.tell_of_all(observer);
            }
            // What was said of the panic is on the screen already.
            let error = || Error { doing: "rendering".into(), reason: "the program failed".into() };
            let failed = |machine| Err(told(MachineError { machine, error: error() }));
            threads.into_iter().map(|(name, one)| one.join().unwrap_or_else(|_| failed(name))).collect()
        })
    }
}

type Outcome = Result<(IntegratorChoice, Option<StageTimes>), MachineError>;

/// A machine at its part, which ends when this is dropped, however that comes.
struct Ending<'a> {
    busy: &'a AtomicUsize,
    work: &'a Work<'a>,
}

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        self.busy.fetch_sub(1, Ordering::Relaxed);
        self.work.wake();
    }
}

/// Has machines, or devices, do something all at once.
fn all_at_once<T: Send, R: Send>(all: &mut [T], work: impl Fn(&mut T) -> R + Sync) -> Vec<R> {
    thread::scope(|scope| {
        let mut threads = Vec::new();
        for one in all {
            threads.push(scope.spawn(|| work(one)));
        }
        threads.into_iter().map(|thread| thread.join().unwrap_or_else(|panic| resume_unwind(panic))).collect()
    })
}

/// Number of cores that this process may use.
fn cores() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}
