//! A GPU's stream: launches, their stages, and how long they took.

use std::collections::BTreeMap;
use std::ffi::c_void;
use std::marker::PhantomData;
use std::time::Duration;

use cust::event::{Event, EventFlags};
use cust::stream::{Stream, StreamFlags};

use super::code::{self, Code};
use super::driver::call;
use super::info;
use super::module::Kernel;

/// Timed launches that may be waiting for their times. Beyond it launches wait for the GPU.
const MOST_PENDING: usize = 1024;

/// Bytes of shared memory that a launch may give a block without asking, if the kernel has at most 16 KiB of its own: 48 KiB
/// in all.
pub(super) const SHARED_WITHOUT_ASKING: u32 = 32 << 10;

/// How long the launches of one stage took on the GPU.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct StageTime {
    /// How often it was launched.
    pub launches: u64,
    /// All launches together.
    pub total: Duration,
    /// The longest one.
    pub longest: Duration,
}

/// Bytes that the parameters of a kernel may have on every GPU and driver.
const MOST_ARG_BYTES: usize = 4096;

/// The argument of a kernel, of any type, so that launching is compiled once and not for every kernel.
#[derive(Debug, Clone, Copy)]
pub(super) struct Argument<'a> {
    pub(super) address: *const c_void,
    pub(super) bytes: usize,
    value: PhantomData<&'a ()>,
}

impl<'a> Argument<'a> {
    pub(super) fn new<A: Copy>(value: &'a A) -> Self {
        const { assert!(size_of::<A>() != 0 && size_of::<A>() <= MOST_ARG_BYTES, "no kernel takes this") };
        Self { address: (&raw const *value).cast(), bytes: size_of::<A>(), value: PhantomData }
    }
}

/// Two marks on the stream, around a launch.
#[derive(Debug)]
struct Marks {
    stage: &'static str,
    start: Event,
    end: Event,
}

/// The stream, and the record of the launches queued in it.
#[derive(Debug)]
pub(super) struct Queue {
    /// Marks whose times have been read, to be used again.
    spare: Vec<(Event, Event)>,
    pending: Vec<Marks>,
    stream: Stream,
    /// Stages launched since the last wait, each once.
    launched: Vec<&'static str>,
    pub(super) profiling: bool,
    pub(super) times: BTreeMap<&'static str, StageTime>,
}

impl Queue {
    /// Opens a stream of the current context.
    pub(super) fn new() -> Result<Self, Code> {
        // `cust` 0.3.2 takes the flag away: the stream then waits for work on the default stream, of which
        // there is none.
        let stream = Stream::new(StreamFlags::NON_BLOCKING, None).map_err(code::from_cust)?;
        Ok(Self {
            spare: Vec::new(),
            pending: Vec::new(),
            stream,
            launched: Vec::new(),
            profiling: false,
            times: BTreeMap::new(),
        })
    }

    pub(super) fn raw(&self) -> cust::sys::CUstream {
        self.stream.as_inner()
    }

    /// Queues `blocks` blocks of `block` threads, with `shared` bytes of shared memory beside the kernel's own.
    ///
    /// # Safety
    /// The context of the stream is current; the kernel is of a module in it and takes one argument of this type; the
    /// pointers in it are as the kernel requires until it has finished.
    pub(super) unsafe fn launch(
        &mut self,
        stage: &'static str,
        kernel: Kernel,
        (blocks, block, shared): (u32, u32, u32),
        args: Argument<'_>,
    ) -> Result<(), Code> {
        let marks = if self.profiling { Some(self.marks()?) } else { None };
        if let Some((start, _)) = &marks {
            start.record(&self.stream).map_err(code::from_cust)?;
        }
        if shared > SHARED_WITHOUT_ASKING {
            info::allow_shared(kernel, shared)?;
        }
        let mut params = [args.address.cast_mut()];
        // SAFETY: by this function's contract. The driver copies the argument before it returns.
        let queued = code::check(unsafe {
            call::cuLaunchKernel(
                kernel.function,
                blocks,
                1,
                1,
                block,
                1,
                1,
                shared,
                self.raw(),
                params.as_mut_ptr(),
                std::ptr::null_mut(),
            )
        });
        if !self.launched.contains(&stage) {
            self.launched.push(stage);
        }
        queued?;
        if let Some((start, end)) = marks {
            end.record(&self.stream).map_err(code::from_cust)?;
            self.pending.push(Marks { stage, start, end });
        }
        Ok(())
    }

    /// A mark on the stream, here.
    pub(super) fn mark(&mut self) -> Result<Event, Code> {
        let event = Event::new(EventFlags::DEFAULT).map_err(code::from_cust)?;
        event.record(&self.stream).map_err(code::from_cust)?;
        Ok(event)
    }

    fn marks(&mut self) -> Result<(Event, Event), Code> {
        if self.pending.len() >= MOST_PENDING {
            self.wait()?;
        }
        match self.spare.pop() {
            Some(pair) => Ok(pair),
            None => {
                let new = || Event::new(EventFlags::DEFAULT).map_err(code::from_cust);
                Ok((new()?, new()?))
            }
        }
    }

    /// Waits until the stream is empty, and reads the times of the launches.
    fn wait(&mut self) -> Result<(), Code> {
        // SAFETY: the stream is open.
        code::check(unsafe { call::cuStreamSynchronize(self.raw()) })?;
        for Marks { stage, start, end } in self.pending.drain(..) {
            let took = end.elapsed(&start).map_err(code::from_cust)?;
            let time = self.times.entry(stage).or_default();
            time.launches += 1;
            time.total += took;
            time.longest = time.longest.max(took);
            self.spare.push((start, end));
        }
        Ok(())
    }

    /// Waits; after an error says which stages it may have come from. Forgets them either way.
    pub(super) fn finish(&mut self) -> Result<(), (Code, String)> {
        let result = self.wait();
        let stages = std::mem::take(&mut self.launched);
        result.map_err(|code| (code, stages.join(", ")))
    }
}
