//! What of a file is shown, where it has several.

use torrance_text::{hint, list, quoted};

use super::json::{Log, Node};

/// What of a glTF file is shown, each by its name or else its number in the file, from 0.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct GltfChoice {
    /// The camera, also by the name of its node; the first by default.
    pub camera: Option<String>,
    /// The scene; the one that the file says by default, or else the first.
    pub scene: Option<String>,
    /// The variant of its materials (`KHR_materials_variants`); none by default.
    pub variant: Option<String>,
    /// The animation; none by default, or the first if there is a time.
    pub animation: Option<String>,
    /// The time of the animation, seconds; 0 by default.
    pub at: Option<f32>,
}

impl GltfChoice {
    /// Something that is chosen, in words.
    pub(crate) fn any(&self) -> Option<String> {
        let Self { camera, scene, variant, animation, at } = self;
        let names = [("camera", camera), ("scene", scene), ("variant", variant), ("animation", animation)];
        let name = names.iter().find_map(|(what, name)| Some(format!("{what} {}", quoted(name.as_ref()?))));
        name.or_else(|| at.map(|time| format!("animation at {time} s")))
    }
}

/// Names to choose from; what has none is called by its number.
pub(super) struct Named {
    what: &'static str,
    names: Vec<String>,
}

impl Named {
    pub(super) fn new(what: &'static str, elements: &[Node<'_>]) -> Self {
        let name = |(i, element): (usize, &Node<'_>)| {
            let name = element.value.get("name").and_then(|name| name.as_str());
            name.map_or_else(|| i.to_string(), str::to_owned)
        };
        Self { what, names: elements.iter().enumerate().map(name).collect() }
    }

    /// Which one is wanted.
    pub(super) fn find(&self, wanted: &str, log: &Log) -> Option<usize> {
        let by_name = self.names.iter().position(|name| name == wanted);
        let by_number = || wanted.parse().ok().filter(|i| *i < self.names.len());
        let found = by_name.or_else(by_number);
        if found.is_none() {
            let known = match &self.names[..] {
                [] => "; it has none".to_owned(),
                names => hint(wanted, "it has", names.iter().map(String::as_str)),
            };
            log.error(format!("has no {} {}{known}", self.what, quoted(wanted)));
        }
        found
    }

    pub(super) fn name(&self, index: usize) -> String {
        quoted(&self.names[index])
    }

    /// How many there are, and their names, as in `2 scenes, "day" and "night"`.
    pub(super) fn count(&self) -> String {
        let names = list(self.names.iter().map(String::as_str), "and").unwrap_or_default();
        let plural = if self.names.len() == 1 { "" } else { "s" };
        format!("{} {}{plural}, {names}", self.names.len(), self.what)
    }
}
