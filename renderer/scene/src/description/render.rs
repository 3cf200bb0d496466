//! How a scene is rendered.

pub use device::path::Direct;
pub use device::rng::SamplerKind as Sampler;

use super::{Masking, PixelFilter};

/// Settings of a render; the command line overrides what the scene file says.
#[derive(Debug, Clone, PartialEq)]
pub struct RenderSettings {
    /// Image width, pixels, ≥ 1.
    pub width: u32,
    /// Image height, pixels, ≥ 1.
    pub height: u32,
    /// Samples per pixel, ≥ 1.
    pub spp: u32,
    /// Seed of the sampler.
    pub seed: u32,
    /// Longest path: 1 shows emission only, 2 adds one bounce, and so on.
    pub max_depth: u32,
    /// Number of bounces after which Russian roulette may end a path; `None` never does.
    pub rr_depth: Option<u32>,
    /// Which points the sampler yields.
    pub sampler: Sampler,
    /// How direct light is estimated.
    pub direct: Direct,
    /// What chooses the light of a sample.
    pub lights: LightSelection,
    /// Whether paths are guided by what earlier ones have learnt.
    pub guiding: Guiding,
    /// Most memory that learning takes, MiB, ≥ 16.
    pub guiding_memory: u32,
    /// How light from suns and directional lights is found that comes by way of smooth surfaces.
    pub caustics: Caustics,
    /// Most radiance of indirect light that a path brings at once, of the largest channel; `None` for no limit. With one, light is
    /// missing.
    pub clamp_indirect: Option<f32>,
    /// Masking–shadowing of microfacets.
    pub masking: Masking,
    /// Shading normal where the interpolated one of a mesh faces away from the viewer.
    pub hidden_normals: HiddenNormals,
    /// Effect of holes in surfaces on paths.
    pub holes: Holes,
    /// Whether the camera does not see lights, which light the scene all the same: it looks through surfaces that emit,
    /// and beyond the scene all is black.
    pub hide_emitters: bool,
    /// Reconstruction filter.
    pub filter: PixelFilter,
    /// Whether the mean is of what lies beyond the edge of the image too, where the filter reaches there.
    pub sample_border: bool,
}

/// What chooses the light of a sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LightSelection {
    /// The tree where there are many lights, or else their power.
    #[default]
    Auto,
    /// A tree: by what lights may bring to the point, for those that have a place.
    Tree,
    /// Their power alone.
    Power,
}

/// Whether paths are guided by what earlier ones have learnt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Guiding {
    /// They are if that is seen to pay.
    Auto,
    /// They are.
    On,
    /// They are not.
    #[default]
    Off,
}

/// How light from suns and directional lights is found that comes by way of smooth surfaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Caustics {
    /// Paths, by chance; never where the light has no size.
    #[default]
    Paths,
    /// Manifold walks: by Newton's method.
    Walks,
}

/// Effect of holes in surfaces on paths.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Holes {
    /// Nothing.
    #[default]
    Pass,
    /// Scattering straight on, as for Mitsuba's `path`: it makes paths longer, and light of points, spots and directions
    /// does not come through.
    Scatter,
}

/// Shading normal where the interpolated one of a mesh faces away from the viewer or would send reflections into the surface, as
/// at the silhouettes of coarse meshes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(u32)]
pub enum HiddenNormals {
    /// The normal of the triangle, where it faces away; reflections into the surface are lost.
    Geometric,
    /// That normal all the same, as in Mitsuba: it decides which side is seen, so that opaque materials are black there.
    Keep,
    /// The nearest normal that reflects above the surface, as seen by the viewer.
    #[default]
    Bend,
}

impl Default for RenderSettings {
    /// The settings of a scene without `[render]`.
    fn default() -> Self {
        Self {
            width: 512,
            height: 512,
            spp: 64,
            seed: 0,
            max_depth: 16,
            rr_depth: Some(5),
            sampler: Sampler::Sobol,
            direct: Direct::Mis,
            lights: LightSelection::Auto,
            guiding: Guiding::Off,
            guiding_memory: 256,
            caustics: Caustics::Paths,
            clamp_indirect: None,
            masking: Masking::Correlated,
            hidden_normals: HiddenNormals::Bend,
            holes: Holes::Pass,
            hide_emitters: false,
            filter: PixelFilter::PIXEL,
            sample_border: true,
        }
    }
}

/// Settings that override those of the scene file. `None` leaves a setting as it is.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Overrides {
    /// Width and height, pixels; see [`crate::check_size`].
    pub size: Option<(u32, u32)>,
    /// Samples per pixel.
    pub spp: Option<u32>,
    /// Seed of the sampler.
    pub seed: Option<u32>,
    /// Longest path.
    pub max_depth: Option<u32>,
    /// Bounces safe from Russian roulette; `Some(None)` turns it off.
    pub rr_depth: Option<Option<u32>>,
    /// Which points the sampler yields.
    pub sampler: Option<Sampler>,
    /// How direct light is estimated.
    pub direct: Option<Direct>,
    /// What chooses the light of a sample.
    pub lights: Option<LightSelection>,
    /// Whether paths are guided.
    pub guiding: Option<Guiding>,
    /// Most memory that learning takes, MiB.
    pub guiding_memory: Option<u32>,
    /// How light from suns and directional lights is found that comes by way of smooth surfaces.
    pub caustics: Option<Caustics>,
    /// Most radiance of indirect light that a path brings at once; `Some(None)` for no limit.
    pub clamp_indirect: Option<Option<f32>>,
    /// Masking–shadowing of microfacets.
    pub masking: Option<Masking>,
}

impl Overrides {
    /// Puts these settings in the place of what the scene says.
    pub fn apply(&self, render: &mut RenderSettings) {
        fn set<T: Copy>(value: &mut T, with: Option<T>) {
            *value = with.unwrap_or(*value);
        }
        set(&mut render.width, self.size.map(|s| s.0));
        set(&mut render.height, self.size.map(|s| s.1));
        set(&mut render.spp, self.spp);
        set(&mut render.seed, self.seed);
        set(&mut render.max_depth, self.max_depth);
        set(&mut render.rr_depth, self.rr_depth);
        set(&mut render.sampler, self.sampler);
        set(&mut render.direct, self.direct);
        set(&mut render.lights, self.lights);
        set(&mut render.guiding, self.guiding);
        set(&mut render.guiding_memory, self.guiding_memory);
        set(&mut render.caustics, self.caustics);
        set(&mut render.clamp_indirect, self.clamp_indirect);
        set(&mut render.masking, self.masking);
    }
}
