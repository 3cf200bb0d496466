//! Transmittance and internal reflectance of coats against quadrature.

use device::bsdf::microfacet::{Distribution, Masking, Microfacet};
use device::bsdf::plastic::{Coat, smooth_internal};

use crate::common::facets::Facets;
use crate::common::{integrate, polar};

use super::{Boundary, MASKINGS, fresnel, surface};

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
