//! The driver's functions: an address of each, which [`bind`] finds, and two ways to call it.
//!
//! [`call`] is for the back end: it returns the driver's code as a plain number. `export` is for `cust`, which expects
//! the linker to find `libcuda`, and takes a code for a value of an `enum` of those that CUDA 11.4 knew. Any other value
//! would be undefined behaviour there, so each function of the driver's name translates codes first ([`known`]).

use std::ffi::{c_char, c_int, c_uint, c_void};
use std::sync::atomic::{AtomicPtr, Ordering};

use cust::sys::{self, CUresult};
use libloading::Library;

use super::super::code::{self, Code};

/// The code as one that `cust` knows, by value: [`CUresult::CUDA_ERROR_UNKNOWN`] stands for all others.
fn known(code: Code) -> CUresult {
    if code == code::SUCCESS {
        return CUresult::CUDA_SUCCESS;
    }
    let known = ERRORS.iter().find(|error| **error as Code == code);
    known.copied().unwrap_or(CUresult::CUDA_ERROR_UNKNOWN)
}

macro_rules! errors {
    ($($name:ident)*) => { &[$(CUresult::$name),*] };
}

/// The errors that `cust` knows.
const ERRORS: &[CUresult] = errors! {
    CUDA_ERROR_INVALID_VALUE CUDA_ERROR_OUT_OF_MEMORY CUDA_ERROR_NOT_INITIALIZED CUDA_ERROR_DEINITIALIZED
    CUDA_ERROR_PROFILER_DISABLED CUDA_ERROR_PROFILER_NOT_INITIALIZED CUDA_ERROR_PROFILER_ALREADY_STARTED
    CUDA_ERROR_PROFILER_ALREADY_STOPPED CUDA_ERROR_STUB_LIBRARY
    CUDA_ERROR_NO_DEVICE CUDA_ERROR_INVALID_DEVICE CUDA_ERROR_DEVICE_NOT_LICENSED
    CUDA_ERROR_INVALID_IMAGE CUDA_ERROR_INVALID_CONTEXT CUDA_ERROR_CONTEXT_ALREADY_CURRENT
    CUDA_ERROR_MAP_FAILED CUDA_ERROR_UNMAP_FAILED CUDA_ERROR_ARRAY_IS_MAPPED CUDA_ERROR_ALREADY_MAPPED
    CUDA_ERROR_NO_BINARY_FOR_GPU CUDA_ERROR_ALREADY_ACQUIRED CUDA_ERROR_NOT_MAPPED
    CUDA_ERROR_NOT_MAPPED_AS_ARRAY CUDA_ERROR_NOT_MAPPED_AS_POINTER CUDA_ERROR_ECC_UNCORRECTABLE
    CUDA_ERROR_UNSUPPORTED_LIMIT CUDA_ERROR_CONTEXT_ALREADY_IN_USE CUDA_ERROR_PEER_ACCESS_UNSUPPORTED
    CUDA_ERROR_INVALID_PTX CUDA_ERROR_INVALID_GRAPHICS_CONTEXT CUDA_ERROR_NVLINK_UNCORRECTABLE
    CUDA_ERROR_JIT_COMPILER_NOT_FOUND CUDA_ERROR_UNSUPPORTED_PTX_VERSION CUDA_ERROR_JIT_COMPILATION_DISABLED
    CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY
    CUDA_ERROR_INVALID_SOURCE CUDA_ERROR_FILE_NOT_FOUND CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND
    CUDA_ERROR_SHARED_OBJECT_INIT_FAILED CUDA_ERROR_OPERATING_SYSTEM
    CUDA_ERROR_INVALID_HANDLE CUDA_ERROR_ILLEGAL_STATE CUDA_ERROR_NOT_FOUND CUDA_ERROR_NOT_READY
    CUDA_ERROR_ILLEGAL_ADDRESS CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES CUDA_ERROR_LAUNCH_TIMEOUT
    CUDA_ERROR_LAUNCH_INCOMPATIBLE_TEXTURING CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED
    CUDA_ERROR_PEER_ACCESS_NOT_ENABLED CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE CUDA_ERROR_CONTEXT_IS_DESTROYED
    CUDA_ERROR_ASSERT CUDA_ERROR_TOO_MANY_PEERS CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED
    CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED CUDA_ERROR_HARDWARE_STACK_ERROR CUDA_ERROR_ILLEGAL_INSTRUCTION
    CUDA_ERROR_MISALIGNED_ADDRESS CUDA_ERROR_INVALID_ADDRESS_SPACE CUDA_ERROR_INVALID_PC
    CUDA_ERROR_LAUNCH_FAILED CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE
    CUDA_ERROR_NOT_PERMITTED CUDA_ERROR_NOT_SUPPORTED CUDA_ERROR_SYSTEM_NOT_READY
    CUDA_ERROR_SYSTEM_DRIVER_MISMATCH CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE
    CUDA_ERROR_MPS_CONNECTION_FAILED CUDA_ERROR_MPS_RPC_FAILURE CUDA_ERROR_MPS_SERVER_NOT_READY
    CUDA_ERROR_MPS_MAX_CLIENTS_REACHED CUDA_ERROR_MPS_MAX_CONNECTIONS_REACHED
    CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED CUDA_ERROR_STREAM_CAPTURE_INVALIDATED CUDA_ERROR_STREAM_CAPTURE_MERGE
    CUDA_ERROR_STREAM_CAPTURE_UNMATCHED CUDA_ERROR_STREAM_CAPTURE_UNJOINED CUDA_ERROR_STREAM_CAPTURE_ISOLATION
    CUDA_ERROR_STREAM_CAPTURE_IMPLICIT CUDA_ERROR_CAPTURED_EVENT CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD
    CUDA_ERROR_TIMEOUT CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE CUDA_ERROR_EXTERNAL_DEVICE
    CUDA_ERROR_UNKNOWN
};

macro_rules! functions {
    (
        called { $(fn $called:ident($($arg:ident: $Arg:ty),* $(,)?);)* }
        on_codes { $(fn $on_code:ident($code:ident: Code, $text:ident: $Text:ty);)* }
        uncalled { $($uncalled:ident)* }
    ) => {
        /// Every driver function that `cust` or the back end references.
        pub const SYMBOLS: &[&str] =
            &[$(stringify!($called),)* $(stringify!($on_code),)* $(stringify!($uncalled),)*];

        /// Null until [`bind`] has found the function, and for good when the driver has no such one.
        #[expect(non_upper_case_globals, reason = "the driver's names")]
        mod address {
            use super::{AtomicPtr, c_void};
            $(pub(super) static $called: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());)*
            $(pub(super) static $on_code: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());)*
        }

        fn addresses() -> impl Iterator<Item = (&'static str, &'static AtomicPtr<c_void>)> {
            [$((stringify!($called), &address::$called),)*
             $((stringify!($on_code), &address::$on_code),)*].into_iter()
        }

        /// The functions, which return the driver's code, or [`code::NOT_FOUND`] if there is no such function.
        #[expect(non_snake_case, clippy::too_many_arguments, reason = "the driver's functions")]
        pub(in super::super) mod call {
            use super::*;
            $(functions!(@call $called($($arg: $Arg),*));)*
            $(functions!(@call $on_code($code: Code, $text: $Text));)*
        }

        /// The same under the names that the linker looks for, and with codes that `cust` knows.
        mod export {
            use super::*;
            $(
                functions!(@export $called($($arg: $Arg),*));
                // The types are those that `cust` calls it with.
                const _: unsafe extern "C" fn($($Arg),*) -> CUresult = sys::$called;
            )*
            $(functions!(@export $on_code($code: Code, $text: $Text));)*
            $(
                /// Nothing calls it: whoever does moves it to the list of those with types.
                #[unsafe(no_mangle)]
                extern "C" fn $uncalled() -> CUresult {
                    CUresult::CUDA_ERROR_NOT_FOUND
                }
            )*
        }
    };
    (@call $name:ident($($arg:ident: $Arg:ty),*)) => {
        /// # Safety
        /// As the CUDA driver API documents for this function.
        pub(in super::super::super) unsafe fn $name($($arg: $Arg),*) -> Code {
            let address = address::$name.load(Ordering::Acquire);
            if address.is_null() {
                return code::NOT_FOUND;
            }
            // SAFETY: `bind` took the address from the driver, whose function of this name has these types.
            let function = unsafe {
                std::mem::transmute::<*mut c_void, unsafe extern "C" fn($($Arg),*) -> Code>(address)
            };
            // SAFETY: as the caller promised.
            unsafe { function($($arg),*) }
        }
    };
    (@export $name:ident($($arg:ident: $Arg:ty),*)) => {
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name($($arg: $Arg),*) -> CUresult {
            // SAFETY: as the caller promised.
            known(unsafe { call::$name($($arg),*) })
        }
    };
}

functions! {
    called {
        fn cuInit(flags: c_uint);
        fn cuDriverGetVersion(version: *mut c_int);
        fn cuDeviceGet(device: *mut sys::CUdevice, index: c_int);
        fn cuDeviceGetCount(count: *mut c_int);
        fn cuDeviceGetName(name: *mut c_char, length: c_int, device: sys::CUdevice);
        fn cuDeviceTotalMem_v2(bytes: *mut usize, device: sys::CUdevice);
        fn cuDeviceGetAttribute(value: *mut c_int, name: sys::CUdevice_attribute, device: sys::CUdevice);
        fn cuDevicePrimaryCtxRetain(context: *mut sys::CUcontext, device: sys::CUdevice);
        fn cuDevicePrimaryCtxRelease_v2(device: sys::CUdevice);
        fn cuDevicePrimaryCtxSetFlags_v2(device: sys::CUdevice, flags: c_uint);
        fn cuCtxSetCurrent(context: sys::CUcontext);
        fn cuCtxSynchronize();
        fn cuMemGetInfo_v2(free: *mut usize, total: *mut usize);
        fn cuMemAlloc_v2(pointer: *mut sys::CUdeviceptr, bytes: usize);
        fn cuMemFree_v2(pointer: sys::CUdeviceptr);
        fn cuMemHostAlloc(pointer: *mut *mut c_void, bytes: usize, flags: c_uint);
        fn cuMemHostGetDevicePointer_v2(address: *mut sys::CUdeviceptr, pointer: *mut c_void, flags: c_uint);
        fn cuMemFreeHost(pointer: *mut c_void);
        fn cuMemsetD8Async(to: sys::CUdeviceptr, byte: u8, bytes: usize, stream: sys::CUstream);
        fn cuMemcpyHtoD_v2(to: sys::CUdeviceptr, from: *const c_void, bytes: usize);
        fn cuMemcpyDtoH_v2(to: *mut c_void, from: sys::CUdeviceptr, bytes: usize);
        fn cuMemcpyDtoDAsync_v2(
            to: sys::CUdeviceptr,
            from: sys::CUdeviceptr,
            bytes: usize,
            stream: sys::CUstream,
        );
        fn cuMemcpyHtoDAsync_v2(to: sys::CUdeviceptr, from: *const c_void, bytes: usize, stream: sys::CUstream);
        fn cuMemcpyDtoHAsync_v2(to: *mut c_void, from: sys::CUdeviceptr, bytes: usize, stream: sys::CUstream);
        fn cuStreamCreateWithPriority(stream: *mut sys::CUstream, flags: c_uint, priority: c_int);
        fn cuStreamDestroy_v2(stream: sys::CUstream);
        fn cuStreamSynchronize(stream: sys::CUstream);
        fn cuEventCreate(event: *mut sys::CUevent, flags: c_uint);
        fn cuEventDestroy_v2(event: sys::CUevent);
        fn cuEventRecord(event: sys::CUevent, stream: sys::CUstream);
        fn cuEventElapsedTime(milliseconds: *mut f32, start: sys::CUevent, end: sys::CUevent);
        fn cuLinkCreate_v2(
            options: c_uint,
            names: *mut sys::CUjit_option,
            values: *mut *mut c_void,
            linker: *mut sys::CUlinkState,
        );
        fn cuLinkAddData_v2(
            linker: sys::CUlinkState,
            kind: sys::CUjitInputType,
            data: *mut c_void,
            bytes: usize,
            name: *const c_char,
            options: c_uint,
            names: *mut sys::CUjit_option,
            values: *mut *mut c_void,
        );
        fn cuLinkComplete(linker: sys::CUlinkState, cubin: *mut *mut c_void, bytes: *mut usize);
        fn cuLinkDestroy(linker: sys::CUlinkState);
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
    on_codes {
        fn cuGetErrorName(error: Code, name: *mut *const c_char);
        fn cuGetErrorString(error: Code, text: *mut *const c_char);
    }
    uncalled {
        cuArray3DCreate_v2 cuArray3DGetDescriptor_v2 cuArrayDestroy
        cuCtxCreate_v2 cuCtxDestroy_v2 cuCtxGetApiVersion cuCtxGetCacheConfig cuCtxGetCurrent cuCtxGetDevice
        cuCtxGetFlags cuCtxGetLimit cuCtxGetSharedMemConfig cuCtxGetStreamPriorityRange cuCtxPopCurrent_v2
        cuCtxPushCurrent_v2 cuCtxSetCacheConfig cuCtxSetLimit cuCtxSetSharedMemConfig
        cuDestroyExternalMemory cuDevicePrimaryCtxReset_v2
        cuEventQuery cuEventSynchronize
        cuExternalMemoryGetMappedBuffer
        cuFuncSetCacheConfig cuFuncSetSharedMemConfig
        cuGraphAddKernelNode cuGraphCreate cuGraphDebugDotPrint cuGraphDestroy cuGraphGetEdges
        cuGraphGetNodes cuGraphKernelNodeGetParams cuGraphNodeGetType
        cuImportExternalMemory cuLaunchHostFunc
        cuMemAdvise cuMemAllocAsync cuMemAllocHost_v2 cuMemAllocManaged cuMemFreeAsync
        cuMemPrefetchAsync
        cuMemcpy2D_v2 cuMemcpyAtoH_v2 cuMemcpyDtoD_v2 cuMemcpyHtoA_v2
        cuMemsetD16Async cuMemsetD16_v2 cuMemsetD32Async cuMemsetD32_v2 cuMemsetD8_v2
        cuModuleGetGlobal_v2 cuModuleLoad cuModuleLoadData
        cuOccupancyAvailableDynamicSMemPerBlock cuOccupancyMaxPotentialBlockSize
        cuStreamGetFlags cuStreamGetPriority cuStreamWaitEvent
        cuSurfObjectCreate cuSurfObjectDestroy cuSurfObjectGetResourceDesc
        cuTexObjectCreate cuTexObjectDestroy cuTexObjectGetResourceDesc cuTexObjectGetResourceViewDesc
    }
}

/// Takes the addresses of the functions that the library has, and returns the first of `essential` that it lacks.
///
/// # Safety
/// The library is never unloaded, and what it has under these names are the driver's functions.
pub(super) unsafe fn bind(library: &Library, essential: &[&'static str]) -> Option<&'static str> {
    let mut missing = essential.to_vec();
    for (name, address) in addresses() {
        // SAFETY: the symbol is only taken as an address here, and a function's address is one.
        let Ok(symbol) = (unsafe { library.get::<*mut c_void>(name.as_bytes()) }) else { continue };
        if !symbol.is_null() {
            missing.retain(|essential| *essential != name);
            address.store(*symbol, Ordering::Release);
        }
    }
    missing.first().copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_that_cust_does_not_know_are_unknown_errors() {
        // Those of CUDA 12 among them: 46 is an unavailable device, 226 a resource of another context.
        for code in [-1, 9, 46, 203, 226, 402, 721, 812, 912, 998, 1000, 12_345, Code::MIN, Code::MAX] {
            assert_eq!(known(code), CUresult::CUDA_ERROR_UNKNOWN, "{code}");
        }
        for code in [0, 1, 2, 34, 100, 101, 201, 222, 500, 600, 700, 719, 803, 911, 999] {
            assert_eq!(known(code) as Code, code);
        }
        let codes: Vec<_> = ERRORS.iter().map(|error| *error as Code).collect();
        assert!(codes.is_sorted_by(|a, b| a < b), "each once: {codes:?}");
    }
}
