//! Values against those of Mitsuba 3.

use device::bsdf::microfacet::Masking;
use device::bsdf::plastic::{Coat, coated};
use device::bsdf::{Lobe, Plastic, SmoothPlastic};
use glam::Vec3;

use crate::common::polar;

use super::{Boundary, surface};

/// α (0 if smooth), index, whether colours are not linear; cosines of both directions and the azimuth between them;
/// f cos θi of reflectances 0.7, 0.3 and 0.1, GGX, as Mitsuba 3.9.1 evaluates it.
type Fact = ((f32, f32, bool), (f64, f64, f64), [f64; 3]);
const MITSUBA: [Fact; 26] = [
    ((0.0, 1.5, false), (0.9, 0.8, 2.0), [0.1802045, 0.0772305, 0.0257435]),
    ((0.0, 1.5, false), (0.3, 0.25, 3.1), [0.03579491, 0.01534068, 0.005113559]),
    ((0.0, 1.5, false), (0.6, 0.1, 0.5), [0.009843426, 0.004218611, 0.001406204]),
    ((0.0, 1.8, true), (0.9, 0.8, 2.0), [0.09465294, 0.02533087, 0.007108753]),
    ((0.0, 1.8, true), (0.3, 0.25, 3.1), [0.01843687, 0.004934045, 0.00138467]),
    ((0.0, 1.8, true), (0.6, 0.1, 0.5), [0.005147872, 0.001377666, 0.0003866224]),
    ((0.1, 1.5, false), (0.9, 0.8, 2.0), [0.1643766, 0.07208566, 0.0259402]),
    ((0.1, 1.5, false), (0.5, 0.55, 3.0), [0.3275628, 0.269622, 0.2406516]),
    ((0.1, 1.5, false), (0.3, 0.25, 3.1), [2.348053, 2.328637, 2.318929]),
    ((0.1, 1.5, false), (0.2, 0.9, 1.0), [0.1367631, 0.05888742, 0.01994957]),
    ((0.1, 1.5, false), (0.6, 0.1, 0.5), [0.01261073, 0.005438532, 0.001852433]),
    ((0.3, 1.5, true), (0.9, 0.8, 2.0), [0.1088375, 0.04396864, 0.0199571]),
    ((0.3, 1.5, true), (0.5, 0.55, 3.0), [0.1595374, 0.11962, 0.1048443]),
    ((0.3, 1.5, true), (0.3, 0.25, 3.1), [0.4281322, 0.4133201, 0.4078373]),
    ((0.3, 1.5, true), (0.2, 0.9, 1.0), [0.09472203, 0.03480544, 0.01262703]),
    ((0.3, 1.5, true), (0.6, 0.1, 0.5), [0.009362518, 0.003443095, 0.001251992]),
    ((0.1, 1.8, false), (0.9, 0.8, 2.0), [0.1534635, 0.06908704, 0.02689881]),
    ((0.1, 1.8, false), (0.5, 0.55, 3.0), [0.4449694, 0.3924841, 0.3662414]),
    ((0.1, 1.8, false), (0.3, 0.25, 3.1), [2.751186, 2.733697, 2.724953]),
    ((0.1, 1.8, false), (0.2, 0.9, 1.0), [0.1247767, 0.05402391, 0.0186475]),
    ((0.1, 1.8, false), (0.6, 0.1, 0.5), [0.01151704, 0.005004935, 0.001748885]),
    ((0.6, 1.3, true), (0.9, 0.8, 2.0), [0.1051562, 0.04414202, 0.01623823]),
    ((0.6, 1.3, true), (0.5, 0.55, 3.0), [0.06981053, 0.03631207, 0.02099213]),
    ((0.6, 1.3, true), (0.3, 0.25, 3.1), [0.06479665, 0.0543062, 0.04950858]),
    ((0.6, 1.3, true), (0.2, 0.9, 1.0), [0.08115399, 0.03417386, 0.01268832]),
    ((0.6, 1.3, true), (0.6, 0.1, 0.5), [0.006946958, 0.002949658, 0.001121563]),
];

/// Largest relative difference to Mitsuba's numbers, of lobes with the coat's internal reflectance as it computes it.
fn worst_against_mitsuba(nonlinear: impl Fn(bool) -> bool, masking: Masking) -> f64 {
    let mut worst: f64 = 0.0;
    // Consecutive numbers are of the same coat.
    let mut last: Option<((f32, f32), Coat, f32)> = None;
    for ((alpha, eta, of_colors), (o, i, azimuth), expected) in MITSUBA {
        let (wo, wi) = (polar(o, 0.0).to_f32(), polar(i, azimuth).to_f32());
        let color = |internal| coated(Vec3::new(0.7, 0.3, 0.1), eta, internal, nonlinear(of_colors));
        let f = if alpha == 0.0 {
            // The fit of Egan & Hilgeman (1973), which is off by up to 10⁻³ here.
            let n = eta;
            let internal = -1.4399 / (n * n) + 0.7099 / n + 0.6681 + 0.0636 * n;
            SmoothPlastic { eta, base: color(internal), specular: Vec3::ONE }.eval(wo, wi)
        } else {
            let (_, coat, internal) = last.filter(|(of, ..)| *of == (alpha, eta)).unwrap_or_else(|| {
                let internal = Boundary::new(alpha, eta, Masking::Separable).internal_of_mitsuba();
                ((alpha, eta), Coat::new(&surface(alpha, masking), eta), internal as f32)
            });
            last = Some(((alpha, eta), coat, internal));
            let microfacet = surface(alpha, masking);
            Plastic { microfacet, eta, coat, base: color(internal), specular: Vec3::ONE }.eval(wo, wi)
        };
        for channel in 0..3 {
            worst = worst.max((f64::from(f[channel]) * i / expected[channel] - 1.0).abs());
        }
    }
    worst
}

#[test]
fn values_are_those_of_mitsuba() {
    let worst = worst_against_mitsuba(|it| it, Masking::Separable);
    println!("within {worst:.1e} of Mitsuba");
    assert!(worst < 1e-3, "{worst:e}");
}

#[test]
fn control_other_colors_or_masking_are_not_those_of_mitsuba() {
    assert!(worst_against_mitsuba(|it| !it, Masking::Separable) > 0.1);
    assert!(worst_against_mitsuba(|it| it, Masking::Correlated) > 0.01);
}
