//! `--caustics`.

use crate::guiding::{WIDE, folder};
use crate::program::{Folder, Outcome};

fn render(folder: &Folder, output: &str, options: &[&str]) -> Outcome {
    let arguments = ["render", "ball.toml", "--size=48x36", "--device=cpu", "--guiding=off", "-o", output];
    let outcome = folder.run(&[&arguments, options].concat());
    assert_eq!(outcome.code, Some(0), "{options:?}: {outcome:?}");
    outcome
}

fn compared(folder: &Folder, a: &str, b: &str) -> Outcome {
    folder.run(&["compare", a, b])
}

#[test]
fn walks_show_the_same_whatever_renders_them() {
    let folder = folder();
    let walks = [WIDE, "--caustics=walks", "--spp=32"];
    let with = |options: &[&'static str]| [&walks[..], options].concat();
    render(&folder, "two.exr", &with(&["--threads=2", "--integrator=megakernel"]));
    render(&folder, "one.exr", &with(&["--threads=1", "--integrator=megakernel"]));
    let same = compared(&folder, "two.exr", "one.exr");
    assert!(same.stdout.contains("All values that were compared are equal."), "{same:?}");
    let wavefront = with(&["--integrator=wavefront", "--seed=3"]);
    render(&folder, "wavefront.exr", &wavefront);
    let paths = [WIDE, "--caustics=paths", "--spp=2048", "--seed=1"];
    render(&folder, "paths.exr", &paths);
    let guided = with(&["--guiding=on", "--spp=64", "--seed=2"]);
    let guided: Vec<_> = guided.into_iter().filter(|option| *option != "--spp=32").collect();
    let outcome = folder.run(
        &[&["render", "ball.toml", "--size=48x36", "--device=cpu", "-o", "guided.exr"], &guided[..]].concat(),
    );
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    for image in ["two.exr", "wavefront.exr", "guided.exr"] {
        let same = compared(&folder, image, "paths.exr");
        assert_eq!(same.code, Some(0), "{image}: {same:?}");
    }

    // Paths cannot find a sun without size.
    let small = ["--set=lights.0.diameter=0", "--spp=64"];
    render(&folder, "found.exr", &[&small[..], &["--caustics=walks"]].concat());
    render(&folder, "lost.exr", &[&small[..], &["--caustics=paths"]].concat());
    let differs = compared(&folder, "found.exr", "lost.exr");
    assert_eq!(differs.code, Some(1), "control: {differs:?}");
    render(
        &folder,
        "dark.exr",
        &["--caustics=walks", "--spp=4", "--set=lights=[]", "--set=environment.radiance=0"],
    );
}

#[test]
fn light_of_walks_is_in_its_light_group() {
    let folder = folder();
    render(&folder, "groups.exr", &["--caustics=walks", "--spp=16", "--aov=light:*"]);
    let outcome = folder.run(&["mix", "groups.exr", "-o", "mixed.exr", "--gain=environment=1"]);
    assert!(outcome.code == Some(0) && !outcome.stderr.contains("do not add up"), "{outcome:?}");
}

#[test]
fn another_way_to_find_caustics_is_refused() {
    let outcome = folder().run(&["render", "ball.toml", "-o", "a.png", "--caustics=walk"]);
    assert_eq!(outcome.code, Some(2), "{outcome:?}");
    assert!(outcome.stderr.contains("walks") && outcome.stderr.contains("paths"), "{outcome:?}");
}
