//! Animations: what nodes are at a time.

use std::collections::HashMap;

use glam::{DQuat, DVec3};
use torrance_text::quoted;

use super::accessor::Accessors;
use super::choice::{GltfChoice, Named};
use super::json::{Document, Node};
use super::sampler::Sampler;

/// What an animation makes of a node; what is missing is as the node says.
#[derive(Default)]
pub(super) struct Moved {
    pub(super) translation: Option<DVec3>,
    pub(super) rotation: Option<DQuat>,
    pub(super) scale: Option<DVec3>,
    /// Of morph targets.
    pub(super) weights: Option<Vec<f32>>,
}

/// Nodes that an animation moves, by their indices.
pub(super) type Motion = HashMap<usize, Moved>;

/// Where the animation that is chosen has the nodes at the time that is chosen.
pub(super) fn choose(accessors: &Accessors<'_, '_>, choice: &GltfChoice) -> Option<Motion> {
    let document = accessors.buffers.document;
    let animations = document.elements("animations");
    let named = Named::new("animation", &animations);
    let index = match (&choice.animation, choice.at) {
        (Some(wanted), _) => named.find(wanted, document.log)?,
        (None, Some(time)) => {
            if animations.is_empty() {
                document.log.error(format!("has no animation to be shown at {time} s"));
                return None;
            }
            if animations.len() > 1 {
                let (count, first) = (named.count(), named.name(0));
                let message = format!("has {count}; {first} is shown, unless --animation says otherwise");
                document.log.warn(message);
            }
            0
        }
        (None, None) => {
            if !animations.is_empty() {
                let count = named.count();
                let message = format!("has {count}: it is at rest, unless --animation says otherwise");
                document.log.warn(message);
            }
            return Some(Motion::new());
        }
    };
    let node = animations.into_iter().nth(index)?.object(&["channels", "samplers"])?;
    let time = choice.at.unwrap_or(0.0);
    let mut reader = Reader::new(accessors, &node, time)?;
    for channel in node.require("channels")?.elements()? {
        reader.channel(channel)?;
    }
    Some(reader.finish(document, &named.name(index)))
}

/// Reads an animation, channel by channel.
struct Reader<'r, 'b, 'a> {
    accessors: &'r Accessors<'b, 'a>,
    animation: &'r Node<'a>,
    samplers: Vec<Node<'a>>,
    time: f32,
    /// When the last of all keys is, seconds.
    end: f32,
    motion: Motion,
    /// How many channels move what nodes do not say.
    pointers: usize,
    /// How many channels move what another one has moved.
    repeated: usize,
}

impl<'r, 'b, 'a> Reader<'r, 'b, 'a> {
    fn new(accessors: &'r Accessors<'b, 'a>, animation: &'r Node<'a>, time: f32) -> Option<Self> {
        let samplers = animation.require("samplers")?.elements()?;
        let motion = Motion::new();
        Some(Self { accessors, animation, samplers, time, end: 0.0, motion, pointers: 0, repeated: 0 })
    }

    fn channel(&mut self, channel: Node<'a>) -> Option<()> {
        let channel = channel.object(&["sampler", "target"])?;
        let target = channel.require("target")?.object(&["node", "path"])?;
        let path = target.require("path")?;
        if path.string()? == "pointer" {
            self.pointers += 1;
            return Some(());
        }
        // A channel of no node is to be ignored (3.11).
        let Some(node) = target.get("node") else { return Some(()) };
        let index = node.index("nodes")?;
        let moved = self.motion.entry(index).or_default();
        let (is_taken, width) = match path.string()? {
            "translation" => (moved.translation.is_some(), Some(3)),
            "rotation" => (moved.rotation.is_some(), Some(4)),
            "scale" => (moved.scale.is_some(), Some(3)),
            "weights" => (moved.weights.is_some(), None),
            other => {
                let other = quoted(other);
                return path.fail(format!(
                    "must be \"translation\", \"rotation\", \"scale\" or \"weights\", not {other}"
                ));
            }
        };
        if is_taken {
            self.repeated += 1;
            return Some(());
        }
        let from = channel.require("sampler")?;
        let Some(sampler) = self.samplers.get(usize::try_from(from.whole()?).unwrap_or(usize::MAX)) else {
            let count = self.samplers.len();
            return from.fail(format!("is {}, and the animation has {count} of \"samplers\"", from.value));
        };
        let sampler = Sampler::read(self.accessors, sampler, width)?;
        self.end = self.end.max(sampler.end());
        let vector = || DVec3::from_slice(&sampler.at(self.time));
        match path.string()? {
            "translation" => moved.translation = Some(vector()),
            "scale" => moved.scale = Some(vector()),
            "weights" => moved.weights = Some(sampler.at(self.time).iter().map(|w| *w as f32).collect()),
            _ => match sampler.rotation(self.time) {
                None => return channel.fail(format!("gives a rotation of zero length at {} s", self.time)),
                rotation => moved.rotation = rotation,
            },
        }
        Some(())
    }

    /// Where all nodes are, and what is to be said about it.
    fn finish(self, document: Document<'_>, name: &str) -> Motion {
        let plural = |count: usize| if count == 1 { "" } else { "s" };
        if self.pointers > 0 {
            self.animation.warn(format!(
                "has {} channel{} of KHR_animation_pointer, which is not supported: what they move is at rest",
                self.pointers,
                plural(self.pointers)
            ));
        }
        if self.repeated > 0 {
            self.animation.warn(format!(
                "has {} channel{} for what another one moves, and the first of them counts",
                self.repeated,
                plural(self.repeated)
            ));
        }
        if self.time > self.end && !self.motion.is_empty() {
            let Self { time, end, .. } = self;
            document
                .log
                .note(format!("animation {name} ends at {end} s, and is shown as there, not at {time} s"));
        }
        self.motion
    }
}
