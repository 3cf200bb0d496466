//! Contact sheets: images of one size in rows and columns, labelled by their parameters.
//!
//! Images are copied pixel by pixel, and everything else is laid out in whole pixels around them. Text grows with the
//! images, so that it can be read when a large sheet is shown small.

mod layout;
#[cfg(test)]
mod tests;
mod text;

use image::RgbImage;
use rayon::prelude::*;

use super::chart::ThemeName;
use crate::DrawError;
use layout::Layout;
pub(super) use text::elide;

/// Longest side of a sheet, pixels: few viewers support more.
pub const LONGEST_SIDE: u32 = 32_767;

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
    /// No image yet: a frame with a word in it.
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

/// Copies an image to a position, cropped at the edges.
fn blit(sheet: &mut RgbImage, image: &RgbImage, [x, y]: [u32; 2]) {
    let rows = [sheet.width(), image.width()].map(|width| width as usize * 3);
    let x = (x as usize * 3).min(rows[0]);
    let most = rows[1].min(rows[0] - x);
    let from = image.chunks_exact(rows[1].max(1));
    let to = sheet.chunks_exact_mut(rows[0].max(1)).skip(y as usize);
    to.zip(from).for_each(|(to, from)| to[x..x + most].copy_from_slice(&from[..most]));
}
