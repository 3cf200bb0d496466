//! Progress on stderr: a bar on a terminal, now and then a line elsewhere.

use std::io::{self, IsTerminal};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressFinish, ProgressStyle};
use renderer::render::{Budget, NoiseGoal, Progress};
use torrance_scene::limits::MAX_SPP;
use torrance_system::can_start_thread;

use super::{clock, say, say_text};

/// Time between lines where there is no terminal, and before the first.
const LINE_EVERY: Duration = Duration::from_secs(10);

/// Steps of the bar.
pub(super) const STEPS: u64 = 1000;

/// The template of a bar that shows how far things are.
pub(super) const BAR: &str = "[{bar:20}] {wide_msg}";

/// Shows how far things are.
pub(super) struct Display {
    bar: ProgressBar,
    lines: Lines,
    /// Of the image.
    pixels: u64,
}

impl Display {
    /// Shows nothing if `quiet`.
    pub(super) fn new(quiet: bool) -> Self {
        let bar = bar(STEPS, quiet);
        bar.set_style(style("{spinner} {wide_msg}"));
        Self { bar, lines: Lines::new(quiet), pixels: 1 }
    }

    /// Says what is being prepared.
    pub(super) fn phase(&self, what: impl Into<String>) {
        self.bar.set_message(what.into());
        // The first tick comes after this time, so that what is quick shows nothing.
        if can_start_thread() {
            self.bar.enable_steady_tick(Duration::from_millis(250));
        }
    }

    /// Begins to show a render of an image of so many pixels.
    pub(super) fn begin_render(&mut self, pixels: u64) {
        self.pixels = pixels.max(1);
        self.begin_steps();
        self.bar.set_message("first pass");
    }

    /// Shows how far a render is.
    pub(super) fn update(&mut self, progress: &Progress, budget: &Budget) {
        let spp = progress.paths as f64 / self.pixels as f64;
        let done = fraction(spp, progress, budget);
        self.bar.set_position((done * STEPS as f64) as u64);
        if !self.bar.is_hidden() {
            self.bar.set_message(message(spp, progress, budget));
        }
        self.lines.say(|| format!("{:3.0} %, {}", done * 100.0, message(spp, progress, budget)));
    }

    /// Begins to show steps of something.
    pub(super) fn begin_steps(&self) {
        self.bar.set_style(style(BAR));
    }

    /// Shows the step that begins, when a fraction of all is done.
    pub(super) fn step(&mut self, done: f64, elapsed: Duration, what: &str) {
        self.bar.set_position((done * STEPS as f64) as u64);
        let left = match done {
            0.0 => String::new(),
            _ => format!(", about {} left", clock(elapsed.as_secs_f64() * (1.0 - done) / done)),
        };
        let message = format!("{what}{left}");
        self.lines.say(|| format!("{:3.0} %, {message}", done * 100.0));
        self.bar.set_message(message);
    }

    /// Prints text that ends in a newline, above the bar.
    pub(super) fn print(&self, text: &str) {
        self.bar.suspend(|| say_text(text));
    }

    /// Removes the bar.
    pub(super) fn end(self) {
        self.bar.finish_and_clear();
    }
}

/// Lines now and then where there is no terminal, with the time of the last one.
pub(super) struct Lines(Option<Instant>);

impl Lines {
    /// None if `quiet`.
    pub(super) fn new(quiet: bool) -> Self {
        Self((!quiet && !io::stderr().is_terminal()).then(Instant::now))
    }

    /// Says this, if it is time.
    pub(super) fn say(&mut self, line: impl FnOnce() -> String) {
        if let Some(last) = &mut self.0
            && last.elapsed() >= LINE_EVERY
        {
            *last = Instant::now();
            say(line());
        }
    }
}

/// A bar on the terminal, if there is one and not `quiet`.
pub(super) fn bar(steps: u64, quiet: bool) -> ProgressBar {
    let is_hidden = quiet || !io::stderr().is_terminal();
    let target = if is_hidden { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
    ProgressBar::with_draw_target(Some(steps), target).with_finish(ProgressFinish::AndClear)
}

/// The style of a bar.
pub(super) fn style(template: &str) -> ProgressStyle {
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    style.progress_chars("=> ")
}

/// How much of the budget that runs out first is spent. `spp` counts the pass under way in part.
fn fraction(spp: f64, progress: &Progress, budget: &Budget) -> f64 {
    let samples = match (progress.within_bound, budget.noise) {
        // Whatever their number: pixels that are done.
        (Some(within), Some(NoiseGoal::Pixels(goal))) => 100.0 * within / goal.percentile,
        _ => spp / f64::from(progress.spp_target.max(1)),
    };
    let time = budget.time.map_or(0.0, |limit| progress.elapsed.as_secs_f64() / limit.as_secs_f64());
    samples.max(time).min(1.0)
}

fn message(spp: f64, progress: &Progress, budget: &Budget) -> String {
    let elapsed = progress.elapsed.as_secs_f64();
    if let Some(learnt) = progress.learnt {
        let left = if learnt > 0.0 {
            format!(", {} left", clock(elapsed * (1.0 - learnt) / learnt))
        } else {
            String::new()
        };
        return format!("{:.0} % of learning what guides paths{left}", 100.0 * learnt);
    }
    let left = match time_left(spp, progress, budget) {
        Some(seconds) => format!(", {} left", clock(seconds)),
        None => String::new(),
    };
    let within = progress
        .within_bound
        .map(|within| format!(", {:.1} % of the pixels within the bound", 100.0 * within));
    let within = within.unwrap_or_default();
    let spp = match progress.has_rounds {
        true => format!("{:.0}", progress.mean_spp()),
        false => spp_of(progress),
    };
    format!("{spp} spp{within}, {:.1} Mpaths/s, {}{left}", progress.mpaths_per_s(), clock(elapsed))
}

/// `12 of 64`, or `12` where only time counts.
pub(super) fn spp_of(progress: &Progress) -> String {
    // Before every pixel has one, a part of a sample.
    let spp = if progress.spp == 0 && progress.paths > 0 {
        format!("{:.2}", progress.mean_spp())
    } else {
        progress.spp.to_string()
    };
    match progress.spp_target {
        _ if progress.has_rounds => format!("{:.0}", progress.mean_spp()),
        MAX_SPP => spp,
        target => format!("{spp} of {target}"),
    }
}

/// Seconds until samples or time run out, whichever is first; unknown before the first samples.
fn time_left(spp: f64, progress: &Progress, budget: &Budget) -> Option<f64> {
    let elapsed = progress.elapsed.as_secs_f64();
    let is_known = spp > 0.0 && progress.within_bound.is_none();
    let by_samples = is_known.then(|| elapsed / spp * (f64::from(progress.spp_target) - spp).max(0.0));
    let by_time = budget.time.map(|limit| (limit.as_secs_f64() - elapsed).max(0.0));
    by_samples.into_iter().chain(by_time).reduce(f64::min)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(spp: u32, spp_target: u32, seconds: u64) -> Progress {
        Progress {
            spp,
            spp_target,
            paths: u64::from(spp) * 100_000,
            pixels: 100_000,
            elapsed: Duration::from_secs(seconds),
            ..Progress::default()
        }
    }

    #[test]
    fn time_left_is_the_shorter_of_both_budgets() {
        let time = |seconds| Budget { spp: 100, time: Some(Duration::from_secs(seconds)), noise: None };
        let samples = Budget::of_samples(100);
        let left = |spp, budget| time_left(spp, &at(spp as u32, 100, 2), &budget);
        assert_eq!(left(10.0, samples), Some(18.0));
        assert_eq!(left(0.5, samples), Some(398.0), "also before the first pass is done");
        assert_eq!(left(10.0, time(5)), Some(3.0));
        assert_eq!(left(10.0, time(500)), Some(18.0));
        assert_eq!(left(0.0, samples), None);
        assert_eq!(left(0.0, time(1)), Some(0.0));
    }

    #[test]
    fn the_fraction_stays_within_the_bar() {
        let budget = Budget { spp: MAX_SPP, time: Some(Duration::from_secs(4)), noise: None };
        assert_eq!(fraction(10.0, &at(10, MAX_SPP, 1), &budget), 0.25);
        assert_eq!(fraction(10.0, &at(10, MAX_SPP, 9), &budget), 1.0);
        let by_time = message(10.0, &at(10, MAX_SPP, 1), &budget);
        assert_eq!(by_time, "10 spp, 1.0 Mpaths/s, 1.00 s, 3.00 s left");
        let first = message(0.0, &at(0, 8, 0), &Budget::of_samples(8));
        assert_eq!(first, "0 of 8 spp, 0.0 Mpaths/s, 0.00 s");
        let part = Progress { paths: 79_000, ..at(0, 8, 0) };
        assert_eq!(spp_of(&part), "0.79 of 8");
    }
}
