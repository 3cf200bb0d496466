//! From radiance to what a display shows: exposure, tone mapping, the sRGB transfer function.

/// How an image is made fit for a display. Formats that hold radiance are not developed.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Develop {
    /// Exposure in stops: radiance is multiplied by 2 to this power.
    pub exposure: f32,
    /// How radiance is brought into [0, 1].
    pub tonemap: Tonemap,
}

/// How exposed radiance is brought into [0, 1].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Tonemap {
    /// Clip at 1: what is below stays exact.
    #[default]
    Clip,
    /// Extended Reinhard on luminance, white at 4.
    Reinhard,
    /// ACES look: Hill's fit of the reference and output transforms.
    Aces,
}

impl Develop {
    /// Radiance to display-encoded values in [0, 1]. NaN becomes 0, infinity 1.
    pub fn apply(&self, radiance: [f32; 3]) -> [f64; 3] {
        let gain = f64::from(self.exposure).exp2();
        // The bound keeps the curves' squares and ratios finite; each of them is at its white far below it.
        let exposed = radiance.map(|x| finite(f64::from(x) * gain).clamp(0.0, 1e30));
        let mapped = match self.tonemap {
            Tonemap::Clip => exposed,
            Tonemap::Reinhard => reinhard(exposed),
            Tonemap::Aces => aces(exposed),
        };
        mapped.map(|x| srgb_encode(x.clamp(0.0, 1.0)))
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

/// Reinhard, Stark, Shirley and Ferwerda 2002, eq. 4, on luminance: L (1 + L / L_white²) / (1 + L).
fn reinhard(rgb: [f64; 3]) -> [f64; 3] {
    const WHITE: f64 = 4.0;
    let l = luminance(rgb);
    let scale = (1.0 + l / (WHITE * WHITE)) / (1.0 + l);
    rgb.map(|x| x * scale)
}

/// The fit of the ACES reference rendering transform and the sRGB output transform by Stephen Hill
/// (BakingLab, `ACES.hlsl`): into a working space, a rational curve per channel, and back to Rec. 709.
fn aces(rgb: [f64; 3]) -> [f64; 3] {
    const INTO: [[f64; 3]; 3] =
        [[0.59719, 0.35458, 0.04823], [0.07600, 0.90834, 0.01566], [0.02840, 0.13383, 0.83777]];
    const BACK: [[f64; 3]; 3] =
        [[1.60475, -0.53108, -0.07367], [-0.10208, 1.10813, -0.00605], [-0.00327, -0.07276, 1.07602]];
    let curve = |x: f64| (x * (x + 0.0245786) - 0.000090537) / (x * (0.983729 * x + 0.4329510) + 0.238081);
    mul(BACK, mul(INTO, rgb).map(curve))
}

fn mul(m: [[f64; 3]; 3], v: [f64; 3]) -> [f64; 3] {
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
        Develop { exposure, tonemap }.apply([x; 3])[1]
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
        for tonemap in [Tonemap::Clip, Tonemap::Reinhard, Tonemap::Aces] {
            let mut last = develop(0.0, tonemap, 0.0);
            assert!(last < 1e-9, "{tonemap:?} of black is {last}");
            for i in 1..=4000 {
                let y = develop(0.0, tonemap, i as f32 * 0.01);
                assert!(y >= last, "{tonemap:?} falls at {i}");
                last = y;
            }
            assert!(last > 0.98, "{tonemap:?} ends at {last}");
        }
        let reinhard_white = srgb_decode(develop(0.0, Tonemap::Reinhard, 4.0));
        assert!((reinhard_white - 1.0).abs() < 1e-6, "{reinhard_white}");
    }

    /// Hill's curve maps mid grey 0.18 to about 0.1 and stays below 1.02 at the top; a transposed matrix
    /// would tint grey.
    #[test]
    fn aces_keeps_grey_grey() {
        for x in [0.01_f32, 0.18, 1.0, 5.0] {
            let [r, g, b] = aces([f64::from(x); 3]);
            assert!((r - g).abs() < 2e-3 && (b - g).abs() < 2e-3, "{x}: {r} {g} {b}");
        }
        let mid = aces([0.18; 3])[1];
        assert!((mid - 0.1055).abs() < 2e-3, "{mid}");
    }

    #[test]
    fn nothing_leaves_the_unit_interval() {
        for tonemap in [Tonemap::Clip, Tonemap::Reinhard, Tonemap::Aces] {
            for x in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MAX, -1.0, f32::MIN_POSITIVE] {
                for exposure in [-100.0, 0.0, 100.0] {
                    let y = Develop { exposure, tonemap }.apply([x, 0.5, x]);
                    assert!(y.iter().all(|y| (0.0..=1.0).contains(y)), "{tonemap:?} {x} {exposure}: {y:?}");
                }
            }
        }
        assert_eq!(develop(0.0, Tonemap::Clip, f32::INFINITY), srgb_encode(1.0));
    }
}
