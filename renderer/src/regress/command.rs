//! Images of programs: each run is a pass.

use torrance_image::film::estimate::EstimateError;
use torrance_image::film::merge::{Merge, MergeError, Weight};
use torrance_image::film::{self, Format, ImageEstimate, Layers, ReadError, read_layers};

use super::child::{self, Ending};
use super::images::{Conditions, Images, Stop};
use super::sequential::totals;
use super::suite::{Case, Effort, Source, expand};

/// A command that is run pass by pass, each with its own seed.
pub(super) struct Command<'a> {
    case: &'a Case,
    totals: Vec<u32>,
    passes: Option<Passes>,
    log: String,
}

/// Images of passes that cannot be averaged, and why.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
enum PassError {
    Estimate(#[from] EstimateError),
    Merge(#[from] MergeError),
}

/// Images of passes.
struct Passes {
    count: u32,
    /// The first by itself: one image has no spread.
    first: ImageEstimate,
    merge: Merge,
}

impl Passes {
    /// Begins with the first. Images that know their noise and their samples count by these; each of others is a sample
    /// of every pixel, and their spread is the noise.
    fn new(layers: &Layers, format: Format) -> Result<Self, PassError> {
        let first = ImageEstimate::from_layer(layers, "", format)?;
        let has_samples = first.noise.as_ref().is_some_and(|noise| noise.samples.is_some());
        let weight = if has_samples { Weight::Samples } else { Weight::Pass };
        let merge = Merge::new(weight, "pass 0", layers)?;
        Ok(Self { count: 1, first, merge })
    }

    fn add(&mut self, layers: &Layers) -> Result<(), PassError> {
        self.merge.add(&format!("pass {}", self.count), layers)?;
        self.count += 1;
        Ok(())
    }

    fn merged(&self) -> Result<ImageEstimate, PassError> {
        if self.count == 1 {
            return Ok(self.first.clone());
        }
        let merged = self.merge.clone().finish()?;
        let measured = ImageEstimate::from_layer(&merged.layers, "", Format::Exr)?;
        // Errors of rounding do not average out where all passes round alike.
        Ok(ImageEstimate { rounding: self.first.rounding, ..measured })
    }
}

impl<'a> Command<'a> {
    /// Makes ready to run the command of a case.
    pub(super) fn new(case: &'a Case) -> Self {
        Self { case, totals: totals_of_passes(&case.effort), passes: None, log: String::new() }
    }

    /// Runs the command once.
    fn pass(&mut self, index: u32, conditions: &Conditions<'_>) -> Result<(Layers, Format), Stop> {
        let Source::Command { words, folder, format, spp } = &self.case.source else {
            return Err(Stop::error("there is no command"));
        };
        let scratch = tempfile::Builder::new()
            .prefix("torrance-")
            .tempdir()
            .map_err(|e| Stop::error(format!("there is no place for its image: {e}")))?;
        let output = scratch.path().join(format!("{}.{}", self.case.name, format.extension()));
        let value = |name: &str| match name {
            "output" => Some(output.display().to_string()),
            "seed" => Some(conditions.seed(self.case.effort.seed, index).to_string()),
            "pass" => Some(index.to_string()),
            "spp" => spp.map(|n| n.to_string()),
            _ => None,
        };
        let expanded: Result<Vec<_>, _> = words.iter().map(|w| expand(w, value)).collect();
        let (ended, log) = child::run(
            &expanded.map_err(Stop::error)?,
            (folder, scratch.path()),
            conditions.deadline,
            conditions.is_stopping,
        );
        if !log.is_empty() {
            self.log = log;
        }
        match ended {
            Ending::Well => {}
            Ending::Stopped => return Err(Stop::Interrupted),
            Ending::TimedOut => return Err(Stop::Error(conditions.timed_out(), self.log.clone())),
            Ending::Badly(how) => return Err(Stop::Error(how, self.log.clone())),
        }
        let unusable = |e: ReadError| Stop::Error(unusable(&e, *format), self.log.clone());
        // Reading from a pipe could take for ever.
        if output.metadata().is_ok_and(|it| !it.is_file()) {
            return Err(Stop::Error("what the command made of {output} is no file".into(), self.log.clone()));
        }
        let (width, height) = film::size(&output).map_err(unusable)?;
        if let Some((w, h)) = conditions.size.filter(|size| *size != (width, height)) {
            let why = format!("the image has {width}×{height} pixels, and the reference {w}×{h}");
            return Err(Stop::Error(why, self.log.clone()));
        }
        Ok((read_layers(&output).map_err(unusable)?, *format))
    }
}

/// Says why the file that a command wrote is of no use.
fn unusable(error: &ReadError, format: Format) -> String {
    match error {
        ReadError::Io(e) if e.kind() == std::io::ErrorKind::NotFound => {
            format!(
                "the command ended well, but wrote no image to {{output}}, a .{} file",
                format.extension()
            )
        }
        e => format!("the image that the command wrote cannot be read: {e}"),
    }
}

impl Images for Command<'_> {
    fn totals(&self) -> &[u32] {
        &self.totals
    }

    fn until(&mut self, total: u32, conditions: &Conditions<'_>) -> Result<ImageEstimate, Stop> {
        loop {
            let done = self.passes.as_ref().map_or(0, |passes| passes.count);
            (conditions.observe)(done.into());
            if done >= total
                && let Some(passes) = &self.passes
            {
                return passes.merged().map_err(Stop::error);
            }
            let (layers, format) = self.pass(done, conditions)?;
            let added = match &mut self.passes {
                None => Passes::new(&layers, format).map(|passes| self.passes = Some(passes)),
                Some(passes) => passes.add(&layers),
            };
            added.map_err(|why| {
                Stop::Error(format!("the command's image is of no use: {why}"), self.log.clone())
            })?;
        }
    }

    fn log(&self) -> &str {
        &self.log
    }
}

/// Passes in total after each round: just one where the suite says nothing of passes.
fn totals_of_passes(effort: &Effort) -> Vec<u32> {
    match (effort.first, effort.most) {
        (None, None) => vec![1],
        (None, Some(most)) => totals(most.min(Effort::PASSES), most),
        (Some(first), most) => totals(first, most.unwrap_or(first.saturating_mul(Effort::GROWTH))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use torrance_image::film::Image;

    fn pass(x: f32) -> Layers {
        Layers::from(&Image { width: 1, height: 1, pixels: vec![[x; 3]] })
    }

    /// By hand: mean of 1, 2, 6 is 3; the variance 7, that of the mean 7/3.
    #[test]
    fn the_spread_of_passes_is_their_noise() {
        let mut passes = Passes::new(&pass(1.0), Format::Pfm).unwrap();
        assert_eq!(passes.merged().unwrap().noise, None, "one says nothing of its noise");
        passes.add(&pass(2.0)).unwrap();
        passes.add(&pass(6.0)).unwrap();
        let merged = passes.merged().unwrap();
        let noise = merged.noise.unwrap();
        assert_eq!(merged.image.pixels, [[3.0; 3]]);
        assert_eq!(noise.samples, Some(vec![3.0]));
        assert!((noise.stderr[0][1] - (7.0_f32 / 3.0).sqrt()).abs() < 1e-6);
    }
}
