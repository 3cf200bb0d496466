//! `torrance bench`, on a machine without a GPU.

use serde_json::Value;

use crate::program::Folder;

/// Measures two primitives on arrays that take no time.
const QUICK: [&str; 6] = ["bench", "primitives", "--only", "memcpy,scan", "--size", "100,2^10"];

#[test]
fn twins_are_measured_for_people_and_for_programs() {
    let folder = Folder::new();
    let outcome = folder.run(&QUICK);
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    let lines: Vec<_> = outcome.stdout.lines().collect();
    assert!(lines[0].starts_with("CPU") && lines[0].contains("twins of the kernels"), "{outcome:?}");
    assert!(lines[2].starts_with("memcpy ") && lines[2].contains(" 100 "), "{outcome:?}");

    let json: Value = serde_json::from_str(&folder.run(&[&QUICK[..], &["--json"]].concat()).stdout).unwrap();
    assert_eq!(json["twins"], true);
    let results = json["results"].as_array().unwrap();
    let of = |i: usize| (results[i]["primitive"].as_str().unwrap(), results[i]["length"].as_u64().unwrap());
    assert_eq!((of(0), results.last().unwrap()["length"].as_u64()), (("memcpy", 100), Some(1024)));
    for r in results {
        let number = |key: &str| r[key].as_f64().unwrap();
        assert!(number("seconds") > 0.0 && number("median_seconds") >= number("seconds"), "{r}");
        let bandwidth = number("bytes") / number("seconds") * 1e-9;
        assert!((number("gb_per_s") / bandwidth - 1.0).abs() < 1e-6, "{r}");
    }

    let csv = folder.run(&[&QUICK[..], &["--csv"]].concat()).stdout;
    assert_eq!(csv.lines().count(), 1 + results.len(), "{csv}");
    assert_eq!(folder.names(), [""; 0]);
}

#[test]
fn a_plot_is_drawn_in_both_formats() {
    let folder = Folder::new();
    for (name, begins) in [("a.png", &b"\x89PNG"[..]), ("a.svg", b"<svg")] {
        let outcome = folder.run(&[&QUICK[..], &["--plot", name, "--quiet"]].concat());
        assert_eq!((outcome.code, outcome.stderr.as_str()), (Some(0), ""), "{outcome:?}");
        assert!(std::fs::read(folder.at(name)).unwrap().starts_with(begins), "{name}");
    }
}

/// Refused at once, with exit code 2 and a line that says what is wrong.
#[track_caller]
fn refused(options: &[&str], message: &str) {
    let folder = Folder::new();
    std::fs::write(folder.at("text.so"), "no library").unwrap();
    let outcome = folder.run(&[&["bench", "primitives"], options].concat());
    assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(2), ""), "{outcome:?}");
    assert!(outcome.stderr.starts_with("error: "), "{outcome:?}");
    assert!(outcome.stderr.contains(message), "{outcome:?}");
}

#[test]
fn what_cannot_be_measured_is_refused() {
    refused(&["--only", "memcopy"], "unknown primitive \"memcopy\"; did you mean \"memcpy\"?");
    refused(&["--only", "scn"], "unknown primitive \"scn\"; did you mean \"scan\"?");
    refused(&["--size", "2^31"], "expected a number of elements from 1 to 2147483647");
    refused(&["--plot", "a.txt"], "expected a file .png or .svg");
    refused(&["--plot", "nowhere/a.png"], "nowhere");
    refused(&["--csv", "--json"], "cannot be used with");
    refused(&["--device", "cuda"], "--device cuda: ");
}

#[test]
fn a_baseline_that_cannot_be_loaded_is_refused() {
    refused(&["--baseline", "there-is-none.so"], "--baseline \"there-is-none.so\": it cannot be loaded: ");
    refused(&["--baseline", "text.so"], "--baseline \"text.so\": it cannot be loaded: ");
}

/// On a system that gives a program no more memory than four GiB.
#[cfg(target_os = "linux")]
#[test]
fn what_does_not_fit_is_skipped() {
    let folder = Folder::new();
    let run = |options: &[&str]| {
        let measured = ["bench", "primitives", "--only", "memcpy,luminance", "--device", "cpu", "--quiet"];
        let mut limited = std::process::Command::new("sh");
        limited.arg("-c").arg("ulimit -v 4194304; exec \"$0\" \"$@\"").arg(env!("CARGO_BIN_EXE_torrance"));
        limited.current_dir(folder.path()).env("TORRANCE_LIBCUDA", "").args(measured).args(options);
        crate::program::Outcome::from(limited.output().unwrap())
    };
    let some = run(&["--size", "1000,2^31-1", "--json"]);
    assert_eq!(some.code, Some(0), "{some:?}");
    let warning = "warning: everything of 2147483647 elements is skipped: ";
    assert!(some.stderr.starts_with(warning) && some.stderr.lines().count() == 1, "{some:?}");
    let json: Value = serde_json::from_str(&some.stdout).unwrap();
    assert_eq!(json["results"].as_array().unwrap().len(), 2, "{json}");
    assert_eq!(json["skipped"][0]["length"], 2_147_483_647_u32, "{json}");

    let none = run(&["--size", "2^31-1", "--plot", "a.png"]);
    assert_eq!((none.code, none.stdout.as_str()), (Some(3), ""), "{none:?}");
    assert!(none.stderr.starts_with(warning), "{none:?}");
    assert!(none.stderr.ends_with(": nothing of this fits\n"), "{none:?}");
    assert_eq!(folder.names(), [""; 0]);
}

/// Traces the rays of a scene in a folder, and yields the results by the names of the kinds.
fn traversal(folder: &Folder, options: &[&str]) -> Value {
    let always = ["bench", "traversal", "scene.toml", "--device", "cpu", "--quiet", "--json"];
    let outcome = folder.run(&[&always, options].concat());
    assert_eq!((outcome.code, outcome.stderr.as_str()), (Some(0), ""), "{outcome:?}");
    let json: Value = serde_json::from_str(&outcome.stdout).unwrap();
    assert_eq!(json["interrupted"], false);
    let results = json["results"].as_array().unwrap();
    let names: Vec<_> = results.iter().map(|r| r["kind"].as_str().unwrap()).collect();
    assert_eq!(names, ["primary", "shadow", "bounce_1", "bounce_2"]);
    for r in results {
        let number = |key: &str| r[key].as_f64().unwrap();
        assert!(number("hits") <= number("rays") && number("rays") <= number("camera_rays"), "{r}");
        assert!(number("median_seconds") >= number("seconds"), "{r}");
        assert!((number("mrays_per_s") * number("seconds") - 1e-6 * number("rays")).abs() < 1e-9, "{r}");
        assert!((number("hit_share") * number("rays") - number("hits")).abs() < 1e-6, "{r}");
    }
    names.iter().zip(results).map(|(name, r)| ((*name).to_owned(), r.clone())).collect()
}

/// A sphere of radius 1, seen from 4 metres, covers a disk of the image; from it nothing else can be hit.
#[test]
fn rays_from_a_lone_sphere_meet_nothing() {
    let folder = Folder::new();
    for size in [[24, 16], [31, 21]] {
        let shown = format!("{}x{}", size[0], size[1]);
        let of = traversal(&folder, &["--size", &shown, "--rays", "50"]);
        assert_eq!(of["primary"]["camera_rays"], size[0] * size[1] * 50);
        assert_eq!(of["primary"]["rays"], size[0] * size[1] * 50);
        let tan = |degrees: f64| degrees.to_radians().tan();
        let disk = std::f64::consts::PI * (1.0 / 15.0);
        let image = (2.0 * tan(20.0)).powi(2) * f64::from(size[0]) / f64::from(size[1]);
        let share = of["primary"]["hit_share"].as_f64().unwrap();
        assert!((share - disk / image).abs() < 0.01, "{share} of the rays hit, not {}", disk / image);
        assert_eq!(of["bounce_1"]["rays"], of["primary"]["hits"], "every hit scatters");
        let [shadow, bounce] = ["shadow", "bounce_1"].map(|kind| &of[kind]);
        assert_eq!((&shadow["hits"], &bounce["hits"]), (&0.into(), &0.into()));
        // The sky is drawn all around, and half of it is below the surface.
        let lit = shadow["rays"].as_f64().unwrap() / bounce["rays"].as_f64().unwrap();
        assert!((lit - 0.5).abs() < 0.03, "{lit} of the shadow rays leave the sphere");
        assert_eq!(of["bounce_2"]["rays"], 0);
    }
}

/// In a closed room every ray meets something: of one sphere, or with a disk in it, which takes the kernel that knows all
/// shapes. The sky, to which shadow rays are drawn, is outside.
#[test]
fn in_a_closed_room_every_ray_meets_something() {
    let folder = Folder::new();
    let lone = std::fs::read_to_string(folder.at("scene.toml")).unwrap();
    let closed = lone.replace("type = \"sphere\"", "type = \"sphere\"\nradius = 5");
    let with_disk = format!("{closed}\n[[shapes]]\ntype = \"disk\"\nmaterial = \"grey\"\n");
    for scene in [closed, with_disk] {
        std::fs::write(folder.at("scene.toml"), &scene).unwrap();
        let of = traversal(&folder, &["--rays", "20"]);
        for (kind, r) in of.as_object().unwrap() {
            assert_eq!(r["hits"], r["rays"], "{kind}: {scene}");
            if kind != "shadow" {
                assert_eq!(r["rays"], 24 * 16 * 20, "{kind}: {scene}");
            }
        }
    }
}

#[test]
fn rays_are_told_of_to_people_and_to_spreadsheets() {
    let folder = Folder::new();
    let traversal = ["bench", "traversal", "scene.toml", "--device", "cpu"];
    let people = folder.run(&traversal);
    assert_eq!(people.code, Some(0), "{people:?}");
    let lines: Vec<_> = people.stdout.lines().collect();
    assert!(
        lines[0].starts_with("CPU") && lines[0].ends_with(": scene.toml, 24×16, 1 rays a pixel"),
        "{lines:?}"
    );
    let ends: Vec<_> = lines[1..].iter().map(|l| l.chars().count()).collect();
    assert_eq!(ends, [ends[0]; 5], "columns end where their names do: {lines:?}");
    assert!(lines[2].starts_with("primary rays ") && lines[5].starts_with("second bounce "), "{lines:?}");
    let csv = folder.run(&[&traversal[..], &["--csv"]].concat()).stdout;
    let columns: Vec<_> = csv.lines().map(|l| l.split(',').count()).collect();
    assert_eq!(columns, [8; 5], "{csv}");
    assert_eq!(folder.names(), [""; 0]);
}

#[test]
fn rays_that_cannot_be_traced_are_refused() {
    let folder = Folder::new();
    for (options, message) in [
        (&["scene.toml", "--rays", "0"][..], "--rays"),
        (&["scene.toml", "--size", "0x5"], "--size"),
        (&["absent.toml"], "absent.toml"),
        (&["scene.toml", "--csv", "--json"], "cannot be used with"),
        (&["scene.toml", "--device", "cuda"], "--device cuda: "),
    ] {
        let outcome = folder.run(&[&["bench", "traversal"], options].concat());
        assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(2), ""), "{outcome:?}");
        assert!(outcome.stderr.starts_with("error: ") && outcome.stderr.contains(message), "{outcome:?}");
    }
}

#[test]
fn the_building_of_trees_is_told_of() {
    let folder = Folder::new();
    let build = ["bench", "build", "--size", "100,2^10", "--only", "row,star"];
    let people = folder.run(&build);
    assert_eq!(people.code, Some(0), "{people:?}");
    let lines: Vec<_> = people.stdout.lines().collect();
    assert!(lines[0].starts_with("trees on ") && lines[1].starts_with("layout "), "{lines:?}");
    assert_eq!(lines.len(), 6, "{lines:?}");
    let ends: Vec<_> = [1, 3, 5].map(|i: usize| lines[i].chars().count()).into();
    assert_eq!(ends, [ends[0]; 3], "columns end where their names do: {lines:?}");
    let csv = folder.run(&[&build[..], &["--csv"]].concat()).stdout;
    let columns: Vec<_> = csv.lines().map(|l| l.split(',').count()).collect();
    assert_eq!(columns, [8; 5], "{csv}");
    let outcome = folder.run(&[&build[..], &["--json", "--quiet"]].concat());
    assert_eq!((outcome.code, outcome.stderr.as_str()), (Some(0), ""), "{outcome:?}");
    let json: Value = serde_json::from_str(&outcome.stdout).unwrap();
    let results = json["results"].as_array().unwrap();
    let layouts: Vec<_> = results.iter().map(|r| r["layout"].as_str().unwrap()).collect();
    assert_eq!(layouts, ["row", "row", "star", "star"]);
    for r in results {
        let number = |key: &str| r[key].as_f64().unwrap();
        assert!(number("seconds") > 0.0 && number("median_seconds") >= number("seconds"), "{r}");
        assert!(number("cost") > 1.0 && number("depth") > 1.0 && number("bytes_per_primitive") > 56.0, "{r}");
    }
    assert_eq!(json["slopes"].as_array().unwrap().len(), 2, "{json}");
    assert!(json["slopes"][0]["slope"].is_f64(), "{json}");
    assert_eq!(folder.names(), [""; 0]);
}

#[test]
fn trees_that_cannot_be_built_are_refused() {
    let folder = Folder::new();
    for (options, message) in [
        (&["--only", "rwo"][..], "did you mean \"row\"?"),
        (&["--size", "0"], "--size"),
        (&["--csv", "--json"], "cannot be used with"),
    ] {
        let outcome = folder.run(&[&["bench", "build"], options].concat());
        assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(2), ""), "{outcome:?}");
        assert!(outcome.stderr.starts_with("error: ") && outcome.stderr.contains(message), "{outcome:?}");
    }
}

#[test]
fn scenes_are_measured_beside_another_program() {
    let folder = Folder::new();
    let bench = |options: &[&str]| {
        let always =
            ["bench", "scenes", "scene.toml", "--size", "32x24", "--time", "60ms", "--device", "cpu"];
        folder.run(&[&always[..], &["--quiet"], options].concat())
    };
    let alone = bench(&["--json", "--max-depth", "2,5"]);
    assert_eq!((alone.code, alone.stderr.as_str()), (Some(0), ""), "{alone:?}");
    let json: Value = serde_json::from_str(&alone.stdout).unwrap();
    let results = json["results"].as_array().unwrap();
    let of = |i: usize, key: &str| results[i][key].clone();
    assert_eq!([of(0, "max_depth"), of(1, "max_depth")], [2, 5].map(Value::from));
    assert_eq!((of(0, "width"), of(0, "height"), of(0, "ratio")), (32.into(), 24.into(), Value::Null));
    let rate = of(1, "mpaths_per_s").as_f64().unwrap();
    assert!(
        rate > 0.0 && of(1, "megakernel") == of(1, "mpaths_per_s") && of(1, "wavefront").is_null(),
        "{json}"
    );

    // What it prints, it also reads; the other depth has nothing to be compared with.
    let other = alone.stdout.replace("\"max_depth\": 2,", "\"max_depth\": 3,");
    std::fs::write(folder.at("other.json"), other).unwrap();
    let beside = bench(&["--max-depth", "2,5", "--against", "other.json", "--markdown"]);
    assert_eq!(beside.code, Some(0), "{beside:?}");
    let lines: Vec<_> = beside.stdout.lines().collect();
    assert!(lines[0].contains("on CPU") && lines[0].contains("; against torrance "), "{beside:?}");
    assert!(lines[2].starts_with("| scene ") && lines[3] == "|---|--:|--:|--:|--:|", "{beside:?}");
    assert!(lines[4].ends_with("– |") && lines[6].starts_with("| geometric mean |"), "{beside:?}");
    let ratio = |line: &str| line.trim_end_matches(" |").rsplit(' ').next().unwrap().parse::<f64>().unwrap();
    assert!(ratio(lines[5]) > 0.0 && ratio(lines[6]) == ratio(lines[5]), "{beside:?}");

    std::fs::write(folder.at("wrong.json"), "{\"program\": 3}").unwrap();
    for (file, message) in [
        ("wrong.json", "--against wrong.json: invalid type"),
        ("none.json", "--against none.json: No such file"),
    ] {
        let outcome = bench(&["--against", file]);
        assert!(outcome.code == Some(2) && outcome.stderr.contains(message), "{outcome:?}");
    }
}
