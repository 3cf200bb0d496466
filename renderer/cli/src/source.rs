//! The arguments that say which scene to read, and how.

use std::path::{Path, PathBuf};

use torrance_scene::{
    self as scene, Backfaces, Error, GltfChoice, LightChoice, LoadedScene, Options, Overrides, Problem,
    PunctualUnits, SceneValues, Severity, Surroundings, Up,
};

use clap::{ArgMatches, Args, Command};
use renderer::assemble::{Flattened, SceneData};

use super::{Failure, Notes, color, shard, values};

/// A scene file, and how it is read.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct SceneArgs {
    /// Scene file
    #[arg(value_name = "SCENE")]
    pub(super) path: PathBuf,

    /// Let the scene read files that are not in its folder
    #[arg(long)]
    allow_external: bool,

    /// Take mistakes in models (glTF, OBJ, PLY) as errors that warnings tell of otherwise, such as missing textures
    #[arg(long)]
    strict: bool,

    /// Folders in which a Mitsuba scene looks for files before its own, and which it may read, separated by ;
    #[arg(long = "append", short = 'a', value_name = "FOLDERS", value_delimiter = ';')]
    search: Vec<PathBuf>,

    /// Set a parameter of a Mitsuba scene, which writes it as $NAME
    #[arg(long, short = 'D', value_name = "NAME=VALUE", value_parser = define)]
    define: Vec<(String, String)>,

    /// Set a parameter of the scene, as `torrance inspect --paths` lists them
    #[arg(long, value_name = "PATH=VALUE", value_parser = setting)]
    pub(super) set: Vec<(String, String)>,

    #[command(flatten)]
    gltf: GltfArgs,

    /// Axis that points up in an OBJ or PLY file: x, y, z, -x, -y or -z [default: y]
    #[arg(long, value_name = "AXIS", value_parser = str::parse::<Up>, allow_hyphen_values = true)]
    up: Option<Up>,

    /// Radius of the points of a PLY file without faces, or of points and lines in a glTF file [default: as their density and
    /// extent ask for]
    #[arg(long, value_name = "METRES", value_parser = radius)]
    point_radius: Option<f32>,

    /// Light of the scene. Models (glTF, OBJ, PLY) have no surroundings of their own
    #[arg(long, value_name = "NAME", default_value = "auto")]
    light: LightName,

    /// Light from all around, in place of the scene's: an image file twice as wide as high, a colour such as 0.5, 1,0.9,0.8 or
    /// "#ffe0c0", or studio
    #[arg(long, value_name = "FILE|COLOUR", value_parser = str::parse::<Surroundings>, allow_hyphen_values = true)]
    environment: Option<Surroundings>,

    /// How to take the candela and lux of lights in glTF files
    #[arg(long, value_name = "NAME", default_value = "auto")]
    punctual_units: UnitsName,

    /// What to do with the backs of materials in a glTF file that are not doubleSided
    #[arg(long, value_name = "NAME", default_value = "keep")]
    backfaces: BackfacesName,
}

/// The names of `--backfaces`.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum BackfacesName {
    /// They are like the fronts
    Keep,
    /// As glTF says: nothing is there for rays that come from behind, but for glass that light leaves there
    Cull,
}

impl From<BackfacesName> for Backfaces {
    fn from(name: BackfacesName) -> Self {
        match name {
            BackfacesName::Keep => Self::Keep,
            BackfacesName::Cull => Self::Cull,
        }
    }
}

/// What of a glTF file is shown.
#[derive(Debug, Clone, clap::Args)]
struct GltfArgs {
    /// Camera of a glTF file: its name, that of its node, or its number in the file, from 0 [default: the first]
    #[arg(long, value_name = "NAME|N")]
    camera: Option<String>,

    /// Scene of a glTF file: its name, or its number in the file, from 0 [default: that of the file, or the first]
    #[arg(long, id = "gltf_scene", value_name = "NAME|N")]
    scene: Option<String>,

    /// Variant of the materials of a glTF file: its name, or its number in the file, from 0 [default: none of them]
    #[arg(long, value_name = "NAME|N")]
    variant: Option<String>,

    /// Animation of a glTF file: its name, or its number in the file, from 0 [default: none, or the first if there is --at]
    #[arg(long, value_name = "NAME|N")]
    animation: Option<String>,

    /// Time of the animation of a glTF file [default: 0]
    #[arg(long, value_name = "SECONDS", value_parser = values::seconds, allow_negative_numbers = true)]
    at: Option<f32>,
}

/// The names of `--punctual-units`.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum UnitsName {
    /// As physical light if it is far too bright otherwise
    Auto,
    /// Physical light, as Blender exports it: 683 lm are 1 W
    Standard,
    /// As most viewers take them: 1 lx is 1 W/m², in the unit of emission
    Unitless,
}

impl From<UnitsName> for PunctualUnits {
    fn from(name: UnitsName) -> Self {
        match name {
            UnitsName::Auto => Self::Auto,
            UnitsName::Standard => Self::Standard,
            UnitsName::Unitless => Self::Unitless,
        }
    }
}

/// The names of `--light`.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum LightName {
    /// The scene's own; a model whose own light gives less than 10 % is put into a studio
    Auto,
    /// The scene's own alone
    Scene,
    /// The scene's own, in a studio
    Default,
}

impl From<LightName> for LightChoice {
    fn from(name: LightName) -> Self {
        match name {
            LightName::Auto => Self::Auto,
            LightName::Scene => Self::Scene,
            LightName::Default => Self::Default,
        }
    }
}

fn radius(text: &str) -> Result<f32, String> {
    let radius = text.parse().ok().filter(|radius| (1e-9..=1e9).contains(radius));
    radius.ok_or_else(|| "a radius is a number from 1e-9 to 1e9".to_owned())
}

fn define(text: &str) -> Result<(String, String), String> {
    pair(text.split_once('='), "expected NAME=VALUE")
}

fn setting(text: &str) -> Result<(String, String), String> {
    const EXPECTED: &str = "expected PATH=VALUE, as in materials.ball.roughness=0.3";
    match scene::path_and_value(text) {
        None if text.contains('=') => {
            Err(format!("every = is in quotes of the path, or one of them is not closed; {EXPECTED}"))
        }
        split => pair(split, EXPECTED),
    }
}

fn pair(split: Option<(&str, &str)>, expected: &str) -> Result<(String, String), String> {
    let (name, value) = split.filter(|(name, _)| !name.is_empty()).ok_or(expected)?;
    Ok((name.to_owned(), value.to_owned()))
}

impl GltfArgs {
    fn choice(&self) -> GltfChoice {
        let Self { camera, scene, variant, animation, at } = self.clone();
        GltfChoice { camera, scene, variant, animation, at }
    }
}

/// Those arguments of a command that say which scene to read, and how, as shells read them.
pub(super) fn scene_arguments(given: &ArgMatches) -> String {
    let command = SceneArgs::augment_args(Command::new("scene"));
    let given = given.subcommand().map_or(given, |(_, given)| given);
    shard::arguments((&command, given), |_| true)
}

impl SceneArgs {
    /// Reads the scene once more, without a word to the terminal.
    ///
    /// # Errors
    /// What is wrong with it, as it would be told there, but for colours.
    pub(super) fn read_again(&self, overrides: Overrides) -> Result<SceneValues, String> {
        self.read(overrides, false, &mut |_| {}).map(|(values, _)| values)
    }

    /// Reads the scene with its parameters, and sets those that are to be. `opened` is called before that.
    ///
    /// # Errors
    /// A report of what is wrong.
    fn read(
        &self,
        overrides: Overrides,
        color: bool,
        opened: &mut dyn FnMut(&SceneValues),
    ) -> Result<(SceneValues, LoadedScene), String> {
        let open = SceneValues::open(&self.path, &self.options(overrides));
        let mut values = open.map_err(|error| error.report(color))?;
        opened(&values);
        for (path, value) in &self.set {
            let failed = |message| format!("error: --set {path}={value}: {message}\n");
            values.set(path, value).map_err(failed)?;
        }
        let loaded = values.load().map_err(|error| match &self.set[..] {
            [] => error.report(color),
            set => {
                let set: Vec<_> = set.iter().map(|(path, value)| format!("--set {path}={value}")).collect();
                let problems: Vec<_> =
                    error.problems.iter().map(|problem| problem.message.as_str()).collect();
                format!("error: {}: {}\n", set.join(" "), problems.join("; "))
            }
        })?;
        Ok((values, loaded))
    }

    /// Reads the scene, and tells what is suspicious about it.
    pub(super) fn load(&self, overrides: Overrides, notes: &mut Notes) -> Result<LoadedScene, Failure> {
        if !self.set.is_empty() {
            return self.open(overrides, notes).map(|(_, loaded)| loaded);
        }
        read(&self.path, &self.options(overrides), notes)
    }

    /// Reads the scene with its parameters, those set that are to be, and tells what is suspicious.
    pub(super) fn open(
        &self,
        overrides: Overrides,
        notes: &mut Notes,
    ) -> Result<(SceneValues, LoadedScene), Failure> {
        let mut opened = |values: &SceneValues| {
            warn(values.warnings(), notes);
            notes.say(values.notes());
        };
        let (values, loaded) = self.read(overrides, color(), &mut opened).map_err(Failure::input_report)?;
        warn(&loaded.warnings, notes);
        Ok((values, loaded))
    }

    /// The name of the file, as images and titles say it.
    pub(super) fn file_name(&self) -> String {
        file_name(&self.path)
    }

    /// Another scene that is read in the same way, with nothing set.
    pub(super) fn of_other(&self, path: &Path) -> Self {
        Self { path: path.to_owned(), set: Vec::new(), ..self.clone() }
    }

    fn options(&self, overrides: Overrides) -> Options {
        Options {
            overrides,
            allow_external: self.allow_external,
            strict: self.strict,
            search: self.search.clone(),
            defines: self.define.clone(),
            gltf: self.gltf.choice(),
            up: self.up,
            point_radius: self.point_radius,
            light: self.light.into(),
            punctual_units: self.punctual_units.into(),
            backfaces: self.backfaces.into(),
            surroundings: self.environment.clone(),
        }
    }
}

/// The name of a file, as images and titles say it.
pub(super) fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Reads a scene, and tells what is suspicious.
fn read(path: &Path, options: &Options, notes: &mut Notes) -> Result<LoadedScene, Failure> {
    let loaded = scene::load_with(path, options).map_err(wrong)?;
    warn(&loaded.warnings, notes);
    notes.say(&loaded.notes);
    Ok(loaded)
}

/// Reads a scene, and builds what machines take.
pub(super) fn build(path: &Path, overrides: Overrides, notes: &mut Notes) -> Result<SceneData, Failure> {
    built(read(path, &Options { overrides, ..Options::default() }, notes)?, path)
}

/// Builds what machines take of a scene that was read of `path`.
pub(super) fn built(loaded: LoadedScene, path: &Path) -> Result<SceneData, Failure> {
    let wrong = |e| Failure::input(format_args!("{}: {e}", path.display()));
    let flattened = Flattened::new(&loaded.description).map_err(wrong)?;
    // As in a render: a large mesh is not there twice.
    drop(loaded);
    flattened.build().map_err(wrong)
}

fn wrong(error: Error) -> Failure {
    Failure::input_report(error.report(color()))
}

fn warn(warnings: &[Problem], notes: &mut Notes) {
    for problem in warnings {
        notes.warn_with(problem.to_string(), &problem.report(Severity::Warning, color()));
    }
}
