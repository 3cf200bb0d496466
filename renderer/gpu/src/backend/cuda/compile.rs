//! Machine code from PTX. The driver's linker compiles on several threads at a time; its loader takes one text after the other.

use std::ffi::{c_uint, c_void};
use std::time::SystemTime;

use cust::sys::{CUcontext, CUjit_option, CUjitInputType, CUlinkState, CUmodule};

use super::code::{self, Code};
use super::driver::call;
use super::module::ModuleError;

/// Bytes that the driver may write to a log.
const LOG_BYTES: usize = 16 << 10;

/// A context of the driver.
#[derive(Debug, Clone, Copy)]
pub(super) struct Handle(CUcontext);

// SAFETY: the driver's handles may be used from every thread.
unsafe impl Send for Handle {}

// SAFETY: as for `Send`.
unsafe impl Sync for Handle {}

impl Handle {
    pub(super) const fn new(context: CUcontext) -> Self {
        Self(context)
    }

    /// Directs this thread's calls to the context, which must be alive.
    pub(super) fn make_current(self) -> Result<(), Code> {
        // SAFETY: the call takes any handle, and returns an error for one that is not a context's.
        code::check(unsafe { call::cuCtxSetCurrent(self.0) })
    }
}

/// How the driver compiles.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Manner {
    /// Whether the compiler is asked for a log of resources. It is empty for what is in the driver's cache.
    pub(super) verbose: bool,
    /// Whether to pass by the caches.
    pub(super) anew: bool,
}

/// Compiles `text` for the GPU of the current context. Returns the machine code, and the log.
///
/// # Errors
/// The driver's code, and what it says.
pub(super) fn compile(text: &str, manner: Manner) -> Result<(Vec<u8>, String), (Code, String)> {
    // The driver looks in its cache for the same text.
    let mark = if manner.anew { format!("// {:?}\n", SystemTime::now()) } else { String::new() };
    let image = format!("{mark}{text}\0");
    let [mut errors, mut remarks] = [vec![0_u8; LOG_BYTES], vec![0_u8; LOG_BYTES]];
    // Numbers are passed in the pointers themselves here, alone in the whole interface.
    let number = std::ptr::without_provenance_mut::<c_void>;
    let mut options = vec![
        (CUjit_option::CU_JIT_ERROR_LOG_BUFFER, errors.as_mut_ptr().cast()),
        (CUjit_option::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, number(LOG_BYTES)),
    ];
    if manner.verbose {
        options.extend([
            (CUjit_option::CU_JIT_INFO_LOG_BUFFER, remarks.as_mut_ptr().cast()),
            (CUjit_option::CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, number(LOG_BYTES)),
            (CUjit_option::CU_JIT_LOG_VERBOSE, number(1)),
        ]);
    }
    // SAFETY: the image ends in a zero byte, and the logs are as long as said; all outlive the call.
    let code = unsafe { link(image.as_bytes(), options) };
    code.map(|code| (code, text_of(&remarks))).map_err(|code| (code, text_of(&errors).trim().to_owned()))
}

/// Links `image` alone.
///
/// # Safety
/// It ends in a zero byte, and the options' values are as the driver API documents.
unsafe fn link(image: &[u8], options: Vec<(CUjit_option, *mut c_void)>) -> Result<Vec<u8>, Code> {
    let (mut names, mut values): (Vec<_>, Vec<_>) = options.into_iter().unzip();
    let (mut linker, count) = (Linker(std::ptr::null_mut()), names.len() as c_uint);
    // SAFETY: there are as many values as names; they outlive the linker, and are as the caller promised.
    code::check(unsafe {
        call::cuLinkCreate_v2(count, names.as_mut_ptr(), values.as_mut_ptr(), &raw mut linker.0)
    })?;
    let (ptx, data, none) =
        (CUjitInputType::CU_JIT_INPUT_PTX, image.as_ptr().cast_mut().cast(), std::ptr::null_mut());
    // SAFETY: the linker was made; the text is as long as said, ends in a zero byte, and is only read.
    code::check(unsafe {
        call::cuLinkAddData_v2(linker.0, ptx, data, image.len(), c"kernel".as_ptr(), 0, none, none.cast())
    })?;
    let (mut cubin, mut bytes) = (std::ptr::null_mut::<c_void>(), 0);
    // SAFETY: the linker was made, and both pointers are valid for the call.
    code::check(unsafe { call::cuLinkComplete(linker.0, &raw mut cubin, &raw mut bytes) })?;
    // SAFETY: what the linker returned is as long as it says, and lives as long as the linker.
    Ok(unsafe { std::slice::from_raw_parts(cubin.cast::<u8>(), bytes) }.to_vec())
}

/// A linker of the driver, gone on drop.
struct Linker(CUlinkState);

impl Drop for Linker {
    fn drop(&mut self) {
        if !self.0.is_null() {
            // SAFETY: it was made, and is destroyed once.
            unsafe { call::cuLinkDestroy(self.0) };
        }
    }
}

/// Machine code in the context that was current, unloaded on drop.
#[derive(Debug)]
pub(super) struct Piece(pub(super) CUmodule);

impl Piece {
    pub(super) fn load(cubin: &[u8]) -> Result<Self, ModuleError> {
        let (mut raw, none) = (std::ptr::null_mut(), std::ptr::null_mut());
        // SAFETY: the code is a whole file of the driver's, which is only read, and lives until after the call.
        let loaded =
            unsafe { call::cuModuleLoadDataEx(&raw mut raw, cubin.as_ptr().cast(), 0, none, none.cast()) };
        code::check(loaded).map(|()| Self(raw)).map_err(ModuleError::driver)
    }
}

impl Drop for Piece {
    fn drop(&mut self) {
        // SAFETY: loaded once, and unloaded once. Should the wrong context be current, or the right one be
        // lost, the call returns an error and does nothing.
        unsafe { call::cuModuleUnload(self.0) };
    }
}

/// The text that the driver wrote to a log.
fn text_of(log: &[u8]) -> String {
    String::from_utf8_lossy(log.split(|b| *b == 0).next().unwrap_or(&[])).into_owned()
}
