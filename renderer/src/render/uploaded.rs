//! Scenes in the memory of a back end.

use std::slice::from_ref;
use std::sync::Arc;

use bytemuck::{NoUninit, Zeroable, cast_slice};
use device::bsdf::plastic::Coat;
use device::bvh::packet::{FEWEST_STRAYS, MOST_STRAYS, STRAYS_AMONG_INSTANCES};
use device::bvh::{Geometry, Instance};
use device::features::Features;
use device::filter::{FilterEdge, FilterPart, FilterView};
use device::guiding::Guide;
use device::light::{
    EmissiveSurface, Environment, GuideEntry, Light, LightNode, Lighting, Portal, SkyTexel, Slide,
};
use device::material::texture::Texture;
use device::material::{Material, Surfaces};
use device::scene::{KeptView, SceneView};
use device::shape::Primitive;
use device::shape::triangle::{TriangleColors, TriangleNormals, TriangleUvs};
use torrance_gpu::backend::{Backend, Buffer, Error, Shared};
use torrance_gpu::primitives::{Primitives, SummedArea, Temp, Whole};
use torrance_scene::{HiddenNormals, Holes};

use super::placement::{Part, Placement, Shortage};
use crate::assemble::{ImageEnvironment, SceneData};

/// Nodes that a core's own caches hold about, where packets of rays are faster than rays alone.
const SMALL_TREE: usize = 1 << 13;

/// A scene in the memory of a back end.
pub struct Uploaded<B: Backend> {
    nodes: B::Buf<B::Node>,
    prims: B::Buf<Primitive>,
    sources: B::Buf<u32>,
    instances: B::Buf<Instance>,
    normals: B::Buf<TriangleNormals>,
    uvs: B::Buf<TriangleUvs>,
    colors: B::Buf<TriangleColors>,
    materials: B::Buf<Material>,
    coats: B::Buf<Coat>,
    textures: B::Buf<Texture>,
    texels: B::Buf<u32>,
    lights: B::Buf<Light>,
    light_table: B::Buf<GuideEntry>,
    light_tree: B::Buf<LightNode>,
    light_places: B::Buf<u32>,
    filter: B::Buf<FilterPart>,
    filter_edges: B::Buf<FilterEdge>,
    emissive: B::Buf<EmissiveSurface>,
    slides: B::Buf<Slide>,
    environment: B::Buf<Environment>,
    sky: B::Buf<SkyTexel>,
    portals: B::Buf<Portal>,
    tables: B::Buf<u64>,
    /// The scene as stages see it, where they can read it through a pointer.
    view: B::Buf<KeptView>,
    /// What is in `view`.
    kept: Option<KeptView>,
    placement: Placement,
}

impl<B: Primitives> Uploaded<B> {
    /// Copies a scene to a back end, but for what it can share, and has it sum up the tables of its portals.
    ///
    /// # Errors
    /// There is not enough memory, or what the machine says.
    pub fn new(backend: &mut B, scene: &SceneData) -> Result<Self, Error> {
        Self::placed(backend, scene, Placement::ON_MACHINE)
    }

    /// As [`Uploaded::new`], to where a placement says.
    pub(super) fn placed(backend: &mut B, scene: &SceneData, at: Placement) -> Result<Self, Error> {
        at.put_rest(backend, |backend| Self::copied(backend, scene, at))
    }

    fn copied(backend: &mut B, scene: &SceneData, at: Placement) -> Result<Self, Error> {
        let SceneData { geometry, pictures, .. } = scene;
        let swatches = &pictures.swatches;
        let mut uploaded = Self {
            nodes: at.put(backend, Part::Nodes, |b| b.share_nodes(&geometry.nodes))?,
            prims: at.put(backend, Part::Prims, |b| padded(b, &geometry.prims))?,
            sources: at.put(backend, Part::Sources, |b| b.share(SOURCES, &geometry.sources))?,
            instances: at.put(backend, Part::Instances, |b| b.upload("instances", &geometry.instances))?,
            normals: at.put(backend, Part::Normals, |b| b.share("normals", &geometry.normals))?,
            uvs: at.put(backend, Part::Uvs, |b| b.share("texture coordinates", &geometry.uvs))?,
            colors: at.put(backend, Part::Colors, |b| b.share("vertex colours", &geometry.colors))?,
            materials: backend.upload("materials", &scene.materials)?,
            coats: backend.upload("coats", &scene.coats)?,
            textures: backend.upload("textures", &swatches.textures)?,
            texels: at.put(backend, Part::Texels, |b| b.share("texels", &swatches.texels))?,
            lights: backend.upload("lights", &scene.lights.all)?,
            light_table: backend.upload("light table", &scene.lights.table)?,
            light_tree: backend.upload("light tree", &scene.lights.tree.nodes)?,
            light_places: backend.upload("places in the light tree", &scene.lights.tree.places)?,
            filter: backend.upload("pixel filter", &scene.filter.parts)?,
            filter_edges: backend.upload("edges of the pixel filter", &scene.filter.edges)?,
            emissive: backend.upload("emissive surfaces", &scene.lights.emissive)?,
            slides: backend.upload("slides of lights", &scene.lights.slides)?,
            environment: backend.upload("environment", &[])?,
            sky: backend.upload("sky", &[])?,
            portals: backend.upload("portals", &[])?,
            tables: backend.upload(TABLES, &[])?,
            view: backend.zeroed("view of the scene", 1)?,
            kept: None,
            placement: at,
        };
        uploaded.upload_environment(backend, pictures.environment.as_deref())?;
        uploaded.put_view(backend, scene)?;
        Ok(uploaded)
    }

    /// Makes a scene that was uploaded into another: only what differs is copied. Buffers that views point to are written
    /// or replaced, so the back end has to be done with them.
    ///
    /// # Errors
    /// There is not enough memory, or what the machine says. What was uploaded is then neither scene.
    pub(super) fn become_like(
        &mut self,
        backend: &mut B,
        old: &SceneData,
        new: &SceneData,
    ) -> Result<(), Error> {
        let at = self.placement;
        at.put_rest(backend, |backend| self.replace(backend, old, new))
    }

    /// Whether to do so, or rather to place the new scene anew.
    pub(super) fn can_become_like(&self, backend: &B, old: &SceneData, new: &SceneData) -> bool {
        self.placement.suits(backend, old, new)
    }

    fn replace(&mut self, backend: &mut B, old: &SceneData, new: &SceneData) -> Result<(), Error> {
        let at = self.placement;
        // There need not be room for both.
        macro_rules! shared {
            ($($buffer:ident: $part:ident, $label:expr, $($field:ident).+;)*) => { $(
                if !old.$($field).+.is(&new.$($field).+) {
                    *$buffer = backend.upload($label, &[])?;
                    *$buffer = at.put(backend, Part::$part, |b| b.share($label, &new.$($field).+))?;
                }
            )* };
        }
        macro_rules! copied {
            ($($buffer:ident: $label:literal, $($field:ident).+;)*) => { $(
                let (before, after) = (&old.$($field).+, &new.$($field).+);
                if before.len() != after.len() {
                    *$buffer = backend.upload($label, &[])?;
                    *$buffer = backend.upload($label, after)?;
                } else if bytes_of(before) != bytes_of(after) {
                    backend.write(after, $buffer)?;
                }
            )* };
        }
        // By name, so that none is forgotten.
        #[rustfmt::skip]
        let Self {
            nodes, prims, sources, instances, normals, uvs, colors, materials, coats, textures, texels, lights,
            light_table, light_tree, light_places, filter, filter_edges, emissive, slides,
            environment: _, sky: _, portals: _, tables: _, view: _, kept: _, placement: _,
        } = self;
        shared! {
            sources: Sources, SOURCES, geometry.sources;
            normals: Normals, "normals", geometry.normals;
            uvs: Uvs, "texture coordinates", geometry.uvs;
            colors: Colors, "vertex colours", geometry.colors;
            texels: Texels, "texels", pictures.swatches.texels;
        }
        copied! {
            materials: "materials", materials;
            coats: "coats", coats;
            textures: "textures", pictures.swatches.textures;
            lights: "lights", lights.all;
            light_table: "light table", lights.table;
            light_tree: "light tree", lights.tree.nodes;
            light_places: "places in the light tree", lights.tree.places;
            emissive: "emissive surfaces", lights.emissive;
            slides: "slides of lights", lights.slides;
            filter: "pixel filter", filter.parts;
            filter_edges: "edges of the pixel filter", filter.edges;
        }
        if bytes_of(&old.geometry.instances) != bytes_of(&new.geometry.instances) {
            *instances = backend.upload("instances", &[])?;
            *instances =
                at.put(backend, Part::Instances, |b| b.upload("instances", &new.geometry.instances))?;
        }
        if !old.geometry.nodes.is(&new.geometry.nodes) {
            *nodes = backend.share_nodes(&Shared::default())?;
            *nodes = at.put(backend, Part::Nodes, |b| b.share_nodes(&new.geometry.nodes))?;
        }
        if !old.geometry.prims.is(&new.geometry.prims) {
            *prims = backend.upload("primitives", &[])?;
            *prims = at.put(backend, Part::Prims, |b| padded(b, &new.geometry.prims))?;
        }
        let is_same_sky = match (&old.pictures.environment, &new.pictures.environment) {
            (Some(old), Some(new)) => Arc::ptr_eq(old, new) || old == new,
            (old, new) => old.is_none() && new.is_none(),
        };
        if !is_same_sky {
            self.upload_environment(backend, new.pictures.environment.as_deref())?;
        }
        self.put_view(backend, new)
    }

    fn upload_environment(
        &mut self,
        backend: &mut B,
        environment: Option<&ImageEnvironment>,
    ) -> Result<(), Error> {
        let sky: &[SkyTexel] = environment.map_or(&[], |e| &e.sky);
        self.environment = backend.upload("environment", environment.map_or(&[], |e| from_ref(&e.record)))?;
        self.sky = backend.upload("sky", &[])?;
        self.sky = self.placement.put(backend, Part::Sky, |b| b.upload("sky", sky))?;
        self.portals = backend.upload("portals", environment.map_or(&[], |e| &e.portals))?;
        self.tables = backend.upload(TABLES, &[])?;
        self.tables = summed(backend, environment, self.placement)?;
        Ok(())
    }

    /// What of it is in the memory of the host, as the machine's has no room.
    pub(super) fn shortage(&self) -> Shortage {
        let mut short = self.placement.shortage();
        macro_rules! count {
            ($($kind:ident: $($buffer:ident)*;)*) => { $($(Shortage::count(&self.$buffer, &mut short.$kind);)*)* };
        }
        count! {
            textures: texels sky tables;
            shading: normals uvs colors sources;
            trees: nodes prims instances;
            tables: materials coats textures lights light_table light_tree light_places filter filter_edges emissive slides environment portals view;
        }
        short
    }

    /// Puts the view where the scene in the back end's memory can point to it.
    fn put_view(&mut self, backend: &mut B, scene: &SceneData) -> Result<(), Error> {
        let view = KeptView(self.view(scene));
        if self.kept.is_none_or(|kept| bytes_of(&[kept]) != bytes_of(&[view])) {
            backend.write(&[view], &mut self.view)?;
            self.kept = Some(view);
        }
        Ok(())
    }

    /// The scene as stages see it, valid as long as `self` is. `scene` may have dropped its geometry by now.
    pub fn view(&self, scene: &SceneData) -> SceneView {
        let geometry = Geometry {
            nodes: self.nodes.ptr().cast(),
            prims: self.prims.ptr(),
            sources: self.sources.ptr(),
            instances: self.instances.ptr(),
            kept: self.view.ptr().cast_const().cast(),
            instances_root: scene.geometry.instances_root,
            strays: if self.nodes.len() > SMALL_TREE {
                MOST_STRAYS
            } else if scene.geometry.instances_root != 0 {
                STRAYS_AMONG_INSTANCES
            } else {
                FEWEST_STRAYS
            },
        };
        let textures = &scene.pictures.swatches.textures;
        let surfaces = Surfaces {
            geometry,
            normals: self.normals.ptr(),
            uvs: if self.uvs.is_empty() { std::ptr::null() } else { self.uvs.ptr() },
            colors: if self.colors.is_empty() { std::ptr::null() } else { self.colors.ptr() },
            materials: self.materials.ptr(),
            coats: self.coats.ptr(),
            textures: if textures.is_empty() { std::ptr::null() } else { self.textures.ptr() },
            texels: self.texels.ptr(),
            has_mipmaps: textures.iter().any(Texture::has_mipmaps).into(),
            keeps_hidden_normals: (scene.hidden_normals == HiddenNormals::Keep).into(),
        };
        let lighting = Lighting {
            surfaces,
            light_count: scene.lights.all.len() as u32,
            first_infinite: scene.lights.first_infinite,
            lights: self.lights.ptr(),
            light_table: self.light_table.ptr(),
            light_tree: self.light_tree.ptr(),
            light_places: self.light_places.ptr(),
            tree_lights: scene.lights.tree.places.len() as u32,
            tree_pmf: scene.lights.tree_pmf,
            reserved: [0; 2],
            emissive: self.emissive.ptr(),
            slides: self.slides.ptr(),
            environment: self.environment.ptr(),
            sky: self.sky.ptr(),
            portals: self.portals.ptr(),
            tables: self.tables.ptr(),
        };
        let filter = FilterView {
            parts: if scene.filter.parts.is_empty() { std::ptr::null() } else { self.filter.ptr() },
            edges: self.filter_edges.ptr(),
            part_count: scene.filter.parts.len() as u32,
            edge_count: scene.filter.edges.len() as u32,
        };
        SceneView {
            lighting,
            filter,
            guide: Guide::NONE,
            holes: match scene.holes {
                _ if !scene.features.contains(Features::CUTOUTS) => SceneView::NO_HOLES,
                Holes::Pass => SceneView::HOLES_PASS,
                Holes::Scatter => SceneView::HOLES_SCATTER,
            },
            hides_emitters: scene.hides_emitters.into(),
            near: scene.clip.near,
            far: scene.clip.far,
            camera: scene.camera,
        }
    }
}

fn bytes_of<T: NoUninit>(elements: &[T]) -> &[u8] {
    cast_slice(elements)
}

/// The tables by which an environment and its portals are sampled; those of portals are summed up here, in whole numbers: every
/// back end finds the same.
fn summed<B: Primitives>(
    backend: &mut B,
    environment: Option<&ImageEnvironment>,
    at: Placement,
) -> Result<B::Buf<u64>, Error> {
    let Some(ImageEnvironment { tables, portals, .. }) = environment else {
        return backend.zeroed(TABLES, 0);
    };
    let mut entries = at.put(backend, Part::SkyTables, |b| b.upload(TABLES, tables))?;
    for Portal { table, .. } in portals {
        let sums = SummedArea::<Whole<u64>>::new(table.width + 1, table.height + 1).placed_at(table.first);
        let count = (table.width as usize + 1) * (table.height as usize + 1);
        let first = table.first as usize;
        let weights = backend.upload("weights of a portal", &tables[first..first + count])?;
        let mut temp = Temp::new(backend, sums.temp_bytes())?;
        sums.run(backend, &weights, &mut entries, &mut temp)?;
    }
    Ok(entries)
}

const SOURCES: &str = "sources of primitives";
const TABLES: &str = "tables of the environment";

/// The primitives, and if they are fewer than may be read, others after them that are never met.
fn padded<B: Backend>(backend: &mut B, prims: &Shared<Primitive>) -> Result<B::Buf<Primitive>, Error> {
    if prims.len() >= Geometry::MIN_PRIMS {
        return backend.share("primitives", prims);
    }
    let mut padded = prims.to_vec();
    padded.resize(Geometry::MIN_PRIMS, Primitive::zeroed());
    backend.upload("primitives", &padded)
}
