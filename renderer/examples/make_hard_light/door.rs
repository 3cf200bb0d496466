//! A room that is lit through a door ajar, as that of Veach (1997).

use glam::{Vec3, vec3};

use super::forms::{ball, block, disk, inside, quad, rod, turned, turned_block};
use super::scene::{Camera, Material, Scene, copper, steel};

const ABOUT: &str = "A room that is lit through a door ajar, as Veach's: the lamp beyond shines on one wall there, and that on one
wall here, so that most of the light has met two walls before it comes to anything.";

/// Corners of the room, and of the one beyond.
const ROOM: [Vec3; 2] = [vec3(-2.6, 0.0, -2.5), vec3(2.4, 2.7, 2.2)];
const BEYOND: [Vec3; 2] = [vec3(-2.6, 0.0, -5.4), vec3(2.4, 2.7, -2.62)];
/// Where the doorway begins and ends, its height, and by how much the door is open, degrees.
const DOORWAY: [f32; 2] = [0.55, 1.45];
const HEIGHT: f32 = 2.05;
const OPEN: f32 = 9.0;

pub(crate) fn door() -> Scene {
    let camera = Camera { position: vec3(-1.45, 1.45, 1.6), target: vec3(0.2, 0.88, -1.6), fov: 63.0 };
    let mut scene = Scene::new("door", ABOUT, 16, camera);
    scene.diffuse("wall", 0.72, 0.7, 0.64);
    scene.diffuse("ceiling", 0.8, 0.8, 0.78);
    scene.diffuse("boards", 0.38, 0.24, 0.14);
    scene.diffuse("wood", 0.42, 0.26, 0.13);
    scene.diffuse("paint", 0.55, 0.62, 0.6);
    scene.diffuse("china", 0.75, 0.74, 0.7);
    scene.diffuse("picture", 0.2, 0.3, 0.42);
    scene.diffuse("iron", 0.06, 0.06, 0.06);
    scene.material("copper", copper(0.2));
    scene.material("steel", steel(0.08));
    scene.material("plastic", Material::Plastic { color: vec3(0.08, 0.3, 0.16), alpha: 0.1 });
    scene.material("glass", Material::Glass { ior: 1.5, alpha: 0.0 });

    for [low, high] in [ROOM, BEYOND] {
        let materials = ["boards", "ceiling", "wall", "wall", "wall", "wall"];
        // The wall between the rooms is made of blocks.
        let between = if low == ROOM[0] { 4 } else { 5 };
        for (i, side) in inside(low, high).into_iter().enumerate().filter(|(i, _)| *i != between) {
            scene.put(materials[i], side);
        }
    }
    let [front, back] = [ROOM[0].z, BEYOND[1].z];
    let [left, right] = DOORWAY;
    scene.put("wall", block(vec3(ROOM[0].x, 0.0, back), vec3(left, 2.7, front)));
    scene.put("wall", block(vec3(right, 0.0, back), vec3(ROOM[1].x, 2.7, front)));
    scene.put("wall", block(vec3(left, HEIGHT, back), vec3(right, 2.7, front)));
    scene.put("boards", block(vec3(left, -0.02, back), vec3(right, 0.0, front)));
    for x in [left - 0.08, right] {
        scene.put("paint", block(vec3(x, 0.0, front), vec3(x + 0.08, HEIGHT + 0.08, front + 0.02)));
    }
    scene.put("paint", block(vec3(left, HEIGHT, front), vec3(right, HEIGHT + 0.08, front + 0.02)));
    // The door turns around its left edge, into this room.
    let (sin, cos) = OPEN.to_radians().sin_cos();
    let leaf = vec3(cos, 0.0, sin);
    let hinge = vec3(left, 0.005, front + 0.02);
    let width = right - left - 0.005;
    let size = vec3(width, HEIGHT - 0.01, 0.04);
    scene.put("paint", turned_block(hinge + leaf * (width / 2.0), size, -OPEN));
    let outwards = vec3(-sin, 0.0, cos);
    for y in [0.2, 1.12] {
        let size = vec3(width - 0.26, 0.75, 0.012);
        scene.put(
            "paint",
            turned_block(hinge + leaf * (width / 2.0) + outwards * 0.022 + Vec3::Y * y, size, -OPEN),
        );
    }
    let handle = hinge + leaf * (width - 0.08) + Vec3::Y * 1.02;
    scene.put("steel", rod(handle, handle + outwards * 0.07, 0.011));
    scene.put("steel", rod(handle + outwards * 0.07, handle + outwards * 0.07 - leaf * 0.12, 0.011));
    scene.put("steel", ball(handle + outwards * 0.07, 0.011));

    // The lamp shines away from the gap, on the left wall beyond.
    let lamp = vec3(-1.1, 1.35, -3.7);
    scene.light(vec3(130.0, 110.0, 82.0), quad(lamp, Vec3::Z * 0.2, Vec3::Y * 0.2));
    scene.put("iron", block(lamp + vec3(0.005, -0.22, -0.22), lamp + vec3(0.06, 0.22, 0.22)));
    scene.put("iron", rod(vec3(lamp.x + 0.03, 0.0, lamp.z), lamp + vec3(0.03, -0.22, 0.0), 0.02));

    // A table, and what is on it.
    let table = vec3(-0.35, 0.74, -0.9);
    scene.put("wood", block(table - vec3(0.85, 0.04, 0.45), table + vec3(0.85, 0.0, 0.45)));
    for (x, z) in [(-0.78, -0.38), (0.78, -0.38), (-0.78, 0.38), (0.78, 0.38)] {
        let foot = vec3(table.x + x, 0.0, table.z + z);
        scene.put("wood", block(foot - vec3(0.035, 0.0, 0.035), foot + vec3(0.035, 0.7, 0.035)));
    }
    scene.put_mesh("copper", "copper-pot", turned(&POT, table + vec3(-0.42, 0.0, 0.05)));
    scene.put("copper", ball(table + vec3(-0.42, 0.235, 0.05), 0.02));
    scene.put_mesh("plastic", "plastic-pot", turned(&POT, table + vec3(0.08, 0.0, 0.2)));
    scene.put("plastic", ball(table + vec3(0.08, 0.235, 0.2), 0.02));
    scene.put_mesh("china", "china-pot", turned(&POT, table + vec3(0.48, 0.0, -0.08)));
    scene.put("china", ball(table + vec3(0.48, 0.235, -0.08), 0.02));
    scene.put("glass", ball(table + vec3(-0.2, 0.07, 0.3), 0.07));
    scene.put("steel", ball(table + vec3(0.3, 0.05, 0.33), 0.05));
    // A stool, a picture and a chest.
    let stool = vec3(1.35, 0.45, -0.35);
    scene.put("wood", disk(stool, Vec3::Y, 0.18));
    scene.put("wood", rod(stool - Vec3::Y * 0.03, stool, 0.18));
    for (x, z) in [(-0.11, -0.09), (0.11, -0.09), (0.0, 0.13)] {
        scene.put(
            "wood",
            rod(vec3(stool.x + 1.3 * x, 0.0, stool.z + 1.3 * z), stool + vec3(x, 0.0, z), 0.016),
        );
    }
    scene.put("wood", block(vec3(-1.45, 1.25, front), vec3(-0.35, 2.0, front + 0.03)));
    scene.put("picture", block(vec3(-1.39, 1.31, front), vec3(-0.41, 1.94, front + 0.035)));
    scene.put("paint", block(vec3(-2.6, 0.0, -2.4), vec3(-2.1, 0.8, -1.2)));
    scene.put("wood", block(vec3(-2.6, 0.8, -2.42), vec3(-2.07, 0.84, -1.18)));
    for [low, high] in [[-2.6, left - 0.08], [right + 0.08, 2.4]] {
        scene.put("paint", block(vec3(low, 0.0, front), vec3(high, 0.09, front + 0.015)));
    }
    scene
}

/// A pot with its lid.
const POT: [[f32; 2]; 11] = [
    [0.0, 0.0],
    [0.07, 0.0],
    [0.08, 0.005],
    [0.115, 0.05],
    [0.125, 0.1],
    [0.11, 0.15],
    [0.08, 0.18],
    [0.085, 0.187],
    [0.075, 0.195],
    [0.04, 0.212],
    [0.0, 0.218],
];
