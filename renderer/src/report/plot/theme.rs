//! Colours of charts.

/// An sRGB colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Color(pub [u8; 3]);

impl Color {
    const fn hex(rgb: u32) -> Self {
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

/// Which colours a chart has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ThemeName {
    /// On white, for paper.
    #[default]
    Light,
    /// On nearly black, for screens.
    Dark,
}

/// The colours of a chart.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Theme {
    /// Behind everything.
    pub background: Color,
    /// Lines of the grid.
    pub grid: Color,
    /// Axes and their ticks.
    pub axis: Color,
    /// Text.
    pub text: Color,
    /// Text that explains.
    pub muted: Color,
    /// Curves of a family.
    pub series: [Color; 6],
    /// Curves of red, green and blue.
    pub channels: [Color; 3],
}

impl ThemeName {
    /// Its colours. Those of curves are Okabe and Ito's (2008), which the colour-blind tell apart, reordered, and for
    /// the dark theme lightened.
    pub const fn theme(self) -> Theme {
        match self {
            Self::Light => Theme {
                background: Color::hex(0xffffff),
                grid: Color::hex(0xe4e7eb),
                axis: Color::hex(0x555c66),
                text: Color::hex(0x1a1e24),
                muted: Color::hex(0x5c6570),
                series: [
                    Color::hex(0x0072b2),
                    Color::hex(0xd55e00),
                    Color::hex(0x009e73),
                    Color::hex(0xb3589a),
                    Color::hex(0xd99100),
                    Color::hex(0x3f3f9e),
                ],
                channels: [Color::hex(0xcc2f36), Color::hex(0x2a8f3c), Color::hex(0x2b62d0)],
            },
            Self::Dark => Theme {
                background: Color::hex(0x14171c),
                grid: Color::hex(0x2b3038),
                axis: Color::hex(0x8a919c),
                text: Color::hex(0xeceef1),
                muted: Color::hex(0xa4abb6),
                series: [
                    Color::hex(0x56b4e9),
                    Color::hex(0xff8b4a),
                    Color::hex(0x35c79a),
                    Color::hex(0xe293c8),
                    Color::hex(0xf0c24b),
                    Color::hex(0xa79df2),
                ],
                channels: [Color::hex(0xff6b6b), Color::hex(0x5fd17a), Color::hex(0x6ea0ff)],
            },
        }
    }
}

impl Theme {
    /// The colour of the `i`th curve of a family.
    pub fn series(&self, i: usize) -> Color {
        self.series[i % self.series.len()]
    }
}

/// Colours of a range of numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColorMap {
    /// Viridis (van der Walt & Smith 2015): perceptually uniform.
    Viridis,
    /// ColorBrewer's RdBu (Brewer 2003) from blue to red: white is in the middle.
    BlueRed,
    /// Magma (Smith & van der Walt 2015), black where there is nothing: in it, ꟻLIP maps are shown.
    Magma,
}

impl ColorMap {
    /// The colour of `t` in [0, 1].
    pub fn at(self, t: f64) -> Color {
        let stops: &[u32] = match self {
            Self::Viridis => {
                &[0x440154, 0x472d7b, 0x3b528b, 0x2c728e, 0x21918c, 0x28ae80, 0x5ec962, 0xaddc30, 0xfde725]
            }
            Self::BlueRed => {
                &[0x2166ac, 0x4393c3, 0x92c5de, 0xd1e5f0, 0xf7f7f7, 0xfddbc7, 0xf4a582, 0xd6604d, 0xb2182b]
            }
            Self::Magma => {
                &[0x000004, 0x1d1147, 0x51127c, 0x832681, 0xb73779, 0xe65164, 0xfc8961, 0xfec488, 0xfcfdbf]
            }
        };
        let t = if t.is_nan() { 0.0 } else { t.clamp(0.0, 1.0) } * (stops.len() - 1) as f64;
        let i = (t as usize).min(stops.len() - 2);
        Color::hex(stops[i]).mix(Color::hex(stops[i + 1]), t - i as f64)
    }
}
