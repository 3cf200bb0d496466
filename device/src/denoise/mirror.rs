//! Images beyond their borders.

use super::Grid;
use crate::bvh::Arch;
use crate::function::{Count, Function};

/// Arguments of [`Mirror`].
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct MirrorArgs {
    /// The places of pixels.
    pub grid: Grid,
    /// Planes, one after the other.
    pub planes: *mut f32,
    /// Number of planes.
    pub count: u32,
}

// SAFETY: invocations write in the margins only, each its own number, and read pixels of the image.
unsafe impl Send for MirrorArgs {}
// SAFETY: as above.
unsafe impl Sync for MirrorArgs {}

impl Count for MirrorArgs {
    #[inline(always)]
    fn count(&self) -> u32 {
        self.grid.plane() as u32
    }
}

/// Fills the margins of planes: the image, mirrored at its borders.
pub struct Mirror;

impl Function for Mirror {
    type Args = MirrorArgs;

    #[inline(always)]
    unsafe fn run<A: Arch>(i: u32, args: &MirrorArgs) {
        let MirrorArgs { grid, planes, count } = *args;
        let [x, y] = grid.pixel(i);
        let from = [mirrored(x, grid.width), mirrored(y, grid.height)];
        if from == [x, y] {
            return;
        }
        for plane in 0..count as usize {
            // SAFETY: as the caller promised: the planes are there.
            unsafe {
                let plane = planes.add(plane * grid.plane());
                let value = plane.add(grid.at(from[0], from[1])).read();
                plane.add(i as usize).write(value);
            }
        }
    }
}

/// The pixel among `n` that is seen at `i` in a mirror at each border.
#[inline(always)]
fn mirrored(i: i32, n: u32) -> i32 {
    let period = (2 * n).max(1);
    // What is before the image is seen in the mirror at 0.
    let i = if i < 0 { (-1 - i) as u32 } else { i as u32 } % period;
    (if i < n { i } else { period - 1 - i }) as i32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_are_mirrored_again_and_again() {
        // From 3 before the image to 6 behind its beginning.
        for (n, image) in [(1, "aaaaaaaaa"), (2, "bbaabbaab"), (3, "cbaabccba")] {
            let seen = (-3..6).map(|i| char::from(b'a' + mirrored(i, n) as u8));
            assert_eq!(seen.collect::<std::string::String>(), image, "{n}");
        }
    }
}
