//! Emission that varies over a surface: by a texture, or because there are holes in it.

use bytemuck::{Pod, Zeroable};
use glam::{Vec2, Vec3};

use super::{LightSample, Lighting};
use crate::arch::load;
use crate::features::Compiled;
use crate::material::{At, Color, Header};
use crate::sampling::sample_uniform_triangle;
use crate::shape::{self, Primitive};

/// Surface of a light whose emission varies, 16 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C, align(16))]
pub struct EmissiveSurface {
    /// Index of the primitive.
    pub prim: u32,
    /// Index of the texture that [`super::Light::le`] is multiplied by, or [`crate::material::texture::NO_TEXTURE`].
    pub texture: u32,
    /// Index of the slide of a light that is a point.
    pub slide: u32,
    /// Unused.
    pub reserved: u32,
}

/// Point of a surface at which its emission is looked up.
#[derive(Clone, Copy)]
pub struct On {
    /// Texture coordinates.
    pub uv: Vec2,
    /// Barycentric coordinates of vertices 1 and 2 of a triangle.
    pub b: [f32; 2],
    /// As [`At::triangle`].
    pub triangle: u32,
}

impl On {
    /// Textures are looked up at full resolution, whatever the footprint, since hits and light samples have to agree.
    #[inline(always)]
    fn look<'a>(&self, scene: &'a Lighting) -> At<'a> {
        At { triangle: self.triangle, b: self.b, ..At::new(scene, self.uv) }
    }
}

/// Texture value of light `index` at a point.
///
/// # Safety
/// `scene` is valid, and the light is one that varies.
#[inline(always)]
pub unsafe fn emission<C: Compiled>(scene: &Lighting, index: u32, on: On) -> Vec3 {
    // SAFETY: as the caller promised.
    let EmissiveSurface { texture, .. } = unsafe { load(scene.emissive.add(index as usize)) };
    Color { value: Vec3::ONE, texture }.at::<C>(&on.look(scene))
}

/// Factor on the radiance of a sample of light `index`, drawn by `u`: its texture times the part of the surface that is
/// there, if holes do not emit.
///
/// # Safety
/// As [`emission`].
#[inline(always)]
pub(super) unsafe fn sampled<C: Compiled>(
    scene: &Lighting,
    index: u32,
    sample: &LightSample,
    u: Vec2,
) -> Vec3 {
    // SAFETY: as the caller promised; the surface has a primitive, and that a material.
    unsafe {
        let surface = load(scene.emissive.add(index as usize));
        let prim = load(scene.prims.add(surface.prim as usize));
        let on = drawn(scene, &prim, sample, u);
        let header = load((&raw const (*scene.materials.add(prim.material() as usize))).cast::<Header>());
        let is_whole = header.has(Header::HOLES_EMIT);
        let part = if is_whole { 1.0 } else { header.opacity_at::<C>(&on.look(scene)) };
        part * emission::<C>(scene, index, on)
    }
}

/// Where on a primitive a point is that was drawn by `u`.
///
/// # Safety
/// `scene` is valid and has the primitive.
#[inline(always)]
unsafe fn drawn(scene: &Lighting, prim: &Primitive, sample: &LightSample, u: Vec2) -> On {
    if !prim.is_triangle() {
        let p = sample.target.map_or(prim.a, |target| target.p);
        let uv = shape::analytic_uv_of_sample(prim, p, u);
        return On { uv, b: [0.0; 2], triangle: Primitive::FLAT };
    }
    let b = sample_uniform_triangle(u).to_array();
    let uv = if scene.uvs.is_null() || prim.normals == Primitive::FLAT {
        Vec2::ZERO
    } else {
        // SAFETY: the primitive's texture coordinates are in range.
        unsafe { load(scene.uvs.add(prim.normals as usize)) }.at(b)
    };
    On { uv, b, triangle: prim.normals }
}
