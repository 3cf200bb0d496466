//! Which layers an image has.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use primitives::defocus::{Ramp, Strip, VisibleSurfaces};

use rayon::prelude::*;

use super::aperture::{Aperture, Shape};

/// The layers of an image, from the nearest to the farthest.
#[derive(Debug)]
pub(super) struct Stack {
    pub(super) layers: Vec<Layer>,
    /// The strips of all blurs.
    pub(super) strips: Vec<Strip>,
    /// Pixels that tell nothing.
    pub(super) missing: usize,
    /// The largest radii before what is in focus, and behind it.
    pub(super) radii: [f32; 2],
}

/// A layer.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Layer {
    /// Which strips it is blurred by; none if it is sharp.
    pub(super) strips: Range<usize>,
    /// Fraction of the visible surface that is in it or behind it.
    pub(super) from: Ramp,
    /// How much is behind it.
    pub(super) to: Ramp,
    /// How much is so far behind it that it is another surface, where that has to be guessed: before what is in focus, where
    /// pixels that hide something sharper spread.
    pub(super) behind: Option<Ramp>,
}

/// A blur of which there may be a layer.
struct Level<'a> {
    /// The circle, as [`VisibleSurfaces`] has it.
    circle: f32,
    aperture: &'a Aperture,
    /// Whether any pixel is in the layer.
    used: AtomicBool,
}

impl Level<'_> {
    fn is_used(&self) -> bool {
        self.used.load(Ordering::Relaxed)
    }
}

impl Stack {
    /// The layers of an image that sees this.
    pub(super) fn new(seen: &[VisibleSurfaces], shape: Shape) -> Self {
        const CHUNK: usize = 1 << 16;
        let chunks = || seen.par_chunks(CHUNK);
        let missing = chunks().map(|seen| seen.iter().filter(|s| s.near.is_nan()).count()).sum();
        // Of NaN, the other number is the smaller and the larger one.
        let extent = |[a, b]: [f32; 2], s: &VisibleSurfaces| [a.min(s.near), b.max(s.far)];
        let [least, most] = chunks()
            .map(|seen| seen.iter().fold([0.0; 2], extent))
            .reduce(|| [0.0; 2], |[a, b], [c, d]| [a.min(c), b.max(d)]);
        // Zeros of either sign have the radius +0.
        let radii = [least, most].map(|circle| circle.abs().sqrt());
        let family = shape.family(radii[0].max(radii[1]));
        let levels = levels(&family, radii);
        chunks().for_each(|seen| mark(&levels, seen));
        let mut stack = Self { layers: Vec::new(), strips: Vec::new(), missing, radii };
        for i in 0..levels.len() {
            if levels[i].is_used() {
                stack.push(&levels, i);
            }
        }
        stack
    }

    fn push(&mut self, levels: &[Level<'_>], i: usize) {
        // How much is in the level or behind it.
        let ramp = |i: usize| match (i.checked_sub(1), levels.get(i)) {
            (_, None) => Ramp::NONE,
            (None, _) => Ramp::ALL,
            (Some(before), Some(level)) => Ramp::between(levels[before].circle, level.circle),
        };
        let first = self.strips.len();
        self.strips.extend(&levels[i].aperture.strips);
        // A surface between two levels is in both.
        let others = levels.iter().skip(i + 2).any(Level::is_used);
        self.layers.push(Layer {
            strips: first..self.strips.len(),
            from: ramp(i),
            to: ramp(i + 1),
            behind: (others && levels[i].circle < 0.0).then(|| ramp(i + 2)),
        });
    }
}

/// Marks the layers that pixels are in.
fn mark(levels: &[Level<'_>], seen: &[VisibleSurfaces]) {
    let mut last = f32::NAN;
    for circle in seen.iter().flat_map(|s| [s.near, s.far]) {
        // Many a pixel sees what its neighbour sees.
        if circle == last || circle.is_nan() {
            continue;
        }
        last = circle;
        let above = levels.partition_point(|l| l.circle < circle);
        let is_between = levels.get(above).is_none_or(|l| l.circle > circle);
        for level in [above.checked_sub(1).filter(|_| is_between), Some(above)].into_iter().flatten() {
            if let Some(level) = levels.get(level) {
                level.used.store(true, Ordering::Relaxed);
            }
        }
    }
}

/// All blurs up to such radii before what is in focus, and behind it.
fn levels(family: &[Aperture], [near, far]: [f32; 2]) -> Vec<Level<'_>> {
    // Up to the first that is not smaller.
    let up_to = |radius: f32| {
        let count = family.partition_point(|a| a.radius < radius) + 1;
        family.iter().take(count)
    };
    let circle = |aperture: &Aperture| aperture.radius * aperture.radius;
    let level = |circle, aperture| Level { circle, aperture, used: AtomicBool::new(false) };
    let mut levels: Vec<_> = up_to(near).skip(1).map(|a| level(-circle(a), a)).collect();
    levels.reverse();
    levels.extend(up_to(far).map(|a| level(circle(a), a)));
    levels
}
