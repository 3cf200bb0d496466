//! Automatic axes for arbitrary values.

use super::super::chart::{Axis, Color, Font, SMALL, text_width};
use super::super::sheet::{Side, elide};

/// Longest name of a value, logical units.
const LONGEST_NAME: f64 = 150.0;
/// Room between the numbers of ticks.
const BETWEEN: f64 = 7.0;
/// Padding at the ends of an axis, as a fraction of its length.
const PAD: f64 = 0.04;
/// Positive values that differ by more than this factor have a logarithmic axis.
pub(super) const LOGARITHMIC: f64 = 1e3;
/// Relative difference below which values count as equal up to rounding.
const ROUNDING: f64 = 1e-6;

/// The font of the numbers of ticks.
pub(super) fn tick_font(color: Color) -> Font {
    Font { size: SMALL, color, bold: false }
}

/// The same in no colour of note, to measure text by.
pub(super) const PLAIN: Font = Font { size: SMALL, color: Color([0; 3]), bold: false };

fn width(text: &str) -> f64 {
    text_width(text, PLAIN)
}

/// The axis of the first parameter.
#[derive(Debug, Clone)]
pub(super) struct HorizontalAxis {
    pub(super) axis: Axis,
    /// Position of each value.
    pub(super) places: Vec<f64>,
    /// Whether values exist between those listed.
    pub(super) is_continuous: bool,
    /// Value names that are too long to be set side by side and are rotated, with their positions.
    pub(super) upright: Vec<(f64, String)>,
}

impl HorizontalAxis {
    /// An axis of length `room` for the values of a parameter, placed by `positions` if these are distinct numbers.
    pub(super) fn new(side: &Side, positions: Option<&[f64]>, room: f64) -> Self {
        let names: Vec<_> = side.labels.iter().map(|name| elide(name, LONGEST_NAME, PLAIN)).collect();
        let numbers = positions.filter(|p| p.len() == names.len() && p.iter().all(|x| x.is_finite()));
        let Some((numbers, sorted)) = numbers.map(|p| (p, distinct(p))).filter(|(_, s)| s.len() > 1) else {
            return Self::of_names(&side.name, names, room);
        };
        let [low, high] = [sorted[0], sorted[sorted.len() - 1]];
        let mut axis = if is_by_factors(&sorted) {
            let pad = (high / low).powf(PAD);
            let mut axis = Axis::log(side.name.as_str(), low / pad, high * pad);
            if axis.ticks.len() < 2 {
                // There are no two powers of ten: the values themselves.
                axis.ticks = numbers.iter().copied().zip(names).collect();
            }
            axis
        } else {
            let pad = PAD * (high - low);
            Axis::linear(side.name.as_str(), low - pad, high + pad, 8)
        };
        axis.ticks.sort_by(|a, b| a.0.total_cmp(&b.0));
        axis.ticks.dedup_by(|a, b| a.0 == b.0);
        thin(&mut axis, room);
        Self { axis, places: numbers.to_vec(), is_continuous: true, upright: Vec::new() }
    }

    fn of_names(label: &str, names: Vec<String>, room: f64) -> Self {
        let n = names.len().max(1) as f64;
        let places: Vec<f64> = (0..names.len().max(1)).map(|i| i as f64).collect();
        let mut axis = Axis::linear(label, -0.5, n - 0.5, 1);
        let longest = names.iter().map(|name| width(name)).fold(0.0, f64::max);
        let ticks: Vec<_> = places.iter().copied().zip(names).collect();
        let mut upright = Vec::new();
        if longest + BETWEEN > room / n {
            let every = (1.3 * SMALL * n / room).ceil().max(1.0) as usize;
            upright = ticks.into_iter().step_by(every).collect();
            axis.ticks = upright.iter().map(|(x, _)| (*x, String::new())).collect();
        } else {
            axis.ticks = ticks;
        }
        Self { axis, places, is_continuous: false, upright }
    }

    /// Extent of the names below the axis.
    pub(super) fn depth(&self) -> f64 {
        let longest = self.upright.iter().map(|(_, name)| width(name)).fold(0.0, f64::max);
        if self.upright.is_empty() { 6.0 + SMALL } else { 7.0 + longest }
    }

    /// How far the last number extends beyond the right end of the axis.
    pub(super) fn overhang(&self, room: f64) -> f64 {
        let end = |(x, text): &(f64, String)| room * self.axis.at(*x) + 0.5 * width(text) - room;
        self.axis.ticks.iter().map(end).fold(0.0, f64::max)
    }
}

fn distinct(numbers: &[f64]) -> Vec<f64> {
    let mut sorted = numbers.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.dedup();
    sorted
}

/// Whether increasing numbers grow by factors rather than by differences: by equal factors, or like 1, 2, 5, 10.
fn is_by_factors(sorted: &[f64]) -> bool {
    let unevenness = |steps: &mut dyn Iterator<Item = f64>| {
        let (least, most) =
            steps.fold((f64::INFINITY, 0.0_f64), |(least, most), x| (least.min(x), most.max(x)));
        most / least
    };
    let mut pairs = sorted.windows(2).map(|pair| pair[1] / pair[0]);
    let mut steps = sorted.windows(2).map(|pair| pair[1] - pair[0]);
    sorted.len() > 2
        && sorted[0] > 0.0
        && unevenness(&mut pairs.by_ref().map(f64::ln)) < 1.4
        && unevenness(&mut steps) > 1.6
}

/// Leaves out numbers until those left do not touch.
fn thin(axis: &mut Axis, room: f64) {
    let fits = |ticks: &[(f64, String)]| {
        ticks.windows(2).all(|pair| {
            let between = room * (axis.at(pair[1].0) - axis.at(pair[0].0));
            between >= 0.5 * (width(&pair[0].1) + width(&pair[1].1)) + BETWEEN
        })
    };
    let every = |n: usize| axis.ticks.iter().step_by(n).cloned().collect::<Vec<_>>();
    let thinned = (1..=axis.ticks.len()).map(every).find(|ticks| fits(ticks));
    axis.ticks = thinned.unwrap_or_default();
}

/// An axis for values and their errors: logarithmic if all are positive and span several orders of magnitude.
pub(super) fn upwards(label: &str, points: impl Iterator<Item = (f64, f64)> + Clone) -> Axis {
    let least_of = |f: fn((f64, f64)) -> f64| points.clone().map(f).fold(f64::INFINITY, f64::min);
    let (least, most) = (least_of(|(y, _)| y), -least_of(|(y, _)| -y));
    if least > most {
        let mut none = Axis::linear(label, 0.0, 1.0, 1);
        none.ticks.clear();
        return none;
    }
    if least > 0.0 && most > LOGARITHMIC * least {
        return Axis::decades(label, least, most);
    }
    let (mut low, mut high) = (least_of(|(y, e)| y - e), -least_of(|(y, e)| -y - e));
    if high - low <= ROUNDING * most.abs().max(least.abs()) {
        let pad = if most == 0.0 { 1.0 } else { 0.05 * most.abs() };
        (low, high) = (low - pad, high + pad);
    }
    // What is far from its zero is shown with it.
    let is_positive = low >= 0.0 || least >= 0.0 && low > -0.1 * high;
    let is_from_zero = is_positive && low < 0.4 * high;
    let pad = PAD * (high - low);
    Axis::linear(label, if is_from_zero { 0.0 } else { low - pad }, high + pad, 6)
}

/// Width of the widest number of an axis.
pub(super) fn widest(axis: &Axis) -> f64 {
    axis.ticks.iter().map(|(_, text)| width(text)).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_are_told_from_differences() {
        for (numbers, by_factors) in [
            (&[0.001, 0.01, 0.1, 1.0][..], true),
            (&[1.0, 2.0, 4.0], true),
            (&[1.0, 2.0, 5.0, 10.0, 20.0, 50.0], true),
            (&[1.0, 3.0, 10.0, 30.0], true),
            (&[0.0, 0.25, 0.5, 0.75, 1.0], false),
            (&[0.1, 0.2, 0.3, 0.4, 0.5], false),
            (&[1.1, 1.333, 1.5, 1.8, 2.42], false),
            (&[0.0, 0.1, 1.0, 10.0], false),
            (&[1.0, 10.0], false),
            (&[1.0, 1.1, 1.2], false),
            (&[-4.0, -2.0, -1.0], false),
        ] {
            assert_eq!(is_by_factors(numbers), by_factors, "{numbers:?}");
        }
    }

    fn side(labels: &[&str]) -> Side {
        Side { name: "x".into(), labels: labels.iter().map(|label| (*label).to_owned()).collect() }
    }

    #[test]
    fn numbers_and_names_have_their_axes() {
        let texts =
            |across: &HorizontalAxis| across.axis.ticks.iter().map(|(_, t)| t.clone()).collect::<Vec<_>>();
        let numbers = HorizontalAxis::new(&side(&["1", "0", "0.5"]), Some(&[1.0, 0.0, 0.5]), 500.0);
        assert!(numbers.is_continuous && numbers.places == [1.0, 0.0, 0.5]);
        assert_eq!(texts(&numbers), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        let powers = HorizontalAxis::new(&side(&["0.001", "0.1", "10"]), Some(&[0.001, 0.1, 10.0]), 500.0);
        assert_eq!(texts(&powers), ["10⁻³", "10⁻²", "10⁻¹", "1", "10"]);
        let doubled = HorizontalAxis::new(&side(&["2", "4", "8"]), Some(&[2.0, 4.0, 8.0]), 500.0);
        assert_eq!(texts(&doubled), ["2", "4", "8"]);
        for positions in [None, Some(&[1.0, 1.0][..]), Some(&[1.0, f64::NAN]), Some(&[1.0])] {
            let names = HorizontalAxis::new(&side(&["none", "some"]), positions, 500.0);
            assert_eq!((texts(&names), names.is_continuous), (vec!["none".into(), "some".into()], false));
            assert_eq!((names.axis.at(0.0), names.axis.at(1.0)), (0.25, 0.75));
        }
        let narrow = HorizontalAxis::new(&side(&["compensated", "random_walk"]), None, 100.0);
        assert_eq!(narrow.upright.len(), 2);
        assert!(texts(&narrow).iter().all(String::is_empty) && narrow.depth() > 50.0);
    }

    #[test]
    fn ticks_are_thinned_until_they_fit() {
        let seeds: Vec<_> = (0..40).map(|i| 1e9 + f64::from(i)).collect();
        let labels: Vec<_> = seeds.iter().map(f64::to_string).collect();
        let labels: Vec<_> = labels.iter().map(String::as_str).collect();
        for room in [500.0, 240.0, 60.0] {
            let axis = HorizontalAxis::new(&side(&labels), Some(&seeds), room).axis;
            let ends: Vec<_> =
                axis.ticks.iter().map(|(x, text)| (room * axis.at(*x), 0.5 * width(text))).collect();
            assert!(!ends.is_empty());
            assert!(ends.windows(2).all(|p| p[0].0 + p[0].1 < p[1].0 - p[1].1), "{room}: {ends:?}");
        }
    }

    #[test]
    fn values_have_a_suitable_axis() {
        let axis = |values: &[f64]| upwards("", values.iter().map(|y| (*y, 0.0)));
        let linear = axis(&[0.35, 0.9]);
        assert_eq!(linear.low, 0.0);
        assert!(linear.at(0.9) < 1.0 && linear.at(0.9) > 0.9);
        assert!(axis(&[0.98, 1.0]).low > 0.9, "what differs little is shown without its zero");
        assert!(axis(&[-1.0, 2.0]).low < -1.0);
        assert!(axis(&[-3.0, -2.0]).high < 0.0);
        for equal in [1.0, -2.0, 0.0, 1.0 - 1e-9] {
            let axis = axis(&[1.0_f64.copysign(equal) * equal.abs(), equal]);
            assert!((axis.at(equal) - 0.5).abs() < 0.1 && axis.ticks.len() > 1, "{equal}: {axis:?}");
        }
        // Factors up to a thousand, or what is not positive, are not worth a logarithm.
        let is_log = |values: &[f64]| (axis(values).at(10.0) - axis(values).at(1.0) - 0.25).abs() < 1e-9;
        assert!(is_log(&[1.0, 1e4]) && !is_log(&[1.0, 999.0]) && !is_log(&[0.0, 1e4]));
        let with_errors = upwards("", [(1.0, 0.5), (2.0, 1.0)].into_iter());
        assert!(with_errors.at(3.0) <= 1.0);
        assert!(axis(&[]).ticks.is_empty());
    }
}
