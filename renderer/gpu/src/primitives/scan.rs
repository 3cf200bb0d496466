//! Prefix sums of any associative operator.

use std::marker::PhantomData;

use primitives::scan::{
    AddArgs, Blelloch, BlellochArgs, Bounds, HillisSteeleArgs, LookBackArgs, PartialsArgs, Scannable,
    TileScanArgs, TileSumsArgs, tile, twin,
};
use primitives::{Kernel, Operator, Ptr};

use super::call::Call;
use super::parallel::{self, chunk_len, is_exact};
use super::temp::{LookBackTemp, Pieces};
use super::{Length, Primitives, Temp, Work, kernels};
use crate::backend::Error;
use crate::backend::cuda::Cuda;

/// For each element, combines those before it, or those up to and with it.
#[derive(Debug)]
pub struct Scan<O> {
    bounds: Bounds,
    form: Form,
    operator: PhantomData<fn() -> O>,
}

impl<O> Clone for Scan<O> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<O> Copy for Scan<O> {}

/// How a GPU scans. All give the same results; but sums of `f32` are rounded in another order, and that of
/// [`Form::LookBack`] may differ from one run to the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Form {
    /// In a single pass, by decoupled look-back: reads and writes each element once.
    #[default]
    LookBack,
    /// In three phases: sums of tiles, their scan, tiles. Reads each element twice.
    ThreePhase,
    /// Up-sweep and down-sweep of trees, level by level: work-efficient.
    Blelloch,
    /// log₂ n steps over everything: step-efficient.
    HillisSteele,
}

impl Form {
    /// All algorithms.
    pub const ALL: [Self; 4] = [Self::LookBack, Self::ThreePhase, Self::Blelloch, Self::HillisSteele];
}

impl<O: Scannable> Scan<O> {
    /// A scan.
    pub fn new(bounds: Bounds) -> Self {
        Self { bounds, form: Form::LookBack, operator: PhantomData }
    }

    /// Exclusive scan: over the elements before each one.
    pub fn exclusive() -> Self {
        Self::new(Bounds::Exclusive)
    }

    /// Inclusive scan: over the elements up to and with each one.
    pub fn inclusive() -> Self {
        Self::new(Bounds::Inclusive)
    }

    /// The same scan by another algorithm.
    pub fn in_form(self, form: Form) -> Self {
        Self { form, ..self }
    }

    /// Bytes of temporary memory for at most so many elements.
    pub fn temp_bytes(&self, most: u32) -> usize {
        let start = Ptr::NULL;
        match self.form {
            Form::LookBack => look_back_temp::<O>(start, most).bytes,
            Form::ThreePhase => tiles::<O>(most) as usize * size_of::<O::Value>(),
            Form::Blelloch => levels::<O>(Ptr::NULL, start, most).last().map_or(0, |last| last.bytes),
            Form::HillisSteele => most as usize * size_of::<O::Value>(),
        }
    }

    /// Queues the scan of `input` into `output`.
    ///
    /// # Errors
    /// A buffer is too small, or the machine reports an error.
    pub fn run<B: Primitives>(
        &self,
        backend: &mut B,
        input: &B::Buf<O::Value>,
        output: &mut B::Buf<O::Value>,
        length: Length<'_, B>,
        temp: &mut Temp<B>,
    ) -> Result<(), Error> {
        let call = Call::new(backend, "scanning");
        let most = length.most();
        let work = ScanWork::<O> {
            input: call.input("input", input, most)?,
            output: call.output("output", output, most)?,
            length: call.length(length)?,
            temp: call.temp(temp, self.temp_bytes(most))?,
            scan: *self,
        };
        // SAFETY: the buffers have the room; freeing them waits for the work.
        unsafe { backend.queue(&work) }
    }
}

fn tiles<O: Scannable>(most: u32) -> u32 {
    most.div_ceil(tile::<O::Value>())
}

fn look_back_temp<O: Scannable>(start: Ptr<u8>, most: u32) -> LookBackTemp {
    LookBackTemp::new(start, tiles::<O>(most) as usize * (size_of::<O::Value>() / 4))
}

/// A level of Blelloch's scan.
struct Level<T> {
    /// Which one: 0 is that of the elements.
    level: u32,
    /// How many numbers it has.
    n: u32,
    /// Where their scan goes.
    output: Ptr<T>,
    /// Where the sums of its tiles go. They are what the next level scans, in their place.
    sums: Ptr<T>,
    /// Bytes of temporary memory up to the end of these.
    bytes: usize,
}

/// The levels of Blelloch's scan, of which temporary memory is from `start` on.
fn levels<O: Scannable>(
    output: Ptr<O::Value>,
    start: Ptr<u8>,
    most: u32,
) -> impl Iterator<Item = Level<O::Value>> {
    let mut pieces = Pieces::new(start);
    let (mut level, mut n, mut output) = (0, most, output);
    std::iter::from_fn(move || {
        let tiles = n.div_ceil(Blelloch::<O>::TILE);
        let sums = pieces.take(tiles as usize);
        let this = (n > 0).then_some(Level { level, n, output, sums, bytes: pieces.bytes() });
        (level, n, output) = (level + 1, if tiles > 1 { tiles } else { 0 }, sums);
        this
    })
}

/// As the twin, by chunks: their sums, the scan of these, and the scan of each chunk from there on.
fn scan_chunks<O: Operator>(bounds: Bounds, input: &[O::Value], output: &mut [O::Value], chunk: usize) {
    let sum = |values: &[O::Value]| values.iter().fold(O::IDENTITY, |sum, value| O::combine(sum, *value));
    let chunks: Vec<&[O::Value]> = input.chunks(chunk).collect();
    let mut before = parallel::map(chunks.len(), |k| sum(chunks[k]));
    let sums = before.clone();
    twin::<O>(Bounds::Exclusive, &sums, &mut before);
    parallel::for_each_item(output.chunks_mut(chunk), |k, output| {
        let mut sum = before[k];
        for (x, y) in chunks[k].iter().zip(output.iter_mut()) {
            let next = O::combine(sum, *x);
            *y = if bounds == Bounds::Inclusive { next } else { sum };
            sum = next;
        }
    });
}

struct ScanWork<O: Scannable> {
    input: Ptr<O::Value>,
    output: Ptr<O::Value>,
    length: kernels::Length,
    temp: Ptr<u8>,
    scan: Scan<O>,
}

impl<O: Scannable> Work for ScanWork<O> {
    unsafe fn on_cpu(&self) {
        // SAFETY: as the caller promised; they are two buffers.
        let (input, output) = unsafe {
            let n = self.length.get();
            (self.input.slice(n), self.output.slice_mut(n))
        };
        let chunk = chunk_len(input.len());
        if is_exact::<O>() && chunk < input.len() {
            scan_chunks::<O>(self.scan.bounds, input, output, chunk);
        } else {
            twin::<O>(self.scan.bounds, input, output);
        }
    }

    unsafe fn on_gpu(&self, gpu: &mut Cuda) -> Result<(), Error> {
        // SAFETY: as the caller promised.
        unsafe {
            match self.scan.form {
                Form::LookBack => self.look_back(gpu),
                Form::ThreePhase => self.three_phase(gpu),
                Form::Blelloch => self.blelloch(gpu),
                Form::HillisSteele => self.hillis_steele(gpu),
            }
        }
    }
}

// SAFETY, of every launch below: memory is as the caller of `on_gpu` promised, the temporary memory as large as
// `temp_bytes` says for the form, and the grid as the kernel documents.
impl<O: Scannable> ScanWork<O> {
    unsafe fn look_back(&self, gpu: &mut Cuda) -> Result<(), Error> {
        let &Self { input, output, length, scan: Scan { bounds, .. }, .. } = self;
        let temp = look_back_temp::<O>(self.temp, length.most());
        let args = LookBackArgs { input, output, length, tiles: temp.tiles, ticket: temp.ticket, bounds };
        // SAFETY: as above.
        unsafe {
            gpu.clear(self.temp, temp.bytes)?;
            gpu.launch_primitive::<O::LookBack>(tiles::<O>(length.most()), args)
        }
    }

    unsafe fn three_phase(&self, gpu: &mut Cuda) -> Result<(), Error> {
        let &Self { input, output, length, scan: Scan { bounds, .. }, .. } = self;
        let (tiles, sums) = (tiles::<O>(length.most()), self.temp.cast());
        // SAFETY: as above.
        unsafe {
            gpu.launch_primitive::<O::TileSums>(tiles, TileSumsArgs { input, length, sums })?;
            gpu.launch_primitive::<O::Partials>(tiles.min(1), PartialsArgs { length, sums })?;
            gpu.launch_primitive::<O::TileScan>(tiles, TileScanArgs { input, output, length, sums, bounds })
        }
    }

    unsafe fn blelloch(&self, gpu: &mut Cuda) -> Result<(), Error> {
        let length = self.length;
        let levels = || levels::<O>(self.output, self.temp, length.most());
        for Level { level, n, output, sums, .. } in levels() {
            let (input, bounds) =
                if level == 0 { (self.input, self.scan.bounds) } else { (output, Bounds::Exclusive) };
            let args = BlellochArgs { input, output, length, level, sums, bounds };
            // SAFETY: as above.
            unsafe { gpu.launch_primitive::<O::Blelloch>(n.div_ceil(Blelloch::<O>::TILE), args)? };
        }
        // The last level has one tile, and nothing is before it.
        let others = levels().count().saturating_sub(1);
        for Level { level, n, output, sums, .. } in (0..others).rev().filter_map(|k| levels().nth(k)) {
            let args = AddArgs { output, length, level, sums };
            // SAFETY: as above.
            unsafe { gpu.launch_primitive::<O::Add>(n.div_ceil(<O::Add as Kernel>::BLOCK), args)? };
        }
        Ok(())
    }

    unsafe fn hillis_steele(&self, gpu: &mut Cuda) -> Result<(), Error> {
        let length = self.length;
        // An exclusive scan moves everything by one place first.
        let first = u32::from(self.scan.bounds == Bounds::Exclusive);
        // At least one step more, which moves everything to the output.
        let steps = first + length.most().next_power_of_two().trailing_zeros().max(1);
        let blocks = length.most().div_ceil(<O::HillisSteele as Kernel>::BLOCK);
        let mut from = self.input;
        for step in 0..steps {
            // To and fro, so that the last step writes the output.
            let to = if (steps - step) % 2 == 1 { self.output } else { self.temp.cast() };
            let distance = if step < first { 0 } else { 1 << (step - first) };
            let args = HillisSteeleArgs { from, to, length, distance };
            // SAFETY: as above.
            unsafe { gpu.launch_primitive::<O::HillisSteele>(blocks, args)? };
            from = to;
        }
        Ok(())
    }
}
