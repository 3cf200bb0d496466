//! Sorting by any order.

use std::marker::PhantomData;
use std::ptr::NonNull;

use device::primitives::merge_sort::{
    INTERVAL, MergeArgs, MergeSortable, Pairs, Payload, SortTilesArgs, SplitArgs, passes, twin,
};
use device::primitives::{Kernel, Ptr};

use super::call::Call;
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
    /// A buffer is too small, or what the machine says.
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
    /// A buffer is too small, or what the machine says.
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
        unsafe { twin::<O, V>(self.from, self.to, temp.pairs, self.length.get()) };
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
