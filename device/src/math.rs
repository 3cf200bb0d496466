//! Elementary functions over the ranges that sampling needs, the same on every machine.

use core::f32::consts::{FRAC_PI_2, FRAC_PI_4};

/// (sin x, cos x) for |x| ≤ π/4, to 1.2·10⁻⁷. Minimax polynomials of Moshier's Cephes library (sinf.c).
#[inline(always)]
pub fn sin_cos_octant(x: f32) -> (f32, f32) {
    debug_assert!(x.abs() <= FRAC_PI_4 * 1.0001);
    let x2 = x * x;
    let sin = ((-1.951_529_6e-4 * x2 + 8.332_161e-3) * x2 - 0.166_666_55) * x2 * x + x;
    let cos = ((2.443_315_7e-5 * x2 - 1.388_731_6e-3) * x2 + 4.166_664_6e-2) * x2 * x2 - 0.5 * x2 + 1.0;
    (sin, cos)
}

/// (sin 2πu, cos 2πu) for u in [0, 1], to 2·10⁻⁷. The reduction to an octant is exact.
#[inline(always)]
pub fn sin_cos_turn(u: f32) -> (f32, f32) {
    let quarters = 4.0 * u;
    // SAFETY: quarters is in [0, 4].
    let k = unsafe { (quarters + 0.5).to_int_unchecked::<i32>() };
    let (s, c) = sin_cos_octant(FRAC_PI_2 * (quarters - k as f32));
    let (s, c) = if k & 1 == 0 { (s, c) } else { (c, s) };
    let sin = if k & 2 == 0 { s } else { -s };
    let cos = if (k + 1) & 2 == 0 { c } else { -c };
    (sin, cos)
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::f64::consts::TAU;

    #[test]
    fn sin_cos_turn_is_accurate() {
        let n = 1 << 20;
        for i in 0..=n {
            let u = i as f32 / n as f32;
            let ((s, c), x) = (sin_cos_turn(u), TAU * f64::from(u));
            let error = (f64::from(s) - x.sin()).abs().max((f64::from(c) - x.cos()).abs());
            assert!(error < 2e-7, "{u}: {s} {c}");
        }
    }
}
