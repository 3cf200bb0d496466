//! Errors against `f64`, measured over dense samples. The bounds are those of the crate's table.

use std::f64::consts::{FRAC_PI_2, LN_2, PI};

use super::*;

/// The largest error over the samples, and where it was.
#[derive(Clone, Copy, Debug)]
struct Worst {
    error: f64,
    at: f64,
}

/// Largest value of `error(x)`; a NaN counts as infinite.
fn worst(samples: impl Iterator<Item = f32>, error: impl Fn(f32) -> f64) -> Worst {
    samples.fold(Worst { error: 0.0, at: 0.0 }, |worst, x| {
        let e = error(x);
        let e = if e.is_nan() { f64::INFINITY } else { e };
        if e > worst.error { Worst { error: e, at: f64::from(x) } } else { worst }
    })
}

/// Asserts a bound, and prints what was measured (`--nocapture`).
fn within(what: &str, worst: Worst, bound: f64) {
    println!("{what}: {:.3e} at {:e}, bound {bound:.3e}", worst.error, worst.at);
    assert!(worst.error <= bound, "{what}: error {:e} at {:e} above {bound:e}", worst.error, worst.at);
}

/// `n` + 1 values from `a` to `b`.
fn linear(a: f32, b: f32, n: u32) -> impl Iterator<Item = f32> {
    let (a, b) = (f64::from(a), f64::from(b));
    (0..=n).map(move |i| (a + (b - a) * f64::from(i) / f64::from(n)) as f32)
}

/// Every `step`-th positive finite float from `a` to `b`.
fn floats(a: f32, b: f32, step: usize) -> impl Iterator<Item = f32> {
    (a.to_bits()..=b.to_bits()).step_by(step).map(f32::from_bits)
}

/// The floats on both sides of every multiple of π/4 up to `limit`: where quadrants change and where the
/// results vanish.
fn near_multiples(limit: f32) -> impl Iterator<Item = f32> {
    let n = (f64::from(limit) / (PI / 4.0)) as u32;
    (1..n).flat_map(|k| {
        let x = (f64::from(k) * PI / 4.0) as f32;
        [x.next_down(), x, x.next_up(), -x]
    })
}

fn angles(limit: f32) -> impl Iterator<Item = f32> {
    linear(-limit, limit, 2_000_000).chain(near_multiples(limit)).chain(floats(1e-8, limit, 997))
}

fn absolute(got: f32, want: f64) -> f64 {
    (f64::from(got) - want).abs()
}

fn relative(got: f32, want: f64) -> f64 {
    if f64::from(got) == want { 0.0 } else { (f64::from(got) - want).abs() / want.abs() }
}

#[test]
fn sine_and_cosine() {
    for limit in [10.0, 1e4, 1e5] {
        within(
            &format!("sin to {limit}"),
            worst(angles(limit), |x| absolute(sinf(x), f64::from(x).sin())),
            1e-7,
        );
        within(
            &format!("cos to {limit}"),
            worst(angles(limit), |x| absolute(cosf(x), f64::from(x).cos())),
            1e-7,
        );
    }
    for x in angles(1e4).step_by(7) {
        let (s, c) = sincosf(x);
        assert_eq!((s.to_bits(), c.to_bits()), (sinf(x).to_bits(), cosf(x).to_bits()));
        assert_eq!(sinf(-x).to_bits(), (-s).to_bits(), "sin is odd at {x}");
        assert_eq!(cosf(-x).to_bits(), c.to_bits(), "cos is even at {x}");
        assert!(s.abs() <= 1.0 && c.abs() <= 1.0, "above 1 at {x}");
    }
}

/// Small results keep their relative precision, so directions near an axis do too.
#[test]
fn sine_is_relatively_precise_near_its_zeros() {
    within(
        "sin, relative",
        worst(near_multiples(1e4), |x| {
            let want = f64::from(x).sin();
            if want.abs() < 1e-3 { relative(sinf(x), want) } else { 0.0 }
        }),
        4e-7,
    );
    within(
        "sin, relative, small",
        worst(floats(1e-30, 0.5, 211), |x| relative(sinf(x), f64::from(x).sin())),
        2e-7,
    );
}

#[test]
fn sine_of_special_values() {
    assert_eq!(sinf(0.0).to_bits(), 0.0f32.to_bits());
    assert_eq!(sinf(-0.0).to_bits(), (-0.0f32).to_bits());
    assert_eq!(cosf(-0.0), 1.0);
    for x in [1.1e6f32, -1e10, 1e30, f32::MAX] {
        let (s, c) = sincosf(x);
        assert!([-1.0, 0.0, 1.0].contains(&s) && [-1.0, 0.0, 1.0].contains(&c), "{x}: {s} {c}");
    }
    for x in [f32::INFINITY, f32::NEG_INFINITY, f32::NAN] {
        assert!(sinf(x).is_nan() && cosf(x).is_nan());
    }
}

/// The measurement must see a wrong algorithm: the same reduction with a shorter polynomial, and the same
/// polynomial with one part of π/2 dropped.
#[test]
fn degraded_sines_are_detected() {
    fn short_polynomial(x: f32) -> f32 {
        let k = (x * std::f32::consts::FRAC_2_PI).round();
        let r = (f64::from(x) - f64::from(k) * FRAC_PI_2) as f32;
        let (z, quadrant) = (r * r, k as i32);
        let s = r - r * z * (1.0 / 6.0 - z / 120.0);
        let c = 1.0 - z * 0.5 + z * z * (1.0 / 24.0 - z / 720.0);
        let value = if quadrant & 1 == 0 { s } else { c };
        if quadrant & 2 == 0 { value } else { -value }
    }
    fn one_part_reduction(x: f32) -> f32 {
        let k = (x * std::f32::consts::FRAC_2_PI).round();
        let r = k.mul_add(-std::f32::consts::FRAC_PI_2, x);
        let value = if k as i32 & 1 == 0 { sinf(r) } else { cosf(r) };
        if k as i32 & 2 == 0 { value } else { -value }
    }
    for (what, degraded) in
        [("polynomial", short_polynomial as fn(f32) -> f32), ("reduction", one_part_reduction)]
    {
        let worst = worst(angles(1e4), |x| absolute(degraded(x), f64::from(x).sin()));
        println!("degraded {what}: {worst:?}");
        assert!(worst.error > 4e-6, "the degraded {what} was not detected: {worst:?}");
    }
}

#[test]
fn tangent() {
    within("tan", worst(linear(-1.5, 1.5, 1_000_000), |x| relative(tanf(x), f64::from(x).tan())), 5e-7);
    assert_eq!(tanf(-0.0).to_bits(), (-0.0f32).to_bits());
}

/// Points on circles of many radii, and with coordinates of very different sizes.
fn points() -> impl Iterator<Item = (f32, f32)> {
    let circle = (0..200_000).map(|i| f64::from(i) * (2.0 * PI / 200_000.0)).flat_map(|phi| {
        [1e-18, 1e-3, 1.0, 7.3, 1e18, 3e38].map(|r| ((r * phi.sin()) as f32, (r * phi.cos()) as f32))
    });
    let exponents = (-37..=37).flat_map(|i| (-37..=37).map(move |j| (10f32.powi(i) * 1.7, 10f32.powi(j))));
    circle.chain(exponents.flat_map(|(y, x)| [(y, x), (-y, x), (y, -x), (-y, -x)]))
}

#[test]
fn arc_tangent() {
    let mut largest = Worst { error: 0.0, at: 0.0 };
    for (y, x) in points() {
        let error = absolute(atan2f(y, x), f64::from(y).atan2(f64::from(x)));
        if error.is_nan() || error > largest.error {
            largest = Worst { error, at: f64::from(y) };
        }
    }
    within("atan2", largest, 4e-7);
    within("atan", worst(linear(-20.0, 20.0, 1_000_000), |x| absolute(atanf(x), f64::from(x).atan())), 2e-7);
    within(
        "atan, relative",
        worst(floats(1e-30, 1.0, 211), |x| relative(atanf(x), f64::from(x).atan())),
        3e-7,
    );
}

#[test]
fn arc_tangent_of_special_values() {
    let specials = [0.0f32, 1.0, 1e-30, 1e30, f32::MAX, f32::MIN_POSITIVE, f32::INFINITY];
    let signed = specials.iter().flat_map(|&v| [v, -v]);
    for y in signed.clone() {
        for x in signed.clone() {
            let (got, want) = (atan2f(y, x), f64::from(y).atan2(f64::from(x)));
            assert!(absolute(got, want) <= 4e-7, "atan2({y}, {x}) = {got}, not {want}");
            assert_eq!(got.is_sign_negative(), want.is_sign_negative(), "sign of atan2({y}, {x})");
        }
        assert!(atan2f(y, f32::NAN).is_nan() && atan2f(f32::NAN, y).is_nan(), "atan2 of {y} and NaN");
    }
}

#[test]
fn arc_cosine_and_sine() {
    let domain = || linear(-1.0, 1.0, 2_000_000).chain(floats(1e-20, 1.0, 499)).chain(floats(0.999, 1.0, 1));
    within("acos", worst(domain(), |x| absolute(acosf(x), f64::from(x).acos())), 4e-7);
    within("asin", worst(domain(), |x| absolute(asinf(x), f64::from(x).asin())), 4e-7);
    within(
        "acos, relative",
        worst(floats(0.5, 0.999_999_9, 17), |x| relative(acosf(x), f64::from(x).acos())),
        4e-7,
    );
    within(
        "asin, relative",
        worst(floats(1e-20, 1.0, 499), |x| relative(asinf(x), f64::from(x).asin())),
        4e-7,
    );
    assert_eq!((acosf(1.0), asinf(0.0).to_bits()), (0.0, 0));
    assert_eq!(asinf(-0.0).to_bits(), (-0.0f32).to_bits());
    for x in [1.000_001f32, -1.000_001, f32::INFINITY, f32::NAN] {
        assert!(acosf(x).is_nan() && asinf(x).is_nan(), "{x} is outside the domain");
    }
}

/// As for the sine: coefficients of one degree less must be seen.
#[test]
fn degraded_inverses_are_detected() {
    fn short_atan(a: f32) -> f32 {
        let z = a * a;
        a + a * z * (-0.331_773_8 + z * (0.184_956_9 + z * (-0.090_812_5 + z * 0.023_027_2)))
    }
    fn series_asin(x: f32) -> f32 {
        let z = x * x;
        x + x * z * (1.0 / 6.0 + z * (3.0 / 40.0 + z * (15.0 / 336.0)))
    }
    let atan = worst(linear(0.0, 1.0, 100_000), |a| absolute(short_atan(a), f64::from(a).atan()));
    assert!(atan.error > 4e-6, "{atan:?}");
    let asin = worst(linear(-0.5, 0.5, 100_000), |x| absolute(series_asin(x), f64::from(x).asin()));
    assert!(asin.error > 4e-6, "{asin:?}");
}

/// Only what this crate adds to the primitives: on the host those are `std`'s.
#[test]
fn exponentials() {
    let (one, step) = (1.0, 2.0f64.powi(-23));
    within(
        "exp",
        worst(linear(-80.0, 80.0, 1_000_000), |x| {
            let (got, want) = (expf(x), f64::from(x).exp());
            relative(got, want) / (one + f64::from(x.abs())) / step
        }),
        2.0,
    );
    within(
        "ln",
        worst(floats(1e-37, 1e37, 997), |x| {
            let want = f64::from(x).ln();
            absolute(logf(x), want) / want.abs().max(LN_2)
        }),
        2.0 * step,
    );
    assert_eq!((expf(0.0), expf(f32::NEG_INFINITY), expf(f32::INFINITY)), (1.0, 0.0, f32::INFINITY));
    assert_eq!((logf(1.0), logf(0.0)), (0.0, f32::NEG_INFINITY));
    assert!(logf(-1.0).is_nan());
}

#[test]
fn powers() {
    for y in [-3.0f32, -1.0, -0.5, 1.0 / 2.4, 0.5, 2.0, 2.4, 5.0, 100.0] {
        let samples = || {
            floats(1e-5, 1e5, 997).filter(move |&x| {
                let exponent = f64::from(y) * f64::from(x).log2();
                exponent.abs() < 120.0
            })
        };
        let scaled = worst(samples(), |x| {
            let exponent = (f64::from(y) * f64::from(x).log2()).abs();
            relative(powf(x, y), f64::from(x).powf(f64::from(y))) / (1.0 + exponent + f64::from(y.abs()))
        });
        within(&format!("x^{y}"), scaled, 2.0f64.powi(-22));
    }
    let exact = [(0.0, 0.0), (0.0, 2.0), (-2.0, 3.0), (-2.0, 2.0), (-2.0, -1.0), (4.0, 0.5), (0.0, -1.0)];
    for (x, y) in exact {
        assert_eq!(powf(x, y), f32::powf(x, y), "{x}^{y}");
    }
    assert!(powf(-2.0, 0.5).is_nan());
}

#[test]
fn rounding_halves_away_from_zero() {
    let values = linear(-9.0, 9.0, 36 * 16).chain(floats(1e-3, 1e9, 99_991).flat_map(|x| [x, -x]));
    for x in values.chain([-0.0, 0.499_999_97, 8_388_607.5, f32::INFINITY]) {
        assert_eq!(roundf(x).to_bits(), x.round().to_bits(), "round({x})");
        assert_eq!(floorf(x).to_bits(), x.floor().to_bits());
        assert_eq!(ceilf(x).to_bits(), x.ceil().to_bits());
        assert_eq!(truncf(x).to_bits(), x.trunc().to_bits());
    }
}

#[test]
fn roots_and_reciprocals() {
    let step = 2.0f64.powi(-23);
    within("sqrt", worst(floats(1e-37, 1e38, 997), |x| relative(sqrtf(x), f64::from(x).sqrt())), step);
    within(
        "rsqrt",
        worst(floats(1e-37, 1e38, 997), |x| relative(rsqrtf(x), 1.0 / f64::from(x).sqrt())),
        step,
    );
    within("rcp", worst(floats(1e-37, 8e37, 997), |x| relative(rcpf(x), 1.0 / f64::from(x))), step);
    assert_eq!(
        fmaf(1.0 + f32::EPSILON, 1.0 + f32::EPSILON, -1.0),
        2.0 * f32::EPSILON + f32::EPSILON * f32::EPSILON
    );
}
