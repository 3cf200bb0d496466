//! Registers of x86-64 as [`Real`] numbers.
//!
//! The operations may only run on machines that have the instruction set: values of these types exist only in code
//! that [`crate::bvh::Arch`]s of these machines reach.

use core::arch::x86_64::*;
use core::ops::{Add, BitAnd, BitOr, Div, Mul, Neg, Not, Sub};

use super::real::{Mask, Real};

/// Eight numbers in a register of AVX2.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct F32x8(__m256);

/// Eight truth values: all bits of a lane, or none.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(crate) struct Mask8(__m256);

/// Sixteen numbers in a register of AVX-512.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct F32x16(__m512);

/// Sixteen truth values, a bit each.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(crate) struct Mask16(__mmask16);

/// Wraps an instruction that the machine has, as the module's documentation requires.
macro_rules! wraps {
    ($(fn $name:ident($($arg:ident: $ty:ty),*) -> $out:ty { $body:expr })*) => {
        $(
            #[inline(always)]
            fn $name($($arg: $ty),*) -> $out {
                // SAFETY: the machine has the instructions.
                unsafe { $body }
            }
        )*
    };
}

macro_rules! arithmetic {
    ($F:ident: $add:ident, $sub:ident, $mul:ident, $div:ident, $xor:ident) => {
        impl Neg for $F {
            type Output = Self;
            wraps! { fn neg(self: Self) -> Self { Self($xor(self.0, Self::splat(-0.0).0)) } }
        }
        impl Add for $F {
            type Output = Self;
            wraps! { fn add(self: Self, b: Self) -> Self { Self($add(self.0, b.0)) } }
        }
        impl Sub for $F {
            type Output = Self;
            wraps! { fn sub(self: Self, b: Self) -> Self { Self($sub(self.0, b.0)) } }
        }
        impl Mul for $F {
            type Output = Self;
            wraps! { fn mul(self: Self, b: Self) -> Self { Self($mul(self.0, b.0)) } }
        }
        impl Div for $F {
            type Output = Self;
            wraps! { fn div(self: Self, b: Self) -> Self { Self($div(self.0, b.0)) } }
        }
    };
}

arithmetic!(F32x8: _mm256_add_ps, _mm256_sub_ps, _mm256_mul_ps, _mm256_div_ps, _mm256_xor_ps);
arithmetic!(F32x16: _mm512_add_ps, _mm512_sub_ps, _mm512_mul_ps, _mm512_div_ps, _mm512_xor_ps);

/// Operations that both widths define alike.
macro_rules! real {
    ($lanes:literal, $splat:ident, $load:ident, $store:ident, $max:ident, $min:ident, $sqrt:ident, $fmadd:ident) => {
        const LANES: usize = $lanes;

        #[inline(always)]
        unsafe fn load(p: *const f32) -> Self {
            // SAFETY: as the caller promised.
            Self(unsafe { $load(p) })
        }

        #[inline(always)]
        unsafe fn store(self, p: *mut f32) {
            // SAFETY: as the caller promised.
            unsafe { $store(p, self.0) }
        }

        #[inline(always)]
        fn mul_rn(self, b: Self) -> Self {
            self * b
        }

        #[inline(always)]
        fn sub_rn(self, b: Self) -> Self {
            self - b
        }

        #[inline(always)]
        fn mad(self, b: Self, c: Self) -> Self {
            self * b + c
        }

        wraps! {
            fn splat(x: f32) -> Self { Self($splat(x)) }
            fn mad_loose(self: Self, b: Self, c: Self) -> Self { Self($fmadd(self.0, b.0, c.0)) }
            fn max(self: Self, b: Self) -> Self { Self($max(self.0, b.0)) }
            fn min(self: Self, b: Self) -> Self { Self($min(self.0, b.0)) }
            fn sqrt(self: Self) -> Self { Self($sqrt(self.0)) }
        }
    };
}

// SAFETY: a register is its eight lanes; only `Avx2` makes such numbers.
unsafe impl Real for F32x8 {
    type Mask = Mask8;
    real!(
        8,
        _mm256_set1_ps,
        _mm256_loadu_ps,
        _mm256_storeu_ps,
        _mm256_max_ps,
        _mm256_min_ps,
        _mm256_sqrt_ps,
        _mm256_fmadd_ps
    );

    wraps! {
        fn abs(self: Self) -> Self { Self(_mm256_andnot_ps(_mm256_set1_ps(-0.0), self.0)) }
        fn copysign(self: Self, sign: Self) -> Self {
            Self(_mm256_or_ps(self.abs().0, _mm256_and_ps(_mm256_set1_ps(-0.0), sign.0)))
        }
        fn lt(self: Self, b: Self) -> Mask8 { Mask8(_mm256_cmp_ps::<_CMP_LT_OQ>(self.0, b.0)) }
        fn le(self: Self, b: Self) -> Mask8 { Mask8(_mm256_cmp_ps::<_CMP_LE_OQ>(self.0, b.0)) }
        fn eq(self: Self, b: Self) -> Mask8 { Mask8(_mm256_cmp_ps::<_CMP_EQ_OQ>(self.0, b.0)) }
        fn is_sign_negative(self: Self) -> Mask8 {
            Mask8(_mm256_castsi256_ps(_mm256_srai_epi32::<31>(_mm256_castps_si256(self.0))))
        }
        fn signs_differ(self: Self, b: Self, c: Self) -> Mask8 {
            Self(_mm256_or_ps(_mm256_xor_ps(self.0, b.0), _mm256_xor_ps(b.0, c.0))).is_sign_negative()
        }
        fn select(mask: Mask8, a: Self, b: Self) -> Self { Self(_mm256_blendv_ps(b.0, a.0, mask.0)) }
    }
}

impl F32x8 {
    /// The four columns of eight rows, which begin at `first` and then every `STRIDE` numbers; or, unless `all`, of the first
    /// four, with zeros in the other lanes.
    ///
    /// # Safety
    /// The four numbers of every such row may be read; the machine has AVX2.
    #[inline(always)]
    pub(crate) unsafe fn columns<const STRIDE: usize>(first: *const f32, all: bool) -> [Self; 4] {
        // SAFETY: as the caller promised.
        unsafe {
            // Row i and row i + 4, a half each.
            let pair = |i: usize| {
                let row = |i: usize| _mm_loadu_ps(first.add(i * STRIDE));
                let half = _mm256_zextps128_ps256(row(i));
                if all { _mm256_insertf128_ps::<1>(half, row(i + 4)) } else { half }
            };
            let [r0, r1, r2, r3] = [pair(0), pair(1), pair(2), pair(3)];
            let (xy01, zw01) = (_mm256_unpacklo_ps(r0, r1), _mm256_unpackhi_ps(r0, r1));
            let (xy23, zw23) = (_mm256_unpacklo_ps(r2, r3), _mm256_unpackhi_ps(r2, r3));
            const LOW: i32 = 0b01_00_01_00;
            const HIGH: i32 = 0b11_10_11_10;
            [
                Self(_mm256_shuffle_ps::<LOW>(xy01, xy23)),
                Self(_mm256_shuffle_ps::<HIGH>(xy01, xy23)),
                Self(_mm256_shuffle_ps::<LOW>(zw01, zw23)),
                Self(_mm256_shuffle_ps::<HIGH>(zw01, zw23)),
            ]
        }
    }

    /// The lanes, a bit each, that as words have any of these bits.
    #[inline(always)]
    pub(crate) fn have_any(self, bits: u32) -> u32 {
        // SAFETY: the machine has the instructions, by what the module says.
        unsafe {
            let found = _mm256_and_si256(_mm256_castps_si256(self.0), _mm256_set1_epi32(bits as i32));
            let none = _mm256_cmpeq_epi32(found, _mm256_setzero_si256());
            !_mm256_movemask_ps(_mm256_castsi256_ps(none)) as u32 & 0xff
        }
    }
}

// SAFETY: a register is its sixteen lanes; only `Avx512` makes such numbers.
unsafe impl Real for F32x16 {
    type Mask = Mask16;
    real!(
        16,
        _mm512_set1_ps,
        _mm512_loadu_ps,
        _mm512_storeu_ps,
        _mm512_max_ps,
        _mm512_min_ps,
        _mm512_sqrt_ps,
        _mm512_fmadd_ps
    );

    wraps! {
        fn abs(self: Self) -> Self { Self(_mm512_abs_ps(self.0)) }
        fn copysign(self: Self, sign: Self) -> Self {
            Self(_mm512_or_ps(self.abs().0, _mm512_and_ps(_mm512_set1_ps(-0.0), sign.0)))
        }
        fn lt(self: Self, b: Self) -> Mask16 { Mask16(_mm512_cmp_ps_mask::<_CMP_LT_OQ>(self.0, b.0)) }
        fn le(self: Self, b: Self) -> Mask16 { Mask16(_mm512_cmp_ps_mask::<_CMP_LE_OQ>(self.0, b.0)) }
        fn eq(self: Self, b: Self) -> Mask16 { Mask16(_mm512_cmp_ps_mask::<_CMP_EQ_OQ>(self.0, b.0)) }
        fn is_sign_negative(self: Self) -> Mask16 { Mask16(_mm512_movepi32_mask(_mm512_castps_si512(self.0))) }
        fn signs_differ(self: Self, b: Self, c: Self) -> Mask16 {
            Self(_mm512_or_ps(_mm512_xor_ps(self.0, b.0), _mm512_xor_ps(b.0, c.0))).is_sign_negative()
        }
        fn select(mask: Mask16, a: Self, b: Self) -> Self { Self(_mm512_mask_blend_ps(mask.0, b.0, a.0)) }
    }
}

impl BitAnd for Mask8 {
    type Output = Self;
    wraps! { fn bitand(self: Self, b: Self) -> Self { Self(_mm256_and_ps(self.0, b.0)) } }
}

impl BitOr for Mask8 {
    type Output = Self;
    wraps! { fn bitor(self: Self, b: Self) -> Self { Self(_mm256_or_ps(self.0, b.0)) } }
}

impl Not for Mask8 {
    type Output = Self;
    wraps! {
        fn not(self: Self) -> Self { Self(_mm256_xor_ps(self.0, _mm256_castsi256_ps(_mm256_set1_epi32(-1)))) }
    }
}

impl Mask for Mask8 {
    wraps! { fn bits(self: Self) -> u32 { _mm256_movemask_ps(self.0) as u32 } }
}

impl BitAnd for Mask16 {
    type Output = Self;
    #[inline(always)]
    fn bitand(self, b: Self) -> Self {
        Self(self.0 & b.0)
    }
}

impl BitOr for Mask16 {
    type Output = Self;
    #[inline(always)]
    fn bitor(self, b: Self) -> Self {
        Self(self.0 | b.0)
    }
}

impl Not for Mask16 {
    type Output = Self;
    #[inline(always)]
    fn not(self) -> Self {
        Self(!self.0)
    }
}

impl Mask for Mask16 {
    #[inline(always)]
    fn bits(self) -> u32 {
        u32::from(self.0)
    }
}
