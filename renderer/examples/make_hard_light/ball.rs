//! A clear ball in the sun.

use glam::{Vec3, vec3};

use super::forms::{ball as sphere, quad};
use super::scene::{Camera, Material, Scene, Sun};

const ABOUT: &str = "A ball of clear glass in the sun, over a floor, and the bright spot that it makes there: light of a small
sun through two smooth surfaces.";

pub(crate) fn ball() -> Scene {
    let camera = Camera { position: vec3(0.9, 2.9, 5.6), target: vec3(0.75, 0.6, -0.2), fov: 40.0 };
    let mut scene = Scene::new("ball", ABOUT, 16, camera);
    scene.sky = vec3(0.1, 0.14, 0.2);
    scene.sun = Some(Sun { direction: vec3(0.75, -1.0, -0.35), irradiance: vec3(3.0, 2.8, 2.5) });
    scene.diffuse("floor", 0.55, 0.5, 0.44);
    scene.material("glass", Material::Glass { ior: 1.5, alpha: 0.0 });
    scene.put("floor", quad(Vec3::ZERO, Vec3::Z * 12.0, Vec3::X * 12.0));
    scene.put("glass", sphere(vec3(0.0, 1.0, 0.0), 0.8));
    scene
}
