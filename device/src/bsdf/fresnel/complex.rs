//! Complex numbers.

use core::ops::{Add, Div, Mul, Sub};

use crate::arch::{max, sqrt};

#[derive(Clone, Copy)]
pub(super) struct Complex {
    pub(super) re: f32,
    pub(super) im: f32,
}

impl Complex {
    #[inline(always)]
    pub(super) fn new(re: f32, im: f32) -> Self {
        Self { re, im }
    }

    #[inline(always)]
    pub(super) fn norm2(self) -> f32 {
        self.re * self.re + self.im * self.im
    }

    /// The principal root of a number with im ≥ 0.
    #[inline(always)]
    pub(super) fn sqrt(self) -> Self {
        let larger = sqrt(0.5 * (sqrt(self.norm2()) + self.re.abs()));
        let smaller = 0.5 * self.im / max(larger, f32::MIN_POSITIVE);
        if self.re >= 0.0 { Self::new(larger, smaller) } else { Self::new(smaller, larger) }
    }
}

impl Add for Complex {
    type Output = Self;
    #[inline(always)]
    fn add(self, o: Self) -> Self {
        Self::new(self.re + o.re, self.im + o.im)
    }
}

impl Sub for Complex {
    type Output = Self;
    #[inline(always)]
    fn sub(self, o: Self) -> Self {
        Self::new(self.re - o.re, self.im - o.im)
    }
}

impl Mul for Complex {
    type Output = Self;
    #[inline(always)]
    fn mul(self, o: Self) -> Self {
        Self::new(self.re * o.re - self.im * o.im, self.re * o.im + self.im * o.re)
    }
}

impl Mul<Complex> for f32 {
    type Output = Complex;
    #[inline(always)]
    fn mul(self, z: Complex) -> Complex {
        Complex::new(self * z.re, self * z.im)
    }
}

/// Zero for 0/0.
impl Div for Complex {
    type Output = Self;
    #[inline(always)]
    fn div(self, o: Self) -> Self {
        let inverse = 1.0 / max(o.norm2(), f32::MIN_POSITIVE);
        inverse * (self * Self::new(o.re, -o.im))
    }
}
