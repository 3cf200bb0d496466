//! Baseline: another library of the same algorithms, loaded at run time.
//!
//! It has three functions of the C convention: `baseline_title`, `baseline_temp_bytes` and `baseline_run`, as
//! `renderer/gpu/benches/cub/baseline.cu` documents them. They work in the CUDA context and the stream of the program.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::path::Path;

use libloading::Library;
use torrance_gpu::backend::Error;

type Title = unsafe extern "C" fn() -> *const c_char;
type TempBytes = unsafe extern "C" fn(*const c_char, u64) -> usize;
type Run =
    unsafe extern "C" fn(*const c_char, u64, *const *mut c_void, *mut c_void, usize, *mut c_void) -> c_int;

/// Why a library cannot be a baseline, as the end of a sentence.
#[derive(Debug, thiserror::Error)]
pub enum BaselineError {
    /// Its path leads to no file.
    #[error("cannot be loaded: {0}")]
    Path(#[from] std::io::Error),
    /// The dynamic linker refuses it.
    #[error("cannot be loaded: {0}")]
    Library(#[from] libloading::Error),
    /// It lacks this function.
    #[error("is no baseline: it has no function {0}")]
    NoFunction(&'static str),
}

/// A loaded library.
#[derive(Debug)]
pub struct Baseline {
    title: String,
    temp_bytes: TempBytes,
    run: Run,
    /// The functions are in it.
    _library: Library,
}

impl Baseline {
    /// Loads a library, and runs its initialisers.
    ///
    /// # Errors
    /// It cannot be loaded, or is no baseline.
    pub fn load(path: &Path) -> Result<Self, BaselineError> {
        // The dynamic linker looks for a bare name in the system's folders.
        let file = std::fs::canonicalize(path)?;
        // SAFETY: the user named a library to run.
        let library = unsafe { Library::new(&file) }?;
        let missing = BaselineError::NoFunction;
        // SAFETY: a library with functions of these names has them with these types.
        let (title, temp_bytes, run) = unsafe {
            let title = *library.get::<Title>(b"baseline_title").map_err(|_| missing("baseline_title"))?;
            let temp_bytes = library.get::<TempBytes>(b"baseline_temp_bytes");
            let run = library.get::<Run>(b"baseline_run");
            let temp_bytes = *temp_bytes.map_err(|_| missing("baseline_temp_bytes"))?;
            (title, temp_bytes, *run.map_err(|_| missing("baseline_run"))?)
        };
        // SAFETY: the function gives a string that lives as long as the library.
        let title = unsafe { CStr::from_ptr(title()) }.to_string_lossy().into_owned();
        Ok(Self { title, temp_bytes, run, _library: library })
    }

    /// The title that the file gives itself.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// Its function of this name for so many elements, if it has one. The machine's context must be current.
    pub(super) fn function(&self, name: &'static str, n: u32) -> Option<Function> {
        let c_name = CString::new(name).ok()?;
        // SAFETY: the name ends in a zero byte.
        let temp_bytes = unsafe { (self.temp_bytes)(c_name.as_ptr(), n.into()) };
        let function = Function { run: self.run, name, c_name, n, temp_bytes };
        (temp_bytes != usize::MAX).then_some(function)
    }
}

/// A function of a [`Baseline`], which must not be dropped before.
pub(super) struct Function {
    run: Run,
    name: &'static str,
    c_name: CString,
    n: u32,
    /// Bytes of temporary memory that it needs.
    pub(super) temp_bytes: usize,
}

impl Function {
    /// Queues the work.
    ///
    /// # Safety
    /// The library is loaded; `buffers` are what its function takes, for so many elements, and `temp` is as large as it
    /// asked for; they live until the work has ended. The stream's context is current.
    pub(super) unsafe fn run(
        &self,
        buffers: &[*mut c_void],
        temp: *mut c_void,
        stream: *mut c_void,
    ) -> Result<(), Error> {
        let (name, n) = (self.c_name.as_ptr(), self.n.into());
        // SAFETY: as the caller promised.
        match unsafe { (self.run)(name, n, buffers.as_ptr(), temp, self.temp_bytes, stream) } {
            0 => Ok(()),
            code => {
                let doing = format!("running the baseline's {}", self.name);
                Err(Error { doing, reason: format!("it fails with error {code}") })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_baseline_is_told_apart() {
        let error = |path: &str| Baseline::load(Path::new(path)).unwrap_err().to_string();
        assert!(error("there-is-none.so").starts_with("cannot be loaded: No such file"));
        let text = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(text.path(), "not a library").unwrap();
        assert!(error(text.path().to_str().unwrap()).starts_with("cannot be loaded: "));
    }

    /// The C library, as this process has it loaded.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_library_without_the_functions_is_no_baseline() {
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        let libc = maps.split_whitespace().find(|word| word.ends_with("/libc.so.6")).unwrap();
        let error = Baseline::load(Path::new(libc)).unwrap_err();
        assert_eq!(error.to_string(), "is no baseline: it has no function baseline_title");
    }
}
