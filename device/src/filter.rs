//! Pixel filters by importance sampling of sample positions (Ernst, Stamminger & Greiner 2006, "Filter Importance
//! Sampling").

use bytemuck::{Pod, Zeroable};
use glam::Vec2;

use crate::arch::{load, max, min, sqrt};

/// A part of a filter on one side of its centre, 16 bytes. Of n parts, counted from the outermost, number k is drawn with
/// the probability (2k + 1)/n²: the tails are cut finely.
///
/// Samples within the part have the density |f|, taken as linear; their weight is the ratio of ∫f to ∫|f| over the part,
/// normalized so that the mean weight is 1.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C, align(16))]
pub struct FilterPart {
    /// Distance to the centre at which it starts, pixels.
    pub start: f32,
    /// Width, pixels.
    pub width: f32,
    /// Density at its start, in [0, 2]; at its end it is 2 less that, so that the mean is 1.
    pub density: f32,
    /// Weight of samples there; negative where the filter is.
    pub weight: f32,
}

const _: () = assert!(size_of::<FilterPart>() == 16);

impl FilterPart {
    /// The point of the part that a uniform chooses: where ∫ of the density a + 2(1 − a)t from 0 to t is `u`.
    #[inline(always)]
    fn place(&self, u: f32) -> f32 {
        let a = self.density;
        let root = sqrt(max(a * a + 4.0 * (1.0 - a) * u, 0.0));
        self.start + self.width * (2.0 * u / max(a + root, 1e-20))
    }
}

/// The part of a filter along an axis, on one side of its centre, that lies beyond the edge of an image.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C, align(8))]
pub struct FilterEdge {
    /// Of ∫|f|, in [0, ½).
    pub absolute: f32,
    /// Of ∫f.
    pub signed: f32,
}

impl FilterEdge {
    /// The image ends farther away than the filter.
    const FAR: Self = Self { absolute: 0.0, signed: 0.0 };
}

/// A pixel filter in the memory of a back end.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct FilterView {
    /// Its parts; null if it is the pixel itself.
    pub parts: *const FilterPart,
    /// Part of the filter beyond the edge of the image, by distance to the edge in pixels.
    pub edges: *const FilterEdge,
    /// Number of its parts.
    pub part_count: u32,
    /// Number of distances at which any of it lies beyond; 0 if samples may lie beyond the image.
    pub edge_count: u32,
}

impl FilterView {
    /// A sample's place relative to the top left corner of a pixel in an image of a size, pixels, and its weight, for
    /// uniforms `u`.
    ///
    /// # Safety
    /// The filter is valid, and the pixel within the size.
    #[inline(always)]
    pub unsafe fn sample(&self, u: Vec2, [x, y]: [u32; 2], [width, height]: [u32; 2]) -> (Vec2, f32) {
        if self.parts.is_null() {
            return (u, 1.0);
        }
        // SAFETY: as the caller promised.
        let [(x, wx), (y, wy)] =
            unsafe { [self.along_axis(u.x, [x, width - 1 - x]), self.along_axis(u.y, [y, height - 1 - y])] };
        (Vec2::new(0.5 + x, 0.5 + y), wx * wy)
    }

    /// Along one axis, on which the filter is symmetric, of a pixel with so many others on either side.
    ///
    /// # Safety
    /// The filter is valid, and not the pixel itself.
    #[inline(always)]
    unsafe fn along_axis(&self, u: f32, pixels_to_edges: [u32; 2]) -> (f32, f32) {
        // SAFETY: as the caller promised.
        let (u, scale) = unsafe { self.within(u, pixels_to_edges) };
        let signed = 2.0 * u - 1.0;
        let n = self.part_count as f32;
        // The parts from number k on begin at k²/n².
        let from_edge = n * n * (1.0 - signed.abs());
        // SAFETY: it is in [0, n].
        let k = unsafe { min(sqrt(from_edge), n - 1.0).to_int_unchecked::<u32>() };
        let rest = (from_edge - (k * k) as f32) / (2 * k + 1) as f32;
        // SAFETY: as the caller promised; k < n.
        let part = unsafe { load(self.parts.add(k as usize)) };
        (part.place(1.0 - rest).copysign(signed), scale * part.weight)
    }

    /// The uniform for what of the filter is in the image, where it ends there, and what weights are multiplied by for
    /// their mean to be 1 again.
    ///
    /// # Safety
    /// As [`FilterView::along_axis`].
    #[inline(always)]
    unsafe fn within(&self, u: f32, [low, high]: [u32; 2]) -> (f32, f32) {
        if self.edge_count == 0 {
            return (u, 1.0);
        }
        let edge = |pixels: u32| match pixels < self.edge_count {
            // SAFETY: it is in range.
            true => unsafe { load(self.edges.add(pixels as usize)) },
            false => FilterEdge::FAR,
        };
        let (low, high) = (edge(low), edge(high));
        let absolute = 1.0 - low.absolute - high.absolute;
        (low.absolute + absolute * u, absolute / (1.0 - low.signed - high.signed))
    }
}
