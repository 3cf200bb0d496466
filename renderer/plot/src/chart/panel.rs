//! A panel: a frame with two axes, a heading, a legend, and what is plotted.

use super::{Anchor, Axis, Color, Drawing, Font, Rect, Stroke, Theme, text_width};

/// Sizes of text, logical units.
pub const SMALL: f64 = 11.0;
/// Size of axis labels and headings.
pub const MEDIUM: f64 = 12.5;

/// Width of the lines in legends.
const SIGN: f64 = 18.0;
/// Room between the entries of a legend.
const GAP: f64 = 13.0;

/// The symbol of a series in a legend.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Sign {
    /// A line.
    Line(Stroke),
    /// A dot.
    Dot(Color),
}

/// A line of a legend.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// Symbol of the series.
    pub sign: Sign,
    /// Name of the series.
    pub text: String,
}

impl Entry {
    /// An entry.
    pub fn new(sign: Sign, text: impl Into<String>) -> Self {
        Self { sign, text: text.into() }
    }

    /// Its width, including the gap to the next.
    pub fn width(&self, font: Font) -> f64 {
        SIGN + 5.0 + text_width(&self.text, font) + GAP
    }

    /// Draws it from `x` on, on the baseline `y`.
    pub fn draw(&self, drawing: &mut Drawing, [x, y]: [f64; 2], font: Font) {
        let middle = y - 0.36 * font.size;
        match self.sign {
            Sign::Line(stroke) => drawing.line(&[[x, middle], [x + SIGN, middle]], stroke),
            Sign::Dot(color) => drawing.dot([x + 0.5 * SIGN, middle], 3.0, color),
        }
        drawing.text(self.text.as_str(), [x + SIGN + 5.0, y], Anchor::Start, font);
    }
}

/// A frame with axes in a drawing.
pub struct Panel<'a> {
    drawing: &'a mut Drawing,
    theme: Theme,
    /// The inside of the axes.
    pub frame: Rect,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
}

impl<'a> Panel<'a> {
    /// Draws axes and their grid around `frame`.
    pub fn new(drawing: &'a mut Drawing, theme: Theme, frame: Rect, x: Axis, y: Axis) -> Self {
        let mut panel = Self { drawing, theme, frame, x, y };
        panel.grid();
        panel
    }

    /// Draws axes without a grid, above what fills the frame: for heat maps, to be called last.
    pub fn over(drawing: &'a mut Drawing, theme: Theme, frame: Rect, x: Axis, y: Axis) -> Self {
        Self { drawing, theme, frame, x, y }
    }

    fn font(&self, size: f64, color: Color) -> Font {
        Font { size, color, bold: false }
    }

    /// The place of a pair of numbers.
    pub fn place(&self, x: f64, y: f64) -> [f64; 2] {
        let Rect { x: left, w, h, .. } = self.frame;
        [left + w * self.x.at(x), self.frame.bottom() - h * self.y.at(y)]
    }

    fn grid(&mut self) {
        let thin = Stroke::solid(self.theme.grid, 0.8);
        let Rect { x, y, .. } = self.frame;
        for i in 0..self.x.ticks.len() {
            let at = self.place(self.x.ticks[i].0, self.y.low)[0];
            self.drawing.line(&[[at, y], [at, self.frame.bottom()]], thin);
        }
        for i in 0..self.y.ticks.len() {
            let at = self.place(self.x.low, self.y.ticks[i].0)[1];
            self.drawing.line(&[[x, at], [self.frame.right(), at]], thin);
        }
    }

    /// Draws the frame, ticks, numbers and labels; last, so that nothing covers them.
    pub fn axes(&mut self) {
        let stroke = Stroke::solid(self.theme.axis, 1.0);
        let f = self.frame;
        let (right, bottom) = (f.right(), f.bottom());
        let around = [[f.x, f.y], [right, f.y], [right, bottom], [f.x, bottom], [f.x, f.y]];
        self.drawing.line(&around, stroke);
        let font = self.font(SMALL, self.theme.muted);
        for (value, text) in self.x.ticks.clone() {
            let at = self.place(value, self.y.low)[0];
            self.drawing.line(&[[at, bottom], [at, bottom + 4.0]], stroke);
            self.drawing.text(text, [at, bottom + 6.0 + SMALL], Anchor::Middle, font);
        }
        let mut widest = 0.0_f64;
        for (value, text) in self.y.ticks.clone() {
            let at = self.place(self.x.low, value)[1];
            self.drawing.line(&[[f.x - 4.0, at], [f.x, at]], stroke);
            widest = widest.max(text_width(&text, font));
            self.drawing.text(text, [f.x - 7.0, at + 0.36 * SMALL], Anchor::End, font);
        }
        for value in self.x.minor.clone() {
            let at = self.place(value, self.y.low)[0];
            self.drawing.line(&[[at, bottom], [at, bottom + 2.5]], stroke);
        }
        for value in self.y.minor.clone() {
            let at = self.place(self.x.low, value)[1];
            self.drawing.line(&[[f.x - 2.5, at], [f.x, at]], stroke);
        }
        let font = self.font(MEDIUM, self.theme.text);
        let (label_x, label_y) = (self.x.label.clone(), self.y.label.clone());
        let below = bottom + 12.0 + SMALL + MEDIUM;
        self.drawing.text(label_x, [f.x + 0.5 * f.w, below], Anchor::Middle, font);
        let left = [f.x - 14.0 - widest, f.y + 0.5 * f.h];
        self.drawing.text_upwards(label_y, left, Anchor::Middle, font);
    }

    /// Writes a heading above the frame, and a legend between the two. `None` of the entries: just the heading.
    pub fn heading(&mut self, text: &str, entries: &[Entry]) {
        let font = Font { size: MEDIUM, color: self.theme.text, bold: true };
        let rows = self.legend_rows(entries);
        let top = self.frame.y - 9.0 - rows.len() as f64 * (SMALL + 6.0);
        self.drawing.text(text, [self.frame.x, top], Anchor::Start, font);
        let font = self.font(SMALL, self.theme.text);
        for (i, row) in rows.iter().enumerate() {
            let baseline = top + (SMALL + 6.0) * (i + 1) as f64;
            let mut x = self.frame.x;
            for entry in row {
                entry.draw(self.drawing, [x, baseline], font);
                x += entry.width(font);
            }
        }
    }

    /// The entries in as few rows as fit the frame's width.
    fn legend_rows<'e>(&self, entries: &'e [Entry]) -> Vec<Vec<&'e Entry>> {
        let font = self.font(SMALL, self.theme.text);
        let mut rows: Vec<Vec<&Entry>> = Vec::new();
        let mut used = f64::INFINITY;
        for entry in entries {
            let width = entry.width(font);
            if used + width - GAP > self.frame.w {
                rows.push(Vec::new());
                used = 0.0;
            }
            used += width;
            if let Some(row) = rows.last_mut() {
                row.push(entry);
            }
        }
        rows
    }

    /// Draws a curve, clipped to the frame.
    pub fn curve(&mut self, points: impl IntoIterator<Item = (f64, f64)>, stroke: Stroke) {
        let places: Vec<_> = points
            .into_iter()
            .map(|(x, y)| if y.is_finite() { self.place(x, y) } else { [f64::NAN; 2] })
            .collect();
        for piece in clipped(&places, self.frame) {
            self.drawing.line(&piece, stroke);
        }
    }

    /// Draws a line across at `x`.
    pub fn vertical(&mut self, x: f64, stroke: Stroke) {
        let at = self.place(x, self.y.low)[0];
        if (self.frame.x..=self.frame.right()).contains(&at) {
            self.drawing.line(&[[at, self.frame.y], [at, self.frame.bottom()]], stroke);
        }
    }

    /// Draws dots, with bars of ± `error` where it shows.
    pub fn dots(&mut self, points: impl IntoIterator<Item = (f64, f64, f64)>, color: Color, radius: f64) {
        for (x, y, error) in points {
            let at = self.place(x, y);
            if !(self.frame.y - 0.5..=self.frame.bottom() + 0.5).contains(&at[1]) {
                continue;
            }
            let [high, low] =
                [y + error, y - error].map(|y| self.place(x, y)[1].clamp(self.frame.y, self.frame.bottom()));
            if low - high > 2.0 * radius {
                self.drawing.line(&[[at[0], high], [at[0], low]], Stroke::solid(color, 1.0));
            }
            self.drawing.dot(at, radius, color);
        }
    }

    /// An arrow up from the bottom to a number: a peak without width.
    pub fn spike(&mut self, x: f64, y: f64, stroke: Stroke) {
        let (from, to) = (self.place(x, self.y.low), self.place(x, y));
        let to = [to[0], to[1].clamp(self.frame.y + 4.0, self.frame.bottom() - 14.0)];
        self.drawing.arrow([from[0], self.frame.bottom()], to, stroke);
    }

    /// Writes text at a pair of numbers, shifted by logical units.
    pub fn note(&mut self, text: impl Into<String>, (x, y): (f64, f64), shift: [f64; 2], anchor: Anchor) {
        let font = self.font(SMALL, self.theme.muted);
        let [px, py] = self.place(x, y);
        self.drawing.text(text, [px + shift[0], py + shift[1]], anchor, font);
    }
}

/// The parts of a line inside a rectangle. NaN breaks the line.
fn clipped(points: &[[f64; 2]], r: Rect) -> Vec<Vec<[f64; 2]>> {
    let mut pieces: Vec<Vec<[f64; 2]>> = Vec::new();
    for pair in points.windows(2) {
        let Some([a, b]) = clip(pair[0], pair[1], r) else { continue };
        match pieces.last_mut() {
            Some(piece) if piece.last() == Some(&a) => piece.push(b),
            _ => pieces.push(vec![a, b]),
        }
    }
    pieces
}

/// The part of a segment inside a rectangle (Liang & Barsky 1984).
fn clip(a: [f64; 2], b: [f64; 2], r: Rect) -> Option<[[f64; 2]; 2]> {
    if a.iter().chain(&b).any(|v| v.is_nan()) {
        return None;
    }
    let (mut from, mut to) = (0.0_f64, 1.0_f64);
    for (p, d, low, high) in [(a[0], b[0] - a[0], r.x, r.right()), (a[1], b[1] - a[1], r.y, r.bottom())] {
        if d == 0.0 {
            if p < low || p > high {
                return None;
            }
            continue;
        }
        let (t0, t1) = ((low - p) / d, (high - p) / d);
        from = from.max(t0.min(t1));
        to = to.min(t0.max(t1));
    }
    let at = |t: f64| [a[0] + t * (b[0] - a[0]), a[1] + t * (b[1] - a[1])];
    let start = if from == 0.0 { a } else { at(from) };
    let end = if to == 1.0 { b } else { at(to) };
    (from < to).then_some([start, end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_clipped_to_the_frame() {
        let r = Rect { x: 0.0, y: 0.0, w: 10.0, h: 10.0 };
        let line =
            [[-5.0, 5.0], [5.0, 5.0], [5.0, 20.0], [8.0, 20.0], [8.0, 8.0], [f64::NAN, 0.0], [1.0, 1.0]];
        let pieces = clipped(&line, r);
        assert_eq!(pieces, [vec![[0.0, 5.0], [5.0, 5.0], [5.0, 10.0]], vec![[8.0, 10.0], [8.0, 8.0]]]);
    }
}
