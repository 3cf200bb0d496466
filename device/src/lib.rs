//! The physics of torrance, written once: `no_std`, allocates nothing, compiles for x86-64, aarch64 and
//! nvptx64.
//!
//! # Conventions
//! - Right-handed, +Y up, metres. Colours are linear Rec. 709/sRGB; radiance in W·sr⁻¹·m⁻² per channel.
//!   Angles are in radians.
//! - `wo`, `wi`, `wm` are unit vectors pointing **away** from the surface: `wo` towards the viewer, `wi`
//!   sampled or towards the light, `wm` a microfacet normal. Shading happens in a local frame whose z axis
//!   is the shading normal `ns`; `ng` is the geometric normal.
//! - `alpha` is the microfacet roughness parameter itself, never its square root.
//! - `f` is the BSDF **without** the cosine, `pdf` is over solid angle, `weight = f·|cos θi| / pdf`.
//! - `beta` is path throughput, `le` emitted, `l` accumulated radiance.
//! - A path's `depth` is the number of times it has scattered. A path of `max_depth` 1 sees emission only.
//! - Random numbers come from (pixel, sample, [`rng::Dim`]), never from thread state: every back end takes
//!   the same samples, whatever the order. Uniforms lie in [0, 1).
//! - Scene data is validated on the host before it comes here; nothing is checked twice.

#![no_std]
#![cfg_attr(target_arch = "nvptx64", feature(asm_experimental_arch))]

#[cfg(not(target_arch = "nvptx64"))]
extern crate std;

pub mod arch;
pub mod bsdf;
pub mod bvh;
pub mod camera;
pub mod color;
pub mod denoise;
pub mod features;
pub mod film;
pub mod filter;
pub mod function;
pub mod guiding;
pub mod light;
pub mod material;
pub mod math;
pub mod matte;
pub mod mis;
pub mod path;
pub mod ray;
pub mod rng;
pub mod row;
pub mod sampling;
pub mod scene;
pub mod shape;
pub mod special;
mod view;
