//! The kernels on both machines.

use primitives::defocus::{
    Behind, BehindArgs, Blurred, Circles, CirclesArgs, Cover, CoverArgs, Develop, DevelopArgs, Layered,
    Slice, SliceArgs, behind, blocks, cover, developed, sliced, visible_surfaces,
};
use primitives::{Entry, Kernel};
use rayon::prelude::*;
use torrance_gpu::backend::Error;
use torrance_gpu::backend::cuda::Cuda;
use torrance_gpu::primitives::Work;

/// A kernel with a thread for each pixel, and what does the same on a CPU.
pub(super) trait PixelKernel: Kernel + Entry {
    /// Does it for `n` pixels.
    ///
    /// # Safety
    /// As [`Work::on_cpu`].
    unsafe fn on_cpu(args: &Self::Args, n: u32);
}

/// A call of a kernel for an image of a width and height.
pub(super) struct Call<K: PixelKernel>(pub(super) K::Args, pub(super) [u32; 2]);

impl<K: PixelKernel> Work for Call<K> {
    unsafe fn on_cpu(&self) {
        let Self(args, [width, height]) = self;
        // SAFETY: as the caller promised.
        unsafe { K::on_cpu(args, width * height) };
    }

    unsafe fn on_gpu(&self, gpu: &mut Cuda) -> Result<(), Error> {
        // SAFETY: as the caller promised; a thread a pixel.
        unsafe { gpu.launch_primitive::<K>(blocks(self.1), self.0) }
    }
}

impl PixelKernel for Circles {
    unsafe fn on_cpu(args: &CirclesArgs, n: u32) {
        // SAFETY: as the caller promised; they are three buffers.
        unsafe {
            let (pixels, depths) = (args.pixels.slice(n), args.depths.slice(n));
            args.seen.slice_mut(n).par_iter_mut().enumerate().for_each(|(i, to)| {
                *to = visible_surfaces(args, |i| pixels[i as usize], |i| depths[i as usize], i as u32);
            });
        }
    }
}

impl PixelKernel for Slice {
    unsafe fn on_cpu(args: &SliceArgs, n: u32) {
        // SAFETY: as the caller promised; they are three buffers.
        unsafe {
            let (pixels, seen) = (args.pixels.slice(n), args.seen.slice(n));
            args.slice.slice_mut(n).par_iter_mut().enumerate().for_each(|(i, to)| {
                *to = sliced(args, |i| pixels[i as usize], seen[i], i as u32);
            });
        }
    }
}

/// Returns a function that gives the blurred value of a layer at a pixel.
///
/// # Safety
/// Its buffers are there, nobody writes them meanwhile, and `'a` ends before they do.
unsafe fn means<'a>(layer: &'a Blurred) -> impl Fn(u32) -> [f32; 4] + Sync + 'a {
    let n = layer.size[0] * layer.size[1];
    // SAFETY: as the caller promised.
    let (slice, table, strips) = unsafe {
        let table = if layer.table.is_null() { &[][..] } else { layer.table.slice(n) };
        (layer.slice.slice(n), table, layer.strips.slice(layer.count))
    };
    move |i| match table {
        [] => slice[i as usize],
        _ => layer.mean(|i| table[i as usize], |i| table[i as usize][3], |k| strips[k as usize], i),
    }
}

impl PixelKernel for Cover {
    unsafe fn on_cpu(CoverArgs { layer, layered: Layered { sum, last, .. } }: &CoverArgs, n: u32) {
        // SAFETY: as the caller promised; they are five buffers.
        unsafe {
            let mean = means(layer);
            let pixels = sum.slice_mut(n).par_iter_mut().zip(last.slice_mut(n)).enumerate();
            pixels.for_each(|(i, (sum, last))| *last = cover(sum, || mean(i as u32)));
        }
    }
}

impl PixelKernel for Behind {
    unsafe fn on_cpu(BehindArgs { layer, layered }: &BehindArgs, n: u32) {
        // SAFETY: as the caller promised; they are five buffers.
        unsafe {
            let mean = means(layer);
            let pixels = layered.behind.slice_mut(n).par_iter_mut().zip(layered.last.slice(n)).enumerate();
            pixels.filter(|(_, (_, last))| **last > 0.0).for_each(|(i, (sum, last))| {
                behind(sum, *last, mean(i as u32));
            });
        }
    }
}

impl PixelKernel for Develop {
    unsafe fn on_cpu(args: &DevelopArgs, n: u32) {
        let DevelopArgs { pixels, layered: Layered { sum, behind, .. }, .. } = args;
        // SAFETY: as the caller promised; they are three buffers.
        unsafe {
            let all = pixels.slice_mut(n).par_iter_mut().zip(sum.slice(n)).zip(behind.slice(n));
            all.for_each(|((pixel, sum), behind)| *pixel = developed(*pixel, *sum, *behind));
        }
    }
}
