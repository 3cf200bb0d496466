//! What is measured.

use rayon::prelude::*;

use super::case::{Prepared, holding, prepared, zeros};
use super::{Family, Machine};
use crate::backend::Error;
use crate::backend::cpu::Cpu;
use crate::primitives::{Form, Reduce, Scan, Sum};

/// A primitive that is measured.
pub struct Benchmark<B: Machine> {
    /// Its name. A baseline has its counterpart under the same.
    pub name: &'static str,
    /// The chart that shows it.
    pub family: Family,
    /// Bytes that must at least be read and written, an element.
    pub bytes: f64,
    /// Makes its buffers for so many elements.
    pub(super) prepare: Prepare<B>,
}

type Prepare<B> = fn(&mut B, u32) -> Made<B>;
type Made<B> = Result<Box<dyn Prepared<B>>, Error>;

/// The list. To measure one more: an entry here, and below a function that makes its buffers and says how it is called.
pub fn benchmarks<B: Machine>() -> Vec<Benchmark<B>> {
    use Family::{Memory, Reductions, Scans};
    fn new<B: Machine>(name: &'static str, family: Family, bytes: f64, prepare: Prepare<B>) -> Benchmark<B> {
        Benchmark { name, family, bytes, prepare }
    }
    vec![
        new("memcpy", Memory, 8.0, memcpy),
        new("reduce_sum_u32", Reductions, 4.0, reduce_sum_u32),
        new("reduce_sum_f32", Reductions, 4.0, reduce_sum_f32),
        new("scan_look_back", Scans, 8.0, |b, n| scan(b, n, Form::LookBack)),
        new("scan_three_phase", Scans, 8.0, |b, n| scan(b, n, Form::ThreePhase)),
        new("scan_blelloch", Scans, 8.0, |b, n| scan(b, n, Form::Blelloch)),
        new("scan_hillis_steele", Scans, 8.0, |b, n| scan(b, n, Form::HillisSteele)),
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
