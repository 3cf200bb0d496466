//! Renders the variants of a sweep, on several back ends at once.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
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
    let missing = Mutex::new(VecDeque::from_iter(0..scenes.len()));
    let missing = || missing.lock().unwrap_or_else(PoisonError::into_inner);
    let at_work = AtomicUsize::new(backends.len());
    let work = |backend: &mut B, send: SyncSender<_>| {
        let mut session = Session::new();
        loop {
            let Some(i) = missing().pop_front() else {
                at_work.fetch_sub(1, Ordering::Relaxed);
                return Ok(());
            };
            let (scene, budget) = &scenes[i];
            let mut observe = |progress: &Progress| observe(i, progress);
            let rendered = session.render(backend, scene, *budget, options, &mut observe);
            let rendered = match rendered {
                Ok(rendered) if !rendered.interrupted => rendered,
                // There may not be memory for several.
                Err(_) if at_work.fetch_sub(1, Ordering::Relaxed) > 1 => {
                    missing().push_front(i);
                    return Ok(());
                }
                stopped => {
                    // Nobody begins another one.
                    missing().clear();
                    return stopped.map(drop);
                }
            };
            if send.send((i, rendered)).is_err() {
                return Ok(());
            }
        }
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
