//! Properties of every kind of material over the whole range of its parameters: answers are finite, weights equal f·cos/pdf,
//! scattering is reciprocal, and no more light leaves than arrives. Albedos are compared with quadrature in f64 on a grid of
//! angles and roughnesses; other lobes have that test in their own files.

use std::f64::consts::TAU;

use device::bsdf::microfacet::{Distribution, Masking, Microfacet};
use device::bsdf::plastic::Coat;
use device::bsdf::{
    Bsdf, BsdfSample, Conductor, Dielectric, Diffuse, Lobe, SmoothConductor, SmoothDielectric,
};
use device::color::luminance;
use device::features::Full;
use device::material::{
    At, Color, ConductorMaterial, DielectricMaterial, DiffuseMaterial, Facets, GltfMaterial, Parameters,
    PlasticMaterial, PrincipledMaterial, Scalar, Scattering, SheenMaterial, ThinDielectricMaterial,
};
use device::scene::SceneView;
use glam::{Vec2, Vec3};

use crate::common::ggx::{self, Cells, G2, METALS};
use crate::common::vector::{DVec3, wide};
use crate::common::{Random, adversarial_u, choices, ggx::fresnel, integrate, points, polar};

/// A number in [0, 1]: the ends are as likely as all between.
fn unit(random: &mut Random) -> f32 {
    match random.bits() % 4 {
        0 => 0.0,
        1 => 1.0,
        _ => random.f32(),
    }
}

fn color(random: &mut Random) -> Color {
    Color::new(Vec3::new(unit(random), unit(random), unit(random)))
}

fn index(random: &mut Random) -> f32 {
    let one_more = 1.0 + random.power_of_ten(-7.0, 0.0);
    let any = [1.0, 1.5, 4.0, 0.25, one_more, 1.0 / one_more, random.within(1.0, 3.0)];
    any[random.bits() as usize % any.len()] as f32
}

fn alpha(random: &mut Random) -> f32 {
    match random.bits() % 8 {
        0 => Facets::MIN_ALPHA,
        1 => 1.0,
        _ => random.power_of_ten(-4.0, 0.0) as f32,
    }
}

fn masking(random: &mut Random) -> u32 {
    [Masking::Correlated, Masking::Separable][random.bits() as usize % 2] as u32
}

/// Smooth, as rough everywhere, or stretched.
fn facets(random: &mut Random) -> Facets {
    let distribution = [Distribution::Ggx, Distribution::Beckmann][random.bits() as usize % 2];
    let x = alpha(random);
    let facets = match random.bits() % 5 {
        0 => return Facets::SMOOTH,
        1 | 2 => Facets::new(Vec2::new(x, alpha(random)), distribution),
        _ => Facets::new(Vec2::splat(x), distribution),
    };
    Facets { masking: masking(random), ..facets }
}

/// Plastics of all kinds, and their coats: too dear to make for every sample.
struct Plastics {
    materials: Vec<PlasticMaterial>,
    coats: Vec<Coat>,
}

impl Plastics {
    fn new() -> Self {
        let mut random = Random::new(90);
        let (mut materials, mut coats) = (Vec::new(), Vec::new());
        for coat in 0..48 {
            let mut facets = facets(&mut random);
            facets.alpha[1] = facets.alpha[0];
            // The ends of what a scene may say.
            let ior = [1.000_1, 1.5, 4.0, random.within(1.0, 3.0) as f32 + 1e-4][coat % 4];
            let scene = crate::common::empty_scene();
            let at = At::new(&scene, Vec2::ZERO);
            coats.push(Coat::new(&facets.at::<Full>(&at), ior));
            materials.push(PlasticMaterial {
                reflectance: Color::new(Vec3::ONE),
                specular: Color::new(Vec3::ONE),
                facets,
                ior,
                nonlinear: 0,
                coat: coat as u32,
                internal_reflectance: PlasticMaterial::COMPUTED,
            });
        }
        Self { materials, coats }
    }

    fn scene(&self) -> SceneView {
        let mut scene = crate::common::empty_scene();
        scene.coats = self.coats.as_ptr();
        scene
    }
}

const KINDS: [&str; 12] = [
    "diffuse",
    "conductor",
    "dielectric",
    "thin dielectric",
    "plastic",
    "sheen",
    "principled",
    "compensated conductor",
    "compensated dielectric",
    "walks in a conductor",
    "walks in a dielectric",
    "gltf",
];
const PRINCIPLED: usize = 6;

/// Model of multiple scattering between the facets of a kind.
const fn scattering(kind: usize) -> Scattering {
    match kind {
        7 | 8 => Scattering::Compensated,
        9 | 10 => Scattering::RandomWalk,
        _ => Scattering::None,
    }
}

/// The material of glTF with any of its extensions.
fn gltf(random: &mut Random) -> GltfMaterial {
    let turn = TAU * random.f64();
    GltfMaterial {
        base_color: color(random),
        specular_color: Color::new(2.0 * color(random).value),
        sheen_color: color(random),
        metallic: Scalar::new(unit(random)),
        roughness: Scalar::new(unit(random)),
        specular: Scalar::new(unit(random)),
        transmission: Scalar::new(unit(random)),
        anisotropy: Scalar::new(unit(random)),
        clearcoat: Scalar::new(unit(random)),
        clearcoat_roughness: Scalar::new(unit(random)),
        sheen_roughness: Scalar::new(unit(random)),
        iridescence: Scalar::new(unit(random)),
        iridescence_thickness: Scalar::new(1500.0 * unit(random)),
        rotation: [turn.cos() as f32, turn.sin() as f32],
        ior: index(random).max(1.0),
        iridescence_ior: index(random).max(1.0),
        masking: masking(random),
        reserved: [0; 3],
    }
}

/// The lobe of a random material of a kind.
fn any(kind: usize, plastics: &Plastics, at: &At<'_>, random: &mut Random) -> Bsdf {
    match kind {
        0 => DiffuseMaterial { roughness: Scalar::new(unit(random)), ..DiffuseMaterial::new(color(random)) }
            .bsdf::<Full>(at),
        1 | 7 | 9 => {
            let (_, eta, k) = METALS[random.bits() as usize % METALS.len()];
            let scale = [0.0, 1.0, 10.0][random.bits() as usize % 3];
            let facets = Facets { scattering: scattering(kind) as u32, ..facets(random) };
            ConductorMaterial::new(eta, scale * k, facets).bsdf::<Full>(at)
        }
        2 | 8 | 10 => {
            let facets = Facets { scattering: scattering(kind) as u32, ..facets(random) };
            DielectricMaterial::new(index(random), facets).bsdf::<Full>(at)
        }
        3 => ThinDielectricMaterial::new(index(random)).bsdf::<Full>(at),
        4 => {
            let plastic = plastics.materials[random.bits() as usize % plastics.materials.len()];
            let (reflectance, specular) = (color(random), color(random));
            let nonlinear = random.bits() as u32 & 1;
            PlasticMaterial { reflectance, specular, nonlinear, ..plastic }.bsdf::<Full>(at)
        }
        5 => SheenMaterial { color: color(random), roughness: Scalar::new(unit(random)), reserved: [0; 2] }
            .bsdf::<Full>(at),
        11 => gltf(random).bsdf::<Full>(at),
        _ => PrincipledMaterial {
            base_color: color(random),
            roughness: Scalar::new(unit(random)),
            anisotropic: Scalar::new(unit(random)),
            metallic: Scalar::new(unit(random)),
            spec_tint: Scalar::new(unit(random)),
            spec_trans: Scalar::new(unit(random)),
            flatness: Scalar::new(unit(random)),
            sheen: Scalar::new(unit(random)),
            sheen_tint: Scalar::new(unit(random)),
            clearcoat: Scalar::new(unit(random)),
            clearcoat_gloss: Scalar::new(unit(random)),
            eta: index(random),
            masking: masking(random),
            reserved: [0; 2],
        }
        .bsdf::<Full>(at),
    }
}

/// Above the surface, from upright to what hardly differs from the horizon.
fn above(random: &mut Random) -> Vec3 {
    let z = match random.bits() % 8 {
        0 => 1.0,
        1 => random.power_of_ten(-12.0, 0.0),
        2 | 3 => random.power_of_ten(-4.0, 0.0),
        _ => 1.0 - random.f64(),
    };
    polar(z, TAU * f64::from(unit(random))).to_f32()
}

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

// ---------------------------------------------------------------------------------------------------------------------
// Albedo on a grid of angles and roughnesses
// ---------------------------------------------------------------------------------------------------------------------

/// 16 cosines from 0.02 to 1 and as many roughnesses √α from 0.1 to 1.
fn grid() -> impl Iterator<Item = (f64, f32)> {
    let at = |k: u32| f64::from(k) / 15.0;
    (0..256).map(move |k| (0.02 + 0.98 * at(k / 16), (0.1 + 0.9 * at(k % 16)).powi(2) as f32))
}

const MASKINGS: [(Masking, G2); 2] =
    [(Masking::Correlated, G2::Correlated), (Masking::Separable, G2::Separable)];

fn surface(alpha: f32, masking: Masking) -> Microfacet {
    Microfacet { alpha: Vec2::splat(alpha), distribution: Distribution::Ggx, masking }
}

/// Albedo by samples, in red: the parts that are reflected and refracted.
fn parts(lobe: &impl Lobe, wo: Vec3, n: u32) -> [f64; 2] {
    let mut parts = [0.0; 2];
    for (uc, u) in points(n) {
        for s in choices(uc).filter_map(|uc| lobe.sample(wo, uc, u)) {
            let energy = f64::from(s.weight.x) * f64::from(s.eta).powi(2);
            parts[usize::from(s.wi.z < 0.0)] += energy / (8.0 * f64::from(n));
        }
    }
    parts
}

/// ∫ over the normals visible from `wo` of what facets reflect, times the part that is not hidden.
fn reflected(wo: DVec3, alpha: f64, kind: G2, reflectance: impl Fn(f64) -> f64) -> f64 {
    let g1 = 1.0 / (1.0 + ggx::lambda(wo, alpha));
    let of_facet = |wm: DVec3| {
        let cos = wo.dot(wm).clamp(0.0, 1.0);
        let wi = 2.0 * cos * wm - wo;
        if wi.z > 0.0 { reflectance(cos) * ggx::g2(wo, wi, alpha, kind) / g1 } else { 0.0 }
    };
    Cells { alpha, size: [16, 32] }.visible(wo, 6, of_facet).iter().sum()
}

#[test]
fn rough_conductors_reflect_their_albedo() {
    let mut worst = [0.0_f64; 2];
    for (i, (cos, alpha)) in grid().enumerate() {
        let ((_, eta, k), (masking, kind)) = (METALS[i % METALS.len()], MASKINGS[i / 16 % 2]);
        let lobe = Conductor { microfacet: surface(alpha, masking), eta, k };
        let wo = polar(cos, 0.4);
        let [found, _] = parts(&lobe, wo.to_f32(), 1 << 14);
        let of =
            |alpha: f64| reflected(wide(wo.to_f32()), alpha, kind, |c| fresnel(c, eta.x.into(), k.x.into()));
        let expected = of(alpha.into());
        worst[0] = worst[0].max((found / expected - 1.0).abs());
        worst[1] = worst[1].max((found / of(1.05 * f64::from(alpha)) - 1.0).abs());
    }
    println!("albedo of rough conductors to {:.1e}, of rougher ones {:.1e}", worst[0], worst[1]);
    assert!(worst[0] < 2e-3, "{worst:?}");
    assert!(worst[1] > 1e-2, "control: {worst:?}");
}

/// Reflectance and cosine of refraction by Snell's and Fresnel's laws.
fn interface(cos_i: f64, eta: f64) -> (f64, f64) {
    let sin2 = (1.0 - cos_i * cos_i).max(0.0) / (eta * eta);
    if sin2 >= 1.0 {
        return (1.0, 0.0);
    }
    let cos_t = (1.0 - sin2).sqrt();
    let s = (cos_i - eta * cos_t) / (cos_i + eta * cos_t);
    let p = (eta * cos_i - cos_t) / (eta * cos_i + cos_t);
    (0.5 * (s * s + p * p), cos_t)
}

/// Transmitted part, with separable masking and shadowing.
fn transmitted(wo: DVec3, alpha: f64, eta: f64) -> f64 {
    let of_facet = |wm: DVec3| {
        let wm = wm.normalize();
        let cos = wo.dot(wm).clamp(0.0, 1.0);
        let (r, cos_t) = interface(cos, eta);
        let wi = (cos / eta - cos_t) * wm - wo / eta;
        if wi.z < 0.0 { (1.0 - r) / (1.0 + ggx::lambda(wi, alpha)) } else { 0.0 }
    };
    Cells { alpha, size: [16, 32] }.visible(wo, 6, of_facet).iter().sum()
}

#[test]
fn rough_dielectrics_reflect_and_transmit_their_albedos() {
    let mut worst = [0.0_f64; 2];
    for (i, (cos, alpha)) in grid().enumerate() {
        let eta = [1.5, 1.0 / 1.5, 1.33, 2.4_f32][i / 16 % 4];
        let lobe = Dielectric { microfacet: surface(alpha, Masking::Separable), eta };
        let wo = polar(cos, 0.4);
        let found = parts(&lobe, wo.to_f32(), 1 << 13);
        let of = |eta: f64| {
            let (wo, a) = (wide(wo.to_f32()), f64::from(alpha));
            [reflected(wo, a, G2::Separable, |c| interface(c, eta).0), transmitted(wo, a, eta)]
        };
        let error = |expected: [f64; 2]| (0..2).map(|k| (found[k] - expected[k]).abs()).fold(0.0, f64::max);
        worst[0] = worst[0].max(error(of(eta.into())));
        worst[1] = worst[1].max(error(of(1.05 * f64::from(eta))));
    }
    println!("albedos of rough dielectrics to {:.1e}, of denser ones {:.1e}", worst[0], worst[1]);
    assert!(worst[0] < 2e-3, "{worst:?}");
    assert!(worst[1] > 1e-2, "control: {worst:?}");
}

/// Those without roughness, on 16 cosines and as many indices; and diffuse ones, by quadrature of their f.
#[test]
fn smooth_lobes_and_diffuse_ones_have_their_albedos() {
    let mut worst = [0.0_f64; 4];
    for (i, (cos, _)) in grid().enumerate() {
        let wo = polar(cos, 0.4).to_f32();
        let z = f64::from(wo.z);
        let eta = 0.4 + 0.19 * (i % 16) as f32;
        let glass = parts(&SmoothDielectric { eta }, wo, 1 << 10);
        let (r, _) = interface(z, eta.into());
        worst[0] = worst[0].max((glass[0] - r).abs()).max((glass[1] - (1.0 - r)).abs());
        let (eta, k) = (Vec3::splat(eta), Vec3::splat(0.25 * (i % 16) as f32));
        let [mirror, _] = parts(&SmoothConductor { eta, k }, wo, 1);
        worst[1] = worst[1].max((mirror / fresnel(z, eta.x.into(), k.x.into()) - 1.0).abs());
        let reflectance = (i % 16) as f32 / 15.0;
        let paint = Diffuse { reflectance: Vec3::splat(reflectance) };
        let over = |c: f64| TAU * c * f64::from(paint.eval(wo, polar(c, 1.0).to_f32()).x);
        worst[2] = worst[2].max((integrate(0.0, 1.0, 1, over) - f64::from(reflectance)).abs());
        worst[3] = worst[3].max((glass[0] - interface(z, 1.05 * f64::from(eta.x)).0).abs());
    }
    println!(
        "albedos: glass to {:.1e}, mirrors {:.1e}, diffuse {:.1e}; denser {:.1e}",
        worst[0], worst[1], worst[2], worst[3]
    );
    assert!(worst[0] < 2e-3 && worst[1] < 2e-4 && worst[2] < 1e-5, "{worst:?}");
    assert!(worst[3] > 1e-2, "control: {worst:?}");
}
