//! One table of everything that a scene file may say: the keys of each section, what they may be, what they are if
//! nothing is said, and what they mean. Unknown keys are found by it, editors complete and check by it
//! ([`schema`]), and the reference page is made of it ([`page`]).

mod document;
mod error;
mod light;
pub(crate) mod lookup;
mod material;
pub(crate) mod otherwise;
mod page;
mod schema;
mod shape;
mod synonyms;
mod texture;

pub(crate) use crate::description::key::{Key, Section, Type};
pub(crate) use document::{CAMERA, FILTER, LENS, RENDER, TOP};
pub use error::PathError;
pub(crate) use light::{ENVIRONMENT, LIGHT, PORTAL};
pub(crate) use material::MATERIAL;
pub use page::page;
pub use schema::{SECTIONS, schema};
pub(crate) use shape::{GROUP, INSTANCE, LOOK_AT, ROTATE, SHAPE, STEPS};
pub(super) use texture::MAX_UV;
pub(crate) use texture::{BUMP_MAP, NORMAL_MAP, PARAMETER, TEXTURE};

use torrance_text::nearest;

use synonyms::{MATERIALS, OPPOSITES, SYNONYMS};

/// Sections whose keys can be told by their place alone, and how that is said.
static PLACES: [(&Section, &str); 13] = [
    (&RENDER, "[render]"),
    (&CAMERA, "[camera]"),
    (&TOP, "the top level of the file"),
    (&SHAPE, "[[shapes]]"),
    (&MATERIAL, "a material"),
    (&STEPS, "a \"transform\", for example transform = [{ translate = [0, 1, 0] }]"),
    (&ENVIRONMENT, "[environment]"),
    (&LIGHT, "[[lights]]"),
    (&LENS, "\"lens\" of [camera]"),
    (&FILTER, "\"filter\" of [render]"),
    (&TEXTURE, "a texture"),
    (&INSTANCE, "[[instances]]"),
    (&NORMAL_MAP, "a \"normal_map\""),
];

/// Sections that have types, and what their things are called; those that keys are more likely meant for than the common
/// ones come first.
static TYPED: [(&Section, &str); 6] = [
    (&MATERIAL, "materials"),
    (&SHAPE, "shapes"),
    (&CAMERA, "cameras"),
    (&LIGHT, "lights"),
    (&TEXTURE, "textures"),
    (&ENVIRONMENT, "environments"),
];

/// Suggests the meaning of a key that is not among `known`, so that it can follow a semicolon: the word
/// here for another program's, or the place where the key does belong.
pub(super) fn suggestion(key: &str, known: &[&str]) -> Option<String> {
    let lower = key.to_lowercase();
    let ours =
        || SYNONYMS.iter().filter(|(_, theirs)| theirs.contains(&lower.as_str())).map(|(ours, _)| *ours);
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
    if let Some(place) = place(key, known) {
        return Some(format!("it belongs {place}"));
    }
    let (ours, place) = ours().find_map(|ours| Some((ours, place(ours, known)?)))?;
    Some(format!("it is called {ours:?} here and belongs {place}"))
}

/// The type of material here for another program's.
pub(super) fn material_suggestion(theirs: &str) -> Option<&'static str> {
    let lower = theirs.to_lowercase();
    MATERIALS.iter().find(|(_, theirs)| theirs.contains(&lower.as_str())).map(|(ours, _)| *ours)
}

/// Where a key belongs.
fn place(key: &str, known: &[&str]) -> Option<String> {
    let (likely, others) = TYPED.split_at(2);
    let common = PLACES.iter().find(|(section, _)| section.keys.iter().any(|k| k.name == key));
    let common = common.map(|(_, place)| format!("in {place}"));
    place_by_type(key, known, likely).or(common).or_else(|| place_by_type(key, known, others))
}

/// The type that a key belongs to, of the first of these sections that knows it.
fn place_by_type(key: &str, known: &[&str], sections: &[(&Section, &str)]) -> Option<String> {
    sections.iter().find_map(|(section, things)| {
        let mut kinds = section.types.iter().filter(|kind| kind.keys().any(|k| k.name == key));
        let kind = kinds.next()?;
        let is_within = section.keys.iter().all(|key| known.contains(&key.name));
        let is_usual = section.id == "camera" && section.default_type == kind.name();
        Some(match is_usual && !is_within {
            true => format!("in {}", section.title),
            false => format!("to {things} of type {:?}", kind.name()),
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn meanings() {
        let (render, camera, shape) = (RENDER.known(None), CAMERA.known(None), SHAPE.known(None));
        assert_eq!(suggestion("samples", &render).as_deref(), Some("it is called \"spp\" here"));
        assert_eq!(suggestion("fov", &render).as_deref(), Some("it belongs in [camera]"));
        assert_eq!(suggestion("center", &shape).as_deref(), Some("it belongs to shapes of type \"sphere\""));
        assert_eq!(
            suggestion("samples", &camera).as_deref(),
            Some("it is called \"spp\" here and belongs in [render]")
        );
        assert_eq!(suggestion("widht", &render), None);
        assert_eq!(suggestion("frobnicate", &render), None);
    }
}
