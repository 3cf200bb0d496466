//! The CUDA back end: every reason for there being no GPU, in words; every symbol that `cust` may reference;
//! and memory, launches and errors, on a driver made of C for the test, and on a GPU where there is one; and renders on
//! machines that fail.
//!
//! A driver's status is determined once per process, and a kernel's error ends a process's use of the GPU. So each case runs
//! in a process of its own: this test program again, told by `TORRANCE_TEST_CASE` what to do.

mod arrays;
mod back_end;
mod cases;
mod children;
mod fake;
mod faults;
mod reasons;
mod scenes;
mod symbols;

use torrance_gpu::backend::Backend;
use torrance_gpu::backend::cuda::{Cuda, driver};

use cases::{
    call_what_is_unbound, download_without_memory, empty, exhaust, fatal, load_from_many_threads,
    many_feature_sets, own, places, said, threads, two_at_once, work, wrong_kernels, wrong_modules,
};

const CASE_VARIABLE: &str = "TORRANCE_TEST_CASE";

/// Mark before a child's answer, to tell it from the test harness's lines.
const MARK: &str = "answer: ";

/// Three kernels of one argument, and one of two, which the back end refuses.
const KERNELS: &str = "
.version 6.3
.target sm_75
.address_size 64

.visible .entry fill(
	.param .align 8 .b8 args[16]
)
{
	.reg .pred %p;
	.reg .b32 %r<6>;
	.reg .f32 %f;
	.reg .b64 %d<5>;
	ld.param.u32 %r1, [args];
	ld.param.f32 %f, [args+4];
	ld.param.u64 %d1, [args+8];
	mov.u32 %r2, %ctaid.x;
	mov.u32 %r3, %ntid.x;
	mov.u32 %r4, %tid.x;
	mad.lo.u32 %r5, %r2, %r3, %r4;
	setp.ge.u32 %p, %r5, %r1;
	@%p bra DONE;
	cvta.to.global.u64 %d2, %d1;
	mul.wide.u32 %d3, %r5, 4;
	add.u64 %d4, %d2, %d3;
	st.global.f32 [%d4], %f;
DONE:
	ret;
}

.visible .entry stop(
	.param .align 8 .b8 args[16]
)
{
	trap;
	ret;
}

.visible .entry stray(
	.param .align 8 .b8 args[16]
)
{
	.reg .b32 %r;
	.reg .b64 %d;
	mov.u32 %r, 1;
	mov.u64 %d, 8;
	st.global.u32 [%d], %r;
	ret;
}

.visible .entry two(
	.param .u32 a,
	.param .u32 b
)
{
	ret;
}
";

/// The argument of the first three.
#[derive(Clone, Copy)]
#[repr(C)]
struct FillArgs {
    n: u32,
    value: f32,
    out: *mut f32,
}

// SAFETY: the pointer is an address of the GPU, which nothing follows on the host.
unsafe impl Send for FillArgs {}
// SAFETY: as above.
unsafe impl Sync for FillArgs {}

/// Not a test: what a child process does.
#[test]
#[ignore = "run by the other tests, in a process of its own"]
fn child() {
    let Ok(case) = std::env::var(CASE_VARIABLE) else { return };
    let answer = match case.as_str() {
        "load" => driver::load().map_or_else(|e| e.to_string(), |()| "loaded".to_owned()),
        "load at once" => load_from_many_threads(),
        "unbound" => call_what_is_unbound(),
        "open" => Cuda::with_ptx(0, KERNELS).map_or_else(|e| e.to_string(), |cuda| cuda.name()),
        "own kernels" => said(own()),
        "work" => said(work()),
        "empty" => said(empty()),
        "threads" => said(threads()),
        "stop" => said(fatal("stop")),
        "stray" => said(fatal("stray")),
        "memory" => said(exhaust()),
        "kernels" => said(wrong_kernels()),
        "modules" => wrong_modules(),
        "index" => Cuda::with_ptx(99, KERNELS).map_or_else(|e| e.to_string(), |_| "opened".to_owned()),
        "two" => said(two_at_once()),
        "special" => said(many_feature_sets()),
        "places" => said(places()),
        "scenes" => scenes::run(),
        "arrays" => arrays::run(),
        "short" => said(download_without_memory()),
        "no faults" => faults::none(),
        "faults of calls" => faults::each_call(),
        "faults of memory" => faults::memory(),
        "faults of places" => faults::places(),
        "faults of launches" => faults::launches(),
        "faults of all" => faults::all(),
        "kept" => faults::kept(),
        "stopped" => faults::stopped(),
        "hopeless" => faults::hopeless(),
        other => panic!("no case {other}"),
    };
    println!("\n{MARK}{}", answer.replace('\n', "\\n"));
}
