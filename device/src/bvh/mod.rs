//! The hierarchy: an eight-wide tree of compressed boxes (Ylitie, Karras & Laine 2017, "Efficient Incoherent
//! Ray Traversal on GPUs Through Compressed Wide BVHs").
//!
//! Primitives of the world are in one tree; groups that have instances each in another, in their own space; and the
//! instances, by their boxes in the world, in a last one.

mod arch;
#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod geometry;
mod herd;
mod instance;
pub mod node;
#[cfg(target_arch = "nvptx64")]
mod nvptx;
pub mod packet;
#[cfg(not(target_arch = "nvptx64"))]
mod portable;
mod stray;
mod traverse;
#[cfg(target_arch = "nvptx64")]
pub(crate) mod warp;
pub mod wide;

use crate::ray::Ray;

pub use arch::Arch;
#[cfg(target_arch = "x86_64")]
pub use avx2::Avx2;
#[cfg(target_arch = "x86_64")]
pub use avx512::Avx512;
pub use geometry::Geometry;
pub use instance::Instance;
pub use node::{Node, NodeHits};
#[cfg(target_arch = "nvptx64")]
pub use nvptx::Gpu;
#[cfg(not(target_arch = "nvptx64"))]
pub use portable::Portable;
pub(crate) use traverse::has_instances;
pub use traverse::{Hit, STACK_SIZE, closest_hit, occluded};
pub use wide::WideNode;

/// The node that this machine's traversal reads.
#[cfg(target_arch = "nvptx64")]
pub type TreeNode = Node;
/// The node that this machine's traversal reads.
#[cfg(not(target_arch = "nvptx64"))]
pub type TreeNode = WideNode;

/// A list of rays, and a sink for their hits.
pub trait Rays {
    /// Ray `i`, and where it ends.
    ///
    /// # Safety
    /// There is such a ray.
    unsafe fn ray(&self, i: u32) -> (Ray, f32);

    /// Reports the hit of ray `i`, or a miss.
    ///
    /// # Safety
    /// There is such a ray, and nobody else tells of it.
    unsafe fn tell(&self, i: u32, hit: &Hit);
}

/// Rays that a warp of a GPU traces: enough to fill the places of those that end early, and few enough for warps to end
/// together.
pub const RAYS_PER_WARP: u32 = 256;
