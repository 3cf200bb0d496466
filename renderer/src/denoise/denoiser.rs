//! What removes noise from layers: Open Image Denoise, or torrance itself.

use std::path::Path;
use std::sync::Arc;

use torrance_image::film::image::is_finite;
pub use torrance_image::film::layers::DENOISER;
use torrance_image::film::{Image, Layers};
use torrance_oidn::{Error as OidnError, Features, Kind, Library, VARIABLE};

use super::{Halves, UnknownNoise};
use crate::{Device, DeviceChoice, DeviceError, Machine, MachineError};

/// The layer of EXR files that holds the denoised image.
pub const LAYER: &str = "denoised";

/// Which denoiser is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DenoiserChoice {
    /// Open Image Denoise where it is found, or else NFOR.
    #[default]
    Auto,
    /// Open Image Denoise.
    Oidn,
    /// [`super::denoise`].
    Nfor,
}

/// What denoises images, and where; not started.
pub enum Denoising {
    /// Open Image Denoise.
    Oidn {
        /// The library.
        library: Arc<Library>,
        /// The device that is wanted; `None` for the best.
        device: Option<Kind>,
        /// CPU threads; all if `None`.
        threads: Option<usize>,
    },
    /// [`super::denoise`].
    Nfor {
        /// The machine.
        device: Device,
        /// CPU threads; all if `None`.
        threads: Option<usize>,
        /// Why it is not the library that the user has named.
        instead: Option<String>,
    },
}

/// A denoiser at work.
pub enum Denoiser {
    /// Open Image Denoise.
    Oidn(torrance_oidn::Denoiser),
    /// [`super::denoise`].
    Nfor(Box<Machine>),
}

/// Why nothing is denoised.
#[derive(Debug, thiserror::Error)]
pub enum DenoiseError {
    /// Somebody wanted its end.
    #[error("interrupted")]
    Interrupted,
    /// The image does not say enough.
    #[error(transparent)]
    UnknownNoise(#[from] UnknownNoise),
    /// What the denoiser or its machine says.
    #[error("{0}")]
    Failed(String),
}

impl From<OidnError> for DenoiseError {
    fn from(error: OidnError) -> Self {
        match error {
            OidnError::Interrupted => Self::Interrupted,
            error => Self::Failed(error.to_string()),
        }
    }
}

impl From<DeviceError> for DenoiseError {
    fn from(error: DeviceError) -> Self {
        Self::Failed(error.to_string())
    }
}

impl From<MachineError> for DenoiseError {
    fn from(error: MachineError) -> Self {
        Self::Failed(error.to_string())
    }
}

/// An image without its noise.
#[derive(Debug, Clone, PartialEq)]
pub struct Denoised {
    /// The image.
    pub image: Image,
    /// What has denoised it, in words.
    pub by: String,
}

impl Denoised {
    /// That of layers to which it was added.
    pub fn of(layers: &Layers) -> Option<Self> {
        let (pixels, by) = (layers.rgb(LAYER)?, layers.attributes.get(DENOISER)?.clone());
        let (width, height) = (layers.width, layers.height);
        Some(Self { image: Image { width, height, pixels }, by })
    }

    /// Adds it to the layers of the noisy image.
    pub fn added_to(&self, mut layers: Layers) -> Layers {
        layers.channels.retain(|channel| channel.name.split('.').next() != Some(LAYER));
        layers.push_floats(LAYER, ["R", "G", "B"], &self.image.pixels);
        layers.attributes.insert(DENOISER.into(), self.by.clone());
        layers
    }
}

/// An image to be denoised.
pub struct Noisy {
    /// Its file.
    pub file: Layers,
    /// Its radiance, without the pixels that are missing.
    pub color: Vec<[f32; 3]>,
    /// Pixels that are NaN or infinite, which are black here.
    pub missing: usize,
    /// The layer `albedo`.
    pub albedo: Option<Vec<[f32; 3]>>,
    /// The layer `N`.
    pub normal: Option<Vec<[f32; 3]>>,
}

impl Noisy {
    /// Of layers that have an image.
    pub fn new(file: Layers) -> Self {
        let mut color = file.rgb("").unwrap_or_default();
        let missing = color.iter().filter(|pixel| !is_finite(pixel)).count();
        color.iter_mut().filter(|pixel| !is_finite(pixel)).for_each(|pixel| *pixel = [0.0; 3]);
        let feature = |layer: &str| {
            let values: Vec<_> = file.rgb(layer)?;
            Some(values.into_iter().map(|v| if is_finite(&v) { v } else { [0.0; 3] }).collect())
        };
        let (albedo, normal) = (feature("albedo"), feature("N"));
        Self { color, missing, albedo, normal, file }
    }

    /// Which features there are, as the end of a sentence.
    fn features(&self) -> &'static str {
        match (&self.albedo, &self.normal) {
            (None, _) => "",
            (Some(_), None) => ", by albedo",
            (Some(_), Some(_)) => ", by albedo and normals",
        }
    }
}

impl Denoising {
    /// The denoiser of a choice on a device, or the best if `None`; the library at a path, or else where the system looks for it.
    ///
    /// # Errors
    /// There is none.
    pub fn find(
        choice: DenoiserChoice,
        library: Option<&Path>,
        device: Option<Kind>,
        threads: Option<usize>,
    ) -> Result<Self, DenoiseError> {
        let oidn = || Ok(Self::Oidn { library: Arc::new(Library::find(library)?), device, threads });
        let nfor = |instead| {
            let choice = match device {
                None => DeviceChoice::Auto,
                Some(Kind::Cpu) => DeviceChoice::Cpu,
                Some(Kind::Cuda) => DeviceChoice::Cuda(0),
            };
            Ok(Self::Nfor { device: choice.find()?, threads, instead })
        };
        match choice {
            DenoiserChoice::Oidn => oidn(),
            DenoiserChoice::Nfor => nfor(None),
            // Who names a library wants it.
            DenoiserChoice::Auto if library.is_some() => oidn(),
            DenoiserChoice::Auto => oidn().or_else(|error: DenoiseError| {
                nfor(torrance_oidn::named().map(|_| format!("{VARIABLE}: denoising by NFOR: {error}")))
            }),
        }
    }

    /// Its name, as users give it.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Oidn { .. } => "oidn",
            Self::Nfor { .. } => "nfor",
        }
    }

    /// Whether it takes halves of the samples, where they are known.
    pub const fn takes_halves(&self) -> bool {
        matches!(self, Self::Nfor { .. })
    }

    /// Starts it; with why it is not what, or where, it was to be, if so.
    ///
    /// # Errors
    /// There is no such device, or what it says.
    pub fn start(&self) -> Result<(Denoiser, Option<String>), DenoiseError> {
        match self {
            Self::Oidn { library, device, threads } => {
                let of = |kind| library.denoiser(kind, *threads);
                let denoiser = match device {
                    Some(kind) => of(*kind)?,
                    None => of(Kind::Cuda).or_else(|_| of(Kind::Cpu))?,
                };
                Ok((Denoiser::Oidn(denoiser), None))
            }
            Self::Nfor { device, threads, instead } => {
                let mut device = device.clone();
                let machine = device.start(*threads)?;
                let on_cpu = device.surprise.map(|surprise| format!("denoising on the CPU: {surprise}"));
                let surprises: Vec<_> = instead.clone().into_iter().chain(on_cpu).collect();
                let surprise = (!surprises.is_empty()).then(|| surprises.join("; "));
                Ok((Denoiser::Nfor(Box::new(machine)), surprise))
            }
        }
    }
}

impl Denoiser {
    /// The image without its noise. `go_on` is told how far it is, from 0 to 1, and says whether to go on.
    ///
    /// # Errors
    /// The image does not say enough, the denoiser fails, or `go_on` says no.
    pub fn denoise(
        &mut self,
        noisy: &Noisy,
        go_on: &mut dyn FnMut(f64) -> bool,
    ) -> Result<Denoised, DenoiseError> {
        let [width, height] = [noisy.file.width, noisy.file.height];
        match self {
            Self::Oidn(denoiser) => {
                let size = [width, height].map(|n| n as usize);
                let features = Features { albedo: noisy.albedo.as_deref(), normal: noisy.normal.as_deref() };
                let pixels = denoiser.denoise(size, &noisy.color, &features, go_on)?;
                let (version, kind) = (denoiser.version(), denoiser.kind());
                let by = format!("Open Image Denoise {version} on {kind}{}", noisy.features());
                Ok(Denoised { image: Image { width, height, pixels }, by })
            }
            Self::Nfor(machine) => {
                let halves = Halves::of(&noisy.file)?;
                let image = machine.denoise(&halves, go_on);
                let image = image.map_err(|e| machine.failed(e))?.ok_or(DenoiseError::Interrupted)?;
                let noise = if halves.are_of_samples { "halves of the samples" } else { "standard errors" };
                let by = format!("NFOR on {}, by {noise}{}", machine.name(), noisy.features());
                Ok(Denoised { image, by })
            }
        }
    }
}
