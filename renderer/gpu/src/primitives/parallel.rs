//! Primitives on the threads of a CPU.
//!
//! Their work is split into chunks, and the results put together to the bits of the sequential twins in `device`. Where a
//! twin rounds, its order is kept: sums of `f32` are made by the twin itself, on one thread.

use std::any::TypeId;
use std::ops::Range;
use std::sync::{Mutex, OnceLock, PoisonError};

use rayon::prelude::*;

use super::{Mean, Sum};

/// Elements that a chunk has at least: fewer take a thread less time than it takes to wake it.
const LEAST: usize = 1 << 14;

/// Chunks for each thread: some, so that none waits for long while another is interrupted.
const CHUNKS_PER_THREAD: usize = 4;

/// Calls `task` with each index below `n`, on the threads of the pool. It is not generic, so that the threads' machinery is
/// compiled once, and not for every primitive of every element.
pub(super) fn for_each(n: usize, task: &(dyn Fn(usize) + Sync)) {
    (0..n).into_par_iter().for_each(task);
}

/// The results of `task` for each index below `n`.
pub(super) fn map<R: Send + Sync>(n: usize, task: impl Fn(usize) -> R + Sync) -> Vec<R> {
    let results: Vec<OnceLock<R>> = (0..n).map(|_| OnceLock::new()).collect();
    for_each(n, &|i| {
        let _ = results[i].set(task(i));
    });
    let results: Vec<R> = results.into_iter().filter_map(OnceLock::into_inner).collect();
    assert_eq!(results.len(), n, "a task was not run");
    results
}

/// Calls `task` with each item and its index.
pub(super) fn for_each_item<T: Send>(
    items: impl IntoIterator<Item = T>,
    task: impl Fn(usize, &mut T) + Sync,
) {
    let items: Vec<Mutex<T>> = items.into_iter().map(Mutex::new).collect();
    for_each(items.len(), &|i| task(i, &mut items[i].lock().unwrap_or_else(PoisonError::into_inner)));
}

/// Elements of a chunk of so many, at least one: all of them if there is one thread.
pub(super) fn chunk_len(n: usize) -> usize {
    match rayon::current_num_threads() {
        1 => n.max(1),
        threads => n.div_ceil(threads * CHUNKS_PER_THREAD).max(LEAST),
    }
}

/// The chunks of so many elements, by their indices; none of nothing.
pub(super) fn chunks(n: u32) -> Vec<Range<u32>> {
    let len = u32::try_from(chunk_len(n as usize)).unwrap_or(u32::MAX);
    (0..n.div_ceil(len)).map(|i| i * len..n.min((i + 1).saturating_mul(len))).collect()
}

/// Numbers of each chunk, replaced by the sum of those before. Returns the sum of all.
pub(super) fn starts(counts: &mut [u32]) -> u32 {
    counts.iter_mut().fold(0, |before, count| before + std::mem::replace(count, before))
}

/// Whether the elements may be combined in any grouping, because nothing is rounded.
pub(super) fn is_exact<O: 'static>() -> bool {
    ![TypeId::of::<Sum<f32>>(), TypeId::of::<Mean>()].contains(&TypeId::of::<O>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::primitives::{Affine, Max, Min};

    fn with_threads<T: Send>(threads: usize, f: impl FnOnce() -> T + Send) -> T {
        rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(f)
    }

    #[test]
    fn chunks_are_everything_once() {
        let least = LEAST as u32;
        for n in [0, 1, least, least + 1, 3 * least - 1, 40 * least, u32::MAX] {
            for threads in [1, 2, 5] {
                let all = with_threads(threads, || chunks(n));
                assert_eq!(all.iter().map(|chunk| chunk.len()).sum::<usize>(), n as usize);
                assert!(all.is_empty() || all[0].start == 0);
                assert!(all.windows(2).all(|pair| pair[0].end == pair[1].start && !pair[1].is_empty()));
                assert!(all.len() <= CHUNKS_PER_THREAD * threads && (threads > 1 || all.len() <= 1));
            }
        }
    }

    #[test]
    fn sums_of_floats_are_rounded() {
        assert!(!is_exact::<Sum<f32>>() && !is_exact::<Mean>());
        assert!(is_exact::<Sum<u32>>() && is_exact::<Min<f32>>() && is_exact::<Max<f32>>());
        assert!(is_exact::<Affine>());
    }
}
