//! All cases of a suite.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, PoisonError};
use std::thread;

use super::machine::SceneRenderer;
use super::report::{Report, Status};
use super::sequential::level_of_case;
use super::suite::{Case, Source, Suite};
use super::{Options, case};

/// Progress of a running suite.
#[derive(Debug, Clone, Copy)]
pub enum Event<'a> {
    /// A case begins.
    Started(&'a Case),
    /// A case has so many samples, of so many at most.
    Sampled(&'a Case, f64, u32),
    /// A case has ended.
    Finished(&'a Case, &'a Report),
}

/// Runs the cases of a suite that `options` choose, in its order, and gives a report for each. A case that panics, and
/// one whose machine fails, fails alone. Each machine renders one scene after the other, since each takes all of it: the first
/// in this thread, others in threads of their own; commands are run by any of the jobs.
pub fn run(
    suite: &Suite,
    cases: &[&Case],
    machines: &mut [&mut (dyn SceneRenderer + 'static)],
    options: &Options<'_>,
) -> Vec<Report> {
    let level = level_of_case(suite.level, suite.cases.len());
    let queue = Queue::new(cases);
    thread::scope(|scope| {
        for _ in 1..options.jobs {
            let work = || {
                while let Some(i) = queue.next(options, is_command) {
                    queue.put(i, guarded(cases[i], level, None, options));
                }
            };
            // Without it, the others have more to do.
            let _ = thread::Builder::new().spawn_scoped(scope, work);
        }
        let Some((first, others)) = machines.split_first_mut() else { return };
        for machine in others {
            let work = || {
                while let Some(i) = queue.next(options, |case| !is_command(case)) {
                    queue.put(i, guarded(cases[i], level, Some(&mut **machine), options));
                }
            };
            let _ = thread::Builder::new().spawn_scoped(scope, work);
        }
        while let Some(i) = queue.next(options, |_| true) {
            queue.put(i, guarded(cases[i], level, Some(&mut **first), options));
        }
    });
    queue.reports(cases)
}

fn is_command(case: &Case) -> bool {
    matches!(case.source, Source::Command { .. })
}

/// Runs a case, and makes a report of a panic, too.
fn guarded(
    case: &Case,
    level: f64,
    machine: Option<&mut (dyn SceneRenderer + 'static)>,
    options: &Options<'_>,
) -> Report {
    (options.observe)(Event::Started(case));
    let observe = |samples, total| (options.observe)(Event::Sampled(case, samples, total));
    // What a panic leaves half done is the case's own, but for the machine, which copes with what it is given.
    let run = AssertUnwindSafe(|| case::run(case, level, machine, options, &observe));
    let report = catch_unwind(run).unwrap_or_else(|panic| {
        let message =
            format!("error: torrance has a bug that this case brings out: {}", said(panic.as_ref()));
        Report::new(&case.name, Status::Error, message)
    });
    (options.observe)(Event::Finished(case, &report));
    report
}

/// The message of a panic.
fn said(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("it does not say what")
}

/// Cases that wait, and reports of those that do not.
struct Queue<'a> {
    waiting: Mutex<Vec<(usize, &'a Case)>>,
    reports: Mutex<Vec<Option<Report>>>,
}

impl<'a> Queue<'a> {
    fn new(cases: &[&'a Case]) -> Self {
        let waiting = cases.iter().copied().enumerate().collect();
        Self { waiting: Mutex::new(waiting), reports: Mutex::new(vec![None; cases.len()]) }
    }

    /// The first case of those that suit; none after an interruption.
    fn next(&self, options: &Options<'_>, suits: impl Fn(&Case) -> bool) -> Option<usize> {
        if (options.is_stopping)() {
            return None;
        }
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let at = waiting.iter().position(|(_, case)| suits(case))?;
        Some(waiting.remove(at).0)
    }

    fn put(&self, index: usize, report: Report) {
        self.reports.lock().unwrap_or_else(PoisonError::into_inner)[index] = Some(report);
    }

    fn reports(self, cases: &[&Case]) -> Vec<Report> {
        let reports = self.reports.into_inner().unwrap_or_else(PoisonError::into_inner);
        let not_run = |case: &Case| Report::new(&case.name, Status::NotRun, "not run: interrupted before");
        reports.into_iter().zip(cases).map(|(r, case)| r.unwrap_or_else(|| not_run(case))).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

    use super::*;
    use crate::assemble::SceneData;
    use crate::regress;
    use crate::render::{Control, Progress, Rendered, Request};
    use crate::{Machine, MachineError};
    use torrance_gpu::backend::Error;
    use torrance_image::film::{self, Format};

    const SCENE: &str = "[render]\nsize = [8, 8]\nspp = 4\n[camera]\nposition = [0, 0, 4]\n\
                         target = [0, 0, 0]\nfov = 40\n[environment]\nradiance = 1\n\
                         [[shapes]]\ntype = \"sphere\"\ncenter = [0, 0, 9]\nmaterial = \"grey\"\n\
                         [materials.grey]\ntype = \"diffuse\"\nreflectance = 0.5\n";

    /// A machine that breaks down at the second scene in one way, at the third in another.
    struct Faulty(usize);

    impl SceneRenderer for Faulty {
        fn name(&self) -> String {
            "faulty".into()
        }

        fn render(
            &mut self,
            scene: &SceneData,
            request: Request<'_>,
            observe: &mut dyn FnMut(&Progress) -> Control,
        ) -> Result<Rendered, MachineError> {
            self.0 += 1;
            match self.0 {
                2 => panic!("a bug of number {}", self.0),
                3 => {
                    let error = Error { doing: "rendering".into(), reason: "an illegal address".into() };
                    Err(MachineError { machine: "cuda:0".into(), error })
                }
                _ => {
                    let mut cpu = Machine::cpu(Some(1)).unwrap();
                    let rendered = cpu.take(scene, request, observe);
                    rendered.map_err(|e| cpu.failed(e))
                }
            }
        }
    }

    /// A suite of so many cases that see nothing but a sky of radiance 1, and its reference.
    fn suite(cases: usize) -> (tempfile::TempDir, Suite) {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let reference = film::Image { width: 8, height: 8, pixels: vec![[1.0; 3]; 64] };
        let encoded =
            film::encode::encode(&reference, Format::Pfm, &Default::default(), &Default::default()).unwrap();
        fs::write(at("sky.pfm"), encoded.bytes).unwrap();
        fs::write(at("scene.toml"), SCENE).unwrap();
        let case = |i| format!("[[case]]\nname = \"{i}\"\nscene = \"scene.toml\"\nreference = \"sky.pfm\"\n");
        fs::write(at("suite.toml"), (0..cases).map(case).collect::<String>()).unwrap();
        let suite = regress::read(&at("suite.toml"), false).unwrap();
        (folder, suite)
    }

    fn options<'a>(
        is_stopping: &'a (dyn Fn() -> bool + Sync),
        observe: &'a (dyn Fn(Event<'_>) + Sync),
    ) -> Options<'a> {
        Options { jobs: 2, keep_images: false, kept: None, output: None, is_stopping, observe }
    }

    #[test]
    fn a_panic_and_a_machine_that_fails_are_of_their_cases_alone() {
        let (_folder, suite) = suite(4);
        let cases: Vec<_> = suite.cases.iter().collect();
        let ended = AtomicUsize::new(0);
        let observe = |event: Event<'_>| {
            ended.fetch_add(usize::from(matches!(event, Event::Finished(..))), Ordering::SeqCst);
        };
        let reports = run(&suite, &cases, &mut [&mut Faulty(0)], &options(&|| false, &observe));
        let found: Vec<_> = reports.iter().map(|r| (r.status, r.headline())).collect();
        assert_eq!(
            found,
            [
                (Status::Passed, "same within bounds of metrics"),
                (Status::Error, "error: torrance has a bug that this case brings out: a bug of number 2"),
                (Status::Error, "error: cuda:0: rendering: an illegal address"),
                (Status::Passed, "same within bounds of metrics"),
            ]
        );
        assert_eq!(ended.into_inner(), 4);
    }

    #[test]
    fn a_reference_of_another_size_is_refused_before_anything_is_rendered() {
        let (folder, suite) = suite(1);
        fs::write(folder.path().join("scene.toml"), SCENE.replace("[8, 8]", "[9, 8]")).unwrap();
        let cases: Vec<_> = suite.cases.iter().collect();
        let mut machine = Faulty(5);
        let reports = run(&suite, &cases, &mut [&mut machine], &options(&|| false, &|_| {}));
        assert_eq!(reports[0].headline(), "error: the image has 9×8 pixels, and the reference 8×8");
        assert_eq!(machine.0, 5, "nothing was rendered");
    }

    #[test]
    fn after_an_interruption_nothing_is_begun() {
        let (_folder, suite) = suite(3);
        let cases: Vec<_> = suite.cases.iter().collect();
        let stopping = AtomicBool::new(false);
        let observe = |event: Event<'_>| {
            if matches!(event, Event::Finished(..)) {
                stopping.store(true, Ordering::SeqCst);
            }
        };
        let is_stopping = || stopping.load(Ordering::SeqCst);
        let reports = run(&suite, &cases, &mut [&mut Faulty(5)], &options(&is_stopping, &observe));
        let statuses: Vec<_> = reports.iter().map(|r| r.status).collect();
        assert_eq!(statuses, [Status::Passed, Status::NotRun, Status::NotRun]);
    }
}
