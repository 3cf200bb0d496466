//! Less noise in a rendered image: nonlinearly weighted first-order regression.
//!
//! Bitterli, Rousselle, Moon, Iglesias-Guitián, Adler, Mitchell, Jarosz and Novák 2016, "Nonlinearly Weighted First-order
//! Regression for Denoising Monte Carlo Renderings". The samples of an image are in two halves, whose noise is
//! independent. Around each pixel, the values of one half are taken for a linear function of features (albedo, normal), fitted with
//! weights that come from the other half: pixels count whose surroundings look alike (non-local means; Buades, Coll and Morel 2005, with
//! the distance of Rousselle, Knaus and Zwicker 2012, which knows the noise). Fits of several bandwidths, and the noisy image itself, are
//! candidates; which of them is nearest to the truth, each half tells of the other.
//!
//! Unlike the paper, a fit gives the value of its own pixel alone, and not of all around it, which was no better for images of torrance.
//!
//! - [`Mirror`]: planes continue beyond the border of the image.
//! - [`Limit`]: no pixel is far too bright by chance.
//! - [`Spread`]: the variance of each half.
//! - [`Difference`], [`Distance`]: how little the surroundings of two pixels look alike.
//! - [`Average`]: features, averaged over pixels that look alike.
//! - [`Regress`]: a candidate, of one half.
//! - [`Judge`]: a candidate of both halves, and its error.
//! - [`Choose`], [`Blend`]: the candidate of the least error, and the image.
//!
//! Everything is in planes of `f32` ([`Grid`]), of which CPUs take as many pixels of a row at once as their registers hold.

#![expect(private_bounds, reason = "numbers of an instruction set may only be made where the machine has it")]

mod average;
mod choose;
mod distance;
mod grid;
mod judge;
mod limit;
mod mirror;
mod regress;
mod rows;
mod spread;

pub use average::{Average, AverageArgs};
pub use choose::{Blend, BlendArgs, Choose, ChooseArgs};
pub use distance::{Difference, DifferenceArgs, Distance, DistanceArgs};
pub use grid::{Grid, MOST_PATCH, MOST_RADIUS, Offsets, Strip};
pub use judge::{Judge, JudgeArgs};
pub use limit::{Limit, LimitArgs};
pub use mirror::{Mirror, MirrorArgs};
pub use regress::{FEATURES, Regress, RegressArgs};
pub use spread::{Spread, SpreadArgs};
