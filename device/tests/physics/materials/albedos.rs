//! Albedos on a grid of angles and roughnesses against quadrature in f64.

use std::f64::consts::TAU;

use device::bsdf::microfacet::{Distribution, Masking, Microfacet};
use device::bsdf::{Conductor, Dielectric, Diffuse, Lobe, SmoothConductor, SmoothDielectric};
use glam::{Vec2, Vec3};

use crate::common::ggx::{Cells, G2, METALS, fresnel};
use crate::common::vector::{DVec3, wide};
use crate::common::{choices, ggx, integrate, points, polar};

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
