//! Prefix sums of any associative operator.

mod look_back;

pub use look_back::{LookBack, LookBackArgs};

use super::Operator;

/// Which elements before and with an element its result combines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub enum Bounds {
    /// Those before it.
    Exclusive,
    /// Those up to and with it.
    Inclusive,
}

/// The sequential scan: the twin of all forms.
///
/// # Panics
/// `output` is shorter than `input`.
pub fn twin<O: Operator>(bounds: Bounds, input: &[O::Value], output: &mut [O::Value]) {
    let mut sum = O::IDENTITY;
    for (x, y) in input.iter().zip(&mut output[..input.len()]) {
        let next = O::combine(sum, *x);
        *y = if bounds == Bounds::Inclusive { next } else { sum };
        sum = next;
    }
}
