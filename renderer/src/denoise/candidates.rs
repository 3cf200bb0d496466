//! Candidates for the denoised image, and the choice among them.

use device::denoise::{BlendArgs, ChooseArgs, JudgeArgs, Strip};
use device::path::stage::stages;
use torrance_gpu::backend::{Backend, Buffer, Error};

use super::frame::Frame;

/// Candidates for the image. The first is what errors are relative to, and the last is the noisy image.
pub(super) struct Candidates<'a, B: Backend> {
    frame: &'a Frame<B>,
    /// Three planes of either half of the noisy image.
    noisy: &'a B::Buf<f32>,
    count: usize,
    /// Three planes of each.
    images: B::Buf<f32>,
    /// A plane of each.
    errors: B::Buf<f32>,
}

impl<'a, B: Backend> Candidates<'a, B> {
    pub(super) fn new(
        backend: &mut B,
        frame: &'a Frame<B>,
        noisy: &'a B::Buf<f32>,
        count: usize,
    ) -> Result<Self, Error> {
        let images = frame.planes(backend, "candidates", 3 * count)?;
        let errors = frame.planes(backend, "errors of candidates", count)?;
        Ok(Self { frame, noisy, count, images, errors })
    }

    /// Takes in a strip of a candidate, of which there are both halves.
    pub(super) fn judge(
        &self,
        backend: &mut B,
        strip: Strip,
        (number, halves): (usize, &B::Buf<f32>),
    ) -> Result<(), Error> {
        let Self { frame, noisy, images, errors, .. } = self;
        let args = JudgeArgs {
            strip,
            halves: frame.halves(noisy).map(<*mut f32>::cast_const),
            share: frame.share.ptr(),
            candidates: frame.halves(halves).map(<*mut f32>::cast_const),
            guide: frame.plane(images, 0),
            candidate: frame.plane(images, 3 * number),
            error: frame.plane(errors, number),
        };
        // SAFETY: the planes are so many; buffers are freed after the work.
        unsafe { backend.launch::<stages::denoise_judge>(args) }
    }

    /// Three planes of the best.
    pub(super) fn best(&self, backend: &mut B) -> Result<Vec<f32>, Error> {
        let Self { frame, count, images, errors, .. } = self;
        let choice = frame.planes(backend, "choice of candidates", 1)?;
        let image = frame.planes(backend, "denoised image", 3)?;
        let (strip, candidates) = (frame.whole(), *count as u32);
        frame.mirror(backend, errors)?;
        let choose = ChooseArgs { strip, errors: errors.ptr(), choice: choice.ptr(), candidates };
        // SAFETY: the planes are so many; buffers are freed after the work.
        unsafe { backend.launch::<stages::denoise_choose>(choose)? };
        frame.mirror(backend, &choice)?;
        let (choice, candidates) = (choice.ptr().cast_const(), images.ptr().cast_const());
        let blend = BlendArgs { strip, choice, candidates, image: image.ptr(), count: *count as u32 };
        // SAFETY: as above.
        unsafe { backend.launch::<stages::denoise_blend>(blend)? };
        backend.download(&image)
    }
}
