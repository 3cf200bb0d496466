//! Objects of a scene that nothing refers to.

use super::plugins::plugins;
use super::tree::{Class, Value};
use super::view::View;

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
    if let Some(message) = plugins(view.object.class).and_then(|read| view.complaint(&read)) {
        view.sources.warn(&view.object.plugin_place, message);
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
