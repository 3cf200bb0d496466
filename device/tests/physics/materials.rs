//! Properties of every kind of material over the whole range of its parameters: answers are finite, weights equal f·cos/pdf,
//! scattering is reciprocal, and no more light leaves than arrives. Albedos are compared with quadrature in f64 on a grid of
//! angles and roughnesses; other lobes have that test in their own files.

mod albedos;
mod parameters;

use device::bsdf::microfacet::Microfacet;
use device::bsdf::{Bsdf, BsdfSample, Lobe};
use device::color::luminance;
use device::material::{At, Scattering};
use glam::{Vec2, Vec3};

use crate::common::vector::wide;
use crate::common::{Random, adversarial_u, points};

use parameters::{KINDS, PRINCIPLED, Plastics, above, any, scattering};

/// Calls `f` with as many random configurations of every kind: its lobe, a direction, and what to draw another by.
fn for_each(n: usize, seed: u64, mut f: impl FnMut(usize, &Bsdf, Vec3, f32, Vec2, &mut Random)) {
    let (plastics, ends) = (Plastics::new(), adversarial_u());
    let scene = plastics.scene();
    let mut random = Random::new(seed);
    for i in 0..n {
        let (front, seed) = (!random.bits().is_multiple_of(4), random.bits() as u32);
        let at = At { front, seed, ..At::new(&scene, Vec2::ZERO) };
        let lobe = any(i % KINDS.len(), &plastics, &at, &mut random);
        let wo = above(&mut random);
        let (mut uc, mut u) = (random.f32(), random.vec2());
        if random.bits().is_multiple_of(4) {
            u = ends[random.bits() as usize % ends.len()];
            uc = [0.0, uc, 1.0 - f32::EPSILON / 2.0][random.bits() as usize % 3];
        }
        f(i % KINDS.len(), &lobe, wo, uc, u, &mut random);
    }
}

/// Part of the incident energy that a sample carries: radiance over η² is conserved.
fn energy(s: &BsdfSample) -> f32 {
    s.weight.max_element() * s.eta * s.eta
}

/// Whether no single sample of the lobe may carry more than arrives.
const fn is_bounded(lobe: &Bsdf) -> bool {
    !matches!(
        lobe,
        Bsdf::OrenNayar(_)
            | Bsdf::Sheen(_)
            | Bsdf::SmoothPlastic(_)
            | Bsdf::Plastic(_)
            | Bsdf::Principled(_)
            | Bsdf::CompensatedConductor(_)
            | Bsdf::CompensatedDielectric(_)
            | Bsdf::Gltf(_)
    )
}

/// Whether the weight of a sample is that of a walk, of which f, by another walk, and pdf know only the mean.
const fn walks(lobe: &Bsdf) -> bool {
    matches!(lobe, Bsdf::RandomWalkConductor(_) | Bsdf::RandomWalkDielectric(_))
}

/// Description of the error in an answer, if there is one.
fn flaw(lobe: &Bsdf, wo: Vec3, sample: Option<BsdfSample>, elsewhere: [Vec3; 3]) -> Option<String> {
    let evaluated = |wi: Vec3| {
        let (f, pdf) = lobe.eval_pdf(wo, wi);
        let fine = f.is_finite() && f.min_element() >= 0.0 && pdf.is_finite() && pdf >= 0.0;
        (!fine).then(|| format!("f {f}, pdf {pdf} for {wi}"))
    };
    let flawed = sample.and_then(|s| {
        let finite = s.wi.is_finite() && s.weight.is_finite() && s.pdf.is_finite() && s.eta.is_finite();
        let fine = finite
            // Refraction into a much thinner medium multiplies what wo lacks.
            && (wide(s.wi).length() - 1.0).abs() < 2e-6
            && s.weight.min_element() >= 0.0
            && s.pdf >= 0.0
            && s.eta > 0.0
            && (!is_bounded(lobe) || energy(&s) <= 1.0 + 1e-4);
        if fine { evaluated(s.wi) } else { Some(format!("{s:?}")) }
    });
    flawed.or_else(|| elsewhere.into_iter().find_map(evaluated))
}

#[test]
fn answers_are_finite_over_all_parameters_and_their_corners() {
    let mut heaviest = [0.0_f32; KINDS.len()];
    let mut controls = 0;
    for_each(tier::choose(200_000, 1_000_000), 91, |kind, lobe, wo, uc, u, random| {
        let sample = lobe.sample(wo, uc, u);
        let anywhere = random.direction().to_f32();
        let elsewhere = [anywhere, Vec3::new(-wo.x, -wo.y, wo.z), -wo];
        let flaw_of = |sample| flaw(lobe, wo, sample, elsewhere);
        if let Some(flaw) = flaw_of(sample) {
            panic!("{lobe:?} from {wo} with {uc}, {u}: {flaw}");
        }
        let Some(s) = sample else { return };
        heaviest[kind] = heaviest[kind].max(energy(&s));
        if random.bits().is_multiple_of(1024) {
            let wrong = [
                BsdfSample { weight: s.weight * f32::NAN, ..s },
                BsdfSample { pdf: f32::INFINITY, ..s },
                BsdfSample { wi: s.wi * 1.001, ..s },
                BsdfSample { weight: -s.weight - 1e-6, ..s },
            ];
            assert!(wrong.into_iter().all(|s| flaw_of(Some(s)).is_some()), "controls");
            controls += 1;
        }
    });
    println!("heaviest samples {:?}, {controls} controls", KINDS.iter().zip(heaviest).collect::<Vec<_>>());
    assert!(controls > 100);
}

/// 99.9th percentile of the errors, and the largest.
fn nearly_and_worst(mut errors: Vec<f64>) -> [f64; 2] {
    errors.sort_by(f64::total_cmp);
    let at = |i: usize| errors.get(i).copied().unwrap_or(0.0);
    [at(errors.len() * 999 / 1000), at(errors.len().max(1) - 1)]
}

/// Of every kind, [`nearly_and_worst`] of the errors of weights against f·|cos θi|/pdf; but of walks, whose weights are
/// others. What conductors reflect depends on wo·wm, which is that of half vectors in f and that of facets in weights:
/// where wo and wi all but cancel, rounding tells them apart, which is allowed for. Of compensated lobes, which weigh
/// single scattering against the rest, so is by how much the densities of both are apart, of peaks that f32 hardly
/// resolves.
fn errors_of_weights(scale: f32) -> [[f64; 2]; KINDS.len()] {
    let mut errors: [Vec<f64>; KINDS.len()] = Default::default();
    for_each(tier::choose(60_000, 300_000), 92, |kind, lobe, wo, uc, u, _| {
        let Some(s) = lobe.sample(wo, uc, u).filter(|s| s.pdf > 0.0 && !walks(lobe)) else { return };
        let (f, pdf) = lobe.eval_pdf(wo, s.wi);
        // The density of what a grazing or a narrow lobe drew may round to nothing.
        if pdf > 0.0 {
            let expected = (f64::from(s.wi.z.abs()) / f64::from(pdf)) * wide(f);
            let error = (wide(scale * s.weight) - expected).length() / expected.length().max(1e-3);
            let half = 0.5 * (wide(wo) + wide(s.wi)).length();
            let error = if [1, 7].contains(&kind) { error * (half / 0.03).min(1.0) } else { error };
            let is_compensated = scattering(kind) == Scattering::Compensated;
            let apart = if is_compensated { f64::from((s.pdf / pdf - 1.0).abs()) } else { 0.0 };
            errors[kind].push((error - apart).max(0.0));
        }
    });
    errors.map(nearly_and_worst)
}

#[test]
fn weights_are_f_cos_over_pdf_over_all_parameters() {
    let errors = errors_of_weights(1.0);
    for (kind, [nearly, worst]) in KINDS.iter().zip(errors) {
        println!("{kind}: weights to {nearly:.1e}, at worst {worst:.1e}");
    }
    for (kind, [nearly, worst]) in KINDS.iter().zip(errors) {
        // Tails of Beckmann's are steep, and of little weight.
        let most = if *kind == "compensated conductor" { 0.05 } else { 3e-4 };
        assert!(nearly < 1e-4 && worst < most, "{kind}: {nearly:e} {worst:e}");
    }
    for (kind, [nearly, _]) in KINDS.iter().zip(errors_of_weights(1.0005)) {
        // Panes draw from two directions alone.
        let has_none = kind.starts_with("thin") || kind.starts_with("walks");
        assert!(has_none || nearly > 1e-4, "control: {kind}");
    }
}

/// Index of refraction beyond the surface relative to this side, where light is refracted.
const fn beyond(lobe: &Bsdf) -> f32 {
    match lobe {
        Bsdf::Dielectric(glass) => glass.eta,
        Bsdf::CompensatedDielectric(glass) => glass.eta,
        Bsdf::RandomWalkDielectric(glass) => glass.eta,
        _ => 1.0,
    }
}

/// Of every kind, by how much f differs for light that takes the same way back, from the other side where it passes:
/// radiance over η² is what is the same. [`nearly_and_worst`] of its parts; `factor`, of two directions, spoils it. The
/// principled model, which knows its interface alone, has its own test.
fn irreciprocity(factor: impl Fn(Vec3, Vec3) -> f32) -> [[f64; 2]; KINDS.len()] {
    let (plastics, mut random) = (Plastics::new(), Random::new(94));
    let scene = plastics.scene();
    let mut errors: [Vec<f64>; KINDS.len()] = Default::default();
    for i in 0..KINDS.len() * 20_000 {
        let (kind, seed) = (i % KINDS.len(), random.bits());
        let side = |front| {
            let at = At { front, ..At::new(&scene, Vec2::ZERO) };
            any(kind, &plastics, &at, &mut Random::new(seed))
        };
        let (lobe, other) = (side(true), side(false));
        let (a, b) = (above(&mut random), random.direction().to_f32());
        // Closer to the surface lobes are black, and not all of them from where on for both directions.
        if kind == PRINCIPLED || a.z < 1e-6 || b.z.abs() < 1e-6 {
            continue;
        }
        // The frame of the other side has the same x axis. All but glTF's turned facets are the same after half a turn,
        // and walks are the same ones only where all three numbers change their sign.
        let is_turned = matches!(lobe, Bsdf::Gltf(_));
        let turned = |w: Vec3| if is_turned { Vec3::new(w.x, -w.y, -w.z) } else { -w };
        let back = if b.z > 0.0 { lobe.eval(b, a) } else { other.eval(turned(b), turned(a)) };
        let there = lobe.eval(a, b);
        let eta = if b.z > 0.0 { 1.0 } else { beyond(&lobe) };
        let there = f64::from(factor(a, b) * eta * eta) * wide(there);
        let back = f64::from(factor(b, a)) * wide(back);
        // Where light is hardly refracted at all, f is next to nothing and ill conditioned.
        errors[kind].push((there - back).length() / there.length().max(back.length()).max(1e-3));
    }
    errors.map(nearly_and_worst)
}

#[test]
fn light_takes_the_same_way_back_over_all_parameters() {
    let (found, control) = (irreciprocity(|_, _| 1.0), irreciprocity(|_, wi| wi.z.abs()));
    for (kind, ([nearly, worst], [_, control])) in KINDS.iter().zip(found.into_iter().zip(control)) {
        println!("{kind}: reciprocal but for {nearly:.1e}, at worst {worst:.1e}; control {control:.1e}");
        assert!(nearly < 2e-4 && worst < 3e-2, "{kind}: {nearly:e} {worst:e}");
        let has_f = !["thin dielectric", "principled"].contains(kind);
        assert!(!has_f || control > 0.1, "control: {kind}");
    }
}

/// (mean, its standard error were the points independent) of what samples carry; `part` says of which light.
fn albedo(lobe: &Bsdf, wo: Vec3, n: u32, part: impl Fn(Vec3) -> f32) -> (f64, f64) {
    let (mut sum, mut sum2) = (0.0, 0.0);
    for (uc, u) in points(n) {
        let Some(s) = lobe.sample(wo, uc, u) else { continue };
        let x = f64::from(part(s.weight) * s.eta * s.eta);
        (sum, sum2) = (sum + x, sum2 + x * x);
    }
    let mean = sum / f64::from(n);
    (mean, ((sum2 / f64::from(n) - mean * mean).max(0.0) / f64::from(n)).sqrt())
}

/// The most of white light that may leave: no more than arrives, but where lobes say otherwise of themselves. The coats
/// of plastics are interpolated, to some 10⁻³; that tells where the index is so close to 1 that they turn from clear to
/// opaque within less than a degree of the horizon. The principled model makes light, 1.9 times as much where it is
/// denser than what is around it, and more where it is not, as its interface then reflects all light over paint that does
/// not know of it. What is compensated are losses from tables, of isotropic facets and, of dielectrics, of indices in
/// [⅓, 3]: others are taken for what comes close. Dielectrics that hardly differ from what is around them turn from clear
/// to opaque too fast for the tables.
fn most_that_may_leave(lobe: &Bsdf) -> f64 {
    let is_isotropic = |m: &Microfacet| m.alpha.x == m.alpha.y;
    match lobe {
        Bsdf::CompensatedConductor(metal) if is_isotropic(&metal.microfacet) => 1.002,
        Bsdf::CompensatedConductor(_) => 1.1,
        Bsdf::CompensatedDielectric(glass) => match glass.eta.max(1.0 / glass.eta) {
            ..1.05 => 1.6,
            _ if !is_isotropic(&glass.microfacet) => 1.2,
            3.0.. => 1.1,
            _ => 1.002,
        },
        Bsdf::Principled(_) => 2.1,
        Bsdf::Plastic(plastic) if plastic.eta < 1.05 => 1.005,
        _ => 1.0,
    }
}

#[test]
fn no_more_leaves_than_arrives_over_all_parameters() {
    let mut most = [(0.0_f64, 0.0_f64); KINDS.len()];
    let mut controls = 0;
    for_each(KINDS.len() * tier::choose(100, 500), 93, |kind, lobe, wo, _, _, _| {
        // Tints keep luminance, and raise single channels with it.
        let (mean, error) = if kind == PRINCIPLED {
            albedo(lobe, wo, 2048, luminance)
        } else {
            let [r, g, b] = [0, 1, 2].map(|c| albedo(lobe, wo, 2048, |weight| weight[c]));
            [r, g, b].into_iter().fold((0.0, 0.0), |a, b| if b.0 > a.0 { b } else { a })
        };
        let limit = most_that_may_leave(lobe) + 1e-4 + 5.0 * error;
        assert!(mean <= limit, "{lobe:?} from {wo}: {mean} ± {error}");
        if mean > most[kind].0 {
            most[kind] = (mean, error);
        }
        controls += usize::from(1.01 * mean > limit);
    });
    println!("at most {:.4?} (with standard errors) leaves", KINDS.iter().zip(most).collect::<Vec<_>>());
    assert!(
        controls > tier::choose(20, 100),
        "{controls} lobes that reflect all light would be found to reflect a hundredth more"
    );
}
