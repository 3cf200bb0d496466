//! One machine at work: blocks in passes over their part of the image, and passes in launches.

use std::ops::Range;
use std::time::{Duration, Instant};

use device::path::stage::Stage;
use device::path::{HALF, Item, MegakernelArgs};
use torrance_gpu::backend::{Buffer, Error};
use torrance_gpu::primitives::Primitives;

use super::blocks::Block;
use super::films::Films;
use super::pace::{Launches, Pace, Pass, chunk, least_samples};
use super::tracer::{Launch, Tracer};
use super::work::{Next, Verdict};
use super::{Control, Observer, Part};

/// Most items of a launch: with pixels of their own they take up to 112 MiB.
const ITEMS: u32 = (1 << 21) / HALF;

/// A machine that renders, and what it has at hand.
pub(super) struct Shift<'a, 'o, B: Primitives> {
    pub(super) backend: &'a mut B,
    pub(super) films: Films<B>,
    pub(super) tracer: &'a mut Tracer<B>,
    pub(super) pace: &'a mut Pace,
    /// Arguments that take no samples yet.
    pub(super) args: MegakernelArgs,
    pub(super) part: &'a Part<'a>,
    pub(super) layers: u32,
    /// Samples of a pixel that it has taken.
    pub(super) taken: u32,
    pub(super) begin: Instant,
    /// Told of every launch, if this machine is the one to do so.
    pub(super) observer: Option<&'o mut dyn Observer>,
    /// What the observer was shown last, in the memory of the machine.
    pub(super) mean: Option<B::Buf<[f32; 3]>>,
    /// The items of the last round, in the memory of the machine, and its number.
    pub(super) items: Option<(u32, B::Buf<Item>)>,
}

impl<B: Primitives> Shift<'_, '_, B> {
    /// Takes blocks until there is nothing more to do; `S` is the megakernel that suits the scene.
    pub(super) fn work<S: Stage<Args = MegakernelArgs>>(&mut self) -> Result<(), Error> {
        loop {
            match self.part.work.next(self.part.me) {
                Next::Take(block) => self.take::<S>(&block)?,
                Next::Publish => self.publish()?,
                Next::End => return Ok(()),
            }
        }
    }

    fn publish(&mut self) -> Result<(), Error> {
        let Part { work, me, .. } = *self.part;
        let films = self.films.download(self.backend, work.room(me))?;
        work.publish(me, self.films.folded.clone(), films);
        Ok(())
    }

    /// Takes a block, or as much of it as this machine is to take.
    fn take<S: Stage<Args = MegakernelArgs>>(&mut self, block: &Block) -> Result<(), Error> {
        let Part { scene, work, options, .. } = *self.part;
        let is_gradual = work.budget().time.is_some() || options.launches == Launches::Prompt;
        if block.round > 0 {
            return self.take_items::<S>(block);
        }
        (self.args.items, self.args.item_count, self.args.spread) = (std::ptr::null(), 0, 0);
        let chunk = chunk(scene.width, scene.height);
        let mut sample = block.samples.start;
        while sample < block.samples.end {
            let mut remaining = block.samples.end - sample;
            if B::FOLDS_FILMS {
                remaining = remaining.min(chunk - sample % chunk);
            }
            let layers = if self.is_whole(block) { self.layers } else { 1 };
            let invocations = block.invocations.len() as u32 * layers;
            let least = least_samples::<B>(self.taken, is_gradual);
            let pass = Pass::new(self.pace.paths, invocations, layers, least, remaining);
            self.args.layers = layers;
            (self.args.first_sample, self.args.samples) = (sample, pass.samples);
            if !self.pass::<S>(block, &pass)? {
                return Ok(());
            }
            sample += pass.samples;
            self.taken += pass.samples;
            if B::FOLDS_FILMS && sample.is_multiple_of(chunk) && sample < work.whole().samples.end {
                self.films.fold(self.backend, scene)?;
            }
        }
        Ok(())
    }

    /// Takes a block of a round, or as much of it as this machine is to take.
    fn take_items<S: Stage<Args = MegakernelArgs>>(&mut self, block: &Block) -> Result<(), Error> {
        let Some(round) = self.part.work.round() else { return Ok(()) };
        if self.items.as_ref().is_none_or(|(number, _)| *number != block.round) {
            let items = self.backend.upload("noisy parts of the image", &round.items)?;
            self.items = Some((block.round, items));
        }
        self.args.layers = 1;
        self.args.spread = round.is_spread.into();
        (self.args.first_sample, self.args.samples) = (0, round.samples);
        self.pass::<S>(block, &Pass::of_samples(round.samples)).map(drop)
    }

    /// The arguments of a launch of the invocations in `range`, which are those of as many items if the block is of a round.
    fn launch_args(&self, block: &Block, range: Range<u32>) -> MegakernelArgs {
        let args = MegakernelArgs {
            first_invocation: range.start,
            invocations: range.end - range.start,
            ..self.args
        };
        match &self.items {
            Some((_, items)) if block.round > 0 => MegakernelArgs {
                items: items.ptr().cast_const().wrapping_add((range.start / HALF) as usize),
                item_count: args.invocations / HALF,
                first_invocation: 0,
                ..args
            },
            _ => args,
        }
    }

    /// Whether a block is of all pixels, or of all that its round has.
    fn is_whole(&self, block: &Block) -> bool {
        let all = match &self.items {
            Some((round, items)) if block.round == *round => items.len() * HALF as usize,
            _ => self.part.work.whole().invocations.len(),
        };
        block.invocations.len() == all
    }

    /// Takes a pass. Says whether the block is to be gone on with.
    fn pass<S: Stage<Args = MegakernelArgs>>(&mut self, block: &Block, pass: &Pass) -> Result<bool, Error> {
        let samples = self.args.first_sample..self.args.first_sample + pass.samples;
        let first = block.invocations.start;
        let end = first + block.invocations.len() as u32 * self.args.layers;
        let is_whole = self.is_whole(block);
        let most = if block.round > 0 { ITEMS * HALF } else { u32::MAX };
        let mut longest = Duration::ZERO;
        let mut begin = first;
        while begin < end {
            let next = begin + pass.invocations(self.pace.paths).min(most).min(end - begin);
            let args = self.launch_args(block, begin..next);
            let launched = Instant::now();
            // SAFETY: the caller of the render, `films` and `items` hold what the arguments point to, and outlive the wait below.
            unsafe { self.films.launch::<S>(self.backend, self.tracer, args)? };
            self.backend.synchronize()?;
            let took = launched.elapsed();
            longest = longest.max(took);
            let is_last = next == end;
            let launch = Launch {
                paths: pass.paths(next - begin),
                took,
                is_of_round: block.round > 0,
                // Parts of an image differ in cost.
                begins_pass: is_whole && begin == first,
                ends_pass: is_whole && is_last,
            };
            self.learn(launch);
            let part = match self.args.layers {
                1 => Some(Block { samples: samples.clone(), invocations: begin..next, ..block.clone() }),
                // Layers share the samples of a pass, which is short.
                _ => is_last.then(|| Block { samples: samples.clone(), ..block.clone() }),
            };
            begin = next;
            let Some(part) = part else { continue };
            let Part { work, me, .. } = *self.part;
            work.note_pool(me, self.tracer.shrunk());
            work.report(me, part, (took, longest));
            self.tell()?;
            match work.verdict(me) {
                Verdict::GoOn => {}
                Verdict::Publish => self.publish()?,
                Verdict::Leave => return Ok(false),
            }
        }
        Ok(true)
    }

    /// Tells the observer, and shows it the image if it asks for that.
    fn tell(&mut self) -> Result<(), Error> {
        let Self { backend, films, observer: Some(observer), mean, part, .. } = self else { return Ok(()) };
        match part.work.tell(*observer) {
            Control::Show => {
                let others = part.work.of_others(part.me).map(|others| others.image());
                let radiance = films.radiance(*backend, others, mean)?;
                observer.show(&part.work.progress(), radiance);
            }
            Control::ShowFilms => {
                let films = films.so_far(*backend, [part.scene.width, part.scene.height])?;
                observer.show_films(&part.work.progress(), films);
            }
            Control::Continue | Control::Stop => {}
        }
        Ok(())
    }

    fn learn(&mut self, launch: Launch) {
        let (launches, elapsed) = (self.part.options.launches, self.begin.elapsed());
        self.tracer.limit(launches.at(elapsed));
        self.pace.limit(self.tracer.target());
        if launches.have_grown(elapsed) && self.tracer.learn(launch) {
            *self.pace = Pace::new(self.backend.parallelism(), self.tracer);
        } else {
            self.pace.learn(launch.paths, launch.took);
        }
    }
}
