//! Every function of `cuda_std` and `libm`, on a real GPU, against what the host knows to be right.
//!
//! The kernels are `device/kernels/src/selftest`, compiled to `device/selftest.ptx`, which this program
//! embeds: it runs on a machine that has a driver and nothing else. Without a GPU the checks say so and
//! pass; that kernels and checks belong together, and that functions become the PTX instructions which
//! their documentation names, is tested anywhere.

use std::collections::BTreeSet;

mod atomics;
mod floats;
mod memory;
mod processes;
mod threads;
mod warps;

use crate::selftest_gpu::{Gpu, Outcome, PTX};

/// A kernel, how to check it, and what its PTX must contain, separated by blanks.
struct Check {
    kernel: &'static str,
    run: fn(&Gpu) -> Outcome,
    instructions: &'static str,
}

const fn check(kernel: &'static str, run: fn(&Gpu) -> Outcome, instructions: &'static str) -> Check {
    Check { kernel, run, instructions }
}

const SHUFFLES: &str = "shfl.sync.up.b32 shfl.sync.down.b32 shfl.sync.bfly.b32 shfl.sync.idx.b32";

/// Every kernel has a row here; a test compares the names with the PTX.
const CHECKS: &[Check] = &[
    check("kernel_arguments", threads::arguments, ".entry"),
    check(
        "thread_indices",
        threads::indices,
        "%tid.x %tid.y %tid.z %ctaid.x %ctaid.y %ctaid.z %ntid.x %ntid.y %ntid.z %nctaid.x %nctaid.y \
         %nctaid.z mad.lo.s32",
    ),
    check("thread_sync", threads::sync, "bar.sync ld.shared.b32 st.shared.b32"),
    check("thread_sync_votes", threads::sync_votes, "bar.red.popc.u32 bar.red.and.pred bar.red.or.pred"),
    check("thread_block_fence", threads::block_fence, "membar.cta"),
    check("thread_device_fence", threads::device_fence, "membar.gl"),
    check("thread_system_fence", threads::system_fence, "membar.sys"),
    check("thread_clocks", threads::clocks, "%clock; %clock64 %globaltimer nanosleep.u32"),
    check(
        "warp_lanes",
        warps::lanes,
        "%laneid %lanemask_lt %lanemask_le %lanemask_eq %lanemask_ge %lanemask_gt activemask.b32",
    ),
    check("warp_shuffle_32", warps::shuffle_32, SHUFFLES),
    check("warp_shuffle_64", warps::shuffle_64, SHUFFLES),
    check("warp_shuffle_types", warps::shuffle_types, "shfl.sync.down.b32 shfl.sync.bfly.b32"),
    check(
        "warp_votes",
        warps::votes,
        "vote.sync.all.pred vote.sync.any.pred vote.sync.uni.pred vote.sync.ballot.b32",
    ),
    check(
        "warp_matches",
        warps::matches,
        "match.any.sync.b32 match.any.sync.b64 match.all.sync.b32 match.all.sync.b64 vote.sync.ballot.b32",
    ),
    check("warp_reduce", warps::reduce, "shfl.sync.bfly.b32 shfl.sync.up.b32"),
    check("warp_sync", warps::sync, "bar.warp.sync ld.shared.b32"),
    check(
        "shared_static",
        memory::shared_static,
        "st.shared.v4.b32 st.shared.b32 st.shared.b8 ld.shared.b32 ld.shared.b8",
    ),
    check("shared_dynamic", memory::shared_dynamic, "st.shared.b32 ld.shared.b32 %dynamic_smem_size"),
    check(
        "atomic_device",
        atomics::device,
        "atom.relaxed.gpu.global.add.u32 atom.relaxed.gpu.global.add.s32 atom.relaxed.gpu.global.add.u64 \
         atom.relaxed.gpu.global.add.f32 atom.relaxed.gpu.global.min.u32 atom.relaxed.gpu.global.min.s32 \
         atom.relaxed.gpu.global.min.u64 atom.relaxed.gpu.global.max.u32 atom.relaxed.gpu.global.max.s32 \
         atom.relaxed.gpu.global.max.u64 atom.relaxed.gpu.global.exch.b32 \
         atom.relaxed.gpu.global.exch.b64 atom.relaxed.gpu.global.cas.b32 atom.relaxed.gpu.global.cas.b64",
    ),
    check(
        "atomic_block",
        atomics::block,
        "atom.relaxed.cta.shared.add.u32 atom.relaxed.cta.shared.add.s32 atom.relaxed.cta.shared.add.u64 \
         atom.relaxed.cta.shared.add.f32 atom.relaxed.cta.shared.min.u32 atom.relaxed.cta.shared.min.s32 \
         atom.relaxed.cta.shared.min.u64 atom.relaxed.cta.shared.max.u32 atom.relaxed.cta.shared.max.s32 \
         atom.relaxed.cta.shared.max.u64 atom.relaxed.cta.shared.exch.b32 \
         atom.relaxed.cta.shared.exch.b64 atom.relaxed.cta.shared.cas.b32 atom.relaxed.cta.shared.cas.b64",
    ),
    check(
        "atomic_messages_device",
        atomics::messages_device,
        "ld.relaxed.gpu.global.u32 ld.relaxed.gpu.global.u64 ld.acquire.gpu.global.u32 \
         ld.acquire.gpu.global.u64 st.relaxed.gpu.global.u32 st.relaxed.gpu.global.u64 \
         st.release.gpu.global.u32 st.release.gpu.global.u64",
    ),
    check(
        "atomic_messages_block",
        atomics::messages_block,
        "ld.relaxed.cta.shared.u32 ld.relaxed.cta.shared.u64 ld.acquire.cta.shared.u32 \
         ld.acquire.cta.shared.u64 st.relaxed.cta.shared.u32 st.relaxed.cta.shared.u64 \
         st.release.cta.shared.u32 st.release.cta.shared.u64",
    ),
    check(
        "atomic_volatile",
        atomics::volatile,
        "ld.volatile.global.b32 ld.volatile.global.b64 st.volatile.global.b32 st.volatile.global.b64",
    ),
    check(
        "mem_loads",
        memory::loads,
        "ld.global.nc.u32 ld.global.nc.u64 ld.global.nc.v4.u32 ld.global.cs.u32 ld.global.cs.u64 \
         ld.global.cs.v4.u32 ld.global.cg.u32 ld.global.cg.u64 ld.global.cg.v4.u32 ld.global.u32 \
         ld.global.u64 ld.global.v4.u32",
    ),
    check(
        "mem_stores",
        memory::stores,
        "st.global.cs.u32 st.global.cs.u64 st.global.cs.v4.u32 st.global.cg.u32 st.global.cg.u64 \
         st.global.cg.v4.u32 st.global.u32 st.global.u64 st.global.v4.u32",
    ),
    check(
        "float_unary",
        floats::unary,
        "sqrt.approx.ftz.f32 rsqrt.approx.ftz.f32 rcp.approx.ftz.f32 ex2.approx.ftz.f32 \
         lg2.approx.ftz.f32 div.full.ftz.f32 cvt.rmi.ftz.f32.f32 cvt.rpi.ftz.f32.f32 cvt.rzi.ftz.f32.f32 \
         sqrt.rn.f32 rcp.rn.f32 sin.approx.ftz.f32 cos.approx.ftz.f32",
    ),
    check("float_binary", floats::binary, "mul.rn.f32 add.rn.f32 sub.rn.f32 div.rn.f32 div.full.ftz.f32"),
    check("float_products", floats::products, "mul.rn.f32 add.rn.f32 sub.rn.f32 fma.rn.f32 fma.rn.ftz.f32"),
    check("debug_print", processes::print, "vprintf"),
    check("debug_trap", processes::trap, "trap;"),
];

/// The names of the entry points in a PTX file, but for those of `gpu_lobes.rs`.
fn entries(ptx: &str) -> BTreeSet<&str> {
    ptx.lines()
        .filter_map(|line| line.trim_start().strip_prefix(".visible .entry "))
        .filter_map(|rest| rest.split(['(', ' ']).next())
        .filter(|name| !name.starts_with("lobe_"))
        .collect()
}

/// The PTX of one entry point, from its name to the closing brace.
fn body<'a>(ptx: &'a str, kernel: &str) -> Option<&'a str> {
    let start = ptx.find(&format!(".visible .entry {kernel}("))?;
    let length = ptx[start..].find("\n}")?;
    Some(&ptx[start..start + length])
}

#[test]
fn every_kernel_has_a_check_and_every_check_a_kernel() {
    let checks: BTreeSet<&str> = CHECKS.iter().map(|check| check.kernel).collect();
    assert_eq!(checks.len(), CHECKS.len(), "a kernel is in the table twice");
    assert_eq!(entries(&PTX), checks);
    // The comparison sees a kernel that nobody checks.
    let more = format!("{}\n.visible .entry forgotten(\n)\n", PTX.as_str());
    assert_ne!(entries(&more), checks);
}

#[test]
fn functions_become_the_documented_instructions() {
    let mut missing = Vec::new();
    for Check { kernel, instructions, .. } in CHECKS {
        let Some(body) = body(&PTX, kernel) else { continue };
        let absent = instructions.split_whitespace().filter(|i| !body.contains(i));
        missing.extend(absent.map(|i| format!("{kernel}: {i}")));
    }
    assert!(missing.is_empty(), "not in the PTX:\n{}", missing.join("\n"));
}

/// The check of each kernel, one after the other on one GPU.
#[test]
fn kernels_are_right_on_the_gpu() {
    let Some(gpu) = Gpu::open() else { return };
    println!("{}", gpu.name());
    let mut failures = Vec::new();
    for check in CHECKS {
        match (check.run)(&gpu) {
            Ok(detail) => println!("{:24} ok {detail}", check.kernel),
            Err(problem) => failures.push(format!("{}: {problem}", check.kernel)),
        }
    }
    assert!(
        failures.is_empty(),
        "{} of {} kernels failed\n{}",
        failures.len(),
        CHECKS.len(),
        failures.join("\n")
    );
}

/// The checks of a GPU that returns one wrong value in each buffer: all of them must notice.
#[test]
fn a_wrong_result_fails_every_check() {
    let Some(gpu) = Gpu::open() else { return };
    let gpu = gpu.corrupting();
    let blind: Vec<_> =
        CHECKS.iter().filter(|check| (check.run)(&gpu).is_ok()).map(|check| check.kernel).collect();
    assert!(blind.is_empty(), "these checks pass with a wrong result: {blind:?}");
}

/// Child process of the tests in [`processes`], which runs one kernel. Does nothing otherwise.
#[test]
fn child() {
    processes::child();
}
