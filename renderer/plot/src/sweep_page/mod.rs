//! A page of the variants of a sweep in one file: a slider for every parameter, the variant beside a baseline, their
//! difference, thumbnails to choose from, and a chart of what was measured. It opens from a disk.
//!
//! The page is `page.html` with `page.css` and the scripts beside it, after those of all pages (`web`). What is known of
//! the variants is JSON (`data.rs`), from which scripts build everything; pixels (`levels.rs`) stand at the end of the
//! file, and are decoded when a variant is shown, its neighbours ahead of time.

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

/// What a page shows.
#[derive(Debug, Clone, Copy)]
pub struct Page<'a> {
    /// The heading.
    pub title: &'a str,
    /// What all variants have in common, name and value: scene, device, samples per pixel …
    pub facts: &'a [(String, String)],
    /// The parameters; the first changes fastest. Each has at least one label.
    pub axes: &'a [Side],
    /// Names of what was measured of each variant.
    pub columns: &'a [&'a str],
    /// The variants: as many as the axes have combinations.
    pub variants: &'a [Variant],
    /// What variants are compared with at first: which value each axis has, or `None` for the value of the variant itself.
    /// `[None, Some(0)]` compares with the first value of the second parameter, everything else equal. Axes that are
    /// left out have their first value.
    pub baseline: &'a [Option<usize>],
    /// How images are shown at first, and thumbnails always.
    pub develop: Develop,
}

/// One variant.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Variant {
    /// What it is called: `roughness = 0.5, metallic = 1`.
    pub name: String,
    /// What was measured, one number for each column; numbers may be NaN. Empty where nothing was.
    pub statistics: Vec<f64>,
}

/// Bytes that the pixels of a page take if they can: what a browser opens at once. With all digits of half floats, a pixel
/// takes 3 to 5 bytes, by how noisy it is; with the two digits that a display shows, about 2.5. So 64 variants of 512²
/// pixels fit. A thumbnail takes some 6 KB beside that.
pub const BUDGET: usize = 64 << 20;

/// Writes the page. `image` is the linear radiance of a variant, or `None` if it is missing, which the page says. It is
/// asked once for each, in order, and no two images are kept at a time.
///
/// Where pixels would take more than [`BUDGET`], all have fewer digits, and then images are reduced; the page says so.
///
/// # Errors
/// What `out` says. [`ErrorKind::InvalidInput`] if there are not as many variants as the axes say, a variant has not as
/// many numbers as there are columns, a baseline is not there, or images are not of one size.
pub fn write(
    page: &Page<'_>,
    image: &mut dyn FnMut(usize) -> Option<Image>,
    out: &mut dyn io::Write,
) -> io::Result<()> {
    write_within(page, BUDGET, image, out)
}

/// As [`write()`], with another budget, in bytes.
///
/// # Errors
/// As of [`write()`].
pub fn write_within(
    page: &Page<'_>,
    budget: usize,
    image: &mut dyn FnMut(usize) -> Option<Image>,
    out: &mut dyn io::Write,
) -> io::Result<()> {
    page.check().map_err(|e| io::Error::new(ErrorKind::InvalidInput, e))?;
    let mut levels = Levels::new(budget);
    let mut thumbnails = Vec::new();
    for i in 0..page.variants.len() {
        let image = image(i);
        levels.add(image.as_ref()).map_err(|e| io::Error::new(ErrorKind::InvalidInput, e))?;
        thumbnails.push(image.map(|image| thumbnail(&image, page.develop)));
    }
    let pixels = levels.finest();
    let data = data::of(page, &pixels, &thumbnails);
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
    /// Whether everything is there, and nothing more.
    fn check(&self) -> Result<(), String> {
        let combinations = self.axes.iter().map(|axis| axis.labels.len()).fold(1, usize::saturating_mul);
        if self.variants.len() != combinations {
            return Err(format!("{} variants of {combinations} combinations", self.variants.len()));
        }
        let wanted = self.columns.len();
        let is_wrong = |variant: &&Variant| ![0, wanted].contains(&variant.statistics.len());
        if let Some(variant) = self.variants.iter().find(is_wrong) {
            return Err(format!("{:?}: {} numbers of {wanted}", variant.name, variant.statistics.len()));
        }
        let is_beyond = |(axis, at): (&Side, &Option<usize>)| at.is_some_and(|at| at >= axis.labels.len());
        if self.baseline.len() > self.axes.len() || self.axes.iter().zip(self.baseline).any(is_beyond) {
            return Err(format!("there is no baseline {:?}", self.baseline));
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

    /// What is written of a page with two axes of 2 and 3 values, changed.
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
        write(&page, &mut |i| Some(image(widths[i])), &mut bytes).map(|()| bytes)
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
