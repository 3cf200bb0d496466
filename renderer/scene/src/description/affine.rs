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
    are_alike_within(1e-4, vectors)
}

/// The same, within a part of the square of their length.
pub(crate) fn are_alike_within<const N: usize>(tolerance: f64, vectors: [DVec3; N]) -> bool {
    let s2 = vectors[0].length_squared();
    let near = |a: f64, b: f64| (a - b).abs() <= tolerance * s2;
    let pairs = (0..N).flat_map(|i| (0..i).map(move |j| (i, j)));
    vectors.iter().all(|v| near(v.length_squared(), s2))
        && pairs.into_iter().all(|(i, j)| near(vectors[i].dot(vectors[j]), 0.0))
}

/// The rotation or reflection nearest to a map that can be inverted (Higham 1986, "Computing the Polar Decomposition – with
/// Applications", eq. 3.1).
pub(crate) fn nearest_rotation(m: &DMat3) -> DMat3 {
    let mut q = *m;
    for _ in 0..100 {
        let next = (q + q.inverse().transpose()) * 0.5;
        let is_done = next.abs_diff_eq(q, 1e-12);
        q = next;
        if is_done {
            break;
        }
    }
    q
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_from_the_nearest_rotation_is_symmetric() {
        let m = DMat3::from_cols_array(&[2.0, 0.3, -1.0, 0.1, 1e3, 0.4, 5.0, -0.2, 1e-2]);
        for m in [m, -m, m.transpose()] {
            let q = nearest_rotation(&m);
            let stretch = q.transpose() * m;
            assert!((q.transpose() * q).abs_diff_eq(DMat3::IDENTITY, 1e-9));
            assert!(stretch.abs_diff_eq(stretch.transpose(), 1e-9), "{stretch}");
        }
    }
}
