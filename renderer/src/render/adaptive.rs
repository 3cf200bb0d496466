//! Adaptive sampling: samples go where the noise is.
//!
//! All pixels get some samples first. Then come [rounds](super::rounds): those halves of cells get more whose pixels are still too noisy.
//! How many samples a half gets is decided by the pixels of the *other* half of its cell, which lie between its own as on a
//! chessboard. A pixel that happened to look calm, or has just seen a firefly, does not decide on its own samples; so its mean
//! stays an unbiased estimate, and its standard error true, as they would not if it stopped when its samples agree (Kirk and Arvo 1991,
//! "Unbiased Sampling Techniques for Image Synthesis"). What is left is that each half's samples decide how much is known of it when the
//! other is next decided on, and that how far all halves are to go, by what they are asked, is one decision about all pixels; tests measure
//! what that comes to.

use std::fmt;
use std::ops::Range;

use device::path::{HALF, half_count, half_pixel};
use rayon::prelude::*;
use torrance_image::film::error::{ErrorMeasure, error_at, part_within};
use torrance_image::film::order::nth;
use torrance_image::film::white_balance::WhiteBalance;
use torrance_image::film::{ImageEstimate, PIXELS_PER_TASK};

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
        (within < self.percentile).then(|| Shortfall { within, error: error_at(&errors, self.percentile) })
    }
}

impl fmt::Display for ErrorGoal {
    /// As errors of checkpoints tell it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { bound, measure, percentile, .. } = self;
        write!(f, "{}% of {percentile}% of the pixels", (100.0 * bound) as f32)?;
        let ErrorMeasure::Displayed { exposure, white_balance, tonemap } = measure else { return Ok(()) };
        write!(f, " as displayed (exposure {exposure}, ")?;
        if *white_balance != WhiteBalance::default() {
            let [r, g, b] = white_balance.white();
            write!(f, "white {r:.4},{g:.4},{b:.4}, ")?;
        }
        write!(f, "tone curve {})", tonemap.name())
    }
}

/// Samples of every pixel before the first look at errors: of fewer, little is known of noise.
const FIRST: u32 = 16;
/// By how much samples grow from one look to the next: so much at least, that looks are few; so much at most, as noise is hardly known at first.
const GROWTH: [f64; 2] = [1.1, 3.0];
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
/// Parts of the proportion that would do alone, each tried with the fewest samples that every half then has to have at least.
const PARTS: [f32; 6] = [1.0, 0.9, 0.8, 0.6, 0.4, 0.0];
/// The largest proportion whose parts are tried: where pixels are noisy whose neighbours are not, none would do alone.
const LARGEST: f32 = 4.0;
/// Halves that a thread looks at, at least.
const HALVES_PER_TASK: usize = 64;
/// Items of a round, about, as long as each has from [`MULTIPLE`] to [`PER_ITEM`] samples: several for each thread of a large machine.
const ITEMS: u64 = (1 << 20) / HALF as u64;
/// Samples of an item, at most, as long as there are no more than [`MOST_ITEMS`]: a launch of a fraction of a second then has more
/// invocations than a GPU runs side by side. With 1024, it traces large images at half the speed.
const PER_ITEM: u32 = 128;
/// Items of a round, at most, unless each would have more than [`LARGEST_ITEM`]: they take 20 bytes each.
const MOST_ITEMS: u64 = 1 << 22;
/// Samples of an item, at most.
const LARGEST_ITEM: u64 = 1 << 20;

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
    /// Part of the pixels whose error was within the bound at the last look.
    pub(super) within: Option<f64>,
}

impl Adaptive {
    /// For samples of an image of a size, before any is taken. If there are films `beside` the image, whose pixels one invocation after
    /// another adds to, portions are not divided.
    pub(super) fn new(goal: ErrorGoal, size: [u32; 2], samples: Range<u32>, beside: bool) -> Self {
        let ends = vec![samples.start; half_count(size[0], size[1]) as usize];
        let (first, most, divides) = (samples.start, samples.end, !beside);
        Self { goal, size, first, most, divides, next: FIRST, ends, within: None }
    }

    /// Goes on after a checkpoint, which knows of which samples each half has the last one, or is to get it.
    pub(super) fn go_on(&mut self, next: Option<u32>, ends: &[u32]) {
        self.next = next.unwrap_or(self.next);
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
            false => self.of_halves((&errors, &squares), end, paths_of_look),
        }
    }

    /// As many samples of all pixels as bring so many of them within the bound, if noise is what it seems.
    fn next_of_all(&self, squares: &[f32], end: u32) -> u32 {
        let taken = end - self.first;
        let known = || squares.par_iter().with_min_len(PIXELS_PER_TASK).copied().filter(|s| s.is_finite());
        let n = known().count();
        let at = ((self.goal.percentile / 100.0 * n as f64) as usize).min(n.saturating_sub(1));
        let wanted = nth(known, at).map_or(f64::INFINITY, |s| f64::from(s) / self.goal.bound.powi(2));
        self.at_most(taken, (wanted / f64::from(taken)).clamp(GROWTH_OF_ALL[0], GROWTH_OF_ALL[1]))
    }

    /// Samples for the halves that need them.
    fn of_halves(&mut self, (errors, squares): (&[f32], &[f32]), end: u32, paths_of_look: u64) -> Next {
        let taken = end - self.first;
        let of_all = self.ends.iter().all(|of_half| *of_half == end).then(|| self.next_of_all(squares, end));
        let of_all = of_all.filter(|next| *next > taken);
        // If even all of it may be wasted, it makes no difference what halves need.
        let most_wasted = |next: u32| u64::from(next - taken) * self.ends.len() as u64;
        let may_waste = |samples: u64| samples * u64::from(HALF) <= paths_of_look;
        if let Some(next) = of_all.filter(|next| may_waste(most_wasted(*next))) {
            return Next::All(next);
        }
        let needs = self.needs(errors, squares);
        let wasted = |next: u32| -> u64 {
            needs.iter().map(|need| u64::from(next - (need.ceil() as u32).clamp(taken, next))).sum()
        };
        if let Some(next) = of_all.filter(|next| may_waste(wasted(*next))) {
            return Next::All(next);
        }
        let is_open = |(need, end): (&f32, &u32)| *need > (end - self.first) as f32 && *end < self.most;
        let open: Vec<u32> = (0..)
            .zip(needs.iter().zip(&self.ends))
            .filter(|(_, of)| is_open(*of))
            .map(|(half, _)| half)
            .collect();
        match open.is_empty() {
            true => Next::Done,
            false => self.next_round(&open, &needs, end, paths_of_look),
        }
    }

    /// Samples that each half is to have for as many pixels to be within the bound as have to be, if noise is what it seems: in proportion to
    /// what the noise of its other half asks for, but at least so many in every half. Of several such pairs, the one that takes the fewest
    /// samples.
    fn needs(&self, errors: &[f32], squares: &[f32]) -> Vec<f32> {
        let wanted = self.wanted(squares);
        let asked = self.asked(&wanted);
        let pending = self.pending(errors, &wanted, &asked);
        let known = errors.iter().filter(|error| !error.is_nan()).count();
        let failing = errors.iter().filter(|error| f64::from(**error) > self.goal.bound).count();
        let allowed = ((1.0 - self.goal.percentile / 100.0) * known as f64 + 1e-6) as usize;
        let within_reach = pending.iter().filter(|pixel| pixel.wanted.is_finite()).count();
        let missing = failing.saturating_sub(allowed);
        let of_pair = |(proportion, least): (f32, f32)| {
            asked.par_iter().map(move |asked| (asked * proportion).max(least).min(self.limit()))
        };
        // In whole samples, of which the sum is the same in whatever order.
        let cost = |pair| -> u64 {
            let samples = of_pair(pair).zip(&self.ends);
            samples.map(|(need, end)| u64::from((need.ceil() as u32).max(end - self.first))).sum()
        };
        let best = pairs(&pending, missing.min(within_reach)).min_by_key(|pair| cost(*pair));
        let needs = of_pair(best.unwrap_or((0.0, 0.0)));
        match missing <= within_reach {
            true => needs.collect(),
            // The noisiest get what there may be.
            false => needs.zip(&asked).map(|(need, asked)| need.max(asked.min(self.limit()))).collect(),
        }
    }

    /// Samples that each pixel wants, by its own noise; infinite where that is not known.
    fn wanted(&self, squares: &[f32]) -> Vec<f32> {
        let per_square = self.goal.bound.powi(-2) as f32;
        let of_pixel = |square: &f32| if square.is_nan() { f32::INFINITY } else { square * per_square };
        squares.par_iter().with_min_len(PIXELS_PER_TASK).map(of_pixel).collect()
    }

    /// Samples that each half is asked to take by its other half: the geometric mean of what the two noisiest pixels there want. One alone
    /// is often noisy by chance.
    fn asked(&self, wanted: &[f32]) -> Vec<f32> {
        let most_of = |half: u32| {
            let known = self.pixels(half).map(|pixel| wanted[pixel]).filter(|wanted| wanted.is_finite());
            let noisiest = known.fold([None; 2], |[first, second]: [Option<f32>; 2], next| match first {
                Some(most) if next <= most => [first, Some(second.map_or(next, |second| second.max(next)))],
                _ => [Some(next), first],
            });
            match noisiest {
                [Some(first), Some(second)] => Some(first.sqrt() * second.sqrt()),
                [first, _] => first,
            }
        };
        // An image of one pixel has no other half there.
        let of_other = |half: u32| most_of(half ^ 1).or_else(|| most_of(half)).unwrap_or(0.0);
        (0..self.ends.len() as u32).into_par_iter().with_min_len(HALVES_PER_TASK).map(of_other).collect()
    }

    /// The pixels that are not within the bound and can have more samples.
    fn pending(&self, errors: &[f32], wanted: &[f32], asked: &[f32]) -> Vec<Pending> {
        let of_half = |half: u32| {
            let (taken, asked) = ((self.ends[half as usize] - self.first) as f32, asked[half as usize]);
            let is_pending =
                move |pixel: &usize| f64::from(errors[*pixel]) > self.goal.bound && taken < self.limit();
            self.pixels(half).filter(is_pending).map(move |pixel| {
                // Rejected samples do not count, so a pixel may want fewer than were taken.
                match wanted[pixel].max(taken.next_up()) {
                    wanted if wanted <= self.limit() => Pending { wanted, proportion: wanted / asked },
                    _ => Pending { wanted: f32::INFINITY, proportion: f32::INFINITY },
                }
            })
        };
        let halves = (0..self.ends.len() as u32).into_par_iter().with_min_len(HALVES_PER_TASK);
        halves.flat_map_iter(of_half).collect()
    }

    /// The pixels of a half, by their numbers in the image.
    fn pixels(&self, half: u32) -> impl Iterator<Item = usize> {
        let [width, height] = self.size;
        let pixels = (0..HALF).map(move |i| half_pixel(width, half, i));
        pixels
            .filter(move |(x, y)| *x < width && *y < height)
            .map(move |(x, y)| y as usize * width as usize + x as usize)
    }

    /// Samples that there may be of a pixel.
    fn limit(&self) -> f32 {
        (self.most - self.first) as f32
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

/// A pixel that is not within the bound and can have more samples.
#[derive(Debug, Clone, Copy)]
struct Pending {
    /// Samples that it wants, by its own noise; infinite if there may not be as many.
    wanted: f32,
    /// That, in proportion to what its half is asked to take.
    proportion: f32,
}

/// Proportions of what halves are asked to take, each with the fewest samples that every half must then have at least, for so many of
/// the pixels to come within the bound; none if that is none.
fn pairs(pending: &[Pending], missing: usize) -> impl Iterator<Item = (f32, f32)> {
    let pending = || pending.par_iter().with_min_len(PIXELS_PER_TASK);
    let last = missing.checked_sub(1);
    let enough = last.and_then(|last| nth(|| pending().map(|pixel| pixel.proportion), last));
    let parts = enough.into_iter().flat_map(|enough| PARTS.map(|part| part * enough.min(LARGEST)));
    // Up to the largest, it is the first of these.
    let alone = enough.filter(|enough| enough.is_finite() && *enough > LARGEST);
    alone.into_iter().chain(parts).map(move |proportion| {
        let left = || pending().filter(|pixel| pixel.proportion > proportion);
        let last = (missing + left().count()).checked_sub(pending().len() + 1);
        (proportion, last.and_then(|last| nth(|| left().map(|pixel| pixel.wanted), last)).unwrap_or(0.0))
    })
}

/// Samples of an item, of a round that takes so many of halves: the same on all machines, so that images are.
fn per_item(samples: u64) -> u32 {
    let even = 1_u64 << (samples / ITEMS).max(1).ilog2();
    let least = samples.div_ceil(MOST_ITEMS).next_power_of_two().min(LARGEST_ITEM);
    even.clamp(MULTIPLE.into(), PER_ITEM.into()).max(least) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use tier::Random;
    use torrance_image::film::{Film, Pixel};

    const SIZE: [u32; 2] = [64, 48];
    const TAKEN: u32 = 1000;
    const GOAL: ErrorGoal =
        ErrorGoal { bound: 0.01, measure: ErrorMeasure::Relative, percentile: 99.0, is_uniform: false };

    /// An image of luminance 1, of pixels with so many samples and such standard errors.
    fn image(mut pixel: impl FnMut(u32, u32) -> (u32, f32)) -> ImageEstimate {
        let [width, height] = SIZE;
        let places = (0..height).flat_map(|y| (0..width).map(move |x| (x, y)));
        let pixels = places.map(|(x, y)| {
            let (samples, stderr) = pixel(x, y);
            Pixel::of_moments(samples.into(), [1.0; 3], [stderr; 3])
        });
        (&Film { width, height, pixels: pixels.collect() }).into()
    }

    /// Where all pixels have [`TAKEN`] samples, and may have so many.
    fn adaptive(most: u32) -> Adaptive {
        let ends = vec![TAKEN; half_count(SIZE[0], SIZE[1]) as usize];
        Adaptive { ends, ..Adaptive::new(GOAL, SIZE, 0..most, false) }
    }

    const MOST: u32 = 1 << 20;

    fn needs(adaptive: &Adaptive, image: &ImageEstimate) -> Vec<f32> {
        let errors = GOAL.measure.errors(image);
        let squares: Vec<f32> = errors.iter().map(|e| e * e * TAKEN as f32).collect();
        adaptive.needs(&errors, &squares)
    }

    /// The part of the pixels that are within the bound if halves have what they need, if noise is what it seems.
    fn within(image: &ImageEstimate, needs: &[f32]) -> f64 {
        let (adaptive, errors) = (adaptive(MOST), GOAL.measure.errors(image));
        let is_within = |pixel: usize, need: &f32| {
            f64::from(errors[pixel] * (TAKEN as f32 / need.max(TAKEN as f32)).sqrt())
                <= GOAL.bound * (1.0 + 1e-5)
        };
        let of_half =
            |(half, need): (u32, &f32)| adaptive.pixels(half).filter(|pixel| is_within(*pixel, need)).count();
        (0..).zip(needs).map(of_half).sum::<usize>() as f64 / errors.len() as f64
    }

    /// Samples of a pixel if all have as many.
    fn even(image: &ImageEstimate) -> f64 {
        let error = error_at(&GOAL.measure.errors(image), GOAL.percentile);
        f64::from(TAKEN) * (error / GOAL.bound).powi(2)
    }

    fn mean(needs: &[f32]) -> f64 {
        needs.iter().map(|need| f64::from(need.max(TAKEN as f32))).sum::<f64>() / needs.len() as f64
    }

    /// As many pixels as have to be, hardly more, and for no more samples than if all had as many.
    #[test]
    fn halves_need_what_brings_the_percentage_within_the_bound() {
        let mut random = Random(5);
        let mut normal = || {
            (-2.0 * (1.0 - random.uniform()).ln()).sqrt() * (std::f64::consts::TAU * random.uniform()).cos()
        };
        // By how much noise differs among pixels, and on the right from the left; and the part of even samples that is enough.
        for (spread, right, part) in
            [(0.02, 1.0, 1.001), (0.8, 1.0, 1.001), (0.1, 0.2, 0.75), (0.4, 0.2, 1.001)]
        {
            let image = image(|x, _| {
                let side = if x < 40 { 1.0 } else { right };
                (TAKEN, (0.02 * side * (spread * normal()).exp()) as f32)
            });
            let needs = needs(&adaptive(MOST), &image);
            let (within, found) = (within(&image, &needs), mean(&needs) / even(&image));
            assert!((0.99..0.992).contains(&within), "{spread}, {right}: {within}");
            assert!(found <= part, "{spread}, {right}: {found} of even samples");
        }
    }

    /// Noisy pixels whose neighbours are calm are no reason to give all of the image more than even samples.
    #[test]
    fn noise_that_the_other_half_does_not_see_takes_no_more_than_even_samples() {
        for calm in [0.0, 1e-6] {
            let image = image(|x, y| (TAKEN, if x % 4 == 1 && y % 4 == 1 { 0.05 } else { calm }));
            let needs = needs(&adaptive(MOST), &image);
            let (within, found) = (within(&image, &needs), mean(&needs) / even(&image));
            assert!(within >= 0.99 && found <= 1.001, "{calm}: {within}, {found} of even samples");
        }
    }

    /// All pixels get samples if what that wastes takes no longer than a look, and else those that need them.
    #[test]
    fn short_passes_are_of_all_pixels() {
        let image = image(|x, _| (TAKEN, if x < 8 { 0.02 } else { 0.002 }));
        let next = |paths_of_look| adaptive(MOST).look(&image, TAKEN, paths_of_look);
        let Next::All(all) = next(u64::MAX) else { panic!("not of all") };
        let needs = needs(&adaptive(MOST), &image);
        let wasted: u32 = needs.iter().map(|need| all - (need.ceil() as u32).clamp(TAKEN, all)).sum();
        let paths = u64::from(wasted * HALF);
        assert!(wasted > 0 && matches!(next(paths), Next::All(spp) if spp == all));
        assert!(matches!(next(paths - 1), Next::Round(_)));
    }

    #[test]
    fn rounds_have_items_enough_and_not_too_many() {
        let of_items = [
            (0, 8),
            (8, 8),
            (16, 16),
            (31, 16),
            (128, 128),
            (1 << 12, 128),
            (1 << 13, 256),
            (1 << 30, 1 << 20),
        ];
        for (samples, expected) in of_items {
            assert_eq!(per_item(samples * ITEMS), expected, "{samples} for each of {ITEMS}");
        }
    }

    /// The end is when enough pixels are within the bound, or have all samples there may be, and not before.
    #[test]
    fn looks_go_on_until_enough_pixels_are_within_the_bound() {
        let is_done = |image: &ImageEstimate| matches!(adaptive(MOST).look(image, TAKEN, 0), Next::Done);
        let all = |samples, stderr| image(|_, _| (samples, stderr));
        assert!(is_done(&all(TAKEN, 0.01)));
        // By as little as can be, and where half of the samples were rejected.
        assert!(!is_done(&all(TAKEN, 0.01_f32.next_up())) && !is_done(&all(TAKEN / 2, 0.0101)));
        let noisy = |n: u32| image(|x, y| (TAKEN, if y * SIZE[0] + x < n { 0.011 } else { 0.009 }));
        let enough = SIZE[0] * SIZE[1] / 100;
        assert!(is_done(&noisy(enough)) && !is_done(&noisy(enough + 1)));
        assert!(matches!(adaptive(TAKEN).look(&all(TAKEN, 0.02), TAKEN, 0), Next::Done));
        // What has all samples that there may be counts as well.
        let mut spent = adaptive(2 * TAKEN);
        let pixels = |first: u32, n: u32| {
            move |x: u32, y: u32| y < 4 && (first..first + n).contains(&(4 * (x - x % 4) + 4 * y + x % 4))
        };
        let [of_spent, open] = [pixels(0, 16), pixels(16, 26)];
        spent.ends[..2].fill(2 * TAKEN);
        let image = image(|x, y| (TAKEN, if of_spent(x, y) || open(x, y) { 0.0101 } else { 0.009 }));
        assert!(!matches!(spent.look(&image, TAKEN, 0), Next::Done));
    }

    /// Pixels that no number of samples brings within the bound cost no more than their halves.
    #[test]
    fn what_is_out_of_reach_costs_only_itself() {
        let most = 8 * TAKEN;
        let column = |half: u32| half / 2 % (half_count(SIZE[0], 1) / 2);
        for hopeless in [|x: u32, _: u32| x < 8, |x: u32, y: u32| x % 4 == 1 && y % 4 == 1 && x < 32] {
            let image = image(|x, y| (TAKEN, if hopeless(x, y) { 1.0 } else { 0.02 }));
            let needs = needs(&adaptive(most), &image);
            let of_right =
                (0..).zip(&needs).filter(|(half, _)| column(*half) >= 8).map(|(_, need)| need / TAKEN as f32);
            let of_right: Vec<f32> = of_right.collect();
            assert!(of_right.iter().all(|need| (3.9..4.1).contains(need)), "{of_right:?}");
        }
        let image = image(|x, _| (TAKEN, if x < 8 { 1.0 } else { 0.02 }));
        let needs = needs(&adaptive(most), &image);
        assert!((0..).zip(&needs).all(|(half, need)| column(half) >= 2 || *need == most as f32));
        // Where nothing is known of noise, nothing is asked for.
        let unknown = self::image(|x, _| if x < 8 { (0, 0.0) } else { (TAKEN, 0.009) });
        assert!(matches!(adaptive(most).look(&unknown, TAKEN, 0), Next::Done));
    }
}
