//! The one list of stages.
//!
//! It expands to the GPU's entry points (`device/kernels`), to the types that back ends launch by, and to the
//! host's table of kernels.

use core::ops::Range;

pub use primitives::Launch;

pub use crate::function::{Count, Function};

use super::first_hit::FirstHit;
use super::gather::Gather;
use super::laboratory::{Draw, Evaluate};
use super::layout::Probe;
use super::learn::Learn;
use super::light_groups::LightGroups;
use super::matte::Matte;
use super::mean::Mean;
use super::megakernel::Megakernel;
use super::scatter::Scatter;
use super::trace::closest::Closest;
use super::trace::coherent::Coherent;
use super::trace::occlusion::Occlusion;
use super::trace::rays::{BounceRays, CameraRays, ShadowRays};
use super::wavefront::stages::{Accumulate, Connect, Extend, Generate, LightKeys, RayKeys, Shade};
use crate::bsdf::{Basic, Glass};
use crate::bvh::Arch;
use crate::denoise::{Average, Blend, Choose, Difference, Distance, Judge, Limit, Mirror, Regress, Spread};
use crate::features::{Full, Guided};
use crate::guiding::{Fit, Keep, Split};

/// Calls `$with!` with every stage: its name, its [`Function`], and its [`Launch`] with as many blocks as were fastest
/// when tried.
#[macro_export]
macro_rules! for_each_stage {
    ($with:ident) => {
        $with! {
            megakernel: Megakernel<Full>, block 128 times 3;
            megakernel_basic: Megakernel<Basic>, block 128 times 5;
            megakernel_glass: Megakernel<Glass>, block 128 times 4;
            megakernel_guided: Megakernel<Guided>, block 128 times 2;
            first_hit: FirstHit, block 128 times 2;
            matte: Matte, block 128 times 2;
            light_groups: LightGroups<Full>, block 128 times 2;
            light_groups_guided: LightGroups<Guided>, block 128 times 2;
            guide_learn: Learn, block 128 times 2;
            guide_keep: Keep, block 128 times 8;
            guide_split: Split, block 128 times 8;
            guide_fit: Fit, block 128 times 2;
            generate: Generate, block 128 times 6;
            ray_keys: RayKeys, block 128 times 8;
            light_keys: LightKeys, block 128 times 8;
            extend: Extend<Full>, block 128 times 6;
            extend_basic: Extend<Basic>, block 128 times 8;
            shade: Shade<Full>, block 128 times 3;
            shade_basic: Shade<Basic>, block 128 times 4;
            shade_glass: Shade<Glass>, block 128 times 4;
            shade_guided: Shade<Guided>, block 128 times 2;
            connect: Connect<Full>, block 128 times 6;
            connect_basic: Connect<Basic>, block 128 times 8;
            accumulate: Accumulate, block 128 times 8;
            camera_rays: CameraRays, block 128 times 4;
            bounce_rays: BounceRays, block 128 times 4;
            shadow_rays: ShadowRays, block 128 times 4;
            trace_coherent: Coherent<Full>, block 128 times 8;
            trace_coherent_basic: Coherent<Basic>, block 128 times 8;
            trace_closest: Closest<Full>, block 128 times 8;
            trace_closest_basic: Closest<Basic>, block 128 times 8;
            trace_shadow: Occlusion<Full>, block 128 times 8;
            trace_shadow_basic: Occlusion<Basic>, block 128 times 8;
            film_gather: Gather, block 128 times 8;
            film_scatter: Scatter, block 128 times 8;
            film_mean: Mean, block 128 times 8;
            bsdf_eval: Evaluate, block 128 times 4;
            bsdf_sample: Draw, block 128 times 4;
            denoise_mirror: Mirror, block 128 times 8;
            denoise_limit: Limit, block 128 times 8;
            denoise_spread: Spread, block 128 times 8;
            denoise_difference: Difference, block 128 times 8;
            denoise_distance: Distance, block 128 times 8;
            denoise_average: Average, block 128 times 8;
            denoise_regress: Regress, block 128 times 4;
            denoise_judge: Judge, block 128 times 8;
            denoise_choose: Choose, block 128 times 8;
            denoise_blend: Blend, block 128 times 8;
            probe: Probe, block 32 times 1;
        }
    };
}

/// A [`Function`] that is in the list, and so can be launched.
pub trait Stage: 'static {
    /// Arguments, passed by value.
    type Args: Copy + Send + Sync + 'static;
    /// Name of the GPU's entry point.
    const NAME: &'static str;
    /// Threads a block on a GPU.
    const BLOCK: u32;

    /// Number of invocations.
    fn count(args: &Self::Args) -> u32;

    /// Number of threads that run them on a GPU: as many, unless a thread takes several.
    fn threads(args: &Self::Args) -> u32;

    /// One invocation; on a GPU, those of thread `i`.
    ///
    /// # Safety
    /// The pointers in `args` are valid for what the stage documents, `i` < [`Stage::count`], or on a GPU
    /// [`Stage::threads`], no other thread runs the same `i`, and the machine is an `A`.
    unsafe fn run<A: Arch>(i: u32, args: &Self::Args);

    /// The invocations in `range`, by one thread, together where that is faster.
    ///
    /// # Safety
    /// As [`Stage::run`], for each.
    unsafe fn run_range<A: Arch>(range: Range<u32>, args: &Self::Args);
}

macro_rules! stages {
    ($($name:ident: $function:ty, block $block:literal times $blocks:literal;)*) => {
        /// The stages as types, to launch them by.
        #[allow(non_camel_case_types, reason = "a stage's type is named as its kernel")]
        pub mod stages {
            use super::*;

            $(
                #[doc = concat!("The stage `", stringify!($name), "`.")]
                pub struct $name;

                impl Stage for $name {
                    type Args = <$function as Function>::Args;
                    const NAME: &'static str = stringify!($name);
                    const BLOCK: u32 = $block;

                    #[inline(always)]
                    fn count(args: &Self::Args) -> u32 {
                        Count::count(args)
                    }

                    #[inline(always)]
                    fn threads(args: &Self::Args) -> u32 {
                        Count::threads(args)
                    }

                    #[inline(always)]
                    unsafe fn run<A: Arch>(i: u32, args: &Self::Args) {
                        // SAFETY: as the caller promised.
                        unsafe { <$function as Function>::run::<A>(i, args) }
                    }

                    #[inline(always)]
                    unsafe fn run_range<A: Arch>(range: Range<u32>, args: &Self::Args) {
                        // SAFETY: as the caller promised.
                        unsafe { <$function as Function>::run_range::<A>(range, args) }
                    }
                }
            )*
        }

        /// How a GPU launches every stage.
        pub const LAUNCHES: &[Launch] =
            &[$(Launch { stage: stringify!($name), block: $block, blocks: $blocks, shared: 0 }),*];
    };
}
for_each_stage!(stages);
