//! The CUDA driver, bound when it is first needed.
//!
//! `cust` expects the linker to find `libcuda`, and a program linked that way does not start on a machine
//! without an NVIDIA driver. So this module defines every `cu*` symbol that `cust` can reference as a
//! trampoline: a jump through a slot. A slot leads to `unbound`, which returns an error code, until [`load`]
//! has found the driver's library and filled it. One binary runs everywhere, and no driver is an ordinary
//! condition with a reason in words.
//!
//! The functions that the back end calls itself have their types here, and return a plain number: `cust`
//! returns the driver's code as a Rust `enum` of the codes that CUDA 11.4 knew, so a newer one would be
//! undefined behaviour, and folds most of those it knows into "unknown error".
//!
//! `TORRANCE_LIBCUDA` names another library to load instead of the system's; set but empty, it hides the
//! driver. Tests use both.

use std::ffi::{OsString, c_char, c_int, c_uint, c_void};
use std::fmt;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicPtr, Ordering};

use cust::sys;
use libloading::Library;

use super::words;

/// What a driver function returns: 0 when all went well. [`words::of`] says what the others mean.
pub(super) type Code = i32;

/// The name of the environment variable that replaces or hides the driver.
pub const LIBRARY_VARIABLE: &str = "TORRANCE_LIBCUDA";

/// Where the driver is when no variable says otherwise: the dynamic linker's search path.
#[cfg(not(windows))]
const LIBRARY: &str = "libcuda.so.1";
#[cfg(windows)]
const LIBRARY: &str = "nvcuda.dll";

/// Entry points without which a library is no CUDA driver.
const ESSENTIAL: &[&str] = &["cuInit", "cuDriverGetVersion", "cuDeviceGetCount", "cuLaunchKernel"];

/// Where a slot leads before it is bound, and for good when the driver has no such function. It takes
/// whatever arguments the real one has: in the C conventions of both architectures the caller removes them.
extern "C" fn unbound() -> Code {
    words::NOT_FOUND
}

/// One indirect jump, arguments, stack and return address as the caller left them. x16 is the register that
/// the procedure call standard leaves to such veneers.
#[cfg(target_arch = "x86_64")]
macro_rules! jump_through_slot {
    () => {
        "jmp qword ptr [rip + {slot}]"
    };
}
#[cfg(all(target_arch = "aarch64", not(target_vendor = "apple"), not(windows)))]
macro_rules! jump_through_slot {
    () => {
        "adrp x16, {slot}\nldr x16, [x16, #:lo12:{slot}]\nbr x16"
    };
}
#[cfg(not(any(
    target_arch = "x86_64",
    all(target_arch = "aarch64", not(target_vendor = "apple"), not(windows))
)))]
compile_error!("the CUDA driver's trampolines are written for x86-64 and for aarch64 with ELF");

macro_rules! driver {
    (
        typed { $(fn $typed:ident($($arg:ident: $Arg:ty),* $(,)?);)* }
        untyped { $($untyped:ident)* }
    ) => {
        /// Every driver function that the program can reach.
        pub const SYMBOLS: &[&str] = &[$(stringify!($typed),)* $(stringify!($untyped),)*];

        /// One slot a function. Written by [`bind`] alone, once, with the address of that function.
        #[expect(non_upper_case_globals, reason = "the driver's names")]
        mod slot {
            use super::{AtomicPtr, c_void, unbound};
            $(pub(super) static $typed: AtomicPtr<c_void> = AtomicPtr::new(unbound as *mut c_void);)*
            $(pub(super) static $untyped: AtomicPtr<c_void> = AtomicPtr::new(unbound as *mut c_void);)*
        }

        /// The functions that the back end calls, with their types.
        pub(super) mod call {
            use super::*;
            $(
                /// # Safety
                /// As the CUDA driver API documents for this function.
                #[unsafe(no_mangle)]
                #[unsafe(naked)]
                pub(in super::super) unsafe extern "C" fn $typed($($arg: $Arg),*) -> Code {
                    core::arch::naked_asm!(jump_through_slot!(), slot = sym slot::$typed)
                }
            )*
        }

        /// The rest of what `cust` references. They are reached by name, through `cust::sys`, which has
        /// their types.
        mod link {
            use super::slot;
            $(
                #[unsafe(no_mangle)]
                #[unsafe(naked)]
                unsafe extern "C" fn $untyped() {
                    core::arch::naked_asm!(jump_through_slot!(), slot = sym slot::$untyped)
                }
            )*
        }

        fn slots() -> impl Iterator<Item = (&'static str, &'static AtomicPtr<c_void>)> {
            [$((concat!(stringify!($typed), "\0"), &slot::$typed),)*
             $((concat!(stringify!($untyped), "\0"), &slot::$untyped),)*].into_iter()
        }
    };
}

driver! {
    typed {
        fn cuInit(flags: c_uint);
        fn cuDriverGetVersion(version: *mut c_int);
        fn cuDeviceGetCount(count: *mut c_int);
        fn cuDeviceGetAttribute(value: *mut c_int, name: sys::CUdevice_attribute, device: sys::CUdevice);
        fn cuGetErrorName(code: Code, name: *mut *const c_char);
        fn cuGetErrorString(code: Code, text: *mut *const c_char);
        fn cuDevicePrimaryCtxRetain(context: *mut sys::CUcontext, device: sys::CUdevice);
        fn cuDevicePrimaryCtxRelease_v2(device: sys::CUdevice);
        fn cuCtxSetCurrent(context: sys::CUcontext);
        fn cuMemGetInfo_v2(free: *mut usize, total: *mut usize);
        fn cuMemAlloc_v2(pointer: *mut sys::CUdeviceptr, bytes: usize);
        fn cuMemFree_v2(pointer: sys::CUdeviceptr);
        fn cuMemsetD8Async(to: sys::CUdeviceptr, byte: u8, bytes: usize, stream: sys::CUstream);
        fn cuMemcpyDtoDAsync_v2(
            to: sys::CUdeviceptr,
            from: sys::CUdeviceptr,
            bytes: usize,
            stream: sys::CUstream,
        );
        fn cuMemcpyHtoDAsync_v2(to: sys::CUdeviceptr, from: *const c_void, bytes: usize, stream: sys::CUstream);
        fn cuMemcpyDtoHAsync_v2(to: *mut c_void, from: sys::CUdeviceptr, bytes: usize, stream: sys::CUstream);
        fn cuStreamSynchronize(stream: sys::CUstream);
        fn cuModuleLoadDataEx(
            module: *mut sys::CUmodule,
            image: *const c_void,
            options: c_uint,
            names: *mut sys::CUjit_option,
            values: *mut *mut c_void,
        );
        fn cuModuleUnload(module: sys::CUmodule);
        fn cuModuleGetFunction(function: *mut sys::CUfunction, module: sys::CUmodule, name: *const c_char);
        fn cuFuncGetAttribute(value: *mut c_int, name: sys::CUfunction_attribute, function: sys::CUfunction);
        fn cuFuncSetAttribute(function: sys::CUfunction, name: sys::CUfunction_attribute, value: c_int);
        fn cuOccupancyMaxActiveBlocksPerMultiprocessor(
            blocks: *mut c_int,
            function: sys::CUfunction,
            block_size: c_int,
            dynamic_shared_bytes: usize,
        );
        fn cuLaunchKernel(
            function: sys::CUfunction,
            grid_x: c_uint,
            grid_y: c_uint,
            grid_z: c_uint,
            block_x: c_uint,
            block_y: c_uint,
            block_z: c_uint,
            dynamic_shared_bytes: c_uint,
            stream: sys::CUstream,
            params: *mut *mut c_void,
            extra: *mut *mut c_void,
        );
    }
    untyped {
        cuArray3DCreate_v2 cuArray3DGetDescriptor_v2 cuArrayDestroy
        cuCtxCreate_v2 cuCtxDestroy_v2 cuCtxGetApiVersion cuCtxGetCacheConfig cuCtxGetCurrent cuCtxGetDevice
        cuCtxGetFlags cuCtxGetLimit cuCtxGetSharedMemConfig cuCtxGetStreamPriorityRange cuCtxPopCurrent_v2
        cuCtxPushCurrent_v2 cuCtxSetCacheConfig cuCtxSetLimit cuCtxSetSharedMemConfig cuCtxSynchronize
        cuDestroyExternalMemory
        cuDeviceGet cuDeviceGetName cuDevicePrimaryCtxReset_v2
        cuDevicePrimaryCtxSetFlags_v2 cuDeviceTotalMem_v2
        cuEventCreate cuEventDestroy_v2 cuEventElapsedTime cuEventQuery cuEventRecord cuEventSynchronize
        cuExternalMemoryGetMappedBuffer
        cuFuncSetCacheConfig cuFuncSetSharedMemConfig
        cuGraphAddKernelNode cuGraphCreate cuGraphDebugDotPrint cuGraphDestroy cuGraphGetEdges
        cuGraphGetNodes cuGraphKernelNodeGetParams cuGraphNodeGetType
        cuImportExternalMemory cuLaunchHostFunc
        cuLinkAddData_v2 cuLinkComplete cuLinkCreate_v2 cuLinkDestroy
        cuMemAdvise cuMemAllocAsync cuMemAllocHost_v2 cuMemAllocManaged cuMemFreeAsync cuMemFreeHost
        cuMemPrefetchAsync
        cuMemcpy2D_v2 cuMemcpyAtoH_v2 cuMemcpyDtoD_v2 cuMemcpyDtoH_v2 cuMemcpyHtoA_v2
        cuMemcpyHtoD_v2
        cuMemsetD16Async cuMemsetD16_v2 cuMemsetD32Async cuMemsetD32_v2 cuMemsetD8_v2
        cuModuleGetGlobal_v2 cuModuleLoad cuModuleLoadData
        cuOccupancyAvailableDynamicSMemPerBlock cuOccupancyMaxPotentialBlockSize
        cuStreamCreateWithPriority cuStreamDestroy_v2 cuStreamGetFlags cuStreamGetPriority cuStreamWaitEvent
        cuSurfObjectCreate cuSurfObjectDestroy cuSurfObjectGetResourceDesc
        cuTexObjectCreate cuTexObjectDestroy cuTexObjectGetResourceDesc cuTexObjectGetResourceViewDesc
    }
}

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

/// Why there is no CUDA here.
#[derive(Debug)]
struct Missing {
    reason: String,
    /// Whether something that is there does not work.
    is_failure: bool,
}

impl Missing {
    fn absence(reason: String) -> Self {
        Self { reason, is_failure: false }
    }

    fn failure(reason: String) -> Self {
        Self { reason, is_failure: true }
    }
}

/// Finds the driver and starts it, the first time; after that, repeats what it found. From any thread.
///
/// # Errors
/// Why there is no CUDA here, in words for the user: no driver, one that cannot be loaded or started, one that
/// is too old, or no device.
pub fn load() -> Result<(), String> {
    version().map(drop)
}

/// Why there is no GPU here, if nothing failed: no driver is installed or it is hidden, or it finds no device. Loads the
/// driver, too.
pub fn absence() -> Option<&'static str> {
    state().as_ref().err().filter(|missing| !missing.is_failure).map(|missing| &missing.reason[..])
}

/// The newest CUDA that the loaded driver supports.
///
/// # Errors
/// As [`load`].
pub fn version() -> Result<Version, String> {
    state().as_ref().copied().map_err(|missing| missing.reason.clone())
}

/// The release of the NVIDIA kernel module, e.g. `580.95.05`, where the system tells.
pub fn release() -> Option<String> {
    let text = std::fs::read_to_string("/sys/module/nvidia/version").ok()?;
    Some(text.trim().to_owned())
}

fn state() -> &'static Result<Version, Missing> {
    static STATE: OnceLock<Result<Version, Missing>> = OnceLock::new();
    STATE.get_or_init(|| {
        let library = open(std::env::var_os(LIBRARY_VARIABLE))?;
        bind(&library).map_err(Missing::failure)?;
        // The slots point into the library from here on, so it must never be unloaded.
        std::mem::forget(library);
        start()
    })
}

fn open(replacement: Option<OsString>) -> Result<Library, Missing> {
    let replaced = replacement.is_some();
    let name = replacement.unwrap_or_else(|| LIBRARY.into());
    if name.is_empty() {
        let reason = format!("{LIBRARY_VARIABLE} is set to nothing, which hides the NVIDIA driver");
        return Err(Missing::absence(reason));
    }
    let shown = name.to_string_lossy();
    // SAFETY: the constructors of the library run. It is the NVIDIA driver's, which every CUDA program loads
    // in this way, or the one that the user named in its place.
    unsafe { Library::new(&name) }.map_err(|error| {
        let text = error_text(&error);
        // Not so when the library is there and one that it needs is not: then the text names that one.
        let absent = text.contains(&format!("{shown}: "))
            && text.contains("No such file")
            && !text.contains("needed by");
        match (absent, replaced) {
            (true, true) => {
                Missing::failure(format!("{LIBRARY_VARIABLE} names {shown}, which was not found"))
            }
            (true, false) => {
                Missing::absence(format!("no NVIDIA driver is installed ({shown} was not found)"))
            }
            (false, _) => {
                Missing::failure(format!("the NVIDIA driver's library {shown} cannot be loaded: {text}"))
            }
        }
    })
}

/// What the dynamic linker said; `libloading` keeps it one level down.
fn error_text(error: &libloading::Error) -> String {
    std::error::Error::source(error).map_or_else(|| error.to_string(), ToString::to_string)
}

/// Fills the slots. A function that this driver lacks stays unbound: its callers get an error code.
fn bind(library: &Library) -> Result<(), String> {
    let mut missing = ESSENTIAL.to_vec();
    for (name, slot) in slots() {
        // SAFETY: the symbol is only taken as an address here, and a function's address is one.
        let Ok(symbol) = (unsafe { library.get::<*mut c_void>(name.as_bytes()) }) else { continue };
        if !symbol.is_null() {
            missing.retain(|essential| *essential != name.trim_end_matches('\0'));
            slot.store(*symbol, Ordering::Release);
        }
    }
    match missing.first() {
        None => Ok(()),
        Some(name) => Err(format!("the library found is not a CUDA driver: it has no function {name}")),
    }
}

fn start() -> Result<Version, Missing> {
    let mut packed: c_int = 0;
    // SAFETY: the pointer is valid; this is the one function that may be called before `cuInit`.
    let code = unsafe { call::cuDriverGetVersion(&raw mut packed) };
    if code != words::SUCCESS {
        let reason = format!("the NVIDIA driver does not tell its version: {}", words::of(code));
        return Err(Missing::failure(reason));
    }
    let version = Version::new(u32::try_from(packed).unwrap_or(0));
    if version < OLDEST {
        return Err(Missing::failure(format!(
            "the NVIDIA driver is too old: it supports CUDA {version}, torrance needs {OLDEST} or newer"
        )));
    }
    // SAFETY: 0 is the only value that the flags may have.
    let code = unsafe { call::cuInit(0) };
    if code != words::SUCCESS {
        return Err(not_started(code));
    }
    let mut count: c_int = 0;
    // SAFETY: the pointer is valid and the driver has been started.
    let code = unsafe { call::cuDeviceGetCount(&raw mut count) };
    match (code, count) {
        (words::SUCCESS, 1..) => Ok(version),
        (words::SUCCESS, _) => Err(not_started(words::NO_DEVICE)),
        _ => Err(not_started(code)),
    }
}

fn not_started(code: Code) -> Missing {
    Missing { reason: words::of_start(code), is_failure: code != words::NO_DEVICE }
}
