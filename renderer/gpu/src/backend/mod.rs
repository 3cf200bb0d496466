//! Machines that run stages. A back end allocates, copies and launches; it knows nothing of light transport.

use std::fmt;
use std::time::Duration;

use bytemuck::Pod;
use device::bvh::Node;
use device::features::Features;
use device::path::stage::Stage;
use torrance_text::human_bytes;

pub mod cpu;
pub mod cuda;
mod shared;

pub use shared::Shared;

/// Memory of a back end: `len` elements of `T`, freed on drop.
pub trait Buffer<T> {
    /// Address of the first element, valid where the stages run.
    fn ptr(&self) -> *mut T;
    /// Number of elements.
    fn len(&self) -> usize;
    /// Whether there are no elements.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// Whether stages may write it. They may not where others hold the memory and read it.
    fn is_writable(&self) -> bool {
        true
    }
    /// Whether stages reach it over a bus only: it is in the memory of the host, and not in that of the machine.
    fn is_remote(&self) -> bool {
        false
    }
}

/// Where buffers are allocated, on machines that have memory of their own. Stages use them there as anywhere, but those in
/// the host's memory over a bus, which takes many times longer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Place {
    /// In the machine's memory, or there is an error.
    #[default]
    Machine,
    /// In the machine's memory, or in the host's where the machine has no room.
    Anywhere,
    /// In the host's memory, or in the machine's where the host has no room.
    Host,
}

/// A machine that runs stages.
pub trait Backend {
    /// A typed allocation.
    type Buf<T: Pod + Send + Sync>: Buffer<T>;
    /// The nodes of trees as the machine's traversal reads them.
    type Node: Pod + Send + Sync;
    /// A moment between launches.
    type Moment: fmt::Debug;

    /// Number of samples of a pixel that are best taken side by side: their rays lead the same way.
    const SIDE_BY_SIDE: u32 = 1;

    /// Whether the host takes over what is on a film from time to time, at the borders of chunks of samples, so that parts of a
    /// render make up the whole image to the last bit. The machine waits for that, a moment.
    const FOLDS_FILMS: bool = false;

    /// The machine's name for people, e.g. `CPU, 16 threads, AVX2` or `cuda:0 NVIDIA GeForce RTX 4090`.
    fn name(&self) -> String;

    /// Makes a stage ready to be launched; [`Backend::parallelism`] is then about this stage.
    fn prepare<S: Stage>(&mut self) -> Result<(), Error>;

    /// Begins to make ready what `calls` prepares, side by side, and does not wait for it: whoever prepares it once more does.
    ///
    /// # Errors
    /// Those of `calls`.
    fn prepare_ahead(&mut self, calls: impl FnOnce(&mut Self) -> Result<(), Error>) -> Result<(), Error>
    where
        Self: Sized,
    {
        let _ = calls;
        Ok(())
    }

    /// Whether preparing a stage would take no time.
    fn is_ready<S: Stage>(&mut self) -> bool {
        true
    }

    /// From here on, stages see scenes that ask for no other `features`: a back end may prepare and launch stages that
    /// know no others.
    fn specialize(&mut self, features: Features);

    /// Number of invocations that must be in flight to fill the machine.
    fn parallelism(&self) -> usize;

    /// Whether a watchdog stops kernels that run for seconds.
    fn is_watched(&self) -> bool {
        false
    }

    /// Bytes of the machine's memory that may still be allocated, as far as is known; `None` if its memory is the host's, or
    /// it does not tell.
    fn room(&self) -> Option<u64> {
        None
    }

    /// Runs `work`, which allocates its buffers in a place, where there is a choice.
    fn placing<R>(&mut self, _place: Place, work: impl FnOnce(&mut Self) -> R) -> R {
        work(self)
    }

    /// Allocates `len` zeroed elements. `label` names the buffer in errors.
    fn zeroed<T: Pod + Send + Sync>(
        &mut self,
        label: &'static str,
        len: usize,
    ) -> Result<Self::Buf<T>, Error>;

    /// Allocates and fills a buffer. An empty slice is valid and yields an empty buffer.
    fn upload<T: Pod + Send + Sync>(
        &mut self,
        label: &'static str,
        data: &[T],
    ) -> Result<Self::Buf<T>, Error>;

    /// As [`Backend::upload`], for data that stages only read: a back end whose memory is the host's need not copy it.
    fn share<T: Pod + Send + Sync>(
        &mut self,
        label: &'static str,
        data: &Shared<T>,
    ) -> Result<Self::Buf<T>, Error> {
        self.upload(label, data)
    }

    /// The nodes of trees, in the form that the machine's traversal reads.
    ///
    /// # Errors
    /// There is not enough memory, or what the machine says.
    fn share_nodes(&mut self, nodes: &Shared<Node>) -> Result<Self::Buf<Self::Node>, Error>;

    /// Fills a buffer with zeros, after everything launched so far has finished.
    ///
    /// # Errors
    /// Stages may not write it, or the machine reports an error.
    fn clear<T: Pod + Send + Sync>(&mut self, buf: &mut Self::Buf<T>) -> Result<(), Error>;

    /// Copies a buffer back, after everything launched so far has finished.
    ///
    /// # Errors
    /// There is not enough memory, or what went wrong in the machine.
    fn download<T: Pod + Send + Sync>(&mut self, buf: &Self::Buf<T>) -> Result<Vec<T>, Error> {
        self.download_into(buf, Vec::new())
    }

    /// As [`Backend::download`], into the memory of a vector, whatever is in it: that of one that has been used before is faster.
    ///
    /// # Errors
    /// As [`Backend::download`].
    fn download_into<T: Pod + Send + Sync>(
        &mut self,
        buf: &Self::Buf<T>,
        room: Vec<T>,
    ) -> Result<Vec<T>, Error>;

    /// Copies elements into the beginning of a buffer, after everything launched so far has finished.
    ///
    /// # Errors
    /// The buffer has fewer elements, stages may not write it, or the machine reports an error.
    fn write<T: Pod + Send + Sync>(&mut self, data: &[T], buf: &mut Self::Buf<T>) -> Result<(), Error>;

    /// Copies the first elements of a buffer back, after everything launched so far has finished.
    ///
    /// # Errors
    /// The buffer has fewer elements, or what went wrong in the machine.
    fn read<T: Pod + Send + Sync>(&mut self, buf: &Self::Buf<T>, data: &mut [T]) -> Result<(), Error>;

    /// Queues a copy of one buffer to another.
    ///
    /// # Errors
    /// The buffers differ in size, stages may not write the second one, or the machine reports an error.
    fn copy<T: Pod + Send + Sync>(&mut self, from: &Self::Buf<T>, to: &mut Self::Buf<T>)
    -> Result<(), Error>;

    /// Whether a buffer is in the memory of this back end, where the work that it queues can reach it.
    fn owns<T: Pod + Send + Sync>(&self, buf: &Self::Buf<T>) -> bool;

    /// Queues `S::count(&args)` invocations of a stage; may return before they have run.
    ///
    /// # Safety
    /// Every pointer in `args` must come from live buffers of this back end that are large enough for
    /// what the stage documents, and those buffers must outlive the next [`Backend::synchronize`].
    unsafe fn launch<S: Stage>(&mut self, args: S::Args) -> Result<(), Error>;

    /// Waits until everything launched has finished, and reports what went wrong in it.
    fn synchronize(&mut self) -> Result<(), Error>;

    /// The moment when all that was launched so far has finished, and the rest has not begun.
    ///
    /// # Errors
    /// The machine reports one.
    fn moment(&mut self) -> Result<Self::Moment, Error>;

    /// The time from a moment to a later one, to be asked when both have been waited for ([`Backend::synchronize`]).
    ///
    /// # Errors
    /// The machine reports one.
    fn between(&mut self, from: &Self::Moment, to: &Self::Moment) -> Result<Duration, Error>;

    /// The fraction of the threads a machine can hold that it does hold while it runs a stage, 0 to 1; `None` if that is
    /// always all of them.
    ///
    /// # Errors
    /// The machine reports one.
    fn occupancy<S: Stage>(&mut self) -> Result<Option<f32>, Error>;
}

/// An error of a back end.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{doing}: {reason}")]
pub struct Error {
    /// The operation that failed, e.g. `allocating 3.2 GiB for "film"`.
    pub doing: String,
    /// The reason, as the machine gives it.
    pub reason: String,
}

/// The label of the memory that a download returns.
const NODES: &str = "BVH nodes";
const COPY: &str = "a copy of the results";

/// An error unless a buffer of `len` elements has so many that are to be copied.
fn check_room(wanted: usize, len: usize) -> Result<(), Error> {
    match wanted <= len {
        true => Ok(()),
        false => Err(Error {
            doing: format!("copying {wanted} elements"),
            reason: format!("the buffer has {len}"),
        }),
    }
}

/// Room for `len` elements, or an error: the size of an image is the user's choice.
fn reserve<T>(label: &'static str, len: usize) -> Result<Vec<T>, Error> {
    reserve_in(Vec::new(), label, len)
}

/// As [`reserve`], in the memory of a vector.
fn reserve_in<T>(mut room: Vec<T>, label: &'static str, len: usize) -> Result<Vec<T>, Error> {
    room.clear();
    room.try_reserve_exact(len).map_err(|_| Error {
        doing: format!("allocating {} for \"{label}\"", human_bytes(len as u128 * size_of::<T>() as u128)),
        reason: "there is not enough memory".into(),
    })?;
    Ok(room)
}
