//! Merging several images of one scene into one, with the resulting standard errors.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;

use super::Film;
use super::cryptomatte::{self, Coverage};
use super::estimate::{PIXEL_FILTER, samples};
use super::extent::{Extent, TooLittleMemory};
use super::layers::{CLAMP_INDIRECT, DENOISER, LIGHT, Layers, SAMPLES, STDERR, SUMS, Samples};
use super::mix::MIX;
use super::ranges::{FINGERPRINT, SAMPLE_RANGES};
use super::shards::{NOISE_GOAL, NOISE_PARTS, PARTIAL_SAMPLES, Shard, WHOLE_NOISE_PARTS};

/// The weighting of images.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weight {
    /// By number of samples. Standard errors come from those of the images and from how the images differ.
    Samples,
    /// Equal: each image is one pass, and standard errors come only from how the passes differ. Works for images of
    /// renderers that store no standard errors.
    Pass,
}

/// Images that are being merged. Memory use is that of one image, however many are added.
#[derive(Debug, Clone)]
pub struct Merge {
    weight: Weight,
    width: u32,
    height: u32,
    pixels: Vec<Moments>,
    /// The sums over all samples, as long as all images have them.
    film: Option<Film>,
    /// The samples, as long as all images say which theirs are.
    shard: Option<Shard>,
    /// Channels that are means over all samples of a pixel.
    means: BTreeMap<String, Vec<f64>>,
    /// Channels that are the same in all images.
    ids: BTreeMap<String, Vec<u32>>,
    /// Cryptomattes that all images have.
    mattes: Vec<Mattes>,
    /// Channels of some image that the result lacks.
    dropped: BTreeSet<String>,
    /// Attributes that the images have in common.
    attributes: BTreeMap<String, String>,
    /// The images so far, to name them in messages and to detect duplicates.
    sources: Vec<Source>,
    /// Number of images that were rounded to half floats.
    halves: usize,
    /// Messages for the user.
    warnings: Vec<String>,
}

#[derive(Debug, Clone)]
struct Source {
    name: String,
    scene: Option<String>,
    /// What its indirect light is clamped to, if it is.
    clamped: Option<String>,
    seeds: BTreeSet<String>,
    /// Its samples, if they are known.
    shard: Option<Shard>,
    /// Hash of the image.
    image: u64,
}

/// A Cryptomatte that is being merged.
#[derive(Debug, Clone)]
struct Mattes {
    kind: String,
    ranks: usize,
    /// Samples of each id.
    pixels: Vec<Coverage>,
}

impl Mattes {
    /// Of an image without samples.
    fn new(kind: String, layers: &Layers) -> Self {
        Self { ranks: layers.ranks(&kind), pixels: vec![Coverage::new(); layers.pixels()], kind }
    }

    /// Adds an image with so many samples.
    fn add(&mut self, layers: &Layers, samples: &[Moments]) {
        let added = layers.cryptomatte(&self.kind).into_iter().zip(samples);
        for (pixel, (covered, samples)) in self.pixels.iter_mut().zip(added) {
            pixel.extend(covered.into_iter().map(|(id, coverage)| (id, coverage * samples.n)));
            pixel.sort_unstable_by_key(|(id, _)| *id);
            pixel.dedup_by(|next, kept| {
                let is_same = next.0 == kept.0;
                kept.1 += if is_same { next.1 } else { 0.0 };
                is_same
            });
        }
    }

    /// Adds it to an image of so many samples, whose attributes have the manifest.
    fn push(self, layers: &mut Layers, samples: &[Moments]) {
        let Self { kind, ranks, mut pixels } = self;
        for (pixel, samples) in pixels.iter_mut().zip(samples) {
            pixel.iter_mut().for_each(|(_, covered)| *covered /= samples.n.max(1.0));
        }
        let manifest = cryptomatte::manifest(&layers.attributes, &kind);
        layers.push_cryptomatte(&kind, ranks, &pixels, &manifest);
    }
}

/// Mean, and sum of squared deviations from it, of the samples of a pixel.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
struct Moments {
    n: f64,
    mean: [f64; 3],
    m2: [f64; 3],
}

impl Moments {
    /// The moments of `n` samples with this mean and standard error: se² = M₂ / (n (n − 1)).
    fn from_samples(n: f64, mean: [f64; 3], stderr: [f64; 3]) -> Self {
        // Negative where the standard error is, for that to be refused.
        let m2 = stderr.map(|se| if n < 2.0 { 0.0 } else { se * se.abs() * n * (n - 1.0) });
        Self { n, mean, m2 }
    }

    /// The moments of both together: Chan, Golub & LeVeque 1983, "Algorithms for Computing the Sample Variance", for means.
    fn merge(&mut self, other: &Self) {
        let n = self.n + other.n;
        if other.n == 0.0 {
            return;
        }
        for c in 0..3 {
            let delta = other.mean[c] - self.mean[c];
            self.mean[c] += delta * other.n / n;
            self.m2[c] += other.m2[c] + delta * delta * self.n * other.n / n;
        }
        self.n = n;
    }

    fn stderr(&self) -> [f64; 3] {
        match self.n {
            n if n < 2.0 => [f64::INFINITY; 3],
            n => self.m2.map(|m2| (m2 / (n * (n - 1.0))).sqrt()),
        }
    }
}

/// A merged image.
#[derive(Debug, Clone, PartialEq)]
pub struct MergedImage {
    /// The image, its standard errors, sample counts, and the other layers that can be merged.
    pub layers: Layers,
    /// The samples, if all images say which theirs are.
    pub shard: Option<Shard>,
    /// Messages for the user.
    pub warnings: Vec<String>,
}

/// Why images cannot be merged.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum MergeError {
    /// The image differs in size from the first one.
    #[error(
        "{name} has {}×{} pixels, {first} {}×{}: images of one size can be merged",
        size[0], size[1], first_size[0], first_size[1]
    )]
    Size {
        /// The image.
        name: String,
        /// Its width and height, pixels.
        size: [u32; 2],
        /// The first image.
        first: String,
        /// Width and height of the first image, pixels.
        first_size: [u32; 2],
    },
    /// The image cannot be merged with any other.
    #[error("{name}: {reason}")]
    Image {
        /// The image.
        name: String,
        /// The reason: the rest of a sentence.
        reason: String,
    },
    /// The image is of another scene.
    #[error("{name} is of another scene, or size or depth of paths, than {other}")]
    Scene {
        /// The image.
        name: String,
        /// An earlier image.
        other: String,
    },
    /// The image has the same samples as an earlier one.
    #[error(
        "{name} and {other} have the same seed, {seed}: the same samples would count twice; render one of them anew with \
         another --seed"
    )]
    Seed {
        /// The image.
        name: String,
        /// An earlier image.
        other: String,
        /// The seed that they share.
        seed: String,
    },
    /// The image has samples of an earlier one.
    #[error("{name} and {other} both have samples {}..{} of seed {seed}: they would count twice", samples.start, samples.end)]
    Overlap {
        /// The image.
        name: String,
        /// An earlier image.
        other: String,
        /// The seed of the samples.
        seed: u32,
        /// The first samples that both have.
        samples: Range<u32>,
    },
    /// A pixel of the result has more samples than a file can count.
    #[error("more than {} samples in a pixel", u32::MAX)]
    TooManySamples,
}

const PASSES_HINT: &str = "; --passes merges images that are one equally good pass each";

impl Merge {
    /// Checks that there is the memory to merge images like this one: for each pixel two sets of moments, the image, and
    /// what its channels take, as they are decoded, summed and written.
    ///
    /// # Errors
    /// There is less.
    pub fn check_memory(image: &Extent) -> Result<(), TooLittleMemory> {
        image.check_memory("merging", 120 + 5 * image.bytes_per_pixel / 2)
    }

    /// Begins with an image. `name` is its name in messages.
    ///
    /// # Errors
    /// The image cannot be merged with any other.
    pub fn new(weight: Weight, name: &str, layers: &Layers) -> Result<Self, MergeError> {
        let mut merge = Self {
            weight,
            width: layers.width,
            height: layers.height,
            pixels: vec![Moments::default(); layers.pixels()],
            film: (weight == Weight::Samples && layers.has_sums())
                .then(|| Film::new(layers.width, layers.height)),
            shard: Some(Shard::default()),
            means: BTreeMap::new(),
            ids: BTreeMap::new(),
            mattes: cryptomatte::kinds(&layers.attributes)
                .into_iter()
                .map(|k| Mattes::new(k, layers))
                .collect(),
            dropped: BTreeSet::new(),
            attributes: layers.attributes.clone(),
            sources: Vec::new(),
            halves: 0,
            warnings: Vec::new(),
        };
        for channel in &layers.channels {
            match &channel.samples {
                Samples::Uint(ids) if channel.name.starts_with("id.") => {
                    merge.ids.insert(channel.name.clone(), ids.clone());
                }
                _ if is_mean_over_samples(&channel.name) => {
                    merge.means.insert(channel.name.clone(), vec![0.0; layers.pixels()]);
                }
                _ => {}
            }
        }
        merge.add(name, layers)?;
        Ok(merge)
    }

    /// Adds an image.
    ///
    /// # Errors
    /// The image does not belong with those before it.
    pub fn add(&mut self, name: &str, layers: &Layers) -> Result<(), MergeError> {
        if (layers.width, layers.height) != (self.width, self.height) {
            return Err(MergeError::Size {
                name: name.into(),
                size: [layers.width, layers.height],
                first: self.sources[0].name.clone(),
                first_size: [self.width, self.height],
            });
        }
        let added = self.moments(name, layers)?;
        self.add_source(name, layers, &added)?;
        self.add_layers(layers, &added);
        self.film = self.film.take().and_then(|mut film| {
            film.merge(&layers.film()?);
            Some(film)
        });
        for (pixel, other) in self.pixels.iter_mut().zip(&added) {
            pixel.merge(other);
        }
        Ok(())
    }

    /// The moments of an image's pixels.
    fn moments(&self, name: &str, layers: &Layers) -> Result<Vec<Moments>, MergeError> {
        let unusable = |reason| MergeError::Image { name: name.into(), reason };
        let lacks = |what| unusable(format!("it has no {what}{PASSES_HINT}"));
        let image = layers.rgb("").ok_or_else(|| unusable(layers.no_image()))?;
        let widened = |rgb: [f32; 3]| rgb.map(f64::from);
        let moments: Vec<_> = match self.weight {
            Weight::Pass => {
                let pass = |rgb| Moments { n: 1.0, mean: widened(rgb), m2: [0.0; 3] };
                image.into_iter().map(pass).collect()
            }
            Weight::Samples => {
                let stderr = layers.rgb(STDERR).ok_or_else(|| lacks(format!("layer \"{STDERR}\"")))?;
                let samples = samples(layers, Samples::get_f64);
                let samples = samples.ok_or_else(|| lacks(format!("channel \"{SAMPLES}\"")))?;
                let pixels = image.into_iter().zip(stderr).zip(samples);
                pixels.map(|((mean, se), n)| Moments::from_samples(n, widened(mean), widened(se))).collect()
            }
        };
        let is_valid = |m: &Moments| {
            m.n >= 0.0
                && m.n.is_finite()
                && m.mean.iter().all(|x| x.is_finite())
                && m.m2.iter().all(|x| *x >= 0.0)
        };
        let Some(i) = moments.iter().position(|m| !is_valid(m)) else { return Ok(moments) };
        let Moments { n, mean, m2 } = moments[i];
        let wrong = if !mean.iter().all(|x| x.is_finite()) {
            "the image is NaN or infinite".to_owned()
        } else if !m2.iter().all(|x| *x >= 0.0) && n.is_finite() && n >= 0.0 {
            format!("layer \"{STDERR}\" is NaN or negative")
        } else {
            format!("channel \"{SAMPLES}\" is {n}")
        };
        let (x, y) = (i % self.width as usize, i / self.width as usize);
        Err(unusable(format!("{wrong} at pixel ({x}, {y})")))
    }

    /// Rejects an image of another scene, or one that shares samples with an earlier image.
    fn add_source(&mut self, name: &str, layers: &Layers, moments: &[Moments]) -> Result<(), MergeError> {
        let said = |key: &str| layers.attributes.get(key).cloned();
        let mut hasher = DefaultHasher::new();
        moments.iter().for_each(|m| m.mean.map(f64::to_bits).hash(&mut hasher));
        let seeds = said("seed").unwrap_or_default();
        let seeds = seeds.split(',').map(|s| s.trim().to_owned()).filter(|s| !s.is_empty()).collect();
        let unusable = |reason| MergeError::Image { name: name.into(), reason };
        let shard = Shard::read(&layers.attributes).map_err(unusable)?;
        if shard.as_ref().is_some_and(|shard| !shard.is_what_it_says(layers.width, layers.height)) {
            return Err(unusable("its samples are not those that it says".to_owned()));
        }
        let source = Source {
            name: name.into(),
            scene: said(MIX).or_else(|| said("sceneHash")),
            clamped: said(CLAMP_INDIRECT),
            seeds,
            shard,
            image: hasher.finish(),
        };
        for other in &self.sources {
            if other.clamped != source.clamped {
                return Err(unusable(format!("indirect light is clamped otherwise than in {}", other.name)));
            }
            if let (Some(a), Some(b)) = (&other.scene, &source.scene) {
                let (name, of) = (name.to_owned(), other.name.clone());
                if a != b {
                    return Err(MergeError::Scene { name, other: of });
                }
                match (&other.shard, &source.shard) {
                    (Some(a), Some(b)) => {
                        if let Some((seed, samples)) = a.ranges.overlap(&b.ranges) {
                            return Err(MergeError::Overlap { name, other: of, seed, samples });
                        }
                    }
                    _ => {
                        if let Some(seed) = other.seeds.intersection(&source.seeds).next() {
                            return Err(MergeError::Seed { name, other: of, seed: seed.clone() });
                        }
                    }
                }
            }
            if other.image == source.image {
                self.warnings
                    .push(format!("{name} and {} are the same image: is it one render twice?", other.name));
            }
        }
        if layers.rgb_channels("").is_some_and(|rgb| matches!(rgb[0].samples, Samples::Half(_))) {
            self.halves += 1;
        }
        self.combine_attributes(&layers.attributes);
        let first = self.sources.is_empty();
        self.shard = match (self.shard.take(), &source.shard) {
            (Some(_), Some(shard)) if first => Some(shard.clone()),
            (Some(mut all), Some(shard)) => {
                all.merge(shard);
                Some(all)
            }
            _ => None,
        };
        self.sources.push(source);
        Ok(())
    }

    /// Keeps attributes on which both agree; sums times and sample counts, and lists seeds.
    fn combine_attributes(&mut self, others: &BTreeMap<String, String>) {
        if self.sources.is_empty() {
            return;
        }
        let number = |text: &String| text.parse::<f64>().ok();
        self.attributes.retain(|key, value| {
            let Some(other) = others.get(key) else {
                return false;
            };
            if let Some(both) = cryptomatte::combined(key, value, other) {
                *value = both;
                return true;
            }
            match key.as_str() {
                "seed" if value.split(", ").any(|seed| seed == other) => {}
                "seed" => *value = format!("{value}, {other}"),
                "spp" | "renderTime" => match (number(value), number(other)) {
                    (Some(a), Some(b)) => *value = (a + b).to_string(),
                    _ => return false,
                },
                _ => return value == other,
            }
            true
        });
    }

    fn add_layers(&mut self, layers: &Layers, added: &[Moments]) {
        let Self { means, ids, mattes, dropped, pixels, .. } = self;
        mattes.retain(|matte| layers.ranks(&matte.kind) > 0);
        mattes.iter_mut().for_each(|matte| matte.add(layers, added));
        for channel in &layers.channels {
            let name = &channel.name;
            let (layer, _) = name.rsplit_once('.').unwrap_or(("", name));
            let is_sum = name.strip_prefix(SUMS).is_some_and(|rest| rest.starts_with('.'));
            let is_of_image =
                matches!(&name[..], "R" | "G" | "B" | "Y" | SAMPLES) || layer == STDERR || is_sum;
            let is_of_matte = mattes.iter().any(|matte| cryptomatte::is_rank_of(&matte.kind, name));
            if !means.contains_key(name) && !ids.contains_key(name) && !is_of_image && !is_of_matte {
                dropped.insert(name.clone());
            }
        }
        means.retain(|name, mean| {
            let Some(channel) = layers.channel(name) else {
                dropped.insert(name.clone());
                return false;
            };
            for (i, mean) in mean.iter_mut().enumerate() {
                let n = pixels[i].n + added[i].n;
                if n > 0.0 {
                    *mean += (channel.samples.get_f64(i) - *mean) * added[i].n / n;
                }
            }
            true
        });
        ids.retain(|name, ids| {
            let same = matches!(layers.channel(name).map(|c| &c.samples), Some(Samples::Uint(x)) if x == ids);
            if !same {
                dropped.insert(name.clone());
            }
            same
        });
    }

    /// The merged image.
    ///
    /// # Errors
    /// A pixel has too many samples.
    pub fn finish(mut self) -> Result<MergedImage, MergeError> {
        if self.pixels.iter().any(|p| p.n > f64::from(u32::MAX)) {
            return Err(MergeError::TooManySamples);
        }
        let mut layers = match &self.film {
            Some(film) => {
                let mut layers = Layers::from(film);
                layers.push_sums(film);
                layers
            }
            None => self.layers_of_moments(),
        };
        for (name, mean) in self.means {
            layers.push(name, Samples::Float(mean.into_iter().map(|x| x as f32).collect()));
        }
        for (name, ids) in self.ids {
            layers.push(name, Samples::Uint(ids));
        }
        if self.weight == Weight::Pass {
            // Readers would take samples for what the standard errors were estimated from, and passes for samples.
            for key in ["spp", PIXEL_FILTER, SAMPLE_RANGES, PARTIAL_SAMPLES, FINGERPRINT] {
                self.attributes.remove(key);
            }
        }
        for key in [NOISE_GOAL, NOISE_PARTS, WHOLE_NOISE_PARTS, DENOISER] {
            self.attributes.remove(key);
        }
        if let (Some(shard), Weight::Samples) = (&self.shard, self.weight) {
            self.attributes.extend(shard.attributes());
        }
        layers.attributes = self.attributes;
        self.mattes.into_iter().for_each(|matte| matte.push(&mut layers, &self.pixels));
        if self.halves > 0 && self.film.is_none() {
            let (halves, all) = (self.halves, self.sources.len());
            self.warnings.push(format!(
                "{halves} of {all} images are rounded to half floats, of which the merged image and its standard errors \
                 know nothing"
            ));
        }
        if !self.dropped.is_empty() {
            let names: Vec<_> = self.dropped.into_iter().collect();
            self.warnings.push(format!(
                "left out, since means over samples do not say what they are, or not all images have them: {}",
                names.join(", ")
            ));
        }
        let shard = self.shard.filter(|_| self.weight == Weight::Samples);
        if let Some(goals) = shard.as_ref().and_then(Shard::differing_goals) {
            self.warnings
                .push(format!("parts went to different noises, and together reach neither: {goals}"));
        }
        Ok(MergedImage { layers, shard, warnings: self.warnings })
    }

    /// The image, its standard errors and sample counts.
    fn layers_of_moments(&self) -> Layers {
        let mut layers = Layers::new(self.width, self.height);
        let narrow = |x: [f64; 3]| x.map(|x| x as f32);
        let mean: Vec<_> = self.pixels.iter().map(|p| narrow(p.mean)).collect();
        let stderr: Vec<_> = self.pixels.iter().map(|p| narrow(p.stderr())).collect();
        layers.push_floats("", ["R", "G", "B"], &mean);
        layers.push_floats(STDERR, ["R", "G", "B"], &stderr);
        let samples = self.pixels.iter().map(|p| p.n.round() as u32);
        layers.push(SAMPLES, Samples::Uint(samples.collect()));
        layers
    }
}

/// Whether the channel is a mean over all samples of a pixel. Depths and positions are not: they are means over samples
/// that hit something, whose number is not stored.
fn is_mean_over_samples(name: &str) -> bool {
    let layer = name.rsplit_once('.').map_or("", |(layer, _)| layer);
    layer.starts_with(LIGHT) || matches!(layer, "emission" | "direct" | "indirect" | "albedo" | "N" | "Ng")
}
