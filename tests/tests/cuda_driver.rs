//! The CUDA back end: every reason for there being no GPU, in words; every symbol that `cust` may reference;
//! and memory, launches and errors, on a driver made of C for the test, and on a GPU where there is one.
//!
//! What is said of a driver is decided once a process, and a kernel's error ends a process's use of the GPU. So
//! each case runs in a process of its own: this test program again, told by `TORRANCE_TEST_CASE` what to do.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use device::features::Features;
use device::path::stage::{LAUNCHES, Launch, Stage, stages};
use torrance_gpu::backend::cuda::driver::{self, LIBRARY_VARIABLE};
use torrance_gpu::backend::cuda::{Cuda, Demand, Entry, Ptx};
use torrance_gpu::backend::{Backend, Buffer, Error};

const CASE_VARIABLE: &str = "TORRANCE_TEST_CASE";

/// What a child prints before its answer, to tell it from the test harness's lines.
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

// ---------------------------------------------------------------------------------------------------------
// What runs in a child

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
        "short" => said(download_without_memory()),
        other => panic!("no case {other}"),
    };
    println!("\n{MARK}{}", answer.replace('\n', "\\n"));
}

fn said(result: Result<String, Error>) -> String {
    result.unwrap_or_else(|error| format!("failed: {error}"))
}

fn load_from_many_threads() -> String {
    let all: Vec<_> = (0..16).map(|_| std::thread::spawn(driver::load)).collect();
    let all: Vec<_> = all.into_iter().map(|thread| thread.join().unwrap()).collect();
    assert!(all.iter().all(|answer| *answer == all[0]));
    format!("{:?}", all[0].as_ref().map_err(ToString::to_string))
}

fn call_what_is_unbound() -> String {
    unsafe extern "C" {
        fn cuFuncSetAttribute(function: *mut u8, name: i32, value: i32) -> i32;
        fn cuDeviceGetCount(count: *mut i32) -> i32;
    }
    let mut count = -1;
    // SAFETY: the functions of the renderer, before and after they are bound.
    let mut call =
        || unsafe { (cuFuncSetAttribute(std::ptr::null_mut(), 0, 0), cuDeviceGetCount(&raw mut count)) };
    let before = call();
    driver::load().unwrap();
    format!("{before:?} then {:?}", call())
}

fn fill(cuda: &mut Cuda, value: f32, out: *mut f32, n: u32) -> Result<(), Error> {
    // SAFETY: the kernel's argument, whose pointer the callers take from a live buffer of `n` elements.
    unsafe { cuda.launch_kernel("fill", 128, n, FillArgs { n, value, out }) }
}

fn work() -> Result<String, Error> {
    let mut cuda = Cuda::with_ptx(0, KERNELS)?;
    let info = cuda.info().clone();
    assert!(cuda.name().starts_with("cuda:0 ") && cuda.name().ends_with(&info.name), "{}", cuda.name());
    let best = (info.multiprocessors * info.multiprocessor.threads) as usize;
    assert_eq!(cuda.parallelism(), best);
    cuda.fit_kernel("fill", 128)?;
    assert!((1..=best).contains(&cuda.parallelism()), "{}", cuda.parallelism());
    assert!(cuda.free_memory()? > 0 && cuda.free_memory()? <= info.memory);
    assert!(cuda.jit_time().as_nanos() > 0);

    let numbers: Vec<u64> = (0..100_003).map(|i| i * i).collect();
    let uploaded = cuda.upload("numbers", &numbers)?;
    assert_eq!(cuda.download(&uploaded)?, numbers);
    let zeroed = cuda.zeroed::<[u8; 7]>("odd", 1001)?;
    assert_eq!(cuda.download(&zeroed)?, vec![[0; 7]; 1001]);

    // Not a multiple of the block, in a longer buffer: the rest keeps its zeros.
    let out = cuda.zeroed::<f32>("out", 1500)?;
    cuda.set_profiling(true);
    fill(&mut cuda, 2.5, out.ptr(), 1000)?;
    fill(&mut cuda, 3.5, out.ptr(), 10)?;
    fill(&mut cuda, 9.0, out.ptr(), 0)?;
    cuda.synchronize()?;
    let values = cuda.download(&out)?;
    assert!(values[..10].iter().all(|v| *v == 3.5));
    assert!(values[10..1000].iter().all(|v| *v == 2.5));
    assert!(values[1000..].iter().all(|v| *v == 0.0));
    let time = cuda.profile()["fill"];
    assert_eq!((cuda.profile().len(), time.launches), (1, 2));
    assert!(time.longest <= time.total && time.total.as_nanos() > 0, "{time:?}");
    for _ in 0..3000 {
        fill(&mut cuda, 1.0, out.ptr(), 1500)?;
    }
    cuda.synchronize()?;
    assert_eq!(cuda.profile()["fill"].launches, 3002);
    cuda.set_profiling(false);
    fill(&mut cuda, 1.0, out.ptr(), 1500)?;
    cuda.synchronize()?;
    assert_eq!(cuda.profile()["fill"].launches, 3002);

    // A buffer may outlive its back end.
    drop(cuda);
    drop(out);
    Ok(format!("worked on {info}; fill took {time:?}"))
}

/// The kernels of the program, at the block sizes of their stages.
fn own() -> Result<String, Error> {
    let mut cuda = Cuda::new(0)?;
    let infos = LAUNCHES.iter().map(|l| cuda.describe(l)).collect::<Result<Vec<_>, _>>()?;
    assert!(infos.iter().all(|i| i.blocks_per_multiprocessor > 0 && i.block <= i.max_block), "{infos:?}");
    // What limits kernels is found by arithmetic, which must come to what the driver says.
    let multiprocessor = cuda.info().multiprocessor;
    let primitives: Result<Vec<_>, _> = primitives::KERNELS.iter().map(|k| cuda.describe(k)).collect();
    for info in infos.iter().chain(&primitives?) {
        let shared_bytes = info.shared_bytes + info.dynamic_shared_bytes;
        let demand = Demand { threads: info.block, registers: info.registers, shared_bytes };
        let held = (info.blocks_per_multiprocessor, info.limits.clone());
        assert_eq!(multiprocessor.hold(demand), held, "{info:?}");
    }
    cuda.fit::<stages::megakernel>()?;
    Ok(format!(
        "{} compiled in {:?}, {} threads: {infos:?}",
        cuda.name(),
        cuda.jit_time(),
        cuda.parallelism()
    ))
}

fn empty() -> Result<String, Error> {
    let mut cuda = Cuda::with_ptx(0, KERNELS)?;
    let nothing = cuda.upload::<f32>("nothing", &[])?;
    let none = cuda.zeroed::<u8>("none", 0)?;
    let units = cuda.zeroed::<()>("units", 5)?;
    assert!(nothing.is_empty() && nothing.ptr().is_null() && none.is_empty());
    assert!(cuda.download(&nothing)?.is_empty() && cuda.download(&none)?.is_empty());
    assert_eq!(cuda.download(&units)?.len(), 5);
    cuda.synchronize()?;
    Ok("nothing went wrong".to_owned())
}

/// A back end made on one thread, used on a second, its buffers freed on a third.
fn threads() -> Result<String, Error> {
    let mut cuda = Cuda::with_ptx(0, KERNELS)?;
    let (cuda, out) = std::thread::spawn(move || -> Result<_, Error> {
        let out = cuda.zeroed::<f32>("out", 64)?;
        fill(&mut cuda, 4.0, out.ptr(), 64)?;
        assert_eq!(cuda.download(&out)?, vec![4.0; 64]);
        Ok((cuda, out))
    })
    .join()
    .unwrap()?;
    std::thread::spawn(move || drop(out)).join().unwrap();
    std::thread::spawn(move || drop(cuda)).join().unwrap();
    Ok("moved".to_owned())
}

/// A kernel's error: named with its stage, remembered, and harmless to the process.
fn fatal(kernel: &'static str) -> Result<String, Error> {
    let mut cuda = Cuda::with_ptx(0, KERNELS)?;
    let out = cuda.zeroed::<f32>("out", 64)?;
    fill(&mut cuda, 1.0, out.ptr(), 64)?;
    let args = FillArgs { n: 1, value: 0.0, out: out.ptr() };
    // SAFETY: the argument is of the kernel's size. It fails on purpose, and nothing is used after it.
    unsafe { cuda.launch_kernel(kernel, 32, 1, args) }?;
    let first = cuda.synchronize().unwrap_err();
    let second = fill(&mut cuda, 1.0, out.ptr(), 64).unwrap_err();
    let third = cuda.download(&out).unwrap_err();
    let fourth = cuda.upload("more", &[1.0_f32]).unwrap_err();
    Ok(format!("{first} | {second} | {third} | {fourth}"))
}

fn exhaust() -> Result<String, Error> {
    let mut cuda = Cuda::with_ptx(0, KERNELS)?;
    let all = usize::try_from(cuda.info().memory).unwrap();
    let first = cuda.zeroed::<u8>("film", all + 1).unwrap_err();
    let second = cuda.zeroed::<u64>("film", usize::MAX / 2).unwrap_err();
    // Running out of memory loses nothing.
    let out = cuda.zeroed::<f32>("out", 64)?;
    fill(&mut cuda, 1.0, out.ptr(), 64)?;
    cuda.synchronize()?;
    Ok(format!("{first} | {second}"))
}

fn wrong_kernels() -> Result<String, Error> {
    let mut cuda = Cuda::with_ptx(0, KERNELS)?;
    // SAFETY: none of them is launched, which is the point.
    let errors = unsafe {
        [
            cuda.launch_kernel("absent", 32, 1, 1_u32).unwrap_err(),
            cuda.launch_kernel("fill", 32, 1, 1_u32).unwrap_err(),
            cuda.launch_kernel("two", 32, 1, 1_u64).unwrap_err(),
        ]
    };
    let [absent, fill, two] = errors.map(|e| e.to_string());
    let mut describe = |stage| cuda.describe(&Launch { stage, block: 128, blocks: 1, shared: 0 });
    contains(
        &describe("two").unwrap_err().to_string(),
        &["describing kernel two: it takes 2 arguments instead of one struct"],
    );
    let infos = ["fill", "stop", "stray"].map(|name| describe(name).unwrap());
    assert!(infos.iter().all(|i| i.registers > 0 && i.blocks_per_multiprocessor > 0), "{infos:?}");
    assert!(infos.iter().all(|i| i.occupancy > 0.0 && i.occupancy <= 1.0), "{infos:?}");
    Ok(format!("{absent} | {fill} | {two}"))
}

fn wrong_modules() -> String {
    let try_with = |from: &str, to: &str| {
        let ptx = KERNELS.replacen(from, to, 1);
        Cuda::with_ptx(0, &ptx).map_or_else(|e| e.to_string(), |_| "accepted".to_owned())
    };
    [
        try_with("trap;", "not an instruction;"),
        try_with(".version 6.3", ".version 9999.0"),
        try_with("sm_75", "sm_999"),
        try_with(".version 6.3", ""),
    ]
    .join(" | ")
}

fn two_at_once() -> Result<String, Error> {
    let mut first = Cuda::with_ptx(0, KERNELS)?;
    // Another GPU where there is one: then every call has to switch.
    let last = Cuda::devices().unwrap().len() as u32 - 1;
    let mut second = Cuda::with_ptx(last, KERNELS)?;
    let a = first.zeroed::<f32>("a", 64)?;
    let b = second.zeroed::<f32>("b", 64)?;
    fill(&mut first, 1.0, a.ptr(), 64)?;
    fill(&mut second, 2.0, b.ptr(), 64)?;
    assert_eq!(first.download(&a)?, vec![1.0; 64]);
    assert_eq!(second.download(&b)?, vec![2.0; 64]);
    let refused = first.download(&b).unwrap_err();
    drop(first);
    assert_eq!(second.download(&b)?, vec![2.0; 64]);
    Ok(refused.to_string())
}

/// Kernels for more sets of features than are kept, each twice in a row and again in the end; and one that does not depend
/// on them.
fn many_feature_sets() -> Result<String, Error> {
    const SETS: u32 = 1000;
    let kernels =
        KERNELS.replacen("\tret;\n", "\tmov.u32 %r1, 0xffffffff; // features of the scene\n\tret;\n", 1);
    let kernels = kernels.replace(".visible .entry stop(", &format!("{FREE}.visible .entry stop("));
    let mut cuda = Cuda::with_ptx_on_demand(0, &kernels)?;
    let out = cuda.zeroed::<f32>("out", 64)?;
    let features = |set: u32| {
        let single = [
            Features::TEXTURES,
            Features::NORMAL_MAPS,
            Features::BLENDS,
            Features::CUTOUTS,
            Features::INSTANCES,
            Features::LIGHTS,
            Features::SHAPES,
            Features::TINTS,
            Features::HIDDEN_LIGHTS,
            Features::BECKMANN,
        ];
        let chosen = single.into_iter().enumerate().filter(|(bit, _)| set >> bit & 1 == 1);
        chosen.fold(Features::NONE, |all, (_, one)| all.and(one))
    };
    for set in (0..SETS).chain([0]) {
        cuda.specialize(features(set));
        for value in [1.0, set as f32] {
            fill(&mut cuda, value, out.ptr(), 64)?;
        }
        // SAFETY: the kernel does nothing, and takes an argument of this size.
        unsafe { cuda.launch_kernel("free", 32, 1, 1_u32) }?;
        assert_eq!(cuda.download(&out)?, vec![set as f32; 64]);
    }
    Ok(format!("{SETS} sets"))
}

/// A buffer of which the host has no room for a copy. That loses nothing.
fn download_without_memory() -> Result<String, Error> {
    let mut cuda = Cuda::with_ptx(0, KERNELS)?;
    let large = cuda.zeroed::<u32>("large", 240 << 20)?;
    let refused = cuda.download(&large).map_or_else(|e| e.to_string(), |_| "downloaded".to_owned());
    let small = cuda.upload("small", &[1.0_f32])?;
    assert_eq!(cuda.download(&small)?, [1.0]);
    Ok(refused)
}

/// A kernel that does not depend on features.
const FREE: &str = ".visible .entry free(.param .u32 n) { ret; }\n";

// ---------------------------------------------------------------------------------------------------------
// Running children

struct Child {
    answer: String,
    /// What the fake driver found open at its end.
    left: String,
}

fn run(case: &str, variables: &[(&str, &str)]) -> Child {
    run_by(Command::new(std::env::current_exe().unwrap()), case, variables)
}

/// By a command that begins with this program, or with another that runs it.
fn run_by(mut program: Command, case: &str, variables: &[(&str, &str)]) -> Child {
    let log = scratch(&format!("{}.log", case.replace(' ', "-")));
    let output = program
        .args(["--exact", "child", "--ignored", "--nocapture"])
        .env_remove(LIBRARY_VARIABLE)
        .env_remove("CUDA_VISIBLE_DEVICES")
        .env(CASE_VARIABLE, case)
        .env("FAKE_LOG", &log)
        .envs(variables.iter().copied())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "case {case:?} with {variables:?}: {}\n{text}\n{errors}", output.status);
    let answer = text.lines().find_map(|line| line.strip_prefix(MARK));
    let answer = answer.unwrap_or_else(|| panic!("case {case:?} gave no answer:\n{text}\n{errors}"));
    Child { answer: answer.to_owned(), left: std::fs::read_to_string(&log).unwrap_or_default() }
}

/// A path for this process's files, different at each call.
fn scratch(name: &str) -> PathBuf {
    use std::sync::atomic::{AtomicU32, Ordering};
    static COUNT: AtomicU32 = AtomicU32::new(0);
    // Cargo's folder for this, unless the tests were carried to another machine.
    let built = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let base = if built.exists() { built.to_owned() } else { std::env::temp_dir() };
    let folder = base.join(format!("cuda-driver-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    folder.join(format!("{}-{name}", COUNT.fetch_add(1, Ordering::Relaxed)))
}

fn compile(source: &str, name: &str) -> Option<PathBuf> {
    let (c, library) = (scratch(&format!("{name}.c")), scratch(&format!("{name}.so")));
    std::fs::write(&c, source).unwrap();
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".to_owned());
    let mut command = Command::new(compiler);
    command.args(["-shared", "-fPIC", "-O1", "-Wall", "-Wextra", "-Werror", "-o"]).arg(&library).arg(&c);
    let output = command.output().ok()?;
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(library)
}

/// The driver made for the test, or `None`, said, where there is no C compiler.
fn fake() -> Option<&'static str> {
    static LIBRARY: OnceLock<Option<String>> = OnceLock::new();
    let path = LIBRARY.get_or_init(|| {
        let library = compile(include_str!("cuda_driver/fake_driver.c"), "fake")?;
        Some(library.to_str().unwrap().to_owned())
    });
    if path.is_none() {
        println!("skipped: no C compiler for the fake driver");
    }
    path.as_deref()
}

/// Runs a case on the fake driver and on a GPU, as far as there are such, and gives each answer to `check`.
fn on_every_driver(case: &str, check: impl Fn(&str)) {
    if let Some(fake) = fake() {
        let child = run(case, &[(LIBRARY_VARIABLE, fake)]);
        println!("fake: {}", child.answer);
        check(&child.answer);
        // A real driver frees everything with a context that was lost; the fake one does not.
        let lost = child.answer.contains("was lost");
        let closed = "inits=1 contexts=0 modules=0 streams=0 events=0 allocations=0 ";
        assert!(lost || child.left.starts_with(closed), "{case}: {}", child.left);
        assert!(child.left.contains(" contexts=0 "), "{case}: {}", child.left);
    }
    match run("load", &[]).answer.as_str() {
        "loaded" => {
            let child = run(case, &[]);
            println!("GPU: {}", child.answer);
            check(&child.answer);
        }
        reason => println!("skipped: no CUDA device ({reason})"),
    }
}

#[track_caller]
fn contains(text: &str, all: &[&str]) {
    for part in all {
        assert!(text.contains(part), "{part:?} is not in {text:?}");
    }
}

// ---------------------------------------------------------------------------------------------------------
// The reasons, in words

#[test]
fn no_driver() {
    // Where the machine has one, the first of these is about the device.
    let here = run("load", &[]).answer;
    println!("here: {here}");
    if !Path::new("/sys/module/nvidia").exists() && here != "loaded" {
        contains(&here, &["no NVIDIA driver is installed", "libcuda.so.1"]);
    }
    let hidden = run("load", &[(LIBRARY_VARIABLE, "")]).answer;
    contains(&hidden, &[LIBRARY_VARIABLE, "hides the NVIDIA driver"]);
    let absent = run("load", &[(LIBRARY_VARIABLE, "/nonexistent/libcuda.so.1")]).answer;
    contains(&absent, &[LIBRARY_VARIABLE, "/nonexistent/libcuda.so.1", "was not found"]);
    // Opening a GPU repeats the reason.
    let opening = run("own kernels", &[(LIBRARY_VARIABLE, "")]).answer;
    contains(&opening, &["opening cuda:0", "hides the NVIDIA driver"]);
}

#[test]
fn a_library_that_is_no_driver() {
    let text = scratch("text.so");
    std::fs::write(&text, "this is no library").unwrap();
    let answer = run("load", &[(LIBRARY_VARIABLE, text.to_str().unwrap())]).answer;
    contains(&answer, &["cannot be loaded", "text.so"]);
    if fake().is_none() {
        return;
    }
    let Some(other) = compile("int something_else(void);\nint something_else(void) { return 7; }\n", "other")
    else {
        return;
    };
    let answer = run("load", &[(LIBRARY_VARIABLE, other.to_str().unwrap())]).answer;
    contains(&answer, &["not a CUDA driver", "cuInit"]);
}

#[test]
fn every_reason_of_a_driver() {
    let Some(fake) = fake() else { return };
    let reason = |variables: &[(&str, &str)]| {
        let mut all = vec![(LIBRARY_VARIABLE, fake)];
        all.extend_from_slice(variables);
        let answer = run("load", &all).answer;
        println!("{variables:?}: {answer}");
        answer
    };
    assert_eq!(reason(&[]), "loaded");
    contains(&reason(&[("FAKE_VERSION", "10020")]), &["too old", "CUDA 10.2", "11.4"]);
    contains(&reason(&[("FAKE_VERSION", "11030")]), &["too old", "CUDA 11.3"]);
    assert_eq!(reason(&[("FAKE_VERSION", "11040")]), "loaded");
    contains(&reason(&[("FAKE_DEVICES", "0")]), &["no CUDA device was found", "driver is installed"]);
    contains(&reason(&[("FAKE_FAIL", "cuInit=100")]), &["no CUDA device was found"]);
    let hidden = reason(&[("FAKE_FAIL", "cuInit=100"), ("CUDA_VISIBLE_DEVICES", "-1")]);
    contains(&hidden, &["no CUDA device", "CUDA_VISIBLE_DEVICES is \"-1\""]);
    contains(&reason(&[("FAKE_FAIL", "cuInit=802")]), &["cannot be started", "not ready"]);
    contains(&reason(&[("FAKE_FAIL", "cuInit=803")]), &["does not match", "restart"]);
    contains(&reason(&[("FAKE_FAIL", "cuInit=804")]), &["compatibility library"]);
    contains(&reason(&[("FAKE_FAIL", "cuInit=34")]), &["stub"]);
    contains(&reason(&[("FAKE_FAIL", "cuInit=999")]), &["kernel module", "/dev/nvidia"]);
    // Codes that these words do not cover: the driver's, or the number.
    contains(&reason(&[("FAKE_FAIL", "cuInit=912")]), &["fake text", "FAKE_NAME", "912"]);
    contains(&reason(&[("FAKE_FAIL", "cuInit=12345")]), &["error 12345"]);
    contains(&reason(&[("FAKE_FAIL", "cuDriverGetVersion=999")]), &["does not tell its version"]);
    contains(&reason(&[("FAKE_FAIL", "cuDeviceGetCount=999")]), &["cannot be started"]);
}

#[test]
fn reasons_for_not_opening() {
    let Some(fake) = fake() else { return };
    let open = |variable, value| run("open", &[(LIBRARY_VARIABLE, fake), (variable, value)]).answer;
    // 46, a GPU that another process holds, is a code that `cust` does not know.
    contains(&open("FAKE_FAIL", "cuDevicePrimaryCtxRetain=46"), &["opening cuda:0", "another process"]);
    contains(&open("FAKE_FAIL", "cuDevicePrimaryCtxRetain=2"), &["opening cuda:0", "out of memory"]);
    contains(&open("FAKE_FAIL", "cuDeviceGetAttribute=999"), &["cannot be listed"]);
    contains(&open("FAKE_FAIL", "cuStreamCreateWithPriority=2"), &["opening cuda:0", "out of memory"]);
    contains(&open("FAKE_FAIL", "cuModuleLoadDataEx=221"), &["compiling", "libnvidia-ptxjitcompiler"]);
    contains(&open("FAKE_CAPABILITY", "61"), &["compute capability 6.1", "need 7.5"]);
    assert_eq!(open("FAKE_CAPABILITY", "120"), "cuda:0 Fake 0");
}

/// To every function that the back end calls through `cust`, which takes codes for values of an `enum` that ends with
/// CUDA 11.4: each newer one has to arrive as one that it knows, 999.
#[test]
fn codes_that_cust_does_not_know() {
    let Some(fake) = fake() else { return };
    let unknown = "the driver failed for a reason it does not tell";
    for (case, function) in [
        ("open", "cuDeviceGet"),
        ("open", "cuDeviceGetName"),
        ("open", "cuDeviceTotalMem_v2"),
        ("open", "cuDeviceGetAttribute"),
        ("open", "cuStreamCreateWithPriority"),
        ("work", "cuEventCreate"),
        ("work", "cuEventRecord"),
        ("work", "cuEventElapsedTime"),
    ] {
        for code in ["46", "912", "12345", "-1"] {
            let answer =
                run(case, &[(LIBRARY_VARIABLE, fake), ("FAKE_FAIL", &format!("{function}={code}"))]).answer;
            contains(&answer, &[unknown]);
        }
        let answer = run(case, &[(LIBRARY_VARIABLE, fake), ("FAKE_FAIL", &format!("{function}=304"))]).answer;
        contains(&answer, &["a call to the operating system failed"]);
    }
    // Where `cust` does not look at the code, nothing comes of it.
    for function in ["cuDevicePrimaryCtxSetFlags_v2", "cuStreamDestroy_v2", "cuEventDestroy_v2"] {
        let answer =
            run("work", &[(LIBRARY_VARIABLE, fake), ("FAKE_FAIL", &format!("{function}=912"))]).answer;
        contains(&answer, &["worked on cuda:0"]);
    }
}

#[test]
fn loading_from_many_threads_starts_the_driver_once() {
    let Some(fake) = fake() else { return };
    let child = run("load at once", &[(LIBRARY_VARIABLE, fake)]);
    assert_eq!(child.answer, "Ok(())");
    contains(&child.left, &["inits=1 "]);
    let child = run("load at once", &[(LIBRARY_VARIABLE, "")]);
    contains(&child.answer, &["hides"]);
}

/// 500 is the code for a function that was not found. The fake driver has no `cuFuncSetAttribute`; that it has
/// the other shows that a bound function is told from an unbound one.
#[test]
fn an_unbound_function_returns_a_code() {
    let Some(fake) = fake() else { return };
    assert_eq!(run("unbound", &[(LIBRARY_VARIABLE, fake)]).answer, "(500, 500) then (500, 0)");
}

// ---------------------------------------------------------------------------------------------------------
// The back end

#[test]
fn buffers_launches_and_times() {
    on_every_driver("work", |answer| contains(answer, &["worked on cuda:0"]));
}

#[test]
fn empty_buffers() {
    on_every_driver("empty", |answer| assert_eq!(answer, "nothing went wrong"));
}

#[test]
fn threads_and_contexts() {
    on_every_driver("threads", |answer| assert_eq!(answer, "moved"));
}

#[test]
fn a_kernel_that_stops() {
    on_every_driver("stop", |answer| {
        let lost = "the GPU was lost to an earlier error: running fill, stop";
        contains(answer, &["running fill, stop: a kernel", "stopped itself", "launching fill: ", lost]);
        assert_eq!(answer.matches(lost).count(), 3, "{answer}");
    });
}

#[test]
fn a_kernel_that_goes_astray() {
    on_every_driver("stray", |answer| contains(answer, &["running fill, stray: a kernel used an address"]));
}

#[test]
fn running_out_of_memory() {
    on_every_driver("memory", |answer| {
        contains(answer, &["allocating ", "for \"film\": out of memory: ", " are free on cuda:0"]);
        contains(answer, &["more than can be addressed"]);
    });
}

/// The driver made for the test has its memory from the host: with a GPU's there would be no limit that both start with.
#[test]
#[cfg(unix)]
fn a_host_without_memory_for_a_copy() {
    let Some(fake) = fake() else { return };
    let limited = |kib: &str| {
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("ulimit -v {kib}; exec \"$0\" \"$@\"")]);
        shell.arg(std::env::current_exe().unwrap());
        run_by(shell, "short", &[(LIBRARY_VARIABLE, fake)]).answer
    };
    contains(&limited("1600000"), &["for \"a copy of the results\": there is not enough memory"]);
    assert_eq!(limited("unlimited"), "downloaded");
}

#[test]
fn kernels_that_cannot_be_launched() {
    on_every_driver("kernels", |answer| {
        contains(answer, &["launching absent: it is not among the kernels", "cargo ptx"]);
        contains(answer, &["launching fill: the kernel takes 16 bytes of arguments and the program has 4"]);
        contains(answer, &["launching two: it takes 2 arguments instead of one struct"]);
    });
}

#[test]
fn modules_that_do_not_compile() {
    on_every_driver("modules", |answer| {
        let [text, version, target, header] = answer.split(" | ").collect::<Vec<_>>()[..] else {
            panic!("{answer}");
        };
        contains(text, &["compiling the kernels for cuda:0", "rejected the kernels", "\\nptxas", "line"]);
        contains(version, &["newer PTX than this driver knows"]);
        contains(target, &["compute capability", "need 99.9"]);
        contains(header, &["not PTX", ".version"]);
    });
}

#[test]
fn a_gpu_that_is_not_there() {
    on_every_driver("index", |answer| contains(answer, &["opening cuda:99", "this machine has cuda:0 ("]));
}

#[test]
fn two_back_ends_at_once() {
    on_every_driver("two", |answer| contains(answer, &["downloading \"b\"", "another back end"]));
}

/// What the fake driver counted.
fn count(left: &str, what: &str) -> u32 {
    let value = left.split(' ').find_map(|pair| pair.strip_prefix(what)?.strip_prefix('='));
    value.and_then(|number| number.parse().ok()).unwrap_or_else(|| panic!("no {what} in {left}"))
}

#[test]
fn modules_for_sets_of_features_are_unloaded_again() {
    on_every_driver("special", |answer| assert_eq!(answer, "1000 sets"));
    let Some(fake) = fake() else { return };
    let left = run("special", &[(LIBRARY_VARIABLE, fake)]).left;
    // Each set once, the first again, and the kernel that does not depend on them once: it is never unloaded.
    assert_eq!(count(&left, "loads"), 1002, "{left}");
    // At most 320 sets are kept; a new one is compiled before the oldest goes.
    assert!((2..=322).contains(&count(&left, "most_modules")), "{left}");
}

/// Whether the kernels in `ptx` are the stages, each with its arguments.
fn are_the_stages(ptx: &Ptx) -> bool {
    fn wanted<S: Stage>() -> Entry {
        Entry { name: S::NAME.to_owned(), params: vec![size_of::<S::Args>()], max_block: None }
    }
    macro_rules! all {
        ($($stage:ident: $function:ty, block $block:literal times $blocks:literal;)*) => { vec![$(wanted::<stages::$stage>()),*] };
    }
    let mut wanted: Vec<Entry> = device::for_each_stage!(all);
    let mut found: Vec<Entry> = ptx.entries.iter().map(|e| Entry { max_block: None, ..e.clone() }).collect();
    wanted.sort_by(|a, b| a.name.cmp(&b.name));
    found.sort_by(|a, b| a.name.cmp(&b.name));
    wanted == found
}

/// The program's own kernels: they are the stages, and where there is a GPU its driver compiles them and they
/// agree with the program about the layout of structures.
#[test]
fn own_kernels() {
    let text = torrance_gpu::backend::cuda::ptx();
    let ptx = Ptx::parse(text).unwrap();
    assert!(are_the_stages(&ptx), "{:?}", ptx.entries);
    // It can fail: another name, another size, another kernel.
    assert!(!are_the_stages(&Ptx::parse(&text.replace(".entry probe", ".entry prob")).unwrap()));
    assert!(!are_the_stages(&Ptx::parse(&text.replace("probe_param_0[8]", "probe_param_0[16]")).unwrap()));
    assert!(!are_the_stages(&Ptx::parse(&format!("{text}\n.visible .entry more() {{ ret; }}")).unwrap()));

    assert!(ptx.target <= 75, "sm_{} leaves out GPUs that are to be supported", ptx.target);
    assert!(ptx.needs_cuda().unwrap() <= driver::OLDEST, "PTX {:?} needs a newer driver", ptx.version);
    match run("load", &[]).answer.as_str() {
        "loaded" => {
            let answer = run("own kernels", &[]).answer;
            println!("{answer}");
            contains(&answer, &["cuda:0 ", "megakernel"]);
        }
        reason => println!("skipped: no CUDA device ({reason})"),
    }
}

// ---------------------------------------------------------------------------------------------------------
// The symbols

/// Identifiers in Rust source that look like functions of the driver.
fn identifiers(source: &str) -> impl Iterator<Item = &str> {
    source.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').filter(|word| {
        word.strip_prefix("cu").is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_uppercase()))
    })
}

/// Functions that `declarations` has and `sources` mention, but `known` lacks.
fn missing<'a>(sources: &'a str, declarations: &str, known: &[&str]) -> Vec<&'a str> {
    let declared: Vec<_> = declarations.split("pub fn ").filter_map(|rest| rest.split('(').next()).collect();
    let mut found: Vec<_> =
        identifiers(sources).filter(|name| declared.contains(name) && !known.contains(name)).collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// The sources of a dependency, all in one.
fn sources(metadata: &str, package: &str) -> Option<String> {
    fn collect(folder: &Path, into: &mut String) {
        for entry in std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()) {
            if entry.is_dir() {
                collect(&entry, into);
            } else if entry.extension().is_some_and(|e| e == "rs") {
                into.push_str(&std::fs::read_to_string(&entry).unwrap());
            }
        }
    }
    let start = metadata.find(&format!("/{package}/Cargo.toml"))?;
    let folder = metadata[..start].rsplit('"').next()?;
    let mut text = String::new();
    collect(&Path::new(folder).join(package).join("src"), &mut text);
    Some(text)
}

#[test]
fn every_symbol_that_cust_can_reference_is_defined() {
    // The sources of other platforms' dependencies need not be here.
    let platform = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let output = Command::new(cargo)
        .args(["metadata", "--format-version", "1", "--offline", "--filter-platform", &platform])
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().find(|p| p.exists()).unwrap())
        .output();
    let Ok(output) = output else {
        println!("skipped: there is no cargo here to tell where the sources of cust are");
        return;
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata = String::from_utf8_lossy(&output.stdout);
    let cust = sources(&metadata, "cust-0.3.2").expect("cust 0.3.2 is what the list was made for");
    let declarations = sources(&metadata, "cust_raw-0.11.3").expect("and cust_raw 0.11.3");
    assert_eq!(missing(&cust, &declarations, driver::SYMBOLS), Vec::<&str>::new());
    let mentioned = missing(&cust, &declarations, &[]);
    println!(
        "cust can reference {} functions; the driver module defines {}",
        mentioned.len(),
        driver::SYMBOLS.len()
    );

    // It can fail: without one function of the list, and with one more in the sources.
    assert!(mentioned.len() > 90, "{mentioned:?}");
    let (removed, rest) = driver::SYMBOLS.split_last().unwrap();
    assert_eq!(missing(&cust, &declarations, rest), [*removed]);
    let more = format!("{cust} cuda::cuMemAllocPitch_v2(");
    assert_eq!(missing(&more, &declarations, driver::SYMBOLS), ["cuMemAllocPitch_v2"]);

    // What the back end itself adds has to be a function of the driver too.
    for name in driver::SYMBOLS {
        assert!(declarations.contains(&format!("pub fn {name}(")), "{name}");
    }
}
