//! Objects that are made of themselves.

use super::source::Sources;
use super::tree::Tree;

/// How far the search has come with an object.
#[derive(Clone, Copy, PartialEq)]
enum State {
    New,
    /// Its parts are being visited.
    Open,
    Done,
}

/// Reports the references by which an object is made of itself. `None` if there are any.
pub(super) fn check(tree: &Tree, sources: &Sources) -> Option<()> {
    let mut states = vec![State::New; tree.objects.len()];
    let mut found = Some(());
    for start in 0..tree.objects.len() {
        if states[start] != State::New {
            continue;
        }
        states[start] = State::Open;
        // Objects, each in the one before it, and which of its properties is next.
        let mut open = vec![(start, 0)];
        while let Some((index, next)) = open.last_mut() {
            let Some(property) = tree.objects[*index].properties.get(*next) else {
                states[*index] = State::Done;
                open.pop();
                continue;
            };
            *next += 1;
            let Some(part) = tree.object(&property.value) else { continue };
            match states[part] {
                State::New => {
                    states[part] = State::Open;
                    open.push((part, 0));
                }
                State::Open => {
                    let words = tree.objects[part].describe();
                    found = sources.error(&property.place, format!("{words} is made of itself"));
                }
                State::Done => {}
            }
        }
    }
    found
}
