//! Bounding boxes of shapes and scenes.

use glam::{Affine3A, Vec3};

use super::{Description, Outline, Shape, corners};

/// A box along the axes, from its lowest to its highest corner; `lo` > `hi` if it is empty.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bounds {
    /// Least coordinates.
    pub lo: Vec3,
    /// Greatest coordinates.
    pub hi: Vec3,
}

impl Bounds {
    /// The empty box.
    pub const EMPTY: Self = Self { lo: Vec3::INFINITY, hi: Vec3::NEG_INFINITY };

    /// Whether it is empty.
    pub fn is_empty(&self) -> bool {
        !self.lo.cmple(self.hi).all()
    }

    /// The middle.
    pub fn center(&self) -> Vec3 {
        0.5 * self.lo + 0.5 * self.hi
    }

    /// Half the length of the diagonal: the radius of the sphere around it.
    pub fn radius(&self) -> f32 {
        (0.5 * self.hi - 0.5 * self.lo).length()
    }

    /// The box around shapes.
    pub(crate) fn around(shapes: &[Shape]) -> Self {
        shapes.iter().map(Shape::bounds).fold(Self::EMPTY, Self::union)
    }

    /// Distance of a point from the box, metres; 0 inside.
    pub(crate) fn distance(&self, p: Vec3) -> f32 {
        p.max(self.lo).min(self.hi).distance(p)
    }

    /// Extent from a point along a direction, metres.
    pub(crate) fn reach(&self, from: Vec3, along: Vec3) -> f32 {
        let corner = Vec3::select(along.cmpgt(Vec3::ZERO), self.hi, self.lo);
        (corner - from).dot(along)
    }

    pub(crate) fn with(self, p: Vec3) -> Self {
        Self { lo: self.lo.min(p), hi: self.hi.max(p) }
    }

    fn union(self, other: Self) -> Self {
        Self { lo: self.lo.min(other.lo), hi: self.hi.max(other.hi) }
    }

    /// The box around this one after a transform.
    pub(crate) fn transformed(&self, t: &Affine3A) -> Self {
        if self.is_empty() {
            return *self;
        }
        let corner = |i: u32| {
            let pick = |axis: usize| if i >> axis & 1 == 1 { self.hi[axis] } else { self.lo[axis] };
            t.transform_point3(Vec3::new(pick(0), pick(1), pick(2)))
        };
        (0..8).map(corner).fold(Self::EMPTY, Self::with)
    }
}

impl Shape {
    /// The box around the shape in the world; not tight for cylinders.
    pub fn bounds(&self) -> Bounds {
        let t = &self.world_from_object;
        match self.geometry.outline() {
            Outline::Squares(squares) => {
                let corners = squares.iter().flat_map(|square| corners(*square));
                corners.fold(Bounds::EMPTY, |all, p| all.with(t.transform_point3(p)))
            }
            Outline::Ball { center, radius } => {
                let center = t.transform_point3(center);
                let radius = radius * t.matrix3.determinant().abs().cbrt();
                Bounds { lo: center - radius, hi: center + radius }
            }
            Outline::Tube { from, to, radius } => {
                Bounds { lo: from.min(to) - radius, hi: from.max(to) + radius }.transformed(t)
            }
            Outline::Mesh(mesh) => {
                mesh.positions.iter().fold(Bounds::EMPTY, |all, p| all.with(t.transform_point3(*p)))
            }
        }
    }
}

impl Description {
    /// The box around all shapes, those of instances included.
    pub fn bounds(&self) -> Bounds {
        let groups: Vec<_> = self.groups.iter().map(|group| Bounds::around(&group.shapes)).collect();
        let instances = self.instances.iter();
        let instances = instances.map(|i| groups[i.group as usize].transformed(&i.world_from_group));
        instances.fold(Bounds::around(&self.shapes), Bounds::union)
    }
}
