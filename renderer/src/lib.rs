//! torrance, as a library: scenes in, images out.
//!
//! The way of the data, each arrow one type to the next: scene file → [`scene::Description`] →
//! [`assemble::SceneData`] → a [`backend::Backend`] uploads it → `device::scene::SceneView` →
//! [`render`] → [`film::Film`] → an image file.

pub mod assemble;
pub mod backend;
pub mod bench;
pub mod cli;
pub mod compare;
pub mod defocus;
pub mod film;
pub mod input;
pub mod metrics;
pub mod primitives;
pub mod regress;
pub mod render;
pub mod report;
pub mod scene;
pub mod sweep;
