//! Sums, means and extremes of everything.

use std::marker::PhantomData;

use primitives::Ptr;
use primitives::reduce::{self, ReduceArgs, Reducible, Reduction, twin};

use super::call::Call;
use super::parallel::{self, chunk_len, is_exact};
use super::temp::Pieces;
use super::{Length, Primitives, Temp, Work, kernels};
use crate::backend::Error;
use crate::backend::cuda::Cuda;

/// Reduces everything to one value. The same elements give the same bits, on every machine; but GPUs take subnormal numbers
/// for zero, and the bits of a NaN differ.
#[derive(Debug)]
pub struct Reduce<R>(PhantomData<R>);

impl<R> Clone for Reduce<R> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<R> Copy for Reduce<R> {}

impl<R> Default for Reduce<R> {
    fn default() -> Self {
        Self(PhantomData)
    }
}

impl<R: Reducible> Reduce<R> {
    /// Bytes of temporary memory for at most so many elements.
    pub fn temp_bytes(&self, most: u32) -> usize {
        ReduceTemp::<R>::new(Ptr::NULL, most).bytes
    }

    /// Queues the reduction of `input` into the first element of `output`.
    ///
    /// # Errors
    /// A buffer is too small, or the machine reports an error.
    pub fn run<B: Primitives>(
        &self,
        backend: &mut B,
        input: &B::Buf<R::Item>,
        output: &mut B::Buf<R::Output>,
        length: Length<'_, B>,
        temp: &mut Temp<B>,
    ) -> Result<(), Error> {
        let call = Call::new(backend, "reducing");
        let most = length.most();
        let work = ReduceWork::<R> {
            input: call.input("input", input, most)?,
            output: call.output("output", output, 1)?,
            length: call.length(length)?,
            temp: call.temp(temp, self.temp_bytes(most))?,
        };
        // SAFETY: the buffers have the room; freeing them waits for the work.
        unsafe { backend.queue(&work) }
    }
}

struct ReduceTemp<R: Reduction> {
    done: Ptr<u32>,
    partials: Ptr<R::Value>,
    bytes: usize,
}

impl<R: Reduction> ReduceTemp<R> {
    fn new(start: Ptr<u8>, most: u32) -> Self {
        let mut pieces = Pieces::new(start);
        let done = pieces.take(1);
        let partials = pieces.take(reduce::Reduce::<R>::blocks(most) as usize);
        Self { done, partials, bytes: pieces.bytes() }
    }
}

struct ReduceWork<R: Reduction> {
    input: Ptr<R::Item>,
    output: Ptr<R::Output>,
    length: kernels::Length,
    temp: Ptr<u8>,
}

impl<R: Reducible> Work for ReduceWork<R> {
    unsafe fn on_cpu(&self) {
        // SAFETY: as the caller promised.
        let (input, output) = unsafe { (self.input.slice(self.length.get()), self.output.slice_mut(1)) };
        output[0] = if is_exact::<R>() { reduce_chunks::<R>(input) } else { twin::<R>(input) };
    }

    unsafe fn on_gpu(&self, gpu: &mut Cuda) -> Result<(), Error> {
        let &Self { input, output, length, .. } = self;
        let temp = ReduceTemp::<R>::new(self.temp, length.most());
        let args = ReduceArgs { input, output, length, partials: temp.partials, done: temp.done };
        // SAFETY: as the caller promised.
        unsafe {
            gpu.clear(temp.done, size_of::<u32>())?;
            gpu.launch_primitive::<R::Reduce>(reduce::Reduce::<R>::blocks(length.most()), args)
        }
    }
}

/// As the twin, for values that may be combined in any order.
fn reduce_chunks<R: Reduction>(input: &[R::Item]) -> R::Output {
    let chunk = chunk_len(input.len());
    let chunks: Vec<&[R::Item]> = input.chunks(chunk).collect();
    let values = parallel::map(chunks.len(), |k| lanes::<R>(chunks[k], (k * chunk) as u32));
    R::finish(values.into_iter().fold(R::IDENTITY, R::combine), input.len() as u32)
}

/// One of the values of all items, of which the first has the index `begin`. Several values side by side, so that vector
/// instructions can combine them.
fn lanes<R: Reduction>(items: &[R::Item], begin: u32) -> R::Value {
    const LANES: usize = 32;
    let mut values = [R::IDENTITY; LANES];
    for (k, items) in items.chunks(LANES).enumerate() {
        for (j, (value, item)) in values.iter_mut().zip(items).enumerate() {
            *value = R::combine(*value, R::value(*item, begin + (k * LANES + j) as u32));
        }
    }
    values.into_iter().fold(R::IDENTITY, R::combine)
}
