//! Light around models that bring none that matters.

use std::f32::consts::PI;
use std::ops;
use std::path::PathBuf;
use std::str::FromStr;

use device::material::texture::NO_TEXTURE;
use glam::{DVec3, Mat3, Vec3};
use torrance_text::{quoted, quoted_path};

use crate::description::contents::{mean, power_of};
use crate::description::limits::MAX_RADIANCE;
use crate::description::{
    Bounds, Color, Description, Environment, Geometry, MaterialKind, PunctualKind, Shape, Studio, Texture,
};
use crate::files::Files;
use crate::files::image::{Meaning, Range};
use crate::input::{Problem, parse_hex};

/// What lights a scene.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LightChoice {
    /// Its own light, and a studio around models (glTF, OBJ, PLY) whose own light does not matter.
    #[default]
    Auto,
    /// Its own light alone.
    Scene,
    /// Its own light, in a studio in place of its surroundings.
    Default,
}

/// What the candela and lux of lights in glTF files stand for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PunctualUnits {
    /// Physical light if it is far too bright for the other, as in Blender's exports.
    #[default]
    Auto,
    /// Physical light: 683 lm are 1 W.
    Standard,
    /// The units of emission, of which 1 is the white of a screen, as most viewers take them: 1 lx is 1 W/m².
    Unitless,
}

/// Lumens of a watt, by which exporters make photometric units of the watts that programs for modelling have: what a
/// watt of light of 555 nm has.
const LUMENS_PER_WATT: f32 = 683.0;

/// Irradiance above which candela and lux are physical, W·m⁻²: what is to be seen without exposure has a few, and physical
/// light 683 times as many.
const TOO_BRIGHT: f32 = 80.0;

/// The brightest light of a scene has at least so many candela or lux if these are physical: it is a lamp of a watt, if not a
/// brighter one.
const DIMMEST: f32 = LUMENS_PER_WATT / (4.0 * PI);

/// Light from all around, in place of a scene's own environment.
#[derive(Debug, Clone, PartialEq)]
pub enum Surroundings {
    /// The same radiance from everywhere, W·sr⁻¹·m⁻² per channel.
    Constant(Vec3),
    /// A photographer's studio.
    Studio,
    /// A file with an image of all directions.
    Image(PathBuf),
}

/// What is neither a colour nor the name of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a colour is a number, three numbers between commas, none below 0, or \"#rrggbb\"")]
pub struct SurroundingsError;

impl FromStr for Surroundings {
    type Err = SurroundingsError;

    /// Reads `studio`, a colour (`0.5`, `1,0.9,0.8`, `"#ffe0c0"`) or the name of a file.
    fn from_str(text: &str) -> Result<Self, SurroundingsError> {
        if text == "studio" {
            return Ok(Self::Studio);
        }
        if text.starts_with('#') {
            return parse_hex(text).map(Self::Constant).ok_or(SurroundingsError);
        }
        let numbers: Result<Vec<f32>, _> = text.split(',').map(|part| part.trim().parse()).collect();
        let Ok(numbers) = numbers else { return Ok(Self::Image(text.into())) };
        let radiance = match numbers[..] {
            [grey] => Vec3::splat(grey),
            [r, g, b] => Vec3::new(r, g, b),
            _ => return Err(SurroundingsError),
        };
        let is_right = radiance.cmpge(Vec3::ZERO).all() && radiance.cmple(Vec3::splat(MAX_RADIANCE)).all();
        is_right.then_some(Self::Constant(radiance)).ok_or(SurroundingsError)
    }
}

/// Irradiance in a studio, the mean over all directions that a surface may face, W·m⁻².
pub const STUDIO_IRRADIANCE: f32 = 1.65;

/// The part of all light that a model's own has to give for a studio to be left out.
const MATTERS: f32 = 0.1;

/// Makes watts of candela and lux, and yields a note if that was not asked for.
pub(crate) fn convert_punctual(scene: &mut Description, units: PunctualUnits) -> Option<String> {
    let is_physical = match units {
        PunctualUnits::Standard => true,
        PunctualUnits::Unitless => false,
        PunctualUnits::Auto => {
            let brightest = scene.lights.iter_mut().map(|light| light.kind.brightness_mut().max_element());
            brightest.fold(0.0, f32::max) >= DIMMEST && median_irradiance(scene) > TOO_BRIGHT
        }
    };
    if !is_physical {
        return None;
    }
    for light in &mut scene.lights {
        *light.kind.brightness_mut() /= LUMENS_PER_WATT;
    }
    let note = "has lights as bright as physical ones: 683 lm are 1 W (--punctual-units unitless takes them as they are)";
    (units == PunctualUnits::Auto).then(|| note.to_owned())
}

/// The median over shapes of the irradiance by lights that are no shapes.
fn median_irradiance(scene: &Description) -> f32 {
    let lights: Vec<_> = punctual(scene).collect();
    let receivers = if lights.is_empty() { Vec::new() } else { some_receivers(scene) };
    let most = most_of(&receivers);
    let of = |bounds: &Bounds| lights.iter().map(|light| light.irradiance(bounds, most)).sum::<f32>();
    let mut all: Vec<_> = receivers.iter().map(of).collect();
    if all.is_empty() {
        return 0.0;
    }
    let middle = all.len() / 2;
    *all.select_nth_unstable_by(middle, f32::total_cmp).1
}

/// What a user is told of the light around a scene.
#[derive(Debug, Default)]
pub(crate) struct Told {
    /// What was done, though nothing is wrong.
    pub(crate) note: Option<String>,
    pub(crate) warning: Option<String>,
}

/// Lights a scene as it was asked for. `is_model`: its format has no surroundings of its own.
///
/// # Errors
/// The image of the surroundings cannot be read.
pub(crate) fn light(
    scene: &mut Description,
    is_model: bool,
    choice: LightChoice,
    surroundings: Option<&Surroundings>,
    files: &Files,
) -> Result<Told, Problem> {
    let mut told = Told::default();
    let studio = Some(Environment::Studio(Studio::default()));
    match (surroundings, choice) {
        (Some(surroundings), _) => scene.environment = environment(surroundings, scene, files)?,
        (None, LightChoice::Scene) => {}
        (None, LightChoice::Default) => scene.environment = studio,
        (None, LightChoice::Auto) if !is_model || scene.environment.is_some() => {}
        (None, LightChoice::Auto) => {
            let part = own_part(scene);
            if part < MATTERS {
                told.note = Some(studio_note(part, scene.has_light()));
                scene.environment = studio;
                if let Some(dome) = dome(scene) {
                    let shapes = &mut scene.shapes[dome];
                    told.note = Some(dome_note(node(&shapes[0])));
                    for shape in shapes {
                        shape.emission = own_color(&scene.materials[shape.material].kind);
                        shape.emission_two_sided = true;
                    }
                }
            }
        }
    }
    if !scene.has_light() {
        let message =
            "there is no light, so the image will be black; --light default puts the scene into a studio";
        told.warning = Some(message.to_owned());
    }
    Ok(told)
}

fn studio_note(part: f32, shines: bool) -> String {
    let own = match 100.0 * part {
        0.0 if shines => "lights nothing but itself".to_owned(),
        0.0 => "has no light of its own".to_owned(),
        percent if percent < 0.1 => "has next to no light of its own".to_owned(),
        percent => format!("gives {percent:.1} % of the light itself"),
    };
    format!("{own}, and is shown in a studio (--light scene is without, --environment has another)")
}

fn dome_note(name: &str) -> String {
    format!(
        "has no light of its own, and {} is all around the camera: it shines in its own colours, as skies of models are \
         meant to (--light scene leaves it dark)",
        quoted(name)
    )
}

fn environment(
    surroundings: &Surroundings,
    scene: &mut Description,
    files: &Files,
) -> Result<Option<Environment>, Problem> {
    Ok(match surroundings {
        Surroundings::Constant(radiance) => {
            (*radiance != Vec3::ZERO).then_some(Environment::Constant(*radiance))
        }
        Surroundings::Studio => Some(Environment::Studio(Studio::default())),
        Surroundings::Image(path) => {
            let meaning = Meaning { is_srgb: true, is_alpha: false, range: Range::Radiance };
            files.note(path);
            let read = files.image(path, meaning).map_err(|reason| {
                Problem::of_file(path.display().to_string(), format!("cannot read it as an image: {reason}"))
            })?;
            if read.image.width != 2 * read.image.height {
                let (width, height) = (read.image.width, read.image.height);
                let message = format!(
                    "{} has {width}×{height} pixels: an image of all directions is twice as wide as high",
                    quoted_path(path)
                );
                return Err(Problem::of_file(path.display().to_string(), message));
            }
            scene.images.push(read.image);
            Some(Environment::Image {
                image: scene.images.len() - 1,
                scale: Vec3::ONE,
                world_from_image: Mat3::IDENTITY,
            })
        }
    })
}

/// Most shapes whose light is estimated, and most lights of which: they are enough to tell.
const MOST_RECEIVERS: usize = 512;
const MOST_LIGHTS: usize = 128;

/// About which part of the light on its shapes a model would have of its own in a studio: the mean over shapes, of which large
/// ones count for more. No shadows are traced, and what emits shines alike to all sides.
fn own_part(scene: &Description) -> f32 {
    let lights = lights(scene);
    let receivers = some_receivers(scene);
    let most = most_of(&receivers);
    let (mut sum, mut area) = (0.0, f32::MIN_POSITIVE);
    for bounds in receivers {
        // What shines does not light itself.
        let others = lights.iter().filter(|light| !light.is(&bounds));
        let own: f32 = others.map(|light| light.irradiance(&bounds, most)).sum();
        let weight = bounds.radius().min(most).powi(2);
        sum += weight * own / (own + STUDIO_IRRADIANCE);
        area += weight;
    }
    sum / area
}

/// Up to which radius shapes count whole: a floor that goes on and on is to be lit where the others are.
fn most_of(receivers: &[Bounds]) -> f32 {
    const OTHERS: f32 = 4.0;
    let mut radii: Vec<f32> = receivers.iter().map(Bounds::radius).collect();
    let middle = radii.len() / 2;
    if radii.is_empty() { 0.0 } else { OTHERS * *radii.select_nth_unstable_by(middle, f32::total_cmp).1 }
}

/// A light, as far as this estimate goes.
enum Light {
    /// From a ball: power, W.
    Near { center: Vec3, radius: f32, power: f32 },
    /// Irradiance of a surface across it, W·m⁻².
    Far(f32),
}

impl Light {
    /// Irradiance on a shape, the mean over its surface as far as a box around it tells, W·m⁻²: the mean of squared distances from
    /// a point at a distance d of the centre is d² + r² over a sphere of radius r, and less over most boxes of that diagonal.
    /// Of what is larger than `most`, a part of that radius counts, where it is nearest.
    fn irradiance(&self, shape: &Bounds, most: f32) -> f32 {
        match *self {
            Self::Far(irradiance) => irradiance,
            Self::Near { center, radius, power } => {
                let extent = shape.radius();
                let distance =
                    if extent <= most { shape.center().distance(center) } else { shape.distance(center) };
                let squared = distance * distance + 0.5 * extent.min(most).powi(2);
                power / (4.0 * PI * squared.max(radius * radius).max(f32::MIN_POSITIVE))
            }
        }
    }

    /// Whether the light is what is in a box.
    fn is(&self, shape: &Bounds) -> bool {
        match *self {
            Self::Far(_) => false,
            Self::Near { center, radius, .. } => center == shape.center() && radius == shape.radius(),
        }
    }

    fn power(&self) -> f32 {
        match *self {
            Self::Far(_) => f32::INFINITY,
            Self::Near { power, .. } => power,
        }
    }
}

/// The strongest lights of a scene.
fn lights(scene: &Description) -> Vec<Light> {
    // Nothing in the groups of a model emits.
    let emitters = scene.shapes.iter().filter(|shape| shape.emits() && !only_shows_itself(scene, shape));
    let shapes = emitters.map(|shape| {
        let bounds = shape.bounds();
        let radiance = shape.emission.value * mean_of(scene, shape.emission.texture);
        Light::Near { center: bounds.center(), radius: bounds.radius(), power: power_of(shape, radiance) }
    });
    let mut all: Vec<_> = shapes.chain(punctual(scene)).collect();
    all.sort_by(|a, b| b.power().total_cmp(&a.power()));
    all.truncate(MOST_LIGHTS);
    all
}

/// The lights that are no shapes.
fn punctual(scene: &Description) -> impl Iterator<Item = Light> {
    scene.lights.iter().map(|light| match &light.kind {
        PunctualKind::Point { position, intensity }
        | PunctualKind::Spot { position, intensity, .. }
        | PunctualKind::Projector { position, intensity, .. } => {
            Light::Near { center: *position, radius: 0.0, power: 4.0 * PI * mean(*intensity) }
        }
        PunctualKind::Directional { irradiance, .. } => Light::Far(mean(*irradiance)),
    })
}

/// Boxes around what light falls on, shapes that do not shine themselves unless all do, and instances as a whole: all, or some
/// of very many.
fn some_receivers(scene: &Description) -> Vec<Bounds> {
    let all_shine = scene.instances.is_empty() && scene.shapes.iter().all(Shape::emits);
    let is_lit = |shape: &&Shape| if all_shine { !only_shows_itself(scene, shape) } else { !shape.emits() };
    let groups: Vec<_> = scene.groups.iter().map(|group| Bounds::around(&group.shapes)).collect();
    let instances = scene.instances.iter();
    let instances = instances.map(|i| groups[i.group as usize].transformed(&i.world_from_group));
    let all: Vec<_> = scene.shapes.iter().filter(is_lit).map(Shape::bounds).chain(instances).collect();
    let step = all.len().div_ceil(MOST_RECEIVERS).max(1);
    all.into_iter().step_by(step).collect()
}

/// The shapes of one node that shut out all light from outside: the camera is in it, as everything else is, and sees it almost
/// everywhere above.
fn dome(scene: &Description) -> Option<ops::Range<usize>> {
    // The part of the extent of the scene that it has at least, and of the directions above the camera.
    const EXTENT: f32 = 0.9;
    const ABOVE: f64 = 0.9;
    let (whole, camera) = (scene.bounds(), scene.camera.position);
    let is_dome = |shapes: &[Shape]| {
        let bounds = Bounds::around(shapes);
        let size = (bounds.hi - bounds.lo).cmpge(EXTENT * (whole.hi - whole.lo));
        let is_inside = camera.cmpgt(bounds.lo).all() && camera.cmplt(bounds.hi).all();
        let above = || shapes.iter().map(|shape| part_above(camera, shape)).sum::<f64>();
        size.all() && is_inside && above() > ABOVE
    };
    let mut end = 0;
    let mut nodes = scene.shapes.chunk_by(|a, b| node(a) == node(b)).map(|shapes| {
        end += shapes.len();
        (end - shapes.len()..end, shapes)
    });
    nodes.find(|(_, shapes)| is_dome(shapes)).map(|(range, _)| range)
}

/// The name of the node that a shape is a part of: NODE.1 is the second part of NODE.
fn node(shape: &Shape) -> &str {
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    shape.name.rsplit_once('.').filter(|(_, part)| is_number(part)).map_or(&shape.name, |(node, _)| node)
}

/// The sum of the solid angles of a mesh's triangles above a point, over that of all directions upwards: Van Oosterom & Strackee
/// 1983, "The Solid Angle of a Plane Triangle", eq. 8.
fn part_above(point: Vec3, shape: &Shape) -> f64 {
    let Geometry::Mesh(mesh) = &shape.geometry else { return 0.0 };
    let corner =
        |i: &u32| (shape.world_from_object.transform_point3(mesh.positions[*i as usize]) - point).as_dvec3();
    let solid_angle = |triangle: &[u32; 3]| {
        let [a, b, c] = triangle.each_ref().map(corner);
        if (a + b + c).y < 0.0 {
            return 0.0;
        }
        let [la, lb, lc] = [a, b, c].map(DVec3::length);
        let denominator = la * lb * lc + a.dot(b) * lc + b.dot(c) * la + c.dot(a) * lb;
        2.0 * a.dot(b.cross(c)).abs().atan2(denominator)
    };
    mesh.triangles.iter().map(solid_angle).sum::<f64>() / std::f64::consts::TAU
}

/// The colour of a material in even light.
fn own_color(kind: &MaterialKind) -> Color {
    match kind {
        MaterialKind::Gltf(gltf) => gltf.base_color,
        MaterialKind::Diffuse(diffuse) => diffuse.reflectance,
        MaterialKind::Principled(principled) => principled.base_color,
        _ => Color::new(Vec3::splat(0.5)),
    }
}

/// Whether a surface emits the colour that it is to be seen in, as those that are not to be lit do: no more than white, and
/// it reflects nothing.
fn only_shows_itself(scene: &Description, shape: &Shape) -> bool {
    let is_black = match &scene.materials[shape.material].kind {
        MaterialKind::Diffuse(diffuse) => diffuse.reflectance == Color::new(Vec3::ZERO),
        _ => false,
    };
    is_black && shape.emission.value.max_element() <= 1.0
}

/// The mean of a texture; white without one. Images are looked up at some of their texels.
fn mean_of(scene: &Description, texture: u32) -> Vec3 {
    const LOOKUPS: usize = 1 << 14;
    let color = |color: &Color| color.value * mean_of(scene, color.texture);
    match scene.textures.get(texture as usize) {
        _ if texture == NO_TEXTURE => Vec3::ONE,
        None | Some(Texture::VertexColor { .. }) => Vec3::ONE,
        Some(Texture::Checker { colors, .. } | Texture::Mix { colors, .. }) => {
            0.5 * (color(&colors[0]) + color(&colors[1]))
        }
        Some(Texture::Product(colors)) => color(&colors[0]) * color(&colors[1]),
        Some(Texture::Bitmap(bitmap)) => {
            let image = &scene.images[bitmap.image];
            let count = image.width as usize * image.height as usize;
            let step = count.div_ceil(LOOKUPS).max(1) | 1;
            let texels = (0..count).step_by(step).map(|i| {
                let [r, g, b, _] = image.texel(i);
                Vec3::new(r, g, b)
            });
            texels.sum::<Vec3>() / count.div_ceil(step).max(1) as f32
        }
    }
}
