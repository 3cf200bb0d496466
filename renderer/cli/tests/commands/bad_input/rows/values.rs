//! Values of the wrong type or out of range.

use super::Row;
use super::Wrong::Scene;

pub(crate) const VALUES: &[Row<'_>] = &[
    (
        "string for a number",
        Scene("fov = 40", "fov = \"wide\""),
        r#"scene.toml:8:7: "fov" must be a number, not the string "wide""#,
    ),
    (
        "number for a string",
        Scene("material = \"gold\"", "material = 1"),
        r#"scene.toml:26:12: "material" must be the name of a material, or a table such as { type = "diffuse", reflectance = 0.5 }, not the number 1"#,
    ),
    (
        "table for a number",
        Scene("spp = 2", "spp = { of = 2 }"),
        r#"scene.toml:3:7: "spp" must be a whole number, not a table"#,
    ),
    (
        "array for a section",
        Scene("[environment]", "[[environment]]"),
        r#"scene.toml:10:1: "environment" must be a table, not an array of 1"#,
    ),
    (
        "two coordinates",
        Scene("target = [0, 0, 0]", "target = [0, 0]"),
        r#"scene.toml:7:10: "target" must be three numbers, for example [0, 1, 0], not an array of 2"#,
    ),
    (
        "fraction of a sample",
        Scene("spp = 2", "spp = 2.5"),
        r#"scene.toml:3:7: "spp" must be a whole number between 1 and 1073741824, not 2.5"#,
    ),
    (
        "no samples",
        Scene("spp = 2", "spp = 0"),
        r#"scene.toml:3:7: "spp" must be a whole number between 1 and 1073741824, not 0"#,
    ),
    (
        "no path",
        Scene("spp = 2", "max_depth = 0"),
        r#"scene.toml:3:13: "max_depth" must be a whole number between 1 and 1000, not 0"#,
    ),
    (
        "negative seed",
        Scene("spp = 2", "seed = -1"),
        r#"scene.toml:3:8: "seed" must be a whole number between 0 and 4294967295, not -1"#,
    ),
    ("nan", Scene("fov = 40", "fov = nan"), r#"scene.toml:8:7: "fov" must be a finite number, not nan"#),
    (
        "infinity",
        Scene("radiance = 0.5", "radiance = inf"),
        r#"scene.toml:11:12: "radiance" must be a finite number, not inf"#,
    ),
    (
        "number beyond all",
        Scene("radius = 0.5", "radius = 1e999"),
        r#"scene.toml:28:10: "radius" must be a finite number, not 1e999"#,
    ),
    (
        "empty image",
        Scene("size = [16, 12]", "size = [0, 12]"),
        "scene.toml:2:8: an image of 0×12 pixels is empty; both sides must be at least 1",
    ),
    (
        "absurd image",
        Scene("size = [16, 12]", "size = [1000000, 1000000]"),
        "scene.toml:2:8: an image of 1000000×1000000 pixels would need 181.9 TiB of memory (200 bytes a pixel); the limit is 64 GiB",
    ),
    (
        "negative width",
        Scene("size = [16, 12]", "width = -16"),
        r#"scene.toml:2:9: "width" must be a whole number that is not negative, not -16"#,
    ),
    (
        "size twice",
        Scene("spp = 2", "height = 12"),
        r#"scene.toml:3:1: "height" is given by "size" already; keep one of them"#,
    ),
    (
        "wide angle",
        Scene("fov = 40", "fov = 180"),
        r#"scene.toml:8:7: "fov" must be above 0 and below 180 degrees, not 180"#,
    ),
    (
        "camera at its target",
        Scene("target = [0, 0, 0]", "target = [0, 1, 5.0]"),
        r#"scene.toml:7:10: "target" is the same point as "position", so the camera has no direction"#,
    ),
    (
        "up along the view",
        Scene("fov = 40", "fov = 40\nup = [0, -2, -10]"),
        r#"scene.toml:9:6: "up" is parallel to the direction from "position" to "target"; turn it aside"#,
    ),
    ("no up", Scene("fov = 40", "fov = 40\nup = [0, 0, 0]"), r#"scene.toml:9:6: "up" is the zero vector"#),
    (
        "negative radiance",
        Scene("radiance = 0.5", "radiance = [1, -2, 1]"),
        r#"scene.toml:11:16: "radiance" must be between 0 and 1e9, not -2"#,
    ),
    (
        "more light out than in",
        Scene("[0.8, 0.7, 0.6]", "[0.8, 1.7, 0.6]"),
        r#"scene.toml:15:21: "reflectance" must be between 0 and 1, not 1.7"#,
    ),
    (
        "not a colour",
        Scene("[0.8, 0.7, 0.6]", "\"#ff00\""),
        r##"scene.toml:15:15: "reflectance" must be a colour: [r, g, b], a number for grey, or "#rrggbb", not the string "#ff00""##,
    ),
    (
        "negative roughness",
        Scene("roughness = 0.3", "roughness = -0.3"),
        r#"scene.toml:21:13: "roughness" must be between 0.01 and 1, not -0.3"#,
    ),
    (
        "three roughnesses",
        Scene("roughness = 0.3", "roughness = [0.3, 0.2, 0.1]"),
        r#"scene.toml:21:13: "roughness" must be a number, or two: along u and along v, not an array of 3"#,
    ),
    (
        "unknown distribution",
        Scene("roughness = 0.3", "roughness = 0.3\ndistribution = \"gxx\""),
        r#"scene.toml:22:16: unknown distribution "gxx"; did you mean "ggx"?"#,
    ),
    (
        "index of refraction of nothing",
        Scene("type = \"diffuse\"\nreflectance = [0.8, 0.7, 0.6]", "type = \"dielectric\"\nior = 0"),
        r#"scene.toml:15:7: "ior" must be between 0.1 and 10, not 0"#,
    ),
    (
        "glass with one side",
        Scene(
            "type = \"diffuse\"\nreflectance = [0.8, 0.7, 0.6]",
            "type = \"dielectric\"\ntwo_sided = false",
        ),
        r#"scene.toml:15:1: material "white" is a dielectric, which light passes from both sides; leave "two_sided" out"#,
    ),
    (
        "glass without a back",
        Scene(
            "type = \"diffuse\"\nreflectance = [0.8, 0.7, 0.6]",
            "type = \"dielectric\"\ncull_backfaces = true",
        ),
        r#"scene.toml:15:1: material "white" is a dielectric, which light leaves through its back; leave "cull_backfaces" out"#,
    ),
    (
        "rough one way",
        Scene("roughness = 0.3", "alpha = [0, 0.3]"),
        r#"scene.toml:21:9: "alpha" is 0 along one direction only; a surface is smooth along both or rough along both"#,
    ),
    (
        "alpha and roughness",
        Scene("roughness = 0.3", "roughness = 0.3\nalpha = 0.09"),
        r#"scene.toml:21:1: material "gold" gives both "roughness" and "alpha"; keep one (alpha = roughness²)"#,
    ),
    (
        "tiny alpha",
        Scene("roughness = 0.3", "alpha = 1e-5"),
        r#"scene.toml:21:9: "alpha" must be between 0.0001 and 1, not 1e-5"#,
    ),
    (
        "no radius",
        Scene("radius = 0.5", "radius = 0"),
        r#"scene.toml:28:10: "radius" must be above 0, not 0"#,
    ),
    (
        "far away",
        Scene("center = [0, 0.5, 0]", "center = [0, 2e9, 0]"),
        r#"scene.toml:27:14: "center" must be between -1e9 and 1e9, not 2e9"#,
    ),
    (
        "rough beyond all",
        Scene("reflectance = [0.8, 0.7, 0.6]", "reflectance = [0.8, 0.7, 0.6]\nroughness = 1.5"),
        r#"scene.toml:16:13: "roughness" must be between 0 and 1, not 1.5"#,
    ),
    (
        "roughness in words",
        Scene("reflectance = [0.8, 0.7, 0.6]", "reflectance = [0.8, 0.7, 0.6]\nroughness = \"rough\""),
        r#"scene.toml:16:13: "roughness" must be a number, or a texture such as { file = "wood.png" }, not the string "rough""#,
    ),
    (
        "opaque beyond all",
        Scene("reflectance = [0.8, 0.7, 0.6]", "reflectance = [0.8, 0.7, 0.6]\nopacity = 1.5"),
        r#"scene.toml:16:11: "opacity" must be between 0 and 1, not 1.5"#,
    ),
    (
        "opacity below 0",
        Scene("reflectance = [0.8, 0.7, 0.6]", "reflectance = [0.8, 0.7, 0.6]\nopacity = -0.5"),
        r#"scene.toml:16:11: "opacity" must be between 0 and 1, not -0.5"#,
    ),
    (
        "opacity as a colour",
        Scene("reflectance = [0.8, 0.7, 0.6]", "reflectance = [0.8, 0.7, 0.6]\nopacity = [1, 1, 0]"),
        r#"scene.toml:16:11: "opacity" must be a number, or a texture such as { file = "wood.png" }, not an array of 3"#,
    ),
    (
        "opacity in words",
        Scene("reflectance = [0.8, 0.7, 0.6]", "reflectance = [0.8, 0.7, 0.6]\nopacity = \"leaf.png\""),
        r#"scene.toml:16:11: "opacity" must be a number, or a texture such as { file = "wood.png" }, not the string "leaf.png""#,
    ),
    (
        "back as an index",
        Scene("reflectance = [0.8, 0.7, 0.6]", "reflectance = [0.8, 0.7, 0.6]\nback = 1"),
        r#"scene.toml:16:8: "back" must be a string, not the number 1"#,
    ),
    (
        "plastic less dense than air",
        Scene(
            "type = \"diffuse\"\nreflectance = [0.8, 0.7, 0.6]",
            "type = \"plastic\"\nreflectance = 0.5\nior = 0.9",
        ),
        r#"scene.toml:16:7: "ior" must be between 1.01 and 10, not 0.9"#,
    ),
    (
        "plastic rough one way",
        Scene(
            "type = \"diffuse\"\nreflectance = [0.8, 0.7, 0.6]",
            "type = \"plastic\"\nreflectance = 0.5\nroughness = [0.1, 0.3]",
        ),
        r#"scene.toml:16:13: "roughness" differs along u and v; the coat of a plastic is as rough along both"#,
    ),
    (
        "plastic alpha one way",
        Scene(
            "type = \"diffuse\"\nreflectance = [0.8, 0.7, 0.6]",
            "type = \"plastic\"\nreflectance = 0.5\nalpha = [0.1, 0.3]",
        ),
        r#"scene.toml:16:9: "alpha" differs along u and v; the coat of a plastic is as rough along both"#,
    ),
    (
        "roughness and alpha of plastic",
        Scene(
            "type = \"diffuse\"\nreflectance = [0.8, 0.7, 0.6]",
            "type = \"plastic\"\nreflectance = 0.5\nroughness = 0.1\nalpha = 0.01",
        ),
        r#"scene.toml:16:1: material "white" gives both "roughness" and "alpha"; keep one (alpha = roughness²)"#,
    ),
    (
        "plastic that reflects too much",
        Scene(
            "type = \"diffuse\"\nreflectance = [0.8, 0.7, 0.6]",
            "type = \"plastic\"\nreflectance = 0.5\nspecular = 2",
        ),
        r#"scene.toml:16:12: "specular" must be between 0 and 1, not 2"#,
    ),
    (
        "nonlinear in numbers",
        Scene(
            "type = \"diffuse\"\nreflectance = [0.8, 0.7, 0.6]",
            "type = \"plastic\"\nreflectance = 0.5\nnonlinear = 1",
        ),
        r#"scene.toml:16:13: "nonlinear" must be true or false, not the number 1"#,
    ),
    (
        "cloth of gold",
        Scene(
            "type = \"diffuse\"\nreflectance = [0.8, 0.7, 0.6]",
            "type = \"sheen\"\ncolor = [1.1, 0.8, 0.2]",
        ),
        r#"scene.toml:15:10: "color" must be between 0 and 1, not 1.1"#,
    ),
    (
        "rougher than cloth",
        Scene("type = \"diffuse\"\nreflectance = [0.8, 0.7, 0.6]", "type = \"sheen\"\nroughness = 2"),
        r#"scene.toml:15:13: "roughness" must be between 0 and 1, not 2"#,
    ),
    (
        "more metal than metal",
        Scene("type = \"diffuse\"\nreflectance = [0.8, 0.7, 0.6]", "type = \"principled\"\nmetallic = 1.1"),
        r#"scene.toml:15:12: "metallic" must be between 0 and 1, not 1.1"#,
    ),
    (
        "base colour beyond white",
        Scene(
            "type = \"diffuse\"\nreflectance = [0.8, 0.7, 0.6]",
            "type = \"principled\"\nbase_color = [2, 0, 0]",
        ),
        r#"scene.toml:15:15: "base_color" must be between 0 and 1, not 2"#,
    ),
    (
        "roughness along two directions",
        Scene(
            "type = \"diffuse\"\nreflectance = [0.8, 0.7, 0.6]",
            "type = \"principled\"\nroughness = [0.1, 0.2]",
        ),
        r#"scene.toml:15:13: "roughness" must be a number, or a texture such as { file = "wood.png" }, not an array of 2"#,
    ),
    (
        "specular beyond all",
        Scene("type = \"diffuse\"\nreflectance = [0.8, 0.7, 0.6]", "type = \"principled\"\nspecular = 1.5"),
        r#"scene.toml:15:12: "specular" must be between 0 and 1, not 1.5"#,
    ),
    (
        "no index of refraction",
        Scene("type = \"diffuse\"\nreflectance = [0.8, 0.7, 0.6]", "type = \"principled\"\nior = 0"),
        r#"scene.toml:15:7: "ior" must be between 0.1 and 10, not 0"#,
    ),
    (
        "gloss in words",
        Scene(
            "type = \"diffuse\"\nreflectance = [0.8, 0.7, 0.6]",
            "type = \"principled\"\nclearcoat_gloss = \"high\"",
        ),
        r#"scene.toml:15:19: "clearcoat_gloss" must be a number, or a texture such as { file = "wood.png" }, not the string "high""#,
    ),
    (
        "more than all of the second",
        Scene(
            "type = \"diffuse\"\nreflectance = [0.8, 0.7, 0.6]",
            "type = \"blend\"\nmaterials = [\"gold\", \"paint\"]\nweight = 1.5\n\n[materials.paint]\ntype = \"diffuse\"\nreflectance = [0.8, 0.7, 0.6]",
        ),
        r#"scene.toml:16:10: "weight" must be between 0 and 1, not 1.5"#,
    ),
    (
        "blend of three",
        Scene(
            "type = \"diffuse\"\nreflectance = [0.8, 0.7, 0.6]",
            "type = \"blend\"\nmaterials = [\"gold\", \"paint\", \"paint\"]\nweight = 0.5\n\n[materials.paint]\ntype = \"diffuse\"\nreflectance = [0.8, 0.7, 0.6]",
        ),
        r#"scene.toml:15:13: "materials" must be the names of two materials, not an array of 3"#,
    ),
    (
        "blend of one",
        Scene(
            "type = \"diffuse\"\nreflectance = [0.8, 0.7, 0.6]",
            "type = \"blend\"\nmaterials = \"gold\"\nweight = 0.5\n\n[materials.paint]\ntype = \"diffuse\"\nreflectance = [0.8, 0.7, 0.6]",
        ),
        r#"scene.toml:15:13: "materials" must be the names of two materials, not the string "gold""#,
    ),
    (
        "blend of numbers",
        Scene(
            "type = \"diffuse\"\nreflectance = [0.8, 0.7, 0.6]",
            "type = \"blend\"\nmaterials = [1, 2]\nweight = 0.5\n\n[materials.paint]\ntype = \"diffuse\"\nreflectance = [0.8, 0.7, 0.6]",
        ),
        r#"scene.toml:15:14: "materials" must be a string, not the number 1"#,
    ),
    (
        "factor beyond all",
        Scene("reflectance = [0.8, 0.7, 0.6]", "reflectance = { factor = 2, file = \"a.png\" }"),
        r#"scene.toml:15:36: cannot read image "a.png": no such file"#,
    ),
    (
        "wrapped another way",
        Scene("reflectance = [0.8, 0.7, 0.6]", "reflectance = { wrap = \"tile\", file = \"a.png\" }"),
        r#"scene.toml:15:24: unknown wrap "tile"; it is "repeat", "mirror" or "clamp""#,
    ),
    (
        "channel that is none",
        Scene(
            "reflectance = [0.8, 0.7, 0.6]",
            "reflectance = [0.8, 0.7, 0.6]\nopacity = { channel = \"alpha\", file = \"a.png\" }",
        ),
        r#"scene.toml:16:23: unknown channel "alpha"; it is "r", "g", "b", "a" or "rgb""#,
    ),
    (
        "map in words",
        Scene("reflectance = [0.8, 0.7, 0.6]", "reflectance = [0.8, 0.7, 0.6]\nnormal_map = \"a.png\""),
        r#"scene.toml:16:14: "normal_map" must be a table, not the string "a.png""#,
    ),
];
