//! The keys of each section of a suite, and synonyms that people write for them.

use torrance_text::nearest;

use super::reading;

/// Keys of the file itself.
pub(super) const TOP: &[&str] = &["level", "defaults", "case"];
/// Keys that identify a case.
const CASE_ONLY: &[&str] = &["name", "scene", "command", "expect", "skip"];
/// Keys of a reference.
const REFERENCE: &[&str] = &["reference", "reference_stderr", "reference_samples"];
/// How a scene is rendered.
const RENDERING: &[&str] = &[
    "max_spp",
    "bless_spp",
    "size",
    "max_depth",
    "rr",
    "sampler",
    "direct",
    "lights",
    "guiding",
    "guiding_memory",
    "caustics",
    "clamp_indirect",
    "masking",
];

/// The keys of scenes alone: how one is read and rendered.
pub(super) fn scene_settings() -> Vec<&'static str> {
    [RENDERING, reading::KEYS].concat()
}

/// How a command is run.
pub(super) const COMMAND_SETTINGS: &[&str] = &["passes", "max_passes", "bless_passes", "format"];
/// How either is, and how its image is judged.
const SETTINGS: &[&str] = &["spp", "seed", "time", "timeout", "resolve", "flip", "relmse", "noise"];

/// Keys of `[[case]]`.
pub(super) fn case() -> Vec<&'static str> {
    [CASE_ONLY, REFERENCE, SETTINGS, RENDERING, reading::KEYS, COMMAND_SETTINGS, &["full"]].concat()
}

/// Keys of `[defaults]`.
pub(super) fn defaults() -> Vec<&'static str> {
    [SETTINGS, RENDERING, reading::KEYS, COMMAND_SETTINGS, &["full"]].concat()
}

/// Keys of `full` in `[defaults]`.
pub(super) fn full_defaults() -> Vec<&'static str> {
    [SETTINGS, RENDERING, reading::KEYS, COMMAND_SETTINGS].concat()
}

/// Keys of `full` in a case.
pub(super) fn full() -> Vec<&'static str> {
    [REFERENCE, SETTINGS, RENDERING, reading::KEYS, COMMAND_SETTINGS].concat()
}

/// Our words, and others that people may write for them.
const SYNONYMS: &[(&str, &[&str])] = &[
    ("case", &["cases", "test", "tests"]),
    ("defaults", &["default", "settings"]),
    ("level", &["alpha", "significance", "p"]),
    ("name", &["id", "title"]),
    ("scene", &["file", "path"]),
    ("command", &["cmd", "run", "exec", "program", "args"]),
    ("reference", &["ref", "expected", "golden", "baseline"]),
    ("reference_stderr", &["stderr"]),
    ("bless_spp", &["reference_spp"]),
    ("bless_passes", &["reference_passes"]),
    ("noise", &["reference_noise"]),
    ("expect", &["xfail", "verdict"]),
    ("skip", &["ignore", "disabled"]),
    ("spp", &["samples", "min_spp"]),
    ("max_spp", &["max_samples"]),
    ("size", &["resolution"]),
    ("max_depth", &["depth"]),
    ("rr", &["rr_depth"]),
    ("passes", &["runs", "repeat"]),
    ("max_passes", &["max_runs"]),
    ("format", &["output"]),
    ("time", &["budget"]),
    ("timeout", &["limit", "max_time"]),
    ("resolve", &["tolerance", "epsilon"]),
    ("flip", &["threshold"]),
    ("relmse", &["rel_mse", "mse"]),
];

/// The probable meaning of a key that is not among `known`, worded to follow a semicolon: the word used here, or
/// the place where the key belongs.
pub(super) fn meant(key: &str, known: &[&str]) -> Option<String> {
    let lower = key.to_lowercase();
    let means_ours =
        |(ours, theirs): &&(&str, &[&str])| theirs.contains(&lower.as_str()) && known.contains(ours);
    if let Some((ours, _)) = SYNONYMS.iter().find(means_ours) {
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
