//! One pass of a wavefront, step by step, with all that stages read and write taken out and put in between: to run a step on
//! two back ends from the same data and compare what each made of it, or to look at what a stage does.

use std::mem::offset_of;

use bytemuck::{Pod, cast_slice, cast_slice_mut};
use device::film::FilmPixel;
use device::path::wavefront::{ALIGNMENT, Counters, Pool};
use device::path::{MegakernelArgs, WavefrontArgs};
use torrance_gpu::backend::{Backend, Buffer, Error};
use torrance_gpu::primitives::Primitives;

use super::stage_times::Step;
use super::wavefront::{Paths, Wavefront, prepare};
use super::{SampleArgs, Uploaded, no_samples};
use crate::assemble::SceneData;

/// A column of the data that stages work on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DumpedColumn {
    /// Its name: that of a column of the [`Pool`], or of a buffer beside it.
    pub name: &'static str,
    /// Bytes of a row.
    pub bytes: usize,
    /// Its rows, one after the other.
    pub data: Vec<u8>,
}

/// All that stages read and write, but for the scene.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dump {
    /// Its columns, in an order that does not change.
    pub columns: Vec<DumpedColumn>,
}

impl Dump {
    /// The column of a name, which is among those of a wavefront.
    pub fn column(&self, name: &str) -> Option<&DumpedColumn> {
        self.columns.iter().find(|column| column.name == name)
    }

    /// Paths under way in the round whose [`Step::Generate`] was last.
    pub fn live(&self) -> u32 {
        let at = offset_of!(Counters, live);
        let live = self.column(COUNTERS).and_then(|column| column.data.get(at..at + 4));
        live.and_then(|bytes| bytes.try_into().ok()).map_or(0, u32::from_ne_bytes)
    }
}

/// Names of columns that are not the pool's.
const GATHERED: &str = "gathered";
const COUNTERS: &str = "counters";
const FILM: &str = "film";

/// A pass of a wavefront over all pixels of a scene.
pub struct Replay<B: Primitives> {
    wavefront: Wavefront<B>,
    film: B::Buf<FilmPixel>,
    take: MegakernelArgs,
    /// Keeps alive the memory that `take` points to.
    _scene: Uploaded<B>,
}

impl<B: Primitives> Replay<B> {
    /// A pass that takes the first `samples` samples of every pixel, before it begins.
    ///
    /// # Errors
    /// There is not enough memory, or what the machine says.
    pub fn new(backend: &mut B, scene: &SceneData, paths: Paths, samples: u32) -> Result<Self, Error> {
        backend.specialize(scene.features);
        prepare(backend, scene, paths)?;
        let uploaded = Uploaded::new(backend, scene)?;
        let (width, height) = (scene.width, scene.height);
        let film = backend.zeroed("film", width as usize * height as usize)?;
        let invocations = MegakernelArgs::invocations_per_layer(width, height);
        let take = SampleArgs { samples, invocations, ..no_samples(scene, uploaded.view(scene), film.ptr()) };
        let mut wavefront = Wavefront::new(backend, scene, paths, paths.pool.into())?;
        wavefront.hold(backend, &take)?;
        Ok(Self { wavefront, film, take, _scene: uploaded })
    }

    /// The steps of a round, and the end of a pass, that this wavefront has, in their order.
    pub fn steps(&self) -> Vec<Step> {
        Step::all().filter(|step| self.wavefront.does(*step)).collect()
    }

    /// Runs a step of a round, 0 for the first; or the end of the pass, after rounds of which the last had no path.
    ///
    /// # Errors
    /// Errors of the back end.
    ///
    /// # Safety
    /// Steps run in their order, round by round; what is restored between them was dumped at the same place.
    pub unsafe fn run(&mut self, backend: &mut B, step: Step, round: u32) -> Result<(), Error> {
        let mut args = WavefrontArgs { round, ..self.wavefront.args(self.take) };
        if step == Step::Accumulate {
            args.invocations = self.take.invocations;
        }
        // SAFETY: `self` holds what the arguments point to, until the work has ended; the rest is the caller's promise.
        unsafe { self.wavefront.run_step(backend, step, args)? };
        backend.synchronize()
    }

    /// Takes out all that stages read and write.
    ///
    /// # Errors
    /// Errors of the back end.
    pub fn dump(&mut self, backend: &mut B) -> Result<Dump, Error> {
        let paths = WavefrontArgs::paths(&self.take) as usize;
        let mut columns = self.wavefront.pool_columns(backend)?;
        let gathered = aligned_bytes(backend, &self.wavefront.gathered)?;
        let gathered = &gathered[..paths * Paths::BYTES_PER_PATH];
        columns.push(DumpedColumn { name: GATHERED, bytes: Paths::BYTES_PER_PATH, data: gathered.to_vec() });
        for (name, buffer) in self.wavefront.flags() {
            columns.push(dumped(backend, name, buffer)?);
        }
        for (name, buffer) in self.wavefront.numbers() {
            columns.push(dumped(backend, name, buffer)?);
        }
        columns.push(dumped(backend, COUNTERS, &self.wavefront.counters)?);
        columns.push(dumped(backend, FILM, &self.film)?);
        Ok(Dump { columns })
    }

    /// Puts in what was taken out, here or on another back end.
    ///
    /// # Errors
    /// It is of a pass of another size, or what the machine says.
    ///
    /// # Safety
    /// It is of a pass of the same scene with the same paths, in which nobody has changed numbers of slots, paths, pixels,
    /// primitives, instances or families.
    pub unsafe fn restore(&mut self, backend: &mut B, dump: &Dump) -> Result<(), Error> {
        let mut columns = dump.columns.iter();
        let mut next = |name: &str| {
            let wrong = || Error {
                doing: "restoring a pass".to_owned(),
                reason: format!("it has no column \"{name}\" in its place"),
            };
            columns.next().filter(|column| column.name == name).ok_or_else(wrong)
        };
        let slots = self.wavefront.slots();
        let offsets = Pool::offsets(slots);
        let mut pool = vec![0; offsets[Pool::COLUMNS.len()]];
        for (column, offset) in Pool::COLUMNS.iter().zip(offsets) {
            let data = &next(column.name)?.data;
            put(&mut pool[offset..][..slots * column.bytes], data)?;
        }
        restore_aligned(backend, &pool, &mut self.wavefront.pool)?;
        restore_aligned(backend, &next(GATHERED)?.data, &mut self.wavefront.gathered)?;
        for (name, buffer) in self.wavefront.flags() {
            restore(backend, &next(name)?.data, buffer)?;
        }
        for (name, buffer) in self.wavefront.numbers() {
            restore(backend, &next(name)?.data, buffer)?;
        }
        restore(backend, &next(COUNTERS)?.data, &mut self.wavefront.counters)?;
        restore(backend, &next(FILM)?.data, &mut self.film)
    }
}

impl<B: Primitives> Wavefront<B> {
    /// The columns of the pool.
    fn pool_columns(&self, backend: &mut B) -> Result<Vec<DumpedColumn>, Error> {
        let slots = self.slots();
        let pool = aligned_bytes(backend, &self.pool)?;
        let columns = Pool::COLUMNS.iter().zip(Pool::offsets(slots));
        let dumped = columns.map(|(column, offset)| DumpedColumn {
            name: column.name,
            bytes: column.bytes,
            data: pool[offset..][..slots * column.bytes].to_vec(),
        });
        Ok(dumped.collect())
    }
}

/// Bytes up to where what a buffer holds begins: [`super::wavefront::aligned`].
fn padding<B: Backend>(buffer: &B::Buf<u64>) -> usize {
    let start = buffer.ptr().addr();
    start.next_multiple_of(ALIGNMENT) - start
}

/// The bytes of a buffer from where what it holds begins.
fn aligned_bytes<B: Backend>(backend: &mut B, buffer: &B::Buf<u64>) -> Result<Vec<u8>, Error> {
    let words = backend.download(buffer)?;
    Ok(cast_slice(&words)[padding::<B>(buffer)..].to_vec())
}

fn restore_aligned<B: Backend>(backend: &mut B, data: &[u8], buffer: &mut B::Buf<u64>) -> Result<(), Error> {
    let mut bytes = vec![0; buffer.len() * size_of::<u64>()];
    let rest = &mut bytes[padding::<B>(buffer)..];
    let most = data.len().min(rest.len());
    put(&mut rest[..most], data)?;
    restore(backend, &bytes, buffer)
}

/// A buffer as a column, a row for each element.
fn dumped<B: Backend, T: Pod + Send + Sync>(
    backend: &mut B,
    name: &'static str,
    buffer: &B::Buf<T>,
) -> Result<DumpedColumn, Error> {
    let elements = backend.download(buffer)?;
    Ok(DumpedColumn { name, bytes: size_of::<T>(), data: cast_slice(&elements).to_vec() })
}

fn restore<B: Backend, T: Pod + Send + Sync>(
    backend: &mut B,
    data: &[u8],
    buffer: &mut B::Buf<T>,
) -> Result<(), Error> {
    let mut elements = vec![T::zeroed(); buffer.len()];
    put(cast_slice_mut(&mut elements), data)?;
    let copy = backend.upload("what is restored", &elements)?;
    backend.copy(&copy, buffer)
}

/// Copies bytes to where there is room for just as many.
fn put(to: &mut [u8], from: &[u8]) -> Result<(), Error> {
    if to.len() != from.len() {
        let reason = format!("{} bytes do not fit where there is room for {}", from.len(), to.len());
        return Err(Error { doing: "restoring a pass".to_owned(), reason });
    }
    to.copy_from_slice(from);
    Ok(())
}
