//! Cases, each of which runs in a child process.

use device::features::Features;
use device::path::stage::{LAUNCHES, Launch, stages};
use torrance_gpu::backend::cuda::{Cuda, Demand, devices, driver};
use torrance_gpu::backend::{Backend, Buffer, Error, Place};

use super::children::contains;
use super::{FillArgs, KERNELS};

pub(super) fn said(result: Result<String, Error>) -> String {
    result.unwrap_or_else(|error| format!("failed: {error}"))
}

pub(super) fn load_from_many_threads() -> String {
    let all: Vec<_> = (0..16).map(|_| std::thread::spawn(driver::load)).collect();
    let all: Vec<_> = all.into_iter().map(|thread| thread.join().unwrap()).collect();
    assert!(all.iter().all(|answer| *answer == all[0]));
    format!("{:?}", all[0].as_ref().map_err(ToString::to_string))
}

pub(super) fn call_what_is_unbound() -> String {
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

pub(super) fn fill(cuda: &mut Cuda, value: f32, out: *mut f32, n: u32) -> Result<(), Error> {
    // SAFETY: the kernel's argument, whose pointer the callers take from a live buffer of `n` elements.
    unsafe { cuda.launch_kernel("fill", 128, n, FillArgs { n, value, out }) }
}

pub(super) fn work() -> Result<String, Error> {
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
pub(super) fn own() -> Result<String, Error> {
    let mut cuda = Cuda::new(0)?;
    let infos = LAUNCHES.iter().map(|l| cuda.describe(l)).collect::<Result<Vec<_>, _>>()?;
    assert!(
        infos.iter().all(|i| i.blocks_per_multiprocessor > 0 && Some(i.block) <= i.max_block),
        "{infos:?}"
    );
    // What limits kernels is found by arithmetic, which must come to what the driver says.
    let multiprocessor = cuda.info().multiprocessor;
    let primitives: Result<Vec<_>, _> = primitives::KERNELS.iter().map(|k| cuda.describe(k)).collect();
    for info in infos.iter().chain(&primitives?) {
        let shared_bytes = info.shared_bytes + info.dynamic_shared_bytes;
        let demand = Demand { threads: info.block, registers: info.registers, shared_bytes };
        let held = (info.blocks_per_multiprocessor, info.limited_by.clone());
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

pub(super) fn empty() -> Result<String, Error> {
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
pub(super) fn threads() -> Result<String, Error> {
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
pub(super) fn fatal(kernel: &'static str) -> Result<String, Error> {
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

pub(super) fn exhaust() -> Result<String, Error> {
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

/// Buffers in the memory of the host, which are used as those in the GPU's; and a limit on these.
pub(super) fn places() -> Result<String, Error> {
    const N: usize = 1 << 18;
    let mut cuda = Cuda::with_ptx(0, KERNELS)?;
    let numbers: Vec<f32> = (0..N).map(|i| i as f32).collect();
    let full = cuda.room().unwrap();
    assert!(full <= cuda.free_memory()?);
    cuda.limit_memory(4 * N as u64);
    assert_eq!(cuda.room(), Some(4 * N as u64));

    let near = cuda.zeroed::<f32>("near", N)?;
    assert_eq!((near.is_remote(), cuda.room()), (false, Some(0)));
    let more = cuda.upload("more", &[1.0_f32]).unwrap_err();
    let mut far = cuda.placing(Place::Anywhere, |cuda| cuda.upload("anywhere", &numbers))?;
    let clear = cuda.placing(Place::Host, |cuda| cuda.zeroed::<f32>("clear", N))?;
    assert!(far.is_remote() && clear.is_remote() && cuda.room() == Some(0));
    assert!(cuda.upload("again", &[1.0_f32]).is_err(), "a place is for what is allocated meanwhile");

    assert_eq!((cuda.download(&far)?, cuda.download(&clear)?), (numbers, vec![0.0; N]));
    fill(&mut cuda, 7.0, far.ptr(), 10)?;
    fill(&mut cuda, 8.0, near.ptr(), 1000)?;
    cuda.synchronize()?;
    assert_eq!(cuda.download(&far)?[..12], [&[7.0; 10][..], &[10.0, 11.0]].concat());
    cuda.copy(&near, &mut far)?;
    assert_eq!(cuda.download(&far)?, cuda.download(&near)?);
    let mut near = near;
    cuda.copy(&clear, &mut near)?;
    assert_eq!(cuda.download(&near)?, vec![0.0; N]);

    // What is freed is there again, also for those that come after.
    drop(near);
    assert_eq!(cuda.room(), Some(4 * N as u64));
    drop(far);
    cuda.limit_memory(u64::MAX);
    let near = cuda.placing(Place::Anywhere, |cuda| cuda.zeroed::<f32>("near", N))?;
    assert!(!near.is_remote());
    Ok(more.to_string())
}

pub(super) fn wrong_kernels() -> Result<String, Error> {
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

pub(super) fn wrong_modules() -> String {
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

pub(super) fn two_at_once() -> Result<String, Error> {
    let mut first = Cuda::with_ptx(0, KERNELS)?;
    // Another GPU where there is one: then every call has to switch.
    let last = devices().unwrap().len() as u32 - 1;
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
pub(super) fn many_feature_sets() -> Result<String, Error> {
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
pub(super) fn download_without_memory() -> Result<String, Error> {
    let mut cuda = Cuda::with_ptx(0, KERNELS)?;
    let large = cuda.zeroed::<u32>("large", 240 << 20)?;
    let refused = cuda.download(&large).map_or_else(|e| e.to_string(), |_| "downloaded".to_owned());
    let small = cuda.upload("small", &[1.0_f32])?;
    assert_eq!(cuda.download(&small)?, [1.0]);
    Ok(refused)
}

/// A kernel that does not depend on features.
const FREE: &str = ".visible .entry free(.param .u32 n) { ret; }\n";
