//! Where pages and the threads that serve them meet. Nobody waits for a page: each has the latest picture, and a queue of messages
//! that ends it when it is full.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::Value;
use tokio::sync::{mpsc, watch};

use crate::message::{Reply, Request};
use crate::picture::{LAYERS, Picture, RADIANCE, SNAPSHOT};
use crate::surfaces::is_of_surfaces;

/// Pages that may look at once.
const MOST_PAGES: usize = 32;
/// Messages that wait for a page.
const MOST_REPLIES: usize = 256;
/// Commands and questions of all pages that wait.
const MOST_REQUESTS: usize = 1024;
/// Values that are set at once.
const MOST_VALUES: usize = 256;

/// A page's number.
pub(crate) type PageId = u64;

/// What asks for a change of the scene.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Command {
    Set {
        values: Vec<(String, Value)>,
        gesture: u64,
        is_done: bool,
    },
    Undo,
    Redo,
    Reset,
    /// Wants the edits in other words.
    Export,
    /// Has come while values were changing, and wants to know the scene.
    Greet,
    /// The files have changed.
    Reload,
}

/// What asks for the films of the picture.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Question {
    Probe { x: u32, y: u32 },
    Snapshot,
    Compare,
}

/// What asks for surfaces alone.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Look {
    Pick { x: u32, y: u32 },
    Chart { path: String, is_dark: bool },
}

/// See the module.
#[derive(Debug)]
pub(crate) struct Hub {
    state: Mutex<State>,
    /// Requests have come, pages come or gone, or the end has.
    changed: Condvar,
    /// Pictures have come.
    pictures: watch::Sender<()>,
}

#[derive(Debug, Default)]
struct State {
    pages: BTreeMap<PageId, Page>,
    next_page: PageId,
    commands: VecDeque<(PageId, Command)>,
    questions: Vec<(PageId, Question)>,
    looks: Vec<(PageId, Look)>,
    last_command: Option<Instant>,
    /// The latest of each layer.
    pictures: BTreeMap<&'static str, Arc<Picture>>,
    /// What a page that comes is told. Of the scene, that is nothing while it is not as it was told last.
    scene: Option<Arc<str>>,
    problem: Option<Arc<str>>,
    progress: Option<Arc<str>>,
    is_over: bool,
}

#[derive(Debug)]
struct Page {
    layer: &'static str,
    replies: mpsc::Sender<Arc<str>>,
}

/// A page that has come.
pub(crate) struct Arrival {
    pub(crate) id: PageId,
    pub(crate) replies: mpsc::Receiver<Arc<str>>,
    pub(crate) pictures: watch::Receiver<()>,
}

impl Hub {
    pub(crate) fn new() -> Self {
        Self { state: Mutex::default(), changed: Condvar::new(), pictures: watch::Sender::new(()) }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A page comes; `None` if there are too many.
    pub(crate) fn enter(&self) -> Option<Arrival> {
        let mut state = self.lock();
        if state.pages.len() >= MOST_PAGES || state.is_over {
            return None;
        }
        let (sender, replies) = mpsc::channel(MOST_REPLIES);
        for text in [&state.scene, &state.problem, &state.progress].into_iter().flatten() {
            // There is room.
            let _ = sender.try_send(Arc::clone(text));
        }
        state.next_page += 1;
        let id = state.next_page;
        state.pages.insert(id, Page { layer: RADIANCE, replies: sender });
        if state.scene.is_none() {
            state.commands.push_back((id, Command::Greet));
        }
        self.changed.notify_all();
        Some(Arrival { id, replies, pictures: self.pictures.subscribe() })
    }

    /// A page goes.
    pub(crate) fn leave(&self, id: PageId) {
        let mut state = self.lock();
        state.pages.remove(&id);
        state.forget_unwanted();
        self.changed.notify_all();
    }

    /// Whether a page is there.
    pub(crate) fn has(&self, id: PageId) -> bool {
        self.lock().pages.contains_key(&id)
    }

    /// What a page asks for. Of values that are dragged, the latest are enough.
    ///
    /// # Errors
    /// Why not.
    pub(crate) fn request(&self, page: PageId, request: Request) -> Result<(), String> {
        let mut state = self.lock();
        let waiting = state.commands.len() + state.questions.len() + state.looks.len();
        if waiting >= MOST_REQUESTS {
            return Err("too much at once".to_owned());
        }
        let state = &mut *state;
        let mut command = |command| {
            state.last_command = Some(Instant::now());
            put(&mut state.commands, page, command);
        };
        match request {
            Request::Set { values, .. } if values.len() > MOST_VALUES => {
                return Err(format!("{} values at once are too many", values.len()));
            }
            Request::Set { values, gesture, done } => {
                command(Command::Set { values, gesture, is_done: done })
            }
            Request::Undo => command(Command::Undo),
            Request::Redo => command(Command::Redo),
            Request::Reset => command(Command::Reset),
            Request::Export => state.commands.push_back((page, Command::Export)),
            Request::Probe { x, y } => {
                // The mouse is somewhere else by now.
                state.questions.retain(|(of, q)| *of != page || !matches!(q, Question::Probe { .. }));
                state.questions.push((page, Question::Probe { x, y }));
            }
            Request::Snapshot => state.questions.push((page, Question::Snapshot)),
            Request::Compare => state.questions.push((page, Question::Compare)),
            Request::Pick { x, y } => state.looks.push((page, Look::Pick { x, y })),
            Request::Chart { path, dark } => {
                state.looks.retain(|(of, look)| *of != page || !matches!(look, Look::Chart { .. }));
                state.looks.push((page, Look::Chart { path, is_dark: dark }));
            }
            Request::Show { layer } => {
                let known = LAYERS.iter().find(|known| **known == layer);
                let layer =
                    known.ok_or_else(|| format!("no layer {layer:?}; there are {}", LAYERS.join(", ")))?;
                if let Some(page) = state.pages.get_mut(&page) {
                    page.layer = layer;
                }
                state.forget_unwanted();
                self.pictures.send_replace(());
            }
            Request::Ack { .. } => {}
        }
        self.changed.notify_all();
        Ok(())
    }

    /// The files of the scene have changed.
    pub(crate) fn reload(&self) {
        self.lock().commands.push_back((0, Command::Reload));
        self.changed.notify_all();
    }

    /// Commands that have come; none while questions take films as they are now, which edits must not overtake.
    pub(crate) fn take_commands(&self) -> VecDeque<(PageId, Command)> {
        let mut state = self.lock();
        match state.is_asked_for_films() {
            true => VecDeque::new(),
            false => std::mem::take(&mut state.commands),
        }
    }

    /// How long ago the last command came.
    pub(crate) fn since_command(&self) -> Duration {
        self.lock().last_command.map_or(Duration::MAX, |at| at.elapsed())
    }

    /// Questions that have come.
    pub(crate) fn take_questions(&self) -> Vec<(PageId, Question)> {
        std::mem::take(&mut self.lock().questions)
    }

    /// Whether there are questions.
    pub(crate) fn has_questions(&self) -> bool {
        !self.lock().questions.is_empty()
    }

    /// Whether there are some that take films as they are now.
    pub(crate) fn is_asked_for_films(&self) -> bool {
        self.lock().is_asked_for_films()
    }

    /// Waits until there is something to do, or one of these layers is wanted.
    pub(crate) fn wait(&self, layers: &[&str]) {
        let state = self.lock();
        let is_idle = |state: &mut State| {
            let is_unwanted = !state.wants(layers);
            state.commands.is_empty() && state.questions.is_empty() && is_unwanted && !state.is_over
        };
        drop(self.changed.wait_while(state, is_idle));
    }

    /// Waits, if nobody looks, until somebody does. Says whether it has waited.
    pub(crate) fn wait_for_pages(&self, on_pause: impl FnOnce()) -> bool {
        let is_alone = |state: &State| state.pages.is_empty() && state.commands.is_empty() && !state.is_over;
        if !is_alone(&self.lock()) {
            return false;
        }
        on_pause();
        drop(self.changed.wait_while(self.lock(), |state| is_alone(state)));
        true
    }

    /// Waits for looks at surfaces, or for pages that lack a layer of them; `None` at the end. `wanted` is the revision of the scene, and
    /// whether something else is wanted of its surfaces.
    pub(crate) fn wait_for_looks(
        &self,
        wanted: impl Fn() -> Option<(Option<u32>, bool)>,
    ) -> Option<Vec<(PageId, Look)>> {
        let mut state = self.lock();
        loop {
            if state.is_over {
                return None;
            }
            if let Some((revision, is_wanted)) = wanted()
                && (is_wanted
                    || !state.looks.is_empty()
                    || revision.is_some_and(|revision| state.lacks_surfaces(revision)))
            {
                return Some(std::mem::take(&mut state.looks));
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Puts looks back that were not at the scene as it is.
    pub(crate) fn look_again(&self, looks: Vec<(PageId, Look)>) {
        self.lock().looks.extend(looks);
    }

    /// Wakes those who wait for looks: the scene is another.
    pub(crate) fn wake(&self) {
        drop(self.lock());
        self.changed.notify_all();
    }

    pub(crate) fn is_over(&self) -> bool {
        self.lock().is_over
    }

    /// Ends all waits.
    pub(crate) fn end(&self) {
        let mut state = self.lock();
        state.is_over = true;
        state.pages.clear();
        self.changed.notify_all();
        self.pictures.send_replace(());
    }

    /// Whether some page has this layer before it.
    pub(crate) fn wants(&self, layers: &[&str]) -> bool {
        self.lock().wants(layers)
    }

    /// Whether some page has this layer before it, and there is no picture of it of this revision.
    pub(crate) fn lacks(&self, layer: &str, revision: u32) -> bool {
        self.lock().lacks(layer, revision)
    }

    /// Notice of pictures, and of the end.
    pub(crate) fn pictures(&self) -> watch::Receiver<()> {
        self.pictures.subscribe()
    }

    /// Tells a page.
    pub(crate) fn reply(&self, page: PageId, reply: &Reply) {
        let text = text_of(reply);
        self.lock().send(&text, |id| id == page);
    }

    /// Tells all pages, and for some replies those that come later.
    pub(crate) fn tell(&self, reply: &Reply) {
        let text = text_of(reply);
        let mut state = self.lock();
        if matches!(reply, Reply::Problem { .. }) && state.problem.as_ref() == Some(&text) {
            return;
        }
        match reply {
            Reply::Scene(_) => state.scene = Some(Arc::clone(&text)),
            Reply::Values { .. } => state.scene = None,
            Reply::Problem { .. } => state.problem = Some(Arc::clone(&text)),
            Reply::Progress { .. } => state.progress = Some(Arc::clone(&text)),
            _ => {}
        }
        state.send(&text, |_| true);
    }

    /// What pages that come are told of the scene from now on.
    pub(crate) fn keep_scene(&self, scene: &Reply) {
        self.lock().scene = Some(text_of(scene));
    }

    /// A new picture.
    pub(crate) fn publish(&self, picture: Picture) {
        let mut state = self.lock();
        state.pictures.insert(picture.layer, Arc::new(picture));
        state.forget_unwanted();
        drop(state);
        self.pictures.send_replace(());
    }

    /// The latest picture of a page's layer, and the one that was kept. Of what is rendered together, there is none of a scene before.
    pub(crate) fn pictures_of(&self, page: PageId) -> [Option<Arc<Picture>>; 2] {
        let state = self.lock();
        let revision = state.pictures.get(RADIANCE).map(|picture| picture.revision);
        let layer = state.pages.get(&page).map(|page| page.layer);
        let latest = layer
            .and_then(|layer| state.pictures.get(layer))
            .filter(|picture| is_of_surfaces(picture.layer) || Some(picture.revision) == revision);
        [latest.cloned(), state.pictures.get(SNAPSHOT).cloned()]
    }
}

/// Adds a command. Sets of the same gesture become one.
fn put(commands: &mut VecDeque<(PageId, Command)>, page: PageId, command: Command) {
    if let Command::Set { values: more, gesture: of, is_done: ends } = &command
        && let Some((last, Command::Set { values, gesture, is_done })) = commands.back_mut()
        && (*last, &*gesture) == (page, of)
        && values.len() + more.len() <= MOST_VALUES
    {
        for (path, value) in more {
            match values.iter_mut().find(|(known, _)| known == path) {
                Some((_, known)) => known.clone_from(value),
                None => values.push((path.clone(), value.clone())),
            }
        }
        *is_done |= ends;
        return;
    }
    commands.push_back((page, command));
}

fn text_of(reply: &Reply) -> Arc<str> {
    serde_json::to_string(reply).unwrap_or_default().into()
}

impl State {
    /// Sends a text to pages. One whose queue is full does not read, and goes.
    fn send(&mut self, text: &Arc<str>, is_meant: impl Fn(PageId) -> bool) {
        self.pages.retain(|id, page| !is_meant(*id) || page.replies.try_send(Arc::clone(text)).is_ok());
    }

    /// Forgets pictures of surfaces that nobody looks at: they are made again in a moment.
    fn forget_unwanted(&mut self) {
        let layers: Vec<_> = self.pages.values().map(|page| page.layer).collect();
        self.pictures.retain(|layer, _| !is_of_surfaces(layer) || layers.contains(layer));
    }

    fn is_asked_for_films(&self) -> bool {
        self.questions.iter().any(|(_, question)| !matches!(question, Question::Probe { .. }))
    }

    fn wants(&self, layers: &[&str]) -> bool {
        self.pages.values().any(|page| layers.contains(&page.layer))
    }

    fn lacks(&self, layer: &str, revision: u32) -> bool {
        let picture = self.pictures.get(layer).map(|picture| picture.revision);
        picture != Some(revision) && self.pages.values().any(|page| page.layer == layer)
    }

    fn lacks_surfaces(&self, revision: u32) -> bool {
        let layers = self.pages.values().map(|page| page.layer);
        layers.into_iter().any(|layer| is_of_surfaces(layer) && self.lacks(layer, revision))
    }
}
