//! Surfaces whose shading normals face away from the viewer, and directions on whose side the two normals disagree, in
//! closed form.

use glam::Vec3;
use torrance_scene::{Description, Environment, Geometry, HiddenNormals, TriangleMesh};
use torrance_tests::closed::{camera, description, is_everywhere, shape};

const ALBEDO: f32 = 0.6;

/// A flat triangle that fills the image and reflects a uniform sky, seen along −z; its shading normal is turned by
/// `angle` from the geometric one, towards which the camera is turned by `view`.
fn tilted(angle: f32, view: f32, hidden: HiddenNormals, two_sided: bool) -> Description {
    let n = Vec3::new(angle.sin(), 0.0, angle.cos());
    let mesh = TriangleMesh {
        positions: vec![Vec3::new(-90.0, -90.0, 0.0), Vec3::new(90.0, -90.0, 0.0), Vec3::new(0.0, 90.0, 0.0)],
        normals: vec![n; 3],
        triangles: vec![[0, 1, 2]],
        ..TriangleMesh::default()
    };
    let eye = camera(4.0 * Vec3::new(view.sin(), 0.0, view.cos()), Vec3::ZERO, Vec3::Y, 5.0);
    let mut scene = description(8, eye, ALBEDO, vec![shape(Geometry::Mesh(mesh.into()), 0.0)]);
    scene.environment = Some(Environment::Constant(Vec3::ONE));
    scene.materials[0].two_sided = two_sided;
    scene.render.hidden_normals = hidden;
    scene
}

fn holds(name: &str, scene: &Description, expected: f32) {
    is_everywhere(name, scene, 1 << 14, &|_| expected.into());
}

/// All of the sky above the shading normal is reflected, though a part of it is below the surface.
#[test]
fn kept_normals_alone_decide_what_is_reflected() {
    for two_sided in [false, true] {
        holds("kept", &tilted(0.8, 0.3, HiddenNormals::Keep, two_sided), ALBEDO);
    }
    // Of a cosine lobe turned by an angle, the part (1 + cos)/2 is above the horizon (Nusselt's analog).
    let above = 0.5 * (1.0 + 0.8_f32.cos());
    holds("cut", &tilted(0.8, 0.3, HiddenNormals::Geometric, true), ALBEDO * above);
}

/// Where the viewer is behind the shading normal, he sees the back: black, or the same material.
#[test]
fn kept_normals_decide_which_side_is_seen() {
    holds("one-sided", &tilted(1.2, -0.9, HiddenNormals::Keep, false), 0.0);
    holds("two-sided", &tilted(1.2, -0.9, HiddenNormals::Keep, true), ALBEDO);
    holds("replaced", &tilted(1.2, -0.9, HiddenNormals::Geometric, false), ALBEDO);
}
