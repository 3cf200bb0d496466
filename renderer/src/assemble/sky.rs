//! A clear sky and its sun.
//!
//! Both are in W·sr⁻¹·m⁻²·nm⁻¹: colours of spectra, such that one of 1 at all wavelengths has a luminance of 1.

mod sun;

use std::f64::consts::PI;

use glam::{DVec3, Vec3};
use hw_skymodel::rgb::{Channel, SkyParams, SkyState};
use rayon::prelude::*;
use torrance_scene::{PunctualKind, SunSky};

use super::environment::texel_direction;

/// Size of the image that a sky is made into, texels.
pub(super) const WIDTH: u32 = 1024;
/// Odd: one row is the horizon.
const HEIGHT: u32 = WIDTH / 2 + 1;

/// Luminous efficiency over all wavelengths, nm: what the RGB data of Hošek & Wilkie are to be divided by.
const Y_INTEGRAL: f32 = 106.856_98;

/// Radiance of the sky in the directions of the texels of an image, row by row, the sun left out. Hošek & Wilkie 2012,
/// with their RGB data. Below the horizon it is black.
pub(super) fn bake(sky: &SunSky) -> impl IndexedParallelIterator<Item = Vec3> + use<> {
    let model = Model::new(sky);
    (0..WIDTH * HEIGHT).into_par_iter().map(move |i| model.radiance(texel_direction(i, WIDTH, HEIGHT)))
}

/// The model for one place of the sun.
struct Model {
    state: SkyState,
    sun: DVec3,
    scale: f32,
}

impl Model {
    fn new(sky: &SunSky) -> Self {
        let sun = sky.sun_direction.as_dvec3().normalize();
        let state = SkyState::new(&SkyParams {
            // As the model has no night, the sun is on the horizon where it is below.
            elevation: sun.y.clamp(0.0, 1.0).asin().min(PI / 2.0) as f32,
            turbidity: sky.turbidity.clamp(1.0, 10.0),
            albedo: sky.ground_albedo.clamp(Vec3::ZERO, Vec3::ONE).to_array(),
        });
        Self { state: state.expect("all is in range"), sun, scale: sky.sky_scale / Y_INTEGRAL }
    }

    /// Radiance from a unit vector.
    fn radiance(&self, d: DVec3) -> Vec3 {
        // The row of the horizon is lit, whatever is rounded.
        if d.y < -1e-6 {
            return Vec3::ZERO;
        }
        let theta = d.y.clamp(0.0, 1.0).acos() as f32;
        let gamma = d.dot(self.sun).clamp(-1.0, 1.0).acos() as f32;
        let of = |channel| self.state.radiance(theta, gamma, channel).max(0.0);
        self.scale * Vec3::new(of(Channel::R), of(Channel::G), of(Channel::B))
    }
}

/// The sun, if it is above the horizon.
pub(super) fn sun(sky: &SunSky) -> Option<PunctualKind> {
    let d = sky.sun_direction.normalize();
    if d.y <= 0.0 || sky.sun_scale == 0.0 {
        return None;
    }
    Some(PunctualKind::Directional {
        direction: -(sky.world_from_sky * d).normalize(),
        irradiance: sky.sun_scale * sun::irradiance(d.y.min(1.0).asin(), sky.turbidity),
        diameter: sky.sun_diameter,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::Mat3;

    fn clear(elevation: f64, turbidity: f32, albedo: f32) -> SunSky {
        let (sin, cos) = elevation.to_radians().sin_cos();
        SunSky {
            sun_direction: Vec3::new(cos as f32, sin as f32, 0.0),
            turbidity,
            ground_albedo: Vec3::splat(albedo),
            sky_scale: 1.0,
            sun_scale: 1.0,
            sun_diameter: 0.5358,
            world_from_sky: Mat3::IDENTITY,
        }
    }

    /// Elevation of the sun, turbidity, albedo, direction, and the radiance from there.
    type Sky = (i32, f32, f32, [f32; 3], [f32; 3]);

    /// As Mitsuba 3.9.1's `sunsky` has them without the sun.
    const SKIES: [Sky; 18] = [
        (40, 3.0, 0.3, [0.000000, 1.000000, -0.000000], [0.021172, 0.038030, 0.077088]),
        (40, 3.0, 0.3, [0.894427, 0.447214, -0.000000], [0.191656, 0.228047, 0.269353]),
        (40, 3.0, 0.3, [-0.894427, 0.447214, -0.000000], [0.041751, 0.075616, 0.135349]),
        (40, 3.0, 0.3, [0.000000, 0.287348, -0.957826], [0.059381, 0.100987, 0.167485]),
        (40, 3.0, 0.3, [0.408248, 0.816497, -0.408248], [0.041214, 0.063989, 0.110005]),
        (40, 3.0, 0.3, [0.763807, 0.640910, -0.076381], [0.184494, 0.206840, 0.233115]),
        (10, 5.0, 0.1, [0.000000, 1.000000, -0.000000], [0.011181, 0.018973, 0.029697]),
        (10, 5.0, 0.1, [0.894427, 0.447214, -0.000000], [0.235971, 0.198677, 0.134055]),
        (10, 5.0, 0.1, [-0.894427, 0.447214, -0.000000], [0.037145, 0.053465, 0.067603]),
        (10, 5.0, 0.1, [0.000000, 0.287348, -0.957826], [0.045201, 0.060440, 0.068993]),
        (10, 5.0, 0.1, [0.408248, 0.816497, -0.408248], [0.021419, 0.030734, 0.041816]),
        (10, 5.0, 0.1, [0.980067, 0.172812, -0.098007], [0.931683, 0.677022, 0.308639]),
        (75, 2.0, 0.8, [0.000000, 1.000000, -0.000000], [0.057102, 0.088656, 0.155986]),
        (75, 2.0, 0.8, [0.894427, 0.447214, -0.000000], [0.076314, 0.137120, 0.241627]),
        (75, 2.0, 0.8, [-0.894427, 0.447214, -0.000000], [0.066175, 0.120353, 0.215647]),
        (75, 2.0, 0.8, [0.000000, 0.287348, -0.957826], [0.101039, 0.171822, 0.283397]),
        (75, 2.0, 0.8, [0.408248, 0.816497, -0.408248], [0.054340, 0.093283, 0.172051]),
        (75, 2.0, 0.8, [0.258732, 0.965602, -0.025873], [0.095712, 0.128621, 0.182149]),
    ];

    #[test]
    fn skies_are_those_of_the_field() {
        let worst = |turn: f32| {
            let errors = SKIES.iter().map(|(elevation, turbidity, albedo, d, expected)| {
                let model = Model::new(&clear((*elevation).into(), *turbidity, *albedo));
                let d = Mat3::from_rotation_y(turn) * Vec3::from(*d);
                let expected = Vec3::from(*expected);
                ((model.radiance(d.as_dvec3()) - expected) / expected).abs().max_element()
            });
            errors.fold(0.0, f32::max)
        };
        println!("worst: {:.4}", worst(0.0));
        assert!(worst(0.0) < 0.01, "{}", worst(0.0));
        assert!(worst(0.1) > 0.05, "control: turned");
    }

    /// Elevation of the sun, turbidity, and the irradiance across the sun that Mitsuba 3.9.1's `sunsky` has.
    const SUNS: [(f32, f32, [f32; 3]); 6] = [
        (10.0, 3.0, [0.9955, 0.6037, 0.2157]),
        (20.0, 3.0, [1.2830, 0.9440, 0.5374]),
        (33.0, 2.5, [1.4335, 1.1430, 0.7822]),
        (40.0, 6.0, [1.2946, 1.0398, 0.7520]),
        (62.0, 1.0, [1.5481, 1.3023, 1.0054]),
        (90.0, 9.5, [1.1093, 0.9086, 0.7318]),
    ];

    #[test]
    fn suns_are_those_of_the_field() {
        for (elevation, turbidity, expected) in SUNS {
            let found = sun::irradiance(elevation.to_radians(), turbidity);
            let ratio = found / Vec3::from(expected);
            let most = if elevation < 20.0 { 0.1 } else { 0.01 };
            assert!((ratio - 1.0).abs().max_element() < most, "{elevation}°, {turbidity}: {ratio}");
        }
        let higher = sun::irradiance(20_f32.to_radians(), 4.0) / Vec3::from(SUNS[1].2);
        assert!((higher - 1.0).abs().max_element() > 0.01, "control: another turbidity");
    }

    #[test]
    fn an_image_of_a_sky_is_the_sky() {
        let sky = clear(40.0, 3.0, 0.3);
        let image: Vec<Vec3> = bake(&sky).collect();
        assert_eq!(image.len() as u32, WIDTH * HEIGHT);
        let texel = |x: u32, y: u32| image[(y * WIDTH + x) as usize];
        let model = Model::new(&sky);
        // +x, the middle of the right half; and the horizon, below which there is nothing.
        let phi = std::f32::consts::PI / WIDTH as f32;
        for (y, height) in [(HEIGHT / 2, 0.0_f32), (HEIGHT / 4, std::f32::consts::FRAC_PI_4)] {
            let d = Vec3::new(height.cos() * phi.cos(), height.sin(), height.cos() * phi.sin());
            let expected = model.radiance(d.as_dvec3());
            assert!(((texel(3 * WIDTH / 4, y) - expected) / expected).abs().max_element() < 1e-3);
        }
        assert!(image[((HEIGHT / 2 + 1) * WIDTH) as usize..].iter().all(|rgb| *rgb == Vec3::ZERO));
    }
}
