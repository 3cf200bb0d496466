//! The files of a sweep: checked beforehand, written at the end.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use renderer::sweep::{self, Column, Plan, Results, SheetKind, SheetStyle, VariantStore};
use torrance_image::compare::Region;
use torrance_image::film::Format;
use torrance_image::film::write::{Destination, WriteError, WrittenFile};
use torrance_plot::chart::ThemeName;
use torrance_text::quoted;

use super::Args;
use crate::{ChartFile, Display, Failure, values};

/// Options for the look of contact sheets.
#[derive(Debug, clap::Args)]
pub(super) struct SheetArgs {
    /// Columns of the sheet of one parameter [default: all values in a row]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(super) cols: Option<u16>,

    /// Part of the images to show and to measure: column and row of its top left pixel, width and height
    #[arg(long, value_name = "X,Y,W,H", value_parser = values::region, allow_hyphen_values = true)]
    crop: Option<Region>,

    /// Pixels between images
    #[arg(long, value_name = "PIXELS", default_value = "6", value_parser = clap::value_parser!(u32).range(..=1024))]
    gap: u32,

    /// Colours of the sheet around the images, and of plots
    #[arg(long, value_name = "NAME", default_value = "light", value_parser = values::named(values::THEMES))]
    theme: ThemeName,

    /// Title of the sheet [default: the scene's name]; nothing for none
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
}

/// Options for further files to write.
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
    /// Style of the sheets of a scene of this name.
    pub(super) fn style(&self, scene: &str) -> SheetStyle {
        SheetStyle {
            title: self.title.clone().unwrap_or_else(|| scene.to_owned()),
            crop: self.crop,
            gap: self.gap,
            theme: self.theme,
        }
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

/// Where everything goes.
pub(super) struct Outputs {
    sheet: PathBuf,
    sheets: Vec<SheetKind>,
    csv: Option<Destination>,
    plots: Vec<(Column, ChartFile)>,
    html: Option<Destination>,
    animate: Option<Destination>,
    /// Where images of variants go.
    pub(super) variants: Option<PathBuf>,
}

impl Outputs {
    /// Checks that everything can be written.
    pub(super) fn check(args: &Args) -> Result<Self, Failure> {
        let png = |option: &str, path: &Path| match Format::from_path(path) {
            Ok(Format::Png) => Destination::check(path).map_err(Failure::input),
            _ => Err(Failure::input(format_args!(
                "{option} {}: expected a file .png",
                quoted(&path.to_string_lossy())
            ))),
        };
        let destination = |path: &Option<PathBuf>| path.as_deref().map(Destination::check).transpose();
        png("--output", &args.output)?;
        let files = &args.files;
        let store = VariantStore::beside(&args.output);
        check_folder("what is kept in", store.folder())?;
        if let Some(folder) = &files.variants {
            check_folder("--variants", folder)?;
            if resolved(folder).zip(resolved(store.folder())).is_some_and(|(a, b)| a.starts_with(b)) {
                let shown = quoted(&folder.to_string_lossy());
                return Err(Failure::input(format_args!(
                    "--variants {shown}: what is needed to go on is kept there"
                )));
            }
        }
        let plot = |text: &String| {
            let (name, file) = text.split_once('=').unwrap_or(("mean", text));
            let column = Column::named(name, args.against.compares());
            let column = column.map_err(|e| Failure::input(format_args!("--plot {text}: {e}")))?;
            ChartFile::check("--plot", Path::new(file)).map(|chart| (column, chart))
        };
        let mut sheets = vec![SheetKind::Variants];
        sheets.extend(args.against.scene.as_ref().map(|_| SheetKind::Others));
        sheets.extend(args.against.compares().then_some(SheetKind::Differences));
        Ok(Self {
            sheet: args.output.clone(),
            sheets,
            csv: destination(&files.csv).map_err(Failure::input)?,
            plots: files.plot.iter().map(plot).collect::<Result<_, _>>()?,
            html: destination(&files.html).map_err(Failure::input)?,
            animate: files.animate.as_deref().map(|path| png("--animate", path)).transpose()?,
            variants: files.variants.clone(),
        })
    }

    /// Checks that no file is written twice, and none that scenes are `read` from.
    pub(super) fn check_files(&self, plan: &Plan, read: &BTreeSet<PathBuf>) -> Result<(), Failure> {
        let pages = plan.grid.pages();
        let pages = (0..pages).map(|page| (page, pages));
        let sheets = pages.flat_map(|(page, pages)| {
            self.sheets.iter().map(move |kind| Destination::check(&self.page(*kind, page, pages)))
        });
        let sheets: Vec<_> = sheets.collect::<Result<_, _>>().map_err(Failure::input)?;
        let all: Vec<&Destination> = sheets.iter().chain(self.others()).collect();
        for (i, one) in all.iter().enumerate() {
            one.spare(read, "the sweep").map_err(Failure::input)?;
            if all[..i].iter().any(|other| other.is_same_file(one)) {
                return Err(Failure::output(&one.path, "given twice"));
            }
        }
        let folders = [Some(plan.store.folder()), self.variants.as_deref()];
        for folder in folders.into_iter().flatten().filter_map(resolved) {
            if let Some(one) = all.iter().find(|one| one.is_above(&folder)) {
                return Err(Failure::output(&one.path, "a folder is to be there"));
            }
        }
        let Some(variants) = self.variants.as_deref() else { return Ok(()) };
        let names: BTreeSet<_> = (0..plan.variants.len()).flat_map(|i| plan.file_names(i)).collect();
        let is_theirs = |one: &&&Destination| one.name_in(variants).is_some_and(|name| names.contains(name));
        if let Some(one) = all.iter().find(is_theirs) {
            return Err(Failure::output(&one.path, "a variant has this name, too"));
        }
        let folder = variants.canonicalize().ok();
        match read.iter().find(|file| folder.is_some() && file.parent() == folder.as_deref()) {
            Some(file) => Err(Failure::input(format_args!(
                "--variants \"{}\": the scene reads \"{}\" there; name another folder",
                variants.display(),
                file.display()
            ))),
            None => Ok(()),
        }
    }

    /// Destinations other than sheets.
    fn others(&self) -> impl Iterator<Item = &Destination> {
        let plots = self.plots.iter().map(|(_, plot)| &plot.destination);
        [&self.csv, &self.html, &self.animate].into_iter().flatten().chain(plots)
    }

    /// Writes everything that there is to show, with all that cannot be written; in place of what is there, or `beside` it.
    pub(super) fn write(
        &self,
        results: &Results<'_>,
        beside: bool,
        display: &mut Display,
    ) -> (Vec<WrittenFile>, Vec<sweep::Failure>) {
        let is_free = |path: &Path| path.symlink_metadata().is_err();
        let place = |destination: &Destination| match beside && destination.path.exists() {
            true => destination.beside(is_free).map_err(sweep::Failure::new),
            false => Ok(destination.clone()),
        };
        // There is nothing to show of a sweep that was interrupted at once.
        if results.is_empty() {
            return Default::default();
        }
        let mut all: Vec<Result<WrittenFile, sweep::Failure>> = Vec::new();
        for kind in &self.sheets {
            let sheets = results.sheets(*kind);
            let pages = sheets.len();
            for (page, png) in sheets.into_iter().enumerate() {
                let path = self.page(*kind, page, pages);
                let destination = Destination::check(&path).map_err(sweep::Failure::new);
                let png = png.map_err(|e| sweep::Failure::new(WriteError::new(&path, &e)));
                all.push(png.and_then(|png| Ok(place(&destination?)?.write(&png)?)));
            }
        }
        if let Some(csv) = &self.csv {
            all.push(place(csv).and_then(|csv| Ok(csv.write(results.csv().as_bytes())?)));
        }
        for (column, chart) in &self.plots {
            let drawing = results.plot(*column);
            all.push(place(&chart.destination).and_then(|place| Ok(chart.draw_to(&place, &drawing)?)));
        }
        if let Some(html) = &self.html {
            display.begin_steps();
            let page = results.page(&mut |done, elapsed, what| display.step(done, elapsed, what));
            let page = page.map_err(sweep::Failure::new);
            all.push(page.and_then(|bytes| Ok(place(html)?.write(&bytes)?)));
        }
        if let Some(animate) = &self.animate {
            all.push(place(animate).and_then(|animate| Ok(animate.write_encoded(results.animation())?)));
        }
        let (written, failed): (Vec<_>, Vec<_>) = all.into_iter().partition(Result::is_ok);
        let failed = failed.into_iter().filter_map(Result::err).collect();
        (written.into_iter().filter_map(Result::ok).collect(), failed)
    }

    /// The file of a page.
    fn page(&self, kind: SheetKind, page: usize, pages: usize) -> PathBuf {
        let stem = self.sheet.file_stem().unwrap_or_default().to_string_lossy();
        let of = match kind {
            SheetKind::Variants => "",
            SheetKind::Others => "-against",
            SheetKind::Differences => "-difference",
        };
        let number = if pages > 1 { format!("-{}", page + 1) } else { String::new() };
        match (of, &number[..]) {
            ("", "") => self.sheet.clone(),
            _ => self.sheet.with_file_name(format!("{stem}{of}{number}.png")),
        }
    }
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
