//! Kinds of shape.

use std::sync::Arc;

use glam::{Affine3A, Vec3};

use super::{TriangleMesh, cube, cylinder, disk, mesh, quad, sphere};
use crate::description::key::{Default, Key, Type};

/// The extent of a shape in object space, in a form that several kinds share.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Outline<'a> {
    /// Squares in object space that contain the shape: half of each side, and the centre.
    Squares(&'static [[Vec3; 3]]),
    /// A sphere, which only a similarity maps to a sphere.
    Ball {
        center: Vec3,
        radius: f32,
    },
    /// The lateral surface of a cylinder around a segment; only a similarity maps it to a cylinder.
    Tube {
        from: Vec3,
        to: Vec3,
        radius: f32,
    },
    Mesh(&'a TriangleMesh),
}

/// The corners of a square of an [`Outline`], in their order around it.
pub(crate) fn corners([x, y, middle]: [Vec3; 3]) -> [Vec3; 4] {
    [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)].map(|(u, v): (f32, f32)| u * x + v * y + middle)
}

/// A number or point of a shape.
#[derive(Debug, PartialEq)]
pub(crate) enum Dimension<'a> {
    Point(&'a mut Vec3),
    /// Above 0.
    Length(&'a mut f32),
}

impl Dimension<'_> {
    /// Takes the default of its key.
    fn reset(self, key: &Key) {
        match (self, key.default) {
            (Self::Point(point), Default::Vector(default)) => *point = default.into(),
            (Self::Length(length), Default::Number(default)) => *length = default,
            _ => {}
        }
    }
}

impl<'a> From<&'a mut Vec3> for Dimension<'a> {
    fn from(point: &'a mut Vec3) -> Self {
        Self::Point(point)
    }
}

impl<'a> From<&'a mut f32> for Dimension<'a> {
    fn from(length: &'a mut f32) -> Self {
        Self::Length(length)
    }
}

/// Makes the kinds of shape, each with its module, its names in scene files, a sentence on it, and what its texture
/// coordinates are. The keys of the module are those of the fields, in their order.
macro_rules! shapes {
    ($(
        $(#[$meta:meta])*
        $Name:ident $({ $($(#[$about_field:meta])* $field:ident: $Type:ty,)* })? $(($inner:ident: $Inner:ty))?
            = $module:ident, [$word:literal $(, $other:literal)?], $about:literal, $uv:literal;
    )*) => {
        /// Geometry in object space. The front is the side the normal points to. Texture coordinates (u, v) are those of
        /// Mitsuba's `rectangle`, `cube` and `sphere`; v = 0 is the top row of an image, as in glTF.
        #[derive(Debug, Clone, PartialEq)]
        pub enum Geometry { $($(#[$meta])* $Name $({ $($(#[$about_field])* $field: $Type),* })? $(($Inner))?),* }

        /// The kinds as scene files have them.
        pub(crate) static TYPES: &[Type] =
            &[$(Type { names: &[$word $(, $other)?], about: $about, keys: &[&$module::KEYS] }),*];

        /// Meaning of u and v on each kind.
        pub(crate) static TEXTURE_COORDINATES: &[(&str, &str)] = &[$(($word, $uv)),*];

        impl Geometry {
            /// Its name in scene files.
            pub const fn name(&self) -> &'static str {
                match self { $(Self::$Name { .. } => $word),* }
            }

            /// The shape of a name in scene files, with all defaults. A mesh is empty.
            pub(crate) fn named(name: &str) -> Option<Self> {
                let mut geometry = match name {
                    $($word => Self::$Name $({ $($field: <$Type>::default()),* })? $((<$Inner>::default()))?,)*
                    _ => return None,
                };
                geometry.dimensions().into_iter().for_each(|(key, dimension)| dimension.reset(key));
                Some(geometry)
            }

            /// Its numbers and points, each with its key.
            pub(crate) fn dimensions(&mut self) -> Vec<(&'static Key, Dimension<'_>)> {
                match self {
                    $(Self::$Name $({ $($field),* })? $(($inner))? => {
                        $(let _ = $inner;)?
                        let dimensions: Vec<Dimension<'_>> = vec![$($($field.into()),*)?];
                        $module::KEYS.iter().zip(dimensions).collect()
                    })*
                }
            }

            /// Its extent.
            pub(crate) fn outline(&self) -> Outline<'_> {
                match self {
                    $(Self::$Name $({ $($field),* })? $(($inner))? => $module::outline($($(*$field),*)? $($inner)?)),*
                }
            }

            /// The area in the world, m².
            pub(crate) fn area(&self, t: &Affine3A) -> f32 {
                match self {
                    $(Self::$Name $({ $($field),* })? $(($inner))? => $module::area(t $(, $(*$field),*)? $(, $inner)?)),*
                }
            }
        }
    };
}

shapes! {
    /// The square [-1, 1]² in the plane z = 0, normal +z. (u, v) = ((x + 1)/2, (y + 1)/2).
    Quad = quad, ["quad", "rectangle"], "The square [-1, 1]² at z = 0, front towards +z.",
        "grow from 0 to 1 along x and y";
    /// The cube [-1, 1]³, normals outward. Each face has u and v from 0 to 1, growing along
    ///
    /// | face | −x | +x | −y | +y | −z | +z |
    /// |---|---|---|---|---|---|---|
    /// | u | +y | +y | +z | −x | −y | +y |
    /// | v | +z | −z | +x | −z | +x | +x |
    Box = cube, ["box", "cube"], "The cube [-1, 1]³.", "grow from 0 to 1 on each face, as those of Mitsuba's `cube`";
    /// An analytic sphere, normals outward; its transform must be a similarity. (u, v) = (φ/2π, θ/π): azimuth around
    /// the z axis of object space, from x towards y, and angle to that axis.
    Sphere {
        /// Centre, object space.
        center: Vec3,
        /// Radius, > 0, object space.
        radius: f32,
    } = sphere, ["sphere"], "A sphere.",
        "azimuth around z, from x towards y, in turns; the angle to z in half turns";
    /// The unit disk in the plane z = 0, normal +z; its transform may make an ellipse of it. (u, v) = (r, φ/2π): distance
    /// from the middle, and azimuth from x towards y.
    Disk = disk, ["disk"], "The unit disk at z = 0, front towards +z; a transform may make an ellipse of it.",
        "distance from the middle; azimuth from x towards y, in turns";
    /// The side of an analytic cylinder around a segment, normals outward; its transform must be a similarity.
    /// (u, v) = (φ/2π, z/length): azimuth around the axis from `from` to `to`, starting at the x axis of
    /// [`device::sampling::Frame::from_z`] of that axis, and distance along it.
    Cylinder {
        /// Where the axis starts, object space.
        from: Vec3,
        /// Where the axis ends, object space.
        to: Vec3,
        /// Radius, > 0, object space.
        radius: f32,
    } = cylinder, ["cylinder"], "The side of a cylinder, without caps.",
        "azimuth around the axis, in turns; the part of the way along it";
    /// Triangles; the normal follows from counter-clockwise winding.
    Mesh(mesh: Arc<TriangleMesh>) = mesh, ["mesh"], "Triangles of a file.",
        "those of its file, with v counted from the top, so that an OBJ file's v becomes 1 − v";
}

impl Geometry {
    /// Whether its transform must be a similarity.
    pub fn is_round(&self) -> bool {
        matches!(self.outline(), Outline::Ball { .. } | Outline::Tube { .. })
    }
}
