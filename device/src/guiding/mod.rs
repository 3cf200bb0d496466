//! Path guiding: drawing directions by what earlier paths have learnt of the light in a region of space.
//!
//! A [`Guide`] is a tree over the regions, each of which has a [`Mixture`]. It is learnt in rounds, in which paths that are not of the
//! image leave a [`Record`] wherever they scatter. Records are sorted by their place ([`key`]), a tree divides them into regions
//! ([`tree`]), and to those of each region a mixture is fitted ([`fit`]).

pub mod fit;
pub mod key;
pub mod mixture;
mod record;
pub mod tree;
mod trial;
pub mod vmf;

use glam::Vec3;

use crate::arch::load;
use key::Bounds;

pub use fit::{Fit, FitArgs};
pub use mixture::Mixture;
pub use record::{Keep, KeepArgs, Record};
pub use tree::{GuideNode, Span, Split, SplitArgs, TreeView};
pub use trial::Trial;
pub(crate) use trial::Twin;

/// A guide in the memory of a back end.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Guide {
    /// Nodes of the tree, of which the first is the root; null for no guide.
    pub nodes: *const GuideNode,
    /// Mixtures of the regions.
    pub mixtures: *const Mixture,
    /// Where regions are.
    pub bounds: Bounds,
}

impl Guide {
    /// None.
    pub const NONE: Self = Self {
        nodes: core::ptr::null(),
        mixtures: core::ptr::null(),
        bounds: Bounds { origin: Vec3::ZERO, scale: 0.0 },
    };

    /// The mixture for directions from a point of a surface with the unit normal `n`; null if there is none.
    ///
    /// # Safety
    /// It is valid.
    #[inline(always)]
    pub unsafe fn mixture(&self, p: Vec3, n: Vec3) -> *const Mixture {
        if self.nodes.is_null() {
            return core::ptr::null();
        }
        let key = self.bounds.key(p, n);
        let mut node = 0;
        let mut level = 0;
        loop {
            let child = key::child(key, level);
            // SAFETY: as the caller promised: children are nodes or regions of the guide.
            let word =
                unsafe { load((&raw const (*self.nodes.add(node as usize)).child).cast::<u32>().add(child)) };
            if word & GuideNode::REGION == 0 {
                node = word;
                level += 1;
                continue;
            }
            return match word {
                GuideNode::NOTHING => core::ptr::null(),
                _ => self.mixtures.wrapping_add((word & !GuideNode::REGION) as usize),
            };
        }
    }
}
