//! The keys of each section of a suite, and synonyms that people write for them.

use torrance_text::nearest;

/// Keys of the file itself.
pub(super) const TOP: &[&str] = &["level", "defaults", "case"];
/// Keys that identify a case.
const CASE_ONLY: &[&str] = &["name", "scene", "command", "expect", "skip"];
/// Keys of a reference.
const REFERENCE: &[&str] = &["reference", "reference_stderr", "reference_samples"];
/// How a scene is rendered.
pub(super) const SCENE_SETTINGS: &[&str] =
    &["max_spp", "bless_spp", "size", "max_depth", "rr", "sampler", "direct", "masking"];
/// How a command is run.
pub(super) const COMMAND_SETTINGS: &[&str] = &["passes", "max_passes", "bless_passes", "format"];
/// How either is, and how its image is judged.
const SETTINGS: &[&str] = &["spp", "seed", "time", "timeout", "resolve", "flip", "relmse", "noise"];

/// Keys of `[[case]]`.
pub(super) fn case() -> Vec<&'static str> {
    [CASE_ONLY, REFERENCE, SETTINGS, SCENE_SETTINGS, COMMAND_SETTINGS, &["full"]].concat()
}

/// Keys of `[defaults]`.
pub(super) fn defaults() -> Vec<&'static str> {
    [SETTINGS, SCENE_SETTINGS, COMMAND_SETTINGS, &["full"]].concat()
}

/// Keys of `full` in `[defaults]`.
pub(super) fn full_defaults() -> Vec<&'static str> {
    [SETTINGS, SCENE_SETTINGS, COMMAND_SETTINGS].concat()
}

/// Keys of `full` in a case.
pub(super) fn full() -> Vec<&'static str> {
    [REFERENCE, SETTINGS, SCENE_SETTINGS, COMMAND_SETTINGS].concat()
}

/// Words that people may write, and ours.
const SYNONYMS: &[(&str, &str)] = &[
    ("cases", "case"),
    ("test", "case"),
    ("tests", "case"),
    ("default", "defaults"),
    ("settings", "defaults"),
    ("alpha", "level"),
    ("significance", "level"),
    ("p", "level"),
    ("id", "name"),
    ("title", "name"),
    ("file", "scene"),
    ("path", "scene"),
    ("cmd", "command"),
    ("run", "command"),
    ("exec", "command"),
    ("program", "command"),
    ("args", "command"),
    ("ref", "reference"),
    ("expected", "reference"),
    ("golden", "reference"),
    ("baseline", "reference"),
    ("stderr", "reference_stderr"),
    ("reference_spp", "bless_spp"),
    ("reference_passes", "bless_passes"),
    ("reference_noise", "noise"),
    ("xfail", "expect"),
    ("verdict", "expect"),
    ("ignore", "skip"),
    ("disabled", "skip"),
    ("samples", "spp"),
    ("min_spp", "spp"),
    ("max_samples", "max_spp"),
    ("resolution", "size"),
    ("depth", "max_depth"),
    ("rr_depth", "rr"),
    ("runs", "passes"),
    ("repeat", "passes"),
    ("max_runs", "max_passes"),
    ("output", "format"),
    ("budget", "time"),
    ("limit", "timeout"),
    ("max_time", "timeout"),
    ("tolerance", "resolve"),
    ("epsilon", "resolve"),
    ("threshold", "flip"),
    ("rel_mse", "relmse"),
    ("mse", "relmse"),
];

/// The probable meaning of a key that is not among `known`, worded to follow a semicolon: the word used here, or
/// the place where the key belongs.
pub(super) fn meant(key: &str, known: &[&str]) -> Option<String> {
    let lower = key.to_lowercase();
    let mut ours = SYNONYMS.iter().filter(|(theirs, _)| *theirs == lower).map(|(_, ours)| *ours);
    if let Some(ours) = ours.find(|ours| known.contains(ours)) {
        return Some(format!("it is called {ours:?} here"));
    }
    if nearest(key, known.iter().copied()).is_some() {
        return None;
    }
    let place = match () {
        () if TOP.contains(&key) => "at the top of the file",
        () if case().contains(&key) => "in [[case]]",
        () => return None,
    };
    Some(format!("it belongs {place}"))
}
