//! An image of the sky, looked up and sampled for many paths at once.

use glam::{Vec2, Vec3};

use super::columns::{Columned, columned, fill_blocks};
use crate::arch::load;
use crate::light::Lighting;
use crate::light::environment::{Environment, Place, Point, Sample};

/// The image of a scene, if it has one that is sampled without portals.
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
        (sky.portals == 0).then_some(sky)
    }
}

columned! {
    /// Where in cells of the image there are samples.
    PlacesOf of Place { cell: [u32; 2], within: [f32; 2] }
}
columned! {
    /// Points of the image.
    Points of Point { cell: [u32; 2], f: Vec2 }
}
columned! {
    /// Directions.
    SkyDirections of
    /// A direction that has been drawn.
    struct SkyDirection {
        point: Point,
        wi: Vec3,
        /// Density over solid angle.
        pdf: f32,
    }
}

/// Samples of an image, and the places that want them.
///
/// What is read from tables and texels is read path by path, as gathering by vector instructions is slower; between, there are
/// loops over columns.
#[repr(align(64))]
pub(super) struct Skylights<const N: usize> {
    /// Number of samples.
    pub(super) len: usize,
    /// Whoever wants them.
    pub(super) lanes: [u16; N],
    bits: [[u32; N]; 2],
    places: PlacesOf<N>,
    /// Luminances around the cells.
    luminances: [[f32; N]; 4],
    directions: SkyDirections<N>,
}

impl<const N: usize> Skylights<N> {
    /// Asks for a sample by random words; there is room.
    #[inline(always)]
    pub(super) fn ask(&mut self, lane: u16, bits: [u32; 2]) {
        self.lanes[self.len] = lane;
        bits[0].set(&mut self.bits[0], self.len);
        bits[1].set(&mut self.bits[1], self.len);
        self.len += 1;
    }

    /// Draws all directions.
    ///
    /// # Safety
    /// `scene` is valid, and `sky` its [`image`].
    #[inline(always)]
    pub(super) unsafe fn draw(&mut self, scene: &Lighting, sky: &Environment) {
        for i in 0..self.len {
            // SAFETY: as the caller promised.
            let (place, corners) = unsafe {
                let place = sky.place(scene, [self.bits[0][i], self.bits[1][i]]);
                (place, sky.corners(scene, place.cell))
            };
            place.set(&mut self.places, i);
            for (column, texel) in self.luminances.iter_mut().zip(corners) {
                column[i] = texel.w;
            }
        }
        draw_all(sky, &self.places, &self.luminances, &mut self.directions, self.len);
    }

    /// Sample `i`.
    ///
    /// # Safety
    /// As [`Skylights::draw`], which drew it.
    #[inline(always)]
    pub(super) unsafe fn get(&self, scene: &Lighting, sky: &Environment, i: usize) -> Sample {
        let SkyDirection { point, wi, pdf } = SkyDirection::get(&self.directions, i);
        // SAFETY: as the caller promised.
        let li = unsafe { sky.interpolated(scene, point) }.truncate();
        Sample { wi, li, pdf }
    }
}

/// The loop over all directions.
#[inline(always)]
fn draw_all<const N: usize>(
    sky: &Environment,
    places: &PlacesOf<N>,
    luminances: &[[f32; N]; 4],
    directions: &mut SkyDirections<N>,
    len: usize,
) {
    let sky = *sky;
    fill_blocks!(N, len, SkyDirection, directions, |i| {
        let [a, b, c, d] = luminances;
        let (point, wi, pdf) = sky.sample_cell(Place::get(places, i), [a[i], b[i], c[i], d[i]]);
        SkyDirection { point, wi, pdf }
    });
}

columned! {
    /// Sights.
    Sights of
    /// What a path that leaves the scene sees of the image.
    struct Sight {
        point: Point,
        /// Density, over luminance, with which the image's samples are drawn.
        density: f32,
    }
}

/// Paths that leave the scene.
#[repr(align(64))]
pub(super) struct Leaving<const N: usize> {
    /// Number of paths.
    pub(super) len: usize,
    paths: [u16; N],
    d: <Vec3 as Columned>::Column<N>,
    sights: Sights<N>,
}

impl<const N: usize> Leaving<N> {
    /// Adds a path in direction `d`; there is room.
    #[inline(always)]
    pub(super) fn add(&mut self, path: u16, d: Vec3) {
        self.paths[self.len] = path;
        d.set(&mut self.d, self.len);
        self.len += 1;
    }

    /// Finds where all of them look.
    #[inline(always)]
    pub(super) fn look(&mut self, sky: &Environment) {
        look_all(sky, &self.d, &mut self.sights, self.len);
    }

    /// Path number `i`, the radiance that it sees, and the density with which it is drawn.
    ///
    /// # Safety
    /// `scene` is valid, and `sky` its [`image`], at which the path has looked.
    #[inline(always)]
    pub(super) unsafe fn get(&self, scene: &Lighting, sky: &Environment, i: usize) -> (u16, Vec3, f32) {
        let Sight { point, density } = Sight::get(&self.sights, i);
        // SAFETY: as the caller promised.
        let texel = unsafe { sky.interpolated(scene, point) };
        (self.paths[i], texel.truncate(), density * texel.w)
    }
}

/// The loop over all paths.
#[inline(always)]
fn look_all<const N: usize>(
    sky: &Environment,
    d: &<Vec3 as Columned>::Column<N>,
    sights: &mut Sights<N>,
    len: usize,
) {
    let sky = *sky;
    fill_blocks!(N, len, Sight, sights, |i| {
        let (point, density) = sky.seen(Vec3::get(d, i));
        Sight { point, density }
    });
}
