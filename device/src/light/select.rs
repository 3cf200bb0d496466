//! Choosing a light in constant time.

use bytemuck::{Pod, Zeroable};

use super::Lighting;

/// A slot of an alias table (Walker 1977; Vose 1991).
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C, align(8))]
pub struct AliasEntry {
    /// Probability of the slot's own light, in units of 2⁻³²; the alias takes the rest.
    pub threshold: u32,
    /// The alias.
    pub alias: u32,
}

/// Index of a light drawn with the probabilities of the table by 32 random bits. `scene` has at least one light.
///
/// # Safety
/// `scene` is valid.
#[inline(always)]
pub unsafe fn sample_light(scene: &Lighting, bits: u32) -> u32 {
    let scaled = u64::from(bits) * u64::from(scene.light_count);
    let (slot, rest) = ((scaled >> 32) as u32, scaled as u32);
    // SAFETY: bits are below 2³², so the slot is below the count.
    let entry = unsafe { crate::arch::load(scene.light_table.add(slot as usize)) };
    if rest < entry.threshold { slot } else { entry.alias }
}
