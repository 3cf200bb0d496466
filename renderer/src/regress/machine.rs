//! The machine that renders the scenes of a suite.

use crate::assemble::SceneData;
use crate::render::{Control, Progress, Rendered, Request, Shortage};
use crate::{Device, Machine, MachineError};

/// Renders the scenes of a suite.
pub trait SceneRenderer: Send {
    /// Its name, once it has rendered.
    fn name(&self) -> String;

    /// Renders until the budget is spent, or `observe` says to stop.
    ///
    /// # Errors
    /// The machine does not start, or fails.
    fn render(
        &mut self,
        scene: &SceneData,
        request: Request<'_>,
        observe: &mut dyn FnMut(&Progress) -> Control,
    ) -> Result<Rendered, MachineError>;
}

/// A machine that is started when the first scene is to be rendered, and again after it failed.
pub struct LazyMachine {
    device: Device,
    threads: Option<usize>,
    machine: Option<Machine>,
    name: Option<String>,
    warn: Box<dyn Fn(&str) + Send>,
    /// The shortage of memory that was last told of.
    told: Shortage,
}

impl LazyMachine {
    /// The machine of a device, a CPU with so many threads or one for every core. `warn` is told why the CPU renders
    /// where a GPU would be expected, and what does not fit into a GPU's memory.
    pub fn new(device: Device, threads: Option<usize>, warn: impl Fn(&str) + Send + 'static) -> Self {
        let (machine, name, told) = (None, None, Shortage::default());
        Self { device, threads, machine, name, warn: Box::new(warn), told }
    }

    /// Tells of a shortage of memory, unless it is as before.
    fn tell(&mut self, shortage: Shortage) {
        if let Some(note) = shortage.note(&self.device.name()).filter(|_| shortage != self.told) {
            (self.warn)(&note);
        }
        self.told = shortage;
    }
}

impl SceneRenderer for LazyMachine {
    fn name(&self) -> String {
        self.name.clone().unwrap_or_else(|| self.device.name())
    }

    fn render(
        &mut self,
        scene: &SceneData,
        request: Request<'_>,
        observe: &mut dyn FnMut(&Progress) -> Control,
    ) -> Result<Rendered, MachineError> {
        // Taken out, so that one that fails, or panics, is not used again.
        let mut machine = match self.machine.take() {
            Some(machine) => machine,
            None => self.device.start(self.threads)?,
        };
        if let Some(surprise) = self.device.surprise.take() {
            (self.warn)(&format!("rendering on the CPU: {surprise}"));
        }
        let rendered = machine.take(scene, request, observe);
        let rendered = rendered.map_err(|e| machine.failed(e))?;
        self.tell(rendered.progress.shortage);
        self.name = Some(machine.name());
        self.machine = Some(machine);
        Ok(rendered)
    }
}
