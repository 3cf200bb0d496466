//! Plastics against the definitions in f64, and against numbers of Mitsuba 3.

mod common;

use common::statistics::ln_gamma;
use common::vector::{DVec3, wide};
use common::{ggx, integrate, polar};
use device::bsdf::microfacet::{Distribution, Masking, Microfacet};
use device::bsdf::plastic::{Coat, coated, smooth_internal};
use glam::Vec2;

fn surface(alpha: f32, masking: Masking) -> Microfacet {
    Microfacet { alpha: Vec2::splat(alpha), distribution: Distribution::Ggx, masking }
}

/// Reflectance of a smooth boundary to index `eta`, and the cosine of refraction, from Snell's law.
fn fresnel(cos_i: f64, eta: f64) -> (f64, f64) {
    let sin_t = (1.0 - cos_i * cos_i).max(0.0).sqrt() / eta;
    if sin_t >= 1.0 {
        return (1.0, 0.0);
    }
    let cos_t = (1.0 - sin_t * sin_t).sqrt();
    let s = (cos_i - eta * cos_t) / (cos_i + eta * cos_t);
    let p = (eta * cos_i - cos_t) / (eta * cos_i + cos_t);
    (0.5 * (s * s + p * p), cos_t)
}

/// A rough boundary in f64.
#[derive(Clone, Copy, Debug)]
struct Boundary {
    alpha: f64,
    eta: f64,
    masking: Masking,
}

impl Boundary {
    /// Parts of light from `cos` that are reflected and refracted in one scattering.
    fn scattered(&self, cos: f64, sub: usize) -> [f64; 2] {
        let (wo, a) = (polar(cos, 0.0), self.alpha);
        let cells = ggx::Cells { alpha: a, size: [16, 32] };
        let lo = ggx::lambda(wo, a);
        let part = |up: bool| {
            let f = |wm: DVec3| {
                let c = wo.dot(wm).clamp(0.0, 1.0);
                let (r, cos_t) = fresnel(c, self.eta);
                let wi = if up { 2.0 * c * wm - wo } else { (c / self.eta - cos_t) * wm - wo / self.eta };
                if (wi.z > 0.0) != up {
                    return 0.0;
                }
                let li = ggx::lambda(wi, a);
                let ratio = match (self.masking, up) {
                    (Masking::Separable, _) => 1.0 / (1.0 + li),
                    (_, true) => (1.0 + lo) / (1.0 + lo + li),
                    (_, false) => (ln_gamma(2.0 + lo) + ln_gamma(1.0 + li) - ln_gamma(2.0 + lo + li)).exp(),
                };
                (if up { r } else { 1.0 - r }) * ratio
            };
            cells.visible(wo, sub, f).iter().sum::<f64>()
        };
        [part(true), part(false)]
    }
}

#[test]
fn probe() {
    for masking in [Masking::Separable, Masking::Correlated] {
        for alpha in [0.001, 0.01, 0.03, 0.1, 0.3, 0.6, 1.0] {
            for eta in [1.3, 1.5, 2.0] {
                let t = std::time::Instant::now();
                let coat = Coat::new(&surface(alpha, masking), eta);
                let ms = t.elapsed().as_secs_f64() * 1e3;
                let b = Boundary { alpha: alpha.into(), eta: eta.into(), masking };
                print!("{masking:?} {alpha} {eta} {ms:.1} ms:");
                for c in [1.0, 0.9, 0.7, 0.4, 0.2, 0.1, 0.05, 0.02, 0.01, 0.001] {
                    let e = b.scattered(c, 10);
                    print!(" {:.0e}", f64::from(coat.transmittance(c as f32)) - e[1]);
                }
                let inside = Boundary { eta: 1.0 / b.eta, ..b };
                let critical = (1.0 - b.eta.powi(-2)).sqrt();
                let at = |c: f64| 2.0 * c * inside.scattered(c, 6)[0];
                let f = integrate(0.0, critical, 1, at) + integrate(critical, 1.0, 1, at);
                println!(" int {} {:.1e}", coat.internal, f64::from(coat.internal) - f);
            }
        }
    }
}
