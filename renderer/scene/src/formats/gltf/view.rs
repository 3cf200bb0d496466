//! Cameras and lights of nodes.

use std::f32::consts::{FRAC_PI_2, FRAC_PI_4};

use glam::{DAffine3, Vec3};

use super::json::Node;
use crate::description::{Camera, Clip, FovAxis, Projection, PunctualKind, PunctualLight, SpotFalloff};

/// The shorter side of the image of a camera that has an aspect ratio, pixels.
const SHORTER_SIDE: f32 = 512.0;
/// Most that one side of an image may be longer than the other.
const MAX_ASPECT: f32 = 16.0;

/// Most that a light may have, cd or lx.
const MAX_INTENSITY: f32 = 1e12;

/// Name of the extension of lights.
pub(super) const LIGHTS: &str = "KHR_lights_punctual";

/// A camera, and the size of an image of its aspect ratio.
pub(super) struct View {
    pub(super) camera: Camera,
    pub(super) size: Option<(u32, u32)>,
}

/// The camera that `from` is the index of, on a node. Scale of the node does not count, nor do clipping planes.
pub(super) fn camera(from: &Node<'_>, world: &DAffine3) -> Option<View> {
    let node = from.indexed("cameras", &["type", "perspective", "orthographic"])?;
    let kind = node.require("type")?;
    let (projection, aspect) = match kind.string()? {
        "perspective" => perspective(&node.require("perspective")?)?,
        "orthographic" => orthographic(&node.require("orthographic")?)?,
        other => {
            let other = torrance_text::quoted(other);
            return kind.fail(format!("must be \"perspective\" or \"orthographic\", not {other}"));
        }
    };
    let (Some(back), Some(up)) = (axis(world, glam::DVec3::Z), axis(world, glam::DVec3::Y)) else {
        return from.fail("is of a camera that its node flattens");
    };
    if back.cross(up).length_squared() < 1e-12 {
        return from.fail("is of a camera that its node flattens");
    }
    let position = world.translation.as_vec3();
    // Far from the origin, a point one metre away would be rounded too much.
    let distance = position.abs().max_element().max(1.0);
    let target = position - distance * back;
    let camera = Camera { position, target, up, mirrored: false, projection, clip: Clip::DEFAULT };
    Some(View { camera, size: aspect.map(size) })
}

/// Where an axis of a node points.
fn axis(world: &DAffine3, axis: glam::DVec3) -> Option<Vec3> {
    world.transform_vector3(axis).try_normalize().map(|v| v.as_vec3())
}

fn perspective(node: &Node<'_>) -> Option<(Projection, Option<f32>)> {
    let node = node.clone().object(&["aspectRatio", "yfov", "zfar", "znear"])?;
    let yfov = node.require("yfov")?;
    let fov = yfov.number()?.to_degrees();
    if !(1e-3..179.9).contains(&fov) {
        return yfov.fail("must be above 0 and below π");
    }
    let aspect = node.optional("aspectRatio", |node| match node.number()? {
        ratio if ratio > 0.0 => Some(ratio),
        _ => node.fail("must be above 0"),
    })?;
    Some((Projection::pinhole(fov, FovAxis::Y), aspect))
}

fn orthographic(node: &Node<'_>) -> Option<(Projection, Option<f32>)> {
    let node = node.clone().object(&["xmag", "ymag", "zfar", "znear"])?;
    let extent = |key: &str| {
        let node = node.require(key)?;
        let extent = node.number()?.abs();
        if (1e-9..1e9).contains(&extent) { Some(extent) } else { node.fail("must not be 0") }
    };
    let (x, y) = (extent("xmag")?, extent("ymag")?);
    Some((Projection::Orthographic { size: 2.0 * y, axis: FovAxis::Y }, Some(x / y)))
}

/// Width and height of an image.
fn size(aspect: f32) -> (u32, u32) {
    let aspect = aspect.clamp(1.0 / MAX_ASPECT, MAX_ASPECT);
    let (width, height) = (SHORTER_SIDE * aspect.max(1.0), SHORTER_SIDE / aspect.min(1.0));
    (width.round() as u32, height.round() as u32)
}

/// The light that a node's extension names, in candela and lux as if they were W/sr and W/m²: how many of these they are
/// depends on the program that wrote the file, and is decided by [`crate::light`].
pub(super) fn light(from: &Node<'_>, name: String, world: &DAffine3) -> Option<PunctualLight> {
    let document = from.document;
    let from = from.require("light")?;
    let index = from.whole()? as usize;
    let lights = document.node().extension(LIGHTS).and_then(|e| e.value.get("lights")?.as_array());
    let Some(value) = lights.and_then(|lights| lights.get(index)) else {
        return from.fail(format!("is {index}, and {LIGHTS} has {} lights", lights.map_or(0, Vec::len)));
    };
    let path = format!("extensions.{LIGHTS}.lights[{index}]");
    let node = document.at(path, value).object(&["color", "intensity", "type", "range", "spot"])?;
    if let Some(range) = node.get("range") {
        range.warn("is left out: light has no end");
    }
    let color = Vec3::from(node.numbers_in("color", [1.0; 3], 1.0)?);
    let strength = color * node.number_in("intensity", 1.0, 0.0, MAX_INTENSITY)?;
    let position = world.translation.as_vec3();
    let direction = axis(world, glam::DVec3::NEG_Z);
    let along = || direction.or_else(|| from.fail("is of a light whose node flattens it"));
    let kind = node.require("type")?;
    let kind = match kind.string()? {
        "point" => PunctualKind::Point { position, intensity: strength },
        "directional" => {
            PunctualKind::Directional { direction: along()?, irradiance: strength, diameter: 0.0 }
        }
        "spot" => {
            let (inner, outer) = cone(&node)?;
            let falloff = SpotFalloff::Smooth;
            PunctualKind::Spot {
                position,
                direction: along()?,
                intensity: strength,
                inner,
                outer,
                falloff,
                slide: None,
            }
        }
        other => {
            let other = torrance_text::quoted(other);
            return kind.fail(format!("must be \"directional\", \"point\" or \"spot\", not {other}"));
        }
    };
    Some(PunctualLight { name, kind })
}

/// Inner and outer angle of a spot light, degrees.
fn cone(light: &Node<'_>) -> Option<(f32, f32)> {
    let spot = light.require("spot")?.object(&["innerConeAngle", "outerConeAngle"])?;
    let inner = spot.get_or("innerConeAngle", 0.0, |n| n.number())?;
    let outer = spot.get_or("outerConeAngle", FRAC_PI_4, |n| n.number())?;
    if !(0.0 <= inner && inner < outer && outer <= FRAC_PI_2 + 1e-6) {
        return spot.fail(format!(
            "has the angles {inner} and {outer}; the inner one must be 0 or above and below the outer one, and that at \
             most π/2"
        ));
    }
    Some((inner.to_degrees(), outer.to_degrees().min(90.0)))
}
