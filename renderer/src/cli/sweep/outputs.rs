//! The files of a sweep: checked beforehand, written at the end.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use image::RgbImage;

use super::super::chart::ChartFile;
use super::super::failure::Failure;
use super::super::progress::Display;
use super::super::summary::Output;
use super::super::values;
use super::against::DifferenceSheet;
use super::table::{Results, Statistic};
use super::{Args, Plan};
use crate::compare::Region;
use crate::film::Format;
use crate::film::encode::png_rgb8;
use crate::film::write::Destination;
use crate::report::animation;
use crate::report::plot::ThemeName;
use crate::report::sheet::{Headings, Picture, Sheet};
use crate::scene::quoted;
use crate::sweep::{Grid, Parts};

/// How long an image of an animation is shown.
const FRAME: Duration = Duration::from_millis(250);

/// What the contact sheet looks like.
#[derive(Debug, clap::Args)]
pub(super) struct SheetArgs {
    /// Columns of the sheet of one parameter [default: all values in a row]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    cols: Option<u16>,

    /// Part of the images to show and to measure: column and row of its top left pixel, width and height
    #[arg(long, value_name = "X,Y,W,H", value_parser = values::region, allow_hyphen_values = true)]
    pub(super) crop: Option<Region>,

    /// Pixels between images
    #[arg(long, value_name = "PIXELS", default_value = "6", value_parser = clap::value_parser!(u32).range(..=1024))]
    gap: u32,

    /// Colours of the sheet around the images, and of plots
    #[arg(long, value_name = "NAME", default_value = "light", value_parser = values::named(values::THEMES))]
    pub(super) theme: ThemeName,

    /// Title of the sheet [default: the scene's name]; nothing for none
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
}

/// What else is written.
#[derive(Debug, clap::Args)]
pub(super) struct FileArgs {
    /// Folder for the image of every variant, as .exr with its standard errors, and as .png
    #[arg(long, value_name = "FOLDER")]
    variants: Option<PathBuf>,

    /// Table of every variant's mean luminance, percentiles, noise, time and paths a second
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,

    /// Plot of a column of that table, the mean if none is named, against the first parameter: .png or .svg; repeat it.
    /// Columns are mean, min, max, p1, p5, p25, p50, p75, p95, p99, stderr, relative_stderr, non_finite, loss (1 − mean),
    /// spp, paths, seconds, mpaths_per_s, rejected_samples and, compared with others, difference (of means, relative), p,
    /// is_different and flip
    #[arg(long, value_name = "[COLUMN=]FILE")]
    plot: Vec<String>,

    /// Page to look at in a browser: sliders, side by side, differences
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,

    /// Animated PNG of all variants, one after the other
    #[arg(long, value_name = "FILE")]
    animate: Option<PathBuf>,
}

impl SheetArgs {
    pub(super) fn columns(&self) -> Option<usize> {
        self.cols.map(usize::from)
    }

    /// Width and height of a cell for images of a size, pixels.
    pub(super) fn cell(&self, [width, height]: [u32; 2]) -> Result<[u32; 2], Failure> {
        let whole = Region { x: 0, y: 0, width, height };
        match self.crop {
            Some(crop) if !whole.contains(&crop) => Err(Failure::input(format_args!(
                "--crop: {crop} are not all within the image of {width} x {height} pixels"
            ))),
            Some(Region { width, height, .. }) => Ok([width, height]),
            None => Ok([width, height]),
        }
    }
}

/// Which scene's variants a sheet shows, or what of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shows {
    Variants,
    Others,
    Differences,
}

/// Where everything goes.
pub(super) struct Outputs {
    sheet: PathBuf,
    shows: Vec<Shows>,
    csv: Option<Destination>,
    plots: Vec<(Statistic, ChartFile)>,
    html: Option<Destination>,
    animate: Option<Destination>,
    variants: Option<PathBuf>,
}

/// A file that was to be written.
type Written = Result<Output, String>;

impl Outputs {
    /// Checks that everything can be written.
    pub(super) fn check(args: &Args) -> Result<Self, Failure> {
        let png = |option: &str, path: &Path| match Format::of(path) {
            Ok(Format::Png) => Destination::check(path).map_err(Failure::input),
            _ => Err(Failure::input(format_args!(
                "{option} {}: expected a file .png",
                quoted(&path.to_string_lossy())
            ))),
        };
        let destination = |path: &Option<PathBuf>| path.as_deref().map(Destination::check).transpose();
        png("--output", &args.output)?;
        let files = &args.files;
        let parts = Parts::of(&args.output);
        check_folder("what is kept in", parts.folder())?;
        if let Some(folder) = &files.variants {
            check_folder("--variants", folder)?;
            if resolved(folder).zip(resolved(parts.folder())).is_some_and(|(a, b)| a.starts_with(b)) {
                let shown = quoted(&folder.to_string_lossy());
                return Err(Failure::input(format_args!(
                    "--variants {shown}: what is needed to go on is kept there"
                )));
            }
        }
        let plot = |text: &String| {
            let (column, file) = text.split_once('=').unwrap_or(("mean", text));
            let statistic = Statistic::named(column, args.against.compares());
            let statistic = statistic.map_err(|e| Failure::input(format_args!("--plot {text}: {e}")))?;
            Ok((statistic, ChartFile::check("--plot", Path::new(file))?))
        };
        let mut shows = vec![Shows::Variants];
        shows.extend(args.against.other().map(|_| Shows::Others));
        shows.extend(args.against.compares().then_some(Shows::Differences));
        Ok(Self {
            sheet: args.output.clone(),
            shows,
            csv: destination(&files.csv).map_err(Failure::input)?,
            plots: files.plot.iter().map(plot).collect::<Result<_, _>>()?,
            html: destination(&files.html).map_err(Failure::input)?,
            animate: files.animate.as_deref().map(|path| png("--animate", path)).transpose()?,
            variants: files.variants.clone(),
        })
    }

    /// Checks that no file is written twice, and none that scenes are `read` from.
    pub(super) fn check_files(&self, plan: &Plan<'_>, read: &BTreeSet<PathBuf>) -> Result<(), Failure> {
        let pages = plan.grid.pages();
        let pages = (0..pages).map(|page| (page, pages));
        let sheets = pages.flat_map(|(page, pages)| {
            self.shows.iter().map(move |shows| Destination::check(&self.page(*shows, page, pages)))
        });
        let sheets: Vec<_> = sheets.collect::<Result<_, _>>().map_err(Failure::input)?;
        let all: Vec<&Destination> = sheets.iter().chain(self.others()).collect();
        let refused = |one: &Destination, reason: &str| {
            Err(Failure::input(format_args!("output \"{}\": {reason}", one.path.display())))
        };
        for (i, one) in all.iter().enumerate() {
            one.spare(read, "the sweep").map_err(Failure::input)?;
            if all[..i].iter().any(|other| other.is_same_file(one)) {
                return refused(one, "given twice");
            }
        }
        let folders = [Some(plan.parts.folder()), self.variants.as_deref()];
        for folder in folders.into_iter().flatten().filter_map(resolved) {
            if let Some(one) = all.iter().find(|one| one.is_above(&folder)) {
                return refused(one, "a folder is to be there");
            }
        }
        if let Some(variants) = self.variants.as_deref() {
            let names: BTreeSet<_> = (0..plan.variants.len()).flat_map(|i| plan.file_names(i)).collect();
            let is_theirs =
                |one: &&&Destination| one.name_in(variants).is_some_and(|name| names.contains(name));
            if let Some(one) = all.iter().find(is_theirs) {
                return refused(one, "a variant has this name, too");
            }
        }
        let folder = self.variants.as_deref().and_then(|folder| folder.canonicalize().ok());
        match read.iter().find(|file| folder.is_some() && file.parent() == folder.as_deref()) {
            Some(file) => Err(Failure::input(format_args!(
                "--variants \"{}\": the scene reads \"{}\" there; name another folder",
                self.variants.as_deref().unwrap_or(Path::new("")).display(),
                file.display()
            ))),
            None => Ok(()),
        }
    }

    /// What is no sheet.
    fn others(&self) -> impl Iterator<Item = &Destination> {
        let plots = self.plots.iter().map(|(_, plot)| &plot.destination);
        [&self.csv, &self.html, &self.animate].into_iter().flatten().chain(plots)
    }

    /// Where images of variants go.
    pub(super) fn variants(&self) -> Option<&Path> {
        self.variants.as_deref()
    }

    /// Checks that sheets will not be too large.
    pub(super) fn check_sheets(&self, args: &Args, grid: &Grid, cell: [u32; 2]) -> Result<(), Failure> {
        let fits = |page| sheet(args, grid, page, cell).size().map(drop);
        (0..grid.pages())
            .try_for_each(fits)
            .map_err(|e| Failure::input(format_args!("{e}; --cols N wraps a row")))
    }

    /// Writes everything that there is to show. What cannot be written is told in `failures`.
    pub(super) fn write(
        &self,
        results: &Results<'_>,
        display: &mut Display,
        failures: &mut Vec<String>,
    ) -> Vec<Output> {
        // There is nothing to show of a sweep that was interrupted at once.
        let Some(cell) = results.cell() else { return Vec::new() };
        let differences = DifferenceSheet::new(results);
        let mut all: Vec<Written> = Vec::new();
        for shows in &self.shows {
            let pages = 0..results.plan.grid.pages();
            all.extend(pages.map(|page| self.write_sheet((results, &differences), *shows, page, cell)));
        }
        if let Some(csv) = &self.csv {
            all.push(put(csv, results.table().as_bytes()));
        }
        for (statistic, chart) in &self.plots {
            let bytes = chart.draw(&results.plot(statistic));
            all.push(bytes.map(|bytes| Output { path: chart.path(), bytes, clamped_pixels: 0 }));
        }
        if let Some(html) = &self.html {
            all.push(results.page(display).and_then(|bytes| put(html, &bytes)));
        }
        if let Some(animate) = &self.animate {
            let bytes = frames(results, cell).and_then(|frames| animation::png(&frames, FRAME));
            all.push(bytes.map_err(|e| failed(&animate.path, &e)).and_then(|bytes| put(animate, &bytes)));
        }
        let (written, failed): (Vec<_>, Vec<_>) = all.into_iter().partition(Result::is_ok);
        failures.extend(failed.into_iter().filter_map(Result::err));
        written.into_iter().filter_map(Result::ok).collect()
    }

    fn write_sheet(
        &self,
        (results, differences): (&Results<'_>, &DifferenceSheet<'_>),
        shows: Shows,
        page: usize,
        cell: [u32; 2],
    ) -> Written {
        let plan = results.plan;
        let path = self.page(shows, page, plan.grid.pages());
        let mut sheet = sheet(plan.args, &plan.grid, page, cell);
        let variants = plan.grid.page(page);
        let pictures: Vec<_> = match shows {
            Shows::Variants => variants.map(|i| results.picture(i)).collect(),
            Shows::Others => {
                sheet.title = plan.args.against.title(&sheet.title);
                variants.map(|i| results.picture(plan.grid.variants() + i)).collect()
            }
            Shows::Differences => {
                differences.label(&mut sheet, variants.clone());
                variants.map(|i| differences.picture(i)).collect()
            }
        };
        let drawn = sheet.draw(&pictures).and_then(|s| png_rgb8(s.width(), s.height(), &s));
        let bytes = drawn.map_err(|e| failed(&path, &e))?;
        put(&Destination::check(&path).map_err(|e| e.to_string())?, &bytes)
    }

    /// The file of a page.
    fn page(&self, shows: Shows, page: usize, pages: usize) -> PathBuf {
        let stem = self.sheet.file_stem().unwrap_or_default().to_string_lossy();
        let of = match shows {
            Shows::Variants => "",
            Shows::Others => "-against",
            Shows::Differences => "-difference",
        };
        let number = if pages > 1 { format!("-{}", page + 1) } else { String::new() };
        match (of, &number[..]) {
            ("", "") => self.sheet.clone(),
            _ => self.sheet.with_file_name(format!("{stem}{of}{number}.png")),
        }
    }
}

fn put(to: &Destination, bytes: &[u8]) -> Written {
    to.replace(bytes).map_err(|e| failed(&to.path, &e.to_string()))?;
    Ok(Output { path: to.path.display().to_string(), bytes: bytes.len(), clamped_pixels: 0 })
}

/// What is said of a file that cannot be written.
pub(super) fn failed(path: &Path, reason: &str) -> String {
    format!("output \"{}\": cannot be written: {reason}", path.display())
}

/// Checks that there can be a folder, with files in it.
fn check_folder(option: &str, folder: &Path) -> Result<(), Failure> {
    let here = Path::new(".");
    let there = folder.ancestors().find(|above| above.exists()).unwrap_or(here);
    let [shown, file] = [folder, there].map(|path| quoted(&path.to_string_lossy()));
    let refused = |reason: String| Err(Failure::input(format_args!("{option} {shown}: {reason}")));
    if folder.is_symlink() && !folder.exists() {
        return refused("it is a symbolic link that leads nowhere".to_owned());
    }
    if !there.is_dir() {
        let is = if shown == file { "it is a file".to_owned() } else { format!("{file} is a file") };
        return refused(format!("{is}, not a folder"));
    }
    // A name that no other file has.
    Destination::check(&there.join(".torrance-.tmp")).map(drop).or_else(|e| refused(e.reason))
}

/// Where a folder is or will be, free of symbolic links.
fn resolved(folder: &Path) -> Option<PathBuf> {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let there = folder.canonicalize().ok();
    there.or_else(|| Some(resolved(folder.parent()?)?.join(folder.file_name()?)))
}

/// What all of it is called.
pub(super) fn title(args: &Args) -> String {
    args.sheet.title.clone().unwrap_or_else(|| args.scene.file_name())
}

/// The sheet of a page, without its images.
fn sheet(args: &Args, grid: &Grid, page: usize, cell: [u32; 2]) -> Sheet {
    Sheet {
        title: title(args),
        headings: grid.headings(page),
        cell,
        gap: args.sheet.gap,
        theme: args.sheet.theme,
    }
}

/// The frames of an animation: those variants that are there.
fn frames(results: &Results<'_>, cell: [u32; 2]) -> Result<Vec<RgbImage>, String> {
    let grid = &results.plan.grid;
    let sheet = Sheet {
        headings: Headings {
            size: [1, 1],
            captions: (0..grid.variants()).map(|i| grid.name(i)).collect(),
            ..Headings::default()
        },
        ..sheet(results.plan.args, grid, 0, cell)
    };
    let pictures = (0..grid.variants()).map(|i| (i, results.picture(i)));
    let there: Vec<_> = pictures.filter(|(_, picture)| matches!(picture, Picture::Image(_))).collect();
    sheet.frames(&there)
}
