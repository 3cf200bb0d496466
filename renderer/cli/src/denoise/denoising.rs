//! What removes noise: Open Image Denoise, or torrance itself.

use std::fmt::{self, Display, Formatter};
use std::path::Path;
use std::time::Instant;

use renderer::denoise::{Halves, UnknownNoise};
use renderer::{Device, DeviceChoice, DeviceError, MachineError};
use torrance_image::film::{Image, Layers};
use torrance_oidn::{Error as OidnError, Features, Kind, Library};

use super::super::Notes;
use super::noisy::Noisy;

/// Which denoiser is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Choice {
    /// Open Image Denoise where it is found, or else NFOR.
    #[default]
    Auto,
    Oidn,
    Nfor,
}

pub(crate) const DENOISERS: &[(&str, &str, Choice)] = &[
    ("auto", "Open Image Denoise where its library is found, or else NFOR", Choice::Auto),
    ("oidn", "Open Image Denoise, trained on renders", Choice::Oidn),
    ("nfor", "Torrance's own: regression on features, by the noise of the samples", Choice::Nfor),
];

/// What denoises images, and where.
pub(crate) enum Denoising {
    Oidn {
        library: Library,
        /// The device that is wanted; `None` for the best.
        device: Option<Kind>,
        threads: Option<usize>,
    },
    Nfor {
        device: Device,
        threads: Option<usize>,
    },
}

/// Why nothing is denoised.
#[derive(Debug)]
pub(crate) enum Error {
    /// Somebody wanted its end.
    Interrupted,
    UnknownNoise(UnknownNoise),
    /// What the denoiser or its machine says.
    Failed(String),
}

impl Display for Error {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Interrupted => f.write_str("interrupted"),
            Self::UnknownNoise(reason) => reason.fmt(f),
            Self::Failed(reason) => f.write_str(reason),
        }
    }
}

impl From<OidnError> for Error {
    fn from(error: OidnError) -> Self {
        match error {
            OidnError::Interrupted => Self::Interrupted,
            error => Self::Failed(error.to_string()),
        }
    }
}

impl From<DeviceError> for Error {
    fn from(error: DeviceError) -> Self {
        Self::Failed(error.to_string())
    }
}

impl From<MachineError> for Error {
    fn from(error: MachineError) -> Self {
        Self::Failed(error.to_string())
    }
}

/// An image without its noise.
pub(crate) struct Denoised {
    pub(crate) image: Image,
    /// What has denoised it, in words.
    pub(crate) by: String,
    /// How long the denoiser took to start, seconds.
    pub(crate) start: f64,
}

impl Denoising {
    /// The denoiser of a choice on a device, or the best if `None`; the library at a path, or else where the system looks for it.
    pub(crate) fn find(
        choice: Choice,
        library: Option<&Path>,
        device: Option<Kind>,
        threads: Option<usize>,
    ) -> Result<Self, Error> {
        let oidn = || Ok(Self::Oidn { library: Library::find(library)?, device, threads });
        let nfor = || {
            let choice = match device {
                None => DeviceChoice::Auto,
                Some(Kind::Cpu) => DeviceChoice::Cpu,
                Some(Kind::Cuda) => DeviceChoice::Cuda(0),
            };
            Ok(Self::Nfor { device: choice.find()?, threads })
        };
        match choice {
            Choice::Oidn => oidn(),
            Choice::Nfor => nfor(),
            // Who names a library wants it.
            Choice::Auto if library.is_some() => oidn(),
            Choice::Auto => oidn().or_else(|_: Error| nfor()),
        }
    }

    /// Whether it takes halves of the samples, where they are known.
    pub(crate) const fn takes_halves(&self) -> bool {
        matches!(self, Self::Nfor { .. })
    }

    /// The image of these layers without its noise, unless somebody `wants_end` on the way.
    pub(crate) fn denoised(
        &self,
        file: Layers,
        notes: &mut Notes,
        wants_end: &dyn Fn() -> bool,
    ) -> Result<Denoised, Error> {
        self.denoise(&Noisy::new(file), notes, wants_end)
    }

    /// As [`Denoising::denoised`].
    pub(super) fn denoise(
        &self,
        noisy: &Noisy,
        notes: &mut Notes,
        wants_end: &dyn Fn() -> bool,
    ) -> Result<Denoised, Error> {
        notes.display.phase("preparing to denoise");
        let begin = Instant::now();
        let since = |begin: Instant| begin.elapsed().as_secs_f64();
        match self {
            Self::Oidn { library, device, threads } => {
                let of = |kind| library.denoiser(kind, *threads);
                let mut denoiser = match device {
                    Some(kind) => of(*kind)?,
                    None => of(Kind::Cuda).or_else(|_| of(Kind::Cpu))?,
                };
                let start = since(begin);
                let [width, height] = [noisy.file.width, noisy.file.height];
                let features = Features { albedo: noisy.albedo.as_deref(), normal: noisy.normal.as_deref() };
                let size = [width, height].map(|n| n as usize);
                let mut go_on = watch(notes, wants_end);
                let pixels = denoiser.denoise(size, &noisy.color, &features, &mut go_on);
                drop(go_on);
                let pixels = pixels?;
                let (version, kind) = (denoiser.version(), denoiser.kind());
                let by = format!("Open Image Denoise {version} on {kind}{}", noisy.features());
                Ok(Denoised { image: Image { width, height, pixels }, by, start })
            }
            Self::Nfor { device, threads } => {
                let halves = Halves::of(&noisy.file).map_err(Error::UnknownNoise)?;
                let mut device = device.clone();
                let mut machine = device.start(*threads)?;
                if let Some(surprise) = device.surprise {
                    notes.warn(format!("denoising on the CPU: {surprise}"));
                }
                let start = since(begin);
                let mut go_on = watch(notes, wants_end);
                let image = machine.denoise(&halves, &mut go_on);
                drop(go_on);
                let image = image.map_err(|e| machine.failed(e))?.ok_or(Error::Interrupted)?;
                let noise = if halves.are_of_samples { "halves of the samples" } else { "standard errors" };
                let by = format!("NFOR on {}, by {noise}{}", machine.name(), noisy.features());
                Ok(Denoised { image, by, start })
            }
        }
    }
}

/// Tells how far the work is, and says whether it is to go on.
fn watch<'a>(notes: &'a mut Notes, wants_end: &'a dyn Fn() -> bool) -> impl FnMut(f64) -> bool + 'a {
    let begin = Instant::now();
    notes.display.begin_steps();
    move |part| {
        notes.display.step(part, begin.elapsed(), "denoising");
        !wants_end()
    }
}
