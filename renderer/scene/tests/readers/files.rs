//! The scenes that come with torrance.

use std::path::{Path, PathBuf};

use torrance_scene::{Geometry, Overrides, load};

use crate::scene;

#[path = "../../../examples/make_knot.rs"]
#[expect(dead_code, reason = "its main function writes to standard output")]
mod make_knot;

#[path = "../../../examples/make_gallery/main.rs"]
#[expect(dead_code, reason = "its main function writes files")]
mod make_gallery;

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn scenes_in(folder: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(repository().join(folder)).unwrap() {
        let path = entry.unwrap().path();
        let nested = path.join("scene.toml");
        // A suite of tests is none.
        let is_scene = path.extension().is_some_and(|e| e == "toml") && !path.ends_with("suite.toml");
        if is_scene {
            found.push(path);
        } else if nested.exists() {
            found.push(nested);
        }
    }
    found
}

#[test]
fn all_load_without_a_warning() {
    for (folder, at_least) in [("scenes", 3), ("tests/references", 4)] {
        let scenes = scenes_in(folder);
        assert!(scenes.len() >= at_least, "{scenes:?}");
        for path in scenes {
            let loaded = load(&path, &Overrides::default()).unwrap_or_else(|e| panic!("{}", e.report(false)));
            assert_eq!(loaded.warnings, [], "{}", path.display());
        }
    }
}

#[test]
fn the_scenes_in_the_documentation_load() {
    let text = std::fs::read_to_string(repository().join("docs/scene.md")).unwrap();
    let mut blocks = text.split("```toml\n").skip(1).map(|b| b.split("```").next().unwrap());
    let whole = blocks.next().unwrap();
    scene(whole);
    let (sections, keys): (Vec<_>, Vec<_>) = blocks.partition(|b| b.starts_with('['));
    assert!(!sections.is_empty() && !keys.is_empty());
    for section in sections {
        scene(&[whole, section].concat());
    }
    for shape in keys {
        scene(&whole.replace("[[shapes]]\n", &format!("[[shapes]]\n{shape}")));
    }
}

#[test]
fn the_knot_is_what_its_generator_makes() {
    let committed = std::fs::read_to_string(repository().join("scenes/models/knot.obj")).unwrap();
    let made = make_knot::knot();
    assert_eq!(committed.lines().count(), made.lines().count());
    for (a, b) in committed.split_ascii_whitespace().zip(made.split_ascii_whitespace()) {
        // Sines may differ in their last digit from machine to machine, and so a rounded coordinate by 1.
        let near = match (a.parse::<i64>(), b.parse::<i64>()) {
            (Ok(a), Ok(b)) => (a - b).abs() <= 1,
            _ => a == b,
        };
        assert!(near, "{a} is committed, {b} is made");
    }
}

#[test]
fn the_gallery_is_what_its_generator_makes() {
    // Images by their texels, since compression may change; other files by their bytes.
    let values = |name: &str, file: &[u8]| match name.rsplit('.').next() {
        Some("png" | "hdr") => ::image::load_from_memory(file).unwrap().into_rgb32f().into_raw(),
        _ => file.iter().map(|b| f32::from(*b)).collect(),
    };
    for (name, made) in make_gallery::assets() {
        let committed = std::fs::read(repository().join("scenes").join(name)).unwrap();
        let [a, b] = [&committed, &made].map(|file| values(name, file));
        assert_eq!(a.len(), b.len(), "{name}");
        // Sines may differ in their last digit from machine to machine, which few bytes show.
        let changed = a.iter().zip(&b).filter(|(a, b)| (*a - *b).abs() > 0.01 * a.abs()).count();
        assert!(changed * 20 <= a.len(), "{name}: {changed} of {} values differ", a.len());
        let reversed = a.iter().zip(b.iter().rev()).filter(|(a, b)| (*a - *b).abs() > 0.01 * a.abs()).count();
        assert!(reversed * 20 > a.len(), "{name}: anything would do");
    }
}

#[test]
fn the_knot_has_its_triangles_and_faces_outwards() {
    let loaded = load(&repository().join("scenes/knot.toml"), &Overrides::default()).unwrap();
    let shape = &loaded.description.shapes[0];
    let Geometry::Mesh(mesh) = &shape.geometry else { panic!("no mesh") };
    assert!(mesh.triangles.len() >= 100_000);
    assert_eq!(mesh.normals.len(), mesh.positions.len());

    // Six times the enclosed volume: positive if the triangles face outwards. Length of the knot times the area of
    // the tube's section, by numbers from the generator.
    let p = |i: u32| mesh.positions[i as usize].as_dvec3() * 2e-5;
    let six_volumes: f64 = mesh.triangles.iter().map(|t| p(t[0]).dot(p(t[1]).cross(p(t[2])))).sum();
    assert!((0.1..0.3).contains(&(six_volumes / 6.0)), "{six_volumes}");

    let heights = || mesh.positions.iter().map(|p| shape.world_from_object.transform_point3(*p).y);
    assert_eq!(heights().fold(f32::MAX, f32::min), 0.0, "it stands on the floor");
    assert!((heights().fold(0.0, f32::max) - 1.2).abs() < 1e-3);
    for t in mesh.triangles.iter().step_by(97) {
        let flat = (p(t[1]) - p(t[0])).cross(p(t[2]) - p(t[0])).normalize().as_vec3();
        for i in t {
            let smooth = mesh.normals[*i as usize];
            assert!(smooth.is_normalized() && smooth.dot(flat) > 0.99, "{smooth} {flat}");
        }
    }
}

#[test]
fn the_shell_of_the_preview_is_closed_and_faces_outwards() {
    let loaded = load(&repository().join("scenes/preview.toml"), &Overrides::default()).unwrap();
    let shape = loaded.description.shapes.iter().find(|shape| shape.name == "shell").unwrap();
    let Geometry::Mesh(mesh) = &shape.geometry else { panic!("no mesh") };
    assert_eq!([mesh.normals.len(), mesh.uvs.len()], [mesh.positions.len(); 2]);

    // Of a closed surface, it does not depend on where it is measured from.
    let volume_from = |origin: glam::DVec3| {
        let p = |i: u32| mesh.positions[i as usize].as_dvec3() - origin;
        mesh.triangles.iter().map(|t| p(t[0]).dot(p(t[1]).cross(p(t[2])))).sum::<f64>() / 6.0
    };
    let volume = volume_from(glam::DVec3::ZERO);
    assert!((volume / volume_from(glam::DVec3::new(0.3, -0.2, 0.1)) - 1.0).abs() < 1e-5);
    // What is cut out is an octant at most.
    let whole = 4.0 / 3.0 * std::f64::consts::PI * (0.05_f64.powi(3) - 0.043_f64.powi(3));
    assert!((0.875..0.95).contains(&(volume / whole)), "{}", volume / whole);

    for t in &mesh.triangles {
        let [a, b, c] = t.map(|i| mesh.positions[i as usize]);
        let flat = (b - a).cross(c - a).normalize();
        for i in t {
            let smooth = mesh.normals[*i as usize];
            assert!(smooth.is_normalized() && smooth.dot(flat) > 0.9, "{smooth} {flat}");
        }
    }
}
