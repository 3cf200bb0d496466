//! A box blur in constant time per pixel.

use super::{Size, rectangle};
use crate::{Kernel, Ptr};

/// Replaces each pixel by the mean over the part within the image of a rectangle around it: one thread per number.
pub struct BoxBlur<const CHANNELS: u32>;

/// Arguments of [`BoxBlur`].
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct BoxBlurArgs<const CHANNELS: u32> {
    /// The image's table.
    pub table: Ptr<f64>,
    /// The means.
    pub blurred: Ptr<f32>,
    /// Size of both.
    pub size: Size<CHANNELS>,
    /// Radii of the rectangle along x and y, without the middle pixel: less than 2³¹.
    pub radii: [u32; 2],
}

impl<const CHANNELS: u32> Kernel for BoxBlur<CHANNELS> {
    type Args = BoxBlurArgs<CHANNELS>;
    const BLOCK: u32 = 256;
    const BLOCKS: u32 = 8;

    #[cfg(target_arch = "nvptx64")]
    #[inline(always)]
    unsafe fn run(args: &Self::Args) {
        let i = cuda_std::thread::index_1d();
        if i < args.size.width * args.size.height {
            // SAFETY: just checked.
            unsafe { args.blurred.store(i, blur(args, |entry| args.table.load_constant(entry), i)) };
        }
    }
}

/// Number `i` of the blurred image, of which `entry` gives the table's entries by their index.
#[inline(always)]
pub fn blur<const CHANNELS: u32>(args: &BoxBlurArgs<CHANNELS>, entry: impl Fn(u32) -> f64, i: u32) -> f32 {
    let BoxBlurArgs { size, radii, .. } = *args;
    let width = size.width.max(1);
    let (column, y) = (i % width, i / width);
    let (x, channel) = (column / CHANNELS, column % CHANNELS);
    let around = |at: u32, radius: u32, end: u32| (at.saturating_sub(radius), (at + radius + 1).min(end));
    let xs = around(x, radii[0], width / CHANNELS);
    let ys = around(y, radii[1], size.height);
    let sum = rectangle(entry, size, channel, xs, ys);
    (sum / f64::from((xs.1 - xs.0) * (ys.1 - ys.0))) as f32
}
