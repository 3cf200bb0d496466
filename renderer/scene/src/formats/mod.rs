//! Formats of scene files: text or bytes in, a description out.

mod cloud;
pub(crate) mod gltf;
pub(crate) mod mitsuba;
pub(crate) mod model;
pub(crate) mod obj;
pub(crate) mod ply;
mod strokes;
pub(crate) mod toml;
