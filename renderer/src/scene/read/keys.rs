//! Which keys go where, and what people write for them.

use crate::input::nearest;

/// Keys of the document itself.
pub(super) const TOP: &[&str] = &["render", "camera", "environment", "materials", "shapes"];
/// Keys of `[render]`.
pub(super) const RENDER: &[&str] =
    &["size", "width", "height", "spp", "max_depth", "rr", "sampler", "direct", "seed", "masking"];
/// Keys of `[camera]`.
pub(super) const CAMERA: &[&str] = &["position", "target", "up", "fov", "fov_axis"];
/// Keys of `[environment]`.
pub(super) const ENVIRONMENT: &[&str] = &["radiance"];
/// Keys of every material.
pub(super) const MATERIAL: &[&str] = &["type", "two_sided", "back", "opacity", "normal_map", "bump_map"];
/// Keys of every texture.
pub(super) const TEXTURE: &[&str] =
    &["file", "color_space", "wrap", "filter", "channel", "scale", "rotate", "offset"];
/// Keys that a normal map adds.
pub(super) const NORMAL_MAP: &[&str] = &["green", "strength", "invalid_normals", "terminator"];
/// Keys that a bump map adds.
pub(super) const BUMP_MAP: &[&str] = &["strength", "invalid_normals", "terminator"];
/// Types of material and the keys that each adds.
pub(super) const MATERIAL_TYPES: &[(&str, &[&str])] = &[
    ("diffuse", &["reflectance", "roughness"]),
    ("conductor", &["metal", "eta", "k", "roughness", "alpha", "distribution", "scattering"]),
    ("dielectric", &["ior", "roughness", "alpha", "distribution", "scattering"]),
    ("thin_dielectric", &["ior"]),
    ("plastic", &["reflectance", "specular", "ior", "roughness", "alpha", "distribution", "nonlinear"]),
    ("sheen", &["color", "roughness"]),
    (
        "principled",
        &[
            "base_color",
            "roughness",
            "anisotropic",
            "metallic",
            "specular",
            "ior",
            "spec_tint",
            "spec_trans",
            "flatness",
            "sheen",
            "sheen_tint",
            "clearcoat",
            "clearcoat_gloss",
        ],
    ),
    (
        "gltf",
        &[
            "base_color",
            "metallic",
            "roughness",
            "ior",
            "specular",
            "specular_color",
            "transmission",
            "anisotropy",
            "anisotropy_rotation",
            "clearcoat",
            "clearcoat_roughness",
            "sheen_color",
            "sheen_roughness",
            "iridescence",
            "iridescence_ior",
            "iridescence_thickness",
        ],
    ),
    ("blend", &["materials", "weight"]),
];
/// Keys of every shape.
pub(super) const SHAPE: &[&str] =
    &["type", "name", "material", "emission", "emission_sides", "flip_normals", "transform"];
/// Types of shape and the keys that each adds.
pub(super) const SHAPE_TYPES: &[(&str, &[&str])] =
    &[("quad", &[]), ("box", &[]), ("sphere", &["center", "radius"]), ("mesh", &["file", "normals"])];
/// Steps of a transform.
pub(super) const STEPS: &[&str] = &["scale", "rotate", "translate", "look_at", "matrix"];
/// Keys of `rotate`.
pub(super) const ROTATE: &[&str] = &["axis", "degrees"];
/// Keys of `look_at`.
pub(super) const LOOK_AT: &[&str] = &["origin", "target", "up"];

/// Words of other programs, and ours.
const SYNONYMS: &[(&str, &str)] = &[
    ("albedo", "reflectance"),
    ("color", "reflectance"),
    ("colour", "reflectance"),
    ("base_color", "reflectance"),
    ("angle", "degrees"),
    ("ior", "eta"),
    ("eta", "ior"),
    ("int_ior", "ior"),
    ("material", "metal"),
    ("preset", "metal"),
    ("depth", "max_depth"),
    ("bounces", "max_depth"),
    ("max_bounces", "max_depth"),
    ("emit", "emission"),
    ("emissive", "emission"),
    ("emitter", "emission"),
    ("radiance", "emission"),
    ("emission", "radiance"),
    ("filename", "file"),
    ("path", "file"),
    ("src", "file"),
    ("eye", "position"),
    ("origin", "position"),
    ("from", "position"),
    ("look_at", "target"),
    ("lookat", "target"),
    ("lookat", "look_at"),
    ("to", "target"),
    ("position", "center"),
    ("centre", "center"),
    ("resolution", "size"),
    ("samples", "spp"),
    ("sample_count", "spp"),
    ("samples_per_pixel", "spp"),
    ("rr_depth", "rr"),
    ("russian_roulette", "rr"),
    ("env", "environment"),
    ("sky", "environment"),
    ("background", "environment"),
    ("sensor", "camera"),
    ("integrator", "render"),
    ("settings", "render"),
    ("bsdfs", "materials"),
    ("objects", "shapes"),
    ("to_world", "transform"),
    ("twosided", "two_sided"),
    ("smooth", "normals"),
    ("albedo", "base_color"),
    ("color", "base_color"),
    ("colour", "base_color"),
    ("diffuse_color", "base_color"),
    ("reflectance", "base_color"),
    ("albedo", "color"),
    ("base_color", "color"),
    ("reflectance", "color"),
    ("sheen_color", "color"),
    ("diffuse_color", "reflectance"),
    ("diffuse_reflectance", "reflectance"),
    ("specular_reflectance", "specular"),
    ("sheen_roughness", "roughness"),
    ("anisotropy", "anisotropic"),
    ("metalness", "metallic"),
    ("specular_tint", "spec_tint"),
    ("specular_transmission", "spec_trans"),
    ("transmission", "spec_trans"),
    ("subsurface", "flatness"),
    ("clear_coat", "clearcoat"),
    ("coat", "clearcoat"),
    ("cutout", "opacity"),
    ("mask", "opacity"),
    ("back_material", "back"),
    ("backside", "back"),
    ("bump", "bump_map"),
    ("bump_texture", "bump_map"),
    ("normal", "normal_map"),
    ("normal_texture", "normal_map"),
    ("fac", "weight"),
    ("factor", "strength"),
    ("factor", "weight"),
    ("mix", "weight"),
    ("image", "file"),
    ("interpolation", "filter"),
    ("filter_type", "filter"),
    ("wrap_mode", "wrap"),
];

/// Words of other programs for the opposite of ours.
const OPPOSITES: &[(&str, &str)] = &[("clearcoat_roughness", "clearcoat_gloss"), ("transparency", "opacity")];

/// Where keys belong that are in the wrong place.
const PLACES: &[(&[&str], &str)] = &[
    (RENDER, "[render]"),
    (CAMERA, "[camera]"),
    (TOP, "the top level of the file"),
    (SHAPE, "[[shapes]]"),
    (MATERIAL, "a material"),
    (STEPS, "a \"transform\", for example transform = [{ translate = [0, 1, 0] }]"),
];

/// What a key that is not among `known` probably means, said so that it can follow a semicolon: the word
/// here for another program's, or the place where the key does belong.
pub(super) fn meant(key: &str, known: &[&str]) -> Option<String> {
    let lower = key.to_lowercase();
    let ours = || SYNONYMS.iter().filter(|(theirs, _)| *theirs == lower).map(|(_, ours)| *ours);
    if let Some(ours) = ours().find(|ours| known.contains(ours)) {
        return Some(format!("it is called {ours:?} here"));
    }
    let opposite = OPPOSITES.iter().find(|(theirs, ours)| *theirs == lower && known.contains(ours));
    if let Some((_, ours)) = opposite {
        return Some(format!("there is {ours:?} here, which is the opposite"));
    }
    // A near name in the right place is likelier than the right name in another place.
    if nearest(key, known.iter().copied()).is_some() {
        return None;
    }
    if let Some(place) = place(key) {
        return Some(format!("it belongs {place}"));
    }
    let (ours, place) = ours().find_map(|ours| Some((ours, place(ours)?)))?;
    Some(format!("it is called {ours:?} here and belongs {place}"))
}

/// Where a key belongs.
fn place(key: &str) -> Option<String> {
    for (kind, types) in [("materials", MATERIAL_TYPES), ("shapes", SHAPE_TYPES)] {
        if let Some((name, _)) = types.iter().find(|(_, keys)| keys.contains(&key)) {
            return Some(format!("to {kind} of type {name:?}"));
        }
    }
    let (_, place) = PLACES.iter().find(|(keys, _)| keys.contains(&key))?;
    Some(format!("in {place}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn meanings() {
        assert_eq!(meant("samples", RENDER).as_deref(), Some("it is called \"spp\" here"));
        assert_eq!(meant("fov", RENDER).as_deref(), Some("it belongs in [camera]"));
        assert_eq!(meant("radius", SHAPE).as_deref(), Some("it belongs to shapes of type \"sphere\""));
        assert_eq!(
            meant("samples", CAMERA).as_deref(),
            Some("it is called \"spp\" here and belongs in [render]")
        );
        assert_eq!(meant("widht", RENDER), None);
        assert_eq!(meant("frobnicate", RENDER), None);
    }
}
