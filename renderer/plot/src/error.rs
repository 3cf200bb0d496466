//! Errors of drawing and encoding pictures.

use crate::sheet::LONGEST_SIDE;

/// A picture that cannot be drawn or encoded.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum DrawError {
    /// A sheet too large for other programs to open: its width and height.
    #[error("a sheet of {} × {} pixels is too large: a side has at most {LONGEST_SIDE}", .0[0], .0[1])]
    TooLarge([f64; 2]),
    /// An image whose size differs from that of a cell of its sheet: width and height of both.
    #[error("an image of {} × {} pixels in a sheet of {} × {}", image[0], image[1], cell[0], cell[1])]
    NotACell {
        /// The image's.
        image: [u32; 2],
        /// A cell's.
        cell: [u32; 2],
    },
    /// A picture without pixels.
    #[error("{0} has no pixels")]
    NoPixels(&'static str),
    /// An animation without frames.
    #[error("an animation has at least one frame")]
    NoFrames,
    /// Frames of several sizes: width and height of two.
    #[error("frames of an animation have one size, not {} × {} and {} × {}", .0[0], .0[1], .1[0], .1[1])]
    FramesDiffer([u32; 2], [u32; 2]),
    /// A frame that is shown for too long, milliseconds.
    #[error("a frame lasts at most 65535 ms, not {0}")]
    TooSlow(u128),
    /// The error message of an encoder or drawing library.
    #[error("{0}")]
    Refused(String),
}

impl DrawError {
    pub(crate) fn refused(error: impl std::fmt::Display) -> Self {
        Self::Refused(error.to_string())
    }
}
