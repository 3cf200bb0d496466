//! White balance: colours as they look to an eye, or a camera, that takes another light for white.

use super::develop::mul;

/// Rec. 709 to CIE XYZ of 1931 (ITU-R BT.709, with D65).
const TO_XYZ: [[f64; 3]; 3] = [
    [0.412_390_799_3, 0.357_584_339_4, 0.180_480_788_4],
    [0.212_639_005_9, 0.715_168_678_8, 0.072_192_315_4],
    [0.019_330_818_7, 0.119_194_779_8, 0.950_532_152_2],
];

/// XYZ to the cone responses of Bradford (Lam 1985).
const BRADFORD: [[f64; 3]; 3] =
    [[0.8951, 0.2664, -0.1614], [-0.7502, 1.7135, 0.0367], [0.0389, -0.0685, 1.0296]];

/// Temperatures for which there are whites, kelvin.
pub const KELVIN: [f64; 2] = [1667.0, 25_000.0];

/// A change of colours by which a light looks white: the matrix that it is, on linear Rec. 709.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WhiteBalance([[f64; 3]; 3]);

impl Default for WhiteBalance {
    /// Changes nothing: D65 looks white.
    fn default() -> Self {
        Self([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    }
}

impl WhiteBalance {
    /// That by which a light of a colour, linear Rec. 709, looks white; its luminance stays. `None` if the colour has nothing that
    /// could be balanced: every cone must see some of it.
    ///
    /// The adaptation is von Kries's in the space of Bradford (Fairchild 2013, "Color Appearance Models", chapter 9).
    pub fn of_white(white: [f64; 3]) -> Option<Self> {
        let into = product(BRADFORD, TO_XYZ);
        let [seen, neutral] = [mul(into, white), mul(into, [mul(TO_XYZ, white)[1]; 3])];
        if !seen.into_iter().chain(neutral).all(|response| response.is_finite() && response > 0.0) {
            return None;
        }
        let scale = std::array::from_fn(|i| into[i].map(|x| x * neutral[i] / seen[i]));
        Some(Self(product(inverse(into)?, scale)))
    }

    /// That by which the light of a black body (below 4000 K), or daylight, of so many kelvin looks white. `None` outside of
    /// [`KELVIN`].
    pub fn of_kelvin(kelvin: f64) -> Option<Self> {
        Self::of_white(Self::white_of_kelvin(kelvin)?)
    }

    /// The colour of that light, of luminance 1.
    pub fn white_of_kelvin(kelvin: f64) -> Option<[f64; 3]> {
        let [x, y] = chromaticity(kelvin)?;
        Some(mul(inverse(TO_XYZ)?, [x / y, 1.0, (1.0 - x - y) / y]))
    }

    /// The light that looks white, linear Rec. 709, of luminance 1.
    pub fn white(&self) -> [f64; 3] {
        inverse(self.0).map_or([1.0; 3], |back| mul(back, [1.0; 3]))
    }

    /// The matrix, row by row, which changes linear Rec. 709.
    pub fn matrix(&self) -> [[f64; 3]; 3] {
        self.0
    }

    /// A colour, as it looks.
    pub(super) fn apply(&self, rgb: [f64; 3]) -> [f64; 3] {
        if *self == Self::default() { rgb } else { mul(self.0, rgb) }
    }
}

/// CIE 1931 (x, y) of daylight (CIE 15:2004, eq. 3.3 and 3.4) from 4000 K on, and of black bodies below (Kim et al. 2002, US patent
/// 7024034, a fit).
fn chromaticity(kelvin: f64) -> Option<[f64; 2]> {
    let [least, most] = KELVIN;
    if !(least..=most).contains(&kelvin) {
        return None;
    }
    let t = 1e3 / kelvin;
    let cubic = |[a, b, c, d]: [f64; 4], x: f64| ((a * x + b) * x + c) * x + d;
    if kelvin < 4000.0 {
        let x = cubic([-0.266_123_9, -0.234_358_9, 0.877_695_6, 0.179_910], t);
        let fit = match kelvin < 2222.0 {
            true => [-1.106_381_4, -1.348_110_2, 2.185_558_32, -0.202_196_83],
            false => [-0.954_947_6, -1.374_185_93, 2.091_370_15, -0.167_488_67],
        };
        return Some([x, cubic(fit, x)]);
    }
    let x = match kelvin <= 7000.0 {
        true => cubic([-4.607_0, 2.967_8, 0.099_11, 0.244_063], t),
        false => cubic([-2.006_4, 1.901_8, 0.247_48, 0.237_040], t),
    };
    Some([x, -3.0 * x * x + 2.870 * x - 0.275])
}

fn product(a: [[f64; 3]; 3], b: [[f64; 3]; 3]) -> [[f64; 3]; 3] {
    let column = |j: usize| std::array::from_fn(|k| b[k][j]);
    let columns: [[f64; 3]; 3] = std::array::from_fn(|j| mul(a, column(j)));
    std::array::from_fn(|i| std::array::from_fn(|j| columns[j][i]))
}

/// The inverse, by Cramer's rule; `None` of a singular matrix.
fn inverse(m: [[f64; 3]; 3]) -> Option<[[f64; 3]; 3]> {
    let cross = |a: [f64; 3], b: [f64; 3]| {
        [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
    };
    let [a, b, c] = m;
    let columns = [cross(b, c), cross(c, a), cross(a, b)];
    let determinant: f64 = a.iter().zip(columns[0]).map(|(x, y)| x * y).sum();
    let is_regular = determinant.abs() > 1e-12;
    is_regular.then(|| std::array::from_fn(|i| std::array::from_fn(|j| columns[j][i] / determinant)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The standards' chromaticities: illuminants A (2856 K), D50, D65 and D75.
    #[test]
    fn whites_are_those_of_the_standards() {
        for (kelvin, x, y, bound) in [
            (2856.0, 0.44758, 0.40745, 1e-3),
            (5003.0, 0.34567, 0.35851, 3e-4),
            (6504.0, 0.31272, 0.32903, 1e-4),
            (7504.0, 0.29903, 0.31488, 1e-4),
        ] {
            let [found_x, found_y] = chromaticity(kelvin).unwrap();
            assert!(
                (found_x - x).abs() < bound && (found_y - y).abs() < bound,
                "{kelvin}: {found_x} {found_y}"
            );
        }
        assert!(chromaticity(1000.0).is_none() && chromaticity(f64::NAN).is_none());
    }

    /// D65 is white already, whatever is balanced looks white, and other colours move the other way.
    #[test]
    fn balanced_lights_are_white() {
        let [r, g, b] = WhiteBalance::of_kelvin(6504.0).unwrap().apply([0.2, 0.4, 0.6]);
        assert!((r - 0.2).abs() < 1e-3 && (g - 0.4).abs() < 1e-3 && (b - 0.6).abs() < 1e-3, "{r} {g} {b}");
        for kelvin in [2000.0, 3200.0, 5000.0, 10_000.0] {
            let white = WhiteBalance::white_of_kelvin(kelvin).unwrap();
            let balance = WhiteBalance::of_kelvin(kelvin).unwrap();
            assert!(balance.apply(white).iter().all(|x| (x - 1.0).abs() < 1e-6), "{kelvin}");
            let [r, _, b] = balance.apply([1.0; 3]);
            assert_eq!(r < b, kelvin < 6504.0, "{kelvin}: {r} {b}");
        }
        assert!(WhiteBalance::of_white([0.0; 3]).is_none());
        assert!(WhiteBalance::of_white([0.0, 0.0, f64::NAN]).is_none());
    }

    /// Bradford's adaptation from illuminant A to D65 of the red primary, by the matrix that Lindbloom publishes.
    #[test]
    fn the_adaptation_is_bradfords() {
        const A_TO_D65: [[f64; 3]; 3] = [
            [0.8446965, -0.1179225, 0.3948108],
            [-0.1366303, 1.1041226, 0.1291718],
            [0.0798489, -0.1348999, 3.1924009],
        ];
        let a = mul(inverse(TO_XYZ).unwrap(), [1.09850, 1.0, 0.35585]);
        let balance = WhiteBalance::of_white(a).unwrap();
        for color in [[1.0, 0.0, 0.0], [0.2, 0.7, 0.4], [0.1, 0.1, 0.9]] {
            let expected = mul(A_TO_D65, mul(TO_XYZ, color));
            let found = mul(TO_XYZ, balance.apply(color));
            let is_near = |(a, b): (&f64, f64)| (a - b).abs() < 5e-4 * b;
            assert!(found.iter().zip(expected).all(is_near), "{found:?} {expected:?}");
        }
    }
}
