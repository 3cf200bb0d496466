//! An image of the sky, looked up and sampled for many paths at once.

use glam::Vec3;

use super::columns::{Columned, columned, fill_blocks};
use crate::arch::load;
use crate::light::Lighting;
use crate::light::environment::{Environment, Sample};

/// The image of a scene, if it has one that is sampled without portals, and is not black.
///
/// # Safety
/// `scene` is valid.
#[inline(always)]
pub(super) unsafe fn image(scene: &Lighting) -> Option<Environment> {
    // SAFETY: as the caller promised; where a light is an image, there is the image.
    unsafe {
        let mut lights = scene.first_infinite..scene.light_count;
        if !lights.any(|i| load(scene.lights.add(i as usize)).is_image()) {
            return None;
        }
        let sky = load(scene.environment);
        (sky.portals == 0 && !sky.is_black(scene)).then_some(sky)
    }
}

columned! {
    /// Samples.
    SkySamples of Sample { wi: Vec3, li: Vec3, pdf: f32 }
}

/// Samples of an image, and the places that want them.
#[repr(align(64))]
pub(super) struct Skylights<const N: usize> {
    /// Number of samples.
    pub(super) len: usize,
    /// Whoever wants them.
    pub(super) lanes: [u16; N],
    bits: [[u32; N]; 2],
    samples: SkySamples<N>,
}

impl<const N: usize> Skylights<N> {
    pub(super) fn new() -> Self {
        Self { len: 0, lanes: [0; N], bits: [[0; N]; 2], samples: Sample::zeroed() }
    }

    /// Asks for a sample by random words; there is room.
    #[inline(always)]
    pub(super) fn ask(&mut self, lane: u16, bits: [u32; 2]) {
        self.lanes[self.len] = lane;
        bits[0].set(&mut self.bits[0], self.len);
        bits[1].set(&mut self.bits[1], self.len);
        self.len += 1;
    }

    /// Draws all samples.
    ///
    /// # Safety
    /// `scene` is valid, and `sky` its [`image`].
    #[inline(always)]
    pub(super) unsafe fn draw(&mut self, scene: &Lighting, sky: &Environment) {
        // SAFETY: as the caller promised.
        unsafe {
            if sky.width.max(sky.height) <= 256 {
                draw_all::<8, N>(scene, sky, &self.bits, &mut self.samples, self.len);
            } else {
                draw_all::<16, N>(scene, sky, &self.bits, &mut self.samples, self.len);
            }
        }
    }

    /// Sample `i`.
    #[inline(always)]
    pub(super) fn get(&self, i: usize) -> Sample {
        Sample::get(&self.samples, i)
    }
}

/// The loop over all samples.
///
/// # Safety
/// As [`Skylights::draw`]; the image has at most 2 to the power of `STEPS` rows, and as many columns.
#[inline(always)]
unsafe fn draw_all<const STEPS: usize, const N: usize>(
    scene: &Lighting,
    sky: &Environment,
    bits: &[[u32; N]; 2],
    samples: &mut SkySamples<N>,
    len: usize,
) {
    let sky = *sky;
    // SAFETY: as the caller promised.
    fill_blocks!(N, len, Sample, samples, |i| unsafe {
        sky.sample_in::<STEPS>(scene, [bits[0][i], bits[1][i]])
    });
}

columned! {
    /// Views of the image.
    Views of
    /// What a path that leaves the scene sees of the image.
    struct Seen {
        radiance: Vec3,
        /// Density with which the image's samples are drawn.
        pdf: f32,
    }
}

/// Paths that leave the scene.
#[repr(align(64))]
pub(super) struct Leaving<const N: usize> {
    /// Number of paths.
    pub(super) len: usize,
    paths: [u16; N],
    d: <Vec3 as Columned>::Column<N>,
    views: Views<N>,
}

impl<const N: usize> Leaving<N> {
    pub(super) fn new() -> Self {
        Self { len: 0, paths: [0; N], d: Vec3::zeroed(), views: Seen::zeroed() }
    }

    /// Adds a path in direction `d`; there is room.
    #[inline(always)]
    pub(super) fn add(&mut self, path: u16, d: Vec3) {
        self.paths[self.len] = path;
        d.set(&mut self.d, self.len);
        self.len += 1;
    }

    /// Finds what all of them see.
    ///
    /// # Safety
    /// As [`Skylights::draw`].
    #[inline(always)]
    pub(super) unsafe fn look(&mut self, scene: &Lighting, sky: &Environment) {
        // SAFETY: as the caller promised.
        unsafe { look_all(scene, sky, &self.d, &mut self.views, self.len) };
    }

    /// Path number `i`, the radiance that it sees, and the density with which it is drawn.
    #[inline(always)]
    pub(super) fn get(&self, i: usize) -> (u16, Vec3, f32) {
        let Seen { radiance, pdf } = Seen::get(&self.views, i);
        (self.paths[i], radiance, pdf)
    }
}

/// The loop over all paths.
///
/// # Safety
/// As [`Skylights::draw`].
#[inline(always)]
unsafe fn look_all<const N: usize>(
    scene: &Lighting,
    sky: &Environment,
    d: &<Vec3 as Columned>::Column<N>,
    views: &mut Views<N>,
    len: usize,
) {
    let sky = *sky;
    fill_blocks!(N, len, Seen, views, |i| {
        let d = Vec3::get(d, i);
        // SAFETY: as the caller promised.
        unsafe { Seen { radiance: sky.radiance(scene, d), pdf: sky.pdf(scene, d) } }
    });
}
