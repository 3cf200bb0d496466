//! y ← a·x + y: the "hello, world" of parallel programs.

use cuda_std::{kernel, thread};

/// Arguments of [`saxpy`].
#[derive(Clone, Copy)]
#[repr(C)]
pub struct SaxpyArgs {
    /// `n` numbers.
    pub x: *const f32,
    /// `n` numbers, and the results.
    pub y: *mut f32,
    pub a: f32,
    pub n: u32,
}

/// A thread an element.
#[kernel]
pub unsafe fn saxpy(args: SaxpyArgs) {
    let i = thread::index_1d();
    if i < args.n {
        // SAFETY: both arrays have `n` numbers, and this one is this thread's.
        unsafe {
            let y = args.y.add(i as usize);
            y.write(args.a * args.x.add(i as usize).read() + y.read());
        }
    }
}
