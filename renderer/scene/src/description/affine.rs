//! Affine maps: rotations and similarities.

use glam::{DMat3, DVec3};

/// Sine and cosine, exact at multiples of 90°.
pub(crate) fn sin_cos_degrees(degrees: f64) -> (f64, f64) {
    match degrees.rem_euclid(360.0) {
        0.0 => (0.0, 1.0),
        90.0 => (1.0, 0.0),
        180.0 => (0.0, -1.0),
        270.0 => (-1.0, 0.0),
        other => other.to_radians().sin_cos(),
    }
}

/// Whether a map keeps shapes, but for size and sense.
pub fn is_similarity(m: &DMat3) -> bool {
    are_alike([m.x_axis, m.y_axis, m.z_axis])
}

/// Whether vectors are of the same length and at right angles.
pub(crate) fn are_alike<const N: usize>(vectors: [DVec3; N]) -> bool {
    let s2 = vectors[0].length_squared();
    let near = |a: f64, b: f64| (a - b).abs() <= 1e-4 * s2;
    let pairs = (0..N).flat_map(|i| (0..i).map(move |j| (i, j)));
    vectors.iter().all(|v| near(v.length_squared(), s2))
        && pairs.into_iter().all(|(i, j)| near(vectors[i].dot(vectors[j]), 0.0))
}
