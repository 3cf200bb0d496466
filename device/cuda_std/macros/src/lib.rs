//! The `#[kernel]` attribute of `cuda_std`.

mod kernel;

use proc_macro::TokenStream;

/// Makes a function an entry point of the GPU module.
///
/// On the GPU the function becomes `#[unsafe(no_mangle)] pub unsafe extern "ptx-kernel" fn`, a
/// `.visible .entry` of the PTX under its own name. On the host it becomes an ordinary
/// `pub unsafe fn`, which tests can call.
///
/// A kernel is a free `pub unsafe fn` without generics, `async`, `const` or an ABI of its own. It returns
/// nothing, and its arguments are named. Arguments are copied to the GPU, so each must be `Copy`, and
/// have a layout that host and GPU agree about: a number, a pointer, a `#[repr(C)]` struct.
///
/// # Safety
/// Of a kernel: whoever launches it promises that its pointers are valid on the device, and that grid,
/// block and shared memory are what the kernel expects. The `# Safety` section of each says so.
///
/// # Examples
/// ```
/// use cuda_std_macros::kernel;
///
/// #[derive(Clone, Copy)]
/// #[repr(C)]
/// pub struct Args { n: u32, out: *mut f32 }
///
/// /// # Safety
/// /// `args.out` has room for `args.n` values.
/// #[kernel]
/// pub unsafe fn fill(args: Args, value: f32) {
///     for i in 0..args.n as usize {
///         unsafe { *args.out.add(i) = value }
///     }
/// }
/// # let mut out = [0.0; 3];
/// # unsafe { fill(Args { n: 3, out: out.as_mut_ptr() }, 2.0) };
/// # assert_eq!(out, [2.0; 3]);
/// ```
///
/// Without `Copy` the same struct is refused:
/// ```compile_fail,E0277
/// use cuda_std_macros::kernel;
///
/// #[repr(C)]
/// pub struct Args { n: u32, out: *mut f32 }
///
/// /// # Safety
/// /// `args.out` has room for `args.n` values.
/// #[kernel]
/// pub unsafe fn fill(args: Args, value: f32) {
///     for i in 0..args.n as usize {
///         unsafe { *args.out.add(i) = value }
///     }
/// }
/// ```
///
/// Without `#[repr(C)]` too, because its layout is then the compiler's business:
/// ```compile_fail
/// use cuda_std_macros::kernel;
///
/// #[derive(Clone, Copy)]
/// pub struct Args { n: u32, out: *mut f32 }
///
/// /// # Safety
/// /// `args.out` has room for `args.n` values.
/// #[kernel]
/// pub unsafe fn fill(args: Args, value: f32) {
///     for i in 0..args.n as usize {
///         unsafe { *args.out.add(i) = value }
///     }
/// }
/// ```
#[proc_macro_attribute]
pub fn kernel(attribute: TokenStream, item: TokenStream) -> TokenStream {
    kernel::expand(attribute.into(), item.into()).unwrap_or_else(|error| error.into_compile_error()).into()
}
