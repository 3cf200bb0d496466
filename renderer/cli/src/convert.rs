//! `torrance convert`: scenes of other formats as TOML.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use torrance_image::film::write::Destination;
use torrance_scene::{self as scene, Description, Extent, LoadedScene, Overrides};

use super::{EXIT_CODES, Failure, Notes, SceneArgs, count, say};

const EXAMPLES: &str = "\
Examples:
  torrance convert scene.xml scene.toml
  torrance convert model.glb model.toml

The scene that is written renders the same image, bit for bit on a CPU. Meshes and images that are in its folder \
or below are named; others are written to a folder beside it, NAME-files for NAME.toml.
";

/// Write a scene of any format that is read as a TOML scene
#[derive(Debug, clap::Args)]
#[command(after_help = EXIT_CODES, after_long_help = format!("{EXAMPLES}\n{EXIT_CODES}"))]
pub(super) struct Args {
    #[command(flatten)]
    scene: SceneArgs,

    /// Scene file to write, .toml
    #[arg(value_name = "OUT")]
    output: PathBuf,

    /// Replace files that are there
    #[arg(long)]
    force: bool,

    /// Print warnings and errors only
    #[arg(short, long)]
    quiet: bool,
}

/// Converts as `args` say.
pub(super) fn run(args: &Args) -> Result<ExitCode, Failure> {
    let output = &args.output;
    let shown = output.display();
    if output.extension().is_none_or(|e| !e.eq_ignore_ascii_case("toml")) {
        return Err(Failure::output(output, "scenes are written as .toml"));
    }
    let target = destination(output, args.force)?;
    if target.is_file(&args.scene.path) {
        return Err(Failure::output(output, "that is the scene to be converted"));
    }
    let mut notes = Notes::new(args.quiet);
    notes.display.phase(format!("reading {}", args.scene.path.display()));
    let LoadedScene { description, files, .. } = args.scene.load(Overrides::default(), &mut notes)?;
    let spared =
        |place: Destination| place.spare(&files, "the scene").map(|()| place).map_err(Failure::input);
    let target = spared(target)?;
    notes.display.phase("writing");
    let written = scene::write(&description, output, Extent::Short);
    // Folders first: whether files can be written shows before any is.
    if let Some(folder) = written.assets.iter().find_map(|asset| asset.path.parent()) {
        std::fs::create_dir_all(folder)
            .map_err(|e| Failure::running(format_args!("folder \"{}\": {e}", folder.display())))?;
    }
    let targets: Result<Vec<_>, _> =
        written.assets.iter().map(|asset| spared(destination(&asset.path, args.force)?)).collect();
    let mut bytes = 0;
    for (asset, target) in written.assets.iter().zip(targets?) {
        bytes += target.write_encoded(asset.bytes()).map_err(Failure::running)?.bytes;
    }
    target.write(written.text().as_bytes()).map_err(Failure::running)?;
    verify(output, &description)?;
    notes.end();
    if !args.quiet {
        say(format_args!("wrote {shown}"));
        if !written.assets.is_empty() {
            let files = count(written.assets.len() as u64, "file");
            let size = torrance_text::human_bytes(bytes as u128);
            say(format_args!("wrote {files} beside it, {size}"));
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// A place for a file; one that is taken needs `force`.
fn destination(path: &Path, force: bool) -> Result<Destination, Failure> {
    if !force && path.exists() {
        return Err(Failure::output(path, "exists already; --force replaces it"));
    }
    Destination::check(path).map_err(Failure::input)
}

/// Reads the scene that was written: it has to be the one that was meant.
fn verify(output: &Path, description: &Description) -> Result<(), Failure> {
    let shown = output.display();
    let read = scene::load(output, &Overrides::default());
    let read = read.map_err(|e| {
        Failure::running(format_args!(
            "output \"{shown}\": the scene cannot be said in TOML\n{}",
            e.report(false)
        ))
    })?;
    match read.description.is_same_scene(&scene::canonical(description)) {
        true => Ok(()),
        false => Err(Failure::running(format_args!(
            "output \"{shown}\": what was written is not the same scene; please report this"
        ))),
    }
}
