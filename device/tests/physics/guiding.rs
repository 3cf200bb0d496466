//! Guides: whether densities are those of what is drawn, by closed forms and quadrature in `f64`, and whether what is fitted is what records
//! are of.

use std::f64::consts::{PI, TAU};

use device::bvh::Portable;
use device::function::Function;
use device::guiding::key::{Bounds, DIGITS, child};
use device::guiding::mixture::LOBES;
use device::guiding::{
    Fit, FitArgs, Guide, GuideNode, Mixture, Record, Span, Split, SplitArgs, TreeView, vmf,
};
use device::light::tree::Facing;
use device::row::Row;
use glam::{Vec2, Vec3};
use primitives::Ptr;

use crate::common::statistics::{Verdicts, chi2_test};
use crate::common::vector::{DVec3, wide};
use crate::common::{Random, integrate, polar};

/// The distribution function of 1 − cos θ.
fn vmf_cdf(kappa: f64, t: f64) -> f64 {
    (-kappa * t).exp_m1() / (-2.0 * kappa).exp_m1()
}

#[test]
fn lobes_are_normalized() {
    for kappa in [0.1_f32, 0.7, 3.0, 40.0, 1e3, 1e5] {
        let end = (40.0 / f64::from(kappa)).min(2.0);
        let density = |t: f64| f64::from(vmf::peak(kappa) * vmf::falloff(kappa, t as f32));
        let all = TAU * integrate(0.0, end, 400, density);
        assert!((all - 1.0).abs() < 1e-5, "{kappa}: {all}");
    }
}

#[test]
fn lobes_are_drawn_by_their_density() {
    const CELLS: usize = 16;
    let (mut verdicts, mut controls) = (Verdicts::default(), Verdicts::default());
    let mut random = Random::new(5);
    for kappa in [0.1_f32, 1.0, 20.0, 500.0, 1e4] {
        let mean = random.direction();
        let frame = device::sampling::Frame::from_z(
            Vec3::new(mean.x as f32, mean.y as f32, mean.z as f32).normalize(),
        );
        for (kappa_of_test, verdicts) in [(kappa, &mut verdicts), (1.1 * kappa + 0.2, &mut controls)] {
            let mut counts = vec![0; CELLS * CELLS];
            for _ in 0..200_000 {
                let w = frame.to_local(vmf::sample(frame.z, kappa, random.vec2()));
                // 1 − z would be of few digits.
                let t = if w.z > 0.0 {
                    wide(w).x.hypot(wide(w).y).powi(2) / (1.0 + f64::from(w.z))
                } else {
                    1.0 - f64::from(w.z)
                };
                let at = |x: f64| ((x * CELLS as f64) as usize).min(CELLS - 1);
                let turn = f64::from(w.y).atan2(f64::from(w.x)) / TAU + 0.5;
                counts[at(vmf_cdf(kappa_of_test.into(), t)) * CELLS + at(turn)] += 1;
            }
            let expected = vec![200_000.0 / (CELLS * CELLS) as f64; CELLS * CELLS];
            verdicts.add(chi2_test(&counts, &expected), format!("kappa {kappa}"));
        }
    }
    verdicts.assert_none_rejected();
    controls.assert_all_rejected();
}

/// The mean cosine is coth κ − 1/κ.
#[test]
fn concentrations_are_those_of_mean_cosines() {
    for kappa in [0.5_f64, 2.0, 10.0, 100.0, 1e4] {
        let mean_cos = 1.0 / kappa.tanh() - 1.0 / kappa;
        let found = f64::from(vmf::concentration(mean_cos as f32));
        assert!((found / kappa - 1.0).abs() < 0.05, "{kappa}: {found}");
    }
    assert_eq!(vmf::concentration(0.0), vmf::MIN_KAPPA);
    assert_eq!(vmf::concentration(1.0), vmf::MAX_KAPPA);
}

/// Any mixture, of lobes that are no narrower than cells of a test.
fn mixture(random: &mut Random) -> Mixture {
    let mut mixture = Mixture {
        mean: [Row::ZERO; 3],
        kappa: Row::ZERO,
        weight: Row::ZERO,
        peak: Row::ZERO,
        per_distance: Row::ZERO,
        pivot: Vec3::new(0.3, -0.2, 0.5),
        bsdf: 0.5,
        scattered: 0.0,
        moments: [0.0; 2],
        reserved: 0.0,
    };
    let weights: Vec<f64> = (0..LOBES).map(|_| random.f64()).collect();
    let all: f64 = weights.iter().sum();
    for (k, weight) in weights.iter().enumerate() {
        let mean = random.direction();
        for (row, x) in mixture.mean.iter_mut().zip(mean.to_array()) {
            row.0[k] = x as f32;
        }
        mixture.kappa.0[k] = random.power_of_ten(-0.5, 2.0) as f32;
        mixture.weight.0[k] = (weight / all) as f32;
        mixture.peak.0[k] = mixture.weight.0[k] * vmf::peak(mixture.kappa.0[k]);
        mixture.per_distance.0[k] = if k % 3 == 0 { 0.0 } else { random.within(0.05, 3.0) as f32 };
    }
    mixture
}

/// The density as its definition has it.
fn density(mixture: &Mixture, p: DVec3, w: DVec3) -> f64 {
    let to_pivot = wide(mixture.pivot) - p;
    (0..LOBES).fold(0.0, |sum, k| {
        let [x, y, z] = [0, 1, 2].map(|c| f64::from(mixture.mean[c].0[k]));
        let per_distance = f64::from(mixture.per_distance.0[k]).min(0.9 / to_pivot.length().max(1e-30));
        let towards = (DVec3::new(x, y, z) + per_distance * to_pivot).normalize();
        let kappa = f64::from(mixture.kappa.0[k]);
        let peak = kappa / (TAU * -(-2.0 * kappa).exp_m1());
        sum + f64::from(mixture.weight.0[k]) * peak * (kappa * (towards.dot(w) - 1.0)).exp()
    })
}

#[test]
fn mixtures_are_drawn_by_their_density() {
    const CELLS: [usize; 2] = [16, 32];
    const SUB: usize = 12;
    const N: u32 = 200_000;
    let (mut verdicts, mut controls) = (Verdicts::default(), Verdicts::default());
    let mut random = Random::new(9);
    for _ in 0..6 {
        let mixture = mixture(&mut random);
        let at = random.in_cube();
        let p = Vec3::new(at.x as f32, at.y as f32, at.z as f32);
        let mut expected = vec![0.0; CELLS[0] * CELLS[1]];
        for (i, expected) in expected.iter_mut().enumerate() {
            for k in 0..SUB * SUB {
                let z = ((i / CELLS[1]) as f64 + ((k / SUB) as f64 + 0.5) / SUB as f64) / CELLS[0] as f64;
                let phi = ((i % CELLS[1]) as f64 + ((k % SUB) as f64 + 0.5) / SUB as f64) / CELLS[1] as f64;
                *expected += density(&mixture, wide(p), polar(2.0 * z - 1.0, TAU * phi));
            }
            *expected *= 4.0 * PI / (CELLS[0] * CELLS[1] * SUB * SUB) as f64;
        }
        let all: f64 = expected.iter().sum();
        assert!((all - 1.0).abs() < 1e-3, "{all}");
        let mut counts = vec![0; expected.len()];
        for _ in 0..N {
            // SAFETY: there is the mixture.
            let (w, pdf) = unsafe {
                let w = Mixture::sample(&mixture, p, random.vec2());
                (w, Mixture::pdf(&mixture, p, w))
            };
            let truth = density(&mixture, wide(p), wide(w));
            assert!((f64::from(pdf) - truth).abs() < 1e-4 * truth + 1e-6, "{pdf}, not {truth}");
            let cell = |x: f64, n: usize| ((x * n as f64) as usize).min(n - 1);
            let z = cell(0.5 * f64::from(w.z) + 0.5, CELLS[0]);
            let phi = cell(f64::from(w.y).atan2(f64::from(w.x)).rem_euclid(TAU) / TAU, CELLS[1]);
            counts[z * CELLS[1] + phi] += 1;
        }
        let expected: Vec<f64> = expected.iter().map(|e| e / all * f64::from(N)).collect();
        verdicts.add(chi2_test(&counts, &expected), format!("from {p}"));
        // As if a part of the samples were of all directions.
        let uniform = f64::from(N) / expected.len() as f64;
        let wrong: Vec<f64> = expected.iter().map(|e| 0.85 * e + 0.15 * uniform).collect();
        controls.add(chi2_test(&counts, &wrong), format!("from {p}"));
    }
    verdicts.assert_none_rejected();
    controls.assert_all_rejected();
}

/// Records of directions that are drawn by `q`, which bring as much light as `brings` says.
fn records(n: usize, random: &mut Random, brings: impl Fn(DVec3, DVec3) -> f64) -> Vec<Record> {
    (0..n)
        .map(|_| {
            let p = 0.2 * random.in_cube();
            let z = random.within(0.0, 1.0).sqrt();
            let w = polar(z, random.within(0.0, TAU));
            let pdf = z / PI;
            Record {
                p: Vec3::new(p.x as f32, p.y as f32, p.z as f32),
                direction: Facing::of_normal(Vec3::new(w.x as f32, w.y as f32, w.z as f32)).0,
                per_distance: 0.0,
                contribution: (brings(p, w) / pdf) as f32,
                pdf: pdf as f32,
                bsdf_pdf: pdf as f32,
            }
        })
        .collect()
}

/// The mixture that is fitted to records.
fn fitted(records: &mut [Record]) -> Mixture {
    let n = records.len() as u32;
    let mut numbers: Vec<u32> = (0..n).collect();
    let (mut regions, mut count) = ([Span { first: 0, end: n }], [1]);
    let mut mixtures = [mixture(&mut Random::new(1))];
    let args = FitArgs {
        records: Ptr::new(records.as_mut_ptr()),
        numbers: Ptr::new(numbers.as_mut_ptr()),
        regions: Ptr::new(regions.as_mut_ptr()),
        region_count: Ptr::new(count.as_mut_ptr()),
        mixtures: Ptr::new(mixtures.as_mut_ptr()),
        most_regions: 1,
    };
    // SAFETY: all of it is there.
    unsafe { Fit::run::<Portable>(0, &args) };
    mixtures[0]
}

/// Light from one small place: most directions go there, and the second moment is near that of light that is all drawn as it comes.
#[test]
fn mixtures_are_fitted_to_what_records_bring() {
    let mut random = Random::new(3);
    let to = DVec3::new(0.6, 0.3, 0.74).normalize();
    let lamp = |_: DVec3, w: DVec3| if w.dot(to) > 0.998 { 100.0 } else { 0.05 };
    let mixture = fitted(&mut records(60_000, &mut random, lamp));
    let inside = |mixture: &Mixture| {
        let mut random = Random::new(4);
        let drawn = |_| {
            // SAFETY: there is the mixture.
            let w = unsafe { Mixture::sample(mixture, mixture.pivot, random.vec2()) };
            usize::from(wide(w).dot(to) > 0.998)
        };
        (0..20_000).map(drawn).sum::<usize>() as f64 / 20_000.0
    };
    // By the light itself, it would be 1.26 of 1.26 + 0.31.
    let part = inside(&mixture);
    assert!(
        part > 0.5,
        "{part} of the directions meet the lamp, of which the mixture draws {}",
        1.0 - mixture.bsdf
    );
    let [with, without] = mixture.moments;
    assert!(with > 0.0 && without / with > 20.0, "second moments {with}, and {without} of the BSDF");
    assert!((0.2..0.6).contains(&mixture.bsdf), "{}", mixture.bsdf);
    // Records that were not drawn so would have it go elsewhere.
    let elsewhere =
        fitted(&mut records(60_000, &mut random, |_, w| if w.dot(to) > 0.998 { 0.0 } else { 1.0 }));
    assert!(inside(&elsewhere) < 0.05);
}

/// Records that have brought nothing count, but teach nothing, alone or among others.
#[test]
fn darkness_teaches_nothing() {
    let mut random = Random::new(8);
    let dark = fitted(&mut records(1000, &mut random, |_, _| 0.0));
    assert_eq!((dark.bsdf, dark.scattered), (1.0, 0.0));
    // SAFETY: there is the mixture.
    let pdf = unsafe { Mixture::pdf(&dark, Vec3::ZERO, Vec3::Z) };
    assert_eq!(pdf, 0.0);
    let mut some = records(1000, &mut random, |_, w| w.z);
    let bright = fitted(&mut some).scattered;
    let mean = some.iter().map(|record| record.contribution).sum::<f32>() / 1000.0;
    assert!((bright / mean - 1.0).abs() < 1e-3, "{bright}, and the mean is {mean}");
    some.extend(records(1000, &mut random, |_, _| 0.0));
    let both = fitted(&mut some).scattered;
    let expected = mean / (1.0 + Record::UNLIT as f32);
    assert!((both / expected - 1.0).abs() < 1e-3, "{both}, not {expected}");
}

/// Every place is in a region, whose records are around it, and which has as many as it should.
#[test]
fn places_are_in_regions_of_their_records() {
    const MANY: u32 = 128;
    const FEW: u32 = 16;
    let mut random = Random::new(12);
    let bounds = Bounds::around(Vec3::ZERO, Vec3::ONE);
    let mut places: Vec<(u64, Vec3)> = (0..20_000)
        .map(|i| {
            let [x, y, z] = [0, 1, 2].map(|_| random.f32());
            // A floor, a wall, and a crowded corner.
            let (p, n) = match i % 4 {
                0 => (Vec3::new(x, 0.0, z), Vec3::Y),
                1 => (Vec3::new(0.0, y, z), Vec3::X),
                _ => (0.02 * Vec3::new(x, y, z), Vec3::Z),
            };
            (bounds.key(p, n), p)
        })
        .collect();
    places.sort_by_key(|place| place.0);
    let mut keys: Vec<u64> = places.iter().map(|place| place.0).collect();
    let n = keys.len() as u32;
    let most = SplitArgs::most_nodes(n, MANY);
    let mut nodes = vec![GuideNode { child: [GuideNode::NOTHING; 8] }; (DIGITS * most) as usize];
    let mut spans = vec![Span { first: 0, end: n }; nodes.len()];
    let mut level_counts = [0; DIGITS as usize];
    level_counts[0] = 1;
    let mut regions = vec![Span { first: 0, end: 0 }; SplitArgs::most_regions(n, MANY, FEW) as usize];
    let mut region_count = [0];
    let tree = TreeView {
        nodes: Ptr::new(nodes.as_mut_ptr()),
        spans: Ptr::new(spans.as_mut_ptr()),
        level_counts: Ptr::new(level_counts.as_mut_ptr()),
        regions: Ptr::new(regions.as_mut_ptr()),
        region_count: Ptr::new(region_count.as_mut_ptr()),
    };
    for level in 0..DIGITS {
        let keys = Ptr::new(keys.as_mut_ptr());
        let args = SplitArgs { tree, keys, level, most_nodes: most, many: MANY, few: FEW };
        for i in 0..most {
            // SAFETY: all of it is there, and there is as much room as there may have to be.
            unsafe { Split::run::<Portable>(i, &args) };
        }
    }
    let regions = &regions[..region_count[0] as usize];
    assert!(regions.len() > 100);
    assert!(regions.iter().all(|span| span.end - span.first >= FEW), "{regions:?}");
    let mixtures = std::ptr::null::<Mixture>();
    let guide = Guide { nodes: nodes.as_ptr(), mixtures, bounds };
    for (i, (key, p)) in places.iter().enumerate() {
        let n = [Vec3::X, -Vec3::X, Vec3::Y, -Vec3::Y, Vec3::Z, -Vec3::Z][child(*key, 0)];
        // SAFETY: its tree is there, and mixtures are not followed.
        let region = unsafe { guide.mixture(*p, n) } as usize / size_of::<Mixture>();
        let Span { first, end } = regions[region];
        assert!((first..end).contains(&(i as u32)), "{p} in region {region} of {first} to {end}");
        assert!(end - first < MANY || end - first <= n_of_parent(&keys, *key, MANY), "{region}");
    }
    // SAFETY: as above.
    assert!(unsafe { guide.mixture(Vec3::splat(0.5), -Vec3::Z) }.is_null(), "nothing faces there");
}

/// The number of keys in the deepest octant around one that is divided.
fn n_of_parent(keys: &[u64], key: u64, many: u32) -> u32 {
    let in_octant = |level: u32| {
        let shift = 3 * (DIGITS - level);
        let first = keys.partition_point(|k| k >> shift < key >> shift);
        (keys.partition_point(|k| k >> shift <= key >> shift) - first) as u32
    };
    (0..DIGITS).map(in_octant).take_while(|n| *n >= many).last().unwrap_or(0)
}

#[test]
fn uniforms_at_their_ends_are_directions() {
    let mut random = Random::new(2);
    let mixture = mixture(&mut random);
    for u in crate::common::adversarial_u() {
        // SAFETY: there is the mixture.
        let w = unsafe { Mixture::sample(&mixture, Vec3::ZERO, u) };
        assert!((w.length() - 1.0).abs() < 1e-4, "{u}: {w}");
    }
    let w = vmf::sample(Vec3::Z, vmf::MAX_KAPPA, Vec2::ZERO);
    assert_eq!(w, Vec3::Z);
}
