//! The stages, compiled for the instruction sets of the host. A crate of its own: it takes long to compile, and changes
//! only when the physics does.

use std::any::TypeId;
use std::ops::Range;

use device::bvh::Portable;
use device::path::stage::{Stage, stages};

/// Instruction sets for which the stages are compiled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum InstructionSet {
    /// Instruction set that every machine of the architecture has.
    Portable,
    /// x86-64 with AVX2, FMA, BMI and LZCNT.
    Avx2,
    /// The same and AVX-512 F, BW, DQ and VL.
    Avx512,
}

impl InstructionSet {
    /// The best that this machine has.
    pub fn detect() -> Self {
        #[cfg(target_arch = "x86_64")]
        {
            macro_rules! has {
                ($($feature:tt),*) => { $(is_x86_feature_detected!($feature))&&* };
            }
            if has!("avx2", "fma", "bmi1", "bmi2", "lzcnt", "popcnt") {
                let wide = has!("avx512f", "avx512bw", "avx512dq", "avx512vl");
                return if wide { Self::Avx512 } else { Self::Avx2 };
            }
        }
        Self::Portable
    }
}

/// Runs a range of a stage's invocations, given a pointer to its arguments.
///
/// # Safety
/// As [`Stage::run_range`]; the pointer is to the stage's arguments, and the machine has the instruction set.
pub type Runner = unsafe fn(Range<u32>, *const ());

/// The runner of a stage, by its type. All of them are compiled here, once: a generic function would compile them again
/// in every crate that calls it.
///
/// # Panics
/// The type is no stage.
#[inline(never)]
pub fn runner(stage: TypeId, isa: InstructionSet) -> Runner {
    macro_rules! runners {
        ($($stage:ident: $function:ty, block $block:literal times $blocks:literal;)*) => {
            [$((TypeId::of::<stages::$stage>(), pick::<stages::$stage>(isa))),*]
        };
    }
    let runners = device::for_each_stage!(runners);
    let found = runners.into_iter().find(|(id, _)| *id == stage);
    found.expect("every stage is in the list that this is made of").1
}

fn pick<S: Stage>(isa: InstructionSet) -> Runner {
    match isa {
        #[cfg(target_arch = "x86_64")]
        InstructionSet::Avx2 => run_range_avx2::<S>,
        #[cfg(target_arch = "x86_64")]
        InstructionSet::Avx512 => run_range_avx512::<S>,
        _ => run_range_portable::<S>,
    }
}

/// # Safety
/// As [`Stage::run_range`]; `args` points to the stage's.
unsafe fn run_range_portable<S: Stage>(range: Range<u32>, args: *const ()) {
    // SAFETY: as the caller promised.
    unsafe { S::run_range::<Portable>(range, &*args.cast()) };
}

/// # Safety
/// As [`run_range_portable`], on a machine that has these features.
#[cfg(target_arch = "x86_64")]
#[inline(never)]
#[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
unsafe fn run_range_avx2<S: Stage>(range: Range<u32>, args: *const ()) {
    // SAFETY: as the caller promised.
    unsafe { S::run_range::<device::bvh::Avx2>(range, &*args.cast()) };
}

/// # Safety
/// As [`run_range_portable`], on a machine that has these features.
#[cfg(target_arch = "x86_64")]
#[inline(never)]
#[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl")]
unsafe fn run_range_avx512<S: Stage>(range: Range<u32>, args: *const ()) {
    // SAFETY: as the caller promised.
    unsafe { S::run_range::<device::bvh::Avx512>(range, &*args.cast()) };
}
