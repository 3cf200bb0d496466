//! Variance of each way to sample facets: one sample of the same integral, ∫ f cos θi L dωi of reflection by GGX with F = 1.
//! `cargo test --release -p device --test physics variance:: -- --nocapture` prints the table.

use device::bsdf::microfacet::{Distribution, Masking, Microfacet};
use glam::{Vec2, Vec3};

use crate::common::polar;
use crate::common::vector::wide;

const ALPHAS: [f32; 6] = [0.05, 0.1, 0.25, 0.5, 0.75, 1.0];
const DEGREES: [f64; 6] = [0.0, 30.0, 60.0, 75.0, 85.0, 89.0];

type Light = fn(Vec3) -> f64;
const LIGHTS: [(&str, Light); 2] =
    [("1 everywhere", |_| 1.0), ("1 + x + z²", |wi| 1.0 + f64::from(wi.x) + f64::from(wi.z * wi.z))];

fn wo(degrees: f64) -> Vec3 {
    polar(degrees.to_radians().cos(), 0.9).to_f32()
}

fn ggx(alpha: f32) -> Microfacet {
    Microfacet { alpha: Vec2::splat(alpha), distribution: Distribution::Ggx, masking: Masking::Correlated }
}

/// A way to draw facets for `wo`, and its density over facets.
#[derive(Clone, Copy)]
enum Normals {
    Visible,
    Bounded,
    All,
}

impl Normals {
    fn sample(self, m: &Microfacet, wo: Vec3, u: Vec2) -> Vec3 {
        match self {
            Self::Visible => m.sample_wm(wo, u),
            Self::Bounded => m.sample_wm_reflecting(wo, u),
            Self::All => m.sample_wm_all(u),
        }
    }

    /// Density of the reflected direction.
    fn pdf(self, m: &Microfacet, wo: Vec3, wm: Vec3) -> f32 {
        match self {
            Self::Visible => m.pdf_wm(wo, wm) / (4.0 * wo.dot(wm)),
            Self::Bounded => m.pdf_reflected(wo, wm),
            Self::All => m.pdf_wm_all(wm) / (4.0 * wo.dot(wm)),
        }
    }
}

/// Number of samples along each side of a regular grid of uniforms.
const N: usize = 256;

/// Mean, and mean of squares, of f cos L / pdf over the grid, with normals `drawn` in one way and weighed by the density
/// of one.
fn moments(m: &Microfacet, wo: Vec3, drawn: Normals, weighed: Normals, light: Light) -> [f64; 2] {
    let at = |i: usize| (i as f32 + 0.5) / N as f32;
    let mut sums = [0.0; 2];
    for i in 0..N * N {
        let wm = drawn.sample(m, wo, Vec2::new(at(i / N), at(i % N)));
        let wi = 2.0 * wo.dot(wm) * wm - wo;
        if wo.dot(wm) > 0.0 && wi.z > 0.0 {
            let f_cos = m.d(wm) * m.g2(wo, wi) / (4.0 * wo.z);
            let x = f64::from(f_cos / weighed.pdf(m, wo, wm)) * light(wi);
            sums[0] += x;
            sums[1] += x * x;
        }
    }
    sums.map(|sum| sum / (N * N) as f64)
}

fn variance([mean, square]: [f64; 2]) -> f64 {
    square - mean * mean
}

/// Part of the cap of visible normals' reflections that the bounded one keeps, (1 + k z)/(1 + z) with the cosine z of the
/// stretched `wo` (Eto & Tokuyoshi 2023). What it cuts off is all below the surface, where samples are 0, and the others
/// have that much less weight: this is also the ratio of their mean squares.
fn kept(alpha: f32, wo: Vec3) -> f64 {
    let (a2, o) = (f64::from(alpha).powi(2), wide(wo));
    let sin2 = o.x * o.x + o.y * o.y;
    let z = o.z / (a2 * sin2 + o.z * o.z).sqrt();
    let s2 = (1.0 + sin2.sqrt()).powi(2);
    let k = (1.0 - a2) * s2 / (s2 + a2 * o.z * o.z);
    (1.0 + k * z) / (1.0 + z)
}

#[test]
fn variances_are_ordered_as_theory_orders_them() {
    for (name, light) in LIGHTS {
        println!("\nL = {name}: variance over that of visible normals, of bounded ones / of all");
        println!("{:>10}{}", "alpha", DEGREES.map(|d| format!("{:>17}", format!("{d}°"))).concat());
        for alpha in ALPHAS {
            let (m, mut row) = (ggx(alpha), String::new());
            for degrees in DEGREES {
                let wo = wo(degrees);
                let [visible, bounded, all] = [Normals::Visible, Normals::Bounded, Normals::All]
                    .map(|normals| moments(&m, wo, normals, normals, light));
                let at = format!("L = {name}, alpha {alpha}, {degrees}°");
                for other in [bounded, all] {
                    // A grid does better than random numbers, of which this would be three standard errors.
                    let error = 3.0 * (other[1] / (N * N) as f64).sqrt();
                    assert!((other[0] - visible[0]).abs() < error, "{at}: {other:?}, {visible:?}");
                }
                let squares = bounded[1] / visible[1];
                assert!((squares / kept(alpha, wo) - 1.0).abs() < 5e-3, "{at}: {squares}");
                let of_visible = variance(visible);
                let ratios = [bounded, all].map(|x| variance(x) / of_visible);
                // Where hardly a sample is lost, both are as good, to the error of the grid.
                let noise = 2e-3 * visible[1] / of_visible;
                assert!(ratios[0] < 1.0 + noise, "{at}: {ratios:?}");
                assert!(
                    degrees > 0.0 || (ratios[1] - 1.0).abs() < noise,
                    "{at}: all are visible, {ratios:?}"
                );
                row += &format!("{:>8.3} /{:>7.2}", ratios[0], ratios[1]);
            }
            println!("{alpha:>10}{row}");
        }
    }
}

#[test]
fn control_other_densities_have_another_mean_and_no_bound_another_square() {
    for (alpha, degrees) in [(0.5, 60.0), (0.75, 30.0), (1.0, 75.0)] {
        let (m, wo, light) = (ggx(alpha), wo(degrees), LIGHTS[1].1);
        let visible = moments(&m, wo, Normals::Visible, Normals::Visible, light);
        let wrong = moments(&m, wo, Normals::Bounded, Normals::Visible, light);
        let error = 3.0 * (wrong[1] / (N * N) as f64).sqrt();
        assert!((wrong[0] - visible[0]).abs() > error, "{alpha} {degrees}: {wrong:?} {visible:?}");
        assert!(kept(alpha, wo) < 0.99, "{alpha} {degrees}: {}", kept(alpha, wo));
    }
}
