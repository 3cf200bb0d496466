//! Environment maps: look-up, and importance sampling by radiance.

use core::f32::consts::{FRAC_1_PI, PI};

use bytemuck::{Pod, Zeroable};
use glam::{Vec2, Vec3};

use super::table::{Entries, PARTS, Table, TableSample};
use super::{Lighting, portal};
use crate::arch::{load, max, min, sqrt};
use crate::math::{atan2, sin_cos_turn};

/// An image of all directions: row 0 is +y, the middle column −z, and columns to the right of it turn towards +x. 64
/// bytes.
///
/// Texels are interpolated. As in Mitsuba, that of column i and row j is at i + ½ over the width and at j over the height
/// less 1: columns go on around the image, and the first and the last row are the poles.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C, align(16))]
pub struct Environment {
    /// Rows of the rotation from the world to the image.
    pub image_from_world: [Vec3; 3],
    /// Width, texels.
    pub width: u32,
    /// Height, texels, ≥ 2.
    pub height: u32,
    /// Number of [`Lighting::portals`].
    pub portals: u32,
    /// Distribution of luminance: its integral over solid angle in every cell between four texels. There is one row of cells
    /// less than of texels.
    pub table: Table,
}

const _: () = assert!(size_of::<Environment>() == 64);

/// A texel, 16 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C, align(16))]
pub struct SkyTexel {
    /// Radiance, W·sr⁻¹·m⁻².
    pub radiance: Vec3,
    /// Its luminance.
    pub luminance: f32,
}

impl SkyTexel {
    /// The texel a part `t` of the way to `other`.
    #[inline(always)]
    fn lerp(self, other: Self, t: f32) -> Self {
        Self {
            radiance: self.radiance + (other.radiance - self.radiance) * t,
            luminance: lerp(t, self.luminance, other.luminance),
        }
    }
}

/// A point of the image: the cell between four texels, and where in it.
#[derive(Clone, Copy)]
struct Point {
    /// Column and row in [`Environment::table`]: the texels are of columns x and x + 1 and rows y and y + 1.
    cell: [u32; 2],
    /// From the first texel to the next.
    f: Vec2,
}

/// A direction, the radiance from there, and its density.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    /// Unit direction.
    pub wi: Vec3,
    /// Radiance.
    pub li: Vec3,
    /// Solid-angle density.
    pub pdf: f32,
}

impl Environment {
    /// Radiance from a direction, W·sr⁻¹·m⁻².
    ///
    /// # Safety
    /// `scene` is valid, and this is its environment.
    #[inline(always)]
    pub unsafe fn radiance(&self, scene: &Lighting, d: Vec3) -> Vec3 {
        // SAFETY: as the caller promised.
        unsafe { self.interpolated(scene, self.point(self.local(d))) }.radiance
    }

    /// Draws a direction by the luminance of the image.
    ///
    /// # Safety
    /// As [`Environment::radiance`].
    #[inline(always)]
    pub unsafe fn sample(&self, scene: &Lighting, bits: [u32; 2]) -> Option<Sample> {
        // SAFETY: as the caller promised; cells of the table are between texels of the image.
        unsafe { Some(self.sample_at(scene, self.entries(scene).sample(self.table.all(), bits)?)) }
    }

    /// As [`Environment::sample`], without branches: see [`Entries::sample_all`].
    ///
    /// # Safety
    /// As [`Environment::radiance`]; not all of the image is black.
    #[inline(always)]
    pub(crate) unsafe fn sample_in<const STEPS: usize>(&self, scene: &Lighting, bits: [u32; 2]) -> Sample {
        // SAFETY: as the caller promised.
        unsafe { self.sample_at(scene, self.entries(scene).sample_all::<STEPS>(bits)) }
    }

    /// Whether all of the image is black.
    ///
    /// # Safety
    /// As [`Environment::radiance`].
    pub(crate) unsafe fn is_black(&self, scene: &Lighting) -> bool {
        // SAFETY: as the caller promised.
        unsafe { self.entries(scene).mass(self.table.all()) == 0 }
    }

    /// The sample at a place in the table.
    ///
    /// # Safety
    /// As [`Environment::radiance`].
    #[inline(always)]
    unsafe fn sample_at(&self, scene: &Lighting, place: TableSample) -> Sample {
        // SAFETY: as the caller promised; cells of the table are between texels of the image.
        unsafe {
            let [u, v] = place.within;
            let corners = self.corners(scene, place.cell).map(|texel| texel.luminance);
            // The interpolated luminance within the cell: first the row of it, then the point in that.
            let [top, bottom] = [corners[0] + corners[1], corners[2] + corners[3]];
            let y = sample_linear(v, top, bottom);
            let x = sample_linear(u, lerp(y, corners[0], corners[2]), lerp(y, corners[1], corners[3]));
            let point = Point { cell: place.cell, f: Vec2::new(x, y) };
            let (wi, sin_theta) = self.direction(point);
            let texel = self.interpolated(scene, point);
            let pdf = self.density(scene, point, texel.luminance, sin_theta);
            Sample { wi, li: texel.radiance, pdf }
        }
    }

    /// Solid-angle density with which [`Environment::sample`] draws a direction.
    ///
    /// # Safety
    /// As [`Environment::radiance`].
    #[inline(always)]
    pub unsafe fn pdf(&self, scene: &Lighting, d: Vec3) -> f32 {
        let local = self.local(d);
        let point = self.point(local);
        // SAFETY: as the caller promised.
        unsafe { self.density(scene, point, self.interpolated(scene, point).luminance, sin_theta(local)) }
    }

    #[inline(always)]
    unsafe fn entries(&self, scene: &Lighting) -> Entries {
        // SAFETY: as the caller promised.
        unsafe { self.table.entries(scene.tables) }
    }

    #[inline(always)]
    fn local(&self, d: Vec3) -> Vec3 {
        Vec3::from_array(self.image_from_world.map(|row| row.dot(d)))
    }

    /// Where in the image a direction is.
    #[inline(always)]
    fn point(&self, local: Vec3) -> Point {
        let u = 0.5 + 0.5 * FRAC_1_PI * atan2(local.x, -local.z);
        let v = FRAC_1_PI * atan2(sin_theta(local), local.y);
        let (width, rows) = (self.width as f32, self.table.height as f32);
        let (x, y) = (u * width + (width - 0.5), v * rows);
        // SAFETY: u and v are in [0, 1] but for rounding, and sizes below 2¹⁵.
        let (i, j) = unsafe { (x.to_int_unchecked::<i32>() as u32, y.to_int_unchecked::<i32>() as u32) };
        let j = if j >= self.table.height { self.table.height - 1 } else { j };
        let f = Vec2::new(x - i as f32, min(y - j as f32, 1.0));
        Point { cell: [if i >= self.width { i - self.width } else { i }, j], f }
    }

    /// The direction in the world of a point, and the sine of its angle to the pole.
    #[inline(always)]
    fn direction(&self, Point { cell, f }: Point) -> (Vec3, f32) {
        let u = (cell[0] as f32 + 0.5 + f.x) / self.width as f32;
        let v = min((cell[1] as f32 + f.y) / self.table.height as f32, 1.0);
        let (sin_phi, cos_phi) = sin_cos_turn(if u > 1.0 { u - 1.0 } else { u });
        let (sin_theta, cos_theta) = sin_cos_turn(0.5 * v);
        // u = ½ is −z.
        let local = Vec3::new(-sin_theta * sin_phi, cos_theta, sin_theta * cos_phi);
        let [x, y, z] = self.image_from_world;
        ((local.x * x + local.y * y + local.z * z).normalize(), sin_theta)
    }

    /// The four texels around a cell.
    #[inline(always)]
    unsafe fn corners(&self, scene: &Lighting, [x, y]: [u32; 2]) -> [SkyTexel; 4] {
        let right = if x + 1 == self.width { 0 } else { x + 1 };
        // SAFETY: columns and rows are within the image.
        let texel = |x: u32, y: u32| unsafe { load(scene.sky.add((y * self.width + x) as usize)) };
        [texel(x, y), texel(right, y), texel(x, y + 1), texel(right, y + 1)]
    }

    #[inline(always)]
    unsafe fn interpolated(&self, scene: &Lighting, Point { cell, f }: Point) -> SkyTexel {
        // SAFETY: as the caller promised.
        let [t00, t10, t01, t11] = unsafe { self.corners(scene, cell) };
        t00.lerp(t10, f.x).lerp(t01.lerp(t11, f.x), f.y)
    }

    /// Density over solid angle at a point of the given luminance.
    #[inline(always)]
    unsafe fn density(&self, scene: &Lighting, point: Point, luminance: f32, sin_theta: f32) -> f32 {
        // SAFETY: as the caller promised.
        let (entries, corners) = unsafe { (self.entries(scene), self.corners(scene, point.cell)) };
        let mean = 0.25 * corners.iter().map(|texel| texel.luminance).sum::<f32>();
        let weight = entries.weight(point.cell);
        let chance = (weight * u64::from(PARTS)) as f32 / entries.mass(self.table.all()) as f32;
        let cells = self.width as f32 * self.table.height as f32;
        // dω = 2π² sin θ du dv.
        let density = chance * (luminance / mean) * cells;
        let density = density / (2.0 * PI * PI * max(sin_theta, MIN_SIN_THETA));
        // A choice between numbers, of which vector instructions can be made.
        if weight == 0 || mean <= 0.0 { 0.0 } else { density }
    }
}

/// Sine of the angle to a pole below which rounding would divide by zero.
const MIN_SIN_THETA: f32 = 1e-8;

/// Sine of the angle to +y.
#[inline(always)]
fn sin_theta(local: Vec3) -> f32 {
    sqrt(local.x * local.x + local.z * local.z)
}

#[inline(always)]
fn lerp(x: f32, a: f32, b: f32) -> f32 {
    a + (b - a) * x
}

/// A number in [0, 1) with a density that goes linearly from `a` to `b` (pbrt 4th ed. §2.3.2).
#[inline(always)]
fn sample_linear(u: f32, a: f32, b: f32) -> f32 {
    const BELOW_ONE: f32 = 1.0 - f32::EPSILON / 2.0;
    if a + b <= 0.0 {
        return u;
    }
    let (a, b) = (a / (a + b), b / (a + b));
    min(u / (a + sqrt(lerp(u, a * a, b * b))), BELOW_ONE)
}

/// Draws a direction from `p` to the environment: through the portals that `p` sees, or by the image alone.
///
/// # Safety
/// `scene` is valid and has an environment that is an image.
#[inline(always)]
pub(super) unsafe fn sample(scene: &Lighting, p: Vec3, [u, v, choice]: [u32; 3]) -> Option<Sample> {
    // SAFETY: as the caller promised.
    unsafe {
        let environment = load(scene.environment);
        let through = portal::mass(scene, &environment, p);
        if through == 0.0 {
            return environment.sample(scene, [u, v]);
        }
        let wi = match portal::rest(choice) {
            None => environment.sample(scene, [u, v])?.wi,
            Some(x) => portal::sample(scene, &environment, p, x * through, [u, v])?,
        };
        let pdf = mixed_pdf(scene, &environment, through, p, wi);
        let li = environment.radiance(scene, wi);
        (pdf > 0.0).then_some(Sample { wi, li, pdf })
    }
}

/// Solid-angle density with which [`sample`] from `p` yields `d`.
///
/// # Safety
/// As [`sample`].
#[inline(always)]
pub(super) unsafe fn pdf(scene: &Lighting, environment: &Environment, p: Vec3, d: Vec3) -> f32 {
    // SAFETY: as the caller promised.
    unsafe {
        let through = portal::mass(scene, environment, p);
        if through == 0.0 {
            return environment.pdf(scene, d);
        }
        mixed_pdf(scene, environment, through, p, d)
    }
}

#[inline(always)]
unsafe fn mixed_pdf(scene: &Lighting, environment: &Environment, through: f32, p: Vec3, d: Vec3) -> f32 {
    // SAFETY: as the caller promised.
    let (within, plain) = unsafe { (portal::density(scene, environment, p, d), environment.pdf(scene, d)) };
    lerp(portal::DEFENSIVE, within / through, plain)
}
