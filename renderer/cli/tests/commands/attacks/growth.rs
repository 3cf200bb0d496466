//! Growth: ten times the input takes about ten times the time and memory, whatever it is made of.
#![cfg(target_os = "linux")]

use std::fs;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use wait4::Wait4;

use super::inputs::{INPUTS, Input};
use crate::program::Folder;

/// How much more ten times the input may take. Sorting has a logarithm, and what no longer fits in a cache takes half as
/// much again; the square would be 100.
const MOST: f64 = 20.0;

/// CPU time of all threads, seconds, and the largest size in memory, bytes.
#[derive(Debug, Clone, Copy)]
struct Cost {
    seconds: f64,
    bytes: f64,
}

impl Cost {
    /// What a command costs, and how it ends.
    fn of(command: &mut Command) -> (Self, Option<i32>) {
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts");
        // The system's own count of a process that has ended includes the memory of the one that has started it.
        let mut bytes = 0.0;
        while let Some(peak) = peak(child.id()) {
            bytes = peak;
            sleep(Duration::from_micros(500));
        }
        let ended = child.wait4().expect("it ends");
        let seconds = (ended.rusage.utime + ended.rusage.stime).as_secs_f64();
        (Self { seconds, bytes }, ended.status.code())
    }

    /// The lesser of two, each by itself: what else the machine does only adds.
    fn min(self, other: Self) -> Self {
        Self { seconds: self.seconds.min(other.seconds), bytes: self.bytes.min(other.bytes) }
    }

    /// How many times as much as `other` it is, beyond what nothing at all costs. What cannot be told from that counts as
    /// a hundredth of a second and a MiB.
    fn times(self, other: Self, nothing: Self) -> Self {
        let beyond = |cost: Self| Self {
            seconds: (cost.seconds - nothing.seconds).max(0.01),
            bytes: (cost.bytes - nothing.bytes).max(f64::from(1 << 20)),
        };
        let (more, less) = (beyond(self), beyond(other));
        Self { seconds: more.seconds / less.seconds, bytes: more.bytes / less.bytes }
    }

    fn is_at_most(self, bound: f64) -> bool {
        self.seconds <= bound && self.bytes <= bound
    }
}

/// The largest size in memory of a process that has not ended, bytes.
fn peak(process: u32) -> Option<f64> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let kib = status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.strip_suffix("kB"))?;
    Some(1024.0 * kib.trim().parse::<f64>().ok()?)
}

/// The cost of a command on an input of a size.
fn cost(input: &Input, n: usize) -> Cost {
    let folder = Folder::new();
    for (name, bytes) in (input.files)(n) {
        fs::write(folder.at(&name), bytes).unwrap();
    }
    let arguments = input.arguments(n);
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let costs = (0..2).map(|_| {
        let (cost, code) = Cost::of(&mut folder.program(&arguments));
        assert_eq!(code, Some(input.code), "{}, {n}: {:?}", input.name, folder.run(&arguments).stderr);
        cost
    });
    costs.reduce(Cost::min).expect("some runs")
}

#[test]
fn costs_grow_with_the_input() {
    let (nothing, _) = Cost::of(&mut Folder::new().program(&["inspect", "scene.toml"]));
    let mut too_much = Vec::new();
    for (k, input) in INPUTS.iter().enumerate() {
        if !tier::takes(k, 16) {
            continue;
        }
        let [mut less, mut more] = [cost(input, input.n), cost(input, 10 * input.n)];
        // Nothing else slows all of several tries down.
        for _ in 0..3 {
            if more.times(less, nothing).is_at_most(MOST) {
                break;
            }
            (less, more) = (less.min(cost(input, input.n)), more.min(cost(input, 10 * input.n)));
        }
        let times = more.times(less, nothing);
        let mib = |bytes: f64| bytes / f64::from(1 << 20);
        println!(
            "{:<34} {:>8} {:>7.3} → {:>7.3} s {:>5.1} × {:>7.1} → {:>7.1} MiB {:>5.1} ×",
            input.name,
            input.n,
            less.seconds,
            more.seconds,
            times.seconds,
            mib(less.bytes),
            mib(more.bytes),
            times.bytes
        );
        if !times.is_at_most(MOST) {
            too_much.push(input.name);
        }
    }
    assert!(too_much.is_empty(), "more than {MOST} times for ten times the input: {too_much:?}");
}

/// What grows by the square is found.
#[test]
fn control_squares_are_found() {
    let loops = |n: usize, inner: &str| {
        let script = format!(
            "i=0; while [ $i -lt {n} ]; do j=0; while [ $j -lt {inner} ]; do j=$((j+1)); done; i=$((i+1)); done"
        );
        Cost::of(Command::new("sh").args(["-c", &script])).0
    };
    let nothing = loops(0, "0");
    assert!(!loops(1500, "1500").times(loops(150, "150"), nothing).is_at_most(MOST));
    let [less, more] = [150, 1500].map(|n| loops(n, "1500"));
    assert!(more.times(less, nothing).is_at_most(MOST), "the control of the control");
}
