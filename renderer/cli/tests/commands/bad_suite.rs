//! Broken suites: each gives its exact message, with file and line, exit code 2, and nothing is run.

use std::fs;

use crate::program::Folder;

/// A suite that is right. Line numbers in the table count in it.
const SUITE: &str = r#"level = 0.02

[defaults]
resolve = "1%"
timeout = "2m"
full = { max_spp = 64 }

[[case]]
name = "ball"
scene = "scene.toml"
reference = "ball.exr"
spp = 4
max_spp = 16
masking = "separable"
full = { spp = 8 }

[[case]]
name = "other"
command = ["other", "--seed", "{seed}", "-o", "{output}"]
reference = "other.exr"
passes = 4
max_passes = 16
format = "pfm"
skip = "there is no other"
"#;

/// Name of the fault, a text, its replacement, and the expected message.
type Row<'a> = (&'a str, &'a str, &'a str, &'a str);

const ROWS: &[Row<'_>] = &[
    ("no value", "spp = 4", "spp =", "suite.toml:12:6: not valid TOML: there is no value after \"=\""),
    (
        "defined twice",
        "spp = 4",
        "spp = 4\nspp = 5",
        "suite.toml:13:1: not valid TOML: \"spp\" is defined twice",
    ),
    (
        "no cases",
        SUITE,
        "level = 0.01\n",
        "suite.toml:1:1: the suite has no cases; a case is [[case]] with \"name\", \"scene\" or \"command\", and \"reference\"",
    ),
    (
        "one case is a table",
        SUITE,
        "[case]\nname = \"x\"\n",
        "suite.toml:1:1: \"case\" must be an array of tables, written [[case]], not a table",
    ),
    ("case is no table", SUITE, "case = [1]\n", "suite.toml:1:9: \"case\" must be a table, not the number 1"),
    (
        "a key of others",
        "level = 0.02",
        "alpha = 0.02",
        "suite.toml:1:1: unknown key \"alpha\" in the suite; it is called \"level\" here",
    ),
    (
        "no such light",
        "max_spp = 16",
        "light = \"scen\"",
        "suite.toml:13:9: unknown light \"scen\"; did you mean \"scene\"?",
    ),
    (
        "no colour",
        "max_spp = 16",
        "environment = \"1,2\"",
        "suite.toml:13:15: \"environment\" is \"1,2\": a colour is a number, three numbers between commas, none below 0, or \"#rrggbb\"",
    ),
    (
        "no axis",
        "max_spp = 16",
        "up = \"w\"",
        "suite.toml:13:6: \"up\" is \"w\": an axis is x, y, z, -x, -y or -z",
    ),
    (
        "no camera",
        "max_spp = 16",
        "camera = true",
        "suite.toml:13:10: \"camera\" must be a name, or a number from 0, not true",
    ),
    (
        "no parameters",
        "max_spp = 16",
        "define = [1]",
        "suite.toml:13:10: \"define\" must be a table, not an array of 1",
    ),
    (
        "light of a command",
        "format = \"pfm\"",
        "light = \"scene\"",
        "suite.toml:23:1: \"light\" is of scenes, and case \"other\" has a command",
    ),
    (
        "a misspelt key",
        "max_spp = 16",
        "max_sp = 16",
        "suite.toml:13:1: unknown key \"max_sp\" in case \"ball\"; did you mean \"max_spp\"?",
    ),
    (
        "a key of a case in the defaults",
        "resolve = \"1%\"",
        "skip = true",
        "suite.toml:4:1: unknown key \"skip\" in [defaults]; it belongs in [[case]]",
    ),
    (
        "a key of a case at the top",
        "level = 0.02",
        "spp = 16",
        "suite.toml:1:1: unknown key \"spp\" in the suite; it belongs in [[case]]",
    ),
    (
        "a key of pytest",
        "skip = \"there is no other\"",
        "xfail = true",
        "suite.toml:24:1: unknown key \"xfail\" in case \"other\"; it is called \"expect\" here",
    ),
    (
        "a misspelt key in full",
        "full = { spp = 8 }",
        "full = { name = 8 }",
        "suite.toml:15:10: unknown key \"name\" in \"full\" of case \"ball\"; it belongs in [[case]]",
    ),
    (
        "full is no table",
        "full = { spp = 8 }",
        "full = true",
        "suite.toml:15:8: \"full\" must be a table, not true",
    ),
    (
        "a wrong value in full",
        "full = { spp = 8 }",
        "full = { spp = 0 }",
        "suite.toml:15:16: \"spp\" must be a whole number between 1 and 1073741824, not 0",
    ),
    (
        "level above a half",
        "level = 0.02",
        "level = 1",
        "suite.toml:1:9: \"level\" must be between 1e-9 and 0.5, not 1",
    ),
    (
        "level is text",
        "level = 0.02",
        "level = \"low\"",
        "suite.toml:1:9: \"level\" must be a number, not the string \"low\"",
    ),
    (
        "no name",
        "name = \"ball\"\n",
        "",
        "suite.toml:8:1: case[0] lacks \"name\", for example: name = \"cornell\"",
    ),
    (
        "a name that is a path",
        "\"ball\"",
        "\"a/b\"",
        "suite.toml:9:8: \"name\" must be made of letters a to z, digits, \".\", \"_\" and \"-\", and begin with a letter or digit, since files are named after it, not \"a/b\"",
    ),
    (
        "a name twice",
        "\"other\"\n",
        "\"Ball\"\n",
        "suite.toml:18:8: \"name\" \"Ball\" is the name of another case",
    ),
    (
        "neither scene nor command",
        "scene = \"scene.toml\"\n",
        "",
        "suite.toml:8:1: case \"ball\" lacks \"scene\" or \"command\", for example: scene = \"knot.toml\" or command = [\"my-renderer\", \"-o\", \"{output}\"]",
    ),
    (
        "scene and command",
        "passes = 4",
        "scene = \"scene.toml\"",
        "suite.toml:19:1: case \"other\" has a scene already; keep one of \"scene\" and \"command\"",
    ),
    (
        "a scene that is not there",
        "\"scene.toml\"",
        "\"scnee.toml\"",
        "suite.toml:10:9: \"scene\" names \"scnee.toml\", which cannot be read: no such file; did you mean \"scene.toml\"?",
    ),
    (
        "a scene that is a folder",
        "\"scene.toml\"",
        "\".\"",
        "suite.toml:10:9: \"scene\" names \".\", which cannot be read: it is a directory",
    ),
    (
        "no reference",
        "reference = \"ball.exr\"\n",
        "",
        "suite.toml:8:1: case \"ball\" lacks \"reference\", for example: reference = \"references/knot.exr\"",
    ),
    (
        "a reference of no format",
        "\"ball.exr\"",
        "\"ball.tga\"",
        "suite.toml:11:13: \"reference\" names \"ball.tga\": unknown file extension .tga; did you mean .png? (it may be .png, .exr, .hdr, .pfm, .jpg, .webp or .jxl)",
    ),
    (
        "a command of text",
        "command = [\"other\", \"--seed\", \"{seed}\", \"-o\", \"{output}\"]",
        "command = \"other {output}\"",
        "suite.toml:19:11: \"command\" must be a program and its arguments, for example [\"my-renderer\", \"-o\", \"{output}\"], not the string \"other {output}\"",
    ),
    (
        "an empty command",
        "[\"other\", \"--seed\", \"{seed}\", \"-o\", \"{output}\"]",
        "[]",
        "suite.toml:19:11: \"command\" names no program; write a program and its arguments, for example [\"my-renderer\", \"-o\", \"{output}\"]",
    ),
    (
        "a number in a command",
        "\"--seed\"",
        "7",
        "suite.toml:19:21: \"command\" must be a string, not the number 7",
    ),
    (
        "no output",
        "\"{output}\"",
        "\"out.exr\"",
        "suite.toml:19:11: \"command\" lacks {output}, which stands for the file that the image is to be written to",
    ),
    (
        "a misspelt placeholder",
        "{output}",
        "{ouput}",
        "suite.toml:19:11: \"command\" has an unknown placeholder \"ouput\"; did you mean \"output\"?",
    ),
    (
        "passes that are all the same",
        "\"--seed\", \"{seed}\"",
        "\"--seed\", \"1\"",
        "suite.toml:21:10: \"passes\" would all be the same; put {seed} or {pass} into \"command\"",
    ),
    (
        "samples without a number",
        "{seed}",
        "{seed}{spp}",
        "suite.toml:19:11: \"command\" has {spp}, and the case no \"spp\"",
    ),
    (
        "samples of no use",
        "passes = 4",
        "spp = 4",
        "suite.toml:21:7: \"spp\" is not used; put {spp} into \"command\"",
    ),
    (
        "samples of scenes for a command",
        "max_passes = 16",
        "max_spp = 16",
        "suite.toml:22:1: \"max_spp\" is of scenes, and case \"other\" has a command; a command is sampled further by \"max_passes\"",
    ),
    (
        "passes for a scene",
        "max_spp = 16",
        "passes = 16",
        "suite.toml:13:1: \"passes\" is of commands, and case \"ball\" has a scene",
    ),
    (
        "fewer at most than at first",
        "max_spp = 16",
        "max_spp = 3",
        "suite.toml:13:11: \"max_spp\" is 3, fewer than the 4 of \"spp\"",
    ),
    (
        "half a sample",
        "spp = 4",
        "spp = 0.5",
        "suite.toml:12:7: \"spp\" must be a whole number between 1 and 1073741824, not 0.5",
    ),
    (
        "a share without a sign",
        "\"1%\"",
        "\"1\"",
        "suite.toml:4:11: \"resolve\" must be a share above 0 and below 1, for example 0.005 or \"0.5%\", not \"1\"",
    ),
    (
        "a share of all",
        "\"1%\"",
        "1",
        "suite.toml:4:11: \"resolve\" must be a share above 0 and below 1, for example 0.005 or \"0.5%\", not 1",
    ),
    (
        "a share that is none",
        "\"1%\"",
        "[1]",
        "suite.toml:4:11: \"resolve\" must be a share, for example 0.005 or \"0.5%\", not an array of 1",
    ),
    ("no time", "\"2m\"", "0", "suite.toml:5:11: \"timeout\" is \"0\": a time must be longer than 0"),
    (
        "a time in parsecs",
        "\"2m\"",
        "\"12 parsecs\"",
        "suite.toml:5:11: \"timeout\" is \"12 parsecs\": expected a time, as in 30s, 2m, 1.5h, or 45 for seconds",
    ),
    (
        "an unknown format",
        "\"pfm\"",
        "\"tiff\"",
        "suite.toml:23:10: unknown format \"tiff\"; it is \"exr\", \"png\", \"hdr\" or \"pfm\"",
    ),
    (
        "an unknown setting",
        "\"separable\"",
        "\"seperable\"",
        "suite.toml:14:11: unknown masking \"seperable\"; did you mean \"separable\"?",
    ),
    (
        "a size without height",
        "masking = \"separable\"",
        "size = [16]",
        "suite.toml:14:8: \"size\" must be width and height, for example [640, 480], not an array of 1",
    ),
    (
        "an empty size",
        "masking = \"separable\"",
        "size = [16, 0]",
        "suite.toml:14:8: an image of 16×0 pixels is empty; both sides must be at least 1",
    ),
    (
        "something else to expect",
        "skip = \"there is no other\"",
        "expect = \"equal\"",
        "suite.toml:24:10: unknown expect \"equal\"; it is \"same\" or \"different\"",
    ),
    (
        "a threshold below nothing",
        "masking = \"separable\"",
        "flip = 0",
        "suite.toml:14:8: \"flip\" must be above 0 and at most 1, not 0",
    ),
    (
        "a skip without a reason",
        "\"there is no other\"",
        "7",
        "suite.toml:24:8: \"skip\" must be true, false or a reason, not the number 7",
    ),
    (
        "samples of a reference",
        "masking = \"separable\"",
        "reference_samples = 0",
        "suite.toml:14:21: \"reference_samples\" must be a whole number between 1 and 4294967295, not 0",
    ),
];

/// Deviation of a row from its expectation.
fn fault((name, right, wrong, expected): &Row<'_>) -> Option<String> {
    let folder = Folder::new();
    assert_eq!(SUITE.matches(right).count(), 1, "{right:?} is not in the suite once");
    fs::write(folder.at("suite.toml"), SUITE.replace(right, wrong)).unwrap();
    let outcome = folder.run(&["regress", "suite.toml", "--list"]);
    let first = outcome.stderr.lines().next().unwrap_or_default();
    let found = first.strip_prefix("error: ").unwrap_or(first);
    let is_right = found == *expected && outcome.code == Some(2) && outcome.stdout.is_empty();
    (!is_right).then(|| {
        format!("{name}:\n     expected {expected}\n     got      {found}\n     {:?}\n", outcome.code)
    })
}

#[test]
fn broken_suites_are_refused_with_exact_messages() {
    let faults: Vec<_> = ROWS.iter().filter_map(fault).collect();
    assert!(faults.is_empty(), "{} of {} rows:\n{}", faults.len(), ROWS.len(), faults.concat());
    let mut messages: Vec<_> = ROWS.iter().map(|(.., message)| message).collect();
    messages.sort_unstable();
    messages.dedup();
    assert!(messages.len() >= 25, "{}", messages.len());
}

/// Without this, the rows might fail for another reason than the one they are about; and a row that expects the wrong
/// thing must be caught.
#[test]
fn the_suite_as_it_is_is_right_and_the_check_can_fail() {
    assert!(fault(&("nothing wrong", "level = 0.02", "level = 0.03", "")).is_some());
    assert!(fault(&("another message", "spp = 4", "spp = 0", "no")).is_some());
    let folder = Folder::new();
    fs::write(folder.at("suite.toml"), SUITE).unwrap();
    let outcome = folder.run(&["regress", "suite.toml", "--list"]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    assert_eq!(
        outcome.stdout,
        "ball\tscene.toml\tball.exr\nother\tother --seed {seed} -o {output}\tother.exr\n"
    );
}

/// Faults elsewhere are reported too, each with its place; so are those that exist only with --full.
#[test]
fn all_that_is_wrong_is_reported() {
    let folder = Folder::new();
    let suite =
        SUITE.replace("spp = 8", "spp = 0").replace("{output}", "{ouput}").replace("level = ", "p = ");
    fs::write(folder.at("suite.toml"), suite).unwrap();
    let outcome = folder.run(&["regress", "suite.toml"]);
    let places: Vec<_> =
        outcome.stderr.lines().filter_map(|l| l.strip_prefix("error: suite.toml:")).collect();
    assert_eq!(places.len(), 3, "{}", outcome.stderr);
    assert!(outcome.stderr.ends_with("\n3 errors\n"), "{}", outcome.stderr);
    assert_eq!(outcome.code, Some(2));
}

#[test]
fn suites_that_are_no_text_or_not_there() {
    let folder = Folder::new();
    fs::write(folder.at("suite.toml"), b"\x89PNG\r\n").unwrap();
    for (name, expected) in [
        ("suite.toml", "suite.toml:1:1: not UTF-8: the byte 0x89 begins no character"),
        ("siute.toml", "siute.toml: cannot read the suite: no such file; did you mean \"suite.toml\"?"),
        (".", ".: cannot read the suite: it is a directory"),
    ] {
        let outcome = folder.run(&["regress", name]);
        assert_eq!(outcome.stderr.lines().next(), Some(format!("error: {expected}").as_str()));
        assert_eq!(outcome.code, Some(2));
    }
}
