//! Slices of the image by radius of blur.

use super::{BLOCK, Size, VisibleSurfaces};
#[cfg(target_arch = "nvptx64")]
use super::{load, store};
use crate::{Kernel, Ptr};

/// Extracts a layer: one thread per pixel.
pub struct Slice;

/// Arguments of [`Slice`].
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct SliceArgs {
    /// Red, green, blue, and an unused number.
    pub pixels: Ptr<[f32; 4]>,
    /// Surfaces that the pixels see.
    pub seen: Ptr<VisibleSurfaces>,
    /// Red, green and blue times the part of the pixel that is in the layer, and the part.
    pub slice: Ptr<[f32; 4]>,
    /// Size of the image.
    pub size: Size,
    /// Part of a surface that is in the layer or behind it.
    pub from: Ramp,
    /// Part of it that is behind.
    pub to: Ramp,
}

/// A part that grows with the circle, from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(C)]
pub struct Ramp {
    /// Up to this circle it is 0.
    start: f32,
    /// Inverse of the difference between the circles at which it is 1 and 0.
    scale: f32,
}

impl Ramp {
    /// 1 for all circles.
    pub const ALL: Self = Self { start: f32::MIN, scale: 1.0 };

    /// 0 for all circles.
    pub const NONE: Self = Self { start: f32::MAX, scale: 1.0 };

    /// From 0 at one circle to 1 at a larger one.
    pub fn between(start: f32, end: f32) -> Self {
        Self { start, scale: 1.0 / (end - start) }
    }

    /// The part at a circle, a multiple of 2⁻¹⁶; 0 at NaN.
    #[inline(always)]
    pub fn at(self, circle: f32) -> f32 {
        const STEPS: f32 = 65536.0;
        let part = (circle - self.start) * self.scale;
        // A conversion takes what is out of range to the nearest number, and NaN to 0.
        (((part * STEPS + 0.5) as u32) as f32 / STEPS).min(1.0)
    }
}

impl Kernel for Slice {
    type Args = SliceArgs;
    const BLOCK: u32 = BLOCK;
    const BLOCKS: u32 = 4;

    #[cfg(target_arch = "nvptx64")]
    #[inline(always)]
    unsafe fn run(args: &Self::Args) {
        if let Some(i) = super::pixel(args.size) {
            // SAFETY: the pixel is in the image, and so are those that it asks for.
            unsafe {
                let seen = args.seen.load_constant(i);
                let slice = sliced(args, |i| load(args.pixels, i), seen, i);
                store(args.slice, i, slice);
            }
        }
    }
}

/// The part of pixel `i`, which sees `seen`, that is in the layer.
#[inline(always)]
pub fn sliced(args: &SliceArgs, pixel: impl Fn(u32) -> [f32; 4], seen: VisibleSurfaces, i: u32) -> [f32; 4] {
    let part = |circle: f32| args.from.at(circle) - args.to.at(circle);
    let near = seen.cover * part(seen.near);
    let far = (1.0 - seen.cover) * part(seen.far);
    let width = args.size[0];
    let mut slice = [0.0; 4];
    for (weight, at) in [(near, seen.colors & 15), (far, seen.colors >> 4)] {
        if weight > 0.0 {
            let [r, g, b, _] = pixel(i + at % 3 + at / 3 * width - 1 - width);
            slice = [slice[0] + weight * r, slice[1] + weight * g, slice[2] + weight * b, slice[3] + weight];
        }
    }
    slice
}
