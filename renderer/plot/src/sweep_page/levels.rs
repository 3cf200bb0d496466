//! The pixels of all variants, as precise as a budget allows. Variants are added one by one and not kept, so each is
//! encoded at every level still in question, and a level is dropped as soon as it exceeds the budget.

use std::io;

use rayon::prelude::*;
use torrance_image::film::Image;

use super::unfit;
use crate::web::{Detail, Grid, PixelData, least_reduction};

/// Precision and reduction of each level, finest first; the last is used however large it is.
const LEVELS: [(Detail, u32); 7] = [
    (Detail::Exact, 1),
    (Detail::Display, 1),
    (Detail::Display, 2),
    (Detail::Display, 3),
    (Detail::Display, 4),
    (Detail::Display, 6),
    (Detail::Display, 8),
];

/// The variants so far.
pub(super) struct Levels {
    budget: usize,
    size: Option<[u32; 2]>,
    /// The levels that still fit, finest first.
    levels: Vec<Level>,
}

/// The variants at one level.
struct Level {
    detail: Detail,
    /// Side of the squares that become one pixel, in those of the least reduction that images of the size need.
    factor: u32,
    /// The encoded image of each variant, if it has one.
    parts: Vec<Option<PixelData>>,
    bytes: usize,
}

/// The pixels of all variants at the chosen level.
pub(super) struct Pixels {
    /// Original size and reduction of the images; `None` without images.
    pub(super) grid: Option<Grid>,
    /// Their precision.
    pub(super) detail: Detail,
    /// The encoded image of each variant, if it has one.
    pub(super) parts: Vec<Option<PixelData>>,
}

impl Levels {
    /// No variants yet; their pixels may take `budget` bytes.
    pub(super) fn new(budget: usize) -> Self {
        let level = |(detail, factor)| Level { detail, factor, parts: Vec::new(), bytes: 0 };
        Self { budget, size: None, levels: LEVELS.map(level).into() }
    }

    /// Adds the image of the next variant, or `None` if it is missing.
    ///
    /// # Errors
    /// Its size differs from that of the earlier images.
    pub(super) fn add(&mut self, image: Option<&Image>) -> io::Result<()> {
        let Some(image) = image else {
            self.levels.iter_mut().for_each(|level| level.parts.push(None));
            return Ok(());
        };
        let size = [image.width, image.height];
        let [w, h] = *self.size.get_or_insert(size);
        if size != [w, h] {
            let [width, height] = size;
            return Err(unfit(format!("an image of {width} × {height} pixels among some of {w} × {h}")));
        }
        self.levels.par_iter_mut().for_each(|level| level.add(image));
        while self.levels.len() > 1 && self.levels[0].bytes > self.budget {
            self.levels.remove(0);
        }
        Ok(())
    }

    /// The finest level that fits.
    pub(super) fn finest(mut self) -> Pixels {
        let Level { detail, factor, parts, .. } = self.levels.swap_remove(0);
        let grid = self.size.map(|size| Grid { size, reduction: factor * least_reduction(size) });
        Pixels { grid, detail, parts }
    }
}

impl Level {
    fn add(&mut self, image: &Image) {
        let size = [image.width, image.height];
        let grid = Grid { size, reduction: self.factor * least_reduction(size) };
        let part = grid.image("radiance", image, self.detail);
        self.bytes += part.base64.len();
        self.parts.push(Some(part));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The level at which three noisy images and a missing one fit into a budget.
    fn level(budget: usize) -> (Detail, u32, usize) {
        let noise = |i: usize| [0.3 + (i * 7919 % 1013) as f32 * 1e-3; 3];
        let image = Image { width: 64, height: 64, pixels: (0..64 * 64).map(noise).collect() };
        let mut levels = Levels::new(budget);
        for image in [Some(&image), None, Some(&image), Some(&image)] {
            levels.add(image).expect("they are of one size");
        }
        let Pixels { grid, detail, parts } = levels.finest();
        assert_eq!(parts.iter().map(Option::is_some).collect::<Vec<_>>(), [true, false, true, true]);
        let bytes = parts.iter().flatten().map(|part| part.base64.len()).sum();
        (detail, grid.expect("images").reduction, bytes)
    }

    #[test]
    fn the_finest_that_fits_is_taken() {
        let (detail, reduction, exact) = level(usize::MAX);
        assert_eq!((detail, reduction), (Detail::Exact, 1));
        assert_eq!(level(exact), (detail, reduction, exact));
        let (detail, reduction, coarser) = level(exact - 1);
        assert_eq!((detail, reduction), (Detail::Display, 1));
        assert!(coarser < exact);
        assert_eq!(level(coarser - 1).1, 2);
        let (_, reduction, bytes) = level(1);
        assert!(reduction == 8 && bytes > 1, "{reduction} {bytes}");
    }
}
