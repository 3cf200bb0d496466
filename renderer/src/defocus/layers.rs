//! Which layers an image has.

use std::ops::Range;

use device::primitives::defocus::{Ramp, Seen, Strip};

use super::aperture::{Aperture, Shape};

/// The layers of an image, from the nearest to the farthest.
#[derive(Debug)]
pub(super) struct Stack {
    pub(super) layers: Vec<Layer>,
    /// What all are blurred by.
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
    /// How much of what is seen is in it or behind it.
    pub(super) from: Ramp,
    /// How much is behind it.
    pub(super) to: Ramp,
    /// How much is so far behind it that it is another surface, where that has to be guessed: before what is in focus, where
    /// pixels that hide something sharper spread.
    pub(super) behind: Option<Ramp>,
}

/// A blur of which there may be a layer.
struct Level<'a> {
    /// The circle, as [`Seen`] has it.
    circle: f32,
    aperture: &'a Aperture,
    /// Whether any pixel is in the layer.
    used: bool,
}

impl Stack {
    /// The layers of an image that sees this.
    pub(super) fn new(seen: &[Seen], shape: Shape) -> Self {
        let circles = || seen.iter().flat_map(|s| [s.near, s.far]).filter(|c| !c.is_nan());
        let missing = seen.iter().filter(|s| s.near.is_nan()).count();
        let [least, most] = circles().fold([0.0, 0.0], |[a, b], c| [c.min(a), c.max(b)]);
        let radii = [(-least).sqrt(), most.sqrt()];
        let family = shape.family(radii[0].max(radii[1]));
        let mut levels = levels(&family, radii);
        let mut last = (f32::NAN, 0);
        for circle in circles() {
            // Many a pixel sees what its neighbour sees.
            if circle != last.0 {
                last = (circle, levels.partition_point(|l| l.circle <= circle));
            }
            let above = last.1;
            if let Some(level) = above.checked_sub(1).and_then(|below| levels.get_mut(below)) {
                level.used = true;
            }
            if above.checked_sub(1).is_none_or(|below| levels[below].circle != circle)
                && let Some(level) = levels.get_mut(above)
            {
                level.used = true;
            }
        }
        let mut stack = Self { layers: Vec::new(), strips: Vec::new(), missing, radii };
        for i in 0..levels.len() {
            if levels[i].used {
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
        let others = levels.iter().skip(i + 2).any(|l| l.used);
        self.layers.push(Layer {
            strips: first..self.strips.len(),
            from: ramp(i),
            to: ramp(i + 1),
            behind: (others && levels[i].circle < 0.0).then(|| ramp(i + 2)),
        });
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
    let level = |circle, aperture| Level { circle, aperture, used: false };
    let mut levels: Vec<_> = up_to(near).skip(1).map(|a| level(-circle(a), a)).collect();
    levels.reverse();
    levels.extend(up_to(far).map(|a| level(circle(a), a)));
    levels
}
