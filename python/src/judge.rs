//! The verdict on two images.

use std::collections::BTreeMap;

use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use torrance_image::compare::comparison::{Comparison, NoVerdict, Settings, compare};
use torrance_image::compare::maps::Map;
use torrance_image::compare::source::Images;
use torrance_image::compare::words::{CHANNELS, no_verdict};
use torrance_image::compare::{Judgement, Region};
use torrance_image::film::Format;
use torrance_image::film::ImageEstimate;
use torrance_image::metrics::{Kind, Metric};
use torrance_text::hint;

use crate::errors;
use crate::image::Image;
use crate::pool::work;

/// Names of the images in sentences.
const NAMES: [&str; 2] = ["A", "B"];

/// Two images, compared.
#[pyclass(frozen, module = "torrance._torrance")]
pub(crate) struct Verdict(Comparison);

#[pymethods]
impl Verdict {
    /// Compares images, each of which is declared free of noise or not; `crop` is a column, a row, a width and a height.
    #[new]
    #[pyo3(signature = (a, b, exact, level, crop, pixels_per_degree))]
    fn new(
        py: Python<'_>,
        a: &Image,
        b: &Image,
        exact: [bool; 2],
        level: f64,
        crop: Option<[u32; 4]>,
        pixels_per_degree: f32,
    ) -> PyResult<Self> {
        let crop = crop.map(|[x, y, width, height]| Region { x, y, width, height });
        let settings = Settings { crop, level, pixels_per_degree };
        let kinds = [a.source().format(), b.source().format()].map(|format| match format {
            Format::Png => Kind::Display,
            _ => Kind::Radiance,
        });
        if kinds[0] != kinds[1] {
            return Err(errors::of_value(
                "one of the images holds what a display shows, and the other radiance",
            ));
        }
        if a.shape() != b.shape() {
            let [(ah, aw), (bh, bw)] = [a.shape(), b.shape()];
            return Err(errors::of_value(format_args!("A has {aw} x {ah} pixels, and B {bw} x {bh}")));
        }
        let comparison = work(py, || {
            let images =
                Images { a: estimate(a, exact[0])?, b: estimate(b, exact[1])?, kind: kinds[0], exact };
            compare(images, &settings).map_err(errors::of_value)
        });
        comparison.map(Self)
    }

    /// Whether they are known to differ.
    fn is_different(&self) -> bool {
        self.0.is_different()
    }

    /// Upper bound on the probability of evidence this strong if the expectations are equal; none without a verdict.
    fn p(&self) -> Option<f64> {
        self.0.judgement.as_ref().ok().map(|judgement| judgement.p)
    }

    /// The smallest relative difference of the whole image that would have been found with a probability of 95 %.
    fn resolution(&self) -> Option<f64> {
        self.0.judgement.as_ref().ok().map(Judgement::resolution)
    }

    /// The verdict in sentences, or why there is none.
    fn sentences(&self) -> Vec<String> {
        self.0.sentences(NAMES, no_verdict_in_words)
    }

    /// Where the evidence is strongest: column, row, width, height, channel, and how many standard deviations.
    fn worst(&self) -> Option<(u32, u32, u32, u32, &'static str, f64)> {
        let worst = self.0.judgement.as_ref().ok()?.worst;
        let Region { x, y, width, height } = worst.region;
        Some((x, y, width, height, CHANNELS[worst.channel], worst.z))
    }

    /// Metrics, by their names.
    fn metrics(&self) -> BTreeMap<&'static str, Option<f64>> {
        let value =
            |(name, metric): &(&'static str, Metric)| (*name, metric.value(&self.0.metrics, &self.0.bias));
        Metric::ALL.iter().map(value).collect()
    }

    /// A map in false colours, as PNG, and what the colours mean. The best there is without a name.
    #[pyo3(signature = (name))]
    fn picture<'py>(&self, py: Python<'py>, name: Option<&str>) -> PyResult<(Bound<'py, PyBytes>, String)> {
        let (bytes, scale) = work(py, || {
            let picture = self.0.picture(name.map(map_named).transpose()?).map_err(of_no_verdict)?;
            Ok::<_, PyErr>((picture.png().map_err(errors::of_value)?, picture.scale))
        })?;
        Ok((PyBytes::new(py, &bytes), scale))
    }

    /// Values of a map, (H, W): `flip`, or `z`, the difference in standard deviations.
    fn values(&self, py: Python<'_>, name: &str) -> PyResult<Py<PyArray2<f32>>> {
        let values = match (name, &self.0.judgement) {
            ("flip", _) => &self.0.metrics.flip.map,
            ("z", Ok(judgement)) => &judgement.z,
            ("z", Err(why)) => return Err(of_no_verdict(*why)),
            _ => {
                return Err(errors::of_value(format_args!(
                    "there is no map {name:?}{}",
                    hint(name, "there are", ["flip", "z"])
                )));
            }
        };
        let size = [self.0.pair.height as usize, self.0.pair.width as usize];
        Ok(PyArray1::from_slice(py, values).reshape(size)?.unbind())
    }
}

/// The image, without its noise if it is to have none.
fn estimate(image: &Image, is_exact: bool) -> PyResult<ImageEstimate> {
    let estimate = image.source().estimate()?;
    Ok(if is_exact { ImageEstimate { noise: None, ..estimate } } else { estimate })
}

/// Why there is no verdict, and what would help.
fn no_verdict_in_words(why: NoVerdict) -> String {
    let sentence = no_verdict(why, NAMES);
    match why {
        NoVerdict::Display => sentence,
        NoVerdict::Unknown { .. } => format!(
            "{sentence} Standard errors come with renders and EXR files, or as stderr_a and stderr_b; exact_a and exact_b say \
             that there are none."
        ),
    }
}

fn of_no_verdict(why: NoVerdict) -> PyErr {
    errors::of_value(no_verdict_in_words(why))
}

fn map_named(name: &str) -> PyResult<Map> {
    errors::named("there is no map", name, Map::ALL)
}
