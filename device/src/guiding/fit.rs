//! Fitting mixtures to records.
//!
//! Lobes are found by expectation maximization, weighted by what records have brought (Vorba et al. 2014, "On-line Learning of
//! Parametric Mixture Models for Light Transport Simulation"), and then their probabilities and that of the BSDF, such that the second
//! moment of what they bring is as small as they can make it.

use glam::Vec3;
use primitives::Ptr;

use super::mixture::{LOBES, Viewpoint};
use super::tree::Span;
use super::{Mixture, Record, vmf};
use crate::arch::{max, min, read, sqrt, write};
use crate::bvh::Arch;
use crate::function::{Count, Function};
use crate::math::ln;
use crate::rng::{pcg4d, uniform};
use crate::row::{Row, each_of_row, sum};

/// Records that are looked at, at most, in each region.
const MOST: u32 = 1 << 13;

/// Rounds of expectation maximization in which directions are those from the pivot to what records have seen.
const ROUNDS: u32 = 6;

/// Rounds after that, in which they are such as the lobes have it.
const LAST_ROUNDS: u32 = 2;

/// Rounds in which probabilities are improved.
const WEIGHT_ROUNDS: u32 = 4;

/// Part of all that one record may make up: it may have been luck.
const MOST_PART: f32 = 0.03;

/// The same for [`Mixture::scattered`]: too little there is worse than too much.
const MOST_OF_SCATTERED: f32 = 0.1;

/// The most that photons count in all, relative to what paths have brought: where they land is known, but not how much they bring.
const PHOTONS: f32 = 1.0;

/// Least probability of the BSDF.
const LEAST_BSDF: f32 = 0.2;

/// The records of regions, and where their mixtures go.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct FitArgs {
    /// All records.
    pub records: Ptr<Record>,
    /// Numbers of them, sorted by their keys.
    pub numbers: Ptr<u32>,
    /// Records of each region.
    pub regions: Ptr<Span>,
    /// Number of regions.
    pub region_count: Ptr<u32>,
    /// Mixtures of the regions.
    pub mixtures: Ptr<Mixture>,
    /// Most regions.
    pub most_regions: u32,
}

impl Count for FitArgs {
    #[inline(always)]
    fn count(&self) -> u32 {
        self.most_regions
    }

    #[inline(always)]
    fn threads(&self) -> u32 {
        self.most_regions * team::GPU_SIZE
    }
}

/// The stage.
pub struct Fit;

impl Function for Fit {
    type Args = FitArgs;

    /// Fits a mixture to the records of one region; on a GPU, a warp does so.
    ///
    /// # Safety
    /// The pointers in `args` are valid. On a GPU whole warps call this together.
    #[inline(always)]
    #[cfg_attr(
        not(target_arch = "nvptx64"),
        expect(clippy::modulo_one, reason = "a team is one thread there")
    )]
    unsafe fn run<A: Arch>(i: u32, args: &FitArgs) {
        let (region, lane) = (i / team::SIZE, i % team::SIZE);
        // SAFETY: as the caller promised; the region is this warp's.
        unsafe {
            if region >= read(args.region_count.at(0)) {
                return;
            }
            let Span { first, end } = read(args.regions.at(region));
            let stride = (end - first).div_ceil(MOST);
            let data = Data { records: args.records, numbers: args.numbers, first, end, stride, lane };
            let mixture = data.fit();
            if lane == 0 {
                write(args.mixtures.at(region), mixture);
            }
        }
    }
}

/// The threads that fit a mixture together.
mod team {
    /// Threads on a GPU.
    pub(super) const GPU_SIZE: u32 = 32;

    #[cfg(target_arch = "nvptx64")]
    pub(super) const SIZE: u32 = GPU_SIZE;
    #[cfg(not(target_arch = "nvptx64"))]
    pub(super) const SIZE: u32 = 1;

    /// The sum over all threads.
    ///
    /// # Safety
    /// All threads of the team call this together.
    #[inline(always)]
    pub(super) unsafe fn sum(x: f32) -> f32 {
        #[cfg(target_arch = "nvptx64")]
        // SAFETY: as the caller promised.
        let x = unsafe { cuda_std::warp::reduce(x, |a, b| a + b) };
        x
    }

    /// The least word over all threads.
    ///
    /// # Safety
    /// As [`sum`].
    #[inline(always)]
    pub(super) unsafe fn least(x: u64) -> u64 {
        #[cfg(target_arch = "nvptx64")]
        // SAFETY: as the caller promised.
        let x = unsafe { cuda_std::warp::reduce(x, |a, b| if a < b { a } else { b }) };
        x
    }
}

/// Lobes as they are fitted, in registers.
#[derive(Clone, Copy)]
struct Lobes {
    mean: [[f32; LOBES]; 3],
    kappa: [f32; LOBES],
    weight: [f32; LOBES],
    peak: [f32; LOBES],
}

impl Lobes {
    /// Densities of the lobes, each in its direction of `w`, with their probabilities.
    #[inline(always)]
    fn densities(&self, w: &[[f32; LOBES]; 3]) -> [f32; LOBES] {
        let mut densities = [0.0; LOBES];
        each_of_row!(k => {
            let cos = self.mean[0][k] * w[0][k] + self.mean[1][k] * w[1][k] + self.mean[2][k] * w[2][k];
            densities[k] = self.peak[k] * vmf::falloff(self.kappa[k], 1.0 - cos);
        });
        densities
    }

    /// The step that takes the lobes to what records, shared among them, have brought: of each the sum, and that of directions as far.
    ///
    /// # Safety
    /// All threads of a team call this together, each with the sums over its own records.
    #[inline(always)]
    unsafe fn maximize(&mut self, sums: [f32; LOBES], sums_of_w: [[f32; LOBES]; 3], total: &Total) {
        let mean = total.sum / total.count;
        let (prior, prior_of_direction) = (PRIOR * mean, PRIOR_OF_DIRECTION * mean);
        each_of_row!(k => {
            // SAFETY: as the caller promised.
            let (r, x, y, z) = unsafe {
                (
                    team::sum(sums[k]),
                    team::sum(sums_of_w[0][k]),
                    team::sum(sums_of_w[1][k]),
                    team::sum(sums_of_w[2][k]),
                )
            };
            let length = sqrt(x * x + y * y + z * z);
            if length > 0.0 {
                let per_length = 1.0 / length;
                self.mean[0][k] = x * per_length;
                self.mean[1][k] = y * per_length;
                self.mean[2][k] = z * per_length;
            }
            self.kappa[k] = vmf::concentration(length / (r + prior_of_direction));
            self.weight[k] = (r + prior) / (total.sum + LOBES as f32 * prior);
        });
        self.put_peaks();
    }

    #[inline(always)]
    fn put_peaks(&mut self) {
        each_of_row!(k => {
            self.peak[k] = self.weight[k] * vmf::peak(self.kappa[k]);
        });
    }
}

/// The records of a region, of which a thread takes some.
struct Data {
    records: Ptr<Record>,
    numbers: Ptr<u32>,
    first: u32,
    end: u32,
    /// Every how many are looked at.
    stride: u32,
    lane: u32,
}

/// Sums over the records of a region.
struct Total {
    /// Number of records that have brought something.
    count: f32,
    /// Number of times that paths have scattered.
    all: f32,
    /// Sum of their contributions, each no more than `most`.
    sum: f32,
    /// Their mean over all times, of which each counts more.
    scattered: f32,
    /// The most that one counts.
    most: f32,
    /// Factor on those of photons.
    photons: f32,
    /// Their mean place.
    pivot: Vec3,
}

impl Total {
    /// What a record counts.
    #[inline(always)]
    fn counted(&self, record: &Record) -> f32 {
        let factor = if record.is_photon() { self.photons } else { 1.0 };
        min(record.contribution * factor, self.most)
    }
}

impl Data {
    /// The first record of this thread, and the step from one to the next.
    #[inline(always)]
    fn steps(&self) -> (u32, u32) {
        (self.first + self.lane * self.stride, team::SIZE * self.stride)
    }

    /// # Safety
    /// There is the record.
    #[inline(always)]
    unsafe fn record(&self, i: u32) -> Record {
        // SAFETY: as the caller promised.
        unsafe { read(self.records.at(read(self.numbers.at(i)))) }
    }

    /// A mixture for the records.
    ///
    /// # Safety
    /// They are there, and all threads of a team call this together.
    #[inline(always)]
    unsafe fn fit(&self) -> Mixture {
        // SAFETY: as the caller promised.
        unsafe {
            let total = self.total();
            let mut lobes = self.seeds(&total);
            let mut round = 0;
            while round < ROUNDS {
                lobes = self.improved(lobes, None, &total);
                round += 1;
            }
            let per_distance = self.distances(&lobes, &total);
            let mut round = 0;
            while round < LAST_ROUNDS {
                lobes = self.improved(lobes, Some(&per_distance), &total);
                round += 1;
            }
            let Lobes { mean, kappa, weight, peak } = lobes;
            let mixture = Mixture {
                mean: mean.map(Row),
                kappa: Row(kappa),
                weight: Row(weight),
                peak: Row(peak),
                per_distance: Row(per_distance),
                pivot: total.pivot,
                bsdf: 0.5,
                scattered: total.scattered,
                moments: [0.0; 2],
                reserved: 0.0,
            };
            self.weighted(mixture, &total)
        }
    }

    /// # Safety
    /// As [`Data::fit`].
    #[inline(always)]
    unsafe fn total(&self) -> Total {
        let (begin, step) = self.steps();
        let mut total = Total {
            count: 0.0,
            all: 0.0,
            sum: 0.0,
            scattered: 0.0,
            most: f32::MAX,
            photons: 1.0,
            pivot: Vec3::ZERO,
        };
        let mut round = 0;
        // A bound from sums that are bounded less.
        while round < 3 {
            let (mut count, mut all, mut sums, mut place) = (0.0, 0.0, [0.0; 2], Vec3::ZERO);
            let mut i = begin;
            while i < self.end {
                // SAFETY: as the caller promised.
                let record = unsafe { self.record(i) };
                let (x, is_photon) = (total.counted(&record), record.is_photon());
                let is_lit = x > 0.0;
                count += if is_lit { 1.0 } else { 0.0 };
                all += if is_photon {
                    0.0
                } else if is_lit {
                    1.0
                } else {
                    Record::UNLIT as f32
                };
                sums[0] += if is_photon { 0.0 } else { x };
                sums[1] += if is_photon { x } else { 0.0 };
                place += if is_lit { record.p } else { Vec3::ZERO };
                i += step;
            }
            // SAFETY: as the caller promised.
            let of_photons = unsafe {
                (total.count, total.all, total.sum) = (team::sum(count), team::sum(all), team::sum(sums[0]));
                let place = Vec3::new(team::sum(place.x), team::sum(place.y), team::sum(place.z));
                total.pivot = place * (1.0 / max(total.count, 1.0));
                team::sum(sums[1])
            };
            if round == 0 && total.sum > 0.0 {
                total.photons = min(PHOTONS * total.sum / max(of_photons, f32::MIN_POSITIVE), 1.0);
            }
            total.scattered = if round == 1 { total.sum / max(total.all, 1.0) } else { total.scattered };
            total.sum += of_photons * if round == 0 { total.photons } else { 1.0 };
            let part = if round == 0 { MOST_OF_SCATTERED } else { MOST_PART };
            total.most = max(total.sum * part, f32::MIN_POSITIVE);
            round += 1;
        }
        total
    }

    /// The direction of a record as from the pivot.
    #[inline(always)]
    fn seen(record: &Record, total: &Total) -> Vec3 {
        let from = Viewpoint::new(record.p, total.pivot);
        let w = Vec3::from_array(from.towards(record.direction().to_array(), record.per_distance));
        w * (1.0 / sqrt(w.dot(w)))
    }

    /// The direction of a record as from the pivot, and the part that each lobe has in what it counts: one direction for all lobes, to
    /// what the record has seen, or one for each, if they point to places, given by 1 over their distances.
    #[inline(always)]
    fn shared(
        record: &Record,
        lobes: &Lobes,
        per_distance: Option<&[f32; LOBES]>,
        total: &Total,
    ) -> ([[f32; LOBES]; 3], [f32; LOBES]) {
        let mut w = Self::seen(record, total).to_array().map(|c| [c; LOBES]);
        if let Some(per_distance) = per_distance {
            let (from, direction) = (Viewpoint::new(record.p, total.pivot), record.direction().to_array());
            each_of_row!(k => {
                let [x, y, z] = from.towards(direction, per_distance[k]);
                let per_length = 1.0 / sqrt(x * x + y * y + z * z);
                (w[0][k], w[1][k], w[2][k]) = (x * per_length, y * per_length, z * per_length);
            });
        }
        let mut parts = lobes.densities(&w);
        let part = total.counted(record) / max(sum(&parts), f32::MIN_POSITIVE);
        each_of_row!(k => {
            parts[k] *= part;
        });
        (w, parts)
    }

    /// Lobes around directions that are drawn by what records have brought, the first to come of those that come at such rates; every
    /// other lobe also by how rare that is without a guide, for little light from a narrow range of directions makes most of the noise.
    ///
    /// # Safety
    /// As [`Data::fit`].
    #[inline(always)]
    unsafe fn seeds(&self, total: &Total) -> Lobes {
        let (begin, step) = self.steps();
        let mut soonest = [u64::MAX; LOBES];
        let mut i = begin;
        while i < self.end {
            // SAFETY: as the caller promised.
            let record = unsafe { self.record(i) };
            let x = total.counted(&record);
            // Against what it would be by the BSDF alone.
            let surprise = sqrt(x * record.pdf.abs() / max(record.bsdf_pdf, f32::MIN_POSITIVE));
            // Those that have brought nothing never come.
            let per_rates = [min(1.0 / x, f32::MAX), min(1.0 / (x * surprise), f32::MAX)];
            let place = i - self.first;
            let [a, b, c, d] = pcg4d([place, 0x9e1d, 1, 2]);
            let [e, f, g, h] = pcg4d([place, 0x9e1d, 3, 4]);
            let words = [a, b, c, d, e, f, g, h];
            each_of_row!(k => {
                let time = -ln(1.0 - uniform(words[k])) * per_rates[k % 2];
                let word = u64::from(time.to_bits()) << 32 | u64::from(i);
                soonest[k] = if word < soonest[k] { word } else { soonest[k] };
            });
            i += step;
        }
        let mut lobes = Lobes {
            mean: [[0.0; LOBES]; 3],
            kappa: [FIRST_KAPPA; LOBES],
            weight: [1.0 / LOBES as f32; LOBES],
            peak: [0.0; LOBES],
        };
        each_of_row!(k => {
            // SAFETY: as the caller promised; the word has the number of a record.
            let w = unsafe { Self::seen(&self.record(team::least(soonest[k]) as u32), total) };
            (lobes.mean[0][k], lobes.mean[1][k], lobes.mean[2][k]) = (w.x, w.y, w.z);
        });
        lobes.put_peaks();
        lobes
    }

    /// The lobes after a round of expectation maximization, with directions as [`Data::shared`] has them.
    ///
    /// # Safety
    /// As [`Data::fit`].
    #[inline(always)]
    unsafe fn improved(&self, mut lobes: Lobes, per_distance: Option<&[f32; LOBES]>, total: &Total) -> Lobes {
        let (begin, step) = self.steps();
        let (mut sums, mut sums_of_w) = ([0.0; LOBES], [[0.0; LOBES]; 3]);
        let mut i = begin;
        while i < self.end {
            // SAFETY: as the caller promised.
            let record = unsafe { self.record(i) };
            let (w, r) = Self::shared(&record, &lobes, per_distance, total);
            each_of_row!(k => {
                sums[k] += r[k];
                sums_of_w[0][k] += r[k] * w[0][k];
                sums_of_w[1][k] += r[k] * w[1][k];
                sums_of_w[2][k] += r[k] * w[2][k];
            });
            i += step;
        }
        // SAFETY: as the caller promised.
        unsafe { lobes.maximize(sums, sums_of_w, total) };
        lobes
    }

    /// 1 over the distances of what the lobes point to: the slopes of lines through directions over places, from the pivot and across the
    /// lobe. They are those of images that lenses and mirrors make, which no record has seen.
    ///
    /// # Safety
    /// As [`Data::fit`].
    #[inline(always)]
    unsafe fn distances(&self, lobes: &Lobes, total: &Total) -> [f32; LOBES] {
        let (begin, step) = self.steps();
        let (mut products, mut squares) = ([0.0; LOBES], [0.0; LOBES]);
        let mut i = begin;
        while i < self.end {
            // SAFETY: as the caller promised.
            let record = unsafe { self.record(i) };
            let (_, r) = Self::shared(&record, lobes, None, total);
            let (w, place) = (record.direction(), record.p - total.pivot);
            each_of_row!(k => {
                let mean = Vec3::new(lobes.mean[0][k], lobes.mean[1][k], lobes.mean[2][k]);
                let across = place - mean * mean.dot(place);
                products[k] -= r[k] * (w - mean).dot(across);
                squares[k] += r[k] * across.dot(across);
            });
            i += step;
        }
        let mut per_distance = [0.0; LOBES];
        each_of_row!(k => {
            // SAFETY: as the caller promised.
            let (product, square) = unsafe { (team::sum(products[k]), team::sum(squares[k])) };
            per_distance[k] = product / max(square, f32::MIN_POSITIVE);
        });
        per_distance
    }

    /// The mixture with other probabilities, those by which Σ X² q / p is least: X is what a record has brought, q its density, and p that of
    /// the mixture and the BSDF together. By the multiplicative algorithm with the exponent ½, of which each round makes it less (Yu 2010,
    /// "Monotonic Convergence of a General Algorithm for Computing Optimal Designs").
    ///
    /// # Safety
    /// As [`Data::fit`].
    #[inline(always)]
    unsafe fn weighted(&self, mut mixture: Mixture, total: &Total) -> Mixture {
        let (begin, step) = self.steps();
        // With the BSDF's, their sum is 1.
        let mut weights = mixture.weight.0;
        each_of_row!(k => {
            weights[k] *= 1.0 - mixture.bsdf;
        });
        let mut bsdf = mixture.bsdf;
        let (mut moment, mut moment_of_bsdf) = (0.0, 0.0);
        let mut round = 0;
        while round < WEIGHT_ROUNDS {
            let (mut gains, mut gain_of_bsdf) = ([0.0; LOBES], 0.0);
            (moment, moment_of_bsdf) = (0.0, 0.0);
            let mut i = begin;
            while i < self.end {
                // SAFETY: as the caller promised.
                let record = unsafe { self.record(i) };
                let (w, x) = (record.direction(), total.counted(&record));
                let densities = mixture.own_densities(record.p, w);
                let mut p = bsdf * record.bsdf_pdf;
                each_of_row!(k => {
                    p += weights[k] * densities[k];
                });
                let square = x * x * record.pdf.abs();
                let gain = square / max(p * p, f32::MIN_POSITIVE);
                moment += square / max(p, f32::MIN_POSITIVE);
                moment_of_bsdf += square / max(record.bsdf_pdf, f32::MIN_POSITIVE);
                each_of_row!(k => {
                    gains[k] += gain * densities[k];
                });
                gain_of_bsdf += gain * record.bsdf_pdf;
                i += step;
            }
            // SAFETY: as the caller promised.
            bsdf *= sqrt(unsafe { team::sum(gain_of_bsdf) });
            let mut all = bsdf;
            each_of_row!(k => {
                // SAFETY: as the caller promised.
                weights[k] *= sqrt(unsafe { team::sum(gains[k]) });
                all += weights[k];
            });
            let per_all = 1.0 / max(all, f32::MIN_POSITIVE);
            bsdf *= per_all;
            each_of_row!(k => {
                weights[k] *= per_all;
            });
            round += 1;
        }
        // SAFETY: as the caller promised.
        mixture.moments = unsafe { [team::sum(moment), team::sum(moment_of_bsdf)] };
        let mut all = 0.0;
        each_of_row!(k => {
            all += weights[k];
        });
        mixture.bsdf = max(1.0 - all, LEAST_BSDF);
        let has_learnt = all > 0.0 && all < 2.0;
        if !has_learnt {
            mixture.bsdf = 1.0;
        }
        each_of_row!(k => {
            mixture.weight.0[k] = if has_learnt { weights[k] / all } else { 0.0 };
            mixture.peak.0[k] = mixture.weight.0[k] * vmf::peak(mixture.kappa.0[k]);
            mixture.per_distance.0[k] = if has_learnt { mixture.per_distance.0[k] } else { 0.0 };
        });
        mixture
    }
}

/// Concentration of lobes at first: half of each is within 20°.
const FIRST_KAPPA: f32 = 12.0;

/// Records of mean contribution that lobes are taken to have beside their own.
const PRIOR: f32 = 0.2;

/// Those that they are taken to have of all directions.
const PRIOR_OF_DIRECTION: f32 = 0.02;
