//! Names that are hard to write, through the program: what it prints can be given to it again.

use std::collections::HashSet;
use std::fs;

use serde_json::Value;

use crate::program::{Folder, Outcome};

/// Blanks, marks and joiners, what ends a string or a path, and two that are the same up to their ends.
fn names() -> Vec<String> {
    let long = "a long name, ".repeat(20);
    let hard = ["\u{301}a", "a\u{a0}b", "\u{3000}", "\u{200d}\u{ad}\u{202e}", "a.b = \"c\"\\,]", "it's #1"];
    hard.into_iter().map(str::to_owned).chain(["1", "2"].map(|end| format!("{long}{end}"))).collect()
}

fn succeeded(outcome: Outcome) -> String {
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    outcome.stdout
}

/// A folder with a scene of each format that has names; of OBJ files, `#` and a backslash begin something else.
fn folder() -> (Folder, Vec<(&'static str, Vec<String>)>) {
    let (folder, all) = (Folder::new(), names());
    let escaped = |name: &str, open: &str, close: &str| -> String {
        name.chars().map(|c| format!("{open}{:08x}{close}", u32::from(c))).collect()
    };
    let mut text = fs::read_to_string(folder.at("scene.toml")).unwrap();
    for name in &all {
        let name = escaped(name, "\\U", "");
        text += &format!("[materials.\"{name}\"]\ntype = \"conductor\"\nmetal = \"gold\"\nroughness = 0.5\n");
        text += &format!("[[shapes]]\nname = \"{name}\"\ntype = \"sphere\"\nmaterial = \"{name}\"\n");
    }
    fs::write(folder.at("hard.toml"), text).unwrap();

    let mut text =
        "<scene version=\"3.0.0\"><sensor type=\"perspective\"/><emitter type=\"constant\"/>".to_owned();
    for (i, name) in all.iter().enumerate() {
        let name = escaped(name, "&#x", ";");
        text += &format!("<bsdf type=\"roughconductor\" id=\"{name}\"/>");
        text += &format!("<shape type=\"sphere\" id=\"shape {i}\"><ref id=\"{name}\"/></shape>");
    }
    fs::write(folder.at("hard.xml"), text + "</scene>").unwrap();

    let of_obj: Vec<_> = all.iter().filter(|name| !name.contains(['#', '\\'])).cloned().collect();
    let mut text = "v 0 0 0\nv 1 0 0\nv 0 1 0\n".to_owned();
    text.extend(of_obj.iter().map(|name| format!("usemtl {name}\nf 1 2 3\n")));
    fs::write(folder.at("hard.obj"), text).unwrap();
    (folder, vec![("hard.toml", all.clone()), ("hard.xml", all), ("hard.obj", of_obj)])
}

fn paths(folder: &Folder, scene: &str, more: &[&str]) -> String {
    succeeded(folder.run(&[&["inspect", scene, "--paths"], more].concat()))
}

#[test]
fn listed_paths_are_set_and_scenes_converted() {
    let (folder, scenes) = folder();
    for (scene, names) in scenes {
        let listed = paths(&folder, scene, &[]);
        let set: Vec<_> = listed.lines().flat_map(|line| ["--set", line]).collect();
        assert!(set.len() > 8 * names.len(), "{listed}");
        // A type that is set becomes the last key.
        assert_eq!(sorted(&paths(&folder, scene, &set)), sorted(&listed), "{scene}");
        succeeded(folder.run(&["convert", scene, "out.toml", "--force", "--quiet"]));
        let converted = paths(&folder, "out.toml", &[]);
        let materials = |listed: &str| -> Vec<String> {
            listed.lines().filter(|line| line.starts_with("materials.")).map(str::to_owned).collect()
        };
        assert_eq!(materials(&converted), materials(&listed), "{scene}");
        succeeded(folder.run(&["convert", "out.toml", "again.toml", "--force", "--quiet"]));
        let [out, again] =
            ["out.toml", "again.toml"].map(|name| fs::read_to_string(folder.at(name)).unwrap());
        assert_eq!(again, out, "{scene}");
        // As programs read it.
        let json = paths(&folder, scene, &["--json"]);
        let json: Value = serde_json::from_str(&json).unwrap();
        let keys: HashSet<_> =
            json.as_array().unwrap().iter().map(|p| key(p["path"].as_str().unwrap())).collect();
        assert!(names.iter().all(|name| keys.contains(name)), "{scene}: {keys:?}");
    }
}

fn sorted(listed: &str) -> Vec<&str> {
    let mut lines: Vec<_> = listed.lines().collect();
    lines.sort_unstable();
    lines
}

/// The second key of a path.
fn key(path: &str) -> String {
    torrance_scene::keys_of_path(path).unwrap().swap_remove(1)
}

/// Two parameters of long names, and two long names as values: all variants are there, each by a name of its own.
#[test]
fn names_that_share_a_beginning_are_two_in_sweeps() {
    let (folder, scenes) = folder();
    let all = &scenes[0].1;
    let written: Vec<_> = all.iter().map(|name| torrance_scene::toml_key(name)).collect();
    let fixed = ["--size", "8x6", "--spp", "1", "--quiet", "--json", "--csv", "table.csv"];
    let run = |params: &[String], more: &[&str]| {
        let params: Vec<_> = params.iter().flat_map(|param| ["--param", param]).collect();
        let outcome =
            folder.run(&[&["sweep", "hard.toml", "-o", "sheet.png"], &params[..], &fixed, more].concat());
        let summary: Value = serde_json::from_str(&succeeded(outcome)).unwrap();
        let names =
            summary["variants"].as_array().unwrap().iter().map(|variant| variant["parameters"].to_string());
        names.collect::<HashSet<_>>().len()
    };
    let params: Vec<_> =
        written[6..].iter().map(|name| format!("materials.{name}.roughness=0.2,0.4")).collect();
    assert_eq!(run(&params, &["--variants", "images"]), 4);
    assert_eq!(fs::read_dir(folder.at("images")).unwrap().count(), 8);
    let table = fs::read_to_string(folder.at("table.csv")).unwrap();
    for param in &params {
        let path = param.split("=0.2").next().unwrap();
        assert!(table.contains(&format!("\"{}\"", path.replace('"', "\"\""))), "{table}");
    }
    let values = [format!("shapes.{}.material={}", written[0], written.join(","))];
    assert_eq!(run(&values, &[]), all.len());
    // A baseline by a path with quotes.
    let baseline = format!("materials.{}.roughness=0.4", written[4]);
    let param = [format!("materials.{}.roughness=0.2,0.4", written[4])];
    assert_eq!(run(&param, &["--baseline", &baseline]), 2);
}

#[test]
fn messages_say_that_a_path_is_wrong() {
    let (folder, _) = folder();
    let long = format!("shapes.\"{}\".radius=2", "long ".repeat(40));
    for (set, message) in [
        (
            "materials.\"a=1",
            "invalid value 'materials.\"a=1' for '--set <PATH=VALUE>': every = is in quotes of the path, or one of them is not \
             closed; expected PATH=VALUE, as in materials.ball.roughness=0.3",
        ),
        (
            "materials.\"\\u{301}a\".roughness=1",
            "error: --set materials.\"\\u{301}a\".roughness=1: \"materials.\\\"\\\\u{301}a\\\".roughness\" is no path, as \
             camera.fov or shapes.\"tall box\".emission is one",
        ),
        (long.as_str(), &long[..long.len() - 2]),
    ] {
        let outcome = folder.run(&["inspect", "hard.toml", "--set", set]);
        assert_eq!(outcome.code, Some(2), "{outcome:?}");
        assert!(!outcome.stderr.contains("TOML"), "{outcome:?}");
        assert!(outcome.stderr.contains(message), "{outcome:?}");
    }
}

/// By any name: with a number sign, and longer than file systems take.
#[test]
fn materials_are_charted() {
    let (folder, scenes) = folder();
    for name in &scenes[0].1 {
        let outcome = folder.run(&[
            "bsdf",
            &format!("hard.toml#{name}"),
            "--chart",
            "albedo",
            "--format",
            "csv",
            "--quiet",
        ]);
        succeeded(outcome);
    }
    let folders = folder.names().into_iter().filter(|name| name.ends_with("-bsdf"));
    assert_eq!(folders.filter(|name| name.starts_with("a-long-name")).count(), 2);
}
