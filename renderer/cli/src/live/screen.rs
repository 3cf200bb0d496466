//! A thread that shows images.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::Builder;
use std::time::{Duration, Instant};

use torrance_image::film::Image;

/// How long the end of the program may wait for the last image.
const PATIENCE: Duration = Duration::from_secs(10);

/// Shows one image after the other in a thread of its own, so that no render waits for a disk or a viewer. An image that comes while
/// another is being shown waits, and gives way to newer ones.
pub(super) struct Screen {
    name: &'static str,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    next: Option<Arc<Image>>,
    is_busy: bool,
    /// Whether no other image comes.
    is_ending: bool,
    /// Whether nothing is shown any more: it has ended, or failed.
    is_off: bool,
    /// How long the last image took.
    took: Duration,
    /// Why it has failed, for somebody to tell.
    failure: Option<String>,
}

impl Screen {
    /// Shows images as `show` does, until that fails.
    pub(super) fn new(
        name: &'static str,
        mut show: impl FnMut(&Image) -> Result<(), String> + Send + 'static,
    ) -> Self {
        let shared = Arc::<Shared>::default();
        let off = SwitchesOff(Arc::clone(&shared));
        let work = move || {
            while let Some(image) = off.0.next() {
                let begin = Instant::now();
                let shown = show(&image);
                off.0.done(begin.elapsed(), shown);
            }
        };
        let screen = Self { name, shared };
        if let Err(error) = Builder::new().name(name.to_owned()).spawn(work) {
            screen.shared.lock().failure = Some(format!("there is no thread for the {name}: {error}"));
        }
        screen
    }

    /// Whether it would show an image at once.
    pub(super) fn is_free(&self) -> bool {
        let state = self.shared.lock();
        !state.is_off && !state.is_busy && state.next.is_none()
    }

    /// How long the last image took.
    pub(super) fn took(&self) -> Duration {
        self.shared.lock().took
    }

    /// Shows an image as soon as it can.
    pub(super) fn show(&self, image: &Arc<Image>) {
        self.shared.lock().next = Some(Arc::clone(image));
        self.shared.changed.notify_all();
    }

    /// Why it shows nothing any more; only once.
    pub(super) fn failure(&self) -> Option<String> {
        self.shared.lock().failure.take()
    }

    /// Waits until all is shown, but not for long.
    pub(super) fn end(&self) {
        let mut state = self.shared.lock();
        state.is_ending = true;
        self.shared.changed.notify_all();
        let waited = self.shared.changed.wait_timeout_while(state, PATIENCE, |state| !state.is_off);
        let (mut state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        if !state.is_off {
            (state.is_off, state.next) = (true, None);
            let (name, seconds) = (self.name, PATIENCE.as_secs());
            state.failure = Some(format!("the {name} did not take the last image within {seconds} s"));
        }
    }
}

impl Drop for Screen {
    /// No file stays half written.
    fn drop(&mut self) {
        self.end();
    }
}

/// Says that the thread has ended, however that came.
struct SwitchesOff(Arc<Shared>);

impl Drop for SwitchesOff {
    fn drop(&mut self) {
        self.0.lock().is_off = true;
        self.0.changed.notify_all();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next image, once there is one; `None` if there will be none, or nobody wants it.
    fn next(&self) -> Option<Arc<Image>> {
        let waits = |state: &mut State| state.next.is_none() && !state.is_ending && !state.is_off;
        let waited = self.changed.wait_while(self.lock(), waits);
        let mut state = waited.unwrap_or_else(PoisonError::into_inner);
        let next = state.next.take().filter(|_| !state.is_off);
        state.is_busy = next.is_some();
        next
    }

    fn done(&self, took: Duration, shown: Result<(), String>) {
        let mut state = self.lock();
        (state.is_busy, state.took) = (false, took);
        if let Err(failure) = shown {
            // Whoever no longer waits has said so.
            state.failure = Some(failure).filter(|_| !state.is_off);
            state.is_off = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    fn image(value: f32) -> Arc<Image> {
        Arc::new(Image { width: 1, height: 1, pixels: vec![[value; 3]] })
    }

    #[test]
    fn only_the_newest_image_waits() {
        let (begun, begins) = channel();
        let (go_on, may_go_on) = channel::<()>();
        let screen = Screen::new("test", move |image| {
            begun.send(image.pixels[0][0]).unwrap();
            may_go_on.recv().map_err(|e| e.to_string())
        });
        assert!(screen.is_free());
        screen.show(&image(1.0));
        assert_eq!(begins.recv(), Ok(1.0));
        screen.show(&image(2.0));
        screen.show(&image(3.0));
        assert!(!screen.is_free());
        (0..2).for_each(|_| go_on.send(()).unwrap());
        screen.end();
        assert_eq!((begins.try_iter().collect::<Vec<_>>(), screen.failure()), (vec![3.0], None));
    }

    #[test]
    fn a_screen_fails_once() {
        let (begun, begins) = channel();
        let screen = Screen::new("test", move |_| {
            begun.send(()).unwrap();
            Err("broken".to_owned())
        });
        screen.show(&image(1.0));
        begins.recv().unwrap();
        screen.show(&image(2.0));
        screen.end();
        assert_eq!((screen.failure().as_deref(), screen.failure()), (Some("broken"), None));
        assert_eq!((begins.try_recv().is_err(), screen.is_free()), (true, false));
    }
}
