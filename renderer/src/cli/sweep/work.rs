//! Rendering variants, and what is kept of each.

use std::borrow::Cow;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use image::RgbImage;
use rayon::prelude::*;

use super::super::progress::Display;
use super::super::render::told;
use super::super::signals;
use super::outputs::failed;
use super::{Plan, Variant};
use crate::assemble::SceneData;
use crate::backend::cpu::Cpu;
use crate::backend::{self, Backend};
use crate::compare::comparison::crop;
use crate::film::aov::of_camera;
use crate::film::encode::{Provenance, SOFTWARE, encode, encode_layers};
use crate::film::{Format, Image, Layers, Measured, Statistics};
use crate::primitives::Primitives;
use crate::render::{Budget, Control, Integrator, Options, Progress, Rendered};
use crate::sweep::{Part, Told, render_all, write};

/// CPUs that fill the machine where images are too small for all of it: one for each thread. Else none.
pub(super) fn filling(whole: &Cpu, scenes: &[&SceneData]) -> Result<Vec<Cpu>, backend::Error> {
    const LARGE: usize = 1 << 12;
    let threads = whole.parallelism();
    let pixels = scenes.first().map_or(0, |scene| scene.width as usize * scene.height as usize);
    // The last ones leave threads idle, so there have to be several for each.
    if threads < 2 || scenes.len() < 2 * threads || pixels >= LARGE * threads {
        return Ok(Vec::new());
    }
    (0..threads.min(scenes.len())).map(|_| Cpu::new(Some(1))).collect()
}

/// What of a variant is kept in memory until all are there.
pub(super) struct Shown {
    /// The image as the sheet shows it.
    pub(super) cell: RgbImage,
    /// Of what the sheet shows.
    pub(super) statistics: Statistics,
    pub(super) told: Told,
    /// What could not be written of it.
    pub(super) failures: Vec<String>,
}

/// What is done with each variant.
pub(super) struct Show<'a> {
    pub(super) plan: &'a Plan<'a>,
    /// Where images of variants go.
    pub(super) folder: Option<&'a Path>,
}

impl Show<'_> {
    /// Those variants that an interrupted sweep has rendered already.
    pub(super) fn found(&self, device: &str) -> Vec<Option<Shown>> {
        let Plan { keys, parts, .. } = self.plan;
        let find = |(i, key): (usize, &u64)| {
            let part = parts.find(*key).filter(|_| !signals::is_stopping());
            part.map(|part| self.show(i, &part, device))
        };
        keys.par_iter().enumerate().map(find).collect()
    }

    /// Writes a variant's own images, if they are wanted, and keeps what the others take.
    fn show(&self, i: usize, part: &Part, device: &str) -> Shown {
        let measured = self.plan.cropped(&part.measured);
        let Image { width, height, pixels } = &measured.image;
        let develop = self.plan.args.image.settings().develop;
        let rgb = pixels.iter().flat_map(|p| develop.to_bytes(*p)).collect();
        let formats = if self.folder.is_some() { &FORMATS[..] } else { &[] };
        let failures = formats.iter().filter_map(|format| self.write(i, part, device, *format).err());
        Shown {
            cell: RgbImage::from_raw(*width, *height, rgb).unwrap_or_default(),
            statistics: Statistics::of(&measured),
            told: part.told,
            failures: failures.collect(),
        }
    }

    /// Writes the image of a variant.
    fn write(&self, i: usize, part: &Part, device: &str, format: Format) -> Result<(), String> {
        let Plan { args, variants, .. } = self.plan;
        let folder = self.folder.unwrap_or(Path::new(""));
        let path = folder.join(self.plan.file_name(i, format));
        let Variant { scene, fingerprint, settings } = &variants[i];
        let about = Provenance {
            software: SOFTWARE.into(),
            scene: args.scene.file_name(),
            device: device.to_owned(),
            scene_hash: *fingerprint,
            spp: part.told.spp,
            seed: scene.settings.seed,
            settings: [
                vec![("variant", self.plan.name(i))],
                told(settings),
                of_camera(&scene.camera, scene.height),
            ]
            .concat(),
            seconds: part.told.seconds,
        };
        let settings = args.image.settings();
        let encoded = match format {
            Format::Exr => {
                encode_layers(Layers::from(&part.measured).saying(about.attributes()), settings.exr)
            }
            format => encode(&part.measured.image, format, &settings, &about),
        };
        let bytes = encoded.map_err(|e| failed(&path, &e))?.bytes;
        write(&path, &bytes).map_err(|e| failed(&path, &e.to_string()))
    }
}

/// Formats of the images of variants.
const FORMATS: [Format; 2] = [Format::Exr, Format::Png];

impl Plan<'_> {
    /// The names of the files of a variant's images.
    pub(super) fn file_names(&self, i: usize) -> [String; 2] {
        FORMATS.map(|format| self.file_name(i, format))
    }

    /// The name of the file of a variant's image.
    fn file_name(&self, i: usize, format: Format) -> String {
        /// Bytes: with what is before and behind, a name that file systems take.
        const LONGEST: usize = 120;
        let n = self.grid.variants();
        let digits = n.to_string().len();
        let name = self.grid.name(i % n).replace(" = ", "=").replace(", ", "_");
        let is_kept = |c: char| c.is_alphanumeric() || "=.-+".contains(c);
        let mut name: String = name.chars().map(|c| if is_kept(c) { c } else { '_' }).collect();
        name.truncate((0..=LONGEST).rev().find(|end| name.is_char_boundary(*end)).unwrap_or(0));
        let of = if i < n { "" } else { "against_" };
        format!("{of}{:0digits$}_{name}.{}", i % n + 1, format.extension())
    }

    /// The part of an image that is shown.
    fn cropped<'a>(&self, measured: &'a Measured) -> Cow<'a, Measured> {
        match self.args.sheet.crop {
            Some(region) => Cow::Owned(crop(measured, region)),
            None => Cow::Borrowed(measured),
        }
    }
}

/// What is to be rendered.
pub(super) struct Work<'a> {
    pub(super) show: &'a Show<'a>,
    /// Which variants.
    pub(super) missing: &'a [usize],
    /// Of all variants.
    pub(super) scenes: &'a [SceneData],
    pub(super) integrator: Integrator,
}

/// What came of it.
pub(super) struct Done {
    pub(super) shown: Vec<Option<Shown>>,
    pub(super) outcome: Result<(), backend::Error>,
}

impl Work<'_> {
    /// Renders on all machines at once.
    pub(super) fn on<B: Primitives + Send>(
        &self,
        machines: &mut [&mut B],
        name: &str,
        display: &mut Display,
    ) -> Done {
        let Self { show, missing, scenes, integrator } = self;
        display.begin_steps();
        let begin = Instant::now();
        let progress = Mutex::new((display, vec![0.0; missing.len()]));
        let observe = |i: usize, of_one: &Progress| {
            let mut progress = progress.lock().unwrap_or_else(PoisonError::into_inner);
            let (display, shares) = &mut *progress;
            shares[i] = (of_one.mean_spp() / f64::from(of_one.spp_target.max(1))).min(1.0);
            let done = shares.iter().sum::<f64>() / shares.len() as f64;
            display.step(done, begin.elapsed(), &show.plan.name(missing[i]));
            if signals::is_stopping() { Control::Stop } else { Control::Continue }
        };
        let shown = Mutex::new(Vec::from_iter(missing.iter().map(|_| None)));
        let take = |i: usize, rendered: Rendered| {
            let one = show.take(missing[i], rendered, name);
            shown.lock().unwrap_or_else(PoisonError::into_inner)[i] = Some(one);
        };
        let options = Options { integrator: *integrator, ..Options::default() };
        let settings = &show.plan.args.settings;
        let budget = |i: usize| Budget {
            spp: show.plan.variants[i].settings.spp,
            time: settings.time,
            noise: settings.noise,
        };
        let scenes: Vec<_> = missing.iter().map(|i| (&scenes[*i], budget(*i))).collect();
        let outcome = render_all(machines, &scenes, options, &observe, &take);
        let shown = shown.into_inner().unwrap_or_else(PoisonError::into_inner);
        Done { shown, outcome }
    }
}

impl Show<'_> {
    /// Keeps what a render made.
    fn take(&self, i: usize, Rendered { film, progress, .. }: Rendered, name: &str) -> Shown {
        let Plan { keys, parts, .. } = self.plan;
        let told = Told {
            seconds: progress.elapsed.as_secs_f64(),
            paths: progress.paths,
            spp: progress.spp,
            rejected: film.rejected(),
        };
        let part = Part { measured: Measured::from(&film), told };
        let kept = parts.keep(keys[i], &part);
        let mut one = self.show(i, &part, name);
        if let Err(e) = kept {
            let folder = parts.folder().display();
            one.failures.push(format!("\"{folder}\": variants cannot be kept to go on with: {e}"));
        }
        one
    }
}
