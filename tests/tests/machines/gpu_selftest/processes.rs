//! Kernels that speak to the process or end its use of the GPU: each runs in a process of its own, which
//! is this program again.

use std::process::Command;

use crate::selftest_gpu::{Gpu, Outcome, arg, same};

/// Tells the process of its own which kernel to run.
const VARIABLE: &str = "TORRANCE_SELFTEST_CHILD";

/// Output of a child whose kernel did not fail.
const DONE: &str = "the kernel has run";

/// Runs a kernel in a process of its own; its standard output, and whether it succeeded.
fn run(kernel: &str) -> Result<(String, bool), String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let output = Command::new(program)
        .args(["--exact", "gpu_selftest::child", "--nocapture", "--test-threads=1"])
        .env(VARIABLE, kernel)
        .output()
        .map_err(|error| error.to_string())?;
    Ok((String::from_utf8_lossy(&output.stdout).into_owned(), output.status.success()))
}

/// The process of its own.
pub(crate) fn child() {
    let Ok(kernel) = std::env::var(VARIABLE) else { return };
    let Some(gpu) = Gpu::open() else { return };
    let result = match kernel.as_str() {
        "debug_print" => print_here(&gpu),
        "debug_trap" => {
            let out = gpu.zeros::<u32>(1);
            let result = gpu.launch_1d("debug_trap", 1, 1, &[arg(1u32), out.arg()]);
            // Nothing of the context can be freed any more.
            std::mem::forget((gpu, out));
            result.map(|()| String::new())
        }
        other => Err(format!("no kernel {other}")),
    };
    match result {
        Ok(_) => println!("{DONE}"),
        Err(problem) => println!("the kernel failed: {problem}"),
    }
}

fn print_here(gpu: &Gpu) -> Outcome {
    let out = gpu.zeros::<i32>(3);
    gpu.launch_1d("debug_print", 1, 1, &[arg(44u32), out.arg()])?;
    same("values that vprintf counted", &gpu.download(&out)?, &[0, 2, 5])?;
    Ok(String::new())
}

pub(crate) fn print(gpu: &Gpu) -> Outcome {
    let (text, success) = run("debug_print")?;
    let mut want = [
        "torrance: nothing".to_string(),
        "torrance: 44 and -7 are 100% integers".to_string(),
        "torrance: x 5.500 5800000000 -1 0.125".to_string(),
        DONE.to_string(),
    ];
    if gpu.is_corrupting() {
        want[0] = "torrance: something".to_string();
    }
    match want.iter().find(|line| !text.lines().any(|printed| printed.contains(line.as_str()))) {
        Some(line) => Err(format!("no line {line:?} in\n{text}")),
        None if !success => Err(format!("the process failed\n{text}")),
        None => Ok(String::new()),
    }
}

pub(crate) fn trap(gpu: &Gpu) -> Outcome {
    let out = gpu.zeros::<u32>(1);
    gpu.launch_1d("debug_trap", 1, 1, &[arg(0u32), out.arg()])?;
    same("without a trap", &gpu.download(&out)?, &[1])?;
    let (text, _) = run("debug_trap")?;
    if text.contains(DONE) || !text.contains("the kernel failed") {
        return Err(format!("a trap did not fail the launch:\n{text}"));
    }
    Ok(String::new())
}
