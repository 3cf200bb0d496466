//! Scenes that stay on machines from one render to the next.

use std::collections::BTreeSet;
use std::collections::HashMap;
use std::path::PathBuf;
use std::process;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use renderer::assemble::SceneData;
use renderer::render::aov::{self, Aov, AovPlan};
use renderer::render::light_groups::LightChoice;
use renderer::render::{Budget, Control, ErrorGoal, NoiseGoal, Options, Progress, Rendered, Request};
use renderer::{
    BuiltScene, DeviceImage, Fleet, FleetChoice, Integrators, LiveScene, LiveSceneError, MachineError,
    Resident,
};
use torrance_image::film::error::ErrorMeasure;
use torrance_image::film::exposure::Exposure;
use torrance_image::film::tone::Tonemap;
use torrance_image::film::white_balance::WhiteBalance;
use torrance_scene::limits::MAX_SPP;
use torrance_scene::{Options as LoadOptions, PathError, SceneValues};

use crate::asset::Asset;
use crate::errors;
use crate::image::Image;
use crate::pool::{MOMENT, locked_soon, watched, work};
use crate::source::Made;
use crate::values::{to_python, to_toml};

/// A scene: its values, and what is made of them.
#[pyclass(frozen, module = "torrance._torrance")]
pub(crate) struct Scene {
    live: Mutex<LiveScene>,
    /// Locked before `live`.
    machines: Mutex<Machines>,
    /// The thread that has it rendered now.
    renderer: Mutex<Option<ThreadId>>,
    /// What its images say that it is called.
    name: String,
}

/// Machines of a process, by their names and threads, with the scene on them.
struct Machines {
    residents: HashMap<(String, Option<usize>), Resident>,
    process: u32,
}

/// How to render.
struct Spec {
    spp: Option<u32>,
    noise: Option<NoiseGoal>,
    time: Option<Duration>,
    size: Option<(u32, u32)>,
    seed: Option<u32>,
    samples: Option<(u32, u32)>,
    device: String,
    threads: Option<usize>,
    aovs: BTreeSet<Aov>,
    lights: BTreeSet<LightChoice>,
}

#[pymethods]
impl Scene {
    /// Reads a scene file.
    #[staticmethod]
    fn open(py: Python<'_>, path: PathBuf, allow_external: bool) -> PyResult<Self> {
        let options = LoadOptions { allow_external, ..LoadOptions::default() };
        let values = work(py, || SceneValues::open(&path, &options)).map_err(|e| errors::of_scene(&e))?;
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Ok(Self::new(values, name))
    }

    /// Reads a scene of values, which names files in `folder`, and assets by their indices, as in `memory/0.ply`.
    #[staticmethod]
    fn of_values(
        py: Python<'_>,
        values: &Bound<'_, PyAny>,
        folder: PathBuf,
        assets: Vec<Py<Asset>>,
        allow_external: bool,
    ) -> PyResult<Self> {
        let text = toml::to_string(&to_toml(values)?).map_err(errors::of_value)?;
        let options = LoadOptions { allow_external, ..LoadOptions::default() };
        let assets = assets.iter().map(|asset| asset.get().in_folder(&folder)).collect();
        let values = work(py, || SceneValues::parse(&text, &folder, assets, &options));
        Ok(Self::new(values.map_err(|e| errors::of_scene(&e))?, "scene".to_owned()))
    }

    /// Warnings of the scene file.
    fn warnings(&self, py: Python<'_>) -> Vec<String> {
        self.live(py).values().warnings().iter().map(|problem| problem.message.clone()).collect()
    }

    /// Path, value and what it takes, of each parameter.
    fn parameters(&self, py: Python<'_>) -> Vec<(String, String, String)> {
        let list = self.live(py).values().list();
        list.into_iter().map(|parameter| (parameter.path, parameter.value, parameter.takes)).collect()
    }

    fn get(&self, py: Python<'_>, path: &str) -> PyResult<Py<PyAny>> {
        let value = self.live(py).values().find(path).map_err(of_path)?;
        let value = value.ok_or_else(|| of_path(PathError::NoValue(path.to_owned())))?;
        to_python(py, &value)
    }

    fn takes(&self, py: Python<'_>, path: &str) -> PyResult<String> {
        self.live(py).values().takes(path).map_err(of_path)
    }

    /// Sets a value that may name assets, which are not in files. Those that nothing names any more are forgotten.
    fn set(
        &self,
        py: Python<'_>,
        path: &str,
        value: &Bound<'_, PyAny>,
        assets: Vec<Py<Asset>>,
    ) -> PyResult<()> {
        let value = to_toml(value)?;
        self.live(py).change(|values| {
            if !assets.is_empty() {
                let folder = values.folder().to_owned();
                values.add(assets.iter().map(|asset| asset.get().in_folder(&folder)).collect());
            }
            let set = values.set_value(path, &value).map_err(of_path);
            if !assets.is_empty() {
                values.forget_unnamed(&values.folder().join(Asset::FOLDER));
            }
            set
        })
    }

    /// A copy, whose parameters are its own; what was read and built is shared.
    fn copy(&self, py: Python<'_>) -> Self {
        Self::of(self.live(py).clone(), self.name.clone())
    }

    /// Gives it the parameters of another, a copy of it or the scene that it is a copy of.
    fn assign(&self, py: Python<'_>, other: &Self) {
        let others = other.live(py).values().clone();
        self.live(py).change(|values| *values = others);
    }

    /// Renders. `observe` is called several times a second with the samples per pixel so far, those wanted, and seconds; false
    /// stops the render.
    #[pyo3(signature = (*, spp, noise, noise_of, percentile, uniform, time, size, seed, samples, device, threads, aovs, observe))]
    #[expect(clippy::too_many_arguments, reason = "each has a name where it is called")]
    fn render(
        &self,
        py: Python<'_>,
        spp: Option<u32>,
        noise: Option<f64>,
        noise_of: String,
        percentile: f64,
        uniform: bool,
        time: Option<f64>,
        size: Option<(u32, u32)>,
        seed: Option<u32>,
        samples: Option<(u32, u32)>,
        device: String,
        threads: Option<usize>,
        aovs: Vec<String>,
        observe: Option<Py<PyAny>>,
    ) -> PyResult<Image> {
        let lights = aovs.iter().filter_map(|name| LightChoice::of_layer(name)).collect();
        let aovs = aovs
            .iter()
            .filter(|name| LightChoice::of_layer(name).is_none())
            .map(|name| errors::named("aovs: unknown layer", name, &Aov::ALL))
            .collect::<PyResult<_>>()?;
        let time = time.map(Duration::try_from_secs_f64).transpose().map_err(errors::of_value)?;
        let goal = |bound| goal(bound, &noise_of, percentile, uniform);
        let noise = noise.map(goal).transpose()?;
        let spec = Spec { spp, noise, time, size, seed, samples, device, threads, aovs, lights };
        if *locked(&self.renderer) == Some(thread::current().id()) {
            let told = "what is told of a render cannot render the same scene, only a copy of it";
            return Err(errors::of_value(told));
        }
        let watch = Watch::new(observe);
        // Not by a thread of a pool, which may hold the lock of another render while it waits for this one.
        let mut machines = locked_soon(py, &self.machines)?;
        let machines = &mut *machines;
        let made = watched(py, &|| watch.look(), || {
            let _rendering = Rendering::begin(&self.renderer, watch.caller);
            let built = locked(&self.live).build(spec.size);
            machines.render(built.map_err(of_live)?, &spec, &self.name, &watch)
        })?;
        match watch.into_raised() {
            None => Ok(Image::from(made)),
            Some(error) if error.is_instance_of::<pyo3::exceptions::PyKeyboardInterrupt>(py) => {
                Err(errors::interrupted(py, Image::from(made)))
            }
            Some(error) => Err(error),
        }
    }
}

fn of_path(error: PathError) -> PyErr {
    errors::of_value(error)
}

/// What a mutex holds, for a thread that other threads of Python do not wait for.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Scene {
    fn new(values: SceneValues, name: String) -> Self {
        Self::of(LiveScene::new(values), name)
    }

    fn of(live: LiveScene, name: String) -> Self {
        let machines = Machines { residents: HashMap::new(), process: process::id() };
        Self { live: Mutex::new(live), machines: Mutex::new(machines), renderer: Mutex::new(None), name }
    }

    /// Its values. Other threads of Python go on while this one waits for them.
    fn live(&self, py: Python<'_>) -> MutexGuard<'_, LiveScene> {
        self.live.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner)
    }
}

/// As long as a thread renders a scene.
struct Rendering<'a>(&'a Mutex<Option<ThreadId>>);

impl<'a> Rendering<'a> {
    fn begin(renderer: &'a Mutex<Option<ThreadId>>, caller: ThreadId) -> Self {
        *locked(renderer) = Some(caller);
        Self(renderer)
    }
}

impl Drop for Rendering<'_> {
    fn drop(&mut self) {
        *locked(self.0) = None;
    }
}

/// The exception of values that do not make a scene.
fn of_live(error: LiveSceneError) -> PyErr {
    match error {
        LiveSceneError::Values(error) => errors::of_scene(&error),
        LiveSceneError::Assemble(error) => errors::of_value(error),
    }
}

impl Machines {
    fn render(&mut self, built: BuiltScene, spec: &Spec, name: &str, watch: &Watch) -> PyResult<Made> {
        let (description, mut data) = (built.description.clone(), built.data.clone());
        if let Some(seed) = spec.seed {
            Arc::make_mut(&mut data).settings.seed = seed;
        }
        if let Some(goal) = &spec.noise {
            goal.check(&data).map_err(errors::of_value)?;
        }
        let settings =
            torrance_scene::RenderSettings { seed: data.settings.seed, ..description.render.clone() };
        let mut plan = AovPlan::new(aov::DEFAULT.into_iter().chain(spec.aovs.iter().copied()).collect())
            .with_lights(spec.lights.clone());
        plan.describe(&description).map_err(errors::of_value)?;
        let budget = spec.budget(settings.spp);
        let options = plan.options();
        let request = Request { first_sample: spec.first_sample(), ..Request::new(budget, options) };
        let (rendered, device, on_device) =
            self.render_on((&spec.device, spec.threads), &data, request, watch)?;
        let noise_goal = spec.noise.filter(|_| !rendered.interrupted).and_then(|goal| goal.of_pixels());
        let name = name.to_owned();
        Ok(Made { rendered, plan, scene: data, built, settings, device, on_device, name, noise_goal })
    }

    /// Renders on a machine that is kept, or on several that are not. The second value is their name.
    fn render_on(
        &mut self,
        (name, threads): (&str, Option<usize>),
        scene: &SceneData,
        request: Request<'_>,
        watch: &Watch,
    ) -> PyResult<On> {
        if self.process != process::id() {
            // Machines have threads, and contexts of a driver, that a forked process has not.
            std::mem::take(&mut self.residents).into_values().for_each(std::mem::forget);
            self.process = process::id();
        }
        let wrong = |e| errors::of_value(format_args!("device {name:?}: {e}"));
        let choice: FleetChoice = name.parse().map_err(wrong)?;
        let integrators = Integrators::default();
        let FleetChoice::One(choice) = choice else {
            return render_on_all((name, threads), &choice, scene, request, watch);
        };
        let key = (name.to_owned(), threads);
        let mut machine = match self.residents.remove(&key) {
            Some(machine) => machine,
            None => {
                let mut device = choice.find().map_err(|e| errors::of_device(name, &e))?;
                Resident::new(device.start(threads).map_err(|e| errors::of_machine(&e))?)
            }
        };
        let integrator = integrators.of(machine.is_gpu());
        let request = Request { options: Options { integrator, ..request.options }, ..request };
        // One that fails is not used again.
        let rendered = machine.render(scene, request, &mut |progress: &Progress| watch.observe(progress));
        let rendered = rendered.map_err(|e| errors::of_machine(&e))?;
        let shown = machine.name();
        // Without room for it, the image is on the host alone.
        let on_device = machine.image().ok().flatten();
        self.residents.insert(key, machine);
        Ok((rendered, shown, on_device))
    }
}

/// A render, the name of the machine, and the image on it.
type On = (Rendered, String, Option<Arc<DeviceImage>>);

/// Renders on several machines together.
fn render_on_all(
    (name, threads): (&str, Option<usize>),
    choice: &FleetChoice,
    scene: &SceneData,
    request: Request<'_>,
    watch: &Watch,
) -> PyResult<On> {
    let mut devices = choice.find().map_err(|e| errors::of_device(name, &e))?;
    let (failing, left_out) = channel::<MachineError>();
    let machines = Fleet::start(&mut devices, threads, Integrators::default(), failing);
    let mut fleet = machines.map_err(|e| errors::of_machine(&e))?;
    let mut scene = scene.clone();
    let rendered = fleet.render_last(&mut scene, request, &mut |progress: &Progress| watch.observe(progress));
    for error in left_out.try_iter() {
        errors::warn(&format!("{error}; it was left out"))?;
    }
    Ok((rendered.map_err(|e| errors::of_machine(&e))?, fleet.names().join(" + "), None))
}

/// The noise that ends a render.
fn goal(bound: f64, of: &str, percentile: f64, is_uniform: bool) -> PyResult<NoiseGoal> {
    let displayed = ErrorMeasure::Displayed {
        exposure: Exposure::Stops(0.0),
        white_balance: WhiteBalance::default(),
        tonemap: Tonemap::default(),
    };
    let known = [("image", None), ("pixels", Some(ErrorMeasure::Relative)), ("display", Some(displayed))];
    let goal = |measure| ErrorGoal { bound, measure, percentile, is_uniform };
    let measure = errors::named("noise_of: unknown", of, &known)?;
    Ok(measure.map_or(NoiseGoal::Image(bound), |measure| NoiseGoal::Pixels(goal(measure))))
}

impl Spec {
    /// What is to be rendered of a scene that asks for `spp` samples per pixel.
    fn budget(&self, spp: u32) -> Budget {
        let is_open = self.time.is_some() || self.noise.is_some();
        let spp = self.spp.unwrap_or(if is_open { MAX_SPP } else { spp });
        let spp = self.samples.map_or(spp, |(from, to)| to - from);
        Budget { spp, time: self.time, noise: self.noise }
    }

    fn first_sample(&self) -> u32 {
        self.samples.map_or(0, |(from, _)| from)
    }
}

/// Whether Python lets a render go on: no signal has come, and the function that is told of it says so.
struct Watch {
    observe: Option<Py<PyAny>>,
    /// The thread that Python has called, which asks it.
    caller: ThreadId,
    progress: Mutex<Option<Progress>>,
    last: Mutex<Instant>,
    is_stopped: AtomicBool,
    /// What ends the render.
    raised: Mutex<Option<PyErr>>,
}

impl Watch {
    fn new(observe: Option<Py<PyAny>>) -> Self {
        Self {
            observe,
            caller: thread::current().id(),
            progress: Mutex::new(None),
            last: Mutex::new(Instant::now()),
            is_stopped: AtomicBool::new(false),
            raised: Mutex::new(None),
        }
    }

    /// What a render calls after launches.
    fn observe(&self, progress: &Progress) -> Control {
        *locked(&self.progress) = Some(*progress);
        if thread::current().id() == self.caller && locked(&self.last).elapsed() >= MOMENT {
            self.look();
        }
        if self.is_stopped.load(Ordering::Relaxed) { Control::Stop } else { Control::Continue }
    }

    /// Asks Python.
    fn look(&self) {
        if self.is_stopped.load(Ordering::Relaxed) {
            return;
        }
        let goes_on = Python::attach(|py| self.ask(py));
        if !matches!(goes_on, Ok(true)) {
            self.is_stopped.store(true, Ordering::Relaxed);
            *locked(&self.raised) = goes_on.err();
        }
        *locked(&self.last) = Instant::now();
    }

    fn ask(&self, py: Python<'_>) -> PyResult<bool> {
        py.check_signals()?;
        let progress = *locked(&self.progress);
        let (Some(observe), Some(progress)) = (&self.observe, progress) else { return Ok(true) };
        let told = (progress.mean_spp(), progress.spp_target, progress.elapsed.as_secs_f64());
        let answer = observe.call1(py, told)?;
        Ok(answer.is_none(py) || answer.is_truthy(py)?)
    }

    fn into_raised(self) -> Option<PyErr> {
        self.raised.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}
