//! Variants, scenes, animations, skins and morph targets, against closed forms in `f64`.

use glam::{Affine3A, DAffine3, DMat3, DMat4, DQuat, DVec3, Vec3};
use serde_json::{Value, json};
use torrance_scene::{
    Description, Error, Files, Geometry, GltfChoice, LoadedScene, Problem, TriangleMesh, load_bytes_with,
};

use super::packed::Packed;
use super::{choosing, mesh, triangle, with};

/// Three corners of a triangle.
const CORNERS: [[f32; 3]; 3] = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];

fn load(document: &Value, choice: GltfChoice) -> Result<LoadedScene, Error> {
    load_bytes_with(
        "m.gltf",
        document.to_string().as_bytes(),
        &Files::new("/nowhere", false),
        &choosing(choice),
    )
}

fn loaded(document: &Value, choice: GltfChoice) -> LoadedScene {
    load(document, choice).unwrap_or_else(|e| panic!("{e}"))
}

fn messages(problems: &[Problem]) -> Vec<&str> {
    problems.iter().map(|problem| problem.message.as_str()).collect()
}

fn animation(name: &str) -> GltfChoice {
    GltfChoice { animation: Some(name.to_owned()), ..GltfChoice::default() }
}

fn at(time: f32) -> GltfChoice {
    GltfChoice { at: Some(time), ..GltfChoice::default() }
}

/// The description at a time of the only animation, with nothing suspicious.
fn posed(document: &Value, time: f32) -> Description {
    let loaded = loaded(document, at(time));
    assert_eq!(messages(&loaded.warnings), [""; 0]);
    loaded.description
}

/// The message for a document at a time.
fn refused(document: &Value, choice: GltfChoice) -> String {
    match load(document, choice) {
        Ok(_) => panic!("{document} is read"),
        Err(error) => error.to_string(),
    }
}

/// Where a shape has its vertices in the world.
fn world(description: &Description, shape: usize) -> Vec<DVec3> {
    let shape = &description.shapes[shape];
    let Geometry::Mesh(mesh) = &shape.geometry else { panic!("{:?}", shape.geometry) };
    mesh.positions.iter().map(|p| shape.world_from_object.transform_point3(*p).as_dvec3()).collect()
}

/// The largest distance of points from where they are expected.
fn distance(found: &[DVec3], expected: &[DVec3]) -> f64 {
    assert_eq!(found.len(), expected.len());
    found.iter().zip(expected).map(|(a, b)| (*a - *b).length()).fold(0.0, f64::max)
}

/// Rounding of positions near the origin.
const ROUNDING: f64 = 2e-6;

/// An animated triangle: `keys` of `path` of its node, an accessor of `packed`.
fn animated(
    packed: &mut Packed,
    times: &[f32],
    path: &str,
    output: usize,
    interpolation: &str,
    node: Value,
) -> Value {
    let (positions, input) = (packed.vectors(&CORNERS), packed.scalars(times));
    packed.document(json!({
        "nodes": [node],
        "meshes": [{ "primitives": [{ "attributes": { "POSITION": positions } }] }],
        "animations": [{
            "channels": [{ "sampler": 0, "target": { "node": 0, "path": path } }],
            "samplers": [{ "input": input, "output": output, "interpolation": interpolation }],
        }],
    }))
}

fn about(axis: DVec3, degrees: f64) -> DQuat {
    DQuat::from_axis_angle(axis.normalize(), degrees.to_radians())
}

fn quaternion(q: DQuat) -> [f32; 4] {
    q.as_quat().to_array()
}

#[test]
fn a_node_turns_evenly_between_keys_and_rests_beyond_them() {
    let axis = DVec3::new(1.0, 2.0, -0.5);
    let key = |degrees| quaternion(about(axis, degrees));
    let mut packed = Packed::default();
    // The last key is as far the other way round, with the opposite sign: the shorter way is taken.
    let flipped = key(190.0).map(|x| -x);
    let output = packed.vectors(&[key(0.0), key(150.0), flipped]);
    let node = json!({ "mesh": 0, "translation": [3, 0, 0] });
    let document = animated(&mut packed, &[1.0, 3.0, 4.0], "rotation", output, "LINEAR", node);
    let expected = |degrees: f64| {
        CORNERS.map(|p| about(axis, degrees) * Vec3::from(p).as_dvec3() + DVec3::new(3.0, 0.0, 0.0))
    };
    for (time, degrees) in [
        (0.0, 0.0),
        (1.0, 0.0),
        (1.5, 37.5),
        (2.0, 75.0),
        (2.9, 142.5),
        (3.25, 160.0),
        (4.0, 190.0),
        (99.0, 190.0),
    ] {
        let found = world(&posed(&document, time), 0);
        assert!(distance(&found, &expected(degrees)) < ROUNDING, "at {time} s: {found:?}");
    }
    // Normalised means of the keys, in place of even turns, are told apart.
    let [from, to] = [key(0.0), key(150.0)].map(|q| DQuat::from_array(q.map(f64::from)));
    let mean = (from * 0.75 + to * 0.25).normalize();
    let mistaken = CORNERS.map(|p| mean * Vec3::from(p).as_dvec3() + DVec3::new(3.0, 0.0, 0.0));
    assert!(distance(&world(&posed(&document, 1.5), 0), &mistaken) > 1e-2);
}

#[test]
fn steps_keep_the_key_before() {
    let mut packed = Packed::default();
    let output = packed.vectors(&[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]);
    let document = animated(&mut packed, &[0.1, 0.2], "translation", output, "STEP", json!({ "mesh": 0 }));
    for (time, x) in [(0.0, 1.0), (0.1, 1.0), (0.199, 1.0), (0.2, 4.0), (1.0, 4.0)] {
        assert_eq!(world(&posed(&document, time), 0)[0].x, x, "at {time} s");
    }
}

/// Bézier curves: the same cubics by other control points, evaluated by de Casteljau's construction.
fn bezier(mut points: [DVec3; 4], t: f64) -> DVec3 {
    for last in (1..4).rev() {
        for i in 0..last {
            points[i] = points[i].lerp(points[i + 1], t);
        }
    }
    points[0]
}

#[test]
fn cubic_splines_are_bezier_curves() {
    let values = [[1.0, 2.0, 3.0], [0.5, 4.0, 2.0], [2.0, 1.0, 0.5]].map(Vec3::from);
    let arriving = [[9.0, 9.0, 9.0], [0.5, -3.0, 1.0], [2.0, 0.0, -1.0]].map(Vec3::from);
    let leaving = [[1.0, -2.0, 0.5], [-1.0, 2.0, 0.0], [9.0, 9.0, 9.0]].map(Vec3::from);
    let times = [0.5, 3.0, 4.0];
    let keys: Vec<[f32; 3]> =
        (0..3).flat_map(|k| [arriving[k], values[k], leaving[k]]).map(Vec3::into).collect();
    for path in ["translation", "scale"] {
        let mut packed = Packed::default();
        let output = packed.vectors(&keys);
        let document = animated(&mut packed, &times, path, output, "CUBICSPLINE", json!({ "mesh": 0 }));
        let expected = |value: DVec3| {
            CORNERS.map(|p| {
                let p = Vec3::from(p).as_dvec3();
                if path == "scale" { value * p } else { value + p }
            })
        };
        for (time, key) in
            [(0.0, 0), (0.5, 0), (0.75, 0), (1.75, 0), (2.9, 0), (3.0, 1), (3.5, 1), (4.0, 2), (5.0, 2)]
        {
            let last = key == 2 || time <= times[0];
            let seconds = if last { 0.0 } else { f64::from(times[key + 1] - times[key]) };
            let t = if last { 0.0 } else { f64::from(time - times[key]) / seconds };
            let [v0, b] = [values, leaving].map(|of| of[key].as_dvec3());
            let [v1, a] = [values, arriving].map(|of| of[(key + 1).min(2)].as_dvec3());
            let curve = |seconds: f64| bezier([v0, v0 + seconds / 3.0 * b, v1 - seconds / 3.0 * a, v1], t);
            let found = world(&posed(&document, time), 0);
            assert!(
                distance(&found, &expected(curve(seconds))) < 4.0 * ROUNDING,
                "{path} at {time} s: {found:?}"
            );
            // Straight lines and tangents that are not by the second are told apart.
            if time == 1.75 {
                assert!(distance(&found, &expected(v0.lerp(v1, t))) > 1e-2);
                assert!(distance(&found, &expected(curve(1.0))) > 1e-2);
            }
        }
    }
}

#[test]
fn cubic_rotations_are_made_unit_quaternions() {
    let turn = |degrees| about(DVec3::Z, degrees);
    let (from, to) = (turn(0.0), turn(90.0));
    let (leaving, arriving) = ([0.0, 0.0, 0.5, 0.0_f32], [0.0, 0.0, 0.1, -0.4_f32]);
    let mut packed = Packed::default();
    let zero = [0.0; 4];
    let output = packed.vectors(&[zero, quaternion(from), leaving, arriving, quaternion(to), zero]);
    let document =
        animated(&mut packed, &[0.0, 2.0], "rotation", output, "CUBICSPLINE", json!({ "mesh": 0 }));
    // At the middle of two seconds: ½(v₀ + v₁) + 2/8 (b − a) (appendix C.5).
    let [b, a] = [leaving, arriving].map(|q| DQuat::from_array(q.map(f64::from)));
    let middle = ((from + to) * 0.5 + (b - a) * 0.25).normalize();
    let found = world(&posed(&document, 1.0), 0);
    assert!(distance(&found, &CORNERS.map(|p| middle * Vec3::from(p).as_dvec3())) < ROUNDING, "{found:?}");
}

#[test]
fn keys_may_be_normalized_integers() {
    let turns = [about(DVec3::Y, 20.0), about(DVec3::Y, 100.0)];
    let numbers = turns.map(|q| q.to_array());
    let of_i16: Vec<u8> =
        numbers.as_flattened().iter().flat_map(|x| ((x * 32767.0).round() as i16).to_le_bytes()).collect();
    let of_i8: Vec<u8> =
        numbers.as_flattened().iter().map(|x| (x * 127.0).round() as i8).flat_map(i8::to_le_bytes).collect();
    for (component, bytes, error) in [(5122, of_i16, 1e-4), (5120, of_i8, 2e-2)] {
        let mut packed = Packed::default();
        let output = packed.of(component, "VEC4", 2, &bytes);
        let document = animated(&mut packed, &[0.0, 1.0], "rotation", output, "LINEAR", json!({ "mesh": 0 }));
        let expected = CORNERS.map(|p| about(DVec3::Y, 60.0) * Vec3::from(p).as_dvec3());
        let found = distance(&world(&posed(&document, 0.5), 0), &expected);
        assert!(found < error, "{component}: {found}");
    }
}

/// A triangle with two morph targets, of which the first is sparse.
fn morphed(packed: &mut Packed, mesh_weights: Value, node: Value) -> Value {
    let positions = packed.vectors(&CORNERS);
    let normals = packed.vectors(&[[0.0, 0.0, 1.0]; 3]);
    let uvs = packed.vectors(&[[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]);
    let colors = packed.vectors(&[[0.5, 0.25, 1.0]; 3]);
    let up = packed.sparse(3, &[(1, [0.0, 0.0, 2.0])]);
    let out = packed.vectors(&[[1.0, 0.0, 0.0]; 3]);
    let tilt = packed.vectors(&[[0.0, 0.75, 0.0]; 3]);
    let slide = packed.vectors(&[[0.25, -0.5]; 3]);
    let tint = packed.vectors(&[[-1.0, 0.5, 0.5]; 3]);
    let primitive = json!({
        "attributes": { "POSITION": positions, "NORMAL": normals, "TEXCOORD_0": uvs, "COLOR_0": colors },
        "targets": [
            { "POSITION": up, "NORMAL": tilt },
            { "POSITION": out, "TEXCOORD_0": slide, "COLOR_0": tint },
        ],
    });
    let mut mesh = json!({ "primitives": [primitive] });
    if !mesh_weights.is_null() {
        mesh["weights"] = mesh_weights;
    }
    packed.document(json!({ "nodes": [node], "meshes": [mesh] }))
}

/// The triangle as [`morphed`] is to be with two weights, in `f64`: base + w · delta.
fn expected_morph(w: [f64; 2]) -> Vec<DVec3> {
    let delta = |i: usize| DVec3::new(w[1], 0.0, if i == 1 { 2.0 * w[0] } else { 0.0 });
    (0..3).map(|i| Vec3::from(CORNERS[i]).as_dvec3() + delta(i)).collect()
}

#[test]
fn morph_targets_move_all_attributes() {
    let document = morphed(&mut Packed::default(), json!([0.4, 0.8]), json!({ "mesh": 0 }));
    let loaded = loaded(&document, GltfChoice::default());
    assert_eq!(messages(&loaded.warnings), [""; 0]);
    let description = loaded.description;
    assert!(distance(&world(&description, 0), &expected_morph([0.4, 0.8])) < ROUNDING);
    let TriangleMesh { normals, uvs, colors, .. } = mesh(&description.shapes[0]);
    let normal = DVec3::new(0.0, 0.4 * 0.75, 1.0).normalize().as_vec3();
    assert!((normals[2] - normal).length() < 1e-6, "{normals:?}");
    assert!((uvs[1] - glam::Vec2::new(1.0 + 0.8 * 0.25, -0.4)).length() < 1e-6, "{uvs:?}");
    // Red falls below 0, and blue rises above 1: colours are clamped.
    assert!((colors[0] - Vec3::new(0.0, 0.25 + 0.4, 1.0)).length() < 1e-6, "{colors:?}");
}

#[test]
fn weights_are_those_of_the_animation_or_the_node_or_the_mesh() {
    let of = |mesh_weights: Value, node: Value, time: Option<f32>| {
        let mut packed = Packed::default();
        // A cubic spline of two weights: arriving tangents, values and leaving ones of each of two keys.
        let keys = [0.0, 0.0, 0.2, 0.4, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0];
        let (input, output) = (packed.scalars(&[0.0, 2.0]), packed.scalars(&keys));
        let mut document = morphed(&mut packed, mesh_weights, node);
        document["animations"] = json!([{
            "channels": [{ "sampler": 0, "target": { "node": 0, "path": "weights" } }],
            "samplers": [{ "input": input, "output": output, "interpolation": "CUBICSPLINE" }],
        }]);
        world(&loaded(&document, GltfChoice { at: time, ..GltfChoice::default() }).description, 0)
    };
    let (mesh, node) = (json!([0.5, 0.25]), json!({ "mesh": 0, "weights": [0.75, 1.0] }));
    let is = |found: &[DVec3], w| distance(found, &expected_morph(w)) < ROUNDING;
    assert!(is(&of(Value::Null, json!({ "mesh": 0 }), None), [0.0, 0.0]));
    assert!(is(&of(mesh.clone(), json!({ "mesh": 0 }), None), [0.5, 0.25]));
    assert!(is(&of(mesh.clone(), node.clone(), None), [0.75, 1.0]));
    // In the middle: ½(v₀ + v₁) + 2/8 (b − a).
    let middle = of(mesh.clone(), node.clone(), Some(1.0));
    assert!(is(&middle, [0.6, 0.2 + 0.25]), "{middle:?}");
    assert!(!is(&middle, [0.6, 0.2]), "straight lines are told apart");
    assert!(is(&of(mesh, node, Some(7.0)), [1.0, 0.0]));
}

/// Three vertices that two joints hold, the second a child of the first. The mesh is of a node that is elsewhere.
fn skinned(packed: &mut Packed, inverse_bind: Option<[DAffine3; 2]>) -> Value {
    let attributes = json!({
        "POSITION": packed.vectors(&CORNERS),
        "NORMAL": packed.vectors(&[[0.6, 0.0, 0.8]; 3]),
        "JOINTS_0": packed.joints(&[[0, 1, 0, 0], [1, 0, 9, 9], [0, 0, 0, 1]]),
        "WEIGHTS_0": packed.vectors(&WEIGHTS),
    });
    let mut skin = json!({ "joints": [1, 2] });
    if let Some(matrices) = inverse_bind {
        let columns = matrices.map(|m| DMat4::from(m).to_cols_array().map(|x| x as f32));
        skin["inverseBindMatrices"] = json!(packed.vectors(&columns));
    }
    packed.document(json!({
        "nodes": [
            { "mesh": 0, "skin": 0, "translation": [100, 0, 0], "scale": [7, 7, 7] },
            { "name": "hip", "translation": [0, 4, 0], "scale": [1, 2, 1], "children": [2] },
            { "name": "knee", "translation": [1, 0, 0], "rotation": quaternion(about(DVec3::Z, 90.0)) },
        ],
        "meshes": [{ "primitives": [{ "attributes": attributes }] }],
        "skins": [skin],
    }))
}

/// Their sums are 1, 1 and ½: what is not 1 is made so.
const WEIGHTS: [[f32; 4]; 3] = [[0.25, 0.75, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0], [0.25, 0.0, 0.0, 0.25]];
/// Of the second joint, by vertex.
const OF_KNEE: [f64; 3] = [0.75, 1.0, 0.5];

/// The vertices of [`skinned`] and their normals, in `f64`, with the knee bent.
fn expected_skin(inverse_bind: Option<[DAffine3; 2]>, knee_degrees: f64) -> (Vec<DVec3>, Vec<DVec3>) {
    expected_skin_of(DVec3::new(1.0, 2.0, 1.0), inverse_bind, knee_degrees)
}

fn expected_skin_of(
    hip_scale: DVec3,
    inverse_bind: Option<[DAffine3; 2]>,
    knee_degrees: f64,
) -> (Vec<DVec3>, Vec<DVec3>) {
    let hip = DAffine3::from_translation(DVec3::Y * 4.0) * DAffine3::from_scale(hip_scale);
    let knee = hip * DAffine3::from_rotation_translation(about(DVec3::Z, knee_degrees), DVec3::X);
    let [hip_bind, knee_bind] = inverse_bind.unwrap_or([DAffine3::IDENTITY; 2]);
    let [hip, knee] = [hip * hip_bind, knee * knee_bind].map(DMat4::from);
    let blended = OF_KNEE.map(|w| hip * (1.0 - w) + knee * w);
    let positions = blended.iter().zip(CORNERS).map(|(m, p)| m.transform_point3(Vec3::from(p).as_dvec3()));
    let normal = DVec3::new(0.6, 0.0, 0.8);
    let normals = blended.iter().map(|m| (DMat3::from_mat4(*m).inverse().transpose() * normal).normalize());
    (positions.collect(), normals.collect())
}

fn inverse_bind() -> [DAffine3; 2] {
    let of = |degrees, x| {
        DAffine3::from_rotation_translation(
            about(DVec3::new(1.0, 1.0, 0.0), degrees),
            DVec3::new(x, -4.0, 0.5),
        )
    };
    [of(20.0, 0.0), of(-35.0, -1.0)]
}

#[test]
fn vertices_follow_their_joints_and_not_their_node() {
    for bind in [None, Some(inverse_bind())] {
        let document = skinned(&mut Packed::default(), bind);
        let loaded = loaded(&document, GltfChoice::default());
        assert_eq!(messages(&loaded.warnings), [""; 0]);
        let shape = &loaded.description.shapes[0];
        assert_eq!(shape.world_from_object, Affine3A::IDENTITY);
        let (positions, normals) = expected_skin(bind, 90.0);
        let found = world(&loaded.description, 0);
        assert!(distance(&found, &positions) < ROUNDING, "{found:?} {positions:?}");
        let found: Vec<_> = mesh(shape).normals.iter().map(|n| n.as_dvec3()).collect();
        assert!(distance(&found, &normals) < ROUNDING, "{found:?} {normals:?}");
        // Without the inverse bind matrices of the file, all would be elsewhere.
        let (mistaken, _) = expected_skin(if bind.is_some() { None } else { Some(inverse_bind()) }, 90.0);
        assert!(distance(&world(&loaded.description, 0), &mistaken) > 0.1);
    }
}

#[test]
fn joints_are_animated_and_may_be_hidden() {
    let mut packed = Packed::default();
    let keys = [0.0, 80.0].map(|degrees| quaternion(about(DVec3::Z, degrees)));
    let (input, output) = (packed.scalars(&[0.0, 1.0]), packed.vectors(&keys));
    let mut document = skinned(&mut packed, Some(inverse_bind()));
    document["animations"] = json!([{
        "name": "walk",
        "channels": [{ "sampler": 0, "target": { "node": 2, "path": "rotation" } }],
        "samplers": [{ "input": input, "output": output }],
    }]);
    document["nodes"][1]["extensions"] = json!({ "KHR_node_visibility": { "visible": false } });
    let (positions, _) = expected_skin(Some(inverse_bind()), 60.0);
    assert!(distance(&world(&posed(&document, 0.75), 0), &positions) < ROUNDING);
    // At rest, the nodes are as the file says.
    let rest = loaded(&document, GltfChoice::default());
    assert_eq!(
        messages(&rest.warnings),
        ["has 1 animation, \"walk\": it is at rest, unless --animation says otherwise"]
    );
    assert!(distance(&world(&rest.description, 0), &expected_skin(Some(inverse_bind()), 90.0).0) < ROUNDING);
    // The first key is where an animation is without a time.
    let start = world(&loaded(&document, animation("walk")).description, 0);
    assert!(distance(&start, &expected_skin(Some(inverse_bind()), 0.0).0) < ROUNDING);
}

#[test]
fn more_than_four_joints_hold_a_vertex() {
    let mut packed = Packed::default();
    let attributes = json!({
        "POSITION": packed.vectors(&CORNERS),
        "JOINTS_0": packed.joints(&[[0, 1, 2, 3]; 3]),
        "WEIGHTS_0": packed.vectors(&[[0.125; 4]; 3]),
        "JOINTS_1": packed.joints(&[[4, 5, 0, 0]; 3]),
        // 64/255 and 191/255 of a half: bytes that are not half of 255.
        "WEIGHTS_1": packed.of(5121, "VEC4", 3, &[32, 96, 0, 0].repeat(3)),
    });
    let joint = |i: u32| json!({ "translation": [i * i, 0, 0] });
    let mut nodes = vec![json!({ "mesh": 0, "skin": 0 })];
    nodes.extend((0..6).map(joint));
    let document = packed.document(json!({
        "nodes": nodes,
        "meshes": [{ "primitives": [{ "attributes": attributes }] }],
        "skins": [{ "joints": [1, 2, 3, 4, 5, 6] }],
    }));
    let weights = [0.125, 0.125, 0.125, 0.125, 32.0 / 255.0, 96.0 / 255.0_f64];
    let mean = |n: usize| {
        let sum: f64 = weights[..n].iter().sum();
        weights[..n].iter().enumerate().map(|(i, w)| w / sum * (i * i) as f64).sum::<f64>()
    };
    let found = world(&loaded(&document, GltfChoice::default()).description, 0)[0].x;
    assert!((found - mean(6)).abs() < 1e-5, "{found}, not {}", mean(6));
    assert!((found - mean(4)).abs() > 1.0, "the first four alone are told apart");
}

/// As with a node that mirrors: normals point to where the front is then, and so does the winding.
#[test]
fn mirrored_joints_keep_the_front() {
    let mut document = skinned(&mut Packed::default(), None);
    document["nodes"][1]["scale"] = json!([-1, 1, 1]);
    let description = loaded(&document, GltfChoice::default()).description;
    let (positions, expected) = expected_skin_of(DVec3::new(-1.0, 1.0, 1.0), None, 90.0);
    assert!(distance(&world(&description, 0), &positions) < ROUNDING);
    let TriangleMesh { positions, normals, triangles, .. } = mesh(&description.shapes[0]);
    let found: Vec<_> = normals.iter().map(|n| n.as_dvec3()).collect();
    assert!(distance(&found, &expected) < ROUNDING, "{found:?} {expected:?}");
    let [a, b, c] = triangles[0].map(|i| positions[i as usize]);
    let front = (b - a).cross(c - a);
    assert!(normals.iter().all(|n| n.dot(front) > 0.0), "{normals:?} {front}");
}

/// Nodes with a skin have shapes of their own; others share their mesh.
#[test]
fn what_is_not_bent_is_shared() {
    let mut document = skinned(&mut Packed::default(), None);
    let nodes = document["nodes"].as_array_mut().unwrap();
    nodes.push(json!({ "mesh": 0 }));
    nodes.push(json!({ "mesh": 0, "translation": [0, 0, 5] }));
    nodes.push(json!({ "mesh": 0, "skin": 0 }));
    document["scenes"] = json!([{ "nodes": [0, 1, 3, 4, 5] }]);
    let Description { shapes, groups, instances, .. } = loaded(&document, GltfChoice::default()).description;
    assert_eq!((shapes.len(), groups.len(), instances.len()), (2, 1, 2));
    assert_eq!(mesh(&groups[0].shapes[0]).positions[1], Vec3::X);
}

/// What an animation morphs is no longer what other nodes of the same mesh share.
#[test]
fn what_is_morphed_is_not_shared() {
    let mut packed = Packed::default();
    let (input, output) = (packed.scalars(&[0.0]), packed.scalars(&[1.0, 0.0]));
    let mut document = morphed(&mut packed, Value::Null, json!({ "mesh": 0 }));
    document["nodes"] = json!([{ "mesh": 0 }, { "mesh": 0 }, { "mesh": 0 }]);
    document["scenes"] = json!([{ "nodes": [0, 1, 2] }]);
    document["animations"] = json!([{
        "channels": [{ "sampler": 0, "target": { "node": 1, "path": "weights" } }],
        "samplers": [{ "input": input, "output": output }],
    }]);
    let description = posed(&document, 0.0);
    assert_eq!((description.shapes.len(), description.instances.len()), (1, 2));
    assert!(distance(&world(&description, 0), &expected_morph([1.0, 0.0])) < ROUNDING);
    assert_eq!(mesh(&description.groups[0].shapes[0]).positions[1], Vec3::X);
}

/// Tangents that fit the mesh at rest are no reason to warn when it is posed.
#[test]
fn tangents_are_judged_at_rest() {
    let of = |tangent: [f32; 4]| {
        let mut packed = Packed::default();
        let uvs = packed.vectors(&[[0.0, 1.0], [1.0, 1.0], [0.0, 0.0]]);
        let tangents = packed.vectors(&[tangent; 3]);
        let mut document = skinned(&mut packed, Some(inverse_bind()));
        let primitive = &mut document["meshes"][0]["primitives"][0];
        primitive["attributes"]["TEXCOORD_0"] = json!(uvs);
        primitive["attributes"]["TANGENT"] = json!(tangents);
        primitive["attributes"].as_object_mut().unwrap().remove("NORMAL");
        primitive["material"] = json!(0);
        document["materials"] =
            json!([{ "extensions": { "KHR_materials_anisotropy": { "anisotropyStrength": 0.5 } } }]);
        loaded(&document, GltfChoice::default()).warnings.len()
    };
    assert_eq!(of([1.0, 0.0, 0.0, 1.0]), 0);
    assert_eq!(of([0.0, 1.0, 0.0, 1.0]), 1, "tangents that do not fit are told apart");
}

#[test]
fn a_matrix_that_is_animated_counts_as_its_parts() {
    let mut packed = Packed::default();
    let output = packed.vectors(&[[5.0, 0.0, 0.0]]);
    let node = json!({ "mesh": 0, "matrix": [0, 2, 0, 0, -3, 0, 0, 0, 0, 0, 1, 0, 9, 9, 9, 1] });
    let document = animated(&mut packed, &[0.0], "translation", output, "LINEAR", node);
    let loaded = loaded(&document, at(0.0));
    assert_eq!(
        messages(&loaded.warnings),
        ["nodes[0] has a \"matrix\" and is animated; that counts as its translation, rotation and scale"]
    );
    let expected = [DVec3::X * 5.0, DVec3::new(5.0, 2.0, 0.0), DVec3::new(2.0, 0.0, 0.0)];
    assert!(distance(&world(&loaded.description, 0), &expected) < ROUNDING);
}

/// Two triangles, of which the first has other materials in variants.
fn variants() -> Value {
    let mapped = json!({
        "attributes": { "POSITION": 0 },
        "material": 0,
        "extensions": { "KHR_materials_variants": { "mappings": [
            { "variants": [0, 2], "material": 1 },
            { "variants": [1], "material": 2, "name": "as drawn" },
        ] } },
    });
    with(&[
        ("/meshes/0/primitives", json!([mapped, { "attributes": { "POSITION": 0 }, "material": 0 }])),
        ("/materials", json!([{ "name": "plain" }, { "name": "red" }, { "name": "blue" }])),
        ("/extensionsUsed", json!(["KHR_materials_variants"])),
        ("/extensionsRequired", json!(["KHR_materials_variants"])),
        (
            "/extensions",
            json!({ "KHR_materials_variants": { "variants": [{ "name": "beach" }, { "name": "night" }, { "name": "1" }] } }),
        ),
    ])
}

#[test]
fn a_variant_is_chosen_by_name_or_number() {
    let choice =
        |name: Option<&str>| GltfChoice { variant: name.map(str::to_owned), ..GltfChoice::default() };
    // A name counts before a number.
    for (wanted, expected) in [
        (None, "plain"),
        (Some("beach"), "red"),
        (Some("night"), "blue"),
        (Some("1"), "red"),
        (Some("0"), "red"),
    ] {
        let loaded = loaded(&variants(), choice(wanted));
        assert_eq!(messages(&loaded.warnings), [""; 0]);
        let Description { shapes, materials, .. } = &loaded.description;
        let names: Vec<_> = shapes.iter().map(|shape| materials[shape.material].name.as_str()).collect();
        assert_eq!(names, [expected, "plain"], "{wanted:?}");
        let note = "m.gltf: has 3 variants, \"beach\", \"night\" and \"1\": none is shown, unless --variant says otherwise";
        assert_eq!(loaded.notes.iter().filter(|n| *n == note).count(), usize::from(wanted.is_none()));
    }
    for (document, wanted, expected) in [
        (variants(), "beech", "has no variant \"beech\"; did you mean \"beach\"?"),
        (variants(), "3", "has no variant \"3\"; it has \"beach\", \"night\" or \"1\""),
        (triangle(), "beach", "has no variant \"beach\"; it has none"),
    ] {
        assert_eq!(refused(&document, choice(Some(wanted))), format!("m.gltf: {expected}"));
    }
    let mut broken = variants();
    let mappings = "/meshes/0/primitives/0/extensions/KHR_materials_variants/mappings/0/material";
    *broken.pointer_mut(mappings).unwrap() = json!(3);
    assert_eq!(
        refused(&broken, choice(Some("beach"))),
        "m.gltf: meshes[0].primitives[0].extensions.KHR_materials_variants.mappings[0].material is 3, and \"materials\" go \
         from 0 to 2"
    );
}

#[test]
fn a_scene_is_chosen_by_name_or_number() {
    let node = |x: u32| json!({ "mesh": 0, "translation": [x, 0, 0] });
    let document = with(&[
        ("/nodes", json!([node(1), node(2), node(3)])),
        (
            "/scenes",
            json!([{ "nodes": [0], "name": "day" }, { "nodes": [1] }, { "nodes": [2], "name": "night" }]),
        ),
        ("/scene", json!(2)),
    ]);
    let choice = |name: Option<&str>| GltfChoice { scene: name.map(str::to_owned), ..GltfChoice::default() };
    for (wanted, x) in [(None, 3.0), (Some("day"), 1.0), (Some("1"), 2.0), (Some("2"), 3.0)] {
        let loaded = loaded(&document, choice(wanted));
        assert_eq!(loaded.description.shapes[0].world_from_object.translation.x, x, "{wanted:?}");
        let several =
            "has 3 scenes, \"day\", \"1\" and \"night\"; \"night\" is shown, unless --scene says otherwise";
        let expected = if wanted.is_none() { vec![several] } else { Vec::new() };
        assert_eq!(messages(&loaded.warnings), expected);
    }
    let message = "m.gltf: has no scene \"dusk\"; it has \"day\", \"1\" or \"night\"";
    assert_eq!(refused(&document, choice(Some("dusk"))), message);
    let mut none = triangle();
    none.as_object_mut().unwrap().retain(|key, _| !key.starts_with("scene"));
    assert_eq!(refused(&none, choice(Some("0"))), "m.gltf: has no scene \"0\"; it has none");
}

#[test]
fn an_animation_is_chosen_by_name_or_number() {
    let mut packed = Packed::default();
    let input = packed.scalars(&[0.0, 2.0]);
    let outputs = [1.0, 2.0].map(|x| packed.vectors(&[[0.0, 0.0, 0.0], [x, 0.0, 0.0]]));
    let moves = |output: usize| {
        json!({
            "channels": [{ "sampler": 0, "target": { "node": 0, "path": "translation" } }],
            "samplers": [{ "input": input, "output": output }],
        })
    };
    let mut animations = json!([moves(outputs[0]), moves(outputs[1])]);
    animations[1]["name"] = json!("run");
    let positions = packed.vectors(&CORNERS);
    let document = packed.document(json!({
        "nodes": [{ "mesh": 0, "translation": [7, 0, 0] }],
        "meshes": [{ "primitives": [{ "attributes": { "POSITION": positions } }] }],
        "animations": animations,
    }));
    let two = |rest: &str| {
        vec![format!("has 2 animations, \"0\" and \"run\"{rest}, unless --animation says otherwise")]
    };
    for (name, time, x, warnings) in [
        (None, None, 7.0, two(": it is at rest")),
        (None, Some(1.0), 0.5, two("; \"0\" is shown")),
        (Some("0"), Some(1.0), 0.5, Vec::new()),
        (Some("run"), Some(1.0), 1.0, Vec::new()),
        (Some("1"), Some(0.5), 0.5, Vec::new()),
        (Some("run"), None, 0.0, Vec::new()),
        (Some("run"), Some(9.0), 2.0, Vec::new()),
    ] {
        let choice = GltfChoice { animation: name.map(str::to_owned), at: time, ..GltfChoice::default() };
        let loaded = loaded(&document, choice);
        assert_eq!(world(&loaded.description, 0)[0].x, x, "{name:?} at {time:?}");
        assert_eq!(messages(&loaded.warnings), warnings);
        let end = "m.gltf: animation \"run\" ends at 2 s, and is shown as there, not at 9 s".to_owned();
        assert_eq!(loaded.notes.contains(&end), time == Some(9.0), "{:?}", loaded.notes);
    }
    for (document, choice, expected) in [
        (&document, animation("walk"), "has no animation \"walk\"; it has \"0\" or \"run\""),
        (&triangle(), animation("run"), "has no animation \"run\"; it has none"),
        (&triangle(), at(1.5), "has no animation to be shown at 1.5 s"),
    ] {
        assert_eq!(refused(document, choice), format!("m.gltf: {expected}"));
    }
}

/// Documents that are wrong in what moves them, each with its message.
#[test]
fn wrong_animations_skins_and_targets_are_refused() {
    let moves = |change: fn(&mut Packed, &mut Value)| {
        let mut packed = Packed::default();
        let output = packed.vectors(&[[0.0; 3], [1.0; 3]]);
        let mut document =
            animated(&mut packed, &[0.0, 1.0], "translation", output, "LINEAR", json!({ "mesh": 0 }));
        change(&mut packed, &mut document);
        // What was packed later is to be there, too.
        packed.document(document)
    };
    let bent = |change: fn(&mut Packed, &mut Value)| {
        let mut packed = Packed::default();
        let mut document = skinned(&mut packed, None);
        change(&mut packed, &mut document);
        packed.document(document)
    };
    let sampler = "animations[0].samplers[0]";
    let cases = [
        (
            moves(|packed, d| d["animations"][0]["samplers"][0]["input"] = json!(packed.scalars(&[1.0, 0.5]))),
            format!("{sampler}.input has the time 0.5 after 1; times must grow"),
        ),
        (
            moves(|packed, d| d["animations"][0]["samplers"][0]["input"] = json!(packed.scalars(&[]))),
            format!("{sampler}.input has no times"),
        ),
        (
            moves(|packed, d| d["animations"][0]["samplers"][0]["input"] = json!(packed.scalars(&[0.0, f32::NAN]))),
            "accessors[3] has an element, 1, that is not a number (NaN)".to_owned(),
        ),
        (
            moves(|packed, d| d["animations"][0]["samplers"][0]["input"] = json!(packed.scalars(&[0.0, 1.0, 2.0]))),
            format!("{sampler}.output has 2 values, and there are 3 times, with a value for each"),
        ),
        (
            moves(|_, d| d["animations"][0]["samplers"][0]["interpolation"] = json!("CUBICSPLINE")),
            format!("{sampler}.output has 2 values, and there are 2 times, with three values for each"),
        ),
        (
            moves(|_, d| d["animations"][0]["samplers"][0]["interpolation"] = json!("CUBIC")),
            format!("{sampler}.interpolation must be \"STEP\", \"LINEAR\" or \"CUBICSPLINE\", not \"CUBIC\""),
        ),
        (
            moves(|_, d| d["animations"][0]["channels"][0]["target"]["path"] = json!("rotation")),
            format!("{sampler}.output must be of VEC4, and accessors[0] is of VEC3"),
        ),
        (
            moves(|packed, d| {
                d["animations"][0]["channels"][0]["target"]["path"] = json!("rotation");
                d["animations"][0]["samplers"][0]["output"] = json!(packed.vectors(&[[0.0; 4]; 2]));
            }),
            "animations[0].channels[0] gives a rotation of zero length at 0.5 s".to_owned(),
        ),
        (
            moves(|packed, d| {
                d["animations"][0]["channels"][0]["target"]["path"] = json!("weights");
                d["animations"][0]["samplers"][0]["output"] = json!(packed.scalars(&[0.0, 1.0, 2.0]));
            }),
            format!("{sampler}.output has 3 values, and there are 2 times, with a value for each"),
        ),
        (
            moves(|_, d| d["animations"][0]["channels"][0]["target"]["path"] = json!("translatoin")),
            "animations[0].channels[0].target.path must be \"translation\", \"rotation\", \"scale\" or \"weights\", not \
             \"translatoin\""
                .to_owned(),
        ),
        (
            moves(|_, d| d["animations"][0]["channels"][0]["target"]["node"] = json!(1)),
            "animations[0].channels[0].target.node is 1, and there is only one of \"nodes\", 0".to_owned(),
        ),
        (
            moves(|_, d| d["animations"][0]["channels"][0]["sampler"] = json!(3)),
            "animations[0].channels[0].sampler is 3, and the animation has 1 of \"samplers\"".to_owned(),
        ),
        (
            moves(|_, d| drop(d["animations"][0].as_object_mut().unwrap().remove("channels"))),
            "animations[0] has no \"channels\"".to_owned(),
        ),
        (
            moves(|packed, d| {
                let far = [f32::MAX, f32::MAX, 0.0];
                d["animations"][0]["samplers"][0]["output"] = json!(packed.vectors(&[[0.0; 3], [3e38; 3], far, [-3e38; 3], [3e38; 3], far]));
                d["animations"][0]["samplers"][0]["interpolation"] = json!("CUBICSPLINE");
            }),
            "nodes[0] is moved or scaled beyond single precision".to_owned(),
        ),
        (bent(|_, d| d["skins"][0]["joints"] = json!([])), "skins[0].joints is empty".to_owned()),
        (
            bent(|_, d| d["skins"][0]["joints"] = json!([1])),
            "meshes[0].primitives[0].attributes.JOINTS_0 has the joint 1 of a skin with 1".to_owned(),
        ),
        (
            bent(|_, d| d["skins"][0]["joints"] = json!([1, 7])),
            "skins[0].joints[1] is 7, and \"nodes\" go from 0 to 2".to_owned(),
        ),
        (
            bent(|_, d| d["scenes"] = json!([{ "nodes": [0] }])),
            "skins[0].joints[0] is no node of the scene".to_owned(),
        ),
        (
            bent(|packed, d| {
                d["skins"][0]["inverseBindMatrices"] = json!(packed.vectors(&[DMat4::IDENTITY.as_mat4().to_cols_array()]));
            }),
            "skins[0].inverseBindMatrices has 1 matrices, and there are 2 joints".to_owned(),
        ),
        (
            bent(|_, d| drop(d["meshes"][0]["primitives"][0]["attributes"].as_object_mut().unwrap().remove("WEIGHTS_0"))),
            "meshes[0].primitives[0].attributes has no \"WEIGHTS_0\"".to_owned(),
        ),
        (
            bent(|packed, d| {
                d["meshes"][0]["primitives"][0]["attributes"]["WEIGHTS_0"] = json!(packed.vectors(&[[1.0; 4]; 2]));
            }),
            "meshes[0].primitives[0].attributes.WEIGHTS_0 has 2 elements, and there are 3 positions".to_owned(),
        ),
        (
            bent(|packed, d| {
                let huge = DMat4::from_scale(DVec3::splat(2e38)).as_mat4().to_cols_array();
                d["skins"][0]["inverseBindMatrices"] = json!(packed.vectors(&[huge, huge]));
                d["nodes"][1]["scale"] = json!([3e38, 3e38, 3e38]);
            }),
            "meshes[0].primitives[0].attributes has a vertex, 0, that joints move beyond single precision".to_owned(),
        ),
        (
            bent(|packed, d| {
                d["meshes"][0]["primitives"][0]["targets"] = json!([{ "POSITION": packed.vectors(&[[3e38; 3]; 3]) }]);
                d["meshes"][0]["weights"] = json!([3]);
            }),
            "meshes[0].primitives[0].targets[0].POSITION is beyond single precision with the weight 3".to_owned(),
        ),
        (
            bent(|packed, d| {
                d["meshes"][0]["primitives"][0]["targets"] = json!([{ "POSITION": packed.vectors(&[[0.0; 3]; 2]) }]);
                d["meshes"][0]["weights"] = json!([1]);
            }),
            "meshes[0].primitives[0].targets[0].POSITION has 2 elements, and there are 3 positions".to_owned(),
        ),
    ];
    for (document, expected) in cases {
        let time = document.get("animations").map(|_| 0.5);
        let choice = GltfChoice { at: time, ..GltfChoice::default() };
        assert_eq!(refused(&document, choice), format!("m.gltf: {expected}"));
    }
}

#[test]
fn what_is_odd_about_poses_is_said_once_with_its_count() {
    let mut packed = Packed::default();
    let output = packed.vectors(&[[0.0; 3], [1.0; 3]]);
    let mut document =
        animated(&mut packed, &[0.0, 1.0], "translation", output, "LINEAR", json!({ "mesh": 0 }));
    let pointer = json!({ "sampler": 0, "target": {
        "path": "pointer",
        "extensions": { "KHR_animation_pointer": { "pointer": "/materials/0/emissiveFactor" } },
    } });
    let again = json!({ "sampler": 9, "target": { "node": 0, "path": "translation" } });
    let of_nothing = json!({ "sampler": 9, "target": { "path": "scale" } });
    let channels = document["animations"][0]["channels"].as_array_mut().unwrap();
    channels.extend([pointer.clone(), pointer, again, of_nothing]);
    document["extensionsRequired"] = json!(["KHR_animation_pointer"]);
    let of = loaded(&document, at(0.5));
    assert_eq!(
        messages(&of.warnings),
        [
            "animations[0] has 2 channels of KHR_animation_pointer, which is not supported: what they move is at rest",
            "animations[0] has 1 channel for what another one moves, and the first of them counts",
        ]
    );
    assert_eq!(world(&of.description, 0)[0], DVec3::splat(0.5));

    let mut packed = Packed::default();
    let mut document = skinned(&mut packed, None);
    let attributes = &mut document["meshes"][0]["primitives"][0]["attributes"];
    attributes["WEIGHTS_0"] = json!(packed.vectors(&[[1.0, 0.0, 0.0, 0.0], [0.0; 4], [0.0; 4]]));
    document["meshes"][0]["weights"] = json!([0, 1]);
    let document = packed.document(document);
    let of = loaded(&document, GltfChoice::default());
    assert_eq!(
        messages(&of.warnings),
        [
            "meshes[0].primitives[0] has 0 targets, and there are 2 weights for them",
            "meshes[0].primitives[0].attributes has 2 vertices without a weight, which follow their first joint",
        ]
    );
    // The second vertex has the knee first, and the third the hip.
    let found = world(&of.description, 0);
    assert!(
        distance(&found, &[DVec3::Y * 4.0, DVec3::new(1.0, 6.0, 0.0), DVec3::Y * 6.0]) < ROUNDING,
        "{found:?}"
    );

    let mut document = skinned(&mut Packed::default(), None);
    let attributes = document["meshes"][0]["primitives"][0]["attributes"].as_object_mut().unwrap();
    attributes.retain(|key, _| !key.ends_with("_0"));
    let of = loaded(&document, GltfChoice::default());
    assert_eq!(
        messages(&of.warnings),
        [
            "meshes[0].primitives[0].attributes has no JOINTS_0, though its node has a skin: it follows the node"
        ]
    );
    assert_eq!(world(&of.description, 0)[1], DVec3::X * 107.0);
}

/// Thousands of channels of one node, and of as many nodes, take time by their number.
#[test]
fn many_channels_take_linear_time() {
    const MANY: usize = 50_000;
    let mut packed = Packed::default();
    let output = packed.vectors(&[[0.0; 3], [1.0; 3]]);
    let mut document =
        animated(&mut packed, &[0.0, 1.0], "translation", output, "LINEAR", json!({ "mesh": 0 }));
    let channel = |node: usize| json!({ "sampler": 0, "target": { "node": node, "path": "translation" } });
    document["animations"][0]["channels"] = (0..MANY).map(|_| channel(0)).collect();
    let started = std::time::Instant::now();
    let of = loaded(&document, at(0.5));
    let repeated = format!(
        "animations[0] has {} channels for what another one moves, and the first of them counts",
        MANY - 1
    );
    assert_eq!(messages(&of.warnings), [repeated]);
    document["nodes"] = (0..MANY).map(|i| if i == 0 { json!({ "mesh": 0 }) } else { json!({}) }).collect();
    document["animations"][0]["channels"] = (0..MANY).map(channel).collect();
    loaded(&document, at(0.5));
    assert!(started.elapsed().as_secs_f64() < 5.0, "{:?}", started.elapsed());
}

/// Targets that are all zeros, again and again, are refused before memory is.
#[test]
fn many_targets_take_bounded_memory() {
    let mut packed = Packed::default();
    let corners: Vec<[f32; 3]> = (0..10_000).map(|i| CORNERS[i % 3]).collect();
    let positions = packed.vectors(&corners);
    let zeros = packed.push(json!({ "componentType": 5126, "count": 10_000, "type": "VEC3" }));
    let primitive = |targets: usize| json!({ "attributes": { "POSITION": positions }, "targets": vec![json!({ "POSITION": zeros }); targets] });
    let document = |targets: usize| {
        packed.document(json!({
            "nodes": [{ "mesh": 0 }],
            "meshes": [{ "primitives": [primitive(targets)], "weights": vec![1; targets] }],
        }))
    };
    loaded(&document(10), GltfChoice::default());
    let message = refused(&document(100_000), GltfChoice::default());
    assert!(message.contains("the most of a file of that size"), "{message}");
}
