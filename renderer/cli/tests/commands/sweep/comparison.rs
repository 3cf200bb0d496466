//! Variants compared with a baseline, and with another scene.

use super::*;

/// Other random numbers make no difference, another reflectance does, and the baseline is compared with nothing.
#[test]
fn variants_are_compared_with_a_baseline() {
    let folder = Folder::new();
    let params =
        ["--param", "materials.grey.reflectance=0.3,0.6", "--param", "render.seed=0,1", "--spp", "64"];
    let verdicts = |baseline: &str| -> Vec<Value> {
        let options = [&params[..], &["--baseline", baseline, "--csv", "t.csv"]].concat();
        variants(&folder, &options).iter().map(|variant| variant["verdict"].clone()).collect()
    };
    let [none, same, different] = [Value::Null, "same".into(), "different".into()];
    assert_eq!(verdicts("seed=0"), [none.clone(), none.clone(), same.clone(), same]);
    assert_eq!(folder.names(), ["sheet-difference.png", "sheet.png", "t.csv"]);
    let table = fs::read_to_string(folder.at("t.csv")).unwrap();
    assert!(table.lines().next().unwrap().ends_with(",difference,p,is_different,flip"), "{table}");
    let of_reflectance = verdicts("reflectance=0.30");
    assert_eq!(of_reflectance, [none.clone(), different.clone(), none, different]);
}

/// A scene against itself, and against one that is a little darker.
#[test]
fn variants_are_compared_with_another_scene() {
    let folder = Folder::new();
    let scene = fs::read_to_string(folder.at("scene.toml")).unwrap();
    fs::write(folder.at("other.toml"), &scene).unwrap();
    let params = ["--param", "materials.grey.reflectance=0.3,0.6", "--spp", "64", "--against", "other.toml"];
    let compared = |more: &[&str]| variants(&folder, &[&params[..], more].concat());
    for variant in &compared(&[])[..2] {
        let (p, difference) = (variant["p"].as_f64().unwrap(), variant["difference"].as_f64().unwrap());
        assert!(variant["verdict"] == "same" && p > 0.99 && difference == 0.0, "{variant}");
    }
    assert_eq!(folder.names(), ["other.toml", "sheet-against.png", "sheet-difference.png", "sheet.png"]);
    // What is set is set in the first scene alone.
    let all = compared(&["--set", "environment.radiance=[0.27,0.18,0.09]", "--independent"]);
    assert_eq!(all.len(), 4);
    for (i, variant) in all.iter().enumerate() {
        let is_against = variant["is_against"] == true;
        assert_eq!(variant["seed"], i, "no two have the same random numbers");
        assert_eq!((is_against, variant["verdict"] == "different"), (i >= 2, i < 2), "{variant}");
        let difference = variant["difference"].as_f64();
        assert!(is_against || (difference.unwrap() + 0.1).abs() < 0.01, "{variant}");
    }
}

/// The sweep says what `compare` says of the same images.
#[test]
fn one_sample_allows_no_verdict() {
    let folder = Folder::new();
    let params = ["--param", "materials.grey.reflectance=0.1,0.9", "--baseline", "0.1", "--spp", "1"];
    let variants = variants(&folder, &params);
    assert_eq!((&variants[1]["verdict"], &variants[1]["p"]), (&"no verdict".into(), &Value::Null));
    let table =
        folder.run(&[&["sweep", "scene.toml", "-o", "s.png", "--csv", "t.csv"], &params[..]].concat());
    assert!(table.stderr.contains("no verdict on 1: their noise is not known"), "{table:?}");
    let table = fs::read_to_string(folder.at("t.csv")).unwrap();
    let is_different = table.lines().nth(2).unwrap().split(',').rev().nth(1);
    assert_eq!(is_different, Some("NaN"), "{table}");
}
