//! A knot of a glowing tube.

use std::f32::consts::TAU;

use glam::{Vec3, vec3};

use super::forms::{ball, block, quad, rod, turned, turned_block};
use super::mesh::Mesh;
use super::scene::{Camera, Material, Scene, gold};

const ABOUT: &str = "A knot of a glowing tube, 100 000 triangles that all shine alike, over a floor with things that hide parts of
it from each other.";

/// Pieces along the tube and around it: 100 000 triangles.
const PIECES: [u32; 2] = [2500, 20];
const RADIUS: f32 = 0.035;

pub(crate) fn glow() -> Scene {
    let camera = Camera { position: vec3(0.4, 2.3, 5.7), target: vec3(0.0, 0.98, 0.0), fov: 48.0 };
    let mut scene = Scene::new("glow", ABOUT, 10, camera);
    scene.diffuse("floor", 0.5, 0.47, 0.43);
    scene.diffuse("wall", 0.4, 0.44, 0.5);
    scene.diffuse("stone", 0.68, 0.65, 0.6);
    scene.diffuse("clay", 0.62, 0.26, 0.15);
    scene.material("glaze", Material::Plastic { color: vec3(0.06, 0.25, 0.4), alpha: 0.08 });
    scene.material("gold", gold(0.12));

    scene.put("floor", quad(Vec3::ZERO, Vec3::Z * 8.0, Vec3::X * 8.0));
    scene.put("wall", quad(vec3(0.0, 4.0, -2.6), Vec3::X * 8.0, Vec3::Y * 4.0));
    let light = scene.file("knot", knot());
    scene.light(vec3(5.0, 3.1, 1.5), light);
    // What shields the floor from the knot: a table below it, and screens.
    scene.put("stone", turned_block(Vec3::ZERO, vec3(1.1, 0.28, 1.1), 20.0));
    scene.put("stone", turned_block(vec3(-1.9, 0.0, 0.5), vec3(0.12, 0.9, 1.1), 25.0));
    scene.put("stone", turned_block(vec3(1.75, 0.0, -0.5), vec3(0.12, 1.5, 0.9), -20.0));
    for i in 0..7 {
        let at = vec3(-2.7 + 0.9 * i as f32, 0.0, -1.9);
        scene.put("stone", rod(at, at + Vec3::Y * 2.2, 0.13));
    }
    scene.put("stone", block(vec3(-3.1, 2.2, -2.1), vec3(3.1, 2.42, -1.7)));
    scene.put("gold", ball(vec3(-2.25, 0.26, 0.75), 0.26));
    scene.put("clay", ball(vec3(-1.25, 0.22, 1.35), 0.22));
    scene.put("glaze", ball(vec3(2.3, 0.34, -0.7), 0.34));
    scene.put("clay", turned_block(vec3(1.2, 0.0, 1.4), vec3(0.34, 0.34, 0.34), 33.0));
    scene.put_mesh("glaze", "vase", turned(&VASE, vec3(0.45, 0.0, 1.75)));
    scene.put_mesh("gold", "bowl", turned(&BOWL, vec3(1.75, 0.0, 0.75)));
    scene
}

/// A (2, 3) knot on a torus, upright; its frame turns with the torus, so that the tube closes.
fn knot() -> Mesh {
    let [along, around] = PIECES;
    let curve = |t: f32| {
        let r = 0.62 + 0.26 * (3.0 * t).cos();
        vec3(r * (2.0 * t).cos(), r * (2.0 * t).sin(), 0.26 * (3.0 * t).sin())
    };
    let mut mesh = Mesh::default();
    for i in 0..along {
        let t = i as f32 / along as f32 * TAU;
        let tangent = (curve(t + 1e-3) - curve(t - 1e-3)).normalize();
        let out = curve(t) - vec3((2.0 * t).cos(), (2.0 * t).sin(), 0.0) * 0.62;
        let across = (out - tangent * out.dot(tangent)).normalize();
        let other = tangent.cross(across);
        for j in 0..around {
            let (sin, cos) = (j as f32 / around as f32 * TAU).sin_cos();
            mesh.positions.push(curve(t) + (across * cos + other * sin) * RADIUS + Vec3::Y * 1.28);
            let next = |i: u32, j: u32| (i % along) * around + j % around;
            let [a, b, c, d] = [next(i, j), next(i + 1, j), next(i + 1, j + 1), next(i, j + 1)];
            mesh.triangles.extend([[a, c, b], [a, d, c]]);
        }
    }
    mesh
}

const VASE: [[f32; 2]; 12] = [
    [0.0, 0.0],
    [0.1, 0.0],
    [0.12, 0.02],
    [0.17, 0.12],
    [0.2, 0.24],
    [0.17, 0.38],
    [0.09, 0.48],
    [0.075, 0.55],
    [0.11, 0.62],
    [0.1, 0.622],
    [0.06, 0.55],
    [0.07, 0.47],
];

const BOWL: [[f32; 2]; 10] = [
    [0.0, 0.0],
    [0.11, 0.0],
    [0.12, 0.02],
    [0.22, 0.07],
    [0.31, 0.16],
    [0.35, 0.26],
    [0.335, 0.262],
    [0.29, 0.165],
    [0.2, 0.085],
    [0.0, 0.05],
];
