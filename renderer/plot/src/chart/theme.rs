//! Colours of charts.

use torrance_image::color_map::Color;

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
    /// Its colours. Curves have the colour-blind safe palette of Okabe and Ito (2008), reordered, and lightened in the dark
    /// theme.
    pub fn theme(self) -> Theme {
        match self {
            Self::Light => Theme {
                background: Color::hex(0xffffff),
                grid: Color::hex(0xe4e7eb),
                axis: Color::hex(0x555c66),
                text: Color::hex(0x1a1e24),
                muted: Color::hex(0x5c6570),
                series: [0x0072b2, 0xd55e00, 0x009e73, 0xb3589a, 0xd99100, 0x3f3f9e].map(Color::hex),
                channels: [0xcc2f36, 0x2a8f3c, 0x2b62d0].map(Color::hex),
            },
            Self::Dark => Theme {
                background: Color::hex(0x14171c),
                grid: Color::hex(0x2b3038),
                axis: Color::hex(0x8a919c),
                text: Color::hex(0xeceef1),
                muted: Color::hex(0xa4abb6),
                series: [0x56b4e9, 0xff8b4a, 0x35c79a, 0xe293c8, 0xf0c24b, 0xa79df2].map(Color::hex),
                channels: [0xff6b6b, 0x5fd17a, 0x6ea0ff].map(Color::hex),
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
