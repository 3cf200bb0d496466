//! The table: what is wrong, how it is made so, and what is said about it.

/// How to make the input wrong.
#[derive(Clone, Copy)]
pub(crate) enum Wrong<'a> {
    /// Put the second in the place of the first, which the scene holds once.
    Scene(&'a str, &'a str),
    /// Have this scene instead.
    WholeScene(&'a [u8]),
    /// Have this mesh instead.
    Mesh(&'a [u8]),
    /// Have these arguments after `render`.
    Arguments(&'a [&'a str]),
}

use Wrong::{Arguments, Mesh, Scene, WholeScene};

/// Name of the fault, how it is made, and the expected message.
pub(crate) type Row<'a> = (&'a str, Wrong<'a>, &'a str);

pub(crate) const SYNTAX: &[Row<'_>] = &[
    (
        "unclosed header",
        Scene("[camera]", "[camera"),
        r#"scene.toml:5:8: not valid TOML: unclosed table, expected "]""#,
    ),
    (
        "no value",
        Scene("fov = 40", "fov ="),
        r#"scene.toml:8:6: not valid TOML: there is no value after "=""#,
    ),
    (
        "no equals sign",
        Scene("fov = 40", "fov"),
        r#"scene.toml:8:4: not valid TOML: key with no value, expected "=""#,
    ),
    (
        "unclosed string",
        Scene("\"gold\"\nc", "\"gold\nc"),
        r#"scene.toml:26:17: not valid TOML: this string has no " at its end"#,
    ),
    (
        "duplicate key",
        Scene("fov = 40", "fov = 40\nfov = 41"),
        r#"scene.toml:9:1: not valid TOML: "fov" is defined twice"#,
    ),
    (
        "bare word",
        Scene("fov = 40", "fov = wide"),
        "scene.toml:8:7: not valid TOML: string values must be quoted, expected literal string",
    ),
    (
        "not UTF-8",
        WholeScene(b"[camera]\nup = \"\xe9\"\n"),
        "scene.toml:2:7: not UTF-8: the byte 0xe9 begins no character",
    ),
    (
        "binary file",
        WholeScene(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"),
        "scene.toml:1:1: not UTF-8: the byte 0x89 begins no character",
    ),
    (
        "empty file",
        WholeScene(b""),
        r#"scene.toml:1:1: the scene has no [camera]; it needs one with "position", "target" and "fov""#,
    ),
];

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
        r#"scene.toml:3:1: unknown key "frobnicate" in [render]; valid are "size", "width", "height", "spp", "max_depth", "rr", "sampler", "direct", "masking", "seed", "filter", "sample_border", "hidden_normals", "holes" and 1 more"#,
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
        r#"scene.toml:3:11: unknown sampler "halton"; it is "sobol" or "independent""#,
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
            "reflectance = [0.8, 0.7, 0.6]\nback = \"gold\"\ntwo_sided = true",
        ),
        r#"scene.toml:17:1: material "white" has another material on its back; leave "two_sided" out"#,
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

pub(crate) const SECTIONS: &[Row<'_>] = &[
    (
        "camera of an unknown type",
        Scene("fov = 40", "fov = 40\ntype = \"fisheye\""),
        r#"scene.toml:9:8: unknown type "fisheye"; it is "perspective", "orthographic" or "equirectangular""#,
    ),
    (
        "lens without a radius above 0",
        Scene("fov = 40", "fov = 40\nlens = { radius = 0 }"),
        r#"scene.toml:9:19: "radius" must be above 0, not 0"#,
    ),
    (
        "focus behind the camera",
        Scene("fov = 40", "fov = 40\nlens = { radius = 1, focus = [0, 1, 9] }"),
        r#"scene.toml:9:30: "focus" is not before the camera"#,
    ),
    (
        "orthographic camera with a field of view",
        Scene("fov = 40", "fov = 40\ntype = \"orthographic\"\nsize = 3"),
        r#"scene.toml:8:1: unknown key "fov" in [camera]; it belongs to cameras of type "perspective""#,
    ),
    (
        "unknown pixel filter",
        Scene("spp = 2", "filter = \"lanczos\""),
        r#"scene.toml:3:10: unknown filter "lanczos"; it is "box", "tent", "gaussian", "mitchell" or "blackman_harris""#,
    ),
    (
        "environment of a file that is not there",
        Scene("radiance = 0.5", "file = \"none.exr\""),
        r#"scene.toml:11:8: cannot read image "none.exr": no such file"#,
    ),
    (
        "sun below the horizon",
        Scene("radiance = 0.5", "type = \"sun_sky\"\nsun_direction = [0, -1, 0]"),
        r#"scene.toml:12:17: "sun_direction" points below the horizon, where there is no sky"#,
    ),
    (
        "sky that is scaled",
        Scene("radiance = 0.5", "type = \"sun_sky\"\nsun_direction = [0, 1, 0]\ntransform = [{ scale = 2 }]"),
        r#"scene.toml:13:13: "transform" must turn the environment only: it is infinitely far away, and has no size or place"#,
    ),
    (
        "spot light that ends before it begins to fall off",
        Scene(
            "[[shapes]]\nname = \"ball\"",
            "[[lights]]\ntype = \"spot\"\nposition = [0, 3, 0]\ndirection = [0, -1, 0]\nintensity = 1\ninner = 50\n\n\
             [[shapes]]\nname = \"ball\"",
        ),
        r#"scene.toml:28:9: "inner" must be below "outer", which is 45, not 50"#,
    ),
    (
        "light without a direction",
        Scene(
            "[[shapes]]\nname = \"ball\"",
            "[[lights]]\ntype = \"directional\"\ndirection = [0, 0, 0]\nirradiance = 1\n\n[[shapes]]\nname = \"ball\"",
        ),
        r#"scene.toml:25:13: "direction" has no direction"#,
    ),
    (
        "misspelt texture",
        Scene(
            "[materials.white]\ntype = \"diffuse\"\nreflectance = [0.8, 0.7, 0.6]",
            "[textures.wood]\nfile = \"wood.png\"\n[materials.white]\ntype = \"diffuse\"\nreflectance = \"wod\"",
        ),
        r#"scene.toml:17:15: unknown texture "wod"; did you mean "wood"?"#,
    ),
    (
        "texture of itself",
        Scene(
            "[materials.white]",
            "[textures.a]\ntype = \"product\"\nfactors = [0.5, \"a\"]\n\n[materials.white]",
        ),
        r#"scene.toml:15:17: texture "a" is made of itself"#,
    ),
    (
        "instance of a group that is not there",
        Scene(
            "[[shapes]]\nname = \"ball\"",
            "[[instances]]\ngroup = \"tree\"\n\n[[shapes]]\nname = \"ball\"",
        ),
        r#"scene.toml:24:9: unknown group "tree"; define it with [[groups.tree.shapes]]"#,
    ),
    (
        "portal without right angles",
        Scene(
            "[[shapes]]\nname = \"ball\"",
            "[[portals]]\ncorner = [0, 0, 0]\nedges = [[1, 0, 0], [1, 1, 0]]\n\n[[shapes]]\nname = \"ball\"",
        ),
        r#"scene.toml:25:9: "edges" are not at right angles"#,
    ),
    (
        "misspelt type of a shape's own material",
        Scene("material = \"gold\"", "material = { type = \"difuse\" }"),
        r#"scene.toml:26:21: unknown type "difuse"; did you mean "diffuse"?"#,
    ),
    (
        "cylinder without an axis",
        Scene("type = \"quad\"", "type = \"cylinder\"\nto = [0, 0, 0]"),
        r#"scene.toml:33:6: "from" and "to" are the same point, so the cylinder has no axis"#,
    ),
];

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
        "scene.toml:2:8: an image of 1000000×1000000 pixels would need 160.1 TiB of memory (176 bytes a pixel); the limit is 64 GiB",
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

pub(crate) const SHAPES: &[Row<'_>] = &[
    (
        "no light",
        Scene("radiance = 0.5", "radiance = 0"),
        r#"scene.toml:10:1: the scene has no light, so the image would be black: give a shape an "emission", or [environment] a "radiance" above 0"#,
    ),
    (
        "no shapes",
        WholeScene(
            b"[camera]\nposition = [0, 0, 1]\ntarget = [0, 0, 0]\nfov = 40\n[environment]\nradiance = 1\n",
        ),
        "scene.toml:1:1: the scene has no shapes; add one with [[shapes]]",
    ),
    (
        "shape of nothing",
        Scene("material = \"gold\"\n", ""),
        r#"scene.toml:23:1: shapes[0] has neither a "material" nor an "emission""#,
    ),
    (
        "flat transform",
        Scene("{ scale = 4 }", "{ scale = [4, 0, 4] }"),
        r#"scene.toml:34:28: "scale" of 0 would flatten the shape"#,
    ),
    (
        "scale that is 0 in single precision",
        Scene("{ scale = 4 }", "{ scale = 1e-300 }"),
        r#"scene.toml:34:24: "scale" of 1e-300 would flatten the shape"#,
    ),
    (
        "singular matrix",
        Scene("{ scale = 4 }", "{ matrix = [[1, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]] }"),
        r#"scene.toml:34:13: "transform" flattens the shape: its determinant is 0"#,
    ),
    (
        "matrix of three rows",
        Scene("{ scale = 4 }", "{ matrix = [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0]] }"),
        r#"scene.toml:34:25: "matrix" must be four rows of four numbers, not an array of 3"#,
    ),
    (
        "two steps in one",
        Scene("{ scale = 4 }", "{ scale = 4, translate = [0, 0, 0] }"),
        r#"scene.toml:34:27: a step of "transform" does one thing; write "translate" as a step of its own: [{ scale = … }, { translate = … }]"#,
    ),
    (
        "misspelt step",
        Scene("{ scale = 4 }", "{ scael = 4 }"),
        r#"scene.toml:34:16: unknown key "scael" in a step of "transform"; did you mean "scale"?"#,
    ),
    (
        "unknown axis",
        Scene("axis = \"x\"", "axis = \"w\""),
        r#"scene.toml:34:49: unknown axis "w"; it is "x", "y" or "z""#,
    ),
    (
        "ellipsoid",
        Scene("radius = 0.5", "transform = { scale = [1, 2, 1] }"),
        r#"scene.toml:28:13: shapes[0] is a sphere, which "transform" would make an ellipsoid; scale all axes alike"#,
    ),
    (
        "out of the world",
        Scene("{ scale = 4 }", "{ scale = 4e8 }, { translate = [8e8, 0, 0] }"),
        r#"scene.toml:34:13: shapes[1] reaches beyond 1e9 metres, where single precision fails"#,
    ),
    (
        "quad rounded away",
        Scene("{ scale = 4 }", "{ scale = 0.5 }, { translate = [9e8, 0, 0] }"),
        r#"scene.toml:34:13: shapes[1] is too small for single precision where it stands: it has no area"#,
    ),
    (
        "quad with a side rounded away",
        Scene("{ scale = 4 }", "{ scale = [0.5, 1e5, 1] }, { translate = [9e8, 0, 0] }"),
        r#"scene.toml:34:13: shapes[1] is too small for single precision where it stands: it has no area"#,
    ),
    (
        "box rounded flat",
        Scene(
            "type = \"sphere\"\nmaterial = \"gold\"\ncenter = [0, 0.5, 0]\nradius = 0.5",
            "type = \"box\"\nmaterial = \"gold\"\ntransform = [{ scale = [99, 99, 0.1] }, { translate = [0, 0, -1e8] }]",
        ),
        r#"scene.toml:27:13: shapes[0] is too small for single precision where it stands: it has no area"#,
    ),
    (
        "sphere rounded away",
        Scene("center = [0, 0.5, 0]\nradius = 0.5", "center = [1e8, 1e8, 1e8]\nradius = 5"),
        r#"scene.toml:28:10: shapes[0] is too small for single precision so far from the origin; its radius must be at least 95.37"#,
    ),
    (
        "sphere moved and scaled away",
        Scene("radius = 0.5", "transform = [{ scale = 0.01 }, { translate = [0, 0, -2e6] }]"),
        r#"scene.toml:28:13: shapes[0] is too small for single precision so far from the origin; its radius must be at least 190.8"#,
    ),
    (
        "misspelt mesh file",
        Scene("tile.obj", "tiel.obj"),
        r#"scene.toml:39:8: cannot read mesh file "tiel.obj": no such file; did you mean "tile.obj"?"#,
    ),
    (
        "no mesh file",
        Scene("tile.obj", "elephant.obj"),
        r#"scene.toml:39:8: cannot read mesh file "elephant.obj": no such file"#,
    ),
    (
        "no folder of meshes",
        Scene("tile.obj", "meshes/tile.obj"),
        r#"scene.toml:39:8: cannot read mesh file "meshes/tile.obj": there is no folder "meshes""#,
    ),
    (
        "folder for a mesh",
        Scene("tile.obj", "folder.obj"),
        r#"scene.toml:39:8: cannot read mesh file "folder.obj": it is a directory"#,
    ),
    (
        "other mesh format",
        Scene("tile.obj", "tile.stl"),
        r#"scene.toml:39:8: mesh file "tile.stl" is neither an .obj nor a .ply file"#,
    ),
];

pub(crate) const MESHES: &[Row<'_>] = &[
    (
        "NaN",
        Mesh(b"v 0 0 0\nv 1 nan 0\nv 0 1 0\nf 1 2 3\n"),
        "tile.obj:2:5: a coordinate of this vertex is not a number (NaN)",
    ),
    (
        "infinity",
        Mesh(b"v 0 0 0\nv 1 0 -inf\nv 0 1 0\nf 1 2 3\n"),
        "tile.obj:2:7: a coordinate of this vertex is infinite",
    ),
    (
        "overflow",
        Mesh(b"v 0 0 0\nv 1 0 1e40\nv 0 1 0\nf 1 2 3\n"),
        "tile.obj:2:7: a coordinate of this vertex is infinite",
    ),
    (
        "far vertex",
        Mesh(b"v 0 0 0\nv 1e10 0 0\nv 0 1 0\nf 1 2 3\n"),
        r#"tile.obj:2:3: the coordinate "1e10" is beyond ±1e9"#,
    ),
    ("not a number", Mesh(b"v 0 0 0\nv 1 O 0\nv 0 1 0\nf 1 2 3\n"), r#"tile.obj:2:5: "O" is not a number"#),
    (
        "not UTF-8 in a number",
        Mesh(b"v 0 0 0\nv 1 \xff 0\nv 0 1 0\nf 1 2 3\n"),
        "tile.obj:2:5: \"\u{fffd}\" is not a number",
    ),
    (
        "two coordinates",
        Mesh(b"v 0 0 0\nv 1 0\nv 0 1 0\nf 1 2 3\n"),
        "tile.obj:2:1: a vertex has three coordinates, and this one has 2",
    ),
    (
        "index too large",
        Mesh(b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 4\n"),
        "tile.obj:4:7: the vertex index 4 is out of range; the file has 3",
    ),
    (
        "index too far back",
        Mesh(b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf -1 -2 -4\n"),
        "tile.obj:4:9: the vertex index -4 is out of range; up to here the file has 3",
    ),
    (
        "index zero",
        Mesh(b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 0 1 2\n"),
        "tile.obj:4:3: the vertex index is 0; they begin at 1",
    ),
    (
        "normal that is not there",
        Mesh(b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1//1 2//1 3//1\n"),
        "tile.obj:4:3: the normal index 1 is out of range; the file has 0",
    ),
    (
        "texture coordinate NaN",
        Mesh(b"v 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 nan\nf 1/1 2/1 3/1\n"),
        "tile.obj:4:6: a coordinate of this texture vertex is not a number (NaN)",
    ),
    (
        "texture coordinate infinite",
        Mesh(b"v 0 0 0\nv 1 0 0\nv 0 1 0\nvt -inf 0\nf 1/1 2/1 3/1\n"),
        "tile.obj:4:4: a coordinate of this texture vertex is infinite",
    ),
    (
        "texture coordinate too large",
        Mesh(b"v 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 -1e10\nf 1/1 2/1 3/1\n"),
        r#"tile.obj:4:6: the coordinate "-1e10" is beyond ±1e9"#,
    ),
    (
        "texture coordinate of one number",
        Mesh(b"v 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0.5\nf 1/1 2/1 3/1\n"),
        "tile.obj:4:1: a texture vertex has two coordinates, and this one has 1",
    ),
    (
        "texture coordinates that are not there",
        Mesh(b"v 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\nf 1/1 2/2 3/1\n"),
        "tile.obj:5:7: the texture coordinate index 2 is out of range; the file has 1",
    ),
    (
        "index not whole",
        Mesh(b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3.0\n"),
        r#"tile.obj:4:7: "3.0" is not an index"#,
    ),
    (
        "two corners",
        Mesh(b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2\n"),
        "tile.obj:4:1: a face has at least three vertices, and this one has 2",
    ),
    ("empty mesh", Mesh(b""), "tile.obj:1:1: the mesh is empty: there are no faces"),
    (
        "vertices only",
        Mesh(b"v 0 0 0\nv 1 0 0\nv 0 1 0\n"),
        "tile.obj:1:1: the mesh is empty: there are no faces",
    ),
    (
        "one flat triangle",
        Mesh(b"v 0 0 0\nv 1 0 0\nv 2 0 0\nf 1 2 3\n"),
        r#"scene.toml:39:8: mesh file "tile.obj" holds 1 triangle, which has no area"#,
    ),
    (
        "flat triangles only",
        Mesh(b"v 0 0 0\nv 1 0 0\nv 2 0 0\nf 1 2 3\nf 1 1 2\n"),
        r#"scene.toml:39:8: mesh file "tile.obj" holds 2 triangles, none of which has an area"#,
    ),
];

/// In the place of the roughness of gold, all of which stands on line 21.
pub(crate) const TEXTURES: &[Row<'_>] = &[
    (
        "misspelt image",
        Scene("roughness = 0.3", r#"roughness = { file = "wod.png" }"#),
        r#"scene.toml:21:22: cannot read image "wod.png": no such file; did you mean "wood.png"?"#,
    ),
    (
        "image in no folder",
        Scene("roughness = 0.3", r#"roughness = { file = "nowhere/wood.png" }"#),
        r#"scene.toml:21:22: cannot read image "nowhere/wood.png": there is no folder "nowhere""#,
    ),
    (
        "folder for an image",
        Scene("roughness = 0.3", r#"roughness = { file = "folder.png" }"#),
        r#"scene.toml:21:22: cannot read image "folder.png": it is a directory"#,
    ),
    (
        "mesh for an image",
        Scene("roughness = 0.3", r#"roughness = { file = "tile.obj" }"#),
        r#"scene.toml:21:22: cannot read image "tile.obj": it is no image that is read; PNG, JPEG, BMP, PNM, HDR, PFM, OpenEXR and TGA files are"#,
    ),
    (
        "empty image file",
        Scene("roughness = 0.3", r#"roughness = { file = "empty.png" }"#),
        r#"scene.toml:21:22: cannot read image "empty.png": it is empty"#,
    ),
    (
        "image of another format",
        Scene("roughness = 0.3", r#"roughness = { file = "moving.gif" }"#),
        r#"scene.toml:21:22: cannot read image "moving.gif": it is in the format Gif, which is not read; PNG, JPEG, BMP, PNM, HDR, PFM, OpenEXR and TGA files are"#,
    ),
    (
        "image cut off",
        Scene("roughness = 0.3", r#"roughness = { file = "cut.png" }"#),
        r#"scene.toml:21:22: cannot read image "cut.png": the PNG file ends too early"#,
    ),
    (
        "image without pixels",
        Scene("roughness = 0.3", r#"roughness = { file = "hollow.png" }"#),
        r#"scene.toml:21:22: cannot read image "hollow.png": the PNG file cannot be decoded: "Invalid image dimensions""#,
    ),
    (
        "image too long",
        Scene("roughness = 0.3", r#"roughness = { file = "long.png" }"#),
        r#"scene.toml:21:22: cannot read image "long.png": it has 100000×1 pixels; the most is 32767 along a side"#,
    ),
    (
        "image too large",
        Scene("roughness = 0.3", r#"roughness = { file = "huge.png" }"#),
        r#"scene.toml:21:22: cannot read image "huge.png": it has 30000×30000 pixels; the most is 268435456 in all"#,
    ),
    (
        "image of no numbers",
        Scene("roughness = 0.3", r#"roughness = { file = "nan.exr" }"#),
        r#"scene.toml:21:22: cannot read image "nan.exr": the pixel in column 1 of row 0 is not a number (NaN)"#,
    ),
    (
        "no alpha",
        Scene("roughness = 0.3", r#"roughness = { file = "wood.png", channel = "a" }"#),
        r#"scene.toml:21:22: cannot read image "wood.png": it has no alpha"#,
    ),
    (
        "texture without a file",
        Scene("roughness = 0.3", r#"roughness = { wrap = "clamp" }"#),
        r#"scene.toml:21:13: texture "roughness" lacks "file", for example: file = "wood.png""#,
    ),
    (
        "number for an image",
        Scene("roughness = 0.3", r#"roughness = { file = 3 }"#),
        r#"scene.toml:21:22: "file" must be a string, not the number 3"#,
    ),
    (
        "misspelt key of a texture",
        Scene("roughness = 0.3", r#"roughness = { file = "wood.png", filtre = "nearest" }"#),
        r#"scene.toml:21:34: unknown key "filtre" in texture "roughness"; did you mean "filter"?"#,
    ),
    (
        "another program's key of a texture",
        Scene("roughness = 0.3", r#"roughness = { filename = "wood.png" }"#),
        r#"scene.toml:21:13: texture "roughness" lacks "file", for example: file = "wood.png""#,
    ),
    (
        "unknown filter",
        Scene("roughness = 0.3", r#"roughness = { file = "wood.png", filter = "cubic" }"#),
        r#"scene.toml:21:43: unknown filter "cubic"; it is "linear", "nearest" or "mipmap""#,
    ),
    (
        "unknown wrap",
        Scene("roughness = 0.3", r#"roughness = { file = "wood.png", wrap = "tile" }"#),
        r#"scene.toml:21:41: unknown wrap "tile"; it is "repeat", "mirror" or "clamp""#,
    ),
    (
        "three ways to wrap",
        Scene("roughness = 0.3", r#"roughness = { file = "wood.png", wrap = ["clamp", "clamp", "clamp"] }"#),
        r#"scene.toml:21:41: "wrap" must be a word, or two: for u and for v, not an array of 3"#,
    ),
    (
        "unknown colour space",
        Scene("roughness = 0.3", r#"roughness = { file = "wood.png", color_space = "rec2020" }"#),
        r#"scene.toml:21:48: unknown color_space "rec2020"; it is "srgb" or "linear""#,
    ),
    (
        "unknown channel",
        Scene("roughness = 0.3", r#"roughness = { file = "wood.png", channel = "red" }"#),
        r#"scene.toml:21:44: unknown channel "red"; it is "r", "g", "b", "a" or "rgb""#,
    ),
    (
        "factor too large",
        Scene("roughness = 0.3", r#"roughness = { file = "wood.png", factor = 1.5 }"#),
        r#"scene.toml:21:43: "factor" must be between 0.01 and 1, not 1.5"#,
    ),
    (
        "factor of roughness 0",
        Scene("roughness = 0.3", r#"roughness = { file = "wood.png", factor = 0 }"#),
        r#"scene.toml:21:43: "factor" must be between 0.01 and 1, not 0"#,
    ),
    (
        "colour for a factor",
        Scene("roughness = 0.3", r#"roughness = { file = "wood.png", factor = [1, 1, 1] }"#),
        r#"scene.toml:21:43: "factor" must be a number, not an array of 3"#,
    ),
    (
        "scale without end",
        Scene("roughness = 0.3", r#"roughness = { file = "wood.png", scale = inf }"#),
        r#"scene.toml:21:42: "scale" must be a finite number, not inf"#,
    ),
    (
        "offset of three",
        Scene("roughness = 0.3", r#"roughness = { file = "wood.png", offset = [1, 2, 3] }"#),
        r#"scene.toml:21:43: "offset" must be a number, or two: for u and for v, not an array of 3"#,
    ),
    (
        "rotation of a word",
        Scene("roughness = 0.3", r#"roughness = { file = "wood.png", rotate = "left" }"#),
        r#"scene.toml:21:43: "rotate" must be a number, not the string "left""#,
    ),
    (
        "texture on a mesh without texture coordinates",
        Scene("reflectance = [0.8, 0.7, 0.6]", "reflectance = { file = \"wood.png\" }"),
        r#"scene.toml:40:12: material "white" has textures, and mesh "tile.obj" has no texture coordinates (vt) to place them by"#,
    ),
    (
        "normal map on a mesh without texture coordinates",
        Scene("reflectance = [0.8, 0.7, 0.6]", "reflectance = 0.5\nnormal_map = { file = \"wood.png\" }"),
        r#"scene.toml:41:12: material "white" has textures, and mesh "tile.obj" has no texture coordinates (vt) to place them by"#,
    ),
    (
        "factor of a colour below 0",
        Scene("reflectance = [0.8, 0.7, 0.6]", "reflectance = { file = \"wood.png\", factor = [1, -1, 1] }"),
        r#"scene.toml:15:49: "factor" must be between 0 and 1, not -1"#,
    ),
    (
        "texture of an index of refraction",
        Scene("eta = [0.143, 0.375, 1.442]", "eta = { file = \"wood.png\" }"),
        r##"scene.toml:19:7: "eta" must be a colour: [r, g, b], a number for grey, or "#rrggbb", not a table"##,
    ),
    (
        "normal map and bump map",
        Scene(
            "roughness = 0.3",
            "roughness = 0.3\nnormal_map = { file = \"wood.png\" }\nbump_map = { file = \"wood.png\" }",
        ),
        r#"scene.toml:22:1: material "gold" gives both "normal_map" and "bump_map"; keep one"#,
    ),
    (
        "name for a normal map",
        Scene("roughness = 0.3", "roughness = 0.3\nnormal_map = \"wood.png\""),
        r#"scene.toml:22:14: "normal_map" must be a table, not the string "wood.png""#,
    ),
    (
        "factor of a normal map",
        Scene("roughness = 0.3", "roughness = 0.3\nnormal_map = { file = \"wood.png\", factor = 2 }"),
        r#"scene.toml:22:35: unknown key "factor" in "normal_map"; it is called "strength" here"#,
    ),
    (
        "unknown green",
        Scene("roughness = 0.3", "roughness = 0.3\nnormal_map = { file = \"wood.png\", green = \"left\" }"),
        r#"scene.toml:22:43: unknown green "left"; it is "up", "down", "across" or "against""#,
    ),
    (
        "green of a bump map",
        Scene("roughness = 0.3", "roughness = 0.3\nbump_map = { file = \"wood.png\", green = \"up\" }"),
        r#"scene.toml:22:33: unknown key "green" in "bump_map"; it belongs in a "normal_map""#,
    ),
    (
        "heights that are absurd",
        Scene("roughness = 0.3", "roughness = 0.3\nbump_map = { file = \"high.exr\" }"),
        r#"scene.toml:22:21: cannot read image "high.exr": the height in column 1 of row 0 is 1e30; the most is 1e9"#,
    ),
];

/// Samples that would take days, so that a fault found only after rendering does not pass for one found before.
pub(crate) const DAYS: &str = "--spp=1000000000";

pub(crate) const COMMAND_LINE: &[Row<'_>] = &[
    (
        "no such scene",
        Arguments(&["scnee.toml", "-o", "out.png"]),
        r#"scnee.toml: cannot read the scene: no such file; did you mean "scene.toml"?"#,
    ),
    (
        "no such folder",
        Arguments(&["nowhere/scene.toml", "-o", "out.png"]),
        r#"nowhere/scene.toml: cannot read the scene: there is no folder "nowhere""#,
    ),
    (
        "folder for a scene",
        Arguments(&["folder", "-o", "out.png"]),
        "folder: cannot read the scene: it is a directory",
    ),
    (
        "other scene format",
        Arguments(&["scene.pbrt", "-o", "out.png"]),
        "scene.pbrt: scenes are .toml, .xml, .gltf, .glb, .obj or .ply files; .pbrt files are not read",
    ),
    (
        "layers without a file for them",
        Arguments(&["scene.toml", "-o", "out.png", "--aov", "N", DAYS]),
        "--aov: only EXR files hold layers, and none is written; add -o image.exr",
    ),
    (
        "misspelt layer",
        Arguments(&["scene.toml", "-o", "out.exr", "--aov", "N,albdo", DAYS]),
        r#"invalid value 'N,albdo' for '--aov <LAYERS>': unknown layer "albdo"; did you mean "albedo"?"#,
    ),
    (
        "layer by another's name",
        Arguments(&["scene.toml", "-o", "out.exr", "--aov", "depth", DAYS]),
        r#"invalid value 'depth' for '--aov <LAYERS>': "depth" is called "Z" here"#,
    ),
    (
        "no such output folder",
        Arguments(&["scene.toml", "-o", "nowhere/out.png", DAYS]),
        r#"output "nowhere/out.png": directory "nowhere" does not exist; create it first"#,
    ),
    (
        "file for an output folder",
        Arguments(&["scene.toml", "-o", "tile.obj/out.png", DAYS]),
        r#"output "tile.obj/out.png": "tile.obj" is not a directory"#,
    ),
    (
        "folder for an output",
        Arguments(&["scene.toml", "-o", "folder.png", DAYS]),
        r#"output "folder.png": is a directory"#,
    ),
    (
        "misspelt extension",
        Arguments(&["scene.toml", "-o", "out.pgn", DAYS]),
        r#"output "out.pgn": unknown file extension .pgn; did you mean .png? (there are .png, .exr, .hdr and .pfm)"#,
    ),
    (
        "unknown extension",
        Arguments(&["scene.toml", "-o", "out.docx", DAYS]),
        r#"output "out.docx": unknown file extension .docx; use .png, .exr, .hdr or .pfm"#,
    ),
    (
        "no extension",
        Arguments(&["scene.toml", "-o", "out", DAYS]),
        r#"output "out": the file name needs an extension: .png, .exr, .hdr or .pfm"#,
    ),
    (
        "same output twice",
        Arguments(&["scene.toml", "-o", "out.png", "-o", "./out.png", DAYS]),
        r#"output "./out.png": given twice"#,
    ),
    (
        "empty size",
        Arguments(&["scene.toml", "-o", "out.png", "--size", "0x0"]),
        "invalid value '0x0' for '--size <WxH>': an image of 0×0 pixels is empty; both sides must be at least 1",
    ),
    (
        "absurd size",
        Arguments(&["scene.toml", "-o", "out.png", "--size", "1000000x1000000"]),
        "invalid value '1000000x1000000' for '--size <WxH>': an image of 1000000×1000000 pixels would need 160.1 TiB of memory (176 bytes a pixel); the limit is 64 GiB",
    ),
    (
        "no size",
        Arguments(&["scene.toml", "-o", "out.png", "--size", "big"]),
        "invalid value 'big' for '--size <WxH>': expected WIDTHxHEIGHT in pixels, as in 1280x720",
    ),
    (
        "no samples",
        Arguments(&["scene.toml", "-o", "out.png", "--spp", "0"]),
        "invalid value '0' for '--spp <N>': expected a whole number from 1 to 1073741824",
    ),
    (
        "negative samples",
        Arguments(&["scene.toml", "-o", "out.png", "--spp", "-4"]),
        "invalid value '-4' for '--spp <N>': expected a whole number from 1 to 1073741824",
    ),
    (
        "negative seed",
        Arguments(&["scene.toml", "-o", "out.png", "--seed", "-1"]),
        "invalid value '-1' for '--seed <N>': expected a whole number from 0 to 4294967295",
    ),
    (
        "negative roulette",
        Arguments(&["scene.toml", "-o", "out.png", "--rr-depth", "-1"]),
        "invalid value '-1' for '--rr-depth <N>': expected a whole number from 0 to 1000, or off",
    ),
    (
        "negative time",
        Arguments(&["scene.toml", "-o", "out.png", "--time", "-2"]),
        "invalid value '-2' for '--time <TIME>': a time budget must be longer than 0",
    ),
    (
        "a parameter without a value",
        Arguments(&["scene.toml", "-o", "out.png", "--set", "camera.fov"]),
        "invalid value 'camera.fov' for '--set <PATH=VALUE>': expected PATH=VALUE, as in materials.ball.roughness=0.3",
    ),
    (
        "a value without a parameter",
        Arguments(&["scene.toml", "-o", "out.png", "--set", "=0.3"]),
        "invalid value '=0.3' for '--set <PATH=VALUE>': expected PATH=VALUE, as in materials.ball.roughness=0.3",
    ),
    (
        "parameters that are wrong together",
        Arguments(&[
            "scene.toml",
            "-o",
            "out.png",
            "--set",
            "materials.gold.eta=0",
            "--set",
            "materials.gold.k=0",
        ]),
        r#"--set materials.gold.eta=0 --set materials.gold.k=0: "eta" and "k" are both 0 in the same channel; no material is like that"#,
    ),
    ("no output", Arguments(&["scene.toml"]), "the following required arguments were not provided:"),
    (
        "unknown option",
        Arguments(&["scene.toml", "-o", "out.png", "--ssp", "4"]),
        "unexpected argument '--ssp' found",
    ),
    (
        "unknown device",
        Arguments(&["scene.toml", "-o", "out.png", "--device", "tpu"]),
        "invalid value 'tpu' for '--device <DEVICE>': expected auto, cpu, cuda, or cuda:N as in cuda:1 (`torrance info` lists the devices)",
    ),
];

/// Argument of `--set`, and the expected message.
pub(crate) const SETTINGS: &[(&str, &str)] = &[
    ("materials.glod.roughness=0.3", r#"no "materials.glod"; did you mean "materials.gold"?"#),
    (
        "materials.gold.rougness=0.3",
        r#"no "materials.gold.rougness"; did you mean "materials.gold.roughness"?"#,
    ),
    (
        "materials.gold.color=0.3",
        r#"no "materials.gold.color"; it is for type "sheen", and this is "conductor""#,
    ),
    (
        "materials.gold.reflectance=0.3",
        r#"no "materials.gold.reflectance"; it is for type "diffuse" or "plastic", and this is "conductor""#,
    ),
    (
        "materials.gold.denoise=0.3",
        r#"no "materials.gold.denoise"; "materials.gold" has "type", "two_sided", "back", "opacity", "holes_emit", "normal_map", "bump_map", "metal", "eta", "k", "roughness", "alpha", "distribution", "scattering" and 1 more"#,
    ),
    ("materials.gold.roughness=2", r#""roughness" is 0, or from 0.01 to 1, or [u, v]"#),
    ("materials.gold.roughness=0.001", r#""roughness" is 0, or from 0.01 to 1, or [u, v]"#),
    ("materials.gold.roughness=wood", r#""roughness" is 0, or from 0.01 to 1, or [u, v]"#),
    ("materials.gold.roughness=[0.1, 0.2, 0.3]", r#""roughness" is 0, or from 0.01 to 1, or [u, v]"#),
    (
        "materials.gold.roughness.2=0.3",
        r#"no "materials.gold.roughness.2"; "materials.gold.roughness" has parts 0 to 1"#,
    ),
    (
        "materials.gold.scattering=compensatde",
        r#"unknown scattering "compensatde"; did you mean "compensated"?"#,
    ),
    (
        "materials.gold.metal=unobtainium",
        r#"unknown metal "unobtainium"; it is "aluminium", "brass", "chromium", "cobalt", "copper", "gold", "iridium", "iron", "mercury", "molybdenum", "nickel", "palladium", "platinum", "rhodium" and 21 more"#,
    ),
    (
        "materials.gold.type=metal",
        r#"unknown type "metal"; it is "diffuse", "conductor", "dielectric", "thin_dielectric", "plastic", "sheen", "principled", "gltf" or "blend""#,
    ),
    ("materials.white.reflectance=2", r#""reflectance" is from 0 to 1, [r, g, b] or #rrggbb"#),
    ("materials.white.reflectance=#12", r#""reflectance" is from 0 to 1, [r, g, b] or #rrggbb"#),
    ("materials.white.reflectance=[1, 1]", r#""reflectance" is from 0 to 1, [r, g, b] or #rrggbb"#),
    (
        "materials.white.reflectance.g=0.5",
        r#"no "materials.white.reflectance.g"; "materials.white.reflectance" has parts 0 to 2"#,
    ),
    ("materials.white.two_sided=maybe", r#""two_sided" is true or false"#),
    ("matreials.gold.roughness=0.3", r#"no "matreials"; did you mean "materials"?"#),
    ("material.gold.roughness=0.3", r#"no "material"; did you mean "materials"?"#),
    (
        "gold.roughness=0.3",
        r#"no "gold"; a scene has "render", "camera", "environment", "lights", "portals", "textures", "materials", "shapes", "groups" and "instances""#,
    ),
    ("shapes.bal.radius=1", r#"no "shapes.bal"; did you mean "shapes.ball"?"#),
    ("shapes.3.radius=1", r#"no "shapes.3"; "shapes" has "ball", "floor" and "tile""#),
    ("shapes.ball.radius=0", r#""radius" goes from 1e-9 to 1e9"#),
    ("shapes.ball.material=wihte", r#"unknown material "wihte"; did you mean "white"?"#),
    (
        "shapes.ball.material.roughness=0.3",
        r#"no "shapes.ball.material.roughness"; "shapes.ball.material" is "gold", which "materials.gold" is for"#,
    ),
    (
        "shapes.floor.radius=2",
        r#"no "shapes.floor.radius"; it is for type "sphere" or "cylinder", and this is "quad""#,
    ),
    ("shapes.tile.file=3", r#"mesh file "3" is neither an .obj nor a .ply file"#),
    ("shapes.floor.transform=2", r#""transform" is tables (Transforms), or a table (Transforms)"#),
    ("camera.fov=wide", r#""fov" is a number from 0.001 to 179.999"#),
    ("camera.fov=200", r#""fov" goes from 0.001 to 179.999"#),
    ("camera.fov=", r#""" is no value"#),
    ("camera.position=[0, 1", r#""[0, 1" is no value"#),
    ("camera.position=[0, 1]", r#""position" is [x, y, z]"#),
    ("camera.position.3=1", r#"no "camera.position.3"; "camera.position" has parts 0 to 2"#),
    ("camera.fov.x=2", r#"no "camera.fov.x"; "camera.fov" has no parts"#),
    ("camera..fov=2", r#""camera..fov" is no path, as camera.fov or shapes."tall box".emission is one"#),
    ("camera.fov_axis=u", r#"unknown fov_axis "u"; it is "x", "y", "diagonal", "smaller" or "larger""#),
    ("render.spp=1.5", r#""spp" is a whole number from 1 to 1073741824"#),
    ("render.spp=-1", r#""spp" is a whole number from 1 to 1073741824"#),
    ("render.samples=16", r#"no "render.samples"; it is called "spp" here"#),
    ("render.size=[16]", r#""size" is […] of 2: a whole number from 1 to 4294967295"#),
    ("render=fast", r#""render" is a table ([render])"#),
    ("environment.file=sky.exr", r#"no "environment.file"; it is for type "image", and this is "constant""#),
    (r#"environment.radiance="red"#, r#""\"red" is no value"#),
    ("lights.0.intensity=3", r#"no "lights.0"; "lights" has nothing"#),
    (
        "materials.gold.type=plastic",
        r#"material "gold" lacks "reflectance", for example: reflectance = [0.7, 0.1, 0.1]"#,
    ),
    (
        "environment.radiance=0",
        r#"the scene has no light, so the image would be black: give a shape an "emission", or [environment] a "radiance" above 0"#,
    ),
    ("shapes.tile.file=absent.obj", r#"cannot read mesh file "absent.obj": no such file"#),
    (
        "render.size=[4000000, 4000000]",
        "an image of 4000000×4000000 pixels would need 2.5 PiB of memory (176 bytes a pixel); the limit is 64 GiB",
    ),
    (
        "camera.target=[0, 1, 5]",
        r#""target" is the same point as "position", so the camera has no direction"#,
    ),
];
