//! The machine that renders the scenes of a suite.

use crate::assemble::SceneData;
use crate::render::{Budget, Control, Options, Progress, Rendered};
use crate::{Device, Machine, MachineError};

/// Renders the scenes of a suite.
pub trait SceneRenderer {
    /// Its name, once it has rendered.
    fn name(&self) -> String;

    /// Renders so many samples per pixel, or until `observe` says to stop.
    ///
    /// # Errors
    /// The machine does not start, or fails.
    fn render(
        &mut self,
        scene: &SceneData,
        spp: u32,
        observe: &mut dyn FnMut(&Progress) -> Control,
    ) -> Result<Rendered, MachineError>;
}

/// A machine that is started when the first scene is to be rendered, and again after it failed.
pub struct LazyMachine {
    device: Device,
    threads: Option<usize>,
    machine: Option<Machine>,
    name: Option<String>,
    surprised: Box<dyn Fn(&str)>,
}

impl LazyMachine {
    /// The machine of a device, a CPU with so many threads or one for every core. `surprised` is told why the CPU renders
    /// where a GPU would be expected.
    pub fn new(device: Device, threads: Option<usize>, surprised: impl Fn(&str) + 'static) -> Self {
        Self { device, threads, machine: None, name: None, surprised: Box::new(surprised) }
    }
}

impl SceneRenderer for LazyMachine {
    fn name(&self) -> String {
        self.name.clone().unwrap_or_else(|| self.device.name())
    }

    fn render(
        &mut self,
        scene: &SceneData,
        spp: u32,
        observe: &mut dyn FnMut(&Progress) -> Control,
    ) -> Result<Rendered, MachineError> {
        // Taken out, so that one that fails, or panics, is not used again.
        let mut machine = match self.machine.take() {
            Some(machine) => machine,
            None => self.device.start(self.threads)?,
        };
        if let Some(surprise) = self.device.surprise.take() {
            (self.surprised)(&surprise);
        }
        let rendered = machine.render(scene, Budget::of_samples(spp), Options::default(), observe);
        let rendered = rendered.map_err(|e| machine.failed(e))?;
        self.name = Some(machine.name());
        self.machine = Some(machine);
        Ok(rendered)
    }
}
