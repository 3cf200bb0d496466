//! Whether an image agrees with a reference within the noise of both.

use std::path::Path;

use torrance_image::film::{Film, Image, read};

/// Reference image: expected values and their standard errors, per pixel and channel.
pub struct Reference {
    /// Width, pixels.
    pub width: usize,
    /// Expected values.
    pub mean: Vec<[f64; 3]>,
    /// Their standard errors.
    pub stderr: Vec<[f64; 3]>,
}

/// Half floats are off by up to 2⁻¹¹ of their value, evenly distributed.
const HALF_ROUNDING: f64 = 2.9e-4;

impl Reference {
    /// `NAME.exr` and `NAME_stderr.exr`, stored as half floats.
    ///
    /// # Panics
    /// If they cannot be read.
    pub fn read(folder: &Path, name: &str) -> Self {
        let image = |file: String| -> Image { read(&folder.join(file)).expect("the reference is readable") };
        let (mean, stderr) = (image(format!("{name}.exr")), image(format!("{name}_stderr.exr")));
        let widen = |i: Image| i.pixels.into_iter().map(|p| p.map(f64::from)).collect();
        Self { width: mean.width as usize, mean: widen(mean), stderr: widen(stderr) }
    }

    /// Another render as the reference.
    pub fn film(film: &Film) -> Self {
        Self {
            width: film.width as usize,
            mean: film.pixels.iter().map(|p| p.mean()).collect(),
            stderr: film.pixels.iter().map(|p| p.stderr()).collect(),
        }
    }

    /// Known exactly.
    pub fn exact(width: usize, mean: Vec<[f64; 3]>) -> Self {
        let stderr = vec![[0.0; 3]; mean.len()];
        Self { width, mean, stderr }
    }
}

/// How an image differs from its reference.
#[derive(Debug, Clone, Copy)]
pub struct Difference {
    /// Largest relative difference of a channel's mean over the image.
    pub mean: f64,
    /// Root mean square over pixels and channels of z = (a − b) / √(se²a + se²b).
    pub z_rms: f64,
    /// The same for the means of blocks of 8 × 8 pixels, in which differences add up and noise does not.
    pub block_z_rms: f64,
    /// Number of blocks.
    pub blocks: usize,
}

impl Difference {
    /// Whether there is no evidence of different expectations: means within 0.5 %, z as for equal ones.
    ///
    /// The squares of n independent z add up to n ± √(2n). The bound of the blocks stands at six such deviations,
    /// and a tenth more for standard errors that are themselves estimates.
    pub fn agrees(&self) -> bool {
        let n = self.blocks as f64 * 3.0;
        let block_bound = (1.1 * (1.0 + 6.0 * (2.0 / n).sqrt())).sqrt();
        self.mean <= 0.005 && self.z_rms <= 1.1 && self.block_z_rms <= block_bound
    }
}

/// Compares a film with a reference. `half` says that the reference was rounded to half floats.
///
/// # Panics
/// If the sizes differ.
pub fn compare(film: &Film, reference: &Reference, half: bool) -> Difference {
    assert_eq!((film.width as usize, film.pixels.len()), (reference.width, reference.mean.len()), "sizes");
    let rounding = if half { HALF_ROUNDING } else { 1e-6 };
    let width = reference.width;
    let blocks_x = width.div_ceil(8);
    let mut blocks = vec![[Block::default(); 3]; blocks_x * (film.pixels.len() / width).div_ceil(8)];
    let (mut z2, mut sums) = (0.0, [[0.0; 2]; 3]);
    for (i, pixel) in film.pixels.iter().enumerate() {
        let (mean, stderr) = (pixel.mean(), pixel.stderr());
        for c in 0..3 {
            let (a, b) = (mean[c], reference.mean[i][c]);
            let noise = stderr[c].powi(2) + reference.stderr[i][c].powi(2);
            let rounding = rounding * b;
            z2 += (a - b).powi(2) / (noise + rounding.powi(2) + 1e-30);
            blocks[i / width / 8 * blocks_x + i % width / 8][c].add(a - b, noise, rounding);
            sums[c][0] += a;
            sums[c][1] += b;
        }
    }
    let block_z2: f64 = blocks.iter().flatten().map(Block::z2).sum();
    Difference {
        mean: sums.map(|[a, b]| (a / b - 1.0).abs()).into_iter().fold(0.0, f64::max),
        z_rms: (z2 / (3 * film.pixels.len()) as f64).sqrt(),
        block_z_rms: (block_z2 / (3 * blocks.len()) as f64).sqrt(),
        blocks: blocks.len(),
    }
}

/// Sums over a block of pixels.
#[derive(Clone, Copy, Default)]
struct Block {
    difference: f64,
    noise: f64,
    rounding: f64,
}

impl Block {
    fn add(&mut self, difference: f64, noise: f64, rounding: f64) {
        self.difference += difference;
        self.noise += noise;
        // Neighbours of like value round alike: their errors add up.
        self.rounding += rounding;
    }

    fn z2(&self) -> f64 {
        self.difference.powi(2) / (self.noise + self.rounding.powi(2) + 1e-30)
    }
}
