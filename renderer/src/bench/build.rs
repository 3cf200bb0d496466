//! Measures how fast trees are built, and how good they are, for primitives in several arrangements: what is evenly spaced,
//! nested, or all in one place must not take longer than what is spread out.

use std::time::{Duration, Instant};

use super::Times;
use crate::assemble::{Error, bvh};

mod layout;
mod quality;

pub use layout::Layout;
use quality::Quality;

/// How often a tree is built, if there is time.
const ROUNDS: usize = 5;
/// How long to build it again.
const ENOUGH: Duration = Duration::from_millis(500);

/// Measurements of a tree.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BuildTiming {
    /// How its primitives lie.
    pub layout: Layout,
    /// Their number.
    pub primitives: u32,
    /// How long it takes to build, seconds.
    pub times: Times,
    /// Nodes and primitives that a line through the box of all meets on average, each primitive as 0.3 nodes: the cost of
    /// the surface-area heuristic.
    pub cost: f64,
    /// Levels of nodes.
    pub depth: usize,
    /// Bytes of the tree and of the primitives in it.
    pub bytes: usize,
}

/// Builds a tree of so many primitives, and measures it.
///
/// # Errors
/// There are too many primitives.
pub fn time_build(layout: Layout, primitives: u32) -> Result<BuildTiming, Error> {
    let given = layout.primitives(primitives);
    let start = Instant::now();
    let mut seconds = Vec::with_capacity(ROUNDS);
    loop {
        let given = given.clone();
        let begun = Instant::now();
        let tree = bvh::build(given)?;
        seconds.push(begun.elapsed().as_secs_f64());
        if seconds.len() == ROUNDS || start.elapsed() > ENOUGH {
            let Quality { cost, depth } = Quality::of(&tree.nodes);
            let bytes = size_of_val(&*tree.nodes) + size_of_val(&*tree.prims) + size_of_val(&*tree.sources);
            let times = Times::from_seconds(seconds);
            return Ok(BuildTiming { layout, primitives, times, cost, depth, bytes });
        }
    }
}

/// Threads that trees are built on.
pub fn build_threads() -> usize {
    rayon::current_num_threads()
}

/// The exponent k of the power nᵏ that fits times for several numbers n of primitives best, by least squares of logarithms:
/// 1 if time is in proportion. `None` if all are of one number.
pub fn slope<'a>(timings: impl IntoIterator<Item = &'a BuildTiming>) -> Option<f64> {
    let points: Vec<[f64; 2]> =
        timings.into_iter().map(|t| [f64::from(t.primitives).ln(), t.times.least.ln()]).collect();
    let mean = |axis: usize| points.iter().map(|p| p[axis]).sum::<f64>() / points.len() as f64;
    let (x, y) = (mean(0), mean(1));
    let spread = points.iter().map(|p| (p[0] - x).powi(2)).sum::<f64>();
    (spread > 0.0).then(|| points.iter().map(|p| (p[0] - x) * (p[1] - y)).sum::<f64>() / spread)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slopes_are_exponents() {
        let timing = |n: u32, seconds: f64| BuildTiming {
            layout: Layout::Row,
            primitives: n,
            times: Times { least: seconds, median: seconds },
            cost: 1.0,
            depth: 1,
            bytes: 0,
        };
        let of = |exponent: f64| {
            slope(&[10, 100, 1000].map(|n: u32| timing(n, 3e-6 * f64::from(n).powf(exponent))))
        };
        for exponent in [0.0, 1.0, 2.0] {
            assert!((of(exponent).unwrap() - exponent).abs() < 1e-9);
        }
        assert_eq!(slope(&[timing(7, 1.0), timing(7, 2.0)]), None);
        assert_eq!(slope(&[]), None);
    }

    #[test]
    fn trees_are_measured() {
        let timing = time_build(Layout::Row, 1000).unwrap();
        assert_eq!((timing.layout, timing.primitives), (Layout::Row, 1000));
        assert!(timing.times.least > 0.0 && timing.cost > 2.0 && timing.cost < 20.0, "{timing:?}");
        assert!(timing.depth > 2 && timing.depth < 9 && timing.bytes > 56 * 1000, "{timing:?}");
    }
}
