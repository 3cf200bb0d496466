//! Spectra in the place of colours.
//!
//! Mitsuba's variants of three channels make colours of lists of values by wavelength as soon as they read them; so does
//! this. Its plugins `regular`, `irregular` and `blackbody`, which have colours in its spectral variants only, become
//! colours here in the same way.

use std::ops::Range;
use std::sync::LazyLock;

use glam::DVec3;
use torrance_text::quoted;

use super::tree::Value;
use super::view::{PropertyView, View};
use crate::formats::mitsuba::cie::{LONGEST, RGB_FROM_XYZ, SHORTEST, daylight, observer};

/// Most wavelengths of a spectrum.
const MOST: usize = 1_000_000;
/// Largest value of a spectrum: sums of it stay finite.
const LARGEST: f64 = 1e30;

/// The quantity of a spectrum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// A part of daylight that is reflected, in [0, 1].
    Reflected,
    /// Something else, as daylight sees it, not negative.
    Averaged,
    /// Light itself, not negative.
    Emitted,
}

/// A spectrum by its colours in linear sRGB.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Spectrum {
    /// Of daylight, once the spectrum has filtered it.
    filtered: DVec3,
    /// Of light that has the spectrum.
    emitted: DVec3,
    /// Whether it is the same at all wavelengths.
    is_constant: bool,
    /// Whether all that it has is where nothing is seen.
    is_unseen: bool,
}

/// Where something is in the text of a file, bytes.
type Span = Range<usize>;

impl Spectrum {
    /// One that is the same at all wavelengths. Daylight stays white; light of equal energy, (x, y) = (1/3, 1/3), is
    /// reddish beside it.
    pub(super) fn constant(value: f64) -> Self {
        let emitted = value * (RGB_FROM_XYZ * DVec3::ONE);
        Self { filtered: DVec3::splat(value), emitted, is_constant: true, is_unseen: false }
    }

    /// The spectrum that is `value` at a wavelength, nm; it is asked from the shortest to the longest.
    fn from_fn(mut value: impl FnMut(f64) -> f64) -> Self {
        let mut sum = [DVec3::ZERO; 2];
        for (wavelength, weights) in &*SENSITIVITIES {
            let value = value(*wavelength);
            sum = [sum[0] + value * weights[0], sum[1] + value * weights[1]];
        }
        let [filtered, emitted] = sum;
        Self { filtered, emitted, is_constant: false, is_unseen: emitted == DVec3::ZERO }
    }

    /// Reads the value of a `spectrum`: a number, or a list of `wavelength:value`.
    ///
    /// # Errors
    /// It is none.
    pub(super) fn parse(text: &str) -> Result<Self, SpectrumError> {
        if !text.contains(':') {
            return Ok(Self::constant(number(text.trim())?));
        }
        let mut curve = Curve::default();
        for entry in text.split([',', ' ', '\t', '\n', '\r']).filter(|t| !t.is_empty()) {
            let Some((wavelength, value)) = entry.split_once(':') else {
                return Err(SpectrumError::Entry(entry.to_owned()));
            };
            curve.push(number(wavelength)?, number(value)?)?;
        }
        curve.spectrum()
    }

    /// Reads the text of a file: a wavelength and a value on each line; what follows `#` is for people. Gives the first
    /// line with more than two numbers as well, of which Mitsuba ignores the others.
    ///
    /// # Errors
    /// The bytes where something is wrong, and what.
    pub(super) fn parse_file(text: &str) -> Result<(Self, Option<Span>), (Span, SpectrumError)> {
        let mut curve = Curve::default();
        let (mut start, mut excess) = (0, None);
        for line in text.split_inclusive('\n') {
            let place = start..start + line.trim_end().len();
            start += line.len();
            let mut words = line.split('#').next().unwrap_or_default().split_whitespace();
            let Some(wavelength) = words.next() else { continue };
            let pushed = match words.next() {
                Some(value) => {
                    number(wavelength).and_then(|wavelength| curve.push(wavelength, number(value)?))
                }
                None => Err(SpectrumError::NoValue),
            };
            pushed.map_err(|message| (place.clone(), message))?;
            if words.next().is_some() {
                excess.get_or_insert(place);
            }
        }
        let spectrum = curve.spectrum().map_err(|message| (start..start, message))?;
        Ok((spectrum, excess))
    }

    /// Its colour, clamped to the sRGB gamut with a warning unless the spectrum is constant.
    pub(super) fn color(&self, role: Role, warn: impl Fn(&str)) -> DVec3 {
        let color = if role == Role::Emitted { self.emitted } else { self.filtered };
        if self.is_constant {
            return color;
        }
        if self.is_unseen {
            warn(
                "is black: it has nothing at the wavelengths that are looked at, every 0.47 nm from 360 nm to 830 nm",
            );
        }
        let (most, done) = match role {
            Role::Reflected => (1.0, "all channels are brought to between 0 and 1"),
            Role::Averaged | Role::Emitted => (f64::INFINITY, "what is negative becomes 0"),
        };
        let shown = color.clamp(DVec3::ZERO, DVec3::splat(most));
        if shown != color {
            let [r, g, b] = color.to_array();
            warn(&format!("has the colour {r:.4} {g:.4} {b:.4} in linear sRGB; {done}"));
        }
        shown
    }
}

/// Wavelengths, nm, and the colours that 1 has there: of daylight, and of light of equal energy.
///
/// As in Mitsuba 3.9.1: 1000 wavelengths with both ends, each for a thousandth of the range. A sum over them of 1 has a
/// luminance of 1 without daylight, and of 0.9989 with it.
static SENSITIVITIES: LazyLock<Vec<(f64, [DVec3; 2])>> = LazyLock::new(|| {
    const COUNT: u16 = 1000;
    const LUMINANCE: f64 = 106.750_259_4;
    const LUMINANCE_OF_DAYLIGHT: f64 = 98.997_417_519;
    let range = LONGEST - SHORTEST;
    let at = |i: u16| {
        let wavelength = SHORTEST + range * f64::from(i) / f64::from(COUNT - 1);
        let color = RGB_FROM_XYZ * observer(wavelength) * (range / f64::from(COUNT) / LUMINANCE);
        (wavelength, [color * daylight(wavelength) / LUMINANCE_OF_DAYLIGHT, color])
    };
    (0..COUNT).map(at).collect()
});

/// Why a text is no spectrum.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub(super) enum SpectrumError {
    #[error("{} is not a finite number", quoted(.0))]
    Number(String),
    #[error("{} is no \"wavelength:value\", as in \"400:0.1, 700:0.9\"", quoted(.0))]
    Entry(String),
    #[error("a wavelength without a value; a line has both, as in \"400 0.1\"")]
    NoValue,
    #[error("the wavelength {wavelength} follows {last}; wavelengths have to increase")]
    Order { wavelength: f64, last: f64 },
    #[error("{value}, at the wavelength {wavelength}, must be between 0 and {LARGEST:e}")]
    Value { wavelength: f64, value: f64 },
    #[error("a spectrum has at most {MOST} wavelengths")]
    TooLong,
    #[error("a spectrum has at least two wavelengths, as in \"400:0.1, 700:0.9\"")]
    TooShort,
}

/// Values by wavelength, nm, with straight lines between them and nothing beyond.
#[derive(Default)]
struct Curve {
    points: Vec<(f64, f64)>,
}

impl Curve {
    fn push(&mut self, wavelength: f64, value: f64) -> Result<(), SpectrumError> {
        if let Some((last, _)) = self.points.last()
            && wavelength <= *last
        {
            return Err(SpectrumError::Order { wavelength, last: *last });
        }
        if !(0.0..=LARGEST).contains(&value) {
            return Err(SpectrumError::Value { wavelength, value });
        }
        if self.points.len() == MOST {
            return Err(SpectrumError::TooLong);
        }
        self.points.push((wavelength, value));
        Ok(())
    }

    fn spectrum(&self) -> Result<Spectrum, SpectrumError> {
        let [(first, _), .., (last, _)] = self.points.as_slice() else { return Err(SpectrumError::TooShort) };
        let mut next = 1;
        let spectrum = Spectrum::from_fn(|wavelength| {
            if !(*first..=*last).contains(&wavelength) {
                return 0.0;
            }
            while self.points[next].0 < wavelength {
                next += 1;
            }
            let ((w0, a), (w1, b)) = (self.points[next - 1], self.points[next]);
            a + (b - a) * ((wavelength - w0) / (w1 - w0))
        });
        // Black is as good as any other.
        let is_black = self.points.iter().all(|(_, value)| *value == 0.0);
        Ok(Spectrum { is_unseen: spectrum.is_unseen && !is_black, ..spectrum })
    }
}

/// Reads a spectrum that a plugin makes: `regular`, `irregular` or `blackbody`.
pub(super) fn read(view: &View<'_>) -> Option<Spectrum> {
    match view.object.plugin.as_str() {
        "regular" => {
            let ends = ["wavelength_min", "wavelength_max"].map(|name| view.require(name)?.number());
            let (given, values) = list(view, "values")?;
            let [first, last] = [ends[0]?, ends[1]?];
            if first >= last {
                return view.error("\"wavelength_min\" has to be less than \"wavelength_max\"");
            }
            let step = (last - first) / values.len().saturating_sub(1).max(1) as f64;
            let wavelengths = (0..values.len()).map(|i| first + step * i as f64);
            curve(&given, wavelengths.zip(values.iter().copied()))
        }
        "irregular" => {
            let (wavelengths, values) = (list(view, "wavelengths"), list(view, "values"));
            let ((_, wavelengths), (given, values)) = (wavelengths?, values?);
            if wavelengths.len() != values.len() {
                let (n, m) = (wavelengths.len(), values.len());
                return given.fail(format!("has {m} numbers, and \"wavelengths\" has {n}"));
            }
            curve(&given, wavelengths.into_iter().zip(values))
        }
        _ => {
            let temperature = view.require("temperature").and_then(|given| given.number_in(1.0, 1e6));
            let end = |name, default| view.get(name).map_or(Some(default), |given| given.number());
            let (first, last) = (end("wavelength_min", SHORTEST), end("wavelength_max", LONGEST));
            let (temperature, range) = (f64::from(temperature?), first?..=last?);
            Some(Spectrum::from_fn(|nm| if range.contains(&nm) { planck(nm, temperature) } else { 0.0 }))
        }
    }
}

fn curve(given: &PropertyView<'_>, points: impl Iterator<Item = (f64, f64)>) -> Option<Spectrum> {
    let mut curve = Curve::default();
    for (wavelength, value) in points {
        given.value(curve.push(wavelength, value))?;
    }
    given.value(curve.spectrum())
}

/// The numbers in a string.
fn list<'a>(view: &View<'a>, name: &'static str) -> Option<(PropertyView<'a>, Vec<f64>)> {
    let given = view.require(name)?;
    let Value::Text(text) = &given.property.value else { return given.wrong_type("a string of numbers") };
    let words = text.split([',', ' ', '\t', '\n', '\r']).filter(|t| !t.is_empty());
    let numbers = words.map(number).collect::<Result<_, _>>();
    given.value(numbers).map(|numbers| (given, numbers))
}

/// Radiance of a black body, W·sr⁻¹·m⁻²·nm⁻¹, at a wavelength, nm, and a temperature, K: Planck's law.
fn planck(wavelength: f64, temperature: f64) -> f64 {
    const SPEED_OF_LIGHT: f64 = 299_792_458.0;
    const PLANCK: f64 = 6.626_070_15e-34;
    const BOLTZMANN: f64 = 1.380_649e-23;
    let lambda = wavelength * 1e-9;
    let x = PLANCK * SPEED_OF_LIGHT / (lambda * BOLTZMANN * temperature);
    2.0 * PLANCK * SPEED_OF_LIGHT.powi(2) / (lambda.powi(5) * x.exp_m1()) * 1e-9
}

fn number(text: &str) -> Result<f64, SpectrumError> {
    super::tree::number(text).ok_or_else(|| SpectrumError::Number(text.to_owned()))
}
