//! Choosing a light.

use glam::Vec3;

use super::guide::choose;
use super::tree::{self, ChosenLight, Facing};
use super::{Light, Lighting};
use crate::arch::{load, outlined};
use crate::features::{Compiled, Features};

/// Whether there may be a tree that chooses lights.
#[inline(always)]
pub(crate) fn may_have_tree<C: Compiled>() -> bool {
    C::sees(Features::LIGHT_TREE) && Features::may_be_asked_for(Features::LIGHT_TREE)
}

/// Whether there is one.
#[inline(always)]
pub(crate) fn has_tree<C: Compiled>(scene: &Lighting) -> bool {
    may_have_tree::<C>() && scene.tree_lights != 0
}

/// The light that a random word chooses for a point, and the side that it is to shine on, its index, and a word that is random once more. It takes its lowest byte from
/// `filler`, which is random as well. `scene` has at least one light.
///
/// # Safety
/// `scene` is valid.
#[inline(always)]
pub unsafe fn sample_light<C: Compiled>(
    scene: &Lighting,
    at: (Vec3, Facing),
    bits: u32,
    filler: u32,
) -> (Light, u32, u32) {
    // SAFETY: as the caller promised; the index is in range.
    unsafe {
        if !has_tree::<C>(scene) {
            let (index, word) = sample_by_power(scene, scene.light_count, bits, filler);
            return (load(scene.lights.add(index as usize)), index, word);
        }
        let ChosenLight { index, word, pmf } = choose_light(scene, at, bits, filler);
        (load(scene.lights.add(index as usize)).chosen_with(pmf), index, word)
    }
}

/// The choice that [`sample_light`] makes where there is a tree.
///
/// # Safety
/// As [`sample_light`]; there is a tree.
#[inline(always)]
unsafe fn choose_light(scene: &Lighting, at: (Vec3, Facing), bits: u32, filler: u32) -> ChosenLight {
    let others = scene.light_count - scene.tree_lights;
    // SAFETY: as the caller promised.
    unsafe {
        let (choice, word) = sample_by_power(scene, others + 1, bits, filler);
        if choice == 0 {
            let scene = scene.shared();
            let chosen = outlined(move || tree::choose(scene, at, word, filler.rotate_left(8)));
            return ChosenLight { pmf: scene.tree_pmf * chosen.pmf, ..chosen };
        }
        let index = scene.tree_lights + choice - 1;
        ChosenLight { index, word, pmf: load(scene.lights.add(index as usize)).pmf }
    }
}

/// The light, which is number `index` of the scene, as [`sample_light`] chooses it for a point.
///
/// # Safety
/// As [`sample_light`]; there is the light.
#[inline(always)]
pub unsafe fn light_for<C: Compiled>(
    scene: &Lighting,
    light: Light,
    index: u32,
    at: (Vec3, Facing),
) -> Light {
    if !has_tree::<C>(scene) || index >= scene.tree_lights {
        return light;
    }
    let shared = scene.shared();
    // SAFETY: as the caller promised.
    let pmf = scene.tree_pmf * outlined(move || unsafe { tree::pmf(shared, index, at) });
    Light { pmf, ..light }
}

/// What a random word chooses of `n` by the probabilities of the table, and a word that is random once more: where `bits` is among
/// those that choose it.
///
/// # Safety
/// As [`sample_light`].
#[inline(always)]
pub unsafe fn sample_by_power(scene: &Lighting, n: u32, bits: u32, filler: u32) -> (u32, u32) {
    if n == 1 {
        return (0, bits);
    }
    // SAFETY: as the caller promised.
    let chosen = unsafe { choose(scene.light_table, n, bits) };
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

/// The lights that several words `bits` choose side by side by the table, where they are at most [`FEW`] and there is no tree. The words
/// become random once more.
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
