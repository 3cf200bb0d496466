//! Instructions that every machine has.

use super::{Arch, NodeHits, WideNode};
use crate::ray::TraversalRay;

/// Instructions that every machine has.
pub struct Portable;

impl Arch for Portable {
    type Packet = f32;

    #[inline(always)]
    unsafe fn intersect_children(node: *const WideNode, ray: &TraversalRay, t_max: f32) -> NodeHits {
        // SAFETY: as the caller promised.
        unsafe { &*node }.intersect_children(ray, t_max)
    }
}
