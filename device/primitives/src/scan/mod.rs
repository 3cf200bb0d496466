//! Prefix sums of any associative operator, in the four forms of the literature.

mod blelloch;
mod hillis_steele;
#[cfg(target_arch = "nvptx64")]
mod in_registers;
mod look_back;
mod three_phase;

pub use blelloch::{Add, AddArgs, Blelloch, BlellochArgs};
pub use hillis_steele::{HillisSteele, HillisSteeleArgs};
pub use look_back::{LookBack, LookBackArgs};
pub use three_phase::{Partials, PartialsArgs, TileScan, TileScanArgs, TileSums, TileSumsArgs};

use super::{Entry, Kernel, Operator};

/// Range of elements that a result combines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub enum Bounds {
    /// Those before it.
    Exclusive,
    /// Those up to and with it.
    Inclusive,
}

/// Threads of a block that scans a tile.
const BLOCK: u32 = 256;

/// Rows of a tile, 4 × 32 elements of a warp each: as many as make 96 bytes a thread.
const fn rows<T>() -> u32 {
    if size_of::<T>() == 4 { 6 } else { 3 }
}

/// Elements of a tile of the single-pass and of the three-phase scan.
pub const fn tile<T>() -> u32 {
    BLOCK * 4 * rows::<T>()
}

/// An operator for which there are kernels.
pub trait Scannable: Operator {
    /// The scan in a single pass.
    type LookBack: Kernel<Args = LookBackArgs<Self::Value>> + Entry;
    /// The first phase of three.
    type TileSums: Kernel<Args = TileSumsArgs<Self::Value>> + Entry;
    /// The second phase of three.
    type Partials: Kernel<Args = PartialsArgs<Self::Value>> + Entry;
    /// The third phase of three.
    type TileScan: Kernel<Args = TileScanArgs<Self::Value>> + Entry;
    /// The work-efficient scan of tiles.
    type Blelloch: Kernel<Args = BlellochArgs<Self::Value>> + Entry;
    /// Adds to tiles the prefixes before them.
    type Add: Kernel<Args = AddArgs<Self::Value>> + Entry;
    /// One step of the step-efficient scan.
    type HillisSteele: Kernel<Args = HillisSteeleArgs<Self::Value>> + Entry;
}

impl<O: Operator> Scannable for O
where
    LookBack<O>: Entry,
    TileSums<O>: Entry,
    Partials<O>: Entry,
    TileScan<O>: Entry,
    Blelloch<O>: Entry,
    Add<O>: Entry,
    HillisSteele<O>: Entry,
{
    type LookBack = LookBack<O>;
    type TileSums = TileSums<O>;
    type Partials = Partials<O>;
    type TileScan = TileScan<O>;
    type Blelloch = Blelloch<O>;
    type Add = Add<O>;
    type HillisSteele = HillisSteele<O>;
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
