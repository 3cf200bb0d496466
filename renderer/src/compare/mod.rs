//! Whether two images have the same expectation, and how large a difference could still hide.

use crate::film::measured::Measured;

/// What the statistics say of two images.
#[derive(Debug, Clone, PartialEq)]
pub struct Judgement {
    /// The probability, at most, of evidence as strong as this where the expectations are equal.
    pub p: f64,
    /// The level: below it, the images are called different.
    pub level: f64,
    /// Where the evidence is strongest.
    pub worst: Finding,
    /// The smallest differences that would have been seen with 95 % probability.
    pub detectable: Vec<Detectable>,
    /// Per pixel, the z of the channel in which it is largest, signed: first minus second.
    pub z: Vec<f32>,
}

impl Judgement {
    /// Whether there is evidence of a difference.
    pub fn is_different(&self) -> bool {
        self.p <= self.level
    }
}

/// A rectangle of pixels, from the top left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Region {
    /// First column.
    pub x: u32,
    /// First row.
    pub y: u32,
    /// Columns.
    pub width: u32,
    /// Rows.
    pub height: u32,
}

/// What was looked at in a region.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Feature {
    /// The mean.
    Mean,
    /// Movement along x: the difference, weighted with the image's derivative.
    ShiftX,
    /// Movement along y.
    ShiftY,
    /// Sharpness: the difference, weighted with the image's curvature.
    Sharpness,
}

/// One place where two images differ, or seem to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Finding {
    /// The place.
    pub region: Region,
    /// Red, green or blue: 0, 1, 2.
    pub channel: usize,
    /// What was looked at.
    pub feature: Feature,
    /// Mean of the first image there.
    pub a: f64,
    /// Mean of the second.
    pub b: f64,
    /// Difference in standard deviations.
    pub z: f64,
    /// Its probability where nothing differs, before looking elsewhere is taken into account.
    pub p: f64,
}

/// A difference that would have been seen with 95 % probability.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Detectable {
    /// Side of the squares it fills, pixels; the whole image if `None`.
    pub block: Option<u32>,
    /// The difference, relative to the mean of the image: in the median of the blocks.
    pub median: f64,
    /// In the worst block.
    pub worst: f64,
}

/// Tests whether the expectations of two images of one size are equal, at a level such as 0.01.
pub fn judge(_a: &Measured, _b: &Measured, _level: f64) -> Judgement {
    unimplemented!("being written")
}
