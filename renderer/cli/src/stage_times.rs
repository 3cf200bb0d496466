//! Where the time of a wavefront went, for people.

use std::fmt;

use renderer::render::StageTimes;
use renderer::render::stage_chart::{occupancy, percent, si};

/// Steps of the curve of live paths in the table.
const STEPS: usize = 48;

/// The table that `--stage-times` prints.
pub(super) struct Table<'a>(pub(super) &'a StageTimes);

impl fmt::Display for Table<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let times = self.0;
        write!(f, "{:<12}{:>8}{:>13}{:>9}", "stage", "runs", "time", "share")?;
        writeln!(f, "{:>11} {:<12}{:>10}{:>14}", "items", "", "a second", "occupancy")?;
        for step in &times.steps {
            let time = format!("{:.2} ms", step.time.as_secs_f64() * 1e3);
            let share = percent(times.share(step));
            write!(f, "{:<12}{:>8}{time:>13}{share:>9}", step.step.name(), step.runs)?;
            let or_none = |x: Option<String>| x.unwrap_or_else(|| "–".to_owned());
            let items = or_none(step.items.map(|n| si(n as f64)));
            let throughput = or_none(step.throughput().map(si));
            let occupancy = or_none(step.occupancy.map(occupancy));
            writeln!(f, "{items:>11} {:<12}{throughput:>10}{occupancy:>14}", step.step.items().name())?;
        }
        let total = format!("{:.2} ms", times.total().as_secs_f64() * 1e3);
        writeln!(f, "{:<20}{total:>13}", "all")?;
        writeln!(f, "bookkeeping (cull, order, sort, compact): {} of that", percent(times.bookkeeping()))?;
        let StageTimes { pool, passes, rounds, paths, curve, .. } = times;
        writeln!(f, "{passes} passes, {rounds} rounds, a pool of {pool} paths")?;
        writeln!(f, "live paths in the {} rounds of a pass of {paths}: {}", curve.len(), steps(curve, *pool))
    }
}

/// A curve of at most [`STEPS`] steps of the mean number of paths, from none to all of the pool.
fn steps(curve: &[u32], pool: u32) -> String {
    const BLOCKS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let n = curve.len().min(STEPS);
    let step = |i: usize| {
        let rounds = &curve[i * curve.len() / n..(i + 1) * curve.len() / n];
        let mean = rounds.iter().map(|x| f64::from(*x)).sum::<f64>() / rounds.len() as f64;
        // Few are not none.
        BLOCKS[(mean / f64::from(pool) * 8.0).round().clamp(1.0, 8.0) as usize]
    };
    (0..n).map(step).collect()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use renderer::render::{Step, StepTime};

    fn times() -> StageTimes {
        let step = |step, milliseconds, items, occupancy| StepTime {
            step,
            runs: 20,
            time: Duration::from_millis(milliseconds),
            items,
            occupancy,
        };
        let steps = vec![
            step(Step::Cull, 10, Some(2_000), None),
            step(Step::Extend, 600, Some(1_200_000_000), Some([0.25; 2])),
            step(Step::Shade, 380, Some(1_200_000_000), Some([0.125, 0.25])),
            step(Step::Connect, 10, None, Some([0.5; 2])),
        ];
        StageTimes { steps, pool: 100, passes: 2, rounds: 18, paths: 250, curve: vec![100, 100, 50, 1] }
    }

    #[test]
    fn people_see_a_table() {
        let text = Table(&times()).to_string();
        let lines: Vec<_> = text.lines().collect();
        let words = |i: usize| lines[i].split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(words(0), "stage runs time share items a second occupancy");
        assert_eq!(words(1), "cull 20 10.00 ms 1.0 % 2.00 k slots 200 k –");
        assert_eq!(words(2), "extend 20 600.00 ms 60.0 % 1.20 G segments 2.00 G 25 %");
        assert_eq!(words(3), "shade 20 380.00 ms 38.0 % 1.20 G segments 3.16 G 12.5–25 %");
        assert_eq!(words(4), "connect 20 10.00 ms 1.0 % – shadow rays – 50 %");
        assert_eq!(words(5), "all 1000.00 ms");
        assert_eq!(lines[6], "bookkeeping (cull, order, sort, compact): 1.0 % of that");
        assert_eq!(lines[7], "2 passes, 18 rounds, a pool of 100 paths");
        assert_eq!(lines[8], "live paths in the 4 rounds of a pass of 250: ██▄▁");
        let widths: Vec<_> = lines[..5].iter().map(|l| l.chars().count()).collect();
        assert!(widths.iter().all(|w| *w == widths[0]), "columns end where their names do:\n{text}");
    }

    #[test]
    fn long_curves_are_shortened() {
        let curve: Vec<_> = (0..1000).map(|i| 1000 - i).collect();
        let text: Vec<_> = steps(&curve, 1000).chars().collect();
        assert_eq!((text.len(), text[0], text[24], text[47]), (STEPS, '█', '▄', '▁'));
        assert_eq!(steps(&[], 7), "");
    }
}
