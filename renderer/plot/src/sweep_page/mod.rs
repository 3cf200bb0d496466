//! A self-contained HTML page of the variants of a sweep: a slider for every parameter, the variant beside a baseline,
//! their difference, thumbnails to choose from, and a chart of the statistics. It opens from disk.
//!
//! The page is `page.html` with `page.css` and the scripts beside it, after those of all pages (`web`). The variants are
//! described in JSON (`data.rs`), from which scripts build everything; pixels (`levels.rs`) are at the end of the file, and
//! are decoded when a variant is shown, its neighbours ahead of time.

mod data;
mod levels;
mod thumbnail;

use std::io::{self, ErrorKind};

use torrance_image::film::Image;
use torrance_image::film::develop::Develop;

use super::chart::ThemeName;
use super::sheet::Side;
use super::web::{self, Escaped};

use levels::Levels;
use thumbnail::thumbnail;

/// The contents of a page.
#[derive(Debug, Clone, Copy)]
pub struct Page<'a> {
    /// The heading.
    pub title: &'a str,
    /// Facts that all variants have in common, by name and value: scene, device, samples per pixel …
    pub facts: &'a [(String, String)],
    /// The parameters; the first changes fastest. Each has at least one label.
    pub axes: &'a [Side],
    /// Names of the statistics of each variant.
    pub columns: &'a [&'a str],
    /// The variants: one for each combination of values of the axes.
    pub variants: &'a [Variant],
    /// The initial baseline of comparison: an index into the values of each axis, or `None` for the variant's own value.
    /// `[None, Some(0)]` compares with the first value of the second parameter, everything else equal. Axes that
    /// are left out have their first value.
    pub baseline: &'a [Option<usize>],
    /// Development of images initially, and of thumbnails always.
    pub develop: Develop,
}

/// One variant.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Variant {
    /// Its name: `roughness = 0.5, metallic = 1`.
    pub name: String,
    /// Statistics, one number for each column; numbers may be NaN. Empty if nothing was measured.
    pub statistics: Vec<f64>,
}

/// Target size of a page's pixels, bytes: small enough for a browser to open at once. A pixel takes 3 to 5 bytes at the
/// precision of half floats, depending on noise, and about 2.5 at that of a display, so 64 variants of 512² pixels fit. A
/// thumbnail takes some 6 KB beside that.
pub const BUDGET: usize = 64 << 20;

/// The error of a page whose parts do not fit together.
fn unfit(reason: String) -> io::Error {
    io::Error::new(ErrorKind::InvalidInput, reason)
}

/// Writes the page. `image` returns the linear radiance of a variant, or `None` if it is missing, which the page states. It
/// is called once for each variant, in order, and only one image is kept at a time.
///
/// If pixels would take more than `budget` bytes, such as [`BUDGET`], all are stored less precisely, and then images are
/// reduced; the page states this.
///
/// # Errors
/// Writing to `out` fails. [`ErrorKind::InvalidInput`] if the number of variants does not match the axes, a variant's
/// number of statistics does not match the columns, the baseline does not exist, or images differ in size.
pub fn write(
    page: &Page<'_>,
    budget: usize,
    image: &mut dyn FnMut(usize) -> Option<Image>,
    out: &mut dyn io::Write,
) -> io::Result<()> {
    page.check()?;
    let mut levels = Levels::new(budget);
    let mut thumbnails = Vec::new();
    for i in 0..page.variants.len() {
        let image = image(i);
        levels.add(image.as_ref())?;
        thumbnails.push(image.map(|image| thumbnail(&image, page.develop)));
    }
    let pixels = levels.finest();
    let data = data::json(page, &pixels, &thumbnails);
    web::write(PAGE, STYLE, &SCRIPTS, out, |name, out| match name {
        "title" => write!(out, "{}", Escaped(page.title)),
        "facts" => page.facts.iter().try_for_each(|(name, value)| {
            writeln!(out, "<div><dt>{}</dt><dd>{}</dd></div>", Escaped(name), Escaped(value))
        }),
        "series" => series(out),
        "data" => write!(out, "{data}"),
        "pixels" => {
            let parts = pixels.parts.iter().enumerate().filter_map(|(i, part)| Some((i, part.as_ref()?)));
            parts.into_iter().try_for_each(|(i, part)| web::write_pixels(&format!("pixels-{i}"), part, out))
        }
        _ => unreachable!("the template names {name}"),
    })
}

const PAGE: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
const SCRIPTS: [&str; 9] = [
    include_str!("sweep.js"),
    include_str!("cache.js"),
    include_str!("address.js"),
    include_str!("viewer.js"),
    include_str!("sliders.js"),
    include_str!("contact.js"),
    include_str!("chart.js"),
    include_str!("table.js"),
    include_str!("page.js"),
];

impl Page<'_> {
    /// Checks that numbers of variants, statistics and baselines are consistent.
    fn check(&self) -> io::Result<()> {
        let combinations = self.axes.iter().map(|axis| axis.labels.len()).fold(1, usize::saturating_mul);
        let variants = self.variants.len();
        if variants != combinations {
            return Err(unfit(format!("{variants} variants of {combinations} combinations")));
        }
        let expected = self.columns.len();
        let is_wrong = |variant: &&Variant| ![0, expected].contains(&variant.statistics.len());
        if let Some(variant) = self.variants.iter().find(is_wrong) {
            let (name, found) = (&variant.name, variant.statistics.len());
            return Err(unfit(format!("{name:?}: {found} numbers of {expected}")));
        }
        let is_beyond = |(axis, at): (&Side, &Option<usize>)| at.is_some_and(|at| at >= axis.labels.len());
        if self.baseline.len() > self.axes.len() || self.axes.iter().zip(self.baseline).any(is_beyond) {
            return Err(unfit(format!("there is no baseline {:?}", self.baseline)));
        }
        Ok(())
    }
}

/// The colours of curves, as variables of styles.
fn series(out: &mut dyn io::Write) -> io::Result<()> {
    let [light, dark] = [ThemeName::Light, ThemeName::Dark].map(|name| name.theme().series);
    for (i, (light, dark)) in light.iter().zip(&dark).enumerate() {
        let [light, dark] = [light, dark].map(|color| {
            let [r, g, b] = color.0;
            format!("#{r:02x}{g:02x}{b:02x}")
        });
        writeln!(out, "  --series-{i}: light-dark({light}, {dark});")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn image(width: u32) -> Image {
        Image { width, height: 1, pixels: vec![[0.5; 3]; width as usize] }
    }

    /// The page with two axes of 2 and 3 values as written after `change`.
    fn written(change: impl FnOnce(&mut Page<'_>), widths: [u32; 6]) -> io::Result<Vec<u8>> {
        let side = |n: usize| Side { name: "a".into(), labels: (0..n).map(|i| i.to_string()).collect() };
        let variants = vec![Variant { name: "v".into(), statistics: vec![1.0] }; 6];
        let axes = [side(2), side(3)];
        let mut page = Page {
            title: "t",
            facts: &[],
            axes: &axes,
            columns: &["mean"],
            variants: &variants,
            baseline: &[None, Some(2)],
            develop: Develop::default(),
        };
        change(&mut page);
        let mut bytes = Vec::new();
        write(&page, BUDGET, &mut |i| Some(image(widths[i])), &mut bytes).map(|()| bytes)
    }

    #[test]
    fn what_does_not_fit_together_is_refused() {
        assert!(written(|_| {}, [4; 6]).is_ok());
        type Change = fn(&mut Page<'_>);
        let wrong: [(Change, &str); 5] = [
            (|page| page.variants = &page.variants[1..], "5 variants of 6 combinations"),
            (|page| page.axes = &[], "6 variants of 1 combinations"),
            (|page| page.columns = &["mean", "max"], "\"v\": 1 numbers of 2"),
            (|page| page.baseline = &[Some(2)], "there is no baseline [Some(2)]"),
            (|page| page.baseline = &[None; 3], "there is no baseline [None, None, None]"),
        ];
        for (change, message) in wrong {
            let error = written(change, [4; 6]).expect_err(message);
            assert_eq!((error.kind(), error.to_string().as_str()), (ErrorKind::InvalidInput, message));
        }
        let error = written(|_| {}, [4, 4, 4, 5, 4, 4]).expect_err("two sizes");
        assert_eq!(error.to_string(), "an image of 5 × 1 pixels among some of 4 × 1");
    }
}
