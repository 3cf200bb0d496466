//! The kernels of `renderer/examples`.

mod saxpy;
