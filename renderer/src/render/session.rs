//! Renders of one scene after another that are much the same.

use std::time::Instant;

use device::features::Features;
use torrance_gpu::backend::Buffer;
use torrance_gpu::primitives::Primitives;
use torrance_image::film::Image;

use super::films::{Films, MEAN, RawFilms};
use super::{
    Begun, Error, Integrator, Job, Launches, Part, Rendered, Run, Uploaded, finish_with, prepare, upload_now,
};
use crate::assemble::{Families, GuidingPlan, SceneData};

/// Renders scenes on one back end, and keeps from one to the next what both share: of the scene in the machine's memory all
/// that is the same, the memory of paths under way, which integrator is faster, and how large launches have to be. Images are
/// those of [`super::render_with`], to the last bit on a CPU.
pub(crate) struct Session<B: Primitives> {
    last: Option<Last<B>>,
    /// Films of the host for the next render to publish into.
    room: RawFilms,
}

/// A render, and its image where it was rendered.
pub(crate) struct WithMean<B: Primitives> {
    pub(crate) rendered: Rendered,
    /// Mean radiance of every pixel, row by row.
    pub(crate) mean: Result<B::Buf<[f32; 3]>, Error>,
}

/// State that the previous render left behind.
struct Last<B: Primitives> {
    scene: SceneData,
    uploaded: Uploaded<B>,
    /// The run, and the conditions that it was set up for.
    run: Option<(Run<B>, RunConditions)>,
}

/// Conditions under which a run can be reused.
#[derive(Debug, Clone, PartialEq)]
struct RunConditions {
    integrator: Integrator,
    launches: Launches,
    shorter: bool,
    spp: u32,
    size: [u32; 2],
    features: Features,
    guiding: GuidingPlan,
    families: Families,
}

impl<B: Primitives> Session<B> {
    /// Before the first scene.
    pub(crate) const fn new() -> Self {
        Self { last: None, room: RawFilms::NONE }
    }

    /// As [`super::render_with`]. All renders of a session are on the same back end.
    ///
    /// # Errors
    /// There is not enough memory, or what the machine says. The next render then begins anew.
    pub(crate) fn render(&mut self, backend: &mut B, job: Job<'_>) -> Result<Rendered, Error> {
        let (rendered, films) = self.render_films(backend, job)?;
        self.keep(films);
        Ok(rendered)
    }

    /// As [`Session::render`]. Also gives the mean of every pixel, row by row, in the memory of the back end, in `room` if that is
    /// such: but of those samples that were taken over from films, the host knows it.
    ///
    /// # Errors
    /// As there; those that are about the means alone leave the render.
    pub(crate) fn render_with_mean(
        &mut self,
        backend: &mut B,
        job: Job<'_>,
        room: Option<B::Buf<[f32; 3]>>,
    ) -> Result<WithMean<B>, Error> {
        let is_resumed = job.request.resumed.is_some();
        let (rendered, films) = self.render_films(backend, job)?;
        let pixels = rendered.film.pixels.len();
        let room = match room.filter(|room| room.len() == pixels) {
            Some(room) => Ok(room),
            None => backend.zeroed(MEAN, pixels),
        };
        let mean = room.and_then(|mut mean| {
            if is_resumed || !films.mean(backend, &mean)? {
                backend.write(&Image::from(&rendered.film).pixels, &mut mean)?;
            }
            Ok(mean)
        });
        self.keep(films);
        Ok(WithMean { rendered, mean })
    }

    /// Keeps films for the next render.
    fn keep(&mut self, films: Films<B>) {
        if let Some(Last { run: Some((run, _)), .. }) = &mut self.last {
            run.films = Some(films);
        }
    }

    fn render_films(&mut self, backend: &mut B, job: Job<'_>) -> Result<(Rendered, Films<B>), Error> {
        let Job { scene, request, observer } = job;
        let (options, spp) = (request.options, request.budget.spp);
        let conditions = RunConditions {
            integrator: options.integrator,
            launches: options.launches,
            shorter: options.shorter,
            spp,
            size: [scene.width, scene.height],
            features: scene.features,
            guiding: scene.guiding,
            families: scene.families.clone(),
        };
        let goes_on = |(_, of): &(Run<B>, RunConditions)| *of == conditions && !options.stage_times;
        match self.last.as_ref().and_then(|last| last.run.as_ref()) {
            Some(run) if goes_on(run) => backend.specialize(scene.features),
            _ => prepare(backend, scene, options, spp)?,
        }
        let begin = Instant::now();
        let can_go_on = |last: &Last<B>| last.uploaded.can_become_like(backend, &last.scene, scene);
        let mut last = match self.last.take().filter(can_go_on) {
            Some(mut last) => {
                last.uploaded.become_like(backend, &last.scene, scene)?;
                Last { scene: scene.clone(), ..last }
            }
            None => {
                let uploaded = upload_now(backend, scene, options, spp)?;
                Last { scene: scene.clone(), uploaded, run: None }
            }
        };
        backend.synchronize()?;
        let upload = begin.elapsed();
        let work = request.work(scene, 1);
        work.lend(0, std::mem::take(&mut self.room));
        let part = Part::new(scene, options, &work, 0);
        // There need not be room for both.
        let mut run = match last.run.take().filter(goes_on) {
            Some((run, _)) => run,
            None => Run::new(backend, &part, spp)?,
        };
        let begun = Begun { upload, shortage: last.uploaded.shortage() };
        let films = run.render(backend, last.uploaded.view(scene), &part, begun, Some(observer))?;
        let integrator = run.tracer.choice();
        let stage_times = if options.stage_times {
            run.tracer.times()
        } else {
            last.run = Some((run, conditions));
            None
        };
        self.last = Some(last);
        Ok((Rendered { stage_times, ..finish_with(work, integrator, &mut |films| self.room = films) }, films))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Budget, Control, Observer, Options, Progress, Request, Resumed, render_with};
    use super::*;
    use crate::assemble::{Original, assemble};
    use torrance_gpu::backend::cpu::Cpu;
    use torrance_scene::Description;

    const SCENE: &str = r#"
        [render]
        size = [24, 24]
        [camera]
        position = [0, 1, 6]
        target = [0, 0, 0]
        fov = 60
        [environment]
        radiance = 0.1
        [materials.grey]
        type = "diffuse"
        reflectance = 0.5
        [[shapes]]
        type = "sphere"
        material = "grey"
        center = [0, -1, 0]
        [[shapes]]
        type = "quad"
        emission = 3
        transform = [{ rotate = { axis = [1, 0, 0], degrees = 90 } }, { translate = [0, 3, 0] }]
        [[groups.post.shapes]]
        type = "box"
        material = "grey"
        transform = [{ scale = 0.4 }]
        [[instances]]
        group = "post"
        transform = [{ translate = [1.5, 0, 0] }]
        [[instances]]
        group = "post"
        transform = [{ translate = [-1.5, 0, 0] }]
    "#;

    fn described(from: &str, to: &str) -> Description {
        assert!(SCENE.contains(from), "{from}");
        crate::described(&SCENE.replacen(from, to, 1))
    }

    /// Asks for the image after each launch, and keeps those that are whole.
    #[derive(Default)]
    struct Onlooker(Vec<(u32, Vec<[f32; 3]>)>);

    impl Observer for Onlooker {
        fn observe(&mut self, progress: &Progress) -> Control {
            if progress.spp > 0 { Control::Show } else { Control::Continue }
        }

        fn show(&mut self, progress: &Progress, radiance: Vec<[f32; 3]>) {
            self.0.push((progress.spp, radiance));
        }
    }

    fn images_on_the_way(side: u32, spp: u32) {
        let mut scene = Original::new(described("", "")).unwrap().scene().clone();
        (scene.width, scene.height) = (side, side);
        let (mut session, mut cpu) = (Session::new(), Cpu::new(None).unwrap());
        let mut onlooker = Onlooker::default();
        let mut render = |spp, observer: &mut dyn Observer| {
            let request = Request::new(Budget::of_samples(spp), Options::default());
            let film = session.render(&mut cpu, Job { scene: &scene, request, observer }).unwrap().film;
            Image::from(&film).pixels
        };
        let whole = render(spp, &mut onlooker);
        assert_eq!(onlooker.0.last(), Some(&(spp, whole)));
        let (spp, first) = onlooker.0[0].clone();
        assert_eq!(first, render(spp, &mut |_: &Progress| Control::Continue));
    }

    #[test]
    fn images_are_shown_on_the_way() {
        images_on_the_way(24, 40);
    }

    #[test]
    fn samples_that_the_host_has_taken_over_are_shown() {
        images_on_the_way(512, tier::choose(66, 130));
    }

    /// Those of an earlier run are on a film of the host.
    #[test]
    fn samples_of_an_earlier_run_are_shown() {
        const BEFORE: u32 = 8;
        let scene = Original::new(described("", "")).unwrap().scene().clone();
        let (mut session, mut cpu) = (Session::new(), Cpu::new(Some(1)).unwrap());
        let mut render = |spp, resumed, observer: &mut dyn Observer| {
            let request = Request { resumed, ..Request::new(Budget::of_samples(spp), Options::default()) };
            session.render(&mut cpu, Job { scene: &scene, request, observer }).unwrap().film
        };
        let earlier = render(BEFORE, None, &mut |_: &Progress| Control::Continue);
        let mut onlooker = Onlooker::default();
        let resumed = Resumed::of_film(earlier.clone(), 0..BEFORE, 0.0);
        let whole = render(2 * BEFORE, Some(resumed), &mut onlooker);
        assert_eq!(onlooker.0.last(), Some(&(2 * BEFORE, Image::from(&whole).pixels)));
        assert_ne!(earlier, whole);
    }

    /// One after another, each of which differs from the one before in more than noise would.
    #[test]
    fn variants_look_as_scenes_alone() {
        let original = Original::new(described("", "")).unwrap();
        let (mut session, mut cpu) = (Session::new(), Cpu::new(Some(1)).unwrap());
        let (budget, options) = (Budget::of_samples(4), Options::default());
        let mut last = Vec::new();
        for (from, to) in [
            ("", ""),
            ("[1.5, 0, 0]", "[1, 0.5, 0]"),
            ("[0, -1, 0]", "[0, -0.5, 0]"),
            ("emission = 3", "emission = 6"),
            ("scale = 0.4", "scale = 0.7"),
            ("radiance = 0.1", "radiance = 0.9"),
            ("reflectance = 0.5", "reflectance = 0.1"),
            ("", ""),
        ] {
            let description = described(from, to);
            let (variant, alone) = (original.variant(&description).unwrap(), assemble(&description).unwrap());
            let mut go_on = |_: &Progress| Control::Continue;
            let job = Job { scene: &variant, request: Request::new(budget, options), observer: &mut go_on };
            let found = session.render(&mut cpu, job).unwrap().film.pixels;
            let job = Job { scene: &alone, request: Request::new(budget, options), observer: &mut go_on };
            let expected = render_with(&mut cpu, job).unwrap().film.pixels;
            assert_eq!(found, expected, "{to}");
            assert_ne!(found, last, "{to}");
            last = found;
        }
    }
}
