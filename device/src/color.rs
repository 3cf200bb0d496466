//! Linear Rec. 709 colour.

use glam::Vec3;
use primitives::luminance;

/// As [`luminance::luminance`].
#[inline(always)]
pub fn luminance(rgb: Vec3) -> f32 {
    luminance::luminance(rgb.to_array())
}
