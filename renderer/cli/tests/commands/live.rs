//! Renders that are watched: by a file that is written again and again, and by a viewer that listens.
#![cfg(unix)]

use std::fs;
use std::io::{self, Read};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Stdio};
use std::thread::{JoinHandle, sleep, spawn};
use std::time::{Duration, Instant};

use torrance_image::film::{Image, read};

use crate::program::{Folder, Outcome};

/// How long anything that should happen soon may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// More than tests wait for.
const ENDLESS: &str = "--spp=1000000000";

fn start(folder: &Folder, arguments: &[&str]) -> Child {
    let mut program = folder.program(&[&["render", "scene.toml"], arguments].concat());
    program.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program starts")
}

fn render(folder: &Folder, arguments: &[&str]) -> Outcome {
    start(folder, arguments).wait_with_output().expect("its output").into()
}

/// Has a render end as by Ctrl-C.
fn interrupt(child: Child) -> Outcome {
    let kill = format!("kill -s INT {}", child.id());
    assert!(std::process::Command::new("sh").args(["-c", &kill]).status().expect("sh starts").success());
    child.wait_with_output().expect("its output").into()
}

fn warnings(outcome: &Outcome) -> Vec<&str> {
    outcome.stderr.lines().filter(|line| line.starts_with("warning: ")).collect()
}

/// The bytes of pixels of a PNG, if it is there.
fn png(folder: &Folder, name: &str) -> Option<Vec<u8>> {
    let bytes = fs::read(folder.at(name)).ok()?;
    Some(image::load_from_memory(&bytes).expect("a whole image").into_rgb8().into_raw())
}

/// Every version of a file decodes, however often one is looked at while they change.
#[test]
fn the_image_is_there_while_it_is_rendered() {
    let folder = Folder::new();
    fs::write(folder.at("live.png"), "previous").unwrap();
    let arguments = ["-o", "a.png", "--live=live.png", "--size=256x128", "--exposure=1", "--tonemap=aces"];
    let mut child = start(&folder, &[&arguments[..], &[ENDLESS]].concat());
    let is_replaced = || fs::read(folder.at("live.png")).unwrap() != b"previous";
    let (begin, mut versions) = (Instant::now(), Vec::new());
    while versions.len() < 3 {
        assert!(begin.elapsed() < PATIENCE, "{} versions", versions.len());
        assert!(child.try_wait().unwrap().is_none(), "it is under way");
        if is_replaced()
            && let Some(version) = png(&folder, "live.png")
            && versions.last() != Some(&version)
        {
            versions.push(version);
        }
        sleep(Duration::from_millis(1));
    }
    let outcome = interrupt(child);
    assert_eq!((outcome.code, warnings(&outcome)), (Some(130), vec![]), "{outcome:?}");
    assert_eq!(folder.names(), ["a.png", "live.png"]);
    let last = png(&folder, "live.png");
    assert_eq!(last, png(&folder, "a.png"));
    assert_ne!(last.as_ref(), versions.last(), "control: samples have come since");
}

/// Also of a render that is over before there is anything to show, and of one that has nothing left to do.
#[test]
fn the_last_image_is_that_of_the_output() {
    let folder = Folder::new();
    let exr = ["-o", "a.exr", "--live=live.png", "--json", "--quiet"];
    let outcome = render(&folder, &exr);
    assert_eq!((outcome.code, outcome.stderr.as_str()), (Some(0), ""), "{outcome:?}");
    let summary: serde_json::Value = serde_json::from_str(&outcome.stdout).unwrap();
    assert_eq!(summary["outputs"].as_array().map(Vec::len), Some(1), "{summary}");
    assert_eq!(render(&folder, &["-o", "a.png"]).code, Some(0));
    let expected = png(&folder, "a.png");
    assert_eq!(png(&folder, "live.png"), expected);
    fs::remove_file(folder.at("live.png")).unwrap();
    assert_eq!(render(&folder, &[&exr[..], &["--resume"]].concat()).code, Some(0));
    assert_eq!(png(&folder, "live.png"), expected);
}

/// The command that renders what is missing leaves the file of another part alone.
#[test]
fn parts_of_a_render_may_be_watched() {
    let folder = Folder::new();
    let outcome = render(&folder, &["-o", "a.exr", "--spp=8", "--shard=1/2", "--live=live.png"]);
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    assert!(png(&folder, "live.png").is_some());
    let merged = folder.run(&["merge", "a.exr", "-o", "b.exr"]);
    let rest = "torrance render scene.toml --spp=8 --seed 0 --samples 4..8 -o ";
    assert!(merged.stderr.contains(rest), "{merged:?}");
}

/// A model that is too dark is exposed as its output is; a scene is not.
#[test]
fn models_are_exposed_on_the_way() {
    let folder = Folder::new();
    fs::write(folder.at("model.obj"), "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n").unwrap();
    let light = ["--environment=0.001,0.001,0.001", "--size=32x24", "--spp=4"];
    let files = ["render", "model.obj", "-o", "a.png", "--live", "live.png"];
    let outcome = folder.run(&[&files[..], &light].concat());
    assert!(outcome.stderr.contains("too dark to be seen otherwise"), "{outcome:?}");
    let developed = png(&folder, "live.png").unwrap();
    assert_eq!(Some(&developed), png(&folder, "a.png").as_ref());
    assert_eq!(folder.run(&[&files[..], &light, &["--exposure=0"]].concat()).code, Some(0));
    assert_ne!(png(&folder, "live.png"), Some(developed), "control");
}

#[test]
fn what_cannot_be_live_is_refused() {
    let folder = Folder::new();
    for (live, expected) in [
        ("--live=live.exr", "--live \"live.exr\": expected a file .png\n"),
        ("--live=live", "--live \"live\": expected a file .png\n"),
        ("--live=a.png", "output \"a.png\": given twice\n"),
        ("--live=none/a.png", "output \"none/a.png\": directory \"none\" does not exist; create it first\n"),
        ("--tev=here", "expected HOST:PORT, as in 127.0.0.1:14158\n"),
        ("--tev=:1", "expected HOST:PORT, as in 127.0.0.1:14158\n"),
        ("--tev=here:0", "expected HOST:PORT, as in 127.0.0.1:14158\n"),
    ] {
        let outcome = render(&folder, &["-o", "a.png", live]);
        assert_eq!(outcome.code, Some(2), "{outcome:?}");
        assert!(outcome.stderr.contains(expected), "{outcome:?}");
        assert_eq!(folder.names(), Vec::<String>::new());
    }
}

/// The folder goes, as a network drive may.
#[test]
fn a_live_image_that_cannot_be_written_is_no_failure() {
    let folder = Folder::new();
    fs::create_dir(folder.at("drive")).unwrap();
    let child = start(&folder, &["-o", "a.png", "--live=drive/live.png", ENDLESS]);
    let begin = Instant::now();
    while !folder.at("drive/live.png").exists() {
        assert!(begin.elapsed() < PATIENCE, "no live image");
        sleep(Duration::from_millis(5));
    }
    fs::rename(folder.at("drive"), folder.at("elsewhere")).unwrap();
    sleep(Duration::from_secs(2));
    let outcome = interrupt(child);
    assert_eq!(outcome.code, Some(130), "{outcome:?}");
    let warnings = warnings(&outcome);
    assert!(
        warnings.len() == 1
            && warnings[0].starts_with("warning: --live: output \"drive/live.png\": cannot be written: ")
            && warnings[0].ends_with("; the render goes on without it"),
        "{outcome:?}"
    );
    assert!(folder.at("a.png").exists());
}

/// What a viewer has been told.
#[derive(Debug, Default)]
struct Shown {
    name: String,
    size: [u32; 2],
    pixels: Vec<[f32; 3]>,
    creations: u32,
    updates: u32,
}

/// Bytes of a packet of tev's protocol, which are read from the front.
struct Packet(Vec<u8>);

impl Packet {
    /// The next packet, if the connection has not ended.
    fn read(stream: &mut impl Read) -> io::Result<Self> {
        let mut length = [0; 4];
        stream.read_exact(&mut length)?;
        let mut rest = vec![0; u32::from_le_bytes(length) as usize - length.len()];
        stream.read_exact(&mut rest)?;
        Ok(Self(rest))
    }

    fn bytes<const N: usize>(&mut self) -> [u8; N] {
        self.0.drain(..N).collect::<Vec<_>>().try_into().unwrap()
    }

    fn byte(&mut self) -> u8 {
        let [byte] = self.bytes();
        byte
    }

    fn number(&mut self) -> u32 {
        u32::from_le_bytes(self.bytes())
    }

    fn text(&mut self) -> String {
        let end = self.0.iter().position(|byte| *byte == 0).expect("texts end in zero");
        let text = self.0.drain(..=end).take(end).collect();
        String::from_utf8(text).unwrap()
    }

    fn channels(&mut self) {
        let names: Vec<_> = (0..self.number()).map(|_| self.text()).collect();
        assert_eq!(names, ["R", "G", "B"]);
    }
}

impl Shown {
    /// Does what a packet says.
    fn obey(&mut self, mut packet: Packet) {
        let (kind, _takes_focus, name) = (packet.byte(), packet.byte(), packet.text());
        match kind {
            4 => {
                self.name = name;
                self.size = [packet.number(), packet.number()];
                packet.channels();
                self.pixels = vec![[0.0; 3]; self.size.map(|side| side as usize).iter().product()];
                assert!(packet.0.is_empty(), "something follows");
                self.creations += 1;
            }
            6 => {
                assert_eq!(name, self.name);
                packet.channels();
                let [x, y, width, height] = std::array::from_fn(|_| packet.number());
                assert_eq!((x, width), (0, self.size[0]), "whole rows");
                let numbers: [u64; 6] = std::array::from_fn(|_| u64::from_le_bytes(packet.bytes()));
                assert_eq!(numbers, [0, 1, 2, 3, 3, 3], "offsets and strides");
                let first = (y * width) as usize;
                let values =
                    packet.0.chunks_exact(4).map(|value| f32::from_le_bytes(value.try_into().unwrap()));
                let values: Vec<_> = values.collect();
                let pixels = &mut self.pixels[first..first + (width * height) as usize];
                pixels.as_flattened_mut().copy_from_slice(&values);
                self.updates += 1;
            }
            _ => panic!("a packet of kind {kind}"),
        }
    }
}

/// Listens like tev: the address, and what comes of the first connection.
fn listen<T: Send + 'static>(serve: impl FnOnce(TcpStream) -> T + Send + 'static) -> (String, JoinHandle<T>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    (address, spawn(move || serve(listener.accept().unwrap().0)))
}

#[test]
fn a_viewer_sees_the_image_and_in_the_end_all_of_it() {
    let folder = Folder::new();
    let (address, viewer) = listen(|mut stream| {
        let mut shown = Shown::default();
        while let Ok(packet) = Packet::read(&mut stream) {
            shown.obey(packet);
        }
        shown
    });
    // More rows than are sent at a time.
    let size = ["--size=1000x600", "--max-depth=2"];
    let tev = format!("--tev={address}");
    let outcome = render(&folder, &[&["-o", "a.pfm", "--time=3s", &tev], &size[..]].concat());
    assert_eq!((outcome.code, warnings(&outcome)), (Some(0), vec![]), "{outcome:?}");
    let (shown, Image { width, height, pixels }) =
        (viewer.join().unwrap(), read(&folder.at("a.pfm")).unwrap());
    assert_eq!((shown.name.as_str(), shown.size, shown.creations), ("a.pfm", [width, height], 1));
    assert!(shown.pixels == pixels, "every bit");
    assert!(shown.updates > 3, "three pieces are one image");
}

/// One that takes nothing is given up; one that goes away is, too.
#[test]
fn a_viewer_that_hangs_delays_nothing() {
    for (stays, reason) in [(true, "it takes nothing for 2 s"), (false, "")] {
        let folder = Folder::new();
        let (address, _viewer) = listen(move |stream| stays.then_some(stream));
        let tev = format!("--tev={address}");
        let begin = Instant::now();
        let outcome = render(&folder, &["-o", "a.png", "--time=4s", "--size=1500x1000", "--json", &tev]);
        let took = begin.elapsed();
        assert_eq!(outcome.code, Some(0), "{outcome:?}");
        let warnings = warnings(&outcome);
        let start = format!("warning: tev at {address} shows nothing more: {reason}");
        assert!(warnings.len() == 1 && warnings[0].starts_with(&start), "{outcome:?}");
        let summary: serde_json::Value = serde_json::from_str(&outcome.stdout).unwrap();
        let seconds = summary["seconds"]["render"].as_f64().unwrap();
        assert!(seconds < 6.0 && took < Duration::from_secs(20), "{seconds} s, {took:?}");
        assert!(summary["spp"].as_u64().is_some_and(|spp| spp > 4), "{summary}");
    }
}

#[test]
fn without_a_viewer_the_render_goes_on() {
    let folder = Folder::new();
    // A port that was free a moment ago.
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    for quiet in [&["--quiet"][..], &[]] {
        let outcome = render(&folder, &[&["-o", "a.png", &format!("--tev={address}")], quiet].concat());
        assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(0), ""), "{outcome:?}");
        let warnings = warnings(&outcome);
        let start = format!("warning: tev does not answer at {address}: ");
        assert!(warnings.len() == 1 && warnings[0].starts_with(&start), "{outcome:?}");
        assert!(warnings[0].contains("Start tev before the render"), "{outcome:?}");
        assert_eq!(folder.names(), ["a.png"]);
    }
}
