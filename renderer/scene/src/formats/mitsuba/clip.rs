//! Clipping planes, which Mitsuba's cameras have and ours do not.

use glam::{Affine3A, Vec3};

use super::view::{PropertyView, View};
use crate::description::{Bounds, Description, Outline, Projection, Shape, corners};

/// The distances between which a sensor of Mitsuba sees things, if they are given.
pub(super) struct Clip<'a> {
    near: Option<(PropertyView<'a>, f64)>,
    far: Option<(PropertyView<'a>, f64)>,
}

impl<'a> Clip<'a> {
    pub(super) fn read(sensor: &View<'a>) -> Self {
        let number = |name| sensor.get(name).and_then(|given| Some((given, given.number()?)));
        Self { near: number("near_clip"), far: number("far_clip") }
    }

    /// Beyond what nothing is seen, metres; Mitsuba's default if it is not given.
    pub(super) fn far(&self) -> f64 {
        self.far.map_or(1e4, |(_, far)| far)
    }

    /// Warns if something of the scene may be cut off: what is too near or too far is seen here.
    pub(super) fn warn(&self, d: &Description) {
        let near = self.near.filter(|(_, near)| is_nearer(d, *near as f32));
        let far = self.far.filter(|(_, far)| reaches(d, f32::INFINITY, *far as f32));
        let (given, names) = match (near, far) {
            (Some((given, _)), Some(_)) => (given, "\"near_clip\" and \"far_clip\" cut"),
            (Some((given, _)), None) => (given, "\"near_clip\" cuts"),
            (None, Some((given, _))) => (given, "\"far_clip\" cuts"),
            (None, None) => return,
        };
        let message = format!("what {names} off of {} is seen here", given.view.describe());
        given.view.sources.warn(&given.property.place, message);
    }
}

/// Whether the box of a shape, or of the group of an instance, reaches less far than `low` before the camera, and farther
/// than `high`.
fn reaches(d: &Description, low: f32, high: f32) -> bool {
    let (eye, target) = (d.camera.position, d.camera.target);
    let forward = (target - eye).normalize();
    let does = |b: Bounds| -b.reach(eye, -forward) < low && b.reach(eye, forward) > high;
    let groups: Vec<_> = d.groups.iter().map(|group| Bounds::around(&group.shapes)).collect();
    d.shapes.iter().any(|shape| does(shape.bounds()))
        || d.instances.iter().any(|i| does(groups[i.group as usize].transformed(&i.world_from_group)))
}

/// Whether something is nearer than `near` to the camera, or to its plane if rays are parallel.
fn is_nearer(d: &Description, near: f32) -> bool {
    if matches!(d.camera.projection, Projection::Orthographic { .. }) {
        return reaches(d, near, 0.0);
    }
    let eye = d.camera.position;
    let is_near = |b: Bounds| b.distance(eye) < near;
    let groups: Vec<_> = d.groups.iter().map(|group| Bounds::around(&group.shapes)).collect();
    let instances = d.instances.iter().any(|instance| {
        let (t, group) = (&instance.world_from_group, instance.group as usize);
        let is_shape_near =
            |shape: &Shape| is_near(shape.bounds().transformed(t)) && is_shape_nearer(shape, t, eye, near);
        is_near(groups[group].transformed(t)) && d.groups[group].shapes.iter().any(is_shape_near)
    });
    instances
        || d.shapes
            .iter()
            .any(|shape| is_near(shape.bounds()) && is_shape_nearer(shape, &Affine3A::IDENTITY, eye, near))
}

/// Whether a shape whose box is near is near itself: cameras stand within rooms and before landscapes. Of cylinders, the
/// box says enough.
fn is_shape_nearer(shape: &Shape, t: &Affine3A, eye: Vec3, near: f32) -> bool {
    let t = *t * shape.world_from_object;
    let is_near = |face: &[Vec3]| {
        let face: Vec<_> = face.iter().map(|p| t.transform_point3(*p)).collect();
        let normal = (face[1] - face[0]).cross(face[2] - face[0]).normalize_or_zero();
        let bounds = face.iter().fold(Bounds::EMPTY, |all, p| all.with(*p));
        bounds.distance(eye) < near && (eye - face[0]).dot(normal).abs() < near
    };
    match shape.geometry.outline() {
        Outline::Squares(squares) => squares.iter().any(|square| is_near(&corners(*square))),
        Outline::Ball { center, radius } => {
            let radius = radius * t.matrix3.determinant().abs().cbrt();
            (t.transform_point3(center).distance(eye) - radius).abs() < near
        }
        Outline::Tube { .. } => true,
        Outline::Mesh(mesh) => {
            mesh.triangles.iter().any(|corners| is_near(&corners.map(|i| mesh.positions[i as usize])))
        }
    }
}
