//! Renders the variants of a sweep, on several back ends at once.

use std::collections::VecDeque;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use crate::assemble::SceneData;
use crate::backend::Error;
use crate::primitives::Primitives;
use crate::render::{Budget, Control, Options, Progress, Rendered, Session};

/// Threads that take finished renders, at most, while others render.
const TAKERS: usize = 8;
/// Bytes a pixel that a finished render takes, with what is made of it, and bytes that all of them may take.
const BYTES_PER_PIXEL: usize = 160;
const MOST_BYTES: usize = 2 << 30;

/// The scenes that nobody renders yet, by index, and the back ends that take them.
struct Queue(Mutex<(VecDeque<usize>, usize)>);

impl Queue {
    fn new(scenes: usize, backends: usize) -> Self {
        Self(Mutex::new(((0..scenes).collect(), backends)))
    }

    fn lock(&self) -> MutexGuard<'_, (VecDeque<usize>, usize)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next scene. A back end to which there is none leaves.
    fn take(&self) -> Option<usize> {
        let (missing, at_work) = &mut *self.lock();
        let next = missing.pop_front();
        *at_work -= usize::from(next.is_none());
        next
    }

    /// A back end leaves, and its scene to the others; false if there are none.
    fn leave(&self, scene: usize) -> bool {
        let (missing, at_work) = &mut *self.lock();
        *at_work -= 1;
        if *at_work > 0 {
            missing.push_front(scene);
        }
        *at_work > 0
    }

    /// Nobody begins another scene.
    fn clear(&self) {
        self.lock().0.clear();
    }
}

/// Renders all scenes, each within its budget. Each back end takes the next one as soon as it is done, in a [`Session`], so
/// that one has work while another waits for its film. `observe` is called after every launch with the scene's index, `take`
/// with every scene that is complete, on other threads and in any order; what is stopped is thrown away. A back end that
/// fails leaves its scenes to the others.
///
/// # Errors
/// What the machine of the last back end says.
pub fn render_all<B: Primitives + Send>(
    backends: &mut [&mut B],
    scenes: &[(&SceneData, Budget)],
    options: Options<'_>,
    observe: &(dyn Fn(usize, &Progress) -> Control + Sync),
    take: &(dyn Fn(usize, Rendered) + Sync),
) -> Result<(), Error> {
    let pixels = scenes.iter().map(|(scene, _)| scene.width as usize * scene.height as usize).max();
    let at_once = MOST_BYTES / (pixels.unwrap_or(1) * BYTES_PER_PIXEL).max(1);
    let takers = rayon::current_num_threads().min(TAKERS).min(at_once).max(1);
    let queue = Queue::new(scenes.len(), backends.len());
    let work = |backend: &mut B, send: SyncSender<_>| {
        let mut session = Session::new();
        while let Some(i) = queue.take() {
            let (scene, budget) = &scenes[i];
            let mut observe = |progress: &Progress| observe(i, progress);
            let rendered = session.render(backend, scene, *budget, options, &mut observe);
            let rendered = match rendered {
                Ok(rendered) if !rendered.interrupted => rendered,
                // There may not be memory for several.
                Err(_) if queue.leave(i) => return Ok(()),
                stopped => {
                    queue.clear();
                    return stopped.map(drop);
                }
            };
            if send.send((i, rendered)).is_err() {
                break;
            }
        }
        Ok(())
    };
    thread::scope(|threads| {
        // As many may wait.
        let (send, receive) = sync_channel(takers.min(at_once.saturating_sub(takers)));
        let receive = Arc::new(Mutex::new(receive));
        let workers: Vec<_> = backends
            .iter_mut()
            .map(|backend| {
                let send = send.clone();
                threads.spawn(|| work(backend, send))
            })
            .collect();
        drop(send);
        for _ in 0..takers {
            let receive = Arc::clone(&receive);
            threads.spawn(move || {
                loop {
                    let taken = receive.lock().unwrap_or_else(|e| e.into_inner()).recv();
                    let Ok((i, rendered)) = taken else { break };
                    take(i, rendered);
                }
            });
        }
        // Takers alone hold it, so that nobody waits for them if they are gone.
        drop(receive);
        let ended = workers
            .into_iter()
            .map(|worker| worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        ended.fold(Ok(()), Result::and)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scenes_of_a_back_end_that_leaves_are_taken_by_others() {
        let queue = Queue::new(3, 2);
        assert_eq!([queue.take(), queue.take()], [Some(0), Some(1)]);
        assert!(queue.leave(1));
        assert_eq!([queue.take(), queue.take()], [Some(1), Some(2)]);
        assert!(!queue.leave(2), "there is nobody else");
    }

    #[test]
    fn nothing_is_left_to_those_who_are_gone() {
        let queue = Queue::new(2, 2);
        assert_eq!([queue.take(), queue.take(), queue.take()], [Some(0), Some(1), None]);
        assert!(!queue.leave(1));
    }
}
