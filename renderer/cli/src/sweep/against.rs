//! Comparison of variants with another scene, another file or another variant.

use std::collections::BTreeSet;
use std::path::PathBuf;

use renderer::sweep::{Grid, Pairs};
use torrance_image::compare::maps::Map;
use torrance_scene::SceneValues;

use super::Args;
use crate::{Failure, Notes, values};

/// Options that choose what variants are compared with.
#[derive(Debug, clap::Args)]
pub(super) struct AgainstArgs {
    /// Render the variants of this scene, too, and compare those with the same values; --set is not for it
    #[arg(long = "against", value_name = "SCENE", group = "comparison")]
    pub(super) scene: Option<PathBuf>,

    /// Compare variants with the one that has this value of a parameter, and of the others the same; repeat it for others
    #[arg(long, value_name = "[PARAMETER=]VALUE", group = "comparison")]
    baseline: Vec<String>,

    /// Map that the sheet of differences shows
    #[arg(long, value_name = "NAME", default_value = "difference", value_parser = values::named(Map::ALL),
          requires = "comparison")]
    map: Map,

    /// How often, at most, any of the verdicts on images that do not differ is that they do
    #[arg(long, value_name = "P", default_value = "0.01", value_parser = values::level, allow_hyphen_values = true,
          requires = "comparison")]
    level: f64,
}

impl AgainstArgs {
    /// Whether variants are compared with anything.
    pub(super) fn compares(&self) -> bool {
        self.scene.is_some() || !self.baseline.is_empty()
    }

    /// Reads the other scene, and prepares it for the preset. Adds to `read` the files that it is read from.
    pub(super) fn open(
        &self,
        args: &Args,
        read: &mut BTreeSet<PathBuf>,
        notes: &mut Notes,
    ) -> Result<Option<SceneValues>, Failure> {
        let Some(path) = &self.scene else { return Ok(None) };
        notes.display.phase(format!("reading {}", path.display()));
        let scene = args.scene.of_other(path);
        let (mut values, loaded) = scene.open(args.settings.overrides(), notes)?;
        read.extend(loaded.files);
        args.vary.apply_preset(&mut values, notes)?;
        Ok(Some(values))
    }

    /// Which variants are compared.
    pub(super) fn pairs(&self, grid: &Grid) -> Result<Option<Pairs>, Failure> {
        Ok(match (&self.scene, &self.baseline[..]) {
            (Some(_), _) => Some(Pairs::of_two_scenes(grid, self.map, self.level)),
            (None, []) => None,
            (None, baselines) => {
                Some(Pairs::with_baseline(grid, baselines, self.map, self.level).map_err(Failure::input)?)
            }
        })
    }
}
