//! Chart of a wavefront's stage times: bars of time by stage, and how many paths were under way.

use torrance_plot::chart::{Anchor, Axis, Drawing, Font, MEDIUM, Mark, Panel, Rect, SMALL, Stroke, Theme};

use crate::render::{StageTimes, StepTime};

/// Size of the chart, logical units.
const SIZE: [f64; 2] = [1200.0, 420.0];
/// The inside of the axes around bars, if there is nothing to say of occupancy.
const BARS: Rect = Rect { x: 112.0, y: 116.0, w: 384.0, h: 240.0 };
/// Room for a column of occupancy.
const OCCUPANCY: f64 = 84.0;
/// The inside of the axes around the curve.
const CURVE: Rect = Rect { x: 806.0, y: 116.0, w: 366.0, h: 240.0 };
/// Height of a bar as a part of its row.
const BAR: f64 = 0.64;
/// Columns of numbers: what is in them, and where they end, right of the bars.
const COLUMNS: [(&str, f64); 3] = [("share", 58.0), ("a second", 128.0), ("occupancy", 286.0)];
/// Left edge of the names of items.
const UNITS: f64 = 133.0;

/// A number with three digits and a prefix: `1.23 G`, `45.6 k`, `7`.
pub fn si(x: f64) -> String {
    let (unit, prefix) = [(1e12, " T"), (1e9, " G"), (1e6, " M"), (1e3, " k")]
        .into_iter()
        // What rounds to 1000 has the next prefix.
        .find(|(unit, _)| x >= unit * 0.9995)
        .unwrap_or((1.0, ""));
    let x = x / unit;
    if prefix.is_empty() && x.fract() == 0.0 {
        return format!("{x}");
    }
    let decimals = if x < 9.995 { 2 } else { usize::from(x < 99.95) };
    format!("{x:.decimals$}{prefix}")
}

/// A part of one in percent, to a tenth.
pub fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

/// `25 %`, or `12.5–25 %` for several kernels.
pub fn occupancy([least, most]: [f32; 2]) -> String {
    let [low, high] = [least, most].map(|x| format!("{:.3}", x * 100.0));
    let [low, high] = [&low, &high].map(|text| text.trim_end_matches('0').trim_end_matches('.'));
    if low == high { format!("{low} %") } else { format!("{low}–{high} %") }
}

/// A chart of `times`, called `title`.
pub fn chart(times: &StageTimes, title: &str, theme: Theme) -> Drawing {
    let mut drawing = Drawing::new(SIZE[0], SIZE[1], theme.background);
    let font = |size, color, bold| Font { size, color, bold };
    drawing.text(title, [24.0, 34.0], Anchor::Start, font(15.0, theme.text, true));
    drawing.text(subtitle(times), [24.0, 55.0], Anchor::Start, font(MEDIUM, theme.muted, false));
    bars(&mut drawing, theme, times);
    live_paths(&mut drawing, theme, times);
    drawing
}

fn subtitle(times: &StageTimes) -> String {
    let seconds = times.total().as_secs_f64();
    let took = if seconds < 1.0 { format!("{:.1} ms", seconds * 1e3) } else { format!("{seconds:.2} s") };
    let share = percent(times.bookkeeping());
    format!("{took} in {} rounds, {share} of it for bookkeeping: cull, order, sort and compact", times.rounds)
}

/// The time of each stage, and right of it what it did.
fn bars(drawing: &mut Drawing, theme: Theme, times: &StageTimes) {
    let occupied = times.steps.iter().any(|step| step.occupancy.is_some());
    let frame = if occupied { BARS.inset([0.0, 0.0, OCCUPANCY, 0.0]) } else { BARS };
    let longest = times.steps.iter().map(|step| step.time.as_secs_f64()).fold(0.0, f64::max);
    let (unit, label) = if longest < 1.0 { (1e3, "time, ms") } else { (1.0, "time, s") };
    let x = Axis::from_zero(label, longest * unit, 5);
    let mut y = Axis::linear("", 0.0, 1.0, 1);
    y.ticks.clear();
    Panel::new(drawing, theme, frame, x.clone(), y.clone());
    let row = frame.h / times.steps.len().max(1) as f64;
    for (step, i) in times.steps.iter().zip(0..) {
        let middle = frame.y + (f64::from(i) + 0.5) * row;
        let width = frame.w * x.at(step.time.as_secs_f64() * unit);
        let bar = Rect { x: frame.x, y: middle - 0.5 * BAR * row, w: width, h: BAR * row };
        // Bookkeeping stands apart.
        drawing.fill(bar, theme.series(usize::from(step.step.is_bookkeeping())));
        let font = Font { size: MEDIUM, color: theme.text, bold: false };
        let baseline = middle + 0.36 * MEDIUM;
        drawing.text(step.step.name(), [frame.x - 10.0, baseline], Anchor::End, font);
        figures(drawing, theme, [frame.right(), middle], times, step);
    }
    let mut panel = Panel::over(drawing, theme, frame, x, y);
    panel.axes();
    panel.heading("Time by stage", &[]);
    let font = Font { size: SMALL, color: theme.muted, bold: false };
    for (name, end) in &COLUMNS[..if occupied { 3 } else { 2 }] {
        drawing.text(*name, [frame.right() + end, frame.y - 9.0], Anchor::End, font);
    }
}

/// Draws a stage's figures beside its bar.
fn figures(
    drawing: &mut Drawing,
    theme: Theme,
    [right, middle]: [f64; 2],
    times: &StageTimes,
    step: &StepTime,
) {
    let baseline = middle + 0.36 * SMALL;
    let font = |color| Font { size: SMALL, color, bold: false };
    let throughput = step.throughput().map(si);
    if throughput.is_some() {
        let at = [right + UNITS, baseline];
        drawing.text(step.step.items().name(), at, Anchor::Start, font(theme.muted));
    }
    let texts = [Some(percent(times.share(step))), throughput, step.occupancy.map(occupancy)];
    for (text, (_, end)) in texts.into_iter().zip(COLUMNS) {
        if let Some(text) = text {
            drawing.text(text, [right + end, baseline], Anchor::End, font(theme.text));
        }
    }
}

/// How full the pool was in the rounds of a pass.
fn live_paths(drawing: &mut Drawing, theme: Theme, times: &StageTimes) {
    let StageTimes { curve, pool, paths, .. } = times;
    let rounds = curve.len().max(2) as f64;
    let x = Axis::linear(format!("round of a pass of {} paths", si((*paths).into())), 1.0, rounds, 6);
    let y = Axis::stepped("paths under way, of the pool", 0.0, 1.06, 0.25).percent();
    let shares = || curve.iter().map(|live| f64::from(*live) / f64::from(*pool));
    let points: Vec<_> = shares().zip(1..).map(|(share, round)| (f64::from(round), share)).collect();
    let place = |(round, share): (f64, f64)| {
        [CURVE.x + CURVE.w * x.at(round), CURVE.bottom() - CURVE.h * y.at(share)]
    };
    if let Some((last, _)) = points.last() {
        let corners = std::iter::once((1.0, 0.0)).chain(points.iter().copied()).chain([(*last, 0.0)]);
        let color = theme.series(0).mix(theme.background, 0.82);
        drawing.marks.push(Mark::Area { points: corners.map(place).collect(), color });
    }
    let mut panel = Panel::new(drawing, theme, CURVE, x.clone(), y.clone());
    panel.curve(points, Stroke::solid(theme.series(0), 2.0));
    panel.axes();
    let mean = shares().sum::<f64>() / curve.len().max(1) as f64;
    let heading = format!("Paths under way: {} of {} on average", percent(mean), si((*pool).into()));
    panel.heading(&heading, &[]);
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::render::Step;
    use torrance_plot::chart::ThemeName;

    fn texts(drawing: &Drawing) -> Vec<&str> {
        let marks = drawing.marks.iter();
        marks
            .filter_map(|m| if let Mark::Text { text, .. } = m { Some(text.as_str()) } else { None })
            .collect()
    }

    #[test]
    fn bars_are_as_long_as_stages_took() {
        let step = |step, milliseconds, occupancy| StepTime {
            step,
            runs: 9,
            time: Duration::from_millis(milliseconds),
            items: Some(1_000_000),
            occupancy,
        };
        let mut steps = vec![step(Step::Cull, 50, None), step(Step::Extend, 200, None)];
        let times = |steps| StageTimes {
            steps,
            pool: 1000,
            passes: 1,
            rounds: 9,
            paths: 5000,
            curve: vec![1000, 1000, 500, 250],
        };
        let theme = ThemeName::Light.theme();
        let drawing = chart(&times(steps.clone()), "a scene", theme);
        let widths: Vec<_> = drawing
            .marks
            .iter()
            .filter_map(|m| match m {
                Mark::Area { points, color } => Some((points[1][0] - points[0][0], *color)),
                _ => None,
            })
            .collect();
        assert_eq!([widths[0].1, widths[1].1], [theme.series(1), theme.series(0)], "bookkeeping and work");
        assert!((widths[1].0 - 4.0 * widths[0].0).abs() < 1e-9, "{widths:?}");
        let shown = texts(&drawing);
        for text in ["a scene", "extend", "80.0 %", "5.00 M", "Paths under way: 68.8 % of 1.00 k on average"]
        {
            assert!(shown.contains(&text), "{text}: {shown:?}");
        }
        assert!(!shown.contains(&"occupancy"));

        steps[1].occupancy = Some([0.125, 0.25]);
        let drawing = chart(&times(steps), "a scene", theme);
        assert!(texts(&drawing).contains(&"occupancy") && texts(&drawing).contains(&"12.5–25 %"));
        assert!(drawing.png(600, 210).unwrap().len() > 1000);
    }

    #[test]
    fn nothing_is_drawn_of_nothing() {
        let steps = Vec::new();
        let times = StageTimes { steps, pool: 1, passes: 0, rounds: 0, paths: 0, curve: Vec::new() };
        let drawing = chart(&times, "nothing", ThemeName::Dark.theme());
        assert!(!drawing.marks.iter().any(|m| matches!(m, Mark::Area { .. })));
    }

    #[test]
    fn numbers_have_three_digits() {
        for (x, text) in [
            (0.0, "0"),
            (7.0, "7"),
            (999.0, "999"),
            (999.6, "1.00 k"),
            (1234.0, "1.23 k"),
            (45_678.0, "45.7 k"),
            (999_960_000.0, "1.00 G"),
            (123.4e12, "123 T"),
        ] {
            assert_eq!(si(x), text);
        }
        assert_eq!(occupancy([0.25; 2]), "25 %");
        assert_eq!(occupancy([0.0625, 0.125]), "6.25–12.5 %");
    }
}
