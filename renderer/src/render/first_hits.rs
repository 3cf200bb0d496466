//! First hits of the camera rays of every pixel.

use bytemuck::{Pod, Zeroable};
use device::film::{FirstHitPixel, Sum};
use glam::DVec3;
use rayon::prelude::*;

/// First hits of the camera rays of every pixel, row by row from the top left.
#[derive(Debug, Clone, PartialEq)]
pub struct FirstHits {
    /// Width, pixels.
    pub width: u32,
    /// Height, pixels.
    pub height: u32,
    /// `width · height` pixels.
    pub pixels: Vec<FirstHit>,
}

/// First hits of a pixel's camera rays.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct FirstHit {
    /// Mean over all samples of the weight with which the surface scatters the ray: the albedo for light from where
    /// the camera is, if the surface covers the pixel.
    pub albedo: [f32; 3],
    /// Mean over all samples of the shading normal, on the side of the viewer; zero for those that meet nothing.
    pub ns: [f32; 3],
    /// Mean over all samples of the geometric normal, likewise.
    pub ng: [f32; 3],
    /// Mean point of the samples that meet something; `None` where none does.
    pub p: Option<[f32; 3]>,
    /// Mean texture coordinates of the samples that meet something; zero where none does.
    pub uv: [f32; 2],
    /// Index of the primitive, in the order of the scene, that the ray through the centre of the pixel meets.
    pub center: Option<u32>,
}

impl FirstHits {
    /// The means of a film.
    pub(super) fn new([width, height]: [u32; 2], film: &[FirstHitSums]) -> Self {
        Self { width, height, pixels: film.par_iter().map(FirstHit::from).collect() }
    }
}

/// The sums of [`FirstHitPixel`] in `f64`, 136 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Default, Pod, Zeroable)]
#[repr(C)]
pub(super) struct FirstHitSums {
    albedo: DVec3,
    ns: DVec3,
    ng: DVec3,
    p: DVec3,
    uv: DVec3,
    samples: u32,
    hits: u32,
    center: u32,
    padding: u32,
}

impl FirstHitSums {
    /// Adds the samples of another film's pixel.
    pub(super) fn merge(&mut self, other: &Self) {
        let Self { albedo, ns, ng, p, uv, samples, hits, center, .. } = self;
        for (sum, more) in
            [(albedo, other.albedo), (ns, other.ns), (ng, other.ng), (p, other.p), (uv, other.uv)]
        {
            *sum += more;
        }
        *samples += other.samples;
        *hits += other.hits;
        *center = (*center).max(other.center);
    }
}

impl From<&FirstHitPixel> for FirstHitSums {
    fn from(pixel: &FirstHitPixel) -> Self {
        let joined = |sum: Sum| sum.hi.as_dvec3() + sum.lo.as_dvec3();
        Self {
            albedo: joined(pixel.albedo),
            ns: joined(pixel.ns),
            ng: joined(pixel.ng),
            p: joined(pixel.p),
            uv: joined(pixel.uv),
            samples: pixel.samples,
            hits: pixel.hits,
            center: pixel.center,
            padding: 0,
        }
    }
}

impl From<&FirstHitSums> for FirstHit {
    /// The means.
    fn from(sums: &FirstHitSums) -> Self {
        let (samples, hits) = (f64::from(sums.samples.max(1)), f64::from(sums.hits.max(1)));
        let mean = |sum: DVec3, n: f64| (sum / n).as_vec3().to_array();
        let [u, v, _] = mean(sums.uv, hits);
        Self {
            albedo: mean(sums.albedo, samples),
            ns: mean(sums.ns, samples),
            ng: mean(sums.ng, samples),
            p: (sums.hits > 0).then(|| mean(sums.p, hits)),
            uv: [u, v],
            center: sums.center.checked_sub(1),
        }
    }
}
