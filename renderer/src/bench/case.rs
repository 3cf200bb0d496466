//! A primitive with its buffers.

use std::ffi::c_void;

use bytemuck::Pod;

use super::Machine;
use crate::backend::{Buffer, Error};
use crate::primitives::{Length, Temp};

/// A primitive that can be run again and again, on the same buffers.
pub(super) trait Prepared<B: Machine> {
    /// Queues it once.
    fn run(&mut self, backend: &mut B) -> Result<(), Error>;
    /// Where its buffers are, inputs first.
    fn addresses(&self) -> Vec<*mut c_void>;
    /// The bytes of its outputs.
    fn results(&self, backend: &mut B) -> Result<Vec<u8>, Error>;
}

/// What buffers a primitive from `I` arrays of `T` to `O` arrays of `U` is given.
pub(super) struct Shape<T, const I: usize, const O: usize> {
    /// Elements.
    pub(super) n: u32,
    /// What its inputs hold.
    pub(super) inputs: [Vec<T>; I],
    /// The lengths of its outputs.
    pub(super) outputs: [u32; O],
    /// Bytes of temporary memory.
    pub(super) temp_bytes: usize,
}

/// Such a primitive, which `run` queues.
pub(super) struct Case<
    B: Machine,
    T: Pod + Send + Sync,
    U: Pod + Send + Sync,
    const I: usize,
    const O: usize,
    R,
> {
    n: u32,
    inputs: [B::Buf<T>; I],
    outputs: [B::Buf<U>; O],
    temp: Temp<B>,
    run: R,
}

impl<B, T, U, const I: usize, const O: usize, R> Case<B, T, U, I, O, R>
where
    B: Machine,
    T: Pod + Send + Sync,
    U: Pod + Send + Sync,
    R: FnMut(&mut B, &[B::Buf<T>; I], &mut [B::Buf<U>; O], Length<'_, B>, &mut Temp<B>) -> Result<(), Error>
        + 'static,
{
    /// Makes the buffers.
    pub(super) fn prepare(
        backend: &mut B,
        shape: Shape<T, I, O>,
        run: R,
    ) -> Result<Box<dyn Prepared<B>>, Error> {
        let inputs = each(shape.inputs, |data| backend.upload("input", &data))?;
        let outputs = each(shape.outputs, |len| backend.zeroed("output", len as usize))?;
        let temp = Temp::new(backend, shape.temp_bytes)?;
        Ok(Box::new(Self { n: shape.n, inputs, outputs, temp, run }))
    }
}

/// `make` of each, or the first error.
fn each<X, Y, const N: usize>(of: [X; N], make: impl FnMut(X) -> Result<Y, Error>) -> Result<[Y; N], Error> {
    let made = of.into_iter().map(make).collect::<Result<Vec<_>, _>>()?;
    made.try_into().map_err(|_| Error { doing: "making buffers".into(), reason: "some are missing".into() })
}

impl<B, T, U, const I: usize, const O: usize, R> Prepared<B> for Case<B, T, U, I, O, R>
where
    B: Machine,
    T: Pod + Send + Sync,
    U: Pod + Send + Sync,
    R: FnMut(&mut B, &[B::Buf<T>; I], &mut [B::Buf<U>; O], Length<'_, B>, &mut Temp<B>) -> Result<(), Error>
        + 'static,
{
    fn run(&mut self, backend: &mut B) -> Result<(), Error> {
        (self.run)(backend, &self.inputs, &mut self.outputs, Length::Host(self.n), &mut self.temp)
    }

    fn addresses(&self) -> Vec<*mut c_void> {
        let inputs = self.inputs.iter().map(|b| b.ptr().cast());
        inputs.chain(self.outputs.iter().map(|b| b.ptr().cast())).collect()
    }

    fn results(&self, backend: &mut B) -> Result<Vec<u8>, Error> {
        let mut bytes = Vec::new();
        for output in &self.outputs {
            bytes.extend_from_slice(bytemuck::cast_slice(&backend.download(output)?));
        }
        Ok(bytes)
    }
}
