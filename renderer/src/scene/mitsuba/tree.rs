//! From XML to objects with properties: `$` parameters replaced, files included, names given.
//!
//! The rules are those of Mitsuba's own parser (its documentation: "Scene XML file format").

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use glam::{DAffine3, DMat3, DVec3};
use roxmltree::{Attribute, Document, Node, ParsingOptions};

use super::parameters::Parameters;
use super::source::{Place, Sources};
use super::spectrum::{FromFile, Spectrum};
use super::transform;
use crate::input::file::{read_regular, text_of};
use crate::input::{Error, Problem, hint, nearest, quoted, quoted_path};
use crate::scene::Files;
use crate::scene::limits::{MAX_SCENE_BYTES, MAX_SPECTRUM_BYTES};

/// Most levels of elements within one another.
const MAX_LEVELS: usize = 64;
/// Most levels of files that include others; Mitsuba's limit.
const MAX_INCLUDES: usize = 15;
/// Most files that are included in all.
const MAX_FILES: usize = 1000;
/// Most elements and texts of a file.
const MAX_NODES: u32 = 1 << 24;

/// Something that a plugin makes.
#[derive(Debug)]
pub(super) struct Object {
    /// Its tag: `bsdf`, `shape` and so on.
    pub(super) class: Class,
    /// The plugin: `diffuse`, `sphere` and so on.
    pub(super) plugin: String,
    /// By what others refer to it.
    pub(super) id: Option<String>,
    /// Its start tag.
    pub(super) place: Place,
    /// The name of the plugin.
    pub(super) plugin_place: Place,
    /// In the order of the file; of several of a name the last counts.
    pub(super) properties: Vec<Property>,
}

impl Object {
    /// What messages call one among others of its kind: `bsdf "wood"`, by its id, or else by its plugin.
    pub(super) fn words(&self) -> String {
        format!("{} {}", self.class.tag(), quoted(self.id.as_ref().unwrap_or(&self.plugin)))
    }
}

/// A property of an object; children without a name have an empty one.
#[derive(Debug)]
pub(super) struct Property {
    pub(super) name: String,
    pub(super) place: Place,
    pub(super) value: Value,
}

/// The value of a property.
#[derive(Debug)]
pub(super) enum Value {
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

/// What an object is, by its tag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
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
    const TAGS: [(&'static str, Self); 14] = [
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

    /// Its tag.
    pub(super) fn tag(self) -> &'static str {
        Self::TAGS.iter().find(|(_, class)| *class == self).map_or("", |(tag, _)| tag)
    }
}

/// Tags of properties, and others that are no objects.
const OTHER_TAGS: [&str; 15] = [
    "integer",
    "float",
    "boolean",
    "string",
    "rgb",
    "spectrum",
    "point",
    "vector",
    "transform",
    "ref",
    "default",
    "include",
    "alias",
    "path",
    "animation",
];

/// A scene file with all that it includes. The first object is the scene.
#[derive(Default)]
pub(super) struct Tree {
    pub(super) objects: Vec<Object>,
    pub(super) ids: HashMap<String, usize>,
    /// Folders of `path` tags, in the order in which they are looked through.
    pub(super) paths: Vec<PathBuf>,
}

/// Reads the text of a scene file, with parameters set from outside. `None` if anything was wrong, which has been
/// reported.
pub(super) fn read(
    sources: &mut Sources,
    file: &str,
    text: &str,
    files: &Files,
    defines: &[(String, String)],
) -> Option<Tree> {
    let mut builder = Builder {
        sources,
        files,
        tree: Tree::default(),
        parameters: Parameters::new(defines),
        spectra: HashMap::new(),
        folders: Vec::new(),
        is_incomplete: false,
    };
    let folder = files.folder().to_owned();
    let root = builder.file(file, text, folder, None, 0)?;
    if builder.is_incomplete {
        return None;
    }
    let place = builder.tree.objects.get(root)?.place.clone();
    let unused: Vec<_> = builder.parameters.unused().map(str::to_owned).collect();
    for name in unused {
        let known = builder.parameters.names();
        let hint = hint(&name, "it has", known.iter().map(String::as_str).filter(|n| *n != name));
        let message = format!("the scene has no parameter {}{hint}", quoted(&name));
        builder.sources.error::<()>(&place, message);
    }
    Some(builder.tree)
}

struct Builder<'a> {
    sources: &'a mut Sources,
    files: &'a Files,
    tree: Tree,
    parameters: Parameters,
    /// By file; nothing for those with errors, which are reported once.
    spectra: HashMap<PathBuf, Option<Spectrum>>,
    /// Folders of the file that is read and of those that include it, which come first.
    folders: Vec<PathBuf>,
    /// Whether a file that is included could not be read: what seems to be missing may be there.
    is_incomplete: bool,
}

/// Where a node is: its file, how deep, and what it is a part of.
#[derive(Clone, Copy)]
struct Context {
    file: usize,
    level: usize,
    includes: usize,
    /// Whether the file is of a version before 2, with names in camel case.
    is_old: bool,
}

impl Builder<'_> {
    /// Reads a file; its root, without what is in it if `into` says whose part the parts of a scene become.
    fn file(
        &mut self,
        name: &str,
        text: &str,
        folder: PathBuf,
        into: Option<(usize, &str)>,
        includes: usize,
    ) -> Option<usize> {
        self.folders.push(folder.clone());
        let file = self.sources.add(name, text, folder);
        let root = self.root(file, text, into, includes);
        self.folders.pop();
        root
    }

    /// Reads a file that has been added.
    fn root(
        &mut self,
        file: usize,
        text: &str,
        into: Option<(usize, &str)>,
        includes: usize,
    ) -> Option<usize> {
        let options = ParsingOptions { allow_dtd: false, nodes_limit: MAX_NODES, ..Default::default() };
        let document = match Document::parse_with_options(text, options) {
            Ok(document) => document,
            Err(error) => return self.syntax_error(file, text, &error),
        };
        let root = document.root_element();
        let context = Context { file, level: 0, includes, is_old: self.is_old(file, &root)? };
        let class = Class::TAGS.iter().find(|(tag, _)| *tag == tag_of(&root)).map(|(_, class)| *class);
        match (class, into) {
            (Some(Class::Scene), Some((parent, _))) => {
                self.children(&root, parent, context);
                Some(parent)
            }
            (Some(Class::Scene), None) => self.object(&root, Class::Scene, context),
            (Some(class), Some((parent, property))) => {
                let object = self.object(&root, class, context)?;
                let place = start_tag(&root, file);
                let value = Value::Object(object);
                self.tree.objects[parent].properties.push(Property {
                    name: property.to_owned(),
                    place,
                    value,
                });
                Some(object)
            }
            _ => {
                let message = format!("the root is <{}>, and should be <scene>", tag_of(&root));
                self.sources.error(&start_tag(&root, file), message)
            }
        }
    }

    fn syntax_error<T>(&self, file: usize, text: &str, error: &roxmltree::Error) -> Option<T> {
        let at = error.pos();
        let line_start =
            text.split_inclusive('\n').take(at.row.saturating_sub(1) as usize).map(str::len).sum::<usize>();
        let line = text.get(line_start..).unwrap_or_default();
        let column =
            line.char_indices().nth(at.col.saturating_sub(1) as usize).map_or(line.len(), |(i, _)| i);
        let start = (line_start + column).min(text.len());
        // The library adds the place once more.
        let words = error.to_string();
        let words = words.rsplit_once(" at ").map_or(words.as_str(), |(words, _)| words);
        let message = format!("not valid XML: {}", words.replace('\'', "\""));
        self.sources.error(&Place { file, span: start..start }, message)
    }

    /// Whether the names of a file are those of Mitsuba 0.x; nothing without a version.
    fn is_old(&self, file: usize, root: &Node<'_, '_>) -> Option<bool> {
        let Some(version) = root.attribute_node("version") else {
            let message = format!(
                "<{}> has no \"version\"; add version=\"3.0.0\" if the scene is for Mitsuba 3",
                tag_of(root)
            );
            return self.sources.error(&start_tag(root, file), message);
        };
        let numbers: Vec<_> = version.value().split('.').map(str::parse::<u32>).collect();
        match numbers.first() {
            Some(Ok(major)) if numbers.len() == 3 && numbers.iter().all(Result::is_ok) => Some(*major < 2),
            _ => {
                let message = format!("version {} is not of the form \"3.0.0\"", quoted(version.value()));
                self.sources.error(&value_place(&version, file), message)
            }
        }
    }

    /// Adds an object with all that is in it.
    fn object(&mut self, node: &Node<'_, '_>, class: Class, context: Context) -> Option<usize> {
        let place = start_tag(node, context.file);
        let is_root = context.level == 0;
        self.check_attributes(
            node,
            context,
            if is_root { &["version", "type", "id", "name"] } else { &["type", "id", "name"] },
        );
        let plugin = match node.attribute_node("type") {
            Some(_) => self.attribute(node, "type", context)?,
            None if class == Class::Scene => ("scene".to_owned(), place.clone()),
            None => {
                let message = format!("<{}> has no \"type\", which would say what kind it is", class.tag());
                return self.sources.error(&place, message);
            }
        };
        // An empty one is none.
        let id = match node.attribute_node("id") {
            Some(_) => Some(self.attribute(node, "id", context)?).filter(|(id, _)| !id.is_empty()),
            None => None,
        };
        let index = self.tree.objects.len();
        if let Some((id, id_place)) = &id {
            self.name(id, index, id_place);
        }
        let (plugin, plugin_place) = plugin;
        let id = id.map(|(id, _)| id);
        self.tree.objects.push(Object { class, plugin, id, place, plugin_place, properties: Vec::new() });
        self.children(node, index, context);
        if context.is_old {
            transform::upgrade(&mut self.tree.objects[index]);
        }
        Some(index)
    }

    /// Gives an object an id.
    fn name(&mut self, id: &str, index: usize, place: &Place) {
        if let Some(other) = self.tree.ids.get(id).and_then(|i| self.tree.objects.get(*i)) {
            let message = format!("the id {} is taken, on {}", quoted(id), self.sources.words(&other.place));
            self.sources.error::<()>(place, message);
        } else {
            self.tree.ids.insert(id.to_owned(), index);
        }
    }

    fn children(&mut self, node: &Node<'_, '_>, parent: usize, context: Context) {
        if context.level >= MAX_LEVELS {
            let message = format!("elements are nested more than {MAX_LEVELS} levels deep");
            return self.sources.error(&start_tag(node, context.file), message).unwrap_or_default();
        }
        let context = Context { level: context.level + 1, ..context };
        for child in node.children() {
            if child.is_element() {
                self.child(&child, parent, context);
            } else if child.is_text() && child.text().is_some_and(|t| !t.trim().is_empty()) {
                let place = Place { file: context.file, span: child.range() };
                self.sources.warn(&place, "text between elements means nothing");
            }
        }
    }

    fn child(&mut self, node: &Node<'_, '_>, parent: usize, context: Context) -> Option<()> {
        let tag = tag_of(node);
        let place = start_tag(node, context.file);
        if !matches!(tag, "transform" | "include" | "animation")
            && !is_object(node)
            && let Some(child) = node.children().find(Node::is_element)
        {
            let message = format!("<{}> cannot be within <{tag}>", tag_of(&child));
            return self.sources.error(&start_tag(&child, context.file), message);
        }
        match tag {
            "default" => self.default(node, context),
            "include" => self.include(node, parent, context),
            "alias" => self.alias(node, context),
            "path" => self.path(node, context),
            "animation" => self.sources.error(&place, "<animation> is not supported: things do not move"),
            _ if is_object(node) => {
                let class = Class::TAGS.iter().find(|(t, _)| *t == tag).map(|(_, class)| *class)?;
                let index = self.object(node, class, context)?;
                let name = match node.attribute_node("name") {
                    Some(_) => self.attribute(node, "name", context)?.0,
                    None => String::new(),
                };
                self.property(parent, name, place, Value::Object(index))
            }
            _ => {
                let value = self.value(node, tag, context)?;
                let name = match node.attribute_node("name") {
                    Some(_) => self.attribute(node, "name", context)?.0,
                    None if tag == "ref" => String::new(),
                    None => return self.sources.error(&place, format!("<{tag}> has no \"name\"")),
                };
                self.property(parent, name, place, value)
            }
        }
    }

    /// Adds a property to an object.
    fn property(&mut self, parent: usize, name: String, place: Place, value: Value) -> Option<()> {
        let properties = &mut self.tree.objects.get_mut(parent)?.properties;
        let is_twice = !name.is_empty() && properties.iter().any(|p| p.name == name);
        if is_twice {
            return self.sources.error(&place, format!("{} is given twice", quoted(&name)));
        }
        properties.push(Property { name, place, value });
        Some(())
    }

    /// The value of a property, by its tag.
    fn value(&mut self, node: &Node<'_, '_>, tag: &str, context: Context) -> Option<Value> {
        match tag {
            "integer" | "float" | "boolean" | "string" | "rgb" => {
                self.check_attributes(node, context, &["name", "value"]);
                let (text, place) = self.attribute(node, "value", context)?;
                self.simple_value(tag, text, &place)
            }
            "spectrum" => {
                self.check_attributes(node, context, &["name", "value", "filename"]);
                self.spectrum(node, context).map(Value::Spectrum)
            }
            "point" | "vector" => {
                self.check_attributes(node, context, &["name", "value", "x", "y", "z"]);
                self.vector(node, None, context).map(Value::Vector)
            }
            "transform" => {
                self.check_attributes(node, context, &["name"]);
                let mut total = DAffine3::IDENTITY;
                for step in node.children().filter(Node::is_element) {
                    total = self.step(&step, context)? * total;
                }
                Some(Value::Transform(total))
            }
            "ref" => {
                self.check_attributes(node, context, &["name", "id"]);
                Some(Value::Reference(self.attribute(node, "id", context)?.0))
            }
            _ => {
                let tags = Class::TAGS.iter().map(|(tag, _)| *tag).chain(OTHER_TAGS);
                let place = start_tag(node, context.file);
                if transform::STEPS.contains(&tag) {
                    return self.sources.error(&place, format!("<{tag}> belongs into a <transform>"));
                }
                let near = nearest(tag, tags).map(|t| format!("; did you mean <{t}>?"));
                self.sources.error(&place, format!("unknown element <{tag}>{}", near.unwrap_or_default()))
            }
        }
    }

    /// A spectrum, from `value` or from a file.
    fn spectrum(&mut self, node: &Node<'_, '_>, context: Context) -> Option<Spectrum> {
        if !node.has_attribute("filename") {
            let (text, place) = self.attribute(node, "value", context)?;
            return Spectrum::parse(&text).map_or_else(|message| self.sources.error(&place, message), Some);
        }
        if let Some(value) = node.attribute_node("value") {
            let message = "\"value\" is given by \"filename\" already; keep one of them";
            return self.sources.error(&name_place(&value, context.file), message);
        }
        let (name, place) = self.attribute(node, "filename", context)?;
        let path = match self.tree.found(self.files, self.sources.folder(context.file), &name) {
            Ok(path) => path,
            Err(reason) => {
                return self
                    .sources
                    .error(&place, format!("cannot read spectrum {}: {reason}", quoted_path(&name)));
            }
        };
        if let Some(known) = self.spectra.get(&path) {
            return *known;
        }
        let spectrum = self.spectrum_file(&path, &place);
        self.spectra.insert(path, spectrum);
        spectrum
    }

    /// The text of a file; what is wrong with it is reported.
    fn text<'b>(&self, shown: &str, bytes: &'b [u8]) -> Option<&'b str> {
        let report = |error: Error| error.problems.into_iter().for_each(|p| self.sources.push(p));
        text_of(shown, bytes).map_err(report).ok()
    }

    fn spectrum_file(&self, path: &Path, place: &Place) -> Option<Spectrum> {
        let shown = path.display().to_string();
        let bytes = match read_regular(path, MAX_SPECTRUM_BYTES) {
            Ok(bytes) => bytes,
            Err(reason) => {
                let message = format!("cannot read spectrum {}: {reason}", quoted_path(&shown));
                return self.sources.error(place, message);
            }
        };
        let text = self.text(&shown, &bytes)?;
        match Spectrum::parse_file(text) {
            Ok(FromFile { spectrum, excess }) => {
                if let Some(span) = excess {
                    let message = "what follows the first two numbers of a line is passed over";
                    self.sources.push_warning(Problem::at(&shown, text, span, message));
                }
                Some(spectrum)
            }
            Err((span, message)) => {
                self.sources.push(Problem::at(&shown, text, span, message));
                None
            }
        }
    }

    fn simple_value(&self, tag: &str, text: String, place: &Place) -> Option<Value> {
        let wrong = |what: &str| self.sources.error(place, format!("{} is not {what}", quoted(&text)));
        match tag {
            "integer" => match text.trim().parse() {
                Ok(i) => Some(Value::Integer(i)),
                Err(_) => wrong("a whole number"),
            },
            "float" => match number(&text) {
                Some(x) => Some(Value::Float(x)),
                None => wrong("a finite number"),
            },
            "boolean" if text.eq_ignore_ascii_case("true") => Some(Value::Boolean(true)),
            "boolean" if text.eq_ignore_ascii_case("false") => Some(Value::Boolean(false)),
            "boolean" => wrong("\"true\" or \"false\""),
            "string" => Some(Value::Text(text)),
            _ => match numbers(&text).as_deref() {
                Some([grey]) => Some(Value::Rgb([*grey; 3])),
                Some([r, g, b]) => Some(Value::Rgb([*r, *g, *b])),
                _ => wrong("one number or three: red, green and blue"),
            },
        }
    }

    /// Three numbers, from `value` or from `x`, `y` and `z`, of which those that are missing are `default`.
    fn vector(&mut self, node: &Node<'_, '_>, default: Option<f64>, context: Context) -> Option<DVec3> {
        if node.has_attribute("value") {
            if let Some(other) = ["x", "y", "z"].iter().find_map(|name| node.attribute_node(*name)) {
                let message = format!("{:?} is given by \"value\" already; keep one of them", other.name());
                return self.sources.error(&name_place(&other, context.file), message);
            }
            let (text, place) = self.attribute(node, "value", context)?;
            return match numbers(&text).as_deref() {
                Some([x]) => Some(DVec3::splat(*x)),
                Some([x, y, z]) => Some(DVec3::new(*x, *y, *z)),
                _ => self.sources.error(&place, format!("{} is not one number or three", quoted(&text))),
            };
        }
        let mut out = [0.0; 3];
        for (name, out) in ["x", "y", "z"].iter().zip(&mut out) {
            *out = match default {
                Some(default) if !node.has_attribute(*name) => default,
                _ => {
                    let (text, place) = self.attribute(node, name, context)?;
                    self.number(&text, &place)?
                }
            };
        }
        Some(DVec3::from(out))
    }

    fn number(&self, text: &str, place: &Place) -> Option<f64> {
        let found = number(text);
        if found.is_none() {
            self.sources.error::<()>(place, format!("{} is not a finite number", quoted(text)));
        }
        found
    }

    /// A step of a transform.
    fn step(&mut self, node: &Node<'_, '_>, context: Context) -> Option<DAffine3> {
        let tag = tag_of(node);
        let place = start_tag(node, context.file);
        match tag {
            "translate" | "scale" => {
                self.check_attributes(node, context, &["value", "x", "y", "z"]);
                let is_scale = tag == "scale";
                let v = self.vector(node, Some(if is_scale { 1.0 } else { 0.0 }), context)?;
                Some(if is_scale { DAffine3::from_scale(v) } else { DAffine3::from_translation(v) })
            }
            "rotate" => {
                self.check_attributes(node, context, &["value", "x", "y", "z", "angle"]);
                let axis = self.vector(node, Some(0.0), context)?;
                let (angle, angle_place) = self.attribute(node, "angle", context)?;
                let degrees = self.number(&angle, &angle_place)?;
                match axis.try_normalize() {
                    Some(axis) => Some(DAffine3::from_mat3(transform::rotation(axis, degrees))),
                    None => self.sources.error(&place, "the axis of a rotation has no direction"),
                }
            }
            "lookat" | "lookAt" => {
                self.check_attributes(node, context, &["origin", "target", "up"]);
                let origin = self.triple(node, "origin", context)?;
                let target = self.triple(node, "target", context)?;
                let up = match node.has_attribute("up") {
                    true => self.triple(node, "up", context)?,
                    false => DVec3::ZERO,
                };
                match transform::look_at(origin, target, up) {
                    Ok(look_at) => Some(look_at),
                    Err(message) => self.sources.error(&place, message),
                }
            }
            "matrix" => {
                self.check_attributes(node, context, &["value"]);
                let (text, place) = self.attribute(node, "value", context)?;
                match matrix(&text) {
                    Ok(matrix) => Some(matrix),
                    Err(message) => self.sources.error(&place, message),
                }
            }
            _ => {
                let near = nearest(tag, transform::STEPS);
                let near = near.map(|t| format!("; did you mean <{t}>?")).unwrap_or_default();
                self.sources.error(&place, format!("<{tag}> is no step of a <transform>{near}"))
            }
        }
    }

    /// An attribute of three numbers.
    fn triple(&mut self, node: &Node<'_, '_>, name: &str, context: Context) -> Option<DVec3> {
        let (text, place) = self.attribute(node, name, context)?;
        match numbers(&text).as_deref() {
            Some([x, y, z]) => Some(DVec3::new(*x, *y, *z)),
            _ => self.sources.error(&place, format!("{} is not three numbers", quoted(&text))),
        }
    }

    /// An attribute with its parameters replaced, and where it is.
    fn attribute(&mut self, node: &Node<'_, '_>, name: &str, context: Context) -> Option<(String, Place)> {
        let Some(attribute) = node.attribute_node(name) else {
            let message = format!("<{}> has no {name:?}", tag_of(node));
            return self.sources.error(&start_tag(node, context.file), message);
        };
        let place = value_place(&attribute, context.file);
        match self.parameters.replaced(attribute.value()) {
            Ok(text) => Some((text, place)),
            Err(_) if self.is_incomplete => None,
            Err(message) => self.sources.error(&place, message),
        }
    }

    /// Reports attributes that mean nothing.
    fn check_attributes(&self, node: &Node<'_, '_>, context: Context, known: &[&str]) {
        for attribute in node.attributes() {
            // As it is written, with its prefix.
            let name = node.document().input_text().get(attribute.range_qname()).unwrap_or_default();
            if known.contains(&name) {
                continue;
            }
            let hint = hint(name, "it has", known.iter().copied());
            let message = format!("<{}> has no attribute {}{hint}", tag_of(node), quoted(name));
            self.sources.error::<()>(&name_place(&attribute, context.file), message);
        }
    }

    fn default(&mut self, node: &Node<'_, '_>, context: Context) -> Option<()> {
        self.check_attributes(node, context, &["name", "value"]);
        let (name, place) = self.attribute(node, "name", context)?;
        let (value, _) = self.attribute(node, "value", context)?;
        if name.is_empty() {
            return self.sources.error(&place, "a parameter has to have a name");
        }
        self.parameters.set_default(name, value);
        Some(())
    }

    fn alias(&mut self, node: &Node<'_, '_>, context: Context) -> Option<()> {
        self.check_attributes(node, context, &["id", "as"]);
        let ((id, place), (alias, alias_place)) =
            (self.attribute(node, "id", context)?, self.attribute(node, "as", context)?);
        match self.tree.ids.get(&id) {
            Some(index) => {
                let index = *index;
                self.name(&alias, index, &alias_place);
                Some(())
            }
            None if self.is_incomplete => None,
            None => {
                let message = unknown_id(&id, &self.tree.ids);
                self.sources.error(&place, format!("{message} (an alias follows what it names)"))
            }
        }
    }

    /// A folder in which to look for files.
    fn path(&mut self, node: &Node<'_, '_>, context: Context) -> Option<()> {
        self.check_attributes(node, context, &["value"]);
        let (name, place) = self.attribute(node, "value", context)?;
        match self.near(&name) {
            Ok(path) if path.is_dir() => {
                self.tree.paths.insert(0, path);
                Some(())
            }
            Ok(_) => self.sources.error(&place, format!("there is no folder {}", quoted(&name))),
            Err(reason) => {
                self.sources.error(&place, format!("cannot look into {}: {reason}", quoted(&name)))
            }
        }
    }

    /// Where the file or folder is that the file being read calls `name`: beside it, beside one that includes it, or in a
    /// folder of a `path` tag. If there is none, where it should be.
    fn near(&self, name: &str) -> Result<PathBuf, String> {
        let own = self.folders.last().map_or(self.files.folder(), PathBuf::as_path);
        let folders = self.folders.iter().rev().chain(&self.tree.paths).map(PathBuf::as_path);
        first_found(self.files, folders, own, name)
    }

    fn include(&mut self, node: &Node<'_, '_>, parent: usize, context: Context) -> Option<()> {
        let included = self.included(node, parent, context);
        self.is_incomplete |= included.is_none();
        included
    }

    fn included(&mut self, node: &Node<'_, '_>, parent: usize, context: Context) -> Option<()> {
        self.check_attributes(node, context, &["filename", "name"]);
        let (name, place) = self.attribute(node, "filename", context)?;
        let property = node.attribute("name").unwrap_or_default();
        if context.includes >= MAX_INCLUDES {
            let message = format!("files include one another more than {MAX_INCLUDES} levels deep");
            return self.sources.error(&place, message);
        }
        let left = MAX_SCENE_BYTES.saturating_sub(self.sources.bytes() as u64);
        if self.sources.len() >= MAX_FILES || left == 0 {
            return self.sources.error(&place, format!("more is included than {MAX_FILES} files or 64 MiB"));
        }
        let folder = self.sources.folder(context.file).clone();
        let path = self.near(&name);
        let shown = path.as_ref().map_or_else(|_| folder.join(&name), PathBuf::clone).display().to_string();
        let read = path.and_then(|path| Ok((read_regular(&path, left)?, path)));
        let (bytes, path) = match read {
            Ok(read) => read,
            Err(reason) => {
                return self.sources.error(&place, format!("cannot read {}: {reason}", quoted_path(&shown)));
            }
        };
        let text = self.text(&shown, &bytes)?;
        let folder = path.parent().map_or(folder, ToOwned::to_owned);
        self.file(&shown, text, folder, Some((parent, property)), context.includes + 1).map(|_| ())
    }
}

impl Tree {
    /// Where the file is that the scene calls `name`: in a folder of a `path` tag, in that of the scene, or beside the file
    /// that names it, in `own`.
    ///
    /// # Errors
    /// As [`Files::resolve`].
    pub(super) fn found(&self, files: &Files, own: &Path, name: &str) -> Result<PathBuf, String> {
        let folders = self.paths.iter().map(PathBuf::as_path).chain([files.folder()]);
        first_found(files, folders, own, name)
    }

    /// The index of the object that a value is or refers to, if there is one.
    pub(super) fn object(&self, value: &Value) -> Option<usize> {
        match value {
            Value::Object(index) => Some(*index),
            Value::Reference(id) => self.ids.get(id).copied(),
            _ => None,
        }
    }

    /// What is wrong with a reference.
    pub(super) fn unknown_id(&self, id: &str) -> String {
        unknown_id(id, &self.ids)
    }
}

/// Where a file or folder of a name is: in the first of the folders that has it, or else in `own`.
fn first_found<'p>(
    files: &Files,
    folders: impl Iterator<Item = &'p Path>,
    own: &Path,
    name: &str,
) -> Result<PathBuf, String> {
    let within = |folder: &Path| files.below(folder).resolve(name);
    let mut all = folders.map(within);
    all.find(|path| path.as_ref().is_ok_and(|path| path.exists())).unwrap_or_else(|| within(own))
}

fn unknown_id(id: &str, ids: &HashMap<String, usize>) -> String {
    let mut ids: Vec<_> = ids.keys().map(String::as_str).collect();
    ids.sort_unstable();
    format!("nothing has the id {}{}", quoted(id), hint(id, "the scene has", ids))
}

/// Whether an element stands for an object; a spectrum with a type does.
fn is_object(node: &Node<'_, '_>) -> bool {
    let tag = tag_of(node);
    Class::TAGS.iter().any(|(t, _)| *t == tag) && (tag != "spectrum" || node.has_attribute("type"))
}

/// The name of an element as it is written. There are no namespaces here: a name with a prefix is another.
fn tag_of<'i>(node: &Node<'_, 'i>) -> &'i str {
    let text = node.document().input_text().get(node.range().start + 1..).unwrap_or_default();
    text.split(|c: char| c.is_ascii_whitespace() || matches!(c, '/' | '>')).next().unwrap_or_default()
}

/// The start tag of an element.
fn start_tag(node: &Node<'_, '_>, file: usize) -> Place {
    let start = node.range().start;
    let name_end = start + 1 + tag_of(node).len();
    let end = node.attributes().next_back().map_or(name_end, |a| a.range().end);
    Place { file, span: start..end }
}

fn value_place(attribute: &Attribute<'_, '_>, file: usize) -> Place {
    Place { file, span: attribute.range_value() }
}

fn name_place(attribute: &Attribute<'_, '_>, file: usize) -> Place {
    Place { file, span: attribute.range_qname() }
}

/// A finite number.
pub(super) fn number(text: &str) -> Option<f64> {
    text.trim().parse().ok().filter(|x: &f64| x.is_finite())
}

/// Finite numbers between commas and spaces.
pub(super) fn numbers(text: &str) -> Option<Vec<f64>> {
    text.split([',', ' ', '\t', '\n', '\r']).filter(|t| !t.is_empty()).map(number).collect()
}

/// Four rows of four numbers, or three of three.
fn matrix(text: &str) -> Result<DAffine3, String> {
    const WRONG: &str = "a matrix has 16 numbers, or 9: row by row";
    let m = numbers(text).ok_or(WRONG)?;
    let rows = match m.len() {
        16 => 4,
        9 => 3,
        n => return Err(format!("{WRONG}; these are {n}")),
    };
    if rows == 4 && m[12..] != [0.0, 0.0, 0.0, 1.0] {
        return Err("the last row of a matrix has to be 0 0 0 1".to_owned());
    }
    let column = |c: usize| DVec3::new(m[c], m[rows + c], m[2 * rows + c]);
    let translation = if rows == 4 { column(3) } else { DVec3::ZERO };
    Ok(DAffine3 { matrix3: DMat3::from_cols(column(0), column(1), column(2)), translation })
}
