//! Images of all directions, and the tables by which they are sampled.

#[cfg(test)]
mod tests;

use std::f64::consts::PI;

use bytemuck::cast_slice_mut;
use device::light::{Environment, GuideEntry, Portal as DevicePortal, SkyTexel, Table};
use glam::{DVec3, Mat3, Vec3};
use rayon::prelude::*;
use torrance_scene::{Image, Portal};

use super::fingerprint::digest;
use super::guide::{firsts, guide_table};

/// An environment that is an image, as the stages want it.
#[derive(Debug, Clone, PartialEq)]
pub struct ImageEnvironment {
    /// What stages know of the image.
    pub record: Environment,
    /// Texels, row by row.
    pub sky: Vec<SkyTexel>,
    /// [`super::fingerprint::digest`] of it.
    pub(super) digest: u64,
    /// The portals.
    pub portals: Vec<DevicePortal>,
    /// [`device::light::Lighting::tables`], with the weights of cells where the entries of portals will be: a back end sums
    /// them up.
    pub tables: Vec<u64>,
}

impl ImageEnvironment {
    /// An image of `width` columns, of texels of it, as an environment; `None` if it is black.
    pub(super) fn new(
        radiance: impl IntoParallelIterator<Item = Vec3>,
        width: u32,
        world_from_image: Mat3,
        portals: &[Portal],
    ) -> Option<Self> {
        let texel = |rgb: Vec3| SkyTexel { radiance: rgb, luminance: device::color::luminance(rgb) };
        let mut sky = Vec::new();
        sky.par_extend(radiance.into_par_iter().map(texel));
        if sky.len() == width as usize {
            sky.extend_from_within(..); // A row at either pole.
        }
        let height = sky.len() as u32 / width;
        let lookup = Lookup { sky: &sky, width, height };
        let (tables, total) = lookup.guides()?;
        let image_from_world = world_from_image.transpose();
        let record = Environment {
            image_from_world: [0, 1, 2].map(|i| image_from_world.row(i)),
            width,
            height,
            portals: 0,
            unit_density: lookup.unit_density(total),
            reserved: [0; 3],
        };
        let mut environment =
            Self { record, portals: Vec::new(), tables, sky: Vec::new(), digest: digest(&sky) };
        environment.add_portals(&lookup, image_from_world, portals);
        environment.sky = sky;
        Some(environment)
    }

    fn add_portals(&mut self, lookup: &Lookup<'_>, image_from_world: Mat3, portals: &[Portal]) {
        let mut powers = Vec::new();
        for portal in portals {
            let axes = axes(portal);
            let n = lookup.height.clamp(MIN_PORTAL_CELLS, MAX_PORTAL_CELLS);
            let rectified = lookup.rectified(axes.map(|axis| image_from_world * axis), n);
            let weight = |x: u32, y: u32| rectified[(y * n + x) as usize];
            let Some((table, power)) = weigh(&mut self.tables, n, n, weight) else { continue };
            powers.push(power);
            self.portals.push(DevicePortal {
                corner: portal.corner,
                size: portal.edges.map(Vec3::length),
                axes,
                unit: 0.0,
                reserved: 0,
                table,
            });
        }
        let most = powers.iter().copied().fold(0.0, f64::max);
        for (portal, power) in self.portals.iter_mut().zip(powers) {
            portal.unit = (power / most / f64::from(portal.table.width).powi(2)) as f32;
        }
        self.record.portals = self.portals.len() as u32;
    }

    /// Bytes that a back end must hold.
    pub(super) fn bytes(&self) -> usize {
        size_of::<Environment>()
            + size_of_val(&*self.sky)
            + size_of_val(&*self.portals)
            + size_of_val(&*self.tables)
    }
}

/// The direction of texel `i`, row by row, of an image of all directions: columns are centred in equal parts of the turn, and
/// the first and the last row lie at the poles.
pub(super) fn texel_direction(i: u32, width: u32, height: u32) -> DVec3 {
    let phi = 2.0 * PI * ((f64::from(i % width) + 0.5) / f64::from(width) - 0.5);
    let (sin, cos) = (PI * f64::from(i / width) / f64::from(height - 1)).sin_cos();
    DVec3::new(sin * phi.sin(), cos, -sin * phi.cos())
}

/// Numbers of cells along a side of the table of a portal: as many as the image has rows, within these.
const MIN_PORTAL_CELLS: u32 = 256;
const MAX_PORTAL_CELLS: u32 = 2048;

/// Unit vectors along the edges of a portal, and outwards.
fn axes(portal: &Portal) -> [Vec3; 3] {
    let [x, y] = portal.edges.map(Vec3::normalize);
    [x, y, y.cross(x).normalize()]
}

/// The most radiance of a texel: what is added up stays finite.
const MAX_TEXEL: f32 = 1e30;

/// Red, green and blue of every texel, times `scale`. What is negative is black.
pub(super) fn radiance(image: &Image, scale: Vec3) -> impl IndexedParallelIterator<Item = Vec3> {
    let texel = move |i: usize| {
        let [r, g, b, _] = image.texel(i);
        Vec3::new(r, g, b)
    };
    let count = image.width as usize * image.height as usize;
    (0..count).into_par_iter().map(move |i| (scale * texel(i)).max(Vec3::ZERO).min(Vec3::splat(MAX_TEXEL)))
}

/// Luminance between the texels of an image.
struct Lookup<'a> {
    sky: &'a [SkyTexel],
    width: u32,
    height: u32,
}

impl Lookup<'_> {
    /// Luminance of a texel. Columns go on around the image.
    fn texel(&self, x: i64, y: i64) -> f64 {
        let x = x.rem_euclid(self.width.into());
        let y = y.clamp(0, i64::from(self.height) - 1);
        self.sky[(y * i64::from(self.width) + x) as usize].luminance.into()
    }

    /// Of the cells of row `y`, between texels of that row and the next: the mean luminance, times the solid angle over the
    /// angle of a column.
    fn row_weights(&self, y: u32) -> Vec<f64> {
        let cos = |y: u32| (PI * f64::from(y) / f64::from(self.height - 1)).cos();
        let solid_angle = cos(y) - cos(y + 1);
        let weight = |x: u32| {
            let (i, j) = (i64::from(x), i64::from(y));
            let corners = [(i, j), (i + 1, j), (i, j + 1), (i + 1, j + 1)].map(|(i, j)| self.texel(i, j));
            0.25 * corners.iter().sum::<f64>() * solid_angle
        };
        (0..self.width).map(weight).collect()
    }

    /// The guide tables of rows and of the cells of each, as words, and the sum of all weights. `None` if it is black.
    fn guides(&self) -> Option<(Vec<u64>, f64)> {
        let (columns, rows) = (self.width as usize, self.height as usize - 1);
        // Puts the table of these weights, and returns their sum.
        let put = |entries: &mut [u64], weights: &[f64]| -> f64 {
            let entries: &mut [GuideEntry] = cast_slice_mut(entries);
            for (entry, value) in entries.iter_mut().zip(guide_table(&firsts(weights))) {
                *entry = value;
            }
            weights.iter().sum()
        };
        let mut tables = vec![0_u64; (rows + 1) + rows * (columns + 1)];
        let (of_rows, of_cells) = tables.split_at_mut(rows + 1);
        let row = |(y, entries): (usize, &mut [u64])| put(entries, &self.row_weights(y as u32));
        let sums: Vec<f64> = of_cells.par_chunks_mut(columns + 1).enumerate().map(row).collect();
        let total = put(of_rows, &sums);
        (total > 0.0).then_some((tables, total))
    }

    /// [`Environment::unit_density`], where all weights sum up to `total`.
    ///
    /// A cell of row j is drawn with the probability m (cos θⱼ − cos θⱼ₊₁) / total, m being its mean luminance, and a point (u, v)
    /// of all the image with the density l/m over the cell's area there; dω = 2π² sin θ du dv, and cos θⱼ − cos θⱼ₊₁ is 2 sin(π/2n)
    /// times the sine of the angle in the middle of the row, of n.
    fn unit_density(&self, total: f64) -> f32 {
        let rows = f64::from(self.height - 1);
        let density = (0.5 * PI / rows).sin() * f64::from(self.width) * rows / (PI * PI * total);
        density.min(f32::MAX.into()) as f32
    }

    /// Interpolated luminance in a direction.
    fn at(&self, d: DVec3) -> f64 {
        let u = 0.5 + 0.5 / PI * d.x.atan2(-d.z);
        let v = d.x.hypot(d.z).atan2(d.y) / PI;
        let (x, y) = (u * f64::from(self.width) - 0.5, v * f64::from(self.height - 1));
        let (i, j) = (x.floor(), y.floor());
        let row = |j: i64| {
            let (a, b) = (self.texel(i as i64, j), self.texel(i as i64 + 1, j));
            a + (b - a) * (x - i)
        };
        let (above, below) = (row(j as i64), row(j as i64 + 1));
        above + (below - above) * (y - j)
    }

    /// Weights of the `n`² cells of a portal whose axes are those in the image: the mean of luminance times |∂ω/∂(α, β)|
    /// over points as close as texels, and a little of the most around, so that no light is missed between the points.
    fn rectified(&self, axes: [Vec3; 3], n: u32) -> Vec<f64> {
        const LITTLE: f64 = 0.01;
        let [x, y, z] = axes.map(|axis| axis.as_dvec3());
        let points = (2 * self.height).div_ceil(n).max(2);
        let tangent = |i: u32, k: u32| {
            let part = f64::from(i * points + k) + 0.5;
            (PI * (part / f64::from(n * points) - 0.5)).tan()
        };
        let mean = |i: u32| {
            let mut sum = 0.0;
            for k in 0..points * points {
                let (a, b) = (tangent(i % n, k % points), tangent(i / n, k / points));
                let w = DVec3::new(a, b, 1.0).normalize();
                let solid_angle = (1.0 - w.x * w.x) * (1.0 - w.y * w.y) / w.z;
                sum += self.at(w.x * x + w.y * y + w.z * z) * solid_angle;
            }
            sum / f64::from(points * points)
        };
        let means: Vec<f64> = (0..n * n).into_par_iter().map(mean).collect();
        let most_around = |i: u32| {
            let around = |c: u32| c.saturating_sub(1)..(c + 2).min(n);
            let rows = around(i / n).flat_map(|y| around(i % n).map(move |x| (y * n + x) as usize));
            rows.map(|j| means[j]).fold(0.0, f64::max)
        };
        (0..n * n).into_par_iter().map(|i| means[i as usize] + LITTLE * most_around(i)).collect()
    }
}

/// Adds `width` by `height` weights to `entries`, and a row and a column of zeros before them, as their summed-area table
/// has; returns the table, and the sum of the weights. `None` if there are none above 0. They are rounded to 2⁻⁵³ of the
/// sum, but not to nothing.
fn weigh(
    entries: &mut Vec<u64>,
    width: u32,
    height: u32,
    weight: impl Fn(u32, u32) -> f64 + Sync,
) -> Option<(Table, f64)> {
    const WHOLE: f64 = 9_007_199_254_740_992.0; // 2⁵³
    let row_sum = |y: u32| (0..width).map(|x| weight(x, y)).sum::<f64>();
    // Summed in one order, whatever the number of threads.
    let total: f64 = (0..height).into_par_iter().map(row_sum).collect::<Vec<_>>().iter().sum();
    if total <= 0.0 {
        return None;
    }
    let whole = |w: f64| if w > 0.0 { (w / total * WHOLE).round().max(1.0) as u64 } else { 0 };
    let (first, columns) = (entries.len(), width as usize + 1);
    entries.resize(first + columns * (height as usize + 1), 0);
    let rows = &mut entries[first + columns..];
    rows.par_chunks_mut(columns).enumerate().for_each(|(y, row)| {
        for (x, entry) in row[1..].iter_mut().enumerate() {
            *entry = whole(weight(x as u32, y as u32));
        }
    });
    Some((Table { first: first as u32, width, height, reserved: 0 }, total))
}
