//! Interruption: the first signal ends a render early, the second ends the program.

use std::io::{self, IsTerminal};
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::{Duration, Instant};

use renderer::regress::kill_all;
use torrance_image::film::write::discard_unfinished;

use super::{INTERRUPTED, say, warn};

/// There is nothing yet that would be worth keeping: a signal ends the program.
const SETTING_UP: u8 = 0;
/// A signal asks the render to stop.
const RENDERING: u8 = 1;
/// The render was asked to stop.
const STOPPING: u8 = 2;
/// The user is asked something: a signal ends the program.
const ASKING: u8 = 3;

static STATE: AtomicU8 = AtomicU8::new(SETTING_UP);

/// Signals within this time are one: `timeout` and other wrappers signal the process, and then its group.
const TOGETHER: Duration = Duration::from_millis(500);

/// Effect of a signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Action {
    /// Ends the program; there is nothing to keep.
    Quit,
    /// Asks the render to stop.
    Stop,
    /// Nothing: it repeats the one before.
    Ignore,
}

/// The effect of a signal that arrives this long after the one that stopped the render.
fn action(state: u8, since_stop: Option<Duration>) -> Action {
    match state {
        RENDERING => Action::Stop,
        STOPPING if since_stop.is_some_and(|t| t < TOGETHER) => Action::Ignore,
        _ => Action::Quit,
    }
}

/// Catches SIGINT (Ctrl-C), SIGTERM and SIGHUP from here on.
pub(super) fn catch(quiet: bool) {
    let hang_up_ignored = unix::is_hang_up_ignored();
    let mut stopped = None::<Instant>;
    // The handler runs in a thread of its own, one signal after the other.
    let caught = ctrlc::set_handler(move || {
        let state = STATE.load(Ordering::SeqCst);
        match action(state, stopped.map(|at| at.elapsed())) {
            Action::Ignore => {}
            Action::Stop => {
                STATE.store(STOPPING, Ordering::SeqCst);
                stopped = Some(Instant::now());
                if !quiet {
                    let bar = below_bar();
                    say(format_args!(
                        "{bar}interrupted: stopping here; interrupt again to quit without writing"
                    ));
                }
            }
            Action::Quit => {
                discard_unfinished();
                kill_all();
                if !quiet {
                    let what = match state {
                        STOPPING => "interrupted again: quit",
                        ASKING => "interrupted: nothing more was written",
                        _ => "interrupted: nothing was written",
                    };
                    say(format_args!("{}{what}", below_bar()));
                }
                std::process::exit(INTERRUPTED.into());
            }
        }
    });
    if let Err(e) = caught {
        warn(format_args!("Ctrl-C will end the program without writing an image: {e}"));
    }
    if hang_up_ignored {
        // Started by `nohup`, so as to outlive its terminal.
        unix::ignore_hang_up();
    }
}

/// On a terminal, messages go below the progress bar and the ^C that the terminal shows.
fn below_bar() -> &'static str {
    if io::stderr().is_terminal() { "\n" } else { "" }
}

/// From here on a signal stops the render rather than the program.
pub(super) fn begin_render() {
    // A signal that came earlier has ended the program.
    STATE.store(RENDERING, Ordering::SeqCst);
}

/// From here on, until [`begin_render`], a signal ends the program, which waits for an answer.
pub(super) fn begin_question() {
    // A render that was asked to stop stays so.
    let _ = STATE.compare_exchange(RENDERING, ASKING, Ordering::SeqCst, Ordering::SeqCst);
}

/// Whether a signal asked the render to stop.
pub(super) fn is_stopping() -> bool {
    STATE.load(Ordering::SeqCst) == STOPPING
}

pub(super) use unix::survive_file_size_limit;

#[cfg(unix)]
mod unix {
    use nix::sys::signal::{SigHandler, Signal, signal};

    fn ignore(which: Signal) -> nix::Result<SigHandler> {
        // SAFETY: ignoring a signal runs no code of ours.
        unsafe { signal(which, SigHandler::SigIgn) }
    }

    /// Asked before a handler is set. The signal is lost if it comes just then, as it would have been before.
    pub(super) fn is_hang_up_ignored() -> bool {
        match ignore(Signal::SIGHUP) {
            Ok(SigHandler::SigIgn) => true,
            Ok(before) => {
                // SAFETY: the action is the one that was in force.
                let _ = unsafe { signal(Signal::SIGHUP, before) };
                false
            }
            Err(_) => false,
        }
    }

    pub(super) fn ignore_hang_up() {
        let _ = ignore(Signal::SIGHUP);
    }

    /// Makes writes beyond a file size limit (`ulimit -f`) fail with an error, which is reported, rather than kill
    /// the program by SIGXFSZ, which would leave a temporary file behind.
    pub(in super::super) fn survive_file_size_limit() {
        let _ = ignore(Signal::SIGXFSZ);
    }
}

#[cfg(not(unix))]
mod unix {
    pub(super) fn is_hang_up_ignored() -> bool {
        false
    }
    pub(super) fn ignore_hang_up() {}
    pub(in super::super) fn survive_file_size_limit() {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_signal_stops_and_a_later_one_quits() {
        let (soon, later) = (Some(Duration::from_millis(1)), Some(Duration::from_secs(1)));
        assert_eq!(action(SETTING_UP, None), Action::Quit);
        assert_eq!(action(RENDERING, None), Action::Stop);
        assert_eq!(action(STOPPING, soon), Action::Ignore);
        assert_eq!(action(STOPPING, later), Action::Quit);
    }
}
