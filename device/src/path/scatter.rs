//! Items of a film of their own onto the film of the image.

use super::stage::{Count, Function};
use super::{HALF, MegakernelArgs};
use crate::bvh::Arch;
use crate::film::FilmPixel;

/// Arguments of the stage.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct ScatterArgs {
    /// The samples that were taken: items, those of the same pixels in a row, and their film, which has no samples afterwards.
    pub take: MegakernelArgs,
    /// The film of `width · height` pixels that they are added to.
    pub film: *mut FilmPixel,
}

// SAFETY: every invocation reads and writes only pixels of its own, of all items that are of its pixel.
unsafe impl Send for ScatterArgs {}
// SAFETY: as above.
unsafe impl Sync for ScatterArgs {}

impl Count for ScatterArgs {
    #[inline(always)]
    fn count(&self) -> u32 {
        self.take.per_layer()
    }
}

/// The stage.
pub struct Scatter;

impl Function for Scatter {
    type Args = ScatterArgs;

    /// Adds up the items of a pixel in their order, if `i` is of the first of them.
    #[inline(always)]
    unsafe fn run<A: Arch>(i: u32, args: &ScatterArgs) {
        let ScatterArgs { take, film } = args;
        let item = i / HALF;
        // SAFETY: as the caller promised; the pixels are this invocation's.
        unsafe {
            let half_of = |item: u32| take.items.add(item as usize).read().half;
            let half = half_of(item);
            let ((x, y), _) = take.of_layer(i);
            let follows = item > 0 && half_of(item - 1) == half;
            if follows || x >= take.width || y >= take.height {
                return;
            }
            let film = film.add((y * take.width + x) as usize);
            let mut all = film.read();
            let mut next = item;
            while next < take.item_count && half_of(next) == half {
                let pixel = take.film.add((next * HALF + i % HALF) as usize);
                all.merge(&pixel.read());
                pixel.write(FilmPixel::default());
                next += 1;
            }
            film.write(all);
        }
    }
}
