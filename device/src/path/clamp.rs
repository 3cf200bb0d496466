//! Clamping of indirect light: less noise for less light.

use glam::Vec3;

use super::PathSettings;
use crate::features::{Compiled, Features};

/// What a path brings, of which light has scattered so often on its way. What has scattered at least twice is scaled such that no channel
/// is above [`PathSettings::clamp_indirect`].
#[inline(always)]
pub(super) fn clamped<C: Compiled>(settings: &PathSettings, scatterings: u32, brought: Vec3) -> Vec3 {
    let most = settings.clamp_indirect;
    if !C::sees(Features::CLAMPING) || scatterings < 2 {
        return brought;
    }
    let largest = brought.max_element();
    // What is not finite stays so, to be counted.
    if largest > most && largest < f32::INFINITY { brought * (most / largest) } else { brought }
}
