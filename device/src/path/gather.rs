//! Films of one size into one, where they are.

use super::stage::{Count, Function};
use crate::bvh::Arch;
use crate::film::FilmPixel;

/// Arguments of the stage.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct GatherArgs {
    /// Films of one size, one after the other. The first takes the samples of all; the others have none afterwards.
    pub film: *mut FilmPixel,
    /// Pixels of each film.
    pub pixels: u32,
    /// Number of films.
    pub layers: u32,
}

// SAFETY: every invocation reads and writes only its own pixel of the films.
unsafe impl Send for GatherArgs {}
// SAFETY: as above.
unsafe impl Sync for GatherArgs {}

impl Count for GatherArgs {
    #[inline(always)]
    fn count(&self) -> u32 {
        self.pixels
    }
}

/// The stage.
pub struct Gather;

impl Function for Gather {
    type Args = GatherArgs;

    #[inline(always)]
    unsafe fn run<A: Arch>(i: u32, args: &GatherArgs) {
        // SAFETY: as the caller promised; the pixels are this invocation's.
        unsafe {
            let first = args.film.add(i as usize);
            let mut all = first.read();
            for layer in 1..args.layers as usize {
                let pixel = first.add(layer * args.pixels as usize);
                all.merge(&pixel.read());
                pixel.write(FilmPixel::default());
            }
            first.write(all);
        }
    }
}
