//! `torrance convert`: scenes of other formats as TOML.

use crate::ExitCode;
use std::path::{Path, PathBuf};

use torrance_image::film::write::{Destination, NewFolder, UnfinishedFile, WriteError, commit_all};
use torrance_scene::{self as scene, Description, Error, Extent, LoadedScene, Overrides, SceneDocument};

use super::{EXIT_CODES, Failure, Notes, SceneArgs, count, say, signals};

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
    signals::catch(args.quiet);
    let mut notes = Notes::new(args.quiet);
    notes.display.phase(format!("reading {}", args.scene.path.display()));
    let LoadedScene { description, files, .. } = args.scene.load(Overrides::default(), &mut notes)?;
    let spared =
        |place: Destination| place.spare(&files, "the scene").map(|()| place).map_err(Failure::input);
    let target = spared(target)?;
    notes.display.phase("writing");
    let written = scene::write(&description, output, Extent::Short);
    let place = |path: &Path| spared(destination(path, args.force)?);
    let bytes = save(&written, &description, &target, &place)?;
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

/// Writes a scene and the files that come with it, if reading them gives `meant`: all of them, or else none. `place` is where
/// such a file goes. Returns the size of these files, bytes.
fn save(
    written: &SceneDocument,
    meant: &Description,
    target: &Destination,
    place: &dyn Fn(&Path) -> Result<Destination, Failure>,
) -> Result<usize, Failure> {
    // Whether files can be written shows before any is. They are in one folder, which goes if nothing comes to be in it.
    let folder = written.assets.first().and_then(|asset| asset.path.parent());
    let made = folder.map(|folder| {
        NewFolder::make(folder)
            .map_err(|e| Failure::running(format_args!("folder \"{}\": {e}", folder.display())))
    });
    let _made = made.transpose()?.flatten();
    let places: Result<Vec<_>, _> = written.assets.iter().map(|asset| place(&asset.path)).collect();
    let (mut files, mut assets) = (Vec::new(), Vec::new());
    for (asset, place) in written.assets.iter().zip(places?) {
        let file = place.prepare_encoded(asset.bytes()).map_err(Failure::running)?;
        assets.push(asset.unfinished(file.path()));
        files.push(file);
    }
    let text = written.text();
    verify(&target.path, scene::load_unfinished(&target.path, &text, assets), meant)?;
    let bytes = files.iter().map(UnfinishedFile::bytes).sum();
    files.push(target.prepare_encoded(Ok::<_, WriteError>(text)).map_err(Failure::running)?);
    commit_all(files).map_err(Failure::running)?;
    Ok(bytes)
}

/// Checks the scene that is to be written, as it was read: it has to be the one that was meant.
fn verify(output: &Path, read: Result<LoadedScene, Error>, meant: &Description) -> Result<(), Failure> {
    let shown = output.display();
    let read = read.map_err(|e| {
        Failure::running(format_args!(
            "output \"{shown}\": the scene cannot be said in TOML\n{}",
            e.report(false)
        ))
    })?;
    match read.description.is_same_scene(&scene::canonical(meant)) {
        true => Ok(()),
        false => Err(Failure::running(format_args!(
            "output \"{shown}\": what was to be written is not the same scene; please report this"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// Everything in a folder and below, with what is in it.
    fn contents(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
        let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let mut all: Vec<_> = entries
            .flat_map(|path| match path.is_dir() {
                true => contents(&path).into_iter().chain([(path, Vec::new())]).collect(),
                false => vec![(path.clone(), fs::read(path).unwrap())],
            })
            .collect();
        all.sort();
        all
    }

    #[test]
    fn a_scene_that_is_another_replaces_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("m.obj"), "v 0 0 0\nv 1 0 0\nv 0 1 0\nusemtl red\nf 1 2 3\n").unwrap();
        fs::write(at("out.toml"), "mine").unwrap();
        let before = contents(folder.path());
        let meant = scene::load(&at("m.obj"), &Overrides::default()).unwrap().description;
        let mut other = meant.clone();
        other.render.seed ^= 1;
        let written = scene::write(&meant, &at("out.toml"), Extent::Short);
        assert_eq!(written.assets.len(), 1);
        let target = Destination::check(&at("out.toml")).unwrap();
        let save = |meant| save(&written, meant, &target, &|path| destination(path, true));
        let failure = save(&other).unwrap_err();
        assert!(format!("{failure:?}").contains("is not the same scene"), "{failure:?}");
        assert_eq!(contents(folder.path()), before);
        // What was there stays in a folder that was there, too.
        fs::create_dir(at("out-files")).unwrap();
        fs::write(&written.assets[0].path, "old").unwrap();
        let before = contents(folder.path());
        save(&other).unwrap_err();
        assert_eq!(contents(folder.path()), before);
        let bytes = save(&meant).unwrap();
        assert_eq!(fs::read(&written.assets[0].path).unwrap().len(), bytes);
        assert_eq!(fs::read_to_string(at("out.toml")).unwrap(), written.text());
        assert_eq!(contents(folder.path()).len(), before.len());
    }
}
