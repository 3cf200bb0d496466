//! `torrance bench`, on a machine without a GPU.

mod program;

use program::Folder;
use serde_json::Value;

/// Measures two primitives on arrays that take no time.
const QUICK: [&str; 6] = ["bench", "primitives", "--only", "memcpy,scan", "--size", "100,2^10"];

#[test]
fn twins_are_measured_for_people_and_for_programs() {
    let folder = Folder::new();
    let outcome = folder.run(&QUICK);
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    let lines: Vec<_> = outcome.stdout.lines().collect();
    assert!(lines[0].starts_with("CPU") && lines[0].contains("sequential twins"), "{outcome:?}");
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
        program::Outcome::from(limited.output().unwrap())
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
