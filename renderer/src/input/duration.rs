//! Times that users write.

use std::time::Duration;

/// Longest time: a year.
const MAX_SECONDS: f64 = 365.0 * 86_400.0;

/// A time: `30s`, `2m`, `1.5h`, or seconds.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    let expected = || "expected a time, as in 30s, 2m, 1.5h, or 45 for seconds".to_owned();
    let number = text.trim_end_matches(|c: char| c.is_alphabetic());
    let unit = match &text[number.len()..] {
        "" | "s" | "sec" => 1.0,
        "ms" => 1e-3,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        _ => return Err(expected()),
    };
    let seconds = number.trim().parse::<f64>().map_err(|_| expected())? * unit;
    // Not zero after rounding to nanoseconds either.
    if seconds.is_nan() || seconds < 1e-9 {
        return Err("a time budget must be longer than 0".into());
    }
    if seconds > MAX_SECONDS {
        return Err("a time budget is a year (8760h) at most".into());
    }
    Ok(Duration::from_secs_f64(seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times() {
        let millis = |text| duration(text).map(|t| t.as_millis());
        for (text, expected) in [
            ("45", 45_000),
            ("30s", 30_000),
            ("2m", 120_000),
            ("1.5h", 5_400_000),
            ("250ms", 250),
            ("1e1", 10_000),
        ] {
            assert_eq!(millis(text), Ok(expected), "{text}");
        }
        for text in ["", "s", "abc", "10 parsecs", "inf", "nan", "1.2.3", "5d"] {
            assert!(duration(text).unwrap_err().starts_with("expected a time"), "{text}");
        }
        for text in ["0", "-5", "-0.0s", "1e-300"] {
            assert!(duration(text).unwrap_err().contains("longer than 0"), "{text}");
        }
        assert!(duration("1e300h").unwrap_err().contains("year"));
        assert!(duration("9e999").unwrap_err().contains("year"));
    }
}
