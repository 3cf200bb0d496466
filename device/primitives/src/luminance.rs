//! The luminance of pixels.

use super::{Kernel, Length, Ptr};

/// Relative luminance of a linear Rec. 709 colour (ITU-R BT.709-6, item 3.2).
#[inline(always)]
pub fn luminance([r, g, b]: [f32; 3]) -> f32 {
    0.2126 * r + 0.7152 * g + 0.0722 * b
}

/// The luminance of each pixel, of `CHANNELS` numbers side by side, 3 or 4: a thread four pixels. The first three are red,
/// green and blue, of the primaries of Rec. 709.
pub struct Luminance<const CHANNELS: usize>;

/// Arguments of [`Luminance`].
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct LuminanceArgs {
    /// The pixels.
    pub pixels: Ptr<f32>,
    /// Their luminances.
    pub luminances: Ptr<f32>,
    /// Number of pixels.
    pub length: Length,
}

impl<const CHANNELS: usize> Luminance<CHANNELS> {
    /// Pixels of a block.
    pub const TILE: u32 = Self::BLOCK * 4;
}

impl<const CHANNELS: usize> Kernel for Luminance<CHANNELS> {
    type Args = LuminanceArgs;
    const BLOCK: u32 = 256;
    const BLOCKS: u32 = 6;

    #[cfg(target_arch = "nvptx64")]
    #[inline(always)]
    unsafe fn run(args: &Self::Args) {
        // SAFETY: as the caller promised.
        unsafe { gpu::run::<CHANNELS>(args) }
    }
}

/// Sequential equivalent of the kernel.
pub fn twin<const CHANNELS: usize>(pixels: &[f32], luminances: &mut [f32]) {
    for (pixel, to) in pixels.chunks_exact(CHANNELS).zip(luminances) {
        *to = luminance([pixel[0], pixel[1], pixel[2]]);
    }
}

#[cfg(target_arch = "nvptx64")]
mod gpu {
    use core::array;

    use cuda_std::{mem, thread};

    use super::*;
    use crate::Quad;

    #[inline(always)]
    pub(super) unsafe fn run<const CHANNELS: usize>(args: &LuminanceArgs) {
        // SAFETY: memory is as the caller promised, and every index is checked.
        unsafe {
            let n = args.length.get();
            let first = thread::index_1d() * 4;
            if first >= n {
                return;
            }
            let pixels = args.pixels.skip(first * CHANNELS as u32);
            if n - first >= 4 {
                let quads: [Quad<f32>; CHANNELS] =
                    array::from_fn(|k| pixels.cast::<Quad<f32>>().load_constant(k as u32));
                let number = |i: usize| quads[i / 4].0[i % 4];
                let all = array::from_fn(|p| luminance(array::from_fn(|c| number(p * CHANNELS + c))));
                mem::st(args.luminances.at(first).cast(), Quad(all));
            } else {
                for p in 0..n - first {
                    let pixel = array::from_fn(|c| pixels.load_constant(p * CHANNELS as u32 + c as u32));
                    args.luminances.store(first + p, luminance(pixel));
                }
            }
        }
    }
}
