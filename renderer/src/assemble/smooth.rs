//! Where smooth surfaces are.

use device::material::{Header, Kind, Material};
use device::shape::Primitive;
use glam::Vec3;

use super::Geometry;

/// [`device::path::PathSettings::smooth`]; none where there are instances, which may be anywhere.
pub(super) fn around(geometry: &Geometry, materials: &[Material]) -> [f32; 4] {
    let may_be_smooth = |prim: &&Primitive| {
        let header = materials[prim.material() as usize].header();
        header.has(Header::SMOOTH) || header.kind == Kind::Blend as u32 || header.back != Header::NONE
    };
    let smooth = || geometry.prims.iter().filter(may_be_smooth);
    let none = [Vec3::INFINITY, Vec3::NEG_INFINITY];
    let [least, most] =
        smooth().map(Primitive::bounds).fold(none, |[least, most], [a, b]| [least.min(a), most.max(b)]);
    if !geometry.instances.is_empty() || least.x > most.x {
        return [0.0; 4];
    }
    let center = 0.5 * (least + most);
    let radius = smooth().map(|prim| farthest(prim, center)).fold(0.0, f32::max);
    center.extend(radius).to_array()
}

/// A distance from a point that no part of a primitive is beyond.
fn farthest(prim: &Primitive, from: Vec3) -> f32 {
    let [least, most] = prim.bounds();
    if prim.is_sphere() {
        return prim.a.distance(from) + 0.5 * (most.x - least.x);
    }
    (least - from).abs().max((most - from).abs()).length()
}

#[cfg(test)]
mod tests {
    use device::path::PathSettings;

    use crate::assemble::assemble;
    use crate::described;

    const BALL: &str = include_str!("../render/guiding/ball.toml");

    #[test]
    fn the_sphere_is_around_what_is_smooth() {
        let sphere = |scene: &str| assemble(&described(scene)).unwrap().settings.smooth;
        let walks = BALL.replace("guiding = \"on\"", "caustics = \"walks\"");
        assert_eq!(sphere(&walks), [0.0, 1.0, 0.0, 0.8]);
        assert_eq!(sphere(BALL), [0.0; 4], "nobody asks");
        let nowhere = walks.replace("\"glass\"\ncenter", "\"white\"\ncenter");
        assert_eq!(sphere(&nowhere), [0.0; 4]);
        let on_trial = nowhere.replace("\"walks\"", "\"walks\"\nguiding = \"auto\"");
        assert_eq!(sphere(&on_trial)[3], PathSettings::ASKS_NOBODY);
        let pane =
            "\n[[shapes]]\ntype = \"quad\"\nmaterial = \"glass\"\ntransform = { translate = [4, 0, 0] }\n";
        let [x, y, z, radius] = sphere(&(walks + pane));
        for corner in [[5.0, 1.0, 0.0], [5.0, -1.0, 0.0], [-0.8, 1.0, 0.0], [0.0, 1.0, 0.8]] {
            let [a, b, c] = corner;
            let distance = (a - x).hypot(b - y).hypot(c - z);
            assert!(distance < radius * 1.0001, "{corner:?}: {distance}, {radius}");
        }
        assert!(radius < 3.5, "{radius}");
    }
}
