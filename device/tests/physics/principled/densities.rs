//! Densities of directions, by a χ² test.

use device::bsdf::Lobe;
use device::bsdf::microfacet::Masking;
use device::bsdf::principled::Parameters;
use glam::Vec3;

use crate::common::lobes::samples;
use crate::common::polar;
use crate::common::statistics::{Verdicts, chi2_test};
use crate::common::vector::{DVec3, wide};

use super::half_vectors::{HalfVectors, reflected, refracted};
use super::materials;

/// P-value of the directions that `drawn_by` draws, and of how often it draws none, under the density of `p`.
fn densities(p: &Parameters, drawn_by: &Parameters, masking: Masking, front: bool, wo: Vec3) -> f64 {
    const N: usize = 40_000;
    let (lobe, cells, o) = (p.lobe(masking, front), HalfVectors::new(p), wide(wo));
    let eta = if front { f64::from(p.eta) } else { 1.0 / f64::from(p.eta) };
    let n = cells.size[0] * cells.size[1];
    let mut counts = vec![0; 2 * n + 1];
    for s in samples(&drawn_by.lobe(masking, front), wo, N, u64::from(wo.z.to_bits())) {
        let cell = s.map_or(2 * n, |s| {
            let i = wide(s.wi);
            let (side, half) = if i.z > 0.0 { (0, o + i) } else { (n, o + eta * i) };
            side + cells.cell(if half.z < 0.0 { -half } else { half })
        });
        counts[cell] += 1;
    }
    let pdf = |(wi, area): (DVec3, f64)| N as f64 * area * f64::from(lobe.pdf(wo, wi.to_f32()));
    let mut expected = vec![0.0; 2 * n];
    cells.for_each_point(|cell, wm, area| {
        expected[cell] += area * reflected(o, wm).map_or(0.0, pdf);
        expected[n + cell] += area * refracted(o, wm, eta).map_or(0.0, pdf);
    });
    // What leads nowhere is a cell too, unless it is so rare that the error of quadrature hides it.
    let (none, in_vain) = (N as f64 - expected.iter().sum::<f64>(), counts[2 * n]);
    if none.abs() < 2e-3 * N as f64 && in_vain < 4 * N as u64 / 1000 {
        counts.pop();
        let scale = (N as u64 - in_vain) as f64 / (N as f64 - none);
        expected.iter_mut().for_each(|e| *e *= scale);
    } else {
        expected.push(none.max(0.0));
    }
    chi2_test(&counts, &expected)
}

const COSINES: [f64; 5] = [1.0, 0.8, 0.5, 0.2, 0.05];

#[test]
fn directions_are_drawn_with_their_density() {
    let mut verdicts = Verdicts::default();
    for (k, (name, p)) in materials().into_iter().enumerate() {
        for (_, z) in COSINES.into_iter().enumerate().filter(|(j, _)| tier::takes(j + k, 2)) {
            let wo = polar(z, 0.9).to_f32();
            for masking in [Masking::Separable, Masking::Correlated] {
                verdicts.add(densities(&p, &p, masking, true, wo), format!("{name}, cos {z}"));
            }
            if p.spec_trans > 0.0 {
                let p_value = densities(&p, &p, Masking::Separable, false, wo);
                verdicts.add(p_value, format!("{name}, cos {z} from behind"));
            }
        }
    }
    verdicts.report("principled");
    verdicts.assert_none_rejected();
}

#[test]
fn control_other_densities_are_rejected() {
    let mut verdicts = Verdicts::default();
    let wo = polar(0.7, 0.9).to_f32();
    for (name, p) in materials() {
        let gloss = 1.0 - p.clearcoat_gloss;
        let others = [
            ("rougher", Parameters { roughness: p.roughness * 1.1 + 0.05, ..p }, p.eta != 1.0),
            (
                "less metallic",
                Parameters { metallic: p.metallic * 0.5, ..p },
                p.metallic * p.spec_trans > 0.0,
            ),
            ("less clear", Parameters { spec_trans: p.spec_trans * 0.8, ..p }, p.spec_trans > 0.0),
            ("less coated", Parameters { clearcoat: p.clearcoat * 0.1, ..p }, p.clearcoat > 0.0),
            ("other gloss", Parameters { clearcoat_gloss: gloss, ..p }, p.clearcoat > 0.0),
            ("denser", Parameters { eta: p.eta * 1.1, ..p }, p.spec_trans > 0.0),
        ];
        for (what, other, tells) in others {
            if tells {
                let p_value = densities(&p, &other, Masking::Separable, true, wo);
                verdicts.add(p_value, format!("{name}, {what}"));
            }
        }
    }
    verdicts.report_largest("controls");
    verdicts.assert_all_rejected();
}
