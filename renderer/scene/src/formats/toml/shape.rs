//! `[[shapes]]`.

use glam::{Affine3A, DAffine3, Vec3};
use torrance_text::quoted;

use super::mesh::Meshes;
use super::names::{read_each, tables};
use super::texture::Textures;
use super::transform::{similarity_scale, transform};
use super::values::{ValueReader, Visitor};
use super::{Materials, Type, keys};
use crate::description::limits::{MAX_COORDINATE, MAX_RADIANCE, is_degenerate};
use crate::description::{Color, Dimension, Geometry, Outline, Shape, Texture, corners, texture};
use crate::input::{Field, Section};

/// The complaint about shapes that reach beyond [`MAX_COORDINATE`].
pub(super) const TOO_FAR: &str = "reaches beyond 1e9 metres, where single precision fails";
/// The complaint about shapes whose normal cannot be computed.
const TOO_SMALL: &str = "is too small for single precision where it stands: it has no area";
/// Smallest radius of a sphere relative to the largest coordinate of its centre: eight steps of `f32` or more.
/// Below, normals are more rounding than sphere.
const MIN_RELATIVE_RADIUS: f32 = 1.0 / (1 << 20) as f32;

/// The materials, textures and meshes that shapes refer to, read so far.
pub(super) struct Resources<'a> {
    pub(super) materials: Materials,
    pub(super) textures: Textures<'a>,
    pub(super) meshes: Meshes<'a>,
}

/// Reads `[[shapes]]`. Those with errors are left out.
pub(super) fn shapes(top: &Section<'_>, resources: &mut Resources<'_>) -> Vec<Shape> {
    const NONE: &str = "the scene has no shapes; add one with [[shapes]]";
    let Some(field) = top.get("shapes") else {
        if top.get("instances").is_none() {
            top.src.error(0..0, NONE);
        }
        return Vec::new();
    };
    list(&field, "shapes", NONE, resources)
}

/// Reads an array of shapes, which messages call `place`; `none` says that there are none.
pub(super) fn list(field: &Field<'_>, place: &str, none: &str, resources: &mut Resources<'_>) -> Vec<Shape> {
    let sections = tables(field, place);
    if field.is_array() && sections.len() == 0 {
        field.src.error(field.span(), none);
    }
    read_each(sections, |section| shape(section, resources))
}

fn shape(section: &Section<'_>, resources: &mut Resources<'_>) -> Option<Shape> {
    let kind = section.require("type", "type = \"sphere\"")?.choice(&keys::SHAPE.choices())?;
    section.reject_unknown_keys(&keys::SHAPE.known(Some(kind)));

    let name = section.get("name").map_or(Some(section.name.as_str()), |f| f.string()).map(str::to_owned);
    let dark = Some(Color::new(Vec3::ZERO));
    let emission = section.get("emission").map_or(dark, |f| resources.textures.color(&f, MAX_RADIANCE));
    let mut reader = ValueReader::new(section, &keys::SHAPE, Some(kind));
    let emission_two_sided = reader.or("emission_sides", false);
    if let Some(field) = section.get("emission_sides")
        && emission_two_sided == Some(true)
        && emission.is_some_and(|e| e.value == Vec3::ZERO)
    {
        field.warn("\"emission_sides\" has no effect without an \"emission\"");
    }
    let flip_normals = reader.or("flip_normals", false);
    let exact = section.get("transform").map_or(Some(DAffine3::IDENTITY), |f| transform(&f));
    let material = material(section, resources, emission);
    let world_from_object = exact.as_ref().map(DAffine3::as_affine3a);
    let geometry = match Geometry::named(kind.name())? {
        Geometry::Mesh(_) => {
            let mesh = resources.meshes.mesh(section, &mut reader, world_from_object.as_ref());
            mesh.map(Geometry::Mesh)
        }
        geometry => dimensions(section, kind, geometry),
    };
    if let (Some(geometry), Some(exact)) = (&geometry, &exact) {
        check_extent(section, geometry, exact);
    }
    check_textures(section, resources, material, emission, geometry.as_ref());
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
    resources: &Resources<'_>,
    material: Option<usize>,
    emission: Option<Color>,
    geometry: Option<&Geometry>,
) {
    let Some(Geometry::Mesh(mesh)) = geometry else { return };
    let textures = &resources.textures.textures;
    let uses = |is: fn(&Texture) -> bool| {
        let material = material.and_then(|i| resources.materials.get(i));
        let material = material.filter(|m| resources.materials.has(m, textures, is));
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
fn material(section: &Section<'_>, resources: &mut Resources<'_>, emission: Option<Color>) -> Option<usize> {
    let materials = &mut resources.materials;
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
        return materials.inline(&field, owner, &mut resources.textures);
    }
    if field.as_str().is_none() {
        return field.wrong_type(
            "the name of a material, or a table such as { type = \"diffuse\", reflectance = 0.5 }",
        );
    }
    let without = |name| format!("; define it with [materials.{name}]");
    materials.names.find(&field, "material", without)
}

/// The numbers and points of a shape.
pub(crate) fn visit_dimensions(visitor: &mut impl Visitor, geometry: &mut Geometry) {
    for (key, dimension) in geometry.dimensions() {
        match dimension {
            Dimension::Point(point) => visitor.visit(key.name, point),
            Dimension::Length(length) => visitor.visit(key.name, length),
        }
    }
}

/// The shape with the dimensions that the section gives.
fn dimensions(section: &Section<'_>, kind: &'static Type, mut geometry: Geometry) -> Option<Geometry> {
    let mut reader = ValueReader::new(section, &keys::SHAPE, Some(kind));
    visit_dimensions(&mut reader, &mut geometry);
    if reader.is_right
        && let Outline::Tube { from, to, .. } = geometry.outline()
        && (to - from).as_dvec3().length() < 1.0 / f64::from(MAX_COORDINATE)
    {
        let place =
            section.get("to").or_else(|| section.get("from")).map_or(section.span.clone(), |f| f.span());
        let name = geometry.name();
        let message = format!("\"from\" and \"to\" are the same point, so the {name} has no axis");
        section.src.error(place, message);
        return None;
    }
    reader.is_right.then_some(geometry)
}

/// Reports a shape that, where it stands in the world, is too large or too small to be hit. Meshes are looked
/// at triangle by triangle as they are read.
fn check_extent(section: &Section<'_>, geometry: &Geometry, exact: &DAffine3) {
    let t = exact.as_affine3a();
    let scale = || {
        let scale = similarity_scale(exact);
        if scale.is_none() {
            let name = geometry.name();
            let other = if name == "sphere" { "an ellipsoid" } else { "something else" };
            let message =
                format!("is a {name}, which \"transform\" would make {other}; scale all axes alike");
            complain(section, &message);
        }
        scale
    };
    let found = match geometry.outline() {
        Outline::Squares(squares) => Some(extent(&t, squares)),
        Outline::Ball { center, radius } => scale().and_then(|scale| {
            let center = t.transform_point3(center).abs().max_element();
            round_extent(section, center, f64::from(radius), scale)
        }),
        Outline::Tube { from, to, radius } => scale().and_then(|scale| {
            let [from, to] = [from, to].map(|p| t.transform_point3(p));
            let farthest = from.abs().max(to.abs()).max_element();
            let (reach, too_small) = round_extent(section, farthest, f64::from(radius), scale)?;
            Some((reach, too_small || (to - from).length() < 1.0 / MAX_COORDINATE))
        }),
        Outline::Mesh(_) => None,
    };
    let Some((reach, too_small)) = found else { return };
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

/// The largest coordinate of squares in the world, and whether one of their triangles has no area there: far from
/// the origin, corners are rounded onto each other.
fn extent(t: &Affine3A, squares: &[[Vec3; 3]]) -> (f32, bool) {
    let (mut reach, mut degenerate) = (0.0_f32, false);
    for square in squares {
        let [a, b, c, d] = corners(*square).map(|p| t.transform_point3(p));
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
