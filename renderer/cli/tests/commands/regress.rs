//! `torrance regress`: suites of tiny scenes and commands.
#![cfg(unix)]

use std::fs;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use torrance_image::film::encode::{Provenance, Settings, encode};
use torrance_image::film::{Format, Image, ImageEstimate};

use crate::program::{Folder, Outcome};

/// Renders references: of the scene as it is, and of a darker one.
fn folder() -> Folder {
    let folder = Folder::new();
    // In smaller images it cannot be told whether neighbouring pixels are correlated.
    let scene = fs::read_to_string(folder.at("scene.toml")).unwrap().replace("[24, 16]", "[48, 32]");
    fs::write(folder.at("scene.toml"), &scene).unwrap();
    fs::write(folder.at("darker.toml"), scene.replace("0.5, 0.5, 0.5", "0.5, 0.5, 0.4")).unwrap();
    for (scene, image) in
        [("scene.toml", "ref.exr"), ("darker.toml", "darker.exr"), ("scene.toml", "ref.pfm")]
    {
        let options = ["--spp", "512", "--seed", "7", "--sampler", "independent", "--quiet"];
        let outcome = folder.run(&[&["render", scene, "-o", image], &options[..]].concat());
        assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    }
    folder
}

/// The head of a suite: sampled as the references are, since Sobol' points make errors smaller than they say.
const HEAD: &str = "[defaults]\nsampler = \"independent\"\nspp = 32\nmax_spp = 512\nresolve = \"2%\"\n";

/// Runs a suite of cases.
fn regress(folder: &Folder, cases: &str, options: &[&str]) -> Outcome {
    fs::write(folder.at("suite.toml"), format!("{HEAD}{cases}")).unwrap();
    let mut program = folder.program(&[&["regress", "suite.toml"], options].concat());
    program.env_remove("CI").stdin(Stdio::null()).output().unwrap().into()
}

fn scene(name: &str, reference: &str, more: &str) -> String {
    format!("\n[[case]]\nname = \"{name}\"\nscene = \"scene.toml\"\nreference = \"{reference}\"\n{more}\n")
}

fn command(name: &str, script: &str, reference: &str, more: &str) -> String {
    format!(
        "\n[[case]]\nname = \"{name}\"\ncommand = [\"sh\", \"-c\", '''{script}''', \"sh\", \"{{output}}\", \"{{seed}}\"]\n\
         reference = \"{reference}\"\n{more}\n"
    )
}

/// Cases in the output of `--json -`: name, status, first sentence.
fn cases(outcome: &Outcome) -> Vec<(String, String, String)> {
    let json: serde_json::Value = serde_json::from_str(&outcome.stdout).expect("JSON on stdout");
    let text = |v: &serde_json::Value| v.as_str().unwrap_or_default().to_owned();
    let cases = json["cases"].as_array().expect("cases");
    cases.iter().map(|c| (text(&c["name"]), text(&c["status"]), text(&c["words"][0]))).collect()
}

fn statuses(outcome: &Outcome) -> Vec<String> {
    cases(outcome).into_iter().map(|(name, status, _)| format!("{name}: {status}")).collect()
}

#[test]
fn the_same_scene_passes_and_another_fails() {
    let folder = folder();
    let suite = [
        scene("same", "ref.exr", ""),
        scene("darker", "darker.exr", ""),
        scene("control", "darker.exr", "expect = \"different\""),
        scene("wrong-control", "ref.exr", "expect = \"different\""),
        scene("left-out", "ref.exr", "skip = \"no reason\""),
        scene("no-reference", "nothing.exr", ""),
        scene("no-control", "nothing.exr", "expect = \"different\""),
        scene("small", "ref.exr", "size = [8, 8]"),
    ]
    .concat();
    let outcome = regress(&folder, &suite, &["--json", "-", "--junit", "junit.xml", "--html", "page.html"]);
    assert_eq!(outcome.code, Some(1), "{outcome:?}");
    let found = cases(&outcome);
    for ((name, status, words), (expected_name, expected_status, begins)) in found.iter().zip([
        ("same", "passed", "same: a difference of "),
        ("darker", "failed", "different: "),
        ("control", "passed", "as expected, different: "),
        ("wrong-control", "failed", "expected different, but same: "),
        ("left-out", "skipped", "skipped: no reason"),
        (
            "no-reference",
            "error",
            "error: there is no reference nothing.exr; render it with --bless --filter no-reference",
        ),
        (
            "no-control",
            "error",
            "error: there is no reference nothing.exr; --bless makes none from a case with expect = \"different\": \
             render it with a case of the same reference that expects \"same\", or supply the image",
        ),
        ("small", "error", "error: the image has 8×8 pixels, and the reference 48×32"),
    ]) {
        assert_eq!((name.as_str(), status.as_str()), (expected_name, expected_status), "{words}");
        assert!(words.starts_with(begins), "{name}: {words}");
    }
    assert_eq!(found.len(), 8);

    // The other reports say the same.
    let junit = fs::read_to_string(folder.at("junit.xml")).unwrap();
    let junit = quick_junit::Report::deserialize_from_str(&junit).expect("JUnit XML");
    assert_eq!((junit.tests, junit.failures, junit.errors), (8, 2, 3));
    assert_eq!(junit.test_suites[0].skipped, 1);
    let page = fs::read_to_string(folder.at("page.html")).unwrap();
    assert!(page.contains("wrong-control") && page.contains("expected different, but same"));

    // Rows are on stdout where JSON is not.
    let outcome = regress(&folder, &suite, &["--filter", "same", "--filter", "?arker"]);
    assert_eq!(outcome.code, Some(1));
    let rows: Vec<_> = outcome.stdout.lines().filter(|l| !l.starts_with(' ')).collect();
    assert!(rows[0].starts_with("passed     same "), "{}", outcome.stdout);
    assert!(rows[1].starts_with("failed     darker "), "{}", outcome.stdout);
    assert!(rows[2].starts_with("1 passed, 1 failed in "), "{}", outcome.stdout);
    assert_eq!(regress(&folder, &suite, &["--filter", "same", "--quiet"]).stdout, "");
    let none = regress(&folder, &suite, &["--filter", "smae"]);
    assert_eq!(
        none.stderr,
        "error: --filter \"smae\": suite.toml has no such case; did you mean \"same\"?\n"
    );
    assert_eq!(none.code, Some(2));
}

/// What the options of `render` say of a scene file, keys of a suite say as well; another value is another image.
#[test]
fn scenes_are_read_as_the_case_says() {
    let folder = Folder::new();
    fs::write(
        folder.at("cone.obj"),
        "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 3\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n",
    )
    .unwrap();
    fs::write(
        folder.at("ball.xml"),
        "<scene version=\"3.0.0\"><default name=\"grey\" value=\"0.5\"/><shape type=\"sphere\"><bsdf type=\"diffuse\">\
         <spectrum name=\"reflectance\" value=\"$grey\"/></bsdf></shape><emitter type=\"constant\"/>\
         <sensor type=\"perspective\"><transform name=\"to_world\"><lookat origin=\"0,0,4\" target=\"0,0,0\" up=\"0,1,0\"/>\
         </transform></sensor></scene>",
    )
    .unwrap();
    let size = ["--size", "48x32", "--spp", "256", "--seed", "7", "--sampler", "independent", "--quiet"];
    for (scene, image, options) in [
        ("cone.obj", "cone.exr", ["--environment=0.4,0.5,0.6", "--up=z"].as_slice()),
        ("ball.xml", "ball.exr", &["--define=grey=0.7"]),
    ] {
        let outcome = folder.run(&[&["render", scene, "-o", image], options, &size].concat());
        assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    }
    let case = |name: &str, scene: &str, more: &str| {
        format!(
            "\n[[case]]\nname = \"{name}\"\nscene = \"{scene}\"\nreference = \"{}\"\nsize = [48, 32]\n{more}\n",
            scene.replace("obj", "exr").replace("xml", "exr")
        )
    };
    let suite = [
        case("told", "cone.obj", "environment = [0.4, 0.5, 0.6]\nup = \"z\""),
        case("otherwise-told", "cone.obj", "environment = \"0.4,0.5,0.6\"\nlight = \"scene\"\nup = \"z\""),
        case("lying", "cone.obj", "environment = [0.4, 0.5, 0.6]"),
        case("in-a-studio", "cone.obj", "up = \"z\""),
        case("defined", "ball.xml", "define = { grey = 0.7 }"),
        case("by-default", "ball.xml", ""),
        case("unsuited", "ball.xml", "define = { grey = 0.7 }\ncamera = 1"),
    ];
    let outcome = regress(&folder, &suite.concat(), &["--json", "-"]);
    let expected = [
        "told: passed",
        "otherwise-told: passed",
        "lying: failed",
        "in-a-studio: failed",
        "defined: passed",
        "by-default: failed",
        "unsuited: error",
    ];
    assert_eq!(statuses(&outcome), expected, "{}", outcome.stderr);
    assert!(outcome.stderr.contains("there is no camera \"1\" to choose: only glTF files have several"));
}

/// Too few samples for what the suite asks: it passes, and says so; --strict fails.
#[test]
fn what_cannot_be_told_is_said() {
    let folder = folder();
    let suite = scene("few", "ref.exr", "spp = 4\nmax_spp = 8\nresolve = 0.0001");
    let outcome = regress(&folder, &suite, &["--json", "-"]);
    assert_eq!((outcome.code, statuses(&outcome)), (Some(0), vec!["few: unresolved".to_owned()]));
    let words = &cases(&outcome)[0].2;
    assert!(words.starts_with("same as far as 8 spp can tell: differences up to "), "{words}");
    assert_eq!(regress(&folder, &suite, &["--strict"]).code, Some(1));
    // With more it is clear.
    let suite =
        scene("few", "ref.exr", "spp = 4\nmax_spp = 8\nresolve = 0.0001\nfull = { resolve = \"20%\" }");
    let outcome = regress(&folder, &suite, &["--json", "-", "--full"]);
    assert_eq!(statuses(&outcome), ["few: passed"]);
}

/// Images of any program: with standard errors, without where passes have some, and by thresholds.
#[test]
fn commands_make_images() {
    let folder = folder();
    let program = env!("CARGO_BIN_EXE_torrance");
    let render = format!(
        "exec {program} render scene.toml -o \"$1\" --seed $2 --spp 16 --sampler independent --device cpu"
    );
    let darker = render.replace("scene.toml", "darker.toml");
    let (passes, pfm) =
        ("passes = 16\nmax_passes = 32\nresolve = \"5%\"\nformat = \"pfm\"", "format = \"pfm\"");
    let suite = [
        command("its-own-noise", "cp darker.exr $1", "ref.exr", "expect = \"different\""),
        command("spread", &render, "ref.exr", passes),
        command("spread-of-another", &darker, "ref.exr", &passes.replace("32", "256")),
        command("thresholds", "cp ref.pfm $1", "ref.pfm", pfm),
        command("beyond", "cp ref.pfm $1", "ref.pfm", &format!("{pfm}\nexpect = \"different\"")),
        command("beyond-relmse", &render, "ref.pfm", "format = \"pfm\"\nrelmse = 1e-9"),
        command("no-noise", "cp ref.pfm $1", "ref.exr", pfm),
    ]
    .concat();
    let outcome = regress(&folder, &suite, &["--json", "-", "--jobs", "2"]);
    assert_eq!(
        statuses(&outcome),
        [
            "its-own-noise: passed",
            "spread: passed",
            "spread-of-another: failed",
            "thresholds: passed",
            "beyond: failed",
            "beyond-relmse: failed",
            "no-noise: error"
        ],
        "{outcome:?}"
    );
    let words = |i: usize| cases(&outcome)[i].2.clone();
    assert_eq!(words(3), "same within bounds of metrics");
    assert_eq!(words(4), "expected different, but same within bounds of metrics");
    assert!(words(5).starts_with("different: relMSE is "), "{}", words(5));
    assert!(
        words(6).starts_with("error: the reference has standard errors, and the command's image has none")
    );
}

/// A case that crashes, hangs, writes nothing or nonsense fails alone, and says why.
#[test]
fn a_case_that_breaks_fails_alone() {
    let folder = folder();
    let suite = [
        command("crashes", "echo about to crash >&2; kill -s SEGV $$", "ref.exr", ""),
        command("hangs", "echo waiting; sleep 100", "ref.exr", "timeout = \"700ms\""),
        command("writes-nothing", "true", "ref.exr", ""),
        command("writes-nonsense", "echo nonsense > $1", "ref.exr", ""),
        command("gives-up", "exit 7", "ref.exr", ""),
        "\n[[case]]\nname = \"is-not-there\"\ncommand = [\"./nowhere\", \"{output}\"]\nreference = \"ref.exr\"\n".into(),
        "\n[[case]]\nname = \"broken-scene\"\nscene = \"broken.toml\"\nreference = \"ref.exr\"\n".into(),
        scene("takes-long", "ref.exr", "timeout = 0.4\nspp = 1000000000\nmax_spp = 1000000000"),
        scene("fine", "ref.exr", ""),
    ]
    .concat();
    fs::write(folder.at("broken.toml"), "[camera]\n").unwrap();
    let start = Instant::now();
    let outcome = regress(&folder, &suite, &["--json", "-", "--jobs", "3"]);
    assert!(start.elapsed() < Duration::from_secs(60));
    assert_eq!(outcome.code, Some(1));
    let found: Vec<_> =
        cases(&outcome).into_iter().map(|(_, status, words)| format!("{status}, {words}")).collect();
    for (found, expected) in found.iter().zip([
        "error, error: the command was ended by signal 11 (SIGSEGV)",
        "error, error: it was still running after 0.7 s, its timeout",
        "error, error: the command ended well, but wrote no image to {output}, a .exr file",
        "error, error: the image that the command wrote cannot be read: not a valid .exr file: ",
        "error, error: the command ended with exit code 7",
        "error, error: \"./nowhere\" does not start: no such program",
        "error, error: the scene broken.toml has 4 errors",
        "error, error: it was still running after 0.4 s, its timeout",
        "passed, same: ",
    ]) {
        assert!(found.starts_with(expected), "{found}");
    }
    let json: serde_json::Value = serde_json::from_str(&outcome.stdout).unwrap();
    assert_eq!(json["cases"][0]["log"], "about to crash\n");
    assert_eq!(json["cases"][1]["log"], "waiting\n");
    let log = json["cases"][6]["log"].as_str().unwrap();
    assert!(log.starts_with("error: broken.toml:1:"), "{log}");
}

/// Ctrl-C ends the case that runs, with what it started, and writes what is done.
#[test]
fn an_interrupted_suite_reports_what_is_done() {
    let folder = folder();
    let hang = "echo $$ > pid.tmp; mv pid.tmp pid; sleep 100; echo woke > woke";
    let suite = [
        scene("first", "ref.exr", ""),
        command("second", hang, "ref.exr", ""),
        scene("third", "ref.exr", ""),
    ]
    .concat();
    fs::write(folder.at("suite.toml"), format!("{HEAD}{suite}")).unwrap();
    let options = ["regress", "suite.toml", "--json", "-", "--junit", "junit.xml", "--html", "page.html"];
    let mut program = folder.program(&options);
    let child = program.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let start = Instant::now();
    while !folder.at("pid").exists() {
        assert!(start.elapsed() < Duration::from_secs(60), "the second case begins");
        sleep(Duration::from_millis(5));
    }
    let pid = fs::read_to_string(folder.at("pid")).unwrap().trim().to_owned();
    let sh = |script: &str| Command::new("sh").args(["-c", script]).status().unwrap().success();
    assert!(sh(&format!("kill -s INT {}", child.id())));
    let outcome = Outcome::from(child.wait_with_output().unwrap());
    assert_eq!(outcome.code, Some(130), "{outcome:?}");
    assert_eq!(statuses(&outcome), ["first: passed", "second: not run", "third: not run"]);
    assert!(outcome.stdout.contains("\"interrupted\": true"));
    let junit = fs::read_to_string(folder.at("junit.xml")).unwrap();
    let junit = quick_junit::Report::deserialize_from_str(&junit).unwrap();
    assert_eq!((junit.tests, junit.test_suites[0].skipped), (3, 2));
    assert!(fs::read_to_string(folder.at("page.html")).unwrap().contains("third"));
    assert!(!sh(&format!("kill -0 {pid} 2>/dev/null")), "the command has ended as well");
}

/// References are not replaced by accident, and are what was asked for when they are.
#[test]
fn references_are_blessed_on_purpose_only() {
    let folder = folder();
    let suite = [
        scene("old", "darker.exr", "noise = \"4%\""),
        scene("new", "references/new.exr", "noise = 1e-6\nbless_spp = 128"),
        scene("control", "darker.exr", "expect = \"different\""),
        command("program", "cp ref.pfm $1", "references/program.pfm", "format = \"pfm\""),
    ]
    .concat();
    let before = fs::read(folder.at("darker.exr")).unwrap();
    let refused = |outcome: Outcome, expected: &str| {
        assert_eq!(outcome.code, Some(2), "{outcome:?}");
        assert!(outcome.stderr.starts_with(expected), "{}", outcome.stderr);
        assert!(!folder.at("references").exists());
        assert_eq!(fs::read(folder.at("darker.exr")).unwrap(), before);
    };
    refused(regress(&folder, &suite, &["--bless"]), "error: --bless asks before it replaces a reference");
    let ci = |arguments: &[&str]| {
        let mut program = folder.program(&[&["regress", "suite.toml"], arguments].concat());
        Outcome::from(program.env("CI", "true").stdin(Stdio::null()).output().unwrap())
    };
    refused(ci(&["--bless", "--yes"]), "error: --bless: the environment says CI");

    let outcome = ci(&["--bless=ci", "--yes"]);
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    for expected in [
        "old: 64 spp; half of the noisy pixels have standard errors below ",
        "  against the old reference:\n    different: ",
        "new: 128 spp, the most; half of the noisy pixels have standard errors below ",
        "    there is no reference yet\n",
        "control: left out: it is to differ from its reference\n",
        "program: 8 passes; .pfm files hold no standard errors\n",
        "wrote 3 references, kept 0\n",
    ] {
        assert!(outcome.stdout.contains(expected), "{expected}: {}", outcome.stdout);
    }
    let new = ImageEstimate::read(&folder.at("references/new.exr")).unwrap();
    let noise = new.noise.expect("standard errors");
    assert_eq!(noise.samples.unwrap()[0], 128.0);
    assert!(noise.stderr.iter().flatten().any(|s| *s > 0.0));
    assert_eq!(
        fs::read(folder.at("references/program.pfm")).unwrap(),
        fs::read(folder.at("ref.pfm")).unwrap()
    );

    // What was accepted passes, and the control fails, since its reference changed.
    let outcome = regress(&folder, &suite, &["--json", "-"]);
    let found = statuses(&outcome);
    assert_eq!(found[1..], ["new: passed", "control: failed", "program: passed"], "{outcome:?}");
    assert!(found[0] == "old: passed" || found[0] == "old: unresolved", "{outcome:?}");
}

/// Images of cases are kept where they are asked for, with their standard errors.
#[test]
fn results_are_written() {
    let folder = folder();
    let outcome = regress(&folder, &scene("same", "ref.exr", ""), &["--output", "results", "--quiet"]);
    assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(0), ""), "{outcome:?}");
    let result = ImageEstimate::read(&folder.at("results/same.exr")).unwrap();
    assert_eq!((result.image.width, result.image.height), (48, 32));
    assert!(result.noise.is_some_and(|n| n.stderr.iter().flatten().any(|s| *s > 0.0 && s.is_finite())));
}

/// A result must not become its own reference, nor a report a scene, nor one report another.
#[test]
fn results_replace_nothing_that_is_read() {
    let folder = folder();
    fs::create_dir(folder.at("references")).unwrap();
    fs::create_dir(folder.at("out")).unwrap();
    fs::copy(folder.at("darker.exr"), folder.at("references/same.exr")).unwrap();
    fs::write(folder.at("wood.png"), b"\x89PNG\r\n\x1a\n").unwrap();
    let suite = scene("same", "references/same.exr", "");
    let before = fs::read(folder.at("references/same.exr")).unwrap();
    for (options, message) in [
        (
            &["--output", "references"][..],
            "error: output \"references/same.exr\": is a file that the suite reads\n",
        ),
        (&["--html", "suite.toml"], "error: output \"suite.toml\": is a file that the suite reads\n"),
        (&["--json", "./scene.toml"], "error: output \"./scene.toml\": is a file that the suite reads\n"),
        // Scenes have files, too, of which nobody knows yet.
        (
            &["--html", "wood.png"],
            "error: output \"wood.png\": is there already, and no JSON, XML or page that it could take the place of\n",
        ),
        (&["--html", "x", "--json", "./x"], "error: output \"x\": given twice\n"),
        (&["--output", "out", "--junit", "out/same.exr"], "error: output \"out/same.exr\": given twice\n"),
    ] {
        let outcome = regress(&folder, &suite, options);
        assert_eq!((outcome.code, outcome.stderr.as_str()), (Some(2), message));
    }
    assert_eq!(fs::read(folder.at("references/same.exr")).unwrap(), before);
    // What it has written itself, it replaces.
    for _ in 0..2 {
        let results = ["--output", "out", "--html", "page", "--json", "json", "--junit", "xml"];
        assert_eq!(regress(&folder, &suite, &results).code, Some(1));
    }
    fs::copy(folder.at("ref.exr"), folder.at("sky.exr")).unwrap();
    let own = scene("own", "sky.exr", "environment = \"sky.exr\"");
    let outcome = regress(&folder, &own, &["--bless", "--yes"]);
    assert_eq!(outcome.stderr, "error: output \"sky.exr\": is a file that the suite reads\n");
}

/// Standard errors of a reference may be in a file of their own, and its samples in the suite.
#[test]
fn a_reference_may_have_its_noise_elsewhere() {
    let folder = folder();
    for name in ["ref", "darker"] {
        let ImageEstimate { image, noise, .. } =
            ImageEstimate::read(&folder.at(&format!("{name}.exr"))).unwrap();
        let stderr = Image { pixels: noise.unwrap().stderr, ..image.clone() };
        for (image, end) in [(image, ""), (stderr, "-stderr")] {
            let pfm = encode(&image, Format::Pfm, &Settings::default(), &Provenance::default()).unwrap();
            fs::write(folder.at(&format!("{name}{end}.pfm")), pfm.bytes).unwrap();
        }
    }
    let noise = |name| format!("reference_stderr = \"{name}-stderr.pfm\"\nreference_samples = 512");
    fs::write(folder.at("negative.pfm"), b"PF 1 1 -1\n\0\0\x80\xbf\0\0\x80\xbf\0\0\x80\xbf").unwrap();
    fs::write(folder.at("one.pfm"), b"PF 1 1 -1\n\0\0\x80\x3f\0\0\x80\x3f\0\0\x80\x3f").unwrap();
    let suite = [
        scene("same", "ref.pfm", &noise("ref")),
        scene("another", "darker.pfm", &noise("darker")),
        scene("small", "ref.pfm", "reference_stderr = \"one.pfm\""),
        scene("negative", "ref.pfm", "reference_stderr = \"negative.pfm\""),
        command("display", "cp ref.pfm $1", "ref.png", "format = \"pfm\""),
    ]
    .concat();
    folder.run(&["render", "scene.toml", "-o", "ref.png", "--quiet"]);
    let outcome = regress(&folder, &suite, &["--json", "-"]);
    let found: Vec<_> =
        cases(&outcome).into_iter().map(|(_, status, words)| format!("{status}, {words}")).collect();
    for (found, expected) in found.iter().zip([
        "passed, same: a difference of ",
        "failed, different: ",
        "error, error: the reference is of no use: there are standard errors of 1 pixels, and it has 1536",
        "error, error: the reference is of no use: negative.pfm: standard errors are negative: -1 in pixel 0",
        "error, error: the image holds radiance, and the reference what a display shows",
    ]) {
        assert!(found.starts_with(expected), "{found}");
    }
}

/// No round begins once the time is up.
#[test]
fn time_bounds_sampling() {
    let folder = folder();
    let case = scene("timed", "ref.exr", "spp = 1\nmax_spp = 1000000000\ntime = 0.2\nresolve = 1e-8");
    let start = Instant::now();
    let outcome = regress(&folder, &case, &["--json", "-"]);
    assert_eq!((outcome.code, statuses(&outcome)), (Some(0), vec!["timed: unresolved".to_owned()]));
    assert!(start.elapsed() < Duration::from_secs(30), "{:?}", start.elapsed());
}
