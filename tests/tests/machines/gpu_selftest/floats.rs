//! `cuda_std::float` and `libm`: errors against `f64`, measured on the GPU.
//!
//! Bounds are `libm`'s own, and for single instructions those of the PTX manual.

use std::f64::consts::{LOG2_E, PI};

use crate::selftest_gpu::{Gpu, Outcome, arg};

const ULP: f64 = 1.0 / 8_388_608.0; // 2⁻²³

/// How far from the truth a result may be.
#[derive(Clone, Copy)]
enum Bound {
    /// This far.
    Absolute(f64),
    /// This far, as part of the truth.
    Relative(f64),
    /// As part of the truth, this far and so much more for each unit of |x|.
    Growing(f64, f64),
    /// `lg2.approx`: absolutely for x in ½ … 2, relatively elsewhere.
    Logarithm(f64),
    /// Not at all.
    Exact,
}

impl Bound {
    /// The error as part of what is allowed: above 1 is too much. NaN agrees with NaN only.
    fn used(self, x: f64, got: f32, want: f64) -> f64 {
        let difference = (f64::from(got) - want).abs();
        if got.is_nan() || want.is_nan() {
            return if got.is_nan() && want.is_nan() { 0.0 } else { f64::INFINITY };
        }
        if f64::from(got) == want {
            return 0.0;
        }
        match self {
            Self::Absolute(bound) => difference / bound,
            Self::Relative(bound) => difference / want.abs() / bound,
            Self::Growing(bound, slope) => difference / want.abs() / (bound + slope * x.abs()),
            Self::Logarithm(bound) if (0.5..=2.0).contains(&x) => difference / bound,
            Self::Logarithm(bound) => difference / want.abs() / bound,
            Self::Exact => f64::INFINITY,
        }
    }
}

/// A function of one argument; its place in the list is its number in the kernel.
struct Unary {
    name: &'static str,
    truth: fn(f64) -> f64,
    samples: fn() -> Vec<f32>,
    bound: Bound,
}

/// `n` values from `a` to `b`.
fn linear(a: f64, b: f64, n: u32) -> Vec<f32> {
    (0..n).map(|i| (a + (b - a) * f64::from(i) / f64::from(n - 1)) as f32).collect()
}

/// Every `step`-th positive float from `a` to `b`.
fn floats(a: f32, b: f32, step: usize) -> Vec<f32> {
    (a.to_bits()..=b.to_bits()).step_by(step).map(f32::from_bits).collect()
}

/// Angles up to 10⁵, dense up to 10⁴, and the neighbours of multiples of π/4.
fn angles() -> Vec<f32> {
    let mut angles = linear(-1e4, 1e4, 1 << 22);
    angles.extend(linear(-1e5, 1e5, 1 << 20));
    angles.extend(floats(1e-8, 10.0, 97));
    angles.extend((1..12_000).flat_map(|k| {
        let x = (f64::from(k) * PI / 4.0) as f32;
        [x.next_down(), x, -x.next_up()]
    }));
    angles
}

/// Every 499th normal positive float.
fn positive() -> Vec<f32> {
    floats(f32::MIN_POSITIVE, f32::MAX, 499)
}

fn numbers() -> Vec<f32> {
    let mut numbers = linear(-40.0, 40.0, 1281);
    numbers.extend(floats(1e-3, 1e12, 9973).iter().flat_map(|&x| [x, -x]));
    numbers
}

fn unit() -> Vec<f32> {
    let mut unit = linear(-1.0, 1.0, 1 << 22);
    unit.extend(floats(1e-20, 1.0, 499));
    unit.extend(floats(0.999, 1.0, 1));
    unit
}

const SINE: Bound = Bound::Absolute(1e-7);
const INVERSE: Bound = Bound::Absolute(4e-7);

const UNARY: &[Unary] = &[
    Unary { name: "sqrt", truth: f64::sqrt, samples: positive, bound: Bound::Relative(ULP) },
    Unary {
        name: "rsqrt",
        truth: |x| 1.0 / x.sqrt(),
        samples: positive,
        bound: Bound::Relative(1.072 * ULP), // 2^-22.9
    },
    Unary {
        name: "rcp",
        truth: |x| 1.0 / x,
        samples: || floats(f32::MIN_POSITIVE, 8.5e37, 499),
        bound: Bound::Relative(ULP),
    },
    Unary { name: "sin", truth: f64::sin, samples: angles, bound: SINE },
    Unary { name: "cos", truth: f64::cos, samples: angles, bound: SINE },
    Unary { name: "sin_cos.0", truth: f64::sin, samples: angles, bound: SINE },
    Unary { name: "sin_cos.1", truth: f64::cos, samples: angles, bound: SINE },
    Unary {
        name: "tan",
        truth: f64::tan,
        samples: || linear(-1.5, 1.5, 1 << 20),
        bound: Bound::Relative(6e-7),
    },
    Unary { name: "asin", truth: f64::asin, samples: unit, bound: INVERSE },
    Unary { name: "acos", truth: f64::acos, samples: unit, bound: INVERSE },
    Unary { name: "atan", truth: f64::atan, samples: || linear(-50.0, 50.0, 1 << 20), bound: INVERSE },
    Unary {
        name: "exp",
        truth: f64::exp,
        samples: || linear(-80.0, 80.0, 1 << 20),
        bound: Bound::Growing(2.0 * ULP, ULP),
    },
    Unary {
        name: "exp2",
        truth: f64::exp2,
        samples: || linear(-125.0, 127.9, 1 << 22),
        bound: Bound::Relative(2.0 * ULP),
    },
    Unary { name: "ln", truth: f64::ln, samples: positive, bound: Bound::Logarithm(3.0 * ULP) },
    Unary { name: "log2", truth: f64::log2, samples: positive, bound: Bound::Logarithm(2.0 * ULP) },
    Unary { name: "floor", truth: f64::floor, samples: numbers, bound: Bound::Exact },
    Unary { name: "ceil", truth: f64::ceil, samples: numbers, bound: Bound::Exact },
    Unary { name: "trunc", truth: f64::trunc, samples: numbers, bound: Bound::Exact },
    Unary { name: "round", truth: f64::round, samples: numbers, bound: Bound::Exact },
    Unary { name: "fract", truth: f64::fract, samples: numbers, bound: Bound::Exact },
    Unary {
        name: "sqrt_rn",
        truth: |x| (x as f32).sqrt().into(),
        samples: bit_patterns,
        bound: Bound::Exact,
    },
    Unary { name: "rcp_rn", truth: |x| (1.0 / x as f32).into(), samples: bit_patterns, bound: Bound::Exact },
    Unary { name: "sin_approx", truth: f64::sin, samples: || linear(-PI, PI, 1 << 20), bound: APPROXIMATE },
    Unary { name: "cos_approx", truth: f64::cos, samples: || linear(-PI, PI, 1 << 20), bound: APPROXIMATE },
];

/// 2⁻²⁰·⁵.
const APPROXIMATE: Bound = Bound::Absolute(5.66 * ULP);

/// Floats of every kind: signs, subnormals, infinities, NaNs.
fn bit_patterns() -> Vec<f32> {
    (0..1u32 << 18).map(|i| f32::from_bits(i.wrapping_mul(0x9e37_79b9))).collect()
}

/// Blocks of 256 threads for `n` elements.
fn blocks(n: usize) -> u32 {
    n.div_ceil(256) as u32
}

/// Functions of one or two arguments, by number, over arrays: the GPU's, or the host's versions.
trait Machine {
    fn unary(&self, function: usize, x: &[f32]) -> Result<Vec<f32>, String>;
    fn binary(&self, function: usize, x: &[f32], y: &[f32]) -> Result<Vec<f32>, String>;
}

impl Machine for Gpu {
    fn unary(&self, function: usize, x: &[f32]) -> Result<Vec<f32>, String> {
        let (input, out) = (self.upload(x), self.zeros::<f32>(x.len()));
        let args = [arg(function as u32), arg(x.len() as u32), input.arg(), out.arg()];
        self.launch_1d("float_unary", blocks(x.len()), 256, &args)?;
        self.download(&out)
    }

    fn binary(&self, function: usize, x: &[f32], y: &[f32]) -> Result<Vec<f32>, String> {
        let (left, right, out) = (self.upload(x), self.upload(y), self.zeros::<f32>(x.len()));
        let args = [arg(function as u32), arg(x.len() as u32), left.arg(), right.arg(), out.arg()];
        self.launch_1d("float_binary", blocks(x.len()), 256, &args)?;
        self.download(&out)
    }
}

/// The largest use of the bound, as text for the report; an error when it is above 1.
fn report(name: &str, uses: impl Iterator<Item = f64>, describe: impl Fn(usize) -> String) -> Outcome {
    let worst = |worst: (usize, f64), next: (usize, f64)| if next.1 > worst.1 { next } else { worst };
    let (at, used) = uses.enumerate().fold((0, 0.0), worst);
    if used > 1.0 {
        return Err(format!("{name}: {used:.3} × the bound at {}", describe(at)));
    }
    Ok(format!("{name} {used:.2}"))
}

pub(crate) fn unary(gpu: &Gpu) -> Outcome {
    unary_on(gpu)
}

fn unary_on(machine: &impl Machine) -> Outcome {
    let mut remarks = Vec::new();
    for (number, function) in UNARY.iter().enumerate() {
        let x = (function.samples)();
        let got = machine.unary(number, &x)?;
        let truth = |i: usize| (function.truth)(x[i].into());
        let uses = (0..x.len()).map(|i| function.bound.used(x[i].into(), got[i], truth(i)));
        let describe = |i: usize| format!("{:e}: {:e}, not {:e}", x[i], got[i], truth(i));
        remarks.push(largest_absolute(function, &x, &got) + &report(function.name, uses, describe)?);
    }
    special_values(machine)?;
    let unknown = machine.unary(UNARY.len(), &[1.0])?;
    if !unknown[0].is_nan() {
        return Err("the kernel has functions that are not in the list".into());
    }
    Ok(format!("(error / bound)\n    {}", remarks.join("\n    ")))
}

/// The absolute error, for the functions whose bound is absolute.
fn largest_absolute(function: &Unary, x: &[f32], got: &[f32]) -> String {
    let error = |(&x, &got): (&f32, &f32)| (f64::from(got) - (function.truth)(x.into())).abs();
    match function.bound {
        Bound::Absolute(_) => format!("absolute {:.2e}, ", x.iter().zip(got).map(error).fold(0.0, f64::max)),
        _ => String::new(),
    }
}

/// Zeros of both signs, ±1, infinities, NaN: as `std`, within the tolerance of `sin` and kin.
fn special_values(machine: &impl Machine) -> Result<(), String> {
    let x = [0.0f32, -0.0, 1.0, -1.0, f32::INFINITY, f32::NEG_INFINITY, f32::NAN];
    for (number, function) in UNARY.iter().enumerate() {
        if matches!(function.name, "sin_approx" | "cos_approx") {
            continue;
        }
        for (x, got) in x.into_iter().zip(machine.unary(number, &x)?) {
            let want = (function.truth)(x.into());
            let close = got.is_nan() && want.is_nan()
                || f64::from(got) == want
                || (f64::from(got) - want).abs() <= 4e-7 * want.abs();
            let signed = want != 0.0 || got.is_sign_negative() == want.is_sign_negative();
            if !close || !signed {
                return Err(format!("{}({x}) is {got}, not {want}", function.name));
            }
        }
    }
    Ok(())
}

/// Pairs of floats whose products, quotients, sums and differences are of every size.
fn pairs() -> (Vec<f32>, Vec<f32>) {
    let x = (0..1u32 << 18).map(|i| f32::from_bits(i.wrapping_mul(0x9e37_79b9)));
    let y = (0..1u32 << 18).map(|i| f32::from_bits(i.wrapping_mul(0x85eb_ca6b) ^ 0x1357_9bdf));
    (x.collect(), y.collect())
}

/// Points around circles of many radii, and with coordinates of very different sizes; both signs.
fn points() -> (Vec<f32>, Vec<f32>) {
    let circle = (0..200_000u32).map(|i| f64::from(i) * (2.0 * PI / 200_000.0)).flat_map(|phi| {
        [1e-18, 1e-3, 1.0, 7.3, 1e18, 3e38].map(|r| ((r * phi.sin()) as f32, (r * phi.cos()) as f32))
    });
    let specials = [0.0f32, 1.0, 1e-30, 1e30, f32::MAX, f32::MIN_POSITIVE, f32::INFINITY].into_iter();
    let signed = specials.flat_map(|v| [v, -v]);
    let corners = signed.clone().flat_map(|y| signed.clone().map(move |x| (y, x)));
    circle.chain(corners).unzip()
}

/// Positive bases with exponents whose powers are representable, and the cases that have exact answers.
fn powers() -> (Vec<f32>, Vec<f32>) {
    let exponents = [-3.0f32, -1.0, -0.5, 1.0 / 2.4, 0.5, 2.0, 2.4, 5.0, 100.0];
    let general = exponents.into_iter().flat_map(|y| floats(1e-5, 1e5, 997).into_iter().map(move |x| (x, y)));
    let representable = |&(x, y): &(f32, f32)| (f64::from(y) * f64::from(x).log2()).abs() < 120.0;
    let exact = [
        (0.0, 0.0),
        (0.0, 2.0),
        (-2.0, 3.0),
        (-2.0, 2.0),
        (-2.0, -1.0),
        (4.0, 0.5),
        (0.0, -1.0),
        (-2.0, 0.5),
    ];
    general.filter(representable).chain(exact).unzip()
}

fn integer_powers() -> (Vec<f32>, Vec<f32>) {
    let bases = [-3.0f32, -2.0, -1.0, -0.5, 0.5, 1.0, 1.5, 2.0, 10.0];
    bases.into_iter().flat_map(|x| (-9i8..=9).map(move |n| (x, f32::from(n)))).unzip()
}

/// A function of two arguments; its place in the list is its number in the kernel.
struct Binary {
    name: &'static str,
    samples: fn() -> (Vec<f32>, Vec<f32>),
    /// The error as part of what is allowed, from both arguments and the result.
    used: fn(f32, f32, f32) -> f64,
}

const BINARY: &[Binary] = &[
    Binary {
        name: "atan2",
        samples: points,
        used: |y, x, got| {
            let want = f64::from(y).atan2(f64::from(x));
            let signed = got.is_sign_negative() == want.is_sign_negative();
            if signed { INVERSE.used(0.0, got, want) } else { f64::INFINITY }
        },
    },
    Binary {
        name: "powf",
        samples: powers,
        used: |x, y, got| {
            let exponent = (f64::from(y) * f64::from(x).abs().log2()).abs();
            let exponent = if exponent.is_finite() { exponent } else { 0.0 };
            let near_one = if (0.5..=2.0).contains(&x.abs()) { f64::from(y.abs()) } else { 0.0 };
            let bound = Bound::Relative(2.0 * ULP * (1.0 + exponent + near_one));
            bound.used(0.0, got, f64::from(x).powf(y.into()))
        },
    },
    Binary {
        name: "powi",
        samples: integer_powers,
        used: |x, n, got| Bound::Relative(2.0 * ULP).used(0.0, got, f64::from(x).powi(n as i32)),
    },
    Binary { name: "mul_rn", samples: pairs, used: |x, y, got| same_float(got, x * y) },
    Binary { name: "add_rn", samples: pairs, used: |x, y, got| same_float(got, x + y) },
    Binary { name: "sub_rn", samples: pairs, used: |x, y, got| same_float(got, x - y) },
    Binary { name: "div_rn", samples: pairs, used: |x, y, got| same_float(got, x / y) },
];

/// 0 for the same value with the same sign, or two NaNs; otherwise too much.
fn same_float(got: f32, want: f32) -> f64 {
    let same = got.to_bits() == want.to_bits() || got.is_nan() && want.is_nan();
    if same { 0.0 } else { f64::INFINITY }
}

pub(crate) fn binary(gpu: &Gpu) -> Outcome {
    binary_on(gpu)
}

fn binary_on(machine: &impl Machine) -> Outcome {
    let mut remarks = Vec::new();
    for (number, function) in BINARY.iter().enumerate() {
        let (x, y) = (function.samples)();
        let got = machine.binary(number, &x, &y)?;
        let uses = (0..x.len()).map(|i| (function.used)(x[i], y[i], got[i]));
        let describe = |i: usize| format!("{:e}, {:e}: {:e}", x[i], y[i], got[i]);
        remarks.push(report(function.name, uses, describe)?);
    }
    for (y, x) in [(f32::NAN, 1.0), (1.0, f32::NAN), (f32::NAN, f32::INFINITY)] {
        if !machine.binary(0, &[y], &[x])?[0].is_nan() {
            return Err(format!("atan2({y}, {x}) is not NaN"));
        }
    }
    if !machine.binary(BINARY.len(), &[1.0], &[1.0])?[0].is_nan() {
        return Err("the kernel has functions that are not in the list".into());
    }
    Ok(format!("(error / bound)\n    {}", remarks.join("\n    ")))
}

/// Products and sums: one rounding where fused, two where not, and the difference visible.
pub(crate) fn products(gpu: &Gpu) -> Outcome {
    let values = |seed: u32| -> Vec<f32> {
        (0..1u32 << 16)
            .map(|i| ((i ^ seed).wrapping_mul(0x9e37_79b9) as i32 as f32) * 2f32.powi(-30))
            .collect()
    };
    let (x, y) = (values(0), values(0x5555));
    // Close to −x·y, so that what the first rounding lost is a large part of the sum.
    let z: Vec<f32> = x.iter().zip(&y).map(|(&x, &y)| -(x * y) + 1e-9).collect();
    let out = gpu.zeros::<f32>(x.len() * 5);
    let (a, b, c) = (gpu.upload(&x), gpu.upload(&y), gpu.upload(&z));
    let args = [arg(x.len() as u32), a.arg(), b.arg(), c.arg(), out.arg()];
    gpu.launch_1d("float_products", blocks(x.len()), 256, &args)?;
    let mut differ = 0;
    for (i, got) in gpu.download(&out)?.chunks(5).enumerate() {
        let fused = x[i].mul_add(y[i], z[i]);
        let apart = x[i] * y[i] + z[i];
        for (k, want) in [fused, fused, apart, apart, fused].into_iter().enumerate() {
            if same_float(got[k], want) > 0.0 {
                return Err(format!("way {k} of {} · {} + {}: {:e}, not {want:e}", x[i], y[i], z[i], got[k]));
            }
        }
        differ += u32::from(fused.to_bits() != apart.to_bits());
    }
    if differ < 1000 {
        return Err(format!("fused and separate differ in {differ} cases only: the samples show nothing"));
    }
    Ok(format!("{differ} of {} results depend on it", x.len()))
}

/// The host's versions of the same functions: the polynomials are the GPU's, the rest is `std`'s.
struct Host;

impl Machine for Host {
    fn unary(&self, function: usize, x: &[f32]) -> Result<Vec<f32>, String> {
        use cuda_std::float::*;
        let functions: [fn(f32) -> f32; 24] = [
            GpuFloat::sqrt,
            GpuFloat::rsqrt,
            GpuFloat::rcp,
            GpuFloat::sin,
            GpuFloat::cos,
            |x| GpuFloat::sin_cos(x).0,
            |x| GpuFloat::sin_cos(x).1,
            GpuFloat::tan,
            GpuFloat::asin,
            GpuFloat::acos,
            GpuFloat::atan,
            GpuFloat::exp,
            GpuFloat::exp2,
            GpuFloat::ln,
            GpuFloat::log2,
            GpuFloat::floor,
            GpuFloat::ceil,
            GpuFloat::trunc,
            GpuFloat::round,
            GpuFloat::fract,
            sqrt_rn,
            rcp_rn,
            sin_approx,
            cos_approx,
        ];
        let function = functions.get(function).copied().unwrap_or(|_| f32::NAN);
        Ok(x.iter().map(|&x| function(x)).collect())
    }

    fn binary(&self, function: usize, x: &[f32], y: &[f32]) -> Result<Vec<f32>, String> {
        use cuda_std::float::*;
        let functions: [fn(f32, f32) -> f32; 7] = [
            GpuFloat::atan2,
            GpuFloat::powf,
            |x, y| GpuFloat::powi(x, y as i32),
            mul_rn,
            add_rn,
            sub_rn,
            div_rn,
        ];
        let function = functions.get(function).copied().unwrap_or(|_, _| f32::NAN);
        Ok(x.iter().zip(y).map(|(&x, &y)| function(x, y)).collect())
    }
}

/// The checks themselves are sound: what is right passes, without a GPU.
#[test]
fn host_functions_pass_the_same_checks() {
    println!("{}", unary_on(&Host).unwrap());
    println!("{}", binary_on(&Host).unwrap());
}

/// The bounds reject what they are there to reject; no GPU needed.
#[test]
fn bounds_reject_errors_above_them() {
    let x = 1.0e4f64;
    for (bound, error) in [(SINE, 1.3e-7), (INVERSE, 4.4e-7)] {
        let want = x.sin();
        let got = (want + error) as f32;
        assert!(bound.used(x, got, want) > 1.0);
        assert!(bound.used(x, want as f32, want) < 1.0);
    }
    assert!(Bound::Relative(ULP).used(2.0, 2f32.sqrt() * (1.0 + 2.5 * ULP as f32), 2f64.sqrt()) > 1.0);
    assert!(Bound::Logarithm(2.0 * ULP).used(1.5, 1.5f32.log2() + 3.0 * ULP as f32, 1.5f64.log2()) > 1.0);
    assert!(
        Bound::Growing(2.0 * ULP, ULP).used(10.0, (10.0 * LOG2_E).exp2() as f32 * 1.000_002, 10f64.exp())
            > 1.0
    );
    assert!(Bound::Exact.used(1.0, 1.0f32.next_up(), 1.0) > 1.0);
    assert!(Bound::Absolute(1.0).used(1.0, f32::NAN, 1.0) > 1.0);
}
