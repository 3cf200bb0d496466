//! The CUDA driver, bound when it is first needed.
//!
//! A program that is linked with `libcuda` does not start on a machine without an NVIDIA driver. So the functions of the
//! driver are this program's own (`functions.rs`), and call the driver's once [`load`] has found its library. Until then,
//! and where there is none, they return an error code. One binary runs everywhere, and no driver is an ordinary condition
//! with a reason in words.
//!
//! `TORRANCE_LIBCUDA` names another library to load instead of the system's; set but empty, it hides the
//! driver. Tests use both.

use std::ffi::{OsString, c_int};
use std::fmt;
use std::sync::OnceLock;

use cust::sys;
use libloading::Library;

use super::code::{self, Code};

mod functions;

pub use functions::SYMBOLS;
pub(super) use functions::call;

/// The name of the environment variable that replaces or hides the driver.
pub const LIBRARY_VARIABLE: &str = "TORRANCE_LIBCUDA";

/// Where the driver is when no variable says otherwise: the dynamic linker's search path.
#[cfg(not(windows))]
const LIBRARY: &str = "libcuda.so.1";
#[cfg(windows)]
const LIBRARY: &str = "nvcuda.dll";

/// Entry points without which a library is no CUDA driver.
const ESSENTIAL: &[&str] = &["cuInit", "cuDriverGetVersion", "cuDeviceGetCount", "cuLaunchKernel"];

/// A version of CUDA, as drivers and PTX count them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version {
    /// The 11 of 11.4.
    pub major: u32,
    /// The 4 of 11.4.
    pub minor: u32,
}

impl Version {
    const fn new(packed: u32) -> Self {
        Self { major: packed / 1000, minor: packed % 1000 / 10 }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

/// The oldest CUDA that the program works with: the one whose functions `cust` declares.
pub const OLDEST: Version = Version::new(sys::CUDA_VERSION);

/// Reason why CUDA cannot be used here, worded for the user.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DriverError {
    /// The environment variable hides the driver.
    #[error("{LIBRARY_VARIABLE} is set to nothing, which hides the NVIDIA driver")]
    Hidden,
    /// The system has no library of this name.
    #[error("no NVIDIA driver is installed ({0} was not found)")]
    NotInstalled(String),
    /// The library that the environment variable names does not exist.
    #[error("{LIBRARY_VARIABLE} names {0}, which was not found")]
    NotFound(String),
    /// The dynamic linker refuses the library.
    #[error("the NVIDIA driver's library {library} cannot be loaded: {reason}")]
    NotLoaded {
        /// The library's name.
        library: String,
        /// The dynamic linker's message.
        reason: String,
    },
    /// The library lacks an essential function.
    #[error("the library found is not a CUDA driver: it has no function {0}")]
    NotADriver(&'static str),
    /// The driver gives an error instead of its version.
    #[error("the NVIDIA driver does not tell its version: {0}")]
    NoVersion(String),
    /// The driver is older than [`OLDEST`].
    #[error("the NVIDIA driver is too old: it supports CUDA {0}, torrance needs {OLDEST} or newer")]
    TooOld(Version),
    /// The driver finds no device.
    #[error("{0}")]
    NoDevice(String),
    /// The driver does not start.
    #[error("{0}")]
    NotStarted(String),
    /// The driver gives an error instead of its devices.
    #[error("the GPUs cannot be listed: {0}")]
    NoList(String),
}

/// Finds the driver and starts it, the first time; after that, repeats what it found. From any thread.
///
/// # Errors
/// There is no driver, one that cannot be loaded or started, one that is too old, or no device.
pub fn load() -> Result<(), DriverError> {
    version().map(drop)
}

/// Why there is no GPU here, if nothing failed: no driver is installed or it is hidden, or it finds no device. Loads the
/// driver, too.
pub fn absence() -> Option<&'static DriverError> {
    use DriverError::{Hidden, NoDevice, NotInstalled};
    state().as_ref().err().filter(|error| matches!(error, Hidden | NotInstalled(_) | NoDevice(_)))
}

/// The newest CUDA that the loaded driver supports.
///
/// # Errors
/// As [`load`].
pub fn version() -> Result<Version, DriverError> {
    state().clone()
}

/// The release of the NVIDIA kernel module, e.g. `580.95.05`, where the system tells.
pub fn release() -> Option<String> {
    let text = std::fs::read_to_string("/sys/module/nvidia/version").ok()?;
    Some(text.trim().to_owned())
}

fn state() -> &'static Result<Version, DriverError> {
    static STATE: OnceLock<Result<Version, DriverError>> = OnceLock::new();
    STATE.get_or_init(|| {
        bind(open(std::env::var_os(LIBRARY_VARIABLE))?)?;
        super::source::read_ahead();
        start()
    })
}

fn open(replacement: Option<OsString>) -> Result<Library, DriverError> {
    let replaced = replacement.is_some();
    let name = replacement.unwrap_or_else(|| LIBRARY.into());
    if name.is_empty() {
        return Err(DriverError::Hidden);
    }
    let library = name.to_string_lossy().into_owned();
    // SAFETY: the constructors of the library run. It is the NVIDIA driver's, which every CUDA program loads
    // in this way, or the one that the user named in its place.
    unsafe { Library::new(&name) }.map_err(|error| {
        let reason = error_text(&error);
        // Not so when the library is there and one that it needs is not: then the text names that one.
        let absent = reason.contains(&format!("{library}: "))
            && reason.contains("No such file")
            && !reason.contains("needed by");
        match (absent, replaced) {
            (true, true) => DriverError::NotFound(library),
            (true, false) => DriverError::NotInstalled(library),
            (false, _) => DriverError::NotLoaded { library, reason },
        }
    })
}

/// The dynamic linker's message, which `libloading` keeps one level down.
fn error_text(error: &libloading::Error) -> String {
    std::error::Error::source(error).map_or_else(|| error.to_string(), ToString::to_string)
}

/// Takes the library's functions. One that this driver lacks returns an error code to its callers.
fn bind(library: Library) -> Result<(), DriverError> {
    // Addresses point into the library from here on, also if it turns out to be no driver.
    let library = Box::leak(Box::new(library));
    // SAFETY: it is leaked. It is the driver's, or the one that the user named in its place.
    match unsafe { functions::bind(library, ESSENTIAL) } {
        None => Ok(()),
        Some(name) => Err(DriverError::NotADriver(name)),
    }
}

fn start() -> Result<Version, DriverError> {
    let mut packed: c_int = 0;
    // SAFETY: the pointer is valid; this is the one function that may be called before `cuInit`.
    code::check(unsafe { call::cuDriverGetVersion(&raw mut packed) })
        .map_err(|code| DriverError::NoVersion(code::describe(code)))?;
    let version = Version::new(u32::try_from(packed).unwrap_or(0));
    if version < OLDEST {
        return Err(DriverError::TooOld(version));
    }
    // SAFETY: 0 is the only value that the flags may have.
    code::check(unsafe { call::cuInit(0) }).map_err(not_started)?;
    let mut count: c_int = 0;
    // SAFETY: the pointer is valid and the driver has been started.
    code::check(unsafe { call::cuDeviceGetCount(&raw mut count) }).map_err(not_started)?;
    if count > 0 { Ok(version) } else { Err(not_started(code::NO_DEVICE)) }
}

fn not_started(code: Code) -> DriverError {
    let reason = code::describe_start(code);
    if code == code::NO_DEVICE { DriverError::NoDevice(reason) } else { DriverError::NotStarted(reason) }
}
