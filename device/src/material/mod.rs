//! Materials: what a surface is made of, and how that becomes a lobe at a point.
//!
//! A [`Material`] is a record of 256 bytes: the fields that all kinds share, and the parameters of its own kind, which may
//! come from textures. At a hit it is resolved into a [`Bsdf`], which holds numbers only.

mod blend;
mod conductor;
mod dielectric;
mod diffuse;
mod gltf;
mod input;
pub mod normal;
mod plastic;
mod principled;
pub mod probe;
pub mod program;
mod sheen;
mod surfaces;
pub mod texture;

use bytemuck::{Pod, Zeroable};

use crate::arch::{load, max, min};
use crate::bsdf::{Answering, Bsdf, IntoBsdf, Query, Response, Tint, Tinted, Visitor};
use crate::features::{Compiled, Features};

pub use blend::Blend;
pub use conductor::ConductorMaterial;
pub use dielectric::{DielectricMaterial, ThinDielectricMaterial};
pub use diffuse::DiffuseMaterial;
pub use gltf::GltfMaterial;
pub use input::{At, Color, Facets, Scalar, Scattering, Tints};
pub use plastic::PlasticMaterial;
pub use principled::PrincipledMaterial;
pub use sheen::SheenMaterial;
pub use surfaces::Surfaces;

/// Rows of 16 bytes for the parameters of a kind.
const ROWS: usize = 13;

/// A material, 256 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C, align(16))]
pub struct Material {
    header: Header,
    parameters: [[u32; 4]; ROWS],
}

const _: () = assert!(size_of::<Material>() == 256);

/// Fields that all kinds of material share, 48 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C, align(16))]
pub struct Header {
    /// One of [`Kind`].
    pub kind: u32,
    /// [`Header::TWO_SIDED`] and the others.
    pub flags: u32,
    /// Index of the material that the back has, or [`Header::NONE`] for this one.
    pub back: u32,
    /// Index of the texture of the normal map or, with [`Header::BUMP`], of heights; or [`Header::NONE`].
    pub normal_map: u32,
    /// Factor on the slopes of the normal map, or on the heights, in metres.
    pub normal_scale: f32,
    /// Unused.
    pub reserved: u32,
    /// The part of the surface that is there, in [0, 1]; the rest are holes.
    pub opacity: Scalar,
    /// Unused.
    pub reserved2: [u32; 4],
}

impl Header {
    /// No material, no texture.
    pub const NONE: u32 = u32::MAX;
    /// The back scatters as the front does, or light passes; otherwise it is black.
    pub const TWO_SIDED: u32 = 1;
    /// Scattering depends on the tangent direction: the x axis of the local frame has to be dp/du.
    pub const TANGENTS: u32 = 1 << 1;
    /// `opacity` is not 1 everywhere, or not from behind.
    pub const HOLES: u32 = 1 << 2;
    /// The normal map is a bump map.
    pub const BUMP: u32 = 1 << 3;
    /// Normals of the map that would turn reflections into the surface are left as they are.
    pub const KEEP_INVALID_NORMALS: u32 = 1 << 4;
    /// Shadow terminators of perturbed normals stay hard.
    pub const HARD_TERMINATOR: u32 = 1 << 5;
    /// Green in the normal map points down in the image.
    pub const Y_DOWN: u32 = 1 << 6;
    /// Green in the normal map points along n × ∂p/∂u, whichever way v grows; against it, if `Y_DOWN` is set as well.
    pub const Y_ACROSS: u32 = 1 << 7;
    /// Normals that face away from the viewer are turned around the normal below the map.
    pub const FLIP_INVALID_NORMALS: u32 = 1 << 8;
    /// Shapes emit where there are holes as well.
    pub const HOLES_EMIT: u32 = 1 << 9;
    /// Interpolated normals that would turn reflections into the surface are turned to the nearest that do not.
    pub const BENDS_NORMALS: u32 = 1 << 10;
    /// Nothing is there for what comes from behind.
    pub const CULLS_BACKFACES: u32 = 1 << 11;
    /// The material's lobe is the same everywhere, but for the side that is seen.
    pub const UNIFORM: u32 = 1 << 12;
    /// No blend, the same material on both sides, whole, and with the normals of the shape.
    pub const SIMPLE: u32 = 1 << 13;
    /// Flag: light from behind comes through.
    pub const TRANSMITS: u32 = 1 << 14;
    /// Light is scattered into all directions, not into a few alone.
    pub const SPREADS: u32 = 1 << 15;
    /// Some light is scattered into a few directions alone.
    pub const SMOOTH: u32 = 1 << 16;

    /// A material that is seen from both sides, whole and flat.
    pub const PLAIN: Self = Self {
        kind: 0,
        flags: Self::TWO_SIDED,
        back: Self::NONE,
        normal_map: Self::NONE,
        normal_scale: 1.0,
        reserved: 0,
        opacity: Scalar::new(1.0),
        reserved2: [0; 4],
    };

    /// Whether a flag is set.
    #[inline(always)]
    pub const fn has(&self, flag: u32) -> bool {
        self.flags & flag != 0
    }

    /// The part of the surface that is there.
    #[inline(always)]
    pub fn opacity_at<C: Compiled>(&self, at: &At<'_>) -> f32 {
        // Textures of floats may hold anything.
        if self.has(Self::HOLES) { min(max(self.opacity.at::<C>(at), 0.0), 1.0) } else { 1.0 }
    }
}

/// The parameters of a kind of material.
pub trait Parameters: Pod {
    /// The kind.
    const KIND: Kind;

    /// Lobes that materials of this kind may yield.
    const LOBES: Features;

    /// Lobes that this material may yield, and [`Features::TEXTURES`] if it has any.
    fn features(&self) -> Features;

    /// Whether light passes from both sides, whatever [`Header::TWO_SIDED`] says.
    fn is_transmissive(&self) -> bool {
        false
    }

    /// Whether scattering depends on the tangent direction.
    fn is_anisotropic(&self) -> bool {
        false
    }

    /// Passes the material's lobe at a point to a visitor.
    fn with_lobe<C: Compiled, V: Visitor>(&self, at: &At<'_>, visitor: V) -> V::Output;

    /// The material's lobe at a point.
    #[inline(always)]
    fn bsdf<C: Compiled>(&self, at: &At<'_>) -> Bsdf {
        self.with_lobe::<C, _>(at, IntoBsdf)
    }

    /// Tints of the light that it scatters.
    #[inline(always)]
    fn tints(&self) -> &Tints {
        &Tints::NONE
    }

    /// The tint of the lobe.
    #[inline(always)]
    fn tint<C: Compiled>(&self, at: &At<'_>) -> Tint {
        if C::sees(Features::TINTS) { self.tints().at::<C>(at) } else { Tint::NONE }
    }

    /// The lobe with its tint.
    #[inline(always)]
    fn tinted_bsdf<C: Compiled>(&self, at: &At<'_>) -> Tinted {
        Tinted { lobe: self.bsdf::<C>(at), tint: self.tint::<C>(at) }
    }

    /// The lobe's response to `query`, tinted.
    #[inline(always)]
    fn response<C: Compiled>(&self, at: &At<'_>, query: &Query) -> Response {
        let response = self.with_lobe::<C, _>(at, Answering::<C>::new(query));
        if C::sees(Features::TINTS) { response.tinted(query, &self.tint::<C>(at)) } else { response }
    }
}

/// Is shown the parameters of a material, of any kind.
pub(crate) trait ParametersVisitor {
    /// Its answer.
    type Output;

    /// Is shown them.
    fn visit<P: Parameters>(self, parameters: &P) -> Self::Output;
}

/// Makes the kinds of material, and their dispatch.
macro_rules! materials {
    ($($(#[$meta:meta])* $name:ident($Parameters:ident)),* $(,)?) => {
        /// Kinds of material.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u32)]
        pub enum Kind {
            $($(#[$meta])* $name,)*
            /// A blend of two others, [`Blend`].
            Blend,
        }

        impl Material {
            /// The material's lobe at a point; black for a blend, which [`choose_material`] resolves first.
            ///
            /// # Safety
            /// `material` is valid, and so is the scene of `at`.
            #[inline(always)]
            pub unsafe fn bsdf<C: Compiled>(material: *const Self, kind: u32, at: &At<'_>) -> Tinted {
                $(
                    if C::sees(<$Parameters>::LOBES) && kind == Kind::$name as u32 {
                        // SAFETY: these are the parameters of this kind.
                        return unsafe { Self::parameters::<$Parameters>(material) }.tinted_bsdf::<C>(at);
                    }
                )*
                Bsdf::BLACK.into()
            }

            /// Response of the material's lobe at a point: [`Response::NONE`] for a blend, which [`choose_material`] resolves
            /// first. The lobe is never converted to a [`Bsdf`], which would have to be in memory.
            ///
            /// # Safety
            /// As [`Material::bsdf`].
            #[inline(always)]
            pub unsafe fn response<C: Compiled>(
                material: *const Self,
                kind: u32,
                at: &At<'_>,
                query: &Query,
            ) -> Response {
                $(
                    if C::sees(<$Parameters>::LOBES) && kind == Kind::$name as u32 {
                        // SAFETY: these are the parameters of this kind.
                        return unsafe { Self::parameters::<$Parameters>(material) }.response::<C>(at, query);
                    }
                )*
                Response::NONE
            }

            /// Shows the material's parameters to a visitor; `None` of a blend.
            ///
            /// # Safety
            /// As [`Material::bsdf`].
            #[inline(always)]
            pub(crate) unsafe fn show<C: Compiled, V: ParametersVisitor>(
                material: *const Self,
                kind: u32,
                visitor: V,
            ) -> Option<V::Output> {
                $(
                    if C::sees(<$Parameters>::LOBES) && kind == Kind::$name as u32 {
                        // SAFETY: these are the parameters of this kind.
                        let parameters = unsafe { Self::parameters::<$Parameters>(material) };
                        return Some(visitor.visit(&parameters));
                    }
                )*
                None
            }
        }
    };
}

materials! {
    /// Diffuse reflection.
    Diffuse(DiffuseMaterial),
    /// A metal.
    Conductor(ConductorMaterial),
    /// A dielectric that fills what lies behind the surface.
    Dielectric(DielectricMaterial),
    /// A thin pane of a dielectric.
    ThinDielectric(ThinDielectricMaterial),
    /// Plastic.
    Plastic(PlasticMaterial),
    /// The sheen of cloth.
    Sheen(SheenMaterial),
    /// The principled model.
    Principled(PrincipledMaterial),
    /// The material of glTF.
    Gltf(GltfMaterial),
}

impl Material {
    /// A material of a kind. Whether it is two-sided and needs tangents follows from the parameters where it does.
    pub fn new<P: Parameters>(mut header: Header, parameters: &P) -> Self {
        const { assert!(size_of::<P>() <= 16 * ROWS && align_of::<P>() <= 16) };
        header.kind = P::KIND as u32;
        let lobes = P::LOBES.common(parameters.features());
        let is_bumpy = header.normal_map != Header::NONE;
        let has_holes = !header.opacity.is(1.0) || header.has(Header::CULLS_BACKFACES);
        let is_simple = P::KIND != Kind::Blend && header.back == Header::NONE && !is_bumpy && !has_holes;
        header.flags |= flag(Header::TWO_SIDED, parameters.is_transmissive() || header.back != Header::NONE)
            | flag(Header::TRANSMITS, parameters.is_transmissive())
            | flag(Header::SPREADS, lobes.without(Features::DELTA) != Features::NONE)
            | flag(Header::SMOOTH, lobes.intersects(Features::DELTA.and(Features::MIRROR_COAT)))
            | flag(Header::TANGENTS, parameters.is_anisotropic() || is_bumpy)
            | flag(Header::UNIFORM, !parameters.features().intersects(Features::TEXTURES))
            | flag(Header::HOLES, has_holes)
            | flag(Header::SIMPLE, is_simple);
        let mut material = Self { header, parameters: [[0; 4]; ROWS] };
        let bytes = bytemuck::bytes_of(parameters);
        bytemuck::cast_slice_mut(&mut material.parameters)[..bytes.len()].copy_from_slice(bytes);
        material
    }

    /// The fields that all kinds share.
    pub const fn header(&self) -> &Header {
        &self.header
    }

    /// The features that the header asks for.
    pub fn features(&self) -> Features {
        let header = &self.header;
        Features::NORMAL_MAPS
            .and(Features::TEXTURES)
            .when(header.normal_map != Header::NONE)
            .and(Features::CUTOUTS.when(header.has(Header::HOLES)))
            .and(Features::TEXTURES.when(header.opacity.texture != texture::NO_TEXTURE))
            .and(Features::BLENDS.when(header.back != Header::NONE))
            .and(Features::BENT_NORMALS.when(header.has(Header::BENDS_NORMALS)))
    }

    /// Flags of its header.
    ///
    /// # Safety
    /// `material` is valid.
    #[inline(always)]
    pub(crate) unsafe fn flags(material: *const Self) -> u32 {
        // SAFETY: as the caller promised.
        unsafe { load(&raw const (*material).header.flags) }
    }

    /// Whether it [spreads](Header::SPREADS) light.
    ///
    /// # Safety
    /// `material` is valid.
    #[inline(always)]
    pub(crate) unsafe fn spreads(material: *const Self) -> bool {
        // SAFETY: as the caller promised.
        unsafe { Self::flags(material) & Header::SPREADS != 0 }
    }

    /// The parameters.
    ///
    /// # Safety
    /// `material` is valid and of this kind.
    #[inline(always)]
    unsafe fn parameters<P: Parameters>(material: *const Self) -> P {
        // SAFETY: they were put there by `new`, and `parameters` is aligned as the material is.
        unsafe { load((&raw const (*material).parameters).cast::<P>()) }
    }
}

const fn flag(flag: u32, condition: bool) -> u32 {
    if condition { flag } else { 0 }
}

/// The material that a path meets, after the choice of the side and among the parts of blends.
#[derive(Clone, Copy, Debug)]
pub struct MaterialChoice {
    /// The material; never a blend.
    pub material: *const Material,
    /// Its header.
    pub header: Header,
    /// Whether its front is seen.
    pub front: bool,
}

/// Most blends inside one another.
pub const MAX_BLENDS: u32 = 8;

/// Follows `index` to a material that is no blend. The uniform `u` chooses each with its weight as probability, so that the
/// mean over many paths is that of the blend.
///
/// # Safety
/// The scene of `at` is valid and has the material.
#[inline(always)]
pub unsafe fn choose_material<C: Compiled>(at: &At<'_>, index: u32, mut u: f32) -> MaterialChoice {
    let scene = at.scene;
    // SAFETY: as the caller promised; valid materials name others of the scene.
    unsafe {
        let mut material = scene.materials.add(index as usize);
        let mut header = load(&raw const (*material).header);
        let mut front = at.front;
        if C::sees(Features::BLENDS) {
            for _ in 0..=MAX_BLENDS {
                if !front && header.back != Header::NONE {
                    (material, front) = (scene.materials.add(header.back as usize), true);
                } else if header.kind == Kind::Blend as u32 {
                    let blend = Material::parameters::<Blend>(material);
                    let index = blend.choose::<C>(at, &mut u);
                    material = scene.materials.add(index as usize);
                } else {
                    break;
                }
                header = load(&raw const (*material).header);
            }
        }
        MaterialChoice { material, header, front }
    }
}
