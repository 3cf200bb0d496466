//! Tables filled key by key, and the names of what they refer to.

use device::material::texture::NO_TEXTURE;
use glam::Vec3;
use toml::{Table, Value};

use super::Extent;
use crate::description::{Color, Scalar};
use crate::files::image::Range;
use crate::formats::toml::text::{number, rgb, vector};

/// A table that is filled key by key.
pub(super) struct Entries {
    pub(super) table: Table,
    pub(super) extent: Extent,
}

impl Entries {
    pub(super) fn new(extent: Extent) -> Self {
        Self { table: Table::new(), extent }
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

    pub(super) fn number(&mut self, key: &str, value: f32, default: f32) {
        self.put_unless(value.to_bits() == default.to_bits(), key, number(value));
    }

    pub(super) fn flag(&mut self, key: &str, value: bool, default: bool) {
        self.put_unless(value == default, key, value);
    }

    /// The word for a value.
    pub(super) fn word<T: PartialEq>(&mut self, key: &str, value: &T, default: &T, words: &[(&str, T)]) {
        let word = words.iter().find(|(_, v)| v == value).map_or("", |(word, _)| word);
        self.put_unless(value == default, key, word);
    }

    pub(super) fn vector(&mut self, key: &str, value: Vec3, default: Vec3) {
        self.put_unless(value == default, key, vector(value));
    }
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
