//! Sorting by any order.

use std::marker::PhantomData;
use std::ops::Range;
use std::ptr::NonNull;

use primitives::merge_sort::{
    INTERVAL, MergeArgs, MergeSortable, Order, Pairs, Payload, SortTilesArgs, SplitArgs, passes, twin,
};
use primitives::{Kernel, Ptr};

use super::call::Call;
use super::parallel::{chunk_len, for_each};
use super::temp::Pieces;
use super::{Length, Primitives, Temp, Work, kernels};
use crate::backend::Error;
use crate::backend::cuda::Cuda;

/// Sorts keys, and with them values `V`, by an order `O`. Stable: equal keys stay in their order.
///
/// The passes are those that the most elements need, also where fewer are in the machine's memory.
#[derive(Debug)]
pub struct MergeSort<O, V = ()>(PhantomData<(O, V)>);

impl<O, V> Clone for MergeSort<O, V> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<O, V> Copy for MergeSort<O, V> {}

impl<O, V> Default for MergeSort<O, V> {
    fn default() -> Self {
        Self(PhantomData)
    }
}

const DOING: &str = "sorting by merging";

impl<O: MergeSortable<V>, V: Payload> MergeSort<O, V> {
    /// Bytes of temporary memory for at most so many elements.
    pub fn temp_bytes(&self, most: u32) -> usize {
        SortTemp::<O, V>::new(Ptr::NULL, most).bytes
    }

    fn queue<B: Primitives>(
        &self,
        backend: &mut B,
        from: Pairs<O::Key, V>,
        to: Pairs<O::Key, V>,
        length: Length<'_, B>,
        temp: &mut Temp<B>,
    ) -> Result<(), Error> {
        let call = Call::new(backend, DOING);
        let temp = call.temp(temp, self.temp_bytes(length.most()))?;
        let work = SortWork::<O, V> { from, to, length: call.length(length)?, temp };
        // SAFETY: the buffers have the room; freeing them waits for the work.
        unsafe { backend.queue(&work) }
    }
}

impl<O: MergeSortable<()>> MergeSort<O> {
    /// Queues that `keys` are sorted into `sorted`.
    ///
    /// # Errors
    /// A buffer is too small, or the machine reports an error.
    pub fn run<B: Primitives>(
        &self,
        backend: &mut B,
        keys: &B::Buf<O::Key>,
        sorted: &mut B::Buf<O::Key>,
        length: Length<'_, B>,
        temp: &mut Temp<B>,
    ) -> Result<(), Error> {
        let call = Call::new(backend, DOING);
        let most = length.most();
        let values = Ptr::new(NonNull::dangling().as_ptr());
        let from = Pairs { keys: call.input("input", keys, most)?, values };
        let to = Pairs { keys: call.output("output", sorted, most)?, values };
        self.queue(backend, from, to, length, temp)
    }
}

impl<O: MergeSortable<u32>> MergeSort<O, u32> {
    /// Queues that `keys` and `values` are sorted into `sorted_keys` and `sorted_values`.
    ///
    /// # Errors
    /// A buffer is too small, or the machine reports an error.
    pub fn run<B: Primitives>(
        &self,
        backend: &mut B,
        (keys, values): (&B::Buf<O::Key>, &B::Buf<u32>),
        (sorted_keys, sorted_values): (&mut B::Buf<O::Key>, &mut B::Buf<u32>),
        length: Length<'_, B>,
        temp: &mut Temp<B>,
    ) -> Result<(), Error> {
        let call = Call::new(backend, DOING);
        let most = length.most();
        let from = Pairs {
            keys: call.input("input of keys", keys, most)?,
            values: call.input("input of values", values, most)?,
        };
        let to = Pairs {
            keys: call.output("output of keys", sorted_keys, most)?,
            values: call.output("output of values", sorted_values, most)?,
        };
        self.queue(backend, from, to, length, temp)
    }
}

struct SortTemp<O: MergeSortable<V>, V: Payload> {
    pairs: Pairs<O::Key, V>,
    splits: Ptr<u32>,
    bytes: usize,
}

impl<O: MergeSortable<V>, V: Payload> SortTemp<O, V> {
    fn new(start: Ptr<u8>, most: u32) -> Self {
        let mut pieces = Pieces::new(start);
        let pairs = Pairs { keys: pieces.take(most as usize), values: pieces.take(most as usize) };
        let splits = pieces.take(most.div_ceil(INTERVAL) as usize);
        Self { pairs, splits, bytes: pieces.bytes() }
    }
}

/// As the twin, whose result is that of every stable sort: sorts chunks by it, and merges them two by two, in pieces.
///
/// # Safety
/// As for the twin.
unsafe fn sort_chunks<O: Order, V: Payload>(
    from: Pairs<O::Key, V>,
    to: Pairs<O::Key, V>,
    room: Pairs<O::Key, V>,
    n: u32,
) {
    let chunk = chunk_len(n as usize) as u32;
    let passes = passes(n, chunk);
    let (mut here, mut there) = if passes.is_multiple_of(2) { (to, room) } else { (room, to) };
    let chunks = n.div_ceil(chunk) as usize;
    for_each(chunks, &|k| {
        let begin = k as u32 * chunk;
        // SAFETY: as the caller promised; chunks are apart.
        unsafe {
            let [from, here, there] = [from, here, there].map(|pairs| pairs.skip(begin));
            twin::<O, V>(from, here, there, chunk.min(n - begin));
        }
    });
    for pass in 0..passes {
        for_each(chunks, &|k| {
            let begin = k as u32 * chunk;
            // SAFETY: as the caller promised. Runs are longer than chunks, but for the last one.
            unsafe { merge_piece::<O, V>(here, there, n, chunk << pass, begin..n.min(begin + chunk)) };
        });
        std::mem::swap(&mut here, &mut there);
    }
}

/// Merges runs of `width` elements two by two, as far as these elements of the result.
///
/// # Safety
/// There are `n` elements in both places, and nobody else writes `from` or uses the piece of `to`; it is of one result.
unsafe fn merge_piece<O: Order, V: Payload>(
    from: Pairs<O::Key, V>,
    to: Pairs<O::Key, V>,
    n: u32,
    width: u32,
    piece: Range<u32>,
) {
    // SAFETY: as the caller promised.
    let (keys, values) = unsafe { (from.keys.slice(n), from.values.slice(n)) };
    let (piece_keys, piece_values) = {
        let (to, len) = (to.skip(piece.start), piece.end - piece.start);
        // SAFETY: as the caller promised.
        unsafe { (to.keys.slice_mut(len), to.values.slice_mut(len)) }
    };
    let begin = (u64::from(piece.start) / (2 * u64::from(width)) * 2 * u64::from(width)) as u32;
    let middle = begin.saturating_add(width).min(n);
    let end = middle.saturating_add(width).min(n);
    let less = |b: u32, a: u32| O::less(O::rank(keys[b as usize]), O::rank(keys[a as usize]));
    // Of the elements before the piece, so many are of the first run: the merge path, as the kernels have it.
    let d = piece.start - begin;
    let (mut low, mut high) = (d.saturating_sub(end - middle), d.min(middle - begin));
    while low < high {
        let half = (low + high) / 2;
        if less(middle + (d - 1 - half), begin + half) { high = half } else { low = half + 1 }
    }
    let (mut a, mut b) = (begin + low, middle + (d - low));
    for (key, value) in piece_keys.iter_mut().zip(piece_values) {
        let next = if b < end && (a == middle || less(b, a)) { &mut b } else { &mut a };
        (*key, *value) = (keys[*next as usize], values[*next as usize]);
        *next += 1;
    }
}

struct SortWork<O: MergeSortable<V>, V: Payload> {
    from: Pairs<O::Key, V>,
    to: Pairs<O::Key, V>,
    length: kernels::Length,
    temp: Ptr<u8>,
}

impl<O: MergeSortable<V>, V: Payload> Work for SortWork<O, V> {
    unsafe fn on_cpu(&self) {
        let temp = SortTemp::<O, V>::new(self.temp, self.length.most());
        // SAFETY: as the caller promised.
        unsafe { sort_chunks::<O, V>(self.from, self.to, temp.pairs, self.length.get()) };
    }

    unsafe fn on_gpu(&self, gpu: &mut Cuda) -> Result<(), Error> {
        let &Self { from, to, length, .. } = self;
        let most = length.most();
        let temp = SortTemp::<O, V>::new(self.temp, most);
        let passes = passes(most, O::TILE);
        // The last pass writes what is asked for.
        let (mut here, mut there) =
            if passes.is_multiple_of(2) { (to, temp.pairs) } else { (temp.pairs, to) };
        let intervals = most.div_ceil(INTERVAL);
        let of_tile = (O::TILE / INTERVAL).trailing_zeros();
        // SAFETY: as the caller promised; a block a tile, a thread or a block an interval.
        unsafe {
            gpu.launch_primitive::<O::Tiles>(
                most.div_ceil(O::TILE),
                SortTilesArgs { from, to: here, length },
            )?;
            for level in of_tile + 1..=of_tile + passes {
                let split = SplitArgs { keys: here.keys, splits: temp.splits, length, level };
                gpu.launch_primitive::<O::Splits>(intervals.div_ceil(O::Splits::BLOCK), split)?;
                let merge = MergeArgs { from: here, to: there, splits: temp.splits, length, level };
                gpu.launch_primitive::<O::Runs>(intervals, merge)?;
                std::mem::swap(&mut here, &mut there);
            }
        }
        Ok(())
    }
}
