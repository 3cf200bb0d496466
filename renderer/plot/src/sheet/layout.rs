//! Layout of contact sheets: the positions of cells and texts, and the strips of text around the cells.

use image::RgbImage;

use super::text::{BASELINE, LINE, Strip, TITLE, bold, elide, plain, tallest, wrap};
use super::{LONGEST_SIDE, Sheet, blit};
use crate::DrawError;
use crate::chart::{Anchor, Color, Font, Theme, text_width};

/// Size of the text in sides of a cell, and the least that can be read, pixels.
const EM: f64 = 0.07;
const LEAST_EM: f64 = 11.0;
/// Room between labels and the name above them, and between labels and cells, ems.
const NAME: f64 = 0.3;
const ABOVE: f64 = 0.25;
/// How wide a title may make a sheet that would be narrower, ems.
const TITLE_WIDTH: f64 = 30.0;

/// Positions of everything, pixels, and the texts broken into lines that fit.
pub(super) struct Layout {
    em: f64,
    pub(super) size: [u32; 2],
    /// Top left corner of the first cell.
    pub(super) first: [u32; 2],
    /// From a cell to the next.
    pub(super) pitch: [u32; 2],
    title: Vec<String>,
    page: Vec<String>,
    columns: Vec<Vec<String>>,
    rows: Vec<Vec<String>>,
    pub(super) captions: Vec<Vec<String>>,
}

impl Layout {
    pub(super) fn new(sheet: &Sheet) -> Result<Self, DrawError> {
        let Sheet { title, headings, cell, gap, .. } = sheet;
        let [w, h] = cell.map(f64::from);
        let em = (EM * w.min(h)).max(LEAST_EM).round();
        let font = plain(em);
        let room = (w + f64::from(*gap) - 0.4 * em).max(em);
        let wrapped = |labels: &[String], width, most| -> Vec<_> {
            labels.iter().map(|label| wrap(label, width, most, font)).collect()
        };
        let columns = wrapped(&headings.columns.labels, room, 2);
        let captions = wrapped(&headings.captions, room, 2);
        let lines = ((h + f64::from(*gap)) / (LINE * em)).clamp(1.0, 3.0) as usize;
        let rows = wrapped(&headings.rows.labels, w.max(8.0 * em), lines);

        let widest = rows.iter().flatten().map(|line| text_width(line, font)).fold(0.0, f64::max);
        let side = |x: f64, ems: f64| if x > 0.0 { x + ems * em } else { 0.0 };
        let name = if headings.rows.name.is_empty() { 0.0 } else { 1.6 * em };
        let left = em + name + side(widest, 0.5);
        let pitch_y = h + f64::from(*gap) + side(tallest(&captions) * LINE * em, 0.3);
        let pitch = [w + f64::from(*gap), pitch_y].map(f64::ceil);
        let cells: [f64; 2] = std::array::from_fn(|i| headings.size[i] as f64 * pitch[i] - f64::from(*gap));
        let longest = text_width(title, bold(em)).max(text_width(&headings.page, font));
        let title_width = longest.min(TITLE_WIDTH * em);
        let width = (left + cells[0] + em).max(title_width + 2.0 * em).ceil();

        let title = wrap(title, width - 2.0 * em, 2, bold(em));
        let page = wrap(&headings.page, width - 2.0 * em, 2, font);
        let above = side((title.len() as f64 * TITLE + page.len() as f64) * LINE * em, 0.3);
        let axis = if headings.columns.name.is_empty() { 0.0 } else { LINE + NAME };
        let top = (em + above + side((axis + tallest(&columns) * LINE) * em, ABOVE)).ceil();
        // A title that is wider than the cells has them in the middle.
        let left = (left + 0.5 * (width - left - cells[0] - em)).ceil();

        let size = [width, (top + cells[1] + em).ceil()];
        if size.iter().any(|side| *side > f64::from(LONGEST_SIDE)) {
            return Err(DrawError::TooLarge(size));
        }
        let whole = |xs: [f64; 2]| xs.map(|x| x as u32);
        let (size, first, pitch) = (whole(size), whole([left, top]), whole(pitch));
        Ok(Self { em, size, first, pitch, title, page, columns, rows, captions })
    }

    /// Top left corners of all cells, row by row.
    pub(super) fn places(&self, [columns, rows]: [usize; 2]) -> impl Iterator<Item = [u32; 2]> + Clone {
        let ([x, y], [dx, dy]) = (self.first, self.pitch);
        (0..rows as u32)
            .flat_map(move |row| (0..columns as u32).map(move |column| [x + column * dx, y + row * dy]))
    }

    /// Title, and names above columns.
    pub(super) fn header(&self, sheet: &Sheet, theme: Theme) -> Result<RgbImage, DrawError> {
        let Self { em, first, pitch, .. } = self;
        let mut strip = Strip::new([self.size[0], first[1]], theme);
        let (plain, bold) = (plain(*em), Font { color: theme.text, ..bold(*em) });
        let muted = Font { color: theme.muted, ..plain };
        let mut y = *em;
        for line in &self.title {
            y += 0.5 * TITLE * LINE * em;
            strip.text(line, [*em, y], Anchor::Start, bold);
            y += 0.5 * TITLE * LINE * em;
        }
        for line in &self.page {
            strip.text(line, [*em, y + 0.5 * LINE * em], Anchor::Start, muted);
            y += LINE * em;
        }
        let bottom = f64::from(first[1]) - ABOVE * em;
        let labels = tallest(&self.columns) * LINE * em;
        let half = 0.5 * f64::from(sheet.cell[0]);
        for (lines, x) in self.columns.iter().zip((0..).map(|i| f64::from(first[0] + i * pitch[0]) + half)) {
            // The last line is next to the cells.
            let middle = bottom - 0.5 * lines.len() as f64 * LINE * em;
            strip.lines(lines, [x, middle], Anchor::Middle, Font { color: theme.text, ..plain });
        }
        let columns = sheet.headings.size[0] as f64;
        let center = f64::from(first[0]) + 0.5 * (columns * f64::from(pitch[0]) - f64::from(sheet.gap));
        let room = 2.0 * center.min(f64::from(self.size[0]) - center);
        let name = elide(&sheet.headings.columns.name, room, plain);
        let at = [center, bottom - labels - (NAME + 0.5 * LINE) * em];
        strip.text(&name, at, Anchor::Middle, muted);
        strip.pixels()
    }

    /// Names left of rows.
    pub(super) fn margin(&self, sheet: &Sheet, theme: Theme) -> Result<RgbImage, DrawError> {
        let Self { em, first, pitch, .. } = self;
        let mut strip = Strip::new([first[0], self.size[1] - first[1]], theme);
        let half = 0.5 * f64::from(sheet.cell[1]);
        let right = f64::from(first[0]) - 0.5 * em;
        for (lines, y) in self.rows.iter().zip((0..).map(|i| f64::from(i * pitch[1]) + half)) {
            strip.lines(lines, [right, y], Anchor::End, Font { color: theme.text, ..plain(*em) });
        }
        let rows = sheet.headings.size[1] as f64;
        let height = rows * f64::from(pitch[1]) - f64::from(sheet.gap);
        let name = elide(&sheet.headings.rows.name, height, plain(*em));
        let widest = self.rows.iter().flatten().map(|line| text_width(line, plain(*em))).fold(0.0, f64::max);
        let x = right - widest - if widest > 0.0 { 0.5 * em } else { 0.0 } - 0.6 * em;
        let font = Font { color: theme.muted, ..plain(*em) };
        strip.drawing.text_upwards(name, [x + BASELINE * em, 0.5 * height], Anchor::Middle, font);
        strip.pixels()
    }

    /// The caption of a cell.
    pub(super) fn caption(
        &self,
        [w, _]: [u32; 2],
        lines: &[String],
        theme: Theme,
    ) -> Result<RgbImage, DrawError> {
        let height = tallest(&self.captions) * LINE * self.em + 0.3 * self.em;
        let mut strip = Strip::new([w, height.floor() as u32], theme);
        let middle = 0.2 * self.em + 0.5 * lines.len() as f64 * LINE * self.em;
        let font = Font { color: theme.text, ..plain(self.em) };
        strip.lines(lines, [0.5 * f64::from(w), middle], Anchor::Middle, font);
        strip.pixels()
    }

    /// A cell without an image.
    pub(super) fn missing(&self, [w, h]: [u32; 2], word: &str, theme: Theme) -> Result<RgbImage, DrawError> {
        let mut cell = RgbImage::from_pixel(w, h, image::Rgb(frame(theme).0));
        let line = (self.em / 12.0).round() as u32;
        let inside = [w, h].map(|side| side.saturating_sub(2 * line));
        if inside.contains(&0) {
            return Ok(cell);
        }
        let mut strip = Strip::new(inside, theme);
        let room = f64::from(inside[0]) - self.em;
        let lines = wrap(word, room.max(0.0), 2, plain(self.em));
        let font = Font { color: theme.muted, ..plain(self.em) };
        strip.lines(&lines, inside.map(|side| 0.5 * f64::from(side)), Anchor::Middle, font);
        blit(&mut cell, &strip.pixels()?, [line, line]);
        Ok(cell)
    }
}

/// The colour of the frames of missing images.
pub(super) fn frame(theme: Theme) -> Color {
    theme.grid.mix(theme.axis, 0.4)
}
