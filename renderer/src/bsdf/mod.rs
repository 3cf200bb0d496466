//! A material by itself: in charts, which people look at first ([`Study`]), on arrays ([`Laboratory`]), and, whoever computes it,
//! under test ([`fn@conformance`]).
//!
//! Everything is measured through [`device::bsdf::Lobe`], as a render would: nothing here knows what a lobe computes.

mod albedo;
mod batch;
mod chi2;
mod conformance;
mod cross_section;
mod density;
mod furnace;
mod integrate;
mod laboratory;
mod masking;
mod polar;
mod samples;
mod subject;

use std::fmt::Write;

use device::bsdf::Tinted;
use device::color::luminance;
use glam::{DVec3, Vec3};

pub use batch::{BatchBsdf, SampleColumns, Samples};
pub use conformance::{Conformance, Finding, Report, conformance};
pub use device::path::Drawn;
pub use integrate::{Albedo, Precision, albedo, albedo_sampled};
pub use laboratory::Laboratory;
pub use subject::Subject;

use torrance_plot::chart::{Anchor, Drawing, Entry, Font, Rect, Theme, ThemeName};

use integrate::{Delta, Probe};

/// The charts there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// f and f·cos θ in the plane of incidence.
    CrossSection,
    /// Lobes as polar plots.
    Polar,
    /// Directional albedo against angle and roughness.
    Albedo,
    /// Energy that single scattering loses.
    Furnace,
    /// Height-correlated against separable G2.
    Masking,
    /// Samples against their density.
    Samples,
}

/// Charts by name.
pub const KINDS: &[(&str, Kind)] = &[
    ("cross-section", Kind::CrossSection),
    ("polar", Kind::Polar),
    ("albedo", Kind::Albedo),
    ("furnace", Kind::Furnace),
    ("masking", Kind::Masking),
    ("samples", Kind::Samples),
];

impl Kind {
    /// Its name.
    pub fn name(self) -> &'static str {
        KINDS.iter().find(|(_, kind)| *kind == self).map_or("", |(name, _)| name)
    }
}

/// Which number of a colour is shown where there is room for one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Channel {
    /// Red.
    R,
    /// Green.
    G,
    /// Blue.
    B,
    /// Relative luminance.
    #[default]
    Luminance,
}

impl Channel {
    /// Value of a colour in this channel.
    pub fn value(self, rgb: DVec3) -> f64 {
        match self {
            Self::R => rgb.x,
            Self::G => rgb.y,
            Self::B => rgb.z,
            Self::Luminance => f64::from(luminance(rgb.as_vec3())),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::R => "red channel",
            Self::G => "green channel",
            Self::B => "blue channel",
            Self::Luminance => "luminance",
        }
    }
}

/// A material to look at, and how.
#[derive(Debug, Clone, PartialEq)]
pub struct Study {
    /// Name of the material, for titles.
    pub name: String,
    /// The material.
    pub subject: Subject,
    /// Angles of ωo to the normal, degrees, in [0, 90).
    pub angles: Vec<f64>,
    /// Azimuth of the plane of incidence, degrees from the direction in which u grows.
    pub azimuth: f64,
    /// The number that curves plot for a colour.
    pub channel: Channel,
    /// The colours of the charts.
    pub theme: ThemeName,
    /// Width and height of the charts, pixels; each its own if `None`.
    pub size: Option<(u32, u32)>,
}

/// A chart, and its numbers.
#[derive(Debug, Clone)]
pub struct Chart {
    /// The picture.
    pub drawing: Drawing,
    /// Width and height, pixels.
    pub size: (u32, u32),
    /// The plotted numbers.
    pub table: Table,
    /// Summary figures, by name.
    pub facts: Vec<(&'static str, f64)>,
}

/// A chart that a material does not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NoChart {
    /// No furnace test.
    #[error("the material has no microfacets that could lose energy")]
    NothingLost,
    /// No masking.
    #[error("the material has no microfacets that could mask each other")]
    NothingMasked,
    /// No density to compare samples with.
    #[error("all directions it sends light to are of no width, and have no density")]
    NoDensity,
}

/// Pixels in a logical unit, where no size is asked for.
const PIXELS_PER_UNIT: f64 = 1.6;

impl Study {
    /// Makes a chart.
    ///
    /// # Errors
    /// This material has no such chart.
    pub fn chart(&self, kind: Kind) -> Result<Chart, NoChart> {
        match kind {
            Kind::CrossSection => Ok(cross_section::chart(self)),
            Kind::Polar => Ok(polar::chart(self)),
            Kind::Albedo => Ok(albedo::chart(self)),
            Kind::Furnace => furnace::chart(self),
            Kind::Masking => masking::chart(self),
            Kind::Samples => samples::chart(self),
        }
    }

    fn theme(&self) -> Theme {
        self.theme.theme()
    }

    /// The direction at `theta` degrees to the normal in the plane of incidence, negative on the side of ωo.
    fn in_plane(&self, theta: f64) -> Vec3 {
        self.direction(theta, 0.0)
    }

    /// The direction at `theta` degrees to the normal, and `phi` degrees from the plane of incidence.
    fn direction(&self, theta: f64, phi: f64) -> Vec3 {
        density::direction(self.azimuth, theta, phi)
    }

    /// ωo at `theta` degrees.
    fn wo(&self, theta: f64) -> Vec3 {
        self.in_plane(-theta)
    }

    /// Degrees to the normal of a direction projected into the plane of incidence; in (−180, 180].
    fn theta_in_plane(&self, w: Vec3) -> f64 {
        let (y, x) = self.azimuth.to_radians().sin_cos();
        (f64::from(w.x) * x + f64::from(w.y) * y).atan2(f64::from(w.z)).to_degrees()
    }

    /// An empty chart of a size in logical units, with a title, and the place below it.
    fn page(&self, title: &str, width: f64, height: f64) -> (Drawing, Rect, (u32, u32)) {
        let natural = ((width * PIXELS_PER_UNIT) as u32, (height * PIXELS_PER_UNIT) as u32);
        let size = self.size.unwrap_or(natural);
        let (w, h) = (f64::from(size.0), f64::from(size.1));
        // At least as large as is natural, so that labels have their room.
        let scale = (w / width).min(h / height);
        let theme = self.theme();
        let mut drawing = Drawing::new(w / scale, h / scale, theme.background);
        let font = Font { size: 17.0, color: theme.text, bold: true };
        drawing.text(format!("{}: {title}", self.name), [24.0, 33.0], Anchor::Start, font);
        let font = Font { size: 11.5, color: theme.muted, bold: false };
        drawing.text(self.subject.describe(), [24.0, 53.0], Anchor::Start, font);
        let body = drawing.frame().inset([24.0, 68.0, 24.0, 16.0]);
        (drawing, body, size)
    }

    /// The quantity that curves show, with the plane of incidence where that matters.
    fn shown(&self) -> String {
        let plane = match self.subject.is_anisotropic() || self.azimuth != 0.0 {
            true => format!(", plane of incidence {}° from u", self.azimuth),
            false => String::new(),
        };
        format!("{}{plane}", self.channel.name())
    }
}

/// The inside of the axes of a panel with a legend.
fn frame_of(cell: Rect) -> Rect {
    cell.inset([56.0, 54.0, 8.0, 58.0])
}

/// A note below a chart.
fn footnote(drawing: &mut Drawing, theme: Theme, text: impl Into<String>) {
    let font = Font { size: 10.5, color: theme.muted, bold: false };
    let at = [24.0, drawing.height - 11.0];
    drawing.text(text, at, Anchor::Start, font);
}

/// Draws a legend for all panels of a chart at the top of its body, in as many rows as it takes, and gives what is left
/// of the body.
fn legend(drawing: &mut Drawing, theme: Theme, body: Rect, entries: &[Entry]) -> Rect {
    const ROW: f64 = 17.0;
    let font = Font { size: 11.5, color: theme.text, bold: false };
    let (mut x, mut y) = (body.x, body.y + 12.0);
    for entry in entries {
        if x > body.x && x + entry.width(font) > body.right() + 13.0 {
            (x, y) = (body.x, y + ROW);
        }
        entry.draw(drawing, [x, y], font);
        x += entry.width(font);
    }
    body.inset([0.0, y + 10.0 - body.y, 0.0, 0.0])
}

/// Power that goes into delta directions, in words: `: 0.040 at 30°, 0.960 at 160.5°`; empty if there are none.
fn spikes(study: &Study, probe: &Probe) -> String {
    let one = |d: &Delta| {
        let theta = (study.theta_in_plane(d.wi) * 10.0).round() / 10.0;
        // Straight down is 180° from both sides.
        let theta = if theta == -180.0 { 180.0 } else { theta };
        format!("{:.3} at {}°", study.channel.value(d.weight), theta + 0.0)
    };
    let mut deltas = probe.deltas.clone();
    deltas.sort_by(|a, b| b.wi.z.total_cmp(&a.wi.z));
    let words: Vec<_> = deltas.iter().map(one).collect();
    if words.is_empty() { String::new() } else { format!(": {}", words.join(", ")) }
}

/// `0°`, `62.5°`.
fn degrees(theta: f64) -> String {
    format!("{theta}°")
}

/// Angles in degrees at which to draw a curve: evenly, and ever denser towards the peaks of the lobe.
fn dense_angles(study: &Study, probe: &Probe, theta_o: f64, low: f64, high: f64) -> Vec<f64> {
    const STEP: f64 = 0.5;
    let mut angles: Vec<f64> =
        (0..=((high - low) / STEP).round() as i32).map(|i| low + STEP * f64::from(i)).collect();
    let peaks = [probe.reflected, probe.transmitted].into_iter().flatten();
    for peak in peaks.map(|p| study.theta_in_plane(p)).chain([theta_o]) {
        for i in -160..=120 {
            let offset = 10f64.powf(f64::from(i) / 100.0);
            angles.extend([peak - offset, peak + offset]);
        }
        angles.extend((-40..=40).map(|i| peak + 5e-4 * f64::from(i)));
    }
    angles.retain(|a| (low..=high).contains(a));
    angles.sort_by(f64::total_cmp);
    angles.dedup_by(|a, b| (*a - *b).abs() < 1e-6);
    angles
}

/// Whether a lobe sends light to the other side.
fn transmits(probe: &Probe) -> bool {
    probe.transmitted.is_some() || probe.deltas.iter().any(|d| d.wi.z < 0.0)
}

/// Numbers in rows, with names of the columns.
#[derive(Debug, Clone)]
pub struct Table {
    columns: usize,
    text: String,
}

impl Table {
    /// No rows yet. `columns` are their names, separated by commas.
    fn new(columns: &str) -> Self {
        Self { columns: columns.split(',').count(), text: format!("{columns}\n") }
    }

    /// Adds a row: words, then numbers. NaN is written as nothing.
    fn row(&mut self, words: &[&str], numbers: &[f64]) {
        debug_assert_eq!(self.columns, words.len() + numbers.len());
        let words = words.iter().map(|w| (*w).to_owned());
        let numbers = numbers.iter().map(|x| number(*x));
        let row: Vec<_> = words.chain(numbers).collect();
        let _ = writeln!(self.text, "{}", row.join(","));
    }

    /// As CSV (RFC 4180), but with bare line feeds.
    pub fn csv(&self) -> &str {
        &self.text
    }
}

/// Seven digits, which is what f32 has.
fn number(x: f64) -> String {
    if x.is_nan() {
        return String::new();
    }
    if x == 0.0 || (1e-4..1e7).contains(&x.abs()) {
        return rounded(x, 7, 12);
    }
    format!("{x:.6e}")
}

/// A number to so many digits, of which no more than `most` are behind the point, without zeros at its end.
fn rounded(x: f64, digits: i32, most: i32) -> String {
    if x == 0.0 {
        return "0".to_owned();
    }
    let decimals = (digits - 1 - x.abs().log10().floor() as i32).clamp(0, most) as usize;
    let text = format!("{x:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// [`albedo`] of a lobe for ωo at `theta` degrees.
fn albedo_at(study: &Study, bsdf: &Tinted, theta: f64) -> Albedo {
    albedo(bsdf, study.wo(theta), Precision::CURVE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_exact() {
        for (x, expected) in [
            (0.0, "0"),
            (30.0, "30"),
            (1.0 / 3.0, "0.3333333"),
            (-2.5, "-2.5"),
            (1234567.0, "1234567"),
            (1e-9, "1.000000e-9"),
            (f64::NAN, ""),
        ] {
            assert_eq!(number(x), expected);
        }
    }
}
