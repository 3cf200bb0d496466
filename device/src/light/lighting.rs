//! The scene as lights see it.

use super::{EmissiveSurface, Environment, GuideEntry, Light, LightNode, Portal, SkyTexel, Slide};
use crate::material::Surfaces;
use crate::view::extends;

/// Surfaces and lights.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Lighting {
    /// Surfaces that the lights illuminate.
    pub surfaces: Surfaces,
    /// Number of lights.
    pub light_count: u32,
    /// Index of the first light that is infinitely far and that rays which leave the scene see: all from there on are.
    pub first_infinite: u32,
    /// Lights.
    pub lights: *const Light,
    /// The guide table that chooses among the lights, of which each has a word; where there is a tree, among that and the others.
    pub light_table: *const GuideEntry,
    /// The nodes of the tree that chooses among the first lights; null if there is none.
    pub light_tree: *const LightNode,
    /// The place of each of these lights in the tree, as [`LightNode::place`].
    pub light_places: *const u32,
    /// How many are in the tree.
    pub tree_lights: u32,
    /// The probability with which the table chooses the tree.
    pub tree_pmf: f32,
    /// Nothing; the size stays a multiple of 16 bytes.
    pub reserved: [u32; 2],
    /// The surfaces of lights whose emission varies, by the index of the light; null if there are none.
    pub emissive: *const EmissiveSurface,
    /// The slides of lights; null if there are none.
    pub slides: *const Slide,
    /// The environment, if it is an image.
    pub environment: *const Environment,
    /// Texels of the environment: radiance, W·sr⁻¹·m⁻², and its luminance.
    pub sky: *const SkyTexel,
    /// The portals of the environment.
    pub portals: *const Portal,
    /// The guide tables of the environment, as words: see [`Environment`]. After them, entries of the tables of the portals.
    pub tables: *const u64,
}

extends!(Lighting with surfaces: Surfaces);
