//! Shapes and mesh files.

use super::Row;
use super::Wrong::{Mesh, Scene, WholeScene};

pub(crate) const SHAPES: &[Row<'_>] = &[
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
        "tile.obj:4:3: the normal index 1 is out of range; the file has 0 (and 2 more of the kind)",
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
        "texture coordinate of no number",
        Mesh(b"v 0 0 0\nv 1 0 0\nv 0 1 0\nvt\nf 1/1 2/1 3/1\n"),
        "tile.obj:4:1: a texture vertex has at least one coordinate, and this one has 0",
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
