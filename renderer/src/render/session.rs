//! Renders of one scene after another that are much the same.

use std::time::Instant;

use super::{
    Budget, Control, Error, Integrator, Options, Progress, Rendered, Run, Uploaded, prepare, render_run,
};
use crate::assemble::SceneData;
use crate::primitives::Primitives;

/// Renders scenes on one back end, and keeps from one to the next what both share: of the scene in the machine's memory all
/// that is the same, the memory of paths under way, which integrator is faster, and how large launches have to be. Images are
/// those of [`super::render_with`], to the last bit on a CPU.
pub struct Session<B: Primitives> {
    last: Option<Last<B>>,
}

/// What the render before has left.
struct Last<B: Primitives> {
    scene: SceneData,
    uploaded: Uploaded<B>,
    /// Of which the second part says for what it is.
    run: Option<(Run<B>, Suits)>,
}

/// What a run depends on.
#[derive(Debug, Clone, PartialEq)]
struct Suits {
    integrator: Integrator,
    shorter: bool,
    spp: u32,
    size: [u32; 2],
    features: device::bsdf::Features,
    families: crate::assemble::Families,
}

impl<B: Primitives> Default for Session<B> {
    fn default() -> Self {
        Self::new()
    }
}

impl<B: Primitives> Session<B> {
    /// Before the first scene.
    pub const fn new() -> Self {
        Self { last: None }
    }

    /// As [`super::render_with`]. All renders of a session are on the same back end.
    ///
    /// # Errors
    /// There is not enough memory, or what the machine says. The next render then begins anew.
    pub fn render(
        &mut self,
        backend: &mut B,
        scene: &SceneData,
        budget: Budget,
        options: Options<'_>,
        observe: &mut dyn FnMut(&Progress) -> Control,
    ) -> Result<Rendered, Error> {
        prepare(backend, scene, options)?;
        let begin = Instant::now();
        let mut last = match self.last.take() {
            Some(mut last) => {
                last.uploaded.become_like(backend, &last.scene, scene)?;
                Last { scene: scene.clone(), ..last }
            }
            None => Last { scene: scene.clone(), uploaded: Uploaded::new(backend, scene)?, run: None },
        };
        backend.synchronize()?;
        let upload = begin.elapsed();
        let suits = Suits {
            integrator: options.integrator,
            shorter: options.shorter,
            spp: budget.spp,
            size: [scene.width, scene.height],
            features: scene.features,
            families: scene.families.clone(),
        };
        let mut run = match last.run.take() {
            Some((run, of)) if of == suits && !options.stage_times => run,
            other => {
                // There need not be room for both.
                drop(other);
                Run::new(backend, scene, budget, options)?
            }
        };
        let view = last.uploaded.view(scene);
        let finished = render_run(backend, scene, view, &mut run, budget, options, observe)?;
        let traced = run.tracer.traced();
        let stage_times = if options.stage_times {
            run.tracer.times()
        } else {
            last.run = Some((run, suits));
            None
        };
        self.last = Some(last);
        let progress = Progress { upload, ..finished.progress };
        let rendered = finished.films.develop(backend, scene, progress, (finished.interrupted, traced))?;
        Ok(Rendered { stage_times, ..rendered })
    }
}
