//! A cube.

use glam::{Affine3A, Vec3};

use super::Outline;
use crate::description::key::Key;

pub(super) const KEYS: [Key; 0] = [];

pub(super) const fn outline() -> Outline<'static> {
    Outline::Squares(&[
        [Vec3::X, Vec3::Y, Vec3::Z],
        [Vec3::X, Vec3::Y, Vec3::NEG_Z],
        [Vec3::Y, Vec3::Z, Vec3::X],
        [Vec3::Y, Vec3::Z, Vec3::NEG_X],
        [Vec3::Z, Vec3::X, Vec3::Y],
        [Vec3::Z, Vec3::X, Vec3::NEG_Y],
    ])
}

pub(super) fn area(t: &Affine3A) -> f32 {
    let [x, y, z] = [t.matrix3.x_axis, t.matrix3.y_axis, t.matrix3.z_axis].map(Vec3::from);
    8.0 * (x.cross(y).length() + y.cross(z).length() + z.cross(x).length())
}
