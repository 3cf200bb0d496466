//! [Open Image Denoise](https://www.openimagedenoise.org), a denoiser that has been trained on renders, where its library is found at
//! run time: versions 1.4 and 2, on the CPU, and with version 2 on GPUs.
//!
//! In go noisy radiance, and albedo and normals if they are known; out comes radiance with less noise. Where there is no library,
//! [`Library::find`] says where it has looked.
//!
//! ```no_run
//! use torrance_oidn::{Features, Kind, Library};
//!
//! let library = std::sync::Arc::new(Library::find(None)?);
//! let mut denoiser = library.denoiser(Kind::Cpu, None)?;
//! let color = vec![[0.5_f32; 3]; 64 * 64];
//! let clean = denoiser.denoise([64, 64], &color, &Features::default(), &mut |_| true)?;
//! # Ok::<_, torrance_oidn::Error>(())
//! ```

mod functions;

use std::ffi::{CStr, c_char, c_void};
use std::path::{Path, PathBuf};
use std::ptr;
use std::sync::Arc;

use functions::{Api, Functions, Handle};

/// The environment variable that says where the library is: the file, or its folder.
pub const VARIABLE: &str = "TORRANCE_OIDN";

/// Names under which the dynamic linker may know the library.
const NAMES: &[&str] = if cfg!(windows) {
    &["OpenImageDenoise.dll"]
} else if cfg!(target_os = "macos") {
    &["libOpenImageDenoise.2.dylib", "libOpenImageDenoise.dylib", "libOpenImageDenoise.1.dylib"]
} else {
    &["libOpenImageDenoise.so.2", "libOpenImageDenoise.so", "libOpenImageDenoise.so.1"]
};

/// Why nothing is denoised.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no library.
    #[error("Open Image Denoise is not found: {0}; install it, or set {VARIABLE} to its library or folder")]
    NotFound(String),
    /// It lacks a function.
    #[error("\"{}\" is not Open Image Denoise 1.4 or 2: it has no function {function}", .path.display())]
    NoFunction {
        /// The library.
        path: PathBuf,
        /// What it lacks.
        function: &'static str,
    },
    /// It has no such device.
    #[error("Open Image Denoise has no {0} device here: {1}")]
    NoDevice(Kind, String),
    /// What the library says.
    #[error("Open Image Denoise: {0}")]
    Refused(String),
    /// It was told to stop.
    #[error("interrupted")]
    Interrupted,
    /// An image has not one value for each pixel.
    #[error("{name}: {found} pixels, and there should be {expected}")]
    Size {
        /// Which.
        name: &'static str,
        /// How many it has.
        found: usize,
        /// How many it should have.
        expected: usize,
    },
}

/// A machine of the library's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The processor.
    Cpu,
    /// An NVIDIA GPU; version 2 only.
    Cuda,
}

impl std::fmt::Display for Kind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if *self == Self::Cpu { "CPU" } else { "CUDA" })
    }
}

/// What is known of the surfaces that the camera sees, row by row from the top left.
#[derive(Debug, Clone, Copy, Default)]
pub struct Features<'a> {
    /// Their albedo, in [0, 1].
    pub albedo: Option<&'a [[f32; 3]]>,
    /// Their shading normals, in [−1, 1]. The library takes them only with albedo.
    pub normal: Option<&'a [[f32; 3]]>,
}

/// The library.
#[derive(Debug)]
pub struct Library {
    functions: Functions,
    path: PathBuf,
}

/// The library that [`VARIABLE`] names; none if it is empty.
pub fn named() -> Option<PathBuf> {
    std::env::var_os(VARIABLE).filter(|path| !path.is_empty()).map(PathBuf::from)
}

impl Library {
    /// Loads the library: from `path`, a file or its folder, or else from where [`VARIABLE`] says, or else from where the dynamic
    /// linker finds it.
    ///
    /// # Errors
    /// It is not there, or is another.
    pub fn find(path: Option<&Path>) -> Result<Self, Error> {
        let said = path.map(Path::to_owned).or_else(named);
        let places: Vec<PathBuf> = match said {
            Some(folder) if folder.is_dir() => NAMES.iter().map(|name| folder.join(name)).collect(),
            Some(file) => vec![file],
            None => NAMES.iter().map(PathBuf::from).collect(),
        };
        let mut reasons = Vec::new();
        for path in places {
            match Functions::load(&path) {
                Ok(functions) => return Ok(Self { functions, path }),
                Err(functions::LoadError::Library(reason)) => reasons.push(reason),
                Err(functions::LoadError::Function(function)) => {
                    return Err(Error::NoFunction { path, function });
                }
            }
        }
        // The first name is the one to be expected.
        Err(Error::NotFound(reasons.into_iter().next().unwrap_or_default()))
    }

    /// The file that was loaded, or the name by which the linker knows it.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A device of it, with so many threads, or as many as it likes.
    ///
    /// # Errors
    /// It has none of the kind.
    pub fn denoiser(self: &Arc<Self>, kind: Kind, threads: Option<usize>) -> Result<Denoiser, Error> {
        let f = &self.functions;
        if kind == Kind::Cuda && f.api == Api::V1 {
            return Err(Error::NoDevice(kind, "version 1 works on the CPU only".to_owned()));
        }
        // SAFETY: the functions are the library's; a device that it gives is its own until it is released.
        unsafe {
            let device = (f.new_device)(if kind == Kind::Cpu { 1 } else { 3 });
            if device.is_null() {
                return Err(Error::NoDevice(kind, self.error(ptr::null_mut()).unwrap_or_default()));
            }
            let denoiser = Denoiser { library: Arc::clone(self), device, kind };
            if let Some(threads) = threads.filter(|_| kind == Kind::Cpu) {
                (f.set_device_int)(device, c"numThreads".as_ptr(), threads.try_into().unwrap_or(0));
            }
            (f.commit_device)(device);
            match self.error(device) {
                Some(reason) => Err(Error::NoDevice(kind, reason)),
                None => Ok(denoiser),
            }
        }
    }

    /// The first error of a device since it was asked last.
    ///
    /// # Safety
    /// The device is the library's, or null.
    unsafe fn error(&self, device: Handle) -> Option<String> {
        let mut message: *const c_char = ptr::null();
        // SAFETY: as the caller promised; the message is a string of the library's until the next call.
        unsafe {
            let code = (self.functions.device_error)(device, &mut message);
            (code != 0).then(|| match message.is_null() {
                true => format!("error {code}"),
                false => CStr::from_ptr(message).to_string_lossy().into_owned(),
            })
        }
    }
}

/// A device of the library, released when dropped.
#[derive(Debug)]
pub struct Denoiser {
    library: Arc<Library>,
    device: Handle,
    kind: Kind,
}

// SAFETY: the library may be called by any thread, says its documentation, and one at a time has the device, by `&mut`.
unsafe impl Send for Denoiser {}

impl Drop for Denoiser {
    fn drop(&mut self) {
        // SAFETY: the device is the library's, and nothing else refers to it.
        unsafe { (self.library.functions.release_device)(self.device) };
    }
}

impl Denoiser {
    /// Where it works.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// The version of the library, as in `2.3.1`.
    pub fn version(&self) -> String {
        // SAFETY: the device is the library's.
        let version = unsafe { (self.library.functions.device_int)(self.device, c"version".as_ptr()) };
        format!("{}.{}.{}", version / 10_000, version / 100 % 100, version % 100)
    }

    /// Removes noise from radiance of so many columns and rows, linear Rec. 709, row by row from the top left. Features are
    /// denoised first, each by itself. `go_on` is told how far it is, from 0 to 1, and says whether to go on.
    ///
    /// # Errors
    /// An image has the wrong size, the library fails, or `go_on` says no.
    pub fn denoise(
        &mut self,
        size: [usize; 2],
        color: &[[f32; 3]],
        features: &Features<'_>,
        go_on: &mut dyn FnMut(f64) -> bool,
    ) -> Result<Vec<[f32; 3]>, Error> {
        let pixels = size[0] * size[1];
        let images = [("color", Some(color)), ("albedo", features.albedo), ("normal", features.normal)];
        for (name, image) in images.into_iter().filter_map(|(name, image)| Some((name, image?))) {
            if image.len() != pixels {
                return Err(Error::Size { name, found: image.len(), expected: pixels });
            }
        }
        if pixels == 0 {
            return Ok(Vec::new());
        }
        let albedo = features.albedo;
        let normal = features.normal.filter(|_| albedo.is_some());
        let passes = 1.0 + f64::from(u8::from(albedo.is_some())) + f64::from(u8::from(normal.is_some()));
        let mut pass = 0.0;
        let mut run = |inputs: &[(&CStr, &[[f32; 3]])], flags: &[&CStr]| {
            let clean = self.filter(size, inputs, flags, &mut |part| go_on((pass + part) / passes));
            pass += 1.0;
            clean
        };
        let albedo = albedo.map(|albedo| run(&[(c"albedo", albedo)], &[])).transpose()?;
        let normal = normal.map(|normal| run(&[(c"normal", normal)], &[])).transpose()?;
        let mut inputs = vec![(c"color", color)];
        inputs.extend(albedo.as_deref().map(|albedo| (c"albedo", albedo)));
        inputs.extend(normal.as_deref().map(|normal| (c"normal", normal)));
        let flags: &[&CStr] = if albedo.is_some() { &[c"hdr", c"cleanAux"] } else { &[c"hdr"] };
        run(&inputs, flags)
    }

    /// Runs the library's filter for ray tracing.
    fn filter(
        &self,
        size: [usize; 2],
        inputs: &[(&CStr, &[[f32; 3]])],
        flags: &[&CStr],
        go_on: &mut dyn FnMut(f64) -> bool,
    ) -> Result<Vec<[f32; 3]>, Error> {
        let f = &self.library.functions;
        let mut output = vec![[0.0_f32; 3]; size[0] * size[1]];
        let mut monitor = Monitor { go_on, is_stopped: false };
        // SAFETY: the functions are the library's, and the device is, too. All images have `size` pixels of 12 bytes and outlive the
        // filter, which only reads its inputs; so does the monitor.
        let error = unsafe {
            let filter = Filter { functions: f, handle: (f.new_filter)(self.device, c"RT".as_ptr()) };
            let mut memory = Memory { functions: f, buffers: Vec::new() };
            for (name, image) in inputs {
                memory.give(self, filter.handle, (name, image.as_ptr().cast_mut().cast(), size), true);
            }
            let out = memory.give(self, filter.handle, (c"output", output.as_mut_ptr().cast(), size), false);
            for flag in flags {
                (f.set_filter_bool)(filter.handle, flag.as_ptr(), true);
            }
            let user = ptr::from_mut(&mut monitor).cast();
            (f.set_progress)(filter.handle, Some(observe), user);
            (f.commit_filter)(filter.handle);
            (f.execute_filter)(filter.handle);
            if let (Some(buffer), Some(read)) = (out, f.read_buffer) {
                read(buffer, 0, size_of_val(&output[..]), output.as_mut_ptr().cast());
            }
            self.library.error(self.device)
        };
        match error {
            _ if monitor.is_stopped => Err(Error::Interrupted),
            Some(reason) => Err(Error::Refused(reason)),
            None => Ok(output),
        }
    }
}

/// Who is told of the progress of a filter.
struct Monitor<'a> {
    go_on: &'a mut dyn FnMut(f64) -> bool,
    is_stopped: bool,
}

/// Called by the library; false ends the filter.
unsafe extern "C" fn observe(user: *mut c_void, part: f64) -> bool {
    // SAFETY: it is the monitor that the filter was given, and the library calls from one thread at a time.
    let monitor = unsafe { &mut *user.cast::<Monitor<'_>>() };
    monitor.is_stopped |= !(monitor.go_on)(part);
    !monitor.is_stopped
}

/// A filter, released when dropped.
struct Filter<'a> {
    functions: &'a Functions,
    handle: Handle,
}

impl Drop for Filter<'_> {
    fn drop(&mut self) {
        // SAFETY: the filter is the library's, and nothing else refers to it.
        unsafe { (self.functions.release_filter)(self.handle) };
    }
}

/// Buffers of a device that does not see the memory of the host, released when dropped.
struct Memory<'a> {
    functions: &'a Functions,
    buffers: Vec<Handle>,
}

impl Memory<'_> {
    /// Gives an image to a filter: itself on a CPU, and otherwise a buffer, which is returned.
    ///
    /// # Safety
    /// Device and filter are the library's, and the image has `size` pixels of 12 bytes and outlives the filter.
    unsafe fn give(
        &mut self,
        denoiser: &Denoiser,
        filter: Handle,
        (name, image, [width, height]): (&CStr, *mut c_void, [usize; 2]),
        is_input: bool,
    ) -> Option<Handle> {
        const FLOAT3: i32 = 3;
        let f = self.functions;
        let bytes = width * height * size_of::<[f32; 3]>();
        // SAFETY: as the caller promised.
        unsafe {
            if denoiser.kind == Kind::Cpu {
                (f.set_shared_image)(filter, name.as_ptr(), image, FLOAT3, width, height, 0, 0, 0);
                return None;
            }
            let (new, write, set) = (f.new_buffer?, f.write_buffer?, f.set_image?);
            let buffer = new(denoiser.device, bytes);
            self.buffers.push(buffer);
            if is_input {
                write(buffer, 0, bytes, image);
            }
            set(filter, name.as_ptr(), buffer, FLOAT3, width, height, 0, 0, 0);
            Some(buffer)
        }
    }
}

impl Drop for Memory<'_> {
    fn drop(&mut self) {
        let Some(release) = self.functions.release_buffer else { return };
        for buffer in &self.buffers {
            // SAFETY: the buffer is the library's; the filter that refers to it counts its references.
            unsafe { release(*buffer) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_there_is_not_found() {
        let error = Library::find(Some(Path::new("/nowhere/libOpenImageDenoise.so.2"))).unwrap_err();
        assert!(matches!(&error, Error::NotFound(_)), "{error}");
        assert!(error.to_string().ends_with("or set TORRANCE_OIDN to its library or folder"), "{error}");
    }

    /// With the library, wherever it is: noise goes, edges that features show stay, and who says stop is obeyed.
    #[test]
    #[ignore = "takes the library, where TORRANCE_OIDN says"]
    fn noise_goes() {
        const SIZE: [usize; 2] = [64, 48];
        let mut state = 1_u32;
        let mut random = || {
            state = state.wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
            (state >> 8) as f32 / 16_777_216.0
        };
        let truth: Vec<[f32; 3]> = (0..SIZE[0] * SIZE[1])
            .map(|i| if i % SIZE[0] < 32 { [0.8, 0.4, 0.2] } else { [0.1, 0.2, 0.3] })
            .collect();
        let noisy: Vec<[f32; 3]> = truth.iter().map(|c| c.map(|x| x * 2.0 * random())).collect();
        let normal = vec![[0.0, 0.0, 1.0]; noisy.len()];
        let library = Arc::new(Library::find(None).unwrap());
        let mut denoiser = library.denoiser(Kind::Cpu, Some(2)).unwrap();
        assert!(denoiser.version().starts_with(['1', '2']), "{}", denoiser.version());
        let error = |image: &[[f32; 3]]| -> f32 {
            image.iter().flatten().zip(truth.iter().flatten()).map(|(a, b)| (a - b) * (a - b)).sum()
        };
        let features = Features { albedo: Some(&truth), normal: Some(&normal) };
        let mut parts = Vec::new();
        let mut watch = |part| {
            parts.push(part);
            true
        };
        let clean = denoiser.denoise(SIZE, &noisy, &features, &mut watch).unwrap();
        assert!(error(&clean) * 50.0 < error(&noisy), "{} {}", error(&clean), error(&noisy));
        assert!(parts.is_sorted() && parts.iter().all(|part| (0.0..=1.0).contains(part)), "{parts:?}");
        let alone = denoiser.denoise(SIZE, &noisy, &Features::default(), &mut |_| true).unwrap();
        assert!(error(&alone) * 10.0 < error(&noisy) && error(&alone) > error(&clean));

        let stopped = denoiser.denoise(SIZE, &noisy, &features, &mut |_| false);
        assert!(matches!(stopped, Err(Error::Interrupted)), "{stopped:?}");
        let wrong = denoiser.denoise([9, 9], &noisy, &features, &mut |_| true).unwrap_err();
        assert_eq!(wrong.to_string(), "color: 3072 pixels, and there should be 81");
    }
}
