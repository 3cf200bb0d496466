//! A sphere.

use std::f32::consts::PI;

use glam::{Affine3A, Vec3};

use super::Outline;
use crate::description::key::Value::{Number, Vector};
use crate::description::key::{Default, Key};
use crate::description::limits::MAX_COORDINATE;

pub(super) const KEYS: [Key; 2] = [
    Key::new("center", Vector(MAX_COORDINATE), "Its centre.").unit("m").default(Default::Vector([0.0; 3])),
    RADIUS,
];

/// The radius of what is round.
pub(super) const RADIUS: Key =
    Key::new("radius", Number(1.0 / MAX_COORDINATE, MAX_COORDINATE), "Its radius.")
        .unit("m")
        .default(Default::Number(1.0));

pub(super) const fn outline(center: Vec3, radius: f32) -> Outline<'static> {
    Outline::Ball { center, radius }
}

pub(super) fn area(t: &Affine3A, _: Vec3, radius: f32) -> f32 {
    4.0 * PI * (radius * t.matrix3.determinant().abs().cbrt()).powi(2)
}
