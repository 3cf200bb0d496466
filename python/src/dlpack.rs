//! Images on GPUs as other libraries take them without a copy: DLPack, <https://dmlc.github.io/dlpack/latest/c_api.html>.

use std::ffi::{CStr, c_void};
use std::ptr;
use std::sync::Arc;

use pyo3::ffi;
use pyo3::prelude::*;
use renderer::DeviceImage;

/// The name of a capsule that nobody has taken over.
const FRESH: &CStr = c"dltensor";
/// `kDLCUDA`.
const CUDA: i32 = 2;
/// `kDLFloat`.
const FLOAT: u8 = 2;

/// `DLTensor`.
#[repr(C)]
struct Tensor {
    data: *mut c_void,
    device_type: i32,
    device_id: i32,
    dimensions: i32,
    type_code: u8,
    type_bits: u8,
    type_lanes: u16,
    shape: *mut i64,
    strides: *mut i64,
    byte_offset: u64,
}

/// `DLManagedTensor`.
#[repr(C)]
struct Managed {
    tensor: Tensor,
    owner: *mut c_void,
    deleter: Option<unsafe extern "C" fn(*mut Managed)>,
}

/// A tensor, with all that it points to.
struct Owned {
    managed: Managed,
    shape: [i64; 3],
    strides: [i64; 3],
    _image: Arc<DeviceImage>,
}

/// A capsule with the radiance, (H, W, 3), f32, which lives as long as whoever takes it over wants it.
pub(crate) fn capsule(py: Python<'_>, image: &Arc<DeviceImage>) -> PyResult<Py<PyAny>> {
    let [width, height] = image.size().map(i64::from);
    let tensor = Tensor {
        data: ptr::with_exposed_provenance_mut(image.address() as usize),
        device_type: CUDA,
        device_id: image.device() as i32,
        dimensions: 3,
        type_code: FLOAT,
        type_bits: 32,
        type_lanes: 1,
        shape: ptr::null_mut(),
        strides: ptr::null_mut(),
        byte_offset: 0,
    };
    let managed = Managed { tensor, owner: ptr::null_mut(), deleter: Some(delete) };
    let owned =
        Owned { managed, shape: [height, width, 3], strides: [3 * width, 3, 1], _image: Arc::clone(image) };
    let owned = Box::into_raw(Box::new(owned));
    // SAFETY: `owned` is a box that nobody else has yet; its fields stay where they are until `delete` frees it.
    let managed = unsafe {
        (*owned).managed.tensor.shape = (&raw mut (*owned).shape).cast();
        (*owned).managed.tensor.strides = (&raw mut (*owned).strides).cast();
        (*owned).managed.owner = owned.cast();
        &raw mut (*owned).managed
    };
    // SAFETY: the pointer is not null, and the name is static.
    let capsule = unsafe { ffi::PyCapsule_New(managed.cast(), FRESH.as_ptr(), Some(drop_capsule)) };
    if capsule.is_null() {
        // SAFETY: it has not been handed over.
        unsafe { delete(managed) };
    }
    // SAFETY: null with an exception, or a new reference.
    unsafe { Bound::from_owned_ptr_or_err(py, capsule) }.map(Bound::unbind)
}

/// Frees a tensor. It may be called by any thread.
///
/// # Safety
/// `managed` is of an [`Owned`], and is not used any more.
unsafe extern "C" fn delete(managed: *mut Managed) {
    // SAFETY: `owner` is the box that `capsule` made, and is freed once.
    drop(unsafe { Box::from_raw((*managed).owner.cast::<Owned>()) });
}

/// Frees what is in a capsule that nobody has taken over: who does renames it.
///
/// # Safety
/// `capsule` is one that Python is about to free.
unsafe extern "C" fn drop_capsule(capsule: *mut ffi::PyObject) {
    // SAFETY: it is a capsule, and Python's threads are attached where it frees objects.
    if unsafe { ffi::PyCapsule_IsValid(capsule, FRESH.as_ptr()) } == 0 {
        return;
    }
    // SAFETY: as above; it is valid under this name, so that the pointer is that of `capsule`, of which nobody else knows.
    unsafe { delete(ffi::PyCapsule_GetPointer(capsule, FRESH.as_ptr()).cast()) };
}
