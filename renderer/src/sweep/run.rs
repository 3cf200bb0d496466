//! Renders the variants of a sweep, on several back ends at once.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
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

/// Renders all scenes, each within its budget. Each back end takes the next one as soon as it is done, in a [`Session`], so that one has work while
/// another waits for its film. `observe` is called after every launch with the scene's index, `take` with every scene that is
/// complete, on other threads and in any order; what is stopped is thrown away.
///
/// # Errors
/// What the machine of a back end says; the others finish the scenes that they have begun.
pub fn render_all<B: Primitives + Send>(
    backends: &mut [&mut B],
    scenes: &[(&SceneData, Budget)],
    options: Options<'_>,
    observe: &(dyn Fn(usize, &Progress) -> Control + Sync),
    take: &(dyn Fn(usize, Rendered) + Sync),
) -> Result<(), Error> {
    let next = AtomicUsize::new(0);
    let pixels = scenes.iter().map(|(scene, _)| scene.width as usize * scene.height as usize).max();
    let at_once = MOST_BYTES / (pixels.unwrap_or(1) * BYTES_PER_PIXEL).max(1);
    let takers = rayon::current_num_threads().min(TAKERS).min(at_once).max(1);
    // As many may wait.
    let (send, receive) = sync_channel(takers.min(at_once.saturating_sub(takers)));
    let receive = Mutex::new(receive);
    let work = |backend: &mut B, send: SyncSender<_>| {
        let mut session = Session::new();
        loop {
            let i = next.fetch_add(1, Ordering::Relaxed);
            let Some((scene, budget)) = scenes.get(i) else { return Ok(()) };
            let mut observe = |progress: &Progress| observe(i, progress);
            let rendered = session.render(backend, scene, *budget, options, &mut observe);
            let rendered = match rendered {
                Ok(rendered) if !rendered.interrupted => rendered,
                stopped => {
                    // Nobody begins another one.
                    next.store(scenes.len(), Ordering::Relaxed);
                    return stopped.map(drop);
                }
            };
            if send.send((i, rendered)).is_err() {
                return Ok(());
            }
        }
    };
    thread::scope(|threads| {
        let workers: Vec<_> = backends
            .iter_mut()
            .map(|backend| {
                let send = send.clone();
                threads.spawn(|| work(backend, send))
            })
            .collect();
        drop(send);
        for _ in 0..takers {
            threads.spawn(|| {
                loop {
                    let taken = receive.lock().unwrap_or_else(|e| e.into_inner()).recv();
                    let Ok((i, rendered)) = taken else { break };
                    take(i, rendered);
                }
            });
        }
        let ended = workers
            .into_iter()
            .map(|worker| worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        ended.fold(Ok(()), Result::and)
    })
}
