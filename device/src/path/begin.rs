//! Camera rays of many paths at once.

use core::mem::MaybeUninit;

use super::columns::{Columned, LANES};
use super::family::RaysOf;
use super::megakernel::generate;
use super::rows::{ROWS, take_rows};
use super::{PathSettings, PathState};
use crate::bvh::packet::RayColumns;
use crate::camera::{Camera, Projection};
use crate::features::Compiled;
use crate::filter::FilterView;
use crate::rng::SamplerKind;
use crate::scene::SceneView;

/// Samples whose paths are to begin.
pub(super) struct Beginnings<const N: usize> {
    x: [u32; N],
    y: [u32; N],
    sample: [u32; N],
}

impl<const N: usize> Beginnings<N> {
    /// Puts a sample of a pixel into place `i`.
    #[inline(always)]
    pub(super) const fn set(&mut self, i: usize, [x, y]: [u32; 2], sample: u32) {
        (self.x[i], self.y[i], self.sample[i]) = (x, y, sample);
    }

    /// Begins the first `len` paths, with their rays in the same order. What is beyond them, up to a block, is lost.
    ///
    /// # Safety
    /// `scene` is valid, asks for no features but those of `C`, and pixels are within the size.
    #[inline(always)]
    pub(super) unsafe fn begin<C: Compiled>(
        &self,
        scene: &SceneView,
        settings: &PathSettings,
        size: [u32; 2],
        (states, rays): (&mut [MaybeUninit<PathState>; N], &mut RayColumns<N>),
        len: usize,
    ) {
        let simple = Self::simple(scene);
        // The kind is a constant in each loop.
        let with = |kind| PathSettings { sampler: kind as u32, ..*settings };
        let Some(simple) = &simple else {
            // SAFETY: as the caller promised.
            return unsafe { self.begin_all::<C>(scene, settings, size, (states, rays), len) };
        };
        // SAFETY: as the caller promised.
        unsafe {
            match settings.sampler(0, 0).kind {
                SamplerKind::Independent => {
                    self.begin_all::<C>(simple, &with(SamplerKind::Independent), size, (states, rays), len)
                }
                SamplerKind::Sobol => {
                    self.begin_all::<C>(simple, &with(SamplerKind::Sobol), size, (states, rays), len)
                }
                SamplerKind::BlueNoise => {
                    self.begin_all::<C>(simple, &with(SamplerKind::BlueNoise), size, (states, rays), len)
                }
            }
        }
    }

    /// The scene, if its camera is a pinhole and its filter the pixel: with both as constants, by which the compiler leaves the others
    /// out of the loop.
    #[inline(always)]
    fn simple(scene: &SceneView) -> Option<SceneView> {
        let SceneView { camera, filter, .. } = *scene;
        if camera.projection != Projection::Pinhole as u32 || !filter.parts.is_null() {
            return None;
        }
        let camera = Camera { projection: Projection::Pinhole as u32, ..camera };
        let filter = FilterView { parts: core::ptr::null(), ..filter };
        Some(SceneView { camera, filter, ..*scene })
    }

    /// The loop over all paths.
    ///
    /// # Safety
    /// As [`Beginnings::begin`].
    #[inline(always)]
    unsafe fn begin_all<C: Compiled>(
        &self,
        scene: &SceneView,
        settings: &PathSettings,
        size: [u32; 2],
        (states, rays): (&mut [MaybeUninit<PathState>; N], &mut RayColumns<N>),
        len: usize,
    ) {
        let (x, y, sample) = (self.x.as_chunks::<LANES>().0, self.y.as_chunks().0, self.sample.as_chunks().0);
        for (i, states) in states.as_chunks_mut::<LANES>().0.iter_mut().enumerate().take(len.div_ceil(LANES))
        {
            let (x, y, sample): (_, &[u32; LANES], &[u32; LANES]) = (&x[i], &y[i], &sample[i]);
            let mut block = PathState::zeroed::<LANES>();
            for k in 0..LANES {
                // SAFETY: as the caller promised; what is beyond the last has been a sample before, or is the first pixel.
                let state = unsafe { generate::<C>(scene, settings, [x[k], y[k]], size, sample[k]) };
                state.set(&mut block, k);
            }
            let RaysOf { o, d } = &block.ray;
            rays.set_block(i * LANES, [&o.x, &o.y, &o.z], [&d.x, &d.y, &d.z]);
            for k in (0..LANES).step_by(ROWS) {
                let rows = [0, 1, 2, 3].map(|j| states[k + j].as_mut_ptr());
                // SAFETY: the rows are different places of `states`.
                unsafe { take_rows(&block, k, rows) };
            }
        }
    }
}
