//! Adaptive sampling: samples go where the noise is.
//!
//! All pixels get some samples first. Then come [rounds](super::rounds): those halves of cells get more whose pixels are still too noisy.
//! How many samples a half gets is decided by the pixels of the *other* half of its cell, which lie between its own as on a
//! chessboard. A pixel that happened to look calm, or has just seen a firefly, does not decide on its own samples; so its mean
//! stays an unbiased estimate, and its standard error true, as they would not if it stopped when its samples agree (Kirk and Arvo 1991,
//! "Unbiased Sampling Techniques for Image Synthesis"). What is left is that each half's samples decide how much is known of it when the
//! other is next decided on; tests measure what that comes to.

use std::fmt;
use std::ops::Range;

use device::path::{HALF, half_count, half_pixel};
use rayon::prelude::*;
use torrance_image::film::ImageEstimate;
use torrance_image::film::error::{ErrorMeasure, error_at, part_within};

use super::rounds::{Portion, Round};

/// How far the errors of pixels are to come down.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ErrorGoal {
    /// The largest error, > 0.
    pub bound: f64,
    /// What errors are measured by.
    pub measure: ErrorMeasure,
    /// Percentage of the pixels whose errors are to be within the bound, in (0, 100].
    pub percentile: f64,
    /// Whether all pixels get as many samples.
    pub is_uniform: bool,
}

/// How far an image is from an [`ErrorGoal`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shortfall {
    /// The percentage of its pixels whose errors are within the bound.
    pub within: f64,
    /// The error that the percentage of its pixels are within that was to be within the bound.
    pub error: f64,
}

impl ErrorGoal {
    /// What an image lacks; `None` if nothing.
    pub fn shortfall(&self, measured: &ImageEstimate) -> Option<Shortfall> {
        let errors = self.measure.errors(measured);
        let within = 100.0 * part_within(&errors, self.bound);
        (within < self.percentile).then(|| Shortfall { within, error: error_at(errors, self.percentile) })
    }
}

impl fmt::Display for ErrorGoal {
    /// As errors of checkpoints tell it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { bound, measure, percentile, .. } = self;
        write!(f, "{}% of {percentile}% of the pixels", 100.0 * bound)?;
        match measure {
            ErrorMeasure::Relative => Ok(()),
            ErrorMeasure::Displayed { exposure, white_balance, tonemap } => {
                write!(f, " as displayed ({exposure:?}, {white_balance:?}, {})", tonemap.name())
            }
        }
    }
}

/// Samples of every pixel before the first look at errors: of fewer, little is known of noise.
const FIRST: u32 = 16;
/// By how much samples grow from one look to the next: so much at least, that looks are few; so much at most, as noise is hardly known at first.
const GROWTH: [f64; 2] = [1.15, 3.0];
/// The same where all pixels get samples: how many, the errors of many tell.
const GROWTH_OF_ALL: [f64; 2] = [1.05, 4.0];
/// A round has so many times the samples that it would have, at most, to be worth a look.
const LONGER: u64 = 4;
/// The part of the halves under way that the next look finds done, if their noise is what it seems.
const DONE_NEXT: f64 = 0.1;
/// Numbers of samples are multiples of this, by which points are spread evenly and paths side by side.
const MULTIPLE: u32 = 8;
/// If no more than this part of the halves is done, all get samples: passes over all of an image are the fastest.
const FEW: f64 = 0.05;
/// Samples that a half needs are those of its pixels that are noisier than this part of them. The noisiest is often so by chance.
const NOISIEST: f64 = 0.95;
/// Items of a round, about: several for each thread of a large machine.
const ITEMS: u64 = 1 << 15;
/// What bounds are divided by when all halves are within them and too many pixels are not.
const TIGHTER: f64 = 1.1;

/// What is next, after a look at the errors.
#[derive(Debug)]
pub(super) enum Next {
    /// Nothing.
    Done,
    /// Samples of all pixels, so many in all.
    All(u32),
    /// Samples of parts of the image.
    Round(Round),
}

/// Decides which pixels get more samples.
#[derive(Debug, Clone)]
pub(super) struct Adaptive {
    goal: ErrorGoal,
    size: [u32; 2],
    /// The samples that there may be.
    first: u32,
    most: u32,
    /// Whether a half may have several items.
    divides: bool,
    /// Samples of every pixel at the next look, as long as all have the same number.
    pub(super) next: u32,
    /// Of each half, the sample after the last one that it has or is to get.
    pub(super) ends: Vec<u32>,
    /// What the bound of halves is divided by.
    pub(super) tightness: f64,
    /// Part of the pixels whose error was within the bound at the last look.
    pub(super) within: Option<f64>,
}

impl Adaptive {
    /// For samples of an image of a size, before any is taken. If there are films `beside` the image, whose pixels one invocation after
    /// another adds to, portions are not divided.
    pub(super) fn new(goal: ErrorGoal, size: [u32; 2], samples: Range<u32>, beside: bool) -> Self {
        let ends = vec![samples.start; half_count(size[0], size[1]) as usize];
        let (first, most, divides) = (samples.start, samples.end, !beside);
        Self { goal, size, first, most, divides, next: FIRST, ends, tightness: 1.0, within: None }
    }

    /// Goes on after a checkpoint, which knows of which samples each half has the last one, or is to get it.
    pub(super) fn go_on(&mut self, next: Option<u32>, tightness: Option<f64>, ends: &[u32]) {
        self.next = next.unwrap_or(self.next);
        self.tightness = tightness.unwrap_or(self.tightness);
        if ends.len() == self.ends.len() {
            self.ends.copy_from_slice(ends);
        }
    }

    /// Looks at an image of which all pixels have the samples up to `end`, and those of the rounds. In the time that a round takes beside
    /// its paths, so many paths could be traced.
    pub(super) fn look(&mut self, image: &ImageEstimate, end: u32, paths_of_look: u64) -> Next {
        self.ends.iter_mut().for_each(|of_half| *of_half = end.max(*of_half));
        let errors = self.goal.measure.errors(image);
        let within = part_within(&errors, self.goal.bound);
        self.within = Some(within);
        if within >= self.goal.percentile / 100.0 {
            return Next::Done;
        }
        // What one sample would have.
        let samples = image.noise.as_ref().and_then(|noise| noise.samples.as_deref()).unwrap_or(&[]);
        let squares: Vec<f32> = errors.par_iter().zip(samples).map(|(e, n)| e * e * n).collect();
        match self.goal.is_uniform {
            true => match self.next_of_all(&squares, end) {
                next if next > end - self.first => Next::All(next),
                _ => Next::Done,
            },
            false => self.of_halves(&squares, end, paths_of_look),
        }
    }

    /// As many samples of all pixels as bring so many of them within the bound, if noise is what it seems.
    fn next_of_all(&self, squares: &[f32], end: u32) -> u32 {
        let taken = end - self.first;
        let mut known: Vec<_> = squares.iter().copied().filter(|s| s.is_finite()).collect();
        let at = (self.goal.percentile / 100.0 * known.len() as f64) as usize;
        let at = at.min(known.len().saturating_sub(1));
        let wanted = match known.is_empty() {
            true => f64::INFINITY,
            false => f64::from(*known.select_nth_unstable_by(at, f32::total_cmp).1) / self.goal.bound.powi(2),
        };
        self.at_most(taken, (wanted / f64::from(taken)).clamp(GROWTH_OF_ALL[0], GROWTH_OF_ALL[1]))
    }

    /// Samples for the halves that need them.
    fn of_halves(&mut self, squares: &[f32], end: u32, paths_of_look: u64) -> Next {
        let noisiest = self.noisiest(squares);
        loop {
            let per_square = (self.tightness / self.goal.bound).powi(2) as f32;
            let needs: Vec<f32> = noisiest.iter().map(|square| square * per_square).collect();
            if self.ends.iter().all(|of_half| *of_half == end) {
                let next = self.next_of_all(squares, end);
                let wasted = needs
                    .iter()
                    .map(|need| u64::from(next - (need.ceil() as u32).clamp(end - self.first, next)));
                if next > end - self.first && wasted.sum::<u64>() * u64::from(HALF) <= paths_of_look {
                    return Next::All(next);
                }
            }
            let is_open = |(need, end): (&f32, &u32)| *need > (end - self.first) as f32 && *end < self.most;
            let open: Vec<u32> = (0..)
                .zip(needs.iter().zip(&self.ends))
                .filter(|(_, of)| is_open(*of))
                .map(|(half, _)| half)
                .collect();
            if !open.is_empty() {
                return self.next_round(&open, &needs, end, paths_of_look);
            }
            if self.ends.iter().all(|end| *end >= self.most) || self.tightness > 1e3 {
                return Next::Done;
            }
            self.tightness *= TIGHTER;
        }
    }

    /// For each half, the square of the error that one sample of the noisiest pixels of its other half would have: what it needs
    /// samples for.
    fn noisiest(&self, squares: &[f32]) -> Vec<f32> {
        let [width, height] = self.size;
        let most_of = |half: u32| {
            let pixels =
                (0..HALF).map(|i| half_pixel(width, half, i)).filter(|(x, y)| *x < width && *y < height);
            let squares = pixels.map(|(x, y)| squares[y as usize * width as usize + x as usize]);
            let (mut all, mut n) = ([0.0; HALF as usize], 0);
            for square in squares.filter(|s| s.is_finite()) {
                all[n] = square;
                n += 1;
            }
            let k = ((NOISIEST * n as f64) as usize).min(n.checked_sub(1)?);
            Some(*all[..n].select_nth_unstable_by(k, f32::total_cmp).1)
        };
        // An image of one pixel has no other half there.
        let of_other = |half: u32| most_of(half ^ 1).or_else(|| most_of(half)).unwrap_or(0.0);
        (0..half_count(width, height)).into_par_iter().map(of_other).collect()
    }

    /// Samples of these halves until the next look.
    fn next_round(&mut self, open: &[u32], needs: &[f32], end: u32, paths_of_look: u64) -> Next {
        let mut next: Vec<u32> = open.iter().map(|half| self.next_of(*half, needs[*half as usize])).collect();
        let is_of_all = self.ends.iter().all(|of_half| *of_half == end);
        if is_of_all && open.len() as f64 >= (1.0 - FEW) * self.ends.len() as f64 {
            let at = (DONE_NEXT * next.len() as f64) as usize;
            return Next::All(*next.select_nth_unstable(at).1 - self.first);
        }
        let samples: u64 =
            open.iter().zip(&next).map(|(half, next)| u64::from(next - self.ends[*half as usize])).sum();
        // Rounds that are over as soon as begun would be many.
        let longer = (paths_of_look / (samples * u64::from(HALF)).max(1)).clamp(1, LONGER);
        let per_item = self.divides.then(|| per_item(samples * longer));
        let portion = |(half, next): (&u32, u32)| {
            let end = &mut self.ends[*half as usize];
            let wanted = (next - *end).saturating_mul(longer as u32).min(u32::MAX / 4);
            let whole_items = wanted.next_multiple_of(per_item.unwrap_or(1));
            let samples = *end..self.most.min(*end + whole_items);
            *end = samples.end;
            Portion { half: *half, samples }
        };
        let portions = open.iter().zip(next).map(portion).collect();
        Next::Round(Round::new(portions, per_item, self.size))
    }

    /// The sample that a half is to end before at the next look, if it needs so many.
    fn next_of(&self, half: u32, need: f32) -> u32 {
        let taken = f64::from(self.ends[half as usize] - self.first);
        let wanted = f64::from(need).clamp(GROWTH[0] * taken, GROWTH[1] * taken);
        self.first + self.at_most(1, wanted)
    }

    /// So many times `taken` samples, but no more than there may be.
    fn at_most(&self, taken: u32, growth: f64) -> u32 {
        let next = (f64::from(taken) * growth).ceil().min(f64::from(u32::MAX / 2)) as u32;
        next.next_multiple_of(MULTIPLE).min(self.most - self.first)
    }
}

/// Samples of an item, of a round that takes so many of halves: the same on all machines, so that images are.
fn per_item(samples: u64) -> u32 {
    let even = samples / ITEMS;
    if even <= u64::from(MULTIPLE) { MULTIPLE } else { 1 << even.ilog2().min(10) }
}
