//! The light of a photographer's studio, as an image of all directions.

use glam::{DVec2, DVec3, Vec3};
use rayon::prelude::*;
use torrance_scene::Studio;

use super::environment::texel_direction;

/// Columns of the image.
pub(super) const WIDTH: u32 = 512;
/// Its rows, of which the first and the last are the poles.
const HEIGHT: u32 = WIDTH / 2 + 1;

/// A soft box: a rectangle that shines evenly but for its edges.
struct SoftBox {
    /// From the middle of the studio to the middle of the box, of any length.
    direction: DVec3,
    /// Half its width and height as seen from a distance of 1.
    half: DVec2,
    radiance: f64,
}

/// The key light, two that draw edges, and one that hangs from the ceiling.
const BOXES: [SoftBox; 4] = [
    SoftBox { direction: DVec3::new(-0.75, 0.75, 0.7), half: DVec2::new(0.5, 0.42), radiance: 3.4 },
    SoftBox { direction: DVec3::new(1.0, 0.2, 0.3), half: DVec2::new(0.13, 0.75), radiance: 2.6 },
    SoftBox { direction: DVec3::new(0.3, 0.5, -1.0), half: DVec2::new(0.6, 0.16), radiance: 2.6 },
    SoftBox { direction: DVec3::new(0.05, 1.0, -0.05), half: DVec2::new(0.6, 0.3), radiance: 1.0 },
];

/// Width of the edges of boxes as seen from a distance of 1.
const EDGE: f64 = 0.05;

/// Radiance of the backdrop at the bottom and at the top.
const BACKDROP: [f64; 2] = [0.1, 0.42];

/// Radiance in the directions of the texels of the image, row by row.
pub(super) fn bake(studio: &Studio) -> impl IndexedParallelIterator<Item = Vec3> + use<> {
    let scale = studio.scale;
    (0..WIDTH * HEIGHT)
        .into_par_iter()
        .map(move |i| scale * radiance(texel_direction(i, WIDTH, HEIGHT)) as f32)
}

/// Radiance from a direction: that of a box where there is one.
fn radiance(direction: DVec3) -> f64 {
    let [bottom, top] = BACKDROP;
    let backdrop = bottom + (top - bottom) * smooth_step(0.5 + 0.5 * direction.y);
    BOXES.iter().fold(backdrop, |behind, b| behind + (b.radiance - behind) * b.coverage(direction))
}

impl SoftBox {
    /// How much of a direction the box covers, from 0 to 1.
    fn coverage(&self, direction: DVec3) -> f64 {
        let axis = self.direction.normalize();
        let along = direction.dot(axis);
        if along <= 0.0 {
            return 0.0;
        }
        let right = DVec3::Y.cross(axis).normalize();
        let at = DVec2::new(direction.dot(right), direction.dot(axis.cross(right))) / along;
        let within = (self.half - at.abs()) / EDGE;
        smooth_step(within.x) * smooth_step(within.y)
    }
}

/// 3 x² − 2 x³ between 0 and 1.
fn smooth_step(x: f64) -> f64 {
    let x = x.clamp(0.0, 1.0);
    x * x * (3.0 - 2.0 * x)
}

#[cfg(test)]
mod tests {
    use std::f64::consts::PI;

    use torrance_scene::STUDIO_IRRADIANCE;

    use super::*;

    /// Irradiance of a surface with this normal, by the midpoint rule over the sphere.
    fn irradiance(normal: DVec3) -> f64 {
        const N: u32 = 256;
        let cell = |i: u32| {
            let (x, y) = (f64::from(i % (2 * N)) + 0.5, f64::from(i / (2 * N)) + 0.5);
            let (phi, cos) = (PI * x / f64::from(N), 1.0 - 2.0 * y / f64::from(N));
            let sin = (1.0 - cos * cos).sqrt();
            let direction = DVec3::new(sin * phi.sin(), cos, -sin * phi.cos());
            radiance(direction) * direction.dot(normal).max(0.0)
        };
        (0..2 * N * N).map(cell).sum::<f64>() * 4.0 * PI / f64::from(2 * N * N)
    }

    /// What the description of [`Studio::scale`] promises of a white diffuse sphere.
    #[test]
    fn white_is_white_where_it_is_brightest() {
        let directions = (0..200).map(|i| {
            let (y, phi) = (1.0 - (f64::from(i) + 0.5) / 100.0, 2.399_963 * f64::from(i));
            let r = (1.0 - y * y).sqrt();
            DVec3::new(r * phi.cos(), y, r * phi.sin())
        });
        let mean = directions.clone().map(irradiance).sum::<f64>() / 200.0;
        assert!((mean / f64::from(STUDIO_IRRADIANCE) - 1.0).abs() < 0.03, "{mean}");
        let radiances: Vec<f64> = directions.map(|n| irradiance(n) / PI).collect();
        let most = radiances.iter().copied().fold(0.0, f64::max);
        let least = radiances.iter().copied().fold(f64::INFINITY, f64::min);
        assert!((0.95..1.05).contains(&most), "{most}");
        assert!(least > 0.1 && least < 0.5 * most, "{least}: neither black nor flat");
    }

    /// The key light is where its direction says, to the left of one who looks along −z.
    #[test]
    fn boxes_are_where_they_are_to_be() {
        let image: Vec<Vec3> = bake(&Studio::default()).collect();
        let texel = |direction: DVec3| {
            let d = direction.normalize();
            let column = (0.5 + d.x.atan2(-d.z) / (2.0 * PI)) * f64::from(WIDTH - 1);
            let row = d.y.acos() / PI * f64::from(HEIGHT - 1);
            image[(row.round() as u32 * WIDTH + column as u32) as usize].x
        };
        BOXES.iter().for_each(|b| assert_eq!(f64::from(texel(b.direction)), f64::from(b.radiance as f32)));
        assert!(texel(DVec3::new(0.4, 0.3, 1.0)) < 0.4, "the camera is in front of the backdrop");
        assert!(texel(DVec3::NEG_Y) < texel(DVec3::new(-1.0, 0.1, -0.3)), "the backdrop is darkest below");
    }
}
