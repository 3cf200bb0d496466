//! Comparison of random walks by means over all inputs.

use device::material::probe::{Answer, Input};

use super::{Comparison, MOST_ERRORS, MOST_EXCESS, differences, is_adversarial, sizes};

/// Whether a lobe walks at random.
pub(super) fn walks(name: &str) -> bool {
    name.starts_with("RandomWalk")
}

/// Quantities that are averaged over walks.
const MEANS: [&str; 4] = ["f·cos", "weight", "weight·wi.z", "weight·wi·wo"];

/// The averaged quantities for one input. f·|cos θi| is weighted as if drawn by the lobe's pdf or the cosine, and clamped:
/// it is an estimate with a heavy tail.
fn averaged(input: &Input, a: &Answer) -> [f64; 4] {
    let cos = input.wi.z.abs();
    let f = (f64::from(a.f.element_sum() * cos) / f64::from(a.pdf + cos)).min(30.0);
    let weight = a.weight.element_sum();
    [f, weight.into(), (weight * a.wi.z).into(), (weight * a.wi.dot(input.wo)).into()]
}

/// How the walks of two machines differ in the mean.
pub(super) struct Walks {
    /// Of what is averaged: the mean, that of the differences, and its standard error.
    means: [[f64; 3]; 4],
    /// The parts of inputs with which the machines agree within a thousandth: on f, and on what is drawn.
    alike: [f64; 2],
    /// Of this, density and whether all is finite do not depend on the walk.
    pointwise: Comparison,
}

impl Walks {
    pub(super) fn new(inputs: &[Input], cpu: &[Answer], other: &[Answer], pointwise: Comparison) -> Self {
        let (mut n, mut alike, mut sums) = (0.0, [0.0; 2], [[0.0; 3]; 4]);
        for (i, ((input, a), b)) in inputs.iter().zip(cpu).zip(other).enumerate() {
            if is_adversarial(i) {
                continue;
            }
            n += 1.0;
            for ((sum, x), y) in sums.iter_mut().zip(averaged(input, a)).zip(averaged(input, b)) {
                *sum = [sum[0] + x, sum[1] + (y - x), sum[2] + (y - x).powi(2)];
            }
            let (d, sizes) = (differences(a, b), sizes(a));
            let close = |column: usize| d[column] <= 1e-3 * sizes[column];
            alike[0] += f64::from(u8::from(close(0)));
            alike[1] += f64::from(u8::from((a.eta > 0.0) == (b.eta > 0.0) && close(2) && close(4)));
        }
        let mean = |[x, d, squares]: [f64; 3]| {
            let d = d / n;
            [x / n, d, ((squares / n - d * d).max(0.0) / n).sqrt()]
        };
        Self { means: sums.map(mean), alike: alike.map(|x| x / n), pointwise }
    }

    /// Whether the means differ by more than chance, or uneven rounding, explains.
    pub(super) fn differ(&self) -> bool {
        self.means.iter().any(|[mean, d, error]| d.abs() > MOST_ERRORS * error + 1e-5 * mean.abs())
    }

    pub(super) fn is_rejected(&self) -> bool {
        let [_, _, density_excess] = self.pointwise.columns[1];
        self.pointwise.infinite > 0 || density_excess > MOST_EXCESS || self.differ()
    }

    pub(super) fn line(&self, name: &str) -> String {
        let means = MEANS
            .iter()
            .zip(&self.means)
            .map(|(what, [mean, d, error])| format!("{what} {mean:.4} {d:+.1e} ± {error:.0e}"));
        let means: Vec<_> = means.collect();
        let ([f, drawn], [most, nearly, excess]) = (self.alike, self.pointwise.columns[1]);
        format!(
            "{name:21} {}; pdf {most:.0e}, {nearly:.0e} ({excess:.1}); alike f {f:.5}, drawn {drawn:.5}; \
             not finite {}",
            means.join("; "),
            self.pointwise.infinite
        )
    }
}
