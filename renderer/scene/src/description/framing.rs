//! A camera for models that have none.

use glam::Vec3;

use super::{Camera, Clip, FovAxis, Projection};
use crate::description::Bounds;

/// Field of view along the shorter side, degrees.
const FOV: f32 = 35.0;

/// From the middle of a model to where it is looked at from: from its front, the right, and above.
const VIEW: Vec3 = Vec3::new(0.55, 0.4, 1.0);

/// A camera that sees all of a box, or of the unit cube if that is empty.
pub(crate) fn camera(bounds: &Bounds) -> Camera {
    let (center, radius) = match bounds.is_empty() {
        true => (Vec3::ZERO, 1.0),
        false => (bounds.center(), bounds.radius().max(f32::MIN_POSITIVE)),
    };
    let distance = 1.02 * radius / (0.5 * FOV.to_radians()).sin();
    Camera {
        clip: Clip::DEFAULT,
        position: center + distance * VIEW.normalize(),
        target: center,
        up: Vec3::Y,
        mirrored: false,
        projection: Projection::pinhole(FOV, FovAxis::Smaller),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The corners of the box are inside of the cone around the view, and not far inside.
    #[test]
    fn all_of_a_model_is_seen() {
        for (lo, hi) in [(Vec3::NEG_ONE, Vec3::ONE), (Vec3::new(1e3, 2.0, -5.0), Vec3::new(1.5e3, 2.5, 90.0))]
        {
            let bounds = Bounds { lo, hi };
            let camera = camera(&bounds);
            let forward = (camera.target - camera.position).normalize();
            let widest = (0..8).map(|i| {
                let pick = |axis: usize| if i >> axis & 1 == 1 { hi[axis] } else { lo[axis] };
                let corner = Vec3::new(pick(0), pick(1), pick(2)) - camera.position;
                corner.angle_between(forward).to_degrees()
            });
            let widest = widest.fold(0.0, f32::max);
            assert!(widest <= 0.5 * FOV && widest > 0.3 * FOV, "{widest}");
        }
    }
}
