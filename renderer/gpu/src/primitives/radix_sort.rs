//! Stable sorting by the bits of keys.

use std::marker::PhantomData;
use std::ops::Range;

use bytemuck::Pod;
use primitives::radix_sort::{
    BINS, Bits, Count, CountArgs, Digit, Direction, Key, Pass, PassArgs, RadixSortable, Rank, twin,
};
use primitives::{Entry, Kernel, Ptr};

use super::call::Call;
use super::parallel::{self, chunk_len};
use super::temp::Pieces;
use super::{Length, Primitives, Temp, Work, kernels};
use crate::backend::Error;
use crate::backend::cuda::Cuda;

const DOING: &str = "sorting by digits";

/// Sorts keys, or keys and a value with each. What has equal keys keeps its order. Takes one pass over memory for every 8
/// bits, and one to count.
///
/// `f32` are in the total order of IEEE 754: NaNs with a sign, −∞, …, −0, +0, …, +∞, NaNs without.
#[derive(Debug, Clone, Copy)]
pub struct RadixSort<K> {
    bits: Bits,
    order: Direction,
    key: PhantomData<K>,
}

impl<K: RadixSortable> RadixSort<K> {
    /// The least key first.
    pub fn ascending() -> Self {
        Self { bits: Bits { begin: 0, end: K::Rank::BITS }, order: Direction::Ascending, key: PhantomData }
    }

    /// The greatest key first.
    pub fn descending() -> Self {
        Self { order: Direction::Descending, ..Self::ascending() }
    }

    /// As if keys had only these bits, of which bit 0 is the least significant one. It is the bits of
    /// [`Key::to_rank`] that count: those of the key for whole numbers, but for the sign, which is turned.
    ///
    /// # Panics
    /// Keys have no such bits.
    #[must_use]
    pub fn by_bits(self, bits: Range<u32>) -> Self {
        assert!(bits.start <= bits.end && bits.end <= K::Rank::BITS, "keys have no bits {bits:?}");
        Self { bits: Bits { begin: bits.start, end: bits.end }, ..self }
    }

    /// Bytes of temporary memory for at most so many keys.
    pub fn temp_bytes(&self, most: u32) -> usize {
        SortTemp::<K, ()>::new(Ptr::NULL, most, self.bits.digits()).bytes
    }

    /// Bytes of temporary memory for at most so many keys and values.
    pub fn pairs_temp_bytes<V: Pod>(&self, most: u32) -> usize {
        match size_of::<V>() {
            4 => SortTemp::<K, u32>::new(Ptr::NULL, most, self.bits.digits()).bytes,
            _ => SortTemp::<K, u64>::new(Ptr::NULL, most, self.bits.digits()).bytes,
        }
    }

    /// Queues the sorting of `input` into `output`.
    ///
    /// # Errors
    /// A buffer is too small, or the machine reports an error.
    pub fn run<B: Primitives>(
        &self,
        backend: &mut B,
        input: &B::Buf<K>,
        output: &mut B::Buf<K>,
        length: Length<'_, B>,
        temp: &mut Temp<B>,
    ) -> Result<(), Error> {
        let call = Call::new(backend, DOING);
        let most = length.most();
        let bytes = self.temp_bytes(most);
        let work = SortWork::<K, (), K::Keys> {
            keys: call.input("input", input, most)?,
            keys_out: call.output("output", output, most)?,
            values: Ptr::new(std::ptr::dangling_mut()),
            values_out: Ptr::new(std::ptr::dangling_mut()),
            starts: Ptr::NULL,
            length: call.length(length)?,
            temp: call.temp(temp, bytes)?,
            bits: self.bits,
            order: self.order,
            pass: PhantomData,
        };
        // SAFETY: the buffers have the room; freeing them waits for the work.
        unsafe { backend.queue(&work) }
    }

    /// Queues the sorting of keys, and of a value with each, into `output`. Values are anything of 4 or 8 bytes that is aligned to
    /// them.
    ///
    /// # Errors
    /// A buffer is too small, or the machine reports an error.
    pub fn run_pairs<B: Primitives, V: Pod + Send + Sync>(
        &self,
        backend: &mut B,
        input: (&B::Buf<K>, &B::Buf<V>),
        output: (&mut B::Buf<K>, &mut B::Buf<V>),
        length: Length<'_, B>,
        temp: &mut Temp<B>,
    ) -> Result<(), Error> {
        // SAFETY: there are no starts to write.
        unsafe { self.queue_pairs(backend, input, output, Ptr::NULL, length, temp) }
    }

    /// As [`RadixSort::run_pairs`]; where the values of the first digit begin goes to `starts`, unless it is null.
    ///
    /// # Safety
    /// There is room for 256 numbers at `starts`, until the work has ended.
    unsafe fn queue_pairs<B: Primitives, V: Pod + Send + Sync>(
        &self,
        backend: &mut B,
        input: (&B::Buf<K>, &B::Buf<V>),
        output: (&mut B::Buf<K>, &mut B::Buf<V>),
        starts: Ptr<u32>,
        length: Length<'_, B>,
        temp: &mut Temp<B>,
    ) -> Result<(), Error> {
        const {
            assert!(
                matches!(size_of::<V>(), 4 | 8) && align_of::<V>() == size_of::<V>(),
                "values have 4 or 8 bytes, and are aligned to them"
            );
        }
        let call = Call::new(backend, DOING);
        let most = length.most();
        let bytes = self.pairs_temp_bytes::<V>(most);
        let work = SortWork::<K, V, ()> {
            keys: call.input("input of keys", input.0, most)?,
            keys_out: call.output("output of keys", output.0, most)?,
            values: call.input("input of values", input.1, most)?,
            values_out: call.output("output of values", output.1, most)?,
            starts,
            length: call.length(length)?,
            temp: call.temp(temp, bytes)?,
            bits: self.bits,
            order: self.order,
            pass: PhantomData,
        };
        // SAFETY: the buffers have the room; freeing them waits for the work. Kernels only move values.
        unsafe {
            match size_of::<V>() {
                4 => backend.queue(&work.with::<u32, K::Words>()),
                _ => backend.queue(&work.with::<u64, K::LongWords>()),
            }
        }
    }
}

/// Moves keys from 0 to 255, and a value with each, to where those of their key are, in their order; and tells where those
/// of each key begin. Of larger keys only the 8 lowest bits count. It is one pass of a [`RadixSort`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PartitionByKey;

impl PartitionByKey {
    /// How many keys there are.
    pub const KEYS: u32 = BINS;

    fn sort() -> RadixSort<u32> {
        RadixSort::ascending().by_bits(0..BINS.ilog2())
    }

    /// Bytes of temporary memory for at most so many keys and values.
    pub fn temp_bytes<V: Pod>(&self, most: u32) -> usize {
        Self::sort().pairs_temp_bytes::<V>(most)
    }

    /// Queues the partition of `input` into `output`. Values are anything of 4 or 8 bytes that is aligned to
    /// them. `starts` gets a number for each
    /// of [`PartitionByKey::KEYS`] keys: how many keys are less.
    ///
    /// # Errors
    /// A buffer is too small, or the machine reports an error.
    pub fn run<B: Primitives, V: Pod + Send + Sync>(
        &self,
        backend: &mut B,
        input: (&B::Buf<u32>, &B::Buf<V>),
        output: (&mut B::Buf<u32>, &mut B::Buf<V>),
        starts: &mut B::Buf<u32>,
        length: Length<'_, B>,
        temp: &mut Temp<B>,
    ) -> Result<(), Error> {
        let call = Call::new(backend, DOING);
        let starts = call.output("starts", starts, BINS)?;
        // SAFETY: there is room; freeing the buffer waits for the work.
        unsafe { Self::sort().queue_pairs(backend, input, output, starts, length, temp) }
    }
}

struct SortTemp<K, V> {
    /// Zeros at the start: what the three below are.
    zeros: usize,
    starts: Ptr<u32>,
    /// For each pass, and one for counting.
    tickets: Ptr<u32>,
    tiles: Ptr<u32>,
    keys: Ptr<K>,
    values: Ptr<V>,
    bytes: usize,
}

impl<K: Key, V: Pod + Send + Sync> SortTemp<K, V> {
    fn new(start: Ptr<u8>, most: u32, digits: u32) -> Self {
        let mut pieces = Pieces::new(start);
        let starts = pieces.take((digits * BINS) as usize);
        let tickets = pieces.take(digits as usize + 1);
        let tiles = pieces.take(digits as usize * words_per_pass::<K, V>(most));
        let zeros = pieces.bytes();
        let others = if digits > 1 { most as usize } else { 0 };
        let keys = pieces.take(others);
        let values = pieces.take(others);
        Self { zeros, starts, tickets, tiles, keys, values, bytes: pieces.bytes() }
    }
}

/// Words that tiles publish in a pass.
fn words_per_pass<K: Key, V: Pod + Send + Sync>(most: u32) -> usize {
    most.div_ceil(Pass::<K, V>::TILE) as usize * BINS as usize
}

/// A sort with the kernel `P` for its passes.
struct SortWork<K, V, P> {
    keys: Ptr<K>,
    keys_out: Ptr<K>,
    values: Ptr<V>,
    values_out: Ptr<V>,
    /// Where the starts of the first digit go, if not to temporary memory.
    starts: Ptr<u32>,
    length: kernels::Length,
    temp: Ptr<u8>,
    bits: Bits,
    order: Direction,
    pass: PhantomData<fn() -> P>,
}

impl<K: Key, V: Pod + Send + Sync, P> SortWork<K, V, P> {
    /// With values as words.
    fn with<W, Q>(&self) -> SortWork<K, W, Q> {
        let &Self { keys, keys_out, starts, length, temp, bits, order, .. } = self;
        let (values, values_out) = (self.values.cast(), self.values_out.cast());
        SortWork { keys, keys_out, values, values_out, starts, length, temp, bits, order, pass: PhantomData }
    }

    fn lower(&self) -> SortTemp<K, V> {
        let temp = SortTemp::new(self.temp, self.length.most(), self.bits.digits());
        let starts = if self.starts.is_null() { temp.starts } else { self.starts };
        SortTemp { starts, ..temp }
    }

    /// Where the values of the first digit begin.
    ///
    /// # Safety
    /// As [`Primitives::queue`].
    unsafe fn write_starts(&self) {
        // SAFETY: as the caller promised.
        let (keys, starts) = unsafe { (self.keys.slice(self.length.get()), self.starts.slice_mut(BINS)) };
        starts.fill(0);
        for counts in digit_counts(keys, chunk_len(keys.len()), self.bits.digit(0), self.order) {
            starts.iter_mut().zip(counts).for_each(|(start, count)| *start += count);
        }
        parallel::starts(starts);
    }

    /// The arguments of each pass: between the output and a copy of it, so that the last one writes the output.
    fn passes(&self) -> impl Iterator<Item = PassArgs<K, V>> {
        let temp = self.lower();
        let places = [(self.keys_out, self.values_out), (temp.keys, temp.values)];
        let digits = self.bits.digits();
        (0..digits).map(move |i| {
            let to = places[(digits - 1 - i) as usize % 2];
            let from = if i == 0 { (self.keys, self.values) } else { places[(digits - i) as usize % 2] };
            PassArgs {
                keys: from.0,
                keys_out: to.0,
                values: from.1,
                values_out: to.1,
                length: self.length,
                starts: Ptr::new(temp.starts.at(i * BINS)),
                tiles: Ptr::new(
                    temp.tiles.at(0).wrapping_add(i as usize * words_per_pass::<K, V>(self.length.most())),
                ),
                ticket: Ptr::new(temp.tickets.at(1 + i)),
                digit: self.bits.digit(i),
                order: self.order,
            }
        })
    }
}

/// How many keys of each chunk have each digit.
fn digit_counts<K: Key>(
    keys: &[K],
    chunk: usize,
    digit: Digit,
    order: Direction,
) -> Vec<[u32; BINS as usize]> {
    let count = move |keys: &[K]| {
        let mut counts = [0; BINS as usize];
        keys.iter().for_each(|key| counts[key.rank(order).digit(digit) as usize] += 1);
        counts
    };
    let chunks: Vec<&[K]> = keys.chunks(chunk).collect();
    parallel::map(chunks.len(), |k| count(chunks[k]))
}

/// As the twin, by chunks: for each digit those of the first chunk come first.
///
/// # Safety
/// There is room for as many keys and values as there are, elsewhere, which nobody else uses.
unsafe fn move_chunks<K: Key, V: Pod + Send + Sync>(
    (keys, values): (&[K], &[V]),
    (keys_out, values_out): (Ptr<K>, Ptr<V>),
    chunk: usize,
    digit: Digit,
    order: Direction,
) {
    let mut places = digit_counts(keys, chunk, digit, order);
    let mut before = 0;
    for digit in 0..BINS as usize {
        for places in &mut places {
            before += std::mem::replace(&mut places[digit], before);
        }
    }
    let chunks = keys.chunks(chunk).zip(values.chunks(chunk)).zip(places);
    parallel::for_each_item(chunks, |_, ((keys, values), places)| {
        for (key, value) in keys.iter().zip(values.iter()) {
            let next = &mut places[key.rank(order).digit(digit) as usize];
            let place = *next;
            *next += 1;
            // SAFETY: as the caller promised; each key has a place of its own.
            unsafe {
                keys_out.at(place).write(*key);
                values_out.at(place).write(*value);
            }
        }
    });
}

impl<K, V, P> Work for SortWork<K, V, P>
where
    K: RadixSortable,
    V: Pod + Send + Sync,
    P: Kernel<Args = PassArgs<K, V>> + Entry,
{
    unsafe fn on_cpu(&self) {
        if !self.starts.is_null() {
            // SAFETY: as the caller promised.
            unsafe { self.write_starts() };
        }
        for PassArgs { keys, keys_out, values, values_out, digit, order, .. } in self.passes() {
            // SAFETY: as the caller promised.
            unsafe {
                let n = self.length.get();
                let from = (keys.slice(n), values.slice(n));
                let chunk = chunk_len(n as usize);
                if chunk < n as usize {
                    move_chunks(from, (keys_out, values_out), chunk, digit, order);
                } else {
                    twin(from, (keys_out.slice_mut(n), values_out.slice_mut(n)), digit, order);
                }
            }
        }
    }

    unsafe fn on_gpu(&self, gpu: &mut Cuda) -> Result<(), Error> {
        let &Self { keys, length, bits, order, .. } = self;
        let temp = self.lower();
        let counters = gpu.info().multiprocessors * Count::<K>::BLOCKS;
        let args = CountArgs { keys, length, starts: temp.starts, done: temp.tickets, bits, order };
        // SAFETY: as the caller promised; for passes, a block a tile.
        unsafe {
            gpu.clear(self.temp, temp.zeros)?;
            if !self.starts.is_null() {
                gpu.clear(self.starts, BINS as usize * size_of::<u32>())?;
            }
            gpu.launch_primitive::<K::Count>(length.most().div_ceil(Count::<K>::TILE).min(counters), args)?;
            for args in self.passes() {
                gpu.launch_primitive::<P>(length.most().div_ceil(Pass::<K, V>::TILE), args)?;
            }
        }
        Ok(())
    }
}
