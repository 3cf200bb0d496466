//! Axes: the map from numbers to positions, and ticks.

/// The scale of an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scale {
    Linear,
    Log,
}

/// One axis of a panel.
#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    /// Quantity and unit.
    pub label: String,
    scale: Scale,
    /// The number at its start.
    pub low: f64,
    /// The number at its end.
    pub high: f64,
    /// Labelled ticks: position and text.
    pub ticks: Vec<(f64, String)>,
    /// Positions of shorter ticks without a label.
    pub minor: Vec<f64>,
}

impl Axis {
    /// An axis from `low` to `high` with about `count` round numbers on it.
    pub fn linear(label: impl Into<String>, low: f64, high: f64, count: usize) -> Self {
        let high = if high > low { high } else { low + 1.0 };
        let step = round_step((high - low) / count.max(1) as f64);
        Self::stepped(label, low, high, step)
    }

    /// An axis from 0 to the first round number at or above `high`.
    pub fn from_zero(label: impl Into<String>, high: f64, count: usize) -> Self {
        let high = if high > 0.0 && high.is_finite() { high } else { 1.0 };
        let step = round_step(high / count.max(1) as f64);
        Self::stepped(label, 0.0, (high / step - 1e-9).ceil() * step, step)
    }

    /// An axis from `low` to `high` with a number at every multiple of `step`.
    pub fn stepped(label: impl Into<String>, low: f64, high: f64, step: f64) -> Self {
        let (first, last) = ((low / step - 1e-9).ceil() as i64, (high / step + 1e-9).floor() as i64);
        let most = low.abs().max(high.abs());
        if !(1e-3..1e5).contains(&most) {
            return Self::scaled(label, [low, high], step, most.log10().floor() as i32);
        }
        let decimals = (-(step.log10() + 1e-9).floor()).max(0.0) as usize;
        let decimals =
            if (step * 10f64.powi(decimals as i32)).fract() > 1e-6 { decimals + 1 } else { decimals };
        let tick = |i: i64| {
            let value = i as f64 * step;
            (value, plain(value, decimals))
        };
        let ticks = (first..=last).map(tick).collect();
        Self { label: label.into(), scale: Scale::Linear, low, high, ticks, minor: Vec::new() }
    }

    /// [`Self::stepped`] of numbers that are written as multiples of a power of ten.
    fn scaled(label: impl Into<String>, [low, high]: [f64; 2], step: f64, exponent: i32) -> Self {
        let unit = 10f64.powi(exponent);
        let mut axis = Self::stepped(label, low / unit, high / unit, step / unit);
        for (value, text) in &mut axis.ticks {
            if *value != 0.0 {
                text.push_str(&format!("·{}", power_of_ten(exponent)));
            } else {
                *text = "0".to_owned();
            }
            *value *= unit;
        }
        Self { low, high, ..axis }
    }

    /// An axis of angles, with their unit at every multiple of `step`.
    pub fn degrees(label: impl Into<String>, low: f64, high: f64, step: f64) -> Self {
        let mut axis = Self::stepped(label, low, high, step);
        for (_, text) in &mut axis.ticks {
            text.push('°');
        }
        axis
    }

    /// An axis of percentages, for parts of one.
    pub fn percent(mut self) -> Self {
        for (value, text) in &mut self.ticks {
            let percent = *value * 100.0;
            let decimals = if (percent - percent.round()).abs() < 1e-6 { 0 } else { 1 };
            *text = plain(percent, decimals) + " %";
        }
        self
    }

    /// A logarithmic axis, a number at powers of ten.
    pub fn log(label: impl Into<String>, low: f64, high: f64) -> Self {
        let (first, last) = ((low.log10() - 1e-9).ceil() as i32, (high.log10() + 1e-9).floor() as i32);
        let every = ((last - first) / 7 + 1).max(1);
        let ticks =
            (first..=last).filter(|e| e.rem_euclid(every) == 0).map(|e| (10f64.powi(e), power_of_ten(e)));
        let minor = (first - 1..=last)
            .flat_map(|e| (2..10).map(move |m| f64::from(m) * 10f64.powi(e)))
            .filter(|v| (low..=high).contains(v) && every == 1);
        let (ticks, minor) = (ticks.collect(), minor.collect());
        Self { label: label.into(), scale: Scale::Log, low, high, ticks, minor }
    }

    /// A logarithmic axis that ends at powers of ten around `low` and `high`.
    pub fn decades(label: impl Into<String>, low: f64, high: f64) -> Self {
        let (first, last) = (low.log10().floor(), high.log10().ceil());
        Self::log(label, 10f64.powf(first), 10f64.powf(last.max(first + 1.0)))
    }

    /// Where a number is along the axis, 0 at `low` and 1 at `high`. Below the numbers that a logarithm has: far below.
    pub fn at(&self, value: f64) -> f64 {
        match self.scale {
            Scale::Linear => (value - self.low) / (self.high - self.low),
            Scale::Log => (value.max(1e-300) / self.low).log10() / (self.high / self.low).log10(),
        }
    }
}

/// 1, 2 or 5 times a power of ten, at least `step`.
fn round_step(step: f64) -> f64 {
    let power = 10f64.powf(step.log10().floor());
    [1.0, 2.0, 2.5, 5.0, 10.0].map(|m| m * power).into_iter().find(|s| *s >= step * 0.999).unwrap_or(power)
}

/// A number with a real minus sign.
fn plain(value: f64, decimals: usize) -> String {
    let text = format!("{:.decimals$}", value.abs());
    if value < 0.0 && text.bytes().any(|b| b.is_ascii_digit() && b != b'0') {
        format!("−{text}")
    } else {
        text
    }
}

/// 10ⁿ.
pub fn power_of_ten(exponent: i32) -> String {
    match exponent {
        0 => "1".to_owned(),
        1 => "10".to_owned(),
        _ => format!("10{}", superscript(exponent)),
    }
}

/// The digits of an exponent.
fn superscript(exponent: i32) -> String {
    let digit = |c| match c {
        '-' => '⁻',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        c => char::from_u32('⁰' as u32 + c as u32 - '0' as u32).unwrap_or(c),
    };
    exponent.to_string().chars().map(digit).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(axis: &Axis) -> Vec<&str> {
        axis.ticks.iter().map(|(_, text)| text.as_str()).collect()
    }

    #[test]
    fn ticks_are_round() {
        assert_eq!(labels(&Axis::from_zero("", 0.83, 5)), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(labels(&Axis::from_zero("", 12.0, 5)), ["0.0", "2.5", "5.0", "7.5", "10.0", "12.5"]);
        assert_eq!(labels(&Axis::degrees("", -90.0, 90.0, 45.0)), ["−90°", "−45°", "0°", "45°", "90°"]);
        assert_eq!(labels(&Axis::log("", 1e-3, 100.0)), ["10⁻³", "10⁻²", "10⁻¹", "1", "10", "10²"]);
        assert_eq!(labels(&Axis::from_zero("", 0.02, 2).percent()), ["0 %", "1 %", "2 %"]);
        assert_eq!(labels(&Axis::from_zero("", 4e7, 2)), ["0", "2·10⁷", "4·10⁷"]);
        let log = Axis::log("", 0.1, 10.0);
        assert_eq!((log.at(0.1), log.at(1.0), log.at(10.0)), (0.0, 0.5, 1.0));
        assert!(log.at(0.0) < -10.0);
    }
}
