//! References: what images are held against.

use std::collections::BTreeMap;

use torrance_image::compare::source::{self, Knowledge, Source, SourceError};
use torrance_image::film::encode::{self, EncodeError, Exr, SOFTWARE, Settings, encode_layers};
use torrance_image::film::estimate::{Noise, PIXEL_FILTER};
use torrance_image::film::layers::{CLAMP_INDIRECT, SAMPLES, STDERR, Samples};
use torrance_image::film::{Format, ImageEstimate, Layers};

use super::images::Stop;
use super::seeds::UsedSeeds;
use super::suite::{Case, Expect, Reference};

/// A reference, and the seeds that it was made with, if its file names them.
pub(super) struct LoadedReference {
    pub(super) measured: ImageEstimate,
    pub(super) seeds: Option<UsedSeeds>,
}

/// Reads the reference of a case.
pub(super) fn read(case: &Case) -> Result<LoadedReference, Stop> {
    let Reference { path, stderr, samples } = &case.reference;
    if !path.exists() {
        let remedy = match case.expect {
            Expect::Same => format!("render it with --bless --filter {}", case.name),
            Expect::Different => {
                "--bless makes none from a case with expect = \"different\": render it with \
                                  a case of the same reference that expects \"same\", or supply the image"
                    .to_owned()
            }
        };
        return Err(Stop::error(format!("there is no reference {}; {remedy}", path.display())));
    }
    let source = Source {
        path: path.clone(),
        layer: String::new(),
        noise: Knowledge::Estimate { stderr: stderr.clone(), samples: *samples },
    };
    let wrong = |why: String| Stop::error(format!("the reference is of no use: {why}"));
    let unreadable = |error: SourceError| wrong(error.to_string());
    let kind = source::kind(path).map_err(unreadable)?;
    let layers = source.layers().map_err(unreadable)?;
    let measured = source.select(&layers, kind).map_err(unreadable)?;
    let pixels = measured.image.pixels.len();
    if let Some(noise) = measured.noise.as_ref().filter(|noise| noise.stderr.len() != pixels) {
        let n = noise.stderr.len();
        return Err(wrong(format!("there are standard errors of {n} pixels, and it has {pixels}")));
    }
    Ok(LoadedReference { measured, seeds: seeds(&layers) })
}

/// The seeds that an image says it was rendered with, separated by commas.
fn seeds(layers: &Layers) -> Option<UsedSeeds> {
    let seeds = layers.attributes.get("seed")?.split(',').filter_map(|s| s.trim().parse().ok());
    UsedSeeds::new(&seeds.collect::<Vec<_>>())
}

/// File metadata of an image that a case made.
pub(super) fn attributes(case: &Case, samples: u32) -> BTreeMap<String, String> {
    BTreeMap::from([
        ("software".to_owned(), SOFTWARE.to_owned()),
        ("case".to_owned(), case.name.clone()),
        ("source".to_owned(), case.source.describe()),
        (case.source.unit().to_owned(), samples.to_string()),
    ])
}

/// The bytes of an image with its noise; of formats other than OpenEXR, the image alone.
pub(super) fn encode(
    measured: &ImageEstimate,
    format: Format,
    attributes: BTreeMap<String, String>,
) -> Result<Vec<u8>, EncodeError> {
    if format != Format::Exr {
        let (settings, about) = (Settings::default(), encode::Provenance::default());
        return encode::encode(&measured.image, format, &settings, &about).map(|e| e.bytes);
    }
    let mut layers = Layers { attributes, ..Layers::from(&measured.image) };
    if let Some(most) = measured.clamped {
        layers.attributes.insert(CLAMP_INDIRECT.into(), most.to_string());
    }
    if let Some(Noise { stderr, samples, is_independent }) = &measured.noise {
        if *is_independent {
            layers.attributes.insert(PIXEL_FILTER.into(), "box".into());
        }
        layers.push_floats(STDERR, ["R", "G", "B"], stderr);
        if let Some(samples) = samples {
            let is_whole = samples.iter().all(|n| *n == n.trunc() && *n < u32::MAX as f32);
            layers.push(
                SAMPLES,
                match is_whole {
                    true => Samples::Uint(samples.iter().map(|n| *n as u32).collect()),
                    false => Samples::Float(samples.clone()),
                },
            );
        }
    }
    encode_layers(layers, Exr::default()).map(|e| e.bytes)
}
