//! Whole paths in one loop.

use core::marker::PhantomData;
use core::ops::Range;

use bytemuck::{Pod, Zeroable};
use glam::{Vec2, Vec3};

use super::manifold::may_walk;
use super::stage::{Count, Function};
use super::walking::WalkingPath;
use super::{PathSettings, PathState, bundle, step};
use crate::arch::Real;
use crate::bvh::Arch;
use crate::features::Compiled;
use crate::film::FilmPixel;
use crate::rng::Dim;
use crate::scene::SceneView;

/// Arguments of the megakernel.
pub type MegakernelArgs = SampleArgs<FilmPixel>;

/// Which samples of which pixels to take into a film of pixels `P`.
///
/// Invocations are numbered so that 32 in a row cover a tile of 8 × 4 pixels; `layers` times over, each layer
/// taking every `layers`-th sample into a film of its own, so that small images fill large machines too. Where only parts of an
/// image are to get samples, [`HALF`] in a row take an [`Item`] of a list, in one layer.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct SampleArgs<P> {
    /// The scene.
    pub scene: SceneView,
    /// `layers` films of `width · height` pixels; of `spread` items, a pixel for each invocation.
    pub film: *mut P,
    /// What to take; null for the same samples of all tiles in their order.
    pub items: *const Item,
    /// Number of items.
    pub item_count: u32,
    /// Whether items have pixels of their own on the film, so that several may be of the same pixels.
    pub spread: u32,
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
unsafe impl<P> Send for SampleArgs<P> {}
// SAFETY: as above.
unsafe impl<P> Sync for SampleArgs<P> {}

impl<P> Count for SampleArgs<P> {
    #[inline(always)]
    fn count(&self) -> u32 {
        self.invocations
    }
}

/// Size of the tile that 32 invocations cover, pixels.
const TILE: [u32; 2] = [8, 4];

impl<P> SampleArgs<P> {
    /// Number of invocations of one layer: whole tiles that cover the image.
    #[inline(always)]
    pub const fn invocations_per_layer(width: u32, height: u32) -> u32 {
        width.div_ceil(TILE[0]) * height.div_ceil(TILE[1]) * (TILE[0] * TILE[1])
    }

    /// Number of invocations of one layer.
    #[inline(always)]
    pub(super) const fn per_layer(&self) -> u32 {
        match self.items.is_null() {
            true => Self::invocations_per_layer(self.width, self.height),
            false => self.item_count * HALF,
        }
    }

    /// Pixel of invocation `i` of a layer, which may lie outside the image, its first sample in that layer, and the sample after its
    /// last one.
    ///
    /// # Safety
    /// `items` is null or valid, and `i` is below [`Self::per_layer`].
    #[inline(always)]
    pub(super) unsafe fn of_layer(&self, i: u32) -> ((u32, u32), Range<u32>) {
        if self.items.is_null() {
            return (self.tile_pixel(i), self.first_sample..self.first_sample + self.samples);
        }
        // SAFETY: as the caller promised.
        let Item { half, first_sample, samples } = unsafe { self.items.add((i / HALF) as usize).read() };
        (half_pixel(self.width, half, i % HALF), first_sample..first_sample + samples)
    }

    /// Pixel of invocation `i` of a layer of all tiles; may lie outside the image.
    #[inline(always)]
    const fn tile_pixel(&self, i: u32) -> (u32, u32) {
        let tiles_x = self.width.div_ceil(TILE[0]);
        let tiles_x = if tiles_x == 0 { 1 } else { tiles_x };
        let (tile, within) = (i / (TILE[0] * TILE[1]), i % (TILE[0] * TILE[1]));
        (tile % tiles_x * TILE[0] + within % TILE[0], tile / tiles_x * TILE[1] + within / TILE[0])
    }
}

/// Samples of a part of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Item {
    /// The part: a [half](half_pixel).
    pub half: u32,
    /// Index of the first sample of each of its pixels.
    pub first_sample: u32,
    /// Number of samples of each.
    pub samples: u32,
}

/// Width and height of a cell, pixels: small, since noise differs much from place to place.
const CELL: u32 = 4;

/// Pixels of a half.
pub const HALF: u32 = CELL * CELL / 2;

/// Number of halves of an image: two for each cell.
pub const fn half_count(width: u32, height: u32) -> u32 {
    2 * width.div_ceil(CELL) * height.div_ceil(CELL)
}

/// Pixel number `i` < [`HALF`] of a half: the image is divided into cells, row by row, and each cell as a chessboard into a half of even
/// number and one of odd number. May lie outside the image.
#[inline(always)]
pub const fn half_pixel(width: u32, half: u32, i: u32) -> (u32, u32) {
    let cells_x = width.div_ceil(CELL);
    let cells_x = if cells_x == 0 { 1 } else { cells_x };
    let (cell, y) = (half / 2, i / (CELL / 2));
    let x = i % (CELL / 2) * 2 + ((y + half) & 1);
    (cell % cells_x * CELL + x, cell / cells_x * CELL + y)
}

/// Begins a camera path of a pixel in an image of a size.
///
/// # Safety
/// `scene` is valid, and the pixel within the size.
#[inline(always)]
pub unsafe fn generate<C: Compiled>(
    scene: &SceneView,
    settings: &PathSettings,
    [x, y]: [u32; 2],
    size: [u32; 2],
    sample: u32,
) -> PathState {
    let pixel = y * size[0] + x;
    let [u, v, lens_x, lens_y] = settings.sampler(pixel, sample).draw(Dim::Film, 0);
    // SAFETY: as the caller promised.
    let (place, weight) = unsafe { scene.filter.sample(Vec2::new(u, v), [x, y], size) };
    let ray = scene.camera.ray_through(x as f32 + place.x, y as f32 + place.y, Vec2::new(lens_x, lens_y));
    let ray = scene.clipped::<C>(ray);
    PathState {
        ray,
        cone: scene.camera.cone(ray.d),
        weight,
        beta: Vec3::ONE,
        l: Vec3::ZERO,
        prev_pdf: 0.0,
        facing: 0,
        eta_scale: 1.0,
        passed: 0.0,
        depth: 0,
        holes: 0,
        pixel,
        sample,
    }
}

/// Samples that one invocation traces.
#[derive(Clone, Copy)]
pub(super) struct Invocation<P> {
    /// Column and row.
    pub(super) pixel: [u32; 2],
    /// The pixel in the invocation's layer of the film.
    pub(super) film: *mut P,
    /// Index of its first sample; the others follow `layers` apart.
    pub(super) first_sample: u32,
    /// They are all below this.
    pub(super) end: u32,
}

impl<P> SampleArgs<P> {
    /// The same samples, into another film.
    pub const fn into_film<Q>(self, film: *mut Q) -> SampleArgs<Q> {
        let Self { scene, settings, width, height, layers, first_sample, samples, .. } = self;
        let Self { items, item_count, spread, first_invocation, invocations, .. } = self;
        SampleArgs {
            scene,
            film,
            items,
            item_count,
            spread,
            settings,
            width,
            height,
            layers,
            first_sample,
            samples,
            first_invocation,
            invocations,
        }
    }

    /// The samples of invocation `i`; `None` outside the image.
    ///
    /// # Safety
    /// The pointers are null or valid.
    #[inline(always)]
    pub(super) unsafe fn invocation(&self, i: u32) -> Option<Invocation<P>> {
        // The host renders no empty images; `max` tells the compiler, which would panic on a division by zero.
        let per_layer = self.per_layer().max(1);
        let i = i + self.first_invocation;
        let layer = i / per_layer;
        // SAFETY: as the caller promised.
        let ((x, y), samples) = unsafe { self.of_layer(i % per_layer) };
        if x >= self.width || y >= self.height {
            return None;
        }
        let index = match self.spread {
            0 => {
                layer as usize * (self.width as usize * self.height as usize) + (y * self.width + x) as usize
            }
            _ => i as usize,
        };
        let film = self.film.wrapping_add(index);
        Some(Invocation { pixel: [x, y], film, first_sample: samples.start + layer, end: samples.end })
    }

    /// Pixel and sample of path `number`, where invocations take `samples` each, their first ones first, then their second ones, and so
    /// on. Beyond the edges of the image it is the pixel at the edge, so that there is a path for every number.
    ///
    /// # Safety
    /// The pointers are null or valid.
    #[inline(always)]
    pub(super) unsafe fn path(&self, number: u32) -> ([u32; 2], u32) {
        let per_layer = self.per_layer().max(1);
        let invocations = self.invocations.max(1);
        let i = number % invocations + self.first_invocation;
        // SAFETY: as the caller promised.
        let ((x, y), samples) = unsafe { self.of_layer(i % per_layer) };
        let sample = samples.start + i / per_layer + number / invocations * self.layers;
        ([x.min(self.width - 1), y.min(self.height - 1)], sample)
    }

    /// Begins a path of a pixel.
    ///
    /// # Safety
    /// The scene is valid, and the pixel in the image.
    #[inline(always)]
    pub(super) unsafe fn begin<C: Compiled>(&self, pixel: [u32; 2], sample: u32) -> PathState {
        // SAFETY: as the caller promised.
        unsafe { generate::<C>(&self.scene, &self.settings, pixel, [self.width, self.height], sample) }
    }
}

/// A path that is followed step by step.
pub(super) trait Followed {
    fn begin(state: PathState) -> Self;

    fn state(&self) -> &PathState;

    /// Takes a step. Returns whether the path goes on.
    ///
    /// # Safety
    /// As [`step::step`].
    unsafe fn step<A: Arch, C: Compiled>(&mut self, scene: &SceneView, settings: &PathSettings) -> bool;
}

/// A path that makes no walks.
impl Followed for PathState {
    #[inline(always)]
    fn begin(state: PathState) -> Self {
        state
    }

    #[inline(always)]
    fn state(&self) -> &PathState {
        self
    }

    #[inline(always)]
    unsafe fn step<A: Arch, C: Compiled>(&mut self, scene: &SceneView, settings: &PathSettings) -> bool {
        // SAFETY: as the caller promised.
        unsafe { step::step::<A, C>(scene, settings, self) }
    }
}

/// Takes the samples of a pixel in a layer, from the first one, of which there is at least one.
///
/// # Safety
/// As [`Megakernel::run`]; the pixel is in the image.
#[inline(always)]
unsafe fn take_all<A: Arch, C: Compiled, P: Followed>(
    args: &MegakernelArgs,
    film: &mut FilmPixel,
    pixel: [u32; 2],
    mut sample: u32,
    end: u32,
) {
    // SAFETY: as the caller promised.
    let mut path = unsafe { P::begin(args.begin::<C>(pixel, sample)) };
    // One loop over all steps: a lane whose path ends begins the next one at once, without waiting for its neighbours.
    loop {
        // SAFETY: as the caller promised.
        if unsafe { path.step::<A, C>(&args.scene, &args.settings) } {
            continue;
        }
        film.add(path.state().contribution());
        sample += args.layers;
        if sample >= end {
            return;
        }
        // SAFETY: as the caller promised.
        path = unsafe { P::begin(args.begin::<C>(pixel, sample)) };
    }
}

/// The stage, for scenes that ask for no features but those of `C`.
pub struct Megakernel<C>(PhantomData<C>);

impl<C: Compiled> Function for Megakernel<C> {
    type Args = MegakernelArgs;

    /// Takes the samples of one pixel in one layer. A path that ends is replaced by the next at once, so that lanes
    /// of a warp wait for each other only at the end.
    ///
    /// # Safety
    /// The pointers in `args` are valid, the machine is an `A`, and the scene asks for no features but those of `C`.
    #[inline(always)]
    unsafe fn run<A: Arch>(i: u32, args: &MegakernelArgs) {
        // SAFETY: as the caller promised.
        let invocation = unsafe { args.invocation(i) };
        let Some(Invocation { pixel, film, first_sample: sample, end }) = invocation else { return };
        if sample >= end {
            return;
        }
        // SAFETY: pixel and layer are in range, and no other invocation has both.
        let film = unsafe { &mut *film };
        // SAFETY: as the caller promised.
        unsafe {
            match may_walk::<C>(&args.settings) {
                true => take_all::<A, C, WalkingPath>(args, film, pixel, sample, end),
                false => take_all::<A, C, PathState>(args, film, pixel, sample, end),
            }
        }
    }

    /// The invocations in `range`: their paths side by side where the machine traces packets.
    ///
    /// # Safety
    /// As [`Megakernel::run`], for each.
    #[inline(always)]
    unsafe fn run_range<A: Arch>(range: Range<u32>, args: &MegakernelArgs) {
        // SAFETY: as the caller promised.
        unsafe {
            let side_by_side = A::Packet::LANES > 1 && args.settings.walks == 0;
            if side_by_side {
                return bundle::run::<A, C>(range, args);
            }
            for i in range {
                Self::run::<A>(i, args);
            }
        }
    }
}
