//! Ranges of numbers, and numbers as text.

use torrance_image::film::develop::srgb_decode;
use torrance_text::quoted;

use super::scan::split;
use super::{MOST_VARIANTS, SweepError};

/// A number, or an array of them, that ranges interpolate.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Numbers {
    pub(super) items: Vec<f64>,
    is_array: bool,
}

impl Numbers {
    /// The numbers that a text means: one, an array, or the linear red, green and blue of a colour `#rrggbb`.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let array = |items| Self { items, is_array: true };
        if let Some(items) = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')) {
            return items.split(',').map(finite).collect::<Option<_>>().map(array);
        }
        color(text).map(array).or_else(|| Some(Self { items: vec![finite(text)?], is_array: false }))
    }

    /// In TOML.
    pub(super) fn text(&self) -> String {
        let items = self.items.iter().copied().map(number).collect::<Vec<_>>().join(", ");
        if self.is_array { format!("[{items}]") } else { items }
    }

    /// The numbers `way` of these and others, one by one.
    fn zip(&self, other: &Self, way: impl Fn(f64, f64) -> f64) -> Self {
        let items = self.items.iter().zip(&other.items).map(|(a, b)| way(*a, *b)).collect();
        Self { items, is_array: self.is_array }
    }
}

fn finite(text: &str) -> Option<f64> {
    text.trim().parse().ok().filter(|x: &f64| x.is_finite())
}

fn color(text: &str) -> Option<Vec<f64>> {
    let code = text.trim_matches('"').strip_prefix('#')?;
    if code.len() != 6 || !code.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return None;
    }
    let channel = |i: usize| Some(f64::from(u8::from_str_radix(&code[i..i + 2], 16).ok()?) / 255.0);
    // As 32-bit floats, which is what scenes have.
    [0, 2, 4].into_iter().map(|i| channel(i).map(|x| rounded(srgb_decode(x), 7))).collect()
}

/// The shortest text that is read back as this number. Whole numbers have no exponent: it would make them fractions.
pub(super) fn number(x: f64) -> String {
    match x.abs() {
        0.0 => "0".to_owned(),
        1e-3..1e9 => x.to_string(),
        size if size < 1e15 && x.fract() == 0.0 => x.to_string(),
        _ => format!("{x:e}"),
    }
}

/// The number with so many significant digits.
pub(super) fn rounded(x: f64, digits: usize) -> f64 {
    format!("{x:.*e}", digits.saturating_sub(1)).parse().unwrap_or(x)
}

/// How the numbers of a range follow each other.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Steps {
    Equal,
    /// Equal factors.
    Log,
}

impl Steps {
    /// The number a part `i / n` of the way from `a` to `b`, without the dust of rounding, so that a third of 0:0.9 is
    /// 0.3 and no other.
    fn at(self, a: f64, b: f64, i: usize, n: usize) -> f64 {
        let t = i as f64 / n as f64;
        match self {
            _ if i == 0 => a,
            _ if i == n => b,
            Self::Log => rounded((a.ln() * (1.0 - t) + b.ln() * t).exp(), 12),
            Self::Equal => {
                let x = (a * (n - i) as f64 + b * i as f64) / n as f64;
                // Sums can be too large where what they are of is not.
                let x = if x.is_finite() { x } else { a * (1.0 - t) + b * t };
                let magnitude = |x: f64| x.abs().log10().floor();
                // Relative to the larger end: where the ends cancel, what is left is dust.
                let digits = 15.0 + magnitude(x) - magnitude(a).max(magnitude(b));
                if digits < 1.0 { 0.0 } else { rounded(x, digits as usize) }
            }
        }
    }
}

/// The values of `a:b:n` or `log(a:b:n)`; `None` for what has no colon, and is a value itself.
///
/// # Errors
/// The range is invalid.
pub(super) fn range(text: &str) -> Result<Option<Vec<String>>, SweepError> {
    let inside = text.strip_prefix("log(").and_then(|text| text.strip_suffix(')'));
    let (steps, form) = if inside.is_some() { (Steps::Log, "log(a:b:n)") } else { (Steps::Equal, "a:b:n") };
    let parts = split(inside.unwrap_or(text), ':')?;
    if parts.len() == 1 && inside.is_none() {
        return Ok(None);
    }
    let fault = |reason: String| Err(SweepError(reason));
    let range = quoted(text);
    let [a, b, n] = parts[..] else {
        return fault(format!("{range} is not a range: {form} has the first value, the last and how many"));
    };
    let n = count(n, &range)?;
    let (a, b) = (end(a, &range)?, end(b, &range)?);
    if a.is_array != b.is_array {
        return fault(format!("one end of {range} is a number and the other an array"));
    }
    let [of_a, of_b] = [&a, &b].map(|end| end.items.len());
    if of_a != of_b {
        return fault(format!("the ends of {range} have {of_a} and {of_b} numbers; they need equally many"));
    }
    let is_low = |x: &&f64| **x <= 0.0;
    let low = a.items.iter().chain(&b.items).find(is_low).filter(|_| steps == Steps::Log);
    if let Some(low) = low {
        let low = number(*low);
        return fault(format!("{range} goes by equal factors, so both ends must be above 0, not {low}"));
    }
    Ok(Some((0..n).map(|i| a.zip(&b, |a, b| steps.at(a, b, i, n - 1)).text()).collect()))
}

/// An end of a range, which messages call `range`.
fn end(text: &str, range: &str) -> Result<Numbers, SweepError> {
    const EXPECTED: &str = "a range goes between numbers, arrays of numbers or colours \"#rrggbb\"";
    let error = || SweepError(format!("{} in {range} is not a number: {EXPECTED}", quoted(text.trim())));
    Numbers::parse(text).ok_or_else(error)
}

fn count(text: &str, range: &str) -> Result<usize, SweepError> {
    let expected = format!("a whole number from 2 to {MOST_VARIANTS}");
    let error = || SweepError(format!("{} in {range} is not how many: {expected}", quoted(text.trim())));
    text.trim().parse().ok().filter(|n| (2..=MOST_VARIANTS).contains(n)).ok_or_else(error)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<String> {
        range(text).unwrap().unwrap()
    }

    #[test]
    fn sums_may_be_too_large() {
        assert_eq!(texts("1e308:1.5e308:3"), ["1e308", "1.25e308", "1.5e308"]);
    }

    #[test]
    fn ranges_have_both_ends_and_no_dust() {
        for (text, values) in [
            ("0:1:5", &["0", "0.25", "0.5", "0.75", "1"][..]),
            ("0:1:11", &["0", "0.1", "0.2", "0.3", "0.4", "0.5", "0.6", "0.7", "0.8", "0.9", "1"]),
            ("1:0:3", &["1", "0.5", "0"]),
            ("-0.3:0.6:4", &["-0.3", "0", "0.3", "0.6"]),
            ("1:9:5", &["1", "3", "5", "7", "9"]),
            ("0:1:4", &["0", "0.33333333333333", "0.66666666666667", "1"]),
            ("0 : 4e9 : 3", &["0", "2000000000", "4000000000"]),
            ("1e-5:3e-5:3", &["1e-5", "2e-5", "3e-5"]),
            ("[0, 1]:[1,0.5]:3", &["[0, 1]", "[0.5, 0.75]", "[1, 0.5]"]),
            ("#000000:#ffffff:2", &["[0, 0, 0]", "[1, 1, 1]"]),
            ("log(0.001:1:4)", &["0.001", "0.01", "0.1", "1"]),
            ("log( 8:1:4 )", &["8", "4", "2", "1"]),
            ("log([1, 4]:[4, 1]:3)", &["[1, 4]", "[2, 2]", "[4, 1]"]),
        ] {
            assert_eq!(texts(text), values, "{text}");
        }
        for text in ["0.5", "gold", "[1, 2]", "\"a:b:c\"", "{ a = \"x:y\" }", "log"] {
            assert_eq!(range(text), Ok(None), "{text}");
        }
    }

    #[test]
    fn the_numbers_of_ranges_are_right_to_14_digits() {
        for (text, a, b) in [("0.017:0.93:97", 0.017, 0.93), ("-3:7:997", -3.0, 7.0)] {
            let values = texts(text);
            let n = (values.len() - 1) as f64;
            for (value, i) in values.iter().zip(0..) {
                let exact = a + (b - a) * f64::from(i) / n;
                let off = value.parse::<f64>().unwrap() - exact;
                assert!(off.abs() < 1e-13, "{text}: {value}, not {exact}");
            }
        }
        for (value, i) in texts("log(0.01:7:50)").iter().zip(0..) {
            let exact = 0.01 * 700_f64.powf(f64::from(i) / 49.0);
            assert!((value.parse::<f64>().unwrap() / exact - 1.0).abs() < 1e-11, "{value}, not {exact}");
        }
    }

    #[test]
    fn text_is_read_back_as_the_number() {
        for x in
            [0.1, 1.0 / 3.0, 1e-3, 9.99e-4, 1e9, 4_294_967_295.0, 1e15, -2.5e-7, 1e300, f64::MIN_POSITIVE]
        {
            assert_eq!(number(x).parse(), Ok(x));
        }
        for (x, text) in [(4_294_967_295.0, "4294967295"), (1e-4, "1e-4"), (-0.0, "0"), (2.5e20, "2.5e20")] {
            assert_eq!(number(x), text);
        }
        assert_eq!((rounded(0.123_456, 3), rounded(99_999.0, 2), rounded(0.0, 4)), (0.123, 100_000.0, 0.0));
    }

    #[test]
    fn colours_are_linear() {
        assert_eq!(Numbers::parse("\"#FF8000\"").unwrap().text(), "[1, 0.2158605, 0]");
        for text in ["#ff800", "#ff80000", "#gg8000", "#€000", "#+1+1+1", "nan", "inf", "", "[", "[1,]"] {
            assert_eq!(Numbers::parse(text), None, "{text}");
        }
    }
}
