//! Whole paths in one loop.

use glam::Vec3;

use super::{PathSettings, PathState, step};
use crate::arch::Arch;
use crate::camera::Camera;
use crate::film::FilmPixel;
use crate::rng::Dim;
use crate::scene::SceneView;

/// Arguments of the megakernel: which samples of which pixels to take.
///
/// Invocations are numbered so that 32 in a row cover a tile of 8 × 4 pixels; `layers` times over, each layer
/// taking every `layers`-th sample into a film of its own, so that small images fill large machines too.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct MegakernelArgs {
    /// The scene.
    pub scene: SceneView,
    /// `layers` films of `width · height` pixels.
    pub film: *mut FilmPixel,
    /// Settings of the transport.
    pub settings: PathSettings,
    /// Image width, pixels.
    pub width: u32,
    /// Image height, pixels.
    pub height: u32,
    /// Number of films, ≥ 1.
    pub layers: u32,
    /// Index of the first sample to take.
    pub first_sample: u32,
    /// Number of samples to take of each pixel.
    pub samples: u32,
    /// First of the invocations to run: a launch may take a part of them.
    pub first_invocation: u32,
    /// Number of invocations to run.
    pub invocations: u32,
}

// SAFETY: every invocation writes only its own pixel of its own film.
unsafe impl Send for MegakernelArgs {}
// SAFETY: as above.
unsafe impl Sync for MegakernelArgs {}

/// Size of the tile that 32 invocations cover, pixels.
const TILE: [u32; 2] = [8, 4];

impl MegakernelArgs {
    /// Number of invocations of one layer: whole tiles that cover the image.
    #[inline(always)]
    pub const fn invocations_per_layer(width: u32, height: u32) -> u32 {
        width.div_ceil(TILE[0]) * height.div_ceil(TILE[1]) * (TILE[0] * TILE[1])
    }

    /// Pixel of invocation `i` of a layer; may lie outside the image.
    #[inline(always)]
    const fn pixel(&self, i: u32) -> (u32, u32) {
        let tiles_x = self.width.div_ceil(TILE[0]);
        let tiles_x = if tiles_x == 0 { 1 } else { tiles_x };
        let (tile, within) = (i / (TILE[0] * TILE[1]), i % (TILE[0] * TILE[1]));
        (tile % tiles_x * TILE[0] + within % TILE[0], tile / tiles_x * TILE[1] + within / TILE[0])
    }
}

/// Begins a camera path.
#[inline(always)]
pub fn generate(
    camera: &Camera,
    settings: &PathSettings,
    [x, y]: [u32; 2],
    width: u32,
    sample: u32,
) -> PathState {
    let pixel = y * width + x;
    let [u, v, ..] = settings.sampler(pixel, sample).draw(Dim::Film, 0);
    PathState {
        ray: camera.ray(x as f32 + u, y as f32 + v),
        beta: Vec3::ONE,
        l: Vec3::ZERO,
        prev_pdf: 0.0,
        depth: 0,
        pixel,
        sample,
    }
}

/// Takes the samples of one pixel in one layer. A path that ends is replaced by the next at once, so that lanes
/// of a warp wait for each other only at the end.
///
/// # Safety
/// The pointers in `args` are valid, and the machine is an `A`.
#[inline(always)]
pub(crate) unsafe fn run<A: Arch>(i: u32, args: &MegakernelArgs) {
    // The host renders no empty images; `max` tells the compiler, which would panic on a division by zero.
    let per_layer = MegakernelArgs::invocations_per_layer(args.width, args.height).max(1);
    let i = i + args.first_invocation;
    let layer = i / per_layer;
    let (x, y) = args.pixel(i % per_layer);
    let end = args.first_sample + args.samples;
    let mut sample = args.first_sample + layer;
    if x >= args.width || y >= args.height || sample >= end {
        return;
    }
    let index = layer as usize * (args.width as usize * args.height as usize);
    // SAFETY: pixel and layer are in range, and no other invocation has both.
    let film = unsafe { &mut *args.film.add(index + (y * args.width + x) as usize) };
    let begin = |sample| generate(&args.scene.camera, &args.settings, [x, y], args.width, sample);
    let mut state = begin(sample);
    loop {
        // SAFETY: as the caller promised.
        if unsafe { step::step::<A>(&args.scene, &args.settings, &mut state) } {
            continue;
        }
        film.add(state.l);
        sample += args.layers;
        if sample >= end {
            return;
        }
        state = begin(sample);
    }
}
