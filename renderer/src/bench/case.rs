//! A primitive with its buffers.

use std::ffi::c_void;
use std::ops::{Deref, DerefMut};

use bytemuck::Pod;
use rayon::prelude::*;
use torrance_gpu::backend::{Buffer, Error};
use torrance_gpu::primitives::{Length, Temp};

use super::memory::{allocated, vector};
use super::{MeasureError, TimedBackend};

/// A primitive that can be run repeatedly on the same buffers.
pub(super) trait Prepared<B: TimedBackend> {
    /// Queues it once.
    fn run(&mut self, backend: &mut B) -> Result<(), Error>;
    /// Addresses of its buffers, inputs first.
    fn addresses(&self) -> Vec<*mut c_void>;
    /// The bytes of its outputs.
    fn results(&self, backend: &mut B) -> Result<Vec<u8>, Error>;
}

/// Makes a primitive of `n` elements, which `run` queues.
pub(super) fn prepared<B: TimedBackend, I: Buffers<B>, O: Buffers<B>>(
    backend: &mut B,
    n: u32,
    (inputs, outputs, temp_bytes): (I, O, usize),
    run: impl FnMut(&mut B, &I, &mut O, Length<'_, B>, &mut Temp<B>) -> Result<(), Error> + 'static,
) -> Result<Box<dyn Prepared<B>>, MeasureError> {
    let temp = allocated(backend, temp_bytes, |b| Temp::new(b, temp_bytes))?;
    Ok(Box::new(Case { n, inputs, outputs, temp, run }))
}

struct Case<B: TimedBackend, I, O, R> {
    n: u32,
    inputs: I,
    outputs: O,
    temp: Temp<B>,
    run: R,
}

impl<B, I, O, R> Prepared<B> for Case<B, I, O, R>
where
    B: TimedBackend,
    I: Buffers<B>,
    O: Buffers<B>,
    R: FnMut(&mut B, &I, &mut O, Length<'_, B>, &mut Temp<B>) -> Result<(), Error>,
{
    fn run(&mut self, backend: &mut B) -> Result<(), Error> {
        (self.run)(backend, &self.inputs, &mut self.outputs, Length::Host(self.n), &mut self.temp)
    }

    fn addresses(&self) -> Vec<*mut c_void> {
        let mut addresses = Vec::new();
        self.inputs.addresses(&mut addresses);
        self.outputs.addresses(&mut addresses);
        addresses
    }

    fn results(&self, backend: &mut B) -> Result<Vec<u8>, Error> {
        let mut bytes = Vec::new();
        self.outputs.contents(backend, &mut bytes)?;
        Ok(bytes)
    }
}

/// A buffer, or several.
pub(super) trait Buffers<B: TimedBackend>: 'static {
    /// Adds their addresses.
    fn addresses(&self, to: &mut Vec<*mut c_void>);
    /// Adds their contents.
    fn contents(&self, backend: &mut B, to: &mut Vec<u8>) -> Result<(), Error>;
}

/// A buffer of `T`.
pub(super) struct Array<B: TimedBackend, T: Pod + Send + Sync>(B::Buf<T>);

/// A buffer that holds `data`.
pub(super) fn holding<B: TimedBackend, T: Pod + Send + Sync>(
    backend: &mut B,
    data: Vec<T>,
) -> Result<Array<B, T>, MeasureError> {
    allocated(backend, size_of_val(&data[..]), |b| b.upload("input", &data)).map(Array)
}

/// A buffer of `len` zeros.
pub(super) fn zeros<B: TimedBackend, T: Pod + Send + Sync>(
    backend: &mut B,
    len: u32,
) -> Result<Array<B, T>, MeasureError> {
    let len = len as usize;
    allocated(backend, len.saturating_mul(size_of::<T>()), |b| b.zeroed("output", len)).map(Array)
}

/// Results of `at` for each index below `n`.
pub(super) fn each<T: Send>(n: u32, at: impl Fn(u32) -> T + Send + Sync) -> Result<Vec<T>, MeasureError> {
    let mut all = vector(n)?;
    (0..n).into_par_iter().map(at).collect_into_vec(&mut all);
    Ok(all)
}

impl<B: TimedBackend, T: Pod + Send + Sync> Deref for Array<B, T> {
    type Target = B::Buf<T>;

    fn deref(&self) -> &B::Buf<T> {
        &self.0
    }
}

impl<B: TimedBackend, T: Pod + Send + Sync> DerefMut for Array<B, T> {
    fn deref_mut(&mut self) -> &mut B::Buf<T> {
        &mut self.0
    }
}

impl<B: TimedBackend, T: Pod + Send + Sync> Buffers<B> for Array<B, T> {
    fn addresses(&self, to: &mut Vec<*mut c_void>) {
        to.push(self.0.ptr().cast());
    }

    fn contents(&self, backend: &mut B, to: &mut Vec<u8>) -> Result<(), Error> {
        to.extend_from_slice(bytemuck::cast_slice(&backend.download(&self.0)?));
        Ok(())
    }
}

macro_rules! several {
    ($($X:ident $i:tt),*) => {
        impl<B: TimedBackend, $($X: Buffers<B>),*> Buffers<B> for ($($X,)*) {
            fn addresses(&self, to: &mut Vec<*mut c_void>) {
                $(self.$i.addresses(to);)*
            }

            fn contents(&self, backend: &mut B, to: &mut Vec<u8>) -> Result<(), Error> {
                $(self.$i.contents(backend, to)?;)*
                Ok(())
            }
        }
    };
}
several!(X 0, Y 1);
several!(X 0, Y 1, Z 2);
