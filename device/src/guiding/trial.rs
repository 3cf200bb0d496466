//! What guiding is worth: what a path has brought, and what it would have been without a guide.

use bytemuck::{Pod, Zeroable};

/// What one path has brought.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(C, align(8))]
pub struct Trial {
    /// The luminance.
    pub luminance: f32,
    /// The square of what the same path would have brought if BSDFs alone had drawn it, times the probability with which they do over
    /// that with which it was drawn: Russian roulette apart, the mean of this is the second moment of paths that are not guided, of
    /// which those that matter most may be so rare that none would be seen.
    pub unguided_square: f32,
}

/// A path under way, as it is and as BSDFs alone would have drawn it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Twin {
    /// The density of its directions over that with which BSDFs draw them.
    pub(crate) ratio: f32,
    /// What it would have brought so far.
    luminance: f32,
}

impl Twin {
    pub(crate) const NEW: Self = Self { ratio: 1.0, luminance: 0.0 };

    /// The path gathers something, by directions that were drawn at such a ratio of densities.
    #[inline(always)]
    pub(crate) fn gather(&mut self, luminance: f32, ratio: f32) {
        self.luminance += luminance * ratio;
    }

    /// The path goes on in a direction that was drawn with `pdf`, 0 or less of a delta lobe, and by the BSDF alone with `bsdf_pdf`, where the
    /// probability of the BSDF was `of_bsdf`.
    #[inline(always)]
    pub(crate) fn turn(&mut self, pdf: f32, bsdf_pdf: f32, of_bsdf: f32) {
        if pdf <= 0.0 {
            self.ratio *= of_bsdf;
        } else if bsdf_pdf > 0.0 {
            self.ratio *= pdf / bsdf_pdf;
        }
    }

    /// The path ends, having brought so much.
    #[inline(always)]
    pub(crate) fn end(&self, luminance: f32) -> Trial {
        Trial { luminance, unguided_square: self.luminance * self.luminance / self.ratio }
    }
}
