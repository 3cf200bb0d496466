//! Stream compaction and partition.

use std::marker::PhantomData;
use std::ops::Range;

use bytemuck::Pod;
use primitives::select::{Flagged, If, Indices, Predicate, SelectArgs, Selectable, Selection, tile, twin};
use primitives::{Ptr, Quad};

use super::call::Call;
use super::parallel::{self, chunks};
use super::temp::LookBackTemp;
use super::{Length, Primitives, Temp, Work, kernels};
use crate::backend::Error;
use crate::backend::cuda::Cuda;

const DOING: &str = "selecting";

/// Writes the elements that are wanted in their order, and leaves their number in the machine's memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Select {
    rest: bool,
}

impl Select {
    /// Only those that are wanted.
    pub const fn compact() -> Self {
        Self { rest: false }
    }

    /// Those that are wanted, and after them the others, the last one first.
    pub const fn partition() -> Self {
        Self { rest: true }
    }

    /// Bytes of temporary memory for at most so many elements.
    pub fn temp_bytes(&self, most: u32) -> usize {
        select_temp(Ptr::NULL, most).bytes
    }

    /// Queues the selection of elements whose flag is not zero, into `output`, and of their number into `count`. Elements
    /// have 4, 8 or 16 bytes.
    ///
    /// # Errors
    /// A buffer is too small, elements have another size, or the machine reports an error.
    #[expect(clippy::too_many_arguments, reason = "each is a buffer of its own")]
    pub fn flagged<B: Primitives, T: Pod + Send + Sync>(
        &self,
        backend: &mut B,
        input: &B::Buf<T>,
        flags: &B::Buf<u8>,
        output: &mut B::Buf<T>,
        count: &mut B::Buf<u32>,
        length: Length<'_, B>,
        temp: &mut Temp<B>,
    ) -> Result<(), Error> {
        let call = Call::new(backend, DOING);
        let most = length.most();
        let flags = call.input("flags", flags, most)?;
        let input = call.input("input", input, most)?;
        let output = call.output("output", output, most)?;
        let end = self.end(&call, count, length, temp)?;
        match size_of::<T>() {
            4 => self.queue(backend, end.with(input.cast(), output.cast(), flagged::<u32>(flags))),
            8 => self.queue(backend, end.with(input.cast(), output.cast(), flagged::<u64>(flags))),
            16 => self.queue(backend, end.with(input.cast(), output.cast(), flagged::<Quad<u32>>(flags))),
            bytes => Err(call.error(format!("elements have {bytes} bytes, not 4, 8 or 16"))),
        }
    }

    /// As [`Select::flagged`], of the elements' indices.
    ///
    /// # Errors
    /// A buffer is too small, or the machine reports an error.
    pub fn indices<B: Primitives>(
        &self,
        backend: &mut B,
        flags: &B::Buf<u8>,
        output: &mut B::Buf<u32>,
        count: &mut B::Buf<u32>,
        length: Length<'_, B>,
        temp: &mut Temp<B>,
    ) -> Result<(), Error> {
        let call = Call::new(backend, DOING);
        let most = length.most();
        let flags = call.input("flags", flags, most)?;
        let output = call.output("output", output, most)?;
        let end = self.end(&call, count, length, temp)?;
        self.queue(backend, end.with(Ptr::NULL, output, Indices { flags }))
    }

    /// As [`Select::flagged`], of the elements of which `predicate` is true.
    ///
    /// # Errors
    /// A buffer is too small, or the machine reports an error.
    #[expect(clippy::too_many_arguments, reason = "each is a buffer of its own")]
    pub fn when<B: Primitives, P: Predicate>(
        &self,
        backend: &mut B,
        predicate: P,
        input: &B::Buf<P::Item>,
        output: &mut B::Buf<P::Item>,
        count: &mut B::Buf<u32>,
        length: Length<'_, B>,
        temp: &mut Temp<B>,
    ) -> Result<(), Error>
    where
        P::Item: Pod,
        If<P>: Selectable<Item = P::Item>,
    {
        let call = Call::new(backend, DOING);
        let most = length.most();
        let input = call.input("input", input, most)?;
        let output = call.output("output", output, most)?;
        let end = self.end(&call, count, length, temp)?;
        self.queue(backend, end.with(input, output, If(predicate)))
    }

    /// The arguments that do not depend on the elements.
    fn end<B: Primitives>(
        &self,
        call: &Call<'_, B>,
        count: &mut B::Buf<u32>,
        length: Length<'_, B>,
        temp: &mut Temp<B>,
    ) -> Result<End, Error> {
        let most = length.most();
        Ok(End {
            count: call.output("count", count, 1)?,
            length: call.length(length)?,
            temp: select_temp(call.temp(temp, self.temp_bytes(most))?, most),
        })
    }

    fn queue<B: Primitives, S: Selectable>(&self, backend: &mut B, args: SelectArgs<S>) -> Result<(), Error> {
        // SAFETY: the buffers have the room; freeing them waits for the work.
        unsafe { backend.queue(&SelectWork { args, rest: self.rest }) }
    }
}

fn flagged<T>(flags: Ptr<u8>) -> Flagged<T> {
    Flagged { flags, item: PhantomData }
}

struct End {
    count: Ptr<u32>,
    length: kernels::Length,
    temp: LookBackTemp,
}

impl End {
    fn with<S: Selectable>(&self, input: Ptr<S::Item>, output: Ptr<S::Item>, selection: S) -> SelectArgs<S> {
        let LookBackTemp { tiles, ticket, .. } = self.temp;
        SelectArgs { input, output, count: self.count, length: self.length, tiles, ticket, selection }
    }
}

/// For the largest elements, whose tiles are the smallest.
fn select_temp(start: Ptr<u8>, most: u32) -> LookBackTemp {
    LookBackTemp::new(start, most.div_ceil(tile::<Quad<u32>>()) as usize)
}

/// As the twin, by chunks: how many each has that are wanted, and then the elements.
///
/// # Safety
/// As for the twin.
unsafe fn select_chunks<S: Selection>(
    selection: S,
    item: impl Fn(u32) -> S::Item + Copy + Send + Sync,
    chunks: &[Range<u32>],
    n: u32,
    output: Ptr<S::Item>,
    rest: bool,
) -> u32 {
    // SAFETY: as the caller promised.
    let is_wanted = move |i| unsafe { selection.wants(i, item(i)) };
    let count = |chunk: &Range<u32>| chunk.clone().map(|i| u32::from(is_wanted(i))).sum();
    let mut starts = parallel::map(chunks.len(), |k| count(&chunks[k]));
    let all = parallel::starts(&mut starts);
    let ends = starts[1..].iter().chain([&all]).copied().collect::<Vec<_>>();
    parallel::for_each(chunks.len(), &|k| {
        let (chunk, start, end) = (&chunks[k], starts[k], ends[k]);
        // No branch depends on whether an element is wanted: it would be mispredicted half of the time.
        let (mut next, mut behind) = (start, n - (chunk.start - start));
        if rest {
            for i in chunk.clone() {
                let is_wanted = is_wanted(i);
                behind -= u32::from(!is_wanted);
                let place = if is_wanted { next } else { behind };
                // SAFETY: as the caller promised; each element has a place of its own.
                unsafe { output.at(place).write_unaligned(item(i)) };
                next += u32::from(is_wanted);
            }
        } else {
            for i in chunk.clone() {
                if next == end {
                    break;
                }
                // SAFETY: as the caller promised; an element that is not wanted is replaced by the next one that is.
                unsafe { output.at(next).write_unaligned(item(i)) };
                next += u32::from(is_wanted(i));
            }
        }
    });
    all
}

struct SelectWork<S: Selectable> {
    args: SelectArgs<S>,
    rest: bool,
}

impl<S: Selectable> Work for SelectWork<S> {
    unsafe fn on_cpu(&self) {
        let SelectArgs { input, output, count, length, selection, .. } = self.args;
        // SAFETY: as the caller promised. Elements may be those of another type of the same size.
        unsafe {
            let item = |i: u32| {
                if S::INDICES { std::mem::transmute_copy(&i) } else { input.at(i).read_unaligned() }
            };
            let n = length.get();
            let chunks = chunks(n);
            count.at(0).write(match &chunks[..] {
                [] | [_] => twin(&selection, item, n, output, self.rest),
                chunks => select_chunks(selection, item, chunks, n, output, self.rest),
            });
        }
    }

    unsafe fn on_gpu(&self, gpu: &mut Cuda) -> Result<(), Error> {
        let args = self.args;
        let tiles = args.length.most().div_ceil(tile::<S::Item>());
        let temp = LookBackTemp::new(args.ticket.cast(), tiles as usize);
        // SAFETY: as the caller promised; a block a tile.
        unsafe {
            gpu.clear(args.ticket, temp.bytes)?;
            match self.rest {
                true => gpu.launch_primitive::<S::Partition>(tiles.max(1), args),
                false => gpu.launch_primitive::<S::Compact>(tiles.max(1), args),
            }
        }
    }
}
