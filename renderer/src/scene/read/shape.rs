//! `[[shapes]]`.

use std::collections::HashMap;

use glam::{Affine3A, DAffine3, Vec3};

use super::mesh::Meshes;
use super::texture::Textures;
use super::transform::{similarity_scale, transform};
use super::{Materials, keys};
use crate::input::{Field, Section, hint, quoted};
use crate::scene::limits::{MAX_COORDINATE, MAX_RADIANCE, is_degenerate};
use crate::scene::{Color, Geometry, Shape, Texture, texture};

/// What is wrong with something that reaches beyond [`MAX_COORDINATE`].
pub(super) const TOO_FAR: &str = "reaches beyond 1e9 metres, where single precision fails";
/// What is wrong with something whose normal cannot be computed.
const TOO_SMALL: &str = "is too small for single precision where it stands: it has no area";
/// Which sides emit, by name.
const SIDES: &[(&str, bool)] = &[("front", false), ("both", true)];
/// Smallest radius of a sphere relative to the largest coordinate of its centre: eight steps of `f32` or more.
/// Below, normals are more rounding than sphere.
const MIN_RELATIVE_RADIUS: f32 = 1.0 / (1 << 20) as f32;

/// What shapes refer to, read so far.
pub(super) struct Parts<'a> {
    pub(super) materials: Materials,
    pub(super) textures: Textures<'a>,
    pub(super) meshes: Meshes<'a>,
}

/// Reads `[[shapes]]`. Those with errors are left out.
pub(super) fn shapes(top: &Section<'_>, parts: &mut Parts<'_>) -> Vec<Shape> {
    const NONE: &str = "the scene has no shapes; add one with [[shapes]]";
    let Some(field) = top.get("shapes") else {
        if top.get("instances").is_none() {
            top.src.error(0..0, NONE);
        }
        return Vec::new();
    };
    list(&field, "shapes", NONE, parts)
}

/// Reads an array of shapes, which messages call `place`; `none` says that there are none.
pub(super) fn list(field: &Field<'_>, place: &str, none: &str, parts: &mut Parts<'_>) -> Vec<Shape> {
    let Some(items) = field.array(&format!("an array of tables: write [[{place}]], with two brackets"))
    else {
        return Vec::new();
    };
    if items.is_empty() {
        field.src.error(field.span(), none);
    }
    let mut names = HashMap::new();
    let mut shapes = Vec::with_capacity(items.len());
    for (i, item) in items.iter().enumerate() {
        let Some(section) = item.table(format!("{place}[{i}]")) else { continue };
        shapes.extend(shape(&section, parts));
        if let Some(field) = section.get("name")
            && let Some(name) = field.as_str()
            && let Some(first) = names.insert(name, i)
        {
            field.src.error(field.span(), format!("{place}[{first}] is named {} already", quoted(name)));
        }
    }
    shapes
}

fn shape(section: &Section<'_>, parts: &mut Parts<'_>) -> Option<Shape> {
    let kind = section.require("type", "type = \"sphere\"")?.choice(&keys::SHAPE.choices())?;
    section.reject_unknown_keys(&keys::SHAPE.known(Some(kind)));

    let name = section.get("name").map_or(Some(section.name.as_str()), |f| f.string()).map(str::to_owned);
    let dark = Some(Color::new(Vec3::ZERO));
    let emission = section.get("emission").map_or(dark, |f| parts.textures.color(&f, MAX_RADIANCE));
    let emission_two_sided = section.get("emission_sides").map_or(Some(false), |f| f.choice(SIDES));
    if let Some(field) = section.get("emission_sides")
        && emission_two_sided == Some(true)
        && emission.is_some_and(|e| e.value == Vec3::ZERO)
    {
        field.warn("\"emission_sides\" has no effect without an \"emission\"");
    }
    let flip_normals = section.get("flip_normals").map_or(Some(false), |f| f.boolean());
    let exact = section.get("transform").map_or(Some(DAffine3::IDENTITY), |f| transform(&f));
    let material = material(section, parts, emission);
    let world_from_object = exact.as_ref().map(DAffine3::as_affine3a);
    let geometry = match kind.name() {
        "quad" => Some(Geometry::Quad),
        "box" => Some(Geometry::Box),
        "disk" => Some(Geometry::Disk),
        "sphere" => sphere(section),
        "cylinder" => cylinder(section),
        _ => parts.meshes.mesh(section, world_from_object.as_ref()).map(Geometry::Mesh),
    };
    if let (Some(geometry), Some(exact)) = (&geometry, &exact) {
        check_extent(section, geometry, exact);
    }
    check_textures(section, parts, material, emission, geometry.as_ref());
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

/// Reports textures on a mesh that has no texture coordinates to place them by, and warns of those of colours that its
/// vertices have not.
fn check_textures(
    section: &Section<'_>,
    parts: &Parts<'_>,
    material: Option<usize>,
    emission: Option<Color>,
    geometry: Option<&Geometry>,
) {
    let Some(Geometry::Mesh(mesh)) = geometry else { return };
    let textures = &parts.textures.textures;
    let uses = |is: fn(&Texture) -> bool| {
        let material = material.and_then(|i| parts.materials.get(i));
        let material = material.filter(|m| parts.materials.has(m, textures, is));
        (material, emission.is_some_and(|e| texture::has(e.texture, textures, is)))
    };
    if mesh.colors.is_empty()
        && let (Some(_), _) | (_, true) = uses(Texture::is_by_vertices)
    {
        let message = format!("{} has no vertex colours for its textures; they are white", section.name);
        section.src.warn(section.src.problem(section.span.clone(), message));
    }
    if !mesh.uvs.is_empty() {
        return;
    }
    let (material, emission) = uses(Texture::is_by_uvs);
    let file = section.get("file").and_then(|f| f.string()).map_or_else(String::new, quoted);
    if let Some(field) = section.get("material")
        && let Some(material) = material
    {
        let message = format!(
            "material {} has textures, and mesh {file} has no texture coordinates (vt) to place them by",
            quoted(&material.name)
        );
        section.src.error(field.span(), message);
    }
    if let Some(field) = section.get("emission")
        && emission
    {
        let message = format!(
            "\"emission\" is a texture, and mesh {file} has no texture coordinates (vt) to place it by"
        );
        section.src.error(field.span(), message);
    }
}

/// The index of the shape's material. Light sources may go without, and then reflect nothing.
fn material(section: &Section<'_>, parts: &mut Parts<'_>, emission: Option<Color>) -> Option<usize> {
    let materials = &mut parts.materials;
    let Some(field) = section.get("material") else {
        if emission.is_some_and(|e| e.value == Vec3::ZERO) {
            let message = format!("{} has neither a \"material\" nor an \"emission\"", section.name);
            section.src.error(section.span.clone(), message);
            return None;
        }
        return Some(materials.black());
    };
    if field.is_table() {
        let owner = section.get("name").and_then(|f| f.as_str()).unwrap_or(&section.name);
        return materials.inline(&field, owner, &mut parts.textures);
    }
    if field.as_str().is_none() {
        return field.wrong_type(
            "the name of a material, or a table such as { type = \"diffuse\", reflectance = 0.5 }",
        );
    }
    let name = field.string()?;
    let found = materials.names().index_of(name);
    if found.is_none() {
        let hint = match materials.names().is_empty() {
            true => format!("; define it with [materials.{}]", toml_key(name)),
            false => hint(name, "the scene has", materials.names().iter()),
        };
        section.src.error(field.span(), format!("unknown material {}{hint}", quoted(name)));
    }
    found
}

/// A key as TOML wants it written.
pub(crate) fn toml_key(name: &str) -> String {
    let bare = !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
    if bare { name.to_owned() } else { quoted(name) }
}

fn sphere(section: &Section<'_>) -> Option<Geometry> {
    let center = section.get("center").map_or(Some(Vec3::ZERO), |f| f.vec3(MAX_COORDINATE));
    let radius = radius(section);
    Some(Geometry::Sphere { center: center?, radius: radius? })
}

fn radius(section: &Section<'_>) -> Option<f32> {
    section.get("radius").map_or(Some(1.0), |f| match f.number()? {
        r if r <= 0.0 => f.reject("must be above 0"),
        _ => f.number_in(1.0 / MAX_COORDINATE, MAX_COORDINATE),
    })
}

fn cylinder(section: &Section<'_>) -> Option<Geometry> {
    let point = |key: &str, default| section.get(key).map_or(Some(default), |f| f.vec3(MAX_COORDINATE));
    let (from, to, radius) = (point("from", Vec3::ZERO), point("to", Vec3::Z), radius(section));
    let (from, to) = (from?, to?);
    if (to - from).as_dvec3().length() < 1.0 / f64::from(MAX_COORDINATE) {
        let place =
            section.get("to").or_else(|| section.get("from")).map_or(section.span.clone(), |f| f.span());
        section.src.error(place, "\"from\" and \"to\" are the same point, so the cylinder has no axis");
        return None;
    }
    Some(Geometry::Cylinder { from, to, radius: radius? })
}

/// Reports a shape that, where it stands in the world, is too large or too small to be hit. Meshes are looked
/// at triangle by triangle as they are read.
fn check_extent(section: &Section<'_>, geometry: &Geometry, exact: &DAffine3) {
    let t = exact.as_affine3a();
    let (reach, too_small) = match geometry {
        Geometry::Quad | Geometry::Disk => extent(&t, &[[Vec3::X, Vec3::Y, Vec3::ZERO]]),
        Geometry::Box => extent(&t, &BOX_FACES),
        Geometry::Sphere { center, radius } => {
            let Some(scale) = similarity_scale(exact) else {
                let message =
                    "is a sphere, which \"transform\" would make an ellipsoid; scale all axes alike";
                return complain(section, message);
            };
            let center = t.transform_point3(*center).abs().max_element();
            match round_extent(section, center, f64::from(*radius), scale) {
                Some(found) => found,
                None => return,
            }
        }
        Geometry::Cylinder { from, to, radius } => {
            let Some(scale) = similarity_scale(exact) else {
                let message =
                    "is a cylinder, which \"transform\" would make something else; scale all axes alike";
                return complain(section, message);
            };
            let [from, to] = [from, to].map(|p| t.transform_point3(*p));
            let farthest = from.abs().max(to.abs()).max_element();
            match round_extent(section, farthest, f64::from(*radius), scale) {
                Some((reach, too_small)) => (reach, too_small || (to - from).length() < 1.0 / MAX_COORDINATE),
                None => return,
            }
        }
        Geometry::Mesh(_) => return,
    };
    if reach > MAX_COORDINATE {
        complain(section, TOO_FAR);
    } else if too_small {
        complain(section, TOO_SMALL);
    }
}

/// How far something round reaches, whose middle has coordinates up to `farthest`, and whether it is too small. `None`
/// if its radius is too small for that distance, which is reported.
fn round_extent(section: &Section<'_>, farthest: f32, radius: f64, scale: f64) -> Option<(f32, bool)> {
    let radius = (radius * scale) as f32;
    let reach = farthest + radius;
    let least = farthest * MIN_RELATIVE_RADIUS;
    if reach <= MAX_COORDINATE && radius >= 1.0 / MAX_COORDINATE && radius < least {
        complain_of_radius(section, f64::from(least) / scale);
        return None;
    }
    Some((reach, radius < 1.0 / MAX_COORDINATE))
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

/// Reports something round that is too small for its distance, whose radius would have to be `least` in object space.
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
