//! Files that are wrong: each is refused with a message that says where, or read with a warning.

use glam::Vec3;
use serde_json::{Value, json};
use torrance_scene::{Files, Geometry, Options, load_bytes_with};

use super::{floats, glb, read, read_json, triangle, uri, with};

/// The error message for the triangle document after changes.
fn refused(changes: &[(&str, Value)]) -> String {
    match read_json(&with(changes)) {
        Ok(_) => panic!("{changes:?} is read"),
        Err(error) => error.to_string(),
    }
}

fn refused_bytes(bytes: &[u8]) -> String {
    read("m.glb", bytes, &Files::new("", false)).unwrap_err().to_string()
}

#[test]
fn places_and_reasons() {
    let nodes = |nodes: Value| [("/nodes", nodes)];
    let cases: Vec<(Vec<(&str, Value)>, &str)> = vec![
        (vec![("/asset", json!({}))], "asset has no \"version\""),
        (vec![("/asset/version", json!("1.0"))], "asset.version is \"1.0\"; only 2.0 is read"),
        (vec![("/asset/minVersion", json!("3.0"))], "asset.minVersion is \"3.0\"; only 2.0 is read"),
        (
            vec![("/extensionsRequired", json!(["KHR_material_unlit"]))],
            "requires the extension \"KHR_material_unlit\", which is not supported; did you mean \"KHR_materials_unlit\"?",
        ),
        (
            vec![("/extensionsRequired", json!(["MSFT_texture_dds"]))],
            "requires the extension \"MSFT_texture_dds\", which is not supported",
        ),
        (
            vec![("/extensionsRequired", json!(["KHR_materials_dispersion"]))],
            "requires the extension \"KHR_materials_dispersion\", which is not supported: colours are refracted alike",
        ),
        (vec![("/extensionsUsed", json!([1]))], "extensionsUsed[0] must be a string, not 1"),
        (vec![("/scene", json!(1))], "scene is 1, and there is only one of \"scenes\", 0"),
        (
            vec![("/scenes/0/nodes", json!([7]))],
            "scenes[0].nodes[0] is 7, and there is only one of \"nodes\", 0",
        ),
        (
            vec![("/scenes/0/nodes", json!([0, 0]))],
            "scenes[0].nodes[1] is 0, a node that is in the scene already",
        ),
        (vec![("/scenes/0/nodes", json!(0))], "scenes[0].nodes must be an array, not 0"),
        (vec![("/scenes/0", json!("x"))], "scenes[0] must be an object, not \"x\""),
        (
            nodes(json!([{ "children": [0] }])).to_vec(),
            "nodes[0].children[0] is 0, a node that is in the scene already",
        ),
        (
            nodes(json!([{ "matrix": [1, 2] }])).to_vec(),
            "nodes[0].matrix must be an array of 16 numbers, not an array of 2",
        ),
        (
            nodes(json!([{ "matrix": [1, 0, 0, 1, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1] }])).to_vec(),
            "nodes[0].matrix must have the last row 0, 0, 0, 1: its elements 3, 7, 11 and 15",
        ),
        (nodes(json!([{ "rotation": [0, 0, 0, 0] }])).to_vec(), "nodes[0] has a rotation of zero length"),
        (nodes(json!([{ "translation": [0, 0, 1e300] }])).to_vec(), "nodes[0].translation[2] is too large"),
        (
            nodes(json!([{ "scale": [1e30, 1, 1], "children": [1] }, { "scale": [1e30, 1, 1] }])).to_vec(),
            "nodes[1] is moved or scaled beyond single precision",
        ),
        (
            nodes(json!([{ "mesh": 0, "translation": [0, 0, 2e9] }])).to_vec(),
            "reaches beyond 1e9 metres, where single precision fails",
        ),
        (
            nodes(json!([{ "mesh": 1.5 }])).to_vec(),
            "nodes[0].mesh must be a whole number, 0 or above, not 1.5",
        ),
        (nodes(json!([{ "mesh": -1 }])).to_vec(), "nodes[0].mesh must be a whole number, 0 or above, not -1"),
        (nodes(json!([{ "mesh": 0, "skin": 0 }])).to_vec(), "nodes[0].skin is 0, and there are no \"skins\""),
        (nodes(json!([{ "name": 1 }])).to_vec(), "nodes[0].name must be a string, not 1"),
        (
            vec![(
                "/nodes/0/extensions",
                json!({ "EXT_mesh_gpu_instancing": { "attributes": { "TRANSLATION": 1 } } }),
            )],
            "nodes[0].extensions.EXT_mesh_gpu_instancing.attributes.TRANSLATION must be of VEC3, and accessors[1] is of SCALAR",
        ),
        (vec![("/meshes/0", json!({}))], "meshes[0] has no \"primitives\""),
        (vec![("/meshes/0/primitives", json!([]))], "meshes[0] has no \"primitives\""),
        (
            vec![("/meshes/0/primitives/0/mode", json!(7))],
            "meshes[0].primitives[0] has the mode 7; modes go from 0 to 6",
        ),
        (
            vec![("/meshes/0/primitives/0/attributes/NORMAL", json!(2))],
            "meshes[0].primitives[0].attributes.NORMAL must be of VEC3, and accessors[2] is of VEC2",
        ),
        (
            vec![("/meshes/0/primitives/0/indices", json!(0))],
            "meshes[0].primitives[0].indices must be of SCALAR, and accessors[0] is of VEC3",
        ),
        (
            vec![("/meshes/0/primitives/0/material", json!(9))],
            "meshes[0].primitives[0].material is 9, and there is only one of \"materials\", 0",
        ),
        (
            vec![
                ("/meshes/0/primitives/0/extensions", json!({ "KHR_draco_mesh_compression": {} })),
                ("/accessors/0", json!({ "componentType": 5126, "count": 3, "type": "VEC3" })),
            ],
            "meshes[0].primitives[0].extensions.KHR_draco_mesh_compression has no \"bufferView\"",
        ),
        (
            vec![("/accessors/1/componentType", json!(5126)), ("/accessors/1/count", json!(1))],
            "accessors[1] must have a componentType of 5121, 5123 or 5125",
        ),
        (
            vec![("/accessors/0/componentType", json!(5124))],
            "accessors[0].componentType is 5124; numbers are of 5120, 5121, 5122, 5123, 5125 or 5126",
        ),
        (vec![("/accessors/0/count", json!(4))], "accessors[0] ends at byte 48 of a buffer view of 36"),
        (
            vec![("/accessors/0/byteOffset", json!(1e15))],
            "accessors[0] ends at byte 1000000000000036 of a buffer view of 36",
        ),
        (
            vec![("/accessors/0/count", json!(300_000_000))],
            "accessors[0] ends at byte 3600000000 of a buffer view of 36",
        ),
        (
            vec![
                ("/accessors/0", json!({ "componentType": 5126, "count": 100_000_000, "type": "VEC3" })),
                ("/meshes/0/primitives/0", json!({ "attributes": { "POSITION": 0 } })),
            ],
            "accessors[0].count asks for 1600000000 elements: with those before, more than 2097152, the most of a file of \
             that size",
        ),
        (
            vec![("/accessors/2/count", json!(2))],
            "meshes[0].primitives[0].attributes.TEXCOORD_0 has 2 elements, and there are 3 positions",
        ),
        (
            vec![("/accessors/0/count", json!(2))],
            "meshes[0].primitives[0].indices has the index 2 of a mesh with 2 vertices\n\
             m.gltf: has nothing to be seen",
        ),
        (
            vec![("/accessors/0/sparse", json!({ "count": 4 }))],
            "accessors[0].sparse.count is 4, and the accessor has 3 elements",
        ),
        (
            vec![(
                "/accessors/0/sparse",
                json!({ "count": 2, "indices": { "bufferView": 1, "componentType": 5121 }, "values": { "bufferView": 0 } }),
            )],
            "accessors[0].sparse.indices must grow from one to the next",
        ),
        (
            vec![(
                "/accessors/0/sparse",
                json!({ "count": 1, "indices": { "bufferView": 3, "componentType": 5121 }, "values": { "bufferView": 0 } }),
            )],
            "accessors[0].sparse.indices has the index 255 of an accessor with 3 elements",
        ),
        (vec![("/bufferViews/0/byteLength", json!(99))], "bufferViews[0] ends at byte 99 of a buffer of 80"),
        (
            vec![("/bufferViews/0/byteStride", json!(2))],
            "bufferViews[0].byteStride must be from 4 to 252, not 2",
        ),
        (
            vec![("/bufferViews/0/byteStride", json!(8))],
            "accessors[0] has elements of 12 bytes, and its view has one every 8",
        ),
        (vec![("/buffers/0/byteLength", json!(81))], "buffers[0] has 80 bytes, and its byteLength is 81"),
        (
            vec![("/buffers/0", json!({ "byteLength": 80 }))],
            "buffers[0] has no \"uri\" that says where its bytes are",
        ),
        (
            vec![("/buffers/0/uri", json!("data:;base64,A"))],
            "buffers[0].uri is not valid base64: Invalid input length: 1",
        ),
        (vec![("/buffers/0/uri", json!("data:;base64"))], "buffers[0].uri is a data: URI without a comma"),
        (
            vec![("/buffers/0/uri", json!("http://x/y.bin"))],
            "buffers[0].uri is \"http://x/y.bin\"; only files and data: URIs are read",
        ),
        (
            vec![("/buffers/0/uri", json!("a%2"))],
            "buffers[0].uri is \"a%2\", which is not percent-encoded UTF-8",
        ),
        (
            vec![("/buffers/0/uri", json!("../a.bin"))],
            "buffers[0].uri names \"../a.bin\", which cannot be read: it is not in the folder of the scene; --allow-external \
             lets scenes read other files",
        ),
        (
            vec![("/buffers/0/uri", json!("a.bin"))],
            "buffers[0].uri names \"a.bin\", which cannot be read: there is no folder \"/nowhere\"",
        ),
        (
            vec![
                ("/materials/0/alphaMode", json!("BLENT")),
                ("/materials/0/pbrMetallicRoughness", json!({})),
            ],
            "materials[0].alphaMode must be \"OPAQUE\", \"MASK\" or \"BLEND\", not \"BLENT\"; did you mean \"BLEND\"?",
        ),
        (
            vec![("/materials/0/doubleSided", json!(1))],
            "materials[0].doubleSided must be true or false, not 1",
        ),
        (
            vec![("/materials/0/pbrMetallicRoughness", json!({ "baseColorFactor": [1, 1, 1] }))],
            "materials[0].pbrMetallicRoughness.baseColorFactor must be an array of 4 numbers, not an array of 3",
        ),
        (
            vec![("/materials/0/pbrMetallicRoughness", json!({ "metallicFactor": "1" }))],
            "materials[0].pbrMetallicRoughness.metallicFactor must be a number, not \"1\"",
        ),
    ];
    for (changes, expected) in &cases {
        assert_eq!(refused(changes), format!("m.gltf: {expected}"));
    }
    assert!(cases.len() > 50, "{}", cases.len());
}

/// Mistakes cost what they spoil and no more, and under `--strict` the whole.
#[test]
fn mistakes_that_leave_a_picture_are_forgiven() {
    type Case<'a> = (Vec<(&'a str, Value)>, &'a str, &'a str);
    let cases: Vec<Case<'_>> = vec![
        (
            vec![("/nodes/0/camera", json!(0)), ("/cameras", json!([{ "type": "x" }]))],
            "cameras[0].type must be \"perspective\" or \"orthographic\", not \"x\"",
            "it is left out",
        ),
        (
            vec![
                ("/nodes/0/camera", json!(0)),
                ("/cameras", json!([{ "type": "perspective", "perspective": { "yfov": 0 } }])),
            ],
            "cameras[0].perspective.yfov must be above 0 and below π",
            "it is left out",
        ),
        (
            vec![
                ("/nodes/0/camera", json!(0)),
                ("/cameras", json!([{ "type": "orthographic", "orthographic": { "xmag": 0, "ymag": 1 } }])),
            ],
            "cameras[0].orthographic.xmag must not be 0",
            "it is left out",
        ),
        (
            vec![("/nodes/0/extensions", json!({ "KHR_lights_punctual": { "light": 2 } }))],
            "nodes[0].extensions.KHR_lights_punctual.light is 2, and KHR_lights_punctual has 0 lights",
            "it is left out",
        ),
        (
            vec![
                ("/nodes/0/extensions", json!({ "KHR_lights_punctual": { "light": 0 } })),
                (
                    "/extensions",
                    json!({ "KHR_lights_punctual": { "lights": [{ "type": "spot", "spot": { "innerConeAngle": 1 } }] } }),
                ),
            ],
            "extensions.KHR_lights_punctual.lights[0].spot has the angles 1 and 0.7853982; the inner one must be 0 or above \
             and below the outer one, and that at most π/2",
            "it is left out",
        ),
        (
            vec![("/materials/0/emissiveTexture", json!({ "index": 0 }))],
            "materials[0].emissiveTexture.index is 0, and there are no \"textures\"",
            "the material is without it",
        ),
        (
            vec![("/materials/0/normalTexture", json!({ "index": 0 })), ("/textures", json!([{}]))],
            "textures[0] has no \"source\" that says which image it is of",
            "the material is without it",
        ),
        (
            vec![
                ("/materials/0/normalTexture", json!({ "index": 0 })),
                ("/textures", json!([{ "extensions": { "EXT_texture_avif": { "source": 0 } } }])),
            ],
            "textures[0] has its image by EXT_texture_avif, which is not supported",
            "the material is without it",
        ),
        (
            vec![
                ("/materials/0/normalTexture", json!({ "index": 0 })),
                ("/textures", json!([{ "source": 0 }])),
                ("/images", json!([{}])),
            ],
            "images[0] has neither a \"bufferView\" nor a \"uri\"",
            "the material is without it",
        ),
        (
            vec![
                ("/materials/0/normalTexture", json!({ "index": 0 })),
                ("/textures", json!([{ "source": 0 }])),
                ("/images", json!([{ "bufferView": 0 }])),
            ],
            "images[0] cannot be read: it is no image that is read; PNG, JPEG, WebP, KTX2, BMP, PNM, HDR, PFM, OpenEXR and TGA files are",
            "the material is without it",
        ),
        (
            vec![
                ("/materials/0/pbrMetallicRoughness", json!({ "baseColorTexture": { "index": 0 } })),
                ("/textures", json!([{ "source": 0 }])),
                ("/images", json!([{ "uri": "absent.png" }])),
            ],
            "images[0].uri names \"absent.png\", which cannot be read: there is no folder \"/nowhere\"",
            "the material is without it",
        ),
    ];
    for (changes, message, remedy) in &cases {
        let (_, warnings) = read_json(&with(changes)).unwrap_or_else(|e| panic!("{changes:?}: {e}"));
        assert_eq!(warnings, [format!("m.gltf: {message}; {remedy}")]);
        let (text, strict) = (with(changes).to_string(), Options { strict: true, ..Options::default() });
        let error = load_bytes_with("m.gltf", text.as_bytes(), &Files::new("/nowhere", false), &strict);
        assert_eq!(error.unwrap_err().to_string(), format!("m.gltf: {message}"));
    }
}

/// A quad of which one triangle is good, and the other has a vertex that is none, in one way or another.
#[test]
fn triangles_that_cannot_be_are_left_out() {
    let quad = |corner: [f32; 3], index: u8| {
        let [x, y, z] = corner;
        let mut bytes = floats(&[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, x, y, z]);
        bytes.extend([0, 1, 2, 1, 2, index]);
        let primitive = json!({ "attributes": { "POSITION": 0 }, "indices": 1 });
        let document = with(&[
            ("/accessors/0/count", json!(4)),
            ("/accessors/1", json!({ "bufferView": 1, "componentType": 5121, "count": 6, "type": "SCALAR" })),
            ("/bufferViews/0/byteLength", json!(48)),
            ("/bufferViews/1", json!({ "buffer": 0, "byteOffset": 48, "byteLength": 6 })),
            ("/buffers/0", json!({ "byteLength": 54, "uri": uri(&bytes) })),
            ("/meshes/0/primitives/0", primitive),
        ]);
        let (scene, warnings) = read_json(&document).unwrap();
        let Geometry::Mesh(mesh) = &scene.shapes[0].geometry else { panic!() };
        assert!(mesh.positions.iter().all(|p| p.is_finite()));
        (mesh.triangles.len(), warnings)
    };
    assert_eq!(quad([1.0, 1.0, 0.0], 3), (2, vec![]));
    let nan = "m.gltf: accessors[0] has an element, 3, that is not a number (NaN); what has it is left out";
    assert_eq!(quad([1.0, f32::NAN, 0.0], 3), (1, vec![nan.to_owned()]));
    let far = "m.gltf: meshes[0].primitives[0].indices has the index 9 of a mesh with 4 vertices; what has it is left out";
    assert_eq!(quad([1.0, 1.0, 0.0], 9), (1, vec![far.to_owned()]));
    // Where no triangle has it, it is not even looked at.
    assert_eq!(quad([f32::INFINITY; 3], 0), (2, vec![]));
}

#[test]
fn samplers_that_are_wrong_are_the_usual_ones() {
    let pixel = ::image::RgbImage::from_pixel(1, 1, ::image::Rgb([9, 9, 9]));
    let mut png = std::io::Cursor::new(Vec::new());
    pixel.write_to(&mut png, ::image::ImageFormat::Png).unwrap();
    let (scene, warnings) = read_json(&with(&[
        ("/materials/0/pbrMetallicRoughness", json!({ "baseColorTexture": { "index": 0 } })),
        ("/textures", json!([{ "source": 0, "sampler": 0 }])),
        ("/images", json!([{ "uri": uri(png.get_ref()) }])),
        ("/samplers", json!([{ "wrapS": 1 }])),
    ]))
    .unwrap();
    let warning =
        "m.gltf: samplers[0].wrapS is 1; textures wrap by 10497, 33071 or 33648; the usual is taken";
    assert_eq!((scene.images.len(), warnings), (1, vec![warning.to_owned()]));
}

/// The factors of a material whose textures cannot be read are what is left of it, but for emission.
#[test]
fn factors_stay_without_their_textures() {
    let (texture, normal) = (json!({ "index": 0 }), json!({ "index": 0, "scale": 2 }));
    let material = |mode: &str, alpha: f32| {
        let pbr = json!({
            "baseColorFactor": [0.5, 0.25, 1, alpha], "baseColorTexture": texture,
            "metallicFactor": 0.25, "roughnessFactor": 0.5, "metallicRoughnessTexture": texture,
        });
        let material = json!({
            "pbrMetallicRoughness": pbr, "normalTexture": normal, "alphaMode": mode,
            "emissiveFactor": [1, 1, 1], "emissiveTexture": texture,
        });
        let (scene, warnings) = read_json(&with(&[
            ("/materials/0", material),
            ("/textures", json!([{ "source": 0 }])),
            ("/images", json!([{ "uri": "data:image/png;base64,AAAA" }])),
        ]))
        .unwrap();
        // Once as colours and once as numbers.
        assert!(warnings.len() == 1 && warnings[0].contains("(and 1 more of the kind)"), "{warnings:?}");
        assert_eq!(scene.shapes[0].emission.value, Vec3::ZERO);
        let material = scene.materials[0].clone();
        assert_eq!(material.normal_map, None);
        let torrance_scene::MaterialKind::Gltf(gltf) = material.kind else { panic!() };
        assert_eq!(gltf.base_color, torrance_scene::Color::new(Vec3::new(0.5, 0.25, 1.0)));
        assert!(gltf.metallic.is(0.25) && gltf.roughness.is(0.5));
        material.opacity
    };
    assert!(material("BLEND", 0.75).is(0.75));
    assert!(material("MASK", 0.75).is(1.0));
    assert!(material("MASK", 0.25).is(0.0));
}

/// A buffer that is lost leaves nothing, also if an image has asked for it before.
#[test]
fn buffers_are_not_forgiven() {
    let lost = [
        ("/materials/0/pbrMetallicRoughness", json!({ "baseColorTexture": { "index": 0 } })),
        ("/textures", json!([{ "source": 0 }])),
        ("/images", json!([{ "bufferView": 0 }])),
        ("/buffers/0/uri", json!("a.bin")),
    ];
    assert_eq!(
        refused(&lost),
        "m.gltf: buffers[0].uri names \"a.bin\", which cannot be read: there is no folder \"/nowhere\""
    );
}

/// A grid of `side`² quads, with an index of four bytes a corner, as positions, indices, and what these are in JSON.
fn grid(side: u32) -> (Vec<u8>, Value) {
    let place = |i: u32| [(i % (side + 1)) as f32, (i / (side + 1)) as f32, 0.0];
    let vertices = (side + 1) * (side + 1);
    let mut bytes = floats(&(0..vertices).flat_map(place).collect::<Vec<_>>());
    let start = bytes.len();
    for i in (0..vertices - side - 2).filter(|i| i % (side + 1) != side) {
        let [a, b, c, d] = [i, i + 1, i + side + 2, i + side + 1];
        bytes.extend([a, b, c, a, c, d].iter().flat_map(|i| i.to_le_bytes()));
    }
    let views = json!([
        { "buffer": 0, "byteLength": start },
        { "buffer": 0, "byteOffset": start, "byteLength": bytes.len() - start },
    ]);
    (bytes, views)
}

/// Many materials on one shape, as charts of materials have them, are few bytes, and one mesh in memory; whether primitives
/// name the same accessors or others of the same bytes.
#[test]
fn what_counts_against_limits_is_distinct() {
    const PARTS: usize = 400;
    let (bytes, views) = grid(50);
    let corners = 6 * 50 * 50;
    let positions = json!({ "bufferView": 0, "componentType": 5126, "count": 51 * 51, "type": "VEC3" });
    let indices = json!({ "bufferView": 1, "componentType": 5125, "count": corners, "type": "SCALAR" });
    for own in [false, true] {
        let count = if own { PARTS } else { 1 };
        let accessors: Vec<_> = (0..count).flat_map(|_| [positions.clone(), indices.clone()]).collect();
        let part = |i: usize| {
            let first = if own { 2 * i } else { 0 };
            json!({ "primitives": [{ "attributes": { "POSITION": first }, "indices": first + 1, "material": i }] })
        };
        let document = with(&[
            ("/scenes/0/nodes", json!((0..PARTS).collect::<Vec<_>>())),
            ("/nodes", (0..PARTS).map(|i| json!({ "mesh": i, "translation": [i, 0, 0] })).collect()),
            ("/meshes", (0..PARTS).map(part).collect()),
            ("/materials", (0..PARTS).map(|i| json!({ "name": format!("m{i}") })).collect()),
            ("/accessors", accessors.into()),
            ("/bufferViews", views.clone()),
            ("/buffers/0", json!({ "byteLength": bytes.len(), "uri": uri(&bytes) })),
        ]);
        let (scene, warnings) = read_json(&document).unwrap();
        assert_eq!((scene.shapes.len(), scene.materials.len(), warnings), (PARTS, PARTS, vec![]));
        let meshes = scene.shapes.iter().map(|shape| match &shape.geometry {
            Geometry::Mesh(mesh) => std::sync::Arc::as_ptr(mesh),
            _ => panic!(),
        });
        assert_eq!(meshes.collect::<std::collections::BTreeSet<_>>().len(), 1, "{own}");
    }
}

/// Primitives of a few triangles each, out of vertices that all share: each reads its own vertices.
#[test]
fn shared_vertices_are_read_where_they_are_used() {
    let side = 300;
    let (bytes, views) = grid(side as u32);
    let parts = side * side;
    let accessor = |i: usize| json!({ "bufferView": 1, "byteOffset": 24 * i, "componentType": 5125, "count": 6, "type": "SCALAR" });
    let positions =
        json!({ "bufferView": 0, "componentType": 5126, "count": (side + 1) * (side + 1), "type": "VEC3" });
    let accessors: Vec<_> = std::iter::once(positions).chain((0..parts).map(accessor)).collect();
    let part = |i: usize| json!({ "attributes": { "POSITION": 0 }, "indices": i + 1 });
    let document = with(&[
        ("/meshes/0/primitives", (0..parts).map(part).collect()),
        ("/accessors", accessors.into()),
        ("/bufferViews", views),
        ("/buffers/0", json!({ "byteLength": bytes.len(), "uri": uri(&bytes) })),
    ]);
    let (scene, warnings) = read_json(&document).unwrap();
    assert_eq!((scene.shapes.len(), warnings), (parts, vec![]));
    for shape in &scene.shapes {
        let Geometry::Mesh(mesh) = &shape.geometry else { panic!() };
        assert_eq!((mesh.positions.len(), mesh.triangles.len()), (4, 2));
        assert_eq!(
            mesh.positions[mesh.triangles[0][2] as usize] - mesh.positions[0],
            Vec3::new(1.0, 1.0, 0.0)
        );
    }
}

/// What is distinct is bounded by the bytes of the file: indices that overlap, by a byte each time, are others every time.
#[test]
fn distinct_accessors_of_the_same_bytes_have_a_limit() {
    let (parts, corners) = (60_000, 30_000);
    let bytes = [floats(&[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0]), [0, 1, 2].repeat(50_000)].concat();
    let accessor = |i: usize| json!({ "bufferView": 1, "byteOffset": i, "componentType": 5121, "count": corners, "type": "SCALAR" });
    let positions = json!({ "bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3" });
    let accessors: Vec<_> = std::iter::once(positions).chain((0..parts).map(accessor)).collect();
    let part = |i: usize| json!({ "attributes": { "POSITION": 0 }, "indices": i + 1 });
    let message = refused(&[
        ("/meshes/0/primitives", (0..parts).map(part).collect()),
        ("/accessors", accessors.into()),
        (
            "/bufferViews",
            json!([
                { "buffer": 0, "byteLength": 36 },
                { "buffer": 0, "byteOffset": 36, "byteLength": bytes.len() - 36 },
            ]),
        ),
        ("/buffers/0", json!({ "byteLength": bytes.len(), "uri": uri(&bytes) })),
    ]);
    let found = message.lines().next().unwrap();
    assert!(
        found.contains(
            "].count asks for 30000 elements: with those before, more than 2400576, the most of a file"
        ),
        "{found}"
    );
}

#[test]
fn numbers_that_are_none() {
    for (number, what) in [(f32::NAN, "not a number (NaN)"), (f32::NEG_INFINITY, "infinite")] {
        let mut bytes = floats(&[0.0, 0.0, 0.0, 1.0, number, 0.0, 0.0, 1.0, 0.0]);
        bytes.extend([0, 0, 1, 0, 2, 0]);
        bytes.resize(80, 0);
        let changes = [("/buffers/0", json!({ "byteLength": 80, "uri": uri(&bytes) }))];
        assert_eq!(
            refused(&changes),
            format!("m.gltf: accessors[0] has an element, 1, that is {what}\nm.gltf: has nothing to be seen")
        );
    }
}

#[test]
fn syntax() {
    let of = |text: &str| read("m.gltf", text.as_bytes(), &Files::new("", false)).unwrap_err().to_string();
    assert_eq!(of("{\n  \"asset\": 1,,\n}"), "m.gltf:2:14: not valid JSON: key must be a string");
    assert_eq!(of(""), "m.gltf:1:1: not valid JSON: EOF while parsing a value");
    assert_eq!(of("[]"), "m.gltf: is no glTF: it is JSON of something else than an object");
    let deep = "[".repeat(200);
    assert_eq!(of(&deep), "m.gltf:1:128: not valid JSON: recursion limit exceeded");
    let many = format!("[{}0]", "0,".repeat(4_000_000));
    assert_eq!(of(&many), "m.gltf: has more than 4000000 values; what is large belongs into a buffer");
    assert_eq!(read("m.gltf", b"{\"a\": \xff", &Files::new("", false)).unwrap_err().problems.len(), 1);
}

#[test]
fn chunks() {
    let file = glb(&triangle());
    let mut version = file.clone();
    version[4] = 1;
    assert_eq!(refused_bytes(&version), "m.glb: is of version 1 of glTF; only 2 is read");
    assert_eq!(refused_bytes(&file[..7]), "m.glb: the file ends within its header");
    let length = file.len();
    let message =
        format!("m.glb: the file ends too early: its header says {length} bytes, there are {}", length - 1);
    assert_eq!(refused_bytes(&file[..length - 1]), message);
    let mut long = file.clone();
    long[15] = 0x7f;
    let size = u32::from_le_bytes([long[12], long[13], long[14], long[15]]);
    let message =
        format!("m.glb: the chunk at byte 12 says that it has {size} bytes, and the file ends earlier");
    assert_eq!(refused_bytes(&long), message);
    let mut kind = file;
    kind[16] = b'K';
    assert_eq!(refused_bytes(&kind), "m.glb: the first chunk of a .glb file must be of JSON");
}

/// A file of some kilobytes that asks for the same positions again and again is refused before memory is.
#[test]
fn what_is_shared_is_counted_each_time() {
    let primitive = json!({ "attributes": { "POSITION": 0 } });
    let zeros = json!({ "componentType": 5126, "count": 30_000, "type": "VEC3" });
    let started = std::time::Instant::now();
    let message = refused(&[("/meshes/0/primitives", json!(vec![primitive; 200])), ("/accessors/0", zeros)]);
    assert!(message.contains("more than 2097152, the most of a file"), "{message}");
    assert!(started.elapsed().as_secs_f64() < 5.0, "{:?}", started.elapsed());
}
