//! Parameters that vary, and their values.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use renderer::sweep::preset::{PRESETS, Preset};
use renderer::sweep::{Grid, Variant, build_variants, spec};
use torrance_scene::{PathError, SceneValues, keys_of_path, path_and_value};
use torrance_text::{hint, quoted};

use super::first_of;
use crate::render::SettingArgs;
use crate::{Failure, Notes};

/// Options that choose the parameters that vary.
#[derive(Debug, clap::Args)]
pub(super) struct VaryArgs {
    /// A parameter and its values; repeat it for rows, then pages
    #[arg(long, value_name = "PATH=VALUES")]
    param: Vec<String>,

    /// A sweep of a material that has a name: --help lists them
    #[arg(long, value_name = "NAME", value_parser = preset)]
    preset: Option<&'static Preset>,

    /// The material that a preset is about [default: ball, or the only one]
    #[arg(long, value_name = "NAME", requires = "preset")]
    material: Option<String>,

    /// Give every variant random numbers of its own: a seed after that of the one before
    #[arg(long)]
    independent: bool,
}

fn preset(name: &str) -> Result<&'static Preset, String> {
    PRESETS.iter().find(|preset| preset.name == name).ok_or_else(|| {
        let names = PRESETS.iter().map(|preset| preset.name);
        format!("there is no preset {}{}", quoted(name), hint(name, "there are", names))
    })
}

/// The presets, for help.
pub(super) fn presets() -> String {
    let line = |preset: &Preset| format!("  {:<20}{}\n", preset.name, preset.about);
    format!("Presets:\n{}", PRESETS.iter().map(line).collect::<String>())
}

impl VaryArgs {
    /// How what varies is arranged. A preset changes the scene, too, and perhaps what was `set`.
    pub(super) fn grid(
        &self,
        settings: &SettingArgs,
        columns: Option<usize>,
        (values, set): (&mut SceneValues, &[(String, String)]),
        notes: &mut Notes,
    ) -> Result<Grid, Failure> {
        let before: Vec<_> = set.iter().map(|(path, _)| values.find(path)).collect();
        let mut params = self.apply_preset(values, notes)?;
        let undone = set.iter().zip(before).filter(|((path, _), before)| values.find(path) != *before);
        for ((path, _), _) in undone {
            notes.warn(format!("--set {path}: the preset says something else of it"));
        }
        params.extend(self.param.iter().cloned());
        if params.is_empty() {
            return Err(Failure::input("nothing varies; --param PATH=VALUES or --preset NAME says what"));
        }
        let axes = spec::parse(&params, &|path| all_values(values, path)).map_err(Failure::input)?;
        for axis in &axes {
            let keys = keys_of_path(&axis.path).map_err(Failure::input)?;
            let is_seed = keys[0] == "render" && keys.get(1).is_none_or(|key| key == "seed");
            let numbered = (self.independent && is_seed).then_some("--independent");
            if let Some(flag) = numbered.or(settings.overriding(&keys)) {
                let what = if keys.len() > 1 { "it" } else { "a part of it" };
                return Err(Failure::input(format_args!(
                    "--param {}: {flag} says what {what} is",
                    axis.path
                )));
            }
        }
        Grid::new(axes, columns).map_err(Failure::input)
    }

    /// Builds the scenes of all variants. What is wrong with any of them is told, `what` before it, before any is rendered.
    /// `before` is the number of variants before these; adds to `read` the files that they are read from.
    pub(super) fn build(
        &self,
        grid: &Grid,
        values: &SceneValues,
        (before, what): (usize, &str),
        read: &mut BTreeSet<PathBuf>,
    ) -> Result<Vec<Variant>, Failure> {
        build_variants(grid, values, self.independent.then_some(before), read).map_err(|bad| {
            let problems = bad.0.iter().map(ToString::to_string).collect();
            let problems = first_of(problems, "more").into_iter();
            let problems: Vec<_> = problems.map(|problem| format!("{what}{problem}")).collect();
            Failure::input(problems.join("\nerror: "))
        })
    }

    /// The files of values.
    pub(super) fn files(&self) -> impl Iterator<Item = PathBuf> {
        let values = self.param.iter().filter_map(|param| path_and_value(param)?.1.strip_prefix('@'));
        values.filter_map(|file| Path::new(file).canonicalize().ok())
    }

    /// Makes a scene one that the preset can sweep; what the preset sweeps.
    pub(super) fn apply_preset(
        &self,
        values: &mut SceneValues,
        notes: &mut Notes,
    ) -> Result<Vec<String>, Failure> {
        let Some(preset) = self.preset else { return Ok(Vec::new()) };
        let named = |e| Failure::input(format_args!("--preset {}: {e}", preset.name));
        let applied = preset.apply(values, self.material.as_deref()).map_err(named)?;
        if let Some(replaced) = applied.replaced {
            notes.warn(format!(
                "--preset {}: the material lacks these parameters and is replaced: {replaced}",
                preset.name
            ));
        }
        Ok(applied.params)
    }
}

/// The words that may stand at a path.
fn all_values(values: &SceneValues, path: &str) -> Result<Vec<String>, PathError> {
    let words = values.choices(path)?;
    if words.is_empty() {
        let takes = values.takes(path)?;
        return Err(PathError::Value(format!("\"{path}\" takes {takes}, not one of some words")));
    }
    Ok(words)
}
