//! Verdicts in plain sentences.

use super::comparison::NoVerdict;
use super::{DetectableDifference, Feature, Finding, Judgement, Region};

/// The channels, in the order in which pixels have them.
pub const CHANNELS: [&str; 3] = ["red", "green", "blue"];

/// Describes a judgement in plain sentences: the verdict, the strength of the evidence, and the detectable differences.
/// `whole` is the compared region; `names` are those of the first image and the second.
pub fn describe(judgement: &Judgement, whole: Region, names: [&str; 2]) -> Vec<String> {
    let worst = &judgement.worst;
    let finding = format!("{}, {}", place(worst.region, whole), finding(worst, names));
    let strength = format!(
        "{} standard deviations of the noise; between equal images chance makes as much {}",
        number(worst.z.abs()),
        probability(judgement.p)
    );
    let mut sentences = if worst.feature == Feature::Finite {
        vec![format!("Different: {finding}.")]
    } else if judgement.is_different() {
        vec![format!("Different: {finding}."), format!("That is {strength}.")]
    } else {
        let level = percent(judgement.level);
        let mut same =
            vec![format!("Same: no evidence of a difference, at a level of {level} of false alarms.")];
        // Otherwise the place is none.
        if judgement.p < 1.0 {
            same.push(format!("What stands out most: {finding}; it is {strength}."));
        }
        same
    };
    let (whole, blocks): (Vec<_>, Vec<_>) = judgement.detectable.iter().partition(|d| d.block.is_none());
    sentences.extend(whole.into_iter().chain(blocks).map(detectable));
    // Independent pixels seem a little correlated as well.
    if judgement.correlation > 1.2 {
        sentences.push(format!(
            "Noise of neighbouring pixels counts as correlated: that of large blocks has {} times the variance of independent pixels.",
            number(judgement.correlation)
        ));
    }
    sentences
}

/// What clamping of indirect light makes of a verdict, unless it was the same for both images.
pub fn clamping(clamped: [Option<f32>; 2], names: [&str; 2]) -> Option<String> {
    if clamped[0] == clamped[1] {
        return None;
    }
    let of = |image: usize| match clamped[image] {
        Some(most) => format!("in {} indirect light is clamped to {most}", names[image]),
        None => format!("{} tells of no clamping", names[image]),
    };
    let (first, second) = if clamped[0].is_some() { (of(0), of(1)) } else { (of(1), of(0)) };
    Some(format!("Biased: {first}, {second}; whatever the verdict, the images differ by what is cut off."))
}

/// Why there is no verdict.
pub fn no_verdict(why: NoVerdict, names: [&str; 2]) -> String {
    let [a, b] = names;
    match why {
        NoVerdict::Display => {
            "No verdict: values of a display have no standard errors; compare radiance.".into()
        }
        NoVerdict::Unknown { a: true, b: true } => {
            format!("No verdict: the noise of {a} and of {b} is not known.")
        }
        NoVerdict::Unknown { a: true, .. } => format!("No verdict: the noise of {a} is not known."),
        NoVerdict::Unknown { .. } => format!("No verdict: the noise of {b} is not known."),
    }
}

/// Sentences on pixels that are finite in one image only; none if there are no such pixels.
pub fn only_one_finite(counts: [usize; 2], names: [&str; 2]) -> Vec<String> {
    let sentence = |i: usize| {
        let (one, other) = (names[i], names[1 - i]);
        let pixels = match counts[i] {
            0 => return None,
            1 => "1 pixel is".into(),
            n => format!("{n} pixels are"),
        };
        Some(format!("Different: {pixels} NaN or infinite in {one} and not in {other}."))
    };
    [sentence(0), sentence(1)].into_iter().flatten().collect()
}

fn place(region: Region, whole: Region) -> String {
    match region {
        _ if region == whole => "over all pixels".into(),
        Region { width: 1, height: 1, .. } => format!("at {region}"),
        _ => format!("in {region}"),
    }
}

fn finding(finding: &Finding, names: [&str; 2]) -> String {
    let [a, b] = names;
    let channel = CHANNELS[finding.channel];
    let more = |more: &str, less: &str| if finding.z < 0.0 { less.to_owned() } else { more.to_owned() };
    match finding.feature {
        Feature::Mean => format!("{channel} is {}", brightness(finding, names)),
        // Weights may find the opposite of what the plain means say.
        Feature::Brightness if (finding.a < finding.b) == (finding.z < 0.0) => {
            format!("{channel} is {}", brightness(finding, names))
        }
        Feature::Brightness => {
            format!("{channel} is {} in {a} than in {b} where it is least noisy", more("brighter", "darker"))
        }
        Feature::ShiftX => {
            format!("edges of {channel} lie further {} in {a} than in {b}", more("right", "left"))
        }
        Feature::ShiftY => format!("edges of {channel} lie {} in {a} than in {b}", more("lower", "higher")),
        Feature::Sharpness => format!("{channel} is {} in {a} than in {b}", more("sharper", "softer")),
        Feature::Pattern(1) => {
            format!(
                "{channel} of {a} and {b} differs by more than noise, brighter in one pixel and darker in another"
            )
        }
        Feature::Pattern(side) => format!(
            "{channel} of {a} and {b} differs by more than noise, brighter in one place of {side} x {side} pixels and \
             darker in another"
        ),
        Feature::Finite => format!("there are NaN or infinities in one of {a} and {b}, but not in the other"),
    }
}

/// `1.8 % brighter in A than in B (0.412 against 0.405)`.
fn brightness(finding: &Finding, [name_a, name_b]: [&str; 2]) -> String {
    let (a, b) = (finding.a, finding.b);
    let [means_a, means_b] = apart(a, b);
    let means = format!("({means_a} against {means_b})");
    // Of what is black or below there is no part.
    if a <= 0.0 || b <= 0.0 {
        let side = if a < b { "lower" } else { "higher" };
        return format!("{} {side} in {name_a} than in {name_b} {means}", number((a - b).abs()));
    }
    let ratio = a / b;
    if ratio >= 2.0 {
        return format!("{} times as bright in {name_a} as in {name_b} {means}", number(ratio));
    }
    let side = if ratio < 1.0 { "darker" } else { "brighter" };
    format!("{} {side} in {name_a} than in {name_b} {means}", percent((ratio - 1.0).abs()))
}

/// Two numbers with as many digits as tell them apart, at least three.
fn apart(a: f64, b: f64) -> [String; 2] {
    let with = |digits| [a, b].map(|x| significant(x, digits));
    (3..=9).map(with).find(|[a, b]| a != b).unwrap_or_else(|| with(3))
}

fn detectable(d: &DetectableDifference) -> String {
    let (median, most) = (percent(d.median), percent(d.most));
    let place = match d.block {
        None if d.most.is_finite() => {
            return format!(
                "A difference of {most} over all that has noise would have been seen with a probability of 95 %."
            );
        }
        None => return "No difference over all that has noise would have been seen, however large.".into(),
        Some(1) => "a single pixel".to_owned(),
        Some(side) => format!("{side} x {side} pixels"),
    };
    match (d.median.is_finite(), d.most.is_finite()) {
        (true, true) => {
            format!(
                "In {place}, one of {median} would have been in half of all places, one of {most} in 95 % of them."
            )
        }
        (true, false) => {
            format!(
                "In {place}, one of {median} would have been in half of all places; in some, none, however large."
            )
        }
        _ => format!("In {place}, none would have been in half of all places, however large."),
    }
}

/// How often something of probability `p` happens.
fn probability(p: f64) -> String {
    let p = p.clamp(0.0, 1.0);
    let often = match p {
        0.1.. => format!("in {} of comparisons", percent(p)),
        1e-6.. => format!("once in {} comparisons", grouped((1.0 / p).round() as u64)),
        1e-300.. => format!("once in 10^{:.0} comparisons", -p.log10()),
        _ => return "less than once in 10^300 comparisons (p < 1e-300)".into(),
    };
    format!("{often} (p = {})", number(p))
}

/// The number rounded to two significant digits, with digits grouped by spaces from five on: `12 000`.
fn grouped(n: u64) -> String {
    let step = 10_u64.pow(n.max(1).ilog10().saturating_sub(1));
    let text = ((n + step / 2) / step * step).to_string();
    let mut out = String::new();
    for (i, digit) in text.chars().enumerate() {
        if i > 0 && (text.len() - i).is_multiple_of(3) && text.len() > 4 {
            out.push(' ');
        }
        out.push(digit);
    }
    out
}

/// A fraction as `1.8 %`, with two significant digits.
pub fn percent(part: f64) -> String {
    format!("{} %", significant(100.0 * part, 2))
}

/// A number with three significant digits.
pub fn number(x: f64) -> String {
    significant(x, 3)
}

/// A number with so many significant digits, without trailing zeros after the decimal point.
fn significant(x: f64, digits: i32) -> String {
    if x == 0.0 || !x.is_finite() {
        return format!("{x}");
    }
    // Of the rounded number: 9.996 is 10.0.
    let scientific = format!("{:.*e}", (digits - 1) as usize, x);
    let exponent = scientific.rsplit_once('e').and_then(|(_, e)| e.parse::<i32>().ok()).unwrap_or_default();
    if !(-4..6).contains(&exponent) {
        return scientific;
    }
    let decimals = (digits - 1 - exponent).max(0) as usize;
    let text = format!("{x:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').into() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: Region = Region { x: 0, y: 0, width: 256, height: 128 };
    const NAMES: [&str; 2] = ["A", "B"];

    fn judgement(p: f64, region: Region, feature: Feature, a: f64, b: f64) -> Judgement {
        let worst = Finding { region, channel: 0, feature, a, b, z: (a - b).signum() * 8.317, p: p / 1e3 };
        let detectable = vec![
            DetectableDifference { block: None, median: 0.00123, most: 0.00123 },
            DetectableDifference { block: Some(32), median: 0.0091, most: f64::INFINITY },
            DetectableDifference { block: Some(1), median: 0.31, most: 14.0 },
        ];
        Judgement { p, level: 0.01, worst, detectable, z: Vec::new(), correlation: 1.0, left_out: 0 }
    }

    #[test]
    fn a_difference_says_where_and_how_much() {
        let block = Region { x: 96, y: 64, width: 32, height: 32 };
        let said = describe(&judgement(1.2e-9, block, Feature::Mean, 0.4123, 0.405), WHOLE, NAMES);
        assert_eq!(
            said,
            [
                "Different: in the 32 x 32 pixels from (96, 64), red is 1.8 % brighter in A than in B (0.412 against 0.405).",
                "That is 8.32 standard deviations of the noise; between equal images chance makes as much once in 10^9 \
                 comparisons (p = 1.20e-9).",
                "A difference of 0.12 % over all that has noise would have been seen with a probability of 95 %.",
                "In 32 x 32 pixels, one of 0.91 % would have been in half of all places; in some, none, however large.",
                "In a single pixel, one of 31 % would have been in half of all places, one of 1400 % in 95 % of them.",
            ]
        );
    }

    #[test]
    fn a_match_says_what_stood_out() {
        let pixel = Region { x: 5, y: 7, width: 1, height: 1 };
        let said = describe(&judgement(0.34, pixel, Feature::Mean, 0.2, 0.4), WHOLE, NAMES);
        assert_eq!(said[0], "Same: no evidence of a difference, at a level of 1 % of false alarms.");
        assert!(
            said[1]
                .contains("at the pixel (5, 7), red is 50 % darker in A than in B (0.2 against 0.4); it is")
        );
        assert!(
            said[1].ends_with("between equal images chance makes as much in 34 % of comparisons (p = 0.34)."),
            "{}",
            said[1]
        );
    }

    #[test]
    fn every_feature_and_every_size_of_difference() {
        let said = |feature, a, b| {
            describe(&judgement(1e-4, WHOLE, feature, a, b), WHOLE, ["x.exr", "y.exr"])[0].clone()
        };
        for (feature, a, b, expected) in [
            (Feature::Mean, 3.0, 1.0, "red is 3 times as bright in x.exr as in y.exr (3 against 1)"),
            (Feature::Mean, 0.0, 0.25, "red is 0.25 lower in x.exr than in y.exr (0 against 0.25)"),
            (Feature::Mean, 0.1, -1e-9, "red is 0.1 higher in x.exr than in y.exr (0.1 against -1.00e-9)"),
            (
                Feature::Mean,
                1.00001,
                1.0,
                "red is 0.001 % brighter in x.exr than in y.exr (1.00001 against 1)",
            ),
            (Feature::ShiftX, 1.0, 1.0, "edges of red lie further right in x.exr than in y.exr"),
            (Feature::ShiftY, 1.0, 2.0, "edges of red lie higher in x.exr than in y.exr"),
            (Feature::Sharpness, 1.0, 2.0, "red is softer in x.exr than in y.exr"),
            (
                Feature::Pattern(8),
                1.0,
                1.0,
                "red of x.exr and y.exr differs by more than noise, brighter in one place of 8 x 8 pixels and darker in \
                 another",
            ),
        ] {
            assert_eq!(said(feature, a, b), format!("Different: over all pixels, {expected}."));
        }
    }

    #[test]
    fn probabilities_in_words() {
        for (p, expected) in [
            (1.0, "in 100 % of comparisons (p = 1)"),
            (0.1, "in 10 % of comparisons (p = 0.1)"),
            (0.034, "once in 29 comparisons (p = 0.034)"),
            (0.000_123, "once in 8100 comparisons (p = 0.000123)"),
            (4.4e-6, "once in 230 000 comparisons (p = 4.40e-6)"),
            (1e-12, "once in 10^12 comparisons (p = 1.00e-12)"),
            (0.0, "less than once in 10^300 comparisons (p < 1e-300)"),
        ] {
            assert_eq!(probability(p), expected);
        }
    }

    #[test]
    fn numbers_have_the_digits_that_count() {
        for (x, expected) in [
            (0.0, "0"),
            (12.3456, "12.3"),
            (9.996, "10"),
            (100.0, "100"),
            (123_456.0, "123456"),
            (-0.000_456_78, "-0.000457"),
            (1.5e-7, "1.50e-7"),
            (f64::INFINITY, "inf"),
        ] {
            assert_eq!(number(x), expected);
        }
    }

    #[test]
    fn what_only_one_image_has() {
        assert!(only_one_finite([0, 0], NAMES).is_empty());
        assert_eq!(
            only_one_finite([1, 20], NAMES),
            [
                "Different: 1 pixel is NaN or infinite in A and not in B.",
                "Different: 20 pixels are NaN or infinite in B and not in A."
            ]
        );
    }
}
