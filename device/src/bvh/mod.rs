//! The hierarchy: an eight-wide tree of compressed boxes (Ylitie, Karras & Laine 2017, "Efficient Incoherent
//! Ray Traversal on GPUs Through Compressed Wide BVHs").
//!
//! Primitives of the world are in one tree; groups that have instances each in another, in their own space; and the
//! instances, by their boxes in the world, in a last one.

mod instance;
pub mod node;
pub mod packet;
mod traverse;

pub use instance::Instance;
pub use node::{Node, NodeHits, TraversalRay};
pub(crate) use traverse::has_instances;
pub(crate) use traverse::intersect_prims;
pub use traverse::{Hit, STACK_SIZE, closest_hit, occluded};
