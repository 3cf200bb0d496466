//! Dividing records into regions: a tree whose first level is the side that a surface faces, and whose others are octants.

use bytemuck::{Pod, Zeroable};
use primitives::Ptr;

use super::key::{self, DIGITS};
use crate::arch::{fetch_add, read, write};
use crate::bvh::Arch;
use crate::function::{Count, Function};

/// Children by a digit of the key, 32 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C, align(16))]
pub struct GuideNode {
    /// Of each the number of a node, or with [`GuideNode::REGION`] that of a region, or [`GuideNode::NOTHING`].
    pub child: [u32; 8],
}

impl GuideNode {
    /// Flag of a region.
    pub const REGION: u32 = 1 << 31;
    /// There is no region.
    pub const NOTHING: u32 = u32::MAX;
}

/// Records in a row, once they are sorted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C, align(8))]
pub struct Span {
    /// The first one.
    pub first: u32,
    /// The one after the last.
    pub end: u32,
}

/// A tree that grows.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct TreeView {
    /// Its nodes, level by level.
    pub nodes: Ptr<GuideNode>,
    /// Records of each node.
    pub spans: Ptr<Span>,
    /// Number of nodes of each level, [`DIGITS`] of them.
    pub level_counts: Ptr<u32>,
    /// Records of each region.
    pub regions: Ptr<Span>,
    /// Number of regions.
    pub region_count: Ptr<u32>,
}

/// Which nodes to divide.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct SplitArgs {
    /// The tree, down to their level.
    pub tree: TreeView,
    /// Keys of all records, sorted.
    pub keys: Ptr<u64>,
    /// Their level, < [`DIGITS`].
    pub level: u32,
    /// Most nodes of a level.
    pub most_nodes: u32,
    /// A child with as many records is divided in turn.
    pub many: u32,
    /// One with fewer has no region of its own, but that of its parent.
    pub few: u32,
}

impl SplitArgs {
    /// The most nodes that a level has for so many records.
    pub const fn most_nodes(records: u32, many: u32) -> u32 {
        1 + records / many
    }

    /// The most regions that a tree has for so many records.
    pub const fn most_regions(records: u32, many: u32, few: u32) -> u32 {
        1 + records / few + DIGITS * Self::most_nodes(records, many)
    }
}

impl Count for SplitArgs {
    #[inline(always)]
    fn count(&self) -> u32 {
        self.most_nodes
    }
}

/// The stage.
pub struct Split;

impl Function for Split {
    type Args = SplitArgs;

    /// Finds the children of one node. What numbers nodes and regions get depends on which invocation is first; what they are does not.
    ///
    /// # Safety
    /// The pointers in `args` are valid, with room for as many nodes and regions as there may be, and all levels above have been divided.
    #[inline(always)]
    unsafe fn run<A: Arch>(i: u32, args: &SplitArgs) {
        let SplitArgs { tree, level, .. } = *args;
        // SAFETY: as the caller promised; nobody writes the counts of this level and those above.
        unsafe {
            let mut begin = 0;
            let mut l = 0;
            while l < level {
                begin += read(tree.level_counts.at(l));
                l += 1;
            }
            let nodes = read(tree.level_counts.at(level));
            if i >= nodes {
                return;
            }
            let node = begin + i;
            let Span { first, end } = read(tree.spans.at(node));
            let mut own = if level == 0 { GuideNode::NOTHING } else { NOT_YET };
            let mut from = first;
            for digit in 0..8 {
                let to = first_above(args.keys, level, digit, from..end);
                let word = if to - from >= args.many && level + 1 < DIGITS {
                    let child = begin + nodes + fetch_add(tree.level_counts.at(level + 1), 1);
                    write(tree.spans.at(child), Span { first: from, end: to });
                    child
                } else if to - from >= args.few {
                    region(&tree, Span { first: from, end: to })
                } else {
                    if own == NOT_YET {
                        own = region(&tree, Span { first, end });
                    }
                    own
                };
                write((&raw mut (*tree.nodes.at(node)).child).cast::<u32>().add(digit as usize), word);
                from = to;
            }
        }
    }
}

/// Mark of a node that has no region of its own yet: a number that no region has.
const NOT_YET: u32 = GuideNode::REGION - 1;

/// The first of sorted keys, from `span`, whose digit at `level` is larger than `digit`; the end of the span if none is.
///
/// # Safety
/// There are the keys.
#[inline(always)]
unsafe fn first_above(keys: Ptr<u64>, level: u32, digit: u32, span: core::ops::Range<u32>) -> u32 {
    let (mut low, mut high) = (span.start, span.end);
    while low < high {
        let middle = low + (high - low) / 2;
        // SAFETY: as the caller promised.
        let key = unsafe { read(keys.at(middle)) };
        if key::child(key, level) as u32 > digit { high = middle } else { low = middle + 1 }
    }
    low
}

/// A new region of records, as a word of [`GuideNode::child`].
///
/// # Safety
/// There is room.
#[inline(always)]
unsafe fn region(tree: &TreeView, span: Span) -> u32 {
    // SAFETY: as the caller promised; the number is nobody else's.
    unsafe {
        let number = fetch_add(tree.region_count.at(0), 1);
        write(tree.regions.at(number), span);
        number | GuideNode::REGION
    }
}
