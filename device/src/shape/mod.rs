//! Primitives of the hierarchy: one shape a file.

pub mod cylinder;
pub mod disk;
pub mod sphere;
pub mod triangle;

use bytemuck::{Pod, Zeroable};
use glam::{Vec2, Vec3};

use cylinder::Cylinder;
use disk::Disk;
use sphere::Sphere;
pub(crate) use triangle::Triangle;

use crate::arch::{Real, Vec3s};
use crate::features::{Compiled, Features};
use crate::ray::{Ray, TraversalRay};

/// A primitive as traversal reads it: 48 bytes, three wide loads.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C, align(16))]
pub struct Primitive {
    /// Triangle: vertex 0. Sphere: centre. Disk: middle. Cylinder: where the axis starts.
    pub a: Vec3,
    /// Index of the material, and in the high bits [`Kind::flag`] and others.
    pub material_flags: u32,
    /// Triangle: vertex 1. Disk: a half-axis, where the azimuth is 0. Sphere and cylinder: radius; 1, or −1 where the
    /// azimuth turns clockwise around the axis; the azimuth, as a part of a turn counter-clockwise from the x axis of
    /// [`crate::sampling::Frame::from_z`] of the axis, where u is 0.
    pub b: Vec3,
    /// Index of the light that this primitive is, or [`Primitive::NO_LIGHT`].
    pub light: u32,
    /// Triangle: vertex 2. Disk: the other half-axis, so that b × c is along the normal. Sphere: unit vector along the axis
    /// of its parameterisation, the z axis in object space. Cylinder: the axis, from its start to its end.
    pub c: Vec3,
    /// Triangle: index into [`crate::material::Surfaces::normals`], or [`Primitive::FLAT`]. Others: the latter.
    pub normals: u32,
}

const _: () = assert!(size_of::<Primitive>() == 48);

/// Geometry of a kind of primitive.
pub(crate) trait Shape {
    /// As [`intersect`].
    fn intersect(prim: &Primitive, ray: &TraversalRay, t_max: f32) -> Option<(f32, [f32; 2])>;

    /// As [`Primitive::extent`].
    fn extent(prim: &Primitive) -> f32;

    /// As [`Primitive::bounds`].
    fn bounds(prim: &Primitive) -> [Vec3; 2];

    /// As [`Primitive::area`].
    fn area(prim: &Primitive) -> f32;

    /// A point drawn uniformly by area, and the unit normal there, of what has these corners as [`Primitive::a`] and so on.
    fn sample(corners: [Vec3; 3], area: f32, u: Vec2) -> (Vec3, Vec3);
}

/// Is shown a shape.
pub(crate) trait Visitor {
    /// Its answer.
    type Output;

    /// Is shown `S`. A trait and no closure, which would be one function for all shapes.
    fn visit<S: Shape>(self) -> Self::Output;
}

/// A shape that is no triangle: texture coordinates and normals follow from where on it a point is.
trait Analytic: Shape {
    /// As [`Primitive::meet`].
    fn meet<F: Real>(
        prim: &Primitive,
        o: Vec3s<F>,
        d: Vec3s<F>,
        t_max: F,
        rays: F::Mask,
    ) -> Option<LaneHits<F>>;

    /// As [`analytic_point`].
    fn point(prim: &Primitive, ray: &Ray, t: f32, b: [f32; 2]) -> AnalyticPoint;

    /// As [`analytic_uv`].
    fn uv(prim: &Primitive, n: Vec3, b: [f32; 2]) -> Vec2;

    /// As [`analytic_uv_of_sample`].
    fn uv_of_sample(prim: &Primitive, p: Vec3, u: Vec2) -> Vec2;

    /// As [`analytic_derivatives`].
    fn derivatives(prim: &Primitive, n: Vec3, b: [f32; 2]) -> (Vec3, Vec3);

    /// As [`analytic_dp_du`].
    #[inline(always)]
    fn dp_du(prim: &Primitive, n: Vec3, b: [f32; 2]) -> Vec3 {
        Self::derivatives(prim, n, b).0
    }
}

/// Where rays meet a primitive that is no triangle, a lane each.
#[derive(Clone, Copy)]
pub(crate) struct LaneHits<F: Real> {
    /// Which of them may.
    pub(crate) mask: F::Mask,
    /// At what distance; those at which none is met are not positive, or NaN.
    pub(crate) t: F,
    /// As [`Hit::b`](crate::bvh::Hit::b).
    pub(crate) b: [F; 2],
}

/// A point of a primitive that is no triangle.
#[derive(Clone, Copy, Debug)]
pub struct AnalyticPoint {
    /// The point, put back onto the surface wherever the rounding of the distance has left it.
    pub p: Vec3,
    /// Unit normal, outward or along b × c.
    pub n: Vec3,
    /// Coordinates along the half-axes of a disk; (position between the ends of the axis, 0) on a cylinder.
    pub b: [f32; 2],
}

/// Goes by the flag of a primitive that is of one of several kinds: the last is not asked for.
macro_rules! by_flag {
    ($prim:expr; $Last:ident => $answer:expr) => { $answer };
    ($prim:expr; $Kind:ident => $answer:expr; $($others:tt)+) => {
        if $prim.has(Kind::$Kind.flag()) { $answer } else { by_flag!($prim; $($others)+) }
    };
}

/// Makes the kinds of shape, their numbers and flags, and their dispatch. Primitives without a flag are of the first.
macro_rules! shapes {
    (
        $(#[$flat_meta:meta])* $Flat:ident;
        common: $($(#[$common_meta:meta])* $Common:ident),+;
        rare: $($(#[$rare_meta:meta])* $Rare:ident),+;
    ) => {
        /// Kinds of shape.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u32)]
        pub enum Kind {
            $(#[$flat_meta])*
            $Flat,
            $($(#[$common_meta])* $Common,)+
            $($(#[$rare_meta])* $Rare,)+
        }

        impl Kind {
            /// All of them, in the order of their numbers.
            pub const ALL: &'static [Self] = &[Self::$Flat, $(Self::$Common,)+ $(Self::$Rare),+];

            /// How many are in all kernels, and have the first numbers: the others are where [`Features::SHAPES`] is.
            pub const COMMON: u32 = [Self::$Flat, $(Self::$Common),+].len() as u32;
        }

        impl Primitive {
            /// The shape.
            pub const fn kind(&self) -> Kind {
                $(
                    if self.has(Kind::$Common.flag()) {
                        return Kind::$Common;
                    }
                )+
                $(
                    if self.has(Kind::$Rare.flag()) {
                        return Kind::$Rare;
                    }
                )+
                Kind::$Flat
            }

            /// Whether this is one of the shapes that not all kernels know, in code that is compiled for them.
            #[inline(always)]
            fn is_rare<C: Compiled>(&self) -> bool {
                C::sees(Features::SHAPES) && self.has(0 $(| Kind::$Rare.flag())+)
            }

            /// Whether this is no triangle, in code that is compiled for what it is.
            #[inline(always)]
            pub(crate) fn is_analytic<C: Compiled>(&self) -> bool {
                $(self.has(Kind::$Common.flag()) ||)+ self.is_rare::<C>()
            }

            /// Largest absolute coordinate of any of its points, or little more.
            #[inline(always)]
            pub fn extent(&self) -> f32 {
                by_flag!(self;
                    $($Common => $Common::extent(self);)+ $($Rare => $Rare::extent(self);)+
                    $Flat => $Flat::extent(self))
            }

            /// The corners of a box around it, parallel to the axes.
            pub fn bounds(&self) -> [Vec3; 2] {
                by_flag!(self;
                    $($Common => $Common::bounds(self);)+ $($Rare => $Rare::bounds(self);)+
                    $Flat => $Flat::bounds(self))
            }

            /// Surface area, m².
            pub fn area(&self) -> f32 {
                by_flag!(self;
                    $($Common => $Common::area(self);)+ $($Rare => $Rare::area(self);)+
                    $Flat => $Flat::area(self))
            }

            /// Where the lines from `o`, as seen from [`Primitive::a`], along `d` meet a primitive that is no triangle, for
            /// those of `rays` that may, and no farther than `t_max` where there is a choice. Nothing if none does.
            #[inline(always)]
            pub(crate) fn meet<F: Real, C: Compiled>(
                &self,
                o: Vec3s<F>,
                d: Vec3s<F>,
                t_max: F,
                rays: F::Mask,
            ) -> Option<LaneHits<F>> {
                if self.is_rare::<C>() {
                    by_flag!(self; $($Rare => $Rare::meet(self, o, d, t_max, rays));+)
                } else {
                    by_flag!(self; $($Common => $Common::meet(self, o, d, t_max, rays));+)
                }
            }
        }

        /// Distance in (0, `t_max`] to a primitive, and where on it: barycentric coordinates of vertices 1 and 2 of a
        /// triangle, or coordinates along the half-axes of a disk.
        #[inline(always)]
        pub fn intersect<C: Compiled>(
            prim: &Primitive,
            ray: &TraversalRay,
            t_max: f32,
        ) -> Option<(f32, [f32; 2])> {
            $(
                if prim.has(Kind::$Common.flag()) {
                    return $Common::intersect(prim, ray, t_max);
                }
            )+
            if prim.is_rare::<C>() {
                by_flag!(prim; $($Rare => $Rare::intersect(prim, ray, t_max));+)
            } else {
                $Flat::intersect(prim, ray, t_max)
            }
        }

        /// The point at which a ray meets a primitive that is no triangle, at distance `t` and at `b` as [`intersect`] has
        /// it.
        #[inline(always)]
        pub fn analytic_point<C: Compiled>(prim: &Primitive, ray: &Ray, t: f32, b: [f32; 2]) -> AnalyticPoint {
            if prim.is_rare::<C>() {
                by_flag!(prim; $($Rare => $Rare::point(prim, ray, t, b));+)
            } else {
                by_flag!(prim; $($Common => $Common::point(prim, ray, t, b));+)
            }
        }

        /// Texture coordinates where the normal of a primitive that is no triangle is `n`, and `b` as in
        /// [`AnalyticPoint`].
        #[inline(always)]
        pub fn analytic_uv<C: Compiled>(prim: &Primitive, n: Vec3, b: [f32; 2]) -> Vec2 {
            if prim.is_rare::<C>() {
                by_flag!(prim; $($Rare => $Rare::uv(prim, n, b));+)
            } else {
                by_flag!(prim; $($Common => $Common::uv(prim, n, b));+)
            }
        }

        /// Derivatives of the point by u and by v there.
        #[inline(always)]
        pub fn analytic_derivatives<C: Compiled>(prim: &Primitive, n: Vec3, b: [f32; 2]) -> (Vec3, Vec3) {
            if prim.is_rare::<C>() {
                by_flag!(prim; $($Rare => $Rare::derivatives(prim, n, b));+)
            } else {
                by_flag!(prim; $($Common => $Common::derivatives(prim, n, b));+)
            }
        }

        /// The direction of the first of these, of any length; zero where there is none.
        #[inline(always)]
        pub(crate) fn analytic_dp_du<C: Compiled>(prim: &Primitive, n: Vec3, b: [f32; 2]) -> Vec3 {
            if prim.is_rare::<C>() {
                by_flag!(prim; $($Rare => $Rare::dp_du(prim, n, b));+)
            } else {
                by_flag!(prim; $($Common => $Common::dp_du(prim, n, b));+)
            }
        }

        /// Texture coordinates of the point `p` of a primitive that is no triangle, which was drawn by `u`.
        #[inline(always)]
        pub(crate) fn analytic_uv_of_sample(prim: &Primitive, p: Vec3, u: Vec2) -> Vec2 {
            by_flag!(prim;
                $($Common => $Common::uv_of_sample(prim, p, u);)+
                $($Rare => $Rare::uv_of_sample(prim, p, u));+)
        }

        /// Calls the visitor with rare shape number `rare`, one that not all kernels know; `None` if there are fewer rare
        /// shapes.
        #[inline(always)]
        pub(crate) fn visit_rare<V: Visitor>(rare: u32, visitor: V) -> Option<V::Output> {
            $(
                if rare == Kind::$Rare as u32 - Kind::COMMON {
                    return Some(visitor.visit::<$Rare>());
                }
            )+
            None
        }
    };
}

shapes! {
    /// Triangles.
    Triangle;
    common:
        /// Spheres.
        Sphere;
    rare:
        /// Disks, and the ellipses that transforms make of them.
        Disk,
        /// The sides of cylinders.
        Cylinder;
}

impl Kind {
    const COUNT: u32 = Self::ALL.len() as u32;

    /// Bit that marks a primitive of this shape in [`Primitive::material_flags`]; a triangle has none of these.
    #[inline(always)]
    pub const fn flag(self) -> u32 {
        match self as u32 {
            0 => 0,
            number => 1 << (u32::BITS - number),
        }
    }
}

impl Primitive {
    /// Flags of all shapes but triangles.
    pub(crate) const SHAPES: u32 = u32::MAX << (u32::BITS + 1 - Kind::COUNT);
    /// Flag of a primitive whose front is the other side.
    pub const FLIPPED: u32 = 1 << (u32::BITS - Kind::COUNT);
    /// Flag of a disk whose azimuth turns from `b` towards −`c`.
    pub const MIRRORED: u32 = Self::FLIPPED >> 1;
    /// All flags; the rest is the index of the material.
    pub const FLAGS: u32 = Self::SHAPES | Self::FLIPPED | Self::MIRRORED;
    /// `light` of what emits nothing.
    pub const NO_LIGHT: u32 = u32::MAX;
    /// `normals` of what has none: a triangle that is shaded flat and on which directions do not matter.
    pub const FLAT: u32 = u32::MAX;

    #[inline(always)]
    const fn has(&self, flags: u32) -> bool {
        self.material_flags & flags != 0
    }

    /// Whether this is a triangle.
    #[inline(always)]
    pub const fn is_triangle(&self) -> bool {
        !self.has(Self::SHAPES)
    }

    /// Whether this is a sphere.
    #[inline(always)]
    pub const fn is_sphere(&self) -> bool {
        self.has(Kind::Sphere.flag())
    }

    /// Whether the front is the other side.
    #[inline(always)]
    pub const fn is_flipped(&self) -> bool {
        self.has(Self::FLIPPED)
    }

    /// −1 for a disk whose azimuth turns clockwise around its normal, else 1.
    #[inline(always)]
    pub(crate) const fn turning(&self) -> f32 {
        if self.has(Self::MIRRORED) { -1.0 } else { 1.0 }
    }

    /// Index of the material.
    #[inline(always)]
    pub const fn material(&self) -> u32 {
        self.material_flags & !Self::FLAGS
    }
}
