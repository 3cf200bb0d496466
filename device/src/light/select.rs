//! Choosing a light.

use bytemuck::{Pod, Zeroable};

use super::Lighting;
use crate::arch::load;

/// Slot of a table that chooses lights by random words: that of one of n lights, and of an n-th of all words.
///
/// The words that choose a light are all those between its first and the next light's, so that points that are stratified stay
/// so on each light. A guide to where to look for it makes that as fast as an alias table, but for rare words (Chen & Asau
/// 1974, "On Generating Random Variates from an Empirical Distribution").
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C, align(8))]
pub struct LightSlot {
    /// First of the words that choose the light; 0 for the first light.
    pub first: u32,
    /// The light that the first word of the slot's n-th chooses.
    pub guide: u32,
}

/// Index of the light that a random word chooses with the probabilities of the table, and a word that is random once more: where
/// `bits` is among those that choose it. It takes its lowest byte from `filler`, which is random as well. `scene` has at least
/// one light.
///
/// # Safety
/// `scene` is valid.
#[inline(always)]
pub unsafe fn sample_light(scene: &Lighting, bits: u32, filler: u32) -> (u32, u32) {
    let last = scene.light_count - 1;
    if last == 0 {
        return (0, bits);
    }
    // SAFETY: as the caller promised; lights up to the last have slots.
    let slot = |i: u32| unsafe { load(scene.light_table.add(i as usize)) };
    let part = ((u64::from(bits) * u64::from(scene.light_count)) >> 32) as u32;
    let mut light = slot(part).guide;
    let mut end = if part < last { slot(part + 1).guide } else { last };
    while light < end {
        let middle = light + (end - light).div_ceil(2);
        if slot(middle).first <= bits {
            light = middle;
        } else {
            end = middle - 1;
        }
    }
    let first = slot(light).first;
    let end = if light < last { slot(light + 1).first - 1 } else { u32::MAX };
    (light, spread(bits - first, end - first, filler))
}

/// Takes 0 ..= `last` < 2³² − 1 to all words, with 24 bits, and the rest from `filler`.
#[inline(always)]
fn spread(place: u32, last: u32, filler: u32) -> u32 {
    const LAST: u32 = (1 << 24) - 1;
    let part = place as f32 / (last + 1) as f32 * (1 << 24) as f32;
    // SAFETY: it is at least 0, and at most 2²⁴ as `place` is at most `last`.
    let part: u32 = unsafe { part.to_int_unchecked() };
    (if part < LAST { part } else { LAST }) << 8 | filler >> 24
}

/// Most lights among which [`sample_few`] chooses.
pub const FEW: u32 = 64;

/// As [`sample_light`], side by side for several words `bits`, which become random once more, where lights are at most [`FEW`].
///
/// # Safety
/// As [`sample_light`].
#[inline(always)]
pub unsafe fn sample_few<const N: usize>(
    scene: &Lighting,
    bits: &mut [u32; N],
    filler: &[u32; N],
) -> [u32; N] {
    let mut lights = [0; N];
    if scene.light_count == 1 {
        return lights;
    }
    let (mut firsts, mut lasts) = ([0; N], [u32::MAX; N]);
    for i in 1..scene.light_count {
        // SAFETY: as the caller promised.
        let first = unsafe { load(scene.light_table.add(i as usize)) }.first;
        for k in 0..N {
            let is_reached = first <= bits[k];
            lights[k] += u32::from(is_reached);
            firsts[k] = if is_reached { first } else { firsts[k] };
            lasts[k] = if is_reached || lasts[k] < first { lasts[k] } else { first - 1 };
        }
    }
    for k in 0..N {
        bits[k] = spread(bits[k] - firsts[k], lasts[k] - firsts[k], filler[k]);
    }
    lights
}
