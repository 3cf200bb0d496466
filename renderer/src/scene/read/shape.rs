//! `[[shapes]]`.

use std::collections::HashMap;
use std::path::Path;

use glam::{Affine3A, DAffine3, Vec3};

use super::mesh::Meshes;
use super::source::Section;
use super::transform::{similarity_scale, to_f32, transform};
use super::{Materials, keys};
use crate::scene::limits::{MAX_COORDINATE, MAX_RADIANCE, is_degenerate};
use crate::scene::suggest::{hint, quoted};
use crate::scene::{Geometry, Shape};

/// What is wrong with something that reaches beyond [`MAX_COORDINATE`].
pub(super) const TOO_FAR: &str = "reaches beyond 1e9 metres, where single precision fails";
/// What is wrong with something whose normal cannot be computed.
pub(super) const TOO_SMALL: &str = "is too small for single precision: it has no area";

/// Reads all shapes. Those with errors are left out.
pub(super) fn shapes(top: &Section<'_>, materials: &mut Materials, folder: &Path) -> Vec<Shape> {
    const NONE: &str = "the scene has no shapes; add one with [[shapes]]";
    let src = top.src;
    let Some(field) = top.get("shapes") else {
        src.error(0..0, NONE);
        return Vec::new();
    };
    let Some(items) = field.array("an array of tables: write [[shapes]], with two brackets") else {
        return Vec::new();
    };
    if items.is_empty() {
        src.error(field.span(), NONE);
    }
    let mut meshes = Meshes::new(folder);
    let mut names = HashMap::new();
    let mut shapes = Vec::with_capacity(items.len());
    for (i, item) in items.iter().enumerate() {
        let Some(section) = item.table(format!("shapes[{i}]")) else { continue };
        shapes.extend(shape(&section, materials, &mut meshes));
        if let Some(field) = section.get("name")
            && let Some(name) = field.as_str()
            && let Some(first) = names.insert(name, i)
        {
            src.error(field.span(), format!("shapes[{first}] is named {} already", quoted(name)));
        }
    }
    shapes
}

fn shape(section: &Section<'_>, materials: &mut Materials, meshes: &mut Meshes<'_>) -> Option<Shape> {
    let choices: Vec<_> = keys::SHAPE_TYPES.iter().map(|(name, extra)| (*name, (*name, *extra))).collect();
    let (kind, extra) = section.require("type", "type = \"sphere\"")?.choice(&choices)?;
    section.reject_unknown_keys(&[keys::SHAPE, extra].concat());

    let name = section.get("name").map_or(Some(section.name.as_str()), |f| f.string()).map(str::to_owned);
    let emission = section.get("emission").map_or(Some(Vec3::ZERO), |f| f.color(MAX_RADIANCE));
    let sides = [("front", false), ("both", true)];
    let emission_two_sided = section.get("emission_sides").map_or(Some(false), |f| f.choice(&sides));
    let flip_normals = section.get("flip_normals").map_or(Some(false), |f| f.boolean());
    let exact = section.get("transform").map_or(Some(DAffine3::IDENTITY), |f| transform(&f));
    let material = material(section, materials, emission);
    let world_from_object = exact.as_ref().map(to_f32);
    let geometry = match kind {
        "quad" => Some(Geometry::Quad),
        "box" => Some(Geometry::Box),
        "sphere" => sphere(section),
        _ => meshes.mesh(section, world_from_object.as_ref()).map(Geometry::Mesh),
    };
    if let (Some(geometry), Some(exact)) = (&geometry, &exact) {
        check_extent(section, geometry, exact);
    }
    Some(Shape {
        name: name?,
        geometry: geometry?,
        material: material?,
        emission: emission?,
        emission_two_sided: emission_two_sided?,
        flip_normals: flip_normals?,
        world_from_object: world_from_object?,
    })
}

/// The index of the shape's material. Light sources may go without, and then reflect nothing.
fn material(section: &Section<'_>, materials: &mut Materials, emission: Option<Vec3>) -> Option<usize> {
    let Some(field) = section.get("material") else {
        if emission == Some(Vec3::ZERO) {
            let message = format!("{} has neither a \"material\" nor an \"emission\"", section.name);
            section.src.error(section.span.clone(), message);
            return None;
        }
        return Some(materials.black());
    };
    let name = field.string()?;
    let found = materials.find(name);
    if found.is_none() {
        let defined: Vec<_> = materials.names().filter(|n| *n != super::BLACK).collect();
        let hint = match defined.is_empty() {
            true => format!("; define it with [materials.{}]", toml_key(name)),
            false => hint(name, "the scene has", defined.iter().copied()),
        };
        section.src.error(field.span(), format!("unknown material {}{hint}", quoted(name)));
    }
    found
}

/// A key as TOML wants it written.
fn toml_key(name: &str) -> String {
    let bare = !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
    if bare { name.to_owned() } else { quoted(name) }
}

fn sphere(section: &Section<'_>) -> Option<Geometry> {
    let center = section.get("center").map_or(Some(Vec3::ZERO), |f| f.vec3(MAX_COORDINATE));
    let radius = section.get("radius").map_or(Some(1.0), |f| match f.number()? {
        r if r <= 0.0 => f.reject("must be above 0"),
        _ => f.number_in(1.0 / MAX_COORDINATE, MAX_COORDINATE),
    });
    Some(Geometry::Sphere { center: center?, radius: radius? })
}

/// Reports a shape that, where it stands in the world, is too large or too small to be hit. Meshes are looked
/// at triangle by triangle as they are read.
fn check_extent(section: &Section<'_>, geometry: &Geometry, exact: &DAffine3) {
    let t: Affine3A = to_f32(exact);
    let [x, y, z] = [t.matrix3.x_axis, t.matrix3.y_axis, t.matrix3.z_axis].map(Vec3::from);
    let origin = Vec3::from(t.translation).abs();
    let flat = |a: Vec3, b: Vec3| is_degenerate(a * 2.0, b * 2.0);
    let (reach, too_small) = match geometry {
        Geometry::Quad => (origin + x.abs() + y.abs(), flat(x, y)),
        Geometry::Box => (origin + x.abs() + y.abs() + z.abs(), flat(x, y) || flat(y, z) || flat(z, x)),
        Geometry::Sphere { center, radius } => {
            let Some(scale) = similarity_scale(exact) else {
                let message =
                    "is a sphere, which \"transform\" would make an ellipsoid; scale all axes alike";
                return complain(section, message);
            };
            let radius = *radius * scale as f32;
            (t.transform_point3(*center).abs() + radius, radius < 1.0 / MAX_COORDINATE)
        }
        Geometry::Mesh(_) => return,
    };
    if reach.max_element() > MAX_COORDINATE {
        complain(section, TOO_FAR);
    } else if too_small {
        complain(section, TOO_SMALL);
    }
}

/// Reports something wrong with where a shape stands.
pub(super) fn complain(section: &Section<'_>, message: &str) {
    let place = section.get("transform").map_or(section.span.clone(), |f| f.span());
    section.src.error(place, format!("{} {message}", section.name));
}
