//! Material parameters: constant, or from a texture.

use bytemuck::{Pod, Zeroable};
use glam::{Vec2, Vec3};

use super::Surfaces;
use super::texture::{NO_TEXTURE, lookup};
use crate::arch::max;
use crate::bsdf::Tint;
use crate::bsdf::microfacet::{Distribution, Masking, Microfacet};
use crate::features::{Compiled, Features};
use crate::shape::Primitive;

/// Point at which a material is evaluated.
#[derive(Clone, Copy, Debug)]
pub struct At<'a> {
    /// The scene, for its textures; valid.
    pub scene: &'a Surfaces,
    /// Texture coordinates.
    pub uv: Vec2,
    /// Footprint of the ray on the surface, as a length in texture coordinates, by which mipmapped textures choose a
    /// resolution; 0 for the full one.
    pub footprint: f32,
    /// Index of the colours at the vertices, where the scene has any; or [`Primitive::FLAT`].
    pub triangle: u32,
    /// Barycentric coordinates of vertices 1 and 2.
    pub b: [f32; 2],
    /// Whether the front is seen.
    pub front: bool,
    /// Seed of lobes that are evaluated by random walks, different for every vertex of every path.
    pub seed: u32,
}

impl<'a> At<'a> {
    /// At texture coordinates, from the front, and of no triangle.
    #[inline(always)]
    pub const fn new(scene: &'a Surfaces, uv: Vec2) -> Self {
        Self {
            scene: scene.shared(),
            uv,
            footprint: 0.0,
            triangle: Primitive::FLAT,
            b: [0.0; 2],
            front: true,
            seed: 0,
        }
    }
}

/// A number.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Scalar {
    /// The number, or the factor on the texture.
    pub value: f32,
    /// Index of the texture that gives it, or [`NO_TEXTURE`].
    pub texture: u32,
}

impl Scalar {
    /// The same number everywhere.
    pub const fn new(value: f32) -> Self {
        Self { value, texture: NO_TEXTURE }
    }

    /// [`Features::TEXTURES`] if there is one.
    pub fn features(&self) -> Features {
        Features::TEXTURES.when(self.texture != NO_TEXTURE)
    }

    /// Whether it is this number everywhere.
    #[inline(always)]
    pub fn is(&self, value: f32) -> bool {
        self.value == value && self.texture == NO_TEXTURE
    }

    /// The number at a point.
    #[inline(always)]
    pub fn at<C: Compiled>(&self, at: &At<'_>) -> f32 {
        if !C::sees(Features::TEXTURES) || self.texture == NO_TEXTURE {
            return self.value;
        }
        // SAFETY: the scene is valid, its materials' textures included.
        self.value * unsafe { lookup(at, self.texture) }.x
    }
}

/// A colour.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C, align(16))]
pub struct Color {
    /// The colour, or the factor on the texture.
    pub value: Vec3,
    /// Index of the texture that gives it, or [`NO_TEXTURE`].
    pub texture: u32,
}

impl Color {
    /// 1 everywhere.
    pub const WHITE: Self = Self::new(Vec3::ONE);

    /// The same colour everywhere.
    pub const fn new(value: Vec3) -> Self {
        Self { value, texture: NO_TEXTURE }
    }

    /// [`Features::TEXTURES`] if there is one.
    pub fn features(&self) -> Features {
        Features::TEXTURES.when(self.texture != NO_TEXTURE)
    }

    /// The colour at a point.
    #[inline(always)]
    pub fn at<C: Compiled>(&self, at: &At<'_>) -> Vec3 {
        if !C::sees(Features::TEXTURES) || self.texture == NO_TEXTURE {
            return self.value;
        }
        // SAFETY: the scene is valid, its materials' textures included.
        self.value * unsafe { lookup(at, self.texture) }
    }
}

/// Factors on the light that a material reflects and transmits, 32 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C, align(16))]
pub struct Tints {
    /// Factor on light that stays on its side.
    pub reflection: Color,
    /// Factor on light that passes to the other side.
    pub transmission: Color,
}

impl Tints {
    /// No tint: physically based scattering.
    pub const NONE: Self = Self { reflection: Color::WHITE, transmission: Color::WHITE };

    /// [`Features::TINTS`] if there are any, and [`Features::TEXTURES`] if these give them.
    pub fn features(&self) -> Features {
        let textures = self.reflection.features().and(self.transmission.features());
        Features::TINTS.and(textures).when(*self != Self::NONE)
    }

    /// The factors at a point.
    #[inline(always)]
    pub fn at<C: Compiled>(&self, at: &At<'_>) -> Tint {
        Tint { reflection: self.reflection.at::<C>(at), transmission: self.transmission.at::<C>(at) }
    }
}

/// Model of multiple scattering between microfacets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[repr(u32)]
pub enum Scattering {
    /// Single scattering only: rough surfaces are too dark.
    #[default]
    None,
    /// A tabulated lobe that compensates for the lost energy.
    Compensated,
    /// Random walks from facet to facet.
    RandomWalk,
}

/// The microfacets of a material, 32 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C, align(16))]
pub struct Facets {
    /// Roughness parameters along x and y; both 0 everywhere if smooth. Or their square roots: see below.
    pub alpha: [Scalar; 2],
    /// [`Masking`] as a number.
    pub masking: u32,
    /// [`Distribution`] as a number.
    pub distribution: u32,
    /// [`Scattering`] as a number.
    pub scattering: u32,
    /// Non-zero if `alpha` is roughness, the square root of the parameter.
    pub is_roughness: u32,
}

impl Facets {
    /// The least alpha that is not smooth: less, f32 cannot resolve the peak of D. Textures are kept from going below.
    pub const MIN_ALPHA: f32 = 1e-4;

    /// A smooth surface.
    pub const SMOOTH: Self = Self {
        alpha: [Scalar::new(0.0); 2],
        masking: Masking::Correlated as u32,
        distribution: Distribution::Ggx as u32,
        scattering: Scattering::None as u32,
        is_roughness: 0,
    };

    /// GGX or another distribution with height-correlated masking, the same everywhere.
    pub const fn new(alpha: Vec2, distribution: Distribution) -> Self {
        Self {
            alpha: [Scalar::new(alpha.x), Scalar::new(alpha.y)],
            distribution: distribution as u32,
            ..Self::SMOOTH
        }
    }

    /// Whether there are no facets, but one plane.
    #[inline(always)]
    pub fn is_smooth(&self) -> bool {
        self.alpha[0].is(0.0) && self.alpha[1].is(0.0)
    }

    /// The statistics of the facets.
    #[inline(always)]
    pub const fn distribution(&self) -> Distribution {
        Distribution::from_u32(self.distribution)
    }

    /// The model of multiple scattering.
    #[inline(always)]
    pub const fn scattering(&self) -> Scattering {
        match self.scattering {
            1 => Scattering::Compensated,
            2 => Scattering::RandomWalk,
            _ => Scattering::None,
        }
    }

    /// Whether alpha comes from textures.
    #[inline(always)]
    pub const fn is_textured(&self) -> bool {
        self.alpha[0].texture != NO_TEXTURE || self.alpha[1].texture != NO_TEXTURE
    }

    /// [`Features::TEXTURES`] if there are any, and [`Features::BECKMANN`].
    pub fn features(&self) -> Features {
        let is_beckmann = matches!(self.distribution(), Distribution::Beckmann);
        self.alpha[0].features().and(self.alpha[1].features()).and(Features::BECKMANN.when(is_beckmann))
    }

    /// Whether scattering depends on the tangent direction.
    pub fn is_anisotropic(&self) -> bool {
        self.alpha[0] != self.alpha[1]
    }

    /// The facets at a point.
    #[inline(always)]
    pub fn at<C: Compiled>(&self, at: &At<'_>) -> Microfacet {
        Microfacet {
            alpha: Vec2::new(self.alpha_at::<C>(0, at), self.alpha_at::<C>(1, at)),
            distribution: if C::sees(Features::BECKMANN) { self.distribution() } else { Distribution::Ggx },
            masking: Masking::from_u32(self.masking),
        }
    }

    #[inline(always)]
    fn alpha_at<C: Compiled>(&self, axis: usize, at: &At<'_>) -> f32 {
        let x = self.alpha[axis].at::<C>(at);
        if !C::sees(Features::TEXTURES) {
            return x;
        }
        max(if self.is_roughness != 0 { x * x } else { x }, Self::MIN_ALPHA)
    }
}
