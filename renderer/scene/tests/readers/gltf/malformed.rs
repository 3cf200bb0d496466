//! Files that are wrong: each is refused with a message that says where, or read with a warning.

use serde_json::{Value, json};
use torrance_scene::Files;

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
            vec![("/nodes/0/camera", json!(0)), ("/cameras", json!([{ "type": "x" }]))],
            "cameras[0].type must be \"perspective\" or \"orthographic\", not \"x\"",
        ),
        (
            vec![
                ("/nodes/0/camera", json!(0)),
                ("/cameras", json!([{ "type": "perspective", "perspective": { "yfov": 0 } }])),
            ],
            "cameras[0].perspective.yfov must be above 0 and below π",
        ),
        (
            vec![
                ("/nodes/0/camera", json!(0)),
                ("/cameras", json!([{ "type": "orthographic", "orthographic": { "xmag": 0, "ymag": 1 } }])),
            ],
            "cameras[0].orthographic.xmag must not be 0",
        ),
        (
            vec![("/nodes/0/extensions", json!({ "KHR_lights_punctual": { "light": 2 } }))],
            "nodes[0].extensions.KHR_lights_punctual.light is 2, and KHR_lights_punctual has 0 lights",
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
        ),
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
            vec![("/accessors/0", json!({ "componentType": 5126, "count": 100_000_000, "type": "VEC3" }))],
            "accessors[0].count asks for 1600000000 elements: with those before, more than 2097152, the most of a file of \
             that size",
        ),
        (
            vec![("/accessors/2/count", json!(2))],
            "meshes[0].primitives[0].attributes.TEXCOORD_0 has 2 elements, and there are 3 positions",
        ),
        (
            vec![("/accessors/0/count", json!(2))],
            "meshes[0].primitives[0].indices has the index 2 of a mesh with 2 vertices",
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
        (
            vec![("/materials/0/emissiveTexture", json!({ "index": 0 }))],
            "materials[0].emissiveTexture.index is 0, and there are no \"textures\"",
        ),
        (
            vec![("/materials/0/normalTexture", json!({ "index": 0 })), ("/textures", json!([{}]))],
            "textures[0] has no \"source\" that says which image it is of",
        ),
        (
            vec![
                ("/materials/0/normalTexture", json!({ "index": 0 })),
                ("/textures", json!([{ "extensions": { "EXT_texture_avif": { "source": 0 } } }])),
            ],
            "textures[0] has its image by EXT_texture_avif, which is not supported",
        ),
        (
            vec![
                ("/materials/0/normalTexture", json!({ "index": 0 })),
                ("/textures", json!([{ "source": 0 }])),
                ("/images", json!([{}])),
            ],
            "images[0] has neither a \"bufferView\" nor a \"uri\"",
        ),
        (
            vec![
                ("/materials/0/normalTexture", json!({ "index": 0 })),
                ("/textures", json!([{ "source": 0 }])),
                ("/images", json!([{ "bufferView": 0 }])),
            ],
            "images[0] cannot be read: it is no image that is read; PNG, JPEG, WebP, KTX2, BMP, PNM, HDR, PFM, OpenEXR and TGA files are",
        ),
        (
            vec![
                ("/materials/0/normalTexture", json!({ "index": 0 })),
                ("/textures", json!([{ "source": 0, "sampler": 0 }])),
                ("/images", json!([{}])),
                ("/samplers", json!([{ "wrapS": 1 }])),
            ],
            "samplers[0].wrapS is 1; textures wrap by 10497, 33071 or 33648",
        ),
    ];
    for (changes, expected) in &cases {
        assert_eq!(refused(changes), format!("m.gltf: {expected}"));
    }
    assert!(cases.len() > 60, "{}", cases.len());
}

#[test]
fn numbers_that_are_none() {
    for (number, what) in [(f32::NAN, "not a number (NaN)"), (f32::NEG_INFINITY, "infinite")] {
        let mut bytes = floats(&[0.0, 0.0, 0.0, 1.0, number, 0.0, 0.0, 1.0, 0.0]);
        bytes.resize(80, 0);
        let changes = [("/buffers/0", json!({ "byteLength": 80, "uri": uri(&bytes) }))];
        assert_eq!(refused(&changes), format!("m.gltf: accessors[0] has an element, 1, that is {what}"));
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
