//! Textures, and the picture of a sky.

use std::f32::consts::TAU;
use std::io::Cursor;

use glam::{Vec3, vec3};
use image::codecs::hdr::HdrEncoder;
use image::{ImageBuffer, ImageFormat, Luma, Pixel, PixelWithColorType, Rgb};

use super::noise::{at, fractal, value};

/// Pixels along a side of most.
const SIDE: u32 = 256;

/// The same wall as three textures.
pub(crate) struct Bricks {
    pub(crate) colors: Vec<u8>,
    pub(crate) normals: Vec<u8>,
    pub(crate) roughness: Vec<u8>,
}

/// Rows of bricks and bricks of a row.
const BRICKS: [i32; 2] = [8, 4];

pub(crate) fn bricks() -> Bricks {
    let side = SIDE as f32;
    Bricks {
        colors: png(SIDE, |x, y| {
            let Brick { row, column, face, .. } = brick(x, y);
            let grain = fractal(x / side * 32.0, y / side * 32.0, 32, 1) - 0.5;
            let fired = at(column, row, 2);
            let clay = vec3(150.0, 70.0, 50.0).lerp(vec3(112.0, 46.0, 38.0), fired)
                + vec3(24.0, 26.0, 20.0) * at(column, row, 3);
            let mortar = vec3(158.0, 150.0, 138.0);
            rgb(mortar.lerp(clay, face) + 50.0 * grain)
        }),
        normals: png(SIDE, |x, y| {
            let height = |x: f32, y: f32| brick(x.rem_euclid(side), y.rem_euclid(side)).height * 5.0;
            // Rows go down, green stands for up.
            let slopes = [height(x - 1.0, y) - height(x + 1.0, y), height(x, y + 1.0) - height(x, y - 1.0)];
            let n = vec3(slopes[0] / 2.0, slopes[1] / 2.0, 1.0).normalize();
            rgb(((n * 0.5 + 0.5) * 255.0).round())
        }),
        roughness: png(SIDE, |x, y| {
            let Brick { row, column, face, .. } = brick(x, y);
            // Some bricks have a glaze.
            let glazed = if at(column, row, 4) > 0.7 { 0.4 } else { 0.75 };
            Luma([(255.0 * (0.95 + (glazed - 0.95) * face)) as u8])
        }),
    }
}

/// The brick pattern at a pixel: which brick, how much of it rather than mortar, and how high.
struct Brick {
    row: i32,
    column: i32,
    face: f32,
    height: f32,
}

fn brick(x: f32, y: f32) -> Brick {
    let side = SIDE as f32;
    let [rows, columns] = BRICKS;
    let across = y / side * rows as f32;
    let row = across.floor() as i32;
    let along = x / side * columns as f32 + if row % 2 == 0 { 0.0 } else { 0.5 };
    let column = (along.floor() as i32).rem_euclid(columns);
    let worn = 1.6 * (fractal(x / side * 24.0, y / side * 24.0, 24, 5) - 0.5);
    // Pixels to the nearest edge.
    let edge = |t: f32, count: i32| (t - t.floor()).min(1.0 - t + t.floor()) * side / count as f32;
    let inside = edge(along, columns).min(edge(across, rows)) + worn;
    let face = ((inside - 1.2) / 1.6).clamp(0.0, 1.0);
    let dome = ((inside - 1.0) / 4.0).clamp(0.0, 1.0);
    let grain = 0.10 * fractal(x / side * 48.0, y / side * 48.0, 48, 6);
    Brick { row, column, face, height: dome * (2.0 - dome) + grain + 0.15 * at(column, row, 7) }
}

/// A floor of boards, which run along u.
pub(crate) fn planks() -> Vec<u8> {
    let side = SIDE as f32;
    png(SIDE, |x, y| {
        let across = y / side * 4.0;
        let row = across.floor() as i32;
        let along = x / side + at(row, 0, 1);
        let board = row * 7;
        let wave = value(x / side * 3.0, y / side * 8.0, 8, 9);
        let grain = fractal(x / side * 4.0, y / side * 64.0 + 6.0 * wave, 0, 20 + board as u32);
        let rings = 0.5 + 0.5 * (TAU * (3.0 * across + 2.2 * grain + 1.2 * wave)).sin();
        let wood = vec3(150.0, 98.0, 56.0).lerp(vec3(190.0, 136.0, 84.0), 0.35 * rings + 0.65 * grain);
        let tone = 0.86 + 0.24 * at(board, 3, 2);
        let gap = (across - across.floor()).min(1.0 - across + across.floor()) * side / 4.0;
        let joint = (along - along.floor()).min(1.0 - along + along.floor()) * side;
        let dark = 0.35 + 0.65 * (gap.min(joint) / 1.5).clamp(0.0, 1.0);
        rgb(wood * tone * dark)
    })
}

/// Heights of water, 0 to 1, that repeat.
pub(crate) fn ripples() -> Vec<u8> {
    const WAVES: [[f32; 4]; 7] = [
        [1.0, 3.0, 0.2, 1.0],
        [-2.0, 3.0, 0.7, 0.8],
        [3.0, 4.0, 0.4, 0.5],
        [-1.0, 6.0, 0.1, 0.4],
        [5.0, 3.0, 0.9, 0.3],
        [-4.0, 7.0, 0.5, 0.25],
        [2.0, 9.0, 0.3, 0.2],
    ];
    let total = WAVES.iter().map(|w| w[3]).sum::<f32>();
    png(96, |x, y| {
        let sum: f32 =
            WAVES.iter().map(|[a, b, at, size]| size * (TAU * ((a * x + b * y) / 96.0 + at)).sin()).sum();
        Luma([(65535.0 * (0.5 + 0.5 * sum / total)) as u16])
    })
}

/// Heights of the peel of an orange.
pub(crate) fn peel() -> Vec<u8> {
    png(128, |x, y| {
        let pores = value(x / 128.0 * 36.0, y / 128.0 * 36.0, 36, 1);
        Luma([(255.0 * (0.75 * pores.min(0.7) / 0.7 + 0.25 * value(x / 16.0, y / 16.0, 8, 2))) as u8])
    })
}

/// Width of the sky; it is half as high.
const SKY: u32 = 384;
/// Where the sun is: azimuth from −z towards +x, and height above the horizon, turns.
const SUN: [f32; 2] = [-0.19, 0.085];

/// A sky of summer with its sun above hills, as a Radiance file.
pub(crate) fn sky() -> Vec<u8> {
    let direction = |azimuth: f32, height: f32| {
        let [(sin, cos), (up, out)] = [azimuth, height].map(|t| (TAU * t).sin_cos());
        vec3(sin * out, up, -cos * out)
    };
    let sun = direction(SUN[0], SUN[1]);
    let pixels: Vec<Rgb<f32>> = (0..SKY / 2)
        .flat_map(|y| (0..SKY).map(move |x| [x, y]))
        .map(|[x, y]| {
            let [u, v] = [x, y].map(|c| (c as f32 + 0.5) / SKY as f32);
            let w = direction(u - 0.5, 0.25 - v);
            Rgb(radiance(w, u, sun).to_array())
        })
        .collect();
    let mut out = Vec::new();
    HdrEncoder::new(&mut out).encode(&pixels, SKY as usize, SKY as usize / 2).expect("memory can be written");
    out
}

fn radiance(w: Vec3, u: f32, sun: Vec3) -> Vec3 {
    let ridge = 0.05 + 0.08 * value(u * 14.0, 0.5, 14, 31);
    let near = 0.06 * value(u * 20.0, 4.5, 20, 37) - 0.02;
    if w.y < near {
        let field = fractal(u * 60.0, w.y * 30.0, 60, 41);
        return vec3(0.13, 0.2, 0.06) * (0.75 + 0.5 * field);
    }
    if w.y < ridge {
        return vec3(0.34, 0.44, 0.5) * (0.9 + 0.2 * fractal(u * 90.0, w.y * 90.0, 90, 43));
    }
    let clear = vec3(0.95, 1.05, 1.15).lerp(vec3(0.2, 0.42, 0.95), w.y.powf(0.45));
    let [a, b] = [w.x, w.z].map(|c| 1.6 * c / (w.y + 0.25) + 50.0);
    let cloud = ((fractal(a, b, 0, 51) - 0.52) * 4.0).clamp(0.0, 1.0);
    let glow = sun.dot(w).max(0.0).powi(40) * vec3(1.0, 0.85, 0.6);
    let sky = clear.lerp(Vec3::splat(1.7), 0.85 * cloud) + glow;
    // 2° across, so that several pixels share it.
    if sun.angle_between(w) < 1_f32.to_radians() { vec3(1900.0, 1600.0, 1200.0) } else { sky }
}

/// Of channels from 0 to 255.
pub(crate) fn rgb(color: Vec3) -> Rgb<u8> {
    Rgb(color.to_array().map(|c| c as u8))
}

/// A square PNG of `side` pixels.
pub(crate) fn png<P>(side: u32, pixel: impl Fn(f32, f32) -> P) -> Vec<u8>
where
    P: Pixel + PixelWithColorType,
    [P::Subpixel]: image::EncodableLayout,
{
    let image = ImageBuffer::from_fn(side, side, |x, y| pixel(x as f32, y as f32));
    let mut out = Cursor::new(Vec::new());
    image.write_to(&mut out, ImageFormat::Png).expect("memory can be written");
    out.into_inner()
}
