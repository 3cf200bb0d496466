//! Scattering at surfaces: one lobe a file.

pub mod albedo;
pub mod coat;
pub mod compensated;
pub mod conductor;
pub mod dielectric;
pub mod diffuse;
pub mod fresnel;
pub mod gltf;
pub mod microfacet;
pub mod oren_nayar;
pub mod plastic;
pub mod principled;
pub mod random_walk;
mod reflection;
mod response;
pub mod sheen;
mod tint;
mod underlay;

use glam::{Vec2, Vec3};

pub use coat::{ClearCoat, Coated};
pub use compensated::{CompensatedConductor, CompensatedDielectric};
pub use conductor::{Conductor, SmoothConductor};
pub use dielectric::{Dielectric, SmoothDielectric, ThinDielectric};
pub use diffuse::Diffuse;
pub use gltf::{Film, Gltf};
pub use oren_nayar::OrenNayar;
pub use plastic::{Plastic, SmoothPlastic};
pub use principled::Principled;
pub use random_walk::{RandomWalkConductor, RandomWalkDielectric};
pub use response::{Answering, IntoBsdf, Lit, Query, Response, Visitor};
pub use sheen::{Sheen, sheen_albedo};
pub use tint::{Tint, Tinted};

use crate::arch::sqrt;
use crate::features::{Compiled, Features, Full};

/// A direction drawn from a lobe.
#[derive(Clone, Copy, Debug)]
pub struct BsdfSample {
    /// Incident direction, local frame.
    pub wi: Vec3,
    /// Solid-angle density of `wi`; 0 if it was drawn from a finite set, with a probability that is in `weight`.
    pub pdf: f32,
    /// f·|cos θi| / pdf.
    pub weight: Vec3,
    /// Index of refraction where `wi` leads relative to where `wo` does: 1 for reflection.
    pub eta: f32,
}

impl BsdfSample {
    /// No direction.
    pub(crate) const NONE: Self = Self { wi: Vec3::ZERO, pdf: 0.0, weight: Vec3::ZERO, eta: 1.0 };
}

/// Directions closer to the horizon are on it, as far as f32 can tell: Λ and 1/cos overflow there.
const MIN_COS: f32 = 1e-7;

/// The reflection of `wo` off the surface itself.
#[inline(always)]
const fn mirrored(wo: Vec3) -> Vec3 {
    Vec3::new(-wo.x, -wo.y, wo.z)
}

/// The reflection of `wo` off a facet with normal `wm` that it meets with the cosine `cos_om`.
#[inline(always)]
fn reflected(wo: Vec3, wm: Vec3, cos_om: f32) -> Vec3 {
    (2.0 * cos_om * wm - wo).normalize()
}

/// Unit vector of the tangential part of `w`, or any if there is none.
#[inline(always)]
fn azimuth(w: Vec3) -> Vec2 {
    /// Squares of less than this are not told from 0 with the precision of others.
    const MIN_SIN2: f32 = 1e-30;
    let sin2 = w.x * w.x + w.y * w.y;
    if sin2 > MIN_SIN2 { Vec2::new(w.x, w.y) / sqrt(sin2) } else { Vec2::X }
}

/// A scattering function with its parameters resolved. All directions are in the local frame; see the
/// conventions of the crate.
pub trait Lobe {
    /// Whether all directions are drawn from a finite set, so that [`Lobe::eval`] and [`Lobe::pdf`] are zero and lights
    /// are not sampled. A lobe of which only a part is so, as the mirror on smooth plastic, is none: lights are sampled
    /// for the rest, which is all that [`Lobe::eval_pdf`] knows, and what the part sends to a light is found by samples
    /// of density 0 alone, which no weight against other strategies reduces.
    const DELTA: bool = false;

    /// (f, pdf): f(wo, wi) without the cosine, and the solid-angle density with which [`Lobe::sample`] returns `wi`.
    /// Zero for delta lobes and for directions the lobe does not connect; without what is drawn from a finite set.
    fn eval_pdf(&self, wo: Vec3, wi: Vec3) -> (Vec3, f32);

    /// Samples a direction: `uc` chooses the component, `u` the direction. `None` if the sample is not valid.
    fn sample(&self, wo: Vec3, uc: f32, u: Vec2) -> Option<BsdfSample>;

    /// The f of [`Lobe::eval_pdf`].
    #[inline(always)]
    fn eval(&self, wo: Vec3, wi: Vec3) -> Vec3 {
        self.eval_pdf(wo, wi).0
    }

    /// Whether it can answer many queries by vector instructions. One that the compiler leaves scalar is to say no: it is asked
    /// more queries together, up to a multiple of sixteen, than alone.
    #[inline(always)]
    fn is_vectorizable(&self) -> bool {
        true
    }

    /// The same lobe, if it is vectorizable, in the form that the compiler finds this in: it says so itself that its facets, if
    /// it has any, are GGX's.
    #[inline(always)]
    fn vectorizable(self) -> Self
    where
        Self: Sized,
    {
        self
    }

    /// The pdf of [`Lobe::eval_pdf`].
    #[inline(always)]
    fn pdf(&self, wo: Vec3, wi: Vec3) -> f32 {
        self.eval_pdf(wo, wi).1
    }
}

/// A variant of [`Bsdf`].
pub trait Listed: Lobe + Into<Bsdf> + Copy + 'static {
    /// Feature bit of kernels that contain it.
    const FEATURE: Features;
}

/// Makes the sum type of all lobes, its dispatch, and a bit of [`Features`] for each.
macro_rules! lobes {
    ($($(#[$meta:meta])* $name:ident),* $(,)?) => {
        /// Any lobe.
        #[derive(Clone, Copy, Debug)]
        pub enum Bsdf { $($(#[$meta])* $name($name)),* }

        /// The lobes by number.
        #[derive(Clone, Copy)]
        enum Index { $($name),* }

        $(
            impl $name {
                /// Feature bit of kernels that contain this lobe, and of materials that may yield it.
                pub const FEATURE: Features = Features::lobe(Index::$name as u32);
            }

            impl From<$name> for Bsdf {
                #[inline(always)]
                fn from(lobe: $name) -> Self {
                    Self::$name(lobe)
                }
            }

            impl Listed for $name {
                const FEATURE: Features = $name::FEATURE;
            }
        )*

        impl Bsdf {
            /// Absorbs everything.
            pub const BLACK: Self = Self::Diffuse(Diffuse { reflectance: Vec3::ZERO });

            /// Names of all lobes, in the order of their bits.
            pub const NAMES: &'static [&'static str] = &[$(stringify!($name)),*];

            /// [`Lobe::DELTA`] of the lobe.
            #[inline(always)]
            pub fn is_delta<C: Compiled>(&self) -> bool {
                match self { $(Self::$name(_) => C::sees($name::FEATURE) && $name::DELTA),* }
            }

            /// [`Lobe::sample`], for lobes that are among what is compiled; all others absorb.
            #[inline(always)]
            pub fn sample_as<C: Compiled>(&self, wo: Vec3, uc: f32, u: Vec2) -> Option<BsdfSample> {
                match self {
                    $(Self::$name(lobe) if C::sees($name::FEATURE) => lobe.sample(wo, uc, u),)*
                    _ => None,
                }
            }

            /// [`Lobe::eval_pdf`], for lobes that are among what is compiled; all others are black.
            #[inline(always)]
            pub fn eval_pdf_as<C: Compiled>(&self, wo: Vec3, wi: Vec3) -> (Vec3, f32) {
                match self {
                    $(Self::$name(lobe) if C::sees($name::FEATURE) => lobe.eval_pdf(wo, wi),)*
                    _ => (Vec3::ZERO, 0.0),
                }
            }
        }

        impl Lobe for Bsdf {
            #[inline(always)]
            fn sample(&self, wo: Vec3, uc: f32, u: Vec2) -> Option<BsdfSample> {
                self.sample_as::<Full>(wo, uc, u)
            }
            #[inline(always)]
            fn eval_pdf(&self, wo: Vec3, wi: Vec3) -> (Vec3, f32) {
                self.eval_pdf_as::<Full>(wo, wi)
            }
        }
    };
}

lobes! {
    /// Lambertian reflection.
    Diffuse,
    /// Rough diffuse reflection.
    OrenNayar,
    /// Reflection from upright fibres.
    Sheen,
    /// Microfacet reflection from a conductor.
    Conductor,
    /// Reflection from a smooth conductor.
    SmoothConductor,
    /// Smooth interface of a dielectric.
    SmoothDielectric,
    /// Microfacet reflection from and refraction into a dielectric.
    Dielectric,
    /// Thin smooth pane of a dielectric.
    ThinDielectric,
    /// Smooth coat of a dielectric over a diffuse base.
    SmoothPlastic,
    /// Rough coat of a dielectric over a diffuse base.
    Plastic,
    /// The principled model: plastic, metal, glass and mixtures, by artist-friendly parameters.
    Principled,
    /// Microfacet reflection from a conductor, with compensation for multiple scattering.
    CompensatedConductor,
    /// Microfacet reflection and refraction, with compensation for multiple scattering.
    CompensatedDielectric,
    /// Scattering of all orders between the facets of a conductor.
    RandomWalkConductor,
    /// Scattering of all orders between the facets of a dielectric.
    RandomWalkDielectric,
    /// The material of glTF, in layers.
    Gltf,
}

impl Features {
    /// Lobes that scatter into a few directions alone.
    pub const DELTA: Self =
        SmoothConductor::FEATURE.and(SmoothDielectric::FEATURE).and(ThinDielectric::FEATURE);
    /// Lobes that do so in part.
    pub const MIRROR_COAT: Self = SmoothPlastic::FEATURE;
}

/// Plain diffuse surfaces and conductors: the least that is worth a kernel of its own.
pub struct Basic;

impl Compiled for Basic {
    const FEATURES: Features = Diffuse::FEATURE
        .and(Conductor::FEATURE)
        .and(SmoothConductor::FEATURE)
        .and(Features::BENT_NORMALS)
        .and(Features::OF_ANY_KERNEL);
}

/// [`Basic`] and dielectrics.
pub struct Glass;

impl Compiled for Glass {
    const FEATURES: Features =
        Basic::FEATURES.and(SmoothDielectric::FEATURE).and(Dielectric::FEATURE).and(ThinDielectric::FEATURE);
}
