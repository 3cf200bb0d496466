//! Holes, blends and the two sides of materials, in scenes with closed forms.

mod blends;
mod holes;
mod sides;

use std::sync::Arc;

use glam::{Affine2, Affine3A, Vec2, Vec3};
use torrance_scene::{
    Bitmap, Blend, Channel, ConductorMaterial, Description, Distribution, Facets, Format, Geometry, Image,
    Material, MaterialKind, Scalar, Shape, TexelFilter, Texture, Wrap,
};
use torrance_tests::closed::{camera, furnace, octahedron_sphere, shape};
use torrance_tests::compare::{Reference, compare};
use torrance_tests::{Machine, assembled, machines};

/// Pixels along a side of every image here.
const SIDE: usize = 16;

fn diffuse(reflectance: f32) -> Material {
    Material::new("diffuse", MaterialKind::diffuse(Vec3::splat(reflectance)))
}

/// A black sheet of which a part is there.
fn sheet(opacity: Scalar) -> Material {
    Material { opacity, ..diffuse(0.0) }
}

fn blend(materials: [u32; 2], weight: Scalar) -> Material {
    Material::new("blend", MaterialKind::Blend(Blend { materials, weight }))
}

/// A quad that faces up at a height, and reaches as far as counts.
fn level(y: f32, material: usize) -> Shape {
    let world_from_object = Affine3A::from_translation(y * Vec3::Y)
        * Affine3A::from_rotation_x(-std::f32::consts::FRAC_PI_2)
        * Affine3A::from_scale(Vec3::splat(40.0));
    Shape { material, world_from_object, ..shape(Geometry::Quad, 0.0) }
}

/// A square that fills the image, its front to the camera or its back, in a white furnace.
fn pane(materials: Vec<Material>, front: bool) -> Description {
    let mut scene = furnace(0.0, Geometry::Quad);
    let side = if front { 1.0 } else { -1.0 };
    let fov = 2.0 * 0.25_f32.atan().to_degrees();
    scene.camera = camera(4.0 * side * Vec3::Z, Vec3::ZERO, Vec3::Y, fov);
    scene.materials = materials;
    scene
}

/// A number in [0, 1] for every pixel, 0 and 1 among them.
fn pattern(pixel: usize) -> f32 {
    (pixel * 37 % 256) as f32 / 255.0
}

/// Adds a texture that has the [`pattern`] where [`pane`] fills the image.
fn patterned(scene: &mut Description) -> Scalar {
    // The v of a quad grows upwards, and the first row of an image is at v = 0.
    let texel = |i| pattern((SIDE - 1 - i / SIDE) * SIDE + i % SIDE).to_bits();
    let texels: Arc<[u32]> = (0..SIDE * SIDE).flat_map(|i| [texel(i); 3]).collect();
    let (width, height) = (SIDE as u32, SIDE as u32);
    scene.images.push(Image::new(width, height, Format::RgbF32, texels));
    scene.textures.push(Texture::Bitmap(Bitmap {
        image: scene.images.len() - 1,
        image_from_uv: Affine2::IDENTITY,
        wrap: [Wrap::Clamp; 2],
        channel: Channel::R,
        filter: TexelFilter::Nearest,
    }));
    Scalar { value: 1.0, texture: scene.textures.len() as u32 - 1 }
}

/// Whether an image is all black.
fn is_black(scene: &Description) -> bool {
    let black =
        |machine: Machine| machine.render(&assembled(scene), 64).pixels.iter().all(|p| p.mean() == [0.0; 3]);
    machines().into_iter().all(black)
}

/// Asserts that an image is not what is expected of every pixel.
fn is_rejected(name: &str, scene: &Description, spp: u32, expected: &dyn Fn(usize) -> f64) {
    let reference = Reference::exact(SIDE, (0..SIDE * SIDE).map(|i| [expected(i); 3]).collect());
    let difference = compare(&Machine::Cpu.render(&assembled(scene), spp), &reference, false);
    assert!(difference.mean > 0.005, "{name}: {difference:?}");
}

fn closed_surfaces() -> [Geometry; 3] {
    let sphere = Geometry::Sphere { center: Vec3::ZERO, radius: 1.0 };
    [sphere, Geometry::Mesh(octahedron_sphere(2).into()), Geometry::Box]
}

/// A light behind `count` sheets, and what the camera sees of it.
fn behind_sheets(count: usize, opacity: f32) -> (Description, f64) {
    let mut scene = pane(vec![sheet(Scalar::new(opacity))], true);
    let at = |z: f32, scale: f32| {
        Affine3A::from_translation(Vec3::new(0.0, 0.0, z)) * Affine3A::from_scale(Vec3::splat(scale))
    };
    scene.environment = None;
    scene.materials.push(diffuse(0.0));
    let sheets = (0..count)
        .map(|i| Shape { world_from_object: at(-0.01 * i as f32, 8.0), ..shape(Geometry::Quad, 0.0) });
    scene.shapes = sheets.collect();
    scene.shapes.push(Shape { world_from_object: at(-5.0, 8.0), material: 1, ..shape(Geometry::Quad, 2.0) });
    (scene, 2.0 * f64::from(1.0 - opacity).powi(count as i32))
}

fn metal(alpha: f32) -> Material {
    let facets = Facets::new(Vec2::splat(alpha), Distribution::Ggx);
    let (eta, k) = (Vec3::ZERO, Vec3::ONE);
    Material::new("metal", MaterialKind::Conductor(ConductorMaterial::new(eta, k, facets)))
}
