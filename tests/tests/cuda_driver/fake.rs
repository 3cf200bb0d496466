//! The fake driver as tests use it in their own process: the program's kernels run on the CPU, in its memory.

use std::any::TypeId;
use std::ffi::{CStr, c_char, c_void};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use cpu::{InstructionSet, runner};
use device::bvh::{Node, WideNode};
use device::path::MegakernelArgs;
use device::path::stage::{Stage, stages};
use libloading::Library;
use torrance_gpu::backend::cuda::driver;

/// The variable that tells the child where the fake driver is.
pub(super) const DRIVER_VARIABLE: &str = "TORRANCE_TEST_DRIVER";

/// Runs a kernel of the program: the megakernels, those of arrays, and the one that tells the layout of structures.
extern "C" fn launch(name: *const c_char, args: *const c_void) {
    // SAFETY: the fake driver hands on the name of a kernel.
    let name = unsafe { CStr::from_ptr(name) }.to_str().unwrap();
    // SAFETY: and the arguments of the launch, which are those of the stage.
    unsafe {
        match name {
            "probe" => run_stage::<stages::probe>(&*args.cast()),
            "megakernel" => run_megakernel::<stages::megakernel>(args),
            "megakernel_basic" => run_megakernel::<stages::megakernel_basic>(args),
            "megakernel_glass" => run_megakernel::<stages::megakernel_glass>(args),
            "film_gather" => run_stage::<stages::film_gather>(&*args.cast()),
            "film_mean" => run_stage::<stages::film_mean>(&*args.cast()),
            "bsdf_eval" => run_stage::<stages::bsdf_eval>(&*args.cast()),
            "bsdf_sample" => run_stage::<stages::bsdf_sample>(&*args.cast()),
            // Nothing comes of the others: a wavefront has no path, and is done at once.
            _ => {}
        }
    }
}

/// # Safety
/// As [`Stage::run_range`].
unsafe fn run_stage<S: Stage>(args: &S::Args) {
    let run = runner(TypeId::of::<S>(), InstructionSet::Portable);
    // SAFETY: as the caller promised.
    unsafe { run(0..S::count(args), (&raw const *args).cast()) };
}

/// # Safety
/// The arguments are those of a megakernel, and the pointers in them the fake driver's.
unsafe fn run_megakernel<S: Stage<Args = MegakernelArgs>>(args: *const c_void) {
    // SAFETY: as the caller promised.
    let mut args = unsafe { *args.cast::<MegakernelArgs>() };
    delay(&args);
    let geometry = &mut args.scene.lighting.surfaces.geometry;
    let nodes = geometry.nodes.cast::<Node>();
    let count = Fake::new().bytes(nodes.addr() as u64) / size_of::<Node>();
    // SAFETY: there are as many, in memory that nothing else uses meanwhile.
    let nodes = unsafe { std::slice::from_raw_parts(nodes, count) };
    // CPUs read them decoded.
    let decoded: Vec<WideNode> = nodes.iter().map(WideNode::from).collect();
    geometry.nodes = decoded.as_ptr().cast();
    // SAFETY: as the caller promised; the nodes live until the stage has run.
    unsafe { run_stage::<S>(&args) };
}

/// Nanoseconds that each device takes for a path, at least.
static DELAYS: [AtomicU64; 2] = [const { AtomicU64::new(0) }; 2];

/// Waits as long as a slow device would.
fn delay(args: &MegakernelArgs) {
    let Some(nanoseconds) = DELAYS.get(Fake::new().ask::<i32>("fake_device") as usize) else { return };
    let paths = u64::from(args.invocations) * u64::from(args.samples) / u64::from(args.layers);
    thread::sleep(Duration::from_nanos(paths * nanoseconds.load(Ordering::Relaxed)));
}

/// What the fake driver does for tests.
pub(super) struct Fake(Library);

impl Fake {
    fn new() -> Self {
        let path = std::env::var_os(DRIVER_VARIABLE).unwrap();
        // SAFETY: it is loaded already.
        Self(unsafe { Library::new(path) }.unwrap())
    }

    /// Loads the driver, which runs the kernels of the program from here on.
    pub(super) fn start() -> Self {
        driver::load().unwrap();
        let fake = Self::new();
        fake.launch_by(launch);
        fake
    }

    /// A function without arguments.
    pub(super) fn ask<T>(&self, name: &str) -> T {
        // SAFETY: these functions take nothing and return a number.
        unsafe { self.0.get::<extern "C" fn() -> T>(name.as_bytes()).unwrap()() }
    }

    fn launch_by(&self, with: extern "C" fn(*const c_char, *const c_void)) {
        // SAFETY: the type is the function's.
        unsafe {
            self.0.get::<extern "C" fn(extern "C" fn(*const c_char, *const c_void))>(b"fake_launch_by")
        }
        .unwrap()(with);
    }

    pub(super) fn refuse(&self, nth: i32, goes_on: bool) {
        // SAFETY: the type is the function's.
        unsafe { self.0.get::<extern "C" fn(i32, i32)>(b"fake_refuse") }.unwrap()(nth, goes_on.into());
    }

    fn bytes(&self, pointer: u64) -> usize {
        // SAFETY: the type is the function's.
        unsafe { self.0.get::<extern "C" fn(u64) -> usize>(b"fake_bytes") }.unwrap()(pointer)
    }

    /// Sets how long each device takes for a path, at least.
    pub(super) fn delay(&self, nanoseconds: [u64; 2]) {
        DELAYS.iter().zip(nanoseconds).for_each(|(delay, of)| delay.store(of, Ordering::Relaxed));
    }

    /// Has calls fail, and tells the fault's number.
    pub(super) fn fail(&self, Fault { device, function, nth, code, lasts }: Fault) -> i32 {
        type Fail = extern "C" fn(i32, *const c_char, i32, i32, i32) -> i32;
        // SAFETY: the type is the function's.
        let fail = unsafe { self.0.get::<Fail>(b"fake_fail") }.unwrap();
        let number = fail(device, function.as_ptr(), nth, code, lasts.into());
        assert!(number >= 0, "too many faults");
        number
    }

    /// Calls so far that a fault is about.
    pub(super) fn counted(&self, fault: i32) -> i32 {
        // SAFETY: the type is the function's.
        unsafe { self.0.get::<extern "C" fn(i32) -> i32>(b"fake_counted") }.unwrap()(fault)
    }
}

/// Calls that fail.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fault {
    pub(super) device: i32,
    /// The function; any if it is empty.
    pub(super) function: &'static CStr,
    /// Which call fails; none if 0.
    pub(super) nth: i32,
    pub(super) code: i32,
    /// Whether all after it do, too.
    pub(super) lasts: bool,
}
