//! Where shapes may be.

use glam::{Affine3A, Vec3};

use crate::description::limits::{MAX_COORDINATE, is_degenerate};
use crate::description::{Geometry, Outline, corners};

/// The complaint about shapes that reach beyond [`MAX_COORDINATE`].
pub(super) const TOO_FAR: &str = "reaches beyond 1e9 metres, where single precision fails";
/// The complaint about shapes whose normal cannot be computed.
const TOO_SMALL: &str = "is too small for single precision where it stands";

/// The complaint about the place where `t` puts a shape that is no mesh.
pub(super) fn problem(geometry: &Geometry, t: &Affine3A) -> Option<&'static str> {
    let points: Vec<Vec3> = match geometry.outline() {
        Outline::Squares(squares) => squares.iter().flat_map(|square| corners(*square)).collect(),
        Outline::Ball { center, radius } => around(center, radius),
        Outline::Tube { from, to, radius } => [around(from, radius), around(to, radius)].concat(),
        Outline::Mesh(_) => return None,
    };
    let world: Vec<Vec3> = points.iter().map(|p| t.transform_point3(*p)).collect();
    let reach = world.iter().map(|p| p.abs().max_element()).fold(0.0, f32::max);
    if reach > MAX_COORDINATE || reach.is_nan() {
        return Some(TOO_FAR);
    }
    // Far from the origin, what is small is rounded to nothing.
    let edges: Vec<Vec3> = world.iter().skip(1).map(|p| *p - world[0]).collect();
    let is_small = match geometry.is_round() {
        true => {
            edges.iter().any(|e| e.length() < reach / (1 << 19) as f32 || e.length() < 1.0 / MAX_COORDINATE)
        }
        false => world
            .chunks_exact(4)
            .any(|p| is_degenerate(p[1] - p[0], p[2] - p[0]) || is_degenerate(p[2] - p[0], p[3] - p[0])),
    };
    is_small.then_some(TOO_SMALL)
}

/// Points on a sphere.
fn around(center: Vec3, radius: f32) -> Vec<Vec3> {
    Vec3::AXES.iter().flat_map(|a| [center + *a * radius, center - *a * radius]).collect()
}
