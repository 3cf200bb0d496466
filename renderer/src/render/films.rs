//! Films of the back ends, and as images know them.

use device::film::{FilmPixel, FirstHitPixel};
use device::path::stage::{Stage, stages};
use device::path::{FirstHitArgs, MegakernelArgs};
use device::shape::triangle::TriangleUvs;
use torrance_gpu::backend::{Backend, Buffer, Error, Place};
use torrance_gpu::primitives::Primitives;
use torrance_image::film::{Film, ImageEstimate, Pixel, Statistics};

use super::placement::Shortage;
use super::tracer::Tracer;
use super::{FirstHits, IntegratorChoice, Options, Progress, Rendered};
use crate::assemble::SceneData;

/// Merges `layers` films of `width · height` pixels each, as the back ends keep them.
///
/// # Panics
/// If `layers` is not a whole number of films.
pub fn film_of_layers(width: u32, height: u32, layers: &[FilmPixel]) -> Film {
    let n = width as usize * height as usize;
    assert!(n > 0 && layers.len().is_multiple_of(n), "film layers of the wrong size");
    let mut pixels = vec![Pixel::default(); n];
    for layer in layers.chunks_exact(n) {
        for (p, l) in pixels.iter_mut().zip(layer) {
            p.merge(&pixel(l));
        }
    }
    Film { width, height, pixels }
}

/// The sums of a pixel, which back ends keep as pairs of `f32`, in `f64`.
fn pixel(p: &FilmPixel) -> Pixel {
    let join = |hi: glam::Vec3, lo: glam::Vec3| (hi.as_dvec3() + lo.as_dvec3()).to_array();
    Pixel {
        sum: join(p.sum, p.sum_lo),
        sum_sq: join(p.sum_sq, p.sum_sq_lo),
        count: p.count.into(),
        rejected: p.rejected.into(),
    }
}

/// Films that a render accumulates into, in the memory of a back end.
pub(super) struct Films<B: Backend> {
    pub(super) image: B::Buf<FilmPixel>,
    /// Films of paths of at most one segment, and of two.
    shorter: Option<[B::Buf<FilmPixel>; 2]>,
    /// First hits, with the texture coordinates of the scene's primitives.
    first_hits: Option<(B::Buf<FirstHitPixel>, B::Buf<TriangleUvs>)>,
}

impl<B: Primitives> Films<B> {
    pub(super) fn new(
        backend: &mut B,
        scene: &SceneData,
        options: Options<'_>,
        layers: u32,
    ) -> Result<Self, Error> {
        backend.placing(Place::Anywhere, |backend| Self::anywhere(backend, scene, options, layers))
    }

    /// Bytes that they take.
    pub(super) fn bytes(scene: &SceneData, options: Options<'_>, layers: u32) -> u64 {
        let pixels = u64::from(scene.width) * u64::from(scene.height) * u64::from(layers);
        let images = if options.shorter { 3 } else { 1 };
        let first_hits =
            options.first_hits.map_or((0, 0), |uvs| (size_of::<FirstHitPixel>(), size_of_val(uvs)));
        pixels * (images * size_of::<FilmPixel>() + first_hits.0) as u64 + first_hits.1 as u64
    }

    /// Bytes of them that are in the memory of the host, as the machine's has no room.
    pub(super) fn on_host(&self) -> u64 {
        let mut bytes = 0;
        for film in [&self.image].into_iter().chain(self.shorter.iter().flatten()) {
            Shortage::count(film, &mut bytes);
        }
        if let Some((film, uvs)) = &self.first_hits {
            Shortage::count(film, &mut bytes);
            Shortage::count(uvs, &mut bytes);
        }
        bytes
    }

    fn anywhere(
        backend: &mut B,
        scene: &SceneData,
        options: Options<'_>,
        layers: u32,
    ) -> Result<Self, Error> {
        let pixels = scene.width as usize * scene.height as usize * layers as usize;
        let mut film = |label| backend.zeroed(label, pixels);
        let image = film("film")?;
        let shorter = match options.shorter {
            true => Some([film("film of emission")?, film("film of direct light")?]),
            false => None,
        };
        let first_hits = match options.first_hits {
            Some(uvs) => Some((
                backend.zeroed("film of first hits", pixels)?,
                backend.upload("texture coordinates of all primitives", uvs)?,
            )),
            None => None,
        };
        Ok(Self { image, shorter, first_hits })
    }

    /// Takes the samples of `args` into every film.
    ///
    /// # Safety
    /// As [`Backend::launch`], but for the films, which are these.
    pub(super) unsafe fn launch<S: Stage<Args = MegakernelArgs>>(
        &self,
        backend: &mut B,
        tracer: &mut Tracer<B>,
        args: MegakernelArgs,
    ) -> Result<(), Error> {
        // SAFETY: as the caller promised; all films are of one size.
        unsafe {
            tracer.trace::<S>(backend, args)?;
            for (film, depth) in self.shorter.iter().flatten().zip(1..) {
                let mut shorter = MegakernelArgs { film: film.ptr(), ..args };
                shorter.settings.max_depth = depth.min(args.settings.max_depth);
                backend.launch::<S>(shorter)?;
            }
            if let Some((film, uvs)) = &self.first_hits {
                let take = args.into_film(film.ptr());
                let uvs = if uvs.is_empty() { std::ptr::null() } else { uvs.ptr().cast_const() };
                backend.launch::<stages::first_hit>(FirstHitArgs { take, uvs })?;
            }
        }
        Ok(())
    }

    /// The relative standard error of the image so far.
    pub(super) fn noise(&self, backend: &mut B, scene: &SceneData) -> Result<f64, Error> {
        let film = film_of_layers(scene.width, scene.height, &backend.download(&self.image)?);
        Ok(Statistics::relative_stderr_of(&ImageEstimate::from(&film)))
    }

    pub(super) fn develop(
        &self,
        backend: &mut B,
        scene: &SceneData,
        progress: Progress,
        (interrupted, integrator): (bool, IntegratorChoice),
    ) -> Result<Rendered, Error> {
        let (width, height) = (scene.width, scene.height);
        let mut film = |buffer| Ok(film_of_layers(width, height, &backend.download(buffer)?));
        let image = film(&self.image)?;
        let shorter = match &self.shorter {
            Some([emission, direct]) => Some([film(emission)?, film(direct)?]),
            None => None,
        };
        let first_hits = match &self.first_hits {
            Some((film, _)) => Some(FirstHits::from_layers(width, height, &backend.download(film)?)),
            None => None,
        };
        Ok(Rendered {
            film: image,
            shorter,
            first_hits,
            stage_times: None,
            progress,
            interrupted,
            integrator,
        })
    }
}
