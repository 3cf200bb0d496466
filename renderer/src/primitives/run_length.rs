//! Runs of equal neighbours.

use bytemuck::Pod;
use device::primitives::Ptr;
use device::primitives::run_length::{RunLengthArgs, RunLengthable, tile, twin};

use super::call::Call;
use super::temp::LookBackTemp;
use super::{Length, Primitives, Temp, Work};
use crate::backend::Error;
use crate::backend::cuda::Cuda;

const DOING: &str = "finding runs";

/// Finds where runs of equal neighbours start, how long they are, and of what. Numbers are compared by their bits: a NaN
/// equals itself, and −0 is not +0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RunLength;

/// Room for what is told of runs: for each as many numbers as there are elements, at most.
#[derive(Debug)]
pub struct RunBuffers<'a, B: Primitives, T: Pod + Send + Sync> {
    /// What each run is of.
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
    /// A buffer is too small, elements have another size, or what the machine says.
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

struct RunLengthWork<T>(RunLengthArgs<T>);

impl<T: RunLengthable> Work for RunLengthWork<T> {
    unsafe fn on_cpu(&self) {
        let RunLengthArgs { input, values, starts, lengths, count, length, .. } = self.0;
        let mut runs = 0;
        // SAFETY: as the caller promised. Elements may be those of another type of the same size.
        unsafe {
            let item = |i| input.at(i).read_unaligned();
            twin(length.get(), item, |value: T, start, length| {
                values.at(runs).write_unaligned(value);
                starts.at(runs).write(start);
                lengths.at(runs).write(length);
                runs += 1;
            });
            count.at(0).write(runs);
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
