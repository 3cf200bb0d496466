//! Colours as the eye compares them.

use std::sync::LazyLock;

/// Linear Rec. 709 to XYZ.
const XYZ_FROM_RGB: [[f32; 3]; 3] = [
    [0.412_386_6, 0.357_591_5, 0.180_450_5],
    [0.212_636_8, 0.715_183, 0.072_180_2],
    [0.019_330_6, 0.119_197_2, 0.950_372_6],
];

/// And back.
const RGB_FROM_XYZ: [[f32; 3]; 3] = [
    [3.241_003_2, -1.537_399, -0.498_615_9],
    [-0.969_224_3, 1.875_93, 0.041_554_2],
    [0.055_639_4, -0.204_011_2, 1.057_149],
];

/// XYZ of white: D65.
const WHITE: [f32; 3] = [0.950_428_6, 1.0, 1.088_900_4];

/// Exponent of colour differences, q_c.
const EXPONENT: f32 = 0.7;

/// Differences up to this part of the largest, p_c, …
const KNEE: f32 = 0.4;

/// … take up this part of the range, p_t.
const KNEE_VALUE: f32 = 0.95;

/// The largest difference there is, between green and blue, to the power of q_c.
static LARGEST: LazyLock<f32> =
    LazyLock::new(|| hyab(hunt(lab([0.0, 1.0, 0.0])), hunt(lab([0.0, 0.0, 1.0]))).powf(EXPONENT));

fn mul(m: &[[f32; 3]; 3], v: [f32; 3]) -> [f32; 3] {
    m.map(|row| row[0] * v[0] + row[1] * v[1] + row[2] * v[2])
}

/// Linear Rec. 709 to the opponent space in which contrast sensitivity is known: Y, Cx (red to green), Cz (blue to
/// yellow), linear in the light.
pub(super) fn ycxcz(rgb: [f32; 3]) -> [f32; 3] {
    let [x, y, z] = relative(mul(&XYZ_FROM_RGB, rgb));
    [116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)]
}

/// Relative to white.
fn relative(xyz: [f32; 3]) -> [f32; 3] {
    [xyz[0] / WHITE[0], xyz[1] / WHITE[1], xyz[2] / WHITE[2]]
}

/// The visible difference of two filtered colours in YCxCz, from 0 to 1: eqs. 7 to 10 of the paper.
pub(super) fn difference(a: [f32; 3], b: [f32; 3]) -> f32 {
    let [a, b] = [a, b].map(|c| hunt(lab(rgb_from_ycxcz(c))));
    let difference = hyab(a, b).powf(EXPONENT);
    let knee = KNEE * *LARGEST;
    if difference < knee {
        KNEE_VALUE / knee * difference
    } else {
        KNEE_VALUE + (difference - knee) / (*LARGEST - knee) * (1.0 - KNEE_VALUE)
    }
}

/// A filtered colour as linear RGB, clamped to the range of a display.
fn rgb_from_ycxcz([y, cx, cz]: [f32; 3]) -> [f32; 3] {
    let y = (y + 16.0) / 116.0;
    let xyz = [(y + cx / 500.0) * WHITE[0], y * WHITE[1], (y - cz / 200.0) * WHITE[2]];
    mul(&RGB_FROM_XYZ, xyz).map(|x| x.clamp(0.0, 1.0))
}

/// CIELAB of linear Rec. 709.
fn lab(rgb: [f32; 3]) -> [f32; 3] {
    const DELTA: f32 = 6.0 / 29.0;
    let f = |t: f32| {
        if t > DELTA * DELTA * DELTA { t.cbrt() } else { t / (3.0 * DELTA * DELTA) + 4.0 / 29.0 }
    };
    let [x, y, z] = relative(mul(&XYZ_FROM_RGB, rgb)).map(f);
    [116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)]
}

/// Colours of bright things seem more colourful (Hunt 1952): a* and b* times L*/100.
fn hunt([l, a, b]: [f32; 3]) -> [f32; 3] {
    [l, 0.01 * l * a, 0.01 * l * b]
}

/// |ΔL| + √(Δa² + Δb²) (Abasi, Tehran and Fairchild 2020).
fn hyab(a: [f32; 3], b: [f32; 3]) -> f32 {
    (a[0] - b[0]).abs() + (a[1] - b[1]).hypot(a[2] - b[2])
}
