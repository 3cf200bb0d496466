//! Materials on arrays of directions, on every machine: against closed forms, and against the lobe by itself.

use std::f64::consts::{FRAC_1_PI, TAU};

use device::bsdf::Lobe;
use device::rng::{pcg4d, uniform};
use glam::{DVec3, Vec2, Vec3};
use renderer::Machine;
use renderer::assemble::Swatches;
use renderer::bsdf::{Conformance, Drawn, SampleColumns, Subject, conformance};
use torrance_scene::{Masking, StandaloneMaterial, material_from_text};
use torrance_tests::machines;

fn subject(text: &str) -> Subject {
    let StandaloneMaterial { material, images, textures } =
        material_from_text("test", text).unwrap_or_else(|e| panic!("{text}: {e}"));
    Subject::new(material, Masking::Correlated, Swatches::new(&images, &textures).unwrap())
}

/// The host, and a GPU if there is one.
fn started() -> Vec<Machine> {
    machines().into_iter().map(torrance_tests::Machine::start).collect()
}

/// A direction whose cosine is at least 0.05: closer to the surface `f32` is badly conditioned.
fn direction(i: usize, stream: u32) -> [f32; 3] {
    let [a, b, ..] = pcg4d([i as u32, stream, 3, 1]).map(uniform);
    let z = 0.05 + 0.95 * f64::from(a);
    let (sin, (y, x)) = ((1.0 - z * z).sqrt(), (TAU * f64::from(b)).sin_cos());
    DVec3::new(sin * x, sin * y, z).as_vec3().to_array()
}

fn directions(n: usize, stream: u32) -> Vec<[f32; 3]> {
    (0..n).map(|i| direction(i, stream)).collect()
}

fn wide(v: [f32; 3]) -> DVec3 {
    Vec3::from(v).as_dvec3()
}

/// f and pdf.
type Values = (DVec3, f64);

/// What a machine says of pairs of directions.
fn values(machine: &mut Machine, subject: &Subject, wo: &[[f32; 3]], wi: &[[f32; 3]]) -> Vec<Values> {
    let (mut f, mut pdf) = (vec![[0.0; 3]; wi.len()], vec![0.0; wi.len()]);
    let mut laboratory = machine.laboratory(subject).unwrap();
    laboratory.eval(wo, wi, &mut f).unwrap();
    laboratory.pdf(wo, wi, &mut pdf).unwrap();
    f.into_iter().zip(pdf).map(|(f, pdf)| (wide(f), f64::from(pdf))).collect()
}

/// Largest relative difference of f or pdf, but for one in a thousand.
fn nearly_most(found: &[Values], expected: &[Values]) -> f64 {
    let error = |(a, b): (&Values, &Values)| {
        let f = (a.0 - b.0).abs().max_element() / b.0.max_element().max(1e-6);
        f.max((a.1 - b.1).abs() / b.1.max(1e-6))
    };
    let mut errors: Vec<_> = found.iter().zip(expected).map(error).collect();
    errors.sort_by(f64::total_cmp);
    errors[errors.len() * 999 / 1000]
}

/// f and pdf of a conductor with GGX's facets that reflects everything, with height-correlated masking, by the definitions
/// (Heitz 2014; the density of visible normals in a bounded cap, Eto & Tokuyoshi 2023).
fn white_ggx(alpha: f64, wo: DVec3, wi: DVec3) -> Values {
    let wm = (wo + wi).normalize();
    let lambda = |w: DVec3| {
        let tan2 = (1.0 - w.z * w.z) / (w.z * w.z);
        0.5 * ((1.0 + alpha * alpha * tan2).sqrt() - 1.0)
    };
    let t = (wm.x * wm.x + wm.y * wm.y) / (alpha * alpha) + wm.z * wm.z;
    let d = FRAC_1_PI / (alpha * alpha * t * t);
    let f = d / ((1.0 + lambda(wo) + lambda(wi)) * 4.0 * wo.z * wi.z);
    let length = (alpha * wo.x).hypot(alpha * wo.y).hypot(wo.z);
    let (a2, s2) = (alpha * alpha, (1.0 + wo.x.hypot(wo.y)).powi(2));
    let k = (1.0 - a2) * s2 / (s2 + a2 * wo.z * wo.z);
    let bounded = (length + wo.z) / (length + k * wo.z);
    (DVec3::splat(f), bounded * d / ((1.0 + lambda(wo)) * 4.0 * wo.z))
}

/// Both by closed forms; the controls are of other parameters.
#[test]
fn arrays_agree_with_closed_forms() {
    const N: usize = 50_000;
    let (wo, wi) = (directions(N, 0), directions(N, 1));
    let pairs = || wo.iter().zip(&wi).map(|(wo, wi)| (wide(*wo), wide(*wi)));
    let lambert = |(_, wi): (DVec3, DVec3)| (DVec3::new(0.8, 0.5, 0.2) * FRAC_1_PI, wi.z * FRAC_1_PI);
    let lambert: Vec<_> = pairs().map(lambert).collect();
    let ggx = |alpha: f64| pairs().map(|(wo, wi)| white_ggx(alpha, wo, wi)).collect::<Vec<_>>();
    let (white, other) = (ggx(0.36), ggx(0.361));
    for mut machine in started() {
        let paint = subject("type = 'diffuse', reflectance = [0.8, 0.5, 0.2]");
        let error = nearly_most(&values(&mut machine, &paint, &wo, &wi), &lambert);
        assert!(error < 1e-6, "{}: {error:e}", machine.name());
        let metal = subject("type = 'conductor', eta = 0, k = 1, roughness = 0.6");
        let found = values(&mut machine, &metal, &wo, &wi);
        let (error, control) = (nearly_most(&found, &white), nearly_most(&found, &other));
        println!("{}: GGX to {error:.1e}; control {control:.1e}", machine.name());
        assert!(error < 1e-3 && control > 2e-3, "{}: {error:e}, control {control:e}", machine.name());
    }
}

/// Materials of every kind, and the same with a parameter that is a little different.
const KINDS: [[&str; 2]; 9] = [
    ["type = 'diffuse', reflectance = 0.5", "type = 'diffuse', reflectance = 0.501"],
    [
        "type = 'diffuse', reflectance = 0.5, roughness = 0.4",
        "type = 'diffuse', reflectance = 0.5, roughness = 0.41",
    ],
    [
        "type = 'conductor', metal = 'gold', roughness = 0.5",
        "type = 'conductor', metal = 'gold', roughness = 0.505",
    ],
    [
        "type = 'conductor', metal = 'gold', roughness = 0.5, scattering = 'compensated'",
        "type = 'conductor', metal = 'gold', roughness = 0.505, scattering = 'compensated'",
    ],
    ["type = 'dielectric', ior = 1.5, roughness = 0.5", "type = 'dielectric', ior = 1.5, roughness = 0.505"],
    [
        "type = 'plastic', reflectance = [0.1, 0.3, 0.7], roughness = 0.4",
        "type = 'plastic', reflectance = [0.1, 0.3, 0.7], roughness = 0.41",
    ],
    ["type = 'sheen', color = 0.8, roughness = 0.5", "type = 'sheen', color = 0.8, roughness = 0.51"],
    [
        "type = 'principled', base_color = [0.8, 0.4, 0.1], metallic = 0.3, roughness = 0.5, clearcoat = 0.5",
        "type = 'principled', base_color = [0.8, 0.4, 0.1], metallic = 0.3, roughness = 0.505, clearcoat = 0.5",
    ],
    [
        "type = 'gltf', base_color = [0.8, 0.4, 0.1], metallic = 0.2, roughness = 0.5",
        "type = 'gltf', base_color = [0.8, 0.4, 0.1], metallic = 0.2, roughness = 0.505",
    ],
];

/// f and pdf are the lobe's, for pairs and for one direction to the viewer.
#[test]
fn arrays_agree_with_the_lobe() {
    const N: usize = 20_000;
    let wi = directions(N, 1);
    for mut machine in started() {
        for [text, other] in KINDS {
            for wo in [directions(N, 0), directions(1, 2)] {
                let (subject, control) = (subject(text), subject(other));
                let lobe = subject.bsdf();
                let pair = |(i, wi): (usize, &[f32; 3])| {
                    let (f, pdf) = lobe.eval_pdf(wo[i % wo.len()].into(), (*wi).into());
                    (f.as_dvec3(), f64::from(pdf))
                };
                let expected: Vec<_> = wi.iter().enumerate().map(pair).collect();
                let error = nearly_most(&values(&mut machine, &subject, &wo, &wi), &expected);
                let control = nearly_most(&values(&mut machine, &control, &wo, &wi), &expected);
                println!("{}: {text}: {error:.1e}; control {control:.1e}", machine.name());
                assert!(error < 3e-4 && control > 6e-4, "{}: {text}: {error:e}, {control:e}", machine.name());
            }
        }
    }
}

/// The part of samples that differ from those of the lobe by more than rounding explains.
fn otherwise(machine: &mut Machine, subject: &Subject, lobe: &impl Lobe) -> f64 {
    const N: usize = 20_000;
    let wo = directions(N, 0);
    let u: Vec<_> = (0..N)
        .map(|i| {
            let [a, b, c, _] = pcg4d([i as u32, 9, 9, 9]).map(uniform);
            [a, b, c]
        })
        .collect();
    let mut found = SampleColumns::new(N);
    machine.laboratory(subject).unwrap().sample(&wo, &u, found.room()).unwrap();
    let differs = |i: &usize| {
        let i = *i;
        let [uc, x, y] = u[i];
        let Some(s) = lobe.sample(wo[i].into(), uc, Vec2::new(x, y)) else { return found.flags[i] != 0 };
        let near = |a: f32, b: f32| (a - b).abs() <= 1e-3 * a.abs().max(b.abs()).max(1e-2);
        let [wi, weight] = [found.wi[i], found.weight[i]].map(Vec3::from);
        let is_near = wi.abs_diff_eq(s.wi, 1e-3)
            && weight.to_array().into_iter().zip(s.weight.to_array()).all(|(a, b)| near(a, b))
            && near(found.pdf[i], s.pdf)
            && near(found.eta[i], s.eta);
        let flags = Drawn::VALID
            | if s.pdf == 0.0 { Drawn::DELTA } else { 0 }
            | if s.wi.z < 0.0 { Drawn::TRANSMITTED } else { 0 };
        !is_near || found.flags[i] != flags
    };
    (0..N).filter(differs).count() as f64 / N as f64
}

#[test]
fn samples_are_the_lobe_s() {
    let smooth = [
        ["type = 'dielectric', ior = 1.5, roughness = 0", "type = 'dielectric', ior = 1.55, roughness = 0"],
        ["type = 'thin_dielectric', ior = 1.5", "type = 'thin_dielectric', ior = 1.7"],
        [
            "type = 'conductor', metal = 'gold', roughness = 0",
            "type = 'conductor', metal = 'copper', roughness = 0",
        ],
        [
            "type = 'plastic', reflectance = 0.5, roughness = 0",
            "type = 'plastic', reflectance = 0.6, roughness = 0",
        ],
    ];
    for mut machine in started() {
        for [text, other] in KINDS.into_iter().chain(smooth) {
            let (subject, control) = (subject(text), subject(other));
            let found = otherwise(&mut machine, &subject, &subject.bsdf());
            let control = otherwise(&mut machine, &control, &subject.bsdf());
            println!("{}: {text}: {found:.1e} otherwise; control {control:.1e}", machine.name());
            assert!(found < 2e-3 && control > 4e-3, "{}: {text}: {found}, {control}", machine.name());
        }
    }
}

/// More directions than are in memory at a time.
#[test]
fn long_arrays_are_evaluated_in_parts() {
    let n = tier::choose(1 << 21, 10_000_000) + 12_345;
    let subject = subject("type = 'conductor', metal = 'gold', roughness = 0.5");
    let (wo, wi) = (directions(n, 0), directions(n, 1));
    for mut machine in started() {
        let mut f = vec![[0.0; 3]; n];
        let mut laboratory = machine.laboratory(&subject).unwrap();
        laboratory.eval(&wo, &wi, &mut f).unwrap();
        // The same, of places anywhere in them, by themselves.
        for at in [0, (1 << 20) - 1, 1 << 20, n - 1] {
            let mut alone = [[0.0; 3]];
            laboratory.eval(&wo[at..=at], &wi[at..=at], &mut alone).unwrap();
            assert_eq!(f[at], alone[0], "{at}");
        }
        assert!(f[0] != f[1 << 20], "the control");
    }
}

/// What machines evaluate is what samples are drawn by; the control is one material's samples by another's density.
#[test]
fn materials_on_machines_conform() {
    let how = Conformance { samples: tier::choose(1 << 15, 1 << 18), ..Conformance::default() };
    let texts =
        ["type = 'diffuse', reflectance = 0.5", "type = 'conductor', metal = 'gold', roughness = 0.5"];
    for mut machine in started() {
        for text in texts {
            let report = conformance(&mut machine.laboratory(&subject(text)).unwrap(), &how).unwrap();
            assert!(report.passed(), "{}: {text}: {report:#?}", machine.name());
        }
    }
}
