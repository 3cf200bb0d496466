//! Round trips: a written scene is read back unchanged.

mod random;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use torrance_scene::{
    Description, Extent, Files, Geometry, Options, Overrides, Shape, canonical, load, load_bytes, load_with,
    write,
};

use random::random;

fn load_all(path: &Path) -> Description {
    let options = Options { allow_external: true, ..Options::default() };
    load_with(path, &options).unwrap_or_else(|e| panic!("{}", e.report(false))).description
}

/// Writes a scene to a folder, and reads it.
fn there_and_back(description: &Description, extent: Extent) -> (String, Description) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("scene.toml");
    let written = write(description, &file, extent);
    for asset in &written.assets {
        std::fs::create_dir_all(asset.path.parent().unwrap()).unwrap();
        std::fs::write(&asset.path, asset.bytes().unwrap()).unwrap();
    }
    std::fs::write(&file, written.text()).unwrap();
    let read = load(&file, &Overrides::default());
    let read = read.unwrap_or_else(|e| panic!("{}\n{}", e.report(false), written.text()));
    (written.text(), read.description)
}

pub(crate) fn check(name: &str, description: &Description) {
    let expected = canonical(description);
    assert!(canonical(&expected).is_same_scene(&expected), "{name}: canonical twice");
    for extent in [Extent::Short, Extent::Full] {
        let (text, read) = there_and_back(description, extent);
        if !read.is_same_scene(&expected) {
            panic!(
                "{name}, {extent:?}:\n{text}\n{:#?}\n{:#?}",
                WithoutTexels(&expected),
                WithoutTexels(&read)
            );
        }
    }
}

/// A description without texels.
struct WithoutTexels<'a>(&'a Description);

impl std::fmt::Debug for WithoutTexels<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Description {
            render, camera, environment, lights, textures, materials, groups, instances, ..
        } = self.0;
        write!(f, "{render:?}\n{camera:?}\n{environment:?}\n{lights:?}\n{textures:?}\n{materials:?}\n")?;
        for shape in self.0.shapes.iter().chain(groups.iter().flat_map(|g| &g.shapes)) {
            let Shape { name, material, emission, world_from_object, .. } = shape;
            writeln!(f, "{name:?} {material} {emission:?} {world_from_object:?}")?;
        }
        write!(f, "{instances:?}")
    }
}

#[test]
fn scenes_of_the_repository() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let files = |folder: &str, name: &str| -> Vec<PathBuf> {
        let entries = std::fs::read_dir(root.join(folder)).unwrap().map(|e| e.unwrap().path());
        entries
            .map(|path| if name.is_empty() { path } else { path.join(name) })
            .filter(|p| p.is_file())
            .collect()
    };
    let scenes = files("scenes", "").into_iter().filter(|p| p.extension().is_some_and(|e| e == "toml"));
    let all: Vec<_> = scenes.chain(files("tests/references", "scene.toml")).collect();
    assert!(all.len() > 12, "{all:?}");
    for path in all {
        check(&path.display().to_string(), &load_all(&path));
    }
}

/// A change that the comparison has to see.
#[test]
fn differences_are_seen() {
    let original = random(7);
    let changed = |change: &dyn Fn(&mut Description)| {
        let mut d = original.clone();
        change(&mut d);
        assert!(!d.is_same_scene(&original));
    };
    changed(&|d| d.render.seed ^= 1);
    changed(&|d| d.camera.position.x = f32::from_bits(d.camera.position.x.to_bits() ^ 1));
    changed(&|d| d.images[0].texels = d.images[0].texels.iter().map(|t| t ^ 1).collect());
    changed(&|d| {
        let shape = d.shapes.iter_mut().find(|s| matches!(s.geometry, Geometry::Mesh(_))).unwrap();
        let Geometry::Mesh(mesh) = &mut shape.geometry else { panic!() };
        Arc::make_mut(mesh).uvs[0].x += 0.25;
    });
}

#[test]
fn random_scenes() {
    for seed in 0..60 {
        check(&format!("seed {seed}"), &random(seed));
    }
}

/// Textures made of bright textures are as bright, even without a range of their own.
#[test]
fn ranges_of_whole_trees_are_written() {
    let text = r#"
        [camera]
        position = [0, 0, 4]
        target = [0, 0, 0]
        fov = 40
        [textures]
        squares = { type = "checker", colors = [3, 5], range = "radiance" }
        tinted = { type = "product", factors = ["squares", 0.5], range = "radiance" }
        [[shapes]]
        type = "quad"
        emission = "tinted"
        "#;
    let scene = load_bytes("scene.toml", text.as_bytes(), &Files::new(".", false)).unwrap();
    check("a tree", &scene.description);
}

#[test]
fn what_is_written_is_short() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes/cornell.toml");
    let written = write(&load_all(&root), Path::new("out/cornell.toml"), Extent::Short);
    let text = written.text();
    assert!(written.assets.is_empty());
    for line in [
        "[render]\nspp = 128\n",
        "[materials.red]\ntype = \"diffuse\"\nreflectance = [0.570068, 0.0430135, 0.0443706]\n",
        "[[shapes]]\nname = \"back wall\"\ntype = \"quad\"\nmaterial = \"white\"\ntransform = [{ translate = [0, 0, -1] }]\n",
    ] {
        assert!(text.contains(line), "{line}\nnot in\n{text}");
    }
}

/// Paths hold the names of the file; what has none is not called as something else is.
#[test]
fn textures_keep_their_names() {
    let text = r#"
        [camera]
        position = [0, 0, 4]
        target = [0, 0, 0]
        fov = 40
        [textures]
        wood = { type = "checker", colors = [0.5, "checker"] }
        checker = { type = "mix", colors = [{ type = "checker", colors = [0, 1] }, 0.25], weight = 0.5 }
        unused = { type = "vertex_color" }
        [[shapes]]
        type = "quad"
        emission = "wood"
        "#;
    let scene = load_bytes("scene.toml", text.as_bytes(), &Files::new(".", false)).unwrap().description;
    let written = write(&scene, Path::new("scene.toml"), Extent::Short).text();
    for line in [
        "[textures.wood]\ntype = \"checker\"\ncolors = [0.5, \"checker\"]\n",
        "[textures.checker]\ntype = \"mix\"\ncolors = [\"checker-2\", 0.25]\n",
        "[textures.checker-2]\ntype = \"checker\"\ncolors = [0, 1]\n",
        "[textures.unused]\ntype = \"vertex_color\"\n",
        "emission = \"wood\"\n",
    ] {
        assert!(written.contains(line), "{line} is not in {written}");
    }
    check("names", &scene);
}
