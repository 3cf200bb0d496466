//! From XML to objects with properties: `$` parameters replaced, files included, names given.
//!
//! The rules are those of Mitsuba's own parser (its documentation: "Scene XML file format").

mod objects;
mod tags;
mod values;

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

use roxmltree::{Attribute, Document, Node, ParsingOptions};
use torrance_text::{Suggestions, quoted, quoted_path};

use crate::description::limits::MAX_SCENE_BYTES;
use crate::files::{FileError, Files};
use crate::formats::mitsuba::parameters::Parameters;
use crate::formats::mitsuba::plugins::plugins;
use crate::formats::mitsuba::source::{Position, Repeated, Sources};
use crate::formats::mitsuba::spectrum::Spectrum;
use crate::formats::mitsuba::transform;
use crate::input::file::read_regular;

/// Most levels of elements within one another.
const MAX_LEVELS: usize = 64;
/// Most levels of files that include others; Mitsuba's limit.
const MAX_INCLUDES: usize = 15;
/// Most files that are included in all.
const MAX_FILES: usize = 1000;
/// Most folders of `path` tags, in each of which every file is looked for.
const MAX_PATHS: usize = 100;
/// Most elements and texts of a file.
const MAX_NODES: u32 = 1 << 24;

use objects::first_found;
pub(crate) use objects::{Class, Object, Property, Tree, Value};
pub(crate) use values::number;

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

/// Reads the text of a scene file, with parameters set from outside. `None` if anything was wrong, which has been
/// reported.
pub(crate) fn read(
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
        given: HashSet::new(),
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
    let known = builder.parameters.names();
    let suggestions = Suggestions::default();
    for name in unused {
        let hint = suggestions.hint(&name, "it has", || known.iter().map(String::as_str));
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
    /// Names of properties, with the indices of their objects.
    given: HashSet<(usize, String)>,
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
        if let Some((place, message)) = tags::excess(text) {
            return self.sources.error(&Position { file, span: place }, message);
        }
        let options = ParsingOptions { allow_dtd: false, nodes_limit: MAX_NODES, ..Default::default() };
        let document = match Document::parse_with_options(text, options) {
            Ok(document) => document,
            Err(error) => return self.syntax_error(file, text, &error),
        };
        let root = document.root_element();
        let context = Context { file, level: 0, includes, is_old: self.is_old(file, &root)? };
        for default in root.descendants().filter(|node| node.is_element() && tag_of(node) == "default") {
            if let (Some(name), Some(value)) = (default.attribute("name"), default.attribute("value")) {
                self.parameters.announce(name, value);
            }
        }
        match (Class::of_tag(tag_of(&root)), into) {
            (Some(Class::Scene), Some((parent, _))) => {
                self.children(&root, parent, context);
                Some(parent)
            }
            (Some(Class::Scene), None) => self.object(&root, Class::Scene, context),
            (Some(class), Some((parent, property))) => {
                let object = self.object(&root, class, context)?;
                let (name, place) = (property.to_owned(), start_tag(&root, file));
                let property = Property { name, place, value: Value::Object(object) };
                self.tree.objects[parent].properties.push(property);
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
        self.sources.error(&Position { file, span: start..start }, message)
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
        let known: &[_] = &["version", "type", "id", "name"];
        self.check_attributes(node, context, if is_root { known } else { &known[1..] });
        let plugin = match self.optional_attribute(node, "type", context)? {
            Some(plugin) => plugin,
            None if class == Class::Scene => ("scene".to_owned(), place.clone()),
            None => {
                let message = format!("<{}> has no \"type\", which would say what kind it is", class.tag());
                return self.sources.error(&place, message);
            }
        };
        // An empty one is none.
        let id = self.optional_attribute(node, "id", context)?.filter(|(id, _)| !id.is_empty());
        let index = self.tree.objects.len();
        if let Some((id, id_place)) = &id {
            self.name(id, index, id_place);
        }
        let (plugin, plugin_place) = (canonical(class, plugin.0), plugin.1);
        let id = id.map(|(id, _)| id);
        self.tree.objects.push(Object { class, plugin, id, place, plugin_place, properties: Vec::new() });
        self.children(node, index, context);
        if context.is_old {
            transform::upgrade(&mut self.tree.objects[index]);
        }
        Some(index)
    }

    /// Gives an object an id.
    fn name(&mut self, id: &str, index: usize, place: &Position) {
        if let Some(other) = self.tree.ids.get(id).and_then(|i| self.tree.objects.get(*i)) {
            let message =
                format!("the id {} is taken, on {}", quoted(id), self.sources.describe(&other.place));
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
                let place = Position { file: context.file, span: child.range() };
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
            _ => {
                let value = match is_object(node) {
                    true => Value::Object(self.object(node, Class::of_tag(tag)?, context)?),
                    false => self.value(node, tag, context)?,
                };
                let name = match self.optional_attribute(node, "name", context)? {
                    Some((name, _)) => name,
                    None if is_object(node) || tag == "ref" => String::new(),
                    None => return self.sources.error(&place, format!("<{tag}> has no \"name\"")),
                };
                self.property(parent, name, place, value)
            }
        }
    }

    /// Adds a property to an object.
    fn property(&mut self, parent: usize, name: String, place: Position, value: Value) -> Option<()> {
        let properties = &mut self.tree.objects.get_mut(parent)?.properties;
        if !name.is_empty() && !self.given.insert((parent, name.clone())) {
            return self.sources.error(&place, format!("{} is given twice", quoted(&name)));
        }
        properties.push(Property { name, place, value });
        Some(())
    }

    /// As [`Self::attribute`], if it is there.
    fn optional_attribute(
        &mut self,
        node: &Node<'_, '_>,
        name: &str,
        context: Context,
    ) -> Option<Option<(String, Position)>> {
        match node.has_attribute(name) {
            true => self.attribute(node, name, context).map(Some),
            false => Some(None),
        }
    }

    /// An attribute with its parameters replaced, and where it is.
    fn attribute(&mut self, node: &Node<'_, '_>, name: &str, context: Context) -> Option<(String, Position)> {
        let Some(attribute) = node.attribute_node(name) else {
            let message = format!("<{}> has no {name:?}", tag_of(node));
            return self.sources.error(&start_tag(node, context.file), message);
        };
        let place = value_place(&attribute, context.file);
        let replaced = self.parameters.replaced(attribute.value(), &self.sources.suggestions);
        for early in self.parameters.take_early() {
            let message =
                format!("parameter {} is used before its <default>, which Mitsuba refuses", quoted(&early));
            self.sources.warn_each(Repeated::Early, &place, message);
        }
        match replaced {
            Ok(text) => Some((text, place)),
            Err(_) if self.is_incomplete => None,
            Err(error) => self.sources.error(&place, error.to_string()),
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
            let hint = self.sources.suggestions.hint(name, "it has", || known.iter().copied());
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
        match self.tree.ids.get(&id).copied() {
            Some(index) => {
                self.name(&alias, index, &alias_place);
                Some(())
            }
            None if self.is_incomplete => None,
            None => {
                let message = self.tree.unknown_id(&id, &self.sources.suggestions);
                self.sources.error(&place, format!("{message} (an alias follows what it names)"))
            }
        }
    }

    /// A folder in which to look for files.
    fn path(&mut self, node: &Node<'_, '_>, context: Context) -> Option<()> {
        self.check_attributes(node, context, &["value"]);
        let (name, place) = self.attribute(node, "value", context)?;
        match self.near(&name) {
            Ok(_) if self.tree.paths.len() >= MAX_PATHS => {
                self.sources.error(&place, format!("files are looked for in more than {MAX_PATHS} folders"))
            }
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

    /// The path of the file or folder that the current file calls `name`: beside it, beside one that includes it, in a
    /// folder of a `path` tag, or in one of the user's search path. If it does not exist, its expected path.
    fn near(&self, name: &str) -> Result<PathBuf, FileError> {
        let own = self.folders.last().map_or(self.files.folder(), PathBuf::as_path);
        let folders = self.folders.iter().rev().chain(&self.tree.paths).chain(self.files.search());
        let folders = folders.map(PathBuf::as_path);
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
        let texts = &self.sources.texts;
        let left = MAX_SCENE_BYTES.saturating_sub(texts.iter().map(|t| t.text.len() as u64).sum());
        if texts.len() >= MAX_FILES || left == 0 {
            return self.sources.error(&place, format!("more is included than {MAX_FILES} files or 64 MiB"));
        }
        let folder = texts[context.file].folder.clone();
        let path = self.near(&name);
        let shown = path.as_ref().map_or_else(|_| folder.join(&name), PathBuf::clone).display().to_string();
        let read = path.and_then(|path| Ok::<_, FileError>((read_regular(&path, left)?, path)));
        let (bytes, path) = self.sources.read(&place, &quoted_path(&shown), read)?;
        let text = self.text(&shown, &bytes)?;
        let folder = path.parent().map_or(folder, ToOwned::to_owned);
        self.file(&shown, text, folder, Some((parent, property)), context.includes + 1).map(|_| ())
    }
}

/// The name of a plugin as Mitsuba writes it, in lower case, if there is one of that name.
fn canonical(class: Class, plugin: String) -> String {
    let lower = plugin.to_ascii_lowercase();
    if plugins(class).is_some_and(|plugins| plugins.has(&lower)) { lower } else { plugin }
}

/// Whether an element stands for an object; a spectrum with a type does.
fn is_object(node: &Node<'_, '_>) -> bool {
    let tag = tag_of(node);
    Class::of_tag(tag).is_some() && (tag != "spectrum" || node.has_attribute("type"))
}

/// The name of an element as it is written. There are no namespaces here: a name with a prefix is another.
fn tag_of<'i>(node: &Node<'_, 'i>) -> &'i str {
    let text = node.document().input_text().get(node.range().start + 1..).unwrap_or_default();
    text.split(|c: char| c.is_ascii_whitespace() || matches!(c, '/' | '>')).next().unwrap_or_default()
}

/// The start tag of an element.
fn start_tag(node: &Node<'_, '_>, file: usize) -> Position {
    let start = node.range().start;
    let name_end = start + 1 + tag_of(node).len();
    let end = node.attributes().next_back().map_or(name_end, |a| a.range().end);
    Position { file, span: start..end }
}

fn value_place(attribute: &Attribute<'_, '_>, file: usize) -> Position {
    Position { file, span: attribute.range_value() }
}

fn name_place(attribute: &Attribute<'_, '_>, file: usize) -> Position {
    Position { file, span: attribute.range_qname() }
}
