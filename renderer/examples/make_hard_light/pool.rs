//! A pool in the sun.

use std::f32::consts::TAU;

use glam::{Vec3, vec2, vec3};

use super::forms::{add_tiles, ball, block, quad, rod};
use super::mesh::Mesh;
use super::noise::Random;
use super::scene::{Camera, Material, Scene, Sun, steel};

const ABOUT: &str = "A pool in the sun: light of a small sun through waves, which are one smooth surface, on the tiles below, and
reflected by them under the roof behind.";

/// Half of the pool's length and width, and its depth below the ground, metres.
const POOL: Vec3 = vec3(4.0, 1.5, 2.5);
/// Of the water below the ground.
const LEVEL: f32 = -0.12;
/// Squares of the water along x and z.
const SQUARES: [u32; 2] = [480, 300];

pub(crate) fn pool() -> Scene {
    let camera = Camera { position: vec3(-1.5, 2.8, 5.0), target: vec3(0.1, -0.5, -0.5), fov: 62.0 };
    let mut scene = Scene::new("pool", ABOUT, 16, camera);
    scene.sky = vec3(0.16, 0.24, 0.36);
    scene.sun = Some(Sun { direction: vec3(0.45, -1.0, -0.62), irradiance: vec3(4.2, 3.9, 3.4) });
    scene.diffuse("grout", 0.62, 0.64, 0.62);
    scene.diffuse("stone", 0.36, 0.32, 0.27);
    scene.diffuse("plaster", 0.75, 0.72, 0.66);
    scene.diffuse("wood", 0.36, 0.2, 0.1);
    scene.diffuse("cloth", 0.78, 0.76, 0.7);
    scene.diffuse("tiles-a", 0.42, 0.66, 0.7);
    scene.diffuse("tiles-b", 0.5, 0.72, 0.74);
    scene.diffuse("tiles-c", 0.34, 0.58, 0.66);
    scene.material("red", Material::Plastic { color: vec3(0.6, 0.05, 0.04), alpha: 0.05 });
    scene.material("steel", steel(0.05));
    scene.material("water", Material::Glass { ior: 1.33, alpha: 0.0 });

    // The ground around the basin, its floor, and its tiles, two millimetres thick.
    let (far, deep) = (9.0, -POOL.y - 0.3);
    scene.put("stone", block(vec3(-far, deep, -far), vec3(far, 0.0, -POOL.z)));
    scene.put("stone", block(vec3(-far, deep, POOL.z), vec3(far, 0.0, far)));
    scene.put("stone", block(vec3(-far, deep, -POOL.z), vec3(-POOL.x, 0.0, POOL.z)));
    scene.put("stone", block(vec3(POOL.x, deep, -POOL.z), vec3(far, 0.0, POOL.z)));
    scene.put("grout", block(vec3(-POOL.x, deep, -POOL.z), vec3(POOL.x, -POOL.y, POOL.z)));
    for (kind, tiles) in ["tiles-a", "tiles-b", "tiles-c"].into_iter().zip(tiles()) {
        scene.put_mesh(kind, kind, tiles);
    }
    scene.put_mesh("water", "water", water());

    // A house with a roof over the way along the pool.
    scene.put("plaster", block(vec3(-7.0, 0.0, -5.6), vec3(7.0, 3.2, -5.2)));
    scene.put("wood", block(vec3(-7.2, 2.7, -5.7), vec3(7.2, 2.82, -3.3)));
    for x in [-5.0, -1.7, 1.7, 5.0] {
        scene.put("wood", block(vec3(x - 0.07, 0.0, -3.6), vec3(x + 0.07, 2.7, -3.46)));
    }
    // A ladder, a ball and a couch.
    for z in [-1.35, -0.85] {
        let [top, back] = [vec3(POOL.x - 0.08, 0.75, z), vec3(POOL.x + 0.5, 0.75, z)];
        scene.put("steel", rod(top.with_y(-1.3), top, 0.024));
        scene.put("steel", rod(top, back, 0.024));
        scene.put("steel", rod(back, back.with_y(0.0), 0.024));
        scene.put_all("steel", [top, back].map(|joint| ball(joint, 0.024)));
    }
    for i in 0..4 {
        let at = vec3(POOL.x - 0.08, -0.1 - 0.3 * i as f32, -1.35);
        scene.put("steel", rod(at, at.with_z(-0.85), 0.018));
    }
    scene.put("red", ball(vec3(-2.6, 0.25, -3.0), 0.25));
    for (low, high) in [([0.6, 0.0], [0.68, 0.28]), ([2.3, 0.0], [2.38, 0.28])] {
        scene.put("wood", block(vec3(low[0], low[1], -4.6), vec3(high[0], high[1], -4.52)));
        scene.put("wood", block(vec3(low[0], low[1], -3.98), vec3(high[0], high[1], -3.9)));
    }
    scene.put("wood", block(vec3(0.5, 0.28, -4.65), vec3(2.5, 0.34, -3.85)));
    scene.put("cloth", block(vec3(0.52, 0.34, -4.63), vec3(2.48, 0.46, -3.87)));
    scene.put("cloth", quad(vec3(0.42, 0.68, -4.25), Vec3::Z * 0.38, vec3(-0.18, 0.3, 0.0)));
    scene
}

/// Tiles of three colours on the floor and the walls of the basin, 20 cm wide.
fn tiles() -> [Mesh; 3] {
    let mut meshes: [Mesh; 3] = Default::default();
    let mut random = Random::new(3);
    let (low, size) = (-POOL + 0.002, 2.0 * (POOL - 0.002));
    let [x, z] = [Vec3::X * size.x, Vec3::Z * size.z];
    let y = Vec3::Y * (POOL.y - 0.02);
    let walls = [
        ([low, z, x], [25, 40]),
        ([low, x, y], [40, 7]),
        ([low + x + z, -x, y], [40, 7]),
        ([low + z, -z, y], [25, 7]),
        ([low + x, z, y], [25, 7]),
    ];
    for (wall, counts) in walls {
        add_tiles(&mut meshes, &mut random, wall, counts, 0.012);
    }
    meshes
}

/// The sum of waves from many directions, with exact normals. It ends a centimetre within the walls.
fn water() -> Mesh {
    let mut random = Random::new(11);
    let waves: Vec<_> = (0..40)
        .map(|i| {
            let length = 0.3 * 1.06f32.powi(i);
            let (sin, cos) = (random.unit() * TAU).sin_cos();
            // Long waves are higher, and all about as steep.
            (vec2(cos, sin) * (TAU / length), random.unit() * TAU, 0.0036 * length)
        })
        .collect();
    let mut mesh = Mesh::default();
    let [columns, rows] = SQUARES;
    for j in 0..=rows {
        for i in 0..=columns {
            let place = vec2(i as f32 / columns as f32, j as f32 / rows as f32) * 2.0 - 1.0;
            let at = place * vec2(POOL.x + 0.01, POOL.z + 0.01);
            let (mut height, mut slope) = (0.0, vec2(0.0, 0.0));
            for (wave, phase, amplitude) in &waves {
                let (sin, cos) = (wave.dot(at) + phase).sin_cos();
                height += amplitude * sin;
                slope += *wave * (amplitude * cos);
            }
            mesh.positions.push(vec3(at.x, LEVEL + height, at.y));
            mesh.normals.push(vec3(-slope.x, 1.0, -slope.y).normalize());
        }
    }
    for j in 0..rows {
        for i in 0..columns {
            let a = j * (columns + 1) + i;
            let b = a + columns + 1;
            mesh.triangles.extend([[a, b, b + 1], [a, b + 1, a + 1]]);
        }
    }
    mesh
}
