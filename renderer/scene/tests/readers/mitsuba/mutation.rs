//! Thousands of broken files.

use glam::Vec3;
use tier::Random;
use torrance_scene::{Description, check_size};

use super::{around, load_in, references};

const PIECES: [&str; 22] = [
    "nan",
    "inf",
    "-1",
    "0",
    "1e999",
    "1e-320",
    "99999999999999999999",
    "\"",
    "<",
    "/>",
    "</scene>",
    "&lt;",
    "&x;",
    "<!DOCTYPE x [<!ENTITY x \"y\">]>",
    "<![CDATA[",
    "<!--",
    "$",
    "$x",
    "\u{0}",
    "é",
    "id=\"floor\"",
    "<ref id=\"floor\"/>",
];

/// Breaks a text in one or two places.
fn mutated(text: &str, random: &mut Random) -> String {
    let mut out = text.as_bytes().to_vec();
    for _ in 0..=random.below(2) {
        let at = random.below(out.len());
        let end = (at + random.below(40)).min(out.len());
        match random.below(6) {
            0 if !out.is_empty() => out[at] ^= 1 << random.below(7),
            1 => drop(out.drain(at..end)),
            2 if random.below(8) == 0 => out.truncate(at),
            3 => {
                let copy = out[at..end].to_vec();
                let to = random.below(out.len());
                out.splice(to..to, copy);
            }
            _ => {
                let piece = PIECES[random.below(PIECES.len())];
                out.splice(at..if random.below(2) == 0 { at } else { end }, piece.bytes());
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// Invariants of every description that loads.
fn check(d: &Description) {
    assert!(check_size(d.render.width, d.render.height).is_ok());
    assert!(d.camera.position != d.camera.target && d.camera.up != Vec3::ZERO);
    for shape in d.shapes.iter().chain(d.groups.iter().flat_map(|g| &g.shapes)) {
        assert!(shape.material < d.materials.len());
        assert!(shape.world_from_object.is_finite() && shape.world_from_object.matrix3.determinant() != 0.0);
    }
    assert!(d.instances.iter().all(|i| (i.group as usize) < d.groups.len()));
    for material in &d.materials {
        assert!(material.references().all(|i| i < d.materials.len()));
        assert!(material.textures().iter().all(|i| (*i as usize) < d.textures.len()));
    }
}

#[test]
fn broken_scenes() {
    let names = ["cornell-ggx", "textured", "normalmap", "punctual", "orthographic", "plastic", "thinlens"];
    let texts = names.map(|name| std::fs::read_to_string(references().join(name).join("scene.xml")).unwrap());
    let mut random = Random(1);
    let (mut good, mut bad) = (0, 0);
    for i in 0..700 {
        let k = i % names.len();
        let text = mutated(&texts[k], &mut random);
        match load_in(&references().join(names[k]), &text) {
            Ok((description, _)) => {
                good += 1;
                check(&description);
            }
            Err(error) => {
                bad += 1;
                assert!(!error.problems.is_empty());
                assert!(error.report(false).starts_with("error: "));
            }
        }
    }
    // Both must happen, or the test tests nothing.
    assert!(good >= 10 && bad > 400, "{good} loaded, {bad} did not");
}

/// Exponential growth, deep nesting and cycles are rejected quickly.
#[test]
fn what_has_no_end_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let twice = "<scene version=\"3.0.0\"><include filename=\"s.xml\"/><include filename=\"s.xml\"/></scene>";
    std::fs::write(folder.path().join("s.xml"), twice).unwrap();
    let deep = format!("<scene version=\"3.0.0\">{}", "<bsdf type=\"twosided\">".repeat(100_000));
    let closed = deep.clone() + &"</bsdf>".repeat(100_000) + "</scene>";
    let mut chain = String::new();
    for i in 0..40 {
        let (a, b) = (i + 1, i + 1);
        chain += &format!(
            "<bsdf type=\"blendbsdf\" id=\"b{i}\"><float name=\"weight\" value=\"0.5\"/><ref id=\"b{a}\"/><ref id=\"b{b}\"/></bsdf>"
        );
    }
    chain += "<bsdf type=\"diffuse\" id=\"b40\"/><shape type=\"sphere\"><ref id=\"b0\"/></shape>";
    let circle = "<bsdf type=\"twosided\" id=\"a\"><ref id=\"b\"/></bsdf><bsdf type=\"twosided\" id=\"b\"><ref id=\"a\"/></bsdf>\
                  <shape type=\"sphere\"><ref id=\"a\"/></shape>";
    let merge = "<shape type=\"merge\" id=\"m\"><ref id=\"m\"/><ref id=\"m\"/></shape>";
    for text in [twice.to_owned(), deep, closed, around(&chain), around(circle), around(merge)] {
        assert!(load_in(folder.path(), &text).is_err());
    }
}
