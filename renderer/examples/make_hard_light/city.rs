//! A city at night, with as many lights as asked for.

use std::f32::consts::TAU;

use glam::{Vec3, vec3};

use super::forms::{Form, add_panel, ball, block, quad, rod};
use super::mesh::Mesh;
use super::noise::Random;
use super::scene::{Camera, Material, Scene, steel};

const ABOUT: &str = "A city at night: small lights of all powers and colours, windows, street lamps, signs and strings of bulbs, most
of which no one point sees.";

/// From the middle of a street to the middle of the next, and the width of a street, metres.
const BLOCK: f32 = 34.0;
const STREET: f32 = 12.0;
/// Height of a floor, and the room that a window has.
const FLOOR: f32 = 3.3;
const WINDOW: f32 = 2.4;

const HOUSES: [(&str, Material); 7] = [
    ("brick", Material::Diffuse(vec3(0.36, 0.15, 0.1))),
    ("sand", Material::Diffuse(vec3(0.52, 0.43, 0.3))),
    ("grey", Material::Diffuse(vec3(0.38, 0.39, 0.41))),
    ("white", Material::Diffuse(vec3(0.66, 0.65, 0.62))),
    ("ochre", Material::Diffuse(vec3(0.55, 0.34, 0.14))),
    ("lacquer", Material::Plastic { color: vec3(0.05, 0.09, 0.16), alpha: 0.15 }),
    ("steel", steel(0.2)),
];

/// `wanted` lights; the city grows with them, from four blocks along each side.
pub(crate) fn city(wanted: usize) -> Scene {
    let camera = Camera { position: vec3(1.5, 12.5, 42.0), target: vec3(-0.6, 7.0, 0.0), fov: 66.0 };
    let mut scene = Scene::new("city", ABOUT, 8, camera);
    scene.sky = vec3(0.0015, 0.002, 0.005);
    scene.material("asphalt", Material::Plastic { color: vec3(0.07, 0.07, 0.075), alpha: 0.22 });
    scene.diffuse("pavement", 0.3, 0.29, 0.28);
    scene.diffuse("iron", 0.05, 0.055, 0.05);
    scene.material("pane", Material::Plastic { color: vec3(0.02, 0.025, 0.03), alpha: 0.0 });
    for (name, material) in HOUSES {
        scene.material(name, material);
    }

    // The smallest city that has a third more places for lights than it has lights.
    let (city, mut random) = (4..)
        .map(|blocks| {
            let mut random = Random::new(9);
            (City::new(blocks, &mut random), random)
        })
        .find(|(city, _)| city.lights.len() * 3 >= wanted * 4)
        .expect("it has more places the larger it is");
    let City { forms, mut lights, .. } = city;
    forms.into_iter().for_each(|(material, form)| scene.put(material, form));
    // Which of the places are dark is random: those that come last. Windows have panes then.
    for i in (1..lights.len()).rev() {
        lights.swap(i, (random.unit() * (i + 1) as f32) as usize);
    }
    let mut panes = Mesh::default();
    for (i, light) in lights.into_iter().enumerate() {
        match light {
            _ if i < wanted => scene.light(light.radiance(), light.form()),
            Light::Pane { middle, right, up, .. } => {
                add_panel(&mut panes, middle - right - up, right * 2.0, up * 2.0);
            }
            Light::Bulb { .. } => {}
        }
    }
    scene.put_mesh("pane", "panes", panes);
    scene
}

/// A place for a light.
enum Light {
    Pane { middle: Vec3, right: Vec3, up: Vec3, radiance: Vec3 },
    Bulb { center: Vec3, radius: f32, radiance: Vec3 },
}

impl Light {
    fn radiance(&self) -> Vec3 {
        let (Self::Pane { radiance, .. } | Self::Bulb { radiance, .. }) = self;
        *radiance
    }

    fn form(&self) -> Form {
        match *self {
            Self::Pane { middle, right, up, .. } => quad(middle, right, up),
            Self::Bulb { center, radius, .. } => ball(center, radius),
        }
    }
}

#[derive(Default)]
struct City {
    forms: Vec<(&'static str, Form)>,
    lights: Vec<Light>,
}

impl City {
    /// So many blocks along each side, around the crossing at the origin.
    fn new(blocks: i32, random: &mut Random) -> Self {
        let mut city = Self::default();
        let half = (blocks as f32 / 2.0 + 1.0) * BLOCK;
        city.forms.push(("asphalt", quad(Vec3::ZERO, Vec3::Z * half, Vec3::X * half)));
        for i in 0..blocks {
            for j in 0..blocks {
                // Blocks begin at a corner of the crossing; of an even number, it is the middle one.
                let at = vec3((i - blocks / 2) as f32, 0.0, (j - blocks / 2) as f32) * BLOCK;
                city.block(at + vec3(STREET, 0.0, STREET) / 2.0, random);
                city.street(at, Vec3::X, random);
                city.street(at, Vec3::Z, random);
            }
        }
        city
    }

    /// A block of four houses, by its least corner.
    fn block(&mut self, corner: Vec3, random: &mut Random) {
        let width = BLOCK - STREET;
        let pavement = block(corner, corner + vec3(width, 0.15, width));
        self.forms.push(("pavement", pavement));
        let [edge, house] = [1.8, (width - 3.6) / 2.0];
        for (i, j) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            let foot = corner + vec3(edge + i as f32 * house, 0.15, edge + j as f32 * house);
            let outwards = [vec3(i as f32 * 2.0 - 1.0, 0.0, 0.0), vec3(0.0, 0.0, j as f32 * 2.0 - 1.0)];
            self.house(foot, house, outwards, random);
        }
    }

    /// A house with windows on two sides, and a shop on the ground.
    fn house(&mut self, foot: Vec3, width: f32, sides: [Vec3; 2], random: &mut Random) {
        let floors = 3 + (random.unit() * random.unit() * 10.0) as u32;
        let height = (floors as f32 + 0.35) * FLOOR;
        let (material, _) = HOUSES[(random.unit() * HOUSES.len() as f32) as usize];
        let top = foot + vec3(width, height, width);
        self.forms.push((material, block(foot, top)));
        let cornice = vec3(0.22, 0.0, 0.22);
        self.forms.push(("grey", block(top - vec3(width, 0.4, width) - cornice, top + cornice)));
        let middle = foot + vec3(width, 0.0, width) / 2.0;
        for out in sides {
            let right = Vec3::Y.cross(out);
            let wall = middle + out * (width / 2.0 + 0.03);
            let columns = (width / WINDOW) as u32;
            for floor in 1..floors {
                for column in 0..columns {
                    let across = (column as f32 - (columns - 1) as f32 / 2.0) * WINDOW;
                    let middle = wall + right * across + Vec3::Y * (floor as f32 + 0.6) * FLOOR;
                    let radiance = window(random);
                    self.pane(middle, right * 0.6, Vec3::Y * 0.85, radiance);
                }
            }
            if random.unit() < 0.7 {
                let radiance = hue(random.unit()) * random.between(1.5, 6.0);
                let across = random.between(-1.5, 1.5);
                self.pane(wall + right * across + Vec3::Y * 3.3, right * 1.6, Vec3::Y * 0.28, radiance);
            }
            let shop = vec3(1.0, 0.8, 0.55) * random.between(0.3, 1.2);
            self.pane(wall + Vec3::Y * 1.5, right * 2.8, Vec3::Y * 1.05, shop);
        }
    }

    fn pane(&mut self, middle: Vec3, right: Vec3, up: Vec3, radiance: Vec3) {
        self.lights.push(Light::Pane { middle, right, up, radiance });
    }

    /// Lamps and strings of bulbs along a street from a crossing.
    fn street(&mut self, crossing: Vec3, along: Vec3, random: &mut Random) {
        let across = Vec3::Y.cross(along);
        for (i, side) in [(0, 1.0), (1, -1.0), (2, 1.0)] {
            let kerb = crossing
                + along * (STREET / 2.0 + 3.5 + 7.5 * i as f32)
                + across * (STREET / 2.0 + 0.4) * side;
            let tip = kerb + vec3(0.0, 5.4, 0.0) - across * 1.1 * side;
            self.forms.push(("iron", rod(kerb, kerb.with_y(5.6), 0.06)));
            self.forms.push(("iron", rod(kerb.with_y(5.6), tip.with_y(5.65), 0.04)));
            let radiance = vec3(1.0, 0.68, 0.36) * random.between(60.0, 160.0);
            self.lights.push(Light::Bulb { center: tip, radius: 0.17, radiance });
        }
        if random.unit() < 0.6 {
            let start = crossing + along * random.between(8.0, 24.0) - across * STREET / 2.0;
            let turn = random.unit();
            for i in 0..24 {
                let t = (i as f32 + 0.5) / 24.0;
                let center = start + across * STREET * t + Vec3::Y * (7.2 - 4.8 * t * (1.0 - t));
                let radiance = hue(turn + 0.25 * (i % 4) as f32) * 14.0;
                self.lights.push(Light::Bulb { center, radius: 0.07, radiance });
            }
        }
    }
}

/// Of a window: most are warm and dim, some cold, few bright.
fn window(random: &mut Random) -> Vec3 {
    let color = match random.unit() {
        x if x < 0.7 => vec3(1.0, 0.66, 0.34),
        x if x < 0.88 => vec3(1.0, 0.86, 0.66),
        _ => vec3(0.55, 0.75, 1.0),
    };
    color * 0.07 * random.between(0.0, 3.2).exp()
}

/// A colour of the rainbow, by turns.
fn hue(turn: f32) -> Vec3 {
    vec3(0.0, 2.0, 4.0).map(|shift| 0.06 + 0.94 * (0.5 + 0.5 * (turn * TAU + shift).cos()).powi(2))
}
