//! What varies, and the scenes that come of it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use toml::Value;

use super::super::failure::Failure;
use super::super::notes::Notes;
use super::super::render::SettingArgs;
use super::{Args, first_of};
use crate::assemble::{Error, Original, SceneData};
use crate::scene::{
    Loaded, RenderSettings, SceneValues, hint, keys_of_path, path_and_value, quoted, says_all_of,
};
use crate::sweep::preset::{PRESETS, Preset};
use crate::sweep::{Grid, spec};

/// What varies.
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

/// A scene of the sweep.
pub(super) struct Variant {
    pub(super) scene: SceneData,
    pub(super) settings: RenderSettings,
    /// [`SceneData::fingerprint`].
    pub(super) fingerprint: u64,
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
                "--preset {}: the material has not its parameters, and is replaced: {replaced}",
                preset.name
            ));
        }
        Ok(applied.params)
    }
}

/// The words that may stand at a path.
fn all_values(values: &SceneValues, path: &str) -> Result<Vec<String>, String> {
    let words = values.words(path)?;
    if words.is_empty() {
        return Err(format!("\"{path}\" takes {}, not one of some words", values.takes(path)?));
    }
    Ok(words)
}

/// Builds the scenes of all variants, which share what they have in common with the first. What is wrong with any of them
/// is told, `what` before it, before any is rendered. `seeds` are those of variants before these; `read`
/// becomes what they are read from, too.
pub(super) fn build(
    args: &Args,
    grid: &Grid,
    values: &SceneValues,
    (seeds, what): (usize, &str),
    read: &mut BTreeSet<PathBuf>,
) -> Result<Vec<Variant>, Failure> {
    let named = |i: usize, e: Error| format!("{}: {e}", grid.name(i));
    let of_first = load(grid, values, 0).and_then(|Loaded { description, files, .. }| {
        let settings = description.render.clone();
        Original::new(description).map(|first| (first, settings, files)).map_err(|e| named(0, e))
    });
    let variant = |i: usize, mut scene: SceneData, settings: RenderSettings| {
        if args.vary.independent {
            scene.settings.seed = scene.settings.seed.wrapping_add((seeds + i) as u32);
        }
        Variant { fingerprint: scene.fingerprint(), scene, settings }
    };
    let rest = (1..grid.variants()).into_par_iter().map(|i| {
        let Loaded { description, files, .. } = load(grid, values, i)?;
        // Without a first one, it is only told what is wrong with the others.
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
    if problems.is_empty() { Ok(variants) } else { Err(refused(problems, what)) }
}

/// What a scene says with the values of a variant.
fn load(grid: &Grid, values: &SceneValues, i: usize) -> Result<Loaded, String> {
    let (mut values, mut kept) = (values.clone(), Kept::default());
    for (path, value) in grid.settings(i) {
        let is_there = values.takes(path).is_ok();
        let this = |e| if is_there { format!("{e}; this is {value}") } else { e };
        values.set(path, value).map_err(|e| format!("--param {path}: {}", this(e)))?;
        kept.stay(&values, path)?;
    }
    values.load().map_err(|error| {
        let messages: Vec<_> = error.problems.iter().map(|problem| problem.message.as_str()).collect();
        format!("{}: {}", grid.name(i), messages.join("; "))
    })
}

/// What parameters have been set to. While more are set it is to stay, or else labels would not be true; tables may get
/// keys that they did not have.
#[derive(Default)]
struct Kept<'a>(Vec<(&'a str, Option<Value>)>);

impl<'a> Kept<'a> {
    /// After what is at a path has been set.
    fn stay(&mut self, values: &SceneValues, path: &'a str) -> Result<(), String> {
        for (other, was) in &self.0 {
            let is = values.find(other).ok().flatten();
            let stays = match (&is, was) {
                (Some(is), Some(was)) => says_all_of(is, was),
                (is, was) => is == was,
            };
            if !stays {
                return Err(format!(
                    "--param {other}: what varies after it, {path}, says something else of it"
                ));
            }
        }
        self.0.push((path, values.find(path)?));
        Ok(())
    }
}

/// A few problems of many.
fn refused(problems: Vec<String>, what: &str) -> Failure {
    let problems = first_of(problems, "more").into_iter();
    let problems: Vec<_> = problems.map(|problem| format!("{what}{problem}")).collect();
    Failure::input(problems.join("\nerror: "))
}

/// Width and height of all images, which are to be the same.
pub(super) fn common_size(variants: &[Variant]) -> Result<[u32; 2], Failure> {
    let size = |variant: &Variant| [variant.scene.width, variant.scene.height];
    let [a, b] = size(&variants[0]);
    match variants.iter().map(size).find(|other| *other != [a, b]) {
        Some([c, d]) => {
            Err(Failure::input(format_args!("images of a sweep are of one size, not {a}x{b} and {c}x{d}")))
        }
        None => Ok([a, b]),
    }
}
