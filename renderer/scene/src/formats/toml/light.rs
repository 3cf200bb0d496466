//! `[environment]` and `[[lights]]`.

use device::material::texture::NO_TEXTURE;
use glam::{DVec3, Mat3, Vec3};

use super::keys;
use super::names::{read_each, tables};
use super::texture::Textures;
use super::transform::transform;
use super::values::{ByName, Named, ValueReader, Visitor, type_of};
use crate::description::limits::{MAX_COORDINATE, MAX_RADIANCE, is_degenerate};
use crate::description::{
    Color, Environment, Portal, PunctualKind, PunctualLight, Slide, SpotFalloff, Studio, SunSky,
};
use crate::input::{Field, Section};

impl Named for SpotFalloff {
    const NAMES: ByName<Self> = &[("smooth", Self::Smooth), ("linear", Self::Linear)];
}

/// Reads `[environment]`; `None` within if it is black.
pub(super) fn environment(section: &Section<'_>, textures: &mut Textures<'_>) -> Option<Option<Environment>> {
    let unsaid = if section.get("file").is_some() { "image" } else { "constant" };
    let kind = type_of(section, &keys::ENVIRONMENT, unsaid)?;
    section.reject_unknown_keys(&keys::ENVIRONMENT.known(Some(kind)));
    let reader = ValueReader::new(section, &keys::ENVIRONMENT, Some(kind));
    match kind.name() {
        "image" => image(section, reader, textures).map(Some),
        "sun_sky" => sun_sky(section, reader).map(Environment::SunSky).map(Some),
        "studio" => studio(section, reader).map(Environment::Studio).map(Some),
        _ => {
            let radiance = section.require("radiance", "radiance = 0.2")?.color(MAX_RADIANCE)?;
            Some((radiance != Vec3::ZERO).then_some(Environment::Constant(radiance)))
        }
    }
}

fn image(
    section: &Section<'_>,
    mut reader: ValueReader<'_, '_>,
    textures: &mut Textures<'_>,
) -> Option<Environment> {
    let mut scale = Vec3::ONE;
    reader.visit("scale", &mut scale);
    let rotation = rotation(section);
    let image = section.require("file", "file = \"sky.exr\"").and_then(|f| textures.environment(section, &f));
    let environment = Environment::Image { image: image?, scale, world_from_image: rotation? };
    reader.is_right.then_some(environment)
}

fn studio(section: &Section<'_>, mut reader: ValueReader<'_, '_>) -> Option<Studio> {
    let mut scale = Vec3::ONE;
    reader.visit("scale", &mut scale);
    let world_from_studio = rotation(section)?;
    reader.is_right.then_some(Studio { scale, world_from_studio })
}

/// The numbers and colours of a sky.
pub(crate) fn visit_sky(visitor: &mut impl Visitor, sky: &mut SunSky) {
    visitor.visit("turbidity", &mut sky.turbidity);
    visitor.visit("ground_albedo", &mut sky.ground_albedo);
    visitor.visit("sky_scale", &mut sky.sky_scale);
    visitor.visit("sun_scale", &mut sky.sun_scale);
    visitor.visit("sun_diameter", &mut sky.sun_diameter);
}

fn sun_sky(section: &Section<'_>, mut reader: ValueReader<'_, '_>) -> Option<SunSky> {
    let mut sky = SunSky {
        sun_direction: Vec3::Y,
        turbidity: 3.0,
        ground_albedo: Vec3::splat(0.3),
        sky_scale: 1.0,
        sun_scale: 1.0,
        sun_diameter: 0.5358,
        world_from_sky: Mat3::IDENTITY,
    };
    visit_sky(&mut reader, &mut sky);
    let (sun_direction, rotation) = (sun_direction(section), rotation(section));
    (sky.sun_direction, sky.world_from_sky) = (sun_direction?, rotation?);
    reader.is_right.then_some(sky)
}

/// Where the sun is: a direction, or its elevation and azimuth.
fn sun_direction(section: &Section<'_>) -> Option<Vec3> {
    section.reject_beside("sun_direction", &["elevation", "azimuth"])?;
    if let Some(field) = section.get("sun_direction") {
        let direction = direction(&field)?;
        return match direction.y < 0.0 {
            true => field.fail("points below the horizon, where there is no sky"),
            false => Some(direction),
        };
    }
    if section.get("elevation").or_else(|| section.get("azimuth")).is_none() {
        section.require("sun_direction", "sun_direction = [1, 1, 0] (or \"elevation\" and \"azimuth\")");
        return None;
    }
    let elevation = section.require("elevation", "elevation = 40").and_then(|f| f.number_in(0.0, 90.0));
    let azimuth = section.require("azimuth", "azimuth = 120").and_then(|f| f.number_in(-360.0, 360.0));
    let (sin, cos) = f64::from(elevation?).to_radians().sin_cos();
    let (east, north) = f64::from(azimuth?).to_radians().sin_cos();
    Some(DVec3::new(cos * east, sin, -cos * north).as_vec3())
}

/// How an environment is turned into the world: `transform`, which has to keep lengths.
fn rotation(section: &Section<'_>) -> Option<Mat3> {
    let Some(field) = section.get("transform") else { return Some(Mat3::IDENTITY) };
    let t = transform(&field)?;
    let m = t.matrix3;
    let off = (m.transpose() * m - glam::DMat3::IDENTITY).to_cols_array();
    if t.translation != DVec3::ZERO || off.iter().any(|x| x.abs() > 1e-4) {
        return field
            .fail("must turn the environment only: it is infinitely far away, and has no size or place");
    }
    Some(m.as_mat3())
}

/// The unit vector along three numbers. Vectors of length 1 within single precision are left unchanged.
pub(super) fn direction(field: &Field<'_>) -> Option<Vec3> {
    let vector = field.vec3(MAX_COORDINATE)?;
    let exact = vector.as_dvec3();
    if (exact.length_squared() - 1.0).abs() < 4e-7 {
        return Some(vector);
    }
    exact.try_normalize().map(DVec3::as_vec3).or_else(|| field.fail("has no direction"))
}

/// Reads all lights. Those with errors are left out.
pub(super) fn lights(top: &Section<'_>, textures: &mut Textures<'_>) -> Vec<PunctualLight> {
    let read = |section: &Section<'_>| light(section, textures);
    top.get("lights").map_or_else(Vec::new, |field| read_each(tables(&field, "lights"), read))
}

/// Reads `[[portals]]`. Those with errors are left out.
pub(super) fn portals(top: &Section<'_>) -> Vec<Portal> {
    let Some(field) = top.get("portals") else { return Vec::new() };
    tables(&field, "portals").flatten().filter_map(|section| portal(&section)).collect()
}

fn portal(section: &Section<'_>) -> Option<Portal> {
    section.reject_unknown_keys(&keys::PORTAL.known(None));
    let mut reader = ValueReader::new(section, &keys::PORTAL, None);
    let corner = reader.given("corner");
    let field = section.require("edges", "edges = [[2, 0, 0], [0, 1, 0]]")?;
    let both = field.numbers("two edges, for example [[2, 0, 0], [0, 1, 0]]")?;
    let [a, b] = both.map(|edge| edge.vec3(MAX_COORDINATE));
    let (a, b) = (a?, b?);
    if is_degenerate(a, b) {
        return field.fail("span no area");
    }
    if a.as_dvec3().normalize().dot(b.as_dvec3().normalize()).abs() > 1e-4 {
        return field.fail("are not at right angles");
    }
    Some(Portal { corner: corner?, edges: [a, b] })
}

fn light(section: &Section<'_>, textures: &mut Textures<'_>) -> Option<PunctualLight> {
    let kind = section.require("type", "type = \"point\"")?.choice(&keys::LIGHT.choices())?;
    section.reject_unknown_keys(&keys::LIGHT.known(Some(kind)));
    let name = section.get("name").map_or(Some(section.name.as_str()), |f| f.string()).map(str::to_owned);
    let mut reader = ValueReader::new(section, &keys::LIGHT, Some(kind));
    let kind = match kind.name() {
        "point" => {
            let (position, intensity) = (reader.given("position"), reader.given("intensity"));
            Some(PunctualKind::Point { position: position?, intensity: intensity? })
        }
        "spot" => spot(section, reader, textures),
        "projector" => projector(section, reader, textures),
        _ => {
            let direction =
                section.require("direction", "direction = [0, -1, 0]").and_then(|f| direction(&f));
            let (irradiance, diameter) = (reader.given("irradiance"), reader.or("diameter", 0.0)?);
            Some(PunctualKind::Directional { direction: direction?, irradiance: irradiance?, diameter })
        }
    };
    Some(PunctualLight { name: name?, kind: kind? })
}

fn spot(
    section: &Section<'_>,
    mut reader: ValueReader<'_, '_>,
    textures: &mut Textures<'_>,
) -> Option<PunctualKind> {
    let (position, intensity) = (reader.given("position"), intensity(section, textures));
    let direction = aim(section, position);
    let (inner, outer) = (reader.or("inner", 0.0), reader.or("outer", 45.0));
    let falloff = reader.or("falloff", SpotFalloff::default());
    let (inner, outer) = (inner?, outer?);
    if inner >= outer {
        let message = format!("\"inner\" must be below \"outer\", which is {outer}, not {inner}");
        let place = section.get("inner").or_else(|| section.get("outer"));
        section.src.error(place.map_or(section.span.clone(), |f| f.span()), message);
        return None;
    }
    let (position, direction, intensity, falloff) = (position?, direction?, intensity?, falloff?);
    let up = up(section, direction)?;
    let slide = match intensity.texture {
        NO_TEXTURE => None,
        texture => Some(Slide { texture, up }),
    };
    let intensity = intensity.value;
    Some(PunctualKind::Spot { position, direction, intensity, inner, outer, falloff, slide })
}

fn projector(
    section: &Section<'_>,
    mut reader: ValueReader<'_, '_>,
    textures: &mut Textures<'_>,
) -> Option<PunctualKind> {
    let (position, intensity) = (reader.given("position"), intensity(section, textures));
    let direction = aim(section, position);
    let (fov, aspect) = (reader.or("fov", 45.0), reader.or("aspect", 1.0));
    let (position, direction, Color { value: intensity, texture }) = (position?, direction?, intensity?);
    let slide = Slide { texture, up: up(section, direction)? };
    Some(PunctualKind::Projector { position, direction, intensity, fov: fov?, aspect: aspect?, slide })
}

/// The intensity of a light that may shine through a texture.
fn intensity(section: &Section<'_>, textures: &mut Textures<'_>) -> Option<Color> {
    textures.color(&section.require("intensity", "intensity = 10")?, MAX_RADIANCE)
}

/// Where the top of a picture is that a light shines through along `along`.
fn up(section: &Section<'_>, along: Vec3) -> Option<Vec3> {
    let Some(field) = section.get("up") else {
        // Whoever looks straight up or down has to say it; here something will do.
        return Some(if along.y.abs() < 0.999 { Vec3::Y } else { Vec3::NEG_Z });
    };
    let up = direction(&field)?;
    match up.cross(along).length() < 1e-3 {
        true => field.fail("is along the axis of the light"),
        false => Some(up),
    }
}

/// Where a spot light at `position` points: along a direction, or at a point.
fn aim(section: &Section<'_>, position: Option<Vec3>) -> Option<Vec3> {
    section.reject_both(["direction", "target"], "target")?;
    let Some(target) = section.get("target") else {
        return direction(&section.require("direction", "direction = [0, -1, 0]")?);
    };
    let along = (target.vec3(MAX_COORDINATE)? - position?).as_dvec3();
    let along = along.try_normalize().map(DVec3::as_vec3);
    along.or_else(|| target.fail("is where the light is, so it has no direction"))
}
