//! `torrance inspect`: what a scene is made of.

use crate::ExitCode;
use std::fmt;

use serde::Serialize;
use torrance_scene::{Contents, Overrides, Parameter};
use torrance_text::human_bytes;

use super::{EXIT_CODES, Failure, Notes, SceneArgs, print, print_either, print_json};

const EXAMPLES: &str = "\
Examples:
  torrance inspect scene.toml
  torrance inspect scene.xml --paths | grep roughness
  torrance inspect model.glb --json
";

/// Tell what a scene is made of
#[derive(Debug, clap::Args)]
#[command(after_help = EXIT_CODES, after_long_help = format!("{EXAMPLES}\n{EXIT_CODES}"))]
pub(super) struct Args {
    #[command(flatten)]
    scene: SceneArgs,

    /// List every parameter by its path, with its value; --set takes the same paths, and --json tells what they take
    #[arg(long)]
    paths: bool,

    /// Print it for programs, as one JSON object
    #[arg(long)]
    json: bool,
}

/// The object that `--json` prints. Fields are added, never renamed.
#[derive(Debug, Serialize)]
struct Summary {
    scene: String,
    #[serde(flatten)]
    contents: Contents,
    warnings: Vec<String>,
}

/// Reports the contents of the scene.
pub(super) fn run(args: &Args) -> Result<ExitCode, Failure> {
    let mut notes = Notes::new(args.json);
    notes.display.phase(format!("reading {}", args.scene.path.display()));
    if args.paths {
        let (values, _) = args.scene.open(Overrides::default(), &mut notes)?;
        notes.end();
        return tell_paths(args, values.list()).map(|()| ExitCode::SUCCESS);
    }
    let description = args.scene.load(Overrides::default(), &mut notes)?.description;
    let warnings = notes.end();
    let scene = args.scene.path.to_string_lossy().into_owned();
    let inspected = Summary { scene, contents: Contents::new(&description), warnings };
    print_either(args.json, &inspected).map(|()| ExitCode::SUCCESS)
}

fn tell_paths(args: &Args, parameters: Vec<Parameter>) -> Result<(), Failure> {
    if args.json {
        return print_json(&parameters);
    }
    let line = |Parameter { path, value, .. }: &Parameter| format!("{path} = {value}\n");
    print(parameters.iter().map(line).collect::<String>())
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let c = &self.contents;
        writeln!(f, "{}", self.scene)?;
        writeln!(
            f,
            "image      {}×{}, {} samples a pixel, paths to {}",
            c.image[0], c.image[1], c.spp, c.max_depth
        )?;
        let [x, y, z] = c.camera.position;
        writeln!(f, "camera     {}, at ({x}, {y}, {z})", c.camera.kind)?;
        if let Some([lo, hi]) = c.bounds {
            let [lo, hi] = [lo, hi].map(|[x, y, z]| format!("({x}, {y}, {z})"));
            writeln!(f, "bounds     {lo} to {hi}")?;
        }
        let shapes: Vec<_> = c.shapes.iter().map(|(kind, n)| format!("{n} {kind}")).collect();
        writeln!(f, "shapes     {}", or_none(&shapes.join(", ")))?;
        if c.instances > 0 {
            writeln!(f, "instances  {} of {} groups", c.instances, c.groups)?;
        }
        writeln!(f, "triangles  {} in memory, {} in the scene", c.triangles.stored, c.triangles.placed)?;
        let materials: Vec<_> = c.materials.iter().map(|(kind, n)| format!("{n} {kind}")).collect();
        writeln!(f, "materials  {}", or_none(&materials.join(", ")))?;
        writeln!(f, "textures   {}, of {} images", c.textures, c.images)?;
        let memory: Vec<_> =
            c.memory.iter().map(|(part, n)| format!("{} {part}", human_bytes(u128::from(*n)))).collect();
        writeln!(f, "memory     {}", or_none(&memory.join(", ")))?;
        writeln!(f, "lights     {}", c.lights.len())?;
        for light in c.lights.iter().take(MOST_LIGHTS) {
            let power = light.power.map_or("of unknown power".to_owned(), |watts| format!("{watts:.4} W"));
            writeln!(f, "           {} {:?}, {power}", light.kind, light.name)?;
        }
        if c.lights.len() > MOST_LIGHTS {
            writeln!(f, "           and {} more; --json lists all", c.lights.len() - MOST_LIGHTS)?;
        }
        Ok(())
    }
}

/// Most lights that are listed to people.
const MOST_LIGHTS: usize = 20;

fn or_none(list: &str) -> &str {
    if list.is_empty() { "none" } else { list }
}
