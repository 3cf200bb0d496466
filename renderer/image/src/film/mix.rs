//! Remixing: the image that a scene with lights of other powers has, from what each group of lights brings.

use std::collections::BTreeMap;

use torrance_text::{hint, quoted};

use super::interrupted::RELATIVE_STDERR;
use super::layers::{DENOISER, LIGHT, Layers, SAMPLES, STDERR, SUMS, Samples};
use super::shards::OF_RENDER;

/// The attribute that says how an image was mixed.
pub(super) const MIX: &str = "mix";

const RGB: [&str; 3] = ["R", "G", "B"];

/// Factors of the light of groups, by their names. What is not named stays as it is.
pub type Gains = BTreeMap<String, [f64; 3]>;

/// Why an image cannot be mixed: the rest of a sentence about it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MixError {
    /// It has no light groups.
    #[error("it has no light groups; torrance render --aov \"light:*\" writes one for each light")]
    NoGroups,
    /// It has no such group.
    #[error("it has no light group {}{}", quoted(.name), hint(.name, "there are", .there.iter().map(|n| &**n)))]
    Unknown {
        /// What was asked for.
        name: String,
        /// The groups that it has.
        there: Vec<String>,
    },
}

/// A mixed image.
#[derive(Debug, Clone, PartialEq)]
pub struct Mixed {
    /// The image, its groups, and the other layers that are still true.
    pub layers: Layers,
    /// Layers that are not, and were left out.
    pub dropped: Vec<String>,
    /// By how much the groups miss the image that was there, relative to its mean; rounding alone leaves about 10⁻⁷.
    pub missing: f64,
}

/// The light groups of an image.
pub fn groups(layers: &Layers) -> Vec<String> {
    let group = |name: &str| Some(name.strip_prefix(LIGHT)?.strip_suffix(".R")?.to_owned());
    let mut groups: Vec<_> = layers.channels.iter().filter_map(|channel| group(&channel.name)).collect();
    groups.retain(|name| layers.rgb_channels(&format!("{LIGHT}{name}")).is_some());
    groups
}

/// Mixes an image anew: the sum of its groups, each times its gain.
///
/// # Errors
/// It has no groups, or not those of `gains`.
pub fn mix(image: &Layers, gains: &Gains) -> Result<Mixed, MixError> {
    let there = groups(image);
    if there.is_empty() {
        return Err(MixError::NoGroups);
    }
    if let Some(name) = gains.keys().find(|name| !there.contains(name)) {
        return Err(MixError::Unknown { name: name.clone(), there });
    }
    let all: Vec<[f64; 3]> = there.iter().map(|name| gains.get(name).copied().unwrap_or([1.0; 3])).collect();
    let (mut before, mut after) = (vec![[0.0; 3]; image.pixels()], vec![[0.0; 3]; image.pixels()]);
    let mut lights = Vec::new();
    for (name, gain) in there.iter().zip(&all) {
        let layer = format!("{LIGHT}{name}");
        let mut light = image.rgb(&layer).unwrap_or_default();
        for (light, (before, after)) in light.iter_mut().zip(before.iter_mut().zip(&mut after)) {
            for c in 0..3 {
                let mixed = f64::from(light[c]) * gain[c];
                before[c] += f64::from(light[c]);
                after[c] += mixed;
                light[c] = mixed as f32;
            }
        }
        lights.push((layer, light));
    }
    let mut layers =
        Layers { attributes: attributes(image, gains), ..Layers::new(image.width, image.height) };
    let after: Vec<[f32; 3]> = after.iter().map(|pixel| pixel.map(|x| x as f32)).collect();
    layers.push_floats("", RGB, &after);
    lights.iter().for_each(|(layer, light)| layers.push_floats(layer, RGB, light));
    // What is the same for all light is the same for its noise.
    let common = all.iter().all(|gain| *gain == all[0]).then_some(all[0]);
    let dropped = push_others(&mut layers, image, common);
    Ok(Mixed { layers, dropped, missing: missing(image, &before) })
}

/// Adds the layers of an image that are still true, or become so by the `common` gain of all light; yields the others.
fn push_others(layers: &mut Layers, image: &Layers, common: Option<[f64; 3]>) -> Vec<String> {
    let mut dropped = Vec::new();
    for channel in &image.channels {
        let (layer, component) = channel.name.rsplit_once('.').unwrap_or((&channel.name, ""));
        let is_there = layer == "Y" || layers.channel(&channel.name).is_some();
        match (layer, common) {
            _ if is_there => {}
            (STDERR | "emission" | "direct" | "indirect" | "halves", Some(gain)) if component != SAMPLES => {
                let gain = RGB.iter().position(|c| *c == component).map_or(1.0, |c| gain[c]);
                let samples = channel.samples.floats().into_iter().map(|x| (f64::from(x) * gain) as f32);
                layers.push(channel.name.clone(), Samples::Float(samples.collect()));
            }
            (STDERR | SAMPLES | "emission" | "direct" | "indirect", None) | ("denoised", _) => {
                dropped.push(layer.to_owned());
            }
            (_, None) if layer.split('.').next() == Some("halves") => dropped.push("halves".to_owned()),
            _ if layer.split('.').next() == Some(SUMS) => dropped.push(SUMS.to_owned()),
            _ => layers.channels.push(channel.clone()),
        }
    }
    dropped.sort();
    dropped.dedup();
    dropped
}

/// Those of an image, but for what is of the scene that was rendered and of its noise.
fn attributes(image: &Layers, gains: &Gains) -> BTreeMap<String, String> {
    let mut attributes = image.attributes.clone();
    OF_RENDER.iter().chain(&[RELATIVE_STDERR, DENOISER]).for_each(|name| drop(attributes.remove(*name)));
    let gain = |(name, [r, g, b]): (&String, &[f64; 3])| format!("{name}={r},{g},{b}");
    let all = gains.iter().map(gain).collect::<Vec<_>>().join(" ");
    let mixed = attributes.get(MIX).map_or(all.clone(), |before| format!("{before}; {all}"));
    attributes.insert(MIX.to_owned(), mixed);
    attributes
}

/// By how much groups miss the image that they are of, relative to its mean.
fn missing(image: &Layers, groups: &[[f64; 3]]) -> f64 {
    let whole = image.rgb("").unwrap_or_default();
    let (mut error, mut total) = (0.0, 0.0);
    for (whole, sum) in whole.iter().flatten().zip(groups.iter().flatten()).filter(|(x, _)| x.is_finite()) {
        error += (f64::from(*whole) - sum).abs();
        total += f64::from(whole.abs());
    }
    if total > 0.0 { error / total } else { error }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An image of two groups, with other layers.
    fn image() -> Layers {
        let mut image = Layers::new(2, 1);
        image.push_floats("", RGB, &[[1.0, 2.0, 3.0], [0.5, 0.5, 0.5]]);
        image.push_floats("light.key", RGB, &[[0.75, 1.5, 1.0], [0.0, 0.5, 0.25]]);
        image.push_floats("light.the sky", RGB, &[[0.25, 0.5, 2.0], [0.5, 0.0, 0.25]]);
        image.push_floats(STDERR, RGB, &[[0.1; 3]; 2]);
        image.push(SAMPLES, Samples::Uint(vec![4, 4]));
        image.push_floats("N", ["X", "Y", "Z"], &[[0.0, 0.0, 1.0]; 2]);
        image.push("Z", Samples::Float(vec![1.0, 2.0]));
        image.attributes.insert("sceneHash".to_owned(), "1".to_owned());
        image
    }

    fn gains(all: &[(&str, [f64; 3])]) -> Gains {
        all.iter().map(|(name, gain)| ((*name).to_owned(), *gain)).collect()
    }

    #[test]
    fn groups_add_up_by_their_gains() {
        let mixed = mix(&image(), &gains(&[("key", [2.0, 0.0, 1.0]), ("the sky", [1.0, 4.0, 0.5])])).unwrap();
        assert_eq!(mixed.layers.rgb(""), Some(vec![[1.75, 2.0, 2.0], [0.5, 0.0, 0.375]]));
        assert_eq!(mixed.layers.rgb("light.key").unwrap()[0], [1.5, 0.0, 1.0]);
        assert_eq!(mixed.missing, 0.0);
        assert_eq!(mixed.dropped, [SAMPLES, STDERR]);
        assert!(mixed.layers.channel("Z").is_some() && mixed.layers.rgb("N").is_some());
        assert_eq!(mixed.layers.attributes["mix"], "key=2,0,1 the sky=1,4,0.5");
        // A mix can be mixed again, and back.
        let back = mix(&mixed.layers, &gains(&[("the sky", [1.0, 0.25, 2.0])])).unwrap();
        assert_eq!(back.layers.rgb("").unwrap()[0], [1.75, 0.5, 3.0]);
    }

    #[test]
    fn noise_is_known_where_all_light_has_one_gain() {
        let all = gains(&[("key", [2.0, 2.0, 4.0]), ("the sky", [2.0, 2.0, 4.0])]);
        let mixed = mix(&image(), &all).unwrap();
        assert_eq!(mixed.layers.rgb(STDERR).unwrap()[0], [0.2, 0.2, 0.4]);
        assert_eq!(mixed.dropped, [""; 0]);
    }

    #[test]
    fn what_is_not_there_is_said() {
        let wrong = mix(&image(), &gains(&[("kye", [2.0; 3])])).unwrap_err().to_string();
        assert_eq!(wrong, "it has no light group \"kye\"; did you mean \"key\"?");
        let mut other = image();
        other.channels.retain(|channel| !channel.name.starts_with(LIGHT));
        assert_eq!(mix(&other, &Gains::new()), Err(MixError::NoGroups));
        let mut half = image();
        half.channels.retain(|channel| !channel.name.starts_with("light.key"));
        assert!(mix(&half, &Gains::new()).unwrap().missing > 0.3, "control: a group is missing");
    }
}
