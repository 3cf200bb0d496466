//! The one list of stages.
//!
//! It expands to the GPU's entry points (`device/kernels`), to the types that back ends launch by, and to the
//! host's table of kernels.

use core::ops::Range;

use super::trace::{CameraRaysArgs, ClosestArgs, CoherentArgs, NextRaysArgs, OcclusionArgs, TraceArgs};
use super::{FirstHitArgs, MegakernelArgs, SampleArgs, TracingArgs, WavefrontArgs, first_hit};
use crate::arch::Arch;
use crate::bvh::RAYS_PER_WARP;

/// Calls `$with!` with every stage: its name, its arguments, and its [`Launch`] with as many blocks as were fastest
/// when tried.
#[macro_export]
macro_rules! for_each_stage {
    ($with:ident) => {
        $with! {
            megakernel(MegakernelArgs) block 128 times 3;
            megakernel_basic(MegakernelArgs) block 128 times 5;
            megakernel_glass(MegakernelArgs) block 128 times 4;
            first_hit(FirstHitArgs) block 128 times 2;
            generate(WavefrontArgs) block 128 times 6;
            ray_keys(WavefrontArgs) block 128 times 8;
            light_keys(WavefrontArgs) block 128 times 8;
            extend(TracingArgs) block 128 times 6;
            extend_basic(TracingArgs) block 128 times 8;
            shade(WavefrontArgs) block 128 times 3;
            shade_basic(WavefrontArgs) block 128 times 4;
            shade_glass(WavefrontArgs) block 128 times 4;
            connect(TracingArgs) block 128 times 6;
            connect_basic(TracingArgs) block 128 times 8;
            accumulate(WavefrontArgs) block 128 times 8;
            camera_rays(CameraRaysArgs) block 128 times 4;
            bounce_rays(NextRaysArgs) block 128 times 4;
            shadow_rays(NextRaysArgs) block 128 times 4;
            trace_coherent(CoherentArgs) block 128 times 8;
            trace_coherent_basic(CoherentArgs) block 128 times 8;
            trace_closest(ClosestArgs) block 128 times 8;
            trace_closest_basic(ClosestArgs) block 128 times 8;
            trace_shadow(OcclusionArgs) block 128 times 8;
            trace_shadow_basic(OcclusionArgs) block 128 times 8;
            probe(ProbeArgs) block 32 times 1;
        }
    };
}

/// A function run for every index, with the same arguments.
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

/// Arguments that know how many invocations they are for.
trait Count {
    fn count(&self) -> u32;

    /// As [`Stage::threads`].
    #[inline(always)]
    fn threads(&self) -> u32 {
        self.count()
    }
}

impl<P> Count for SampleArgs<P> {
    #[inline(always)]
    fn count(&self) -> u32 {
        self.invocations
    }
}

impl Count for FirstHitArgs {
    #[inline(always)]
    fn count(&self) -> u32 {
        self.take.invocations
    }
}

impl Count for TracingArgs {
    #[inline(always)]
    fn count(&self) -> u32 {
        self.0.invocations
    }

    /// Whole warps, which each trace [`RAYS_PER_WARP`] if all slots have a ray.
    #[inline(always)]
    fn threads(&self) -> u32 {
        threads_of_rays(self.0.invocations)
    }
}

impl Count for WavefrontArgs {
    #[inline(always)]
    fn count(&self) -> u32 {
        self.invocations
    }
}

impl Count for CameraRaysArgs {
    #[inline(always)]
    fn count(&self) -> u32 {
        self.take.invocations
    }
}

impl Count for NextRaysArgs {
    #[inline(always)]
    fn count(&self) -> u32 {
        self.count
    }
}

impl Count for CoherentArgs {
    #[inline(always)]
    fn count(&self) -> u32 {
        self.0.count
    }
}

impl<T> Count for TraceArgs<T> {
    #[inline(always)]
    fn count(&self) -> u32 {
        self.count
    }

    /// Whole warps, which each trace [`RAYS_PER_WARP`].
    #[inline(always)]
    fn threads(&self) -> u32 {
        threads_of_rays(self.count)
    }
}

/// Threads that trace so many rays on a GPU: in whole blocks, since rays are shared out among all warps of the grid.
const fn threads_of_rays(rays: u32) -> u32 {
    const WARPS_OF_BLOCK: u32 = 4;
    rays.div_ceil(RAYS_PER_WARP).next_multiple_of(WARPS_OF_BLOCK) * 32
}

/// Arguments of the probe.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct ProbeArgs {
    /// Room for [`LAYOUT`]`.len()` words.
    pub out: *mut u32,
}

// SAFETY: only invocation 0 writes.
unsafe impl Send for ProbeArgs {}
// SAFETY: as above.
unsafe impl Sync for ProbeArgs {}

impl Count for ProbeArgs {
    #[inline(always)]
    fn count(&self) -> u32 {
        1
    }
}

/// Sizes and offsets on which host and GPU must agree, computed by whoever compiles this.
pub const LAYOUT: [u32; 40] = [
    size_of::<crate::bvh::Node>() as u32,
    size_of::<crate::shape::Primitive>() as u32,
    size_of::<crate::material::Material>() as u32,
    size_of::<crate::material::Header>() as u32,
    size_of::<crate::bsdf::plastic::Coat>() as u32,
    size_of::<crate::material::texture::Texture>() as u32,
    size_of::<crate::shape::triangle::TriangleUvs>() as u32,
    size_of::<crate::light::Light>() as u32,
    size_of::<crate::light::AliasEntry>() as u32,
    size_of::<crate::light::Environment>() as u32,
    size_of::<crate::light::Portal>() as u32,
    size_of::<crate::light::EmissiveSurface>() as u32,
    core::mem::offset_of!(crate::light::Environment, table) as u32,
    size_of::<crate::camera::Camera>() as u32,
    size_of::<crate::film::FilmPixel>() as u32,
    size_of::<crate::scene::SceneView>() as u32,
    size_of::<super::PathSettings>() as u32,
    size_of::<MegakernelArgs>() as u32,
    core::mem::offset_of!(crate::scene::SceneView, camera) as u32,
    core::mem::offset_of!(MegakernelArgs, film) as u32,
    core::mem::offset_of!(MegakernelArgs, settings) as u32,
    core::mem::offset_of!(MegakernelArgs, samples) as u32,
    core::mem::offset_of!(crate::shape::Primitive, normals) as u32,
    core::mem::offset_of!(crate::light::Light, le) as u32,
    core::mem::offset_of!(crate::material::Header, opacity) as u32,
    size_of::<crate::film::FirstHitPixel>() as u32,
    size_of::<FirstHitArgs>() as u32,
    core::mem::offset_of!(FirstHitArgs, uvs) as u32,
    size_of::<crate::bvh::Instance>() as u32,
    size_of::<crate::shape::triangle::TriangleColors>() as u32,
    size_of::<crate::filter::FilterPart>() as u32,
    size_of::<crate::material::program::Combination>() as u32,
    size_of::<CameraRaysArgs>() as u32,
    size_of::<NextRaysArgs>() as u32,
    size_of::<ClosestArgs>() as u32,
    size_of::<OcclusionArgs>() as u32,
    size_of::<WavefrontArgs>() as u32,
    core::mem::offset_of!(WavefrontArgs, queue) as u32,
    core::mem::offset_of!(WavefrontArgs, curve) as u32,
    size_of::<super::wavefront::Counters>() as u32,
];

/// How a GPU launches a stage.
#[derive(Clone, Copy, Debug)]
pub struct Launch {
    /// Name of the stage.
    pub stage: &'static str,
    /// Threads a block.
    pub block: u32,
    /// Blocks that fit on a multiprocessor at least: the compiler gives threads as many registers as that allows.
    pub blocks: u32,
    /// Bytes of shared memory that a launch gives each block, beside what the kernel declares itself.
    pub shared: u32,
}

/// Makes stages of the functions `run` and `run_range` of a module, compiled for a set of features.
macro_rules! compiled {
    ($($name:ident($Args:ident) is $module:path, for $Compiled:ident;)*) => { $(
        mod $name {
            use $module as module;

            use super::{$Args, Arch, Range};
            use crate::bsdf::$Compiled;

            #[inline(always)]
            pub(super) unsafe fn run<A: Arch>(i: u32, args: &$Args) {
                // SAFETY: as the caller promised.
                unsafe { module::run::<A, $Compiled>(i, args) }
            }

            #[inline(always)]
            pub(super) unsafe fn run_range<A: Arch>(range: Range<u32>, args: &$Args) {
                // SAFETY: as the caller promised.
                unsafe { module::run_range::<A, $Compiled>(range, args) }
            }
        }
    )* };
}
compiled! {
    megakernel(MegakernelArgs) is crate::path::megakernel, for Full;
    megakernel_basic(MegakernelArgs) is crate::path::megakernel, for Basic;
    megakernel_glass(MegakernelArgs) is crate::path::megakernel, for Glass;
    trace_coherent(CoherentArgs) is crate::path::trace::coherent, for Full;
    trace_coherent_basic(CoherentArgs) is crate::path::trace::coherent, for Basic;
    trace_closest(ClosestArgs) is crate::path::trace::closest, for Full;
    trace_closest_basic(ClosestArgs) is crate::path::trace::closest, for Basic;
    trace_shadow(OcclusionArgs) is crate::path::trace::occlusion, for Full;
    trace_shadow_basic(OcclusionArgs) is crate::path::trace::occlusion, for Basic;
}

/// Makes stages of functions that every machine runs alike, one invocation after the other.
macro_rules! alike {
    ($($name:ident($Args:ident) is $function:path;)*) => { $(
        mod $name {
            use super::{$Args, Arch, Range};

            #[inline(always)]
            #[expect(clippy::extra_unused_type_parameters, reason = "every stage has this shape")]
            pub(super) unsafe fn run<A: Arch>(i: u32, args: &$Args) {
                // SAFETY: as the caller promised.
                unsafe { $function(i, args) }
            }

            #[inline(always)]
            pub(super) unsafe fn run_range<A: Arch>(range: Range<u32>, args: &$Args) {
                for i in range {
                    // SAFETY: as the caller promised.
                    unsafe { run::<A>(i, args) }
                }
            }
        }
    )* };
}
alike! {
    camera_rays(CameraRaysArgs) is crate::path::trace::rays::camera;
    bounce_rays(NextRaysArgs) is crate::path::trace::rays::bounce;
    shadow_rays(NextRaysArgs) is crate::path::trace::rays::shadow;
}

/// Makes the stages of the wavefront, each for a set of features if it depends on them.
macro_rules! wavefronts {
    ($($name:ident($Args:ident): $run:ident, $run_range:ident $(of $Compiled:ident)?;)*) => { $(
        mod $name {
            use super::{$Args, Arch, Range};
            $(use crate::bsdf::$Compiled;)?
            use crate::path::wavefront::stages;

            #[inline(always)]
            pub(super) unsafe fn run<A: Arch>(i: u32, args: &$Args) {
                // SAFETY: as the caller promised.
                unsafe { stages::$run::<A $(, $Compiled)?>(i, args) }
            }

            #[inline(always)]
            pub(super) unsafe fn run_range<A: Arch>(range: Range<u32>, args: &$Args) {
                // SAFETY: as the caller promised.
                unsafe { stages::$run_range::<A $(, $Compiled)?>(range, args) }
            }
        }
    )* };
}
wavefronts! {
    generate(WavefrontArgs): generate, generate_range;
    ray_keys(WavefrontArgs): ray_keys, ray_keys_range;
    light_keys(WavefrontArgs): light_keys, light_keys_range;
    extend(TracingArgs): extend, extend_range of Full;
    extend_basic(TracingArgs): extend, extend_range of Basic;
    shade(WavefrontArgs): shade, shade_range of Full;
    shade_basic(WavefrontArgs): shade, shade_range of Basic;
    shade_glass(WavefrontArgs): shade, shade_range of Glass;
    connect(TracingArgs): connect, connect_range of Full;
    connect_basic(TracingArgs): connect, connect_range of Basic;
    accumulate(WavefrontArgs): accumulate, accumulate_range;
}

mod probe {
    use super::{Arch, LAYOUT, ProbeArgs, Range};

    #[inline(always)]
    #[expect(clippy::extra_unused_type_parameters, reason = "every stage has this shape")]
    pub(super) unsafe fn run<A: Arch>(_: u32, args: &ProbeArgs) {
        for (k, x) in LAYOUT.into_iter().enumerate() {
            // SAFETY: there is room for all of it.
            unsafe { args.out.add(k).write(x) };
        }
    }

    #[inline(always)]
    pub(super) unsafe fn run_range<A: Arch>(range: Range<u32>, args: &ProbeArgs) {
        for i in range {
            // SAFETY: as the caller promised.
            unsafe { run::<A>(i, args) };
        }
    }
}

macro_rules! stages {
    ($($name:ident($Args:ident) block $block:literal times $blocks:literal;)*) => {
        /// The stages as types, to launch them by.
        #[allow(non_camel_case_types, reason = "a stage's type is named as its function and its kernel")]
        pub mod stages {
            $(
                #[doc = concat!("The stage `", stringify!($name), "`.")]
                pub struct $name;

                impl super::Stage for $name {
                    type Args = super::$Args;
                    const NAME: &'static str = stringify!($name);
                    const BLOCK: u32 = $block;

                    #[inline(always)]
                    fn count(args: &Self::Args) -> u32 {
                        super::Count::count(args)
                    }

                    #[inline(always)]
                    fn threads(args: &Self::Args) -> u32 {
                        super::Count::threads(args)
                    }

                    #[inline(always)]
                    unsafe fn run<A: super::Arch>(i: u32, args: &Self::Args) {
                        // SAFETY: as the caller promised.
                        unsafe { super::$name::run::<A>(i, args) }
                    }

                    #[inline(always)]
                    unsafe fn run_range<A: super::Arch>(range: super::Range<u32>, args: &Self::Args) {
                        // SAFETY: as the caller promised.
                        unsafe { super::$name::run_range::<A>(range, args) }
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
