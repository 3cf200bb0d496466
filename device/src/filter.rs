//! Pixel filters, by drawing where in the image a sample is (Ernst, Stamminger & Greiner 2006, "Filter Importance
//! Sampling").

use bytemuck::{Pod, Zeroable};
use glam::Vec2;

use crate::arch::{load, max, min, sqrt};
use crate::scene::SceneView;

/// A part of a filter on one side of its centre, 16 bytes. Of n parts, counted from the outermost, number k is drawn with
/// the probability (2k + 1)/n²: the tails are cut finely.
///
/// What is drawn has the density |f|, taken as linear within the part, and the weight is what ∫f there is of ∫|f|, for
/// the mean weight to be 1.
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

/// A sample's place relative to the top left corner of a pixel in an image of a size, pixels, and its weight, for uniforms
/// `u`.
///
/// # Safety
/// `scene` is valid, and the pixel within the size.
#[inline(always)]
pub unsafe fn sample(scene: &SceneView, u: Vec2, [x, y]: [u32; 2], [width, height]: [u32; 2]) -> (Vec2, f32) {
    if scene.filter.is_null() {
        return (u, 1.0);
    }
    // SAFETY: as the caller promised.
    let [(x, wx), (y, wy)] =
        unsafe { [along_axis(scene, u.x, [x, width - 1 - x]), along_axis(scene, u.y, [y, height - 1 - y])] };
    (Vec2::new(0.5 + x, 0.5 + y), wx * wy)
}

/// Along one axis, on which the filter is symmetric, of a pixel with so many others on either side.
///
/// # Safety
/// `scene` is valid and has a filter.
#[inline(always)]
unsafe fn along_axis(scene: &SceneView, u: f32, pixels_to_edges: [u32; 2]) -> (f32, f32) {
    // SAFETY: as the caller promised.
    let (u, scale) = unsafe { within(scene, u, pixels_to_edges) };
    let signed = 2.0 * u - 1.0;
    let n = scene.filter_parts as f32;
    // The parts from number k on begin at k²/n².
    let from_edge = n * n * (1.0 - signed.abs());
    // SAFETY: it is in [0, n].
    let k = unsafe { min(sqrt(from_edge), n - 1.0).to_int_unchecked::<u32>() };
    let rest = (from_edge - (k * k) as f32) / (2 * k + 1) as f32;
    // SAFETY: as the caller promised; k < n.
    let part = unsafe { load(scene.filter.add(k as usize)) };
    (part.place(1.0 - rest).copysign(signed), scale * part.weight)
}

/// The uniform for what of the filter is in the image, where it ends there, and what weights are multiplied by for their
/// mean to be 1 again.
///
/// # Safety
/// As [`along_axis`].
#[inline(always)]
unsafe fn within(scene: &SceneView, u: f32, [low, high]: [u32; 2]) -> (f32, f32) {
    if scene.filter_edge_count == 0 {
        return (u, 1.0);
    }
    let edge = |pixels: u32| match pixels < scene.filter_edge_count {
        // SAFETY: it is in range.
        true => unsafe { load(scene.filter_edges.add(pixels as usize)) },
        false => FilterEdge::FAR,
    };
    let (low, high) = (edge(low), edge(high));
    let absolute = 1.0 - low.absolute - high.absolute;
    (low.absolute + absolute * u, absolute / (1.0 - low.signed - high.signed))
}
