//! Scene files that are not valid TOML, and sections that are wrong as a whole.

use super::Row;
use super::Wrong::{Scene, WholeScene};

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
        "projector whose picture has no top",
        Scene(
            "[[shapes]]\nname = \"ball\"",
            "[[lights]]\ntype = \"projector\"\nposition = [0, 3, 0]\ndirection = [0, -1, 0]\nintensity = 1\nup = [0, 2, 0]\n\n\
             [[shapes]]\nname = \"ball\"",
        ),
        r#"scene.toml:28:6: "up" is along the axis of the light"#,
    ),
    (
        "camera that sees nothing",
        Scene("fov = 40", "fov = 40\nnear = 2\nfar = 1.5"),
        r#"scene.toml:9:8: "near" must be below "far", which is 1.5, not 2"#,
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
