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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::assemble::assemble;
    use crate::scene::{Files, load_bytes};

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

    fn described(text: &str) -> Description {
        let files = Files::new(std::path::Path::new("."), false);
        load_bytes("scene.toml", text.as_bytes(), &files)
            .unwrap_or_else(|e| panic!("{text}: {e}"))
            .description
    }

    /// Whatever changes: what is shared is what assembling would make of it.
    #[test]
    fn variants_are_what_is_assembled() {
        let original = Original::new(described(SCENE)).unwrap();
        for (from, to, is_shared) in [
            ("roughness = 0.3", "roughness = 0.7", true),
            ("roughness = 0.3", "roughness = 0", true),
            ("metal = \"gold\"\nroughness = 0.3", "metal = \"gold\"\nroughness = [0.1, 0.3]", false),
            (
                "type = \"conductor\"\nmetal = \"gold\"\nroughness = 0.3",
                "type = \"plastic\"\nreflectance = 0.4\nroughness = 0.3",
                true,
            ),
            (
                "type = \"conductor\"\nmetal = \"gold\"\nroughness = 0.3",
                "type = \"diffuse\"\nreflectance = { type = \"checker\", colors = [0.2, 0.8] }",
                false,
            ),
            ("fov = 40", "fov = 30", true),
            ("size = [8, 8]", "size = [9, 8]\nmasking = \"separable\"\nmax_depth = 3", true),
            ("translate = [0, 0, 0]", "translate = [0, 1, 0]", false),
            ("emission = 2", "emission = 3", false),
            (
                "[materials.lamp]\ntype = \"diffuse\"",
                "[materials.lamp]\ntype = \"diffuse\"\nopacity = 0.5",
                false,
            ),
            ("radiance = [0.3, 0.2, 0.1]", "radiance = [0.3, 0.2, 0.2]", false),
            ("material = \"ball\"", "material = \"lamp\"", false),
        ] {
            let text = SCENE.replacen(from, to, 1);
            let description = described(&text);
            let (variant, whole) = (original.variant(&description).unwrap(), assemble(&description).unwrap());
            assert_eq!(variant.fingerprint(), whole.fingerprint(), "{to}");
            assert_eq!((variant.features, &variant.families), (whole.features, &whole.families), "{to}");
            assert_eq!((&variant.nodes, &variant.prims), (&whole.nodes, &whole.prims), "{to}");
            assert_eq!(variant.stats.bytes, whole.stats.bytes, "{to}");
            assert_eq!(
                (variant.width, variant.settings.max_depth),
                (whole.width, whole.settings.max_depth),
                "{to}"
            );
            assert_eq!(variant.nodes.is(&original.scene().nodes), is_shared, "{to}");
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
}
