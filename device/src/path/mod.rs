//! Light transport: paths from the camera.

mod begin;
mod bundle;
mod clamp;
mod columns;
mod family;
mod first_hit;
mod gather;
mod guided;
mod laboratory;
mod landing;
pub mod layout;
mod learn;
mod light_groups;
mod manifold;
mod matte;
mod mean;
mod megakernel;
mod rows;
mod scatter;
mod sky;
mod spot;
pub mod stage;
pub mod step;
pub mod trace;
mod walking;
pub mod wavefront;

use bytemuck::{Pod, Zeroable};
use glam::Vec3;

use crate::light::Lighting;
use crate::ray::{Cone, Ray};
use crate::rng::{Sampler, SamplerKind};

pub use first_hit::FirstHitArgs;
pub use gather::GatherArgs;
pub use laboratory::{DrawArgs, Drawn, EvaluateArgs, Specimen};
pub use learn::{LearnArgs, VERTICES, pixel_of};
pub use light_groups::LightGroupArgs;
pub use matte::{MOST_KINDS, MatteArgs, NOTHING};
pub use mean::MeanArgs;
pub use megakernel::{HALF, Item, MegakernelArgs, SampleArgs, generate, half_count, half_pixel};
pub use scatter::ScatterArgs;
pub use wavefront::{TracingArgs, WavefrontArgs};

/// How direct light is estimated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Direct {
    /// Light and BSDF sampling, combined by the power heuristic.
    Mis,
    /// Light sampling alone ("next-event estimation").
    Nee,
    /// BSDF sampling alone.
    Bsdf,
}

/// Settings of the transport.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct PathSettings {
    /// Longest path: 1 sees emission only, 2 adds one bounce, and so on. ≥ 1.
    pub max_depth: u32,
    /// Number of bounces after which Russian roulette sets in; `u32::MAX` for never.
    pub rr_depth: u32,
    /// [`Direct`] as a number.
    pub direct: u32,
    /// [`SamplerKind`] as a number.
    pub sampler: u32,
    /// Seed of the sampler.
    pub seed: u32,
    /// Number of pixels in a row of the image.
    pub width: u32,
    /// Most radiance, of the largest channel, of indirect light that a path brings at once; infinite for no limit.
    pub clamp_indirect: f32,
    /// Non-zero if walks look for caustics.
    pub walks: u32,
    /// Centre and radius of a sphere around all smooth surfaces, where every other walk from elsewhere begins. If none is known, the
    /// radius is 0, and walks may begin where a guide says; or [`PathSettings::ASKS_NOBODY`].
    pub smooth: [f32; 4],
}

impl PathSettings {
    #[inline(always)]
    const fn direct(&self) -> Direct {
        match self.direct {
            1 => Direct::Nee,
            2 => Direct::Bsdf,
            _ => Direct::Mis,
        }
    }

    /// Whether points on lights are drawn.
    #[inline(always)]
    fn samples_lights(&self, scene: &Lighting) -> bool {
        scene.light_count != 0 && self.direct() != Direct::Bsdf
    }

    /// Radius of [`PathSettings::smooth`] for walks that make no use of a guide either.
    pub const ASKS_NOBODY: f32 = -1.0;

    /// Whether walks begin where a guide says: a sphere around all smooth surfaces says enough.
    #[inline(always)]
    pub(crate) const fn asks_guide(&self) -> bool {
        self.smooth[3] == 0.0
    }

    /// The settings of the paths that a guide learns from: those of the image, but light that walks are to be guided to, they find.
    pub const fn for_learning(&self) -> Self {
        Self { walks: if self.asks_guide() { 0 } else { self.walks }, ..*self }
    }

    #[inline(always)]
    const fn sampler(&self, pixel: u32, sample: u32) -> Sampler {
        let kind = match self.sampler {
            1 => SamplerKind::Sobol,
            2 => SamplerKind::BlueNoise,
            _ => SamplerKind::Independent,
        };
        Sampler { kind, seed: self.seed, pixel, width: self.width, sample }
    }
}

/// A path under way.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct PathState {
    /// The ray to follow next.
    pub ray: Ray,
    /// Footprint of the ray; kept up to date where textures are mipmapped.
    pub cone: Cone,
    /// Pixel filter's factor on the sample; may be negative.
    pub weight: f32,
    /// Throughput: the factor on radiance along `ray`.
    pub beta: Vec3,
    /// Radiance gathered so far.
    pub l: Vec3,
    /// Solid-angle density with which `ray` was drawn; 0 for a camera ray or after a delta lobe, which no light
    /// sampling competes with. Where walks look for caustics, minus the number of delta lobes in a row since walks began.
    pub prev_pdf: f32,
    /// Where light was looked for when `ray` was drawn, as [`crate::light::tree::Facing`], if a tree chooses lights.
    pub facing: u32,
    /// Product of the squared relative indices of refraction of the media around, 1 outside: refraction has divided `beta`
    /// by it and will multiply by it again. If a guide knows what may come, instead 1 over what that was where it knew first, negative.
    pub eta_scale: f32,
    /// How far the path has come, through holes, since it last scattered, metres.
    pub passed: f32,
    /// Number of times the path has scattered.
    pub depth: u32,
    /// Number of holes that the path has passed.
    pub holes: u32,
    /// Index of the pixel.
    pub pixel: u32,
    /// Index of the sample.
    pub sample: u32,
}

impl PathState {
    /// The path's contribution to the film.
    #[inline(always)]
    pub fn contribution(&self) -> Vec3 {
        self.weight * self.l
    }

    /// Where the path scattered last, as far as rounding lets holes in between be undone.
    #[inline(always)]
    pub(crate) fn start(&self) -> Vec3 {
        self.ray.o - self.passed * self.ray.d
    }
}
