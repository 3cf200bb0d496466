//! Sorting as it is taught.

use bytemuck::Pod;
use primitives::split_sort::{NetworkArgs, SplitsArgs, Splittable, TILE, steps, twin};
use primitives::{Kernel, Ptr};

use super::call::Call;
use super::{Length, Primitives, Work};
use crate::backend::Error;
use crate::backend::cuda::Cuda;

const DOING: &str = "sorting by splits";

/// Sorts keys, or keys and a value with each, by splits of tiles and a network that merges them: for teaching, and to see how
/// much faster [`RadixSort`](super::RadixSort) is. Takes about half of log₂² (n / 1024) passes over memory, and no temporary
/// memory. Up to 1024 keys, equal ones keep their order; more do not.
#[derive(Debug, Clone, Copy, Default)]
pub struct SplitSort;

impl SplitSort {
    /// Queues the sorting of `input` into `output`.
    ///
    /// # Errors
    /// A buffer is too small, or the machine reports an error.
    pub fn run<B: Primitives>(
        &self,
        backend: &mut B,
        input: &B::Buf<u32>,
        output: &mut B::Buf<u32>,
        length: Length<'_, B>,
    ) -> Result<(), Error> {
        let call = Call::new(backend, DOING);
        let most = length.most();
        let nothing = Ptr::new(std::ptr::dangling_mut());
        let work = SplitSortWork::<()>(SplitsArgs {
            keys: call.input("input", input, most)?,
            keys_out: call.output("output", output, most)?,
            values: nothing,
            values_out: nothing,
            length: call.length(length)?,
        });
        // SAFETY: the buffers have the room; freeing them waits for the work.
        unsafe { backend.queue(&work) }
    }

    /// Queues the sorting of keys, and of a value of 4 bytes with each, into `output`.
    ///
    /// # Errors
    /// A buffer is too small, or the machine reports an error.
    pub fn run_pairs<B: Primitives, V: Pod + Send + Sync>(
        &self,
        backend: &mut B,
        input: (&B::Buf<u32>, &B::Buf<V>),
        output: (&mut B::Buf<u32>, &mut B::Buf<V>),
        length: Length<'_, B>,
    ) -> Result<(), Error> {
        const { assert!(size_of::<V>() == 4 && align_of::<V>() == 4, "values have 4 bytes, aligned to them") };
        let call = Call::new(backend, DOING);
        let most = length.most();
        let work = SplitSortWork::<u32>(SplitsArgs {
            keys: call.input("input of keys", input.0, most)?,
            keys_out: call.output("output of keys", output.0, most)?,
            values: call.input("input of values", input.1, most)?.cast(),
            values_out: call.output("output of values", output.1, most)?.cast(),
            length: call.length(length)?,
        });
        // SAFETY: the buffers have the room; freeing them waits for the work. Kernels only move values.
        unsafe { backend.queue(&work) }
    }
}

struct SplitSortWork<V>(SplitsArgs<V>);

impl<V: Splittable> Work for SplitSortWork<V> {
    unsafe fn on_cpu(&self) {
        let SplitsArgs { keys, keys_out, values, values_out, length } = self.0;
        // SAFETY: as the caller promised.
        unsafe {
            let n = length.get();
            twin((keys.slice(n), values.slice(n)), (keys_out.slice_mut(n), values_out.slice_mut(n)));
        }
    }

    unsafe fn on_gpu(&self, gpu: &mut Cuda) -> Result<(), Error> {
        let SplitsArgs { keys_out: keys, values_out: values, length, .. } = self.0;
        let (most, tiles) = (length.most(), length.most().div_ceil(TILE));
        // SAFETY: as the caller promised; a block a tile, or a thread a pair.
        unsafe {
            gpu.launch_primitive::<V::Splits>(tiles, self.0)?;
            for (step, is_finish) in steps(most) {
                let args = NetworkArgs { keys, values, length, step };
                if is_finish {
                    gpu.launch_primitive::<V::Finish>(tiles, args)?;
                } else {
                    let blocks = step.pairs(most).div_ceil(V::Network::BLOCK);
                    gpu.launch_primitive::<V::Network>(blocks, args)?;
                }
            }
        }
        Ok(())
    }
}
