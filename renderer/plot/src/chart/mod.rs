//! Charts: a list of marks in logical units, drawn as PNG or SVG.
//!
//! A chart is laid out once, in units such that a line of small text is about 12 high; [`Drawing::png`] and
//! [`Drawing::svg`] draw the same marks. `y` grows downwards, as in both formats.

mod axis;
mod contour;
mod draw;
mod panel;
mod theme;

pub use axis::{Axis, power_of_ten};
pub use contour::contours;
pub use draw::text_width;
pub use panel::{Entry, Panel, Sign};
pub use panel::{MEDIUM, SMALL};
pub use theme::{Theme, ThemeName};
pub use torrance_image::color_map::{Color, ColorMap};

/// A rectangle, logical units.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rect {
    /// Left side.
    pub x: f64,
    /// Top side.
    pub y: f64,
    /// Width.
    pub w: f64,
    /// Height.
    pub h: f64,
}

impl Rect {
    /// `rows` × `columns` equal rectangles inside, `gap` (horizontal, vertical) apart, row by row.
    pub fn grid(&self, columns: usize, rows: usize, gap: (f64, f64)) -> Vec<Self> {
        let (n, m) = (columns as f64, rows as f64);
        let (w, h) = ((self.w - (n - 1.0) * gap.0) / n, (self.h - (m - 1.0) * gap.1) / m);
        let place = |i: usize| {
            let (column, row) = ((i % columns) as f64, (i / columns) as f64);
            Self { x: self.x + column * (w + gap.0), y: self.y + row * (h + gap.1), w, h }
        };
        (0..columns * rows).map(place).collect()
    }

    /// The rectangle without margins at the left, top, right and bottom.
    pub fn inset(&self, [left, top, right, bottom]: [f64; 4]) -> Self {
        Self { x: self.x + left, y: self.y + top, w: self.w - left - right, h: self.h - top - bottom }
    }

    /// The right side.
    pub fn right(&self) -> f64 {
        self.x + self.w
    }

    /// The bottom.
    pub fn bottom(&self) -> f64 {
        self.y + self.h
    }
}

/// The style of a line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stroke {
    /// Its colour.
    pub color: Color,
    /// Its width, logical units.
    pub width: f64,
    /// Lengths of dashes and of the gaps between them; solid if `None`.
    pub dash: Option<(f64, f64)>,
}

impl Stroke {
    /// A solid line.
    pub const fn solid(color: Color, width: f64) -> Self {
        Self { color, width, dash: None }
    }

    /// The same line in dashes.
    pub const fn dashed(self) -> Self {
        Self { dash: Some((6.0, 4.0)), ..self }
    }

    /// The same line in dots.
    pub const fn dotted(self) -> Self {
        Self { dash: Some((1.5, 3.0)), ..self }
    }
}

/// Horizontal alignment of a text to its position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Anchor {
    /// Its beginning.
    Start,
    /// Its middle.
    Middle,
    /// Its end.
    End,
}

/// The font of a text.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Font {
    /// Size of the em, logical units.
    pub size: f64,
    /// Its colour.
    pub color: Color,
    /// Whether it is bold.
    pub bold: bool,
}

/// Something to draw.
#[derive(Debug, Clone, PartialEq)]
pub enum Mark {
    /// A solid line through points.
    Line {
        /// The points.
        points: Vec<[f64; 2]>,
        /// Width, logical units.
        width: f64,
        /// Colour.
        color: Color,
    },
    /// A filled polygon.
    Area {
        /// Its corners.
        points: Vec<[f64; 2]>,
        /// Colour.
        color: Color,
    },
    /// A filled circle.
    Dot {
        /// Its centre.
        center: [f64; 2],
        /// Its radius, logical units.
        radius: f64,
        /// Colour.
        color: Color,
    },
    /// A line of text.
    Text {
        /// The text.
        text: String,
        /// The position of `anchor` on the baseline.
        at: [f64; 2],
        /// The alignment.
        anchor: Anchor,
        /// Whether it is rotated to read upwards.
        upwards: bool,
        /// The font.
        font: Font,
    },
}

/// A chart: marks, the later above the earlier.
#[derive(Debug, Clone, PartialEq)]
pub struct Drawing {
    /// Width, logical units.
    pub width: f64,
    /// Height, logical units.
    pub height: f64,
    /// The background colour.
    pub background: Color,
    /// The marks, back to front.
    pub marks: Vec<Mark>,
}

impl Drawing {
    /// An empty drawing of a size in logical units.
    pub fn new(width: f64, height: f64, background: Color) -> Self {
        Self { width, height, background, marks: Vec::new() }
    }

    /// The whole area.
    pub fn frame(&self) -> Rect {
        Rect { x: 0.0, y: 0.0, w: self.width, h: self.height }
    }

    /// Draws a line through points.
    pub fn line(&mut self, points: &[[f64; 2]], stroke: Stroke) {
        let Stroke { color, width, dash } = stroke;
        match dash {
            None if points.len() > 1 => {
                self.marks.push(Mark::Line { points: points.to_vec(), width, color });
            }
            None => {}
            Some(dash) => {
                let pieces = dashes(points, dash);
                self.marks.extend(pieces.into_iter().map(|points| Mark::Line { points, width, color }));
            }
        }
    }

    /// Fills a rectangle.
    pub fn fill(&mut self, r: Rect, color: Color) {
        let points = vec![[r.x, r.y], [r.right(), r.y], [r.right(), r.bottom()], [r.x, r.bottom()]];
        self.marks.push(Mark::Area { points, color });
    }

    /// Fills a circle.
    pub fn dot(&mut self, center: [f64; 2], radius: f64, color: Color) {
        self.marks.push(Mark::Dot { center, radius, color });
    }

    /// Draws an arrow from one point to another.
    pub fn arrow(&mut self, from: [f64; 2], to: [f64; 2], stroke: Stroke) {
        let (dx, dy) = (to[0] - from[0], to[1] - from[1]);
        let length = dx.hypot(dy).max(1e-9);
        let (ux, uy) = (dx / length, dy / length);
        let head = 4.0 + 2.0 * stroke.width;
        let base = [to[0] - head * ux, to[1] - head * uy];
        let side = 0.42 * head;
        self.line(&[from, base], stroke);
        let points =
            vec![to, [base[0] - side * uy, base[1] + side * ux], [base[0] + side * uy, base[1] - side * ux]];
        self.marks.push(Mark::Area { points, color: stroke.color });
    }

    /// Writes text with `anchor` at `at` on the baseline.
    pub fn text(&mut self, text: impl Into<String>, at: [f64; 2], anchor: Anchor, font: Font) {
        self.marks.push(Mark::Text { text: in_font(&text.into()), at, anchor, upwards: false, font });
    }

    /// Writes text that reads upwards.
    pub fn text_upwards(&mut self, text: impl Into<String>, at: [f64; 2], anchor: Anchor, font: Font) {
        self.marks.push(Mark::Text { text: in_font(&text.into()), at, anchor, upwards: true, font });
    }
}

/// A line of text of characters that the font has.
fn in_font(text: &str) -> String {
    let like = |c: char| match c {
        'ꟻ' => 'F',
        c if c.is_control() => ' ',
        c => c,
    };
    text.chars().map(like).collect()
}

/// The pieces of a line that dashes cover.
fn dashes(points: &[[f64; 2]], (on, off): (f64, f64)) -> Vec<Vec<[f64; 2]>> {
    let mut pieces = Vec::new();
    let (mut drawing, mut left) = (true, on);
    let mut piece = points.first().map_or_else(Vec::new, |p| vec![*p]);
    for pair in points.windows(2) {
        let (mut from, to) = (pair[0], pair[1]);
        let mut length = (to[0] - from[0]).hypot(to[1] - from[1]);
        while length > left {
            let t = left / length;
            from = [from[0] + t * (to[0] - from[0]), from[1] + t * (to[1] - from[1])];
            length -= left;
            if drawing {
                piece.push(from);
                pieces.push(std::mem::take(&mut piece));
            } else {
                piece = vec![from];
            }
            drawing = !drawing;
            left = if drawing { on } else { off };
        }
        left -= length;
        if drawing {
            piece.push(to);
        }
    }
    if piece.len() > 1 {
        pieces.push(piece);
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_a_line_of_letters_that_there_are() {
        let mut drawing = Drawing::new(9.0, 9.0, Color([255; 3]));
        let font = Font { size: 9.0, color: Color([0; 3]), bold: false };
        drawing.text("ꟻLIP\nof é", [0.0; 2], Anchor::Start, font);
        assert!(matches!(&drawing.marks[..], [Mark::Text { text, .. }] if text == "FLIP of é"));
    }

    #[test]
    fn dashes_cover_their_part_of_a_line() {
        let pieces = dashes(&[[0.0, 0.0], [7.0, 0.0], [7.0, 13.0]], (3.0, 2.0));
        let length = |p: &Vec<[f64; 2]>| -> f64 {
            p.windows(2).map(|w| (w[1][0] - w[0][0]).hypot(w[1][1] - w[0][1])).sum()
        };
        let lengths: Vec<_> = pieces.iter().map(length).collect();
        assert_eq!(lengths, [3.0, 3.0, 3.0, 3.0]);
        assert_eq!(pieces[1], [[5.0, 0.0], [7.0, 0.0], [7.0, 1.0]], "around the corner");
    }
}
