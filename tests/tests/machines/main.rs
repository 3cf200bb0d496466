//! Machines against each other, stage by stage and image by image.

mod back_ends;
mod gpu_lobes;
mod gpu_selftest;
mod laboratory;
mod resident;
mod selftest_gpu;
mod stage_replay;
mod traversal;
mod variants;
mod wavefront;
