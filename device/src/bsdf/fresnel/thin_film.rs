//! Interference in a film that is about as thin as light's waves are long: Belcour & Barla 2017, "A Practical
//! Extension to Microfacet Theory for the Modeling of Varying Iridescence".
//!
//! Light that passes the film's outer boundary (amplitude r₁₂, real) and is reflected by the base (r₂₃) comes back
//! with the phase δ = 2πσ·OPD, at the wavenumber σ = 1/λ. All its round trips add up to Airy's sum, which as a
//! Fourier series in δ is R = 1 − K (1 + 2 Σ Re uᵐ), m ≥ 1, with u = −r₁₂ r₂₃ e^{iδ} and the transmittance without
//! interference K = (1 − R₁₂)(1 − R₂₃)/(1 − R₁₂ R₂₃). A channel's sensitivity is a sum of Gaussians over σ, so the
//! integral over the spectrum of each term is that term at the Gaussian's centre times exp(−½(2π·width·OPD·m)²).

use core::f32::consts::PI;

use glam::Vec3;

use super::complex::Complex;
use crate::arch::{max, min, sqrt};
use crate::math::{exp, sin_cos_turn};

/// A part of a channel's sensitivity, over wavenumbers in µm⁻¹.
struct Gaussian {
    weight: f32,
    centre: f32,
    width: f32,
}

/// Fits to the linear Rec. 709 channels of the CIE 1931 observer under D65, over wavenumbers: their Fourier
/// transforms are right to 0.007, 0.005 and 0.004 of the value at 0 for all paths. Each channel's weights
/// add up to 1, so that what reflects all wavelengths alike has no colour.
const RED: [Gaussian; 4] = [
    gaussian(1.7975, 1.6566, 0.0772),
    gaussian(-1.1023, 1.836, 0.1542),
    gaussian(0.2017, 1.7914, 0.0412),
    gaussian(0.1031, 2.2591, 0.0759),
];
const GREEN: [Gaussian; 3] =
    [gaussian(1.2731, 1.8395, 0.1148), gaussian(-0.1826, 1.638, 0.0692), gaussian(-0.0905, 2.2567, 0.0738)];
const BLUE: [Gaussian; 2] = [gaussian(1.1298, 2.2071, 0.1043), gaussian(-0.1298, 1.802, 0.1001)];

const fn gaussian(weight: f32, centre: f32, width: f32) -> Gaussian {
    Gaussian { weight, centre, width }
}

/// Terms of Fourier's series; the rest is summed as a geometric one. With 4, films at grazing incidence are off by
/// up to 0.05.
const TERMS: u32 = 8;

/// Reflectance of a dielectric of index `base` under a film of index `film`, `thickness` nanometres thick (times
/// the index of the medium outside), to 0.02, and 0.003 in root mean square, of the integral over the spectrum.
/// Saturated colours that Rec. 709 has not are cut off at 0 and 1.
#[inline(always)]
pub fn thin_film_dielectric(cos_i: f32, film: f32, thickness: f32, base: f32) -> Vec3 {
    let film = Film::new(cos_i, film, thickness);
    let base = film.base(base, 0.0);
    film.rgb(base, base, base)
}

/// Reflectance of a conductor of index `eta` + i·`k` per channel under a film, as [`thin_film_dielectric`].
#[inline(always)]
pub fn thin_film_conductor(cos_i: f32, film: f32, thickness: f32, eta: Vec3, k: Vec3) -> Vec3 {
    let film = Film::new(cos_i, film, thickness);
    film.rgb(film.base(eta.x, k.x), film.base(eta.y, k.y), film.base(eta.z, k.z))
}

/// A boundary, for one polarisation.
#[derive(Clone, Copy)]
struct Boundary {
    /// Reflected amplitude.
    r: Complex,
    /// Transmitted part of the power, where light arrives as a propagating wave.
    t: f32,
}

impl Boundary {
    /// From admittances.
    #[inline(always)]
    fn new(from: Complex, to: Complex) -> Self {
        let sum = from + to;
        let t = 4.0 * (from.re * to.re + from.im * to.im) / max(sum.norm2(), f32::MIN_POSITIVE);
        Self { r: (from - to) / sum, t }
    }
}

/// Light in a film.
struct Film {
    cos_i: f32,
    /// The index squared.
    eta2: f32,
    /// Index times cosine in the film; imaginary where the light does not enter it but for its edge.
    g: Complex,
    /// The outer boundary, for both polarisations.
    outer: [Boundary; 2],
    /// Difference of optical paths between one round trip and none, in µm.
    path: f32,
}

impl Film {
    #[inline(always)]
    fn new(cos_i: f32, eta: f32, thickness: f32) -> Self {
        // Keeps divisions away from 0/0, closer to grazing incidence and to the critical angle than matters.
        let cos_i = max(cos_i, 1e-6);
        let g2 = (eta - 1.0) * (eta + 1.0) + cos_i * cos_i;
        let abs_g = sqrt(max(g2.abs(), if eta < 1.0 { 1e-7 } else { 0.0 }));
        let g = if g2 >= 0.0 { Complex::new(abs_g, 0.0) } else { Complex::new(0.0, abs_g) };
        let eta2 = eta * eta;
        let outer = [1.0, eta2].map(|admittance| Boundary::new(Complex::new(admittance * cos_i, 0.0), g));
        // Beyond 0.1 mm nothing interferes.
        Self { cos_i, eta2, g, outer, path: min(2e-3 * thickness * abs_g, 100.0) }
    }

    /// The boundary to the base, for both polarisations.
    #[inline(always)]
    fn base(&self, eta: f32, k: f32) -> [Boundary; 2] {
        let eta2 = Complex::new(eta * eta - k * k, 2.0 * eta * k);
        let cos2 = self.cos_i * self.cos_i;
        let g = Complex::new((eta - 1.0) * (eta + 1.0) - k * k + cos2, eta2.im).sqrt();
        [Boundary::new(self.g, g), Boundary::new(eta2 * self.g, self.eta2 * g)]
    }

    #[inline(always)]
    fn rgb(&self, red: [Boundary; 2], green: [Boundary; 2], blue: [Boundary; 2]) -> Vec3 {
        let rgb = Vec3::new(self.channel(&RED, red), self.channel(&GREEN, green), self.channel(&BLUE, blue));
        rgb.clamp(Vec3::ZERO, Vec3::ONE)
    }

    #[inline(always)]
    fn channel<const N: usize>(&self, sensitivity: &[Gaussian; N], base: [Boundary; 2]) -> f32 {
        if self.g.im > 0.0 {
            return self.tunnel(sensitivity, base);
        }
        let waves = [0, 1].map(|p| RoundTrips::new(self.outer[p], base[p]));
        let mut transmitted = 0.5 * (waves[0].k + waves[1].k);
        for part in sensitivity {
            let turns = part.centre * self.path;
            let (sin, cos) = sin_cos_turn(turns - (turns as i32) as f32);
            let blur = 2.0 * PI * part.width * self.path;
            let blur = exp(-0.5 * blur * blur);
            let phase = Complex::new(cos, sin);
            let sum = |w: RoundTrips| w.k * w.sum(phase, blur);
            transmitted += part.weight * (sum(waves[0]) + sum(waves[1]));
        }
        1.0 - transmitted
    }

    /// Reflectance where light reaches the base only as a field that decays in the film. Smooth over the
    /// spectrum: two points integrate over each Gaussian.
    #[inline(always)]
    fn tunnel<const N: usize>(&self, sensitivity: &[Gaussian; N], base: [Boundary; 2]) -> f32 {
        let mut reflected = 0.0;
        for part in sensitivity {
            for wavenumber in [part.centre - part.width, part.centre + part.width] {
                let decay = exp(-2.0 * PI * wavenumber * self.path);
                let at = |p: usize| {
                    let (outer, inner) = (self.outer[p].r, decay * base[p].r);
                    ((outer + inner) / (Complex::new(1.0, 0.0) + outer * inner)).norm2()
                };
                reflected += 0.25 * part.weight * (at(0) + at(1));
            }
        }
        reflected
    }
}

/// All round trips in the film, of one polarisation.
#[derive(Clone, Copy)]
struct RoundTrips {
    /// Transmittance without interference.
    k: f32,
    /// 1 − |u|².
    loss: f32,
    /// u but for its phase.
    u: Complex,
}

impl RoundTrips {
    #[inline(always)]
    fn new(outer: Boundary, base: Boundary) -> Self {
        let loss = outer.t + outer.r.norm2() * base.t;
        let k = outer.t * base.t / max(loss, f32::MIN_POSITIVE);
        Self { k, loss, u: -outer.r.re * base.r }
    }

    /// Σ blur^{m²} Re uᵐ over m ≥ 1.
    #[inline(always)]
    fn sum(self, phase: Complex, blur: f32) -> f32 {
        let u = self.u * phase;
        let blur2 = blur * blur;
        // uᵐ, blur^{m²} and blur^{2m + 1}.
        let (mut power, mut factor, mut step) = (u, blur, blur2 * blur);
        let mut sum = 0.0;
        for _ in 0..TERMS {
            sum += factor * power.re;
            power = power * u;
            factor *= step;
            step *= blur2;
        }
        // From here on as if blur's exponent grew by as much from term to term.
        let left = Complex::new(1.0 - step * u.re, -step * u.im);
        let tail = power.re * left.re + power.im * left.im;
        // |1 − u| ≥ 1 − |u| ≥ ½ (1 − |u|²), whatever rounding makes of it.
        sum + factor * tail / max(left.norm2(), max(0.25 * self.loss * self.loss, f32::MIN_POSITIVE))
    }
}
