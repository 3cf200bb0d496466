//! Descriptions of valid files, and messages for wrong ones.

mod compressed;
mod fuzz;
mod malformed;
mod materials;
mod packed;
mod poses;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use glam::{Affine3A, Vec2, Vec3};
use serde_json::{Value, json};

use torrance_scene::{
    Backfaces, Description, Error, Files, FovAxis, Geometry, GltfChoice, Options, Problem, Projection,
    PunctualKind, Shape, SpotFalloff, TriangleMesh, load_bytes, load_bytes_with, load_with,
};

fn read(file: &str, bytes: &[u8], files: &Files) -> Result<(Description, Vec<Problem>), Error> {
    load_bytes(file, bytes, files).map(|loaded| (loaded.description, loaded.warnings))
}

/// The bytes of numbers as a `data:` URI.
pub(crate) fn uri(bytes: &[u8]) -> String {
    format!("data:application/octet-stream;base64,{}", BASE64_STANDARD.encode(bytes))
}

fn floats(numbers: &[f32]) -> Vec<u8> {
    numbers.iter().flat_map(|x| x.to_le_bytes()).collect()
}

/// A triangle in one buffer: three positions, three indices, three texture coordinates, three colours.
fn triangle() -> Value {
    let mut bytes = floats(&[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0]);
    bytes.extend([0_u8, 0, 1, 0, 2, 0, 0, 0]);
    bytes.extend(floats(&[0.0, 1.0, 1.0, 1.0, 0.0, 0.0]));
    bytes.extend([255_u8, 0, 0, 0, 0, 255, 0, 0, 0, 0, 51, 0]);
    json!({
        "asset": { "version": "2.0" },
        "scene": 0,
        "scenes": [{ "nodes": [0] }],
        "nodes": [{ "mesh": 0 }],
        "meshes": [{ "primitives": [{ "attributes": { "POSITION": 0, "TEXCOORD_0": 2 }, "indices": 1, "material": 0 }] }],
        "materials": [{ "name": "paint" }],
        "accessors": [
            { "bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3" },
            { "bufferView": 1, "componentType": 5123, "count": 3, "type": "SCALAR" },
            { "bufferView": 2, "componentType": 5126, "count": 3, "type": "VEC2" },
            { "bufferView": 3, "componentType": 5121, "normalized": true, "count": 3, "type": "VEC3" },
        ],
        "bufferViews": [
            { "buffer": 0, "byteLength": 36 },
            { "buffer": 0, "byteOffset": 36, "byteLength": 6 },
            { "buffer": 0, "byteOffset": 44, "byteLength": 24 },
            { "buffer": 0, "byteOffset": 68, "byteLength": 12, "byteStride": 4 },
        ],
        "buffers": [{ "byteLength": bytes.len(), "uri": uri(&bytes) }],
    })
}

/// The triangle with `value` put where `pointer` says.
fn with(changes: &[(&str, Value)]) -> Value {
    let mut document = triangle();
    for (pointer, value) in changes {
        let (parent, key) = pointer.rsplit_once('/').unwrap();
        match document.pointer_mut(parent).unwrap_or_else(|| panic!("no {parent}")) {
            Value::Object(object) => drop(object.insert(key.to_owned(), value.clone())),
            Value::Array(array) if key == "-" => array.push(value.clone()),
            Value::Array(array) => array[key.parse::<usize>().unwrap()] = value.clone(),
            other => panic!("{other} has no {key}"),
        }
    }
    document
}

fn read_json(document: &Value) -> Result<(Description, Vec<String>), Error> {
    let read = read("m.gltf", document.to_string().as_bytes(), &Files::new("/nowhere", false));
    read.map(|(description, warnings)| (description, warnings.iter().map(ToString::to_string).collect()))
}

/// The description of a document that has nothing suspicious.
fn described(document: &Value) -> Description {
    let (description, warnings) = read_json(document).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(warnings, Vec::<String>::new());
    description
}

fn changed(changes: &[(&str, Value)]) -> Description {
    described(&with(changes))
}

/// The warnings of a valid document.
fn warnings(changes: &[(&str, Value)]) -> Vec<String> {
    read_json(&with(changes)).unwrap_or_else(|e| panic!("{e}")).1
}

fn choosing(gltf: GltfChoice) -> Options {
    Options { gltf, ..Options::default() }
}

fn mesh(shape: &Shape) -> &TriangleMesh {
    match &shape.geometry {
        Geometry::Mesh(mesh) => mesh,
        other => panic!("{other:?}"),
    }
}

/// The file of a document and the bytes of its first buffer.
fn glb(document: &Value) -> Vec<u8> {
    let mut document = document.clone();
    let uri = document["buffers"][0].as_object_mut().unwrap().remove("uri").unwrap();
    let binary = BASE64_STANDARD.decode(uri.as_str().unwrap().split_once(',').unwrap().1).unwrap();
    let size = (binary.len() as u32).to_le_bytes();
    with_chunks(&document, &[size.as_slice(), b"BIN\0", &binary].concat())
}

/// The `.glb` file of a document and the chunks that follow it.
fn with_chunks(document: &Value, chunks: &[u8]) -> Vec<u8> {
    let mut text = document.to_string().into_bytes();
    text.resize(text.len().next_multiple_of(4), b' ');
    let mut file = b"glTF\x02\0\0\0".to_vec();
    file.extend((20 + text.len() as u32 + chunks.len() as u32).to_le_bytes());
    file.extend((text.len() as u32).to_le_bytes());
    file.extend(b"JSON");
    file.extend(text);
    file.extend(chunks);
    file
}

#[test]
fn a_triangle_is_read_from_text_and_from_chunks() {
    let description = described(&triangle());
    let [shape] = &description.shapes[..] else { panic!("{:?}", description.shapes) };
    assert_eq!((shape.name.as_str(), shape.material), ("nodes[0]", 0));
    assert_eq!(description.materials[0].name, "paint");
    let expected = TriangleMesh {
        positions: vec![Vec3::ZERO, Vec3::X, Vec3::Y],
        uvs: vec![Vec2::Y, Vec2::ONE, Vec2::ZERO],
        triangles: vec![[0, 1, 2]],
        ..TriangleMesh::default()
    };
    assert_eq!(*mesh(shape), expected);
    let (of_chunks, _) = read("m.glb", &glb(&triangle()), &Files::new("", false)).unwrap();
    assert_eq!(of_chunks, description);
}

#[test]
fn files_beside_are_read_by_their_percent_encoded_names() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a b.bin"), floats(&[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 2.0, 0.0]))
        .unwrap();
    let document = with(&[
        ("/meshes/0/primitives/0", json!({ "attributes": { "POSITION": 0 } })),
        ("/buffers/0", json!({ "byteLength": 36, "uri": "a%20b.bin" })),
    ]);
    let (description, _) =
        read("m.gltf", document.to_string().as_bytes(), &Files::new(folder.path(), false)).unwrap();
    assert_eq!(mesh(&description.shapes[0]).positions[2], 2.0 * Vec3::Y);
    // The default material: a rough white metal.
    assert_eq!(description.materials[0].name, "(default)");
}

/// Five corners as a list, a strip and a fan, with and without indices.
#[test]
fn strips_and_fans_keep_their_front() {
    let corners = floats(&[0., 0., 0., 2., 0., 0., 0., 2., 0., 2., 2., 0., 1., 4., 0.]);
    let of = |mode: u32| {
        let mesh_of = json!({ "attributes": { "POSITION": 0 }, "mode": mode });
        let document = with(&[
            ("/meshes/0/primitives/0", mesh_of),
            ("/accessors/0/count", json!(5)),
            ("/bufferViews/0/byteLength", json!(60)),
            ("/buffers/0", json!({ "byteLength": 60, "uri": uri(&corners) })),
        ]);
        mesh(&read_json(&document).unwrap().0.shapes[0]).triangles.clone()
    };
    assert_eq!(of(5), [[0, 1, 2], [1, 3, 2], [2, 3, 4]]);
    assert_eq!(of(6), [[1, 2, 0], [2, 3, 0], [3, 4, 0]]);
    assert_eq!(of(4), [[0, 1, 2]]);
}

#[test]
fn numbers_are_of_all_types() {
    type Case = (&'static str, u32, bool, Vec<u8>, [f32; 3]);
    let cases: [Case; 6] = [
        ("i8", 5120, true, vec![127, 0x81, 0x80], [1.0, -1.0, -1.0]),
        ("u8", 5121, true, vec![255, 51, 0], [1.0, 0.2, 0.0]),
        ("i16", 5122, true, vec![0xff, 0x7f, 0, 0x80, 0, 0], [1.0, -1.0, 0.0]),
        ("u16", 5123, true, vec![0xff, 0xff, 0x33, 0x33, 0, 0], [1.0, 0.2, 0.0]),
        ("i16", 5122, false, vec![0xff, 0x7f, 0, 0x80, 5, 0], [32767.0, -32768.0, 5.0]),
        ("f32", 5126, false, floats(&[0.5, -2.0, 1e9]), [0.5, -2.0, 1e9]),
    ];
    for (name, component, normalized, mut bytes, expected) in cases {
        // The other two corners of the triangle, a vertex every 16 bytes.
        bytes.resize(16, 0);
        bytes.extend([0x3f; 32]);
        bytes[32..36].copy_from_slice(&[1, 2, 0x3f, 0x3e]);
        let accessor = json!({ "bufferView": 0, "componentType": component, "normalized": normalized, "count": 3, "type": "VEC3" });
        let document = with(&[
            ("/meshes/0/primitives/0", json!({ "attributes": { "POSITION": 0 } })),
            ("/accessors/0", accessor),
            ("/bufferViews/0", json!({ "buffer": 0, "byteLength": 48, "byteStride": 16 })),
            ("/buffers/0", json!({ "byteLength": 48, "uri": uri(&bytes) })),
        ]);
        let found =
            mesh(&read_json(&document).unwrap_or_else(|e| panic!("{name}: {e}")).0.shapes[0]).positions[0];
        assert_eq!(found, Vec3::from(expected), "{name}");
    }
}

#[test]
fn sparse_elements_take_the_place_of_others() {
    let mut bytes = floats(&[0., 0., 0., 1., 0., 0., 0., 1., 0., 5., 5., 5., 0., 7., 0.]);
    bytes.extend([1, 2]);
    let sparse = json!({
        "count": 2,
        "indices": { "bufferView": 2, "componentType": 5121 },
        "values": { "bufferView": 1 },
    });
    let of = |accessor: Value| {
        let document = with(&[
            ("/meshes/0/primitives/0", json!({ "attributes": { "POSITION": 0 } })),
            ("/accessors/0", accessor),
            (
                "/bufferViews",
                json!([
                    { "buffer": 0, "byteLength": 36 },
                    { "buffer": 0, "byteOffset": 36, "byteLength": 24 },
                    { "buffer": 0, "byteOffset": 60, "byteLength": 2 },
                ]),
            ),
            ("/buffers/0", json!({ "byteLength": 62, "uri": uri(&bytes) })),
        ]);
        mesh(&described(&document).shapes[0]).positions.clone()
    };
    let accessor =
        json!({ "bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3", "sparse": sparse });
    assert_eq!(of(accessor), [Vec3::ZERO, Vec3::splat(5.0), 7.0 * Vec3::Y]);
    // Without a view, all others are zero.
    let zeros = json!({ "componentType": 5126, "count": 3, "type": "VEC3", "sparse": sparse });
    assert_eq!(of(zeros), [Vec3::ZERO, Vec3::splat(5.0), 7.0 * Vec3::Y]);
}

#[test]
fn transforms_go_from_node_to_parent() {
    let description = changed(&[
        ("/scenes/0/nodes", json!([1])),
        (
            "/nodes",
            json!([
                { "mesh": 0, "translation": [1, 0, 0], "rotation": [0, 0, 0.5_f32.sqrt(), 0.5_f32.sqrt()], "scale": [2, 1, 1] },
                { "children": [2], "matrix": [0, 0, -1, 0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 5, 0, 1] },
                { "children": [0], "scale": [1, 1, -3] },
            ]),
        ),
    ]);
    let t = description.shapes[0].world_from_object;
    // x: twice as long, turned to y; moved by x; scaled; x turned to −z; up by 5.
    assert!((t.transform_point3(Vec3::X) - Vec3::new(0.0, 7.0, -1.0)).length() < 1e-6);
    assert!((t.transform_vector3(Vec3::Z) - Vec3::new(-3.0, 0.0, 0.0)).length() < 1e-6);
    assert!(t.matrix3.determinant() < 0.0);
}

#[test]
fn meshes_in_many_places_are_instances_unless_they_emit() {
    let nodes = json!([{ "mesh": 0 }, { "mesh": 0, "scale": [-1, 1, 1] }, { "mesh": 0, "scale": [0, 1, 1] }]);
    let places = [("/nodes", nodes), ("/scenes/0/nodes", json!([0, 1, 2]))];
    let (description, warnings) = read_json(&with(&places)).unwrap();
    assert_eq!(warnings, ["m.gltf: nodes[2] is scaled to nothing, and its mesh left out"]);
    assert_eq!((description.shapes.len(), description.groups.len(), description.instances.len()), (0, 1, 2));
    assert_eq!(description.groups[0].name, "meshes[0]");
    assert_eq!(description.groups[0].shapes[0].world_from_object, Affine3A::IDENTITY);
    assert_eq!(description.instances[1].world_from_group, Affine3A::from_scale(Vec3::new(-1.0, 1.0, 1.0)));
    let emits = ("/materials/0/emissiveFactor", json!([1, 0, 0]));
    let (description, _) = read_json(&with(&[&places[..], &[emits]].concat())).unwrap();
    assert_eq!((description.shapes.len(), description.groups.len(), description.instances.len()), (2, 0, 0));
    assert_eq!(description.shapes[1].name, "nodes[1]");
    assert_eq!(description.shapes[1].emission.value, Vec3::X);
}

#[test]
fn instancing_multiplies_nodes() {
    let bytes = floats(&[0., 0., 0., 1., 0., 0., 0., 1., 0., 0., 0., 0., 1., 0., 1., 0., 0.]);
    let attributes = json!({ "TRANSLATION": 1, "ROTATION": 2 });
    let description = changed(&[
        (
            "/nodes/0",
            json!({ "mesh": 0, "translation": [0, 0, 9], "extensions": { "EXT_mesh_gpu_instancing": { "attributes": attributes } } }),
        ),
        ("/meshes/0/primitives/0", json!({ "attributes": { "POSITION": 0 } })),
        (
            "/accessors",
            json!([
                { "bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3" },
                { "bufferView": 0, "byteOffset": 12, "componentType": 5126, "count": 2, "type": "VEC3" },
                { "bufferView": 0, "byteOffset": 36, "componentType": 5126, "count": 2, "type": "VEC4" },
            ]),
        ),
        ("/bufferViews/0", json!({ "buffer": 0, "byteLength": 68 })),
        ("/buffers/0", json!({ "byteLength": 68, "uri": uri(&bytes) })),
        ("/extensionsRequired", json!(["EXT_mesh_gpu_instancing"])),
    ]);
    let [a, b] = &description.instances[..] else { panic!("{:?}", description.instances) };
    assert_eq!(a.world_from_group, Affine3A::from_translation(Vec3::new(1.0, 0.0, 9.0)));
    // Turned half around y.
    let expected = Vec3::new(-1.0, 1.0, 9.0);
    assert!((b.world_from_group.transform_point3(Vec3::X) - expected).length() < 1e-6);
}

#[test]
fn cameras_look_along_minus_z_and_choose_the_size() {
    let turned = json!({ "camera": 0, "translation": [1, 2, 3], "rotation": [0, 0.5_f32.sqrt(), 0, 0.5_f32.sqrt()], "scale": [2, 2, -2] });
    let with_camera = |camera: Value| {
        changed(&[
            ("/nodes", json!([{ "mesh": 0 }, turned])),
            ("/scenes/0/nodes", json!([0, 1])),
            ("/cameras", json!([camera])),
        ])
    };
    let perspective =
        json!({ "type": "perspective", "perspective": { "yfov": 1, "znear": 0.1, "aspectRatio": 2 } });
    let Description { camera, render, .. } = with_camera(perspective);
    assert_eq!(camera.projection, Projection::pinhole(1_f32.to_degrees(), FovAxis::Y));
    assert_eq!(camera.position, Vec3::new(1.0, 2.0, 3.0));
    // Mirrored along z, it looks to the other side.
    assert!(((camera.target - camera.position).normalize() - Vec3::X).length() < 1e-6, "{camera:?}");
    assert!((camera.up - Vec3::Y).length() < 1e-6);
    assert_eq!((render.width, render.height), (1024, 512));
    let orthographic =
        json!({ "type": "orthographic", "orthographic": { "xmag": 3, "ymag": 4, "znear": 0, "zfar": 9 } });
    let Description { camera, render, .. } = with_camera(orthographic);
    assert_eq!(camera.projection, Projection::Orthographic { size: 8.0, axis: FovAxis::Y });
    assert_eq!((render.width, render.height), (512, 683));
}

#[test]
fn lights_are_radiometric_at_683_lumens_a_watt() {
    let lights = json!([
        { "type": "point", "intensity": 683, "color": [1, 0.5, 0] },
        { "type": "directional", "intensity": 1366 },
        { "type": "spot", "intensity": 68.3, "spot": { "innerConeAngle": 0.1, "outerConeAngle": 0.2 } },
    ]);
    let node =
        |i: u32| json!({ "translation": [0, 3, 0], "extensions": { "KHR_lights_punctual": { "light": i } } });
    let description = changed(&[
        ("/extensions", json!({ "KHR_lights_punctual": { "lights": lights } })),
        ("/nodes", json!([{ "mesh": 0 }, node(0), node(1), node(2)])),
        ("/scenes/0/nodes", json!([0, 1, 2, 3])),
    ]);
    assert!(description.environment.is_none());
    let kinds: Vec<_> = description.lights.iter().map(|light| light.kind).collect();
    let position = Vec3::new(0.0, 3.0, 0.0);
    assert_eq!(kinds[0], PunctualKind::Point { position, intensity: Vec3::new(1.0, 0.5, 0.0) });
    let direction = Vec3::NEG_Z;
    assert_eq!(
        kinds[1],
        PunctualKind::Directional { direction, irradiance: Vec3::splat(2.0), diameter: 0.0 }
    );
    let PunctualKind::Spot { inner, outer, falloff, intensity, .. } = kinds[2] else { panic!("{kinds:?}") };
    assert!((intensity - 0.1).abs().max_element() < 1e-6);
    assert_eq!((inner, outer, falloff), (0.1_f32.to_degrees(), 0.2_f32.to_degrees(), SpotFalloff::Smooth));
}

#[test]
fn skins_and_morph_targets_are_at_rest() {
    // Positions moved by half of a target; then by a joint 4 up and one 6 to the side, the second 3 of 4.
    let mut bytes = floats(&[0., 0., 0., 1., 0., 0., 0., 1., 0., 0., 0., 2., 0., 0., 2., 0., 0., 2.]);
    bytes.extend([0, 1, 0, 0].repeat(3));
    bytes.extend(floats(&[0.25, 0.75, 0., 0.].repeat(3)));
    let primitive = json!({
        "attributes": { "POSITION": 0, "JOINTS_0": 2, "WEIGHTS_0": 3 },
        "targets": [{ "POSITION": 1 }],
    });
    let changes = [
        ("/meshes/0", json!({ "primitives": [primitive], "weights": [0.5] })),
        (
            "/nodes",
            json!([
                { "mesh": 0, "skin": 0, "translation": [100, 0, 0] },
                { "translation": [0, 4, 0] },
                { "translation": [6, 0, 0] },
            ]),
        ),
        ("/scenes/0/nodes", json!([0, 1, 2])),
        ("/skins", json!([{ "joints": [1, 2] }])),
        (
            "/accessors",
            json!([
                { "bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3" },
                { "bufferView": 0, "byteOffset": 36, "componentType": 5126, "count": 3, "type": "VEC3" },
                { "bufferView": 0, "byteOffset": 72, "componentType": 5121, "count": 3, "type": "VEC4" },
                { "bufferView": 0, "byteOffset": 84, "componentType": 5126, "count": 3, "type": "VEC4" },
            ]),
        ),
        ("/bufferViews", json!([{ "buffer": 0, "byteLength": 132 }])),
        ("/buffers/0", json!({ "byteLength": 132, "uri": uri(&bytes) })),
    ];
    let description = changed(&changes);
    assert_eq!(description.shapes[0].world_from_object, Affine3A::IDENTITY);
    assert_eq!(mesh(&description.shapes[0]).positions[1], Vec3::new(1.0 + 4.5, 1.0, 1.0));
}

/// Points are spheres, lines tubes, of the colours of their vertices; modes say between which vertices these are.
#[test]
fn points_and_lines_are_thick() {
    const VERTICES: f32 = 50.0;
    let colored = json!({ "POSITION": 0, "COLOR_0": 3 });
    let of = |mode: u32, options: &Options| {
        let change = [
            ("/meshes/0/primitives/0/mode", json!(mode)),
            ("/meshes/0/primitives/0/attributes", colored.clone()),
        ];
        let bytes = with(&change).to_string();
        let read = load_bytes_with("m.gltf", bytes.as_bytes(), &Files::new("/nowhere", false), options);
        let read = read.unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(read.warnings, []);
        mesh(&read.description.shapes[0]).clone()
    };
    // The length of a triangle's side is 1 or √2; a tube's area is 2πr(l + 2r), that of one with twelve sides .97 of it, and less at the ends.
    let area = |mesh: &TriangleMesh| -> f32 {
        let side = |t: &[u32; 3]| {
            let [a, b, c] = t.map(|i| mesh.positions[i as usize]);
            0.5 * (b - a).cross(c - a).length()
        };
        mesh.triangles.iter().map(side).sum()
    };
    let (radius, root) = (0.01, std::f32::consts::SQRT_2);
    let options = Options { point_radius: Some(radius), ..Options::default() };
    for (mode, strokes, length) in [(0, 3.0, 0.0), (1, 1.0, 1.0), (2, 3.0, 2.0 + root), (3, 2.0, 1.0 + root)]
    {
        let mesh = of(mode, &options);
        assert_eq!(mesh.positions.len() as f32, strokes * VERTICES, "{mode}");
        let expected = std::f32::consts::TAU * radius * (length + strokes * 2.0 * radius);
        let part = area(&mesh) / expected;
        assert!((0.9..0.99).contains(&part), "{mode}: {part}");
        for (i, color) in mesh.colors.iter().enumerate() {
            let near = [Vec3::ZERO, Vec3::X, Vec3::Y]
                .iter()
                .position(|p| p.distance(mesh.positions[i]) < 1.01 * radius);
            let colors = [Vec3::X, Vec3::Y, Vec3::new(0.0, 0.0, 0.2)];
            assert_eq!(*color, colors[near.unwrap()], "{mode}: {i}");
        }
    }
    // A fraction of the diagonal, √2: of lines, and of points that are few.
    for (mode, most) in [(0, root / 60.0), (2, root / 600.0)] {
        let mesh = of(mode, &Options::default());
        let lowest = mesh.positions.iter().map(|p| p.x).fold(f32::INFINITY, f32::min);
        assert!((0.9 * most..1.001 * most).contains(&-lowest), "{mode}: {lowest}, {most}");
    }
    // Of the lines of a strip, that with an end that is nowhere is missing.
    let change = [
        ("/meshes/0/primitives/0/mode", json!(3)),
        ("/meshes/0/primitives/0/attributes", json!({ "POSITION": 0 })),
        ("/accessors/0/count", json!(2)),
    ];
    let (description, warnings) = read_json(&with(&change)).unwrap();
    let message = "m.gltf: meshes[0].primitives[0].indices has the index 2 of a mesh with 2 vertices; what has it is left out";
    assert!(warnings.contains(&message.to_owned()), "{warnings:?}");
    assert_eq!(mesh(&description.shapes[0]).positions.len() as f32, VERTICES);
}

#[test]
fn what_is_hidden_or_elsewhere_is_not_there() {
    let hidden = json!({ "mesh": 0, "extensions": { "KHR_node_visibility": { "visible": false } } });
    let error = read_json(&with(&[("/nodes/0", hidden)])).unwrap_err();
    assert_eq!(error.to_string(), "m.gltf: has nothing to be seen");
    let two = [("/scenes", json!([{ "nodes": [] }, { "nodes": [0] }])), ("/scene", json!(1))];
    assert_eq!(
        warnings(&two),
        ["m.gltf: has 2 scenes, \"0\" and \"1\"; \"1\" is shown, unless --scene says otherwise"]
    );
}

#[test]
fn what_is_not_supported_is_said() {
    for (change, expected) in [
        (
            ("/extensionsUsed", json!(["X_y"])),
            "uses the extension \"X_y\", which is not supported: it is left out",
        ),
        (
            ("/materials/0/extensions", json!({ "KHR_materials_dispersion": { "dispersion": 1 } })),
            "uses the extension \"KHR_materials_dispersion\", which is not supported: colours are refracted alike",
        ),
        (
            ("/materials/0/doubleSide", json!(true)),
            "materials[0] has a key \"doubleSide\", which glTF does not know; did you mean \"doubleSided\"?",
        ),
        (("/materials/0/alphaCutoff", json!(0.5)), ""),
    ] {
        let expected: Vec<_> =
            [expected].iter().filter(|e| !e.is_empty()).map(|e| format!("m.gltf: {e}")).collect();
        assert_eq!(warnings(&[change]), expected);
    }
}

#[test]
fn a_camera_is_chosen_by_name_or_number() {
    let camera = |yfov: f32| json!({ "type": "perspective", "perspective": { "yfov": yfov } });
    let mut named = camera(1.5);
    named["name"] = json!("close");
    let document = with(&[
        ("/cameras", json!([camera(0.5), camera(1.0), named])),
        (
            "/nodes",
            json!([{ "mesh": 0 }, { "name": "a", "camera": 1 }, { "name": "b", "camera": 0 }, { "camera": 2 }]),
        ),
        ("/scenes/0/nodes", json!([0, 1, 2, 3])),
    ]);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("m.gltf");
    std::fs::write(&file, document.to_string()).unwrap();
    let load = |camera: Option<&str>| {
        load_with(&file, &choosing(GltfChoice { camera: camera.map(str::to_owned), ..GltfChoice::default() }))
    };
    for (wanted, yfov) in [
        (None, 1.0),
        (Some("a"), 1.0),
        (Some("b"), 0.5),
        (Some("close"), 1.5),
        (Some("0"), 0.5),
        (Some("2"), 1.5),
    ] {
        let loaded = load(wanted).unwrap();
        let expected = Projection::pinhole(f32::to_degrees(yfov), FovAxis::Y);
        assert_eq!(loaded.description.camera.projection, expected, "{wanted:?}");
        let several = "has 3 cameras; that of \"a\" counts, unless --camera says otherwise";
        let warnings = loaded.warnings.iter().filter(|warning| warning.message == several).count();
        assert_eq!(warnings, usize::from(wanted.is_none()), "{:?}", loaded.warnings);
    }
    let message = load(Some("c")).unwrap_err().to_string();
    assert!(
        message.ends_with("has no camera \"c\"; it has those of \"a\", \"b\" or \"nodes[3]\""),
        "{message}"
    );
    std::fs::write(folder.path().join("m.obj"), "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n").unwrap();
    let options = choosing(GltfChoice { camera: Some("0".to_owned()), ..GltfChoice::default() });
    let message = load_with(&folder.path().join("m.obj"), &options).unwrap_err().to_string();
    assert!(
        message.ends_with("there is no camera \"0\" to choose: only glTF files have several"),
        "{message}"
    );
    let options = Options { backfaces: Backfaces::Cull, ..Options::default() };
    let message = load_with(&folder.path().join("m.obj"), &options).unwrap_err().to_string();
    assert!(message.ends_with("only glTF files say which of them are not to be seen"), "{message}");
}
