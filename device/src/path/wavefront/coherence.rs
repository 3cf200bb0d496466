//! An order of rays in which those that follow each other meet much the same nodes: by the octant that they look into, and
//! the Morton code of their origin.

use crate::bvh::TreeNode;
use crate::ray::Ray;

/// Bits of the key by which rays are ordered: three of the octant, and a byte for each axis.
pub const RAY_KEY_BITS: u32 = 3 + 3 * 8;

/// The octant that a ray looks into, and below it the Morton code of its origin on the grid of `root`: rays whose keys have
/// the same first bits look the same way from places near each other.
#[inline(always)]
pub(super) fn ray_key(root: &TreeNode, ray: &Ray) -> u32 {
    let (exponents, _) = root.e_imask();
    let (o, d) = (ray.o.to_array(), ray.d.to_array());
    let (mut octant, mut morton) = (0, 0);
    for axis in 0..3 {
        // One by a power of two.
        let steps = f32::from_bits((254 - exponents[axis]) << 23);
        // The conversion saturates, so that what is outside counts as at the edge.
        let cell = ((o[axis] - root.p[axis]) * steps) as u8;
        morton |= spread(cell) << axis;
        octant |= u32::from(d[axis] > 0.0) << axis;
    }
    octant << 24 | morton
}

/// The bits of a byte, with room for two others after each.
const fn spread(byte: u8) -> u32 {
    let x = byte as u32;
    let x = (x | x << 8) & 0x0000_f00f;
    let x = (x | x << 4) & 0x000c_30c3;
    (x | x << 2) & 0x0024_9249
}

#[cfg(test)]
mod tests {
    use bytemuck::Zeroable;
    use glam::Vec3;

    use super::*;

    #[test]
    fn bits_are_spread() {
        for byte in 0..=255 {
            let expected: u32 = (0..8).map(|i| u32::from(byte >> i & 1) << (3 * i)).sum();
            assert_eq!(spread(byte), expected, "{byte}");
        }
    }

    /// Cells of ¼, ½ and 1, from −2, 0 and 10 on.
    #[test]
    fn keys_are_of_octant_and_cell() {
        let root =
            TreeNode { p: [-2.0, 0.0, 10.0], e_imask: 125 | 126 << 8 | 127 << 16, ..TreeNode::zeroed() };
        let key =
            |o: [f32; 3], d: [f32; 3]| ray_key(&root, &Ray { o: o.into(), d: Vec3::from(d).normalize() });
        let down = [-1.0, -1.0, -1.0];
        assert_eq!(key([-2.0, 0.0, 10.0], down), 0);
        assert_eq!(key([-1.75, 0.0, 10.0], down), 0b001);
        assert_eq!(key([-2.0, 0.5, 10.9], down), 0b010);
        assert_eq!(key([-2.0, 0.0, 12.0], down), 0b100_000);
        assert_eq!(key([-1.25, 1.0, 11.0], [1.0, -1.0, 2.0]), 0b101 << 24 | 0b011_101);
        assert_eq!(key([-9.0, -1e30, f32::NAN], down), 0, "before the grid, or nowhere");
        assert_eq!(key([1e30, 1e3, f32::INFINITY], [1.0; 3]), (1 << RAY_KEY_BITS) - 1, "behind it");
    }
}
