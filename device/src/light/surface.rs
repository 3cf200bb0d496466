//! Emission that varies over a surface: by a texture, or because there are holes in it.

use bytemuck::{Pod, Zeroable};
use glam::{Vec2, Vec3};

use super::LightSample;
use crate::arch::{load, max, min};
use crate::bsdf::Compiled;
use crate::material::{At, Color, Header};
use crate::sampling::sample_uniform_triangle;
use crate::scene::SceneView;
use crate::shape::{Primitive, sphere};

/// What a light whose emission varies is, 16 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C, align(16))]
pub struct EmissiveSurface {
    /// Index of the primitive.
    pub prim: u32,
    /// Index of the texture that [`super::Light::le`] is multiplied by, or [`crate::material::texture::NO_TEXTURE`].
    pub texture: u32,
    /// Unused.
    pub reserved: [u32; 2],
}

/// What the texture of a light is at a point.
///
/// # Safety
/// `scene` is valid, and has a surface that emits for light `index`.
#[inline(always)]
pub unsafe fn emission<C: Compiled>(scene: &SceneView, index: u32, at: &At<'_>) -> Vec3 {
    // SAFETY: as the caller promised.
    let surface = unsafe { load(scene.emissive.add(index as usize)) };
    factor::<C>(surface.texture, at)
}

#[inline(always)]
fn factor<C: Compiled>(texture: u32, at: &At<'_>) -> Vec3 {
    Color { value: Vec3::ONE, texture }.at::<C>(at)
}

/// What the radiance of a sample of light `index`, drawn by `u`, is multiplied by: its texture, and the part of the
/// surface that is there.
///
/// # Safety
/// As [`emission`].
#[inline(always)]
pub(super) unsafe fn sampled<C: Compiled>(
    scene: &SceneView,
    index: u32,
    sample: &LightSample,
    u: Vec2,
) -> Vec3 {
    // SAFETY: as the caller promised; the surface has a primitive, and that a material.
    unsafe {
        let surface = load(scene.emissive.add(index as usize));
        let prim = load(scene.prims.add(surface.prim as usize));
        let b = sample_uniform_triangle(u).to_array();
        let uv = uv(scene, &prim, sample, b);
        let at = At { triangle: prim.normals, b, ..At::new(scene, uv) };
        let header = load((&raw const (*scene.materials.add(prim.material() as usize))).cast::<Header>());
        let opacity =
            if header.has(Header::HOLES) { min(max(header.opacity.at::<C>(&at), 0.0), 1.0) } else { 1.0 };
        opacity * factor::<C>(surface.texture, &at)
    }
}

/// Texture coordinates of a sampled point, which has barycentric coordinates `b` if it is on a triangle.
///
/// # Safety
/// `scene` is valid and has the primitive.
#[inline(always)]
unsafe fn uv(scene: &SceneView, prim: &Primitive, sample: &LightSample, b: [f32; 2]) -> Vec2 {
    if prim.is_sphere() {
        return sample.target.map_or(Vec2::ZERO, |target| sphere::uv(prim, (target.p - prim.a).normalize()));
    }
    if scene.uvs.is_null() || prim.normals == Primitive::FLAT {
        return Vec2::ZERO;
    }
    // SAFETY: the primitive's texture coordinates are in range.
    unsafe { load(scene.uvs.add(prim.normals as usize)) }.at(b)
}
