//! Plastics against the definitions in f64, and against numbers of Mitsuba 3.

use std::f64::consts::{FRAC_1_PI, TAU};

use device::bsdf::microfacet::{Distribution, Masking, Microfacet};
use device::bsdf::plastic::{Coat, coated, smooth_internal};
use device::bsdf::{Bsdf, Lobe, Plastic, SmoothPlastic};
use glam::{Vec2, Vec3};
use statrs::function::beta::beta;

use crate::common::facets::Facets;
use crate::common::lobes::samples;
use crate::common::statistics::{Grid, Verdicts, chi2_test};
use crate::common::vector::{DVec3, wide};
use crate::common::{Random, adversarial_u, ggx, integrate, polar, turn};

const MASKINGS: [Masking; 2] = [Masking::Separable, Masking::Correlated];
const COLOR: Vec3 = Vec3::new(0.8, 0.5, 0.1);

fn surface(alpha: f32, masking: Masking) -> Microfacet {
    Microfacet { alpha: Vec2::splat(alpha), distribution: Distribution::Ggx, masking }
}

/// Colours linear.
fn rough(alpha: f32, eta: f32, masking: Masking, reflectance: Vec3) -> Plastic {
    let microfacet = surface(alpha, masking);
    let coat = Coat::new(&microfacet, eta);
    let base = coated(reflectance, eta, coat.internal, false);
    Plastic { microfacet, eta, coat, base, specular: Vec3::ONE }
}

/// Colours not linear.
fn smooth(eta: f32, reflectance: Vec3) -> SmoothPlastic {
    let base = coated(reflectance, eta, smooth_internal(eta), true);
    SmoothPlastic { eta, base, specular: Vec3::ONE }
}

fn wo(z: f64) -> Vec3 {
    polar(z, 0.4).to_f32()
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

/// A rough boundary of GGX in f64.
#[derive(Clone, Copy, Debug)]
struct Boundary {
    alpha: f64,
    eta: f64,
    masking: Masking,
}

impl Boundary {
    fn new(alpha: f32, eta: f32, masking: Masking) -> Self {
        Self { alpha: alpha.into(), eta: eta.into(), masking }
    }

    /// Mean over the normals visible from `wo` of the part that goes to the direction `scatter` says, and is not hidden
    /// there; `sub`² points in each of 512 cells.
    fn mean(
        &self,
        wo: DVec3,
        sub: usize,
        g2: fn(f64, f64) -> f64,
        scatter: impl Fn(f64, DVec3) -> (f64, DVec3),
    ) -> f64 {
        let (cells, lo) = (ggx::Cells { alpha: self.alpha, size: [16, 32] }, ggx::lambda(wo, self.alpha));
        let part = |wm: DVec3| {
            let (part, wi) = scatter(wo.dot(wm).clamp(0.0, 1.0), wm);
            if part == 0.0 {
                return 0.0;
            }
            let li = ggx::lambda(wi, self.alpha);
            part * if self.masking == Masking::Separable { 1.0 / (1.0 + li) } else { g2(lo, li) * (1.0 + lo) }
        };
        cells.visible(wo, sub, part).iter().sum()
    }

    /// The part of light from `cos` that is reflected.
    fn reflected(&self, cos: f64, sub: usize) -> f64 {
        let wo = polar(cos, 0.0);
        self.mean(
            wo,
            sub,
            |o, i| 1.0 / (1.0 + o + i),
            |c, wm| {
                let wi = 2.0 * c * wm - wo;
                (if wi.z > 0.0 { fresnel(c, self.eta).0 } else { 0.0 }, wi)
            },
        )
    }

    /// The part of light from `cos` that is refracted.
    fn transmitted(&self, cos: f64) -> f64 {
        let wo = polar(cos, 0.0);
        let g2 = |o: f64, i: f64| beta(1.0 + o, 1.0 + i);
        self.mean(wo, 10, g2, |c, wm| {
            let (r, cos_t) = fresnel(c, self.eta);
            let wi = (c / self.eta - cos_t) * wm - wo / self.eta;
            (if wi.z < 0.0 { 1.0 - r } else { 0.0 }, wi)
        })
    }

    /// The part of light from all directions outside that passes.
    fn all_transmitted(&self) -> f64 {
        integrate(0.0, 1.0, 1, |s| 4.0 * s.powi(3) * self.transmitted(s * s))
    }

    /// The part of light from all directions within that is sent back, split at the critical angle.
    fn internal(&self) -> f64 {
        let within = Self { eta: 1.0 / self.eta, ..*self };
        let critical = (1.0 - self.eta.powi(-2)).sqrt();
        let at = |c: f64| 2.0 * c * within.reflected(c, 6);
        integrate(0.0, critical, 1, at) + integrate(critical, 1.0, 1, at)
    }

    /// Mitsuba 3's approximation of it: twice the mean of cos θ R(θ) at 64 cosines from 0 to 1, both included, which is less
    /// by about 1/64.
    fn internal_of_mitsuba(&self) -> f64 {
        let within = Self { eta: 1.0 / self.eta, ..*self };
        let cosines = (0..64).map(|k| (f64::from(k) / 63.0).max(1e-6));
        cosines.map(|c| 2.0 * c * within.reflected(c, 6)).sum::<f64>() / 64.0
    }
}

/// ρ / (η² (1 − F ρ)), as the series that it is: light that enters, is scattered, is sent back, and scattered again.
fn left_of(reflectance: f64, eta: f64, internal: f64, nonlinear: bool) -> f64 {
    let again = if nonlinear { reflectance * internal } else { internal };
    (0..4000).map(|k| reflectance * again.powi(k)).sum::<f64>() / (eta * eta)
}

const ALPHAS: [f32; 6] = [0.001, 0.01, 0.1, 0.3, 0.6, 1.0];

#[test]
fn coats_transmit_what_quadrature_says() {
    let mut worst: [f64; 2] = [0.0; 2];
    for (alpha, masking) in ALPHAS.into_iter().flat_map(|a| MASKINGS.map(|m| (a, m))) {
        for eta in [1.3, 2.0] {
            let coat = Coat::new(&surface(alpha, masking), eta);
            let expected = Boundary::new(alpha, eta, masking);
            for cos in [1.0, 0.9, 0.6, 0.3, 0.1, 0.03, 0.01] {
                let error = (f64::from(coat.transmittance(cos as f32)) - expected.transmitted(cos)).abs();
                worst[0] = worst[0].max(error);
                assert!(error < 1.2e-3, "{masking:?}, alpha {alpha}, eta {eta}, cos {cos}: {error:e}");
            }
            let error = (f64::from(coat.internal) - expected.internal()).abs();
            worst[1] = worst[1].max(error);
            assert!(error < 2e-4, "{masking:?}, alpha {alpha}, eta {eta}: {error:e} within");
        }
    }
    println!("transmittance to {:.1e}, internal reflectance to {:.1e}", worst[0], worst[1]);
}

/// Where roughness is textured, coats come from a table over it.
#[test]
fn coats_between_those_of_sixteen_roughnesses_are_like_computed_ones() {
    let mut worst = [0.0_f32; 2];
    for masking in MASKINGS {
        let coat = |roughness: f32| Coat::new(&surface((roughness * roughness).max(1e-4), masking), 1.5);
        for k in [0, 1, 3, 6, 10, 14] {
            let at = |x: f32| (k as f32 + x) / 15.0;
            let (mixed, exact) = (coat(at(0.0)).mix(&coat(at(1.0)), 0.4), coat(at(0.4)));
            for cos in [1.0, 0.8, 0.5, 0.3, 0.2, 0.1, 0.05, 0.02] {
                worst[0] = worst[0].max((mixed.transmittance(cos) - exact.transmittance(cos)).abs());
            }
            worst[1] = worst[1].max((mixed.internal - exact.internal).abs());
        }
    }
    println!("between roughnesses: transmittance to {:.1e}, internal to {:.1e}", worst[0], worst[1]);
    assert!(worst[0] < 0.02 && worst[1] < 5e-3, "{worst:?}");
}

#[test]
fn control_coats_of_another_kind_transmit_otherwise() {
    let coat = |alpha, eta, masking| Coat::new(&surface(alpha, masking), eta);
    let it = coat(0.3, 1.5, Masking::Correlated);
    let others = [
        coat(0.33, 1.5, Masking::Correlated),
        coat(0.3, 1.55, Masking::Correlated),
        coat(0.3, 1.5, Masking::Separable),
    ];
    for other in others {
        let difference = [0.9, 0.1].map(|cos| (it.transmittance(cos) - other.transmittance(cos)).abs());
        assert!(difference[0].max(difference[1]) > 4e-3, "{difference:?}");
    }
}

#[test]
fn coats_of_beckmann_transmit_what_quadrature_says() {
    for (alpha, eta, z) in [(0.3, 1.5, 0.8), (0.1, 1.8, 0.1), (0.6, 1.5, 0.3)] {
        let distribution = Distribution::Beckmann;
        let microfacet = Microfacet { distribution, ..surface(alpha, Masking::Separable) };
        let transmitted = f64::from(Coat::new(&microfacet, eta).transmittance(z as f32));
        let facets = Facets { alpha: [alpha.into(); 2], distribution };
        let (wo, eta) = (polar(z, 0.0), f64::from(eta));
        let visible = 1.0 / (wo.z * (1.0 + facets.lambda(wo)));
        let expected = facets.integral(Some(wo), |wm| {
            let cos = wo.dot(wm).clamp(0.0, 1.0);
            let (r, cos_t) = fresnel(cos, eta);
            let wi = (cos / eta - cos_t) * wm - wo / eta;
            let part = if wi.z < 0.0 { (1.0 - r) / (1.0 + facets.lambda(wi)) } else { 0.0 };
            facets.d(wm) * cos * visible * part
        });
        assert!((transmitted - expected).abs() < 1e-3, "alpha {alpha}, {z}: {transmitted} {expected}");
    }
}

#[test]
fn smooth_coats_keep_what_quadrature_says() {
    for eta in [1.1, 1.33, 1.5, 1.8, 2.4] {
        let (n, kept) = (f64::from(eta), f64::from(smooth_internal(eta)));
        // What passes is the same in both directions, and nothing else is lost: η² (1 − F_int) = 1 − F_ext.
        let passes = integrate(0.0, 1.0, 4, |c| 2.0 * c * (1.0 - fresnel(c, n).0));
        assert!((kept - (1.0 - passes / (n * n))).abs() < 6e-5, "{eta}: {kept}");
    }
}

#[test]
fn what_is_left_under_a_coat_is_the_series_of_all_orders() {
    for (rho, eta, internal) in [(0.0, 1.5, 0.6), (0.3, 1.5, 0.59), (0.9, 1.8, 0.7), (1.0, 1.33, 0.45)] {
        for nonlinear in [false, true] {
            let base = f64::from(coated(Vec3::splat(rho), eta, internal, nonlinear).y);
            let expected = left_of(rho.into(), eta.into(), internal.into(), nonlinear);
            assert!((base - expected).abs() < 1e-6 * expected.max(0.1), "{rho}: {base} {expected}");
            let other = left_of(rho.into(), eta.into(), internal.into(), !nonlinear);
            assert!(rho == 0.0 || rho == 1.0 || (base - other).abs() > 0.01, "a control");
        }
    }
}

#[test]
fn rough_plastics_reflect_by_torrance_and_sparrow_and_the_base() {
    let mut worst: f64 = 0.0;
    for (alpha, eta, masking) in
        [(0.03, 1.5, Masking::Separable), (0.1, 1.8, Masking::Correlated), (0.5, 1.3, Masking::Correlated)]
    {
        let (lobe, boundary) = (rough(alpha, eta, masking, COLOR), Boundary::new(alpha, eta, masking));
        let (internal, a) = (boundary.internal(), boundary.alpha);
        let cosines = [0.97, 0.7, 0.35, 0.12];
        let t = cosines.map(|c| boundary.transmitted(c));
        for (o, i) in (0..16).map(|k| (k / 4, k % 4)) {
            for azimuth in [0.3, 2.0, 3.0, 3.13] {
                let (wo, wi) = (polar(cosines[o], 0.0).to_f32(), polar(cosines[i], azimuth).to_f32());
                let (f, wo, wi) = (lobe.eval(wo, wi), wide(wo), wide(wi));
                let wm = (wo + wi).normalize();
                let kind =
                    if masking == Masking::Separable { ggx::G2::Separable } else { ggx::G2::Correlated };
                let facets = ggx::d(wm, a) * ggx::g2(wo, wi, a, kind) / (4.0 * wo.z * wi.z);
                let specular = fresnel(wo.dot(wm), boundary.eta).0 * facets;
                for channel in 0..3 {
                    let base = left_of(COLOR[channel].into(), boundary.eta, internal, false);
                    let expected = specular + base * t[o] * t[i] * FRAC_1_PI;
                    let error = (f64::from(f[channel]) / expected - 1.0).abs();
                    worst = worst.max(error);
                    assert!(error < 1.5e-3, "alpha {alpha}: {error:e} at {wo:?} {wi:?}");
                }
            }
        }
    }
    println!("f of rough plastics to {worst:.1e}");
}

#[test]
fn smooth_plastics_reflect_by_fresnel_and_the_base() {
    let mut random = Random::new(21);
    for (eta, _) in [1.33, 1.5, 1.8].into_iter().flat_map(|eta| (0..300).map(move |k| (eta, k))) {
        let (lobe, n) = (smooth(eta, COLOR), f64::from(eta));
        let (wo, wi) =
            (polar(random.within(0.01, 1.0), 0.0).to_f32(), polar(random.within(0.01, 1.0), 2.0).to_f32());
        let passes = integrate(0.0, 1.0, 4, |c| 2.0 * c * (1.0 - fresnel(c, n).0));
        let (r_o, r_i) = (fresnel(wo.z.into(), n).0, fresnel(wi.z.into(), n).0);
        for channel in 0..3 {
            let base = left_of(COLOR[channel].into(), n, 1.0 - passes / (n * n), true);
            let (f, expected) = (lobe.eval(wo, wi)[channel], base * (1.0 - r_o) * (1.0 - r_i) * FRAC_1_PI);
            assert!((f64::from(f) / expected - 1.0).abs() < 3e-4, "{eta} {wo} {wi}: {f} {expected}");
        }
    }
}

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

/// Samples of a lobe, `None` where nothing was scattered.
/// Cells of directions: rings around the normal for those whose half vector has a slope below 10 α, if α is small, and
/// parts of the hemisphere for others.
struct Partition {
    wo: DVec3,
    alpha: f64,
}

impl Partition {
    /// Edges of rings in units of α.
    const RINGS: [f64; 9] = [0.0, 0.3, 0.6, 0.9, 1.3, 2.0, 3.0, 5.0, 10.0];
    const SECTORS: usize = 12;
    const CORE: usize = (Self::RINGS.len() - 1) * Self::SECTORS;
    const OUTER: [usize; 2] = [12, 24];
    const CELLS: usize = Self::CORE + Self::OUTER[0] * Self::OUTER[1];

    /// The cell of a direction.
    fn place(&self, wi: DVec3) -> usize {
        let wm = self.wo + wi;
        let r = wm.x.hypot(wm.y) / (wm.z * self.alpha);
        let part = |x: f64, n: usize| ((x * n as f64) as usize).min(n - 1);
        if self.alpha < 0.2 && r < 10.0 {
            let ring = Self::RINGS.iter().rposition(|&edge| edge <= r).expect("0 is an edge");
            ring * Self::SECTORS + part(turn(wm.x, wm.y), Self::SECTORS)
        } else {
            let [nz, nt] = Self::OUTER;
            Self::CORE + part(wi.z, nz) * nt + part(turn(wi.x, wi.y), nt)
        }
    }

    /// ∫ `pdf` over every cell.
    fn integrals(&self, pdf: impl Fn(Vec3) -> f32) -> Vec<f64> {
        let mut cells = vec![0.0; Self::CELLS];
        let pdf = |wi: DVec3| f64::from(pdf(wi.to_f32()));
        let core = if self.alpha < 0.2 { Self::CORE } else { 0 };
        for (k, cell) in cells.iter_mut().enumerate().take(core) {
            let (ring, sector) = (k / Self::SECTORS, (k % Self::SECTORS) as f64);
            let step = TAU / Self::SECTORS as f64;
            *cell = integrate(step * sector, step * (sector + 1.0), 1, |phi| {
                integrate(Self::RINGS[ring], Self::RINGS[ring + 1], 1, |r| {
                    let slope = self.alpha * r;
                    let wm = DVec3::new(slope * phi.cos(), slope * phi.sin(), 1.0).normalize();
                    let cos = self.wo.dot(wm);
                    let wi = 2.0 * cos * wm - self.wo;
                    // dωi = 4 wo·wm dωm, and dωm = cos³ θm dslopes.
                    if cos > 0.0 && wi.z > 0.0 {
                        4.0 * cos * wm.z.powi(3) * self.alpha * slope * pdf(wi)
                    } else {
                        0.0
                    }
                })
            });
        }
        // Points next to each other in azimuth differ in height, so that no edge passes between all of them.
        const SUB: usize = 20;
        let [nz, nt] = Self::OUTER.map(|n| n * SUB);
        for (i, j) in (0..nz * nt).map(|k| (k / nt, k % nt)) {
            let height = i as f64 + [0.125, 0.625, 0.375, 0.875][j % 4];
            let wi = polar(height / nz as f64, TAU * (j as f64 + 0.5) / nt as f64);
            let cell = self.place(wi);
            if cell >= Self::CORE {
                cells[cell] += TAU / (nz * nt) as f64 * pdf(wi);
            }
        }
        cells
    }
}

/// P-value of directions drawn by one lobe under the density of another.
fn p_value(lobe: &Plastic, drawn_by: &Plastic, wo: Vec3, seed: u64) -> f64 {
    const N: usize = 50_000;
    let partition = Partition { wo: wide(wo), alpha: lobe.microfacet.alpha.x.into() };
    let mut expected = partition.integrals(|wi| lobe.pdf(wo, wi));
    let mut counts = vec![0; Partition::CELLS];
    for s in samples(drawn_by, wo, N, seed).flatten() {
        counts[partition.place(wide(s.wi))] += 1;
    }
    // One more cell, for what came to nothing.
    counts.push(N as u64 - counts.iter().sum::<u64>());
    let drawn = expected.iter().sum::<f64>();
    assert!(drawn < 1.0 + 2e-3, "{drawn}");
    expected.push((1.0 - drawn).max(0.0));
    expected.iter_mut().for_each(|p| *p *= N as f64);
    chi2_test(&counts, &expected)
}

#[test]
fn directions_of_rough_plastics_are_drawn_with_their_density() {
    let mut verdicts = Verdicts::default();
    let alphas = [0.02, 0.06, 0.1, 0.3, 0.7, 1.0];
    let bases = [(1.3, Vec3::splat(0.05)), (1.5, COLOR), (1.8, Vec3::splat(0.9))];
    let cosines = [1.0, 0.8, 0.4, 0.1, 0.03];
    for [i, j, k] in tier::combinations([alphas.len(), bases.len(), cosines.len()]) {
        let (alpha, (eta, color), z) = (alphas[i], bases[j], cosines[k]);
        let lobe = rough(alpha, eta, Masking::Correlated, color);
        let p = p_value(&lobe, &lobe, wo(z), 31 + seed(alpha, eta, z));
        verdicts.add(p, format!("alpha {alpha}, eta {eta}, cos {z}"));
    }
    verdicts.report("rough plastics");
    verdicts.assert_none_rejected();
}

/// Other random numbers for every configuration.
fn seed(alpha: f32, eta: f32, z: f64) -> u64 {
    u64::from(alpha.to_bits()) ^ u64::from(eta.to_bits()) << 17 ^ z.to_bits().rotate_left(31)
}

#[test]
fn control_other_roughness_or_shares_are_rejected() {
    let mut verdicts = Verdicts::default();
    for alpha in [0.02, 0.1, 0.5] {
        let lobe = rough(alpha, 1.5, Masking::Correlated, Vec3::splat(0.2));
        let rougher = surface(alpha * 1.1, Masking::Correlated);
        let rougher = Plastic { microfacet: rougher, ..lobe };
        verdicts.add(p_value(&lobe, &rougher, wo(0.4), 41), format!("{alpha}: rougher"));
        let brighter = Plastic { base: lobe.base * 1.3, ..lobe };
        verdicts.add(p_value(&lobe, &brighter, wo(0.4), 42), format!("{alpha}: other shares"));
    }
    verdicts.report_largest("controls");
    verdicts.assert_all_rejected();
}

/// P-value of how often the coat of a smooth plastic is chosen, and of where the base scatters.
fn p_of_smooth(lobe: &SmoothPlastic, shares_of: &SmoothPlastic, wo: Vec3) -> f64 {
    const N: usize = 50_000;
    const SIZE: [usize; 2] = [8, 16];
    let (mut grid, mut mirrored) = (Grid::new(SIZE), 0);
    for s in samples(lobe, wo, N, 51 + u64::from(wo.z.to_bits())).flatten() {
        if s.pdf == 0.0 {
            assert_eq!(s.wi, Vec3::new(-wo.x, -wo.y, wo.z));
            mirrored += 1;
        } else {
            let w = wide(s.wi);
            assert!((s.pdf / lobe.pdf(wo, s.wi) - 1.0).abs() < 1e-5);
            grid.add(w.z * w.z, turn(w.x, w.y));
        }
    }
    let r = fresnel(wo.z.into(), shares_of.eta.into()).0;
    let weigh = |part: f64, color: Vec3| part * f64::from(color.x + color.y + color.z);
    let (coat, base) = (weigh(r, shares_of.specular), weigh(1.0 - r, shares_of.base));
    let p = coat / (coat + base);
    let cells = SIZE[0] * SIZE[1];
    let mut expected = vec![(1.0 - p) * N as f64 / cells as f64; cells];
    expected.push(p * N as f64);
    let mut counts = grid.counts;
    counts.push(mirrored);
    chi2_test(&counts, &expected)
}

#[test]
fn smooth_plastics_choose_the_coat_as_often_as_they_say() {
    let mut verdicts = Verdicts::default();
    for (eta, color) in [(1.3, Vec3::splat(0.05)), (1.5, COLOR), (1.8, Vec3::splat(0.9))] {
        for z in [1.0, 0.6, 0.2, 0.05] {
            let lobe = smooth(eta, color);
            verdicts.add(p_of_smooth(&lobe, &lobe, wo(z)), format!("eta {eta}, cos {z}"));
        }
    }
    verdicts.report("smooth plastics");
    verdicts.assert_none_rejected();
    let mut controls = Verdicts::default();
    for z in [1.0, 0.6, 0.2] {
        let (lobe, denser) = (smooth(1.5, COLOR), smooth(1.6, COLOR));
        controls.add(p_of_smooth(&lobe, &denser, wo(z)), format!("denser, cos {z}"));
    }
    controls.assert_all_rejected();
}

/// The mirror's weight times how often it is chosen is Fresnel's reflectance: by the part of uc that chooses it.
#[test]
fn mirrors_in_plastic_reflect_by_fresnel() {
    for eta in [1.33, 1.5, 1.8] {
        for z in [1.0, 0.6, 0.2, 0.05] {
            let (lobe, wo, n) = (smooth(eta, COLOR), wo(z), 1 << 14);
            let uc = |k: i32| (k as f32 + 0.5) / n as f32;
            let mirrored =
                (0..n).filter_map(|k| lobe.sample(wo, uc(k), Vec2::splat(0.5))).filter(|s| s.pdf == 0.0);
            let reflected = mirrored.map(|s| f64::from(s.weight.x)).sum::<f64>() / f64::from(n);
            let r = fresnel(wo.z.into(), eta.into()).0;
            assert!((reflected - r).abs() < 1e-4, "{eta} {z}: {reflected} {r}");
            assert_eq!(
                lobe.pdf(wo, Vec3::new(-wo.x, -wo.y, wo.z)),
                lobe.pdf(wo, wo),
                "no peak at the mirror"
            );
        }
    }
}

fn all_lobes() -> Vec<(String, Bsdf)> {
    let mut lobes = Vec::new();
    for (eta, color) in [(1.001, Vec3::ONE), (1.5, COLOR), (1.8, Vec3::ZERO), (3.0, Vec3::ONE)] {
        lobes.push((format!("smooth, {eta}, {color}"), Bsdf::SmoothPlastic(smooth(eta, color))));
        for alpha in [1e-4, 1e-2, 0.1, 0.5, 1.0] {
            for distribution in [Distribution::Ggx, Distribution::Beckmann] {
                let mut lobe = rough(alpha, eta, Masking::Correlated, color);
                // The coat of GGX serves: it is a number.
                lobe.microfacet.distribution = distribution;
                lobes.push((format!("{distribution:?} {alpha}, {eta}, {color}"), Bsdf::Plastic(lobe)));
            }
        }
    }
    lobes
}

#[test]
fn weights_are_f_cos_over_pdf_and_finite_for_all_uniforms() {
    let mut worst: f64 = 0.0;
    for (name, lobe) in all_lobes() {
        for z in [1.0, 0.7, 0.2, 0.03, 1e-3, 1e-5, 1e-8, 1e-12] {
            let (wo, mut random) = (wo(z), Random::new(61));
            let others = std::iter::repeat_with(|| random.vec2()).take(100);
            for u in adversarial_u().into_iter().chain(others) {
                for s in
                    [0.0, 0.03, 0.3, 0.7, 0.999_999_94].into_iter().filter_map(|uc| lobe.sample(wo, uc, u))
                {
                    assert!(
                        s.wi.is_finite() && s.pdf.is_finite() && s.weight.is_finite(),
                        "{name}, {wo}: {s:?}"
                    );
                    assert!(
                        s.wi.z > 0.0 && s.weight.min_element() >= 0.0 && s.eta == 1.0,
                        "{name}, {wo}: {s:?}"
                    );
                    let (f, pdf) = lobe.eval_pdf(wo, s.wi);
                    assert!(f.is_finite() && pdf.is_finite(), "{name}, {wo}: {f} {pdf}");
                    if s.pdf > 0.0 {
                        let expected = f * s.wi.z / pdf;
                        let error =
                            (s.weight - expected).abs().max_element() / expected.max_element().max(1e-3);
                        worst = worst.max(error.into());
                        assert!((s.pdf / pdf - 1.0).abs() < 1e-4, "{name}, {wo}: {} {pdf}", s.pdf);
                    }
                }
            }
        }
    }
    println!("weights to {worst:.1e}");
    assert!(worst < 1e-4, "{worst:e}");
}

#[test]
fn plastics_are_reciprocal_and_nothing_below() {
    let mut random = Random::new(71);
    for (name, lobe) in all_lobes() {
        for _ in 0..1000 {
            let (a, b) = (random.direction().to_f32(), random.direction().to_f32());
            let (f, pdf) = lobe.eval_pdf(a, b);
            if a.z <= 0.0 || b.z <= 0.0 {
                assert_eq!((f, pdf), (Vec3::ZERO, 0.0), "{name}: {a} {b}");
            }
            if a.z <= 0.0 {
                assert!(lobe.sample(a, 0.5, random.vec2()).is_none(), "{name}: {a}");
            }
            let reverse = lobe.eval(b, a);
            assert!((f - reverse).abs().max_element() <= 1e-5 * f.max_element(), "{name}: {f} {reverse}");
        }
    }
}

/// Mean weight over `n` points that fill the square of uniforms evenly: parts of n, and of the golden section.
fn mean_weight(lobe: &impl Lobe, wo: Vec3, n: u32) -> DVec3 {
    let golden = 0.5 * (5.0_f64.sqrt() - 1.0);
    let u = |k: u32| Vec2::new((f64::from(k) * golden).fract() as f32, (k as f32 + 0.5) / n as f32);
    let weights = (0..n).filter_map(|k| lobe.sample(wo, 0.5, u(k)));
    weights.fold(DVec3::ZERO, |sum, s| sum + wide(s.weight)) / f64::from(n)
}

/// Albedo of the coat alone and of the base alone, each of which is all that is drawn then.
fn albedo(lobe: &Plastic, wo: Vec3) -> [f64; 3] {
    let n = 1 << 14;
    let coat = mean_weight(&Plastic { base: Vec3::ZERO, ..*lobe }, wo, n);
    let base = mean_weight(&Plastic { specular: Vec3::ZERO, ..*lobe }, wo, n);
    (coat + base).to_array()
}

/// Largest relative error of the albedo of rough plastics, on 16 cosines.
fn worst_albedo(alphas: impl Iterator<Item = f32>, change: impl Fn(&mut Plastic)) -> f64 {
    let mut worst: f64 = 0.0;
    for (k, alpha) in alphas.enumerate() {
        let (eta, masking) = ([1.5, 1.8, 1.33][k % 3], MASKINGS[k % 2]);
        let (mut lobe, boundary) = (rough(alpha, eta, masking, COLOR), Boundary::new(alpha, eta, masking));
        change(&mut lobe);
        let (passes, internal) = (boundary.all_transmitted(), boundary.internal());
        for z in (0..16).step_by(tier::choose(3, 1)).map(|i| 0.03 + 0.97 * f64::from(i) / 15.0) {
            let reflected = albedo(&lobe, wo(z));
            let (r, t) = (boundary.reflected(z, 10), boundary.transmitted(z));
            for channel in 0..3 {
                let base = left_of(COLOR[channel].into(), boundary.eta, internal, false);
                let error = (reflected[channel] / (r + t * base * passes) - 1.0).abs();
                worst = worst.max(error);
            }
        }
    }
    worst
}

/// For 16 roughnesses √α from 0.15 to 1.
#[test]
fn rough_plastics_reflect_their_albedo() {
    let worst = worst_albedo(
        (0..16).step_by(tier::choose(5, 1)).map(|i| (0.15 + 0.85 * i as f32 / 15.0).powi(2)),
        |_| (),
    );
    println!("albedo to {worst:.1e}");
    assert!(worst < 2e-3, "{worst:e}");
}

/// On 16 cosines, for 16 indices: the mirror by Fresnel, the base by quadrature of what passes twice.
fn worst_smooth_albedo(change: impl Fn(&mut SmoothPlastic)) -> f64 {
    let mut worst: f64 = 0.0;
    for eta in (0..16).map(|i| 1.1 + 0.1 * i as f32) {
        let (mut lobe, n) = (smooth(eta, COLOR), f64::from(eta));
        change(&mut lobe);
        let passes = integrate(0.0, 1.0, 4, |c| 2.0 * c * (1.0 - fresnel(c, n).0));
        for z in (0..16).map(|i| 0.03 + 0.97 * f64::from(i) / 15.0) {
            let coat = mean_weight(&SmoothPlastic { base: Vec3::ZERO, ..lobe }, wo(z), 1);
            let base = mean_weight(&SmoothPlastic { specular: Vec3::ZERO, ..lobe }, wo(z), 1 << 12);
            let (reflected, r) = ((coat + base).to_array(), fresnel(z, n).0);
            for channel in 0..3 {
                let left = left_of(COLOR[channel].into(), n, 1.0 - passes / (n * n), true);
                worst = worst.max((reflected[channel] / (r + (1.0 - r) * left * passes) - 1.0).abs());
            }
        }
    }
    worst
}

#[test]
fn smooth_plastics_reflect_their_albedo() {
    let worst = worst_smooth_albedo(|_| ());
    println!("albedo of smooth plastics to {worst:.1e}");
    assert!(worst < 1e-3, "{worst:e}");
    assert!(worst_smooth_albedo(|lobe| lobe.base *= 1.005) > 3e-3, "control");
    assert!(worst_smooth_albedo(|lobe| lobe.eta *= 1.01) > 3e-3, "control");
}

#[test]
fn control_another_albedo_is_rejected() {
    assert!(worst_albedo([0.3].into_iter(), |lobe| lobe.base *= 1.005) > 3e-3);
    assert!(worst_albedo([0.3].into_iter(), |lobe| lobe.eta *= 1.01) > 3e-3);
}

#[test]
fn no_more_leaves_than_arrives_and_smooth_white_plastic_returns_all() {
    let mut most: f64 = 0.0;
    for eta in [1.05, 1.33, 1.5, 2.0, 3.0] {
        for z in [1.0, 0.9, 0.6, 0.3, 0.1, 0.03, 0.01, 1e-3] {
            let lobe = smooth(eta, Vec3::ONE);
            let coat = mean_weight(&SmoothPlastic { base: Vec3::ZERO, ..lobe }, wo(z), 1);
            let white =
                (coat + mean_weight(&SmoothPlastic { specular: Vec3::ZERO, ..lobe }, wo(z), 1 << 14)).x;
            assert!((white - 1.0).abs() < 1e-4, "smooth, {eta}, {z}: {white}");
        }
        for alpha in [1e-4, 1e-3, 0.01, 0.03, 0.1, 0.4, 1.0] {
            let lobe = rough(alpha, eta, Masking::Separable, Vec3::ONE);
            for z in [1.0, 0.9, 0.6, 0.3, 0.1, 0.03, 0.01, 1e-3] {
                let [white, ..] = albedo(&lobe, wo(z));
                if white > 1.0 + 1e-4 {
                    println!("{alpha} {eta} {z}: {white}");
                }
                most = most.max(white);
            }
        }
    }
    println!("at most {most} of white light leaves");
    assert!(most < 1.0 + 1e-4, "{most}");
}
