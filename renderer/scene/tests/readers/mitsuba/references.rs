//! The reference scenes.

use torrance_scene::Masking;

use super::{load_in, references};

/// How many shapes, materials, textures, lights and instances each has.
const SCENES: [(&str, [usize; 5]); 19] = [
    ("anisotropic", [6, 5, 0, 0, 0]),
    ("cornell-diffuse", [8, 6, 0, 0, 0]),
    ("cornell-ggx", [8, 6, 0, 0, 0]),
    ("envmap-sun", [2, 2, 0, 0, 0]),
    ("furnace-conductor", [1, 1, 0, 0, 0]),
    ("glass-rough", [4, 3, 1, 0, 0]),
    ("glass-smooth", [5, 5, 1, 0, 0]),
    ("instanced", [1, 2, 0, 0, 200]),
    ("many-lights", [52, 47, 0, 0, 0]),
    ("normalmap", [4, 4, 2, 0, 0]),
    ("orthographic", [6, 6, 0, 0, 0]),
    ("plastic", [5, 5, 0, 0, 0]),
    ("principled-sweep", [27, 27, 0, 0, 0]),
    ("punctual", [5, 4, 0, 3, 0]),
    ("roughness-row", [9, 9, 0, 0, 0]),
    ("silhouette", [1, 1, 1, 0, 0]),
    ("textured", [5, 5, 4, 0, 0]),
    ("thinlens", [14, 14, 1, 0, 0]),
    ("veach-mis", [11, 10, 0, 0, 0]),
];

#[test]
fn references_load_without_a_word() {
    for (name, counts) in SCENES {
        let folder = references().join(name);
        let text = std::fs::read_to_string(folder.join("scene.xml")).unwrap();
        let (d, warnings) = load_in(&folder, &text).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!(warnings, [], "{name}");
        let found = [d.shapes.len(), d.materials.len(), d.textures.len(), d.lights.len(), d.instances.len()];
        assert_eq!(found, counts, "{name}");
        assert_eq!(d.render.masking, Masking::Separable);
        assert_eq!(d.render.rr_depth, None, "{name}");
    }
}
