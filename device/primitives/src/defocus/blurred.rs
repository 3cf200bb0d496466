//! Compositing of blurred layers, front to back.

use super::{BLOCK, Size};
#[cfg(target_arch = "nvptx64")]
use super::{load, store};
use crate::{Kernel, Ptr};

/// A layer to be blurred.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct Blurred {
    /// The layer.
    pub slice: Ptr<[f32; 4]>,
    /// Its summed-area table; null if it stays sharp.
    pub table: Ptr<[f64; 4]>,
    /// Size of both.
    pub size: Size,
    /// Weights of the blur, from the middle outwards.
    pub strips: Ptr<Strip>,
    /// Number of strips, ≥ 1.
    pub count: u32,
}

/// Rows of a disc that are equally long. The disc is the same upside down.
#[derive(Debug, Clone, Copy, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C, align(8))]
pub struct Strip {
    /// The first row that they do not reach, counted from the middle one.
    pub end: u32,
    /// Pixels on either side of the middle one.
    pub half: u32,
}

/// Composite of a pixel's layers, from the nearest to the last one added.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct Layered {
    /// Red, green and blue times the part that is covered, and the part.
    pub sum: Ptr<[f32; 4]>,
    /// The part that the last layer has covered.
    pub last: Ptr<f32>,
    /// Weighted estimates of the colours behind layers.
    pub behind: Ptr<[f32; 4]>,
}

/// Composites a layer behind those before: one thread per pixel. Layers cover different parts of a pixel, as far as there is
/// room.
pub struct Cover;

/// Arguments of [`Cover`].
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct CoverArgs {
    /// The layer.
    pub layer: Blurred,
    /// Those before it.
    pub layered: Layered,
}

/// Adds an estimate of the colour behind the last layer, from its surroundings: one thread per pixel.
pub struct Behind;

/// Arguments of [`Behind`].
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct BehindArgs {
    /// Everything visible behind the last layer, with the blur of that layer.
    pub layer: Blurred,
    /// The last layer, and those before it.
    pub layered: Layered,
}

/// Computes the image: one thread per pixel.
pub struct Develop;

/// Arguments of [`Develop`].
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct DevelopArgs {
    /// The image: input and result.
    pub pixels: Ptr<[f32; 4]>,
    /// All layers.
    pub layered: Layered,
    /// Size of the image.
    pub size: Size,
}

impl Kernel for Cover {
    type Args = CoverArgs;
    const BLOCK: u32 = BLOCK;
    const BLOCKS: u32 = 3;

    #[cfg(target_arch = "nvptx64")]
    #[inline(always)]
    unsafe fn run(args: &Self::Args) {
        if let Some(i) = super::pixel(args.layer.size) {
            // SAFETY: the pixel is in the image; memory is as the caller promised.
            unsafe {
                let mut sum = load(args.layered.sum, i);
                let last = cover(&mut sum, || gpu::mean(&args.layer, i));
                if last > 0.0 {
                    store(args.layered.sum, i, sum);
                }
                args.layered.last.store(i, last);
            }
        }
    }
}

impl Kernel for Behind {
    type Args = BehindArgs;
    const BLOCK: u32 = BLOCK;
    const BLOCKS: u32 = 3;

    #[cfg(target_arch = "nvptx64")]
    #[inline(always)]
    unsafe fn run(args: &Self::Args) {
        if let Some(i) = super::pixel(args.layer.size) {
            // SAFETY: the pixel is in the image; memory is as the caller promised.
            unsafe {
                let last = args.layered.last.load_constant(i);
                if last > 0.0 {
                    let mut sum = load(args.layered.behind, i);
                    behind(&mut sum, last, gpu::mean(&args.layer, i));
                    store(args.layered.behind, i, sum);
                }
            }
        }
    }
}

impl Kernel for Develop {
    type Args = DevelopArgs;
    const BLOCK: u32 = BLOCK;
    const BLOCKS: u32 = 4;

    #[cfg(target_arch = "nvptx64")]
    #[inline(always)]
    unsafe fn run(args: &Self::Args) {
        if let Some(i) = super::pixel(args.size) {
            // SAFETY: the pixel is in the image; memory is as the caller promised.
            unsafe {
                let Layered { sum, behind, .. } = args.layered;
                let pixel = load(args.pixels, i);
                let pixel = developed(pixel, load(sum, i), load(behind, i));
                store(args.pixels, i, pixel);
            }
        }
    }
}

/// Composites `layer` behind the layers that cover a pixel already. Returns the part that it covers.
#[inline(always)]
pub fn cover(sum: &mut [f32; 4], layer: impl FnOnce() -> [f32; 4]) -> f32 {
    let free = 1.0 - sum[3];
    if free <= 0.0 {
        return 0.0;
    }
    let layer = layer();
    let part = layer[3].min(free);
    if part > 0.0 {
        let scale = part / layer[3];
        for c in 0..3 {
            sum[c] += scale * layer[c];
        }
        sum[3] += part;
    }
    part
}

/// Adds the colour behind a layer that covers the part `last` of a pixel.
#[inline(always)]
pub fn behind(sum: &mut [f32; 4], last: f32, layer: [f32; 4]) {
    for c in 0..4 {
        sum[c] += last * layer[c];
    }
}

/// A pixel of the image: the layers over the estimate behind them, if there is one; the original pixel if there is neither.
#[inline(always)]
pub fn developed(pixel: [f32; 4], sum: [f32; 4], behind: [f32; 4]) -> [f32; 4] {
    let covered = sum[3];
    if covered <= 0.0 {
        return pixel;
    }
    let guess = if behind[3] > 0.0 { (1.0 - covered) / behind[3] } else { 0.0 };
    let all = if behind[3] > 0.0 { 1.0 } else { covered };
    let channel = |c: usize| (sum[c] + guess * behind[c]) / all;
    [channel(0), channel(1), channel(2), 1.0]
}

impl Blurred {
    /// The mean of the layer over the part of the disc around pixel `i` that is in the image. `entry` gives entries of its
    /// table, and `part` the last number of them alone.
    #[inline(always)]
    pub fn mean(
        &self,
        entry: impl Fn(u32) -> [f64; 4],
        part: impl Fn(u32) -> f64,
        strip: impl Fn(u32) -> Strip,
        i: u32,
    ) -> [f32; 4] {
        let [width, height] = self.size;
        let (x, y) = (i % width, i / width);
        let columns = |half: u32| [x.saturating_sub(half), (x + half + 1).min(width)];
        let below = |row: u32| (y + row).min(height);
        let above = |row: u32| (y + 1).saturating_sub(row);
        // A square around the disc says whether there is anything, exactly.
        let (end, half) = (strip(self.count - 1).end, strip(0).half);
        if rectangle(&|i| [part(i)], width, columns(half), [above(end), below(end)]) == [0.0] {
            return [0.0; 4];
        }
        let mut sum = [0.0; 4];
        let mut area = 0;
        let mut add = |xs: [u32; 2], ys: [u32; 2]| {
            let of_strip = rectangle(&entry, width, xs, ys);
            for c in 0..4 {
                sum[c] += of_strip[c];
            }
            area += (xs[1] - xs[0]) * (ys[1] - ys[0]);
        };
        let Strip { end, half } = strip(0);
        add(columns(half), [above(end), below(end)]);
        let mut begin = end;
        for k in 1..self.count {
            let Strip { end, half } = strip(k);
            add(columns(half), [above(end), above(begin)]);
            add(columns(half), [below(begin), below(end)]);
            begin = end;
        }
        sum.map(|x| (x / f64::from(area)) as f32)
    }
}

/// The sums over a rectangle, from the entries of a table.
#[inline(always)]
fn rectangle<const N: usize>(
    entry: &impl Fn(u32) -> [f64; N],
    width: u32,
    x: [u32; 2],
    y: [u32; 2],
) -> [f64; N] {
    let up_to = |x: u32, y: u32| {
        if x == 0 || y == 0 { [0.0; N] } else { entry((y - 1) * width + x - 1) }
    };
    let (a, b, c, d) = (up_to(x[1], y[1]), up_to(x[0], y[1]), up_to(x[1], y[0]), up_to(x[0], y[0]));
    core::array::from_fn(|k| (a[k] - b[k]) - (c[k] - d[k]))
}

#[cfg(target_arch = "nvptx64")]
mod gpu {
    use super::*;

    /// A pixel of a layer, blurred.
    ///
    /// # Safety
    /// The pixel is in the image, and memory is there.
    #[inline(always)]
    pub(super) unsafe fn mean(layer: &Blurred, i: u32) -> [f32; 4] {
        // SAFETY: as the caller promised.
        unsafe {
            if layer.table.is_null() {
                return load(layer.slice, i);
            }
            let parts = layer.table.cast::<f64>().skip(3);
            layer.mean(
                |i| load(layer.table, i),
                |i| parts.load_constant(4 * i),
                |k| layer.strips.load_constant(k),
                i,
            )
        }
    }
}
