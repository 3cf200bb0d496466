//! Eight numbers side by side, as few as a GPU has registers for, and as many as a CPU computes at once.

use bytemuck::{Pod, Zeroable};
use primitives::Quad;

use crate::arch::load;

/// Does something for each number `k` of a row: in a loop, of which a CPU makes vector instructions; on a GPU eight times over, so
/// that arrays stay in registers.
#[cfg(not(target_arch = "nvptx64"))]
macro_rules! each_of_row {
    ($k:ident => $body:block) => {
        #[allow(clippy::needless_range_loop, reason = "rows may be addresses")]
        for $k in 0..$crate::row::Row::LEN $body
    };
}
#[cfg(target_arch = "nvptx64")]
macro_rules! each_of_row {
    ($k:ident => $body:block) => {
        $crate::row::each_of_row!($k => $body, 0 1 2 3 4 5 6 7)
    };
    ($k:ident => $body:block, $($number:literal)*) => {
        $({
            let $k: usize = $number;
            $body
        })*
    };
}
pub(crate) use each_of_row;

/// Eight numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(C, align(16))]
pub struct Row(pub [f32; 8]);

impl Row {
    /// How many they are.
    pub const LEN: usize = 8;

    /// Zeros.
    pub const ZERO: Self = Self([0.0; Self::LEN]);

    /// Number `k` of a row in memory. On a GPU, four that are read one after the other take one load, if each `k` is a constant.
    ///
    /// # Safety
    /// There is the row, which nobody writes, and `k` < [`Row::LEN`].
    #[inline(always)]
    pub(crate) unsafe fn number(this: *const Self, k: usize) -> f32 {
        if !cfg!(target_arch = "nvptx64") {
            // SAFETY: as the caller promised.
            return unsafe { load(this.cast::<f32>().add(k)) };
        }
        // SAFETY: as the caller promised; halves of a row are aligned to their size.
        let Quad(four) = unsafe { load(this.cast::<Quad<f32>>().add(k / 4)) };
        four[k % 4]
    }

    /// As [`Row::number`], where `k` is not a constant.
    ///
    /// # Safety
    /// As [`Row::number`].
    #[inline(always)]
    pub(crate) unsafe fn number_at(this: *const Self, k: usize) -> f32 {
        // SAFETY: as the caller promised.
        unsafe { load(this.cast::<f32>().add(k)) }
    }
}

/// The sum of eight numbers.
#[inline(always)]
pub(crate) fn sum(of: &[f32; Row::LEN]) -> f32 {
    let [a, b, c, d, e, f, g, h] = *of;
    ((a + b) + (c + d)) + ((e + f) + (g + h))
}
