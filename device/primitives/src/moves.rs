//! Copies, and filling with one element.
//!
//! Words move in the widest accesses that the addresses allow: 16 bytes if source and destination are equally far from a
//! multiple of 16, else 8 or 4. Words before the first such access and behind the last one move one by one.

use core::marker::PhantomData;

use super::{Kernel, Length, Ptr, Quad};

/// Accesses per thread, all in flight at once.
const ACCESSES: u32 = 4;

/// Unit of memory that one access moves: some words.
pub trait Access: Copy + 'static {
    /// Number of elements.
    const WORDS: u32 = size_of::<Self>() as u32 / 4;
}

impl Access for u32 {}
impl Access for u64 {}
impl Access for Quad<u32> {}

/// The bytes of the widest access for a copy between these addresses.
pub fn widest(from: usize, to: usize) -> usize {
    match (from ^ to) % 16 {
        0 => 16,
        8 => 8,
        _ => 4,
    }
}

/// Copies elements, in accesses of an `A`: one block per tile.
pub struct Copying<A>(PhantomData<A>);

/// Arguments of [`Copying`].
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct CopyArgs {
    /// Source.
    pub from: Ptr<u32>,
    /// Output, not overlapping the source, and as far from a multiple of the access's size.
    pub to: Ptr<u32>,
    /// Number of elements.
    pub length: Length,
    /// Words of an element.
    pub words: u32,
}

impl<A: Access> Copying<A> {
    /// Words of a tile.
    pub const TILE: u32 = Self::BLOCK * ACCESSES * A::WORDS;
}

impl<A: Access> Kernel for Copying<A> {
    type Args = CopyArgs;
    const BLOCK: u32 = 512;
    const BLOCKS: u32 = 3;

    #[cfg(target_arch = "nvptx64")]
    #[inline(always)]
    unsafe fn run(args: &Self::Args) {
        // SAFETY: as the caller promised.
        unsafe { gpu::copy::<A>(args) }
    }
}

/// Writes one element everywhere: one block per tile.
pub struct Filling;

/// Arguments of [`Filling`].
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct FillArgs {
    /// Output.
    pub to: Ptr<u32>,
    /// Number of elements.
    pub length: Length,
    /// As many elements as have four words.
    pub value: [u32; 4],
    /// Words of an element.
    pub words: u32,
}

impl Filling {
    /// Words of a tile.
    pub const TILE: u32 = Self::BLOCK * ACCESSES * 4;
}

impl Kernel for Filling {
    type Args = FillArgs;
    const BLOCK: u32 = 512;
    const BLOCKS: u32 = 3;

    #[cfg(target_arch = "nvptx64")]
    #[inline(always)]
    unsafe fn run(args: &Self::Args) {
        // SAFETY: as the caller promised.
        unsafe { gpu::fill(args) }
    }
}

#[cfg(target_arch = "nvptx64")]
mod gpu {
    use core::array;

    use cuda_std::{mem, thread};

    use super::*;

    /// Words of a destination: those before the first whole access, and all.
    #[inline(always)]
    unsafe fn words<A: Access>(to: Ptr<u32>, length: Length, words: u32) -> (u64, u64) {
        // SAFETY: as the caller promised.
        let all = unsafe { u64::from(length.get()) * u64::from(words) };
        let beyond = to.at(0).addr() / 4 % A::WORDS as usize;
        let before = (A::WORDS as usize - beyond) % A::WORDS as usize;
        ((before as u64).min(all), all)
    }

    #[inline(always)]
    pub(super) unsafe fn copy<A: Access>(args: &CopyArgs) {
        // SAFETY: memory is as the caller promised.
        unsafe {
            let (before, all) = words::<A>(args.to, args.length, args.words);
            let accesses = (all - before) / u64::from(A::WORDS);
            let at = |address: *mut u32| address.wrapping_add(before as usize).cast::<A>();
            let (from, to) = (at(args.from.at(0)), at(args.to.at(0)));
            let tile = u64::from(thread::block_idx_x()) * u64::from(Copying::<A>::BLOCK * ACCESSES);
            let first = tile + u64::from(thread::thread_idx_x());
            let place = |k: u32| (first + u64::from(k * Copying::<A>::BLOCK)) as usize;
            if tile + u64::from(Copying::<A>::BLOCK * ACCESSES) <= accesses {
                let parts: [A; ACCESSES as usize] =
                    array::from_fn(|k| mem::ldg(from.wrapping_add(place(k as u32))));
                for k in 0..ACCESSES {
                    mem::st(to.wrapping_add(place(k)), parts[k as usize]);
                }
            } else {
                for k in 0..ACCESSES {
                    if (place(k) as u64) < accesses {
                        mem::st(to.wrapping_add(place(k)), mem::ld(from.wrapping_add(place(k))));
                    }
                }
            }
            let one = |i: u64| {
                let i = i as usize;
                mem::st(args.to.at(0).wrapping_add(i), mem::ld(args.from.at(0).wrapping_add(i)));
            };
            ends::<A>(before, all, one);
        }
    }

    #[inline(always)]
    pub(super) unsafe fn fill(args: &FillArgs) {
        // SAFETY: memory is as the caller promised.
        unsafe {
            let (before, all) = words::<Quad<u32>>(args.to, args.length, args.words);
            let accesses = (all - before) / 4;
            let to = args.to.at(0).wrapping_add(before as usize).cast::<Quad<u32>>();
            let tile = u64::from(thread::block_idx_x()) * u64::from(Filling::BLOCK * ACCESSES);
            for k in 0..ACCESSES {
                let i = tile + u64::from(thread::thread_idx_x() + k * Filling::BLOCK);
                if i < accesses {
                    mem::stcs(to.wrapping_add(i as usize), Quad(args.value));
                }
            }
            // Elements are aligned to their size: at the ends, too, even words are even.
            ends::<Quad<u32>>(before, all, |i| {
                let word = if i % 2 == 0 { args.value[0] } else { args.value[1] };
                mem::st(args.to.at(0).wrapping_add(i as usize), word);
            });
        }
    }

    /// Calls `one` for the words before the first whole access and behind the last one, each in one thread of the grid.
    #[inline(always)]
    fn ends<A: Access>(before: u64, all: u64, one: impl Fn(u64)) {
        if A::WORDS > 1 && thread::block_idx_x() == 0 {
            let i = u64::from(thread::thread_idx_x());
            if i < before {
                one(i);
            }
            let behind = (all - before) % u64::from(A::WORDS);
            if i < behind {
                one(all - behind + i);
            }
        }
    }
}
