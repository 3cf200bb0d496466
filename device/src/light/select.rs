//! Choosing a light.

use super::Lighting;
use super::guide::choose;
use crate::arch::load;

/// Index of the light that a random word chooses with the probabilities of the table, and a word that is random once more: where
/// `bits` is among those that choose it. It takes its lowest byte from `filler`, which is random as well. `scene` has at least
/// one light.
///
/// # Safety
/// `scene` is valid.
#[inline(always)]
pub unsafe fn sample_light(scene: &Lighting, bits: u32, filler: u32) -> (u32, u32) {
    if scene.light_count == 1 {
        return (0, bits);
    }
    // SAFETY: as the caller promised.
    let chosen = unsafe { choose(scene.light_table, scene.light_count, bits) };
    let [first, last] = chosen.words;
    (chosen.index, spread(bits - first, last - first, filler))
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
