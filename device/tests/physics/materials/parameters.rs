//! Materials of every kind with random parameters, their corners among them.

use std::f64::consts::TAU;

use device::bsdf::Bsdf;
use device::bsdf::microfacet::{Distribution, Masking};
use device::bsdf::plastic::Coat;
use device::features::Full;
use device::material::{
    At, Color, ConductorMaterial, DielectricMaterial, DiffuseMaterial, Facets, GltfMaterial, Parameters,
    PlasticMaterial, PrincipledMaterial, Scalar, Scattering, SheenMaterial, ThinDielectricMaterial,
};
use device::scene::SceneView;
use glam::{Vec2, Vec3};

use crate::common::ggx::METALS;
use crate::common::{Random, polar};

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
pub(super) struct Plastics {
    materials: Vec<PlasticMaterial>,
    coats: Vec<Coat>,
}

impl Plastics {
    pub(super) fn new() -> Self {
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

    pub(super) fn scene(&self) -> SceneView {
        let mut scene = crate::common::empty_scene();
        scene.coats = self.coats.as_ptr();
        scene
    }
}

pub(super) const KINDS: [&str; 12] = [
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
pub(super) const PRINCIPLED: usize = 6;

/// Model of multiple scattering between the facets of a kind.
pub(super) const fn scattering(kind: usize) -> Scattering {
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
pub(super) fn any(kind: usize, plastics: &Plastics, at: &At<'_>, random: &mut Random) -> Bsdf {
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
pub(super) fn above(random: &mut Random) -> Vec3 {
    let z = match random.bits() % 8 {
        0 => 1.0,
        1 => random.power_of_ten(-12.0, 0.0),
        2 | 3 => random.power_of_ten(-4.0, 0.0),
        _ => 1.0 - random.f64(),
    };
    polar(z, TAU * f64::from(unit(random))).to_f32()
}
