//! Samplers of animations: key frames, and what is between them (glTF 2.0, 3.11 and appendix C).

use glam::{DQuat, DVec4};
use torrance_text::quoted;

use super::accessor::Accessors;
use super::json::Node;

/// How values go from one key to the next.
#[derive(Clone, Copy, PartialEq)]
enum Interpolation {
    Step,
    Linear,
    /// With tangents: three values a key, of which the second is the key's own.
    CubicSpline,
}

/// Where a time is among keys.
enum Place {
    /// At a key, or before the first or after the last one.
    Key(usize),
    /// After a key, by a part of the time to the next, which is that many seconds.
    After(usize, f64, f64),
}

/// Keys in the order of their times.
pub(super) struct Sampler {
    interpolation: Interpolation,
    times: Vec<f32>,
    values: Vec<f32>,
    /// Numbers a value.
    width: usize,
}

impl Sampler {
    /// Reads `samplers[i]`, whose values are of `width` numbers; of as many as there are if that is `None`.
    pub(super) fn read<'a>(
        accessors: &Accessors<'_, 'a>,
        node: &Node<'a>,
        width: Option<usize>,
    ) -> Option<Self> {
        let node = node.clone().object(&["input", "interpolation", "output"])?;
        let interpolation = interpolation(&node)?;
        let (input, output) = (node.require("input")?, node.require("output")?);
        let times = accessors.get(&input, &["SCALAR"])?.floats::<1>()?.into_flattened();
        check_times(&input, &times)?;
        let values = match width {
            Some(3) => accessors.get(&output, &["VEC3"])?.floats::<3>()?.into_flattened(),
            Some(_) => accessors.get(&output, &["VEC4"])?.floats::<4>()?.into_flattened(),
            None => accessors.get(&output, &["SCALAR"])?.floats::<1>()?.into_flattened(),
        };
        let values_a_key = if interpolation == Interpolation::CubicSpline { 3 } else { 1 };
        let width = width.unwrap_or(values.len() / (values_a_key * times.len()));
        if values.is_empty() || values.len() != values_a_key * times.len() * width {
            let rule = if values_a_key == 3 { "three values for each" } else { "a value for each" };
            let (found, count) = (values.len() / width.max(1), times.len());
            return output.fail(format!("has {found} values, and there are {count} times, with {rule}"));
        }
        Some(Self { interpolation, times, values, width })
    }

    /// When the last key is, seconds.
    pub(super) fn end(&self) -> f32 {
        self.times.last().copied().unwrap_or(0.0)
    }

    fn place(&self, time: f32) -> Place {
        let next = self.times.partition_point(|t| *t <= time);
        match next {
            0 => Place::Key(0),
            _ if next == self.times.len() => Place::Key(next - 1),
            _ => {
                // The next key is later than `time`, and the key is not: there is time between them.
                let [from, to, time] = [self.times[next - 1], self.times[next], time].map(f64::from);
                Place::After(next - 1, (time - from) / (to - from), to - from)
            }
        }
    }

    /// A value: of keys with tangents, the first, second or third of a key.
    fn value(&self, index: usize) -> impl Iterator<Item = f64> {
        self.values[index * self.width..][..self.width].iter().map(|x| f64::from(*x))
    }

    /// The value of a key.
    fn of_key(&self, key: usize) -> impl Iterator<Item = f64> {
        self.value(if self.interpolation == Interpolation::CubicSpline { 3 * key + 1 } else { key })
    }

    /// The value at a time, number by number.
    pub(super) fn at(&self, time: f32) -> Vec<f64> {
        match (self.place(time), self.interpolation) {
            (Place::Key(key), _) | (Place::After(key, ..), Interpolation::Step) => self.of_key(key).collect(),
            (Place::After(key, t, _), Interpolation::Linear) => {
                let pairs = self.of_key(key).zip(self.of_key(key + 1));
                pairs.map(|(from, to)| (1.0 - t) * from + t * to).collect()
            }
            (Place::After(key, t, seconds), Interpolation::CubicSpline) => {
                let leaving = self.value(3 * key + 2);
                let arriving = self.value(3 * key + 3);
                let values = self.of_key(key).zip(self.of_key(key + 1));
                let tangents = leaving.zip(arriving).map(|(b, a)| (seconds * b, seconds * a));
                values.zip(tangents).map(|((v0, v1), (b, a))| hermite([v0, v1], [b, a], t)).collect()
            }
        }
    }

    /// The rotation at a time; `None` if it is of zero length.
    pub(super) fn rotation(&self, time: f32) -> Option<DQuat> {
        match (self.place(time), self.interpolation) {
            (Place::After(key, t, _), Interpolation::Linear) => {
                let [from, to] = [key, key + 1].map(|key| unit(self.of_key(key)));
                // The shorter way.
                Some(from?.slerp(to?, t))
            }
            _ => unit(self.at(time)),
        }
    }
}

fn interpolation(node: &Node<'_>) -> Option<Interpolation> {
    let Some(kind) = node.get("interpolation") else { return Some(Interpolation::Linear) };
    match kind.string()? {
        "STEP" => Some(Interpolation::Step),
        "LINEAR" => Some(Interpolation::Linear),
        "CUBICSPLINE" => Some(Interpolation::CubicSpline),
        other => {
            let other = quoted(other);
            kind.fail(format!("must be \"STEP\", \"LINEAR\" or \"CUBICSPLINE\", not {other}"))
        }
    }
}

fn check_times(from: &Node<'_>, times: &[f32]) -> Option<()> {
    if times.is_empty() {
        return from.fail("has no times");
    }
    match times.windows(2).find(|pair| pair[0] > pair[1]) {
        Some(pair) => from.fail(format!("has the time {} after {}; times must grow", pair[1], pair[0])),
        None => Some(()),
    }
}

/// The cubic curve from one value to another, with these tangents there (appendix C.5).
fn hermite([v0, v1]: [f64; 2], [b, a]: [f64; 2], t: f64) -> f64 {
    let (t2, t3) = (t * t, t * t * t);
    (2.0 * t3 - 3.0 * t2 + 1.0) * v0 + (t3 - 2.0 * t2 + t) * b + (3.0 * t2 - 2.0 * t3) * v1 + (t3 - t2) * a
}

fn unit(numbers: impl IntoIterator<Item = f64>) -> Option<DQuat> {
    let mut numbers = numbers.into_iter();
    let quaternion = DVec4::from_array([(); 4].map(|()| numbers.next().unwrap_or(0.0)));
    quaternion.try_normalize().map(DQuat::from_vec4)
}
