//! Emitters that belong to no shape.

use device::material::texture::NO_TEXTURE;
use glam::{DAffine3, DMat3, DVec3, Vec3};

use super::settings::{fov, half_width};
use super::texture::{Quantity, Textures};
use super::view::{PropertyView, View};
use crate::description::affine::is_similarity;
use crate::description::limits::MAX_RADIANCE;
use crate::description::{
    Color, Description, Environment, PunctualKind, PunctualLight, Slide, SpotFalloff, SunSky,
};
use crate::files::image::{Meaning, Range};

/// Reads an emitter of the scene.
pub(super) fn add(
    scene: &mut Description,
    given: &PropertyView<'_>,
    textures: &mut Textures<'_>,
) -> Option<()> {
    let view = given.object()?;
    let plugin = view.plugin()?;
    // It is read where a shape refers to it, and shines nowhere else.
    if plugin == "area" {
        return Some(());
    }
    // How often a light is chosen says nothing about the mean.
    view.ignore(&["sampling_weight"]);
    if matches!(plugin, "constant" | "envmap" | "sunsky") {
        let environment = match plugin {
            "constant" => constant(&view, textures),
            "envmap" => envmap(&view, textures),
            _ => sunsky(&view, textures),
        };
        let environment = view.finish(environment, &[]);
        if scene.environment.is_some() {
            return view.error("the scene has more than one environment");
        }
        scene.environment = Some(environment?);
        return Some(());
    }
    // `plugins` lets no other one through.
    let kind = match plugin {
        "point" => point(&view, textures),
        "spot" => spot(&view, textures),
        "projector" => projector(&view, textures),
        _ => directional(&view, textures),
    };
    let kind = view.finish(kind, &[]);
    scene.lights.push(PunctualLight { name: view.name(), kind: kind? });
    Some(())
}

/// A colour without a texture.
fn light(view: &View<'_>, textures: &mut Textures<'_>, name: &'static str) -> Option<Vec3> {
    view.untextured(name, textures.color(view, name, 1.0, Quantity::Light)?)
}

fn constant(view: &View<'_>, textures: &mut Textures<'_>) -> Option<Environment> {
    // The same from everywhere, however it is turned.
    view.ignore(&["to_world"]);
    light(view, textures, "radiance").map(Environment::Constant)
}

/// Images of light; whole numbers are encoded as sRGB.
const LIGHT: Meaning = Meaning { is_srgb: true, is_alpha: false, range: Range::Radiance };

fn envmap(view: &View<'_>, textures: &mut Textures<'_>) -> Option<Environment> {
    // How directions are drawn says nothing about the mean.
    view.ignore(&["mis_compensation"]);
    let scale = view.number_in("scale", 1.0, (0.0, MAX_RADIANCE.into()));
    let turned = rotation(view)?;
    let file = view.require("filename")?;
    let image = textures.image(&file, LIGHT);
    // The first column of Mitsuba's image is −z, where ours has the middle one.
    let half_turn = DMat3::from_rotation_y(std::f64::consts::PI);
    let world_from_image = (turned * half_turn).as_mat3();
    Some(Environment::Image { image: image?, scale: Vec3::splat(scale?), world_from_image })
}

/// The rotation of the environment.
fn rotation(view: &View<'_>) -> Option<DMat3> {
    let to_world = view.transform("to_world")?;
    if !is_similarity(&to_world.matrix3) {
        return view.error("\"to_world\" of an environment has to be a rotation");
    }
    Some(to_world.matrix3 * (1.0 / to_world.matrix3.x_axis.length()))
}

/// A transform, or a vector that says the same in short; both together contradict each other.
fn either(view: &View<'_>, short: &'static str) -> Option<(DAffine3, Option<DVec3>)> {
    let to_world = view.transform("to_world");
    let vector = match view.get(short) {
        Some(given) if view.get("to_world").is_some() => {
            return given.fail("is given by \"to_world\" already; keep one of them");
        }
        Some(_) => Some(view.vector(short, DVec3::ZERO)?),
        None => None,
    };
    Some((to_world?, vector))
}

fn point(view: &View<'_>, textures: &mut Textures<'_>) -> Option<PunctualKind> {
    let place = either(view, "position");
    let intensity = light(view, textures, "intensity");
    let (to_world, position) = place?;
    let position = position.unwrap_or(to_world.translation).as_vec3();
    Some(PunctualKind::Point { position, intensity: intensity? })
}

fn spot(view: &View<'_>, textures: &mut Textures<'_>) -> Option<PunctualKind> {
    let intensity = light(view, textures, "intensity");
    let picture = match view.get("texture") {
        Some(given) => match textures.color(view, "texture", 1.0, Quantity::Fraction)? {
            Color { texture: NO_TEXTURE, .. } => return given.fail("has to be a texture that varies"),
            picture => Some(picture),
        },
        None => None,
    };
    let outer = view.number_in("cutoff_angle", 20.0, (1e-3, 180.0))?;
    let inner = view.number_in("beam_width", f64::from(outer) * 0.75, (0.0, 180.0))?;
    let to_world = view.transform("to_world")?;
    // As Mitsuba has it: nothing is lit beyond the cut-off.
    let inner = inner.min(outer);
    if picture.is_some() && to_world.matrix3.determinant() < 0.0 {
        return view.error("\"to_world\" of a spot with a texture is a reflection; that is not supported");
    }
    // The first row of its texture is where −y is.
    let up = -to_world.matrix3.y_axis.normalize().as_vec3();
    Some(PunctualKind::Spot {
        position: to_world.translation.as_vec3(),
        direction: to_world.matrix3.z_axis.normalize().as_vec3(),
        intensity: intensity? * picture.map_or(Vec3::ONE, |picture| picture.value),
        slide: picture.map(|Color { texture, .. }| Slide { texture, up }),
        // A step, but for rounding.
        inner: inner.min(outer * (1.0 - 1e-4)),
        outer,
        falloff: SpotFalloff::Linear,
    })
}

/// A projector, whose picture gives the irradiance of a screen at distance 1, but for π.
fn projector(view: &View<'_>, textures: &mut Textures<'_>) -> Option<PunctualKind> {
    let irradiance = textures.color(view, "irradiance", 1.0, Quantity::Light);
    let scale = view.number_in("scale", 1.0, (0.0, MAX_RADIANCE.into()));
    let fov = fov(view);
    let to_world = view.transform("to_world")?;
    let m = to_world.matrix3;
    if !is_similarity(&m) || m.determinant() < 0.0 {
        return view
            .error("\"to_world\" of a projector has to be a rotation, a uniform scale or a translation");
    }
    let Color { value, texture } = irradiance?;
    let aspect = textures.aspect(texture);
    let tan = half_width(fov?, aspect);
    // As if the scene were so much smaller, and the normal of the screen longer.
    let scale = scale? * m.x_axis.length() as f32;
    Some(PunctualKind::Projector {
        position: to_world.translation.as_vec3(),
        direction: m.z_axis.normalize().as_vec3(),
        intensity: value * std::f32::consts::PI * scale,
        fov: (2.0 * tan.atan()).to_degrees() as f32,
        aspect: aspect as f32,
        slide: Slide { texture, up: m.y_axis.normalize().as_vec3() },
    })
}

fn directional(view: &View<'_>, textures: &mut Textures<'_>) -> Option<PunctualKind> {
    let place = either(view, "direction");
    let irradiance = light(view, textures, "irradiance");
    let (to_world, direction) = place?;
    let Some(direction) = direction.unwrap_or(to_world.matrix3.z_axis).try_normalize() else {
        return view.error("\"direction\" of a directional emitter has no direction");
    };
    Some(PunctualKind::Directional { direction: direction.as_vec3(), irradiance: irradiance?, diameter: 0.0 })
}

/// Sun and sky, whose zenith is +z for Mitsuba.
fn sunsky(view: &View<'_>, textures: &mut Textures<'_>) -> Option<Environment> {
    let turbidity = view.number_in("turbidity", 3.0, (1.0, 10.0));
    let albedo = textures.color(view, "albedo", 0.3, Quantity::Fraction);
    let sky_scale = view.number_in("sky_scale", 1.0, (0.0, 1e6));
    let sun_scale = view.number_in("sun_scale", 1.0, (0.0, 1e6));
    let sun_diameter = view.number_in("sun_aperture", 0.5358, (1e-2, 90.0));
    let turned = rotation(view);
    view.warn_of(&["complex_sun"], "the sun is a disk, darker towards its edge");
    let Some(given) = view.get("sun_direction") else {
        return view.error("a sunsky without \"sun_direction\" is not supported: where the sun is does not follow from the time");
    };
    let direction = view.vector("sun_direction", DVec3::Z)?;
    let Some(direction) = direction.try_normalize() else { return given.fail("has no direction") };
    // Towards the sun in the world, however the sky is turned.
    let turned = turned?;
    let direction = turned.transpose() * direction;
    let ground_albedo = view.untextured("albedo", albedo?)?;
    // y to z.
    let upright = DMat3::from_rotation_x(std::f64::consts::FRAC_PI_2);
    Some(Environment::SunSky(SunSky {
        sun_direction: (upright.transpose() * direction).as_vec3(),
        turbidity: turbidity?,
        ground_albedo,
        sky_scale: sky_scale?,
        sun_scale: sun_scale?,
        sun_diameter: sun_diameter?,
        world_from_sky: (turned * upright).as_mat3(),
    }))
}
