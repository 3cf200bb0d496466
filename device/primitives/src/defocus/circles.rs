//! Circles of confusion.

use bytemuck::{Pod, Zeroable};

#[cfg(target_arch = "nvptx64")]
use super::load;
use super::{BLOCK, Size};
use crate::{Kernel, Ptr};

/// Finds the visible surfaces of every pixel and their circles of confusion: one thread per pixel.
pub struct Circles;

/// Arguments of [`Circles`].
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct CirclesArgs {
    /// Red, green, blue, and an unused number.
    pub pixels: Ptr<[f32; 4]>,
    /// Distances along the axis.
    pub depths: Ptr<f32>,
    /// Results.
    pub seen: Ptr<VisibleSurfaces>,
    /// Size of the image.
    pub size: Size,
    /// Radius of the circle of points infinitely far away, pixels.
    pub at_infinity: f32,
    /// Decrease of the signed radius per unit of inverse distance.
    pub slope: f32,
    /// Upper bound of the radius, pixels.
    pub most: f32,
}

/// The surfaces that a pixel sees: one, or at an edge two, of which the nearer one covers a part.
///
/// Circles are squares of radii, pixels², negative in front of the focus; NaN if the pixel has no depth or no colour.
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
#[repr(C, align(16))]
pub struct VisibleSurfaces {
    /// Circle of the nearer surface.
    pub near: f32,
    /// Circle of the farther one; the same if there is one surface.
    pub far: f32,
    /// How much of the pixel the nearer one covers, a multiple of 2⁻⁸.
    pub cover: f32,
    /// Which of the 3 × 3 pixels around this one have their colours, as numbers of four bits, the nearer one's first.
    pub colors: u32,
}

impl Kernel for Circles {
    type Args = CirclesArgs;
    const BLOCK: u32 = BLOCK;
    const BLOCKS: u32 = 4;

    #[cfg(target_arch = "nvptx64")]
    #[inline(always)]
    unsafe fn run(args: &Self::Args) {
        if let Some(i) = super::pixel(args.size) {
            // SAFETY: the pixel is in the image, and so are those that it asks for.
            unsafe {
                let found =
                    visible_surfaces(args, |i| load(args.pixels, i), |i| args.depths.load_constant(i), i);
                args.seen.store(i, found);
            }
        }
    }
}

/// A surface in a pixel.
#[derive(Clone, Copy)]
struct Surface {
    depth: f32,
    /// Signed radius.
    radius: f32,
    /// Which of the 3 × 3 pixels.
    at: u32,
}

/// The pixel itself among 3 × 3.
const MIDDLE: u32 = 4;

/// Difference of radii, in pixels, from which two surfaces are assumed, unless it is one seen at a glancing angle.
const EDGE: f32 = 2.0;

/// Largest deviation of the radii from linear, in pixels, on one plane.
const BEND: f32 = 0.25;

/// A pixel that is covered by less than this, or all but this, sees one surface.
const SLIVER: f32 = 0.125;

/// Number of neighbours of the same radius from which a pixel belongs to a surface between two others: along an edge there
/// are two.
const ALIKE: u32 = 3;

/// Surfaces that pixel `i` of an image sees; `pixel` and `depth` read the image.
///
/// Depths are means over what is hit in a pixel. Between two surfaces they say how much of a pixel is of the nearer one;
/// colours of both are taken from neighbours, which see one of them alone. Before nothing, the depth is the surface's own,
/// and all of the pixel is taken for its. Nor is a sliver told from the rest, but the depth of the rest is a neighbour's: the
/// mean is of no surface, and what is in focus would not stay so up to its edge.
#[inline(always)]
pub fn visible_surfaces(
    args: &CirclesArgs,
    pixel: impl Fn(u32) -> [f32; 4],
    depth: impl Fn(u32) -> f32,
    i: u32,
) -> VisibleSurfaces {
    let [width, height] = args.size;
    let surface = |i: u32, at: u32| {
        let depth = depth(i);
        let [r, g, b, _] = pixel(i);
        let tells = depth > 0.0 && r.is_finite() && g.is_finite() && b.is_finite();
        let radius = args.at_infinity - args.slope / depth;
        tells.then_some(Surface { depth, radius: radius.max(-args.most).min(args.most), at })
    };
    let Some(own) = surface(i, MIDDLE) else {
        return VisibleSurfaces { near: f32::NAN, far: f32::NAN, cover: 1.0, colors: 0 };
    };
    let (mut near, mut far) = (own, own);
    let [mut across, mut down] = [0.0; 2];
    let mut alike = 0;
    for at in 0..9 {
        // One more than the column and the row.
        let (x, y) = (i % width + at % 3, i / width + at / 3);
        if x == 0 || y == 0 || x > width || y > height {
            continue;
        }
        if let Some(other) = surface((y - 1) * width + x - 1, at) {
            near = if other.depth < near.depth { other } else { near };
            far = if other.depth > far.depth { other } else { far };
            let is_alike = at != MIDDLE && (other.radius - own.radius).abs() <= BEND;
            alike += is_alike as u32;
            across += if at / 3 == 1 { other.radius - own.radius } else { 0.0 };
            down += if at % 3 == 1 { other.radius - own.radius } else { 0.0 };
        }
    }
    let cover = (far.depth - own.depth) / (far.depth - near.depth);
    // Not if it is NaN, next to what is infinitely far.
    let is_edge = far.radius - near.radius > EDGE && across.abs().max(down.abs()) > BEND;
    let is_of_two = cover > SLIVER && cover < 1.0 - SLIVER;
    let (near, far, cover) = if is_edge && is_of_two {
        (near, far, cover)
    } else {
        // So much nearer than what is infinitely far, 1 means nothing.
        let is_mean = is_edge && alike < ALIKE && cover > 0.0 && cover < 1.0;
        let surface = if cover > 0.5 { near } else { far };
        let one = if is_mean { Surface { at: MIDDLE, ..surface } } else { own };
        (one, one, 1.0)
    };
    let circle = |surface: Surface| surface.radius * surface.radius.abs();
    VisibleSurfaces {
        near: circle(near),
        far: circle(far),
        cover: (cover * 256.0 + 0.5) as u32 as f32 / 256.0,
        colors: near.at | far.at << 4,
    }
}
