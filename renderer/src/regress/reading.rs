//! The keys that say how a scene file is read, as the options of the command line do.

use std::path::Path;

use torrance_scene::input::{Field, Section};
use torrance_scene::{
    self as scene, Backfaces, GltfChoice, LightChoice, Options, PunctualUnits, Surroundings, Up,
};
use torrance_text::quoted;

/// The keys. `scene` is that of the case itself, so that of a glTF file has another name.
pub(super) const KEYS: &[&str] = &[
    "light",
    "environment",
    "camera",
    "gltf_scene",
    "variant",
    "animation",
    "at",
    "punctual_units",
    "backfaces",
    "up",
    "point_radius",
    "strict",
    "allow_external",
    "append",
    "define",
];

const LIGHT: &[(&str, LightChoice)] =
    &[("auto", LightChoice::Auto), ("scene", LightChoice::Scene), ("default", LightChoice::Default)];
const UNITS: &[(&str, PunctualUnits)] = &[
    ("auto", PunctualUnits::Auto),
    ("standard", PunctualUnits::Standard),
    ("unitless", PunctualUnits::Unitless),
];
const BACKFACES: &[(&str, Backfaces)] = &[("keep", Backfaces::Keep), ("cull", Backfaces::Cull)];

/// How the scene of a case is read: what its section says, with paths relative to `folder`.
pub(super) fn options(all: &Section<'_>, folder: &Path) -> Option<Options> {
    let overrides = scene::overrides(all);
    let strict = given(all, "strict", |field| field.boolean());
    let allow_external = given(all, "allow_external", |field| field.boolean());
    let search = given(all, "append", |field| {
        let folders = field.array("an array of folders")?;
        folders.iter().map(|name| name.string().map(|name| folder.join(name))).collect()
    });
    let defines = given(all, "define", defines);
    let gltf = gltf(all);
    let up = given(all, "up", |field| {
        let axis = field.string()?;
        match axis.parse::<Up>() {
            Ok(up) => Some(Some(up)),
            Err(why) => field.fail(&format!("is {}: {why}", quoted(axis))),
        }
    });
    let point_radius = given(all, "point_radius", |field| field.number_in(1e-9, 1e9).map(Some));
    let light = given(all, "light", |field| field.choice(LIGHT));
    let punctual_units = given(all, "punctual_units", |field| field.choice(UNITS));
    let backfaces = given(all, "backfaces", |field| field.choice(BACKFACES));
    let surroundings = given(all, "environment", |field| surroundings(field, folder).map(Some));
    Some(Options {
        overrides: overrides?,
        allow_external: allow_external?,
        strict: strict?,
        search: search?,
        defines: defines?,
        gltf: gltf?,
        up: up?,
        point_radius: point_radius?,
        light: light?,
        punctual_units: punctual_units?,
        backfaces: backfaces?,
        surroundings: surroundings?,
    })
}

/// The value of a key, the default if it is not there, or nothing if it is wrong.
fn given<T: Default>(all: &Section<'_>, key: &str, read: impl FnOnce(&Field<'_>) -> Option<T>) -> Option<T> {
    all.get(key).map_or_else(|| Some(T::default()), |field| read(&field))
}

fn gltf(all: &Section<'_>) -> Option<GltfChoice> {
    let [camera, scene, variant, animation] = ["camera", "gltf_scene", "variant", "animation"]
        .map(|key| given(all, key, |f| name_or_number(f).map(Some)));
    let at = given(all, "at", |field| field.number_in(0.0, 1e9).map(Some));
    Some(GltfChoice { camera: camera?, scene: scene?, variant: variant?, animation: animation?, at: at? })
}

fn name_or_number(field: &Field<'_>) -> Option<String> {
    match field.as_str() {
        Some(name) => Some(name.to_owned()),
        None if field.is_number() => field.natural().map(|number| number.to_string()),
        None => field.wrong_type("a name, or a number from 0"),
    }
}

/// The parameters of a Mitsuba scene: a table of their values.
fn defines(field: &Field<'_>) -> Option<Vec<(String, String)>> {
    let values = field.table("\"define\"")?.entries();
    let value = |field: &Field<'_>| match field.as_str() {
        Some(text) => Some(text.to_owned()),
        None if field.is_number() || field.as_bool().is_some() => Some(field.written()),
        None => field.wrong_type("text, a number, true or false"),
    };
    values.iter().map(|(name, field)| Some(((*name).to_owned(), value(field)?))).collect()
}

/// A colour as in scene files, or what the command line takes.
fn surroundings(field: &Field<'_>, folder: &Path) -> Option<Surroundings> {
    let Some(text) = field.as_str() else {
        return field.color(scene::limits::MAX_RADIANCE).map(Surroundings::Constant);
    };
    match text.parse() {
        Ok(Surroundings::Image(name)) => Some(Surroundings::Image(folder.join(name))),
        Ok(other) => Some(other),
        Err(why) => field.fail(&format!("is {}: {why}", quoted(text))),
    }
}
