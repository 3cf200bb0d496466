//! Checks of the buffers that a primitive is called with.

use bytemuck::Pod;
use primitives::{self as kernels, MOST, Ptr};

use super::{Length, Temp};
use crate::backend::{Backend, Buffer, Error};

/// A call of a primitive. The addresses that it gives out are of this back end's memory, which is large enough, and
/// writable if it is to be written.
pub(super) struct Call<'a, B> {
    backend: &'a B,
    doing: &'static str,
}

impl<'a, B: Backend> Call<'a, B> {
    pub(super) fn new(backend: &'a B, doing: &'static str) -> Self {
        Self { backend, doing }
    }

    pub(super) fn error(&self, reason: String) -> Error {
        Error { doing: self.doing.to_owned(), reason }
    }

    /// The address of a buffer that must have `n` elements to read.
    pub(super) fn input<T: Pod + Send + Sync>(
        &self,
        what: &str,
        buffer: &B::Buf<T>,
        n: u32,
    ) -> Result<Ptr<T>, Error> {
        self.input_from(what, buffer, 0, n)
    }

    /// The address of element `start` of a buffer that must have `n` to read from there on.
    pub(super) fn input_from<T: Pod + Send + Sync>(
        &self,
        what: &str,
        buffer: &B::Buf<T>,
        start: u32,
        n: u32,
    ) -> Result<Ptr<T>, Error> {
        if !self.backend.owns(buffer) {
            return Err(self.error(format!("the {what} is memory of another back end")));
        }
        let needed = u64::from(start) + u64::from(n);
        if (buffer.len() as u64) < needed {
            return Err(self.error(format!("the {what} has room for {} of {needed} elements", buffer.len())));
        }
        Ok(Ptr::new(buffer.ptr()).skip(start))
    }

    /// The address of a buffer that must have room for `n` elements to write.
    pub(super) fn output<T: Pod + Send + Sync>(
        &self,
        what: &str,
        buffer: &mut B::Buf<T>,
        n: u32,
    ) -> Result<Ptr<T>, Error> {
        self.output_from(what, buffer, 0, n)
    }

    /// The address of element `start` of a buffer that must have room for `n` to write from there on.
    pub(super) fn output_from<T: Pod + Send + Sync>(
        &self,
        what: &str,
        buffer: &mut B::Buf<T>,
        start: u32,
        n: u32,
    ) -> Result<Ptr<T>, Error> {
        if !buffer.is_writable() {
            return Err(self.error(format!("the {what} is shared with others, who read it")));
        }
        self.input_from(what, buffer, start, n)
    }

    /// How many elements there are, as the kernels take it.
    pub(super) fn length(&self, length: Length<'_, B>) -> Result<kernels::Length, Error> {
        let most = length.most();
        if most > MOST {
            return Err(self.error(format!("{most} elements are more than {MOST}")));
        }
        Ok(match length {
            Length::Host(n) => kernels::Length::host(n),
            Length::Device { count, .. } => {
                kernels::Length::device(self.input("number of elements", count, 1)?, most)
            }
        })
    }

    /// How many numbers an image has.
    pub(super) fn numbers(&self, sizes: [u32; 3]) -> Result<u32, Error> {
        let product = sizes.into_iter().try_fold(1, u32::checked_mul).filter(|n| *n <= MOST);
        product.ok_or_else(|| {
            let [width, height, channels] = sizes;
            self.error(format!(
                "{width} × {height} pixels of {channels} numbers are more than {MOST} numbers"
            ))
        })
    }

    /// The address of temporary memory, of which there must be `bytes` bytes.
    pub(super) fn temp(&self, temp: &mut Temp<B>, bytes: usize) -> Result<Ptr<u8>, Error> {
        if temp.bytes() < bytes {
            return Err(
                self.error(format!("there are {} of {bytes} bytes of temporary memory", temp.bytes()))
            );
        }
        Ok(self.output("temporary memory", temp.buffer(), 0)?.cast())
    }
}
