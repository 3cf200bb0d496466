//! Images: of renders, of files, of arrays.

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use bytemuck::cast_slice;
use numpy::ndarray::ArrayView1;
use numpy::{
    PyArray1, PyArray2, PyArray3, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyReadonlyArray3,
    PyUntypedArrayMethods,
};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use rayon::prelude::*;
use renderer::denoise::{DENOISER, Denoised, DenoiserChoice, Denoising, Kind, Noisy};
use torrance_image::film::develop::Develop;
use torrance_image::film::encode::{DisplayDepth, Exr, ExrDepth, Settings, encode};
use torrance_image::film::exposure::{Exposure, metered};
use torrance_image::film::layers::{SAMPLES, STDERR, Samples};
use torrance_image::film::tone::Tonemap;
use torrance_image::film::white_balance::WhiteBalance;
use torrance_image::film::write::Target;
use torrance_image::film::{Format, Layers, Statistics, read_layers, write_images};
use torrance_text::hint;

use crate::dlpack;
use crate::errors;
use crate::pool::work;
use crate::source::{Attributes, Header, Made, Record, Source, Sums, order};

/// An image, with its noise and layers.
#[pyclass(frozen, module = "torrance._torrance")]
pub(crate) struct Image {
    source: Source,
    radiance: OnceLock<Py<PyArray3<f32>>>,
    stderr: OnceLock<Py<PyArray3<f32>>>,
    samples: OnceLock<Py<PyArray2<u32>>>,
}

impl From<Made> for Image {
    fn from(made: Made) -> Self {
        Self::new(Source::Made(Box::new(made)))
    }
}

#[pymethods]
impl Image {
    /// Reads an image file, with its layers.
    #[staticmethod]
    fn read(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let refused = |e: &dyn std::fmt::Display| errors::of_file(format_args!("{}: {e}", path.display()));
        let format = Format::from_path(&path).map_err(|e| refused(&e))?;
        let layers = work(py, || read_layers(&path)).map_err(|e| refused(&e))?;
        Ok(Self::new(Source::Layers(layers, format)))
    }

    /// Of arrays: radiance (H, W, 3), standard errors likewise, sample counts (H, W).
    #[staticmethod]
    #[pyo3(signature = (radiance, stderr, samples, attributes))]
    fn of_arrays(
        radiance: PyReadonlyArray3<'_, f32>,
        stderr: Option<PyReadonlyArray3<'_, f32>>,
        samples: Option<PyReadonlyArray2<'_, u32>>,
        attributes: Attributes,
    ) -> PyResult<Self> {
        let [height, width, 3] = *radiance.shape() else {
            return Err(errors::of_value(format_args!("expected (H, W, 3), not {:?}", radiance.shape())));
        };
        let mut layers = Layers::new(width as u32, height as u32).saying(attributes);
        push_rgb(&mut layers, "", &radiance)?;
        if let Some(stderr) = &stderr {
            if stderr.shape() != radiance.shape() {
                let shapes = (stderr.shape(), radiance.shape());
                return Err(errors::of_value(format_args!(
                    "stderr is {:?}, and the image {:?}",
                    shapes.0, shapes.1
                )));
            }
            push_rgb(&mut layers, STDERR, stderr)?;
        }
        if let Some(samples) = &samples {
            if samples.shape() != [height, width] {
                return Err(errors::of_value(format_args!(
                    "samples are {:?}, not {:?}",
                    samples.shape(),
                    [height, width]
                )));
            }
            let counts = samples.as_slice().map_err(errors::of_value)?.to_vec();
            layers.push(SAMPLES, Samples::Uint(counts));
        }
        Ok(Self::new(Source::Layers(layers, Format::Exr)))
    }

    /// Height and width, pixels.
    pub(crate) fn shape(&self) -> (u32, u32) {
        self.source.size()
    }

    /// Mean radiance, (H, W, 3).
    fn radiance(&self, py: Python<'_>) -> PyResult<Py<PyArray3<f32>>> {
        if let Some(array) = self.radiance.get() {
            return Ok(array.clone_ref(py));
        }
        let image = work(py, || self.source.image())?;
        let array = rgb_array(py, image.pixels, self.shape())?;
        Ok(self.radiance.get_or_init(|| array).clone_ref(py))
    }

    /// Standard errors of the mean, (H, W, 3), if they are known; infinite where they are not.
    fn stderr(&self, py: Python<'_>) -> PyResult<Option<Py<PyArray3<f32>>>> {
        if let Some(array) = self.stderr.get() {
            return Ok(Some(array.clone_ref(py)));
        }
        let stderr = work(py, || self.source.stderr());
        let Some(stderr) = stderr else { return Ok(None) };
        let array = rgb_array(py, stderr, self.shape())?;
        Ok(Some(self.stderr.get_or_init(|| array).clone_ref(py)))
    }

    /// Number of samples of each pixel, (H, W), if they are known.
    fn samples(&self, py: Python<'_>) -> PyResult<Option<Py<PyArray2<u32>>>> {
        if let Some(array) = self.samples.get() {
            return Ok(Some(array.clone_ref(py)));
        }
        let counts = work(py, || self.source.samples());
        let Some(counts) = counts else { return Ok(None) };
        let (height, width) = self.shape();
        let array = PyArray1::from_vec(py, counts).reshape([height as usize, width as usize])?.unbind();
        Ok(Some(self.samples.get_or_init(|| array).clone_ref(py)))
    }

    /// Names of the layers.
    fn layers(&self, py: Python<'_>) -> Vec<String> {
        let layers = work(py, || self.source.layers());
        let mut names: Vec<String> = Vec::new();
        for channel in &layers.channels {
            let name = match channel.name.rsplit_once('.') {
                Some((layer, _)) if !layer.starts_with("id") => layer.to_owned(),
                _ => channel.name.clone(),
            };
            let is_image = ["R", "G", "B"].contains(&name.as_str());
            if !is_image && !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }

    /// A layer, (H, W) or (H, W, C).
    fn layer(&self, py: Python<'_>, name: &str) -> PyResult<Py<PyAny>> {
        let layers = work(py, || self.source.layers());
        let (height, width) = self.shape();
        let [height, width] = [height as usize, width as usize];
        if let Some(channel) = layers.channel(name) {
            return Ok(match &channel.samples {
                Samples::Uint(x) => PyArray1::from_slice(py, x).reshape([height, width])?.into_any().unbind(),
                x => PyArray1::from_vec(py, x.floats()).reshape([height, width])?.into_any().unbind(),
            });
        }
        let is_of_it = |channel: &str| channel.rsplit_once('.').is_some_and(|(layer, _)| layer == name);
        let mut channels: Vec<_> = layers.channels.iter().filter(|channel| is_of_it(&channel.name)).collect();
        // Files have them in the order of the alphabet.
        channels.sort_by_key(|channel| channel.name.rsplit_once('.').map(|(_, component)| order(component)));
        if channels.is_empty() {
            let names = self.layers(py);
            let message = format!(
                "there is no layer {name:?}{}",
                hint(name, "there are", names.iter().map(String::as_str))
            );
            return Err(errors::of_value(message));
        }
        let mut values = vec![0.0; height * width * channels.len()];
        for (c, channel) in channels.iter().enumerate() {
            for (i, value) in values[c..].iter_mut().step_by(channels.len()).enumerate() {
                *value = channel.samples.get(i);
            }
        }
        Ok(PyArray1::from_vec(py, values).reshape([height, width, channels.len()])?.into_any().unbind())
    }

    /// What files say of it.
    fn attributes(&self, py: Python<'_>) -> Attributes {
        work(py, || self.source.attributes())
    }

    /// Samples per pixel, seconds, paths, whether it was interrupted, rejected samples, device: as far as it is known.
    #[expect(clippy::type_complexity, reason = "Python takes it apart")]
    fn record(
        &self,
        py: Python<'_>,
    ) -> (Option<u32>, Option<f64>, Option<u64>, bool, Option<u64>, Option<String>) {
        let Record { spp, seconds, paths, interrupted, rejected, device } = work(py, || self.source.record());
        (spp, seconds, paths, interrupted, rejected, device)
    }

    /// Relative standard error of the image as a whole.
    fn noise(&self, py: Python<'_>) -> PyResult<f64> {
        work(py, || self.source.estimate()).map(|estimate| Statistics::relative_stderr_of(&estimate))
    }

    /// Where the GPU that rendered it has its radiance: address, index of the device, and height and width.
    fn on_device(&self) -> Option<(u64, u32, (u32, u32))> {
        let Source::Made(made) = &self.source else { return None };
        let image = made.on_device.as_ref()?;
        let [width, height] = image.size();
        Some((image.address(), image.device(), (height, width)))
    }

    /// The same as a DLPack capsule.
    fn dlpack(&self, py: Python<'_>) -> PyResult<Option<Py<PyAny>>> {
        let Source::Made(made) = &self.source else { return Ok(None) };
        made.on_device.as_ref().map(|image| dlpack::capsule(py, image)).transpose()
    }

    /// Writes it to a file, of a format by its name.
    fn save(&self, py: Python<'_>, path: PathBuf, look: Look, bits: u8, half: bool) -> PyResult<()> {
        let settings = Settings {
            develop: self.develop(py, look)?,
            bits: if bits == 16 { DisplayDepth::Sixteen } else { DisplayDepth::Eight },
            exr: Exr { depth: if half { ExrDepth::Half } else { ExrDepth::Float }, ..Exr::default() },
        };
        let target = Target::check(&path).map_err(errors::of_file)?;
        let failed = work(py, || {
            let about = self.source.about();
            let layers = || self.source.layers();
            self.source.image().map(|image| write_images(&[target], &image, &layers, &settings, &about).1)
        })?;
        failed.first().map_or(Ok(()), |e| Err(errors::of_file(e)))
    }

    /// As a display shows it: bytes, (H, W, 3).
    fn tonemap(&self, py: Python<'_>, look: Look) -> PyResult<Py<PyArray3<u8>>> {
        let develop = self.develop(py, look)?;
        let bytes = work(py, || {
            let image = self.source.image()?;
            Ok::<_, PyErr>(
                image.pixels.par_iter().flat_map_iter(|pixel| develop.to_bytes(*pixel)).collect::<Vec<_>>(),
            )
        })?;
        let (height, width) = self.shape();
        Ok(PyArray1::from_vec(py, bytes).reshape([height as usize, width as usize, 3])?.unbind())
    }

    /// The bytes of a PNG file.
    fn png<'py>(&self, py: Python<'py>, look: Look) -> PyResult<Bound<'py, PyBytes>> {
        let develop = self.develop(py, look)?;
        let settings = Settings { develop, ..Settings::default() };
        let encoded = work(py, || {
            let image = self.source.image()?;
            encode(&image, Format::Png, &settings, &self.source.about()).map_err(errors::of_value)
        })?;
        Ok(PyBytes::new(py, &encoded.bytes))
    }

    /// The image without its noise, which knows none.
    fn denoised(
        &self,
        py: Python<'_>,
        denoiser: &str,
        device: &str,
        threads: Option<usize>,
    ) -> PyResult<Self> {
        const DENOISERS: [(&str, DenoiserChoice); 3] =
            [("auto", DenoiserChoice::Auto), ("oidn", DenoiserChoice::Oidn), ("nfor", DenoiserChoice::Nfor)];
        const DEVICES: [(&str, Option<Kind>); 3] =
            [("auto", None), ("cpu", Some(Kind::Cpu)), ("cuda", Some(Kind::Cuda))];
        let choice = errors::named("denoiser: unknown", denoiser, &DENOISERS)?;
        let device = errors::named("device: unknown", device, &DEVICES)?;
        let clean = work(py, || {
            let noisy = Noisy::new(self.source.layers());
            let denoising = Denoising::find(choice, None, device, threads)?;
            denoising.start()?.0.denoise(&noisy, &mut |_| true)
        });
        let Denoised { image, by } = clean.map_err(errors::of_value)?;
        let mut layers = Layers::from(&image);
        layers.attributes = self.source.attributes();
        layers.attributes.remove("relativeStderr");
        layers.attributes.insert(DENOISER.to_owned(), by);
        Ok(Self::new(Source::Layers(layers, Format::Exr)))
    }

    /// The samples of this image and of another of the same scene.
    fn merged(&self, py: Python<'_>, other: &Self) -> PyResult<Self> {
        work(py, || self.source.merged(&other.source)).map(Self::new)
    }

    /// All of it, sums included, for another process: bytes, and those of its pixels, which are not copied, if there are no other
    /// layers.
    #[expect(clippy::type_complexity, reason = "Python takes it apart")]
    fn parts<'py>(
        slf: &Bound<'py, Self>,
    ) -> PyResult<(Bound<'py, PyBytes>, Option<Bound<'py, PyArray1<u8>>>)> {
        let py = slf.py();
        let source = &slf.get().source;
        let (bytes, pixels) = work(py, || source.parts())?;
        let pixels = pixels.map(|pixels| {
            let view = ArrayView1::from(cast_slice::<_, u8>(pixels));
            // SAFETY: the pixels stay where they are, and nobody writes them, as long as `slf` lives, which the array keeps.
            let array = unsafe { PyArray1::borrow_from_array(&view, slf.clone().into_any()) };
            array.readwrite().make_nonwriteable();
            array
        });
        Ok((PyBytes::new(py, &bytes), pixels))
    }

    /// An image of such bytes.
    #[staticmethod]
    #[pyo3(signature = (bytes, pixels))]
    fn of_parts(py: Python<'_>, bytes: &[u8], pixels: Option<PyReadonlyArray1<'_, u8>>) -> PyResult<Self> {
        let pixels = pixels.as_ref().map(|pixels| pixels.as_slice().map_err(errors::of_value)).transpose()?;
        work(py, || Source::of_parts(bytes, pixels)).map(Self::new)
    }
}

/// The sums over samples that come in parts.
#[pyclass(frozen, module = "torrance._torrance")]
pub(crate) struct Sum(Mutex<Option<Sums>>);

#[pymethods]
impl Sum {
    #[new]
    const fn new() -> Self {
        Self(Mutex::new(None))
    }

    /// Adds what [`Image::parts`] gives, without layers.
    fn add(&self, py: Python<'_>, bytes: &[u8], pixels: PyReadonlyArray1<'_, u8>) -> PyResult<()> {
        let pixels = pixels.as_slice().map_err(errors::of_value)?;
        work(py, || {
            let header = Header::read(bytes)?;
            match &mut *self.lock() {
                Some(sums) => sums.add_bytes(&header, pixels)?,
                none => *none = Some(Sums::new(header, pixels)?),
            }
            Ok(())
        })
    }

    /// The image of them, if there are any.
    fn image(&self, py: Python<'_>) -> Option<Image> {
        let sums = work(py, || self.lock().clone())?;
        Some(Image::new(Source::Sums(Box::new(sums))))
    }
}

impl Sum {
    fn lock(&self) -> MutexGuard<'_, Option<Sums>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Image {
    pub(crate) const fn source(&self) -> &Source {
        &self.source
    }

    fn new(source: Source) -> Self {
        Self { source, radiance: OnceLock::new(), stderr: OnceLock::new(), samples: OnceLock::new() }
    }
}

/// Three channels of a layer.
fn push_rgb(layers: &mut Layers, layer: &str, array: &PyReadonlyArray3<'_, f32>) -> PyResult<()> {
    let (pixels, _) = array.as_slice().map_err(errors::of_value)?.as_chunks::<3>();
    layers.push_floats(layer, ["R", "G", "B"], pixels);
    Ok(())
}

fn rgb_array(
    py: Python<'_>,
    pixels: Vec<[f32; 3]>,
    (height, width): (u32, u32),
) -> PyResult<Py<PyArray3<f32>>> {
    let array = PyArray1::from_vec(py, pixels.into_flattened());
    Ok(array.reshape([height as usize, width as usize, 3])?.unbind())
}

/// Exposure, tone curve and white balance, as users give them.
type Look = (Stops, String, Option<White>);

/// Stops, or `auto`, or a camera's exposure.
#[derive(FromPyObject)]
enum Stops {
    Number(f32),
    Text(String),
}

/// A temperature, or a colour.
#[derive(FromPyObject)]
enum White {
    Kelvin(f64),
    Color([f64; 3]),
}

impl White {
    fn balance(&self) -> PyResult<WhiteBalance> {
        let balance = match *self {
            Self::Kelvin(kelvin) => WhiteBalance::of_kelvin(kelvin),
            Self::Color(color) => WhiteBalance::of_white(color),
        };
        balance.ok_or_else(|| {
            errors::of_value(
                "white_balance: expected a temperature from 1667 to 25000 K, or the colour of the light",
            )
        })
    }
}

impl Image {
    fn develop(&self, py: Python<'_>, (exposure, tonemap, white): Look) -> PyResult<Develop> {
        let exposure = match exposure {
            Stops::Number(stops) => Exposure::Stops(stops),
            Stops::Text(text) => {
                text.parse().map_err(|e: String| errors::of_value(format_args!("exposure: {e}")))?
            }
        };
        let exposure = match exposure {
            Exposure::Stops(stops) => stops,
            Exposure::Auto => work(py, || self.source.image().map(|image| metered(&image)))?.unwrap_or(0.0),
        };
        let tonemap = errors::named("tonemap: unknown", &tonemap, Tonemap::NAMES)?;
        let white_balance = white.map(|white| white.balance()).transpose()?.unwrap_or_default();
        Ok(Develop { exposure, white_balance, tonemap })
    }
}
