//! Multiple importance sampling.

/// Weight of a sample drawn with density `p` that another strategy would draw with density `q`: the power
/// heuristic with β = 2 for one sample each (Veach 1997, eq. 9.13). `p > 0`, `q ≥ 0`.
#[inline(always)]
pub fn power_heuristic(p: f32, q: f32) -> f32 {
    // In terms of the ratio: p² overflows for the densities of small lights.
    let r = q / p;
    1.0 / (1.0 + r * r)
}
