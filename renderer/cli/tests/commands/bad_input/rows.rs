//! The table of faults by subject: name, how it is made, and the expected message.

mod arguments;
mod geometry;
mod keys;
mod syntax;
mod textures;
mod values;

pub(crate) use arguments::{COMMAND_LINE, DAYS, SETTINGS};
pub(crate) use geometry::{MESHES, SHAPES};
pub(crate) use keys::KEYS;
pub(crate) use syntax::{SECTIONS, SYNTAX};
pub(crate) use textures::TEXTURES;
pub(crate) use values::VALUES;

/// How to make the input wrong.
#[derive(Clone, Copy)]
pub(crate) enum Wrong<'a> {
    /// Put the second in the place of the first, which the scene holds once.
    Scene(&'a str, &'a str),
    /// Have this scene instead.
    WholeScene(&'a [u8]),
    /// Have this mesh instead.
    Mesh(&'a [u8]),
    /// Have these arguments after `render`.
    Arguments(&'a [&'a str]),
}

/// Name of the fault, how it is made, and the expected message.
pub(crate) type Row<'a> = (&'a str, Wrong<'a>, &'a str);
