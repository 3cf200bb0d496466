//! Limits that the system sets, memory and threads that this process may have, and panics of others.
//!
//! In: nothing. Out: bytes that are available, and a pool of as many threads as could be started. What needs much memory asks
//! here first, so that it is refused with a sentence rather than ended by the system.
//!
//! ```
//! use torrance_system::{available_memory, start_pool};
//!
//! let fits = available_memory().is_none_or(|bytes| bytes > 1 << 20);
//! assert!(fits, "a MiB is there");
//! assert!(start_pool(Some(2)) <= 2);
//! ```

mod huge_pages;
mod memory;
mod panics;
mod threads;

pub use huge_pages::HugePages;
pub use memory::available_memory;
pub use panics::caught;
pub use threads::{MOST_THREADS, can_start_thread, start_pool, thread_pool};
