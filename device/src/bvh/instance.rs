//! Instances of groups of primitives that have a tree of their own.

use bytemuck::{Pod, Zeroable};
use glam::Vec3;

use crate::arch::max;
use crate::ray::Ray;

/// An instance of a group, 64 bytes.
///
/// Only the map into the group is stored, and defines where the instance is: the inverse is made to agree with it, see
/// [`Instance::world_point`].
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C, align(16))]
pub struct Instance {
    /// The affine map from the world to the group, row by row: x = m₀·p.x + m₁·p.y + m₂·p.z + m₃, and so on.
    pub object_from_world: [[f32; 4]; 3],
    /// Root of the group's tree, an index into [`super::Geometry::nodes`].
    pub root: u32,
    /// Index of the instance in the scene.
    pub source: u32,
    /// Index of the group in the scene.
    pub group: u32,
    /// Unused.
    pub reserved: u32,
}

const _: () = assert!(size_of::<Instance>() == 64);

impl Instance {
    /// Rows of the linear part, and what is added.
    #[inline(always)]
    pub(super) fn parts(&self) -> ([Vec3; 3], Vec3) {
        let [x, y, z] = self.object_from_world;
        let row = |r: [f32; 4]| Vec3::new(r[0], r[1], r[2]);
        ([row(x), row(y), row(z)], Vec3::new(x[3], y[3], z[3]))
    }

    /// A point of the world in the group's space.
    #[inline(always)]
    pub fn object_point(&self, p: Vec3) -> Vec3 {
        let (rows, added) = self.parts();
        times(rows, p) + added
    }

    /// The ray in the group's space, and how much longer distances along it are there.
    #[inline(always)]
    pub fn enter(&self, ray: &Ray) -> (Ray, f32) {
        let d = times(self.parts().0, ray.d);
        let stretch = d.length();
        (Ray { o: self.object_point(ray.o), d: d * (1.0 / stretch) }, stretch)
    }

    /// The point of the world that [`Instance::object_point`] takes to `p`, up to its own rounding, if `near` is close to
    /// it: a step of Newton's method, whose errors are those of the residual.
    #[inline(always)]
    pub fn world_point(&self, p: Vec3, near: Vec3) -> Vec3 {
        near + self.world_vector(p - self.object_point(near))
    }

    /// A difference of points of the group in the world.
    #[inline(always)]
    pub fn world_vector(&self, v: Vec3) -> Vec3 {
        let [x, y, z] = self.inverse();
        v.x * x + v.y * y + v.z * z
    }

    /// A normal of the group, of any length, in the world: by the transpose, so that it stays outside in mirrors.
    #[inline(always)]
    pub fn world_normal(&self, n: Vec3) -> Vec3 {
        let [x, y, z] = self.parts().0;
        n.x * x + n.y * y + n.z * z
    }

    /// A normal of the world, of any length, in the group.
    #[inline(always)]
    pub fn object_normal(&self, n: Vec3) -> Vec3 {
        let [x, y, z] = self.inverse();
        Vec3::new(x.dot(n), y.dot(n), z.dot(n))
    }

    /// Scale of the rounding error of a point of the world that comes from a point of a primitive of size `extent`, with
    /// unit normal `n`, in the group: the sum of all that is rounded on the way to `p` and back, as far as it moves the
    /// point along the normal.
    #[inline(always)]
    pub fn extent(&self, p: Vec3, n: Vec3, extent: f32) -> f32 {
        let ([x, y, z], added) = self.parts();
        let rounded = times([x.abs(), y.abs(), z.abs()], p.abs()) + added.abs() + Vec3::splat(extent);
        // A step e in the group moves the plane n·q = const by n·e, which is n·e/|Aᵀn| in the world.
        max(rounded.dot(n.abs()) / self.world_normal(n).length(), p.abs().max_element())
    }

    /// Columns of the inverse of the linear part: its cofactors over its determinant, scaled so that neither overflows.
    #[inline(always)]
    fn inverse(&self) -> [Vec3; 3] {
        let [x, y, z] = self.parts().0;
        let scale = 1.0 / x.abs().max(y.abs()).max(z.abs()).max_element();
        let (x, y, z) = (x * scale, y * scale, z * scale);
        let columns = [y.cross(z), z.cross(x), x.cross(y)];
        let by_det = scale / x.dot(columns[0]);
        [columns[0] * by_det, columns[1] * by_det, columns[2] * by_det]
    }
}

/// A matrix, given by its rows, times a vector.
#[inline(always)]
fn times([x, y, z]: [Vec3; 3], v: Vec3) -> Vec3 {
    Vec3::new(x.dot(v), y.dot(v), z.dot(v))
}
