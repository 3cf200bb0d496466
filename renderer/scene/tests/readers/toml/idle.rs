//! Warnings of settings without effect, and none of those with one.

use torrance_scene::{Overrides, load};

use crate::loaded;

/// The warnings of a scene with a grey sphere, `top` at the top level and `shape` in another shape.
fn warnings(top: &str, shape: &str) -> Vec<String> {
    let text = format!(
        "{top}\n[[shapes]]\ntype = \"sphere\"\nmaterial = {{ type = \"diffuse\", reflectance = 0.5 }}\nemission = 1\n\
         [[shapes]]\ntype = \"quad\"\n{shape}\n"
    );
    let text = match text.contains("[camera]") {
        true => text,
        false => format!("camera = {{ position = [0, 0, 4], target = [0, 0, 0], fov = 40 }}\n{text}"),
    };
    let loaded = loaded(&text).unwrap_or_else(|e| panic!("{}", e.report(false)));
    loaded.warnings.into_iter().map(|w| w.message).collect()
}

#[track_caller]
fn warned(top: &str, shape: &str, message: &str) {
    let found = warnings(top, shape);
    assert!(found.len() == 1 && found[0].contains(message), "{message}: {found:#?}");
}

#[track_caller]
fn silent(top: &str, shape: &str) {
    assert_eq!(warnings(top, shape), Vec::<String>::new());
}

const GREY: &str = "material = { type = \"diffuse\", reflectance = 0.5 }";

#[test]
fn portals_are_for_skies() {
    let portal = "[[portals]]\ncorner = [0, 0, 0]\nedges = [[1, 0, 0], [0, 1, 0]]";
    warned(portal, GREY, "\"portals\" have no effect");
    warned(&format!("[environment]\nradiance = 0.5\n{portal}"), GREY, "\"portals\" have no effect");
    let sky = "[environment]\ntype = \"sun_sky\"\nelevation = 40\nazimuth = 0";
    silent(&format!("{sky}\n{portal}"), GREY);
}

#[test]
fn sides_and_blades_belong_to_something() {
    warned("", &format!("{GREY}\nemission_sides = \"both\""), "\"emission_sides\" has no effect");
    silent("", &format!("{GREY}\nemission_sides = \"both\"\nemission = 2"));
    let camera = |lens: &str| {
        format!(
            "[camera]\nposition = [0, 0, 4]\ntarget = [0, 0, 0]\nfov = 40\nlens = {{ radius = 0.1, {lens} }}"
        )
    };
    warned(&camera("rotation = 10"), GREY, "\"rotation\" has no effect without \"blades\"");
    silent(&camera("rotation = 10, blades = 5"), GREY);
}

#[test]
fn layers_that_are_not_there_are_as_they_are() {
    for (kind, strength, companion) in [
        ("gltf", "iridescence = 1", "iridescence_thickness = 300"),
        ("gltf", "iridescence = 1", "iridescence_ior = 1.5"),
        ("gltf", "anisotropy = 1", "anisotropy_rotation = 20"),
        ("gltf", "clearcoat = 1", "clearcoat_roughness = 0.5"),
        ("gltf", "sheen_color = 1", "sheen_roughness = 0.9"),
        ("principled", "clearcoat = 1", "clearcoat_gloss = 0.5"),
        ("principled", "sheen = 1", "sheen_tint = 0.5"),
    ] {
        let key = companion.split(' ').next().unwrap();
        let of = |keys: &str| format!("material = {{ type = \"{kind}\", {keys} }}");
        warned("", &of(companion), &format!("\"{key}\" has no effect without \""));
        silent("", &of(&format!("{strength}, {companion}")));
    }
    for keys in ["distribution = \"beckmann\"", "scattering = \"random_walk\""] {
        let of = |roughness: f32| {
            format!(
                "material = {{ type = \"conductor\", metal = \"gold\", roughness = {roughness}, {keys} }}"
            )
        };
        warned("", &of(0.0), "has no effect on a smooth surface");
        silent("", &of(0.5));
    }
}

#[test]
fn vertices_without_colours_are_white() {
    let folder = tempfile::tempdir().unwrap();
    let mesh = |color: [&str; 3]| {
        let [r, g, b] = color.map(|name| format!("property uchar {name}\n"));
        let row = |p: &str| format!("{p} 1 2 3\n");
        let rows = ["0 0 0", "1 0 0", "0 1 0"].map(row).concat();
        format!(
            "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\n{r}{g}{b}\
             element face 1\nproperty list uchar int vertex_indices\nend_header\n{rows}3 0 1 2\n"
        )
    };
    std::fs::write(folder.path().join("colors.ply"), mesh(["red", "green", "blue"])).unwrap();
    std::fs::write(folder.path().join("plain.ply"), mesh(["a", "b", "c"])).unwrap();
    let warnings = |file: &str, reflectance: &str, emission: &str| {
        let text = format!(
            "[camera]\nposition = [0, 0, 4]\ntarget = [0, 0, 0]\nfov = 40\n[environment]\nradiance = 1\n[[shapes]]\n\
             type = \"mesh\"\nfile = \"{file}.ply\"\nmaterial = {{ type = \"diffuse\", reflectance = {reflectance} }}\n\
             emission = {emission}\n"
        );
        let path = folder.path().join("scene.toml");
        std::fs::write(&path, text).unwrap();
        let loaded = load(&path, &Overrides::default()).unwrap_or_else(|e| panic!("{}", e.report(false)));
        loaded.warnings.into_iter().map(|w| w.message).collect::<Vec<_>>()
    };
    let color = "{ type = \"vertex_color\" }";
    let missing = ["shapes[0] has no vertex colours for its textures; they are white"];
    assert_eq!(warnings("plain", color, "1"), missing);
    assert_eq!(warnings("plain", "0.5", color), missing);
    assert_eq!(warnings("plain", "0.5", "1"), [""; 0]);
    assert_eq!(warnings("colors", color, color), [""; 0]);
}

#[test]
fn what_nothing_uses_is_named() {
    let checker = "{ type = \"checker\", colors = [0, 1] }";
    let grey = "{ type = \"diffuse\", reflectance = 0.5 }";
    warned(&format!("[textures]\na = {checker}"), GREY, "textures: nothing uses \"a\"");
    silent(&format!("[textures]\na = {checker}"), "emission = \"a\"");
    silent(
        &format!("[textures]\na = {checker}\nb = {{ type = \"product\", factors = [\"a\", 1] }}"),
        "emission = \"b\"",
    );
    let many = format!("[materials]\na = {grey}\nb = {grey}\nc = {grey}\nd = {grey}\ne = {grey}");
    warned(&many, "material = \"c\"", "materials: nothing uses \"a\", \"b\", \"d\" and 1 more");
    let blend = format!(
        "[materials]\na = {grey}\nb = {grey}\nc = {{ type = \"blend\", materials = [\"a\", \"b\"], weight = 0.5 }}"
    );
    silent(&blend, "material = \"c\"");
    let group = format!("[[groups.tree.shapes]]\ntype = \"quad\"\n{GREY}");
    warned(&group, GREY, "groups: nothing uses \"tree\"");
    silent(&format!("{group}\n[[instances]]\ngroup = \"tree\""), GREY);
}
