//! Contact sheets: images of one size in rows and columns, labelled by their parameters.
//!
//! Images are copied pixel by pixel, and everything else is laid out in whole pixels around them. Text grows with the
//! images, so that it can be read when a large sheet is shown small.

use crate::DrawError;
use image::RgbImage;
use rayon::prelude::*;

use super::chart::{Anchor, Color, Drawing, Font, Theme, ThemeName, text_width};

/// Longest side of a sheet, pixels: few viewers support more.
pub const LONGEST_SIDE: u32 = 32_767;

/// Size of the text in sides of a cell, and the least that can be read, pixels.
const EM: f64 = 0.07;
const LEAST_EM: f64 = 11.0;
/// Distance of lines, ems.
const LINE: f64 = 1.25;
/// Size of the title, ems.
const TITLE: f64 = 1.25;
/// Room between labels and the name above them, and between labels and cells, ems.
const NAME: f64 = 0.3;
const ABOVE: f64 = 0.25;
/// How wide a title may make a sheet that would be narrower, ems.
const TITLE_WIDTH: f64 = 30.0;
/// Where a line has its baseline, so that its middle is at 0, ems.
const BASELINE: f64 = 0.36;

/// A parameter along a side.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Side {
    /// The parameter's name; may be empty.
    pub name: String,
    /// Labels of its values: one for each cell along the side, or none.
    pub labels: Vec<String>,
}

/// The labels beside the cells.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Headings {
    /// Parameters that all cells have in common; may be empty.
    pub page: String,
    /// Number of columns and of rows.
    pub size: [usize; 2],
    /// Above the columns.
    pub columns: Side,
    /// Left of the rows.
    pub rows: Side,
    /// Below each cell, row by row; or none.
    pub captions: Vec<String>,
}

/// A contact sheet without its images.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sheet {
    /// The title above everything; may be empty.
    pub title: String,
    /// The labels beside the cells.
    pub headings: Headings,
    /// Width and height of a cell, pixels.
    pub cell: [u32; 2],
    /// Pixels between cells.
    pub gap: u32,
    /// Colours of everything else.
    pub theme: ThemeName,
}

/// The contents of a cell.
#[derive(Debug, Clone, Copy)]
pub enum Picture<'a> {
    /// An image of the size of a cell.
    Image(&'a RgbImage),
    /// No image yet: a frame with a word that says so.
    Missing(&'a str),
}

impl Sheet {
    /// Width and height with everything, pixels.
    ///
    /// # Errors
    /// It would be larger than [`LONGEST_SIDE`]: how large.
    pub fn size(&self) -> Result<[u32; 2], DrawError> {
        Layout::new(self).map(|layout| layout.size)
    }

    /// The sheet of `pictures`, row by row. Cells beyond the last stay empty.
    ///
    /// # Errors
    /// It would be too large, or an image has another size than a cell.
    pub fn draw(&self, pictures: &[Picture<'_>]) -> Result<RgbImage, DrawError> {
        let layout = Layout::new(self)?;
        self.draw_captioned(&layout, pictures, &layout.captions)
    }

    /// Sheets of one cell, each with the caption of its number, of one size for all captions: the frames of an animation.
    ///
    /// # Errors
    /// As of [`Sheet::draw`].
    pub fn frames(&self, pictures: &[(usize, Picture<'_>)]) -> Result<Vec<RgbImage>, DrawError> {
        let layout = Layout::new(self)?;
        let frame = |(i, picture): &(usize, Picture<'_>)| {
            let captions = layout.captions.get(*i..=*i).unwrap_or_default();
            self.draw_captioned(&layout, &[*picture], captions)
        };
        pictures.par_iter().map(frame).collect()
    }

    fn draw_captioned(
        &self,
        layout: &Layout,
        pictures: &[Picture<'_>],
        captions: &[Vec<String>],
    ) -> Result<RgbImage, DrawError> {
        let [w, h] = self.cell;
        let [width, height] = layout.size;
        let theme = self.theme.theme();
        let mut sheet = RgbImage::from_pixel(width, height, image::Rgb(theme.background.0));
        blit(&mut sheet, &layout.header(self, theme)?, [0, 0]);
        blit(&mut sheet, &layout.margin(self, theme)?, [0, layout.first[1]]);
        let places = layout.places(self.headings.size);
        for (picture, place) in pictures.iter().zip(places.clone()) {
            match picture {
                Picture::Image(image) if image.dimensions() != (w, h) => {
                    let (found_w, found_h) = image.dimensions();
                    return Err(DrawError::NotACell { image: [found_w, found_h], cell: [w, h] });
                }
                Picture::Image(image) => blit(&mut sheet, image, place),
                Picture::Missing(word) => blit(&mut sheet, &layout.missing(self.cell, word, theme)?, place),
            }
        }
        for (caption, [x, y]) in captions.iter().zip(places) {
            blit(&mut sheet, &layout.caption(self.cell, caption, theme)?, [x, y + h]);
        }
        Ok(sheet)
    }
}

/// Positions of everything, pixels, and the texts broken into lines that fit.
struct Layout {
    em: f64,
    size: [u32; 2],
    /// Top left corner of the first cell.
    first: [u32; 2],
    /// From a cell to the next.
    pitch: [u32; 2],
    title: Vec<String>,
    page: Vec<String>,
    columns: Vec<Vec<String>>,
    rows: Vec<Vec<String>>,
    captions: Vec<Vec<String>>,
}

impl Layout {
    fn new(sheet: &Sheet) -> Result<Self, DrawError> {
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
    fn places(&self, [columns, rows]: [usize; 2]) -> impl Iterator<Item = [u32; 2]> + Clone {
        let ([x, y], [dx, dy]) = (self.first, self.pitch);
        (0..rows as u32)
            .flat_map(move |row| (0..columns as u32).map(move |column| [x + column * dx, y + row * dy]))
    }

    /// Title, and names above columns.
    fn header(&self, sheet: &Sheet, theme: Theme) -> Result<RgbImage, DrawError> {
        let Self { em, first, pitch, .. } = self;
        let mut strip = Strip::new([self.size[0], first[1]], theme);
        let mut y = *em;
        for line in &self.title {
            y += 0.5 * TITLE * LINE * em;
            strip.text(line, [*em, y], Anchor::Start, Font { color: theme.text, ..bold(*em) });
            y += 0.5 * TITLE * LINE * em;
        }
        for line in &self.page {
            strip.text(
                line,
                [*em, y + 0.5 * LINE * em],
                Anchor::Start,
                Font { color: theme.muted, ..plain(*em) },
            );
            y += LINE * em;
        }
        let bottom = f64::from(first[1]) - ABOVE * em;
        let labels = tallest(&self.columns) * LINE * em;
        let half = 0.5 * f64::from(sheet.cell[0]);
        for (lines, x) in self.columns.iter().zip((0..).map(|i| f64::from(first[0] + i * pitch[0]) + half)) {
            // The last line is next to the cells.
            let middle = bottom - 0.5 * lines.len() as f64 * LINE * em;
            strip.lines(lines, [x, middle], Anchor::Middle, Font { color: theme.text, ..plain(*em) });
        }
        let columns = sheet.headings.size[0] as f64;
        let center = f64::from(first[0]) + 0.5 * (columns * f64::from(pitch[0]) - f64::from(sheet.gap));
        let room = 2.0 * center.min(f64::from(self.size[0]) - center);
        let name = elide(&sheet.headings.columns.name, room, plain(*em));
        let at = [center, bottom - labels - (NAME + 0.5 * LINE) * em];
        strip.text(&name, at, Anchor::Middle, Font { color: theme.muted, ..plain(*em) });
        strip.pixels()
    }

    /// Names left of rows.
    fn margin(&self, sheet: &Sheet, theme: Theme) -> Result<RgbImage, DrawError> {
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
    fn caption(&self, [w, _]: [u32; 2], lines: &[String], theme: Theme) -> Result<RgbImage, DrawError> {
        let height = tallest(&self.captions) * LINE * self.em + 0.3 * self.em;
        let mut strip = Strip::new([w, height.floor() as u32], theme);
        let middle = 0.2 * self.em + 0.5 * lines.len() as f64 * LINE * self.em;
        let font = Font { color: theme.text, ..plain(self.em) };
        strip.lines(lines, [0.5 * f64::from(w), middle], Anchor::Middle, font);
        strip.pixels()
    }

    /// A cell without an image.
    fn missing(&self, [w, h]: [u32; 2], word: &str, theme: Theme) -> Result<RgbImage, DrawError> {
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

/// A strip of the sheet with text, in pixels from its top left corner. Large sheets are drawn in strips, so that each can
/// be antialiased.
struct Strip {
    drawing: Drawing,
    size: [u32; 2],
}

impl Strip {
    fn new(size: [u32; 2], theme: Theme) -> Self {
        let [w, h] = size.map(f64::from);
        Self { drawing: Drawing::new(w, h, theme.background), size }
    }

    /// Writes a line whose middle is at a height.
    fn text(&mut self, text: &str, [x, y]: [f64; 2], anchor: Anchor, font: Font) {
        self.drawing.text(text, [x, y + BASELINE * font.size], anchor, font);
    }

    /// Writes lines whose common middle is at a height.
    fn lines(&mut self, lines: &[String], [x, y]: [f64; 2], anchor: Anchor, font: Font) {
        for (line, i) in lines.iter().zip(0..) {
            let shift = (f64::from(i) - 0.5 * (lines.len() as f64 - 1.0)) * LINE * font.size;
            self.text(line, [x, y + shift], anchor, font);
        }
    }

    fn pixels(&self) -> Result<RgbImage, DrawError> {
        let [w, h] = self.size;
        let pixels = if w * h == 0 { Vec::new() } else { self.drawing.pixels(w, h)? };
        RgbImage::from_raw(w, h, pixels).ok_or(DrawError::NoPixels("a part of the sheet"))
    }
}

/// The colour of the frames of missing images.
fn frame(theme: Theme) -> Color {
    theme.grid.mix(theme.axis, 0.4)
}

/// A font whose colour is not asked for, or set later.
fn plain(size: f64) -> Font {
    Font { size, color: Color([0; 3]), bold: false }
}

fn bold(em: f64) -> Font {
    Font { size: TITLE * em, bold: true, ..plain(em) }
}

/// The largest number of lines of any text.
fn tallest(texts: &[Vec<String>]) -> f64 {
    texts.iter().map(Vec::len).max().unwrap_or(0) as f64
}

/// The text in at most `most` lines of a width, broken where words end, the last cut short if need be.
fn wrap(text: &str, width: f64, most: usize, font: Font) -> Vec<String> {
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
pub(super) fn elide(text: &str, width: f64, font: Font) -> String {
    if text_width(text, font) <= width {
        return text.to_owned();
    }
    let cuts = text.char_indices().rev().map(|(end, _)| format!("{}…", text[..end].trim_end()));
    cuts.into_iter().find(|cut| text_width(cut, font) <= width).unwrap_or_default()
}

/// Copies an image to a place, as far as there is room.
fn blit(sheet: &mut RgbImage, image: &RgbImage, [x, y]: [u32; 2]) {
    let rows = [sheet.width(), image.width()].map(|width| width as usize * 3);
    let x = (x as usize * 3).min(rows[0]);
    let most = rows[1].min(rows[0] - x);
    let from = image.chunks_exact(rows[1].max(1));
    let to = sheet.chunks_exact_mut(rows[0].max(1)).skip(y as usize);
    to.zip(from).for_each(|(to, from)| to[x..x + most].copy_from_slice(&from[..most]));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn image(seed: u32, [w, h]: [u32; 2]) -> RgbImage {
        RgbImage::from_fn(w, h, |x, y| image::Rgb([x, y, seed].map(|i| (i * 37 + seed * 11) as u8)))
    }

    fn owned(labels: &[&str]) -> Vec<String> {
        labels.iter().map(|label| (*label).to_owned()).collect()
    }

    fn sheet(columns: &[&str], rows: &[&str]) -> Sheet {
        let side = |name: &str, labels| Side { name: name.to_owned(), labels: owned(labels) };
        Sheet {
            title: "preview.toml".into(),
            headings: Headings {
                page: "ior = 1.5".into(),
                size: [columns.len(), rows.len()],
                columns: side("roughness", columns),
                rows: side("metallic", rows),
                captions: Vec::new(),
            },
            cell: [64, 48],
            gap: 5,
            theme: ThemeName::Light,
        }
    }

    fn part(sheet: &RgbImage, [x, y]: [u32; 2], [w, h]: [u32; 2]) -> RgbImage {
        RgbImage::from_fn(w, h, |i, j| *sheet.get_pixel(x + i, y + j))
    }

    fn is_plain(sheet: &RgbImage, place: [u32; 2], size: [u32; 2]) -> bool {
        let background = ThemeName::Light.theme().background.0;
        part(sheet, place, size).pixels().all(|pixel| pixel.0 == background)
    }

    #[test]
    fn images_are_copied_to_whole_pixels() {
        for captions in [&[][..], &["a", "b b b b b b b b b b", "c", "d", "e"]] {
            let mut sheet = sheet(&["0", "0.5", "1"], &["0", "1"]);
            sheet.headings.captions = owned(captions);
            let images: Vec<_> = (0..5).map(|i| image(i, sheet.cell)).collect();
            let drawn = sheet.draw(&images.iter().map(Picture::Image).collect::<Vec<_>>()).unwrap();
            assert_eq!(sheet.size(), Ok([drawn.width(), drawn.height()]));
            let layout = Layout::new(&sheet).unwrap();
            let places: Vec<_> = layout.places([3, 2]).collect();
            for (image, place) in images.iter().zip(&places) {
                assert_eq!(part(&drawn, *place, sheet.cell), *image);
            }
            let [x, y] = places[0];
            assert_eq!(places[1], [x + 64 + 5, y]);
            assert!(is_plain(&drawn, [x + 64, y], [5, 48]), "the gap");
            assert!(is_plain(&drawn, places[5], sheet.cell), "beyond the last");
            assert!(!is_plain(&drawn, [0, 0], [drawn.width(), y]), "the headings");
            assert!(!is_plain(&drawn, [0, y], [x, 2 * 48]), "names of rows");
            let below = is_plain(&drawn, [x, y + 48], [64, places[3][1] - y - 48]);
            assert_eq!(below, captions.is_empty());
        }
    }

    #[test]
    fn labels_stay_above_their_columns() {
        let long = [
            "random_walk of many steps and more",
            "compensated",
            "…roughness = 0.125, alpha = 0.015625",
            "iiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiii",
        ];
        for cell in [[24, 24], [64, 48], [512, 300]] {
            let mut sheet = Sheet { cell, title: String::new(), ..sheet(&long, &long) };
            sheet.headings.page.clear();
            sheet.headings.columns.name.clear();
            let drawn = sheet.draw(&[]).unwrap();
            let layout = Layout::new(&sheet).unwrap();
            let [x, y] = layout.first;
            for i in 1..4 {
                assert!(is_plain(&drawn, [x + i * layout.pitch[0] - 3, 0], [1, y]), "{cell:?}, column {i}");
            }
            assert!(
                is_plain(&drawn, [0, 0], [drawn.width(), 4]) && is_plain(&drawn, [0, 0], [4, drawn.height()])
            );
            assert!(is_plain(&drawn, [x - 1, 0], [1, drawn.height()]), "between names of rows and cells");
        }
    }

    #[test]
    fn missing_images_have_a_frame_and_a_word() {
        let sheet = sheet(&["0"], &["1"]);
        let drawn = sheet.draw(&[Picture::Missing("stopped")]).unwrap();
        let [x, y] = Layout::new(&sheet).unwrap().first;
        let frame = frame(ThemeName::Light.theme()).0;
        for [dx, dy] in [[0, 0], [63, 0], [0, 47], [63, 47], [30, 0]] {
            assert_eq!(drawn.get_pixel(x + dx, y + dy).0, frame);
        }
        assert!(!is_plain(&drawn, [x + 2, y + 2], [60, 44]));
        let empty = sheet.draw(&[Picture::Missing("")]).unwrap();
        assert!(is_plain(&empty, [x + 2, y + 2], [60, 44]));
    }

    #[test]
    fn frames_have_one_size() {
        let mut sheet = sheet(&[], &[]);
        sheet.headings = Headings {
            size: [1, 1],
            captions: owned(&["roughness = 0", "roughness = 0.25, metallic = 1"]),
            ..Headings::default()
        };
        let image = image(1, sheet.cell);
        let frames = sheet.frames(&[0, 1].map(|i| (i, Picture::Image(&image)))).unwrap();
        assert_eq!(frames[0].dimensions(), frames[1].dimensions());
        assert_ne!(frames[0], frames[1], "the captions");
        let one = sheet.draw(&[Picture::Image(&image)]).unwrap();
        assert_eq!(one, frames[0]);
    }

    #[test]
    fn sheets_have_limits() {
        let huge = Sheet { cell: [16_384, 10], ..sheet(&["0", "1"], &["0"]) };
        let error = huge.size().unwrap_err().to_string();
        assert!(error.ends_with("pixels is too large: a side has at most 32767"), "{error}");
        let sheet = sheet(&["0"], &["0"]);
        let error = sheet.draw(&[Picture::Image(&image(0, [64, 47]))]).unwrap_err().to_string();
        assert_eq!(error, "an image of 64 × 47 pixels in a sheet of 64 × 48");
    }

    #[test]
    fn lines_fit_and_say_when_they_are_cut() {
        let font = plain(11.0);
        for (text, width, most, lines) in [
            ("0.5", 60.0, 2, &["0.5"][..]),
            ("", 60.0, 2, &[]),
            ("random_walk", 60.0, 2, &["random_", "walk"]),
            ("random_walk", 60.0, 1, &["random_…"]),
            ("0.25, 0.5, 0.75", 60.0, 2, &["0.25, 0.5,", "0.75"]),
            ("random_walk", 1.0, 2, &["", ""]),
        ] {
            let found = wrap(text, width, most, font);
            assert_eq!(found, lines, "{text}");
            assert!(found.iter().all(|line| text_width(line, font) <= width), "{found:?}");
        }
    }
}
