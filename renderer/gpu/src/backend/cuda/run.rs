//! A GPU as a back end.

use std::ffi::c_void;
use std::sync::Arc;
use std::time::Duration;

use bytemuck::Pod;
use cust::event::Event;
use device::bvh::Node;
use device::features::Features;
use device::path::stage::{Stage, stages};

use super::code;
use super::driver::call;
use super::memory::Staging;
use super::{Cuda, CudaBuffer, memory};
use crate::backend::{Backend, Buffer, COPY, Error, NODES, Place, Shared, check_room, reserve_in};

/// The operation in errors while times are taken.
const TIMING: &str = "timing the GPU";

impl Cuda {
    /// Copies elements into the beginning of a buffer that has as many, and waits for it; the context is current.
    fn copy_in<T: Pod>(&mut self, data: &[T], buffer: &mut CudaBuffer<T>) -> Result<(), Error> {
        let bytes = size_of_val(data);
        if bytes == 0 {
            return Ok(());
        }
        // SAFETY: the buffer and the data have that many bytes, and the data is borrowed until the stream has been waited
        // for below.
        let copied = code::check(unsafe {
            call::cuMemcpyHtoDAsync_v2(
                buffer.address(),
                data.as_ptr().cast::<c_void>(),
                bytes,
                self.queue.raw(),
            )
        });
        let finished = self.finish();
        copied.map_err(|code| self.failed(format!("uploading {}", buffer.description()), code))?;
        finished
    }

    /// Makes the context current and waits for what was launched, if the buffer is of this back end.
    fn enter_to_download<T: Pod + Send + Sync>(&mut self, buffer: &CudaBuffer<T>) -> Result<(), Error> {
        let doing = || format!("downloading {}", buffer.description());
        self.enter_then(&doing)?;
        if !self.owns(buffer) {
            return Err(Error { doing: doing(), reason: "it belongs to another back end".to_owned() });
        }
        self.finish()
    }

    /// Copies the first `len` elements of a buffer, and waits for it; the context is current.
    ///
    /// # Safety
    /// There is room for them at `to`, which nothing else uses meanwhile, and the buffer has as many.
    unsafe fn copy_out<T: Pod>(
        &mut self,
        buffer: &CudaBuffer<T>,
        to: *mut T,
        len: usize,
    ) -> Result<(), Error> {
        let bytes = len * size_of::<T>();
        if bytes == 0 {
            return Ok(());
        }
        if bytes <= Staging::BYTES && self.staging.is_none() {
            self.staging = Some(Staging::new(&self.gpu));
        }
        let staging = self.staging.as_mut().and_then(Option::as_mut).filter(|_| bytes <= Staging::BYTES);
        let through = staging.and_then(Staging::start);
        let start = through.unwrap_or(to.cast());
        // SAFETY: there is room for so many bytes, in `staging` or as the caller promised, until the stream has been waited for below.
        let copied = code::check(unsafe {
            call::cuMemcpyDtoHAsync_v2(start.cast::<c_void>(), buffer.address(), bytes, self.queue.raw())
        });
        let finished = self.finish();
        copied.map_err(|code| self.failed(format!("downloading {}", buffer.description()), code))?;
        finished?;
        if let Some(start) = through {
            // SAFETY: the copy has written so many bytes of `staging`, which is not the caller's memory.
            unsafe { start.copy_to_nonoverlapping(to.cast(), bytes) };
        }
        Ok(())
    }
}

impl Backend for Cuda {
    type Buf<T: Pod + Send + Sync> = CudaBuffer<T>;
    type Node = Node;
    type Moment = Event;

    fn name(&self) -> String {
        format!("cuda:{} {}", self.gpu.info.index, self.gpu.info.name)
    }

    fn prepare<S: Stage>(&mut self) -> Result<(), Error> {
        if self.is_ahead {
            self.module.begin(S::NAME);
            return Ok(());
        }
        self.verify_layout()?;
        self.fit::<S>()
    }

    fn prepare_ahead(&mut self, calls: impl FnOnce(&mut Self) -> Result<(), Error>) -> Result<(), Error> {
        let before = std::mem::replace(&mut self.is_ahead, true);
        if !self.is_verified {
            self.module.begin(stages::probe::NAME);
        }
        let result = calls(self);
        self.is_ahead = before;
        result
    }

    fn is_ready<S: Stage>(&mut self) -> bool {
        self.module.is_ready(S::NAME)
    }

    fn specialize(&mut self, features: Features) {
        self.module.features = features;
    }

    fn parallelism(&self) -> usize {
        self.parallelism
    }

    fn is_watched(&self) -> bool {
        self.gpu.info.watchdog
    }

    fn room(&self) -> Option<u64> {
        let (free, _) = self.gpu.memory().ok()?;
        Some(memory::room(free, self.gpu.account.left(self.gpu.limit())))
    }

    fn placing<R>(&mut self, place: Place, work: impl FnOnce(&mut Self) -> R) -> R {
        let before = std::mem::replace(&mut self.place, place);
        let result = work(self);
        self.place = before;
        result
    }

    fn zeroed<T: Pod + Send + Sync>(
        &mut self,
        label: &'static str,
        len: usize,
    ) -> Result<CudaBuffer<T>, Error> {
        self.enter_then(&|| format!("allocating \"{label}\""))?;
        let buffer = CudaBuffer::uninitialized(&self.gpu, label, len, self.place)?;
        if buffer.bytes() != 0 {
            // SAFETY: the buffer has that many bytes, and frees them only after the stream has used them.
            code::check(unsafe {
                call::cuMemsetD8Async(buffer.address(), 0, buffer.bytes(), self.queue.raw())
            })
            .map_err(|code| self.failed(format!("clearing {}", buffer.description()), code))?;
        }
        Ok(buffer)
    }

    fn upload<T: Pod + Send + Sync>(
        &mut self,
        label: &'static str,
        data: &[T],
    ) -> Result<CudaBuffer<T>, Error> {
        self.enter_then(&|| format!("allocating \"{label}\""))?;
        let mut buffer = CudaBuffer::uninitialized(&self.gpu, label, data.len(), self.place)?;
        self.copy_in(data, &mut buffer)?;
        Ok(buffer)
    }

    fn clear<T: Pod + Send + Sync>(&mut self, buffer: &mut CudaBuffer<T>) -> Result<(), Error> {
        let doing = || format!("clearing {}", buffer.description());
        self.enter_then(&doing)?;
        if !self.owns(buffer) {
            return Err(Error { doing: doing(), reason: "it belongs to another back end".to_owned() });
        }
        if buffer.bytes() == 0 {
            return Ok(());
        }
        // SAFETY: the buffer has that many bytes, and frees them only after the stream has used them.
        code::check(unsafe { call::cuMemsetD8Async(buffer.address(), 0, buffer.bytes(), self.queue.raw()) })
            .map_err(|code| self.failed(doing(), code))
    }

    fn share_nodes(&mut self, nodes: &Shared<Node>) -> Result<CudaBuffer<Node>, Error> {
        self.share(NODES, nodes)
    }

    fn download_into<T: Pod + Send + Sync>(
        &mut self,
        buffer: &CudaBuffer<T>,
        room: Vec<T>,
    ) -> Result<Vec<T>, Error> {
        self.enter_to_download(buffer)?;
        let mut data = reserve_in(room, COPY, buffer.len())?;
        // SAFETY: the vector has room for as many elements.
        unsafe { self.copy_out(buffer, data.as_mut_ptr(), buffer.len())? };
        // SAFETY: all elements have been written, but for those of no bytes, and every pattern of bits is a `T`.
        unsafe { data.set_len(buffer.len()) };
        Ok(data)
    }

    fn write<T: Pod + Send + Sync>(&mut self, data: &[T], buffer: &mut CudaBuffer<T>) -> Result<(), Error> {
        let doing = || format!("uploading {}", buffer.description());
        check_room(data.len(), buffer.len())?;
        self.enter_then(&doing)?;
        if !self.owns(buffer) {
            return Err(Error { doing: doing(), reason: "it belongs to another back end".to_owned() });
        }
        self.copy_in(data, buffer)
    }

    fn read<T: Pod + Send + Sync>(&mut self, buffer: &CudaBuffer<T>, data: &mut [T]) -> Result<(), Error> {
        check_room(data.len(), buffer.len())?;
        self.enter_to_download(buffer)?;
        // SAFETY: the slice has as many elements, and is borrowed.
        unsafe { self.copy_out(buffer, data.as_mut_ptr(), data.len()) }
    }

    /// By the driver: what the machine's memory can do at best.
    fn copy<T: Pod + Send + Sync>(
        &mut self,
        from: &CudaBuffer<T>,
        to: &mut CudaBuffer<T>,
    ) -> Result<(), Error> {
        let doing = || format!("copying {} to {}", from.description(), to.description());
        self.enter_then(&doing)?;
        if from.bytes() != to.bytes() || !self.owns(from) || !self.owns(to) {
            return Err(Error {
                doing: doing(),
                reason: "they differ in size or in where they are".to_owned(),
            });
        }
        if from.bytes() == 0 {
            return Ok(());
        }
        // SAFETY: both have that many bytes, and free them only after the stream has used them.
        code::check(unsafe {
            call::cuMemcpyDtoDAsync_v2(to.address(), from.address(), from.bytes(), self.queue.raw())
        })
        .map_err(|code| self.failed(doing(), code))
    }

    /// Two back ends of one GPU share its memory, but neither waits for what the other has queued.
    fn owns<T: Pod + Send + Sync>(&self, buf: &CudaBuffer<T>) -> bool {
        Arc::ptr_eq(buf.gpu(), &self.gpu)
    }

    unsafe fn launch<S: Stage>(&mut self, args: S::Args) -> Result<(), Error> {
        self.verify_layout()?;
        // SAFETY: the kernel called `S::NAME` is made from `S` and takes `S::Args`; the rest is the caller's.
        unsafe { self.launch_kernel(S::NAME, S::BLOCK, S::threads(&args), args) }
    }

    fn synchronize(&mut self) -> Result<(), Error> {
        self.enter("waiting for the GPU")?;
        self.finish()
    }

    fn moment(&mut self) -> Result<Event, Error> {
        self.enter(TIMING)?;
        self.queue.mark().map_err(|code| self.failed(TIMING.to_owned(), code))
    }

    /// To half a microsecond.
    fn between(&mut self, from: &Event, to: &Event) -> Result<Duration, Error> {
        self.enter(TIMING)?;
        to.elapsed(from).map_err(|e| self.failed(TIMING.to_owned(), code::from_cust(e)))
    }

    fn occupancy<S: Stage>(&mut self) -> Result<Option<f32>, Error> {
        let held = self.blocks_per_multiprocessor(S::NAME, S::BLOCK)? * S::BLOCK;
        Ok(Some(held as f32 / self.gpu.info.multiprocessor.threads.max(1) as f32))
    }
}
