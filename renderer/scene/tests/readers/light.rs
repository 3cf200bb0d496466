//! The light that models are seen in.

use glam::Vec3;
use serde_json::{Value, json};
use torrance_scene::{
    Description, Environment, Files, LightChoice, LoadedScene, Options, PunctualKind, PunctualUnits,
    Surroundings, load_bytes, load_with,
};

use crate::gltf::uri;

const TRIANGLE: &str = "mtllib m.mtl\nusemtl m\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n";

/// A folder with an OBJ file of a triangle of a material.
fn model(material: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("m.obj"), TRIANGLE).unwrap();
    std::fs::write(folder.path().join("m.mtl"), format!("newmtl m\n{material}\n")).unwrap();
    folder
}

fn lit(folder: &tempfile::TempDir, light: LightChoice) -> LoadedScene {
    load_with(&folder.path().join("m.obj"), &Options { light, ..Options::default() }).unwrap()
}

fn is_studio(scene: &Description) -> bool {
    matches!(scene.environment, Some(Environment::Studio(_)))
}

#[test]
fn models_without_light_are_shown_in_a_studio() {
    let folder = model("Kd 0.5 0.5 0.5");
    let loaded = lit(&folder, LightChoice::Auto);
    assert!(is_studio(&loaded.description));
    let [note] = &loaded.notes[..] else { panic!("{:?}", loaded.notes) };
    assert!(note.ends_with(
        "m.obj: has no light of its own, and is shown in a studio (--light scene is without, --environment has another)"
    ));
    // What is dark stays dark, and this is said.
    let dark = lit(&folder, LightChoice::Scene);
    assert!(!dark.description.has_light() && dark.notes.is_empty());
    assert!(dark.warnings[0].message.starts_with("there is no light, so the image will be black"));
}

/// What shines does not light itself, and does not count where others are dark: neither a glowing model alone nor a large label far
/// from what it labels leaves the dark to the rest.
#[test]
fn what_shines_is_not_lit_by_itself() {
    let far = "usemtl n\nv 0 0 90\nv 1 0 90\nv 0 1 90\nf 4 5 6\n";
    for (text, emission, is_in_studio) in [
        (TRIANGLE, "1 1 1", true),
        (TRIANGLE, "30 30 30", true),
        (far, "2 2 2", true),
        (far, "2e4 2e4 2e4", false),
    ] {
        let folder = model(&format!("Kd 0 0 0\nKe {emission}\nnewmtl n\nKd 0.5 0.5 0.5"));
        let text = if text == far { format!("{TRIANGLE}{far}") } else { text.to_owned() };
        std::fs::write(folder.path().join("m.obj"), text).unwrap();
        let loaded = lit(&folder, LightChoice::Auto);
        assert_eq!(is_studio(&loaded.description), is_in_studio, "{emission}: {:?}", loaded.notes);
    }
    let folder = model("Kd 0 0 0\nKe 1 1 1");
    let note = &lit(&folder, LightChoice::Auto).notes[0];
    assert!(note.contains("m.obj: lights nothing but itself, and is shown in a studio"), "{note}");
}

/// A scene without light may be meant to be lit from the command line, or to show no light.
#[test]
fn scenes_without_light_are_warned_of_and_may_be_lit() {
    let folder = tempfile::tempdir().unwrap();
    let toml = "[camera]\nposition = [0, 0, 4]\ntarget = [0, 0, 0]\nfov = 40\n[[shapes]]\ntype = \"sphere\"\nmaterial = \"m\"\n\
                [materials.m]\ntype = \"diffuse\"\nreflectance = 0.5\n";
    let xml = "<scene version=\"3.0.0\"><sensor type=\"perspective\"/><shape type=\"sphere\"/></scene>";
    for (name, text) in [("s.toml", toml), ("s.xml", xml)] {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        let load = |light, surroundings| {
            load_with(&path, &Options { light, surroundings, ..Options::default() }).unwrap()
        };
        let dark = load(LightChoice::Auto, None);
        let warned = dark
            .warnings
            .iter()
            .any(|w| w.message.starts_with("there is no light, so the image will be black"));
        assert!(warned && !dark.description.has_light(), "{name}: {:?}", dark.warnings);
        assert!(is_studio(&load(LightChoice::Default, None).description), "{name}");
        let lit = load(LightChoice::Auto, Some(Surroundings::Constant(Vec3::ONE)));
        assert!(lit.description.has_light() && lit.warnings.is_empty(), "{name}: {:?}", lit.warnings);
    }
}

/// The image of the surroundings is a file that the scene reads: nothing may replace it.
#[test]
fn surroundings_are_among_the_files() {
    let folder = model("Kd 0.5 0.5 0.5");
    let image = folder.path().join("sky.png");
    image::RgbImage::from_pixel(4, 2, image::Rgb([200; 3])).save(&image).unwrap();
    let surroundings = Some(Surroundings::Image(image.clone()));
    let loaded =
        load_with(&folder.path().join("m.obj"), &Options { surroundings, ..Options::default() }).unwrap();
    assert!(loaded.files.contains(&image.canonicalize().unwrap()));
}

/// A little glow is not what a model is seen by, nor is what only shows itself; a lamp is.
#[test]
fn light_that_matters_is_left_alone() {
    for (material, is_in_studio) in [
        ("Kd 0.5 0.5 0.5\nKe 0.01 0.01 0.01", true),
        ("Kd 0 0 0\nKe 1 1 1", true),
        ("Kd 0 0 0\nKe 20 20 20", false),
        ("Kd 0.5 0.5 0.5\nKe 20 20 20", false),
    ] {
        // The triangle that emits, and beside it one that does not.
        let folder = model(&format!("{material}\nnewmtl n\nKd 0.5 0.5 0.5"));
        let text = format!("{TRIANGLE}usemtl n\nv 0 0 1\nv 1 0 1\nv 0 1 1\nf 4 5 6\n");
        std::fs::write(folder.path().join("m.obj"), text).unwrap();
        let loaded = lit(&folder, LightChoice::Auto);
        assert_eq!(is_studio(&loaded.description), is_in_studio, "{material}: {:?}", loaded.notes);
        assert_eq!(loaded.notes.len(), usize::from(is_in_studio));
        assert!(!is_studio(&lit(&folder, LightChoice::Scene).description));
        assert!(is_studio(&lit(&folder, LightChoice::Default).description));
    }
}

#[test]
fn scenes_of_their_own_are_left_alone() {
    let scene = "[camera]\nposition = [0, 0, 4]\ntarget = [0, 0, 0]\nfov = 40\n[environment]\nradiance = 1e-6\n\
        [materials.a]\ntype = \"diffuse\"\nreflectance = 0.5\n[[shapes]]\ntype = \"sphere\"\nmaterial = \"a\"\n";
    let loaded = load_bytes("s.toml", scene.as_bytes(), &Files::new(".", false)).unwrap();
    assert_eq!(loaded.description.environment, Some(Environment::Constant(Vec3::splat(1e-6))));
    assert_eq!(loaded.notes, [""; 0]);
}

#[test]
fn surroundings_replace_what_is_there() {
    let folder = model("Kd 0.5 0.5 0.5");
    let with = |text: &str| {
        let options = Options { surroundings: Some(text.parse().unwrap()), ..Options::default() };
        load_with(&folder.path().join("m.obj"), &options)
    };
    let constant = |r, g, b| Some(Environment::Constant(Vec3::new(r, g, b)));
    assert_eq!(with("0.5").unwrap().description.environment, constant(0.5, 0.5, 0.5));
    assert_eq!(with("1, 0.5,2").unwrap().description.environment, constant(1.0, 0.5, 2.0));
    assert_eq!(with("#ff0000").unwrap().description.environment, constant(1.0, 0.0, 0.0));
    assert!(is_studio(&with("studio").unwrap().description));
    assert!(!with("0").unwrap().description.has_light());
    let message = with("none.exr").unwrap_err().to_string();
    assert!(message.contains("none.exr: cannot read it as an image: no such file"), "{message}");
    for wrong in ["1,2", "-1", "nan", "#12", "1e30", "1,2,3,4"] {
        assert!(wrong.parse::<Surroundings>().is_err(), "{wrong}");
    }
}

/// A cube around the camera, of one node in two parts, and a triangle in it.
fn room(is_closed: bool) -> Value {
    let mut positions = Vec::new();
    for axis in 0..3_usize {
        for side in [-5.0_f32, 5.0] {
            if !is_closed && axis == 1 {
                continue;
            }
            let at = |u: f32, v: f32| {
                let mut p = [0.0; 3];
                (p[axis], p[(axis + 1) % 3], p[(axis + 2) % 3]) = (side, 5.0 * u, 5.0 * v);
                p
            };
            let [a, b, c, d] = [at(-1.0, -1.0), at(1.0, -1.0), at(1.0, 1.0), at(-1.0, 1.0)];
            positions.extend([a, b, c, a, c, d]);
        }
    }
    let count = positions.len();
    positions.extend([[0.0, 0.0, -1.0], [1.0, 0.0, -1.0], [0.0, 1.0, -1.0]]);
    let bytes: Vec<u8> = positions.iter().flatten().flat_map(|x: &f32| x.to_le_bytes()).collect();
    let accessor = |offset: usize, count: usize| json!({ "bufferView": 0, "byteOffset": 12 * offset, "componentType": 5126, "count": count, "type": "VEC3" });
    let half = count / 12 * 6;
    json!({
        "asset": { "version": "2.0" },
        "scene": 0,
        "scenes": [{ "nodes": [0, 1, 2] }],
        "nodes": [
            { "name": "sky", "mesh": 0 },
            { "mesh": 1 },
            { "camera": 0 },
        ],
        "cameras": [{ "type": "perspective", "perspective": { "yfov": 1.0, "znear": 0.1 } }],
        "materials": [{ "pbrMetallicRoughness": { "baseColorFactor": [0.2, 0.4, 0.8, 1.0] } }],
        "meshes": [
            { "primitives": [
                { "attributes": { "POSITION": 0 }, "material": 0 },
                { "attributes": { "POSITION": 1 }, "material": 0 },
            ] },
            { "primitives": [{ "attributes": { "POSITION": 2 } }] },
        ],
        "accessors": [accessor(0, half), accessor(half, count - half), accessor(count, 3)],
        "bufferViews": [{ "buffer": 0, "byteLength": bytes.len() }],
        "buffers": [{
            "byteLength": bytes.len(),
            "uri": uri(&bytes),
        }],
    })
}

#[test]
fn what_shuts_out_the_studio_shines() {
    for is_closed in [true, false] {
        let text = room(is_closed).to_string();
        let loaded = load_bytes("s.gltf", text.as_bytes(), &Files::new(".", false)).unwrap();
        let scene = &loaded.description;
        let shining: Vec<_> = scene.shapes.iter().filter(|shape| shape.emits()).collect();
        assert!(is_studio(scene));
        if is_closed {
            assert_eq!(shining.len(), 2, "both parts");
            assert!(shining.iter().all(|shape| shape.emission.value == Vec3::new(0.2, 0.4, 0.8)));
            assert!(loaded.notes[0].contains("\"sky\" is all around the camera"), "{:?}", loaded.notes);
        } else {
            assert!(shining.is_empty(), "light comes in from above and below");
        }
    }
}

/// A triangle under a light of some lux.
fn under_the_sun(lux: f64, punctual_units: PunctualUnits) -> LoadedScene {
    let mut model = room(false);
    model["extensions"] =
        json!({ "KHR_lights_punctual": { "lights": [{ "type": "directional", "intensity": lux }] } });
    model["nodes"][2] = json!({ "camera": 0, "extensions": { "KHR_lights_punctual": { "light": 0 } } });
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("s.gltf"), model.to_string()).unwrap();
    load_with(&folder.path().join("s.gltf"), &Options { punctual_units, ..Options::default() }).unwrap()
}

#[test]
fn lux_are_physical_where_they_are_far_too_many() {
    for (lux, units, expected, notes) in [
        (3.0, PunctualUnits::Auto, 3.0, 0),
        (2049.0, PunctualUnits::Auto, 3.0, 1),
        (3.0, PunctualUnits::Standard, 3.0 / 683.0, 0),
        (2049.0, PunctualUnits::Standard, 3.0, 0),
        (2049.0, PunctualUnits::Unitless, 2049.0, 0),
    ] {
        let LoadedScene { description, notes: said, .. } = under_the_sun(lux, units);
        let PunctualKind::Directional { irradiance, .. } = description.lights[0].kind else { panic!() };
        assert!((irradiance / expected - 1.0).abs().max_element() < 1e-6, "{lux} {units:?}: {irradiance}");
        // A note of the studio comes beside it where next to nothing is left.
        let about_units = said.iter().filter(|note| note.contains("683 lm are 1 W")).count();
        assert_eq!(about_units, notes, "{lux} {units:?}: {said:?}");
        assert_eq!(is_studio(&description), expected < 0.1);
    }
}
