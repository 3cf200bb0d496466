//! What a finished render tells: a few lines for people, one object for programs.

use std::fmt::Display;
use std::io::{self, Write};
use std::time::Instant;

use serde::Serialize;

use super::failure::Failure;
use super::integrator::Chosen;
use super::progress::spp_of;
use super::stage_times;
use super::terminal::{clock, say};
use crate::assemble::Stats;
use crate::render::Progress;

/// What `--json` prints. Fields are added, never renamed.
#[derive(Debug, Serialize)]
pub(super) struct Summary {
    pub(super) version: &'static str,
    pub(super) scene: String,
    pub(super) device: String,
    pub(super) width: u32,
    pub(super) height: u32,
    /// Samples per pixel taken.
    pub(super) spp: u32,
    pub(super) seed: u32,
    pub(super) max_depth: u32,
    pub(super) integrator: Chosen,
    pub(super) seconds: Seconds,
    pub(super) paths: u64,
    pub(super) mpaths_per_s: f64,
    /// Samples left out because they were NaN or infinite.
    pub(super) rejected_samples: u64,
    pub(super) interrupted: bool,
    pub(super) outputs: Vec<Output>,
    pub(super) warnings: Vec<String>,
    pub(super) contents: Contents,
    /// If they were asked for.
    #[serde(flatten)]
    pub(super) stages: Option<stage_times::Json>,
}

/// What the scene is made of.
#[derive(Debug, Serialize)]
pub(super) struct Contents {
    triangles: usize,
    spheres: usize,
    disks: usize,
    cylinders: usize,
    groups: usize,
    instances: usize,
    /// Primitives, those of groups once for every instance.
    seen: u64,
    lights: usize,
    bvh_nodes: usize,
    /// Bytes that the machine holds, without the film.
    bytes: usize,
}

impl From<Stats> for Contents {
    fn from(stats: Stats) -> Self {
        let Stats {
            triangles, spheres, disks, cylinders, groups, instances, seen, lights, nodes, bytes, ..
        } = stats;
        Self {
            triangles,
            spheres,
            disks,
            cylinders,
            groups,
            instances,
            seen,
            lights,
            bvh_nodes: nodes,
            bytes,
        }
    }
}

/// A file that was written.
#[derive(Debug, Serialize)]
pub(super) struct Output {
    pub(super) path: String,
    pub(super) bytes: usize,
    /// Pixels brought to the nearest value that the format holds.
    pub(super) clamped_pixels: usize,
}

/// Where the time went.
#[derive(Debug, Default, Serialize)]
pub(super) struct Seconds {
    /// Reading and checking the scene.
    pub(super) load: f64,
    /// Building what is uploaded, the BVH above all.
    pub(super) build: f64,
    /// The part of `build` that is the BVH.
    pub(super) bvh: f64,
    /// Finding and starting the machine.
    pub(super) start: f64,
    /// The part of `start` that is compiling the kernels for a GPU.
    pub(super) jit: f64,
    /// Rendering, the upload of the scene included.
    pub(super) render: f64,
    /// The part of `render` that is that upload.
    pub(super) upload: f64,
    /// The longest launch of `render`: no interruption, and no display, waited longer.
    pub(super) longest_launch: f64,
    /// Encoding and writing images.
    pub(super) write: f64,
    /// All of it.
    pub(super) total: f64,
}

/// Tells the time since it was last asked.
pub(super) struct Laps {
    begin: Instant,
    last: Instant,
}

impl Laps {
    /// Begins now.
    pub(super) fn new() -> Self {
        let now = Instant::now();
        Self { begin: now, last: now }
    }

    /// Seconds since the last lap.
    pub(super) fn lap(&mut self) -> f64 {
        let now = Instant::now();
        let seconds = (now - self.last).as_secs_f64();
        self.last = now;
        seconds
    }

    /// Seconds since the beginning.
    pub(super) fn total(&self) -> f64 {
        self.begin.elapsed().as_secs_f64()
    }
}

impl Summary {
    /// Tells people what happened.
    pub(super) fn tell(&self, progress: &Progress) {
        let Self { width, height, spp, device, .. } = self;
        let files: Vec<_> = self.outputs.iter().map(|o| o.path.as_str()).collect();
        let wrote =
            if files.is_empty() { "wrote nothing".into() } else { format!("wrote {}", files.join(", ")) };
        if self.interrupted {
            say(format_args!("interrupted at {} spp, {wrote}", spp_of(progress)));
        }
        say(format_args!(
            "{width}x{height}, {spp} spp in {} on {device}: {:.1} Mpaths/s, {}",
            clock(self.seconds.render),
            self.mpaths_per_s,
            self.integrator
        ));
        let Seconds { load, build, bvh, upload, .. } = self.seconds;
        // Worth a line where it is felt.
        if load + build + upload >= 1.0 {
            say(format_args!(
                "before that: reading {load:.2} s, building {build:.2} s, of which the BVH {bvh:.2} s, uploading {upload:.2} s"
            ));
        }
        if !self.interrupted {
            say(wrote);
        }
    }
}

/// Prints `value` as one JSON object on stdout.
pub(super) fn print_json(value: &impl Serialize) -> Result<(), Failure> {
    let text = json_text(value).map_err(|e| Failure::running(format_args!("--json: {e}")))?;
    print(text)
}

/// `value` as one JSON object on lines of its own. The error is a sentence.
pub(super) fn json_text(value: &impl Serialize) -> Result<String, String> {
    serde_json::to_string_pretty(value).map(|text| text + "\n").map_err(|e| e.to_string())
}

/// Prints to stdout what a command was asked for. Unlike `print!`, does not panic when nobody reads it.
pub(super) fn print(text: impl Display) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    match write!(stdout, "{text}").and_then(|()| stdout.flush()) {
        // The reader, `head` say, has seen enough.
        Err(e) if e.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other.map_err(|e| Failure::running(format_args!("writing to standard output: {e}"))),
    }
}
