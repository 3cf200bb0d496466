//! Every reason for there being no GPU, in words.

use std::path::Path;

use torrance_gpu::backend::cuda::driver::LIBRARY_VARIABLE;

use super::children::{compile, contains, fake, run, scratch};

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
