//! Floating point: the usual methods for `f32` without `std`, and arithmetic that is never fused.
//!
//! The GPU build compiles `a * b + c` to one fused multiply-add with one rounding, which is faster and
//! usually better. [`mul_rn`], [`add_rn`] and [`sub_rn`] are for the rest: error-free transformations,
//! and results that must be bit for bit those of the host.

#[cfg(target_arch = "nvptx64")]
mod gpu {
    unsafe extern "C" {
        #[link_name = "llvm.nvvm.mul.rn.f"]
        pub(super) safe fn mul_rn(x: f32, y: f32) -> f32;
        #[link_name = "llvm.nvvm.add.rn.f"]
        pub(super) safe fn add_rn(x: f32, y: f32) -> f32;
        #[link_name = "llvm.nvvm.div.rn.f"]
        pub(super) safe fn div_rn(x: f32, y: f32) -> f32;
        #[link_name = "llvm.nvvm.rcp.rn.f"]
        pub(super) safe fn rcp_rn(x: f32) -> f32;
        #[link_name = "llvm.nvvm.sqrt.rn.f"]
        pub(super) safe fn sqrt_rn(x: f32) -> f32;
        #[link_name = "llvm.nvvm.sin.approx.ftz.f"]
        pub(super) safe fn sin_approx(x: f32) -> f32;
        #[link_name = "llvm.nvvm.cos.approx.ftz.f"]
        pub(super) safe fn cos_approx(x: f32) -> f32;
    }

    /// By `asm!`: there is no intrinsic, and a negated operand would be flushed (`neg.ftz`).
    #[inline(always)]
    pub(super) fn sub_rn(x: f32, y: f32) -> f32 {
        let difference: f32;
        // SAFETY: arithmetic on registers.
        unsafe {
            core::arch::asm!("sub.rn.f32 {}, {}, {};", out(reg32) difference, in(reg32) x, in(reg32) y,
                             options(pure, nomem, nostack, preserves_flags));
        }
        difference
    }

    /// By `asm!`: LLVM takes its intrinsic for an ordinary fma, which this build makes `fma.rn.ftz`.
    #[inline(always)]
    pub(super) fn fma_rn(x: f32, y: f32, z: f32) -> f32 {
        let sum: f32;
        // SAFETY: arithmetic on registers.
        unsafe {
            core::arch::asm!("fma.rn.f32 {}, {}, {}, {};", out(reg32) sum, in(reg32) x, in(reg32) y, in(reg32) z,
                             options(pure, nomem, nostack, preserves_flags));
        }
        sum
    }
}

#[cfg(not(target_arch = "nvptx64"))]
mod gpu {
    extern crate std;

    pub(super) fn mul_rn(x: f32, y: f32) -> f32 {
        x * y
    }
    pub(super) fn add_rn(x: f32, y: f32) -> f32 {
        x + y
    }
    pub(super) fn sub_rn(x: f32, y: f32) -> f32 {
        x - y
    }
    pub(super) fn fma_rn(x: f32, y: f32, z: f32) -> f32 {
        x.mul_add(y, z)
    }
    pub(super) fn div_rn(x: f32, y: f32) -> f32 {
        x / y
    }
    pub(super) fn rcp_rn(x: f32) -> f32 {
        1.0 / x
    }
    pub(super) fn sqrt_rn(x: f32) -> f32 {
        x.sqrt()
    }
    pub(super) fn sin_approx(x: f32) -> f32 {
        x.sin()
    }
    pub(super) fn cos_approx(x: f32) -> f32 {
        x.cos()
    }
}

/// x·y, rounded to nearest and never fused with an addition: `mul.rn.f32`. Subnormals are kept.
#[inline(always)]
#[must_use]
pub fn mul_rn(x: f32, y: f32) -> f32 {
    gpu::mul_rn(x, y)
}

/// x + y, rounded to nearest and never fused with a multiplication: `add.rn.f32`. Subnormals are kept.
#[inline(always)]
#[must_use]
pub fn add_rn(x: f32, y: f32) -> f32 {
    gpu::add_rn(x, y)
}

/// x − y, rounded to nearest and never fused with a multiplication: `sub.rn.f32`. Subnormals are kept.
#[inline(always)]
#[must_use]
pub fn sub_rn(x: f32, y: f32) -> f32 {
    gpu::sub_rn(x, y)
}

/// x·y + z with one rounding: `fma.rn.f32`. Subnormals are kept.
#[inline(always)]
#[must_use]
pub fn fma_rn(x: f32, y: f32, z: f32) -> f32 {
    gpu::fma_rn(x, y, z)
}

/// x/y, correctly rounded: `div.rn.f32`. Many instructions; a plain `/` is the fast division.
#[inline(always)]
#[must_use]
pub fn div_rn(x: f32, y: f32) -> f32 {
    gpu::div_rn(x, y)
}

/// 1/x, correctly rounded: `rcp.rn.f32`.
#[inline(always)]
#[must_use]
pub fn rcp_rn(x: f32) -> f32 {
    gpu::rcp_rn(x)
}

/// √x, correctly rounded: `sqrt.rn.f32`.
#[inline(always)]
#[must_use]
pub fn sqrt_rn(x: f32) -> f32 {
    gpu::sqrt_rn(x)
}

/// sin x by the hardware: `sin.approx.ftz.f32`. Absolute error 2⁻²⁰·⁵ for |x| ≤ π, growing with |x|.
#[inline(always)]
#[must_use]
pub fn sin_approx(x: f32) -> f32 {
    gpu::sin_approx(x)
}

/// cos x by the hardware: `cos.approx.ftz.f32`. Absolute error 2⁻²⁰·⁵ for |x| ≤ π, growing with |x|.
#[inline(always)]
#[must_use]
pub fn cos_approx(x: f32) -> f32 {
    gpu::cos_approx(x)
}

macro_rules! gpu_float {
    ($($(#[$doc:meta])* fn $method:ident(self $(, $arg:ident: $ty:ty)*) -> $ret:ty = $value:expr;)*) => {
        /// The floating-point methods that `core` lacks, under `std`'s names.
        ///
        /// The algorithms are the crate `libm`'s; its documentation has their errors. Where `std` is
        /// there its own methods win, so code that imports this compiles on both sides.
        pub trait GpuFloat: Sized + Copy {
            $($(#[$doc])* #[must_use] fn $method(self $(, $arg: $ty)*) -> $ret;)*
        }

        impl GpuFloat for f32 {
            $(#[inline(always)]
            fn $method(self $(, $arg: $ty)*) -> $ret {
                let method: fn(f32 $(, $ty)*) -> $ret = $value;
                method(self $(, $arg)*)
            })*
        }
    };
}

gpu_float! {
    /// √x: `sqrt.approx.ftz.f32`.
    fn sqrt(self) -> Self = libm::sqrtf;
    /// 1/√x: `rsqrt.approx.ftz.f32`.
    fn rsqrt(self) -> Self = libm::rsqrtf;
    /// 1/x: `rcp.approx.ftz.f32`. (`core`'s own `recip` is a division: `div.approx` or `rcp.approx`.)
    fn rcp(self) -> Self = libm::rcpf;
    /// Sine: polynomial.
    fn sin(self) -> Self = libm::sinf;
    /// Cosine: polynomial.
    fn cos(self) -> Self = libm::cosf;
    /// Sine and cosine, sharing the reduction: polynomials.
    fn sin_cos(self) -> (Self, Self) = libm::sincosf;
    /// Tangent: polynomials and `div.full.ftz.f32`.
    fn tan(self) -> Self = libm::tanf;
    /// Arc sine: polynomial and `sqrt.approx.ftz.f32`.
    fn asin(self) -> Self = libm::asinf;
    /// Arc cosine: polynomial and `sqrt.approx.ftz.f32`.
    fn acos(self) -> Self = libm::acosf;
    /// Arc tangent: polynomial and `div.full.ftz.f32`.
    fn atan(self) -> Self = libm::atanf;
    /// The angle of the point (`x`, `self`): polynomial and `div.full.ftz.f32`.
    fn atan2(self, x: Self) -> Self = libm::atan2f;
    /// eˣ: `ex2.approx.ftz.f32` of a product.
    fn exp(self) -> Self = libm::expf;
    /// 2ˣ: `ex2.approx.ftz.f32`.
    fn exp2(self) -> Self = libm::exp2f;
    /// ln x: `lg2.approx.ftz.f32` and a product.
    fn ln(self) -> Self = libm::logf;
    /// log₂ x: `lg2.approx.ftz.f32`.
    fn log2(self) -> Self = libm::log2f;
    /// xʸ: `lg2.approx.ftz.f32`, a product, `ex2.approx.ftz.f32`.
    fn powf(self, y: Self) -> Self = libm::powf;
    /// xⁿ by repeated squaring: `mul.f32` only.
    fn powi(self, n: i32) -> Self = powi;
    /// x·y + z with one rounding: `fma.rn.ftz.f32`.
    fn mul_add(self, y: Self, z: Self) -> Self = libm::fmaf;
    /// Largest integer not above x: `cvt.rmi.ftz.f32.f32`.
    fn floor(self) -> Self = libm::floorf;
    /// Smallest integer not below x: `cvt.rpi.ftz.f32.f32`.
    fn ceil(self) -> Self = libm::ceilf;
    /// x towards zero: `cvt.rzi.ftz.f32.f32`.
    fn trunc(self) -> Self = libm::truncf;
    /// Nearest integer, halves away from zero: `cvt.rzi.ftz.f32.f32` and a correction.
    fn round(self) -> Self = libm::roundf;
    /// x − trunc x: `cvt.rzi.ftz.f32.f32` and `sub.f32`.
    fn fract(self) -> Self = |x| x - libm::truncf(x);
}

/// xⁿ by repeated squaring.
#[inline(always)]
fn powi(x: f32, n: i32) -> f32 {
    let mut power = 1.0;
    let mut square = x;
    let mut bits = n.unsigned_abs();
    while bits != 0 {
        if bits & 1 != 0 {
            power *= square;
        }
        square *= square;
        bits >>= 1;
    }
    if n < 0 { 1.0 / power } else { power }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::GpuFloat;

    /// `GpuFloat`'s methods by their full name: on the host `f32`'s own would be found first.
    #[test]
    fn methods_forward_to_their_functions() {
        type Function = fn(f32) -> f32;
        let unary: [(Function, Function); 15] = [
            (GpuFloat::sqrt, f32::sqrt),
            (GpuFloat::rcp, f32::recip),
            (GpuFloat::sin, f32::sin),
            (GpuFloat::cos, f32::cos),
            (GpuFloat::tan, f32::tan),
            (GpuFloat::asin, f32::asin),
            (GpuFloat::acos, f32::acos),
            (GpuFloat::atan, f32::atan),
            (GpuFloat::exp, f32::exp),
            (GpuFloat::exp2, f32::exp2),
            (GpuFloat::ln, f32::ln),
            (GpuFloat::log2, f32::log2),
            (GpuFloat::floor, f32::floor),
            (GpuFloat::round, f32::round),
            (GpuFloat::fract, f32::fract),
        ];
        for (i, (ours, std)) in unary.iter().enumerate() {
            for x in [0.1f32, 0.35, 0.5, 0.625, 0.9] {
                assert!((ours(x) - std(x)).abs() <= 4e-7 * std(x).abs().max(1.0), "function {i} at {x}");
            }
        }
        assert_eq!(GpuFloat::rsqrt(0.25f32), 2.0);
        assert_eq!((GpuFloat::ceil(1.2f32), GpuFloat::trunc(-1.7f32)), (2.0, -1.0));
        assert_eq!(GpuFloat::mul_add(2.0f32, 3.0, 4.0), 10.0);
        assert!((GpuFloat::atan2(1.0f32, -1.0) - 1f32.atan2(-1.0)).abs() < 4e-7);
        assert!((GpuFloat::powf(2.0f32, 0.5) - 2f32.sqrt()).abs() < 4e-7);
        assert_eq!(GpuFloat::sin_cos(0.5f32), (GpuFloat::sin(0.5f32), GpuFloat::cos(0.5f32)));
    }

    #[test]
    fn integer_powers() {
        for (x, n, want) in
            [(2.0f32, 10, 1024.0), (-3.0, 3, -27.0), (2.0, -2, 0.25), (7.0, 0, 1.0), (0.0, 0, 1.0)]
        {
            assert_eq!(GpuFloat::powi(x, n), want, "{x}^{n}");
        }
    }
}
