//! `torrance bsdf`: the files it writes, and the numbers in them against closed forms.

use std::collections::HashMap;
use std::f64::consts::PI;
use std::fs;

use serde_json::Value;

use crate::program::{Folder, Outcome};

const METAL: &str = "type = \"conductor\", eta = [0.2, 0.9, 1.1], k = [3.9, 2.5, 2.1], alpha = 0.3";

fn charts(folder: &Folder, arguments: &[&str]) -> Outcome {
    let outcome = folder.run(&[&["bsdf"], arguments].concat());
    assert_eq!(outcome.code, Some(0), "{arguments:?}: {outcome:?}");
    outcome
}

/// The columns of a CSV file by name; words are NaN.
fn columns(folder: &Folder, name: &str) -> HashMap<String, Vec<f64>> {
    let text = fs::read_to_string(folder.at(name)).unwrap_or_else(|e| panic!("{name}: {e}"));
    let mut lines = text.lines();
    let header: Vec<_> = lines.next().unwrap().split(',').collect();
    let rows: Vec<Vec<&str>> = lines.map(|l| l.split(',').collect()).collect();
    assert!(!rows.is_empty() && rows.iter().all(|r| r.len() == header.len()), "{name}");
    let column = |i: usize| rows.iter().map(|r| r[i].parse().unwrap_or(f64::NAN)).collect();
    header.iter().enumerate().map(|(i, h)| ((*h).to_owned(), column(i))).collect()
}

/// The rows of a table where `wanted` holds of the values of `names`.
fn rows<const N: usize>(
    table: &HashMap<String, Vec<f64>>,
    names: [&str; N],
    wanted: impl Fn([f64; N]) -> bool,
) -> Vec<[f64; N]> {
    let n = table[names[0]].len();
    (0..n).map(|i| names.map(|name| table[name][i])).filter(|row| wanted(*row)).collect()
}

/// The largest difference between albedos by quadrature and by samples, in standard errors.
fn most_apart(quadrature: &HashMap<String, Vec<f64>>, samples: &HashMap<String, Vec<f64>>) -> f64 {
    const NAMES: [&str; 4] = ["theta_o_deg", "roughness", "reflected_r", "standard_error"];
    let curves = rows(quadrature, NAMES, |r| r[3].is_nan());
    let mut apart: Vec<f64> = Vec::new();
    for [theta, roughness, mean, error] in rows(samples, NAMES, |r| !r[3].is_nan()) {
        let same = |c: &&[f64; 4]| c[0] == theta && (c[1] - roughness).abs() < 1e-6;
        apart.extend(curves.iter().find(same).map(|c| (c[2] - mean).abs() / (error + 2e-5)));
    }
    assert!(apart.len() >= 20, "{} compared", apart.len());
    apart.into_iter().fold(0.0, f64::max)
}

#[test]
fn all_charts_of_a_metal() {
    let folder = Folder::new();
    let outcome = charts(&folder, &[METAL, "-o", "out/metal", "--size", "640x480", "--json"]);
    let summary: Value = serde_json::from_str(&outcome.stdout).unwrap();
    let names = ["cross-section", "polar", "albedo", "furnace", "masking", "samples"];
    for (name, chart) in names.iter().zip(summary["charts"].as_array().unwrap()) {
        assert_eq!(chart["name"], *name);
        for extension in ["png", "svg", "csv"] {
            assert!(folder.at(&format!("out/metal/{name}.{extension}")).is_file(), "{name}.{extension}");
        }
        let image = image::open(folder.at(&format!("out/metal/{name}.png"))).unwrap().to_rgb8();
        assert_eq!(image.dimensions(), (640, 480));
        let ink = image.pixels().filter(|p| p.0 != [255; 3]).count();
        let colours: std::collections::HashSet<_> = image.pixels().collect();
        assert!(
            ink > 10_000 && colours.len() > 200,
            "{name}: {ink} pixels of ink, {} colours",
            colours.len()
        );
    }
    assert_eq!(fs::read_dir(folder.at("out/metal")).unwrap().count(), 18, "nothing but the charts");

    let furnace = fs::read_to_string(folder.at("out/metal/furnace.svg")).unwrap();
    check_xml(&furnace);
    assert!(["single scattering", "1 − albedo", "10 %"].iter().all(|label| furnace.contains(label)));

    let p = summary["charts"][5]["facts"]["p_value"].as_f64().unwrap();
    assert!(p > 1e-4, "χ² of the samples: p = {p}");
    // Quadrature of f and the weights of samples say the same, and not what they say of other masking.
    let albedo = columns(&folder, "out/metal/albedo.csv");
    assert!(most_apart(&albedo, &albedo) < 5.0, "{} standard errors", most_apart(&albedo, &albedo));
    let other = ["-o", "out/other", "--masking", "separable", "--chart", "albedo", "--format", "csv"];
    charts(&folder, &[&[METAL], &other[..]].concat());
    let wrong = most_apart(&columns(&folder, "out/other/albedo.csv"), &albedo);
    assert!(wrong > 10.0, "separable masking is {wrong} standard errors off");
    // Less is lost the smoother the facets, and nothing is gained; and next to nothing is lost with compensation, whose
    // rows are the second half.
    let furnace = columns(&folder, "out/metal/furnace.csv");
    let (single, compensated) = furnace["lost"].split_at(furnace["lost"].len() / 2);
    assert!(compensated.iter().all(|x| x.abs() < 6e-3) && single.iter().any(|x| *x > 0.5));
    let mut normal = rows(&furnace, ["theta_o_deg", "roughness", "lost"], |r| r[0] == 0.0);
    normal.truncate(normal.len() / 2);
    assert!(normal.windows(2).all(|w| w[0][2] < w[1][2] + 1e-3), "{normal:?}");
    assert!(single.iter().all(|x| (-1e-3..0.8).contains(x)));
    // α = 1 at normal incidence: ∫ c / (1 + c) dc over [0, 1] is left, which is 1 − ln 2.
    let roughest = normal[normal.len() - 1];
    assert!(roughest[1] == 1.0 && (roughest[2] - 2.0_f64.ln()).abs() < 1e-4, "{roughest:?}");
    let masking = columns(&folder, "out/metal/masking.csv");
    let less = rows(&masking, ["correlated", "separable"], |r| r[0] < r[1] - 1e-4);
    assert!(less.is_empty(), "separable masking is darker: {less:?}");
}

#[test]
fn lambert_is_as_on_paper() {
    let folder = Folder::new();
    let outcome = charts(&folder, &["scene.toml#grey", "--format", "csv,svg"]);
    assert!(outcome.stderr.contains("no chart furnace: the material has no microfacets"), "{outcome:?}");
    let f = columns(&folder, "grey-bsdf/cross-section.csv");
    for [theta, f, f_cos] in rows(&f, ["theta_i_deg", "f_g", "f_cos_g"], |_| true) {
        // f32 leaves cos 90° a little above 0 on one side, below on the other.
        if theta.abs() < 89.99 {
            assert!((f - 0.5 / PI).abs() < 1e-6, "{theta}: {f}");
            assert!((f_cos - 0.5 / PI * theta.to_radians().cos()).abs() < 1e-6, "{theta}: {f_cos}");
        }
    }
    let albedo = columns(&folder, "grey-bsdf/albedo.csv");
    assert!(albedo["reflected_b"].iter().all(|a| (a - 0.5).abs() < 1e-5));
    assert!(albedo["transmitted_b"].iter().all(|a| *a == 0.0));
    // pdf = cos θ / π, so that the expected counts of a cell are known.
    let samples = columns(&folder, "grey-bsdf/samples.csv");
    let names = ["theta_low_deg", "theta_high_deg", "phi_low_deg", "phi_high_deg", "expected"];
    for [t0, t1, p0, p1, expected] in rows(&samples, names, |_| true) {
        let [s0, s1] = [t0, t1].map(|t: f64| t.to_radians().sin());
        let exact = f64::from(1 << 19) * (s1 * s1 - s0 * s0) * (p1 - p0) / 360.0;
        assert!((expected - exact).abs() < 1e-3 * exact + 1e-2, "{t0} {p0}: {expected} {exact}");
    }
}

#[test]
fn directions_without_width_are_arrows() {
    let folder = Folder::new();
    let glass = "type = \"thin_dielectric\", ior = 1.5";
    let outcome = charts(&folder, &[glass, "-o", "a", "--format", "svg,csv", "--angles", "0"]);
    assert!(outcome.stderr.contains("no chart samples: all directions"), "{outcome:?}");
    // R = 2r/(1 + r) with r = ((η − 1)/(η + 1))² = 0.04.
    let albedo = columns(&folder, "a/albedo.csv");
    let normal = rows(&albedo, ["theta_o_deg", "reflected_r", "transmitted_r"], |r| r[0] == 0.0)[0];
    assert!(
        (normal[1] - 0.08 / 1.04).abs() < 1e-3 && (normal[1] + normal[2] - 1.0).abs() < 1e-6,
        "{normal:?}"
    );
    let svg = fs::read_to_string(folder.at("a/cross-section.svg")).unwrap();
    assert!(svg.contains("arrows: directions of no width"), "it says what arrows are");
    assert!(svg.contains("0.077") && svg.contains("0.923"), "and what they weigh");
}

/// Elements are closed in the order in which they were opened, and text has no bare markup.
fn check_xml(text: &str) {
    let mut open = Vec::new();
    for piece in text.split('<').skip(1) {
        let (tag, after) = piece.split_once('>').expect("a tag ends");
        assert!(
            !after.contains('>')
                && after.replace("&amp;", "").matches('&').count() == after.matches("&").count()
        );
        assert_eq!(tag.matches('"').count() % 2, 0, "{tag}");
        let name = tag.trim_start_matches('/').split([' ', '/']).next().unwrap();
        if tag.starts_with('/') {
            assert_eq!(open.pop(), Some(name));
        } else if !tag.ends_with('/') {
            open.push(name);
        }
    }
    assert!(open.is_empty(), "{open:?}");
}

#[test]
fn svg_is_xml_with_labels_and_the_size_asked_for() {
    let folder = Folder::new();
    let arguments = ["--format", "svg", "--size", "900x600", "--theme", "dark", "--angles", "10,20.5"];
    // All but the slow one.
    let names = ["cross-section", "polar", "albedo", "masking", "samples"].map(|name| ["--chart", name]);
    charts(&folder, &[&[METAL, "-o", "."], &arguments[..], &names.concat()].concat());
    for (name, labels) in [
        (
            "cross-section",
            &["θᵢ, negative on the side of ωₒ", "f · |cos θᵢ|  [sr⁻¹]", "θₒ = 20.5°", "α = 0.3"][..],
        ),
        ("polar", &["−30°", "60°", "θₒ = 10°"]),
        ("albedo", &["directional albedo", "roughness √α", "red"]),
        ("masking", &["G₂(ωₒ, ωᵢ)", "α = 0.6"]),
        ("samples", &["φᵢ from the plane of incidence", "p = 0."]),
    ] {
        let svg = fs::read_to_string(folder.at(&format!("{name}.svg"))).unwrap();
        assert!(svg.starts_with("<svg width=\"900\" height=\"600\" viewBox=\"0 0 9000 6000\""), "{name}");
        check_xml(&svg);
        for label in labels {
            assert!(svg.contains(label), "{name} lacks {label:?}");
        }
        assert!(svg.contains("#14171C"), "{name} is dark");
    }
    assert!(!folder.at("albedo.csv").exists());
}

/// The lobe of a smooth clear coat is 0.01° wide: its density is found in cells of degrees all the same.
#[test]
fn densities_of_narrow_peaks_are_those_of_samples() {
    let folder = Folder::new();
    for angle in ["0", "60"] {
        let coated = "type = \"gltf\", roughness = 0.4, clearcoat = 1";
        let outcome = charts(&folder, &[coated, "--chart", "samples", "--angles", angle, "--json"]);
        let summary: Value = serde_json::from_str(&outcome.stdout).unwrap();
        assert!(
            summary["description"].as_str().unwrap().ends_with("roughness 0.4, clearcoat 1"),
            "{summary}"
        );
        let p = summary["charts"][0]["facts"]["p_value"].as_f64().unwrap();
        assert!(p > 1e-3, "{angle}°: p = {p}");
    }
}

#[track_caller]
fn refused(folder: &Folder, arguments: &[&str], message: &str) {
    let before = folder.names();
    let outcome = folder.run(&[&["bsdf"], arguments].concat());
    let first = outcome.stderr.lines().next().unwrap_or_default();
    assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(2), ""), "{arguments:?}: {outcome:?}");
    assert!(first.starts_with("error: ") && first.contains(message), "{arguments:?}: {first}");
    assert_eq!(folder.names(), before, "{arguments:?}");
}

#[test]
fn bad_input_is_refused_with_what_to_do() {
    let folder = Folder::new();
    fs::write(folder.at("file"), "").unwrap();
    let scene = fs::read_to_string(folder.at("scene.toml")).unwrap();
    fs::write(folder.at("two.toml"), scene + "[materials.gold]\ntype = \"thin_dielectric\"\n").unwrap();
    refused(&folder, &["scene.toml#gray"], "scene.toml: unknown material \"gray\"; did you mean \"grey\"?");
    refused(&folder, &["scene.toml#marble"], "unknown material \"marble\"; the scene has \"grey\"");
    refused(
        &folder,
        &["two.toml"],
        "which material of two.toml? Write two.toml#grey; the scene has \"grey\", \"gold\"",
    );
    // Materials that have no names are told apart as they are elsewhere.
    let sphere = "<shape type=\"sphere\"><bsdf type=\"diffuse\"/></shape>";
    let xml = format!(
        "<scene version=\"3.0.0\"><emitter type=\"constant\"/><sensor type=\"perspective\"/>{sphere}{sphere}</scene>"
    );
    fs::write(folder.at("two.xml"), xml).unwrap();
    let names = "unknown material \"nope\"; the scene has \"bsdf on line 1\" or \"bsdf on line 1 2\"";
    refused(&folder, &["two.xml#nope"], names);
    refused(&folder, &["no.toml#grey"], "no.toml: cannot read the scene: no such file");
    refused(
        &folder,
        &["type = \"conductr\", alpha = 0.3"],
        "MATERIAL:1:21: unknown type \"conductr\"; did you mean \"conductor\"?",
    );
    let misspelt = "type = \"dielectric\", distributon = \"ggx\"";
    refused(
        &folder,
        &[misspelt],
        "unknown key \"distributon\" in the material; did you mean \"distribution\"?",
    );
    refused(
        &folder,
        &["type = \"diffuse\", reflectance = 2"],
        "\"reflectance\" must be between 0 and 1, not 2",
    );
    refused(&folder, &["type = \"diffuse\" reflectance = 0.5"], "MATERIAL:1:31: not valid TOML");
    let option = |name, value, message| refused(&folder, &["scene.toml#grey", name, value], message);
    option("-o", "file", "output \"file\": is a file, not a folder");
    option(
        "--chart",
        "furnace",
        "there is no chart furnace: the material has no microfacets that could lose energy",
    );
    option("--chart", "spectrum", "invalid value 'spectrum' for '--chart <NAME>'");
    option("--format", "pdf", "invalid value 'pdf' for '--format <LIST>'");
    option("--angles", "0,95", "expected degrees from 0 to 89.9 separated by commas, as in 0,45,80");
    option("--angles", "1,2,3,4,5,6,7", "6 angles at most");
    option("--azimuth", "x", "expected degrees from -360 to 360");
    option("--size", "100x100", "a chart has sides of 300 to 8192 pixels");
    option("--channel", "x", "invalid value 'x' for '--channel <NAME>'");
    option("--theme", "blue", "invalid value 'blue' for '--theme <NAME>'");
}
