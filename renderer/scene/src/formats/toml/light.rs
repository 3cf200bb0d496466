//! `[environment]` and `[[lights]]`.

use std::collections::HashMap;

use glam::{DVec3, Mat3, Vec3};
use torrance_text::quoted;

use super::keys;
use super::texture::Textures;
use super::transform::transform;
use crate::description::limits::{MAX_COORDINATE, MAX_RADIANCE, is_degenerate};
use crate::description::{Environment, Portal, PunctualKind, PunctualLight, SpotFalloff, SunSky};
use crate::input::{Field, Section};

/// How spot lights fall off, by name.
pub(crate) const FALLOFFS: &[(&str, SpotFalloff)] =
    &[("smooth", SpotFalloff::Smooth), ("linear", SpotFalloff::Linear)];

/// Reads `[environment]`; `None` within if it is black.
pub(super) fn environment(section: &Section<'_>, textures: &mut Textures<'_>) -> Option<Option<Environment>> {
    let kinds = keys::ENVIRONMENT.choices();
    let kind = match section.get("type") {
        Some(field) => field.choice(&kinds)?,
        None => {
            keys::ENVIRONMENT.type_named(if section.get("file").is_some() { "image" } else { "constant" })?
        }
    };
    section.reject_unknown_keys(&keys::ENVIRONMENT.known(Some(kind)));
    match kind.name() {
        "image" => image(section, textures).map(Some),
        "sun_sky" => sun_sky(section).map(Environment::SunSky).map(Some),
        _ => {
            let radiance = section.require("radiance", "radiance = 0.2")?.color(MAX_RADIANCE)?;
            Some((radiance != Vec3::ZERO).then_some(Environment::Constant(radiance)))
        }
    }
}

fn image(section: &Section<'_>, textures: &mut Textures<'_>) -> Option<Environment> {
    let scale = section.get("scale").map_or(Some(Vec3::ONE), |f| f.color(MAX_RADIANCE));
    let rotation = rotation(section);
    let image = section.require("file", "file = \"sky.exr\"").and_then(|f| textures.environment(section, &f));
    Some(Environment::Image { image: image?, scale: scale?, world_from_image: rotation? })
}

fn sun_sky(section: &Section<'_>) -> Option<SunSky> {
    let number = |key: &str, default: f32, low: f32, high: f32| {
        section.get(key).map_or(Some(default), |f| f.number_in(low, high))
    };
    let turbidity = number("turbidity", 3.0, 1.0, 10.0);
    let ground_albedo = section.get("ground_albedo").map_or(Some(Vec3::splat(0.3)), |f| f.color(1.0));
    let sky_scale = number("sky_scale", 1.0, 0.0, MAX_RADIANCE);
    let sun_scale = number("sun_scale", 1.0, 0.0, MAX_RADIANCE);
    let sun_diameter = number("sun_diameter", 0.5358, 0.01, 90.0);
    let (sun_direction, rotation) = (sun_direction(section), rotation(section));
    Some(SunSky {
        sun_direction: sun_direction?,
        turbidity: turbidity?,
        ground_albedo: ground_albedo?,
        sky_scale: sky_scale?,
        sun_scale: sun_scale?,
        sun_diameter: sun_diameter?,
        world_from_sky: rotation?,
    })
}

/// Where the sun is: a direction, or its elevation and azimuth.
fn sun_direction(section: &Section<'_>) -> Option<Vec3> {
    let angles = [section.get("elevation"), section.get("azimuth")];
    match (section.get("sun_direction"), angles) {
        (Some(_), [Some(angle), _] | [_, Some(angle)]) => {
            let message = format!("{} is given by \"sun_direction\" already; keep one of them", angle.name);
            section.src.error(angle.key_span, message);
            None
        }
        (Some(field), _) => match direction(&field)? {
            d if d.y < 0.0 => field.fail("points below the horizon, where there is no sky"),
            d => Some(d),
        },
        (None, [None, None]) => {
            section.require("sun_direction", "sun_direction = [1, 1, 0] (or \"elevation\" and \"azimuth\")");
            None
        }
        (None, _) => {
            let elevation =
                section.require("elevation", "elevation = 40").and_then(|f| f.number_in(0.0, 90.0));
            let azimuth =
                section.require("azimuth", "azimuth = 120").and_then(|f| f.number_in(-360.0, 360.0));
            let (sin, cos) = f64::from(elevation?).to_radians().sin_cos();
            let (east, north) = f64::from(azimuth?).to_radians().sin_cos();
            Some(DVec3::new(cos * east, sin, -cos * north).as_vec3())
        }
    }
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
pub(super) fn lights(top: &Section<'_>) -> Vec<PunctualLight> {
    let Some(field) = top.get("lights") else { return Vec::new() };
    let Some(items) = field.array("an array of tables: write [[lights]], with two brackets") else {
        return Vec::new();
    };
    let mut names = HashMap::new();
    let mut lights = Vec::with_capacity(items.len());
    for (i, item) in items.iter().enumerate() {
        let Some(section) = item.table(format!("lights[{i}]")) else { continue };
        lights.extend(light(&section));
        if let Some(field) = section.get("name")
            && let Some(name) = field.as_str()
            && let Some(first) = names.insert(name, i)
        {
            top.src.error(field.span(), format!("lights[{first}] is named {} already", quoted(name)));
        }
    }
    lights
}

/// Reads `[[portals]]`. Those with errors are left out.
pub(super) fn portals(top: &Section<'_>) -> Vec<Portal> {
    let Some(field) = top.get("portals") else { return Vec::new() };
    let items = field.array("an array of tables: write [[portals]], with two brackets").unwrap_or_default();
    let sections = items.iter().enumerate().map(|(i, item)| item.table(format!("portals[{i}]")));
    sections.flatten().filter_map(|section| portal(&section)).collect()
}

fn portal(section: &Section<'_>) -> Option<Portal> {
    section.reject_unknown_keys(&keys::PORTAL.known(None));
    let corner = section.require("corner", "corner = [-1, 0, 0]").and_then(|f| f.vec3(MAX_COORDINATE));
    let field = section.require("edges", "edges = [[2, 0, 0], [0, 1, 0]]")?;
    let both = field.numbers(2, "two edges, for example [[2, 0, 0], [0, 1, 0]]")?;
    let (a, b) = (both[0].vec3(MAX_COORDINATE), both[1].vec3(MAX_COORDINATE));
    let (a, b) = (a?, b?);
    if is_degenerate(a, b) {
        return field.fail("span no area");
    }
    if a.as_dvec3().normalize().dot(b.as_dvec3().normalize()).abs() > 1e-4 {
        return field.fail("are not at right angles");
    }
    Some(Portal { corner: corner?, edges: [a, b] })
}

fn light(section: &Section<'_>) -> Option<PunctualLight> {
    let kind = section.require("type", "type = \"point\"")?.choice(&keys::LIGHT.choices())?;
    section.reject_unknown_keys(&keys::LIGHT.known(Some(kind)));
    let name = section.get("name").map_or(Some(section.name.as_str()), |f| f.string()).map(str::to_owned);
    let kind = match kind.name() {
        "point" => point(section),
        "spot" => spot(section),
        _ => directional(section),
    };
    Some(PunctualLight { name: name?, kind: kind? })
}

fn place(section: &Section<'_>) -> Option<Vec3> {
    section.require("position", "position = [0, 3, 0]")?.vec3(MAX_COORDINATE)
}

fn intensity(section: &Section<'_>) -> Option<Vec3> {
    section.require("intensity", "intensity = 10")?.color(MAX_RADIANCE)
}

fn point(section: &Section<'_>) -> Option<PunctualKind> {
    let (position, intensity) = (place(section), intensity(section));
    Some(PunctualKind::Point { position: position?, intensity: intensity? })
}

fn spot(section: &Section<'_>) -> Option<PunctualKind> {
    let (position, intensity) = (place(section), intensity(section));
    let direction = aim(section, position);
    let inner = section.get("inner").map_or(Some(0.0), |f| f.number_in(0.0, 180.0));
    let outer = section.get("outer").map_or(Some(45.0), |f| f.number_in(0.001, 180.0));
    let falloff = section.get("falloff").map_or(Some(SpotFalloff::Smooth), |f| f.choice(FALLOFFS));
    let (inner, outer) = (inner?, outer?);
    if inner >= outer {
        let message = format!("\"inner\" must be below \"outer\", which is {outer}, not {inner}");
        let place = section.get("inner").or_else(|| section.get("outer"));
        section.src.error(place.map_or(section.span.clone(), |f| f.span()), message);
        return None;
    }
    Some(PunctualKind::Spot {
        position: position?,
        direction: direction?,
        intensity: intensity?,
        inner,
        outer,
        falloff: falloff?,
    })
}

/// Where a spot light at `position` points: along a direction, or at a point.
fn aim(section: &Section<'_>, position: Option<Vec3>) -> Option<Vec3> {
    match (section.get("direction"), section.get("target")) {
        (Some(_), Some(target)) => {
            let message = format!("{} gives both \"direction\" and \"target\"; keep one", section.name);
            section.src.error(target.key_span, message);
            None
        }
        (None, Some(target)) => {
            let along = (target.vec3(MAX_COORDINATE)? - position?).as_dvec3();
            let along = along.try_normalize().map(DVec3::as_vec3);
            along.or_else(|| target.fail("is where the light is, so it has no direction"))
        }
        _ => direction(&section.require("direction", "direction = [0, -1, 0]")?),
    }
}

fn directional(section: &Section<'_>) -> Option<PunctualKind> {
    let direction = section.require("direction", "direction = [0, -1, 0]").and_then(|f| direction(&f));
    let irradiance = section.require("irradiance", "irradiance = 3").and_then(|f| f.color(MAX_RADIANCE));
    let diameter = section.get("diameter").map_or(Some(0.0), |f| f.number_in(0.0, 179.0));
    Some(PunctualKind::Directional { direction: direction?, irradiance: irradiance?, diameter: diameter? })
}
