//! One render on one machine or several: what each is to take, and what it has taken.
//!
//! Samples depend on nothing but their pixel and their number, so any machine may take any of them. A machine asks for a block
//! of samples when it has none, and keeps them on a film of its own, which it publishes (copies to the host) from time to time.
//! What one that fails has not published is missing again, and goes to the others.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::Builder;
use std::time::{Duration, Instant};

use device::path::MegakernelArgs;
use torrance_image::film::ranges::{SeedRanges, parts};
use torrance_image::film::{Film, Image, Pixel, SampleRanges, Shard, Statistics};
use torrance_system::available_memory;

use super::adaptive::{self, Adaptive};
use super::blocks::{Block, Blocks, Coverage, missing};
use super::checkpoint::{Checkpoint, Checkpoints, Header, Resumed};
use super::films::{FilmShape, HostFilms, RawFilms};
use super::noise::Looks;
use super::rounds::{Round, Rounds};
use super::snapshots::Snapshots;
use super::{Begun, Budget, Control, NoiseGoal, Observer, Progress, Shortage};

/// Shortest and longest time that a block should take where machines share a render, seconds.
const BLOCK_SECONDS: [f64; 2] = [0.2, 2.0];
/// A machine that is slower by this factor than another takes nothing near the end: it would be the last to be done.
const SLOW: f64 = 5.0;
/// Seconds before the end that are near it.
const NEAR_THE_END: f64 = 0.3;

// The parts in which samples are counted are the invocations that take them.
const _: () = assert!(parts(1921, 1083) == MegakernelArgs::invocations_per_layer(1921, 1083));

/// How a machine takes part.
#[derive(Debug, Clone, Copy)]
pub(super) struct Manner {
    /// Paths that it traces at first, when nothing is known of its speed.
    pub(super) first_paths: f64,
    /// Samples of a pixel that it takes side by side, of a few pixels at a time. If 1, it takes them of all pixels.
    pub(super) side_by_side: u32,
    /// Paths that it could trace, about, in the time that a look at the image takes it, and beginning to take what that asks for.
    pub(super) paths_of_look: u64,
    /// Number of layers of its films.
    pub(super) layers: u32,
    /// Bytes of its films.
    pub(super) film_bytes: u64,
    pub(super) shape: FilmShape,
}

/// What a machine has copied to the host.
#[derive(Debug)]
pub(super) struct Published {
    pub(super) done: Blocks,
    pub(super) fingerprint: u64,
    /// Samples of the image that the host had taken over before.
    pub(super) folded: Option<Arc<Film>>,
    pub(super) films: RawFilms,
    pub(super) layers: u32,
}

/// A machine.
#[derive(Debug, Default)]
struct Worker {
    manner: Option<Manner>,
    /// What is on its films, with the fingerprint of that as launches add it up.
    done: Blocks,
    fingerprint: u64,
    claimed: Option<Block>,
    /// Paths per second.
    rate: Option<f64>,
    published: Option<Arc<Published>>,
    /// The number of the last publication that it was asked for, and has made.
    publication: u32,
    /// Whether it takes nothing any more: it has ended, or failed.
    is_gone: bool,
    shortage: Shortage,
    /// Films for it to publish into.
    rooms: Arc<Mutex<Vec<RawFilms>>>,
    has_rooms: bool,
}

impl Worker {
    fn is_published(&self) -> bool {
        match &self.published {
            Some(published) => published.done == self.done,
            None => self.done.paths() == 0,
        }
    }

    fn rooms(&self) -> MutexGuard<'_, Vec<RawFilms>> {
        self.rooms.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Has another thread make films for it to publish into: one, and another while that is kept.
    fn make_rooms(&mut self) {
        let Some(Manner { shape, .. }) = self.manner else { return };
        self.has_rooms = true;
        let rooms = Arc::clone(&self.rooms);
        let make = move || {
            for _ in 0..2 {
                let films = shape.blank();
                rooms.lock().unwrap_or_else(PoisonError::into_inner).push(films);
            }
        };
        // Without it, publishing takes longer at first.
        let _ = Builder::new().name("checkpoint".into()).spawn(make);
    }

    /// Whether it takes nothing, and all that it has taken is published.
    fn is_resting(&self) -> bool {
        self.claimed.is_none() && self.is_published()
    }

    /// Whether all that it has is published as of a publication of this number.
    fn has_answered(&self, publication: u32) -> bool {
        self.is_gone || self.publication >= publication || self.is_published()
    }

    /// Learns how fast it is.
    fn learn(&mut self, paths: f64, took: Duration) {
        let rate = paths / took.as_secs_f64().max(1e-6);
        // Parts of an image differ in cost, and so do integrators.
        self.rate = Some(self.rate.map_or(rate, |before| 0.75 * before + 0.25 * rate));
    }
}

/// What a machine does next.
pub(super) enum Next {
    Take(Block),
    Publish,
    End,
}

/// What a machine does after a launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    GoOn,
    /// Publishes, and then goes on.
    Publish,
    /// Leaves the rest of its block, and asks what is next.
    Leave,
}

/// The samples of an image.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Taken {
    /// Those that every pixel has.
    pub complete: SampleRanges,
    /// Those that some pixels have and others have not, as where a render was interrupted.
    pub partial: SampleRanges,
    /// [`torrance_image::film::ranges::fingerprint`] of all of them, added up launch by launch.
    pub fingerprint: u64,
}

impl Taken {
    /// What a file says of them, with their seed.
    pub fn shard(&self, seed: u32) -> Shard {
        let partial = match self.partial.is_empty() {
            true => SeedRanges::default(),
            false => SeedRanges::of(seed, self.partial.iter()),
        };
        let ranges = SeedRanges::of(seed, self.complete.iter().chain(self.partial.iter()));
        Shard { ranges, partial, fingerprint: Some(self.fingerprint), ..Shard::default() }
    }
}

/// A render that machines share.
pub(crate) struct Work<'a> {
    size: [u32; 2],
    budget: Budget,
    /// All that is to be taken, if no noise ends it sooner.
    whole: Block,
    checkpoints: Option<&'a Checkpoints>,
    state: Mutex<State>,
    changed: Condvar,
    /// Whether the observer has said stop.
    is_stopped: AtomicBool,
    /// Number of machines that have nothing to do.
    idle: AtomicU32,
}

struct State {
    /// The first sample that is not to be taken of all pixels before the next look at the noise.
    end: u32,
    looks: Option<Looks>,
    adaptive: Option<Adaptive>,
    /// What some pixels get beyond that.
    rounds: Rounds,
    snapshots: Option<Snapshots<Checkpoint>>,
    /// Films of an earlier run, until a machine begins.
    resumed: Option<Resumed>,
    /// Films of an earlier run, with what is on them.
    base: Arc<HostFilms>,
    before: Blocks,
    fingerprint_before: u64,
    elapsed_before: Duration,
    begin: Option<Instant>,
    workers: Vec<Worker>,
    /// What is on all films.
    done: Blocks,
    upload: Duration,
    longest_launch: Duration,
    is_finished: bool,
    /// How often machines have been asked to publish.
    publication: u32,
    /// The number of the publication for the checkpoint that is being put together, or was last.
    checkpoint: u32,
    last_checkpoint: Instant,
    /// That for the image that is to be shown, if one is.
    image: Option<u32>,
}

impl<'a> Work<'a> {
    /// The samples of a budget from `first_sample` on, of an image of a size, with films `beside` it or not, for so many machines.
    pub(super) fn new(
        size: [u32; 2],
        (budget, first_sample, beside): (Budget, u32, bool),
        machines: usize,
        checkpoints: Option<&'a Checkpoints>,
        resumed: Option<Resumed>,
    ) -> Self {
        let samples = first_sample..first_sample.saturating_add(budget.spp);
        let whole = Block { samples, invocations: 0..parts(size[0], size[1]), round: 0 };
        let before = resumed.as_ref().map(|resumed| resumed.header.clone()).unwrap_or_default();
        let (mut looks, mut adaptive) = match budget.noise {
            None => (None, None),
            Some(NoiseGoal::Image(bound)) => (Some(Looks::new(bound)), None),
            Some(NoiseGoal::Pixels(goal)) => {
                (None, Some(Adaptive::new(goal, size, whole.samples.clone(), beside)))
            }
        };
        if let (Some(looks), Some(next)) = (&mut looks, before.next_look) {
            looks.next = next;
        }
        if let Some(adaptive) = &mut adaptive {
            adaptive.go_on(before.next_look, &before.ends);
        }
        // What some pixels have already, all are to have, but for rounds.
        let has = before.done.end_of_all().saturating_sub(whole.samples.start);
        let next_look = looks.map(|looks| looks.next).or(adaptive.as_ref().map(|adaptive| adaptive.next));
        let next = next_look.map_or(budget.spp, |next| next.max(has).min(budget.spp));
        let state = State {
            end: whole.samples.start + next,
            looks,
            adaptive,
            rounds: before.rounds,
            snapshots: None,
            resumed,
            base: Arc::default(),
            done: before.done.clone(),
            before: before.done,
            fingerprint_before: before.fingerprint,
            elapsed_before: Duration::from_secs_f64(before.seconds),
            begin: None,
            workers: (0..machines).map(|_| Worker::default()).collect(),
            upload: Duration::ZERO,
            longest_launch: Duration::ZERO,
            is_finished: false,
            publication: 0,
            checkpoint: 0,
            last_checkpoint: Instant::now(),
            image: None,
        };
        Self {
            size,
            budget,
            whole,
            checkpoints,
            state: Mutex::new(state),
            changed: Condvar::new(),
            is_stopped: AtomicBool::new(false),
            idle: AtomicU32::new(0),
        }
    }

    /// The same, keeping the films as they are when about half of the samples are taken ([`Work::half`]).
    pub(super) fn keeping_half(mut self) -> Self {
        let (first, budget) = (self.whole.samples.start, self.budget);
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        let snapshots = Snapshots::new(&budget, state.done.end().saturating_sub(first));
        state.end = state.end.min(first.saturating_add(snapshots.next()));
        state.snapshots = Some(snapshots);
        self
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Width and height, pixels.
    pub(super) const fn size(&self) -> [u32; 2] {
        self.size
    }

    /// The round that blocks are handed out of, or were last.
    pub(super) fn round(&self) -> Option<Arc<Round>> {
        self.lock().rounds.last().cloned()
    }

    pub(super) const fn budget(&self) -> &Budget {
        &self.budget
    }

    /// All that is to be taken, if no noise ends it sooner.
    pub(super) const fn whole(&self) -> &Block {
        &self.whole
    }

    /// A machine begins. Returns films of an earlier run if it can go on with them.
    pub(super) fn enter(&self, me: usize, manner: Manner, begun: Begun) -> Option<Arc<Published>> {
        let mut state = self.lock();
        if state.begin.is_none() {
            state.begin = Some(Instant::now());
            state.last_checkpoint = Instant::now();
        }
        state.upload = state.upload.max(begun.upload);
        state.workers[me].manner = Some(manner);
        state.workers[me].shortage = begun.shortage;
        let resumed = state.resumed.take()?;
        let can_go_on = state.workers.len() == 1 && manner.layers == 1;
        let (published, base) = resumed.divided(can_go_on);
        state.base = Arc::new(base);
        let published = Arc::new(published?);
        state.before = Blocks::default();
        state.fingerprint_before = 0;
        let worker = &mut state.workers[me];
        worker.done = published.done.clone();
        worker.fingerprint = published.fingerprint;
        worker.published = Some(Arc::clone(&published));
        Some(published)
    }

    /// What a machine does next. Waits while others take the last samples: they may fail.
    pub(super) fn next(&self, me: usize) -> Next {
        let mut state = self.lock();
        state.workers[me].claimed = None;
        self.changed.notify_all();
        loop {
            if let Some(next) = self.decide(&mut state, me) {
                return next;
            }
            self.idle.fetch_add(1, Ordering::Relaxed);
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            self.idle.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// What a machine that has no block does next; `None` as long as that depends on others.
    fn decide(&self, state: &mut State, me: usize) -> Option<Next> {
        let is_published = state.workers[me].is_published();
        if state.is_finished || self.is_over(state) {
            if !is_published {
                return Some(Next::Publish);
            }
            state.workers[me].is_gone = true;
            return Some(Next::End);
        }
        let missing = state.missing(&self.whole);
        if let Some(block) = state.share(me, &missing) {
            state.workers[me].claimed = Some(block.clone());
            return Some(Next::Take(block));
        }
        if !is_published {
            return Some(Next::Publish);
        }
        if missing.is_empty() && state.workers.iter().all(Worker::is_resting) {
            self.extend(state);
            self.changed.notify_all();
            return self.decide(state, me);
        }
        None
    }

    /// What the pool of a machine went without.
    pub(super) fn note_pool(&self, me: usize, pool: Option<[u32; 2]>) {
        self.lock().workers[me].shortage.pool = pool;
    }

    /// A machine has taken a part of its block, in so long; no launch took longer than `longest`.
    pub(super) fn report(&self, me: usize, part: Block, (took, longest): (Duration, Duration)) {
        let mut state = self.lock();
        let state = &mut *state;
        state.longest_launch = state.longest_launch.max(longest);
        let worker = &mut state.workers[me];
        worker.learn(part.paths() as f64, took);
        worker.fingerprint = worker.fingerprint.wrapping_add(state.rounds.fingerprint(&part));
        worker.done.insert(part.clone());
        state.done.insert(part);
        self.begin_checkpoint(state);
        let is_soon = |checkpoints: &Checkpoints| state.last_checkpoint.elapsed() * 2 >= checkpoints.every();
        if !state.workers[me].has_rooms && self.checkpoints.is_some_and(is_soon) && self.has_memory(state) {
            state.workers[me].make_rooms();
        }
    }

    /// What a machine does after a launch.
    pub(super) fn verdict(&self, me: usize) -> Verdict {
        let state = self.lock();
        let worker = &state.workers[me];
        let is_long = || {
            let done: Vec<_> = state.done.iter().collect();
            let left = worker.claimed.iter().flat_map(|claimed| missing(&done, claimed));
            left.map(|block| block.paths()).sum::<u64>() as f64
                > worker.rate.unwrap_or(f64::INFINITY) * BLOCK_SECONDS[0]
        };
        if self.is_over(&state) || self.idle.load(Ordering::Relaxed) > 0 && is_long() {
            return Verdict::Leave;
        }
        if worker.publication < state.publication { Verdict::Publish } else { Verdict::GoOn }
    }

    /// Gives a machine films to publish into, whatever is on them.
    pub(super) fn lend(&self, me: usize, films: RawFilms) {
        self.lock().workers[me].rooms().push(films);
    }

    /// Films for a machine to publish into, whatever is on them.
    pub(super) fn room(&self, me: usize) -> RawFilms {
        self.lock().workers[me].rooms().pop().unwrap_or_default()
    }

    /// A machine has copied its films to the host.
    pub(super) fn publish(&self, me: usize, folded: Option<Arc<Film>>, films: RawFilms) {
        let mut state = self.lock();
        let (publication, checkpoint) = (state.publication, state.checkpoint);
        let worker = &mut state.workers[me];
        let layers = worker.manner.map_or(1, |manner| manner.layers);
        let (done, fingerprint) = (worker.done.clone(), worker.fingerprint);
        let published = Published { done, fingerprint, folded, films, layers };
        let before = worker.published.replace(Arc::new(published));
        // Nobody writes it any more, as a rule.
        if let Some(Ok(before)) = before.map(Arc::try_unwrap) {
            worker.rooms().push(before.films);
        }
        worker.publication = publication;
        if let Some(checkpoints) = self.checkpoints
            && state.is_published(checkpoint)
        {
            checkpoints.write(checkpoint, || state.checkpoint(self.size));
        }
        self.changed.notify_all();
    }

    /// A machine fails: what it has not published is lost, and missing again.
    pub(super) fn leave(&self, me: usize) {
        let mut state = self.lock();
        let worker = &mut state.workers[me];
        let published = worker.published.take();
        let (done, fingerprint) =
            published.as_ref().map_or_else(Default::default, |p| (p.done.clone(), p.fingerprint));
        *worker = Worker { done, fingerprint, published, is_gone: true, ..Worker::default() };
        let all = state.workers.iter().flat_map(|worker| worker.done.iter());
        let mut done = state.before.clone();
        done.extend(all.cloned());
        state.done = done;
        self.changed.notify_all();
    }

    /// The number of another machine, which takes over from those that failed, or goes on after it has ended.
    pub(crate) fn hire(&self) -> usize {
        let mut state = self.lock();
        state.workers.push(Worker::default());
        state.workers.len() - 1
    }

    /// Whether samples are missing that were to be taken.
    pub(crate) fn is_unfinished(&self) -> bool {
        let state = self.lock();
        !state.is_finished && !self.is_over(&state)
    }

    /// Waits for something to happen, a moment at most, as long as a condition holds that changes before [`Work::wake`].
    pub(crate) fn wait_while(&self, holds: &dyn Fn() -> bool) {
        const MOMENT: Duration = Duration::from_millis(100);
        let state = self.lock();
        if holds() {
            drop(self.changed.wait_timeout(state, MOMENT));
        }
    }

    /// Wakes what waits.
    pub(crate) fn wake(&self) {
        drop(self.lock());
        self.changed.notify_all();
    }

    /// What others have published, and what there was before, which is not on the films of a machine; `None` if that is nothing.
    pub(super) fn of_others(&self, me: usize) -> Option<Checkpoint> {
        let state = self.lock();
        let mut others = state.checkpoint(self.size);
        if let Some(own) = &state.workers[me].published {
            others.parts.retain(|part| !Arc::ptr_eq(part, own));
        }
        (others.base.image.is_some() || !others.parts.is_empty()).then_some(others)
    }

    /// Tells an observer of several machines how far they are, and shows it their image once all have published what it asked for.
    pub(crate) fn tell_of_all(&self, observer: &mut dyn Observer) {
        if self.tell(observer) == Control::Show {
            self.want_image();
        }
        if let Some(published) = self.wanted_image() {
            observer.show(&self.progress(), Image::from(&published.image()).pixels);
        }
    }

    /// Asks machines to publish, unless they have been asked already, or there is not the memory.
    fn want_image(&self) {
        let mut state = self.lock();
        if state.image.is_none() && self.has_memory(&state) {
            state.publication += 1;
            state.image = Some(state.publication);
        }
    }

    /// What was published since the image was wanted, if one was, once it is all there.
    fn wanted_image(&self) -> Option<Checkpoint> {
        let mut state = self.lock();
        let is_there = state.image.is_some_and(|number| state.is_published(number));
        is_there.then(|| {
            state.image = None;
            state.checkpoint(self.size)
        })
    }

    /// Tells an observer how far the render is, and stops it if that says so.
    pub(crate) fn tell(&self, observer: &mut dyn Observer) -> Control {
        self.tell_of(observer, &self.progress())
    }

    /// Tells an observer how much is learnt, from 0 to 1; returns whether the render is to end.
    pub(super) fn tell_of_learning(&self, observer: &mut dyn Observer, learnt: f64) -> bool {
        self.tell_of(observer, &Progress { learnt: Some(learnt), ..self.progress() });
        self.is_stopped()
    }

    /// Whether an observer has said so.
    pub(super) fn is_stopped(&self) -> bool {
        self.is_stopped.load(Ordering::Relaxed)
    }

    fn tell_of(&self, observer: &mut dyn Observer, progress: &Progress) -> Control {
        let control = observer.observe(progress);
        if control == Control::Stop {
            self.is_stopped.store(true, Ordering::Relaxed);
            self.changed.notify_all();
        }
        control
    }

    /// How far it is.
    pub(super) fn progress(&self) -> Progress {
        let state = self.lock();
        let pixels = u64::from(self.size[0]) * u64::from(self.size[1]);
        let none = Shortage::default();
        let machine = state.workers.iter().position(|worker| worker.shortage != none).unwrap_or(0);
        let samples = state.done.paths() as f64 / self.whole.invocations.len() as f64;
        Progress {
            spp: state.coverage(&self.whole).fewest,
            spp_target: match state.next_look() {
                Some(next) if !state.is_finished => next.min(self.budget.spp),
                _ => self.budget.spp,
            },
            within_bound: state.adaptive.as_ref().and_then(|adaptive| adaptive.within),
            learnt: None,
            has_rounds: !state.rounds.is_empty(),
            paths: (samples * pixels as f64).round() as u64,
            pixels,
            elapsed: state.elapsed(),
            upload: state.upload,
            longest_launch: state.longest_launch,
            shortage: state.workers.get(machine).map_or(none, |worker| worker.shortage),
            machine,
        }
    }

    /// Whether it is to end before all samples are taken: the observer said so, or time is up and every pixel has a sample.
    fn is_over(&self, state: &State) -> bool {
        let is_late = || self.budget.time.is_some_and(|time| state.elapsed() >= time);
        self.is_stopped.load(Ordering::Relaxed) || is_late() && state.coverage(&self.whole).fewest > 0
    }

    /// All that was to be taken is there: decides whether there is to be more.
    fn extend(&self, state: &mut State) {
        let (first, most) = (self.whole.samples.start, self.whole.samples.end);
        let taken = state.end - first;
        self.keep_snapshot(state);
        // Looks are after so many samples, not after so much time: images are the same each time.
        let image = |state: &State| state.checkpoint(self.size).estimate();
        let has_rounds = !state.rounds.is_empty();
        state.is_finished = match (state.looks, state.adaptive.take()) {
            (Some(mut looks), _) if state.end < most && taken >= looks.next => {
                let noise = Statistics::relative_stderr_of(&image(state));
                let is_enough = looks.is_enough(taken, noise);
                state.looks = Some(looks);
                is_enough
            }
            (_, Some(mut adaptive)) if state.end >= most || has_rounds || taken >= adaptive.next => {
                let next = adaptive.look(&image(state), state.end, state.paths_of_look());
                state.adaptive = Some(adaptive);
                state.go_on_with(next)
            }
            (_, adaptive) => {
                state.adaptive = adaptive;
                state.end >= most
            }
        };
        if state.rounds.is_empty() {
            let next_snapshot = state.snapshots.as_ref().map_or(u32::MAX, Snapshots::next);
            let next = state.next_look().unwrap_or(u32::MAX).min(next_snapshot);
            state.end = first + next.min(self.budget.spp);
        }
    }

    /// Keeps the films as they are, if they have as many samples as a snapshot is to have, on average.
    fn keep_snapshot(&self, state: &mut State) {
        let spp = state.mean_spp(&self.whole);
        if state.snapshots.as_ref().is_some_and(|snapshots| snapshots.is_due(spp)) {
            let films = state.checkpoint(self.size);
            if let Some(snapshots) = &mut state.snapshots {
                snapshots.keep(spp, films);
            }
        }
    }

    /// The films as they were when about half of the samples were taken, if that was wanted and there were as many.
    pub(super) fn half(&self) -> Option<HostFilms> {
        let mut state = self.lock();
        let spp = state.mean_spp(&self.whole);
        let half = state.snapshots.take()?.half_of(spp)?;
        Some(half.into_films(self.size, &mut drop))
    }

    /// Begins to put a checkpoint together, if it is time.
    fn begin_checkpoint(&self, state: &mut State) {
        let Some(checkpoints) = self.checkpoints else { return };
        if state.last_checkpoint.elapsed() < checkpoints.every() || checkpoints.is_busy() {
            return;
        }
        state.last_checkpoint = Instant::now();
        if self.has_memory(state) {
            state.publication += 1;
            state.checkpoint = state.publication;
        } else {
            checkpoints.fail("there is not enough memory");
        }
    }

    /// Whether the host has the memory for a checkpoint, and then some: films twice, and all of them put together.
    fn has_memory(&self, state: &State) -> bool {
        let manners = state.workers.iter().filter_map(|worker| worker.manner);
        let films: u128 = manners.map(|manner| u128::from(manner.film_bytes)).sum();
        let pixels = u128::from(self.size[0]) * u128::from(self.size[1]);
        let bytes = 4 * films + 2 * pixels * size_of::<Pixel>() as u128;
        available_memory().is_none_or(|free| free > bytes)
    }

    /// Keeps a checkpoint of a long render that is not done, when all machines have ended. The one that it was to go on with
    /// stays if no machine has begun.
    pub(crate) fn keep(&self) {
        let state = self.lock();
        let is_stopped = self.is_stopped.load(Ordering::Relaxed);
        if let Some(checkpoints) = self.checkpoints
            && state.resumed.is_none()
            && (is_stopped || !state.is_finished && !self.is_over(&state))
            && checkpoints.is_worth(state.elapsed())
        {
            checkpoints.write_last(state.checkpoint(self.size));
        }
    }

    /// The films when all machines have ended, what is on them, and whether the observer stopped it before it was done. Films that
    /// were published are `spent`.
    pub(super) fn finish(self, spent: &mut dyn FnMut(RawFilms)) -> (HostFilms, Taken, bool) {
        self.keep();
        let is_stopped = self.is_stopped.load(Ordering::Relaxed);
        let (size, mut state) = (self.size, self.state.into_inner().unwrap_or_else(PoisonError::into_inner));
        if let Some(resumed) = state.resumed.take() {
            state.base = Arc::new(resumed.divided(false).1);
        }
        let Coverage { fewest, complete, partial } = state.coverage(&self.whole);
        let is_finished = state.is_finished;
        let all = state.checkpoint(size);
        drop(state);
        let taken = Taken { complete, partial, fingerprint: all.header.fingerprint };
        (all.into_films(size, spent), taken, is_stopped && !is_finished && fewest < self.budget.spp)
    }
}

impl State {
    fn elapsed(&self) -> Duration {
        self.elapsed_before + self.begin.map_or(Duration::ZERO, |begin| begin.elapsed())
    }

    fn coverage(&self, whole: &Block) -> Coverage {
        let mut coverage = Coverage::new(&self.done.iter().collect::<Vec<_>>(), &whole.invocations);
        coverage.partial.insert(self.rounds.span());
        coverage
    }

    /// What nobody has taken, or is about to take, until the next look at the noise.
    fn missing(&self, whole: &Block) -> Vec<Block> {
        let claimed = self.workers.iter().filter_map(|worker| worker.claimed.as_ref());
        let taken: Vec<_> = self.done.iter().chain(claimed).collect();
        let of_all = Block { samples: whole.samples.start..self.end, ..whole.clone() };
        let mut missing_parts = missing(&taken, &of_all);
        missing_parts.extend(self.rounds.block().iter().flat_map(|round| missing(&taken, round)));
        missing_parts
    }

    /// Samples of all pixels at the next look at the noise, if there is to be one.
    fn next_look(&self) -> Option<u32> {
        let of_pixels = || self.adaptive.as_ref().map(|adaptive| adaptive.next);
        self.looks.map(|looks| looks.next).or_else(of_pixels)
    }

    /// Samples of a pixel, on average.
    fn mean_spp(&self, whole: &Block) -> u32 {
        (self.done.paths() / whole.invocations.len().max(1) as u64) as u32
    }

    /// [`Manner::paths_of_look`] of the machine that could trace most.
    fn paths_of_look(&self) -> u64 {
        let manners = self.workers.iter().filter_map(|worker| worker.manner.as_ref());
        manners.map(|manner| manner.paths_of_look).max().unwrap_or(0)
    }

    /// Goes on with what a look has found to be next. Says whether that is nothing.
    fn go_on_with(&mut self, next: adaptive::Next) -> bool {
        match next {
            adaptive::Next::Done => return true,
            adaptive::Next::All(spp) => self.adaptive.iter_mut().for_each(|adaptive| adaptive.next = spp),
            adaptive::Next::Round(round) => self.rounds.begin(round),
        }
        false
    }

    /// What a machine takes of what is missing: all of the first block if it is alone. With others, so much that all are done
    /// at the same time: blocks grow smaller towards the end. Nothing, if it would be the last to be done.
    fn share(&self, me: usize, missing: &[Block]) -> Option<Block> {
        let (first, last) = (missing.first()?, missing.last()?);
        let manner = self.workers[me].manner?;
        let live = || self.workers.iter().filter(|worker| !worker.is_gone);
        if live().count() == 1 {
            return Some(first.clone());
        }
        let left = missing.iter().map(Block::paths).sum::<u64>() as f64;
        let all: f64 = live().filter_map(|worker| worker.rate).sum();
        let fastest = live().filter_map(|worker| worker.rate).fold(0.0, f64::max);
        let is_near_the_end = left < all * NEAR_THE_END;
        let paths = match self.workers[me].rate {
            None => manner.first_paths,
            Some(rate) if is_near_the_end && rate * SLOW < fastest => return None,
            Some(rate) => (0.5 * left * rate / all).clamp(rate * BLOCK_SECONDS[0], rate * BLOCK_SECONDS[1]),
        };
        let of_round = missing.iter().find(|block| block.round > 0);
        Some(if let Some(block) = of_round {
            // Its samples are not divided.
            block.part(paths)
        } else if manner.side_by_side > 1 {
            last.last_samples(manner.side_by_side).part(paths)
        } else {
            let samples = (paths / first.invocations.len() as f64).round() as u32;
            match samples {
                0 if is_near_the_end => first.first_samples(1).part(paths),
                _ => first.first_samples(samples.max(1)),
            }
        })
    }

    /// Whether all machines have made a publication, or have nothing to publish.
    fn is_published(&self, publication: u32) -> bool {
        self.workers.iter().all(|worker| worker.has_answered(publication))
    }

    /// All that is published.
    fn checkpoint(&self, size: [u32; 2]) -> Checkpoint {
        let parts: Vec<_> = self.workers.iter().filter_map(|worker| worker.published.clone()).collect();
        let (mut done, mut fingerprint) = (self.before.clone(), self.fingerprint_before);
        for part in &parts {
            done.extend(part.done.iter().cloned());
            fingerprint = fingerprint.wrapping_add(part.fingerprint);
        }
        let adaptive = self.adaptive.as_ref();
        let header = Header {
            size,
            done,
            fingerprint,
            next_look: self.next_look(),
            ends: adaptive
                .filter(|_| !self.rounds.is_empty())
                .map_or_else(Vec::new, |adaptive| adaptive.ends.clone()),
            rounds: self.rounds.clone(),
            seconds: self.elapsed().as_secs_f64(),
        };
        Checkpoint { header, base: Arc::clone(&self.base), parts }
    }
}

#[cfg(test)]
mod tests;
