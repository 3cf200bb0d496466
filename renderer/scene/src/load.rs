//! From a path to a [`Description`].

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use torrance_text::{human_bytes, quoted, quoted_path};

use crate::description::limits::{
    BYTES_PER_PIXEL, MAX_SCENE_BYTES, check_memory, check_size, memory_for_film,
};
use crate::description::{Description, Direct, Overrides, PunctualKind, RenderSettings, StandaloneMaterial};
use crate::files::Files;
use crate::files::asset::Asset;
use crate::files::mesh::read_bytes;
use crate::formats::gltf::{self, GltfChoice};
use crate::formats::model::Up;
use crate::formats::{mitsuba, obj, ply, toml};
use crate::input::file::{ReadError, read_bounded, text_of};
use crate::input::{Error, Problem};
use crate::light::{LightChoice, PunctualUnits, Surroundings, convert_punctual, light};

/// A scene that can be rendered, with warnings.
#[derive(Debug, Clone, PartialEq)]
pub struct LoadedScene {
    /// The scene.
    pub description: Description,
    /// Warnings for the user; the scene can be rendered nevertheless.
    pub warnings: Vec<Problem>,
    /// The files from which it was read: the scene file and all files that it names, free of symbolic links.
    pub files: BTreeSet<PathBuf>,
    /// What the user may want to know, though nothing is wrong.
    pub notes: Vec<String>,
}

/// Loading options.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Options {
    /// Settings that override those of the scene.
    pub overrides: Overrides,
    /// Whether the scene may read files outside its folder.
    pub allow_external: bool,
    /// Whether mistakes that are forgiven otherwise are errors.
    pub strict: bool,
    /// Folders in which the scene looks for files before its own, and which it may read, for formats with a search path.
    pub search: Vec<PathBuf>,
    /// Values of the scene file's parameters, by name, for formats that have parameters.
    pub defines: Vec<(String, String)>,
    /// What of a glTF file is shown.
    pub gltf: GltfChoice,
    /// Which way is up in an OBJ or PLY file; y by default.
    pub up: Option<Up>,
    /// Radius of the points of a PLY file without faces, metres, above 0, or of the points and lines of a glTF file, in the units
    /// of their meshes; by default as their density and extent ask for.
    pub point_radius: Option<f32>,
    /// What lights the scene.
    pub light: LightChoice,
    /// What the candela and lux of lights in glTF files stand for.
    pub punctual_units: PunctualUnits,
    /// What becomes of the backs of materials in glTF files that are not double-sided.
    pub backfaces: Backfaces,
    /// Light from all around, in place of the scene's environment.
    pub surroundings: Option<Surroundings>,
}

/// What becomes of the backs of materials in glTF files that are not double-sided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Backfaces {
    /// They are like the fronts.
    #[default]
    Keep,
    /// Nothing is there from behind, as the format has it, but for glass that light leaves there.
    Cull,
}

impl Options {
    /// The file of [`Self::surroundings`], if these are an image.
    pub fn surroundings_file(&self) -> Option<&Path> {
        match &self.surroundings {
            Some(Surroundings::Image(path)) => Some(path),
            _ => None,
        }
    }
}

/// As [`load_with`], for a scene that may only read files in its folder.
///
/// # Errors
/// As [`load_with`].
pub fn load(path: &Path, overrides: &Overrides) -> Result<LoadedScene, Error> {
    load_with(path, &Options { overrides: *overrides, ..Options::default() })
}

/// Reads and validates a scene file and everything it refers to.
///
/// # Errors
/// Everything that is wrong.
pub fn load_with(path: &Path, options: &Options) -> Result<LoadedScene, Error> {
    let loaded = read_file(path, options, &files_of(path, options))?;
    finish(path, loaded, &options.overrides)
}

/// Reads a scene that is about to be written: the text of the scene file `path`, and the files that come with it, which may
/// be elsewhere yet.
///
/// # Errors
/// Everything for which [`load`] would not read it.
pub fn load_unfinished(path: &Path, text: &str, assets: Vec<Asset>) -> Result<LoadedScene, Error> {
    let (file, options) = (path.display().to_string(), Options::default());
    if text.len() as u64 > MAX_SCENE_BYTES {
        let most = human_bytes(u128::from(MAX_SCENE_BYTES));
        return Err(Problem::of_file(file, format!("scene files have {most} at most")).into());
    }
    let files = files_of(path, &options);
    // A folder may be a link that leads elsewhere.
    for place in assets.iter().flat_map(|asset| [asset.path.parent(), Some(&asset.path)]).flatten() {
        let refused = |reason| Problem::of_file(file.as_str(), format!("{}: {reason}", quoted_path(place)));
        files.resolve_in("", place).map_err(refused)?;
    }
    let loaded = SceneFormat::Toml.read(&file, text.as_bytes(), &files.with(assets), &options)?;
    finish(path, loaded, &options.overrides)
}

/// The files that a scene file may read.
pub(super) fn files_of(path: &Path, options: &Options) -> Files {
    Files::new(path.parent().unwrap_or(Path::new("")), options.allow_external)
        .searching(options.search.clone())
}

/// Reads a scene file and what it refers to, before anything is overridden.
pub(super) fn read_file(path: &Path, options: &Options, files: &Files) -> Result<LoadedScene, Error> {
    let file = path.display().to_string();
    let format = SceneFormat::from_path(&file)?;
    if let Some(message) = unsuited(options, format) {
        return Err(Problem::of_file(file, message).into());
    }
    let bytes = format
        .bytes(path)
        .map_err(|reason| Problem::of_file(file.as_str(), format!("cannot read the scene: {reason}")))?;
    let mut loaded = format.read(&file, &bytes, files, options)?;
    loaded.files.extend(path.canonicalize());
    Ok(loaded)
}

/// What is wrong with options for a scene of a format.
fn unsuited(options: &Options, format: SceneFormat) -> Option<String> {
    let is_mitsuba = format == SceneFormat::Mitsuba;
    if let (Some((name, _)), false) = (options.defines.first(), is_mitsuba) {
        return Some(format!(
            "there is no parameter {} to define: only Mitsuba scenes have any",
            quoted(name)
        ));
    }
    if let (Some(folder), false) = (options.search.first(), is_mitsuba) {
        let folder = quoted_path(folder);
        return Some(format!("there is no search path to append {folder} to: only Mitsuba scenes have one"));
    }
    if let Some(folder) = options.search.iter().find(|folder| !folder.is_dir()) {
        return Some(format!("there is no folder {} to look for files in", quoted_path(folder)));
    }
    if let (Some(what), false) = (options.gltf.any(), format == SceneFormat::Gltf) {
        return Some(format!("there is no {what} to choose: only glTF files have several"));
    }
    let message = if options.punctual_units != PunctualUnits::Auto && format != SceneFormat::Gltf {
        "there are no candela and lux to take otherwise: only glTF files have lights in them"
    } else if options.up.is_some() && !matches!(format, SceneFormat::Obj | SceneFormat::Ply) {
        "the scene says which way is up: only OBJ and PLY files leave that open"
    } else if options.point_radius.is_some() && !matches!(format, SceneFormat::Ply | SceneFormat::Gltf) {
        "there are no points to have a radius: only glTF and PLY files have any"
    } else if options.backfaces == Backfaces::Cull && format != SceneFormat::Gltf {
        "there are no backfaces to cull: only glTF files say which of them are not to be seen"
    } else {
        return None;
    };
    Some(message.to_owned())
}

/// Overrides what a scene says, and checks whether it can be rendered.
pub(super) fn finish(
    path: &Path,
    mut loaded: LoadedScene,
    overrides: &Overrides,
) -> Result<LoadedScene, Error> {
    let file = path.display().to_string();
    overrides.apply(&mut loaded.description.render);
    let RenderSettings { width, height, .. } = loaded.description.render;
    check_size(width, height)
        .and_then(|()| check_memory(width, height, BYTES_PER_PIXEL, memory_for_film()))
        .map_err(|error| Problem::of_file(file.as_str(), error))?;
    loaded.warnings.extend(unseen_lights(&loaded.description).map(|message| Problem::of_file(file, message)));
    Ok(loaded)
}

/// A warning of lights that are points, if direct light is estimated by BSDF sampling alone.
fn unseen_lights(description: &Description) -> Option<String> {
    let is_point = |kind: PunctualKind| match kind {
        PunctualKind::Point { .. } | PunctualKind::Spot { .. } | PunctualKind::Projector { .. } => true,
        PunctualKind::Directional { diameter, .. } => diameter == 0.0,
    };
    if description.render.direct != Direct::Bsdf {
        return None;
    }
    let light = description.lights.iter().find(|light| is_point(light.kind))?;
    Some(format!(
        "direct = \"bsdf\" finds no light that is a point, as {} is: it stays dark; use \"mis\" or \"nee\"",
        light.name
    ))
}

/// Reads and validates the contents of a scene file. `file` is its name, which tells the format; paths in it start where
/// `files` says.
pub fn load_bytes(file: &str, bytes: &[u8], files: &Files) -> Result<LoadedScene, Error> {
    load_bytes_with(file, bytes, files, &Options::default())
}

/// As [`load_bytes`], with options, of which the overrides and `allow_external` count for nothing.
///
/// # Errors
/// As [`load_bytes`].
pub fn load_bytes_with(
    file: &str,
    bytes: &[u8],
    files: &Files,
    options: &Options,
) -> Result<LoadedScene, Error> {
    SceneFormat::from_path(file)?.read(file, bytes, files, options)
}

/// Reads and validates one material: the keys of `[materials.NAME]`, as in `type = "diffuse", reflectance = 0.5`, with
/// or without braces around them. `file` is what messages call the text.
pub fn material_from_text(file: &str, text: &str) -> Result<StandaloneMaterial, Error> {
    let text = text.trim();
    let key = toml::MATERIAL_KEY;
    let document = match text.starts_with('{') {
        true => format!("{key} = {text}"),
        // Lines are as in a scene file; commas make a table of one line.
        false if text.contains('\n') => format!("[{key}]\n{text}"),
        false => format!("{key} = {{ {text} }}"),
    };
    toml::read_material(file, &document)
}

/// Whether a file is a model by its name (glTF, OBJ, PLY): its format says little of light, and nothing of exposure.
pub fn is_model(path: &Path) -> bool {
    let format = SceneFormat::from_path(&path.to_string_lossy());
    format.is_ok_and(SceneFormat::is_model)
}

/// Formats of scene files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SceneFormat {
    /// This program's own.
    Toml,
    /// The XML of Mitsuba 3.
    Mitsuba,
    /// glTF 2.0, with its buffers beside it or within.
    Gltf,
    /// Wavefront OBJ, with its material libraries.
    Obj,
    /// A single PLY mesh.
    Ply,
}

/// The formats by the extensions of their files, in the order in which people are told of them.
const EXTENSIONS: [(&str, SceneFormat); 6] = [
    ("toml", SceneFormat::Toml),
    ("xml", SceneFormat::Mitsuba),
    ("gltf", SceneFormat::Gltf),
    ("glb", SceneFormat::Gltf),
    ("obj", SceneFormat::Obj),
    ("ply", SceneFormat::Ply),
];

/// Makes errors of the mistakes that readers have forgiven: whoever writes the scene wants to know of them.
fn refuse_mistakes(warnings: &[Problem]) -> Result<(), Error> {
    let forgiven = warnings.iter().filter(|problem| problem.remedy.is_some());
    let problems: Vec<_> = forgiven.cloned().map(Problem::held_against).collect();
    if problems.is_empty() { Ok(()) } else { Err(Error { problems }) }
}

/// The extensions, as a list in words.
fn known_extensions() -> String {
    let [others @ .., last] = EXTENSIONS.map(|(extension, _)| format!(".{extension}"));
    format!("{} or {last}", others.join(", "))
}

impl SceneFormat {
    /// The format that a file's name tells; TOML if it tells nothing.
    fn from_path(file: &str) -> Result<Self, Problem> {
        const OTHERS: [&str; 5] = ["pbrt", "usd", "usda", "blend", "json"];
        let extension =
            Path::new(file).extension().map(|e| e.to_string_lossy().to_lowercase()).unwrap_or_default();
        if OTHERS.contains(&extension.as_str()) {
            let known = known_extensions();
            return Err(Problem::of_file(
                file,
                format!("scenes are {known} files; .{extension} files are not read"),
            ));
        }
        let known = EXTENSIONS.into_iter().find(|(known, _)| *known == extension);
        Ok(known.map_or(Self::Toml, |(_, format)| format))
    }

    fn is_model(self) -> bool {
        matches!(self, Self::Gltf | Self::Obj | Self::Ply)
    }

    /// The bytes of a file. Text may come through a pipe.
    fn bytes(self, path: &Path) -> Result<Vec<u8>, ReadError> {
        match self {
            Self::Toml | Self::Mitsuba => read_bounded(path, MAX_SCENE_BYTES),
            Self::Gltf | Self::Obj | Self::Ply => read_bytes(path),
        }
    }

    /// Reads and validates the contents of a file.
    fn read(self, file: &str, bytes: &[u8], files: &Files, options: &Options) -> Result<LoadedScene, Error> {
        let mut notes = Vec::new();
        let (mut description, mut warnings) = match self {
            Self::Toml => toml::read(file, text_of(file, bytes)?, files)?,
            Self::Mitsuba => mitsuba::read(file, text_of(file, bytes)?, files, &options.defines)?,
            Self::Gltf => {
                let (description, warnings, told) =
                    gltf::read(file, bytes, files, &options.gltf, options.point_radius)?;
                notes = told;
                (description, warnings)
            }
            Self::Obj => obj::read_scene(file, bytes, files, options.up.unwrap_or_default())?,
            Self::Ply => {
                ply::read_scene(file, bytes, files, options.up.unwrap_or_default(), options.point_radius)?
            }
        };
        if options.strict || self == Self::Toml {
            refuse_mistakes(&warnings)?;
        }
        if self == Self::Gltf && options.backfaces == Backfaces::Keep {
            description.materials.iter_mut().for_each(|material| material.cull_backfaces = false);
        }
        let units = (self == Self::Gltf).then(|| convert_punctual(&mut description, options.punctual_units));
        let told =
            light(&mut description, self.is_model(), options.light, options.surroundings.as_ref(), files)?;
        warnings.extend(told.warning.map(|message| Problem::of_file(file, message)));
        let notes = notes.into_iter().chain(units.flatten()).chain(told.note);
        let notes = notes.map(|note| format!("{file}: {note}")).collect();
        Ok(LoadedScene { description, warnings, files: files.named(), notes })
    }
}
