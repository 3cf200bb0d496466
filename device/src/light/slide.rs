//! Pictures that the light of a point shines through: those of projectors, and of spots with a texture.

use bytemuck::{Pod, Zeroable};
use glam::{Vec2, Vec3};

use super::Lighting;
use crate::arch::load;
use crate::features::Compiled;
use crate::material::{At, Color};

/// A picture before a light, 48 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C, align(16))]
pub struct Slide {
    /// Along a row of the picture, whose length is 1 over the width of the picture at distance 1.
    pub right: Vec3,
    /// Index of its texture, or [`crate::material::texture::NO_TEXTURE`].
    pub texture: u32,
    /// Down its columns, in the same way.
    pub down: Vec3,
    /// Non-zero if it is all of the light: nothing passes beside it, and a screen at right angles to the axis gets the same
    /// irradiance everywhere of a picture that is white.
    pub is_projected: u32,
    /// Unit vector to its middle.
    pub axis: Vec3,
    /// Unused.
    pub reserved: u32,
}

const _: () = assert!(size_of::<Slide>() == 48);

/// The part of the intensity on the axis that leaves along the unit vector `w` through the slide `index`.
///
/// # Safety
/// `scene` is valid and has the slide.
#[inline(always)]
pub(super) unsafe fn part<C: Compiled>(scene: &Lighting, index: u32, w: Vec3) -> Vec3 {
    // SAFETY: as the caller promised.
    let slide = unsafe { load(scene.slides.add(index as usize)) };
    let cos = slide.axis.dot(w);
    let uv = Vec2::new(slide.right.dot(w), slide.down.dot(w)) * (1.0 / cos) + 0.5;
    if !uv.is_finite() {
        return Vec3::ZERO;
    }
    let picture = || Color { value: Vec3::ONE, texture: slide.texture }.at::<C>(&At::new(scene, uv));
    if slide.is_projected == 0 {
        return picture();
    }
    let is_outside = cos <= 0.0 || uv.min_element() < 0.0 || uv.max_element() > 1.0;
    // Irradiance falls with the cosine on the screen, and with the square of the distance, by which it has one over it twice.
    if is_outside { Vec3::ZERO } else { picture() * (1.0 / (cos * cos * cos)) }
}
