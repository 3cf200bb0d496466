//! Inputs and outputs of lobes in plain numbers, for comparing machines: everything that a material's lobe computes for one
//! input.

use bytemuck::{Pod, Zeroable};
use glam::{Vec2, Vec3};

use super::{At, Material, Surfaces};
use crate::arch::load;
use crate::bsdf::{Lobe, Tinted};
use crate::features::Full;
use crate::rng::{pcg4d, uniform};
use crate::sampling::sample_cosine_hemisphere;

/// Input of a lobe, 48 bytes. All of it is given rather than drawn, so that machines get the same input to the last bit.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Input {
    /// Direction to the viewer, local frame.
    pub wo: Vec3,
    /// Uniform that chooses the component in [`Lobe::sample`].
    pub uc: f32,
    /// Direction for [`Lobe::eval_pdf`], local frame.
    pub wi: Vec3,
    /// Index of the material; no blend.
    pub material: u32,
    /// Uniforms that determine the direction in [`Lobe::sample`].
    pub u: Vec2,
    /// Non-zero if the front is seen.
    pub front: u32,
    /// Unused.
    pub reserved: u32,
}

/// Output of a lobe, 48 bytes; zeros from `wi` on if no direction was drawn.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Answer {
    /// f of the input's directions.
    pub f: Vec3,
    /// The density of them.
    pub pdf: f32,
    /// The direction that was drawn.
    pub wi: Vec3,
    /// Its density; 0 if it was drawn from a finite set.
    pub sample_pdf: f32,
    /// Its weight.
    pub weight: Vec3,
    /// Its relative index of refraction; 0 if there is none.
    pub eta: f32,
}

const _: () = assert!(size_of::<Input>() == 48 && size_of::<Answer>() == 48);

/// The lobe of a material.
///
/// # Safety
/// `scene` is valid and has the material.
#[inline(always)]
unsafe fn lobe(scene: &Surfaces, material: u32, front: bool) -> Tinted {
    let at = At { front, ..At::new(scene, Vec2::ZERO) };
    // SAFETY: as the caller promised.
    unsafe {
        let material = scene.materials.add(material as usize);
        let header = load(&raw const (*material).header);
        Material::bsdf::<Full>(material, header.kind, &at)
    }
}

/// Evaluates and samples a lobe.
///
/// # Safety
/// `scene` is valid and has the material.
#[inline(always)]
pub unsafe fn ask(scene: &Surfaces, input: &Input) -> Answer {
    // SAFETY: as the caller promised.
    let lobe = unsafe { lobe(scene, input.material, input.front != 0) };
    let (f, pdf) = lobe.eval_pdf(input.wo, input.wi);
    let answer = Answer { f, pdf, wi: Vec3::ZERO, sample_pdf: 0.0, weight: Vec3::ZERO, eta: 0.0 };
    match lobe.sample(input.wo, input.uc, input.u) {
        Some(s) => Answer { wi: s.wi, sample_pdf: s.pdf, weight: s.weight, eta: s.eta, ..answer },
        None => answer,
    }
}

/// Draws `samples` directions from one material, seen from a direction that `stream` decides, for measuring how long it
/// takes. What it adds up, light of uneven radiance weighed against uniform directions, is of all that a sample has.
///
/// # Safety
/// `scene` is valid and has the material.
#[inline(always)]
pub unsafe fn draw(scene: &Surfaces, material: u32, stream: u32, samples: u32) -> Vec3 {
    // SAFETY: as the caller promised.
    let lobe = unsafe { lobe(scene, material, true) };
    let [x, y, ..] = pcg4d([stream, 0, 0, 1]).map(uniform);
    let wo = sample_cosine_hemisphere(Vec2::new(x, y));
    let mut sum = Vec3::ZERO;
    for k in 0..samples {
        let [uc, x, y, _] = pcg4d([stream, k, 0, 0]).map(uniform);
        if let Some(s) = lobe.sample(wo, uc, Vec2::new(x, y)) {
            let radiance = s.eta + s.wi.x + s.wi.z * s.wi.z;
            sum += s.weight * (radiance / (1.0 + s.pdf));
        }
    }
    sum
}
