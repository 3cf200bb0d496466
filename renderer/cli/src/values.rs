//! Values of options: what users write, and what they are told when they wrote something else.

use std::fmt;
use std::str::FromStr;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use renderer::defocus::{MOST_RADIUS, Shape};
use renderer::render::mattes::MOST_RANKS;
use renderer::render::{Paths, When};
use renderer::{DeviceChoice, FleetChoice};
use torrance_gpu::primitives::MOST;
use torrance_image::compare::Region;
use torrance_image::film::encode::{DisplayDepth, ExrCompression, ExrDepth};
use torrance_image::film::exposure::Exposure;
use torrance_image::film::tone::Tonemap;
use torrance_image::film::white_balance::{KELVIN, WhiteBalance};
use torrance_image::metrics::flip::PIXELS_PER_DEGREE_RANGE;
use torrance_image::metrics::{Metric, Threshold};
use torrance_plot::chart::ThemeName;
use torrance_scene::limits::{
    BYTES_PER_PIXEL, LEAST_CLAMP, MAX_DEPTH, MAX_SPP, MOST_CLAMP, check_memory, check_size, memory_for_film,
};
use torrance_system::MOST_THREADS;
pub(super) use torrance_text::duration as time;
use torrance_text::{hint, quoted};

use super::resume::CheckpointTime;

/// A value, and how the user wrote it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Written<T> {
    pub(super) value: T,
    text: String,
}

impl<T> fmt::Display for Written<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// A parser that keeps the text as well.
pub(super) fn written<T>(
    parse: fn(&str) -> Result<T, String>,
) -> impl Fn(&str) -> Result<Written<T>, String> + Clone {
    move |text| parse(text).map(|value| Written { value, text: text.to_owned() })
}

/// Image size: `640x360` or `640,360`.
pub(super) fn size(text: &str) -> Result<(u32, u32), String> {
    let expected = || "expected WIDTHxHEIGHT in pixels, as in 1280x720".to_owned();
    let (width, height) = text.split_once(['x', 'X', '×', ',']).ok_or_else(expected)?;
    let side = |t: &str| t.trim().parse::<u64>().map_err(|_| expected());
    let (width, height) = (side(width)?, side(height)?);
    check_size(width, height)?;
    let narrow = |side| u32::try_from(side).map_err(|_| format!("a side of {side} pixels is too long"));
    let (width, height) = (narrow(width)?, narrow(height)?);
    check_memory(width, height, BYTES_PER_PIXEL, memory_for_film())?;
    Ok((width, height))
}

/// Where to render, on one device or several.
pub(super) fn devices(text: &str) -> Result<FleetChoice, String> {
    text.parse()
}

/// Where to render, on one device.
pub(super) fn device(text: &str) -> Result<DeviceChoice, String> {
    text.parse()
}

/// Where a program listens.
pub(super) fn address(text: &str) -> Result<String, String> {
    let is_port = |port: &str| port.parse::<u16>().is_ok_and(|port| port > 0);
    let is_whole = text.rsplit_once(':').is_some_and(|(host, port)| !host.is_empty() && is_port(port));
    is_whole.then(|| text.to_owned()).ok_or_else(|| "expected HOST:PORT, as in 127.0.0.1:14158".to_owned())
}

/// Samples per pixel.
pub(super) fn spp(text: &str) -> Result<u32, String> {
    whole(text, 1, MAX_SPP)
}

/// Longest path.
pub(super) fn max_depth(text: &str) -> Result<u32, String> {
    whole(text, 1, MAX_DEPTH)
}

/// Seed of the sampler.
pub(super) fn seed(text: &str) -> Result<u32, String> {
    whole(text, 0, u32::MAX)
}

/// Number of elements: `2000000`, `128Mi`, `2^27`, `2^27-1`.
pub(super) fn length(text: &str) -> Result<u32, String> {
    let number = match text.rsplit_once(['+', '-']) {
        None => count(text),
        Some((large, small)) => {
            let combine = if text.contains('-') { u64::checked_sub } else { u64::checked_add };
            count(large).zip(small.parse().ok()).and_then(|(large, small)| combine(large, small))
        }
    };
    counted(number, MOST, "elements", "2000000, 128Mi, 2^27 or 2^27-1")
}

/// A number from 1 to `most` of such things.
fn counted(number: Option<u64>, most: u32, things: &str, examples: &str) -> Result<u32, String> {
    let valid = number.and_then(|n| u32::try_from(n).ok()).filter(|n| (1..=most).contains(n));
    valid.ok_or_else(|| format!("expected a number of {things} from 1 to {most}, as in {examples}"))
}

/// A number with a suffix, or a power.
fn count(text: &str) -> Option<u64> {
    const SUFFIXES: [(&str, u64); 6] = [
        ("Ki", 1 << 10),
        ("Mi", 1 << 20),
        ("Gi", 1 << 30),
        ("k", 1_000),
        ("M", 1_000_000),
        ("G", 1_000_000_000),
    ];
    let text = text.trim();
    let suffix = SUFFIXES.into_iter().find_map(|(s, unit)| Some((text.strip_suffix(s)?, unit)));
    let (digits, unit) = suffix.unwrap_or((text, 1));
    let number: u64 = match digits.split_once('^') {
        Some((base, exponent)) => base.parse::<u64>().ok()?.checked_pow(exponent.parse().ok()?)?,
        None => digits.parse().ok()?,
    };
    number.checked_mul(unit)
}

/// Bytes of memory: `800MiB`, `1.5 GiB`.
pub(super) fn memory(text: &str) -> Result<u64, String> {
    const UNITS: [(&str, u64); 6] = [
        ("MiB", 1 << 20),
        ("GiB", 1 << 30),
        ("TiB", 1 << 40),
        ("MB", 1_000_000),
        ("GB", 1_000_000_000),
        ("TB", 1_000_000_000_000),
    ];
    const RANGE: std::ops::RangeInclusive<f64> = 1e6..=1e15;
    let size = UNITS.into_iter().find_map(|(name, unit)| {
        let number: f64 = text.trim().strip_suffix(name)?.trim_end().parse().ok()?;
        Some(number * unit as f64).filter(|bytes| RANGE.contains(bytes))
    });
    size.map(|bytes| bytes as u64)
        .ok_or_else(|| "expected a size with its unit, from 1MB to 1000TB, as in 800MiB or 2GiB".into())
}

/// Memory for learning what guides paths, MiB: `256`, `256MiB`.
pub(super) fn guiding_memory(text: &str) -> Result<u32, String> {
    let mib = memory(text).map_or_else(|_| text.to_owned(), |bytes| (bytes >> 20).to_string());
    let is_valid = |mib: &u32| (16..=1 << 16).contains(mib);
    number(&mib, is_valid, "expected from 16 to 65536 MiB, as in 256 or 2GiB")
}

/// Number of threads.
pub(super) fn threads(text: &str) -> Result<usize, String> {
    whole(text, 1, MOST_THREADS as u32).map(|n| n as usize)
}

/// Ranks of a Cryptomatte.
pub(super) fn crypto_ranks(text: &str) -> Result<usize, String> {
    let most = MOST_RANKS;
    number(
        text,
        |n| (2..=most).contains(n) && n % 2 == 0,
        format!("expected an even number from 2 to {most}"),
    )
}

/// Colours of charts and sheets.
pub(super) const THEMES: &[(&str, ThemeName)] = &[("light", ThemeName::Light), ("dark", ThemeName::Dark)];

/// `--shape`.
pub(super) const SHAPES: &[(&str, Shape)] = &[("disc", Shape::Disc), ("box", Shape::Box)];

/// Paths of a pool.
pub(super) fn pool(text: &str) -> Result<u32, String> {
    counted(count(text), Paths::MOST, "paths", "1000000, 512Ki or 2^20")
}

/// Where Russian roulette sets in: `Some(None)` for never.
pub(super) fn rr_depth(text: &str) -> Result<RrDepth, String> {
    if matches!(text, "off" | "none" | "never") {
        return Ok(RrDepth(None));
    }
    let depth = whole(text, 0, MAX_DEPTH).map_err(|e| format!("{e}, or off"))?;
    Ok(RrDepth(Some(depth)))
}

/// Most radiance of indirect light: `Some(None)` for no limit.
pub(super) fn clamp_indirect(text: &str) -> Result<Clamp, String> {
    if text == "off" {
        return Ok(Clamp(None));
    }
    let range = LEAST_CLAMP..=MOST_CLAMP;
    let expected = format!("expected a radiance from {LEAST_CLAMP} to {MOST_CLAMP}, or off");
    number(text, |x| range.contains(x), expected).map(|most| Clamp(Some(most)))
}

/// Most radiance of indirect light. A type of its own, because clap takes `Option` for a missing flag.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Clamp(pub(super) Option<f32>);

/// Time between checkpoints, or off.
pub(super) fn checkpoint(text: &str) -> Result<CheckpointTime, String> {
    if text == "off" {
        return Ok(CheckpointTime(None));
    }
    time(text).map(|time| CheckpointTime(Some(time))).map_err(|e| format!("{e}, or off"))
}

/// Where Russian roulette sets in. A type of its own, because clap takes `Option` for a missing flag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RrDepth(pub(super) Option<u32>);

/// Exposure: stops, `auto`, or a camera's.
pub(super) fn exposure(text: &str) -> Result<Exposure, String> {
    text.parse()
}

/// White balance: a temperature, kelvin, or a colour.
pub(super) fn white_balance(text: &str) -> Result<WhiteBalance, String> {
    let [least, most] = KELVIN;
    let expected = format!(
        "expected a temperature from {least} to {most} K, as in 3200 or 5600K, or the colour of the light, as in 1,0.8,0.5"
    );
    let numbers = text.trim_end_matches(['K', 'k']).split(',').map(|x| x.trim().parse::<f64>().ok());
    let balance = match numbers.collect::<Option<Vec<_>>>().as_deref() {
        Some([kelvin]) => WhiteBalance::of_kelvin(*kelvin),
        Some([r, g, b]) if [r, g, b].into_iter().all(|x| *x >= 0.0) => WhiteBalance::of_white([*r, *g, *b]),
        _ => None,
    };
    balance.ok_or(expected)
}

/// Angles of incidence, degrees. A type of its own, because clap takes `Vec` for a repeated option.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Angles(pub(super) Vec<f64>);

/// Angles of incidence: `0,30,60`.
pub(super) fn angles(text: &str) -> Result<Angles, String> {
    const MOST: usize = 6;
    const EXPECTED: &str = "expected degrees from 0 to 89.9 separated by commas, as in 0,45,80";
    let angle = |t: &str| number(degrees(t.trim()), |x| (0.0..=89.9).contains(x), EXPECTED);
    let mut angles = text.split(',').map(angle).collect::<Result<Vec<_>, _>>()?;
    angles.sort_by(f64::total_cmp);
    angles.dedup();
    if angles.len() > MOST { Err(format!("{MOST} angles at most")) } else { Ok(Angles(angles)) }
}

/// Azimuth, degrees.
pub(super) fn azimuth(text: &str) -> Result<f64, String> {
    number(degrees(text), |x: &f64| x.abs() <= 360.0, "expected degrees from -360 to 360")
}

/// Size of a chart: such that text is legible, and that it fits into memory.
pub(super) fn chart_size(text: &str) -> Result<(u32, u32), String> {
    const SIDES: std::ops::RangeInclusive<u32> = 300..=8192;
    let (width, height) = size(text)?;
    if SIDES.contains(&width) && SIDES.contains(&height) && width.max(height) <= 4 * width.min(height) {
        return Ok((width, height));
    }
    Err("a chart has sides of 300 to 8192 pixels, one at most four times the other".into())
}

/// A part of an image: `x,y,width,height`.
pub(super) fn region(text: &str) -> Result<Region, String> {
    const EXPECTED: &str =
        "expected the column and the row of its top left pixel, its width and its height, as in 100,80,64,64";
    let numbers = numbers(text).filter(|[_, _, width, height]| *width > 0 && *height > 0);
    numbers.map(|[x, y, width, height]| Region { x, y, width, height }).ok_or_else(|| EXPECTED.into())
}

/// Whole numbers, separated by commas.
fn numbers<const N: usize>(text: &str) -> Option<[u32; N]> {
    let numbers: Option<Vec<u32>> = text.split(',').map(|t| t.trim().parse().ok()).collect();
    numbers?.try_into().ok()
}

/// A relative error: `1%` or `0.01`.
pub(super) fn noise(text: &str) -> Result<f64, String> {
    let (number, unit) = text.strip_suffix('%').map_or((text, 1.0), |number| (number, 0.01));
    match number.trim().parse::<f64>() {
        Ok(x) if (1e-6..=1.0).contains(&(x * unit)) => Ok(x * unit),
        _ => Err("expected a relative error from 0.0001% to 100%, as in 1% or 0.01".into()),
    }
}

/// A percentage of pixels: `99` or `99%`.
pub(super) fn percentile(text: &str) -> Result<f64, String> {
    let text = text.strip_suffix('%').unwrap_or(text);
    number(text, |x| *x > 1.0 && *x <= 100.0, "expected a percentage above 1 and up to 100, as in 99")
}

/// A probability of false alarms.
pub(super) fn level(text: &str) -> Result<f64, String> {
    number(text, |x| *x > 0.0 && *x < 0.5, "expected a probability above 0 and below 0.5, as in 0.01")
}

/// Number of samples that standard errors come from.
pub(super) fn samples(text: &str) -> Result<f32, String> {
    number(text, |x| (2.0..=1e9).contains(x), "expected a number from 2 to 1e9")
}

/// A length in the scene.
pub(super) fn metres(text: &str) -> Result<f32, String> {
    number(text, |x| (1e-9..=1e9).contains(x), "expected metres from 1e-9 to 1e9, as in 0.05")
}

/// A time in an animation.
pub(super) fn seconds(text: &str) -> Result<f32, String> {
    number(text, |x| (0.0..=1e9).contains(x), "expected seconds from 0 to 1e9, as in 1.5")
}

/// A field of view.
pub(super) fn fov(text: &str) -> Result<f32, String> {
    number(degrees(text), |x| (0.001..=179.0).contains(x), "expected degrees from 0.001 to 179, as in 40")
}

/// A pixel: `x,y`.
pub(super) fn pixel(text: &str) -> Result<(u32, u32), String> {
    numbers(text).map(|[x, y]| (x, y)).ok_or_else(|| "expected a column and a row, as in 320,180".into())
}

/// Radius of a blur, pixels.
pub(super) fn blur_radius(text: &str) -> Result<f32, String> {
    number(text, |x| (0.0..=MOST_RADIUS).contains(x), format!("expected pixels from 0 to {MOST_RADIUS}"))
}

/// Pixels per degree of the visual field.
pub(super) fn pixels_per_degree(text: &str) -> Result<f32, String> {
    let range = PIXELS_PER_DEGREE_RANGE;
    let expected = format!("expected a number from {} to {}", range.start(), range.end());
    number(text, |x| range.contains(x), expected)
}

/// A bound on a metric: `flip=0.05`.
pub(super) fn threshold(text: &str) -> Result<Threshold, String> {
    let (name, bound) = text.split_once('=').ok_or("expected METRIC=VALUE, as in flip=0.05")?;
    let found = Metric::ALL.into_iter().find(|(known, _)| *known == name.trim());
    let names = Metric::ALL.map(|(name, _)| name);
    let unknown = || format!("unknown metric {}{}", quoted(name), hint(name, "there are", names));
    let (_, metric) = found.ok_or_else(unknown)?;
    match bound.trim().parse::<f64>() {
        Ok(bound) if bound.is_finite() => Ok(Threshold { metric, bound }),
        _ => Err(format!("expected a number for {name}, not {}", quoted(bound))),
    }
}

/// Factors of red, green and blue of a light group.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Gain {
    pub(super) group: String,
    pub(super) factors: [f64; 3],
}

/// Factors of a light group: `lamp=2` or `sky=0.5,0.6,1`.
pub(super) fn gain(text: &str) -> Result<Gain, String> {
    const EXPECTED: &str =
        "expected GROUP=FACTOR with a factor from 0 to 1e6, or three, as in lamp=2 or sky=0.5,0.6,1";
    let (group, factors) = text.rsplit_once('=').ok_or(EXPECTED)?;
    let factors: Result<Vec<f64>, _> = factors.split(',').map(|x| x.trim().parse()).collect();
    let factors = match factors.map_err(|_| EXPECTED)?[..] {
        [grey] => [grey; 3],
        [r, g, b] => [r, g, b],
        _ => return Err(EXPECTED.to_owned()),
    };
    let is_valid = factors.iter().all(|x| (0.0..=1e6).contains(x));
    if is_valid { Ok(Gain { group: group.trim().to_owned(), factors }) } else { Err(EXPECTED.to_owned()) }
}

/// As [`gain`], in stops: `lamp=+1`.
pub(super) fn stops(text: &str) -> Result<Gain, String> {
    const EXPECTED: &str = "expected GROUP=STOPS with stops from -20 to 20, as in lamp=+1 or sky=-0.5";
    let (group, stops) = text.rsplit_once('=').ok_or(EXPECTED)?;
    match stops.trim().parse::<f64>() {
        Ok(stops) if stops.abs() <= 20.0 => {
            Ok(Gain { group: group.trim().to_owned(), factors: [stops.exp2(); 3] })
        }
        _ => Err(EXPECTED.to_owned()),
    }
}

fn whole(text: &str, min: u32, max: u32) -> Result<u32, String> {
    number(text, |x| (min..=max).contains(x), format!("expected a whole number from {min} to {max}"))
}

/// A number that `is_valid`; the error says what was `expected`.
fn number<T: FromStr>(
    text: &str,
    is_valid: impl Fn(&T) -> bool,
    expected: impl Into<String>,
) -> Result<T, String> {
    text.parse().ok().filter(is_valid).ok_or_else(|| expected.into())
}

/// An angle without its unit.
fn degrees(text: &str) -> &str {
    text.trim_end_matches('°')
}

/// A parser of one of several names: the scene file's.
pub(super) fn named<T: Copy + Send + Sync + 'static>(
    values: &[(&'static str, T)],
) -> impl TypedValueParser<Value = T> + use<T> {
    one_of(values.iter().map(|(name, value)| (PossibleValue::new(*name), *value)).collect())
}

/// A parser of one of several names, each of which `--help` explains.
pub(super) fn choice<T: Copy + Send + Sync + 'static>(
    choices: &[Choice<T>],
) -> impl TypedValueParser<Value = T> + use<T> {
    let value = |(name, help, value): &Choice<T>| (PossibleValue::new(*name).help(*help), *value);
    one_of(choices.iter().map(value).collect())
}

fn one_of<T: Copy + Send + Sync + 'static>(
    values: Vec<(PossibleValue, T)>,
) -> impl TypedValueParser<Value = T> {
    let names = PossibleValuesParser::new(values.iter().map(|(name, _)| name.clone()));
    names.try_map(move |chosen| {
        let found = values.iter().find(|(name, _)| name.get_name() == chosen);
        found.map(|(_, value)| *value).ok_or("not one of the values")
    })
}

/// A value of an option: its name, its line in `--help`, and what it stands for.
type Choice<T> = (&'static str, &'static str, T);

/// `--tonemap`.
pub(super) const TONEMAPS: &[Choice<Tonemap>] = &[
    ("clip", "Clip at 1: what is below stays exact", Tonemap::Clip),
    ("reinhard", "Extended Reinhard on luminance, white at 4", Tonemap::Reinhard),
    ("aces", "ACES look: Hill's fit of the reference and output transforms", Tonemap::Aces),
    ("agx", "AgX: bright colours go to white, as on film", Tonemap::AgX),
    (
        "neutral",
        "Khronos PBR Neutral: base colours stay as they are, highlights are compressed",
        Tonemap::Neutral,
    ),
];

/// `--bit-depth`.
pub(super) const DISPLAY_DEPTHS: &[Choice<DisplayDepth>] =
    &[("8", "8 bits a channel", DisplayDepth::Eight), ("16", "16 bits a channel", DisplayDepth::Sixteen)];

/// `--exr`.
pub(super) const EXR_DEPTHS: &[Choice<ExrDepth>] = &[
    ("half", "16-bit floats: half the size, 11 bits of precision, at most 65504", ExrDepth::Half),
    ("float", "32-bit floats: the image as it was computed", ExrDepth::Float),
];

/// `--exr-compression`.
pub(super) const EXR_COMPRESSIONS: &[Choice<ExrCompression>] = &[
    ("none", "Not at all", ExrCompression::None),
    ("rle", "Runs of equal bytes", ExrCompression::Rle),
    ("zips", "Deflate, a row at a time", ExrCompression::Zips),
    ("zip", "Deflate, 16 rows at a time", ExrCompression::Zip),
    ("piz", "Wavelets: lossless, and small where there is noise", ExrCompression::Piz),
    ("pxr24", "Lossy: floats lose 8 of their 23 bits, and are deflated", ExrCompression::Pxr24),
    (
        "b44",
        "Lossy, of a fixed rate, for half floats; what is no half float is not compressed",
        ExrCompression::B44,
    ),
    ("b44a", "As b44, and smaller where there is one colour", ExrCompression::B44a),
];

/// `--order-rays`.
pub(super) const ORDER_RAYS: &[Choice<When>] = &[
    ("auto", "Where it pays", When::Auto),
    ("always", "In all scenes", When::Always),
    ("never", "In none", When::Never),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        for text in ["640x360", "640X360", "640,360", "640×360", " 640 x 360 "] {
            assert_eq!(size(text), Ok((640, 360)), "{text}");
        }
        for text in ["", "640", "x", "640x", "-1x5", "6.5x5", "axb", "1x2x3", "99999999999999999999999x1"] {
            assert_eq!(size(text), Err("expected WIDTHxHEIGHT in pixels, as in 1280x720".into()), "{text}");
        }
        assert!(size("0x5").unwrap_err().contains("empty"));
        assert!(size("1000000x1000000").unwrap_err().contains("memory"));
        assert!(size("18446744073709551615x18446744073709551615").is_err());
    }

    #[test]
    fn one_device() {
        for (text, expected) in [
            ("auto", DeviceChoice::Auto),
            ("cpu", DeviceChoice::Cpu),
            ("CUDA", DeviceChoice::Cuda(0)),
            ("cuda:3", DeviceChoice::Cuda(3)),
        ] {
            assert_eq!(device(text), Ok(expected));
        }
        for text in ["", "gpu", "cuda:", "cuda:x", "cuda:-1", "cuda:+1", "cuda0", "cuda:99999999999999999999"]
        {
            assert!(device(text).unwrap_err().starts_with("expected auto, cpu"), "{text}");
        }
    }

    #[test]
    fn several_devices() {
        let gpus = |which: Option<&[u32]>, cpu| {
            Ok(FleetChoice::Gpus { which: which.map(|which| which.iter().copied().collect()), cpu })
        };
        assert_eq!(devices("auto"), Ok(FleetChoice::default()));
        assert_eq!(devices("cuda:1"), Ok(FleetChoice::One(DeviceChoice::Cuda(1))));
        assert_eq!(devices("cuda:all"), gpus(None, false));
        assert_eq!(devices("CUDA:All+CPU"), gpus(None, true));
        assert_eq!(devices("cuda:2,0"), gpus(Some(&[0, 2]), false));
        assert_eq!(devices("cuda+cpu"), gpus(Some(&[0]), true));
        assert_eq!(devices("cuda:3+cpu"), gpus(Some(&[3]), true));
        for text in ["", "cuda:", "cuda:0,", "cuda:a,b", "cpu+cpu", "auto+cpu", "cuda:all,1", "cpu+cuda:all"]
        {
            assert!(devices(text).unwrap_err().contains("cuda:all+cpu"), "{text}");
        }
    }

    #[test]
    fn numbers() {
        assert_eq!(spp("64"), Ok(64));
        assert_eq!(rr_depth("off"), Ok(RrDepth(None)));
        assert_eq!(rr_depth("5"), Ok(RrDepth(Some(5))));
        assert_eq!(exposure("-1.5"), Ok(Exposure::Stops(-1.5)));
        assert_eq!(exposure("auto"), Ok(Exposure::Auto));
        for text in ["0", "-1", "1.5", "", "4294967296", "x"] {
            assert!(spp(text).unwrap_err().starts_with("expected a whole number from 1 to"), "{text}");
        }
        assert_eq!(rr_depth("x").unwrap_err(), "expected a whole number from 0 to 1000, or off");
        assert!(exposure("bright").unwrap_err().starts_with("expected stops"));
        assert_eq!(white_balance("3200K").ok(), WhiteBalance::of_kelvin(3200.0));
        assert_eq!(white_balance("1, 0.8, 0.5").ok(), WhiteBalance::of_white([1.0, 0.8, 0.5]));
        for text in ["", "K", "100", "1e9", "nan", "1,2", "1,-1,1", "0,0,0", "warm"] {
            assert!(white_balance(text).unwrap_err().starts_with("expected a temperature"), "{text}");
        }
    }

    #[test]
    fn lengths() {
        for (text, expected) in
            [("1", 1), ("2000000", 2_000_000), ("2^27", 1 << 27), ("128Mi", 1 << 27), (" 2M ", 2_000_000)]
        {
            assert_eq!(length(text), Ok(expected), "{text}");
        }
        assert_eq!(length("2147483647"), Ok(MOST));
        assert_eq!((length("2^31-1"), length("2^24+7")), (Ok(MOST), Ok((1 << 24) + 7)));
        for text in [
            "",
            "0",
            "-1",
            "+",
            "-",
            "7-",
            "7-8",
            "8-7-1",
            "2^31+1",
            "1+-1",
            "1--1",
            "2^31",
            "2147483648",
            "2^",
            "^2",
            "2^99",
            "4Gi",
            "1.5M",
            "Mi",
            "1e6",
            "x",
        ] {
            assert!(length(text).unwrap_err().starts_with("expected a number of elements"), "{text}");
        }
    }

    #[test]
    fn errors_of_images() {
        for (text, expected) in [("1%", 0.01), ("0.5 %", 0.005), ("0.02", 0.02), ("1", 1.0)] {
            assert_eq!(noise(text), Ok(expected), "{text}");
        }
        for text in ["", "%", "0", "-1%", "101%", "2", "NaN", "inf", "1%%", "one"] {
            assert!(noise(text).unwrap_err().starts_with("expected a relative error"), "{text}");
        }
    }

    #[test]
    fn pools() {
        for (text, expected) in [
            ("1", 1),
            ("1000000", 1_000_000),
            ("512Ki", 1 << 19),
            ("4Mi", 1 << 22),
            ("2^26", 1 << 26),
            (" 2k ", 2000),
        ] {
            assert_eq!(pool(text), Ok(expected), "{text}");
        }
        let message = "expected a number of paths from 1 to 67108864, as in 1000000, 512Ki or 2^20";
        for text in [
            "", "0", "-1", "1.5Mi", "67108865", "65Mi", "4Gi", "2^32", "2^99", "Mi", "4mi", "2^20-1", "1e6",
            "x",
        ] {
            assert_eq!(pool(text), Err(message.into()), "{text}");
        }
    }

    #[test]
    fn sizes_of_memory() {
        for (text, expected) in [
            ("2GiB", 2 << 30),
            ("800MiB", 800 << 20),
            (" 1.5 GiB ", 3 << 29),
            ("1MB", 1_000_000),
            ("0.5TB", 500_000_000_000),
        ] {
            assert_eq!(memory(text), Ok(expected), "{text}");
        }
        let message = "expected a size with its unit, from 1MB to 1000TB, as in 800MiB or 2GiB";
        for text in [
            "", "2", "2G", "GiB", "0GiB", "-1GiB", "nanGiB", "infGiB", "1KiB", "0.5MB", "1e9TiB", "2 gib",
            "x",
        ] {
            assert_eq!(memory(text), Err(message.into()), "{text}");
        }
    }

    #[test]
    fn lenses() {
        assert_eq!(metres("0.05"), Ok(0.05));
        assert_eq!(fov("40°"), Ok(40.0));
        assert_eq!(pixel("320, 180"), Ok((320, 180)));
        assert_eq!(blur_radius("0"), Ok(0.0));
        for text in ["", "0", "-1", "nan", "inf", "1e10", "x"] {
            assert!(metres(text).unwrap_err().starts_with("expected metres"), "{text}");
            assert!(fov(text).unwrap_err().starts_with("expected degrees"), "{text}");
        }
        for text in ["", "1", "1,", "-1,2", "1,2,3", "1.5,2"] {
            assert!(pixel(text).unwrap_err().starts_with("expected a column"), "{text}");
        }
        assert!(blur_radius("-1").is_err() && blur_radius("nan").is_err() && blur_radius("5000").is_err());
    }

    #[test]
    fn bounds_and_regions() {
        assert_eq!(region("1, 2,3,4"), Ok(Region { x: 1, y: 2, width: 3, height: 4 }));
        for text in ["", "1,2,3", "1,2,3,0", "1,2,0,4", "-1,2,3,4", "1,2,3,4,5", "1,2,3,99999999999"] {
            assert!(region(text).unwrap_err().starts_with("expected the column"), "{text}");
        }
        assert_eq!(threshold("ssim=0.9"), Ok(Threshold { metric: Metric::Ssim, bound: 0.9 }));
        assert_eq!(threshold("flipp=1").unwrap_err(), "unknown metric \"flipp\"; did you mean \"flip\"?");
        assert!(
            threshold("lpips=1").unwrap_err().starts_with("unknown metric \"lpips\"; there are \"rmse\", ")
        );
        assert_eq!(threshold("flip=x").unwrap_err(), "expected a number for flip, not \"x\"");
        assert!(threshold("flip").is_err() && threshold("flip=nan").is_err() && threshold("=1").is_err());
        assert_eq!(level("0.05"), Ok(0.05));
        assert!(level("0").is_err() && level("1").is_err() && level("nan").is_err());
        assert!(samples("1").is_err() && samples("nan").is_err() && samples("4").is_ok());
        assert!(pixels_per_degree("67").is_ok() && pixels_per_degree("0").is_err());
    }
}
