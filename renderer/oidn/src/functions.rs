//! The functions of the library, as its C header declares them.

use std::ffi::{c_char, c_int, c_void};
use std::mem::ManuallyDrop;
use std::path::Path;

use libloading::Library;

/// A device, filter or buffer.
pub(crate) type Handle = *mut c_void;

/// Told how far a filter is; false ends it.
pub(crate) type Progress = unsafe extern "C" fn(*mut c_void, f64) -> bool;

type SetInt = unsafe extern "C" fn(Handle, *const c_char, c_int);
type GetInt = unsafe extern "C" fn(Handle, *const c_char) -> c_int;
type SetBool = unsafe extern "C" fn(Handle, *const c_char, bool);
type OnHandle = unsafe extern "C" fn(Handle);
/// Name, memory or buffer, format, width, height, offset, bytes from pixel to pixel, bytes from row to row.
type SetImage =
    unsafe extern "C" fn(Handle, *const c_char, *mut c_void, c_int, usize, usize, usize, usize, usize);
/// Offset, bytes, memory of the host.
type CopyBuffer = unsafe extern "C" fn(Handle, usize, usize, *mut c_void);

/// Which names the functions have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Api {
    V1,
    V2,
}

/// Why a library cannot be used.
#[derive(Debug)]
pub(crate) enum LoadError {
    /// The linker's reason.
    Library(String),
    /// It lacks this function.
    Function(&'static str),
}

/// The functions, and the library that they are in.
#[derive(Debug)]
pub(crate) struct Functions {
    pub(crate) api: Api,
    pub(crate) new_device: unsafe extern "C" fn(c_int) -> Handle,
    pub(crate) set_device_int: SetInt,
    pub(crate) device_int: GetInt,
    pub(crate) commit_device: OnHandle,
    pub(crate) device_error: unsafe extern "C" fn(Handle, *mut *const c_char) -> c_int,
    pub(crate) release_device: OnHandle,
    pub(crate) new_filter: unsafe extern "C" fn(Handle, *const c_char) -> Handle,
    pub(crate) set_shared_image: SetImage,
    pub(crate) set_filter_bool: SetBool,
    pub(crate) set_progress: unsafe extern "C" fn(Handle, Option<Progress>, *mut c_void),
    pub(crate) commit_filter: OnHandle,
    pub(crate) execute_filter: OnHandle,
    pub(crate) release_filter: OnHandle,
    // Those of buffers, of version 2 only.
    pub(crate) new_buffer: Option<unsafe extern "C" fn(Handle, usize) -> Handle>,
    pub(crate) write_buffer: Option<CopyBuffer>,
    pub(crate) read_buffer: Option<CopyBuffer>,
    pub(crate) release_buffer: Option<OnHandle>,
    pub(crate) set_image: Option<SetImage>,
    /// Never unloaded: its threads may outlive what they have done.
    _library: ManuallyDrop<Library>,
}

impl Functions {
    /// Loads a library, and runs its initialisers.
    pub(crate) fn load(path: &Path) -> Result<Self, LoadError> {
        // SAFETY: the user has installed or named a library to run.
        let library = unsafe { Library::new(path) }.map_err(|error| LoadError::Library(text_of(&error)))?;
        let l = &library;
        // SAFETY: a library with functions of these names has them with these types.
        unsafe {
            let api = match get::<SetBool>(l, "oidnSetFilterBool") {
                Ok(_) => Api::V2,
                Err(_) => Api::V1,
            };
            let named = |v1, v2| if api == Api::V1 { v1 } else { v2 };
            let (set_int, get_int) =
                (named("oidnSetDevice1i", "oidnSetDeviceInt"), named("oidnGetDevice1i", "oidnGetDeviceInt"));
            let set_bool = named("oidnSetFilter1b", "oidnSetFilterBool");
            Ok(Self {
                api,
                new_device: get(l, "oidnNewDevice")?,
                set_device_int: get(l, set_int)?,
                device_int: get(l, get_int)?,
                commit_device: get(l, "oidnCommitDevice")?,
                device_error: get(l, "oidnGetDeviceError")?,
                release_device: get(l, "oidnReleaseDevice")?,
                new_filter: get(l, "oidnNewFilter")?,
                set_shared_image: get(l, "oidnSetSharedFilterImage")?,
                set_filter_bool: get(l, set_bool)?,
                set_progress: get(l, "oidnSetFilterProgressMonitorFunction")?,
                commit_filter: get(l, "oidnCommitFilter")?,
                execute_filter: get(l, "oidnExecuteFilter")?,
                release_filter: get(l, "oidnReleaseFilter")?,
                new_buffer: get(l, "oidnNewBuffer").ok(),
                write_buffer: get(l, "oidnWriteBuffer").ok(),
                read_buffer: get(l, "oidnReadBuffer").ok(),
                release_buffer: get(l, "oidnReleaseBuffer").ok(),
                set_image: get(l, "oidnSetFilterImage").ok(),
                _library: ManuallyDrop::new(library),
            })
        }
    }
}

/// The dynamic linker's message, which `libloading` keeps one level down.
fn text_of(error: &libloading::Error) -> String {
    use std::error::Error;
    error.source().map_or_else(|| error.to_string(), ToString::to_string)
}

/// A function by its name.
///
/// # Safety
/// `F` is its type.
unsafe fn get<F: Copy>(library: &Library, name: &'static str) -> Result<F, LoadError> {
    // SAFETY: as the caller promised; it is used as long as the library is loaded.
    unsafe { library.get::<F>(name.as_bytes()) }.map(|f| *f).map_err(|_| LoadError::Function(name))
}
