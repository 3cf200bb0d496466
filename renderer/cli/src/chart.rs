//! Files with a chart.

use std::path::Path;

use torrance_image::film::write::{Destination, WriteError, WrittenFile};
use torrance_plot::chart::Drawing;
use torrance_text::quoted;

use super::Failure;

/// Pixels of PNG in a logical unit.
const PIXELS_PER_UNIT: f64 = 1.6;

/// A file to draw to.
#[derive(Debug)]
pub(super) struct ChartFile {
    pub(super) destination: Destination,
    is_svg: bool,
}

impl ChartFile {
    /// Checks that a chart can be drawn to what `option` names.
    pub(super) fn check(option: &str, path: &Path) -> Result<Self, Failure> {
        let extension = path.extension().unwrap_or_default().to_ascii_lowercase();
        let is_svg = extension == "svg";
        if !is_svg && extension != "png" {
            let shown = quoted(&path.to_string_lossy());
            return Err(Failure::input(format_args!("{option} {shown}: expected a file .png or .svg")));
        }
        Ok(Self { destination: Destination::check(path).map_err(Failure::input)?, is_svg })
    }

    /// Draws to it.
    pub(super) fn draw(&self, drawing: &Drawing) -> Result<WrittenFile, WriteError> {
        self.draw_to(&self.destination, drawing)
    }

    /// Draws to another place.
    pub(super) fn draw_to(&self, place: &Destination, drawing: &Drawing) -> Result<WrittenFile, WriteError> {
        let [width, height] =
            [drawing.width, drawing.height].map(|side| (side * PIXELS_PER_UNIT).round() as u32);
        let bytes = match self.is_svg {
            true => drawing.svg(width, height).map(String::into_bytes),
            false => drawing.png(width, height),
        };
        place.write_encoded(bytes)
    }
}
