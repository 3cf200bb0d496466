//! Signals at any moment: what was there before is there, or a whole new file in its place.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use torrance_image::film::{read, read_layers};

use super::{count, random_numbers};
use crate::program::Folder;

/// A command, and the files that it writes.
struct Victim {
    arguments: &'static [&'static str],
    outputs: &'static [&'static str],
}

const fn victim(arguments: &'static [&'static str], outputs: &'static [&'static str]) -> Victim {
    Victim { arguments, outputs }
}

const SIZE: &str = "--size=400x300";

const VICTIMS: [Victim; 7] = [
    victim(
        &["render", "scene.toml", "-o", "out.png", "-o", "out.exr", "--spp=16", SIZE],
        &["out.png", "out.exr"],
    ),
    victim(&["render", "scene.toml", "-o", "out.pfm", "--time=0.05", SIZE], &["out.pfm"]),
    victim(
        &[
            "sweep",
            "scene.toml",
            "--param=camera.fov=30:50:6",
            "-o",
            "sheet.png",
            "--csv=sheet.csv",
            "--spp=8",
        ],
        &["sheet.png", "sheet.csv"],
    ),
    victim(&["merge", "a.exr", "b.exr", "-o", "merged.exr"], &["merged.exr"]),
    victim(&["convert", "scene.toml", "converted.toml", "--force"], &["converted.toml"]),
    victim(&["compare", "a.exr", "b.exr", "--heatmap=map.png"], &["map.png"]),
    victim(&["regress", "suite.toml", "--html=report.html"], &["report.html"]),
];

const SIGNALS: [&str; 4] = ["KILL", "INT", "TERM", "HUP"];

/// A folder with what all of them read, and with outputs that an earlier run has made.
fn folder() -> Folder {
    let folder = Folder::new();
    let make = |arguments: &[&str]| {
        let outcome = folder.run(arguments);
        assert_eq!(outcome.code, Some(0), "{arguments:?}: {outcome:?}");
    };
    for (name, seed) in [("a.exr", "1"), ("b.exr", "2"), ("reference.exr", "3")] {
        make(&["render", "scene.toml", "-o", name, "--spp=16", "--seed", seed, SIZE]);
    }
    let suite =
        "[[case]]\nname = \"c\"\nscene = \"scene.toml\"\nsize = [400, 300]\nreference = \"reference.exr\"\n";
    fs::write(folder.at("suite.toml"), suite).unwrap();
    for victim in &VICTIMS {
        make(
            &victim.arguments.iter().copied().filter(|word| !word.starts_with("--time")).collect::<Vec<_>>(),
        );
    }
    folder
}

/// How long a command takes if it is left alone.
fn duration(folder: &Folder, victim: &Victim) -> Duration {
    let start = Instant::now();
    folder.run(victim.arguments);
    start.elapsed()
}

/// Starts a command, sends a signal after a while, and waits for its end.
fn attack(folder: &Folder, victim: &Victim, signal: &str, after: Duration) -> Option<i32> {
    let mut program = folder.program(victim.arguments);
    program.stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = program.spawn().expect("the program starts");
    sleep(after);
    let kill = format!("kill -s {signal} {}", child.id());
    let _ = Command::new("sh").args(["-c", &kill]).stderr(Stdio::null()).status();
    end(&mut child)
}

fn end(child: &mut Child) -> Option<i32> {
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait().expect("a status") {
            return status.code();
        }
        assert!(start.elapsed() < Duration::from_secs(60), "it does not end");
        sleep(Duration::from_millis(1));
    }
}

/// What is wrong with a file that was whole before.
fn damage(path: &Path, before: &[u8]) -> Option<String> {
    let Ok(bytes) = fs::read(path) else { return Some("is gone".to_owned()) };
    if bytes == before {
        return None;
    }
    let name = path.to_string_lossy();
    let wrong = match name.rsplit('.').next().unwrap_or_default() {
        "png" | "pfm" => read(path).err().map(|error| error.to_string()),
        "exr" => match read_layers(path) {
            Ok(layers) => layers.image().is_none().then(|| "has no image".to_owned()),
            Err(error) => Some(error.to_string()),
        },
        "toml" => (!bytes.ends_with(b"\n")).then(|| "is cut off".to_owned()),
        "html" => (!bytes.trim_ascii_end().ends_with(b"</html>")).then(|| "is cut off".to_owned()),
        // A sheet of fewer variants than there were is not one in their place.
        _ => (bytes.iter().filter(|b| **b == b'\n').count() < before.iter().filter(|b| **b == b'\n').count())
            .then(|| "has fewer lines".to_owned()),
    };
    // An image with holes in place of a whole one: this scene has no black pixel. Sheets and maps do.
    let is_render = ["out.png", "out.exr", "out.pfm", "merged.exr", "a.exr", "a.pfm", "a.png"]
        .iter()
        .any(|render| name.ends_with(render));
    let holes = || read(path).is_ok_and(|image| image.pixels.contains(&[0.0; 3]));
    wrong.or_else(|| (is_render && holes()).then(|| "has pixels without samples".to_owned()))
}

#[test]
fn kills_at_any_moment_lose_nothing() {
    let folder = folder();
    let mut random = random_numbers();
    let durations: Vec<_> = VICTIMS.iter().map(|victim| duration(&folder, victim)).collect();
    let (mut lost, mut ends) = (Vec::new(), [0_u32; 3]);
    let kills = count(28, 400);
    for i in 0..kills {
        let (victim, whole) = (&VICTIMS[i % VICTIMS.len()], durations[i % VICTIMS.len()]);
        let signal = SIGNALS[random.below(SIGNALS.len())];
        let after = whole.mul_f64(random.below(1100) as f64 / 1000.0);
        let before: Vec<_> = victim.outputs.iter().map(|name| fs::read(folder.at(name)).unwrap()).collect();
        let code = attack(&folder, victim, signal, after);
        // Killed, as what has nothing to keep is by all signals; interrupted; done before.
        match code {
            None => ends[0] += 1,
            Some(130) => ends[1] += 1,
            Some(0 | 1) => ends[2] += 1,
            other => {
                lost.push(format!("{}: {signal} after {after:?}: {other:?}", victim.arguments.join(" ")))
            }
        }
        for (name, before) in victim.outputs.iter().zip(&before) {
            if let Some(how) = damage(&folder.at(name), before) {
                lost.push(format!("{}: {signal} after {after:?}: {name} {how}", victim.arguments.join(" ")));
                fs::write(folder.at(name), before).unwrap();
            }
        }
        for name in folder.names().iter().filter(|name| name.contains(".interrupted")) {
            fs::remove_file(folder.at(name)).unwrap();
        }
    }
    let [killed, interrupted, done] = ends;
    println!(
        "{kills} signals: {killed} killed, {interrupted} interrupted, {done} done; {} losses",
        lost.len()
    );
    assert!(lost.is_empty(), "{}", lost.join("\n"));
    assert!(killed > 0 && interrupted > 0, "signals came at moments of one kind only");
}

/// The check finds what it is for.
#[test]
fn control_losses_are_found() {
    let folder = Folder::new();
    let outcome = folder.run(&["render", "scene.toml", "-o", "a.pfm", "-o", "a.png", "-o", "a.exr"]);
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    for name in ["a.pfm", "a.png", "a.exr"] {
        let (path, whole) = (folder.at(name), fs::read(folder.at(name)).unwrap());
        assert_eq!(damage(&path, &whole), None);
        assert_eq!(damage(&path, b"another"), None, "{name}: a new one");
        fs::write(&path, &whole[..whole.len() - 40]).unwrap();
        assert!(damage(&path, &whole).is_some(), "{name}: half of one");
        fs::remove_file(&path).unwrap();
        assert_eq!(damage(&path, &whole).as_deref(), Some("is gone"), "{name}");
        fs::write(&path, &whole).unwrap();
    }
    let mut holes = fs::read(folder.at("a.pfm")).unwrap();
    let end = holes.len();
    holes[end - 12..].fill(0);
    fs::write(folder.at("a.pfm"), holes).unwrap();
    assert_eq!(damage(&folder.at("a.pfm"), b"").as_deref(), Some("has pixels without samples"));
}
