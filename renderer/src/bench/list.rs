//! List of all benchmarks.

use bytemuck::Pod;
use torrance_gpu::backend::cpu::Cpu;
use torrance_gpu::primitives::{
    ArgMax, Ascending, Below, Border, BoxBlur, Convolution, CopyElements, Fill, Form, Gather, Histogram,
    Luminance, MOST, Mean, MergeSort, Narrow, PartitionByKey, RadixSort, Reduce, Reducible, RunBuffers,
    RunLength, Scan, Scatter, Select, SplitSort, Sum, SummedArea, Tabulated, Transpose, Whole, Wide,
};

use super::case::{Array, Prepared, each, holding, prepared, zeros};
use super::{Family, MeasureError, TimedBackend};

/// A primitive that is measured.
pub(crate) struct Benchmark<B: TimedBackend> {
    /// Its name. A baseline has its counterpart under the same.
    pub name: &'static str,
    /// One-line description.
    pub does: &'static str,
    /// The chart that shows it.
    pub family: Family,
    /// Bytes that must at least be read and written, an element.
    pub bytes: f64,
    /// Makes its buffers for so many elements.
    pub(super) prepare: Prepare<B>,
}

type Prepare<B> = fn(&mut B, u32) -> PreparedResult<B>;
type PreparedResult<B> = Result<Box<dyn Prepared<B>>, MeasureError>;

/// The list. To measure one more: an entry here, and below a function that makes its buffers and says how it is called.
pub(crate) fn benchmarks<B: TimedBackend>() -> Vec<Benchmark<B>> {
    let families = [
        Family::Memory.benchmarks([
            ("memcpy", "copy, by the machine's own means", 8.0, memcpy),
            ("copy", "copy, by a kernel", 8.0, copy),
            ("fill", "write the same number everywhere", 4.0, fill),
            ("gather", "read from anywhere", 12.0, gather),
            ("scatter", "write to anywhere", 12.0, scatter),
        ]),
        Family::Reductions.benchmarks([
            ("reduce_sum_u32", "sum of u32", 4.0, |b, n| reduce::<B, Sum<u32>>(b, n, numbers)),
            ("reduce_sum_f32", "sum of f32", 4.0, |b, n| reduce::<B, Sum<f32>>(b, n, exact)),
            ("reduce_mean_f32", "mean of f32", 4.0, |b, n| reduce::<B, Mean>(b, n, exact)),
            ("reduce_argmax_f32", "index of the largest f32", 4.0, |b, n| {
                reduce::<B, ArgMax<f32>>(b, n, exact)
            }),
            ("histogram", "count each of 256 numbers", 4.0, histogram),
        ]),
        Family::Scans.benchmarks([
            ("scan_look_back", "prefix sums, in one pass", 8.0, |b, n| scan(b, n, Form::LookBack)),
            ("scan_three_phase", "prefix sums, of blocks first", 8.0, |b, n| scan(b, n, Form::ThreePhase)),
            ("scan_blelloch", "prefix sums, up and down a tree", 8.0, |b, n| scan(b, n, Form::Blelloch)),
            ("scan_hillis_steele", "prefix sums, in log n steps", 8.0, |b, n| scan(b, n, Form::HillisSteele)),
        ]),
        Family::Selections.benchmarks([
            ("compact_if", "keep numbers below a bound, half of them, in order", 6.0, compact_if),
            ("compact_flagged", "keep what is flagged, half, in order", 7.0, |b, n| {
                flagged(b, n, Select::compact())
            }),
            ("partition_flagged", "what is flagged first, the rest from the end on", 9.0, |b, n| {
                flagged(b, n, Select::partition())
            }),
            ("partition_by_key", "group pairs by one of 256 keys, in order", 16.0, partition_by_key),
            ("run_length", "find runs of equal numbers, 4.6 long", 4.0 + 12.0 * RUNS, run_length),
        ]),
        Family::Sorts.benchmarks([
            ("radix_sort_keys", "sort u32 by 8 bits at a time", 8.0, radix_sort_keys),
            ("radix_sort_pairs", "the same, with a value each", 16.0, |b, n| radix_sort_pairs(b, n, 32)),
            ("radix_sort_pairs_8bit", "the same, by the lowest 8 bits", 16.0, |b, n| {
                radix_sort_pairs(b, n, 8)
            }),
            ("split_sort_pairs", "sort by one bit at a time, with a value each", 16.0, split_sort_pairs),
            ("merge_sort_pairs", "sort by comparisons, with a value each", 16.0, merge_sort_pairs),
        ]),
        Family::Images.benchmarks([
            ("transpose", "swap rows and columns", 8.0, transpose),
            ("convolution", "weights for 7 × 7 pixels, along x and y", 8.0, convolution),
            ("luminance", "brightness of pixels of 4 f32", 20.0, luminance),
        ]),
        Family::Tables.benchmarks([
            ("summed_area", "summed-area table of f32", 8.0, |b, n| summed_area::<B, Narrow>(b, n, exact)),
            ("summed_area_f64", "the same, with f64 entries", 12.0, |b, n| {
                summed_area::<B, Wide>(b, n, exact)
            }),
            ("summed_area_u64", "the same, of u64", 16.0, |b, n| {
                summed_area::<B, Whole<u64>>(b, n, |n| filled(n, u64::from))
            }),
            ("box_blur", "means over 17 × 17 pixels, from a table", 12.0, box_blur),
        ]),
    ];
    families.into_iter().flatten().collect()
}

/// A name, a description, bytes, and what makes the buffers: see the fields of [`Benchmark`].
type Row<B> = (&'static str, &'static str, f64, Prepare<B>);

impl Family {
    /// Benchmarks of this family.
    fn benchmarks<B: TimedBackend, const N: usize>(self, rows: [Row<B>; N]) -> Vec<Benchmark<B>> {
        let family = self;
        let benchmark = |(name, does, bytes, prepare)| Benchmark { name, does, family, bytes, prepare };
        rows.into_iter().map(benchmark).collect()
    }
}

/// Names of all primitives.
pub fn names() -> Vec<&'static str> {
    benchmarks::<Cpu>().iter().map(|b| b.name).collect()
}

/// Names and descriptions of all primitives.
pub fn catalogue() -> Vec<(&'static str, &'static str)> {
    benchmarks::<Cpu>().iter().map(|b| (b.name, b.does)).collect()
}

/// The primitives of these names, in the order of the list.
pub(crate) fn named<B: TimedBackend>(names: &[&str]) -> Vec<Benchmark<B>> {
    benchmarks().into_iter().filter(|b| names.contains(&b.name)).collect()
}

fn memcpy<B: TimedBackend>(b: &mut B, n: u32) -> PreparedResult<B> {
    let buffers = (holding(b, numbers(n)?)?, zeros::<B, u32>(b, n)?, 0);
    prepared(b, n, buffers, |b, input, output, _, _| b.copy(input, output))
}

fn reduce<B: TimedBackend, R: Reducible>(b: &mut B, n: u32, input: Input<R::Item>) -> PreparedResult<B>
where
    R::Output: Pod + Send + Sync,
{
    let reduce = Reduce::<R>::default();
    let buffers = (holding(b, input(n)?)?, zeros(b, 1)?, reduce.temp_bytes(n));
    prepared(b, n, buffers, move |b, input, output, length, temp| reduce.run(b, input, output, length, temp))
}

fn scan<B: TimedBackend>(b: &mut B, n: u32, form: Form) -> PreparedResult<B> {
    let scan = Scan::<Sum<u32>>::exclusive().in_form(form);
    let buffers = (holding(b, numbers(n)?)?, zeros(b, n)?, scan.temp_bytes(n));
    prepared(b, n, buffers, move |b, input, output, length, temp| scan.run(b, input, output, length, temp))
}

fn compact_if<B: TimedBackend>(b: &mut B, n: u32) -> PreparedResult<B> {
    let select = Select::compact();
    let outputs = (zeros(b, n)?, zeros(b, 1)?);
    let buffers = (holding(b, numbers(n)?)?, outputs, select.temp_bytes(n));
    prepared(b, n, buffers, move |b, input, (output, count), length, temp| {
        select.when(b, Below(1 << 31), input, output, count, length, temp)
    })
}

fn flagged<B: TimedBackend>(b: &mut B, n: u32, select: Select) -> PreparedResult<B> {
    let inputs = (holding(b, numbers(n)?)?, holding(b, filled(n, |x| (x >> 31) as u8)?)?);
    let buffers = (inputs, (zeros(b, n)?, zeros(b, 1)?), select.temp_bytes(n));
    prepared(b, n, buffers, move |b, (input, flags), (output, count), length, temp| {
        select.flagged(b, input, flags, output, count, length, temp)
    })
}

/// Runs that begin at an element: of bits of which an eighth are set.
const RUNS: f64 = 2.0 * (1.0 / 8.0) * (7.0 / 8.0);

/// CUB's counterpart does not tell where runs start.
fn run_length<B: TimedBackend>(b: &mut B, n: u32) -> PreparedResult<B> {
    let input = holding(b, filled(n, |x| u32::from(x % 8 == 0))?)?;
    let mut starts = zeros::<B, u32>(b, n)?;
    let outputs = (zeros::<B, u32>(b, n)?, zeros::<B, u32>(b, n)?, zeros::<B, u32>(b, 1)?);
    let buffers = (input, outputs, RunLength.temp_bytes(n));
    prepared(b, n, buffers, move |b, input, (values, lengths, count), length, temp| {
        let runs = RunBuffers::<B, u32> { values, starts: &mut starts, lengths, count };
        RunLength.run(b, input, runs, length, temp)
    })
}

fn histogram<B: TimedBackend>(b: &mut B, n: u32) -> PreparedResult<B> {
    let histogram = Histogram::values(256);
    let buffers = (holding(b, filled(n, |x| x % 256)?)?, zeros(b, 256)?, 0);
    prepared(b, n, buffers, move |b, input, counts, length, _| histogram.run(b, input, counts, length))
}

fn radix_sort_keys<B: TimedBackend>(b: &mut B, n: u32) -> PreparedResult<B> {
    let sort = RadixSort::<u32>::ascending();
    let buffers = (holding(b, numbers(n)?)?, zeros(b, n)?, sort.temp_bytes(n));
    prepared(b, n, buffers, move |b, input, output, length, temp| sort.run(b, input, output, length, temp))
}

fn radix_sort_pairs<B: TimedBackend>(b: &mut B, n: u32, bits: u32) -> PreparedResult<B> {
    let sort = RadixSort::<u32>::ascending().by_bits(0..bits);
    let buffers = (pairs(b, n)?, (zeros(b, n)?, zeros(b, n)?), sort.pairs_temp_bytes::<u32>(n));
    prepared(b, n, buffers, move |b, (keys, values), (sorted, moved), length, temp| {
        sort.run_pairs::<_, u32>(b, (keys, values), (sorted, moved), length, temp)
    })
}

fn partition_by_key<B: TimedBackend>(b: &mut B, n: u32) -> PreparedResult<B> {
    let outputs = (zeros(b, n)?, zeros(b, n)?, zeros(b, PartitionByKey::KEYS)?);
    let buffers = (pairs(b, n)?, outputs, PartitionByKey.temp_bytes::<u32>(n));
    prepared(b, n, buffers, |b, (keys, values), (sorted, moved, starts), length, temp| {
        PartitionByKey.run::<_, u32>(b, (keys, values), (sorted, moved), starts, length, temp)
    })
}

fn split_sort_pairs<B: TimedBackend>(b: &mut B, n: u32) -> PreparedResult<B> {
    let buffers = (pairs(b, n)?, (zeros(b, n)?, zeros(b, n)?), 0);
    prepared(b, n, buffers, |b, (keys, values), (sorted, moved), length, _| {
        SplitSort.run_pairs::<_, u32>(b, (keys, values), (sorted, moved), length)
    })
}

type Pairs<B> = (Array<B, u32>, Array<B, u32>);

/// Keys without an order, and of each its index.
fn pairs<B: TimedBackend>(b: &mut B, n: u32) -> Result<Pairs<B>, MeasureError> {
    Ok((holding(b, numbers(n)?)?, holding(b, each(n, |i| i)?)?))
}

fn merge_sort_pairs<B: TimedBackend>(b: &mut B, n: u32) -> PreparedResult<B> {
    let sort = MergeSort::<Ascending<u32>, u32>::default();
    let buffers = (pairs(b, n)?, (zeros(b, n)?, zeros(b, n)?), sort.temp_bytes(n));
    prepared(b, n, buffers, move |b, (keys, values), (sorted, moved), length, temp| {
        sort.run(b, (keys, values), (sorted, moved), length, temp)
    })
}

fn copy<B: TimedBackend>(b: &mut B, n: u32) -> PreparedResult<B> {
    let copy = CopyElements::default();
    let buffers = (holding(b, numbers(n)?)?, zeros::<B, u32>(b, n)?, 0);
    prepared(b, n, buffers, move |b, from, to, length, _| copy.run::<_, u32>(b, from, to, length))
}

fn fill<B: TimedBackend>(b: &mut B, n: u32) -> PreparedResult<B> {
    let fill = Fill::new(7_u32);
    let buffers = (zeros::<B, u32>(b, 0)?, zeros(b, n)?, 0);
    prepared(b, n, buffers, move |b, _, to, length, _| fill.run(b, to, length))
}

fn gather<B: TimedBackend>(b: &mut B, n: u32) -> PreparedResult<B> {
    let inputs = (holding(b, numbers(n)?)?, holding(b, filled(n, |x| x % n)?)?);
    let buffers = (inputs, zeros(b, n)?, 0);
    prepared(b, n, buffers, |b, (from, indices), to, length, _| {
        Gather.run::<_, u32>(b, from, indices, to, length)
    })
}

fn scatter<B: TimedBackend>(b: &mut B, n: u32) -> PreparedResult<B> {
    let inputs = (holding(b, numbers(n)?)?, holding(b, filled(n, |x| x % n)?)?);
    let buffers = (inputs, zeros(b, n)?, 0);
    prepared(b, n, buffers, |b, (from, indices), to, length, _| {
        Scatter.run::<_, u32>(b, from, indices, to, length)
    })
}

/// Width and height of an image of about `n` pixels.
fn image(n: u32) -> (u32, u32) {
    let width = 1 << n.ilog2().div_ceil(2);
    (width, n / width)
}

fn transpose<B: TimedBackend>(b: &mut B, n: u32) -> PreparedResult<B> {
    let (width, height) = image(n);
    let transpose = Transpose { width, height };
    let buffers = (holding(b, numbers(n)?)?, zeros(b, n)?, 0);
    prepared(b, n, buffers, move |b, from, to, _, _| transpose.run::<_, u32>(b, from, to))
}

fn summed_area<B: TimedBackend, T: Tabulated<1>>(
    b: &mut B,
    n: u32,
    pixels: Input<T::Pixel>,
) -> PreparedResult<B> {
    let (width, height) = image(n);
    let table = SummedArea::<T>::new(width, height);
    let buffers = (holding(b, pixels(n)?)?, zeros(b, n)?, table.temp_bytes());
    prepared(b, n, buffers, move |b, image, entries, _, temp| table.run(b, image, entries, temp))
}

/// A box blur from a table of arbitrary numbers, on which its speed does not depend.
fn box_blur<B: TimedBackend>(b: &mut B, n: u32) -> PreparedResult<B> {
    let (width, height) = image(n);
    let blur = BoxBlur::<1> { width, height, radii: [8, 8] };
    let buffers = (holding(b, filled(n, f64::from)?)?, zeros(b, n)?, 0);
    prepared(b, n, buffers, move |b, table, blurred, _, _| blur.run(b, table, blurred))
}

fn convolution<B: TimedBackend>(b: &mut B, n: u32) -> PreparedResult<B> {
    let (width, height) = image(n);
    let convolution = Convolution { width, height, channels: 1, radii: [3, 3], border: Border::Clamp };
    let weights = each(convolution.weights(), |_| 1.0 / 7.0)?;
    let buffers = ((holding(b, exact(n)?)?, holding(b, weights)?), zeros(b, n)?, 0);
    prepared(b, n, buffers, move |b, (image, weights), convolved, _, _| {
        convolution.run(b, image, weights, convolved)
    })
}

fn luminance<B: TimedBackend>(b: &mut B, n: u32) -> PreparedResult<B> {
    const CHANNELS: u32 = 4;
    if n > MOST / CHANNELS {
        let reason = format!("they are pixels of {CHANNELS} numbers, of which it takes {MOST} at most");
        return Err(MeasureError::TooLarge(reason));
    }
    let buffers = (holding(b, exact(n * CHANNELS)?)?, zeros(b, n)?, 0);
    prepared(b, n, buffers, |b, pixels, luminances, length, _| {
        Luminance::<{ CHANNELS as usize }>.run(b, pixels, luminances, length)
    })
}

/// Makes so many elements.
type Input<T> = fn(u32) -> Result<Vec<T>, MeasureError>;

/// Numbers without an order.
fn numbers(n: u32) -> Result<Vec<u32>, MeasureError> {
    filled(n, |x| x)
}

/// Zeros and few ones, so that sums of them are exact in any order.
fn exact(n: u32) -> Result<Vec<f32>, MeasureError> {
    filled(n, |x| if x % 16 == 0 { 1.0 } else { 0.0 })
}

/// `of` numbers without an order.
fn filled<T: Send>(n: u32, of: impl Fn(u32) -> T + Send + Sync) -> Result<Vec<T>, MeasureError> {
    each(n, |i| of(hash(i)))
}

/// A bijection of 32 bits that mixes them (Wellons 2018, "Prospecting for hash functions": lowbias32).
fn hash(x: u32) -> u32 {
    let x = (x ^ (x >> 16)).wrapping_mul(0x7feb_352d);
    let x = (x ^ (x >> 15)).wrapping_mul(0x846c_a68b);
    x ^ (x >> 16)
}

#[cfg(test)]
mod tests {
    use super::*;
    use torrance_plot::chart::ThemeName;

    #[test]
    fn more_pixels_than_luminance_takes_are_too_many() {
        let mut cpu = Cpu::new(Some(1)).unwrap();
        let refused = luminance(&mut cpu, MOST / 4 + 1).err().unwrap();
        let MeasureError::TooLarge(reason) = refused else { panic!("{refused:?}") };
        assert_eq!(reason, "they are pixels of 4 numbers, of which it takes 2147483647 at most");
    }

    #[test]
    fn curves_of_a_panel_differ_in_colour() {
        let theme = ThemeName::Light.theme();
        let all = benchmarks::<Cpu>();
        for family in all.iter().map(|b| b.family) {
            let colors: Vec<_> =
                (0..all.iter().filter(|b| b.family == family).count()).map(|i| theme.series(i)).collect();
            assert!((1..colors.len()).all(|i| !colors[..i].contains(&colors[i])), "{family:?}");
        }
    }

    #[test]
    fn names_are_words_and_told_apart() {
        let mut names = names();
        let is_letter = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        assert!(names.iter().all(|name| name.chars().all(is_letter)), "{names:?}");
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all);
    }
}
