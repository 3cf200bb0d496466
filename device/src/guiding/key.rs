//! Places as whole numbers: octants within octants.

use glam::Vec3;

use crate::arch::{max, min};

/// Bits of a coordinate.
const BITS: u32 = 15;

/// Digits of a key, of three bits: the side that a surface faces, and an octant for each bit of a coordinate.
pub const DIGITS: u32 = BITS + 1;

/// Bits of a key.
pub const KEY_BITS: u32 = 3 * DIGITS;

/// The cube that places are in, of which 2¹⁵ numbers divide each edge.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub struct Bounds {
    /// The corner with the least coordinates, metres.
    pub origin: Vec3,
    /// Numbers a metre.
    pub scale: f32,
}

impl Bounds {
    /// The cube around the centre of a box, as large as the longest of its edges.
    pub fn around(min: Vec3, max: Vec3) -> Self {
        let edge = (max - min).max_element().max(f32::MIN_POSITIVE) * 1.001;
        Self { origin: 0.5 * (min + max) - Vec3::splat(0.5 * edge), scale: (1 << BITS) as f32 / edge }
    }

    /// A distance from any place inside to what is clearly outside, metres.
    pub fn beyond(&self) -> f32 {
        4.0 * (1 << BITS) as f32 / self.scale
    }

    /// The key of a point of a surface that faces along `n`; of what is outside, that of the nearest place inside.
    #[inline(always)]
    pub fn key(&self, p: Vec3, n: Vec3) -> u64 {
        let word = |x: f32| {
            let x = min(max(x * self.scale, 0.0), ((1 << BITS) - 1) as f32);
            // SAFETY: it is from 0 to below 2¹⁵, NaNs included.
            spread(unsafe { x.to_int_unchecked::<u32>() })
        };
        let at = p - self.origin;
        u64::from(side(n)) << (3 * BITS) | word(at.x) | word(at.y) << 1 | word(at.z) << 2
    }
}

/// Which of the six sides of a cube `n` points to, 0 to 5.
#[inline(always)]
fn side(n: Vec3) -> u32 {
    let a = n.abs();
    let (axis, x) = if a.x >= a.y && a.x >= a.z {
        (0, n.x)
    } else if a.y >= a.z {
        (2, n.y)
    } else {
        (4, n.z)
    };
    axis + u32::from(x < 0.0)
}

/// 15 bits, two zeros between each and the next.
#[inline(always)]
const fn spread(x: u32) -> u64 {
    let x = x as u64;
    let x = (x | x << 16) & 0x001f_0000_ff00_00ff;
    let x = (x | x << 8) & 0x100f_00f0_0f00_f00f;
    let x = (x | x << 4) & 0x10c3_0c30_c30c_30c3;
    (x | x << 2) & 0x1249_2492_4924_9249
}

/// Digit number `level` of a key, the most significant one first.
#[inline(always)]
pub const fn child(key: u64, level: u32) -> usize {
    ((key >> (3 * (DIGITS - 1).wrapping_sub(level))) & 7) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_octants_within_octants() {
        let bounds = Bounds::around(Vec3::new(-1.0, 2.0, 3.0), Vec3::new(4.0, 4.0, 4.0));
        let mut x = 1_u32;
        for _ in 0..10_000 {
            x = x.wrapping_mul(0x915f_77f5).wrapping_add(1);
            let at = [x >> 17, (x >> 8) & 0x7fff, (x.wrapping_mul(31)) >> 17];
            let p = Vec3::from_array(at.map(|x| (x as f32 + 0.5) / bounds.scale)) + bounds.origin;
            let key = bounds.key(p, -Vec3::Y);
            assert_eq!(child(key, 0), 3);
            for level in 1..DIGITS {
                let bit = BITS - level;
                let expected =
                    at.iter().enumerate().map(|(c, x)| ((x >> bit & 1) << c) as usize).sum::<usize>();
                assert_eq!(child(key, level), expected, "{at:?}, level {level}");
            }
        }
        let far = bounds.key(Vec3::splat(1e30), Vec3::Z);
        assert_eq!((child(far, 0), child(far, 1), child(far, DIGITS - 1)), (4, 7, 7));
        assert_eq!(bounds.key(Vec3::splat(-1e30), Vec3::X), 0);
        assert_eq!(bounds.key(Vec3::NAN, Vec3::X) >> KEY_BITS, 0);
    }
}
