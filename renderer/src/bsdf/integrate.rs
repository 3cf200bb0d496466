//! Integrals of a BSDF over directions: by adaptive quadrature of f, and by the means of samples.

use device::bsdf::{Bsdf, BsdfSample, Lobe, Tinted};
use device::rng::{Dim, Sampler, SamplerKind};
use device::sampling::Frame;
use glam::{DVec3, Vec2, Vec3};
use std::f64::consts::PI;

/// Fraction of the incident light that is scattered, per channel.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Albedo {
    /// Reflected.
    pub reflected: DVec3,
    /// Transmitted, as power: times η² where radiance is scaled by 1/η².
    pub transmitted: DVec3,
}

impl Albedo {
    /// Sum of both.
    pub fn total(&self) -> DVec3 {
        self.reflected + self.transmitted
    }
}

/// A direction that light leaves in exactly.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Delta {
    /// The direction.
    pub wi: Vec3,
    /// Part of the power that goes there, per channel.
    pub weight: DVec3,
}

/// Shape of a lobe, estimated from a few samples.
#[derive(Debug, Clone, Default)]
pub(super) struct Probe {
    /// Directions of no width.
    pub deltas: Vec<Delta>,
    /// Direction above the surface in which f·|cos θ| is largest.
    pub reflected: Option<Vec3>,
    /// Direction below the surface in which it is largest.
    pub transmitted: Option<Vec3>,
    /// η² where radiance below the surface is scaled by 1/η², or else 1.
    pub eta2: f64,
}

/// A sample of `bsdf`: [`Lobe::sample`] with the `i`th point of a sequence.
pub(super) fn draw(bsdf: &Tinted, wo: Vec3, kind: SamplerKind, seed: u32, i: u32) -> Option<BsdfSample> {
    let [x, y, uc, _] = Sampler { kind, seed, pixel: 0, width: 1, sample: i }.draw(Dim::Bsdf, 0);
    bsdf.sample(wo, uc, Vec2::new(x, y))
}

/// f·|cos θ| in f64.
pub(super) fn f_cos(bsdf: &Tinted, wo: Vec3, wi: Vec3) -> DVec3 {
    bsdf.eval(wo, wi).as_dvec3() * f64::from(wi.z.abs())
}

/// Looks where a lobe sends light.
pub(super) fn probe(bsdf: &Tinted, wo: Vec3) -> Probe {
    const N: u32 = 4096;
    let mut probe = Probe { eta2: 1.0, ..Probe::default() };
    let mut best = [0.0; 2];
    for i in 0..N {
        // Samples with a density cost an evaluation: a quarter will do for those.
        let Some(s) = draw(bsdf, wo, SamplerKind::Sobol, 1, i) else { continue };
        let below = s.wi.z < 0.0;
        let eta2 = f64::from(s.eta * s.eta);
        if below {
            probe.eta2 = eta2;
        }
        if s.pdf == 0.0 {
            let weight = s.weight.as_dvec3() * eta2 / f64::from(N);
            match probe.deltas.iter_mut().find(|d| d.wi.distance_squared(s.wi) < 1e-10) {
                Some(delta) => delta.weight += weight,
                None => probe.deltas.push(Delta { wi: s.wi, weight }),
            }
        } else if i % 8 == 0 {
            let value = f_cos(bsdf, wo, s.wi).max_element();
            let side = usize::from(below);
            if value > best[side] {
                best[side] = value;
                *(if below { &mut probe.transmitted } else { &mut probe.reflected }) = Some(s.wi);
            }
        }
    }
    probe
}

/// Accuracy of a quadrature.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Precision {
    /// Allowed error of a part.
    enough: f64,
    /// Allowed error of a part, relative to it.
    relative: f64,
    /// Most halvings of a part.
    depth: u32,
    /// Samples of a lobe that has no quadrature.
    samples: u32,
}

impl Precision {
    /// To about 10⁻⁵: for numbers and curves.
    pub const CURVE: Self = Self { enough: 3e-6, relative: 3e-5, depth: 7, samples: 1 << 16 };
    /// To about 10⁻³: for maps of thousands.
    pub const MAP: Self = Self { enough: 5e-5, relative: 3e-4, depth: 4, samples: 1 << 12 };
}

/// Whether f is itself an estimate, another one each time, which no quadrature comes to an end with.
pub(super) const fn is_random(bsdf: &Tinted) -> bool {
    matches!(bsdf.lobe, Bsdf::RandomWalkConductor(_) | Bsdf::RandomWalkDielectric(_))
}

/// ∫ f·|cos θi| dωi by quadrature. What has no width is weighed by samples, to within 1/4096; random walks are followed, to within
/// about 1/500 or, for maps, 1/100.
pub fn albedo(bsdf: &Tinted, wo: Vec3, precision: Precision) -> Albedo {
    if is_random(bsdf) {
        return albedo_sampled(bsdf, wo, precision.samples, 0).0;
    }
    let probe = probe(bsdf, wo);
    let mut albedo = Albedo::default();
    for delta in &probe.deltas {
        *(if delta.wi.z < 0.0 { &mut albedo.transmitted } else { &mut albedo.reflected }) += delta.weight;
    }
    if let Some(peak) = probe.reflected {
        albedo.reflected += over_hemisphere(bsdf, wo, peak, precision);
    }
    if let Some(peak) = probe.transmitted {
        albedo.transmitted += over_hemisphere(bsdf, wo, peak, precision) * probe.eta2;
    }
    albedo
}

/// The mean weight of `n` samples, as power, and its standard error.
pub fn albedo_sampled(bsdf: &Tinted, wo: Vec3, n: u32, seed: u32) -> (Albedo, DVec3) {
    let (mut sum, mut squares) = (Albedo::default(), DVec3::ZERO);
    for i in 0..n {
        let Some(s) = draw(bsdf, wo, SamplerKind::Independent, seed, i) else { continue };
        let power = s.weight.as_dvec3() * f64::from(s.eta * s.eta);
        *(if s.wi.z < 0.0 { &mut sum.transmitted } else { &mut sum.reflected }) += power;
        squares += power * power;
    }
    let n = f64::from(n);
    let mean = sum.total() / n;
    let variance = (squares / n - mean * mean).max(DVec3::ZERO);
    let error = DVec3::new(variance.x.sqrt(), variance.y.sqrt(), variance.z.sqrt()) / n.sqrt();
    (Albedo { reflected: sum.reflected / n, transmitted: sum.transmitted / n }, error)
}

/// Smallest angle to the peak that is told apart.
const LEAST: f64 = 1e-7;

/// ∫ f·|cos θi| dωi over the side of the surface that `peak` is on.
///
/// In polar coordinates around the peak, by the logarithm of the angle ψ to it: so a peak of any width is wide. Angles
/// are cut where the horizon is, which is where f·cos has a kink.
fn over_hemisphere(bsdf: &Tinted, wo: Vec3, peak: Vec3, precision: Precision) -> DVec3 {
    let up = Vec3::Z * 1.0_f32.copysign(peak.z);
    let frame = Frame::from_z_x(peak, up);
    let [x, y, z] = [frame.x, frame.y, frame.z].map(|v| v.as_dvec3());
    let (cos_peak, sin_peak) = (z.z.abs(), x.z.abs());
    let ring = |ln_psi: f64| {
        let psi = ln_psi.exp();
        let (sin, cos) = psi.sin_cos();
        // cos φ at the horizon, where cos ψ·cos_peak + sin ψ·sin_peak·cos φ = 0.
        let level = -cos * cos_peak / (sin * sin_peak).max(1e-300);
        let half = level.clamp(-1.0, 1.0).acos();
        let mut value = |phi: f64| {
            let (s, c) = phi.sin_cos();
            f_cos(bsdf, wo, (z * cos + (x * c + y * s) * sin).as_vec3().normalize())
        };
        let scale = psi * sin;
        let precision = Precision { enough: precision.enough / scale.max(1e-12), ..precision };
        (adaptive(-half, 0.0, precision, &mut value) + adaptive(0.0, half, precision, &mut value)) * scale
    };
    let horizon = f64::from(peak.z.abs()).asin();
    let cuts = [LEAST, 1e-5, 1e-3, 1e-2, 0.1, 0.5, 1.5, PI];
    // The farthest direction is on the horizon behind the normal.
    let end = PI - horizon;
    let mut cuts: Vec<f64> = cuts.into_iter().filter(|c| *c < end && (c - horizon).abs() > 1e-6).collect();
    cuts.extend([horizon.max(2.0 * LEAST), end]);
    cuts.sort_by(f64::total_cmp);
    cuts.windows(2).map(|w| adaptive(w[0].ln(), w[1].ln(), precision, &mut { ring })).sum()
}

/// ∫ f over [a, b] by Gauss–Kronrod quadrature, in halves where both rules differ.
fn adaptive(a: f64, b: f64, precision: Precision, f: &mut impl FnMut(f64) -> DVec3) -> DVec3 {
    let (value, error) = gauss_kronrod(a, b, f);
    let Precision { enough, relative, depth, .. } = precision;
    if depth == 0 || error <= enough.max(relative * value.max_element()) {
        return value;
    }
    let middle = 0.5 * (a + b);
    let precision = Precision { enough: 0.5 * enough, relative, depth: depth - 1, ..precision };
    adaptive(a, middle, precision, f) + adaptive(middle, b, precision, f)
}

/// The 15-point Kronrod rule, and how far the 7-point Gauss rule is from it (Kronrod 1965; nodes and weights as in
/// QUADPACK's `qk15`).
fn gauss_kronrod(a: f64, b: f64, f: &mut impl FnMut(f64) -> DVec3) -> (DVec3, f64) {
    const NODES: [f64; 8] = [
        0.991_455_371_120_812_6,
        0.949_107_912_342_758_5,
        0.864_864_423_359_769_1,
        0.741_531_185_599_394_4,
        0.586_087_235_467_691_1,
        0.405_845_151_377_397_2,
        0.207_784_955_007_898_5,
        0.0,
    ];
    const KRONROD: [f64; 8] = [
        0.022_935_322_010_529_22,
        0.063_092_092_629_978_56,
        0.104_790_010_322_250_2,
        0.140_653_259_715_525_9,
        0.169_004_726_639_267_9,
        0.190_350_578_064_785_4,
        0.204_432_940_075_298_9,
        0.209_482_141_084_727_8,
    ];
    const GAUSS: [f64; 4] =
        [0.129_484_966_168_869_7, 0.279_705_391_489_276_7, 0.381_830_050_505_118_9, 0.417_959_183_673_469_4];
    let (middle, half) = (0.5 * (a + b), 0.5 * (b - a));
    let center = f(middle);
    let (mut kronrod, mut gauss) = (center * KRONROD[7], center * GAUSS[3]);
    for i in 0..7 {
        let pair = f(middle - half * NODES[i]) + f(middle + half * NODES[i]);
        kronrod += pair * KRONROD[i];
        if i % 2 == 1 {
            gauss += pair * GAUSS[i / 2];
        }
    }
    (kronrod * half, ((kronrod - gauss) * half).abs().max_element())
}

#[cfg(test)]
mod tests {
    use super::*;
    use device::bsdf::microfacet::{Distribution, Masking, Microfacet};
    use device::bsdf::{Conductor, Diffuse, RandomWalkConductor, SmoothDielectric};

    fn at(degrees: f32) -> Vec3 {
        let (s, c) = degrees.to_radians().sin_cos();
        Vec3::new(-s, 0.0, c)
    }

    #[test]
    fn the_albedo_of_lambert_is_its_reflectance() {
        let bsdf = Bsdf::Diffuse(Diffuse { reflectance: Vec3::new(0.2, 0.5, 1.0) });
        for degrees in [0.0, 60.0, 89.0] {
            let Albedo { reflected, transmitted } = albedo(&bsdf.into(), at(degrees), Precision::CURVE);
            assert!((reflected - DVec3::new(0.2, 0.5, 1.0)).abs().max_element() < 1e-5, "{reflected}");
            assert_eq!(transmitted, DVec3::ZERO);
        }
    }

    /// Where nothing is absorbed, walks lose nothing; gold loses what f does, summed up over uniform directions.
    #[test]
    fn random_walks_are_followed() {
        let microfacet = Microfacet {
            alpha: Vec2::splat(0.25),
            distribution: Distribution::Ggx,
            masking: Masking::Correlated,
        };
        let of = |eta, k| {
            Tinted::from(Bsdf::RandomWalkConductor(RandomWalkConductor { microfacet, eta, k, seed: 1 }))
        };
        let (white, gold) =
            (of(Vec3::ZERO, Vec3::ONE), of(Vec3::new(0.143, 0.375, 1.442), Vec3::new(3.983, 2.386, 1.603)));
        for degrees in [0.0, 60.0] {
            let found = albedo(&white, at(degrees), Precision::CURVE).total();
            assert!((found - 1.0).abs().max_element() < 2e-3, "{found}");
        }
        const N: u32 = 1 << 18;
        let uniform = |i: u32| {
            let (cos, phi) = ((f64::from(i) + 0.5) / f64::from(N), f64::from(i) * 2.399_963_229_728_653);
            let sin = (1.0 - cos * cos).sqrt();
            f_cos(&gold, at(0.0), DVec3::new(sin * phi.cos(), sin * phi.sin(), cos).as_vec3())
        };
        let expected = (0..N).map(uniform).sum::<DVec3>() * std::f64::consts::TAU / f64::from(N);
        let found = albedo(&gold, at(0.0), Precision::CURVE).total();
        assert!((found - expected).abs().max_element() < 5e-3, "{found}, not {expected}");
        assert!(found.x < 0.99, "control: gold absorbs");
    }

    /// Mirrors lose nothing, and nearly flat facets next to nothing.
    #[test]
    fn narrow_peaks_are_not_missed() {
        for alpha in [1e-4, 1e-3, 0.01] {
            let microfacet = Microfacet {
                alpha: Vec2::splat(alpha),
                distribution: Distribution::Ggx,
                masking: Masking::Correlated,
            };
            let bsdf = Bsdf::Conductor(Conductor { microfacet, eta: Vec3::ZERO, k: Vec3::ONE });
            for degrees in [0.0, 45.0, 70.0] {
                let total = albedo(&bsdf.into(), at(degrees), Precision::CURVE).total();
                assert!((total.x - 1.0).abs() < 1e-3, "alpha {alpha}, {degrees}°: {total}");
            }
        }
    }

    #[test]
    fn smooth_glass_loses_nothing() {
        let bsdf = Bsdf::SmoothDielectric(SmoothDielectric { eta: 1.5 });
        let Albedo { reflected, transmitted } = albedo(&bsdf.into(), at(0.0), Precision::CURVE);
        assert!((reflected.x - 0.04).abs() < 1e-3 && (transmitted.x - 0.96).abs() < 1e-3);
    }
}
