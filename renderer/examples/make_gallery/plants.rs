//! Hills, and what grows on them.

use std::f32::consts::TAU;

use glam::{Vec3, vec3};

use super::mesh::{Mesh, floats};
use super::noise::{Random, fractal, value};

/// Half the side of the land, metres.
const EXTENT: f32 = 110.0;
/// Squares along a side of it.
const SQUARES: u32 = 72;
/// Where plants are sown from: below the camera of the scene.
const EYE: [f32; 2] = [0.0, 46.0];

/// Metres above the stream's bed in the middle of the valley.
fn height(x: f32, z: f32) -> f32 {
    let bend = x - 6.0 * (z * 0.045).sin();
    let slopes = 26.0 * smoothstep(12.0, 95.0, bend.abs()) + 20.0 * smoothstep(0.0, 110.0, -z);
    let rolling = 9.0 * fractal(x * 0.022 + 40.0, z * 0.022 + 40.0, 0, 1);
    rolling * smoothstep(4.0, 50.0, bend.abs().max(0.6 * (EYE[1] - z)))
        + slopes
        + 0.5 * value(x * 0.2, z * 0.2, 0, 2)
}

fn smoothstep(low: f32, high: f32, x: f32) -> f32 {
    let t = ((x - low) / (high - low)).clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}

fn mix(a: [f32; 3], b: [f32; 3], t: f32) -> [u8; 3] {
    std::array::from_fn(|c| (a[c] + (b[c] - a[c]) * t).clamp(0.0, 255.0) as u8)
}

/// The land: grass, greener in the valley.
pub(crate) fn hills() -> Mesh {
    let mut mesh = Mesh::default();
    for j in 0..=SQUARES {
        for i in 0..=SQUARES {
            let [x, z] = [i, j].map(|k| EXTENT * (2.0 * k as f32 / SQUARES as f32 - 1.0));
            mesh.positions.push(vec3(x, height(x, z), z));
            let dry = 0.7 * fractal(x * 0.06, z * 0.06, 0, 9) + 0.3 * value(x, z, 0, 4);
            mesh.colors.push(mix([74.0, 98.0, 34.0], [150.0, 142.0, 70.0], dry));
        }
    }
    let row = SQUARES + 1;
    for a in (0..SQUARES).flat_map(|j| (0..SQUARES).map(move |i| j * row + i)) {
        mesh.triangles.extend([[a, a + row, a + 1], [a + 1, a + row, a + row + 1]]);
    }
    mesh
}

/// A spruce 10 m high: whorls of branches that hang, with twigs on both sides.
pub(crate) fn spruce() -> Mesh {
    let mut mesh = Mesh::default();
    let mut random = Random::new(11);
    cone(&mut mesh, [70, 52, 38], 0.16, 9.6);
    for whorl in 0..17 {
        let up = (whorl as f32 + 0.5) / 17.0;
        let length = 2.3 * (1.0 - up).powf(0.85) + 0.12;
        let branches = 8 - whorl / 4;
        for b in 0..branches {
            let angle = (b as f32 + random.between(-0.3, 0.3) + 0.5 * whorl as f32) / branches as f32 * TAU;
            let out = vec3(angle.cos(), 0.0, angle.sin());
            let side = vec3(-out.z, 0.0, out.x);
            let root = Vec3::Y * (1.0 + 8.8 * up + random.between(-0.1, 0.1));
            let reach = length * random.between(0.8, 1.1);
            // Down, and up again at its tip.
            let on = |t: f32| root + out * (reach * t) - Vec3::Y * (0.55 * reach * (t - 0.45 * t * t));
            let shade = random.unit();
            let dark = mix([30.0, 54.0, 24.0], [44.0, 70.0, 36.0], shade);
            let light = mix([62.0, 92.0, 44.0], [84.0, 116.0, 58.0], shade);
            for twig in 0..4 {
                let t = 0.12 + 0.22 * twig as f32;
                let wide = reach * 0.3 * (1.15 - t);
                for s in [-1.0, 1.0] {
                    let tip = on((t + 0.3).min(1.0)) + side * (s * wide) - Vec3::Y * (0.25 * wide);
                    mesh.shaded_polygon(&[(on(t - 0.12), dark), (tip, light), (on(t + 0.16), dark)]);
                }
            }
        }
    }
    mesh
}

/// A birch 8 m high: a white stem, and leaves around a few places of its crown.
pub(crate) fn birch() -> Mesh {
    let mut mesh = Mesh::default();
    let mut random = Random::new(5);
    cone(&mut mesh, [214, 208, 196], 0.13, 7.2);
    for _ in 0..14 {
        let up = random.between(2.6, 7.0);
        let angle = random.unit() * TAU;
        let out = random.between(0.1, 1.5) * (1.0 - ((up - 4.4) / 4.2).abs()).max(0.15);
        let middle = vec3(out * angle.cos(), up, out * angle.sin());
        for _ in 0..52 {
            let direction = direction(&mut random);
            let center = middle + direction * vec3(0.85, 0.65, 0.85) * random.unit().sqrt();
            let along = self::direction(&mut random) * random.between(0.12, 0.2);
            let across = along.cross(self::direction(&mut random)).normalize_or_zero() * 0.09;
            let light = 0.3 + 0.5 * (0.5 + 0.5 * direction.y) + 0.2 * random.unit();
            let color = mix([58.0, 78.0, 22.0], [150.0, 168.0, 62.0], light);
            mesh.polygon(color, &[center - along, center + across, center + along, center - across]);
        }
    }
    mesh
}

fn direction(random: &mut Random) -> Vec3 {
    let y = random.between(-1.0, 1.0);
    let (sin, cos) = (random.unit() * TAU).sin_cos();
    let r = (1.0 - y * y).sqrt();
    vec3(r * cos, y, r * sin)
}

/// A stem from the ground to a point.
fn cone(mesh: &mut Mesh, color: [u8; 3], radius: f32, height: f32) {
    let foot = |i: u32| {
        let (sin, cos) = (i as f32 / 7.0 * TAU).sin_cos();
        vec3(radius * cos, -0.3, radius * sin)
    };
    for i in 0..7 {
        mesh.polygon(color, &[foot(i + 1), foot(i), Vec3::Y * height]);
    }
}

/// A tuft of grass: bent blades, light at their tips.
pub(crate) fn grass() -> Mesh {
    let mut mesh = Mesh::default();
    let mut random = Random::new(3);
    for _ in 0..42 {
        let [turn, lean] = [random.unit() * TAU, random.unit() * TAU];
        let root = vec3(turn.cos(), 0.0, turn.sin()) * (0.3 * random.unit().sqrt());
        let bend = vec3(lean.cos(), 0.0, lean.sin()) * random.between(0.05, 0.28);
        let up = Vec3::Y * random.between(0.22, 0.5);
        let side = vec3(-lean.sin(), 0.0, lean.cos()) * 0.009;
        let dry = random.unit().powi(2);
        let low = mix([44.0, 68.0, 18.0], [92.0, 88.0, 38.0], dry);
        let high = mix([128.0, 152.0, 58.0], [196.0, 180.0, 108.0], dry);
        let middle = root + up * 0.6 + bend * 0.35;
        mesh.shaded_polygon(&[
            (root - side - Vec3::Y * 0.05, low),
            (root + side - Vec3::Y * 0.05, low),
            (middle + side, high),
            (root + up + bend, high),
            (middle - side, high),
        ]);
    }
    mesh
}

/// A flower half a metre high, with petals around a yellow middle.
pub(crate) fn flower(color: [u8; 3], petals: u32, size: f32) -> Mesh {
    let mut mesh = Mesh::default();
    let top = vec3(0.04, 0.5, 0.02);
    let stem = vec3(0.006, 0.0, 0.0);
    mesh.polygon([70, 104, 36], &[-stem, stem, top + stem, top - stem]);
    let rim = |turn: f32, r: f32, up: f32| {
        let (sin, cos) = (turn / petals as f32 * TAU).sin_cos();
        top + vec3(r * cos, up, r * sin)
    };
    for p in 0..petals {
        let t = p as f32;
        let corners = [
            rim(t, 0.1 * size, 0.0),
            rim(t - 0.42, 0.75 * size, 0.3 * size),
            rim(t - 0.2, size, 0.38 * size),
            rim(t + 0.2, size, 0.38 * size),
            rim(t + 0.42, 0.75 * size, 0.3 * size),
        ];
        mesh.polygon(color, &corners);
    }
    let middle: Vec<_> = (0..petals).map(|p| rim(p as f32, 0.28 * size, 0.16 * size)).collect();
    mesh.polygon([196, 150, 30], &middle);
    mesh
}

/// Files of transforms: the first three rows of each matrix.
pub(crate) struct Meadow {
    pub(crate) spruces: Vec<u8>,
    pub(crate) birches: Vec<u8>,
    pub(crate) grass: Vec<u8>,
    pub(crate) flowers: Vec<u8>,
}

pub(crate) fn meadow() -> Meadow {
    let mut random = Random::new(2024);
    let clearing = |x: f32, z: f32| (x - 6.0 * (z * 0.045).sin()).abs();
    let woods = |x: f32, z: f32| fractal(x * 0.03 + 9.0, z * 0.03, 0, 6) + 0.012 * clearing(x, z) - 0.003 * z;
    let far = |x: f32, z: f32| (x - EYE[0]).hypot(z - EYE[1]) > 17.0 && z < EYE[1] - 6.0;
    Meadow {
        spruces: sow(&mut random, 2000, 0.16, [0.55, 1.25], |r| {
            let (x, z) = (r.between(-105.0, 105.0), r.between(-105.0, 45.0));
            (far(x, z) && clearing(x, z) > 9.0 && woods(x, z) > 0.72).then_some([x, z])
        }),
        birches: sow(&mut random, 420, 0.1, [0.5, 1.15], |r| {
            let (x, z) = (r.between(-60.0, 60.0), r.between(-70.0, 40.0));
            (far(x, z) && clearing(x, z) > 6.0 && (0.58..0.76).contains(&woods(x, z))).then_some([x, z])
        }),
        grass: sow(&mut random, 8000, 0.2, [0.6, 1.5], |r| Some(ahead(r, 60.0))),
        flowers: sow(&mut random, 1800, 0.25, [0.7, 1.2], |r| {
            let [x, z] = ahead(r, 45.0);
            (value(x * 0.35, z * 0.35, 0, 8) > 0.55).then_some([x, z])
        }),
    }
}

/// A place on the land before the eye, more often near it.
fn ahead(random: &mut Random, reach: f32) -> [f32; 2] {
    let distance = 1.6 + reach * random.unit().powf(1.6);
    let (sin, cos) = random.between(-0.62, 0.62).sin_cos();
    [EYE[0] + distance * sin, EYE[1] - distance * cos]
}

/// Transforms to `count` of the places that `place` finds, with random sizes and turns.
fn sow(
    random: &mut Random,
    count: usize,
    lean: f32,
    [small, large]: [f32; 2],
    place: impl Fn(&mut Random) -> Option<[f32; 2]>,
) -> Vec<u8> {
    let mut out = Vec::new();
    let mut sown = 0;
    while sown < count {
        let Some([x, z]) = place(random) else { continue };
        let size = random.between(small, large);
        let (sin, cos) = (random.unit() * TAU).sin_cos();
        let [a, b] = [0; 2].map(|_| lean * size * random.between(-0.5, 0.5));
        let (s, c) = (size * sin, size * cos);
        out.extend(floats(&[c, a, s, x, 0.0, size, 0.0, height(x, z), -s, b, c, z]));
        sown += 1;
    }
    out
}
