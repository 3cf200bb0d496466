//! Values that a key gives by itself: how each is read and written, and what goes through those of a table.

use glam::{Vec2, Vec3};
use toml::Value;

use super::keys::{self, Key, Type};
use super::text::{number, rgb, vector};
use crate::description::key;
use crate::description::limits::MIN_LENGTH;
use crate::input::{Field, Section};

/// Things by their names.
pub type ByName<T> = &'static [(&'static str, T)];

/// One of several, each with a name in scene files and on the command line.
pub trait Named: Copy + PartialEq + 'static {
    /// Every name, and what has it.
    const NAMES: ByName<Self>;

    /// Its name.
    fn word(self) -> &'static str {
        Self::NAMES.iter().find(|(_, named)| *named == self).map_or("", |(name, _)| name)
    }
}

/// A value of a description as a key gives it.
pub(crate) trait KeyValue: Sized {
    /// Reads it within the limits of the key.
    fn read(field: &Field<'_>, key: &Key) -> Option<Self>;

    /// As it is written.
    fn written(&self, key: &Key) -> Value;
}

/// Goes through the values of a table: a reader sets those that are given, a writer takes them all.
pub(crate) trait Visitor {
    /// Meets the value that the key of this name gives.
    fn visit<T: KeyValue>(&mut self, name: &str, value: &mut T);
}

impl<T: Named> KeyValue for T {
    fn read(field: &Field<'_>, _: &Key) -> Option<Self> {
        field.choice(T::NAMES)
    }

    fn written(&self, _: &Key) -> Value {
        self.word().into()
    }
}

/// `false` is the first of two words, where the key has words.
impl KeyValue for bool {
    fn read(field: &Field<'_>, key: &Key) -> Option<Self> {
        match key.value.choices() {
            [(no, _), (yes, _)] => field.choice(&[(no, false), (yes, true)]),
            _ => field.boolean(),
        }
    }

    fn written(&self, key: &Key) -> Value {
        match key.value.choices() {
            [(no, _), (yes, _)] => Value::from(if *self { *yes } else { *no }),
            _ => (*self).into(),
        }
    }
}

impl KeyValue for u32 {
    fn read(field: &Field<'_>, key: &Key) -> Option<Self> {
        match key.value {
            key::Value::Integer(low, high) => field.integer(low..=high),
            _ => field.integer(0..=u32::MAX),
        }
    }

    fn written(&self, _: &Key) -> Value {
        Value::Integer((*self).into())
    }
}

impl KeyValue for f32 {
    fn read(field: &Field<'_>, key: &Key) -> Option<Self> {
        let (low, high) = key.value.range();
        match low == MIN_LENGTH && field.number()? <= 0.0 {
            true => field.reject("must be above 0"),
            false => field.number_in(low, high),
        }
    }

    fn written(&self, _: &Key) -> Value {
        number(*self)
    }
}

impl KeyValue for Vec2 {
    fn read(field: &Field<'_>, key: &Key) -> Option<Self> {
        let (low, high) = key.value.range();
        let both = field.numbers("two numbers, for example [0.1, 0]")?;
        let [x, y] = both.map(|part| part.number_in(low, high));
        Some(Self::new(x?, y?))
    }

    fn written(&self, _: &Key) -> Value {
        self.to_array().map(number).to_vec().into()
    }
}

/// A point or direction, or a colour if the key says so.
impl KeyValue for Vec3 {
    fn read(field: &Field<'_>, key: &Key) -> Option<Self> {
        let (_, high) = key.value.range();
        match key.value {
            key::Value::Color(_) => field.color(high),
            _ => field.vec3(high),
        }
    }

    fn written(&self, key: &Key) -> Value {
        match key.value {
            key::Value::Color(_) => rgb(*self),
            _ => vector(*self),
        }
    }
}

/// Reads the values of a table; those that it lacks stay as they are.
pub(super) struct ValueReader<'a, 's> {
    section: &'s Section<'a>,
    table: &'static keys::Section,
    kind: Option<&'static Type>,
    /// Whether nothing was wrong so far.
    pub(super) is_right: bool,
}

impl<'a, 's> ValueReader<'a, 's> {
    pub(super) fn new(
        section: &'s Section<'a>,
        table: &'static keys::Section,
        kind: Option<&'static Type>,
    ) -> Self {
        Self { section, table, kind, is_right: true }
    }

    /// The value of a key, or nothing within if it is not there. Where other keys stand in for it, that is up to those who
    /// read these.
    fn look<T: KeyValue>(&mut self, name: &str) -> Option<Option<T>> {
        let found = self.table.keys_of(self.kind).find(|key| key.name == name);
        debug_assert!(found.is_some(), "{} has no key {name}", self.table.id);
        let key = found.filter(|key| key.instead.iter().all(|other| self.section.get(other).is_none()));
        let value = key.map_or(Some(None), |key| {
            let is_needed = key.required && key.instead.is_empty();
            let field = if is_needed { Some(require(self.section, key)?) } else { self.section.get(name) };
            field.map_or(Some(None), |field| T::read(&field, key).map(Some))
        });
        self.is_right &= value.is_some();
        value
    }

    /// The value of a key, if it is there.
    pub(super) fn given<T: KeyValue>(&mut self, name: &str) -> Option<T> {
        self.look(name).flatten()
    }

    /// The value of a key, or `default` if it is not there.
    pub(super) fn or<T: KeyValue>(&mut self, name: &str, default: T) -> Option<T> {
        self.look(name).map(|given| given.unwrap_or(default))
    }
}

impl Visitor for ValueReader<'_, '_> {
    fn visit<T: KeyValue>(&mut self, name: &str, value: &mut T) {
        if let Some(given) = self.given(name) {
            *value = given;
        }
    }
}

/// The type that a table says, or the one that it is without.
pub(super) fn type_of(
    section: &Section<'_>,
    table: &'static keys::Section,
    unsaid: &str,
) -> Option<&'static Type> {
    match section.get("type") {
        Some(field) => field.choice(&table.choices()),
        None => table.type_named(unsaid),
    }
}

/// The value of a key that must be there.
pub(super) fn require<'a>(section: &Section<'a>, key: &Key) -> Option<Field<'a>> {
    let Key { name, example, hint, .. } = key;
    section.require(name, format!("{name} = {example} {hint}").trim_end())
}
