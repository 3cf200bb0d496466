//! Reading a suite.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use torrance_image::film::Format;
use torrance_scene::input::file::{read_bounded, text_of, unreadable};
use torrance_scene::input::{Error, Field, Problem, Section, parse, sorted};
use torrance_scene::limits::MAX_SPP;
use torrance_text::{duration, hint, quoted};

use super::suite::{
    Bless, Case, Effort, Expect, PLACEHOLDERS, Reference, Source, Suite, Thresholds, UnknownPlaceholder,
    expand, has_placeholder,
};
use super::{keys, reading};

/// Largest suite file.
const MAX_SUITE_BYTES: u64 = 16 << 20;
/// Most passes of a command.
const MAX_PASSES: u32 = 1 << 20;
/// Longest name of a case, characters: it becomes part of file names.
const LONGEST_NAME: usize = 100;
/// Expected outcomes by name.
const EXPECT: &[(&str, Expect)] = &[("same", Expect::Same), ("different", Expect::Different)];
/// Formats by name.
const FORMATS: &[(&str, Format)] =
    &[("exr", Format::Exr), ("png", Format::Png), ("hdr", Format::Hdr), ("pfm", Format::Pfm)];

/// Reads a suite: as every day, or in `full`. The error holds everything that is wrong, with either.
pub fn read(path: &Path, full: bool) -> Result<Suite, Error> {
    let file = path.display().to_string();
    let bytes = read_bounded(path, MAX_SUITE_BYTES)
        .map_err(|reason| Problem::of_file(file.as_str(), format!("cannot read the suite: {reason}")))?;
    let text = text_of(&file, &bytes)?;
    let folder = path.parent().unwrap_or(Path::new(""));
    let variant = |full| parse(&file, text, "the suite", keys::meant, |top| suite(top, path, folder, full));
    match (variant(full), variant(!full)) {
        (Ok((suite, _)), Ok(_)) => Ok(suite),
        (chosen, other) => {
            let problems = |r: Result<_, Error>| r.err().map_or_else(Vec::new, |e| e.problems);
            let all = [problems(chosen), problems(other)].concat();
            Err(Error { problems: sorted(&file, all) })
        }
    }
}

fn suite(top: &Section<'_>, path: &Path, folder: &Path, full: bool) -> Option<Suite> {
    top.reject_unknown_keys(keys::TOP);
    let level = top.get("level").map_or(Some(0.01), |f| level(&f));
    let defaults = table(top, "defaults", "[defaults]", &keys::defaults());
    let full_of = |defaults| table(defaults, "full", "\"full\" of [defaults]", &keys::full_defaults());
    let full_defaults = defaults.as_ref().and_then(full_of);
    let Some(items) = top.get("case") else {
        let message = "the suite has no cases; a case is [[case]] with \"name\", \"scene\" or \"command\", and \"reference\"";
        top.src.error(0..0, message);
        return None;
    };
    let mut reader = Reader { folder, full, defaults, full_defaults, names: BTreeSet::new() };
    let items = items.array("an array of tables, written [[case]]")?;
    let cases: Vec<_> = items.iter().enumerate().map(|(i, item)| reader.case(i, item)).collect();
    Some(Suite { path: path.into(), level: level?, cases: cases.into_iter().collect::<Option<_>>()? })
}

/// The table at a key, which messages call `name`, with its keys checked.
fn table<'a>(parent: &Section<'a>, key: &str, name: &str, keys: &[&str]) -> Option<Section<'a>> {
    let table = parent.get(key)?.table(name)?;
    table.reject_unknown_keys(keys);
    Some(table)
}

fn level(field: &Field<'_>) -> Option<f64> {
    let level = field.number()?;
    if (1e-9..=0.5).contains(&level) { Some(level) } else { field.reject("must be between 1e-9 and 0.5") }
}

/// Reads cases.
struct Reader<'a> {
    folder: &'a Path,
    full: bool,
    defaults: Option<Section<'a>>,
    full_defaults: Option<Section<'a>>,
    /// Names so far, in lower case: not every file system tells case.
    names: BTreeSet<String>,
}

impl<'a> Reader<'a> {
    fn case(&mut self, index: usize, item: &Field<'a>) -> Option<Case> {
        let place = format!("case[{index}]");
        let own = item.table(&place)?;
        let name = own.require("name", "name = \"cornell\"").and_then(|f| self.name(&f));
        let own = match &name {
            Some(name) => item.table(format!("case {}", quoted(name)))?,
            None => own,
        };
        own.reject_unknown_keys(&keys::case());
        let with_full = table(&own, "full", &format!("\"full\" of {}", own.name), &keys::full());
        let base = own.clone().over(self.defaults.clone());
        let all = match (self.full, with_full) {
            (false, _) => base,
            (true, Some(full)) => full.over(self.full_defaults.clone()).over(Some(base)),
            (true, None) => match self.full_defaults.clone() {
                Some(full) => full.over(Some(base)),
                None => base,
            },
        };
        let source = self.source(&own, &all);
        let is_scene = own.get("scene").is_some();
        let reference = self.reference(&own, &all);
        let expect = own.get("expect").map_or(Some(Expect::Same), |f| f.choice(EXPECT));
        let skip = own.get("skip").map_or(Some(None), |f| skip(&f));
        let effort = effort(&all, is_scene);
        let resolve = all.get("resolve").map_or(Some(0.005), |f| share(&f));
        let bless = bless(&all, is_scene);
        let thresholds = thresholds(&all);
        Some(Case {
            name: name?,
            source: source?,
            reference: reference?,
            expect: expect?,
            skip: skip?,
            effort: effort?,
            resolve: resolve?,
            thresholds: thresholds?,
            bless: bless?,
        })
    }

    fn name(&mut self, field: &Field<'_>) -> Option<String> {
        let name = field.string()?;
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
        if name.is_empty() || name.starts_with(['.', '-']) || !name.chars().all(is_plain) {
            return field.fail(&format!(
                "must be made of letters a to z, digits, \".\", \"_\" and \"-\", and begin with a letter or digit, since \
                 files are named after it, not {}",
                quoted(name)
            ));
        }
        if name.len() > LONGEST_NAME {
            return field.fail(&format!("has {} characters; {LONGEST_NAME} are the most", name.len()));
        }
        if !self.names.insert(name.to_lowercase()) {
            return field.fail(&format!("{} is the name of another case", quoted(name)));
        }
        Some(name.to_owned())
    }

    /// Reads the source of the image. `own` is the case itself, `all` with all that is below it.
    fn source(&self, own: &Section<'_>, all: &Section<'_>) -> Option<Source> {
        match (own.get("scene"), own.get("command")) {
            (Some(scene), None) => {
                let wrong = keys::COMMAND_SETTINGS.iter().filter_map(|key| own.get(key));
                for field in wrong {
                    let why = format!("{} is of commands, and {} has a scene", field.name, own.name);
                    own.src.error(field.key_span, why);
                }
                self.scene(&scene, all)
            }
            (None, Some(command)) => {
                let wrong = keys::scene_settings().into_iter().filter_map(|key| own.get(key));
                for field in wrong {
                    let mut why = format!("{} is of scenes, and {} has a command", field.name, own.name);
                    if field.name == "\"max_spp\"" {
                        why += "; a command is sampled further by \"max_passes\"";
                    }
                    own.src.error(field.key_span, why);
                }
                self.command(&command, own, all)
            }
            (Some(_), Some(command)) => {
                let why = format!("{} has a scene already; keep one of \"scene\" and \"command\"", own.name);
                own.src.error(command.key_span, why);
                None
            }
            (None, None) => {
                let why = format!(
                    "{} lacks \"scene\" or \"command\", for example: scene = \"knot.toml\" or \
                     command = [\"my-renderer\", \"-o\", \"{{output}}\"]",
                    own.name
                );
                own.src.error(own.span.clone(), why);
                None
            }
        }
    }

    fn scene(&self, field: &Field<'_>, all: &Section<'_>) -> Option<Source> {
        let name = field.string()?;
        let path = self.folder.join(name);
        let options = reading::options(all, self.folder);
        let reason = match std::fs::metadata(&path) {
            Ok(m) if m.is_dir() => Some("it is a directory".to_owned()),
            Ok(_) => None,
            Err(e) => Some(unreadable(&path, &e)),
        };
        if let Some(reason) = reason {
            return field.fail(&format!("names {}, which cannot be read: {reason}", quoted(name)));
        }
        Some(Source::Scene { path, options: Box::new(options?) })
    }

    fn command(&self, field: &Field<'_>, own: &Section<'_>, all: &Section<'_>) -> Option<Source> {
        const WHAT: &str = "a program and its arguments, for example [\"my-renderer\", \"-o\", \"{output}\"]";
        let words: Option<Vec<_>> =
            field.array(WHAT)?.iter().map(|w| w.string().map(str::to_owned)).collect();
        let words = words?;
        if words.first().is_none_or(String::is_empty) {
            return field.fail(&format!("names no program; write {WHAT}"));
        }
        for word in &words {
            let known = |name: &str| PLACEHOLDERS.contains(&name).then(String::new);
            if let Err(UnknownPlaceholder(name)) = expand(word, known) {
                let hint = hint(&name, "there are", PLACEHOLDERS.iter().copied());
                return field.fail(&format!("has an unknown placeholder {}{hint}", quoted(&name)));
            }
        }
        if !has_placeholder(&words, "output") {
            return field
                .fail("lacks {output}, which stands for the file that the image is to be written to");
        }
        let varies = has_placeholder(&words, "seed") || has_placeholder(&words, "pass");
        if !varies
            && let Some(passes) = own.get("passes").or(own.get("max_passes")).or(own.get("bless_passes"))
        {
            let why = "would all be the same; put {seed} or {pass} into \"command\"";
            return passes.fail(why);
        }
        let spp = match all.get("spp") {
            Some(f) => f.integer(1..=MAX_SPP).map(Some),
            None => Some(None),
        }?;
        match (has_placeholder(&words, "spp"), own.get("spp")) {
            (true, _) if spp.is_none() => return field.fail("has {spp}, and the case no \"spp\""),
            (false, Some(spp)) => return spp.fail("is not used; put {spp} into \"command\""),
            _ => {}
        }
        let format = all.get("format").map_or(Some(Format::Exr), |f| f.choice(FORMATS))?;
        Some(Source::Command { words, folder: self.folder.into(), format, spp })
    }

    fn reference(&self, own: &Section<'_>, all: &Section<'_>) -> Option<Reference> {
        let Some(field) = all.get("reference") else {
            own.require("reference", "reference = \"references/knot.exr\"");
            return None;
        };
        let image = |f: &Field<'_>| {
            let name = f.string()?;
            match Format::from_path(Path::new(name)) {
                Ok(_) => Some(self.folder.join(name)),
                Err(e) => f.fail(&format!("names {}: {e}", quoted(name))),
            }
        };
        let path = image(&field);
        let stderr = all.get("reference_stderr").map_or(Some(None), |f| image(&f).map(Some));
        let samples = match all.get("reference_samples") {
            Some(f) => f.integer(1..=u32::MAX).map(|n| Some(n as f32)),
            None => Some(None),
        };
        Some(Reference { path: path?, stderr: stderr?, samples: samples? })
    }
}

/// `skip = "why"`, or `true` without a reason.
fn skip(field: &Field<'_>) -> Option<Option<String>> {
    match (field.as_bool(), field.as_str()) {
        (Some(true), _) => Some(Some("the suite says so".to_owned())),
        (Some(false), _) => Some(None),
        (_, Some(reason)) => Some(Some(reason.to_owned())),
        _ => field.wrong_type("true, false or a reason"),
    }
}

fn effort(all: &Section<'_>, is_scene: bool) -> Option<Effort> {
    let (first, most, limit) =
        if is_scene { ("spp", "max_spp", MAX_SPP) } else { ("passes", "max_passes", MAX_PASSES) };
    let count = |key| all.get(key).map_or(Some(None), |f| f.integer(1..=limit).map(Some));
    let time = |key| all.get(key).map_or(Some(None), |f| seconds(&f).map(Some));
    let (first_count, most_count) = (count(first), count(most));
    if let (Some(Some(a)), Some(Some(b))) = (first_count, most_count)
        && b < a
        && let Some(field) = all.get(most)
    {
        return field.fail(&format!("is {b}, fewer than the {a} of {first:?}"));
    }
    let seed = all.get("seed").map_or(Some(1), |f| f.integer(0..=u32::MAX));
    let (budget, timeout) = (time("time"), time("timeout"));
    Some(Effort {
        seed: seed?,
        first: first_count?,
        most: most_count?,
        time: budget?,
        timeout: timeout?.unwrap_or(Effort::TIMEOUT),
    })
}

fn bless(all: &Section<'_>, is_scene: bool) -> Option<Bless> {
    let (key, limit, most) = match is_scene {
        true => ("bless_spp", MAX_SPP, Bless::SPP),
        false => ("bless_passes", MAX_PASSES, Bless::PASSES),
    };
    let most = all.get(key).map_or(Some(most), |f| f.integer(1..=limit));
    let noise = all.get("noise").map_or(Some(0.002), |f| share(&f));
    Some(Bless { noise: noise?, most: most? })
}

/// A time: seconds, or a string with a unit.
fn seconds(field: &Field<'_>) -> Option<Duration> {
    let text = match field.as_str() {
        Some(text) => text.to_owned(),
        None if field.is_number() => field.number()?.to_string(),
        None => return field.wrong_type("seconds, or a time as in \"2m\""),
    };
    duration(&text).map_err(|why| field.fail::<()>(&format!("is {}: {why}", quoted(&text)))).ok()
}

/// A share: a number, or a string with a per cent sign.
fn share(field: &Field<'_>) -> Option<f64> {
    const EXAMPLE: &str = "for example 0.005 or \"0.5%\"";
    let (value, written) = match field.as_str() {
        Some(text) => {
            let percent = text.strip_suffix('%').and_then(|t| t.trim().parse::<f64>().ok());
            (percent.map(|x| x / 100.0), quoted(text))
        }
        None if field.is_number() => (field.number(), field.written()),
        None => return field.wrong_type(&format!("a share, {EXAMPLE}")),
    };
    let value = value.filter(|x| (1e-9..1.0).contains(x));
    value.or_else(|| field.fail(&format!("must be a share above 0 and below 1, {EXAMPLE}, not {written}")))
}

fn thresholds(all: &Section<'_>) -> Option<Thresholds> {
    let bound = |key, high: f64| match all.get(key) {
        Some(f) => match f.number()? {
            x if x > 0.0 && x <= high => Some(Some(x)),
            _ => f.reject(&format!("must be above 0 and at most {high}")),
        },
        None => Some(None),
    };
    let (flip, relmse) = (bound("flip", 1.0), bound("relmse", 1e6));
    Some(Thresholds { flip: flip?, relmse: relmse? })
}
