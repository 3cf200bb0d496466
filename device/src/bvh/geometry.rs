//! The scene as traversal sees it.

use super::{Instance, TreeNode};
use crate::shape::Primitive;

/// Shapes and their hierarchy.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Geometry {
    /// The trees of the hierarchy; the root of that of the world is node 0.
    pub nodes: *const TreeNode,
    /// Primitives in the order of the leaves, those of the world first and then those of groups; one may occur more than
    /// once. There are at least [`Geometry::MIN_PRIMS`], the last of which may mean nothing.
    pub prims: *const Primitive,
    /// Which primitive of the scene each of them is, the same for all occurrences of one.
    pub sources: *const u32,
    /// Instances of groups in the order of the leaves.
    pub instances: *const Instance,
    /// Where the whole view of which this is a part lies in the memory of a GPU that sees it: see [`Geometry::shared`].
    pub kept: *const (),
    /// Root of the tree of the instances, or 0 if there are none.
    pub instances_root: u32,
    /// Up to how many rays of a packet go on alone, on a CPU: more in trees that do not fit in its caches, and among instances.
    pub strays: u32,
}

impl Geometry {
    /// Primitives at [`Geometry::prims`] that may be read at least, even if the scene has fewer: machines test as many
    /// at once.
    pub const MIN_PRIMS: usize = 8;

    #[inline(always)]
    #[cfg(target_arch = "nvptx64")]
    pub(crate) const fn kept(&self) -> *const () {
        self.kept
    }

    /// The view for functions that are not inlined. Arguments of a kernel have no address: a function that takes one by
    /// reference would make every thread copy them to its own memory first.
    #[inline(always)]
    pub const fn shared(&self) -> &Self {
        #[cfg(target_arch = "nvptx64")]
        // SAFETY: the host put it there, and nothing writes it while stages run.
        return unsafe { &*self.kept().cast() };
        #[cfg(not(target_arch = "nvptx64"))]
        self
    }
}
