//! A clear sky and its sun.
//!
//! Both are in W·sr⁻¹·m⁻²·nm⁻¹: colours of spectra, such that one of 1 at all wavelengths has a luminance of 1.

use std::f64::consts::PI;

use glam::{DVec3, Vec3};
use hw_skymodel::rgb::{Channel, SkyParams, SkyState};
use rayon::prelude::*;

use crate::scene::{PunctualKind, SunSky};

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
    (0..WIDTH * HEIGHT).into_par_iter().map(move |i| {
        let phi = 2.0 * PI * ((f64::from(i % WIDTH) + 0.5) / f64::from(WIDTH) - 0.5);
        let (sin, cos) = (PI * f64::from(i / WIDTH) / f64::from(HEIGHT - 1)).sin_cos();
        model.radiance(DVec3::new(sin * phi.sin(), cos, -sin * phi.cos()))
    })
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

/// The sun, if it is above the horizon: a black body of 5778 K as wide as the sun is from the Earth, through the air.
pub(super) fn sun(sky: &SunSky) -> Option<PunctualKind> {
    /// Angular radius of the sun from a distance of one astronomical unit (IAU 2015 Resolution B3).
    const RADIUS: f64 = 695_700.0 / 149_597_870.7;
    let d = sky.sun_direction.normalize();
    if d.y <= 0.0 || sky.sun_scale == 0.0 {
        return None;
    }
    let zenith_angle = f64::from(d.y).acos();
    let spectrum = |nm: f64| {
        PI * RADIUS
            * RADIUS
            * black_body(5778.0, nm)
            * transmittance(zenith_angle, f64::from(sky.turbidity), nm)
    };
    Some(PunctualKind::Directional {
        direction: -(sky.world_from_sky * d).normalize(),
        irradiance: sky.sun_scale * color(spectrum),
        diameter: sky.sun_diameter,
    })
}

/// Radiance of a black body, W·sr⁻¹·m⁻²·nm⁻¹ (Planck's law).
fn black_body(kelvin: f64, nm: f64) -> f64 {
    const C1: f64 = 1.191_042_972e-16; // 2hc², W·m²·sr⁻¹
    const C2: f64 = 1.438_776_877e-2; // hc/k, m·K
    let m = nm * 1e-9;
    1e-9 * C1 / m.powi(5) / ((C2 / (m * kelvin)).exp() - 1.0)
}

/// The part of sunlight that passes the air: Rayleigh scattering, aerosols and ozone of Preetham, Shirley & Smits 1999,
/// "A Practical Analytic Model for Daylight", appendix A.1; of ozone, the Chappuis band as a Gaussian.
fn transmittance(zenith_angle: f64, turbidity: f64, nm: f64) -> f64 {
    let um = nm * 1e-3;
    // Relative optical mass (Kasten 1965).
    let mass = 1.0 / (zenith_angle.cos() + 0.15 * (93.885 - zenith_angle.to_degrees()).powf(-1.253));
    let rayleigh = 0.008_735 * um.powf(-4.08);
    // Ångström's formula.
    let aerosols = (0.046_08 * turbidity - 0.045_86) * um.powf(-1.3);
    let ozone = 0.35 * 0.125 * (-0.5 * ((nm - 590.0) / 48.0).powi(2)).exp();
    (-mass * (rayleigh + aerosols.max(0.0) + ozone)).exp()
}

/// Linear Rec. 709 colour of a spectrum; that of 1 has a luminance of 1. What lies outside the gamut is brought to it.
fn color(spectrum: impl Fn(f64) -> f64) -> Vec3 {
    let xyz: DVec3 = (380..=780).map(|nm| spectrum(nm.into()) * matching(nm.into())).sum();
    let of_1: DVec3 = (380..=780).map(|nm| matching(nm.into())).sum();
    let xyz = xyz / of_1.y;
    let row = |x, y, z| DVec3::new(x, y, z).dot(xyz).max(0.0) as f32;
    Vec3::new(
        row(3.240_970, -1.537_383, -0.498_611),
        row(-0.969_244, 1.875_968, 0.041_555),
        row(0.055_630, -0.203_977, 1.056_972),
    )
}

/// Colour matching functions of the CIE 1931 observer (Wyman, Sloan & Shirley 2013, "Simple Analytic Approximations to the
/// CIE XYZ Color Matching Functions", JCGT 2(2)).
fn matching(nm: f64) -> DVec3 {
    let lobe = |mean: f64, below: f64, above: f64| {
        let t = (nm - mean) / if nm < mean { below } else { above };
        (-0.5 * t * t).exp()
    };
    DVec3::new(
        1.056 * lobe(599.8, 37.9, 31.0) + 0.362 * lobe(442.0, 16.0, 26.7) - 0.065 * lobe(501.1, 20.4, 26.2),
        0.821 * lobe(568.8, 46.9, 40.5) + 0.286 * lobe(530.9, 16.3, 31.1),
        1.217 * lobe(437.0, 11.8, 36.0) + 0.681 * lobe(459.0, 26.0, 13.8),
    )
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

    /// Elevation of the sun, turbidity, albedo, direction, and what Mitsuba 3.9.1's `sunsky` says of it without the sun.
    const SKIES: [(i32, f32, f32, [f32; 3], [f32; 3]); 18] = [
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

    /// Elevation of the sun, turbidity, and the irradiance across the sun of the same, by Hošek & Wilkie 2013.
    const SUNS: [(i32, f32, [f32; 3]); 7] = [
        (5, 3.0, [0.6430, 0.2867, 0.0387]),
        (20, 3.0, [1.2830, 0.9440, 0.5374]),
        (40, 2.0, [1.4844, 1.2096, 0.8681]),
        (40, 3.0, [1.4492, 1.1779, 0.8465]),
        (40, 6.0, [1.2946, 1.0398, 0.7520]),
        (75, 3.0, [1.5185, 1.2828, 1.0085]),
        (90, 3.0, [1.5235, 1.2903, 1.0206]),
    ];

    #[test]
    fn suns_are_about_those_of_the_field() {
        for (elevation, turbidity, expected) in SUNS {
            let sun = sun(&clear(elevation.into(), turbidity, 0.3)).unwrap();
            let PunctualKind::Directional { irradiance, .. } = sun else { unreachable!() };
            let ratio = irradiance / Vec3::from(expected);
            println!("{elevation}°, {turbidity}: {irradiance:.3}, {ratio:.3} of theirs");
            let most = if elevation < 10 { 0.5 } else { 0.15 };
            assert!((ratio - 1.0).abs().max_element() < most, "{elevation}°, {turbidity}: {ratio}");
        }
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
