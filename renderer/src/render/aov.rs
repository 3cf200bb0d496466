//! Arbitrary output variables: what an EXR file holds beside the image, as layers.

use std::collections::BTreeSet;

use device::camera::{Camera, Projection};
use device::film::{FirstHitPixel, GroupPixel};
use device::matte::MattePixel;
use device::shape::triangle::TriangleUvs;
use glam::{DVec3, Vec3};
use torrance_image::film::cryptomatte::{Coverage, RANKS};
use torrance_image::film::layers::{LIGHT, Layers, SAMPLES, Samples};
use torrance_image::film::{Film, Image};
use torrance_scene::Description;
use torrance_scene::limits::{
    BYTES_PER_PIXEL, BYTES_PER_PIXEL_OF_SHORTER, SizeError, check_memory, memory_for_film,
};

use super::first_hits::FirstHitSums;
use super::light_groups::{GroupError, LightChoice, LightGroups};
use super::mattes::{Matte, Mattes};
use super::{FirstHit, FirstHits, Half, Options, Rendered};
use crate::assemble::{SceneData, texture_coordinates};
use crate::denoise::HALVES;

/// Layers that an EXR file may hold beside the image.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Aov {
    /// `stderr.R`, `.G`, `.B`: standard errors of the image's pixels.
    Stderr,
    /// `samples`: number of samples in each pixel, an integer.
    Samples,
    /// `sums.xR.0`, …: sums over the samples, for parts of a render to be put together without loss.
    Sums,
    /// `halves.R`, …: the mean of about the first half of the samples, `halves.samples`, how many these are, and of the same `halves.albedo.R`,
    /// …, and `halves.N.X`, … where there are those of all: for denoisers, which tell noise by the difference.
    Halves,
    /// `emission.R`, …: light that has not scattered.
    Emission,
    /// `direct.R`, …: light that has scattered once.
    Direct,
    /// `indirect.R`, …: light that has scattered more often. The three add up to the image.
    Indirect,
    /// `albedo.R`, …: the part of light from where the camera is that the surface scatters, once.
    Albedo,
    /// `N.X`, `.Y`, `.Z`: shading normal in world space, on the side of the viewer.
    N,
    /// `Ng.X`, …: geometric normal, likewise.
    Ng,
    /// `Z`: distance along the camera's axis, or from the camera if it sees all directions, metres; [`FAR`] where there is nothing.
    Z,
    /// `P.X`, …: position in world space, metres.
    P,
    /// `uv.U`, `uv.V`: texture coordinates.
    Uv,
    /// `id.shape`: which shape, an integer; the first is 1, and 0 is nothing.
    Shape,
    /// `id.material`: which material, likewise.
    Material,
    /// A Cryptomatte.
    Crypto(Matte),
}

/// The depth of nothing: finite, for tools that filter; Blender writes the same.
pub const FAR: f32 = 1e10;

/// The attribute that says how the camera sees: `perspective`, `orthographic` or `equirectangular`.
pub const PROJECTION: &str = "cameraProjection";

/// The attribute of the vertical field of view, degrees.
pub const FOV: &str = "cameraFov";

/// The attribute of the radius of a lens, metres.
pub const LENS_RADIUS: &str = "lensRadius";

/// The attribute that holds the focus distance of the lens, along the axis, metres.
pub const FOCUS_DISTANCE: &str = "focusDistance";

/// Memory that one pixel takes where first hits are kept: the back end's sums, the same once more on its way to the host,
/// and the sums there.
const BYTES_PER_PIXEL_OF_FIRST_HITS: u128 =
    (2 * size_of::<FirstHitPixel>() + size_of::<FirstHitSums>()) as u128;

/// Memory that one pixel takes for each kind of matte: the back end's counts, the same on their way to the host, those there, and
/// what of the pixel is covered.
const BYTES_PER_PIXEL_OF_MATTE: u128 =
    (3 * size_of::<MattePixel>() + size_of::<Coverage>() + 6 * size_of::<(u32, f64)>()) as u128;

/// Memory that one pixel takes for each light group: the back end's sums, the same on their way to the host, and those there.
const BYTES_PER_PIXEL_OF_GROUP: u128 = (2 * size_of::<GroupPixel>() + size_of::<DVec3>()) as u128;

/// The layers that EXR files get unless they are told otherwise: what comparing images takes.
pub const DEFAULT: [Aov; 2] = [Aov::Stderr, Aov::Samples];

impl Aov {
    /// All layers, by the names that users give them.
    pub const ALL: [(&'static str, Self); 18] = [
        ("stderr", Self::Stderr),
        ("samples", Self::Samples),
        ("sums", Self::Sums),
        ("halves", Self::Halves),
        ("emission", Self::Emission),
        ("direct", Self::Direct),
        ("indirect", Self::Indirect),
        ("albedo", Self::Albedo),
        ("N", Self::N),
        ("Ng", Self::Ng),
        ("Z", Self::Z),
        ("P", Self::P),
        ("uv", Self::Uv),
        ("shape", Self::Shape),
        ("material", Self::Material),
        ("crypto_object", Self::Crypto(Matte::Object)),
        ("crypto_material", Self::Crypto(Matte::Material)),
        ("crypto_asset", Self::Crypto(Matte::Asset)),
    ];

    /// Whether it takes films of shorter paths.
    pub fn is_split_light(self) -> bool {
        matches!(self, Self::Emission | Self::Direct | Self::Indirect)
    }

    /// The matte that it is, if it is one.
    pub fn matte(self) -> Option<Matte> {
        match self {
            Self::Crypto(matte) => Some(matte),
            _ => None,
        }
    }

    /// Whether it takes what the camera rays meet first.
    pub fn is_of_first_hit(self) -> bool {
        (Self::Albedo..=Self::Material).contains(&self)
    }
}

/// Names of shapes and materials.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Names {
    shapes: Vec<String>,
    materials: Vec<String>,
    /// Index of the material of each shape.
    material_of: Vec<u32>,
}

impl From<&Description> for Names {
    fn from(description: &Description) -> Self {
        Self {
            shapes: description.all_shapes().map(|s| s.name.clone()).collect(),
            materials: description.materials.iter().map(|m| m.name.clone()).collect(),
            material_of: description.all_shapes().map(|s| s.material as u32).collect(),
        }
    }
}

/// The layers to write, and the data needed to make them.
#[derive(Debug, Default)]
pub struct AovPlan {
    aovs: BTreeSet<Aov>,
    names: Names,
    uvs: Vec<TriangleUvs>,
    mattes: Mattes,
    /// Ranks of Cryptomattes, if they are not [`RANKS`].
    ranks: Option<usize>,
    lights: BTreeSet<LightChoice>,
    light_groups: LightGroups,
}

/// Why layers cannot be rendered.
#[derive(Debug, thiserror::Error)]
pub enum AovError {
    /// Films for all layers do not fit into memory.
    #[error(transparent)]
    Size(#[from] SizeError),
    /// The scene's lights cannot be grouped as asked for.
    #[error(transparent)]
    Groups(#[from] GroupError),
}

impl AovPlan {
    /// A plan for these layers.
    pub fn new(aovs: BTreeSet<Aov>) -> Self {
        Self { aovs, ..Self::default() }
    }

    /// Adds images of what some lights bring, and one of what all others do.
    #[must_use]
    pub fn with_lights(self, lights: BTreeSet<LightChoice>) -> Self {
        Self { lights, ..self }
    }

    /// Cryptomattes with so many ranks, an even number, at most [`super::mattes::MOST_RANKS`].
    #[must_use]
    pub fn with_ranks(self, ranks: usize) -> Self {
        Self { ranks: Some(ranks), ..self }
    }

    /// Adds what parts of a render are merged from.
    pub fn add_sums(&mut self) {
        self.aovs.extend([Aov::Stderr, Aov::Samples, Aov::Sums]);
    }

    /// Adds what denoisers know surfaces by, and, for one that takes halves, what it knows noise by.
    pub fn add_for_denoiser(&mut self, takes_halves: bool) {
        self.aovs.extend([Aov::Albedo, Aov::N]);
        if takes_halves {
            self.aovs.extend([Aov::Stderr, Aov::Samples, Aov::Halves]);
        }
    }

    /// Keeps what is needed of the scene.
    ///
    /// # Errors
    /// Films for all layers do not fit into memory, or there are no such lights.
    pub fn describe(&mut self, description: &Description) -> Result<(), AovError> {
        self.light_groups = LightGroups::new(&self.lights, description)?;
        self.mattes = Mattes::new(self.aovs.iter().filter_map(|aov| aov.matte()), description);
        let Options { shorter, first_hits, half, .. } = self.options();
        let films_of_first_hits = if half { 2 } else { 1 };
        let bytes = BYTES_PER_PIXEL
            + self.mattes.len() as u128 * BYTES_PER_PIXEL_OF_MATTE
            + self.light_groups.len() as u128 * BYTES_PER_PIXEL_OF_GROUP
            + if half { BYTES_PER_PIXEL } else { 0 }
            + if shorter { BYTES_PER_PIXEL_OF_SHORTER } else { 0 }
            + if first_hits.is_some() { films_of_first_hits * BYTES_PER_PIXEL_OF_FIRST_HITS } else { 0 };
        check_memory(description.render.width, description.render.height, bytes, memory_for_film())?;
        self.names = Names::from(description);
        if self.aovs.contains(&Aov::Uv) {
            self.uvs = texture_coordinates(description);
        }
        Ok(())
    }

    /// The render options that produce these layers.
    pub fn options(&self) -> Options<'_> {
        let of_first_hit = self.aovs.iter().any(|aov| aov.is_of_first_hit());
        Options {
            shorter: self.aovs.iter().any(|aov| aov.is_split_light()),
            first_hits: of_first_hit.then_some(self.uvs.as_slice()),
            mattes: (!self.mattes.is_empty()).then_some(&self.mattes),
            light_groups: (!self.light_groups.is_empty()).then_some(&self.light_groups),
            half: self.aovs.contains(&Aov::Halves),
            ..Options::default()
        }
    }

    /// Whether there are layers that take films beside that of the image.
    pub fn has_other_films(&self) -> bool {
        self.aovs.iter().any(|aov| aov.is_split_light() || aov.is_of_first_hit())
            || self.has_mattes()
            || !self.lights.is_empty()
    }

    /// Whether there are Cryptomattes.
    pub fn has_mattes(&self) -> bool {
        self.aovs.iter().any(|aov| aov.matte().is_some())
    }

    /// The names of the layers.
    pub fn names(&self) -> BTreeSet<&'static str> {
        let chosen = Aov::ALL.into_iter().filter(|(_, aov)| self.aovs.contains(aov));
        chosen.map(|(name, _)| name).chain((!self.lights.is_empty()).then_some("light")).collect()
    }

    /// Whether an image has all of the layers.
    pub fn is_in(&self, image: &Layers) -> bool {
        let mut groups = self.light_groups.names().iter();
        let mut mattes = self.mattes.kinds();
        self.names().is_subset(&layers_of(image))
            && mattes.all(|kind| image.ranks(kind) == self.ranks.unwrap_or(RANKS))
            && groups.all(|name| image.rgb_channels(&format!("{LIGHT}{name}")).is_some())
    }

    /// The image and its layers.
    pub fn layers(&self, rendered: &Rendered, scene: &SceneData) -> Layers {
        let mut layers = layers(rendered, scene, &self.names, &self.aovs);
        if let Some(films) = &rendered.mattes {
            self.mattes.push(films, self.ranks.unwrap_or(RANKS), &mut layers);
        }
        if let Some(sums) = &rendered.light_groups {
            self.light_groups.push(sums, &rendered.film, &mut layers);
        }
        layers
    }
}

/// The layers that an image has, by the names that users give them.
pub fn layers_of(image: &Layers) -> BTreeSet<&str> {
    let names =
        image.channels.iter().map(|channel| channel.name.strip_prefix("id.").unwrap_or(&channel.name));
    let layers = names.map(|name| name.split_once('.').map_or(name, |(layer, _)| layer));
    let layers = layers.map(|layer| matte_of(layer).unwrap_or(layer));
    layers.filter(|layer| !RGB.contains(layer)).collect()
}

/// The name that users give to the Cryptomatte whose ranks are in a layer.
fn matte_of(layer: &str) -> Option<&'static str> {
    let is_of = |aov: &Aov| {
        let level = aov.matte().and_then(|matte| layer.strip_prefix(matte.kind()));
        level.is_some_and(|level| level.bytes().all(|c| c.is_ascii_digit()))
    };
    Aov::ALL.into_iter().find(|(_, aov)| is_of(aov)).map(|(name, _)| name)
}

/// The image and the requested layers, as far as their data was rendered.
pub fn layers(rendered: &Rendered, scene: &SceneData, names: &Names, aovs: &BTreeSet<Aov>) -> Layers {
    let mut layers = Layers::from(&Image::from(&rendered.film));
    for aov in aovs {
        match aov {
            Aov::Stderr => layers.push_stderr(&rendered.film),
            Aov::Samples => layers.push_samples(&rendered.film),
            Aov::Sums => layers.push_sums(&rendered.film),
            Aov::Halves => push_halves(&mut layers, rendered, aovs),
            _ => {}
        }
        if let Some(shorter) = &rendered.shorter {
            push_of_light(&mut layers, *aov, &rendered.film, shorter);
        }
        if let Some(hits) = &rendered.first_hits {
            push_of_hits(&mut layers, *aov, hits, scene);
            push_ids(&mut layers, *aov, hits, scene, names);
        }
    }
    layers
}

/// What about half of the samples say of the image, and of its features.
fn push_halves(layers: &mut Layers, rendered: &Rendered, aovs: &BTreeSet<Aov>) {
    let Some(Half { film, first_hits }) = &rendered.half else { return };
    layers.push_floats(HALVES, RGB, &Image::from(film).pixels);
    let samples = film.pixels.iter().map(|pixel| u32::try_from(pixel.count).unwrap_or(u32::MAX));
    layers.push(format!("{HALVES}.{SAMPLES}"), Samples::Uint(samples.collect()));
    let Some(hits) = first_hits else { return };
    let each = |of: &dyn Fn(&FirstHit) -> [f32; 3]| hits.pixels.iter().map(of).collect::<Vec<_>>();
    if aovs.contains(&Aov::Albedo) {
        layers.push_floats(&format!("{HALVES}.albedo"), RGB, &each(&|hit| hit.albedo));
    }
    if aovs.contains(&Aov::N) {
        layers.push_floats(&format!("{HALVES}.N"), XYZ, &each(&|hit| hit.ns));
    }
}

const RGB: [&str; 3] = ["R", "G", "B"];
const XYZ: [&str; 3] = ["X", "Y", "Z"];

/// Light by how often it has scattered. The films are of the same samples, so the difference of their means is the mean
/// of what longer paths bring, without noise of its own; Russian roulette ends the paths of all films alike.
fn push_of_light(layers: &mut Layers, aov: Aov, image: &Film, [emission, once]: &[Film; 2]) {
    let (name, film, less) = match aov {
        Aov::Emission => ("emission", emission, None),
        Aov::Direct => ("direct", once, Some(emission)),
        Aov::Indirect => ("indirect", image, Some(once)),
        _ => return,
    };
    layers.push_floats(name, RGB, &light_between(film, less));
}

/// Mean light of the paths of a film that are not those of another, of the same samples and shorter paths.
pub fn light_between(film: &Film, shorter: Option<&Film>) -> Vec<[f32; 3]> {
    let light = film.pixels.iter().enumerate().map(|(i, pixel)| {
        let (with, without) = (pixel.mean(), shorter.map_or([0.0; 3], |film| film.pixels[i].mean()));
        [0, 1, 2].map(|c| (with[c] - without[c]) as f32)
    });
    light.collect()
}

fn push_of_hits(layers: &mut Layers, aov: Aov, hits: &FirstHits, scene: &SceneData) {
    let each = |of: &dyn Fn(&FirstHit) -> [f32; 3]| hits.pixels.iter().map(of).collect::<Vec<_>>();
    match aov {
        Aov::Albedo => layers.push_floats("albedo", RGB, &each(&|hit| hit.albedo)),
        Aov::N => layers.push_floats("N", XYZ, &each(&|hit| hit.ns)),
        Aov::Ng => layers.push_floats("Ng", XYZ, &each(&|hit| hit.ng)),
        Aov::P => layers.push_floats("P", XYZ, &each(&|hit| hit.p.unwrap_or_default())),
        Aov::Uv => {
            let uvs: Vec<_> = hits.pixels.iter().map(|hit| hit.uv).collect();
            layers.push_floats("uv", ["U", "V"], &uvs);
        }
        Aov::Z => {
            // Linear in the point, but in a panorama: the mean depth is that of the mean point.
            let depths = hits.pixels.iter().map(|hit| hit.p.map_or(FAR, |p| depth(&scene.camera, p.into())));
            layers.push("Z", Samples::Float(depths.collect()));
        }
        _ => {}
    }
}

/// How far away a point is: along the axis, or in a panorama from the camera.
fn depth(camera: &Camera, p: Vec3) -> f32 {
    let from = (p - camera.position).as_dvec3();
    if camera.projection == Projection::Panorama as u32 {
        return from.length() as f32;
    }
    from.dot(camera.axis.as_dvec3().normalize()) as f32
}

/// EXR attributes that describe the camera.
pub fn of_camera(camera: &Camera, height: u32) -> Vec<(&'static str, String)> {
    let is = |projection: Projection| camera.projection == projection as u32;
    let projection = if is(Projection::Parallel) {
        "orthographic"
    } else if is(Projection::Panorama) {
        "equirectangular"
    } else {
        "perspective"
    };
    let mut told = vec![(PROJECTION, projection.to_owned())];
    if projection == "perspective" {
        let half = 0.5 * f64::from(height) * camera.dv.as_dvec3().length();
        told.push((FOV, (2.0 * half.atan().to_degrees()).to_string()));
    }
    if is(Projection::Lens) {
        told.push((LENS_RADIUS, camera.lens[0].length().to_string()));
        told.push((FOCUS_DISTANCE, camera.focus.to_string()));
    }
    told
}

fn push_ids(layers: &mut Layers, aov: Aov, hits: &FirstHits, scene: &SceneData, names: &Names) {
    let (name, attribute, called) = match aov {
        Aov::Shape => ("id.shape", "shapeNames", &names.shapes),
        Aov::Material => ("id.material", "materialNames", &names.materials),
        _ => return,
    };
    let id = |hit: &FirstHit| {
        let shape = scene.geometry.shape_of.get(hit.center?)?;
        let id = if aov == Aov::Shape { shape } else { *names.material_of.get(shape as usize)? };
        Some(id + 1)
    };
    layers.push(name, Samples::Uint(hits.pixels.iter().map(|hit| id(hit).unwrap_or(0)).collect()));
    // JSON, since names may hold commas.
    layers.attributes.insert(attribute.into(), serde_json::Value::from(called.clone()).to_string());
}
