//! The side of a cylinder.

use std::f32::consts::PI;

use glam::{Affine3A, Vec3};

use super::Outline;
use super::sphere::RADIUS;
use crate::description::key::Value::Vector;
use crate::description::key::{Default, Key};
use crate::description::limits::MAX_COORDINATE;

pub(super) const KEYS: [Key; 3] = [
    Key::new("from", Vector(MAX_COORDINATE), "Where its axis starts.")
        .unit("m")
        .default(Default::Vector([0.0; 3])),
    Key::new("to", Vector(MAX_COORDINATE), "Where its axis ends.")
        .unit("m")
        .default(Default::Vector([0.0, 0.0, 1.0])),
    RADIUS,
];

pub(super) const fn outline(from: Vec3, to: Vec3, radius: f32) -> Outline<'static> {
    Outline::Tube { from, to, radius }
}

pub(super) fn area(t: &Affine3A, from: Vec3, to: Vec3, radius: f32) -> f32 {
    2.0 * PI * radius * t.matrix3.determinant().abs().cbrt() * t.transform_vector3(to - from).length()
}
