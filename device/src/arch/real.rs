//! Numbers, one or several at once.

use core::ops::{Add, BitAnd, BitOr, Div, Mul, Neg, Not, Sub};

use glam::Vec3;

/// A number, or one number for each of several rays or primitives that are tested at once: the tests of shapes are
/// written once for all of these. Every operation rounds each lane as it would a number alone.
///
/// # Safety
/// The type is its `LANES` numbers in their order, and nothing else. Its operations may only be called on machines
/// that have its instruction set.
pub(crate) unsafe trait Real:
    Copy
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + 'static
{
    /// A truth value for each lane.
    type Mask: Mask;

    /// Number of lanes, a power of two, at most 16.
    const LANES: usize;

    /// The same number in all lanes.
    fn splat(x: f32) -> Self;

    /// Reads all lanes.
    ///
    /// # Safety
    /// `LANES` floats may be read at `p`, which needs no alignment beyond a float's.
    unsafe fn load(p: *const f32) -> Self;

    /// Writes all lanes.
    ///
    /// # Safety
    /// `LANES` floats may be written at `p`, which needs no alignment beyond a float's.
    unsafe fn store(self, p: *mut f32);

    /// a·b, rounded on its own: never contracted into a fused multiply–add.
    fn mul_rn(self, b: Self) -> Self;

    /// a − b, rounded on its own.
    fn sub_rn(self, b: Self) -> Self;

    /// a·b + c in whichever rounding is fastest, the same at every place it is written and for every type of a
    /// machine's numbers.
    fn mad(self, b: Self, c: Self) -> Self;

    /// a·b + c in whichever rounding is fastest for this type, for where the rounding decides nothing.
    fn mad_loose(self, b: Self, c: Self) -> Self;

    /// The larger; on a CPU `b` if one is NaN.
    fn max(self, b: Self) -> Self;

    /// The smaller; on a CPU `b` if one is NaN.
    fn min(self, b: Self) -> Self;

    /// |x|.
    fn abs(self) -> Self;

    /// √x for x ≥ 0.
    fn sqrt(self) -> Self;

    /// |x| with the sign of `sign`.
    fn copysign(self, sign: Self) -> Self;

    /// a < b; false if one is NaN, as all comparisons are.
    fn lt(self, b: Self) -> Self::Mask;

    /// a ≤ b.
    fn le(self, b: Self) -> Self::Mask;

    /// a = b.
    fn eq(self, b: Self) -> Self::Mask;

    /// Where the sign bit is set.
    fn is_sign_negative(self) -> Self::Mask;

    /// Where not all three have the same sign bit.
    fn signs_differ(self, b: Self, c: Self) -> Self::Mask;

    /// `a` where the mask is set, `b` elsewhere.
    fn select(mask: Self::Mask, a: Self, b: Self) -> Self;
}

/// A vector, or one for each lane.
//
// Functions of these are written without closures and without `array::map`: those do not carry the instruction set
// of the stage that they are inlined into, and so may not be inlined at all.
pub(crate) type Vec3s<F> = [F; 3];

/// The same vector in all lanes.
#[inline(always)]
pub(crate) fn splat<F: Real>(v: Vec3) -> Vec3s<F> {
    [F::splat(v.x), F::splat(v.y), F::splat(v.z)]
}

/// a − b.
#[inline(always)]
pub(crate) fn minus<F: Real>(a: Vec3s<F>, b: Vec3s<F>) -> Vec3s<F> {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

/// a·s.
#[inline(always)]
pub(crate) fn scaled<F: Real>(a: Vec3s<F>, s: F) -> Vec3s<F> {
    [a[0] * s, a[1] * s, a[2] * s]
}

/// The dot product.
#[inline(always)]
pub(crate) fn dot<F: Real>(a: Vec3s<F>, b: Vec3s<F>) -> F {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// The cross product.
#[inline(always)]
pub(crate) fn cross<F: Real>(a: Vec3s<F>, b: Vec3s<F>) -> Vec3s<F> {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

/// Truth values.
pub(crate) trait Mask:
    Copy + BitAnd<Output = Self> + BitOr<Output = Self> + Not<Output = Self> + 'static
{
    /// A bit for each lane, from the lowest.
    fn bits(self) -> u32;
}

impl Mask for bool {
    #[inline(always)]
    fn bits(self) -> u32 {
        u32::from(self)
    }
}

// SAFETY: a number is one number, and all machines have its operations.
unsafe impl Real for f32 {
    type Mask = bool;
    const LANES: usize = 1;

    #[inline(always)]
    fn splat(x: f32) -> Self {
        x
    }

    #[inline(always)]
    unsafe fn load(p: *const f32) -> Self {
        // SAFETY: as the caller promised.
        unsafe { p.read() }
    }

    #[inline(always)]
    unsafe fn store(self, p: *mut f32) {
        // SAFETY: as the caller promised.
        unsafe { p.write(self) }
    }

    #[inline(always)]
    fn mul_rn(self, b: Self) -> Self {
        super::mul_rn(self, b)
    }

    #[inline(always)]
    fn sub_rn(self, b: Self) -> Self {
        super::sub_rn(self, b)
    }

    #[inline(always)]
    fn mad(self, b: Self, c: Self) -> Self {
        super::mad(self, b, c)
    }

    #[inline(always)]
    fn mad_loose(self, b: Self, c: Self) -> Self {
        super::mad(self, b, c)
    }

    #[inline(always)]
    fn max(self, b: Self) -> Self {
        super::max(self, b)
    }

    #[inline(always)]
    fn min(self, b: Self) -> Self {
        super::min(self, b)
    }

    #[inline(always)]
    fn abs(self) -> Self {
        f32::abs(self)
    }

    #[inline(always)]
    fn sqrt(self) -> Self {
        super::sqrt(self)
    }

    #[inline(always)]
    fn copysign(self, sign: Self) -> Self {
        f32::copysign(self, sign)
    }

    #[inline(always)]
    fn lt(self, b: Self) -> bool {
        self < b
    }

    #[inline(always)]
    fn le(self, b: Self) -> bool {
        self <= b
    }

    #[inline(always)]
    fn eq(self, b: Self) -> bool {
        self == b
    }

    #[inline(always)]
    fn is_sign_negative(self) -> bool {
        f32::is_sign_negative(self)
    }

    #[inline(always)]
    fn signs_differ(self, b: Self, c: Self) -> bool {
        let [a, b, c] = [self, b, c].map(f32::is_sign_negative);
        a != b || b != c
    }

    #[inline(always)]
    fn select(mask: bool, a: Self, b: Self) -> Self {
        if mask { a } else { b }
    }
}
