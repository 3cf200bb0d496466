//! Normals that are not the surface's: interpolated ones, and those of normal and bump maps.
//!
//! Such a normal belongs to no surface, and light shows it in two ways. Reflections of it may lead into the
//! surface: such normals are bent to the nearest that does not ([`bent`]). And light ends at a hard edge where the
//! normal of a map turns away from it, on a surface that is lit: there it is faded out as by microfacets
//! ([`Terminator`]).

use glam::{Vec2, Vec3};

use super::texture::{gradient, lookup};
use super::{At, Header};
use crate::arch::{max, min, sqrt};
use crate::features::{Compiled, Features};
use crate::sampling::Frame;

/// Derivatives of a surface point by its texture coordinates.
#[derive(Clone, Copy, Debug)]
pub struct Parameterization {
    /// Derivative of the point by u.
    pub dp_du: Vec3,
    /// Derivative of the point by v.
    pub dp_dv: Vec3,
}

impl Parameterization {
    /// Area of the surface that one unit of u and one of v cover.
    #[inline(always)]
    pub fn area(&self) -> f32 {
        self.dp_du.cross(self.dp_dv).length()
    }
}

/// The shading normal after a map, on the side of `ns`.
///
/// # Safety
/// The scene of `at` is valid and has the map of `header`, which has one.
#[inline(always)]
pub unsafe fn perturbed(at: &At<'_>, header: &Header, ns: Vec3, by: &Parameterization) -> Vec3 {
    // Maps are made for the front; what stands out there is hollow from behind.
    let side = if at.front { 1.0 } else { -1.0 };
    let ns = side * ns;
    // SAFETY: as the caller promised.
    let n = unsafe {
        if header.has(Header::BUMP) {
            bumped(ns, header.normal_scale * gradient(at, header.normal_map), by)
        } else {
            let n = 2.0 * lookup(at, header.normal_map) - Vec3::ONE;
            let n =
                Vec3::new(header.normal_scale * n.x, y_sign(header, ns, by) * header.normal_scale * n.y, n.z);
            Frame::from_z_x(ns, by.dp_du).to_world(n)
        }
    };
    // Scaled first: the squares of slopes along coarse or fine texture coordinates would leave the range of f32. What
    // leaves it all the same, or is zero, becomes NaN here.
    let n = n / n.abs().max_element();
    let n = n / n.length();
    if n.length_squared() > 0.5 { side * n } else { side * ns }
}

/// 1 if green points along ns × ∂p/∂u, −1 if against it. In the image, green is upwards, which is where v falls.
#[inline(always)]
fn y_sign(header: &Header, ns: Vec3, by: &Parameterization) -> f32 {
    let up = match header.has(Header::Y_ACROSS) {
        true => 1.0,
        false => -1.0_f32.copysign(ns.cross(by.dp_du).dot(by.dp_dv)),
    };
    if header.has(Header::Y_DOWN) { -up } else { up }
}

/// The normal, of any length, of the surface raised along `ns` by heights with the gradient (∂h/∂u, ∂h/∂v).
///
/// Mikkelsen 2010, "Bump Mapping Unparametrized Surfaces on the GPU": ns − ∇h with the surface gradient
/// ∇h = (∂h/∂u ∂p/∂v × ns + ∂h/∂v ns × ∂p/∂u) / (ns · ∂p/∂u × ∂p/∂v).
#[inline(always)]
fn bumped(ns: Vec3, dh: Vec2, by: &Parameterization) -> Vec3 {
    let det = ns.dot(by.dp_du.cross(by.dp_dv));
    let slope = dh.x * by.dp_dv.cross(ns) + dh.y * ns.cross(by.dp_du);
    det.abs() * ns - 1.0_f32.copysign(det) * slope
}

/// `n` or, if it faces away from `wo`, its rotation by half a turn around the normal `below` the map, as in Mitsuba. All are
/// unit vectors, and `below` is on the side of `wo`.
#[inline(always)]
pub fn flipped(n: Vec3, below: Vec3, wo: Vec3) -> Vec3 {
    if wo.dot(n) > 0.0 { n } else { 2.0 * n.dot(below) * below - n }
}

/// `ns` or, if the reflection of `wo` there leads below the surface with normal `ng`, the normal that sends it just
/// above: along its own projection onto the surface. `ng` is on the side of `wo`, and is itself left as it is. The idea
/// of Keller et al. 2017, "The Iray Light Transport Simulation and Rendering System", §A.3.
#[inline(always)]
pub fn bent(ns: Vec3, ng: Vec3, wo: Vec3) -> Vec3 {
    // Sine of the lowest reflections; below that of `wo`, so that what is flat stays flat.
    let lowest = min(0.01, 0.9 * max(wo.dot(ng), 0.0));
    let r = 2.0 * wo.dot(ns) * ns - wo;
    let height = r.dot(ng);
    if height >= lowest && wo.dot(ns) > 0.0 {
        return ns;
    }
    let along = r - height * ng;
    let length = along.length();
    if length == 0.0 {
        return ng;
    }
    let raised = (along * (sqrt(1.0 - lowest * lowest) / length) + lowest * ng + wo).normalize();
    if raised.dot(wo) > 0.0 { raised } else { ng }
}

/// Fades light out towards the horizon of the surface below a perturbed normal.
///
/// Estevez, Lecocq & Zeltner 2019, "A Microfacet-Based Shadowing Function to Solve the Bump Terminator Problem", Ray
/// Tracing Gems ch. 12: the shadowing G1 of GGX with the roughness of which the perturbed normal would be typical.
#[derive(Clone, Copy, Debug)]
pub struct Terminator {
    /// Normal below the map.
    pub(crate) n: Vec3,
    /// Square of alpha; 0 lets everything pass.
    pub(crate) alpha2: f32,
}

impl Terminator {
    /// Lets everything pass.
    pub const NONE: Self = Self { n: Vec3::Z, alpha2: 0.0 };

    /// That of a normal `ns` on a surface with normal `n`.
    #[inline(always)]
    pub fn new(n: Vec3, ns: Vec3) -> Self {
        let c = min(n.dot(ns).abs(), 1.0);
        let c2 = c * c;
        Self { n, alpha2: min(0.125 * (1.0 - c2) / max(c2, 1e-8), 1.0) }
    }

    /// Shadowing factor of a normal map, in [0, 1], for light that is scattered along `wi`, world space, to either side.
    #[inline(always)]
    pub fn shadowing<C: Compiled>(&self, wi: Vec3) -> f32 {
        if !C::sees(Features::NORMAL_MAPS) || self.alpha2 == 0.0 {
            return 1.0;
        }
        let c = wi.dot(self.n);
        let c2 = min(c * c, 1.0);
        if c2 == 0.0 {
            return 0.0;
        }
        2.0 / (1.0 + sqrt(1.0 + self.alpha2 * (1.0 - c2) / c2))
    }
}

impl Header {
    /// Whether there is a normal or bump map that is to be looked up.
    #[inline(always)]
    pub fn is_bumpy<C: Compiled>(&self) -> bool {
        C::sees(Features::NORMAL_MAPS) && self.normal_map != Self::NONE
    }

    /// Whether interpolated normals are bent.
    #[inline(always)]
    pub fn bends_normals<C: Compiled>(&self) -> bool {
        C::sees(Features::BENT_NORMALS) && self.has(Self::BENDS_NORMALS)
    }

    /// Whether normals are bent, be they interpolated or of a map.
    #[inline(always)]
    pub fn bends<C: Compiled>(&self) -> bool {
        const OF_MAP: u32 = Header::FLIP_INVALID_NORMALS | Header::KEEP_INVALID_NORMALS;
        if self.is_bumpy::<C>() { !self.has(OF_MAP) } else { self.bends_normals::<C>() }
    }
}
