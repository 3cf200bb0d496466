//! Densities of directions, by a χ² test.

use device::bsdf::microfacet::Masking;
use device::bsdf::{Lobe, Plastic, SmoothPlastic};
use glam::Vec3;

use crate::common::lobes::samples;
use crate::common::statistics::{Grid, Verdicts, chi2_test};
use crate::common::turn;
use crate::common::vector::wide;

use super::{COLOR, Partition, fresnel, rough, smooth, surface, wo};

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
