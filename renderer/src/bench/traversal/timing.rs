//! Kinds of rays, and how fast they are traced.

use super::super::measure::Times;

/// Kind of a ray.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RayKind {
    /// Camera rays.
    Primary,
    /// Rays from the hits of camera rays to lights: whether anything is in the way.
    Shadow,
    /// Rays from the hits of camera rays, distributed as a diffuse surface reflects.
    FirstBounce,
    /// Rays from the hits of these, likewise.
    SecondBounce,
}

impl RayKind {
    /// All, in the order in which they are traced.
    pub const ALL: [Self; 4] = [Self::Primary, Self::Shadow, Self::FirstBounce, Self::SecondBounce];

    /// A name for programs.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Primary => "primary",
            Self::Shadow => "shadow",
            Self::FirstBounce => "bounce_1",
            Self::SecondBounce => "bounce_2",
        }
    }
}

/// Measurements of rays of one kind.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RayTiming {
    /// Their kind.
    pub kind: RayKind,
    /// Camera rays that they might come from.
    pub camera_rays: u64,
    /// Rays that there were, and were traced.
    pub rays: u64,
    /// Rays that met something.
    pub hits: u64,
    /// How long tracing all of them once took, seconds: the sums over the batches.
    pub times: Times,
}

impl RayTiming {
    /// Rays traced a second; zero if there were none.
    pub fn rays_per_second(&self) -> f64 {
        if self.rays == 0 { 0.0 } else { self.rays as f64 / self.times.least }
    }

    /// The part of the rays that met something; zero if there were none.
    pub fn hit_share(&self) -> f64 {
        if self.rays == 0 { 0.0 } else { self.hits as f64 / self.rays as f64 }
    }

    /// No rays yet.
    pub(super) const fn none(kind: RayKind) -> Self {
        Self { kind, camera_rays: 0, rays: 0, hits: 0, times: Times { least: 0.0, median: 0.0 } }
    }

    pub(super) fn add(&mut self, part: &Self) {
        self.camera_rays += part.camera_rays;
        self.rays += part.rays;
        self.hits += part.hits;
        self.times.least += part.times.least;
        self.times.median += part.times.median;
    }
}
