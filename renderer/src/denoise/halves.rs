//! What a denoiser knows of an image.

use device::denoise::{FEATURES, Grid};
use rayon::prelude::*;
use torrance_image::film::image::is_finite;
use torrance_image::film::layers::{Layers, SAMPLES, STDERR};

use super::planes::pack;

/// An image and its features, of two halves of its samples. All numbers are finite.
#[derive(Debug, Clone, PartialEq)]
pub struct Halves {
    /// Width and height, pixels. Not zero.
    pub size: [u32; 2],
    /// Radiance of either half.
    pub color: [Vec<[f32; 3]>; 2],
    /// The part of a pixel's samples that is in the first half, in (0, 1).
    pub share: Vec<f32>,
    /// The square of the standard error of both halves together, if it is known.
    pub variance: Option<Vec<[f32; 3]>>,
    /// Albedo of either half, at least 0, if it is known.
    pub albedo: Option<[Vec<[f32; 3]>; 2]>,
    /// Normals of either half, zero where there is no surface, if they are known.
    pub normal: Option<[Vec<[f32; 3]>; 2]>,
    /// Whether the halves are of samples, and not made of the image and its noise.
    pub are_of_samples: bool,
}

/// Why an image cannot be denoised.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnknownNoise {
    /// It has no pixels that could be read.
    #[error("{0}")]
    NoImage(String),
    /// Nothing tells its noise.
    #[error(
        "its noise is not known: NFOR takes the layers \"halves\" or \"stderr\" of at least two samples a pixel, which EXR files of \
         torrance render have (--aov halves)"
    )]
    NoNoise,
}

/// The layer of the first half of the samples, of which it has a channel, too, that says how many they are.
pub const HALVES: &str = "halves";

/// The part of a pixel's samples that each half has, at least. Where one has fewer, as in pixels of adaptive renders that get most of
/// theirs later, its noise hides what the other one shows, and made halves are better.
const LEAST_SHARE: f32 = 0.3;

impl Halves {
    /// Those of an image and its layers. What is NaN or infinite is taken as black.
    ///
    /// Where there is no layer [`HALVES`], or a pixel has almost all of its samples in one half, halves are made of the image and its standard errors: with x the value of a pixel, σ its
    /// error, and ξ a random number of the standard normal distribution, x + σξ and x − σξ are independent and have twice the variance
    /// of x, if the noise is normal (Rasines and Young 2023, "Splitting strategies for post-selection inference").
    ///
    /// # Errors
    /// There is no image, or its noise is not known.
    pub fn of(image: &Layers) -> Result<Self, UnknownNoise> {
        let size = [image.width, image.height];
        let whole = finite(image, "").ok_or_else(|| UnknownNoise::NoImage(image.no_image()))?;
        let stderr = finite(image, STDERR);
        let features = ["albedo", "N"].map(|layer| finite(image, layer));
        if let Some(counts) = Counts::of(image).filter(Counts::are_divided)
            && let Some(first) = finite(image, HALVES)
        {
            let halves = |layer: &str, whole: Option<Vec<[f32; 3]>>| {
                let first = finite(image, &format!("{HALVES}.{layer}"))?;
                Some(counts.halves(first, &whole?))
            };
            let [albedo, normal] = features;
            let mut color = counts.halves(first, &whole);
            if let Some(stderr) = &stderr {
                // In adaptive renders, pixels that were done early, or got most samples late.
                for i in (0..whole.len()).filter(|i| !Counts::is_divided(counts.0[*i])) {
                    (color[0][i], color[1][i]) = made_halves(i, whole[i], stderr[i]);
                }
            }
            return Ok(Self {
                size,
                share: counts.shares(),
                variance: stderr.map(squares),
                albedo: halves("albedo", albedo),
                normal: halves("N", normal),
                color,
                are_of_samples: true,
            });
        }
        // Of one sample, errors are infinite.
        let is_known = image.rgb(STDERR).is_some_and(|errors| errors.iter().any(is_finite));
        let stderr = stderr.filter(|_| is_known).ok_or(UnknownNoise::NoNoise)?;
        let [albedo, normal] = features.map(|layer| layer.map(|values| [values.clone(), values]));
        let pixels = whole.par_iter().zip(&stderr).enumerate();
        let (first, second) = pixels.map(|(i, (value, stderr))| made_halves(i, *value, *stderr)).unzip();
        Ok(Self {
            size,
            color: [first, second],
            share: vec![0.5; whole.len()],
            variance: Some(squares(stderr)),
            albedo,
            normal,
            are_of_samples: false,
        })
    }

    /// Planes of the features of either half; `None` without any.
    pub(super) fn pack_features(&self, grid: Grid) -> Option<Vec<f32>> {
        if self.albedo.is_none() && self.normal.is_none() {
            return None;
        }
        let nothing = vec![[0.0; 3]; self.share.len()];
        let of_half = |half: usize| {
            [&self.albedo, &self.normal].map(|of| of.as_ref().map_or(&nothing[..], |of| &of[half][..]))
        };
        let ([a, b], [c, d]) = (of_half(0), of_half(1));
        let planes = pack(grid, [a, b, c, d], 1.0);
        debug_assert_eq!(planes.len(), 2 * FEATURES * grid.plane());
        Some(planes)
    }
}

/// A layer, black where it is NaN or infinite.
fn finite(image: &Layers, layer: &str) -> Option<Vec<[f32; 3]>> {
    let mut values = image.rgb(layer)?;
    values.iter_mut().filter(|value| !is_finite(value)).for_each(|value| *value = [0.0; 3]);
    Some(values)
}

fn squares(values: Vec<[f32; 3]>) -> Vec<[f32; 3]> {
    values.into_iter().map(|value| value.map(|x| x * x)).collect()
}

/// Samples of each pixel: in the first half, and in all.
struct Counts(Vec<[f32; 2]>);

impl Counts {
    fn of(image: &Layers) -> Option<Self> {
        let first = image.channel(&format!("{HALVES}.{SAMPLES}"))?;
        let all = image.channel(SAMPLES)?;
        Some(Self((0..image.pixels()).map(|i| [first.samples.get(i), all.samples.get(i)]).collect()))
    }

    /// Whether any pixel is divided.
    fn are_divided(&self) -> bool {
        self.0.iter().any(|n| Self::is_divided(*n))
    }

    /// Whether both halves have samples, and neither has far fewer.
    fn is_divided([first, all]: [f32; 2]) -> bool {
        first.min(all - first) > 0.0 && first.min(all - first) >= LEAST_SHARE * all
    }

    fn shares(&self) -> Vec<f32> {
        let share = |n: &[f32; 2]| if Self::is_divided(*n) { n[0] / n[1] } else { 0.5 };
        self.0.iter().map(share).collect()
    }

    /// The means of both halves: what the samples of the first lack to those of all is the second. Where they are not divided, both are the
    /// mean of all.
    fn halves(&self, first: Vec<[f32; 3]>, whole: &[[f32; 3]]) -> [Vec<[f32; 3]>; 2] {
        let both = |((a, all), n): ((&[f32; 3], &[f32; 3]), &[f32; 2])| {
            if !Self::is_divided(*n) {
                return (*all, *all);
            }
            let [first, n] = n.map(f64::from);
            let rest = |c| ((n * f64::from(all[c]) - first * f64::from(a[c])) / (n - first)) as f32;
            (*a, [0, 1, 2].map(rest))
        };
        let (first, second) = first.par_iter().zip(whole).zip(&self.0).map(both).unzip();
        [first, second]
    }
}

/// Halves of pixel `i`, made of its value and standard error: x + σξ and x − σξ, with always the same ξ.
fn made_halves(i: usize, x: [f32; 3], stderr: [f32; 3]) -> ([f32; 3], [f32; 3]) {
    let noise = normal(i as u64);
    let half = |sign: f32| [0, 1, 2].map(|c| x[c] + sign * noise * stderr[c]);
    (half(1.0), half(-1.0))
}

/// A number of the standard normal distribution for each index (Box and Muller 1958).
pub(super) fn normal(index: u64) -> f32 {
    let uniform = |index: u64| (mixed(index) >> 11) as f64 / (1_u64 << 53) as f64;
    let radius = (-2.0 * (1.0 - uniform(2 * index)).ln()).sqrt();
    (radius * (std::f64::consts::TAU * uniform(2 * index + 1)).cos()) as f32
}

/// A hash whose bits are all random (SplitMix64; Steele, Lea and Flood 2014).
fn mixed(index: u64) -> u64 {
    let x = index.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

#[cfg(test)]
mod tests {
    use torrance_image::film::layers::Samples;

    use super::*;

    /// An image of three pixels, of 8 samples each, with so many in the first half.
    fn image(first: [u32; 3], stderr: f32) -> Layers {
        let mut layers = Layers::new(3, 1);
        layers.push_floats("", ["R", "G", "B"], &[[1.0; 3]; 3]);
        layers.push_floats(STDERR, ["R", "G", "B"], &[[stderr; 3]; 3]);
        layers.push(SAMPLES, Samples::Uint(vec![8; 3]));
        layers.push_floats(HALVES, ["R", "G", "B"], &[[1.25; 3]; 3]);
        layers.push(format!("{HALVES}.{SAMPLES}"), Samples::Uint(first.to_vec()));
        layers
    }

    /// Pixels that were done before the first half was get halves by their standard errors, and those that got most samples after it.
    #[test]
    fn halves_that_are_nearly_all_or_nothing_are_made() {
        let halves = Halves::of(&image([4, 8, 2], 0.1)).unwrap();
        assert!(halves.are_of_samples);
        assert_eq!([halves.color[0][0], halves.color[1][0]], [[1.25; 3], [0.75; 3]]);
        for i in 1..3 {
            let [a, b] = [0, 1].map(|half| halves.color[half][i][0]);
            assert!(a != b && ((a + b) / 2.0 - 1.0).abs() < 1e-6 && (a - 1.0).abs() < 0.5, "{a} {b}");
            assert_eq!(halves.share[i], 0.5);
        }
        assert!(!Halves::of(&image([8; 3], 0.1)).unwrap().are_of_samples);
    }

    #[test]
    fn the_noise_of_one_sample_is_not_known() {
        assert_eq!(Halves::of(&image([8; 3], f32::INFINITY)), Err(UnknownNoise::NoNoise));
    }
}
