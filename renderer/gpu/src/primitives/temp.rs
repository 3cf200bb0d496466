//! Temporary memory of primitives.

use primitives::Ptr;

use crate::backend::{Backend, Buffer, Error};

/// Pieces begin at multiples of so many bytes.
const ALIGNMENT: usize = 256;

/// Memory that primitives need while they work. Several of the same back end may use it one after the other; it holds
/// nothing between them.
pub struct Temp<B: Backend> {
    words: B::Buf<u64>,
}

impl<B: Backend> Temp<B> {
    /// At least `bytes` bytes.
    ///
    /// # Errors
    /// There is not enough memory.
    pub fn new(backend: &mut B, bytes: usize) -> Result<Self, Error> {
        Ok(Self { words: backend.zeroed("temporary memory of primitives", bytes.div_ceil(8))? })
    }

    /// Memory that is there already, with any content.
    pub fn from_buffer(words: B::Buf<u64>) -> Self {
        Self { words }
    }

    /// How much there is.
    pub fn bytes(&self) -> usize {
        self.words.len() * 8
    }

    /// Makes room for `bytes` bytes, if there is less.
    ///
    /// # Errors
    /// There is not enough memory.
    pub fn reserve(&mut self, backend: &mut B, bytes: usize) -> Result<(), Error> {
        if self.bytes() < bytes {
            *self = Self::new(backend, bytes)?;
        }
        Ok(())
    }

    /// The buffer itself.
    pub(super) fn buffer(&mut self) -> &mut B::Buf<u64> {
        &mut self.words
    }
}

/// Pieces of temporary memory, one after the other. Made twice: from nothing, to know how large they are, and from an
/// address.
pub(super) struct Pieces {
    start: Ptr<u8>,
    bytes: usize,
}

impl Pieces {
    pub(super) fn new(start: Ptr<u8>) -> Self {
        Self { start, bytes: 0 }
    }

    /// Room for `n` elements.
    pub(super) fn take<T>(&mut self, n: usize) -> Ptr<T> {
        const { assert!(align_of::<T>() <= ALIGNMENT) };
        let begin = self.bytes.next_multiple_of(ALIGNMENT);
        self.bytes = begin + n * size_of::<T>();
        Ptr::new(self.start.at(0).wrapping_add(begin).cast())
    }

    /// Bytes up to the end of the last one.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }
}

/// Temporary memory of kernels with decoupled look-back. All of it is zeros at the start.
#[derive(Clone, Copy)]
pub(super) struct LookBackTemp {
    /// Counts tiles.
    pub(super) ticket: Ptr<u32>,
    /// A word or more that each tile publishes.
    pub(super) tiles: Ptr<u64>,
    pub(super) bytes: usize,
}

impl LookBackTemp {
    /// For tiles that publish so many words in all.
    pub(super) fn new(start: Ptr<u8>, words: usize) -> Self {
        let mut pieces = Pieces::new(start);
        let (ticket, tiles) = (pieces.take(1), pieces.take(words));
        Self { ticket, tiles, bytes: pieces.bytes() }
    }
}
