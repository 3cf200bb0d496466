//! The render that never ends: the scene as it is now, until it is another.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use renderer::assemble::SceneData;
use renderer::render::aov::light_between;
use renderer::render::{
    Budget, Control, FilmsSoFar, Integrator, Launches, Observer, Options, Progress, Request,
};
use renderer::{BuiltScene, Integrators, MachineError, Resident};
use torrance_image::compare::{Region, judge, words};
use torrance_image::film::{Film, Image, ImageEstimate, Statistics};

use crate::document::Document;
use crate::hub::{Hub, PageId, Question};
use crate::message::{Probe, RenderState, Reply};
use crate::picture::{NOISE, Picture, RADIANCE, SNAPSHOT};
use crate::surfaces::Surfaces;

/// How long the first picture of a change may take; where it would take longer, it has fewer pixels.
const FIRST_PICTURE: Duration = Duration::from_millis(50);
/// Paths per second of a thread, before they are measured.
const SLOW_CPU: f64 = 5e5;
/// How long a change waits for a picture of the one before.
const PATIENCE: Duration = Duration::from_millis(500);
/// How long nothing has to move for the picture to get all its pixels.
const STILL: Duration = Duration::from_millis(250);
/// Most pixels of a side for one of a coarse picture.
const COARSEST: u32 = 8;
/// Bounds of the time between two pictures, which is a part of the render's.
const BETWEEN_PICTURES: [Duration; 2] = [Duration::from_millis(40), Duration::from_secs(1)];
/// Likewise between films, which take longer.
const BETWEEN_FILMS: [Duration; 2] = [Duration::from_millis(500), Duration::from_secs(6)];
/// Likewise where a page has a layer before it that is made of films.
const BETWEEN_WANTED_FILMS: [Duration; 2] = [Duration::from_millis(250), Duration::from_secs(2)];
/// How often pages are told how far the render is.
const BETWEEN_NEWS: Duration = Duration::from_millis(250);

/// The probability that two pictures are called different though their scenes are the same.
const LEVEL: f64 = 1e-3;

/// How a render has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    /// The picture is done.
    Done,
    /// There is no picture of the scene.
    Failed,
    /// Another is wanted.
    Stopped,
}

/// A machine at the view's scene.
pub(crate) struct Engine {
    document: Document,
    resident: Resident,
    integrator: Integrator,
    look: Look,
}

/// A picture, and what is known of it.
#[derive(Clone)]
struct Seen {
    film: Arc<Film>,
    /// Samples per pixel.
    spp: u32,
    /// Relative standard error of the image.
    noise: f64,
}

/// What has been seen so far.
struct Look {
    hub: Arc<Hub>,
    surfaces: Arc<Surfaces>,
    /// Paths per second, as far as they are known.
    rate: Option<f64>,
    /// The revision of which there is a picture.
    shown: Option<u32>,
    /// Revision, pixels and samples per pixel of the best picture.
    best: (u32, u64, u32),
    /// The picture, with all that is known of it.
    films: Option<Seen>,
    /// Whether there are films of shorter paths, too.
    has_shorter: bool,
    /// The picture that was kept.
    kept: Option<Seen>,
    /// Whether two pictures are being compared.
    is_comparing: Arc<AtomicBool>,
}

impl Engine {
    pub(crate) fn new(
        hub: Arc<Hub>,
        surfaces: Arc<Surfaces>,
        document: Document,
        resident: Resident,
    ) -> Self {
        let integrator = Integrators::default().of(resident.is_gpu());
        let look = Look {
            hub,
            surfaces,
            rate: None,
            shown: None,
            best: (0, 0, 0),
            films: None,
            has_shorter: false,
            kept: None,
            is_comparing: Arc::default(),
        };
        Self { document, resident, integrator, look }
    }

    /// Renders until the hub ends.
    pub(crate) fn run(mut self) {
        // The scene that is to be rendered, and of which revision it is.
        let mut scene = None;
        let mut revision = None;
        while !self.look.hub.is_over() {
            self.document.obey();
            if revision != Some(self.document.revision) {
                scene = self.build();
                revision = Some(self.document.revision);
            }
            let now = self.document.revision;
            match scene.as_ref().map_or(Outcome::Failed, |scene| self.render(now, scene)) {
                Outcome::Done => self.rest(now, if self.look.has_shorter { &[] } else { &SPLIT_LIGHT }),
                Outcome::Failed => self.rest(now, &[]),
                Outcome::Stopped => {}
            }
        }
    }

    /// The scene as machines take it. If the values do not make one, pages are told why, and the picture stays.
    fn build(&mut self) -> Option<BuiltScene> {
        match self.document.build() {
            Ok(built) => {
                self.look.hub.tell(&Reply::Problem { text: self.document.file_problem().cloned() });
                self.look.surfaces.set_scene(self.document.revision, built.clone());
                self.look.hub.wake();
                self.look.films = None;
                Some(built)
            }
            Err(error) => {
                self.fail(&error.to_string());
                None
            }
        }
    }

    /// Tells pages why there is no picture of the scene.
    fn fail(&self, why: &str) {
        self.look.hub.tell(&Reply::Problem { text: Some(why.to_owned()) });
        self.look.hub.tell(&Reply::Progress {
            revision: self.document.revision,
            spp: 0,
            target: self.document.spp(),
            paths_per_second: 0.0,
            seconds: 0.0,
            state: RenderState::Failed,
            noise: None,
        });
    }

    /// Answers questions about a picture that is done, until the scene is another, or one of these layers is wanted.
    fn rest(&mut self, revision: u32, layers: &[&str]) {
        while !self.look.hub.is_over() && self.document.revision == revision && !self.look.hub.wants(layers) {
            self.look.hub.wait(layers);
            self.look.answer(revision);
            self.document.obey();
        }
    }

    /// Renders until the scene is another, or the picture done.
    fn render(&mut self, revision: u32, scene: &BuiltScene) -> Outcome {
        let size = [scene.data.width, scene.data.height];
        let coarse = self.look.coarseness(size, self.resident.is_gpu());
        let mut outcome = Ok(false);
        if coarse > 1 && self.look.shown != Some(revision) && !self.look.hub.is_asked_for_films() {
            let [width, height] = size.map(|n| n.div_ceil(coarse));
            outcome = self.render_until(revision, &scene.resized(width, height), true);
        }
        if outcome.is_ok() && self.document.revision == revision && !self.look.hub.is_over() {
            outcome = self.render_until(revision, &scene.data, false);
        }
        match outcome {
            Ok(is_done) if is_done && self.document.revision == revision => Outcome::Done,
            Ok(_) => Outcome::Stopped,
            // The picture stays as it is until the scene is another.
            Err(error) => {
                self.fail(&error.to_string());
                Outcome::Failed
            }
        }
    }

    /// Renders until all samples are taken, or the scene is another, or, if it `is_coarse`, nothing moves any more.
    fn render_until(
        &mut self,
        revision: u32,
        scene: &SceneData,
        is_coarse: bool,
    ) -> Result<bool, MachineError> {
        let spp = self.document.spp();
        let options = Options {
            integrator: self.integrator,
            launches: Launches::Prompt,
            shorter: self.look.hub.wants(&SPLIT_LIGHT),
            ..Options::default()
        };
        self.look.has_shorter = options.shorter;
        let request = Request::new(Budget::of_samples(spp), options);
        let mut watcher = Watcher {
            document: &mut self.document,
            look: &mut self.look,
            revision,
            size: [scene.width, scene.height],
            is_coarse,
            spp,
            begin: Instant::now(),
            rested: Duration::ZERO,
            measured: (Instant::now(), 0),
            shown: Duration::ZERO,
            films_shown: Duration::ZERO,
            told: None,
        };
        let rendered = self.resident.render(scene, request, &mut watcher)?;
        if rendered.interrupted {
            return Ok(false);
        }
        if is_coarse {
            return Ok(true);
        }
        let films = FilmsSoFar { image: rendered.film, shorter: rendered.shorter };
        watcher.show_films(&rendered.progress, films);
        watcher.tell(&rendered.progress, RenderState::Done);
        Ok(true)
    }
}

/// Layers that take films of shorter paths.
const SPLIT_LIGHT: [&str; 3] = ["emission", "direct", "indirect"];

/// Watches a render for pages, and ends it when they want another.
struct Watcher<'a> {
    document: &'a mut Document,
    look: &'a mut Look,
    revision: u32,
    size: [u32; 2],
    /// Whether it has fewer pixels than the picture.
    is_coarse: bool,
    spp: u32,
    begin: Instant,
    /// Time that nobody looked.
    rested: Duration,
    /// When and after how many paths the rate was measured last.
    measured: (Instant, u64),
    /// When a picture was shown last, and films.
    shown: Duration,
    films_shown: Duration,
    told: Option<Instant>,
}

impl Observer for Watcher<'_> {
    fn observe(&mut self, progress: &Progress) -> Control {
        self.measure(progress);
        let begin = Instant::now();
        let news = |watcher: &mut Self| watcher.tell(progress, RenderState::Paused);
        if self.look.hub.clone().wait_for_pages(|| news(self)) {
            self.rested += begin.elapsed();
            self.measured = (Instant::now(), progress.paths);
        }
        if self.look.hub.is_over() {
            return Control::Stop;
        }
        // Whoever drags wants to see something on the way.
        let may_stop = self.has_shown() || self.elapsed() >= PATIENCE;
        if may_stop && (self.document.obey() || self.is_over()) {
            return Control::Stop;
        }
        if progress.spp == 0 {
            return Control::Continue;
        }
        if self.told.is_none_or(|at| at.elapsed() >= BETWEEN_NEWS) {
            self.tell(progress, RenderState::Rendering);
        }
        self.next_show()
    }

    fn show(&mut self, progress: &Progress, radiance: Vec<[f32; 3]>) {
        self.publish(RADIANCE, progress.spp, radiance);
        self.shown = self.elapsed();
    }

    fn show_films(&mut self, progress: &Progress, FilmsSoFar { image, shorter }: FilmsSoFar) {
        let spp = progress.spp;
        let estimate = ImageEstimate::from(&image);
        let noise = Statistics::relative_stderr_of(&estimate);
        let is_noise_wanted = self.look.hub.wants(&[NOISE]) || spp >= self.spp;
        let noises = is_noise_wanted.then(|| relative_stderrs(&estimate));
        self.publish(RADIANCE, spp, estimate.image.pixels);
        if let Some(noises) = noises {
            self.publish(NOISE, spp, noises);
        }
        if let Some([emission, direct]) = &shorter {
            self.publish("emission", spp, light_between(emission, None));
            self.publish("direct", spp, light_between(direct, Some(emission)));
            self.publish("indirect", spp, light_between(&image, Some(direct)));
        }
        self.shown = self.elapsed();
        self.films_shown = self.shown;
        if !self.is_coarse {
            // A render that began anew for other films has fewer samples than the picture.
            if self.look.films.as_ref().is_none_or(|seen| seen.spp <= spp) {
                self.look.films = Some(Seen { film: Arc::new(image), spp, noise });
            }
            self.look.answer(self.revision);
        }
    }
}

impl Watcher<'_> {
    /// Time that it has rendered.
    fn elapsed(&self) -> Duration {
        self.begin.elapsed().saturating_sub(self.rested)
    }

    /// Whether another render is wanted of the same scene.
    fn is_over(&self) -> bool {
        // What is kept and compared has all pixels.
        let is_still = || self.look.hub.since_command() >= STILL || self.look.hub.is_asked_for_films();
        self.is_coarse && is_still()
            || !self.is_coarse && !self.look.has_shorter && self.look.hub.wants(&SPLIT_LIGHT)
    }

    /// Whether there has been a picture of the scene.
    fn has_shown(&self) -> bool {
        self.look.shown == Some(self.revision)
    }

    /// What to show now.
    fn next_show(&mut self) -> Control {
        let elapsed = self.elapsed();
        let is_due = |last: Duration, part: u32, [least, most]: [Duration; 2]| {
            elapsed >= last + (last / part).clamp(least, most)
        };
        let hub = &self.look.hub;
        let wants_films = hub.wants(&[NOISE]) || hub.wants(&SPLIT_LIGHT);
        if !self.has_shown() {
            return if wants_films { Control::ShowFilms } else { Control::Show };
        }
        // Questions are about pictures that have all their pixels.
        let has_questions = !self.is_coarse && hub.has_questions();
        let is_asked = has_questions && (hub.is_asked_for_films() || self.look.films.is_none());
        let between = if wants_films { BETWEEN_WANTED_FILMS } else { BETWEEN_FILMS };
        let are_films_due = (wants_films || !self.is_coarse) && is_due(self.films_shown, 1, between);
        if is_asked || are_films_due {
            return Control::ShowFilms;
        }
        if has_questions {
            self.look.answer(self.revision);
        }
        if is_due(self.shown, 4, BETWEEN_PICTURES) { Control::Show } else { Control::Continue }
    }

    fn publish(&mut self, layer: &'static str, spp: u32, pixels: Vec<[f32; 3]>) {
        // A render that began anew for other films has to come as far as the one before.
        let area = u64::from(self.size[0]) * u64::from(self.size[1]);
        let best = (self.revision, area, spp);
        if layer == RADIANCE && self.has_shown() && best < self.look.best {
            return;
        }
        if layer == RADIANCE {
            self.look.best = best;
        }
        self.look.shown = Some(self.revision);
        let is_fleeting = self.elapsed() < Duration::from_secs(1);
        self.look.hub.publish(Picture::new(self.revision, layer, (self.size, spp), pixels, is_fleeting));
    }

    /// Measures how fast paths are traced.
    fn measure(&mut self, progress: &Progress) {
        const ENOUGH: Duration = Duration::from_millis(20);
        let (at, paths) = self.measured;
        let took = at.elapsed();
        if took >= ENOUGH && progress.paths > paths {
            self.look.rate = Some((progress.paths - paths) as f64 / took.as_secs_f64());
            self.measured = (Instant::now(), progress.paths);
        }
    }

    /// Tells pages how far the render is.
    fn tell(&mut self, progress: &Progress, state: RenderState) {
        self.told = Some(Instant::now());
        let seconds = self.elapsed().as_secs_f64();
        let seen = self.look.films.as_ref().filter(|seen| seen.spp <= progress.spp);
        let noise = seen.map(|seen| seen.noise);
        self.look.hub.tell(&Reply::Progress {
            revision: self.revision,
            spp: progress.spp,
            target: self.spp,
            paths_per_second: if seconds > 0.0 { progress.paths as f64 / seconds } else { 0.0 },
            seconds,
            state,
            noise: noise.filter(|noise| noise.is_finite()),
        });
    }
}

impl Look {
    /// How many pixels of a side are one of the first picture's.
    fn coarseness(&self, [width, height]: [u32; 2], is_gpu: bool) -> u32 {
        let rate = match (self.rate, is_gpu) {
            (Some(rate), _) => rate,
            (None, true) => return 1,
            (None, false) => SLOW_CPU * thread::available_parallelism().map_or(1.0, |n| n.get() as f64),
        };
        let pixels = f64::from(width) * f64::from(height);
        let most = rate * FIRST_PICTURE.as_secs_f64();
        if pixels <= most {
            return 1;
        }
        ((pixels / most).sqrt().ceil() as u32).clamp(2, COARSEST)
    }

    /// Answers what has been asked about the picture, if its films are known.
    fn answer(&mut self, revision: u32) {
        for (page, question) in self.hub.take_questions() {
            let Some(seen) = self.films.clone() else {
                self.hub.reply(page, &Reply::refused("there is no picture of the scene"));
                continue;
            };
            match question {
                Question::Probe { x, y } => self.probe(page, &seen.film, (revision, x, y)),
                Question::Snapshot => {
                    let Seen { film, spp, .. } = &seen;
                    let (size, pixels) = ([film.width, film.height], Image::from(&**film).pixels);
                    self.hub.publish(Picture::new(revision, SNAPSHOT, (size, *spp), pixels, false));
                    self.kept = Some(seen);
                }
                Question::Compare => self.compare(page, revision, seen),
            }
        }
    }

    fn probe(&self, page: PageId, film: &Film, (revision, x, y): (u32, u32, u32)) {
        if x >= film.width || y >= film.height {
            let text = format!("there is no pixel {x}, {y} in {} × {}", film.width, film.height);
            return self.hub.reply(page, &Reply::refused(text));
        }
        let pixel = &film.pixels[y as usize * film.width as usize + x as usize];
        let stderr = pixel.stderr();
        self.hub.reply(
            page,
            &Reply::Probe(Box::new(Probe {
                x,
                y,
                radiance: pixel.mean(),
                stderr: stderr.iter().all(|x| x.is_finite()).then_some(stderr),
                samples: pixel.count,
                surface: self.surfaces.at(revision, x, y),
            })),
        );
        self.hub.wake();
    }

    /// Holds the picture against the one that was kept, in a thread of its own.
    fn compare(&self, page: PageId, revision: u32, seen: Seen) {
        let refuse = |text: &str| self.hub.reply(page, &Reply::refused(text));
        let Some(kept) = self.kept.clone() else { return refuse("no picture was kept") };
        let [size, kept_size] = [&seen, &kept].map(|seen| [seen.film.width, seen.film.height]);
        if size != kept_size {
            return refuse("the picture that was kept has another size");
        }
        if self.is_comparing.swap(true, Ordering::Relaxed) {
            return refuse("two pictures are being compared already");
        }
        let (hub, comparing) = (Arc::clone(&self.hub), Comparing(Arc::clone(&self.is_comparing)));
        thread::spawn(move || {
            let _until_the_end = comparing;
            let [a, b] = [&kept, &seen].map(|seen| ImageEstimate::from(&*seen.film));
            let judgement = judge(&a, &b, LEVEL);
            let [width, height] = size;
            let whole = Region { x: 0, y: 0, width, height };
            hub.reply(
                page,
                &Reply::Verdict {
                    revision,
                    different: judgement.is_different(),
                    region: judgement.is_different().then_some(judgement.worst.region),
                    sentences: words::describe(&judgement, whole, ["the kept picture", "the present one"]),
                    spp: [kept.spp, seen.spp],
                },
            );
        });
    }
}

/// That two pictures are being compared, until it is dropped.
struct Comparing(Arc<AtomicBool>);

impl Drop for Comparing {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Relaxed);
    }
}

/// Relative standard error of each channel of each pixel; 0 where nothing is known, or nothing is there.
fn relative_stderrs(estimate: &ImageEstimate) -> Vec<[f32; 3]> {
    let stderrs = estimate.noise.iter().flat_map(|noise| &noise.stderr);
    let relative = |(mean, stderr): (&[f32; 3], &[f32; 3])| {
        std::array::from_fn(|c| {
            let relative = stderr[c] / mean[c].abs();
            if relative.is_finite() { relative } else { 0.0 }
        })
    };
    estimate.image.pixels.iter().zip(stderrs).map(relative).collect()
}
