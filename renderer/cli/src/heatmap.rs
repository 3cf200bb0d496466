//! `--heatmap`: a picture of how many samples each pixel got.

use std::path::{Path, PathBuf};

use torrance_image::compare::maps;
use torrance_image::film::write::{Destination, Target, WriteError, WrittenFile};
use torrance_image::film::{Film, Format};

use super::{Failure, say};

/// Where to show samples.
#[derive(Debug, clap::Args)]
pub(super) struct HeatmapArgs {
    /// PNG file to write a map of the samples of each pixel to, on a logarithmic scale
    #[arg(long, value_name = "FILE")]
    heatmap: Option<PathBuf>,
}

impl HeatmapArgs {
    /// The place of the file, which is none of `others` that are written.
    pub(super) fn check<'a>(
        &self,
        mut others: impl Iterator<Item = &'a Destination>,
    ) -> Result<Option<Destination>, Failure> {
        let Some(path) = &self.heatmap else { return Ok(None) };
        let destination = place(path)?;
        if others.any(|other| other.is_same_file(&destination)) {
            return Err(Failure::output(path, "given twice"));
        }
        Ok(Some(destination))
    }
}

/// The place of a map.
pub(super) fn place(path: &Path) -> Result<Destination, Failure> {
    let Target { destination, format } = Target::check(path).map_err(Failure::input)?;
    match format {
        Format::Png => Ok(destination),
        _ => Err(Failure::output(path, "a heatmap is a .png file")),
    }
}

/// Writes the map of a film's samples, and says what its colours mean unless `quiet`.
pub(super) fn write(place: &Destination, film: &Film, quiet: bool) -> Result<WrittenFile, WriteError> {
    let picture = maps::samples(film);
    if !quiet {
        say(&picture.scale);
    }
    place.write_encoded(picture.png())
}
