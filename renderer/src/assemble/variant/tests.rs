//! Variants share what they can, and equal scenes that are assembled anew.

use device::bvh::Node;
use glam::{Affine3A, Mat3, Vec3};
use torrance_scene::{Environment, Format, Image, Instance, Material, Portal, Scalar, TriangleMesh};

use super::*;
use crate::assemble::assemble;
use crate::described;

const SCENE: &str = r#"
[render]
size = [8, 8]

[camera]
position = [0, 0, 4]
target = [0, 0, 0]
fov = 40

[environment]
radiance = [0.3, 0.2, 0.1]

[materials.ball]
type = "conductor"
metal = "gold"
roughness = 0.3

[materials.lamp]
type = "diffuse"
reflectance = 0.5

[[shapes]]
type = "box"
material = "ball"
transform = [{ translate = [0, 0, 0] }]

[[shapes]]
type = "quad"
material = "lamp"
emission = 2
transform = [{ translate = [0, 0, 9] }]
"#;

/// All that there is to say of a scene, but for how long it took.
fn told(scene: Result<SceneData, Error>) -> Result<String, Error> {
    scene.map(|mut scene| {
        (scene.stats.bvh_time, scene.geometry.time) = Default::default();
        format!("{scene:?}")
    })
}

/// Names what scenes share.
fn shared(a: &SceneData, b: &SceneData) -> String {
    let sky = |scene: &SceneData| scene.pictures.environment.as_ref().map(Arc::as_ptr);
    let (of_a, of_b) = (&a.geometry, &b.geometry);
    let shared = [
        (of_a.nodes.is(&of_b.nodes), "nodes"),
        (
            of_a.prims.is(&of_b.prims) && of_a.sources.is(&of_b.sources) && of_a.normals.is(&of_b.normals),
            "prims",
        ),
        (a.pictures.swatches.texels.is(&b.pictures.swatches.texels), "texels"),
        (sky(a) == sky(b), "sky"),
    ];
    let names: Vec<_> = shared.iter().filter(|(is, _)| *is).map(|(_, name)| *name).collect();
    names.join(" ")
}

const ALL: &str = "nodes prims texels sky";

/// The parts that a variant shares with the original, once it is found equal to a scene assembled anew.
fn check(original: &Original, description: &Description) -> String {
    let variant = original.variant(description);
    if told(variant.clone()) != told(assemble(description)) {
        return "not what is assembled".into();
    }
    variant.map_or_else(|_| "refused".into(), |variant| shared(&variant, original.scene()))
}

/// Whatever changes: what is shared is what assembling would make of it.
#[test]
fn variants_are_what_is_assembled() {
    let original = Original::new(described(SCENE)).unwrap();
    let gold = "type = \"conductor\"\nmetal = \"gold\"\nroughness = 0.3";
    for (from, to, expected) in [
        ("roughness = 0.3", "roughness = 0.7", ALL),
        ("roughness = 0.3", "roughness = 0", ALL),
        ("roughness = 0.3", "roughness = [0.1, 0.3]", "texels sky"),
        (gold, "type = \"plastic\"\nreflectance = 0.4\nroughness = 0.3", ALL),
        (gold, "type = \"diffuse\"\nreflectance = { type = \"checker\", colors = [0.2, 0.8] }", "texels sky"),
        ("fov = 40", "fov = 30", ALL),
        ("size = [8, 8]", "size = [9, 8]\nmasking = \"separable\"\nmax_depth = 3", ALL),
        ("size = [8, 8]", "size = [8, 8]\nfilter = { type = \"tent\" }", ALL),
        ("size = [8, 8]", "size = [8, 8]\nsample_border = false\nfilter = { type = \"tent\" }", ALL),
        ("translate = [0, 0, 0]", "translate = [0, 1, 0]", "texels sky"),
        ("emission = 2", "emission = 3", ALL),
        ("emission = 2", "emission = 0", "texels sky"),
        ("[materials.lamp]", "[materials.lamp]\nopacity = 0.5", ALL),
        ("radiance = [0.3, 0.2, 0.1]", "radiance = [0.3, 0.2, 0.2]", ALL),
        ("material = \"ball\"", "material = \"lamp\"", "texels sky"),
    ] {
        assert!(SCENE.contains(from), "{from}");
        let description = described(&SCENE.replacen(from, to, 1));
        assert_eq!(check(&original, &description), expected, "{to}");
    }
}

/// In groups: boxes with colours at vertices; what is copied, since it emits, beside a sphere; what is in one place only; what
/// is nowhere.
const GROUPS: &str = r#"
[[lights]]
type = "directional"
direction = [0, -1, 0]
irradiance = 1

[materials.checker]
type = "diffuse"
reflectance = { type = "checker", colors = [0.2, 0.8] }

[materials.painted]
type = "diffuse"
reflectance = { type = "vertex_color" }

[[shapes]]
type = "box"
material = "checker"

[[shapes]]
type = "sphere"
material = "ball"

[[groups.posts.shapes]]
type = "box"
material = "checker"

[[groups.posts.shapes]]
type = "quad"
material = "painted"

[[groups.lamps.shapes]]
type = "sphere"
material = "ball"

[[groups.once.shapes]]
type = "box"
material = "ball"

[[groups.never.shapes]]
type = "box"
material = "ball"
"#;

fn moved(x: f32) -> Affine3A {
    Affine3A::from_translation(Vec3::new(x, 0.5 * x, 0.0))
}

/// An image of eight texels.
fn image(first: f32) -> Image {
    let texels = [first, 1.0, 0.5, 0.25, 2.0, 1.0, 0.0, 3.0].map(|x: f32| [x.to_bits(); 3]);
    Image::new(4, 2, Format::RgbF32, texels.concat().into())
}

/// Many instances, an environment that is an image, and one with colours at vertices in the world and in a group.
fn grouped() -> Description {
    let mut scene = described(&format!("{SCENE}{GROUPS}"));
    // Readers of files put what emits into the world.
    let lamp = Shape { geometry: Form::Disk, ..scene.shapes[1].clone() };
    assert!(lamp.emits() && scene.groups[1].shapes.len() == 1);
    scene.groups[1].shapes.insert(0, lamp);
    scene.images = vec![image(1.0)];
    scene.environment =
        Some(Environment::Image { image: 0, scale: Vec3::ONE, world_from_image: Mat3::IDENTITY });
    let triangle = TriangleMesh {
        positions: vec![Vec3::ZERO, Vec3::X, Vec3::Y],
        normals: vec![Vec3::Z; 3],
        colors: vec![Vec3::X, Vec3::Y, Vec3::Z],
        triangles: vec![[0, 1, 2]],
        ..TriangleMesh::default()
    };
    let mesh = Arc::new(triangle);
    let painted = Shape { geometry: Form::Mesh(mesh), ..scene.groups[0].shapes[1].clone() };
    scene.shapes.push(Shape { world_from_object: moved(7.0), ..painted.clone() });
    scene.groups[0].shapes.push(painted);
    let place = |group: u32, i: u16| Instance { group, world_from_group: moved(3.0 * f32::from(i)) };
    scene.instances = (0..40).map(|i| place(u32::from(i % 2), i)).collect();
    scene.instances.push(place(2, 50));
    scene
}

fn named<'a>(scene: &'a mut Description, name: &str) -> &'a mut Material {
    scene.materials.iter_mut().find(|material| material.name == name).unwrap()
}

/// Name of a change, the change, and the parts that the scene shares with the original afterwards.
type Change = (&'static str, fn(&mut Description), &'static str);

const MOVES: [Change; 13] = [
    ("an instance", |d| d.instances[6].world_from_group = moved(-5.0), "prims texels sky"),
    (
        "all instances",
        |d| d.instances[..40].iter_mut().step_by(2).for_each(|i| i.world_from_group = moved(-5.0)),
        "prims texels sky",
    ),
    (
        "one more",
        |d| d.instances.push(Instance { group: 0, world_from_group: moved(-7.0) }),
        "prims texels sky",
    ),
    (
        "one less",
        |d| {
            // The world knows for which instance it has copies of what emits light, and those are numbered anew.
            d.instances.remove(6);
        },
        "texels sky",
    ),
    ("another order", |d| d.instances.swap(0, 2), "prims texels sky"),
    (
        "a flat one",
        |d| d.instances[6].world_from_group = Affine3A::from_scale(Vec3::ZERO),
        "prims texels sky",
    ),
    ("an instance with a light", |d| d.instances[7].world_from_group = moved(-5.0), "texels sky"),
    ("what is copied", |d| d.instances[40].world_from_group = moved(-5.0), "texels sky"),
    ("what is nowhere", |d| d.groups[3].shapes[0].world_from_object = moved(1.0), "prims texels sky"),
    ("a shape", |d| d.shapes[2].world_from_object = moved(2.0), "texels sky"),
    ("a sphere", |d| d.shapes[3].geometry = Form::Sphere { center: Vec3::X, radius: 0.5 }, "texels sky"),
    (
        "a shape and an instance",
        |d| {
            d.shapes[2].world_from_object = moved(2.0);
            d.instances[6].world_from_group = moved(-5.0);
        },
        "texels sky",
    ),
    ("a shape of a group", |d| d.groups[0].shapes[0].world_from_object = moved(2.0), "texels sky"),
];

const OTHER_WORLDS: [Change; 9] = [
    ("fewer primitives", |d| d.shapes[2].geometry = Form::Quad, "texels sky"),
    ("fewer normals", |d| d.shapes[2].geometry = Form::Disk, "texels sky"),
    ("no area", |d| d.shapes[2].world_from_object = Affine3A::from_scale(Vec3::ZERO), "texels sky"),
    ("no colours", |d| d.shapes[4].geometry = Form::Box, "texels sky"),
    ("a light less", |d| d.shapes[1].emission.value = Vec3::ZERO, "texels sky"),
    ("a light more", |d| d.shapes[3].emission.value = Vec3::ONE, "texels sky"),
    ("turned around", |d| d.shapes[2].flip_normals = true, "texels sky"),
    ("another material", |d| d.shapes[2].material = 0, "texels sky"),
    (
        "nothing",
        |d| {
            d.shapes.clear();
            d.groups[1].shapes.remove(0);
            d.groups[2].shapes.clear();
        },
        "texels sky",
    ),
];

const OTHER_GROUPS: [Change; 7] = [
    ("no instances", |d| d.instances.clear(), "texels sky"),
    ("a single instance", |d| d.instances.truncate(1), "texels sky"),
    ("one that was copied twice", |d| d.instances.push(d.instances[40]), "texels sky"),
    ("a light less in a group", |d| d.groups[1].shapes[0].emission.value = Vec3::ZERO, "texels sky"),
    (
        "a light that is stretched",
        |d| {
            d.groups[1].shapes[1].emission.value = Vec3::ONE;
            d.instances[1].world_from_group = Affine3A::from_scale(Vec3::new(1.0, 2.0, 1.0));
        },
        "refused",
    ),
    ("a material that wants less", |d| named(d, "checker").kind = named(d, "lamp").kind, "texels sky"),
    ("emission that varies", |d| d.groups[1].shapes[0].emission.texture = 0, "texels sky"),
];

const LOOKS: [Change; 11] = [
    ("nothing", |_| (), ALL),
    ("a name", |d| d.shapes[0].name.clear(), ALL),
    ("emission", |d| d.shapes[1].emission.value *= 2.0, ALL),
    ("emission in a group", |d| d.groups[1].shapes[0].emission.value *= 2.0, ALL),
    ("emission of two sides", |d| d.shapes[1].emission_two_sided = true, ALL),
    ("a light's holes", |d| named(d, "lamp").opacity = Scalar::new(0.5), ALL),
    ("a light", |d| d.lights.clear(), ALL),
    (
        "a constant environment",
        |d| d.environment = Some(Environment::Constant(Vec3::ONE)),
        "nodes prims texels",
    ),
    ("no environment", |d| d.environment = None, "nodes prims texels"),
    (
        "portals",
        |d| d.portals.push(Portal { corner: Vec3::ZERO, edges: [Vec3::X, Vec3::Y] }),
        "nodes prims texels",
    ),
    ("texels", |d| d.images = vec![image(9.0)], "nodes prims texels"),
];

#[test]
fn variants_of_groups_are_what_is_assembled() {
    let original = Original::new(grouped()).unwrap();
    let geometry = &original.scene().geometry;
    assert!(geometry.instances.len() == 40 && geometry.colors.len() > 2);
    let mut wrong = Vec::new();
    for (what, change, expected) in [&MOVES[..], &OTHER_WORLDS, &OTHER_GROUPS, &LOOKS].concat() {
        let mut description = grouped();
        change(&mut description);
        let found = check(&original, &description);
        // And from there back.
        let back = Original::new(description).map(|changed| check(&changed, &grouped()));
        if found != expected || back.is_ok_and(|back| back != expected) {
            wrong.push((what, found));
        }
    }
    assert_eq!(wrong, []);
}

/// Trees of groups are taken as they are: where they are wrong, all variants are, and that is seen.
#[test]
fn control_variants_have_the_trees_of_groups() {
    let mut original = Original::new(grouped()).unwrap();
    let parts = &mut original.scene.geometry;
    let leaf = parts.prims.len() - 1;
    parts.prims[leaf].a.x += 1.0;
    let node = parts.instances_root as usize - 1;
    parts.nodes[node].child_base ^= 1;
    for (what, change, _) in &MOVES[..12] {
        let mut description = grouped();
        change(&mut description);
        let (found, whole) = (original.variant(&description).unwrap(), assemble(&description).unwrap());
        let (found, whole) = (&found.geometry, &whole.geometry);
        let is_same =
            |a: &[Node], b: &[Node]| bytemuck::cast_slice::<_, u8>(a) == bytemuck::cast_slice::<_, u8>(b);
        let last = whole.instances_root as usize - 1;
        assert!(is_same(&found.nodes[..last], &whole.nodes[..last]), "{what}");
        assert!(is_same(&found.nodes[last + 1..], &whole.nodes[last + 1..]), "{what}");
        assert_ne!(found.nodes[last], whole.nodes[last], "{what}");
        assert_ne!(found.prims.last(), whole.prims.last(), "{what}");
    }
}

#[test]
fn kernels_are_shared() {
    let scene = |from: &str, to: &str| assemble(&described(&SCENE.replacen(from, to, 1))).unwrap();
    let mut scenes = [scene("", ""), scene("roughness = 0.3", "roughness = 0")];
    assert_ne!(scenes[0].features, scenes[1].features);
    let all = scenes[0].features.and(scenes[1].features);
    share_kernels(&mut scenes);
    assert!(scenes.iter().all(|scene| scene.features == all));
    assert_eq!(scenes[0].families, scenes[1].families);
    let [of_ball, of_lamp] = [0, 1].map(|i| scenes[0].families.of_material[i] as usize);
    assert_ne!(of_ball, of_lamp);
    assert!(all.contains(scenes[0].families.features[of_ball]));
}
