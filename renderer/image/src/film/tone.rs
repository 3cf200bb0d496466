//! Tone curves: from exposed radiance, linear Rec. 709, to what a display emits, in [0, 1] where it can show it.

use super::develop::{luminance, mul};

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
    /// AgX: bright colours go to white, as on film.
    AgX,
    /// Khronos PBR Neutral: base colours stay as they are, highlights are compressed.
    Neutral,
}

impl Tonemap {
    /// All of them, by their names in options.
    pub const NAMES: &[(&str, Self)] = &[
        ("clip", Self::Clip),
        ("reinhard", Self::Reinhard),
        ("aces", Self::Aces),
        ("agx", Self::AgX),
        ("neutral", Self::Neutral),
    ];

    /// Its name in options.
    pub fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(_, tonemap)| *tonemap == self).map_or("", |(name, _)| name)
    }

    /// Linear light of a display for a colour ≥ 0; what is beyond [0, 1] is to be clipped.
    pub(super) fn apply(self, rgb: [f64; 3]) -> [f64; 3] {
        match self {
            Self::Clip => rgb,
            Self::Reinhard => reinhard(rgb),
            Self::Aces => aces(rgb),
            Self::AgX => agx(rgb),
            Self::Neutral => neutral(rgb),
        }
    }
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

/// Primaries of AgX's working space, nearer to white than those of Rec. 709, in these: what is saturated
/// mixes with white as it gets brighter.
const AGX_INSET: [[f64; 3]; 3] = [
    [0.842479062253094, 0.0784335999999992, 0.0792237451477643],
    [0.0423282422610123, 0.878468636469772, 0.0791661274605434],
    [0.0423756549057051, 0.0784336, 0.879142973793104],
];

/// The inverse of [`AGX_INSET`].
const AGX_OUTSET: [[f64; 3]; 3] = [
    [1.19687900512017, -0.0980208811401368, -0.0990297440797205],
    [-0.0528968517574562, 1.15190312990417, -0.0989611768448433],
    [-0.0529716355144438, -0.0980434501171241, 1.15107367264116],
];

/// AgX, the base transform of Troy Sobotka's configuration for OpenColorIO (2022): a sigmoid on the logarithm of light, 10 stops
/// below and 6.5 above middle grey, for a display of gamma 2.2.
fn agx(rgb: [f64; 3]) -> [f64; 3] {
    const GREY: f64 = 0.18;
    let logarithm = |x: f64| ((x / GREY).log2() + AGX_BELOW) / (AGX_BELOW + AGX_ABOVE);
    let display = mul(AGX_INSET, rgb).map(|x| agx_sigmoid(logarithm(x).clamp(0.0, 1.0)));
    mul(AGX_OUTSET, display).map(|x| x.max(0.0).powf(2.2))
}

/// Stops below and above middle grey.
const AGX_BELOW: f64 = 10.0;
const AGX_ABOVE: f64 = 6.5;

/// A sigmoid through (0, 0) and (1, 1), of slope 2 at middle grey, (10/16.5, 0.5): two hyperbolic arcs h(t) = t / (1 + tᵖ)^(1/p)
/// (Jed Smith), of p = 3 in the shadows and p = 3.25 in the highlights.
fn agx_sigmoid(x: f64) -> f64 {
    const SLOPE: f64 = 2.0;
    const PIVOT: [f64; 2] = [AGX_BELOW / (AGX_BELOW + AGX_ABOVE), 0.5];
    // The arc over [0, width], which reaches `height` at its end.
    let arc = |x: f64, [width, height]: [f64; 2], p: f64| {
        let scale = SLOPE * width / ((SLOPE * width / height).powf(p) - 1.0).powf(1.0 / p);
        let t = SLOPE * x / scale;
        scale * t / (1.0 + t.powf(p)).powf(1.0 / p)
    };
    let [grey, middle] = PIVOT;
    if x < grey {
        middle - arc(grey - x, [grey, middle], 3.0)
    } else {
        middle + arc(x - grey, [1.0 - grey, 1.0 - middle], 3.25)
    }
}

/// Khronos PBR Neutral (Khronos Group 2024, "PBR Neutral Tone Mapper", specification): takes off what a dielectric of F₀ = 0.04
/// reflects of a white sky, so that its base colour is shown, and compresses what is above 0.8.
fn neutral(rgb: [f64; 3]) -> [f64; 3] {
    const F90: f64 = 0.04;
    const START: f64 = 0.8 - F90;
    const DESATURATION: f64 = 0.15;
    let least = rgb.into_iter().fold(f64::INFINITY, f64::min);
    let offset = if least < 2.0 * F90 { least - least * least / (4.0 * F90) } else { F90 };
    let color = rgb.map(|x| x - offset);
    let peak = color.into_iter().fold(0.0, f64::max);
    if peak < START {
        return color;
    }
    let range = 1.0 - START;
    let compressed = 1.0 - range * range / (peak + range - START);
    let white = 1.0 - 1.0 / (DESATURATION * (peak - compressed) + 1.0);
    color.map(|x| {
        let x = x * compressed / peak;
        x + white * (compressed - x)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grey(tonemap: Tonemap, x: f64) -> f64 {
        tonemap.apply([x; 3])[1]
    }

    #[test]
    fn reinhard_has_its_white() {
        assert!((grey(Tonemap::Reinhard, 4.0) - 1.0).abs() < 1e-12);
    }

    /// Hill's curve maps mid grey 0.18 to about 0.1; a transposed matrix would tint grey.
    #[test]
    fn grey_stays_grey() {
        for (name, tonemap) in Tonemap::NAMES.iter().copied() {
            for x in [0.01, 0.18, 1.0, 5.0] {
                let [r, g, b] = tonemap.apply([x; 3]);
                assert!((r - g).abs() < 2e-3 && (b - g).abs() < 2e-3, "{name} of {x}: {r} {g} {b}");
            }
        }
        let mid = grey(Tonemap::Aces, 0.18);
        assert!((mid - 0.1055).abs() < 2e-3, "{mid}");
    }

    #[test]
    fn agx_goes_through_its_points() {
        // Middle grey is half of what a display of gamma 2.2 takes.
        assert!((grey(Tonemap::AgX, 0.18) - 0.5_f64.powf(2.2)).abs() < 1e-4);
        let ends = [0.18 * (-AGX_BELOW).exp2(), 0.18 * AGX_ABOVE.exp2()];
        assert!(grey(Tonemap::AgX, ends[0]) < 1e-6);
        assert!((grey(Tonemap::AgX, ends[1]) - 1.0).abs() < 1e-3);
        let slope = (agx_sigmoid(10.0 / 16.5 + 1e-6) - agx_sigmoid(10.0 / 16.5 - 1e-6)) / 2e-6;
        assert!((slope - 2.0).abs() < 1e-4, "{slope}");
        // The published curve as coefficients: 0.5 + 2 (x - 20/33) (1 + a |x - 20/33|ᵖ)^(-1/p).
        for (x, a, p) in
            [(0.1, 59.507875, 3.0), (0.4, 59.507875, 3.0), (0.7, 69.862789, 3.25), (0.95, 69.862789, 3.25)]
        {
            let d: f64 = x - 20.0 / 33.0;
            let expected = 0.5 + 2.0 * d * (1.0 + a * d.abs().powf(p)).powf(-1.0 / p);
            assert!((agx_sigmoid(x) - expected).abs() < 1e-6, "{x}: {} {expected}", agx_sigmoid(x));
        }
        for (i, row) in AGX_INSET.iter().enumerate() {
            let column = |j: usize| std::array::from_fn(|k: usize| AGX_OUTSET[k][j]);
            for j in 0..3 {
                let product: f64 = row.iter().zip::<[f64; 3]>(column(j)).map(|(a, b)| a * b).sum();
                assert!((product - f64::from(u8::from(i == j))).abs() < 1e-6, "{i} {j}: {product}");
            }
        }
    }

    /// A bright saturated light loses its colour to white, under AgX and Neutral, but not under a clip.
    #[test]
    fn highlights_desaturate() {
        let saturation = |tonemap: Tonemap| {
            let [r, g, _] = tonemap.apply([200.0, 0.5, 0.5]).map(|x| x.min(1.0));
            r - g
        };
        assert!(saturation(Tonemap::Clip) > 0.4);
        assert!(saturation(Tonemap::AgX) < 0.35, "{}", saturation(Tonemap::AgX));
        assert!(saturation(Tonemap::Neutral) < 0.1, "{}", saturation(Tonemap::Neutral));
    }

    /// What the specification promises: under a white sky of radiance 1, a dielectric of base colour c ≤ 0.76 sends c + 0.04 and
    /// is shown as c; above, the curve goes on with its slope.
    #[test]
    fn neutral_keeps_base_colors() {
        for c in [0.05, 0.18, 0.5, 0.755] {
            assert!((grey(Tonemap::Neutral, c + 0.04) - c).abs() < 1e-12, "{c}");
        }
        let color = neutral([0.7, 0.3, 0.1]);
        let expected = [0.66, 0.26, 0.06];
        assert!(color.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12), "{color:?}");
        let slope = (grey(Tonemap::Neutral, 0.8 + 1e-6) - grey(Tonemap::Neutral, 0.8)) / 1e-6;
        assert!((slope - 1.0).abs() < 1e-4, "{slope}");
        assert!(grey(Tonemap::Neutral, 1e6) < 1.0);
    }
}
