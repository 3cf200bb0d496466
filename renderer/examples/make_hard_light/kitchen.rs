//! A kitchen with lamps in glass.

use std::f32::consts::PI;

use glam::{Vec3, vec3};

use super::forms::{add_mesh, add_tiles, ball, block, disk, inside, rod, turned};
use super::mesh::Mesh;
use super::noise::Random;
use super::scene::{Camera, Material, Scene, copper, steel};

const ABOUT: &str = "A kitchen whose lamps are enclosed in glass, one in clear glass and one in frosted glass, each with two sides: no
surface sees a light but through these.";

const LOW: Vec3 = vec3(-2.1, 0.0, -1.7);
const HIGH: Vec3 = vec3(2.1, 2.6, 2.4);
/// Where the front of the cupboards is, and the top of the worktop.
const FRONT: f32 = -1.1;
const TOP: f32 = 0.92;

pub(crate) fn kitchen() -> Scene {
    let camera = Camera { position: vec3(0.75, 1.62, 2.2), target: vec3(-0.12, 1.12, -1.2), fov: 66.0 };
    let mut scene = Scene::new("kitchen", ABOUT, 24, camera);
    scene.diffuse("wall", 0.74, 0.71, 0.63);
    scene.diffuse("ceiling", 0.8, 0.8, 0.78);
    scene.diffuse("grout", 0.6, 0.59, 0.56);
    scene.material("worktop", Material::Plastic { color: vec3(0.1, 0.1, 0.11), alpha: 0.12 });
    scene.material("lacquer", Material::Plastic { color: vec3(0.3, 0.42, 0.4), alpha: 0.15 });
    scene.diffuse("wood", 0.45, 0.27, 0.13);
    scene.diffuse("black", 0.03, 0.03, 0.03);
    scene.diffuse("lemon", 0.75, 0.56, 0.06);
    scene.diffuse("china", 0.78, 0.77, 0.74);
    for (name, color) in [("tiles-a", vec3(0.72, 0.74, 0.7)), ("tiles-b", vec3(0.66, 0.7, 0.68))] {
        scene.material(name, Material::Plastic { color, alpha: 0.06 });
    }
    scene.diffuse("floor-a", 0.5, 0.3, 0.2);
    scene.diffuse("floor-b", 0.44, 0.25, 0.17);
    scene.material("steel", steel(0.1));
    scene.material("copper", copper(0.15));
    scene.material("glass", Material::Glass { ior: 1.5, alpha: 0.0 });
    scene.material("frosted", Material::Glass { ior: 1.5, alpha: 0.1 });

    let sides = inside(LOW, HIGH).into_iter();
    for (material, side) in ["grout", "ceiling", "wall", "wall", "wall", "wall"].into_iter().zip(sides) {
        scene.put(material, side);
    }
    tiles(&mut scene);
    cupboards(&mut scene);
    lamps(&mut scene);
    ware(&mut scene);
    table(&mut scene);
    scene
}

/// On the floor, and between the cupboards.
fn tiles(scene: &mut Scene) {
    let mut random = Random::new(4);
    let mut floor: [Mesh; 2] = Default::default();
    let corner = LOW + Vec3::Y * 0.002;
    let edges = [Vec3::Z * (HIGH.z - LOW.z), Vec3::X * (HIGH.x - LOW.x)];
    add_tiles(&mut floor, &mut random, [corner, edges[0], edges[1]], [14, 14], 0.008);
    let mut wall: [Mesh; 2] = Default::default();
    let corner = vec3(LOW.x, TOP, LOW.z + 0.003);
    let edges = [Vec3::X * (HIGH.x - LOW.x), Vec3::Y * 0.6];
    add_tiles(&mut wall, &mut random, [corner, edges[0], edges[1]], [42, 6], 0.004);
    for (name, mesh) in ["floor-a", "floor-b"].into_iter().zip(floor) {
        scene.put_mesh(name, name, mesh);
    }
    for (name, mesh) in ["tiles-a", "tiles-b"].into_iter().zip(wall) {
        scene.put_mesh(name, name, mesh);
    }
}

fn cupboards(scene: &mut Scene) {
    let back = LOW.z;
    scene.put("black", block(vec3(LOW.x, 0.0, back), vec3(HIGH.x, 0.1, FRONT - 0.06)));
    scene.put("wood", block(vec3(LOW.x, 0.1, back), vec3(HIGH.x, TOP - 0.04, FRONT - 0.02)));
    scene.put("worktop", block(vec3(LOW.x, TOP - 0.04, back), vec3(HIGH.x, TOP, FRONT + 0.02)));
    for i in 0..7 {
        let (left, right) = (LOW.x + 0.6 * i as f32 + 0.004, LOW.x + 0.6 * (i + 1) as f32 - 0.004);
        // The one below the hob is the oven.
        let fronts: &[_] =
            if i % 3 == 1 { &[[0.11, 0.38], [0.388, 0.66], [0.668, 0.87]] } else { &[[0.11, 0.87]] };
        for [low, high] in fronts {
            scene.put("lacquer", block(vec3(left, *low, FRONT - 0.02), vec3(right, *high, FRONT)));
            let y = high - 0.06;
            let [from, to] = [vec3(left + 0.2, y, FRONT + 0.03), vec3(right - 0.2, y, FRONT + 0.03)];
            scene.put("steel", rod(from, to, 0.007));
            for end in [from, to] {
                scene.put("steel", rod(end.with_z(FRONT), end, 0.007));
                scene.put("steel", ball(end, 0.007));
            }
        }
        // The hood is above the hob, and shelves at the other side.
        if i < 2 || i == 3 || i == 4 {
            scene.put("wood", block(vec3(left - 0.004, 1.52, back), vec3(right + 0.004, 2.25, back + 0.33)));
            scene.put("lacquer", block(vec3(left, 1.52, back + 0.33), vec3(right, 2.25, back + 0.35)));
            let at = vec3(right - 0.05, 1.6, back + 0.37);
            scene.put("steel", rod(at, at + Vec3::Y * 0.12, 0.006));
        }
    }
    let hob = vec3(-0.6, TOP, -1.4);
    scene.put("black", block(hob - vec3(0.28, 0.0, 0.24), hob + vec3(0.28, 0.008, 0.24)));
    scene.put("steel", block(vec3(-0.88, 1.6, back), vec3(-0.32, 1.68, back + 0.48)));
    scene.put("steel", block(vec3(-0.74, 1.68, back), vec3(-0.46, 2.6, back + 0.28)));
    for y in [1.55, 1.95] {
        scene.put("wood", block(vec3(0.95, y, back), vec3(HIGH.x, y + 0.03, back + 0.26)));
    }
    // A tap over the worktop.
    let tap = vec3(0.6, TOP, -1.55);
    let [top, tip] = [tap + Vec3::Y * 0.28, tap + vec3(0.0, 0.28, 0.2)];
    scene.put("steel", rod(tap, top, 0.015));
    scene.put("steel", rod(top, tip, 0.013));
    scene.put("steel", rod(tip, tip - Vec3::Y * 0.06, 0.013));
    scene.put_all("steel", [ball(top, 0.015), ball(tip, 0.013)]);
    scene.put("steel", block(vec3(0.32, TOP, -1.47), vec3(0.88, TOP + 0.004, -1.14)));
}

/// One of clear glass above the table, and one of frosted glass above the worktop.
fn lamps(scene: &mut Scene) {
    let lamps = [
        ("glass", "clear-shade", vec3(-0.55, 1.78, 0.25), vec3(48.0, 36.0, 22.0)),
        ("frosted", "frosted-shade", vec3(1.15, 1.86, -0.55), vec3(35.0, 29.0, 21.0)),
    ];
    for (glass, name, middle, radiance) in lamps {
        let mut shade = turned(&drop(0.15), middle);
        // The inner surface goes the other way.
        let inner: Vec<_> = drop(0.144).into_iter().rev().collect();
        add_mesh(&mut shade, &turned(&inner, middle));
        scene.put_mesh(glass, name, shade);
        scene.light(radiance, ball(middle, 0.05));
        let cap = middle + Vec3::Y * 0.186;
        scene.put("copper", rod(cap, cap + Vec3::Y * 0.07, 0.035));
        scene.put("copper", disk(cap, -Vec3::Y, 0.035));
        scene.put("copper", disk(cap + Vec3::Y * 0.07, Vec3::Y, 0.035));
        scene.put("black", rod(cap + Vec3::Y * 0.07, cap.with_y(HIGH.y), 0.004));
    }
}

/// Half of the outline of a drop, upwards.
fn drop(radius: f32) -> Vec<[f32; 2]> {
    let point = |i: u32| {
        let angle = i as f32 / 16.0 * PI;
        let stretch = 1.0 + 0.2 * (i as f32 / 16.0).powi(2);
        let r = if i.is_multiple_of(16) { 0.0 } else { radius * angle.sin() };
        [r, -radius * angle.cos() * stretch]
    };
    (0..=16).map(point).collect()
}

/// Pots, jars and fruit on the worktop and the shelves.
fn ware(scene: &mut Scene) {
    let hob = vec3(-0.6, TOP + 0.008, -1.4);
    scene.put_mesh("steel", "pot", turned(&POT, hob + vec3(-0.12, 0.0, -0.05)));
    scene.put_mesh("copper", "pan", turned(&PAN, hob + vec3(0.15, 0.0, 0.08)));
    let from = hob + vec3(0.24, 0.055, 0.13);
    scene.put("black", rod(from, from + vec3(0.17, 0.03, 0.1), 0.011));
    for (i, x) in [-1.85, -1.66, -1.47].into_iter().enumerate() {
        scene.put_mesh("glass", &format!("jar-{i}"), turned(&JAR, vec3(x, TOP, -1.5)));
        scene.put("wood", rod(vec3(x, TOP + 0.2, -1.5), vec3(x, TOP + 0.23, -1.5), 0.058));
        scene.put("wood", disk(vec3(x, TOP + 0.23, -1.5), Vec3::Y, 0.058));
    }
    for (i, x) in [1.15, 1.36, 1.57, 1.78].into_iter().enumerate() {
        scene.put_mesh("glass", &format!("glass-{i}"), turned(&GLASS, vec3(x, 1.58, -1.55)));
        scene.put_mesh("china", &format!("bowl-{i}"), turned(&BOWL, vec3(x, 1.98, -1.56)));
    }
    scene.put("wood", block(vec3(1.25, TOP, -1.6), vec3(1.75, TOP + 0.025, -1.28)));
    scene.put_mesh("china", "mug", turned(&POT, vec3(1.9, TOP, -1.45)));
    for at in [vec3(1.42, 0.0, -1.4), vec3(1.5, 0.0, -1.47), vec3(1.55, 0.0, -1.38)] {
        scene.put("lemon", ball(at + Vec3::Y * (TOP + 0.06), 0.035));
    }
}

/// A table in front, with glasses.
fn table(scene: &mut Scene) {
    let (low, high) = (vec3(-1.35, 0.72, 0.0), vec3(0.35, 0.76, 0.85));
    scene.put("wood", block(low, high));
    for (x, z) in [(-1.3, 0.05), (0.23, 0.05), (-1.3, 0.73), (0.23, 0.73)] {
        scene.put("wood", block(vec3(x, 0.0, z), vec3(x + 0.07, 0.72, z + 0.07)));
    }
    let on = |x: f32, z: f32| vec3(x, high.y, z);
    scene.put_mesh("glass", "table-glass-0", turned(&GLASS, on(-0.1, 0.25)));
    scene.put_mesh("glass", "table-glass-1", turned(&GLASS, on(-0.95, 0.45)));
    scene.put_mesh("china", "plate", turned(&PLATE, on(-0.2, 0.55)));
    scene.put_mesh("copper", "fruit-bowl", turned(&BOWL.map(|[r, y]| [r * 2.0, y * 1.6]), on(-0.6, 0.45)));
    for (x, y, z) in [(-0.65, 0.08, 0.42), (-0.56, 0.08, 0.42), (-0.6, 0.08, 0.51), (-0.605, 0.14, 0.45)] {
        scene.put("lemon", ball(on(x, z) + Vec3::Y * y, 0.04));
    }
    scene.put("steel", ball(on(0.12, 0.4) + Vec3::Y * 0.05, 0.05));
}

const POT: [[f32; 2]; 8] = [
    [0.0, 0.0],
    [0.09, 0.0],
    [0.1, 0.008],
    [0.1, 0.14],
    [0.103, 0.146],
    [0.097, 0.146],
    [0.096, 0.01],
    [0.0, 0.006],
];

const PAN: [[f32; 2]; 8] = [
    [0.0, 0.0],
    [0.1, 0.0],
    [0.112, 0.01],
    [0.125, 0.055],
    [0.128, 0.058],
    [0.122, 0.056],
    [0.108, 0.014],
    [0.0, 0.006],
];

const JAR: [[f32; 2]; 12] = [
    [0.0, 0.0],
    [0.05, 0.0],
    [0.06, 0.01],
    [0.062, 0.08],
    [0.062, 0.15],
    [0.055, 0.185],
    [0.055, 0.2],
    [0.051, 0.2],
    [0.051, 0.184],
    [0.058, 0.15],
    [0.057, 0.014],
    [0.0, 0.008],
];

const GLASS: [[f32; 2]; 16] = [
    [0.0, 0.0],
    [0.03, 0.0],
    [0.034, 0.003],
    [0.01, 0.008],
    [0.005, 0.02],
    [0.005, 0.07],
    [0.01, 0.085],
    [0.03, 0.105],
    [0.036, 0.135],
    [0.033, 0.175],
    [0.0325, 0.1765],
    [0.031, 0.175],
    [0.034, 0.135],
    [0.0275, 0.107],
    [0.01, 0.09],
    [0.0, 0.088],
];

const BOWL: [[f32; 2]; 8] = [
    [0.0, 0.0],
    [0.035, 0.0],
    [0.04, 0.005],
    [0.075, 0.04],
    [0.085, 0.075],
    [0.082, 0.076],
    [0.07, 0.042],
    [0.0, 0.008],
];

const PLATE: [[f32; 2]; 7] =
    [[0.0, 0.0], [0.07, 0.0], [0.08, 0.005], [0.13, 0.018], [0.129, 0.021], [0.08, 0.009], [0.0, 0.006]];
