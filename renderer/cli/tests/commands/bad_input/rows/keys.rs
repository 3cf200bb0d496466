//! Keys and names: misspelt, unknown, missing, or in conflict with each other.

use super::Row;
use super::Wrong::{Scene, WholeScene};

pub(crate) const KEYS: &[Row<'_>] = &[
    (
        "misspelt key",
        Scene("spp = 2", "ssp = 2"),
        r#"scene.toml:3:1: unknown key "ssp" in [render]; did you mean "spp"?"#,
    ),
    (
        "another program's key",
        Scene("spp = 2", "samples = 2"),
        r#"scene.toml:3:1: unknown key "samples" in [render]; it is called "spp" here"#,
    ),
    (
        "key in the wrong section",
        Scene("spp = 2", "fov = 2"),
        r#"scene.toml:3:1: unknown key "fov" in [render]; it belongs in [camera]"#,
    ),
    (
        "key of another type",
        Scene("type = \"quad\"", "type = \"quad\"\nradius = 1"),
        r#"scene.toml:33:1: unknown key "radius" in shapes[1]; it belongs to shapes of type "sphere""#,
    ),
    (
        "unknown key",
        Scene("spp = 2", "frobnicate = 2"),
        r#"scene.toml:3:1: unknown key "frobnicate" in [render]; valid are "size", "width", "height", "spp", "max_depth", "rr", "sampler", "direct", "lights", "guiding", "guiding_memory", "caustics", "clamp_indirect", "masking" and 6 more"#,
    ),
    (
        "misspelt section",
        Scene("[camera]", "[[shape]]\n[camera]"),
        r#"scene.toml:5:3: unknown key "shape" in the scene; did you mean "shapes"?"#,
    ),
    (
        "transform outside transform",
        Scene("name = \"floor\"", "rotate = 3"),
        r#"scene.toml:31:1: unknown key "rotate" in shapes[1]; it belongs in a "transform", for example transform = [{ translate = [0, 1, 0] }]"#,
    ),
    (
        "unknown material",
        Scene("material = \"gold\"", "material = \"glod\""),
        r#"scene.toml:26:12: unknown material "glod"; did you mean "gold"?"#,
    ),
    (
        "material unlike any",
        Scene("material = \"gold\"", "material = \"velvet\""),
        r#"scene.toml:26:12: unknown material "velvet"; the scene has "white" or "gold""#,
    ),
    (
        "material unlike any, beside one without a name",
        Scene(
            "material = \"gold\"",
            "material = { type = \"diffuse\", reflectance = 0.5 }\n[[shapes]]\ntype = \"quad\"\nmaterial = \"velvet\"",
        ),
        r#"scene.toml:29:12: unknown material "velvet"; the scene has "white" or "gold""#,
    ),
    (
        "material type of daily life",
        Scene("type = \"diffuse\"", "type = \"glass\""),
        r#"scene.toml:14:8: unknown type "glass"; it is called "dielectric" here"#,
    ),
    (
        "unknown material type",
        Scene("type = \"diffuse\"", "type = \"lambert\""),
        r#"scene.toml:14:8: unknown type "lambert"; it is called "diffuse" here"#,
    ),
    (
        "misspelt shape type",
        Scene("type = \"sphere\"", "type = \"shpere\""),
        r#"scene.toml:25:8: unknown type "shpere"; did you mean "sphere"?"#,
    ),
    (
        "unknown sampler",
        Scene("spp = 2", "sampler = \"halton\""),
        r#"scene.toml:3:11: unknown sampler "halton"; it is "sobol", "blue_noise" or "independent""#,
    ),
    (
        "missing key",
        Scene("fov = 40\n", ""),
        r#"scene.toml:5:1: [camera] lacks "fov", for example: fov = 40"#,
    ),
    (
        "missing type",
        Scene("type = \"sphere\"\n", ""),
        r#"scene.toml:23:1: shapes[0] lacks "type", for example: type = "sphere""#,
    ),
    (
        "missing eta",
        Scene("eta = [0.143, 0.375, 1.442]\n", ""),
        r#"scene.toml:17:1: material "gold" lacks "eta", for example: eta = [0.143, 0.375, 1.442]"#,
    ),
    (
        "missing metal",
        Scene("eta = [0.143, 0.375, 1.442]\nk = [3.983, 2.386, 1.603]\n", ""),
        r#"scene.toml:17:1: material "gold" lacks "metal", for example: metal = "gold" (or "eta" and "k")"#,
    ),
    (
        "metal and eta",
        Scene("type = \"conductor\"", "type = \"conductor\"\nmetal = \"gold\""),
        r#"scene.toml:20:1: material "gold" gives both "metal" and "eta"; a metal has its own"#,
    ),
    (
        "misspelt metal",
        Scene("eta = [0.143, 0.375, 1.442]\nk = [3.983, 2.386, 1.603]\n", "metal = \"cooper\"\n"),
        r#"scene.toml:19:9: unknown metal "cooper"; did you mean "copper"?"#,
    ),
    (
        "unknown metal",
        Scene("eta = [0.143, 0.375, 1.442]\nk = [3.983, 2.386, 1.603]\n", "metal = \"unobtainium\"\n"),
        r#"scene.toml:19:9: unknown metal "unobtainium"; it is "aluminium", "brass", "chromium", "cobalt", "copper", "gold", "iridium", "iron", "mercury", "molybdenum", "nickel", "palladium", "platinum", "rhodium" and 21 more"#,
    ),
    (
        "metal of paint",
        Scene("reflectance = [0.8, 0.7, 0.6]", "reflectance = 0.5\nmetal = \"gold\""),
        r#"scene.toml:16:1: unknown key "metal" in material "white"; it belongs to materials of type "conductor""#,
    ),
    (
        "metal as Mitsuba calls it",
        Scene("type = \"conductor\"", "type = \"conductor\"\nmaterial = \"Au\""),
        r#"scene.toml:19:1: unknown key "material" in material "gold"; it is called "metal" here"#,
    ),
    (
        "no camera",
        WholeScene(b"[[shapes]]\ntype = \"quad\"\nemission = 1\n"),
        r#"scene.toml:1:1: the scene has no [camera]; it needs one with "position", "target" and "fov""#,
    ),
    (
        "same name twice",
        Scene("name = \"floor\"", "name = \"ball\""),
        r#"scene.toml:31:8: shapes[0] is named "ball" already"#,
    ),
    (
        "albedo of plastic",
        Scene(
            "type = \"diffuse\"\nreflectance = [0.8, 0.7, 0.6]",
            "type = \"plastic\"\ndiffuse_reflectance = 0.5",
        ),
        r#"scene.toml:13:1: material "white" lacks "reflectance", for example: reflectance = [0.7, 0.1, 0.1]"#,
    ),
    (
        "specular as Mitsuba calls it",
        Scene(
            "type = \"diffuse\"\nreflectance = [0.8, 0.7, 0.6]",
            "type = \"plastic\"\nreflectance = 0.5\nspecular_reflectance = 0.5",
        ),
        r#"scene.toml:16:1: unknown key "specular_reflectance" in material "white"; it is called "specular" here"#,
    ),
    (
        "index of refraction as Mitsuba calls it",
        Scene(
            "type = \"diffuse\"\nreflectance = [0.8, 0.7, 0.6]",
            "type = \"plastic\"\nreflectance = 0.5\nint_ior = 1.5",
        ),
        r#"scene.toml:16:1: unknown key "int_ior" in material "white"; it is called "ior" here"#,
    ),
    (
        "plastic without a base",
        Scene("type = \"diffuse\"\nreflectance = [0.8, 0.7, 0.6]", "type = \"plastic\""),
        r#"scene.toml:13:1: material "white" lacks "reflectance", for example: reflectance = [0.7, 0.1, 0.1]"#,
    ),
    (
        "colour of cloth",
        Scene("type = \"diffuse\"\nreflectance = [0.8, 0.7, 0.6]", "type = \"sheen\"\nalbedo = 0.5"),
        r#"scene.toml:15:1: unknown key "albedo" in material "white"; it is called "color" here"#,
    ),
    (
        "base colour as others call it",
        Scene("type = \"diffuse\"\nreflectance = [0.8, 0.7, 0.6]", "type = \"principled\"\nalbedo = 0.5"),
        r#"scene.toml:15:1: unknown key "albedo" in material "white"; it is called "base_color" here"#,
    ),
    (
        "transmission",
        Scene("type = \"diffuse\"\nreflectance = [0.8, 0.7, 0.6]", "type = \"principled\"\ntransmission = 1"),
        r#"scene.toml:15:1: unknown key "transmission" in material "white"; it is called "spec_trans" here"#,
    ),
    (
        "metalness",
        Scene("type = \"diffuse\"\nreflectance = [0.8, 0.7, 0.6]", "type = \"principled\"\nmetalness = 1"),
        r#"scene.toml:15:1: unknown key "metalness" in material "white"; it is called "metallic" here"#,
    ),
    (
        "subsurface",
        Scene("type = \"diffuse\"\nreflectance = [0.8, 0.7, 0.6]", "type = \"principled\"\nsubsurface = 1"),
        r#"scene.toml:15:1: unknown key "subsurface" in material "white"; it is called "flatness" here"#,
    ),
    (
        "anisotropy",
        Scene("type = \"diffuse\"\nreflectance = [0.8, 0.7, 0.6]", "type = \"principled\"\nanisotropy = 1"),
        r#"scene.toml:15:1: unknown key "anisotropy" in material "white"; it is called "anisotropic" here"#,
    ),
    (
        "roughness of the coat",
        Scene(
            "type = \"diffuse\"\nreflectance = [0.8, 0.7, 0.6]",
            "type = \"principled\"\nclearcoat_roughness = 0.1",
        ),
        r#"scene.toml:15:1: unknown key "clearcoat_roughness" in material "white"; there is "clearcoat_gloss" here, which is the opposite"#,
    ),
    (
        "misspelt key of the principled model",
        Scene("type = \"diffuse\"\nreflectance = [0.8, 0.7, 0.6]", "type = \"principled\"\nclaercoat = 1"),
        r#"scene.toml:15:1: unknown key "claercoat" in material "white"; did you mean "clearcoat"?"#,
    ),
    (
        "alpha of the principled model",
        Scene("type = \"diffuse\"\nreflectance = [0.8, 0.7, 0.6]", "type = \"principled\"\nalpha = 0.1"),
        r#"scene.toml:15:1: unknown key "alpha" in material "white"; it belongs to materials of type "conductor""#,
    ),
    (
        "clear coat of paint",
        Scene("reflectance = [0.8, 0.7, 0.6]", "reflectance = [0.8, 0.7, 0.6]\nclearcoat = 1"),
        r#"scene.toml:16:1: unknown key "clearcoat" in material "white"; it belongs to materials of type "principled""#,
    ),
    (
        "mask",
        Scene("reflectance = [0.8, 0.7, 0.6]", "reflectance = [0.8, 0.7, 0.6]\nmask = 0.5"),
        r#"scene.toml:16:1: unknown key "mask" in material "white"; it is called "opacity" here"#,
    ),
    (
        "transparency",
        Scene("reflectance = [0.8, 0.7, 0.6]", "reflectance = [0.8, 0.7, 0.6]\ntransparency = 0.5"),
        r#"scene.toml:16:1: unknown key "transparency" in material "white"; there is "opacity" here, which is the opposite"#,
    ),
    (
        "misspelt opacity",
        Scene("reflectance = [0.8, 0.7, 0.6]", "reflectance = [0.8, 0.7, 0.6]\nopactiy = 0.5"),
        r#"scene.toml:16:1: unknown key "opactiy" in material "white"; did you mean "opacity"?"#,
    ),
    (
        "opacity of a shape",
        Scene("material = \"gold\"", "material = \"gold\"\nopacity = 0.5"),
        r#"scene.toml:27:1: unknown key "opacity" in shapes[0]; it belongs in a material"#,
    ),
    (
        "blend without parts",
        Scene("type = \"diffuse\"\nreflectance = [0.8, 0.7, 0.6]", "type = \"blend\"\nweight = 0.5"),
        r#"scene.toml:13:1: material "white" lacks "materials", for example: materials = ["rust", "steel"]"#,
    ),
    (
        "blend without a weight",
        Scene(
            "type = \"diffuse\"\nreflectance = [0.8, 0.7, 0.6]",
            "type = \"blend\"\nmaterials = [\"gold\", \"gold\"]",
        ),
        r#"scene.toml:13:1: material "white" lacks "weight", for example: weight = 0.5 (the part of the second)"#,
    ),
    (
        "weight as Blender calls it",
        Scene(
            "type = \"diffuse\"\nreflectance = [0.8, 0.7, 0.6]",
            "type = \"blend\"\nmaterials = [\"gold\", \"paint\"]\nfac = 0.5\n\n[materials.paint]\ntype = \"diffuse\"\nreflectance = [0.8, 0.7, 0.6]",
        ),
        r#"scene.toml:13:1: material "white" lacks "weight", for example: weight = 0.5 (the part of the second)"#,
    ),
    (
        "unknown part",
        Scene(
            "type = \"diffuse\"\nreflectance = [0.8, 0.7, 0.6]",
            "type = \"blend\"\nmaterials = [\"glod\", \"paint\"]\nweight = 0.5\n\n[materials.paint]\ntype = \"diffuse\"\nreflectance = [0.8, 0.7, 0.6]",
        ),
        r#"scene.toml:15:14: unknown material "glod"; did you mean "gold"?"#,
    ),
    (
        "part unlike any",
        Scene(
            "type = \"diffuse\"\nreflectance = [0.8, 0.7, 0.6]",
            "type = \"blend\"\nmaterials = [\"velvet\", \"paint\"]\nweight = 0.5\n\n[materials.paint]\ntype = \"diffuse\"\nreflectance = [0.8, 0.7, 0.6]",
        ),
        r#"scene.toml:15:14: unknown material "velvet"; the scene has "white", "paint" or "gold""#,
    ),
    (
        "unknown back",
        Scene("reflectance = [0.8, 0.7, 0.6]", "reflectance = [0.8, 0.7, 0.6]\nback = \"glod\""),
        r#"scene.toml:16:8: unknown material "glod"; did you mean "gold"?"#,
    ),
    (
        "blend of itself",
        Scene(
            "type = \"diffuse\"\nreflectance = [0.8, 0.7, 0.6]",
            "type = \"blend\"\nmaterials = [\"white\", \"paint\"]\nweight = 0.5\n\n[materials.paint]\ntype = \"diffuse\"\nreflectance = [0.8, 0.7, 0.6]",
        ),
        r#"scene.toml:13:12: material "white" is made of itself"#,
    ),
    (
        "back that is itself",
        Scene("reflectance = [0.8, 0.7, 0.6]", "reflectance = [0.8, 0.7, 0.6]\nback = \"white\""),
        r#"scene.toml:13:12: material "white" is made of itself"#,
    ),
    (
        "blends of each other",
        Scene(
            "type = \"diffuse\"\nreflectance = [0.8, 0.7, 0.6]",
            "type = \"blend\"\nmaterials = [\"gold\", \"paint\"]\nweight = 0.5\n\n[materials.paint]\ntype = \"blend\"\nmaterials = [\"gold\", \"white\"]\nweight = 0.5",
        ),
        r#"scene.toml:13:12: material "white" is made of itself"#,
    ),
    (
        "blends too deep",
        Scene(
            "type = \"diffuse\"\nreflectance = [0.8, 0.7, 0.6]",
            "type = \"blend\"\nmaterials = [\"gold\", \"1\"]\nweight = 0.5\n\n[materials.1]\ntype = \"blend\"\nmaterials = [\"gold\", \"2\"]\nweight = 0.5\n\n[materials.2]\ntype = \"blend\"\nmaterials = [\"gold\", \"3\"]\nweight = 0.5\n\n[materials.3]\ntype = \"blend\"\nmaterials = [\"gold\", \"4\"]\nweight = 0.5\n\n[materials.4]\ntype = \"blend\"\nmaterials = [\"gold\", \"5\"]\nweight = 0.5\n\n[materials.5]\ntype = \"blend\"\nmaterials = [\"gold\", \"6\"]\nweight = 0.5\n\n[materials.6]\ntype = \"blend\"\nmaterials = [\"gold\", \"7\"]\nweight = 0.5\n\n[materials.7]\ntype = \"blend\"\nmaterials = [\"gold\", \"8\"]\nweight = 0.5\n\n[materials.8]\ntype = \"diffuse\"\nreflectance = [0.8, 0.7, 0.6]",
        ),
        r#"scene.toml:13:12: material "white" nests others more than 7 levels deep"#,
    ),
    (
        "sides of a blend",
        Scene(
            "type = \"diffuse\"\nreflectance = [0.8, 0.7, 0.6]",
            "type = \"blend\"\nmaterials = [\"gold\", \"paint\"]\nweight = 0.5\ntwo_sided = false\n\n[materials.paint]\ntype = \"diffuse\"\nreflectance = [0.8, 0.7, 0.6]",
        ),
        r#"scene.toml:17:1: material "white" is a blend, whose parts have their own sides and maps; leave "two_sided" out"#,
    ),
    (
        "map of a blend",
        Scene(
            "type = \"diffuse\"\nreflectance = [0.8, 0.7, 0.6]",
            "type = \"blend\"\nmaterials = [\"gold\", \"paint\"]\nweight = 0.5\nbump_map = { file = \"bumps.png\" }\n\n[materials.paint]\ntype = \"diffuse\"\nreflectance = [0.8, 0.7, 0.6]",
        ),
        r#"scene.toml:17:1: material "white" is a blend, whose parts have their own sides and maps; leave "bump_map" out"#,
    ),
    (
        "holes of a part",
        Scene(
            "type = \"diffuse\"\nreflectance = [0.8, 0.7, 0.6]",
            "type = \"blend\"\nmaterials = [\"gold\", \"paint\"]\nweight = 0.5\n\n[materials.paint]\ntype = \"diffuse\"\nreflectance = [0.8, 0.7, 0.6]\nopacity = 0.5",
        ),
        r#"scene.toml:13:12: material "paint" has an "opacity", which counts for nothing within material "white"; give that one instead"#,
    ),
    (
        "holes of a back",
        Scene(
            "reflectance = [0.8, 0.7, 0.6]",
            "reflectance = [0.8, 0.7, 0.6]\nback = \"leaf\"\n\n[materials.leaf]\ntype = \"diffuse\"\nreflectance = 0.5\nopacity = 0.5",
        ),
        r#"scene.toml:13:12: material "leaf" has an "opacity", which counts for nothing within material "white"; give that one instead"#,
    ),
    (
        "other back and sides",
        Scene(
            "reflectance = [0.8, 0.7, 0.6]",
            "reflectance = [0.8, 0.7, 0.6]\nback = \"gold\"\ntwo_sided = false",
        ),
        r#"scene.toml:17:1: material "white" has another material on its back; leave "two_sided" out"#,
    ),
    (
        "another back, and none",
        Scene(
            "reflectance = [0.8, 0.7, 0.6]",
            "reflectance = [0.8, 0.7, 0.6]\nback = \"gold\"\ncull_backfaces = true",
        ),
        r#"scene.toml:17:1: material "white" has another material on its back; leave "cull_backfaces" out"#,
    ),
    (
        "no back within another",
        Scene(
            "reflectance = [0.8, 0.7, 0.6]",
            "reflectance = [0.8, 0.7, 0.6]\nback = \"leaf\"\n\n[materials.leaf]\ntype = \"diffuse\"\nreflectance = 0.5\ncull_backfaces = true",
        ),
        r#"scene.toml:13:12: material "leaf" has "cull_backfaces", which counts for nothing within material "white"; give that one instead"#,
    ),
    (
        "no back of what refracts",
        Scene(
            "type = \"diffuse\"\nreflectance = [0.8, 0.7, 0.6]",
            "type = \"principled\"\nspec_trans = 0.5\ncull_backfaces = true",
        ),
        r#"scene.toml:16:1: material "white" has "spec_trans", so that light leaves through its back; leave "cull_backfaces" out"#,
    ),
    (
        "sides of what refracts",
        Scene(
            "type = \"diffuse\"\nreflectance = [0.8, 0.7, 0.6]",
            "type = \"principled\"\nspec_trans = 0.5\ntwo_sided = false",
        ),
        r#"scene.toml:16:1: material "white" has "spec_trans", so that light passes from both sides; leave "two_sided" out"#,
    ),
    (
        "sides of what light passes",
        Scene(
            "type = \"diffuse\"\nreflectance = [0.8, 0.7, 0.6]",
            "type = \"gltf\"\ntransmission = 0.5\ntwo_sided = false",
        ),
        r#"scene.toml:16:1: material "white" has "transmission", so that light passes from both sides; leave "two_sided" out"#,
    ),
    (
        "ior and specular",
        Scene(
            "type = \"diffuse\"\nreflectance = [0.8, 0.7, 0.6]",
            "type = \"principled\"\nior = 1.5\nspecular = 0.5",
        ),
        r#"scene.toml:16:1: material "white" gives both "ior" and "specular"; keep one"#,
    ),
    (
        "normal and bump map",
        Scene(
            "reflectance = [0.8, 0.7, 0.6]",
            "reflectance = [0.8, 0.7, 0.6]\nnormal_map = { file = \"a.png\" }\nbump_map = { file = \"b.png\" }",
        ),
        r#"scene.toml:16:1: material "white" gives both "normal_map" and "bump_map"; keep one"#,
    ),
    (
        "misspelt key of a texture",
        Scene("reflectance = [0.8, 0.7, 0.6]", "reflectance = { flie = \"a.png\" }"),
        r#"scene.toml:15:15: texture "reflectance" lacks "file", for example: file = "wood.png""#,
    ),
    (
        "texture without a file",
        Scene("reflectance = [0.8, 0.7, 0.6]", "reflectance = { scale = 2 }"),
        r#"scene.toml:15:15: texture "reflectance" lacks "file", for example: file = "wood.png""#,
    ),
    (
        "texture that is not there",
        Scene("reflectance = [0.8, 0.7, 0.6]", "reflectance = { file = \"a.png\" }"),
        r#"scene.toml:15:24: cannot read image "a.png": no such file"#,
    ),
    (
        "green of a bump map",
        Scene(
            "reflectance = [0.8, 0.7, 0.6]",
            "reflectance = [0.8, 0.7, 0.6]\nbump_map = { green = \"up\", file = \"a.png\" }",
        ),
        r#"scene.toml:16:14: unknown key "green" in "bump_map"; it belongs in a "normal_map""#,
    ),
];
