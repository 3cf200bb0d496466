//! Choosing a light in constant time.

use bytemuck::{Pod, Zeroable};

use crate::scene::SceneView;

/// A slot of an alias table (Walker 1977; Vose 1991).
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C, align(8))]
pub struct AliasEntry {
    /// Probability of the slot's own light; the alias takes the rest.
    pub q: f32,
    /// The alias.
    pub alias: u32,
}

/// Index of a light drawn with the probabilities of the table. `scene` has at least one light.
///
/// # Safety
/// `scene` is valid.
#[inline(always)]
pub unsafe fn sample_light(scene: &SceneView, u: f32) -> u32 {
    let scaled = u * scene.light_count as f32;
    // SAFETY: u < 1, so this is at most the count; `min` takes care of rounding.
    let slot = unsafe { scaled.to_int_unchecked::<u32>() }.min(scene.light_count - 1);
    // SAFETY: the slot is in range.
    let entry = unsafe { crate::arch::load(scene.light_table.add(slot as usize)) };
    if scaled - (slot as f32) < entry.q { slot } else { entry.alias }
}
