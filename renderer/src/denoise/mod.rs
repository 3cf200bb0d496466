//! Less noise in a rendered image, without any library: nonlinearly weighted first-order regression (NFOR).
//!
//! `device::denoise` says how. Every back end does it. The samples of the image come in two halves, and so do its features.
//!
//! A pixel takes [`BYTES_PER_PIXEL`] in the machine's memory, and tables for a strip of rows some more.

use device::denoise::{AverageArgs, FEATURES, Grid, LimitArgs, Strip};
use device::path::stage::stages;
use torrance_gpu::backend::{Backend, Buffer, Error};
use torrance_image::film::Image;

mod candidates;
mod denoiser;
mod frame;
mod halves;
mod planes;

use candidates::Candidates;
pub use denoiser::{DENOISER, DenoiseError, Denoised, Denoiser, DenoiserChoice, Denoising, LAYER, Noisy};
use frame::{Frame, Likeness, Pair};
pub use halves::{HALVES, Halves, UnknownNoise};
use planes::{pack, pack_one, scale_of, unpack};
pub use torrance_oidn::Kind;

/// Bytes of memory that a pixel takes on the machine, but for margins.
pub const BYTES_PER_PIXEL: u128 = 4 * 55;

/// Pixels are compared with those at most so far along each axis.
const RADIUS: i32 = 5;

/// How the halves of the image are compared.
const OF_IMAGE: Likeness = Likeness { spread: 5, patch: 3, epsilon: 1e-6 };

/// How those of the pilot are.
const OF_PILOT: Likeness = Likeness { spread: 2, patch: 2, epsilon: 1e-4 };

/// How those of features are.
const OF_FEATURES: Likeness = Likeness { spread: 2, patch: 3, epsilon: 1e-5 };

/// The bandwidth of the pilot.
const PILOT: f32 = 0.5;

/// Bandwidths of the fits among which each pixel has its choice. Errors are relative to the first.
const BANDWIDTHS: [f32; 3] = [1.0, 0.5, 2.0];

/// How small the slopes of fits are kept.
const RIDGE: f32 = 1e-3;

/// Parts of the work that are done once the features, the pilot and the fits are.
const DONE: [f64; 3] = [0.15, 0.4, 1.0];

/// Removes noise from an image. After each strip of rows, `observe` is told which part of the work is done, or queued, and says
/// whether to go on; `None` if not.
///
/// # Errors
/// The image is too large, or what the machine says.
pub fn denoise<B: Backend>(
    backend: &mut B,
    noisy: &Halves,
    observe: &mut dyn FnMut(f64) -> bool,
) -> Result<Option<Image>, Error> {
    let [width, height] = noisy.size;
    let grid = Grid { width, height };
    let scale = scale_of(&noisy.color);
    let frame = Frame::new(backend, grid, &pack_one(grid, &noisy.share))?;
    let features = features(backend, &frame, noisy)?;
    let image = image(backend, &frame, noisy, scale)?;
    let mut observe = |part: usize, strip: Strip| {
        let within = f64::from(strip.top) / f64::from(height);
        observe(DONE[part] + (DONE[part + 1] - DONE[part]) * within)
    };

    let pilot = frame.planes(backend, "pilot", 6)?;
    let goes_on = frame.compare(backend, &image, RADIUS, &mut |backend, strip, tables| {
        frame.fit(backend, (&image.values, &pilot), &features, (strip, tables), PILOT)?;
        Ok(observe(0, strip))
    })?;
    if !goes_on {
        return Ok(None);
    }
    let noisy = image.values;
    drop(image.variances);
    let pilot = frame.pair(backend, pilot, None, OF_PILOT)?;

    let count = BANDWIDTHS.len() + 2;
    let candidates = Candidates::new(backend, &frame, &noisy, count)?;
    let fitted = frame.planes(backend, "fits", 6)?;
    let goes_on = frame.compare(backend, &pilot, RADIUS, &mut |backend, strip, tables| {
        for (candidate, bandwidth) in BANDWIDTHS.into_iter().enumerate() {
            frame.fit(backend, (&noisy, &fitted), &features, (strip, tables), bandwidth)?;
            candidates.judge(backend, strip, (candidate, &fitted))?;
        }
        candidates.judge(backend, strip, (count - 2, &pilot.values))?;
        candidates.judge(backend, strip, (count - 1, &noisy))?;
        Ok(observe(1, strip))
    })?;
    if !goes_on {
        return Ok(None);
    }
    let pixels = unpack(grid, &candidates.best(backend)?, 1.0 / scale);
    Ok(Some(Image { width, height, pixels }))
}

/// The halves of the image, times a factor, without pixels that are far too bright by chance.
fn image<B: Backend>(
    backend: &mut B,
    frame: &Frame<B>,
    noisy: &Halves,
    factor: f32,
) -> Result<Pair<B>, Error> {
    let halves = backend.upload(
        "halves of the image",
        &pack(frame.grid, noisy.color.each_ref().map(Vec::as_slice), factor),
    )?;
    frame.mirror(backend, &halves)?;
    let limited = frame.planes(backend, "halves of the image", 6)?;
    let args = LimitArgs {
        strip: frame.whole(),
        halves: frame.halves(&halves).map(<*mut f32>::cast_const),
        limited: frame.halves(&limited),
    };
    // SAFETY: there are three planes of each half; buffers are freed after the work.
    unsafe { backend.launch::<stages::denoise_limit>(args)? };
    let known = match &noisy.variance {
        Some(variance) => {
            let known = backend.upload("variance", &pack(frame.grid, [variance], factor * factor))?;
            frame.mirror(backend, &known)?;
            Some(known)
        }
        None => None,
    };
    let image = frame.pair(backend, limited, known.as_ref(), OF_IMAGE)?;
    backend.synchronize()?;
    Ok(image)
}

/// Planes of features with less noise; zeros if there are none.
fn features<B: Backend>(backend: &mut B, frame: &Frame<B>, noisy: &Halves) -> Result<B::Buf<f32>, Error> {
    let clean = frame.planes(backend, "features", FEATURES)?;
    let Some(halves) = noisy.pack_features(frame.grid) else { return Ok(clean) };
    let halves = backend.upload("halves of features", &halves)?;
    let features = frame.pair(backend, halves, None, OF_FEATURES)?;
    frame.compare(backend, &features, RADIUS, &mut |backend, strip, tables| {
        for half in 0..2 {
            let args = AverageArgs {
                strip,
                distances: tables.distances[1 - half].ptr(),
                values: frame.halves(&features.values)[half],
                sums: clean.ptr(),
            };
            // SAFETY: the planes are so many, and the tables are this strip's; buffers are freed after the work.
            unsafe { backend.launch::<stages::denoise_average>(args)? };
        }
        Ok(true)
    })?;
    frame.mirror(backend, &clean)?;
    Ok(clean)
}

#[cfg(test)]
mod tests;
