//! Cryptomattes against closed forms of how much of a pixel a thing covers.

use glam::{Affine3A, Vec3};
use renderer::render::aov::{Aov, AovPlan};
use renderer::render::mattes::Matte;
use torrance_image::film::Layers;
use torrance_image::film::cryptomatte::id;
use torrance_image::film::merge::{Merge, Weight};
use torrance_scene::{
    Description, Geometry, Group, Instance, Material, MaterialKind, Sampler, Scalar, Shape,
};
use torrance_tests::closed::{camera, description, shape};
use torrance_tests::{assembled, machines};

/// Pixels of a side of the images.
const SIDE: u32 = 8;

/// Half of the side of what the camera sees at z = 0, metres.
fn half() -> f32 {
    2.0 * 40.0_f32.to_radians().tan()
}

/// A square at depth z whose lower left corner, as the camera sees it, is at these pixels, and that goes on beyond the image: the
/// camera looks along +z, and x grows to the left.
fn square(name: &str, [column, row]: [f32; 2], z: f32, material: usize) -> Shape {
    const SIZE: f32 = 100.0;
    let scale = half() * (z + 2.0) / 2.0;
    let [x, y] = [column, row].map(|k| scale * (1.0 - 2.0 * k / SIDE as f32));
    Shape {
        name: name.to_owned(),
        material,
        world_from_object: Affine3A::from_translation(Vec3::new(x - SIZE, y - SIZE, z))
            * Affine3A::from_scale(Vec3::splat(SIZE)),
        ..shape(Geometry::Quad, 0.0)
    }
}

/// Squares in front of nothing, of two materials, the second of which has an opacity.
fn scene(shapes: Vec<Shape>, opacity: f32) -> Description {
    let eye = camera(Vec3::new(0.0, 0.0, -2.0), Vec3::ZERO, Vec3::Y, 80.0);
    let mut scene = description(SIDE, eye, 0.5, shapes);
    scene.render.sampler = Sampler::Sobol;
    let mut sheer = Material::new("sheer", MaterialKind::diffuse(Vec3::splat(0.5)));
    sheer.opacity = Scalar::new(opacity);
    scene.materials.push(sheer);
    scene
}

/// Renders a scene with the layers of Cryptomatte, on every machine.
fn rendered(scene: &Description, spp: u32) -> Vec<Layers> {
    let data = assembled(scene);
    let mattes = [Matte::Object, Matte::Material, Matte::Asset].map(Aov::Crypto);
    let mut plan = AovPlan::new([Aov::Stderr, Aov::Samples].into_iter().chain(mattes).collect());
    plan.describe(scene).expect("there is memory");
    let of = |machine: torrance_tests::Machine| {
        plan.layers(&machine.render_with(&data, spp, plan.options()), &data)
    };
    machines().into_iter().map(of).collect()
}

/// What of pixel (x, y) a name covers; "" is nothing.
fn covered(layers: &Layers, kind: &str, name: &str, [x, y]: [u32; 2]) -> f64 {
    let pixel = &layers.cryptomatte(kind)[(y * SIDE + x) as usize];
    let id = if name.is_empty() { 0 } else { id(name) };
    pixel.iter().filter(|(of, _)| *of == id).map(|(_, coverage)| coverage).sum()
}

/// Whether a name covers of some pixels what it is to.
fn covers(layers: &Layers, kind: &str, name: &str, expected: &[([u32; 2], f64)]) -> bool {
    expected.iter().all(|(pixel, expected)| (covered(layers, kind, name, *pixel) - expected).abs() < 4e-3)
}

fn sums_to_1(layers: &Layers) -> bool {
    let kinds = ["CryptoObject", "CryptoMaterial", "CryptoAsset"];
    let sums = kinds.map(|kind| {
        layers
            .cryptomatte(kind)
            .iter()
            .all(|pixel| (pixel.iter().map(|(_, coverage)| coverage).sum::<f64>() - 1.0).abs() < 1e-6)
    });
    sums == [true; 3]
}

/// The square begins in the middle of column 5, and a quarter of the way down row 2.
const OF_SQUARE: [([u32; 2], f64); 6] =
    [([4, 6], 0.0), ([5, 6], 0.5), ([6, 6], 1.0), ([6, 2], 0.75), ([5, 2], 0.375), ([6, 1], 0.0)];

#[test]
fn a_square_covers_what_it_covers_of_each_pixel() {
    for layers in rendered(&scene(vec![square("square", [5.5, 2.25], 0.0, 0)], 1.0), 4096) {
        assert!(covers(&layers, "CryptoObject", "square", &OF_SQUARE));
        assert!(covers(&layers, "CryptoMaterial", "diffuse", &OF_SQUARE));
        assert!(covers(&layers, "CryptoAsset", "square", &OF_SQUARE));
        assert!(covers(&layers, "CryptoObject", "", &OF_SQUARE.map(|(pixel, part)| (pixel, 1.0 - part))));
        assert!(sums_to_1(&layers));
    }
}

#[test]
fn control_a_square_a_hundredth_of_a_pixel_aside() {
    for corner in [[5.51, 2.25], [5.5, 2.24]] {
        for layers in rendered(&scene(vec![square("square", corner, 0.0, 0)], 1.0), 4096) {
            assert!(!covers(&layers, "CryptoObject", "square", &OF_SQUARE));
        }
    }
}

/// Opacity a in front of the same in front of a wall: a, (1 − a)·a, and the rest.
#[test]
fn sheets_let_through_what_they_do_not_cover() {
    let sheets = |opacity| {
        let shapes = vec![
            square("front", [5.0, 2.0], 0.0, 1),
            square("back", [4.0, 2.0], 0.5, 1),
            square("wall", [-8.0, -8.0], 1.0, 0),
        ];
        rendered(&scene(shapes, opacity), 16384)
    };
    let is_right = |layers: &Layers| {
        [("front", 0.3), ("back", 0.21), ("wall", 0.49)]
            .map(|(name, part)| covers(layers, "CryptoObject", name, &[([6, 4], part)]))
    };
    for layers in sheets(0.3) {
        assert_eq!(is_right(&layers), [true; 3]);
        assert!(covers(&layers, "CryptoMaterial", "sheer", &[([6, 4], 0.51), ([4, 4], 0.3), ([3, 4], 0.0)]));
        assert!(sums_to_1(&layers));
    }
    for layers in sheets(0.35) {
        assert_eq!(is_right(&layers), [false; 3], "control: another opacity");
    }
}

/// Instances have names of their own, also those of groups that are copied for having but one.
#[test]
fn instances_go_by_their_groups_and_numbers() {
    let part = |name: &str, corner| square(name, corner, 0.0, 0);
    let mut scene = scene(vec![square("wall", [-8.0, -8.0], 1.0, 0)], 1.0);
    let group = |name: &str, shapes| Group { name: name.to_owned(), shapes };
    // A strip at the right edge of the image, and one at its lower edge.
    scene.groups =
        vec![group("pane", vec![part("glass", [7.5, 0.0])]), group("sill", vec![part("board", [0.0, 7.0])])];
    let pixel = half() / (SIDE / 2) as f32;
    let place = |group, columns: f32| {
        let moved = Vec3::new(-columns * pixel, 0.0, -0.001 * columns);
        Instance { group, world_from_group: Affine3A::from_translation(moved) }
    };
    scene.instances = vec![place(0, 0.0), place(1, 0.0), place(0, -1.0)];
    for layers in rendered(&scene, 4096) {
        let middle = [([7, 3], 0.5), ([6, 3], 0.0)];
        assert!(covers(&layers, "CryptoObject", "pane #0", &middle));
        assert!(covers(&layers, "CryptoObject", "pane #1", &[([7, 3], 0.5), ([6, 3], 0.5), ([5, 3], 0.0)]));
        assert!(covers(&layers, "CryptoAsset", "pane", &[([7, 3], 1.0), ([6, 3], 0.5), ([5, 3], 0.0)]));
        assert!(covers(&layers, "CryptoObject", "sill #0", &[([3, 7], 1.0), ([3, 6], 0.0)]));
        assert!(covers(&layers, "CryptoAsset", "sill", &[([3, 7], 1.0), ([3, 6], 0.0)]));
        assert!(covers(&layers, "CryptoMaterial", "diffuse", &[([7, 3], 1.0), ([3, 7], 1.0)]));
        assert!(sums_to_1(&layers));
        let manifest =
            layers.attributes.iter().find(|(_, told)| told.contains("pane #1")).expect("it is named").1;
        assert!(manifest.contains(&format!("\"pane #1\":\"{:08x}\"", id("pane #1"))), "{manifest}");
        assert!(!manifest.contains("glass"), "{manifest}");
    }
}

/// Parts of a render that are merged cover what all samples do.
#[test]
fn merged_parts_cover_what_the_whole_does() {
    let scene = |seed| {
        let mut scene = scene(vec![square("a", [5.5, 2.25], 0.0, 1), square("b", [2.5, 0.0], 1.0, 0)], 0.5);
        scene.render.seed = seed;
        scene
    };
    let [one, two] = [1, 2].map(|seed| rendered(&scene(seed), 1024).swap_remove(0));
    let mut merge = Merge::new(Weight::Samples, "one", &one).expect("it can be merged");
    merge.add("two", &two).expect("it is of the same scene");
    let merged = merge.finish().expect("there are few samples").layers;
    for pixel in [[6, 4], [5, 2], [3, 3], [0, 0]] {
        for name in ["a", "b", ""] {
            let [one, two, both] =
                [&one, &two, &merged].map(|layers| covered(layers, "CryptoObject", name, pixel));
            assert!(
                (both - 0.5 * (one + two)).abs() < 1e-6,
                "{name} at {pixel:?}: {one} and {two} make {both}"
            );
        }
    }
    assert!(sums_to_1(&merged));
}
