//! The image on a film, where the film is.

use glam::Vec3;

use super::stage::{Count, Function};
use crate::bvh::Arch;
use crate::film::FilmPixel;

/// Arguments of the stage.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct MeanArgs {
    /// Films of one size, one after the other.
    pub film: *const FilmPixel,
    /// Room for the mean of every pixel over all films; zero without samples.
    pub mean: *mut Vec3,
    /// Pixels of each film.
    pub pixels: u32,
    /// Number of films.
    pub layers: u32,
}

// SAFETY: every invocation writes only its own pixel.
unsafe impl Send for MeanArgs {}
// SAFETY: as above.
unsafe impl Sync for MeanArgs {}

impl Count for MeanArgs {
    #[inline(always)]
    fn count(&self) -> u32 {
        self.pixels
    }
}

/// The stage.
pub struct Mean;

impl Function for Mean {
    type Args = MeanArgs;

    /// In `f64`, which holds what pairs of `f32` do: it is rounded once, at the end.
    #[inline(always)]
    unsafe fn run<A: Arch>(i: u32, args: &MeanArgs) {
        let (mut sum, mut count) = ([0.0_f64; 3], 0);
        for layer in 0..args.layers as usize {
            // SAFETY: as the caller promised.
            let pixel = unsafe { args.film.add(layer * args.pixels as usize + i as usize).read() };
            for (c, sum) in sum.iter_mut().enumerate() {
                *sum += f64::from(pixel.sum[c]) + f64::from(pixel.sum_lo[c]);
            }
            count += pixel.count;
        }
        let n = f64::from(if count == 0 { 1 } else { count });
        let [r, g, b] = sum.map(|sum| (sum / n) as f32);
        // SAFETY: as the caller promised; the pixel is this invocation's.
        unsafe { args.mean.add(i as usize).write(Vec3::new(r, g, b)) };
    }
}
