//! Rough diffuse reflection: Portsmouth, Kutz & Hill 2025, "EON: A Practical Energy-Preserving Rough Diffuse BRDF",
//! JCGT 14(1).
//!
//! FON, Fujii's form of the qualitative model of Oren & Nayar 1994, is light scattered once by a surface of diffuse
//! facets; what it loses to facets in each other's way is added as a second term that depends on either direction by
//! itself. The directional albedo of FON with ρ = 1, in closed form, makes that term exact: a white surface reflects
//! everything, whatever its roughness.

use core::f32::consts::{FRAC_1_PI, PI};

use glam::{Vec2, Vec3};

use super::{BsdfSample, Lobe, MIN_COS, azimuth};
use crate::arch::{max, min, sqrt};
use crate::math::{acos, pow};
use crate::sampling::{sample_cosine_hemisphere, sample_uniform_cone};

/// 1/A = 1 + `C1`·r.
const C1: f32 = 0.5 - 2.0 / (3.0 * PI);

/// Mean of G/π over projected solid angle.
const C2: f32 = 2.0 / 3.0 - 28.0 / (15.0 * PI);

/// Density of uniform directions on the hemisphere.
const UNIFORM_PDF: f32 = 0.5 * FRAC_1_PI;

/// Energy-preserving Oren–Nayar reflection (EON).
#[derive(Clone, Copy, Debug)]
pub struct OrenNayar {
    /// Albedo ρ of a facet per channel, in [0, 1]; what is scattered more than once is coloured by it more than once.
    pub reflectance: Vec3,
    /// Roughness r in [0, 1]; Lambertian reflection at 0.
    pub roughness: f32,
}

impl OrenNayar {
    /// A of FON: f where the directions are at right angles in azimuth, over ρ/π.
    #[inline(always)]
    fn a(&self) -> f32 {
        1.0 / (1.0 + C1 * self.roughness)
    }

    /// FON's mean albedo ⟨E⟩ of a surface with ρ = 1.
    #[inline(always)]
    fn mean(&self) -> f32 {
        self.a() * (1.0 + C2 * self.roughness)
    }

    /// ρ of all light scattered more than once: ρ²⟨E⟩ / (1 − ρ(1 − ⟨E⟩)).
    #[inline(always)]
    fn reflectance_multiple(&self) -> Vec3 {
        let (rho, mean) = (self.reflectance, self.mean());
        rho * rho * mean / (Vec3::ONE - rho * (1.0 - mean))
    }

    /// Directional albedo, ∫ f cos θi dωi, for a direction of the given cosine > 0.
    #[inline(always)]
    pub fn albedo(&self, cos: f32) -> Vec3 {
        let lost = self.a() * self.roughness * deficit(cos);
        self.reflectance * (1.0 - lost) + self.reflectance_multiple() * lost
    }

    /// The BRDF of directions above the surface.
    #[inline(always)]
    fn f(&self, wo: Vec3, wi: Vec3) -> Vec3 {
        let s = wo.x * wi.x + wo.y * wi.y;
        let s_over_t = if s > 0.0 { s / max(wo.z, wi.z) } else { s };
        let once = max(1.0 + self.roughness * s_over_t, 0.0);
        // (1 − E(wo))(1 − E(wi)) / (1 − ⟨E⟩), without its 0/0 at r = 0: 1 − E is A·r·deficit, 1 − ⟨E⟩ is A·r·(C1 − C2).
        let more = self.roughness * deficit(wo.z) * deficit(wi.z) / (C1 - C2);
        (self.reflectance * once + self.reflectance_multiple() * more) * (self.a() * FRAC_1_PI)
    }

    /// Probability with which a direction is drawn uniformly, a fit of the paper.
    #[inline(always)]
    fn uniform_part(&self, cos: f32) -> f32 {
        pow(self.roughness, 0.1) * (((-0.290_822 * cos + 0.538_233) * cos - 0.372_058) * cos + 0.162_925)
    }

    /// Density of the directions drawn.
    #[inline(always)]
    fn density(&self, wo: Vec3, wi: Vec3) -> f32 {
        let part = self.uniform_part(wo.z);
        part * UNIFORM_PDF + (1.0 - part) * Cltc::new(wo.z, self.roughness).pdf(azimuth(wo), wi)
    }
}

/// (1 − E) / (A·r) of FON's directional albedo E at ρ = 1: C1 − G/π.
///
/// G = sin θ (θ − sin θ cos θ) + ⅔ (tan θ (1 − sin³ θ) − sin θ), in which tan θ (1 − sin θ) is taken as
/// sin θ cos θ / (1 + sin θ).
#[inline(always)]
fn deficit(cos: f32) -> f32 {
    let cos = min(cos, 1.0);
    let sin = sqrt(1.0 - cos * cos);
    let tan = sin * cos * (1.0 + sin + sin * sin) / (1.0 + sin);
    let g = sin * (acos(cos) - sin * cos) + 2.0 / 3.0 * (tan - sin);
    max(C1 - FRAC_1_PI * g, 0.0)
}

/// Clipped linearly transformed cosine: directions of the density cos θ / π, of which those are left out that the
/// transform, fitted by the paper to f·cos θi, sends below the surface.
///
/// In the frame whose x axis is below `wo` the matrix is ((a, 0, b), (0, c, 0), (d, 0, 1)).
struct Cltc {
    a: f32,
    b: f32,
    c: f32,
    d: f32,
}

impl Cltc {
    #[inline(always)]
    fn new(cos: f32, r: f32) -> Self {
        let a = (0.111_709 * cos - 0.518_982) * cos + 0.303_392 + (0.335_918 * cos - 0.276_266) * r;
        let b = 1.158_59 * cos - 1.164_07 + (0.150_815 - 0.150_105 * cos) * r;
        let c = (0.261_777 * cos - 0.506_373) * cos + 0.200_13;
        let d = (0.475_392 * cos - 1.016_25) * cos + 0.540_852;
        Self {
            a: 1.0 + r * a,
            b: r * b / (cos * cos * cos - 1.435_45),
            c: 1.0 + r * c,
            // The fit rises above 0, by 4·10⁻³, where wo is upright; what is clipped would be on the other side.
            d: min(r * d / ((cos + 0.072_562_8) * cos - 1.074_3), 0.0),
        }
    }

    /// The part of the unit disk that is left: one half of it, and of the other what lies within the ellipse that the
    /// clipping plane projects to.
    #[inline(always)]
    fn kept(&self) -> f32 {
        0.5 + 0.5 / sqrt(1.0 + self.d * self.d)
    }

    #[inline(always)]
    fn pdf(&self, azimuth: Vec2, wi: Vec3) -> f32 {
        let (x, y) = (azimuth.x * wi.x + azimuth.y * wi.y, azimuth.x * wi.y - azimuth.y * wi.x);
        let minor = self.a - self.b * self.d;
        let determinant = self.c * minor;
        // The inverse image of wi, times the determinant.
        let v = Vec3::new(self.c * (x - self.b * wi.z), minor * y, self.c * (self.a * wi.z - self.d * x));
        let ratio = determinant / v.length_squared();
        ratio * ratio * max(v.z, 0.0) * FRAC_1_PI / self.kept()
    }

    #[inline(always)]
    fn sample(&self, azimuth: Vec2, u: Vec2) -> Vec3 {
        let disk = sample_cosine_hemisphere(u);
        // Chords of the disk along x shrink to their part that is left, which ends on the ellipse.
        let (s, edge) = (self.kept(), sqrt(max(1.0 - disk.y * disk.y, 0.0)));
        let x = s * disk.x - (1.0 - s) * edge;
        let z = sqrt(max(1.0 - x * x - disk.y * disk.y, 0.0));
        let (x, y, z) = (self.a * x + self.b * z, self.c * disk.y, self.d * x + z);
        Vec3::new(azimuth.x * x - azimuth.y * y, azimuth.y * x + azimuth.x * y, z).normalize()
    }
}

impl Lobe for OrenNayar {
    #[inline(always)]
    fn eval_pdf(&self, wo: Vec3, wi: Vec3) -> (Vec3, f32) {
        if wo.z < MIN_COS || wi.z < MIN_COS {
            return (Vec3::ZERO, 0.0);
        }
        (self.f(wo, wi), self.density(wo, wi))
    }

    #[inline(always)]
    fn sample(&self, wo: Vec3, uc: f32, u: Vec2) -> Option<BsdfSample> {
        let wi = if uc < self.uniform_part(wo.z) {
            sample_uniform_cone(1.0, u)
        } else {
            Cltc::new(wo.z, self.roughness).sample(azimuth(wo), u)
        };
        let (f, pdf) = self.eval_pdf(wo, wi);
        (pdf > 0.0).then_some(BsdfSample { wi, pdf, weight: f * (wi.z / pdf), eta: 1.0 })
    }
}
