//! Copies, filling, and moving elements by their index.

use bytemuck::Pod;
use primitives::gather::{self, IndexedArgs, TILE};
use primitives::moves::{CopyArgs, Copying, FillArgs, Filling, widest};
use primitives::{Entry, Kernel, Ptr, Quad};

use super::call::Call;
use super::parallel::{chunk_len, for_each_item};
use super::{Length, Primitives, Work, kernels};
use crate::backend::cuda::Cuda;
use crate::backend::{Buffer, Error};

/// Words of an element that kernels can move: 1, 2 or 4.
pub(super) const fn words_per_element<T>() -> u32 {
    assert!(matches!(size_of::<T>(), 4 | 8 | 16), "elements have 4, 8 or 16 bytes");
    size_of::<T>() as u32 / 4
}

/// Copies elements of 4, 8 or 16 bytes from one buffer to another.
#[derive(Debug, Clone, Copy, Default)]
pub struct CopyElements {
    /// The first one that is copied.
    pub from: u32,
    /// Where it goes.
    pub to: u32,
}

impl CopyElements {
    /// Queues the copy.
    ///
    /// # Errors
    /// A buffer is too small, or the machine reports an error.
    pub fn run<B: Primitives, T: Pod + Send + Sync>(
        &self,
        backend: &mut B,
        from: &B::Buf<T>,
        to: &mut B::Buf<T>,
        length: Length<'_, B>,
    ) -> Result<(), Error> {
        let call = Call::new(backend, "copying elements");
        let most = length.most();
        let work = CopyWork::<T> {
            from: call.input_from("input", from, self.from, most)?,
            to: call.output_from("output", to, self.to, most)?,
            length: call.length(length)?,
        };
        // SAFETY: the buffers have the room; freeing them waits for the work.
        unsafe { backend.queue(&work) }
    }
}

struct CopyWork<T> {
    from: Ptr<T>,
    to: Ptr<T>,
    length: kernels::Length,
}

impl<T: Pod + Send + Sync> Work for CopyWork<T> {
    unsafe fn on_cpu(&self) {
        // SAFETY: as the caller promised; they are two buffers.
        unsafe {
            let n = self.length.get();
            let chunk = chunk_len(n as usize);
            let chunks = self.to.slice_mut(n).chunks_mut(chunk).zip(self.from.slice(n).chunks(chunk));
            for_each_item(chunks, |_, (to, from)| to.copy_from_slice(from));
        }
    }

    unsafe fn on_gpu(&self, gpu: &mut Cuda) -> Result<(), Error> {
        let words = const { words_per_element::<T>() };
        let args = CopyArgs { from: self.from.cast(), to: self.to.cast(), length: self.length, words };
        // SAFETY: as the caller promised; a block a tile.
        unsafe {
            match widest(self.from.at(0).addr(), self.to.at(0).addr()) {
                16 => launch_copy::<Copying<Quad<u32>>>(gpu, Copying::<Quad<u32>>::TILE, args),
                8 => launch_copy::<Copying<u64>>(gpu, Copying::<u64>::TILE, args),
                _ => launch_copy::<Copying<u32>>(gpu, Copying::<u32>::TILE, args),
            }
        }
    }
}

unsafe fn launch_copy<K: Kernel<Args = CopyArgs> + Entry>(
    gpu: &mut Cuda,
    tile: u32,
    args: CopyArgs,
) -> Result<(), Error> {
    // SAFETY: as the caller promised.
    unsafe { gpu.launch_primitive::<K>(tiles(args.length, args.words, tile), args) }
}

/// Tiles of so many words that the most elements need.
fn tiles(length: kernels::Length, words: u32, tile: u32) -> u32 {
    (u64::from(length.most()) * u64::from(words)).div_ceil(u64::from(tile)) as u32
}

/// Writes one element of 4, 8 or 16 bytes everywhere.
#[derive(Debug, Clone, Copy)]
pub struct Fill<T> {
    /// The element.
    pub value: T,
    /// The first place that it is written to.
    pub to: u32,
}

impl<T: Pod + Send + Sync> Fill<T> {
    /// Fills from the beginning on.
    pub fn new(value: T) -> Self {
        Self { value, to: 0 }
    }

    /// Queues it.
    ///
    /// # Errors
    /// The buffer is too small, or the machine reports an error.
    pub fn run<B: Primitives>(
        &self,
        backend: &mut B,
        to: &mut B::Buf<T>,
        length: Length<'_, B>,
    ) -> Result<(), Error> {
        let call = Call::new(backend, "filling");
        let to = call.output_from("output", to, self.to, length.most())?;
        let work = FillWork { to, value: self.value, length: call.length(length)? };
        // SAFETY: the buffer has the room; freeing it waits for the work.
        unsafe { backend.queue(&work) }
    }
}

struct FillWork<T> {
    to: Ptr<T>,
    value: T,
    length: kernels::Length,
}

impl<T: Pod + Send + Sync> Work for FillWork<T> {
    unsafe fn on_cpu(&self) {
        // SAFETY: as the caller promised.
        let to = unsafe { self.to.slice_mut(self.length.get()) };
        for_each_item(to.chunks_mut(chunk_len(to.len())), |_, to| to.fill(self.value));
    }

    unsafe fn on_gpu(&self, gpu: &mut Cuda) -> Result<(), Error> {
        let words = const { words_per_element::<T>() };
        let bytes = bytemuck::bytes_of(&self.value);
        let value = std::array::from_fn(|i| {
            let word = &bytes[4 * (i % words as usize)..][..4];
            u32::from_ne_bytes([word[0], word[1], word[2], word[3]])
        });
        let args = FillArgs { to: self.to.cast(), length: self.length, value, words };
        // SAFETY: as the caller promised; a block a tile.
        unsafe { gpu.launch_primitive::<Filling>(tiles(self.length, words, Filling::TILE), args) }
    }
}

/// `to[i] = from[indices[i]]`, of elements of 4, 8 or 16 bytes. For an index that `from` does not have, the element of
/// `to` stays as it is.
#[derive(Debug, Clone, Copy, Default)]
pub struct Gather;

/// `to[indices[i]] = from[i]`, of elements of 4, 8 or 16 bytes. An index that `to` does not have is passed over. Of
/// several elements for an index one is there afterwards: on a CPU the last one, on a GPU any.
#[derive(Debug, Clone, Copy, Default)]
pub struct Scatter;

impl Gather {
    /// Queues it, for so many indices.
    ///
    /// # Errors
    /// A buffer is too small or too large, or the machine reports an error.
    pub fn run<B: Primitives, T: Pod + Send + Sync>(
        &self,
        backend: &mut B,
        from: &B::Buf<T>,
        indices: &B::Buf<u32>,
        to: &mut B::Buf<T>,
        length: Length<'_, B>,
    ) -> Result<(), Error> {
        let call = Call::new(backend, "gathering");
        let bound = bound(&call, from.len())?;
        let work = GatherWork(indexed(&call, (from, bound), indices, (to, length.most()), length, bound)?);
        // SAFETY: the buffers have the room; freeing them waits for the work.
        unsafe { backend.queue(&work) }
    }
}

impl Scatter {
    /// Queues it, for so many indices.
    ///
    /// # Errors
    /// A buffer is too small or too large, or the machine reports an error.
    pub fn run<B: Primitives, T: Pod + Send + Sync>(
        &self,
        backend: &mut B,
        from: &B::Buf<T>,
        indices: &B::Buf<u32>,
        to: &mut B::Buf<T>,
        length: Length<'_, B>,
    ) -> Result<(), Error> {
        let call = Call::new(backend, "scattering");
        let bound = bound(&call, to.len())?;
        let work = ScatterWork(indexed(&call, (from, length.most()), indices, (to, bound), length, bound)?);
        // SAFETY: the buffers have the room; freeing them waits for the work.
        unsafe { backend.queue(&work) }
    }
}

/// The length of a buffer that indices point into.
fn bound<B: Primitives>(call: &Call<'_, B>, len: usize) -> Result<u32, Error> {
    let reason = |_| call.error(format!("indices of 32 bits do not reach all of {len} elements"));
    u32::try_from(len).map_err(reason)
}

/// Arguments of both, for buffers with so many elements: one with those that indices are below, the other with one for
/// each index.
fn indexed<B: Primitives, T: Pod + Send + Sync>(
    call: &Call<'_, B>,
    (from, n_from): (&B::Buf<T>, u32),
    indices: &B::Buf<u32>,
    (to, n_to): (&mut B::Buf<T>, u32),
    length: Length<'_, B>,
    bound: u32,
) -> Result<IndexedArgs<T>, Error> {
    Ok(IndexedArgs {
        from: call.input("input", from, n_from)?,
        to: call.output("output", to, n_to)?,
        indices: call.input("list of indices", indices, length.most())?,
        bound,
        length: call.length(length)?,
    })
}

struct GatherWork<T>(IndexedArgs<T>);

impl<T: Pod + Send + Sync> Work for GatherWork<T> {
    unsafe fn on_cpu(&self) {
        let IndexedArgs { from, to, indices, length, bound } = self.0;
        // SAFETY: as the caller promised; they are three buffers.
        unsafe {
            let n = length.get();
            let chunk = chunk_len(n as usize);
            let chunks = indices.slice(n).chunks(chunk).zip(to.slice_mut(n).chunks_mut(chunk));
            for_each_item(chunks, |_, (indices, to)| gather::gather(from.slice(bound), indices, to));
        }
    }

    unsafe fn on_gpu(&self, gpu: &mut Cuda) -> Result<(), Error> {
        // SAFETY: as the caller promised.
        unsafe {
            launch::<T, gather::Gather<u32>, gather::Gather<u64>, gather::Gather<Quad<u32>>>(gpu, self.0)
        }
    }
}

struct ScatterWork<T>(IndexedArgs<T>);

impl<T: Pod + Send + Sync> Work for ScatterWork<T> {
    /// On one thread: of several elements for an index, the last one counts.
    unsafe fn on_cpu(&self) {
        let IndexedArgs { from, to, indices, length, bound } = self.0;
        // SAFETY: as the caller promised; they are three buffers.
        unsafe {
            let n = length.get();
            gather::scatter(from.slice(n), indices.slice(n), to.slice_mut(bound));
        }
    }

    unsafe fn on_gpu(&self, gpu: &mut Cuda) -> Result<(), Error> {
        // SAFETY: as the caller promised.
        unsafe {
            launch::<T, gather::Scatter<u32>, gather::Scatter<u64>, gather::Scatter<Quad<u32>>>(gpu, self.0)
        }
    }
}

/// Launches the kernel for elements of the size of `T`: a block a tile.
unsafe fn launch<T, A, B, C>(gpu: &mut Cuda, args: IndexedArgs<T>) -> Result<(), Error>
where
    A: Kernel<Args = IndexedArgs<u32>> + Entry,
    B: Kernel<Args = IndexedArgs<u64>> + Entry,
    C: Kernel<Args = IndexedArgs<Quad<u32>>> + Entry,
{
    if args.bound == 0 {
        return Ok(());
    }
    let blocks = args.length.most().div_ceil(TILE);
    // SAFETY: as the caller promised.
    unsafe {
        match const { words_per_element::<T>() } {
            1 => gpu.launch_primitive::<A>(blocks, args.cast()),
            2 => gpu.launch_primitive::<B>(blocks, args.cast()),
            _ => gpu.launch_primitive::<C>(blocks, args.cast()),
        }
    }
}
