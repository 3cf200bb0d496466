//! `[[shapes]]`.

use std::collections::HashMap;

use glam::{Affine3A, DAffine3, Vec3};

use super::mesh::Meshes;
use super::transform::{similarity_scale, to_f32, transform};
use super::{BLACK, Materials, keys};
use crate::input::Section;
use crate::input::{hint, quoted};
use crate::scene::limits::{MAX_COORDINATE, MAX_RADIANCE, is_degenerate};
use crate::scene::{Color, Files, Geometry, Shape};

/// What is wrong with something that reaches beyond [`MAX_COORDINATE`].
pub(super) const TOO_FAR: &str = "reaches beyond 1e9 metres, where single precision fails";
/// What is wrong with something whose normal cannot be computed.
const TOO_SMALL: &str = "is too small for single precision where it stands: it has no area";
/// Smallest radius of a sphere relative to the largest coordinate of its centre: eight steps of `f32` or more.
/// Below, normals are more rounding than sphere.
const MIN_RELATIVE_RADIUS: f32 = 1.0 / (1 << 20) as f32;

/// Reads all shapes. Those with errors are left out.
pub(super) fn shapes(top: &Section<'_>, materials: &mut Materials, files: &Files) -> Vec<Shape> {
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
    let mut meshes = Meshes::new(files);
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
    check_material(section, materials, material, emission, geometry.as_ref());
    Some(Shape {
        name: name?,
        geometry: geometry?,
        material: material?,
        emission: Color::new(emission?),
        emission_two_sided: emission_two_sided?,
        flip_normals: flip_normals?,
        world_from_object: world_from_object?,
    })
}

/// Reports a material that does not go with the shape.
fn check_material(
    section: &Section<'_>,
    materials: &Materials,
    material: Option<usize>,
    emission: Option<Vec3>,
    geometry: Option<&Geometry>,
) {
    let Some(field) = section.get("material") else { return };
    let Some(material) = material.and_then(|i| materials.get(i)) else { return };
    if !material.opacity.is(1.0) && emission != Some(Vec3::ZERO) {
        let message = format!(
            "{} emits light, and its material has an \"opacity\"; that is not supported",
            section.name
        );
        section.src.error(field.span(), message);
    }
    if let Some(Geometry::Mesh(mesh)) = geometry
        && mesh.uvs.is_empty()
        && materials.is_textured(material)
    {
        let file = section.get("file").and_then(|f| f.string()).map_or_else(String::new, quoted);
        let message = format!(
            "material {} has textures, and mesh {file} has no texture coordinates (vt) to place them by",
            quoted(&material.name)
        );
        section.src.error(field.span(), message);
    }
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
        let defined: Vec<_> = materials.names().filter(|n| *n != BLACK).collect();
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
    let (reach, too_small) = match geometry {
        Geometry::Quad => extent(&t, &[[Vec3::X, Vec3::Y, Vec3::ZERO]]),
        Geometry::Box => extent(&t, &BOX_FACES),
        Geometry::Sphere { center, radius } => {
            let Some(scale) = similarity_scale(exact) else {
                let message =
                    "is a sphere, which \"transform\" would make an ellipsoid; scale all axes alike";
                return complain(section, message);
            };
            let radius = *radius * scale as f32;
            let center = t.transform_point3(*center).abs();
            let reach = (center + radius).max_element();
            let least = center.max_element() * MIN_RELATIVE_RADIUS;
            if reach <= MAX_COORDINATE && radius >= 1.0 / MAX_COORDINATE && radius < least {
                return complain_of_radius(section, f64::from(least) / scale);
            }
            (reach, radius < 1.0 / MAX_COORDINATE)
        }
        Geometry::Mesh(_) | Geometry::Disk | Geometry::Cylinder { .. } => return,
    };
    if reach > MAX_COORDINATE {
        complain(section, TOO_FAR);
    } else if too_small {
        complain(section, TOO_SMALL);
    }
}

/// The faces of a box: two edges' directions, and the middle.
const BOX_FACES: [[Vec3; 3]; 6] = [
    [Vec3::X, Vec3::Y, Vec3::Z],
    [Vec3::X, Vec3::Y, Vec3::NEG_Z],
    [Vec3::Y, Vec3::Z, Vec3::X],
    [Vec3::Y, Vec3::Z, Vec3::NEG_X],
    [Vec3::Z, Vec3::X, Vec3::Y],
    [Vec3::Z, Vec3::X, Vec3::NEG_Y],
];

/// The largest coordinate of faces in the world, and whether one of their triangles has no area there: far from
/// the origin, corners are rounded onto each other.
fn extent(t: &Affine3A, faces: &[[Vec3; 3]]) -> (f32, bool) {
    let (mut reach, mut degenerate) = (0.0_f32, false);
    for [x, y, middle] in faces {
        let corner = |u: f32, v: f32| t.transform_point3(u * *x + v * *y + *middle);
        let [a, b, c, d] = [corner(-1.0, -1.0), corner(1.0, -1.0), corner(1.0, 1.0), corner(-1.0, 1.0)];
        reach = [a, b, c, d].iter().fold(reach, |r, p| r.max(p.abs().max_element()));
        degenerate |= is_degenerate(b - a, c - a) || is_degenerate(c - a, d - a);
    }
    (reach, degenerate)
}

/// Reports a sphere too small for its distance, whose radius would have to be `least` in object space.
fn complain_of_radius(section: &Section<'_>, least: f64) {
    // Four digits, rounded up.
    let digit = 10f64.powi(least.log10().floor() as i32 - 3);
    let least = (least / digit).ceil();
    let least = if digit < 1.0 { least / (1.0 / digit).round() } else { least * digit };
    let place = section.get("radius").or_else(|| section.get("transform")).map(|f| f.span());
    let message = format!(
        "{} is too small for single precision so far from the origin; its radius must be at least {least}",
        section.name
    );
    section.src.error(place.unwrap_or(section.span.clone()), message);
}

/// Reports something wrong with where a shape stands.
pub(super) fn complain(section: &Section<'_>, message: &str) {
    let place = section.get("transform").map_or(section.span.clone(), |f| f.span());
    section.src.error(place, format!("{} {message}", section.name));
}
