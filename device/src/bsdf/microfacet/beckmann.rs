//! Beckmann's distribution in the stretched frame, where α is 1: slopes are normally distributed, with density
//! e^(−x²−y²)/π. [`super::Microfacet`] stretches.

use core::f32::consts::PI;

use glam::{Vec2, Vec3};

use crate::arch::{max, min, sqrt};
use crate::math::{exp, ln};
use crate::special::{FRAC_1_SQRT_PI, erfcx, gauss_quantile};

/// Normals this close to the horizon have no density in f32, for any α up to 10.
const MIN_COS: f32 = 1e-3;

/// Slopes beyond are less probable than 24-bit uniforms tell.
const STEEPEST: f32 = 4.6;

/// D(wm)·αx·αy of a normal whose tangential part is divided by α (Walter et al. 2007, eq. 25).
#[inline(always)]
pub(super) fn d(scaled: Vec3) -> f32 {
    if scaled.z < MIN_COS {
        return 0.0;
    }
    let cos2 = scaled.z * scaled.z;
    exp(-(scaled.x * scaled.x + scaled.y * scaled.y) / cos2) / (PI * cos2 * cos2)
}

/// Λ of a stretched direction (the exact form of Walter et al. 2007, eq. 26); not by the rational fit of its eq. 27,
/// whose error the distribution of visible normals would inherit.
#[inline(never)]
pub(super) fn lambda(w: Vec3) -> f32 {
    let a = cot(w.z, sqrt(w.x * w.x + w.y * w.y));
    lambda_times_cot(a) / a
}

/// cot θ, as far as Λ tells it from infinity.
#[inline(always)]
fn cot(z: f32, r: f32) -> f32 {
    min(z.abs() / max(r, f32::MIN_POSITIVE), 100.0)
}

/// a·Λ for a = cot θ: ½ (e^(−a²)/√π − a·erfc a), without the cancellation of erf.
#[inline(always)]
fn lambda_times_cot(a: f32) -> f32 {
    0.5 * exp(-a * a) * max(FRAC_1_SQRT_PI - a * erfcx(a), 0.0)
}

/// Area of the facets that face the stretched direction `w`, projected along it, |cos| (1 + Λ) from above and |cos| Λ
/// from below, in the units that `w` is stretched in.
#[inline(always)]
pub(super) fn projected(w: Vec3) -> f32 {
    let r = sqrt(w.x * w.x + w.y * w.y);
    r * lambda_times_cot(cot(w.z, r)) + max(w.z, 0.0)
}

/// Length of the slope that a part `u` of the projected area is flatter than (Walter et al. 2007, eq. 28).
#[inline(always)]
pub(super) fn sample_slope(u: f32) -> f32 {
    sqrt(-ln(1.0 - u))
}

/// A normal, not normalised, visible from the stretched direction `wo` of any length.
///
/// Heitz & d'Eon 2014, "Importance Sampling Microfacet-Based BSDFs using the Distribution of Visible Normals",
/// CGF 33(4): slopes along and across `wo` are independent for this distribution, and only the first decides how
/// much of a facet is seen.
#[inline(never)]
pub(super) fn sample_visible(wo: Vec3, u: Vec2) -> Vec3 {
    let r = sqrt(wo.x * wo.x + wo.y * wo.y);
    let inv = 1.0 / sqrt(r * r + wo.z * wo.z);
    towards(wo, r, VisibleSlope::new(wo.z * inv, r * inv).sample(u.x), u.y)
}

/// As [`sample_visible`], from a stretched direction `w` that points below.
#[inline(never)]
pub(super) fn sample_visible_below(w: Vec3, u: Vec2) -> Vec3 {
    let r = sqrt(w.x * w.x + w.y * w.y);
    towards(w, r, slope_from_below(min(cot(w.z, r), STEEPEST), u.x), u.y)
}

/// The normal with the slope `along` the direction `w`, whose tangential part has the length `r`, and any across it.
#[inline(always)]
fn towards(w: Vec3, r: f32, along: f32, u: f32) -> Vec3 {
    let (x, y) = if r > 0.0 { (w.x / r, w.y / r) } else { (1.0, 0.0) };
    let across = gauss_quantile(u);
    Vec3::new(along * x - across * y, along * y + across * x, 1.0)
}

/// The slope m that a part `u` is steeper than, of those beyond a = |cot θ|, with density proportional to
/// (m − a)·e^(−m²). A guess from beyond, exact for a = 0, and three steps of Newton's on the logarithm of what is
/// steeper, which is concave: they approach the root from one side.
#[inline(always)]
fn slope_from_below(a: f32, u: f32) -> f32 {
    let minus_ln_u = -ln(max(u, 0.5 / 16_777_216.0));
    let guess =
        min(sqrt(minus_ln_u), (minus_ln_u + sqrt(2.0 * minus_ln_u)) / max(2.0 * a, f32::MIN_POSITIVE));
    let ln_all = ln(steeper_from_below(a, 0.0));
    let mut t = guess;
    for _ in 0..4 {
        let steeper = steeper_from_below(a, t);
        let excess = ln(steeper) - ln_all - t * (t + 2.0 * a) + minus_ln_u;
        t = max(t + excess * steeper / max(t, 1e-6), 0.0);
    }
    a + t
}

/// ∫ (m − a) e^(−m²) dm over m > a + t, times e^((a + t)²): ½ − a √π/2 erfcx(a + t).
#[inline(always)]
fn steeper_from_below(a: f32, t: f32) -> f32 {
    max(0.5 - 0.5 / FRAC_1_SQRT_PI * a * erfcx(a + t), 1e-6)
}

/// Slopes m of facets along the direction with cosine c and sine s that see it, density proportional to
/// (c + m·s)⁺·e^(−m²)/√π: positive where the facet faces the direction.
struct VisibleSlope {
    c: f32,
    s: f32,
    /// Smallest slope seen.
    least: f32,
    /// c·Λ.
    masked: f32,
}

impl VisibleSlope {
    #[inline(always)]
    fn new(c: f32, s: f32) -> Self {
        let a = cot(c, s);
        Self { c, s, least: max(-a, -STEEPEST), masked: s * lambda_times_cot(a) }
    }

    /// The slope that a part `u` is steeper than. The guess is exact from above (c = 1) and along the surface
    /// (c = 0); three steps leave 3·10⁻⁸ of the probability from anywhere.
    #[inline(always)]
    fn sample(&self, u: f32) -> f32 {
        let u = max(u, 0.5 / 16_777_216.0);
        let c2 = self.c * self.c;
        let mut m = -c2 * gauss_quantile(u) + (1.0 - c2) * sqrt(-ln(u));
        m = self.refined(max(m, self.least + 1e-3), u);
        m = self.refined(m, u);
        self.refined(m, u)
    }

    /// A step towards the root: Halley's on the probability of what is steeper, for the upper half. For the lower
    /// half Newton's on the square root of the rest, which does not flatten out where slopes cease to be seen.
    #[inline(always)]
    fn refined(&self, m: f32, u: f32) -> f32 {
        let e = FRAC_1_SQRT_PI * exp(-m * m);
        let seen = self.c + m * self.s;
        let density = seen * e;
        let [steeper, flatter] = self.areas(m, e);
        let total = self.c + self.masked;
        let next = if u < 0.5 {
            let step = (steeper - u * total) / density;
            let curvature = self.s / seen - 2.0 * m;
            m + step / (1.0 + 0.5 * step * curvature)
        } else {
            let rest = max(flatter, 1e-12);
            m - 2.0 * (rest - sqrt(rest * ((1.0 - u) * total))) / density
        };
        min(max(next, self.least + 1e-6), STEEPEST)
    }

    /// Visible areas of what is steeper than `m`, ½ (c·erfc m + s·e), and of the rest; e = e^(−m²)/√π.
    #[inline(always)]
    fn areas(&self, m: f32, e: f32) -> [f32; 2] {
        let tail = 0.5 * self.c * (e / FRAC_1_SQRT_PI) * erfcx(m.abs());
        let lit = 0.5 * self.s * e;
        if m >= 0.0 {
            [tail + lit, self.c - tail - lit + self.masked]
        } else {
            [self.c - tail + lit, tail - lit + self.masked]
        }
    }
}
