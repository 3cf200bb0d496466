//! The scene as it has been edited, and how it came to be so.

use std::collections::HashMap;
use std::sync::Arc;

use renderer::{BuiltScene, LiveScene, LiveSceneError};
use serde_json::Value;
use torrance_scene::{Control, EditableParameter, PathError, SceneValues, keys_of_path, toml_key};
use torrance_text::{quoted, shell_word};

use crate::Settings;
use crate::files::Watched;
use crate::hub::{Command, Hub, PageId};
use crate::message::{Change, Export, HistoryState, ParameterState, Reply, SceneState};
use crate::picture::LAYERS;

/// Steps that can be taken back.
const MOST_STEPS: usize = 1000;

/// A scene, its edits, and their history.
pub(crate) struct Document {
    hub: Arc<Hub>,
    settings: Settings,
    watched: Watched,
    device: String,
    live: LiveScene,
    /// As the file has it.
    original: SceneValues,
    original_values: HashMap<String, Value>,
    /// Edits that cannot be taken back any more, one by one.
    forgotten: Step,
    steps: Vec<Step>,
    /// How many of them are done; the others have been taken back.
    done: usize,
    /// The gestures that the last step is made of, as long as they last: page and number. Those of several pages at once are one step.
    gestures: Vec<(PageId, u64)>,
    /// Parameters as pages know them.
    told: Vec<(String, Value)>,
    /// What is wrong with the file since it was read last.
    file_problem: Option<String>,
    pub(crate) revision: u32,
}

/// A step of the history: tables of the scene, before and after.
#[derive(Debug, Default)]
struct Step {
    tables: Vec<Table>,
    /// Paths that were set.
    paths: Vec<String>,
}

#[derive(Debug)]
struct Table {
    path: String,
    before: Option<toml::Value>,
    after: Option<toml::Value>,
}

impl Document {
    pub(crate) fn new(
        hub: Arc<Hub>,
        (settings, watched): (Settings, Watched),
        values: SceneValues,
        device: String,
    ) -> Self {
        let mut document = Self {
            hub,
            settings,
            watched,
            device,
            live: LiveScene::new(values.clone()),
            original_values: values_of(&values),
            original: values,
            forgotten: Step::default(),
            steps: Vec::new(),
            done: 0,
            gestures: Vec::new(),
            told: Vec::new(),
            file_problem: None,
            revision: 1,
        };
        document.tell_all();
        document
    }

    /// The scene as machines take it.
    ///
    /// # Errors
    /// The values do not make a scene.
    pub(crate) fn build(&mut self) -> Result<BuiltScene, LiveSceneError> {
        let built = self.live.build(None).inspect_err(|_| self.watched.add_folders())?;
        self.watched.set(&built.files);
        let size = [built.data.width, built.data.height];
        if std::mem::replace(&mut self.settings.size, size) != size {
            self.tell_all();
        }
        Ok(built)
    }

    /// What is wrong with the file: the scene is as it was before.
    pub(crate) const fn file_problem(&self) -> Option<&String> {
        self.file_problem.as_ref()
    }

    /// Samples per pixel to take at most.
    pub(crate) const fn spp(&self) -> u32 {
        self.settings.spp
    }

    /// Does what has been asked for. Says whether the scene is another.
    pub(crate) fn obey(&mut self) -> bool {
        let before = self.revision;
        for (page, command) in self.hub.take_commands() {
            let mut paths = Vec::new();
            let done = match command {
                Command::Set { values, gesture, is_done } => {
                    let done = self.set(page, &values, (gesture, is_done));
                    paths.extend(values.into_iter().map(|(path, _)| path));
                    done
                }
                Command::Undo => self.go(false),
                Command::Redo => self.go(true),
                Command::Reset => self.reset(),
                Command::Export => {
                    self.hub.reply(page, &Reply::Export(Box::new(self.export())));
                    Ok(())
                }
                Command::Greet => {
                    let scene = self.scene(&self.live.values().editable());
                    self.hub.reply(page, &scene);
                    self.hub.keep_scene(&scene);
                    Ok(())
                }
                Command::Reload => {
                    self.reload();
                    Ok(())
                }
            };
            if let Err(text) = done {
                self.hub.reply(page, &Reply::Refused { text, paths });
            }
        }
        self.revision != before
    }

    /// Sets values, all or none.
    fn set(
        &mut self,
        page: PageId,
        values: &[(String, Value)],
        (gesture, is_done): (u64, bool),
    ) -> Result<(), String> {
        let now = (page, gesture);
        let attempt = self.attempt(values);
        if is_done && attempt.is_err() {
            self.ends(now);
        }
        let step = attempt?;
        if step.is_change() {
            self.revision += 1;
            self.add(step, now);
        }
        if is_done && self.ends(now) && self.steps.last().is_some_and(|step| !step.is_change()) {
            self.steps.pop();
            self.done = self.steps.len();
        }
        let are_numbers = values.iter().all(|(_, value)| value.is_number() || value.is_array());
        if are_numbers && !is_done {
            self.tell_some(values)
        } else {
            self.tell_changes()
        }
        Ok(())
    }

    /// Adds a step of a gesture to the history.
    fn add(&mut self, step: Step, now: (PageId, u64)) {
        // A page has one gesture at a time, and none when it is gone.
        self.gestures.retain(|of| *of == now || of.0 != now.0 && self.hub.has(of.0));
        self.steps.truncate(self.done);
        match self.steps.last_mut().filter(|_| !self.gestures.is_empty()) {
            Some(last) => last.extend(step),
            None => self.steps.push(step),
        }
        if !self.gestures.contains(&now) {
            self.gestures.push(now);
        }
        let excess = self.steps.len().saturating_sub(MOST_STEPS);
        self.steps.drain(..excess).for_each(|step| self.forgotten.extend(step));
        self.done = self.steps.len();
    }

    /// The end of a gesture. Says whether the last step is whole now.
    fn ends(&mut self, gesture: (PageId, u64)) -> bool {
        let before = self.gestures.len();
        self.gestures.retain(|of| *of != gesture);
        before > 0 && self.gestures.is_empty()
    }

    /// Sets values, all or none.
    fn attempt(&mut self, values: &[(String, Value)]) -> Result<Step, String> {
        let mut step = Step::default();
        let mut failure = None;
        let original = &self.original;
        self.live.change(|scene| {
            for (path, value) in values {
                let result = touch(scene, original, (path, value), &mut step);
                if let Err(error) = result {
                    step.put_back(scene);
                    failure = Some(error);
                    break;
                }
            }
        });
        failure.map_or(Ok(step), Err)
    }

    /// Takes a step back, or again.
    fn go(&mut self, forward: bool) -> Result<(), String> {
        let i = if forward { Some(self.done) } else { self.done.checked_sub(1) };
        let Some(step) = i.and_then(|i| self.steps.get(i)) else {
            return Err(format!("there is nothing to {}", if forward { "redo" } else { "undo" }));
        };
        self.live.change(|scene| if forward { step.put_again(scene) } else { step.put_back(scene) });
        self.done = if forward { self.done + 1 } else { self.done - 1 };
        self.gestures.clear();
        self.revision += 1;
        self.tell_changes();
        Ok(())
    }

    /// Has everything as the file has it.
    fn reset(&mut self) -> Result<(), String> {
        let mut step = Step::default();
        for path in self.made().flat_map(|step| &step.tables).map(|table| &table.path) {
            let [before, after] = [self.live.values(), &self.original].map(|values| values.entry(path));
            if !is_same_entry(before.as_ref(), after.as_ref())
                && !step.tables.iter().any(|table| table.path == *path)
            {
                step.tables.push(Table { path: path.clone(), before, after });
            }
        }
        if step.tables.is_empty() {
            return Err("nothing has been edited".to_owned());
        }
        self.live.change(|scene| step.put_again(scene));
        self.steps.truncate(self.done);
        self.steps.push(step);
        self.done = self.steps.len();
        self.gestures.clear();
        self.revision += 1;
        self.tell_changes();
        Ok(())
    }

    /// Reads the files again, and keeps the edits.
    fn reload(&mut self) {
        let name = quoted(&self.settings.name);
        let values = match (self.settings.reload)() {
            Ok(values) => values,
            Err(text) => {
                self.file_problem = Some(text.clone());
                self.watched.add_folders();
                return self.hub.tell(&Reply::Problem { text: Some(text) });
            }
        };
        self.file_problem = None;
        let edits: Vec<_> = self.changes().into_iter().map(|change| (change.path, change.after)).collect();
        self.original_values = values_of(&values);
        self.original = values.clone();
        self.live = LiveScene::new(values);
        (self.steps, self.done) = (Vec::new(), 0);
        self.gestures.clear();
        self.forgotten = Step::default();
        let mut kept = Step::default();
        for (path, value) in edits {
            match self.attempt(&[(path.clone(), value)]) {
                Ok(step) => kept.extend(step),
                Err(text) => self.hub.tell(&Reply::Note { text: format!("{path} is not kept: {text}") }),
            }
        }
        if kept.is_change() {
            self.steps.push(kept);
            self.done = 1;
        }
        self.revision += 1;
        self.tell_all();
        self.hub.tell(&Reply::Note { text: format!("{name} has changed: it was read again") });
    }

    /// Net differences from the file, in the order in which they were made.
    fn changes(&self) -> Vec<Change> {
        let mut changes: Vec<Change> = Vec::new();
        for path in self.made().flat_map(|step| &step.paths) {
            let [before, after] = [&self.original, self.live.values()].map(|values| json_at(values, path));
            // What is not there any more was of another type.
            let is_changed = !after.is_null() && !is_same(&before, &after);
            if is_changed && !changes.iter().any(|change| change.path == *path) {
                changes.push(Change { path: path.clone(), before, after });
            }
        }
        changes
    }

    /// Steps that are done, from the first on.
    fn made(&self) -> impl DoubleEndedIterator<Item = &Step> {
        std::iter::once(&self.forgotten).chain(&self.steps[..self.done])
    }

    fn history(&self) -> HistoryState {
        let (undo, redo) = (self.done > 0, self.done < self.steps.len());
        HistoryState { changes: self.changes(), undo, redo }
    }

    /// Tells pages of values that have been set.
    fn tell_some(&mut self, set: &[(String, Value)]) {
        let mut values = Vec::new();
        for (path, _) in set {
            let value = json_at(self.live.values(), path);
            if let Some((_, told)) = self.told.iter_mut().find(|(known, _)| known == path) {
                told.clone_from(&value);
            }
            values.push((path.clone(), value));
        }
        let (revision, history) = (self.revision, self.history());
        self.hub.tell(&Reply::Values { revision, values, history });
    }

    /// Tells pages of all that is not as they know it.
    fn tell_changes(&mut self) {
        let parameters = self.live.values().editable();
        let is_same = |((known, _), now): (&(String, Value), &EditableParameter)| *known == now.path;
        if parameters.len() != self.told.len() || !self.told.iter().zip(&parameters).all(is_same) {
            return self.tell_all();
        }
        let mut values = Vec::new();
        for ((path, told), parameter) in self.told.iter_mut().zip(&parameters) {
            let value = json_of(self.live.values(), parameter);
            if *told != value {
                values.push((path.clone(), value.clone()));
                *told = value;
            }
        }
        self.hub.tell(&Reply::Values { revision: self.revision, values, history: self.history() });
    }

    /// Tells pages of the whole scene.
    fn tell_all(&mut self) {
        let parameters = self.live.values().editable();
        let told =
            |parameter: &EditableParameter| (parameter.path.clone(), json_of(self.live.values(), parameter));
        self.told = parameters.iter().map(told).collect();
        self.hub.tell(&self.scene(&parameters));
    }

    fn scene(&self, parameters: &[EditableParameter]) -> Reply {
        let state = |parameter: &EditableParameter| ParameterState {
            path: parameter.path.clone(),
            value: json_of(self.live.values(), parameter),
            original: self.original_values.get(&parameter.path).cloned().unwrap_or_default(),
            takes: parameter.takes.clone(),
            control: parameter.control.clone(),
            about: parameter.about,
            unit: parameter.unit,
        };
        Reply::Scene(Box::new(SceneState {
            name: self.settings.name.clone(),
            size: self.settings.size,
            device: self.device.clone(),
            version: env!("CARGO_PKG_VERSION"),
            layers: LAYERS.to_vec(),
            revision: self.revision,
            parameters: parameters.iter().map(state).collect(),
            history: self.history(),
        }))
    }

    /// The edits in other words.
    fn export(&self) -> Export {
        let values = self.live.values();
        let changes = self.changes();
        let (set, arguments) = self.arguments(changes.iter());
        let Settings { command, .. } = &self.settings;
        let file = format!("{}-edited.toml", self.stem());
        let image = shell_word(&format!("{}-edited.png", self.stem()));
        Export {
            toml: (!values.has_files_in_memory()).then(|| values.to_toml()),
            render: format!("torrance render {command}{arguments} -o {image}"),
            convert: format!("torrance convert {command}{arguments} -o {}", shell_word(&file)),
            sweep: self.sweep(&changes),
            arguments: arguments.trim_start().to_owned(),
            file,
            set,
        }
    }

    /// A sweep of the number that was edited last, between what the file has and what is now.
    fn sweep(&self, changes: &[Change]) -> Option<String> {
        let varied = |path: &String| {
            let change = changes.iter().find(|change| change.path == *path)?;
            Some((&change.path, change.before.as_f64()?, change.after.as_f64()?))
        };
        let mut latest = self.made().rev().flat_map(|step| step.paths.iter().rev());
        let (path, before, after) = latest.find_map(varied)?;
        let (_, others) = self.arguments(changes.iter().filter(|change| change.path != *path));
        let values = match self.is_whole(path) {
            true => whole_numbers(before.min(after), before.max(after)),
            false => format!("{}:{}:8", before.min(after), before.max(after)),
        };
        let axis = shell_word(&format!("{path}={values}"));
        let output = shell_word(&format!("{}-sweep.png", self.stem()));
        Some(format!("torrance sweep {}{others} --param {axis} -o {output}", self.settings.command))
    }

    /// Whether a parameter takes whole numbers only.
    fn is_whole(&self, path: &str) -> bool {
        let is_whole = |control: &Control| matches!(control, Control::Number { integer: true, .. });
        self.live.values().editable().iter().any(|known| known.path == path && is_whole(&known.control))
    }

    /// Arguments that make changes, each of them, and all in the words of shells with a space before each.
    fn arguments<'a>(&self, changes: impl Iterator<Item = &'a Change>) -> (Vec<String>, String) {
        let value = |change: &Change| self.live.values().get(&change.path).ok();
        let set = changes.filter_map(|change| Some(format!("{}={}", change.path, value(change)?)));
        let words: Vec<_> = set.flat_map(|set| ["--set".to_owned(), set]).collect();
        let line = words.iter().map(|word| format!(" {}", shell_word(word))).collect();
        (words, line)
    }

    /// The name of the scene without its extension.
    fn stem(&self) -> &str {
        let name = self.settings.name.as_str();
        name.rsplit_once('.').map_or(name, |(stem, _)| stem)
    }
}

impl Step {
    fn is_change(&self) -> bool {
        self.tables.iter().any(|table| !is_same_entry(table.before.as_ref(), table.after.as_ref()))
    }

    /// Adds what has been done after it.
    fn extend(&mut self, later: Self) {
        for table in later.tables {
            match self.tables.iter_mut().find(|known| known.path == table.path) {
                Some(known) => known.after = table.after,
                None => self.tables.push(table),
            }
        }
        for path in later.paths {
            if !self.paths.contains(&path) {
                self.paths.push(path);
            }
        }
    }

    fn put_back(&self, scene: &mut SceneValues) {
        self.tables.iter().rev().for_each(|table| scene.put_entry(&table.path, table.before.clone()));
    }

    fn put_again(&self, scene: &mut SceneValues) {
        self.tables.iter().for_each(|table| scene.put_entry(&table.path, table.after.clone()));
    }
}

/// Sets a value, and notes the table that it is in. Whatever a new type lacks it gets as the original has it, or as an example.
fn touch(
    scene: &mut SceneValues,
    original: &SceneValues,
    (path, value): (&str, &Value),
    step: &mut Step,
) -> Result<(), String> {
    let table = table_of(scene, path).map_err(|error| error.to_string())?;
    let before = scene.entry(&table);
    let mut paths = vec![path.to_owned()];
    let result = match value {
        Value::String(text) => scene.set(path, text).map_err(|error| error.to_string()),
        value => toml::Value::try_from(value)
            .map_err(|error| format!("{path}: {error}"))
            .and_then(|value| scene.set_value(path, &value).map_err(|error| error.to_string())),
    };
    if let Err(error) = result {
        // Tables on the way may be there by now.
        scene.put_entry(&table, before);
        return Err(error);
    }
    if let Some(whole) = path.strip_suffix(".type") {
        paths.extend(scene.complete(whole, original));
    }
    let after = scene.entry(&table);
    step.extend(Step { tables: vec![Table { path: table, before, after }], paths });
    Ok(())
}

/// The path of the table that has all that changes where a value is set: that of a thing with a name or a number, or else a section.
fn table_of(scene: &SceneValues, path: &str) -> Result<String, PathError> {
    let keys = keys_of_path(path)?;
    let things = match scene.entry(&toml_key(&keys[0])) {
        Some(toml::Value::Table(table)) => !table.is_empty() && table.values().all(toml::Value::is_table),
        Some(value) => value.is_array(),
        None => false,
    };
    let n = if things && keys.len() > 1 { 2 } else { 1 };
    Ok(keys[..n].iter().map(|key| toml_key(key)).collect::<Vec<_>>().join("."))
}

/// Whether values are equal, as numbers are whether or not they have a point.
fn is_same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_same(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| is_same(a, b)))
        }
        (a, b) => a == b,
    }
}

fn is_same_entry(a: Option<&toml::Value>, b: Option<&toml::Value>) -> bool {
    let json = |value: Option<&toml::Value>| serde_json::to_value(value).unwrap_or_default();
    a == b || is_same(&json(a), &json(b))
}

/// The values of all parameters.
fn values_of(values: &SceneValues) -> HashMap<String, Value> {
    let all = values.editable();
    all.into_iter().map(|parameter| (parameter.path.clone(), json_of(values, &parameter))).collect()
}

/// Up to eight whole numbers from one to another, as a list.
fn whole_numbers(least: f64, most: f64) -> String {
    const STEPS: u32 = 7;
    let mut numbers: Vec<_> = (0..=STEPS)
        .map(|i| (least + (most - least) * f64::from(i) / f64::from(STEPS)).round().to_string())
        .collect();
    numbers.dedup();
    numbers.join(",")
}

/// The value of a parameter, in TOML where it is no number, word, colour or vector.
fn json_of(values: &SceneValues, parameter: &EditableParameter) -> Value {
    match (&parameter.control, &parameter.value) {
        (Control::Text, value) if !value.is_str() => values.get(&parameter.path).unwrap_or_default().into(),
        (_, value) => serde_json::to_value(value).unwrap_or_default(),
    }
}

fn json_at(values: &SceneValues, path: &str) -> Value {
    let value = values.find(path).ok().flatten();
    value.and_then(|value| serde_json::to_value(value).ok()).unwrap_or_default()
}
