//! Linear Rec. 709 colour.

use glam::Vec3;

/// Relative luminance of a linear Rec. 709 colour (ITU-R BT.709-6, item 3.2).
#[inline(always)]
pub fn luminance(rgb: Vec3) -> f32 {
    0.2126 * rgb.x + 0.7152 * rgb.y + 0.0722 * rgb.z
}
