//! torrance, as a library: scenes in, images out.
//!
//! Descriptions of scenes come in, as `torrance-scene` reads them. [`assemble`] makes of them what a [`Machine`], or a [`Fleet`] of
//! several, renders to a film with its noise, which `torrance-image` writes and compares. [`sweep`] renders a scene with parameters that vary, and
//! [`regress`] holds images against references; [`mod@denoise`] removes noise, [`defocus`] blurs images, [`bsdf`] charts materials, evaluates them on
//! arrays, and tests BSDFs of others; [`mod@bench`] measures. A [`Resident`] machine keeps scene and image from one render to the next.
//!
//! ```
//! use renderer::Machine;
//! use renderer::assemble::assemble;
//! use renderer::render::{Budget, Control, Options};
//!
//! let scene = r#"
//!     [render]
//!     size = [16, 16]
//!     [camera]
//!     position = [0, 0, 4]
//!     target = [0, 0, 0]
//!     fov = 40
//!     [environment]
//!     radiance = 1
//!     [materials.grey]
//!     type = "diffuse"
//!     reflectance = 0.5
//!     [[shapes]]
//!     type = "sphere"
//!     material = "grey"
//! "#;
//! let files = torrance_scene::Files::new("", false); // It refers to none.
//! let loaded = torrance_scene::load_bytes("scene.toml", scene.as_bytes(), &files)?;
//! let scene = assemble(&loaded.description)?;
//!
//! let mut cpu = Machine::cpu(None)?;
//! let rendered = cpu.render(&scene, Budget::of_samples(16), Options::default(), &mut |_| Control::Continue)?;
//! let brightness = |x: usize, y: usize| rendered.film.pixels[y * 16 + x].mean()[1];
//! assert!((brightness(0, 0) - 1.0).abs() < 1e-6, "the sky");
//! assert!((brightness(8, 8) - 0.5).abs() < 0.05, "the sphere reflects half of it");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod assemble;
pub mod bench;
pub mod bsdf;
pub mod defocus;
pub mod denoise;
mod fleet;
mod glob;
mod live;
mod machine;
pub mod regress;
pub mod render;
mod resident;
pub mod sweep;

pub use fleet::{Fleet, FleetChoice, Integrators};
pub use live::{BuiltScene, LiveScene, LiveSceneError};
pub use machine::{Device, DeviceChoice, DeviceError, Machine, MachineError, WarmUp, limit_threads};
pub use resident::{DeviceImage, Resident};

/// The scene of a test, which refers to no files.
#[cfg(test)]
pub(crate) fn described(text: &str) -> torrance_scene::Description {
    let loaded =
        torrance_scene::load_bytes("scene.toml", text.as_bytes(), &torrance_scene::Files::new("", false));
    loaded.unwrap_or_else(|e| panic!("{text}: {e}")).description
}
