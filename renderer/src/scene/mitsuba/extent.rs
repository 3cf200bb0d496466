//! Where shapes may be.

use glam::{Affine3A, Vec3};

use crate::scene::Geometry;
use crate::scene::limits::{MAX_COORDINATE, is_degenerate};

/// What is wrong with something that reaches beyond [`MAX_COORDINATE`].
pub(super) const TOO_FAR: &str = "reaches beyond 1e9 metres, where single precision fails";
/// What is wrong with something whose normal cannot be computed.
const TOO_SMALL: &str = "is too small for single precision where it stands";

/// What is wrong with where `t` puts a shape that is no mesh.
pub(super) fn problem(geometry: &Geometry, t: &Affine3A) -> Option<&'static str> {
    let points: Vec<Vec3> = match geometry {
        Geometry::Quad | Geometry::Disk => corners(&[0.0]),
        Geometry::Box => corners(&[-1.0, 1.0]),
        Geometry::Sphere { center, radius } => around(*center, *radius),
        Geometry::Cylinder { from, to, radius } => {
            let mut points = around(*from, *radius);
            points.extend(around(*to, *radius));
            points
        }
        Geometry::Mesh(_) => return None,
    };
    let world: Vec<Vec3> = points.iter().map(|p| t.transform_point3(*p)).collect();
    let reach = world.iter().map(|p| p.abs().max_element()).fold(0.0, f32::max);
    if reach > MAX_COORDINATE || reach.is_nan() {
        return Some(TOO_FAR);
    }
    // Far from the origin, what is small is rounded to nothing.
    let edges: Vec<Vec3> = world.iter().skip(1).map(|p| *p - world[0]).collect();
    let is_small = match geometry {
        Geometry::Sphere { .. } | Geometry::Cylinder { .. } => {
            edges.iter().any(|e| e.length() < reach / (1 << 19) as f32 || e.length() < 1.0 / MAX_COORDINATE)
        }
        _ => edges.windows(2).any(|pair| is_degenerate(pair[0], pair[1])),
    };
    is_small.then_some(TOO_SMALL)
}

/// Corners of squares, each around the middle of its own: (±1, ±1, z).
fn corners(zs: &[f32]) -> Vec<Vec3> {
    let square =
        |z: f32| [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)].map(|(x, y)| Vec3::new(x, y, z));
    zs.iter().flat_map(|z| square(*z)).collect()
}

/// Points on a sphere.
fn around(center: Vec3, radius: f32) -> Vec<Vec3> {
    Vec3::AXES.iter().flat_map(|a| [center + *a * radius, center - *a * radius]).collect()
}
