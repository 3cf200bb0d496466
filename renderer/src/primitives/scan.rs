//! Prefix sums of any associative operator.

use std::marker::PhantomData;

use device::primitives::scan::{Bounds, LookBack, LookBackArgs, twin};
use device::primitives::{Entry, Operator, Ptr};

use super::temp::Pieces;
use super::{Length, Primitives, Temp, Work, kernels, room};
use crate::backend::Error;
use crate::backend::cuda::Cuda;

/// Combines each element with all before it. Sums of `f32` may differ in their last bits from one run to the next.
#[derive(Debug, Clone, Copy)]
pub struct Scan<O> {
    bounds: Bounds,
    operator: PhantomData<O>,
}

impl<O: Operator> Scan<O>
where
    LookBack<O>: Entry<Args = LookBackArgs<O::Value>>,
{
    /// Of the elements before each one.
    pub fn exclusive() -> Self {
        Self { bounds: Bounds::Exclusive, operator: PhantomData }
    }

    /// Of the elements up to and with each one.
    pub fn inclusive() -> Self {
        Self { bounds: Bounds::Inclusive, operator: PhantomData }
    }

    /// Bytes of temporary memory for at most so many elements.
    pub fn temp_bytes(&self, most: u32) -> usize {
        LookBackTemp::new::<O>(Ptr::NULL, most).bytes
    }

    /// Queues the scan of `input` into `output`.
    ///
    /// # Errors
    /// A buffer is too small, or what the machine says.
    pub fn run<B: Primitives>(
        &self,
        backend: &mut B,
        input: &B::Buf<O::Value>,
        output: &mut B::Buf<O::Value>,
        length: Length<'_, B>,
        temp: &mut Temp<B>,
    ) -> Result<(), Error> {
        const DOING: &str = "scanning";
        let most = length.most();
        let work = ScanWork::<O> {
            input: room::<B, _>(DOING, "input", input, most)?,
            output: room::<B, _>(DOING, "output", output, most)?,
            length: length.lower(DOING)?,
            temp: temp.lower(DOING, self.temp_bytes(most))?,
            bounds: self.bounds,
        };
        // SAFETY: the buffers have the room; freeing them waits for the work.
        unsafe { backend.queue(&work) }
    }
}

struct LookBackTemp {
    tiles: Ptr<u64>,
    ticket: Ptr<u32>,
    bytes: usize,
}

impl LookBackTemp {
    fn new<O: Operator>(start: Ptr<u8>, most: u32) -> Self {
        let mut pieces = Pieces::new(start);
        let tiles = pieces.take(most.div_ceil(LookBack::<O>::TILE) as usize * LookBack::<O>::WORDS);
        let ticket = pieces.take(1);
        Self { tiles, ticket, bytes: pieces.bytes() }
    }
}

struct ScanWork<O: Operator> {
    input: Ptr<O::Value>,
    output: Ptr<O::Value>,
    length: kernels::Length,
    temp: Ptr<u8>,
    bounds: Bounds,
}

impl<O: Operator> Work for ScanWork<O>
where
    LookBack<O>: Entry<Args = LookBackArgs<O::Value>>,
{
    unsafe fn on_cpu(&self) {
        // SAFETY: as the caller promised.
        unsafe {
            let n = self.length.get();
            twin::<O>(self.bounds, self.input.slice(n), self.output.slice_mut(n));
        }
    }

    unsafe fn on_gpu(&self, gpu: &mut Cuda) -> Result<(), Error> {
        let &Self { input, output, length, bounds, .. } = self;
        let temp = LookBackTemp::new::<O>(self.temp, length.most());
        let args = LookBackArgs { input, output, length, tiles: temp.tiles, ticket: temp.ticket, bounds };
        // SAFETY: as the caller promised; a block a tile.
        unsafe {
            gpu.clear(self.temp, temp.bytes)?;
            gpu.launch_primitive::<LookBack<O>>(length.most().div_ceil(LookBack::<O>::TILE), args)
        }
    }
}
