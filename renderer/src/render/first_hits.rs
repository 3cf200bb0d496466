//! First hits of the camera rays of every pixel.

use device::film::{FirstHitPixel, Sum};
use glam::DVec3;

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
    /// Merges `layers` films of `width · height` pixels each, as the back ends keep them.
    ///
    /// # Panics
    /// If `layers` is not a whole number of films.
    pub fn from_layers(width: u32, height: u32, layers: &[FirstHitPixel]) -> Self {
        let n = width as usize * height as usize;
        assert!(n > 0 && layers.len().is_multiple_of(n), "film layers of the wrong size");
        let pixels = (0..n).map(|i| FirstHit::new(layers[i..].iter().step_by(n))).collect();
        Self { width, height, pixels }
    }
}

impl FirstHit {
    /// The means over the samples of all layers of a pixel.
    fn new<'a>(layers: impl Iterator<Item = &'a FirstHitPixel> + Clone) -> Self {
        let sum = |of: fn(&FirstHitPixel) -> Sum| -> DVec3 {
            layers.clone().map(of).map(|sum| sum.hi.as_dvec3() + sum.lo.as_dvec3()).sum()
        };
        let count = |of: fn(&FirstHitPixel) -> u32| layers.clone().map(|l| f64::from(of(l))).sum::<f64>();
        let (samples, hits) = (count(|l| l.samples).max(1.0), count(|l| l.hits));
        let mean = |sum: DVec3, n: f64| (sum / n).as_vec3().to_array();
        let [u, v, _] = mean(sum(|l| l.uv), hits.max(1.0));
        let center = layers.clone().map(|l| l.center).max().unwrap_or(0);
        Self {
            albedo: mean(sum(|l| l.albedo), samples),
            ns: mean(sum(|l| l.ns), samples),
            ng: mean(sum(|l| l.ng), samples),
            p: (hits > 0.0).then(|| mean(sum(|l| l.p), hits)),
            uv: [u, v],
            center: center.checked_sub(1),
        }
    }
}
