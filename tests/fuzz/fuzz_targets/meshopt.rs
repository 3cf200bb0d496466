//! Buffer views compressed by meshoptimizer.
#![no_main]

use libfuzzer_sys::fuzz_target;

const DOCUMENT: &str = r#"{
    "asset": { "version": "2.0" },
    "scenes": [{ "nodes": [0] }],
    "nodes": [{ "mesh": 0 }],
    "meshes": [{ "primitives": [{ "attributes": { "POSITION": 0 }ELEMENTS }] }],
    "accessors": [
        { "bufferView": 0, "componentType": 5120, "normalized": true, "count": COUNT, "type": "VEC3" },
        { "bufferView": 0, "componentType": 5123, "count": COUNT, "type": "SCALAR" }
    ],
    "bufferViews": [{ "buffer": 1, "byteLength": 0, "extensions": { "KHR_meshopt_compression": {
        "buffer": 0, "byteLength": LENGTH, "byteStride": STRIDE, "count": COUNT, "mode": "MODE", "filter": "FILTER"
    } } }],
    "buffers": [{ "byteLength": LENGTH }, { "byteLength": 0 }]
}"#;

// Four bytes choose what is said of the others: mode, filter, bytes of an element, elements.
fuzz_target!(|data: &[u8]| {
    let Some((&[mode, filter, stride, count], data)) = data.split_first_chunk() else { return };
    const MODES: [&str; 3] = ["ATTRIBUTES", "TRIANGLES", "INDICES"];
    const FILTERS: [&str; 5] = ["NONE", "OCTAHEDRAL", "QUATERNION", "EXPONENTIAL", "COLOR"];
    let mode = MODES[usize::from(mode) % 3];
    let indices = if mode == "ATTRIBUTES" { "" } else { ", \"indices\": 1" };
    let document = DOCUMENT
        .replace("ELEMENTS", indices)
        .replace("MODE", mode)
        .replace("FILTER", FILTERS[usize::from(filter) % 5])
        .replace("STRIDE", &(2 + 2 * u32::from(stride)).to_string())
        .replace("COUNT", &(3 * u32::from(count)).to_string())
        .replace("LENGTH", &data.len().to_string());
    torrance_fuzz::glb(&document, data);
});
