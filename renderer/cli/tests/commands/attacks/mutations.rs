//! Damaged scenes and images, through the program, in little memory and time.

use std::fs;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::random::mutated;
use super::seeds::seeds;
use super::{count, random_numbers};
use crate::program::{Folder, Outcome};

/// Address space of the program, KiB.
const MEMORY: u32 = 2 << 20;
/// Time that it has.
const TIME: Duration = Duration::from_secs(5);

/// Options of the smallest render of any scene.
const RENDER: [&str; 5] = ["--size=8x8", "--spp=1", "--max-depth=4", "-o", "out.pfm"];

/// Runs the program within these limits; `None` if it takes longer.
fn run(folder: &Folder, arguments: &[&str]) -> Option<Outcome> {
    let mut limited = folder.limited(&format!("-v {MEMORY}"), arguments);
    limited.env_remove("RUST_BACKTRACE");
    let mut child = limited.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the shell starts");
    let start = Instant::now();
    while child.try_wait().expect("a status").is_none() {
        if start.elapsed() > TIME {
            let _ = child.kill();
            let _ = child.wait();
            return None;
        }
        sleep(Duration::from_millis(1));
    }
    Some(child.wait_with_output().expect("its output").into())
}

/// What is wrong with the end of a run, if anything is.
fn fault(outcome: Option<&Outcome>, allowed: &[i32]) -> Option<String> {
    match outcome {
        None => Some(format!("takes more than {TIME:?}")),
        Some(outcome) if outcome.code.is_none_or(|code| !allowed.contains(&code)) => {
            Some(format!("{outcome:?}"))
        }
        Some(_) => None,
    }
}

/// Reports what came of all attacks, and fails if any did harm.
#[track_caller]
fn report(attacks: usize, refused: usize, faults: &[String]) {
    println!("{attacks} damaged files: {refused} refused, {} faults", faults.len());
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(0 < refused && refused < attacks, "damage that does nothing, or that nothing survives");
}

#[test]
fn damaged_scenes_are_read_or_refused() {
    let (mut random, seeds) = (random_numbers(), seeds());
    let (attacks, mut refused, mut faults) = (count(60, 3000), 0, Vec::new());
    let folder = Folder::new();
    for i in 0..attacks {
        let seed = &seeds[i % seeds.len()];
        for (name, bytes) in &seed.beside {
            fs::write(folder.at(name), bytes).unwrap();
        }
        let bytes = mutated(&seed.bytes, &mut random);
        fs::write(folder.at(seed.file), &bytes).unwrap();
        // Half of them are rendered, as small as can be: what is read wrongly comes to light later.
        let (inspect, render) =
            (vec!["inspect", seed.scene], [&["render", seed.scene][..], &RENDER].concat());
        let outcome = run(&folder, &if random.below(2) == 0 { inspect } else { render });
        refused += usize::from(outcome.as_ref().is_some_and(|outcome| outcome.code == Some(2)));
        if let Some(fault) = fault(outcome.as_ref(), &[0, 2]) {
            faults.push(format!("{}, attack {i}: {fault}\n{}", seed.format, String::from_utf8_lossy(&bytes)));
        }
    }
    report(attacks, refused, &faults);
}

#[test]
fn damaged_images_are_compared_or_refused() {
    const NAMES: [&str; 4] = ["a.png", "a.exr", "a.hdr", "a.pfm"];
    let mut random = random_numbers();
    let folder = Folder::new();
    let outputs: Vec<&str> = NAMES.iter().flat_map(|name| ["-o", name]).collect();
    let made = folder.run(&[&["render", "scene.toml", "--spp", "4"][..], &outputs].concat());
    assert_eq!(made.code, Some(0), "{made:?}");
    let whole = NAMES.map(|name| fs::read(folder.at(name)).unwrap());
    let (attacks, mut refused, mut faults) = (count(60, 3000), 0, Vec::new());
    for i in 0..attacks {
        let (name, bytes) = (NAMES[i % 4], mutated(&whole[i % 4], &mut random));
        let damaged = format!("damaged{}", &name[1..]);
        fs::write(folder.at(&damaged), &bytes).unwrap();
        let outcome = run(&folder, &["compare", &damaged, name]);
        refused += usize::from(outcome.as_ref().is_some_and(|outcome| outcome.code == Some(2)));
        // 1: they differ.
        if let Some(fault) = fault(outcome.as_ref(), &[0, 1, 2]) {
            faults.push(format!("{name}, attack {i}: {fault}"));
        }
    }
    report(attacks, refused, &faults);
}

/// The watch finds what is too slow, and what ends badly.
#[test]
fn control_faults_are_found() {
    assert!(fault(None, &[0]).is_some());
    let of = |script: &str| Outcome::from(Command::new("sh").args(["-c", script]).output().unwrap());
    assert_eq!(fault(Some(&of("exit 2")), &[0, 2]), None);
    assert!(fault(Some(&of("exit 101")), &[0, 2]).is_some());
    assert!(fault(Some(&of("kill -s ABRT $$")), &[0, 2]).is_some());
}
