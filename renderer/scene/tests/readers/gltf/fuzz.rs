//! Thousands of broken files: each is read or refused, and none brings the reader down.

use serde_json::{Value, json};
use tier::Random;
use torrance_scene::{Description, Files, Geometry, GltfChoice, limits, load_bytes_with};

use super::packed::Packed;
use super::{choosing, read, triangle};

const MODELS: [&[u8]; 3] = [
    include_bytes!("../../../../../tests/references/gltf-textures/scene.glb"),
    include_bytes!("../../../../../tests/references/gltf-accessors/scene.glb"),
    include_bytes!("../../../../../tests/references/gltf-lights/scene.glb"),
];

/// Values that readers trip over.
fn odd(random: &mut Random) -> Value {
    let values = [
        json!(null),
        json!(-1),
        json!(0),
        json!(1),
        json!(2),
        json!(5),
        json!(255),
        json!(5121),
        json!(5126),
        json!(4_294_967_295_u64),
        json!(18_446_744_073_709_551_615_u64),
        json!(0.5),
        json!(1e300),
        json!(-1e-300),
        json!("x"),
        json!("VEC4"),
        json!("data:,%00"),
        json!(true),
        json!([]),
        json!([0]),
        json!([0, 0, 0]),
        json!([1, 1, 1, 1]),
        json!({}),
        json!({ "index": 0 }),
        json!({ "count": 1, "indices": { "bufferView": 1, "componentType": 5123 }, "values": { "bufferView": 0 } }),
    ];
    values[random.below(values.len())].clone()
}

/// Puts something odd somewhere into a value.
fn disturb(value: &mut Value, random: &mut Random) {
    let count = match value {
        Value::Array(elements) => elements.len(),
        Value::Object(members) => members.len(),
        _ => 0,
    };
    if count == 0 || random.below(6) == 0 {
        *value = odd(random);
        return;
    }
    let at = random.below(count);
    match value {
        Value::Array(elements) => disturb(&mut elements[at], random),
        Value::Object(members) => {
            let Some(key) = members.keys().nth(at).cloned() else { return };
            match random.below(8) {
                0 => drop(members.remove(&key)),
                _ => members.get_mut(&key).into_iter().for_each(|value| disturb(value, random)),
            }
        }
        _ => {}
    }
}

/// Invariants of every description that loads.
fn check(description: &Description) {
    let groups = description.groups.iter().flat_map(|group| &group.shapes);
    for shape in description.shapes.iter().chain(groups) {
        assert!(shape.material < description.materials.len());
        assert!(shape.world_from_object.is_finite() && shape.world_from_object.matrix3.determinant() != 0.0);
        assert!(shape.emission.value.is_finite() && shape.emission.value.min_element() >= 0.0);
        let Geometry::Mesh(mesh) = &shape.geometry else { panic!("{:?}", shape.geometry) };
        assert!(!mesh.triangles.is_empty());
        assert!(mesh.triangles.iter().flatten().all(|i| (*i as usize) < mesh.positions.len()));
        for count in [mesh.normals.len(), mesh.uvs.len(), mesh.colors.len()] {
            assert!(count == 0 || count == mesh.positions.len());
        }
        assert!(mesh.normals.iter().all(|n| n.is_normalized()));
        assert!(mesh.positions.iter().all(|p| p.is_finite()) && mesh.uvs.iter().all(|uv| uv.is_finite()));
    }
    assert!(description.bounds().lo.abs().max_element() <= limits::MAX_COORDINATE);
    assert!(description.instances.iter().all(|i| (i.group as usize) < description.groups.len()));
    let count = description.textures.len();
    assert!(description.textures.iter().flat_map(|t| t.references()).all(|i| i < count));
    assert!(description.has_light());
}

/// Reads a file, and counts whether it could be.
fn count(bytes: &[u8], counts: &mut [u32; 2]) {
    match read("m.gltf", bytes, &Files::new("/nowhere", false)) {
        Ok((description, _)) => {
            check(&description);
            counts[0] += 1;
        }
        Err(error) => {
            assert!(!error.problems.is_empty());
            assert!(error.report(false).starts_with("error: m.gltf"));
            counts[1] += 1;
        }
    }
}

#[test]
fn broken_documents() {
    let mut random = Random(1);
    let mut counts = [0; 2];
    let mut whole = triangle();
    whole["materials"][0] = json!({
        "pbrMetallicRoughness": { "baseColorFactor": [1, 0.5, 0.2, 0.5], "metallicFactor": 0.5 },
        "extensions": { "KHR_materials_clearcoat": { "clearcoatFactor": 1 }, "KHR_materials_ior": { "ior": 1.4 } },
        "alphaMode": "BLEND",
        "emissiveFactor": [0, 0, 0],
    });
    whole["cameras"] = json!([{ "type": "perspective", "perspective": { "yfov": 1, "znear": 1 } }]);
    whole["nodes"][0]["camera"] = json!(0);
    for _ in 0..6000 {
        let mut document = whole.clone();
        for _ in 0..=random.below(3) {
            disturb(&mut document, &mut random);
        }
        count(document.to_string().as_bytes(), &mut counts);
    }
    // Both must happen, or the test tests nothing.
    assert!(counts.iter().all(|n| *n > 150), "{counts:?}");
}

/// A triangle with two morph targets, held by two joints; an animation of all that moves, and a variant.
fn moving() -> Value {
    let mut packed = Packed::default();
    let positions = packed.vectors(&[[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]);
    let delta = packed.sparse(3, &[(1, [0.0, 0.0, 2.0])]);
    let attributes = json!({
        "POSITION": positions,
        "NORMAL": packed.vectors(&[[0.0, 0.0, 1.0]; 3]),
        "JOINTS_0": packed.joints(&[[0, 1, 0, 0]; 3]),
        "WEIGHTS_0": packed.vectors(&[[0.5, 0.5, 0.0, 0.0]; 3]),
    });
    let matrix = glam::Mat4::from_scale(glam::Vec3::splat(0.5)).to_cols_array();
    let skin = json!({ "joints": [1, 2], "inverseBindMatrices": packed.vectors(&[matrix; 2]) });
    let input = packed.scalars(&[0.0, 1.0]);
    let outputs = [
        packed.vectors(&[[0.0; 3], [1.0; 3]]),
        packed.vectors(&[[0.0, 0.0, 0.0, 1.0], [0.0, 1.0, 0.0, 0.0]]),
        packed.scalars(&[0.0, 0.0, 0.25, 0.5, 1.0, 0.0, 0.0, 1.0, 0.5, 0.25, 0.0, 0.0]),
    ];
    let samplers = outputs.map(|output| json!({ "input": input, "output": output }));
    let channel = |sampler: u32, node: u32, path: &str| json!({ "sampler": sampler, "target": { "node": node, "path": path } });
    let mut document = packed.document(json!({
        "nodes": [{ "mesh": 0, "skin": 0 }, { "children": [2] }, { "translation": [1, 0, 0] }, { "mesh": 0 }],
        "meshes": [{
            "primitives": [{
                "attributes": attributes,
                "targets": [{ "POSITION": delta }, { "NORMAL": positions }],
                "extensions": { "KHR_materials_variants": { "mappings": [{ "variants": [0], "material": 0 }] } },
            }],
            "weights": [0.5, 0],
        }],
        "materials": [{}],
        "skins": [skin],
        "animations": [{
            "channels": [
                channel(0, 1, "translation"), channel(1, 2, "rotation"), channel(0, 2, "scale"), channel(2, 0, "weights"),
            ],
            "samplers": samplers,
        }],
        "extensions": { "KHR_materials_variants": { "variants": [{ "name": "a" }] } },
    }));
    document["animations"][0]["samplers"][2]["interpolation"] = json!("CUBICSPLINE");
    document
}

#[test]
fn broken_poses() {
    let mut random = Random(3);
    let mut counts = [0; 2];
    let zero = || Some("0".to_owned());
    let chosen = GltfChoice { variant: zero(), animation: zero(), at: Some(0.5), ..GltfChoice::default() };
    let options = choosing(chosen);
    let files = Files::new("/nowhere", false);
    let whole = moving();
    load_bytes_with("m.gltf", whole.to_string().as_bytes(), &files, &options).unwrap();
    for _ in 0..6000 {
        let mut document = whole.clone();
        for _ in 0..=random.below(2) {
            disturb(&mut document, &mut random);
        }
        match load_bytes_with("m.gltf", document.to_string().as_bytes(), &files, &options) {
            Ok(loaded) => {
                check(&loaded.description);
                counts[0] += 1;
            }
            Err(error) => {
                assert!(error.report(false).starts_with("error: m.gltf"));
                counts[1] += 1;
            }
        }
    }
    assert!(counts.iter().all(|n| *n > 300), "{counts:?}");
}

#[test]
fn broken_chunks() {
    let mut random = Random(2);
    let mut counts = [0; 2];
    for i in 0..3000 {
        let mut bytes = MODELS[i % MODELS.len()].to_vec();
        for _ in 0..=random.below(4) {
            let at = random.below(bytes.len());
            match random.below(4) {
                0 => bytes.truncate(at + 1),
                1 => drop(bytes.drain(at..(at + random.below(9)).min(bytes.len()))),
                _ => bytes[at] ^= 1 << random.below(8),
            }
            if bytes.is_empty() {
                break;
            }
        }
        count(&bytes, &mut counts);
    }
    assert!(counts.iter().all(|n| *n > 300), "{counts:?}");
}
