//! What the camera sees where: shapes, materials, normals, depths. Found on the CPU beside the render, which goes on.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use renderer::assemble::{SceneData, Swatches};
use renderer::bsdf::{Channel, Kind, Study, Subject};
use renderer::render::aov::{Aov, AovPlan, FAR};
use renderer::render::{Budget, Control, FirstHit, FirstHits, Progress, Request};
use renderer::{BuiltScene, DeviceChoice, MachineError, Resident};
use torrance_image::film::Layers;
use torrance_plot::chart::ThemeName;
use torrance_scene::{Description, MaterialKind, NO_MATERIAL, keys_of_path, toml_key};

use crate::hub::{Hub, Look, PageId};
use crate::message::{Picked, Reply, Surface};
use crate::picture::{LAYERS, Picture};

/// Samples of a pixel: enough for edges to be smooth.
const SAMPLES: u32 = 4;

/// Most runs of pixels that a page is told of.
const MOST_RUNS: usize = 20_000;

/// What a layer of surfaces is called elsewhere; `None` for other layers.
fn aov_of(layer: &str) -> Option<Aov> {
    Aov::ALL.into_iter().find_map(|(name, aov)| (name == layer && aov.is_of_first_hit()).then_some(aov))
}

/// Whether a layer is of surfaces.
pub(crate) fn is_of_surfaces(layer: &str) -> bool {
    aov_of(layer).is_some()
}

/// The scene that is looked at, and what has been found of it.
#[derive(Debug, Default)]
pub(crate) struct Surfaces(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    scene: Option<(u32, BuiltScene)>,
    found: Option<Arc<Found>>,
    /// Whether somebody has asked for what was not found yet.
    is_wanted: bool,
}

/// What the camera sees of a scene.
#[derive(Debug)]
struct Found {
    revision: u32,
    description: Arc<Description>,
    hits: FirstHits,
    /// Depths and numbers of shapes and materials.
    layers: Layers,
}

impl Surfaces {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The scene that is to be looked at from now on.
    pub(crate) fn set_scene(&self, revision: u32, scene: BuiltScene) {
        self.lock().scene = Some((revision, scene));
    }

    /// What is known of a pixel. If nothing is, it will be.
    pub(crate) fn at(&self, revision: u32, x: u32, y: u32) -> Option<Surface> {
        let mut state = self.lock();
        match &state.found {
            Some(found) if found.revision == revision => found.surface(x, y),
            _ => {
                state.is_wanted = true;
                None
            }
        }
    }

    /// The revision of the scene, and whether somebody has asked for what is not found of it.
    fn wanted(&self) -> Option<(Option<u32>, bool)> {
        let state = self.lock();
        let (revision, _) = state.scene.as_ref()?;
        let found = state.found.as_ref().map(|found| found.revision);
        Some((Some(*revision), state.is_wanted && found != Some(*revision)))
    }

    /// What is found of a scene, which is looked at if nobody has; `None` if it is not the scene any more.
    fn found(
        &self,
        (hub, cpu): (&Hub, &mut Resident),
        (revision, scene): (u32, &BuiltScene),
    ) -> Result<Option<Arc<Found>>, MachineError> {
        if let Some(found) = self.lock().found.clone().filter(|found| found.revision == revision) {
            return Ok(Some(found));
        }
        let is_old = |state: &State| state.scene.as_ref().is_none_or(|(now, _)| *now != revision);
        let mut go_on = |_: &Progress| match hub.is_over() || is_old(&self.lock()) {
            true => Control::Stop,
            false => Control::Continue,
        };
        let Some(found) = Found::new(cpu, (revision, scene), &mut go_on)? else { return Ok(None) };
        let found = Arc::new(found);
        let mut state = self.lock();
        if !is_old(&state) {
            state.is_wanted = false;
        }
        state.found = Some(Arc::clone(&found));
        Ok(Some(found))
    }
}

/// Looks at scenes until the hub ends. Without a machine to do so, says that to all who ask.
pub(crate) fn run(hub: &Hub, surfaces: &Surfaces, threads: Option<usize>) {
    if let Err(error) = look(hub, surfaces, threads) {
        hub.tell(&Reply::Note { text: format!("surfaces are not looked at any more: {error}") });
        while let Some(looks) = hub.wait_for_looks(|| Some((None, false))) {
            let text = error.to_string();
            looks.iter().for_each(|(page, _)| hub.reply(*page, &Reply::refused(text.clone())));
        }
    }
}

fn look(hub: &Hub, surfaces: &Surfaces, threads: Option<usize>) -> Result<(), MachineError> {
    let machine = match DeviceChoice::Cpu.find() {
        Ok(mut cpu) => cpu.start(threads)?,
        Err(_) => return Ok(()),
    };
    let mut cpu = Resident::new(machine);
    while let Some(looks) = hub.wait_for_looks(|| surfaces.wanted()) {
        let Some((revision, scene)) = surfaces.lock().scene.clone() else { continue };
        let is_chart = |(_, look): &(PageId, Look)| matches!(look, Look::Chart { .. });
        let (charts, picks): (Vec<_>, Vec<_>) = looks.into_iter().partition(is_chart);
        if !picks.is_empty() || charts.is_empty() {
            match surfaces.found((hub, &mut cpu), (revision, &scene))? {
                Some(found) => {
                    for (page, look) in picks {
                        if let Look::Pick { x, y } = look {
                            let cover = found.cover(x, y);
                            hub.reply(page, &Reply::Pick(Picked { cover, ..found.pick(x, y) }));
                        }
                    }
                    found.publish(hub);
                }
                None => hub.look_again(picks),
            }
        }
        for (page, look) in charts {
            if let Look::Chart { path, is_dark } = look {
                let (svg, error) = match chart(&scene.description, &path, is_dark) {
                    Ok(svg) => (Some(svg), None),
                    Err(error) => (None, Some(error)),
                };
                hub.reply(page, &Reply::Chart { path, svg, error });
            }
        }
    }
    Ok(())
}

impl Found {
    /// Looks at a scene, unless it is stopped.
    fn new(
        cpu: &mut Resident,
        (revision, scene): (u32, &BuiltScene),
        go_on: &mut dyn FnMut(&Progress) -> Control,
    ) -> Result<Option<Self>, MachineError> {
        let mut plan = AovPlan::new(LAYERS.into_iter().filter_map(aov_of).collect());
        // An image that has no room for its layers is shown without them.
        let _ = plan.describe(&scene.description);
        let mut short = SceneData::clone(&scene.data);
        short.settings.max_depth = 1;
        let request = Request::new(Budget::of_samples(SAMPLES), plan.options());
        let mut rendered = cpu.render(&short, request, &mut { go_on })?;
        if rendered.interrupted {
            return Ok(None);
        }
        let layers = plan.layers(&rendered, &short);
        let none = FirstHits { width: short.width, height: short.height, pixels: Vec::new() };
        let hits = rendered.first_hits.take().unwrap_or(none);
        Ok(Some(Self { revision, description: Arc::clone(&scene.description), hits, layers }))
    }

    fn index(&self, x: u32, y: u32) -> Option<usize> {
        let FirstHits { width, height, .. } = self.hits;
        (x < width && y < height).then_some(y as usize * width as usize + x as usize)
    }

    /// A number of a layer, which is 1 for the first.
    fn id(&self, layer: &str, i: usize) -> Option<usize> {
        (self.layers.channel(layer)?.samples.get(i) as usize).checked_sub(1)
    }

    fn depth(&self, i: usize) -> Option<f32> {
        self.layers.channel("Z").map(|z| z.samples.get(i)).filter(|z| *z < FAR)
    }

    fn surface(&self, x: u32, y: u32) -> Option<Surface> {
        let i = self.index(x, y)?;
        let hit = self.hits.pixels.get(i)?;
        let Picked { shape, material, .. } = self.pick(x, y);
        let (albedo, normal, point, uv) = (hit.albedo, hit.ns, hit.p, hit.uv);
        Some(Surface { albedo, normal, point, depth: self.depth(i), uv, shape, material })
    }

    /// What is at a pixel.
    fn pick(&self, x: u32, y: u32) -> Picked {
        let i = self.index(x, y);
        let shape = i.and_then(|i| self.id("id.shape", i));
        let material = i.and_then(|i| self.id("id.material", i));
        let material = material.and_then(|m| self.description.materials.get(m));
        let material = material.map(|m| m.name.clone()).filter(|name| name != NO_MATERIAL);
        Picked {
            x,
            y,
            shape: shape.and_then(|s| self.description.all_shapes().nth(s)).map(|s| s.name.clone()),
            shape_path: shape.and_then(|s| shape_path(&self.description, s)),
            material_path: material.as_ref().map(|name| format!("materials.{}", toml_key(name))),
            material,
            point: i.and_then(|i| self.hits.pixels.get(i)?.p),
            depth: i.and_then(|i| self.depth(i)),
            cover: None,
        }
    }

    /// Where the material at a pixel is seen, in runs of pixels; `None` if these are too many to be sent.
    fn cover(&self, x: u32, y: u32) -> Option<Vec<u32>> {
        let ids = &self.layers.channel("id.material")?.samples;
        let material = ids.get(self.index(x, y)?);
        let is_there: Vec<_> = (0..self.hits.pixels.len()).map(|i| ids.get(i) == material).collect();
        let mut runs = Vec::new();
        for (row, y) in is_there.chunks(self.hits.width as usize).zip(0..) {
            let mut x = 0;
            for run in row.chunk_by(bool::eq) {
                let end = x + run.len() as u32;
                if run[0] {
                    runs.push([y, x, end]);
                }
                x = end;
            }
        }
        (runs.len() <= MOST_RUNS).then(|| runs.into_flattened())
    }

    /// Shows layers to those who want them.
    fn publish(&self, hub: &Hub) {
        for (layer, aov) in LAYERS.into_iter().filter_map(|layer| Some((layer, aov_of(layer)?))) {
            if !hub.lacks(layer, self.revision) {
                continue;
            }
            let size = [self.hits.width, self.hits.height];
            let pixels = self.painted(aov);
            hub.publish(Picture::new(self.revision, layer, (size, SAMPLES), pixels, false));
        }
    }

    /// A layer in colours between 0 and 1.
    fn painted(&self, aov: Aov) -> Vec<[f32; 3]> {
        let each = |of: &dyn Fn(&FirstHit) -> [f32; 3]| self.hits.pixels.iter().map(of).collect();
        let half = |v: [f32; 3]| v.map(|c| 0.5 * c + 0.5);
        let ids = |layer: &str| {
            (0..self.hits.pixels.len()).map(|i| self.id(layer, i).map_or([0.0; 3], color_of)).collect()
        };
        match aov {
            Aov::N => each(&|hit| half(hit.ns)),
            Aov::Ng => each(&|hit| half(hit.ng)),
            Aov::Uv => each(&|hit| [hit.uv[0].rem_euclid(1.0), hit.uv[1].rem_euclid(1.0), 0.0]),
            Aov::Z => self.painted_depths(),
            Aov::Shape => ids("id.shape"),
            Aov::Material => ids("id.material"),
            _ => each(&|hit| hit.albedo),
        }
    }

    /// Depths, from white where the nearest is to black.
    fn painted_depths(&self) -> Vec<[f32; 3]> {
        let depths: Vec<_> = (0..self.hits.pixels.len()).map(|i| self.depth(i)).collect();
        let known = || depths.iter().flatten().copied();
        let (near, far) = (known().fold(FAR, f32::min), known().fold(0.0, f32::max));
        let shade = |z: f32| 1.0 - (z - near) / (far - near).max(f32::MIN_POSITIVE) * 0.95;
        depths.iter().map(|z| [z.map_or(0.0, shade); 3]).collect()
    }
}

/// A colour for a number, unlike those of its neighbours: hues go round by the golden ratio.
fn color_of(i: usize) -> [f32; 3] {
    let hue = (i as f32 * 0.618_034).fract() * 6.0;
    [0.0, 4.0, 2.0].map(|offset| {
        let channel = ((hue + offset) % 6.0 - 3.0).abs() - 1.0;
        0.15 + 0.75 * channel.clamp(0.0, 1.0)
    })
}

/// The path of a shape's parameters: those of the world come first, then those of groups.
fn shape_path(description: &Description, shape: usize) -> Option<String> {
    let member = |list: &str, shapes: &[torrance_scene::Shape], i: usize| {
        let shape = shapes.get(i)?;
        let key = if shape.name.is_empty() { i.to_string() } else { toml_key(&shape.name) };
        Some(format!("{list}.{key}"))
    };
    let mut i = shape;
    if i < description.shapes.len() {
        return member("shapes", &description.shapes, i);
    }
    i -= description.shapes.len();
    for group in &description.groups {
        if i < group.shapes.len() {
            return member(&format!("groups.{}.shapes", toml_key(&group.name)), &group.shapes, i);
        }
        i -= group.shapes.len();
    }
    None
}

/// The cross-section of a material, as SVG.
fn chart(description: &Description, path: &str, is_dark: bool) -> Result<String, String> {
    let keys = keys_of_path(path).map_err(|error| error.to_string())?;
    let name = keys.get(1).filter(|_| keys[0] == "materials").ok_or("charts are of materials")?;
    let material = description.materials.iter().find(|material| material.name == *name);
    let material = material.ok_or_else(|| format!("the scene has no material {name:?}"))?.clone();
    if matches!(material.kind, MaterialKind::Blend(_)) {
        return Err("a blend has no chart of its own; those that it is made of have".to_owned());
    }
    let swatches = Swatches::new(&description.images, &description.textures).map_err(|e| e.to_string())?;
    let study = Study {
        name: name.clone(),
        subject: Subject::new(material, description.render.masking, swatches),
        angles: vec![0.0, 30.0, 60.0, 80.0],
        azimuth: 0.0,
        channel: Channel::Luminance,
        theme: if is_dark { ThemeName::Dark } else { ThemeName::Light },
        size: None,
    };
    let chart = study.chart(Kind::CrossSection).map_err(|error| error.to_string())?;
    let (width, height) = chart.size;
    chart.drawing.svg(width, height).map_err(|error| error.to_string())
}
