//! Renders that end early or badly: what was there before stays, or is replaced as a whole.
#![cfg(unix)]

use std::fs;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use torrance_image::film::encode::encode_at_once;
use torrance_image::film::{read, read_layers};

use crate::program::{Folder, Outcome};

/// More samples than can be taken while a test waits.
const ENDLESS: &str = "1000000000";

/// How long anything that should happen soon may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// Waits until `happened`.
#[track_caller]
fn wait_for(what: &str, mut happened: impl FnMut() -> bool) {
    let start = Instant::now();
    while !happened() {
        assert!(start.elapsed() < PATIENCE, "waited {PATIENCE:?} for {what}");
        sleep(Duration::from_millis(1));
    }
}

fn spawn(folder: &Folder, arguments: &[&str]) -> Child {
    let mut program = folder.program(arguments);
    program.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program starts")
}

/// Waits until samples are taken.
fn wait_for_render(child: &Child) {
    wait_for_threads(child);
    sleep(Duration::from_millis(500));
}

/// Waits until the threads that render are there.
fn wait_for_threads(child: &Child) {
    if cfg!(target_os = "linux") {
        let tasks = format!("/proc/{}/task", child.id());
        let is_render = |task: fs::DirEntry| {
            fs::read_to_string(task.path().join("comm")).is_ok_and(|name| name.starts_with("render-"))
        };
        wait_for("the render to begin", || {
            fs::read_dir(&tasks).is_ok_and(|mut tasks| tasks.any(|t| t.is_ok_and(is_render)))
        });
    }
}

fn signal(child: &Child, name: &str) {
    // The shell's own `kill`: not every system has the program.
    let status = Command::new("sh").args(["-c", &format!("kill -s {name} {}", child.id())]).status();
    assert!(status.expect("sh starts").success());
}

/// The outcome of a program that ends soon.
#[track_caller]
fn outcome(mut child: Child) -> Outcome {
    let start = Instant::now();
    while child.try_wait().expect("a status").is_none() {
        if start.elapsed() > PATIENCE {
            child.kill().expect("it can be killed");
            panic!("it did not end within {PATIENCE:?}");
        }
        sleep(Duration::from_millis(5));
    }
    child.wait_with_output().expect("its output").into()
}

/// Whether a file is what the test wrote, not what the program would.
fn is_previous(folder: &Folder, name: &str) -> bool {
    fs::read(folder.at(name)).expect("the file") == b"previous"
}

#[test]
fn a_signal_stops_the_render_and_keeps_what_is_there() {
    for name in ["INT", "TERM"] {
        let folder = Folder::new();
        let child = spawn(&folder, &["render", "scene.toml", "-o", "a.exr", "--spp", ENDLESS, "--json"]);
        wait_for_render(&child);
        signal(&child, name);
        // As `timeout` and others do, which signal the process, and its group.
        signal(&child, name);
        let outcome = outcome(child);
        assert_eq!(outcome.code, Some(130), "{name}: {outcome:?}");
        let line = outcome.stderr.lines().find(|l| l.starts_with("interrupted at ")).expect("a line says so");
        assert!(line.ends_with(" of 1000000000 spp, wrote a.exr"), "{line}");
        let summary: serde_json::Value = serde_json::from_str(&outcome.stdout).expect("JSON on stdout");
        assert_eq!(summary["interrupted"], true);
        assert!(summary["spp"].as_u64().is_some_and(|spp| spp > 0), "{summary}");
        assert_eq!(folder.names(), ["a.exr"]);
        let image = read(&folder.at("a.exr")).expect("a whole image");
        assert_eq!(image.pixels[0].map(|x| (x * 1000.0).round()), [300.0, 200.0, 100.0]);
    }
}

/// Ends a render of an image that is there, by a signal that comes as soon as samples are taken.
fn interrupt_soon(folder: &Folder, options: &[&str]) -> Outcome {
    let child = spawn(folder, &[&["render", "scene.toml", "--spp", ENDLESS][..], options].concat());
    wait_for_render(&child);
    signal(&child, "INT");
    outcome(child)
}

#[test]
fn an_interrupted_render_goes_beside_what_is_there() {
    let folder = Folder::new();
    fs::write(folder.at("a.png"), "previous").unwrap();
    let outcome = interrupt_soon(&folder, &["-o", "a.png", "-o", "b.png"]);
    assert_eq!(outcome.code, Some(130), "{outcome:?}");
    let warning = "warning: \"a.png\" is there and stays, since the render was interrupted; this image goes to \
                   \"a.interrupted.png\"; --force would replace it\n";
    assert!(outcome.stderr.contains(warning), "{outcome:?}");
    assert!(outcome.stderr.contains("wrote a.interrupted.png, b.png"), "{outcome:?}");
    assert!(is_previous(&folder, "a.png"));
    assert_eq!(folder.names(), ["a.interrupted.png", "a.png", "b.png"]);
    // Nor is one replaced that is less noisy than the next one, and one that is noisier is.
    let quick = folder.run(&["render", "scene.toml", "-o", "b.png", "--spp", "2"]);
    assert_eq!(quick.code, Some(0), "{quick:?}");
    let before = fs::read(folder.at("b.png")).unwrap();
    assert_eq!(interrupt_soon(&folder, &["-o", "b.png"]).code, Some(130));
    assert_eq!(folder.names(), ["a.interrupted.png", "a.png", "b.png"]);
    assert_ne!(fs::read(folder.at("b.png")).unwrap(), before, "it had two samples");

    let forced = interrupt_soon(&folder, &["-o", "a.png", "--force"]);
    assert!(!is_previous(&folder, "a.png"), "{forced:?}");
    assert_eq!(folder.names(), ["a.interrupted.png", "a.png", "b.png"]);
}

/// What a resumed render has replaces what it went on with, however noisy it seems; what another render has goes beside.
#[test]
fn an_interrupted_render_replaces_what_it_went_on_with() {
    let folder = Folder::new();
    let path = folder.at("a.exr");
    let noise = || read_layers(&path).unwrap().attributes["relativeStderr"].clone();
    let claim_no_noise = || {
        let no_noise = ("relativeStderr".to_owned(), "0".to_owned());
        let image = read_layers(&path).unwrap().saying([no_noise]);
        fs::write(&path, encode_at_once(image).unwrap()).unwrap();
    };
    for _ in 0..2 {
        let outcome = interrupt_soon(&folder, &["-o", "a.exr", "--resume"]);
        assert_eq!(outcome.code, Some(130), "{outcome:?}");
        assert_eq!(folder.names(), ["a.exr", "a.exr.checkpoint"], "{outcome:?}");
        assert_ne!(noise(), "0", "it is replaced");
        claim_no_noise();
    }
    fs::remove_file(folder.at("a.exr.checkpoint")).unwrap();
    let outcome = interrupt_soon(&folder, &["-o", "a.exr", "--seed=1"]);
    assert_eq!(outcome.code, Some(130), "{outcome:?}");
    assert_eq!(folder.names(), ["a.exr", "a.interrupted.exr"], "{outcome:?}");
    assert_eq!(noise(), "0");
}

/// The signal comes in the first of the launches that a sample of every pixel takes. Even by force, nothing is replaced by
/// what has holes.
#[test]
fn no_image_with_holes_replaces_one() {
    for force in [&["--force"][..], &[]] {
        let folder = Folder::new();
        let size = ["--size", "3000x3000"];
        let previous =
            ["render", "scene.toml", "--spp", "2", "--max-depth", "1", "-o", "a.png", "-o", "a.exr"];
        let previous = folder.run(&[&previous[..], &size].concat());
        assert_eq!(previous.code, Some(0), "{previous:?}");
        let before = ["a.png", "a.exr"].map(|name| fs::read(folder.at(name)).unwrap());
        let render = ["render", "scene.toml", "-o", "a.png", "-o", "a.exr", "--spp", ENDLESS];
        let child = spawn(&folder, &[&render[..], &size, force].concat());
        wait_for_threads(&child);
        sleep(Duration::from_millis(50));
        signal(&child, "INT");
        let outcome = outcome(child);
        assert_eq!(outcome.code, Some(130), "{outcome:?}");
        assert!(outcome.stderr.contains("interrupted"), "{outcome:?}");
        assert_eq!(["a.png", "a.exr"].map(|name| fs::read(folder.at(name)).unwrap()), before, "{outcome:?}");
    }
}

#[test]
fn every_pixel_has_a_sample_however_short_the_time() {
    let folder = Folder::new();
    let outcome = folder.run(&["render", "scene.toml", "-o", "a.pfm", "--time", "1e-9", "--json"]);
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    let summary: serde_json::Value = serde_json::from_str(&outcome.stdout).unwrap();
    assert!(summary["spp"].as_u64().is_some_and(|spp| spp > 0), "{summary}");
    let image = read(&folder.at("a.pfm")).unwrap();
    assert!(image.pixels.iter().all(|pixel| pixel[0] > 0.0), "no pixel of this scene is black");
}

#[test]
fn an_interrupted_sweep_goes_beside_what_is_there() {
    let folder = Folder::new();
    for name in ["s.png", "s.csv", "s.interrupted.csv"] {
        fs::write(folder.at(name), "previous").unwrap();
    }
    let sweep = ["sweep", "scene.toml", "--param", "camera.fov=30:50:500", "--spp", "64", "--cols", "25"];
    let child =
        spawn(&folder, &[&sweep[..], &["-o", "s.png", "--csv", "s.csv", "--html", "s.html"]].concat());
    let parts = || folder.files_in("s.png.parts");
    wait_for("some variants", || parts() > 3);
    signal(&child, "INT");
    let outcome = outcome(child);
    assert_eq!(outcome.code, Some(130), "{outcome:?}");
    assert!(["s.png", "s.csv", "s.interrupted.csv"].iter().all(|name| is_previous(&folder, name)));
    let mut names = folder.names();
    names.retain(|name| name != "s.png.parts");
    let expected =
        ["s.csv", "s.html", "s.interrupted-2.csv", "s.interrupted.csv", "s.interrupted.png", "s.png"];
    assert_eq!(names, expected);
}

/// The folder goes while the image is rendered, as a network drive may.
#[test]
fn an_image_that_cannot_be_written_is_kept_elsewhere() {
    let folder = Folder::new();
    fs::create_dir(folder.at("drive")).unwrap();
    fs::create_dir(folder.at("temporary")).unwrap();
    let mut program = folder.program(&["render", "scene.toml", "-o", "drive/a.png", "--spp", ENDLESS]);
    program.env("TMPDIR", folder.at("temporary")).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = program.spawn().expect("the program starts");
    wait_for_render(&child);
    fs::remove_dir(folder.at("drive")).unwrap();
    signal(&child, "INT");
    let outcome = outcome(child);
    assert_eq!(outcome.code, Some(3), "{outcome:?}");
    assert!(outcome.stderr.contains("error: output \"drive/a.png\": cannot be written: "), "{outcome:?}");
    let (_, kept) =
        outcome.stderr.split_once("the image, with all its layers, is kept in \"").expect("it is kept");
    let kept = kept.lines().next().unwrap().trim_end_matches('"');
    assert!(kept.ends_with("-a.exr"), "{kept}");
    assert_eq!(
        read(std::path::Path::new(kept)).expect("a whole image").pixels[0].map(|x| (x * 10.0).round()),
        [3.0, 2.0, 1.0]
    );
    let layers = read_layers(std::path::Path::new(kept)).unwrap();
    assert!(layers.channel("stderr.R").is_some(), "with its noise");
}

/// A killed suite takes the commands of its cases with it, what those started, and their folders.
#[test]
fn a_killed_suite_leaves_no_commands_running() {
    let folder = Folder::new();
    fs::create_dir(folder.at("temporary")).unwrap();
    fs::write(folder.at("reference.pfm"), b"PF\n1 1\n-1.0\n\0\0\0\0\0\0\0\0\0\0\0\0").unwrap();
    let command = "echo $$ > pids; sleep 1000 & echo $! >> pids; wait; cp reference.pfm {output}";
    let suite = format!(
        "[[case]]\nname = \"c\"\ncommand = [\"sh\", \"-c\", \"{command}\"]\nreference = \"reference.pfm\"\nrelmse = 1\n"
    );
    fs::write(folder.at("suite.toml"), suite).unwrap();
    let mut program = folder.program(&["regress", "suite.toml"]);
    program.env("TMPDIR", folder.at("temporary")).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = program.spawn().expect("the program starts");
    let pids = || fs::read_to_string(folder.at("pids")).unwrap_or_default();
    wait_for("the command", || pids().lines().count() == 2 || child.try_wait().unwrap().is_some());
    let is_running = |pid: &str| {
        let status =
            Command::new("sh").args(["-c", &format!("kill -s 0 {pid}")]).stderr(Stdio::null()).status();
        // What has ended stays until somebody asks how, which in a container may be nobody.
        let state = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        status.is_ok_and(|status| status.success()) && !state.contains(") Z ")
    };
    assert_eq!(pids().lines().filter(|pid| is_running(pid)).count(), 2, "{:?}", child.wait_with_output());
    let mut child = child;
    child.kill().unwrap();
    child.wait().unwrap();
    wait_for("the commands to end", || !pids().lines().any(is_running));
    wait_for("their folders to go", || fs::read_dir(folder.at("temporary")).unwrap().count() == 0);
}

#[test]
fn a_killed_render_leaves_the_previous_image() {
    let folder = Folder::new();
    fs::write(folder.at("a.png"), "previous").unwrap();
    let mut child = spawn(&folder, &["render", "scene.toml", "-o", "a.png", "--spp", ENDLESS]);
    wait_for_render(&child);
    child.kill().unwrap();
    assert_eq!(child.wait().unwrap().code(), None);
    assert!(is_previous(&folder, "a.png"));
    assert_eq!(folder.names(), ["a.png"]);
}

/// Killed at the worst moment, while the image is on its way to the disk: the file is the old one or the new
/// one, whole.
#[test]
fn a_render_killed_while_writing_leaves_a_whole_image() {
    let folder = Folder::new();
    fs::write(folder.at("a.pfm"), "previous").unwrap();
    let options = ["--size", "1536x1536", "--spp", "1", "--max-depth", "1"];
    let mut child = spawn(&folder, &[&["render", "scene.toml", "-o", "a.pfm"], &options[..]].concat());
    // Any file here that grows, whatever its name.
    let length = |name: &String| fs::metadata(folder.at(name)).map_or(0, |m| m.len());
    let writing = || folder.names().iter().any(|name| length(name) > "previous".len() as u64);
    wait_for("writing", || writing() || child.try_wait().unwrap().is_some());
    child.kill().unwrap();
    child.wait().unwrap();
    if !is_previous(&folder, "a.pfm") {
        assert_eq!(read(&folder.at("a.pfm")).expect("a whole image").width, 1536);
    }
}

/// A limit on file sizes stands in for a full disk: writes fail in the middle of a file.
#[test]
fn a_full_disk_leaves_the_previous_image() {
    let folder = Folder::new();
    fs::write(folder.at("large.pfm"), "previous").unwrap();
    let render = ["render", "scene.toml", "-o", "large.pfm", "-o", "small.png", "--size", "64x64"];
    let mut limited = folder.limited("-f 32", &render);
    let outcome = Outcome::from(limited.output().unwrap());
    assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(3), ""), "{outcome:?}");
    let error = outcome.stderr.lines().find(|l| l.starts_with("error: ")).expect("an error");
    assert!(error.starts_with("error: output \"large.pfm\": cannot be written: "), "{error}");
    assert!(outcome.stderr.contains("\nnor can the image be kept elsewhere: "), "{outcome:?}");
    assert!(is_previous(&folder, "large.pfm"));
    assert_eq!(
        folder.names(),
        ["large.pfm", "small.png"],
        "the other image is written, and nothing is left over"
    );
    assert_eq!(read(&folder.at("small.png")).expect("a whole image").width, 64);
}

#[test]
fn a_signal_ends_a_benchmark_with_what_was_measured() {
    let folder = Folder::new();
    // Measuring so many takes minutes.
    let lengths: Vec<_> = (1..1000).map(|n| ((1 << 21) + n).to_string()).collect();
    let child = spawn(&folder, &["bench", "primitives", "--size", &lengths.join(","), "--json"]);
    wait_for_render(&child);
    signal(&child, "INT");
    let outcome = outcome(child);
    assert_eq!(outcome.code, Some(130), "{outcome:?}");
    assert!(outcome.stderr.starts_with("interrupted: stopping here"), "{outcome:?}");
    let json: serde_json::Value = serde_json::from_str(&outcome.stdout).unwrap();
    assert_eq!(json["interrupted"], true);
    assert!(json["results"].as_array().is_some_and(|all| all.len() < 1000), "{json}");
}
