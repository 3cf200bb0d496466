//! Objects of a scene, their properties, and where the files are that they name.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use glam::{DAffine3, DVec3};
use torrance_text::{Suggestions, quoted};

use crate::files::{FileError, Files};
use crate::formats::mitsuba::source::Position;
use crate::formats::mitsuba::spectrum::Spectrum;

/// A scene file with all that it includes. The first object is the scene.
#[derive(Default)]
pub(crate) struct Tree {
    pub(crate) objects: Vec<Object>,
    pub(crate) ids: HashMap<String, usize>,
    /// Folders of `path` tags, in the order in which they are looked through.
    pub(crate) paths: Vec<PathBuf>,
}

/// Something that a plugin makes.
#[derive(Debug)]
pub(crate) struct Object {
    /// Its tag: `bsdf`, `shape` and so on.
    pub(crate) class: Class,
    /// The plugin: `diffuse`, `sphere` and so on.
    pub(crate) plugin: String,
    /// By what others refer to it.
    pub(crate) id: Option<String>,
    /// Its start tag.
    pub(crate) place: Position,
    /// The name of the plugin.
    pub(crate) plugin_place: Position,
    /// In the order of the file; of several of a name the last counts.
    pub(crate) properties: Vec<Property>,
}

impl Object {
    /// Its name in messages, among others of its kind: `bsdf "wood"`, by its id, or else by its plugin.
    pub(crate) fn describe(&self) -> String {
        format!("{} {}", self.class.tag(), quoted(self.id.as_ref().unwrap_or(&self.plugin)))
    }
}

/// A property of an object; children without a name have an empty one.
#[derive(Debug)]
pub(crate) struct Property {
    pub(crate) name: String,
    pub(crate) place: Position,
    pub(crate) value: Value,
}

/// The value of a property.
#[derive(Debug)]
pub(crate) enum Value {
    Integer(i64),
    Float(f64),
    Boolean(bool),
    Text(String),
    Rgb([f64; 3]),
    Spectrum(Spectrum),
    /// Of a point or a vector.
    Vector(DVec3),
    Transform(DAffine3),
    /// Index into [`Tree::objects`].
    Object(usize),
    /// The id of an object.
    Reference(String),
}

/// The kind of an object, by its tag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    Scene,
    Integrator,
    Sensor,
    Film,
    Filter,
    Sampler,
    Shape,
    Bsdf,
    Texture,
    Emitter,
    Medium,
    Volume,
    Phase,
}

impl Class {
    pub(super) const TAGS: [(&'static str, Self); 14] = [
        ("scene", Self::Scene),
        ("integrator", Self::Integrator),
        ("sensor", Self::Sensor),
        ("film", Self::Film),
        ("rfilter", Self::Filter),
        ("sampler", Self::Sampler),
        ("shape", Self::Shape),
        ("bsdf", Self::Bsdf),
        ("texture", Self::Texture),
        ("emitter", Self::Emitter),
        ("medium", Self::Medium),
        ("volume", Self::Volume),
        ("phase", Self::Phase),
        ("spectrum", Self::Texture),
    ];

    /// That of a tag.
    pub(super) fn of_tag(tag: &str) -> Option<Self> {
        Self::TAGS.iter().find(|(name, _)| *name == tag).map(|(_, class)| *class)
    }

    /// Its tag.
    pub(crate) fn tag(self) -> &'static str {
        Self::TAGS.iter().find(|(_, class)| *class == self).map_or("", |(tag, _)| tag)
    }
}

impl Tree {
    /// The path of the file that the scene calls `name`: in a folder of a `path` tag, of the user's search path, in the scene's
    /// folder, or in `own`, that of the file that names it.
    ///
    /// # Errors
    /// As [`Files::resolve`].
    pub(crate) fn found(&self, files: &Files, own: &Path, name: &str) -> Result<PathBuf, FileError> {
        let folders = self.paths.iter().chain(files.search()).map(PathBuf::as_path).chain([files.folder()]);
        first_found(files, folders, own, name)
    }

    /// The index of the object that a value is or refers to, if there is one.
    pub(crate) fn object(&self, value: &Value) -> Option<usize> {
        match value {
            Value::Object(index) => Some(*index),
            Value::Reference(id) => self.ids.get(id).copied(),
            _ => None,
        }
    }

    /// The complaint about a reference.
    pub(crate) fn unknown_id(&self, id: &str, suggestions: &Suggestions) -> String {
        let sorted = || {
            let mut ids: Vec<_> = self.ids.keys().map(String::as_str).collect();
            ids.sort_unstable();
            ids
        };
        format!("nothing has the id {}{}", quoted(id), suggestions.hint(id, "the scene has", sorted))
    }
}

/// Where a file or folder of a name is: in the first of the folders that has it, or else in `own`.
pub(super) fn first_found<'p>(
    files: &Files,
    folders: impl Iterator<Item = &'p Path>,
    own: &Path,
    name: &str,
) -> Result<PathBuf, FileError> {
    let within = |folder: &Path| files.resolve_in(folder, name);
    let mut all = folders.map(within);
    all.find(|path| path.as_ref().is_ok_and(|path| path.exists())).unwrap_or_else(|| within(own))
}
