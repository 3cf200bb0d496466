//! `--guiding`.

use serde_json::Value;

use crate::program::{Folder, Outcome};

/// A glass ball in the sun, whose paths are guided unless something else is asked for.
const BALL: &str = include_str!("../../../src/render/guiding/ball.toml");

/// A folder with it.
pub(crate) fn folder() -> Folder {
    let folder = Folder::new();
    std::fs::write(folder.at("ball.toml"), BALL).expect("a file");
    folder
}

fn render(folder: &Folder, output: &str, options: &[&str]) -> Outcome {
    let arguments = ["render", "ball.toml", "--size=64x48", "--device=cpu", "-o", output];
    let outcome = folder.run(&[&arguments, options].concat());
    assert_eq!(outcome.code, Some(0), "{options:?}: {outcome:?}");
    outcome
}

/// A sun so wide that paths find it alone as well.
pub(crate) const WIDE: &str = "--set=lights.0.diameter=20";

/// What a render tells of guiding.
fn lesson(outcome: &Outcome) -> Value {
    let summary: Value = serde_json::from_str(&outcome.stdout).expect("JSON");
    summary["integrator"]["guiding"].clone()
}

#[test]
fn guided_renders_say_so_and_show_the_same() {
    let folder = folder();
    let told = lesson(&render(&folder, "on.exr", &[WIDE, "--guiding=on", "--spp=64", "--json"]));
    assert!(told["is_used"] == true && told["paths"].as_u64() > Some(60_000), "{told}");
    assert!(told["gain"].as_f64() > Some(2.0) && told["regions"].as_u64() > Some(10), "{told}");
    let outcome = render(&folder, "one.exr", &[WIDE, "--guiding=on", "--spp=64", "--threads=1"]);
    assert!(outcome.stderr.contains(", guided by what "), "{outcome:?}");
    let same = folder.run(&["compare", "on.exr", "one.exr"]);
    assert!(
        same.code == Some(0) && same.stdout.contains("All values that were compared are equal."),
        "{same:?}"
    );

    let off = [WIDE, "--guiding=off", "--spp=1024", "--seed=1", "--json"];
    let told = lesson(&render(&folder, "off.exr", &off));
    assert!(told.is_null(), "{told}");
    let same = folder.run(&["compare", "on.exr", "off.exr"]);
    assert_eq!(same.code, Some(0), "{same:?}");
    // More samples, by what is learnt for these.
    let outcome = render(&folder, "on.exr", &[WIDE, "--guiding=on", "--spp=192", "--resume"]);
    assert!(outcome.stderr.contains(", guided by what "), "{outcome:?}");
    let same = folder.run(&["compare", "on.exr", "off.exr"]);
    assert_eq!(same.code, Some(0), "{same:?}");
}

#[test]
fn guiding_is_tried_where_there_are_paths_enough() {
    let folder = folder();
    let told = lesson(&render(&folder, "few.exr", &[WIDE, "--guiding=auto", "--spp=16", "--json"]));
    assert!(told.is_null(), "{told}");
    if tier::is_deep() {
        let small = ["--guiding=auto", "--spp=8000", "--set=lights.0.diameter=2", "--json"];
        let told = lesson(&render(&folder, "small.exr", &small));
        assert!(told["is_used"] == true && told["gain"].as_f64() > Some(3.7), "{told}");
        let told = lesson(&render(&folder, "large.exr", &[WIDE, "--guiding=auto", "--spp=4000", "--json"]));
        assert!(told["is_used"] == false && told["gain"].as_f64() < Some(3.7), "{told}");
    }
}
