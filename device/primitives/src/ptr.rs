//! Memory that kernels work on.

/// An address in the memory of the machine that runs a kernel. Whoever dereferences it ensures that it is valid.
#[derive(Debug)]
#[repr(transparent)]
pub struct Ptr<T>(*mut T);

impl<T> Clone for Ptr<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Ptr<T> {}

// SAFETY: an address is a number; following it is unsafe, and whoever does so promises not to race.
unsafe impl<T> Send for Ptr<T> {}
// SAFETY: as above.
unsafe impl<T> Sync for Ptr<T> {}

impl<T> Ptr<T> {
    /// No address.
    pub const NULL: Self = Self(core::ptr::null_mut());

    /// An address.
    pub const fn new(address: *mut T) -> Self {
        Self(address)
    }

    /// Whether this is no address.
    #[inline(always)]
    pub fn is_null(self) -> bool {
        self.0.is_null()
    }

    /// The address of element `i`.
    #[inline(always)]
    pub fn at(self, i: u32) -> *mut T {
        self.0.wrapping_add(i as usize)
    }

    /// The elements from `i` on.
    #[inline(always)]
    pub fn skip(self, i: u32) -> Self {
        Self(self.at(i))
    }

    /// The address `n` bytes further on.
    pub const fn bytes(self, n: usize) -> Self {
        Self(self.0.wrapping_byte_add(n))
    }

    /// Reads element `i`, which nothing writes while the kernel runs.
    ///
    /// # Safety
    /// It is there, in global memory.
    #[cfg(target_arch = "nvptx64")]
    #[inline(always)]
    pub(super) unsafe fn load_constant(self, i: u32) -> T
    where
        T: Copy,
    {
        // SAFETY: as the caller promised.
        unsafe { cuda_std::mem::ldg(self.at(i)) }
    }

    /// Reads element `i`.
    ///
    /// # Safety
    /// It is there, in global memory.
    #[cfg(target_arch = "nvptx64")]
    #[inline(always)]
    pub(super) unsafe fn load(self, i: u32) -> T
    where
        T: Copy,
    {
        // SAFETY: as the caller promised.
        unsafe { cuda_std::mem::ld(self.at(i)) }
    }

    /// Writes element `i`.
    ///
    /// # Safety
    /// It is there, in global memory, and this thread's.
    #[cfg(target_arch = "nvptx64")]
    #[inline(always)]
    pub(super) unsafe fn store(self, i: u32, value: T)
    where
        T: Copy,
    {
        // SAFETY: as the caller promised.
        unsafe { cuda_std::mem::st(self.at(i), value) }
    }

    /// The same address, of another type.
    #[inline(always)]
    pub const fn cast<U>(self) -> Ptr<U> {
        Ptr(self.0.cast())
    }

    /// The `n` elements from here on.
    ///
    /// # Safety
    /// They are there, nobody writes them meanwhile, and `'a` ends before they do.
    pub const unsafe fn slice<'a>(self, n: u32) -> &'a [T] {
        if n == 0 {
            return &[];
        }
        // SAFETY: as the caller promised.
        unsafe { core::slice::from_raw_parts(self.0, n as usize) }
    }

    /// The `n` elements from here on, to write.
    ///
    /// # Safety
    /// They are there, nobody else uses them meanwhile, and `'a` ends before they do.
    pub const unsafe fn slice_mut<'a>(self, n: u32) -> &'a mut [T] {
        if n == 0 {
            return &mut [];
        }
        // SAFETY: as the caller promised.
        unsafe { core::slice::from_raw_parts_mut(self.0, n as usize) }
    }
}

/// Number of elements: known to the host, or in the machine's memory, where an earlier kernel has written it.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct Length {
    /// Where the number is; null if it is `most`.
    count: Ptr<u32>,
    /// Upper bound, for which there is room.
    most: u32,
}

impl Length {
    /// A number that the host knows.
    pub const fn host(n: u32) -> Self {
        Self { count: Ptr::NULL, most: n }
    }

    /// The number at `count`, or `most` if that is less.
    pub const fn device(count: Ptr<u32>, most: u32) -> Self {
        Self { count, most }
    }

    /// Upper bound, for which kernels are launched.
    pub const fn most(self) -> u32 {
        self.most
    }

    /// Number of elements.
    ///
    /// # Safety
    /// The address is valid where this runs.
    #[inline(always)]
    pub unsafe fn get(self) -> u32 {
        if self.count.is_null() {
            return self.most;
        }
        // SAFETY: as the caller promised.
        let count = unsafe {
            #[cfg(target_arch = "nvptx64")]
            let count = self.count.load_constant(0);
            #[cfg(not(target_arch = "nvptx64"))]
            let count = self.count.at(0).read();
            count
        };
        if count < self.most { count } else { self.most }
    }
}

/// Four elements that lie side by side, moved in as few instructions as there are.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(16))]
pub struct Quad<T>(pub [T; 4]);
