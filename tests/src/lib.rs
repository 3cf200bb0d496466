//! Shared code of the integration tests: rendering on every machine there is, and comparing with oracles.

pub mod arrays;
pub mod closed;
pub mod compare;
pub mod oracle;
pub mod replay;
pub mod tampered;

use std::path::{Path, PathBuf};

use renderer::assemble::{SceneData, assemble};
use renderer::render::{Budget, Control, Options, Rendered};
use torrance_gpu::backend::cuda;
use torrance_image::film::Film;
use torrance_scene::{Description, Overrides, load};

/// Something that renders.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Machine {
    /// All cores of the host.
    Cpu,
    /// The first CUDA device.
    Cuda,
}

/// The host, and the first GPU if there is one; says so if there is none.
pub fn machines() -> Vec<Machine> {
    match cuda::driver::load() {
        Ok(()) => vec![Machine::Cpu, Machine::Cuda],
        Err(_) => {
            eprintln!("skipped: no CUDA device");
            vec![Machine::Cpu]
        }
    }
}

impl Machine {
    /// Renders a scene with `spp` samples a pixel.
    ///
    /// # Panics
    /// If rendering fails: tests want to know.
    pub fn render(self, scene: &SceneData, spp: u32) -> Film {
        self.render_with(scene, spp, Options::default()).film
    }

    /// As [`Machine::render`], and keeps more than the image.
    ///
    /// # Panics
    /// If rendering fails: tests want to know.
    pub fn render_with(self, scene: &SceneData, spp: u32, options: Options<'_>) -> Rendered {
        let budget = Budget::of_samples(spp);
        let go_on = &mut |_: &_| Control::Continue;
        self.start().render(scene, budget, options, go_on).expect("rendering succeeds")
    }

    /// Starts it.
    ///
    /// # Panics
    /// If it does not start.
    pub fn start(self) -> renderer::Machine {
        match self {
            Self::Cpu => renderer::Machine::cpu(None).expect("threads start"),
            Self::Cuda => renderer::Machine::cuda(0).expect("the device opens"),
        }
    }
}

/// A scene of `tests/references`, described.
///
/// # Panics
/// If it does not load.
pub fn reference_scene(name: &str) -> Description {
    let folder = references().join(name);
    let path =
        ["scene.toml", "scene.xml"].map(|file| folder.join(file)).into_iter().find(|path| path.exists());
    let path = path.unwrap_or_else(|| panic!("{} has no scene", folder.display()));
    load(&path, &Overrides::default()).expect("the scene loads").description
}

/// A scene of `scenes`, described.
///
/// # Panics
/// If it does not load.
pub fn gallery_scene(name: &str) -> Description {
    let path = references().join("../../scenes").join(name).with_extension("toml");
    load(&path, &Overrides::default()).expect("the scene loads").description
}

/// The folder with reference images. Where it was when this was compiled, or else below the working directory, so
/// that test binaries also run on another machine from a checkout.
pub fn references() -> PathBuf {
    let compiled = Path::new(env!("CARGO_MANIFEST_DIR")).join("references");
    if compiled.is_dir() { compiled } else { PathBuf::from("tests/references") }
}

/// Builds the data of a scene.
///
/// # Panics
/// If it cannot be built.
pub fn assembled(description: &Description) -> SceneData {
    assemble(description).expect("the scene assembles")
}

/// Largest difference of floats to the means of a film, relative to the precision of `f32`.
///
/// # Panics
/// There are not three a pixel.
pub fn ulps(floats: &[f32], rendered: &Rendered) -> f64 {
    assert_eq!(floats.len(), 3 * rendered.film.pixels.len());
    let means = rendered.film.pixels.iter().flat_map(|pixel| pixel.mean());
    let off = floats.iter().zip(means).map(|(x, mean)| {
        (f64::from(*x) - mean).abs()
            / (f64::from(f32::EPSILON) * mean.abs()).max(f64::from(f32::MIN_POSITIVE))
    });
    off.fold(0.0, f64::max)
}
