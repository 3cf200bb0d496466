//! The pictures of a sweep: contact sheets, and an animation.

use std::ops::Range;
use std::time::Duration;

use image::RgbImage;
use rayon::prelude::*;
use torrance_image::compare::maps;
use torrance_image::compare::words::percent;
use torrance_image::film::encode::png_rgb8;
use torrance_plot::sheet::{Headings, Picture, Sheet};
use torrance_plot::{DrawError, animation};

use super::plan::Plan;
use super::results::Results;
use super::verdict::{ComparisonMap, VariantComparison, Verdict};

/// How long an image of an animation is shown.
const FRAME: Duration = Duration::from_millis(250);

/// The images that a sheet is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SheetKind {
    /// The variants of the scene.
    Variants,
    /// The variants of the scene that they are compared with.
    Others,
    /// Differences between the two.
    Differences,
}

impl Plan {
    /// Checks that sheets whose cells have this width and height will not be too large.
    ///
    /// # Errors
    /// They would be too large.
    pub fn check_sheets(&self, cell: [u32; 2]) -> Result<(), DrawError> {
        let fits = |page| self.sheet(page, cell).size().map(drop);
        (0..self.grid.pages()).try_for_each(fits)
    }

    /// The sheet of a page, without its images.
    fn sheet(&self, page: usize, cell: [u32; 2]) -> Sheet {
        let style = &self.style;
        Sheet {
            title: style.title.clone(),
            headings: self.grid.headings(page),
            cell,
            gap: style.gap,
            theme: style.theme,
        }
    }
}

impl Results<'_> {
    /// Whether there is nothing to show, as of a sweep that was interrupted at once.
    pub fn is_empty(&self) -> bool {
        self.variants.iter().all(Option::is_none)
    }

    /// Width and height of cells.
    fn cell(&self) -> [u32; 2] {
        let there = self.variants.iter().flatten().next();
        there.map_or([0; 2], |result| result.cell.dimensions().into())
    }

    /// The image of a variant.
    fn picture(&self, i: usize) -> Picture<'_> {
        let result = self.variants[i].as_ref();
        result.map_or(Picture::Missing("not rendered"), |result| Picture::Image(&result.cell))
    }

    /// The sheets of a kind, page by page, each as PNG.
    pub fn sheets(&self, kind: SheetKind) -> Vec<Result<Vec<u8>, DrawError>> {
        let differences = (kind == SheetKind::Differences).then(|| Differences::new(self));
        let pages = 0..self.sweep.plan.grid.pages();
        pages.map(|page| self.sheet(page, kind, differences.as_ref())).collect()
    }

    fn sheet(
        &self,
        page: usize,
        kind: SheetKind,
        differences: Option<&Differences<'_>>,
    ) -> Result<Vec<u8>, DrawError> {
        let plan = self.sweep.plan;
        let mut sheet = plan.sheet(page, self.cell());
        let variants = plan.grid.page(page);
        let pictures: Vec<_> = match (kind, differences) {
            (_, Some(differences)) => {
                differences.label(&mut sheet, variants.clone());
                variants.map(|i| differences.picture(i)).collect()
            }
            (SheetKind::Others, None) => {
                sheet.title = plan.title_against(&sheet.title);
                variants.map(|i| self.picture(plan.grid.variants() + i)).collect()
            }
            (_, None) => variants.map(|i| self.picture(i)).collect(),
        };
        let drawn = sheet.draw(&pictures)?;
        png_rgb8(drawn.width(), drawn.height(), &drawn).map_err(|e| DrawError::Refused(e.to_string()))
    }

    /// An animated PNG of the variants that are there, one after the other.
    ///
    /// # Errors
    /// They cannot be drawn or encoded.
    pub fn animation(&self) -> Result<Vec<u8>, DrawError> {
        let plan = self.sweep.plan;
        let grid = &plan.grid;
        let sheet = Sheet {
            headings: Headings {
                size: [1, 1],
                captions: (0..grid.variants()).map(|i| grid.name(i)).collect(),
                ..Headings::default()
            },
            ..plan.sheet(0, self.cell())
        };
        let pictures = (0..grid.variants()).map(|i| (i, self.picture(i)));
        let there: Vec<_> = pictures.filter(|(_, picture)| matches!(picture, Picture::Image(_))).collect();
        animation::png(&sheet.frames(&there)?, FRAME)
    }

    /// The other side of the comparison, in words.
    fn with_what(&self) -> String {
        let Plan { scene, against, grid, pairs, .. } = self.sweep.plan;
        if let Some(name) = against {
            return if name == scene { format!("the other {name}") } else { name.clone() };
        }
        let values = pairs.iter().flat_map(|pairs| &pairs.baseline).enumerate();
        let named = |(axis, value): (usize, &Option<usize>)| {
            value.map(|i| format!("{} = {}", grid.axes()[axis].label, grid.labels(axis)[i]))
        };
        values.filter_map(named).collect::<Vec<_>>().join(", ")
    }
}

/// Contents of the sheets of differences, of all pages.
struct Differences<'a> {
    results: &'a Results<'a>,
    /// One for each compared variant of the grid.
    pictures: Vec<Option<RgbImage>>,
    /// Legend of the colours.
    scale: String,
}

impl<'a> Differences<'a> {
    /// Paints all differences by one scale.
    fn new(results: &'a Results<'a>) -> Self {
        let all = || results.compared.iter().flatten();
        let size = |compared: &VariantComparison| match &compared.map {
            ComparisonMap::Differences(differences) => differences.deepest(),
            ComparisonMap::Picture(_) => 0.0,
        };
        let deepest = all().map(size).fold(0.0, f32::max);
        let paint = |compared: &VariantComparison| match &compared.map {
            ComparisonMap::Differences(differences) => differences.paint(deepest),
            ComparisonMap::Picture(picture) => picture.clone(),
        };
        let pictures: Vec<_> = results.compared.par_iter().map(|one| one.as_ref().map(paint)).collect();
        let than = || format!(" than {}", results.with_what());
        let scale = all().next().map_or_else(String::new, |compared| match &compared.map {
            ComparisonMap::Differences(differences) => differences.scale(deepest, &than()),
            ComparisonMap::Picture(picture) => picture.scale.replace(" in the first image", &than()),
        });
        let rgb = |picture: maps::Picture| {
            RgbImage::from_raw(picture.width, picture.height, picture.pixels.into_flattened())
        };
        Self { results, pictures: pictures.into_iter().map(|one| one.and_then(rgb)).collect(), scale }
    }

    /// The sheet's cell for a variant.
    fn picture(&self, i: usize) -> Picture<'_> {
        match self.pictures.get(i).and_then(Option::as_ref) {
            Some(picture) => Picture::Image(picture),
            None if self.results.variants[i].is_none() => Picture::Missing("not rendered"),
            None if self.results.is_baseline(i) => Picture::Missing("baseline"),
            None => Picture::Missing("not compared"),
        }
    }

    /// Writes verdicts below the cells of a page.
    fn label(&self, sheet: &mut Sheet, variants: Range<usize>) {
        let headings = &mut sheet.headings;
        let caption = |(i, name): (usize, String)| {
            let compared = self.results.compared.get(i).and_then(Option::as_ref);
            let verdict = compared.map(caption).unwrap_or_default();
            joined([&name, &verdict], ": ")
        };
        let names = std::mem::take(&mut headings.captions);
        let names = names.into_iter().chain(std::iter::repeat(String::new()));
        headings.captions = variants.zip(names).map(caption).collect();
        headings.page = joined([&headings.page, &self.scale], "; ");
    }
}

/// The parts that are not empty, in a line.
fn joined(parts: [&str; 2], separator: &str) -> String {
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(separator)
}

/// The verdict of a cell, in words.
fn caption(compared: &VariantComparison) -> String {
    let sign = if compared.difference < 0.0 { "−" } else { "+" };
    let mean = format!("mean {sign}{}", percent(compared.difference.abs()));
    let mean = if compared.difference.is_finite() { mean } else { "no mean".to_owned() };
    match compared.verdict {
        Verdict::Different => format!("different, {mean}"),
        verdict if compared.detectable.is_finite() => {
            format!("{} within {}, {mean}", verdict.name(), percent(compared.detectable))
        }
        verdict => format!("{}, of unknown noise, {mean}", verdict.name()),
    }
}
