//! What images are made of: renders, sums of several, and channels of files.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use bytemuck::{pod_collect_to_vec, try_cast_slice};
use pyo3::PyResult;
use renderer::assemble::SceneData;
use renderer::render::aov::AovPlan;
use renderer::render::{RenderRecord, Rendered, provenance};
use renderer::{BuiltScene, DeviceImage};
use serde::{Deserialize, Serialize};
use torrance_image::film::encode::{Provenance, encode_at_once};
use torrance_image::film::layers::{CLAMP_INDIRECT, SAMPLES, STDERR, clamped};
use torrance_image::film::merge::{Merge, Weight};
use torrance_image::film::{
    Film, Format, Image as Radiance, ImageEstimate, Layers, Pixel, Shard, Statistics, decode_layers,
};
use torrance_scene::RenderSettings;

use crate::errors;

/// Metadata of an image file, by name.
pub(crate) type Attributes = BTreeMap<String, String>;

/// What an image is made of.
pub(crate) enum Source {
    /// A render.
    Made(Box<Made>),
    /// The sums over the samples of renders.
    Sums(Box<Sums>),
    /// Channels: of a file of a format, or of arrays.
    Layers(Layers, Format),
}

/// A render, with all that its files say of it.
pub(crate) struct Made {
    pub(crate) rendered: Rendered,
    pub(crate) plan: AovPlan,
    pub(crate) scene: Arc<SceneData>,
    /// What it was made of, but for the seed.
    pub(crate) built: BuiltScene,
    pub(crate) settings: RenderSettings,
    pub(crate) device: String,
    /// The image where a GPU has it.
    pub(crate) on_device: Option<Arc<DeviceImage>>,
    /// What the image says that its scene is called.
    pub(crate) name: String,
    /// The noise to which its pixels have samples, if it has reached that.
    pub(crate) noise_goal: Option<String>,
}

/// A film of several renders, or one that comes from another process.
#[derive(Clone)]
pub(crate) struct Sums {
    film: Film,
    attributes: Attributes,
    interrupted: bool,
}

/// What is known of the render of an image.
pub(crate) struct Record {
    pub(crate) spp: Option<u32>,
    pub(crate) seconds: Option<f64>,
    pub(crate) paths: Option<u64>,
    pub(crate) interrupted: bool,
    pub(crate) rejected: Option<u64>,
    pub(crate) device: Option<String>,
}

/// Attributes that differ between images whose samples cannot be mixed.
const IDENTITY: [&str; 8] =
    ["software", "sceneHash", "sampler", "direct", "masking", "maxDepth", "rrDepth", CLAMP_INDIRECT];

impl Made {
    fn about(&self) -> Provenance {
        Provenance { relative_stderr: Some(noise(&self.rendered.film)), ..self.about_render() }
    }

    /// All but what follows from the film.
    fn about_render(&self) -> Provenance {
        let record = RenderRecord::from(&self.rendered);
        let hash = self.built.fingerprint();
        provenance(self.name.clone(), self.device.clone(), (&self.scene, hash), &self.settings, &record)
    }

    const fn has_only_the_image(&self) -> bool {
        self.rendered.shorter.is_none() && self.rendered.first_hits.is_none()
    }
}

fn noise(film: &Film) -> f64 {
    Statistics::relative_stderr_of(&ImageEstimate::from(film))
}

impl Source {
    /// Height and width, pixels.
    pub(crate) fn size(&self) -> (u32, u32) {
        match self {
            Self::Made(made) => (made.rendered.film.height, made.rendered.film.width),
            Self::Sums(sums) => (sums.film.height, sums.film.width),
            Self::Layers(layers, _) => (layers.height, layers.width),
        }
    }

    /// The sums over its samples.
    pub(crate) fn film(&self) -> Option<&Film> {
        match self {
            Self::Made(made) => Some(&made.rendered.film),
            Self::Sums(sums) => Some(&sums.film),
            Self::Layers(..) => None,
        }
    }

    /// What its values are like: those of a file of this format.
    pub(crate) const fn format(&self) -> Format {
        match self {
            Self::Made(_) | Self::Sums(_) => Format::Exr,
            Self::Layers(_, format) => *format,
        }
    }

    /// Its radiance.
    pub(crate) fn image(&self) -> PyResult<Radiance> {
        match (self.film(), self) {
            (Some(film), _) => Ok(Radiance::from(film)),
            (None, Self::Layers(layers, _)) => {
                layers.image().ok_or_else(|| errors::of_value(layers.no_image()))
            }
            _ => Err(errors::of_value("it has no image")),
        }
    }

    /// Its radiance, with its noise.
    pub(crate) fn estimate(&self) -> PyResult<ImageEstimate> {
        match self {
            Self::Layers(layers, format) => {
                let estimate = ImageEstimate::from_layer(layers, "", *format);
                Ok(estimate.map_err(errors::of_value)?.with_known_noise())
            }
            Self::Made(made) => {
                let clamped = made.settings.clamp_indirect;
                Ok(ImageEstimate { clamped, ..ImageEstimate::from(&made.rendered.film) })
            }
            Self::Sums(sums) => {
                let clamped = clamped(&sums.attributes);
                Ok(ImageEstimate { clamped, ..ImageEstimate::from(&sums.film) })
            }
        }
    }

    /// Its standard errors.
    pub(crate) fn stderr(&self) -> Option<Vec<[f32; 3]>> {
        let made = self.film().map(|film| {
            let mut layers = Layers::new(film.width, film.height);
            layers.push_stderr(film);
            layers
        });
        match (made, self) {
            (Some(layers), _) => layers.rgb(STDERR),
            (None, Self::Layers(layers, _)) => layers.rgb(STDERR),
            _ => None,
        }
    }

    /// Numbers of samples.
    pub(crate) fn samples(&self) -> Option<Vec<u32>> {
        if let Some(film) = self.film() {
            return Some(film.pixels.iter().map(|pixel| pixel.count as u32).collect());
        }
        let Self::Layers(layers, _) = self else { return None };
        let counts = &layers.channel(SAMPLES)?.samples;
        Some((0..counts.len()).map(|i| counts.get_f64(i) as u32).collect())
    }

    /// What files say of it.
    pub(crate) fn attributes(&self) -> Attributes {
        let mut attributes = self.own_attributes();
        if let Self::Sums(sums) = self {
            let least = sums.film.pixels.iter().map(|pixel| pixel.count).min().unwrap_or(0);
            attributes.insert("spp".to_owned(), least.to_string());
        }
        if let Some(film) = self.film() {
            attributes.insert("relativeStderr".to_owned(), format!("{:.3e}", noise(film)));
        }
        attributes
    }

    /// All but those that follow from the film.
    fn own_attributes(&self) -> Attributes {
        match self {
            Self::Made(made) => {
                let noise_goal = made.noise_goal.clone();
                let shard = Shard { noise_goal, ..made.rendered.taken.shard(made.settings.seed) };
                made.about_render().attributes().into_iter().chain(shard.attributes()).collect()
            }
            Self::Sums(sums) => sums.attributes.clone(),
            Self::Layers(layers, _) => layers.attributes.clone(),
        }
    }

    /// The image and its layers, with what they say of themselves.
    pub(crate) fn layers(&self) -> Layers {
        match self {
            Self::Made(made) => made.plan.layers(&made.rendered, &made.scene).saying(self.attributes()),
            Self::Sums(sums) => {
                let mut layers = Layers::from(&Radiance::from(&sums.film));
                layers.push_stderr(&sums.film);
                layers.push_samples(&sums.film);
                layers.saying(self.attributes())
            }
            Self::Layers(layers, _) => layers.clone(),
        }
    }

    /// What a PNG file says of it.
    pub(crate) fn about(&self) -> Provenance {
        match self {
            Self::Made(made) => made.about(),
            Self::Sums(sums) => {
                let spp = sums.film.pixels.iter().map(|pixel| pixel.count).min().unwrap_or(0) as u32;
                Provenance { relative_stderr: Some(noise(&sums.film)), spp, ..Provenance::default() }
            }
            Self::Layers(..) => Provenance::default(),
        }
    }

    /// What is known of its render.
    pub(crate) fn record(&self) -> Record {
        let attributes = match self {
            Self::Made(made) => {
                let Rendered { film, progress, interrupted, .. } = &made.rendered;
                return Record {
                    spp: Some(progress.spp),
                    seconds: Some(progress.elapsed.as_secs_f64()),
                    paths: Some(progress.paths),
                    interrupted: *interrupted,
                    rejected: Some(film.rejected()),
                    device: Some(made.device.clone()),
                };
            }
            Self::Sums(sums) => &sums.attributes,
            Self::Layers(layers, _) => &layers.attributes,
        };
        let film = self.film();
        let counts = self.samples();
        Record {
            spp: counts.as_ref().and_then(|counts| counts.iter().min().copied()),
            seconds: attributes.get("renderTime").and_then(|text| text.parse().ok()),
            paths: counts.map(|counts| counts.iter().map(|n| u64::from(*n)).sum()),
            interrupted: self.is_interrupted(),
            rejected: film.map(Film::rejected),
            device: attributes.get("device").cloned(),
        }
    }

    /// The samples of this image and of another of the same scene.
    pub(crate) fn merged(&self, other: &Self) -> PyResult<Self> {
        match (self.only_sums(), other.only_sums()) {
            (Some(a), Some(b)) => self.with_film(other, [a, b]),
            _ => self.with_layers(other),
        }
    }

    /// The film, if it is all that there is.
    fn only_sums(&self) -> Option<&Film> {
        match self {
            Self::Made(made) if !made.has_only_the_image() => None,
            _ => self.film(),
        }
    }

    fn with_film(&self, other: &Self, [a, b]: [&Film; 2]) -> PyResult<Self> {
        let interrupted = self.is_interrupted();
        let mut sums = Sums { film: a.clone(), attributes: self.own_attributes(), interrupted };
        sums.add(&other.header(b), &b.pixels)?;
        Ok(Self::Sums(Box::new(sums)))
    }

    fn is_interrupted(&self) -> bool {
        match self {
            Self::Made(made) => made.rendered.interrupted,
            Self::Sums(sums) => sums.interrupted,
            Self::Layers(layers, _) => {
                matches!(Shard::read(&layers.attributes), Ok(Some(shard)) if shard.is_interrupted())
            }
        }
    }

    /// What there is to say of its film.
    fn header(&self, film: &Film) -> Header {
        Header {
            size: [film.width, film.height],
            attributes: self.own_attributes(),
            interrupted: self.is_interrupted(),
        }
    }

    fn with_layers(&self, other: &Self) -> PyResult<Self> {
        let merge = Merge::new(Weight::Samples, "the first image", &self.with_sums());
        let mut merge = merge.map_err(errors::of_value)?;
        merge.add("the second image", &other.with_sums()).map_err(errors::of_value)?;
        let merged = merge.finish().map_err(errors::of_value)?;
        let shard = merged.shard.map(|shard| shard.attributes()).unwrap_or_default();
        Ok(Self::Layers(merged.layers.saying(shard), Format::Exr))
    }

    /// Its layers, with the sums from which images are merged without loss.
    fn with_sums(&self) -> Layers {
        let mut layers = self.layers();
        if let Some(film) = self.film() {
            layers.push_sums(film);
        }
        layers
    }

    /// All of it as bytes, for another process: what there is to say of a film, and its pixels; or an EXR file if there is more.
    pub(crate) fn parts(&self) -> PyResult<(Vec<u8>, Option<&[Pixel]>)> {
        match self.only_sums() {
            Some(film) => Ok((self.header(film).bytes()?, Some(&film.pixels))),
            None => Ok((encode_at_once(self.with_sums()).map_err(errors::of_value)?, None)),
        }
    }

    /// What such bytes hold.
    pub(crate) fn of_parts(bytes: &[u8], pixels: Option<&[u8]>) -> PyResult<Self> {
        let Some(pixels) = pixels else {
            let layers = decode_layers(bytes).map_err(errors::of_value)?;
            return Ok(Self::Layers(layers, Format::Exr));
        };
        Sums::new(Header::read(bytes)?, pixels).map(|sums| Self::Sums(Box::new(sums)))
    }
}

/// What there is to say of a film.
#[derive(Serialize, Deserialize)]
pub(crate) struct Header {
    size: [u32; 2],
    attributes: Attributes,
    interrupted: bool,
}

impl Header {
    fn bytes(&self) -> PyResult<Vec<u8>> {
        serde_json::to_vec(self).map_err(errors::of_value)
    }

    pub(crate) fn read(bytes: &[u8]) -> PyResult<Self> {
        serde_json::from_slice(bytes).map_err(errors::of_value)
    }
}

impl Sums {
    /// Pixels that come from another process.
    pub(crate) fn new(header: Header, pixels: &[u8]) -> PyResult<Self> {
        let Header { size: [width, height], attributes, interrupted } = header;
        let film = Film { width, height, pixels: checked([width, height], pixels)?.into_owned() };
        Ok(Self { film, attributes, interrupted })
    }

    /// Adds such pixels.
    pub(crate) fn add_bytes(&mut self, header: &Header, pixels: &[u8]) -> PyResult<()> {
        self.add(header, &checked(header.size, pixels)?)
    }

    fn add(&mut self, header: &Header, pixels: &[Pixel]) -> PyResult<()> {
        let Self { film, attributes, interrupted } = self;
        let others = &header.attributes;
        let refused = |reason: &str| Err(errors::of_value(format_args!("they cannot be merged: {reason}")));
        let is_other = |key: &&str| attributes.get(*key) != others.get(*key);
        if [film.width, film.height] != header.size || IDENTITY.iter().any(is_other) {
            return refused("they are of different scenes, or of different sizes");
        }
        let shard = |attributes| Shard::read(attributes).map_err(errors::of_value);
        let (Some(mut shard), Some(more)) = (shard(attributes)?, shard(others)?) else {
            return refused("it is not known which samples they have");
        };
        if shard.ranges.overlap(&more.ranges).is_some() {
            return refused("they have samples in common");
        }
        shard.merge(&more);
        film.merge_pixels(pixels);
        let seconds = |all: &Attributes| all.get("renderTime").and_then(|text| text.parse::<f64>().ok());
        let seconds = seconds(attributes).unwrap_or(0.0) + seconds(others).unwrap_or(0.0);
        attributes.extend(shard.attributes());
        attributes.insert("renderTime".to_owned(), seconds.to_string());
        *interrupted |= header.interrupted;
        Ok(())
    }
}

/// The pixels of an image of a size.
fn checked([width, height]: [u32; 2], bytes: &[u8]) -> PyResult<Cow<'_, [Pixel]>> {
    if bytes.len() as u128 != u128::from(width) * u128::from(height) * size_of::<Pixel>() as u128 {
        return Err(errors::of_value("the bytes are not those of an image"));
    }
    Ok(try_cast_slice(bytes).map_or_else(|_| Cow::Owned(pod_collect_to_vec(bytes)), Cow::Borrowed))
}

/// The index of a component among those of its layer.
pub(crate) fn order(component: &str) -> usize {
    "RGBAXYZUV".find(component).unwrap_or(usize::MAX)
}
