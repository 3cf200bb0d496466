//! Provenance: the render's metadata in image files.

use torrance_image::film::encode::{Provenance, SOFTWARE};
use torrance_image::film::layers::CLAMP_INDIRECT;
use torrance_scene::{Named, RenderSettings};

use super::aov::of_camera;
use super::checkpoint::KEY;
use super::{Identity, NoiseGoal, Options, Rendered};
use crate::assemble::SceneData;

/// Cost of a render.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct RenderRecord {
    /// How long it took, seconds.
    pub seconds: f64,
    /// Paths traced.
    pub paths: u64,
    /// Samples per pixel taken: those of the pixel that has fewest.
    pub spp: u32,
    /// Samples per pixel, on average.
    pub mean_spp: f64,
    /// Samples that were NaN or infinite, and left out.
    pub rejected: u64,
}

impl From<&Rendered> for RenderRecord {
    fn from(Rendered { film, progress, .. }: &Rendered) -> Self {
        Self {
            seconds: progress.elapsed.as_secs_f64(),
            paths: progress.paths,
            spp: match progress.has_rounds {
                true => film.fewest_spp().try_into().unwrap_or(u32::MAX),
                false => progress.spp,
            },
            mean_spp: film.mean_spp(),
            rejected: film.rejected(),
        }
    }
}

impl RenderRecord {
    /// Millions of paths per second.
    pub fn mpaths_per_s(&self) -> f64 {
        self.paths as f64 / self.seconds.max(1e-9) / 1e6
    }
}

/// Provenance of a scene's image: `name` is the scene's file, `scene_hash` its
/// [`SceneData::fingerprint`].
pub fn provenance(
    name: String,
    device: String,
    (scene, scene_hash): (&SceneData, u64),
    settings: &RenderSettings,
    record: &RenderRecord,
) -> Provenance {
    Provenance {
        software: SOFTWARE.into(),
        scene: name,
        device,
        scene_hash,
        spp: record.spp,
        seed: scene.settings.seed,
        settings: [attributes(settings), of_camera(&scene.camera, scene.height)].concat(),
        seconds: record.seconds,
        relative_stderr: None,
        samples: None,
    }
}

/// What tells renders apart of which samples can be mixed. `first_sample` is the first one of each pixel.
pub fn identity(
    (scene, scene_hash): (&SceneData, u64),
    settings: &RenderSettings,
    first_sample: u32,
    (options, goal): (&Options<'_>, Option<&NoiseGoal>),
) -> Identity {
    let key = scene.key_of_render(scene_hash, 0, env!("CARGO_PKG_VERSION"));
    let mattes = options.mattes.map(|mattes| mattes.kinds().collect::<Vec<_>>().join(" and "));
    let groups = options.light_groups.map(|groups| format!("light groups {}", groups.names().join(" and ")));
    let light = options.shorter.then(|| "light".to_owned());
    let layers = [light, options.first_hits.map(|_| "first hits".to_owned()), mattes, groups];
    let layers = match layers.into_iter().flatten().collect::<Vec<_>>() {
        none if none.is_empty() => "none".to_owned(),
        some => format!("of {}", some.join(" and ")),
    };
    let lights = if scene.lights.tree.nodes.is_empty() { "power" } else { "tree" };
    let roulette = settings.rr_depth.map_or("off".into(), |n| n.to_string());
    let clamping = settings.clamp_indirect.map_or("off".into(), |most| most.to_string());
    let all = [
        ("scene", format!("{scene_hash:016x}")),
        ("size", format!("{}x{}", scene.width, scene.height)),
        ("seed", scene.settings.seed.to_string()),
        ("first sample", first_sample.to_string()),
        ("sampler", settings.sampler.word().into()),
        ("direct", settings.direct.word().into()),
        ("lights", lights.into()),
        ("guiding", settings.guiding.word().into()),
        ("caustics", settings.caustics.word().into()),
        ("clamping", clamping),
        ("masking", settings.masking.word().into()),
        ("longest path", settings.max_depth.to_string()),
        ("Russian roulette", roulette),
        ("layers", layers),
        ("version", env!("CARGO_PKG_VERSION").into()),
        (KEY, format!("{key:016x}")),
    ];
    // Samples of all pixels are the same, whatever they are taken for.
    let noise = match goal {
        Some(NoiseGoal::Pixels(goal)) if !goal.is_uniform => Some(("noise", goal.to_string())),
        _ => None,
    };
    all.into_iter().chain(noise).map(|(name, value)| (name.to_owned(), value)).collect()
}

/// The settings of a render, by the names of their attributes.
fn attributes(settings: &RenderSettings) -> Vec<(&'static str, String)> {
    let always = [
        ("sampler", settings.sampler.word().into()),
        ("direct", settings.direct.word().into()),
        ("masking", settings.masking.word().into()),
        ("maxDepth", settings.max_depth.to_string()),
        ("rrDepth", settings.rr_depth.map_or("off".into(), |n| n.to_string())),
    ];
    let clamping = settings.clamp_indirect.map(|most| (CLAMP_INDIRECT, most.to_string()));
    always.into_iter().chain(clamping).collect()
}
