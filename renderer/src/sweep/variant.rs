//! The scenes of a sweep's variants.

use std::collections::BTreeSet;
use std::fmt;
use std::path::PathBuf;

use rayon::prelude::*;
use toml::Value;
use torrance_scene::{LoadedScene, RenderSettings, SceneValues, says_all_of};

use super::{Grid, SweepError};
use crate::assemble::{Error, Original, SceneData};

/// A scene of the sweep.
pub struct Variant {
    /// The assembled scene.
    pub scene: SceneData,
    /// How its description says that it is rendered.
    pub settings: RenderSettings,
    /// [`SceneData::fingerprint`].
    pub fingerprint: u64,
}

/// All that is wrong with the scenes of variants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadVariants(pub Vec<SweepError>);

impl fmt::Display for BadVariants {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let problems: Vec<_> = self.0.iter().map(ToString::to_string).collect();
        f.write_str(&problems.join("\n"))
    }
}

impl std::error::Error for BadVariants {}

/// Builds the scenes of all variants, which share what they have in common with the first. Each gets a seed of its own if
/// `seeds` says how many came before the first. Adds to `read` the files that the scenes are read from.
///
/// # Errors
/// All that is wrong with any of them.
pub fn build_variants(
    grid: &Grid,
    values: &SceneValues,
    seeds: Option<usize>,
    read: &mut BTreeSet<PathBuf>,
) -> Result<Vec<Variant>, BadVariants> {
    let named = |i: usize, error: Error| SweepError(format!("{}: {error}", grid.name(i)));
    let of_first = load(grid, values, 0).and_then(|LoadedScene { description, files, .. }| {
        let settings = description.render.clone();
        Original::new(description).map(|first| (first, settings, files)).map_err(|e| named(0, e))
    });
    let variant = |i: usize, mut scene: SceneData, settings: RenderSettings| {
        if let Some(before) = seeds {
            scene.settings.seed = scene.settings.seed.wrapping_add((before + i) as u32);
        }
        Variant { fingerprint: scene.fingerprint(), scene, settings }
    };
    let rest = (1..grid.variants()).into_par_iter().map(|i| {
        let LoadedScene { description, files, .. } = load(grid, values, i)?;
        // Without a first one, the others are only checked.
        let Ok((first, ..)) = &of_first else { return Ok(None) };
        let scene = first.variant(&description).map_err(|e| named(i, e))?;
        Ok(Some((variant(i, scene, description.render), files)))
    });
    let rest: Vec<_> = rest.collect();
    let first =
        of_first.map(|(first, settings, files)| Some((variant(0, first.scene().clone(), settings), files)));
    let (mut variants, mut problems) = (Vec::new(), Vec::new());
    for built in std::iter::once(first).chain(rest) {
        match built {
            Ok(Some((variant, files))) => {
                variants.push(variant);
                read.extend(files);
            }
            Ok(None) => {}
            Err(problem) if !problems.contains(&problem) => problems.push(problem),
            Err(_) => {}
        }
    }
    if problems.is_empty() { Ok(variants) } else { Err(BadVariants(problems)) }
}

/// The scene with the values of a variant.
fn load(grid: &Grid, values: &SceneValues, i: usize) -> Result<LoadedScene, SweepError> {
    let (mut values, mut kept) = (values.clone(), SetValues::default());
    for (path, value) in grid.settings(i) {
        let is_there = values.takes(path).is_ok();
        values.set(path, value).map_err(|error| match is_there {
            true => SweepError(format!("--param {path}: {error}; this is {value}")),
            false => SweepError(format!("--param {path}: {error}")),
        })?;
        kept.check_and_add(&values, path)?;
    }
    values.load().map_err(|error| {
        let problems: Vec<_> = error.problems.into_iter().map(|problem| problem.message).collect();
        SweepError(format!("{}: {}", grid.name(i), problems.join("; ")))
    })
}

/// Values of parameters that were set. While more are set they are to stay, or else labels would not be true; tables may get
/// keys that they did not have.
#[derive(Default)]
struct SetValues<'a>(Vec<(&'a str, Option<Value>)>);

impl<'a> SetValues<'a> {
    /// To be called when what is at a path has been set: checks that this changed no other, and remembers it.
    fn check_and_add(&mut self, values: &SceneValues, path: &'a str) -> Result<(), SweepError> {
        for (other, was) in &self.0 {
            let is = values.find(other).ok().flatten();
            let stays = match (&is, was) {
                (Some(is), Some(was)) => says_all_of(is, was),
                (is, was) => is == was,
            };
            if !stays {
                let what = format!("what varies after it, {path}, says something else of it");
                return Err(SweepError(format!("--param {other}: {what}")));
            }
        }
        self.0.push((path, values.find(path)?));
        Ok(())
    }
}

/// Width and height of all images.
///
/// # Errors
/// The sizes differ.
///
/// # Panics
/// There are no variants.
pub fn common_size(variants: &[Variant]) -> Result<[u32; 2], SweepError> {
    let size = |variant: &Variant| [variant.scene.width, variant.scene.height];
    let first = size(&variants[0]);
    match variants.iter().map(size).find(|other| *other != first) {
        Some([w, h]) => Err(SweepError(format!(
            "images of a sweep are of one size, not {}x{} and {w}x{h}",
            first[0], first[1]
        ))),
        None => Ok(first),
    }
}
