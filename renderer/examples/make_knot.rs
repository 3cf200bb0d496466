//! Writes `scenes/models/knot.obj`, a trefoil knot of 100 352 triangles, to standard output:
//!
//! ```sh
//! cargo run --release --example make_knot > scenes/models/knot.obj
//! ```
//!
//! Coordinates are whole numbers, to be scaled down where the mesh is used, and faces count back from the
//! vertex just written, which keeps the file below 2 MB. The knot stands on the plane y = 0.

use std::f64::consts::TAU;
use std::fmt::Write as _;
use std::io::{self, Write as _};

/// Vertices around the tube.
const AROUND: usize = 64;
/// Rings along the knot.
const ALONG: usize = 784;
/// Radius of the tube; the knot is 6 wide.
const TUBE: f64 = 0.56;
/// Height of the knot in the file.
const HEIGHT: f64 = 60_000.0;

type V = [f64; 3];

fn main() -> io::Result<()> {
    io::stdout().write_all(knot().as_bytes())
}

/// The text of the file.
pub(crate) fn knot() -> String {
    let rings: Vec<V> = (0..ALONG).flat_map(|i| ring(i as f64 / ALONG as f64)).collect();
    let (low, high) = rings.iter().fold((f64::MAX, f64::MIN), |(l, h), p| (l.min(p[1]), h.max(p[1])));
    let to_file = |c: f64| (c * HEIGHT / (high - low)).round() as i64;

    let mut out = String::from("# A trefoil knot, made by `cargo run --release --example make_knot`.\n");
    for (at, p) in rings.iter().enumerate() {
        let (i, j) = (at / AROUND, at % AROUND);
        let [x, y, z] = [p[0], p[1] - low, p[2]].map(to_file);
        line(&mut out, format_args!("v {x} {y} {z}"));
        if i > 0 && j > 0 {
            line(&mut out, format_args!("f -1 -2 -{} -{}", AROUND + 2, AROUND + 1));
        }
        if i > 0 && j == AROUND - 1 {
            line(&mut out, format_args!("f -{AROUND} -1 -{} -{}", AROUND + 1, 2 * AROUND));
        }
    }
    // The last ring meets the first.
    let last = (ALONG - 1) * AROUND;
    for j in 0..AROUND {
        let k = (j + 1) % AROUND;
        line(&mut out, format_args!("f {} {} {} {}", k + 1, j + 1, last + j + 1, last + k + 1));
    }
    out
}

fn line(out: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    let _ = writeln!(out, "{text}");
}

/// The vertices around the knot's point at `t` in [0, 1).
fn ring(t: f64) -> impl Iterator<Item = V> {
    let center = curve(t);
    let tangent = unit(sub(curve(t + 1e-5), curve(t - 1e-5)));
    // The knot never runs along z, so this frame turns little, and closes.
    let side = unit(cross(tangent, [0.0, 0.0, 1.0]));
    let out = cross(side, tangent);
    (0..AROUND).map(move |j| {
        let (sin, cos) = (j as f64 / AROUND as f64 * TAU).sin_cos();
        std::array::from_fn(|c| center[c] + TUBE * (cos * out[c] + sin * side[c]))
    })
}

/// A trefoil around the z axis, one of its three lobes up.
fn curve(t: f64) -> V {
    let t = TAU * t;
    [t.sin() + 2.0 * (2.0 * t).sin(), 2.0 * (2.0 * t).cos() - t.cos(), 1.1 * (3.0 * t).sin()]
}

fn sub(a: V, b: V) -> V {
    std::array::from_fn(|c| a[c] - b[c])
}

fn cross(a: V, b: V) -> V {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

fn unit(a: V) -> V {
    let length = a.iter().map(|c| c * c).sum::<f64>().sqrt();
    a.map(|c| c / length)
}
