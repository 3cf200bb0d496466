//! The kernels on both machines.

use primitives::defocus::{
    self, BehindArgs, Blurred, CirclesArgs, CoverArgs, DevelopArgs, Layered, SliceArgs, behind, blocks,
    cover, developed, sliced, visible_surfaces,
};
use rayon::prelude::*;
use torrance_gpu::backend::Error;
use torrance_gpu::backend::cuda::Cuda;
use torrance_gpu::primitives::Work;

pub(super) struct Circles(pub(super) CirclesArgs);

pub(super) struct Slice(pub(super) SliceArgs);

pub(super) struct Cover(pub(super) CoverArgs);

pub(super) struct Behind(pub(super) BehindArgs);

pub(super) struct Develop(pub(super) DevelopArgs);

impl Work for Circles {
    unsafe fn on_cpu(&self) {
        let args = &self.0;
        let n = args.size[0] * args.size[1];
        // SAFETY: as the caller promised; they are three buffers.
        unsafe {
            let (pixels, depths) = (args.pixels.slice(n), args.depths.slice(n));
            args.seen.slice_mut(n).par_iter_mut().enumerate().for_each(|(i, to)| {
                *to = visible_surfaces(args, |i| pixels[i as usize], |i| depths[i as usize], i as u32);
            });
        }
    }

    unsafe fn on_gpu(&self, gpu: &mut Cuda) -> Result<(), Error> {
        // SAFETY: as the caller promised; a thread a pixel.
        unsafe { gpu.launch_primitive::<defocus::Circles>(blocks(self.0.size), self.0) }
    }
}

impl Work for Slice {
    unsafe fn on_cpu(&self) {
        let args = &self.0;
        let n = args.size[0] * args.size[1];
        // SAFETY: as the caller promised; they are three buffers.
        unsafe {
            let (pixels, seen) = (args.pixels.slice(n), args.seen.slice(n));
            args.slice.slice_mut(n).par_iter_mut().enumerate().for_each(|(i, to)| {
                *to = sliced(args, |i| pixels[i as usize], seen[i], i as u32);
            });
        }
    }

    unsafe fn on_gpu(&self, gpu: &mut Cuda) -> Result<(), Error> {
        // SAFETY: as the caller promised; a thread a pixel.
        unsafe { gpu.launch_primitive::<defocus::Slice>(blocks(self.0.size), self.0) }
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

impl Work for Cover {
    unsafe fn on_cpu(&self) {
        let CoverArgs { layer, layered: Layered { sum, last, .. } } = &self.0;
        let n = layer.size[0] * layer.size[1];
        // SAFETY: as the caller promised; they are five buffers.
        unsafe {
            let mean = means(layer);
            let pixels = sum.slice_mut(n).par_iter_mut().zip(last.slice_mut(n)).enumerate();
            pixels.for_each(|(i, (sum, last))| *last = cover(sum, || mean(i as u32)));
        }
    }

    unsafe fn on_gpu(&self, gpu: &mut Cuda) -> Result<(), Error> {
        // SAFETY: as the caller promised; a thread a pixel.
        unsafe { gpu.launch_primitive::<defocus::Cover>(blocks(self.0.layer.size), self.0) }
    }
}

impl Work for Behind {
    unsafe fn on_cpu(&self) {
        let BehindArgs { layer, layered } = &self.0;
        let n = layer.size[0] * layer.size[1];
        // SAFETY: as the caller promised; they are five buffers.
        unsafe {
            let mean = means(layer);
            let pixels = layered.behind.slice_mut(n).par_iter_mut().zip(layered.last.slice(n)).enumerate();
            pixels.filter(|(_, (_, last))| **last > 0.0).for_each(|(i, (sum, last))| {
                behind(sum, *last, mean(i as u32));
            });
        }
    }

    unsafe fn on_gpu(&self, gpu: &mut Cuda) -> Result<(), Error> {
        // SAFETY: as the caller promised; a thread a pixel.
        unsafe { gpu.launch_primitive::<defocus::Behind>(blocks(self.0.layer.size), self.0) }
    }
}

impl Work for Develop {
    unsafe fn on_cpu(&self) {
        let DevelopArgs { pixels, layered: Layered { sum, behind, .. }, size } = self.0;
        let n = size[0] * size[1];
        // SAFETY: as the caller promised; they are three buffers.
        unsafe {
            let all = pixels.slice_mut(n).par_iter_mut().zip(sum.slice(n)).zip(behind.slice(n));
            all.for_each(|((pixel, sum), behind)| *pixel = developed(*pixel, *sum, *behind));
        }
    }

    unsafe fn on_gpu(&self, gpu: &mut Cuda) -> Result<(), Error> {
        // SAFETY: as the caller promised; a thread a pixel.
        unsafe { gpu.launch_primitive::<defocus::Develop>(blocks(self.0.size), self.0) }
    }
}
