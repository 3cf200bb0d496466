//! Depth of field of an image whose depths are known, in layers.
//!
//! A thin lens spreads what it sees of a point over a circle of confusion. Pixels are sliced into layers by the circle's
//! radius (Scofield 1992, "2½-D depth-of-field simulation for computer animation"), each layer is blurred by one disc, in
//! constant time from its summed-area table (Crow 1984; Hensley et al. 2005, "Fast summed-area table generation and its
//! applications"), and the layers are put one behind the other, from the nearest to the farthest.
//!
//! - [`Circles`]: how large the circle is, of the one or two surfaces that a pixel sees.
//! - [`Slice`]: the part of every pixel that is in a layer, or behind one.
//! - [`Cover`]: a layer, blurred, fills what those before it have left free.
//! - [`Behind`]: a guess of what is behind a layer, where pixels that would tell are hidden.
//! - [`Develop`]: the image.
//!
//! Parts of pixels are multiples of 2⁻²⁴, so their sums in `f64` are exact: what a layer covers is known without error, and
//! where it covers nothing, too.

mod blurred;
mod circles;
mod slice;

pub use blurred::{
    Behind, BehindArgs, Blurred, Cover, CoverArgs, Develop, DevelopArgs, Layered, Strip, behind, cover,
    developed,
};
pub use circles::{Circles, CirclesArgs, VisibleSurfaces, visible_surfaces};
pub use slice::{Ramp, Slice, SliceArgs, sliced};

#[cfg(target_arch = "nvptx64")]
use super::{Ptr, Quad};

/// Columns of a block's pixels.
const ACROSS: u32 = 32;

/// Rows of a block's pixels.
const DOWN: u32 = 8;

/// Threads of a block: one a pixel.
const BLOCK: u32 = ACROSS * DOWN;

/// Width and height, pixels. Four times the number of pixels fits a `u32`.
pub type Size = [u32; 2];

/// Blocks for an image.
pub fn blocks([width, height]: Size) -> u32 {
    width.div_ceil(ACROSS) * height.div_ceil(DOWN)
}

/// This thread's pixel.
#[cfg(target_arch = "nvptx64")]
#[inline(always)]
fn pixel([width, height]: Size) -> Option<u32> {
    use cuda_std::thread::{block_idx_x, thread_idx_x};

    let tiles = width.div_ceil(ACROSS).max(1);
    let x = block_idx_x() % tiles * ACROSS + thread_idx_x() % ACROSS;
    let y = block_idx_x() / tiles * DOWN + thread_idx_x() / ACROSS;
    (x < width && y < height).then_some(y * width + x)
}

/// Reads pixel `i`, which no other thread writes.
///
/// # Safety
/// It is there, in global memory, on 16 bytes.
#[cfg(target_arch = "nvptx64")]
#[inline(always)]
unsafe fn load<T: Copy>(pixels: Ptr<[T; 4]>, i: u32) -> [T; 4] {
    // SAFETY: as the caller promised.
    unsafe { pixels.cast::<Quad<T>>().load(i) }.0
}

/// Writes pixel `i`.
///
/// # Safety
/// It is there, in global memory, on 16 bytes, and this thread's.
#[cfg(target_arch = "nvptx64")]
#[inline(always)]
unsafe fn store<T: Copy>(pixels: Ptr<[T; 4]>, i: u32, pixel: [T; 4]) {
    // SAFETY: as the caller promised.
    unsafe { pixels.cast().store(i, Quad(pixel)) }
}
