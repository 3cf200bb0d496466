//! Tables filled key by key, and the names of what they refer to.

use device::material::texture::NO_TEXTURE;
use glam::Vec3;
use toml::{Table, Value};

use super::Extent;
use crate::description::key::{Key, Section};
use crate::description::{Color, Scalar};
use crate::files::image::Range;
use crate::formats::toml::text::{inline, number, rgb};
use crate::formats::toml::{KeyValue, Visitor};

/// A table that is filled key by key.
pub(super) struct Entries {
    pub(super) table: Table,
    pub(super) extent: Extent,
    /// The keys that it may have, with their defaults.
    keys: Vec<&'static Key>,
}

impl Entries {
    /// A table of a section, of one of its types if it has any.
    pub(super) fn new(section: &'static Section, kind: &str, extent: Extent) -> Self {
        let keys = section.keys_of(section.type_named(kind)).collect();
        Self { table: Table::new(), extent, keys }
    }

    pub(super) fn put(&mut self, key: &str, value: impl Into<Value>) {
        self.table.insert(key.to_owned(), value.into());
    }

    /// A value, unless it is the default and only the others are wanted.
    pub(super) fn put_unless(&mut self, is_default: bool, key: &str, value: impl Into<Value>) {
        if !is_default || self.extent == Extent::Full {
            self.put(key, value);
        }
    }

    /// The value of a key of the section.
    pub(super) fn value<T: KeyValue>(&mut self, name: &str, value: &T) {
        let key = self.keys.iter().find(|key| key.name == name);
        debug_assert!(key.is_some(), "there is no key {name}");
        if let Some(key) = key {
            let value = value.written(key);
            self.put_unless(is_default(&value, key), name, value);
        }
    }
}

impl Visitor for Entries {
    fn visit<T: KeyValue>(&mut self, name: &str, value: &mut T) {
        self.value(name, value);
    }
}

/// Whether a value is what its key is without it. The signs of zeros in vectors do not count.
fn is_default(value: &Value, key: &Key) -> bool {
    let unsigned = |item: &Value| item.as_float().map_or(item.clone(), |x| Value::Float(x + 0.0));
    let text = match value {
        Value::Array(items) => inline(&items.iter().map(unsigned).collect::<Vec<_>>().into()),
        value => inline(value),
    };
    !key.required && text == key.default.to_string()
}

/// The names of what others refer to.
pub(super) struct Names {
    pub(super) textures: Vec<String>,
    /// The least that each texture has to be allowed.
    pub(super) ranges: Vec<Range>,
    pub(super) materials: Vec<String>,
}

impl Names {
    /// A colour that may come from a texture.
    pub(super) fn color(&self, c: &Color) -> Value {
        self.textured(c.texture, rgb(c.value), c.value == Vec3::ONE)
    }

    /// A number that may come from a texture.
    pub(super) fn scalar(&self, s: &Scalar) -> Value {
        self.textured(s.texture, number(s.value), s.value == 1.0)
    }

    fn textured(&self, texture: u32, factor: Value, is_one: bool) -> Value {
        let Some(name) = self.textures.get(texture as usize).filter(|_| texture != NO_TEXTURE) else {
            return factor;
        };
        let by_name = [("texture".to_owned(), name.as_str().into()), ("factor".to_owned(), factor)];
        if is_one { name.as_str().into() } else { Value::Table(Table::from_iter(by_name)) }
    }
}
