use std::convert::Infallible;

use device::bsdf::microfacet::{Distribution, Masking, Microfacet};
use device::bsdf::{Bsdf, Conductor, Dielectric, Diffuse, SmoothDielectric};

use super::super::batch::{BatchLobe, Samples};
use super::*;

fn ggx(alpha: Vec2) -> Microfacet {
    Microfacet { alpha, distribution: Distribution::Ggx, masking: Masking::Correlated }
}

fn lambert(reflectance: f32) -> Bsdf {
    Diffuse { reflectance: Vec3::splat(reflectance) }.into()
}

fn gold(alpha: Vec2) -> Bsdf {
    let (eta, k) = (Vec3::new(0.14, 0.37, 1.44), Vec3::new(3.98, 2.38, 1.60));
    Conductor { microfacet: ggx(alpha), eta, k }.into()
}

/// A lobe whose answers are spoiled, as those of a program with a mistake.
struct Spoiled<'a> {
    lobe: BatchLobe<'a, Bsdf>,
    /// Factor on f, of ωo and ωi.
    f: fn(&[f32; 3], &[f32; 3]) -> f32,
    /// Factor on densities, of `pdf` and of samples.
    pdf: fn(&[f32; 3]) -> f32,
    /// Factor on weights.
    weight: fn(&[f32; 3], &[f32; 3]) -> f32,
}

impl<'a> Spoiled<'a> {
    fn new(lobe: &'a Bsdf) -> Self {
        Self { lobe: BatchLobe(lobe), f: |_, _| 1.0, pdf: |_| 1.0, weight: |_, _| 1.0 }
    }
}

impl BatchBsdf for Spoiled<'_> {
    type Error = Infallible;

    fn eval(&mut self, wo: &[[f32; 3]], wi: &[[f32; 3]], f: &mut [[f32; 3]]) -> Result<(), Infallible> {
        self.lobe.eval(wo, wi, f)?;
        for (f, (wo, wi)) in f.iter_mut().zip(wo.iter().zip(wi)) {
            *f = f.map(|x| x * (self.f)(wo, wi));
        }
        Ok(())
    }

    fn pdf(&mut self, wo: &[[f32; 3]], wi: &[[f32; 3]], pdf: &mut [f32]) -> Result<(), Infallible> {
        self.lobe.pdf(wo, wi, pdf)?;
        pdf.iter_mut().zip(wi).for_each(|(pdf, wi)| *pdf *= (self.pdf)(wi));
        Ok(())
    }

    fn sample(&mut self, wo: &[[f32; 3]], u: &[[f32; 3]], to: Samples<'_>) -> Result<(), Infallible> {
        let Samples { wi, weight, pdf, eta, flags } = to;
        let room = Samples { wi: &mut *wi, weight: &mut *weight, pdf: &mut *pdf, eta, flags };
        self.lobe.sample(wo, u, room)?;
        for i in 0..wi.len() {
            pdf[i] *= (self.pdf)(&wi[i]);
            weight[i] = weight[i].map(|x| x * (self.weight)(&wo[i], &wi[i]));
        }
        Ok(())
    }
}

/// Tests with fewer samples, so that they are quick.
fn quick() -> Conformance {
    Conformance { samples: 1 << 16, ..Conformance::default() }
}

/// The names of the tests that a BSDF has not passed.
fn failures(bsdf: &mut Spoiled<'_>) -> Vec<&'static str> {
    let Ok(report) = conformance(bsdf, &quick());
    report.findings.iter().for_each(|finding| println!("{finding:?}"));
    report.findings.iter().filter(|finding| !finding.passed).map(|finding| finding.name).collect()
}

#[test]
fn what_is_right_passes() {
    let glass = Dielectric { microfacet: ggx(Vec2::splat(0.3)), eta: 1.5 };
    for lobe in [
        lambert(0.8),
        lambert(1.0),
        gold(Vec2::splat(0.5)),
        gold(Vec2::new(0.4, 0.1)),
        gold(Vec2::splat(0.02)),
        glass.into(),
        SmoothDielectric { eta: 1.5 }.into(),
    ] {
        assert_eq!(failures(&mut Spoiled::new(&lobe)), [""; 0], "{lobe:?}");
    }
}

/// Each mistake is found by the test that is for it.
#[test]
fn control_mistakes_are_rejected() {
    let (paint, metal) = (lambert(0.8), gold(Vec2::splat(0.3)));
    for lobe in [&paint, &metal] {
        let right = || Spoiled::new(lobe);
        // A density that is a hundredth too large or too small, and weights that go with it.
        let found = failures(&mut Spoiled { pdf: |_| 1.01, weight: |_, _| 1.0 / 1.01, ..right() });
        assert!(found.contains(&"normalization"), "{found:?}");
        let found = failures(&mut Spoiled { pdf: |_| 0.99, weight: |_, _| 1.0 / 0.99, ..right() });
        assert!(found.contains(&"density"), "{found:?}");
        // One that is uneven.
        let found = failures(&mut Spoiled { pdf: |wi| 1.0 + 0.3 * wi[0], ..right() });
        assert!(found.contains(&"weight") && found.contains(&"density"), "{found:?}");
        let slope = |wo: &[f32; 3], _: &[f32; 3]| wo[2];
        assert_eq!(failures(&mut Spoiled { f: slope, weight: slope, ..right() }), ["reciprocity"]);
        assert_eq!(failures(&mut Spoiled { weight: |_, _| 1.05, ..right() }), ["weight"]);
        let found = failures(&mut Spoiled { f: |_, _| 1.5, weight: |_, _| 1.5, ..right() });
        assert!(found.contains(&"energy"), "{found:?}");
        let found = failures(&mut Spoiled { pdf: |wi| if wi[0] > 0.5 { 0.0 } else { 1.0 }, ..right() });
        assert!(found.contains(&"coverage"), "{found:?}");
        let nan = |_: &[f32; 3], wi: &[f32; 3]| if wi[0] > 0.5 { f32::NAN } else { 1.0 };
        assert!(failures(&mut Spoiled { f: nan, ..right() }).contains(&"finite"));
    }
}

/// A hundredth more than arrives.
#[test]
fn control_a_little_light_made_of_nothing_is_found() {
    let white = lambert(1.0);
    let more = |_: &[f32; 3], _: &[f32; 3]| 1.01;
    assert_eq!(failures(&mut Spoiled { f: more, weight: more, ..Spoiled::new(&white) }), ["energy"]);
}

/// As often as they are told to reject what is right, and not more often.
#[test]
fn false_alarms_are_as_rare_as_promised() {
    const TRIALS: u32 = 200;
    let metal = gold(Vec2::splat(0.3));
    let is_alarm = |seed: &u32| {
        let how = Conformance { samples: 1 << 13, significance: 0.4, seed: *seed, ..Conformance::default() };
        let Ok(report) = conformance(&mut BatchLobe(&metal), &how);
        let of_chance = |finding: &&Finding| is_p(finding.name);
        assert!(report.findings.iter().filter(|f| !of_chance(f)).all(|f| f.passed), "{report:?}");
        !report.passed()
    };
    let alarms = (0..TRIALS).filter(is_alarm).count();
    println!("{alarms} false alarms of {TRIALS}");
    // Gold takes light away, so that only the half of them that is the density's is to be expected: 40 ± 6.
    assert!((17..=63).contains(&alarms), "{alarms}");
}
