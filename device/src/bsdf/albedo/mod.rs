//! Tables of the energy that single scattering between microfacets loses: 1 − E(μ, α), E being the directional albedo of
//! isotropic facets of correlated height that reflect everything, and μ the cosine of the direction. Roughness beyond α = 1
//! is taken for 1.

mod tables;

use super::microfacet::{Distribution, Microfacet};
use crate::arch::{max, min, sqrt};

/// Number of table points along α and along μ.
pub const SIZE: usize = 32;

/// Losses are stored as multiples of this.
pub const UNIT: f32 = 1.0 / 65_535.0;

/// Energy losses at `SIZE` roughnesses α from 0 to 1, by cosine and averaged over cosines.
#[derive(Clone, Copy, Debug)]
pub struct Losses {
    /// By (α, place), see [`place`].
    pub directional: [[u16; SIZE]; SIZE],
    /// ∫ 2μ (1 − E(μ)) dμ by √α, of what is interpolated: losses are divided by it, and it is as small as α².
    pub average: [f32; SIZE],
}

/// The table for a distribution.
#[inline(always)]
pub const fn losses(distribution: Distribution) -> &'static Losses {
    match distribution {
        Distribution::Ggx => &tables::GGX,
        Distribution::Beckmann => &tables::BECKMANN,
    }
}

/// Table coordinate of a cosine, in [0, 1], which resolves the small cosines at which small α lose energy. Its inverse is
/// [`cosine`].
#[inline(always)]
pub fn place(distribution: Distribution, alpha: f32, mu: f32) -> f32 {
    sqrt(mu / max(mu + spread(distribution) * alpha * (1.0 - mu), f32::MIN_POSITIVE))
}

/// Cosine at a table coordinate.
#[inline(always)]
pub fn cosine(distribution: Distribution, alpha: f32, place: f32) -> f32 {
    let (t, scale) = (place * place, spread(distribution) * alpha);
    t * scale / max(1.0 - t + t * scale, f32::MIN_POSITIVE)
}

#[inline(always)]
const fn spread(distribution: Distribution) -> f32 {
    match distribution {
        Distribution::Ggx => 1.0,
        Distribution::Beckmann => 2.0,
    }
}

/// 1 − E(μ, α).
#[inline(always)]
pub fn loss(distribution: Distribution, alpha: f32, mu: f32) -> f32 {
    let table = &losses(distribution).directional;
    let alpha = min(alpha, 1.0);
    let ((i, a), (j, b)) = (cell(alpha, SIZE), cell(place(distribution, alpha, min(mu, 1.0)), SIZE));
    let row = |row: &[u16; SIZE]| mix(row[j], row[j + 1], b);
    (row(&table[i]) * (1.0 - a) + row(&table[i + 1]) * a) * UNIT
}

/// ∫ 2μ (1 − E(μ, α)) dμ.
#[inline(always)]
pub fn loss_average(distribution: Distribution, alpha: f32) -> f32 {
    let table = &losses(distribution).average;
    let (i, a) = cell(sqrt(min(alpha, 1.0)), SIZE);
    table[i] * (1.0 - a) + table[i + 1] * a
}

/// The roughness of an isotropic surface that loses about as much.
#[inline(always)]
pub fn isotropic(microfacet: &Microfacet) -> f32 {
    sqrt(microfacet.alpha.x * microfacet.alpha.y)
}

/// Coefficients along the index of refraction, along √α and along μ, of quadratic B-splines.
pub const DIELECTRIC_SIZE: [usize; 3] = [12, 14, 24];

/// Coefficients are stored as multiples of this; they lie between −0.1 and 1.3.
pub const DIELECTRIC_UNIT: f32 = 1.0 / 16_384.0;

/// Energy losses of dielectrics with GGX facets, seen from the side of the lower index or of the higher.
#[derive(Clone, Copy, Debug)]
pub struct DielectricLosses {
    /// By (index, √α, place), see [`dielectric_place`].
    pub directional: [[[i16; DIELECTRIC_SIZE[2]]; DIELECTRIC_SIZE[1]]; DIELECTRIC_SIZE[0]],
    /// ∫ 2μ (1 − E(μ)) dμ / α by (index, √α), of what is interpolated.
    pub average: [[f32; DIELECTRIC_SIZE[1]]; DIELECTRIC_SIZE[0]],
}

/// The table for light that comes from the side of the lower index, or from that of the higher.
#[inline(always)]
pub const fn dielectric_losses(from_lower: bool) -> &'static DielectricLosses {
    if from_lower { &tables::FROM_LOWER } else { &tables::FROM_HIGHER }
}

/// Table coordinate, in [0, 1], of an index of refraction from 1.01 to 3: linear in √(2 (η − 1)/(η + 1)).
#[inline(always)]
fn index_place(eta: f32) -> f32 {
    // That of 1.01.
    const LEAST: f32 = 0.099_750_93;
    min((sqrt(2.0 * max(eta - 1.0, 0.0) / (eta + 1.0)) - LEAST) / (1.0 - LEAST), 1.0)
}

/// Smallest α in the tables of dielectrics.
pub const LEAST_DIELECTRIC_ALPHA: f32 = 0.01;

/// Table coordinate, in [0, 1], of a roughness α from [`LEAST_DIELECTRIC_ALPHA`] to 1.
#[inline(always)]
fn alpha_place(alpha: f32) -> f32 {
    (sqrt(min(alpha, 1.0)) - 0.1) / 0.9
}

/// As [`place`], for dielectrics. From the side of the higher index, cosines within some α of that where total
/// reflection begins are spread as well: losses bend there, and wherever it is, it has its place.
#[inline(always)]
pub fn dielectric_place(alpha: f32, eta: f32, mu: f32) -> f32 {
    let grazing = sqrt(mu / max(mu + 1.5 * alpha * (1.0 - mu), f32::MIN_POSITIVE));
    if eta >= 1.0 {
        return grazing;
    }
    let critical = sqrt(1.0 - eta * eta);
    let (least, most) = (step(-critical, alpha), step(1.0 - critical, alpha));
    let part = (step(mu - critical, alpha) - least) / max(most - least, f32::MIN_POSITIVE);
    (grazing + 0.6 * part) / 1.6
}

/// From −1 to 1, most of it within ±`width`.
#[inline(always)]
fn step(x: f32, width: f32) -> f32 {
    x / sqrt(max(x * x + width * width, f32::MIN_POSITIVE))
}

/// 1 − E(μ, α, η) of a dielectric with facets of GGX, reflected and transmitted light together, to 0.002; for α of 0.02
/// or more and η in [⅓, 3], but within 0.02 of 1.
#[inline(always)]
pub fn dielectric_loss(alpha: f32, eta: f32, mu: f32) -> f32 {
    let table = &dielectric_losses(eta > 1.0).directional;
    let [ne, na, nm] = DIELECTRIC_SIZE;
    let alpha = min(alpha, 1.0);
    let (e, x) = knots(index_place(max(eta, 1.0 / eta)), ne);
    let (i, a) = knots(alpha_place(alpha), na);
    let (j, b) = knots(dielectric_place(alpha, eta, min(mu, 1.0)), nm);
    let planes = [
        in_plane(&table[e], [i, j], [a, b]),
        in_plane(&table[e + 1], [i, j], [a, b]),
        in_plane(&table[e + 2], [i, j], [a, b]),
    ];
    min(max(weighted(planes, x) * DIELECTRIC_UNIT, 0.0), 1.0)
}

#[inline(always)]
fn in_plane(
    plane: &[[i16; DIELECTRIC_SIZE[2]]; DIELECTRIC_SIZE[1]],
    [i, j]: [usize; 2],
    [a, b]: [[f32; 3]; 2],
) -> f32 {
    weighted([in_row(&plane[i], j, b), in_row(&plane[i + 1], j, b), in_row(&plane[i + 2], j, b)], a)
}

#[inline(always)]
fn in_row(row: &[i16; DIELECTRIC_SIZE[2]], j: usize, b: [f32; 3]) -> f32 {
    weighted([f32::from(row[j]), f32::from(row[j + 1]), f32::from(row[j + 2])], b)
}

/// ∫ 2μ (1 − E(μ, α, η)) dμ.
#[inline(always)]
pub fn dielectric_loss_average(alpha: f32, eta: f32) -> f32 {
    let table = &dielectric_losses(eta > 1.0).average;
    let alpha = min(alpha, 1.0);
    let (e, x) = knots(index_place(max(eta, 1.0 / eta)), DIELECTRIC_SIZE[0]);
    let (i, a) = knots(alpha_place(alpha), DIELECTRIC_SIZE[1]);
    let rows = [
        weighted([table[e][i], table[e][i + 1], table[e][i + 2]], a),
        weighted([table[e + 1][i], table[e + 1][i + 1], table[e + 1][i + 2]], a),
        weighted([table[e + 2][i], table[e + 2][i + 1], table[e + 2][i + 2]], a),
    ];
    max(weighted(rows, x), 0.0) * alpha
}

/// The first of the three quadratic B-splines, of `n` with uniform knots, that are not zero at `x` in [0, 1]; and these.
#[inline(always)]
fn knots(x: f32, n: usize) -> (usize, [f32; 3]) {
    let (i, t) = cell(x, n - 1);
    let s = 1.0 - t;
    (i, [0.5 * s * s, 0.5 + s * t, 0.5 * t * t])
}

#[inline(always)]
fn weighted(x: [f32; 3], weights: [f32; 3]) -> f32 {
    x[0] * weights[0] + x[1] * weights[1] + x[2] * weights[2]
}

/// The last of `n` points not beyond `x` in [0, 1], but one that has a next; and how far towards that `x` is.
#[inline(always)]
fn cell(x: f32, n: usize) -> (usize, f32) {
    let x = max(x, 0.0) * (n - 1) as f32;
    // SAFETY: x is in [0, n − 1], but for rounding; of NaN, `max` makes 0.
    let i = unsafe { x.to_int_unchecked::<u32>() } as usize;
    let i = if i < n - 2 { i } else { n - 2 };
    (i, x - i as f32)
}

#[inline(always)]
fn mix(a: u16, b: u16, t: f32) -> f32 {
    f32::from(a) * (1.0 - t) + f32::from(b) * t
}
