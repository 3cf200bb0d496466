//! Programs that make images: each runs in a process group of its own, and ends with all that it started.

use std::io::{self, PipeReader, Read};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Length of the end of a program's output that is kept, bytes.
const KEPT: usize = 64 << 10;
/// Time between looks at a program.
const POLL: Duration = Duration::from_millis(10);
/// How long to wait for the rest of its output once it has ended: whoever holds on to the pipe longer is a daemon.
const LINGER: Duration = Duration::from_millis(500);

/// How a program ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Ending {
    /// It exited with success.
    Well,
    /// It failed, or a signal that was not ours ended it; a sentence without its subject.
    Badly(String),
    /// It was still running at the deadline.
    TimedOut,
    /// We were asked to stop.
    Stopped,
}

/// The groups that run, which [`kill_all`] ends.
static RUNNING: Mutex<Vec<u32>> = Mutex::new(Vec::new());

/// Runs a program in a folder to its end, or until the deadline, or until `is_stopping`. Gives what it printed, or the end of
/// that, too. If we are killed meanwhile, it ends, and `scratch` is removed.
pub(super) fn run(
    words: &[String],
    (folder, scratch): (&Path, &Path),
    deadline: Instant,
    is_stopping: &dyn Fn() -> bool,
) -> (Ending, String) {
    let Some((program, arguments)) = words.split_first() else {
        return (Ending::Badly("there is no program".into()), String::new());
    };
    match spawn(program, arguments, folder) {
        Ok((child, output)) => {
            let _guard = Guard::new(child.id(), scratch);
            watch(child, output, deadline, is_stopping)
        }
        Err(e) => {
            let reason = match e.kind() {
                io::ErrorKind::NotFound => "no such program".to_owned(),
                _ => e.to_string(),
            };
            (Ending::Badly(format!("{program:?} does not start: {reason}")), String::new())
        }
    }
}

fn spawn(program: &str, arguments: &[String], folder: &Path) -> io::Result<(Child, PipeReader)> {
    let (output, input) = io::pipe()?;
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    // Relative to the folder, not to where we are; a bare name is looked for in PATH.
    let located = if program.contains('/') { folder.canonicalize()?.join(program) } else { program.into() };
    let mut command = Command::new(located);
    command.args(arguments).current_dir(folder).stdin(Stdio::null());
    command.stdout(input.try_clone()?).stderr(input);
    #[cfg(unix)]
    {
        use std::os::unix::process::CommandExt;
        // So that Ctrl-C on the terminal reaches us alone, and that we can end all that the program started.
        command.process_group(0);
    }
    let mut running = running();
    let child = command.spawn()?;
    running.push(child.id());
    Ok((child, output))
}

/// A process that outlives us if we are killed, to end the program that we have started.
struct Guard {
    /// The process, and the pipe that tells it that we are there. `None` where there is no shell.
    #[cfg(unix)]
    process: Option<(Child, io::PipeWriter)>,
}

#[cfg(unix)]
impl Guard {
    /// Waits for our end: then the pipe is closed.
    const SCRIPT: &str = "read -r _; kill -s KILL -- \"-$1\"; rm -rf -- \"$2\"";

    /// Guards a process group and a folder.
    fn new(leader: u32, scratch: &Path) -> Self {
        use std::os::unix::process::CommandExt;
        let start = || -> io::Result<(Child, io::PipeWriter)> {
            let (input, held) = io::pipe()?;
            let mut shell = Command::new("sh");
            shell.args(["-c", Self::SCRIPT, "sh"]).arg(leader.to_string()).arg(scratch);
            shell.stdin(input).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
            Ok((shell.spawn()?, held))
        };
        Self { process: start().ok() }
    }
}

#[cfg(not(unix))]
impl Guard {
    fn new(_: u32, _: &Path) -> Self {
        Self {}
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        #[cfg(unix)]
        if let Some((shell, _held)) = &mut self.process {
            // Before the pipe is closed.
            let _ = shell.kill();
            let _ = shell.wait();
        }
    }
}

fn running() -> MutexGuard<'static, Vec<u32>> {
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}

fn watch(
    mut child: Child,
    output: PipeReader,
    deadline: Instant,
    is_stopping: &dyn Fn() -> bool,
) -> (Ending, String) {
    let tail = Arc::new(Mutex::new(Tail::default()));
    let reader = thread::spawn({
        let tail = Arc::clone(&tail);
        move || read(output, &tail)
    });
    let cut_short = loop {
        match has_ended(&mut child) {
            Ok(true) => break None,
            Ok(false) if is_stopping() => break Some(Ending::Stopped),
            Ok(false) if Instant::now() >= deadline => break Some(Ending::TimedOut),
            Ok(false) => thread::sleep(POLL),
            Err(e) => break Some(Ending::Badly(format!("cannot be waited for: {e}"))),
        }
    };
    // And what it left behind in its group.
    let mut list = running();
    kill_group(child.id());
    list.retain(|id| *id != child.id());
    drop(list);
    let ended = match (cut_short, child.wait()) {
        (Some(ended), _) => ended,
        (None, Ok(status)) => how(status),
        (None, Err(e)) => Ending::Badly(format!("cannot be waited for: {e}")),
    };
    let limit = Instant::now() + LINGER;
    while !reader.is_finished() && Instant::now() < limit {
        thread::sleep(Duration::from_millis(1));
    }
    let text = tail.lock().unwrap_or_else(PoisonError::into_inner).text();
    (ended, text)
}

fn how(status: ExitStatus) -> Ending {
    if status.success() {
        return Ending::Well;
    }
    #[cfg(unix)]
    {
        use std::os::unix::process::ExitStatusExt;
        if let Some(signal) = status.signal() {
            return Ending::Badly(format!("the command was ended by {}", signal_name(signal)));
        }
    }
    match status.code() {
        Some(code) => Ending::Badly(format!("the command ended with exit code {code}")),
        None => Ending::Badly(format!("the command ended: {status}")),
    }
}

#[cfg(unix)]
fn signal_name(signal: i32) -> String {
    // As POSIX systems on x86-64 and aarch64 number them.
    let name = match signal {
        4 => "SIGILL",
        6 => "SIGABRT",
        7 => "SIGBUS",
        8 => "SIGFPE",
        9 => "SIGKILL",
        11 => "SIGSEGV",
        15 => "SIGTERM",
        _ => return format!("signal {signal}"),
    };
    format!("signal {signal} ({name})")
}

/// Ends every program that runs, for a program of our own that is about to exit at once.
pub fn kill_all() {
    for id in running().drain(..) {
        kill_group(id);
    }
}

/// Whether a program has ended. It keeps its id, which is its group's, until it is waited for: nobody else has that id when
/// the group is killed.
#[cfg(unix)]
fn has_ended(child: &mut Child) -> io::Result<bool> {
    use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    Ok(waitid(WaitId::Pid(Pid::from_child(child)), options)?.is_some())
}

#[cfg(not(unix))]
fn has_ended(child: &mut Child) -> io::Result<bool> {
    child.try_wait().map(|status| status.is_some())
}

#[cfg(unix)]
fn kill_group(leader: u32) {
    use rustix::process::{Pid, Signal, kill_process_group};
    if let Some(leader) = i32::try_from(leader).ok().and_then(Pid::from_raw).filter(|id| !id.is_init()) {
        // Fails where nobody is left.
        let _ = kill_process_group(leader, Signal::KILL);
    }
}

#[cfg(not(unix))]
fn kill_group(_leader: u32) {}

/// The end of a program's output.
#[derive(Debug, Default)]
struct Tail {
    bytes: Vec<u8>,
    dropped: u64,
}

impl Tail {
    fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        // Seldom, so that each byte is moved once or twice.
        if self.bytes.len() > 2 * KEPT {
            self.cut();
        }
    }

    fn cut(&mut self) {
        let excess = self.bytes.len().saturating_sub(KEPT);
        self.bytes.drain(..excess);
        self.dropped += excess as u64;
    }

    fn text(&mut self) -> String {
        self.cut();
        let text = String::from_utf8_lossy(&self.bytes);
        match self.dropped {
            0 => text.into_owned(),
            n => format!("[{n} bytes before this are left out]\n{text}"),
        }
    }
}

fn read(mut output: PipeReader, tail: &Mutex<Tail>) {
    let mut buffer = [0; 8192];
    loop {
        match output.read(&mut buffer) {
            Ok(0) => return,
            Ok(n) => tail.lock().unwrap_or_else(PoisonError::into_inner).push(&buffer[..n]),
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return,
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn sh(script: &str, limit: Duration) -> (Ending, String) {
        let words = ["sh", "-c", script].map(str::to_owned);
        run(&words, nowhere(), Instant::now() + limit, &|| false)
    }

    /// No folder, and nothing to remove.
    fn nowhere() -> (&'static Path, &'static Path) {
        (Path::new(""), Path::new("/nothing"))
    }

    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn programs_end_in_their_ways() {
        assert_eq!(sh("echo out; echo err >&2", LONG), (Ending::Well, "out\nerr\n".into()));
        let (ended, _) = sh("exit 3", LONG);
        assert_eq!(ended, Ending::Badly("the command ended with exit code 3".into()));
        let (ended, _) = sh("kill -s SEGV $$", LONG);
        assert_eq!(ended, Ending::Badly("the command was ended by signal 11 (SIGSEGV)".into()));
        let nothing = ["no-such-program-at-all".to_owned()];
        let (ended, _) = run(&nothing, nowhere(), Instant::now() + LONG, &|| false);
        let expected = "\"no-such-program-at-all\" does not start: no such program";
        assert_eq!(ended, Ending::Badly(expected.into()));
    }

    /// Whatever it started ends with it, and what it printed until then is kept.
    #[test]
    fn one_that_hangs_is_ended_with_its_children() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("woke");
        let script = format!("(sleep 1; echo > {}) & echo waiting; wait; sleep 50", file.display());
        let start = Instant::now();
        let (ended, log) = sh(&script, Duration::from_millis(300));
        assert_eq!((ended, log.as_str()), (Ending::TimedOut, "waiting\n"));
        assert!(start.elapsed() < Duration::from_secs(20));
        thread::sleep(Duration::from_millis(1200));
        assert!(!file.exists(), "what it started still ran");
    }

    #[test]
    fn one_is_stopped_on_request() {
        let words = ["sleep", "50"].map(str::to_owned);
        let (ended, _) = run(&words, nowhere(), Instant::now() + LONG, &|| true);
        assert_eq!(ended, Ending::Stopped);
    }

    /// Else, when its group is killed, a program that has got its id in between would be.
    #[test]
    fn one_that_has_ended_keeps_its_id_until_its_group_is_killed() {
        let (mut child, _output) = spawn("true", &[], Path::new("")).unwrap();
        while !has_ended(&mut child).unwrap() {
            thread::sleep(POLL);
        }
        assert!(has_ended(&mut child).unwrap(), "it is still there to be asked");
        let id = rustix::process::Pid::from_child(&child);
        assert_eq!(rustix::process::getpgid(Some(id)), Ok(id));
        running().retain(|id| *id != child.id());
        assert!(child.wait().unwrap().success());
        assert!(rustix::process::getpgid(Some(id)).is_err(), "control: now it is gone");
    }

    #[test]
    fn what_is_kept_of_the_output_is_bounded() {
        let (ended, log) = sh("head -c 3000000 /dev/zero | tr '\\0' x; echo end", LONG);
        assert_eq!(ended, Ending::Well);
        assert!(log.starts_with("[2934468 bytes before this are left out]\nxx"), "{}", &log[..60]);
        assert!(log.ends_with("xend\n") && log.len() < KEPT + 100);
    }
}
