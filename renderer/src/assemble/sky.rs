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
const HEIGHT: u32 = WIDTH / 2;

/// Luminous efficiency over all wavelengths, nm: what the RGB data of Hošek & Wilkie are to be divided by.
const Y_INTEGRAL: f32 = 106.856_98;

/// Radiance of the sky in the directions of the texels of an image, row by row, the sun left out. Hošek & Wilkie 2012,
/// with their RGB data. Below the horizon it is black.
pub(super) fn bake(sky: &SunSky) -> impl IndexedParallelIterator<Item = Vec3> + use<> {
    let model = Model::new(sky);
    (0..WIDTH * HEIGHT).into_par_iter().map(move |i| {
        let (u, v) = (f64::from(i % WIDTH) + 0.5, f64::from(i / WIDTH) + 0.5);
        let phi = 2.0 * PI * (u / f64::from(WIDTH) - 0.5);
        let (sin, cos) = (PI * v / f64::from(HEIGHT)).sin_cos();
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
        if d.y <= 0.0 {
            return Vec3::ZERO;
        }
        let theta = d.y.min(1.0).acos() as f32;
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
