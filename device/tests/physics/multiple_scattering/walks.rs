//! Random walks against walks in f64 that are made of the definitions.

use std::f64::consts::{FRAC_1_PI, PI};

use device::bsdf::microfacet::Microfacet;
use device::bsdf::{BsdfSample, Conductor, Dielectric, Lobe, RandomWalkConductor};
use device::sampling::sample_cosine_hemisphere;
use glam::Vec3;

use crate::common::ggx::METALS;
use crate::common::statistics::{Grid, Verdicts, chi2_p_value};
use crate::common::vector::{DVec3, wide};
use crate::common::walk::{LONGEST, Walk};
use crate::common::{Random, adversarial_u, turn};

use super::{
    DISTRIBUTIONS, Mean, dielectric_walk, in_parallel, name, oracle, over_hemisphere, samples, surface,
    surfaces, white_walk, wo,
};

const CELLS: [usize; 2] = [8, 12];

/// Counts of directions above and below, by cos² and azimuth, and last of what went nowhere.
struct Spread(Grid, Grid, u64);

impl Spread {
    fn new() -> Self {
        Self(Grid::new(CELLS), Grid::new(CELLS), 0)
    }

    fn add(&mut self, wi: Option<DVec3>) {
        let Some(wi) = wi else {
            self.2 += 1;
            return;
        };
        let grid = if wi.z > 0.0 { &mut self.0 } else { &mut self.1 };
        grid.add(wi.z * wi.z, turn(wi.x, wi.y));
    }

    fn counts(self) -> Vec<u64> {
        [self.0.counts, self.1.counts, vec![self.2]].concat()
    }
}

/// P-value of as many draws from one distribution as from the other.
fn same_distribution(a: Vec<u64>, b: Vec<u64>) -> f64 {
    assert_eq!(a.iter().sum::<u64>(), b.iter().sum::<u64>());
    let (mut chi2, mut cells) = (0.0, 0);
    for (a, b) in a.into_iter().zip(b).map(|(a, b)| (a as f64, b as f64)).filter(|(a, b)| a + b >= 10.0) {
        chi2 += (a - b).powi(2) / (a + b);
        cells += 1;
    }
    chi2_p_value(chi2, cells - 1)
}

const WALKS: u32 = 20_000;

fn oracle_walks(m: &Microfacet, eta: Option<f64>, longest: usize, wo: Vec3) -> Vec<u64> {
    let (mut spread, mut random) = (Spread::new(), Random::new(77));
    for _ in 0..WALKS {
        let mut walk = Walk { facets: oracle(m), eta, longest, random: &mut random };
        spread.add(walk.run(wide(wo)).map(|end| end.wi));
    }
    spread.counts()
}

fn walks<L: Lobe>(lobe: impl Fn(u32) -> L, wo: Vec3) -> Vec<u64> {
    let mut spread = Spread::new();
    samples(lobe, wo, WALKS, 1).for_each(|s| spread.add(s.map(|s| wide(s.wi))));
    spread.counts()
}

/// (surface, η, cos θo); no η for conductors.
fn configurations() -> Vec<(Microfacet, Option<f32>, f64)> {
    let mut all = vec![];
    for m in surfaces() {
        for eta in [None, Some(1.5), Some(1.0 / 1.5)] {
            for z in [1.0, 0.6, 0.15] {
                all.push((m, eta, z));
            }
        }
    }
    all.into_iter().enumerate().filter(|(k, _)| tier::takes(*k, 4)).map(|(_, one)| one).collect()
}

fn p_of_walks(m: &Microfacet, eta: Option<f32>, z: f64, longest: usize) -> f64 {
    let expected = oracle_walks(m, eta.map(f64::from), longest, wo(z));
    let drawn = match eta {
        None => walks(|seed| white_walk(*m, seed), wo(z)),
        Some(eta) => walks(|seed| dielectric_walk(*m, eta, seed), wo(z)),
    };
    same_distribution(drawn, expected)
}

#[test]
fn walks_end_where_those_of_the_definitions_do() {
    let mut verdicts = Verdicts::default();
    let all = configurations();
    let p = in_parallel(&all, |(m, eta, z)| p_of_walks(m, *eta, *z, LONGEST));
    all.iter().zip(p).for_each(|((m, eta, z), p)| verdicts.add(p, format!("{}, {eta:?}", name(m, *z))));
    verdicts.report("walks");
    verdicts.assert_none_rejected();
}

/// Two reflections, another roughness, another index.
#[test]
fn control_other_walks_are_rejected() {
    let mut verdicts = Verdicts::default();
    for d in DISTRIBUTIONS {
        for (eta, longest) in [(None, 2), (None, 1), (Some(1.0 / 1.5), 2), (Some(1.5), 1)] {
            let p = p_of_walks(&surface([1.0; 2], d), eta, 0.6, longest);
            verdicts.add(p, format!("{d:?} {eta:?}, {longest} orders"));
        }
        let (m, other) = (surface([0.4; 2], d), surface([0.45; 2], d));
        let expected = oracle_walks(&m, None, LONGEST, wo(0.6));
        verdicts.add(same_distribution(walks(|s| white_walk(other, s), wo(0.6)), expected), "rougher");
        let expected = oracle_walks(&m, Some(1.5), LONGEST, wo(0.6));
        let denser = walks(|s| dielectric_walk(m, 1.6, s), wo(0.6));
        verdicts.add(same_distribution(denser, expected), "denser");
    }
    verdicts.report_largest("other walks");
    verdicts.assert_all_rejected();
}

/// Incident light 1 + wi.x + wi.z². Its reflected and transmitted parts are computed in two ways that must agree.
fn light(wi: DVec3) -> f64 {
    1.0 + wi.x + wi.z * wi.z
}

/// By walks of the second and higher orders in f64: reflected and transmitted.
fn light_by_walks(m: &Microfacet, eta: Option<f32>, z: f64) -> [Mean; 2] {
    let (mut means, mut random) = ([Mean::default(); 2], Random::new(5));
    for _ in 0..2 * WALKS {
        let mut walk =
            Walk { facets: oracle(m), eta: eta.map(f64::from), longest: LONGEST, random: &mut random };
        let end = walk.run(wide(wo(z))).filter(|end| end.cosines.len() > 1);
        for (side, mean) in [1.0, -1.0].into_iter().zip(&mut means) {
            mean.add(end.as_ref().filter(|end| end.wi.z * side > 0.0).map_or(0.0, |end| light(end.wi)));
        }
    }
    means
}

/// By estimates of f in directions drawn as if diffuse.
fn light_by_estimates(m: &Microfacet, eta: Option<f32>, z: f64) -> [Mean; 2] {
    let (mut means, mut random) = ([Mean::default(); 2], Random::new(6));
    for seed in 0..2 * WALKS {
        let above = sample_cosine_hemisphere(random.vec2());
        if above.z < 1e-6 {
            continue;
        }
        for (wi, mean) in [above, -above].into_iter().zip(&mut means) {
            let f = match eta {
                None if wi.z > 0.0 => white_walk(*m, seed).multiple(wo(z), wi).x,
                None => 0.0,
                Some(eta) => dielectric_walk(*m, eta, seed).multiple(wo(z), wi),
            };
            mean.add(light(wide(wi)) * f64::from(f) * PI);
        }
    }
    means
}

/// The rough configurations; where roughness is small, the estimates have heavy tails.
fn rough_configurations() -> Vec<(Microfacet, Option<f32>, f64)> {
    configurations().into_iter().filter(|(m, ..)| m.alpha.x > 0.3).collect()
}

#[test]
fn estimates_have_the_mean_of_walks() {
    let all = rough_configurations();
    let worst = in_parallel(&all, |(m, eta, z)| {
        let (walks, estimates) = (light_by_walks(m, *eta, *z), light_by_estimates(m, *eta, *z));
        let mut worst = 0.0_f64;
        for (a, b) in walks.iter().zip(&estimates) {
            let sigma = a.error().hypot(b.error());
            let off = (a.mean() - b.mean()).abs();
            assert!(off < 5.0 * sigma + 5e-4, "{} {eta:?}: {} {}", name(m, *z), a.mean(), b.mean());
            worst = worst.max(off);
        }
        worst
    });
    println!("estimates and walks differ by {:.4} at most", worst.into_iter().fold(0.0, f64::max));
}

#[test]
fn control_estimates_of_one_order_more_or_less_are_rejected() {
    for d in DISTRIBUTIONS {
        let m = surface([1.0; 2], d);
        let (walks, estimates) = (light_by_walks(&m, None, 0.6), light_by_estimates(&m, None, 0.6));
        let sigma = walks[0].error().hypot(estimates[0].error());
        let (mut third, mut random) = (Mean::default(), Random::new(5));
        for _ in 0..WALKS {
            let mut walk = Walk { facets: oracle(&m), eta: None, longest: LONGEST, random: &mut random };
            let end = walk.run(wide(wo(0.6))).filter(|end| end.cosines.len() > 2);
            third.add(end.map_or(0.0, |end| light(end.wi)));
        }
        assert!((third.mean() - estimates[0].mean()).abs() > 20.0 * sigma);
    }
}

/// The first order is that of [`Conductor`] and [`Dielectric`]; f is the same both ways.
#[test]
fn single_scattering_is_exact_and_estimates_are_reciprocal() {
    let mut random = Random::new(8);
    for m in surfaces() {
        let (_, eta, k) = METALS[1];
        for seed in 0..2000 {
            let (a, b) = (random.direction().to_f32(), random.direction().to_f32());
            let a = Vec3::new(a.x, a.y, a.z.abs());
            let lobe = RandomWalkConductor { microfacet: m, eta, k, seed };
            let f = lobe.eval(a, b);
            if b.z > 0.0 {
                assert_eq!(f, Conductor { microfacet: m, eta, k }.eval(a, b) + lobe.multiple(a, b));
                let back = lobe.eval(b, a);
                assert!((f - back).abs().max_element() <= 1e-5 * f.max_element(), "{a} {b}: {f} {back}");
            } else {
                assert_eq!((f, lobe.pdf(a, b)), (Vec3::ZERO, 0.0));
            }
            let lobe = dielectric_walk(m, 1.5, seed);
            let f = f64::from(lobe.eval(a, b).x);
            let scale = if b.z > 0.0 { 1.0 } else { 1.0 / 2.25 };
            let single = f64::from(Dielectric { microfacet: m, eta: 1.5 }.eval(a, b).x);
            let multiple = scale * f64::from(lobe.multiple(a, b));
            assert!((f - single - multiple).abs() <= 1e-5 * f, "{f} {single} {multiple}");
            let (back, eta2) = if b.z > 0.0 {
                (lobe.multiple(b, a), 1.0)
            } else {
                (dielectric_walk(m, 1.0 / 1.5, seed).multiple(-b, -a), 2.25)
            };
            let (there, back) = (f64::from(lobe.multiple(a, b)), eta2 * f64::from(back));
            assert!((there - back).abs() <= 1e-4 * there, "{a} {b}: {there} {back}");
        }
    }
}

/// Walks and directions drawn as if diffuse, weighted against each other by densities that are not those of walks, have
/// the mean of walks alone; not so where the weight of one of them is by other densities.
#[test]
fn strategies_combine_without_bias() {
    let (_, eta, k) = METALS[1];
    for d in DISTRIBUTIONS {
        let m = surface([0.5; 2], d);
        let (mut alone, mut combined, mut wrong) = (Mean::default(), Mean::default(), Mean::default());
        let mut random = Random::new(14);
        for seed in 0..150_000 {
            let lobe = RandomWalkConductor { microfacet: m, eta, k, seed };
            let other = RandomWalkConductor { microfacet: surface([0.25; 2], d), ..lobe };
            let cosine = |wi: Vec3| f64::from(wi.z) * FRAC_1_PI;
            let (mut x, mut y) = (0.0, 0.0);
            if let Some(s) = lobe.sample(wo(0.6), random.f32(), random.vec2()) {
                let arrives = light(wide(s.wi)) * f64::from(s.weight.x);
                alone.add(arrives);
                let part = |pdf: f32| f64::from(pdf) / (f64::from(pdf) + cosine(s.wi));
                x += arrives * part(s.pdf);
                y += arrives * part(other.pdf(wo(0.6), s.wi));
            }
            let wi = sample_cosine_hemisphere(random.vec2());
            let (f, pdf) = lobe.eval_pdf(wo(0.6), wi);
            let arrives = PI * light(wide(wi)) * f64::from(f.x) * cosine(wi) / (cosine(wi) + f64::from(pdf));
            combined.add(x + arrives);
            wrong.add(y + arrives);
        }
        let off = |mean: &Mean| (mean.mean() - alone.mean()).abs() / mean.error().hypot(alone.error());
        assert!(off(&combined) < 5.0, "{d:?}: {} {}", combined.mean(), alone.mean());
        assert!(off(&wrong) > 10.0, "{d:?}, control: {} {}", wrong.mean(), alone.mean());
    }
}

/// The densities for MIS add up to one, within the thousandth that is there to be positive.
#[test]
fn densities_of_walks_add_up_to_one() {
    for d in DISTRIBUTIONS {
        for alpha in [0.4, 1.0] {
            for z in [1.0, 0.6, 0.15] {
                let lobe = white_walk(surface([alpha; 2], d), 0);
                let total = over_hemisphere(|wi| lobe.pdf(wo(z), wi).into());
                assert!((total - 1.0).abs() < 5e-3, "{d:?} {alpha} {z}: {total}");
            }
        }
    }
}

#[test]
fn walks_are_finite_for_all_uniforms_and_directions() {
    let smooth = DISTRIBUTIONS.map(|d| surface([1e-3; 2], d));
    let along = DISTRIBUTIONS.map(|d| surface([1.0, 1e-2], d));
    let (_, eta, k) = METALS[1];
    for m in surfaces().into_iter().chain(smooth).chain(along) {
        for z in [1.0, 0.6, 0.05, 1e-3, 1e-6, 1e-12] {
            for (seed, u) in adversarial_u().into_iter().enumerate() {
                let seed = seed as u32;
                for uc in [0.0, 0.5, 0.999_999_94] {
                    let metal = RandomWalkConductor { microfacet: m, eta, k, seed };
                    check(&metal, wo(z), metal.sample(wo(z), uc, u), 1.0);
                    for n in [1.5, 1.0 / 1.5, 2.4] {
                        let glass = dielectric_walk(m, n, seed);
                        check(&glass, wo(z), glass.sample(wo(z), uc, u), n);
                    }
                }
            }
        }
    }
}

fn check(lobe: &(impl Lobe + std::fmt::Debug), wo: Vec3, s: Option<BsdfSample>, eta: f32) {
    let Some(s) = s else { return };
    let bound = if s.wi.z > 0.0 { 1.0 } else { 1.0 / (eta * eta) };
    let unit = s.wi.is_finite() && (wide(s.wi).length() - 1.0).abs() < 1e-6;
    assert!(unit && s.pdf.is_finite() && s.pdf > 0.0, "{lobe:?} {wo}: {s:?}");
    assert!(s.weight.min_element() >= 0.0 && s.weight.max_element() <= bound * 1.000_01, "{lobe:?}: {s:?}");
    let (f, pdf) = lobe.eval_pdf(wo, s.wi);
    assert!(f.is_finite() && f.min_element() >= 0.0 && pdf == s.pdf, "{lobe:?} {wo} {s:?}: {f} {pdf}");
}

/// Part of what arrives that leaves, along with what stays for ever.
#[test]
fn walks_lose_nothing() {
    let all: Vec<_> = surfaces().into_iter().flat_map(|m| [1.0, 0.6, 0.15, 0.01].map(|z| (m, z))).collect();
    in_parallel(&all, |(m, z)| {
        let n = tier::choose(10_000, 50_000);
        let reflected = samples(|seed| white_walk(*m, seed), wo(*z), n, 2).flatten();
        let reflected = reflected.map(|s| f64::from(s.weight.x)).sum::<f64>() / f64::from(n);
        assert!((reflected - 1.0).abs() < 1e-4, "{}: {reflected}", name(m, *z));
        for eta in [1.5, 1.0 / 1.5, 2.4] {
            let passed = samples(|seed| dielectric_walk(*m, eta, seed), wo(*z), n, 3).flatten();
            let passed = passed.map(|s| f64::from(s.weight.x * s.eta * s.eta)).sum::<f64>() / f64::from(n);
            assert!((passed - 1.0).abs() < 1e-4, "{}, {eta}: {passed}", name(m, *z));
        }
    });
}
