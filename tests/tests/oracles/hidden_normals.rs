//! Surfaces whose shading normals face away from the viewer or reflect into the surface, and directions on whose side the two
//! normals disagree, in closed form.

use device::features::Features;
use glam::{Vec2, Vec3};
use torrance_scene::{
    ConductorMaterial, Description, DielectricMaterial, Distribution, Environment, Facets, Geometry,
    GltfMaterial, HiddenNormals, MaterialKind, Scalar, TriangleMesh,
};
use torrance_tests::closed::{camera, description, is_everywhere, octahedron_sphere, shape};
use torrance_tests::{Machine, assembled, machines};

const ALBEDO: f32 = 0.6;

/// A flat triangle that fills the image and reflects a uniform sky, seen along −z; its shading normal is turned by
/// `angle` from the geometric one, towards which the camera is turned by `view`.
fn tilted(angle: f32, view: f32, hidden: HiddenNormals, two_sided: bool) -> Description {
    let n = Vec3::new(angle.sin(), 0.0, angle.cos());
    let mesh = TriangleMesh {
        positions: vec![Vec3::new(-90.0, -90.0, 0.0), Vec3::new(90.0, -90.0, 0.0), Vec3::new(0.0, 90.0, 0.0)],
        normals: vec![n; 3],
        triangles: vec![[0, 1, 2]],
        ..TriangleMesh::default()
    };
    let eye = camera(4.0 * Vec3::new(view.sin(), 0.0, view.cos()), Vec3::ZERO, Vec3::Y, 5.0);
    let mut scene = description(8, eye, ALBEDO, vec![shape(Geometry::Mesh(mesh.into()), 0.0)]);
    scene.environment = Some(Environment::Constant(Vec3::ONE));
    scene.materials[0].two_sided = two_sided;
    scene.render.hidden_normals = hidden;
    scene
}

fn holds(name: &str, scene: &Description, expected: f32) {
    is_everywhere(name, scene, 1 << 14, &|_| expected.into());
}

/// All of the sky above the shading normal is reflected, though a part of it is below the surface.
#[test]
fn kept_normals_alone_decide_what_is_reflected() {
    for two_sided in [false, true] {
        holds("kept", &tilted(0.8, 0.3, HiddenNormals::Keep, two_sided), ALBEDO);
    }
    // Of a cosine lobe turned by an angle, the part (1 + cos)/2 is above the horizon (Nusselt's analog).
    let above = 0.5 * (1.0 + 0.8_f32.cos());
    holds("cut", &tilted(0.8, 0.3, HiddenNormals::Geometric, true), ALBEDO * above);
}

/// Where the viewer is behind the shading normal, he sees the back: black, or the same material.
#[test]
fn kept_normals_decide_which_side_is_seen() {
    holds("one-sided", &tilted(1.2, -0.9, HiddenNormals::Keep, false), 0.0);
    holds("two-sided", &tilted(1.2, -0.9, HiddenNormals::Keep, true), ALBEDO);
    holds("replaced", &tilted(1.2, -0.9, HiddenNormals::Geometric, false), ALBEDO);
}

/// A coarse sphere with the normals of a fine one, in a sky of radiance 1.
fn coarse_sphere(kind: MaterialKind, hidden: HiddenNormals, fov: f32) -> Description {
    let mesh = octahedron_sphere(1);
    let mesh = TriangleMesh { normals: mesh.positions.clone(), ..mesh };
    let eye = camera(Vec3::new(1.0, 2.0, 6.0), Vec3::ZERO, Vec3::Y, fov);
    let mut scene = description(48, eye, 1.0, vec![shape(Geometry::Mesh(mesh.into()), 0.0)]);
    scene.environment = Some(Environment::Constant(Vec3::ONE));
    (scene.materials[0].kind, scene.render.hidden_normals) = (kind, hidden);
    scene.render.max_depth = 64;
    scene
}

/// All of the sphere.
const WHOLE: f32 = 20.0;
/// Its middle, where all normals are valid.
const MIDDLE: f32 = 4.0;

fn mirror() -> MaterialKind {
    MaterialKind::Conductor(ConductorMaterial::new(Vec3::ZERO, Vec3::ONE, Facets::SMOOTH))
}

fn rough_metal() -> MaterialKind {
    let facets = Facets::new(Vec2::splat(0.3), Distribution::Ggx);
    MaterialKind::Conductor(ConductorMaterial::new(Vec3::ZERO, Vec3::ONE, facets))
}

fn glass() -> MaterialKind {
    MaterialKind::Dielectric(DielectricMaterial::new(1.5, Facets::SMOOTH))
}

/// Means of the pixels, and the most standard errors that one is above 1 and a thousandth.
fn pixels(machine: Machine, scene: &Description, spp: u32) -> (Vec<f64>, f64) {
    let film = machine.render(&assembled(scene), spp);
    assert_eq!(film.rejected(), 0, "samples that are not finite");
    let over = film.pixels.iter().map(|p| (p.mean()[0] - 1.001) / p.stderr()[0].max(1e-5));
    (film.pixels.iter().map(|p| p.mean()[0]).collect(), over.fold(f64::MIN, f64::max))
}

fn least(pixels: &[f64]) -> f64 {
    pixels.iter().copied().fold(f64::MAX, f64::min)
}

fn mean(pixels: &[f64]) -> f64 {
    pixels.iter().sum::<f64>() / pixels.len() as f64
}

/// A convex mirror that reflects all light shows the sky wherever it is looked at; without bending, its rim is black.
#[test]
fn bent_normals_leave_no_part_of_a_mirror_black() {
    for machine in machines() {
        let of = |hidden| pixels(machine, &coarse_sphere(mirror(), hidden, WHOLE), 64).0;
        let (bent, lost) = (of(HiddenNormals::Bend), of(HiddenNormals::Geometric));
        println!("{machine:?}: bent from {}, lost from {}", least(&bent), least(&lost));
        assert!(bent.iter().all(|x| (x - 1.0).abs() < 1e-3), "{machine:?}: {}", least(&bent));
        assert!(least(&lost) < 0.1, "control on {machine:?}: {} is not black", least(&lost));
    }
}

/// Lobes that reach below the horizon all the same lose some light, and make none; and less of glass is dark.
#[test]
fn bent_normals_make_no_light_and_lose_less() {
    let gltf = MaterialKind::Gltf(GltfMaterial {
        metallic: Scalar::new(1.0),
        roughness: Scalar::new(0.3),
        ..GltfMaterial::DEFAULT
    });
    for machine in machines() {
        for (name, kind) in [("metal", rough_metal()), ("glass", glass()), ("glTF", gltf)] {
            let spp = tier::choose(256, 1024);
            let of = |hidden| pixels(machine, &coarse_sphere(kind, hidden, WHOLE), spp);
            let ((bent, over), (lost, _)) = (of(HiddenNormals::Bend), of(HiddenNormals::Geometric));
            let [b, l] = [mean(&bent), mean(&lost)];
            println!("{name}: {b} from {}, {l} from {}, {over} above", least(&bent), least(&lost));
            assert!(over < 5.0, "{name}: a pixel is {over} standard errors above 1");
            assert!(b > l + 5e-4 && b > 0.85, "{name}: {b}, and {l} without bending");
        }
    }
}

/// Where nothing is wrong nothing changes, to the last bit: neither valid normals, nor what has no mirror direction.
#[test]
fn valid_normals_are_left_as_they_are() {
    for machine in machines() {
        let white = MaterialKind::diffuse(Vec3::ONE);
        let is_same = |kind, fov| {
            let of = |hidden| pixels(machine, &coarse_sphere(kind, hidden, fov), 16).0;
            of(HiddenNormals::Bend) == of(HiddenNormals::Geometric)
        };
        assert!(is_same(mirror(), MIDDLE) && is_same(rough_metal(), MIDDLE) && is_same(white, WHOLE));
        assert!(!is_same(mirror(), WHOLE) && !is_same(rough_metal(), WHOLE), "control");
    }
}

/// No kernel of a scene without such normals knows of them.
#[test]
fn only_smooth_meshes_that_reflect_ask_for_bent_normals() {
    let asks = |scene: &Description| assembled(scene).features.contains(Features::BENT_NORMALS);
    let scene = |kind, hidden| coarse_sphere(kind, hidden, WHOLE);
    assert!(asks(&scene(mirror(), HiddenNormals::Bend)) && asks(&scene(glass(), HiddenNormals::Bend)));
    assert!(
        !asks(&scene(mirror(), HiddenNormals::Geometric)) && !asks(&scene(mirror(), HiddenNormals::Keep))
    );
    assert!(!asks(&scene(MaterialKind::diffuse(Vec3::ONE), HiddenNormals::Bend)));
    let mut flat = scene(mirror(), HiddenNormals::Bend);
    flat.shapes = vec![shape(Geometry::Mesh(octahedron_sphere(1).into()), 0.0), shape(Geometry::Box, 0.0)];
    assert!(!asks(&flat));
}
