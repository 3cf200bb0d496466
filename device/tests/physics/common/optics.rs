//! Plane waves at boundaries and in layers, in complex f64; and their colours.

use std::f64::consts::TAU;
use std::ops::{Add, Div, Mul, Sub};

/// A complex number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct C(pub(crate) f64, pub(crate) f64);

impl C {
    pub(crate) const I: Self = C(0.0, 1.0);

    pub(crate) fn norm2(self) -> f64 {
        self.0 * self.0 + self.1 * self.1
    }

    /// The principal root.
    pub(crate) fn sqrt(self) -> Self {
        let (radius, angle) = (self.0.hypot(self.1).sqrt(), 0.5 * self.1.atan2(self.0));
        C(radius * angle.cos(), radius * angle.sin())
    }

    pub(crate) fn exp(self) -> Self {
        let radius = self.0.exp();
        C(radius * self.1.cos(), radius * self.1.sin())
    }
}

impl Add for C {
    type Output = Self;
    fn add(self, o: Self) -> Self {
        C(self.0 + o.0, self.1 + o.1)
    }
}

impl Sub for C {
    type Output = Self;
    fn sub(self, o: Self) -> Self {
        C(self.0 - o.0, self.1 - o.1)
    }
}

impl Mul for C {
    type Output = Self;
    fn mul(self, o: Self) -> Self {
        C(self.0 * o.0 - self.1 * o.1, self.0 * o.1 + self.1 * o.0)
    }
}

impl Mul<C> for f64 {
    type Output = C;
    fn mul(self, z: C) -> C {
        C(self * z.0, self * z.1)
    }
}

impl Div for C {
    type Output = Self;
    fn div(self, o: Self) -> Self {
        (1.0 / o.norm2()) * (self * C(o.0, -o.1))
    }
}

/// n cos θ in a medium of index `n`, for light that comes from index 1 at the cosine `cos_i`.
fn normal_component(cos_i: f64, n: C) -> C {
    (n * n - C(1.0 - cos_i * cos_i, 0.0)).sqrt()
}

/// Admittances of a medium for s and p: H over E, both along the boundary.
fn admittances(cos_i: f64, n: C) -> [C; 2] {
    let q = normal_component(cos_i, n);
    [q, n * n / q]
}

/// Reflected powers for s and p at the boundary to index `n`.
pub(crate) fn boundary(cos_i: f64, n: C) -> [f64; 2] {
    let q = normal_component(cos_i, n);
    let c = C(cos_i, 0.0);
    let p = n * n * c;
    [((c - q) / (c + q)).norm2(), ((p - q) / (p + q)).norm2()]
}

/// Reflected powers for s and p of a layer on a base, by the layer's characteristic matrix (Born & Wolf, §1.6.2;
/// Macleod, Thin-Film Optical Filters, eq. 2.113); `waves` is the thickness in vacuum wavelengths.
pub(crate) fn layer(cos_i: f64, film: C, waves: f64, base: C) -> [f64; 2] {
    let phase = TAU * waves * normal_component(cos_i, film);
    let (plus, minus) = ((C::I * phase).exp(), (C(0.0, -1.0) * phase).exp());
    let (cos, i_sin) = (0.5 * (plus + minus), 0.5 * (plus - minus));
    let (outside, film, base) =
        (admittances(cos_i, C(1.0, 0.0)), admittances(cos_i, film), admittances(cos_i, base));
    [0, 1].map(|p| {
        // Fields at the outer boundary for E = 1 at the base; time goes as e^{−iωt}.
        let e = cos - i_sin * base[p] / film[p];
        let h = cos * base[p] - i_sin * film[p];
        ((outside[p] * e - h) / (outside[p] * e + h)).norm2()
    })
}

/// CIE 1931 colour matching functions at a wavelength in nm (Wyman, Sloan & Shirley 2013, "Simple Analytic
/// Approximations to the CIE XYZ Color Matching Functions", JCGT 2(2), listing 1).
fn xyz(lambda: f64) -> [f64; 3] {
    let lobe = |scale: f64, mean: f64, below: f64, above: f64| {
        let t = (lambda - mean) * if lambda < mean { below } else { above };
        scale * (-0.5 * t * t).exp()
    };
    [
        lobe(0.362, 442.0, 0.0624, 0.0374)
            + lobe(1.056, 599.8, 0.0264, 0.0323)
            + lobe(-0.065, 501.1, 0.0490, 0.0382),
        lobe(0.821, 568.8, 0.0213, 0.0247) + lobe(0.286, 530.9, 0.0613, 0.0322),
        lobe(1.217, 437.0, 0.0845, 0.0278) + lobe(0.681, 459.0, 0.0385, 0.0725),
    ]
}

/// CIE standard illuminant D65 from 380 to 780 nm in steps of 10 nm (CIE 15).
const D65: [f64; 41] = [
    49.9755, 54.6482, 82.7549, 91.486, 93.4318, 86.6823, 104.865, 117.008, 117.812, 114.861, 115.923,
    108.811, 109.354, 107.802, 104.79, 107.689, 104.405, 104.046, 100.0, 96.3342, 95.788, 88.6856, 90.0062,
    89.5991, 87.6987, 83.2886, 83.6992, 80.0268, 80.2146, 82.2778, 78.2842, 69.7213, 71.6091, 74.349, 61.604,
    69.8856, 75.087, 63.5927, 46.4182, 66.8054, 63.3828,
];

/// Linear Rec. 709 from XYZ.
const RGB: [[f64; 3]; 3] = [
    [3.2404542, -1.5371385, -0.4985314],
    [-0.9692660, 1.8760108, 0.0415560],
    [0.0556434, -0.2040259, 1.0572252],
];

/// Wavelengths in nm, each with its weight in red, green and blue; the weights add up to 1.
pub(crate) fn spectrum() -> Vec<(f64, [f64; 3])> {
    let at = |i: u32| {
        let step = f64::from(i) + 0.5;
        let (cell, t) = ((step / 10.0) as usize, (step / 10.0).fract());
        let light = D65[cell] * (1.0 - t) + D65[cell + 1] * t;
        (380.0 + step, RGB.map(|row| light * (0..3).map(|c| row[c] * xyz(380.0 + step)[c]).sum::<f64>()))
    };
    let mut all: Vec<_> = (0..400).map(at).collect();
    let total = [0, 1, 2].map(|c| all.iter().map(|(_, rgb)| rgb[c]).sum::<f64>());
    for (_, rgb) in &mut all {
        *rgb = std::array::from_fn(|c| rgb[c] / total[c]);
    }
    all
}

/// XYZ of the illuminant, for Y = 1.
pub(crate) fn white() -> [f64; 3] {
    let mut sum = [0.0; 3];
    for (i, light) in D65.iter().enumerate() {
        let m = xyz(380.0 + 10.0 * i as f64);
        sum = std::array::from_fn(|c| sum[c] + light * m[c]);
    }
    sum.map(|s| s / sum[1])
}
