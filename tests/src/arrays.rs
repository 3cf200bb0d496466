//! Shared code of the tests of primitives: the lengths and the data that they try, dirty memory, and the machines.

use std::fs::OpenOptions;
use std::io::Write;
use std::ops::Range;

use bytemuck::Pod;
use rayon::prelude::*;
use torrance_gpu::backend::Backend;
use torrance_gpu::backend::cuda::Cuda;
use torrance_gpu::primitives::{Fill, Length, Primitives, Temp};

/// Names the most elements that tests may try, and has them repeat things only a few times: for tools that make kernels a
/// hundred times slower, as `compute-sanitizer` does.
pub const MOST: &str = "TORRANCE_TEST_MOST";

/// Names a file to which tests add the kernels that they have launched, a line each.
pub const LAUNCHED: &str = "TORRANCE_TEST_LAUNCHED";

fn most() -> u32 {
    std::env::var(MOST).map_or(u32::MAX, |most| most.parse().expect("TORRANCE_TEST_MOST is a number"))
}

/// The first GPU, which notes what it launches if somebody wants to know.
///
/// # Panics
/// If it does not open.
pub fn gpu() -> Cuda {
    let mut gpu = Cuda::new(0).expect("the device opens");
    gpu.set_profiling(std::env::var_os(LAUNCHED).is_some());
    gpu
}

/// Tells what it has launched, if somebody wants to know.
///
/// # Panics
/// If it cannot.
pub fn tell_launched(gpu: &mut Cuda) {
    let Some(path) = std::env::var_os(LAUNCHED) else { return };
    gpu.synchronize().expect("kernels end");
    let names: String = gpu.profile().keys().map(|name| format!("{name}\n")).collect();
    let file = OpenOptions::new().append(true).create(true).open(path);
    file.and_then(|mut file| file.write_all(names.as_bytes())).expect("the file can be written");
}

/// So many elements, or fewer if tests are to be small.
pub fn at_most(n: u32) -> u32 {
    n.min(most())
}

/// How often tests repeat what has to be the same every time.
pub fn times() -> u32 {
    if most() == u32::MAX { 100 } else { 3 }
}

/// Lengths at which blocks, warps and tiles end or do not. On a GPU also those that fill it.
pub fn lengths(is_gpu: bool) -> Vec<u32> {
    let mut lengths = vec![0, 1, 31, 32, 33, 255, 256, 257, 1023, 1024, 1025, (1 << 20) - 1, (1 << 20) + 1];
    if is_gpu {
        lengths.extend([(1 << 24) + 7, 1 << 27]);
    }
    lengths.retain(|n| *n <= most());
    lengths
}

/// As [`lengths`], up to about 2²⁰: for what is tried in many ways.
pub fn short_lengths(is_gpu: bool) -> Vec<u32> {
    let mut lengths = lengths(is_gpu);
    lengths.retain(|n| *n < 1 << 24);
    lengths
}

/// As [`short_lengths`], and one of some tiles, but on the host without the longest: for what takes a twin long.
pub fn quick_lengths(is_gpu: bool) -> Vec<u32> {
    let mut lengths = short_lengths(is_gpu);
    lengths.retain(|n| is_gpu || *n < 1 << 16);
    lengths.push(at_most(30_011));
    lengths
}

/// Widths and heights of images: numbers of pixels and sides as [`lengths`] has them, edges of tiles, some far from square.
pub fn shapes(is_gpu: bool) -> Vec<(u32, u32)> {
    let mut shapes: Vec<_> = short_lengths(is_gpu).into_iter().flat_map(|n| [(n, 1), (1, n)]).collect();
    for n in [0, 31, 32, 33, 255, 256, 257] {
        shapes.extend([(n, 5), (5, n), (n, n + 1)]);
    }
    shapes.extend([(63, 65), (64, 64), (65, 63), (127, 48), (128, 49), (129, 95), (640, 360), (3, 20_000)]);
    shapes.extend([(1023, 3), (3, 1023), (1024, 1024), (1025, 1023)]);
    if is_gpu {
        shapes.extend([((1 << 24) + 7, 1), (1, (1 << 24) + 7), (4099, 2051), (1 << 14, 1 << 13)]);
    }
    shapes.retain(|(width, height)| width * height <= most());
    shapes
}

/// Numbers without an order: a bijection of 64 bits (Steele et al. 2014, SplitMix64), of a counter.
pub fn random(seed: u64, n: u32) -> Vec<u64> {
    random_as(seed, n, |x| x)
}

/// `n` random numbers, converted by `of`.
pub fn random_as<T: Send>(seed: u64, n: u32, of: impl Fn(u64) -> T + Sync) -> Vec<T> {
    let number = |i: usize| {
        let mut z = seed.wrapping_add((i as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        of(z ^ (z >> 31))
    };
    collected(n as usize, &number)
}

/// The values of `of` at the indices below `n`. Of one type for every function, so that not each is compiled with all that
/// makes it parallel.
pub fn collected<T: Send>(n: usize, of: &(dyn Fn(usize) -> T + Sync)) -> Vec<T> {
    (0..n).into_par_iter().map(of).collect()
}

/// Whether `is_right` holds of all indices in `range`.
pub fn all(range: Range<usize>, is_right: &(dyn Fn(usize) -> bool + Sync)) -> bool {
    range.into_par_iter().all(is_right)
}

/// Such numbers as fractions between 0 and 1.
pub fn fractions(seed: u64, n: u32) -> Vec<f32> {
    random_as(seed, n, |x| (x >> 40) as f32 / (1 << 24) as f32)
}

/// Numbers that primitives may find difficult, each with its name: random ones, all equal, in order, in the wrong order,
/// all but one zero, few different ones. Of very many numbers only random ones.
pub fn difficult(n: u32) -> impl Iterator<Item = (&'static str, Vec<u64>)> {
    let last = u64::from(n.saturating_sub(1));
    let of = move |f: &(dyn Fn(u64) -> u64 + Sync)| collected(n as usize, &|i| f(i as u64));
    let names = ["random", "few", "all equal", "in order", "reversed", "one flag"];
    names.into_iter().take(if n > 1 << 26 { 1 } else { 6 }).map(move |name| {
        let numbers = match name {
            "random" => random(1, n),
            "few" => random_as(2, n, |x| x % 3),
            "all equal" => of(&|_| 0x0123_4567_89ab_cdef),
            "in order" => of(&|i| i),
            "reversed" => of(&|i| last - i),
            _ => of(&|i| u64::from(i == last / 2)),
        };
        (name, numbers)
    })
}

/// Whether they are the same, bit by bit.
pub fn is_same<T: Pod>(a: &[T], b: &[T]) -> bool {
    bytemuck::cast_slice::<_, u8>(a) == bytemuck::cast_slice::<_, u8>(b)
}

/// Temporary memory in which all bits are set: what earlier work has left there must not matter.
///
/// # Panics
/// If there is not enough memory.
pub fn dirty_temp<B: Primitives>(backend: &mut B, bytes: usize) -> Temp<B> {
    let n = bytes.div_ceil(8);
    let mut words = backend.zeroed("temporary memory", n).expect("there is memory");
    Fill::new(u64::MAX).run(backend, &mut words, Length::Host(n as u32)).expect("filling works");
    Temp::from_buffer(words)
}

/// Runs a block for the host, and for the first GPU if there is one: `for_each_backend!(|backend, is_gpu| { … })`.
#[macro_export]
macro_rules! for_each_backend {
    (|$backend:ident, $is_gpu:ident| $body:block) => {
        for machine in $crate::machines() {
            match machine {
                $crate::Machine::Cpu => {
                    let $is_gpu = false;
                    #[allow(unused_mut, reason = "not every body needs it so")]
                    let mut $backend = ::torrance_gpu::backend::cpu::Cpu::new(None).expect("threads start");
                    $body
                }
                $crate::Machine::Cuda => {
                    let $is_gpu = true;
                    #[allow(unused_mut, reason = "not every body needs it so")]
                    let mut $backend = $crate::arrays::gpu();
                    $body
                    $crate::arrays::tell_launched(&mut $backend);
                }
            }
        }
    };
}
