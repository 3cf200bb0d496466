//! Parameters of materials: what a key says, and the number in the material that it is about.

use glam::Vec3;

use super::{Color, Facets, Scalar};
use crate::description::key::Value::{self, Number, Textured};
use crate::description::key::{Default, Key};

/// A parameter of a material, to be read, written or looked at.
#[derive(Debug, PartialEq)]
pub(crate) enum Parameter<'a> {
    /// A number that a texture may give.
    Scalar(&'a mut Scalar),
    /// A colour that a texture may give.
    Color(&'a mut Color),
    /// The same number everywhere.
    Number(&'a mut f32),
    /// A number that need not be given; it is negative then.
    Optional(&'a mut f32),
    /// Not 0 for true.
    Flag(&'a mut u32),
    /// The place of a word among those of the key.
    Word(&'a mut u32),
    /// Cosine and sine of an angle.
    Rotation(&'a mut [f32; 2]),
    /// Alpha along u and v, and whether it is given as roughness. The keys are that for roughness and that for alpha.
    Roughness(&'a mut [Scalar; 2], &'a mut u32),
    /// Indices of two other materials.
    Materials(&'a mut [u32; 2]),
    /// Also given by other keys; reading and writing it is up to the material kind.
    Derived,
}

impl Parameter<'_> {
    /// Calls `f` with the index of each texture that it has, [`device::material::texture::NO_TEXTURE`] included.
    pub(crate) fn for_each_texture(self, f: &mut impl FnMut(&mut u32)) {
        match self {
            Self::Scalar(scalar) => f(&mut scalar.texture),
            Self::Color(color) => f(&mut color.texture),
            Self::Roughness(alpha, _) => alpha.iter_mut().for_each(|alpha| f(&mut alpha.texture)),
            _ => {}
        }
    }

    /// Whether it is 0, so that a texture multiplied by it has no effect.
    pub(crate) fn is_zero(&self) -> bool {
        match self {
            Self::Scalar(scalar) => scalar.is(0.0),
            Self::Color(color) => color.value == Vec3::ZERO,
            _ => false,
        }
    }

    /// Takes the default of its key.
    fn reset(self, key: &Key) {
        match (self, key.default) {
            (Self::Scalar(scalar), Default::Number(x)) => *scalar = Scalar::new(x),
            (Self::Color(color), Default::Number(x)) => *color = Color::new(Vec3::splat(x)),
            (Self::Number(number), Default::Number(x)) => *number = x,
            (Self::Optional(number), _) => *number = -1.0,
            (Self::Rotation(rotation), _) => *rotation = [1.0, 0.0],
            (Self::Roughness(alpha, _), _) => *alpha = [Scalar::new(0.0); 2],
            _ => {}
        }
    }
}

/// The parameters of a kind of material.
pub(crate) trait ParameterList: Copy {
    /// For each parameter, the keys that give it in one way or another.
    const KEYS: &'static [&'static [Key]];

    /// A material whose parameters have yet to be set: flags are `false`, and words the first of theirs.
    fn blank() -> Self;

    /// The parameters, in the order of [`Self::KEYS`].
    fn parameters(&mut self) -> Vec<(&'static [Key], Parameter<'_>)>;

    /// The microfacets, if a parameter is their roughness.
    fn facets(&mut self) -> Option<&mut Facets>;

    /// With the default of each parameter that has one.
    fn initial() -> Self {
        let mut initial = Self::blank();
        initial.parameters().into_iter().for_each(|(keys, parameter)| parameter.reset(&keys[0]));
        initial
    }
}

/// Lists the parameters of a kind: how it is set, its field, and the keys that give it.
macro_rules! parameters {
    ($Kind:ident = $blank:expr; $($how:ident $($field:ident).* = $keys:expr;)*) => {
        impl ParameterList for $Kind {
            const KEYS: &'static [&'static [Key]] = &[$(&$keys),*];

            fn blank() -> Self {
                $blank
            }

            fn parameters(&mut self) -> Vec<(&'static [Key], Parameter<'_>)> {
                let parameters = [$(parameters!(@ self $how $($field).*)),*];
                Self::KEYS.iter().copied().zip(parameters).collect()
            }

            fn facets(&mut self) -> Option<&mut $crate::description::Facets> {
                None$(.or(parameters!(@facets self $how $($field).*)))*
            }
        }
    };
    (@facets $material:ident Roughness $facets:ident) => { Some(&mut $material.$facets) };
    (@facets $($other:tt)*) => { None };
    (@ $material:ident Derived) => { Parameter::Derived };
    (@ $material:ident Roughness $facets:ident) => {
        Parameter::Roughness(&mut $material.$facets.alpha, &mut $material.$facets.is_roughness)
    };
    (@ $material:ident $how:ident $($field:ident).+) => { Parameter::$how(&mut $material.$($field).+) };
}
pub(super) use parameters;

/// A number from 0 to 1 that a texture may give.
pub(super) const UNIT: Value = Textured(&Number(0.0, 1.0));
/// A colour of channels up to 1 that a texture may give.
pub(super) const COLOR: Value = Textured(&Value::Color(1.0));

pub(super) const fn scalar(name: &'static str, default: f32, about: &'static str) -> Key {
    Key::new(name, UNIT, about).default(Default::Number(default))
}

pub(super) const fn color(name: &'static str, default: f32, about: &'static str) -> Key {
    Key::new(name, COLOR, about).default(Default::Number(default))
}
