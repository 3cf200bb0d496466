//! Stream compaction and partition: the wanted elements in their order, and the others from the end backwards.

use core::marker::PhantomData;

use super::{Entry, Kernel, Length, Ptr};

/// A selection of wanted elements.
pub trait Selection: Copy + Send + Sync + 'static {
    /// An element, of 4, 8 or 16 bytes, aligned to them.
    type Item: Copy + Send + Sync + 'static;
    /// Whether elements are their own indices, and not read.
    const INDICES: bool = false;

    /// Whether element `i` is wanted.
    ///
    /// # Safety
    /// The memory that the selection reads for element `i` is valid.
    unsafe fn wants(&self, i: u32, item: Self::Item) -> bool;

    /// Which of the four elements from `i` on are wanted, a bit each; `i` is a multiple of 4.
    ///
    /// # Safety
    /// As [`Selection::wants`], for all four.
    #[inline(always)]
    unsafe fn wants_quad(&self, i: u32, items: &[Self::Item; 4]) -> u32 {
        let mut wanted = 0;
        for (j, item) in items.iter().enumerate() {
            // SAFETY: as the caller promised.
            wanted |= u32::from(unsafe { self.wants(i + j as u32, *item) }) << j;
        }
        wanted
    }
}

/// Selects elements whose flag is not zero.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct Flagged<T> {
    /// A byte for each element.
    pub flags: Ptr<u8>,
    /// Type of the elements.
    pub item: PhantomData<T>,
}

impl<T: Copy + Send + Sync + 'static> Selection for Flagged<T> {
    type Item = T;

    #[inline(always)]
    unsafe fn wants(&self, i: u32, _: T) -> bool {
        // SAFETY: as the caller promised.
        unsafe { self.flags.at(i).read() != 0 }
    }

    #[cfg(target_arch = "nvptx64")]
    #[inline(always)]
    unsafe fn wants_quad(&self, i: u32, _: &[T; 4]) -> u32 {
        // SAFETY: as the caller promised; `i` is a multiple of 4.
        unsafe { nonzero_bytes(self.flags.cast::<u32>().load_constant(i / 4)) }
    }
}

/// Selects the indices of elements whose flag is not zero.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct Indices {
    /// A byte for each element.
    pub flags: Ptr<u8>,
}

impl Selection for Indices {
    type Item = u32;
    const INDICES: bool = true;

    #[inline(always)]
    unsafe fn wants(&self, i: u32, _: u32) -> bool {
        // SAFETY: as the caller promised.
        unsafe { self.flags.at(i).read() != 0 }
    }

    #[cfg(target_arch = "nvptx64")]
    #[inline(always)]
    unsafe fn wants_quad(&self, i: u32, _: &[u32; 4]) -> u32 {
        // SAFETY: as the caller promised; `i` is a multiple of 4.
        unsafe { nonzero_bytes(self.flags.cast::<u32>().load_constant(i / 4)) }
    }
}

/// A bit for each byte that is not zero.
#[cfg_attr(not(target_arch = "nvptx64"), allow(dead_code, reason = "only tested on the host"))]
#[inline(always)]
const fn nonzero_bytes(word: u32) -> u32 {
    // Bit 7 of each byte: whether any of its bits is set.
    let any = (((word & 0x7f7f_7f7f) + 0x7f7f_7f7f) | word) & 0x8080_8080;
    // Bits 7, 15, 23 and 31 meet in the top byte.
    ((any >> 7).wrapping_mul(0x0020_4081) >> 21) & 0xf
}

/// A condition on an element.
pub trait Predicate: Copy + Send + Sync + 'static {
    /// Type that it tests.
    type Item: Copy + Send + Sync + 'static;

    /// Whether it is true.
    fn holds(&self, item: Self::Item) -> bool;
}

/// Whether a number is below a limit; NaN never is.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct Below<T>(pub T);

impl<T: super::Element> Predicate for Below<T> {
    type Item = T;

    #[inline(always)]
    fn holds(&self, item: T) -> bool {
        item < self.0
    }
}

/// Selects elements for which a condition is true.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct If<P>(pub P);

impl<P: Predicate> Selection for If<P> {
    type Item = P::Item;

    #[inline(always)]
    unsafe fn wants(&self, _: u32, item: P::Item) -> bool {
        self.0.holds(item)
    }
}

/// Threads of a block.
pub(super) const BLOCK: u32 = 256;

/// Rows of a tile: as many as make 128 bytes a thread.
pub(super) const fn rows<T>() -> u32 {
    match size_of::<T>() {
        4 => 8,
        8 => 4,
        16 => 2,
        _ => panic!("an element has 4, 8 or 16 bytes"),
    }
}

/// Elements of a tile.
pub const fn tile<T>() -> u32 {
    BLOCK * 4 * rows::<T>()
}

/// Compacts, in a single pass with decoupled look-back: one block per tile, and at least one. With `REST`, the unwanted elements
/// follow the others in reverse order, so that their places do not depend on the number of wanted elements.
pub struct Select<S, const REST: bool>(PhantomData<S>);

/// Arguments of [`Select`].
#[derive(Clone, Copy)]
#[repr(C)]
pub struct SelectArgs<S: Selection> {
    /// Elements to select from; not read if elements are indices.
    pub input: Ptr<S::Item>,
    /// Room for the wanted elements, or with `REST` for all, not overlapping the input.
    pub output: Ptr<S::Item>,
    /// Receives the number of wanted elements.
    pub count: Ptr<u32>,
    /// Number of elements.
    pub length: Length,
    /// Words that tiles publish, one each. Zeros at the start.
    pub tiles: Ptr<u64>,
    /// Counter of tiles. Zero at the start.
    pub ticket: Ptr<u32>,
    /// The selection.
    pub selection: S,
}

impl<S: Selection, const REST: bool> Kernel for Select<S, REST> {
    type Args = SelectArgs<S>;
    const BLOCK: u32 = BLOCK;
    const BLOCKS: u32 = 4;
    const SHARED: u32 = tile::<S::Item>() * size_of::<S::Item>() as u32;

    #[cfg(target_arch = "nvptx64")]
    #[inline(always)]
    unsafe fn run(args: &Self::Args) {
        // SAFETY: as the caller promised; an element's size decides its rows.
        unsafe {
            match rows::<S::Item>() {
                8 => gpu::select::<S, REST, 8>(args),
                4 => gpu::select::<S, REST, 4>(args),
                _ => gpu::select::<S, REST, 2>(args),
            }
        }
    }
}

/// A selection for which there are kernels.
pub trait Selectable: Selection {
    /// Keeps those that are wanted.
    type Compact: Kernel<Args = SelectArgs<Self>> + Entry;
    /// Keeps all, those that are wanted first.
    type Partition: Kernel<Args = SelectArgs<Self>> + Entry;
}

impl<S: Selection> Selectable for S
where
    Select<S, false>: Entry,
    Select<S, true>: Entry,
{
    type Compact = Select<S, false>;
    type Partition = Select<S, true>;
}

/// Sequential compaction; with `rest`, partition, with the rest in reverse order. Returns the number of wanted elements.
///
/// # Safety
/// The memory that the selection reads is valid for `n` elements, and so are they, unless they are indices; `output` has
/// room.
pub unsafe fn twin<S: Selection>(
    selection: &S,
    item: impl Fn(u32) -> S::Item,
    n: u32,
    output: Ptr<S::Item>,
    rest: bool,
) -> u32 {
    let (mut count, mut end) = (0, n);
    for i in 0..n {
        // SAFETY: as the caller promised.
        unsafe {
            if selection.wants(i, item(i)) {
                output.at(count).write_unaligned(item(i));
                count += 1;
            } else if rest {
                end -= 1;
                output.at(end).write_unaligned(item(i));
            }
        }
    }
    count
}

#[cfg(target_arch = "nvptx64")]
mod gpu {
    use core::mem::MaybeUninit;

    use cuda_std::{mem, shared, shared_array, thread};

    use super::*;
    use crate::block::{first_of, ranks};
    use crate::look_back::{Tiles, take_tile_of};
    use crate::{Quad, Sum, WARP};

    /// A thread's part of a tile.
    struct Part<T, const ROWS: usize> {
        /// Those that are there.
        items: [[MaybeUninit<T>; 4]; ROWS],
        /// A bit for each element that is wanted, four for each row.
        wanted: u32,
    }

    /// Reads a tile that begins at `begin`, of `n` elements.
    #[inline(always)]
    unsafe fn load<S: Selection, const ROWS: usize>(
        args: &SelectArgs<S>,
        begin: u32,
        n: u32,
    ) -> Part<S::Item, ROWS> {
        let first = begin + first_of::<ROWS>();
        let mut wanted = 0;
        // SAFETY: memory is as the caller promised; what is beyond `n` is not touched.
        unsafe {
            if n - begin >= tile::<S::Item>() {
                let items: [_; ROWS] =
                    core::array::from_fn(|k| quad::<S>(args.input, first + 128 * k as u32));
                for k in 0..ROWS {
                    wanted |= args.selection.wants_quad(first + 128 * k as u32, &items[k]) << (4 * k);
                }
                return Part { items: items.map(|quad| quad.map(MaybeUninit::new)), wanted };
            }
            let items = core::array::from_fn(|k| {
                let i = first + 128 * k as u32;
                core::array::from_fn(|j| {
                    let i = i + j as u32;
                    let mut item = MaybeUninit::uninit();
                    if i < n {
                        item.write(one::<S>(args.input, i));
                        wanted |= u32::from(args.selection.wants(i, item.assume_init())) << (4 * k + j);
                    }
                    item
                })
            });
            Part { items, wanted }
        }
    }

    #[inline(always)]
    unsafe fn one<S: Selection>(input: Ptr<S::Item>, i: u32) -> S::Item {
        // SAFETY: memory is as the caller promised; indices are of 32 bits, as `Indices` has them.
        unsafe { if S::INDICES { core::mem::transmute_copy(&i) } else { input.load_constant(i) } }
    }

    #[inline(always)]
    unsafe fn quad<S: Selection>(input: Ptr<S::Item>, i: u32) -> [S::Item; 4] {
        if S::INDICES {
            // SAFETY: as above.
            return core::array::from_fn(|j| unsafe { one::<S>(input, i + j as u32) });
        }
        // SAFETY: memory is as the caller promised, and `i` is a multiple of 4.
        unsafe { mem::ldg(input.at(i).cast::<Quad<S::Item>>()).0 }
    }

    #[inline(always)]
    pub(super) unsafe fn select<S: Selection, const REST: bool, const ROWS: usize>(args: &SelectArgs<S>) {
        let totals = shared_array![u32; 32];
        let compacted = shared::dynamic_shared_mem::<MaybeUninit<S::Item>>();
        // SAFETY: the whole block comes here; memory is as the caller promised.
        unsafe {
            let &SelectArgs { length, ticket, count, .. } = args;
            let Some((index, begin, n)) = take_tile_of(tile::<S::Item>(), length, ticket, count) else {
                return;
            };
            let thread = thread::thread_idx_x();
            let part = load::<S, ROWS>(args, begin, n);
            let (rank, wanted) = ranks::<ROWS>(part.wanted, totals, BLOCK / WARP);
            let of_tile = if n - begin < tile::<S::Item>() { n - begin } else { tile::<S::Item>() };

            for k in 0..ROWS {
                let mut rank = rank[k];
                let local = first_of::<ROWS>() + 128 * k as u32;
                for j in 0..4 {
                    let i = local + j as u32;
                    if part.wanted >> (4 * k + j) & 1 != 0 {
                        compacted.add(rank as usize).write(part.items[k][j]);
                        rank += 1;
                    } else if REST && i < of_tile {
                        compacted.add((wanted + i - rank) as usize).write(part.items[k][j]);
                    }
                }
            }
            // Also waits until the tile is compacted.
            let before = Tiles::new(args.tiles).look_back::<Sum<u32>>(index, wanted);
            if thread == 0 && n - begin <= tile::<S::Item>() {
                args.count.store(0, before + wanted);
            }
            let mut i = thread;
            while i < wanted {
                args.output.store(before + i, compacted.add(i as usize).read().assume_init());
                i += BLOCK;
            }
            if REST {
                let end = n - (begin - before);
                while i < of_tile {
                    let place = end - 1 - (i - wanted);
                    args.output.store(place, compacted.add(i as usize).read().assume_init());
                    i += BLOCK;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_that_are_not_zero() {
        for bits in 0..16_u32 {
            for byte in [1_u32, 0x7f, 0x80, 0xff] {
                let word = (0..4).map(|j| if bits >> j & 1 != 0 { byte << (8 * j) } else { 0 }).sum();
                assert_eq!(nonzero_bytes(word), bits, "{word:x}");
            }
        }
    }
}
