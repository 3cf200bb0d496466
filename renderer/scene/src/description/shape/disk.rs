//! A disk.

use std::f32::consts::PI;

use glam::{Affine3A, Vec3};

use super::Outline;
use crate::description::key::Key;

pub(super) const KEYS: [Key; 0] = [];

pub(super) const fn outline() -> Outline<'static> {
    Outline::Squares(&[[Vec3::X, Vec3::Y, Vec3::ZERO]])
}

pub(super) fn area(t: &Affine3A) -> f32 {
    PI * Vec3::from(t.matrix3.x_axis).cross(t.matrix3.y_axis.into()).length()
}
