//! Textures and their images.

use super::Row;
use super::Wrong::Scene;

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
        r#"scene.toml:21:22: cannot read image "tile.obj": it is no image that is read; PNG, JPEG, WebP, KTX2, BMP, PNM, HDR, PFM, OpenEXR and TGA files are"#,
    ),
    (
        "empty image file",
        Scene("roughness = 0.3", r#"roughness = { file = "empty.png" }"#),
        r#"scene.toml:21:22: cannot read image "empty.png": it is empty"#,
    ),
    (
        "image of another format",
        Scene("roughness = 0.3", r#"roughness = { file = "moving.gif" }"#),
        r#"scene.toml:21:22: cannot read image "moving.gif": it is in the format Gif, which is not read; PNG, JPEG, WebP, KTX2, BMP, PNM, HDR, PFM, OpenEXR and TGA files are"#,
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
