//! Views of objects that record which properties are queried, and thereby which are known.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fmt::Display;
use std::path::PathBuf;

use device::material::texture::NO_TEXTURE;
use glam::{DAffine3, DVec3, Vec3};
use torrance_text::{quoted, quoted_path};

use super::plugins::{Plugins, plugins};
use super::source::Sources;
use super::spectrum::Role;
use super::tree::{Class, Object, Property, Tree, Value};
use crate::description::Color;
use crate::description::limits::MAX_COORDINATE;
use crate::files::Files;

/// The properties that have been queried.
#[derive(Default)]
pub(super) struct Queries {
    /// Names of properties, by object.
    names: RefCell<BTreeMap<usize, BTreeSet<&'static str>>>,
    /// Objects that are read completely.
    finished: RefCell<HashSet<usize>>,
}

/// An object and what belongs to it.
#[derive(Clone, Copy)]
pub(super) struct View<'a> {
    pub(super) tree: &'a Tree,
    pub(super) sources: &'a Sources,
    asked: &'a Queries,
    pub(super) index: usize,
    pub(super) object: &'a Object,
}

/// A property as the user wrote it.
#[derive(Clone, Copy)]
pub(super) struct PropertyView<'a> {
    pub(super) view: View<'a>,
    pub(super) property: &'a Property,
}

impl<'a> View<'a> {
    pub(super) fn new(
        tree: &'a Tree,
        sources: &'a Sources,
        asked: &'a Queries,
        index: usize,
    ) -> Option<Self> {
        Some(Self { tree, sources, asked, index, object: tree.objects.get(index)? })
    }

    /// Its name in messages: `bsdf "diffuse"`.
    pub(super) fn describe(&self) -> String {
        format!("{} {}", self.object.class.tag(), quoted(&self.object.plugin))
    }

    /// Its id, or what stands in for one: `shape on line 7`.
    pub(super) fn name(&self) -> String {
        let Object { id, class, place, .. } = self.object;
        id.clone().unwrap_or_else(|| format!("{} on line {}", class.tag(), self.sources.line(place)))
    }

    /// The object at another index, which exists.
    pub(super) fn other(&self, index: usize) -> Option<Self> {
        Self::new(self.tree, self.sources, self.asked, index)
    }

    /// Reports an error in its start tag.
    pub(super) fn error<T>(&self, message: impl Into<String>) -> Option<T> {
        self.sources.error(&self.object.place, message)
    }

    /// Reports that it is wrong; `why` follows what it is.
    pub(super) fn fail<T>(&self, why: impl Display) -> Option<T> {
        self.error(format!("{} {why}", self.describe()))
    }

    /// Its plugin, if that is one of its class that are read.
    pub(super) fn plugin(&self) -> Option<&'a str> {
        self.plugin_of(&plugins(self.object.class)?)
    }

    /// Its plugin, if that is one of those that are read.
    pub(super) fn plugin_of(&self, plugins: &Plugins) -> Option<&'a str> {
        match self.complaint(plugins) {
            None => Some(&self.object.plugin),
            Some(complaint) => self.sources.error(&self.object.plugin_place, complaint),
        }
    }

    /// The complaint about a plugin that is not one of those that are read.
    pub(super) fn complaint(&self, plugins: &Plugins) -> Option<String> {
        let Object { class, plugin, .. } = self.object;
        let Plugins { known, unsupported } = plugins;
        if known.contains(&plugin.as_str()) {
            return None;
        }
        if unsupported.contains(&plugin.as_str()) {
            return Some(format!("{} is not supported", self.describe()));
        }
        let known = || known.iter().copied();
        let hint = self.sources.suggestions.hint(plugin, "those that are read are", known);
        Some(format!("unknown {} {}{hint}", class.tag(), quoted(plugin)))
    }

    /// A property, which is marked as known.
    pub(super) fn get(&self, name: &'static str) -> Option<PropertyView<'a>> {
        self.asked.names.borrow_mut().entry(self.index).or_default().insert(name);
        let property = self.object.properties.iter().find(|p| p.name == name)?;
        Some(PropertyView { view: *self, property })
    }

    /// A required property.
    pub(super) fn require(&self, name: &'static str) -> Option<PropertyView<'a>> {
        let found = self.get(name);
        if found.is_none() {
            self.fail::<()>(format!("has no {name:?}"));
        }
        found
    }

    /// Marks properties as known that are redundant or irrelevant here.
    pub(super) fn ignore(&self, names: &[&'static str]) {
        for name in names {
            self.get(name);
        }
    }

    /// Warns of ignored properties that would change the image; `why` gives the reason.
    pub(super) fn warn_of(&self, names: &[&'static str], why: &str) {
        for given in names.iter().filter_map(|name| self.get(name)) {
            given.warn(format!("is passed over: {why}"));
        }
    }

    /// The object that a property is or refers to.
    fn referred(&self, property: &Property) -> Option<Self> {
        match (self.tree.object(&property.value), &property.value) {
            (Some(index), _) => self.other(index),
            (None, Value::Reference(id)) => {
                let message = self.tree.unknown_id(id, &self.sources.suggestions);
                self.sources.error(&property.place, message)
            }
            _ => None,
        }
    }

    /// The objects of a class in it, whatever their names, and where they are given.
    pub(super) fn children(&self, class: Class) -> Vec<PropertyView<'a>> {
        let is_of_class = |property: &&Property| {
            let object = self.tree.object(&property.value).and_then(|index| self.tree.objects.get(index));
            object.is_some_and(|object| object.class == class)
        };
        let view = *self;
        self.object
            .properties
            .iter()
            .filter(is_of_class)
            .map(|property| PropertyView { view, property })
            .collect()
    }

    /// The only object of a class in it, if there is one.
    pub(super) fn child(&self, class: Class) -> Option<Option<PropertyView<'a>>> {
        match self.children(class).as_slice() {
            [] => Some(None),
            [one] => Some(Some(*one)),
            [_, second, ..] => {
                let message = format!("{} has more than one {}", self.describe(), class.tag());
                self.sources.error(&second.property.place, message)
            }
        }
    }

    /// Whether all has been asked of it.
    pub(super) fn is_finished(&self) -> bool {
        self.asked.finished.borrow().contains(&self.index)
    }

    /// Reports properties that nobody asked for, and objects of other classes than `children`; yields what was `found`.
    /// Without that, not all that may be there has been asked for, and only what looks misspelt is reported.
    pub(super) fn finish<T>(&self, found: Option<T>, children: &[Class]) -> Option<T> {
        self.asked.finished.borrow_mut().insert(self.index);
        let asked = self.asked.names.borrow().get(&self.index).cloned().unwrap_or_default();
        let suggestions = &self.sources.suggestions;
        for property in &self.object.properties {
            let Property { name, place, value } = property;
            let object = match value {
                Value::Object(_) | Value::Reference(_) => match self.referred(property) {
                    Some(object) if children.contains(&object.object.class) => continue,
                    None => continue, // It refers to nothing, which has been reported.
                    found => found,
                },
                _ => None,
            };
            if asked.contains(name.as_str()) {
                continue;
            }
            let message = match object {
                Some(object) if object.object.class == Class::Medium => {
                    "participating media are not supported".to_owned()
                }
                Some(object) if name.is_empty() => {
                    format!("{} cannot be in {}", object.describe(), self.describe())
                }
                _ if found.is_none() && suggestions.nearest(name, asked.iter().copied()).is_none() => {
                    continue;
                }
                _ => {
                    let hint = suggestions.hint(name, "it has", || asked.iter().copied());
                    format!("{} has no {}{hint}", self.describe(), quoted(name))
                }
            };
            self.sources.error::<()>(place, message);
        }
        found
    }

    /// A number in `[low, high]`, or `default`.
    pub(super) fn number_in(&self, name: &'static str, default: f64, (low, high): (f64, f64)) -> Option<f32> {
        self.get(name).map_or(Some(default as f32), |given| given.number_in(low, high))
    }

    /// A whole number in `[low, high]`, or `default`.
    pub(super) fn integer(&self, name: &'static str, default: i64, (low, high): (i64, i64)) -> Option<i64> {
        let Some(given) = self.get(name) else { return Some(default) };
        match given.property.value {
            Value::Integer(i) if (low..=high).contains(&i) => Some(i),
            Value::Integer(_) => given.fail(format!("must be between {low} and {high}")),
            _ => given.wrong_type("a whole number"),
        }
    }

    /// True or false.
    pub(super) fn boolean(&self, name: &'static str, default: bool) -> Option<bool> {
        let Some(given) = self.get(name) else { return Some(default) };
        match given.property.value {
            Value::Boolean(b) => Some(b),
            _ => given.wrong_type("true or false"),
        }
    }

    /// One of several words.
    pub(super) fn choice<T: Copy>(&self, name: &'static str, default: T, choices: &[(&str, T)]) -> Option<T> {
        let Some(given) = self.get(name) else { return Some(default) };
        let word = given.text()?;
        match choices.iter().find(|(name, _)| name.eq_ignore_ascii_case(word)) {
            Some((_, value)) => Some(*value),
            None => {
                let names = || choices.iter().map(|(name, _)| *name);
                let hint = self.sources.suggestions.hint(word, "it is", names);
                given.error(format!("unknown {name} {}{hint}", quoted(word)))
            }
        }
    }

    /// A point or vector.
    pub(super) fn vector(&self, name: &'static str, default: DVec3) -> Option<DVec3> {
        let Some(given) = self.get(name) else { return Some(default) };
        match given.property.value {
            Value::Vector(v) if v.abs().max_element() <= MAX_COORDINATE.into() => Some(v),
            Value::Vector(_) => given.fail("reaches beyond 1e9 metres, where single precision fails"),
            _ => given.wrong_type("a point or vector"),
        }
    }

    /// The value of a colour, which must have no texture.
    pub(super) fn untextured(&self, name: &'static str, color: Color) -> Option<Vec3> {
        match color.texture {
            NO_TEXTURE => Some(color.value),
            _ => self.get(name)?.fail("has a texture; that is not supported here"),
        }
    }

    /// A transform that can be inverted; nothing if it is not there.
    pub(super) fn transform(&self, name: &'static str) -> Option<DAffine3> {
        let Some(given) = self.get(name) else { return Some(DAffine3::IDENTITY) };
        let Value::Transform(t) = given.property.value else { return given.wrong_type("a transform") };
        match unusable(&t) {
            Some(why) => given.fail(why),
            None => Some(t),
        }
    }
}

impl<'a> PropertyView<'a> {
    /// Reports an error there.
    pub(super) fn error<T>(&self, message: impl Into<String>) -> Option<T> {
        self.view.sources.error(&self.property.place, message)
    }

    /// Reports that the property is wrong; `why` follows its name.
    pub(super) fn fail<T>(&self, why: impl Display) -> Option<T> {
        self.error(format!("{:?} of {} {why}", self.property.name, self.view.describe()))
    }

    /// Warns of the property; `why` follows its name.
    pub(super) fn warn(&self, why: impl Display) {
        let message = format!("{:?} of {} {why}", self.property.name, self.view.describe());
        self.view.sources.warn(&self.property.place, message);
    }

    /// The value made of it, or nothing once its error is reported.
    pub(super) fn value<T>(&self, made: Result<T, impl Display>) -> Option<T> {
        self.view.sources.value(&self.property.place, made)
    }

    /// Contents read from a file, or nothing once it is reported why it cannot be read.
    pub(super) fn read<T>(&self, file: &str, read: Result<T, impl Display>) -> Option<T> {
        self.view.sources.read(&self.property.place, file, read)
    }

    /// Where the file is that it calls `name`; `kind` says of which kind that should be.
    pub(super) fn path(&self, files: &Files, kind: &str, name: &str) -> Option<PathBuf> {
        let View { tree, sources, .. } = self.view;
        let found = tree.found(files, &sources.texts[self.property.place.file].folder, name);
        self.read(&format!("{kind} {}", quoted_path(name)), found)
    }

    /// Reports that it is of another type.
    pub(super) fn wrong_type<T>(&self, expected: &str) -> Option<T> {
        let found = match &self.property.value {
            Value::Integer(_) => "a whole number",
            Value::Float(_) => "a number",
            Value::Boolean(_) => "true or false",
            Value::Text(_) => "a string",
            Value::Rgb(_) => "a colour",
            Value::Spectrum(_) => "a spectrum",
            Value::Vector(_) => "a point or vector",
            Value::Transform(_) => "a transform",
            Value::Object(_) | Value::Reference(_) => "an object",
        };
        self.fail(format!("is {found}, and should be {expected}"))
    }

    /// The object that it is or refers to.
    pub(super) fn object(&self) -> Option<View<'a>> {
        self.view.referred(self.property)
    }

    pub(super) fn number(&self) -> Option<f64> {
        match self.property.value {
            Value::Float(x) => Some(x),
            Value::Integer(i) => Some(i as f64),
            _ => self.wrong_type("a number"),
        }
    }

    pub(super) fn number_in(&self, low: f64, high: f64) -> Option<f32> {
        match self.number()? {
            x if (low..=high).contains(&x) => Some(x as f32),
            _ => self.fail(format!("must be between {low} and {high}")),
        }
    }

    pub(super) fn text(&self) -> Option<&'a str> {
        match &self.property.value {
            Value::Text(text) => Some(text),
            _ => self.wrong_type("a string"),
        }
    }

    /// A colour without a texture; `role` says how a spectrum becomes one.
    pub(super) fn plain_color(&self, role: Role) -> Option<DVec3> {
        match &self.property.value {
            Value::Float(x) => Some(DVec3::splat(*x)),
            Value::Integer(i) => Some(DVec3::splat(*i as f64)),
            Value::Rgb(rgb) => Some(DVec3::from(*rgb)),
            Value::Spectrum(spectrum) => Some(spectrum.color(role, |what| {
                self.warn(what);
            })),
            _ => None,
        }
    }
}

/// Channels in `[0, high]`.
pub(super) fn color_in(given: &PropertyView<'_>, color: DVec3, high: f32) -> Option<Vec3> {
    match color.min_element() >= 0.0 && color.max_element() <= high.into() {
        true => Some(color.as_vec3()),
        false if high == 1.0 => given.fail("must be between 0 and 1 in every channel"),
        false => given.fail(format!("must be between 0 and {high:e} in every channel")),
    }
}

/// Why a transform cannot place anything.
fn unusable(t: &DAffine3) -> Option<&'static str> {
    let m = t.matrix3;
    let lengths = [m.x_axis.length(), m.y_axis.length(), m.z_axis.length()];
    let largest = f64::from(MAX_COORDINATE);
    let volume: f64 = lengths.iter().product();
    let is_far = lengths.iter().any(|l| *l > largest) || t.translation.abs().max_element() > largest;
    match () {
        () if is_far || !t.is_finite() => Some("moves or scales by more than 1e9"),
        () if lengths.iter().any(|l| *l < 1.0 / largest) => Some("scales by less than 1e-9"),
        () if m.determinant().abs() < 1e-6 * volume => Some("flattens: its determinant is 0"),
        () => None,
    }
}
