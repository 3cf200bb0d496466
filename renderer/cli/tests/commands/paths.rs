//! Parameters by their paths: what is listed, what setting does, and what is shared.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use torrance_scene::{
    Description, Files, Geometry, Options, Overrides, Parameter, SceneValues, canonical, load_bytes,
    load_with,
};

/// A scene with much that can be said in two ways.
const SCENE: &str = r#"
[render]
size = [16, 12]
[camera]
position = [0, 1, 5]
target = [0, 0, 0]
fov = 40
[environment]
type = "sun_sky"
sun_direction = [1, 1, 0]
[textures.wood]
type = "checker"
colors = [0.5, 0.25]
rotate = 30
scale = [4, 2]
[materials.gold]
type = "conductor"
metal = "gold"
alpha = 0.2
[materials.glass]
type = "dielectric"
roughness = 0.3
[materials.paint]
type = "principled"
specular = 0.5
[materials.white]
type = "diffuse"
reflectance = 0.5
[materials.wooden]
type = "diffuse"
reflectance = "wood"
[[shapes]]
name = "ball"
type = "sphere"
material = "gold"
[[shapes]]
name = "a.b \"=\""
type = "box"
material = "white"
transform = [{ scale = 2 }, { translate = [0, 1, 0] }]
[[shapes]]
type = "quad"
material = "glass"
emission = 1
[[shapes]]
type = "disk"
material = "paint"
[[shapes]]
type = "disk"
material = "wooden"
"#;

/// Beginning that every scene needs.
const HEAD: &str = "camera = { position = [0, 0, 4], target = [0, 0, 0], fov = 40 }\n";

/// The values of a scene, and the folder where it is.
fn values(text: &str) -> (tempfile::TempDir, SceneValues) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("scene.toml");
    std::fs::write(&path, text).unwrap();
    let values = SceneValues::open(&path, &Options::default());
    (folder, values.unwrap_or_else(|e| panic!("{}", e.report(false))))
}

fn description(values: &SceneValues) -> Description {
    values.load().unwrap_or_else(|e| panic!("{}", e.report(false))).description
}

fn of_text(text: &str) -> Description {
    let loaded = load_bytes("scene.toml", text.as_bytes(), &Files::new(".", false));
    loaded.unwrap_or_else(|e| panic!("{}", e.report(false))).description
}

/// The scenes of the repository, of all formats.
fn repository() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let files_in = |folder: PathBuf| std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let is_scene = |path: &PathBuf| {
        path.extension().is_some_and(|e| ["toml", "xml", "gltf", "glb"].iter().any(|known| e == *known))
    };
    let folders = files_in(root.join("tests/references")).filter(|path| path.is_dir());
    let references = folders.flat_map(files_in).filter(|path| path.file_stem().is_some_and(|s| s == "scene"));
    files_in(root.join("scenes")).chain(references).filter(is_scene).collect()
}

/// Nothing changes when what is listed is set, and a mesh is the same in memory however often its scene is read.
#[test]
fn all_parameters_of_all_scenes_can_be_set_to_what_they_are() {
    let scenes = repository();
    assert!(scenes.len() > 40, "{scenes:?}");
    let options = Options { allow_external: true, ..Options::default() };
    for path in scenes {
        let shown = path.display();
        let mut values = SceneValues::open(&path, &options).unwrap_or_else(|e| panic!("{}", e.report(false)));
        let before = values.load().unwrap_or_else(|e| panic!("{}", e.report(false)));
        assert_eq!(before.warnings, [], "{shown}");
        let expected = canonical(&load_with(&path, &options).unwrap().description);
        assert!(before.description.is_same_scene(&expected), "{shown}");
        for Parameter { path, value, takes } in values.list() {
            assert_eq!(values.takes(&path), Ok(takes), "{shown}: {path}");
            assert_eq!(values.get(&path).as_deref(), Ok(value.as_str()), "{shown}");
            values.set(&path, &value).unwrap_or_else(|e| panic!("{shown}: {path} = {value}: {e}"));
        }
        let after = description(&values);
        assert!(after.is_same_scene(&expected), "{shown}");
        for (a, b) in before.description.all_shapes().zip(after.all_shapes()) {
            if let (Geometry::Mesh(a), Geometry::Mesh(b)) = (&a.geometry, &b.geometry) {
                assert!(Arc::ptr_eq(a, b), "{shown}");
            }
        }
        for (a, b) in before.description.images.iter().zip(&after.images) {
            assert!(Arc::ptr_eq(&a.texels, &b.texels), "{shown}");
        }
    }
}

/// Settings, and the equivalent edit of the file: a text and its replacement.
type Edit = (&'static [(&'static str, &'static str)], &'static str, &'static str);

/// Setting a value equals editing the file by hand.
#[test]
fn setting_is_editing() {
    let edits: [Edit; 24] = [
        (&[("materials.gold.alpha", "0.3")], "alpha = 0.2", "alpha = 0.3"),
        (&[("materials.gold.roughness", "0.3")], "alpha = 0.2", "roughness = 0.3"),
        (&[("materials.gold.roughness", "[0.3, 0.4]")], "alpha = 0.2", "roughness = [0.3, 0.4]"),
        (&[("materials.gold.alpha.1", "0.3")], "alpha = 0.2", "alpha = [0.2, 0.3]"),
        (&[("materials.glass.alpha", "0.3")], "roughness = 0.3", "alpha = 0.3"),
        (&[("materials.gold.metal", "copper")], "metal = \"gold\"", "metal = \"copper\""),
        (
            &[("materials.gold.k", "3"), ("materials.gold.eta", "[1, 2, 3]")],
            "metal = \"gold\"",
            "k = 3\neta = [1, 2, 3]",
        ),
        (&[("materials.paint.ior", "1.4")], "specular = 0.5", "ior = 1.4"),
        (&[("materials.paint.specular", "0.25")], "specular = 0.5", "specular = 0.25"),
        (&[("materials.white.reflectance", "#204060")], "reflectance = 0.5", "reflectance = \"#204060\""),
        (&[("materials.white.reflectance.2", "0.1")], "reflectance = 0.5", "reflectance = [0.5, 0.5, 0.1]"),
        (&[("materials.white.reflectance", "wood")], "reflectance = 0.5", "reflectance = \"wood\""),
        (
            &[("materials.white", "{ type = \"sheen\", roughness = 0.4 }")],
            "type = \"diffuse\"\nreflectance = 0.5",
            "type = \"sheen\"\nroughness = 0.4",
        ),
        (
            &[("materials.gold.type", "principled")],
            "type = \"conductor\"\nmetal = \"gold\"\nalpha = 0.25",
            "type = \"principled\"\nroughness = 0.5",
        ),
        (&[("render.width", "20")], "size = [16, 12]", "size = [20, 12]"),
        (&[("render.height", "2e1"), ("render.spp", "8")], "size = [16, 12]", "size = [16, 20]\nspp = 8"),
        (&[("render.filter", "gaussian")], "size = [16, 12]", "size = [16, 12]\nfilter = \"gaussian\""),
        (&[("render.rr", "false")], "size = [16, 12]", "size = [16, 12]\nrr = false"),
        (&[("camera.fov_axis", "x"), ("camera.position.1", "3")], "[0, 1, 5]", "[0, 3, 5]\nfov_axis = \"x\""),
        (&[("camera.lens.radius", "0.1")], "fov = 40", "fov = 40\nlens = { radius = 0.1 }"),
        (&[("shapes.\"a.b \\\"=\\\"\".transform.0.scale.1", "3")], "scale = 2", "scale = [2, 3, 2]"),
        (
            &[("shapes.1.transform", "[{ rotate = { axis = \"y\", degrees = 30 } }]")],
            "[{ scale = 2 }, { translate = [0, 1, 0] }]",
            "[{ rotate = { axis = \"y\", degrees = 30 } }]",
        ),
        (&[("shapes.ball.material", "white")], "material = \"gold\"", "material = \"white\""),
        (
            &[("textures.wood.scale", "8"), ("textures.wood.rotate", "0")],
            "rotate = 30\nscale = [4, 2]",
            "scale = 8",
        ),
    ];
    for (set, from, to) in edits {
        // One has the alpha that is the square of what is to be expected.
        let scene = if from.contains("alpha = 0.25") {
            SCENE.replace("alpha = 0.2", "alpha = 0.25")
        } else {
            SCENE.to_owned()
        };
        let (_folder, mut values) = values(&scene);
        let before = description(&values);
        for (path, value) in set {
            values.set(path, value).unwrap_or_else(|e| panic!("{path} = {value}: {e}"));
        }
        assert!(scene.contains(from), "{from}");
        let edited = canonical(&of_text(&scene.replacen(from, to, 1)));
        let found = description(&values);
        assert!(found.is_same_scene(&edited), "{set:?}:\n{found:#?}\n{edited:#?}");
        assert!(!found.is_same_scene(&before), "{set:?}");
    }
}

/// Values that are absent from the file are expressed by another key, or by default.
#[test]
fn values_in_other_words() {
    let (_folder, mut values) = values(SCENE);
    for (path, value) in [
        ("materials.gold.alpha", "0.2"),
        ("materials.gold.roughness", "0.4472136"),
        ("materials.glass.alpha", "0.09"),
        ("materials.gold.k.0", "3.5958"),
        ("materials.paint.specular", "0.5"),
        ("materials.white.reflectance.1", "0.5"),
        ("materials.white.normal_map.strength", "1"),
        ("render.width", "16"),
        ("render.size.1", "12"),
        ("environment.elevation", "45"),
        ("environment.azimuth", "90"),
        ("textures.wood.rotate", "30"),
        ("textures.wood.scale", "[4, 2]"),
        ("camera.lens.blades", "0"),
    ] {
        let near = |text: &str| text.parse::<f32>().map(|x| (x * 1e4).round()).map_err(|_| text.to_owned());
        let found = values.get(path).unwrap_or_else(|e| panic!("{path}: {e}"));
        assert_eq!(near(&found), near(value), "{path} = {found}");
    }
    assert_eq!(
        values.get("camera.lens.radius").unwrap_err().to_string(),
        "\"camera.lens.radius\" has no value"
    );
    // The other half of what is replaced stays.
    values.set("environment.elevation", "30").unwrap();
    assert_eq!(values.get("environment.azimuth").as_deref(), Ok("90"));
    assert_eq!(values.takes("materials.gold.roughness").unwrap(), "0, or from 0.01 to 1, or [u, v]");
    values.set_value("render.spp", &toml::Value::Float(8.0)).unwrap();
    assert_eq!(values.get("render.spp").as_deref(), Ok("8"));
}

/// Files are read once; clones are on their own.
#[test]
fn what_was_read_is_not_read_again() {
    let mesh = "v 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\nvt 1 0\nvt 0 1\nf 1/1 2/2 3/3\nf 1/1 1/1 2/2\n";
    let scene = "[[shapes]]\ntype = \"disk\"\nemission = 1\n[[shapes]]\nname = \"tile\"\ntype = \"mesh\"\nfile = \"tile.obj\"\nmaterial = \"wooden\"\n";
    let wood = "[textures.wood]\nfile = \"wood.png\"\n[materials.wooden]\ntype = \"diffuse\"\nreflectance = \"wood\"\n";
    let text = format!("{HEAD}{wood}{scene}");
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    std::fs::write(at("scene.toml"), text).unwrap();
    std::fs::write(at("tile.obj"), mesh).unwrap();
    image::RgbaImage::from_pixel(4, 2, image::Rgba([9, 7, 3, 200])).save(at("wood.png")).unwrap();
    let values = SceneValues::open(&at("scene.toml"), &Options::default()).unwrap();
    assert_eq!(values.warnings().len(), 1, "a flat triangle");
    for name in ["scene.toml", "tile.obj", "wood.png"] {
        std::fs::remove_file(at(name)).unwrap();
    }
    let mut other = values.clone();
    other.set("materials.wooden.roughness", "0.5").unwrap();
    let [a, b] = [&values, &other].map(|values| values.load().unwrap());
    assert!(a.warnings.is_empty() && a.files.len() == 3, "{a:?}");
    let meshes = [&a, &b].map(|loaded| match &loaded.description.shapes[1].geometry {
        Geometry::Mesh(mesh) => Arc::clone(mesh),
        other => panic!("{other:?}"),
    });
    assert!(Arc::ptr_eq(&meshes[0], &meshes[1]) && meshes[0].triangles.len() == 1);
    assert!(!a.description.is_same_scene(&b.description));
    // What was not read that way is read now.
    other.set("shapes.tile.normals", "smooth").unwrap();
    let error = other.load().unwrap_err();
    assert!(error.problems[0].place.is_none() && error.to_string().contains("no such file"), "{error}");
}

/// The command line takes precedence, and set values are checked as a scene's are.
#[test]
fn what_is_set_is_checked() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("scene.toml");
    std::fs::write(&path, SCENE).unwrap();
    let overrides = Overrides { spp: Some(7), ..Overrides::default() };
    let mut values = SceneValues::open(&path, &Options { overrides, ..Options::default() }).unwrap();
    values.set("render.spp", "3").unwrap();
    assert_eq!(description(&values).render.spp, 7);
    let mut lone = values.clone();
    lone.set("shapes.2.emission", "0").unwrap();
    lone.set("environment", "{ radiance = 0 }").unwrap();
    assert!(!lone.load().unwrap().description.has_light());
    values.set("lights", "[{ type = \"point\", position = [0, 1, 0], intensity = 1 }]").unwrap();
    values.set("render.direct", "bsdf").unwrap();
    assert!(values.load().unwrap().warnings[0].message.contains("finds no light that is a point"));
    values.set("render.size", "[4000000, 4000000]").unwrap();
    assert!(values.load().unwrap_err().to_string().contains("4000000"));
}
