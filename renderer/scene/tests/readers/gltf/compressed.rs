//! Compressed files, as other programs wrote them, against the same files as these programs decompressed them.
//!
//! `compressed/NAME.glb` was written by glTF-Transform 4.5 with Google's Draco 1.5 and meshoptimizer 1.3, and read again and written
//! as `compressed/NAME-plain.glb`.

use serde_json::{Value, json};
use torrance_scene::{Description, Files, TriangleMesh};

use super::{mesh, read, with_chunks};

const DRACO: [(&str, &[u8], &[u8]); 2] = [
    (
        "edgebreaker",
        include_bytes!("compressed/draco-edgebreaker.glb"),
        include_bytes!("compressed/draco-edgebreaker-plain.glb"),
    ),
    (
        "sequential",
        include_bytes!("compressed/draco-sequential.glb"),
        include_bytes!("compressed/draco-sequential-plain.glb"),
    ),
];
const MESHOPT: (&[u8], &[u8]) =
    (include_bytes!("compressed/meshopt.glb"), include_bytes!("compressed/meshopt-plain.glb"));

const SKIN: (&[u8], &[u8]) =
    (include_bytes!("compressed/draco-skin.glb"), include_bytes!("compressed/draco-skin-plain.glb"));

fn described(bytes: &[u8]) -> Description {
    read("m.glb", bytes, &Files::new("/nowhere", false)).unwrap_or_else(|e| panic!("{e}")).0
}

fn only(description: &Description) -> &TriangleMesh {
    mesh(&description.shapes[0])
}

#[test]
fn draco_is_as_its_authors_decode_it() {
    for (name, packed, plain) in DRACO {
        let (found, expected) = (described(packed), described(plain));
        let (found, expected) = (only(&found), only(&expected));
        assert_eq!(found.triangles.len(), 32, "{name}");
        assert_eq!(found, expected, "{name}");
        // Negative control: normals are there, and are compared.
        assert!(
            found.normals.iter().any(|n| n.z < 0.99) && !found.colors.is_empty() && !found.uvs.is_empty()
        );
    }
    // The methods order vertices otherwise.
    assert_ne!(only(&described(DRACO[0].1)).positions, only(&described(DRACO[1].1)).positions);
}

/// Joints of a stream may have signs, and those of the file have none, as in files by COLLADA2GLTF.
#[test]
fn joints_are_those_of_the_file_though_the_stream_has_signs() {
    let (found, expected) = (described(SKIN.0), described(SKIN.1));
    let (found, expected) = (only(&found), only(&expected));
    assert_eq!((&found.positions, &found.triangles), (&expected.positions, &expected.triangles));
    // Three quarters of a vertex, or one, follow the joint at a height of 8.
    let heights = found.positions.iter().map(|p| p.z);
    assert!(heights.clone().all(|z| z == 2.0 || z == 6.0) && heights.sum::<f32>() == 16.0 * 4.0);
}

#[test]
fn meshopt_is_as_its_author_decodes_it() {
    let (found, expected) = (described(MESHOPT.0), described(MESHOPT.1));
    let (found, expected) = (only(&found), only(&expected));
    assert_eq!(
        (&found.positions, &found.triangles, &found.uvs, &found.colors),
        (&expected.positions, &expected.triangles, &expected.uvs, &expected.colors)
    );
    // Of normals, the last bit of a byte may differ by the vector unit.
    let worst =
        found.normals.iter().zip(&expected.normals).map(|(a, b)| (*a - *b).length()).fold(0.0, f32::max);
    assert!(found.normals.len() == expected.normals.len() && worst < 0.015, "{worst}");
}

/// The document of a `.glb` file with changes, and its bytes.
fn changed(file: &[u8], changes: &[(&str, Value)]) -> Vec<u8> {
    let length = u32::from_le_bytes(file[12..16].try_into().unwrap()) as usize;
    let mut document: Value = serde_json::from_slice(&file[20..20 + length]).unwrap();
    for (pointer, value) in changes {
        *document.pointer_mut(pointer).unwrap_or_else(|| panic!("no {pointer}")) = value.clone();
    }
    with_chunks(&document, &file[20 + length..])
}

fn refused(file: &[u8], changes: &[(&str, Value)]) -> String {
    let read = read("m.glb", &changed(file, changes), &Files::new("/nowhere", false));
    read.map(|_| ()).unwrap_err().to_string()
}

#[test]
fn wrong_streams_are_refused() {
    let view = "/bufferViews/0/extensions/EXT_meshopt_compression";
    let place = "m.glb: bufferViews[0].extensions.EXT_meshopt_compression";
    let cases = [
        ("mode", json!("POINTS"), ".mode is \"POINTS\"; modes are ATTRIBUTES, TRIANGLES and INDICES"),
        ("byteStride", json!(6), " has a byteStride of 6; it must be 2 or 4"),
        (
            "count",
            json!(100_000_000),
            ".count is 100000000: elements of 2 bytes come to more than 16 MiB, the most for ",
        ),
        ("count", json!(3000), " is damaged: its bytes cannot be decoded"),
    ];
    for (key, value, expected) in cases {
        let message = refused(MESHOPT.0, &[(&format!("{view}/{key}"), value)]);
        assert!(message.starts_with(&format!("{place}{expected}")), "{message}");
    }
    let draco = "/meshes/0/primitives/0/extensions/KHR_draco_mesh_compression";
    let place = "m.glb: meshes[0].primitives[0].extensions.KHR_draco_mesh_compression";
    let message = refused(DRACO[0].1, &[(&format!("{draco}/attributes/POSITION"), json!(77))]);
    assert_eq!(message, format!("{place}.attributes.POSITION is of no attribute of the compressed mesh"));
    let message = refused(DRACO[0].1, &[("/bufferViews/0/byteLength", json!(40))]);
    assert!(message.starts_with(&format!("{place}.bufferView cannot be decoded as Draco: ")), "{message}");
}

/// Some writers do not fill chunks up to a multiple of four bytes.
#[test]
fn chunks_may_follow_without_a_gap() {
    let (_, file, _) = DRACO[0];
    let length = u32::from_le_bytes(file[12..16].try_into().unwrap()) as usize;
    for spaces in 1..4 {
        let mut tight = file[..20 + length].to_vec();
        tight.extend(std::iter::repeat_n(b' ', spaces));
        tight[12..16].copy_from_slice(&((length + spaces) as u32).to_le_bytes());
        tight.extend(&file[20 + length..]);
        let whole = tight.len() as u32;
        tight[8..12].copy_from_slice(&whole.to_le_bytes());
        assert_eq!(only(&described(&tight)), only(&described(file)), "{spaces}");
    }
}
