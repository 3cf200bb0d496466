//! Scenes that differ little from one that is assembled already.

use std::sync::Arc;

use device::bsdf::Features;
use device::material::Material as DeviceMaterial;

use super::materials::{self, Wants};
use super::{Error, Families, Flattened, SceneData, camera, features_of_scene, filter, settings};
use crate::scene::{Description, Geometry, Group, Image, Shape};

/// A scene as it is described and as stages want it, and what takes least to assemble others that are like it.
#[derive(Debug)]
pub struct Original {
    description: Description,
    scene: SceneData,
    wants: Vec<Wants>,
    of_lights: Features,
}

impl Original {
    /// Assembles a scene.
    ///
    /// # Errors
    /// As [`super::assemble`].
    pub fn new(description: Description) -> Result<Self, Error> {
        let flattened = Flattened::new(&description)?;
        let wants = materials::wants(&description, &flattened.materials);
        let of_lights = flattened.lights.features;
        let scene = flattened.build()?;
        Ok(Self { description, scene, wants, of_lights })
    }

    /// The scene.
    pub const fn scene(&self) -> &SceneData {
        &self.scene
    }

    /// What [`super::assemble`] makes of a description. Where that differs from the original's in nothing but materials,
    /// camera and settings, it shares geometry, textures and lights with it, and takes no longer if these are large.
    ///
    /// # Errors
    /// As [`super::assemble`].
    pub fn variant(&self, description: &Description) -> Result<SceneData, Error> {
        let (materials, coats) = materials::records(description);
        if !self.shares_geometry(description, &materials) {
            return super::assemble(description);
        }
        let (scene, render) = (&self.scene, &description.render);
        let filter = filter::parts(&render.filter);
        let of_parts = materials::features(description, &materials).and(self.of_lights);
        Ok(SceneData {
            features: features_of_scene(of_parts, &scene.stats, render),
            families: Families::new(description, &materials),
            hidden_normals: render.hidden_normals,
            holes: render.holes,
            hides_emitters: render.hide_emitters,
            filter_edges: if render.sample_border { Vec::new() } else { filter::edges(&filter) },
            filter,
            camera: camera::record(&description.camera, render.width, render.height),
            settings: settings(render),
            width: render.width,
            height: render.height,
            stats: super::Stats {
                bytes: scene.stats.bytes - size_of_val(&*scene.coats) + size_of_val(&*coats),
                ..scene.stats
            },
            materials,
            coats,
            ..scene.clone()
        })
    }

    /// Whether a description has the geometry, textures and lights of the original, in the form that its materials want.
    fn shares_geometry(&self, other: &Description, materials: &[DeviceMaterial]) -> bool {
        let own = &self.description;
        same(&own.shapes, &other.shapes, is_same_shape)
            && same(&own.groups, &other.groups, is_same_group)
            && own.instances == other.instances
            && own.environment == other.environment
            && own.portals == other.portals
            && own.lights == other.lights
            && same(&own.images, &other.images, is_same_image)
            && own.textures == other.textures
            && own.materials.len() == other.materials.len()
            && self.wants == materials::wants(other, materials)
            // How light is drawn depends on where lights have holes.
            && own.all_shapes().filter(|shape| shape.emits()).all(|shape| {
                own.materials[shape.material] == other.materials[shape.material]
            })
    }
}

/// Makes scenes ask for the same kernels, so that a GPU compiles them once: each for what any of them asks for. Their images
/// stay the same but for rounding. Scenes whose materials are not as many are left as they are.
pub fn share_kernels(scenes: &mut [SceneData]) {
    let Some(families) = Families::joined(scenes.iter().map(|scene| &scene.families)) else { return };
    let features = scenes.iter().fold(Features::NONE, |all, scene| all.and(scene.features));
    for scene in scenes {
        (scene.features, scene.families) = (features, families.clone());
    }
}

fn same<T>(a: &[T], b: &[T], is_same: impl Fn(&T, &T) -> bool) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_same(a, b))
}

/// Names say nothing. Meshes are compared by what they hold only if they are not one.
fn is_same_shape(a: &Shape, b: &Shape) -> bool {
    let is_same_geometry = match (&a.geometry, &b.geometry) {
        (Geometry::Mesh(a), Geometry::Mesh(b)) => Arc::ptr_eq(a, b) || a == b,
        (a, b) => a == b,
    };
    is_same_geometry
        && (a.material, a.emission, a.emission_two_sided, a.flip_normals, a.world_from_object)
            == (b.material, b.emission, b.emission_two_sided, b.flip_normals, b.world_from_object)
}

fn is_same_group(a: &Group, b: &Group) -> bool {
    same(&a.shapes, &b.shapes, is_same_shape)
}

fn is_same_image(a: &Image, b: &Image) -> bool {
    (a.width, a.height, a.format) == (b.width, b.height, b.format)
        && (Arc::ptr_eq(&a.texels, &b.texels) || a.texels == b.texels)
}
