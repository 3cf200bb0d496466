//! Separable convolution: each pixel becomes a weighted sum of those around it, along rows and then along columns.

use super::{Kernel, Ptr};

/// Largest radius of a kernel, in pixels.
pub const MOST_RADIUS: u32 = 16;

/// Continuation of an image beyond its border.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub enum Border {
    /// The pixel at the border.
    Clamp,
    /// Zeros.
    Zero,
    /// The image, mirrored: the pixel at the border, then its neighbour, and so on.
    Mirror,
}

impl Border {
    /// Which of `n` pixels in a row is at `i − radius`. There are from one to 2³¹ − 1 of them.
    #[inline(always)]
    pub fn pixel(self, i: u32, radius: u32, n: u32) -> Option<u32> {
        match self {
            Self::Clamp => Some(i.saturating_sub(radius).min(n - 1)),
            // What is before the image wraps, to beyond it.
            Self::Zero => Some(i.wrapping_sub(radius)).filter(|i| *i < n),
            Self::Mirror => {
                // The image forwards and backwards, again and again.
                let period = (2 * n).max(1);
                let i = match i.checked_sub(radius) {
                    Some(i) => i % period,
                    None => period - 1 - (radius - i - 1) % period,
                };
                Some(if i < n { i } else { period - 1 - i })
            }
        }
    }
}

/// Convolves an image: one block per tile and channel.
pub struct Convolve;

/// Arguments of [`Convolve`].
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct ConvolveArgs {
    /// The image, row by row, the channels of a pixel side by side.
    pub image: Ptr<f32>,
    /// Output, not overlapping the input.
    pub convolved: Ptr<f32>,
    /// Weights of the pixels from left to right, and then of those from top to bottom.
    pub weights: Ptr<f32>,
    /// Width and height, pixels. Not zero.
    pub size: [u32; 2],
    /// Number of channels. Not zero.
    pub channels: u32,
    /// Radii of the kernel along x and y: at most [`MOST_RADIUS`].
    pub radii: [u32; 2],
    /// Continuation beyond the image's border.
    pub border: Border,
}

/// Columns of a tile.
const ACROSS: u32 = 64;

/// Rows of a tile.
const DOWN: u32 = 32;

/// Rows of the image that count for a tile.
const MOST_ROWS: u32 = DOWN + 2 * MOST_RADIUS;

/// Columns of the image that count for a tile.
const MOST_COLUMNS: u32 = ACROSS + 2 * MOST_RADIUS;

impl Convolve {
    /// Blocks for an image.
    pub fn blocks(size: [u32; 2], channels: u32) -> u32 {
        size[0].div_ceil(ACROSS) * size[1].div_ceil(DOWN) * channels
    }
}

impl Kernel for Convolve {
    type Args = ConvolveArgs;
    const BLOCK: u32 = 256;
    const BLOCKS: u32 = 4;
    const SHARED: u32 = 4 * (MOST_ROWS * (MOST_COLUMNS + ACROSS) + 2 * (2 * MOST_RADIUS + 1));

    #[cfg(target_arch = "nvptx64")]
    #[inline(always)]
    unsafe fn run(args: &Self::Args) {
        // SAFETY: as the caller promised.
        unsafe { gpu::run(args) }
    }
}

/// Sequential equivalent of the kernel, with sums in a row.
///
/// # Panics
/// A slice is too short.
pub fn twin(args: &ConvolveArgs, image: &[f32], weights: &[f32], convolved: &mut [f32]) {
    let ([width, height], channels) = (args.size, args.channels);
    let (along_x, along_y) = weights.split_at(2 * args.radii[0] as usize + 1);
    for i in 0..width * height * channels {
        let [x, y, channel] = [i / channels % width, i / channels / width, i % channels];
        let mut sum = 0.0;
        for (v, weight_y) in along_y.iter().enumerate() {
            let Some(row) = args.border.pixel(y + v as u32, args.radii[1], height) else { continue };
            let mut of_row = 0.0;
            for (u, weight_x) in along_x.iter().enumerate() {
                if let Some(column) = args.border.pixel(x + u as u32, args.radii[0], width) {
                    of_row += weight_x * image[((row * width + column) * channels + channel) as usize];
                }
            }
            sum += weight_y * of_row;
        }
        convolved[i as usize] = sum;
    }
}

#[cfg(target_arch = "nvptx64")]
mod gpu {
    use cuda_std::shared::dynamic_shared_mem;
    use cuda_std::{thread, warp};

    use super::*;
    use crate::WARP;
    use crate::block::warp_id;

    /// Sums that a thread has at a time.
    const SUMS: usize = 8;

    #[inline(always)]
    pub(super) unsafe fn run(args: &ConvolveArgs) {
        let [width, height] = args.size;
        let [radius_x, radius_y] = args.radii;
        let (columns, rows) = (ACROSS + 2 * radius_x, DOWN + 2 * radius_y);
        let taps = [2 * radius_x + 1, 2 * radius_y + 1];
        let channels = args.channels.max(1);
        let channel = thread::block_idx_x() % channels;
        let tile = thread::block_idx_x() / channels;
        let across = width.div_ceil(ACROSS).max(1);
        let [left, top] = [tile % across * ACROSS, tile / across * DOWN];
        // The image around the tile, its rows convolved, and the weights.
        let around = dynamic_shared_mem::<f32>();
        let of_rows = around.wrapping_add((MOST_ROWS * MOST_COLUMNS) as usize);
        let weights = of_rows.wrapping_add((MOST_ROWS * ACROSS) as usize);
        let thread = thread::thread_idx_x();
        // SAFETY: the whole block comes here; memory is as the caller promised, and every index is checked.
        unsafe {
            if thread < taps[0] + taps[1] {
                weights.add(thread as usize).write(args.weights.load_constant(thread));
            }
            let mut v = warp_id();
            while v < rows {
                let y = args.border.pixel(top + v, radius_y, height);
                let mut u = warp::lane_id();
                while u < columns {
                    let x = args.border.pixel(left + u, radius_x, width);
                    let value = match (x, y) {
                        (Some(x), Some(y)) => args.image.load_constant((y * width + x) * channels + channel),
                        _ => 0.0,
                    };
                    around.add((v * MOST_COLUMNS + u) as usize).write(value);
                    u += WARP;
                }
                v += Convolve::BLOCK / WARP;
            }
            thread::sync_threads();

            // Every thread has a column, and every fourth row.
            let [u, v] = [thread % ACROSS, thread / ACROSS];
            let mut first = v;
            while first < rows {
                let sums = convolved(taps[0], weights, |tap, k| {
                    around.add(((first + 4 * k) * MOST_COLUMNS + u + tap) as usize).read()
                });
                for k in 0..SUMS {
                    of_rows.add(((first + 4 * k as u32) * ACROSS + u) as usize).write(sums[k]);
                }
                first += 4 * SUMS as u32;
            }
            thread::sync_threads();

            // And now eight rows one below the other.
            let first = v * SUMS as u32;
            let weights = weights.add(taps[0] as usize);
            let sums = convolved(taps[1], weights, |tap, k| {
                of_rows.add(((first + k + tap) * ACROSS + u) as usize).read()
            });
            for k in 0..SUMS {
                let (x, y) = (left + u, top + first + k as u32);
                if x < width && y < height {
                    args.convolved.store((y * width + x) * channels + channel, sums[k]);
                }
            }
        }
    }

    /// Weighted sums of the values of each tap, [`SUMS`] at once. Sums beyond the image are undefined.
    #[inline(always)]
    unsafe fn convolved(taps: u32, weights: *const f32, value: impl Fn(u32, u32) -> f32) -> [f32; SUMS] {
        let mut sums = [0.0; SUMS];
        let mut tap = 0;
        while tap < taps {
            // SAFETY: as the caller promised.
            let weight = unsafe { weights.add(tap as usize).read() };
            for k in 0..SUMS {
                sums[k] += weight * value(tap, k as u32);
            }
            tap += 1;
        }
        sums
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Straight from the definition.
    fn right(border: Border, i: i64, n: i64) -> Option<i64> {
        match border {
            Border::Clamp => Some(i.clamp(0, n - 1)),
            Border::Zero => (0..n).contains(&i).then_some(i),
            Border::Mirror => {
                let i = i.rem_euclid(2 * n);
                Some(if i < n { i } else { 2 * n - 1 - i })
            }
        }
    }

    #[test]
    fn borders_of_the_smallest_and_the_largest_images() {
        for border in [Border::Clamp, Border::Zero, Border::Mirror] {
            for n in [1, 2, 3, 15, 16, 17, 100, i32::MAX as u32 - 1, i32::MAX as u32] {
                for radius in 0..=MOST_RADIUS {
                    // A tile may end beyond the image, and reads a radius further.
                    for i in (0..40).chain(n.saturating_sub(40)..n + ACROSS + 2 * MOST_RADIUS) {
                        let at = i64::from(i) - i64::from(radius);
                        let pixel = border.pixel(i, radius, n).map(i64::from);
                        assert_eq!(pixel, right(border, at, i64::from(n)), "{border:?}, {at} of {n}");
                    }
                }
            }
        }
    }
}
