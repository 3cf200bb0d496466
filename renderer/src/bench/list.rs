//! What is measured.

use rayon::prelude::*;

use super::case::{Of, Prepared, holding, prepared, zeros};
use super::{Family, Machine};
use crate::backend::Error;
use crate::backend::cpu::Cpu;
use crate::primitives::{
    Ascending, Below, Border, Convolution, CopyElements, Fill, Form, Gather, Histogram, Luminance, MergeSort,
    Narrow, RadixSort, Reduce, RunBuffers, RunLength, Scan, Scatter, Select, SplitSort, Sum, SummedArea,
    Transpose,
};

/// A primitive that is measured.
pub struct Benchmark<B: Machine> {
    /// Its name. A baseline has its counterpart under the same.
    pub name: &'static str,
    /// The chart that shows it.
    pub family: Family,
    /// Bytes that must at least be read and written, an element.
    pub bytes: f64,
    /// Whether a baseline may leave the same results in another order.
    pub(super) in_any_order: bool,
    /// Makes its buffers for so many elements.
    pub(super) prepare: Prepare<B>,
}

type Prepare<B> = fn(&mut B, u32) -> Made<B>;
type Made<B> = Result<Box<dyn Prepared<B>>, Error>;

/// The list. To measure one more: an entry here, and below a function that makes its buffers and says how it is called.
pub fn benchmarks<B: Machine>() -> Vec<Benchmark<B>> {
    use Family::{Images, Memory, Reductions, Scans, Selections, Sorts};
    fn new<B: Machine>(name: &'static str, family: Family, bytes: f64, prepare: Prepare<B>) -> Benchmark<B> {
        Benchmark { name, family, bytes, in_any_order: false, prepare }
    }
    vec![
        new("memcpy", Memory, 8.0, memcpy),
        new("copy", Memory, 8.0, copy),
        new("fill", Memory, 4.0, fill),
        new("gather", Memory, 12.0, gather),
        new("scatter", Memory, 12.0, scatter),
        new("reduce_sum_u32", Reductions, 4.0, reduce_sum_u32),
        new("reduce_sum_f32", Reductions, 4.0, reduce_sum_f32),
        new("histogram", Reductions, 4.0, histogram),
        new("scan_look_back", Scans, 8.0, |b, n| scan(b, n, Form::LookBack)),
        new("scan_three_phase", Scans, 8.0, |b, n| scan(b, n, Form::ThreePhase)),
        new("scan_blelloch", Scans, 8.0, |b, n| scan(b, n, Form::Blelloch)),
        new("scan_hillis_steele", Scans, 8.0, |b, n| scan(b, n, Form::HillisSteele)),
        new("compact_if", Selections, 6.0, compact_if),
        new("compact_flagged", Selections, 7.0, |b, n| flagged(b, n, Select::compact())),
        // CUB leaves the rest reversed.
        Benchmark {
            in_any_order: true,
            ..new("partition_flagged", Selections, 9.0, |b, n| flagged(b, n, Select::partition()))
        },
        new("run_length", Selections, 4.0 + 12.0 * RUNS, run_length),
        new("radix_sort_keys", Sorts, 8.0, radix_sort_keys),
        new("radix_sort_pairs", Sorts, 16.0, |b, n| radix_sort_pairs(b, n, 32)),
        new("radix_sort_pairs_8bit", Sorts, 16.0, |b, n| radix_sort_pairs(b, n, 8)),
        new("split_sort_pairs", Sorts, 16.0, split_sort_pairs),
        new("merge_sort_pairs", Sorts, 16.0, merge_sort_pairs),
        new("transpose", Images, 8.0, transpose),
        new("summed_area", Images, 8.0, summed_area),
        new("convolution", Images, 8.0, convolution),
        new("luminance", Images, 20.0, luminance),
    ]
}

/// The names of the list.
pub fn names() -> Vec<&'static str> {
    benchmarks::<Cpu>().iter().map(|b| b.name).collect()
}

/// The machine's own copy.
fn memcpy<B: Machine>(b: &mut B, n: u32) -> Made<B> {
    let buffers = (holding(b, &numbers(n))?, zeros::<B, u32>(b, n)?, 0);
    prepared(b, n, buffers, |b, input, output, _, _| b.copied(input, output))
}

fn reduce_sum_u32<B: Machine>(b: &mut B, n: u32) -> Made<B> {
    let reduce = Reduce::<Sum<u32>>::default();
    let buffers = (holding(b, &numbers(n))?, zeros(b, 1)?, reduce.temp_bytes(n));
    prepared(b, n, buffers, move |b, input, output, length, temp| reduce.run(b, input, output, length, temp))
}

fn reduce_sum_f32<B: Machine>(b: &mut B, n: u32) -> Made<B> {
    let reduce = Reduce::<Sum<f32>>::default();
    let buffers = (holding(b, &exact(n))?, zeros(b, 1)?, reduce.temp_bytes(n));
    prepared(b, n, buffers, move |b, input, output, length, temp| reduce.run(b, input, output, length, temp))
}

fn scan<B: Machine>(b: &mut B, n: u32, form: Form) -> Made<B> {
    let scan = Scan::<Sum<u32>>::exclusive().in_form(form);
    let buffers = (holding(b, &numbers(n))?, zeros(b, n)?, scan.temp_bytes(n));
    prepared(b, n, buffers, move |b, input, output, length, temp| scan.run(b, input, output, length, temp))
}

/// Of the numbers below 2³¹: of half of them.
fn compact_if<B: Machine>(b: &mut B, n: u32) -> Made<B> {
    let select = Select::compact();
    let outputs = (zeros(b, n)?, zeros(b, 1)?);
    let buffers = (holding(b, &numbers(n))?, outputs, select.temp_bytes(n));
    prepared(b, n, buffers, move |b, input, (output, count), length, temp| {
        select.when(b, Below(1 << 31), input, output, count, length, temp)
    })
}

/// By flags, of which half are set.
fn flagged<B: Machine>(b: &mut B, n: u32, select: Select) -> Made<B> {
    let inputs = (holding(b, &numbers(n))?, holding(b, &filled(n, |x| (x >> 31) as u8))?);
    let buffers = (inputs, (zeros(b, n)?, zeros(b, 1)?), select.temp_bytes(n));
    prepared(b, n, buffers, move |b, (input, flags), (output, count), length, temp| {
        select.flagged(b, input, flags, output, count, length, temp)
    })
}

/// Runs that begin at an element: of bits of which an eighth are set.
const RUNS: f64 = 2.0 * (1.0 / 8.0) * (7.0 / 8.0);

/// CUB's counterpart does not tell where runs start.
fn run_length<B: Machine>(b: &mut B, n: u32) -> Made<B> {
    let input = holding(b, &filled(n, |x| u32::from(x % 8 == 0)))?;
    let mut starts = zeros::<B, u32>(b, n)?;
    let outputs = (zeros::<B, u32>(b, n)?, zeros::<B, u32>(b, n)?, zeros::<B, u32>(b, 1)?);
    let buffers = (input, outputs, RunLength.temp_bytes(n));
    prepared(b, n, buffers, move |b, input, (values, lengths, count), length, temp| {
        let runs = RunBuffers::<B, u32> { values, starts: &mut starts, lengths, count };
        RunLength.run(b, input, runs, length, temp)
    })
}

/// Of numbers below 256, a bin for each.
fn histogram<B: Machine>(b: &mut B, n: u32) -> Made<B> {
    let histogram = Histogram::values(256);
    let buffers = (holding(b, &filled(n, |x| x % 256))?, zeros(b, 256)?, 0);
    prepared(b, n, buffers, move |b, input, counts, length, _| histogram.run(b, input, counts, length))
}

fn radix_sort_keys<B: Machine>(b: &mut B, n: u32) -> Made<B> {
    let sort = RadixSort::<u32>::ascending();
    let buffers = (holding(b, &numbers(n))?, zeros(b, n)?, sort.temp_bytes(n));
    prepared(b, n, buffers, move |b, input, output, length, temp| sort.run(b, input, output, length, temp))
}

/// By the low `bits` of keys.
fn radix_sort_pairs<B: Machine>(b: &mut B, n: u32, bits: u32) -> Made<B> {
    let sort = RadixSort::<u32>::ascending().by_bits(0..bits);
    let buffers = (pairs(b, n)?, (zeros(b, n)?, zeros(b, n)?), sort.pairs_temp_bytes::<u32>(n));
    prepared(b, n, buffers, move |b, (keys, values), (sorted, moved), length, temp| {
        sort.run_pairs::<_, u32>(b, (keys, values), (sorted, moved), length, temp)
    })
}

fn split_sort_pairs<B: Machine>(b: &mut B, n: u32) -> Made<B> {
    let buffers = (pairs(b, n)?, (zeros(b, n)?, zeros(b, n)?), 0);
    prepared(b, n, buffers, |b, (keys, values), (sorted, moved), length, _| {
        SplitSort.run_pairs::<_, u32>(b, (keys, values), (sorted, moved), length)
    })
}

type Pairs<B> = (Of<B, u32>, Of<B, u32>);

/// Keys without an order, and of each its index.
fn pairs<B: Machine>(b: &mut B, n: u32) -> Result<Pairs<B>, Error> {
    Ok((holding(b, &numbers(n))?, holding(b, &(0..n).collect::<Vec<_>>())?))
}

fn merge_sort_pairs<B: Machine>(b: &mut B, n: u32) -> Made<B> {
    let sort = MergeSort::<Ascending<u32>, u32>::default();
    let buffers = (pairs(b, n)?, (zeros(b, n)?, zeros(b, n)?), sort.temp_bytes(n));
    prepared(b, n, buffers, move |b, (keys, values), (sorted, moved), length, temp| {
        sort.run(b, (keys, values), (sorted, moved), length, temp)
    })
}

/// By a kernel.
fn copy<B: Machine>(b: &mut B, n: u32) -> Made<B> {
    let copy = CopyElements::default();
    let buffers = (holding(b, &numbers(n))?, zeros::<B, u32>(b, n)?, 0);
    prepared(b, n, buffers, move |b, from, to, length, _| copy.run::<_, u32>(b, from, to, length))
}

fn fill<B: Machine>(b: &mut B, n: u32) -> Made<B> {
    let fill = Fill::new(7_u32);
    let buffers = (zeros::<B, u32>(b, 0)?, zeros(b, n)?, 0);
    prepared(b, n, buffers, move |b, _, to, length, _| fill.run(b, to, length))
}

/// From anywhere.
fn gather<B: Machine>(b: &mut B, n: u32) -> Made<B> {
    let inputs = (holding(b, &numbers(n))?, holding(b, &filled(n, |x| x % n))?);
    let buffers = (inputs, zeros(b, n)?, 0);
    prepared(b, n, buffers, |b, (from, indices), to, length, _| {
        Gather.run::<_, u32>(b, from, indices, to, length)
    })
}

/// To anywhere.
fn scatter<B: Machine>(b: &mut B, n: u32) -> Made<B> {
    let inputs = (holding(b, &numbers(n))?, holding(b, &filled(n, |x| x % n))?);
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

fn transpose<B: Machine>(b: &mut B, n: u32) -> Made<B> {
    let (width, height) = image(n);
    let transpose = Transpose { width, height };
    let buffers = (holding(b, &numbers(n))?, zeros(b, n)?, 0);
    prepared(b, n, buffers, move |b, from, to, _, _| transpose.run::<_, u32>(b, from, to))
}

fn summed_area<B: Machine>(b: &mut B, n: u32) -> Made<B> {
    let (width, height) = image(n);
    let table = SummedArea::<Narrow>::new(width, height);
    let buffers = (holding(b, &exact(n))?, zeros(b, n)?, table.temp_bytes());
    prepared(b, n, buffers, move |b, image, entries, _, temp| table.run(b, image, entries, temp))
}

/// With 7 × 7 weights.
fn convolution<B: Machine>(b: &mut B, n: u32) -> Made<B> {
    let (width, height) = image(n);
    let convolution = Convolution { width, height, channels: 1, radii: [3, 3], border: Border::Clamp };
    let weights = vec![1.0 / 7.0; convolution.weights() as usize];
    let buffers = ((holding(b, &exact(n))?, holding(b, &weights)?), zeros(b, n)?, 0);
    prepared(b, n, buffers, move |b, (image, weights), convolved, _, _| {
        convolution.run(b, image, weights, convolved)
    })
}

/// Of pixels of four channels.
fn luminance<B: Machine>(b: &mut B, n: u32) -> Made<B> {
    let buffers = (holding(b, &exact(n.saturating_mul(4)))?, zeros(b, n)?, 0);
    prepared(b, n, buffers, |b, pixels, luminances, length, _| {
        Luminance::<4>.run(b, pixels, luminances, length)
    })
}

/// Numbers without an order.
fn numbers(n: u32) -> Vec<u32> {
    filled(n, |x| x)
}

/// Zeros and few ones, so that sums of them are exact in any order.
fn exact(n: u32) -> Vec<f32> {
    filled(n, |x| if x % 16 == 0 { 1.0 } else { 0.0 })
}

/// `of` numbers without an order.
fn filled<T: Send>(n: u32, of: impl Fn(u32) -> T + Sync) -> Vec<T> {
    (0..n).into_par_iter().map(|i| of(hash(i))).collect()
}

/// A bijection of 32 bits that mixes them (Wellons 2018, "Prospecting for hash functions": lowbias32).
fn hash(x: u32) -> u32 {
    let x = (x ^ (x >> 16)).wrapping_mul(0x7feb_352d);
    let x = (x ^ (x >> 15)).wrapping_mul(0x846c_a68b);
    x ^ (x >> 16)
}
