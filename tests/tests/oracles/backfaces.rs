//! Surfaces that are not there from behind, in closed form.

use glam::{Affine3A, Vec3};
use torrance_scene::{Color, Description, Environment, Geometry, Group, Instance, Shape};
use torrance_tests::closed::{STRATEGIES, camera, description, is_everywhere, is_within, shape};

const ALBEDO: f32 = 0.6;

/// A square across the y axis at a height, `size` from its middle to its sides, whose front faces up or down.
fn square(height: f32, size: f32, up: bool) -> Shape {
    let turn = if up { -1.0 } else { 1.0 } * std::f32::consts::FRAC_PI_2;
    let placed = Affine3A::from_translation(height * Vec3::Y) * Affine3A::from_rotation_x(turn);
    Shape {
        world_from_object: placed * Affine3A::from_scale(Vec3::splat(size)),
        ..shape(Geometry::Quad, 0.0)
    }
}

/// What is at (0, 0.5, 0), looking up or down, between shapes of a material that is culled or not.
fn seen(up: bool, culls: bool, shapes: Vec<Shape>) -> Description {
    let eye = camera(0.5 * Vec3::Y, if up { Vec3::Y } else { Vec3::ZERO }, Vec3::Z, 20.0);
    let mut scene = description(8, eye, ALBEDO, shapes);
    scene.materials[0].cull_backfaces = culls;
    scene.environment = Some(Environment::Constant(Vec3::ONE));
    scene
}

/// The same square as an instance of a group, which mirrors it: its front stays the front.
fn mirrored(scene: &Description) -> Description {
    let mut scene = scene.clone();
    let shapes = std::mem::take(&mut scene.shapes);
    scene.groups.push(Group { name: String::new(), shapes });
    for z in [0.0, 1e6] {
        let map = Affine3A::from_translation(z * Vec3::Z) * Affine3A::from_scale(Vec3::new(-1.0, 1.0, 1.0));
        scene.instances.push(Instance { group: 0, world_from_group: map });
    }
    scene
}

/// From behind, the sky is seen; from the front, the surface, which reflects what is below.
#[test]
fn culled_surfaces_are_not_there_from_behind() {
    for flip in [false, true] {
        for (front, expected) in [(true, ALBEDO), (false, 1.0)] {
            let shape = Shape { flip_normals: flip, ..square(1.0, 10.0, front == flip) };
            let scene = seen(true, true, vec![shape]);
            is_everywhere("culled", &scene, 1 << 10, &|_| expected.into());
            is_everywhere("an instance", &mirrored(&scene), 1 << 10, &|_| expected.into());
            let mut mirrored = scene.clone();
            mirrored.shapes[0].world_from_object.matrix3.x_axis *= -1.0;
            is_everywhere("mirrored", &mirrored, 1 << 10, &|_| expected.into());
            let kept = Description { materials: seen(true, false, vec![]).materials, ..scene };
            is_everywhere("control", &kept, 1 << 10, &|_| ALBEDO.into());
        }
    }
}

/// Light passes from the front to the back: from a floor within a box, rays to it meet the back. So it does however light is found.
#[test]
fn light_passes_where_rays_to_it_meet_the_back() {
    for direct in STRATEGIES {
        for (inward, culls, expected) in [(false, true, ALBEDO), (true, true, 0.0), (false, false, 0.0)] {
            let (scale, flip_normals) = (Affine3A::from_scale(Vec3::splat(1e3)), inward);
            let walls = Shape { world_from_object: scale, flip_normals, ..shape(Geometry::Box, 0.0) };
            let mut scene = seen(false, culls, vec![square(0.0, 10.0, true), walls]);
            scene.render.direct = direct;
            // Light is all or none: what samples of the light alone leave of noise is far from that.
            is_within(0.01, "lit", &scene, 1 << 13, &|_| expected.into());
        }
    }
}

/// A lamp that shines from both sides shines from its front alone where its back is not there. The factor is that of a square
/// above the middle of which a small patch lies, at half the length of its sides (Howell, A Catalog of Radiation Heat Transfer
/// Configuration Factors, B-4).
#[test]
fn backs_that_are_not_there_do_not_shine() {
    let factor = 4.0 / std::f32::consts::PI * 0.5_f32.sqrt() * 0.5_f32.sqrt().atan();
    for direct in STRATEGIES {
        for (up, culls, factor) in [(true, true, 0.0), (false, true, factor), (true, false, factor)] {
            let expected = ALBEDO * factor;
            let mut lamp = square(1.0, 1.0, up);
            (lamp.emission, lamp.emission_two_sided) = (Color::new(Vec3::ONE), true);
            let mut scene = seen(false, culls, vec![square(0.0, 10.0, true), lamp]);
            scene.camera = camera(0.5 * Vec3::Y, Vec3::ZERO, Vec3::Z, 1.0);
            (scene.render.direct, scene.environment, scene.render.max_depth) = (direct, None, 2);
            is_everywhere("shines", &scene, 1 << 15, &|_| expected.into());
        }
    }
}
