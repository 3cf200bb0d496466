//! Throughput against length.

use std::collections::BTreeMap;

use torrance_plot::chart::{Anchor, Axis, Drawing, Entry, Font, Panel, Rect, Sign, Stroke, Theme};

use super::PrimitiveTiming;

/// Which panel shows a primitive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Family {
    /// Copies and other moves of elements, whatever their values.
    Memory,
    /// Reductions to one value, or to few.
    Reductions,
    /// Prefix sums.
    Scans,
    /// Selections and partitions.
    Selections,
    /// Sorts.
    Sorts,
    /// Image filters.
    Images,
    /// Sums of all rectangles of an image.
    Tables,
}

impl Family {
    fn title(self) -> &'static str {
        match self {
            Self::Memory => "copies",
            Self::Reductions => "reductions",
            Self::Scans => "scans",
            Self::Selections => "selections",
            Self::Sorts => "sorts",
            Self::Images => "images",
            Self::Tables => "summed-area tables",
        }
    }
}

/// Width of a panel with its axes, logical units.
const WIDTH: f64 = 560.0;
/// Height of a panel with its axes and its legend, logical units.
const HEIGHT: f64 = 420.0;
/// Above the panels.
const HEAD: f64 = 44.0;

/// A chart of `measured` on `machine`: a panel for each family, a curve for each primitive, dashed the baseline's.
pub fn chart(measured: &[PrimitiveTiming], machine: &str, baseline: Option<&str>, theme: Theme) -> Drawing {
    let mut families: BTreeMap<Family, Vec<&PrimitiveTiming>> = BTreeMap::new();
    for m in measured {
        families.entry(m.family).or_default().push(m);
    }
    let columns = families.len().clamp(1, 2);
    let rows = families.len().div_ceil(columns).max(1);
    let (width, height) = (columns as f64 * WIDTH, HEAD + rows as f64 * HEIGHT);
    let mut drawing = Drawing::new(width, height, theme.background);
    let title = match baseline {
        Some(baseline) => format!("{machine}; dashed: {baseline}"),
        None => machine.to_owned(),
    };
    let font = Font { size: 14.0, color: theme.text, bold: true };
    drawing.text(title, [20.0, 28.0], Anchor::Start, font);
    let cells = drawing.frame().inset([0.0, HEAD, 0.0, 0.0]).grid(columns, rows, (0.0, 0.0));
    for ((family, measured), cell) in families.iter().zip(cells) {
        panel(&mut drawing, theme, cell.inset([70.0, 62.0, 18.0, 52.0]), (*family, measured));
    }
    drawing
}

fn panel(
    drawing: &mut Drawing,
    theme: Theme,
    frame: Rect,
    (family, measured): (Family, &[&PrimitiveTiming]),
) {
    let mut names: Vec<&str> = Vec::new();
    for m in measured {
        if !names.contains(&m.name) {
            names.push(m.name);
        }
    }
    let throughputs = measured.iter().flat_map(|m| [Some(m.throughput()), theirs(m)]).flatten();
    let (least, most) = range(throughputs.map(|t| t * 1e-9));
    let (shortest, longest) = range(measured.iter().map(|m| f64::from(m.n)));
    let x = Axis::decades("elements", shortest, longest);
    let y = Axis::decades("10⁹ elements a second", least, most);
    let mut panel = Panel::new(drawing, theme, frame, x, y);
    let mut entries = Vec::new();
    for (i, name) in names.iter().enumerate() {
        let of_name = || measured.iter().filter(|m| m.name == *name);
        let stroke = Stroke::solid(theme.series(i), 1.8);
        let curve = |of: fn(&PrimitiveTiming) -> Option<f64>| {
            let mut points: Vec<_> =
                of_name().filter_map(|m| Some((f64::from(m.n), of(m)? * 1e-9))).collect();
            points.sort_by(|a, b| a.0.total_cmp(&b.0));
            points
        };
        let ours = curve(|m| Some(m.throughput()));
        panel.curve(curve(theirs), stroke.dashed());
        panel.dots(ours.iter().map(|(x, y)| (*x, *y, 0.0)), stroke.color, 2.4);
        panel.curve(ours, stroke);
        entries.push(Entry::new(Sign::Line(stroke), name.replace('_', " ")));
    }
    panel.axes();
    panel.heading(family.title(), &entries);
}

/// The throughput of the baseline.
fn theirs(m: &PrimitiveTiming) -> Option<f64> {
    m.baseline.map(|b| f64::from(m.n) / b.least)
}

/// The least and the most.
fn range(values: impl Iterator<Item = f64>) -> (f64, f64) {
    values.fold((f64::INFINITY, 0.0), |(low, high), x| (low.min(x), high.max(x)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::Times;
    use torrance_plot::chart::{Mark, ThemeName};

    fn measured(name: &'static str, family: Family, n: u32, seconds: f64) -> PrimitiveTiming {
        let times = Times { least: seconds, median: seconds };
        PrimitiveTiming { name, family, n, bytes: 0.0, times, copy: times, baseline: None }
    }

    #[test]
    fn a_panel_a_family_and_a_curve_a_primitive() {
        let mut all = Vec::new();
        for n in [1 << 10, 1 << 15, 1 << 20] {
            all.push(measured("one", Family::Scans, n, 1e-6 + f64::from(n) * 1e-12));
            all.push(measured("two", Family::Scans, n, 1e-5));
            all.push(measured("three", Family::Memory, n, 1e-4));
        }
        let theme = ThemeName::Light.theme();
        let drawing = chart(&all, "a machine", Some("another library"), theme);
        let text = |m: &Mark| if let Mark::Text { text, .. } = m { Some(text.clone()) } else { None };
        let texts: Vec<_> = drawing.marks.iter().filter_map(text).collect();
        for text in ["a machine; dashed: another library", "copies", "scans", "one", "two", "three", "10³"] {
            assert!(texts.iter().any(|t| t == text), "{text}: {texts:?}");
        }
        let lines = |drawing: &Drawing, i: usize, length: std::ops::Range<usize>| {
            let is_one = |m: &&Mark| match m {
                Mark::Line { color, points, .. } => {
                    *color == theme.series(i) && length.contains(&points.len())
                }
                _ => false,
            };
            drawing.marks.iter().filter(is_one).count()
        };
        assert_eq!(lines(&drawing, 0, 3..4), 2, "the first of each panel");
        assert_eq!(lines(&drawing, 1, 3..4), 1, "the second of one");
        assert!(drawing.png(600, 250).unwrap().len() > 1000);

        let solid = lines(&drawing, 1, 0..9);
        for m in all.iter_mut().filter(|m| m.name == "two") {
            m.baseline = Some(m.copy);
        }
        let drawing = chart(&all, "a machine", Some("another library"), theme);
        assert!(lines(&drawing, 1, 0..9) > solid + 9, "dashes");
        assert_eq!(chart(&[], "a machine", None, theme).marks.len(), 1, "the title");
    }
}
