//! The side of a cylinder.

use std::f32::consts::PI;

use glam::{Affine3A, Vec3};

use super::Outline;
use super::sphere::RADIUS;
use crate::description::key::{Default, Key};

pub(super) const KEYS: [Key; 3] = [
    Key::point("from", "Where its axis starts.").default(Default::Vector([0.0; 3])),
    Key::point("to", "Where its axis ends.").default(Default::Vector([0.0, 0.0, 1.0])),
    RADIUS,
];

pub(super) const fn outline(from: Vec3, to: Vec3, radius: f32) -> Outline<'static> {
    Outline::Tube { from, to, radius }
}

pub(super) fn area(t: &Affine3A, from: Vec3, to: Vec3, radius: f32) -> f32 {
    2.0 * PI * radius * t.matrix3.determinant().abs().cbrt() * t.transform_vector3(to - from).length()
}
