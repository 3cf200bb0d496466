//! The machine that renders the scenes of a suite.

use super::super::device::{Found, Machine as Started};
use super::super::failure::warn;
use crate::assemble::SceneData;
use crate::backend::Error;
use crate::primitives::Primitives;
use crate::regress::Machine;
use crate::render::{self, Budget, Control, Progress, Rendered};

/// A machine that is started when the first scene is to be rendered, and again after it failed.
pub(super) struct Lazy {
    found: Found,
    threads: Option<usize>,
    machine: Option<Started>,
    name: Option<String>,
}

impl Lazy {
    pub(super) fn new(found: Found, threads: Option<usize>) -> Self {
        Self { found, threads, machine: None, name: None }
    }
}

impl Machine for Lazy {
    fn name(&self) -> String {
        self.name.clone().unwrap_or_else(|| self.found.name())
    }

    fn render(
        &mut self,
        scene: &SceneData,
        spp: u32,
        observe: &mut dyn FnMut(&Progress) -> Control,
    ) -> Result<Rendered, String> {
        // Taken out, so that one that fails, or panics, is not used again.
        let mut machine = match self.machine.take() {
            Some(machine) => machine,
            None => self.found.start(self.threads).map_err(|e| e.message().to_owned())?,
        };
        if let Some(surprise) = self.found.surprise.take() {
            warn(format_args!("rendering on the CPU: {surprise}"));
        }
        let (name, rendered) = match &mut machine {
            Started::Cpu(cpu) => on(cpu, scene, spp, observe),
            Started::Cuda(cuda) => on(&mut **cuda, scene, spp, observe),
        };
        let rendered = rendered.map_err(|e| format!("{name}: {e}"))?;
        (self.machine, self.name) = (Some(machine), Some(name));
        Ok(rendered)
    }
}

fn on<B: Primitives>(
    backend: &mut B,
    scene: &SceneData,
    spp: u32,
    observe: &mut dyn FnMut(&Progress) -> Control,
) -> (String, Result<Rendered, Error>) {
    let budget = Budget::of_samples(spp);
    (backend.name(), render::render(backend, scene, budget, observe))
}
