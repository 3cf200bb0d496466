//! The pixels of all variants, as exact as a budget allows. Variants come one by one and only once, so each is encoded at
//! every level that may still be the one, and levels are given up as soon as they take too much.

use rayon::prelude::*;
use torrance_image::film::Image;

use crate::web::{Detail, Grid, Part, least_reduction};

/// From the finest; the last is taken however large it is.
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
    /// Those that still fit, from the finest.
    levels: Vec<Level>,
}

/// The variants at one level.
struct Level {
    detail: Detail,
    /// Side of the squares that become one pixel, in those of the least reduction that images of the size need.
    factor: u32,
    /// By variant, those that there are.
    parts: Vec<Option<Part>>,
    bytes: usize,
}

/// The variants as the page has them.
pub(super) struct Pixels {
    /// The images as they came, and the squares of which one pixel was made. `None` if there was no image.
    pub(super) grid: Option<Grid>,
    /// How much of them is kept.
    pub(super) detail: Detail,
    /// By variant, those that there are.
    pub(super) parts: Vec<Option<Part>>,
}

impl Levels {
    /// No variants yet, of which pixels may take `budget` bytes.
    pub(super) fn new(budget: usize) -> Self {
        let level = |(detail, factor)| Level { detail, factor, parts: Vec::new(), bytes: 0 };
        Self { budget, size: None, levels: LEVELS.map(level).into() }
    }

    /// Adds the next variant, or that there is none.
    ///
    /// # Errors
    /// It is of another size than those before.
    pub(super) fn add(&mut self, image: Option<&Image>) -> Result<(), String> {
        let Some(image) = image else {
            self.levels.iter_mut().for_each(|level| level.parts.push(None));
            return Ok(());
        };
        let size = [image.width, image.height];
        let [width, height] = *self.size.get_or_insert(size);
        if size != [width, height] {
            let [w, h] = size;
            return Err(format!("an image of {w} × {h} pixels among some of {width} × {height}"));
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
