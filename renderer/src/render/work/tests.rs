//! Work in simulated time: machines of any speed, which may fail at any moment.

use std::ops::Range;

use device::film::FilmPixel;
use device::path::{HALF, Item, half_pixel};
use glam::Vec3;
use tier::Random;
use torrance_image::film::error::{ErrorMeasure, part_within};
use torrance_image::film::ranges::fingerprint;
use torrance_image::film::{ImageEstimate, Pixel};

use super::*;
use crate::render::ErrorGoal;

/// Width and height: whole tiles, so that each invocation is of a pixel, and here of that of the same number.
const SIZE: [u32; 2] = [128, 64];
const PIXELS: u32 = SIZE[0] * SIZE[1];
/// Seconds: what a launch should take, what each takes besides, and a copy of the films.
const LAUNCH: f64 = 0.1;
const OVERHEAD: f64 = 1e-4;
const COPY: f64 = 0.01;

/// What a machine is like.
#[derive(Debug, Clone, Copy)]
struct Model {
    /// Paths per second.
    rate: f64,
    side_by_side: u32,
    /// When it has the scene, and when it fails.
    begins: f64,
    fails: f64,
    /// Whether it then loses what is on its film, and goes on as if nothing had happened.
    is_silent: bool,
}

impl Model {
    /// A GPU of so many paths per second.
    const fn gpu(rate: f64) -> Self {
        Self { rate, side_by_side: 1, begins: 0.0, fails: f64::INFINITY, is_silent: false }
    }

    /// A CPU.
    const fn cpu(rate: f64) -> Self {
        Self { side_by_side: 16, ..Self::gpu(rate) }
    }

    /// Seconds that the smallest part of an image takes.
    fn least(&self) -> f64 {
        let block = Block { samples: 0..self.side_by_side, invocations: 0..PIXELS, round: 0 };
        block.part(1.0).paths() as f64 / self.rate
    }

    fn manner(&self) -> Manner {
        Manner {
            first_paths: 0.01 * self.rate,
            side_by_side: self.side_by_side,
            paths_of_look: 1 << 16,
            layers: 1,
            film_bytes: 0,
            shape: FilmShape::default(),
        }
    }
}

#[derive(Debug, Default)]
enum Doing {
    #[default]
    Begin,
    /// A launch, and how long it takes.
    Launch(Block, f64),
    Publish,
    /// Nothing, as long as others may fail.
    Wait,
    End,
}

/// A machine at work.
struct Machine {
    model: Model,
    /// Its number in the work.
    me: usize,
    film: Vec<FilmPixel>,
    /// Paths of its next launch.
    paths: f64,
    /// What is left of its block, and of the pass.
    block: Option<Block>,
    pass: Option<Block>,
    doing: Doing,
    /// When it will have done that, and when its last launch ended.
    until: f64,
    busy_until: f64,
}

impl Machine {
    fn new(model: Model, me: usize, now: f64) -> Self {
        Self {
            model,
            me,
            film: vec![FilmPixel::default(); PIXELS as usize],
            paths: model.manner().first_paths,
            block: None,
            pass: None,
            doing: Doing::Begin,
            until: now + model.begins,
            busy_until: now,
        }
    }

    /// The next launch of its block, in passes over it as those of a real one.
    fn launch(&mut self) -> Option<Block> {
        let block = self.block.as_mut().filter(|block| block.paths() > 0)?;
        let pass = self.pass.get_or_insert_with(|| {
            let samples = (self.paths / block.invocations.len() as f64) as u32;
            let samples = if block.round > 0 { u32::MAX } else { samples.max(self.model.side_by_side) };
            block.first_samples(samples)
        });
        let part = pass.part(self.paths);
        pass.invocations.start = part.invocations.end;
        if pass.paths() == 0 {
            block.samples.start = pass.samples.end;
            self.pass = None;
        }
        Some(part)
    }

    fn take(&mut self, part: &Block, work: &Work<'_>) {
        let round = work.round().filter(|_| part.round > 0);
        for i in part.invocations.clone() {
            let (pixel, samples) = match &round {
                None => (i, part.samples.clone()),
                Some(round) => {
                    let Item { half, first_sample, samples } = round.items[(i / HALF) as usize];
                    let (x, y) = half_pixel(SIZE[0], half, i % HALF);
                    (y * SIZE[0] + x, first_sample..first_sample + samples)
                }
            };
            let film = &mut self.film[pixel as usize];
            samples.for_each(|sample| film.add(value(pixel, sample)));
        }
    }

    const fn is_active(&self) -> bool {
        !matches!(self.doing, Doing::Wait | Doing::End)
    }
}

/// A sample: numbers that make noise, more of it to the left, and differ so that sums tell which samples there are.
fn value(pixel: u32, sample: u32) -> Vec3 {
    let most = if is_noisy(pixel) { 256 } else { 32 };
    let random = Random(u64::from(pixel) << 32 | u64::from(sample)).next_u64();
    let (noise, more) = (random % most, (random >> 32) % 16);
    Vec3::new(noise as f32 + 128.0 - most as f32 / 2.0, more as f32, 1.0)
}

/// Whether a pixel is in the part of the image where noise is.
const fn is_noisy(pixel: u32) -> bool {
    pixel % SIZE[0] < 24
}

/// Machines that share a render.
struct Simulation<'a> {
    work: Work<'a>,
    machines: Vec<Machine>,
    now: f64,
    /// The samples up to which they went, one look at the noise after another.
    ends: Vec<u32>,
}

/// How it went.
struct Outcome {
    /// When all was done, and when each machine's last launch ended.
    took: f64,
    busy: Vec<f64>,
    ends: Vec<u32>,
    film: Film,
    taken: Taken,
}

impl Simulation<'_> {
    fn new(budget: Budget, models: &[Model]) -> Self {
        let machines = models.iter().enumerate().map(|(me, model)| Machine::new(*model, me, 0.0)).collect();
        let work = Work::new(SIZE, (budget, 0, false), models.len(), None, None);
        Self { work, machines, now: 0.0, ends: Vec::new() }
    }

    /// Has all of them work until nothing is left to do; if all fail, a CPU takes their place. `watch` sees every step.
    fn run(mut self, watch: &mut dyn FnMut(&State)) -> Outcome {
        loop {
            while let Some(i) = self.next_active() {
                self.now = self.machines[i].until;
                self.step(i);
                while self.wake() {}
                let state = self.work.lock();
                watch(&state);
                if self.ends.last() != Some(&state.end) {
                    self.ends.push(state.end);
                }
            }
            let is_at_end = |machine: &Machine| matches!(machine.doing, Doing::End);
            assert!(self.machines.iter().all(is_at_end), "some wait forever");
            if !self.work.is_unfinished() {
                break;
            }
            self.machines.push(Machine::new(Model::cpu(1e6), self.work.hire(), self.now));
        }
        let busy = self.machines.iter().map(|machine| machine.busy_until).collect();
        let (films, taken, is_interrupted) = self.work.finish(&mut drop);
        assert!(!is_interrupted);
        Outcome { took: self.now, busy, ends: self.ends, film: films.image.unwrap(), taken }
    }

    /// The machine that is done with something first.
    fn next_active(&self) -> Option<usize> {
        let active = (0..self.machines.len()).filter(|i| self.machines[*i].is_active());
        active.min_by(|a, b| self.machines[*a].until.total_cmp(&self.machines[*b].until))
    }

    fn step(&mut self, i: usize) {
        let Self { work, machines, now, .. } = self;
        let machine = &mut machines[i];
        let me = machine.me;
        if machine.model.fails <= *now {
            if !machine.model.is_silent {
                machine.doing = Doing::End;
                return work.leave(me);
            }
            machine.model.fails = f64::INFINITY;
            machine.film.fill(FilmPixel::default());
        }
        match std::mem::take(&mut machine.doing) {
            Doing::Begin => {
                let begun = Begun { upload: Duration::ZERO, shortage: Shortage::default() };
                assert!(work.enter(me, machine.model.manner(), begun).is_none());
                self.ask(i);
            }
            Doing::Launch(part, took) => {
                machine.take(&part, work);
                machine.busy_until = *now;
                machine.paths = (part.paths() as f64 * LAUNCH / took).min(4.0 * machine.paths).max(32.0);
                let took = Duration::from_secs_f64(took);
                work.report(me, part, (took, took));
                match work.verdict(me) {
                    Verdict::GoOn => self.go_on(i),
                    Verdict::Publish => self.begin(i, Doing::Publish, COPY),
                    Verdict::Leave => self.ask(i),
                }
            }
            Doing::Publish => {
                work.publish(me, None, RawFilms { image: machine.film.clone(), ..RawFilms::default() });
                self.go_on(i);
            }
            Doing::Wait | Doing::End => unreachable!("it is not active"),
        }
    }

    /// Launches the next part of a block, if there is one.
    fn go_on(&mut self, i: usize) {
        let machine = &mut self.machines[i];
        match machine.launch() {
            Some(part) => {
                let took = part.paths() as f64 / machine.model.rate + OVERHEAD;
                self.begin(i, Doing::Launch(part, took), took);
            }
            None => self.ask(i),
        }
    }

    fn begin(&mut self, i: usize, what: Doing, seconds: f64) {
        (self.machines[i].doing, self.machines[i].until) = (what, self.now + seconds);
    }

    /// [`Work::next`], which does not wait.
    fn ask(&mut self, i: usize) {
        let me = self.machines[i].me;
        let mut state = self.work.lock();
        state.workers[me].claimed = None;
        let next = self.work.decide(&mut state, me);
        drop(state);
        (self.machines[i].block, self.machines[i].pass) = (None, None);
        match next {
            Some(Next::Take(block)) => {
                self.machines[i].block = Some(block);
                self.go_on(i);
            }
            Some(Next::Publish) => self.begin(i, Doing::Publish, COPY),
            Some(Next::End) => self.machines[i].doing = Doing::End,
            None => {
                self.machines[i].doing = Doing::Wait;
                self.work.idle.fetch_add(1, Ordering::Relaxed);
            }
        }
    }

    /// Has machines that wait ask again. Says whether one of them has something to do now.
    fn wake(&mut self) -> bool {
        let mut has_woken = false;
        for i in 0..self.machines.len() {
            if matches!(self.machines[i].doing, Doing::Wait) {
                self.work.idle.fetch_sub(1, Ordering::Relaxed);
                self.ask(i);
                has_woken |= !matches!(self.machines[i].doing, Doing::Wait);
            }
        }
        has_woken
    }
}

fn run(spp: u32, models: &[Model]) -> Outcome {
    Simulation::new(Budget::of_samples(spp), models).run(&mut |_| {})
}

/// What is wrong with an image that is to have these samples of every pixel, each once.
fn wrong(outcome: &Outcome, samples: Range<u32>) -> Option<String> {
    let Outcome { film, taken, .. } = outcome;
    if !taken.partial.is_empty() || !taken.complete.iter().eq(std::iter::once(samples.clone())) {
        return Some(format!("{taken:?}"));
    }
    if taken.fingerprint != fingerprint(&samples, &(0..PIXELS)) {
        return Some("the fingerprint".into());
    }
    let is_right = |i: usize, pixel: &Pixel| {
        let sum: Vec3 = samples.clone().map(|sample| value(i as u32, sample)).sum();
        pixel.count == samples.len() as u64 && pixel.sum.map(|sum| sum.get() as f32) == sum.to_array()
    };
    let bad = film.pixels.iter().enumerate().find(|(i, pixel)| !is_right(*i, pixel));
    bad.map(|(i, pixel)| format!("pixel {i}: {pixel:?}"))
}

/// Machines as people have them: one, equal ones, a fast one and a slow one, and a GPU with a CPU that is hardly of use.
const FLEETS: [&[Model]; 6] = [
    &[Model::gpu(1e6)],
    &[Model::gpu(1e6), Model::gpu(1e6)],
    &[Model::gpu(1e6), Model::gpu(3e5), Model::cpu(1e5)],
    &[Model::gpu(1e6), Model::gpu(1e6), Model::gpu(9e5), Model::gpu(1e6)],
    &[Model::cpu(2e4), Model::gpu(1e6)],
    &[Model::gpu(1e6), Model::cpu(3e3)],
];

#[test]
fn every_sample_is_taken_once() {
    for models in FLEETS {
        for spp in [1, 2, 7, 64, 301] {
            assert_eq!(wrong(&run(spp, models), 0..spp), None, "{models:?}, {spp} spp");
        }
    }
}

/// A machine that loses samples, and does not say so.
#[test]
fn what_is_lost_shows() {
    for models in FLEETS {
        let forgetful = Model { fails: 0.15, is_silent: true, ..models[0] };
        let models = [&[forgetful], &models[1..]].concat();
        assert!(wrong(&run(301, &models), 0..301).is_some(), "{models:?}");
    }
}

/// Seconds that all may take longer than they would if work could be divided at will: two launches, and the least that the slowest
/// of them can take at a time.
fn slack(models: &[Model]) -> f64 {
    2.0 * LAUNCH + models.iter().map(Model::least).fold(0.0, f64::max)
}

/// However different they are: none works on for long when the others are done.
#[test]
fn all_are_done_at_about_the_same_time() {
    for models in FLEETS {
        for spp in [60, 301, 1000] {
            let rates = || models.iter().map(|model| model.rate);
            let paths = f64::from(spp * PIXELS);
            let most = paths / rates().sum::<f64>() + slack(models);
            let Outcome { took, busy, .. } = run(spp, models);
            println!("{spp} spp: {took:.3} s of at most {most:.3} s, {busy:.3?}");
            assert!(took < most, "{models:?}, {spp} spp: {took} s, not {most}");
            // Equal shares would not do.
            let slowest = rates().fold(f64::INFINITY, f64::min);
            let is_even = rates().all(|rate| rate > 0.8 * slowest && rate < 1.2 * slowest);
            assert!(is_even || paths / models.len() as f64 / slowest > most, "{models:?}, {spp} spp");
        }
    }
}

/// Nor is it of use to leave one out, but for what it takes to begin.
#[test]
fn a_slow_machine_delays_nothing() {
    let mut latest = 0.0_f64;
    for spp in [5, 60, 301] {
        let alone = run(spp, &[Model::gpu(1e6)]).took;
        for rate in [1e3, 3e3, 1e4, 3e4, 1e5, 3e5, 1e6] {
            for begins in [0.0, 0.2, 1.0] {
                for model in [Model::cpu(rate), Model::gpu(rate)] {
                    let model = Model { begins, ..model };
                    let both = run(spp, &[Model::gpu(1e6), model]).took;
                    let most = alone.max(begins) + slack(&[model]);
                    assert!(both < most, "{spp} spp: {both} s, {alone} s without {model:?}");
                    latest = latest.max(both - alone.max(begins) - model.least());
                }
            }
        }
    }
    println!("at most {latest:.3} s later, beside its smallest launch");
}

/// At random, and all of them in half of the cases. What was published stays, whoever it was that did.
#[test]
fn what_failing_machines_took_is_taken_again() {
    let mut random = Random(7);
    for case in 0..tier::choose(60, 600) {
        let n = 1 + random.below(4);
        let spp = 1 + random.below(200) as u32;
        let lasts = f64::from(spp * PIXELS) / 1e6;
        let models: Vec<Model> = (0..n)
            .map(|i| {
                let rate = 10.0_f64.powf(4.0 + 2.0 * random.uniform());
                let model = if random.below(2) == 0 { Model::cpu(rate) } else { Model::gpu(rate) };
                let fails = if case % 2 == 0 || i > 0 { lasts * random.uniform() } else { f64::INFINITY };
                Model { begins: 0.3 * random.uniform(), fails, ..model }
            })
            .collect();
        let mut steps = 0;
        let outcome = Simulation::new(Budget::of_samples(spp), &models).run(&mut |state| {
            steps += 1;
            if steps % 16 == 0 {
                assert!(is_consistent(&state.checkpoint(SIZE)), "{models:?}, {spp} spp, step {steps}");
            }
        });
        assert_eq!(wrong(&outcome, 0..spp), None, "{models:?}, {spp} spp");
    }
}

/// Whether a checkpoint has the samples that it says.
fn is_consistent(checkpoint: &Checkpoint) -> bool {
    let mut counts = vec![0; PIXELS as usize];
    let mut sum = 0_u64;
    for Block { samples, invocations, .. } in checkpoint.header.done.iter() {
        invocations.clone().for_each(|i| counts[i as usize] += samples.len() as u64);
        sum = sum.wrapping_add(fingerprint(samples, invocations));
    }
    let image = checkpoint.image();
    sum == checkpoint.header.fingerprint && image.pixels.iter().map(|pixel| pixel.count).eq(counts)
}

/// Looks at the noise are after as many samples as with one machine, whoever takes them, and however often one fails.
#[test]
fn noise_ends_a_render_at_the_same_sample() {
    for noise in [0.2, 0.06, 0.03] {
        let budget = Budget { noise: Some(NoiseGoal::Image(noise)), ..Budget::of_samples(2000) };
        let run = |models: &[Model]| Simulation::new(budget, models).run(&mut |_| {});
        let alone = run(FLEETS[0]);
        println!("{noise}: {:?}", alone.ends);
        let spp = *alone.ends.last().unwrap();
        assert_eq!(wrong(&alone, 0..spp), None);
        for models in FLEETS {
            let failing = Model { fails: 0.1, ..Model::gpu(2e6) };
            for models in [models.to_vec(), [models, &[failing]].concat()] {
                let outcome = run(&models);
                assert_eq!((&outcome.ends, wrong(&outcome, 0..spp)), (&alone.ends, None), "{models:?}");
            }
        }
    }
}

/// Whoever takes them, and however often one fails, pixels get the same samples: each once, and more where noise is.
#[test]
fn samples_go_where_noise_is() {
    let measure = ErrorMeasure::Relative;
    for (bound, percentile) in [(0.1, 100.0), (0.04, 99.0), (0.02, 90.0)] {
        let goal = ErrorGoal { bound, measure, percentile, is_uniform: false };
        let budget = Budget { noise: Some(NoiseGoal::Pixels(goal)), ..Budget::of_samples(4000) };
        let run = |models: &[Model]| Simulation::new(budget, models).run(&mut |_| {});
        let counts = |outcome: &Outcome| outcome.film.pixels.iter().map(|p| p.count).collect::<Vec<_>>();
        let alone = run(FLEETS[0]);
        let mean = |noisy: bool| {
            let of = counts(&alone).into_iter().zip(0..).filter(|(_, pixel)| is_noisy(*pixel) == noisy);
            let all: Vec<u64> = of.map(|(count, _)| count).collect();
            all.iter().sum::<u64>() as f64 / all.len() as f64
        };
        println!("{bound}: {} and {} samples", mean(true), mean(false));
        assert!(mean(true) > 2.0 * mean(false), "{bound}");
        let within = part_within(&measure.errors(&ImageEstimate::from(&alone.film)), bound);
        assert!(within >= percentile / 100.0, "{bound}: {within}");
        for models in FLEETS {
            let failing = Model { fails: 0.1, ..Model::gpu(2e6) };
            for models in [models.to_vec(), [models, &[failing]].concat()] {
                let outcome = run(&models);
                assert_eq!(wrong_by_pixel(&outcome), None, "{models:?}");
                assert!(counts(&outcome) == counts(&alone), "{models:?}");
            }
        }
        let silent = Model { fails: 0.2, is_silent: true, ..Model::gpu(1e6) };
        assert!(wrong_by_pixel(&run(&[silent])).is_some(), "what is lost does not show");
    }
}

/// What is wrong with an image of which each pixel is to have the samples below a number of its own.
fn wrong_by_pixel(outcome: &Outcome) -> Option<String> {
    let mut sum = 0_u64;
    for (pixel, i) in outcome.film.pixels.iter().zip(0..) {
        let samples = 0..pixel.count as u32;
        let expected: Vec3 = samples.clone().map(|sample| value(i, sample)).sum();
        if pixel.sum.map(|sum| sum.get() as f32) != expected.to_array() {
            return Some(format!("pixel {i}: {pixel:?}"));
        }
        let (x, y) = (i % SIZE[0], i / SIZE[0]);
        let part = (y / 4 * (SIZE[0] / 8) + x / 8) * 32 + y % 4 * 8 + x % 8;
        sum = sum.wrapping_add(fingerprint(&samples, &(part..part + 1)));
    }
    (outcome.taken.fingerprint != sum).then(|| "the fingerprint".into())
}

/// An observer who always wants to see the image, and the images that it has seen.
#[derive(Default)]
struct Onlooker(Vec<Vec<[f32; 3]>>);

impl Observer for Onlooker {
    fn observe(&mut self, _: &Progress) -> Control {
        Control::Show
    }

    fn show(&mut self, _: &Progress, radiance: Vec<[f32; 3]>) {
        self.0.push(radiance);
    }
}

/// A film of one sample of these pixels.
fn film_of(pixels: &Range<u32>) -> RawFilms {
    let mut image = vec![FilmPixel::default(); PIXELS as usize];
    pixels.clone().for_each(|pixel| image[pixel as usize].add(value(pixel, 0)));
    RawFilms { image, ..RawFilms::default() }
}

#[test]
fn an_image_is_shown_once_all_have_published_theirs() {
    let (work, halves) = halves(Budget::of_samples(8));
    let mut onlooker = Onlooker::default();
    let second = Duration::from_secs(1);
    for (me, half) in halves.iter().enumerate() {
        enter(&work, me, Model::gpu(1e6));
        work.report(me, half.clone(), (second, second));
        assert_eq!(work.verdict(me), Verdict::GoOn, "nobody has asked");
    }
    for (me, half) in halves.iter().enumerate() {
        work.tell_of_all(&mut onlooker);
        assert_eq!((work.verdict(me), onlooker.0.len()), (Verdict::Publish, 0));
        work.publish(me, None, film_of(&half.invocations));
        assert_eq!(work.verdict(me), Verdict::GoOn, "once is enough");
    }
    work.tell_of_all(&mut onlooker);
    let expected: Vec<_> = (0..PIXELS).map(|pixel| value(pixel, 0).to_array()).collect();
    assert!(onlooker.0 == [expected]);
    // Nor is one that fails waited for; what it has published stays.
    for (me, half) in halves.iter().enumerate() {
        let again = Block { samples: 1..2, ..half.clone() };
        work.report(me, again, (second, second));
    }
    work.tell_of_all(&mut onlooker);
    work.leave(0);
    assert_eq!(onlooker.0.len(), 1);
    work.publish(1, None, film_of(&halves[1].invocations));
    work.tell_of_all(&mut onlooker);
    assert!(onlooker.0[1..] == onlooker.0[..1]);
}

/// As when it takes the place of one that has failed.
#[test]
fn a_machine_alone_shows_what_others_have_published() {
    let (work, halves) = halves(Budget::of_samples(8));
    let second = Duration::from_secs(1);
    for (me, half) in halves.iter().enumerate() {
        enter(&work, me, Model::gpu(1e6));
        assert_eq!(work.of_others(me).is_some(), me == 1, "nothing is published before");
        work.report(me, half.clone(), (second, second));
        work.publish(me, None, film_of(&half.invocations));
    }
    for (me, other) in [1, 0].into_iter().enumerate() {
        let film = work.of_others(me).expect("the other half").image();
        let has_sample = film.pixels.iter().map(|pixel| pixel.count == 1);
        assert!(has_sample.eq((0..PIXELS).map(|pixel| halves[other].invocations.contains(&pixel))));
    }
}

/// The work of one sample of each pixel, of which machines have these halves.
fn halves(budget: Budget) -> (Work<'static>, [Block; 2]) {
    let work = Work::new(SIZE, (budget, 0, false), 2, None, None);
    let half = |invocations| Block { samples: 0..1, invocations, round: 0 };
    (work, [half(0..PIXELS / 2), half(PIXELS / 2..PIXELS)])
}

fn enter(work: &Work<'_>, me: usize, model: Model) {
    let begun = Begun { upload: Duration::ZERO, shortage: Shortage::default() };
    assert!(work.enter(me, model.manner(), begun).is_none());
}

/// One has ended, as time was up and each pixel had a sample; some of these are then lost. Whoever takes them does not leave
/// the last ones to that machine, however fast it was.
#[test]
fn a_machine_that_has_ended_is_not_waited_for() {
    let (work, halves) = halves(Budget { time: Some(Duration::ZERO), ..Budget::of_samples(1) });
    let second = Duration::from_secs(1);
    for (me, half) in halves.into_iter().enumerate() {
        enter(&work, me, Model::gpu(1e6));
        work.report(me, half, (second / 1000, second));
    }
    assert!(matches!(work.next(0), Next::Publish));
    work.publish(0, None, RawFilms::default());
    assert!(matches!(work.next(0), Next::End));
    assert!(!work.is_unfinished());
    work.leave(1);
    assert!(work.is_unfinished());
    let me = work.hire();
    enter(&work, me, Model::cpu(1e3));
    let mut left = PIXELS / 2;
    while left > 0 {
        let next = work.decide(&mut work.lock(), me);
        let Some(Next::Take(block)) = next else { panic!("{left} pixels are left to others") };
        left -= block.invocations.len() as u32;
        work.report(me, block, (second, second));
    }
    assert!(!work.is_unfinished());
}

/// All machines fail before they begin, or the render is stopped: the samples of an earlier run stay, in the image and in the file.
#[test]
fn an_earlier_run_survives_machines_that_do_not_begin() {
    let earlier = run(3, FLEETS[0]).film;
    let path = std::env::temp_dir().join(format!("torrance-{}.checkpoint", std::process::id()));
    std::fs::write(&path, "an earlier checkpoint").unwrap();
    let checkpoints = Checkpoints::new(path.clone(), Duration::ZERO, Default::default());
    let resumed = Resumed::of_film(earlier.clone(), 0..3, 1.0);
    let work = Work::new(SIZE, (Budget::of_samples(8), 0, false), 1, Some(&checkpoints), Some(resumed));
    work.leave(0);
    assert!(work.is_unfinished());
    work.keep();
    work.tell(&mut |_: &Progress| Control::Stop);
    let (films, taken, is_interrupted) = work.finish(&mut drop);
    let kept = std::fs::read_to_string(&path);
    std::fs::remove_file(&path).unwrap();
    assert_eq!(kept.unwrap(), "an earlier checkpoint");
    assert_eq!((films.image, is_interrupted), (Some(earlier), true));
    assert!(taken.complete.iter().eq(std::iter::once(0..3)) && taken.partial.is_empty(), "{taken:?}");
}

/// In real time, and each in a thread of its own, of which some wait for others.
#[test]
fn threads_wait_for_each_other() {
    for fails in [false, true] {
        let work = Work::new(SIZE, (Budget::of_samples(9), 0, false), 3, None, None);
        std::thread::scope(|scope| {
            for (me, model) in [Model::gpu(1e6), Model::gpu(5e5), Model::cpu(5e4)].into_iter().enumerate() {
                let work = &work;
                scope.spawn(move || labour(work, Machine::new(model, me, 0.0), fails && me == 0));
            }
        });
        assert!(!work.is_unfinished());
        let (films, taken, _) = work.finish(&mut drop);
        let outcome =
            Outcome { took: 0.0, busy: Vec::new(), ends: Vec::new(), film: films.image.unwrap(), taken };
        assert_eq!(wrong(&outcome, 0..9), None);
    }
}

/// Works as a machine does, and fails at the third launch if it `fails`.
fn labour(work: &Work<'_>, mut machine: Machine, fails: bool) {
    let me = machine.me;
    enter(work, me, machine.model);
    let mut launches = 0;
    loop {
        match work.next(me) {
            Next::Take(block) => (machine.block, machine.pass) = (Some(block), None),
            Next::Publish => {
                work.publish(me, None, RawFilms { image: machine.film.clone(), ..RawFilms::default() });
            }
            Next::End => return,
        }
        while let Some(part) = machine.launch() {
            launches += 1;
            if fails && launches == 3 {
                return work.leave(me);
            }
            machine.take(&part, work);
            let took = Duration::from_secs_f64(part.paths() as f64 / machine.model.rate);
            std::thread::sleep(took);
            work.report(me, part, (took, took));
            if work.verdict(me) == Verdict::Leave {
                machine.block = None;
            }
        }
    }
}
