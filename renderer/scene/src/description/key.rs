//! Keys of scene files as data: the values they take, their defaults and units, and a sentence on each. Readers,
//! writers, the schema of editors and the reference page follow from them.

use std::fmt;

use super::limits::{MAX_COORDINATE, MIN_LENGTH};

/// Values that a key takes.
#[derive(Debug, Clone, Copy)]
pub enum Value {
    /// `true` or `false`.
    Boolean,
    /// A whole number between these.
    Integer(u32, u32),
    /// A number between these.
    Number(f32, f32),
    /// A colour of channels between 0 and this.
    Color(f32),
    /// Three numbers, each between minus this and this.
    Vector(f32),
    /// Rows of numbers between minus the last and the last: how many, and how long.
    Matrix(usize, usize, f32),
    /// As many as this.
    Several(usize, &'static Value),
    /// One, or one each for u and v.
    OneOrTwo(&'static Value),
    /// It, or a texture.
    Textured(&'static Value),
    /// One of several words, and what each means.
    Word(&'static [(&'static str, &'static str)]),
    /// The name of a type of a section.
    Type(&'static Section),
    /// Any text.
    Text,
    /// The name of something that another section defines.
    Name(&'static str),
    /// The name of a file.
    File(&'static str),
    /// A table.
    Table(&'static Section),
    /// An array of tables.
    Tables(&'static Section),
    /// A table of tables with names that the user gives.
    Named(&'static Section),
    /// One of these.
    Either(&'static [Value]),
}

impl Value {
    /// The least and the greatest number, or channel of a colour, that is taken where a single one stands.
    pub(crate) const fn range(&self) -> (f32, f32) {
        match self {
            Self::Number(low, high) => (*low, *high),
            Self::Color(high) => (0.0, *high),
            Self::Vector(most) => (-*most, *most),
            Self::Textured(of) | Self::OneOrTwo(of) | Self::Several(_, of) => of.range(),
            Self::Either([first, ..]) => first.range(),
            _ => (f32::NEG_INFINITY, f32::INFINITY),
        }
    }

    /// The allowed words, each with its meaning.
    pub(crate) const fn choices(&self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::Word(words) => words,
            _ => &[],
        }
    }
}

/// The value of a key that is not there.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Default {
    /// There is none.
    Nothing,
    /// TOML, or words for people.
    Text(&'static str),
    /// A number, or a grey.
    Number(f32),
    /// Three numbers.
    Vector([f32; 3]),
}

impl fmt::Display for Default {
    /// As TOML, unless it is words for people; empty for nothing.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nothing => Ok(()),
            Self::Text(text) => f.write_str(text),
            Self::Number(x) => x.fmt(f),
            Self::Vector([x, y, z]) => write!(f, "[{x}, {y}, {z}]"),
        }
    }
}

/// A key of a section.
#[derive(Debug, Clone, Copy)]
pub struct Key {
    /// As it is written.
    pub name: &'static str,
    /// Values that it takes.
    pub value: Value,
    /// The unit of the value.
    pub unit: &'static str,
    /// Its value where it is missing.
    pub default: Default,
    /// Whether it has to be there.
    pub required: bool,
    /// A value that goes well with the examples of the other keys, in TOML.
    pub example: &'static str,
    /// The end of the message where the key is missing, after the example.
    pub hint: &'static str,
    /// The parameter on which this one depends: it has no effect where that is 0.
    pub depends_on: &'static str,
    /// Alternative keys for the same quantity.
    pub instead: &'static [&'static str],
    /// Keys that must be given as well.
    pub with: &'static [&'static str],
    /// Types to which it does not apply.
    pub not_for: &'static [&'static str],
    /// Its meaning, a sentence.
    pub about: &'static str,
}

impl Key {
    pub(crate) const fn new(name: &'static str, value: Value, about: &'static str) -> Self {
        let nothing = &[];
        Self {
            name,
            value,
            unit: "",
            default: Default::Nothing,
            required: false,
            example: "",
            hint: "",
            depends_on: "",
            instead: nothing,
            with: nothing,
            not_for: nothing,
            about,
        }
    }

    /// A place in the scene.
    pub(crate) const fn point(name: &'static str, about: &'static str) -> Self {
        Self::new(name, Value::Vector(MAX_COORDINATE), about).unit("m")
    }

    /// A length above 0.
    pub(crate) const fn length(name: &'static str, about: &'static str) -> Self {
        Self::new(name, Value::Number(MIN_LENGTH, MAX_COORDINATE), about).unit("m")
    }

    /// An angle between two others.
    pub(crate) const fn angle(name: &'static str, low: f32, high: f32, about: &'static str) -> Self {
        Self::new(name, Value::Number(low, high), about).unit("°")
    }

    /// A flag that is `false` unless said otherwise.
    pub(crate) const fn flag(name: &'static str, about: &'static str) -> Self {
        Self::new(name, Value::Boolean, about).or("false")
    }

    pub(crate) const fn unit(self, unit: &'static str) -> Self {
        Self { unit, ..self }
    }

    /// With a default in TOML.
    pub(crate) const fn or(self, default: &'static str) -> Self {
        self.default(Default::Text(default))
    }

    pub(crate) const fn default(self, default: Default) -> Self {
        Self { default, ..self }
    }

    pub(crate) const fn depends_on(self, depends_on: &'static str) -> Self {
        Self { depends_on, ..self }
    }

    pub(crate) const fn hint(self, hint: &'static str) -> Self {
        Self { hint, ..self }
    }

    pub(crate) const fn required(self, example: &'static str) -> Self {
        Self { required: true, example, ..self }
    }

    pub(crate) const fn example(self, example: &'static str) -> Self {
        Self { example, ..self }
    }

    pub(crate) const fn instead(self, instead: &'static [&'static str]) -> Self {
        Self { instead, ..self }
    }

    pub(crate) const fn with(self, with: &'static [&'static str]) -> Self {
        Self { with, ..self }
    }

    pub(crate) const fn not_for(self, not_for: &'static [&'static str]) -> Self {
        Self { not_for, ..self }
    }
}

/// A kind of thing that a section describes, and the keys that it adds.
#[derive(Debug, Clone, Copy)]
pub struct Type {
    /// Its name as a `type`; other names for the same follow.
    pub names: &'static [&'static str],
    /// Its meaning, a sentence.
    pub about: &'static str,
    /// The lists of the keys that it adds.
    pub keys: &'static [&'static [Key]],
}

impl Type {
    pub(crate) const fn new(names: &'static [&'static str], about: &'static str) -> Self {
        Self { names, about, keys: &[] }
    }

    pub(crate) const fn adding(self, keys: &'static [&'static [Key]]) -> Self {
        Self { keys, ..self }
    }

    /// The first of its names.
    pub const fn name(&self) -> &'static str {
        self.names[0]
    }

    /// The keys that it adds.
    pub fn keys(&self) -> impl Iterator<Item = &'static Key> + use<> {
        self.keys.iter().flat_map(|keys| keys.iter())
    }
}

/// A table of a scene file.
#[derive(Debug, Clone, Copy)]
pub struct Section {
    /// As it is called in the file, for example `[camera]`.
    pub title: &'static str,
    /// A word that identifies it.
    pub id: &'static str,
    /// Its meaning, a sentence or none.
    pub about: &'static str,
    /// Keys of all types.
    pub keys: &'static [Key],
    /// If there are several.
    pub types: &'static [Type],
    /// The one that it is without `type`.
    pub default_type: &'static str,
    /// Notes below the keys, in Markdown.
    pub notes: &'static str,
}

impl Section {
    pub(crate) const fn new(id: &'static str, title: &'static str, about: &'static str) -> Self {
        Self { title, id, about, keys: &[], types: &[], default_type: "", notes: "" }
    }

    pub(crate) const fn keys(self, keys: &'static [Key]) -> Self {
        Self { keys, ..self }
    }

    pub(crate) const fn types(self, types: &'static [Type]) -> Self {
        Self { types, ..self }
    }

    pub(crate) const fn default_type(self, default_type: &'static str) -> Self {
        Self { default_type, ..self }
    }

    pub(crate) const fn notes(self, notes: &'static str) -> Self {
        Self { notes, ..self }
    }

    /// The type of a name.
    pub(crate) fn type_named(&self, name: &str) -> Option<&'static Type> {
        self.types.iter().find(|t| t.names.contains(&name))
    }

    /// All keys of a type, the common ones first, without `type` itself.
    pub fn keys_of(&self, kind: Option<&'static Type>) -> impl Iterator<Item = &'static Key> + use<> {
        self.keys.iter().chain(kind.into_iter().flat_map(|kind| kind.keys()))
    }

    /// The names of the keys that may be there.
    pub(crate) fn known(&self, kind: Option<&'static Type>) -> Vec<&'static str> {
        let kinds = (!self.types.is_empty()).then_some("type");
        kinds.into_iter().chain(self.keys_of(kind).map(|key| key.name)).collect()
    }

    /// All names of types, each with its type.
    pub(crate) fn choices(&self) -> Vec<(&'static str, &'static Type)> {
        let nth = |n: usize| self.types.iter().filter_map(move |t| Some((*t.names.get(n)?, t)));
        nth(0).chain(nth(1)).collect()
    }

    /// A key of this section that some type has.
    pub fn key(&self, name: &str) -> Option<&'static Key> {
        let of_types = self.types.iter().flat_map(Type::keys);
        self.keys.iter().chain(of_types).find(|key| key.name == name)
    }
}
