//! Documents whose accessors are packed into one buffer as they are wanted.

use serde_json::{Value, json};

use super::{floats, uri};

/// The buffer of a document, and what is in it.
#[derive(Default)]
pub(super) struct Packed {
    bytes: Vec<u8>,
    views: Vec<Value>,
    accessors: Vec<Value>,
}

impl Packed {
    fn view(&mut self, bytes: &[u8]) -> usize {
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
        self.views.push(json!({ "buffer": 0, "byteOffset": self.bytes.len(), "byteLength": bytes.len() }));
        self.bytes.extend(bytes);
        self.views.len() - 1
    }

    /// An accessor of numbers that are stored as `component`; its index.
    pub(super) fn of(&mut self, component: u32, kind: &str, count: usize, bytes: &[u8]) -> usize {
        let view = self.view(bytes);
        let normalized = component != 5126 && kind != "JOINTS";
        let kind = if kind == "JOINTS" { "VEC4" } else { kind };
        self.push(json!({
            "bufferView": view, "componentType": component, "normalized": normalized, "count": count, "type": kind,
        }))
    }

    pub(super) fn push(&mut self, accessor: Value) -> usize {
        self.accessors.push(accessor);
        self.accessors.len() - 1
    }

    pub(super) fn scalars(&mut self, numbers: &[f32]) -> usize {
        self.of(5126, "SCALAR", numbers.len(), &floats(numbers))
    }

    pub(super) fn vectors<const N: usize>(&mut self, vectors: &[[f32; N]]) -> usize {
        let kind = ["SCALAR", "VEC2", "VEC3", "VEC4"].get(N - 1).copied().unwrap_or("MAT4");
        self.of(5126, kind, vectors.len(), &floats(vectors.as_flattened()))
    }

    pub(super) fn joints(&mut self, joints: &[[u8; 4]]) -> usize {
        self.of(5121, "JOINTS", joints.len(), joints.as_flattened())
    }

    /// An accessor of zeros, but for some elements.
    pub(super) fn sparse(&mut self, count: usize, others: &[(u16, [f32; 3])]) -> usize {
        let indices: Vec<u8> = others.iter().flat_map(|(i, _)| i.to_le_bytes()).collect();
        let values: Vec<f32> = others.iter().flat_map(|(_, value)| *value).collect();
        let (indices, values) = (self.view(&indices), self.view(&floats(&values)));
        self.push(json!({
            "componentType": 5126, "count": count, "type": "VEC3",
            "sparse": {
                "count": others.len(),
                "indices": { "bufferView": indices, "componentType": 5123 },
                "values": { "bufferView": values },
            },
        }))
    }

    /// A document with what is in the buffer. All nodes that are no others' children are in its scene.
    pub(super) fn document(&self, mut parts: Value) -> Value {
        let nodes = parts["nodes"].as_array().expect("nodes").clone();
        let children: Vec<_> =
            nodes.iter().filter_map(|node| node["children"].as_array()).flatten().cloned().collect();
        let roots: Vec<_> = (0..nodes.len()).filter(|i| !children.contains(&json!(i))).collect();
        parts["asset"] = json!({ "version": "2.0" });
        if parts.get("scenes").is_none() {
            parts["scenes"] = json!([{ "nodes": roots }]);
        }
        parts["accessors"] = json!(self.accessors);
        parts["bufferViews"] = json!(self.views);
        parts["buffers"] = json!([{ "byteLength": self.bytes.len(), "uri": uri(&self.bytes) }]);
        parts
    }
}
