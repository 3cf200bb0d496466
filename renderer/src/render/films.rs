//! Films of the back ends, and as images know them.

use std::sync::Arc;

use bytemuck::Zeroable;
use device::film::{FilmPixel, FirstHitPixel, GroupPixel};
use device::matte::MattePixel;
use device::path::stage::{Stage, stages};
use device::path::{
    FirstHitArgs, GatherArgs, HALF, LightGroupArgs, MOST_KINDS, MatteArgs, MeanArgs, MegakernelArgs,
    ScatterArgs,
};
use device::shape::triangle::TriangleUvs;
use glam::DVec3;
use rayon::prelude::*;
use torrance_gpu::backend::{Backend, Buffer, Error, Place};
use torrance_gpu::primitives::Primitives;
use torrance_image::film::{Film, Image, PIXELS_PER_TASK, Pixel, Wide};

use super::Options;
use super::first_hits::FirstHitSums;
use super::light_groups::LightGroups;
use super::mattes::{Mattes, Tables};
use super::observer::FilmsSoFar;
use super::placement::Shortage;
use super::tracer::Tracer;
use super::work::Published;
use crate::assemble::SceneData;

/// Merges `layers` films of `width · height` pixels each, as the back ends keep them.
///
/// # Panics
/// If `layers` is not a whole number of films.
pub fn film_of_layers(width: u32, height: u32, layers: &[FilmPixel]) -> Film {
    let mut layers = whole_films(layers, width as usize * height as usize);
    let Some(first) = layers.next() else { return Film::new(width, height) };
    let pixels = first.par_iter().with_min_len(PIXELS_PER_TASK).map(pixel).collect();
    let mut film = Film { width, height, pixels };
    layers.for_each(|layer| add_layers(&mut film, layer));
    film
}

/// Adds films of one size.
fn add_layers(film: &mut Film, layers: &[FilmPixel]) {
    for layer in whole_films(layers, film.pixels.len()) {
        let pixels = film.pixels.par_iter_mut().with_min_len(PIXELS_PER_TASK).zip(layer);
        pixels.for_each(|(p, l)| p.merge(&pixel(l)));
    }
}

/// Films of `n` pixels each.
pub(super) fn whole_films<P>(layers: &[P], n: usize) -> std::slice::ChunksExact<'_, P> {
    assert!(n > 0 && layers.len().is_multiple_of(n), "film layers of the wrong size");
    layers.chunks_exact(n)
}

/// The sums of a pixel, which back ends keep as pairs of `f32`.
pub(super) fn pixel(p: &FilmPixel) -> Pixel {
    let join = |hi: glam::Vec3, lo: glam::Vec3| {
        std::array::from_fn(|c| {
            let mut sum = Wide::from(f64::from(hi[c]));
            sum += Wide::from(f64::from(lo[c]));
            sum
        })
    };
    Pixel {
        sum: join(p.sum, p.sum_lo),
        sum_sq: join(p.sum_sq, p.sum_sq_lo),
        count: p.count.into(),
        rejected: p.rejected.into(),
    }
}

/// Films of a back end, copied to the host: layers of pixels. By default there are none.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct RawFilms {
    pub(super) image: Vec<FilmPixel>,
    /// [`Options::shorter`].
    pub(super) shorter: Option<[Vec<FilmPixel>; 2]>,
    /// [`Options::first_hits`].
    pub(super) first_hits: Option<Vec<FirstHitPixel>>,
    /// [`Options::mattes`], a film of each kind.
    pub(super) mattes: Option<Vec<Vec<MattePixel>>>,
    /// [`Options::light_groups`].
    pub(super) light_groups: Option<RawGroups>,
}

/// Films of light groups: in each layer, that of one group after that of another.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct RawGroups {
    pub(super) groups: usize,
    pub(super) pixels: Vec<GroupPixel>,
}

/// How large films are.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct FilmShape {
    /// Pixels of each film.
    pixels: usize,
    has_shorter: bool,
    /// Pixels of all layers of what is not gathered.
    all: usize,
    has_first_hits: bool,
    /// Films of mattes.
    mattes: Option<usize>,
    light_groups: Option<usize>,
}

impl RawFilms {
    pub(super) const NONE: Self =
        Self { image: Vec::new(), shorter: None, first_hits: None, mattes: None, light_groups: None };
}

impl FilmShape {
    /// Films of this shape, of which all memory is really there: the system gives it when it is written first, which takes as long
    /// as a copy from a machine.
    pub(super) fn blank(self) -> RawFilms {
        let film = || vec_of(FilmPixel::zeroed(), self.pixels);
        RawFilms {
            image: film(),
            shorter: self.has_shorter.then(|| [film(), film()]),
            first_hits: self.has_first_hits.then(|| vec_of(FirstHitPixel::zeroed(), self.all)),
            mattes: self.mattes.map(|kinds| vec![vec_of(MattePixel::zeroed(), self.all); kinds]),
            light_groups: self.light_groups.map(|groups| {
                let pixels = vec_of(GroupPixel::zeroed(), groups * self.all);
                RawGroups { groups, pixels }
            }),
        }
    }
}

/// Elements that are written one by one; none if there is no room.
fn vec_of<T: Copy>(value: T, n: usize) -> Vec<T> {
    let mut all = Vec::new();
    if all.try_reserve_exact(n).is_ok() {
        all.extend(std::iter::repeat_n(std::hint::black_box(value), n));
    }
    all
}

/// Films of the host. What is absent has no samples yet.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct HostFilms {
    pub(super) image: Option<Film>,
    pub(super) shorter: Option<[Film; 2]>,
    pub(super) first_hits: Option<Vec<FirstHitSums>>,
    /// A film of each kind of matte.
    pub(super) mattes: Option<Vec<Vec<MattePixel>>>,
    /// The sums of each light group.
    pub(super) light_groups: Option<Vec<Vec<DVec3>>>,
}

impl HostFilms {
    /// Adds the samples of a back end.
    pub(super) fn add(&mut self, raw: &RawFilms, width: u32, height: u32) {
        let film = || Film::new(width, height);
        match &mut self.image {
            Some(image) => add_layers(image, &raw.image),
            None => self.image = Some(film_of_layers(width, height, &raw.image)),
        }
        if let Some(more) = &raw.shorter {
            let shorter = self.shorter.get_or_insert_with(|| [film(), film()]);
            shorter.iter_mut().zip(more).for_each(|(film, layers)| add_layers(film, layers));
        }
        if let Some(layers) = &raw.first_hits {
            let n = width as usize * height as usize;
            let hits = self.first_hits.get_or_insert_with(|| vec![FirstHitSums::zeroed(); n]);
            for layer in whole_films(layers, n) {
                hits.par_iter_mut().zip(layer).for_each(|(sums, pixel)| sums.merge(&pixel.into()));
            }
        }
        if let Some(films) = &raw.mattes {
            let n = width as usize * height as usize;
            let mattes = self.mattes.get_or_insert_with(|| vec![vec![MattePixel::zeroed(); n]; films.len()]);
            for (film, layers) in mattes.iter_mut().zip(films) {
                for layer in whole_films(layers, n) {
                    film.par_iter_mut().zip(layer).for_each(|(pixel, more)| pixel.merge(more));
                }
            }
        }
        if let Some(RawGroups { groups, pixels }) = &raw.light_groups {
            let n = width as usize * height as usize;
            let sums = self.light_groups.get_or_insert_with(|| vec![vec![DVec3::ZERO; n]; *groups]);
            for (i, film) in whole_films(pixels, n).enumerate() {
                let added = sums[i % groups].par_iter_mut().zip(film);
                added.for_each(|(sum, GroupPixel { sum: more, .. })| {
                    *sum += more.hi.as_dvec3() + more.lo.as_dvec3();
                });
            }
        }
    }

    /// Adds the samples of an image, if there are any.
    pub(super) fn add_image(&mut self, film: Option<Arc<Film>>) {
        match (&mut self.image, film) {
            (Some(image), Some(film)) => image.merge(&film),
            (None, Some(film)) => self.image = Some(Arc::unwrap_or_clone(film)),
            (_, None) => {}
        }
    }
}

/// Films of mattes in the memory of a back end, and what their stage reads.
struct MatteFilms<B: Backend> {
    /// One of each kind.
    films: Vec<B::Buf<MattePixel>>,
    ends: B::Buf<u32>,
    of_run: B::Buf<u32>,
    of_instance: B::Buf<u32>,
}

impl<B: Backend> MatteFilms<B> {
    fn new(backend: &mut B, mattes: &Mattes, scene: &SceneData, pixels: usize) -> Result<Self, Error> {
        let Tables { ends, of_run, of_instance } = mattes.tables(&scene.geometry.shape_of);
        let films = (0..mattes.len()).map(|_| backend.zeroed("film of a matte", pixels));
        Ok(Self {
            films: films.collect::<Result<_, _>>()?,
            ends: backend.upload("ends of shapes", &ends)?,
            of_run: backend.upload("ids of shapes", &of_run)?,
            of_instance: backend.upload("ids of instances", &of_instance)?,
        })
    }

    /// Bytes that they take for so many pixels.
    fn bytes(mattes: &Mattes, scene: &SceneData, pixels: u64) -> u64 {
        let Tables { ends, of_run, of_instance } = mattes.tables(&scene.geometry.shape_of);
        let tables = size_of_val(&*ends) + size_of_val(&*of_run) + size_of_val(&*of_instance);
        (mattes.len() * size_of::<MattePixel>()) as u64 * pixels + tables as u64
    }

    /// Bytes of them that are in the memory of the host.
    fn count_on_host(&self, bytes: &mut u64) {
        self.films.iter().for_each(|film| Shortage::count(film, bytes));
        [&self.ends, &self.of_run, &self.of_instance]
            .into_iter()
            .for_each(|table| Shortage::count(table, bytes));
    }

    /// Takes the samples of `args` into them.
    ///
    /// # Safety
    /// As [`Films::launch`].
    unsafe fn launch(&self, backend: &mut B, args: &MegakernelArgs) -> Result<(), Error> {
        let mut films = [std::ptr::null_mut(); MOST_KINDS];
        films.iter_mut().zip(&self.films).for_each(|(to, film)| *to = film.ptr());
        let matte = MatteArgs {
            take: args.into_film(films[0]),
            films,
            ends: self.ends.ptr().cast_const(),
            of_run: self.of_run.ptr().cast_const(),
            of_instance: self.of_instance.ptr().cast_const(),
            runs: self.ends.len() as u32,
            instances: (self.of_instance.len() / self.films.len()) as u32,
        };
        // SAFETY: as the caller promised; the tables are of this scene.
        unsafe { backend.launch::<stages::matte>(matte) }
    }
}

/// Films of light groups in the memory of a back end, with the group of each light.
struct GroupFilms<B: Backend> {
    groups: usize,
    /// As in [`RawGroups`].
    film: B::Buf<GroupPixel>,
    group_of: B::Buf<u32>,
}

impl<B: Backend> GroupFilms<B> {
    fn new(backend: &mut B, groups: &LightGroups, scene: &SceneData, pixels: usize) -> Result<Self, Error> {
        Ok(Self {
            groups: groups.len(),
            film: backend.zeroed("films of light groups", groups.len() * pixels)?,
            group_of: backend.upload("groups of lights", &groups.of_lights(&scene.lights.sources))?,
        })
    }

    /// Takes the samples of `args` into them.
    ///
    /// # Safety
    /// As [`Films::launch`].
    unsafe fn launch(&self, backend: &mut B, args: &MegakernelArgs) -> Result<(), Error> {
        let take = args.into_film(self.film.ptr());
        let group_of = self.group_of.ptr().cast_const();
        let groups = LightGroupArgs { take, group_of, groups: self.groups as u32 };
        // SAFETY: as the caller promised; the lights are those of the scene.
        unsafe {
            match take.scene.guide.nodes.is_null() && take.settings.walks == 0 {
                true => backend.launch::<stages::light_groups>(groups),
                false => backend.launch::<stages::light_groups_guided>(groups),
            }
        }
    }
}

/// The name of means in errors.
pub(super) const MEAN: &str = "mean radiance";

/// Films that a render accumulates into, in the memory of a back end.
pub(super) struct Films<B: Backend> {
    /// Pixels of each layer.
    pixels: usize,
    pub(super) image: B::Buf<FilmPixel>,
    /// Films of paths of at most one segment, and of two.
    shorter: Option<[B::Buf<FilmPixel>; 2]>,
    /// First hits, with the texture coordinates of the scene's primitives.
    first_hits: Option<(B::Buf<FirstHitPixel>, B::Buf<TriangleUvs>)>,
    mattes: Option<MatteFilms<B>>,
    light_groups: Option<GroupFilms<B>>,
    /// Samples of the image that the host has taken over ([`Backend::FOLDS_FILMS`]).
    pub(super) folded: Option<Arc<Film>>,
    /// A film for items that have pixels of their own, without samples between passes.
    items: Option<B::Buf<FilmPixel>>,
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
        let mattes = options.mattes.map_or(0, |mattes| MatteFilms::<B>::bytes(mattes, scene, pixels));
        let groups = options.light_groups.map_or(0, |groups| groups.len() * size_of::<GroupPixel>());
        pixels * (images * size_of::<FilmPixel>() + first_hits.0 + groups) as u64
            + first_hits.1 as u64
            + mattes
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
        self.mattes.iter().for_each(|mattes| mattes.count_on_host(&mut bytes));
        if let Some(GroupFilms { film, group_of, .. }) = &self.light_groups {
            Shortage::count(film, &mut bytes);
            Shortage::count(group_of, &mut bytes);
        }
        bytes
    }

    fn anywhere(
        backend: &mut B,
        scene: &SceneData,
        options: Options<'_>,
        layers: u32,
    ) -> Result<Self, Error> {
        let pixels = scene.width as usize * scene.height as usize;
        let all = pixels * layers as usize;
        let mut film = |label| backend.zeroed(label, all);
        let image = film("film")?;
        let shorter = match options.shorter {
            true => Some([film("film of emission")?, film("film of direct light")?]),
            false => None,
        };
        let first_hits = match options.first_hits {
            Some(uvs) => Some((
                backend.zeroed("film of first hits", all)?,
                backend.upload("texture coordinates of all primitives", uvs)?,
            )),
            None => None,
        };
        let mattes = options.mattes.map(|mattes| MatteFilms::new(backend, mattes, scene, all)).transpose()?;
        let light_groups = options.light_groups.map(|groups| GroupFilms::new(backend, groups, scene, all));
        let light_groups = light_groups.transpose()?;
        Ok(Self { pixels, image, shorter, first_hits, mattes, light_groups, folded: None, items: None })
    }

    /// Goes on with films of one layer that were published before.
    pub(super) fn restore(&mut self, backend: &mut B, published: &Published) -> Result<(), Error> {
        let raw = &published.films;
        self.folded.clone_from(&published.folded);
        let mut restore = |to: &mut B::Buf<FilmPixel>, from: &[FilmPixel]| {
            let from = backend.upload("film of a checkpoint", from)?;
            backend.copy(&from, to)
        };
        restore(&mut self.image, &raw.image)?;
        for (to, from) in self.shorter.iter_mut().flatten().zip(raw.shorter.iter().flatten()) {
            restore(to, from)?;
        }
        if let (Some((to, _)), Some(from)) = (&mut self.first_hits, &raw.first_hits) {
            let from = backend.upload("first hits of a checkpoint", from)?;
            backend.copy(&from, to)?;
        }
        let mattes = self.mattes.iter_mut().flat_map(|mattes| &mut mattes.films);
        for (to, from) in mattes.zip(raw.mattes.iter().flatten()) {
            let from = backend.upload("mattes of a checkpoint", from)?;
            backend.copy(&from, to)?;
        }
        if let (Some(GroupFilms { film, .. }), Some(from)) = (&mut self.light_groups, &raw.light_groups) {
            let from = backend.upload("light groups of a checkpoint", &from.pixels)?;
            backend.copy(&from, film)?;
        }
        Ok(())
    }

    /// Those of another render made empty; `None` if they do not suit this one.
    pub(super) fn cleared(
        mut self,
        backend: &mut B,
        scene: &SceneData,
        options: Options<'_>,
        layers: u32,
    ) -> Result<Option<Self>, Error> {
        let pixels = scene.width as usize * scene.height as usize;
        let Options { shorter, first_hits, mattes, light_groups, .. } = options;
        let suit = self.pixels == pixels
            && self.image.len() == pixels * layers as usize
            && self.shorter.is_some() == shorter
            // Texture coordinates may be others.
            && self.first_hits.is_none()
            && first_hits.is_none()
            // And so may names.
            && self.mattes.is_none()
            && mattes.is_none()
            && self.light_groups.is_none()
            && light_groups.is_none()
            // There may be room on the machine by now.
            && self.on_host() == 0;
        if !suit {
            return Ok(None);
        }
        self.folded = None;
        let all = std::iter::once(&mut self.image).chain(self.shorter.iter_mut().flatten());
        all.into_iter().try_for_each(|film| backend.clear(film))?;
        Ok(Some(self))
    }

    /// Has the host take over the samples of the image.
    pub(super) fn fold(&mut self, backend: &mut B, scene: &SceneData) -> Result<(), Error> {
        let layers = backend.download(&self.image)?;
        let folded = self.folded.get_or_insert_with(|| Arc::new(Film::new(scene.width, scene.height)));
        add_layers(Arc::make_mut(folded), &layers);
        backend.clear(&mut self.image)
    }

    /// Makes room for items, if they have pixels of their own.
    fn hold_items(&mut self, backend: &mut B, args: &MegakernelArgs) -> Result<(), Error> {
        let pixels = (args.item_count * HALF) as usize;
        let has = self.items.as_ref().map_or(0, |items| items.len());
        if args.spread > 0 && has < pixels {
            // There need not be room for both.
            self.items = None;
            self.items = Some(backend.zeroed("film of noisy parts of the image", pixels)?);
        }
        Ok(())
    }

    /// Puts items onto the image, if they have pixels of their own.
    fn scatter_items(&self, backend: &mut B, args: &MegakernelArgs) -> Result<(), Error> {
        let Some(items) = self.items.as_ref().filter(|_| args.spread > 0) else { return Ok(()) };
        let take = MegakernelArgs { film: items.ptr(), ..*args };
        // SAFETY: there is room for these items, whose halves are those of the image; all outlive the wait of the caller.
        unsafe { backend.launch::<stages::film_scatter>(ScatterArgs { take, film: self.image.ptr() }) }
    }

    /// Takes the samples of `args` into every film.
    ///
    /// # Safety
    /// As [`Backend::launch`], but for the films, which are these.
    pub(super) unsafe fn launch<S: Stage<Args = MegakernelArgs>>(
        &mut self,
        backend: &mut B,
        tracer: &mut Tracer<B>,
        args: MegakernelArgs,
    ) -> Result<(), Error> {
        self.hold_items(backend, &args)?;
        let film = match &self.items {
            Some(items) if args.spread > 0 => items.ptr(),
            _ => args.film,
        };
        let of_image = MegakernelArgs { film, ..args };
        // SAFETY: as the caller promised; all films are of one size, and there is room for items.
        unsafe {
            match args.item_count > 0 && args.spread == 0 {
                // Stages take as many samples of each.
                true => backend.launch::<S>(of_image)?,
                false => tracer.trace::<S>(backend, of_image)?,
            }
            self.scatter_items(backend, &args)?;
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
            if let Some(mattes) = &self.mattes {
                mattes.launch(backend, &args)?;
            }
            if let Some(groups) = &self.light_groups {
                groups.launch(backend, &args)?;
            }
        }
        Ok(())
    }

    /// Writes the mean of every pixel into a buffer of as many, if all samples of the image are in the memory of the back end. Says
    /// whether it has.
    pub(super) fn mean(&self, backend: &mut B, mean: &B::Buf<[f32; 3]>) -> Result<bool, Error> {
        if self.folded.is_some() {
            return Ok(false);
        }
        let (film, layers) = (self.image.ptr().cast_const(), (self.image.len() / self.pixels) as u32);
        let args = MeanArgs { film, mean: mean.ptr().cast(), pixels: self.pixels as u32, layers };
        // SAFETY: the films are so many of so many pixels, and there is room for one of means; all live until the wait.
        unsafe { backend.launch::<stages::film_mean>(args)? };
        backend.synchronize()?;
        Ok(true)
    }

    /// The mean of every pixel, for the host, with the samples of `others`. `kept` is what it takes in the memory of the back end, for
    /// the next time.
    pub(super) fn radiance(
        &self,
        backend: &mut B,
        others: Option<Film>,
        kept: &mut Option<B::Buf<[f32; 3]>>,
    ) -> Result<Vec<[f32; 3]>, Error> {
        let sums = match (others, self.folded.as_deref()) {
            (Some(mut film), folded) => {
                folded.iter().for_each(|folded| film.merge(folded));
                Some(film)
            }
            (None, folded) => folded.cloned(),
        };
        if let Some(sums) = sums {
            return Ok(Image::from(&self.added_to(backend, sums)?).pixels);
        }
        let mean = match kept.take() {
            Some(mean) => mean,
            // No render fails for want of room to be shown in.
            None => backend.placing(Place::Anywhere, |backend| backend.zeroed(MEAN, self.pixels))?,
        };
        let mean = kept.insert(mean);
        self.mean(backend, mean)?;
        backend.download(mean)
    }

    /// All of them but first hits, as the host knows films.
    pub(super) fn so_far(&self, backend: &mut B, [width, height]: [u32; 2]) -> Result<FilmsSoFar, Error> {
        let mut film =
            |film| self.gathered(backend, film, Vec::new()).map(|all| film_of_layers(width, height, &all));
        let shorter = match &self.shorter {
            Some([emission, direct]) => Some([film(emission)?, film(direct)?]),
            None => None,
        };
        let image = match &self.folded {
            Some(folded) => self.added_to(backend, Film::clone(folded))?,
            None => film(&self.image)?,
        };
        Ok(FilmsSoFar { image, shorter })
    }

    /// A film of the host, with the samples of the image that are on the machine.
    fn added_to(&self, backend: &mut B, mut film: Film) -> Result<Film, Error> {
        add_layers(&mut film, &backend.download(&self.image)?);
        Ok(film)
    }

    /// Copies all of them into films of the host, whatever is on these, but for what the host has already.
    pub(super) fn download(&self, backend: &mut B, room: RawFilms) -> Result<RawFilms, Error> {
        let shorter = match &self.shorter {
            Some([emission, direct]) => {
                let [first, second] = room.shorter.unwrap_or_default();
                Some([self.gathered(backend, emission, first)?, self.gathered(backend, direct, second)?])
            }
            None => None,
        };
        let first_hits = match &self.first_hits {
            Some((film, _)) => Some(backend.download_into(film, room.first_hits.unwrap_or_default())?),
            None => None,
        };
        let mattes = self.mattes.as_ref().map(|mattes| {
            let rooms = room.mattes.unwrap_or_default().into_iter().chain(std::iter::repeat_with(Vec::new));
            mattes.films.iter().zip(rooms).map(|(film, room)| backend.download_into(film, room)).collect()
        });
        let mattes = mattes.transpose()?;
        let light_groups = match &self.light_groups {
            Some(GroupFilms { groups, film, .. }) => {
                let room = room.light_groups.unwrap_or_default().pixels;
                Some(RawGroups { groups: *groups, pixels: backend.download_into(film, room)? })
            }
            None => None,
        };
        let image = self.gathered(backend, &self.image, room.image)?;
        Ok(RawFilms { image, shorter, first_hits, mattes, light_groups })
    }

    /// Copies a film, whose layers are first put together: that is sooner done where they are than they are copied.
    fn gathered(
        &self,
        backend: &mut B,
        film: &B::Buf<FilmPixel>,
        mut room: Vec<FilmPixel>,
    ) -> Result<Vec<FilmPixel>, Error> {
        let layers = film.len() / self.pixels;
        if layers == 1 {
            return backend.download_into(film, room);
        }
        let args = GatherArgs { film: film.ptr(), pixels: self.pixels as u32, layers: layers as u32 };
        // SAFETY: the films are so many of so many pixels, and live until they are read.
        unsafe { backend.launch::<stages::film_gather>(args)? };
        room.resize(self.pixels, FilmPixel::zeroed());
        backend.read(film, &mut room)?;
        Ok(room)
    }

    /// What [`Films::download`] copies, without samples.
    pub(super) fn shape(&self) -> FilmShape {
        FilmShape {
            pixels: self.pixels,
            all: self.image.len(),
            has_shorter: self.shorter.is_some(),
            has_first_hits: self.first_hits.is_some(),
            mattes: self.mattes.as_ref().map(|mattes| mattes.films.len()),
            light_groups: self.light_groups.as_ref().map(|films| films.groups),
        }
    }
}
