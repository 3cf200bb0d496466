//! Memory, launches and errors.

use std::process::Command;

use device::path::stage::{Stage, stages};
use torrance_gpu::backend::cuda::driver::LIBRARY_VARIABLE;
use torrance_gpu::backend::cuda::{Entry, Ptx, driver};

use super::children::{contains, fake, on_every_driver, run, run_by};
use super::fake::DRIVER_VARIABLE;

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

#[test]
fn memory_of_the_host() {
    on_every_driver("places", |answer| {
        let limited = "of which 0 bytes of 1.0 MiB may still be used";
        contains(answer, &["allocating 4 bytes for \"more\": out of memory: ", limited]);
    });
    let Some(fake) = fake() else { return };
    let refused = run("places", &[(LIBRARY_VARIABLE, fake), ("FAKE_FAIL", "cuMemHostAlloc=2")]).answer;
    contains(&refused, &["for \"anywhere\": out of memory", "nor does the host have memory to lend"]);
    // A driver that lends none: the GPU's memory stands in, as far as there is room.
    let absent =
        run("places", &[(LIBRARY_VARIABLE, fake), ("FAKE_FAIL", "cuMemHostGetDevicePointer_v2=801")]);
    contains(&absent.answer, &["for \"anywhere\": out of memory"]);
    contains(&absent.left, &["allocations=0 pinned=0 "]);
}

#[test]
fn scenes_larger_than_the_memory() {
    let Some(fake) = fake() else { return };
    let child = run("scenes", &[(LIBRARY_VARIABLE, fake), (DRIVER_VARIABLE, fake)]);
    println!("{}", child.answer);
    contains(&child.left, &["contexts=0 modules=0 streams=0 events=0 allocations=0 pinned=0 "]);
}

#[test]
fn arrays_and_images() {
    let Some(fake) = fake() else { return };
    let child = run("arrays", &[(LIBRARY_VARIABLE, fake), (DRIVER_VARIABLE, fake)]);
    println!("{}", child.answer);
    contains(&child.left, &["contexts=0 modules=0 streams=0 events=0 allocations=0 pinned=0 "]);
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

/// One of the fake driver's counters.
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
