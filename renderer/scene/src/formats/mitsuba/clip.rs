//! Clipping planes, which all of Mitsuba's cameras have.

use glam::{Affine3A, Vec3};

use super::view::{PropertyView, View};
use crate::description::{Bounds, Clip, Description, Outline, Projection, Shape, corners};

/// The distances between which a sensor of Mitsuba sees things, in metres.
pub(super) struct ClipPlanes<'a> {
    near: f64,
    far: f64,
    sensor: View<'a>,
    /// The properties that give them.
    given: [Option<PropertyView<'a>>; 2],
}

impl<'a> ClipPlanes<'a> {
    pub(super) fn read(sensor: &View<'a>) -> Option<Self> {
        let given = ["near_clip", "far_clip"].map(|name| sensor.get(name));
        let number =
            |given: Option<PropertyView<'_>>, default| given.map_or(Some(default), |given| given.number());
        let (near, far) = (number(given[0], 1e-2), number(given[1], 1e4));
        let (near, far) = (near?, far?);
        if !(near > 0.0 && near < far) {
            let [near, far] = [near, far].map(|x| x.to_string());
            return sensor
                .error(format!("\"near_clip\" has to be between 0 and \"far_clip\": {near} and {far}"));
        }
        Some(Self { near, far, sensor: *sensor, given })
    }

    /// Beyond what nothing is seen, metres.
    pub(super) const fn far(&self) -> f64 {
        self.far
    }

    /// Clips what a camera sees, with a warning, if it cuts something off at all.
    pub(super) fn apply(&self, d: &mut Description) {
        let (near, far) = (self.near as f32, self.far as f32);
        let cuts = (is_nearer(d, near), reaches(d, f32::INFINITY, far));
        d.camera.clip = Clip {
            near: if cuts.0 { near } else { Clip::DEFAULT.near },
            far: if cuts.1 { far } else { Clip::DEFAULT.far },
        };
        let [given_near, given_far] = self.given;
        // The default is no farther than any camera is from what it shows.
        let what = match (cuts.0 && given_near.is_some(), cuts.1) {
            (true, true) => format!("nearer than {near} or farther than {far}"),
            (true, false) => format!("nearer than {near}"),
            (false, true) => format!("farther than {far}"),
            (false, false) => return,
        };
        let place = given_near.or(given_far).map_or(&self.sensor.object.place, |given| &given.property.place);
        let sensor = self.sensor.describe();
        let message = format!(
            "what is {what} is not seen by {sensor}, as in Mitsuba: its \"near_clip\" and \"far_clip\""
        );
        self.sensor.sources.warn(place, message);
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
