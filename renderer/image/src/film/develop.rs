//! From radiance to what a display shows: exposure, white balance, tone mapping, the sRGB transfer function.

use super::tone::Tonemap;
use super::white_balance::WhiteBalance;

/// How an image is made fit for a display. Formats that hold radiance are not developed.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Develop {
    /// Exposure in stops: radiance is multiplied by 2 to this power.
    pub exposure: f32,
    /// Which light is to look white.
    pub white_balance: WhiteBalance,
    /// How radiance is brought into [0, 1].
    pub tonemap: Tonemap,
}

impl Develop {
    /// Radiance to display-encoded values in [0, 1]. NaN becomes 0, infinity 1.
    pub fn apply(&self, radiance: [f32; 3]) -> [f64; 3] {
        let gain = f64::from(self.exposure).exp2();
        // The bound keeps the curves' squares and ratios finite; each of them is at its white far below it.
        let exposed = radiance.map(|x| finite(f64::from(x) * gain).clamp(0.0, 1e30));
        let balanced = self.white_balance.apply(exposed).map(|x| x.max(0.0));
        self.tonemap.apply(balanced).map(|x| srgb_encode(x.clamp(0.0, 1.0)))
    }

    /// As [`Develop::apply`], in 255ths.
    pub fn to_bytes(&self, radiance: [f32; 3]) -> [u8; 3] {
        self.apply(radiance).map(|x| (x * 255.0).round() as u8)
    }
}

/// Zero for NaN.
fn finite(x: f64) -> f64 {
    if x.is_nan() { 0.0 } else { x }
}

/// Luminance of linear Rec. 709 (the middle row of RGB → XYZ).
pub(super) fn luminance([r, g, b]: [f64; 3]) -> f64 {
    0.2126 * r + 0.7152 * g + 0.0722 * b
}

pub(super) fn mul(m: [[f64; 3]; 3], v: [f64; 3]) -> [f64; 3] {
    m.map(|row| row[0] * v[0] + row[1] * v[1] + row[2] * v[2])
}

/// Linear to sRGB (IEC 61966-2-1), for values in [0, 1].
pub fn srgb_encode(x: f64) -> f64 {
    if x <= 0.003_130_8 { 12.92 * x } else { 1.055 * x.powf(1.0 / 2.4) - 0.055 }
}

/// sRGB to linear, the inverse of [`srgb_encode`].
pub fn srgb_decode(x: f64) -> f64 {
    if x <= 0.040_45 { x / 12.92 } else { ((x + 0.055) / 1.055).powf(2.4) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn develop(exposure: f32, tonemap: Tonemap, x: f32) -> f64 {
        Develop { exposure, tonemap, ..Develop::default() }.apply([x; 3])[1]
    }

    #[test]
    fn srgb_has_the_values_of_the_standard() {
        // 18 % grey and middle grey, to 8 bits; the ends exactly.
        assert_eq!((srgb_encode(0.18) * 255.0).round(), 118.0);
        assert_eq!((srgb_encode(0.214_041_14) * 1000.0).round(), 500.0);
        assert_eq!(srgb_encode(0.0), 0.0);
        assert!((srgb_encode(1.0) - 1.0).abs() < 1e-12);
        for i in 0..=1000 {
            let x = f64::from(i) / 1000.0;
            assert!((srgb_decode(srgb_encode(x)) - x).abs() < 1e-6, "{x}");
        }
    }

    #[test]
    fn a_stop_doubles() {
        let linear = |ev, x| srgb_decode(develop(ev, Tonemap::Clip, x));
        assert!((linear(1.0, 0.2) - 0.4).abs() < 1e-7);
        assert!((linear(-2.0, 0.2) - 0.05).abs() < 1e-7);
        assert!((linear(0.0, 0.2) - 0.2).abs() < 1e-7);
    }

    #[test]
    fn curves_rise_from_black_to_white() {
        for (name, tonemap) in Tonemap::NAMES.iter().copied() {
            let mut last = develop(0.0, tonemap, 0.0);
            assert!(last < 1e-9, "{name} of black is {last}");
            for i in 1..=4000 {
                let y = develop(0.0, tonemap, i as f32 * 0.01);
                assert!(y >= last, "{name} falls at {i}");
                last = y;
            }
            assert!(last > 0.98, "{name} ends at {last}");
        }
    }

    #[test]
    fn nothing_leaves_the_unit_interval() {
        let cold = WhiteBalance::of_kelvin(12_000.0).unwrap();
        for (name, tonemap) in Tonemap::NAMES.iter().copied() {
            for x in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MAX, -1.0, f32::MIN_POSITIVE] {
                for exposure in [-100.0, 0.0, 100.0] {
                    for white_balance in [WhiteBalance::default(), cold] {
                        let y = Develop { exposure, white_balance, tonemap }.apply([x, 0.5, x]);
                        assert!(y.iter().all(|y| (0.0..=1.0).contains(y)), "{name} {x} {exposure}: {y:?}");
                    }
                }
            }
        }
        assert_eq!(develop(0.0, Tonemap::Clip, f32::INFINITY), srgb_encode(1.0));
    }

    /// A white card in the light of a tungsten lamp looks orange, and white once the lamp is what looks white.
    #[test]
    fn white_balance_makes_a_light_white() {
        let lamp = WhiteBalance::white_of_kelvin(3200.0).unwrap().map(|x| x as f32);
        let [r, _, b] = Develop::default().apply(lamp.map(|x| 0.5 * x));
        assert!(r > b + 0.2, "{r} {b}");
        let white_balance = WhiteBalance::of_kelvin(3200.0).unwrap();
        let [r, g, b] = Develop { white_balance, ..Develop::default() }.apply(lamp.map(|x| 0.5 * x));
        assert!((r - g).abs() < 1e-5 && (b - g).abs() < 1e-5, "{r} {g} {b}");
        assert!((srgb_decode(g) - 0.5).abs() < 1e-5, "of the same luminance: {g}");
    }
}
