//! A statistic of a sweep's variants against its parameters: curves over the first parameter, one for each value of the
//! second, in a panel for each combination of the others.

mod scale;
#[cfg(test)]
mod tests;

use scale::{HorizontalAxis, PLAIN, tick_font, upwards, widest};

use super::chart::{
    Anchor, Axis, ColorMap, Drawing, Entry, Font, MEDIUM, Panel, Rect, SMALL, Sign, Stroke, Theme, ThemeName,
    text_width,
};
use super::sheet::{Side, elide};

/// Most panels that are drawn.
const MOST_PANELS: usize = 36;
/// Most curves that have a name in the legend.
const MOST_NAMES: usize = 40;
/// Names in a column of the legend, at most.
const NAMES_IN_A_COLUMN: usize = 20;
/// Longest name in the legend, and its lines from one to the next, logical units.
const LONGEST_NAME: f64 = 190.0;
const LINE: f64 = SMALL + 6.0;
/// Size of the title, and of the margin around everything.
const TITLE: f64 = 15.0;
const MARGIN: f64 = 24.0;
/// Inside of the axes: of one panel, of two, of more, and of many.
const FRAMES: [[f64; 2]; 4] = [[580.0, 340.0], [430.0, 290.0], [330.0, 220.0], [250.0, 170.0]];
/// Widest row of panels.
const WIDEST: f64 = 1400.0;
/// Widest frames, as [`FRAMES`], where there are many names below them.
const WIDEST_FRAMES: [f64; 4] = [WIDEST, 650.0, 420.0, 270.0];
/// Width and radius of curves and dots, and how much more those have that others would hide.
const WIDTH: f64 = 1.7;
const RADIUS: f64 = 2.9;
const WIDER: f64 = 1.3;
/// Distance below which one dot hides another.
const CLOSE: f64 = 3.0;

/// A statistic of all variants of a sweep.
#[derive(Debug, Clone, Copy)]
pub struct SweepPlot<'a> {
    /// The title above everything; may be empty.
    pub title: &'a str,
    /// The parameters and the names of their values, as in `renderer::sweep::Grid`. The first is the horizontal axis, each
    /// value of the second is a curve, and each combination of the others is a panel. No parameters mean a single
    /// variant.
    pub axes: &'a [Side],
    /// The values of the first parameter, if they are numbers. Its axis is then linear, or logarithmic if they grow by
    /// roughly equal factors. Without them, or if they are all equal or not finite, names are evenly spaced.
    pub positions: Option<&'a [f64]>,
    /// Name and unit of the values.
    pub statistic: &'a str,
    /// One for each variant, the first parameter varying fastest. Missing values and those that are not finite interrupt
    /// the curve. If all are positive and differ by more than a factor of 1000, their axis is logarithmic.
    pub values: &'a [f64],
    /// Standard errors of the values, drawn as error bars where they are larger than a dot.
    pub errors: Option<&'a [f64]>,
    /// Colours.
    pub theme: ThemeName,
}

/// A variant in a panel.
#[derive(Debug, Clone, Copy)]
struct Point {
    x: f64,
    /// May be NaN.
    y: f64,
    error: f64,
}

/// Positions of everything, logical units.
struct Layout {
    across: HorizontalAxis,
    y: Axis,
    /// The inside of the axes of each panel.
    frames: Vec<Rect>,
    /// Top left corner of the legend, and its columns.
    legend: [f64; 2],
    names: Vec<Vec<usize>>,
    size: [f64; 2],
}

impl SweepPlot<'_> {
    /// Draws the chart. Its size follows its contents: some 700 × 450 logical units for one panel, and never much more than
    /// 2000 wide. At most 36 panels are drawn; a remark says if there are others.
    pub fn draw(&self) -> Drawing {
        let layout = Layout::new(self);
        let theme = self.theme.theme();
        let [width, height] = layout.size;
        let mut drawing = Drawing::new(width, height, theme.background);
        let room = width - 2.0 * MARGIN;
        let font = Font { size: TITLE, color: theme.text, bold: true };
        let title = elide(self.title, room, font);
        drawing.text(title, [MARGIN, MARGIN + 10.0], Anchor::Start, font);
        let font = Font { size: MEDIUM, color: theme.muted, bold: false };
        drawing.text(elide(&self.remark(), room, font), [MARGIN, MARGIN + 31.0], Anchor::Start, font);
        let columns = layout.frames.iter().filter(|frame| frame.y == layout.frames[0].y).count();
        for (panel, frame) in layout.frames.iter().enumerate() {
            let sides = [panel % columns == 0, panel + columns >= layout.frames.len()];
            self.panel(&mut drawing, &layout, panel, *frame, sides);
        }
        self.legend(&mut drawing, &layout);
        drawing
    }

    /// Number of values of a parameter; 1 for a parameter that does not exist.
    fn count(&self, axis: usize) -> usize {
        self.axes.get(axis).map_or(1, |side| side.labels.len().max(1))
    }

    /// Number of combinations of values of the parameters after the second.
    fn panels(&self) -> usize {
        (2..self.axes.len()).map(|axis| self.count(axis)).fold(1, usize::saturating_mul)
    }

    /// The remark below the title.
    fn remark(&self) -> String {
        let bars = self.points().any(|(_, error)| error > 0.0);
        let bars = bars.then(|| "bars: ± one standard error, where larger than a dot".to_owned());
        let more = self.panels() > MOST_PANELS;
        let more = more.then(|| format!("the first {MOST_PANELS} of {} panels", self.panels()));
        bars.into_iter().chain(more).collect::<Vec<_>>().join("; ")
    }

    fn point(&self, variant: usize) -> (f64, f64) {
        let value = self.values.get(variant).copied().filter(|y| y.is_finite());
        let error = self.errors.and_then(|errors| errors.get(variant)).copied();
        (value.unwrap_or(f64::NAN), error.filter(|error| error.is_finite()).unwrap_or(0.0).abs())
    }

    /// Values and their errors, of all variants that have a value and are drawn.
    fn points(&self) -> impl Iterator<Item = (f64, f64)> + Clone {
        let variants = self.count(0) * self.count(1) * self.panels().min(MOST_PANELS);
        (0..variants).map(|variant| self.point(variant)).filter(|(y, _)| y.is_finite())
    }

    /// The curve of a value of the second parameter, from left to right.
    fn curve(&self, across: &HorizontalAxis, panel: usize, curve: usize) -> Vec<Point> {
        let first = (panel * self.count(1) + curve) * self.count(0);
        let point = |(i, x): (usize, &f64)| {
            let (y, error) = self.point(first + i);
            Point { x: *x, y, error }
        };
        let mut points: Vec<_> = across.places.iter().enumerate().map(point).collect();
        points.sort_by(|a, b| a.x.total_cmp(&b.x));
        points
    }

    /// The heading of a panel: the parameters after the second, with their values.
    fn heading(&self, panel: usize) -> String {
        let mut rest = panel;
        let mut parts = Vec::new();
        for (side, axis) in self.axes.iter().zip(0..).skip(2) {
            let label = side.labels.get(rest % self.count(axis)).map_or("", String::as_str);
            rest /= self.count(axis);
            parts.push(format!("{} = {label}", side.name));
        }
        parts.join(", ")
    }

    /// The style of the curve of a value of the second parameter. Up to six have colours that are easy to tell apart. More
    /// of them have a colour gradient if they are numbers, and otherwise dashes as well.
    fn look(&self, curve: usize) -> Stroke {
        let theme = self.theme.theme();
        let (n, colors) = (self.count(1), theme.series.len());
        let dashes = [None, Some((7.0, 3.5)), Some((2.0, 2.5))];
        let is_number = |label: &String| label.parse::<f64>().is_ok();
        let are_numbers = self.axes.get(1).is_some_and(|side| side.labels.iter().all(is_number));
        if n > colors && (are_numbers || n > colors * dashes.len()) {
            let t = curve as f64 / (n - 1) as f64;
            // Neither yellow on white nor purple on black.
            let t = if self.theme == ThemeName::Dark { 0.22 + 0.78 * t } else { 0.88 * t };
            return Stroke::solid(ColorMap::Viridis.at(t), WIDTH);
        }
        let dash = dashes[curve / colors % dashes.len()];
        Stroke { color: theme.series(curve), width: WIDTH, dash }
    }

    /// Draws a panel. `sides`: whether nothing is left of it, and whether nothing is below.
    fn panel(&self, drawing: &mut Drawing, layout: &Layout, panel: usize, frame: Rect, sides: [bool; 2]) {
        let theme = self.theme.theme();
        let Layout { across, y, .. } = layout;
        let [left, bottom] = sides;
        let [mut x, mut y] = [across.axis.clone(), y.clone()];
        // Below names that are turned there is more room to leave than a panel does.
        x.label.clear();
        y.label = if left { elide(&y.label, frame.h, tick_label(theme)) } else { String::new() };
        let mut canvas = Panel::new(drawing, theme, frame, x, y);
        let curves: Vec<_> = (0..self.count(1)).map(|curve| self.curve(across, panel, curve)).collect();
        let is_empty = curves.iter().flatten().all(|point| point.y.is_nan());
        canvas.axes();
        for (i, points) in curves.iter().enumerate() {
            let look = self.look(i);
            // Between names there is nothing: the line only leads the eye.
            let color =
                if across.is_continuous { look.color } else { look.color.mix(theme.background, 0.55) };
            let line = Stroke { color, ..look };
            let place = |p: &Point| (p.x, p.y);
            canvas.curve(points.iter().map(place), line);
            let more = hidden(&canvas, points, &curves[i + 1..]);
            for (pair, more) in points.windows(2).zip(more.windows(2)) {
                let more = WIDER * more[0].min(more[1]);
                if more > 0.0 {
                    canvas.curve(pair.iter().map(place), Stroke { width: WIDTH + more, ..line });
                }
            }
            for (p, more) in points.iter().zip(more).filter(|(p, _)| p.y.is_finite()) {
                canvas.dots([(p.x, p.y, p.error)], look.color, RADIUS + 0.6 * WIDER * more);
            }
        }
        let heading = self.heading(panel);
        let bold = Font { size: MEDIUM, color: theme.text, bold: true };
        canvas.heading(&elide(&heading, frame.w, bold), &[]);
        if is_empty {
            let font = Font { size: MEDIUM, color: theme.muted, bold: false };
            let text = elide(&format!("no values of {}", self.statistic), frame.w - 8.0, font);
            drawing.text(text, [frame.x + 0.5 * frame.w, frame.y + 0.5 * frame.h], Anchor::Middle, font);
        }
        self.below(drawing, across, frame, bottom);
    }

    /// Draws the text below a panel, except for tick numbers.
    fn below(&self, drawing: &mut Drawing, across: &HorizontalAxis, frame: Rect, is_last: bool) {
        let theme = self.theme.theme();
        let font = tick_font(theme.muted);
        for (x, name) in &across.upright {
            let at = [frame.x + frame.w * across.axis.at(*x) + 0.36 * SMALL, frame.bottom() + 7.0];
            drawing.text_upwards(name.as_str(), at, Anchor::End, font);
        }
        if is_last {
            let font = tick_label(theme);
            let at = [frame.x + 0.5 * frame.w, frame.bottom() + across.depth() + 6.0 + MEDIUM];
            drawing.text(elide(&across.axis.label, frame.w, font), at, Anchor::Middle, font);
        }
    }

    fn legend(&self, drawing: &mut Drawing, layout: &Layout) {
        let (Some(side), false) = (self.axes.get(1), layout.names.is_empty()) else { return };
        let theme = self.theme.theme();
        let [mut x, y] = layout.legend;
        let heading = Font { size: SMALL, color: theme.muted, bold: false };
        let room = layout.size[0] - MARGIN - x;
        drawing.text(elide(&side.name, room, heading), [x, y], Anchor::Start, heading);
        let font = Font { size: SMALL, color: theme.text, bold: false };
        for column in &layout.names {
            for (row, curve) in column.iter().enumerate() {
                let look = self.look(*curve);
                let entry = self.entry(*curve, Sign::Line(look));
                let baseline = y + LINE * (row + 1) as f64;
                entry.draw(drawing, [x, baseline], font);
                // On the middle of the line.
                drawing.dot([x + 9.0, baseline - 0.36 * SMALL], RADIUS, look.color);
            }
            x += self.column(column);
        }
    }

    fn entry(&self, curve: usize, sign: Sign) -> Entry {
        let label = self.axes.get(1).and_then(|side| side.labels.get(curve)).map_or("", String::as_str);
        Entry::new(sign, elide(label, LONGEST_NAME, PLAIN))
    }

    /// Width of a column of the legend.
    fn column(&self, names: &[usize]) -> f64 {
        let width = |curve: &usize| self.entry(*curve, Sign::Dot(PLAIN.color)).width(PLAIN);
        names.iter().map(width).fold(0.0, f64::max)
    }

    /// Whether a curve has a value in any panel that is drawn.
    fn has_values(&self, curve: usize) -> bool {
        let [across, curves] = [0, 1].map(|axis| self.count(axis));
        let first = |panel: usize| (panel * curves + curve) * across;
        let variants =
            (0..self.panels().min(MOST_PANELS)).flat_map(|panel| first(panel)..first(panel) + across);
        variants.into_iter().any(|variant| self.point(variant).0.is_finite())
    }

    /// The curves named in the legend, by column: those with values. If there are very many, only some are named, evenly
    /// spaced along the parameter.
    fn names(&self) -> Vec<Vec<usize>> {
        if self.axes.len() < 2 {
            return Vec::new();
        }
        let curves: Vec<_> = (0..self.count(1)).filter(|curve| self.has_values(*curve)).collect();
        let (n, named) = (curves.len(), curves.len().min(MOST_NAMES));
        let name = |i: usize| curves[if named > 1 { i * (n - 1) / (named - 1) } else { i }];
        let names: Vec<_> = (0..named).map(name).collect();
        names.chunks(NAMES_IN_A_COLUMN).map(<[_]>::to_vec).collect()
    }
}

/// The font of an axis' label.
fn tick_label(theme: Theme) -> Font {
    Font { size: MEDIUM, color: theme.text, bold: false }
}

/// How many of the later curves would hide this one at each of its points, up to 3.
fn hidden(panel: &Panel<'_>, points: &[Point], later: &[Vec<Point>]) -> Vec<f64> {
    let height = |p: &Point| panel.place(p.x, p.y)[1];
    let hides = |i: usize, p: &Point| {
        let others = later.iter().filter(|other| (height(&other[i]) - height(p)).abs() < CLOSE);
        others.count().min(3) as f64
    };
    points.iter().enumerate().map(|(i, p)| hides(i, p)).collect()
}

impl Layout {
    fn new(plot: &SweepPlot<'_>) -> Self {
        let panels = plot.panels().min(MOST_PANELS);
        let of_size = match panels {
            1 => 0,
            2 => 1,
            3..=9 => 2,
            _ => 3,
        };
        let [w, h] = FRAMES[of_size];
        let nothing = Side::default();
        let side = plot.axes.first().unwrap_or(&nothing);
        // Names that are turned need a line each; numbers are left out.
        let turned = 1.4 * SMALL * side.labels.len() as f64;
        let widest_frame = if plot.positions.is_some() { w } else { WIDEST_FRAMES[of_size] };
        let w = turned.clamp(w, widest_frame);
        let across = HorizontalAxis::new(side, plot.positions, w);
        let y = upwards(plot.statistic, plot.points());
        let left = 14.0 + widest(&y) + MEDIUM + 6.0;
        let right = across.overhang(w).max(14.0);
        let pitch = [left + w + right, h + 26.0 + across.depth() + 14.0 + MEDIUM];
        let most = (WIDEST / pitch[0]).floor().max(1.0) as usize;
        let columns = (panels as f64).sqrt().ceil() as usize;
        let columns = columns.clamp(1, most).min(if panels > 9 { 4 } else { 3 });
        let header = if plot.remark().is_empty() { 26.0 } else { 47.0 };
        let header = MARGIN + if plot.title.is_empty() && header < 30.0 { 0.0 } else { header };
        let heading = if plot.axes.len() > 2 { 20.0 } else { 0.0 };
        let frame = |i: usize| Rect {
            x: MARGIN - 14.0 + left + pitch[0] * (i % columns) as f64,
            y: header + heading + pitch[1] * (i / columns) as f64,
            w,
            h,
        };
        let frames: Vec<_> = (0..panels).map(frame).collect();
        let names = plot.names();
        let (x, top) = (frame(0).x + pitch[0] * columns as f64 - left + 8.0, frame(0).y + SMALL);
        let mut width: f64 = names.iter().map(|column| plot.column(column)).sum();
        if let Some(side) = plot.axes.get(1) {
            width = width.max(text_width(&side.name, PLAIN).min(LONGEST_NAME));
        }
        let rows = names.iter().map(Vec::len).max().unwrap_or(0) as f64;
        let bottom = frame(panels - 1).y + pitch[1] - 26.0;
        let size = [
            x + if names.is_empty() { -8.0 } else { width + MARGIN },
            bottom.max(top + LINE * rows) + MARGIN - 10.0,
        ];
        Self { across, y, frames, legend: [x, top], names, size }
    }
}
