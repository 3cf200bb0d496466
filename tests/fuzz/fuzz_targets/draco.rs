//! Meshes compressed by Draco.
#![no_main]

use libfuzzer_sys::fuzz_target;

const DOCUMENT: &str = r#"{
    "asset": { "version": "2.0" },
    "scenes": [{ "nodes": [0] }],
    "nodes": [{ "mesh": 0 }],
    "meshes": [{ "primitives": [{
        "attributes": { "POSITION": 0, "NORMAL": 1, "TEXCOORD_0": 2, "COLOR_0": 3 },
        "indices": 4,
        "extensions": { "KHR_draco_mesh_compression": {
            "bufferView": 0,
            "attributes": { "POSITION": 0, "NORMAL": 1, "TEXCOORD_0": 2, "COLOR_0": 3 }
        } }
    }] }],
    "accessors": [
        { "componentType": 5126, "count": 3, "type": "VEC3" },
        { "componentType": 5126, "count": 3, "type": "VEC3" },
        { "componentType": 5126, "count": 3, "type": "VEC2" },
        { "componentType": 5121, "normalized": true, "count": 3, "type": "VEC4" },
        { "componentType": 5123, "count": 3, "type": "SCALAR" }
    ],
    "bufferViews": [{ "buffer": 0, "byteLength": LENGTH }],
    "buffers": [{ "byteLength": LENGTH }]
}"#;

fuzz_target!(|data: &[u8]| torrance_fuzz::glb(&DOCUMENT.replace("LENGTH", &data.len().to_string()), data));
