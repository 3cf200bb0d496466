//! The kernels of `renderer/examples`. Each file has all of an example that runs on the GPU, and its sequential twin,
//! which the example on the host includes.

mod circles;
mod matmul;
mod reduction_ladder;
mod saxpy;
mod stencil;
