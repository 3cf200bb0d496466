//! Shared code of this crate's tests: statistics, quadrature and random numbers, none of it from the code under test.

pub(crate) mod albedo;
pub(crate) mod facets;
pub(crate) mod ggx;
pub(crate) mod layers;
pub(crate) mod lobes;
pub(crate) mod optics;
pub(crate) mod source;
pub(crate) mod statistics;
pub(crate) mod vector;
pub(crate) mod walk;

use std::f64::consts::{PI, TAU};
use std::sync::LazyLock;

use device::scene::SceneView;
use glam::{Vec2, Vec3};

use vector::DVec3;

/// A generator that shares nothing with the samplers under test: SplitMix64 (Steele, Lea & Flood 2014).
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// In [0, 1).
    pub(crate) fn f64(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// In [a, b).
    pub(crate) fn within(&mut self, a: f64, b: f64) -> f64 {
        a + (b - a) * self.f64()
    }

    /// 10^x with x in [a, b).
    pub(crate) fn power_of_ten(&mut self, a: f64, b: f64) -> f64 {
        10.0_f64.powf(self.within(a, b))
    }

    /// In [0, 1), as the samplers yield it.
    pub(crate) fn f32(&mut self) -> f32 {
        (self.bits() >> 40) as f32 / (1u32 << 24) as f32
    }

    pub(crate) fn vec2(&mut self) -> Vec2 {
        Vec2::new(self.f32(), self.f32())
    }

    /// Uniform in [−1, 1]³.
    pub(crate) fn in_cube(&mut self) -> DVec3 {
        DVec3::new(self.within(-1.0, 1.0), self.within(-1.0, 1.0), self.within(-1.0, 1.0))
    }

    /// Uniform on the sphere.
    pub(crate) fn direction(&mut self) -> DVec3 {
        polar(self.within(-1.0, 1.0), self.within(0.0, TAU))
    }

    /// Standard normal.
    pub(crate) fn normal(&mut self) -> f64 {
        (-2.0 * (1.0 - self.f64()).ln()).sqrt() * (TAU * self.f64()).cos()
    }
}

/// The direction with cosine `z` to +z and azimuth `phi`.
pub(crate) fn polar(z: f64, phi: f64) -> DVec3 {
    let r = (1.0 - z * z).max(0.0).sqrt();
    DVec3::new(r * phi.cos(), r * phi.sin(), z)
}

/// The direction in the xz plane with cosine `z`, in f32; −x and +x by the sign of `side`.
pub(crate) fn in_plane(z: f64, side: f64) -> Vec3 {
    DVec3::new((1.0 - z * z).sqrt() * side, 0.0, z).to_f32()
}

/// Azimuth of (x, y) as a part of a turn, in [0, 1).
pub(crate) fn turn(x: f64, y: f64) -> f64 {
    (y.atan2(x) / TAU).rem_euclid(1.0)
}

/// Pairs of uniforms at the ends of what samplers yield, and around them.
pub(crate) fn adversarial_u() -> Vec<Vec2> {
    let ulp = 1.0 / 16_777_216.0_f32;
    let ends = [0.0, ulp, 0.25, 0.5 - ulp, 0.5, 0.5 + ulp, 0.75, 1.0 - 2.0 * ulp, 1.0 - ulp];
    ends.iter().flat_map(|&x| ends.map(|y| Vec2::new(x, y))).collect()
}

/// Points that fill the unit cube evenly: multiples, modulo 1, of the inverse powers of the root of x⁴ = x + 1 (Roberts
/// 2018).
pub(crate) fn points(n: u32) -> impl Iterator<Item = (f32, Vec2)> {
    const STEP: [f64; 3] = [0.819_172_513_396_164_4, 0.671_043_606_703_789_2, 0.549_700_477_901_970_3];
    // Kept below 1 in f32.
    let at = |k: u32, step: f64| ((0.5 + f64::from(k) * step).fract() as f32).min(1.0 - f32::EPSILON / 2.0);
    (0..n).map(move |k| (at(k, STEP[0]), Vec2::new(at(k, STEP[1]), at(k, STEP[2]))))
}

/// Eight uniforms from one, evenly: most of the noise of a lobe that goes several ways is in which it goes.
pub(crate) fn choices(uc: f32) -> impl Iterator<Item = f32> {
    (0..8u8).map(move |k| (uc + f32::from(k)) / 8.0)
}

/// Nodes and weights of Gauss–Legendre quadrature with 16 points on [0, 1], by Newton's method on P₁₆.
fn gauss() -> [(f64, f64); 16] {
    const N: usize = 16;
    std::array::from_fn(|i| {
        let mut x = (PI * (i as f64 + 0.75) / (N as f64 + 0.5)).cos();
        let mut derivative = 1.0;
        for _ in 0..50 {
            let (mut p0, mut p1) = (1.0, x);
            for k in 2..=N {
                let k = k as f64;
                (p0, p1) = (p1, ((2.0 * k - 1.0) * x * p1 - (k - 1.0) * p0) / k);
            }
            derivative = N as f64 * (x * p1 - p0) / (x * x - 1.0);
            x -= p1 / derivative;
        }
        (0.5 * (1.0 - x), 1.0 / ((1.0 - x * x) * derivative * derivative))
    })
}

/// ∫ f over [a, b] by Gauss–Legendre quadrature on `panels` equal parts.
pub(crate) fn integrate(a: f64, b: f64, panels: usize, mut f: impl FnMut(f64) -> f64) -> f64 {
    static NODES: LazyLock<[(f64, f64); 16]> = LazyLock::new(gauss);
    let (nodes, h) = (*NODES, (b - a) / panels as f64);
    let panel = |k: usize, f: &mut dyn FnMut(f64) -> f64| {
        nodes.map(|(x, w)| w * f(a + h * (k as f64 + x))).iter().sum::<f64>()
    };
    h * (0..panels).map(|k| panel(k, &mut f)).sum::<f64>()
}

/// A scene of nothing, with null for what it does not have.
pub(crate) fn empty_scene() -> SceneView {
    // SAFETY: it is made of pointers, which may be null, and numbers.
    unsafe { std::mem::zeroed() }
}
