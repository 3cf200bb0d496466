//! Scenes that differ little from one that is assembled already.

use std::sync::Arc;

use device::features::Features;
use torrance_scene::{Description, Geometry as Form, Shape};

use super::lights::{self, Emitters, Lights, Surfaces};
use super::materials::{self, VertexAttributes};
use super::placement::{self, PlacedShape, Plan};
use super::{Error, Families, Filter, Flattened, Geometry, Pictures, SceneData};

/// A scene as it is described and as stages want it, kept so that similar ones can be assembled with least work.
#[derive(Debug)]
pub struct Original {
    description: Description,
    wants: Vec<VertexAttributes>,
    world: Vec<PlacedShape>,
    groups: Vec<Vec<PlacedShape>>,
    emitters: Emitters,
    /// Those of the scene, before the leaves were known.
    lights: Lights,
    scene: SceneData,
}

impl Original {
    /// Assembles a scene.
    ///
    /// # Errors
    /// As [`super::assemble`].
    pub fn new(description: Description) -> Result<Self, Error> {
        let plan = Plan::new(&description)?;
        let (world, groups) = (plan.world.clone(), plan.groups.clone());
        let (flattened, emitters) = Flattened::planned(&description, plan)?;
        let lights = flattened.rest.lights.clone();
        let scene = flattened.build()?;
        let wants = materials::wants(&description, &scene.materials);
        Ok(Self { description, wants, world, groups, emitters, lights, scene })
    }

    /// The scene.
    pub const fn scene(&self) -> &SceneData {
        &self.scene
    }

    /// Assembles a description, as [`super::assemble`] does, sharing with the original what both have: trees, textures,
    /// the environment, lights. If only instances differ, only their tree is rebuilt; if anything in the world does, the
    /// tree of the world is as well, but none of groups.
    ///
    /// # Errors
    /// As [`super::assemble`].
    pub fn variant(&self, description: &Description) -> Result<SceneData, Error> {
        let (own, scene) = (&self.description, &self.scene);
        let records = materials::records(description);
        let wants = materials::wants(description, &records.0);
        let has_surfaces = self.has_surfaces(description, &wants);
        let plan = if has_surfaces { None } else { Some(Plan::new(description)?) };
        let pictures = scene.pictures.updated(own, description)?;
        let filter = match Filter::inputs(&description.render) {
            inputs if inputs == Filter::inputs(&own.render) => scene.filter.clone(),
            _ => Filter::new(&description.render),
        };
        let shapes: Vec<&Shape> = description.all_shapes().collect();
        let changed = VariantParts { description, shapes: &shapes, wants: &wants, pictures: &pictures };
        let (geometry, lights) = match plan {
            Some(plan) => self.moved(changed, &plan)?,
            None if self.has_lights(changed) => (scene.geometry.clone(), self.lights.clone()),
            None => (scene.geometry.clone(), self.lit(changed)),
        };
        let rest = SceneData::without_geometry(description, records, lights, pictures, filter);
        Ok(rest.with_geometry(geometry))
    }

    /// Rebuilds the parts that depend on surfaces, where these differ.
    fn moved(&self, to: VariantParts<'_>, plan: &Plan) -> Result<(Geometry, Lights), Error> {
        let geometry = &self.scene.geometry;
        let own: Vec<&Shape> = self.description.all_shapes().collect();
        let is_same = |a: &Vec<PlacedShape>, b: &Vec<PlacedShape>| {
            let is_same =
                |p: &PlacedShape| is_same_surface(own[p.shape as usize], to.shapes[p.shape as usize]);
            a == b && a.iter().all(is_same)
        };
        let has_groups = self.wants == to.wants
            && placement::varies(&own) == placement::varies(to.shapes)
            && same(&self.groups, &plan.groups, is_same);
        if has_groups && is_same(&self.world, &plan.world) {
            // Lights may depend on how large the scene is.
            return Ok((geometry.with_instances(&plan.instances)?, self.lit(to)));
        }
        let groups: &[Vec<PlacedShape>] = if has_groups { &[] } else { &plan.groups };
        let mut placement = placement::place(to.shapes, &plan.world, groups, to.wants);
        let emitters = Emitters::mark(&mut placement.flat, to.shapes);
        let surfaces = placement.flat.surfaces(to.shapes, &emitters);
        let lights = lights::collect(surfaces, to.description, to.pictures);
        let geometry = if has_groups {
            geometry.with_world(placement.flat, &plan.instances)
        } else {
            Geometry::new(placement, &plan.instances)
        };
        Ok((geometry?, lights))
    }

    /// Lights on the original's primitives.
    fn lit(&self, to: VariantParts<'_>) -> Lights {
        let Geometry { shape_of, uvs, .. } = &self.scene.geometry;
        let surfaces = Surfaces { shapes: to.shapes, shape_of, emitters: &self.emitters, uvs };
        lights::collect(surfaces, to.description, to.pictures)
    }

    /// Whether all shapes and instances are those of the original, but for how much light they emit.
    fn has_surfaces(&self, other: &Description, wants: &[VertexAttributes]) -> bool {
        let own = &self.description;
        let is_same =
            |a: &Shape, b: &Shape| a.world_from_object == b.world_from_object && is_same_surface(a, b);
        self.wants == wants
            && own.instances == other.instances
            && same(&own.shapes, &other.shapes, is_same)
            && same(&own.groups, &other.groups, |a, b| same(&a.shapes, &b.shapes, is_same))
    }

    /// Whether the lights are those of the original, if the surfaces are.
    fn has_lights(&self, to: VariantParts<'_>) -> bool {
        let (own, other) = (&self.description, to.description);
        let is_same = |(a, b): (&Shape, &&Shape)| {
            (a.emission, a.emission_two_sided) == (b.emission, b.emission_two_sided)
                // How light is drawn depends on where lights have holes.
                && (!a.emits() || own.materials[a.material] == other.materials[b.material])
        };
        own.lights == other.lights
            && own.render.lights == other.render.lights
            && own.environment == other.environment
            && self.scene.pictures.are(to.pictures)
            && own.all_shapes().zip(to.shapes).all(is_same)
    }
}

/// The parts of a variant that are ready before its geometry and lights.
#[derive(Clone, Copy)]
struct VariantParts<'a> {
    description: &'a Description,
    /// Its shapes, those of groups included.
    shapes: &'a [&'a Shape],
    wants: &'a [VertexAttributes],
    pictures: &'a Pictures,
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

/// Whether slices are as long, and their items are the same, one by one.
pub(super) fn same<T>(a: &[T], b: &[T], is_same: impl Fn(&T, &T) -> bool) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_same(a, b))
}

/// Whether shapes are the same surface but for their transforms. Names say nothing, and nor does how much light they emit, if
/// both do. Meshes are compared by what they hold only if they are not one.
fn is_same_surface(a: &Shape, b: &Shape) -> bool {
    let is_same_form = match (&a.geometry, &b.geometry) {
        (Form::Mesh(a), Form::Mesh(b)) => Arc::ptr_eq(a, b) || a == b,
        (a, b) => a == b,
    };
    let rest = |shape: &Shape| (shape.material, shape.flip_normals, shape.emits(), shape.emission.texture);
    is_same_form && rest(a) == rest(b)
}

#[cfg(test)]
mod tests;
