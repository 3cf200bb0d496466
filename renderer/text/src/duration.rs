//! Times that users write.

use std::time::Duration;

/// Longest time: a year.
const MAX_SECONDS: f64 = 365.0 * 86_400.0;

/// A text that is no time to spend.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum DurationError {
    /// It is no number with a known unit.
    #[error("expected a time, as in 30s, 2m, 1.5h, or 45 for seconds")]
    Syntax,
    /// It is nothing, or less.
    #[error("a time must be longer than 0")]
    TooShort,
    /// It is more than a year.
    #[error("a time can be a year (8760h) at most")]
    TooLong,
}

/// A time: `30s`, `2m`, `1.5h`, or seconds.
///
/// # Errors
/// [`DurationError`].
pub fn duration(text: &str) -> Result<Duration, DurationError> {
    let number = text.trim_end_matches(|c: char| c.is_alphabetic());
    let unit = match &text[number.len()..] {
        "" | "s" | "sec" => 1.0,
        "ms" => 1e-3,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        _ => return Err(DurationError::Syntax),
    };
    let seconds = number.trim().parse::<f64>().map_err(|_| DurationError::Syntax)? * unit;
    // Not zero after rounding to nanoseconds either.
    if seconds.is_nan() || seconds < 1e-9 {
        return Err(DurationError::TooShort);
    }
    if seconds > MAX_SECONDS {
        return Err(DurationError::TooLong);
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
            assert_eq!(duration(text), Err(DurationError::Syntax), "{text}");
        }
        for text in ["0", "-5", "-0.0s", "1e-300"] {
            assert_eq!(duration(text), Err(DurationError::TooShort), "{text}");
        }
        assert_eq!(duration("1e300h"), Err(DurationError::TooLong));
        assert_eq!(duration("9e999"), Err(DurationError::TooLong));
    }
}
