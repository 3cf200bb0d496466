//! Text of contact sheets: strips of pixels, fonts, and line breaks.

use image::RgbImage;

use crate::DrawError;
use crate::chart::{Anchor, Color, Drawing, Font, Theme, text_width};

/// Distance of lines, ems.
pub(super) const LINE: f64 = 1.25;
/// Size of the title, ems.
pub(super) const TITLE: f64 = 1.25;
/// Where a line has its baseline, so that its middle is at 0, ems.
pub(super) const BASELINE: f64 = 0.36;

/// A strip of the sheet with text, in pixels from its top left corner. Large sheets are drawn in strips, so that each can
/// be antialiased.
pub(super) struct Strip {
    pub(super) drawing: Drawing,
    size: [u32; 2],
}

impl Strip {
    pub(super) fn new(size: [u32; 2], theme: Theme) -> Self {
        let [w, h] = size.map(f64::from);
        Self { drawing: Drawing::new(w, h, theme.background), size }
    }

    /// Writes a line whose middle is at a height.
    pub(super) fn text(&mut self, text: &str, [x, y]: [f64; 2], anchor: Anchor, font: Font) {
        self.drawing.text(text, [x, y + BASELINE * font.size], anchor, font);
    }

    /// Writes lines whose common middle is at a height.
    pub(super) fn lines(&mut self, lines: &[String], [x, y]: [f64; 2], anchor: Anchor, font: Font) {
        for (line, i) in lines.iter().zip(0..) {
            let shift = (f64::from(i) - 0.5 * (lines.len() as f64 - 1.0)) * LINE * font.size;
            self.text(line, [x, y + shift], anchor, font);
        }
    }

    pub(super) fn pixels(&self) -> Result<RgbImage, DrawError> {
        let [w, h] = self.size;
        let pixels = if w * h == 0 { Vec::new() } else { self.drawing.pixels(w, h)? };
        RgbImage::from_raw(w, h, pixels).ok_or(DrawError::NoPixels("a part of the sheet"))
    }
}

/// A font whose colour is not asked for, or set later.
pub(super) fn plain(size: f64) -> Font {
    Font { size, color: Color([0; 3]), bold: false }
}

pub(super) fn bold(em: f64) -> Font {
    Font { size: TITLE * em, bold: true, ..plain(em) }
}

/// The largest number of lines of any text.
pub(super) fn tallest(texts: &[Vec<String>]) -> f64 {
    texts.iter().map(Vec::len).max().unwrap_or(0) as f64
}

/// The text in at most `most` lines of a width, broken where words end, the last cut short if need be.
pub(super) fn wrap(text: &str, width: f64, most: usize, font: Font) -> Vec<String> {
    let fits = |text: &str| text_width(text.trim(), font) <= width;
    let mut lines = vec![String::new()];
    for word in text.split_inclusive([' ', '_', '/', ',']) {
        let is_last = lines.len() == most;
        match lines.last_mut() {
            Some(line) if is_last || line.is_empty() || fits(&format!("{line}{word}")) => line.push_str(word),
            _ => lines.push(word.to_owned()),
        }
    }
    lines.retain(|line| !line.trim().is_empty());
    lines.iter().map(|line| elide(line.trim(), width, font)).collect()
}

/// As much of the text as fits, with an ellipsis if that is not all.
pub(crate) fn elide(text: &str, width: f64, font: Font) -> String {
    elide_by(text, |text| text_width(text, font) <= width)
}

/// As [`elide`], by a function that says whether a text fits. It is asked about few, since measuring one takes as long as it
/// is, and users may write what they want.
fn elide_by(text: &str, fits: impl Fn(&str) -> bool) -> String {
    if fits(text) {
        return text.to_owned();
    }
    let ends: Vec<_> = text.char_indices().map(|(end, _)| end).collect();
    let cut = |end: &usize| format!("{}…", text[..*end].trim_end());
    let fitting = ends.partition_point(|end| fits(&cut(end)));
    ends[..fitting].last().map(cut).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn the_longest_start_that_fits_is_kept() {
        let font = plain(12.0);
        let text = "materials.ball.roughness and, é, …  a word  more";
        for width in [0.0, 5.0, 13.0, 60.0, 100.0, 101.5, 155.0, 300.0, 1000.0] {
            let cuts = text.char_indices().rev().map(|(end, _)| format!("{}…", text[..end].trim_end()));
            let mut all = [text.to_owned()].into_iter().chain(cuts);
            let expected = all.find(|cut| text_width(cut, font) <= width).unwrap_or_default();
            assert_eq!(elide(text, width, font), expected, "{width}");
        }
    }

    #[test]
    fn long_texts_are_measured_a_few_times() {
        let (text, measured) = ("x".repeat(1_000_000), Cell::new(0));
        let fits = |text: &str| {
            measured.set(measured.get() + text.len());
            text.len() < 100
        };
        assert_eq!(elide_by(&text, fits).len(), 99);
        assert!(measured.get() < 5 * text.len(), "{} bytes", measured.get());
    }
}
