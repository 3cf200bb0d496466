//! What single scattering between microfacets loses, looked up: 1 − E(μ, α), E being the directional albedo of
//! isotropic facets of correlated height that reflect everything, and μ the cosine of the direction. Roughness beyond
//! α = 1 is taken for 1.

mod tables;

use super::microfacet::{Distribution, Microfacet};
use crate::arch::{max, min, sqrt};

/// Points along α and along μ.
pub const SIZE: usize = 32;

/// Parts lost are stored as multiples of this.
pub const UNIT: f32 = 1.0 / 65_535.0;

/// What is lost at `SIZE` roughnesses α from 0 to 1, by cosine and on average over cosines.
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

/// Where between 0 and 1 a cosine is in the table: the losses of small α are at cosines as small. Its inverse is
/// [`cosine`].
#[inline(always)]
pub fn place(distribution: Distribution, alpha: f32, mu: f32) -> f32 {
    sqrt(mu / max(mu + spread(distribution) * alpha * (1.0 - mu), f32::MIN_POSITIVE))
}

/// The cosine at a place.
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

/// Points along the index of refraction, along α and along μ.
pub const DIELECTRIC_SIZE: [usize; 3] = [12, 16, 24];

/// What dielectrics with facets of GGX lose, seen from the side of the lower index or of the higher.
#[derive(Clone, Copy, Debug)]
pub struct DielectricLosses {
    /// By (index, α, place), see [`dielectric_place`].
    pub directional: [[[u16; DIELECTRIC_SIZE[2]]; DIELECTRIC_SIZE[1]]; DIELECTRIC_SIZE[0]],
    /// ∫ 2μ (1 − E(μ)) dμ by (index, √α), of what is interpolated.
    pub average: [[f32; DIELECTRIC_SIZE[1]]; DIELECTRIC_SIZE[0]],
}

/// The table for light that comes from the side of the lower index, or from that of the higher.
#[inline(always)]
pub const fn dielectric_losses(from_lower: bool) -> &'static DielectricLosses {
    if from_lower { &tables::FROM_LOWER } else { &tables::FROM_HIGHER }
}

/// Where between 0 and 1 an index of refraction from 1 to 3 is in the table: √(2 (η − 1)/(η + 1)).
#[inline(always)]
fn index_place(eta: f32) -> f32 {
    min(sqrt(2.0 * max(eta - 1.0, 0.0) / (eta + 1.0)), 1.0)
}

/// As [`place`], for dielectrics.
#[inline(always)]
pub fn dielectric_place(alpha: f32, mu: f32) -> f32 {
    sqrt(mu / max(mu + 1.5 * alpha * (1.0 - mu), f32::MIN_POSITIVE))
}

/// 1 − E(μ, α, η) of a dielectric with facets of GGX, reflected and transmitted light together; for η in [⅓, 3].
#[inline(always)]
pub fn dielectric_loss(alpha: f32, eta: f32, mu: f32) -> f32 {
    let table = &dielectric_losses(eta > 1.0).directional;
    let [ne, na, nm] = DIELECTRIC_SIZE;
    let alpha = min(alpha, 1.0);
    let (e, x) = cell(index_place(max(eta, 1.0 / eta)), ne);
    let (i, a) = cell(alpha, na);
    let (j, b) = cell(dielectric_place(alpha, min(mu, 1.0)), nm);
    let row = |row: &[u16; DIELECTRIC_SIZE[2]]| mix(row[j], row[j + 1], b);
    let plane = |e: usize| row(&table[e][i]) * (1.0 - a) + row(&table[e][i + 1]) * a;
    (plane(e) * (1.0 - x) + plane(e + 1) * x) * UNIT
}

/// ∫ 2μ (1 − E(μ, α, η)) dμ.
#[inline(always)]
pub fn dielectric_loss_average(alpha: f32, eta: f32) -> f32 {
    let table = &dielectric_losses(eta > 1.0).average;
    let (e, x) = cell(index_place(max(eta, 1.0 / eta)), DIELECTRIC_SIZE[0]);
    let (i, a) = cell(sqrt(min(alpha, 1.0)), DIELECTRIC_SIZE[1]);
    let row = |row: &[f32; DIELECTRIC_SIZE[1]]| row[i] * (1.0 - a) + row[i + 1] * a;
    row(&table[e]) * (1.0 - x) + row(&table[e + 1]) * x
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
