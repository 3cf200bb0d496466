//! Large allocations in large pages: trees and meshes are read at random, and of small pages the processor would have to look up
//! one for almost every access.

use std::alloc::{GlobalAlloc, Layout, System};

/// The system's allocator, which asks for large pages for what is large. It is only asked for: where there are none, or where
/// the system has none, memory is as usual.
///
/// ```
/// #[global_allocator]
/// static ALLOCATOR: torrance_system::HugePages = torrance_system::HugePages;
/// # fn main() {}
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct HugePages;

/// Bytes from where on an allocation is large: small ones share pages with others anyway.
const LARGE: usize = 32 << 20;

// SAFETY: all is done by the system's allocator; advice changes nothing about what memory holds.
unsafe impl GlobalAlloc for HugePages {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller promised.
        advised(unsafe { System.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller promised.
        advised(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: as the caller promised.
        unsafe { System.dealloc(memory, layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as the caller promised.
        advised(unsafe { System.realloc(memory, layout, size) }, size)
    }
}

/// Asks for large pages if `memory`, of so many bytes, is large.
fn advised(memory: *mut u8, size: usize) -> *mut u8 {
    #[cfg(target_os = "linux")]
    if size >= LARGE && !memory.is_null() {
        use rustix::mm::{Advice, madvise};

        // From the first whole page on, as the call wants it.
        const PAGE: usize = 1 << 16;
        let skipped = memory.align_offset(PAGE);
        // SAFETY: the range is a part of an allocation, and the advice changes only how the system backs it. It may refuse.
        let _ = unsafe { madvise(memory.add(skipped).cast(), size - skipped, Advice::LinuxHugepage) };
    }
    #[cfg(not(target_os = "linux"))]
    let _ = size;
    memory
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Large and small memory holds what is written to it, also after it has grown.
    #[test]
    fn memory_is_memory() {
        for size in [1, 100, LARGE - 1, LARGE, LARGE + 12345] {
            let layout = Layout::from_size_align(size, 32).unwrap();
            // SAFETY: the layouts are those of the allocation, and all is within its size.
            unsafe {
                let memory = HugePages.alloc_zeroed(layout);
                assert!(memory.cast::<[u8; 32]>().is_aligned());
                assert_eq!((memory.read(), memory.add(size - 1).read()), (0, 0));
                memory.add(size - 1).write(7);
                let grown = HugePages.realloc(memory, layout, 2 * size);
                grown.add(2 * size - 1).write(9);
                assert_eq!(grown.add(size - 1).read(), 7);
                HugePages.dealloc(grown, Layout::from_size_align(2 * size, 32).unwrap());
            }
        }
    }
}
