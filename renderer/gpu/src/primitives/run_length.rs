//! Runs of equal neighbours.

use std::ops::Range;

use bytemuck::Pod;
use primitives::Ptr;
use primitives::run_length::{Bits, RunLengthArgs, RunLengthable, tile, twin};

use super::call::Call;
use super::parallel::{chunks, for_each, map, starts};
use super::temp::LookBackTemp;
use super::{Length, Primitives, Temp, Work};
use crate::backend::Error;
use crate::backend::cuda::Cuda;

const DOING: &str = "finding runs";

/// Finds runs of equal neighbours: where each starts, its length, and the element that it repeats. Numbers are compared by their bits: a NaN
/// equals itself, and −0 is not +0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RunLength;

/// Room for runs: in each but `count` as many elements as the input may have.
#[derive(Debug)]
pub struct RunBuffers<'a, B: Primitives, T: Pod + Send + Sync> {
    /// The element that each run repeats.
    pub values: &'a mut B::Buf<T>,
    /// The index of each run's first element.
    pub starts: &'a mut B::Buf<u32>,
    /// How many elements each run has.
    pub lengths: &'a mut B::Buf<u32>,
    /// The number of runs.
    pub count: &'a mut B::Buf<u32>,
}

impl RunLength {
    /// Bytes of temporary memory for at most so many elements.
    pub fn temp_bytes(&self, most: u32) -> usize {
        run_length_temp(Ptr::NULL, most).bytes
    }

    /// Queues the search in `input`. Elements have 4 or 8 bytes.
    ///
    /// # Errors
    /// A buffer is too small, elements have another size, or the machine reports an error.
    pub fn run<B: Primitives, T: Pod + Send + Sync>(
        &self,
        backend: &mut B,
        input: &B::Buf<T>,
        runs: RunBuffers<'_, B, T>,
        length: Length<'_, B>,
        temp: &mut Temp<B>,
    ) -> Result<(), Error> {
        let call = Call::new(backend, DOING);
        let most = length.most();
        let temp = run_length_temp(call.temp(temp, self.temp_bytes(most))?, most);
        let args = RunLengthArgs {
            input: call.input("input", input, most)?,
            values: call.output("values", runs.values, most)?,
            starts: call.output("starts", runs.starts, most)?,
            lengths: call.output("lengths", runs.lengths, most)?,
            count: call.output("count", runs.count, 1)?,
            length: call.length(length)?,
            tiles: temp.tiles,
            ticket: temp.ticket,
        };
        // SAFETY: the buffers have the room; freeing them waits for the work.
        unsafe {
            match size_of::<T>() {
                4 => backend.queue(&RunLengthWork(of_bits::<T, u32>(args))),
                8 => backend.queue(&RunLengthWork(of_bits::<T, u64>(args))),
                bytes => Err(call.error(format!("elements have {bytes} bytes, not 4 or 8"))),
            }
        }
    }
}

/// The same, of the bits of elements.
fn of_bits<T, U>(args: RunLengthArgs<T>) -> RunLengthArgs<U> {
    let RunLengthArgs { input, values, starts, lengths, count, length, tiles, ticket } = args;
    let (input, values) = (input.cast(), values.cast());
    RunLengthArgs { input, values, starts, lengths, count, length, tiles, ticket }
}

/// For the larger elements, whose tiles are smaller.
fn run_length_temp(start: Ptr<u8>, most: u32) -> LookBackTemp {
    LookBackTemp::new(start, 2 * most.div_ceil(tile::<u64>()) as usize)
}

/// As the twin, by chunks, with the number of each run: how many start in each, and then these. Returns how many there are.
fn runs_of_chunks<T: Bits>(
    chunks: &[Range<u32>],
    n: u32,
    item: impl Fn(u32) -> T + Copy + Sync,
    run: impl Fn(u32, T, u32, u32) + Sync,
) -> u32 {
    let is_head = move |i| i == 0 || item(i) != item(i - 1);
    let count = |chunk: &Range<u32>| {
        let others = chunk.start.max(1)..chunk.end;
        let first = chunk.clone().find(|i| is_head(*i));
        (u32::from(chunk.start == 0) + others.map(|i| u32::from(item(i) != item(i - 1))).sum::<u32>(), first)
    };
    let (mut numbers, firsts): (Vec<u32>, Vec<Option<u32>>) =
        map(chunks.len(), |k| count(&chunks[k])).into_iter().unzip();
    let all = starts(&mut numbers);
    for_each(chunks.len(), &|k| {
        let (chunk, mut number) = (&chunks[k], numbers[k]);
        let Some(mut start) = firsts[k] else { return };
        for i in (start + 1..chunk.end).filter(|i| is_head(*i)) {
            run(number, item(start), start, i - start);
            (start, number) = (i, number + 1);
        }
        // The last run of a chunk ends where the next one starts, in whichever chunk that is.
        let end = firsts[k + 1..].iter().find_map(|first| *first).unwrap_or(n);
        run(number, item(start), start, end - start);
    });
    all
}

struct RunLengthWork<T>(RunLengthArgs<T>);

impl<T: RunLengthable> Work for RunLengthWork<T> {
    unsafe fn on_cpu(&self) {
        let RunLengthArgs { input, values, starts, lengths, count, length, .. } = self.0;
        // SAFETY: as the caller promised. Elements may be those of another type of the same size.
        unsafe {
            let item = |i| input.at(i).read_unaligned();
            let write = |run, value: T, start, length| {
                values.at(run).write_unaligned(value);
                starts.at(run).write(start);
                lengths.at(run).write(length);
            };
            let n = length.get();
            let chunks = chunks(n);
            count.at(0).write(match &chunks[..] {
                [] | [_] => {
                    let mut runs = 0;
                    twin(n, item, |value, start, length| {
                        write(runs, value, start, length);
                        runs += 1;
                    });
                    runs
                }
                chunks => runs_of_chunks(chunks, n, item, write),
            });
        }
    }

    unsafe fn on_gpu(&self, gpu: &mut Cuda) -> Result<(), Error> {
        let args = self.0;
        let most = args.length.most();
        // SAFETY: as the caller promised; a block a tile.
        unsafe {
            gpu.clear(args.ticket, run_length_temp(args.ticket.cast(), most).bytes)?;
            gpu.launch_primitive::<T::RunLength>(most.div_ceil(tile::<T>()).max(1), args)
        }
    }
}
