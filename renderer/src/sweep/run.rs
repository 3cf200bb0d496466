//! Renders the variants of a sweep, on several machines at once.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use torrance_gpu::backend::cpu::Cpu;
use torrance_gpu::backend::{Backend, Error};
use torrance_gpu::primitives::Primitives;

use crate::assemble::SceneData;
use crate::machine::on;
use crate::render::{
    Budget, Checkpoints, Control, Identity, Job, Options, Progress, Rendered, Request, Resumed, Session,
    bytes_wanted,
};
use crate::{Machine, MachineError};

/// Threads that take finished renders, at most, while others render.
const TAKERS: usize = 8;
/// Bytes a pixel that a finished render takes, with what is made of it, and bytes that all of them may take.
const BYTES_PER_PIXEL: usize = 160;
const MOST_BYTES: usize = 2 << 30;

/// The failures of machines that rendered many scenes.
#[derive(Debug, Default)]
pub struct Failures {
    /// Of those that left their scenes to the others.
    pub survived: Vec<MachineError>,
    /// Of the last one: scenes are missing.
    pub fatal: Option<MachineError>,
    /// Why a checkpoint could not be written: that of one scene, if it is several.
    pub checkpoint: Option<String>,
}

/// Renders all scenes, each within its budget. Each machine takes the next one as soon as it is done, and keeps what it has in
/// common with the one before, so that one has work while another waits for its film. Of small images, a CPU renders as many at
/// once as it has threads. `observe` is called after every launch with the scene's index, `take` with every scene that is
/// complete, on other threads and in any order; what is stopped is thrown away, but for its checkpoint. A machine that fails leaves
/// its scenes to the others.
///
/// Of machines of several kinds, only the GPUs render: a CPU would be the last to be done.
pub fn render_all(
    machines: &mut [Machine],
    scenes: &[Scene<'_>],
    options: Options<'_>,
    observe: &(dyn Fn(usize, &Progress) -> Control + Sync),
    take: &(dyn Fn(usize, Rendered) + Sync),
) -> Failures {
    let has_gpu = machines.iter().any(Machine::is_gpu);
    let mut workers: Vec<&mut Machine> = machines.iter_mut().filter(|m| m.is_gpu() == has_gpu).collect();
    let mut small = match &workers[..] {
        [Machine::Cpu(whole), ..] => match filling(whole, scenes) {
            Ok(small) => small,
            Err(error) => {
                let fatal = MachineError { machine: whole.name(), error };
                return Failures { fatal: Some(fatal), ..Failures::default() };
            }
        },
        _ => Vec::new(),
    };
    if !small.is_empty() {
        workers = small.iter_mut().collect();
    }
    let workers = with_room(workers, scenes, options);
    let pixels = scenes.iter().map(|Scene { data, .. }| data.width as usize * data.height as usize).max();
    let at_once = MOST_BYTES / (pixels.unwrap_or(1) * BYTES_PER_PIXEL).max(1);
    let unkept = Mutex::new(None);
    let unwritten = |reason| *unkept.lock().unwrap_or_else(PoisonError::into_inner) = Some(reason);
    let callbacks = Callbacks { observe, unwritten: &unwritten };
    let work = |machine: &mut Machine, desk: Desk<'_, Rendered>| {
        let name = machine.name();
        let done = on!(machine, backend => render_on(backend, &desk, scenes, options, callbacks));
        let named = |error| MachineError { machine: name.clone(), error };
        done.map(|left| left.map(named)).map_err(named)
    };
    let (survived, ended) = share_out(workers, scenes.len(), at_once, &work, take);
    let checkpoint = unkept.into_inner().unwrap_or_else(PoisonError::into_inner);
    Failures { survived, fatal: ended.err(), checkpoint }
}

/// A scene to render.
pub struct Scene<'a> {
    /// The scene.
    pub data: &'a SceneData,
    /// When to stop.
    pub budget: Budget,
    /// Where its checkpoint is kept, and is looked for; with what tells it apart.
    pub checkpoint: Option<(PathBuf, Identity, Duration)>,
}

impl Scene<'_> {
    /// Where its checkpoint is kept.
    fn checkpoints(&self) -> Option<Checkpoints> {
        let (path, identity, every) = self.checkpoint.clone()?;
        Some(Checkpoints::new(path, every, identity))
    }

    /// An earlier run that was not done.
    fn resumed(&self) -> Option<Resumed> {
        let (path, identity, _) = self.checkpoint.as_ref()?;
        Resumed::read(path, identity).ok()
    }
}

/// Those of the machines that have room for their scenes. Of several on one device one alone renders, if its memory has not room
/// for all: two that read the host's memory are slower than one that does not.
fn with_room<'a>(
    machines: Vec<&'a mut Machine>,
    scenes: &[Scene<'_>],
    options: Options<'_>,
) -> Vec<&'a mut Machine> {
    let mut devices: Vec<(String, u64)> = Vec::new();
    let mut has_room = |machine: &mut Machine| {
        let (wanted, room, name) = on!(machine, backend => {
            let wanted =
                scenes.iter().map(|one| bytes_wanted(&*backend, one.data, options, one.budget.spp));
            (wanted.max().unwrap_or(0), backend.room().unwrap_or(u64::MAX), backend.name())
        });
        match devices.iter_mut().find(|(known, _)| *known == name) {
            Some((_, taken)) if taken.saturating_add(wanted) > room => false,
            Some((_, taken)) => {
                *taken += wanted;
                true
            }
            None => {
                devices.push((name, wanted));
                true
            }
        }
    };
    machines.into_iter().filter_map(|machine| has_room(machine).then_some(machine)).collect()
}

/// CPUs that fill the machine where images are too small for all of it: one for each thread. Else none.
fn filling(whole: &Cpu, scenes: &[Scene<'_>]) -> Result<Vec<Machine>, Error> {
    const LARGE: usize = 1 << 12;
    let threads = whole.parallelism();
    let pixels = scenes.first().map_or(0, |one| one.data.width as usize * one.data.height as usize);
    // The last ones leave threads idle, so there have to be several for each.
    if threads < 2 || scenes.len() < 2 * threads || pixels >= LARGE * threads {
        return Ok(Vec::new());
    }
    (0..threads.min(scenes.len())).map(|_| Machine::cpu(Some(1))).collect()
}

/// Who is told what while scenes are rendered.
#[derive(Clone, Copy)]
struct Callbacks<'a> {
    /// How far a scene is, after each of its launches.
    observe: &'a (dyn Fn(usize, &Progress) -> Control + Sync),
    /// Why a checkpoint could not be written.
    unwritten: &'a (dyn Fn(String) + Sync),
}

/// Renders scenes on one back end, in a [`Session`].
fn render_on<B: Primitives>(
    backend: &mut B,
    desk: &Desk<'_, Rendered>,
    scenes: &[Scene<'_>],
    options: Options<'_>,
    Callbacks { observe, unwritten }: Callbacks<'_>,
) -> Result<Option<Error>, Error> {
    let mut session = Session::new();
    desk.work(&mut |i| {
        let scene = &scenes[i];
        let mut observe = |progress: &Progress| observe(i, progress);
        let (checkpoints, resumed) = (scene.checkpoints(), scene.resumed());
        let request = Request::new(scene.budget, options);
        let request = Request { checkpoints: checkpoints.as_ref(), resumed, ..request };
        let rendered = session.render(backend, Job { scene: scene.data, request, observer: &mut observe })?;
        if let Some(checkpoints) = checkpoints {
            checkpoints.end().into_iter().for_each(unwritten);
            if !rendered.interrupted {
                checkpoints.remove();
            }
        }
        Ok((!rendered.interrupted).then_some(rendered))
    })
}

/// Errors of workers that left, and that of the last one.
type Outcome<E> = (Vec<E>, Result<(), E>);

/// Has workers make things, by number, until all are made, and `take` take them on other threads, of which no more than
/// `at_once` are there at a time.
fn share_out<W: Send, T: Send, E: Send>(
    workers: Vec<W>,
    things: usize,
    at_once: usize,
    work: &(impl Fn(W, Desk<'_, T>) -> Result<Option<E>, E> + Sync),
    take: &(dyn Fn(usize, T) + Sync),
) -> Outcome<E> {
    let takers = rayon::current_num_threads().min(TAKERS).min(at_once).max(1);
    let queue = Queue::new(things, workers.len());
    thread::scope(|threads| {
        // As many may wait.
        let (send, receive) = sync_channel(takers.min(at_once.saturating_sub(takers)));
        let receive = Arc::new(Mutex::new(receive));
        let workers: Vec<_> = workers
            .into_iter()
            .map(|worker| {
                let desk = Desk { queue: &queue, send: send.clone() };
                threads.spawn(move || work(worker, desk))
            })
            .collect();
        drop(send);
        for _ in 0..takers {
            let receive = Arc::clone(&receive);
            threads.spawn(move || {
                loop {
                    let taken = receive.lock().unwrap_or_else(|e| e.into_inner()).recv();
                    let Ok((i, thing)) = taken else { break };
                    take(i, thing);
                }
            });
        }
        // Takers alone hold it, so that nobody waits for them if they are gone.
        drop(receive);
        let (mut left, mut ended) = (Vec::new(), Ok(()));
        for worker in workers {
            match worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)) {
                Ok(error) => left.extend(error),
                Err(error) => ended = ended.and(Err(error)),
            }
        }
        (left, ended)
    })
}

/// Where a worker gets what it is to make, and leaves what it has made.
struct Desk<'a, T> {
    queue: &'a Queue,
    send: SyncSender<(usize, T)>,
}

impl<T> Desk<'_, T> {
    /// Makes one thing after another; `make` makes none when it is told to stop. The error of a worker that left its things
    /// to others is no failure.
    fn work(&self, make: &mut dyn FnMut(usize) -> Result<Option<T>, Error>) -> Result<Option<Error>, Error> {
        while let Some(order) = self.queue.take() {
            let made = match make(order.thing) {
                Ok(Some(made)) => made,
                // There may not be memory for several.
                Err(error) if order.leave_to_others() => return Ok(Some(error)),
                stopped => {
                    self.queue.stop();
                    return stopped.map(|_| None);
                }
            };
            if self.send.send((order.thing, made)).is_err() {
                break;
            }
        }
        Ok(None)
    }
}

/// The things to be made, by number, and the workers that make them.
struct Queue {
    state: Mutex<QueueState>,
    changed: Condvar,
}

struct QueueState {
    /// Those that nobody makes yet.
    missing: VecDeque<usize>,
    being_made: usize,
    /// Those that did not fail.
    workers: usize,
    stopped: bool,
}

impl Queue {
    fn new(things: usize, workers: usize) -> Self {
        let state = QueueState { missing: (0..things).collect(), being_made: 0, workers, stopped: false };
        Self { state: Mutex::new(state), changed: Condvar::new() }
    }

    fn lock(&self) -> MutexGuard<'_, QueueState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next thing. While others make the last ones, waits: they may fail.
    fn take(&self) -> Option<Order<'_>> {
        let idle = |state: &mut QueueState| state.missing.is_empty() && state.being_made > 0;
        let mut state = self.changed.wait_while(self.lock(), idle).unwrap_or_else(PoisonError::into_inner);
        let thing = state.missing.pop_front()?;
        state.being_made += 1;
        Some(Order { queue: self, thing })
    }

    /// Nobody begins another thing.
    fn stop(&self) {
        let mut state = self.lock();
        state.missing.clear();
        state.stopped = true;
    }
}

/// A thing that a worker makes, until this is dropped.
struct Order<'a> {
    queue: &'a Queue,
    thing: usize,
}

impl Order<'_> {
    /// A worker leaves, and its thing to the others; false if there are none.
    fn leave_to_others(&self) -> bool {
        let mut state = self.queue.lock();
        state.workers -= 1;
        if state.workers > 0 && !state.stopped {
            state.missing.push_front(self.thing);
        }
        state.workers > 0
    }
}

impl Drop for Order<'_> {
    fn drop(&mut self) {
        self.queue.lock().being_made -= 1;
        self.queue.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;

    use super::*;

    fn error(reason: &str) -> Error {
        Error { doing: "allocating 3 GiB for \"film\"".into(), reason: reason.into() }
    }

    /// Workers that fail for a reason, or do not, each with a first thing before any goes on.
    fn outcome(workers: &[Option<&'static str>]) -> (Vec<usize>, Outcome<Error>) {
        let all_have_one = Barrier::new(workers.len());
        let made = Mutex::new(Vec::new());
        let work = |fails: Option<&str>, desk: Desk<'_, usize>| {
            let mut is_first = true;
            desk.work(&mut |i| {
                if std::mem::take(&mut is_first) {
                    all_have_one.wait();
                }
                fails.map_or(Ok(Some(i)), |reason| Err(error(reason)))
            })
        };
        let take = |i, _| made.lock().unwrap().push(i);
        let outcome = share_out(workers.to_vec(), 5, 4, &work, &take);
        let mut made = made.into_inner().unwrap();
        made.sort_unstable();
        (made, outcome)
    }

    #[test]
    fn a_failure_that_others_make_up_for_is_told() {
        let (made, (left, ended)) = outcome(&[Some("out of memory"), None]);
        assert_eq!((made, left, ended), (vec![0, 1, 2, 3, 4], vec![error("out of memory")], Ok(())));
        assert_eq!(outcome(&[None, None]), (vec![0, 1, 2, 3, 4], (Vec::new(), Ok(()))));
    }

    #[test]
    fn a_failure_of_all_is_one() {
        let (made, (left, ended)) = outcome(&[Some("out of memory"), Some("out of memory")]);
        assert_eq!((made, left, ended), (vec![], vec![error("out of memory")], Err(error("out of memory"))));
    }

    #[test]
    fn the_last_thing_of_one_that_fails_is_made_by_one_that_had_no_more() {
        let failing_has_one = Barrier::new(2);
        let made = Mutex::new(Vec::new());
        let (made, failing_has_one) = (&made, &failing_has_one);
        let work = |fails: bool, desk: Desk<'_, usize>| {
            if fails {
                return desk.work(&mut |_| {
                    failing_has_one.wait();
                    while made.lock().unwrap().len() < 4 {
                        thread::yield_now();
                    }
                    Err(error("out of memory"))
                });
            }
            failing_has_one.wait();
            desk.work(&mut |i| Ok(Some(i)))
        };
        let take = |i, _| made.lock().unwrap().push(i);
        let outcome = share_out(vec![true, false], 5, 4, &work, &take);
        assert_eq!(outcome, (vec![error("out of memory")], Ok(())));
        assert_eq!(made.lock().unwrap().len(), 5);
    }

    #[test]
    fn scenes_of_a_back_end_that_leaves_are_taken_by_others() {
        let queue = Queue::new(3, 2);
        let (first, second) = (queue.take().unwrap(), queue.take().unwrap());
        assert_eq!([first.thing, second.thing], [0, 1]);
        assert!(second.leave_to_others());
        drop(second);
        let (again, third) = (queue.take().unwrap(), queue.take().unwrap());
        assert_eq!([again.thing, third.thing], [1, 2]);
        assert!(!third.leave_to_others(), "there is nobody else");
    }

    #[test]
    fn nothing_is_begun_once_stopped() {
        let queue = Queue::new(2, 2);
        let first = queue.take();
        queue.stop();
        drop(first);
        assert!(queue.take().is_none());
    }
}
