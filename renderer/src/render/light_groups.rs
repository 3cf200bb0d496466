//! Light groups: which lights are to have an image of their own.

use std::collections::{BTreeMap, BTreeSet};

use glam::DVec3;
use torrance_image::film::Film;
use torrance_image::film::layers::{LIGHT, Layers};
use torrance_scene::{Description, Environment, Shape};
use torrance_text::hint;

use crate::assemble::LightSource;
use crate::glob::is_like;

/// The group of all lights that are in no other.
pub const REST: &str = "rest";

/// Most groups of a render.
pub const MOST_GROUPS: usize = 64;

/// Which lights have an image of their own.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum LightChoice {
    /// Those of this name together, in which `*` stands for anything, and `?` for one character.
    Named(String),
    /// Each, unless it is named.
    Each,
}

impl LightChoice {
    /// The choice that a layer's name makes: `light:NAME` or `light:*`; `None` for layers of something else.
    pub fn of_layer(name: &str) -> Option<Self> {
        name.strip_prefix("light:").map(|light| {
            match light.trim_matches('*').is_empty() && !light.is_empty() {
                true => Self::Each,
                false => Self::Named(light.to_owned()),
            }
        })
    }

    /// The group of a light of a name, if the choice has it.
    fn group(&self, name: &str) -> Option<String> {
        match self {
            Self::Each => Some(name.to_owned()),
            Self::Named(pattern) => is_like(name, pattern).then(|| Self::name_of(pattern)),
        }
    }

    /// The name of the group of a pattern: what is in it of names.
    fn name_of(pattern: &str) -> String {
        match pattern.replace(['*', '?'], "").trim() {
            "" => "any".to_owned(),
            name => name.to_owned(),
        }
    }

    /// Whether a light is chosen by the whole of its name, by a part, or with all others: the first choice counts.
    fn rank(&self) -> u32 {
        match self {
            Self::Named(pattern) => u32::from(pattern.contains(['*', '?'])),
            Self::Each => 2,
        }
    }
}

/// Why lights cannot be grouped.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GroupError {
    /// The scene has no such light.
    #[error("light:{name}: the scene has no such light{}", hint(.name, "there are", .there.iter().map(|n| &**n)))]
    Unknown {
        /// What was asked for.
        name: String,
        /// The names of its lights.
        there: Vec<String>,
    },
    /// All of its lights are in groups that are named more exactly.
    #[error("light:{0}: its lights are all in other groups; leave it out, or the others")]
    Taken(String),
    /// There is no light at all.
    #[error("the scene has no lights that could be grouped")]
    None,
    /// There are too many.
    #[error(
        "{0} light groups, more than the {MOST_GROUPS} that a render can have: name some; all others are light:{REST}"
    )]
    TooMany(usize),
}

/// The groups of a scene's lights, which are all in one.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LightGroups {
    names: Vec<String>,
    /// The group of each light.
    group_of: BTreeMap<LightSource, u32>,
}

impl LightGroups {
    /// The groups that `choices` ask for; none if they ask for none.
    ///
    /// # Errors
    /// There is no such light, or there are too many groups.
    pub fn new(choices: &BTreeSet<LightChoice>, description: &Description) -> Result<Self, GroupError> {
        if choices.is_empty() {
            return Ok(Self::default());
        }
        let lights = lights(description);
        if lights.is_empty() {
            return Err(GroupError::None);
        }
        let unknown = choices.iter().find_map(|choice| match choice {
            LightChoice::Named(name)
                if name != REST && !lights.iter().any(|(_, light)| is_like(light, name)) =>
            {
                Some(name)
            }
            _ => None,
        });
        if let Some(name) = unknown {
            let there = lights.into_iter().map(|(_, name)| name).collect();
            return Err(GroupError::Unknown { name: name.clone(), there });
        }
        let mut ranked: Vec<_> = choices.iter().collect();
        ranked.sort_by_key(|choice| choice.rank());
        let group = |name: &str| {
            ranked.iter().find_map(|choice| choice.group(name)).unwrap_or_else(|| REST.to_owned())
        };
        let groups: Vec<_> = lights.iter().map(|(light, name)| (*light, group(name))).collect();
        let names: BTreeSet<&String> = groups.iter().map(|(_, group)| group).collect();
        let taken = choices.iter().find_map(|choice| match choice {
            LightChoice::Named(pattern)
                if pattern != REST && !names.contains(&LightChoice::name_of(pattern)) =>
            {
                Some(pattern)
            }
            _ => None,
        });
        if let Some(name) = taken {
            return Err(GroupError::Taken(name.clone()));
        }
        if names.len() > MOST_GROUPS {
            return Err(GroupError::TooMany(names.len()));
        }
        let names: Vec<String> = names.into_iter().cloned().collect();
        let index = |group: &String| names.binary_search(group).unwrap_or_default() as u32;
        let group_of = groups.iter().map(|(light, group)| (*light, index(group))).collect();
        Ok(Self { group_of, names })
    }

    /// Number of groups.
    pub(super) const fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether there are none.
    pub(super) const fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// The names of the groups.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The group of each of a scene's lights, of which so many come from each source.
    pub(super) fn of_lights(&self, sources: &[(usize, LightSource)]) -> Vec<u32> {
        let group = |source| self.group_of.get(source).copied().unwrap_or_default();
        sources.iter().flat_map(|(lights, source)| std::iter::repeat_n(group(source), *lights)).collect()
    }

    /// Adds the mean of each group, of sums over the samples of an image.
    pub(super) fn push(&self, sums: &[Vec<DVec3>], image: &Film, layers: &mut Layers) {
        for (name, sums) in self.names.iter().zip(sums) {
            let mean = |(sum, pixel): (&DVec3, &torrance_image::film::Pixel)| {
                (*sum / (pixel.count as f64).max(1.0)).as_vec3().to_array()
            };
            let means: Vec<_> = sums.iter().zip(&image.pixels).map(mean).collect();
            layers.push_floats(&format!("{LIGHT}{name}"), ["R", "G", "B"], &means);
        }
    }
}

/// All lights of a scene, with the names that users know them by. The sun of a sky has its own.
fn lights(description: &Description) -> Vec<(LightSource, String)> {
    let shapes = (0..).zip(description.all_shapes()).filter(|(_, shape)| shape.emits());
    let shapes = shapes.map(|(i, shape): (u32, &Shape)| (LightSource::Shape(i), shape.name.clone()));
    let punctual =
        (0..).zip(&description.lights).map(|(i, light)| (LightSource::Punctual(i), light.name.clone()));
    let around: &[_] = match &description.environment {
        None => &[],
        Some(Environment::SunSky(_)) => &[(LightSource::Environment, "sky"), (LightSource::Sun, "sun")],
        Some(_) => &[(LightSource::Environment, "environment")],
    };
    let around = around.iter().map(|(source, name)| (*source, (*name).to_owned()));
    shapes.chain(punctual).chain(around).collect()
}
