//! A sphere.

use std::f32::consts::PI;

use glam::{Affine3A, Vec3};

use super::Outline;
use crate::description::key::{Default, Key};

pub(super) const KEYS: [Key; 2] =
    [Key::point("center", "Its centre.").default(Default::Vector([0.0; 3])), RADIUS];

/// The radius of what is round.
pub(super) const RADIUS: Key = Key::length("radius", "Its radius.").default(Default::Number(1.0));

pub(super) const fn outline(center: Vec3, radius: f32) -> Outline<'static> {
    Outline::Ball { center, radius }
}

pub(super) fn area(t: &Affine3A, _: Vec3, radius: f32) -> f32 {
    4.0 * PI * (radius * t.matrix3.determinant().abs().cbrt()).powi(2)
}
