//! Drawing marks, by `plotters`' back ends for bitmaps and SVG.
//!
//! Both count in whole units, so both get finer ones than the reader sees: bitmaps are drawn larger and averaged, SVG has
//! a view box of tenths.

use std::sync::Once;

use image::codecs::png::{CompressionType, FilterType, PngEncoder};
use image::{ExtendedColorType, ImageEncoder};
use plotters::prelude::{BitMapBackend, SVGBackend};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{FontDesc, FontFamily, FontStyle, FontTransform, TextStyle, register_font};
use plotters_backend::{BackendCoord, BackendStyle, DrawingBackend};
use rayon::prelude::*;

use super::{Anchor, Color, Drawing, Font, Mark};
use crate::DrawError;

/// The family that SVG asks its viewer for, and that bitmaps have at hand.
const FAMILY: &str = "DejaVu Sans, Verdana, sans-serif";

/// The font that bitmaps are drawn with, and that the layout of both formats is measured by.
fn register_fonts() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let fonts = [
            (FontStyle::Normal, &include_bytes!("../../../../assets/fonts/DejaVuSans.ttf")[..]),
            (FontStyle::Bold, &include_bytes!("../../../../assets/fonts/DejaVuSans-Bold.ttf")[..]),
        ];
        for (style, bytes) in fonts {
            // Fails only for what is no font; drawing then reports that there is none.
            let _ = register_font(FAMILY, style, bytes);
        }
    });
}

/// Height of the font from ascent to descent, which is what `ab_glyph` scales by, in ems.
const LINE_OF_EM: f64 = 2384.0 / 2048.0;
/// Divisor that `plotters` applies to font sizes in SVG.
const SVG_LINE_OF_EM: f64 = 1.24;

/// Pixels of a bitmap, at most, before averaging.
const MOST_PIXELS: u64 = 100_000_000;

/// Units of the view box in a pixel.
const SVG_UNITS: f64 = 10.0;

fn font_desc(font: Font, size: f64) -> FontDesc<'static> {
    register_fonts();
    let style = if font.bold { FontStyle::Bold } else { FontStyle::Normal };
    FontDesc::new(FontFamily::Name(FAMILY), size, style)
}

/// How wide text is, logical units.
pub fn text_width(text: &str, font: Font) -> f64 {
    const FINE: f64 = 32.0;
    let desc = font_desc(font, font.size * LINE_OF_EM * FINE);
    desc.box_size(text).map_or(0.0, |(w, _)| f64::from(w) / FINE)
}

/// A line of some width; areas have no width.
struct Pen(Color, f64);

impl BackendStyle for Pen {
    fn color(&self) -> plotters_backend::BackendColor {
        let [r, g, b] = self.0.0;
        plotters_backend::BackendColor { alpha: 1.0, rgb: (r, g, b) }
    }

    fn stroke_width(&self) -> u32 {
        self.1.round().max(1.0) as u32
    }
}

impl Drawing {
    /// The chart as RGB bytes, `width` × `height` pixels.
    pub fn pixels(&self, width: u32, height: u32) -> Result<Vec<u8>, DrawError> {
        let fits = |n: &u32| u64::from(width * n) * u64::from(height * n) <= MOST_PIXELS;
        let fine = (1..=4).rev().find(fits).unwrap_or(1);
        let (w, h) = (width * fine, height * fine);
        let mut buffer = self.background.0.repeat(w as usize * h as usize);
        {
            let mut backend = BitMapBackend::with_buffer(&mut buffer, (w, h));
            let scale = f64::from(w) / self.width;
            self.draw(&mut backend, &Bitmap, scale).map_err(DrawError::refused)?;
        }
        Ok(averaged(&buffer, [width as usize, height as usize], fine as usize))
    }

    /// The chart as a PNG file of `width` × `height` pixels.
    pub fn png(&self, width: u32, height: u32) -> Result<Vec<u8>, DrawError> {
        let pixels = self.pixels(width, height)?;
        let mut out = Vec::new();
        PngEncoder::new_with_quality(&mut out, CompressionType::Best, FilterType::Adaptive)
            .write_image(&pixels, width, height, ExtendedColorType::Rgb8)
            .map_err(DrawError::refused)?;
        Ok(out)
    }

    /// The chart as an SVG file that shows in `width` × `height` pixels.
    pub fn svg(&self, width: u32, height: u32) -> Result<String, DrawError> {
        let scale = f64::from(width) / self.width * SVG_UNITS;
        let size = [width, height].map(|side| (f64::from(side) * SVG_UNITS) as u32);
        let mut text = String::new();
        {
            let mut backend = SVGBackend::with_string(&mut text, (size[0], size[1]));
            let corner = (size[0] as i32, size[1] as i32);
            let background = Pen(self.background, 1.0);
            backend.draw_rect((0, 0), corner, &background, true).map_err(DrawError::refused)?;
            self.draw(&mut backend, &Vector, scale).map_err(DrawError::refused)?;
        }
        let view_box = format!("width=\"{}\" height=\"{}\" viewBox", size[0], size[1]);
        Ok(text.replacen(&view_box, &format!("width=\"{width}\" height=\"{height}\" viewBox"), 1))
    }

    /// Draws the marks with so many units of the format in a logical unit.
    fn draw<B: DrawingBackend>(
        &self,
        backend: &mut B,
        format: &impl Format<B>,
        scale: f64,
    ) -> Result<(), Error<B>> {
        let place = |[x, y]: [f64; 2]| ((x * scale).round() as i32, (y * scale).round() as i32);
        let places = |points: &[[f64; 2]]| points.iter().map(|p| place(*p)).collect::<Vec<_>>();
        for mark in &self.marks {
            match mark {
                Mark::Line { points, width, color } => {
                    format.line(backend, &places(points), &Pen(*color, width * scale))?;
                }
                Mark::Area { points, color } => backend.fill_polygon(places(points), &Pen(*color, 1.0))?,
                Mark::Dot { center, radius, color } => {
                    let radius = (radius * scale).round() as u32;
                    backend.draw_circle(place(*center), radius, &Pen(*color, 1.0), true)?;
                }
                Mark::Text { text, at, anchor, upwards, font } => {
                    let (size, rise) = format.text_size(font.size * scale);
                    let shift = if *upwards { [-rise, 0.0] } else { [0.0, -rise] };
                    let at = place([at[0] + shift[0] / scale, at[1] + shift[1] / scale]);
                    backend.draw_text(text, &text_style(*font, size, *anchor, *upwards), at)?;
                }
            }
        }
        backend.present()
    }
}

type Error<B> = plotters_backend::DrawingErrorKind<<B as DrawingBackend>::ErrorType>;

fn text_style(font: Font, size: f64, anchor: Anchor, upwards: bool) -> TextStyle<'static> {
    let h_pos = match anchor {
        Anchor::Start => HPos::Left,
        Anchor::Middle => HPos::Center,
        Anchor::End => HPos::Right,
    };
    let turn = if upwards { FontTransform::Rotate270 } else { FontTransform::None };
    let mut style = TextStyle::from(font_desc(font, size).transform(turn)).pos(Pos::new(h_pos, VPos::Top));
    style.color = Pen(font.color, 1.0).color();
    style
}

/// The operations that differ between formats.
trait Format<B: DrawingBackend> {
    /// For an em of so many units: the size that `plotters` wants, and how far above the baseline it then puts the top.
    fn text_size(&self, em: f64) -> (f64, f64);
    /// Draws a line.
    fn line(&self, backend: &mut B, points: &[BackendCoord], pen: &Pen) -> Result<(), Error<B>>;
}

struct Vector;

impl<B: DrawingBackend> Format<B> for Vector {
    fn text_size(&self, em: f64) -> (f64, f64) {
        (em * SVG_LINE_OF_EM, 0.76 * em)
    }

    fn line(&self, backend: &mut B, points: &[BackendCoord], pen: &Pen) -> Result<(), Error<B>> {
        backend.draw_path(points.iter().copied(), pen)
    }
}

struct Bitmap;

impl<B: DrawingBackend> Format<B> for Bitmap {
    fn text_size(&self, em: f64) -> (f64, f64) {
        let size = em * LINE_OF_EM;
        (size, (size / 2.0).floor())
    }

    /// Segment by segment with round joints: the outlines that `plotters` makes of wide lines have spikes where points
    /// are close.
    fn line(&self, backend: &mut B, points: &[BackendCoord], pen: &Pen) -> Result<(), Error<B>> {
        let half = 0.5 * pen.1;
        for pair in points.windows(2) {
            let [(ax, ay), (bx, by)] = [pair[0], pair[1]].map(|(x, y)| (f64::from(x), f64::from(y)));
            let (dx, dy) = (bx - ax, by - ay);
            let length = dx.hypot(dy);
            if length == 0.0 {
                continue;
            }
            let (nx, ny) = (-dy / length * half, dx / length * half);
            let corners = [(ax + nx, ay + ny), (bx + nx, by + ny), (bx - nx, by - ny), (ax - nx, ay - ny)];
            let corners = corners.map(|(x, y)| (x.round() as i32, y.round() as i32));
            backend.fill_polygon(corners, &Pen(pen.0, 1.0))?;
        }
        if points.len() > 2 && half >= 2.0 {
            for joint in &points[1..points.len() - 1] {
                backend.draw_circle(*joint, (half - 0.5) as u32, &Pen(pen.0, 1.0), true)?;
            }
        }
        Ok(())
    }
}

/// The means of `fine` × `fine` pixels each.
fn averaged(buffer: &[u8], [width, height]: [usize; 2], fine: usize) -> Vec<u8> {
    let mut out = vec![0; width * height * 3];
    let (row, area) = (width * fine * 3, (fine * fine) as u32);
    out.par_chunks_exact_mut((width * 3).max(1)).zip(buffer.par_chunks_exact((row * fine).max(1))).for_each(
        |(out, rows)| {
            let mut sums = vec![0_u32; width * 3];
            for row in rows.chunks_exact(row.max(1)) {
                for (sums, square) in sums.chunks_exact_mut(3).zip(row.chunks_exact(3 * fine)) {
                    for pixel in square.chunks_exact(3) {
                        (0..3).for_each(|c| sums[c] += u32::from(pixel[c]));
                    }
                }
            }
            out.iter_mut().zip(sums).for_each(|(out, sum)| *out = ((sum + area / 2) / area) as u8);
        },
    );
    out
}
