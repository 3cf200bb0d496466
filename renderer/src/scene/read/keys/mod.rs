//! One table of everything that a scene file may say: the keys of each section, what they may be, what they are if
//! nothing is said, and what they mean. Unknown keys are found by it, editors complete and check by it
//! ([`schema`]), and the reference page is made of it ([`page`]).

mod document;
mod material;
mod page;
mod schema;
mod shape;
mod synonyms;
mod table;
#[cfg(test)]
mod tests;
mod texture;

pub(super) use document::{CAMERA, ENVIRONMENT, FILTER, LENS, LIGHT, MAX_FILTER, MIN_LENGTH, RENDER, TOP};
pub(super) use material::MATERIAL;
pub(crate) use page::page;
pub(crate) use schema::schema;
pub(super) use shape::{GROUP, INSTANCE, LOOK_AT, ROTATE, SHAPE, STEPS};
pub(crate) use table::{Key, Section, Type, Value};
pub(super) use texture::{BUMP_MAP, MAX_UV, NORMAL_MAP, PARAMETER, TEXTURE};

use crate::input::nearest;
use synonyms::{OPPOSITES, SYNONYMS};

/// Sections whose keys can be told by their place alone, and how that is said.
static PLACES: [(&Section, &str); 12] = [
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
];

/// Sections that have types, and what their things are called.
static TYPED: [(&Section, &str); 6] = [
    (&MATERIAL, "materials"),
    (&SHAPE, "shapes"),
    (&CAMERA, "cameras"),
    (&LIGHT, "lights"),
    (&TEXTURE, "textures"),
    (&ENVIRONMENT, "environments"),
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
    for (section, things) in TYPED {
        if let Some(kind) = section.types.iter().find(|kind| kind.keys().any(|k| k.name == key)) {
            let alone = section.types.iter().filter(|kind| kind.keys().any(|k| k.name == key)).count() == 1;
            let only = section.default_type == kind.name() && alone;
            return Some(match only {
                true => format!("in {}", section.title),
                false => format!("to {things} of type {:?}", kind.name()),
            });
        }
    }
    let (_, place) = PLACES.iter().find(|(section, _)| section.keys.iter().any(|k| k.name == key))?;
    Some(format!("in {place}"))
}
