//! Exposure: as users write it, and as an image is metered.

use std::fmt;
use std::str::FromStr;

use super::develop::luminance;
use super::image::{Image, is_finite};

/// The luminance that the mean one is brought to: that of a card which looks halfway between black and white. Reinhard et al.
/// 2002, "Photographic Tone Reproduction for Digital Images", equation 2.
const KEY: f64 = 0.18;

/// Largest exposure either way, stops. Between the sun's disk and starlight lie some 50.
const MOST: f64 = 100.0;

/// How bright an image for a display is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Exposure {
    /// Radiance times 2 to this power.
    Stops(f32),
    /// As the image is [`metered`].
    Auto,
}

/// What [`Exposure::from_str`] takes.
const EXPECTED: &str = "expected stops from -100 to 100, as in 1.5 or -2; auto; or a camera's exposure, as in ev100=12 or \
                        f/8,1/125,iso=100";

impl fmt::Display for Exposure {
    /// As it is read.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stops(stops) => write!(f, "{stops}"),
            Self::Auto => f.write_str("auto"),
        }
    }
}

impl FromStr for Exposure {
    type Err = String;

    /// Stops; `auto`; `ev100=E`, an exposure value at ISO 100; or the f-number, time in seconds and speed of a camera:
    /// `f/8,1/125,iso=100`. A camera's exposure takes radiance for luminance in cd/m².
    fn from_str(text: &str) -> Result<Self, String> {
        let lower = text.to_ascii_lowercase();
        if lower == "auto" {
            return Ok(Self::Auto);
        }
        let stops = match lower.strip_prefix("ev100=") {
            Some(ev100) => number(ev100).map(of_ev100),
            None if lower.starts_with("f/") => ev100_of_camera(&lower).map(of_ev100),
            None => number(&lower),
        };
        let stops = stops.filter(|stops| stops.abs() <= MOST).ok_or(EXPECTED)?;
        Ok(Self::Stops(stops as f32))
    }
}

fn number(text: &str) -> Option<f64> {
    text.trim().parse().ok().filter(|x: &f64| x.is_finite())
}

/// Stops of an exposure value at ISO 100.
///
/// A sensor of this speed is full at H = 78/100 lx·s (ISO 12232, saturation-based speed), and gets q·L·t/N² with q = 0.65: the
/// brightest luminance is 1.2 · 2^EV₁₀₀ cd/m².
fn of_ev100(ev100: f64) -> f64 {
    -(78.0 / (100.0 * 0.65_f64)).log2() - ev100
}

/// EV₁₀₀ = log₂(N²/t · 100/S), of `f/N,t,iso=S`.
fn ev100_of_camera(text: &str) -> Option<f64> {
    let [aperture, time, speed] = text.split(',').map(str::trim).collect::<Vec<_>>().try_into().ok()?;
    let aperture = number(aperture.strip_prefix("f/")?)?;
    let time = time.strip_suffix('s').unwrap_or(time);
    let time = match time.split_once('/') {
        Some((of, parts)) => number(of)? / number(parts)?,
        None => number(time)?,
    };
    let speed = number(speed.strip_prefix("iso")?.trim_start_matches(['=', ' ']))?;
    let all = aperture > 0.0 && time > 0.0 && speed > 0.0;
    all.then(|| (aperture * aperture / time * 100.0 / speed).log2())
}

/// Which part of the pixels counts for nothing at either end, so that neither a lamp nor a dark corner decides.
const TRIMMED: f64 = 0.1;

/// The exposure, in stops, that brings the mean luminance of an image to 0.18: the log-average of equation 1 of the same paper, of
/// the pixels that are not black, without the darkest and the brightest tenth of these. `None` if all are black.
pub fn metered(image: &Image) -> Option<f32> {
    let logarithm = |pixel: &[f32; 3]| luminance(pixel.map(f64::from)).log2();
    let lit = image.pixels.iter().filter(|pixel| is_finite(pixel)).map(logarithm);
    let mut stops: Vec<f64> = lit.filter(|stops| stops.is_finite()).collect();
    if stops.is_empty() {
        return None;
    }
    let trimmed = (TRIMMED * stops.len() as f64) as usize;
    // Not sorted: images are large, and it is enough to know which are at the ends.
    stops.select_nth_unstable_by(trimmed, f64::total_cmp);
    let brighter = &mut stops[trimmed..];
    let count = brighter.len() - trimmed;
    brighter.select_nth_unstable_by(count - 1, f64::total_cmp);
    let kept = &brighter[..count];
    let mean = kept.iter().sum::<f64>() / kept.len() as f64;
    Some((KEY.log2() - mean) as f32)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn image(grey: impl IntoIterator<Item = f32>) -> Image {
        let pixels: Vec<_> = grey.into_iter().map(|x| [x; 3]).collect();
        Image { width: pixels.len() as u32, height: 1, pixels }
    }

    #[test]
    fn exposures_are_read() {
        let stops = |text: &str| match text.parse() {
            Ok(Exposure::Stops(stops)) => stops,
            other => panic!("{text}: {other:?}"),
        };
        assert_eq!("AUTO".parse(), Ok(Exposure::Auto));
        assert_eq!((stops("1.5"), stops("-2")), (1.5, -2.0));
        // The brightest luminance at EV 0 is 1.2 cd/m².
        assert!((stops("ev100=0").exp2() - 1.0 / 1.2).abs() < 1e-6);
        assert!((stops("EV100=12") - stops("ev100=0") + 12.0).abs() < 1e-5);
        // Sunny 16: f/16 and 1/100 s at ISO 100 is EV 14.64; one stop more of light each.
        let sunny = stops("f/16,1/100,iso100");
        assert!((stops("ev100=14.643856") - sunny).abs() < 1e-5);
        for text in
            ["f/16,1/50,iso=100", "f/16, 0.02s, ISO 100", "f/16,1/100,ISO200", "f/11.3137085,1/100,iso=100"]
        {
            assert!((stops(text) - sunny - 1.0).abs() < 1e-5, "{text}");
        }
        for text in [
            "",
            "nan",
            "inf",
            "1e9",
            "bright",
            "f/8",
            "f/0,1/125,iso=100",
            "f/8,1/0,iso=100",
            "f/8,1/125",
            "ev100=x",
        ] {
            assert_eq!(text.parse::<Exposure>(), Err(EXPECTED.to_owned()), "{text}");
        }
    }

    #[test]
    fn a_grey_card_is_exposed_as_it_is() {
        for (grey, stops) in [(0.18, 0.0), (0.09, 1.0), (0.72, -2.0), (0.18 / 1024.0, 10.0)] {
            assert!((metered(&image([grey; 7])).unwrap() - stops).abs() < 1e-5);
        }
        // Half of it twice as bright, the other half as dark.
        assert!(metered(&image([0.09, 0.36])).unwrap().abs() < 1e-5);
    }

    #[test]
    fn neither_background_nor_lamps_nor_damage_count() {
        let card = [0.18; 20];
        let others = [0.0, 0.0, 0.0, f32::NAN, f32::INFINITY, -1.0, 1e6, 1e5];
        assert!(metered(&image(card.into_iter().chain(others))).unwrap().abs() < 1e-5);
        // Negative control: as many lamps as there is card do.
        assert!(metered(&image(card.into_iter().chain([1e6; 20]))).unwrap() < -5.0);
        assert_eq!(metered(&image([0.0; 4])), None);
        assert_eq!(metered(&image([])), None);
    }
}
