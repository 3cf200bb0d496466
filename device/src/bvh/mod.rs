//! The hierarchy: an eight-wide tree of compressed boxes (Ylitie, Karras & Laine 2017, "Efficient Incoherent
//! Ray Traversal on GPUs Through Compressed Wide BVHs").

pub mod node;
pub mod packet;
mod traverse;

pub use node::{Node, NodeHits, TraversalRay};
pub(crate) use traverse::intersect_prims;
pub use traverse::{Hit, STACK_SIZE, closest_hit, occluded};
