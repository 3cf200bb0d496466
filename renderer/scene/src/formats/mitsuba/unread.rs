//! Objects of a scene that nothing refers to.

use super::tree::{Class, Value};
use super::view::View;
use super::{bsdf, emitter, settings, shape, texture};

/// Warns of those in an object that was read. What was not read cannot change the image, but may be a mistake.
pub(super) fn warn(view: &View<'_>) {
    for inner in inner(view) {
        match inner.object.class {
            _ if inner.is_finished() => warn(&inner),
            // Of several the first makes the image, which has been said.
            Class::Sensor => {}
            _ => {
                let message = format!("{} is used by nothing, and was not read", inner.object.describe());
                inner.sources.warn(&inner.object.place, message);
                warn_of_plugins(&inner);
            }
        }
    }
}

/// Warns of plugins that would not be read either.
fn warn_of_plugins(view: &View<'_>) {
    if let Some((known, unsupported)) = plugins(view.object.class)
        && !known.contains(&view.object.plugin.as_str())
    {
        view.sources.warn(&view.object.plugin_place, view.what_plugin(known, unsupported));
    }
    inner(view).for_each(|inner| warn_of_plugins(&inner));
}

/// The objects that are written in another.
fn inner<'a>(view: &View<'a>) -> impl Iterator<Item = View<'a>> {
    view.object.properties.iter().filter_map(|property| match property.value {
        Value::Object(index) => view.other(index),
        _ => None,
    })
}

/// Plugins of a class that are read, and those that are not, if any are.
const fn plugins(class: Class) -> Option<(&'static [&'static str], &'static [&'static str])> {
    Some(match class {
        Class::Integrator => (&settings::INTEGRATORS, &settings::OTHER_INTEGRATORS),
        Class::Sensor => (&settings::SENSORS, &settings::OTHER_SENSORS),
        Class::Film => (&settings::FILMS, &settings::OTHER_FILMS),
        Class::Filter => (&settings::FILTERS, &settings::OTHER_FILTERS),
        Class::Sampler => (&settings::SAMPLERS, &[]),
        Class::Shape => (&shape::KNOWN, &shape::UNSUPPORTED),
        Class::Bsdf => (&bsdf::KNOWN, &bsdf::UNSUPPORTED),
        Class::Texture => (&texture::KNOWN, &texture::UNSUPPORTED),
        Class::Emitter => (&emitter::KNOWN, &emitter::UNSUPPORTED),
        Class::Scene | Class::Medium | Class::Volume | Class::Phase => return None,
    })
}
