//! sRGB colours, and maps from numbers to them.

/// An sRGB colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Color(pub [u8; 3]);

impl Color {
    /// The colour written `0xrrggbb`.
    pub const fn hex(rgb: u32) -> Self {
        Self([(rgb >> 16) as u8, (rgb >> 8) as u8, rgb as u8])
    }

    /// The colour a part `t` of the way to `other`.
    pub fn mix(self, other: Self, t: f64) -> Self {
        let channel = |i: usize| {
            let (a, b) = (f64::from(self.0[i]), f64::from(other.0[i]));
            (a + t.clamp(0.0, 1.0) * (b - a)).round() as u8
        };
        Self([channel(0), channel(1), channel(2)])
    }

    /// Black or white, whichever is easier to read on this colour.
    pub fn contrast(self) -> Self {
        let [r, g, b] = self.0.map(f64::from);
        if 0.299 * r + 0.587 * g + 0.114 * b > 140.0 { Self::hex(0x000000) } else { Self::hex(0xffffff) }
    }
}

/// Colours of a range of numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColorMap {
    /// Viridis (van der Walt & Smith 2015): perceptually uniform.
    Viridis,
    /// ColorBrewer's RdBu (Brewer 2003) from blue through white to red.
    BlueRed,
    /// Magma (Smith & van der Walt 2015), which starts at black; customary for ꟻLIP maps.
    Magma,
}

impl ColorMap {
    /// Colours in equal steps, as `0xrrggbb`.
    pub const fn stops(self) -> &'static [u32] {
        match self {
            Self::Viridis => {
                &[0x440154, 0x472d7b, 0x3b528b, 0x2c728e, 0x21918c, 0x28ae80, 0x5ec962, 0xaddc30, 0xfde725]
            }
            Self::BlueRed => {
                &[0x2166ac, 0x4393c3, 0x92c5de, 0xd1e5f0, 0xf7f7f7, 0xfddbc7, 0xf4a582, 0xd6604d, 0xb2182b]
            }
            Self::Magma => {
                &[0x000004, 0x1d1147, 0x51127c, 0x832681, 0xb73779, 0xe65164, 0xfc8961, 0xfec488, 0xfcfdbf]
            }
        }
    }

    /// The colour of `t` in [0, 1].
    pub fn at(self, t: f64) -> Color {
        let stops = self.stops();
        let t = if t.is_nan() { 0.0 } else { t.clamp(0.0, 1.0) } * (stops.len() - 1) as f64;
        let i = (t as usize).min(stops.len() - 2);
        Color::hex(stops[i]).mix(Color::hex(stops[i + 1]), t - i as f64)
    }
}
