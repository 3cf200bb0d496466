//! Which shapes are copied, instanced, and left out.

use device::features::Features;
use device::shape::Kind;
use glam::{Mat3A, Vec3A};
use torrance_scene::{Color, Geometry, Group, HiddenNormals, TriangleMesh};

use super::*;
use crate::assemble::{Error, SceneData, assemble};
use crate::described;

const SCENE: &str = r#"
    [render]
    size = [8, 8]
    spp = 4
    [camera]
    position = [0, 0, 4]
    target = [0, 0, 0]
    fov = 40
    [environment]
    radiance = 1
    [materials.grey]
    type = "diffuse"
    reflectance = 0.5
    [[shapes]]
    type = "box"
    material = "grey"
"#;

fn shape(geometry: Geometry, emission: f32) -> Shape {
    Shape {
        name: "lamp".into(),
        geometry,
        material: 0,
        emission: Color::new(Vec3::splat(emission)),
        emission_two_sided: false,
        flip_normals: false,
        world_from_object: Affine3A::from_translation(Vec3::X),
    }
}

const SPHERE: Geometry = Geometry::Sphere { center: Vec3::ZERO, radius: 1.0 };

/// A box in the world, and a group at the end of some maps.
fn scene(shapes: Vec<Shape>, maps: &[Affine3A]) -> Description {
    let mut scene = described(SCENE);
    scene.groups = vec![Group { name: String::new(), shapes }];
    scene.instances = maps.iter().map(|map| Instance { group: 0, world_from_group: *map }).collect();
    scene
}

fn moved(x: f32) -> Affine3A {
    Affine3A::from_translation(Vec3::new(x, 0.0, 0.0))
}

/// Triangles in memory, lights, instances, and primitives seen.
fn counts(scene: &SceneData) -> [u64; 4] {
    let stats = scene.stats;
    [stats.primitives[Kind::Triangle] as u64, stats.lights as u64, stats.instances as u64, stats.seen]
}

#[test]
fn what_emits_is_copied_and_the_rest_instanced() {
    let group = vec![shape(Geometry::Quad, 0.0), shape(Geometry::Quad, 1.0), shape(SPHERE, 0.0)];
    let found = assemble(&scene(group, &[moved(0.0), moved(3.0), moved(6.0)])).unwrap();
    // The box, the lamp three times, and the other quad once; the environment is a light as well.
    assert_eq!(counts(&found), [12 + 3 * 2 + 2, 3 * 2 + 1, 3, 12 + 3 * 2 + 3 * 3]);
    assert!(found.features.contains(Features::INSTANCES) && !found.features.contains(Features::SHAPES));
    // The third shape is the sphere: shapes of groups follow those of the world.
    let sphere = found.geometry.prims.iter().position(|prim| prim.is_sphere()).unwrap();
    assert_eq!(found.geometry.shape_of.get(found.geometry.sources[sphere]), Some(3));
    let at: Vec<f32> = found.lights.all.iter().map(|light| light.a.x.round()).collect();
    assert_eq!(at, [0.0, 0.0, 3.0, 3.0, 6.0, 6.0, 0.0]);
}

/// A mesh of so many triangles.
fn mesh(triangles: usize, emission: f32) -> Shape {
    let mesh = TriangleMesh {
        positions: vec![Vec3::ZERO, Vec3::X, Vec3::Y],
        triangles: vec![[0, 1, 2]; triangles],
        ..TriangleMesh::default()
    };
    shape(Geometry::Mesh(mesh.into()), emission)
}

#[test]
fn too_many_copies_are_refused() {
    let maps: Vec<_> = (0..=1 << 12).map(|i| moved(i as f32)).collect();
    let lamps = scene(vec![mesh(1 << 12, 1.0)], &maps);
    let refused = assemble(&lamps).unwrap_err();
    assert_eq!(refused, Error::TooManyCopies((1 << 24) + (1 << 12)));
    assert!(refused.to_string().contains("makes 16781312 primitives"), "{refused}");
    // Those that do not emit are shared.
    assert!(Plan::new(&scene(vec![mesh(1 << 12, 0.0)], &maps)).is_ok());
}

#[test]
fn more_than_memory_holds_is_refused() {
    let scene = scene(vec![mesh(1 << 10, 1.0)], &[moved(0.0), moved(1.0)]);
    let (plan, shapes) = (Plan::new(&scene).unwrap(), scene.all_shapes().collect::<Vec<_>>());
    // The box counts as one.
    let needed = ((2 << 10) + 1) * BUILD_BYTES;
    assert_eq!(plan.check_memory(&shapes, Some(needed)), Ok(()));
    assert_eq!(
        plan.check_memory(&shapes, Some(needed - 1)),
        Err(Error::NoMemory { primitives: (2 << 10) + 1, available: needed - 1 })
    );
    assert_eq!(plan.check_memory(&shapes, None), Ok(()));
}

#[test]
fn what_has_one_instance_is_copied_where_that_is_the_same() {
    let found = assemble(&scene(vec![shape(Geometry::Disk, 0.0)], &[moved(2.0)])).unwrap();
    assert_eq!((counts(&found), found.stats.primitives[Kind::Disk]), ([12, 1, 0, 13], 1));
    assert!(!found.features.contains(Features::INSTANCES) && found.features.contains(Features::SHAPES));
    let found = assemble(&scene(vec![shape(SPHERE, 0.0)], &[moved(2.0)])).unwrap();
    assert_eq!(counts(&found), [12, 1, 1, 13], "an ellipsoid is made by no transform of a sphere");
}

#[test]
fn what_is_not_seen_costs_nothing() {
    let nothing = assemble(&scene(vec![shape(Geometry::Box, 0.0)], &[])).unwrap();
    assert_eq!(counts(&nothing), [12, 1, 0, 12]);
    let [x, y, z] = [Vec3A::X, Vec3A::Y, Vec3A::Z];
    let flat = [[x, y, Vec3A::ZERO], [x, x, z], [Vec3A::ZERO; 3], [x, y, 1e-30 * z], [f32::NAN * x, y, z]];
    let maps = flat.map(|[x, y, z]| Affine3A { matrix3: Mat3A::from_cols(x, y, z), translation: x });
    for emission in [0.0, 1.0] {
        let shapes = vec![shape(Geometry::Box, emission), shape(SPHERE, emission)];
        let found = assemble(&scene(shapes, &maps[..3])).unwrap();
        assert_eq!(counts(&found), [12, 1, 0, 12], "singular maps");
    }
    for map in maps {
        assert!(assemble(&scene(vec![shape(Geometry::Box, 0.0); 2], &[map, moved(1.0)])).is_ok());
    }
}

#[test]
fn stretched_round_lights_are_refused() {
    let stretched = Affine3A::from_scale(Vec3::new(1.0, 2.0, 1.0));
    let refused = assemble(&scene(vec![shape(SPHERE, 1.0)], &[stretched])).unwrap_err();
    assert_eq!(refused, Error::RoundLight("lamp".into()));
    assert!(refused.to_string().contains("lamp"), "{refused}");
    assert!(assemble(&scene(vec![shape(SPHERE, 0.0)], &[stretched])).is_ok());
    let turned = Affine3A::from_rotation_x(0.4) * Affine3A::from_scale(Vec3::new(-2.0, 2.0, 2.0));
    assert_eq!(assemble(&scene(vec![shape(SPHERE, 1.0)], &[turned])).unwrap().stats.lights, 2);
}

#[test]
fn boxes_in_the_world_hold_what_is_in_the_group() {
    let map = Affine3A {
        matrix3: Mat3A::from_cols(
            Vec3A::new(0.3, 2.0, 0.1),
            Vec3A::new(-1.0, 0.2, 0.7),
            Vec3A::new(0.0, 1.0, 5.0),
        ),
        translation: Vec3A::new(1e4, -3.0, 20.0),
    };
    let record = record(0, &Instance { group: 0, world_from_group: map });
    let (low, high) = (Vec3::new(-1.0, 2.0, 0.5), Vec3::new(3.0, 2.5, 0.75));
    let [lo, hi] = world_box(&record, low, high);
    let corners = (0..8).map(|i| Vec3::select(glam::BVec3::new(i & 1 > 0, i & 2 > 0, i & 4 > 0), low, high));
    let points: Vec<Vec3> = corners.map(|corner| map.transform_point3(corner)).collect();
    assert!(points.iter().all(|p| lo.cmple(*p).all() && hi.cmpge(*p).all()));
    let tight = points.iter().fold([Vec3::INFINITY, Vec3::NEG_INFINITY], |[l, h], p| [l.min(*p), h.max(*p)]);
    assert!((tight[0] - lo).max_element() < 0.1 && (hi - tight[1]).max_element() < 0.1, "{lo} {hi}");
}

#[test]
fn the_fingerprint_knows_instances_and_hidden_normals() {
    let group = || vec![shape(SPHERE, 0.0), shape(Geometry::Quad, 0.0)];
    let fingerprint = |scene: &Description| assemble(scene).unwrap().fingerprint();
    let original = scene(group(), &[moved(0.0), moved(1.0), moved(5.0)]);
    let others = [
        scene(group(), &[moved(0.0), moved(1.0), moved(5.001)]),
        scene(group(), &[moved(0.0), moved(1.0)]),
        scene(vec![shape(SPHERE, 0.0)], &[moved(0.0), moved(1.0), moved(5.0)]),
    ];
    for other in &others {
        assert_ne!(fingerprint(other), fingerprint(&original));
    }
    let mut kept = original.clone();
    kept.render.hidden_normals = HiddenNormals::Keep;
    assert_ne!(fingerprint(&kept), fingerprint(&original));
    kept.render.hidden_normals = HiddenNormals::default();
    assert_eq!(fingerprint(&kept), fingerprint(&original));
}
